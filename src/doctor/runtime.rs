//! Compares the project's `opctl-runtime`, vendored or a dependency, with the version embedded in opctl.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Finding, Target};
use crate::error::USE_A_NEWER_OPCTL;
use crate::scaffold::{Features, Runtime, RuntimeCopy};
use opctl_edit::plan::{self, Plan, Policy, ResolveError, SUMS, Step, Verdict};
use opctl_model::counted;
use opctl_model::project::{Manifest, ReadError, Requirement, join};
use opctl_model::versions::{Release, Requirement as Versions};

/// Checks the runtime. Returns no findings for a crate that does not use it.
pub fn examine(target: &Target) -> Vec<Finding> {
    let tree = &target.tree;
    let requirement = match Manifest::read(tree, "") {
        Ok(manifest) => manifest.and_then(|manifest| manifest.requirement(Runtime::PACKAGE)),
        Err(error) => return vec![Finding::error(error.to_string())],
    };
    let Some(Requirement { version, path }) = requirement else { return Vec::new() };
    let own = Runtime::embedded().version.as_str();
    let refresh = format!("opctl init{} --runtime vendored", target.folder());
    let Some(folder) = path else { return vec![from_registry(&version.unwrap_or_default(), own)] };
    let findings = || -> Result<Vec<Finding>, ResolveError<ReadError>> {
        let Some(copy) = RuntimeCopy::read(tree, &folder).map_err(ResolveError::Read)? else {
            let what = format!("Cargo.toml refers to this folder for `{}`, but it does not exist", Runtime::PACKAGE);
            return Ok(vec![Finding::error(what).at(join(&folder, "Cargo.toml")).help(&refresh)]);
        };
        let used = Runtime::embedded().needed_features(tree, "").map_err(ResolveError::Read)?;
        let mut plan = Plan::default();
        if copy.sums.is_some() {
            RuntimeCopy::update(&mut plan, &folder, copy.sums.as_deref(), &used);
        }
        let steps = plan::resolve(&plan, &Policy::default(), |path| tree.read(path), |path| tree.read_bytes(path))?;
        Ok(in_folder(&folder, &copy, &steps, &used, own, &refresh))
    };
    findings().unwrap_or_else(|error| vec![Finding::error(error.to_string())])
}

fn from_registry(version: &str, own: &str) -> Finding {
    let what = format!("{} {version}, from the registry", Runtime::PACKAGE);
    match compare(version, own) {
        Ordering::Equal => Finding::ok(what),
        Ordering::Less => {
            Finding::warning(format!("{what}: this opctl scaffolds for {own}")).help("opctl init --runtime registry")
        }
        Ordering::Greater => newer(format!("{what}: this opctl scaffolds for {own}")),
    }
}

/// Compares a requirement with a release: equal if the requirement allows the release, else less or greater.
fn compare(asked: &str, own: &str) -> Ordering {
    let Some(asked) = Versions::parse(asked).filter(|asked| !asked.allows(own)) else { return Ordering::Equal };
    let (bound, own) = (asked.bound(), Release::parse(own));
    match asked.version() {
        Some(_) => bound.map(|it| it.0).cmp(&own.map(|it| it.0)),
        None => bound.cmp(&own),
    }
}

fn newer(what: String) -> Finding {
    Finding::warning(what).help(USE_A_NEWER_OPCTL)
}

/// Findings for a copy in a folder. `steps` are the changes that would update it to the embedded version; empty if the
/// copy belongs to the user.
fn in_folder(
    folder: &str,
    copy: &RuntimeCopy,
    steps: &[Step],
    used: &Features,
    own: &str,
    refresh: &str,
) -> Vec<Finding> {
    let name = format!("{} {}", Runtime::PACKAGE, copy.version);
    let (version, embedded) = (Release::parse(&copy.version), Release::parse(own));
    if version > embedded {
        return vec![newer(format!("{name} is newer than this opctl's {own}")).at(folder)];
    }
    let is_older = version < embedded;
    if copy.sums.is_none() {
        let what = format!("{name}, which is not opctl's: it has no `{SUMS}`");
        return vec![match is_older {
            true => Finding::warning(format!("{what}; opctl has {own}"))
                .at(folder)
                .help(format!("bring it up to date yourself, or delete it and take opctl's: {refresh}")),
            false => Finding::ok(what).at(folder),
        }];
    }
    let mut found = Vec::new();
    let mut missing: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for step in steps {
        if step.is_conflict() {
            let what = "it was edited, so opctl does not bring the runtime up to date";
            found.push(
                Finding::warning(what)
                    .at(&step.path)
                    .help(format!("to drop the edit: {refresh} --overwrite {}", step.path.trim_start_matches("../")))
                    .help(format!("or keep the folder as your own: rm {folder}/{SUMS}")),
            );
        } else if step.verdict == Verdict::Create && !is_older {
            let path = step.path.strip_prefix(folder).unwrap_or(&step.path).trim_start_matches('/');
            missing.entry(Runtime::embedded().feature_of(path, used)).or_default().push(&step.path);
        }
    }
    found.extend(missing.into_iter().map(|(feature, paths)| missing_files(feature, &paths, folder).help(refresh)));
    let differs = steps.iter().any(|step| step.verdict == Verdict::Update);
    if is_older {
        found.push(Finding::warning(format!("{name} is older than this opctl's {own}")).at(folder).help(refresh));
    } else if differs && found.is_empty() {
        found.push(Finding::warning(format!("{name} is that of another opctl")).at(folder).help(refresh));
    }
    if found.is_empty() {
        found.push(Finding::ok(format!("{name}, as this opctl carries it")).at(folder));
    }
    found
}

