//! Migrates fields that a client-side helm has written, such as helm 3 or operator-sdk's operator. A server-side apply
//! removes only fields that its own field manager has applied, so fields that a later version of the chart omits would
//! stay forever.

use kube::api::{Patch, PatchParams};
use serde_json::{Map, Value, json};

use super::manifest::RELEASE_NAME;
use super::objects::HELM;
use crate::apply::patch;
use crate::{Context, Result};

/// Transfers these fields to the field manager of helm's server-side apply, like helm 4 does for its own client-side
/// fields. A manager counts as a client-side helm if it has written helm's annotation.
pub(super) async fn migrate(live: &Value, url: &str, name: &str, ctx: &Context) -> Result<()> {
    let Some(managed) = migrated(&live["metadata"]["managedFields"]) else { return Ok(()) };
    let version = &live["metadata"]["resourceVersion"];
    let body = json!({ "metadata": { "resourceVersion": version, "managedFields": managed } });
    match patch(&ctx.client, url, name, None, &PatchParams::default(), &Patch::Merge(body)).await {
        // The object has changed since it was read. The next reconcile tries again.
        Err(kube::Error::Api(changed)) if changed.code == 404 || changed.code == 409 => Ok(()),
        written => Ok(written.map(drop)?),
    }
}

fn migrated(managed: &Value) -> Option<Vec<Value>> {
    let is_main = |entry: &Value| entry["subresource"].as_str().unwrap_or_default().is_empty();
    let annotation = format!("f:{RELEASE_NAME}");
    let is_client_side = |entry: &Value| {
        let fields = &entry["fieldsV1"]["f:metadata"]["f:annotations"][&annotation];
        is_main(entry) && entry["operation"] == "Update" && !fields.is_null()
    };
    let is_helm = |entry: &Value| is_main(entry) && entry["operation"] == "Apply" && entry["manager"] == HELM;
    let (old, mut kept): (Vec<&Value>, Vec<&Value>) =
        managed.as_array()?.iter().partition(|entry| is_client_side(entry));
    let mut applied = kept.iter().find(|entry| is_helm(entry)).or(old.first()).map(|entry| (**entry).clone())?;
    if old.is_empty() {
        return None;
    }
    kept.retain(|entry| !is_helm(entry));
    applied["manager"] = HELM.into();
    applied["operation"] = "Apply".into();
    for entry in old {
        if let (Some(all), Some(more)) = (applied["fieldsV1"].as_object_mut(), entry["fieldsV1"].as_object()) {
            unite(all, more);
        }
    }
    Some(kept.into_iter().cloned().chain([applied]).collect())
}

/// Merges two field sets, which are nested maps.
fn unite(all: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, below) in more {
        match (all.get_mut(name).and_then(Value::as_object_mut), below.as_object()) {
            (Some(all), Some(below)) => unite(all, below),
            _ => drop(all.insert(name.clone(), below.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, subresource: &str, fields: &Value) -> Value {
        json!({ "manager": manager, "operation": operation, "subresource": subresource, "fieldsV1": fields })
    }

    #[test]
    fn fields_of_a_client_side_helm_become_those_of_its_apply() {
        let annotated = json!({ "f:metadata": { "f:annotations": { "f:meta.helm.sh/release-name": {} } }, "f:data": { "f:old": {} } });
        let others = [
            entry("kubectl", "Update", "", &json!({ "f:data": { "f:own": {} } })),
            entry("helm-operator", "Update", "status", &json!({ "f:status": {} })),
        ];
        let old = entry("helm-operator", "Update", "", &annotated);
        let applied = entry("helm", "Apply", "", &json!({ "f:data": { "f:new": {} } }));

        let first = migrated(&json!([others[0], others[1], old])).unwrap();
        assert_eq!(first, [others[0].clone(), others[1].clone(), entry("helm", "Apply", "", &annotated)]);
        let mut united = annotated.clone();
        united["f:data"]["f:new"] = json!({});
        let both = migrated(&json!([others[0], applied, old])).unwrap();
        assert_eq!(both, [others[0].clone(), entry("helm", "Apply", "", &united)]);
        assert_eq!(migrated(&json!([others[0], applied])), None);
        assert_eq!(migrated(&Value::Null), None);
    }
}
