//! `opctl generate bundle`: generates a bundle for the Operator Lifecycle Manager from the output of kustomize and from
//! the Rust types.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Args;
use serde_json::Value;

use super::super::allow::without_allowed;
use super::super::{Console, Next, Outcome, Task, carry_out, lock, project_folder, tree};
use super::bundle_base::{self, Base};
use crate::commands::console::Verbosity;
use crate::commands::environment;
use crate::error::{ExternalError, SourceErrors, UserError};
use crate::rendered::PLACEHOLDER;
use opctl_edit::plan::{Change, Mode, Plan};
use opctl_kustomize::Renderer;
use opctl_kustomize::config;
use opctl_kustomize::yaml::{self, Node};
use opctl_model::diagnostic::{Diagnostic, Severity};
use opctl_model::names::Image;
use opctl_model::project::{ProjectFile, ReadError, Tree, join};
use opctl_olm::diagnostics::OP509;
use opctl_olm::{self as olm, Bundle, Digests, Fate, Input, Labels, Options};
use opctl_source::{self as source, emit};
use opctl_tools::digest;

/// Generate a bundle for the Operator Lifecycle Manager (OLM)
///
/// The bundle is made of config/manifests if there is one, or else of config/default, and of the Rust types. The CSV in
/// config/manifests/bases is yours: names, descriptions, icons and install modes are kept, everything else follows from
/// the manifests. Each object and field that a bundle cannot hold is reported. opctl owns the files in bundle and
/// rewrites them; labels that you add to annotations.yaml and bundle.Dockerfile are kept.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl generate bundle --version 0.1.0 --image registry.example.com/memcached-operator:v0.1.0
  docker build -f bundle.Dockerfile -t registry.example.com/memcached-operator-bundle:v0.1.0 .

  # List where each object went
  opctl generate bundle -v

  # For disconnected clusters: each image by its digest
  opctl generate bundle --use-image-digests

  # In CI: fail if the bundle is out of date, or cannot hold everything in config
  opctl generate bundle --check --strict")]
pub struct BundleArgs {
    /// The version of the operator [default: that of Cargo.toml or of the existing bundle, whichever is higher]
    #[arg(long)]
    pub version: Option<String>,

    /// The image of the operator; otherwise that of the existing bundle
    #[arg(long)]
    pub image: Option<String>,

    /// The name of the package in catalogs [default: the project's name]
    #[arg(long, value_name = "NAME")]
    pub package: Option<String>,

    /// The channels that the bundle is in, separated by commas [default: those of the existing bundle, or alpha]
    #[arg(long, value_name = "NAMES")]
    pub channels: Option<String>,

    /// The channel for users who choose none
    #[arg(long, value_name = "NAME")]
    pub default_channel: Option<String>,

    /// The folder of the bundle
    #[arg(long, value_name = "DIR", default_value = "bundle")]
    pub output_dir: String,

    /// The kustomization that the bundle is made of [default: config/manifests, or config/default]
    #[arg(long, value_name = "DIR")]
    pub overlay: Option<String>,

    /// Pin each image to its digest; without `--digests`, the first of crane, skopeo and other programs that can asks
    /// the registry
    #[arg(long)]
    pub use_image_digests: bool,

    /// A YAML file with the digests, `IMAGE: sha256:…`; no registry is asked
    #[arg(long, value_name = "FILE", requires = "use_image_digests")]
    pub digests: Option<String>,

    /// Service accounts that get permissions although no Deployment uses them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub extra_service_accounts: Vec<String>,

    /// List the APIs of other projects that PROJECT has as required; OLM v1 refuses such bundles
    #[arg(long)]
    pub require_external_apis: bool,

    /// The CSV that this one replaces, e.g. memcached-operator.v0.0.9; like `--skips` and `--skip-range`, it is kept
    /// until the version changes, and '' removes it
    #[arg(long, value_name = "CSV")]
    pub replaces: Option<String>,

    /// A CSV that upgrades skip (repeatable)
    #[arg(long, value_name = "CSV")]
    pub skips: Vec<String>,

    /// The range of versions that are upgraded to this one, e.g. '>=0.1.0 <0.2.0'
    #[arg(long, value_name = "RANGE")]
    pub skip_range: Option<String>,

    /// The time for the annotation `createdAt`, e.g. 2026-01-31T12:00:00Z [default: that of the existing bundle, or if
    /// anything else in the bundle changes, SOURCE_DATE_EPOCH or now]
    #[arg(long, value_name = "TIME")]
    pub created_at: Option<String>,

    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
}

