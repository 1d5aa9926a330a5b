use serde_json::json;

use super::*;

/// A CRD with one version, with this schema of `spec.a`.
fn crd(field: Value) -> Value {
    with_spec(json!({ "type": "object", "properties": { "a": field, "b": { "type": "string" } } }))
}

fn with_spec(spec: Value) -> Value {
    let schema = json!({ "type": "object", "properties": { "spec": spec } });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } });
    whole(json!([version]))
}

fn whole(versions: Value) -> Value {
    json!({
        "metadata": { "name": "webs.example.com" },
        "spec": { "group": "example.com", "scope": "Namespaced", "names": { "kind": "Web", "plural": "webs" }, "versions": versions },
    })
}

/// Code, impact, path of each change.
fn found(old: &Value, new: &Value) -> Vec<(&'static str, Impact, String)> {
    let changes = compare(std::slice::from_ref(old), std::slice::from_ref(new));
    changes.into_iter().map(|change| (change.code.name, change.impact, change.path)).collect()
}

#[track_caller]
fn check(old: &Value, new: &Value, code: &str, impact: Impact) {
    let found = found(old, new);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1), (code, impact), "{found:?}");
}

/// Checks a change of `spec.a`.
#[track_caller]
fn field(old: Value, new: Value, code: &str, impact: Impact) {
    check(&crd(old.clone()), &crd(new.clone()), code, impact);
    assert_eq!(found(&crd(old.clone()), &crd(new))[0].2, "spec.a");
    assert_eq!(found(&crd(old.clone()), &crd(old)), []);
}

use Impact::{Breaking, Loss, Note, Warning};

#[test]
fn types() {
    let of = |name: &str| json!({ "type": name });
    field(of("string"), of("integer"), "OP602", Breaking);
    field(of("integer"), of("number"), "OP605", Warning);
    field(of("number"), of("integer"), "OP602", Breaking);
    field(of("string"), json!({ "x-kubernetes-int-or-string": true }), "OP605", Warning);
    field(json!({ "x-kubernetes-int-or-string": true }), of("string"), "OP602", Breaking);
    field(of("string"), json!({ "x-kubernetes-preserve-unknown-fields": true }), "OP605", Warning);
}

#[test]
fn values() {
    let of = |keyword: &str, value: Value| {
        let kind = match keyword {
            "maxLength" | "minLength" | "pattern" | "enum" => "string",
            "maxItems" | "minItems" | "uniqueItems" => "array",
            "maxProperties" | "minProperties" => "object",
            _ => "integer",
        };
        let mut schema = json!({ "type": kind });
        if !value.is_null() {
            schema[keyword] = value;
        }
        schema
    };
    let none = Value::Null;
    for (keyword, low, high) in [
        ("maximum", 1, 2),
        ("maxLength", 1, 2),
        ("maxItems", 1, 2),
        ("maxProperties", 1, 2),
        ("minimum", 2, 1),
        ("minLength", 2, 1),
        ("minItems", 2, 1),
        ("minProperties", 2, 1),
    ] {
        field(of(keyword, json!(high)), of(keyword, json!(low)), "OP603", Breaking);
        field(of(keyword, json!(low)), of(keyword, json!(high)), "OP605", Note);
        field(of(keyword, none.clone()), of(keyword, json!(low)), "OP603", Breaking);
        // An unsigned number.
        let impact = if keyword == "minimum" { Warning } else { Note };
        field(of(keyword, json!(low)), of(keyword, none.clone()), "OP605", impact);
    }
    for (keyword, value) in [("pattern", json!("^a$")), ("uniqueItems", json!(true)), ("multipleOf", json!(2))] {
        field(of(keyword, none.clone()), of(keyword, value.clone()), "OP603", Breaking);
        field(of(keyword, value), of(keyword, none.clone()), "OP605", Note);
    }
    field(of("pattern", json!("^a$")), of("pattern", json!("^b$")), "OP603", Breaking);
    field(of("multipleOf", json!(6)), of("multipleOf", json!(3)), "OP605", Note);
    field(of("multipleOf", json!(3)), of("multipleOf", json!(6)), "OP603", Breaking);
    field(of("enum", json!(["a", "b"])), of("enum", json!(["a"])), "OP603", Breaking);
    field(of("enum", json!(["a"])), of("enum", json!(["a", "b"])), "OP605", Warning);
    field(of("enum", none.clone()), of("enum", json!(["a"])), "OP603", Breaking);
    field(of("enum", json!(["a"])), of("enum", none.clone()), "OP605", Warning);
    field(of("format", json!("int32")), of("format", json!("int64")), "OP605", Warning);
    field(of("format", json!("int64")), of("format", json!("int32")), "OP603", Breaking);
    field(of("format", none.clone()), of("format", json!("date-time")), "OP605", Note);
    let time = json!({ "type": "string", "format": "date-time" });
    field(json!({ "type": "string" }), time, "OP603", Breaking);
    field(of("format", none.clone()), of("format", json!("uint8")), "OP605", Note);
    field(of("format", json!("uint8")), of("format", json!("uint16")), "OP605", Note);
    field(of("minimum", json!(0)), of("minimum", json!(-1)), "OP605", Warning);
    field(of("minimum", json!(-1)), of("minimum", json!(-2)), "OP605", Note);
    // The minimum excludes no value.
    assert_eq!(found(&crd(of("minLength", none)), &crd(of("minLength", json!(0)))), []);
}

