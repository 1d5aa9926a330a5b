//! Each folder in `tests/edit` is a case: `edit.json` (an [`Edit`], or a list of successive ones), the text `in`
//! (default: empty), and either `out` or, if the edit is rejected, `error` (the reason and the help).
//!
//! Every edit is also repeated, which must not change anything, and the result must be formatted like rustfmt, unless a
//! file `unformatted` states a reason. `SNAPSHOTS=overwrite` records the results; review them before committing.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use opctl_edit::{Edit, EditError};

#[test]
fn cases() {
    let mut failures = Vec::new();
    let folders = folders();
    for folder in &folders {
        if let Err(failure) = run(folder) {
            failures.push(format!("{}: {failure}", folder.display()));
        }
    }
    assert!(folders.len() > 40, "the cases are not found");
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edit");
    let mut folders: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

fn run(folder: &Path) -> Result<(), String> {
    let json = fs::read_to_string(folder.join("edit.json")).map_err(|error| error.to_string())?;
    let edits = match serde_json::from_str(&json).map_err(|error| error.to_string())? {
        serde_json::Value::Array(edits) => edits,
        edit => vec![edit],
    };
    let edits: Vec<Edit> =
        edits.into_iter().map(serde_json::from_value).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let before = fs::read_to_string(folder.join("in")).unwrap_or_default();

    let result = apply(&edits, &before);
    let shown = match &result {
        Ok(text) => text.clone(),
        Err(EditError { reason, help, .. }) => format!("{reason}\n{help}\n"),
    };
    let expected = folder.join(if result.is_ok() { "out" } else { "error" });
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        fs::write(&expected, &shown).unwrap();
    }
    if fs::read_to_string(&expected).ok().as_deref() != Some(&shown) {
        return Err(format!("`{}` should be:\n{shown}", expected.display()));
    }
    let Ok(after) = result else { return Ok(()) };
    if apply(&edits, &after).as_ref() != Ok(&after) {
        return Err(format!("made twice, it gives {:?}", apply(&edits, &after)));
    }
    let is_rust = edits.iter().any(|edit| {
        !matches!(
            edit,
            Edit::YamlListItem { .. }
                | Edit::NoYamlListItem { .. }
                | Edit::YamlEntry { .. }
                | Edit::YamlItem { .. }
                | Edit::CargoMember { .. }
                | Edit::CargoFeature { .. }
        )
    });
    if is_rust && !folder.join("unformatted").exists() && rustfmt(&after) != after.replace("\r\n", "\n") {
        return Err(format!("rustfmt would write:\n{}", rustfmt(&after)));
    }
    Ok(())
}

fn apply(edits: &[Edit], text: &str) -> Result<String, EditError> {
    edits.iter().try_fold(text.to_owned(), |text, edit| edit.apply(&text))
}

fn rustfmt(text: &str) -> String {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--quiet"])
        // A folder outside of this project, so that its rustfmt settings do not apply.
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt is part of the toolchain");
    rustfmt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = rustfmt.wait_with_output().unwrap();
    assert!(output.status.success(), "rustfmt cannot read:\n{text}");
    String::from_utf8(output.stdout).unwrap()
}
