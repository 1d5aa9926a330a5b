//! Renders kustomizations to the objects that `kubectl kustomize` would print, with source positions.
//!
//! Follows `KustTarget` of kustomize step by step. Parts that need a network or a plugin are skipped, and
//! [`Render::is_closed`] is then false.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::fields::{self, FieldSpec, NameReference};
use super::kustomization::{self, FILE_NAMES, Kustomization};
use super::object::{Id, Object};
use super::yaml::{self, Dialect, Node, Value};
use super::{follow, generate, patch, path, replace, transform};
use crate::diagnostics::{OP431, OP432, OP433, OP434, OP435};
use opctl_model::diagnostic::{Code, Diagnostic, SourceFile};
use opctl_model::names::nearest;
use opctl_model::project::{Tree, is_unreadable, join};

/// The result of a kustomization.
#[derive(Clone, Debug)]
pub struct Render {
    /// The objects in the order in which kustomize reads them, which differs from its output.
    pub objects: Vec<Object>,
    /// The render is complete: nothing failed, and nothing comes from a network or a plugin.
    pub is_closed: bool,
    pub(crate) configuration: Configuration,
}

/// Field specs from `configurations`, in addition to the built-in ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) references: Vec<NameReference>,
    pub(crate) namespaces: Vec<FieldSpec>,
    pub(crate) labels: Vec<FieldSpec>,
}

impl Default for Render {
    fn default() -> Self {
        Self { objects: Vec::new(), is_closed: true, configuration: Configuration::default() }
    }
}

/// The path of a file, and the text that the tree overlays on it.
type File = (String, Option<Option<String>>);

/// The documents of a file; `None` if the file does not exist.
type Documents = Result<Option<Arc<Vec<Node>>>, Box<Diagnostic>>;

/// Renders kustomizations of one tree. Parses each file once, and collects problems.
pub struct Renderer<'a> {
    pub(super) tree: &'a Tree,
    /// The cache of parsed files, shared with renderers derived from this one.
    files: Rc<RefCell<BTreeMap<File, Documents>>>,
    /// The files that were reported as unreadable.
    unread: BTreeSet<String>,
    /// The errors that kustomize would report, in the order of discovery.
    pub problems: Vec<Diagnostic>,
    /// The folders of the kustomizations that were read.
    pub(crate) folders: BTreeSet<String>,
    /// The subset of `folders` whose lists were followed.
    pub(crate) followed: BTreeSet<String>,
    /// The files that are listed as resources.
    pub(crate) resources: BTreeSet<String>,
    /// The files that any kustomization refers to.
    pub(crate) used: BTreeSet<String>,
}

