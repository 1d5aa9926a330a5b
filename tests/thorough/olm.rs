//! OLM bundles: a bundle generated from a project renders to the project again, and all differences are reported.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use opctl_kustomize::Renderer;
use opctl_kustomize::yaml::{Dialect, Node, documents};
use opctl_model::diagnostic::{Diagnostic, SourceFile};
use opctl_model::project::Tree;
use opctl_olm::bundle::{self, Findings, Folder};
use opctl_olm::render::{Installation, render};
use opctl_olm::{self as olm, Bundle, Fate, Input, Metadata, Options};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, shell};

const CERTIFICATES: &str = "/tmp/k8s-webhook-server/serving-certs";

fn parsed(path: &str, text: &str) -> Vec<Node> {
    documents(&SourceFile::new(path, text), Dialect::Kustomize).unwrap()
}

/// The base of a package that supports all install modes, or only all namespaces.
fn base(modes: bool) -> Node {
    let metadata = Metadata { package: "shop".into(), namespaced: modes, ..Metadata::default() };
    parsed("base.yaml", &olm::scaffold(&metadata, "")).remove(0)
}

fn input(objects: Vec<Node>, base: Node) -> Input<'static> {
    let (samples, hints, options) = (Vec::new(), BTreeMap::new(), Options::default());
    Input { package: "shop", version: "0.1.0", base, objects, samples, hints, options }
}

