//! Reading a project always terminates soon, with manifests or diagnostics and without a panic, for any content of its
//! files.
//!
//! The engine's cases and the worked example are read with random changes.
//! `OPCTL_FUZZ_SECONDS=3600 cargo test --test thorough fuzz -- --nocapture` sets the duration; `OPCTL_RANDOM_SEED=…` sets
//! the first seed.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use opctl_kustomize::config;
use opctl_model::diagnostic::{self, Diagnostic};
use opctl_model::project::{ProjectFile, Tree};
use opctl_source as source;
use opctl_source::emit;

use crate::dice::Dice;
use crate::oracle::manifest;

/// The time limit for one input, after which it counts as hanging.
const LIMIT: Duration = Duration::from_secs(300);

/// Files that are read together, by path.
type Files = Vec<(String, String)>;

#[test]
fn changed_projects_are_read_without_a_panic() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let (start, seconds) = (Instant::now(), number("OPCTL_FUZZ_SECONDS"));
    let projects = projects();
    let mut seeds = number("OPCTL_RANDOM_SEED").unwrap_or(1)..;
    let (mut sound, mut refused) = (0, 0);
    while seconds.map_or(sound + refused < 300, |seconds| start.elapsed() < Duration::from_secs(seconds)) {
        let seed = seeds.next().unwrap();
        let files = changed(&projects, &mut Dice::new(seed));
        let (sender, receiver) = mpsc::channel();
        let given = files.clone();
        let reader = std::thread::Builder::new().stack_size(32 << 20);
        let reader = reader.spawn(move || sender.send(read(&given)).unwrap()).unwrap();
        match receiver.recv_timeout(LIMIT) {
            Ok(true) => sound += 1,
            Ok(false) => refused += 1,
            Err(error) => panic!("seed {seed}: {error}; the input is in {}", saved(&files)),
        }
        reader.join().unwrap();
    }
    println!("{sound} projects read, {refused} refused");
}

/// Writes an input that fails to disk, and returns its folder.
fn saved(files: &Files) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
    for (path, text) in files {
        crate::write::write(&folder.join(path), text);
    }
    folder.display().to_string()
}

/// Reads files. Returns `true` if there are no errors.
fn read(files: &Files) -> bool {
    let mut tree = Tree::at("nowhere");
    for (path, text) in files {
        tree.lay_over(path, text);
    }
    let source::Source { operator, mut diagnostics, .. } = source::read(&tree, "");
    diagnostics.extend(emit::crds(&operator.apis).err().unwrap_or_default());
    diagnostics.extend(config::check(&tree, ""));
    let project = files.iter().find(|(path, _)| path == "PROJECT").map(|(_, text)| ProjectFile::parse(text));
    diagnostics.extend(project.and_then(Result::err).unwrap_or_default());
    // Each location must be in its file.
    assert_eq!(diagnostic::render(&diagnostics, false).is_empty(), diagnostics.is_empty());
    !diagnostics.iter().any(Diagnostic::is_error)
}

/// One project for each case of the engine, including rejected ones, and the worked example.
fn projects() -> Vec<Files> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lock = fs::read_to_string(root.join("tests/engine/Cargo.lock")).unwrap();
    let cases = walkdir::WalkDir::new(root.join("tests/engine")).sort_by_file_name().into_iter().map(Result::unwrap);
    let cases = cases.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    let mut projects: Vec<Files> = cases
        .map(|case| {
            let text = fs::read_to_string(case.path()).unwrap();
            let files = [("src/lib.rs", text), ("Cargo.toml", manifest("oracle")), ("Cargo.lock", lock.clone())];
            files.map(|(path, text)| (path.to_string(), text)).into()
        })
        .collect();
    let example = Tree::at(root.join("examples/memcached"));
    let paths = ["src", "config"].into_iter().flat_map(|folder| example.files_below(folder).unwrap());
    let paths = paths.chain(["Cargo.toml", "Cargo.lock", "PROJECT"].map(String::from));
    let example: Files = paths.filter_map(|path| Some((path.clone(), example.read(&path).unwrap()?))).collect();
    // The example gets as much weight as all cases together.
    projects.extend(std::iter::repeat_n(example, 30));
    projects
}

