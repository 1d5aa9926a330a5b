//! Log lines for a terminal: time, level, controller and object, message, then fields.

use std::env;
use std::fmt::{self, Debug};
use std::io::{IsTerminal, stderr};

use k8s_openapi::jiff::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

const DIM: &str = "2";
const BOLD: &str = "1";
/// The number of trace id digits in a line, enough to distinguish the reconciles on a screen. The JSON format has all
/// digits.
const TRACE_ID_DIGITS: usize = 8;

/// The line format.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Lines begin with the date, which is omitted on a terminal.
    pub dated: bool,
}

/// The fields of a span, one per line.
#[derive(Clone, Copy, Debug)]
pub struct SpanFields;

/// `true` if stderr is a terminal with colors, and `NO_COLOR` is not set.
pub fn is_colored() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    stderr().is_terminal() && !is_set("NO_COLOR") && env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

impl<S> FormatEvent<S, SpanFields> for Text
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, SpanFields>, mut out: Writer, event: &Event) -> fmt::Result {
        let mut line = Line::default();
        event.record(&mut line);
        // Fields of the event come before those of its span.
        let (mut controller, mut object) = (String::new(), String::new());
        for span in ctx.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            let extensions = span.extensions();
            let Some(fields) = extensions.get::<FormattedFields<SpanFields>>() else { continue };
            for field in fields.fields.lines() {
                match field.split_once('=') {
                    Some(("controller", name)) => controller = short(name).to_owned(),
                    Some(("object", path)) => object = path.to_owned(),
                    Some(("trace_id", id)) => {
                        line.fields.push(format!("trace_id={}", id.get(..TRACE_ID_DIGITS).unwrap_or(id)));
                    }
                    _ => line.fields.push(field.to_owned()),
                }
            }
        }
        let (level, color) = match *event.metadata().level() {
            Level::ERROR => ("ERROR", "1;31"),
            Level::WARN => (" WARN", "33"),
            Level::INFO => (" INFO", "32"),
            Level::DEBUG => ("DEBUG", "34"),
            Level::TRACE => ("TRACE", "35"),
        };
        let now = format!("{:.3}", Timestamp::now());
        let time = if self.dated { &now } else { now.split_once('T').map_or(now.as_str(), |(_, time)| time) };
        paint(&mut out, DIM, time)?;
        out.write_char(' ')?;
        paint(&mut out, color, level)?;
        let subject = [controller, object].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        if !subject.is_empty() {
            out.write_char(' ')?;
            paint(&mut out, BOLD, &subject)?;
            out.write_char(':')?;
        }
        // Continuation lines are indented, so that a message cannot forge a log line.
        write!(out, " {}", line.message.trim_end().replace('\n', "\n    "))?;
        // The module helps to choose a filter for debug messages.
        if *event.metadata().level() >= Level::DEBUG {
            line.fields.push(format!("target={}", event.metadata().target()));
        }
        for field in &line.fields {
            out.write_char(' ')?;
            paint(&mut out, DIM, field)?;
        }
        out.write_char('\n')
    }
}

impl<'writer> FormatFields<'writer> for SpanFields {
    fn format_fields<R: RecordFields>(&self, mut out: Writer<'writer>, fields: R) -> fmt::Result {
        let mut line = Line::default();
        fields.record(&mut line);
        if !line.message.is_empty() {
            line.fields.push(value("message", &line.message));
        }
        line.fields.iter().try_for_each(|field| writeln!(out, "{field}"))
    }

    fn add_fields(
        &self,
        current: &'writer mut FormattedFields<Self>,
        fields: &tracing::span::Record<'_>,
    ) -> fmt::Result {
        self.format_fields(current.as_writer(), fields)
    }
}

