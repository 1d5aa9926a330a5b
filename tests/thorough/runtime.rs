//! `opctl-runtime` in manifests and `opctl check`: the markers that apply, and the requests of its functions.

use std::collections::BTreeSet;
use std::path::Path;

use opctl_model::diagnostic::{Diagnostic, Span, render};
use opctl_model::project::{Carried, Tree};
use opctl_model::{Operator, Reach, Request};
use opctl_source::grants::{self, Decision, Grantor, Home};
use opctl_source::{self as source, Source};
use snapbox::{Assert, Data};

const CARGO: &str = "[package]\nname = \"my-operator\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n";

/// A minimal runtime. Each marker grants a resource with the name of its item.
const RUNTIME: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"opctl-runtime\"\nversion = \"5.0.0\"\nedition = \"2024\"\n\n[features]\nmanager = []\nwebhook = [\"manager\"]\n",
    ),
    (
        "src/lib.rs",
        "#![deny(missing_docs)]
mod manager;
#[cfg(feature = \"webhook\")]
pub mod webhook;
#[cfg(test)]
mod tests;
pub use manager::{Controller, Manager};
/// Reads the name of the package.
// +kubebuilder:rbac:groups=example.com,resources=operator,verbs=get
#[macro_export]
macro_rules! operator { () => { \"{operator}\" } }
",
    ),
    (
        "src/manager/mod.rs",
        "//! Not a marker: // +kubebuilder:rbac
mod options;
pub use options::Options;
// +kubebuilder:rbac:groups=example.com,resources=manager,verbs=get,namespace=system
#[derive(Debug)]
pub struct Manager { lines: [u8; 4] }
pub struct Controller<K>(K);
/// Twice: here, and below.
// +kubebuilder:rbac:groups=example.com,resources=controller,verbs=get;list
impl<K: Into<Vec<u8>>> Controller<K> {
    pub fn f(&self) -> [u8; 2] { [1; 2] }
    // +kubebuilder:rbac:groups=example.com,resources=controller,verbs=watch
    pub async fn run(self) {}
}
#[cfg(feature = \"webhook\")]
// +kubebuilder:rbac:groups=example.com,resources=hooked,verbs=get
impl Manager {}
#[cfg(test)]
mod tests {
    // +kubebuilder:rbac:groups=example.com,resources=tests,verbs=get
    fn f() {}
}
",
    ),
    (
        "src/manager/options.rs",
        "// +kubebuilder:rbac:groups=example.com,resources=options,verbs=get\npub trait Options {}\n",
    ),
    (
        "src/webhook/mod.rs",
        "// +kubebuilder:rbac:groups=example.com,resources=defaulting,\\
// resourceNames={operator}-mutating,verbs=get;patch
pub struct Defaulting;
// +kubebuilder:rbac:groups=example.com,resources=server,verbs=get
pub const async unsafe extern \"C\" fn server() {}
",
    ),
];

/// A project with a runtime, overlaid with `files`. `dependency` is the line for the runtime in Cargo.toml.
fn project(dependency: &str, files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nowhere"));
    tree.lay_over("Cargo.toml", format!("{CARGO}{dependency}\n"));
    tree.lay_over("src/main.rs", "fn main() {}\n");
    for (path, text) in RUNTIME {
        tree.lay_over(format!("runtime/{path}"), *text);
    }
    for (path, text) in files {
        tree.lay_over(*path, *text);
    }
    tree
}

const VENDORED: &str = "opctl-runtime = { version = \"5.0.0\", path = \"runtime\", features = [\"webhook\"] }";

/// The permissions that markers grant: `resource verbs`, and names of objects.
fn granted(source: &Source) -> Vec<String> {
    assert_eq!(render(&source.diagnostics, false), "");
    let mut granted: Vec<String> = source
        .operator
        .rbac
        .iter()
        .map(|rule| {
            let names = rule.resource_names.iter().map(|name| format!(" {name}")).collect::<String>();
            format!("{} {}{names}", rule.resources.join(";"), rule.verbs.join(";"))
        })
        .collect();
    granted.sort();
    granted
}

fn granted_to(main: &str) -> Vec<String> {
    granted(&source::read_markers(&project(VENDORED, &[("src/main.rs", main)]), ""))
}

#[test]
fn markers_count_for_items_that_the_code_names() {
    let controller = ["controller get;list", "controller watch"];
    let manager = ["hooked get", "manager get"];
    let defaulting = ["defaulting get;patch my-operator-mutating"];
    let server = ["server get"];
    for (main, expected) in [
        ("fn main() {}", &[][..]),
        ("use opctl_runtime as _;", &[]),
        ("use opctl_runtime::Other;", &[]),
        ("// use opctl_runtime::Manager;\nconst A: &str = \"opctl_runtime::Manager\";", &[]),
        ("use other::Manager;", &[]),
        ("use opctl_runtime::Manager;", &manager),
        ("use ::opctl_runtime::Manager as M;", &manager),
        ("use opctl_runtime::manager::Manager;", &manager),
        (
            "use opctl_runtime::{Controller, webhook::{self, Defaulting}};",
            &[defaulting[0], controller[0], controller[1]],
        ),
        ("fn f() { let a = opctl_runtime::Controller::<Vec<u8>>::new(f); }", &controller),
        ("fn f(a: &dyn opctl_runtime::Options) {}", &["options get"]),
        ("fn f() { opctl_runtime::operator!() }", &["operator get"]),
        ("tokio::select! { _ = opctl_runtime::Manager::run() => {} }", &manager),
        ("use opctl_runtime::webhook;\nfn f() { webhook::server() }", &server),
        ("use opctl_runtime::webhook as hooks;\nfn f() { hooks::server() }", &server),
        ("use opctl_runtime::webhook;\nfn server() { other::server() }", &[]),
        ("use opctl_runtime as rt;\nfn f() { rt::webhook::server() }", &server),
        ("extern crate opctl_runtime as rt;\nfn f() { rt::webhook::server() }", &server),
        ("use {opctl_runtime::{self as rt}, std::fmt};\nfn f() { rt::webhook::server() }", &server),
        ("fn f() { Manager::new() }\nuse opctl_runtime::*;", &manager),
        ("use opctl_runtime::{Other, webhook::*};\nfn f() { server() }", &server),
        // The operator does not need permissions for its tests.
        ("#[cfg(test)]\nmod tests { use opctl_runtime::Manager; }", &[]),
        ("#[cfg(test)] use opctl_runtime::Manager;\n#[test] fn f() { opctl_runtime::Controller::f() }", &[]),
        (
            "#[tokio::test] async fn f() { opctl_runtime::Controller::f() }\nuse opctl_runtime::webhook::server;",
            &server,
        ),
        (
            "#[cfg(feature = \"off\")] fn f() { opctl_runtime::Manager::f() } use opctl_runtime::webhook::server;",
            &server,
        ),
        ("#[opctl_runtime::operator]\n#[cfg(unix)]\nfn f() {}", &["operator get"]),
        ("struct A { #[cfg(test)] a: u8, b: opctl_runtime::Manager }", &manager),
    ] {
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(granted_to(main), expected, "{main}");
    }
}

#[test]
fn markers_count_whichever_file_names_the_item() {
    let files = [
        ("src/main.rs", "mod runtime;\nmod hooks;\nmod tests;"),
        ("src/runtime.rs", "pub use opctl_runtime::webhook as admission;"),
        ("src/hooks.rs", "fn f() { crate::runtime::admission::server() }"),
        // The file is not a module of the crate.
        ("src/other.rs", "use opctl_runtime::Manager;"),
        ("src/tests.rs", "#![cfg(unix)]\n#[cfg(test)]\nmod inner { use opctl_runtime::Manager; }"),
    ];
    assert_eq!(granted(&source::read_markers(&project(VENDORED, &files), "")), ["server get"]);
}

#[test]
fn features_and_names_of_the_dependency_count() {
    let main = [("src/main.rs", "use rt::{Manager, webhook::server};")];
    let dependency =
        |features: &str| format!("rt = {{ package = \"opctl-runtime\", path = \"runtime\", features = [{features}] }}");
    let with = source::read_markers(&project(&dependency("\"webhook\""), &main), "");
    assert_eq!(granted(&with), ["hooked get", "manager get", "server get"]);
    let without = source::read_markers(&project(&dependency(""), &main), "");
    assert_eq!(granted(&without), ["manager get"]);
    assert!(without.operator.rbac[0].is_of_runtime);
    assert_eq!(without.operator.rbac[0].span.file.path, "runtime/src/manager/mod.rs");
}

/// Two operators, a library that both use, and the runtime in one workspace.
#[test]
fn each_operator_of_a_workspace_needs_what_it_uses() {
    let package = |name: &str, dependencies: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}"
        )
    };
    let runtime = "opctl-runtime = { path = \"../runtime\", features = [\"webhook\"] }\n";
    let library = "library = { path = \"../library\" }\n";
    let mut tree = project("", &[]);
    tree.lay_over(
        "Cargo.toml",
        "[workspace]\nmembers = [\"one\", \"two\", \"library\", \"runtime\"]\nresolver = \"3\"\n",
    );
    for (path, text) in [
        ("one/Cargo.toml", package("one", &format!("{runtime}{library}"))),
        ("one/src/main.rs", "use opctl_runtime::webhook::Defaulting;".into()),
        ("two/Cargo.toml", package("two", library)),
        ("two/src/main.rs", "use library::run;".into()),
        ("library/Cargo.toml", package("library", runtime)),
        ("library/src/lib.rs", "pub use opctl_runtime::webhook::server as run;".into()),
    ] {
        tree.lay_over(path, text);
    }
    assert_eq!(granted(&source::read_markers(&tree, "one")), ["defaulting get;patch one-mutating", "server get"]);
    assert_eq!(granted(&source::read_markers(&tree, "two")), ["server get"]);
    // For all members together, the library and the runtime do not count as operators.
    let both = ["defaulting get;patch one-mutating", "server get", "server get"];
    assert_eq!(granted(&source::read_markers(&tree, "")), both);
}

