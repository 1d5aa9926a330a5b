//! Recorded files have short lines, so that their diffs can be reviewed.

use std::path::Path;

/// Files with longer lines: manual ones, and messages as opctl prints them.
const LONG: &[&str] = &[
    "bundle/cases.txt",
    "cel/schema.json",
    "charts/files.txt",
    "charts/roles.txt",
    "charts/subchart.txt",
    "edit/entry_between/edit.json",
    "edit/entry_nested_flow_to_merge/edit.json",
    "engine/refused/misspelled.txt",
    "golden/external.txt",
    "golden/images.txt",
    "golden/worked-in.txt",
    "import/shop-operator.txt",
    "markers/problems/csv.txt",
    "rbac/problems/names.txt",
    "rbac/problems/rules.txt",
    "undecodable/addresses.txt",
    "undecodable/lists.txt",
    "webhook/problems/patches.txt",
];

#[test]
fn recorded_lines_are_short() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut long = Vec::new();
    for entry in walkdir::WalkDir::new(&tests).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|extension| extension == "txt" || extension == "json") {
            let text = std::fs::read_to_string(&path).unwrap();
            if text.lines().any(|line| line.chars().count() > 200) {
                long.push(path.strip_prefix(&tests).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    assert_eq!(long, LONG);
}
