//! The emitted roles on a real API server: it accepts them all, and what it then allows is exactly what the markers say.
//!
//! Needs KUBEBUILDER_ASSETS (kubectl and the control plane's binaries) and the scripts that start a control plane.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use opctl::diagnostic::{SourceFile, Span, render};
use opctl::emit::{self, Manifest, Options};
use opctl::model::{Api, Operator, RbacRule, Scope};
use opctl::source::markers;
use serde_json::{Value, json};

#[test]
fn the_api_server_allows_exactly_what_the_markers_say() {
    let Some(cluster) = ControlPlane::start("cluster") else { return };
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
    let Some(cluster) = ControlPlane::start("namespaced") else { return };
    let rules = rules(MARKERS);
    cluster.apply(&manifests(&rules, NAMESPACED));
    cluster.assert_allows(&rules, Some("system"));
}

#[test]
fn the_api_server_accepts_the_roles_for_people() {
    let Some(cluster) = ControlPlane::start("people") else { return };
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
    let (rules, diagnostics) = markers::read(&SourceFile::new("src/lib.rs", text));
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
        place,
    };
    let operator = Operator { apis: vec![api], rbac: rules.to_vec() };
    emit::manifests(&operator, &options).unwrap_or_else(|problems| panic!("{}", render(&problems, false)))
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

struct ControlPlane {
    scripts: PathBuf,
    kubectl: PathBuf,
    folder: PathBuf,
    kubeconfig: String,
}

impl ControlPlane {
    /// Says on stderr when it is not there.
    fn start(name: &str) -> Option<Self> {
        let kubectl = env::var_os("KUBEBUILDER_ASSETS").map(|assets| Path::new(&assets).join("kubectl"));
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/control-plane");
        let missing = match &kubectl {
            None => "KUBEBUILDER_ASSETS is not set",
            Some(kubectl) if !kubectl.is_file() => "no `kubectl` in KUBEBUILDER_ASSETS",
            Some(_) if !scripts.join("up").is_file() => "no scripts in ../shared/control-plane",
            Some(_) => "",
        };
        if !missing.is_empty() {
            // Not `eprintln!`, which the test harness hides.
            io::stderr().write_all(format!("SKIPPED rbac_apiserver, {name}: {missing}\n").as_bytes()).unwrap();
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rbac-{name}-{}", std::process::id()));
        let up = Command::new(scripts.join("up")).arg(&folder).stderr(Stdio::inherit()).output().unwrap();
        let kubeconfig = String::from_utf8(up.stdout).unwrap().trim().to_owned();
        let cluster = Self { scripts, kubectl: kubectl?, folder, kubeconfig };
        assert!(up.status.success(), "the control plane did not start");
        for namespace in ["system", "zoo", "park"] {
            cluster.kubectl(&["create", "namespace", namespace], "");
        }
        Some(cluster)
    }

    fn kubectl(&self, arguments: &[&str], stdin: &str) -> String {
        let output = self.run(arguments, stdin);
        assert!(output.status.success(), "{arguments:?}: {}\n{stdin}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn run(&self, arguments: &[&str], stdin: &str) -> Output {
        let mut child = Command::new(&self.kubectl)
            .args(arguments)
            .env("KUBECONFIG", &self.kubeconfig)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
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

impl Drop for ControlPlane {
    fn drop(&mut self) {
        let stopped = Command::new(self.scripts.join("down")).arg(&self.folder).status();
        if stopped.is_ok_and(|status| status.success()) {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
