//! `opctl generate chart`: helm renders the same objects as kustomize, and installs, upgrades and uninstalls the chart
//! on a real API server.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::control_plane::ControlPlane;
use crate::extent::takes_all;
use crate::golden::{self, Golden};
use crate::helm::has_helm;
use crate::sandbox::{Sandbox, shell};

#[test]
fn the_chart_and_the_reference_of_an_example_are_up_to_date() {
    if !has_helm("the chart of an example") {
        return;
    }
    let mut sandbox = Sandbox::new();
    sandbox.folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memcached");
    shell(&sandbox, "opctl generate chart --check && opctl generate docs --check");
}

/// A project with a webhook and a chart.
fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl -q init shop --domain example.com --api depot/v1/Rack");
    sandbox.folder.push("shop");
    shell(&sandbox, "opctl -q create webhook --group depot --version v1 --kind Rack --validation");
    shell(&sandbox, "opctl -q generate chart --image registry.example.com/shop:v1");
    sandbox
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// Runs helm with an API server.
fn helm(cluster: &ControlPlane, folder: &Path, line: &str) -> Output {
    let mut command = std::process::Command::new("helm");
    command.args(line.split_whitespace()).current_dir(folder).env("KUBECONFIG", &cluster.kubeconfig);
    command.output().unwrap()
}

/// Projects whose charts are variants of others.
const SIMILAR: [&str; 7] = ["cluster", "core", "finalizers", "fleet", "minimal", "names", "worked-in"];

#[test]
fn charts_of_golden_projects_render_what_kustomize_does() {
    if !has_helm("the charts of golden projects") {
        return;
    }
    let mut compared = 0;
    let all = takes_all("OPCTL_OPERATORS");
    let names = golden::names().into_iter().filter(|name| all || !SIMILAR.contains(&name.as_str()));
    for name in names.filter(|name| golden::can_be_made(name)) {
        let sandbox = Golden::read(&name).make(|_, _| {});
        // The projects of workspaces are in subfolders.
        if !sandbox.folder.join("PROJECT").is_file() {
            continue;
        }
        shell(&sandbox, "opctl -q generate chart --image registry.example.com/it:v1 && opctl generate chart --check");
        shell(&sandbox, "helm lint --strict dist/chart");
        compared += 1;
    }
    assert!(compared > 6, "{compared}");

    // Two versions of a kind, whose CRD refers to the webhook's Service.
    let sandbox = project();
    shell(&sandbox, "opctl -q create api --group depot --version v2 --kind Rack --controller=false");
    shell(&sandbox, "opctl -q create webhook --group depot --version v2 --kind Rack --conversion --spoke v1");
    // Without the webhook, one of the versions could not be read. The first chart had this value.
    let output = sandbox.command("opctl").args(["generate", "chart"]).output().unwrap();
    assert!(output.status.success() && said(&output).contains("no value `webhook.enabled`"), "{}", said(&output));
    shell(&sandbox, "sed -i '/^webhook:/,/port/{/enabled/d}' dist/chart/values.yaml && opctl generate chart --check");
    shell(&sandbox, "helm lint --strict dist/chart");
}

#[test]
fn parts_that_are_turned_on_are_on_in_the_chart_too() {
    if !has_helm("the values of a chart") {
        return;
    }
    let sandbox = project();
    shell(&sandbox, "rm -r dist && opctl -q edit --cert-manager --prometheus --network-policy --leader-election");
    shell(&sandbox, "opctl -q generate chart && opctl generate chart --check");
    let values = fs::read_to_string(sandbox.folder.join("dist/chart/values.yaml")).unwrap();
    for wanted in ["replicas: 2", "certManager:\n  # Cert", "prometheus:\n  # A"] {
        assert!(values.contains(wanted), "{wanted}: {values}");
    }
    for part in ["certManager", "prometheus", "networkPolicy"] {
        let (_, text) = values.split_once(&format!("{part}:\n")).unwrap();
        assert!(text.lines().nth(1).unwrap().contains("enabled: true"), "{part}: {values}");
    }
}

