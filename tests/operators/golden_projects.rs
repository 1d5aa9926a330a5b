//! Every golden project (see `tests/common/golden.rs`) compiles without warnings, passes lints and tests, and runs on a
//! real API server with only the permissions of its own roles.
//!
//! Not part of a plain `cargo test`, since it compiles kube: `cargo test --test operators [NAME]`. Some projects are
//! only linted, unless OPCTL_OPERATORS is `all`. The versions of all dependencies are those of
//! `tests/golden/Cargo.lock`, which `.ci/locks` updates.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use opctl_model::names::ControllerName;
use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, skipped};
use crate::dockerignore::Dockerignore;
use crate::extent::takes_all;
use crate::golden::{self, Golden};
use crate::manager::Manager;
use crate::sandbox::shell;
use crate::workdir::{self, cargo_lock, kubectl, sync};
use crate::{common, tree};

#[path = "golden_projects/adoption.rs"]
mod adoption;

/// One test for each golden project, so that each can run alone.
macro_rules! golden_projects {
    ($($test:ident $name:literal,)*) => {
        const NAMES: &[&str] = &[$($name),*];
        $(#[test] fn $test() { prove($name); })*
    };
}

golden_projects! {
    ansible "ansible",
    charts "charts",
    cluster "cluster",
    core_kinds "core",
    external "external",
    finalizers "finalizers",
    fleet "fleet",
    images "images",
    imported "imported",
    memcached "memcached",
    minimal "minimal",
    names "names",
    namespaced "namespaced",
    teams "teams",
    wired "wired",
    worked_in "worked-in",
    workspace "workspace",
}

#[test]
fn no_golden_project_is_left_out() {
    assert_eq!(golden::names(), NAMES);
}

/// Projects that are only linted: other projects or the tests of opctl-runtime cover their behavior at run time.
const LINTED: &[&str] = &[
    "cluster",
    "external",
    "finalizers",
    "fleet",
    "images",
    "memcached",
    "names",
    "namespaced",
    "teams",
    "wired",
    "worked-in",
];

fn prove(name: &str) {
    if !golden::can_be_made(name) {
        return;
    }
    let operator = Operator::make(&Golden::read(name));
    operator.renders();
    operator.lints();
    if LINTED.contains(&name) && !takes_all("OPCTL_OPERATORS") {
        return;
    }
    let manager = operator.compiles();
    // The tests of opctl-runtime cover this feature, which adds a hundred packages.
    if name == "minimal" && takes_all("OPCTL_OPERATORS") {
        operator.compiles_with("otlp");
    }
    if name == "workspace" {
        operator.stands_beside_another();
    }
    if let Some(cluster) = ControlPlane::start(name, 2) {
        if name == "imported" {
            return adoption::proves(&operator, &cluster, &manager);
        }
        operator.installs(&cluster);
        if name == "ansible" {
            return operator.plays_its_samples(&cluster, &manager);
        }
        if name == "charts" {
            return operator.releases_its_samples(&cluster, &manager);
        }
        // All projects have the same integration test; these differ in their samples.
        if ["core", "external", "teams", "workspace"].contains(&name) {
            operator.passes_its_integration_test(&cluster);
        }
        operator.reconciles_its_samples(&cluster, &manager);
    }
}

/// Runs the command of the Dockerfile as a check, with only the files that `.dockerignore` includes.
#[test]
fn images_are_built_of_what_their_context_has() {
    for name in ["memcached", "workspace"] {
        let sandbox = Golden::read(name).make(|_, _| ());
        let read = |file: &str| fs::read_to_string(sandbox.folder.join(file)).unwrap();
        let dockerfile = read("Dockerfile");
        let command = dockerfile.lines().find_map(|line| line.split_once(" build --release ")).unwrap().1;
        let arguments = command.trim_end_matches('\\').replace("--target \"$(cat /target)\"", "");
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let ["--locked", "--package", package, "--bin", binary] = arguments[..] else { panic!("{command}") };
        assert_eq!(binary, default_run(&sandbox.folder));

        // The build context of a workspace member is the workspace's root.
        let in_workspace = sandbox.folder != sandbox.root();
        let ignore = Dockerignore::parse(&read(if in_workspace { "Dockerfile.dockerignore" } else { ".dockerignore" }));
        let mut files = tree::tree(&sandbox.root());
        files.insert("Cargo.lock".into(), cargo_lock(package, in_workspace).into());
        files.retain(|path, _| ignore.lets_through(path));
        // The vendored runtime includes its license and checksums.
        let source = |path: &str| ["rs", "toml", "lock"].iter().any(|ending| path.ends_with(ending));
        let other = files.keys().find(|path| !source(path) && !path.starts_with("runtime/"));
        // Other files that workspace members need are unknown.
        assert!(in_workspace || other.is_none(), "{name}: {other:?}");
        let context = common::operators_target().join("context").join(name);
        sync(&context, &files);

        let _cargo = workdir::lock_cargo();
        common::output(common::cargo(&context, &[&["check"], &arguments[..]].concat()));
    }
}

/// The code that `tests/thorough/runtime.rs` reads compiles.
#[test]
fn each_way_through_the_runtime_compiles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = tree::tree(&root.join("tests/runtime/operator"));
    let manifest = String::from_utf8(files["Cargo.toml"].clone()).unwrap();
    let runtime = root.join("crates/runtime").display().to_string();
    files.insert("Cargo.toml".into(), manifest.replace("../../../crates/runtime", &runtime).into());
    let folder = common::operators_target().join("ways");
    sync(&folder, &files);

    let _cargo = workdir::lock_cargo();
    common::output(common::cargo(&folder, &["check", "--quiet"]));
}

