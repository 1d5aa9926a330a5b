//! `opctl generate chart`: generates a Helm chart that installs the operator.
//!
//! Each part that `opctl edit` turns on and off becomes a value of the chart. To find its effect, the project is
//! rendered in memory with and without the part, after the same changes as by `opctl edit`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};

use super::super::edit::{self, EditArgs};
use super::super::kubectl::{self, KubectlArgs};
use super::super::manifests;
use super::super::{
    Console, Next, Outcome, Task, carry_out, is_unreadable, lock, project_folder, resolve, tree, warn_of_missing_crds,
};
use crate::api::components::{KUSTOMIZATION, is_listed, listed};
use crate::error::{SourceErrors, UserError};
use crate::rendered::{self, ImageSubstitution};
use opctl_charts::chart::{LIMIT, record_size};
use opctl_charts::operator_chart::{self, Chart, Combination, Operator, Switch};
use opctl_cluster as cluster;
use opctl_edit::Edit;
use opctl_edit::plan::{Content, Mode, Plan};
use opctl_kustomize::yaml::Node;
use opctl_kustomize::{Id, Object, Renderer};
use opctl_model::diagnostic::Diagnostic;
use opctl_model::names::Image;
use opctl_model::project::{ProjectFile, Tree, join};
use opctl_source::emit::{self, CustomResourceDefinition};
use opctl_tools::helm::{self, Files, HelmError, Workspace};

/// Generate a Helm chart of the operator
///
/// The chart is made of config/default. The parts that `opctl edit` turns on and off are values, as are the usual
/// fields of the Deployment. opctl owns the templates and rewrites them; Chart.yaml, values.yaml and NOTES.txt are
/// yours, and templates that you add. With --check, helm must also render with the chart what kubectl renders with
/// kustomize.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl generate chart --image registry.example.com/memcached-operator
  helm install memcached-operator dist/chart --namespace memcached-operator-system --create-namespace

  # In CI: fail if the chart is out of date, or does not install what config/default does
  opctl generate chart --check")]
pub struct ChartArgs {
    /// The image of the operator, for a new values.yaml; without a tag, it is the appVersion of the chart
    #[arg(long)]
    pub image: Option<String>,

    /// The folder for the chart's folder `chart`
    #[arg(long, value_name = "DIR", default_value = "dist")]
    pub output_dir: String,

    #[command(flatten)]
    pub program: KubectlArgs,
}

impl ChartArgs {
    /// The arguments that correspond to `opctl edit --plugins=helm/v2-alpha`.
    pub fn of(output_dir: Option<&str>) -> Self {
        let output_dir = output_dir.unwrap_or("dist").to_owned();
        Self { image: None, output_dir, program: KubectlArgs { kubectl: None } }
    }
}

const SCHEMA: &str = "values.schema.json";

pub fn run(args: &ChartArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = project_folder()?;
    let _lock = lock(&root, console)?;
    let tree = tree(&root);
    let folder = join(args.output_dir.trim_end_matches('/'), "chart");
    let image = args.image.as_deref().map(Image::parse).transpose().map_err(UserError::from)?;
    // The manifests are generated from the source, so an error there would omit roles.
    let crds = manifests::refuse_errors(&tree, &console.collecting(false))?;
    let mut operator = operator(&tree, &crds, console)?;
    let crds = operator.renderings[&operator.by_default()].iter();
    let crds = crds.filter(|object| cluster::is_kind(object, "CustomResourceDefinition"));
    warn_of_missing_crds(&tree, crds.map(|crd| cluster::name(crd)), console);
    let own_image = operator.image.clone();
    if let Some(image) = image {
        let (repository, tag) = split(&image.to_string());
        // An image without a tag gets the chart's appVersion as its tag.
        operator.image = Some((repository, tag.unwrap_or_default()));
    }
    let header = format!("{}`opctl generate chart` makes it of config/default.", emit::OURS);
    let chart = operator_chart_of(&operator, &header)?;
    refuse_too_large(&chart, &operator, &header)?;
    let plan = plan(&chart, &tree, &folder, &header, &console.overwrite)?;
    for path in
        operator_chart::unknown(&tree.read(&format!("{folder}/values.yaml"))?.unwrap_or_default(), &chart.values)
    {
        console
            .warn(&format!("`{folder}/values.yaml`: the chart has no value `{path}`, and helm refuses it; remove it"));
    }
    let has_placeholder = operator.image.as_ref().is_none_or(|(repository, _)| repository == "controller");
    if has_placeholder && !tree.has(&format!("{folder}/values.yaml")) && console.mode == Mode::Apply {
        console.warn("the image in values.yaml is a placeholder; `--image` sets it");
    }
    let next = vec![Next::new(
        format!("helm install {} {folder} --namespace {} --create-namespace", operator.release(), operator.namespace),
        "installs the operator",
    )];
    let task = Task { again: "run `opctl generate chart`", tree: &tree, folder: "", plan, next };
    let outcome = carry_out(&task, console)?;
    if console.mode == Mode::Check && outcome == Outcome::Done {
        operator.image = own_image;
        compare(&operator, &header, &tree, args, console)?;
    }
    Ok(outcome)
}

