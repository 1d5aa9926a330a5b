//! `// +opctl:allow:CODE reason`: takes out what the user has looked at and means.

use crate::diagnostic::{Diagnostic, Span};
use crate::model::Allow;

/// The codes that a command is the one to tell: it alone knows whether a marker silences something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// By `opctl check`: these may be errors, for it is a matter of judgement whether they are mistakes.
    ByCheck,
    /// By all others: their errors are no matter of judgement.
    Elsewhere,
}

impl Told {
    fn of(code: &str) -> Self {
        if code.starts_with("OP4") { Self::ByCheck } else { Self::Elsewhere }
    }
}

/// What is left to be told. `judged`: the codes of which everything that there is to say is among the diagnostics, so that
/// a marker which silences nothing can be told, too.
pub fn allowed(diagnostics: Vec<Diagnostic>, allows: &[Allow], judged: Option<Told>) -> Vec<Diagnostic> {
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
    let idle = allows.iter().zip(used).filter(|(allow, used)| !used && Some(Told::of(&allow.code)) == judged);
    let idle: Vec<Diagnostic> = idle.map(|(allow, _)| idle_marker(allow, &left)).collect();
    left.extend(idle);
    left
}

fn silences(allow: &Allow, diagnostic: &Diagnostic) -> bool {
    diagnostic.code == allow.code
        && (!diagnostic.is_error() || Told::of(diagnostic.code) == Told::ByCheck)
        && diagnostic.place.as_ref().is_some_and(|(place, _)| covers(allow, place))
}

fn covers(Allow { covers, .. }: &Allow, place: &Span) -> bool {
    place.file.path == covers.file.path && covers.range.contains(&place.range.start)
}

fn idle_marker(allow: &Allow, left: &[Diagnostic]) -> Diagnostic {
    let code = &allow.code;
    let is_error = left.iter().any(|diagnostic| {
        diagnostic.code == *code && diagnostic.place.as_ref().is_some_and(|(place, _)| covers(allow, place))
    });
    let warning =
        Diagnostic::warning("OP419", format!("nothing here is reported as {code}")).at(allow.place.clone(), "");
    match is_error {
        true => Diagnostic { message: format!("{code} is an error, which cannot be allowed"), ..warning }
            .help(format!("fix it: see `opctl explain {code}`")),
        false => warning.help("remove the marker, or move it right above what it is about or to the end of that line"),
    }
}