impl<'a> Renderer<'a> {
    /// A renderer that has not read any file.
    pub fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            files: Rc::default(),
            unread: BTreeSet::new(),
            problems: Vec::new(),
            folders: BTreeSet::new(),
            followed: BTreeSet::new(),
            resources: BTreeSet::new(),
            used: BTreeSet::new(),
        }
    }

    /// A new renderer of the same tree that shares only the parsed files.
    pub(crate) fn afresh(&self) -> Self {
        self.of(self.tree)
    }

    /// A renderer of the same folder on disk with other texts overlaid. It shares the parsed files.
    pub fn of<'b>(&self, tree: &'b Tree) -> Renderer<'b> {
        Renderer { files: self.files.clone(), ..Renderer::new(tree) }
    }

    /// The objects of the kustomization in a folder, with all references to renamed objects updated. `components` are
    /// added as if the kustomization listed them.
    pub fn render(&mut self, folder: &str, components: &[&str]) -> Render {
        let Some(kustomization) = self.kustomization(folder) else {
            return Render { is_closed: false, ..Render::default() };
        };
        let mut render = self.accumulate(&kustomization, Render::default(), components, &mut Vec::new());
        follow::names(&mut render);
        let is_local = |object: &Object| {
            let local = object.node.at(&["metadata", "annotations", "config.kubernetes.io/local-config"]);
            local.is_some_and(|local| local.as_text() != Some("false"))
        };
        render.objects.retain(|object| !is_local(object));
        render
    }

    /// The kustomization in a folder. Reports its problems the first time.
    pub fn kustomization(&mut self, folder: &str) -> Option<Kustomization> {
        let is_new = self.folders.insert(folder.to_owned());
        let mut paths = FILE_NAMES.iter().map(|name| join(folder, name)).filter(|path| self.tree.has_file(path));
        let path = paths.next()?;
        if let Some(other) = paths.next().filter(|_| is_new) {
            self.problems.push(
                OP432
                    .error(format!("`{folder}` has two kustomizations: `{path}` and `{other}`"))
                    .help("kustomize reads neither; keep one"),
            );
        }
        let documents = self.documents(&path)?;
        let file = SourceFile::new(&path, "");
        let empty = Node { value: Value::map(), span: opctl_model::diagnostic::Span { file, range: 0..0 } };
        let node = documents.first().cloned().unwrap_or(empty);
        let (is_component, problems) = kustomization::check(&node);
        if is_new {
            self.problems.extend(problems);
        }
        Some(Kustomization { folder: folder.into(), path, node, is_component })
    }

    /// The documents of a file; `None` if it cannot be read, which is reported once.
    pub fn documents(&mut self, path: &str) -> Option<Arc<Vec<Node>>> {
        self.parsed(path).unwrap_or_else(|problem| {
            if self.unread.insert(path.into()) {
                self.problems.push(*problem);
            }
            None
        })
    }

    /// Reports unreadable files. Other errors in a file count only if a kustomization lists it.
    pub(super) fn report_unreadable<'b>(&mut self, paths: impl Iterator<Item = &'b String>) {
        for path in paths {
            if self.parsed(path).is_err_and(|problem| is_unreadable(&problem)) {
                self.documents(path);
            }
        }
    }

    /// The documents of a file that no kustomization lists. Its errors are dropped: kustomize does not read it.
    pub(crate) fn peek(&self, path: &str) -> Option<Arc<Vec<Node>>> {
        self.parsed(path).ok()?
    }

    fn parsed(&self, path: &str) -> Documents {
        let parse = || match self.tree.read(path) {
            Ok(None) => Ok(None),
            Ok(Some(text)) => yaml::documents(&SourceFile::new(path, text), Dialect::Kustomize)
                .map(|documents| Some(Arc::new(documents))),
            Err(error) => Err(Box::new(error.into())),
        };
        let key = (path.to_owned(), self.tree.laid_over(path).cloned());
        self.files.borrow_mut().entry(key).or_insert_with(parse).clone()
    }

    /// The folders that a kustomization lists.
    pub(crate) fn children(&self, folder: &str) -> Vec<String> {
        let path = FILE_NAMES.iter().map(|name| join(folder, name)).find(|path| self.tree.has_file(path));
        let documents = path.and_then(|path| self.peek(&path)).unwrap_or_default();
        let lists = documents.iter().flat_map(|node| {
            ["resources", "bases", "components", "transformers", "generators", "validators"]
                .into_iter()
                .flat_map(|field| node.items_at(&[field]))
        });
        lists.filter_map(|entry| path::normal(folder, entry.as_text()?)).collect()
    }

    /// `true` if one kustomization builds on another.
    pub(crate) fn leads_to(&self, folder: &str, other: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![folder.to_owned()];
        while let Some(next) = open.pop() {
            if next == other {
                return true;
            }
            if seen.insert(next.clone()) {
                open.extend(self.children(&next));
            }
        }
        false
    }

    fn accumulate(
        &mut self,
        kustomization: &Kustomization,
        mut render: Render,
        components: &[&str],
        above: &mut Vec<String>,
    ) -> Render {
        let folder = &kustomization.folder;
        above.push(folder.clone());
        self.followed.insert(folder.clone());
        let from = render.objects.len();
        let mut listed = BTreeSet::new();
        for field in ["resources", "bases"] {
            for (entry, place) in kustomization.texts(field) {
                if !listed.insert(path::normal(folder, entry).unwrap_or_else(|| entry.into())) {
                    self.problem(OP434, format!("`{entry}` is listed twice"), place).help("remove one of them");
                    continue;
                }
                self.resource(kustomization, entry, place, &mut render, above);
            }
        }
        self.leave_one_of_each(&mut render, from);
        self.configurations(kustomization, &mut render);
        generate::maps(self, kustomization, &mut render);
        for field in ["helmCharts", "helmChartInflationGenerator", "generators", "vars"] {
            // Charts, plugins and variables may add or change anything.
            render.is_closed &= kustomization.items(field).is_empty();
            self.plugin_files(kustomization, field);
        }
        for field in ["crds", "validators"] {
            self.plugin_files(kustomization, field);
        }
        for (entry, place) in kustomization.texts("components") {
            let Some(folder) = self.folder(kustomization, entry, place, &mut render) else { continue };
            self.component(&folder, Some(place), &mut render, above);
        }
        for component in components {
            self.component(component, None, &mut render, above);
        }
        transform::apply(self, kustomization, &mut render);
        self.transformers(kustomization, &mut render, above);
        above.pop();
        render
    }

    /// Applies transformers: the built-in ones in common use. All others are treated as plugins.
    fn transformers(&mut self, kustomization: &Kustomization, render: &mut Render, above: &mut Vec<String>) {
        let mut made = Render::default();
        for (entry, place) in kustomization.texts("transformers") {
            if !entry.contains('\n') {
                self.resource(kustomization, entry, place, &mut made, above);
                continue;
            }
            match yaml::documents_in(entry, &place.span) {
                Ok(documents) => self.objects(&documents, &mut made),
                Err(problem) => {
                    self.problems.push(*problem);
                    made.is_closed = false;
                }
            }
        }
        self.leave_one_of_each(&mut made, 0);
        render.is_closed &= made.is_closed;
        for transformer in made.objects {
            let node = &transformer.node;
            match (node.text_at(&["apiVersion"]), node.text_at(&["kind"])) {
                (Some("builtin"), Some("ReplacementTransformer")) => {
                    for replacement in node.items_at(&["replacements"]) {
                        replace::entry(self, kustomization, replacement, render);
                    }
                }
                (Some("builtin"), Some("PatchTransformer")) => patch::entry(self, kustomization, node, render),
                _ => render.is_closed = false,
            }
        }
    }

    fn resource(
        &mut self,
        kustomization: &Kustomization,
        entry: &str,
        place: &Node,
        render: &mut Render,
        above: &mut Vec<String>,
    ) {
        if let Some(file) = path::inside(&kustomization.folder, entry).filter(|file| self.tree.has_file(file)) {
            self.used.insert(file.clone());
            self.resources.insert(file.clone());
            match self.documents(&file) {
                Some(documents) => self.objects(&documents, render),
                None => render.is_closed = false,
            }
            return;
        }
        let Some(folder) = self.folder(kustomization, entry, place, render) else { return };
        if above.contains(&folder) {
            render.is_closed = false;
            let at = above.iter().position(|other| *other == folder).unwrap_or(0);
            let way: Vec<String> = above[at..].iter().chain([&folder]).map(|folder| format!("`{folder}`")).collect();
            self.problem(OP435, format!("this kustomization leads back to itself: {}", way.join(" → ")), place)
                .help("kustomize refuses a cycle; remove one of them from the other's `resources`");
            return;
        }
        let Some(below) = self.kustomization(&folder) else {
            render.is_closed = false;
            return;
        };
        if below.is_component {
            render.is_closed = false;
            self.problem(OP432, format!("`{entry}` is a component"), place).help("list it under `components`");
            return;
        }
        let made = self.accumulate(&below, Render::default(), &[], above);
        render.is_closed &= made.is_closed;
        render.configuration.extend(made.configuration);
        render.objects.extend(made.objects);
    }

    fn component(&mut self, folder: &str, place: Option<&Node>, render: &mut Render, above: &mut Vec<String>) {
        let Some(component) = self.kustomization(folder) else {
            render.is_closed = false;
            return;
        };
        if !component.is_component {
            render.is_closed = false;
            // An invalid `kind` was already reported.
            let is_kustomization = matches!(component.text("kind"), "" | "Kustomization");
            if let Some(place) = place.filter(|_| is_kustomization) {
                self.problem(OP432, format!("`{folder}` is not a component"), place)
                    .help("list it under `resources`, or give it `kind: Component`");
            }
            return;
        }
        if above.iter().any(|other| other == folder) {
            render.is_closed = false;
            return;
        }
        *render = self.accumulate(&component, std::mem::take(render), &[], above);
    }

    /// The folder that an entry refers to, if it contains a kustomization; reports all other cases.
    fn folder(
        &mut self,
        kustomization: &Kustomization,
        entry: &str,
        place: &Node,
        render: &mut Render,
    ) -> Option<String> {
        if path::is_remote(entry) {
            render.is_closed = false;
            return None;
        }
        let Some(target) = path::normal(&kustomization.folder, entry) else {
            render.is_closed = false;
            return None;
        };
        if FILE_NAMES.iter().any(|name| self.tree.has_file(&join(&target, name))) {
            return Some(target);
        }
        render.is_closed = false;
        if self.tree.has_file(&target) {
            self.problem(OP431, format!("`{entry}` is outside of this folder"), place).help(
                "kustomize reads files below the kustomization only; list the folder of the file, which has a \
                 kustomization of its own",
            );
        } else if self.tree.has_folder(&target) {
            self.problem(OP431, format!("`{entry}` has no kustomization"), place)
                .help(format!("add `{}`, or list its files one by one", join(&target, FILE_NAMES[0])));
        } else {
            self.absent(entry, &target, place);
        }
        None
    }

    /// Reports a missing file or folder, and suggests existing ones.
    pub(super) fn absent(&mut self, entry: &str, target: &str, place: &Node) {
        let (above, name) = target.rsplit_once('/').unwrap_or(("", target));
        let files = self.tree.files_below(above).unwrap_or_default();
        let below = |file: &'_ str| -> Option<String> {
            let rest = if above.is_empty() { file } else { file.strip_prefix(above)?.strip_prefix('/')? };
            rest.split('/').next().map(str::to_owned)
        };
        let names: BTreeSet<String> = files.iter().filter_map(|file| below(file)).collect();
        let near = nearest(name, names.iter().map(String::as_str).filter(|near| *near != name));
        let near = near.map(|near| format!("{}{near}", entry.strip_suffix(name).unwrap_or_default()));
        let problem = self.problem(OP431, format!("there is no `{target}`"), place);
        match near {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help("add it, or take this line out"),
        }
    }

    /// A file below the kustomization that it refers to, other than a resource.
    pub(super) fn file(&mut self, kustomization: &Kustomization, entry: &str, place: &Node) -> Option<String> {
        if path::is_remote(entry) {
            return None;
        }
        let target = path::normal(&kustomization.folder, entry)?;
        self.used.insert(target.clone());
        if !self.tree.has_file(&target) {
            self.absent(entry, &target, place);
            return None;
        }
        if path::inside(&kustomization.folder, entry).is_none() {
            self.problem(OP431, format!("`{entry}` is outside of this folder"), place)
                .help("kustomize reads files below the kustomization only; move it there");
            return None;
        }
        Some(target)
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        self.tree.read(path).ok().flatten()
    }

    /// Checks that the files of a plugin exist, and marks them as used. Inline entries span several lines.
    fn plugin_files(&mut self, kustomization: &Kustomization, field: &str) {
        for (entry, place) in kustomization.texts(field) {
            let is_folder = path::normal(&kustomization.folder, entry).is_some_and(|path| self.tree.has_folder(&path));
            if !entry.contains('\n') && !is_folder {
                self.file(kustomization, entry, place);
            } else if let Some(folder) = path::normal(&kustomization.folder, entry).filter(|_| is_folder) {
                self.used.extend(self.tree.files_below(&folder).unwrap_or_default());
            }
        }
    }

    fn configurations(&mut self, kustomization: &Kustomization, render: &mut Render) {
        for (entry, place) in kustomization.texts("configurations") {
            let Some(path) = self.file(kustomization, entry, place) else {
                render.is_closed = false;
                continue;
            };
            let Some(documents) = self.documents(&path) else {
                render.is_closed = false;
                continue;
            };
            for node in documents.iter() {
                render.configuration.extend(Configuration::read(node));
            }
        }
    }

    /// Adds the objects of documents, and the items of lists.
    fn objects(&mut self, documents: &[Node], render: &mut Render) {
        for node in documents {
            let kind = node.text_at(&["kind"]);
            if kind.is_some_and(|kind| kind.ends_with("List"))
                && let Some(Value::List(items)) = node.get("items").map(|items| &items.value)
            {
                self.objects(items, render);
                continue;
            }
            if self.is_object(node) {
                render.objects.push(Object::new(node.clone()));
            } else {
                render.is_closed = false;
            }
        }
    }

    /// `true` if kustomize accepts this as an object; reports the reason otherwise.
    pub(super) fn is_object(&mut self, node: &Node) -> bool {
        let place = |path: &[&str]| node.at(path).map_or_else(|| node.span.clone(), |node| node.span.clone());
        for (path, name) in
            [(&["apiVersion"][..], "`apiVersion`"), (&["kind"], "`kind`"), (&["metadata", "name"], "`metadata.name`")]
        {
            if node.text_at(path).is_none_or(str::is_empty) {
                let message = if node.at(path).is_none_or(|said| said.is_null() || said.as_text().is_some()) {
                    format!("this is not a Kubernetes object: it has no {name}")
                } else {
                    format!("{name} must be a string")
                };
                let problem = OP433.error(message).at(place(path), "");
                let is_kustomization = node.text_at(&["kind"]).is_some_and(|kind| kind == "Kustomization");
                self.problems.push(if is_kustomization {
                    problem.help("a kustomization is listed by its folder, not by its file")
                } else {
                    problem
                });
                return false;
            }
        }
        true
    }

    /// Adds an object, unless one with the same identity exists.
    pub(super) fn add(&mut self, object: Object, render: &mut Render) {
        let from = render.objects.len();
        render.objects.push(object);
        self.leave_one_of_each(render, from);
    }

    /// Removes the objects from index `from` on whose identity an earlier object has.
    fn leave_one_of_each(&mut self, render: &mut Render, from: usize) {
        let added = render.objects.split_off(from);
        if added.is_empty() {
            return;
        }
        let mut known: HashMap<Id, usize> = HashMap::new();
        let names: HashSet<Option<&str>> = added.iter().map(Object::name).collect();
        for (at, object) in render.objects.iter().enumerate().filter(|(_, object)| names.contains(&object.name())) {
            known.entry(object.id().normal()).or_insert(at);
        }
        for object in added {
            let id = object.id();
            let first = *known.entry(id.normal()).or_insert(render.objects.len());
            let Some(first) = render.objects.get(first) else {
                render.objects.push(object);
                continue;
            };
            let first = first.name_node().span.to_string();
            render.is_closed = false;
            self.problem(OP434, format!("{id} is in this twice"), object.name_node())
                .help(format!("the first is at {first}; kustomize refuses both, so rename or remove one"));
        }
    }

    /// Reports an error at a node. Help can be added to the result.
    pub(super) fn problem(&mut self, code: &'static Code, message: String, place: &Node) -> Problem<'_> {
        let known = self.problems.len();
        self.problems.push(code.error(message).at(place.span.clone(), ""));
        Problem(&mut self.problems[known])
    }
}

