//! The CRDs of the project and of the cluster: which one is newer, who edited it, its conversion, and old versions that
//! are still stored.

use serde_json::{Value, json};

use super::Project;
use super::gather::Facts;
use crate::findings::Finding;
use crate::{Obstacle, Storage, differences, list, name};
use opctl_schema::compat;

pub fn examine(project: &Project, facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    let kind = "CustomResourceDefinition";
    let around: Vec<&Value> = facts.installed.of(kind).chain(facts.others.of(kind)).collect();
    for crd in project.of(kind) {
        match facts.installed(crd) {
            Err(why) => {
                found.push(Finding::skipped(format!("`{}` cannot be read: {why}", name(crd))).about(name(crd)));
            }
            Ok(None) => {
                let what = format!("`{}` is not installed", name(crd));
                found.push(Finding::error(what).about(name(crd)).help("opctl install"));
            }
            Ok(Some(installed)) => {
                found.extend(check(crd, installed, &around).into_iter().map(|finding| finding.about(name(crd))));
            }
        }
    }
    found
}

/// `around` contains the CRDs of the cluster in the groups of the project.
fn check(ours: &Value, installed: &Value, around: &[&Value]) -> Vec<Finding> {
    let name = name(ours);
    let storage = Storage::of(installed);
    let obstacles = Obstacle::all(installed, around.iter().copied());
    let mut found: Vec<Finding> = obstacles
        .into_iter()
        .map(|it| Finding { help: it.help.clone(), ..Finding::error(format!("`{name}` {it}")) })
        .collect();
    found.extend(drift(ours, installed));
    let converts = |crd: &Value| crd["spec"]["conversion"]["strategy"] == "Webhook";
    if converts(ours) && !converts(installed) {
        let what =
            format!("`{name}` is not converted by the webhook of the project: fields of other versions are lost");
        found.push(Finding::error(what).help("opctl deploy --image IMAGE"));
    }
    found.extend(versions(ours, &storage));
    if found.is_empty() {
        let (what, schema) = match has_schema(ours) {
            true => ("is that of the project", "up to date"),
            false => ("is installed, with a schema that was not compared", "not compared"),
        };
        let finding = Finding::ok(format!("`{name}` {what}, stored as {}", storage.version));
        found.push(
            finding.with("schema", schema).with("served", served(installed)).with("stored", storage.stored).row(),
        );
    }
    found
}

/// The differences of the CRDs, and which of them is newer.
fn drift(ours: &Value, installed: &Value) -> Option<Finding> {
    let editor = editor(installed).map(|editor| format!("; last edited by {editor}")).unwrap_or_default();
    let identity = identity(installed);
    let installed = if has_schema(ours) { installed } else { &identity };
    let differences = differences(ours, installed);
    if differences.is_empty() {
        return None;
    }
    let name = name(ours);
    let only = |one: &Value, other: &Value| compat::only_in(&one["spec"], &other["spec"]);
    let (mut missing, mut unknown) = (only(ours, installed), only(installed, ours));
    for list in [&mut missing, &mut unknown] {
        if list.len() > SHOWN {
            let more = list.split_off(SHOWN).len();
            list.push(format!("{more} more"));
        }
    }
    let what = match (missing.is_empty(), unknown.is_empty()) {
        (false, true) => format!("`{name}` is older in the cluster: it has no {}", missing.join(", ")),
        (true, false) => {
            format!("`{name}` is newer in the cluster: the project has no {}", unknown.join(", "))
        }
        (false, false) => format!(
            "`{name}` differs: the cluster has no {}, and the project has no {}",
            missing.join(", "),
            unknown.join(", ")
        ),
        (true, true) => format!("`{name}` differs: {}", differences.join(", ")),
    };
    let finding = Finding::warning(format!("{what}{editor}"));
    Some(match missing.is_empty() && !unknown.is_empty() {
        true => finding
            .help("update the project to the release that runs; `opctl install` would remove this from the cluster"),
        false => finding.help("opctl install"),
    })
}

/// `false` for a kind of which only the identity is known.
fn has_schema(crd: &Value) -> bool {
    list(&crd["spec"]["versions"]).iter().any(|version| version["schema"].is_object())
}

/// The parts of a CRD that are known without its schema.
fn identity(crd: &Value) -> Value {
    let spec = &crd["spec"];
    let version = |version: &Value| {
        let subresources =
            if version["subresources"]["status"].is_object() { json!({ "status": {} }) } else { json!({}) };
        json!({ "name": version["name"], "served": version["served"], "subresources": subresources })
    };
    json!({ "metadata": crd["metadata"], "spec": {
        "scope": spec["scope"], "names": { "kind": spec["names"]["kind"], "plural": spec["names"]["plural"] },
        "versions": list(&spec["versions"]).iter().map(version).collect::<Vec<_>>(),
    } })
}

fn served(crd: &Value) -> Vec<&str> {
    let served = list(&crd["spec"]["versions"]).iter().filter(|version| version["served"] == true);
    served.filter_map(|version| version["name"].as_str()).collect()
}

/// The maximum number of fields in a message.
const SHOWN: usize = 4;

/// The field manager that last changed the versions, unless it is opctl.
fn editor(installed: &Value) -> Option<String> {
    let of_versions = |entry: &&Value| entry["fieldsV1"]["f:spec"].get("f:versions").is_some();
    let entries = list(&installed["metadata"]["managedFields"]).iter().filter(of_versions);
    let last = entries.max_by_key(|entry| entry["time"].as_str().unwrap_or_default())?;
    let manager = last["manager"].as_str().filter(|manager| *manager != "opctl")?;
    Some(format!("`{manager}` at {}", last["time"].as_str().unwrap_or_default()))
}

