//! Validation of objects with the schema of their kind: opctl and a real API server agree.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl_schema::apiserver::{self, ObjectFinding, ObjectStep};
use serde_json::{Value, json};

use crate::api::Api;
use crate::control_plane::ControlPlane;
use crate::object::{crd, findings};

/// The result of a rule or field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Holds,
    Refused,
    Failed,
    /// Only opctl's.
    Unknown,
}

const RULES: &str = include_str!("../cel/rules.txt");
const SCHEMA: &str = include_str!("../cel/schema.json");

/// One expression per line that is true; after `error: `, one that cannot be evaluated.
const EXPRESSIONS: &str = include_str!("../../crates/cel/tests/expressions.txt");

#[test]
fn the_api_server_says_of_objects_what_opctl_says() {
    let Some(cluster) = ControlPlane::start("objects", 0) else { return };
    let mut api = Api::of(&cluster);
    expressions(&cluster, &mut api);
    rules(&cluster, &mut api);
    schemas(&cluster, &mut api);
}

fn install(cluster: &ControlPlane, crds: &[Value]) {
    let documents: String = crds.iter().map(|crd| format!("---\n{crd}\n")).collect();
    cluster.kubectl(&["create", "-f", "-"], &documents);
    cluster.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"], "");
}

/// The response to the creation of an object.
fn create(api: &mut Api, object: &Value) -> Value {
    let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase());
    let path = format!("/apis/objects.example.com/v1/namespaces/default/{plural}?dryRun=All&fieldValidation=Strict");
    loop {
        let answer = api.post(&path, object);
        // A CRD is served with a delay after it is established.
        if !answer["message"].as_str().unwrap_or_default().contains("could not find the requested resource") {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// A schema with rules whose messages are their numbers.
fn with_rules(schema: &Value, rules: &[&str]) -> Value {
    let mut schema = schema.clone();
    let stated = |(number, rule): (usize, &&str)| json!({"rule": rule, "message": format!("rule {number}.")});
    schema["x-kubernetes-validations"] = rules.iter().enumerate().map(stated).collect();
    schema
}

fn compiles(schema: &Value, rule: &str) -> bool {
    let crd: CustomResourceDefinition = serde_json::from_value(crd("Case", &with_rules(schema, &[rule]))).unwrap();
    apiserver::check(&crd).is_empty()
}

/// The API server's results by rule.
fn their_verdicts(answer: &Value, rules: usize) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::Holds; rules];
    if answer["kind"] != "Status" {
        return verdicts;
    }
    for cause in answer["details"]["causes"].as_array().unwrap_or_else(|| panic!("{answer}")) {
        let message = cause["message"].as_str().unwrap();
        let number = message.rsplit("rule ").next().unwrap().trim_end_matches('.').parse::<usize>();
        let number = number.unwrap_or_else(|_| panic!("{message}"));
        let failed = message.contains("evaluating rule: rule") || message.contains("for rule: rule");
        verdicts[number] = if failed { Verdict::Failed } else { Verdict::Refused };
    }
    verdicts
}

/// opctl's results by rule, for a kind with rules.
fn our_verdicts(crd: &CustomResourceDefinition, object: &Value, rules: usize) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::Holds; rules];
    for finding in apiserver::check_object(crd, object) {
        let verdict = match finding.code.name {
            "OP460" => Verdict::Refused,
            "OP461" => Verdict::Failed,
            "OP462" => Verdict::Unknown,
            _ => panic!("{finding:?} of {object}"),
        };
        let said = if verdict == Verdict::Refused { &finding.message } else { finding.help.last().unwrap() };
        let number: usize = said.rsplit("rule ").next().unwrap().trim_end_matches('.').parse().unwrap();
        verdicts[number] = verdict;
    }
    verdicts
}

/// The expressions with expected results, and their schema and object.
fn rows() -> (Vec<(&'static str, Verdict)>, Value, Value) {
    let words = json!({"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10}});
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"words": words}}}});
    let rows: Vec<(&str, Verdict)> = EXPRESSIONS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| match line.strip_prefix("error: ") {
            Some(rule) => (rule, Verdict::Failed),
            None => (line, Verdict::Holds),
        })
        .collect();
    let object = json!({
        "apiVersion": "objects.example.com/v1",
        "kind": "Rows",
        "metadata": {"name": "a"},
        "spec": {"words": ["hello", "mellow"]},
    });
    (rows, schema, object)
}