/// Unknown permissions are always reported.
#[test]
fn what_cannot_be_read_is_an_error() {
    let main = ("src/main.rs", "use opctl_runtime::Manager;");
    let diagnostics = |dependency: &str, files: &[(&str, &str)]| -> Vec<Diagnostic> {
        source::read_markers(&project(dependency, &[&[main], files].concat()), "").diagnostics
    };
    let registry = "opctl-runtime = \"5\"";
    let lock = "version = 4\n\n[[package]]\nname = \"my-operator\"\nversion = \"0.1.0\"\ndependencies = [\n \"opctl-runtime\",\n]\n\n\
                [[package]]\nname = \"opctl-runtime\"\nversion = \"5.0.1\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    let all = [
        diagnostics(registry, &[]),
        diagnostics(registry, &[("Cargo.lock", lock)]),
        diagnostics("opctl-runtime = { path = \"gone\" }", &[]),
        diagnostics(VENDORED, &[("runtime/src/lib.rs", "mod gone;\n")]),
        diagnostics(
            VENDORED,
            &[("runtime/src/lib.rs", "// +kubebuilder:rbac:groups=apps,resources=deployments\npub struct Manager;\n")],
        ),
        diagnostics(
            VENDORED,
            &[(
                "runtime/src/lib.rs",
                "// +kubebuilder:rbac:groups=example.com,resources=a,verbs=get
pub(crate) struct Manager;
pub fn f() {
    // +kubebuilder:rbac:groups=example.com,resources=b,verbs=get
    f()
}
pub struct S {
    // +kubebuilder:rbac:groups=example.com,resources=c,verbs=get
    pub a: u8,
} // +kubebuilder:rbac:groups=example.com,resources=d,verbs=get
",
            )],
        ),
    ];
    let texts: Vec<String> = all.iter().map(|diagnostics| render(diagnostics, false)).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime/errors.txt");
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(texts.join("========\n")), Data::read_from(&path, None).raw());
    // Code that uses nothing of the runtime needs no permissions for it.
    let none = source::read_markers(&project(registry, &[]), "");
    assert_eq!(render(&none.diagnostics, false), "");
}

