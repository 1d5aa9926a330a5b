//! Operators for Helm charts: fetches and renders a chart, and derives the type, the permissions and the sample of its
//! kind.
//!
//! All of this happens before any file is written. [`stale`] derives the permissions again if a chart in a project has
//! changed.
//!
//! The permissions are markers in a generated file, `permissions.rs`, which `opctl manifests` reads without helm. The
//! file contains a checksum of the chart, and `opctl check` renders the chart again only if the checksum differs.
//!
//! To update a chart, the version in the project is fetched as well. The files that both versions would create are
//! compared, and the differences become edits of the user's files (`Edit::Lines`), so no stored state is needed to
//! distinguish the user's edits from updates.

use std::collections::BTreeMap;
use std::path::Path;

use heck::ToUpperCamelCase;
use serde_json::{Value, json};

use super::{Args, ChartArgs, Message, Report, Request, existing};
use crate::diagnostics::{OP480, OP481};
use crate::error::{UserError, UserErrors};
use crate::scaffold;
use crate::scaffold::api_of_resource;
use opctl_charts::chart::{self, Cause, Chart, ChartError, Render, Switch};
use opctl_charts::operator_sdk::Existing;
use opctl_charts::spec::{self, Known, Object, Words};
use opctl_edit::plan::{ApplyError, checksum, checksum_of_bytes};
use opctl_model::diagnostic::{Code, Diagnostic, SourceFile, Span};
use opctl_model::names::{Group, Kind, Plural};
use opctl_model::project::{Options, ProjectFile, Resource, Tree};
use opctl_model::{counted, threads, yaml};
use opctl_source::emit;
use opctl_tools::helm::{self, Files, HelmError, INSTALL, Source, Workspace};
use opctl_tools::toolchain::ToolError;

/// Everything that a chart adds to a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub scaffold: scaffold::Chart,
    /// In addition to the scaffolded sample, or instead of it: file names and texts.
    pub samples: Vec<(String, String)>,
    /// Paths are relative to the folder of the chart.
    pub files: Files,
    /// The text of `permissions.rs`.
    pub permissions: String,
    /// The project has no other chart.
    pub is_first: bool,
}

impl Operator {
    /// The operator of a kind in PROJECT, with the parts that are known without the chart.
    pub fn known(folder: &str, resource: &Resource, is_first: bool) -> Self {
        let adopted = resource.options.helm_imported.then(scaffold::Adopted::default);
        let (folder, spec) = (folder.to_owned(), scaffold::Spec::default());
        Self {
            scaffold: scaffold::Chart { folder, spec, adopted },
            samples: Vec::new(),
            files: Files::default(),
            permissions: String::new(),
            is_first,
        }
    }

    /// The type of another version of an imported kind. The controller is that of this operator.
    #[must_use]
    pub fn version(&self, resource: &mut Resource, existing: Existing, samples: Vec<(String, String)>) -> Self {
        let folder = &self.scaffold.folder;
        resource.options.extend(&Options {
            helm_chart: Some(folder.clone()),
            helm_imported: true,
            ..Options::default()
        });
        let (spec, samples) = existing::other_version(resource, existing, samples, chart::WORDS);
        let mut version = Self { samples, ..Self::known(folder, resource, false) };
        version.scaffold.spec = spec;
        version
    }
}

/// A chart that was fetched.
pub struct Fetched {
    workspace: Workspace,
    chart: Chart,
    files: Files,
    /// The name of the chart's folder in `helm-charts`.
    folder: String,
    /// The values from the user's file.
    values: Value,
    kinds: Vec<(String, String, String)>,
    imported: Option<Imported>,
}

/// Settings and samples of the kind in an operator of operator-sdk.
#[derive(Default)]
pub struct Imported {
    pub existing: Existing,
    pub adopted: Option<scaffold::Adopted>,
    pub samples: Vec<(String, String)>,
}

impl Imported {
    /// For a kind that was imported by an earlier command. Only its type depends on this.
    fn again() -> Self {
        Self { adopted: Some(scaffold::Adopted::default()), ..Self::default() }
    }
}