fn expressions(cluster: &ControlPlane, api: &mut Api) {
    let (rows, schema, mut object) = rows();
    let (rows, refused): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(rule, _)| compiles(&schema, rule));
    assert!(refused.is_empty(), "{refused:#?}");
    let mut differences = Vec::new();
    let mut unknown = 0;
    for (number, rows) in rows.chunks(100).enumerate() {
        let rules: Vec<&str> = rows.iter().map(|(rule, _)| *rule).collect();
        let kind = format!("Rows{number}");
        let crd = crd(&kind, &with_rules(&schema, &rules));
        install(cluster, std::slice::from_ref(&crd));
        object["kind"] = kind.into();
        let theirs = their_verdicts(&create(api, &object), rules.len());
        let ours = our_verdicts(&serde_json::from_value(crd).unwrap(), &object, rules.len());
        for ((rule, expected), (theirs, ours)) in rows.iter().zip(theirs.into_iter().zip(ours)) {
            unknown += usize::from(ours == Verdict::Unknown);
            if theirs != *expected || ours != theirs && ours != Verdict::Unknown {
                differences.push(format!("{rule}: expected {expected:?}, they {theirs:?}, we {ours:?}"));
            }
        }
    }
    eprintln!("{} expressions, {unknown} of them not told", rows.len());
    assert!(differences.is_empty(), "{} of {}:\n{}", differences.len(), rows.len(), differences.join("\n"));
}

/// `OPCTL_RANDOM_OBJECTS` is the number of objects, 300 by default. A summary is printed on stderr.
fn many() -> u64 {
    std::env::var("OPCTL_RANDOM_OBJECTS").map_or(300, |many| many.parse().unwrap())
}

/// The rules of the test `cel`, with random objects.
fn rules(cluster: &ControlPlane, api: &mut Api) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let rules: Vec<&str> = RULES.lines().filter(|rule| compiles(&schema, rule)).collect();
    let crd = crd("Ruled", &with_rules(&schema, &rules));
    install(cluster, std::slice::from_ref(&crd));
    let crd = serde_json::from_value(crd).unwrap();
    let mut random = Random(1);
    let (mut told, mut counts) = (0, std::collections::BTreeMap::<_, usize>::new());
    let mut differences = std::collections::BTreeMap::new();
    for _ in 0..many() / 3 {
        let mut object = json!({"apiVersion": "objects.example.com/v1", "kind": "Ruled", "metadata": {"name": "a"}});
        object["spec"] = random.value(&schema["properties"]["spec"], 0);
        let theirs = their_verdicts(&create(api, &object), rules.len());
        let ours = our_verdicts(&crd, &object, rules.len());
        for (rule, (theirs, ours)) in rules.iter().zip(theirs.into_iter().zip(ours)) {
            told += usize::from(ours != Verdict::Unknown);
            *counts.entry((theirs, ours)).or_default() += 1;
            if ours != theirs && ours != Verdict::Unknown {
                differences.insert(*rule, format!("they {theirs:?}, we {ours:?}, of {}", object["spec"]));
            }
        }
    }
    eprintln!("{} rules, told {told} times: {counts:?}", rules.len());
    assert!(differences.is_empty(), "{} of {}:\n{differences:#?}", differences.len(), rules.len());
}

/// Random schemas, and objects that mostly conform: opctl and the API server agree about errors and their fields.
fn schemas(cluster: &ControlPlane, api: &mut Api) {
    const OBJECTS: u64 = 15;
    let mut random = Random(2);
    let crds: Vec<Value> = (0..many().div_ceil(OBJECTS))
        .map(|number| {
            let spec = loop {
                let spec = random.schema(0);
                let crd = crd("Case", &json!({"type": "object", "properties": {"spec": spec}}));
                if apiserver::check(&serde_json::from_value(crd).unwrap()).is_empty() {
                    break spec;
                }
            };
            crd(&format!("Case{number}"), &json!({"type": "object", "properties": {"spec": spec}}))
        })
        .collect();
    crds.chunks(40).for_each(|crds| install(cluster, crds));
    let (mut refused, mut total) = (0, 0);
    let mut differences = Vec::new();
    for crd in &crds {
        let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
        for _ in 0..OBJECTS {
            let mut object = json!({"apiVersion": "objects.example.com/v1", "metadata": {"name": "a"}});
            object["kind"] = crd["spec"]["names"]["kind"].clone();
            object["spec"] = random.value(schema, 0);
            for _ in 0..random.next(3) {
                random.spoil(&mut object["spec"]);
            }
            let answer = create(api, &object);
            let (mut theirs, ours) = (their_fields(&answer), our_fields(crd, &object));
            total += 1;
            refused += usize::from(!theirs.is_empty());
            let all = findings(crd, &object);
            let untold = all.iter().filter(|finding| finding.code.name == "OP459").map(field).collect::<Fields>();
            let all = all.iter().map(field).collect::<Vec<_>>();
            theirs.retain(|field| !untold.contains(field));
            let stopped = answer["message"].as_str().is_some_and(|message| message.contains("cannot be handled as a"));
            let agrees = stopped && theirs.iter().all(|theirs| all.iter().any(|ours| ours.starts_with(theirs)));
            if theirs != ours && !agrees {
                differences.push(format!(
                    "{schema}\n{}\n  they {theirs:?}\n  we {ours:?}\n  {}",
                    object["spec"], answer["message"]
                ));
            }
        }
    }
    eprintln!("{total} random objects of {} random schemas, {refused} of them refused, by both", crds.len());
    assert!(differences.is_empty(), "{} of {total}:\n{}", differences.len(), differences.join("\n"));
    assert!(total / 5 < refused && refused < total * 4 / 5);
}

