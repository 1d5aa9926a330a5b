//! Renders the templates of projects: settings become typed contexts, and Tera renders these to text. The only module
//! that uses Tera.
//!
//! `templates/` contains a folder per bundle, with the same tree as in the generated project; all files end in `.tera`,
//! and `parts` contains text that several of them include. The bundle of a kind changes files that may already exist:
//! the insertions are returned as data, and converted to edits.
//!
//! There is always one folder per group, so projects with one and with several groups have the same layout, and the
//! same kind in two groups is not a special case. One controller serves all versions of a kind. Code that is the same
//! in every project is in `opctl-runtime`, not in a template.

mod bundle;
mod layout;
mod license;
mod project;
pub mod revisions;
mod runtime;
pub mod webhook;
mod wiring;

use serde::Serialize;

use wiring::WiringContext;

use opctl_model::names::{Domain, Group, Image, Kind, Namespace, Plural, ProjectName, Version};
use opctl_model::versions::latest;

pub use license::{License, license, spdx};
pub use project::{BOILERPLATE, api_of_resource};
pub use runtime::{Features, Runtime, RuntimeCopy, RuntimeSource};
pub use wiring::{Related, Wiring};

/// A file of the generated project: its path from the project root, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub text: String,
}

/// The files and insertions of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// New files, which must not exist.
    pub files: Vec<File>,
    /// In the order in which they must be made.
    pub insertions: Vec<Insertion>,
}

/// A narrow change of a file that may already exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    pub path: String,
    /// The initial text of the file if it is missing; `None` if `init` creates it.
    pub base: Option<String>,
    pub what: Inserted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// `pub mod NAME;`
    Module(String),
    /// An element of the `vec![…]` at the end of a function.
    ListItem { function: &'static str, item: String },
    /// A string in the YAML sequence under a top-level key.
    YamlItem { key: &'static str, item: String },
    /// A feature of a dependency.
    Feature { dependency: &'static str, feature: &'static str },
    /// An argument of the `#[kube(…)]` that declares a version of a kind.
    KubeArgument { kind: Kind, version: Version, argument: &'static str },
    /// Removes such an argument.
    NoKubeArgument { kind: Kind, version: Version, argument: &'static str },
}

/// The settings of the whole project.
#[derive(Clone, Debug)]
pub struct Project {
    pub name: ProjectName,
    pub domain: Domain,
    /// Watches one namespace with a Role, instead of the cluster with a ClusterRole.
    pub namespaced: bool,
    /// The watched namespaces. If empty, the operator's own namespace.
    pub namespaces: Vec<Namespace>,
    /// The comment at the start of every generated source file, without comment signs; may be empty. It is stored in
    /// `hack/boilerplate.txt`, where later commands read it.
    pub header: String,
    /// The SPDX expression for Cargo.toml, if it is known.
    pub spdx: Option<&'static str>,
    /// The path from the project's root to the root of its workspace, e.g. `../..`; `None` if it is not a member of
    /// one.
    pub workspace: Option<String>,
    /// The dependency on `opctl-runtime` in Cargo.toml.
    pub runtime: RuntimeSource,
    /// The binary of an adopted crate; `None` for a project that opctl scaffolded.
    pub adopted: Option<String>,
    /// The project installs Helm charts.
    pub charts: bool,
    /// The project runs Ansible.
    pub ansible: bool,
}

/// One version of a kind.
#[derive(Clone, Debug)]
pub struct Api {
    pub group: Group,
    pub version: Version,
    pub kind: Kind,
    /// `None` for the plural that kube derives from the kind.
    pub plural: Option<Plural>,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub namespaced: bool,
    /// Set for a type of Kubernetes, of another project, or of the adopted crate.
    pub core: Option<CoreType>,
    pub wiring: Wiring,
    /// The container that the controller runs for each object.
    pub workload: Option<Workload>,
    /// The Helm chart that the controller installs for each object.
    pub chart: Option<Chart>,
    /// The Ansible role or playbook that the controller runs for each object.
    pub ansible: Option<Ansible>,
    /// The type was created with `--image`, so its spec has no `Default`.
    pub has_image: bool,
    /// The controller cleans up before an object is deleted.
    pub finalizer: bool,
}

/// A container that runs for each object of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    pub image: Image,
    /// The port that the container listens on. A Service forwards to it.
    pub port: Option<u16>,
    /// Replaces the image's entrypoint; if empty, the entrypoint is used.
    pub command: Vec<String>,
    /// The numeric user ID.
    pub user: Option<i64>,
}

/// A Helm chart that is installed for each object of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chart {
    /// The name of the chart, and of its folder in `helm-charts`.
    pub folder: String,
    #[serde(flatten)]
    pub spec: Spec,
    /// Settings of an earlier operator with these objects.
    pub adopted: Option<Adopted>,
}

/// The spec of a kind that is derived from a chart or from Ansible.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spec {
    /// The attributes of the struct, one per line.
    pub attributes: String,
    /// The fields in Rust.
    pub fields: String,
    /// The types of the fields.
    pub others: String,
    /// These types contain a `BTreeMap`.
    pub has_map: bool,
    /// These types contain a `Value`.
    pub has_value: bool,
    /// The spec accepts values without a field.
    pub is_open: bool,
    /// The kind has a status type of its own, which is one of `others`.
    pub has_status: bool,
    /// The text after `spec:` in the sample.
    pub sample: String,
    /// Objects without a spec are valid.
    pub is_optional: bool,
    /// The type has fields of an existing CRD.
    pub has_crd: bool,
    /// Arguments of `#[kube(…)]` about the version: `storage = false`.
    pub version_arguments: Vec<String>,
    /// Arguments of `#[kube(…)]` that replace the scaffolded columns; may be empty.
    pub columns: Vec<String>,
}