/// Refuses arguments that have no effect without a chart, or cannot be combined with one.
pub fn check(args: &Args) -> Result<(), UserErrors> {
    let mut refusals = UserErrors::default();
    let chart = &args.chart;
    if chart.chart.is_none() {
        let about_one = [
            ("--helm-chart-repo", chart.repo.is_some()),
            ("--helm-chart-version", chart.version.is_some()),
            ("--helm-values", chart.values.is_some()),
            ("--helm-kind", !chart.kinds.is_empty()),
        ];
        for (flag, _) in about_one.iter().filter(|(_, is_given)| *is_given) {
            refusals.push(
                UserError::new(format!("`{flag}` requires `--helm-chart`"))
                    .help("add e.g. `--helm-chart ingress-nginx`"),
            );
        }
        return refusals.settle();
    }
    let others = [
        ("--image", args.options.workload.image.is_some(), "an image and a chart are kinds of their own"),
        ("--finalizer", args.options.finalizer, "the controller of a chart has one already"),
        ("--external-crd", args.external_crd.is_some(), "a chart gets its own kind"),
        ("--external-type", args.external_type.is_some(), "a chart gets its own kind"),
        ("--controller-name", args.controller_name.is_some(), "the controller of a chart is called after its kind"),
        ("--owns", !args.options.owns.is_empty(), "the controller of a chart watches what the chart creates"),
        ("--watches", !args.options.watches.is_empty(), "the controller of a chart watches what the chart creates"),
        ("--resource=false", args.resource == Some(false), "the values of a chart are its spec"),
        ("--controller=false", args.controller == Some(false), "a kind without a controller installs nothing"),
        ("--namespaced=false", args.namespaced == Some(false), "a release is in a namespace"),
    ];
    for (flag, _, reason) in others.into_iter().filter(|(_, is_given, _)| *is_given) {
        refusals.push(
            UserError::new(format!("`{flag}` does not fit `--helm-chart`: {reason}"))
                .help(format!("leave out `{flag}`")),
        );
    }
    if let (Some(""), Some(flag)) = (
        chart.chart.as_deref(),
        (chart.repo.as_ref().map(|_| "--helm-chart-repo")).or(chart.version.as_ref().map(|_| "--helm-chart-version")),
    ) {
        refusals
            .push(UserError::new(format!("`{flag}` requires the name of a chart")).help("add it: `--helm-chart NAME`"));
    }
    refusals.settle()
}

/// Fetches the chart, if one is given, and sets the arguments that follow from it.
pub fn fetch(args: &mut Args, report: Report) -> anyhow::Result<Option<Fetched>> {
    check(args)?;
    let Some(reference) = args.chart.chart.clone() else { return Ok(None) };
    refuse_other_helm()?;
    let kinds = args.chart.kinds.iter().map(|text| kind(text)).collect::<Result<_, _>>()?;
    let values = match &args.chart.values {
        Some(path) => user_values(path)?,
        None => json!({}),
    };
    let source = source(&reference, args)?;
    let name = if reference.is_empty() { "helm's starter chart" } else { &reference };
    report(Message::Progress(&format!("fetching {name}")));
    let workspace = Workspace::create().map_err(UserError::from)?;
    let files = helm::fetch(&source, &workspace);
    let files = unless_interrupted(files, &workspace)?;
    let chart = Chart::parse(&files.texts).map_err(UserError::from)?;
    args.group.get_or_insert_with(|| "charts".into());
    args.version.get_or_insert_with(|| "v1alpha1".into());
    args.kind.get_or_insert_with(|| chart.name.to_upper_camel_case());
    (args.resource, args.controller) = (Some(true), Some(true));
    Ok(Some(Fetched { workspace, folder: chart.name.clone(), chart, files, values, kinds, imported: None }))
}

/// The chart of another operator: a folder or an archive.
pub fn import(
    path: &Path,
    folder: &str,
    values: Value,
    kinds: &[String],
    imported: Imported,
) -> anyhow::Result<Fetched> {
    refuse_other_helm()?;
    let kinds = kinds.iter().map(|text| kind(text)).collect::<Result<_, _>>()?;
    let workspace = Workspace::create().map_err(UserError::from)?;
    let files = helm::fetch(&Source::Path(path.to_owned()), &workspace);
    let files = unless_interrupted(files, &workspace)?;
    let chart = Chart::parse(&files.texts).map_err(UserError::from)?;
    Ok(Fetched { workspace, folder: folder.to_owned(), chart, files, values, kinds, imported: Some(imported) })
}

