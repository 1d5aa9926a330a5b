//! Compares PROJECT with the files of the project, in both directions.
//!
//! For each entry of PROJECT, this module computes the files and edits of `create api` and `create webhook`, and
//! reports missing ones. So there is no second list of the parts of a project.

use std::collections::BTreeSet;

use super::{Content, Finding, Target};
use crate::places::{self, Kept};
use crate::scaffold::webhook::{self, Admission};
use crate::scaffold::{self, Inserted, Insertion, Rendered, Wiring, api_of_resource};
use opctl_charts::ansible;
use opctl_edit::{Edit, plan};
use opctl_model::names::ControllerName;
use opctl_model::project::{CrdPath, Origin, PROJECT, ProjectError, ProjectFile, Resource, Tree};
use opctl_model::{Admission as Asked, Operator};
use opctl_source::{self as source, Source, dependencies};

pub fn examine(target: &Target) -> Vec<Finding> {
    [interrupted_runs(target), examine_project(target)].concat()
}

/// Findings for interrupted runs in the project, and in its workspace and repository.
fn interrupted_runs(target: &Target) -> Vec<Finding> {
    let root = target.tree.root();
    let folder = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let found = plan::interrupted_around(&folder).into_iter().map(|interrupted| {
        let place = match interrupted == folder {
            true => plan::JOURNAL.to_owned(),
            false => interrupted.join(plan::JOURNAL).display().to_string(),
        };
        let what = "a run of opctl was interrupted while it wrote, and the next command undoes it";
        Finding::warning(what).at(place).help("run the same command again, or `opctl manifests`")
    });
    found.collect()
}

fn examine_project(target: &Target) -> Vec<Finding> {
    let (tree, project) = match &target.project {
        Ok(Some(project)) => (&target.tree, project),
        Ok(None) => {
            let what = "there is none: opctl did not make this crate";
            return vec![Finding::skipped(what).help(format!("opctl manifests{} works without one", target.here()))];
        }
        Err(ProjectError::Bad(diagnostics)) => return diagnostics.iter().map(Finding::from).collect(),
        Err(error) => return vec![Finding::error(error.to_string())],
    };
    let (charts, ansible) = (target.has_charts(), target.has_ansible());
    let scaffolded = match scaffold::Project::of(project, tree) {
        Ok(scaffolded) => scaffold::Project { charts, ansible, ..scaffolded },
        Err(error) => return vec![Finding::error(error.to_string())],
    };
    let Source { operator, diagnostics, .. } = source::read(tree, "");
    let kinds = Kinds::of(&operator, diagnostics.iter().all(|diagnostic| !diagnostic.is_error()));
    let packages = dependencies::read(tree, "").unwrap_or_default();
    let names: Vec<&str> = packages.iter().map(|package| package.package.as_str()).collect();
    // The scaffolded code of an adopted crate does not contain the name.
    let mut found: Vec<Finding> =
        if project.adopted { Vec::new() } else { vec![check_name(project.name.as_str(), &names)] };
    // Unreadable files are reported with the other manifests.
    let crds = places::readable_crds(tree, &project.crds).map(|(crds, _)| crds).unwrap_or_default();
    for resource in &project.resources {
        let parts = parts(resource, &scaffolded, &kinds);
        let missing_parts: Vec<(Part, Vec<MissingPart>)> =
            parts.into_iter().map(|(part, rendered)| (part, missing_parts(rendered, tree))).collect();
        found.extend(check_resource(resource, &missing_parts, &kinds, (target.content_of)(resource).as_ref()));
        found.extend(missing_crd(resource, project, tree, &crds));
    }
    // While a file cannot be read, its kinds and webhooks are unknown.
    if kinds.are_all {
        found.extend(unknown_kinds(project, &operator));
        found.extend(unknown_webhooks(project, &scaffolded, &operator));
    }
    // Unreadable files are reported with the errors of the source.
    let files: BTreeSet<String> = tree.files_below("src/controller").unwrap_or_default().into_iter().collect();
    let is_controller = |path: &str| {
        tree.read(path).ok().flatten().is_some_and(|text| text.contains("pub fn controller() -> Runnable"))
    };
    found.extend(unknown_controllers(project, files.iter().map(String::as_str).filter(|path| is_controller(path))));
    found
}