/// The missing and unused permissions that `opctl check` reports for a project.
#[test]
fn permissions_of_the_runtime_are_no_concern_of_the_user() {
    const KUBE: &str = "kube = { version = \"*\", features = [\"runtime\"] }\nk8s-openapi = { version = \"*\", features = [\"latest\"] }\n";
    const RUNTIME: &str = "// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
pub struct Controller;
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;update,namespace=system
pub struct Manager;
// +kubebuilder:rbac:groups=example.com,resources=*,verbs=*
pub struct Wide;
";
    const EVENTS: &str = "// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create\n";
    const EVENT: &str = "async fn f(ctx: &Context, pod: &Pod) { ctx.event(pod, Normal, \"A\", \"b\").await; }\n";
    const LEASES: &str =
        "async fn g(ctx: &Context) { kube::Api::<Lease>::all(ctx.client.clone()).get(\"a\").await; }\n";
    let said = |parts: &[&str]| -> Vec<String> {
        let main =
            "use k8s_openapi::api::{coordination::v1::Lease, core::v1::Pod};\nuse opctl_runtime::Context;\n".to_owned();
        let files = [("src/main.rs", &*(main + &parts.concat())), ("runtime/src/lib.rs", RUNTIME)];
        let source = source::read_requests(&project(&format!("{VENDORED}\n{KUBE}"), &files), "");
        assert_eq!(render(&source.diagnostics, false), "");
        let home = Home { namespace: Some("system".into()), ..Home::default() };
        let missing = grants::missing(&source.operator, &home, |span| span.range.clone());
        let missing =
            missing.iter().map(|it| it.to_diagnostic(&source.operator.rbac, &it.first().span.range, Grantor::Markers));
        let unused = grants::unused(&source.operator, &home).into_iter().flatten();
        let others = grants::too_narrow(&source.operator, &home).into_iter().chain(unused);
        missing
            .chain(others)
            .chain(grants::wildcards(&source.operator, Grantor::Markers))
            .map(|diagnostics| diagnostics.message)
            .collect()
    };
    let [controller, manager] = ["Controller", "Manager"].map(|name| format!("use opctl_runtime::{name};\n"));
    let missing = ["no marker grants `create` on `events.events.k8s.io`"];
    let unused = ["nothing in the code needs what this marker grants"];
    // A controller in plain kube-rs, which publishes events.
    assert_eq!(said(&[EVENT]), missing);
    assert_eq!(said(&[EVENT, &manager]), missing);
    assert!(said(&[EVENTS, EVENT]).is_empty());
    // The runtime's own controller has the permissions of the runtime.
    assert!(said(&[EVENT, &controller]).is_empty());
    assert!(said(&[&controller, &manager, "use opctl_runtime::Wide;"]).is_empty());
    assert_eq!(said(&[EVENTS, &controller]), unused);
    assert_eq!(said(&[EVENTS]), unused);
    // Permissions of the runtime in its own namespace do not cover requests of the user.
    assert_eq!(said(&[LEASES, &manager]), ["no marker grants `get` on `leases.coordination.k8s.io`"]);
}

