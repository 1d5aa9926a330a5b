//! Exports spans to an OpenTelemetry collector with OTLP over gRPC, configured by the environment variables `OTEL_…`.

use std::env;

use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{layer::SubscriberExt, registry::LookupSpan};

use crate::Operator;

/// Exports the last spans when dropped.
#[derive(Debug)]
pub struct Exporter(SdkTracerProvider);

impl Drop for Exporter {
    fn drop(&mut self) {
        // The exporter logs an unreachable collector. It must not change the exit status.
        let _ = self.0.shutdown();
    }
}

/// Adds the export to a subscriber. Spans have a trace id even without a collector.
pub fn add<S>(operator: Operator, logs: S) -> Result<(impl Subscriber + Send + Sync, Exporter), ExporterBuildError>
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    let name = env::var("OTEL_SERVICE_NAME").unwrap_or_else(|_| operator.name.to_owned());
    let mut provider = SdkTracerProvider::builder().with_resource(Resource::builder().with_service_name(name).build());
    if env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").is_some() {
        provider = provider.with_batch_exporter(SpanExporter::builder().with_tonic().build()?);
    }
    let provider = provider.build();
    let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer(operator.name));
    Ok((logs.with(spans), Exporter(provider)))
}

pub fn trace_id(span: &Span) -> String {
    span.context().span().span_context().trace_id().to_string()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, pipe};
    use std::sync::Mutex;

    use tracing::{error_span, field, info, subscriber};
    use tracing_subscriber::{fmt, layer::SubscriberExt, registry};

    use crate::telemetry::identify;

    #[test]
    fn log_lines_have_the_trace_id_of_their_span() {
        let operator = crate::Operator { name: "sample-operator", version: "1.2.3" };
        let (mut logs, writer) = pipe().unwrap();
        let lines = fmt::layer().with_ansi(false).with_writer(Mutex::new(writer));
        let (logging, _exporter) = super::add(operator, registry().with(lines)).unwrap();
        let ids = subscriber::with_default(logging, || {
            ["one", "two"].map(|object| {
                let span = error_span!("reconcile", object, trace_id = field::Empty);
                identify(&span);
                span.in_scope(|| info!("reconciled"));
                super::trace_id(&span)
            })
        });
        let mut text = String::new();
        logs.read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(ids[0] != ids[1] && lines.len() == 2, "{text}");
        for (line, id) in lines.iter().zip(&ids) {
            assert!(line.contains(&format!("trace_id=\"{id}\"")), "{id}: {line}");
        }
    }
}
