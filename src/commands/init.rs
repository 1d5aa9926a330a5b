//! `opctl init`: creates a project, alone or as a member of a cargo workspace.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{ArgAction, Args};

use super::adopt::{self, AdoptArgs};
use super::console::Question;
use super::create_api::{AnsibleArgs, ChartArgs};
use super::{Console, Next, Outcome, Task, carry_out, lock, manifests, recover, runtime, workspace_above};
use crate::api::chart::{self, Fetched};
use crate::api::{self, Request, ansible, plan};
use crate::error::{SourceErrors, UserError, UserErrors};
use crate::scaffold::{self, License};
use opctl_edit::Edit;
use opctl_edit::plan::{Change, Plan};
use opctl_model::names::{Domain, Namespace, ProjectName};
use opctl_model::project::{self, Descriptions, Manifest, PROJECT, ProjectFile, Tree, Workspaces};
use opctl_process::quoted;
use opctl_source as source;

/// Create an operator project: a kube-rs crate with everything to build, test and deploy it
///
/// The folder may already contain files; none of them is replaced. In a Cargo workspace, the new project becomes a member.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  # An empty project in a new folder
  opctl init memcached-operator --domain example.com

  # A whole operator with one API in the current folder
  opctl init --domain example.com --api cache/v1alpha1/Memcached

  # An operator that installs a Helm chart for each object
  opctl init --domain example.com --helm-chart nginx --helm-chart-repo https://charts.example.com

  # An operator that runs an Ansible role for each object
  opctl init --domain example.com --group cache --version v1alpha1 --kind Memcached --ansible-role

  # With a licence header in every generated source file
  opctl init shop --domain example.com --license apache2 --owner \"The Shop Authors\"")]
pub struct InitArgs {
    /// The project's folder; created if it does not exist
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub dir: PathBuf,

    /// The domain of the project's API groups, e.g. example.com; prompted for if missing
    #[arg(long)]
    pub domain: Option<String>,

    /// The project's name, a prefix of its Kubernetes resources [default: the folder's name, `my-srv` for `mySrv`]
    #[arg(long, value_name = "NAME")]
    pub project_name: Option<String>,

    /// The licence: apache2, mit, none, or a file with the header for source files [default: apache2]
    #[arg(long, value_name = "apache2|mit|none|FILE")]
    pub license: Option<String>,

    /// The copyright holder, for the licence and the header of source files
    #[arg(long)]
    pub owner: Option<String>,

    /// Watch one namespace, with a Role, instead of the whole cluster, with a ClusterRole
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t, hide_default_value = true, action = ArgAction::Set)]
    pub namespaced: bool,

    /// Watch these existing namespaces, with a Role in each, e.g. team-a,team-b
    #[arg(long, value_name = "NAMESPACES", value_delimiter = ',')]
    pub watch_namespace: Vec<String>,

    /// Also create this API: its type and its controller (repeatable)
    #[arg(long = "api", value_name = "GROUP/VERSION/KIND")]
    pub apis: Vec<String>,

    /// The group of the kind for a chart, role or playbook [default for a chart: charts]
    #[arg(long, help_heading = "Helm and Ansible")]
    pub group: Option<String>,

    /// Its version [default for a chart: v1alpha1]
    #[arg(long, help_heading = "Helm and Ansible")]
    pub version: Option<String>,

    /// The kind for a chart, role or playbook [default for a chart: its name]
    #[arg(long, help_heading = "Helm and Ansible")]
    pub kind: Option<String>,

    #[command(flatten)]
    pub chart: ChartArgs,

    #[command(flatten)]
    pub ansible: AnsibleArgs,

    /// Those of other tools; `helm` with a kind creates the starter chart.
    #[arg(long, hide = true, value_delimiter = ',')]
    pub plugins: Vec<String>,

    /// The source of opctl-runtime: a copy in `runtime`, the registry, or a folder relative to the project
    ///
    /// In a workspace, all members share one copy at its root. In an existing project, use this option alone to update the copy
    /// or to change the source. [default: vendored]
    #[arg(long, value_name = "vendored|registry|DIR")]
    pub runtime: Option<String>,

    /// Never prompt
    #[arg(short, long)]
    pub yes: bool,
}

/// Files that may exist before a folder becomes a project. They are kept, because no other file depends on them.
pub const KEPT: &[&str] = &[".dockerignore", ".gitattributes", ".gitignore", "AGENTS.md", "LICENSE", "README.md"];

