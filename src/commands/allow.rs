//! `// +opctl:allow:CODE reason`: removes diagnostics that the user has reviewed and allowed.

use crate::diagnostics::OP419;
use opctl_model::Allow;
use opctl_model::diagnostic::{Diagnostic, ReportedBy};

/// The diagnostics that no marker allows. `complete` are the codes for which `diagnostics` contains all findings, so
/// that markers without effect can be reported as well.
pub fn without_allowed(
    diagnostics: Vec<Diagnostic>,
    allows: &[Allow],
    complete: Option<ReportedBy>,
) -> Vec<Diagnostic> {
    let mut used = vec![false; allows.len()];
    let mut left = Vec::new();
    for diagnostic in diagnostics {
        let mut silencing = allows.iter().enumerate().filter(|(_, allow)| silences(allow, &diagnostic)).peekable();
        if silencing.peek().is_none() {
            left.push(diagnostic);
        } else {
            silencing.for_each(|(number, _)| used[number] = true);
        }
    }
    // No command reports an unknown code, so every command may report its marker.
    let is_complete = |allow: &Allow| {
        let code = crate::diagnostics::find(&allow.code);
        complete.is_some_and(|complete| code.is_none_or(|code| code.chapter.reported_by() == complete))
    };
    let idle = allows.iter().zip(used).filter(|(allow, used)| !used && is_complete(allow));
    let idle: Vec<Diagnostic> = idle.map(|(allow, _)| idle_marker(allow, &left)).collect();
    left.extend(idle);
    left
}

/// The reason why a diagnostic is allowed, if it is.
pub fn reason<'a>(allows: &'a [Allow], diagnostic: &Diagnostic) -> Option<&'a str> {
    allows.iter().find(|allow| silences(allow, diagnostic)).map(|allow| allow.reason.as_str())
}

fn silences(allow: &Allow, diagnostic: &Diagnostic) -> bool {
    diagnostic.code.name == allow.code
        && (!diagnostic.is_error() || diagnostic.code.chapter.reported_by() != ReportedBy::OtherCommands)
        && diagnostic.span.as_ref().is_some_and(|(span, _)| allow.covers.contains(span))
}

fn idle_marker(allow: &Allow, left: &[Diagnostic]) -> Diagnostic {
    let code = &allow.code;
    let is_error = left.iter().any(|diagnostic| {
        diagnostic.code.name == code && diagnostic.span.as_ref().is_some_and(|(span, _)| allow.covers.contains(span))
    });
    let warning = OP419.warning(format!("nothing here is reported as {code}")).at(allow.span.clone(), "");
    match is_error {
        true => Diagnostic { message: format!("{code} is an error, which cannot be allowed"), ..warning }
            .help(format!("fix it: see `opctl explain {code}`")),
        false => warning
            .help("remove the marker, or move it directly above the line that it is for, or to the end of that line"),
    }
}
