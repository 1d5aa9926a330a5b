//! Adds missing permissions to roles, as edits of their source files.
//!
//! A rule gets further verbs if everything that it then grants in addition is missing. Otherwise, its role gets a
//! further rule. Rules are never removed. For a template, helm must render the same with the edit, except for the new
//! permissions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Role, Roles, empty, rule_of};
use crate::kept::{self, NAMESPACE, Origin};
use opctl_edit::{Edit, YamlSequence, YamlStep};
use opctl_kustomize::yaml::{Dialect, Node, documents};
use opctl_model::diagnostic::SourceFile;
use opctl_model::{RbacRule, Reach, Request};
use opctl_source::emit;
use opctl_source::grants::{Extent, Home, Missing, covers, kubectl_name};
use opctl_tools::helm::{self, Copy};

/// A group, a resource and a verb.
type Permission = (String, String, String);

/// The edits that grant missing permissions.
#[derive(Default)]
pub struct Fix {
    /// The edits with their files, in order.
    pub edits: Vec<(PathBuf, Edit)>,
    /// The permissions that cannot be added, by the index of their [`Missing`], with the reason.
    pub refused: BTreeMap<usize, String>,
    /// Notes about permissions that are granted in more namespaces than the code needs.
    pub notes: Vec<String>,
}

/// A change of the rules of a role.
#[derive(Clone, Debug)]
enum Change {
    /// Adds verbs to the rule with this index.
    Extend(usize, Vec<String>),
    Append(Value),
}

impl Roles {
    /// The edits of files below `root` that grant the missing permissions.
    pub fn fix(&self, missing: &[&Missing], home: &Home, root: &Path) -> Fix {
        let mut fix = Fix::default();
        let mut wanted: BTreeMap<usize, BTreeMap<Permission, usize>> = BTreeMap::new();
        for (number, missing) in missing.iter().enumerate() {
            let Some(at) = self.role_for(missing, home) else {
                let scope = match missing.namespace {
                    Some(_) => "in this namespace",
                    None => "in the whole cluster",
                };
                let reason = format!("no role in `{}` grants permissions {scope}; bind another one", self.name);
                fix.refused.insert(number, reason);
                continue;
            };
            let first = missing.first();
            if missing.namespace.is_some() && self.roles[at].namespace.is_none() {
                fix.notes.push(format!(
                    "`{}` grants {} on `{}` in the whole cluster, and the code needs it in one namespace: bind a Role there to grant less",
                    self.title(&self.roles[at]),
                    missing.verbs().join(", "),
                    kubectl_name(&first.group, &first.resource)
                ));
            }
            // Several RoleBindings may refer to the same ClusterRole.
            let same = self.roles.iter().position(|role| role.object == self.roles[at].object).unwrap_or(at);
            let permission =
                |request: &&Request| (request.group.clone(), request.resource.clone(), request.verb.into());
            let wanted = wanted.entry(same).or_default();
            missing.requests.iter().for_each(|request| _ = wanted.entry(permission(request)).or_insert(number));
        }
        let mut files = Files { root: root.to_owned(), texts: BTreeMap::new(), copies: BTreeMap::new() };
        for (role, permissions) in wanted {
            for (change, numbers) in self.changes(role, &permissions) {
                match files.edit(self, role, &change) {
                    Ok(edits) => fix.edits.extend(edits),
                    Err(reason) => fix.refused.extend(numbers.into_iter().map(|number| (number, reason.clone()))),
                }
            }
        }
        fix
    }

    fn node(&self, role: &Role) -> &Node {
        &self.kept.objects[role.object]
    }

    fn title(&self, role: &Role) -> String {
        let [kind, name] = [&["kind"][..], &["metadata", "name"]].map(|path| self.node(role).text_at(path));
        format!("{} {}", kind.unwrap_or_default(), name.unwrap_or_default())
    }