pub fn run(args: &InitArgs, console: &Console) -> anyhow::Result<Outcome> {
    let dir = absolute(&args.dir)?;
    recover(&dir, console)?;
    let runtime = args.runtime.as_deref().map(runtime::Choice::parse);
    if let Some(choice) = runtime.as_ref().filter(|_| project::has_project(&dir) && is_about_the_runtime(args)) {
        return runtime::change(choice, &dir, console);
    }
    refuse_a_project(&dir)?;
    if let Some(kind) = first_kind(&dir) {
        let adopts = !args.yes
            && console.can_ask()
            && console.ask_yes(
                &format!("the crate has kinds, such as `{kind}`. adopt it, instead of a new operator?"),
                "`opctl adopt` adds PROJECT and manifests, and does not change the source",
            )?;
        if adopts {
            return adopt::run(&AdoptArgs::new(dir, args.domain.clone(), args.project_name.clone()), console);
        }
        return Err(UserError::new(format!("`{}` has an operator already: the kind `{kind}`", dir.display()))
            .help("make it a project with `opctl adopt`, which does not change the source")
            .help("or create a new operator in another folder: `opctl init DIR`")
            .into());
    }
    let mut args = args.clone();
    if !args.yes && console.can_ask() {
        check(&args, &dir, "example.com")?;
        let help = "a domain of yours, which is the end of each API group: `cache.example.com`";
        console.ask_for(&mut args.domain, &Question::new("Domain, e.g. example.com", help), Domain::parse)?;
    }
    let mut answers = check(&args, &dir, "")?;
    let mut api = api_of_options(&args);
    ansible::check(&api)?;
    let fetched = chart::fetch(&mut api, &console.reporter())?;
    if fetched.is_some() || api.ansible.flag().is_some() {
        let request = request_of_options(&api, &answers, args.namespaced, fetched, &super::tree(&dir), console)?;
        answers.requests.push(request);
    }
    create(&args, &dir, answers, console)
}

/// Creates a project with requests that are already validated.
pub fn with_requests(args: &InitArgs, requests: Vec<Request>, console: &Console) -> anyhow::Result<Outcome> {
    let dir = absolute(&args.dir)?;
    let answers = check(args, &dir, "")?;
    create(args, &dir, Answers { requests, ..answers }, console)
}

fn create(args: &InitArgs, dir: &Path, answers: Answers, console: &Console) -> anyhow::Result<Outcome> {
    let runtime = args.runtime.as_deref().map(runtime::Choice::parse);
    if args.project_name.is_none() && dir.file_name() != Some(OsStr::new(answers.name.as_str())) {
        console.note(&format!("the folder `{}` becomes the project `{}`", args.dir.display(), answers.name));
    }
    let workspace = workspace_above(dir)?;
    let root = workspace.as_deref().unwrap_or(dir);
    let _lock = lock(root, console)?;
    // Checked again: another opctl may have created a project while this one asked or waited.
    refuse_a_project(dir)?;
    let folder = relative(root, dir)?;
    let tree = super::tree(root);
    let mut of_root = Plan::default();
    let project = runtime::ProjectFolder { tree: &tree, folder: &folder };
    let runtime = project.source(&runtime.unwrap_or(runtime::Choice::Vendored), &mut of_root, console)?;
    let project = scaffold::Project {
        name: answers.name,
        domain: answers.domain,
        namespaced: args.namespaced || !answers.namespaces.is_empty(),
        namespaces: answers.namespaces,
        header: answers.header,
        spdx: answers.spdx,
        workspace: (!folder.is_empty()).then(|| vec![".."; folder.split('/').count()].join("/")),
        runtime,
        adopted: None,
        charts: answers.requests.iter().any(|request| request.chart.is_some()),
        ansible: answers.requests.iter().any(|request| request.ansible.is_some()),
    };

    let mut plan = Plan::default();
    for file in scaffold::init(&project).into_iter().chain(answers.license_file) {
        plan.scaffold(file.path, file.text);
    }
    let text = ProjectFile::text(&project.name, &project.domain, project.namespaced, &project.namespaces);
    plan.scaffold(PROJECT, if args.is_for_charts() { ProjectFile::text_for_charts(&text) } else { text });
    for request in &answers.requests {
        plan::add(&mut plan, &project, request);
    }
    let kept = keep(&mut plan, &tree, &folder, console);
    for path in replace_templates_of_cargo(&mut plan, &tree, &folder, project.name.as_str())? {
        console.info(&format!("replaced `{path}`, which was as cargo wrote it"));
    }
    let mut plan = moved(plan, &folder);
    plan.changes.extend(of_root.changes);
    if !folder.is_empty() && !is_listed(&tree, &folder)? {
        plan.edit("Cargo.toml", Edit::CargoMember { path: folder.clone() });
    }

    let output = project::join(&folder, "config");
    let options = manifests::ManifestOptions {
        folder: &folder,
        output: &output,
        namespaced: project.namespaced,
        namespaces: &project.namespaces,
        descriptions: Descriptions::default(),
        adopted: None,
        crds: None,
    };
    manifests::refuse_taken_names(&plan, &tree, &folder, console)?;
    manifests::add_if_sound(&mut plan, &tree, &options, console)?;
    for path in kept {
        console.info(&format!("kept your `{path}`"));
    }
    let next = next(&args.dir, &answers.requests);
    carry_out(
        &Task { again: "run the same command without `--check`", tree: &tree, folder: &folder, plan, next },
        console,
    )
}