/// The folder of the kustomization for bundles.
pub const MANIFESTS: &str = "config/manifests";
const DOCKERFILE: &str = "bundle.Dockerfile";

pub fn run(args: &BundleArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = project_folder()?;
    let _lock = lock(&root, console)?;
    let disk = tree(&root);
    let mut tree = disk.clone();
    let project = ProjectFile::read(&tree)?;
    let package = args.package.clone().unwrap_or_else(|| project.name.to_string());
    let existing = Existing::read(&tree, args, &package)?;
    let version = version(args, &tree, &existing)?;
    let mut plan = Plan::default();
    if args.overlay.is_none() {
        // Missing files of `config/manifests` are scaffolded with the bundle.
        let base = Base { package: &package, project: &project, console, interactive: true };
        for (path, text) in bundle_base::missing(&base, &tree)? {
            tree.lay_over(path.clone(), text.clone());
            plan.scaffold(path, text);
        }
    }
    let overlay = args.overlay.as_deref().unwrap_or(MANIFESTS).trim_end_matches('/');
    let objects = objects(&tree, overlay)?;
    let base = base(&tree, &package, overlay, &objects)?;
    let mut options = options(args, &tree, &project, &existing, console)?;
    upgrades(args, &version, &base, &existing, &mut options);
    let samples = if args.overlay.is_some() { samples(&tree)? } else { Vec::new() };
    let source = source::read_requests(&tree, "");
    let (hints, problems) = bundle_base::hints(&source, &project);
    options.issuing = bundle_base::issuing(&source, &project);
    let objects = with_image(objects, args, &existing, console)?;
    if args.use_image_digests && args.digests.is_none() {
        options.digests = Some(resolved(&objects)?);
    }
    let input = Input { package: &package, version: &version, base, objects, samples, hints, options };
    let mut bundle = olm::generate(input);
    bundle.findings.extend(problems);
    let (errors, warnings) = findings(&bundle, &tree, args.strict);
    if !errors.is_empty() {
        return Err(SourceErrors::from([errors, warnings].concat()).into());
    }
    if console.verbosity > Verbosity::Quiet {
        console.diagnose(&warnings);
    }
    let channels = args.channels.clone().or_else(|| existing.annotation("bundle.channels.v1"));
    let default_channel = args.default_channel.clone().or_else(|| existing.annotation("bundle.channel.default.v1"));
    let labels = Labels {
        package: &package,
        channels: channels.as_deref().unwrap_or("alpha"),
        default_channel: default_channel.as_deref(),
    };
    if args.created_at.is_none() && console.mode != Mode::Check {
        let mut same_time = Plan::default();
        write(&mut same_time, &tree, args, &bundle, &labels, &existing)?;
        if changes_bundle(&same_time, &disk)? {
            let csv = bundle.manifests.get_mut(&csv_name(&package)).expect("each bundle has a CSV");
            csv["metadata"]["annotations"]["createdAt"] = environment::build_time()?.into();
        }
    }
    write(&mut plan, &tree, args, &bundle, &labels, &existing)?;
    if console.verbosity == Verbosity::Verbose {
        console.list(&table(&bundle));
    }
    console.info(&summary(&bundle));
    let folder = args.output_dir.trim_end_matches('/');
    let next = vec![
        Next::new(format!("opctl bundle render {folder} --namespace NAMESPACE"), "prints what OLM makes of it"),
        Next::new(format!("docker build -f {DOCKERFILE} -t IMAGE ."), "builds the image of the bundle"),
    ];
    carry_out(&Task { again: "run `opctl generate bundle`", tree: &disk, folder: "", plan, next }, console)
}

/// The file of the CSV in `manifests`.
fn csv_name(package: &str) -> String {
    format!("{}.clusterserviceversion.yaml", package.to_lowercase())
}

