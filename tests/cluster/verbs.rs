//! `opctl install`, `deploy`, `undeploy`, `uninstall` and `build-installer` with a real API server and a fake node,
//! which only marks Pods as Running.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, skipped};
use crate::sandbox::Sandbox;

/// A single cluster, since its start takes longer than most of this.
#[test]
fn the_verbs_do_to_a_cluster_what_they_say() {
    let Some(cluster) = ControlPlane::start("verbs", 1) else { return };
    let shop = Shop::new(&cluster);
    shop.finds_its_cluster();
    shop.prints_without_a_cluster();
    shop.tells_what_it_may_not_do();
    shop.tells_which_names_are_taken();
    shop.installs_over_what_others_have_changed();
    shop.deploys_without_a_change_of_files();
    shop.tells_why_a_rollout_does_not_end();
    shop.undeploys_and_keeps_what_is_the_users();
    shop.deletes_crds_before_the_operator_and_never_unasked();
    shop.asks_on_a_terminal();
    shop.builds_an_installer_that_installs();
}

/// A project, and the cluster that it is deployed to.
struct Shop<'a> {
    cluster: &'a ControlPlane,
    sandbox: Sandbox,
}

/// The output of a command, and its success.
#[derive(Debug)]
struct Said {
    good: bool,
    output: String,
    error: String,
}

impl Said {
    fn of(mut command: Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { good: output.status.success(), output: text(output.stdout), error: text(output.stderr) }
    }

    #[track_caller]
    fn succeeds(self) -> Self {
        assert!(self.good, "{}\n{}", self.output, self.error);
        self
    }

    #[track_caller]
    fn fails_with(&self, words: &[&str]) {
        assert!(!self.good, "{}\n{}", self.output, self.error);
        self.says(words);
    }

    #[track_caller]
    fn says(&self, words: &[&str]) {
        words.iter().for_each(|words| assert!(self.error.contains(words), "not `{words}` in:\n{}", self.error));
    }
}

const CRD: &str = "shelfs.depot.example.com";
const SYSTEM: &str = "shop-system";
const IMAGE: &str = "registry.example.com/shop:v1";
const DEPLOYMENT: &str = "deployment/shop-controller-manager";

impl<'a> Shop<'a> {
    fn new(cluster: &'a ControlPlane) -> Self {
        let mut sandbox = Sandbox::new();
        let init = "opctl -q init shop --domain example.com --api depot/v1/Shelf && cd shop && git init -q && git add -A \
            && git -c user.name=a -c user.email=a@example.com commit -qm all";
        assert!(sandbox.command("sh").args(["-c", init]).status().unwrap().success());
        sandbox.folder = sandbox.root().join("shop");
        Self { cluster, sandbox }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command("opctl");
        command.args(arguments).env("KUBECONFIG", &self.cluster.kubeconfig);
        if !arguments.contains(&"--kubectl") {
            command.arg("--kubectl").arg(&self.cluster.kubectl);
        }
        command
    }

