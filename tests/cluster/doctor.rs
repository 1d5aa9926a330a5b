//! `opctl doctor` with a real API server: its findings, and that the suggested command fixes each.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, skipped};
use crate::sandbox::Sandbox;

#[test]
fn what_is_wrong_in_a_cluster_is_mended_by_what_the_doctor_says() {
    let Some(cluster) = ControlPlane::start("doctor", 1) else { return };
    let desk = Desk::new(&cluster);
    let admin = &cluster.kubeconfig;

    // Nothing installed.
    let report = desk.doctor(admin);
    assert!(report.said("ok       context `"), "{}", report.text);
    assert!(
        report.said("skipped  the operator is not deployed: no Deployment `shop-controller-manager` in `shop-system`"),
        "{}",
        report.text
    );
    for command in ["opctl install", "opctl deploy", "make run"] {
        assert!(report.said(&format!("may do what `{command}` needs")), "{}", report.text);
    }
    desk.mend(admin, "the CRD `memcacheds.cache.example.com` is not installed");
    let installed = "ok       the CRD `memcacheds.cache.example.com` is installed, and the generated one";
    assert!(desk.doctor(admin).said(installed));

    // The CRD is outdated.
    let types = desk.sandbox.folder.join("src/api/cache/v1/memcached.rs");
    let text = fs::read_to_string(&types).unwrap();
    let with_field = text.replacen(
        "pub struct MemcachedSpec {",
        "pub struct MemcachedSpec {\n    #[serde(default)]\n    pub note: String,",
        1,
    );
    assert_ne!(with_field, text);
    fs::write(&types, with_field).unwrap();
    desk.mend(admin, "is not as the source makes it");
    desk.mend(admin, "of the cluster is not the generated one: schema of v1");
    assert!(desk.doctor(admin).said(installed));

    stored_versions_that_are_gone(&cluster, &desk);
    assert!(desk.doctor(admin).said(installed));

    few_rights(&cluster, &desk);

    // Deployed.
    desk.run(admin, "opctl deploy --image registry.example.com/shop:v1");
    assert!(
        desk.doctor(admin)
            .said("ok       the operator is deployed and available, as `shop-controller-manager` in `shop-system`")
    );
    let nowhere = r#"{"spec":{"template":{"spec":{"nodeSelector":{"nowhere":"true"}}}}}"#;
    cluster.kubectl(&["-n", "shop-system", "patch", "deployment", "shop-controller-manager", "-p", nowhere], "");
    let report = desk.doctor_until(admin, "error    the operator is deployed and not available");
    assert_eq!(report.code, 1);
}

/// A version that is still in `storedVersions` but no longer in the source.
fn stored_versions_that_are_gone(cluster: &ControlPlane, desk: &Desk) {
    let admin = &cluster.kubeconfig;
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version = json!({"name": "v1alpha1", "served": true, "storage": false, "schema": schema});
    let patch = json!([{"op": "add", "path": "/spec/versions/-", "value": version}]).to_string();
    let crd = "memcacheds.cache.example.com";
    cluster.kubectl(&["patch", "crd", crd, "--type=json", "-p", &patch], "");
    let stored = r#"{"status":{"storedVersions":["v1alpha1","v1"]}}"#;
    cluster.kubectl(&["patch", "crd", crd, "--subresource=status", "--type=merge", "-p", stored], "");
    desk.run(admin, "kubectl create --filename=config/samples/cache_v1_memcached.yaml");

    let finding = "may be stored as v1alpha1, which its CRD no longer has";
    let report = desk.doctor(admin);
    assert!(report.said(finding), "{}", report.text);
    assert_eq!(report.code, 1);
    // As reported, the API server rejects the CRD.
    assert!(!desk.command(admin, "opctl install --timeout 5s").output().unwrap().status.success());
    for help in report.help(finding) {
        desk.run(admin, &help);
    }
    let report = desk.doctor(admin);
    assert!(!report.said(finding), "{}", report.text);
    desk.mend(admin, "is not the generated one: v1alpha1 is gone");
}

