//! Generates Grafana dashboards (Grafana 10 or newer) for `/metrics`: one for the metrics of all operators, and one for
//! the project's own metrics.

use serde_json::{Value, json};

use opctl_model::{Metric, MetricForm};

/// Queries with their legends, and the presentation of their values. `{pod}` selects the metrics of the chosen Pods,
/// `{controller}` those of the chosen controllers; more matchers may follow: `{pod,code="403"}`. `[]` is the interval
/// of rates.
struct Panel<'a> {
    title: &'a str,
    view: View,
    /// The unit, as Grafana names it.
    unit: &'a str,
    queries: Vec<(String, &'a str)>,
    description: &'a str,
}

/// The presentation of a panel's values.
#[derive(Clone, Copy)]
enum View {
    /// Lines over time.
    Lines,
    /// Stacked areas, for parts of a whole.
    Areas,
    /// The last value, in green.
    Last,
    /// The last value, in green if it is 0 and in red otherwise.
    Problems,
    /// The last value with the name of its series.
    Named,
    /// Bars at the times at which the value was 1.
    Times,
}

/// The width and height of a panel; a row has 24 columns.
const SIZE: (usize, usize) = (8, 8);

/// The dashboard of the operator `name`. `header` is the comment for generated files.
pub fn operator(name: &str, has_webhooks: bool, header: &str) -> String {
    let mut rows: Vec<(&str, Vec<Panel>)> = Vec::new();
    for (row, title, view, unit, queries, description) in OPERATOR.iter().copied() {
        if row == WEBHOOKS && !has_webhooks {
            continue;
        }
        if rows.last().is_none_or(|(last, _)| *last != row) {
            rows.push((row, Vec::new()));
        }
        let queries = queries.iter().map(|(expr, legend)| ((*expr).to_owned(), *legend)).collect();
        rows.last_mut().expect("one was added").1.push(Panel { title, view, unit, queries, description });
    }
    text(name, name, header, &rows)
}

/// The dashboard of the metrics that the project registers.
pub fn custom(name: &str, metrics: &[Metric], header: &str) -> String {
    let panels = metrics.iter().map(|metric| {
        let name = &metric.name;
        let rate = |suffix: &str| format!("sum without ({TARGET}) (rate({name}{suffix}{{pod}}[]))");
        let quantile = |quantile: &str| format!("histogram_quantile({quantile}, {})", rate("_bucket"));
        let (view, unit, queries) = match metric.form {
            MetricForm::Counter => (View::Lines, "cps", vec![(rate("_total"), AUTO)]),
            MetricForm::Gauge if name.ends_with("_timestamp_seconds") => {
                (View::Last, "s", vec![(format!("time() - {name}{{pod}}"), AUTO)])
            }
            MetricForm::Gauge => (View::Lines, unit(name), vec![(format!("{name}{{pod}}"), AUTO)]),
            MetricForm::Histogram => {
                let quantiles = [("0.5", "p50"), ("0.9", "p90"), ("0.99", "p99")];
                (View::Lines, unit(name), quantiles.map(|(it, legend)| (quantile(it), legend)).into())
            }
        };
        Panel { title: name, view, unit, queries, description: &metric.help }
    });
    text(&format!("{name}-custom"), &format!("{name}: own metrics"), header, &[("Own metrics", panels.collect())])
}

/// The labels of a scrape target, which distinguish Pods.
const TARGET: &str = "container, endpoint, instance, pod, service";
/// Grafana's automatic legend, with all labels that differ.
const AUTO: &str = "__auto";

/// The unit of a metric. Prometheus has it at the end of the name.
fn unit(name: &str) -> &'static str {
    match name {
        name if name.ends_with("_seconds") => "s",
        name if name.ends_with("_bytes") => "bytes",
        name if name.ends_with("_ratio") => "percentunit",
        _ => "short",
    }
}