/// The runtime embedded in opctl is used if the same version is not on disk yet.
#[test]
fn the_carried_runtime_is_read_where_it_is_the_same() {
    let carried = || {
        let mut tree = Tree::default();
        RUNTIME.iter().for_each(|(path, text)| tree.lay_over(*path, *text));
        Carried { version: "5.0.0".into(), tree }
    };
    let lock = |version: &str| {
        format!(
            "version = 4\n\n[[package]]\nname = \"my-operator\"\nversion = \"0.1.0\"\ndependencies = [\n \"opctl-runtime\",\n]\n\n\
             [[package]]\nname = \"opctl-runtime\"\nversion = \"{version}\"\n\
             source = \"registry+https://github.com/rust-lang/crates.io-index\"\n"
        )
    };
    let read = |asked: &str, locked: Option<&str>| {
        let dependency = format!("opctl-runtime = {{ version = \"{asked}\", features = [\"webhook\"] }}");
        let mut tree = project(&dependency, &[("src/main.rs", "use opctl_runtime::{Manager, webhook::server};")]);
        if let Some(version) = locked {
            tree.lay_over("Cargo.lock", lock(version));
        }
        source::read_markers(&tree.with_runtime(carried), "")
    };
    for (asked, locked) in [
        ("5", None),
        ("5.0.0", None),
        ("=5.0.0", None),
        ("5.0", Some("5.0.0")),
        (">=4, <6", None),
        ("5.*", None),
        ("~5.0", None),
        ("*", None),
    ] {
        let source = read(asked, locked);
        assert_eq!(granted(&source), ["hooked get", "manager get", "server get"], "{asked} {locked:?}");
        assert_eq!(source.operator.rbac[0].span.file.path, "opctl-runtime-5.0.0/src/manager/mod.rs");
    }
    for (asked, locked) in
        [("6", None), ("5.0.1", None), ("5.1", None), ("=5.0.1", None), (">=4, <5", None), ("5", Some("5.0.1"))]
    {
        let diagnostics = read(asked, locked).diagnostics;
        assert!(diagnostics.len() == 1 && diagnostics[0].code.name == "OP113", "{asked} {locked:?}: {diagnostics:?}");
    }
}

