use super::*;

const OPERATOR: Operator = Operator { name: "sample-operator", version: "1.2.3" };

fn has(metrics: &Metrics, lines: &[&str]) {
    let text = metrics.text();
    for line in lines {
        assert!(text.lines().any(|other| other == *line), "{line}\n{text}");
    }
}

#[test]
fn counts_by_controller_and_result() {
    let metrics = Metrics::new(OPERATOR);
    let second = Duration::from_secs(1);
    metrics.reconciled("a", Ok(false), second);
    metrics.reconciled("a", Ok(true), second);
    metrics.reconciled("a", Err("Broken"), second);
    metrics.leader.set(1);
    has(
        &metrics,
        &[
            r#"controller_reconciles_total{controller="a",result="success"} 2"#,
            r#"controller_reconciles_total{controller="a",result="error"} 1"#,
            r#"controller_reconcile_failures_total{controller="a",reason="Broken"} 1"#,
            r#"controller_requeues_total{controller="a"} 1"#,
            r#"controller_retries_total{controller="a"} 1"#,
            r#"controller_reconcile_duration_seconds_count{controller="a"} 3"#,
            "controller_leader 1",
            r#"controller_build_info{version="1.2.3"} 1"#,
        ],
    );
}

#[test]
fn the_last_success_is_not_moved_by_failures() {
    let metrics = Metrics::new(OPERATOR);
    let last = |metrics: &Metrics| -> Option<f64> {
        let text = metrics.text();
        let name = r#"controller_last_success_timestamp_seconds{controller="a"} "#;
        text.lines().find_map(|line| line.strip_prefix(name)?.parse().ok())
    };
    metrics.reconciled("a", Err("Broken"), Duration::ZERO);
    assert_eq!(last(&metrics), None);
    metrics.reconciled("a", Ok(false), Duration::ZERO);
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    assert!((now - last(&metrics).unwrap()).abs() < 60.0);
}