    /// The role to extend for the requests. Roles that grant them completely are preferred, then roles of the requested
    /// namespace, then roles with a rule for the same resource.
    fn role_for(&self, missing: &Missing, home: &Home) -> Option<usize> {
        let first = missing.first();
        let extents = |role: &Role| {
            let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
            let rule = RbacRule {
                groups: words(&[&first.group]),
                resources: words(&[&first.resource]),
                verbs: words(&missing.verbs()),
                ..empty(role.namespace.as_deref(), &self.node(role).span)
            };
            missing.requests.iter().map(|request| (request, covers(&rule, request, home))).collect::<Vec<_>>()
        };
        let grants = |role: &Role| {
            extents(role).iter().all(|(request, extent)| match extent {
                Extent::Whole => true,
                // The namespace is known only at run time, and may be this one.
                Extent::Part => request.reach == Reach::Unknown,
                Extent::None => false,
            })
        };
        let rank = |role: &Role| {
            let rules = self.node(role).items_at(&["rules"]);
            let names = |rule: &Node, key: &str, word: &str| {
                rule.items_at(&[key]).iter().any(|item| item.as_text() == Some(word))
            };
            let of_group = |rule: &&Node| names(rule, "apiGroups", &first.group);
            let plural = first.resource.split('/').next().unwrap_or_default();
            let of_resource = |rule: &Node| of_group(&rule) && names(rule, "resources", plural);
            (
                extents(role).iter().all(|(_, extent)| *extent == Extent::Whole),
                missing.namespace.is_some() && role.namespace.is_some(),
                rules.iter().any(of_resource),
                role.is_own,
                role.namespace.is_none(),
                rules.iter().any(|rule| of_group(&rule)),
                rules.len(),
            )
        };
        let numbers = (0..self.roles.len()).filter(|number| grants(&self.roles[*number]));
        numbers.rev().max_by_key(|number| rank(&self.roles[*number]))
    }

    /// The changes that grant permissions, and the indexes of the permissions that each one grants.
    fn changes(&self, role: usize, permissions: &BTreeMap<Permission, usize>) -> Vec<(Change, BTreeSet<usize>)> {
        let mut left = permissions.clone();
        let mut changes = Vec::new();
        for (number, node) in self.node(&self.roles[role]).items_at(&["rules"]).iter().enumerate() {
            let rule = rule_of(node, None);
            if !rule.resource_names.is_empty() {
                continue;
            }
            let verbs: BTreeSet<String> = left.keys().map(|(_, _, verb)| verb.clone()).collect();
            let mut added = (Vec::new(), BTreeSet::new());
            for verb in verbs.into_iter().filter(|verb| !rule.verbs.contains(verb)) {
                let cell = |(group, resource): (&String, &String)| (group.clone(), resource.clone(), verb.clone());
                let cells = rule.groups.iter().flat_map(|group| rule.resources.iter().map(move |it| (group, it)));
                let cells: Vec<Permission> = cells.map(cell).collect();
                if !cells.is_empty() && cells.iter().all(|cell| left.contains_key(cell)) {
                    added.1.extend(cells.iter().filter_map(|cell| left.remove(cell)));
                    added.0.push(verb);
                }
            }
            if !added.0.is_empty() {
                changes.push((Change::Extend(number, added.0), added.1));
            }
        }
        let mut verbs: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for (group, resource, verb) in left.keys() {
            verbs.entry((group, resource)).or_default().push(verb);
        }
        // Resources of a group with the same verbs share one rule.
        let mut rules: BTreeMap<(&str, Vec<&str>), Vec<&str>> = BTreeMap::new();
        for ((group, resource), verbs) in verbs {
            rules.entry((group, verbs)).or_default().push(resource);
        }
        changes.extend(rules.into_iter().map(|((group, verbs), resources)| {
            let is_in = |(of, resource, verb): &&Permission| {
                of == group && resources.contains(&&**resource) && verbs.contains(&&**verb)
            };
            let numbers = left.iter().filter(|(permission, _)| is_in(permission)).map(|(_, number)| *number).collect();
            (Change::Append(json!({ "apiGroups": [group], "resources": resources, "verbs": verbs })), numbers)
        }));
        changes
    }
}

/// The texts of files after the edits so far.
struct Files {
    root: PathBuf,
    texts: BTreeMap<PathBuf, String>,
    /// Copies of charts with these edits, and the objects that helm renders from them.
    copies: BTreeMap<PathBuf, (Copy, Vec<Value>)>,
}

impl Files {
    fn edit(&mut self, roles: &Roles, role: usize, change: &Change) -> Result<Vec<(PathBuf, Edit)>, String> {
        let node = roles.node(&roles.roles[role]);
        match roles.kept.origin(&node.span) {
            Origin::Chart(chart) => self.edit_template(roles, role, change, chart),
            Origin::File(_) => self.edit_manifest(roles, node, change),
        }
    }

    /// The text of a file after the edits so far, and its real path.
    fn text(&mut self, file: &Path) -> Result<(PathBuf, String), String> {
        let shown = file.strip_prefix(&self.root).unwrap_or(file).display();
        let cannot = |why: String| format!("`{shown}` cannot be edited: {why}");
        let file = file.canonicalize().map_err(|error| cannot(error.to_string()))?;
        if !file.starts_with(&self.root) {
            return Err(cannot(format!("it is outside of `{}`", self.root.display())));
        }
        let text = match self.texts.get(&file) {
            Some(text) => text.clone(),
            None => std::fs::read_to_string(&file).map_err(|error| cannot(error.to_string()))?,
        };
        match emit::is_generated(&text) {
            true => Err(cannot("`opctl manifests` generates it from markers, which `opctl check --fix` adds".into())),
            false => Ok((file, text)),
        }
    }

