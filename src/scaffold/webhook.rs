//! The webhooks of an operator: the server, once per project, and a file for each webhook of a kind.

use serde::Serialize;
use serde_json::json;

use super::wiring::import;
use super::{Api, ApiContext, Inserted, Project, Rendered, files};
use opctl_model::names::{Namespace, Version};

/// The type of an admission webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Admission {
    /// Sets defaults for fields.
    Defaulting,
    /// Accepts or rejects objects.
    Validation,
}

impl Admission {
    /// The name of the bundle, and of the Rust module.
    pub fn module(self) -> &'static str {
        match self {
            Self::Defaulting => "defaulting",
            Self::Validation => "validation",
        }
    }

    /// The default path, as in kubebuilder: `/mutate-cache-example-com-v1-memcached`; for the core group
    /// `/mutate--v1-pod`.
    pub fn path(self, project: &Project, api: &Api) -> String {
        let verb = match self {
            Self::Defaulting => "mutate",
            Self::Validation => "validate",
        };
        let group = api.api_group(project).replace('.', "-");
        format!("/{verb}-{group}-{}-{}", api.version, api.kind.singular())
    }
}

/// The webhooks to scaffold for a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhooks {
    /// The server, if the project does not have one yet.
    pub server: Option<Server>,
    /// Admission webhooks with their paths.
    pub admissions: Vec<(Admission, String)>,
    /// The versions that are converted to and from this one.
    pub conversion: Option<Vec<Version>>,
}

/// The file that lists the webhooks of a project.
pub const LIST: &str = "src/webhook/mod.rs";

/// The path of all conversion webhooks.
pub const CONVERT: &str = "/convert";

/// The file of a webhook of a kind.
pub fn file(api: &Api, module: &str) -> String {
    format!("src/webhook/{}/{}/{}/{module}.rs", api.group.module(), api.version, api.kind.module())
}

/// The file that converts a version of a kind to and from the stored version.
pub fn conversion_file(kind: &Api, spoke: &Version) -> String {
    format!("src/api/{}/{spoke}/{}.rs", kind.group.module(), kind.kind.conversion_module())
}

/// The origin of the server's certificate. For cert-manager, [`super::cert_manager`] is required as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    OwnCertificate,
    CertManager,
}

/// Renders the webhooks of a version of a kind.
pub fn webhooks(project: &Project, api: &Api, wanted: &Webhooks) -> Rendered {
    let mut rendered = Rendered::default();
    if let Some(server) = wanted.server {
        add_server(&mut rendered, project, server);
    }
    for (admission, path) in &wanted.admissions {
        add_admission(&mut rendered, project, api, *admission, path);
    }
    if let Some(spokes) = &wanted.conversion {
        add_conversion(&mut rendered, project, api, spokes);
    }
    rendered.settled()
}

/// Renders the server alone.
pub fn server(project: &Project, server: Server) -> Rendered {
    let mut rendered = Rendered::default();
    add_server(&mut rendered, project, server);
    rendered
}

/// Adds the server, and the manifests that connect the API server to it.
fn add_server(rendered: &mut Rendered, project: &Project, server: Server) {
    let by_cert_manager = server == Server::CertManager;
    let context = ServerContext { by_cert_manager, ..ServerContext::new(project) };
    rendered.files.extend(files("webhook", project, &[], &context));
    let mut edit = |path: &str, what| rendered.insertions.push((path.to_owned(), what).into());
    let list = |key, item: &str| Inserted::YamlItem { key, item: item.into() };
    edit("src/lib.rs", Inserted::Module("webhook".into()));
    let item = "crate::webhook::server()".into();
    edit("src/controller/mod.rs", Inserted::ListItem { function: "all", item });
    edit("Cargo.toml", Inserted::Feature { dependency: "opctl-runtime", feature: "webhook" });
    let kustomization = "config/default/kustomization.yaml";
    edit(kustomization, list("components", "../webhook-server"));
    edit("config/network-policy/kustomization.yaml", list("resources", "allow_webhook_traffic.yaml"));
    edit("config/certmanager/kustomization.yaml", list("components", "webhook"));
    if by_cert_manager {
        edit(kustomization, list("transformers", "../webhook/certificate"));
    }
}

fn add_admission(rendered: &mut Rendered, project: &Project, api: &Api, admission: Admission, path: &str) {
    let module = admission.module();
    let path_of_it = add_module(rendered, project, api, module, module, &WebhookContext::new(project, api, path));
    let item = format!("{path_of_it}::webhook()");
    rendered.insertions.push((LIST.to_owned(), Inserted::ListItem { function: "all", item }).into());
}

