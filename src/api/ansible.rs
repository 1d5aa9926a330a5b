//! Operators for Ansible: derives the type, the permissions and the sample of a kind from a role or playbook, which may
//! be new.
//!
//! Everything is read from files; no program runs. So [`stale`] can repeat the derivation in every check.

use std::collections::BTreeMap;

use super::chart::{self, Stale, spec_of};
use super::{AnsibleArgs, Args, Message, Report, existing};
use crate::diagnostics::OP485;
use crate::error::{SourceErrors, UserError, UserErrors};
use crate::scaffold;
use crate::scaffold::api_of_resource;
use opctl_charts::ansible::diagnostics::OP486;
use opctl_charts::ansible::{self, Content, Rules, Source};
use opctl_charts::operator_sdk::{Existing, described};
use opctl_charts::spec::{self, Known, Object};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::names::Kind;
use opctl_model::project::{Options, ProjectFile, ReadError, Resource, Tree};
use opctl_source::emit;

/// Texts by path, relative to the project's folder.
pub type Files = BTreeMap<String, String>;

/// Everything that a role or playbook adds to a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub scaffold: scaffold::Ansible,
    /// Replace the scaffolded sample: file names and texts.
    pub samples: Vec<(String, String)>,
    /// New files of roles and playbooks.
    pub files: Files,
    /// The text of `permissions.rs`.
    pub permissions: String,
    /// The project runs no other role or playbook.
    pub is_first: bool,
}

/// The role or playbook that runs for the objects of a kind in PROJECT.
pub fn source_of(resource: &Resource) -> Option<Source> {
    let Options { ansible_role, ansible_playbook, .. } = &resource.options;
    let playbook = ansible_playbook.clone().map(Source::Playbook);
    playbook.or_else(|| ansible_role.clone().map(Source::Role))
}

impl Operator {
    /// The operator of a kind in PROJECT, with the parts that are known without its files.
    pub fn known(source: &Source, resource: &Resource, is_first: bool) -> Self {
        let (role, playbook) = match source.clone() {
            Source::Role(name) => (Some(name), None),
            Source::Playbook(path) => (None, Some(path)),
        };
        let watch = resource.options.ansible_imported.then(scaffold::Watch::default);
        Self {
            scaffold: scaffold::Ansible { role, playbook, spec: scaffold::Spec::default(), watch },
            samples: Vec::new(),
            files: Files::new(),
            permissions: String::new(),
            is_first,
        }
    }
}

/// Refuses arguments that cannot be combined with a role or playbook.
pub fn check(args: &Args) -> Result<(), UserErrors> {
    let Some(flag) = args.ansible.flag() else { return Ok(()) };
    let mut refusals = UserErrors::default();
    let others = [
        ("--image", args.options.workload.image.is_some(), "an image and a role are kinds of their own"),
        ("--helm-chart", args.chart.chart.is_some(), "a chart and a role are kinds of their own"),
        ("--finalizer", args.options.finalizer, "add `.finalizer(…)` to the controller, with the role that cleans up"),
        ("--external-crd", args.external_crd.is_some(), "a role gets its own kind"),
        ("--external-type", args.external_type.is_some(), "a role gets its own kind"),
        ("--controller-name", args.controller_name.is_some(), "the controller is called after its kind"),
        ("--owns", !args.options.owns.is_empty(), "the controller watches what the tasks create"),
        ("--watches", !args.options.watches.is_empty(), "the controller watches what the tasks create"),
        ("--resource=false", args.resource == Some(false), "the parameters of a role are its spec"),
        ("--controller=false", args.controller == Some(false), "a kind without a controller runs nothing"),
    ];
    for (other, _, reason) in others.into_iter().filter(|(_, is_given, _)| *is_given) {
        refusals.push(
            UserError::new(format!("`{other}` does not fit `{flag}`: {reason}")).help(format!("leave out `{other}`")),
        );
    }
    refusals.settle()
}

