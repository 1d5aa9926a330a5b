//! Renders steps as plain text; the caller adds colors.

use std::collections::BTreeSet;

use similar::TextDiff;

use super::{Content, Step, Verdict};

/// The mode of a command. Only `Apply` writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Apply,
    /// Lists the changes.
    DryRun,
    Diff,
    /// Fails if there are changes.
    Check,
}

/// A line for each step: `create  src/main.rs`. With `verbose`, includes unchanged files, and each file of opctl's
/// folders; otherwise such a folder is one line. A conflict is followed by its solutions.
pub fn list(steps: &[Step], verbose: bool) -> String {
    let mut shown: Vec<(&Verdict, String)> = Vec::new();
    for step in steps.iter().filter(|step| verbose || step.verdict != Verdict::Unchanged) {
        let folder = step.vendored.as_ref().filter(|_| !verbose && !step.is_conflict());
        let path = folder.map_or_else(|| step.path.clone(), |folder| format!("{folder}/"));
        match shown.iter_mut().find(|(_, other)| folder.is_some() && *other == path) {
            Some((verdict, _)) if **verdict != step.verdict => *verdict = &Verdict::Update,
            Some(_) => {}
            None => shown.push((&step.verdict, path)),
        }
    }
    let width = shown.iter().map(|(verdict, _)| verdict.word().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (verdict, path) in shown {
        text.push_str(&format!("{:width$}  {path}", verdict.word()));
        if let Verdict::Conflict { reason, help } = verdict {
            text.push_str(&format!(": {reason}"));
            for (number, line) in help.lines().enumerate() {
                let label = if number == 0 { "help: " } else { "      " };
                text.push_str(&format!("\n{:width$}  {label}{line}", ""));
            }
        }
        text.push('\n');
    }
    text
}

/// A unified diff of every step with two different texts, including conflicts. `git apply` accepts it.
pub fn diff(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        let side = |side: &str, there: &Option<Content>| match there {
            Some(_) => format!("{side}/{}", step.path),
            None => "/dev/null".into(),
        };
        let (old, new) = (side("a", &step.before), side("b", &step.after));
        let texts = [&step.before, &step.after].map(|side| side.as_ref().map_or(Some(""), Content::text));
        let [Some(before), Some(after)] = texts else {
            if step.before != step.after {
                text.push_str(&format!("Binary files {old} and {new} differ\n"));
            }
            continue;
        };
        let texts = TextDiff::from_lines(before, after);
        text.push_str(&texts.unified_diff().header(&old, &new).to_string());
    }
    text
}

/// A line such as `12 files, .opctl/ and runtime/ written, 3 unchanged`, or that `all` is up to date.
pub fn summary(steps: &[Step], mode: Mode, all: &str) -> String {
    let conflicts = steps.iter().filter(|step| step.is_conflict()).count();
    if conflicts > 0 {
        return format!("{conflicts} {}, nothing was written", plural(conflicts, "conflict"));
    }
    let count =
        |wanted: fn(&Verdict) -> bool| steps.iter().filter(|it| it.vendored.is_none() && wanted(&it.verdict)).count();
    let written = count(|verdict| matches!(verdict, Verdict::Create | Verdict::Update));
    let removed = count(|verdict| *verdict == Verdict::Remove);
    let unchanged = count(|verdict| *verdict == Verdict::Unchanged);
    let vendored: BTreeSet<&String> =
        steps.iter().filter(|step| !step.is_unchanged()).filter_map(|step| step.vendored.as_ref()).collect();
    let mut targets: Vec<String> = vendored.iter().map(|folder| format!("{folder}/")).collect();
    if written > 0 {
        targets.insert(0, format!("{written} {}", plural(written, "file")));
    }
    let mut parts = Vec::new();
    if !targets.is_empty() {
        let done = if mode == Mode::Apply { "written" } else { "to write" };
        let last = targets.pop().expect("there is one");
        let targets = if targets.is_empty() { last } else { format!("{} and {last}", targets.join(", ")) };
        parts.push(format!("{targets} {done}"));
    }
    if removed > 0 {
        let files = if written > 0 { String::new() } else { format!(" {}", plural(removed, "file")) };
        parts.push(format!("{removed}{files} {}", if mode == Mode::Apply { "removed" } else { "to remove" }));
    }
    if parts.is_empty() {
        return format!("nothing to do, {all} is up to date");
    }
    if unchanged > 0 {
        parts.push(format!("{unchanged} unchanged"));
    }
    parts.join(", ")
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.into() } else { format!("{word}s") }
}
