//! Requests to the API server that opctl derives from code, and the table of signatures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use opctl_model::diagnostic::{self, Diagnostic};
use opctl_model::project::Tree;
use opctl_model::versions;
use opctl_model::{Reach, Request};
use opctl_source as source;
use quote::ToTokens;
use serde_json::Value;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, ImplItem, Item, Lit, Meta, Token, TraitItem, Visibility};

use crate::asked::{said_of, split};
use crate::common;
use crate::recorder::{Who, cases, functions, sources, write_recorder};

/// opctl derives the requests that cases declare, including those of other runs.
#[test]
fn opctl_reads_what_cases_ask() {
    let places: BTreeMap<String, (String, Range<usize>)> = functions()
        .into_iter()
        .map(|(file, function)| {
            let name = format!("{file}::{}", function.sig.ident);
            (name, (format!("src/{file}.rs"), function.span().byte_range()))
        })
        .collect();
    let cases = cases();
    let found = source::read_requests(&Tree::at(write_recorder(&cases)), "");
    let mut read: BTreeMap<&str, Vec<(bool, String, &Reach)>> = BTreeMap::new();
    let mut differences = String::new();
    for request in &found.operator.requests {
        let Request { span, .. } = request;
        let is_around = |(_, (path, range)): &(&String, &(String, Range<usize>))| {
            span.file.path == *path && range.contains(&span.range.start)
        };
        let Some((name, _)) = places.iter().find(is_around) else { continue };
        let permission = said_of(request);
        let read = read.entry(name).or_default();
        if !read.contains(&(request.optional, permission.clone(), &request.reach)) {
            read.push((request.optional, permission, &request.reach));
        }
    }
    for (name, case) in &cases {
        let read = read.remove(name.as_str()).unwrap_or_default();
        let all = case.asks(Who::ThisRun).chain(case.asks(Who::AnotherRun)).map(|said| (false, said));
        let mut said: Vec<(bool, &String)> = all.chain(case.asks(Who::SomeClusters).map(|said| (true, said))).collect();
        for (optional, permission, reach) in read {
            let is_it = |(is_optional, said): &(bool, &String)| {
                let (what, namespace) = split(said);
                let exists = match reach {
                    Reach::Cluster => namespace.is_none(),
                    Reach::Namespace(name) => namespace == Some(name),
                    Reach::SomeNamespace => namespace.is_some(),
                    Reach::Unknown => true,
                };
                *is_optional == optional && what == permission && exists
            };
            match said.iter().position(is_it) {
                Some(index) => drop(said.remove(index)),
                None => writeln!(differences, "{name}: opctl reads more: {permission} {reach:?} {optional}").unwrap(),
            }
        }
        for (_, permission) in said {
            writeln!(differences, "{name}: opctl does not read: {permission}").unwrap();
        }
    }
    let is_of_case = |told: &&Diagnostic| {
        told.span.as_ref().is_none_or(|(span, _)| places.values().any(|(path, _)| span.file.path == *path))
    };
    let told: Vec<Diagnostic> = found.diagnostics.iter().filter(is_of_case).cloned().collect();
    assert!(differences.is_empty() && told.is_empty(), "{differences}{}", diagnostic::render(&told, false));
}

/// Methods of kube's interface that send no requests: the type, the reason, and the methods. A method that is neither
/// here nor in the table is new in kube, and must be reviewed.
const ASKS_NOTHING: &[(&str, &str, &[&str])] = &[
    ("Api", "it tells what the `Api` is", &["namespace", "resource_url", "into_client"]),
    (
        "Request",
        "it asks a kubelet, not the API server",
        &["kubelet_node_attach", "kubelet_node_exec", "kubelet_node_logs", "kubelet_node_portforward"],
    ),
    ("Store", "it counts what is there", &["len", "is_empty"]),
];

/// Types of kube whose methods are all checked. For other types, only methods with an `Api` or a `Client` are.
const TYPES: &[&str] =
    &["Api", "Client", "Controller", "Entry", "OccupiedEntry", "Recorder", "Request", "Store", "VacantEntry", "Writer"];
#[test]
fn the_table_has_all_of_kube_that_asks() {
    let known = Interface::of_table(TYPES, |krate| krate != RUNTIME);
    let mut kube = Interface { types: TYPES, ..Interface::default() };
    kube_sources().iter().for_each(|folder| kube.add_folder(folder));
    assert!(kube.methods.len() > 130, "this is not kube: {:?}", kube.methods);
    let excused = excused(ASKS_NOTHING);
    let missing: Vec<_> =
        kube.methods.iter().filter(|method| !known.methods.contains(method) && !excused.contains(method)).collect();
    assert!(missing.is_empty(), "new in kube, and not in crates/source/src/requests/signatures.rs: {missing:?}");
    let gone: Vec<_> = known
        .asking
        .keys()
        .filter(|(of, _)| of != "Resource")
        .filter(|method| !kube.methods.contains(method))
        .collect();
    assert!(gone.is_empty(), "kube no longer has: {gone:?}");
    let stale: Vec<_> = excused.iter().filter(|method| !kube.methods.contains(method)).collect();
    assert!(stale.is_empty(), "kube no longer has: {stale:?}");
}

