//! What can be seen from outside: metrics, and logs on stderr, as text for people or as JSON for machines. With the cargo
//! feature `telemetry`, an OpenTelemetry collector gets spans, too.

pub mod metrics;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(target_os = "linux")]
mod process;

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::io::{IsTerminal, stderr};

use tracing::Span;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::Operator;

#[derive(Clone, Debug, clap::Args)]
pub struct LogOptions {
    /// How logs are written
    #[arg(long, env, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub log_format: Format,
    /// Which logs are written: a level, and others for some modules, e.g. `info,kube=debug`
    #[arg(long, env = "RUST_LOG", value_name = "FILTER", value_parser = filter, default_value = "info")]
    pub log_filter: String,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// Sends the last spans when it is dropped.
pub struct Telemetry {
    #[cfg(feature = "otlp")]
    _exporter: otlp::Exporter,
}

/// What kube says beside a line that is logged here anyway: a span around each reconcile, and of requests and watches that
/// fail or break off, whole answers among it. Left out, unless the filter speaks of kube; what it says of certificates stays.
const REPEATED: &str = "kube_runtime::controller=off,kube_runtime::watcher=error,\
    kube_client::client=off,kube_client::client::tls=warn";

/// Starts logging, for the whole process.
pub fn init(operator: Operator, options: &LogOptions) -> Result<Telemetry, Box<dyn Error>> {
    let filter = match options.log_filter.as_str() {
        of_kube if of_kube.contains("kube") => of_kube.to_owned(),
        other => format!("{REPEATED},{other}"),
    };
    let lines = fmt::layer().with_writer(stderr);
    let lines = match options.log_format {
        Format::Text => lines.with_ansi(stderr().is_terminal()).boxed(),
        // The list of spans has the current one.
        Format::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
    };
    #[cfg(not(feature = "otlp"))]
    let _ = operator;
    let logs = tracing_subscriber::registry().with(EnvFilter::try_new(filter)?).with(lines);
    #[cfg(feature = "otlp")]
    let (logs, _exporter) = otlp::add(operator, logs)?;
    logs.init();
    Ok(Telemetry {
        #[cfg(feature = "otlp")]
        _exporter,
    })
}

fn filter(text: &str) -> Result<String, ParseError> {
    EnvFilter::try_new(text).map(|_| text.to_owned())
}

/// Gives a span its `trace_id`, which its log lines have: that of OpenTelemetry, or else a random one.
pub fn identify(span: &Span) {
    #[cfg(feature = "otlp")]
    let id = otlp::trace_id(span);
    #[cfg(not(feature = "otlp"))]
    let id = format!("{:016x}{:016x}", random(), random());
    span.record("trace_id", id);
}

/// The keys of the standard library's hasher are random; that is all the randomness needed here.
pub fn random() -> u64 {
    RandomState::new().hash_one(())
}
