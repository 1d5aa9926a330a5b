//! The manifests of a project that opctl scaffolded: the conventions of its folder `config`.
//!
//! `config/default` is what is deployed, components beside it are optional parts of it, `config/samples` has objects
//! that people apply file by file. Files go in, diagnostics come out: references to missing objects, files that no
//! kustomization lists.

mod allow;
mod watched;

use std::collections::BTreeSet;

use crate::diagnostics::{OP431, OP436, OP446, OP448};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::{Tree, join};

pub use self::allow::allows;
pub use self::watched::unwatched;
use crate::fields;
use crate::kustomization::FILE_NAMES;
use crate::names::Names;
use crate::object::Object;
use crate::render::{Render, Renderer};
use crate::yaml::{self, Dialect, Node};

/// [`objects`] and [`check`], with each file parsed once.
pub fn read(tree: &Tree, folder: &str) -> (Vec<Node>, Vec<Diagnostic>) {
    let renderer = Renderer::new(tree);
    (objects_by(renderer.afresh(), folder), check_by(renderer, folder))
}

/// Checks all kustomizations of a project. `folder` contains its PROJECT file.
pub fn check(tree: &Tree, folder: &str) -> Vec<Diagnostic> {
    check_by(Renderer::new(tree), folder)
}

fn check_by(mut renderer: Renderer, folder: &str) -> Vec<Diagnostic> {
    let tree = renderer.tree;
    let config = join(folder, "config");
    let files = match tree.files_below(&config) {
        Ok(files) => files,
        Err(error) => return vec![error.into()],
    };
    let folders: BTreeSet<String> = files.iter().filter_map(|file| kustomized(file)).map(str::to_owned).collect();
    let default = join(&config, "default");
    let mut found = Vec::new();
    let main = folders.contains(&default).then(|| renderer.render(&default, &[]));
    let main = main.as_ref().filter(|main| main.is_closed);
    if let Some(main) = main {
        found.extend(Names::of(&main.objects, None).check());
        found.extend(homeless(&main.objects));
    }
    let roots = roots(&mut renderer, &folders);
    let (components, others): (Vec<&String>, Vec<&String>) =
        roots.iter().filter(|root| **root != default).partition(|root| is_component(&mut renderer.afresh(), root));
    found.extend(optional(&mut renderer, &default, main.is_some(), &components));
    for root in others {
        found.extend(apart(&mut renderer, root, &default, main));
    }
    // A kustomization in a cycle is below no root.
    for folder in &folders {
        if !renderer.folders.contains(folder) {
            renderer.render(folder, &[]);
        }
    }
    found.extend(unlisted(&renderer, &config, &files, &folders));
    // Only samples are also applied with `kubectl apply -f`.
    for path in renderer.resources.clone().iter().filter(|path| path.starts_with(&join(&config, "samples/"))) {
        for document in renderer.documents(path).iter().flat_map(|documents| documents.iter()) {
            ambiguous(document, &mut found);
        }
    }
    renderer.report_unreadable(files.iter().filter(|path| is_yaml(path)));
    let mut all = std::mem::take(&mut renderer.problems);
    all.extend(found);
    in_order(all)
}

/// The objects under `config/`: samples as written, since people apply them directly, and all others as kustomize
/// renders them. Skips unreadable files, which [`check`] reports.
pub fn objects(tree: &Tree, folder: &str) -> Vec<Node> {
    objects_by(Renderer::new(tree), folder)
}