/// Refuses a chart that is too large: helm stores each release, with all templates and objects, in one Secret.
fn refuse_too_large(chart: &Chart, operator: &Operator, header: &str) -> Result<(), UserError> {
    let objects: String =
        operator.renderings[&operator.by_default()].iter().map(|object| format!("{object}\n")).collect();
    let size = record_size(&chart.files(header), &objects);
    if size <= LIMIT {
        return Ok(());
    }
    let (size, limit) = (size >> 10, LIMIT >> 10);
    Err(UserError::new(format!("`helm install` would fail: its record of a release has {size} KiB, and a Secret at most {limit}"))
        .help("shorten the descriptions in the CRDs, in PROJECT: `manifests: {foreignDescriptions: false}` leaves out those of \
               Kubernetes' own types, `maxDescription: 200` the rest of long ones; then `opctl manifests`")
        .help("or install without helm: `opctl build-installer`"))
}

fn operator_chart_of(operator: &Operator, header: &str) -> Result<Chart, UserError> {
    operator_chart::chart(operator, header).map_err(|error| UserError::new(error.message).help(error.help))
}

/// The operator, rendered with all combinations of its parts. `crds` are those of the source.
fn operator(tree: &Tree, crds: &[CustomResourceDefinition], console: &Console) -> anyhow::Result<Operator> {
    let file = ProjectFile::read(tree)?;
    let Some(kustomization) = tree.read(KUSTOMIZATION)? else {
        return Err(UserError::new(format!("there is no `{KUSTOMIZATION}`, of which the chart is made"))
            .help("list in it what is deployed, or keep a chart of your own: `opctl manifests` updates the CRDs in it")
            .into());
    };
    // `--overwrite` applies to files of the chart, not to those that `opctl edit` would change.
    let mut quiet = console.collecting(false);
    quiet.overwrite.clear();
    let (edited, known) = (BTreeMap::new(), HashMap::new());
    let mut variants = Variants { tree, crds, quiet: &quiet, edited, renderer: Renderer::new(tree), known };
    let base = variants.objects(tree)?;
    let mut switches = Vec::new();
    let other_scope = (Some(!file.namespaced), None);
    if file.namespaces.is_empty() && variants.offers(other_scope, "rbac.namespaced", console)? {
        switches.push((Switch::Namespaced, file.namespaced));
    }
    let has_webhooks = is_listed(&kustomization, "webhook-server");
    let converts = |object: &Value| object["spec"]["conversion"]["strategy"] == "Webhook";
    // Without its webhook, a kind with several versions could not be read.
    if has_webhooks && !base.iter().any(|object| converts(object)) {
        switches.push((Switch::Webhooks, true));
    }
    let certified = is_listed(&kustomization, "certmanager");
    let may_be_certified = edit::may_be_certified(&file, tree);
    if may_be_certified && variants.offers((None, Some(!certified)), "certManager.enabled", console)? {
        switches.push((Switch::CertManager, certified));
    }
    let has_metrics = base.iter().any(|object| operator_chart::serves_metrics(object));
    if has_metrics {
        switches.push((Switch::Metrics, true));
    }
    for (switch, component) in components() {
        if tree.has(&format!("config/{component}/kustomization.yaml")) {
            switches.push((switch, is_listed(&kustomization, component)));
        }
    }
    let latest = |(repository, tag): (String, Option<String>)| (repository, tag.unwrap_or_else(|| "latest".into()));
    let image = operator_chart::image(&base).map(|image| latest(split(&image)));
    let main = variants.renderer.kustomization("config/default");
    let text = |key| main.as_ref().and_then(|it| it.node.text_at(&[key])).unwrap_or_default().to_owned();
    let (prefix, namespace) = (text("namePrefix"), text("namespace"));
    let renderings = BTreeMap::new();
    let mut operator = Operator { name: file.name.to_string(), prefix, namespace, switches, renderings, image };
    let mut with_metrics = BTreeMap::new();
    for combination in operator.combinations() {
        // Metrics are removed from the rendered objects, because they are not a component of a kustomization.
        let parts = &combination - &Combination::from([Switch::Metrics]);
        if !with_metrics.contains_key(&parts) {
            with_metrics.insert(parts.clone(), variants.rendered(&parts, &operator.switches, &file)?);
        }
        let mut objects: Vec<Arc<Value>> = with_metrics[&parts].clone();
        if has_metrics && !combination.contains(&Switch::Metrics) {
            operator_chart::without_metrics(&mut objects);
        }
        operator.renderings.insert(combination, objects);
    }
    Ok(operator)
}