    fn edit_manifest(&mut self, roles: &Roles, role: &Node, change: &Change) -> Result<Vec<(PathBuf, Edit)>, String> {
        let rules = role.get("rules");
        let (place, steps, items) = match change {
            Change::Extend(number, verbs) => {
                let rule = &rules.map(Node::items).unwrap_or_default()[*number];
                (rule, vec!["verbs"], verbs.iter().map(|verb| verb.as_str().into()).collect::<Vec<_>>())
            }
            Change::Append(rule) => (rules.unwrap_or(role), Vec::new(), vec![rule.clone()]),
        };
        let Origin::File(file) = roles.kept.origin(&place.span) else { unreachable!("a manifest is a file") };
        let (file, mut text) = self.text(&file)?;
        let unclear = |why: &str| format!("`{}` cannot be edited safely: {why}", place.span.file.path);
        let (document, mut path) = path_of(place).ok_or_else(|| unclear("the rules are part of another value"))?;
        path.extend(steps.into_iter().map(|key| YamlStep::Key(key.into())));
        let sequence = YamlSequence { document, path, is_template: false };
        let edits: Vec<Edit> =
            items.into_iter().map(|item| Edit::YamlItem { sequence: sequence.clone(), item }).collect();
        for edit in &edits {
            match edit.apply(&text) {
                Ok(edited) => text = edited,
                Err(error) => return self.instead(roles, role, change).unwrap_or_else(|| Err(unclear(&error.reason))),
            }
        }
        self.texts.insert(file.clone(), text);
        Ok(edits.into_iter().map(|edit| (file.clone(), edit)).collect())
    }

    /// The edits that add a separate rule if another one cannot be extended.
    fn instead(&mut self, roles: &Roles, role: &Node, change: &Change) -> Option<Result<Vec<(PathBuf, Edit)>, String>> {
        Some(self.edit_manifest(roles, role, &change.appended(role)?))
    }

    fn edit_template(
        &mut self,
        roles: &Roles,
        role: usize,
        change: &Change,
        chart: &Path,
    ) -> Result<Vec<(PathBuf, Edit)>, String> {
        let node = roles.node(&roles.roles[role]);
        let title = roles.title(&roles.roles[role]);
        let file = template_of(node, chart)
            .ok_or_else(|| format!("the template of the {title} is not in `{}`", chart.display()))?;
        let (real, text) = self.text(&file)?;
        let failed = |error: helm::HelmError| format!("`{}` cannot be edited: {error}", file.display());
        let below = file.strip_prefix(chart).expect("a template is in its chart").to_owned();
        if !self.copies.contains_key(chart) {
            let folder = chart.canonicalize().ok().and_then(|it| it.strip_prefix(&self.root).ok().map(Path::to_owned));
            let folder =
                folder.ok_or_else(|| format!("`{}` is outside of `{}`", chart.display(), self.root.display()))?;
            let copy = Copy::of(&self.root, &folder).map_err(failed)?;
            let objects = rendered(&copy, &roles.values).map_err(failed)?;
            self.copies.insert(chart.to_owned(), (copy, objects));
        }
        let (copy, before) = self.copies.get_mut(chart).expect("it was inserted");
        let is_own = |object: &Value| roles.roles.iter().any(|role| is_same_object(&roles.node(role).json(), object));
        let this = node.json();
        for change in [Some(change.clone()), change.appended(node)].into_iter().flatten() {
            for edits in candidates(&text, node, &change) {
                let edited = edits.iter().try_fold(text.clone(), |text, edit| edit.apply(&text));
                let Ok(edited) = edited else { continue };
                copy.write(&below, &edited).map_err(failed)?;
                let Ok(after) = rendered(copy, &roles.values) else { continue };
                let is_same = |(before, after): (&Value, &Value)| {
                    before == after || is_own(before) && change.is_made(before, after)
                };
                let is_made = before.iter().zip(&after).any(|(a, b)| a != b && is_same_object(a, &this));
                if before.len() == after.len() && before.iter().zip(&after).all(is_same) && is_made {
                    *before = after;
                    self.texts.insert(real.clone(), edited);
                    return Ok(edits.into_iter().map(|edit| (real.clone(), edit)).collect());
                }
            }
        }
        copy.write(&below, &text).map_err(failed)?;
        Err(format!("the rules of the {title} are not literal text in `{}`", file.display()))
    }
}