/// A ServiceAccount without permissions, which get granted step by step.
fn few_rights(cluster: &ControlPlane, desk: &Desk) {
    let admin = &cluster.kubeconfig;
    cluster.kubectl(&["create", "serviceaccount", "robot", "--namespace=default"], "");
    let robot = desk.kubeconfig_of_robot(cluster);

    let report = desk.doctor(&robot);
    assert!(report.said("skipped  cannot read CRDs"), "{}", report.text);
    let install = "`system:serviceaccount:default:robot` may not do what `opctl install` needs: create, get, patch customresourcedefinitions.apiextensions.k8s.io";
    assert!(report.said(install), "{}", report.text);
    assert!(!desk.command(&robot, "opctl install").output().unwrap().status.success());
    desk.administer(admin, &report, install);
    desk.doctor_until(&robot, "`system:serviceaccount:default:robot` may do what `opctl install` needs");
    desk.run(&robot, "opctl install");

    // All permissions except for those that the operator's roles grant.
    let resources = "namespaces,serviceaccounts,services,deployments.apps,roles.rbac.authorization.k8s.io,\
        rolebindings.rbac.authorization.k8s.io,clusterroles.rbac.authorization.k8s.io,clusterrolebindings.rbac.authorization.k8s.io";
    cluster.kubectl(
        &["create", "clusterrole", "deployer", "--verb=get,create,patch", &format!("--resource={resources}")],
        "",
    );
    cluster.kubectl(
        &["create", "clusterrolebinding", "deployer", "--clusterrole=deployer", "--serviceaccount=default:robot"],
        "",
    );
    let deploy = "may not apply the roles that `opctl deploy` brings";
    let report = desk.doctor_until(&robot, deploy);
    let refused =
        desk.command(&robot, "opctl deploy --image registry.example.com/shop:v1 --timeout 5s").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("attempting to grant RBAC permissions not currently held"), "{said}");
    assert!(report.said("may not do what `make run` needs"), "{}", report.text);
    desk.administer(admin, &report, deploy);
    let report = desk.doctor_until(&robot, "may do what `opctl deploy` needs");
    assert!(report.said("may do what `make run` needs"), "{}", report.text);
    desk.run(&robot, "opctl deploy --image registry.example.com/shop:v1");
}

#[test]
fn a_cluster_that_does_not_answer_is_an_error_and_none_is_not() {
    let Some(assets) = std::env::var_os("KUBEBUILDER_ASSETS") else {
        return skipped("opctl doctor without a cluster", "KUBEBUILDER_ASSETS is not set");
    };
    let desk = Desk::at(Path::new(&assets));
    let gone = desk.sandbox.root().join("gone").to_str().unwrap().to_owned();
    let report = desk.doctor(&gone);
    assert!(report.said("skipped  there is no kubeconfig"), "{}", report.text);
    // Nothing listens on this port.
    let cluster = json!({"name": "c", "cluster": {"server": "https://127.0.0.1:1"}});
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "clusters": [cluster], "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x",
    });
    fs::write(&gone, config.to_string()).unwrap();
    let report = desk.doctor(&gone);
    assert!(
        report.said("error    context `x` at https://127.0.0.1:1 does not answer (The connection to the server"),
        "{}",
        report.text
    );
    assert_eq!(report.code, 1);
    assert!(!report.text.contains("\nrights\n"), "{}", report.text);
    let output = desk.command(&gone, "opctl doctor --context nope").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("error    kubectl cannot use the kubeconfig ("), "{text}");
}

/// A developer with a project.
struct Desk {
    sandbox: Sandbox,
    /// The `PATH`, with kubectl first.
    path: String,
}