/// Adds the conversions of the hub and of each spoke.
fn add_conversion(rendered: &mut Rendered, project: &Project, hub: &Api, spokes: &[Version]) {
    let context = ApiContext::new(project, hub);
    let path_of_it = add_module(rendered, project, hub, "conversion-hub", "conversion", &context);
    let mut edit = |path: &str, what| rendered.insertions.push((path.to_owned(), what).into());
    let list = |function, item: &str| Inserted::ListItem { function, item: item.into() };
    edit("Cargo.toml", Inserted::Feature { dependency: "opctl-runtime", feature: "conversion" });
    edit(LIST, list("all", &format!("{path_of_it}::webhook()")));

    let (group, module, kind) = (hub.group.module(), hub.kind.module(), &hub.kind);
    let (version, argument) = (hub.version.clone(), "storage = false");
    edit(&hub.types_file(), Inserted::NoKubeArgument { kind: kind.clone(), version, argument });
    for version in spokes {
        let spoke = Api { version: version.clone(), ..hub.clone() };
        let item = format!("Spoke::of::<api::{version}::{module}::{}>()", kind.type_name());
        let mut edit = |path: &str, what| rendered.insertions.push((path.to_owned(), what).into());
        edit(&file(hub, "conversion"), list("spokes", &item));
        edit(&format!("src/api/{group}/{version}/mod.rs"), Inserted::Module(kind.conversion_module()));
        let storage =
            Inserted::KubeArgument { kind: kind.clone(), version: version.clone(), argument: "storage = false" };
        edit(&spoke.types_file(), storage);
        let context = SpokeContext { api: ApiContext::new(project, &spoke), hub: hub.version.as_str() };
        let placeholders =
            [("_group_", group.as_str()), ("_version_", version.as_str()), ("_conversion_", &kind.conversion_module())];
        rendered.files.extend(files("conversion-spoke", project, &placeholders, &context));
    }
}

/// Adds a bundle that is a module of a kind's webhooks. Returns the path of the module below `webhook`.
fn add_module(
    rendered: &mut Rendered,
    project: &Project,
    api: &Api,
    bundle: &str,
    module: &str,
    context: &impl Serialize,
) -> String {
    let (group, version, kind) = (api.group.module(), api.version.as_str(), api.kind.module());
    let placeholders = [("_group_", group.as_str()), ("_version_", version), ("_kind_", &kind)];
    rendered.files.extend(files(bundle, project, &placeholders, context));
    // These files are the same for each webhook of a kind, and initial texts of insertions: the first one is used.
    rendered.files.extend(files("webhook-folders", project, &placeholders, &ApiContext::new(project, api)));
    let mut folder = "src/webhook".to_owned();
    for inner in [&group, version, &kind, module] {
        rendered.insertions.push((format!("{folder}/mod.rs"), Inserted::Module(inner.to_owned())).into());
        folder = format!("{folder}/{inner}");
    }
    format!("{group}::{version}::{kind}::{module}")
}

#[derive(Serialize)]
struct ServerContext<'a> {
    name: &'a str,
    crate_name: String,
    by_cert_manager: bool,
}

impl<'a> ServerContext<'a> {
    fn new(project: &'a Project) -> Self {
        Self { name: project.name.as_str(), crate_name: project.name.crate_name(), by_cert_manager: false }
    }
}

#[derive(Serialize)]
struct SpokeContext<'a> {
    #[serde(flatten)]
    api: ApiContext<'a>,
    /// The stored version.
    hub: &'a str,
}

#[derive(Serialize)]
struct WebhookContext<'a> {
    #[serde(flatten)]
    api: ApiContext<'a>,
    path: &'a str,
    /// The path in the `use` of the type.
    import: String,
    /// This `use` belongs to those of other crates.
    import_first: bool,
    /// The name of the type in the file, which differs from all other imported names.
    name_of_type: String,
    /// The name of the webhook in its configuration, without the first letter, which distinguishes the admissions.
    webhook: String,
    /// The end of the marker, which selects the namespaces of the objects.
    selector: String,
}

impl<'a> WebhookContext<'a> {
    fn new(project: &'a Project, api: &'a Api, path: &'a str) -> Self {
        let kind = api.kind.as_str();
        let is_taken = ["Defaulting", "Rejection", "Request", "Validating", "Warnings", "Webhook"].contains(&kind);
        let name_of_type = if is_taken { format!("{kind}Object") } else { api.kind.type_name() };
        let rust_path = match &api.core {
            Some(core) => core.rust_path.clone(),
            None => format!("{}::{}", api.types_module(), api.kind.type_name()),
        };
        let group = match &api.core {
            Some(_) => format!("{}.{}", api.group, project.domain),
            None => api.api_group(project),
        };
        Self {
            path,
            import_first: !rust_path.starts_with("crate::"),
            import: import(&rust_path, &name_of_type),
            name_of_type,
            webhook: format!("{}-{}.{group}", api.kind.singular(), api.version),
            selector: selector(project, api),
            api: ApiContext::new(project, api),
        }
    }
}

/// An operator with restricted namespaces receives no requests for other ones. A webhook for built-in or external kinds
/// receives no requests for the namespaces of the operator and of the cluster's system: nothing there could start while
/// the operator does not respond.
fn selector(project: &Project, api: &Api) -> String {
    if !api.namespaced {
        return String::new();
    }
    let own = format!("{}-system", project.name);
    let (operator, namespaces) = if !project.namespaces.is_empty() {
        ("In", project.namespaces.iter().map(Namespace::to_string).collect())
    } else if project.namespaced {
        ("In", vec![own])
    } else if api.core.is_some() {
        ("NotIn", vec!["kube-system".into(), own])
    } else {
        return String::new();
    };
    let expression = json!({ "key": "kubernetes.io/metadata.name", "operator": operator, "values": namespaces });
    let patch = json!({ "namespaceSelector": { "matchExpressions": [expression] } });
    format!(",\\\n//     patch=`{patch}`")
}