fn errors(bundle: &Bundle) -> Vec<&str> {
    bundle.findings.iter().filter(|finding| finding.is_error()).map(|finding| finding.message.as_str()).collect()
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn items(value: &Value, pointer: &str) -> Vec<Value> {
    value.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Group, kind, namespace and name.
fn id(object: &Value) -> [String; 4] {
    let group = text(object, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
    [group, text(object, "/kind"), text(object, "/metadata/namespace"), text(object, "/metadata/name")]
        .map(str::to_owned)
}

/// The permissions of each account: account, namespace (empty for all), rule. Bindings are evaluated like in an API
/// server.
fn grants(objects: &[Value]) -> BTreeSet<(String, String, String)> {
    let mut grants = BTreeSet::new();
    for binding in objects.iter().filter(|object| text(object, "/kind").ends_with("RoleBinding")) {
        let namespace = text(binding, "/metadata/namespace");
        let role = objects.iter().find(|role| {
            role["kind"] == binding["roleRef"]["kind"]
                && role["metadata"]["name"] == binding["roleRef"]["name"]
                && (role["kind"] == "ClusterRole" || role["metadata"]["namespace"] == namespace)
        });
        for subject in items(binding, "/subjects") {
            let account = format!("{}/{}", text(&subject, "/namespace"), text(&subject, "/name"));
            for rule in role.map(|role| items(role, "/rules")).unwrap_or_default() {
                grants.insert((account.clone(), namespace.to_owned(), rule.to_string()));
            }
        }
    }
    grants
}

/// A Deployment without OLM's additions.
fn without_olm(deployment: &Value, csv: &Value) -> Value {
    let mut deployment = deployment.clone();
    let spec = deployment["spec"].as_object_mut().unwrap();
    assert_eq!(spec.remove("revisionHistoryLimit"), Some(json!(1)));
    let template = &mut deployment["spec"]["template"];
    let annotations = template["metadata"]["annotations"].as_object_mut().unwrap();
    assert!(
        annotations.remove("olm.targetNamespaces").is_some() && annotations.remove("olm.operatorNamespace").is_some()
    );
    annotations.retain(|key, _| csv["metadata"]["annotations"].get(key).is_none());
    if annotations.is_empty() {
        template["metadata"].as_object_mut().unwrap().remove("annotations");
    }
    let is_olms = |item: &Value| ["webhook-cert", "apiservice-cert"].iter().any(|name| item["name"] == *name);
    let strip = |object: &mut Value, key: &str| {
        let Some(list) = object.get_mut(key).and_then(Value::as_array_mut) else { return };
        list.retain(|item| !is_olms(item));
        if list.is_empty() {
            object.as_object_mut().unwrap().remove(key);
        }
    };
    let pod = &mut template["spec"];
    strip(pod, "volumes");
    pod["containers"].as_array_mut().unwrap().iter_mut().for_each(|container| strip(container, "volumeMounts"));
    deployment
}

/// A Deployment of the project with the changes for OLM: the namespaces of the OperatorGroup, and its certificates.
fn for_olm(deployment: &Value) -> Value {
    let mut deployment = deployment.clone();
    if let Some(metadata) = deployment["metadata"].as_object_mut() {
        metadata.remove("annotations");
    }
    let pod = &mut deployment["spec"]["template"]["spec"];
    let is_certificate = |item: &Value| item["name"] == "webhook-certificate" || item["name"] == "metrics-certificate";
    if let Some(volumes) = pod.get_mut("volumes").and_then(Value::as_array_mut) {
        volumes.retain(|volume| !is_certificate(volume));
        if volumes.is_empty() {
            pod.as_object_mut().unwrap().remove("volumes");
        }
    }
    for container in pod["containers"].as_array_mut().unwrap() {
        if let Some(mounts) = container.get_mut("volumeMounts").and_then(Value::as_array_mut) {
            mounts.retain(|mount| !is_certificate(mount));
            if mounts.is_empty() {
                container.as_object_mut().unwrap().remove("volumeMounts");
            }
        }
        let Some(variables) = container.get_mut("env").and_then(Value::as_array_mut) else { continue };
        let has_folder = variables.iter().any(|variable| variable["name"] == "WEBHOOK_CERT_DIR");
        if has_folder {
            variables.retain(|variable| variable["name"] != "WEBHOOK_SERVICE");
        }
        variables.retain(|variable| variable["name"] != "METRICS_CERT_PATH");
        for variable in variables {
            match text(variable, "/name") {
                "WATCH_NAMESPACE" => {
                    let path = "metadata.annotations['olm.targetNamespaces']";
                    *variable =
                        json!({ "name": "WATCH_NAMESPACE", "valueFrom": { "fieldRef": { "fieldPath": path } } });
                }
                "WEBHOOK_SERVICE" | "WEBHOOK_CERT_DIR" => {
                    *variable = json!({ "name": "WEBHOOK_CERT_DIR", "value": CERTIFICATES });
                }
                _ => {}
            }
        }
    }
    deployment
}

/// Client configurations of the API server by name, without the Service, which OLM creates.
fn calls(objects: &[Value]) -> BTreeMap<String, Value> {
    let configurations = objects.iter().filter(|object| text(object, "/kind").ends_with("WebhookConfiguration"));
    let webhooks = configurations.flat_map(|object| {
        items(object, "/webhooks")
            .into_iter()
            .map(|webhook| (format!("{} {}", text(object, "/kind"), text(&webhook, "/name")), webhook))
    });
    let port = |webhook: &Value| {
        let service = &webhook["clientConfig"]["service"];
        let is_it = |object: &&Value| object["kind"] == "Service" && object["metadata"]["name"] == service["name"];
        let found = objects.iter().find(is_it).unwrap_or_else(|| panic!("no Service for {webhook}"));
        let wanted = service["port"].as_i64().unwrap_or(443);
        let port = items(found, "/spec/ports").into_iter().find(|port| port["port"] == wanted).unwrap();
        match &port["targetPort"] {
            Value::String(name) => {
                let deployments = objects.iter().filter(|object| object["kind"] == "Deployment");
                let containers = deployments.flat_map(|object| items(object, "/spec/template/spec/containers"));
                let mut ports = containers.flat_map(|container| items(&container, "/ports"));
                ports.find(|port| port["name"] == *name).unwrap()["containerPort"].clone()
            }
            number => number.clone(),
        }
    };
    webhooks
        .map(|(name, mut webhook)| {
            let target = port(&webhook);
            let path = webhook["clientConfig"]["service"]["path"].clone();
            webhook["clientConfig"] = json!({ "path": path, "container": target });
            webhook.as_object_mut().unwrap().remove("namespaceSelector");
            (name, webhook)
        })
        .collect()
}

/// A bundle with these manifests.
fn read<'a>(manifests: impl IntoIterator<Item = &'a Value>) -> bundle::Bundle {
    let mut tree = Tree::empty();
    let annotations = "{annotations: {operators.operatorframework.io.bundle.package.v1: shop}}";
    tree.lay_over("metadata/annotations.yaml", annotations);
    for (number, manifest) in manifests.into_iter().enumerate() {
        tree.lay_over(format!("manifests/{number}.yaml"), manifest.to_string());
    }
    let mut findings = Findings::default();
    let read = bundle::load(Folder { tree: &tree, shown: "" }, &mut findings);
    read.unwrap_or_else(|| panic!("{findings:?}"))
}

/// Asserts that the rendered bundle equals the project, except for reported differences.
pub fn round_trips(name: &str, project: &Tree) {
    let mut renderer = Renderer::new(project);
    let nodes: Vec<Node> =
        renderer.render("config/default", &[]).objects.into_iter().map(|object| object.node).collect();
    let project: Vec<Value> = nodes.iter().map(Node::json).collect();
    let converts = project.iter().any(|object| text(object, "/spec/conversion/strategy") == "Webhook");
    let bundle = olm::generate(input(nodes.clone(), base(!converts)));
    assert_eq!(errors(&bundle), Vec::<&str>::new(), "{name}");

    // The order of the input has no effect.
    let reversed = olm::generate(input(nodes.into_iter().rev().collect(), base(!converts)));
    assert_eq!(reversed.manifests, bundle.manifests, "{name}");

    let home = project.iter().find(|object| object["kind"] == "Deployment").unwrap();
    let home = text(home, "/metadata/namespace").to_owned();
    let csv = bundle.manifests.values().find(|object| object["kind"] == "ClusterServiceVersion").unwrap();
    let is_watched = |rule: &str| rule.contains("permission in other") || rule.contains("becomes a permission");
    let moved = bundle.findings.iter().any(|finding| is_watched(&finding.message));
    let watched: BTreeSet<String> = if converts { BTreeSet::new() } else { [home.clone()].into() };
    let read = read(bundle.manifests.values());
    let installation = Installation { bundle: &read, namespace: &home, watched: &watched };
    let rendered = render(&installation).unwrap_or_else(|error| panic!("{name}: {error}"));

    // Each object is in the bundle or reported.
    let rows: BTreeMap<_, _> = bundle.rows.iter().map(|row| (row.key.clone(), &row.fates)).collect();
    for object in &project {
        let [group, kind, namespace, own] = id(object);
        let fates = rows.get(&[kind.clone(), group.clone(), namespace.clone(), own.clone()]);
        let fates = fates.unwrap_or_else(|| panic!("{name}: {kind} {own} is nowhere"));
        let again = rendered.iter().find(|other| id(other) == id(object));
        if fates.contains(&Fate::Dropped) {
            let is_reported = bundle.findings.iter().any(|finding| finding.message.contains(&format!("`{own}`")));
            assert!(again.is_none() && is_reported, "{name}: {kind} {own}");
        } else if fates.iter().any(|fate| matches!(fate, Fate::File(_))) && !kind.ends_with("Binding") {
            let mut object = object.clone();
            let injected = |object: &mut Value| {
                let metadata = object["metadata"].as_object_mut().unwrap();
                let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
                annotations.remove("cert-manager.io/inject-ca-from");
                if annotations.is_empty() {
                    metadata.remove("annotations");
                }
            };
            let mut again = again.unwrap_or_else(|| panic!("{name}: {kind} {own} is lost")).clone();
            injected(&mut object);
            injected(&mut again);
            if kind == "ServiceMonitor" && object.pointer("/spec/endpoints/0/tlsConfig/ca").is_some() {
                let message = format!("the authority of ServiceMonitor `{own}`");
                assert!(bundle.findings.iter().any(|it| it.message.starts_with(&message)), "{name}: {own}");
                object["spec"]["endpoints"][0]["tlsConfig"] = json!({ "insecureSkipVerify": true });
            }
            if text(&object, "/spec/conversion/strategy") == "Webhook" {
                let path =
                    |object: &Value| object.pointer("/spec/conversion/webhook/clientConfig/service/path").cloned();
                assert_eq!(path(&object), path(&again), "{name}");
                again["spec"]["conversion"] = object["spec"]["conversion"].clone();
            }
            assert_eq!(object, again, "{name}: {kind} {own}");
        }
    }

    // Deployments, except for OLM's changes.
    let deployments = |objects: &[Value]| -> Vec<Value> {
        objects.iter().filter(|object| object["kind"] == "Deployment").cloned().collect()
    };
    let expected: Vec<Value> = deployments(&project).iter().map(for_olm).collect();
    let found: Vec<Value> = deployments(&rendered).iter().map(|it| without_olm(it, csv)).collect();
    assert_eq!(expected, found, "{name}");

    // With all namespaces, all permissions are cluster-wide, and there is one for Namespaces.
    if !moved {
        let everywhere = |(account, _, rule): (String, String, String)| (account, String::new(), rule);
        let own = r#"{"apiGroups":[""],"resources":["namespaces"],"verbs":["get","list","watch"]}"#;
        if converts {
            let expected: BTreeSet<_> = grants(&project).into_iter().map(everywhere).collect();
            let found: BTreeSet<_> = grants(&rendered).into_iter().filter(|(_, _, rule)| rule != own).collect();
            assert_eq!(expected, found, "{name}");
        } else {
            assert_eq!(grants(&project), grants(&rendered), "{name}");
        }
    }
    assert_eq!(calls(&project), calls(&rendered), "{name}");
}

#[test]
fn a_bundle_of_each_example_renders_to_the_example() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for folder in fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()) {
        if folder.join("config/default").is_dir() {
            round_trips(&folder.display().to_string(), &Tree::at(&folder));
        }
    }
}

