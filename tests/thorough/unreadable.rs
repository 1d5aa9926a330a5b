//! Files damaged by other tools and disks. A file that cannot be read is an error in every command that needs it:
//! nothing is written, and the message has the path. Byte order marks and CRLF line endings have no effect, and edits
//! keep them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use crate::sandbox::{Sandbox, shell};

/// The name of a way to make a file unreadable, a function that does it, and a part of the expected message.
type Way = (&'static str, fn(&Path), &'static str);

/// Ways that also work for root.
const WAYS: [Way; 7] = [
    ("folder", |path| fs::create_dir(path).unwrap(), "OP031"),
    ("dangling link", |path| symlink("nowhere", path).unwrap(), "leads to `nowhere`, which does not exist"),
    ("circular link", |path| symlink(path.file_name().unwrap(), path).unwrap(), "OP031"),
    ("fifo", |path| run_to_end("mkfifo", path), "not a regular file"),
    // Reading it fails with EIO.
    ("broken disk", |path| symlink("/proc/self/mem", path).unwrap(), "OP031"),
    ("large", |path| fs::File::create(path).unwrap().set_len((64 << 20) + 1).unwrap(), "larger than 64 MiB"),
    ("latin1", |path| fs::write(path, b"// ok\n// caf\xe9\n").unwrap(), "OP032"),
];

fn run_to_end(program: &str, path: &Path) {
    assert!(std::process::Command::new(program).arg(path).status().unwrap().success());
}

/// Files of the project, and the commands that read them.
const READERS: [(&str, &[&str]); 12] = [
    ("src/api/cache/v1/memcached.rs", ALL),
    ("src/api/cache/v1/mod.rs", ALL),
    ("src/controller/cache/memcached.rs", ALL),
    ("src/lib.rs", ALL),
    ("Cargo.toml", ALL),
    ("Cargo.lock", SOURCE),
    (".cargo/config.toml", SOURCE),
    ("PROJECT", ALL),
    ("config/crd/bases/shop.example.com_carts.yaml", &["opctl manifests", "opctl generate docs"]),
    ("config/rbac/role.yaml", SOURCE),
    ("config/samples/shop_v1_cart.yaml", &["opctl check", "opctl generate docs"]),
    (".opctl/scaffold.txt", &["opctl update", "opctl rename kind --group cache --kind Memcached --to Cache"]),
];

const SOURCE: &[&str] = &[
    "opctl manifests",
    "opctl create api --group zoo --version v1 --kind Ape",
    "opctl delete api --group shop --version v1 --kind Cart",
];

const ALL: &[&str] = &[
    "opctl manifests",
    "opctl manifests --engine cargo",
    "opctl manifests --only rbac",
    "opctl check --fix",
    "opctl create api --group zoo --version v1 --kind Ape",
    "opctl create webhook --group shop --version v1 --kind Cart --validation",
    "opctl delete api --group shop --version v1 --kind Cart",
    "opctl rename kind --group cache --kind Memcached --to Cache",
    "opctl edit --grafana",
];

/// The bytes of every file, and all other entries.
fn state(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    let state = entries.map(|entry| {
        let kind = entry.file_type();
        let large = kind.is_file() && entry.metadata().unwrap().len() > 1 << 20;
        let text = if kind.is_file() && !large { fs::read(entry.path()).unwrap() } else { format!("{kind:?}").into() };
        (entry.path().display().to_string(), text)
    });
    state.collect()
}

fn run(sandbox: &Sandbox, line: &str) -> Output {
    sandbox.command("timeout").args(["300", "sh", "-c", line]).output().unwrap()
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_and_nothing_is_written() {
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl init shop --domain example.com --api cache/v1/Memcached --api shop/v1/Cart -q");
    sandbox.folder.push("shop");
    shell(&sandbox, "mkdir -p .cargo && touch .cargo/config.toml && echo 'version = 4' > Cargo.lock");
    let mut wrong = Vec::new();
    for (number, (file, commands)) in READERS.iter().enumerate() {
        let path = sandbox.folder.join(file);
        let text = fs::read(&path).unwrap();
        for (shift, command) in commands.iter().enumerate() {
            // Each command is tested with different ways for different files.
            let (way, make, part) = WAYS[(number + 3 * shift) % WAYS.len()];
            fs::remove_file(&path).unwrap();
            make(&path);
            let before = state(&sandbox.folder);
            let output = run(&sandbox, command);
            let said = String::from_utf8_lossy(&output.stderr);
            let is_named = said.contains(file) && said.contains(part);
            if output.status.code() != Some(1) || !is_named || state(&sandbox.folder) != before {
                wrong.push(format!("{command}, {file} is a {way}: {:?}\n{said}", output.status.code()));
            }
            if path.is_dir() {
                fs::remove_dir(&path).unwrap()
            } else {
                fs::remove_file(&path).unwrap()
            }
            fs::write(&path, &text).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

const MARK: &str = "\u{feff}";

fn with_mark(text: &str) -> String {
    format!("{MARK}{text}")
}

fn with_crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

/// Texts of the project that opctl reads or edits.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let files = walkdir::WalkDir::new(folder).into_iter().filter_entry(|entry| {
        !["runtime", ".opctl", ".git"].contains(&entry.file_name().to_str().unwrap()) || entry.depth() != 1
    });
    let files = files.map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let is_read = |path: &str| ["rs", "toml", "yaml", "lock", "PROJECT"].iter().any(|end| path.ends_with(end));
    let paths = files.map(|entry| entry.path().display().to_string()).filter(|path| is_read(path));
    paths.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The name of a text encoding, and a function that converts a text to it.
type Form<'a> = (&'static str, &'a dyn Fn(&str) -> String);

#[test]
fn byte_order_marks_and_line_ends_of_windows_are_read_and_kept() {
    let lines = [
        "opctl manifests --check",
        "opctl check --deny-warnings",
        "opctl create api --group zoo --version v1 --kind Ape --shortname ap",
        "opctl create webhook --group zoo --version v1 --kind Ape --validation",
        "opctl manifests --check",
        "opctl delete webhook --group zoo --version v1 --kind Ape --validation",
        "opctl delete api --group zoo --version v1 --kind Ape",
        "opctl manifests --check",
        "opctl update --check",
    ];
    let both = |text: &str| with_mark(&with_crlf(text));
    let forms: [Form; 3] = [("mark", &with_mark), ("CRLF", &with_crlf), ("both", &both)];
    for (form, change) in forms {
        let mut sandbox = Sandbox::new();
        shell(&sandbox, "opctl init shop --domain example.com --api cache/v1/Memcached --api shop/v1/Cart -q");
        sandbox.folder.push("shop");
        shell(&sandbox, "mkdir -p .cargo && echo '[build]' > .cargo/config.toml && echo 'version = 4' > Cargo.lock");
        for (path, text) in texts(&sandbox.folder) {
            fs::write(path, change(&text)).unwrap();
        }
        let before = state(&sandbox.folder);
        for line in lines {
            let output = run(&sandbox, line);
            assert!(output.status.success(), "{form}: {line}\n{}", String::from_utf8_lossy(&output.stderr));
            for (path, text) in texts(&sandbox.folder) {
                let is_new = !before.contains_key(&path);
                let is_kept = change(&text.trim_start_matches(MARK).replace("\r\n", "\n")) == text;
                assert!(is_new || is_kept, "{form}: {line} changed the encoding of {path}");
            }
        }
        assert!(state(&sandbox.folder) == before, "{form}");
    }
}