impl Fetched {
    /// Renders the chart and derives the operator from it. Sets the options of the resource to the chart.
    pub fn operator(
        mut self,
        args: &ChartArgs,
        resource: &mut Resource,
        project: &ProjectFile,
        report: Report,
    ) -> anyhow::Result<Operator> {
        if project.find(resource).is_some_and(|known| known.options.helm_imported) {
            self.imported.get_or_insert_with(Imported::again);
        }
        let Self { workspace, chart, folder, kinds, .. } = &self;
        let other = project.resources.iter().find(|it| !it.is_same(resource) && folder_of(it) == Some(folder));
        // Several kinds of an operator-sdk project may have one chart.
        if let Some(other) = other.filter(|_| self.imported.is_none()) {
            let refusal = UserError::new(format!("`{}` has a chart of the name `{folder}` already", other.kind));
            return Err(refusal.help("a chart has one kind; rename the chart in a copy of it, in Chart.yaml").into());
        }
        let (schema, gaps) = chart::schema(chart).map_err(UserError::from)?;
        let base = merged(spec::required(&schema), &self.values);
        let known = known(project, kinds);
        let renders = unless_interrupted(renders(&workspace.chart(), chart, &base, report), workspace)?;
        let permissions = chart::permissions(chart, &renders, &known).map_err(refusals)?;
        for concern in chart::concerns(chart, &renders, &known) {
            report(Message::Warning(&concern));
        }
        permissions.notes.iter().for_each(|note| report(Message::Warning(note)));
        if !gaps.is_empty() && self.imported.is_none() {
            let list: String =
                gaps.iter().map(|gap| format!("\n  {}{}: {}", gap.file, gap.pointer, gap.reason)).collect();
            let what = counted(gaps.len(), "rule");
            report(Message::Note(&format!(
                "{what} of `values.schema.json` not in the CRD; helm checks them when it installs:{list}"
            )));
        }
        resource.options.extend(&Options {
            helm_chart: Some(folder.clone()),
            helm_chart_repo: args.repo.as_deref().map(helm::without_credentials),
            helm_chart_version: args.version.clone(),
            helm_kinds: args.kinds.clone(),
            helm_imported: self.imported.is_some(),
            ..Options::default()
        });
        let mut operator = self.described(resource)?;
        operator.permissions = text(&operator.scaffold.folder, &operator.files, &permissions.text);
        operator.is_first = project.resources.iter().all(|it| folder_of(it).is_none());
        Ok(operator)
    }

    /// Derives the part that needs only the files, without rendering the chart.
    fn described(self, resource: &Resource) -> Result<Operator, UserError> {
        let (schema, _) = chart::schema(&self.chart)?;
        let sample = spec::sample(&schema, &merged(spec::required(&schema), &self.values), chart::WORDS);
        let is_imported = self.imported.is_some();
        let Imported { adopted, samples, existing } = self.imported.unwrap_or_default();
        let spec = match is_imported {
            true => existing::spec(&resource.kind, existing, schema, sample, chart::WORDS),
            false => spec_of(&resource.kind, &schema, sample, chart::WORDS),
        };
        Ok(Operator {
            scaffold: scaffold::Chart { folder: self.folder, spec, adopted },
            samples,
            files: self.files,
            permissions: String::new(),
            is_first: false,
        })
    }
}

/// The spec of a kind, as data for the templates.
pub fn spec_of(kind: &Kind, schema: &Object, sample: String, words: Words) -> scaffold::Spec {
    types_of(kind, schema, &Object::default(), sample, words)
}

/// The spec and the status, as data for the templates. A `status` without fields gets no type.
pub fn types_of(kind: &Kind, schema: &Object, status: &Object, sample: String, words: Words) -> scaffold::Spec {
    let types = spec::types(kind.as_str(), schema, status, words);
    let spec::Types { attributes, fields, others, has_map, has_value } = types;
    let (is_open, has_status) = (schema.is_open, !status.fields.is_empty());
    let spec = scaffold::Spec { attributes, fields, others, has_map, has_value, ..scaffold::Spec::default() };
    scaffold::Spec { is_open, has_status, sample, ..spec }
}