/// Reads or creates the role or playbook, and derives the operator from it. Sets the options of the resource to the
/// role or playbook. `tree` is the tree of the project.
pub fn operator(
    args: &AnsibleArgs,
    resource: &mut Resource,
    file: &ProjectFile,
    project: &scaffold::Project,
    tree: &Tree,
    report: Report,
) -> anyhow::Result<Operator> {
    let mut refusals = UserErrors::default();
    let role = args.role.as_deref().and_then(|name| refusals.check(role_name(name, &resource.kind)));
    let playbook = args.playbook.as_deref().and_then(|path| refusals.check(playbook_path(path, &resource.kind)));
    refusals.settle()?;
    let source = match (&playbook, &role) {
        (Some(path), _) => Source::Playbook(path.clone()),
        (None, Some(name)) => Source::Role(name.clone()),
        (None, None) => unreachable!("one of the two options is given"),
    };
    let is_first = file.resources.iter().all(|it| source_of(it).is_none());
    let mut operator = Operator::known(&source, file.find(resource).unwrap_or(resource), is_first);
    let mut api = api_of_resource(resource);
    api.ansible = Some(scaffold::Ansible { role: role.clone(), ..operator.scaffold.clone() });
    let existing = texts(tree)?;
    let has = |path: &str| existing.keys().any(|known| known == path || known.starts_with(&format!("{path}/")));
    let mut new = Vec::new();
    if let Some(name) = role.filter(|name| !ansible::is_in_collection(name) && !has(&ansible::role_path(name))) {
        new.extend(scaffold::role(project, &api, &name));
    }
    if let Some(path) = playbook.filter(|path| !has(path)) {
        new.extend(scaffold::playbook(project, &api, &path));
    }
    operator.files = new.into_iter().map(|file| (file.path, file.text)).collect();
    let all = existing.into_iter().chain(operator.files.clone());
    let content = Content::new(sources(&source, &controller(tree, resource)?), all);
    resource.options.extend(&options(&source));
    let mut found = Vec::new();
    operator.derive(&content, resource, file, &mut found);
    if found.iter().any(Diagnostic::is_error) {
        return Err(SourceErrors::from(found).into());
    }
    report(Message::Diagnostics(&found));
    Ok(operator)
}

/// The inverse of [`source_of`].
fn options(source: &Source) -> Options {
    match source.clone() {
        Source::Role(name) => Options { ansible_role: Some(name), ..Options::default() },
        Source::Playbook(path) => Options { ansible_playbook: Some(path), ..Options::default() },
    }
}

/// A kind imported from a watch of operator-sdk.
pub struct Imported {
    /// The role or playbook of the watch, then the one of its finalizer.
    pub sources: Vec<Source>,
    pub watch: scaffold::Watch,
    pub existing: Existing,
    pub samples: Vec<(String, String)>,
    /// The keys of the spec are converted to snake case for Ansible.
    pub is_snake_case: bool,
}

/// The operator of a watch of operator-sdk, and the permissions that its tasks need. `files` contains all files.
pub fn import(
    imported: Imported,
    files: &Files,
    resource: &mut Resource,
    file: &ProjectFile,
    found: &mut Vec<Diagnostic>,
) -> (Operator, Rules) {
    let Imported { sources, watch, existing, samples, is_snake_case } = imported;
    let source = &sources[0];
    let is_first = file.resources.iter().all(|it| source_of(it).is_none());
    let known = Operator::known(source, resource, is_first);
    resource.options.extend(&Options { ansible_imported: true, ..options(source) });
    let mut operator = Operator {
        scaffold: scaffold::Ansible { watch: Some(watch), ..known.scaffold },
        samples,
        files: files.clone(),
        ..known
    };
    let content = Content::new(sources, files.clone());
    let (parameters, rules) = operator.derive(&content, resource, file, found);
    let parameters = if is_snake_case { parameters } else { ansible::as_variables(parameters) };
    // Users of an existing CRD know its fields. Without argument specs, other variables of the role are internal.
    let (existing, parameters) = match existing.spec {
        Some(crd) if !content.has_argument_specs() => {
            (Existing { spec: Some(described(crd, &parameters)), ..existing }, Object::default())
        }
        _ => (existing, parameters),
    };
    let sample = std::mem::take(&mut operator.scaffold.spec.sample);
    operator.scaffold.spec = existing::spec(&resource.kind, existing, parameters, sample, ansible::WORDS);
    (operator, rules)
}

