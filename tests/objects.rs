//! Objects against the schema of their kind: what opctl says of them before is what a real API server says when they are
//! created.

#[path = "common/api.rs"]
mod api;
#[path = "common/control_plane.rs"]
mod control_plane;

use control_plane::ControlPlane;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl::apiserver::{self, ObjectFinding};
use serde_json::{Value, json};

fn crd(kind: &str, schema: &Value) -> Value {
    let lower = kind.to_lowercase();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{lower}s.objects.example.com")},
        "spec": {
            "group": "objects.example.com",
            "names": {"plural": format!("{lower}s"), "singular": lower, "kind": kind, "listKind": format!("{kind}List")},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

fn findings(crd: &Value, object: &Value) -> Vec<ObjectFinding> {
    let crd: CustomResourceDefinition = serde_json::from_value(crd.clone()).unwrap();
    apiserver::check_object(&crd, object)
}

/// What is said of an object `a` with these fields, of a kind with this spec.
fn said(spec: Value, fields: Value) -> Vec<String> {
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": {"type": "object"}}});
    let mut object = json!({"apiVersion": "objects.example.com/v1", "kind": "Case", "metadata": {"name": "a"}});
    object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let line = |finding: ObjectFinding| {
        let help = finding.help.iter().map(|help| format!(" ({help})")).collect::<String>();
        format!("{}: {}{help}", finding.code, finding.message)
    };
    findings(&crd("Case", &schema), &object).into_iter().map(line).collect()
}

#[test]
fn says_what_is_wrong_with_an_object_and_where() {
    let spec = || {
        json!({
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1},
                "name": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
                "mode": {"type": "string", "enum": ["Fast", "Safe"], "default": "Fast"},
                "port": {"x-kubernetes-int-or-string": true},
                "mail": {"type": "string", "format": "email"},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
                },
                "template": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true,
                },
            },
        })
    };
    for (fields, expected) in [
        (json!({"spec": {"size": 1, "name": null, "mode": null}}), &[] as &[&str]),
        (json!({"spec": {"size": 0}}), &["OP455: `spec.size`: 0 is less than its minimum 1"]),
        (json!({"spec": {"size": "1"}}), &[r#"OP453: `spec.size`: "1" is not of type `integer`"#]),
        (json!({"spec": {}}), &["OP454: `spec.size`: the field `size` is required, and missing"]),
        (json!({"spec": {"size": 1, "nmae": 2}}), &["OP451: unknown field `nmae` in `spec`; did you mean `name`?"]),
        (json!({"spec": {"size": 1}, "sepc": 2}), &["OP451: unknown field `sepc`; did you mean `spec`?"]),
        (
            json!({"spec": {"size": 1, "name": "abcdefg", "mode": "fast", "port": true}}),
            &[
                r#"OP455: `spec.mode`: "fast" is not one of "Fast", "Safe""#,
                "OP455: `spec.name`: it has 7 characters, and can have 5 at most",
                "OP453: `spec.port`: true is not of type `integer or string`",
            ],
        ),
        (
            json!({"spec": {"size": 1, "parts": [{"name": "a"}, {"name": "b", "vlaue": 1}, {"name": "a"}]}}),
            &[
                "OP451: unknown field `vlaue` in `spec.parts[1]` (the fields are name)",
                r#"OP456: `spec.parts[2]`: {"name":"a"} is there already, at 0"#,
            ],
        ),
        (
            json!({"spec": {"size": 1, "mail": "\"a b\"@c"}}),
            &["OP459: `spec.mail`: the format `email` cannot be checked here (the API server checks it)"],
        ),
        (
            json!({"spec": {"size": 1, "template": {"kind": "a b", "metadata": {"labels": {"a": 1}, "nam": ""}}}}),
            &[
                "OP454: `spec.template.apiVersion`: the field `apiVersion` is required, and missing",
                r#"OP457: `spec.template.kind`: "a b" is no `kind` of an object"#,
                "OP451: unknown field `nam` in `spec.template.metadata`; did you mean `name`?",
                "OP457: `spec.template.metadata.labels.a`: 1 is not of type `string`",
            ],
        ),
        (
            json!({"spec": {"size": 1}, "status": {}}),
            &[
                "OP458: the API server drops the `status` of an object that is created (remove it: the operator writes the status)",
            ],
        ),
        (
            json!({"spec": {"size": 1}, "metadata": {"name": "A", "labels": {"a": "b c"}}}),
            &[
                "OP452: `metadata.name`: no name of an object: \"A\" (use lowercase letters, digits, `-` and `.`, each part starts and ends with a letter or digit, at most 253 characters)",
                "OP452: `metadata.labels.a`: no value of a label: \"b c\" (use letters, digits, `-`, `_` and `.`, start and end with a letter or digit, at most 63 characters)",
            ],
        ),
        (
            json!({"spec": {"size": 1}, "metadata": {}}),
            &["OP452: `metadata.name`: the object has no name (add `name`, or `generateName`)"],
        ),
        (
            json!({"spec": {"size": 1}, "apiVersion": "objects.example.com/v2"}),
            &[
                "OP450: the kind `Case` is not served as `objects.example.com/v2` (did you mean `objects.example.com/v1`?)",
            ],
        ),
        (
            json!({"spec": {"size": 1}, "kind": "Csae"}),
            &["OP450: no kind `Csae` in the group `objects.example.com` (did you mean `Case`?)"],
        ),
    ] {
        assert_eq!(said(spec(), fields.clone()), expected, "{fields}");
    }
}

/// What came of a rule or a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Holds,
    Refused,
    Failed,
    /// Ours only.
    Unknown,
}

