//! Annotations and dependencies. Source: `pkg/lib/bundle/validate.go` and `pkg/registry/types.go` of operator-registry.

use super::super::findings::Findings;
use super::super::folder::{Bundle, PREFIX};
use super::super::semver::Range;
use super::{head, place, text};
use opctl_kustomize::yaml::{Node, Value};
use opctl_schema::apiserver::cel_syntax;

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    annotations(bundle, findings);
    for dependency in bundle.dependencies.iter().flat_map(Node::items) {
        if let Err((at, problem)) = check_dependency(dependency) {
            findings.error("dependency", &place(dependency, &at), problem);
        }
    }
    if let Some(node) = bundle.dependencies.as_ref().filter(|node| !matches!(node.value, Value::List(_))) {
        findings.error("dependency", &head(node), "`dependencies` is not a list");
    }
}

fn annotations(bundle: &Bundle, findings: &mut Findings) {
    let all = &bundle.annotations;
    for entry in all.entries() {
        if let Value::List(_) | Value::Map(_) = entry.value.value {
            let message = format!("the annotation `{}` is not a text, so no tool reads the annotations", entry.key);
            findings
                .error("bundle-metadata", &head(&entry.value), message)
                .help("write a list as one text, e.g. `stable,fast`");
        }
    }
    for name in ["mediatype.v1", "manifests.v1", "metadata.v1", "package.v1", "channels.v1"] {
        let Some(value) = bundle.annotation(name) else {
            findings.error("annotation-missing", &head(all), format!("the annotation `{PREFIX}{name}` is missing"));
            continue;
        };
        if !matches!(value.value, Value::Text(_) | Value::List(_) | Value::Map(_)) {
            let message = format!("the annotation `{PREFIX}{name}` is not a text");
            findings.error("annotation-missing", &value.span, message).help("quote it");
        }
    }
    if let Some(media_type) = bundle.annotation("mediatype.v1").filter(|it| it.as_text() != Some("registry+v1")) {
        let message = format!(
            "the media type of a bundle with a ClusterServiceVersion is `registry+v1`, not `{}`",
            shown(media_type)
        );
        findings.error("annotation-mediatype", &media_type.span, message);
    }
    for (name, rule, what) in [
        ("channels.v1", "annotation-channels", "the bundle is in no channel"),
        ("channel.default.v1", "annotation-default-channel", "the default channel has no name"),
    ] {
        if let Some(value) = bundle.annotation(name).filter(|it| it.as_text().is_none_or(str::is_empty)) {
            let help = if rule == "annotation-channels" {
                "list its channels, e.g. `alpha`"
            } else {
                "name a channel, or remove the annotation"
            };
            findings.error(rule, &value.span, what).help(help);
        }
    }
}

fn shown(node: &Node) -> String {
    node.as_text().map_or_else(|| node.json().to_string(), str::to_owned)
}

type Problem = (Vec<&'static str>, String);

fn check_dependency(dependency: &Node) -> Result<(), Problem> {
    let value = dependency.get("value");
    let get = |key: &str| value.map_or("", |value| text(value, key));
    let missing = |key: &'static str, of: &str| Err((vec!["value", key], format!("`{key}` of this {of} is missing")));
    let needs = |keys: &[&'static str], of: &str| {
        keys.iter().find(|key| get(key).is_empty()).map_or(Ok(()), |key| missing(key, of))
    };
    match text(dependency, "type") {
        "olm.gvk" => needs(&["group", "version", "kind"], "API"),
        "olm.package" => {
            needs(&["packageName", "version"], "package")?;
            Range::parse(get("version")).map(drop).map_err(|problem| (vec!["value", "version"], problem))
        }
        "olm.label" => needs(&["label"], "label"),
        "olm.constraint" => {
            let Some(rule) = value.and_then(|value| value.text_at(&["cel", "rule"])).filter(|rule| !rule.is_empty())
            else {
                return Err((vec!["value"], "this constraint has no expression in `cel.rule`".into()));
            };
            cel_syntax(rule).map_err(|problem| (vec!["value", "cel", "rule"], format!("this is not CEL: {problem}")))
        }
        "" => Err((vec!["type"], "this dependency has no type".into())),
        other => {
            let help = "the types are `olm.gvk`, `olm.package`, `olm.label` and `olm.constraint`";
            Err((vec!["type"], format!("unknown dependency type `{other}`: {help}")))
        }
    }
}