#[test]
fn a_reconcile_counts_as_running_until_it_ends_however_it_does() {
    let metrics = Metrics::new(OPERATOR);
    let first = metrics.running("a");
    let second = metrics.running("a");
    has(&metrics, &[r#"controller_active_reconciles{controller="a"} 2"#]);
    drop(first);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _second = second;
        panic!("reconcile");
    }));
    assert!(panicked.is_err());
    has(&metrics, &[r#"controller_active_reconciles{controller="a"} 0"#]);
}

#[test]
fn a_running_reconcile_is_seen_before_it_ends() {
    let metrics = Metrics::new(OPERATOR);
    let longest = || -> f64 {
        let text = metrics.text();
        let name = r#"controller_longest_running_reconcile_seconds{controller="a"} "#;
        text.lines().find_map(|line| line.strip_prefix(name)?.parse().ok()).unwrap()
    };
    let oldest = metrics.running("a");
    std::thread::sleep(Duration::from_millis(20));
    let newest = metrics.running("a");
    assert!(longest() >= 0.02);
    drop(oldest);
    let since = longest();
    assert!(since < newest.begin.elapsed().as_secs_f64());
    drop(newest);
    assert_eq!(longest(), 0.0);
}

/// All metrics have samples, since those without are not shown.
fn filled() -> Metrics {
    let metrics = Metrics::new(OPERATOR);
    metrics.reconciled("a", Err("Broken"), Duration::from_secs(1));
    metrics.reconciled("a", Ok(true), Duration::from_secs(1));
    drop(metrics.running("a"));
    metrics.blocked("a");
    metrics.watch_restarted("a", "Deployment");
    metrics.decode_failed("a", "Deployment");
    metrics.undecodable("a", "Deployment", Some("one"), 2);
    metrics.undecodable("a", "Deployment", Some("other"), 1);
    metrics.undecodable("a", "Deployment", Some("one"), 0);
    metrics.count_objects("a", Some("one"), || [("True", 2), ("False", 1), ("Unknown", 0)].into());
    metrics.count_objects("a", Some("other"), || [("True", 1), ("False", 0), ("Unknown", 0)].into());
    metrics.webhook("/validate", "CREATE", "denied", Duration::from_secs(1));
    let target = Target {
        verb: "patch",
        group: "apps".to_owned(),
        resource: "deployments/status".to_owned(),
        ..Target::default()
    };
    metrics.requested(&target, Some(StatusCode::TOO_MANY_REQUESTS), Duration::ZERO);
    metrics.retried(&target, StatusCode::TOO_MANY_REQUESTS);
    metrics.requested(&target, None, Duration::from_secs(1));
    metrics
}

#[test]
fn counts_watches_webhooks_and_requests() {
    has(
        &filled(),
        &[
            r#"controller_watch_restarts_total{controller="a",kind="Deployment"} 1"#,
            r#"controller_decode_failures_total{controller="a",kind="Deployment"} 1"#,
            r#"controller_undecodable_objects{controller="a",kind="Deployment",namespace="one"} 0"#,
            r#"controller_undecodable_objects{controller="a",kind="Deployment",namespace="other"} 1"#,
            r#"controller_objects{controller="a",ready="True"} 3"#,
            r#"controller_objects{controller="a",ready="False"} 1"#,
            r#"controller_objects{controller="a",ready="Unknown"} 0"#,
            r#"controller_webhook_requests_total{path="/validate",operation="CREATE",outcome="denied"} 1"#,
            r#"controller_webhook_duration_seconds_sum{path="/validate"} 1.0"#,
            r#"rest_client_requests_total{verb="patch",group="apps",resource="deployments/status",code="429"} 1"#,
            r#"rest_client_requests_total{verb="patch",group="apps",resource="deployments/status",code="<error>"} 1"#,
            r#"rest_client_request_duration_seconds_count{verb="patch",group="apps",resource="deployments/status"} 2"#,
            r#"rest_client_request_retries_total{verb="patch",group="apps",code="429"} 1"#,
        ],
    );
}

/// The table in the documentation has each metric, and no other.
#[test]
fn every_metric_is_documented() {
    let text = filled().text();
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let shown: Vec<String> = families
        .map(|(name, kind)| match kind {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.to_owned(),
        })
        .collect();
    let table = include_str!("../metrics.rs").lines().filter_map(|line| line.strip_prefix("//! | `"));
    let documented: Vec<&str> = table.flat_map(|row| row.split(" |").next().unwrap().split('`')).collect();
    for name in &shown {
        assert!(documented.contains(&name.as_str()), "{name} is not in the table");
    }
    for name in documented.iter().filter(|name| name.contains('_')) {
        assert!(cfg!(not(target_os = "linux")) || shown.iter().any(|it| it == name), "no {name}\n{text}");
    }
}

/// Each sample belongs to the family above it, by a suffix that its type has, and its value is a number.
#[test]
fn is_valid_open_metrics() {
    let text = filled().text();
    let (mut family, mut suffixes): (&str, &[&str]) = ("", &[]);
    for line in text.strip_suffix("# EOF\n").expect("its end").lines() {
        if let Some(described) = line.strip_prefix("# ") {
            if let Some((name, kind)) = described.strip_prefix("TYPE ").and_then(|it| it.split_once(' ')) {
                family = name;
                suffixes = match kind {
                    "counter" => &["_total"],
                    "gauge" => &[""],
                    "histogram" => &["_bucket", "_sum", "_count"],
                    "info" => &["_info"],
                    other => panic!("{other}"),
                };
            }
            if let Some((_, unit)) = described.strip_prefix("UNIT ").and_then(|it| it.split_once(' ')) {
                assert!(family.ends_with(&format!("_{unit}")), "{line}");
            }
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').expect("a name and a value");
        let name = sample.split('{').next().unwrap_or_default();
        let suffix = name.strip_prefix(family).expect("a family above");
        assert!(suffixes.contains(&suffix), "{line}");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn shows_the_process() {
    let text = Metrics::new(OPERATOR).text();
    let value = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.expect(name).trim().parse().expect("a number")
    };
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let age = now.as_secs_f64() - value("process_start_time_seconds");
    assert!((0.0..3600.0).contains(&age.round()), "{age}");
    assert!(value("process_cpu_seconds_total") >= 0.0);
    assert!(value("process_resident_memory_bytes") > 1e6);
    assert!(value("process_open_fds") > 3.0);
}
