//! Compares the CRDs of a source with those of an earlier release: files, a commit or a cluster.
//! [`opctl_schema::compat`] decides which changes break stored objects, writers or readers; this module adds positions
//! in the source, and checks the objects of a cluster.

use std::path::Path;

use serde_json::Value;

use crate::diagnostics::OP611;
use crate::error::UserError;
use crate::kept;
use crate::places;
use opctl_cluster::{self as cluster, Kubectl, KubectlError};
use opctl_kustomize::yaml::Node;
use opctl_model::counted;
use opctl_model::diagnostic::{Diagnostic, Severity};
use opctl_model::names::Version;
use opctl_model::project::{CrdPath, PROJECT, ProjectFile, Tree};
use opctl_model::{Api, CrdLocation, yaml};
use opctl_schema::apiserver::check_object;
use opctl_schema::compat::{self, Change, Impact, Victim};
use opctl_source::Source;
use opctl_source::emit::CustomResourceDefinition;
use opctl_tools::git;

/// The earlier release to compare with.
#[derive(Debug)]
pub enum Baseline {
    Cluster(Box<Kubectl>),
    /// The CRDs in files, and the name of their location for messages.
    Files(String, Vec<Value>),
}

impl Baseline {
    /// Reads a file, folder, chart or commit. For a commit, the CRDs are read at its merge base with the current
    /// commit, from the paths that PROJECT had there, or else from `paths`. Paths are relative to the root of the tree.
    ///
    /// # Errors
    ///
    /// If there is no such file, folder or commit, if it cannot be read, or if a file, folder or chart has no CRD.
    pub fn read(what: &str, tree: &Tree, paths: &[CrdPath]) -> anyhow::Result<Self> {
        let (root, path) = (tree.root(), Path::new(what));
        if path.exists() {
            return Ok(Self::Files(format!("`{what}`"), kept::crds(path)?.iter().map(Node::json).collect()));
        }
        let refused = |why: String| {
            UserError::new(format!("cannot compare with `{what}`: {why}"))
                .help("give a file or folder with CRDs, a branch, tag or commit, or `cluster`")
                .help("in CI, the checkout needs its history: `fetch-depth: 0`")
        };
        let commit = git::merge_base(root, what).map_err(refused)?;
        let name = format!("`{what}` ({})", &commit[..commit.len().min(10)]);
        let files = |path: &str| git::files(root, &commit, path).map_err(refused);
        // A commit from before the operator was adopted has no PROJECT; its CRDs are then expected at the current
        // paths.
        let project = files(PROJECT)?.pop().and_then(|(_, text)| ProjectFile::parse(&text).ok());
        let is_usual = paths.iter().any(CrdPath::is_bases);
        let paths = project.as_ref().filter(|_| is_usual).map_or(paths, |project| &project.crds);
        let mut crds = Vec::new();
        for path in paths {
            for (path, text) in files(path.as_str())? {
                let found = places::crds_in(tree, &path, text)
                    .map_err(|why| UserError::new(format!("cannot read `{path}` of {name}: {why}")))?;
                crds.extend(found);
            }
        }
        Ok(Self::Files(name, crds))
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Cluster(_) => "the cluster",
            Self::Files(name, _) => name,
        }
    }

    /// The old CRDs. From a cluster, only those that the new ones would replace.
    fn crds(&self, new: &[CustomResourceDefinition]) -> Result<Vec<Value>, KubectlError> {
        match self {
            Self::Files(_, crds) => Ok(crds.clone()),
            Self::Cluster(kubectl) => {
                let names = new.iter().filter_map(|crd| crd.metadata.name.as_deref());
                let mut get =
                    vec!["get", "customresourcedefinitions.apiextensions.k8s.io", "--ignore-not-found", "-o", "json"];
                get.extend(names);
                let output = kubectl.output(&get, "")?;
                let values = yaml::objects(&output).unwrap_or_default();
                Ok(values.into_iter().filter(|value| value["kind"] == "CustomResourceDefinition").collect())
            }
        }
    }
}

/// The changes of the CRDs since a baseline.
pub struct Comparison {
    /// Breaking changes and warnings, at the fields in the source.
    pub diagnostics: Vec<Diagnostic>,
    /// Messages about compatible changes.
    pub compatible: Vec<String>,
}

/// Compares the CRDs of a source with the baseline. `is_strict` makes a breaking change of an alpha version an error,
/// too.
///
/// # Errors
///
/// If the cluster cannot be queried.
pub fn compare(
    baseline: &Baseline,
    source: &Source,
    crds: &[CustomResourceDefinition],
    is_strict: bool,
) -> Result<Comparison, KubectlError> {
    let old = baseline.crds(crds)?;
    let new: Vec<Value> = crds.iter().map(|crd| serde_json::to_value(crd).expect("a CRD is JSON")).collect();
    let mut changes = compat::compare(&old, &new);
    changes.extend(compat::refused_names(&old, crds));
    let mut diagnostics = to_diagnostics(&changes, source, &new, is_strict);
    if let Baseline::Cluster(kubectl) = baseline {
        diagnostics.extend(live(kubectl, crds, &old, &changes, source)?);
    }
    let notes = changes.iter().filter(|change| change.impact == Impact::Note);
    Ok(Comparison { diagnostics, compatible: notes.map(|note| message(note, &new)).collect() })
}