/// Adds keywords that reject no value.
#[test]
fn a_keyword_that_refuses_no_value_breaks_no_writer() {
    let nothing = |old: Value, new: Value| assert_eq!(found(&crd(old), &crd(new)), []);
    let note = |old: Value, new: Value| field(old, new, "OP605", Note);
    let int32 = json!({ "type": "integer", "format": "int32" });
    nothing(int32.clone(), json!({ "type": "integer", "format": "int32", "maximum": 2_147_483_647 }));
    nothing(json!({ "type": "integer" }), json!({ "type": "integer", "multipleOf": 1 }));
    nothing(json!({ "type": "boolean" }), json!({ "type": "boolean", "enum": [false, true] }));
    nothing(
        json!({ "type": "integer", "exclusiveMaximum": false }),
        json!({ "type": "integer", "exclusiveMaximum": true }),
    );
    let limit = |maximum: i32, is_exclusive: bool| json!({ "type": "integer", "maximum": maximum, "exclusiveMaximum": is_exclusive });
    field(limit(5, false), limit(5, true), "OP603", Breaking);
    field(limit(5, true), limit(4, false), "OP605", Note);
    let two = json!({ "type": "integer", "minimum": 1, "maximum": 2 });
    let mut listed = two.clone();
    listed["enum"] = json!([1, 2]);
    nothing(two, listed);
    let tiers = json!({ "type": "string", "enum": ["basic", "pro"] });
    let mut tiers_with_pattern = tiers.clone();
    tiers_with_pattern["pattern"] = json!("^[a-z]+$");
    nothing(tiers.clone(), tiers_with_pattern.clone());
    tiers_with_pattern["pattern"] = json!("^b");
    field(tiers, tiers_with_pattern, "OP603", Breaking);
    // Formats that the API server does not check.
    let port = |format: &str| json!({ "type": "integer", "format": format, "minimum": 0, "maximum": 65535 });
    note(port("uint16"), port("int32"));
    note(port("int32"), port("uint16"));
    note(json!({ "type": "string", "format": "ip" }), json!({ "type": "string" }));
    note(json!({ "type": "string", "format": "ip" }), json!({ "type": "string", "format": "url" }));
}