impl Change {
    /// The rule to append that grants the same as more verbs for a rule.
    fn appended(&self, role: &Node) -> Option<Self> {
        let Self::Extend(number, verbs) = self else { return None };
        let mut rule = role.items_at(&["rules"]).get(*number)?.json();
        rule["verbs"] = verbs.clone().into();
        Some(Self::Append(rule))
    }

    /// `true` if `after` differs from `before` only by this change.
    fn is_made(&self, before: &Value, after: &Value) -> bool {
        let mut without = after.clone();
        let Some(rules) = without["rules"].as_array_mut() else { return false };
        match self {
            Self::Append(rule) => {
                let Some(at) = rules.iter().rposition(|other| other == rule) else { return false };
                rules.remove(at);
            }
            Self::Extend(number, verbs) => {
                let Some(all) = rules.get_mut(*number).and_then(|rule| rule["verbs"].as_array_mut()) else {
                    return false;
                };
                all.retain(|verb| !verbs.iter().any(|added| *verb == **added));
            }
        }
        without == *before
    }
}

fn is_same_object(one: &Value, other: &Value) -> bool {
    one["kind"] == other["kind"]
        && ["name", "namespace"].iter().all(|key| one["metadata"][key] == other["metadata"][key])
}

/// The roles and bindings that helm renders.
fn rendered(copy: &Copy, values: &[PathBuf]) -> Result<Vec<Value>, helm::HelmError> {
    let file = SourceFile::new("", copy.render(NAMESPACE, values)?);
    let unreadable = |_| helm::HelmError { message: "it no longer renders YAML".into(), help: String::new() };
    let objects = kept::rendered_objects(&file).map_err(unreadable)?;
    let is_rbac = |object: &&Node| {
        object.text_at(&["apiVersion"]).is_some_and(|version| version.starts_with("rbac.authorization.k8s.io/"))
    };
    Ok(objects.iter().filter(is_rbac).map(Node::json).collect())
}

/// The template of a rendered object, from the comment above it: `# Source: CHART/templates/role.yaml`.
fn template_of(node: &Node, chart: &Path) -> Option<PathBuf> {
    let before = &node.span.file.text[..node.span.range.start];
    let source = before.rfind("# Source: ").map(|at| &before[at + "# Source: ".len()..])?;
    let (_, below) = source.lines().next()?.split_once('/')?;
    Some(chart.join(below)).filter(|file| file.is_file())
}

/// The possible edits of a template for a change, most likely first.
fn candidates(text: &str, role: &Node, change: &Change) -> Vec<Vec<Edit>> {
    const MOST_DOCUMENTS: usize = 100;
    let key = |key: &str| YamlStep::Key(key.into());
    let sequence = |document, path| YamlSequence { document, path, is_template: true };
    let rules: Vec<Value> = role.items_at(&["rules"]).iter().map(Node::json).collect();
    let mut found = Vec::new();
    for document in 0..MOST_DOCUMENTS {
        let whole = sequence(document, vec![key("rules")]);
        let Some(items) = whole.items(text) else { continue };
        let same = items.iter().flatten().filter(|item| rules.contains(item)).count();
        if let Change::Append(rule) = change
            && same > 0
        {
            found.push((same, vec![Edit::YamlItem { sequence: whole, item: rule.clone() }]));
        }
        if let Change::Extend(number, verbs) = change {
            for (index, _) in items.iter().enumerate().filter(|(_, item)| item.as_ref() == Some(&rules[*number])) {
                let sequence = sequence(document, vec![key("rules"), YamlStep::Index(index), key("verbs")]);
                let edit = |verb: &String| Edit::YamlItem { sequence: sequence.clone(), item: verb.as_str().into() };
                found.push((same, verbs.iter().map(edit).collect()));
            }
        }
    }
    found.sort_by_key(|(same, _)| std::cmp::Reverse(*same));
    found.into_iter().map(|(_, edits)| edits).collect()
}

/// The document and the path of a value in its file; `None` for a value within a scalar.
fn path_of(wanted: &Node) -> Option<(usize, Vec<YamlStep>)> {
    let documents = documents(&wanted.span.file, Dialect::Kubectl).ok()?;
    documents.iter().enumerate().find_map(|(number, document)| Some((number, path_below(document, wanted)?)))
}

fn path_below(node: &Node, wanted: &Node) -> Option<Vec<YamlStep>> {
    if node == wanted {
        return Some(Vec::new());
    }
    let entries = node.entries().iter().map(|entry| (YamlStep::Key(entry.key.clone()), &entry.value));
    let items = node.items().iter().enumerate().map(|(number, item)| (YamlStep::Index(number), item));
    entries.chain(items).find_map(|(step, part)| {
        let mut path = path_below(part, wanted)?;
        path.insert(0, step);
        Some(path)
    })
}