    fn opctl(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(arguments))
    }

    /// An object or list; null if it does not exist.
    fn get(&self, arguments: &[&str]) -> Value {
        let json = self.cluster.kubectl(&[&["get", "--ignore-not-found", "-o", "json"], arguments].concat(), "");
        if json.is_empty() { Value::Null } else { serde_json::from_str(&json).unwrap() }
    }

    fn shelf(&self, name: &str, namespace: &str, finalizers: &str) {
        let object = format!(
            "{{apiVersion: depot.example.com/v1, kind: Shelf, metadata: {{name: {name}, finalizers: [{finalizers}]}}, spec: {{}}}}"
        );
        self.cluster.kubectl(&["create", "-n", namespace, "-f", "-"], &object);
    }

    fn replaces(&self, path: &str, old: &str, new: &str) {
        let path = self.sandbox.folder.join(path);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{text}");
        fs::write(path, text.replace(old, new)).unwrap();
    }

    #[track_caller]
    fn has_the_files_of_the_commit(&self) {
        let mut git = self.sandbox.command("git");
        git.args(["status", "--porcelain"]);
        assert_eq!(Said::of(git).succeeds().output, "");
    }

    fn finds_its_cluster(&self) {
        let minified = ["config", "view", "--raw", "--minify", "-o", "json"];
        let config: Value = serde_json::from_str(&self.cluster.kubectl(&minified, "")).unwrap();
        let server = config["clusters"][0]["cluster"]["server"].as_str().unwrap();
        self.opctl(&["undeploy"]).succeeds().says(&["cluster: context `", &format!("server {server}\n")]);
        self.opctl(&["install", "--context", "nope"]).fails_with(&["the kubeconfig has no context `nope`"]);

        let nowhere = self.sandbox.root().join("nowhere");
        fs::write(&nowhere, config.to_string().replace(server, "https://127.0.0.1:1")).unwrap();
        for verb in [&["install"][..], &["uninstall"], &["deploy", "--image", IMAGE], &["undeploy"]] {
            let mut command = self.command(verb);
            command.env("KUBECONFIG", &nowhere);
            Said::of(command).fails_with(&["server https://127.0.0.1:1\n", "error: cannot reach the cluster: "]);
        }
        let mut command = self.command(&["install"]);
        command.env("KUBECONFIG", "/nowhere/kubeconfig");
        Said::of(command).fails_with(&["error: cannot reach the cluster: ", "help: set KUBECONFIG"]);

        let broken = |cluster: &str, user: &Value, wanted: &str| {
            let mut config = config.clone();
            config["users"][0]["user"] = user.clone();
            config["clusters"][0]["cluster"]["certificate-authority-data"] = cluster.into();
            let path = self.sandbox.root().join("broken");
            fs::write(&path, config.to_string()).unwrap();
            for verb in [&["install"][..], &["undeploy"], &["status"], &["migrate"]] {
                let said = self.opctl(&[verb, &["--kubeconfig", path.to_str().unwrap()]].concat());
                assert_eq!(said.error.matches("error: ").count(), 1, "{}", said.error);
                said.fails_with(&[wanted]);
            }
            let doctor = self.opctl(&["doctor", "--kubeconfig", path.to_str().unwrap()]);
            assert!(!doctor.good, "{}", doctor.output);
        };
        let authority = config["clusters"][0]["cluster"]["certificate-authority-data"].as_str().unwrap();
        let token = json!({ "token": "expired" });
        broken(authority, &token, "the cluster does not accept this user: ");
        broken("?", &token, "kubectl cannot use the kubeconfig: ");
        broken("bm8=", &token, "kubectl cannot use the kubeconfig: unable to load root certificates");
        let missing = json!({ "client-certificate": "/nowhere/a", "client-key": "/nowhere/b" });
        broken(authority, &missing, "unable to read client-cert /nowhere/a");
        let program = json!({ "apiVersion": "client.authentication.k8s.io/v1", "command": "nowhere", "interactiveMode": "Never" });
        broken(authority, &json!({ "exec": program }), "kubectl gets no credentials: ");
    }

    fn prints_without_a_cluster(&self) {
        let print = |arguments: &[&str]| {
            let mut command = self.command(&[arguments, &["--print"]].concat());
            command.env("KUBECONFIG", "/nowhere/kubeconfig");
            let said = Said::of(command).succeeds();
            assert_eq!(said.error, "");
            said.output
        };
        let folder =
            |folder: &str| self.cluster.kubectl(&["kustomize", self.sandbox.folder.join(folder).to_str().unwrap()], "");
        let whole = folder("config/default");
        assert_eq!(print(&["install"]), folder("config/crd"));
        assert_eq!(print(&["uninstall"]), folder("config/crd"));
        let with_image = whole.replace("image: controller:latest", &format!("image: {IMAGE}"));
        assert_eq!(print(&["deploy", "--image", IMAGE]), with_image);
        let operator = print(&["undeploy"]);
        for kind in ["CustomResourceDefinition", "Namespace"] {
            assert!(whole.contains(&format!("\nkind: {kind}\n")) && !operator.contains(&format!("\nkind: {kind}\n")));
        }
        assert_eq!(print(&["undeploy", "--delete-crds"]), format!("{}---\n{operator}", folder("config/crd")));
    }

    fn tells_what_it_may_not_do(&self) {
        let kubectl = self.cluster.kubectl.to_str().unwrap();
        let few = format!("{kubectl} --as=few");
        let as_few = |arguments: &[&str]| self.opctl(&[arguments, &["--kubectl", &few]].concat());
        let crds = "`customresourcedefinitions.apiextensions.k8s.io` at the cluster scope";
        let help = ["`opctl doctor`", "kubectl auth can-i "];
        as_few(&["install"]).fails_with(&[
            "cannot apply the manifests: user `few` may not patch ",
            crds,
            help[0],
            help[1],
        ]);
        as_few(&["uninstall", "--yes"]).fails_with(&["cannot read the CRDs: user `few` may not get ", crds]);
        let namespaced = "user `few` may not delete `deployments.apps` in the namespace `shop-system`\n";
        as_few(&["undeploy"]).fails_with(&["cannot find the objects that have finalizers: ", crds, "`--yes`"]);
        as_few(&["undeploy", "--yes"]).fails_with(&["cannot delete the manifests:\n", namespaced]);
        // Creating a binding would be privilege escalation.
        let kubectl = |arguments: &[&str]| self.cluster.kubectl(arguments, "");
        kubectl(&[
            "create",
            "clusterrole",
            "some",
            "--verb=get,list,watch,create,update,patch,delete",
            "--resource=*.*",
        ]);
        kubectl(&["create", "clusterrolebinding", "some", "--clusterrole=some", "--user=few"]);
        as_few(&["deploy", "--image", IMAGE]).fails_with(&["cannot apply the manifests: ", "not currently held"]);
        kubectl(&["delete", "clusterrolebinding,clusterrole", "some"]);
        self.opctl(&["undeploy", "--delete-crds", "--yes"]).succeeds();
        kubectl(&["delete", "namespace", SYSTEM]);
    }

    fn tells_which_names_are_taken(&self) {
        let rack = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: racks.depot.example.com}, \
            spec: {group: depot.example.com, names: {kind: Rack, plural: racks, singular: shelf}, scope: Cluster, versions: \
            [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}";
        self.cluster.kubectl(&["apply", "-f", "-"], rack);
        self.cluster.kubectl(&["wait", "--for=condition=Established", "-f", "-"], rack);
        let words = [
            "`shelfs.depot.example.com` is not served (NamesAccepted=False, SingularConflict: \"shelf\" is already in use); \
            `shelf` is the singular of `racks.depot.example.com`\n",
            "kubectl delete crd racks.depot.example.com",
        ];
        self.opctl(&["install"]).fails_with(&["the API server does not accept all names\n"]);
        self.opctl(&["install"]).fails_with(&words);
        for command in ["status", "doctor"] {
            let said = self.opctl(&[command]);
            words.iter().for_each(|words| assert!(said.output.contains(words), "not `{words}` in:\n{said:#?}"));
        }
        self.cluster.kubectl(&["delete", "-f", "-"], rack);
    }

    fn installs_over_what_others_have_changed(&self) {
        for _ in 0..2 {
            let said = self.opctl(&["install"]).succeeds();
            assert_eq!(said.output, format!("unchanged   customresourcedefinition.apiextensions.k8s.io/{CRD}\n"));
            said.says(&["1 CRD is served\n"]);
            self.cluster.kubectl(&["get", "shelfs", "--all-namespaces"], "");
        }
        let columns = |crd: &Value| crd["spec"]["versions"][0]["additionalPrinterColumns"].clone();
        let before = self.get(&["crd", CRD]);
        let patch = r#"[{"op": "replace", "path": "/spec/versions/0/additionalPrinterColumns", "value": [{"name": "X", "type": "string", "jsonPath": ".x"}]}]"#;
        self.cluster.kubectl(&["patch", "crd", CRD, "--type=json", "--field-manager=other", "-p", patch], "");
        assert_ne!(columns(&self.get(&["crd", CRD])), columns(&before));
        self.opctl(&["install"]).succeeds();
        assert_eq!(columns(&self.get(&["crd", CRD])), columns(&before));
    }

    fn deploys_without_a_change_of_files(&self) {
        self.opctl(&["deploy"]).fails_with(&["no image given", "opctl deploy --image "]);
        let said = self.opctl(&["deploy", "--image", IMAGE]).succeeds();
        said.says(&["1 CRD is served\n", "deployment.apps/shop-controller-manager is rolled out\n"]);
        let order: Vec<&str> = said
            .output
            .lines()
            .map(|line| line.split_once(' ').unwrap_or_else(|| panic!("{said:#?}")).1.trim_start())
            .collect();
        assert_eq!(
            order[..2],
            [&format!("namespace/{SYSTEM}")[..], &format!("customresourcedefinition.apiextensions.k8s.io/{CRD}")]
        );
        let deployment = self.get(&["-n", SYSTEM, DEPLOYMENT, "--show-managed-fields"]);
        assert_eq!(deployment["spec"]["template"]["spec"]["containers"][0]["image"], IMAGE);
        assert_eq!(deployment["status"]["availableReplicas"], 1);
        let managers = deployment["metadata"]["managedFields"].as_array().unwrap();
        assert!(managers.iter().any(|it| it["manager"] == "opctl" && it["operation"] == "Apply"), "{managers:#?}");
        self.has_the_files_of_the_commit();
    }

    fn tells_why_a_rollout_does_not_end(&self) {
        let (manager, name) = ("config/manager/manager.yaml", "      serviceAccountName: controller-manager\n");
        let nowhere = format!("{name}      nodeSelector:\n        nowhere: here\n");
        self.replaces(manager, name, &nowhere);
        let deploy = ["deploy", "--image", IMAGE, "--timeout", "5s"];
        self.opctl(&deploy).fails_with(&[
            "error: the rollout of deployment.apps/shop-controller-manager is not done after 5s: ",
            "\n  pod `shop-controller-manager-",
            "`: Unschedulable: 0/1 nodes are available: ",
            "\n  event FailedScheduling: 0/1 nodes are available: ",
            "describe pods -l app.kubernetes.io/name=shop,control-plane=controller-manager -n shop-system`",
            "logs deployment/shop-controller-manager --tail=50 -n shop-system`",
        ]);
        self.opctl(&[&deploy[..], &["--no-wait"]].concat()).succeeds();
        self.replaces(manager, &nowhere, name);
        self.opctl(&["deploy", "--image", IMAGE]).succeeds();
        let told = self.get(&["-n", SYSTEM, DEPLOYMENT])["spec"]["template"]["spec"]["nodeSelector"].clone();
        assert_eq!(told, Value::Null, "what is no longer in the manifests is taken out");
    }

    fn undeploys_and_keeps_what_is_the_users(&self) {
        self.shelf("one", "default", "example.com/held");
        self.opctl(&["undeploy"]).fails_with(&[
            &format!("1 object of `{CRD}` with finalizers:\n  `default/one`: `example.com/held`\n"),
            "refusing to delete the operator without confirmation",
            "`--yes`",
        ]);
        assert!(!self.get(&["-n", SYSTEM, DEPLOYMENT]).is_null(), "it may have to clean up");
        let patch = ["patch", "shelf", "one", "--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#];
        self.cluster.kubectl(&patch, "");
        for _ in 0..2 {
            let said = self.opctl(&["undeploy"]).succeeds();
            said.says(&["kept the CRDs and their objects; ", "kept the namespace `shop-system`"]);
            let left = self.cluster.kubectl(
                &[
                    "get",
                    "-o",
                    "name",
                    "deployments,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings",
                    "-A",
                ],
                "",
            );
            assert!(!left.contains("shop"), "{left}");
            assert_eq!(self.get(&["shelf", "one"])["metadata"]["name"], "one");
            assert_eq!(self.get(&["namespace", SYSTEM])["status"]["phase"], "Active");
        }
    }

    fn deletes_crds_before_the_operator_and_never_unasked(&self) {
        self.opctl(&["deploy", "--image", IMAGE]).succeeds();
        self.shelf("two", SYSTEM, "example.com/held, example.com/too");
        let undeploy = ["undeploy", "--delete-crds", "--timeout", "5s"];
        let refused = self.opctl(&undeploy);
        refused.fails_with(&[
            &format!("  {CRD}  2 objects in 2 namespaces\n"),
            "refusing to delete without confirmation",
            "`--yes`",
        ]);
        self.opctl(&[&undeploy[..], &["-v"]].concat()).fails_with(&["    `default/one`\n    `shop-system/two`\n"]);
        assert!(
            !self.get(&["shelf", "one"]).is_null()
                && self.get(&["crd", CRD])["metadata"]["deletionTimestamp"].is_null()
        );

        let held =
            format!("`{CRD}`: 1 object left\n    `shop-system/two`: held by `example.com/held`, `example.com/too`\n");
        let yes = [&undeploy[..], &["--yes"]].concat();
        self.opctl(&yes).fails_with(&[
            "some CRDs still exist after 5s",
            &held,
            "the operator was not deleted",
            "kubectl patch shelfs",
        ]);
        assert!(!self.get(&["-n", SYSTEM, DEPLOYMENT]).is_null(), "it may have to clean up");
        self.opctl(&["install", "--timeout", "2s"]).fails_with(&["it is being deleted"]);
        self.cluster.kubectl(
            &["patch", "shelf", "two", "-n", SYSTEM, "--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#],
            "",
        );
        let said = self.opctl(&yes).succeeds();
        assert!(!said.error.contains("kept the CRDs"), "{}", said.error);
        assert!(self.get(&["crd", CRD]).is_null() && self.get(&["-n", SYSTEM, DEPLOYMENT]).is_null());
        self.opctl(&["uninstall"]).succeeds().says(&["none of the CRDs is in the cluster\n"]);
    }

    /// Uses `script` of util-linux, which runs a command on a pseudo-terminal.
    fn asks_on_a_terminal(&self) {
        if !cfg!(target_os = "linux") || Command::new("script").arg("--version").output().is_err() {
            return skipped("questions of verbs", "there is no `script` of util-linux");
        }
        let answer = |answer: &str| {
            let mut script = self.command(&[]);
            let line = format!("opctl uninstall --kubectl {}", self.cluster.kubectl.display());
            script = {
                let mut command = self.sandbox.command("script");
                command
                    .args(["-qec", &line, "/dev/null"])
                    .envs(script.get_envs().filter_map(|(key, value)| Some((key, value?))));
                command
            };
            let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
            String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
        };
        self.opctl(&["install"]).succeeds();
        self.shelf("one", "default", "");
        let said = answer("n\n");
        assert!(said.contains("1 object in 1 namespace") && said.contains("delete them? [y/N]"), "{said}");
        assert!(said.contains("nothing was deleted") && !self.get(&["shelf", "one"]).is_null(), "{said}");
        let said = answer("y\n");
        assert!(self.get(&["crd", CRD]).is_null(), "{said}");
    }

    fn builds_an_installer_that_installs(&self) {
        let build = ["build-installer", "--image", IMAGE];
        self.opctl(&[&build[..], &["--check"]].concat()).fails_with(&["not everything is up to date"]);
        self.opctl(&build).succeeds();
        self.opctl(&[&build[..], &["--check"]].concat()).succeeds();
        let installer = self.sandbox.folder.join("dist/install.yaml");
        let text = fs::read_to_string(&installer).unwrap();
        let (head, manifests) = text.split_once("\n---\n").unwrap();
        assert!(head.starts_with("# Generated by opctl"), "{head}");
        assert_eq!(manifests, self.opctl(&["deploy", "--image", IMAGE, "--print"]).succeeds().output);
        self.cluster.kubectl(&["apply", "--server-side", "-f", installer.to_str().unwrap()], "");
        self.cluster.kubectl(&["-n", SYSTEM, "rollout", "status", DEPLOYMENT, "--timeout=60s"], "");
        // Fields that `kubectl apply` owns are updated, too.
        self.opctl(&["build-installer", "--image", "a.example.com/b:v2"]).succeeds();
        self.opctl(&["deploy", "--image", "a.example.com/b:v2"]).succeeds();
        self.cluster.kubectl(&["delete", "--wait=false", "-f", installer.to_str().unwrap()], "");
    }
}
