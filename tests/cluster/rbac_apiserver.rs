//! The generated roles on a real API server: it accepts all of them, and allows exactly the requests of the markers.
//! For a marker that opctl rejects, it rejects the role or never allows anything.

use std::fs;
use std::ops::Deref;

use opctl_model::diagnostic::{Diagnostic, SourceFile, Span, render};
use opctl_model::reads::Reads;
use opctl_model::{Api, RbacRule, Scope};
use opctl_source::emit::{self, Manifest, Options};
use opctl_source::markers::{self, Markers};
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::permissions::{Request, allows, assert_answers, requests};

#[test]
fn the_api_server_allows_exactly_what_the_markers_say() {
    let Some(cluster) = Cluster::start("cluster") else { return };
    let rules = rules(&format!("{MARKERS}{URL_MARKERS}"));
    cluster.apply(&manifests(&rules, CLUSTER));
    cluster.assert_allows(&rules, None);

    // Restriction of `create` by name: an apply has a name when it is authorized, a POST has none.
    let object = "{apiVersion: v1, kind: ConfigMap, metadata: {name: lock, namespace: zoo}}";
    let create = ["--as", OPERATOR, "create", "-f", "-"];
    assert!(!cluster.run(&create, object).status.success());
    cluster.kubectl(&["--as", OPERATOR, "apply", "--server-side", "-f", "-"], object);
}

#[test]
fn the_api_server_allows_a_namespaced_operator_its_own_namespaces_only() {
    let Some(cluster) = Cluster::start("namespaced") else { return };
    let rules = rules(MARKERS);
    cluster.apply(&manifests(&rules, NAMESPACED));
    cluster.assert_allows(&rules, Some("system"));
}

#[test]
fn the_api_server_accepts_the_roles_for_people() {
    let Some(cluster) = Cluster::start("people") else { return };
    let manifests = manifests(&[], CLUSTER);
    cluster.apply(&manifests);
    for person in ["admin", "editor", "viewer"] {
        let role = format!("memcacheds.cache.example.com-{person}");
        cluster.kubectl(&["create", "clusterrolebinding", person, "--clusterrole", &role, "--user", person], "");
    }
    let expected = [
        ("viewer", "memcacheds", "list", true),
        ("viewer", "memcacheds", "patch", false),
        ("viewer", "memcacheds/status", "get", true),
        ("editor", "memcacheds", "patch", true),
        ("editor", "memcacheds", "deletecollection", false),
        ("editor", "memcacheds/status", "patch", false),
        ("admin", "memcacheds", "deletecollection", true),
        ("admin", "memcacheds/status", "patch", false),
        ("admin", "others", "get", false),
    ];
    let reviews = expected.map(|(user, resource, verb, _)| {
        Request::resource("zoo", "cache.example.com", resource, "", verb).review(Some(user))
    });
    assert_answers(&cluster, &[], &reviews, &expected.map(|(.., allowed)| allowed));
}

/// Markers that opctl rejects since the API server rejects the role, and the suggested replacements.
const REFUSED: &[(&str, &str)] = &[
    ("groups=apps,resources=deployments", "groups=apps,resources=deployments,verbs=get"),
    ("resources=pods,verbs=get", "groups=\"\",resources=pods,verbs=get"),
    ("groups=apps,verbs=get", "groups=apps,resources=deployments,verbs=get"),
    ("urls=/x,groups=apps,resources=deployments,verbs=get", "urls=/x,verbs=get"),
    ("urls=/x,resourceNames=a,verbs=get", "urls=/x,verbs=get"),
    ("urls=/x,verbs=get,namespace=zoo", "urls=/x,verbs=get"),
    ("groups=apps,resources=x,verbs=get,roleName=a/b", "groups=apps,resources=x,verbs=get,roleName=a-b"),
    ("groups=apps,resources=x,verbs=get,roleName=a%b", "groups=apps,resources=x,verbs=get,roleName=a:b"),
    ("groups=apps,resources=x,verbs=get,roleName=..", "groups=apps,resources=x,verbs=get,roleName=x.y"),
    ("groups=apps,resources=x,verbs=get,namespace=Zoo", "groups=apps,resources=x,verbs=get,namespace=zoo"),
    ("groups=apps,resources=x,verbs=get,namespace=z.o", "groups=apps,resources=x,verbs=get,namespace=zoo"),
];