/// Collects the fields of an event or a span.
#[derive(Default)]
struct Line {
    message: String,
    fields: Vec<String>,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, text: &str) {
        match field.name() {
            "message" => self.message = printable(text),
            name => self.fields.push(value(name, text)),
        }
    }

    fn record_debug(&mut self, field: &Field, text: &dyn Debug) {
        match field.name() {
            "message" => self.message = printable(&format!("{text:?}")),
            // Values of `?field` are already quoted and escaped, those of `%field` are not.
            name => self.fields.push(format!("{name}={}", printable(&format!("{text:?}")).replace('\n', "\\n"))),
        }
    }

    fn record_error(&mut self, field: &Field, error: &(dyn std::error::Error + 'static)) {
        self.record_str(field, &error.to_string());
    }
}

/// Formats a field. The value is quoted unless it is plain.
fn value(name: &str, text: &str) -> String {
    let is_plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != '"');
    if is_plain(text) { format!("{name}={text}") } else { format!("{name}={text:?}") }
}

/// Removes control characters, which could write anywhere on the terminal.
fn printable(text: &str) -> String {
    let is_kept = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    let mut printable = String::new();
    for c in text.chars() {
        match c {
            '\r' => {}
            c if is_kept(c) => printable.push(c),
            c => printable.extend(c.escape_default()),
        }
    }
    printable
}

/// The name of a controller without the API group.
fn short(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn paint(out: &mut Writer, style: &str, text: &str) -> fmt::Result {
    if out.has_ansi_escapes() { write!(out, "\x1b[{style}m{text}\x1b[0m") } else { out.write_str(text) }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, pipe};
    use std::sync::Mutex;

    use tracing::{debug, error, error_span, field, info, subscriber};
    use tracing_subscriber::{fmt, layer::SubscriberExt, registry};

    use super::{SpanFields, Text};

    /// The lines that a function logs, without timestamps.
    fn logged(ansi: bool, log: impl FnOnce()) -> Vec<String> {
        let (mut logs, writer) = pipe().unwrap();
        let lines = fmt::layer().with_ansi(ansi).with_writer(Mutex::new(writer));
        let lines = lines.fmt_fields(SpanFields).event_format(Text { dated: false });
        subscriber::with_default(registry().with(lines), log);
        let mut text = String::new();
        logs.read_to_string(&mut text).unwrap();
        let start = if ansi { "\x1b[2m00:00:00.000Z\x1b[0m ".len() } else { "00:00:00.000Z ".len() };
        text.lines()
            .map(|line| line.get(start..).filter(|_| !line.starts_with(' ')).unwrap_or(line).to_owned())
            .collect()
    }

    #[test]
    fn the_message_of_a_reconcile_comes_after_the_controller_and_the_object() {
        let lines = logged(false, || {
            let span = error_span!(
                "reconcile",
                controller = "memcacheds.cache.example.com",
                object = "default/sample",
                trace_id = field::Empty
            );
            span.record("trace_id", "4bf92f3577b34da6a3ce929d0e0e4736");
            span.in_scope(|| error!(code = 409, reason = "AlreadyExists, again", "reconcile failed: conflict"));
        });
        let line = "ERROR memcacheds default/sample: reconcile failed: conflict code=409 reason=\"AlreadyExists, again\" \
            trace_id=4bf92f35";
        assert_eq!(lines, [line]);
    }

    #[test]
    fn lines_of_no_controller_have_a_message_and_fields_and_debug_lines_their_module() {
        let lines = logged(false, || {
            info!(version = "0.1.0", "starting sample-operator");
            debug!("done");
        });
        let module = module_path!();
        assert_eq!(
            lines,
            [" INFO starting sample-operator version=0.1.0".to_owned(), format!("DEBUG done target={module}")]
        );
    }

    #[test]
    fn a_message_can_neither_forge_a_line_nor_write_on_the_terminal() {
        let lines = logged(false, || info!("first\n00:00:00.000Z ERROR forged\x1b[2J\rover"));
        assert_eq!(lines, [" INFO first", "    00:00:00.000Z ERROR forged\\u{1b}[2Jover"]);
    }

    #[test]
    fn levels_are_in_colour_on_a_terminal() {
        assert_eq!(logged(true, || info!("leading")), ["\x1b[32m INFO\x1b[0m leading"]);
    }
}
