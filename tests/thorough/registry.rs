//! No code makes the reader panic, hang or overflow its stack: it reads every Rust file of the crates in cargo's
//! registry, each package as a whole and each file as a crate of its own. The diagnostics do not matter here.
//!
//! By default, a fixed sample is read; `OPCTL_REGISTRY=all cargo test --test thorough registry -- --nocapture` reads
//! all, and reports the slowest packages.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use opctl_model::diagnostic;
use opctl_model::project::Tree;
use opctl_source::emit;
use opctl_source::{self as source, Source};

/// The time limit for a package, even on slow machines, after which it counts as hanging.
const HANGS: Duration = Duration::from_secs(300);
/// The stack size of a main thread, in which opctl reads.
const STACK: usize = 8 << 20;
/// The maximum size of a package in the sample, in bytes of Rust. Most are smaller.
const SAMPLED: u64 = 200_000;
/// One of this many packages is in the sample.
const PACKAGES: usize = 8;

#[test]
fn every_file_of_the_registry_is_read_to_its_end() {
    let registry = cargo_home().join("registry/src");
    let mut packages: Vec<PathBuf> = folders(&registry).iter().flat_map(|index| folders(index)).collect();
    packages.sort();
    if packages.is_empty() {
        let absent = format!("there is nothing in `{}`", registry.display());
        assert!(env::var_os("OPCTL_TESTS_MUST_RUN").is_none(), "the reader cannot be tested: {absent}");
        return say(&format!("SKIPPED the reader on the registry: {absent}"));
    }
    let all = crate::extent::takes_all("OPCTL_REGISTRY");
    if !all {
        packages.retain(|package| rust_files(package).iter().map(|(_, size)| size).sum::<u64>() <= SAMPLED);
        packages = packages.into_iter().step_by(PACKAGES).collect();
    }

    let queue = Mutex::new(packages.into_iter().rev().collect::<Vec<_>>());
    let running = Mutex::new(BTreeMap::new());
    let read = Mutex::new(Vec::new());
    let worker = || {
        while let Some(package) = { queue.lock().unwrap().pop() } {
            let start = Instant::now();
            running.lock().unwrap().insert(package.clone(), start);
            let files = read_package(&package);
            running.lock().unwrap().remove(&package);
            read.lock().unwrap().push((start.elapsed(), files, package));
        }
    };
    thread::scope(|scope| {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> =
            (0..count).map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker).unwrap()).collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(50));
            if let Some((package, _)) = running.lock().unwrap().iter().find(|(_, start)| start.elapsed() > HANGS) {
                say(&format!("the reader hangs in {}", package.display()));
                // A thread cannot be stopped from outside.
                std::process::abort();
            }
        }
    });

    let mut read = read.into_inner().unwrap();
    let panics: Vec<&String> = read.iter().filter_map(|(_, files, _)| files.as_ref().err()).flatten().collect();
    assert!(panics.is_empty(), "the reader panics:\n{}", panics.iter().map(|at| format!("{at}\n")).collect::<String>());
    let files: usize = read.iter().map(|(_, files, _)| *files.as_ref().unwrap()).sum();
    assert!(files > 0);
    println!("{files} files of {} packages", read.len());
    read.sort();
    for (time, files, package) in read.iter().rev().take(12) {
        let name = package.file_name().unwrap().display();
        println!("{:6.1} s, {:5} files, {name}", time.as_secs_f64(), files.as_ref().unwrap());
    }
}

/// Not `eprintln!`, which the test harness captures.
fn say(what: &str) {
    io::stderr().write_all(format!("{what}\n").as_bytes()).unwrap();
}

/// Reads a package. Returns the number of its files, or the locations of panics.
fn read_package(package: &Path) -> Result<usize, Vec<String>> {
    let mut panicked = Vec::new();
    let mut read = |tree: &Tree, what: &str, how: fn(&Tree, &str) -> Source| {
        let all = || {
            let Source { operator, mut diagnostics, .. } = how(tree, "");
            diagnostics.extend(emit::crds(&operator.apis).err().into_iter().flatten());
            // Rendering checks that each location is in its file.
            diagnostic::render(&diagnostics, false)
        };
        if panic::catch_unwind(AssertUnwindSafe(all)).is_err() {
            panicked.push(what.to_string());
        }
    };
    // Includes function bodies; those of a single file have no context.
    read(&Tree::at(package), &package.display().to_string(), source::read_requests);
    let files = rust_files(package);
    for (path, _) in &files {
        // Text that is not UTF-8 is an error, which the whole package has covered.
        let Ok(text) = fs::read_to_string(path) else { continue };
        let mut tree = Tree::at(package.join("nowhere"));
        tree.lay_over("Cargo.toml", "[package]\nname = \"alone\"\n");
        tree.lay_over("src/lib.rs", text);
        read(&tree, &path.display().to_string(), source::read);
    }
    if panicked.is_empty() { Ok(files.len()) } else { Err(panicked) }
}

fn rust_files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    files
        .filter(|entry| entry.file_type().is_file() && entry.path().extension().is_some_and(|end| end == "rs"))
        .map(|entry| (entry.path().to_owned(), entry.metadata().unwrap().len()))
        .collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

fn cargo_home() -> PathBuf {
    let home = || Path::new(&env::var_os("HOME").unwrap_or_default()).join(".cargo");
    env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from)
}