fn excused(asks_nothing: &[(&str, &str, &[&str])]) -> BTreeSet<(String, String)> {
    let all = asks_nothing.iter();
    all.flat_map(|(of, _, methods)| methods.iter().map(|method| (of.to_string(), method.to_string()))).collect()
}

/// The runtime's module in the table.
const RUNTIME: &str = "opctl_runtime";

/// Types of the runtime whose methods are all checked. For other types, only methods with an `Api`, a `Client` or a
/// `Context` are.
const RUNTIME_TYPES: &[&str] = &["Children", "Context", "Controller", "Conversion", "Defaulting", "Validating"];

/// Methods of the runtime for which a project needs no permissions.
const RUNTIME_ASKS_NOTHING: &[(&str, &str, &[&str])] = &[
    ("Children", "it looks at what was applied", &["is_pending", "readiness"]),
    ("Context", "it begins the shutdown", &["stop"]),
    ("Conversion", "it converts in memory", &["convert"]),
];

#[test]
fn the_table_has_all_of_the_runtime_that_asks() {
    let known = Interface::of_table(RUNTIME_TYPES, |krate| krate == RUNTIME);
    let mut runtime = Interface { types: RUNTIME_TYPES, ..Interface::default() };
    runtime.add_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/runtime/src"));
    let excused = excused(RUNTIME_ASKS_NOTHING);
    let public = public_names(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/runtime/src"));
    let is_public = |(of, method): &(String, String)| public.contains(if of.is_empty() { method } else { of });
    runtime.methods.retain(is_public);
    assert!(runtime.methods.len() > 20, "this is not the runtime: {:?}", runtime.methods);
    let missing: Vec<_> =
        runtime.methods.iter().filter(|it| !known.methods.contains(it) && !excused.contains(it)).collect();
    assert!(missing.is_empty(), "new in the runtime, and not in crates/source/src/requests/signatures.rs: {missing:?}");
    let gone: Vec<_> = known.asking.keys().filter(|it| !runtime.methods.contains(it)).collect();
    assert!(gone.is_empty(), "the runtime no longer has: {gone:?}");
    let stale: Vec<_> = excused.iter().filter(|method| !runtime.methods.contains(method)).collect();
    assert!(stale.is_empty(), "the runtime no longer has: {stale:?}");
}

/// The names in `pub use`, and public items in files of a `pub mod`.
fn public_names(folder: &Path) -> BTreeSet<String> {
    let (mut names, mut open) = (BTreeSet::new(), vec![folder.join("lib.rs")]);
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            for item in syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap().items {
                match item {
                    Item::Use(item) if matches!(item.vis, Visibility::Public(_)) => {
                        let words = item.tree.to_token_stream().to_string();
                        names.extend(words.split(|c: char| !c.is_alphanumeric() && c != '_').map(String::from));
                    }
                    Item::Mod(item) if matches!(item.vis, Visibility::Public(_)) => {
                        let below = if path.ends_with("lib.rs") || path.ends_with("mod.rs") {
                            path.parent().unwrap().to_owned()
                        } else {
                            path.with_extension("")
                        };
                        open.extend([
                            below.join(format!("{}.rs", item.ident)),
                            below.join(format!("{}/mod.rs", item.ident)),
                        ]);
                    }
                    _ => {}
                }
            }
        }
    }
    for path in open.iter().filter(|path| path.is_file()) {
        for item in syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap().items {
            let (vis, ident) = match &item {
                Item::Struct(item) => (&item.vis, &item.ident),
                Item::Enum(item) => (&item.vis, &item.ident),
                Item::Trait(item) => (&item.vis, &item.ident),
                Item::Fn(item) => (&item.vis, &item.sig.ident),
                _ => continue,
            };
            if matches!(vis, Visibility::Public(_)) {
                names.insert(ident.to_string());
            }
        }
    }
    names
}

