//! The table of Kubernetes' types, `crates/source/src/known/kubernetes.txt`: generated from k8s-openapi's sources, and
//! compared with its compiled types. After an update of k8s-openapi,
//! `SNAPSHOTS=overwrite cargo test --test thorough kubernetes_types` generates it again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use opctl_model::diagnostic;
use opctl_model::project::Tree;
use opctl_model::versions::{self, K8S_OPENAPI, Release};
use opctl_source::known::kubernetes::{self, Minor};
use opctl_source::{self as source, Source};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde_json::{Map, Value, json};

use crate::common;
use crate::oracle::manifest;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/source/src/known/kubernetes.txt");

#[test]
fn the_table_is_what_the_sources_of_k8s_openapi_say() {
    let sources = sources();
    let versions: Vec<(Minor, BTreeMap<String, Type>)> = std::thread::scope(|scope| {
        let versions = Minor::all().into_iter().map(|minor| {
            let folder = sources[&minor.release()].join(format!("v1_{}", minor.number()));
            (minor, scope.spawn(move || types(&folder)))
        });
        versions.collect::<Vec<_>>().into_iter().map(|(minor, types)| (minor, types.join().unwrap())).collect()
    });
    for (release, (first, last)) in K8S_OPENAPI {
        let folders = fs::read_dir(&sources[release]).unwrap().map(|entry| entry.unwrap().file_name());
        let offered = folders.filter_map(|name| name.to_str()?.strip_prefix("v1_")?.parse().ok());
        assert_eq!(offered.collect::<BTreeSet<u8>>(), (*first..=*last).collect(), "k8s-openapi {release}");
    }

    let made = table(&versions);
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        fs::write(TABLE, &made).unwrap();
    }
    let table = fs::read_to_string(TABLE).unwrap();
    let differs = made.lines().zip(table.lines()).find(|(made, line)| made != line);
    assert_eq!(differs, None, "the table is not of these sources: SNAPSHOTS=overwrite makes it anew");
    assert_eq!(made.len(), table.len(), "the table is cut short, or has more than the sources");
}

/// opctl parses the result of `crd()` with the types of the version that it is linked with, so versions may only differ
/// in descriptions.
#[test]
fn what_a_crd_is_made_of_is_the_same_in_every_version() {
    let table = fs::read_to_string(TABLE).unwrap();
    let definition = "apiextensions_apiserver::pkg::apis::apiextensions::v1::";
    let of_status = ["CustomResourceDefinitionStatus", "CustomResourceDefinitionCondition"];
    for block in table.split("\n\n").filter_map(|block| block.strip_prefix(definition)) {
        let mut lines = block.lines();
        let name = lines.next().unwrap();
        let mut fields: BTreeMap<&str, Vec<(&str, Value)>> = BTreeMap::new();
        for (key, json) in lines.map(|line| line.split_once(' ').unwrap()) {
            let mut value: Value = serde_json::from_str(json).unwrap();
            value.as_object_mut().map(|value| value.remove("description"));
            fields.entry(key.split('@').next().unwrap()).or_default().push((key, value));
        }
        let is_same = |found: &Vec<(&str, Value)>| {
            let is_whole = found.len() > 1 || !found[0].0.contains('@');
            is_whole && found.iter().all(|(_, value)| *value == found[0].1)
        };
        assert!(of_status.contains(&name) || fields.values().all(is_same), "{name} differs:\n{block}");
    }
}

/// A kind that is only known by its group and name has no Kubernetes version.
#[test]
fn a_kind_is_the_same_in_every_version() {
    let lines = fs::read_to_string(TABLE).unwrap();
    let lines: Vec<&str> = lines.lines().filter(|line| line.starts_with('&')).collect();
    assert!(lines.iter().all(|line| line.starts_with("& ")), "a kind differs between versions");
    assert!(lines.len() > 100, "{} kinds", lines.len());
    assert_eq!(kubernetes::kinds().count(), lines.len());
    let mut plurals: BTreeMap<(&str, &str), BTreeSet<(&str, bool)>> = BTreeMap::new();
    for kind in kubernetes::kinds() {
        plurals.entry((kind.group, kind.name)).or_default().insert((kind.plural, kind.namespaced));
    }
    assert!(plurals.values().all(|plurals| plurals.len() == 1), "{plurals:?}");
}

