//! CEL rules: opctl and a real API server reject the same rules, and have the same cost limits.

use std::collections::BTreeSet;
use std::env;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl_model::diagnostic::Severity;
use opctl_schema::apiserver;
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;

const SCHEMA: &str = include_str!("../cel/schema.json");

/// Valid and invalid rules on [`SCHEMA`], one per line.
const RULES: &str = include_str!("../cel/rules.txt");

#[test]
fn the_api_server_refuses_exactly_what_opctl_refuses() {
    let Some(cluster) = ControlPlane::start("cel", 0) else { return };
    rules(&cluster);
    random_rules(&cluster);
    assert_verdicts(&cluster, &schemas());
    costs(&cluster);
}

fn rules(cluster: &ControlPlane) {
    let rules: Vec<String> = RULES.lines().map(str::to_owned).collect();
    assert_agree(cluster, &rules);
}

/// `OPCTL_RANDOM_RULES` is the number of rules, 150 by default. A summary is printed on stderr.
fn random_rules(cluster: &ControlPlane) {
    let many = env::var("OPCTL_RANDOM_RULES").map_or(150, |many| many.parse().unwrap());
    let mut random = Random(many);
    let rules: Vec<String> = (0..many).map(|_| random.rule()).collect();
    let refused: usize = rules.chunks(500).map(|rules| assert_agree(cluster, rules)).sum();
    eprintln!("{many} random rules, {refused} of them refused, by both");
    assert!(many as usize / 10 < refused && refused < many as usize * 9 / 10);
}

/// The cost limit: the API server accepts the largest number that opctl accepts, and rejects the next one.
fn costs(cluster: &ControlPlane) {
    let mut cases = Vec::new();
    for (name, schema) in bounds() {
        let accepts = |number| refusals(&crd("bound", &schema(number))).is_empty();
        let (mut accepted, mut refused) = (0, 1 << 24);
        assert!(accepts(accepted) && !accepts(refused), "{name}");
        while refused - accepted > 1 {
            let middle = accepted.midpoint(refused);
            if accepts(middle) { accepted = middle } else { refused = middle }
        }
        cases.push((format!("{name} with {accepted}"), true, schema(accepted)));
        cases.push((format!("{name} with {refused}"), false, schema(refused)));
    }
    assert_verdicts(cluster, &cases);
}

/// Asserts that opctl and the API server agree about rules at the root of one CRD: the API server reports every invalid
/// rule. Returns the number of rejected rules.
fn assert_agree(cluster: &ControlPlane, rules: &[String]) -> usize {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut with = |rules: &[String]| {
        schema["x-kubernetes-validations"] = rules.iter().map(|rule| json!({"rule": rule})).collect();
        crd("all", &schema)
    };
    let all = with(rules).to_string();
    let ours: Vec<Vec<String>> = rules.iter().map(|rule| refusals(&with(std::slice::from_ref(rule)))).collect();
    let output = cluster.run(&["create", "--dry-run=server", "-f", "-"], &all);
    let errors = String::from_utf8(output.stderr).unwrap();
    let theirs: BTreeSet<usize> = errors
        .split("x-kubernetes-validations[")
        .skip(1)
        .filter(|error| !error.contains("contributed to estimated rule cost total"))
        .map(|error| error.split(']').next().unwrap().parse().unwrap())
        .collect();
    assert!(!theirs.is_empty(), "{errors}");
    let differences: Vec<String> = rules
        .iter()
        .enumerate()
        .filter(|(number, _)| theirs.contains(number) == ours[*number].is_empty())
        .map(|(number, rule)| {
            format!("{rule}\n    {}", ours[number].first().map_or("accepted by opctl", String::as_str))
        })
        .collect();
    assert!(differences.is_empty(), "{} of {}:\n{}", differences.len(), rules.len(), differences.join("\n"));
    theirs.len()
}

