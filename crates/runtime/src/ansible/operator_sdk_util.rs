//! The collection `operator_sdk.util` for roles of operator-sdk's operators: three modules, reimplemented for this
//! runtime.
//!
//! `k8s_status` writes to the status of an object during a run. The operator does not overwrite these fields: see
//! [`foreign`].

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;

use crate::processes::{make_folder, private_file};

const MODULES: [(&str, &str); 3] = [
    ("k8s_status", include_str!("operator_sdk_util/k8s_status.py")),
    ("osdk_metric", include_str!("operator_sdk_util/osdk_metric.py")),
    ("requeue_after", include_str!("operator_sdk_util/requeue_after.py")),
];

/// The field manager of `k8s_status`.
const MANAGER: &str = "operator_sdk.util.k8s_status";

/// Writes the collection into a folder of collections.
pub(super) fn write(collections: &Path) -> io::Result<()> {
    let folder = collections.join("ansible_collections/operator_sdk/util/plugins/modules");
    make_folder(&folder)?;
    for (name, text) in MODULES {
        private_file(&folder.join(format!("{name}.py")))?.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Status fields and condition types that `k8s_status` owns.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Foreign {
    pub fields: BTreeSet<String>,
    pub conditions: BTreeSet<String>,
}

/// The parts of the status that `k8s_status` has written, according to `managedFields`.
pub(super) fn foreign(object: &Value) -> Foreign {
    let mut foreign = Foreign::default();
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    for entry in entries.filter(|entry| entry["manager"] == MANAGER) {
        let status = &entry["fieldsV1"]["f:status"];
        for (name, below) in status.as_object().into_iter().flatten() {
            match name.strip_prefix("f:") {
                Some("conditions") => {
                    let keys = below.as_object().into_iter().flatten().filter_map(|(key, _)| key.strip_prefix("k:"));
                    let keys = keys.filter_map(|key| serde_json::from_str::<Value>(key).ok());
                    foreign.conditions.extend(keys.filter_map(|key| Some(key["type"].as_str()?.to_owned())));
                }
                Some(name) => _ = foreign.fields.insert(name.to_owned()),
                None => {}
            }
        }
    }
    foreign
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_belong_to_the_module_that_wrote_them() {
        let object = json!({ "metadata": { "managedFields": [
            { "manager": MANAGER, "fieldsV1": { "f:status": {
                "f:adminUser": {},
                "f:conditions": { "k:{\"type\":\"Web-Ready\"}": { ".": {}, "f:status": {} } },
            } } },
            { "manager": "operator", "fieldsV1": { "f:status": { "f:lastRun": {} } } },
        ] } });
        let Foreign { fields, conditions } = foreign(&object);
        assert_eq!(Vec::from_iter(fields), ["adminUser"]);
        assert_eq!(Vec::from_iter(conditions), ["Web-Ready"]);
        assert_eq!(foreign(&json!({})), Foreign::default());
    }
}