#[test]
fn the_bundle_of_an_example_is_up_to_date() {
    let mut sandbox = Sandbox::new();
    sandbox.folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memcached");
    shell(&sandbox, "opctl generate bundle --check --strict");
}

/// A project with every feature that affects `config/default`.
fn featured() -> Sandbox {
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl -q init shop --domain example.com --api depot/v1/Rack --api depot/v1/Shelf");
    sandbox.folder.push("shop");
    for command in [
        "opctl -q create webhook --group depot --version v1 --kind Rack --defaulting --validation",
        "opctl -q create api --group depot --version v2 --kind Rack --controller=false",
        "opctl -q create webhook --group depot --version v2 --kind Rack --conversion --spoke v1",
        "opctl -q create webhook --group core --version v1 --kind Pod --validation",
        "opctl -q edit --prometheus --network-policy --leader-election",
    ] {
        shell(&sandbox, command);
    }
    sandbox
}

#[test]
fn a_bundle_of_a_project_with_webhooks_renders_to_the_project() {
    let sandbox = featured();
    round_trips("the operator's own certificates", &Tree::at(&sandbox.folder));
    shell(&sandbox, "opctl -q edit --cert-manager");
    round_trips("cert-manager's certificates", &Tree::at(&sandbox.folder));
}

/// The resources in the permissions of a bundle that only certificates need.
fn for_certificates(sandbox: &Sandbox) -> Vec<String> {
    shell(sandbox, "opctl -q manifests && opctl -q generate bundle --image registry.example.com/shop:v1");
    let csv = fs::read_to_string(sandbox.folder.join("bundle/manifests/shop.clusterserviceversion.yaml")).unwrap();
    let csv = parsed("csv.yaml", &csv).remove(0).json();
    let lists = ["/spec/install/spec/permissions", "/spec/install/spec/clusterPermissions"];
    let rules = lists.into_iter().flat_map(|list| items(&csv, list)).flat_map(|item| items(&item, "/rules"));
    let of_certificates = ["secrets", "customresourcedefinitions", "validatingwebhookconfigurations"];
    let resources = rules.filter_map(|rule| {
        let listed = items(&rule, "/resources");
        let resource = of_certificates.into_iter().find(|name| listed.contains(&json!(name)))?;
        Some(format!("{resource} {}", rule["verbs"]))
    });
    resources.collect()
}

