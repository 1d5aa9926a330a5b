//! `opctl generate kustomize manifests`, and the inputs of `opctl generate bundle` from the project: the package, the
//! kinds, and the code.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::super::console::Question;
use super::super::{Console, Next, Outcome, Task, carry_out, lock, project_folder, tree};
use super::bundle::MANIFESTS;
use crate::diagnostics::OP116;
use crate::error::UserError;
use opctl_edit::plan::{Mode, Plan};
use opctl_model::diagnostic::{Chapter, Diagnostic, Span};
use opctl_model::project::{Manifest, Origin, Package, ProjectFile, Resource, Tree, builtin, is_unreadable};
use opctl_model::{Api, CrdLocation, Displayed, Operator, RbacRule, Request, Step};
use opctl_olm::{self as olm, DescriptorHint, Issuing, KindHints, Metadata};
use opctl_source::Source;
use opctl_source::emit;

#[derive(Debug, Subcommand)]
pub enum Kustomize {
    Manifests(ManifestsArgs),
}

/// Scaffold config/manifests, with the base CSV of the bundle
///
/// The base CSV has what catalogs show of the operator: names, descriptions, links and install modes. They come from
/// Cargo.toml; on a terminal, opctl asks for what is missing there. `opctl generate bundle` does the same if there is
/// no base CSV.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl generate kustomize manifests")]
pub struct ManifestsArgs {
    /// The name of the package in catalogs [default: the project's name]
    #[arg(long, value_name = "NAME")]
    pub package: Option<String>,

    /// Prompt for values that Cargo.toml lacks; opctl only prompts on a terminal
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    pub interactive: bool,
}

pub fn run(command: &Kustomize, console: &Console) -> anyhow::Result<Outcome> {
    let Kustomize::Manifests(args) = command;
    let root = project_folder()?;
    let _lock = lock(&root, console)?;
    let tree = tree(&root);
    let project = ProjectFile::read(&tree)?;
    let package = args.package.clone().unwrap_or_else(|| project.name.to_string());
    let base = Base { package: &package, project: &project, console, interactive: args.interactive };
    let mut plan = Plan::default();
    for (path, text) in missing(&base, &tree)? {
        plan.scaffold(path, text);
    }
    let next = vec![Next::new("opctl generate bundle --image IMAGE", "generates the bundle")];
    carry_out(&Task { again: "run `opctl generate kustomize manifests`", tree: &tree, folder: "", plan, next }, console)
}

/// The inputs of the base CSV.
pub struct Base<'a> {
    pub package: &'a str,
    pub project: &'a ProjectFile,
    pub console: &'a Console,
    pub interactive: bool,
}

/// The path of the base CSV of a package.
pub fn path(package: &str) -> String {
    format!("{MANIFESTS}/bases/{}.clusterserviceversion.yaml", package.to_lowercase())
}

/// The missing files of `config/manifests`.
pub fn missing(base: &Base, tree: &Tree) -> anyhow::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    let header = header(tree)?;
    let kustomization = format!("{MANIFESTS}/kustomization.yaml");
    let is_new = !tree.has(&kustomization);
    if is_new {
        let has_samples = tree.has("config/samples/kustomization.yaml");
        files.push((kustomization.clone(), olm::kustomization(&base.package.to_lowercase(), has_samples, &header)));
    }
    let path = path(base.package);
    if tree.has(&path) {
        return Ok(files);
    }
    let written = tree.read(&kustomization)?.unwrap_or_default();
    if !is_new && !written.contains(&format!("bases/{}.clusterserviceversion.yaml", base.package.to_lowercase())) {
        // The kustomization lists another base, e.g. for another package, so none is added.
        return Ok(files);
    }
    files.push((path, olm::scaffold(&metadata(base, tree)?, &header)));
    Ok(files)
}

/// The license header of the project's YAML files.
fn header(tree: &Tree) -> anyhow::Result<String> {
    let text = tree.read("config/default/kustomization.yaml")?.unwrap_or_default();
    let license: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
    // A comment right above the first key describes the file and is not a license.
    let is_license = text.lines().nth(license.len()).is_some_and(str::is_empty);
    Ok(if is_license { format!("{}\n\n", license.join("\n")) } else { String::new() })
}

/// The `[package]` of the project.
pub fn package(tree: &Tree) -> anyhow::Result<Package> {
    Ok(Manifest::read(tree, "")?.map(|manifest| manifest.metadata()).unwrap_or_default())
}