/// Checks the name of the package: code that `opctl create` adds uses the name in PROJECT.
fn check_name(project: &str, packages: &[&str]) -> Finding {
    match packages {
        [] => Finding::error("there is no package here").at("Cargo.toml").help("git checkout Cargo.toml"),
        _ if packages.contains(&project) => Finding::ok(format!("`{project}` is the name of the package, too")),
        [package, ..] => {
            let what =
                format!("the package is `{package}`, and `{project}` in PROJECT: what `opctl create` adds names that");
            Finding::warning(what)
                .at("Cargo.toml")
                .help(format!("set `projectName: {package}` in PROJECT, or `name = \"{project}\"` in Cargo.toml"))
        }
    }
}

/// The kinds in the source, including those whose schema only a compiler can determine.
struct Kinds {
    versions: BTreeSet<(String, String, String)>,
    underivable: BTreeSet<(String, String)>,
    /// The source has no errors, so these are all kinds.
    are_all: bool,
}

impl Kinds {
    fn of(operator: &Operator, are_all: bool) -> Self {
        let versions = operator.apis.iter().map(|api| (api.group.clone(), api.version.clone(), api.kind.clone()));
        let underivable = operator.underivable.iter().filter_map(|stopped| stopped.kind.clone());
        Self { versions: versions.collect(), underivable: underivable.collect(), are_all }
    }

    fn have(&self, resource: &Resource) -> bool {
        let (group, kind) = (resource.full_group(), resource.kind.to_string());
        self.underivable.contains(&(group.clone(), kind.clone()))
            || self.versions.contains(&(group, resource.version.to_string(), kind))
    }
}

/// A part of an entry that `opctl create` scaffolds in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Type,
    /// `None` for the controller that is named after the kind.
    Controller(Option<ControllerName>),
    Webhook(Admission),
    Conversion,
}

/// The parts of an entry, with the files that `opctl create` would write for them. A type that the source declares may
/// be in any file, so it has no files here.
fn parts(resource: &Resource, project: &scaffold::Project, kinds: &Kinds) -> Vec<(Part, Rendered)> {
    let api = api_of_resource(resource);
    let mut parts = Vec::new();
    if resource.origin == Origin::Own && resource.api.is_some() {
        let is_elsewhere = resource.is_adopted() || kinds.have(resource);
        let rendered = if is_elsewhere { Rendered::default() } else { scaffold::api(project, &api) };
        parts.push((Part::Type, rendered));
    }
    let first = resource.controller.then_some(None);
    for name in first.into_iter().chain(resource.controllers.iter().map(|controller| Some(controller.name.clone()))) {
        let wiring = Wiring { name: name.clone(), ..Wiring::default() };
        parts.push((Part::Controller(name), scaffold::controller(project, &scaffold::Api { wiring, ..api.clone() })));
    }
    let webhooks = |admissions, conversion| {
        webhook::webhooks(project, &api, &webhook::Webhooks { server: None, admissions, conversion })
    };
    for (admission, path) in admissions(resource, project) {
        parts.push((Part::Webhook(admission), webhooks(vec![(admission, path)], None)));
    }
    if !resource.webhooks.spokes.is_empty() {
        parts.push((Part::Conversion, webhooks(Vec::new(), Some(resource.webhooks.spokes.clone()))));
    }
    parts
}

/// The admission webhooks of an entry, with their paths.
fn admissions(resource: &Resource, project: &scaffold::Project) -> Vec<(Admission, String)> {
    let (api, webhooks) = (api_of_resource(resource), &resource.webhooks);
    let all = [
        (Admission::Defaulting, webhooks.defaulting, &webhooks.defaulting_path),
        (Admission::Validation, webhooks.validation, &webhooks.validation_path),
    ];
    let there = all.into_iter().filter(|(_, exists, _)| *exists);
    there
        .map(|(admission, _, path)| (admission, path.clone().unwrap_or_else(|| admission.path(project, &api))))
        .collect()
}

/// A missing file or line of a scaffolded part.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MissingPart {
    File(String),
    /// A missing line in an existing file.
    Line {
        path: String,
        line: String,
    },
}

/// The missing files and lines of the source. Samples and kustomizations may be deleted.
fn missing_parts(rendered: Rendered, tree: &Tree) -> Vec<MissingPart> {
    let is_source = |path: &str| path.starts_with("src/") && path.ends_with(".rs");
    let files = rendered.files.into_iter().map(|file| file.path).filter(|path| is_source(path) && !tree.has(path));
    let mut missing_parts: Vec<MissingPart> = files.map(MissingPart::File).collect();
    for Insertion { path, what, .. } in rendered.insertions.into_iter().filter(|it| is_source(&it.path)) {
        let line = match &what {
            Inserted::Module(name) => format!("`pub mod {name};`"),
            Inserted::ListItem { function, item } => format!("`{item}` in the list of `fn {function}`"),
            _ => continue,
        };
        let text = match tree.read(&path) {
            Ok(Some(text)) => text,
            Ok(None) => {
                missing_parts.push(MissingPart::File(path));
                continue;
            }
            // The file is reported with the errors of the source.
            Err(_) => continue,
        };
        // The edit of a list with a different form fails. The list then belongs to the user, and is not checked.
        if Edit::from(what).apply(&text).is_ok_and(|edited| edited != text) {
            missing_parts.push(MissingPart::Line { path, line });
        }
    }
    missing_parts.dedup();
    missing_parts
}