/// A case calls each method in the table that sends a request, so that every verb is verified.
#[test]
fn every_method_that_asks_has_a_case() {
    let table = Interface::of_table(TYPES, |krate| krate != RUNTIME);
    let cases: String = sources().into_values().collect();
    let is_called = |(of, method): &&(String, String)| {
        let [dot, path, free] = [format!(".{method}("), format!("::{method}("), format!(" {method}(")];
        cases.contains(&dot) || cases.contains(&path) || of.is_empty() && cases.contains(&free)
    };
    // A method of `Request` builds the request that the method of `Api` with the same name sends.
    let of_requests = table.asking.iter().filter(|((of, _), _)| of == "Request");
    for ((_, method), asks) in of_requests {
        assert_eq!(table.asking.get(&("Api".into(), method.clone())), Some(asks), "Request::{method}");
    }
    let uncalled: Vec<_> =
        table.asking.keys().filter(|(of, _)| of != "Request").filter(|key| !is_called(key)).collect();
    assert!(table.asking.len() > 80, "{:?}", table.asking);
    assert!(uncalled.is_empty(), "no case calls {uncalled:?}");
}

/// `docs/reference/permissions.md` is generated from the table; `SNAPSHOTS=overwrite cargo test --test quick requests`
/// updates it.
#[test]
fn the_reference_of_permissions_is_that_of_the_table() {
    let kube = Interface::of_table(TYPES, |krate| krate != RUNTIME);
    let runtime = Interface::of_table(RUNTIME_TYPES, |krate| krate == RUNTIME);
    let page =
        [&PAGE.replace("LATEST", &versions::latest("kube")), &kube.rows(), RUNTIME_PART, &runtime.rows()].concat();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/permissions.md");
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        std::fs::write(&path, &page).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap_or_default() == page, "SNAPSHOTS=overwrite updates it");
}

const PAGE: &str = "\
# Permissions of API calls

The permission that each function of kube LATEST and of [opctl-runtime](#opctl-runtime) requires, as [`opctl
check`](../concepts/check.md) knows it. The rows about kube are compared with the requests that kube sends, and with an API server
that rejects them if just this permission is missing; the rows about opctl-runtime are compared with its source.

- *(apply)*: only with `Patch::Apply`, since the API server creates an object that does not exist.
- *(some clusters)*: only if an admission plugin requires it, here OwnerReferencesPermissionEnforcement. `opctl check` accepts both.
- `/{subresource}`: the subresource that the call names.
- `attach`, `exec` and `portforward` are opened with GET; since Kubernetes 1.35 the API server also requires `create`.
- `approve` is required for the signer that the request names.
- Discovery and `/version` are open to every authenticated client, so they need no marker.

The scope follows from the `Api`: the whole cluster with `Api::all`, one namespace with `Api::namespaced`, and the namespace that the
client is configured for with `Api::default_namespaced`. `Recorder::publish` creates events in the namespace of the object that the
event is about, or in `default` if it has none.

| permission | required by |
|---|---|
";

const RUNTIME_PART: &str = "
## opctl-runtime

The functions of `opctl_runtime` that make requests on behalf of the project: it needs markers for them.

- *(outcome)*: only if `reconcile` returns an `Outcome` or a `Condition`, not kube's `Action` or `()`.
- `{C}`, `{W}`: on the kind of the child, or on the watched kind. All others are on the kind of the controller, the object or the `Api`.

The requests that the runtime makes for itself are granted by [its own markers](markers.md#markers-of-the-runtime).

| permission | required by |
|---|---|
";

/// The contents of an `#[asks(…)]` attribute.
struct Asked {
    verbs: Vec<String>,
    options: BTreeMap<String, String>,
}

impl Asked {
    fn of(attribute: &Attribute) -> Self {
        let arguments = attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated).unwrap();
        let mut asked = Self { verbs: Vec::new(), options: BTreeMap::new() };
        for argument in arguments {
            match argument {
                Expr::Lit(ExprLit { lit: Lit::Str(verb), .. }) => asked.verbs.push(format!("`{}`", verb.value())),
                Expr::Assign(assign) => {
                    let value = match &*assign.right {
                        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.value(),
                        right => format!("{{{}}}", right.to_token_stream()),
                    };
                    asked.options.insert(assign.left.to_token_stream().to_string(), value);
                }
                other => drop(asked.options.insert(other.to_token_stream().to_string(), String::new())),
            }
        }
        asked
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = |key: &str| self.options.get(key).map(String::as_str);
        write!(f, "{}", self.verbs.join(", "))?;
        if let (Some(group), Some(resource)) = (option("group"), option("resource")) {
            write!(f, " on `{resource}.{group}`")?;
        }
        match option("subresource") {
            Some("{subresource_name}") => f.write_str(" on `/{subresource}`")?,
            Some(subresource) => write!(f, " on `/{subresource}`")?,
            None => {}
        }
        if let Some(of) = option("of").filter(|of| *of != "{Child}" && *of != "{Other}" && *of != "{Self}") {
            write!(f, " on `{of}`")?;
        }
        f.write_str(match option("when") {
            Some(when) if when.contains("::") => " *(outcome)*",
            Some(_) => " *(apply)*",
            None => "",
        })?;
        f.write_str(if option("optional").is_some() { " *(some clusters)*" } else { "" })
    }
}