fn metadata(base: &Base, tree: &Tree) -> anyhow::Result<Metadata> {
    let package = package(tree)?;
    let mut maintainers: Vec<(String, String)> = package.authors.iter().filter_map(|author| person(author)).collect();
    let mut description = package.description;
    let homepage = package.homepage;
    let mut repository = package.repository;
    let (mut categories, mut support, mut certified, mut maturity, mut icon) = (Vec::new(), None, None, None, None);
    let mut provider = maintainers.first().map(|(name, _)| (name.clone(), homepage.clone().unwrap_or_default()));
    if base.interactive && base.console.can_ask() && base.console.mode == Mode::Apply {
        let console = base.console;
        if description.is_none() {
            description = answer(console, "description of the operator, one line")?;
        }
        if provider.is_none() {
            let name = answer(console, "provider: the name of your organization")?;
            provider = name.map(|name| (name, homepage.clone().unwrap_or_default()));
        }
        if maintainers.is_empty() {
            let ask = |text: &str| match text {
                "" => Ok(None),
                text => person(text).map(Some).ok_or_else(|| "write it as `NAME <NAME@example.com>`".to_owned()),
            };
            maintainers.extend(console.ask(
                &Question::new(
                    "maintainer, as `NAME <EMAIL>` (empty: none)",
                    "who answers for the operator in the catalog",
                ),
                ask,
            )?);
        }
        categories = ask_categories(console)?;
        support = answer(console, "support: the organization that supports the operator")?;
        if repository.is_none() {
            repository = answer(console, "repository: the URL of the source code")?;
        }
        certified = ask_certified(console)?;
        let question =
            Question::new("maturity of the operator", "for example alpha, beta, stable or deprecated").or("alpha");
        maturity = console.ask(&question, |text| Ok(Some(text.to_owned())))?;
        icon = ask_icon(console)?;
    }
    let own = base.project.resources.iter().filter(|resource| resource.origin == Origin::Own && resource.api.is_some());
    let mut kinds: Vec<String> = own.map(|resource| resource.kind.to_string()).collect();
    kinds.sort();
    kinds.dedup();
    Ok(Metadata {
        package: base.package.to_lowercase(),
        description,
        maintainers,
        provider,
        keywords: package.keywords,
        repository,
        categories,
        support,
        certified,
        maturity,
        icon,
        homepage,
        license: package.license,
        kinds,
        namespaced: base.project.namespaced || !base.project.namespaces.is_empty(),
        converts: base.project.resources.iter().any(|resource| !resource.webhooks.spokes.is_empty()),
    })
}

/// Asks for a line of text, which may be empty.
fn answer(console: &Console, question: &str) -> anyhow::Result<Option<String>> {
    let question = format!("{question} (empty: none)");
    console.ask(&Question::new(&question, "the CSV and the catalog show it; it can be changed there later"), |text| {
        Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
    })
}

fn ask_categories(console: &Console) -> anyhow::Result<Vec<String>> {
    let help = format!("OperatorHub.io has {}", olm::bundle::CATEGORIES.join(", "));
    console.ask(&Question::new("categories, separated by commas (empty: none)", &help), |text| {
        let categories: Vec<&str> = text.split(',').map(str::trim).filter(|category| !category.is_empty()).collect();
        match categories.iter().find(|category| !olm::bundle::CATEGORIES.contains(category)) {
            Some(other) => Err(format!("OperatorHub.io has no category `{other}`: {help}")),
            None => Ok(categories.into_iter().map(str::to_owned).collect()),
        }
    })
}

fn ask_certified(console: &Console) -> anyhow::Result<Option<bool>> {
    let question =
        Question::new("certified for OpenShift: yes or no (empty: not specified)", "Red Hat certifies operators");
    console.ask(&question, |text| match text {
        "" => Ok(None),
        "yes" | "y" => Ok(Some(true)),
        "no" | "n" => Ok(Some(false)),
        _ => Err("answer yes or no".to_owned()),
    })
}

fn ask_icon(console: &Console) -> anyhow::Result<Option<Value>> {
    let question =
        Question::new("icon: the path of an image (empty: none)", "a GIF, JPEG, PNG or SVG, for lists of operators");
    console.ask(&question, |path| {
        if path.is_empty() {
            return Ok(None);
        }
        let image = std::fs::read(path).map_err(|error| format!("cannot read `{path}`: {error}"))?;
        let icon = olm::catalog::icon(&image);
        icon.map(Some).ok_or_else(|| format!("`{path}` is not a GIF, JPEG, PNG or SVG image"))
    })
}

/// Parses `Name <address>`.
fn person(text: &str) -> Option<(String, String)> {
    let (name, address) = text.strip_suffix('>')?.split_once('<')?;
    let (name, address) = (name.trim(), address.trim());
    (!name.is_empty() && address.contains('@')).then(|| (name.to_owned(), address.to_owned()))
}