fn objects_by(mut renderer: Renderer, folder: &str) -> Vec<Node> {
    let tree = renderer.tree;
    let config = join(folder, "config");
    let files = tree.files_below(&config).unwrap_or_default();
    let folders: BTreeSet<String> = files.iter().filter_map(|file| kustomized(file)).map(str::to_owned).collect();
    let mut found: Vec<Node> = Vec::new();
    for root in roots(&mut renderer, &folders) {
        found.extend(renderer.render(&root, &[]).objects.into_iter().map(|object| object.node));
    }
    let samples = join(&config, "samples/");
    let is_sample = |path: &str| path.starts_with(&samples) && kustomized(path).is_none();
    found.retain(|node| !is_sample(&node.span.file.path));
    for path in files.iter().filter(|path| is_sample(path) && is_yaml(path)) {
        // A patch is not a complete object.
        if renderer.used.contains(path) && !renderer.resources.contains(path) {
            continue;
        }
        let Ok(Some(text)) = tree.read(path) else { continue };
        let documents = yaml::documents(&SourceFile::new(path, text), Dialect::Kubectl).unwrap_or_default();
        found.extend(documents.into_iter().filter(|node| node.get("kind").is_some()));
    }
    let mut seen = BTreeSet::new();
    found.retain(|node| seen.insert((node.span.file.path.clone(), node.span.range.start)));
    found
}

fn is_yaml(path: &str) -> bool {
    path.ends_with(".yaml") || path.ends_with(".yml")
}

/// The folder of a kustomization file; `None` for other files.
fn kustomized(file: &str) -> Option<&str> {
    let (folder, name) = file.rsplit_once('/')?;
    FILE_NAMES.contains(&name).then_some(folder)
}

/// The kustomizations that no other kustomization lists.
fn roots(renderer: &mut Renderer, folders: &BTreeSet<String>) -> Vec<String> {
    let mut below = BTreeSet::new();
    for folder in folders {
        for child in renderer.children(folder) {
            below.insert(child);
        }
    }
    folders.iter().filter(|folder| !below.contains(*folder)).cloned().collect()
}

fn is_component(renderer: &mut Renderer, folder: &str) -> bool {
    renderer.kustomization(folder).is_some_and(|kustomization| kustomization.is_component)
}

/// Checks unlisted components: renders each as if `config/default` listed it. A component may need another, so only
/// references that are missing with all components are reported.
fn optional(renderer: &mut Renderer, default: &str, is_whole: bool, components: &[&String]) -> Vec<Diagnostic> {
    if !is_whole {
        components.iter().for_each(|component| drop(renderer.kustomization(component)));
        return Vec::new();
    }
    let names: Vec<&str> = components.iter().map(|component| component.as_str()).collect();
    // Components may be alternatives that conflict with each other, which is not an error.
    let problems = renderer.problems.len();
    let together = renderer.render(default, &names);
    renderer.problems.truncate(problems);
    let with_all = together.is_closed.then(|| Names::of(&together.objects, None).check());
    let mut found = Vec::new();
    for component in &names {
        let problems = renderer.problems.len();
        let render = renderer.render(default, &[component]);
        let mut own = renderer.problems.split_off(problems);
        if together.is_closed && !own.is_empty() {
            let others = names.iter().filter(|other| *other != component).chain([component]);
            renderer.render(default, &others.copied().collect::<Vec<_>>());
            let with_others = renderer.problems.split_off(problems);
            own.retain(|problem| with_others.contains(problem));
        }
        renderer.problems.extend(own);
        if render.is_closed {
            let missing = Names::of(&render.objects, None).check().into_iter();
            found.extend(missing.filter(|one| with_all.as_ref().is_none_or(|all| all.contains(one))));
        } else if together.is_closed {
            // The component needs another one.
            renderer.problems.truncate(problems);
        }
    }
    found
}

/// Checks a kustomization beside `config/default`. If it includes `config/default`, it must be complete; otherwise it
/// is deployed beside it, and may refer to its objects.
fn apart(renderer: &mut Renderer, root: &str, default: &str, main: Option<&Render>) -> Vec<Diagnostic> {
    let render = renderer.render(root, &[]);
    if !render.is_closed {
        return Vec::new();
    }
    if renderer.leads_to(root, default) {
        return Names::of(&render.objects, None).check();
    }
    match main {
        Some(main) => Names::of(&render.objects, Some(&main.objects)).check(),
        // The objects beside it are unknown.
        None => Vec::new(),
    }
}

