//! The PROJECT file: a record of the scaffold, in kubebuilder's format, version "3".
//!
//! Text comes in, a [`ProjectFile`] or diagnostics go out. `opctl init` writes the file once; afterwards only single
//! entries are edited, so comments and unknown fields survive.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::builtin::Builtin;
use super::{Controller, CrdPath, Options, ReadError, Tree};
use crate::diagnostic::{Diagnostic, SourceFile, Span};
use crate::diagnostics::{OP201, OP202, OP203, OP204, OP205, OP206};
use crate::names::{ControllerName, Domain, Group, Kind, NameError, Namespace, Plural, ProjectName, Version, nearest};
use crate::yaml;

/// The parts of a PROJECT file that opctl uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// A crate that opctl did not scaffold: it has a main function, and its types and controllers are in any file.
    pub adopted: bool,
    /// `opctl init --plugins=helm`: a new kind runs helm's starter chart, unless its arguments say otherwise.
    pub is_for_charts: bool,
    pub name: ProjectName,
    pub domain: Domain,
    /// The operator watches, and has permissions in, namespaces instead of the cluster.
    pub namespaced: bool,
    /// These namespaces, sorted; empty for the operator's namespace.
    pub namespaces: Vec<Namespace>,
    pub descriptions: Descriptions,
    /// The files and folders of the CRDs, in the order of PROJECT.
    pub crds: Vec<CrdPath>,
    pub resources: Vec<Resource>,
}

/// Limits for the descriptions in CRDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptions {
    /// Maximum length in characters; 0 removes descriptions, `None` keeps them whole.
    pub max: Option<usize>,
    /// Keep descriptions of Kubernetes' types, too.
    pub foreign: bool,
}

impl Default for Descriptions {
    fn default() -> Self {
        Self { max: None, foreign: true }
    }
}

/// One entry of `resources`: one version of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub group: Group,
    pub version: Version,
    pub kind: Kind,
    /// The domain of the group; `None` for Kubernetes' built-in types.
    pub domain: Option<Domain>,
    /// `None`: the regular plural.
    pub plural: Option<Plural>,
    /// The Rust module of the type. For an external or adopted type, the path of the type, which may differ from the
    /// kind; empty for a type that a macro makes.
    pub path: String,
    /// `None`: the project does not define the type.
    pub api: Option<Api>,
    /// The kind has a controller named after it.
    pub controller: bool,
    /// Further controllers, in order of creation.
    pub controllers: Vec<Controller>,
    pub options: Options,
    pub webhooks: Webhooks,
    pub origin: Origin,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Webhooks {
    pub defaulting: bool,
    /// `None`: the default path.
    pub defaulting_path: Option<String>,
    pub validation: bool,
    /// `None`: the default path.
    pub validation_path: Option<String>,
    /// The versions that convert to this one, the hub; empty if it is not a hub.
    pub spokes: Vec<Version>,
}

/// The location of a resource's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Own,
    /// In k8s-openapi.
    Kubernetes,
    /// In another crate, or in this one for an external CRD.
    External {
        namespaced: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    pub namespaced: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("no PROJECT file in `{start}` or above", start = .0.display())]
    Missing(PathBuf),
    #[error("{0}")]
    Read(#[from] ReadError),
    #[error("the PROJECT file has errors")]
    Bad(Vec<Diagnostic>),
}

/// The name of the file in the root of a project.
pub const PROJECT: &str = "PROJECT";

/// The option with the options of named controllers.
const CONTROLLERS: &str = "controllers";

/// The plugin key that distinguishes opctl's projects from kubebuilder's.
const LAYOUT: &str = "opctl/v1";
/// Beside it, for operators of charts.
const CHARTS: &str = "helm";

const HEAD: &str = "\
# Scaffold of this project, in kubebuilder's PROJECT format. opctl adds entries and keeps everything else as it is,
# so you may edit it; the Rust source decides what the manifests say.
";

const HEAD_OF_ADOPTED: &str = "\
# Kinds of this crate, in kubebuilder's PROJECT format. opctl adds entries and keeps everything else as it is,
# so you may edit it; the Rust source decides what the manifests say.
";

