//! Diagnostics about requests that opctl cannot determine.

use std::collections::BTreeMap;
use std::rc::Rc;

use quote::ToTokens;

use super::Unresolved;
use super::function::Why;
use super::world::{Function, World};
use crate::diagnostics::{OP401, OP402, OP403};
use crate::mentions;
use crate::resolve::modules;
use opctl_model::counted;
use opctl_model::diagnostic::{Diagnostic, Span};

pub fn unresolved(unresolved: Unresolved) -> Vec<Diagnostic> {
    let mut unresolved: Vec<_> = unresolved.into_iter().collect();
    // One call of a generic function may make several requests.
    unresolved.dedup_by(|((at, _), _), ((before, _), _)| at == before);
    let warnings = unresolved.into_iter().map(|((_, by), span)| {
        let is_raw =
            by.starts_with("Client::") && !matches!(by.as_str(), "Client::get" | "Client::list" | "Client::fetch");
        if is_raw {
            return unknown_path(&by, span);
        }
        OP401
            .warning(format!("cannot determine the kind of this `{by}` request"))
            .at(span, "")
            .help("specify the kind where the `Api` is created: `Api::<Kind>::all(…)`")
    });
    warnings.collect()
}

const ALLOW: &str = "or write a marker for each request, and allow this: `// +opctl:allow:OP401 reason`";

pub fn unseen(world: &World, unseen: impl Iterator<Item = (Span, Why)>) -> Vec<Diagnostic> {
    let mut crates: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for (span, why) in unseen {
        let (message, label, help) = match why {
            Why::Receiver(method) => (
                format!("cannot determine whether `{method}` makes a request"),
                "the type of the value is not known here",
                "give the variable a type, such as `Api<Pod>`",
            ),
            Why::Function(function) => (
                format!("cannot determine which requests `{function}` makes"),
                "it gets a client, and opctl does not see its code",
                "make the requests in the project's own code",
            ),
            Why::Path(by) => {
                diagnostics.push(unknown_path(&by, span));
                continue;
            }
            Why::Macro(name) => (
                format!("cannot determine which requests `{name}!` makes"),
                "opctl cannot expand this macro",
                "make the requests in a function",
            ),
            Why::Syntax => (
                "cannot determine which requests this makes".to_owned(),
                "opctl does not know this syntax",
                "make the requests in a function of their own",
            ),
            Why::Crate(number) => {
                crates.entry(number).or_default().push(span);
                continue;
            }
        };
        diagnostics.push(OP401.warning(message).at(span, label).help(help).help(ALLOW));
    }
    diagnostics.extend(crates.into_iter().map(|(number, spans)| of_crate(&world.users.borrow()[number], &spans)));
    diagnostics
}

fn unknown_path(by: &str, span: Span) -> Diagnostic {
    OP401
        .warning(format!("cannot determine what this `{by}` requests"))
        .at(span, "the path is known only at run time")
        .help("use an `Api`, or write the path as a literal: `http::Request::get(\"/api/v1/pods\")`")
        .help(ALLOW)
}

/// One warning per crate, at its first use.
fn of_crate(name: &str, spans: &[Span]) -> Diagnostic {
    let more = match spans.len() - 1 {
        0 => String::new(),
        1 => "; there is one more call".into(),
        more => format!("; there are {more} more calls"),
    };
    let message = format!("cannot determine which requests the crate `{name}` makes");
    OP403
        .warning(message)
        .at(spans[0].clone(), format!("it uses kube, and opctl does not read its code{more}"))
        .help("write a marker for each of its requests, and allow this: `// +opctl:allow:OP403 reason`")
}

/// Warns if a package that could make requests has none that opctl finds.
pub fn nothing_found(world: &World, functions: usize) -> Option<Diagnostic> {
    let packages = world.modules.operators();
    let clients: Vec<_> = packages.iter().filter(|package| world.modules.has_client(package)).collect();
    if clients.is_empty() || !uses_client(world) {
        return None;
    }
    let files = world.modules.files().len();
    let names = packages.iter().map(|package| format!("`{}`", package.name)).collect::<Vec<_>>().join(", ");
    let message = format!(
        "no request to the API server was found in {} and {} of {names}",
        counted(files, "file"),
        counted(functions, "function")
    );
    Some(
        OP402.warning(message)
            .help("check that `--path` and `--features` select the operator")
            .help("if another crate makes the requests, write a marker for each of them, and allow this: `// +opctl:allow:OP402 reason`"),
    )
}

/// Names in code with a client.
const CLIENTS: &[&str] = &["Api", "Client", "Controller", "Recorder", "reflector", "watcher"];

/// `true` if the code uses a client. A library of types and a program that prints CRDs do not.
fn uses_client(world: &World) -> bool {
    let of_kube = mentions::read(world.modules, &["kube", "kube_client", "kube_runtime"]);
    let clients = mentions::read(world.modules, CLIENTS);
    let is_beside = |span: &&Span| of_kube.iter().flatten().any(|kube| kube.file.path == span.file.path);
    if !clients.iter().flatten().any(|span| is_beside(&span)) {
        return false;
    }
    // A library that returns clients makes no requests itself.
    let takes_client = |function: &Rc<Function>| {
        let signature = function.signature();
        let tokens = signature.to_token_stream();
        !function.is_table
            && signature.asyncness.is_some()
            && CLIENTS.iter().any(|client| modules::mentions(tokens.clone(), client))
    };
    world.modules.operators().iter().any(|package| !package.binaries.is_empty())
        || world.functions.iter().any(takes_client)
}
