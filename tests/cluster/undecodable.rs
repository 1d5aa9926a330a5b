//! What an API server admits, and a type does not decode: an API server stores what is reported, until the attribute is
//! added.

use opctl_source::emit::CustomResourceDefinition;
use serde_json::Value;

use crate::admitted::objects;
use crate::control_plane::ControlPlane;
use crate::undecodable_cases::{cases, check, fixed};

#[test]
fn the_api_server_stores_what_is_reported_until_the_attribute_is_added() {
    let Some(control_plane) = ControlPlane::start("undecodable", 0) else { return };
    let mut wrong = Vec::new();
    for (name, (_, text)) in cases() {
        let (before, reported) = objects(&name, &text);
        let install = |crd: &CustomResourceDefinition| {
            let crd = serde_json::to_string(crd).unwrap();
            control_plane.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", "-"], &crd);
        };
        install(&before);
        for (path, object) in &reported {
            // As it was reported, so that nothing was dropped.
            let is_kept =
                |outcome: &Result<Value, String>| outcome.as_ref().is_ok_and(|stored| is_same(stored, object));
            let outcome = until(|| store(&control_plane, &before, object), is_kept);
            if !is_kept(&outcome) {
                wrong.push(format!("{name}: {path}: reported {object}, and got {outcome:?}"));
            }
        }
        // An attribute twice does not compile.
        if name == "bounds_too_wide" {
            continue;
        }
        let (after, left) = objects(&name, &fixed(&text, &check(&name, &text)));
        install(&after);
        let is_left = |path: &String| left.iter().any(|(left, _)| left == path);
        for (path, object) in reported.iter().filter(|(path, _)| !is_left(path)) {
            // A null is replaced by its default.
            let is_closed = |outcome: &Result<Value, String>| match outcome {
                Ok(stored) => !is_same(stored, object),
                Err(why) => why.contains("is invalid"),
            };
            let outcome = until(|| store(&control_plane, &after, object), is_closed);
            if !is_closed(&outcome) {
                wrong.push(format!("{name}: {path}: with the attribute, still {outcome:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The API server takes a moment to serve a schema.
fn until<T>(attempt: impl Fn() -> T, is_expected: impl Fn(&T) -> bool) -> T {
    for _ in 0..25 {
        let outcome = attempt();
        if is_expected(&outcome) {
            return outcome;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    attempt()
}

/// Apart from metadata.
fn is_same(stored: &Value, object: &Value) -> bool {
    ["spec", "status"].iter().all(|part| stored.get(part) == object.get(part))
}

/// What the API server stores of the object, which is removed again.
fn store(control_plane: &ControlPlane, crd: &CustomResourceDefinition, object: &Value) -> Result<Value, String> {
    let plural = format!("{}.{}", crd.spec.names.plural, crd.spec.group);
    let output = |arguments: &[&str], stdin: &str| {
        let output = control_plane.run(arguments, stdin);
        match output.status.success() {
            true => Ok(serde_json::from_slice(&output.stdout).unwrap()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    let mut stored = output(&["create", "--validate=false", "-o", "json", "-f", "-"], &object.to_string());
    let has_subresource = crd.spec.versions[0].subresources.as_ref().is_some_and(|it| it.status.is_some());
    if stored.is_ok() && has_subresource && object.get("status").is_some() {
        let patch = serde_json::json!({ "status": object["status"] }).to_string();
        let arguments = ["patch", &plural, "a", "--subresource=status", "--type=merge", "-o", "json", "-p", &patch];
        stored = output(&arguments, "");
    }
    control_plane.run(&["delete", &plural, "a", "--ignore-not-found"], "");
    stored
}