#[test]
fn the_api_server_refuses_what_the_reader_of_markers_refuses() {
    let Some(cluster) = Cluster::start("refused") else { return };
    for (wrong, right) in REFUSED {
        assert!(!is_read(wrong), "{wrong}");
        assert!(is_read(right), "{right}");
        let accepts = |marker| {
            let role = role("made", marker);
            cluster.run(&["create", "--dry-run=server", "-f", "-"], &role.to_string()).status.success()
        };
        assert!(!accepts(wrong), "the API server accepts {wrong}");
        assert!(accepts(right), "the API server refuses {right}");
    }
}

/// Markers that opctl rejects since they never allow anything, the suggested replacements, and the intended request:
/// group, resource, name and verb, or URL and verb.
const IGNORED: &[(&str, &str, &[&str])] = &[
    ("groups=apps,resources=x,verbs=lsit", "groups=apps,resources=x,verbs=list", &["apps", "x", "", "list"]),
    ("groups=apps,resources=x,verbs=Get", "groups=apps,resources=x,verbs=get", &["apps", "x", "", "get"]),
    ("groups=apps,resources=x,verbs=read", "groups=apps,resources=x,verbs=get", &["apps", "x", "", "get"]),
    ("groups=apps/v1,resources=x,verbs=get", "groups=apps,resources=x,verbs=get", &["apps", "x", "", "get"]),
    ("groups=Apps,resources=x,verbs=get", "groups=apps,resources=x,verbs=get", &["apps", "x", "", "get"]),
    ("groups=batch,resources=Job,verbs=get", "groups=batch,resources=jobs,verbs=get", &["batch", "jobs", "", "get"]),
    ("groups=apps,resources=x/*,verbs=get", "groups=apps,resources=x/log,verbs=get", &["apps", "x/log", "", "get"]),
    ("groups=apps,resources=x*,verbs=get", "groups=apps,resources=*,verbs=get", &["apps", "xs", "", "get"]),
    (
        "groups=apps,resources=x,resourceNames=*,verbs=get",
        "groups=apps,resources=x,resourceNames=lock,verbs=get",
        &["apps", "x", "lock", "get"],
    ),
    (
        "groups=apps,resources=x,resourceNames=lock,verbs=create",
        "groups=apps,resources=x,verbs=create",
        &["apps", "x", "", "create"],
    ),
    (
        "groups=apps,resources=x,resourceNames=lock,verbs=deletecollection",
        "groups=apps,resources=x,verbs=deletecollection",
        &["apps", "x", "", "deletecollection"],
    ),
    (
        "groups=app,resources=deployments,verbs=get",
        "groups=apps,resources=deployments,verbs=get",
        &["apps", "deployments", "", "get"],
    ),
    (
        "groups=apps,resources=deployment,verbs=get",
        "groups=apps,resources=deployments,verbs=get",
        &["apps", "deployments", "", "get"],
    ),
    ("groups=apps,resources=jobs,verbs=get", "groups=batch,resources=jobs,verbs=get", &["batch", "jobs", "", "get"]),
    (
        "groups=\"\",resources=nodes,verbs=get,namespace=zoo",
        "groups=\"\",resources=nodes,verbs=get",
        &["", "nodes", "", "get"],
    ),
    ("urls=metrics,verbs=get", "urls=/metrics,verbs=get", &["/metrics", "get"]),
    ("urls=/a*b,verbs=get", "urls=/a*,verbs=get", &["/axb", "get"]),
    ("urls=/metrics,verbs=list", "urls=/metrics,verbs=get", &["/metrics", "get"]),
];

