//! `opctl import helm-operator`: a kind for each watch of operator-sdk's Helm operator, with the same chart.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::project::SdkProject;
use super::target;
use super::watches::{self, Subject, Watch};
use crate::api::chart::{self, Imported};
use crate::api::{ChartArgs, Request};
use crate::commands::error::{Refusal, Refusals};
use crate::commands::{Console, Outcome};
use crate::scaffold;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::{ProjectFile, Resource};

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
    let source = SdkProject::read(&args.dir, "helm", &mut found)?;
    let watches = watches::read(&source.watches, &mut found);
    let subjects: Vec<&Subject> = watches.iter().map(|watch| &watch.subject).collect();
    target::import(&source, &subjects, found, console, |file, found| {
        requests(args, &source, &watches, file, found, console)
    })
}

/// One for each watch, or everything that is wrong.
fn requests(
    args: &HelmOperatorArgs,
    source: &SdkProject,
    watches: &[Watch],
    file: &ProjectFile,
    found: &mut Vec<Diagnostic>,
    console: &Console,
) -> anyhow::Result<Vec<Request>> {
    let mut file = file.clone();
    let mut requests = Vec::new();
    let mut charts: BTreeMap<String, PathBuf> = BTreeMap::new();
    for watch in watches {
        let subject = &watch.subject;
        let crd = source.crd(subject, found);
        if let Some(crd) = crd.as_ref().filter(|crd| !crd.is_namespaced) {
            let message =
                format!("`{}` is cluster-scoped ({}), and a release needs a namespace", subject.kind, crd.path);
            let help = "no object of it can have had a release: make it namespaced, or remove the watch";
            found.push(Diagnostic::error("OP482", message).at(subject.span.clone(), "").help(help));
            continue;
        }
        let folder = folder(source, watch, &mut charts, found);
        let Some(mut request) = target::request(subject, crd, &file, found) else { continue };
        if let Some((folder, path)) = folder.filter(|_| !found.iter().any(Diagnostic::is_error)) {
            request.chart = match operator(args, source, watch, &mut request.resource, &file, (&folder, &path), console)
            {
                Ok(operator) => Some(operator),
                Err(error) => match error.downcast::<Refusal>().map_err(anyhow::Error::downcast::<Refusals>) {
                    Ok(refusal) => {
                        found.push(target::at(&watch.chart_span, refusal));
                        None
                    }
                    Err(Ok(Refusals(refusals))) => {
                        found.extend(refusals.into_iter().map(|refusal| target::at(&watch.chart_span, refusal)));
                        None
                    }
                    Err(Err(error)) => return Err(error),
                },
            };
        }
        file.resources.push(request.resource.clone());
        requests.push(request);
    }
    Ok(requests)
}

/// The name of a chart's folder, and its path.
fn folder(
    source: &SdkProject,
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
    let root = source.dir.canonicalize().unwrap_or_else(|_| source.dir.clone());
    match (name, path.canonicalize()) {
        (_, Ok(path)) if !path.starts_with(&root) => wrong(
            format!("the chart `{}` is outside of `{}`", path.display(), source.dir.display()),
            "copy it into that folder, and correct the path",
        ),
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
    source: &SdkProject,
    watch: &Watch,
    resource: &mut Resource,
    file: &ProjectFile,
    (folder, path): (&str, &Path),
    console: &Console,
) -> anyhow::Result<chart::Operator> {
    // Hybrid projects use helm-operator-plugins.
    let (finalizer, set) = match source.names.as_ref().is_some_and(|names| names.is_hybrid()) {
        true => ("uninstall-helm-release", "set"),
        false => ("helm.sdk.operatorframework.io/uninstall-release", "set_string"),
    };
    let (samples, spec) = target::samples(source, &watch.subject, resource);
    let adopted = scaffold::Adopted::new(finalizer, watch.period, watch.selector.clone(), set, &watch.overrides);
    let values = if spec.is_object() { spec } else { json!({}) };
    let fetched = chart::import(path, folder, values, &args.helm_kinds, Imported { adopted: Some(adopted), samples })?;
    let chart = ChartArgs { kinds: args.helm_kinds.clone(), ..ChartArgs::default() };
    fetched.operator(&chart, resource, file, &console.reporter())
}
