//! Plans the renaming of a kind, a group, the domain or the project, in the whole tree.
//!
//! The scaffold is rendered with the old and the new name. Unedited files are replaced by the new rendering. In edited
//! files, names are replaced by syntax, lines of the scaffold by their new rendering, and other differences are merged.
//! Remaining occurrences of the old name are listed.

mod mentions;
mod project_file;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};

use crate::api::adopted;
use crate::api::record;
use crate::api::rescaffold::{self, Texts};
use crate::error::{UserError, UserErrors};
use crate::scaffold::BOILERPLATE;
use crate::scaffold::Runtime;
use opctl_edit::plan::{Change, Plan};
use opctl_edit::{self as edit, KindNames, Merged, Moves, Package, Renames};
use opctl_model::names::{Domain, Group, Kind, Plural, ProjectName};
use opctl_model::project::{Origin, PROJECT, ProjectFile, Resource, Tree};
use opctl_source::emit;

/// The item to rename, and its new name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Kind { group: Group, kind: Kind, to: Kind, plural: Option<Plural> },
    Group { group: Group, to: Group },
    Domain(Domain),
    Project(ProjectName),
}

/// Folders with the output of other commands.
const OUTPUTS: [&str; 3] = ["bundle/", "dist/", "grafana/"];

/// The old and new names and paths.
pub struct Renaming {
    target: Target,
    file: ProjectFile,
    pub new_file: ProjectFile,
    /// PROJECT with the new names.
    new_text: String,
    kinds: Vec<(KindNames, KindNames)>,
    renames: Renames,
    moves: Moves,
    has_finalizer: bool,
}

impl Renaming {
    /// # Errors
    ///
    /// If a file cannot be read, or the new name cannot be used.
    pub fn new(target: Target, tree: &Tree) -> anyhow::Result<Self> {
        let text = tree.read(PROJECT)?.unwrap_or_default();
        let file = ProjectFile::read(tree)?;
        let (new_text, new_file) = project_file::rename(&target, &text, &file)?;
        refuse_shared_folders(&file, &new_file)?;
        let mut kinds = Vec::new();
        let mut types = BTreeMap::new();
        let mut words = BTreeSet::new();
        let pairs = file.resources.iter().zip(&new_file.resources).filter(|(old, _)| old.origin == Origin::Own);
        for (old, new) in pairs {
            let names = |resource: &Resource| KindNames {
                group: resource.full_group(),
                kind: resource.kind.to_string(),
                plural: resource.plural().to_string(),
                singular: resource.kind.singular(),
            };
            let pair = (names(old), names(new));
            if pair.0 != pair.1 && !kinds.contains(&pair) {
                kinds.push(pair);
            }
            words.insert((old.kind.module(), new.kind.module()));
            words.insert((old.kind.singular(), new.kind.singular()));
            // Samples contain the group as in PROJECT, and folders its module name.
            words.insert((old.group.to_string(), new.group.to_string()));
            words.insert((old.group.module(), new.group.module()));
            if old.kind != new.kind {
                let types_with_ends = types_of(old, tree)?;
                let root = old.kind.type_name();
                types.extend(types_with_ends.into_iter().map(|(path, end)| {
                    let is_root = path.last() == Some(&root);
                    (path, if is_root { new.kind.type_name() } else { format!("{}{end}", new.kind) })
                }));
            }
        }
        words.retain(|(old, new)| old != new);
        let [paths, new_paths] = [&file, &new_file].map(|file| rescaffold::paths(file, tree));
        let moves = Moves::between(&paths?, &new_paths?, &words.into_iter().collect::<Vec<_>>())
            .map_err(|error| UserError::new(error.to_string()).help("choose another name"))?;
        let renames = Renames {
            modules: moves.modules().collect(),
            types,
            library: (file.name.crate_name(), new_file.name.crate_name()),
            kinds: kinds.clone(),
        };
        let has_finalizer = file.resources.iter().any(|resource| {
            let of_named = resource.controllers.iter().any(|controller| controller.options.finalizer);
            of_named || resource.options.finalizer || resource.options.helm_chart.is_some()
        });
        Ok(Self { target, file, new_file, new_text, kinds, renames, moves, has_finalizer })
    }