#[test]
fn the_api_server_never_allows_what_the_reader_of_markers_says_it_would_not() {
    let Some(cluster) = Cluster::start("ignored") else { return };
    let mut objects = Vec::new();
    let mut reviews = Vec::new();
    for (index, (wrong, right, meant)) in IGNORED.iter().enumerate() {
        assert!(!is_read(wrong), "{wrong}");
        assert!(is_read(right), "{right}");
        let request = match meant {
            [group, resource @ "nodes", name, verb] => Request::resource("", group, resource, name, verb),
            [group, resource, name, verb] => Request::resource("zoo", group, resource, name, verb),
            [path, verb] => Request::url(path, verb),
            other => panic!("{other:?}"),
        };
        for (user, marker) in [(format!("wrong-{index}"), wrong), (format!("right-{index}"), right)] {
            let role = role(&user, marker);
            objects.extend([bound_to_user(&role, &user), role]);
            reviews.push(request.review(Some(&user)));
        }
    }
    cluster.create(&objects);
    let expected: Vec<bool> = IGNORED.iter().flat_map(|_| [false, true]).collect();
    assert_answers(&cluster, &[], &reviews, &expected);
}

/// The reason why markers may restrict `list` and `watch` by name, but not `deletecollection`.
#[test]
fn a_field_selector_gives_a_name_to_lists_and_watches_only() {
    let Some(cluster) = Cluster::start("selector") else { return };
    let rule = "groups=core,resources=configmaps,resourceNames=lock,verbs=list;watch";
    assert!(is_read(rule));
    let raw = rule.replace("core", "").replace("list;watch", "list;watch;deletecollection");
    let role = role("lister", &raw);
    cluster.create(&[bound_to_user(&role, "lister"), role]);
    let all = "/api/v1/namespaces/zoo/configmaps";
    let allowed = |verb: &str, query: &str| {
        let path = format!("{all}?{query}");
        cluster.run(&["--as", "lister", verb, "--raw", &path], "").status.success()
    };
    let started = std::time::Instant::now();
    while !allowed("get", "fieldSelector=metadata.name%3Dlock") {
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "the role is never seen");
    }
    assert!(allowed("get", "watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dlock"));
    assert!(!allowed("get", ""));
    assert!(!allowed("get", "fieldSelector=metadata.name%3Dother"));
    assert!(!allowed("get", "watch=true&timeoutSeconds=1"));
    assert!(!allowed("delete", "fieldSelector=metadata.name%3Dlock"));
}

/// `true` if opctl accepts a marker with these arguments.
fn is_read(arguments: &str) -> bool {
    let file = SourceFile::new("src/lib.rs", format!("// +kubebuilder:rbac:{arguments}"));
    let Markers { operator, diagnostics, .. } = markers::read(&file);
    let rules = operator.rbac;
    !diagnostics.iter().any(Diagnostic::is_error) && emit::manifests(&[], &rules, &CLUSTER).is_ok()
}

/// The role for a marker without any validation.
fn role(name: &str, arguments: &str) -> Value {
    let list = |name: &str| -> Vec<&str> {
        let argument = arguments.split(',').find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='));
        argument.into_iter().flat_map(|values| values.split(';')).map(|value| value.trim_matches('"')).collect()
    };
    let rule = json!({
        "apiGroups": list("groups"),
        "resources": list("resources"),
        "resourceNames": list("resourceNames"),
        "nonResourceURLs": list("urls"),
        "verbs": list("verbs"),
    });
    let name = list("roleName").first().copied().unwrap_or(name);
    let (kind, metadata) = match list("namespace").first() {
        Some(namespace) => ("Role", json!({"name": name, "namespace": namespace})),
        None => ("ClusterRole", json!({"name": name})),
    };
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": [rule]})
}

fn bound_to_user(role: &Value, user: &str) -> Value {
    let kind = role["kind"].as_str().unwrap();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{kind}Binding"),
        "metadata": role["metadata"],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role["metadata"]["name"]},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    })
}

const MARKERS: &str = r#"
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=example.com,resources=deployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps;example.com,resources=deployments,verbs=patch
// +kubebuilder:rbac:groups=core,resources=configmaps,resourceNames=lock;"1.0",verbs=get;create;patch
// +kubebuilder:rbac:groups="",resources=pods;pods/log,verbs=get
// +kubebuilder:rbac:groups=*,resources=*/scale,verbs=*
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get,namespace=zoo
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=list,roleName=other
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=patch,namespace=zoo,roleName=other
"#;