#[test]
fn a_bundle_has_no_permissions_to_issue_certificates() {
    let sandbox = featured();
    assert_eq!(for_certificates(&sandbox), [""; 0]);
    let role = fs::read_to_string(sandbox.folder.join("config/rbac/role.yaml")).unwrap();
    for resource in ["secrets", "customresourcedefinitions", "validatingwebhookconfigurations"] {
        assert!(role.contains(resource), "{resource}: {role}");
    }

    // Permissions for the project itself stay.
    let main = sandbox.folder.join("src/main.rs");
    let source = fs::read_to_string(&main).unwrap();
    let marker = "// +kubebuilder:rbac:groups=core,resources=secrets,verbs=create;list,namespace=system\n";
    fs::write(&main, format!("{source}\n{marker}struct Marked;\n")).unwrap();
    assert_eq!(for_certificates(&sandbox), [r#"secrets ["create","list"]"#]);
    fs::write(&main, source).unwrap();

    // An operator without OLM's certificates issues its own.
    let manager = sandbox.folder.join("config/webhook-server/manager.yaml");
    let patch = fs::read_to_string(&manager).unwrap();
    assert!(patch.contains("webhook-service"), "{patch}");
    fs::write(&manager, patch.replace("shop-webhook-service", "shop-other-service")).unwrap();
    assert!(for_certificates(&sandbox).len() > 2, "{:?}", for_certificates(&sandbox));
    fs::write(&manager, patch).unwrap();

    shell(&sandbox, "opctl -q edit --cert-manager");
    assert_eq!(for_certificates(&sandbox), [""; 0]);
}

/// A minimal operator.
const OPERATOR: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: shop-system}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      serviceAccountName: shop
      containers:
      - {name: manager, image: registry.example.com/shop:v1, ports: [{name: https, containerPort: 9443}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: shop, namespace: shop-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: shop}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: shop}
subjects: [{kind: ServiceAccount, name: shop, namespace: shop-system}]
---
apiVersion: v1
kind: Service
metadata: {name: hooks, namespace: shop-system}
spec: {selector: {app: shop}, ports: [{port: 443, targetPort: https}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: shop}
webhooks:
- name: v.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: hooks, namespace: shop-system, path: /validate}}
";

fn of(text: &str) -> Bundle {
    olm::generate(input(parsed("operator.yaml", text), base(true)))
}