    /// The changes of all files except for manifests, and the positions that still contain the old name.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, the scaffold is out of date, or a new name or path is taken.
    pub fn plan(&self, tree: &Tree) -> anyhow::Result<(Plan, Vec<String>)> {
        let files = self.files(tree)?;
        let (record, mut recorded) = record::texts(tree)?.unzip();
        let old_render = rescaffold::files(&self.file, &recorded.clone().unwrap_or_default(), tree)?;
        if let (Some(record), Some(recorded)) = (&record, &mut recorded) {
            record::without_fixes(record, recorded, &old_render);
        }
        if let Some(recorded) = &recorded
            && recorded.iter().any(|(path, text)| old_render.get(path) != Some(text))
        {
            return Err(UserError::new("PROJECT or opctl has changed since the scaffold was last updated")
                .help("first run `opctl update`, and commit what it changes")
                .into());
        }
        let package = Package::new(
            &self.renames,
            files.iter().filter(|(path, _)| path.ends_with(".rs")).map(|(path, text)| (path.as_str(), text.as_str())),
        );
        for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
            if let Some(name) = self.renames.taken(path, text, &package) {
                let message =
                    format!("`{path}` has another `{name}` already, beside the type that would get this name");
                return Err(UserError::new(message)
                    .help("choose another name, or give the other one another name first")
                    .into());
            }
        }
        let by_syntax = |path: &str, text: &str| -> String {
            match path.rsplit_once('.').map_or("", |(_, end)| end) {
                "rs" => self.renames.in_rust(path, text, &package),
                "yaml" | "yml" => {
                    // `opctl manifests` adds the new CRDs to these files.
                    let keeps_crds = self.file.crds.iter().any(|place| !place.is_bases() && place.contains(path));
                    yaml::rename(path, text, &self.kinds, &|path| self.moves.apply(path), keeps_crds)
                }
                "lock" => edit::rename_package(text, self.file.name.as_str(), self.new_file.name.as_str()),
                _ => text.to_owned(),
            }
        };
        // Names that syntax does not identify, such as those in comments, are replaced with their line.
        let [templates, new_templates] = [&self.file, &self.new_file].map(|file| rescaffold::templates(file, tree));
        let new_templates = new_templates?;
        let mut lines: BTreeMap<String, edit::Lines> = BTreeMap::new();
        for (path, text) in templates? {
            if let Some(new) = new_templates.get(&self.moves.apply(&path)) {
                let renamed = by_syntax(&path, &text);
                lines.insert(path, edit::changed_lines(&renamed, new));
            }
        }
        let names = |path: &str, text: &str| -> String {
            let text = by_syntax(path, text);
            lines.get(path).map_or_else(|| text.clone(), |lines| edit::with_lines(&text, lines))
        };
        let mut overlay = tree.clone();
        let mut renamed_files: BTreeMap<&String, String> = BTreeMap::new();
        let mut refusals = UserErrors::default();
        for (path, text) in &files {
            let new_path = self.moves.apply(path);
            if new_path != *path {
                if tree.has(&new_path) && self.moves.apply(&new_path) == new_path {
                    refusals.push(
                        UserError::new(format!("`{new_path}` exists already, and `{path}` would get this name"))
                            .help("move it away, or choose another name"),
                    );
                }
                if let Some(other) =
                    same_module(&new_path).filter(|other| tree.has(other) && self.moves.apply(other) == *other)
                {
                    refusals.push(
                        UserError::new(format!(
                            "`{other}` is a module of the same name as `{new_path}`, which `{path}` would become"
                        ))
                        .help("move it away, or choose another name"),
                    );
                }
                overlay.hide(path);
            }
            let text = names(path, text);
            overlay.lay_over(new_path, text.clone());
            renamed_files.insert(path, text);
        }
        refusals.settle()?;
        let bases: BTreeMap<&String, String> =
            old_render.iter().map(|(path, text)| (path, names(path, text))).collect();
        let renamed: Option<Texts> = recorded.as_ref().map(|recorded| {
            let own = recorded.keys().filter_map(|path| Some((self.moves.apply(path), bases.get(path)?.clone())));
            own.collect()
        });
        let new_render = rescaffold::files(&self.new_file, &renamed.unwrap_or_default(), &overlay)?;