/// An Ansible role or playbook that runs for each object of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ansible {
    /// The name of the role. If there is also a playbook, a new playbook runs this role.
    pub role: Option<String>,
    /// The path of the playbook, relative to the project's folder.
    pub playbook: Option<String>,
    #[serde(flatten)]
    pub spec: Spec,
    /// Settings of an earlier operator with these objects.
    pub watch: Option<Watch>,
}

impl Ansible {
    /// The path of the playbook or role, relative to the project's folder; `None` for a role of a collection, which is
    /// not in the project.
    fn path(&self) -> Option<String> {
        let role = self.role.as_ref().filter(|name| !name.contains('.'));
        self.playbook.clone().or(role.map(|name| format!("roles/{name}")))
    }
}

/// The non-default settings with which a controller runs Ansible.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Watch {
    /// The builder calls for these settings, formatted as by rustfmt.
    pub calls: Vec<String>,
    /// Markers for the permissions of the earlier operator's role that were not derived from tasks.
    pub markers: Vec<String>,
    /// `opctl check` would report some of these markers as unused.
    pub has_unused: bool,
    /// These calls use `Duration`; the following fields are for other imports.
    pub has_duration: bool,
    pub has_watcher: bool,
    pub has_finalizer: bool,
    pub has_json: bool,
}

/// The settings with which a controller takes over the objects and releases of another operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Adopted {
    pub finalizer: &'static str,
    /// The time between two reconciles, in milliseconds.
    pub period: Option<u64>,
    /// The label selector, as for `kubectl --selector`.
    pub selector: Option<String>,
    /// The builder calls for these settings, formatted as by rustfmt.
    calls: Vec<String>,
    /// They use parts of environment variables.
    has_parts: bool,
}

/// The builder call for a period in milliseconds.
pub fn period_call(period: u64) -> String {
    match period % 1000 {
        0 => format!(".period(Duration::from_secs({}))", period / 1000),
        _ => format!(".period(Duration::from_millis({period}))"),
    }
}