/// The code of each finding, and the text at its location.
fn found(bundle: &Bundle) -> Vec<(&'static str, String)> {
    let place = |finding: &Diagnostic| {
        let span =
            finding.span.as_ref().map(|(span, _)| span.file.text[span.range.clone()].trim_matches('\'').to_owned());
        span.unwrap_or_default()
    };
    bundle.findings.iter().map(|finding| (finding.code.name, place(finding))).collect()
}

#[test]
fn what_a_bundle_cannot_hold_is_reported_at_its_place() {
    assert_eq!(found(&of(OPERATOR)), []);
    const RBAC: &str = "apiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: a";
    const SHOP: &str = "subjects: [{kind: ServiceAccount, name: shop, namespace: shop-system}]";
    let role_binding = format!(
        "kind: RoleBinding\n{RBAC}, namespace: kube-system}}\nroleRef: {{kind: Role, name: extension-apiserver-authentication-reader}}\n{SHOP}"
    );
    let view = format!("kind: ClusterRoleBinding\n{RBAC}}}\nroleRef: {{kind: ClusterRole, name: view}}\n{SHOP}");
    let unused = format!(
        "kind: ClusterRoleBinding\n{RBAC}}}\nroleRef: {{kind: ClusterRole, name: shop}}\n\
         subjects: [{{kind: ServiceAccount, name: runner, namespace: shop-system}}]"
    );
    let group = format!(
        "kind: ClusterRoleBinding\n{RBAC}}}\nroleRef: {{kind: ClusterRole, name: shop}}\nsubjects: [{{kind: Group, name: admins}}]"
    );
    let elsewhere = "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: a, namespace: zoo}\n\
        spec: {template: {spec: {serviceAccountName: shop}}}";
    let related = "name: manager, env: [{name: RELATED_IMAGE_A, valueFrom: {fieldRef: {fieldPath: a}}}],";
    // The replaced text (empty to add an object), its replacement, and the findings, each with the start of the text at
    // its location.
    for (from, to, expected) in [
        (
            "",
            "kind: HorizontalPodAutoscaler\napiVersion: autoscaling/v2\nmetadata: {name: a, namespace: shop-system}",
            &[("OP500", "a")][..],
        ),
        ("", "kind: Widget\napiVersion: factory.io/v1\nmetadata: {name: a}", &[("OP500", "a")]),
        // The kind is known, but in another group.
        ("", "kind: Service\napiVersion: serving.knative.dev/v1\nmetadata: {name: a}", &[("OP500", "a")]),
        ("", "kind: Namespace\napiVersion: v1\nmetadata: {name: other}", &[("OP500", "other")]),
        (
            "",
            "kind: Certificate\napiVersion: cert-manager.io/v1\nmetadata: {name: a, namespace: shop-system}",
            &[("OP500", "a")],
        ),
        ("  sideEffects", "  namespaceSelector: {matchLabels: {a: b}}\n  sideEffects", &[("OP501", "{matchLabels")]),
        (
            "  sideEffects",
            "  matchConditions: [{name: a, expression: 'true'}]\n  sideEffects",
            &[("OP501", "[{name: a")],
        ),
        ("path: /validate}", "path: /validate}, caBundle: YQ==", &[("OP501", "YQ==")]),
        (
            "ServiceAccount\nmetadata: {name: shop,",
            "ServiceAccount\nmetadata: {annotations: {a: b}, name: shop,",
            &[("OP501", "{a: b}")],
        ),
        (
            "kind: ServiceAccount\n",
            "kind: ServiceAccount\nimagePullSecrets: [{name: a}]\n",
            &[("OP501", "[{name: a}]")],
        ),
        (
            "Deployment\nmetadata: {name: shop,",
            "Deployment\nmetadata: {annotations: {a: b}, name: shop,",
            &[("OP501", "{a: b}")],
        ),
        (
            "",
            "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, namespace: kube-system}",
            &[("OP502", "kube-system")],
        ),
        ("", &role_binding, &[("OP502", "kube-system")]),
        ("", &view, &[("OP503", "shop-system")]),
        ("", &unused, &[("OP503", "[{kind"), ("OP503", "shop-system")]),
        ("", &group, &[]),
        (
            "",
            "kind: NetworkPolicy\napiVersion: networking.k8s.io/v1\nmetadata: {name: a, namespace: shop-system}",
            &[("OP504", "a")],
        ),
        (
            "",
            "kind: PodMonitor\napiVersion: monitoring.coreos.com/v1\nmetadata: {name: a, namespace: shop-system}",
            &[("OP504", "a")],
        ),
        ("", elsewhere, &[("OP505", "zoo")]),
        (
            "name: hooks, namespace: shop-system, path",
            "name: gone, namespace: shop-system, path",
            &[("OP506", "{name: gone")],
        ),
        ("{port: 443,", "{port: 444,", &[("OP506", "[{port: 444")]),
        ("targetPort: https", "targetPort: nothing", &[("OP506", "nothing")]),
        ("spec: {selector: {app: shop}", "spec: {selector: {app: other}", &[("OP506", "{app: other}")]),
        ("clientConfig: {service:", "clientConfig: {url: 'https://a.example.com', other:", &[("OP506", "{url:")]),
        ("name: manager,", related, &[("OP507", "{name: RELATED")]),
        ("name: manager,", "name: manager, args: ['--service=a.shop-system.svc'],", &[("OP508", "--service=a")]),
        ("name: manager,", "name: manager, args: ['--service=a.my-shop-system.svc'],", &[]),
    ] {
        let text = match from {
            "" => format!("{OPERATOR}---\n{to}\n"),
            from => {
                assert!(OPERATOR.contains(from), "{from}");
                OPERATOR.replacen(from, to, 1)
            }
        };
        let bundle = of(&text);
        let found = found(&bundle);
        let fits = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(found, expected)| found.0 == expected.0 && found.1.starts_with(expected.1));
        assert!(fits, "{to}: {found:?}");
    }
}