        let mut plan = Plan::default();
        let mut final_texts = Texts::new();
        let paths: BTreeSet<&String> = files.keys().chain(recorded.iter().flat_map(Texts::keys)).collect();
        for path in paths {
            let new_path = self.moves.apply(path);
            let text = files.get(path);
            let new_text = text.zip(renamed_files.remove(path)).map(|(text, renamed)| {
                match (old_render.get(path), bases.get(path), new_render.get(&new_path)) {
                    (Some(old), Some(base), Some(new)) => merged(&new_path, text, (old, base), &renamed, new),
                    _ => renamed,
                }
            });
            final_texts.extend(new_text.clone().map(|text| (new_path.clone(), text)));
            let base = recorded.as_ref().filter(|recorded| recorded.contains_key(path));
            let base = base.and_then(|_| new_render.get(&new_path).cloned());
            let is_new = new_path != *path;
            let is_base_kept = base.as_ref() == recorded.as_ref().and_then(|recorded| recorded.get(path));
            if !is_new && new_text.as_ref() == text && is_base_kept {
                continue;
            }
            if is_new {
                if text.is_none() && tree.read(path)?.is_some() {
                    return Err(UserError::new(format!(
                        "`{path}` cannot be moved: it is generated, or of another tool"
                    ))
                    .into());
                }
                plan.changes.insert(path.clone(), Change::Remove(text.cloned().unwrap_or_default()));
            }
            plan.changes.insert(new_path, Change::Rewrite { text: new_text, base, is_new });
        }
        let header = tree.read(BOILERPLATE)?.unwrap_or_default();
        // Texts that equal the rendering of the templates are not listed.
        final_texts.retain(|path, text| new_templates.get(path) != Some(text));
        let project = Change::Rewrite { text: Some(self.new_text.clone()), base: None, is_new: false };
        plan.changes.insert(PROJECT.into(), project);
        Ok((plan, mentions::list(self, &final_texts, &header)))
    }

    /// The consequences for objects with the old name in a cluster.
    pub fn consequences(&self) -> Vec<String> {
        let mut consequences = Vec::new();
        let crds: Vec<String> =
            self.kinds.iter().map(|(old, new)| format!("`{}` → `{}`", old.crd(), new.crd())).collect();
        let is_same = self.kinds.iter().find(|(old, new)| old.crd() == new.crd());
        if let Some((old, _)) = is_same {
            consequences.push(format!(
                "the CRD `{}` keeps its name, and the API server refuses another kind in it: in each cluster, delete the CRD, and with it \
                 all objects, before you deploy",
                old.crd()
            ));
            return consequences;
        }
        if !matches!(self.target, Target::Project(_)) && !crds.is_empty() {
            consequences.push(format!(
                "a cluster has no rename: these are new CRDs ({}). Existing objects stay objects of the old ones, which the renamed operator \
                 neither reconciles nor cleans up; see docs/renaming.md",
                crds.join(", ")
            ));
        }
        if let Target::Project(_) = self.target {
            consequences.push(
                "in a cluster this is a second operator: its namespace, its Lease, its labels and its field manager have the new name. \
                 Undeploy the old one first, or both reconcile the same objects"
                    .to_owned(),
            );
        }
        if matches!(self.target, Target::Project(_) | Target::Domain(_)) && self.has_finalizer {
            consequences.push(
                "finalizers have the new name, too: objects that have the old one cannot be deleted once the old operator is gone".to_owned(),
            );
        }
        consequences
    }

    /// The texts that users edit. Generated files are excluded, since they are generated again.
    fn files(&self, tree: &Tree) -> anyhow::Result<Texts> {
        let runtime = format!("{}/", Runtime::FOLDER);
        let mut files = Texts::new();
        for path in tree.own_files()? {
            let is_output = OUTPUTS.iter().any(|folder| path.starts_with(folder));
            if path == PROJECT || is_output || path.starts_with(&runtime) || path.starts_with("helm-charts/") {
                continue;
            }
            match tree.read(&path) {
                // The permissions of a chart are moved with their kind.
                Ok(Some(text)) if !is_generated(&text) || self.moves.apply(&path) != path => {
                    files.insert(path, text);
                }
                Ok(_) => {}
                // Other files may have any content.
                Err(error)
                    if error.is_binary()
                        && self.moves.apply(&path) == path
                        && ![".rs", ".toml", ".yaml", ".yml"].iter().any(|end| path.ends_with(end)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(files)
    }
}

/// The types of a kind whose names begin with its name: their paths from the crate's root, and the rest of their names.
pub fn types_of(resource: &Resource, tree: &Tree) -> anyhow::Result<Vec<(Vec<String>, String)>> {
    let (file, modules) = adopted::types_file(resource, tree);
    let source = tree.read(&file)?.unwrap_or_default();
    let ends = edit::ends_of_types(&source, resource.kind.as_str()).map_err(|error| {
        let at = error.span().start();
        UserError::new(format!("`{file}:{}:{}` cannot be read: {error}", at.line, at.column + 1))
            .help("correct it first")
    })?;
    let path = |end: &String| [&modules[..], &[format!("{}{end}", resource.kind)]].concat();
    Ok(ends.into_iter().map(|end| (path(&end), end)).collect())
}

/// The alternative file of a module: `a.rs` or `a/mod.rs`.
fn same_module(path: &str) -> Option<String> {
    let module = path.strip_suffix(".rs")?;
    Some(module.strip_suffix("/mod").map_or_else(|| format!("{module}/mod.rs"), |module| format!("{module}.rs")))
}

/// `true` if opctl generates the file, in any language.
fn is_generated(text: &str) -> bool {
    text.lines().take(2).any(|line| line.contains(emit::OURS.trim_start_matches("# ")))
}

/// Refuses to move the folder of a group that contains files of another group.
fn refuse_shared_folders(file: &ProjectFile, new_file: &ProjectFile) -> Result<(), UserErrors> {
    let pairs = || file.resources.iter().zip(&new_file.resources);
    let mut refusals = UserErrors::default();
    for (old, new) in pairs().filter(|(old, new)| old.group_module() != new.group_module()) {
        let is_shared = |(other, same): &(&Resource, &Resource)| {
            other.group_module() == old.group_module() && same.group_module() != new.group_module()
        };
        if let Some((other, _)) = pairs().find(is_shared) {
            let refusal = UserError::new(format!(
                "the folder `{}` has `{}` of the group `{}`, too, which keeps its name",
                old.group_module(),
                other.kind,
                other.full_group()
            ));
            refusals.push(refusal.help("move its files to another folder first"));
            break;
        }
    }
    refusals.settle()
}

/// A scaffolded file with the new name: the new rendering if it was not edited. In `base` (the old rendering) and
/// `renamed` (the text), names are already replaced.
fn merged(path: &str, text: &str, (old, base): (&str, &str), renamed: &str, new: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    let merged = if plain == old {
        new.to_owned()
    } else {
        let renamed = renamed.replace("\r\n", "\n");
        match edit::merge(path, base, &renamed, new) {
            Merged::Clean(text) => text,
            // Only the order of lines differs from the scaffold.
            Merged::Conflict { .. } => renamed,
        }
    };
    if plain == text { merged } else { merged.replace('\n', "\r\n") }
}