fn refuse_a_project(dir: &Path) -> Result<(), UserError> {
    if !project::has_project(dir) {
        return Ok(());
    }
    Err(UserError::new(format!("`{}` is a project already: it has a PROJECT file", dir.display()))
        .help("add to it with `opctl create api`")
        .help("`opctl init --runtime vendored`, and no other option, brings its runtime up to date"))
}

/// `true` if no option for a new project is given, except for the source of the runtime.
fn is_about_the_runtime(args: &InitArgs) -> bool {
    let InitArgs {
        dir: _,
        domain,
        project_name,
        license,
        owner,
        namespaced,
        watch_namespace,
        apis,
        group,
        version,
        kind,
        chart,
        ansible,
        plugins: _,
        runtime: _,
        yes: _,
    } = args;
    [domain, project_name, license, owner, group, version, kind].iter().all(|option| option.is_none())
        && !namespaced
        && watch_namespace.is_empty()
        && apis.is_empty()
        && *chart == ChartArgs::default()
        && *ansible == AnsibleArgs::default()
}

impl InitArgs {
    fn has_plugin(&self, names: &[&str]) -> bool {
        self.plugins.iter().any(|plugin| {
            let is_of_operator = !plugin.ends_with("-alpha");
            is_of_operator && names.contains(&plugin.split(['.', '/']).next().unwrap_or_default())
        })
    }

    /// `true` for a project like operator-sdk's Helm operators, in which every kind has a chart.
    fn is_for_charts(&self) -> bool {
        self.has_plugin(&["helm"])
    }
}

/// The arguments of `create api` for a chart, role or playbook.
fn api_of_options(args: &InitArgs) -> api::Args {
    let mut chart = args.chart.clone();
    if args.has_plugin(&["helm", "hybrid"])
        // A plugin without a kind is for a project without kinds.
        && (chart != ChartArgs::default() || args.group.is_some() || args.version.is_some() || args.kind.is_some())
    {
        chart.helm_chart.get_or_insert_default();
    }
    let InitArgs { group, version, kind, ansible, .. } = args.clone();
    api::Args { group, version, kind, chart: chart.into(), ansible: ansible.into(), ..api::Args::default() }
}

fn request_of_options(
    args: &api::Args,
    answers: &Answers,
    namespaced: bool,
    fetched: Option<Fetched>,
    tree: &Tree,
    console: &Console,
) -> anyhow::Result<Request> {
    let file = ProjectFile {
        namespaced,
        namespaces: answers.namespaces.clone(),
        resources: answers.requests.iter().map(|request| request.resource.clone()).collect(),
        ..ProjectFile::new(answers.name.clone(), answers.domain.clone())
    };
    let mut request = Request::new(args, &file)?;
    match fetched {
        Some(fetched) => {
            request.chart = Some(fetched.operator(&args.chart, &mut request.resource, &file, &console.reporter())?);
        }
        None => {
            let project = scaffold::Project { header: answers.header.clone(), ..plan::project_of(&file, tree)? };
            let (resource, report) = (&mut request.resource, console.reporter());
            request.ansible = Some(ansible::operator(&args.ansible, resource, &file, &project, tree, &report)?);
        }
    }
    Ok(request)
}

/// The validated arguments.
struct Answers {
    name: ProjectName,
    domain: Domain,
    /// The comment at the top of every source file.
    header: String,
    license_file: Option<scaffold::File>,
    spdx: Option<&'static str>,
    /// Sorted.
    namespaces: Vec<Namespace>,
    requests: Vec<Request>,
}