/// The APIs of other projects, for `customresourcedefinitions.required`.
pub fn required(project: &ProjectFile) -> anyhow::Result<Vec<Value>> {
    let is_external = |resource: &&Resource| matches!(resource.origin, Origin::External { .. });
    let known = |resource: &Resource| {
        builtin::with_plural(resource.plural().as_str()).any(|it| it.group() == resource.full_group())
    };
    let resources = project.resources.iter().filter(is_external).filter(|resource| !known(resource));
    let mut required: Vec<Value> = resources
        .map(|resource| {
            json!({
                "name": format!("{}.{}", resource.plural(), resource.full_group()),
                "version": resource.version.as_str(),
                "kind": resource.kind.as_str(),
                "displayName": resource.kind.as_str(),
                "description": format!("{} of {}", resource.kind, resource.full_group()),
            })
        })
        .collect();
    required.sort_by_key(ToString::to_string);
    if required.is_empty() {
        return Err(UserError::new("PROJECT has no API of another project")
            .help("leave out `--require-external-apis`, or write `spec.customresourcedefinitions.required` in the base CSV")
            .into());
    }
    Ok(required)
}

type Hints = BTreeMap<(String, String, String), KindHints>;

/// The bundle's metadata from the code of each kind: its markers, and the kinds that its controllers own.
pub fn hints(source: &Source, project: &ProjectFile) -> (Hints, Vec<Diagnostic>) {
    let mut hints = Hints::new();
    for resource in project.resources.iter().filter(|resource| resource.origin == Origin::Own) {
        let key = (resource.kind.to_string(), resource.full_group(), resource.version.to_string());
        let hint: &mut KindHints = hints.entry(key).or_default();
        for kind in project.resources.iter().filter(|other| other.is_same_kind(resource)) {
            hint.resources.extend(owned(&source.operator, kind));
        }
    }
    // Only these errors are reported: the content of an invalid marker would be missing in the bundle.
    let is_of_marker = |problem: &&Diagnostic| {
        problem.is_error() && (problem.code.chapter == Chapter::Markers || is_unreadable(problem))
    };
    let mut problems: Vec<Diagnostic> = source.diagnostics.iter().filter(is_of_marker).cloned().collect();
    let displayed = &source.operator.displayed;
    if displayed.is_empty() {
        return (hints, problems);
    }
    // Fields are found by their types, which requires the schemas.
    let crds = emit::crds(&source.operator.apis).unwrap_or_default();
    let mut used = vec![false; displayed.len()];
    for api in &source.operator.apis {
        let hint: &mut KindHints = hints.entry((api.kind.clone(), api.group.clone(), api.version.clone())).or_default();
        for (at, marker) in
            displayed.iter().enumerate().filter(|(_, marker)| marker.part.is_none() && is_at(marker, &api.span))
        {
            used[at] = true;
            hint.display_name = hint.display_name.take().or_else(|| marker.display_name.clone());
            hint.order = hint.order.or(marker.order);
            hint.resources.extend(marker.resources.iter().cloned());
        }
        if displayed.iter().all(|marker| marker.part.is_none()) {
            continue;
        }
        let crd = crds.iter().find(|crd| crd.spec.group == api.group && crd.spec.names.kind == api.kind);
        let version = crd.and_then(|crd| crd.spec.versions.iter().find(|version| version.name == api.version));
        let schema = version.and_then(|version| serde_json::to_value(&version.schema).ok()).unwrap_or_default();
        for (path, span) in fields(source, api, &schema["openAPIV3Schema"]) {
            let part = path.split('.').next();
            let here = displayed
                .iter()
                .enumerate()
                .filter(|(_, marker)| marker.part.as_deref() == part && is_at(marker, &span));
            for (at, marker) in here {
                used[at] = true;
                let field: &mut DescriptorHint = hint.fields.entry(path.clone()).or_default();
                field.display_name = field.display_name.take().or_else(|| marker.display_name.clone());
                field.order = field.order.or(marker.order);
                field.x_descriptors.extend(marker.x_descriptors.iter().cloned());
            }
        }
    }
    let unused = displayed.iter().zip(used).filter(|(_, used)| !used).map(|(marker, _)| {
        OP116.error("this marker is neither on a kind nor on a field of one")
            .at(marker.span.clone(), "")
            .help("write it right above the type with `#[derive(CustomResource)]`, or with `type=spec` or `type=status` above a field of it")
    });
    problems.extend(unused);
    (hints, problems)
}

