//! Compares `docs/reference/diagnostics.md` with the explanations next to the checks.
//!
//! `SNAPSHOTS=overwrite cargo test --test quick diagnostics_reference` updates it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use opctl::diagnostics;
use opctl_model::diagnostic::Chapter;
use snapbox::{Assert, Data};

/// Cargo runs tests in the package's folder.
const PATH: &str = "docs/reference/diagnostics.md";

#[test]
fn the_reference_of_diagnostics_is_up_to_date() {
    let codes = diagnostics::all();
    let names: BTreeSet<_> = codes.iter().map(|code| code.name).collect();
    assert_eq!(names.len(), codes.len(), "two diagnostics have the same code");
    let mut text = HEAD.to_owned();
    for chapter in codes.chunk_by(|a, b| a.chapter == b.chapter) {
        write!(text, "\n## {}\n", heading(chapter[0].chapter)).unwrap();
        for code in chapter {
            write!(text, "\n### {code}\n\n{}", code.explanation()).unwrap();
        }
    }
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(text), Data::read_from(Path::new(PATH), None).raw());
}

const HEAD: &str = "\
# Diagnostics

opctl reports every problem in your files with a code, its place, and a suggested fix, and reports all problems in one run. A
kind with an error keeps its CRD as it is; other errors, and any error with `--all-or-nothing`, stop all writes. Warnings do not
stop it; `-q` hides them.

| codes | subject |
|---|---|
| from OP001 | Rust source, and the CRDs generated from it |
| from OP101 | markers in comments |
| from OP201 | the PROJECT file |
| from OP301 | CRDs that the API server would reject or warn about |
| from OP401 | [`opctl check`](../concepts/check.md): permissions, the manifests under `config/`, objects that do not decode |
| from OP500 | [`opctl generate bundle`](../olm.md): what a bundle for OLM cannot hold |
| from OP510 | [bundles](../olm-validate.md) and [catalogs](../olm-catalogs.md) of the Operator Lifecycle Manager |
";

/// The title of a chapter, and its introduction.
fn heading(chapter: Chapter) -> &'static str {
    match chapter {
        Chapter::Source => "Source",
        Chapter::Markers => "Markers",
        Chapter::Project => "The PROJECT file",
        Chapter::ApiServer => {
            "\
What the API server refuses

Before opctl writes CRDs, it checks them against the API server's rules (Kubernetes 1.36 and 1.37). An error means that the API
server would reject the CRD. A warning means that the API server would accept it with a warning of its own, or accept a setting
that has no effect. Messages show the path in the YAML (`spec.pools[].name`); the location is that of the Rust field."
        },
        Chapter::Check => {
            "\
Permissions, manifests and objects

`opctl check` compares the requests in the code with the permissions that the markers grant, and validates the manifests under
`config/` against the project's kinds and each other."
        },
        Chapter::Decoding => "Objects that do not decode",
        Chapter::Charts => "Helm charts",
        Chapter::Ansible => "Ansible",
        Chapter::Metrics => "Metrics",
        Chapter::BundleGeneration => {
            "\
Bundles for OLM

`opctl generate bundle` reports each object and field that a [bundle](../olm.md) cannot hold as it is. With `--strict`, these warnings are
errors. To allow one, write `# +opctl:allow:OP501 reason` above the line in the manifest."
        },
        Chapter::Bundles => {
            "\
Bundles and catalogs

The name of the rule is at the end of each message; [Validating bundles](../olm-validate.md#rules) lists the rules."
        },
        Chapter::Changes => {
            "\
Changes of CRDs

`opctl manifests --against main` reports these; see [Changing a CRD safely](../crd-changes.md)."
        },
    }
}