/// The builder call for a label selector, as for `kubectl --selector`.
pub fn selector_call(selector: &str) -> String {
    format!(".config(watcher::Config::default().labels({selector:?}))")
}

impl Adopted {
    /// `method` is the builder method that sets a value at a path; `set` has the paths and the values in Rust.
    pub fn new<'a>(
        finalizer: &'static str,
        period: Option<u64>,
        selector: Option<String>,
        method: &str,
        set: impl Iterator<Item = (&'a str, String)>,
    ) -> Self {
        let period_call = period.map(period_call);
        let selector_call = selector.as_deref().map(selector_call);
        let set_calls = set.map(|(path, value)| match format!(".{method}({path:?}, {value})") {
            // The call is indented by 8 of 100 columns.
            line if line.chars().count() <= 92 => line,
            _ => format!(".{method}(\n            {path:?},\n            {value},\n        )"),
        });
        let first = [Some(format!(".finalizer({finalizer:?})")), period_call, selector_call];
        let calls: Vec<String> = first.into_iter().flatten().chain(set_calls).collect();
        let has_parts = calls.iter().any(|call| call.contains("&part_of("));
        Self { finalizer, period, selector, calls, has_parts }
    }
}

/// A type that opctl did not scaffold: of Kubernetes, as in k8s-openapi, of another project, or of the adopted crate.
/// It can have controllers and webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreType {
    /// The group in the API: `networking.k8s.io`; empty for `core`.
    pub group: String,
    /// The path of the Rust type, e.g. `k8s_openapi::api::networking::v1::Ingress`.
    pub rust_path: String,
}

impl Api {
    /// The group in the API: `cache.example.com`; empty for `core`.
    pub fn api_group(&self, project: &Project) -> String {
        match &self.core {
            Some(core) => core.group.clone(),
            None => format!("{}.{}", self.group, project.domain),
        }
    }

    pub fn plural(&self) -> Plural {
        self.plural.clone().unwrap_or_else(|| self.kind.plural())
    }

    /// `memcacheds.cache.example.com`, or `pods` in the core group: the name of the CRD and of the controller.
    pub fn resource(&self, project: &Project) -> String {
        match self.api_group(project).as_str() {
            "" => self.plural().to_string(),
            group => format!("{}.{group}", self.plural()),
        }
    }

    /// The Rust module of a type of the project: `crate::api::cache::v1alpha1::memcached`.
    fn types_module(&self) -> String {
        format!("crate::api::{}::{}::{}", self.group.module(), self.version, self.kind.module())
    }

    /// The file of that module: `src/api/cache/v1alpha1/memcached.rs`.
    pub fn types_file(&self) -> String {
        format!("src/api/{}/{}/{}.rs", self.group.module(), self.version, self.kind.module())
    }

    /// The item of the list in `src/api/mod.rs`: `cache::v1alpha1::memcached::Memcached::crd()`.
    pub fn crd_item(&self) -> String {
        let Self { group, version, kind, .. } = self;
        format!("{}::{version}::{}::{}::crd()", group.module(), kind.module(), kind.type_name())
    }

    /// The item of the list in `src/controller/mod.rs`: `cache::memcached::controller()`.
    pub fn controller_item(&self) -> String {
        format!("{}::{}::controller()", self.group.module(), self.wiring.module(&self.kind))
    }

    /// The finalizer that a controller sets. Each controller has its own.
    pub fn finalizer(&self, project: &Project) -> String {
        let name = self.wiring.name.as_ref().map_or(project.name.as_str(), |name| name.as_str());
        format!("{}/{name}", project.domain)
    }

    /// The file in `config/samples`.
    pub fn sample(&self) -> String {
        format!("{}_{}_{}.yaml", self.group, self.version, self.kind.singular())
    }
}