/// The requests of each function of the runtime, called in `tests/runtime/operator`. They are recorded in
/// `requests.txt`.
#[test]
fn each_way_through_the_runtime_asks_what_is_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime");
    let found = source::read_requests(&Tree::at(folder.join("operator")), "");
    assert_eq!(render(&found.diagnostics, false), "");
    let lines = found.operator.requests.iter().map(|request| format!("{}\n", line(request)));
    let path = folder.join("requests.txt");
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(lines.collect::<String>()), Data::read_from(&path, None).raw());
}

/// Such as `src/cases/a.rs:9 Children::apply: create secrets in a namespace`.
fn line(request: &Request) -> String {
    let at = |span: &Span| format!("{}:{}", span.file.path, span.line_column().0);
    let group = if request.group.is_empty() { String::new() } else { format!(".{}", request.group) };
    let reach = match &request.reach {
        Reach::Cluster => "in the cluster".into(),
        Reach::Namespace(name) => format!("in {name}"),
        Reach::SomeNamespace => "in a namespace".into(),
        Reach::Unknown => "somewhere".to_string(),
    };
    let within = request.within.as_ref().map(|within| format!(", within {}", at(within))).unwrap_or_default();
    let optional = if request.optional { ", perhaps" } else { "" };
    let Request { verb, resource, by, .. } = request;
    format!("{} {by}: {verb} {resource}{group} {reach}{within}{optional}", at(&request.span))
}

/// Requests derived from the runtime's source, as for any crate, must be in the table. They are fewer, since much of
/// the code uses boxed closures.
#[test]
fn the_source_of_the_runtime_asks_no_more_than_the_table_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime/operator");
    let tree = Tree::at(&folder);
    let mut as_source = tree.clone();
    for path in ["Cargo.toml", "../../../crates/runtime/Cargo.toml"] {
        let text = tree.read(path).unwrap().unwrap();
        let named = text.replace("name = \"opctl-runtime\"", "name = \"as-source\"");
        let named = named.replace("opctl-runtime = {", "opctl-runtime = { package = \"as-source\",");
        let lib = if path == "Cargo.toml" { "" } else { "\n[lib]\nname = \"opctl_runtime\"\n" };
        as_source.lay_over(path, named + lib);
    }
    let asked = |tree: &Tree| -> BTreeSet<String> {
        let found = source::read_requests(tree, "");
        let own = found.operator.requests.iter().filter(|request| request.span.file.path.starts_with("src/"));
        own.map(|request| {
            let Request { verb, group, resource, span, .. } = request;
            format!("{} {verb} {resource}.{group}", span.file.path)
        })
        .collect()
    };
    let (table, source) = (asked(&tree), asked(&as_source));
    let common = source.intersection(&table).count();
    assert!(common > 15, "only {common} were read in the source: {source:#?}");
    // `watches_with` has no status writer, which can only be determined by running it.
    let is_written = |asked: &&String| asked.contains("relations.rs patch") && asked.contains("/status");
    let missing: Vec<_> = source.difference(&table).filter(|asked| !is_written(asked)).collect();
    assert!(missing.is_empty(), "crates/source/src/requests/signatures.rs lacks {missing:#?}");
}

