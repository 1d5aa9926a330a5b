//! Comparison of a project's CRDs with those of the compiled types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

/// The folder that contains no other CRDs.
const BASES: &str = "config/crd/bases";

/// Checks that the CRDs of the project in this folder are these definitions, wherever `manifests.crds` in PROJECT says:
/// in `config/crd/bases`, which must contain no others, and in other folders, charts and files.
///
/// Ignores what types do not define: the conversion, which follows from markers, and descriptions if PROJECT shortens
/// them. Also ignores CRDs with template actions, whose text depends on the values of a chart.
///
/// # Panics
///
/// If they differ; the message names the definition.
pub fn assert_crds(project: &str, crds: &[CustomResourceDefinition]) {
    let project = Path::new(project);
    let settings: Value = super::read_yaml(&project.join("PROJECT"));
    let manifests = &settings["manifests"];
    let keeps_descriptions = !manifests["maxDescription"].is_number() && manifests["foreignDescriptions"] != false;
    let comparable = |mut crd: Value| {
        remove_conversion(&mut crd);
        if !keeps_descriptions {
            remove_descriptions(&mut crd);
        }
        crd
    };
    let compiled: BTreeMap<&str, Value> = crds
        .iter()
        .map(|crd| {
            let name = crd.metadata.name.as_deref().expect("a CRD has a name");
            (name, comparable(serde_json::to_value(crd).expect("a CRD is JSON")))
        })
        .collect();
    let places = places(&manifests["crds"]);
    let mut missing: Vec<&str> = compiled.keys().copied().collect();
    for place in &places {
        for file in files(&project.join(place)) {
            let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            if text.contains("{{") {
                missing.retain(|name| !text.contains(name));
                continue;
            }
            let committed: Vec<Value> =
                serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            for crd in committed.into_iter().filter(|it| it["kind"] == "CustomResourceDefinition") {
                let name = crd["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                missing.retain(|other| *other != name);
                match compiled.get(name.as_str()) {
                    Some(compiled) => {
                        assert_eq!(comparable(crd), *compiled, "{place} has another `{name}`: run `opctl manifests`");
                    }
                    None => assert!(place != BASES, "{place} still has `{name}`: run `opctl manifests`"),
                }
            }
        }
    }
    assert!(missing.is_empty(), "{} lacks {missing:?}: run `opctl manifests`", places.join(", "));
}

/// The files and folders with CRDs, from `manifests.crds` in PROJECT.
fn places(setting: &Value) -> Vec<String> {
    let texts: Vec<String> = match setting {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(one) => vec![one.clone()],
        _ => vec![BASES.to_owned()],
    };
    texts.into_iter().map(|text| text.trim_start_matches("./").trim_end_matches('/').to_owned()).collect()
}

/// The manifests at a path, sorted. A folder does not exist before the first API.
fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_dir() {
        let entries = place.read_dir().unwrap_or_else(|error| panic!("{}: {error}", place.display()));
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
        paths.sort();
        return paths.iter().flat_map(|path| files(path)).collect();
    }
    let ending = place.extension().and_then(|ending| ending.to_str());
    let is_manifest = ending.is_some_and(|ending| ["yaml", "yml", "json"].contains(&ending));
    if is_manifest && place.is_file() { vec![place.to_owned()] } else { Vec::new() }
}

fn remove_conversion(crd: &mut Value) {
    if let Value::Object(spec) = &mut crd["spec"] {
        spec.remove("conversion");
    }
    if let Value::Object(metadata) = &mut crd["metadata"]
        && let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
    {
        annotations.retain(|key, _| !key.starts_with("cert-manager.io/inject-ca-from"));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

fn remove_descriptions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // A field named `description` stays: its schema is not a string.
            map.retain(|key, value| key != "description" || !value.is_string());
            map.values_mut().for_each(remove_descriptions);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_descriptions),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn crd(name: &str, description: &str) -> CustomResourceDefinition {
        let schema = json!({"openAPIV3Schema": {"type": "object", "description": description}});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema});
        let spec =
            json!({"group": "b.c", "scope": "Cluster", "names": {"kind": "A", "plural": name}, "versions": [version]});
        serde_json::from_value(json!({"metadata": {"name": format!("{name}.b.c")}, "spec": spec})).unwrap()
    }

    fn text(crd: &CustomResourceDefinition) -> String {
        serde_json::to_string(crd).unwrap()
    }

    /// The panic's message for these files, or an empty text.
    fn message(project: &str, files: &[(&str, String)], crds: &[CustomResourceDefinition]) -> String {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [("PROJECT", project.to_owned())].iter().chain(files) {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let panic = std::panic::catch_unwind(|| assert_crds(root.path().to_str().unwrap(), crds));
        panic.err().map(|message| *message.downcast::<String>().unwrap()).unwrap_or_default()
    }

    #[test]
    fn crds_are_compared_where_project_says() {
        let (one, two) = (crd("ones", "1"), crd("twos", "2"));
        let both = [one.clone(), two.clone()];
        let chart = "manifests: {crds: [chart/crds, deploy.yaml]}";
        let bundle = format!("kind: Namespace\n---\n{}\n---\n{}\n", text(&two), text(&crd("others", "")));
        let files =
            [("chart/crds/more/ones.yml", text(&one)), ("chart/crds/NOTES.txt", "- [".into()), ("deploy.yaml", bundle)];
        assert_eq!(message(chart, &files, &both), "");
        let wrong = message(chart, &files, &[one.clone(), crd("twos", "changed")]);
        assert!(wrong.starts_with("assertion") && wrong.contains("deploy.yaml has another `twos.b.c`"), "{wrong}");
        let more = message(chart, &files, &[one.clone(), two.clone(), crd("threes", "")]);
        assert_eq!(more, "chart/crds, deploy.yaml lacks [\"threes.b.c\"]: run `opctl manifests`");

        let bases = [("config/crd/bases/ones.yaml", text(&one)), ("config/crd/bases/twos.yaml", text(&two))];
        assert_eq!(message("{}", &bases, &both), "");
        assert_eq!(message("{}", &bases, &[one]), "config/crd/bases still has `twos.b.c`: run `opctl manifests`");

        let template = [("crds.yaml", format!("{{{{- if .Values.crds }}}}\n{}\n{{{{- end }}}}\n", text(&two)))];
        assert_eq!(message("manifests: {crds: crds.yaml}", &template, &[two]), "");
    }
}
