//! The dashboards and alerts of `examples/memcached` with a real Prometheus, which scrapes the running operator like
//! the ServiceMonitor: over HTTPS, with its own token.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::eventually;
use super::memcached::MEMCACHED;
use crate::common;
use crate::control_plane::ControlPlane;
use crate::prometheus::program;

/// Metrics without data in this test, with reasons. Each must be in an expression without results.
const EMPTY: &[(&str, &str)] = &[
    ("controller_watch_restarts_total", "no watch fails"),
    ("controller_decode_failures_total", "every object fits its type"),
    ("controller_webhook_requests_total", "the example has no webhooks"),
    ("rest_client_request_retries_total", "the API server is not overloaded"),
    ("code=\"403\"", "the role has every permission"),
    ("code=~\"429|5..|<error>\"", "the API server is not overloaded"),
    ("absent(up{", "the operator is up"),
];

#[test]
fn every_panel_and_alert_has_data() {
    let Some(prometheus) = program("prometheus", "dashboards and alerts") else { return };
    let Some(cluster) = ControlPlane::start("prometheus", 0) else { return };
    MEMCACHED.make(&cluster, &["install"]);
    MEMCACHED.apply(&cluster);
    cluster.kubectl(&["create", "serviceaccount", "prometheus"], "");
    let reader = format!("--clusterrole={}-metrics-reader", MEMCACHED.name);
    let account = "--serviceaccount=default:prometheus";
    cluster.kubectl(&["create", "clusterrolebinding", "prometheus", &reader, account], "");
    let token = cluster.kubectl(&["create", "token", "prometheus"], "");
    let mut manager = MEMCACHED.run(&cluster, &["--metrics-secure"]);
    let server = Server::start(&prometheus, &cluster.folder, &manager.metrics.to_string(), token.trim());

    // One object that is reconciled, and one whose Deployment belongs to someone else.
    cluster.kubectl(&["create", "deployment", "taken", "--image=memcached", "--replicas=0"], "");
    for name in ["sample", "taken"] {
        let object = json!({
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": { "name": name }, "spec": { "size": 1 },
        });
        cluster.kubectl(&["apply", "-f", "-"], &object.to_string());
    }
    eventually("a failure in two scrapes", || {
        !server.query("count_over_time(controller_reconcile_failures_total[1m]) > 1").is_empty()
            && !server.query("count_over_time(controller_last_success_timestamp_seconds[1m]) > 1").is_empty()
    });

    let (mut checked, mut wrong) = (0, Vec::new());
    let mut used = vec![false; EMPTY.len()];
    let mut check = |what: &str, expression: &str| {
        let has_data = !server.query(expression).is_empty();
        let reason = EMPTY.iter().position(|(part, _)| expression.contains(part));
        if let Some(reason) = reason {
            used[reason] = true;
        }
        if has_data == reason.is_some() {
            wrong.push(format!("{what}: has data: {has_data}: {expression}"));
        }
        checked += 1;
    };
    let dashboard = fs::read_to_string(MEMCACHED.path().join("grafana/operator.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    for target in targets.chain(dashboard["annotations"]["list"].as_array().unwrap()) {
        let mut expression = target["expr"].as_str().unwrap().replace("$__rate_interval", "1m");
        for (variable, value) in [("$job", MEMCACHED.name), ("$namespace", ".*"), ("$pod", ".*"), ("$controller", ".*")]
        {
            expression = expression.replace(variable, value);
        }
        check("the dashboard", &expression);
    }
    for alert in rules()["groups"][0]["rules"].as_array().unwrap() {
        // The expression without its threshold.
        let expression = alert["expr"].as_str().unwrap();
        let expression = if expression.starts_with("absent") {
            expression.into()
        } else {
            expression.replace("> ", "> bool ").replace("== ", "== bool ")
        };
        check(alert["alert"].as_str().unwrap(), &expression);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 35, "{checked}");
    assert!(used.iter().all(|used| *used), "an entry of EMPTY is not used: {used:?}");

    eventually("the rules are evaluated", || {
        let answer = server.get("/api/v1/rules", "");
        let rules = answer["groups"][0]["rules"].as_array().unwrap();
        assert!(rules.iter().all(|rule| rule["health"] != "err"), "{answer:#}");
        rules.iter().all(|rule| rule["health"] == "ok")
    });
    assert_eq!(manager.terminate().code(), Some(0));
}

/// The groups of the example's alerts.
fn rules() -> Value {
    let text = fs::read_to_string(MEMCACHED.path().join("config/prometheus/alerts.yaml")).unwrap();
    opctl_model::yaml::read::<Value>(&text).unwrap()["spec"].take()
}

/// A Prometheus with the alerts of the example, stopped when dropped.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(program: &Path, folder: &Path, target: &str, token: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write("token", token);
        write("rules.json", &rules().to_string());
        let config = json!({
            "global": { "scrape_interval": "1s", "evaluation_interval": "1s" },
            "rule_files": ["rules.json"],
            "scrape_configs": [{
                "job_name": MEMCACHED.name,
                "scheme": "https",
                "authorization": { "credentials_file": "token" },
                "tls_config": { "insecure_skip_verify": true },
                "static_configs": [{
                    "targets": [target], "labels": { "namespace": MEMCACHED.namespace(), "pod": "manager" },
                }],
            }],
        });
        write("prometheus.json", &config.to_string());
        let log = fs::File::create(folder.join("prometheus.log")).unwrap();
        let process = Command::new(program)
            .current_dir(folder)
            .args(["--config.file=prometheus.json", "--storage.tsdb.path=prometheus"])
            .arg(format!("--web.listen-address={address}"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Self { process, url: format!("http://{address}") }
    }

    /// The series of a query; empty until Prometheus responds.
    fn query(&self, expression: &str) -> Vec<Value> {
        let answer = self.get("/api/v1/query", expression);
        answer["result"].as_array().cloned().unwrap_or_default()
    }

    fn get(&self, path: &str, query: &str) -> Value {
        let mut curl = Command::new("curl");
        curl.args([
            "--silent",
            "--retry",
            "20",
            "--retry-connrefused",
            "--retry-delay",
            "1",
            "--get",
            "--data-urlencode",
        ]);
        curl.arg(format!("query={query}")).arg(format!("{}{path}", self.url));
        let answer: Value = serde_json::from_str(&common::output(curl)).unwrap();
        assert_eq!(answer["status"], "success", "{query}: {answer:#}");
        answer["data"].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