#[test]
fn manifests_that_the_user_edited_are_in_the_chart_as_they_are() {
    if !has_helm("the chart of edited manifests") {
        return;
    }
    let sandbox = project();
    let config = |path: &str| sandbox.folder.join("config").join(path);
    let manager = fs::read_to_string(config("manager/manager.yaml")).unwrap();
    let without =
        ["imagePullPolicy:", "terminationGracePeriodSeconds:", "kubectl.kubernetes.io/default", "annotations:"];
    let mut edited: String = manager
        .lines()
        .filter(|line| !without.iter().any(|part| line.trim_start().starts_with(part)))
        .map(|line| format!("{line}\n"))
        .collect();
    for (before, after) in [
        (
            "            - name: RUST_LOG",
            "            - name: NODE\n              valueFrom: {fieldRef: {fieldPath: spec.nodeName}}\n            - name: RUST_LOG",
        ),
        (
            "            - --metrics-secure",
            "            - --metrics-secure\n            - --concurrency=3\n            - --text={{ x }}",
        ),
        (
            "      containers:",
            "      hostNetwork: false\n      initContainers:\n        - {name: first, image: busybox}\n      containers:\n        - {name: side, image: 'a/b:c'}",
        ),
        ("          ports:", "          envFrom: [{configMapRef: {name: settings}}]\n          ports:"),
    ] {
        assert!(edited.contains(before), "{before}: {edited}");
        edited = edited.replacen(before, after, 1);
    }
    fs::write(config("manager/manager.yaml"), edited).unwrap();
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: system\n  annotations: {n: 'yes'}\n\
                    data:\n  text: |+\n    {{ .Values }} and\n\n      shop-webhook-service.shop-system.svc\n\n  no: '1'\n";
    fs::write(config("manager/settings.yaml"), settings).unwrap();
    shell(&sandbox, "cd config/manager && echo '  - settings.yaml' >> kustomization.yaml");
    shell(
        &sandbox,
        "rm -r dist && opctl -q generate chart && opctl generate chart --check && helm lint --strict dist/chart",
    );
    shell(&sandbox, "helm template depot dist/chart --namespace depot > all.yaml");
    let all = fs::read_to_string(sandbox.folder.join("all.yaml")).unwrap();
    for wanted in [
        "{{ .Values }} and",
        "depot-shop-webhook-service.depot.svc",
        "--text={{ x }}",
        "--concurrency=3",
        "image: a/b:c",
    ] {
        assert!(all.contains(wanted), "{wanted}: {all}");
    }
    assert!(!all.contains("shop-system") && !all.contains("name: shop-"), "{all}");

    shell(
        &sandbox,
        "helm template depot dist/chart --set manager.enabled=false,podDisruptionBudget.enabled=true > all.yaml",
    );
    let all = fs::read_to_string(sandbox.folder.join("all.yaml")).unwrap();
    assert!(all.contains("kind: ClusterRole\n") && all.contains("kind: ValidatingWebhookConfiguration\n"), "{all}");
    for runs in ["kind: Deployment\n", "kind: PodDisruptionBudget\n", "kind: Pod\n"] {
        assert!(!all.contains(runs), "{runs}: {all}");
    }
}

/// Ports other than the default ones.
const PORTS: &str = "metrics.port=9000,manager.healthProbe.port=9001,webhook.port=9002,networkPolicy.enabled=true,\
     podDisruptionBudget.enabled=true,podDisruptionBudget.maxUnavailable=50%";