#[test]
fn another_order_and_other_blanks_change_nothing() {
    let ruled = |rule: &str| json!({ "type": "string", "x-kubernetes-validations": [{ "rule": rule }] });
    assert_eq!(found(&crd(ruled("self in ['a  b']&&true")), &crd(ruled("self in ['a  b'] // both\n && true"))), []);
    field(ruled("self in ['a  b']"), ruled("self in ['a b']"), "OP603", Breaking);
    let listed = |keys: Value| {
        let fields = json!({ "a": { "type": "string" }, "b": { "type": "string" } });
        let items = json!({ "type": "object", "required": ["a", "b"], "properties": fields });
        json!({ "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": items })
    };
    assert_eq!(found(&crd(listed(json!(["a", "b"]))), &crd(listed(json!(["b", "a"])))), []);
    let choice = |key: &str, branches: Value| json!({ "type": "object", key: branches });
    for key in ["allOf", "anyOf", "oneOf"] {
        let [one, other] = [json!({ "required": ["x"] }), json!({ "required": ["y"] })];
        assert_eq!(found(&crd(choice(key, json!([one, other]))), &crd(choice(key, json!([other, one])))), []);
    }
}

/// The fixes that OP329 suggests for Rust types.
#[test]
fn a_known_format_with_the_range_of_the_rust_type_is_no_breaking_change() {
    let unsigned = json!({ "type": "integer", "format": "uint32", "minimum": 0 });
    let ranged = json!({ "type": "integer", "format": "int64", "minimum": 0, "maximum": 4_294_967_295_u64 });
    let changes = found(&crd(unsigned), &crd(ranged));
    assert_eq!(changes, [("OP603", Warning, "spec.a".into()), ("OP605", Note, "spec.a".into())]);
}

#[test]
fn a_format_that_refuses_values_names_one() {
    let of = |format: &str| crd(json!({ "type": "string", "format": format }));
    let changes = compare(&[of("uuid")], &[of("uuid4")]);
    assert!(
        changes[0].message.contains(
            "`format` changes from `uuid` to `uuid4`, which does not accept `6ba7b810-9dad-11d1-80b4-00c04fd430c8`"
        ),
        "{changes:?}"
    );
}

#[test]
fn numbers_with_a_point_are_the_same_numbers() {
    let of = |number: Value| json!({ "type": "number", "minimum": number, "default": number, "enum": [number, 7], "multipleOf": number });
    assert_eq!(found(&crd(of(json!(4))), &crd(of(json!(4.0)))), []);
    assert_eq!(found(&crd(of(json!(1000))), &crd(of(serde_json::from_str("1e3").unwrap()))), []);
    let object = |number: Value| json!({ "type": "object", "default": { "x": [number] }, "properties": {} });
    assert_eq!(found(&crd(object(json!(4))), &crd(object(json!(4.0)))), []);
}

#[test]
fn a_value_that_the_operator_writes_breaks_readers() {
    let of = |values: Value| {
        let status = json!({ "type": "object", "properties": { "phase": { "type": "string", "enum": values } } });
        let schema = json!({ "type": "object", "properties": { "status": status } });
        whole(json!([{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }]))
    };
    check(&of(json!(["a"])), &of(json!(["a", "b"])), "OP605", Breaking);
}

#[test]
fn null_and_defaults() {
    let nullable = json!({ "type": "string", "nullable": true });
    let plain = json!({ "type": "string" });
    field(nullable.clone(), plain.clone(), "OP602", Breaking);
    field(plain.clone(), nullable, "OP605", Warning);
    let of = |default: &str| json!({ "type": "string", "default": default });
    field(plain.clone(), of("a"), "OP604", Warning);
    field(of("a"), of("b"), "OP604", Breaking);
    field(of("a"), plain, "OP604", Breaking);
}