type Row = (&'static str, &'static str, View, &'static str, &'static [(&'static str, &'static str)], &'static str);

const WEBHOOKS: &str = "Webhooks";

/// Row, title, view, unit, queries, description. `tests/quick/dashboards.rs` compares the names with those of the
/// runtime.
const OPERATOR: &[Row] = &[
    (
        "Reconciles",
        "Reconciles by result",
        View::Lines,
        "ops",
        &[(
            "sum by (controller, result) (rate(controller_reconciles_total{controller}[]))",
            "{{controller}} {{result}}",
        )],
        "Finished reconciles per second.",
    ),
    (
        "Reconciles",
        "Errors by reason",
        View::Lines,
        "ops",
        &[(
            "sum by (controller, reason) (rate(controller_reconcile_failures_total{controller}[]))",
            "{{controller}} {{reason}}",
        )],
        "Failed reconciles per second. The log has the error of each.",
    ),
    (
        "Reconciles",
        "Error ratio",
        View::Lines,
        "percentunit",
        &[(
            "1 - (sum by (controller) (rate(controller_reconciles_total{controller,result=\"success\"}[])) \
             or 0 * sum by (controller) (rate(controller_reconciles_total{controller}[]))) \
             / sum by (controller) (rate(controller_reconciles_total{controller}[]))",
            "{{controller}}",
        )],
        "Failed reconciles among all.",
    ),
    (
        "Reconciles",
        "Duration",
        View::Lines,
        "s",
        &[
            (
                "histogram_quantile(0.5, sum by (controller, le) \
                 (rate(controller_reconcile_duration_seconds_bucket{controller}[])))",
                "{{controller}} p50",
            ),
            (
                "histogram_quantile(0.9, sum by (controller, le) \
                 (rate(controller_reconcile_duration_seconds_bucket{controller}[])))",
                "{{controller}} p90",
            ),
            (
                "histogram_quantile(0.99, sum by (controller, le) \
                 (rate(controller_reconcile_duration_seconds_bucket{controller}[])))",
                "{{controller}} p99",
            ),
        ],
        "Duration of reconciles, with the requests that they waited for.",
    ),
    (
        "Reconciles",
        "Active reconciles",
        View::Lines,
        "short",
        &[("sum by (controller) (controller_active_reconciles{controller})", "{{controller}}")],
        "Running reconciles. The argument --concurrency limits them.",
    ),
    (
        "Reconciles",
        "Longest running reconcile",
        View::Lines,
        "s",
        &[("max by (controller) (controller_longest_running_reconcile_seconds{controller})", "{{controller}}")],
        "Time since the oldest running reconcile began.",
    ),
    (
        "Reconciles",
        "Blocked threads",
        View::Lines,
        "ops",
        &[("sum by (controller) (rate(controller_reconcile_blocks_total{controller}[]))", "{{controller}}")],
        "Steps of reconciles that blocked their thread for five seconds or longer, and with it others. The log names the objects.",
    ),
    (
        "Reconciles",
        "Requeues and retries",
        View::Lines,
        "ops",
        &[
            ("sum by (controller) (rate(controller_requeues_total{controller}[]))", "{{controller}} requeues"),
            ("sum by (controller) (rate(controller_retries_total{controller}[]))", "{{controller}} retries"),
        ],
        "A successful reconcile may schedule another one; a failed one is retried.",
    ),
    (
        "Reconciles",
        "Time since the last success",
        View::Last,
        "s",
        &[("time() - max by (controller) (controller_last_success_timestamp_seconds{controller})", "{{controller}}")],
        "Time since the last successful reconcile.",
    ),
    (
        "Reconciles",
        "Objects by Ready",
        View::Areas,
        "short",
        &[("sum by (controller, ready) (controller_objects{controller})", "{{controller}} {{ready}}")],
        "Objects by the status of their condition Ready. Unknown is not reconciled yet.",
    ),
    (
        "Reconciles",
        "Undecodable objects",
        View::Problems,
        "short",
        &[(
            "sum by (controller, kind, exported_namespace) (controller_undecodable_objects{controller})",
            "{{kind}} {{exported_namespace}}",
        )],
        "Objects that are left out, since they do not fit their Rust type.",
    ),
    (
        "Reconciles",
        "Decode failures",
        View::Lines,
        "ops",
        &[(
            "sum by (controller, kind) (rate(controller_decode_failures_total{controller}[]))",
            "{{controller}} {{kind}}",
        )],
        "Received objects that do not fit their Rust type.",
    ),
    (
        "API server",
        "Requests by code",
        View::Lines,
        "reqps",
        &[("sum by (code) (rate(rest_client_requests_total{pod}[]))", "{{code}}")],
        "Requests to the API server, by HTTP status.",
    ),
    (
        "API server",
        "Failed requests",
        View::Lines,
        "reqps",
        &[(
            "sum by (verb, group, resource, code) (rate(rest_client_requests_total{pod,code!~\"[123]..\"}[]))",
            "{{code}} {{verb}} {{resource}} {{group}}",
        )],
        "403 is a missing permission, 409 a conflict, 429 an overloaded API server; <error> means no response.",
    ),
    (
        "API server",
        "Request latency (p99)",
        View::Lines,
        "s",
        &[(
            "histogram_quantile(0.99, sum by (verb, resource, le) (rate(rest_client_request_duration_seconds_bucket{pod}[])))",
            "{{verb}} {{resource}}",
        )],
        "Time until the answers of the API server began.",
    ),
    (
        "API server",
        "Retried requests",
        View::Lines,
        "reqps",
        &[(
            "sum by (verb, group, code) (rate(rest_client_request_retries_total{pod}[]))",
            "{{code}} {{verb}} {{group}}",
        )],
        "Requests sent again, since the API server was overloaded.",
    ),
    (
        "API server",
        "Restarted watches",
        View::Lines,
        "ops",
        &[(
            "sum by (controller, kind) (rate(controller_watch_restarts_total{controller}[]))",
            "{{controller}} {{kind}}",
        )],
        "Watches that failed and were started again.",
    ),
    (
        WEBHOOKS,
        "Requests to webhooks",
        View::Lines,
        "reqps",
        &[(
            "sum by (path, operation, outcome) (rate(controller_webhook_requests_total{pod}[]))",
            "{{path}} {{operation}} {{outcome}}",
        )],
        "Requests of the API server to webhooks.",
    ),
    (
        WEBHOOKS,
        "Duration of requests to webhooks",
        View::Lines,
        "s",
        &[
            (
                "histogram_quantile(0.5, sum by (path, le) (rate(controller_webhook_duration_seconds_bucket{pod}[])))",
                "{{path}} p50",
            ),
            (
                "histogram_quantile(0.99, sum by (path, le) (rate(controller_webhook_duration_seconds_bucket{pod}[])))",
                "{{path}} p99",
            ),
        ],
        "The API server waits for the answer.",
    ),
    (
        "Process",
        "Leader",
        View::Times,
        "short",
        &[("controller_leader{pod}", "{{namespace}} {{pod}}")],
        "1 for the replica that reconciles.",
    ),
    (
        "Process",
        "Version",
        View::Named,
        "short",
        &[("sum by (namespace, version) (controller_build_info{pod})", "{{namespace}} {{version}}")],
        "Replicas of each version.",
    ),
    (
        "Process",
        "CPU",
        View::Lines,
        "short",
        &[("rate(process_cpu_seconds_total{pod}[])", "{{namespace}} {{pod}}")],
        "Used cores.",
    ),
    (
        "Process",
        "Memory",
        View::Lines,
        "bytes",
        &[("process_resident_memory_bytes{pod}", "{{namespace}} {{pod}}")],
        "Resident memory.",
    ),
    (
        "Process",
        "File descriptors",
        View::Lines,
        "short",
        &[("process_open_fds{pod}", "{{namespace}} {{pod}}")],
        "Open files and sockets.",
    ),
    (
        "Process",
        "Uptime",
        View::Last,
        "s",
        &[("time() - process_start_time_seconds{pod}", "{{namespace}} {{pod}}")],
        "Time since the start.",
    ),
];

/// The text of a dashboard, with the header as the first value.
fn text(uid: &str, title: &str, header: &str, rows: &[(&str, Vec<Panel>)]) -> String {
    let job = title.split(':').next().unwrap_or(title);
    let dashboard = json!({
        "$comment": header.trim_start_matches("# "),
        "uid": uid,
        "title": title,
        "tags": ["operator"],
        "schemaVersion": 39,
        "editable": true,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": { "from": "now-1h", "to": "now" },
        "templating": { "list": variables(job) },
        "annotations": { "list": [version_annotation()] },
        "panels": panels(rows),
    });
    format!("{dashboard:#}\n")
}

fn datasource() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

/// The variables of a dashboard. `job` begins with the job of the ServiceMonitor, which is the name of the project.
fn variables(job: &str) -> Vec<Value> {
    let query = |name: &str, query: &str, current: &str| {
        json!({
            "name": name,
            "label": name,
            "type": "query",
            "datasource": datasource(),
            "definition": query,
            "query": { "query": query, "refId": name },
            "current": { "text": [if current == ALL { "All" } else { current }], "value": [current] },
            "includeAll": true,
            "allValue": ".*",
            "multi": true,
            "refresh": 2,
            "sort": 1,
        })
    };
    vec![
        json!({ "name": "datasource", "label": "datasource", "type": "datasource", "query": "prometheus" }),
        query("job", "label_values(controller_build_info, job)", job),
        query("namespace", r#"label_values(controller_build_info{job=~"$job"}, namespace)"#, ALL),
        query("pod", r#"label_values(controller_build_info{job=~"$job",namespace=~"$namespace"}, pod)"#, ALL),
        query(
            "controller",
            r#"label_values(controller_reconciles_total{job=~"$job",namespace=~"$namespace"}, controller)"#,
            ALL,
        ),
    ]
}

/// Grafana's name for all values of a variable.
const ALL: &str = "$__all";

/// Annotates the time when another version starts.
fn version_annotation() -> Value {
    let at = |offset: &str| format!("sum by (namespace, version) (controller_build_info{{pod}}{offset})");
    json!({
        "name": "Versions",
        "datasource": datasource(),
        "enable": true,
        "iconColor": "blue",
        "expr": selected(&format!("{} unless {}", at(""), at(" offset 5m"))),
        "titleFormat": "{{namespace}}: version {{version}}",
        "step": "1m",
    })
}

/// The panels from left to right, each row below a heading.
fn panels(rows: &[(&str, Vec<Panel>)]) -> Vec<Value> {
    let (width, height) = SIZE;
    let mut all = Vec::new();
    let mut y = 0;
    for (title, panels) in rows {
        let id = all.len() + 1;
        let position = json!({ "x": 0, "y": y, "w": 24, "h": 1 });
        all.push(
            json!({ "id": id, "type": "row", "title": title, "gridPos": position, "collapsed": false, "panels": [] }),
        );
        y += 1;
        for (line, panels) in panels.chunks(24 / width).enumerate() {
            for (column, panel) in panels.iter().enumerate() {
                let position = json!({ "x": column * width, "y": y + line * height, "w": width, "h": height });
                all.push(self::panel(panel, all.len() + 1, position));
            }
        }
        y += panels.len().div_ceil(24 / width) * height;
    }
    all
}

fn panel(panel: &Panel, id: usize, position: Value) -> Value {
    let targets = panel.queries.iter().zip('A'..).map(|((expr, legend), letter)| {
        json!({ "refId": letter.to_string(), "datasource": datasource(), "expr": selected(expr), "legendFormat": legend })
    });
    let (kind, defaults, options) = panel.view.settings(panel.unit);
    json!({
        "id": id,
        "type": kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": datasource(),
        "gridPos": position,
        "targets": targets.collect::<Vec<_>>(),
        "fieldConfig": { "defaults": defaults, "overrides": [] },
        "options": options,
    })
}

impl View {
    /// Grafana's type of panel, the defaults of its fields, and its options.
    fn settings(self, unit: &str) -> (&'static str, Value, Value) {
        let legend = json!({ "displayMode": "list", "placement": "bottom" });
        let lines = json!({ "legend": &legend, "tooltip": { "mode": "multi", "sort": "desc" } });
        let stat = |text: &str| {
            let last = json!({ "calcs": ["lastNotNull"], "fields": "", "values": false });
            json!({ "reduceOptions": last, "textMode": text, "colorMode": "value", "graphMode": "none" })
        };
        let green = json!({ "color": "green", "value": null });
        let steps = |steps: Value| json!({ "unit": unit, "thresholds": { "mode": "absolute", "steps": steps } });
        match self {
            Self::Lines => (
                "timeseries",
                json!({ "unit": unit, "min": 0, "custom": { "fillOpacity": 10, "showPoints": "never" } }),
                lines,
            ),
            Self::Areas => {
                let stacking = json!({ "mode": "normal", "group": "A" });
                let custom = json!({ "fillOpacity": 60, "showPoints": "never", "stacking": stacking });
                ("timeseries", json!({ "unit": unit, "min": 0, "custom": custom }), lines)
            }
            Self::Last => ("stat", steps(json!([green])), stat("auto")),
            Self::Problems => ("stat", steps(json!([green, { "color": "red", "value": 1 }])), stat("auto")),
            Self::Named => ("stat", steps(json!([green])), stat("value_and_name")),
            Self::Times => {
                let names =
                    json!({ "0": { "text": "waits", "color": "text" }, "1": { "text": "leads", "color": "green" } });
                let mappings = json!([{ "type": "value", "options": names }]);
                (
                    "state-timeline",
                    json!({ "unit": unit, "mappings": mappings }),
                    json!({ "legend": legend, "mergeValues": true, "showValue": "auto" }),
                )
            }
        }
    }
}

/// The query, with the variables of the dashboard.
fn selected(expr: &str) -> String {
    let pod = r#"{job=~"$job",namespace=~"$namespace",pod=~"$pod""#;
    let controller = format!(r#"{pod},controller=~"$controller""#);
    expr.replace("{pod", pod).replace("{controller", &controller).replace("[]", "[$__rate_interval]")
}