/// The operator's binary. In a workspace, its name begins with the package's.
fn default_run(folder: &Path) -> String {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let line = manifest.lines().find_map(|line| line.strip_prefix("default-run = ")).unwrap();
    line.trim_matches('"').to_owned()
}

const PATIENCE: Duration = Duration::from_secs(60);

/// The folder of the projects, with a space in its path.
fn projects() -> PathBuf {
    common::operators_target().join("golden projects")
}

/// A golden project in a fixed folder, so that cargo reuses previous builds.
struct Operator {
    /// The name of its crate, which its Kubernetes objects start with.
    name: String,
    folder: PathBuf,
    project: Value,
}

impl Operator {
    fn make(golden: &Golden) -> Self {
        let sandbox = golden.make(|_, _| ());
        shell(&sandbox, "opctl manifests --check");
        let root = projects().join(&golden.name);
        sync(&root, &tree::tree(&sandbox.root()));
        // Otherwise rustfmt would use the settings of a parent folder.
        fs::write(root.with_file_name("rustfmt.toml"), "").unwrap();
        let folder = root.join(sandbox.folder.strip_prefix(sandbox.root()).unwrap());
        let project: Value = opctl_model::yaml::read(&fs::read_to_string(folder.join("PROJECT")).unwrap()).unwrap();
        let name = project["projectName"].as_str().unwrap().to_owned();
        fs::write(root.join("Cargo.lock"), cargo_lock(&name, root != folder)).unwrap();
        if folder.join("helm-charts").is_dir() || folder.join("roles").is_dir() {
            // The project has additional dependencies. opctl also uses them, so they are on disk.
            common::output(common::cargo(&folder, &["update", "--workspace", "--offline", "--quiet"]));
        }
        Self { name, folder, project }
    }

