//! `// +opctl:allow:CODE reason`: removes the diagnostics that the user has reviewed and allowed.

use opctl_model::Allow;
use opctl_model::diagnostic::Diagnostic;

/// Which command reports a code: it alone knows whether a marker silences something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedBy {
    /// `opctl check`: these may be errors, and still be allowed, because they may be intended.
    Check,
    /// `opctl manifests --against`: a breaking change may be intended.
    Against,
    /// All other commands: their errors cannot be allowed.
    OtherCommands,
}

impl ReportedBy {
    fn of(code: &str) -> Self {
        match code {
            code if code.starts_with("OP4") => Self::Check,
            code if code.starts_with("OP6") => Self::Against,
            _ => Self::OtherCommands,
        }
    }
}

/// The diagnostics that no marker allows. `complete` are the codes for which `diagnostics` has all findings, so that a marker
/// which silences nothing is reported as well.
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
    let idle = allows.iter().zip(used).filter(|(allow, used)| !used && Some(ReportedBy::of(&allow.code)) == complete);
    let idle: Vec<Diagnostic> = idle.map(|(allow, _)| idle_marker(allow, &left)).collect();
    left.extend(idle);
    left
}

/// Why a diagnostic is allowed, if it is.
pub fn reason<'a>(allows: &'a [Allow], diagnostic: &Diagnostic) -> Option<&'a str> {
    allows.iter().find(|allow| silences(allow, diagnostic)).map(|allow| allow.reason.as_str())
}

fn silences(allow: &Allow, diagnostic: &Diagnostic) -> bool {
    diagnostic.code == allow.code
        && (!diagnostic.is_error() || ReportedBy::of(diagnostic.code) != ReportedBy::OtherCommands)
        && diagnostic.span.as_ref().is_some_and(|(span, _)| allow.covers.contains(span))
}

fn idle_marker(allow: &Allow, left: &[Diagnostic]) -> Diagnostic {
    let code = &allow.code;
    let is_error = left.iter().any(|diagnostic| {
        diagnostic.code == *code && diagnostic.span.as_ref().is_some_and(|(span, _)| allow.covers.contains(span))
    });
    let warning =
        Diagnostic::warning("OP419", format!("nothing here is reported as {code}")).at(allow.span.clone(), "");
    match is_error {
        true => Diagnostic { message: format!("{code} is an error, which cannot be allowed"), ..warning }
            .help(format!("fix it: see `opctl explain {code}`")),
        false => warning.help("remove the marker, or move it right above what it is about or to the end of that line"),
    }
}
