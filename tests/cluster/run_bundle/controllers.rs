//! Fakes the controllers of OLM as far as opctl observes them: catalogs connect, Subscriptions get InstallPlans,
//! approved ones CSVs, and CSVs Deployments; a ClusterExtension gets all of it. Each can be made to fail.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;

/// A failure to simulate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// The image of a bundle cannot be unpacked.
    Unpack,
    /// The InstallPlan fails.
    Plan,
    /// The CSV fails.
    Csv,
    /// The extension is blocked.
    Extension,
}

/// The images that OLM pulls: the objects of each bundle image, and the bundles of each catalog image.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    pub bundles: BTreeMap<String, Vec<Value>>,
    pub catalogs: BTreeMap<String, Vec<String>>,
}

pub struct Controllers<'a> {
    pub cluster: &'a ControlPlane,
    pub registry: Registry,
    pub fault: Fault,
}

const NOW: &str = "2026-01-01T00:00:00Z";

impl Controllers<'_> {
    /// Runs the controllers while `run` runs.
    pub fn during<T>(&self, run: impl FnOnce() -> T) -> T {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    self.step();
                    thread::sleep(Duration::from_millis(100));
                }
            });
            // The thread must stop after a panic, too.
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            stop.store(true, Ordering::Relaxed);
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// The objects of a kind; empty if the cluster does not have the kind.
    fn items(&self, kind: &str) -> Vec<Value> {
        let output = self.cluster.run(&["get", kind, "-A", "-o", "json"], "");
        let list: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        list["items"].as_array().cloned().unwrap_or_default()
    }

    fn step(&self) {
        for catalog in self.items("catalogsources.operators.coreos.com") {
            let address = &catalog["spec"]["address"];
            if catalog["status"]["connectionState"]["address"] != *address {
                let state = json!({"address": address, "lastObservedState": "READY"});
                self.status(&catalog, &json!({"connectionState": state}));
            }
        }
        for subscription in self.items("subscriptions.operators.coreos.com") {
            self.subscription(&subscription);
        }
        for plan in self.items("installplans.operators.coreos.com") {
            if plan["spec"]["approved"] == true && plan["status"]["phase"].is_null() {
                self.install_plan(&plan);
            }
        }
        for csv in self.items("clusterserviceversions.operators.coreos.com") {
            self.csv(&csv);
        }
        for catalog in self.items("clustercatalogs.olm.operatorframework.io") {
            self.cluster_catalog(&catalog);
        }
        for extension in self.items("clusterextensions.olm.operatorframework.io") {
            self.cluster_extension(&extension);
        }
    }

    /// The documents that a catalog's Pod serves: those in the ConfigMaps that it mounts as files.
    fn documents(&self, namespace: &str, catalog: &Value) -> Vec<Value> {
        let address = text(catalog, "/status/connectionState/address");
        let ip = address.trim_end_matches(":50051");
        let pods = self.items("pods");
        let Some(pod) = pods.iter().find(|pod| !ip.is_empty() && text(pod, "/status/podIP") == ip) else {
            return Vec::new();
        };
        let container = &pod["spec"]["containers"][0];
        assert_eq!(container["args"], json!(["serve", "/configs"]));
        let mounts = container["volumeMounts"].as_array().unwrap();
        let files = mounts.iter().filter(|mount| text(mount, "/mountPath").starts_with("/configs/"));
        let texts = files.map(|mount| {
            let volumes = pod["spec"]["volumes"].as_array().unwrap();
            let volume = volumes.iter().find(|volume| volume["name"] == mount["name"]).unwrap();
            let name = text(volume, "/configMap/name");
            let map: Value = serde_json::from_str(
                &self.cluster.kubectl(&["get", "configmap", name, "-n", namespace, "-o", "json"], ""),
            )
            .unwrap();
            map["data"][text(mount, "/subPath")].as_str().unwrap().to_owned()
        });
        let parse =
            |text: String| serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<Vec<Value>, _>>();
        texts.flat_map(|text| parse(text).unwrap()).collect()
    }

    /// Creates an InstallPlan for the head of the channel, unless it is already installed or planned.
    fn subscription(&self, subscription: &Value) {
        let namespace = text(subscription, "/metadata/namespace");
        let catalogs = self.items("catalogsources.operators.coreos.com");
        let catalog = catalogs.iter().find(|catalog| catalog["metadata"]["name"] == subscription["spec"]["source"]);
        let documents = catalog.map(|catalog| self.documents(namespace, catalog)).unwrap_or_default();
        let is_channel = |document: &&Value| {
            document["schema"] == "olm.channel"
                && document["package"] == subscription["spec"]["name"]
                && document["name"] == subscription["spec"]["channel"]
        };
        let Some(channel) = documents.iter().find(is_channel) else { return };
        let entries = channel["entries"].as_array().unwrap();
        let is_replaced = |name: &Value| entries.iter().any(|entry| entry["replaces"] == *name);
        let head = entries.iter().find(|entry| !is_replaced(&entry["name"])).unwrap();
        let csv = head["name"].as_str().unwrap();
        let groups = self.items("operatorgroups.operators.coreos.com");
        let here = groups.iter().filter(|group| text(group, "/metadata/namespace") == namespace).count();
        assert_eq!(here, 1, "OLM installs where there is one OperatorGroup");
        if subscription["status"]["currentCSV"] == csv {
            let done = self.items("clusterserviceversions.operators.coreos.com");
            let is_done = |it: &Value| text(it, "/metadata/name") == csv && it["status"]["phase"] == "Succeeded";
            if subscription["status"]["installedCSV"] != csv && done.iter().any(is_done) {
                self.status(subscription, &json!({"installedCSV": csv, "state": "AtLatestKnown", "lastUpdated": NOW}));
            }
            return;
        }
        let is_bundle = |document: &&Value| document["schema"] == "olm.bundle" && document["name"] == csv;
        // The parts of a catalog are applied one after another.
        let Some(bundle) = documents.iter().find(is_bundle) else { return };
        if self.fault == Fault::Unpack {
            let message = "bundle unpacking failed. Reason: DeadlineExceeded, and Message: Job was active longer than specified deadline";
            let condition = json!({"type": "BundleUnpackFailed", "status": "True", "reason": "BundleUnpackFailed", "message": message});
            return self.status(subscription, &json!({"conditions": [condition], "lastUpdated": NOW}));
        }
        // Another Subscription gets a new InstallPlan.
        let name = format!("install-{}-{}", csv.replace('.', "-"), &text(subscription, "/metadata/uid")[..5]);
        let plan = json!({
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "InstallPlan",
            "metadata": {"name": name, "namespace": namespace, "annotations": {"bundle": bundle.to_string()}},
            "spec": {"approval": "Manual", "approved": false, "clusterServiceVersionNames": [csv]},
        });
        self.create(&plan);
        let reference = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan", "name": name, "namespace": namespace});
        self.status(
            subscription,
            &json!({"installPlanRef": reference, "currentCSV": csv, "state": "UpgradePending", "lastUpdated": NOW}),
        );
    }

    /// Creates the objects of the bundle, which are in the catalog or in its image.
    fn install_plan(&self, plan: &Value) {
        if self.fault == Fault::Plan {
            let condition = json!({"type": "Installed", "status": "False", "reason": "InstallComponentFailed",
                "message": "error creating clusterrole: it is forbidden"});
            return self.status(plan, &json!({"phase": "Failed", "catalogSources": [], "conditions": [condition]}));
        }
        let bundle: Value = serde_json::from_str(plan["metadata"]["annotations"]["bundle"].as_str().unwrap()).unwrap();
        let objects = match bundle["image"].as_str() {
            Some(image) => self.registry.bundles[image].clone(),
            None => {
                let properties = bundle["properties"].as_array().unwrap();
                let data = properties.iter().filter(|property| property["type"] == "olm.bundle.object");
                let decode = |property: &Value| STANDARD.decode(property["value"]["data"].as_str().unwrap()).unwrap();
                data.map(|property| serde_json::from_slice(&decode(property)).unwrap()).collect()
            }
        };
        let namespace = text(plan, "/metadata/namespace");
        for mut object in objects {
            match text(&object, "/kind") {
                "ClusterServiceVersion" => {
                    object["metadata"]["namespace"] = namespace.into();
                    self.create(&object);
                }
                "CustomResourceDefinition" => self.create(&object),
                _ => {}
            }
        }
        self.status(plan, &json!({"phase": "Complete", "catalogSources": []}));
    }

    /// Creates the Deployments of a CSV, and deletes them with it.
    fn csv(&self, csv: &Value) {
        if csv.pointer("/metadata/deletionTimestamp").is_some() {
            return;
        }
        if self.fault == Fault::Csv {
            if csv["status"]["phase"] != "Failed" {
                let message = "install strategy failed: Deployment.apps is invalid";
                self.status(csv, &json!({"phase": "Failed", "reason": "InstallComponentFailed", "message": message}));
            }
            return;
        }
        let namespace = text(csv, "/metadata/namespace");
        let deployments = csv["spec"]["install"]["spec"]["deployments"].as_array().unwrap();
        if csv["status"]["phase"].is_null() {
            let owner = json!([{"apiVersion": csv["apiVersion"], "kind": csv["kind"], "name": csv["metadata"]["name"], "uid": csv["metadata"]["uid"]}]);
            for deployment in deployments {
                self.create(&json!({
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "metadata": {"name": deployment["name"], "namespace": namespace, "ownerReferences": owner},
                    "spec": deployment["spec"],
                }));
            }
            if let Some(replaced) = csv["spec"]["replaces"].as_str() {
                self.cluster
                    .run(&["delete", "clusterserviceversions.operators.coreos.com", replaced, "-n", namespace], "");
            }
            self.status(csv, &json!({"phase": "Installing", "reason": "InstallWaiting", "message": "installing: waiting for deployments"}));
        } else if csv["status"]["phase"] == "Installing"
            && deployments.iter().all(|it| self.is_available(namespace, it))
        {
            self.status(
                csv,
                &json!({"phase": "Succeeded", "reason": "InstallSucceeded", "message": "install strategy completed"}),
            );
        }
    }

    fn is_available(&self, namespace: &str, deployment: &Value) -> bool {
        let name = deployment["name"].as_str().unwrap();
        let path = "jsonpath={.status.availableReplicas}";
        !self.cluster.run(&["get", "deployment", name, "-n", namespace, "-o", path], "").stdout.is_empty()
    }

    fn cluster_catalog(&self, catalog: &Value) {
        let image = text(catalog, "/spec/source/image/ref");
        let (reason, message) = match self.registry.catalogs.contains_key(image) {
            true => ("Succeeded", "unpacked".to_owned()),
            false => ("Retrying", format!("source catalog content: error copying image: {image}: not found")),
        };
        let generation = &catalog["metadata"]["generation"];
        if catalog["status"]["conditions"][0]["observedGeneration"] == *generation {
            return;
        }
        let condition = |kind: &str, status: bool, reason: &str, message: &str| {
            let status = if status { "True" } else { "False" };
            json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": NOW,
                "observedGeneration": generation})
        };
        let mut conditions = vec![condition("Progressing", true, reason, &message)];
        if reason == "Succeeded" {
            conditions.push(condition("Serving", true, "Available", "serving"));
        }
        self.status(catalog, &json!({"conditions": conditions}));
    }

    /// Creates all objects of the bundle, with the label of their owner.
    fn cluster_extension(&self, extension: &Value) {
        let name = text(extension, "/metadata/name");
        let label = format!("{OWNER}/owner-name={name}");
        if extension.pointer("/metadata/deletionTimestamp").is_some() {
            self.cluster.kubectl(&["delete", "crd,deployment", "-A", "-l", &label, "--wait=false"], "");
            let finalizers = r#"{"metadata":{"finalizers":null}}"#;
            self.cluster.run(&["patch", "clusterextension", name, "--type=merge", "-p", finalizers], "");
            return;
        }
        let (generation, version) =
            (&extension["metadata"]["generation"], text(extension, "/spec/source/catalog/version"));
        if extension["status"]["conditions"][0]["observedGeneration"] == *generation {
            return;
        }
        let condition = |kind: &str, status: &str, reason: &str, message: &str| {
            json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": NOW,
                "observedGeneration": generation})
        };
        if self.fault == Fault::Extension {
            let message = "unsupported bundle: bundle does not support AllNamespaces install mode";
            let conditions = [
                condition("Progressing", "False", "Blocked", message),
                condition("Installed", "False", "Failed", "no bundle"),
            ];
            return self.status(extension, &json!({"conditions": conditions}));
        }
        let bundle = self.registry.catalogs.values().flatten().map(|image| &self.registry.bundles[image]);
        let is_csv = |object: &&Value| object["kind"] == "ClusterServiceVersion";
        let bundle = bundle
            .into_iter()
            .find(|objects| objects.iter().filter(is_csv).any(|csv| csv["spec"]["version"] == version));
        let bundle = bundle.unwrap_or_else(|| panic!("no catalog has {version}"));
        let labels = json!({format!("{OWNER}/owner-kind"): "ClusterExtension", format!("{OWNER}/owner-name"): name});
        let csv = bundle.iter().find(is_csv).unwrap();
        for crd in bundle.iter().filter(|object| object["kind"] == "CustomResourceDefinition") {
            let mut crd = crd.clone();
            crd["metadata"]["labels"] = labels.clone();
            self.create(&crd);
        }
        for deployment in csv["spec"]["install"]["spec"]["deployments"].as_array().unwrap() {
            self.create(&json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": deployment["name"], "namespace": extension["spec"]["namespace"], "labels": labels},
                "spec": deployment["spec"],
            }));
        }
        let finalizers = format!(r#"{{"metadata":{{"finalizers":["{OWNER}/cleanup"]}}}}"#);
        self.cluster.kubectl(&["patch", "clusterextension", name, "--type=merge", "-p", &finalizers], "");
        let conditions = [
            condition("Progressing", "True", "Succeeded", "desired state reached"),
            condition("Installed", "True", "Succeeded", "installed"),
        ];
        let install = json!({"bundle": {"name": csv["metadata"]["name"], "version": version}});
        self.status(extension, &json!({"conditions": conditions, "install": install}));
    }

    /// Applies an object. Unknown fields are errors.
    fn create(&self, object: &Value) {
        let apply =
            ["apply", "--server-side", "--force-conflicts", "--field-manager=olm", "--validate=strict", "-f", "-"];
        self.cluster.kubectl(&apply, &object.to_string());
    }

    /// Sets the status. The object may have been deleted meanwhile.
    fn status(&self, object: &Value, status: &Value) {
        let group = text(object, "/apiVersion").split('/').next().unwrap();
        let kind = format!("{}s.{group}", text(object, "/kind").to_lowercase());
        let mut patch = vec!["patch", &kind, text(object, "/metadata/name"), "--subresource=status", "--type=merge"];
        if let Some(namespace) = object["metadata"]["namespace"].as_str() {
            patch.extend(["-n", namespace]);
        }
        let status = json!({"status": status}).to_string();
        let output = self.cluster.run(&[&patch[..], &["-p", &status]].concat(), "");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || error.contains("(NotFound)"), "{status}: {error}");
    }
}

const OWNER: &str = "olm.operatorframework.io";

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