/// Asserts the results for cases: the name, `true` if accepted, and the schema.
fn assert_verdicts(cluster: &ControlPlane, cases: &[(String, bool, Value)]) {
    let mut documents = String::new();
    for (number, (_, _, schema)) in cases.iter().enumerate() {
        documents += &format!("---\n{}\n", crd(&format!("case{number}"), schema));
    }
    let output = cluster.run(&["create", "--dry-run=server", "-f", "-"], &documents);
    let accepted = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    for (number, (name, good, schema)) in cases.iter().enumerate() {
        let theirs = accepted.contains(&format!("/case{number}s."));
        let error = errors.lines().find(|line| line.contains(&format!("\"case{number}s."))).unwrap_or_default();
        assert_eq!(theirs, *good, "the API server, of {name}: {error}");
        let ours = refusals(&crd("case", schema));
        assert_eq!(ours.is_empty(), *good, "opctl, of {name}: {ours:?}");
    }
}

fn crd(kind: &str, schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{kind}s.cel.example.com")},
        "spec": {
            "group": "cel.example.com",
            "names": {"plural": format!("{kind}s"), "singular": kind, "kind": kind.replace("case", "Case").replace("all", "All")},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn refusals(crd: &Value) -> Vec<String> {
    let crd: CustomResourceDefinition = serde_json::from_value(crd.clone()).unwrap();
    apiserver::check(&crd)
        .into_iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| format!("{}: {}", finding.code, finding.message))
        .collect()
}

fn spec(properties: Value) -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}})
}

/// A spec with these fields and a rule.
fn ruled(rule: Value, properties: Value) -> Value {
    let mut schema = spec(properties);
    schema["properties"]["spec"]["x-kubernetes-validations"] = json!([rule]);
    schema
}

