//! opctl and a real API server agree about CRDs: the cases of each rule, and all CRDs of the engine's cases.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl_model::Api;
use opctl_model::diagnostic::Severity;
use opctl_model::project::Tree;
use opctl_schema::apiserver::{self, Finding};
use opctl_source as source;
use opctl_source::emit;
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::crds::{Case, MANIFEST, cases, codes, crd_of, schema};

#[test]
fn the_api_server_says_the_same() {
    let Some(cluster) = ControlPlane::start("what an API server says", 0) else { return };
    let of_the_engine = of_the_engine().into_iter().map(|crd| Case { crd, code: None, text: String::new() });
    let all: BTreeMap<String, Case> =
        cases().into_iter().chain(of_the_engine).map(|case| (name(&case.crd), case)).collect();
    let said = say(&cluster, all.values().map(|case| &case.crd));
    let mut wrong = String::new();
    let mut formats = BTreeSet::new();
    for (name, Case { crd, code, text }) in &all {
        let findings = apiserver::check(crd);
        // `cel.rs` covers the validation of CEL rules.
        let has_rules = json!(crd).to_string().contains("x-kubernetes-validations");
        if is_refused(&findings) == said.accepted.contains(name) && !(text.is_empty() && has_rules) {
            let refusals: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
            let server = said.refused(name);
            writeln!(wrong, "{name} {code:?}\n  {text}\n  found {refusals:?}\n  the API server says: {server}")
                .unwrap();
        }
        if said.accepted.contains(name) {
            let unknown = findings.iter().filter(|finding| finding.code.name == "OP329");
            formats.extend(unknown.map(|finding| finding.message.split('`').nth(3).unwrap().to_owned()));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(formats, said.formats, "unrecognized formats");
}

/// Random schemas, most of which are nearly valid.
#[test]
fn the_api_server_agrees_about_random_schemas() {
    let count = env::var("OPCTL_SCHEMAS").map_or(300, |count| count.parse().unwrap());
    let Some(cluster) = ControlPlane::start("random schemas", 0) else { return };
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let base = json!(crd_of("struct S { x: String }", "random.example.com"));
    let crds: Vec<CustomResourceDefinition> = (0..count)
        .map(|index| {
            let mut crd = base.clone();
            schema(&mut crd)["properties"]["spec"]["properties"]["x"] = random.schema(3);
            crd["spec"]["names"]["plural"] = format!("ks{index}").into();
            crd["metadata"]["name"] = format!("ks{index}.random.example.com").into();
            serde_json::from_value(crd).unwrap()
        })
        .collect();
    let said = say(&cluster, crds.iter());
    let mut wrong = String::new();
    for crd in &crds {
        let findings = apiserver::check(crd);
        if is_refused(&findings) == said.accepted.contains(&name(crd)) {
            let x =
                json!(crd.spec.versions[0].schema)["openAPIV3Schema"]["properties"]["spec"]["properties"]["x"].clone();
            let refusals: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
            let server = said.refused(&name(crd));
            writeln!(wrong, "{x}\n  found {refusals:?}\n  the API server says: {server}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let share = said.accepted.len() * 100 / crds.len();
    assert!((20..80).contains(&share), "{share} % of the schemas are accepted: these say little");
}

/// Reproducible random numbers (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    pub fn one_of<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    fn schema(&mut self, depth: usize) -> Value {
        let types = ["string", "string", "integer", "number", "boolean", "array", "object", "object"];
        let type_ = if depth == 0 { self.one_of(&types[..5]) } else { self.one_of(&types) };
        let mut schema = json!({"type": type_});
        match type_ {
            "array" if self.below(20) > 0 => schema["items"] = self.schema(depth - 1),
            "object" => {
                if self.below(3) > 0 {
                    for name in ["a", "b", "metadata"].iter().take(self.below(4)) {
                        schema["properties"][*name] = self.schema(depth - 1);
                    }
                } else {
                    schema["additionalProperties"] = self.schema(depth - 1);
                }
            }
            _ => {}
        }
        for _ in 0..self.below(3) {
            self.restrict(&mut schema, type_);
        }
        if self.below(4) == 0 {
            schema["default"] = self.value(&schema);
        }
        if self.below(40) == 0 {
            schema.as_object_mut().unwrap().remove("type");
        }
        if self.below(8) == 0 {
            let mut inner = json!({});
            self.restrict(&mut inner, type_);
            let word = self.one_of(&["anyOf", "allOf", "oneOf"]);
            schema[word] = json!([inner, {"enum": ["a", 1]}]);
        }
        schema
    }

    fn restrict(&mut self, schema: &mut Value, type_: &str) {
        let of_type: Vec<(&str, Value)> = match type_ {
            "string" => vec![
                ("minLength", json!(self.below(3))),
                ("maxLength", json!(self.below(3))),
                ("pattern", self.one_of(&["^a", "[a", "a{", "^[0-9]+$", "(?i)A", "a|b", "\\\\d"]).into()),
                (
                    "format",
                    self.one_of(&["ipv4", "date", "date-time", "duration", "uuid", "ipv6", "ip", "cidr"]).into(),
                ),
                ("enum", json!(["a", "b"])),
            ],
            "integer" | "number" => vec![
                ("minimum", json!(self.one_of(&[-1.0, 0.0, 0.5, 1.0, 3e9]))),
                ("maximum", json!(self.one_of(&[1.0, 2.0, 2.5, 3e9]))),
                ("exclusiveMinimum", true.into()),
                ("exclusiveMaximum", true.into()),
                ("multipleOf", json!(self.one_of(&[1.0, 2.0, 0.5, 0.0]))),
                ("format", self.one_of(&["int32", "int64", "float", "double", "uint8"]).into()),
                ("enum", json!([1, 2.5])),
            ],
            "array" => vec![
                ("minItems", json!(self.below(3))),
                ("maxItems", json!(self.below(3))),
                ("uniqueItems", json!(self.below(4) == 0)),
                ("x-kubernetes-list-type", self.one_of(&["set", "map", "atomic"]).into()),
                ("x-kubernetes-list-map-keys", json!(["a"])),
            ],
            "object" => vec![
                ("minProperties", json!(self.below(3))),
                ("maxProperties", json!(self.below(3))),
                ("required", json!(["a"])),
                ("x-kubernetes-map-type", self.one_of(&["atomic", "granular"]).into()),
                ("x-kubernetes-preserve-unknown-fields", true.into()),
                ("x-kubernetes-embedded-resource", json!(self.below(4) == 0)),
            ],
            _ => vec![("nullable", true.into()), ("enum", json!([true]))],
        };
        let (word, value) = if self.below(8) == 0 { ("nullable", true.into()) } else { self.one_of(&of_type) };
        schema[word] = value;
    }

    /// A value, which usually has the type of the schema.
    fn value(&mut self, schema: &Value) -> Value {
        let texts = ["", "a", "ab", "1", "1.2.3.4", "::1", "2020-01-01", "2020-01-01T10:00:00Z", "10s", "1.2.3.4/8"];
        match schema["type"].as_str() {
            _ if self.below(20) == 0 => self.one_of(&[json!("a"), json!(1), json!([]), json!({}), json!({"a": null})]),
            Some("string") => self.one_of(&texts).into(),
            Some("integer") => {
                self.one_of(&[json!(0), json!(1), json!(2), json!(-1), json!(1.0), json!(4_000_000_000_u64)])
            }
            Some("number") => self.one_of(&[json!(0), json!(1), json!(2.5), json!(1.0), json!(1e300)]),
            Some("array") => (0..self.below(3)).map(|_| self.value(&schema["items"])).collect::<Vec<_>>().into(),
            Some("object") => {
                let mut object = json!({});
                for name in ["a", "b", "c"].iter().take(self.below(4)) {
                    let inner = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
                    if !inner.is_null() || self.below(10) == 0 {
                        object[name] = self.value(inner);
                    }
                }
                object
            }
            _ => self.one_of(&[true, false]).into(),
        }
    }
}

/// Tests sizes at the limit, and one byte above.
#[test]
fn the_api_server_has_the_same_limits_of_size() {
    let of_size = |padding: usize| {
        let mut crd = crd_of("struct S { #[schemars(range(max = 65535))] x: i32 }", "size.example.com");
        let schema = crd.spec.versions[0].schema.as_mut().unwrap().open_api_v3_schema.as_mut().unwrap();
        schema.description = Some(format!("<&>{}", "a".repeat(padding)));
        crd
    };
    // The first padding that exceeds the limit.
    let limit = |code: &str| {
        let (mut fits, mut does_not) = (0, 2_000_000);
        while does_not - fits > 1 {
            let padding = usize::midpoint(fits, does_not);
            let side =
                if codes(&apiserver::check(&of_size(padding))).contains(code) { &mut does_not } else { &mut fits };
            *side = padding;
        }
        does_not
    };
    let for_kubectl = limit("OP330");
    assert!(codes(&apiserver::check(&of_size(for_kubectl - 1))).is_empty());
    let for_etcd = limit("OP331");

    let Some(cluster) = ControlPlane::start("how large a CRD may be", 0) else { return };
    let json = |padding: usize| serde_json::to_string(&of_size(padding)).unwrap();
    let apply = ["apply", "--dry-run=server", "-f", "-"];
    cluster.kubectl(&apply, &json(for_kubectl - 1));
    assert!(!cluster.run(&apply, &json(for_kubectl)).status.success());
    cluster.kubectl(&["apply", "--server-side", "--dry-run=server", "-f", "-"], &json(for_kubectl));
    // Only preserved fields are stored in etcd, with some fields that the API server adds.
    assert!(!cluster.run(&["create", "-f", "-"], &json(for_etcd)).status.success());
    cluster.kubectl(&["create", "-f", "-"], &json(for_etcd - 2048));
}

/// The CRDs of the cases in `tests/engine`, each in a group of its own.
fn of_the_engine() -> Vec<CustomResourceDefinition> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine");
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", MANIFEST);
    tree.lay_over("src/words.md", "Words from a file.\n");
    let mut modules = String::new();
    for entry in walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().map(Result::unwrap) {
        let path = entry.path().strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let Some(case) = path.strip_suffix(".rs") else { continue };
        if case.starts_with("refused/") || case.starts_with("panics/") {
            continue;
        }
        tree.lay_over(format!("src/{path}"), fs::read_to_string(entry.path()).unwrap());
        match case.split_once('/') {
            Some((topic, case)) => writeln!(modules, "mod {topic} {{ mod {case}; }}").unwrap(),
            None => writeln!(modules, "mod {case};").unwrap(),
        }
    }
    tree.lay_over("src/lib.rs", modules);
    // `engine.rs` checks that all of them can be derived.
    let mut by_file: BTreeMap<String, Vec<Api>> = BTreeMap::new();
    for api in source::read(&tree, "").operator.apis {
        by_file.entry(api.span.file.path.clone()).or_default().push(api);
    }
    let mut crds = Vec::new();
    for (index, mut apis) in by_file.into_values().enumerate() {
        apis.iter_mut().for_each(|api| api.group = format!("case{index}.{}", api.group));
        crds.extend(emit::crds(&apis).unwrap_or_default());
    }
    assert!(crds.len() > 5, "these are not the engine's cases");
    crds
}

fn name(crd: &CustomResourceDefinition) -> String {
    crd.metadata.name.clone().unwrap()
}

/// The results of an API server for many CRDs.
struct Said {
    accepted: BTreeSet<String>,
    /// The unrecognized formats of accepted CRDs.
    formats: BTreeSet<String>,
    stderr: String,
}

impl Said {
    fn refused(&self, name: &str) -> &str {
        let line = self.stderr.lines().find(|line| line.contains(&format!("\"{name}\"")));
        line.unwrap_or("nothing")
    }
}

/// Validates CRDs with a dry run.
fn say<'a>(cluster: &ControlPlane, crds: impl Iterator<Item = &'a CustomResourceDefinition>) -> Said {
    let folder = cluster.folder.join("crds");
    fs::create_dir_all(&folder).unwrap();
    for (index, crd) in crds.enumerate() {
        fs::write(folder.join(format!("{index}.json")), serde_json::to_string(crd).unwrap()).unwrap();
    }
    // Server-side apply rejects everything that `create` rejects, and duplicate keys of lists.
    let arguments = ["apply", "--server-side", "--dry-run=server", "-f", folder.to_str().unwrap()];
    let output = cluster.run(&arguments, "");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let accepted =
        stdout.lines().filter_map(|line| Some(line.split_once('/')?.1.split_once(" serverside-applied")?.0.to_owned()));
    let formats = stderr.lines().filter_map(|line| {
        let (_, format) = line.strip_prefix("Warning: ")?.split_once("unrecognized format ")?;
        Some(format.trim_matches('"').to_owned())
    });
    Said { accepted: accepted.collect(), formats: formats.collect(), stderr: stderr.clone() }
}

fn is_refused(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
