//! What users of kubebuilder and operator-sdk type out of habit, and what does it here.

/// The hint for words that are no command of opctl, e.g. `["add", "api"]`.
pub fn hint(words: &[&str]) -> Option<&'static str> {
    HABITS.iter().find(|(habit, _)| words.starts_with(habit)).map(|(_, here)| *here)
}

/// The hint for a flag that is none of opctl's, e.g. `--force`.
pub fn flag_hint(flag: &str) -> Option<&'static str> {
    FLAGS.iter().find(|(habit, _)| *habit == flag).map(|(_, here)| *here)
}

const FLAGS: &[(&str, &str)] = &[
    (
        "--external-api-path",
        "`--external-type PATH` names the Rust type; `--external-crd FILE` has kopium make it of the CRD",
    ),
    ("--external-api-domain", "with `--external-type PATH`, `--group` is the whole group, e.g. `cert-manager.io`"),
    ("--external-api-module", "`cargo add CRATE` adds the crate that has the type of `--external-type PATH`"),
    ("false", "use `=` for a value: `--resource=false`, `--controller=false`, `--namespaced=false`"),
    ("--img", "`--image IMAGE` names the image"),
    ("--force", "`--overwrite PATH` replaces one file of yours"),
];

/// The longest match stands first.
const HABITS: &[(&[&str], &str)] = &[
    (&["new"], "`opctl init DIR --domain DOMAIN` starts a project"),
    (&["add", "api"], "`opctl create api` creates a resource and its controller"),
    (&["add", "controller"], "`opctl create api --resource=false` creates only a controller"),
    (&["add", "crd"], "`opctl create api --controller=false` creates only a resource"),
    (&["add", "webhook"], "`opctl create webhook` creates a defaulting, validating or conversion webhook"),
    (&["add"], "`opctl create api` creates a resource and its controller"),
    (&["create", "controller"], "`opctl create api --resource=false` creates only a controller"),
    (&["create", "resource"], "`opctl create api --controller=false` creates only a resource"),
    (&["create", "crd"], "`opctl create api --controller=false` creates only a resource"),
    (&["generate", "k8s"], "nothing needs to be generated: `#[derive(Clone)]` is Rust's DeepCopy"),
    (
        &["generate", "csv"],
        "opctl does not create OLM bundles yet; `opctl build-installer` writes one file that installs the operator",
    ),
    (
        &["generate", "bundle"],
        "opctl does not create OLM bundles yet; `opctl build-installer` writes one file that installs the operator",
    ),
    (&["generate"], "`opctl manifests` regenerates CRDs and RBAC from the Rust source"),
    (&["gen"], "`opctl manifests` regenerates CRDs and RBAC from the Rust source"),
    (&["manifest"], "`opctl manifests` regenerates CRDs and RBAC from the Rust source"),
    (&["crd"], "`opctl manifests` regenerates CRDs and RBAC from the Rust source"),
    (&["rbac"], "`opctl manifests` regenerates CRDs and RBAC from the Rust source"),
    (&["run", "bundle"], "opctl does not create OLM bundles yet; `opctl deploy --image IMAGE` installs the operator"),
    (
        &["run"],
        "`opctl dev` runs the operator with its own API server; `make install run` uses the cluster of KUBECONFIG",
    ),
    (
        &["up"],
        "`opctl dev` runs the operator with its own API server; `make install run` uses the cluster of KUBECONFIG",
    ),
    (&["build"], "`make docker-build IMG=IMAGE` builds the image, `make build` the binary"),
    (&["test"], "`make test` runs the tests"),
    (&["envtest"], "`opctl testenv setup` finds or downloads etcd and kube-apiserver"),
    (
        &["setup-envtest"],
        "`opctl testenv setup --kubernetes 1.36` prints the folder, as `setup-envtest use -p path` does",
    ),
    (&["edit"], "several groups always work, and `namespaced` is a setting in PROJECT"),
    (
        &["bundle"],
        "opctl does not create OLM bundles yet; `opctl build-installer` writes one file that installs the operator",
    ),
    (&["scorecard"], "`make test test-integration` checks the operator"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_match_stands_first() {
        for (at, (habit, _)) in HABITS.iter().enumerate() {
            assert!(HABITS[..at].iter().all(|(before, _)| !habit.starts_with(before)), "{habit:?} is never reached");
        }
    }
}
