//! The emitted roles on a real API server: it accepts them all, and what it then allows is exactly what the markers say.

#[path = "common/control_plane.rs"]
mod control_plane;

use std::fs;
use std::ops::Deref;
use std::thread::sleep;
use std::time::{Duration, Instant};

use control_plane::ControlPlane;
use opctl::diagnostic::{SourceFile, Span, render};
use opctl::emit::{self, Manifest, Options};
use opctl::model::{Api, RbacRule, Scope};
use opctl::source::markers::{self, Markers};
use serde_json::{Value, json};

#[test]
fn the_api_server_allows_exactly_what_the_markers_say() {
    let Some(cluster) = Cluster::start("cluster") else { return };
    let rules = rules(&format!("{MARKERS}{URL_MARKERS}"));
    cluster.apply(&manifests(&rules, CLUSTER));
    cluster.assert_allows(&rules, None);

    // What the reader of markers knows of `create` by name: an apply has a name when it is authorised, a post has none.
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
        review(user, &Request { namespace: "zoo", group: "cache.example.com", resource, name: "", verb })
    });
    cluster.assert_reviews(&reviews, &expected.map(|(.., allowed)| allowed));
}

const MARKERS: &str = r#"
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch,resources=deployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps;batch,resources=deployments,verbs=patch
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

const CLUSTER: Options = Options { namespaced: false };
const NAMESPACED: Options = Options { namespaced: true };

fn rules(text: &str) -> Vec<RbacRule> {
    let Markers { rbac: rules, diagnostics, .. } = markers::read(&SourceFile::new("src/lib.rs", text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics, false));
    rules
}

fn manifests(rules: &[RbacRule], options: Options) -> Vec<Manifest> {
    let place = Span { file: SourceFile::new("src/api.rs", ""), range: 0..0 };
    let api = Api {
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
        place,
    };
    emit::crds(&[api])
        .and_then(|crds| emit::manifests(&crds, rules, &options))
        .unwrap_or_else(|problems| panic!("{}", render(&problems, false)))
}

struct Request<'a> {
    namespace: &'a str,
    group: &'a str,
    /// With the subresource.
    resource: &'a str,
    name: &'a str,
    verb: &'a str,
}

/// Kubernetes' rule, on the markers as they were written (component-helpers/auth/rbac/validation).
fn allows(rule: &RbacRule, default_namespace: Option<&str>, request: &Request) -> bool {
    let one_of = |list: &[String], text: &str| list.iter().any(|item| item == "*" || item == text);
    let group = if request.group.is_empty() { "core" } else { request.group };
    let subresource = request.resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
    rule.namespace.as_deref().or(default_namespace).is_none_or(|namespace| namespace == request.namespace)
        && (one_of(&rule.groups, group) || one_of(&rule.groups, request.group))
        && (one_of(&rule.resources, request.resource)
            || subresource.is_some_and(|subresource| one_of(&rule.resources, &subresource)))
        && (rule.resource_names.is_empty() || rule.resource_names.iter().any(|name| name == request.name))
        && one_of(&rule.verbs, request.verb)
}

fn review(user: &str, request: &Request) -> Value {
    let (resource, subresource) = request.resource.split_once('/').unwrap_or((request.resource, ""));
    json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": user,
            "resourceAttributes": {
                "namespace": request.namespace,
                "group": request.group,
                "resource": resource,
                "subresource": subresource,
                "name": request.name,
                "verb": request.verb,
            },
        },
    })
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

    /// Every file by itself and strictly, then the kustomizations as a user applies them.
    fn apply(&self, manifests: &[Manifest]) {
        let folder = self.folder.join("config");
        for manifest in manifests {
            let path = folder.join(&manifest.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &manifest.text).unwrap();
        }
        for manifest in manifests.iter().filter(|manifest| !manifest.path.ends_with("kustomization.yaml")) {
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

    /// Asks about every combination of some words, and about URLs.
    fn assert_allows(&self, rules: &[RbacRule], default_namespace: Option<&str>) {
        let mut reviews = Vec::new();
        let mut expected = Vec::new();
        for namespace in ["system", "zoo", "park"] {
            for (group, resource) in [
                ("apps", "deployments"),
                ("batch", "deployments"),
                ("other", "deployments"),
                ("apps", "deployments/scale"),
                ("apps", "deployments/status"),
                ("apps", "statefulsets"),
                ("", "configmaps"),
                ("", "pods"),
                ("", "pods/log"),
            ] {
                for name in ["", "lock", "1.0"] {
                    for verb in ["get", "list", "patch", "create", "escalate"] {
                        let request = Request { namespace, group, resource, name, verb };
                        reviews.push(review(OPERATOR, &request));
                        expected.push(rules.iter().any(|rule| allows(rule, default_namespace, &request)));
                    }
                }
            }
        }
        for (path, verb, matched) in [
            ("/metrics", "get", true),
            ("/metrics", "post", false),
            ("/metrics/x", "get", false),
            ("/healthz/x", "get", true),
            ("/reload", "post", true),
            ("/reload", "get", false),
        ] {
            reviews.push(json!({
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {"user": OPERATOR, "nonResourceAttributes": {"path": path, "verb": verb}},
            }));
            expected.push(matched && default_namespace.is_none());
        }
        assert!(expected.contains(&true));
        self.assert_reviews(&reviews, &expected);
    }

    /// The authoriser sees new roles a moment late, so wrong answers are asked again for a while.
    fn assert_reviews(&self, reviews: &[Value], expected: &[bool]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": reviews}).to_string();
        let started = Instant::now();
        loop {
            let output = self.kubectl(&["create", "-f", "-", "-o", "json"], &list);
            let answers: Vec<bool> = serde_json::Deserializer::from_str(&output)
                .into_iter::<Value>()
                .map(|answer| answer.unwrap()["status"]["allowed"].as_bool().unwrap())
                .collect();
            assert_eq!(answers.len(), expected.len());
            let Some(wrong) = (0..answers.len()).find(|index| answers[*index] != expected[*index]) else { return };
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "allowed: {}, expected: {}: {}",
                answers[wrong],
                expected[wrong],
                reviews[wrong]["spec"]
            );
            sleep(Duration::from_millis(300));
        }
    }
}