/// The problem that was reported last.
pub(super) struct Problem<'a>(&'a mut Diagnostic);

impl Problem<'_> {
    pub(super) fn help(self, help: impl Into<String>) {
        self.0.help.push(help.into());
    }
}

impl Configuration {
    fn read(node: &Node) -> Self {
        let specs = |field: &str| node.items_at(&[field]).iter().filter_map(FieldSpec::read).collect::<Vec<_>>();
        let references = node.items_at(&["nameReference"]).iter().map(|reference| {
            let text = |key: &str| reference.text_at(&[key]).unwrap_or_default().to_owned();
            NameReference {
                group: text("group"),
                version: text("version"),
                kind: text("kind"),
                fields: reference.items_at(&["fieldSpecs"]).iter().filter_map(FieldSpec::read).collect(),
            }
        });
        Self { references: references.collect(), namespaces: specs("namespace"), labels: specs("commonLabels") }
    }

    fn extend(&mut self, other: Self) {
        self.references.extend(other.references);
        self.namespaces.extend(other.namespaces);
        self.labels.extend(other.labels);
    }

    /// All name references, including the built-in ones.
    pub(super) fn all_references(&self) -> Vec<NameReference> {
        let mut references = fields::name_references();
        for more in &self.references {
            let same = |known: &&mut NameReference| known.kind == more.kind && known.group == more.group;
            match references.iter_mut().find(same) {
                Some(known) => known.fields.extend(more.fields.iter().cloned()),
                None => references.push(more.clone()),
            }
        }
        references
    }
}