impl Operator {
    /// The type of another version of an imported kind. The controller is that of this operator.
    #[must_use]
    pub fn version(&self, resource: &mut Resource, existing: Existing, samples: Vec<(String, String)>) -> Self {
        let source = self.source();
        resource.options.extend(&Options { ansible_imported: true, ..options(&source) });
        let (spec, samples) = existing::other_version(resource, existing, samples, ansible::WORDS);
        let mut version = Self { samples, ..Self::known(&source, resource, false) };
        version.scaffold.spec = spec;
        version
    }

    /// The role or playbook that runs for an object.
    pub fn source(&self) -> Source {
        match (&self.scaffold.playbook, &self.scaffold.role) {
            (Some(path), _) => Source::Playbook(path.clone()),
            (None, role) => Source::Role(role.clone().expect("there is one of the two")),
        }
    }

    /// Derives the type, the sample and the permissions.
    fn derive(
        &mut self,
        content: &Content,
        resource: &Resource,
        file: &ProjectFile,
        found: &mut Vec<Diagnostic>,
    ) -> (Object, Rules) {
        let schema = ansible::spec(content, found);
        for role in ansible::missing_roles(content) {
            let message = format!("there is no role `{role}` in `roles`");
            let help = "create it, or name a role of a collection in `requirements.yml` as `namespace.collection.role`";
            found.push(OP486.error(message).help(help));
        }
        let sample = spec::sample(&schema, &spec::required(&schema), ansible::WORDS);
        self.scaffold.spec = spec_of(&resource.kind, &schema, sample, ansible::WORDS);
        let permissions = ansible::permissions(content, &known_with(file, resource), found);
        self.permissions = text(&self.source(), &permissions.text);
        (schema, permissions.rules)
    }
}

/// The name of a role. If `name` is empty, the name of the kind.
fn role_name(name: &str, kind: &Kind) -> Result<String, UserError> {
    let name = if ["", "true"].contains(&name) { kind.module() } else { name.trim_end_matches('/').into() };
    let name = name.strip_prefix("roles/").map(str::to_owned).unwrap_or(name);
    let is_legal = |part: &str| {
        part.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
    };
    let parts: Vec<&str> = name.split('.').collect();
    match [1, 3].contains(&parts.len()) && parts.iter().all(|part| is_legal(part)) {
        true => Ok(name),
        false => Err(UserError::new(format!("invalid role `{name}`"))
            .help("use the name of a folder in `roles`, e.g. `memcached`, or of a role in a collection, e.g. `example.web.server`")),
    }
}

/// The path of a playbook in the project. If `path` is empty, the playbook has the name of the kind.
fn playbook_path(path: &str, kind: &Kind) -> Result<String, UserError> {
    if ["", "true"].contains(&path) {
        return Ok(format!("playbooks/{}.yml", kind.module()));
    }
    let path = path.trim_start_matches("./");
    let path = if path.contains('/') { path.to_owned() } else { format!("playbooks/{path}") };
    let is_legal = path.starts_with("playbooks/")
        && (path.ends_with(".yml") || path.ends_with(".yaml"))
        && path.split('/').all(|part| !part.is_empty() && part != "..")
        && path.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./".contains(letter));
    match is_legal {
        true => Ok(path),
        false => Err(UserError::new(format!("invalid playbook `{path}`"))
            .help("use a YAML file in the folder `playbooks` of the project, e.g. `playbooks/memcached.yml`")),
    }
}

/// The kinds that are known without a cluster: built-in kinds, those of the project, and the new one.
fn known_with(file: &ProjectFile, new: &Resource) -> Known {
    chart::known(file, &[(new.full_group(), new.kind.to_string(), new.plural().to_string())])
}