fn check_resource(
    resource: &Resource,
    parts: &[(Part, Vec<MissingPart>)],
    kinds: &Kinds,
    content: Option<&Content>,
) -> Vec<Finding> {
    let name = format!("`{}` of {}/{}", resource.kind, resource.full_group(), resource.version);
    let mut found = Vec::new();
    for (part, missing_parts) in parts {
        let files: Vec<&str> = missing_parts
            .iter()
            .filter_map(|lack| if let MissingPart::File(path) = lack { Some(path.as_str()) } else { None })
            .collect();
        let what = part.what();
        if let [first, ..] = files[..] {
            let error = Finding::error(format!("PROJECT lists {what} for {name}, but this file is missing"));
            found.push(error.at(first).help(part.command(resource, content)).help(part.out_of_project()));
            continue;
        }
        for lack in missing_parts {
            if let MissingPart::Line { path, line } = lack {
                let error = Finding::error(format!("{what} of {name} is not part of the operator: {line} is missing"));
                let help = match line.strip_suffix(";`").and_then(|line| line.strip_prefix('`')) {
                    Some(module) => format!("echo '{module};' >> {path}"),
                    None => format!("add {line} to `{path}`"),
                };
                found.push(error.at(path).help(help));
            }
        }
        // The source does not show the kinds of macros. Their CRDs are checked.
        if *part == Part::Type && missing_parts.is_empty() && !kinds.have(resource) && !resource.is_of_macro() {
            let types = match resource.is_adopted() {
                true => PROJECT.to_owned(),
                false => api_of_resource(resource).types_file(),
            };
            found.push(match kinds.are_all {
                true => Finding::error(format!("PROJECT lists {what} for {name}, but the source declares none"))
                    .at(types.clone())
                    .help("let `#[kube(…)]` there have the group, version and kind of PROJECT again; `opctl rename` changes both")
                    .help(part.out_of_project()),
                false => {
                    Finding::skipped(format!("whether {name} has {what} is not known while the source has errors"))
                        .at(types)
                        .help("opctl manifests")
                }
            });
        }
    }
    if found.is_empty() {
        let external =
            matches!(resource.origin, Origin::External { .. }).then(|| "a type of another project".to_owned());
        let parts: Vec<String> = external.into_iter().chain(parts.iter().map(|(part, _)| part.what())).collect();
        found.push(Finding::ok(format!("{name}: {}", parts.join(", "))));
    }
    found
}

impl Part {
    fn what(&self) -> String {
        match self {
            Self::Type => "a type".into(),
            Self::Controller(None) => "a controller".into(),
            Self::Controller(Some(name)) => format!("a controller `{name}`"),
            Self::Webhook(Admission::Defaulting) => "a defaulting webhook".into(),
            Self::Webhook(Admission::Validation) => "a validating webhook".into(),
            Self::Conversion => "a conversion".into(),
        }
    }

    /// The command that adds the part, run in the project's folder. `content` is the chart, role or playbook that the
    /// controller runs.
    fn command(&self, resource: &Resource, content: Option<&Content>) -> String {
        let what = match self {
            Self::Type | Self::Controller(_) => "api",
            Self::Webhook(_) | Self::Conversion => "webhook",
        };
        let names = format!(
            "--group {} --version {} --kind {}",
            api_of_resource(resource).group,
            resource.version,
            resource.kind
        );
        let mut command = format!("opctl create {what} {names}");
        let mut add = |flag: &str| command.push_str(&format!(" {flag}"));
        match (self, content) {
            (Self::Type | Self::Controller(_), Some(content)) => add(&content.argument()),
            (Self::Type, None) => {
                add("--controller=false");
                if let Some(plural) = &resource.plural {
                    add(&format!("--plural {plural}"));
                }
                if !resource.is_namespaced() {
                    add("--namespaced=false");
                }
                if let Some(image) = &resource.options.workload.image {
                    add(&format!("--image {image}"));
                }
            }
            (Self::Controller(name), None) => {
                add("--resource=false");
                if let Some(name) = name {
                    add(&format!("--controller-name {name}"));
                }
            }
            (Self::Webhook(Admission::Defaulting), _) => add("--defaulting"),
            (Self::Webhook(Admission::Validation), _) => add("--validation"),
            (Self::Conversion, _) => {
                add("--conversion");
                resource.webhooks.spokes.iter().for_each(|spoke| add(&format!("--spoke {spoke}")));
            }
        }
        if let Origin::External { .. } = resource.origin {
            add(&format!("--external-type {}", resource.type_path()));
        }
        command
    }