/// The parts that are components of `config/default`.
fn components() -> impl Iterator<Item = (Switch, &'static str)> {
    Switch::ALL.into_iter().filter_map(|switch| Some((switch, switch.component()?)))
}

/// Renders the project with some parts changed, as kustomize does. Files are parsed once, and an object that several
/// renderings contain is in memory once.
struct Variants<'a> {
    tree: &'a Tree,
    crds: &'a [CustomResourceDefinition],
    quiet: &'a Console,
    edited: BTreeMap<Parts, Tree>,
    renderer: Renderer<'a>,
    known: HashMap<Id, Vec<(Node, Arc<Value>)>>,
}

/// The values of `--namespaced` and `--cert-manager` of `opctl edit`, which change more than a list.
type Parts = (Option<bool>, Option<bool>);

impl Variants<'_> {
    /// Returns `false`, with a warning, if the parts cannot be changed. The chart then has them unconditionally.
    fn offers(&mut self, parts: Parts, value: &str, console: &Console) -> anyhow::Result<bool> {
        match self.edited(parts) {
            Ok(_) => Ok(true),
            Err(error) if is_unreadable(&error) => Err(error),
            Err(error) => {
                console.warn(&format!("the chart has no value `{value}`: {error:#}"));
                Ok(false)
            }
        }
    }

    /// The project after `opctl edit` with these parts.
    fn edited(&mut self, parts: Parts) -> anyhow::Result<&Tree> {
        if !self.edited.contains_key(&parts) {
            let mut tree = self.tree.clone();
            let (namespaced, cert_manager) = parts;
            if namespaced.is_some() || cert_manager.is_some() {
                let args = EditArgs { namespaced, cert_manager, ..EditArgs::default() };
                let steps =
                    resolve(&edit::plan(&args, self.tree, Some(self.crds), self.quiet)?, self.tree, "", self.quiet)?;
                super::super::conflicts(&steps).settle()?;
                // The renderer parses a file once more if a text is laid over it, even the same.
                for step in steps.into_iter().filter(|step| !step.is_unchanged()) {
                    if let Some(text) = step.after.and_then(Content::into_text) {
                        tree.lay_over(step.path, text);
                    }
                }
            }
            self.edited.insert(parts, tree);
        }
        Ok(&self.edited[&parts])
    }

    /// The objects that kustomize renders with exactly these switches on.
    fn rendered(
        &mut self,
        on: &Combination,
        switches: &[(Switch, bool)],
        file: &ProjectFile,
    ) -> anyhow::Result<Vec<Arc<Value>>> {
        let kustomization = self.tree.read(KUSTOMIZATION)?.unwrap_or_default();
        let [has_webhooks, is_certified] =
            ["webhook-server", "certmanager"].map(|part| is_listed(&kustomization, part));
        let is_switch = |wanted: Switch| switches.iter().any(|(switch, _)| *switch == wanted);
        let is_on = |switch: Switch| is_switch(switch).then(|| on.contains(&switch));
        let webhooks = is_on(Switch::Webhooks).unwrap_or(has_webhooks);
        let namespaced = is_on(Switch::Namespaced).filter(|wanted| *wanted != file.namespaced);
        let cert_manager = is_on(Switch::CertManager).filter(|wanted| *wanted != is_certified);
        let listed_if = |(switch, component): (Switch, &str)| {
            is_on(switch).map(|wanted| listed(("components", format!("../{component}")), wanted))
        };
        let mut edits: Vec<(&str, Edit)> =
            components().filter_map(listed_if).map(|edit| (KUSTOMIZATION, edit)).collect();
        if has_webhooks && !webhooks {
            let parts = [
                (KUSTOMIZATION, "components", "../webhook-server"),
                (KUSTOMIZATION, "transformers", "../webhook/certificate"),
                ("config/certmanager/kustomization.yaml", "components", "webhook"),
            ];
            edits.extend(parts.map(|(path, key, item)| (path, listed((key, item.to_owned()), false))));
        }
        let mut tree = self.edited((namespaced, cert_manager))?.clone();
        for (path, edit) in edits {
            let Some(text) = tree.read(path)? else { continue };
            let text = edit.apply(&text).map_err(|error| {
                UserError::new(format!("`{path}`: {}", error.reason)).help("`opctl edit` shows which parts are on")
            })?;
            tree.lay_over(path, text);
        }
        self.objects(&tree)
    }

    /// The objects of `config/default`, as kustomize renders them.
    fn objects(&mut self, tree: &Tree) -> anyhow::Result<Vec<Arc<Value>>> {
        let mut renderer = self.renderer.of(tree);
        let render = renderer.render("config/default", &[]);
        let errors: Vec<Diagnostic> = renderer.problems.into_iter().filter(Diagnostic::is_error).collect();
        if !errors.is_empty() {
            return Err(SourceErrors::from(errors).into());
        }
        if !render.is_closed {
            return Err(UserError::new(
                "opctl cannot render `config/default` without kustomize, but a chart requires it",
            )
            .help("resources from the network, plugins and kustomize's own charts are not supported")
            .into());
        }
        Ok(render.objects.into_iter().map(|object| self.shared(object)).collect())
    }

    fn shared(&mut self, object: Object) -> Arc<Value> {
        let known = self.known.entry(object.id()).or_default();
        let at = known.iter().position(|(node, _)| *node == object.node).unwrap_or_else(|| {
            let value = Arc::new(object.node.json());
            known.push((object.node, value));
            known.len() - 1
        });
        Arc::clone(&known[at].1)
    }
}