#[test]
fn takes_the_version_that_the_build_asks_for() {
    let open = "k8s-openapi = \"0.29\"";
    let with = |feature: &str| format!("k8s-openapi = {{ version = \"0.29\", features = [\"{feature}\"] }}");
    let named = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n[dependencies]\n{rest}\n");
    let package = |rest: &str| named("p", rest);

    for (feature, minor) in [("latest", "1.37"), ("v1_36", "1.36"), ("earliest", "1.33")] {
        assert_eq!(version(&[("Cargo.toml", &package(&with(feature)))]), Ok(minor.into()));
    }
    let features = "[features]\ndefault = [\"newest\"]\nnewest = [\"k8s-openapi/v1_34\"]";
    assert_eq!(version(&[("Cargo.toml", &package(&format!("{open}\n{features}")))]), Ok("1.34".into()));

    let renamed = "k8s_openapi = { package = \"k8s-openapi\", version = \"0.29\", features = [\"v1_35\"] }";
    let inherited = format!("k8s_openapi.workspace = true\n[workspace.dependencies]\n{renamed}");
    assert_eq!(version(&[("Cargo.toml", &package(&inherited))]), Ok("1.35".into()));

    let using = package(&format!("{open}\nlib = {{ path = \"lib\" }}"));
    assert_eq!(version(&[("Cargo.toml", &using), ("lib/Cargo.toml", &package(&with("v1_35")))]), Ok("1.35".into()));

    // For a library, the features of its own tests apply, unless a binary uses it. Binaries that do not use it are
    // ignored.
    let library = package(&format!("{open}\n[dev-dependencies]\n{}", with("latest")));
    assert_eq!(version(&[("Cargo.toml", &library)]), Ok("1.37".into()));
    let workspace = [
        ("Cargo.toml", &*library),
        ("../Cargo.toml", "[workspace]\nmembers = [\"here\", \"run\", \"other\"]"),
        ("../run/Cargo.toml", &named("run", &format!("p = {{ path = \"../here\" }}\n{}", with("v1_36")))),
        ("../other/Cargo.toml", &named("other", &with("v1_33"))),
    ];
    assert_eq!(version(&workspace), Ok("1.36".into()));

    let set = "[env]\nK8S_OPENAPI_ENABLED_VERSION = { value = \"1.34\", force = true }";
    let configured = [("Cargo.toml", &*package(open)), (".cargo/config.toml", set)];
    assert_eq!(version(&configured), Ok("1.34".into()));

    let refused = |dependency: &str| version(&[("Cargo.toml", &package(dependency))]).unwrap_err();
    assert_eq!(refused(open), "no Cargo.toml selects a Kubernetes version for k8s-openapi");
    let asks = "two Kubernetes versions are selected, 1.35 and 1.37, but k8s-openapi supports only one at a time";
    assert_eq!(refused(&with("latest\", \"v1_35")), asks);
    let carries = format!("and opctl carries the types of {}", versions::range("k8s-openapi"));
    assert_eq!(refused("k8s-openapi = \"0.25.1\""), format!("this package uses k8s-openapi 0.25.1, {carries}"));
    assert_eq!(refused(&with("v1_30")), "k8s-openapi 0.29.0 has no feature `v1_30`");

    let earlier = |feature: &str| with(feature).replace("0.29", "0.26");
    for (feature, minor) in [("latest", "1.34"), ("earliest", "1.30")] {
        assert_eq!(version(&[("Cargo.toml", &package(&earlier(feature)))]), Ok(minor.into()));
    }
}