#[test]
fn fields() {
    let of = |properties: Value, required: Value| {
        with_spec(json!({ "type": "object", "properties": properties, "required": required }))
    };
    let a = json!({ "a": { "type": "string" } });
    let both = json!({ "a": { "type": "string" }, "b": { "type": "string" } });
    let b_by_default = json!({ "a": { "type": "string" }, "b": { "type": "string", "default": "x" } });
    check(&of(both.clone(), json!([])), &of(a.clone(), json!([])), "OP601", Loss);
    check(&of(a.clone(), json!([])), &of(both.clone(), json!([])), "OP605", Note);
    check(&of(a.clone(), json!([])), &of(both.clone(), json!(["b"])), "OP602", Breaking);
    check(&of(a.clone(), json!([])), &of(b_by_default.clone(), json!(["b"])), "OP604", Warning);
    check(&of(both.clone(), json!([])), &of(both.clone(), json!(["a"])), "OP602", Breaking);
    check(&of(both.clone(), json!(["a"])), &of(both.clone(), json!([])), "OP605", Warning);
    check(&of(b_by_default.clone(), json!([])), &of(b_by_default.clone(), json!(["b"])), "OP605", Note);
    let both = of(both, json!(["b"]));
    let changes: Vec<_> = found(&of(b_by_default, json!(["b"])), &both).into_iter().map(|it| it.0).collect();
    assert_eq!(changes, ["OP604", "OP602"]);
    // A required field in an object that is itself new breaks nobody.
    let inner = json!({ "a": { "type": "string" }, "b": { "type": "object", "required": ["c"], "properties": { "c": { "type": "string" } } } });
    check(&of(a, json!([])), &of(inner, json!([])), "OP605", Note);
}

#[test]
fn maps_lists_and_unknown_fields() {
    let map = json!({ "type": "object", "additionalProperties": { "type": "string", "maxLength": 5 } });
    let object = json!({ "type": "object", "properties": { "x": { "type": "string" } } });
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    field(map.clone(), object.clone(), "OP601", Loss);
    field(open.clone(), json!({ "type": "object" }), "OP601", Loss);
    field(json!({ "type": "object" }), open, "OP605", Warning);
    let longer = json!({ "type": "object", "additionalProperties": { "type": "string", "maxLength": 3 } });
    assert_eq!(found(&crd(map), &crd(longer)), [("OP603", Breaking, "spec.a{}".to_owned())]);
    let of = |kind: &str| json!({ "type": "array", "x-kubernetes-list-type": kind, "items": { "type": "string" } });
    field(of("atomic"), of("set"), "OP608", Breaking);
    field(of("set"), of("atomic"), "OP608", Warning);
    let items = |max: i32| json!({ "type": "array", "items": { "type": "integer", "maximum": max } });
    assert_eq!(found(&crd(items(3)), &crd(items(2))), [("OP603", Breaking, "spec.a[]".to_owned())]);
    let atomic = json!({ "type": "object", "x-kubernetes-map-type": "atomic" });
    field(json!({ "type": "object" }), atomic, "OP608", Warning);
}

/// Confirmed with an API server: it rejects a label for these, and accepts it for the others.
#[test]
fn a_value_with_fields_that_have_no_schema_is_held_to_a_new_limit() {
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let keyed = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
        "items": { "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": { "n": { "type": "string" } } },
    });
    let with = |schema: &Value, key: &str, value: Value| {
        let mut schema = schema.clone();
        schema[key] = value;
        schema
    };
    let inside = json!({ "type": "object", "properties": { "o": open } });
    let values = json!({ "type": "object", "additionalProperties": open });
    for schema in [&open, &inside, &values] {
        field(schema.clone(), with(schema, "minProperties", json!(2)), "OP602", Breaking);
    }
    field(keyed.clone(), with(&keyed, "maxItems", json!(1)), "OP602", Breaking);
    field(open.clone(), with(&open, "x-kubernetes-validations", json!([{ "rule": "false" }])), "OP602", Breaking);
    let items = json!({ "type": "array", "items": open });
    field(items.clone(), with(&items, "maxItems", json!(1)), "OP603", Breaking);
    let named = json!({ "type": "object", "properties": { "q": { "type": "array", "items": { "type": "string" } } } });
    field(named.clone(), with(&named, "minProperties", json!(2)), "OP603", Breaking);
}

