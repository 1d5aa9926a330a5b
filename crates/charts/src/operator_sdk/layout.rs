//! The file layout of operator-sdk projects: the current one, and the one before 1.0, with a folder `deploy` and
//! without PROJECT.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::diagnostics::OP483;
use super::{Crd, Gvk, parsed, read};
use opctl_model::diagnostic::{Diagnostic, SourceFile};
use opctl_model::project::{ReadError, Tree};
use opctl_model::yaml;

/// Files that start the operator.
const STARTS: [&str; 4] = ["Dockerfile", "build/Dockerfile", "config/manager/manager.yaml", "deploy/operator.yaml"];

/// The path of the watches: `watches.yaml`, the file that the Dockerfile or the Deployment refers to, or the only file
/// with such a name. If there are several, the error lists their paths.
pub fn watches(tree: &Tree) -> Result<Option<String>, Vec<String>> {
    if let Some(path) = ["watches.yaml", "watches.yml"].into_iter().find(|path| tree.has_file(path)) {
        return Ok(Some(path.to_owned()));
    }
    for text in STARTS.iter().filter_map(|path| tree.read(path).ok().flatten()) {
        for name in ["--watches-file", "WATCHES_FILE"] {
            let values = text.match_indices(name).map(|(at, _)| {
                let mut rest = &text[at + name.len()..];
                let skipped = |letter: char| letter.is_whitespace() || "=\":',".contains(letter);
                rest = rest.trim_start_matches(skipped);
                rest = rest.strip_prefix("value:").unwrap_or(rest).trim_start_matches(skipped);
                let end = rest.find(|letter: char| letter.is_whitespace() || "\"',".contains(letter));
                rest[..end.unwrap_or(rest.len())].to_owned()
            });
            let own = ["/opt/ansible/", "${HOME}/", "./"];
            let paths = values.map(|path| own.iter().fold(path, |path, prefix| path.trim_start_matches(prefix).into()));
            if let Some(path) = paths.into_iter().find(|path: &String| !path.is_empty() && tree.has_file(path)) {
                return Ok(Some(path));
            }
        }
    }
    let is_one = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.contains("watches") && is_yaml(path)
    };
    // Errors are ignored, since `crds` reports folders that cannot be listed.
    let named: Vec<String> = own_files(tree).unwrap_or_default().into_iter().filter(is_one).collect();
    match named.len() {
        0 => Ok(None),
        1 => Ok(named.into_iter().next()),
        _ => Err(named),
    }
}

/// All files except those of tests.
fn own_files(tree: &Tree) -> Result<Vec<String>, ReadError> {
    let files = tree.own_files()?;
    let is_of_tests =
        |path: &str| path.split('/').any(|part| ["molecule", "test", "tests", "testdata"].contains(&part));
    Ok(files.into_iter().filter(|path| !is_of_tests(path)).collect())
}

fn is_yaml(path: &str) -> bool {
    path.ends_with(".yaml") || path.ends_with(".yml")
}

/// Folders of CRDs, preferred ones first.
const CRDS: [&str; 4] = ["config/crd/bases/", "config/crd/", "deploy/crds/", "deploy/"];

/// The CRDs with the paths of their files, preferred ones first.
pub fn crds(tree: &Tree, found: &mut Vec<Diagnostic>) -> Result<Vec<(String, Value)>, ReadError> {
    let usual = |path: &String| CRDS.iter().position(|folder| path.starts_with(folder));
    // `files_below` also lists entries that are not regular files, which results in an error when they are read.
    let usual_files = tree.files_below(CRDS[0].trim_end_matches('/'))?;
    let paths: BTreeSet<String> =
        usual_files.into_iter().chain(own_files(tree)?).filter(|path| is_yaml(path)).collect();
    let mut paths = Vec::from_iter(paths);
    paths.sort_by_key(|path| (usual(path).unwrap_or(CRDS.len()), path.matches('/').count(), path.clone()));
    let mut crds = Vec::new();
    for path in paths {
        let is_usual = path.starts_with(CRDS[0]);
        let text = if is_usual { None } else { tree.read(&path).ok().flatten() };
        if !is_usual && !text.is_some_and(|text| text.contains("kind: CustomResourceDefinition")) {
            continue;
        }
        let Some(file) = read(tree, &path, found) else { continue };
        // Other files may be templates, so errors in them are ignored.
        let objects = match is_usual {
            true => parsed(&file, yaml::objects(&file.text), found).unwrap_or_default(),
            false => yaml::objects(&file.text).unwrap_or_default(),
        };
        let objects = objects.into_iter().filter(|object| object["kind"] == "CustomResourceDefinition");
        crds.extend(objects.map(|crd| (file.path.clone(), crd)));
    }
    Ok(crds)
}

