//! Readers in `opctl manifests --against`. The Rust types are those of an older release. If one cannot decode an object
//! that is valid under the new schema, the change is breaking for readers.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use opctl_schema::compat::{self, Impact, Victim};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A change of the field `a`, and an object that the new schema accepts.
struct Case {
    old: Value,
    new: Value,
    object: Value,
    /// The older type decodes the object.
    decodes: bool,
}

/// A case with a required field, as for a type that is not an `Option`.
fn case<T: DeserializeOwned>(old: Value, new: Value, value: Value) -> Case {
    let object = json!({ "a": value });
    changed::<T>(&json!({ "a": old }), &json!({ "a": new }), &["a"], object)
}

fn changed<T: DeserializeOwned>(old: &Value, new: &Value, required: &[&str], object: Value) -> Case {
    #[derive(Deserialize)]
    struct Spec<T> {
        #[expect(dead_code, reason = "it is only decoded")]
        a: T,
    }
    let of = |properties: &Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    let decodes = serde_json::from_value::<Spec<T>>(object.clone()).is_ok();
    Case { old: of(old, &["a"]), new: of(new, required), object, decodes }
}

#[derive(Deserialize)]
enum Level {
    Low,
    High,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Source {
    #[expect(dead_code, reason = "it is only decoded")]
    Git(String),
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "it is only decoded")]
struct Inner {
    x: String,
    #[serde(default)]
    y: i32,
}

fn cases() -> Vec<Case> {
    let text = json!({ "type": "string" });
    let with = |schema: &Value, key: &str, value: Value| {
        let mut schema = schema.clone();
        schema[key] = value;
        schema
    };
    let integer = json!({ "type": "integer", "format": "int32" });
    let unsigned = json!({ "type": "integer", "format": "uint32", "minimum": 0.0 });
    let levels = |values: &[&str]| json!({ "type": "string", "enum": values });
    let any = json!({ "x-kubernetes-preserve-unknown-fields": true });
    let int_or_string = json!({ "x-kubernetes-int-or-string": true });
    let items = |schema: &Value| json!({ "type": "array", "items": schema });
    let map = |schema: &Value| json!({ "type": "object", "additionalProperties": schema });
    let variants = |names: &[&str]| {
        let properties: Value = names.iter().map(|name| ((*name).to_owned(), text.clone())).collect();
        let branches: Vec<Value> = names.iter().map(|name| json!({ "required": [name] })).collect();
        json!({ "type": "object", "properties": properties, "oneOf": branches })
    };
    let inner = |fields: &[&str], required: &[&str]| {
        let of = |name: &&str| ((*name).to_owned(), if *name == "y" { integer.clone() } else { text.clone() });
        json!({ "type": "object", "properties": fields.iter().map(of).collect::<Value>(), "required": required })
    };
    let fixed = |low: i32, high: i32| json!({ "type": "array", "items": integer, "minItems": low, "maxItems": high });
    vec![
        changed::<String>(&json!({ "a": text }), &json!({ "a": text }), &[], json!({})),
        changed::<String>(&json!({ "a": text }), &json!({ "b": text }), &[], json!({ "b": "x" })),
        changed::<String>(
            &json!({ "a": text }),
            &json!({ "a": text, "b": text }),
            &["a"],
            json!({ "a": "x", "b": "y" }),
        ),
        case::<String>(text.clone(), with(&text, "nullable", json!(true)), json!(null)),
        case::<String>(text.clone(), any.clone(), json!([1])),
        case::<String>(text.clone(), integer.clone(), json!(1)),
        case::<String>(with(&text, "maxLength", json!(3)), text.clone(), json!("long text")),
        case::<char>(with(&with(&text, "minLength", json!(1)), "maxLength", json!(1)), text.clone(), json!("long")),
        case::<Ipv4Addr>(with(&text, "format", json!("ipv4")), text.clone(), json!("x")),
        case::<Time>(with(&text, "format", json!("date-time")), text.clone(), json!("x")),
        case::<Level>(levels(&["Low", "High"]), levels(&["Low", "High", "Middle"]), json!("Middle")),
        case::<Level>(levels(&["Low", "High"]), text.clone(), json!("Middle")),
        case::<Level>(levels(&["Low", "High"]), levels(&["Low"]), json!("Low")),
        case::<i32>(integer.clone(), json!({ "type": "integer", "format": "int64" }), json!(5_000_000_000_i64)),
        case::<i32>(integer.clone(), json!({ "type": "integer" }), json!(5_000_000_000_i64)),
        case::<i32>(integer.clone(), json!({ "type": "number" }), json!(1.5)),
        case::<i32>(integer.clone(), int_or_string.clone(), json!("50%")),
        case::<IntOrString>(int_or_string, text.clone(), json!("50%")),
        case::<u32>(unsigned.clone(), with(&unsigned, "minimum", json!(-5)), json!(-1)),
        case::<u32>(unsigned, json!({ "type": "integer", "format": "uint32" }), json!(-1)),
        case::<u8>(
            json!({ "type": "integer", "format": "uint8", "maximum": 255 }),
            json!({ "type": "integer", "format": "uint16", "maximum": 65535 }),
            json!(300),
        ),
        case::<i64>(with(&integer, "maximum", json!(5)), with(&integer, "maximum", json!(9)), json!(9)),
        case::<Vec<String>>(items(&text), items(&with(&text, "nullable", json!(true))), json!([null])),
        case::<Vec<Level>>(items(&levels(&["Low"])), items(&levels(&["Low", "New"])), json!(["New"])),
        case::<[i32; 3]>(fixed(3, 3), fixed(3, 4), json!([1, 2, 3, 4])),
        case::<Vec<i32>>(fixed(1, 3), fixed(1, 4), json!([1, 2, 3, 4])),
        case::<BTreeMap<String, i32>>(map(&integer), map(&json!({ "type": "number" })), json!({ "x": 1.5 })),
        case::<Source>(variants(&["git"]), variants(&["git", "http"]), json!({ "http": "x" })),
        case::<Inner>(inner(&["x"], &["x"]), inner(&["x", "y"], &["x"]), json!({ "x": "1", "y": 2 })),
        case::<Inner>(inner(&["x", "y"], &["x"]), inner(&["x", "y"], &[]), json!({ "y": 2 })),
        case::<Inner>(inner(&["x", "y"], &["x"]), inner(&["x"], &["x"]), json!({ "x": "1" })),
    ]
}

#[test]
fn what_older_types_cannot_decode_is_a_change_that_breaks_readers() {
    let whole = |spec: &Value| {
        let schema = json!({ "type": "object", "properties": { "spec": spec } });
        let version = json!({ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } });
        json!({ "metadata": { "name": "as.b.c" }, "spec": { "names": { "kind": "A", "plural": "as" }, "versions": [version] } })
    };
    let cases = cases();
    let mut failed = 0;
    for Case { old, new, object, decodes } in &cases {
        let changes = compat::compare(&[whole(old)], &[whole(new)]);
        let breaks_readers =
            |change: &compat::Change| change.impact >= Impact::Warning && change.victims.contains(&Victim::Readers);
        failed += usize::from(!decodes);
        assert!(*decodes || changes.iter().any(breaks_readers), "{old}\n{new}\n{object}\n{changes:?}");
    }
    assert!(failed > 15 && failed < cases.len() - 4, "{failed} of {}", cases.len());
}