    fn out_of_project(&self) -> String {
        let what = match self {
            Self::Type => "the entry".into(),
            Self::Controller(None) => "`controller: true` of the entry".into(),
            Self::Controller(Some(name)) => format!("`name: {name}` of the entry's `controllers`"),
            Self::Webhook(Admission::Defaulting) => "`defaulting: true` of the entry's `webhooks`".into(),
            Self::Webhook(Admission::Validation) => "`validation: true` of the entry's `webhooks`".into(),
            Self::Conversion => "`conversion` and `spoke` of the entry's `webhooks`".into(),
        };
        format!("or remove {what} from {PROJECT}")
    }
}

impl Content {
    /// The argument for `opctl create api`.
    fn argument(&self) -> String {
        match self {
            Self::Chart(path) => format!("--helm-chart ./{path}"),
            Self::Ansible(ansible::Source::Playbook(path)) => format!("--ansible-playbook {path}"),
            Self::Ansible(ansible::Source::Role(name)) => format!("--ansible-role {name}"),
        }
    }
}

/// A finding if a kind of the project has no CRD.
fn missing_crd(resource: &Resource, project: &ProjectFile, tree: &Tree, crds: &[Kept]) -> Option<Finding> {
    let (group, plural) = (resource.full_group(), resource.plural());
    let path = match project.crds.iter().find(|path| path.is_bases()).or(project.crds.first())? {
        path if path.is_bases() => format!("{path}/{group}_{plural}.yaml"),
        path => path.to_string(),
    };
    let exists = tree.has_file(&path) && project.crds.iter().any(CrdPath::is_bases)
        || crds.iter().any(|kept| kept.crd["metadata"]["name"] == format!("{plural}.{group}"));
    let is_missing = resource.origin == Origin::Own && resource.api.is_some() && !exists;
    let what = || Finding::error(format!("there is no CRD of `{}`", resource.kind)).at(path).help("opctl manifests");
    is_missing.then(what)
}

/// Findings for kinds of the source without an entry, which `opctl create` does not know.
fn unknown_kinds(project: &ProjectFile, operator: &Operator) -> Vec<Finding> {
    let is_known = |group: &str, version: &str, kind: &str| {
        project
            .resources
            .iter()
            .any(|it| (it.full_group().as_str(), it.version.as_str(), it.kind.as_str()) == (group, version, kind))
    };
    let own = operator.declared.iter().filter(|kind| !kind.is_external);
    let unknown = own.filter(|kind| !is_known(&kind.group, &kind.version, &kind.kind));
    let found = unknown.map(|kind| {
        let what = format!("`{}` of {}/{} is not in PROJECT", kind.kind, kind.group, kind.version);
        Finding::warning(what).at(kind.span.to_string()).help("opctl adopt")
    });
    found.collect()
}

/// Findings for webhooks of the source without an entry.
fn unknown_webhooks(project: &ProjectFile, scaffolded: &scaffold::Project, operator: &Operator) -> Vec<Finding> {
    let known: BTreeSet<(bool, String)> = project
        .resources
        .iter()
        .flat_map(|resource| admissions(resource, scaffolded))
        .map(|(admission, path)| (admission == Admission::Defaulting, path))
        .collect();
    let found = operator.webhooks.iter().filter_map(|webhook| {
        let path = webhook.definition.value["clientConfig"]["service"]["path"].as_str()?;
        let is_mutating = webhook.admission == Asked::Mutating;
        let key = if is_mutating { "defaulting" } else { "validation" };
        let what = format!("no entry of PROJECT has the webhook at `{path}`");
        let help = format!("add `{key}: true`, and `{key}Path: {path}`, to the entry's `webhooks` in PROJECT");
        let is_known = known.contains(&(is_mutating, path.to_owned()));
        (!is_known).then(|| Finding::warning(what).at(webhook.definition.span.to_string()).help(help))
    });
    found.collect()
}