/// Validates the arguments. All errors are reported at once. `domain` is a placeholder for a domain that the user still
/// has to enter.
fn check(args: &InitArgs, dir: &Path, domain: &str) -> anyhow::Result<Answers> {
    let mut refusals = UserErrors::default();
    let domain = match args.domain.as_deref().or((!domain.is_empty()).then_some(domain)) {
        Some(text) => refusals.check(Domain::parse(text)),
        None => {
            refusals.push(
                UserError::new("missing `--domain`")
                    .help("set the domain of your API groups, e.g. `--domain example.com`"),
            );
            None
        }
    };
    let name = match &args.project_name {
        Some(text) => refusals.check(ProjectName::parse(text)),
        None => refusals.check(name_of(dir)),
    };
    let names = [("--group", &args.group), ("--version", &args.version), ("--kind", &args.kind)];
    let api = api_of_options(args);
    if api.chart.chart.is_none() && api.ansible.flag().is_none() {
        for (flag, _) in names.into_iter().filter(|(_, name)| name.is_some()) {
            refusals.push(
                UserError::new(format!("`{flag}` requires `--helm-chart`, `--ansible-role` or `--ansible-playbook`"))
                    .help("`--api GROUP/VERSION/KIND` creates an API with a controller in Rust"),
            );
        }
    }
    let license = refusals.check(license(args.license.as_deref().unwrap_or("apache2")));
    let namespaces: BTreeSet<&String> = args.watch_namespace.iter().collect();
    let namespaces = namespaces.into_iter().filter_map(|text| refusals.check(Namespace::parse(text))).collect();
    // The APIs are validated against a placeholder if the name or the domain is invalid. It is not used further.
    let stand_in = ProjectFile::new(
        name.clone().unwrap_or_else(|| ProjectName::parse("project").expect("it is a legal name")),
        domain.clone().unwrap_or_else(|| Domain::parse("example.com").expect("it is a legal domain")),
    );
    let mut file = ProjectFile { namespaced: args.namespaced, ..stand_in };
    let mut requests = Vec::new();
    for api in &args.apis {
        match Request::parse(api, &file) {
            Ok(request) => {
                file.resources.push(request.resource.clone());
                requests.push(request);
            }
            Err(more) => refusals.0.extend(more.0),
        }
    }
    match (name, domain, license) {
        (Some(name), Some(domain), Some(license)) if refusals.0.is_empty() => {
            let owner = args.owner.clone().unwrap_or_else(|| format!("The {name} Authors"));
            let (header, license_file) = scaffold::license(&license, &owner);
            Ok(Answers { name, domain, header, license_file, spdx: license.spdx(), namespaces, requests })
        }
        _ => Err(refusals.into()),
    }
}

/// Parses `apache2`, `mit`, `none`, or the path of a file that contains the header.
fn license(choice: &str) -> Result<License, UserError> {
    match choice {
        "apache2" => Ok(License::Apache2),
        "mit" => Ok(License::Mit),
        "none" => Ok(License::None),
        path => std::fs::read_to_string(path).map(License::Header).map_err(|error| {
            UserError::new(format!("cannot read the licence header `{path}`: {error}"))
                .help("use `--license apache2`, `mit` or `none`, or the path of a text file")
        }),
    }
}

/// The project's name, from the name of the folder: `mySrv` becomes `my-srv`.
fn name_of(dir: &Path) -> Result<ProjectName, UserError> {
    let text = dir.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let near = ProjectName::near(text);
    let letters = |text: &str| text.to_ascii_lowercase().replace(['-', '_', '.', ' '], "");
    let is_respelled = |near: &ProjectName| !text.starts_with('-') && letters(near.as_str()) == letters(text);
    ProjectName::parse(text).or_else(|error| match near {
        Some(near) if is_respelled(&near) => Ok(near),
        near => {
            let near = near.map_or_else(|| "memcached-operator".into(), |name| name.to_string());
            Err(UserError::new(format!("the folder's name `{text}` cannot be the project's: {}", error.rule))
                .help(format!("choose another one, e.g. `--project-name {near}`")))
        }
    })
}

/// The absolute path of a folder, which may not exist yet, without `.`, `..` and symbolic links.
pub fn absolute(dir: &Path) -> anyhow::Result<PathBuf> {
    let dir = std::path::absolute(dir).with_context(|| format!("cannot tell where `{}` is", dir.display()))?;
    let there = dir.ancestors().find(|folder| folder.exists()).unwrap_or(&dir);
    if !there.is_dir() {
        return Err(UserError::new(format!("`{}` is a file", there.display())).help("give a folder").into());
    }
    let real = there.canonicalize().with_context(|| format!("cannot open `{}`", there.display()))?;
    let rest = dir.strip_prefix(there).expect("an ancestor is a prefix");
    // For an empty rest, `join` would append a separator.
    Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
}