/// The repository and the tag of an image, or `@` and its digest.
fn split(image: &str) -> (String, Option<String>) {
    if let Some((repository, digest)) = image.split_once('@') {
        return (repository.into(), Some(format!("@{digest}")));
    }
    let start = image.rfind('/').map_or(0, |slash| slash + 1);
    match image[start..].split_once(':') {
        Some((name, tag)) => (format!("{}{name}", &image[..start]), Some(tag.into())),
        None => (image.into(), None),
    }
}

/// The plan of the chart's files. `overwrite` are files of the user that are regenerated.
fn plan(chart: &Chart, tree: &Tree, folder: &str, header: &str, overwrite: &[String]) -> anyhow::Result<Plan> {
    let mut plan = Plan::default();
    let at = |path: &str| format!("{folder}/{path}");
    let mut ours = Vec::new();
    for path in tree.files_below(&at("templates"))? {
        if tree.read(&path)?.is_some_and(|text| text.starts_with(header)) {
            ours.push(path);
        }
    }
    if tree.has(&at("Chart.yaml")) && ours.is_empty() {
        return Err(UserError::new(format!("`{folder}` has a chart that `opctl generate chart` did not make"))
            .help("`--output-dir DIR` chooses another folder")
            .into());
    }
    for (path, text) in &chart.templates {
        plan.generate(at(path), text.clone());
    }
    for path in ours {
        if !plan.changes.contains_key(&path) {
            plan.prune(path);
        }
    }
    plan.generate(at(SCHEMA), operator_chart::schema(&chart.values, header));
    let own =
        [("Chart.yaml", &chart.chart), ("templates/NOTES.txt", &chart.notes), (".helmignore", &IGNORED.to_owned())];
    let is_new = |path: &str| !tree.has(path) || overwrite.iter().any(|other| other == path);
    for (path, text) in own.into_iter().filter(|(path, _)| is_new(&at(path))) {
        plan.scaffold(at(path), text.clone());
    }
    let path = at("values.yaml");
    match tree.read(&path)?.filter(|_| !is_new(&path)) {
        None => plan.scaffold(path, operator_chart::text(&chart.values)),
        Some(before) => match operator_chart::completed(&before, &chart.values) {
            Ok(None) => {}
            Ok(Some(after)) => plan.edit(path, Edit::Lines { before, after }),
            Err(lines) => {
                return Err(UserError::new(format!("`{path}`: there is no place for new values"))
                    .help(format!("add these:\n{lines}"))
                    .into());
            }
        },
    }
    Ok(plan)
}

