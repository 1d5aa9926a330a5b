//! Compares JSON values.

use serde_json::Value;

/// Adds every path where two values differ.
pub fn differ(path: &str, compiled: &Value, read: &Value, differences: &mut Vec<String>) {
    match (compiled, read) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
                let nothing = Value::String("(absent)".into());
                let (left, right) = (left.get(key).unwrap_or(&nothing), right.get(key).unwrap_or(&nothing));
                differ(&format!("{path}.{key}"), left, right, differences);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differ(&format!("{path}[{index}]"), left, right, differences);
            }
        }
        (Value::Number(left), Value::Number(right)) if left.as_f64() == right.as_f64() => {}
        (left, right) if left == right => {}
        (left, right) => differences.push(format!("{path}:\n  compiled {left}\n  read     {right}")),
    }
}