/// The path from the root to the folder, separated by `/`.
pub fn relative(root: &Path, dir: &Path) -> anyhow::Result<String> {
    let rest = dir.strip_prefix(root).expect("the root is an ancestor");
    let parts: Option<Vec<&str>> = rest.iter().map(OsStr::to_str).collect();
    Ok(parts.with_context(|| format!("the path `{}` is not UTF-8", dir.display()))?.join("/"))
}

/// `true` if the workspace at the tree's root lists the folder, or has a pattern that matches it.
fn is_listed(tree: &Tree, folder: &str) -> Result<bool, SourceErrors> {
    let mut planned = tree.clone();
    planned.lay_over(project::join(folder, "Cargo.toml"), "");
    Workspaces::of(&planned).lists("", folder).map_err(|problem| SourceErrors::from(vec![problem]))
}

/// Removes existing files that may be kept from the plan, and returns their paths.
fn keep(plan: &mut Plan, tree: &Tree, folder: &str, console: &Console) -> Vec<&'static str> {
    let mut kept = Vec::new();
    for path in KEPT {
        let overwritten = console.overwrite.iter().any(|overwrite| overwrite == path);
        if tree.has(&project::join(folder, path)) && !overwritten && plan.changes.remove(*path).is_some() {
            kept.push(*path);
        }
    }
    kept
}

/// Replaces files that are unchanged since `cargo init`, so no work of the user is lost. Returns their paths.
fn replace_templates_of_cargo(plan: &mut Plan, tree: &Tree, folder: &str, name: &str) -> anyhow::Result<Vec<String>> {
    let mut replaced = Vec::new();
    for (path, change) in &mut plan.changes {
        let text = tree.read(&project::join(folder, path))?;
        if let (Change::Scaffold(new), Some(text)) = (&change, text)
            && is_template_of_cargo(path, &text, name)
        {
            *change = Change::Rewrite { text: Some(new.clone()), base: Some(new.clone()), is_new: false };
            replaced.push(path.clone());
        }
    }
    Ok(replaced)
}

/// `true` for a Cargo.toml of this package without dependencies, and for the `src/main.rs` and `src/lib.rs` of
/// `cargo init`.
fn is_template_of_cargo(path: &str, text: &str, name: &str) -> bool {
    let start = match path {
        "Cargo.toml" => {
            return Manifest::parse(text).is_some_and(|it| it.is_bare() && it.package_name() == Some(name));
        }
        "src/main.rs" => return text == "fn main() {\n    println!(\"Hello, world!\");\n}\n",
        "src/lib.rs" => {
            "pub fn add(left: u64, right: u64) -> u64 {\n    left + right\n}\n\n#[cfg(test)]\nmod tests {\n"
        }
        _ => return false,
    };
    text.starts_with(start)
        && text.ends_with("        assert_eq!(result, 4);\n    }\n}\n")
        && text.lines().count() == 14
}

/// The name of the first kind in the crate of the folder, if any.
fn first_kind(dir: &Path) -> Option<String> {
    let tree = super::tree(dir);
    let has_package = Manifest::read(&tree, "").ok()??.package_name().is_some();
    let source = has_package.then(|| source::read(&tree, ""))?;
    source.operator.declared.into_iter().next().map(|kind| kind.kind)
}

/// The plan with paths from a folder above `folder`.
pub fn moved(plan: Plan, folder: &str) -> Plan {
    let changes = plan.changes.into_iter();
    Plan { changes: changes.map(|(path, change)| (project::join(folder, &path), change)).collect(), ..Plan::default() }
}

fn next(dir: &Path, requests: &[Request]) -> Vec<Next> {
    let mut next = Vec::new();
    if dir != Path::new(".") {
        next.push(Next::new(format!("cd {}", quoted(&dir.to_string_lossy())), ""));
    }
    if requests.is_empty() {
        let example = "opctl create api --group cache --version v1alpha1 --kind Memcached";
        next.push(Next::new(example, "adds a resource and its controller"));
    } else {
        next.push(Next::new("make test", "builds it and runs its tests"));
        next.push(Next::new("opctl dev", "runs it with its own API server"));
        next.push(Next::new("make install run", "runs it against the cluster of KUBECONFIG"));
    }
    next
}