/// The version of Kubernetes whose `PodSpec` a package uses, or the single diagnostic.
fn version(files: &[(&str, &str)]) -> Result<String, String> {
    let mut tree = Tree::at("nowhere/here");
    for (path, text) in files {
        tree.lay_over(*path, *text);
    }
    tree.lay_over("src/lib.rs", USER);
    let Source { operator, diagnostics, .. } = source::read(&tree, "");
    if let [said] = diagnostics.as_slice() {
        assert_eq!(said.code.name, "OP017");
        return Err(said.message.clone());
    }
    assert!(diagnostics.is_empty(), "{}", diagnostic::render(&diagnostics, false));
    let read = &operator.apis[0].schema.as_ref().unwrap()["properties"]["spec"]["properties"]["field"];
    let same = |minor: &Minor| {
        let pod = kubernetes::find(*minor, "api::core::v1::PodSpec").unwrap().schema().unwrap();
        pod.as_value() == read
    };
    let same: Vec<Minor> = Minor::all().into_iter().filter(same).collect();
    let numbers: BTreeSet<u8> = same.iter().map(|minor| minor.number()).collect();
    assert_eq!(numbers.len(), 1, "`PodSpec` is another one in each version");
    Ok(same[0].to_string())
}

#[test]
fn refuses_types_that_no_crd_can_have() {
    let code = |ty: &str| {
        let mut tree = Tree::at("nowhere");
        tree.lay_over("Cargo.toml", manifest("oracle"));
        tree.lay_over("src/lib.rs", USER.replace("api::core::v1::PodSpec", ty));
        source::read(&tree, "").diagnostics.iter().map(|said| said.code.name).collect::<Vec<_>>()
    };
    // The type contains itself.
    assert_eq!(code("apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps")[0], "OP015");
    // The type does not implement `JsonSchema`.
    assert_eq!(code("ByteString")[0], "OP019");
    // Kubernetes 1.33 has this type, 1.37 does not.
    assert_eq!(code("api::networking::v1beta1::IPAddress")[0], "OP011");
}

/// Two fields, since a problem of Cargo.toml is reported once.
const USER: &str = "#[derive(kube::CustomResource, schemars::JsonSchema)]\n\
    #[kube(group = \"example.com\", version = \"v1\", kind = \"K\")]\n\
    struct Spec { field: k8s_openapi::api::core::v1::PodSpec, second: k8s_openapi::api::core::v1::PodSpec }\n";

/// The `src` folders of the releases of k8s-openapi. Several manifests are necessary, since cargo would only use the
/// latest compatible release.
fn sources() -> BTreeMap<Release, PathBuf> {
    let manifests =
        ["first", "last"].map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes_types").join(name));
    let mut sources = BTreeMap::new();
    for folder in manifests {
        let metadata = common::output(common::cargo(&folder, &["metadata", "--format-version", "1", "--locked"]));
        let metadata: Value = serde_json::from_str(&metadata).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        for package in packages.iter().filter(|package| package["name"] == "k8s-openapi") {
            let release = Release::parse(package["version"].as_str().unwrap()).unwrap();
            let manifest = Path::new(package["manifest_path"].as_str().unwrap());
            sources.insert(release, manifest.with_file_name("src"));
        }
    }
    assert_eq!(sources.keys().copied().collect::<Vec<_>>(), versions::known("k8s-openapi"));
    sources
}

/// A type of one version, as lines of the table, by name.
type Type = BTreeMap<String, Line>;

/// The property is required, and its JSON.
type Line = (bool, Value);

/// The types below a folder of k8s-openapi, by path.
fn types(folder: &Path) -> BTreeMap<String, Type> {
    let mut files = BTreeMap::new();
    read(folder, "", &mut files);
    // The file is next to the folders of the versions.
    files.insert("ByteString".into(), "#[derive(Default)]\npub struct ByteString(pub std::string::String);\n".into());
    files.keys().map(|path| (path.clone(), lines(path, &files))).collect()
}