/// Findings for files with controllers without an entry.
fn unknown_controllers<'a>(project: &ProjectFile, files: impl Iterator<Item = &'a str>) -> Vec<Finding> {
    let known: BTreeSet<String> = project
        .resources
        .iter()
        .flat_map(|resource| {
            let group = resource.group_module();
            resource.controller_modules().into_iter().map(move |module| format!("src/controller/{group}/{module}.rs"))
        })
        .collect();
    let found = files.filter(|path| !known.contains(*path) && path.matches('/').count() == 3).map(|path| {
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs").replace('_', "-");
        let help = format!(
            "add `controller: true`, or `{{name: {name}}}` among its `controllers`, to the entry of its kind in PROJECT"
        );
        Finding::warning("PROJECT does not have this controller").at(path).help(help)
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use opctl_cluster::findings::Severity;

    const TEXT: &str = "domain: example.com\nlayout:\n- opctl/v1\nprojectName: shop\nresources:\n\
        - {api: {crdVersion: v1, namespaced: true}, controller: true, controllers: [{name: backup}], domain: example.com, \
        group: cache, kind: Memcached, path: 'crate::api::cache::v1', version: v1, webhooks: {defaulting: true}}\nversion: '3'\n";

    fn project() -> ProjectFile {
        ProjectFile::parse(TEXT).unwrap()
    }

    fn no_kinds(are_all: bool) -> Kinds {
        Kinds { versions: BTreeSet::new(), underivable: BTreeSet::new(), are_all }
    }

    fn memcached() -> Kinds {
        let version = ["cache.example.com", "v1", "Memcached"].map(String::from).into();
        Kinds { versions: BTreeSet::from([version]), ..no_kinds(true) }
    }

    fn lines(found: &[Finding]) -> Vec<String> {
        let help = |finding: &Finding| finding.help.first().cloned().unwrap_or_default();
        found.iter().map(|it| format!("{} {} -> {}", it.severity.word(), it.what, help(it))).collect()
    }

    #[test]
    fn a_file_that_is_gone_is_made_again_and_a_line_is_added() {
        let resource = &project().resources[0];
        let file = |path: &str| vec![MissingPart::File(path.into())];
        let line = |line: &str| vec![MissingPart::Line { path: "src/mod.rs".into(), line: line.into() }];
        let parts = [
            (Part::Type, line("`pub mod memcached;`")),
            (Part::Controller(None), file("a.rs")),
            (Part::Controller(Some(ControllerName::parse("backup").unwrap())), file("b.rs")),
            (Part::Webhook(Admission::Defaulting), line("`a::WEBHOOK` in the list of `fn all`")),
        ];
        let name = "`Memcached` of cache.example.com/v1";
        let command = "opctl create api --group cache --version v1 --kind Memcached --resource=false";
        assert_eq!(
            lines(&check_resource(resource, &parts, &memcached(), None)),
            [
                format!(
                    "error a type of {name} is not part of the operator: `pub mod memcached;` is missing -> echo 'pub mod memcached;' >> src/mod.rs"
                ),
                format!("error PROJECT lists a controller for {name}, but this file is missing -> {command}"),
                format!(
                    "error PROJECT lists a controller `backup` for {name}, but this file is missing -> {command} --controller-name backup"
                ),
                format!(
                    "error a defaulting webhook of {name} is not part of the operator: `a::WEBHOOK` in the list of `fn all` is missing -> add `a::WEBHOOK` in the list of `fn all` to `src/mod.rs`"
                ),
            ]
        );
    }

    #[test]
    fn a_type_that_is_not_declared_is_an_error_unless_the_source_cannot_be_read() {
        let resource = &project().resources[0];
        let severity = |kinds: &Kinds| check_resource(resource, &[(Part::Type, Vec::new())], kinds, None)[0].severity;
        assert_eq!(severity(&no_kinds(true)), Severity::Error);
        assert_eq!(severity(&no_kinds(false)), Severity::Skipped);
        assert_eq!(severity(&memcached()), Severity::Ok);
    }

    #[test]
    fn controllers_that_project_does_not_have_are_reported() {
        let files = [
            "src/controller/cache/memcached.rs",
            "src/controller/cache/backup.rs",
            "src/controller/cache/other_one.rs",
        ];
        let found = unknown_controllers(&project(), files.into_iter());
        assert_eq!(found.len(), 1);
        assert!(found[0].help[0].contains("{name: other-one}"), "{found:?}");
    }

    #[test]
    fn the_package_is_called_as_project_says() {
        assert_eq!(check_name("shop", &["tools", "shop"]).severity, Severity::Ok);
        assert_eq!(check_name("shop", &["store"]).severity, Severity::Warning);
        assert_eq!(check_name("shop", &[]).severity, Severity::Error);
    }
}