/// Public methods by type and name; free functions have no type.
#[derive(Default)]
struct Interface {
    /// Types whose methods are all included.
    types: &'static [&'static str],
    methods: BTreeSet<(String, String)>,
    /// Methods with `#[asks(…)]`, and their attributes.
    asking: BTreeMap<(String, String), Vec<Attribute>>,
}

impl Interface {
    /// Reads the selected crates in the table.
    fn of_table(types: &'static [&'static str], wanted: impl Fn(&str) -> bool) -> Self {
        let mut items = syn::parse_file(include_str!("../../crates/source/src/requests/signatures.rs")).unwrap().items;
        items.retain(|item| matches!(item, Item::Mod(module) if wanted(&module.ident.to_string())));
        let mut interface = Self { types, ..Self::default() };
        interface.add(&items);
        interface
    }

    /// Adds all Rust files in a folder.
    fn add_folder(&mut self, folder: &Path) {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
            let entry = entry.unwrap();
            if entry.path().extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", entry.path().display()));
                self.add(&file.items);
            }
        }
    }

    /// The methods that send requests, as rows of a Markdown table.
    fn rows(&self) -> String {
        let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for ((of, method), asks) in self.asking.iter().filter(|((of, _), _)| of != "Request") {
            let name = if of.is_empty() { format!("`{method}`") } else { format!("`{of}::{method}`") };
            let said = asks.iter().map(Asked::of).map(|asked| asked.to_string()).collect::<Vec<_>>().join(", ");
            rows.entry(said).or_default().push(name);
        }
        let rows = rows.iter().map(|(permissions, methods)| format!("| {permissions} | {} |\n", methods.join(", ")));
        rows.collect()
    }

    fn add(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(module) if !is_test(&module.attrs) => {
                    self.add(
                        module.content.iter().flat_map(|(_, items)| items).cloned().collect::<Vec<_>>().as_slice(),
                    );
                }
                Item::Fn(function) => self.method("", &function.vis, &function.sig, &function.attrs),
                Item::Impl(item) if item.trait_.is_none() => {
                    let syn::Type::Path(path) = &*item.self_ty else { continue };
                    let of = path.path.segments.last().unwrap().ident.to_string();
                    for inner in &item.items {
                        if let ImplItem::Fn(method) = inner {
                            self.method(&of, &method.vis, &method.sig, &method.attrs);
                        }
                    }
                }
                Item::Trait(item) => {
                    for inner in &item.items {
                        if let TraitItem::Fn(method) = inner
                            && method.attrs.iter().any(|attribute| attribute.path().is_ident("asks"))
                        {
                            let of = item.ident.to_string();
                            let asks = method.attrs.clone();
                            self.asking.insert((of.clone(), method.sig.ident.to_string()), asks);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn method(&mut self, of: &str, vis: &Visibility, signature: &syn::Signature, attributes: &[Attribute]) {
        let takes = signature.inputs.to_token_stream().to_string();
        let carries = |word: &str| match word {
            "Api" | "Client" => true,
            "Context" => self.types == RUNTIME_TYPES,
            _ => false,
        };
        let is_of_interest = self.types.contains(&of) || takes.split(' ').any(carries);
        if matches!(vis, Visibility::Public(_)) && is_of_interest && !is_test(attributes) {
            let key = (of.to_owned(), signature.ident.to_string());
            let asks = attributes.iter().filter(|attribute| attribute.path().is_ident("asks"));
            let asks: Vec<Attribute> = asks.cloned().collect();
            if !asks.is_empty() {
                self.asking.insert(key.clone(), asks);
            }
            self.methods.insert(key);
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().starts_with("test"),
        _ => false,
    })
}

/// The `src` folders of kube's packages, in the versions of the recorder.
pub fn kube_sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lock = std::fs::read_to_string(root.join("tests/requests/Cargo.lock")).unwrap();
    let metadata = common::output(common::cargo(root, &["metadata", "--format-version", "1", "--locked"]));
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    // opctl also depends on an earlier kube-core, whose schema rewriting differs.
    let latest =
        |package: &&Value| package["version"].as_str().is_some_and(|it| it.starts_with(&versions::latest("kube")));
    let of_kube = packages
        .filter(latest)
        .filter(|package| matches!(package["name"].as_str(), Some("kube-client" | "kube-core" | "kube-runtime")));
    let source = |package: &Value| {
        let [name, version, manifest] = ["name", "version", "manifest_path"].map(|key| package[key].as_str().unwrap());
        let locked = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&locked), "opctl-runtime is compiled with {name} {version}, and the recorder is not");
        Path::new(manifest).with_file_name("src")
    };
    of_kube.map(source).collect()
}