/// `create` cannot be restricted by name, since the request has none.
#[test]
fn the_leader_is_granted_its_own_lease_only() {
    let project = Tree::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memcached"));
    let rules = source::read_markers(&project, "").operator.rbac;
    let leases = rules.iter().filter(|rule| rule.resources == ["leases"]);
    let mut leases: Vec<_> = leases.map(|rule| (rule.verbs.join(";"), rule.resource_names.join(";"))).collect();
    leases.sort();
    let expected = [("create", ""), ("get;update", "memcached-operator")];
    assert_eq!(leases, expected.map(|(verbs, names)| (verbs.to_owned(), names.to_owned())));
}

/// Requests of the runtime that no marker of it grants. The CRDs have the names of the user's kinds, so the table
/// assigns them to `Conversion::new`. Events are patched only by a recorder that published them, and each event has its
/// own recorder.
const NOT_BY_MARKERS: &[(&str, &str)] =
    &[("src/webhook/conversion/crds.rs", " customresourcedefinitions."), ("src/context.rs", "patch events.")];

/// The permissions of the module `webhook` are only for its certificates: a bundle for OLM goes without them.
#[test]
fn the_webhooks_of_the_runtime_make_requests_for_certificates_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut alone = Tree::at(root.join("crates/runtime"));
    let manifest = alone.read("Cargo.toml").unwrap().unwrap();
    alone.lay_over("Cargo.toml", manifest.replace("[features]", "[features]\ndefault = [\"conversion\", \"otlp\"]"));
    let requests = source::read_requests(&alone, "").operator.requests;
    let of_webhooks: Vec<&Request> =
        requests.iter().filter(|request| request.span.file.path.starts_with("src/webhook/")).collect();
    assert!(of_webhooks.len() > 4, "{of_webhooks:?}");
    let is_for_certificates = |request: &&&Request| {
        let path = request.span.file.path.trim_start_matches("src/webhook/");
        ["certificate", "registration", "conversion/crds.rs"].iter().any(|start| path.starts_with(start))
    };
    let others: Vec<String> =
        of_webhooks.iter().filter(|request| !is_for_certificates(request)).map(|request| line(request)).collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// The runtime's own requests, independent of the project, are granted by those of its markers that apply once it is
/// used.
#[test]
fn the_runtime_is_granted_what_it_asks_by_itself() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut alone = Tree::at(root.join("crates/runtime"));
    let manifest = alone.read("Cargo.toml").unwrap().unwrap();
    let default = "[features]\ndefault = [\"conversion\", \"otlp\"]";
    alone.lay_over("Cargo.toml", manifest.replace("[features]", default));
    let requests = source::read_requests(&alone, "").operator.requests;

    // A project with a controller and both kinds of webhooks.
    let mut project = Tree::at(root.join("tests/runtime/operator"));
    let uses = "use opctl_runtime::{Controller, Manager, webhook::{Defaulting, Validating, server}};";
    project.lay_over("src/main.rs", uses);
    let found = source::read_markers(&project, "");
    let errors: Vec<Diagnostic> = found.diagnostics.iter().filter(|it| it.is_error()).cloned().collect();
    assert_eq!(render(&errors, false), "");

    let operator = Operator { rbac: found.operator.rbac, requests, ..Operator::default() };
    let home = Home { namespace: Some("system".into()), ..Home::default() };
    let asked = operator.requests.iter().zip(grants::decisions(&operator, &home));
    let asked: Vec<_> = asked.filter(|(request, _)| !request.optional).collect();
    assert!(asked.len() > 5, "{asked:?}");
    let lacking = asked.iter().filter(|(_, decision)| !matches!(decision, Decision::Granted(_)));
    let lacking: Vec<String> = lacking.map(|(request, _)| line(request)).collect();
    let is_excused =
        |line: &&String| NOT_BY_MARKERS.iter().any(|(span, what)| line.starts_with(span) && line.contains(what));
    let unexcused: Vec<_> = lacking.iter().filter(|line| !is_excused(line)).collect();
    assert!(unexcused.is_empty(), "no marker of the runtime grants {unexcused:#?}");
    for (span, what) in NOT_BY_MARKERS {
        assert!(lacking.iter().any(|line| line.starts_with(span) && line.contains(what)), "{span} {what}: not asked");
    }
}
