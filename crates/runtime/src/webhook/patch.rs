//! The changes of a webhook, as a JSON patch of the object that the API server sent.

use serde_json::{Value, json};

/// The differences between the encoded object before and after the webhook, applied to what the API server sent. So
/// fields that the type lacks are kept, and defaults that it adds on decoding are not written.
pub fn changes(sent: &Value, before: &Value, after: &Value) -> Vec<Value> {
    let mut patch = Vec::new();
    compare("", sent, before, after, &mut patch);
    patch
}

fn compare(path: &str, sent: &Value, before: &Value, after: &Value, patch: &mut Vec<Value>) {
    if before == after {
        return;
    }
    match (sent, before, after) {
        (Value::Object(sent), Value::Object(before), Value::Object(after)) => {
            let gone = before.keys().filter(|key| !after.contains_key(*key));
            for key in gone.filter(|key| sent.contains_key(*key)) {
                patch.push(json!({ "op": "remove", "path": below(path, key) }));
            }
            for (key, after) in after {
                let path = below(path, key);
                match (sent.get(key), before.get(key)) {
                    (Some(sent), Some(before)) => compare(&path, sent, before, after, patch),
                    (None, Some(before)) if before == after => {}
                    _ => patch.push(json!({ "op": "add", "path": path, "value": after })),
                }
            }
        }
        (Value::Array(sent), Value::Array(before), Value::Array(after))
            if sent.len() == before.len() && before.len() == after.len() =>
        {
            let elements = sent.iter().zip(before).zip(after);
            for (index, ((sent, before), after)) in elements.enumerate() {
                compare(&format!("{path}/{index}"), sent, before, after, patch);
            }
        }
        (Value::Array(sent), Value::Array(before), Value::Array(after)) => {
            // Unchanged elements are written as they were sent.
            let place = |element| before.iter().position(|before| before == element);
            let as_sent = |element| place(element).and_then(|place| sent.get(place));
            let value: Vec<&Value> = after.iter().map(|element| as_sent(element).unwrap_or(element)).collect();
            patch.push(json!({ "op": "replace", "path": path, "value": value }));
        }
        _ => patch.push(json!({ "op": "replace", "path": path, "value": after })),
    }
}

/// Appends a key to a JSON pointer.
fn below(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_what_the_webhook_changed_and_nothing_else() {
        for (sent, before, after, patch) in [
            // A default of the type, not a change of the webhook.
            (json!({}), json!({ "a": 1 }), json!({ "a": 1 }), json!([])),
            (json!({}), json!({ "a": 1 }), json!({ "a": 2 }), json!([{ "op": "add", "path": "/a", "value": 2 }])),
            (
                json!({ "a": 1, "unknown": 1 }),
                json!({ "a": 1 }),
                json!({ "a": 2 }),
                json!([{ "op": "replace", "path": "/a", "value": 2 }]),
            ),
            (
                json!({ "a": null, "b/~c": 1 }),
                json!({ "b/~c": 1 }),
                json!({ "a": {} }),
                json!([
                    { "op": "remove", "path": "/b~1~0c" },
                    { "op": "add", "path": "/a", "value": {} },
                ]),
            ),
            (
                json!([{ "unknown": 1 }, { "a": 1, "unknown": 2 }]),
                json!([{}, { "a": 1 }]),
                json!([{}, { "a": 2 }]),
                json!([{ "op": "replace", "path": "/1/a", "value": 2 }]),
            ),
            (
                json!([{ "a": 1, "unknown": 1 }]),
                json!([{ "a": 1 }]),
                json!([{ "a": 0 }, { "a": 1 }]),
                json!([{ "op": "replace", "path": "", "value": [{ "a": 0 }, { "a": 1, "unknown": 1 }] }]),
            ),
        ] {
            assert_eq!(Value::from(changes(&sent, &before, &after)), patch);
        }
    }
}