/// Files by the path of their type: module and name, since the modules of single types are private.
fn read(folder: &Path, module: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() {
            read(&path, &format!("{module}{name}::"), files);
        } else if name != "mod" {
            let text = fs::read_to_string(&path).unwrap();
            let declared = text.lines().find_map(|line| {
                let name = line.strip_prefix("pub struct ").or(line.strip_prefix("pub enum "))?;
                Some(name.split(|letter: char| !letter.is_alphanumeric()).next().unwrap().to_string())
            });
            let declared = declared.unwrap_or_else(|| panic!("no type in {}", path.display()));
            // The default of a list depends on its type parameter, and it has no schema.
            if declared != "List" {
                files.insert(format!("{module}{declared}"), text);
            }
        }
    }
}

/// The lines of a type: `*` its schema, `=` its default, `&` its kind, and its properties.
fn lines(path: &str, files: &BTreeMap<String, String>) -> Type {
    let mut lines = Type::new();
    if let Some(mut schema) = schema(&files[path]) {
        let required = schema.remove("required").unwrap_or(json!([]));
        let required: BTreeSet<&str> = required.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let Value::Object(properties) = schema.remove("properties").unwrap_or(json!({})) else { panic!("{path}") };
        for (name, property) in properties {
            assert!(!name.contains([' ', '!', '@', '*', '=', '&']), "{path}: the table cannot say `{name}`");
            lines.insert(name.clone(), (required.contains(name.as_str()), property));
        }
        lines.insert("*".into(), (false, schema.into()));
    }
    lines.extend(default(path, files).map(|default| ("=".into(), (false, default))));
    lines.extend(kind(&files[path]).map(|kind| ("&".into(), (false, kind))));
    lines
}

/// The `impl Resource` of a kind; `None` for subresources, and for types without a collection, such as `Status`.
fn kind(text: &str) -> Option<Value> {
    let (_, text) = text.split_once("impl crate::Resource for ")?;
    let (text, _) = text.split_once("\n}\n").unwrap();
    let constant = |name: &str| {
        let (_, value) = text.split_once(&format!("const {name}: &'static str = \"")).unwrap();
        value.split_once('"').unwrap().0
    };
    let (_, scope) = text.split_once("type Scope = crate::").unwrap();
    let namespaced = match scope.split_once(';').unwrap().0 {
        "NamespaceResourceScope" => true,
        "ClusterResourceScope" => false,
        "SubResourceScope" => return None,
        scope => panic!("`{scope}` is a new scope"),
    };
    let [group, version, name, plural] = ["GROUP", "VERSION", "KIND", "URL_PATH_SEGMENT"].map(constant);
    (!plural.is_empty()).then(|| json!([group, version, name, plural, namespaced]))
}

/// The single `json_schema!({…})` of a file; a reference to another type is `{"$ref": path}`.
fn schema(text: &str) -> Option<Map<String, Value>> {
    let (_, text) = text.split_once("impl crate::schemars::JsonSchema for ")?;
    let (_, text) = text.split_once("json_schema!(").unwrap();
    let (text, _) = text.split_once("\n        })\n").unwrap();
    let tokens: TokenStream = format!("{text}}}").parse().unwrap();
    match value(tokens.into_iter().collect()) {
        Value::Object(schema) => Some(schema),
        other => panic!("not an object: {other}"),
    }
}

/// A value in `json_schema!`, from the tokens between two commas.
fn value(tokens: Vec<TokenTree>) -> Value {
    match tokens.as_slice() {
        [TokenTree::Literal(_) | TokenTree::Ident(_)] => literal(&tokens[0]),
        [TokenTree::Group(group)] => match group.delimiter() {
            Delimiter::Brace => {
                let members = commas(group.stream()).into_iter().map(|mut member| {
                    let value = value(member.split_off(2));
                    (literal(&member[0]).as_str().unwrap().to_string(), value)
                });
                Value::Object(members.collect())
            }
            Delimiter::Bracket => commas(group.stream()).into_iter().map(value).collect::<Vec<_>>().into(),
            _ => expression(&compact(group.stream())),
        },
        _ => expression(&compact(tokens.into_iter().collect())),
    }
}

