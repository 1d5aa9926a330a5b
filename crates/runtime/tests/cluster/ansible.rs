//! Ansible roles and playbooks: the example `playbooks` with the permissions in its `rbac.yaml`, and the real
//! ansible-runner and kubernetes.core.
//!
//! `OPCTL_ANSIBLE_KILLS` sets how often the operator or a run is killed, `OPCTL_ANSIBLE_OBJECTS` the number of objects.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, skipped};
use crate::example::PLAYBOOKS;
use crate::manager::Manager;
use crate::within;

/// Enough for a few runs on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(180);

/// The operator and its cluster.
struct Setup {
    cluster: ControlPlane,
    kubeconfig: PathBuf,
    /// A program that saves the variables of each run, and runs ansible-runner.
    program: PathBuf,
    folder: PathBuf,
}

/// The folder of ansible-runner, as installed by `.ci/run` or in PATH.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/ansible/bin");
    let mut folders = [installed].into_iter().chain(env::split_paths(&path));
    folders.find(|folder| folder.join("ansible-runner").is_file() && folder.join("ansible-playbook").is_file())
}

impl Setup {
    fn new(name: &str) -> Option<Self> {
        let Some(ansible) = programs() else {
            skipped(&format!("{name} with Ansible"), "there is no ansible-runner in PATH");
            return None;
        };
        let cluster = ControlPlane::start(name, 1)?;
        PLAYBOOKS.install(&cluster);
        PLAYBOOKS.grant(&cluster);
        let kubeconfig = PLAYBOOKS.service_account(&cluster);
        let folder = cluster.folder.clone();
        fs::create_dir_all(folder.join("variables")).unwrap();
        let program = folder.join("ansible-runner");
        // The second argument is the folder of the run.
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] || cp \"$2/env/extravars\" \"$(mktemp {}/variables/XXXXXXXX)\"\n\
             PATH={}:{}:\"$PATH\" exec {}/ansible-runner \"$@\"\n",
            folder.display(),
            ansible.display(),
            cluster.kubectl.parent().unwrap().display(),
            ansible.display(),
        );
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(ansible.join("ansible-playbook"), folder.join("ansible-playbook")).unwrap();
        Some(Self { cluster, kubeconfig, program, folder })
    }

    fn manager(&self) -> Manager {
        self.manager_with("300")
    }

    /// `timeout` is the limit of a run for a page, in seconds.
    fn manager_with(&self, timeout: &str) -> Manager {
        self.manager_of(&PLAYBOOKS.folder().join("ansible"), timeout)
    }

    fn manager_of(&self, project: &Path, timeout: &str) -> Manager {
        let runs = self.runs();
        let arguments = [
            "--ansible-project",
            project.to_str().unwrap(),
            "--ansible-runner",
            self.program.to_str().unwrap(),
            "--ansible-runs",
            runs.to_str().unwrap(),
        ];
        let variables = [("GREETING", "Welcome"), ("TIMEOUT", timeout)];
        let mut manager = Manager::start_with(
            Path::new("."),
            PLAYBOOKS.program(),
            &self.kubeconfig,
            "manager",
            &arguments,
            &variables,
        );
        manager.becomes_ready();
        manager
    }

    fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// The variables of all runs.
    fn variables(&self) -> Vec<Value> {
        let files = fs::read_dir(self.folder.join("variables")).unwrap();
        files.filter_map(|file| serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).ok()).collect()
    }

    fn apply(&self, kind: &str, name: &str, spec: &Value) {
        let object = json!({
            "apiVersion": "web.example.com/v1",
            "kind": kind,
            "metadata": { "name": name, "namespace": "default" },
            "spec": spec,
        });
        self.cluster.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", "-"], &object.to_string());
    }

    /// An object; null if it does not exist.
    fn get(&self, kind: &str, name: &str) -> Value {
        let output = self.cluster.run(&["get", kind, name, "-o", "json", "--show-managed-fields"], "");
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    fn kubectl(&self, arguments: &str) {
        self.cluster.kubectl(&arguments.split(' ').collect::<Vec<_>>(), "");
    }

    fn becomes(&self, kind: &str, name: &str, type_: &str, status: &str) -> Value {
        let start = Instant::now();
        loop {
            let object = self.get(kind, name);
            let condition = condition(&object, type_);
            let is_observed = object["status"]["observedGeneration"] == object["metadata"]["generation"];
            if condition["status"] == status && is_observed && !object.is_null() {
                return object;
            }
            assert!(start.elapsed() < PATIENCE, "{type_} of {kind} {name} is not {status}: {}", object["status"]);
            sleep(Duration::from_millis(200));
        }
    }

    fn succeeds(&self, kind: &str, name: &str) -> Value {
        self.becomes(kind, name, "Ready", "True")
    }

    /// Reasons and notes of the operator's events about an object, the oldest first.
    fn events(&self, name: &str) -> Vec<(String, String)> {
        let events = self.cluster.kubectl(&["get", "events.events.k8s.io", "-o", "json"], "");
        let events: Value = serde_json::from_str(&events).unwrap();
        let mut events = events["items"].as_array().unwrap().clone();
        events.retain(|event| event["reportingController"] == "playbooks" && event["regarding"]["name"] == name);
        events.sort_by_key(|event| event["eventTime"].as_str().unwrap().to_owned());
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
        events.iter().map(|event| (text(event, "reason"), text(event, "note"))).collect()
    }

    fn text(&self, name: &str) -> String {
        self.get("configmap", name)["data"]["text"].as_str().unwrap_or_default().to_owned()
    }

    /// The processes of this test's runs.
    fn processes(&self) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let read = |file: &str| {
                let text = fs::read(entry.path().join(file)).unwrap_or_default();
                String::from_utf8_lossy(&text).replace('\0', " ")
            };
            let environment = read("environ");
            if environment.contains("OPCTL_ANSIBLE_RUN=") && environment.contains(self.folder.to_str().unwrap()) {
                found.push(read("cmdline"));
            }
        }
        found
    }
}