/// The chart of a request in the version that the project has, if that version differs and comes from a repository or
/// registry: the request that created it, without permissions.
pub fn earlier(
    args: &Args,
    new: &Request,
    project: &ProjectFile,
    tree: &Tree,
    report: Report,
) -> anyhow::Result<Option<Request>> {
    let Some(operator) = &new.chart else { return Ok(None) };
    let folder = &operator.scaffold.folder;
    let has_it = project.find(&new.resource).is_some_and(|known| folder_of(known) == Some(folder));
    let old = tree.read(&format!("{}/Chart.yaml", path_of(folder)))?.filter(|_| has_it);
    let version = |text: Option<&String>| {
        let metadata = yaml::objects(text?).ok()?;
        Some(metadata.first()?["version"].as_str()?.to_owned())
    };
    let reference = args.chart.chart.as_deref().unwrap_or_default();
    let (Some(old), Source::Remote { reference, repo, .. }) = (version(old.as_ref()), source(reference, args)?) else {
        return Ok(None);
    };
    if version(operator.files.texts.get("Chart.yaml")).as_ref() == Some(&old) {
        return Ok(None);
    }
    report(Message::Progress(&format!("fetching {reference} {old}")));
    let workspace = Workspace::create().map_err(UserError::from)?;
    let files = helm::fetch(&Source::Remote { reference, repo, version: Some(old.clone()) }, &workspace);
    let files = files.map_err(|HelmError { message, help }| {
        let folder = path_of(folder);
        HelmError {
            message: format!("`{folder}` has version {old}, without which edits there are not known: {message}"),
            help,
        }
    });
    let files = unless_interrupted(files, &workspace)?;
    let chart = Chart::parse(&files.texts).map_err(UserError::from)?;
    let values = args.chart.values.as_deref().map_or_else(|| Ok(json!({})), user_values)?;
    let imported = operator.scaffold.adopted.as_ref().map(|_| Imported::again());
    let fetched = Fetched { workspace, chart, files, folder: folder.clone(), values, kinds: Vec::new(), imported };
    Ok(Some(Request { chart: Some(fetched.described(&new.resource)?), ..new.clone() }))
}

/// The folder of a kind's chart in `helm-charts`.
pub fn folder_of(resource: &Resource) -> Option<&str> {
    resource.options.helm_chart.as_deref()
}

/// The path of a chart in a project.
pub fn path_of(folder: &str) -> String {
    format!("helm-charts/{folder}")
}

/// The source of the chart for the value of `--helm-chart`.
fn source(reference: &str, args: &Args) -> Result<Source, UserError> {
    let ChartArgs { repo, version, .. } = &args.chart;
    if reference.is_empty() {
        let kind = args.kind.as_deref().unwrap_or("Nginx");
        let kind = Kind::parse(kind).map_err(UserError::from)?;
        return Ok(Source::Starter(kind.singular()));
    }
    let path = Path::new(reference);
    let is_url = ["http://", "https://", "oci://"].iter().any(|scheme| reference.starts_with(scheme));
    let is_path = repo.is_none()
        && !is_url
        && (path.exists() || reference.starts_with(['.', '/']) || reference.ends_with(".tgz"));
    match (is_path, version) {
        (true, Some(_)) => Err(UserError::new("`--helm-chart-version` is for charts of repositories and registries")
            .help("leave it out: a folder and an archive have one version")),
        (true, None) if !path.exists() => Err(UserError::new(format!("there is no chart `{reference}`"))
            .help("name a folder with a Chart.yaml, or an archive of one")),
        (true, None) => Ok(Source::Path(path.to_owned())),
        (false, _) if repo.is_none() && !is_url && !reference.contains('/') => Err(UserError::new(format!(
            "there is no folder `{reference}`, and no repository was specified"
        ))
        .help(format!("add `--helm-chart-repo URL`, or use REPO/{reference} with a repository of `helm repo list`"))),
        (false, _) => {
            Ok(Source::Remote { reference: reference.to_owned(), repo: repo.clone(), version: version.clone() })
        }
    }
}

fn refuse_other_helm() -> Result<(), UserError> {
    let (message, help) = match helm::version() {
        Ok(version) if helm::is_supported(&version) => return Ok(()),
        Ok(version) => (format!("helm {version} is not supported"), INSTALL),
        Err(ToolError::Missing) => ("helm, which fetches and renders charts, is not on the PATH".into(), INSTALL),
        Err(ToolError::Broken(reason)) => (format!("helm does not run: {reason}"), "try it yourself: `helm version`"),
    };
    Err(UserError::new(message).help(help))
}