/// The finding for the missing files of a part of the runtime: of a feature, or of every copy.
fn missing_files(feature: Option<&str>, paths: &[&str], folder: &str) -> Finding {
    if let [path] = paths {
        return Finding::error("this file of the runtime is missing").at(*path);
    }
    let part = feature.map_or("of the runtime".into(), |name| format!("of the runtime's feature `{name}`"));
    Finding::error(format!("{} {part} are missing", counted(paths.len(), "file"))).at(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use opctl_cluster::findings::Severity;

    const OWN: &str = "5.1.0";

    fn copy(version: &str, sums: Option<&str>) -> RuntimeCopy {
        RuntimeCopy { version: version.into(), sums: sums.map(String::from) }
    }

    fn step(path: &str, verdict: Verdict) -> Step {
        Step { path: path.into(), vendored: None, verdict, before: None, after: None }
    }

    fn lines(copy: &RuntimeCopy, steps: &[Step]) -> Vec<String> {
        let used = ["helm", "manager", "webhook"].map(String::from).into();
        let found = in_folder("../runtime", copy, steps, &used, OWN, "REFRESH");
        found.iter().map(|it| format!("{} {} -> {}", it.severity.word(), it.what, it.help.join("; "))).collect()
    }

    #[test]
    fn missing_files_are_one_finding_for_each_part() {
        let missing = |path: &str| step(&format!("../runtime/{path}"), Verdict::Create);
        let of_webhooks = ["src/webhook/mod.rs", "src/webhook/options.rs"].map(missing);
        let steps =
            [&of_webhooks[..], &["src/apply.rs", "src/names.rs", "src/proxy.rs", "src/helm/mod.rs"].map(missing)]
                .concat();
        let found = [
            "error 2 files of the runtime are missing -> REFRESH",
            "error 2 files of the runtime's feature `helm` are missing -> REFRESH",
            "error 2 files of the runtime's feature `webhook` are missing -> REFRESH",
        ];
        assert_eq!(lines(&copy(OWN, Some("")), &steps), found);
    }

    #[test]
    fn a_copy_is_compared_by_its_files_and_its_version() {
        let name = Runtime::PACKAGE;
        let same = [step("../runtime/a", Verdict::Unchanged)];
        assert_eq!(lines(&copy(OWN, Some("")), &same), [format!("ok {name} 5.1.0, as this opctl carries it -> ")]);
        let other = [step("../runtime/a", Verdict::Update), step("../runtime/b", Verdict::Create)];
        assert_eq!(
            lines(&copy("5.0.9", Some("")), &other),
            [format!("warning {name} 5.0.9 is older than this opctl's 5.1.0 -> REFRESH")]
        );
        assert_eq!(lines(&copy(OWN, Some("")), &other), ["error this file of the runtime is missing -> REFRESH"]);
        assert_eq!(
            lines(&copy(OWN, Some("")), &other[..1]),
            [format!("warning {name} 5.1.0 is that of another opctl -> REFRESH")]
        );
        let edited = Verdict::Conflict { reason: String::new(), help: String::new() };
        assert_eq!(
            lines(&copy(OWN, Some("")), &[step("../runtime/a", edited)]),
            [
                "warning it was edited, so opctl does not bring the runtime up to date -> to drop the edit: REFRESH --overwrite runtime/a; \
                 or keep the folder as your own: rm ../runtime/SHA256SUMS"
            ]
        );
        assert_eq!(
            lines(&copy("99.0.0", Some("")), &other),
            [format!("warning {name} 99.0.0 is newer than this opctl's 5.1.0 -> {USE_A_NEWER_OPCTL}")]
        );
        assert_eq!(lines(&copy("5.0.0", None), &[]).len(), 1);
        assert!(lines(&copy(OWN, None), &[])[0].starts_with("ok "));
    }

    #[test]
    fn of_the_registry_the_major_version_counts() {
        let severity = |version: &str| from_registry(version, OWN).severity;
        for fits in ["5.0.0", "=5.2", "5", "~5.0", "5.*", ">=5, <6", "*", ">4"] {
            assert_eq!(severity(fits), Severity::Ok, "{fits}");
        }
        for (other, help) in
            [("4.9.0", "opctl init"), (">=4, <5", "opctl init"), ("6", USE_A_NEWER_OPCTL), (">=5.2", USE_A_NEWER_OPCTL)]
        {
            let found = from_registry(other, OWN);
            assert!(found.severity == Severity::Warning && found.help[0].starts_with(help), "{other}");
        }
    }
}