#[test]
fn permissions_are_those_of_the_accounts_of_deployments() {
    let permissions = |bundle: &Bundle, field: &str| {
        let csv = &bundle.manifests["shop.clusterserviceversion.yaml"];
        items(csv, &format!("/spec/install/spec/{field}"))
    };
    let cluster = json!([{ "serviceAccountName": "shop", "rules": [{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }] }]);
    assert_eq!(json!(permissions(&of(OPERATOR), "clusterPermissions")), cluster);

    // An account of the same name in another namespace is a different subject: the binding stays, and so does the role.
    let other = "subjects: [{kind: ServiceAccount, name: shop, namespace: shop-system}, {kind: ServiceAccount, name: shop, namespace: other}]";
    let bundle = of(&OPERATOR.replace("subjects: [{kind: ServiceAccount, name: shop, namespace: shop-system}]", other));
    assert_eq!(json!(permissions(&bundle, "clusterPermissions")), cluster);
    let binding = &bundle.manifests["shop_rbac.authorization.k8s.io_v1_clusterrolebinding.yaml"];
    assert_eq!(binding["subjects"], json!([{ "kind": "ServiceAccount", "name": "shop", "namespace": "other" }]));
    assert!(bundle.manifests.contains_key("shop_rbac.authorization.k8s.io_v1_clusterrole.yaml"));

    // OLM only creates accounts with permissions.
    let bundle = of(&OPERATOR.replace("name: shop, namespace: shop-system}]", "name: else, namespace: other}]"));
    assert_eq!(json!(permissions(&bundle, "permissions")), json!([{ "serviceAccountName": "shop", "rules": [] }]));

    // The rules of default cluster roles are known.
    let bundle =
        of(&OPERATOR.replace("kind: ClusterRole, name: shop}", "kind: ClusterRole, name: 'system:auth-delegator'}"));
    assert_eq!(found(&bundle), []);
    assert_eq!(permissions(&bundle, "clusterPermissions")[0]["rules"].as_array().unwrap().len(), 2);

    // Aggregated rules are those of the roles in the project.
    let aggregated = "aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: shop}}]}\n---\nkind: ClusterRole\n\
        apiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: part, labels: {to: shop}}\n\
        rules: [{apiGroups: [''], resources: [nodes], verbs: [list]}]";
    let bundle = of(&OPERATOR.replace("rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", aggregated));
    assert_eq!(found(&bundle), [("OP501", "{clusterRoleSelectors: [{matchLabels: {to: shop}}]}".to_owned())]);
    assert_eq!(permissions(&bundle, "clusterPermissions")[0]["rules"][0]["resources"], json!(["nodes"]));
}

#[test]
fn one_change_of_the_input_changes_one_file() {
    let before = of(OPERATOR).manifests;
    let map = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, namespace: shop-system}\ndata: {a: b}\n";
    let mut after = of(&format!("{OPERATOR}---\n{map}")).manifests;
    let map = after.remove("a_v1_configmap.yaml").unwrap();
    assert_eq!(
        map,
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": "b" } })
    );
    assert_eq!(before, after);

    // A CRD is an item in the ClusterServiceVersion and a file.
    let crd = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nmetadata: {name: racks.example.com}\n\
        spec: {group: example.com, names: {kind: Rack, plural: racks}, versions: [{name: v1, served: true, storage: true}]}\n";
    let mut after = of(&format!("{OPERATOR}---\n{crd}")).manifests;
    assert!(after.remove("example.com_racks.yaml").is_some());
    let csv = after.get_mut("shop.clusterserviceversion.yaml").unwrap();
    let owned = csv["spec"]["customresourcedefinitions"].as_object_mut().unwrap().remove("owned").unwrap();
    assert_eq!(owned[0]["displayName"], "Rack");
    assert_eq!(before, after);
}