/// The option whose files import a type with the name of the kind, so that they would not compile.
pub fn option_that_imports(api: &Api) -> Option<&'static str> {
    let imported: [(bool, &str, &[&str]); 4] = [
        (api.workload.is_some(), "--image", &["BTreeMap", "Calls", "IntOrString", "LabelSelector", "ObjectMeta"]),
        (api.chart.is_some(), "--helm-chart", &["BTreeMap", "ChartController", "Duration", "ReleaseStatus", "Value"]),
        (
            api.ansible.is_some(),
            "--ansible-role",
            &["AnsibleController", "AnsibleStatus", "BTreeMap", "Duration", "Finalizer", "Value"],
        ),
        (!api.wiring.watches.is_empty() && api.core.is_none(), "--watches", &["ConfigMap"]),
    ];
    let imports = |(is_used, _, types): &(bool, &str, &[&str])| *is_used && types.contains(&api.kind.as_str());
    imported.into_iter().find(imports).map(|(_, option, _)| option)
}

/// The files that do not depend on a kind, except for PROJECT, LICENSE and generated files below `config`. An adopted
/// crate need not contain all of them.
pub fn init(project: &Project) -> Vec<File> {
    let context = ProjectContext::new(project);
    if project.adopted.is_some() {
        return self::files("adopted", project, &[], &context);
    }
    let mut files = bundle::render("project", &context, &[]);
    if project.workspace.is_none() {
        // The workspace determines the format of its members, and the host of a repository reads workflows only at the
        // root.
        files.extend(bundle::render("standalone", &context, &[]));
    }
    let mut files: Vec<File> = files.into_iter().map(|file| finish(project, file)).collect();
    if project.workspace.is_some() {
        // The build context is the workspace's root. Builders search for the usual name only there, but for this name
        // beside the Dockerfile.
        let ignore = files.iter_mut().find(|file| file.path == ".dockerignore").expect("the bundle has it");
        ignore.path = "Dockerfile.dockerignore".into();
    }
    if !project.header.is_empty() {
        files.push(File { path: "hack/boilerplate.txt".into(), text: format!("{}\n", project.header) });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The insertions that make the metrics use certificates of cert-manager, and Prometheus verify them. For webhooks, see
/// [`webhook::Server`].
pub fn cert_manager() -> [Insertion; 2] {
    let list = |path: &str, item: &str| {
        let what = Inserted::YamlItem { key: "components", item: item.into() };
        Insertion::from((format!("config/{path}/kustomization.yaml"), what))
    };
    [list("default", "../certmanager"), list("prometheus", "../certmanager/monitor")]
}

/// The types of a version of a kind, and a sample.
///
/// # Panics
///
/// For a built-in kind of Kubernetes, which already has types.
pub fn api(project: &Project, api: &Api) -> Rendered {
    assert!(api.core.is_none(), "the types of {} are Kubernetes' own", api.kind);
    let (group, version, kind) = (api.group.module(), api.version.to_string(), api.kind.module());
    rendered(
        match (&api.workload, &api.chart, &api.ansible) {
            (Some(_), ..) => "workload-api",
            (None, Some(_), _) => "chart-api",
            (None, None, Some(_)) => "ansible-api",
            (None, None, None) => "api",
        },
        project,
        &[("_group_", &group), ("_version_", &version), ("_kind_", &kind), ("_sample_.yaml", &api.sample())],
        &ApiContext::new(project, api),
        [
            ("src/api/mod.rs".into(), Inserted::Module(group.clone())),
            (format!("src/api/{group}/mod.rs"), Inserted::Module(version.clone())),
            (format!("src/api/{group}/{version}/mod.rs"), Inserted::Module(kind.clone())),
            ("src/api/mod.rs".into(), Inserted::ListItem { function: "all", item: api.crd_item() }),
            ("config/samples/kustomization.yaml".into(), Inserted::YamlItem { key: "resources", item: api.sample() }),
        ],
    )
}

/// The types of a kind of another project. `types` is their source.
pub fn external(project: &Project, api: &Api, types: &str) -> Rendered {
    let (group, version, kind) = (api.group.module(), api.version.to_string(), api.kind.module());
    let what = [
        ("src/lib.rs".into(), Inserted::Module("external".into())),
        ("src/external/mod.rs".into(), Inserted::Module(group.clone())),
        (format!("src/external/{group}/mod.rs"), Inserted::Module(version.clone())),
        (format!("src/external/{group}/{version}/mod.rs"), Inserted::Module(kind.clone())),
    ];
    let context = ApiContext { types: types.trim_end(), ..ApiContext::new(project, api) };
    rendered("external", project, &[("_group_", &group), ("_version_", &version), ("_kind_", &kind)], &context, what)
}

/// The controller of a kind. It serves all versions, and uses the version of `api`.
pub fn controller(project: &Project, api: &Api) -> Rendered {
    let bundle = match (&api.core, &api.workload, &api.chart, &api.ansible) {
        (Some(_), _, _, Some(_)) => "ansible-controller",
        (Some(_), ..) => "core-controller",
        (None, Some(_), ..) => "workload-controller",
        (None, None, Some(_), _) => "chart-controller",
        (None, None, None, Some(_)) => "ansible-controller",
        (None, None, None, None) => "controller",
    };
    let (group, module) = (api.group.module(), api.wiring.module(&api.kind));
    let mut rendered = rendered(
        bundle,
        project,
        &[("_group_", &group), ("_kind_", &module), ("_test_.yml", &format!("{group}_{module}_test.yml"))],
        &ApiContext::new(project, api),
        [
            ("src/controller/mod.rs".into(), Inserted::Module(group.clone())),
            (format!("src/controller/{group}/mod.rs"), Inserted::Module(module.clone())),
            ("src/controller/mod.rs".into(), Inserted::ListItem { function: "all", item: api.controller_item() }),
        ],
    );
    if api.core.is_some() {
        // There is no sample for the test.
        rendered.files.retain(|file| !file.path.starts_with("molecule/"));
    }
    rendered
}

/// The parts that a project needs once to install Helm charts, in addition to those of [`init`] with
/// [`Project::charts`].
pub fn helm(project: &Project) -> Rendered {
    let what = [
        ("config/default/kustomization.yaml".into(), Inserted::YamlItem { key: "components", item: "../helm".into() }),
        ("Cargo.toml".into(), Inserted::Feature { dependency: "opctl-runtime", feature: "helm" }),
    ];
    rendered("helm", project, &[], &ProjectContext::new(project), what)
}

/// The parts that a project needs once to run Ansible, in addition to those of [`init`] with [`Project::ansible`].
pub fn ansible(project: &Project) -> Rendered {
    let what = [
        (
            "config/default/kustomization.yaml".into(),
            Inserted::YamlItem { key: "components", item: "../ansible".into() },
        ),
        ("Cargo.toml".into(), Inserted::Feature { dependency: "opctl-runtime", feature: "ansible" }),
    ];
    rendered("ansible", project, &[], &ProjectContext::new(project), what)
}

/// The environment variables of an imported operator, as a component of config/default.
pub fn environment(patch: &str) -> Rendered {
    const KUSTOMIZATION: &str = "# The environment of the operator that this one was imported from.\n\
                                 apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n  - path: manager.yaml\n";
    let file = |name: &str, text: &str| File { path: format!("config/environment/{name}"), text: text.to_owned() };
    Rendered {
        files: vec![file("kustomization.yaml", KUSTOMIZATION), file("manager.yaml", patch)],
        insertions: vec![Insertion {
            path: "config/default/kustomization.yaml".into(),
            base: None,
            what: Inserted::YamlItem { key: "components", item: "../environment".into() },
        }],
    }
}

/// The files of a new role, see [`Ansible::role`].
pub fn role(project: &Project, api: &Api, name: &str) -> Vec<File> {
    files("ansible-role", project, &[("_role_", name)], &ApiContext::new(project, api))
}

/// The files of a new playbook, see [`Ansible::playbook`].
pub fn playbook(project: &Project, api: &Api, path: &str) -> Vec<File> {
    let path = path.trim_start_matches("playbooks/");
    files("ansible-playbook", project, &[("_playbook_", path)], &ApiContext::new(project, api))
}

/// The path of the generated file with the permissions of a kind's chart, role or playbook.
pub fn generated_permissions(api: &Api) -> String {
    format!("src/controller/{}/{}/permissions.rs", api.group.module(), api.kind.module())
}

/// Renders the bundle of a kind, and adds the insertions that list its parts.
fn rendered<const N: usize>(
    bundle: &str,
    project: &Project,
    placeholders: &[(&str, &str)],
    context: &impl Serialize,
    what: [(String, Inserted); N],
) -> Rendered {
    Rendered { files: files(bundle, project, placeholders, context), insertions: what.map(Insertion::from).into() }
        .settled()
}

fn files(bundle: &str, project: &Project, placeholders: &[(&str, &str)], context: &impl Serialize) -> Vec<File> {
    let files = bundle::render(bundle, context, placeholders);
    files.into_iter().map(|file| finish(project, file)).collect()
}

impl From<(String, Inserted)> for Insertion {
    fn from((path, what): (String, Inserted)) -> Self {
        Self { path, base: None, what }
    }
}

impl Rendered {
    /// Turns files with insertions into the initial texts of these insertions, because other kinds may already have
    /// created them.
    fn settled(mut self) -> Self {
        for insertion in &mut self.insertions {
            let file = self.files.iter().find(|file| file.path == insertion.path);
            insertion.base = file.map(|file| file.text.clone());
        }
        self.files.retain(|file| self.insertions.iter().all(|insertion| insertion.path != file.path));
        self
    }
}

/// Formats a file, and adds the header.
fn finish(project: &Project, file: File) -> File {
    let File { path, mut text } = file;
    if path.ends_with(".rs") {
        text = layout::break_long_lines(&layout::sort_imports(&layout::single_blank_lines(text.trim_end())));
        text.push('\n');
    }
    if !project.header.is_empty()
        && let Some(comment) = license::comment(&path, &project.header)
    {
        // `#!` must remain the first line.
        let body = if text.starts_with("#!") { text.find('\n').map_or(text.len(), |end| end + 1) } else { 0 };
        text.insert_str(body, &format!("{comment}\n"));
    }
    File { path, text }
}

#[derive(Serialize)]
struct ProjectContext {
    name: String,
    crate_name: String,
    domain: String,
    namespaced: bool,
    /// The namespaces, separated by commas; may be empty.
    namespaces: String,
    spdx: Option<&'static str>,
    workspace: Option<String>,
    /// The names of the binaries. Members of a workspace share a folder for binaries, so their names begin with the
    /// project's.
    manager: String,
    crdgen: String,
    /// The keys of the dependency on `opctl-runtime`, except for features: `version = "5.0.0", path = "runtime"`.
    runtime: String,
    /// The folder of the vendored copy, relative to the project's folder.
    vendored: Option<String>,
    charts: bool,
    ansible: bool,
    opctl_version: &'static str,
    k8s_openapi: String,
    kube: String,
    schemars: String,
}

impl ProjectContext {
    fn new(project: &Project) -> Self {
        let binary = |name: &str| match project.workspace {
            Some(_) => format!("{}-{name}", project.name),
            None => name.to_owned(),
        };
        Self {
            manager: project.adopted.clone().unwrap_or_else(|| binary("manager")),
            crdgen: binary("crdgen"),
            runtime: project.runtime.keys(),
            vendored: project.runtime.path.clone().filter(|_| project.runtime.is_vendored),
            charts: project.charts,
            ansible: project.ansible,
            name: project.name.to_string(),
            crate_name: project.name.crate_name(),
            domain: project.domain.to_string(),
            namespaced: project.namespaced,
            namespaces: project.namespaces.iter().map(Namespace::as_str).collect::<Vec<_>>().join(","),
            spdx: project.spdx,
            workspace: project.workspace.clone(),
            opctl_version: env!("CARGO_PKG_VERSION"),
            k8s_openapi: latest("k8s-openapi"),
            kube: latest("kube"),
            schemars: latest("schemars"),
        }
    }
}

#[derive(Serialize)]
struct ApiContext<'a> {
    /// The name of the project.
    name: &'a str,
    group: &'a str,
    group_module: String,
    /// The group in the API.
    api_group: String,
    /// The group in RBAC markers: `core` for the core group.
    rbac_group: String,
    version: &'a str,
    kind: &'a str,
    /// The Rust type. It has the name of the kind, unless that name is taken.
    r#type: String,
    /// The indefinite article of the kind.
    article: &'static str,
    module: String,
    conversion_module: String,
    singular: String,
    plural: Plural,
    /// The plural must be specified, because kube derives another one, or fails (for `Y`).
    plural_differs: bool,
    /// `<plural>.<group>`
    resource: String,
    short_names: &'a [String],
    categories: &'a [String],
    namespaced: bool,
    /// The path of a type of Kubernetes or of another project.
    rust_path: Option<&'a str>,
    /// The source of the types of another project, if they are generated from its CRD.
    types: &'a str,
    #[serde(flatten)]
    wiring: WiringContext<'a>,
    workload: Option<WorkloadContext<'a>>,
    chart: Option<&'a Chart>,
    ansible: Option<&'a Ansible>,
    /// The path of the playbook or role, if it is in the project.
    ansible_path: Option<String>,
    /// The Rust module of the kind's own types.
    types_module: String,
    has_image: bool,
    /// The finalizer that the controller sets, if it cleans up: `example.com/memcached-operator` by default.
    finalizer: Option<String>,
}

impl<'a> ApiContext<'a> {
    fn new(project: &'a Project, api: &'a Api) -> Self {
        let api_group = api.api_group(project);
        Self {
            name: project.name.as_str(),
            group: api.group.as_str(),
            group_module: api.group.module(),
            rbac_group: if api_group.is_empty() { "core".into() } else { api_group.clone() },
            api_group,
            version: api.version.as_str(),
            kind: api.kind.as_str(),
            r#type: api.kind.type_name(),
            article: if api.kind.as_str().starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" },
            module: api.kind.module(),
            conversion_module: api.kind.conversion_module(),
            singular: api.kind.singular(),
            plural: api.plural(),
            plural_differs: api.plural.is_some(),
            resource: api.resource(project),
            short_names: &api.short_names,
            categories: &api.categories,
            namespaced: api.namespaced,
            rust_path: api.core.as_ref().map(|core| core.rust_path.as_str()),
            types: "",
            wiring: WiringContext::new(project, api),
            workload: api.workload.as_ref().map(WorkloadContext::new),
            chart: api.chart.as_ref(),
            ansible: api.ansible.as_ref(),
            ansible_path: api.ansible.as_ref().and_then(Ansible::path),
            types_module: api.types_module(),
            has_image: api.has_image,
            finalizer: api.finalizer.then(|| api.finalizer(project)),
        }
    }
}

#[derive(Serialize)]
struct WorkloadContext<'a> {
    image: &'a str,
    port: Option<u16>,
    /// As Rust string literals.
    command: Vec<String>,
    user: Option<i64>,
}

impl<'a> WorkloadContext<'a> {
    fn new(workload: &'a Workload) -> Self {
        Self {
            image: workload.image.as_str(),
            port: workload.port,
            command: workload.command.iter().map(|word| format!("{word:?}")).collect(),
            user: workload.user,
        }
    }
}