impl Desk {
    fn new(cluster: &ControlPlane) -> Self {
        Self::at(cluster.kubectl.parent().unwrap())
    }

    fn at(assets: &Path) -> Self {
        let mut sandbox = Sandbox::new();
        let bin = Path::new(env!("CARGO_BIN_EXE_opctl")).parent().unwrap();
        let path = format!("{}:{}:{}", assets.display(), bin.display(), std::env::var("PATH").unwrap());
        let mut init = sandbox.command("opctl");
        let init = init.args(["init", "shop", "--domain", "example.com", "--api", "cache/v1/Memcached", "-q"]);
        assert!(init.status().unwrap().success());
        sandbox.folder = sandbox.root().join("shop");
        Self { sandbox, path }
    }

    fn command(&self, kubeconfig: &str, line: &str) -> std::process::Command {
        let mut command = self.sandbox.command("sh");
        command.args(["-c", line]).env("PATH", &self.path).env("KUBECONFIG", kubeconfig);
        command
    }

    fn run(&self, kubeconfig: &str, line: &str) {
        let output = self.command(kubeconfig, line).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn doctor(&self, kubeconfig: &str) -> Report {
        let output = self.command(kubeconfig, "opctl doctor").output().unwrap();
        Report { text: String::from_utf8(output.stdout).unwrap(), code: output.status.code().unwrap() }
    }

    /// Retries, since the API server applies new roles with a delay.
    fn doctor_until(&self, kubeconfig: &str, finding: &str) -> Report {
        let start = Instant::now();
        loop {
            let report = self.doctor(kubeconfig);
            if report.said(finding) {
                return report;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "never `{finding}`:\n{}", report.text);
        }
    }

    /// Asserts a finding, runs its suggested command, and asserts that the finding is gone.
    fn mend(&self, kubeconfig: &str, finding: &str) {
        let report = self.doctor(kubeconfig);
        assert!(report.said(finding), "no `{finding}`:\n{}", report.text);
        self.run(kubeconfig, &report.help(finding)[0]);
        let report = self.doctor(kubeconfig);
        assert!(!report.said(finding), "still `{finding}`:\n{}", report.text);
    }

    /// Runs the commands that the help suggests to an administrator.
    fn administer(&self, admin: &str, report: &Report, finding: &str) {
        let help = &report.help(finding)[0];
        let (who, commands) = help.split_once('\n').unwrap();
        assert!(who.starts_with("an administrator runs"), "{help}");
        commands.lines().for_each(|command| self.run(admin, command));
    }

    /// The cluster's kubeconfig with only a token of the ServiceAccount.
    fn kubeconfig_of_robot(&self, cluster: &ControlPlane) -> String {
        let token = cluster.kubectl(&["create", "token", "robot", "--namespace=default"], "");
        let config = cluster.kubectl(&["config", "view", "--raw", "--minify", "--output=json"], "");
        let mut config: Value = serde_json::from_str(&config).unwrap();
        config["users"][0]["user"] = json!({"token": token.trim()});
        let path = self.sandbox.root().join("robot.kubeconfig");
        fs::write(&path, config.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

struct Report {
    text: String,
    code: i32,
}

impl Report {
    fn said(&self, finding: &str) -> bool {
        self.text.lines().any(|line| !line.starts_with("    ") && line.contains(finding))
    }

    /// The help below a finding, with continuation lines joined.
    fn help(&self, finding: &str) -> Vec<String> {
        let lines = self.text.lines().skip_while(|line| !line.contains(finding)).skip(1);
        let mut help: Vec<String> = Vec::new();
        for line in lines.take_while(|line| line.starts_with("    ")) {
            match (line.strip_prefix("    help: "), help.last_mut()) {
                (Some(first), _) => help.push(first.into()),
                (None, Some(last)) => last.push_str(&format!("\n{}", line.trim_start())),
                (None, None) => unreachable!("help begins with its name"),
            }
        }
        help
    }
}
