//! The objects of the mock API server, and its responses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::mock::{Call, status};
use crate::client::target::Target;

pub(super) struct Store {
    /// The objects, by URL path.
    objects: BTreeMap<String, Value>,
    /// The last resource version and uid. Starts after that of [`stored`](super::stored), so that each response is
    /// newer.
    version: u64,
}

impl Default for Store {
    fn default() -> Self {
        Self { objects: BTreeMap::new(), version: 1 }
    }
}

type Answer = (u16, Value);

impl Store {
    pub fn insert(&mut self, path: String, object: Value) {
        self.store(path, object);
    }

    pub fn answer(&mut self, call: &Call) -> Answer {
        let target = call.target();
        let subresource = target.subresource();
        let path = match subresource {
            Some(subresource) => call.path.strip_suffix(&format!("/{subresource}")).unwrap_or(&call.path),
            None => &call.path,
        };
        let is_dry_run = call.query.contains("dryRun=All");
        let known = self.objects.get(path).cloned();
        match (target.verb, known) {
            ("get", _) if path == "/version" => (200, version()),
            ("get", Some(object)) => (200, object),
            ("list", _) => (200, self.list(path, &target)),
            // The watch ends at once.
            ("watch", _) => (200, Value::Null),
            ("create", _) if is_question(&target) => (201, call.body.clone()),
            ("create", _) => self.create(path, call, &target, is_dry_run),
            ("patch", known) if call.is_apply() => {
                let code = if known.is_some() { 200 } else { 201 };
                let mut object = known.clone().unwrap_or_else(|| json!({}));
                merge(&mut object, of_subresource(&call.body, subresource));
                // A status without an object is not stored.
                let is_stored = !is_dry_run && (known.is_some() || subresource.is_none());
                (code, self.finish(path, object, known.as_ref(), is_stored))
            }
            ("patch", Some(known)) => match patched(&known, call, subresource) {
                Ok(object) => (200, self.finish(path, object, Some(&known), !is_dry_run)),
                Err(why) => (422, message(422, "Invalid", &why)),
            },
            ("update", Some(known)) => {
                let [seen, now] = [&call.body, &known].map(|object| object["metadata"]["resourceVersion"].clone());
                if !seen.is_null() && seen != now {
                    return (409, message(409, "Conflict", "the object has been modified"));
                }
                let object = match subresource {
                    Some(_) => {
                        let mut object = known.clone();
                        object["status"] = call.body["status"].clone();
                        object
                    }
                    None => call.body.clone(),
                };
                (200, self.finish(path, object, Some(&known), !is_dry_run))
            }
            ("delete", Some(known)) if has_finalizers(&known) => {
                let mut object = known.clone();
                let metadata = &mut object["metadata"];
                if metadata["deletionTimestamp"].is_null() {
                    metadata["deletionTimestamp"] = CREATION.into();
                }
                (200, self.finish(path, object, Some(&known), !is_dry_run))
            }
            ("delete", Some(known)) => {
                if !is_dry_run {
                    self.objects.remove(path);
                }
                (200, known)
            }
            ("deletecollection", _) => {
                let list = self.list(path, &target);
                let is_in = |other: &String| is_in(other, path, &target);
                if !is_dry_run {
                    self.objects.retain(|other, _| !is_in(other));
                }
                (200, list)
            }
            _ => {
                let resource = [target.resource.as_str(), &target.group].join(".");
                let name = target.name.unwrap_or_default();
                let why = format!("{} \"{name}\" not found", resource.trim_end_matches('.'));
                (404, message(404, "NotFound", &why))
            }
        }
    }

    fn create(&mut self, path: &str, call: &Call, target: &Target, is_dry_run: bool) -> Answer {
        let mut object = call.body.clone();
        let metadata = &mut object["metadata"];
        if metadata["name"].is_null()
            && let Some(prefix) = metadata["generateName"].as_str()
        {
            metadata["name"] = format!("{prefix}{:05}", self.version + 1).into();
        }
        let Some(name) = metadata["name"].as_str().map(str::to_owned) else {
            return (422, message(422, "Invalid", "metadata.name: Required value: name or generateName is required"));
        };
        if let Some(namespace) = &target.namespace {
            metadata["namespace"] = namespace.as_str().into();
        }
        let path = format!("{path}/{name}");
        if self.objects.contains_key(&path) {
            return (409, message(409, "AlreadyExists", &format!("{} \"{name}\" already exists", target.resource)));
        }
        (201, self.finish(&path, object, None, !is_dry_run))
    }

