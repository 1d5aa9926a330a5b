//! `opctl import helm-operator`: a kind for each watch of operator-sdk's Helm operator, with the same chart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::helm_project::{Crd, HelmProject};
use super::watches::Watch;
use crate::commands::chart::{self, Imported};
use crate::commands::create_api::{self, CreateApiArgs, api_of_resource};
use crate::commands::error::{Diagnosed, Refusal, Refusals};
use crate::commands::init::{self, InitArgs};
use crate::commands::request::Request;
use crate::commands::{Console, Next, Outcome, lock, tree};
use crate::diagnostic::{Diagnostic, Span};
use crate::names::{Domain, ProjectName};
use crate::project::{Descriptions, ProjectError, ProjectFile, Resource, root_above};
use crate::scaffold;

/// Convert a Helm operator of operator-sdk: its kinds, charts, samples and watches.yaml
///
/// In a project of opctl, the kinds are added to it; in an empty folder, a project with the same name and domain is created. The
/// imported operator adopts existing objects and their releases. DIR is not changed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # In an empty folder
  opctl import helm-operator ../nginx-operator

  # Show what would be created
  opctl import helm-operator ../nginx-operator --dry-run")]
pub struct HelmOperatorArgs {
    /// The folder with watches.yaml
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// The plural of a kind that a chart creates and opctl does not know (repeatable, or comma-separated)
    #[arg(long = "helm-kind", value_name = "KIND.GROUP=PLURAL", value_delimiter = ',')]
    pub helm_kinds: Vec<String>,
}