const IGNORED: &str = ".git/\n.gitignore\n*.swp\n*.bak\n*.tmp\n*.orig\n*~\n.DS_Store\n.idea/\n.vscode/\n";

/// Checks that helm renders the same objects with the chart as kustomize: with the default values, with each part
/// changed, and with all and none of them. The user's values and templates are not used, because they may differ on
/// purpose.
fn compare(operator: &Operator, header: &str, tree: &Tree, args: &ChartArgs, console: &Console) -> anyhow::Result<()> {
    let refused = |error: HelmError| UserError::new(error.message).help(error.help);
    let workspace = Workspace::create().map_err(refused)?;
    let files = Files { texts: operator_chart_of(operator, header)?.files(header), ..Files::default() };
    workspace.write("chart", &files).map_err(refused)?;
    let kubectl = kubectl::find(args.program.kubectl.as_deref(), None);
    let base = operator.by_default();
    let all: Combination = operator.switches.iter().map(|(switch, _)| *switch).collect();
    let flips = all.iter().map(|switch| &base ^ &[*switch].into());
    let combinations: BTreeSet<Combination> = flips.chain([base.clone(), Combination::new(), all.clone()]).collect();
    for combination in &combinations {
        let mut values = json!({});
        let mut parts = Vec::new();
        for (switch, by_default) in &operator.switches {
            let is_on = combination.contains(switch);
            if is_on != *by_default {
                merge(&mut values, &switch.values(is_on));
            }
            parts.push(format!("{} {}", switch.name(), if is_on { "on" } else { "off" }));
        }
        let text = helm::template([operator.release(), &operator.namespace], &workspace.chart(), &values, &[]);
        let found = operator_chart::objects(&text.map_err(refused)?).map_err(UserError::new)?;
        let wanted = match *combination == base {
            // kubectl renders this variant, so opctl's own implementation of kustomize is checked as well.
            true => operator_chart::objects(&rendered::text(tree, &kubectl, ImageSubstitution::Skip)?)
                .map_err(UserError::new)?,
            false => operator.renderings[combination].iter().map(|object| Value::clone(object)).collect(),
        };
        let [wanted, found] = [&wanted, &found].map(|objects| operator_chart::normal(objects, &operator.namespace));
        if let Some(difference) = operator_chart::difference(&wanted, &found) {
            return Err(UserError::new(format!("the chart does not install what `config/default` does: {difference}"))
                .help(format!("compared with {}", parts.join(", ")))
                .help("please report this as a defect of opctl, with the objects")
                .into());
        }
    }
    let compared = combinations.len();
    console.info(&format!("helm renders the same objects as kustomize, with {compared} combinations of values"));
    Ok(())
}

/// Merges the values of another object into an object.
fn merge(values: &mut Value, other: &Value) {
    match (values, other) {
        (Value::Object(values), Value::Object(other)) => {
            other.iter().for_each(|(key, value)| merge(values.entry(key).or_insert(Value::Null), value));
        }
        (values, other) => *values = other.clone(),
    }
}
