//! Validation of objects with the schema of their kind.

use opctl_schema::apiserver::ObjectFinding;
use serde_json::{Value, json};

use crate::object::{crd, findings};

/// The findings about an object `a` with these fields, of a kind with this spec.
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
                "OP451: unknown field `vlaue` in `spec.parts[1]` (the only field is `name`)",
                r#"OP456: `spec.parts[2]`: {"name":"a"} duplicates item 0"#,
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

#[test]
fn says_which_rule_does_not_hold() {
    let spec = |rule: Value| {
        json!({
            "type": "object",
            "properties": {
                "size": {"type": "integer", "default": 3},
                "name": {"type": "string"},
                "namespace": {"type": "string"},
                "list": {"type": "array", "items": {"type": "integer"}},
                "port": {"x-kubernetes-int-or-string": true},
            },
            "x-kubernetes-validations": [rule],
        })
    };
    let long: Vec<u32> = (0..2000).collect();
    for (rule, fields, expected) in [
        (json!({"rule": "self.size == 3"}), json!({}), &[] as &[&str]),
        (json!({"rule": "self.size == 1"}), json!({"size": 1.0}), &[]),
        (json!({"rule": "self == oldSelf"}), json!({}), &[]),
        (json!({"rule": "!oldSelf.hasValue()", "optionalOldSelf": true}), json!({}), &[]),
        (json!({"rule": "self.namespace == 'a' && self.__namespace__ == 'a'"}), json!({"namespace": "a"}), &[]),
        (json!({"rule": "self.port == 80 || self.port == 'http'"}), json!({"port": "http"}), &[]),
        (
            json!({"rule": "self.size > 3"}),
            json!({}),
            &["OP460: `spec`: failed rule: self.size > 3 (the rule is `self.size > 3`)"],
        ),
        (
            json!({"rule": "self.size > 3", "message": "too small ", "fieldPath": ".size"}),
            json!({}),
            &["OP460: `spec.size`: too small (the rule is `self.size > 3`)"],
        ),
        (
            json!({"rule": "self.size > 3", "message": "no", "messageExpression": "'has %d'.format([self.size])"}),
            json!({"size": 2}),
            &["OP460: `spec`: has 2 (the rule is `self.size > 3`)"],
        ),
        (
            json!({"rule": "self.size > 3", "message": "no", "messageExpression": "self.name"}),
            json!({"size": 2}),
            &["OP460: `spec`: no (the rule is `self.size > 3`)"],
        ),
        (
            json!({"rule": "self.name != ''", "message": "a name"}),
            json!({}),
            &[
                "OP461: `spec`: a rule cannot be evaluated, and so refuses the object: no such key: name (the rule is `self.name != ''`) (it says: a name)",
            ],
        ),
        (
            json!({"rule": "self.list.all(x, self.list.all(y, x + y >= 0))"}),
            json!({"list": long}),
            &[
                "OP462: `spec`: a rule cannot be evaluated here: rules with so many steps (the rule is `self.list.all(x, self.list.all(y, x + y >= 0))`)",
            ],
        ),
        (
            json!({"rule": "timestamp('2025-01-31T12:00:00Z').getHours('Europe/Berlin') == 13"}),
            json!({}),
            &[
                "OP462: `spec`: a rule cannot be evaluated here: the time zone `Europe/Berlin` (the rule is `timestamp('2025-01-31T12:00:00Z').getHours('Europe/Berlin') == 13`)",
            ],
        ),
        // With a structural error, the API server does not evaluate rules.
        (json!({"rule": "false"}), json!({"size": "1"}), &[r#"OP453: `spec.size`: "1" is not of type `integer`"#]),
    ] {
        assert_eq!(said(spec(rule.clone()), json!({"spec": fields})), expected, "{rule}");
    }
}