/// Parses `Widget.example.com=widgets`.
fn kind(text: &str) -> Result<(String, String, String), UserError> {
    let parts = text.split_once('=').and_then(|(name, plural)| Some((name.split_once('.')?, plural)));
    let Some(((kind, group), plural)) = parts else {
        return Err(UserError::new(format!("invalid kind `{text}`"))
            .help("use KIND.GROUP=PLURAL, e.g. `Widget.example.com=widgets`"));
    };
    let (kind, group, plural) = (Kind::parse(kind)?, Group::parse(group)?, Plural::parse(plural)?);
    Ok((group.to_string(), kind.to_string(), plural.to_string()))
}

fn user_values(path: &Path) -> Result<Value, UserError> {
    let refuse = |reason: String| {
        UserError::new(format!("cannot use `{}`: {reason}", path.display())).help("name a YAML file with values")
    };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    match &yaml::objects(&text).map_err(|error| refuse(error.to_string()))?[..] {
        [] => Ok(json!({})),
        [value] if value.is_object() => Ok(value.clone()),
        _ => Err(refuse("it is not one mapping".into())),
    }
}

/// Merges two values; `above` has precedence.
fn merged(below: Value, above: &Value) -> Value {
    match (below, above) {
        (Value::Object(mut below), Value::Object(above)) => {
            for (key, value) in above {
                let old = below.remove(key).unwrap_or_default();
                below.insert(key.clone(), merged(old, value));
            }
            below.into()
        }
        (_, above) => above.clone(),
    }
}

/// The kinds that are known without a cluster: built-in kinds, those of the project, and `more`.
pub fn known(project: &ProjectFile, more: &[(String, String, String)]) -> Known {
    let own = project.resources.iter().map(|it| (it.full_group(), it.kind.to_string(), it.plural().to_string()));
    Known::with(own.chain(more.iter().cloned()))
}

/// The maximum number of renderings; this many take about ten seconds. The remaining switches are rendered together,
/// all on.
const MOST_VARIANTS: usize = 40;

/// Renders the chart with its required values, then with independent switches changed until each one was changed, and
/// finally with all of them on.
fn renders(folder: &Path, chart: &Chart, base: &Value, report: Report) -> Result<Vec<Render>, HelmError> {
    let served = chart::served(chart);
    let render = |cause: Cause, values: &Value| {
        helm::template([chart::RELEASE, chart::NAMESPACE], folder, values, &served).map(|text| Render { cause, text })
    };
    let switches = chart::switches(chart);
    let mut groups = chart::groups(&switches);
    if let Some(rest) = groups.get(MOST_VARIANTS..).filter(|rest| !rest.is_empty()) {
        let names: Vec<String> = rest.iter().flatten().map(|switch| switch.path.join(".")).collect();
        report(Message::Warning(&format!(
            "the chart `{}` has {} switches, and these were not tried individually: {}",
            chart.name,
            switches.len(),
            names.join(", ")
        )));
        groups.truncate(MOST_VARIANTS);
    }
    let all = switches.iter().fold(base.clone(), |values, it| chart::with(values, &it.path, true.into()));
    let changed = |group: Vec<Switch>| {
        let values = group.iter().fold(base.clone(), |values, it| chart::with(values, &it.path, (!it.default).into()));
        (Cause::Changed(group), values)
    };
    let mut open: Vec<(Cause, Value)> = groups.into_iter().map(changed).chain([(Cause::EverySwitchOn, all)]).collect();
    report(Message::Progress(&format!("rendering `{}`", chart.name)));
    let mut renders = vec![render(Cause::None, base)?];
    let mut failed = Vec::new();
    let cores = threads::cores();
    while !open.is_empty() {
        let next = open.split_off(open.len().saturating_sub(cores));
        let (done, left) = (renders.len() + failed.len(), counted(open.len() + next.len(), "variant of its values"));
        report(Message::Progress(&format!("rendering `{}`: {done} done, {left} to do", chart.name)));
        let results: Vec<_> = std::thread::scope(|scope| {
            let render = &render;
            let workers: Vec<_> =
                next.iter().map(|(cause, values)| scope.spawn(move || render(cause.clone(), values))).collect();
            workers.into_iter().map(|worker| worker.join().expect("it does not panic")).collect()
        });
        for (result, (cause, _)) in results.into_iter().zip(next) {
            match (result, cause) {
                (Ok(render), _) => renders.push(render),
                // Values may be mutually exclusive.
                (Err(_), Cause::Changed(mut group)) if group.len() > 1 => {
                    let second = group.split_off(group.len() / 2);
                    open.extend([second, group].map(changed));
                }
                (Err(error), cause) => failed.push((cause, error)),
            }
        }
    }
    // Renderings finish in an order that depends on the machine.
    let place = |cause: &Cause| match cause {
        Cause::None => 0,
        Cause::Changed(group) => 1 + switches.iter().position(|it| group.first() == Some(it)).unwrap_or_default(),
        Cause::EverySwitchOn => usize::MAX,
    };
    renders.sort_by_key(|render| place(&render.cause));
    failed.sort_by_key(|(cause, _)| place(cause));
    for (cause, error) in failed {
        report(Message::Note(&format!(
            "not rendered with {cause}, so its kinds are known from the templates alone: {error}"
        )));
    }
    Ok(renders)
}

