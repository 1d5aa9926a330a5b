//! A cluster, by kubectl: what is asked of it, and what it says.
//!
//! Knows no project: manifests come in as text. What kubectl prints is judged in functions of values, apart from the
//! asking.

mod cause;
mod crds;
mod kubectl;
mod manifest;
mod migration;
mod obstacle;
pub mod olm;
mod rollout;
mod wait;

pub use cause::{Denial, FailureCause};
pub use crds::{Crd, PATIENCE_WITH_NAMES, RemainingObject, State};
pub use kubectl::{Kubectl, KubectlError, KubectlOutput};
pub use manifest::{ManifestError, Object, objects, text};
pub use migration::{Migration, MigrationState, Storage, Sweep, VersionMigration, is_passing};
pub use obstacle::Obstacle;
pub use rollout::{Rollout, events, reasons};
pub use wait::Deadline;

use serde_json::Value;

/// What `kubectl get … -o json` prints: nothing, one object, or a list.
pub fn items(json: &str) -> Vec<Value> {
    match serde_json::from_str::<Value>(json) {
        Ok(Value::Object(mut list)) if list.get("items").is_some_and(Value::is_array) => {
            list.remove("items").and_then(|items| items.as_array().cloned()).unwrap_or_default()
        }
        Ok(object @ Value::Object(_)) => vec![object],
        _ => Vec::new(),
    }
}

/// The text at a JSON pointer, or none.
fn text_at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A condition of an object's status: its status, reason and message.
pub fn condition<'a>(object: &'a Value, kind: &str) -> Option<[&'a str; 3]> {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array)?;
    let condition = conditions.iter().find(|condition| condition["type"] == kind)?;
    Some(["/status", "/reason", "/message"].map(|field| text_at(condition, field)))
}
