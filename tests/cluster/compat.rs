//! The changes that `opctl manifests --against` reports predict the behavior of an API server for stored objects.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl_model::diagnostic::Severity;
use opctl_schema::apiserver;
use opctl_schema::compat::{self, Change, Impact, Victim};
use serde_json::{Value, json};
use snapbox::{Assert, Data};

use crate::api::Api;
use crate::control_plane::ControlPlane;
use crate::formats;
use crate::object::crd;
use crate::sandbox::Sandbox;

/// A change of the field `spec.a`, and an object that was valid before.
struct Case {
    old: Value,
    new: Value,
    spec: Value,
}

/// The behavior of an API server after the CRD was replaced.
#[derive(Debug, Default)]
struct Answers {
    /// The stored object is returned unchanged.
    reads: bool,
    /// A label and the status can be changed.
    labels: bool,
    /// Another field can be changed.
    updates: bool,
    /// The same object can be created again.
    creates: bool,
}

/// `OPCTL_RANDOM_CHANGES` is the number of changes, `OPCTL_RANDOM_SEED` the seed. A summary is printed on stderr.
#[test]
fn what_is_said_of_a_change_is_what_an_api_server_does() {
    let Some(cluster) = ControlPlane::start("compat", 0) else { return };
    let mut api = Api::of(&cluster);
    let number = |name: &str, default| std::env::var(name).map_or(default, |number| number.parse().unwrap());
    let many = usize::try_from(number("OPCTL_RANDOM_CHANGES", 100)).unwrap();
    let seed = number("OPCTL_RANDOM_SEED", 1);
    let mut random = Random(seed);
    let (mut tried, mut broken, mut without_harm, mut wrong) = (0, 0, 0, Vec::new());
    while tried < many {
        let cases: Vec<Case> = (0..50).map(|_| random.case()).filter(is_possible).collect();
        for (case, answers) in cases.iter().zip(ask(&cluster, &mut api, &cases, tried)) {
            let changes = compat::compare(&[whole("Case", &case.old)], &[whole("Case", &case.new)]);
            wrong.extend(disagreement(case, &answers, &changes));
            let is_fine = answers.reads && answers.labels && answers.updates && answers.creates;
            let is_breaking = changes.iter().any(|change| change.impact >= Impact::Breaking);
            broken += usize::from(!is_fine);
            without_harm += usize::from(is_fine && is_breaking);
        }
        tried += cases.len();
    }
    eprintln!("seed {seed}: {tried} changes, {broken} of which broke the object; {without_harm} breaking ones did not");
    assert!(wrong.is_empty(), "seed {seed}, {} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried / 10 < broken && broken < tried * 9 / 10);
}

/// Records the values that an API server accepts for each type and format, with `SNAPSHOTS=overwrite`, for
/// `cargo test --test thorough compat`.
#[test]
fn formats_accept_the_values_that_are_recorded() {
    let Some(cluster) = ControlPlane::start("formats", 0) else { return };
    let mut api = Api::of(&cluster);
    let fields: Vec<(String, &str, &str)> = formats::TYPES
        .into_iter()
        .flat_map(|name| formats::FORMATS.map(|format| (name, format)))
        .enumerate()
        .map(|(number, (name, format))| (format!("f{number}"), name, format))
        .collect();
    let properties: Value =
        fields.iter().map(|(field, name, format)| (field.clone(), formats::schema(name, format))).collect();
    let spec = json!({ "type": "object", "properties": properties });
    let schema = json!({ "type": "object", "properties": { "spec": spec } });
    cluster.kubectl(&["create", "-f", "-"], &crd("Format", &schema).to_string());
    cluster.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"], "");
    let path = "/apis/objects.example.com/v1/namespaces/default/formats?dryRun=All";
    let key = |name: &str, format: &str| (name.to_owned(), format.to_owned());
    let mut accepted: formats::Accepted =
        fields.iter().map(|(_, name, format)| (key(name, format), BTreeSet::new())).collect();
    for value in formats::values() {
        let spec: Value = fields.iter().map(|(field, ..)| (field.clone(), value.clone())).collect();
        let answer = eventually(|| {
            let answer = api.post(path, &object("Format", "one", &spec));
            if answer["kind"] != "Status" || answer["reason"] == "Invalid" { Ok(answer) } else { Err(answer) }
        });
        // Errors about ranges of numbers have no `field`:
        // `Checked value must be of type integer with format int32 in spec.f9`.
        let causes = answer["details"]["causes"].as_array().into_iter().flatten();
        let refused: Vec<&str> = causes
            .map(|cause| ["field", "message"].map(|key| cause[key].as_str().unwrap()))
            .filter_map(|texts| texts.into_iter().find_map(|text| Some(text.split_once("spec.")?.1)))
            .map(|place| place.split(|letter: char| !letter.is_alphanumeric()).next().unwrap())
            .collect();
        for (_, name, format) in fields.iter().filter(|(field, ..)| !refused.contains(&field.as_str())) {
            accepted.entry(key(name, format)).or_default().insert(value.to_string());
        }
    }
    Assert::new()
        .action_env("SNAPSHOTS")
        .eq(Data::text(recorded(&accepted)), Data::read_from(&formats::path(), None).raw());
}

/// The formats of each type, grouped by their accepted values. Formats that are not validated are in the group of
/// `none`.
fn recorded(accepted: &formats::Accepted) -> String {
    let mut texts = Vec::new();
    for name in formats::TYPES {
        let mut groups: Vec<(Vec<&str>, &BTreeSet<String>)> = Vec::new();
        for format in formats::FORMATS {
            let values = &accepted[&(name.to_owned(), format.to_owned())];
            let format = if format.is_empty() { "none" } else { format };
            match groups.iter_mut().find(|(_, known)| *known == values) {
                Some((formats, _)) => formats.push(format),
                None => groups.push((vec![format], values)),
            }
        }
        for (formats, values) in groups {
            let formats = formats.iter().map(|format| format!("{name}: {format}\n"));
            texts.push(formats.chain(values.iter().map(|value| format!("    {value}\n"))).collect::<String>());
        }
    }
    texts.join("\n")
}

/// Changes of CRDs that the API server rejects.
#[test]
fn changes_that_the_api_server_refuses_are_reported_as_such() {
    let Some(cluster) = ControlPlane::start("compat-crds", 0) else { return };
    let version = |name: &str, served: bool, storage: bool| {
        let schema = json!({ "openAPIV3Schema": { "type": "object" } });
        json!({ "name": name, "served": served, "storage": storage, "schema": schema, "subresources": { "status": {} } })
    };
    let mut old = crd("Site", &json!({ "type": "object" }));
    old["spec"]["versions"] = json!([version("v1", true, true), version("v2", true, false)]);
    cluster.kubectl(&["create", "-f", "-"], &old.to_string());
    cluster.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"], "");
    let live = cluster.kubectl(&["get", "crd", "sites.objects.example.com", "-o", "json"], "");
    let live: Value = serde_json::from_str(&live).unwrap();
    let changes: [(&str, Value); 14] = [
        ("/spec/scope", json!("Cluster")),
        ("/spec/names/kind", json!("Page")),
        ("/spec/names/plural", json!("pages")),
        ("/spec/names/singular", json!("page")),
        ("/spec/names/listKind", json!("Sites")),
        ("/spec/names/shortNames", json!(["s"])),
        ("/spec/names/categories", json!(["all"])),
        ("/spec/versions", json!([version("v2", true, true)])),
        ("/spec/versions", json!([version("v1", true, true)])),
        ("/spec/versions", json!([version("v1", false, true), version("v2", true, false)])),
        ("/spec/versions", json!([version("v1", true, false), version("v2", true, true)])),
        ("/spec/versions", json!([version("v1", true, true), version("v2", true, false), version("v3", true, false)])),
        ("/spec/versions/0/subresources", json!({})),
        ("/spec/versions/0/deprecated", json!(true)),
    ];
    let mut refused = 0;
    for (path, value) in changes {
        let mut new = live.clone();
        let (parent, field) = path.rsplit_once('/').unwrap();
        new.pointer_mut(parent).unwrap()[field] = value.clone();
        let answer = cluster.run(&["replace", "--dry-run=server", "-f", "-"], &new.to_string());
        let said = String::from_utf8_lossy(&answer.stderr).into_owned();
        let changes = compat::compare(std::slice::from_ref(&live), &[new]);
        let expected = changes.iter().any(|change| change.victims.contains(&Victim::ApiServer));
        refused += usize::from(!answer.status.success());
        assert_eq!(answer.status.success(), !expected, "{path} {value}: {said}\n{changes:?}");
    }
    assert_eq!(refused, 4, "scope, kind, plural and the stored version");
}

/// Compares changes with the CRDs and objects of a cluster.
#[test]
fn changes_are_compared_with_a_cluster_and_its_objects() {
    let Some(cluster) = ControlPlane::start("compat-live", 0) else { return };
    let mut sandbox = Sandbox::new();
    let run = |sandbox: &Sandbox, line: &str| -> (Option<i32>, String) {
        let mut command = sandbox.command("sh");
        command.args(["-c", line]).env("KUBECONFIG", &cluster.kubeconfig);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    run(&sandbox, "opctl init shop --domain example.com --api cache/v1/Memcached -q");
    sandbox.folder.push("shop");
    let types = sandbox.folder.join("src/api/cache/v1/memcached.rs");
    let text = std::fs::read_to_string(&types).unwrap();
    let field = "pub struct MemcachedSpec {\n    #[serde(default)]\n    pub suspend: bool,";
    let text = text.replacen("pub struct MemcachedSpec {", field, 1);
    std::fs::write(&types, &text).unwrap();
    run(&sandbox, "opctl manifests -q");
    let kubectl = cluster.kubectl.display();
    let against = format!("opctl manifests --against cluster --kubectl '{kubectl}'");
    let (code, said) = run(&sandbox, &against);
    assert_eq!(code, Some(0), "nothing is installed: {said}");
    cluster.kubectl(&["apply", "-f", sandbox.folder.join("config/crd/bases").to_str().unwrap()], "");
    cluster.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"], "");
    for (name, suspend) in [("one", true), ("two", false)] {
        let object = json!({
            "apiVersion": "cache.example.com/v1", "kind": "Memcached",
            "metadata": { "name": name, "namespace": "default" }, "spec": { "suspend": suspend },
        });
        eventually(|| {
            let output = cluster.run(&["create", "-f", "-"], &object.to_string());
            if output.status.success() { Ok(Value::Null) } else { Err(json!(String::from_utf8_lossy(&output.stderr))) }
        });
    }
    let (code, said) = run(&sandbox, &against);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("compared 1 CRD with the cluster: 0 breaking changes, 0 warnings"), "{said}");

    let rule = "#[schemars(extend(\"enum\" = [false]))]\n    pub suspend: bool,";
    let changed = text.replacen("pub suspend: bool,", rule, 1);
    assert_ne!(changed, text);
    std::fs::write(&types, changed).unwrap();
    let (code, said) = run(&sandbox, &against);
    assert_eq!(code, Some(1), "{said}");
    for part in [
        "error[OP603]: `Memcached` v1: `spec.suspend`",
        "error[OP611]",
        "1 object of 2 in the cluster",
        "default/one: ",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// The difference between the reported changes and the API server's behavior; `None` if they agree.
fn disagreement(case: &Case, answers: &Answers, changes: &[Change]) -> Option<String> {
    let hurts = |victim: Victim, least: Impact| {
        changes.iter().any(|change| change.impact >= least && change.victims.contains(&victim))
    };
    let what = if !answers.reads && !hurts(Victim::Stored, Impact::Note) {
        "is read differently"
    } else if !answers.labels && !hurts(Victim::Stored, Impact::Breaking) {
        "cannot be labelled, or its status changed"
    } else if !answers.updates && !hurts(Victim::Stored, Impact::Breaking) {
        "cannot be updated"
    } else if !answers.creates && !hurts(Victim::Writers, Impact::Warning) {
        "cannot be created"
    } else {
        return None;
    };
    Some(format!("{what}: {}\n  {}\n  {}\n  {changes:?}", case.spec, case.old, case.new))
}

fn whole(kind: &str, spec: &Value) -> Value {
    let metadata = json!({ "type": "object" });
    let status = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    crd(kind, &json!({ "type": "object", "properties": { "metadata": metadata, "spec": spec, "status": status } }))
}

/// `true` if the API server would accept both schemas, and the object under the old one.
fn is_possible(case: &Case) -> bool {
    let read = |spec: &Value| serde_json::from_value::<CustomResourceDefinition>(whole("Case", spec)).unwrap();
    let is_error = |severity: Severity| severity == Severity::Error;
    let sound = |spec: &Value| !apiserver::check(&read(spec)).iter().any(|finding| is_error(finding.severity));
    let object = object("Case", "one", &case.spec);
    sound(&case.old)
        && sound(&case.new)
        && !apiserver::check_object(&read(&case.old), &object).iter().any(|finding| is_error(finding.severity))
}

fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({ "apiVersion": "objects.example.com/v1", "kind": kind, "metadata": { "name": name }, "spec": spec })
}

/// Stores each object, replaces its CRD, and observes the API server's behavior.
fn ask(cluster: &ControlPlane, api: &mut Api, cases: &[Case], first: usize) -> Vec<Answers> {
    let kind = |number: usize| format!("Case{}", first + number);
    let path = |number: usize| format!("/apis/objects.example.com/v1/namespaces/default/case{}s", first + number);
    let documents = |spec: &dyn Fn(&Case) -> Value| -> String {
        let crds =
            cases.iter().enumerate().map(|(number, case)| format!("---\n{}\n", whole(&kind(number), &spec(case))));
        crds.collect()
    };
    cluster.kubectl(&["create", "-f", "-"], &documents(&|case| case.old.clone()));
    let mut before = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let object = object(&kind(number), "one", &case.spec);
        let answer = eventually(|| {
            let answer = api.post(&path(number), &object);
            (answer["kind"] != "Status").then_some(answer.clone()).ok_or(answer)
        });
        before.push(answer["spec"].clone());
    }
    // A field with a default indicates when the new schema is active.
    let probed = |case: &Case| {
        let mut spec = case.new.clone();
        spec["properties"]["probe"] = json!({ "type": "string", "default": "new" });
        spec
    };
    cluster.kubectl(&["replace", "-f", "-"], &documents(&probed));
    let ask = |(number, before): (usize, Value)| {
        let one = format!("{}/one", path(number));
        let after = eventually(|| {
            let mut answer = api.get(&one);
            let spec = answer["spec"].as_object_mut().unwrap();
            if spec.remove("probe").is_some() { Ok(Value::Object(spec.clone())) } else { Err(answer) }
        });
        let went_well = |answer: &Value| answer["kind"] != "Status";
        let labels = api.patch(&one, &json!({ "metadata": { "labels": { "changed": "yes" } } }));
        let status = api.patch(&format!("{one}/status"), &json!({ "status": { "phase": "Ready" } }));
        let updates = api.patch(&one, &json!({ "spec": { "b": "changed" } }));
        let other = object(&kind(number), "other", &cases[number].spec);
        let creates = api.post(&format!("{}?dryRun=All&fieldValidation=Strict", path(number)), &other);
        Answers {
            reads: after == before,
            labels: went_well(&labels) && went_well(&status),
            updates: went_well(&updates),
            creates: went_well(&creates),
        }
    };
    let answers = before.into_iter().enumerate().map(ask).collect();
    // An API server gets slower with the number of CRDs.
    cluster.kubectl(&["delete", "--wait=false", "-f", "-"], &documents(&probed));
    answers
}

/// Formats all numbers of a schema as floats.
fn respell(value: &mut Value) {
    match value {
        Value::Number(number) => *value = json!(number.as_f64()),
        Value::Array(items) => items.iter_mut().for_each(respell),
        Value::Object(map) => map.values_mut().for_each(respell),
        _ => {}
    }
}

fn eventually(mut ask: impl FnMut() -> Result<Value, Value>) -> Value {
    let mut last = Value::Null;
    for _ in 0..600 {
        match ask() {
            Ok(answer) => return answer,
            Err(answer) => last = answer,
        }
        sleep(Duration::from_millis(100));
    }
    panic!("{last}")
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()].clone()
    }

    fn maybe(&mut self) -> bool {
        self.below(2) == 0
    }

    /// A change of one field, and sometimes of the enclosing object.
    fn case(&mut self) -> Case {
        let (field, value) = self.field();
        let mut changed = field.clone();
        let mut old = json!({ "type": "object", "properties": { "b": { "type": "string" } } });
        let mut spec = json!({ "b": "old" });
        if self.below(4) > 0 {
            spec["a"] = value;
        }
        if self.below(4) == 0 {
            old["required"] = json!(["a"]);
        }
        let mut new = old.clone();
        for _ in 0..=self.below(2) {
            if self.below(3) > 0 { self.change_field(&mut changed) } else { self.change_spec(&mut new) }
        }
        old["properties"]["a"] = field;
        if new.get("gone").is_none() {
            new["properties"]["a"] = changed;
        } else {
            new.as_object_mut().unwrap().remove("gone");
            if let Some(required) = new.get_mut("required") {
                *required = json!([]);
            }
        }
        Case { old, new, spec }
    }

    /// A schema, and a value that often conforms to it.
    fn field(&mut self) -> (Value, Value) {
        let (mut schema, value) = self.one(&[
            (json!({ "type": "string" }), json!("abc")),
            (json!({ "type": "string", "enum": ["abc", "x"] }), json!("abc")),
            (json!({ "type": "string", "format": "date-time" }), json!("2026-01-02T03:04:05Z")),
            (json!({ "type": "string", "format": "uuid4" }), json!("6ba7b810-9dad-41d1-80b4-00c04fd430c8")),
            (json!({ "type": "string", "format": "ip" }), json!("10.0.0.1")),
            (json!({ "type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535 }), json!(65535)),
            (json!({ "type": "integer", "format": "uint32", "minimum": 0.0 }), json!(4_294_967_295_u64)),
            (json!({ "type": "integer", "format": "int32", "enum": [4, 7.0] }), json!(4)),
            (json!({ "type": "number", "format": "float", "multipleOf": 0.5 }), json!(1.5)),
            (json!({ "type": "string", "nullable": true }), Value::Null),
            (json!({ "type": "integer" }), json!(4)),
            (json!({ "type": "integer", "format": "int64" }), json!(40_000_000_000_u64)),
            (json!({ "type": "number" }), json!(1.5)),
            (json!({ "type": "boolean" }), json!(true)),
            (json!({ "x-kubernetes-int-or-string": true }), json!("80%")),
            (json!({ "type": "array", "items": { "type": "string" } }), json!(["a", "b", "a"])),
            (
                json!({ "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "string" } }),
                json!(["a", "b"]),
            ),
            (json!({ "type": "object", "additionalProperties": { "type": "string" } }), json!({ "x": "1", "z": "2" })),
            (
                json!({ "type": "object", "properties": { "x": { "type": "string" }, "y": { "type": "integer" } } }),
                json!({ "x": "1" }),
            ),
            (json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }), json!({ "q": [1, 2] })),
        ]);
        if schema["type"] == "string"
            && self.below(4) == 0
            && schema.get("enum").is_none()
            && schema.get("format").is_none()
        {
            schema["default"] = json!("abc");
        }
        if schema["type"] == "integer" && schema.get("maximum").is_none() && self.maybe() {
            schema["maximum"] = json!(50_000_000_000_u64);
        }
        (schema, value)
    }

    fn change_field(&mut self, schema: &mut Value) {
        let kind = schema["type"].as_str().unwrap_or("other").to_owned();
        match self.below(16) {
            0 => *schema = self.field().0,
            1 => schema["nullable"] = json!(self.maybe()),
            2 => {
                schema.as_object_mut().unwrap().remove("default");
            }
            3 if kind == "string" => schema["default"] = json!(self.one(&["abc", "x", ""])),
            3 if kind == "integer" => schema["default"] = json!(self.one(&[4, 7])),
            4 if kind == "string" => schema["enum"] = json!(self.one(&[vec!["abc"], vec!["x"], vec!["abc", "x", "y"]])),
            5 if kind == "string" => schema["maxLength"] = json!(self.one(&[1, 3, 30])),
            6 if kind == "string" => schema["pattern"] = json!(self.one(&["^a", "^x", "."])),
            5 if kind == "integer" || kind == "number" => schema["maximum"] = json!(self.one(&[1, 4, 100])),
            6 if kind == "integer" || kind == "number" => schema["minimum"] = json!(self.one(&[-1, 4, 100])),
            4 if kind == "integer" => schema["multipleOf"] = json!(self.one(&[2, 3])),
            4 if kind == "array" => schema["maxItems"] = json!(self.one(&[1, 2, 9])),
            5 if kind == "array" => schema["x-kubernetes-list-type"] = json!(self.one(&["set", "atomic"])),
            6 if kind == "array" => schema["items"]["maxLength"] = json!(self.one(&[0, 1, 9])),
            4 if kind == "object" => schema["minProperties"] = json!(self.one(&[1, 2, 3])),
            5 if kind == "object" => {
                let fields = schema.as_object_mut().unwrap();
                fields.remove("additionalProperties");
                fields.insert("properties".into(), json!({ "x": { "type": "string" }, "w": { "type": "string" } }));
            }
            6 if kind == "object" => {
                schema.as_object_mut().unwrap().remove("x-kubernetes-preserve-unknown-fields");
            }
            7 if kind == "object" && schema.get("properties").is_some() => {
                schema["required"] = json!(self.one(&[vec!["y"], vec!["x"], vec![]]));
            }
            8 if kind == "string" => {
                schema["x-kubernetes-validations"] =
                    json!([{ "rule": self.one(&["self != 'abc'", "self == oldSelf", "true"]) }]);
            }
            8 if kind == "object" && schema.get("properties").is_some() => {
                schema["x-kubernetes-validations"] = json!([{ "rule": self.one(&["has(self.y)", "has(self.x)"]) }]);
            }
            9 if kind == "string" => schema["format"] = json!(self.one(&formats::FORMATS[1..])),
            9 if kind == "integer" || kind == "number" => {
                let numbers = ["int8", "int32", "int64", "uint16", "uint32", "uint64", "float", "double"];
                schema["format"] = json!(self.one(&numbers));
            }
            10 if kind == "integer" => schema["type"] = json!("number"),
            11 if kind == "array" => schema["uniqueItems"] = json!(false),
            12 if kind == "integer" || kind == "number" => respell(schema),
            13 if kind == "integer" => {
                let limit = self.one(&[("minimum", 0.0), ("maximum", 2_147_483_647.0), ("maximum", 4_294_967_295.0)]);
                schema[limit.0] = json!(limit.1);
            }
            13 if kind == "boolean" => schema["enum"] = json!(self.one(&[vec![true], vec![true, false]])),
            _ => {
                for keyword in ["enum", "maximum", "pattern", "format", "x-kubernetes-list-type"] {
                    schema.as_object_mut().unwrap().remove(keyword);
                }
            }
        }
    }

    fn change_spec(&mut self, spec: &mut Value) {
        match self.below(8) {
            0 => spec["gone"] = json!(true),
            1 => spec["required"] = json!(["a"]),
            2 => spec["required"] = json!([]),
            3 => {
                let rule = self.one(&["has(self.b)", "has(self.c)", "self.b == oldSelf.b"]);
                spec["x-kubernetes-validations"] = json!([{ "rule": rule }]);
                spec["properties"]["c"] = json!({ "type": "string" });
            }
            4 => spec["oneOf"] = json!([{ "required": ["c"] }, { "required": ["b"] }]),
            5 => {
                spec["properties"]["c"] = json!({ "type": "string" });
                spec["required"] = json!(["c"]);
            }
            6 => {
                spec["properties"]["c"] = json!({ "type": "string", "default": "c" });
                spec["required"] = json!(["c"]);
            }
            _ => spec["anyOf"] = json!([{ "required": ["a"] }, { "required": ["c"] }]),
        }
    }
}
