//! What is imported goes into the project around the current folder, or into a new one.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use super::project::{Crd, SdkProject};
use super::watches::Subject;
use crate::api::plan::api_of_resource;
use crate::api::{self, Request};
use crate::commands::create_api;
use crate::commands::error::{Diagnosed, Refusal, Refusals};
use crate::commands::init::{self, InitArgs};
use crate::commands::{Console, Next, Outcome, lock, tree};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::names::{Domain, ProjectName};
use opctl_model::project::{Descriptions, Options, ProjectError, ProjectFile, Resource, root_above};

/// Makes the requests, and fulfils them in one plan, unless one of the findings is an error.
pub fn import(
    source: &SdkProject,
    subjects: &[&Subject],
    mut found: Vec<Diagnostic>,
    console: &Console,
    mut requests: impl FnMut(&ProjectFile, &mut Vec<Diagnostic>) -> anyhow::Result<Vec<Request>>,
) -> anyhow::Result<Outcome> {
    let mut requests = |file: &ProjectFile, mut found: Vec<Diagnostic>| {
        let requests = requests(file, &mut found)?;
        if found.iter().any(Diagnostic::is_error) {
            return Err(Diagnosed::from(found).into());
        }
        console.diagnose(&found);
        Ok::<_, anyhow::Error>(requests)
    };
    let here = std::env::current_dir().context("cannot determine the current folder")?;
    match root_above(&here) {
        Ok(root) => {
            let tree = tree(&root);
            let _lock = lock(&root, console)?;
            let file = ProjectFile::read(&tree)?;
            let requests = requests(&file, found)?;
            let next = vec![
                Next::new("make test", "builds it and runs its tests"),
                Next::new("opctl dev", "runs it with its own API server"),
            ];
            create_api::fulfil(&requests, true, next, &file, &tree, console)
        }
        Err(ProjectError::Missing(_)) => {
            refuse_files(&here)?;
            let file = new_project(source, subjects, &mut found)?;
            let requests = requests(&file, found)?;
            let init = InitArgs {
                dir: ".".into(),
                domain: Some(file.domain.to_string()),
                project_name: Some(file.name.to_string()),
                yes: true,
                ..InitArgs::default()
            };
            init::with_requests(&init, requests, console)
        }
        Err(error) => Err(error.into()),
    }
}

fn refuse_files(folder: &Path) -> Result<(), Refusal> {
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    match entries.find(|entry| entry.file_name() != ".git") {
        None => Ok(()),
        Some(_) => Err(Refusal::new("the current folder is neither a project of opctl nor empty")
            .help("go to an empty folder: `mkdir ../NAME && cd ../NAME`")
            .help("or to a project: `opctl init NAME --domain DOMAIN && cd NAME`")),
    }
}

/// A project with their name, and a domain that all groups end in.
fn new_project(source: &SdkProject, subjects: &[&Subject], found: &mut Vec<Diagnostic>) -> anyhow::Result<ProjectFile> {
    let names = source.names.clone().unwrap_or_default();
    let groups: BTreeSet<&str> = subjects.iter().map(|subject| subject.group.as_str()).collect();
    let is_below = |domain: &str| groups.iter().all(|group| label(group, domain).is_some());
    let parents = groups.first().into_iter().flat_map(|group| group.match_indices('.').map(|(at, _)| &group[at + 1..]));
    let domain = std::iter::once(names.domain.as_str()).chain(parents).find(|domain| is_below(domain));
    if let (None, Some(subject)) = (domain, subjects.first()) {
        let message = "the groups of the watches have no domain in common";
        let help = "create a project for each domain with `opctl init`, and import the watches of each group there";
        found.push(Diagnostic::error("OP482", message).at(subject.group_span.clone(), "").help(help));
    }
    if found.iter().any(Diagnostic::is_error) {
        return Err(Diagnosed::from(std::mem::take(found)).into());
    }
    let mut refusals = Refusals::default();
    let name = refusals.check(ProjectName::parse(&names.project_name).map_err(|error| {
        Refusal::from(error)
            .help("correct `projectName` in PROJECT, or run `opctl init` first, and import in the new project")
    }));
    let domain = refusals.check(Domain::parse(domain.unwrap_or("example.com")));
    match (name, domain) {
        (Some(name), Some(domain)) => Ok(ProjectFile {
            name,
            domain,
            namespaced: false,
            namespaces: Vec::new(),
            descriptions: Descriptions::default(),
            resources: Vec::new(),
        }),
        _ => Err(refusals.into()),
    }
}

/// What a group has before the domain.
fn label<'a>(group: &'a str, domain: &str) -> Option<&'a str> {
    group.strip_suffix(domain)?.strip_suffix('.').filter(|label| !label.is_empty())
}

/// The kind of a watch; what is wrong with it is added to `found`.
pub fn request(
    subject: &Subject,
    crd: Option<Crd>,
    file: &ProjectFile,
    found: &mut Vec<Diagnostic>,
) -> Option<Request> {
    let request = names(subject, crd, file).and_then(|names| Request::new(&names, file));
    let wrong =
        |Refusals(refusals): Refusals| found.extend(refusals.into_iter().map(|refusal| at(&subject.span, refusal)));
    request.map_err(wrong).ok()
}

/// The samples of a kind, one of which gets the name that opctl gives it, and the spec of the first.
pub fn samples(source: &SdkProject, subject: &Subject, resource: &Resource) -> (Vec<(String, String)>, Value) {
    let (mut samples, spec) = source.samples(subject);
    let usual = api_of_resource(resource).sample();
    if samples.iter().all(|(name, _)| *name != usual)
        && let Some((name, _)) = samples.first_mut()
    {
        *name = usual;
    }
    (samples, spec)
}

pub fn at(span: &Span, refusal: Refusal) -> Diagnostic {
    let diagnostic = Diagnostic::error("OP482", refusal.message).at(span.clone(), "");
    refusal.help.into_iter().fold(diagnostic, Diagnostic::help)
}

/// What `create api` would be asked for.
fn names(watch: &Subject, crd: Option<Crd>, file: &ProjectFile) -> Result<api::Args, Refusals> {
    let Some(group) = label(&watch.group, file.domain.as_str()) else {
        let message = format!("the group `{}` does not end in the project's domain, `{}`", watch.group, file.domain);
        let refusal = Refusal::new(message).help("import it in a project of its own: in an empty folder");
        return Err(Refusals(vec![refusal]));
    };
    let (plural, short_names, categories) = match &crd {
        Some(crd) => (crd.plural.clone(), crd.short_names.clone(), crd.categories.clone()),
        None => Default::default(),
    };
    Ok(api::Args {
        group: Some(group.to_owned()),
        version: Some(watch.version.clone()),
        kind: Some(watch.kind.clone()),
        plural,
        namespaced: crd.is_some_and(|crd| !crd.is_namespaced).then_some(false),
        resource: Some(true),
        controller: Some(true),
        options: Options { short_names, categories, ..Options::default() },
        ..api::Args::default()
    })
}