/// The folder of the project around `start`: `start` or the nearest folder above it with a PROJECT file.
pub fn root_above(start: &Path) -> Result<PathBuf, ProjectError> {
    let root = start.ancestors().find(|folder| has_project(folder));
    root.map(Path::to_owned).ok_or_else(|| ProjectError::Missing(start.to_owned()))
}

/// `true` if the folder has an entry called PROJECT, readable or not.
pub fn has_project(folder: &Path) -> bool {
    folder.join(PROJECT).symlink_metadata().is_ok()
}

impl ProjectFile {
    /// Reads PROJECT from the root of the tree.
    pub fn read(tree: &Tree) -> Result<Self, ProjectError> {
        let text = tree.read(PROJECT)?.ok_or_else(|| ProjectError::Missing(tree.root().to_owned()))?;
        Self::parse(&text).map_err(ProjectError::Bad)
    }

    pub fn parse(text: &str) -> Result<Self, Vec<Diagnostic>> {
        let file = SourceFile::new(PROJECT, text);
        let raw: Raw = yaml::read(text).map_err(|error| vec![not_yaml(&file, error)])?;
        check_format(&file, &raw).map_err(|diagnostic| vec![*diagnostic])?;
        Reader { file, diagnostics: Vec::new() }.read(raw)
    }

    /// A project without kinds, which watches all namespaces.
    pub fn new(name: ProjectName, domain: Domain) -> Self {
        Self {
            adopted: false,
            is_for_charts: false,
            name,
            domain,
            namespaced: false,
            namespaces: Vec::new(),
            descriptions: Descriptions::default(),
            crds: CrdPath::default_list(),
            resources: Vec::new(),
        }
    }

    /// The text of the file of a new project.
    pub fn text(name: &ProjectName, domain: &Domain, namespaced: bool, namespaces: &[Namespace]) -> String {
        let mut manifests = String::new();
        if !namespaces.is_empty() {
            let items: String = namespaces.iter().map(|namespace| format!("  - {}\n", scalar(namespace))).collect();
            manifests = format!("manifests:\n  namespaces:\n{items}");
        }
        let namespaced = if namespaced { "namespaced: true\n" } else { "" };
        let (name, domain) = (scalar(name), scalar(domain));
        format!(
            "{HEAD}domain: {domain}\nlayout:\n- {LAYOUT}\n{manifests}{namespaced}projectName: {name}\nresources: []\nversion: \"3\"\n"
        )
    }

    /// The text of a new project's file, after which kinds run charts.
    pub fn text_for_charts(text: &str) -> String {
        text.replacen(&format!("- {LAYOUT}\n"), &format!("- {LAYOUT}\n- {CHARTS}\n"), 1)
    }

    /// The text of the file of an adopted crate. Its kinds are added as entries.
    pub fn text_of_adopted(name: &ProjectName, domain: &Domain, crds: &[CrdPath]) -> String {
        let mut manifests = String::new();
        if crds != CrdPath::default_list() {
            let items: String = crds.iter().map(|path| format!("  - {}\n", scalar(path))).collect();
            manifests = format!("manifests:\n  crds:\n{items}");
        }
        let (name, domain) = (scalar(name), scalar(domain));
        format!(
            "{HEAD_OF_ADOPTED}adopted: true\ndomain: {domain}\nlayout:\n- {LAYOUT}\n{manifests}projectName: {name}\nresources: []\nversion: \"3\"\n"
        )
    }

    /// The entry of the same version and kind. For an adopted kind, the group may also be the full name.
    pub fn find(&self, id: &Resource) -> Option<&Resource> {
        let is_same = |resource: &&Resource| {
            let is_named = || (&resource.version, &resource.kind) == (&id.version, &id.kind);
            resource.is_same(id) || resource.is_adopted() && is_named() && resource.full_group() == id.group.as_str()
        };
        self.resources.iter().find(is_same)
    }
}

/// Names such as `n`, `on` and `1` must be quoted, because YAML reads them as other types.
fn scalar(name: impl fmt::Display) -> String {
    yaml::scalar(&name.to_string().into())
}