    /// Renders the project, also with its optional components.
    fn renders(&self) {
        let Some(kubectl) = kubectl() else {
            return skipped(&format!("kustomizations of {}", self.name), "no `kubectl`");
        };
        let render = || {
            let mut command = Command::new(&kubectl);
            command.current_dir(&self.folder).args(["kustomize", "config/default"]);
            common::output(command)
        };
        assert!(render().contains("\nkind: Deployment\n"));
        let with_options = self.with_components(&["prometheus", "network-policy"], render);
        for kind in ["ServiceMonitor", "NetworkPolicy"] {
            assert!(with_options.contains(&format!("\nkind: {kind}\n")), "{with_options}");
        }
    }

    /// Runs a function while `config/default` also lists these components.
    fn with_components<T>(&self, components: &[&str], something: impl FnOnce() -> T) -> T {
        let whole = self.folder.join("config/default/kustomization.yaml");
        let text = fs::read_to_string(&whole).unwrap();
        let listed: String = components.iter().map(|component| format!("  - ../{component}\n")).collect();
        let (before, after) = text.split_once("components:\n").unwrap_or((&text, ""));
        fs::write(&whole, format!("{before}components:\n{listed}{after}")).unwrap();
        let outcome = something();
        fs::write(&whole, text).unwrap();
        outcome
    }

    /// Lints without warnings.
    fn lints(&self) {
        let _cargo = workdir::lock_cargo();
        self.succeeds(common::cargo(&self.folder, &["fmt", "--check"]));
        self.succeeds(common::cargo(&self.folder, &["clippy", "--locked", "--all-targets", "--", "-D", "warnings"]));
    }

    /// Compiles and passes its own tests, offline with the dependencies of the lints. Returns the path of the manager.
    fn compiles(&self) -> PathBuf {
        let _cargo = workdir::lock_cargo();
        let tested = self.succeeds(common::cargo(&self.folder, &["test", "--locked", "--offline"]));
        assert!(tested.contains("\ntest config_crd_equals_the_compiled_types ... ok\n"), "{tested}");
        // The compiled types print the same files. Without a kind they print nothing.
        if self.project["resources"].as_array().is_some_and(|all| all.iter().any(|one| one["api"].is_object())) {
            let mut command = common::for_operators(Command::new(env!("CARGO_BIN_EXE_opctl")));
            command.current_dir(&self.folder).args(["manifests", "--engine", "cargo", "--check"]);
            self.succeeds(command);
        }
        let manager = projects().join(format!("{}-manager", self.name));
        let built = common::operators_target().join("debug").join(default_run(&self.folder));
        fs::copy(built, &manager).unwrap();
        manager
    }

    /// A second operator in the workspace shares the vendored runtime, and has binaries with other names, since cargo
    /// warns of equal ones.
    fn stands_beside_another(&self) {
        let root = self.folder.ancestors().find(|folder| folder.join("runtime").is_dir()).unwrap();
        let mut init = Command::new(env!("CARGO_BIN_EXE_opctl"));
        init.args(["init", "operators/depot", "--domain", "depot.example.com", "--api", "cache/v1/Shelf"]);
        init.current_dir(root);
        self.succeeds(init);
        assert!(!root.join("operators/depot/runtime").exists());
        let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap();
        let (head, packages) = lock.split_once("[[package]]\n").unwrap();
        let own = packages.split("[[package]]\n").find(|package| package.starts_with("name = \"shop\"\n")).unwrap();
        let other = own.trim_end().replacen("shop", "depot", 1);
        fs::write(root.join("Cargo.lock"), format!("{head}[[package]]\n{other}\n\n[[package]]\n{packages}")).unwrap();

        let _cargo = workdir::lock_cargo();
        self.succeeds(common::cargo(root, &["build", "--workspace", "--locked", "--offline"]));
        for binary in ["shop-manager", "depot-manager", "shop-crdgen", "depot-crdgen"] {
            assert!(common::operators_target().join("debug").join(binary).exists(), "{binary}");
        }
    }

    /// Compiles with a cargo feature, without warnings.
    fn compiles_with(&self, feature: &str) {
        let arguments = ["clippy", "--locked", "--all-targets", "--features", feature, "--", "-D", "warnings"];
        self.succeeds(common::cargo(&self.folder, &arguments));
    }