    /// Sets the metadata that an API server sets, and stores the object.
    fn finish(&mut self, path: &str, mut object: Value, before: Option<&Value>, is_stored: bool) -> Value {
        let changed = |field: &str| before.is_some_and(|before| before[field] != object[field]);
        let is_new_generation = before.is_none() || changed("spec");
        if before == Some(&object) {
            return object;
        }
        let metadata = &mut object["metadata"];
        if is_new_generation {
            let last = before.and_then(|before| before["metadata"]["generation"].as_i64());
            metadata["generation"] = (last.unwrap_or(0) + 1).into();
        }
        if before.is_none() {
            metadata["creationTimestamp"] = CREATION.into();
        }
        // An apply need not contain the name.
        if metadata["name"].is_null()
            && let Some(name) = path.rsplit('/').next()
        {
            metadata["name"] = name.into();
        }
        if !is_stored {
            self.stamp(&mut object);
            return object;
        }
        if !object["metadata"]["deletionTimestamp"].is_null() && !has_finalizers(&object) {
            self.objects.remove(path);
            return object;
        }
        self.store(path.to_owned(), object)
    }

    fn store(&mut self, path: String, mut object: Value) -> Value {
        self.stamp(&mut object);
        self.objects.insert(path, object.clone());
        object
    }

    fn stamp(&mut self, object: &mut Value) {
        self.version += 1;
        let metadata = &mut object["metadata"];
        if metadata["uid"].is_null() {
            metadata["uid"] = format!("00000000-0000-4000-8000-{:012}", self.version).into();
        }
        metadata["resourceVersion"] = self.version.to_string().into();
    }

    fn list(&self, path: &str, target: &Target) -> Value {
        let items: Vec<&Value> =
            self.objects.iter().filter(|(other, _)| is_in(other, path, target)).map(|(_, it)| it).collect();
        // All items have the same kind.
        let first = items.first().map_or(json!({}), |item| json!({ "v": item["apiVersion"], "k": item["kind"] }));
        let kind = first["k"].as_str().map_or_else(|| "List".to_owned(), |kind| format!("{kind}List"));
        let api_version = first["v"].as_str().unwrap_or("v1");
        let metadata = json!({ "resourceVersion": self.version.to_string() });
        json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "items": items })
    }
}

/// Time of creation of all objects, long ago.
const CREATION: &str = "2025-01-01T00:00:00Z";

/// `true` if the object at a path belongs to the list at another one: of a namespace, or of the cluster.
fn is_in(object: &str, list: &str, target: &Target) -> bool {
    let Ok(uri) = object.parse() else {
        return false;
    };
    let found = Target::of(&http::Method::GET, &uri);
    let version =
        |path: &str| path.split('/').take(if target.group.is_empty() { 3 } else { 4 }).collect::<Vec<_>>().join("/");
    (&found.group, &found.resource) == (&target.group, &target.resource)
        && version(object) == version(list)
        && (target.namespace.is_none() || found.namespace == target.namespace)
}

/// `true` for requests whose objects are not stored: reviews, subresources, and events, which no controller reads.
fn is_question(target: &Target) -> bool {
    matches!(target.group.as_str(), "authentication.k8s.io" | "authorization.k8s.io" | "events.k8s.io")
        || target.resource == "events"
        || target.resource.contains('/')
}

fn has_finalizers(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|list| !list.is_empty())
}

/// The part of a body that a request may change: for the subresource `status`, only the status.
fn of_subresource(body: &Value, subresource: Option<&str>) -> Value {
    match subresource {
        Some("status") => {
            json!({ "apiVersion": body["apiVersion"], "kind": body["kind"], "status": body["status"] })
        }
        _ => {
            let mut body = body.clone();
            // The version is a precondition, and not a field to apply.
            if let Some(metadata) = body["metadata"].as_object_mut() {
                metadata.remove("resourceVersion");
            }
            body
        }
    }
}

fn patched(known: &Value, call: &Call, subresource: Option<&str>) -> Result<Value, String> {
    let mut object = known.clone();
    match call.content_type.as_str() {
        "application/json-patch+json" => {
            let patch: json_patch::Patch = serde_json::from_value(call.body.clone()).map_err(|it| it.to_string())?;
            json_patch::patch(&mut object, &patch).map_err(|error| error.to_string())?;
        }
        // Strategic merge patches too: lists are replaced.
        _ if subresource == Some("status") => merge(&mut object, json!({ "status": call.body["status"] })),
        _ => merge(&mut object, call.body.clone()),
    }
    Ok(object)
}

/// JSON merge patch (RFC 7396): objects are merged, null removes, everything else replaces.
fn merge(into: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *into = patch;
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in patch {
        match value {
            Value::Null => {
                if let Some(fields) = into.as_object_mut() {
                    fields.remove(&key);
                }
            }
            value => merge(&mut into[key], value),
        }
    }
}

fn message(code: u16, reason: &str, message: &str) -> Value {
    let mut body = status(code, reason);
    body["message"] = message.into();
    body
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "0", "gitVersion": "v1.0.0-mock", "gitCommit": "", "gitTreeState": "", "buildDate": "",
        "goVersion": "", "compiler": "", "platform": "",
    })
}