fn condition(object: &Value, type_: &str) -> Value {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|condition| condition["type"] == type_).unwrap_or_default()
}

#[test]
fn the_life_of_a_page() {
    let Some(setup) = Setup::new("ansible-life") else { return };
    let mut manager = setup.manager();
    setup.apply("Page", "home", &json!({ "pageText": "{{ lookup('env', 'HOME') }}", "replicas": 2 }));
    let page = setup.succeeds("page", "home");
    let states = ["Running", "Successful", "Failure"].map(|type_| condition(&page, type_)["status"].clone());
    assert_eq!(states, ["False", "True", "False"]);
    assert_eq!(page["status"]["servers"], 2);
    // Written by `k8s_status` while the role ran.
    assert_eq!(page["status"]["text"], "{{ lookup('env', 'HOME') }}");
    assert_eq!(condition(&page, "Written")["message"], "{{ lookup('env', 'HOME') }}");
    // Strings of the spec are not templates, unlike the variables of the controller.
    assert_eq!(setup.text("home"), "Welcome: {{ lookup('env', 'HOME') }}");
    // The controller manager's finalizers of cascading deletion apply.
    for kind in ["configmap", "deployment"] {
        assert_eq!(setup.get(kind, "home")["metadata"]["ownerReferences"][0]["uid"], page["metadata"]["uid"], "{kind}");
    }
    let role = || setup.get("clusterrole", "page:default:home");
    assert_eq!(role()["metadata"]["annotations"]["opctl-runtime/owner"], page["metadata"]["uid"]);
    let dependents = page["status"]["lastRun"]["dependents"].as_array().unwrap().clone();
    let kinds: Vec<_> = dependents.iter().map(|it| it["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["Deployment", "ClusterRole", "ConfigMap"]);

    // Exactly the variables of the contract. The object is the one at the start of the run.
    let [variables] = setup.variables().try_into().unwrap();
    let plain = |value: &Value| value["__ansible_unsafe"].clone();
    let text = json!({ "__ansible_unsafe": "{{ lookup('env', 'HOME') }}" });
    let mut expected = json!({
        "ansible_operator_meta": { "name": "home", "namespace": "default" },
        "page_text": text,
        "replicas": 2,
        "_web_example_com_page_spec": { "pageText": text, "replicas": 2 },
        "greeting": "{{ lookup('env', 'GREETING') | default('Hello', true) }}",
    });
    let object = &variables["_web_example_com_page"];
    assert_eq!(plain(&object["metadata"]["uid"]), page["metadata"]["uid"]);
    assert_eq!((plain(&object["kind"]), plain(&object["apiVersion"])), ("Page".into(), "web.example.com/v1".into()));
    assert_eq!(object["spec"], expected["_web_example_com_page_spec"]);
    assert!(object["metadata"]["managedFields"].is_array());
    expected["_web_example_com_page"] = object.clone();
    assert_eq!(variables, expected);

    // Without changes, nothing runs, even if the operator is restarted.
    assert_eq!(manager.terminate().code(), Some(0));
    manager = setup.manager();
    setup.kubectl("annotate page home example.com/note=1");
    sleep(Duration::from_secs(5));
    assert_eq!(setup.variables().len(), 1, "{}", manager.log());

    setup.apply("Page", "home", &json!({ "pageText": "changed" }));
    within(PATIENCE, "the text changes", || setup.text("home") == "Welcome: changed");
    let page = setup.succeeds("page", "home");
    // Although this process has read the status before the run.
    assert_eq!((&page["status"]["text"], &page["status"]["servers"]), (&"changed".into(), &1.into()));
    assert_eq!(condition(&page, "Written")["message"], "changed");
    assert_eq!(setup.variables().len(), 2, "{}", manager.log());

    setup.cluster.kubectl(&["patch", "configmap", "home", "--type=merge", "-p", r#"{"data":{"text":"drifted"}}"#], "");
    within(PATIENCE, "drift is corrected", || setup.text("home") == "Welcome: changed");
    setup.kubectl("delete deployment home");
    within(PATIENCE, "a deleted object is created again", || !setup.get("deployment", "home").is_null());
    // Drift while no operator runs is corrected after the start.
    let mut quiet = 0;
    within(PATIENCE, "the last run ends", || {
        let is_running = condition(&setup.get("page", "home"), "Running")["status"] == "True";
        quiet = if is_running { 0 } else { quiet + 1 };
        quiet > 20
    });
    assert_eq!(manager.terminate().code(), Some(0));
    setup.cluster.kubectl(&["patch", "configmap", "home", "--type=merge", "-p", r#"{"data":{"text":"drifted"}}"#], "");
    let runs = setup.variables().len();
    manager = setup.manager();
    within(PATIENCE, "drift is corrected", || setup.text("home") == "Welcome: changed");
    assert!((3..=5).contains(&runs), "{runs} runs: {}", manager.log());

    setup.kubectl("delete page home --timeout=120s");
    within(PATIENCE, "nothing is left", || {
        [("clusterrole", "page:default:home"), ("configmap", "home"), ("deployment", "home")]
            .iter()
            .all(|(kind, name)| setup.get(kind, name).is_null())
    });
    assert_eq!(manager.terminate().code(), Some(0));
}

#[test]
fn runs_that_fail_or_hang_end_and_are_repeated() {
    let Some(setup) = Setup::new("ansible-failures") else { return };
    let mut manager = setup.manager_with("30");
    setup.apply("Page", "bad", &json!({ "pageText": "a", "broken": true }));
    setup.apply("Page", "slow", &json!({ "pageText": "a", "hangs": true }));
    let bad = setup.becomes("page", "bad", "Failure", "True");
    assert_eq!(condition(&bad, "Failure")["message"], "task `Fail`: this page is broken");
    assert_eq!(condition(&bad, "Ready")["reason"], "Failed");
    let owner = &setup.get("configmap", "bad")["metadata"]["ownerReferences"][0];
    assert_eq!(owner["name"], "bad", "what was made before the failure is owned");
    let slow = setup.becomes("page", "slow", "Failure", "True");
    let message = condition(&slow, "Failure")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("longer than its timeout of 30s, in the task `"), "{message}");
    within(PATIENCE, "it is tried again", || {
        setup.get("page", "bad")["status"]["lastRun"]["failures"].as_u64() > Some(1)
    });
    let events = setup.events("bad");
    let failed = events.iter().filter(|(reason, _)| reason == "Failed").count();
    assert_eq!(failed, 1, "one event for the same failure: {events:?}");
    assert_eq!(manager.terminate().code(), Some(0), "{}", manager.log());
    manager = setup.manager();
    setup.apply("Page", "bad", &json!({ "pageText": "a" }));
    setup.succeeds("page", "bad");

    // SIGTERM during a run leaves no process, and the next operator finishes the work.
    setup.apply("Page", "slow", &json!({ "pageText": "b", "hangs": true }));
    within(PATIENCE, "it runs", || setup.processes().iter().any(|it| it.contains("sleep 1000")));
    assert_eq!(manager.terminate().code(), Some(0), "{}", manager.log());
    assert_eq!(setup.processes(), Vec::<String>::new());
    assert_eq!(condition(&setup.get("page", "slow"), "Running")["status"], "True");
    setup.apply("Page", "slow", &json!({ "pageText": "b" }));
    let _manager = setup.manager();
    setup.succeeds("page", "slow");
    let left = fs::read_dir(setup.runs()).unwrap().flatten().filter(|it| it.path().join("env").exists()).count();
    assert_eq!(left, 0, "variables are removed after a run");
}

/// Tasks that show nothing, in every way in which they write; the first run is killed after them.
const HIDDEN: &str = r#"
- hosts: localhost
  gather_facts: false
  tasks:
    - no_log: true
      kubernetes.core.k8s:
        definition:
          - { apiVersion: v1, kind: Secret, metadata: { name: diary, namespace: default }, stringData: { text: "{{ text }}" } }
          - { apiVersion: v1, kind: ConfigMap, metadata: { name: created, namespace: default } }
          - { apiVersion: v1, kind: ConfigMap, metadata: { name: elsewhere, namespace: kube-public } }
          - { apiVersion: v1, kind: ConfigMap, metadata: { name: mine, namespace: default }, data: { text: "{{ text }}" } }
    - no_log: true
      kubernetes.core.k8s:
        apply: true
        server_side_apply: { field_manager: note, force_conflicts: true }
        definition:
          - { apiVersion: v1, kind: ConfigMap, metadata: { name: applied, namespace: default }, data: { text: "{{ text }}" } }
          - { apiVersion: v1, kind: ConfigMap, metadata: { name: mine-too, namespace: default }, data: { text: "{{ text }}" } }
    - no_log: true
      ansible.builtin.shell: kubectl create configmap typed --dry-run=client -o yaml | kubectl apply -f -
    - ansible.builtin.command: sleep 1000
      when: "'wait' in text"
    - no_log: true
      kubernetes.core.k8s:
        force: true
        definition: { apiVersion: v1, kind: ConfigMap, metadata: { name: created, namespace: default }, data: { text: "{{ text }}" } }
    - ansible.builtin.set_stats: { data: { requeue_after: 1h } }
"#;

#[test]
fn what_tasks_hide_belongs_to_the_object_and_stays_secret() {
    let Some(setup) = Setup::new("ansible-hidden") else { return };
    let project = setup.folder.join("project");
    fs::create_dir_all(project.join("playbooks")).unwrap();
    let copied = Command::new("cp").arg("-r").arg(PLAYBOOKS.folder().join("ansible/roles")).arg(&project).status();
    assert!(copied.unwrap().success());
    let cleanup = PLAYBOOKS.folder().join("ansible/playbooks/cleanup.yml");
    fs::copy(cleanup, project.join("playbooks/cleanup.yml")).unwrap();
    fs::write(project.join("playbooks/note.yml"), HIDDEN).unwrap();
    // Existing objects are kept, though the same tasks write to them.
    setup.kubectl("create configmap mine");
    setup.kubectl("create configmap mine-too");

    let mut manager = setup.manager_of(&project, "300");
    setup.apply("Note", "diary", &json!({ "text": "s3cret: wait" }));
    within(PATIENCE, "the first run waits", || setup.processes().iter().any(|it| it.contains("sleep 1000")));
    manager.signal("KILL");
    manager.exit();
    let log = manager.log();
    let uid = setup.get("note", "diary")["metadata"]["uid"].clone();
    let owners = |kind: &str, name: &str| {
        let owners = setup.get(kind, name)["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        Vec::from_iter(owners.iter().map(|owner| owner["uid"].clone()))
    };
    let made = [("secret", "diary"), ("configmap", "created"), ("configmap", "applied"), ("configmap", "typed")];
    for (kind, name) in made {
        assert_eq!(owners(kind, name), std::slice::from_ref(&uid), "{kind} {name} has its owner from the first moment");
    }

    setup.apply("Note", "diary", &json!({ "text": "s3cret: done" }));
    let mut manager = setup.manager_of(&project, "300");
    let note = setup.succeeds("note", "diary");
    assert!(note["status"]["lastRun"]["next"].is_string());
    let dependents = note["status"]["lastRun"]["dependents"].as_array().unwrap().iter();
    let mut names = Vec::from_iter(dependents.map(|it| it["name"].as_str().unwrap().to_owned()));
    names.sort();
    assert_eq!(names, ["applied", "created", "diary", "elsewhere", "typed"]);
    for (kind, name) in made {
        assert_eq!(
            owners(kind, name),
            std::slice::from_ref(&uid),
            "{kind} {name}, also after it was applied or replaced"
        );
    }
    for name in ["mine", "mine-too"] {
        assert_eq!((setup.text(name).as_str(), owners("configmap", name)), ("s3cret: done", Vec::new()));
    }
    assert_eq!(setup.text("created"), "s3cret: done");
    let elsewhere = setup.cluster.kubectl(&["get", "configmap", "elsewhere", "-n", "kube-public", "-o", "json"], "");
    let elsewhere: Value = serde_json::from_str(&elsewhere).unwrap();
    assert_eq!(elsewhere["metadata"]["annotations"]["opctl-runtime/owner"], uid);
    within(PATIENCE, "an event says what stays", || {
        let events = setup.events("diary").into_iter();
        // A run that was killed may have said it, too.
        let notes = BTreeSet::from_iter(events.filter(|(reason, _)| reason == "NotOwned").map(|(_, note)| note));
        let only = "ConfigMap elsewhere is in another namespace, or in none";
        notes == BTreeSet::from([format!("Kubernetes does not delete everything with this object: {only}")])
    });

    setup.kubectl("delete note diary --timeout=120s");
    within(PATIENCE, "nothing is left", || made.iter().all(|(kind, name)| setup.get(kind, name).is_null()));
    for name in ["mine", "mine-too"] {
        assert!(!setup.get("configmap", name).is_null(), "{name} existed before");
    }
    assert_eq!(manager.terminate().code(), Some(0));
    assert!(!log.contains("s3cret") && !manager.log().contains("s3cret"), "{log}{}", manager.log());
    let found = Command::new("grep").args(["-r", "s3cret"]).arg(setup.runs()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

/// After kills at any time, everything matches the last change in the end, and belongs to its page.
#[test]
fn whatever_is_killed_the_work_is_finished() {
    let Some(setup) = Setup::new("ansible-kills") else { return };
    let kills: u64 = env::var("OPCTL_ANSIBLE_KILLS").map_or(2, |number| number.parse().unwrap());
    let pages = ["one", "two", "three"];
    let mut manager = setup.manager();
    // A random generator with a fixed seed.
    let mut random = 1_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut texts = [0; 3];
    for change in 1..=kills {
        let at = next(3) as usize;
        texts[at] = change;
        setup.apply("Page", pages[at], &json!({ "pageText": format!("{change}") }));
        sleep(Duration::from_millis(next(6000)));
        if next(2) == 0 {
            manager.signal("KILL");
            manager.exit();
            manager = setup.manager();
        } else {
            let mut found = Command::new("pgrep");
            found.args(["-f", &format!("{}/", setup.runs().display())]);
            let found = found.output().unwrap();
            let found = String::from_utf8_lossy(&found.stdout).into_owned();
            let found: Vec<_> = found.lines().collect();
            if !found.is_empty() {
                // Fails if the process has ended.
                let _ = Command::new("kill").args(["-s", "KILL", found[next(found.len() as u64) as usize]]).status();
            }
        }
    }
    for (page, text) in pages.iter().zip(texts).filter(|(_, text)| *text > 0) {
        within(PATIENCE, &format!("the text of {page} is {text}, not {}", setup.text(page)), || {
            setup.text(page) == format!("Welcome: {text}")
        });
        let object = setup.succeeds("page", page);
        for kind in ["configmap", "deployment"] {
            let owners = setup.get(kind, page)["metadata"]["ownerReferences"].clone();
            assert_eq!(owners[0]["uid"], object["metadata"]["uid"], "{kind} {page}: {owners}");
        }
    }
    within(PATIENCE, "all runs end", || setup.processes().is_empty());
    manager.terminate();
}

#[test]
fn many_objects_take_their_turns() {
    let Some(setup) = Setup::new("ansible-many") else { return };
    let number: usize = env::var("OPCTL_ANSIBLE_OBJECTS").map_or(4, |number| number.parse().unwrap());
    let mut manager = setup.manager();
    let memory = || -> u64 {
        let metrics = manager.metrics();
        let line = metrics.lines().find(|line| line.starts_with("process_resident_memory_bytes"));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).unwrap_or_default() as u64
    };
    let before = memory();
    let page = |at: usize| {
        json!({
            "apiVersion": "web.example.com/v1", "kind": "Page",
            "metadata": { "name": format!("page{at}"), "namespace": "default" }, "spec": { "pageText": "x".repeat(10_000) },
        })
    };
    let all: Vec<_> = (0..number).map(page).collect();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": all });
    setup.cluster.kubectl(&["apply", "--server-side", "-f", "-"], &list.to_string());
    let (start, mut most, mut runners) = (Instant::now(), before, 0);
    loop {
        let pages = setup.cluster.kubectl(&["get", "pages", "-o", "json"], "");
        let pages: Value = serde_json::from_str(&pages).unwrap();
        let ready = pages["items"].as_array().unwrap().iter().filter(|it| condition(it, "Ready")["status"] == "True");
        most = most.max(memory());
        // A child that it has just forked has the same command line, until it executes Ansible.
        let running: BTreeSet<String> =
            setup.processes().into_iter().filter(|it| it.contains("ansible-runner run")).collect();
        runners = runners.max(running.len());
        if ready.count() == number {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60) + PATIENCE * number as u32 / 10, "{}", manager.log());
        sleep(Duration::from_millis(500));
    }
    eprintln!("{number} objects: {:?}, {} MiB before, at most {} MiB", start.elapsed(), before >> 20, most >> 20);
    assert!((1..=2).contains(&runners), "{runners} runs at a time");
    assert_eq!(setup.variables().len(), number, "each has run once");
    assert!(most < before + (32 << 20), "{before} bytes became {most}");
    manager.terminate();
}