fn versions(ours: &Value, storage: &Storage) -> Option<Finding> {
    let name = &storage.crd;
    let has = |version: &str| list(&ours["spec"]["versions"]).iter().any(|it| it["name"] == version);
    let gone: Vec<&str> = storage.stored.iter().map(String::as_str).filter(|version| !has(version)).collect();
    if !gone.is_empty() {
        let what = format!(
            "objects of `{name}` may be stored as {}, which the project no longer has: the API server would refuse its CRD",
            gone.join(" and ")
        );
        return Some(Finding::error(what).help("opctl migrate"));
    }
    let old = storage.old();
    if old.is_empty() {
        return None;
    }
    let what =
        format!("objects of `{name}` may still be stored as {}, instead of {}", old.join(" and "), storage.version);
    Some(Finding::warning(what).help("opctl migrate"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::findings::Severity;

    fn crd(fields: &[&str], stored: &[&str]) -> Value {
        let properties: Value = fields.iter().map(|field| ((*field).to_owned(), json!({ "type": "string" }))).collect();
        json!({
            "metadata": { "name": "as.b.c" },
            "spec": { "scope": "Namespaced", "names": { "kind": "A", "plural": "as" }, "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": properties } },
            }] },
            "status": { "storedVersions": stored, "conditions": [{ "type": "Established", "status": "True" }] },
        })
    }

    fn only(ours: &Value, installed: &Value) -> (Severity, String) {
        let mut found = check(ours, installed, &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        let finding = found.remove(0);
        (finding.severity, finding.what)
    }

    #[test]
    fn the_direction_of_a_drift_is_that_of_its_fields() {
        let (small, large) = (crd(&["a"], &["v1"]), crd(&["a", "b"], &["v1"]));
        let ok = "`as.b.c` is that of the project, stored as v1";
        assert_eq!(only(&small, &small), (Severity::Ok, ok.into()));
        let older = "`as.b.c` is older in the cluster: it has no `b` of v1";
        assert_eq!(only(&large, &small), (Severity::Warning, older.into()));
        let newer = "`as.b.c` is newer in the cluster: the project has no `b` of v1";
        assert_eq!(only(&small, &large), (Severity::Warning, newer.into()));
        let both = "`as.b.c` differs: the cluster has no `a` of v1, and the project has no `b` of v1";
        assert_eq!(only(&small, &crd(&["b"], &["v1"])), (Severity::Warning, both.into()));
        let mut limited = small.clone();
        limited["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"]["maxLength"] = json!(3);
        limited["metadata"]["managedFields"] = json!([
            { "manager": "opctl", "time": "2026-01-01T00:00:00Z", "fieldsV1": { "f:spec": { "f:versions": {} } } },
            { "manager": "kubectl-edit", "time": "2026-01-02T00:00:00Z", "fieldsV1": { "f:spec": { "f:versions": {} } } },
        ]);
        let edited = "`as.b.c` differs: schema of v1; last edited by `kubectl-edit` at 2026-01-02T00:00:00Z";
        assert_eq!(only(&small, &limited), (Severity::Warning, edited.into()));
    }

    #[test]
    fn without_a_schema_the_identity_is_compared() {
        let installed = crd(&["a"], &["v1"]);
        let stub = |version: &str, scope: &str| {
            json!({
                "metadata": { "name": "as.b.c" },
                "spec": { "scope": scope, "names": { "kind": "A", "plural": "as" },
                    "versions": [{ "name": version, "served": true, "subresources": {} }] },
            })
        };
        let ok = "`as.b.c` is installed, with a schema that was not compared, stored as v1";
        assert_eq!(only(&stub("v1", "Namespaced"), &installed), (Severity::Ok, ok.into()));
        let differs = "`as.b.c` differs: the scope";
        assert_eq!(only(&stub("v1", "Cluster"), &installed), (Severity::Warning, differs.into()));
        assert_eq!(check(&stub("v2", "Namespaced"), &installed, &[])[0].severity, Severity::Warning);
    }

    #[test]
    fn old_versions_are_migrated_before_they_are_removed() {
        let ours = crd(&["a"], &["v1"]);
        assert_eq!(only(&ours, &crd(&["a"], &["v1beta1", "v1"])).0, Severity::Error);
        let mut both = ours.clone();
        let mut old = ours["spec"]["versions"][0].clone();
        (old["name"], old["storage"]) = (json!("v1beta1"), json!(false));
        both["spec"]["versions"].as_array_mut().unwrap().push(old);
        let mut installed = both.clone();
        installed["status"]["storedVersions"] = json!(["v1beta1", "v1"]);
        let pending = "objects of `as.b.c` may still be stored as v1beta1, instead of v1";
        assert_eq!(only(&both, &installed), (Severity::Warning, pending.into()));
    }

    #[test]
    fn a_crd_without_its_conversion_or_on_its_way_out_is_an_error() {
        let ours = crd(&["a"], &["v1"]);
        let mut converted = ours.clone();
        converted["spec"]["conversion"] = json!({ "strategy": "Webhook" });
        assert_eq!(only(&converted, &ours).0, Severity::Error);
        let mut going = ours.clone();
        going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(only(&ours, &going).0, Severity::Error);
    }
}