/// `true` if a file of the bundle changes.
fn changes_bundle(plan: &Plan, disk: &Tree) -> Result<bool, ReadError> {
    for (path, change) in &plan.changes {
        let changes = match change {
            Change::Generate(text) => disk.read(path)?.as_ref() != Some(text),
            // A file of the user stays.
            _ => disk.read(path)?.is_some_and(|text| text.starts_with(emit::OURS)),
        };
        if changes {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The semantic version: the argument, or the version of the package or of the existing bundle, whichever is higher.
fn version(args: &BundleArgs, tree: &Tree, existing: &Existing) -> anyhow::Result<String> {
    let parse = |version: &str| olm::bundle::semver::parse(version).ok();
    let version = match &args.version {
        Some(version) => version.clone(),
        None => {
            let of_package = bundle_base::package(tree)?.version;
            let of_bundle = existing.csv["spec"]["version"].as_str().map(str::to_owned);
            let all = of_package.into_iter().chain(of_bundle);
            all.max_by_key(|version| parse(version)).ok_or_else(|| {
                UserError::new("Cargo.toml has no version").help("specify it: `opctl generate bundle --version 0.1.0`")
            })?
        }
    };
    if version.contains('+') || parse(&version).is_none() {
        return Err(UserError::new(format!("`{version}` is not a semantic version"))
            .help("write it as `1.2.3` or `1.2.3-rc.1`; `+` is not allowed in the name of a CSV")
            .into());
    }
    Ok(version)
}

/// The objects that kustomize renders from a folder.
fn objects(tree: &Tree, folder: &str) -> anyhow::Result<Vec<Node>> {
    let mut renderer = Renderer::new(tree);
    let render = renderer.render(folder, &[]);
    let errors: Vec<Diagnostic> = renderer.problems.into_iter().filter(Diagnostic::is_error).collect();
    if !errors.is_empty() {
        return Err(SourceErrors::from(errors).into());
    }
    if !render.is_closed {
        return Err(UserError::new(format!("opctl cannot render `{folder}` without kustomize, but a bundle requires it"))
            .help("there must be a `kustomization.yaml`; resources from the network, plugins and kustomize's own charts are not supported")
            .into());
    }
    Ok(render.objects.into_iter().map(|object| object.node).collect())
}

/// The CSV that the user maintains: in the kustomization, or in `config/manifests/bases`.
fn base(tree: &Tree, package: &str, overlay: &str, objects: &[Node]) -> anyhow::Result<Node> {
    let is_csv = |node: &&Node| node.text_at(&["kind"]) == Some("ClusterServiceVersion");
    let path = bundle_base::path(package);
    let found = match objects.iter().filter(is_csv).cloned().collect::<Vec<_>>() {
        listed if !listed.is_empty() => listed,
        _ => Renderer::new(tree).documents(&path).map(|documents| documents.to_vec()).unwrap_or_default(),
    };
    match &found[..] {
        [base] => Ok(base.clone()),
        [] => Err(UserError::new(format!("there is no base CSV: neither in `{overlay}` nor `{path}`"))
            .help("`opctl generate kustomize manifests` writes one")
            .into()),
        [first, second, ..] => {
            let error = OP509
                .error("there are two base CSVs")
                .at(second.span.clone(), "")
                .help(format!("keep this one or the one in `{}`", first.span.file.path));
            Err(SourceErrors::from(vec![error]).into())
        }
    }
}

/// The objects in `config/samples`, for kustomizations that do not list them.
fn samples(tree: &Tree) -> anyhow::Result<Vec<Node>> {
    if tree.has("config/samples/kustomization.yaml") { objects(tree, "config/samples") } else { Ok(Vec::new()) }
}

/// The existing bundle on disk.
#[derive(Default)]
struct Existing {
    csv: Value,
    annotations: Value,
    dockerfile: String,
}

impl Existing {
    fn read(tree: &Tree, args: &BundleArgs, package: &str) -> anyhow::Result<Self> {
        let folder = args.output_dir.trim_end_matches('/');
        let value = |path: String| -> anyhow::Result<Value> {
            let text = tree.read(&path)?.unwrap_or_default();
            let objects: Vec<Value> = olm::parse(&text).map_err(|error| {
                UserError::new(format!("cannot read `{path}`: {error}"))
                    .help("fix it, or remove it: opctl generates it again")
            })?;
            Ok(objects.into_iter().next().unwrap_or_default())
        };
        Ok(Self {
            csv: value(format!("{folder}/manifests/{}", csv_name(package)))?,
            annotations: value(format!("{folder}/metadata/annotations.yaml"))?,
            dockerfile: tree.read(DOCKERFILE)?.unwrap_or_default(),
        })
    }

    fn annotation(&self, key: &str) -> Option<String> {
        let value = &self.annotations["annotations"][format!("operators.operatorframework.io.{key}")];
        value.as_str().filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// The image of a container.
    fn image(&self, deployment: &str, container: &str) -> Option<&str> {
        let items = self.csv.pointer("/spec/install/spec/deployments")?.as_array()?;
        let item = items.iter().find(|item| item["name"] == deployment)?;
        let pod = &item["spec"]["template"]["spec"];
        let containers = ["containers", "initContainers"].into_iter().filter_map(|key| pod[key].as_array()).flatten();
        containers.into_iter().find(|it| it["name"] == container)?["image"].as_str()
    }
}

fn options(
    args: &BundleArgs,
    tree: &Tree,
    project: &ProjectFile,
    existing: &Existing,
    console: &Console,
) -> anyhow::Result<Options> {
    let digests = args.digests.as_deref().map(|path| digests(tree, path)).transpose()?;
    let required = if args.require_external_apis { bundle_base::required(project)? } else { Vec::new() };
    // A bundle is up to date whenever it was created.
    let created_at = args.created_at.clone().filter(|_| console.mode != Mode::Check);
    let known = || existing.csv.pointer("/metadata/annotations/createdAt")?.as_str().map(str::to_owned);
    Ok(Options {
        extra_accounts: args.extra_service_accounts.iter().cloned().collect(),
        created_at: created_at.or_else(known),
        digests,
        required,
        ..Options::default()
    })
}

/// Sets the upgrades to this version: the arguments, or those of the existing bundle of this version that are not in the base.
fn upgrades(args: &BundleArgs, version: &str, base: &Node, existing: &Existing, options: &mut Options) {
    let kept = |path: &[&str]| {
        let is_same = existing.csv["spec"]["version"] == version && base.at(path).is_none();
        let value = path.iter().try_fold(&existing.csv, |value, key| value.get(key));
        value.filter(|_| is_same)
    };
    let text = |argument: &Option<String>, path: &[&str]| match argument {
        Some(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        None => kept(path)?.as_str().map(str::to_owned),
    };
    options.replaces = text(&args.replaces, &["spec", "replaces"]);
    options.skip_range = text(&args.skip_range, &["metadata", "annotations", "olm.skipRange"]);
    options.skips = match args.skips.is_empty() {
        true => {
            let skips = kept(&["spec", "skips"]).and_then(Value::as_array).into_iter().flatten();
            skips.filter_map(Value::as_str).map(str::to_owned).collect()
        }
        false => args.skips.iter().filter(|skip| !skip.is_empty()).cloned().collect(),
    };
}

fn digests(tree: &Tree, path: &str) -> anyhow::Result<Digests> {
    let text = match tree.read(path)? {
        Some(text) => text,
        None => std::fs::read_to_string(path).map_err(|error| {
            UserError::new(format!("cannot read `{path}`: {error}"))
                .help("`--digests FILE` has lines such as `IMAGE: sha256:…`")
        })?,
    };
    let digests: Vec<Digests> = olm::parse(&text).map_err(|error| {
        UserError::new(format!("`{path}`: {error}"))
            .help("write a line such as `registry.example.com/operator:v1: sha256:…` for each image")
    })?;
    let digests = digests.into_iter().next().unwrap_or_default();
    match digests.iter().find(|(_, digest)| !digest::is_digest(digest)) {
        Some((image, digest)) => Err(UserError::new(format!("`{path}`: `{digest}` is not the digest of `{image}`"))
            .help("a digest is `sha256:` and 64 hexadecimal digits")
            .into()),
        None => Ok(digests),
    }
}

/// The digests of the images in the Deployments, from their registries.
fn resolved(objects: &[Node]) -> anyhow::Result<Digests> {
    let digest = |image: String| match digest::of(&image) {
        Ok(digest) => Ok((image, digest)),
        Err(error) => {
            let error = UserError::new(format!("cannot get the digest of `{image}`{error}"))
                .help(format!(
                    "opctl runs the first of {} that gets it; push the image, and log in to the registry",
                    digest::programs().join(", ")
                ))
                .help("or write it to a file for `--digests FILE`, which needs no registry");
            Err(ExternalError(error).into())
        }
    };
    olm::images(objects).into_iter().map(digest).collect()
}

/// The objects with the image of the operator instead of the scaffold's placeholder.
fn with_image(
    mut objects: Vec<Node>,
    args: &BundleArgs,
    existing: &Existing,
    console: &Console,
) -> anyhow::Result<Vec<Node>> {
    let image =
        args.image.as_deref().map(Image::parse).transpose().map_err(UserError::from)?.map(|image| image.to_string());
    // The Makefile passes this value if the user sets no image.
    let image = image.filter(|image| image != "controller:latest");
    let (mut placed, mut left) = (0, 0);
    for object in objects.iter_mut().filter(|object| object.text_at(&["kind"]) == Some("Deployment")) {
        let name = object.text_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        let pod = ["spec", "template", "spec"].into_iter().try_fold(object, Node::get_mut);
        let Some(pod) = pod else { continue };
        for list in ["initContainers", "containers"] {
            let Some(yaml::Value::List(containers)) = pod.get_mut(list).map(|list| &mut list.value) else {
                continue;
            };
            for container in containers.iter_mut() {
                let container_name = container.text_at(&["name"]).unwrap_or_default().to_owned();
                let Some(node) = container.get_mut("image") else { continue };
                if !node.as_text().is_some_and(is_placeholder) {
                    continue;
                }
                match image.as_deref().or_else(|| existing.image(&name, &container_name)) {
                    Some(image) => {
                        *node = Node::text(image, node.span.clone());
                        placed += 1;
                    }
                    None => left += 1,
                }
            }
        }
    }
    if placed == 0
        && left == 0
        && let Some(image) = image
    {
        return Err(UserError::new(format!("no container has the image `{PLACEHOLDER}`, to be replaced by `{image}`"))
            .help("leave `--image` out to take the manifests as they are")
            .into());
    }
    if left > 0 && console.mode != Mode::Check {
        console.warn(&format!("the image of the operator is the placeholder `{PLACEHOLDER}`; `--image` sets it"));
    }
    Ok(objects)
}

fn is_placeholder(image: &str) -> bool {
    let name = image.split('@').next().unwrap_or_default();
    name == PLACEHOLDER || name.strip_prefix(PLACEHOLDER).is_some_and(|tag| tag.starts_with(':'))
}

/// Errors, and warnings that are not allowed.
fn findings(bundle: &Bundle, tree: &Tree, strict: bool) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let left = without_allowed(bundle.findings.clone(), &config::allows(tree, ""), None);
    let severity = |diagnostic: Diagnostic| match strict {
        true => Diagnostic { severity: Severity::Error, ..diagnostic },
        false => diagnostic,
    };
    left.into_iter().map(severity).partition(Diagnostic::is_error)
}

/// A table of the objects and the places to which they were converted.
fn table(bundle: &Bundle) -> String {
    let title = |[kind, _, namespace, name]: &[String; 4]| match namespace.as_str() {
        "" => format!("{kind} {name}"),
        namespace => format!("{kind} {namespace}/{name}"),
    };
    let width = bundle.rows.iter().map(|row| title(&row.key).len()).max().unwrap_or_default();
    let mut text = String::new();
    for row in &bundle.rows {
        let fates: Vec<String> = row.fates.iter().map(ToString::to_string).collect();
        writeln!(text, "{:width$}  {}", title(&row.key), fates.join("; ")).expect("a string takes any text");
    }
    text
}

/// The number of objects per place.
fn summary(bundle: &Bundle) -> String {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for row in &bundle.rows {
        let is = |wanted: fn(&Fate) -> bool| row.fates.iter().any(wanted);
        let place = if is(|fate| matches!(fate, Fate::File(_))) {
            1
        } else if is(|fate| matches!(fate, Fate::Csv(_))) {
            0
        } else if is(|fate| matches!(fate, Fate::Olm(_))) {
            2
        } else {
            3
        };
        *counts.entry(place).or_default() += 1;
    }
    let words = ["in the CSV", "as files", "created by OLM itself", "not in the bundle"];
    let parts: Vec<String> = counts.into_iter().map(|(place, count)| format!("{count} {}", words[place])).collect();
    let total = bundle.rows.len();
    format!("{total} object{}: {}", if total == 1 { "" } else { "s" }, parts.join(", "))
}

fn write(
    plan: &mut Plan,
    tree: &Tree,
    args: &BundleArgs,
    bundle: &Bundle,
    labels: &Labels,
    existing: &Existing,
) -> Result<(), ReadError> {
    let folder = args.output_dir.trim_end_matches('/');
    let header = format!("{}`opctl generate bundle` makes it of config and the Rust types.", emit::OURS);
    for (name, value) in &bundle.manifests {
        plan.generate(format!("{folder}/manifests/{name}"), olm::document(&header, value));
    }
    plan.generate(
        format!("{folder}/metadata/annotations.yaml"),
        olm::document(&header, &olm::metadata(labels, &existing.annotations)),
    );
    let scorecard = bundle.scorecard.clone().unwrap_or_else(olm::scorecard);
    plan.generate(format!("{folder}/tests/scorecard/config.yaml"), olm::document(&header, &scorecard));
    plan.generate(DOCKERFILE, olm::dockerfile(labels, folder, &header, &existing.dockerfile));
    // The ignore file of the project lets only the sources through.
    plan.generate(format!("{DOCKERFILE}.dockerignore"), format!("{header}\n**\n!{folder}/**\n"));
    for path in tree.files_below(&join(folder, "manifests"))? {
        if !plan.changes.contains_key(&path) {
            plan.prune(path);
        }
    }
    Ok(())
}