    /// The CRDs are served, and its Pods pass the restricted Pod Security Standard of its namespace.
    fn installs(&self, cluster: &ControlPlane) {
        // CRDs of other projects, whose kinds it watches.
        for file in fs::read_dir(self.folder.join("hack")).unwrap().map(|file| file.unwrap().path()) {
            if file.extension().is_some_and(|end| end == "yaml") {
                cluster.kubectl(&["apply", "--server-side", "-f", file.to_str().unwrap()], "");
            }
        }
        let crds = self.crds();
        if !crds.is_empty() {
            self.succeeds(self.target(cluster, &["install"]));
        }
        for crd in crds {
            let object = read(&cluster.kubectl(&["get", "crd", &crd, "-o", "json"], ""));
            let conditions = object["status"]["conditions"].as_array().unwrap();
            let is = |kind: &str| conditions.iter().any(|each| each["type"] == kind && each["status"] == "True");
            assert!(is("Established") && is("NamesAccepted") && !is("NonStructuralSchema"), "{crd}: {conditions:#?}");
        }
        for namespace in self.watched() {
            cluster.kubectl(&["create", "namespace", &namespace], "");
        }
        let deploy = || self.succeeds(self.target(cluster, &["deploy", "IMG=registry.example.com/manager:v1"]));
        // Disabling a component reverts its changes.
        self.with_components(&["leader-election"], deploy);
        deploy();
        let timeout = format!("--timeout={}s", PATIENCE.as_secs());
        cluster.kubectl(&["-n", &self.namespace(), "rollout", "status", "deployment", &timeout], "");
    }

    fn passes_its_integration_test(&self, cluster: &ControlPlane) {
        let _cargo = workdir::lock_cargo();
        let tested = self.succeeds(self.target(cluster, &["test-integration", "TESTENV="]));
        assert!(tested.contains("\ntest samples_become_ready ... ok\n"), "{tested}");
    }

    /// A kubeconfig with the permissions of the deployed service account, for the manager, which runs here.
    fn service_account(&self, cluster: &ControlPlane) -> PathBuf {
        let kubeconfig = cluster.folder.join("service-account");
        let mut config: Value = opctl_model::yaml::read(&fs::read_to_string(&cluster.kubeconfig).unwrap()).unwrap();
        let account = format!("system:serviceaccount:{}:{}-controller-manager", self.namespace(), self.name);
        config["users"][0]["user"]["as"] = account.into();
        fs::write(&kubeconfig, config.to_string()).unwrap();
        kubeconfig
    }

    /// Starts the operator in the project's folder, which has its charts and playbooks, and applies the samples.
    fn runs_with_samples(&self, cluster: &ControlPlane, manager: &Path) -> Manager {
        let kubeconfig = self.service_account(cluster);
        let mut manager = Manager::start_in(&self.folder, manager, &kubeconfig, "manager", &[]);
        manager.becomes_ready();
        let mut apply = self.kubectl(cluster);
        apply.args(["apply", "--server-side", "-n", "default", "-k", "config/samples"]);
        self.succeeds(apply);
        manager
    }

