//! Releases of Helm charts: the example `charts` with the permissions in its `rbac.yaml`, the real helm, and nodes that
//! run no containers.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::example::CHARTS;
use crate::leadership::SHORT;
use crate::manager::Manager;
use crate::{MINUTE, RETRIES, within};

/// The operator, its cluster, and a copy of its charts.
struct Setup {
    cluster: ControlPlane,
    kubeconfig: PathBuf,
    charts: PathBuf,
    /// A program that records each start and exit, and runs helm.
    program: PathBuf,
    starts: PathBuf,
}

impl Setup {
    fn new(name: &str) -> Option<Self> {
        let cluster = ControlPlane::start(name, 1)?;
        CHARTS.install(&cluster);
        CHARTS.grant(&cluster);
        let kubeconfig = CHARTS.service_account(&cluster);
        let charts = cluster.folder.join("helm-charts");
        copy(&CHARTS.folder().join("helm-charts"), &charts);
        let [program, starts] = ["helm", "starts"].map(|name| cluster.folder.join(name));
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = version ] || echo \"$*\" >> {}\nexec {} \"$@\"\n",
            starts.display(),
            cluster.kubectl.with_file_name("helm").display(),
        );
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&starts, "").unwrap();
        Some(Self { cluster, kubeconfig, charts, program, starts })
    }

    fn manager(&self, arguments: &[&str]) -> Manager {
        let (charts, program) = (self.charts.to_str().unwrap(), self.program.to_str().unwrap());
        let arguments = [&["--helm-charts", charts, "--helm-program", program], arguments].concat();
        Manager::start(CHARTS.program(), &self.kubeconfig, "manager", &arguments)
    }

    fn ready_manager(&self, arguments: &[&str]) -> Manager {
        let mut manager = self.manager(arguments);
        manager.becomes_ready();
        manager
    }

    /// Number of times that helm was started.
    fn starts(&self) -> usize {
        fs::read_to_string(&self.starts).unwrap().lines().count()
    }

    fn site(&self, name: &str, spec: &Value) {
        let site = json!({
            "apiVersion": "web.example.com/v1",
            "kind": "Site",
            "metadata": { "name": name, "namespace": "default" },
            "spec": spec,
        });
        self.cluster.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", "-"], &site.to_string());
    }

    /// An object; null if it does not exist.
    fn get(&self, kind: &str, name: &str) -> Value {
        let output = self.cluster.run(&["get", kind, name, "-o", "json"], "");
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    fn names(&self, kind: &str) -> BTreeSet<String> {
        let names = self.cluster.kubectl(&["get", kind, "-o", "name"], "");
        names.lines().filter_map(|line| Some(line.split_once('/')?.1.to_owned())).collect()
    }

    fn condition(&self, site: &str, type_: &str) -> Value {
        let site = self.get("site", site);
        let conditions = site["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|condition| condition["type"] == type_).unwrap_or_default()
    }

    fn becomes(&self, site: &str, type_: &str, reason: &str) -> Value {
        within(MINUTE, &format!("{type_} of {site}: {reason}, not {}", self.get("site", site)["status"]), || {
            let object = self.get("site", site);
            self.condition(site, type_)["reason"] == reason
                && object["status"]["observedGeneration"] == object["metadata"]["generation"]
        });
        self.get("site", site)
    }

    fn becomes_ready(&self, site: &str) -> Value {
        self.becomes(site, "Ready", "Available")
    }

    /// Reasons and notes of the operator's events about an object, the oldest first.
    fn events(&self, name: &str) -> Vec<String> {
        let events = self.cluster.kubectl(&["get", "events.events.k8s.io", "-o", "json"], "");
        let mut events: Value = serde_json::from_str(&events).unwrap();
        let mut events: Vec<Value> = serde_json::from_value(events["items"].take()).unwrap();
        events.retain(|event| event["reportingController"] == "charts" && event["regarding"]["name"] == name);
        events.sort_by_key(|event| event["eventTime"].as_str().unwrap().to_owned());
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
        events.iter().map(|event| format!("{}: {}", text(event, "reason"), text(event, "note"))).collect()
    }

    fn kubectl(&self, arguments: &str) {
        self.cluster.kubectl(&arguments.split(' ').collect::<Vec<_>>(), "");
    }

    fn patch(&self, what: &str, patch: &Value) {
        let (kind, name) = what.split_once(' ').unwrap();
        self.cluster.kubectl(&["patch", kind, name, "--type=merge", "-p", &patch.to_string()], "");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap(), to.join(entry.as_ref().unwrap().file_name()));
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

#[test]
fn the_life_of_a_release() {
    let Some(setup) = Setup::new("helm-life") else { return };
    let mut manager = setup.ready_manager(&[]);
    setup.site("web", &json!({ "replicas": 2 }));
    let site = setup.becomes_ready("web");
    let release = &site["status"]["release"];
    assert_eq!(
        (&release["revision"], &release["status"], &release["chartVersion"]),
        (&json!(1), &json!("deployed"), &json!("1.0.0"))
    );
    let uid = site["metadata"]["uid"].clone();
    for object in ["deployment", "configmap", "secret", "service"] {
        assert_eq!(setup.get(object, "web")["metadata"]["ownerReferences"][0]["uid"], uid, "{object}");
    }
    assert!(setup.get("configmap", "web-kept")["metadata"]["ownerReferences"].is_null());
    // Octal, as in helm.
    let volumes = &setup.get("deployment", "web")["spec"]["template"]["spec"]["volumes"];
    assert_eq!(volumes[0]["configMap"]["defaultMode"], 420);

    // Without changes, helm does not run, although each render has another password.
    let (starts, password) = (setup.starts(), setup.get("secret", "web")["data"].clone());
    setup.kubectl("annotate site web touched=1");
    let _ = manager.terminate();
    manager = setup.ready_manager(&[]);
    sleep(Duration::from_secs(2));
    assert_eq!((setup.starts(), setup.get("secret", "web")["data"].clone()), (starts, password));

    // Drift of every kind.
    setup.kubectl("scale deployment web --replicas=7");
    setup.kubectl("delete service web");
    setup.patch("configmap web", &json!({ "data": { "index.html": "another", "added": "stays" } }));
    setup.kubectl("annotate secret web meta.helm.sh/release-name-");
    setup.kubectl("label priorityclass default-web app.kubernetes.io/managed-by-");
    within(MINUTE, "drift is corrected", || {
        let data = setup.get("configmap", "web")["data"].clone();
        setup.get("deployment", "web")["spec"]["replicas"] == 2
            && !setup.get("service", "web").is_null()
            && data == json!({ "index.html": "Hello", "added": "stays" })
            && setup.get("secret", "web")["metadata"]["annotations"]["meta.helm.sh/release-name"] == "web"
            && setup.get("priorityclass", "default-web")["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "Helm"
    });
    setup.becomes_ready("web");
    assert_eq!(setup.starts(), starts, "helm is not needed for it");

    // An autoscaler is left alone.
    setup.patch("site web", &json!({ "spec": { "autoscaling": true } }));
    within(MINUTE, "an autoscaler", || !setup.get("horizontalpodautoscaler", "web").is_null());
    setup.becomes_ready("web");
    setup.kubectl("scale deployment web --replicas=4");
    setup.kubectl("annotate site web touched=2 --overwrite");
    within(MINUTE, "four replicas", || setup.get("deployment", "web")["status"]["availableReplicas"] == 4);

    // An empty spec means the chart's values, not those of the last release.
    setup
        .cluster
        .kubectl(&["patch", "site", "web", "--type=json", "-p", r#"[{"op":"replace","path":"/spec","value":{}}]"#], "");
    within(MINUTE, "the chart's replicas", || setup.get("deployment", "web")["spec"]["replicas"] == 1);
    assert!(setup.get("horizontalpodautoscaler", "web").is_null());

    // More values, from a ConfigMap.
    setup.cluster.kubectl(&["create", "configmap", "web-values", "--from-literal=values.yaml=text: from a map"], "");
    within(MINUTE, "the text of the ConfigMap", || setup.get("configmap", "web")["data"]["index.html"] == "from a map");
    setup.patch("site web", &json!({ "spec": { "text": "of the spec" } }));
    within(MINUTE, "the text of the spec", || setup.get("configmap", "web")["data"]["index.html"] == "of the spec");
    let last = setup.becomes_ready("web")["status"]["release"]["revision"].as_u64().unwrap();

    // A new version of the chart.
    let _ = manager.terminate();
    let chart = setup.charts.join("site/Chart.yaml");
    fs::write(&chart, fs::read_to_string(&chart).unwrap().replace("version: 1.0.0", "version: 1.1.0")).unwrap();
    manager = setup.ready_manager(&[]);
    within(MINUTE, "the new chart", || setup.get("site", "web")["status"]["release"]["chartVersion"] == "1.1.0");
    assert_eq!(setup.becomes_ready("web")["status"]["release"]["revision"], last + 1);

    // Everything is deleted, except what the chart keeps, and an object that helm no longer knows.
    setup.kubectl("scale deployment web --replicas=3");
    setup.kubectl("delete site web --timeout=60s");
    for kind in ["deployment", "service", "priorityclass", "secret"] {
        assert!(!setup.names(kind).iter().any(|name| name.contains("web")), "{kind}: {:?}", setup.names(kind));
    }
    assert!(!setup.get("configmap", "web-kept").is_null());
    // Each deployed revision is one event; transient problems are none.
    let deployed = |revision: u64| {
        let reason = if revision == 1 { "Installed" } else { "Upgraded" };
        let version = if revision > last { "1.1.0" } else { "1.0.0" };
        format!("{reason}: revision {revision} of the chart site {version} is deployed")
    };
    let mut events = setup.events("web");
    assert!(!events.iter().any(|event| event.starts_with("DriftNotCorrected")), "{events:?}");
    events.retain(|event| event.contains("deployed"));
    assert_eq!(events, Vec::from_iter((1..=last + 1).map(deployed)));
    assert!(manager.terminate().success());
}

#[test]
fn failures_of_releases() {
    let Some(setup) = Setup::new("helm-failures") else { return };
    let mut manager = setup.ready_manager(&[]);

    // A chart that does not render leaves no release record; one that the API server rejects leaves one.
    setup.site("broken", &json!({ "broken": true }));
    setup.site("invalid", &json!({ "invalid": true }));
    let broken = setup.becomes("broken", "Ready", "InstallError");
    let message = setup.condition("broken", "Ready")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("site/templates/deployment.yaml:1:27") && message.contains("broken is true"), "{message}");
    assert!(broken["status"]["release"].is_null());
    setup.becomes("invalid", "Ready", "InstallError");
    assert!(
        setup.condition("invalid", "Ready")["message"].as_str().unwrap().contains("must be greater than or equal to 0")
    );
    assert_eq!(setup.condition("invalid", "Deployed")["status"], "False");
    // Three tries with pauses, then none, even after a restart.
    for site in ["broken", "invalid"] {
        within(Duration::from_secs(120), "Stalled", || setup.condition(site, "Stalled")["status"] == "True");
    }
    let tries = |site: &str| {
        fs::read_to_string(&setup.starts)
            .unwrap()
            .lines()
            .filter(|line| line.contains(&format!("upgrade {site} ")))
            .count()
    };
    assert_eq!((tries("broken"), tries("invalid")), (3, 3));
    let _ = manager.terminate();
    manager = setup.ready_manager(&[]);
    sleep(Duration::from_secs(3));
    assert_eq!(tries("invalid"), 3);
    // An annotation triggers another try, and another value fixes the release.
    setup.kubectl("annotate site invalid opctl-runtime/retry=1");
    within(MINUTE, "another try", || tries("invalid") == 4);
    setup.patch("site invalid", &json!({ "spec": { "invalid": false } }));
    setup.becomes_ready("invalid");
    assert_eq!(setup.condition("invalid", "Stalled"), Value::Null);
    setup.patch("site broken", &json!({ "spec": { "broken": false } }));
    setup.becomes_ready("broken");

    // A foreign release of another chart is not touched. One of the same chart is taken over, without an upgrade if it
    // is identical.
    let helm = |arguments: &[&str]| {
        let output = Command::new(setup.cluster.kubectl.with_file_name("helm"))
            .args(arguments)
            .env("KUBECONFIG", &setup.cluster.kubeconfig)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let other = setup.cluster.folder.join("other");
    copy(&setup.charts.join("site"), &other);
    fs::write(other.join("Chart.yaml"), "apiVersion: v2\nname: other\nversion: 1.0.0\nappVersion: '1.27'\n").unwrap();
    helm(&["install", "taken", other.to_str().unwrap()]);
    let same = setup.charts.join("site");
    helm(&["install", "same", same.to_str().unwrap(), "--set", "text=by hand", "--server-side=false"]);
    // As operator-sdk leaves it, with a field of an earlier version of the chart.
    let old = [
        json!({ "op": "replace", "path": "/metadata/managedFields/0/manager", "value": "helm-operator" }),
        json!({ "op": "add", "path": "/metadata/managedFields/0/fieldsV1/f:data/f:old", "value": {} }),
        json!({ "op": "add", "path": "/data/old", "value": "of an earlier version" }),
    ];
    let patch = ["patch", "configmap", "same", "--field-manager=helm-operator", "--type=json", "-p"];
    setup.cluster.kubectl(&[&patch[..], &[&json!(old).to_string()]].concat(), "");
    let starts = setup.starts();
    setup.site("taken", &json!({}));
    setup.site("same", &json!({ "text": "by hand" }));
    setup.becomes("taken", "Ready", "ReleaseNameTaken");
    assert_eq!(setup.becomes_ready("same")["status"]["release"]["revision"], 1);
    assert_eq!(setup.starts(), starts);
    assert_eq!(setup.get("configmap", "same")["data"], json!({ "index.html": "by hand" }));
    let managed = setup.cluster.kubectl(&["get", "configmap", "same", "-o", "json", "--show-managed-fields"], "");
    let managed: Value = serde_json::from_str(&managed).unwrap();
    let managers = managed["metadata"]["managedFields"].as_array().unwrap().iter();
    let managers: BTreeSet<_> = managers.map(|it| format!("{}/{}", it["manager"], it["operation"])).collect();
    assert!(
        managers.contains("\"helm\"/\"Apply\"") && managers.iter().all(|it| !it.contains("helm-operator")),
        "{managers:?}"
    );
    setup.kubectl("delete site taken --timeout=60s");
    assert!(!setup.get("deployment", "taken").is_null(), "it was not this operator's");

    // Two kinds, one name: the second reports the conflict.
    setup.cluster.kubectl(&["delete", "site", "same", "--timeout=60s"], "");
    let shop = json!({ "apiVersion": "web.example.com/v1", "kind": "Shop", "metadata": { "name": "twice" }, "spec": { "goods": ["plums"] } });
    setup.cluster.kubectl(&["apply", "-n", "default", "-f", "-"], &shop.to_string());
    within(MINUTE, "the shop", || setup.get("configmap", "twice-site")["data"]["index.html"] == "plums");
    setup.site("twice-site", &json!({}));
    setup.becomes("twice-site", "Ready", "ReleaseNameTaken");
    // A failed upgrade is rolled back, and retried after a pause.
    setup.patch("shop twice", &json!({ "spec": { "goods": [] } }));
    let condition = |type_: &str| {
        let shop = setup.get("shop", "twice");
        let mut conditions = shop["status"]["conditions"].as_array().into_iter().flatten();
        conditions.find(|condition| condition["type"] == type_).cloned().unwrap_or_default()
    };
    within(MINUTE, "a failed upgrade", || condition("Ready")["reason"] == "UpgradeError");
    let failed = Instant::now();
    assert_eq!(setup.get("configmap", "twice-site")["data"]["index.html"], "plums");
    assert_eq!(condition("Deployed")["status"], "True");
    sleep(Duration::from_secs(5));
    // The next try is 10 seconds after the failure, which a slow machine may have reached.
    assert!(tries("twice-site") == 2 || failed.elapsed() > Duration::from_secs(8));
    setup.patch("shop twice", &json!({ "spec": { "goods": ["pears"] } }));
    within(MINUTE, "the next goods", || setup.get("configmap", "twice-site")["data"]["index.html"] == "pears");
    // helm may still apply the other objects.
    within(MINUTE, "an upgrade", || setup.events("twice").iter().any(|event| event.starts_with("Upgraded")));
    // A controller with other children has the same guarantees.
    setup.kubectl("scale deployment twice-site --replicas=3");
    within(MINUTE, "one replica", || setup.get("deployment", "twice-site")["spec"]["replicas"] == 1);
    // An object with a foreign finalizer: the others are deleted, and the condition names what is left.
    setup.patch("service twice-site", &json!({ "metadata": { "finalizers": ["example.com/held"] } }));
    setup.kubectl("delete shop twice --wait=false");
    within(MINUTE, "the Service is named", || {
        condition("Ready")["message"]
            .as_str()
            .unwrap_or_default()
            .contains("Service twice-site (finalizers: example.com/held)")
    });
    assert!(setup.get("deployment", "twice-site").is_null());
    setup.patch("service twice-site", &json!({ "metadata": { "finalizers": null } }));
    setup.kubectl("wait --for=delete shop/twice --timeout=60s");
    // After a pause, the name is free and the release is retried.
    within(RETRIES, "the name is free", || setup.condition("twice-site", "Ready")["reason"] == "Available");
    setup.becomes_ready("twice-site");
    assert!(manager.terminate().success());

    // One event for each operation, besides those about the readiness of objects.
    let facts = |name: &str| {
        let events = setup.events(name);
        let reasons = events.iter().filter_map(|event| Some(event.split_once(": ")?.0.to_owned()));
        Vec::from_iter(reasons.filter(|reason| !["Available", "Progressing"].contains(&reason.as_str())))
    };
    for site in ["broken", "invalid"] {
        assert_eq!(facts(site), ["InstallError", "RetriesExceeded", "Installed"], "{:?}", setup.events(site));
    }
    let expected = ["Installed", "UpgradeError", "Upgraded", "DriftCorrected", "Uninstalling"];
    assert_eq!(facts("twice"), expected, "{:?}", setup.events("twice"));

    // A name that helm refuses.
    let long = "a".repeat(60);
    let _manager = setup.ready_manager(&[]);
    setup.site(&long, &json!({}));
    let name = setup.becomes_ready(&long)["status"]["release"]["name"].as_str().unwrap().to_owned();
    assert!(name.len() == 53 && name.starts_with("aaaa"), "{name}");
}

#[test]
fn a_shutdown_waits_for_helm() {
    let Some(setup) = Setup::new("helm-shutdown") else { return };
    let mut manager = setup.ready_manager(&["--grace-period=10"]);
    setup.site("slow", &json!({ "slow": true }));
    within(MINUTE, "the hook", || !setup.get("job", "slow-migrate").is_null());
    assert_eq!(setup.condition("slow", "Reconciling")["reason"], "Installing");
    assert!(manager.terminate().success(), "{}", manager.log());
    // Helm has recorded the release as unfinished.
    assert_eq!(setup.get("secret", "sh.helm.release.v1.slow.v1")["metadata"]["labels"]["status"], "failed");
    setup.site("slow", &json!({ "slow": false }));
    let _manager = setup.ready_manager(&[]);
    setup.becomes_ready("slow");
    assert_eq!(setup.condition("slow", "Reconciling"), Value::Null);
}

#[test]
fn a_change_during_an_upgrade_is_the_next_upgrade() {
    let Some(setup) = Setup::new("helm-change") else { return };
    let mut manager = setup.ready_manager(&[]);
    setup.site("web", &json!({ "slow": true, "text": "first" }));
    within(MINUTE, "the hook", || !setup.get("job", "web-migrate").is_null());
    for text in ["second", "third"] {
        setup.site("web", &json!({ "slow": false, "text": text }));
    }
    sleep(Duration::from_secs(2));
    assert_eq!(setup.condition("web", "Reconciling")["reason"], "Installing");
    setup.patch("job web-migrate", &json!({ "spec": { "suspend": false } }));
    within(MINUTE, "the newest text", || setup.get("configmap", "web")["data"]["index.html"] == "third");
    assert_eq!(setup.becomes_ready("web")["status"]["release"]["revision"], 2);
    // Helm was neither cancelled nor started for the change between.
    assert_eq!(setup.starts(), 2);
    let mut events = setup.events("web");
    events.retain(|event| event.contains("deployed") || event.contains("Error"));
    let deployed =
        |reason: &str, revision: u64| format!("{reason}: revision {revision} of the chart site 1.0.0 is deployed");
    assert_eq!(events, [deployed("Installed", 1), deployed("Upgraded", 2)]);
    assert!(manager.terminate().success());
}

/// The first leader is frozen while its helm waits for a hook. Another replica, elsewhere, takes over, and finishes the work.
#[test]
fn a_former_leader_and_its_helm_write_nothing() {
    let Some(setup) = Setup::new("helm-handover") else { return };
    let in_namespace = "-n charts-system";
    setup.kubectl(&format!(
        "create role leader --verb=get,list,watch,create,update,patch --resource=leases {in_namespace}"
    ));
    setup.kubectl(&format!(
        "create rolebinding leader --role=leader --serviceaccount=charts-system:charts {in_namespace}"
    ));
    let replica = |name: &str| {
        let (charts, program) = (setup.charts.to_str().unwrap(), setup.program.to_str().unwrap());
        let election = ["--leader-elect", "--leader-election-namespace=charts-system"];
        let arguments = [&["--helm-charts", charts, "--helm-program", program][..], &election, &SHORT].concat();
        // Its own, as in a Pod.
        let temporary = setup.cluster.folder.join(name);
        fs::create_dir_all(&temporary).unwrap();
        let variables = [("TMPDIR", temporary.to_str().unwrap())];
        Manager::start_with(Path::new("."), CHARTS.program(), &setup.kubeconfig, name, &arguments, &variables)
    };
    let leads = |manager: &Manager| manager.metrics().lines().any(|line| line == "controller_leader 1");
    let record = |revision: u64| setup.get("secret", &format!("sh.helm.release.v1.site.v{revision}"));
    let mut former = replica("former");
    setup.site("site", &json!({ "slow": true, "text": "of the former leader" }));
    within(MINUTE, "the hook", || !setup.get("job", "site-migrate").is_null());
    assert_eq!(record(1)["metadata"]["labels"]["status"], "pending-install");
    former.signal("STOP");
    setup.site("site", &json!({ "slow": false, "text": "of the next leader" }));
    let mut next = replica("next");
    within(RETRIES, "the next leader", || leads(&next));
    let site = setup.becomes_ready("site");
    assert_eq!(site["status"]["release"]["revision"], 2);
    let unlocked = setup.events("site").iter().filter(|event| event.starts_with("ReleaseUnlocked")).count();
    assert_eq!(unlocked, 1, "{:?}", setup.events("site"));

    former.signal("CONT");
    assert_eq!(former.exit().code(), Some(1), "{}", former.log());
    let page = &setup.get("configmap", "site");
    assert_eq!(page["data"]["index.html"], "of the next leader");
    let states = [1, 2].map(|revision| record(revision)["metadata"]["labels"]["status"].clone());
    // As helm leaves a failed revision before one that is deployed.
    assert_eq!((states, record(3)), ([json!("superseded"), json!("deployed")], Value::Null));
    // The helm of the former leader has gone with it, and the next leader needed one.
    let helms = || {
        let found = Command::new("pgrep").args(["-f", &format!("upgrade site {}", setup.charts.display())]).output();
        String::from_utf8_lossy(&found.unwrap().stdout).lines().count()
    };
    within(MINUTE, "no helm is left", || helms() == 0);
    assert_eq!(setup.starts(), 2);
    assert_eq!(setup.get("configmap", "site"), *page);
    assert!(next.terminate().success());
}

/// `kill -9` of the operator, of helm, and of both, at random points of many changes.
#[test]
fn no_kill_leaves_a_release_behind() {
    const SITES: usize = 20;
    const CHANGES: usize = 50;
    let Some(setup) = Setup::new("helm-kills") else { return };
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % limit
    };
    let mut manager = setup.ready_manager(&[]);
    let mut wanted = vec![None; SITES];
    for change in 0..CHANGES {
        let at = usize::try_from(below(SITES as u64)).unwrap();
        let name = format!("killed-{at}");
        match (below(5), &wanted[at]) {
            (0, Some(_)) => {
                setup.kubectl(&format!("delete site {name} --wait=false"));
                wanted[at] = None;
            }
            _ => {
                // An object cannot be created again during its deletion.
                if wanted[at].is_none() {
                    within(
                        MINUTE / 2,
                        &format!(
                            "{name} is gone, not {}\n{}",
                            setup.get("site", &name),
                            setup.cluster.kubectl(&["get", "secrets", "--show-labels"], "")
                        ),
                        || setup.get("site", &name).is_null(),
                    );
                }
                setup.site(&name, &json!({ "replicas": 1 + below(3), "text": format!("change {change}") }));
                wanted[at] = Some(format!("change {change}"));
            }
        }
        sleep(Duration::from_millis(below(1500)));
        let kind = below(4);
        if kind < 2 {
            manager.signal("KILL");
            manager.exit();
        }
        if (1..3).contains(&kind) {
            // Only processes of this test, if there are any.
            let _ = Command::new("pkill").args(["-KILL", "-f", "(upgrade|uninstall) killed-[0-9]"]).status();
        }
        if kind < 2 {
            manager = setup.manager(&[]);
        }
    }
    manager.becomes_ready();
    let start = Instant::now();
    for (at, text) in wanted.iter().enumerate() {
        let name = format!("killed-{at}");
        within(
            Duration::from_secs(240),
            &format!("{name}: {text:?}, not {}", setup.get("site", &name)),
            || match text {
                Some(text) => {
                    setup.condition(&name, "Ready")["reason"] == "Available"
                        && setup.get("configmap", &name)["data"]["index.html"] == text.as_str()
                }
                None => setup.get("site", &name).is_null(),
            },
        );
    }
    eprintln!(
        "{CHANGES} changes: everything is right {:?} after the last one, {} runs of helm",
        start.elapsed(),
        setup.starts()
    );
    // No orphan, no stuck release, no lost record.
    let expected: BTreeSet<String> =
        (0..SITES).filter(|at| wanted[*at].is_some()).map(|at| format!("killed-{at}")).collect();
    for kind in ["deployment", "service"] {
        let mut names = setup.names(kind);
        names.remove("kubernetes");
        assert_eq!(names, expected, "{kind}");
    }
    let classes: BTreeSet<_> = setup
        .names("priorityclass")
        .into_iter()
        .filter_map(|it| it.strip_prefix("default-").map(str::to_owned))
        .collect();
    assert_eq!(classes, expected);
    let records = setup.cluster.kubectl(&["get", "secrets", "-l", "owner=helm", "-o", "json"], "");
    let records: Value = serde_json::from_str(&records).unwrap();
    let mut deployed = Vec::new();
    for labels in records["items"].as_array().unwrap().iter().map(|record| &record["metadata"]["labels"]) {
        let (name, status) = (labels["name"].as_str().unwrap(), labels["status"].as_str().unwrap());
        assert!(["deployed", "failed", "superseded"].contains(&status), "{name} is {status}");
        deployed.extend((status == "deployed").then(|| name.to_owned()));
    }
    deployed.sort();
    assert_eq!(deployed, Vec::from_iter(expected), "one deployed revision of each");
}

#[test]
fn many_idle_releases_cost_nothing() {
    const SITES: usize = 40;
    let Some(setup) = Setup::new("helm-idle") else { return };
    // Also record each exit.
    let text = fs::read_to_string(&setup.program)
        .unwrap()
        .replace("exec ", "")
        .replace("\"$@\"\n", "\"$@\"\nstatus=$?\n[ \"$1\" = version ] || echo end >> ");
    fs::write(
        &setup.program,
        format!("{}{}\nexit $status\n", text.trim_end_matches('\n'), format_args!(" {}", setup.starts.display())),
    )
    .unwrap();
    let manager = setup.ready_manager(&["--helm-processes=3", "--requeue-interval=5"]);
    let all: Vec<_> = (0..SITES)
        .map(|at| json!({ "apiVersion": "web.example.com/v1", "kind": "Site", "metadata": { "name": format!("site-{at}"), "namespace": "default" }, "spec": {} }))
        .collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": all });
    setup.cluster.kubectl(&["apply", "--server-side", "-f", "-"], &list.to_string());
    let ready = || {
        let sites = setup.cluster.kubectl(
            &["get", "sites", "-o", "jsonpath={.items[*].status.conditions[?(@.type==\"Ready\")].reason}"],
            "",
        );
        sites.split(' ').filter(|reason| *reason == "Available").count()
    };
    within(MINUTE * 4, "all are ready", || ready() == SITES);
    let log = fs::read_to_string(&setup.starts).unwrap();
    let mut running = 0_i32;
    let most = log.lines().map(|line| {
        running += if line == "end" { -1 } else { 1 };
        running
    });
    let most = most.max().unwrap();
    assert!((2..=3).contains(&most), "{most} at a time");
    sleep(Duration::from_secs(12));
    assert_eq!(fs::read_to_string(&setup.starts).unwrap().lines().count(), 2 * SITES, "{}", manager.log());
}
