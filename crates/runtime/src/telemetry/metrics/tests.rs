use super::*;

#[test]
fn counts_by_controller_and_result() {
    let metrics = Metrics::default();
    let second = Duration::from_secs(1);
    metrics.reconciled("a", Ok(false), second);
    metrics.reconciled("a", Ok(true), second);
    metrics.reconciled("a", Err("Broken"), second);
    metrics.leader.set(1);
    let text = metrics.text();
    for line in [
        r#"controller_reconciles_total{controller="a",result="success"} 2"#,
        r#"controller_reconciles_total{controller="a",result="error"} 1"#,
        r#"controller_reconcile_failures_total{controller="a",reason="Broken"} 1"#,
        r#"controller_requeues_total{controller="a"} 2"#,
        r#"controller_reconcile_duration_seconds_count{controller="a"} 3"#,
        "controller_leader 1",
        concat!(r#"controller_build_info{version=""#, env!("CARGO_PKG_VERSION"), r#""} 1"#),
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
}

/// Each sample belongs to the family above it, by a suffix that its type has, and its value is a number.
#[test]
fn is_valid_open_metrics() {
    let metrics = Metrics::default();
    metrics.reconciled("a", Err("Broken"), Duration::from_secs(1));
    let text = metrics.text();
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
fn tells_of_the_process() {
    let text = Metrics::default().text();
    let value = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.expect(name).trim().parse().expect("a number")
    };
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let age = now.as_secs_f64() - value("process_start_time_seconds");
    assert!((0.0..3600.0).contains(&age.round()), "{age}");
    assert!(value("process_cpu_seconds_total") >= 0.0);
    assert!(value("process_resident_memory_bytes") > 1e6);
    assert!(value("process_open_fds") > 3.0);
}