#[test]
fn rules_and_logic() {
    let of = |rule: &str| json!({ "type": "string", "x-kubernetes-validations": [{ "rule": rule }] });
    field(json!({ "type": "string" }), of("self != ''"), "OP603", Breaking);
    field(json!({ "type": "string" }), of("self == oldSelf"), "OP602", Breaking);
    assert_eq!(found(&crd(of("self != ''")), &crd(json!({ "type": "string" }))), []);
    let parent = |rules: Value| {
        with_spec(json!({
            "type": "object", "properties": { "a": { "type": "string" } }, "x-kubernetes-validations": rules,
        }))
    };
    check(&parent(json!([])), &parent(json!([{ "rule": "has(self.a)" }])), "OP602", Breaking);
    // Only the message changes.
    let said = |message: &str| parent(json!([{ "rule": "has(self.a)", "message": message }]));
    assert_eq!(found(&said("one"), &said("other")), []);
    let choice = |names: &[&str]| {
        let branches: Vec<Value> = names.iter().map(|name| json!({ "required": [name] })).collect();
        json!({ "type": "object", "oneOf": branches })
    };
    field(choice(&["x"]), choice(&["x", "y"]), "OP605", Warning);
    field(choice(&["x", "y"]), choice(&["x"]), "OP602", Breaking);
    field(json!({ "type": "object" }), choice(&["x"]), "OP602", Breaking);
    field(choice(&["x"]), json!({ "type": "object" }), "OP605", Note);
    let unclear = |max: i32| json!({ "type": "integer", "oneOf": [{ "maximum": max }, { "minimum": 9 }] });
    field(unclear(1), unclear(2), "OP610", Warning);
    let other = |value: i32| json!({ "type": "integer", "x-kubernetes-something": value });
    field(other(1), other(2), "OP610", Warning);
}

#[test]
fn descriptions_are_no_change() {
    let of = |text: &str| json!({ "type": "string", "description": text, "title": text });
    assert_eq!(found(&crd(of("one")), &crd(of("other"))), []);
}

#[test]
fn names_scope_and_the_crd_itself() {
    let crd = crd(json!({ "type": "string" }));
    let with = |path: &str, value: Value| {
        let mut changed = crd.clone();
        *changed.pointer_mut(path).unwrap() = value;
        changed
    };
    check(&crd, &with("/spec/scope", json!("Cluster")), "OP606", Loss);
    check(&crd, &with("/spec/names/kind", json!("Site")), "OP606", Loss);
    let named = |singular: &str| {
        let mut crd = crd.clone();
        crd["spec"]["names"]["singular"] = json!(singular);
        crd
    };
    check(&named("web"), &named("page"), "OP607", Warning);
    let mut short = crd.clone();
    short["spec"]["names"]["shortNames"] = json!(["w"]);
    check(&short, &crd, "OP607", Note);
    assert_eq!(compare(std::slice::from_ref(&crd), &[])[0].code.name, "OP606");
    assert_eq!(compare(&[], std::slice::from_ref(&crd)), []);
    let renamed = with("/metadata/name", json!("sites.example.com"));
    let change = compare(&[crd], &[renamed]).remove(0);
    assert!(change.help.as_ref().is_some_and(|help| help.contains("sites.example.com")), "{change:?}");
}

/// Versions: name, served, storage, and the fields of the spec.
fn versions(of: &[(&str, bool, bool, &[&str])]) -> Value {
    let version = |(name, served, storage, fields): &(&str, bool, bool, &[&str])| {
        let properties: serde_json::Map<_, _> =
            fields.iter().map(|field| ((*field).to_owned(), json!({ "type": "string" }))).collect();
        let schema =
            json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": properties } } });
        json!({ "name": name, "served": served, "storage": storage, "schema": { "openAPIV3Schema": schema } })
    };
    whole(of.iter().map(version).collect())
}