impl Resource {
    /// `true` for the same version of the same kind.
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_same_kind(other) && self.version == other.version
    }

    pub fn is_same_kind(&self, other: &Self) -> bool {
        (&self.group, &self.domain, &self.kind, self.origin == Origin::Kubernetes)
            == (&other.group, &other.domain, &other.kind, other.origin == Origin::Kubernetes)
    }

    /// Copies the controllers, webhooks and options of the existing entry.
    pub fn with_controllers_of(self, known: Option<&Self>) -> Self {
        match known.cloned() {
            Some(Self { controller, controllers, options, webhooks, .. }) => {
                Self { controller, controllers, options, webhooks, ..self }
            }
            None => self,
        }
    }

    /// The full group name: `cache.example.com`.
    pub fn full_group(&self) -> String {
        match &self.domain {
            Some(domain) => format!("{}.{domain}", self.group),
            None => self.group.to_string(),
        }
    }

    /// The module of the group below `src/controller`. For external groups, it contains the full name.
    pub fn group_module(&self) -> String {
        match self.origin {
            Origin::External { .. } => {
                Group::parse(&self.full_group()).map_or_else(|_| self.group.module(), |group| group.module())
            }
            Origin::Own | Origin::Kubernetes => self.group.module(),
        }
    }

    pub fn plural(&self) -> Plural {
        self.plural.clone().unwrap_or_else(|| self.kind.plural())
    }

    /// `true` for a type of the project that opctl did not scaffold: `path` is that of the type, such as
    /// `crate::crd::Memcached`, or empty.
    pub fn is_adopted(&self) -> bool {
        let name = self.path.rsplit("::").next().unwrap_or_default();
        self.origin == Origin::Own && (name.is_empty() || name.starts_with(|c: char| c.is_ascii_uppercase()))
    }

    /// `true` for an adopted type that a macro makes. The source does not show its path.
    pub fn is_of_macro(&self) -> bool {
        self.origin == Origin::Own && self.path.is_empty()
    }

    pub fn type_path(&self) -> String {
        match self.origin {
            Origin::Own if self.is_adopted() => self.path.clone(),
            Origin::Own => format!("{}::{}::{}", self.path, self.kind.module(), self.kind.type_name()),
            Origin::Kubernetes => format!("{}::{}", self.path, self.kind),
            Origin::External { .. } => self.path.clone(),
        }
    }

    /// `true` if the objects are namespaced.
    pub fn is_namespaced(&self) -> bool {
        match self.origin {
            Origin::Own => self.api.is_none_or(|api| api.namespaced),
            Origin::Kubernetes => Builtin::find(self.group.as_str(), self.version.as_str(), self.kind.as_str())
                .is_none_or(|builtin| builtin.namespaced),
            Origin::External { namespaced } => namespaced,
        }
    }

    /// `true` if `--image` created the type, so objects have fields for their workload.
    pub fn has_image(&self) -> bool {
        self.options.workload.image.is_some()
    }

    pub fn named(&self, name: &ControllerName) -> Option<&Controller> {
        self.controllers.iter().find(|controller| controller.name == *name)
    }

    /// The modules of the controllers, below that of the group.
    pub fn controller_modules(&self) -> Vec<String> {
        let first = self.controller.then(|| self.kind.module());
        first.into_iter().chain(self.controllers.iter().map(|controller| controller.name.module())).collect()
    }

    /// The keys that identify an entry.
    pub fn identity() -> Vec<String> {
        ["group", "domain", "kind", "version"].map(str::to_owned).into()
    }

    /// The entry, with keys in kubebuilder's order.
    pub fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| _ = fields.insert(key.to_owned(), value);
        match self.api {
            Some(Api { namespaced: true }) => put("api", json!({"crdVersion": "v1", "namespaced": true})),
            Some(Api { namespaced: false }) => put("api", json!({"crdVersion": "v1"})),
            None => {}
        }
        if self.controller {
            put("controller", json!(true));
        }
        if !self.controllers.is_empty() {
            let named = self.controllers.iter().map(|controller| json!({"name": controller.name}));
            put("controllers", named.collect());
        }
        if self.origin == Origin::Kubernetes {
            put("core", json!(true));
        }
        if let Some(domain) = &self.domain {
            put("domain", json!(domain));
        }
        if let Origin::External { .. } = self.origin {
            put("external", json!(true));
        }
        put("group", json!(self.group));
        put("kind", json!(self.kind));
        if let Origin::External { namespaced } = self.origin {
            put("namespaced", json!(namespaced));
        }
        let options = self.option_fields();
        if !options.is_empty() {
            put("options", options.into());
        }
        if !self.path.is_empty() {
            put("path", json!(self.path));
        }
        if let Some(plural) = &self.plural {
            put("plural", json!(plural));
        }
        put("version", json!(self.version));
        let webhooks = self.webhooks.fields();
        if !webhooks.is_empty() {
            put("webhooks", webhooks.into());
        }
        fields
    }

    /// The `options` of the entry, including those of named controllers.
    fn option_fields(&self) -> Map<String, Value> {
        let mut options = self.options.fields();
        for Controller { name, options: own } in &self.controllers {
            let own = own.fields();
            if !own.is_empty() {
                let named = options.entry(CONTROLLERS).or_insert_with(|| Map::new().into());
                named[name.as_str()] = own.into();
            }
        }
        options
    }
}