#[test]
fn images_are_pinned_together_with_the_variables_that_name_them() {
    let text =
        OPERATOR.replace("name: manager,", "name: manager, env: [{name: RELATED_IMAGE_DB_SERVER, value: 'a/db:2'}],");
    let digest = |digit: &str| format!("sha256:{}", digit.repeat(64));
    let digests = [("registry.example.com/shop:v1", "1"), ("a/db:2", "2")];
    let digests = digests.map(|(image, digit)| (image.to_owned(), digest(digit)));
    let mut input = input(parsed("operator.yaml", &text), base(true));
    input.options.digests = Some(digests.clone().into());
    let bundle = olm::generate(input);
    assert_eq!(found(&bundle), []);
    let csv = &bundle.manifests["shop.clusterserviceversion.yaml"];
    let container = csv.pointer("/spec/install/spec/deployments/0/spec/template/spec/containers/0").unwrap();
    assert_eq!(container["image"], format!("registry.example.com/shop@{}", digest("1")));
    assert_eq!(container["env"][0]["value"], format!("a/db@{}", digest("2")));
    let related = json!([
        { "name": "db-server", "image": format!("a/db@{}", digest("2")) },
        { "name": "manager", "image": format!("registry.example.com/shop@{}", digest("1")) },
    ]);
    assert_eq!(csv["spec"]["relatedImages"], related);

    let mut input = self::input(parsed("operator.yaml", &text), base(true));
    input.options.digests = Some(digests.into_iter().take(1).collect());
    assert_eq!(found(&olm::generate(input)), [("OP507", "a/db:2".to_owned())]);
}

#[test]
fn a_bundle_that_olm_would_refuse_is_not_rendered() {
    let render_in = |manifests: &[Value], watched: &[&str]| {
        let watched = watched.iter().map(|name| (*name).to_owned()).collect();
        let bundle = read(manifests);
        render(&Installation { bundle: &bundle, namespace: "here", watched: &watched }).map_err(|error| error.message)
    };
    let bundle = olm::generate(input(parsed("operator.yaml", OPERATOR), base(false)));
    let manifests: Vec<Value> = bundle.manifests.into_values().collect();
    let objects = render_in(&manifests, &[]).unwrap();
    assert!(objects.iter().all(|object| !text(object, "/metadata/namespace").contains("shop-system")));
    assert!(render_in(&manifests, &["one"]).unwrap_err().contains("SingleNamespace"));
    let pod = json!({ "kind": "Pod", "metadata": { "name": "a" } });
    assert!(render_in(&[manifests, vec![pod]].concat(), &[]).unwrap_err().contains("Pod"));
}

#[test]
fn what_people_write_stays_and_what_is_gone_goes() {
    let sandbox = featured();
    let opctl = |arguments: &str| {
        let output = sandbox.command("opctl").args(arguments.split(' ')).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), said)
    };
    let read = |path: &str| fs::read_to_string(sandbox.folder.join(path)).unwrap();
    let write = |path: &str, text: String| fs::write(sandbox.folder.join(path), text).unwrap();
    let (code, said) = opctl(
        "generate bundle --image registry.example.com/shop:v1 --channels stable,fast --created-at 2026-01-31T12:00:00Z",
    );
    assert_eq!(code, Some(0), "{said}");
    let csv = "bundle/manifests/shop.clusterserviceversion.yaml";
    let first = read(csv);
    for path in [csv, "bundle/metadata/annotations.yaml", "bundle.Dockerfile", "bundle/tests/scorecard/config.yaml"] {
        let text = read(path);
        assert!(text.starts_with("# Generated by opctl; do not edit. ") && !text.contains("\n---"), "{path}: {text}");
    }
    // By default, the arguments are those of the bundle.
    let (code, said) = opctl("generate bundle --check");
    assert_eq!(code, Some(0), "{said}");

    // The base, foreign labels, and a file that is no longer needed.
    let base = "config/manifests/bases/shop.clusterserviceversion.yaml";
    write(base, read(base).replace("displayName: Shop", "displayName: The Shop\n  x-ours: [1]"));
    write(
        "bundle/metadata/annotations.yaml",
        format!("{}  com.example.team: depot\n", read("bundle/metadata/annotations.yaml")),
    );
    write("bundle.Dockerfile", format!("{}LABEL com.example.team=\"the depot\"\n", read("bundle.Dockerfile")));
    write("bundle/manifests/old.yaml", first.clone());
    write("bundle/manifests/mine.yaml", "kind: ConfigMap\n".into());
    let (code, said) = opctl("generate bundle");
    assert_eq!(code, Some(0), "{said}");
    assert!(read(csv).contains("displayName: The Shop\n") && read(csv).contains("x-ours:\n  - 1\n"), "{}", read(csv));
    assert!(read("bundle/metadata/annotations.yaml").contains("  com.example.team: depot\n"));
    assert!(read("bundle/metadata/annotations.yaml").contains("channels.v1: stable,fast\n"));
    assert!(read("bundle.Dockerfile").contains("\nLABEL com.example.team=\"the depot\"\n"));
    assert!(!sandbox.folder.join("bundle/manifests/old.yaml").exists());
    assert!(sandbox.folder.join("bundle/manifests/mine.yaml").exists());
    fs::remove_file(sandbox.folder.join("bundle/manifests/mine.yaml")).unwrap();

    // `--strict` turns warnings into errors, and a warning may be allowed.
    let (code, said) = opctl("generate bundle --strict --check");
    assert!(code == Some(1) && said.contains("error[OP504]") && said.contains("nothing was written"), "{said}");
    let (code, said) = opctl("bundle render --namespace depot");
    assert!(code == Some(0) && said.contains("namespace: depot") && !said.contains("shop-system.svc"), "{said}");
    let (code, said) = opctl("bundle render none --namespace depot");
    assert!(code == Some(1) && said.contains("there is no folder `none`"), "{said}");
    for (arguments, message) in [
        ("--version 1.0", "not a semantic version"),
        ("--version 1.0.0+a", "not a semantic version"),
        ("--image registry.example.com/shop:v1 --overlay config/nothing", "cannot render `config/nothing`"),
        ("--use-image-digests --digests PROJECT", "PROJECT"),
    ] {
        let (code, said) = opctl(&format!("generate bundle {arguments}"));
        assert!(code == Some(1) && said.contains(message), "{arguments}: {said}");
    }
}