/// The two forms with a subschema: a type, and a type with another description.
fn expression(text: &str) -> Value {
    let ask = |text: &str| {
        let path = text.strip_prefix("__gen.subschema_for::<crate::")?.strip_suffix(">()")?;
        Some(json!({ "$ref": path }))
    };
    let described = || {
        let (ty, rest) = text.strip_prefix("{letmutschema_obj=")?.split_once(';')?;
        let description = rest
            .strip_prefix("schema_obj.ensure_object().insert(\"description\".into(),")?
            .strip_suffix(".into());schema_obj}")?;
        let mut value = ask(ty)?;
        value["description"] = literal(&description.parse::<TokenStream>().ok()?.into_iter().next()?);
        Some(value)
    };
    ask(text).or_else(described).unwrap_or_else(|| panic!("`{text}` is a new form of k8s-openapi's schemas"))
}

fn literal(token: &TokenTree) -> Value {
    match token.to_string().as_str() {
        "true" => true.into(),
        text => syn::parse_str::<syn::LitStr>(text).unwrap().value().into(),
    }
}

fn commas(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    tokens.split(is_comma).filter(|part| !part.is_empty()).map(<[TokenTree]>::to_vec).collect()
}

/// Tokens without whitespace.
fn compact(tokens: TokenStream) -> String {
    let token = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::None => ("", ""),
            };
            format!("{open}{}{close}", compact(group.stream()))
        }
        token => token.to_string(),
    };
    tokens.into_iter().map(token).collect()
}

/// The serialized default of the type; `None` if it does not implement `Default`.
fn default(path: &str, files: &BTreeMap<String, String>) -> Option<Value> {
    let text = &files[path];
    let name = path.rsplit("::").next().unwrap();
    if path == "apimachinery::pkg::util::intstr::IntOrString" {
        assert!(text.contains("fn default() -> Self {\n        IntOrString::Int(0)\n    }"));
        return Some(json!(0));
    }
    assert!(!text.contains("impl Default for"), "{path} has a `Default` of its own");
    let (before, declaration) = text.split_once(&format!("pub struct {name}"))?;
    if !before.lines().last()?.contains(" Default,") && !before.lines().last()?.contains("(Default") {
        return None;
    }
    if let Some(inner) = declaration.strip_prefix("(pub ") {
        return Some(default_of(inner.split_once(");").unwrap().0, files));
    }
    let (_, serialize) = text.split_once(&format!("Serialize for {name} {{")).unwrap();
    let (serialize, _) = serialize.split_once("\n}\n").unwrap();
    let constant = |name: &str| {
        let (_, value) = text.split_once(&format!("const {name}: &'static str = \"")).unwrap();
        value.split_once('"').unwrap().0.to_string()
    };
    let mut value = json!({});
    for line in serialize.lines() {
        let Some((_, field)) = line.split_once("serialize_field(&mut state, \"") else { continue };
        let (key, field) = field.strip_suffix(")?;").unwrap().split_once("\", ").unwrap();
        value[key] = match field {
            // An optional field, in `if let Some(value) = …`.
            "value" => continue,
            "<Self as crate::Resource>::API_VERSION" => constant("API_VERSION").into(),
            "<Self as crate::Resource>::KIND" => constant("KIND").into(),
            field => {
                let field = field.strip_prefix("&self.").unwrap();
                let (_, ty) = declaration.split_once(&format!("\n    pub {field}: ")).unwrap();
                default_of(ty.split_once(",\n").unwrap().0, files)
            }
        };
    }
    Some(value)
}