const URL_MARKERS: &str = "
// +kubebuilder:rbac:urls=/metrics;/healthz/*,verbs=get
// +kubebuilder:rbac:urls=/reload,verbs=post
";

const CLUSTER: Options = Options { namespaced: false, namespaces: Vec::new() };
const NAMESPACED: Options = Options { namespaced: true, namespaces: Vec::new() };

fn rules(text: &str) -> Vec<RbacRule> {
    let Markers { operator, diagnostics, .. } = markers::read(&SourceFile::new("src/lib.rs", text));
    let rules = operator.rbac;
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics, false));
    rules
}

fn manifests(rules: &[RbacRule], options: Options) -> Vec<Manifest> {
    let span = Span { file: SourceFile::new("src/api.rs", ""), range: 0..0 };
    let api = Api {
        kube: Default::default(),
        group: "cache.example.com".into(),
        version: "v1".into(),
        kind: "Memcached".into(),
        plural: "memcacheds".into(),
        singular: "memcached".into(),
        short_names: Vec::new(),
        categories: Vec::new(),
        scope: Scope::Namespaced,
        served: true,
        storage: true,
        deprecated: None,
        status_subresource: true,
        scale: None,
        columns: Vec::new(),
        selectable_fields: Vec::new(),
        annotations: Default::default(),
        labels: Default::default(),
        schema: Some(json!({"type": "object", "properties": {"spec": {"type": "object"}}})),
        enums: Default::default(),
        reads: Reads::Unknown,
        span,
    };
    emit::crds(&[api])
        .and_then(|crds| emit::manifests(&crds, rules, &options))
        .unwrap_or_else(|problems| panic!("{}", render(&problems, false)))
}

const OPERATOR: &str = "system:serviceaccount:system:controller-manager";

/// A control plane with the namespaces of the markers.
struct Cluster(ControlPlane);

impl Deref for Cluster {
    type Target = ControlPlane;

    fn deref(&self) -> &ControlPlane {
        &self.0
    }
}

impl Cluster {
    fn start(name: &str) -> Option<Self> {
        let cluster = Self(ControlPlane::start(&format!("rbac-{name}"), 0)?);
        for namespace in ["system", "zoo", "park"] {
            cluster.kubectl(&["create", "namespace", namespace], "");
        }
        Some(cluster)
    }

    fn create(&self, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        self.kubectl(&["create", "-f", "-"], &list.to_string());
    }

    /// Applies every file separately with strict validation, then the kustomizations.
    fn apply(&self, manifests: &[Manifest]) {
        let folder = self.folder.join("config");
        for manifest in manifests {
            let path = folder.join(&manifest.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &manifest.text).unwrap();
        }
        let objects = |manifest: &&Manifest| manifest.path.starts_with("crd/bases") || manifest.path.contains("role");
        for manifest in manifests.iter().filter(objects) {
            let strict = ["apply", "--dry-run=server", "--validate=strict", "-f", "-"];
            self.kubectl(&strict, &manifest.text);
        }
        for path in ["crd", "rbac/kinds"] {
            let text = self.kubectl(&["kustomize", folder.join(path).to_str().unwrap()], "");
            if !text.is_empty() {
                self.kubectl(&["apply", "--server-side", "-f", "-"], &text);
            }
        }
        for manifest in manifests.iter().filter(|manifest| manifest.path.starts_with("rbac/role")) {
            self.kubectl(&["apply", "-f", "-"], &manifest.text);
        }
    }

    /// Sends reviews for all allowed requests and similar ones.
    fn assert_allows(&self, rules: &[RbacRule], default_namespace: Option<&str>) {
        let requests = requests(rules, &["system", "zoo", "park"]);
        let allowed = |request: &Request| rules.iter().any(|rule| allows(rule, default_namespace, request));
        let expected: Vec<bool> = requests.iter().map(allowed).collect();
        assert!(expected.contains(&true) && expected.contains(&false));
        let reviews: Vec<Value> = requests.iter().map(|request| request.review(Some(OPERATOR))).collect();
        assert_answers(self, &[], &reviews, &expected);
    }
}