#[test]
fn markers_of_operator_sdk_say_how_fields_are_shown() {
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl -q init shop --domain example.com --api depot/v1/Rack");
    sandbox.folder.push("shop");
    let path = sandbox.folder.join("src/api/depot/v1/rack.rs");
    let source = fs::read_to_string(&path).unwrap();
    let fields = "pub struct RackSpec {\n    // +operator-sdk:csv:customresourcedefinitions:type=spec,displayName=\"How high\",order=1,xDescriptors={\"urn:a\",\"urn:b\"}\n    \
        /// The height.\n    pub total_height: Option<i32>,\n    /// Parts.\n    #[serde(default)]\n    pub parts: Vec<Part>,\n";
    let part = "\n/// A part.\n#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]\npub struct Part {\n    \
        // +operator-sdk:csv:customresourcedefinitions:type=spec\n    pub label: String,\n}\n";
    let kind = "// +operator-sdk:csv:customresourcedefinitions:displayName=\"A rack\",resources={{Job,v1},{Service,v1,rack}}\n#[derive(CustomResource";
    let changed =
        source.replacen("pub struct RackSpec {\n", fields, 1).replacen("#[derive(CustomResource", kind, 1) + part;
    fs::write(&path, &changed).unwrap();
    shell(&sandbox, "opctl -q manifests && opctl -q generate bundle --image registry.example.com/shop:v1");
    let csv = fs::read_to_string(sandbox.folder.join("bundle/manifests/shop.clusterserviceversion.yaml")).unwrap();
    let csv = parsed("csv.yaml", &csv).remove(0).json();
    let owned = &csv["spec"]["customresourcedefinitions"]["owned"][0];
    assert_eq!(owned["displayName"], "A rack");
    let resources =
        json!([{ "kind": "Job", "version": "v1", "name": "" }, { "kind": "Service", "version": "v1", "name": "rack" }]);
    assert_eq!(owned["resources"], resources);
    let first = json!({ "path": "totalHeight", "displayName": "How high", "description": "The height.", "x-descriptors": ["urn:a", "urn:b"] });
    assert_eq!(owned["specDescriptors"][0], first);
    let paths: Vec<Value> = items(owned, "/specDescriptors").into_iter().map(|one| one["path"].clone()).collect();
    assert!(paths.contains(&json!("parts[0].label")), "{paths:?}");

    // A marker that does not describe anything is an error, and so is a typo.
    for (from, to, code) in
        [("type=spec,displayName", "type=status,displayName", "OP116"), ("displayName=\"A", "displayname=\"A", "OP105")]
    {
        fs::write(&path, changed.replacen(from, to, 1)).unwrap();
        let output = sandbox.command("opctl").args(["generate", "bundle"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains(&format!("error[{code}]")) && said.contains("rack.rs:"),
            "{said}"
        );
    }
}