#[test]
fn a_chart_is_installed_upgraded_rolled_back_and_uninstalled() {
    if !has_helm("the chart of an operator") {
        return;
    }
    let Some(cluster) = ControlPlane::start("operator-chart", 1) else { return };
    let sandbox = project();
    let folder = &sandbox.folder;
    let run = |line: &str| {
        let output = helm(&cluster, folder, line);
        assert!(output.status.success(), "{line}: {}", said(&output));
    };
    let json = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').chain(["-o", "json"]).collect();
        serde_json::from_str::<Value>(&cluster.kubectl(&arguments, "")).unwrap()
    };
    // The operator does not run here, so webhooks would not respond.
    let quiet = "--set webhook.enabled=false";

    // Each combination of values is accepted. The CRDs of external kinds accept any fields.
    for (kind, plural, group) in [
        ("ServiceMonitor", "servicemonitors", "monitoring.coreos.com"),
        ("PrometheusRule", "prometheusrules", "monitoring.coreos.com"),
        ("Certificate", "certificates", "cert-manager.io"),
        ("Issuer", "issuers", "cert-manager.io"),
    ] {
        let schema = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
        let singular = kind.to_lowercase();
        let crd = format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: {plural}.{group}}}, \
             spec: {{group: {group}, scope: Namespaced, names: {{kind: {kind}, plural: {plural}, singular: {singular}}}, \
             versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}]}}}}"
        );
        cluster.kubectl(&["apply", "-f", "-"], &crd);
        cluster.kubectl(&["wait", "--for=condition=Established", "crd", &format!("{plural}.{group}")], "");
    }
    for values in [
        "certManager.enabled=true,prometheus.enabled=true,networkPolicy.enabled=true,manager.replicas=2",
        "rbac.namespaced=true,metrics.enabled=false",
        "crd.enabled=false,serviceAccount.enabled=false,serviceAccount.name=mine,rbac.helpers.enabled=false",
        "manager.envOverrides.RUST_LOG=debug,manager.args={--concurrency=3},manager.image.tag=2",
        PORTS,
        "manager.tolerations[0].operator=Exists,manager.pod.labels.team=depot,manager.annotations.team=depot,\
         manager.strategy.type=Recreate,manager.imagePullSecrets[0].name=secret,fullnameOverride=depot",
    ] {
        run(&format!("install --dry-run=server shop dist/chart --namespace shop --create-namespace --set {values}"));
    }

    // The operator's port and those that connect to it use the same value.
    let output = helm(&cluster, folder, &format!("template shop dist/chart --namespace shop --set {PORTS}"));
    let objects: Vec<Value> = opctl_charts::operator_chart::objects(&said(&output)).unwrap();
    let object = |kind: &str, name: &str| {
        let is_it = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
        objects.iter().find(is_it).unwrap_or_else(|| panic!("no {kind} {name}"))
    };
    let container = &object("Deployment", "shop-controller-manager")["spec"]["template"]["spec"]["containers"][0];
    assert!(container["args"].as_array().unwrap().contains(&"--metrics-bind-address=:9000".into()), "{container}");
    let variable = |name: &str| {
        let mut variables = container["env"].as_array().unwrap().iter();
        variables.find(|variable| variable["name"] == name).map(|variable| variable["value"].clone())
    };
    assert_eq!(variable("WEBHOOK_BIND_ADDRESS"), Some(":9002".into()));
    assert_eq!(variable("HEALTH_PROBE_BIND_ADDRESS"), Some(":9001".into()));
    let ports: Vec<_> = container["ports"].as_array().unwrap().iter().map(|port| &port["containerPort"]).collect();
    assert_eq!(ports, [9002, 9001, 9000]);
    assert_eq!(object("Service", "shop-controller-manager-metrics-service")["spec"]["ports"][0]["port"], 9000);
    assert_eq!(object("Service", "shop-webhook-service")["spec"]["ports"][0]["targetPort"], "webhook");
    let policy = object("NetworkPolicy", "shop-allow-webhook-traffic");
    assert_eq!(policy["spec"]["ingress"][0]["ports"][0]["port"], 9002);
    let budget = object("PodDisruptionBudget", "shop-controller-manager");
    let labels = &object("Deployment", "shop-controller-manager")["spec"]["selector"]["matchLabels"];
    assert_eq!(
        (&budget["spec"]["selector"]["matchLabels"], &budget["spec"]["maxUnavailable"]),
        (labels, &"50%".into())
    );

    // A typo in a value is an error, and nothing is installed.
    let typo =
        helm(&cluster, folder, "install shop dist/chart --namespace shop --create-namespace --set manager.replica=2");
    assert!(!typo.status.success() && said(&typo).contains("replica"), "{}", said(&typo));

    // Two releases in different namespaces.
    run(&format!(
        "install shop dist/chart --namespace shop --create-namespace {quiet} --set manager.envOverrides.RUST_LOG=debug"
    ));
    run(&format!(
        "install stall dist/chart --namespace stall --create-namespace {quiet} --set crd.enabled=false,rbac.namespaced=true"
    ));
    let deployment = json("--namespace stall get deployment stall-shop-controller-manager");
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], "stall-shop-controller-manager");
    assert_eq!(deployment["spec"]["selector"]["matchLabels"]["app.kubernetes.io/instance"], "stall");
    let variables = pod["containers"][0]["env"].to_string();
    assert!(variables.contains("WATCH_NAMESPACE") && !variables.contains("WEBHOOK_SERVICE"), "{variables}");
    let deployment = json("--namespace shop get deployment shop-controller-manager");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "registry.example.com/shop:v1");
    assert!(container["env"].to_string().contains(r#"{"name":"RUST_LOG","value":"debug"}"#), "{container}");
    // A namespaced operator has no permissions in other namespaces.
    let may = |release: &str, namespace: &str| {
        let user = format!(
            "--as=system:serviceaccount:{release}:{}",
            if release == "shop" { "shop-controller-manager" } else { "stall-shop-controller-manager" }
        );
        let output =
            cluster.run(&["auth", "can-i", "list", "racks.depot.example.com", "--namespace", namespace, &user], "");
        String::from_utf8(output.stdout).unwrap().trim() == "yes"
    };
    assert_eq!([may("shop", "default"), may("stall", "stall"), may("stall", "default")], [true, true, false]);

    // An upgrade applies changes of a CRD, and a rollback reverts them.
    cluster.kubectl(
        &["apply", "-f", "-"],
        "{apiVersion: depot.example.com/v1, kind: Rack, metadata: {name: one, namespace: default}, spec: {}}",
    );
    let source = folder.join("src/api/depot/v1/rack.rs");
    let text = fs::read_to_string(&source).unwrap();
    let (before, after) = text.split_once("pub struct RackSpec {\n").unwrap();
    fs::write(
        &source,
        format!("{before}pub struct RackSpec {{\n    /// How high it is.\n    pub height: Option<i32>,\n{after}"),
    )
    .unwrap();
    shell(&sandbox, "opctl -q manifests && opctl -q generate chart");
    let height = || {
        json("get crd racks.depot.example.com")
            .pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/height")
            .cloned()
    };
    assert!(height().is_none());
    run(&format!("upgrade shop dist/chart --namespace shop {quiet}"));
    assert!(height().is_some());
    run("rollback shop 1 --namespace shop");
    assert!(height().is_none());

    // Objects are kept when the operator is uninstalled.
    run("uninstall shop --namespace shop");
    run("uninstall stall --namespace stall");
    assert_eq!(json("get racks --namespace default")["items"].as_array().unwrap().len(), 1);
    assert_eq!(json("get deployments --all-namespaces")["items"].as_array().unwrap().len(), 0);
    run(&format!("install shop dist/chart --namespace shop {quiet} --set crd.keep=false"));
    run("uninstall shop --namespace shop");
    cluster.kubectl(&["wait", "--for=delete", "--timeout=30s", "crd", "racks.depot.example.com"], "");
}

#[test]
fn what_the_user_changed_stays() {
    if !has_helm("a chart that is generated again") {
        return;
    }
    let sandbox = project();
    let chart = sandbox.folder.join("dist/chart");
    let read = |path: &str| fs::read_to_string(chart.join(path)).unwrap();
    let write = |path: &str, text: String| fs::write(chart.join(path), text).unwrap();
    let opctl = |arguments: &[&str]| {
        let output = sandbox.command("opctl").args(["generate", "chart"]).args(arguments).output().unwrap();
        (output.status.code(), said(&output))
    };

    // User values, a value missing in an older chart, a user template, and a template whose object was removed.
    let values = read("values.yaml").replace("replicas: 1", "replicas: 3 # for us").replace("  port: 8443\n", "");
    write("values.yaml", format!("# Ours\n{values}"));
    write("templates/own.yaml", "{{/* Ours */}}\n".into());
    write("templates/rbac/gone.yaml", read("templates/rbac/manager-role.yaml"));
    write("Chart.yaml", read("Chart.yaml").replace("0.1.0", "1.2.3"));
    write("templates/_helpers.tpl", read("templates/_helpers.tpl") + "junk");
    let (code, said) = opctl(&["--check"]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = opctl(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(
        read("values.yaml"),
        format!(
            "# Ours\n{}",
            values.replace("metrics:\n  enabled: true\n", "metrics:\n  enabled: true\n  port: 8443\n")
        )
    );
    assert!(read("Chart.yaml").contains("1.2.3") && !read("templates/_helpers.tpl").contains("junk"));
    assert!(chart.join("templates/own.yaml").is_file() && !chart.join("templates/rbac/gone.yaml").exists());

    // User values and templates result in objects that differ from config/default, and are not compared.
    let values = read("values.yaml");
    write("values.yaml", values.replace("cpu: 500m", "cpu: 700m").replace("nodeSelector: {}", "nodeSelector: {a: b}"));
    write("templates/own.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: own}}\n".into());
    let (code, said) = opctl(&["--check"]);
    assert_eq!(code, Some(0), "{said}");

    // A template without opctl's header, values that are not YAML, an invalid image, and a chart of someone else.
    let role = read("templates/rbac/manager-role.yaml");
    write("templates/rbac/manager-role.yaml", role.split_once('\n').unwrap().1.into());
    let (code, said) = opctl(&[]);
    assert!(
        code == Some(1) && said.contains("manager-role.yaml`: not ours") && said.contains("nothing was written"),
        "{said}"
    );
    write("templates/rbac/manager-role.yaml", role);
    write("values.yaml", "manager: [".into());
    let (code, said) = opctl(&[]);
    assert!(code == Some(1) && said.contains("values.yaml"), "{said}");
    let (code, said) = opctl(&["--image", "A b", "--output-dir", "new"]);
    assert!(code == Some(1) && said.contains("A b") && !sandbox.folder.join("new").exists(), "{said}");
    fs::remove_dir_all(chart.join("templates")).unwrap();
    let (code, said) = opctl(&[]);
    assert!(code == Some(1) && said.contains("did not make") && !chart.join("templates").exists(), "{said}");
}
