//! `opctl version`: prints the version of opctl and the releases of the crates whose output it generates.

use opctl_model::versions::{CRATES, range};

pub fn text() -> String {
    let mut text = format!("opctl {}\n", env!("CARGO_PKG_VERSION"));
    for (name, latest) in CRATES {
        let range = range(name);
        text.push_str(&match range.contains(' ') {
            true => format!("{name} {range}, tested with {latest}\n"),
            false => format!("{name} {latest}\n"),
        });
    }
    text.push_str(OLDER);
    text
}

/// What works with releases that are not in the table.
const OLDER: &str = "\
with kube 0.60 to 1: CRDs by the compiler (`opctl manifests --engine cargo`), and all that needs no schema
";