/// The generated roles with permissions that the operator needs only for its own certificates.
pub fn issuing(source: &Source, project: &ProjectFile) -> Vec<Issuing> {
    let operator = &source.operator;
    let (own, others): (Vec<RbacRule>, _) =
        operator.rbac.iter().cloned().partition(|rule| is_for_certificates(rule, &operator.requests));
    if own.is_empty() {
        return Vec::new();
    }
    let crds = emit::crds(&operator.apis).unwrap_or_default();
    let options = emit::Options { namespaced: project.namespaced, namespaces: project.namespaces.clone() };
    // An invalid marker is an error of `opctl manifests`, which then does not generate the roles.
    let roles = |rules: &[RbacRule]| emit::roles(rules, &crds, &options).unwrap_or_default();
    let without = roles(&others);
    let rules = |role: &emit::Role| role.manifest()["rules"].as_array().cloned().unwrap_or_default();
    let issuing = roles(&operator.rbac).into_iter().map(|role| {
        let same = without.iter().find(|other| (&other.namespace, &other.name) == (&role.namespace, &role.name));
        Issuing { with: rules(&role), without: same.map(rules).unwrap_or_default() }
    });
    issuing.filter(|issuing| issuing.with != issuing.without).collect()
}

/// `true` for a marker of the runtime for its certificates, and for one that only allows a conversion to have its CA
/// registered in the CRD.
fn is_for_certificates(rule: &RbacRule, requests: &[Request]) -> bool {
    let is_granted =
        |request: &&Request| rule.groups.contains(&request.group) && rule.resources.contains(&request.resource);
    let mut granted = requests.iter().filter(is_granted).peekable();
    let is_conversion = |request: &Request| request.by == "Conversion::new";
    rule.is_for_certificates
        || !rule.resource_names.is_empty() && granted.peek().is_some() && granted.all(is_conversion)
}

/// `true` if a marker is above a declaration.
fn is_at(marker: &Displayed, span: &Span) -> bool {
    marker
        .target
        .as_ref()
        .is_some_and(|target| target.file.path == span.file.path && target.range.end == span.range.end)
}

/// The fields of a kind that are declared in the source, by path, with their positions.
fn fields(source: &Source, api: &Api, schema: &Value) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    let mut level: Vec<(String, Vec<Step>, &Value, Option<Span>)> = ["spec", "status"]
        .into_iter()
        .map(|part| (part.to_owned(), vec![Step::Property(part.to_owned())], &schema["properties"][part], None))
        .collect();
    while !level.is_empty() {
        let mut next = Vec::new();
        for (path, steps, schema, around) in level {
            let (path, steps, schema) = match schema.get("items") {
                Some(items) => (format!("{path}[0]"), [steps, vec![Step::Items]].concat(), items),
                None => (path, steps, schema),
            };
            for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                let steps = [steps.clone(), vec![Step::Property(name.clone())]].concat();
                next.push((format!("{path}.{name}"), steps, schema, around.clone()));
            }
        }
        let locations: Vec<CrdLocation> =
            next.iter().map(|(_, steps, ..)| CrdLocation::Schema(steps.clone())).collect();
        let locations: Vec<(&Api, &CrdLocation)> = locations.iter().map(|location| (api, location)).collect();
        let spans = source.locate(&locations);
        // Fields declared in another crate have the position of the field around them.
        let own = next
            .into_iter()
            .zip(spans)
            .filter(|((.., around), span)| around.as_ref() != Some(span) && *span != api.span);
        level = own.map(|((path, steps, schema, _), span)| (path, steps, schema, Some(span))).collect();
        found.extend(level.iter().filter_map(|(path, _, _, span)| Some((path.clone(), span.clone()?))));
    }
    found
}

/// The kinds of the objects that the controllers of a kind own.
fn owned(operator: &Operator, resource: &Resource) -> Vec<[String; 3]> {
    let folder = format!("src/controller/{}", resource.group_module());
    let mut modules: Vec<String> = resource.controllers.iter().map(|controller| controller.name.module()).collect();
    modules.extend(resource.controller.then(|| resource.kind.module()));
    let is_here = |path: &str| {
        modules.iter().any(|module| {
            let rest = path.strip_prefix(&format!("{folder}/{module}"));
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    };
    // `owns_with` and the like count, too.
    let owns = |by: &str| by.rsplit("::").next().is_some_and(|method| method.starts_with("owns"));
    let requests = operator.requests.iter().filter(|request| owns(&request.by) && is_here(&request.span.file.path));
    let kind = |group: &str, plural: &str| {
        let of_kubernetes = builtin::with_plural(plural).find(|builtin| builtin.api_group == group);
        let own = || operator.apis.iter().find(|api| api.group == group && api.plural == plural);
        of_kubernetes
            .map(|builtin| [builtin.kind.to_owned(), builtin.version.to_owned(), String::new()])
            .or_else(|| own().map(|api| [api.kind.clone(), api.version.clone(), String::new()]))
    };
    requests.filter_map(|request| kind(&request.group, &request.resource)).collect()
}