/// Reports values that kustomize reads as strings and `kubectl apply -f` as booleans.
fn ambiguous(node: &Node, found: &mut Vec<Diagnostic>) {
    if node.is_ambiguous() {
        let text = node.as_text().unwrap_or_default();
        let message = format!("`{text}` is a string for kustomize, but a boolean for `kubectl apply -f`");
        let is_true = text.eq_ignore_ascii_case("on") || text.starts_with(['y', 'Y']);
        found
            .push(OP448.warning(message).at(node.span.clone(), "").help(format!("write `\"{text}\"`, or `{is_true}`")));
    }
    node.items().iter().for_each(|item| ambiguous(item, found));
    node.entries().iter().for_each(|entry| ambiguous(&entry.value, found));
}

/// Reports workloads in namespaces that no manifest creates.
fn homeless(objects: &[Object]) -> Vec<Diagnostic> {
    let made: BTreeSet<String> =
        objects.iter().filter(|object| object.is("", "Namespace")).map(|object| object.id().name).collect();
    let exists = |namespace: &str| {
        namespace.is_empty() || namespace == "default" || namespace.starts_with("kube-") || made.contains(namespace)
    };
    let mut said = BTreeSet::new();
    let mut found = Vec::new();
    for object in objects.iter().filter(|object| fields::pod_spec(&object.id().kind).is_some()) {
        let namespace = object.id().namespace;
        if exists(&namespace) || !said.insert(namespace.clone()) {
            continue;
        }
        let place = object.node.at(&["metadata", "namespace"]).unwrap_or(&object.node);
        let message = format!("nothing here makes the namespace `{namespace}`, which {} is in", object.id());
        found.push(
            OP446
                .warning(message)
                .at(place.span.clone(), "")
                .help("add a Namespace of this name, or make it before the rest is applied"),
        );
    }
    found
}

/// Reports manifests in folders with a kustomization that no kustomization lists: `kubectl apply -k` skips them.
fn unlisted(renderer: &Renderer, config: &str, files: &[String], folders: &BTreeSet<String>) -> Vec<Diagnostic> {
    let is_manifest = |file: &&String| {
        let ends = file.ends_with(".yaml") || file.ends_with(".yml");
        ends && kustomized(file).is_none() && !renderer.used.contains(*file)
    };
    // An entry for a missing file may be a misspelling of this one.
    let lacks =
        |folder: &str| {
            renderer.problems.iter().filter(|problem| problem.code == OP431).any(|problem| {
                problem.span.as_ref().is_some_and(|(span, _)| kustomized(&span.file.path) == Some(folder))
            })
        };
    let unused: Vec<&String> = files.iter().filter(is_manifest).collect();
    let mut found = Vec::new();
    for file in unused {
        let above = folders.iter().filter(|folder| file.starts_with(&format!("{folder}/")));
        let Some(folder) = above.max_by_key(|folder| folder.len()) else { continue };
        if folder == config || lacks(folder) {
            continue;
        }
        let Some(documents) = renderer.peek(file).filter(|_| renderer.followed.contains(folder)) else { continue };
        let is_object = |node: &&Node| {
            let name = node.at(&["metadata", "name"]);
            node.text_at(&["apiVersion"]).is_some() && node.get("kind").is_some() && name.is_some()
        };
        // This annotation marks objects that are only input of tools.
        let is_local =
            |node: &Node| node.at(&["metadata", "annotations", "config.kubernetes.io/local-config"]).is_some();
        let Some(node) = documents.iter().find(is_object).filter(|node| !is_local(node)) else { continue };
        let entry = file.strip_prefix(&format!("{folder}/")).unwrap_or(file);
        let place = node.get("kind").unwrap_or(node).span.clone();
        found.push(
            OP436
                .warning("no kustomization leads to this file, so it is never applied")
                .at(place, "")
                .help(format!("add `{entry}` to `{}`, or remove the file", join(folder, FILE_NAMES[0]))),
        );
    }
    found
}

/// Removes duplicates and sorts errors by file and line.
fn in_order(mut all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let place =
        |problem: &Diagnostic| problem.span.as_ref().map(|(Span { file, range }, _)| (file.path.clone(), range.start));
    all.sort_by(|one, two| (place(one), one.code.name, &one.message).cmp(&(place(two), two.code.name, &two.message)));
    all.dedup_by(|one, two| one.code == two.code && one.message == two.message && place(one) == place(two));
    all
}