type Fields = std::collections::BTreeSet<String>;

/// Normalizes a path to `spec.list[0].name`, without quotes and brackets around keys.
fn plain(field: &str) -> String {
    field
        .replace("[\"", ".")
        .replace("\"]", "")
        .replace(['[', ']'], ".")
        .replace("..", ".")
        .trim_matches('.')
        .to_owned()
}

fn their_fields(answer: &Value) -> Fields {
    if answer["kind"] != "Status" {
        return Fields::new();
    }
    let message = answer["message"].as_str().unwrap();
    if message.contains("strict decoding error") {
        let unknown = message.split("unknown field \"").skip(1);
        return unknown.map(|rest| plain(&rest[..rest.find("\",").or(rest.rfind('"')).unwrap()])).collect();
    }
    // The API server stops at metadata with a wrong type.
    if let Some((_, rest)) = message.split_once("cannot be handled as a ") {
        return [plain(rest.split(": ").nth(1).unwrap())].into();
    }
    let causes = answer["details"]["causes"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let of = |cause: &Value| {
        let (field, message) = (cause["field"].as_str().unwrap(), cause["message"].as_str().unwrap());
        if field != "<nil>" {
            return Some(plain(field));
        }
        // `"spec.x" must validate …`, `… in spec.x`, or a message that rules were not evaluated.
        let quoted = message.split('"').find(|part| part.starts_with("spec"));
        quoted
            .or(message.rsplit_once(" in ").map(|(_, field)| field))
            .filter(|field| field.starts_with("spec"))
            .map(plain)
    };
    causes.iter().filter_map(of).collect()
}

fn our_fields(crd: &Value, object: &Value) -> Fields {
    let findings = findings(crd, object);
    let refused: Vec<&ObjectFinding> =
        findings.iter().filter(|finding| finding.severity == opctl_model::diagnostic::Severity::Error).collect();
    // The API server stops at unknown fields.
    let is_unknown = |finding: &&ObjectFinding| finding.code.name == "OP451";
    let stops = refused.iter().any(&is_unknown);
    refused.into_iter().filter(|finding| !stops || is_unknown(finding)).map(field).collect()
}

fn field(finding: &ObjectFinding) -> String {
    let steps = finding.path.iter().map(|step| match step {
        ObjectStep::Key(name) => name.clone(),
        ObjectStep::Index(index) => index.to_string(),
    });
    plain(&steps.collect::<Vec<_>>().join("."))
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        // A xorshift generator, by Marsaglia.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 16) as usize % below
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.next(of.len())]
    }

    fn schema(&mut self, depth: usize) -> Value {
        let mut schema = match if depth == 0 { 7 } else { self.next(if depth > 2 { 6 } else { 10 }) } {
            0 => json!({"type": "string", "minLength": self.next(3), "maxLength": 3 + self.next(8)}),
            1 => [
                json!({"type": "string", "enum": ["One", "Three", ""]}),
                json!({"type": "string", "pattern": "^[a-z]*$"}),
                json!({"type": "string", "pattern": "^\\d|a"}),
                json!({"type": "string"}),
            ][self.next(4)]
            .clone(),
            2 => {
                let format = self.one(&[
                    "date-time", "date", "duration", "byte", "ipv4", "ipv6", "cidr", "uuid", "uri", "hostname", "mac",
                    "hexcolor", "rgbcolor", "isbn", "creditcard", "ssn", "bsonobjectid", "k8s-short-name",
                    "k8s-long-name", "password", "uuid4", "email",
                ]);
                json!({"type": "string", "format": format})
            }
            3 => [
                json!({"type": "integer"}),
                json!({"type": "integer", "format": "int32"}),
                json!({"type": "integer", "minimum": 1, "maximum": 80}),
                json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "multipleOf": 3}),
                json!({"type": "number", "maximum": 1.5}),
                json!({"type": "number", "multipleOf": 0.25}),
            ][self.next(6)]
            .clone(),
            4 => [json!({"type": "boolean"}), json!({"x-kubernetes-int-or-string": true})][self.next(2)].clone(),
            5 => [
                json!({"x-kubernetes-preserve-unknown-fields": true}),
                json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"type": "string"}}}),
            ][self.next(3)]
            .clone(),
            6 => {
                let mut list = json!({"type": "array", "items": self.schema(depth + 1), "maxItems": 1 + self.next(4)});
                if self.next(4) == 0 {
                    list["items"] = json!({"type": "string"});
                    list["x-kubernetes-list-type"] = "set".into();
                }
                if self.next(4) == 0 {
                    list["items"] = json!({
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "size": self.schema(depth + 2)},
                    });
                    list["x-kubernetes-list-type"] = "map".into();
                    list["x-kubernetes-list-map-keys"] = json!(["name"]);
                }
                list
            }
            8 => json!({"type": "object", "additionalProperties": self.schema(depth + 1), "maxProperties": 1 + self.next(4)}),
            _ => {
                let mut object = json!({"type": "object", "properties": {}});
                for name in ["name", "size", "a-b", "a.b", "in"] {
                    if self.next(3) > 0 {
                        object["properties"][name] = self.schema(depth + 1);
                    }
                }
                let names: Vec<String> =
                    object["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
                if let Some(name) = names.first().filter(|_| self.next(2) == 0) {
                    object["required"] = json!([name]);
                }
                if names.len() > 1 && self.next(4) == 0 {
                    let variants = json!([{"required": [names[0]]}, {"required": [names[1]]}]);
                    let junctor = self.one(&["oneOf", "anyOf"]);
                    object[junctor] = variants;
                }
                if names.len() > 1 && self.next(3) == 0 {
                    let rule = if self.next(2) == 0 { "self.size() > 1" } else { "false" };
                    let on = self.next(2);
                    if object["properties"][&names[on]]["type"] == "array" {
                        let rule = json!({"rule": rule, "message": "a rule"});
                        object["properties"][&names[on]]["x-kubernetes-validations"] = json!([rule]);
                    }
                }
                object
            }
        };
        if self.next(8) == 0 {
            schema["nullable"] = true.into();
        }
        if depth > 0 && self.next(6) == 0 && schema["x-kubernetes-preserve-unknown-fields"] != true {
            schema["default"] = self.value(&schema, depth);
        }
        schema
    }

    /// Changes a part of the value, so that it may no longer conform.
    fn spoil(&mut self, value: &mut Value) {
        let count = match value {
            Value::Array(list) => list.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        };
        if count > 0 && self.next(4) > 0 {
            let at = self.next(count);
            return match value {
                Value::Array(list) => self.spoil(&mut list[at]),
                Value::Object(map) => self.spoil(map.values_mut().nth(at).unwrap()),
                _ => unreachable!(),
            };
        }
        match (self.next(6), value) {
            (0, value) => *value = Value::Null,
            (1, Value::Object(map)) => {
                map.insert(self.one(&["nmae", "extra", "name"]).to_owned(), json!(self.next(5)));
            }
            (2, Value::Object(map)) => {
                let key = map.keys().next().cloned();
                map.remove(&key.unwrap_or_default());
            }
            (1 | 2, Value::Array(list)) => list.extend(list.first().cloned()),
            (_, value) => {
                let other = [
                    json!(1.5),
                    json!("x"),
                    json!([1]),
                    json!({"x": 1}),
                    json!(true),
                    json!(5_000_000_000_i64),
                    json!(-1),
                    json!(""),
                ];
                *value = other[self.next(other.len())].clone();
            }
        }
    }

    /// A value that conforms to the schema.
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if schema["x-kubernetes-int-or-string"] == true {
            return if self.next(2) == 0 {
                json!(self.next(9000))
            } else {
                self.one(&["http", "80", "50%", ""]).into()
            };
        }
        match schema["type"].as_str().unwrap_or_default() {
            "string" => self.text(schema),
            "integer" => json!([0, 1, 3, 7, -3, 80, 2_000_000][self.next(7)]),
            "number" => json!([0.5, 1.5, 3.25, -0.25, 1e-7, 12345.75][self.next(6)]),
            "boolean" => json!(self.next(2) == 0),
            "array" => {
                let most = schema["maxItems"].as_u64().unwrap_or(4).min(4) as usize;
                let length = self.next(most + 1);
                let mut list: Vec<Value> = (0..length).map(|_| self.value(&schema["items"], depth + 1)).collect();
                match schema["x-kubernetes-list-type"].as_str() {
                    Some("set") => {
                        list.sort_by_key(Value::to_string);
                        list.dedup();
                    }
                    Some("map") => {
                        list.sort_by_key(|item| item["name"].to_string());
                        list.dedup_by_key(|item| item["name"].to_string());
                    }
                    _ => {}
                }
                list.into()
            }
            "object" => self.object(schema, depth),
            _ => [json!(1), json!("x"), json!({"a": [1, null]}), json!([true])][self.next(4)].clone(),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut map = serde_json::Map::new();
        if schema["x-kubernetes-embedded-resource"] == true {
            return json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": self.one(&["a", "b"])}, "spec": {"x": 1}});
        }
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            for key in ["a", "b", "team", "app.kubernetes.io/name"] {
                if self.next(2) == 0 {
                    map.insert(key.to_owned(), self.value(values, depth + 1));
                }
            }
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let required = schema["required"].as_array().is_some_and(|required| required.contains(&json!(name)));
            if required || self.next(4) > 0 {
                map.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        if schema["x-kubernetes-preserve-unknown-fields"] == true && self.next(2) == 0 {
            map.insert("extra".to_owned(), json!({"x": [1, 2]}));
        }
        map.into()
    }

    fn text(&mut self, schema: &Value) -> Value {
        if let Some(values) = schema["enum"].as_array() {
            return values[self.next(values.len())].clone();
        }
        let text = match schema["format"].as_str().unwrap_or_default() {
            "date-time" => self.one(&["2025-01-31T12:00:00Z", "2024-02-29T23:59:59.5Z", "2020-06-01T00:00:00+02:00"]),
            "date" => self.one(&["2025-01-31", "2024-02-29", "1999-12-31"]),
            "duration" => self.one(&["1h", "90s", "1.5h", "2 days", "-5m", "0"]),
            "byte" => self.one(&["YWJj", "aGVsbG8gd29ybGQ=", "AAEC"]),
            "ipv4" | "ipv6" | "cidr" => self.one(&[
                "10.0.0.1",
                "010.0.0.1",
                "::1",
                "::ffff:1.2.3.4",
                "10.0.0.0/8",
                "::/0",
                "10.0.0.0/33",
                "1.2.3",
            ]),
            "uuid" | "uuid4" => {
                self.one(&["123e4567-e89b-12d3-a456-426614174000", "123E4567e89b42d3a456426614174000", "x"])
            }
            "uri" => self.one(&["https://a.b/c?d#e", "/a", "a", "mailto:a@b", "http://[::1]:80", "http://a b", "%"]),
            "hostname" => self.one(&["example.com", "a", "-a", "a_b.c", "é.de", "1.2.3.4", "a.b-", ""]),
            "mac" => {
                self.one(&["01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "01:23", "01:23:45:67:89-ab"])
            }
            "hexcolor" | "rgbcolor" => self.one(&["#fff", "abcdef", "#ab", "rgb(1, 2,3)", "rgb(256,0,0)"]),
            "isbn" => self.one(&["0321751043", "978-0321751041", "0-321-75104-3", "0321751044", "080442957X"]),
            "creditcard" => self.one(&["4111 1111 1111 1111", "4111111111111112", "5555-5555-5555-4444", "1"]),
            "ssn" => self.one(&["111-11-1111", "111 11 1111", "111111111", "111-11-111"]),
            "bsonobjectid" => {
                self.one(&["507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901", "507F1F77BCF86CD799439011"])
            }
            "k8s-short-name" | "k8s-long-name" => self.one(&["a-b", "a.b", "A", "-a", "a..b", ""]),
            "email" => self.one(&["a@b", "a.b@c.d", "@b", "a", "a@b@c", "a b@c"]),
            _ => self.one(&["", "a", "abc", "One", "Three", "1", "10Gi", "a,b", "Ab-c", "1.2.3", "10.0.0.1", "é"]),
        };
        let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX) as usize;
        text.chars().take(most).collect::<String>().into()
    }
}
