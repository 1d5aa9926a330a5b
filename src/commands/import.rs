//! `opctl import`: converts projects of other tools. Their files are read, never changed.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};

use super::create_api;
use super::init::{self, InitArgs};
use super::{Console, Next, Outcome, lock, tree};
use crate::api::{ChartArgs, Request, chart};
use crate::error::{SourceErrors, UserError};
use crate::import;
use opctl_charts::operator_sdk::{Gvk, Project, ansible, environment, helm};
use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::{ProjectError, ProjectFile, root_above};

#[derive(Debug, Subcommand)]
pub enum Import {
    HelmOperator(HelmOperatorArgs),
    AnsibleOperator(AnsibleOperatorArgs),
}

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

    /// The file with the watches, from DIR, if it has another name
    #[arg(long, value_name = "FILE")]
    pub watches: Option<String>,

    /// The plural of a kind that a chart creates and opctl does not know (repeatable, or comma-separated)
    #[arg(long = "helm-kind", value_name = "KIND.GROUP=PLURAL", value_delimiter = ',')]
    pub helm_kinds: Vec<String>,
}

/// Convert an Ansible operator of operator-sdk: its kinds, roles, playbooks, samples and watches.yaml
///
/// In a project of opctl, the kinds are added to it; in an empty folder, a project with the same name and domain is created. The
/// imported operator adopts existing objects. DIR is not changed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # In an empty folder
  opctl import ansible-operator ../memcached-operator

  # Show what would be created
  opctl import ansible-operator ../memcached-operator --dry-run")]
pub struct AnsibleOperatorArgs {
    /// The folder with watches.yaml
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// The file with the watches, from DIR, if it has another name
    #[arg(long, value_name = "FILE")]
    pub watches: Option<String>,
}

pub fn run(command: &Import, console: &Console) -> anyhow::Result<Outcome> {
    match command {
        Import::HelmOperator(args) => helm_operator(args, console),
        Import::AnsibleOperator(args) => ansible_operator(args, console),
    }
}

fn helm_operator(args: &HelmOperatorArgs, console: &Console) -> anyhow::Result<Outcome> {
    let mut found = Vec::new();
    let source = read(&args.dir, args.watches.as_deref(), "helm", &mut found)?;
    let watches = helm::read(&source.watches, &mut found);
    let kinds: Vec<&Gvk> = watches.iter().map(|watch| &watch.gvk).collect();
    fulfil(&source, &kinds, found, console, |file, found| {
        import::helm::requests(&source, &watches, file, found, |chart, resource, file| {
            let fetched = chart::import(&chart.path, &chart.folder, chart.values, &args.helm_kinds, chart.imported)?;
            let chart = ChartArgs { kinds: args.helm_kinds.clone(), ..ChartArgs::default() };
            fetched.operator(&chart, resource, file, &console.reporter())
        })
    })
}

fn ansible_operator(args: &AnsibleOperatorArgs, console: &Console) -> anyhow::Result<Outcome> {
    let mut found = Vec::new();
    let source = read(&args.dir, args.watches.as_deref(), "ansible", &mut found)?;
    let watches = ansible::read(&source.watches, &mut found);
    let mut files = ansible::files(&source, &mut found).map_err(|error| {
        UserError::new(error.to_string()).help("correct it in a copy of the project, and import the copy")
    })?;
    ansible::report_leftovers(&source, &mut found);
    ansible::report_configuration(&source, &mut found);
    environment::report_instructions(&source, &mut found);
    let kinds: Vec<&Gvk> = watches.iter().map(|watch| &watch.gvk).collect();
    fulfil(&source, &kinds, found, console, |file, found| {
        Ok(import::ansible::requests(&source, &watches, &mut files, file, found))
    })
}

/// Reads the project in a folder. `plugin` is the plugin of operator-sdk that creates such projects.
fn read(dir: &Path, watches: Option<&str>, plugin: &str, found: &mut Vec<Diagnostic>) -> Result<Project, UserError> {
    Project::read(dir, watches, found).map_err(|error| {
        UserError::new(error.to_string())
            .help(format!("name the folder of a project of `operator-sdk init --plugins={plugin}`"))
    })
}

/// Carries out the requests in one plan, in the project around the current folder or in a new one. Refuses if a finding
/// is an error.
fn fulfil(
    source: &Project,
    kinds: &[&Gvk],
    mut found: Vec<Diagnostic>,
    console: &Console,
    mut requests: impl FnMut(&ProjectFile, &mut Vec<Diagnostic>) -> anyhow::Result<Vec<Request>>,
) -> anyhow::Result<Outcome> {
    let mut requests = |file: &ProjectFile, mut found: Vec<Diagnostic>| {
        let requests = requests(file, &mut found)?;
        if found.iter().any(Diagnostic::is_error) {
            return Err(SourceErrors::from(found).into());
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
            let file = import::new_project(source, kinds, &mut found)?;
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

fn refuse_files(folder: &Path) -> Result<(), UserError> {
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    match entries.find(|entry| entry.file_name() != ".git") {
        None => Ok(()),
        Some(_) => Err(UserError::new("the current folder is neither a project of opctl nor empty")
            .help("go to an empty folder: `mkdir ../NAME && cd ../NAME`")
            .help("or to a project: `opctl init NAME --domain DOMAIN && cd NAME`")),
    }
}