    /// Releases also work with every switch of the charts enabled: the role has the additional permissions.
    fn releases_its_samples(&self, cluster: &ControlPlane, manager: &Path) {
        let mut manager = self.runs_with_samples(cluster, manager);
        let kinds = ["nginxes", "sites", "schemas", "memcacheds"].map(|plural| {
            let group = if plural == "memcacheds" { "cache" } else { "web" };
            format!("{plural}.{group}.charts.example.com")
        });
        let all_are_ready = || {
            for kind in &kinds {
                cluster.kubectl(&["wait", "--for=condition=Ready", kind, "--all", "--timeout=120s"], "");
            }
        };
        all_are_ready();
        let on = json!({ "spec": { "autoscaling": { "enabled": true }, "ingress": { "enabled": true }, "replicaCount": 2 } });
        cluster.kubectl(&["patch", &kinds[0], "nginx-sample", "--type=merge", "-p", &on.to_string()], "");
        cluster
            .kubectl(&["wait", "--for=jsonpath={.status.release.revision}=2", &kinds[0], "--all", "--timeout=60s"], "");
        all_are_ready();
        for kind in &kinds {
            cluster.kubectl(&["delete", kind, "--all", "--timeout=120s"], "");
        }
        let left = cluster.kubectl(&["get", "deployments,services,ingresses,secrets", "-o", "name"], "");
        assert_eq!(left, "service/kubernetes\n");
        assert_eq!(manager.terminate().code(), Some(0));
        let log = manager.log();
        assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    }

    /// Each role and playbook creates a ConfigMap, next to a controller in Rust.
    fn plays_its_samples(&self, cluster: &ControlPlane, manager: &Path) {
        let mut manager = self.runs_with_samples(cluster, manager);
        let kinds = ["memcacheds.cache", "redises.cache", "sites.web", "zones.web"]
            .map(|kind| format!("{kind}.ansible.example.com"));
        for kind in &kinds {
            cluster.kubectl(&["wait", "--for=condition=Ready", kind, "--all", "--timeout=120s"], "");
        }
        for name in ["memcached-sample", "site-sample", "zone-sample"] {
            let greeting = cluster.kubectl(&["get", "configmap", name, "-o", "jsonpath={.data.greeting}"], "");
            assert!(!greeting.is_empty(), "{name}: {}", manager.log());
        }
        for kind in &kinds {
            cluster.kubectl(&["delete", kind, "--all", "--cascade=foreground", "--timeout=120s"], "");
        }
        let left = cluster.kubectl(&["get", "configmaps", "-o", "name"], "");
        assert_eq!(left, "configmap/kube-root-ca.crt\n");
        assert_eq!(manager.terminate().code(), Some(0));
        let log = manager.log();
        assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    }

    fn reconciles_its_samples(&self, cluster: &ControlPlane, manager: &Path) {
        let kubeconfig = self.service_account(cluster);
        let namespaces = match self.watched() {
            none if none.is_empty() && self.project["namespaced"] == true => vec![self.namespace()],
            some => some,
        };
        let watched = format!("--watch-namespace={}", namespaces.join(","));
        // The namespace of the integration test is terminating, so reconciles in it fail. An operator with finalizers
        // must run until it is deleted.
        let all = cluster.kubectl(&["get", "namespaces", "-o", "name"], "");
        for left in all.lines().filter(|name| name.contains("-test-")) {
            let wait = |timeout| ["wait", "--for=delete", left, timeout];
            if !cluster.run(&wait("--timeout=15s"), "").status.success() {
                let _sweeper = Manager::start(manager, &kubeconfig, "sweeper", &[]);
                cluster.kubectl(&wait("--timeout=60s"), "");
            }
        }
        let mut manager = Manager::start(manager, &kubeconfig, "manager", &[&watched]);
        manager.becomes_ready();

        let samples = self.samples();
        let namespace = namespaces.last().cloned().unwrap_or_else(|| "default".into());
        cluster.kubectl(
            &["label", "--overwrite", "namespace", &namespace, "pod-security.kubernetes.io/enforce=restricted"],
            "",
        );
        if !samples.is_empty() {
            let mut apply = self.kubectl(cluster);
            apply.args(["apply", "--server-side", "-n", &namespace, "-k", "config/samples"]);
            self.succeeds(apply);
        }
        for (index, mut sample) in samples.into_iter().enumerate() {
            // Again with an empty spec, since all fields of the sample have defaults.
            let said = sample["spec"].take();
            sample["spec"] = json!({});
            sample["metadata"]["name"] = format!("bare-{index}").into();
            let create = ["create", "-n", &namespace, "-f", "-", "-o", "json"];
            let bare = read(&cluster.kubectl(&create, &sample.to_string()));
            for field in said.as_object().unwrap().keys() {
                assert!(!bare["spec"][field].is_null(), "`{field}` has no default: {bare:#}");
            }

            let (group, version) = sample["apiVersion"].as_str().unwrap().split_once('/').unwrap();
            let conditions = self.conditions(group, sample["kind"].as_str().unwrap());
            if let Some(condition) = conditions.first() {
                let resource = format!("{}.{version}.{group}", sample["kind"].as_str().unwrap());
                let timeout = format!("--timeout={}s", PATIENCE.as_secs());
                for condition in &conditions {
                    let holds = format!("--for=condition={condition}");
                    cluster.kubectl(&["wait", "-n", &namespace, &resource, "--all", &holds, &timeout], "");
                }
                if said.get("replicas").is_some() {
                    repairs_its_port(cluster, &namespace, index);
                    follows_a_scale(cluster, &namespace, &resource, condition, index);
                }
                cluster.kubectl(&["delete", "-n", &namespace, &resource, "--all", &timeout], "");
            }
        }
        self.cleans_up(cluster, &namespace, &manager);
        let metrics = manager.metrics();
        let failures = metrics.lines().find(|line| line.starts_with("controller_reconcile_failures_total{"));
        assert_eq!(failures, None, "{}", manager.log());
        assert!(manager.terminate().success());
        let log = manager.log();
        assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    }