const RULES: &str = include_str!("cel/rules.txt");
const SCHEMA: &str = include_str!("cel/schema.json");

/// One a line: what holds; after `error: `, what cannot be evaluated.
const EXPRESSIONS: &str = include_str!("cel/expressions.txt");

#[test]
fn the_api_server_says_of_objects_what_opctl_says() {
    let Some(cluster) = ControlPlane::start("objects", 0) else { return };
    let mut api = api::Api::of(&cluster);
    expressions(&cluster, &mut api);
    rules(&cluster, &mut api);
}

fn install(cluster: &ControlPlane, crds: &[Value]) {
    let documents: String = crds.iter().map(|crd| format!("---\n{crd}\n")).collect();
    cluster.kubectl(&["create", "-f", "-"], &documents);
    cluster.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"], "");
}

/// The answer to the creation of an object.
fn create(api: &mut api::Api, object: &Value) -> Value {
    let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase());
    let path = format!("/apis/objects.example.com/v1/namespaces/default/{plural}?dryRun=All&fieldValidation=Strict");
    loop {
        let answer = api.post(&path, object);
        // It is served a moment after it is established.
        if !answer["message"].as_str().unwrap_or_default().contains("could not find the requested resource") {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// A schema with rules that have their numbers as messages.
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

/// By the numbers of rules.
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

/// Of a kind with rules, by their numbers.
fn our_verdicts(crd: &CustomResourceDefinition, object: &Value, rules: usize) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::Holds; rules];
    for finding in apiserver::check_object(crd, object) {
        let verdict = match finding.code {
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

/// The rows, the schema and the object that they are about.
fn rows() -> (Vec<(&'static str, Verdict)>, Value, Value) {
    let words = json!({"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10}});
    let schema =
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"words": words}}}});
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

#[test]
fn expressions_have_their_values() {
    let (rows, schema, object) = rows();
    let rules: Vec<&str> = rows.iter().map(|(rule, _)| *rule).collect();
    let crd = serde_json::from_value(crd("Rows", &with_rules(&schema, &rules))).unwrap();
    let ours = our_verdicts(&crd, &object, rules.len());
    let wrong = rows.iter().zip(ours).filter(|((_, expected), ours)| ours != expected && *ours != Verdict::Unknown);
    let wrong: Vec<String> = wrong.map(|((rule, expected), ours)| format!("{rule}: {ours:?}, not {expected:?}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn expressions(cluster: &ControlPlane, api: &mut api::Api) {
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

/// `OPCTL_RANDOM_OBJECTS` many; a line on stderr says what came of it.
fn many() -> u64 {
    std::env::var("OPCTL_RANDOM_OBJECTS").map_or(300, |many| many.parse().unwrap())
}

/// The rules of another test, on random objects.
fn rules(cluster: &ControlPlane, api: &mut api::Api) {
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

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        // xorshift, by Marsaglia.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 16) as usize % below
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.next(of.len())]
    }

    /// A value that fits the schema.
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
            _ => self.one(&["", "a", "abc", "One", "Three", "1", "10Gi", "a,b", "Ab-c", "1.2.3", "10.0.0.1", "é"]),
        };
        let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX) as usize;
        text.chars().take(most).collect::<String>().into()
    }
}