#[test]
fn versions_come_and_go() {
    let one = versions(&[("v1", true, true, &["a"])]);
    let two = versions(&[("v1", true, true, &["a"]), ("v2", true, false, &["a"])]);
    check(&one, &two, "OP609", Note);
    check(&two, &one, "OP601", Loss);
    let unserved = versions(&[("v1", true, true, &["a"]), ("v2", false, false, &["a"])]);
    check(&two, &unserved, "OP603", Breaking);
    check(&unserved, &one, "OP601", Warning);
    let mut deprecated = two.clone();
    deprecated["spec"]["versions"][1]["deprecated"] = json!(true);
    check(&two, &deprecated, "OP609", Note);
    check(&deprecated, &unserved, "OP603", Warning);
    // `storedVersions` of the cluster takes precedence.
    let with_stored = |stored: Value| {
        let mut crd = unserved.clone();
        crd["status"] = json!({ "storedVersions": stored });
        crd
    };
    check(&with_stored(json!(["v1", "v2"])), &one, "OP601", Loss);
    check(&with_stored(json!(["v1"])), &one, "OP609", Note);
    let flipped = versions(&[("v1", true, false, &["a"]), ("v2", true, true, &["a"])]);
    check(&two, &flipped, "OP609", Warning);
    assert_eq!(found(&one, &flipped).iter().map(|it| it.1).max(), Some(Breaking), "at once");
}

#[test]
fn without_a_conversion_no_field_may_be_missing_in_the_stored_version() {
    let one = versions(&[("v1", true, true, &["a"])]);
    let lossy = versions(&[("v1", true, true, &["a"]), ("v2", true, false, &["a", "b"])]);
    assert!(found(&one, &lossy).contains(&("OP601", Loss, String::new())));
    assert_eq!(lost_fields(&lossy["spec"]), [("v2".to_owned(), "spec.b".to_owned())]);
    assert_eq!(lost_fields(&one["spec"]), []);
    assert_eq!(found(&lossy, &lossy), [], "it was so before");
    let mut converted = lossy.clone();
    converted["spec"]["conversion"] = json!({ "strategy": "Webhook" });
    assert_eq!(found(&one, &converted), [("OP609", Note, String::new())]);
    check(&lossy, &converted, "OP609", Warning);
    let at = |path: &str| {
        let mut crd = converted.clone();
        crd["spec"]["conversion"]["webhook"] = json!({ "clientConfig": { "service": { "name": "a", "path": path } } });
        crd
    };
    check(&at("/convert"), &at("/v2/convert"), "OP609", Warning);
    let mut prefixed = at("/convert");
    prefixed["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"] = json!("shop-a");
    assert_eq!(found(&at("/convert"), &prefixed), []);
    check(&converted, &lossy, "OP601", Loss);
}

#[test]
fn subresources_columns_and_selectable_fields() {
    let with = |fields: Value| {
        let mut crd = versions(&[("v1", true, true, &["a"])]);
        let version = crd["spec"]["versions"][0].as_object_mut().unwrap();
        version.extend(fields.as_object().unwrap().clone());
        crd
    };
    let none = with(json!({}));
    let status = with(json!({ "subresources": { "status": {} } }));
    check(&status, &none, "OP601", Loss);
    check(&none, &status, "OP607", Warning);
    let scale = |path: &str| with(json!({ "subresources": { "scale": { "specReplicasPath": path } } }));
    check(&scale(".spec.a"), &scale(".spec.b"), "OP607", Breaking);
    check(&scale(".spec.a"), &none, "OP607", Breaking);
    check(&with(json!({ "selectableFields": [{ "jsonPath": ".spec.a" }] })), &none, "OP607", Breaking);
    check(&with(json!({ "additionalPrinterColumns": [{ "name": "A" }] })), &none, "OP607", Warning);
}

/// Every change has victims and a consequence, unless it is a note.
#[test]
fn only_notes_have_no_reason() {
    let old = versions(&[("v1", true, true, &["a", "b"]), ("v2", true, false, &["a"])]);
    let new = versions(&[("v1", true, false, &["a"]), ("v3", true, true, &["a", "c"])]);
    for change in compare(&[old], &[new]) {
        assert!(change.impact == Note || !change.why.is_empty() && !change.victims.is_empty(), "{change:?}");
    }
}