/// The texts of all roles and playbooks of a project, without binary files.
fn texts(tree: &Tree) -> Result<Files, ReadError> {
    let mut texts = Files::new();
    for path in [tree.files_below("roles")?, tree.files_below("playbooks")?].concat() {
        match tree.read(&path) {
            Ok(text) => texts.extend(text.map(|text| (path, text))),
            Err(error) if error.is_binary() && !path.ends_with(".yml") && !path.ends_with(".yaml") => {}
            Err(error) => return Err(error),
        }
    }
    Ok(texts)
}

/// The generated file: the markers that `opctl manifests` reads.
fn text(source: &Source, markers: &str) -> String {
    let what = match source {
        Source::Role(name) => format!("the role `{name}`"),
        Source::Playbook(path) => format!("`{path}`"),
    };
    let ours = emit::OURS.trim_start_matches('#').trim_end();
    format!(
        "//{ours} Run `opctl check --fix` after a change of what Ansible runs.\n//! The permissions that {what} needs.\n{markers}"
    )
}

/// A diagnostic for each permissions file that does not match its role or playbook.
pub fn stale(tree: &Tree, project: &ProjectFile) -> Vec<Stale> {
    let kinds = project.resources.iter().filter(|resource| resource.controller);
    let kinds = kinds.filter_map(|resource| Some((resource, source_of(resource)?)));
    let stale = kinds.flat_map(|(resource, source)| {
        stale_of(tree, project, resource, source)
            .unwrap_or_else(|error| vec![Stale { diagnostic: error.into(), fixed: None, notes: Vec::new() }])
    });
    stale.collect()
}

/// The roles and playbooks that a controller runs, including those of its finalizer: `.role("…")` and `.playbook("…")`
/// in its source.
fn sources(main: &Source, controller: &str) -> Vec<Source> {
    let mut sources = vec![main.clone()];
    for (method, source) in [("role(\"", Source::Role as fn(String) -> Source), ("playbook(\"", Source::Playbook)] {
        let names = controller.split(method).skip(1).filter_map(|rest| rest.split_once('"'));
        for named in names.map(|(name, _)| source(name.to_owned())) {
            if !sources.contains(&named) {
                sources.push(named);
            }
        }
    }
    sources
}

/// The source of a kind's controller.
fn controller(tree: &Tree, resource: &Resource) -> Result<String, ReadError> {
    let permissions = scaffold::generated_permissions(&api_of_resource(resource));
    let path = format!("{}.rs", permissions.trim_end_matches("/permissions.rs"));
    Ok(tree.read(&path)?.unwrap_or_default())
}

fn stale_of(tree: &Tree, project: &ProjectFile, resource: &Resource, source: Source) -> Result<Vec<Stale>, ReadError> {
    let path = scaffold::generated_permissions(&api_of_resource(resource));
    let old = tree.read(&path)?.unwrap_or_default();
    let what = source.path();
    let content = Content::new(sources(&source, &controller(tree, resource)?), texts(tree)?);
    let mut found = Vec::new();
    for missing in content.missing() {
        let message = format!("`{}` does not exist, and the controller of `{}` runs it", missing.path(), resource.kind);
        found.push(OP486.error(message).help("restore it from version control"));
    }
    let new = text(&source, &ansible::permissions(&content, &chart::known(project, &[]), &mut found).text);
    let errors: Vec<Diagnostic> = found.iter().filter(|diagnostic| diagnostic.is_error()).cloned().collect();
    if new == old || !errors.is_empty() {
        return Ok(errors.into_iter().map(|diagnostic| Stale { diagnostic, fixed: None, notes: Vec::new() }).collect());
    }
    let at = Span { file: SourceFile::new(&path, &old), range: 0..old.lines().next().map_or(0, str::len) };
    let message = format!("the permissions are not those that `{what}` needs");
    let diagnostic = OP485.error(message).at(at, "").help("run `opctl check --fix`");
    Ok(vec![Stale { diagnostic, fixed: Some((path, new)), notes: found }])
}