/// The generated file: the markers that `opctl manifests` reads, and the checksum of the chart.
fn text(folder: &str, files: &Files, markers: &str) -> String {
    format!(
        "//{} Run `opctl check --fix` after a change of the chart.\n//! The permissions that the chart `{folder}` needs.\n//\n// {SUM}{}\n{markers}",
        emit::OURS.trim_start_matches('#').trim_end(),
        digest(files)
    )
}

/// Prefix of the line with the checksum of the chart.
const SUM: &str = "SHA-256 of helm-charts: ";

fn digest(files: &Files) -> String {
    let texts = files.texts.iter().map(|(path, text)| (path, checksum(text)));
    let others = files.others.iter().map(|(path, content)| (path, checksum_of_bytes(content)));
    let all: BTreeMap<&String, String> = texts.chain(others).collect();
    checksum(&all.into_iter().map(|(path, sum)| format!("{sum}  {path}\n")).collect::<String>())
}

impl From<HelmError> for UserError {
    fn from(error: HelmError) -> Self {
        Self::new(error.message).help(error.help)
    }
}

impl From<ChartError> for UserError {
    fn from(error: ChartError) -> Self {
        Self::new(error.message).help(error.help)
    }
}

fn refusals(errors: Vec<ChartError>) -> UserErrors {
    UserErrors(errors.into_iter().map(UserError::from).collect())
}

/// Reports an interruption instead of an error of the chart if Ctrl-C stopped helm.
fn unless_interrupted<T>(result: Result<T, HelmError>, workspace: &Workspace) -> anyhow::Result<T> {
    if workspace.is_interrupted() {
        return Err(ApplyError::Interrupted.into());
    }
    result.map_err(|error| UserError::from(error).into())
}

/// Permissions of a chart that differ from those that it needs now.
pub struct Stale {
    pub diagnostic: Diagnostic,
    /// The path and the text of the new file, if it could be generated.
    pub fixed: Option<(String, String)>,
    /// Warnings about the new text.
    pub notes: Vec<Diagnostic>,
}

/// The permissions that do not match their charts. A chart is rendered only if it has changed.
pub fn stale(tree: &Tree, project: &ProjectFile, report: Report) -> Vec<Stale> {
    let charts = charts(project);
    charts.filter_map(|(resource, folder)| stale_of(tree, project, resource, folder, report)).collect()
}

/// The same without helm, for callers that only report the problem.
pub fn changed(tree: &Tree, project: &ProjectFile) -> Vec<Diagnostic> {
    let charts = charts(project);
    let changed = charts.filter_map(|(resource, folder)| {
        let changed = Changed::of(tree, resource, folder)?;
        Some(match &changed.files {
            Ok(_) => changed.report(OP480, changed_message(folder), FIX),
            Err(error) => changed.report(OP480, error.clone(), "repair the file"),
        })
    });
    changed.collect()
}

/// The kinds with a controller that installs a chart, and the folders of the charts.
fn charts(project: &ProjectFile) -> impl Iterator<Item = (&Resource, &str)> {
    let kinds = project.resources.iter().filter(|resource| resource.controller);
    kinds.filter_map(|resource| Some((resource, folder_of(resource)?)))
}