fn default_of(ty: &str, files: &BTreeMap<String, String>) -> Value {
    match ty.split('<').next().unwrap() {
        "std::string::String" => json!(""),
        "bool" => json!(false),
        "i32" | "i64" => json!(0),
        "crate::serde_json::Value" => json!(null),
        "std::vec::Vec" => json!([]),
        "std::collections::BTreeMap" => json!({}),
        path => default(path.strip_prefix("crate::").unwrap(), files).unwrap_or_else(|| panic!("{ty} has no default")),
    }
}

/// The text of the table: unique lines, with the versions that have them.
fn table(versions: &[(Minor, BTreeMap<String, Type>)]) -> String {
    let every: Vec<Minor> = versions.iter().map(|(minor, _)| *minor).collect();
    let paths: BTreeSet<&String> = versions.iter().flat_map(|(_, types)| types.keys()).collect();
    let mut table = String::from(
        "# The types of k8s-openapi for each version of Kubernetes; see crates/source/src/known/kubernetes.rs.\n\
         # `SNAPSHOTS=overwrite cargo test --test thorough kubernetes_types` makes this file.\n",
    );
    for path in paths {
        let having: Vec<(Minor, &Type)> =
            versions.iter().filter_map(|(minor, types)| Some((*minor, types.get(path)?))).collect();
        let all: Vec<Minor> = having.iter().map(|(minor, _)| *minor).collect();
        writeln!(table, "\n{path}{}", ranges(&all, &every, &every)).unwrap();
        // Lines by name, with differing versions in order.
        let mut lines: BTreeMap<&String, Vec<(&Line, Vec<Minor>)>> = BTreeMap::new();
        for (minor, ty) in having {
            for (name, line) in ty {
                let variants = lines.entry(name).or_default();
                match variants.iter_mut().find(|(known, _)| *known == line) {
                    Some((_, minors)) => minors.push(minor),
                    None => variants.push((line, vec![minor])),
                }
            }
        }
        for (name, variants) in lines {
            for ((required, value), having) in variants {
                let required = if *required { "!" } else { "" };
                writeln!(table, "{name}{required}{} {}", ranges(&having, &all, &every), ascii(value)).unwrap();
            }
        }
    }
    table
}

/// The ranges of versions in `having`, as a subset of `of`. Ends that equal those of `of` are omitted.
fn ranges(having: &[Minor], of: &[Minor], every: &[Minor]) -> String {
    if having == of {
        return String::new();
    }
    let is_first = |at: usize| at == 0 || every[at - 1].number() != every[at].number();
    let is_last = |at: usize| at + 1 == every.len() || every[at + 1].number() != every[at].number();
    let end = |at: usize, is_whole: bool| match every[at] {
        minor if is_whole => minor.number().to_string(),
        minor => format!("{}:{}.{}", minor.number(), minor.release().1, minor.release().2),
    };
    let mut ranges: Vec<String> = Vec::new();
    let mut rest = every.iter().enumerate().filter(|(_, minor)| of.contains(minor)).peekable();
    while let Some((start, _)) = rest.find(|(_, minor)| having.contains(minor)) {
        let mut last = start;
        while let Some((at, _)) = rest.next_if(|(_, minor)| having.contains(minor)) {
            last = at;
        }
        let is_open = (every[start] == of[0], every[last] == of[of.len() - 1]);
        let first = if is_open.0 { String::new() } else { end(start, is_first(start)) };
        let last = if is_open.1 { String::new() } else { end(last, is_last(last)) };
        ranges.push(format!("{first}-{last}"));
    }
    format!("@{}", ranges.join(","))
}

/// JSON in ASCII, so that the table can be sliced at any byte.
fn ascii(value: &Value) -> String {
    let mut text = String::new();
    for letter in value.to_string().encode_utf16() {
        match u8::try_from(letter) {
            Ok(letter @ 0..=127) => text.push(letter.into()),
            _ => write!(text, "\\u{letter:04x}").unwrap(),
        }
    }
    text
}
