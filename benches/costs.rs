//! The cost of commands, in units that are the same on every machine: allocations, allocated bytes, and calls that read a file. A
//! test fails if one of them is 5 % from what `costs.txt` has, so that no change makes a command slower unnoticed.
//!
//! Instructions would be closer to time. But many machines, such as those of CI, give no access to the counters of the processor,
//! and with valgrind this would take minutes. Whatever opctl does for longer, it does on texts, tokens and trees that it allocates.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::Parser;
use opctl::commands::{self, Cli, Console, Outcome};
use opctl_model::threads;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Types whose name is `KIND`, below a comment.
const TYPES: &str = include_str!("kind.rs");

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/costs.txt");

/// In percent.
const TOLERANCE: usize = 5;

/// A command, and the number of kinds in the project that it is measured in, which has a controller for the first.
const CASES: [(&str, usize); 4] = [("check", 1), ("manifests", 1), ("manifests", 50), ("manifests", 200)];

#[derive(Clone, Copy, Debug)]
struct Cost {
    allocations: usize,
    kib: usize,
    reads: usize,
}

impl Cost {
    fn of(run: impl FnOnce()) -> Self {
        let (region, before) = (Region::new(ALLOCATOR), reads());
        run();
        let (stats, after) = (region.change(), reads());
        let allocations = stats.allocations + stats.reallocations;
        Self { allocations, kib: stats.bytes_allocated / 1024, reads: after - before }
    }

    fn figures(self) -> [usize; 3] {
        [self.allocations, self.kib, self.reads]
    }
}

/// How often this process has read from a file; Linux tells.
fn reads() -> usize {
    let text = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let calls = text.lines().find_map(|line| line.strip_prefix("syscr: "));
    calls.map_or(0, |calls| calls.parse().expect("a number of calls"))
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "reads are counted on Linux")]
fn commands_cost_what_is_recorded() {
    // Threads read some files for themselves.
    threads::set_cores(2);
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("bench");
    let path = project.to_str().unwrap();
    run(&["-q", "init", path, "--domain", "example.com", "--license", "none", "--api", "bench/v1/Server1"]);
    // It is about the type that was scaffolded.
    fs::remove_dir_all(project.join("config/samples")).unwrap();
    let mut table = String::from("command    kinds  allocations      KiB   reads\n");
    for (command, count) in CASES {
        declare(count, &project);
        run(&["-q", "manifests", "--path", path]);
        let [allocations, kib, reads] = Cost::of(|| run(&["-q", command, "--path", path])).figures();
        writeln!(table, "{command:<9} {count:>6} {allocations:>12} {kib:>8} {reads:>7}").unwrap();
    }
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        fs::write(RECORD, &table).unwrap();
    }
    let recorded = fs::read_to_string(RECORD).unwrap_or_default();
    let far = differing(&recorded, &table);
    assert!(
        far.is_empty(),
        "{}\n\nmeasured:\n{table}\nIf the change is worth it, or if the commands have become cheaper, record it: \
         `SNAPSHOTS=overwrite cargo test --test costs`",
        far.join("\n")
    );
}

/// The figures that are not those of the record.
fn differing(recorded: &str, measured: &str) -> Vec<String> {
    let rows = |table: &str| -> Vec<Vec<String>> {
        table.lines().map(|line| line.split_whitespace().map(String::from).collect()).collect()
    };
    let (recorded, measured) = (rows(recorded), rows(measured));
    if recorded.iter().map(|row| row.get(..2)).ne(measured.iter().map(|row| row.get(..2))) {
        return vec!["benches/costs.txt has other commands".into()];
    }
    let names = &measured[0][2..];
    let mut differing = Vec::new();
    for (before, after) in recorded.iter().zip(&measured).skip(1) {
        for ((name, before), now) in names.iter().zip(&before[2..]).zip(&after[2..]) {
            let [before, now]: [usize; 2] = [before, now].map(|figure| figure.parse().unwrap());
            if before.abs_diff(now) * 100 > before * TOLERANCE {
                differing.push(format!("{} of {} kinds: {before} {name} before, {now} now", after[0], after[1]));
            }
        }
    }
    differing
}

#[test]
fn what_grows_or_shrinks_by_more_than_a_twentieth_is_reported() {
    let table = |figure: usize| format!("command kinds reads\ncheck 1 {figure}\n");
    for (now, is_reported) in [(100, false), (105, false), (95, false), (106, true), (94, true)] {
        assert_eq!(!differing(&table(100), &table(now)).is_empty(), is_reported, "{now}");
    }
    assert!(!differing("", &table(100)).is_empty());
}

/// Writes the types of so many kinds.
fn declare(count: usize, project: &Path) {
    let folder = project.join("src/api/bench/v1");
    assert!(folder.join("server1.rs").is_file(), "opctl writes types elsewhere than into {}", folder.display());
    let (_, types) = TYPES.split_once("\n\n").unwrap();
    let mut modules = String::new();
    for number in 1..=count {
        writeln!(modules, "pub mod server{number};").unwrap();
        fs::write(folder.join(format!("server{number}.rs")), types.replace("KIND", &format!("Server{number}")))
            .unwrap();
    }
    fs::write(folder.join("mod.rs"), modules).unwrap();
}

fn run(arguments: &[impl AsRef<str>]) {
    let words = ["opctl"].into_iter().chain(arguments.iter().map(AsRef::as_ref));
    let cli = Cli::try_parse_from(words).unwrap();
    let outcome = commands::run(cli.command, &Console::new(&cli.global)).unwrap();
    assert_eq!(outcome, Outcome::Done);
}