const FIX: &str = "run `opctl check --fix`";

fn changed_message(folder: &str) -> String {
    format!("the chart `{folder}` has changed, and may need other permissions")
}

/// A chart that differs from the one that its permissions were derived from.
struct Changed {
    /// The path of the file with the permissions.
    path: String,
    /// The position of the checksum in that file.
    at: Span,
    /// The files of the chart, or the reason why they cannot be read.
    files: Result<Files, String>,
}

impl Changed {
    fn of(tree: &Tree, resource: &Resource, folder: &str) -> Option<Self> {
        let path = scaffold::generated_permissions(&api_of_resource(resource));
        let old = tree.read(&path).ok().flatten().unwrap_or_default();
        let at = Span { file: SourceFile::new(&path, &old), range: 0..old.lines().next().map_or(0, str::len) };
        let files = files_of(tree, folder).map_err(|error| format!("cannot read the chart `{folder}`: {error:#}"));
        let mut sums = old.lines().filter_map(|line| line.strip_prefix("// ")?.strip_prefix(SUM));
        let is_same = files.as_ref().is_ok_and(|files| sums.any(|sum| sum == digest(files)));
        (!is_same).then_some(Self { path, at, files })
    }

    fn report(&self, code: &'static Code, message: String, help: &str) -> Diagnostic {
        let diagnostic = if code == OP481 { code.warning(message) } else { code.error(message) };
        diagnostic.at(self.at.clone(), "").help(help)
    }
}

/// The files of a chart in the project, by path relative to the chart's folder.
fn files_of(tree: &Tree, folder: &str) -> anyhow::Result<Files> {
    let base = path_of(folder);
    let mut files = Files::default();
    for path in tree.files_below(&base)? {
        let content = match tree.laid_over(&path) {
            Some(text) => text.clone().unwrap_or_default().into_bytes(),
            None => tree.read_bytes(&path)?.unwrap_or_default(),
        };
        files.add(path[base.len() + 1..].to_owned(), content);
    }
    Ok(files)
}

fn stale_of(tree: &Tree, project: &ProjectFile, resource: &Resource, folder: &str, report: Report) -> Option<Stale> {
    let changed = Changed::of(tree, resource, folder)?;
    let stale =
        |code, message, help| Stale { diagnostic: changed.report(code, message, help), fixed: None, notes: Vec::new() };
    let files = match &changed.files {
        Ok(files) => files,
        Err(error) => return Some(stale(OP480, error.clone(), "repair the file")),
    };
    if let Err(refusal) = refuse_other_helm() {
        let message =
            format!("the chart `{folder}` has changed, and its permissions cannot be checked: {}", refusal.message);
        return Some(stale(OP481, message, INSTALL));
    }
    match permissions_of(tree, project, resource, files, report) {
        Ok(markers) => {
            let fixed = Some((changed.path.clone(), text(folder, files, &markers)));
            Some(Stale { fixed, ..stale(OP480, changed_message(folder), FIX) })
        }
        Err(error) => {
            let message = format!("the permissions of the chart `{folder}` cannot be checked: {error:#}");
            Some(stale(OP480, message, "fix the chart, then run `opctl check --fix`"))
        }
    }
}

fn permissions_of(
    tree: &Tree,
    project: &ProjectFile,
    resource: &Resource,
    files: &Files,
    report: Report,
) -> anyhow::Result<String> {
    let chart = Chart::parse(&files.texts)?;
    let kinds = resource.options.helm_kinds.iter().map(|text| kind(text)).collect::<Result<Vec<_>, _>>()?;
    let sample = tree.read(&format!("config/samples/{}", api_of_resource(resource).sample()))?.unwrap_or_default();
    let sample = yaml::objects(&sample).ok().and_then(|objects| objects.into_iter().next()).unwrap_or_default();
    let (schema, _) = chart::schema(&chart)?;
    let base =
        merged(spec::required(&schema), sample.get("spec").filter(|spec| spec.is_object()).unwrap_or(&json!({})));
    let folder = tree.root().join(path_of(folder_of(resource).unwrap_or(&chart.name)));
    let renders = renders(&folder, &chart, &base, report)?;
    Ok(chart::permissions(&chart, &renders, &known(project, &kinds)).map_err(refusals)?.text)
}