    /// The objects of kinds with a finalizer were deleted, and their cleanups have run.
    fn cleans_up(&self, cluster: &ControlPlane, namespace: &str, manager: &Manager) {
        for resource in self.project["resources"].as_array().unwrap() {
            let kind = resource["kind"].as_str().unwrap();
            if resource["options"]["finalizer"] != true {
                continue;
            }
            if kind == "ConfigMap" {
                cluster.kubectl(&["create", "-n", namespace, "configmap", "held"], "");
                let held = ["wait", "-n", namespace, "configmap/held", "--for=jsonpath={.metadata.finalizers[0]}"];
                cluster.kubectl(&held, "");
                cluster.kubectl(&["delete", "-n", namespace, "configmap", "held", "--timeout=60s"], "");
            }
            let controller = format!(" {}", kind.to_lowercase());
            let log = manager.log();
            let has_run =
                log.lines().any(|line| line.contains(&controller) && line.contains(" needs no cleanup trace_id="));
            // No cleanup for kinds without an object in the cluster.
            assert!(kind == "StorageClass" || has_run, "{}: no cleanup of a {kind}", self.name);
        }
    }

    /// Its namespace in the cluster.
    fn namespace(&self) -> String {
        format!("{}-system", self.name)
    }

    /// The namespaces in PROJECT.
    fn watched(&self) -> Vec<String> {
        let listed = self.project["manifests"]["namespaces"].as_array();
        listed.into_iter().flatten().map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    /// The names of its CRDs, from the files of `config/crd/bases`.
    fn crds(&self) -> Vec<String> {
        let bases = self.folder.join("config/crd/bases");
        let Ok(files) = fs::read_dir(bases) else { return Vec::new() };
        let crds = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        crds.map(|text| {
            let crd: Value = opctl_model::yaml::read(&text).unwrap();
            crd["metadata"]["name"].as_str().unwrap().to_owned()
        })
        .collect()
    }

    fn samples(&self) -> Vec<Value> {
        let files = fs::read_dir(self.folder.join("config/samples")).unwrap().map(|file| file.unwrap().path());
        files
            .filter(|path| !path.ends_with("kustomization.yaml"))
            .map(|path| opctl_model::yaml::read(&fs::read_to_string(path).unwrap()).unwrap())
            .collect()
    }

    /// The condition types that the controllers of a kind set. Each controller serves all versions.
    fn conditions(&self, api_group: &str, kind: &str) -> Vec<String> {
        let of_it = |resource: &&Value| {
            let (group, domain) = (resource["group"].as_str().unwrap(), resource["domain"].as_str().unwrap_or("?"));
            resource["kind"] == kind && format!("{group}.{domain}") == api_group
        };
        let resources = self.project["resources"].as_array().unwrap().iter().filter(of_it);
        let conditions = resources.flat_map(|resource| {
            let named = resource["controllers"].as_array().into_iter().flatten();
            let named = named.map(|it| ControllerName::parse(it["name"].as_str().unwrap()).unwrap().condition());
            (resource["controller"] == true).then(|| "Ready".to_owned()).into_iter().chain(named)
        });
        conditions.collect()
    }

    fn kubectl(&self, cluster: &ControlPlane) -> Command {
        let mut command = Command::new(&cluster.kubectl);
        command.current_dir(&self.folder).env("KUBECONFIG", &cluster.kubeconfig);
        command
    }

    /// Runs a target of its Makefile.
    fn target(&self, cluster: &ControlPlane, arguments: &[&str]) -> Command {
        let mut command = common::for_operators(Command::new("make"));
        command.current_dir(&self.folder).args(arguments).env("KUBECONFIG", &cluster.kubeconfig);
        command.env("KUBECTL", &cluster.kubectl).env("OPCTL", env!("CARGO_BIN_EXE_opctl"));
        command
    }

    /// Runs a command that must succeed without warnings. Returns stdout.
    fn succeeds(&self, mut command: Command) -> String {
        let output = command.output().unwrap();
        let (said, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success(), "{}: {command:?}:\n{said}\n{error}", self.name);
        assert!(!error.to_lowercase().contains("warning"), "{}: {command:?}:\n{error}", self.name);
        said
    }
}

/// The operator restores the port of an object's Service, if it has one, after it was replaced by another port of the
/// same name, which would conflict with an apply.
fn repairs_its_port(cluster: &ControlPlane, namespace: &str, index: usize) {
    let service = format!("service/bare-{index}");
    let get = ["get", "-n", namespace, &service, "--ignore-not-found", "-o", "jsonpath={.spec.ports[*].port}"];
    let before = cluster.kubectl(&get, "");
    if before.is_empty() {
        return;
    }
    let other = r#"{"spec":{"ports":[{"name":"main","port":4321}]}}"#;
    cluster.kubectl(&["patch", "-n", namespace, &service, "--type=merge", "--patch", other], "");
    let is_back = format!("--for=jsonpath={{.spec.ports[0].port}}={before}");
    cluster.kubectl(&["wait", "-n", namespace, &service, &is_back, "--timeout=60s"], "");
    assert_eq!(cluster.kubectl(&get, ""), before);
}

/// The Deployment of an object follows `kubectl scale`, and is deleted with the object.
fn follows_a_scale(cluster: &ControlPlane, namespace: &str, resource: &str, condition: &str, index: usize) {
    let object = format!("{resource}/bare-{index}");
    let deployment = format!("deployment/bare-{index}");
    let timeout = format!("--timeout={}s", PATIENCE.as_secs());
    cluster.kubectl(&["scale", "-n", namespace, &object, "--replicas=2"], "");
    for (name, field) in [(&deployment, ".status.readyReplicas"), (&object, ".status.replicas")] {
        let is_two = format!("--for=jsonpath={{{field}}}=2");
        cluster.kubectl(&["wait", "-n", namespace, name, &is_two, &timeout], "");
    }
    let holds = format!("--for=condition={condition}");
    cluster.kubectl(&["wait", "-n", namespace, &object, &holds, &timeout], "");
    cluster.kubectl(&["delete", "-n", namespace, &object, &timeout], "");
    cluster.kubectl(&["wait", "-n", namespace, &deployment, "--for=delete", &timeout], "");
}

fn read(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}