/// Changes one file of a project, usually the first one, in a few places.
fn changed(projects: &[Files], dice: &mut Dice) -> Files {
    let mut files = projects[dice.below(projects.len())].clone();
    let file = if files.len() <= 3 && dice.percent(85) { 0 } else { dice.below(files.len()) };
    for _ in 0..dice.between(1, 3) {
        let other = &projects[dice.below(projects.len())];
        let other = &other[dice.below(other.len())].1;
        files[file].1 = change(&files[file].1, other, dice);
    }
    files
}

fn change(text: &str, other: &str, dice: &mut Dice) -> String {
    const ODD: &[&str] = &[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "\"",
        "'",
        "#",
        "#[",
        "!",
        "$",
        ":",
        "::",
        ",",
        ";",
        "=",
        "&",
        "*",
        "-",
        "|",
        "?",
        "..",
        "\\",
        "/*",
        "//",
        "\0",
        "\r\n",
        "\u{feff}",
        "ä",
        "💥",
        "r#\"",
        "b'",
        "0x",
        "1e999",
        "-0.0",
        "170141183460469231731687303715884105728",
        "self",
        "Self",
        "super",
        "crate",
        "mut",
        "dyn",
        "impl",
        "_",
        "r#fn",
        "'a",
        "macro_rules! m",
        "#[cfg(x)]",
        "#[derive()]",
        "#[serde(default)]",
        "null",
        "~",
        "- ",
        "  ",
        "\n",
        "&a",
        "*a",
        "!!binary",
        "---",
        "{}",
        "[]",
        "99999999999",
    ];
    let tokens = tokens_of(text);
    let Some(last) = tokens.len().checked_sub(1) else { return dice.pick(ODD).to_string() };
    let one = tokens[dice.below(tokens.len())].clone();
    let end = tokens[dice.between(0, last)].end.max(one.end).min(one.start + 400);
    let range = one.start..(one.end..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(one.end);
    let replaced = |range: &Range<usize>, by: &str| [&text[..range.start], by, &text[range.end..]].concat();
    match dice.below(24) {
        0 => replaced(&one, ""),
        1 => replaced(&range, ""),
        2 => replaced(&one, &text[one.clone()].repeat(2)),
        3 => replaced(&range, &text[range.clone()].repeat(dice.between(2, 20))),
        4 => {
            let mut pair = [one, tokens[dice.below(tokens.len())].clone()];
            pair.sort_by_key(|range| range.start);
            let [first, second] = pair;
            if first.end > second.start {
                return text.to_string();
            }
            let swapped = replaced(&second, &text[first.clone()]);
            [&swapped[..first.start], &text[second], &swapped[first.end..]].concat()
        }
        5 => replaced(&one, dice.pick(ODD)),
        6 => replaced(&(one.start..one.start), dice.pick(ODD)),
        7 => text[..one.end].to_string(),
        // A replacement of the same form is usually accepted by the parser.
        _ => {
            let is_like = |range: &Range<usize>| form(&other[range.clone()]) == form(&text[one.clone()]);
            let others: Vec<Range<usize>> = tokens_of(other).into_iter().filter(is_like).collect();
            let by = if others.is_empty() { "" } else { &other[others[dice.below(others.len())].clone()] };
            replaced(&one, by)
        }
    }
}

/// The form of a token: name, type, number or sign.
fn form(token: &str) -> (bool, bool, bool) {
    let is = |test: fn(char) -> bool| token.starts_with(test);
    (is(char::is_alphabetic), is(char::is_uppercase), is(|c| c.is_ascii_digit()))
}

/// Words, and all other characters except whitespace.
fn tokens_of(text: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        let end = at + c.len_utf8();
        match tokens.last_mut() {
            Some(last) if last.end == at && is_word(c) && text[last.clone()].ends_with(is_word) => last.end = end,
            _ => tokens.push(at..end),
        }
    }
    tokens
}
