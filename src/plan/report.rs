//! The views of the steps, as plain text; colour is the caller's matter.

use similar::TextDiff;

use super::{Step, Verdict};

/// What is done with the steps. All but `Apply` write nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Apply,
    /// Lists what would be done.
    DryRun,
    /// Shows what would be done, as a unified diff.
    Diff,
    /// Fails unless nothing would be done.
    Check,
}

/// A line for each step: `create  src/main.rs`. Unchanged files only if `verbose`; the ways out of a conflict follow it.
pub fn list(steps: &[Step], verbose: bool) -> String {
    let shown = || steps.iter().filter(|step| verbose || step.verdict != Verdict::Unchanged);
    let width = shown().map(|step| step.verdict.word().len()).max().unwrap_or(0);
    let mut text = String::new();
    for step in shown() {
        text.push_str(&format!("{:width$}  {}", step.verdict.word(), step.path));
        if let Verdict::Conflict { reason, help } = &step.verdict {
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

/// A unified diff of every step that has two different texts, conflicts included; `git apply` takes it.
pub fn diff(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        let side = |side: &str, there: &Option<String>| match there {
            Some(_) => format!("{side}/{}", step.path),
            None => "/dev/null".into(),
        };
        let texts =
            TextDiff::from_lines(step.before.as_deref().unwrap_or_default(), step.after.as_deref().unwrap_or_default());
        let (old, new) = (side("a", &step.before), side("b", &step.after));
        text.push_str(&texts.unified_diff().header(&old, &new).to_string());
    }
    text
}

/// One line: `12 files written, 3 unchanged`.
pub fn summary(steps: &[Step], mode: Mode) -> String {
    let count = |wanted: fn(&Verdict) -> bool| steps.iter().filter(|step| wanted(&step.verdict)).count();
    let conflicts = count(|verdict| matches!(verdict, Verdict::Conflict { .. }));
    let written = count(|verdict| matches!(verdict, Verdict::Create | Verdict::Update));
    let removed = count(|verdict| *verdict == Verdict::Remove);
    let unchanged = count(|verdict| *verdict == Verdict::Unchanged);
    if conflicts > 0 {
        return format!("{conflicts} {}, nothing was written", plural(conflicts, "conflict"));
    }
    if written + removed == 0 {
        return "nothing to do, everything is up to date".into();
    }
    let mut parts = Vec::new();
    if written > 0 {
        parts.push(format!(
            "{written} {} {}",
            plural(written, "file"),
            if mode == Mode::Apply { "written" } else { "to write" }
        ));
    }
    if removed > 0 {
        let files = if written > 0 { String::new() } else { format!(" {}", plural(removed, "file")) };
        parts.push(format!("{removed}{files} {}", if mode == Mode::Apply { "removed" } else { "to remove" }));
    }
    if unchanged > 0 {
        parts.push(format!("{unchanged} unchanged"));
    }
    parts.join(", ")
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.into() } else { format!("{word}s") }
}
