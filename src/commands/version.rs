//! `opctl version`: prints the version of opctl and the versions of the crates whose output it generates.

use crate::versions::CRATES;

pub fn text() -> String {
    let mut text = format!("opctl {}\n", env!("CARGO_PKG_VERSION"));
    for (name, version) in CRATES {
        text.push_str(&format!("{name} {version}\n"));
    }
    text
}