impl Webhooks {
    /// The fields by kubebuilder's names; empty without webhooks.
    fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        for (name, exists, path) in [
            ("defaulting", self.defaulting, &self.defaulting_path),
            ("validation", self.validation, &self.validation_path),
        ] {
            if exists {
                fields.insert(name.into(), true.into());
            }
            if let Some(path) = path {
                fields.insert(format!("{name}Path"), json!(path));
            }
        }
        if !self.spokes.is_empty() {
            fields.insert("conversion".into(), true.into());
            fields.insert("spoke".into(), json!(self.spokes));
        }
        if !fields.is_empty() {
            fields.insert("webhookVersion".into(), "v1".into());
        }
        fields
    }
}

/// The file as written. Every field is optional, so that missing ones are reported in opctl's messages.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    #[serde(default)]
    adopted: bool,
    domain: Option<String>,
    layout: Option<OneOrMany>,
    manifests: Option<Value>,
    #[serde(default)]
    namespaced: bool,
    project_name: Option<String>,
    resources: Option<Vec<RawResource>>,
    version: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn keys(&self) -> &[String] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Many(keys) => keys,
        }
    }
}

#[derive(Deserialize)]
struct RawResource {
    api: Option<RawApi>,
    #[serde(default)]
    controller: bool,
    #[serde(default)]
    controllers: Vec<RawController>,
    #[serde(default)]
    core: bool,
    domain: Option<String>,
    #[serde(default)]
    external: bool,
    group: Option<String>,
    kind: Option<String>,
    namespaced: Option<bool>,
    options: Option<RawOptions>,
    path: Option<String>,
    plural: Option<String>,
    version: Option<String>,
    #[serde(default)]
    webhooks: RawWebhooks,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawWebhooks {
    defaulting: bool,
    defaulting_path: Option<String>,
    spoke: Vec<String>,
    validation: bool,
    validation_path: Option<String>,
}

#[derive(Default, Deserialize)]
struct RawOptions {
    #[serde(default)]
    controllers: Map<String, Value>,
    #[serde(flatten)]
    own: Map<String, Value>,
}

#[derive(Deserialize)]
struct RawController {
    name: Option<String>,
}

#[derive(Deserialize)]
struct RawApi {
    #[serde(default)]
    namespaced: bool,
}

/// Parses paths and removes duplicates.
fn crd_paths(value: &Value) -> Result<Vec<CrdPath>, String> {
    let items = match value {
        Value::Array(items) => &items[..],
        one => std::slice::from_ref(one),
    };
    let mut paths = Vec::new();
    for item in items {
        let path = CrdPath::parse(item.as_str().ok_or("write e.g. `[charts/operator/crds]`")?)?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// Parses namespaces, sorts them and removes duplicates.
fn listed(value: &Value) -> Result<Vec<Namespace>, String> {
    let items = value.as_array().ok_or("write e.g. `[team-a, team-b]`")?;
    let text = |item: &Value| item.as_str().map(str::to_owned).ok_or("one of them is not a string");
    let mut names = Vec::new();
    for item in items {
        names.push(Namespace::parse(&text(item)?).map_err(|error| error.to_string())?);
    }
    names.sort();
    names.dedup();
    Ok(names)
}

fn not_yaml(file: &Arc<SourceFile>, yaml::Error { reason, offset: at, .. }: yaml::Error) -> Diagnostic {
    let end = file.text[at..].find('\n').map_or(file.text.len(), |length| at + length);
    OP201
        .error("the PROJECT file cannot be read")
        .at(Span { file: file.clone(), range: at..end }, reason)
        .help("fix the YAML, or restore the file from version control")
}

fn check_format(file: &Arc<SourceFile>, raw: &Raw) -> Result<(), Box<Diagnostic>> {
    let layout = raw.layout.as_ref().map_or(&[][..], OneOrMany::keys);
    let foreign = layout.iter().find(|key| ["go.", "helm.", "ansible."].iter().any(|kind| key.starts_with(kind)));
    if let Some(key) = foreign {
        return Err(Box::new(
            OP203
                .error("this is a project of kubebuilder or operator-sdk, not of opctl")
                .at(find(file, key), "its layout")
                .help("start a Rust project in another folder: `opctl init DIR --domain DOMAIN`"),
        ));
    }
    let version = match &raw.version {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => String::new(),
        None => {
            return Err(Box::new(
                OP202.error("the PROJECT file has no `version`").help("add the line `version: \"3\"`"),
            ));
        }
    };
    let newer_layout = layout.iter().find(|key| key.starts_with("opctl/") && *key != LAYOUT);
    let newer = |key: &str| {
        OP202.error("the PROJECT file was written by a newer opctl").at(find(file, key), "").help("update opctl")
    };
    match (version.as_str(), newer_layout) {
        ("3", None) => Ok(()),
        ("3", Some(key)) => Err(Box::new(newer(key))),
        ("1" | "2", _) => Err(Box::new(
            OP202
                .error(format!("the PROJECT file has version {version}, of a kubebuilder before 3"))
                .at(find(file, "version:"), "opctl reads version \"3\"")
                .help("start a Rust project in another folder: `opctl init DIR --domain DOMAIN`"),
        )),
        _ => Err(Box::new(newer("version:"))),
    }
}

/// The position of the first occurrence of the text.
fn find(file: &Arc<SourceFile>, text: &str) -> Span {
    let start = file.text.find(text).unwrap_or(0);
    Span { file: file.clone(), range: start..(start + text.len()).min(file.text.len()) }
}

struct Reader {
    file: Arc<SourceFile>,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn read(mut self, raw: Raw) -> Result<ProjectFile, Vec<Diagnostic>> {
        let is_for_charts = raw.layout.as_ref().is_some_and(|layout| layout.keys().iter().any(|key| key == CHARTS));
        let name = self.need("projectName", raw.project_name, ProjectName::parse);
        let domain = self.need("domain", raw.domain, Domain::parse);
        let resources: Vec<_> =
            raw.resources.into_iter().flatten().map(|resource| self.resource(resource, domain.as_ref())).collect();
        let mut descriptions = Descriptions::default();
        let mut namespaces = Vec::new();
        let mut crds = CrdPath::default_list();
        if let Some(manifests) = &raw.manifests {
            self.manifests(manifests, &mut descriptions, &mut namespaces, &mut crds);
        }
        let namespaced = raw.namespaced || !namespaces.is_empty();
        match (name, domain, resources.into_iter().collect()) {
            (Some(name), Some(domain), Some(resources)) if self.diagnostics.is_empty() => {
                let adopted = raw.adopted;
                Ok(ProjectFile {
                    adopted,
                    is_for_charts,
                    name,
                    domain,
                    namespaced,
                    namespaces,
                    descriptions,
                    crds,
                    resources,
                })
            }
            _ => Err(self.diagnostics),
        }
    }

    /// Reads the mapping `manifests`. A wrong value is an error, because the manifests would silently differ.
    fn manifests(
        &mut self,
        manifests: &Value,
        descriptions: &mut Descriptions,
        namespaces: &mut Vec<Namespace>,
        crds: &mut Vec<CrdPath>,
    ) {
        let Some(settings) = manifests.as_object() else {
            let place = find(&self.file, "manifests:");
            let help = "write `manifests: {maxDescription: 200}`, or remove it";
            self.diagnostics
                .push(OP205.error("`manifests` in the PROJECT file is not a mapping").at(place, "").help(help));
            return;
        };
        for (key, value) in settings {
            let place = find(&self.file, &format!("{key}:"));
            let problem = match key.as_str() {
                "maxDescription" => match value.as_u64().and_then(|max| max.try_into().ok()) {
                    Some(max) => {
                        descriptions.max = Some(max);
                        continue;
                    }
                    None => OP206.error("`maxDescription` takes a number of characters, e.g. 200"),
                },
                "foreignDescriptions" => match value.as_bool() {
                    Some(foreign) => {
                        descriptions.foreign = foreign;
                        continue;
                    }
                    None => OP206.error("`foreignDescriptions` takes `true` or `false`"),
                },
                "namespaces" => match listed(value) {
                    Ok(names) => {
                        *namespaces = names;
                        continue;
                    }
                    Err(problem) => OP206.error(format!("`namespaces` takes a list of namespaces: {problem}")),
                },
                "crds" => match crd_paths(value) {
                    Ok(paths) => {
                        *crds = paths;
                        continue;
                    }
                    Err(problem) => OP206.error(format!("`crds` takes a list of files and folders: {problem}")),
                },
                _ => {
                    let known = ["crds", "foreignDescriptions", "maxDescription", "namespaces"];
                    let help = match nearest(key, known) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("it takes {}", known.map(|key| format!("`{key}`")).join(", ")),
                    };
                    OP205.error(format!("`manifests` in the PROJECT file takes no `{key}`")).help(help)
                }
            };
            self.diagnostics.push(problem.at(place, ""));
        }
    }

    fn resource(&mut self, raw: RawResource, project_domain: Option<&Domain>) -> Option<Resource> {
        let origin = match (raw.core, raw.external) {
            (true, _) => Origin::Kubernetes,
            (false, true) => Origin::External { namespaced: raw.namespaced.unwrap_or(true) },
            (false, false) => Origin::Own,
        };
        let group = self.need("group", raw.group, Group::parse);
        let version = self.need("version", raw.version, Version::parse);
        let kind = self.need("kind", raw.kind, Kind::parse);
        let plural = raw.plural.map(|text| self.need("plural", Some(text), Plural::parse));
        let domain = raw.domain.map(|text| self.need("domain", Some(text), Domain::parse));
        let RawOptions { controllers: mut named, own: mut options } = raw.options.unwrap_or_default();
        let mut controllers = Vec::new();
        for each in raw.controllers {
            let name = self.need("name", each.name, ControllerName::parse);
            let options = name.as_ref().and_then(|name| named.remove(name.as_str()));
            let options = options.map(|options| self.options(options)).unwrap_or_default();
            controllers.push(name.map(|name| Controller { name, options }));
        }
        if !named.is_empty() {
            // Options of removed controllers are kept.
            options.insert(CONTROLLERS.into(), named.into());
        }
        let spokes = raw.webhooks.spoke.into_iter();
        let spokes: Vec<_> = spokes.map(|each| self.need("spoke", Some(each), Version::parse)).collect();
        let domain = match (domain, origin) {
            (Some(domain), _) => Some(domain?),
            (None, Origin::Own) => project_domain.cloned(),
            (None, Origin::Kubernetes | Origin::External { .. }) => None,
        };
        let plural = match plural {
            Some(plural) => Some(plural?),
            None => None,
        };
        Some(Resource {
            group: group?,
            version: version?,
            kind: kind?,
            domain,
            plural,
            path: raw.path.unwrap_or_default(),
            api: raw.api.map(|api| Api { namespaced: api.namespaced }),
            controller: raw.controller,
            controllers: controllers.into_iter().collect::<Option<_>>()?,
            options: self.options(options.into()),
            webhooks: Webhooks {
                defaulting: raw.webhooks.defaulting,
                defaulting_path: raw.webhooks.defaulting_path,
                validation: raw.webhooks.validation,
                validation_path: raw.webhooks.validation_path,
                spokes: spokes.into_iter().collect::<Option<_>>()?,
            },
            origin,
        })
    }

    /// Reads the options of a resource or controller. A value of the wrong type is an error, because the scaffold would
    /// silently differ.
    fn options<T: Default + DeserializeOwned>(&mut self, options: Value) -> T {
        let wrong = match serde_json::from_value(options.clone()) {
            Ok(options) => return options,
            Err(error) => error,
        };
        let mut report = |key: &str, error: serde_json::Error| {
            let place = find(&self.file, &format!("{key}:"));
            let message = format!("invalid `{key}` in the options of a resource");
            self.diagnostics.push(OP206.error(message).at(place, error.to_string()));
        };
        let Value::Object(options) = options else {
            report(CONTROLLERS, wrong);
            return T::default();
        };
        for (key, value) in options {
            let alone = Map::from_iter([(key.clone(), value)]);
            if let Err(error) = serde_json::from_value::<T>(alone.into()) {
                report(&key, error);
            }
        }
        T::default()
    }

    fn need<T>(&mut self, key: &str, text: Option<String>, parse: impl Fn(&str) -> Result<T, NameError>) -> Option<T> {
        let Some(text) = text else {
            self.diagnostics.push(
                OP204
                    .error(format!("the PROJECT file has no `{key}` where one is needed"))
                    .help("add it, or take the file back from version control"),
            );
            return None;
        };
        match parse(&text) {
            Ok(name) => Some(name),
            Err(error) => {
                let place = find(&self.file, &format!("{key}: {text}"));
                self.diagnostics.push(
                    OP204.error(format!("invalid {} in the PROJECT file", error.what)).at(place, "").help(error.rule),
                );
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<&'static str> {
        ProjectFile::parse(text).unwrap_err().iter().map(|diagnostic| diagnostic.code.name).collect()
    }

    #[test]
    fn names_that_yaml_reads_as_other_types_stay_names() {
        for name in ["n", "y", "on", "no", "null"] {
            let text = ProjectFile::text(
                &ProjectName::parse(name).unwrap(),
                &Domain::parse("a.b").unwrap(),
                true,
                &[Namespace::parse(name).unwrap(), Namespace::parse("1e3").unwrap()],
            );
            let read: Value = yaml::read(&text).unwrap();
            assert_eq!((&read["projectName"], &read["manifests"]["namespaces"]), (&json!(name), &json!([name, "1e3"])));
            assert_eq!(ProjectFile::parse(&text).unwrap().name.to_string(), name);
        }
    }

    #[test]
    fn reads_what_it_writes() {
        let name = ProjectName::parse("shop").unwrap();
        let domain = Domain::parse("example.com").unwrap();
        for namespaces in [vec![], vec!["1", "on", "team-a"]] {
            let namespaces: Vec<_> = namespaces.into_iter().map(|name| Namespace::parse(name).unwrap()).collect();
            let text = ProjectFile::text(&name, &domain, true, &namespaces);
            let file = ProjectFile::parse(&text).unwrap();
            assert_eq!((file.name, file.domain, file.namespaced), (name.clone(), domain.clone(), true));
            assert_eq!((file.namespaces, file.descriptions), (namespaces, Descriptions::default()));
        }
    }

    #[test]
    fn reads_entries_of_kubebuilder() {
        let file = ProjectFile::parse(
            "domain: a.b\nprojectName: p\nversion: '3'\nplugins: {x: {}}\nresources:\n\
             - {api: {crdVersion: v1, namespaced: true}, controllers: [{name: x}], domain: a.b, group: crew, kind: Captain, version: v1, plural: admirales}\n\
             - {core: true, group: core, kind: Pod, path: k8s.io/api/core/v1, version: v1, webhooks: {defaulting: true}}\n",
        )
        .unwrap();
        assert_eq!(file.resources[0].controller_modules(), ["x"]);
        assert!(file.resources[0].api.is_some());
        assert_eq!(file.resources[1].origin, Origin::Kubernetes);
        assert_eq!(file.resources[1].domain, None);
    }

    #[test]
    fn tells_what_is_wrong_with_it() {
        assert_eq!(codes("a: [1\n"), ["OP201"]);
        assert_eq!(codes("- 1\n"), ["OP201"]);
        assert_eq!(codes("domain: a.b\n"), ["OP202"]);
        assert_eq!(codes("version: '4'\n"), ["OP202"]);
        assert_eq!(codes("layout: opctl/v2\nversion: '3'\n"), ["OP202"]);
        assert_eq!(codes("layout: [go.kubebuilder.io/v4]\nversion: '3'\n"), ["OP203"]);
        assert_eq!(codes("version: '3'\ndomain: A\n"), ["OP204", "OP204"]);
        assert_eq!(codes(""), ["OP202"]);
    }

    fn with_options(options: &str) -> String {
        format!(
            "domain: a.b\nprojectName: p\nversion: '3'\nresources:\n\
             - {{controllers: [{{name: x}}, {{name: y}}], group: crew, kind: Captain, version: v1, options: {options}}}\n"
        )
    }

    #[test]
    fn keeps_options_as_they_are() {
        for options in [
            json!({"containerPort": 80, "controllers": {"gone": {"owns": ["a/v1/A"]}, "x": {"image": true, "new": 1}}, "image": "a"}),
            json!({"copied": ["a.rs"], "from": "v1alpha1", "new": {"er": [null, false]}, "served": false, "shortNames": ["c"]}),
        ] {
            let file = ProjectFile::parse(&with_options(&options.to_string())).unwrap();
            assert_eq!(file.resources[0].fields()["options"], options);
        }
        assert!(!ProjectFile::parse(&with_options("null")).unwrap().resources[0].fields().contains_key("options"));
    }

    #[test]
    fn reports_options_of_the_wrong_type() {
        assert_eq!(codes(&with_options("{image: 1, containerPort: 70000, owns: x, new: 1}")), ["OP206"; 3]);
        assert_eq!(
            codes(&with_options("{from: newest, controllers: {x: {finalizer: 1}, y: 1, gone: 1}}")),
            ["OP206"; 3]
        );
        assert_eq!(codes(&with_options("[]")), ["OP201"]);
    }

    #[test]
    fn reads_where_crds_are() {
        let read = |manifests: &str| {
            let text = format!("domain: a.b\nprojectName: p\nversion: '3'\nmanifests: {manifests}\n");
            ProjectFile::parse(&text).unwrap().crds.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(read("{}"), [CrdPath::BASES]);
        assert_eq!(read("{crds: yaml/crd.yaml}"), ["yaml/crd.yaml"]);
        assert_eq!(
            read("{crds: [config/crd/bases, ./charts/x/crds/, charts/x/crds]}"),
            [CrdPath::BASES, "charts/x/crds"]
        );
        assert!(read("{crds: []}").is_empty());
    }

    #[test]
    fn reads_how_much_crds_describe() {
        let project = |manifests: &str| format!("domain: a.b\nprojectName: p\nversion: '3'\nmanifests: {manifests}\n");
        let read = |manifests: &str| ProjectFile::parse(&project(manifests)).unwrap().descriptions;
        assert_eq!(read(""), Descriptions::default());
        assert_eq!(read("{maxDescription: 200}"), Descriptions { max: Some(200), foreign: true });
        assert_eq!(read("{foreignDescriptions: false}"), Descriptions { max: None, foreign: false });
        assert_eq!(codes(&project("[]")), ["OP205"]);
        for wrong in ["1", "[a, 1]", "/a", "[..]"] {
            assert_eq!(codes(&project(&format!("{{crds: {wrong}}}"))), ["OP206"], "{wrong}");
        }
        assert_eq!(codes(&project("{namespaces: a}")), ["OP206"]);
        assert_eq!(codes(&project("{namespaces: [A]}")), ["OP206"]);
        assert_eq!(codes(&project("{maxDescriptions: 2, engine: cargo}")), ["OP205", "OP205"]);
        assert_eq!(codes(&project("{maxDescription: -1, foreignDescriptions: 'no'}")), ["OP206", "OP206"]);
    }
}