pub fn run(args: &HelmOperatorArgs, console: &Console) -> anyhow::Result<Outcome> {
    let mut found = Vec::new();
    let source = HelmProject::read(&args.dir, &mut found)?;
    let here = std::env::current_dir().context("cannot determine the current folder")?;
    match root_above(&here) {
        Ok(root) => {
            let tree = tree(&root);
            let _lock = lock(&root, console)?;
            let file = ProjectFile::read(&tree)?;
            let requests = requests(args, &source, &file, found, console)?;
            let next = vec![
                Next::new("make test", "builds it and runs its tests"),
                Next::new("opctl dev", "runs it with its own API server"),
            ];
            create_api::fulfil(&requests, true, next, &file, &tree, console)
        }
        Err(ProjectError::Missing(_)) => {
            refuse_files(&here)?;
            let file = new_project(&source, &mut found)?;
            let requests = requests(args, &source, &file, found, console)?;
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
fn new_project(source: &HelmProject, found: &mut Vec<Diagnostic>) -> anyhow::Result<ProjectFile> {
    let names = source.names.clone().unwrap_or_default();
    let groups: BTreeSet<&str> = source.watches.iter().map(|watch| watch.group.as_str()).collect();
    let is_below = |domain: &str| groups.iter().all(|group| label(group, domain).is_some());
    let parents = groups.first().into_iter().flat_map(|group| group.match_indices('.').map(|(at, _)| &group[at + 1..]));
    let domain = std::iter::once(names.domain.as_str()).chain(parents).find(|domain| is_below(domain));
    if let (None, Some(watch)) = (domain, source.watches.first()) {
        let message = "the groups of the watches have no domain in common";
        let help = "create a project for each domain with `opctl init`, and import the watches of each group there";
        found.push(Diagnostic::error("OP482", message).at(watch.group_span.clone(), "").help(help));
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

/// One for each watch, or everything that is wrong.
fn requests(
    args: &HelmOperatorArgs,
    source: &HelmProject,
    file: &ProjectFile,
    mut found: Vec<Diagnostic>,
    console: &Console,
) -> anyhow::Result<Vec<Request>> {
    let mut file = file.clone();
    let mut requests = Vec::new();
    let mut charts: BTreeMap<String, PathBuf> = BTreeMap::new();
    for watch in &source.watches {
        let crd = source.crd(watch, &mut found);
        let folder = folder(source, watch, &mut charts, &mut found);
        let request = names(watch, crd, &file).and_then(|names| Request::new(&names, &file));
        let mut request = match request {
            Ok(request) => request,
            Err(refusals) => {
                found.extend(refusals.0.into_iter().map(|refusal| at(&watch.span, refusal)));
                continue;
            }
        };
        if let Some((folder, path)) = folder.filter(|_| !found.iter().any(Diagnostic::is_error)) {
            request.chart = match operator(args, source, watch, &request.resource, &file, (&folder, &path), console) {
                Ok(operator) => Some(operator),
                Err(error) => match error.downcast::<Refusal>().map_err(anyhow::Error::downcast::<Refusals>) {
                    Ok(refusal) => {
                        found.push(at(&watch.chart_span, refusal));
                        None
                    }
                    Err(Ok(Refusals(refusals))) => {
                        found.extend(refusals.into_iter().map(|refusal| at(&watch.chart_span, refusal)));
                        None
                    }
                    Err(Err(error)) => return Err(error),
                },
            };
        }
        file.resources.push(Resource { options: request.options(), ..request.resource.clone() });
        requests.push(request);
    }
    if found.iter().any(Diagnostic::is_error) {
        return Err(Diagnosed::from(found).into());
    }
    console.diagnose(&found);
    Ok(requests)
}

fn at(span: &Span, refusal: Refusal) -> Diagnostic {
    let diagnostic = Diagnostic::error("OP482", refusal.message).at(span.clone(), "");
    refusal.help.into_iter().fold(diagnostic, Diagnostic::help)
}

/// What `create api` would be asked for.
fn names(watch: &Watch, crd: Crd, file: &ProjectFile) -> Result<CreateApiArgs, Refusals> {
    let Some(group) = label(&watch.group, file.domain.as_str()) else {
        let message = format!("the group `{}` does not end in the project's domain, `{}`", watch.group, file.domain);
        let refusal = Refusal::new(message).help("import it in a project of its own: in an empty folder");
        return Err(Refusals(vec![refusal]));
    };
    Ok(CreateApiArgs {
        group: Some(group.to_owned()),
        version: Some(watch.version.clone()),
        kind: Some(watch.kind.clone()),
        plural: crd.plural,
        short_names: crd.short_names,
        categories: crd.categories,
        resource: Some(true),
        controller: Some(true),
        ..CreateApiArgs::default()
    })
}

/// The name of a chart's folder, and its path.
fn folder(
    source: &HelmProject,
    watch: &Watch,
    charts: &mut BTreeMap<String, PathBuf>,
    found: &mut Vec<Diagnostic>,
) -> Option<(String, PathBuf)> {
    let path = source.dir.join(&watch.chart);
    let name = path.file_name().map(|name| name.to_string_lossy().trim_end_matches(".tgz").to_owned());
    let mut wrong = |message: String, help: &str| {
        found.push(Diagnostic::error("OP482", message).at(watch.chart_span.clone(), "").help(help));
        None
    };
    match (name, path.canonicalize()) {
        (Some(name), Ok(path)) => match charts.entry(name.clone()).or_insert_with(|| path.clone()) {
            same if *same == path => Some((name, path)),
            other => {
                let message = format!("`{}` is in a folder of the name `{name}`, too", other.display());
                wrong(message, "rename one of the two folders")
            }
        },
        _ => wrong(
            format!("there is no chart `{}`", path.display()),
            "correct the path, from the folder of watches.yaml",
        ),
    }
}

fn operator(
    args: &HelmOperatorArgs,
    source: &HelmProject,
    watch: &Watch,
    resource: &Resource,
    file: &ProjectFile,
    (folder, path): (&str, &Path),
    console: &Console,
) -> anyhow::Result<chart::Operator> {
    // Hybrid projects use helm-operator-plugins.
    let (finalizer, set) = match source.names.as_ref().is_some_and(|names| names.is_hybrid()) {
        true => ("uninstall-helm-release", "set"),
        false => ("helm.sdk.operatorframework.io/uninstall-release", "set_string"),
    };
    let (mut samples, spec) = source.samples(watch);
    let usual = api_of_resource(resource).sample();
    if samples.iter().all(|(name, _)| *name != usual)
        && let Some((name, _)) = samples.first_mut()
    {
        *name = usual;
    }
    let adopted = scaffold::Adopted::new(finalizer, watch.period, watch.selector.clone(), set, &watch.overrides);
    let values = if spec.is_object() { spec } else { json!({}) };
    let fetched = chart::import(path, folder, values, &args.helm_kinds, Imported { adopted: Some(adopted), samples })?;
    let chart = chart::ChartArgs { helm_kinds: args.helm_kinds.clone(), ..chart::ChartArgs::default() };
    fetched.operator(&chart, resource, file, console)
}
