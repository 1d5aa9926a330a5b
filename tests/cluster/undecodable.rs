//! Objects that an API server admits and a type cannot decode: an API server stores each reported object, until the
//! suggested attribute is added.

use std::sync::Mutex;
use std::thread;

use opctl_source::emit::CustomResourceDefinition;
use serde_json::{Value, json};

use crate::admitted::objects;
use crate::api::{self, Api, CRDS};
use crate::control_plane::ControlPlane;
use crate::undecodable_cases::{cases, check, fixed};

#[test]
fn the_api_server_stores_what_is_reported_until_the_attribute_is_added() {
    let Some(control_plane) = ControlPlane::start("undecodable", 0) else { return };
    // Each case waits until the API server serves its schemas.
    let cases = Mutex::new(cases().into_iter());
    let work = || {
        let mut api = Api::of(&control_plane);
        let mut wrong = Vec::new();
        let next = || cases.lock().unwrap().next();
        while let Some((name, (_, text))) = next() {
            wrong.extend(prove(&mut api, &name, &text));
        }
        wrong
    };
    let wrong = thread::scope(|scope| {
        let workers = [(); 4].map(|()| scope.spawn(work));
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The objects of a case for which the API server's behavior differs.
fn prove(api: &mut Api, name: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let (before, reported) = objects(name, text);
    install(api, &before);
    for (path, object) in &reported {
        // The stored object equals the reported one, so nothing was dropped.
        let is_kept = |outcome: &Result<Value, String>| outcome.as_ref().is_ok_and(|stored| is_same(stored, object));
        let outcome = until(|| store(api, &before, object), is_kept);
        if !is_kept(&outcome) {
            wrong.push(format!("{name}: {path}: reported {object}, and got {outcome:?}"));
        }
    }
    // A repeated attribute does not compile.
    if name == "bounds_too_wide" {
        return wrong;
    }
    let (after, left) = objects(name, &fixed(text, &check(name, text)));
    install(api, &after);
    let is_left = |path: &String| left.iter().any(|(left, _)| left == path);
    for (path, object) in reported.iter().filter(|(path, _)| !is_left(path)) {
        // A null is replaced by the default.
        let is_closed = |outcome: &Result<Value, String>| match outcome {
            Ok(stored) => !is_same(stored, object),
            Err(why) => why.contains("is invalid"),
        };
        let outcome = until(|| store(api, &after, object), is_closed);
        if !is_closed(&outcome) {
            wrong.push(format!("{name}: {path}: with the attribute, still {outcome:?}"));
        }
    }
    wrong
}

/// Retries, since the API server serves a new schema with a delay.
fn until<T>(mut attempt: impl FnMut() -> T, is_expected: impl Fn(&T) -> bool) -> T {
    for _ in 0..25 {
        let outcome = attempt();
        if is_expected(&outcome) {
            return outcome;
        }
        thread::sleep(std::time::Duration::from_millis(200));
    }
    attempt()
}

/// Compares objects without metadata.
fn is_same(stored: &Value, object: &Value) -> bool {
    ["spec", "status"].iter().all(|part| stored.get(part) == object.get(part))
}

fn install(api: &mut Api, crd: &CustomResourceDefinition) {
    let path = format!("{CRDS}/{}", crd.metadata.name.as_deref().unwrap());
    api::object(api.apply(&path, &json!(crd))).unwrap();
}

/// The stored object, which is deleted again.
fn store(api: &mut Api, crd: &CustomResourceDefinition, object: &Value) -> Result<Value, String> {
    let namespace = if crd.spec.scope == "Namespaced" { "namespaces/default/" } else { "" };
    let version = &crd.spec.versions[0];
    let path = format!("/apis/{}/{}/{namespace}{}", crd.spec.group, version.name, crd.spec.names.plural);
    let mut stored = api::object(api.post(&path, object));
    let has_subresource = version.subresources.as_ref().is_some_and(|it| it.status.is_some());
    if stored.is_ok() && has_subresource && object.get("status").is_some() {
        stored = api::object(api.patch(&format!("{path}/a/status"), &json!({ "status": object["status"] })));
    }
    api.delete(&format!("{path}/a"));
    stored
}
