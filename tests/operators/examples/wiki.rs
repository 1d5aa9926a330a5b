//! `examples/wiki`: a chart with a dependency, hooks, a CRD, a role and an autoscaler, and a controller in Rust that
//! owns a release, with only the permissions of their role.

use std::fs;

use serde_json::json;

use super::charts::{Releases, run};
use super::eventually;
use super::example::Example;
use super::namespace::Namespace;
use crate::control_plane::ControlPlane;
use crate::helm::has_helm;
use crate::nightly::is_run;
use crate::tree::tree;
use crate::workdir;

const WIKI: Example = Example { folder: "wiki", name: "wiki-operator" };
const SAMPLE: &str = "wiki-sample";
const SEARCH: &str = "search-sample";

#[test]
fn installs_a_chart_with_all_that_charts_have() {
    if !is_run("the example wiki", "OPCTL_OPERATORS") {
        return;
    }
    if !has_helm("examples/wiki") {
        return;
    }
    let Some(cluster) = ControlPlane::start("wiki", 2) else { return };
    WIKI.deploy(&cluster);
    let charts = cluster.folder.join("helm-charts");
    workdir::sync(&charts, &tree(&WIKI.path().join("helm-charts")));
    let mut manager = run(WIKI, &cluster, &charts);
    let zoo = Namespace::create(&cluster);
    let [wikis, searches] = ["wiki", "search"].map(|kind| Releases { namespace: &zoo, kind });
    let deployment = |name: &str| zoo.get("deployment", name);
    let container = |name: &str| deployment(name)["spec"]["template"]["spec"]["containers"][0].clone();
    let password = || zoo.get("secret", "wiki-sample-database")["data"]["password"].clone();
    let revision = || wikis.becomes_ready(SAMPLE)["status"]["release"]["revision"].as_u64().unwrap();
    // Jobs of hooks are deleted after they have succeeded.
    let ran = |job: &str| {
        !zoo.run(&["get", "events", "--field-selector", &format!("involvedObject.name={job},reason=Completed")])
            .is_empty()
    };

    // The search is created before the wiki.
    zoo.run(&["apply", "-k", WIKI.path().join("config/samples").to_str().unwrap()]);
    assert_eq!(revision(), 1);
    assert!(ran("wiki-sample-check") && !ran("wiki-sample-migrate"));
    assert_eq!(zoo.get("theme", SAMPLE)["spec"]["accent"], "#336699");
    assert!(!zoo.get("rolebinding", SAMPLE).is_null());
    searches.becomes_ready(SEARCH);
    assert_eq!(container("search-sample-search")["args"], json!(["--wiki=http://wiki-sample:80"]));

    // An upgrade, which also reconciles the search.
    let first = password();
    wikis.patch(SAMPLE, &json!({ "title": "Zoo", "service": { "port": 8080 } }));
    assert_eq!(revision(), 2);
    assert!(ran("wiki-sample-migrate"));
    assert_eq!((zoo.get("configmap", SAMPLE)["data"]["TITLE"].clone(), password()), (json!("Zoo"), first.clone()));
    eventually("another address", || {
        container("search-sample-search")["args"] == json!(["--wiki=http://wiki-sample:8080"])
    });

    // A restart does not cause an upgrade.
    assert_eq!(manager.terminate().code(), Some(0));
    manager = run(WIKI, &cluster, &charts);
    zoo.run(&["delete", "service", SAMPLE]);
    eventually("its Service again", || !zoo.get("service", SAMPLE).is_null());
    assert_eq!((revision(), password()), (2, first.clone()));

    // The password of the mail server, then another one.
    zoo.run(&["create", "secret", "generic", "wiki-sample-smtp-password", "--from-literal=password=one"]);
    wikis.patch(SAMPLE, &json!({ "smtp": { "host": "mail.example.com" } }));
    let smtp = || zoo.get("secret", "wiki-sample-smtp")["data"]["SMTP_PASSWORD"].clone();
    eventually("the first password", || smtp() == "b25l");
    let patch = json!({ "stringData": { "password": "two" } }).to_string();
    zoo.run(&["patch", "secret", "wiki-sample-smtp-password", "-p", &patch]);
    eventually("the second password", || smtp() == "dHdv");
    let in_a_spec = json!({
        "apiVersion": "docs.example.com/v1", "kind": "Wiki", "metadata": { "name": SAMPLE },
        "spec": { "smtp": { "password": "three" } },
    });
    assert!(!zoo.try_apply(&in_a_spec).status.success());

    // Without metrics, Kubernetes' autoscaler scales to its minimum.
    wikis.patch(SAMPLE, &json!({ "autoscaling": { "enabled": true } }));
    let replicas = || deployment(SAMPLE)["status"]["availableReplicas"].clone();
    eventually("two replicas", || replicas() == 2);
    zoo.run(&["scale", "deployment", SAMPLE, "--replicas=4"]);
    eventually("four replicas", || replicas() == 4);
    zoo.run(&["delete", "service", SAMPLE]);
    eventually("its Service again", || !zoo.get("service", SAMPLE).is_null());
    let before = revision();
    wikis.patch(SAMPLE, &json!({ "title": "Zoological garden" }));
    assert_eq!((revision(), replicas(), password()), (before + 1, json!(4), first.clone()));

    // A new version of the chart.
    let of_search = searches.becomes_ready(SEARCH)["status"]["release"].clone();
    assert_eq!(manager.terminate().code(), Some(0));
    let chart = charts.join("wiki/Chart.yaml");
    let text = fs::read_to_string(&chart).unwrap();
    fs::write(&chart, text.replacen("version: 1.0.0", "version: 1.1.0", 1).replace("\"2.4\"", "\"2.5\"")).unwrap();
    manager = run(WIKI, &cluster, &charts);
    eventually("the new chart", || wikis.get(SAMPLE)["status"]["release"]["chartVersion"] == "1.1.0");
    assert_eq!((revision(), replicas(), password()), (before + 2, json!(4), first));
    assert_eq!(container(SAMPLE)["image"], "wiki:2.5");
    assert_eq!(searches.becomes_ready(SEARCH)["status"]["release"], of_search);

    // No node has this much memory, so the upgrade is rolled back.
    let memory = || container("search-sample-search")["resources"]["requests"]["memory"].clone();
    searches.patch(SEARCH, &json!({ "memory": "200Ti" }));
    eventually("200Ti are tried", || memory() == "200Ti");
    searches.becomes(SEARCH, "UpgradeError");
    assert_eq!((searches.condition(SEARCH, "Deployed")["status"].clone(), memory()), (json!("True"), json!("256Mi")));
    searches.patch(SEARCH, &json!({ "memory": "512Mi" }));
    searches.becomes_ready(SEARCH);
    assert_eq!(memory(), "512Mi");

    zoo.run(&["delete", "search", SEARCH]);
    zoo.run(&["delete", "wiki", SAMPLE]);
    zoo.run(&["delete", "secret", "wiki-sample-smtp-password"]);
    assert_eq!((searches.left(), zoo.run(&["get", "themes"])), (String::new(), String::new()));
    cluster.kubectl(&["get", "crd", "themes.themes.example.com"], "");
    assert_eq!(manager.terminate().code(), Some(0));
    let log = manager.log();
    assert!(!log.contains("forbidden") && !log.contains("ERROR"), "{log}");
}