/// Schemas with rules in different positions and with different fields.
fn schemas() -> Vec<(String, bool, Value)> {
    let text = || json!({"type": "string", "maxLength": 10});
    let on = |mut schema: Value, rule: &str| {
        schema["x-kubernetes-validations"] = json!([{"rule": rule}]);
        schema
    };
    let list = |kind: &str, items: Value| json!({"type": "array", "maxItems": 5, "x-kubernetes-list-type": kind, "items": items});
    let map = |items: Value| {
        let mut list = list("map", items);
        list["x-kubernetes-list-map-keys"] = json!(["name"]);
        list
    };
    let item = || json!({"type": "object", "required": ["name"], "properties": {"name": text(), "value": text()}});
    let fields =
        || json!({"name": text(), "labels": {"type": "object", "additionalProperties": text()}, "a.b": text()});
    let stated = |rule: Value| ruled(rule, fields());
    let atomic = json!({
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {"inner": on(text(), "self == oldSelf")},
    });
    [
        ("a rule on a string", true, spec(json!({"name": on(text(), "self != ''")}))),
        ("a rule on a string that takes it for an object", false, spec(json!({"name": on(text(), "self.name != ''")}))),
        ("a rule on items", true, spec(json!({"list": list("atomic", on(text(), "self != ''"))}))),
        ("a rule on values", true, spec(json!({"map": {"type": "object", "additionalProperties": on(text(), "self != ''")}}))),
        ("oldSelf on a field", true, spec(json!({"name": on(text(), "self == oldSelf")}))),
        ("oldSelf on a list", true, spec(json!({"list": on(list("atomic", text()), "self == oldSelf")}))),
        ("oldSelf on items", false, spec(json!({"list": list("atomic", on(text(), "self == oldSelf"))}))),
        ("oldSelf on items of a set", false, spec(json!({"list": list("set", on(text(), "self == oldSelf"))}))),
        ("oldSelf on items of a map", true, spec(json!({"list": map(on(item(), "self.name == oldSelf.name"))}))),
        ("oldSelf on values", true, spec(json!({"map": {"type": "object", "additionalProperties": on(text(), "self == oldSelf")}}))),
        ("oldSelf in an atomic object", true, spec(json!({"object": atomic}))),
        (
            "oldSelf on a field of items",
            false,
            spec(json!({"list": list("atomic", json!({"type": "object", "properties": {"a": on(text(), "self == oldSelf")}}))})),
        ),
        ("a variable named oldSelf in items", false, spec(json!({"list": list("atomic", on(text(), "[1].all(oldSelf, oldSelf > 0)"))}))),
        ("optionalOldSelf", true, stated(json!({"rule": "oldSelf.hasValue() && oldSelf.value().name == self.name", "optionalOldSelf": true}))),
        ("optionalOldSelf as a plain value", true, stated(json!({"rule": "oldSelf.name.orValue('') == self.name", "optionalOldSelf": true}))),
        ("optionalOldSelf taken for a value", false, stated(json!({"rule": "oldSelf.name == self.name && oldSelf.name.size() > 1", "optionalOldSelf": true}))),
        ("optionalOldSelf without oldSelf", false, stated(json!({"rule": "self.name != ''", "optionalOldSelf": true}))),
        ("optionalOldSelf false without oldSelf", false, stated(json!({"rule": "self.name != ''", "optionalOldSelf": false}))),
        ("oldSelf.hasValue without optionalOldSelf", false, stated(json!({"rule": "oldSelf.hasValue()"}))),
        ("an empty rule", false, stated(json!({"rule": ""}))),
        ("a blank rule", false, stated(json!({"rule": "  \n"}))),
        ("a message", true, stated(json!({"rule": "self.name != ''", "message": "what"}))),
        ("a blank message", false, stated(json!({"rule": "self.name != ''", "message": " "}))),
        ("a message of two lines", false, stated(json!({"rule": "self.name != ''", "message": "a\nb"}))),
        ("a message that ends its line", true, stated(json!({"rule": "self.name != ''", "message": "a\n"}))),
        ("a rule of two lines", false, stated(json!({"rule": "self.name\n != ''"}))),
        ("a rule of two lines with a message", true, stated(json!({"rule": "self.name\n != ''", "message": "a"}))),
        ("a rule that ends its line", true, stated(json!({"rule": "self.name != ''\n"}))),
        ("a messageExpression", true, stated(json!({"rule": "self.name != ''", "messageExpression": "'a' + self.name"}))),
        ("a messageExpression with oldSelf", true, stated(json!({"rule": "self.name != ''", "messageExpression": "oldSelf.name"}))),
        ("a blank messageExpression", false, stated(json!({"rule": "self.name != ''", "messageExpression": " "}))),
        ("a messageExpression that is no string", false, stated(json!({"rule": "self.name != ''", "messageExpression": "self.name.size()"}))),
        ("a messageExpression with a slip", false, stated(json!({"rule": "self.name != ''", "messageExpression": "self.nam"}))),
        ("a reason", true, stated(json!({"rule": "self.name != ''", "reason": "FieldValueForbidden"}))),
        ("an unknown reason", false, stated(json!({"rule": "self.name != ''", "reason": "Forbidden"}))),
        ("a fieldPath", true, stated(json!({"rule": "self.name != ''", "fieldPath": ".name"}))),
        ("a fieldPath to a key", true, stated(json!({"rule": "self.name != ''", "fieldPath": ".labels.a"}))),
        ("a fieldPath with quotes", true, stated(json!({"rule": "self.name != ''", "fieldPath": "['a.b']"}))),
        ("a fieldPath to a quoted key", true, stated(json!({"rule": "self.name != ''", "fieldPath": ".labels['x.y']"}))),
        ("a fieldPath to nothing", false, stated(json!({"rule": "self.name != ''", "fieldPath": ".nam"}))),
        ("a fieldPath into a string", false, stated(json!({"rule": "self.name != ''", "fieldPath": ".name.x"}))),
        ("a fieldPath without a point", false, stated(json!({"rule": "self.name != ''", "fieldPath": "name"}))),
        ("a fieldPath with an index", false, stated(json!({"rule": "self.name != ''", "fieldPath": ".labels[0]"}))),
        ("a fieldPath without its end", false, stated(json!({"rule": "self.name != ''", "fieldPath": ".labels['a'"}))),
        ("a blank fieldPath", false, stated(json!({"rule": "self.name != ''", "fieldPath": " "}))),
        ("a rule on anything", false, spec(json!({"any": on(json!({"x-kubernetes-preserve-unknown-fields": true}), "true")}))),
        ("a rule on an embedded object", true, spec(json!({"pod": on(json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}), "self.metadata.name != '' && self.kind == 'Pod'")}))),
        ("a rule on an int-or-string", true, spec(json!({"port": on(json!({"x-kubernetes-int-or-string": true}), "type(self) == int ? self > 0 : self != ''")}))),
        ("a rule on a list of anything", false, spec(json!({"list": on(json!({"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}}), "self.size() > 0")}))),
        ("ten costly rules", true, many(10)),
        ("eleven costly rules", false, many(11)),
    ]
    .map(|(name, good, schema)| (name.to_owned(), good, schema))
    .into()
}

/// Rules that nearly exceed the cost limit of a rule. Each has a different text, since duplicates are not allowed.
fn many(rules: usize) -> Value {
    let rule = |number| {
        let text = "self.text.trim().trim().trim().size() > 0 && self.text.lowerAscii().lowerAscii().size()";
        json!({"rule": format!("{text} > {number}")})
    };
    let mut schema = spec(json!({"text": {"type": "string", "maxLength": 4_700_000}}));
    schema["properties"]["spec"]["x-kubernetes-validations"] = (0..rules).map(rule).collect();
    schema
}

type Bound = (&'static str, Box<dyn Fn(u64) -> Value>);

/// Schemas whose cost exceeds the limit from some number on.
fn bounds() -> Vec<Bound> {
    fn of(name: &'static str, schema: impl Fn(u64) -> Value + 'static) -> Bound {
        (name, Box::new(schema))
    }
    fn rule(rule: &'static str) -> Value {
        json!({"rule": rule})
    }
    let text = |max: u64| json!({"type": "string", "maxLength": max});
    let texts = move |items: u64, max: u64| json!({"type": "array", "maxItems": items, "items": text(max)});
    let numbers = |items: u64| json!({"type": "array", "maxItems": items, "items": {"type": "integer"}});
    let on = |mut schema: Value, rule: &str| {
        schema["x-kubernetes-validations"] = json!([{"rule": rule}]);
        schema
    };
    vec![
        of("all", move |n| ruled(rule("self.a.all(x, x.startsWith('abc'))"), json!({"a": texts(n, 10)}))),
        of("all in all", move |n| ruled(rule("self.a.all(x, self.a.all(y, x == y))"), json!({"a": texts(n, 10)}))),
        of("unique numbers", move |n| {
            ruled(rule("self.a.all(x, self.a.exists_one(y, x == y))"), json!({"a": numbers(n)}))
        }),
        of("matches", move |n| {
            ruled(rule("self.a.all(x, x.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))"), json!({"a": texts(n, 63)}))
        }),
        of("matches a long text", move |n| {
            ruled(
                rule("self.a.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')"),
                json!({"a": text(n)}),
            )
        }),
        of("contains", move |n| ruled(rule("self.a.contains(self.b)"), json!({"a": text(n), "b": text(1000)}))),
        of("in", move |n| ruled(rule("self.a.all(x, x in self.b)"), json!({"a": numbers(n), "b": numbers(1000)}))),
        of("join and split", move |n| {
            ruled(rule("self.a.join(',').split(',').all(x, x.size() > 0)"), json!({"a": texts(n, 100)}))
        }),
        of("replace", move |n| {
            ruled(
                rule("self.a.replace('a', 'bbbbbbbbbb').replace('b', 'cccccccccc').lowerAscii() != ''"),
                json!({"a": text(n)}),
            )
        }),
        of("sets.contains", move |n| {
            ruled(rule("sets.contains(self.a, self.b)"), json!({"a": numbers(n), "b": numbers(100)}))
        }),
        of("sets.equivalent", move |n| ruled(rule("sets.equivalent(self.a, self.a)"), json!({"a": texts(n, 3)}))),
        of("sort", move |n| ruled(rule("self.a.sort() == self.a"), json!({"a": texts(n, 3)}))),
        of("distinct", move |n| ruled(rule("self.a.distinct().size() == self.a.size()"), json!({"a": numbers(n)}))),
        of("sum of lengths", move |n| ruled(rule("self.a.map(x, x.size()).sum() < 1000"), json!({"a": texts(n, 10)}))),
        of("a filtered map", move |n| {
            ruled(
                rule("self.a.filter(x, x != 'a').map(x, x + 'b').all(x, x.contains('c'))"),
                json!({"a": texts(n, 10)}),
            )
        }),
        of("quantity", move |n| {
            ruled(rule("self.a.all(x, quantity(x).isGreaterThan(quantity('1Gi')))"), json!({"a": texts(n, 20)}))
        }),
        of("ip and cidr", move |n| {
            ruled(rule("self.a.all(x, cidr(x).containsIP(self.b))"), json!({"a": texts(n, 43), "b": text(39)}))
        }),
        of("url", move |n| {
            ruled(rule("self.a.all(x, isURL(x) && url(x).getHost() != '')"), json!({"a": texts(n, 2048)}))
        }),
        of("format", move |n| {
            ruled(rule("self.a.all(x, !format.dns1123Label().validate(x).hasValue())"), json!({"a": texts(n, 63)}))
        }),
        of("a map's keys", move |n| {
            ruled(
                rule("self.a.all(k, k.matches('^[a-z]+$') && self.a[k] != '')"),
                json!({"a": {"type": "object", "maxProperties": n, "additionalProperties": text(10)}}),
            )
        }),
        of("two variables", move |n| {
            ruled(
                rule("self.a.all(k, v, k.startsWith(v) && v.contains(k))"),
                json!({"a": {"type": "object", "maxProperties": n, "additionalProperties": text(10)}}),
            )
        }),
        of("two variables, deeper", move |n| {
            let map = json!({"type": "object", "maxProperties": n, "additionalProperties": text(100)});
            ruled(rule("self.o.a.all(k, v, v.contains(k))"), json!({"o": {"type": "object", "properties": {"a": map}}}))
        }),
        of("an enum", move |n| {
            ruled(
                rule("self.a.all(x, self.a.exists(y, x + y == 'OneTwo'))"),
                json!({"a": {"type": "array", "maxItems": n, "items": {"type": "string", "enum": ["One", "Two"]}}}),
            )
        }),
        of("times", move |n| {
            ruled(
                rule("self.a.all(x, self.a.all(y, x <= y))"),
                json!({"a": {"type": "array", "maxItems": n, "items": {"type": "string", "format": "date-time"}}}),
            )
        }),
        of("optionals", move |n| {
            ruled(rule("self.a.all(x, self.?b.orValue('') != x)"), json!({"a": texts(n, 10), "b": text(100)}))
        }),
        of("a rule on items", move |n| {
            spec(json!({"a": {"type": "array", "maxItems": n, "items": on(text(1000), "self.contains('abc')")}}))
        }),
        of("a rule on items of items", move |n| {
            let inner = json!({"type": "array", "maxItems": 10, "items": on(text(100), "self.matches('^[a-z]+$')")});
            spec(json!({"a": {"type": "array", "maxItems": n, "items": inner}}))
        }),
        of("a rule on values", move |n| {
            spec(
                json!({"a": {"type": "object", "maxProperties": n, "additionalProperties": on(text(100), "self.startsWith('abc')")}}),
            )
        }),
        of("a rule on items without a limit", move |n| {
            spec(
                json!({"a": {"type": "array", "items": on(text(n), "self != 'abc'.lowerAscii() || self.contains('abcdefghijkl')")}}),
            )
        }),
        of("a rule on large items without a limit", move |n| {
            let item = on(
                json!({"type": "object", "required": ["name", "value"], "properties": {"name": text(n), "value": {"type": "integer"}}}),
                "self.name.matches('^a$')",
            );
            spec(json!({"a": {"type": "array", "items": item}}))
        }),
        of("a messageExpression", move |n| {
            ruled(
                json!({"rule": "true", "messageExpression": "self.a.map(x, x + x).join(', ')"}),
                json!({"a": texts(n, 100)}),
            )
        }),
    ]
}

/// Generates random rules, mostly with values of the expected type.
struct Random(u64);

impl Random {
    fn rule(&mut self) -> String {
        let depth = 2 + self.below(3);
        self.value("bool", depth)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one_of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len() as u64) as usize]
    }

    /// An expression of a type. In its form, each `{type}` is replaced by an expression of that type, and `$` by a
    /// variable in scope.
    fn value(&mut self, type_: &str, depth: u64) -> String {
        const TYPES: [&str; 12] =
            ["bool", "int", "string", "double", "strings", "ints", "map", "time", "wait", "bytes", "dyn", "optional"];
        let type_ = if self.below(40) == 0 { self.one_of(&TYPES) } else { type_ };
        let (leaves, forms) = forms(type_);
        let form = if depth == 0 || self.below(6) == 0 { self.one_of(leaves) } else { self.one_of(forms) };
        let mut text = String::new();
        let mut rest = form;
        while let Some((before, after)) = rest.split_once('{') {
            let (inner, after) = after.split_once('}').unwrap();
            text += before;
            text += &self.value(inner, depth.saturating_sub(1));
            rest = after;
        }
        text += rest;
        let variable = self.one_of(&["x", "y", "x", "y", "self", "k"]);
        text.replace('$', variable)
    }
}

/// The forms of expressions of a type: those without and with subexpressions.
fn forms(type_: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match type_ {
        "bool" => (
            &[
                "self.spec.flag",
                "true",
                "has(self.spec.short)",
                "has(self.spec.object.deep.text)",
                "$",
                "has(self.spec.tags.a)",
            ],
            &[
                "{bool} && {bool}",
                "({bool} || {bool})",
                "!({bool})",
                "({bool} ? {bool} : {bool})",
                "{int} < {int}",
                "{int} == {int}",
                "{string} == {string}",
                "{string} != {string}",
                "{double} >= {double}",
                "{string}.startsWith({string})",
                "{string}.contains({string})",
                "{string}.matches({string})",
                "{string}.matches('^[a-z]+$')",
                "{strings}.all(x, {bool})",
                "{strings}.exists(y, {bool})",
                "{ints}.all(y, {bool})",
                "{ints}.exists_one(x, {bool})",
                "{map}.all(k, {bool})",
                "{map}.exists(k, x, {bool})",
                "{strings}.all(x, y, {bool})",
                "{string} in {strings}",
                "{string} in {map}",
                "{int} in {ints}",
                "{strings} == {strings}",
                "{time} < {time}",
                "{wait} >= {wait}",
                "{optional}.hasValue()",
                "{dyn} == {int}",
                "{bytes} == {bytes}",
                "type({dyn}) == string",
                "sets.contains({strings}, {strings})",
                "sets.intersects({ints}, {ints})",
                "{strings}.isSorted()",
                "isIP({string})",
                "isURL({string})",
                "isQuantity({string})",
                "quantity({string}).isLessThan(quantity('1'))",
                "ip({string}).isLoopback()",
                "cidr('10.0.0.0/8').containsIP({string})",
                "semver({string}) == semver('1.0.0')",
                "self.spec.parts.all(x, {bool})",
                "self.spec.parts.exists(x, x.name == {string})",
                "self.spec.grid.all(x, x.all(y, {bool}))",
                "oldSelf.spec.number == {int}",
                "({bool}) == ({bool})",
                "format.dns1123Label().validate({string}).hasValue()",
                "self.spec.object == self.spec.object",
                "{map} == {map}",
                "bool({string})",
            ],
        ),
        "int" => (
            &["self.spec.number", "1", "-3", "self.spec.big", "$", "0x10", "self.spec.counts['a']", "$.size"],
            &[
                "{int} + {int}",
                "({int} - {int})",
                "{int} * {int}",
                "{int} % {int}",
                "-({int})",
                "{string}.size()",
                "size({strings})",
                "{strings}.size()",
                "{map}.size()",
                "{ints}.sum()",
                "{ints}[{int}]",
                "{ints}.max()",
                "({bool} ? {int} : {int})",
                "{string}.indexOf({string})",
                "int({double})",
                "int({string})",
                "{time}.getHours()",
                "{wait}.getSeconds()",
                "{optional}.orValue(1)",
                "{strings}.indexOf({string})",
                "{ints}.map(x, {int}).min()",
                "{bytes}.size()",
                "lists.range({int}).sum()",
                "int({time})",
            ],
        ),
        "double" => (
            &["self.spec.ratio", "1.5", "-2e3", "$"],
            &["{double} * {double}", "double({int})", "-({double})", "({double} / {double})"],
        ),
        "string" => (
            &[
                "self.spec.short",
                "self.spec.other",
                "'abc'",
                "\"a\\nb\"",
                "self.spec.text",
                "self.spec.choice",
                "$",
                "self.spec.tags['a']",
                "self.spec.object.name",
                "self.spec.a__dash__b",
                "self.spec.namespace",
                "$.name",
                "self.metadata.name",
                "r'\\d+'",
            ],
            &[
                "{string} + {string}",
                "({bool} ? {string} : {string})",
                "{strings}[0]",
                "{strings}.join(',')",
                "{string}.lowerAscii()",
                "{string}.replace({string}, {string})",
                "{string}.substring({int})",
                "{map}[{string}]",
                "{map}.a",
                "string({int})",
                "{optional}.orValue('a')",
                "{string}.trim()",
                "{string}.charAt({int})",
                "string({bytes})",
                "{string}.find('[a-z]+')",
                "{strings}.max()",
                "'%s-%d'.format([{string}, {int}])",
                "string({time})",
                "url({string}).getHost()",
            ],
        ),
        "strings" => (
            &[
                "self.spec.few",
                "self.spec.names",
                "self.spec.words",
                "['a', 'b']",
                "[]",
                "$.list",
                "self.spec.shelves['a']",
            ],
            &[
                "{strings}.filter(x, {bool})",
                "{strings}.map(x, {string})",
                "{strings} + {strings}",
                "[{string}, {string}]",
                "{string}.split(',')",
                "{strings}.map(y, {bool}, {string})",
                "{map}.map(k, {string})",
                "({bool} ? {strings} : {strings})",
                "{string}.findAll('a', {int})",
                "{strings}.sort()",
                "{strings}.distinct()",
                "{strings}.slice({int}, {int})",
                "[?{optional}, {string}]",
                "{map}.transformList(k, x, {string})",
                "{strings}.reverse()",
                "self.spec.parts.map(x, x.name)",
                "{strings}.sortBy(x, {int})",
            ],
        ),
        "ints" => (
            &["self.spec.numbers", "[1, 2, 3]", "self.spec.grid[0]", "[]"],
            &[
                "{ints}.filter(x, {bool})",
                "{strings}.map(x, {int})",
                "{ints}.map(y, {int})",
                "[{int}, {int}]",
                "{ints} + {ints}",
                "{strings}.transformList(x, y, {int})",
                "self.spec.grid.flatten()",
                "lists.range({int})",
                "{ints}.sort()",
            ],
        ),
        "map" => (
            ["self.spec.tags", "self.spec.labels", "self.spec.?tags.orValue(self.spec.labels)"].as_slice(),
            &["{map}.transformMap(k, y, {string})", "({bool} ? {map} : {map})", "{map}.transformMapEntry(k, y, {map})"],
        ),
        "time" => (
            &["self.spec.time", "self.spec.date", "timestamp('2025-01-31T12:00:00Z')"],
            &["{time} + {wait}", "{time} - {wait}", "timestamp({string})", "self.spec.times.max()"],
        ),
        "wait" => {
            (&["self.spec.wait", "duration('1h')"], &["{time} - {time}", "{wait} + {wait}", "duration({string})"])
        }
        "bytes" => (&["self.spec.blob", "self.spec.data", "b'abc'"], &["bytes({string})", "{bytes} + {bytes}"]),
        "optional" => (
            &["self.spec.?short", "optional.none()", "self.spec.?object.name", "self.spec.few[?0]"],
            &[
                "optional.of({string})",
                "{optional}.or({optional})",
                "{optional}.optMap(x, {string})",
                "{optional}.optFlatMap(y, {optional})",
                "{strings}.first()",
                "{map}[?{string}]",
                "{map}.?a",
            ],
        ),
        _ => (&["self.spec.port", "self.spec.percent"], &["dyn({int})", "dyn({string})", "({bool} ? {dyn} : {dyn})"]),
    }
}