/// All changes except for compatible ones, at the fields in the source.
fn to_diagnostics(changes: &[Change], source: &Source, new: &[Value], is_strict: bool) -> Vec<Diagnostic> {
    let changes: Vec<&Change> = changes.iter().filter(|change| change.impact > Impact::Note).collect();
    let api_of = |change: &Change| {
        let of_crd = |api: &&Api| format!("{}.{}", api.plural, api.group) == change.crd;
        let mut apis = source.operator.apis.iter().filter(of_crd);
        match &change.version {
            Some(version) => apis.find(|api| api.version == *version),
            None => apis.max_by_key(|api| maturity(&api.version)),
        }
    };
    let apis: Vec<Option<&Api>> = changes.iter().map(|change| api_of(change)).collect();
    let places = apis.iter().zip(&changes).filter_map(|(api, change)| Some(((*api)?, &change.location)));
    let mut spans = source.locate(&places.collect::<Vec<(&Api, &CrdLocation)>>()).into_iter();
    let of_change = |(api, change): (Option<&Api>, &&Change)| {
        let span = api.and_then(|_| spans.next());
        let version = change.version.as_deref().or(api.map(|api| api.version.as_str()));
        // A version that opctl cannot determine counts as stable.
        let is_alpha = version.is_some_and(|version| version.contains("alpha"));
        let severity = match change.impact {
            Impact::Loss => Severity::Error,
            Impact::Breaking if is_strict || !is_alpha => Severity::Error,
            Impact::Breaking | Impact::Warning | Impact::Note => Severity::Warning,
        };
        let victims = victims(change);
        let why = format!("breaks {victims}: {}", change.why);
        let mut message = message(change, new);
        if span.is_none() {
            message = format!("{message}; {why}");
        }
        let span = span.map(|span| (span, why));
        Diagnostic { severity, code: change.code, message, span, help: change.help.iter().cloned().collect() }
    };
    apis.into_iter().zip(&changes).map(of_change).collect()
}

fn victims(change: &Change) -> String {
    let names: Vec<&str> = change.victims.iter().map(|victim| victim.name()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "nobody".to_owned(),
    }
}

/// The message of a change, with its kind and version.
fn message(change: &Change, new: &[Value]) -> String {
    let crd = new.iter().find(|crd| crd["metadata"]["name"] == change.crd.as_str());
    let kind = crd.and_then(|crd| crd["spec"]["names"]["kind"].as_str());
    match (kind, &change.version) {
        (Some(kind), Some(version)) => format!("`{kind}` {version}: {}", change.message),
        (Some(kind), None) => format!("`{kind}`: {}", change.message),
        (None, _) => change.message.clone(),
    }
}

/// The sort key of a version. Stable versions are last.
fn maturity(version: &str) -> impl Ord + use<> {
    Version::parse(version).ok().map(|version| version.priority())
}

/// The objects in the cluster that the new CRDs would not accept. Only kinds with a change that affects objects are
/// checked.
fn live(
    kubectl: &Kubectl,
    crds: &[CustomResourceDefinition],
    old: &[Value],
    changes: &[Change],
    source: &Source,
) -> Result<Vec<Diagnostic>, KubectlError> {
    let mut found = Vec::new();
    for crd in crds {
        let name = crd.metadata.name.as_deref().unwrap_or_default();
        let concerns_objects = |change: &Change| {
            let hurts = |victim: &Victim| matches!(victim, Victim::Stored | Victim::Writers);
            change.crd == name && change.impact > Impact::Note && change.victims.iter().any(hurts)
        };
        if !changes.iter().any(concerns_objects) {
            continue;
        }
        let before = old.iter().find(|crd| crd["metadata"]["name"] == name).cloned();
        let before: Option<CustomResourceDefinition> = before.and_then(|crd| serde_json::from_value(crd).ok());
        let output = kubectl.output(&["get", name, "--all-namespaces", "--chunk-size=500", "-o", "json"], "")?;
        let objects = cluster::items(&output);
        let mut unfit: Vec<String> = Vec::new();
        for object in &objects {
            let errors = |crd: &CustomResourceDefinition| -> Vec<String> {
                let found = check_object(crd, object).into_iter().filter(|it| it.severity == Severity::Error);
                found.map(|it| it.message).collect()
            };
            let known = before.as_ref().map(errors).unwrap_or_default();
            if let Some(first) = errors(crd).into_iter().find(|error| !known.contains(error)) {
                let of = |field: &str| object["metadata"][field].as_str();
                let namespace = of("namespace").map(|it| format!("{it}/")).unwrap_or_default();
                unfit.push(format!("{namespace}{}: {first}", of("name").unwrap_or_default()));
            }
        }
        if unfit.is_empty() {
            continue;
        }
        let message =
            format!("{} of {} in the cluster would be refused", counted(unfit.len(), "object"), objects.len());
        let mut error = OP611.error(format!("`{}`: {message}", crd.spec.names.kind));
        let kind = (&crd.spec.group, &crd.spec.names.kind);
        if let Some(api) = source.operator.apis.iter().find(|api| (&api.group, &api.kind) == kind) {
            error = error.at(api.span.clone(), "");
        }
        for object in unfit.iter().take(5) {
            error = error.help(object.clone());
        }
        if unfit.len() > 5 {
            error = error.help(format!("and {} more", unfit.len() - 5));
        }
        found.push(error);
    }
    Ok(found)
}