/// A file with samples.
pub struct Sample {
    /// The file name.
    pub name: String,
    pub file: Arc<SourceFile>,
    pub objects: Vec<Value>,
    /// kustomize does not include the file: it is not listed in the kustomization, or another file has an object of the
    /// same name.
    pub is_unlisted: bool,
}

/// The sample files in `config/samples`, or else those in `deploy`.
pub fn samples(tree: &Tree, found: &mut Vec<Diagnostic>) -> Result<Vec<Sample>, ReadError> {
    let folder = if tree.has_folder("config/samples") { "config/samples" } else { "deploy" };
    let kustomization = tree.read(&format!("{folder}/kustomization.yaml")).ok().flatten();
    let listed = kustomization.and_then(|text| yaml::objects(&text).ok()?.first()?["resources"].as_array().cloned());
    let listed: Option<BTreeSet<String>> = listed.map(|paths| {
        let paths = paths.iter().filter_map(Value::as_str);
        paths.map(|path| format!("{folder}/{}", path.trim_start_matches("./"))).collect()
    });
    let mut samples: Vec<Sample> = Vec::new();
    for path in tree.files_below(folder)?.into_iter().filter(|path| is_yaml(path)) {
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        if name == "kustomization.yaml" {
            continue;
        }
        let is_template = folder == "deploy";
        let Some(file) = read(tree, &path, found) else { continue };
        let has_placeholders = is_template && (file.text.contains(": $") || file.text.contains("{{"));
        let objects = match is_template {
            true => yaml::objects(&file.text).unwrap_or_default(),
            false => parsed(&file, yaml::objects(&file.text), found).unwrap_or_default(),
        };
        let name_of = |objects: &[Value]| {
            let object = objects.first()?;
            Some([&object["kind"], &object["metadata"]["name"], &object["metadata"]["namespace"]].map(Value::to_string))
        };
        let is_same = |other: &Sample| !other.is_unlisted && name_of(&other.objects) == name_of(&objects);
        let is_unlisted = has_placeholders
            || samples.iter().any(|sample| sample.name == name)
            || listed.as_ref().map_or_else(|| samples.iter().any(is_same), |listed| !listed.contains(&path));
        samples.push(Sample { name, file, objects, is_unlisted });
    }
    Ok(samples)
}

/// Files with the operator's role.
pub const ROLES: [&str; 4] =
    ["config/rbac/role.yaml", "deploy/role.yaml", "deploy/cluster_role.yaml", "deploy/rbac.yaml"];

/// Reports other files with a CRD of the same kind.
pub fn report_other_crds(crds: &[(String, Value)], chosen: &Crd, watch: &Gvk, found: &mut Vec<Diagnostic>) {
    let is_it = |crd: &&(String, Value)| {
        crd.1["spec"]["group"] == watch.group.as_str() && crd.1["spec"]["names"]["kind"] == watch.kind.as_str()
    };
    let mut same = crds.iter().filter(is_it);
    let Some((_, first)) = same.next() else { return };
    let others: Vec<&str> = same.filter(|(_, crd)| crd != first).map(|(path, _)| path.as_str()).collect();
    if !others.is_empty() && !chosen.path.contains("config/crd/") {
        let shown = others.iter().take(3).copied().collect::<Vec<_>>().join("`, `");
        let more = others.len().saturating_sub(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("the CRD of `{}` is that of {}", watch.kind, chosen.path);
        let help = format!("others are in `{shown}`{more}: copy the one that applies to config/crd/bases");
        found.push(OP483.warning(message).at(watch.span.clone(), "").help(help));
    }
}
