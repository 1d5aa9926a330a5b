//! Metrics, and logs on stderr: text on a terminal, JSON elsewhere. With the feature `otlp`, spans are exported to an
//! OpenTelemetry collector as well.

pub mod metrics;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(target_os = "linux")]
mod process;
mod text;

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::io::{IsTerminal, stderr};

use tracing::Span;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use self::text::{SpanFields, Text};
use crate::Operator;

/// The arguments for logs.
#[derive(Clone, Debug, clap::Args)]
pub struct LogOptions {
    /// Format of the logs: text, json, or auto, which is text on a terminal and JSON elsewhere
    #[arg(long, env, value_name = "FORMAT", value_enum, default_value_t = Format::Auto)]
    pub log_format: Format,
    /// Log level, with other levels for some modules: `info,kube=debug`
    #[arg(long, env = "RUST_LOG", value_name = "FILTER", value_parser = filter, default_value = "info")]
    pub log_filter: String,
}

/// The format of the logs.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Format {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// Lines for people, in colour on a terminal.
    Text,
    /// One JSON object per line.
    Json,
}

/// Keeps telemetry running. Dropping it exports the last spans.
#[must_use = "spans are exported until it is dropped"]
#[derive(Debug)]
pub struct Telemetry {
    #[cfg(feature = "otlp")]
    _exporter: otlp::Exporter,
}

/// Disables logs of kube that repeat a line of the runtime: a span around each reconcile, and failed requests and
/// watches, some with whole responses. It applies unless the filter mentions kube. Logs about certificates stay
/// enabled.
const REPEATED: &str = "kube_runtime::controller=off,kube_runtime::watcher=error,\
    kube_client::client=off,kube_client::client::tls=warn";

/// Starts logging for the whole process, and the export of spans if the feature `otlp` is on.
///
/// # Errors
///
/// If the filter cannot be parsed, or the exporter cannot be built.
///
/// # Panics
///
/// If the process has a global logger already.
pub fn init(operator: Operator, options: &LogOptions) -> Result<Telemetry, Box<dyn Error>> {
    let filter = match options.log_filter.as_str() {
        about_kube if about_kube.contains("kube") => about_kube.to_owned(),
        other => format!("{REPEATED},{other}"),
    };
    let on_terminal = stderr().is_terminal();
    let is_text = match options.log_format {
        Format::Auto => on_terminal,
        Format::Text => true,
        Format::Json => false,
    };
    let lines = fmt::layer().with_writer(stderr);
    let lines = if is_text {
        let text = Text { dated: !on_terminal };
        lines.with_ansi(text::is_colored()).fmt_fields(SpanFields).event_format(text).boxed()
    } else {
        // The current span is also in the list of spans.
        lines.json().flatten_event(true).with_current_span(false).boxed()
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

/// Gives a span the `trace_id` that its log lines show: that of OpenTelemetry, or a random one without the feature
/// `otlp`.
pub(crate) fn identify(span: &Span) {
    #[cfg(feature = "otlp")]
    let id = otlp::trace_id(span);
    #[cfg(not(feature = "otlp"))]
    let id = format!("{:016x}{:016x}", random(), random());
    span.record("trace_id", id);
}

/// A random number from the randomly seeded hasher of the standard library, which is sufficient for trace ids.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(())
}
