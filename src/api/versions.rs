//! The versions of a kind. The types of a new version are copied from another one, and the storage version does not
//! change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::components::is_certified;
use super::{Args, Message, Report, Request, adopted, list};
use crate::error::{UserError, UserErrors};
use crate::scaffold::api_of_resource;
use crate::scaffold::webhook::{LIST, Server, Webhooks};
use crate::scaffold::{Inserted, Insertion, Rendered};
use opctl_edit::{Edit, EditError, Versions};
use opctl_model::diagnostic::{SourceFile, Span};
use opctl_model::names::Version;
use opctl_model::project::{Options, Origin, ProjectFile, ReadError, Resource, Tree};

/// A copy of the types of another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    pub types: Option<String>,
    pub sample: Option<String>,
    /// Other files of the version's folder, by path relative to it. `None` if the file exists because of another kind.
    pub files: BTreeMap<String, Option<String>>,
}

impl Copy {
    /// The copied files, by path relative to the project's folder.
    pub fn texts(&self, resource: &Resource) -> Vec<(String, String)> {
        let folder = folder(resource, &resource.version);
        let texts = self.files.iter().filter_map(|(path, text)| Some((format!("{folder}/{path}"), text.clone()?)));
        texts.collect()
    }

    /// Replaces the rendered files by the copies.
    pub fn replace(&self, rendered: &mut Rendered, resource: &Resource) {
        let (api, folder) = (api_of_resource(resource), folder(resource, &resource.version));
        for (path, text) in
            [(api.types_file(), &self.types), (format!("config/samples/{}", api.sample()), &self.sample)]
        {
            if let (Some(file), Some(text)) = (rendered.files.iter_mut().find(|file| file.path == path), text) {
                file.text.clone_from(text);
            }
        }
        let insertion =
            |module| Insertion { path: format!("{folder}/mod.rs"), base: None, what: Inserted::Module(module) };
        rendered.insertions.extend(self.files.keys().filter_map(|path| module(path)).map(insertion));
    }
}

/// The module for a file in the folder of a version.
fn module(path: &str) -> Option<String> {
    match path.strip_suffix(".rs")?.split('/').collect::<Vec<_>>()[..] {
        [module] | [module, "mod"] => Some(module.to_owned()),
        _ => None,
    }
}

/// The folder of a version of a kind.
fn folder(resource: &Resource, version: &Version) -> String {
    format!("src/api/{}/{version}", resource.group.module())
}

/// The files that were copied with a type, by path relative to the project's folder.
pub fn files(resource: &Resource) -> Vec<String> {
    let folder = folder(resource, &resource.version);
    resource.options.copied.iter().map(|path| format!("{folder}/{path}")).collect()
}

/// `true` if the type of a resource was copied. It never was the storage version, unless the user changed that.
pub fn is_copy(resource: &Resource) -> bool {
    resource.options.from.is_some()
}

/// The additional edits for a copied type.
pub fn edits(resource: &Resource) -> Vec<(String, Edit)> {
    if !is_copy(resource) {
        return Vec::new();
    }
    let path = format!("{}/mod.rs", folder(resource, &resource.version));
    let modules = resource.options.copied.iter().filter_map(|path| module(path));
    let modules = modules.map(|name| (path.clone(), Edit::RustMod { name }));
    modules.chain([(api_of_resource(resource).types_file(), not_stored(resource))]).collect()
}

fn not_stored(resource: &Resource) -> Edit {
    let (kind, version) = (resource.kind.to_string(), resource.version.to_string());
    Edit::KubeArgument { kind, version, argument: "storage = false".into() }
}

/// The other versions of a kind, least mature first.
pub fn others<'a>(resource: &Resource, file: &'a ProjectFile) -> Vec<&'a Resource> {
    let is_other = |it: &&Resource| it.is_same_kind(resource) && !it.is_same(resource) && it.api.is_some();
    let mut others: Vec<&Resource> = file.resources.iter().filter(is_other).collect();
    others.sort_by_key(|other| other.version.priority());
    others
}

/// `true` if the source says that the version is not the storage version.
pub fn is_not_stored(resource: &Resource, tree: &Tree) -> Result<bool, ReadError> {
    let text = tree.read(&adopted::types_file(resource, tree).0)?.unwrap_or_default();
    Ok(not_stored(resource).apply(&text).is_ok_and(|edited| edited == text))
}

/// The storage version: the hub, or the least mature version that can be stored.
pub fn stored<'a>(versions: &[&'a Resource], tree: &Tree) -> Result<Option<&'a Resource>, ReadError> {
    if let Some(hub) = versions.iter().find(|version| !version.webhooks.spokes.is_empty()) {
        return Ok(Some(hub));
    }
    for version in versions {
        if !is_not_stored(version, tree)? {
            return Ok(Some(version));
        }
    }
    Ok(None)
}

/// The version to copy the type from, if the kind has other versions.
pub fn origin(args: &Args, resource: &Resource, file: &ProjectFile) -> Result<Option<Version>, UserErrors> {
    let mut refusals = UserErrors::default();
    let (kind, others) = (&resource.kind, others(resource, file));
    let known = file.find(resource).filter(|known| known.api.is_some());
    let earlier = known.and_then(|known| known.options.from.as_ref());
    if let Some(other) = others.iter().find(|other| other.is_adopted()).filter(|_| known.is_none()) {
        let refusal =
            UserError::new(format!("opctl did not scaffold `{kind}` {}, and cannot copy its type", other.version));
        refusals.push(refusal.help(match other.is_of_macro() {
            true => "have the macro make this version, too; then add it to PROJECT with `opctl adopt`".into(),
            false => format!(
                "copy `{}` by hand, with another `version` and `storage = false`; then add it to PROJECT with `opctl adopt`",
                other.path
            ),
        }));
        return Err(refusals);
    }
    let asked = args.from.as_deref().and_then(|text| refusals.check(Version::parse(text)));
    if let Some(asked) = &asked
        && known.is_some()
        && earlier != Some(asked)
    {
        let version = &resource.version;
        refusals.push(
            UserError::new(format!("`{kind}` has {version} already, which was not copied from {asked}"))
                .help(format!("edit `{}` by hand", api_of_resource(resource).types_file())),
        );
    } else if let Some(asked) = &asked
        && others.iter().all(|other| other.version != *asked)
    {
        let refusal = UserError::new(format!("`{kind}` has no version {asked} to copy"));
        refusals.push(match others.is_empty() {
            true => refusal.help("leave out `--from`"),
            false => refusal.help(format!("it has {}", list(others.iter().map(|other| other.version.as_str())))),
        });
    }
    let are_shared = |names: fn(&Options) -> &Vec<String>| {
        let given = names(&args.options);
        given.is_empty() || others.iter().any(|other| names(&other.options) == given)
    };
    let names = [
        ("--shortname", are_shared(|options| &options.short_names)),
        ("--category", are_shared(|options| &options.categories)),
    ];
    let describes = args.options.workload.image.is_some() || args.chart.chart.is_some();
    if describes && args.from.is_some() {
        refusals.push(
            UserError::new("`--from` copies a type, and another option describes one").help("leave out one of the two"),
        );
    }
    if known.is_none() && !describes && !others.is_empty() {
        for (flag, _) in names.iter().filter(|(_, are_shared)| !are_shared) {
            refusals.push(
                UserError::new(format!("all versions of `{kind}` have the same names, and its type is copied"))
                    .help(format!("leave out `{flag}`, and change the names in each version's `#[kube(…)]`")),
            );
        }
    }
    refusals.settle()?;
    Ok(match known {
        Some(_) => earlier.cloned(),
        None if describes => None,
        None => asked.or_else(|| others.last().map(|newest| newest.version.clone())),
    })
}

/// Copies the type of another version, its sample, and the parts of that version's folder that the type uses.
pub fn copy(
    resource: &mut Resource,
    from: &Version,
    file: &ProjectFile,
    tree: &Tree,
    report: Report,
) -> anyhow::Result<Copy> {
    let old = Resource { version: from.clone(), ..resource.clone() };
    let (group, full_group, kind) = (resource.group.module(), resource.full_group(), resource.kind.to_string());
    let to = resource.version.clone();
    let versions =
        Versions { group_module: &group, group: &full_group, kind: &kind, from: from.as_str(), to: to.as_str() };
    let (source, target) = (folder(&old, from), folder(resource, &to));
    let path = api_of_resource(&old).types_file();
    let Some(types) = tree.read(&path)? else {
        return Err(UserError::new(format!("`{path}` does not exist, so the type of {from} cannot be copied"))
            .help("restore it, or specify another version with `--from`")
            .into());
    };
    let mut texts = BTreeMap::from([(format!("{}.rs", resource.kind.module()), types)]);
    let mut modules = BTreeSet::from([resource.kind.module()]);
    let mut refusals = UserErrors::default();
    let mut unread: Vec<String> = texts.keys().cloned().collect();
    unread.extend(with_folder(&source, &resource.kind.module(), &mut texts, tree)?);
    while let Some(path) = unread.pop() {
        let text = texts[&path].clone();
        for (module, range, is_relative) in versions.used(&text, &module_of(&group, from, &path)) {
            if modules.contains(&module) {
                continue;
            }
            let is_kind = file
                .resources
                .iter()
                .any(|it| it.origin == Origin::Own && it.group == resource.group && it.kind.module() == module);
            let files = [format!("{module}.rs"), format!("{module}/mod.rs")];
            let found = files.iter().find(|file| !is_kind && tree.has(&format!("{source}/{file}")));
            if let Some(found) = found {
                texts.insert(found.clone(), tree.read(&format!("{source}/{found}"))?.unwrap_or_default());
                unread.push(found.clone());
                unread.extend(with_folder(&source, &module, &mut texts, tree)?);
                modules.insert(module);
            } else if is_relative && module != "*" && !tree.has(&format!("{target}/{module}.rs")) {
                let span = Span { file: SourceFile::new(format!("{source}/{path}"), text.clone()), range };
                refusals.push(
                    UserError::new(format!(
                        "{span}: `{module}` is not in a separate file, so it cannot be copied to {to}"
                    ))
                    .help(format!("move it to a module such as `{source}/common.rs`"))
                    .help(format!(
                        "or use it by its whole path, `crate::api::{group}::{from}::{module}`, to share it with {from}"
                    )),
                );
            }
        }
    }
    refusals.settle()?;

    let mut copies = BTreeMap::new();
    for (path, text) in &texts {
        let file = module_of(&group, from, path);
        let copied =
            versions.copy(text, &file, &modules).map_err(|error| unreadable(&format!("{source}/{path}"), error))?;
        let shown: Arc<SourceFile> = SourceFile::new(format!("{source}/{path}"), text.clone());
        for (path, at) in copied.shares {
            let span = Span { file: shown.clone(), range: at..at };
            let note = format!("{to} shares `{path}` with {from} ({span}): a change there changes both versions");
            report(Message::Note(&note));
        }
        copies.insert(path.clone(), copied.text);
    }
    let types = copies.remove(&format!("{}.rs", resource.kind.module()));
    let of_other = |path: &String| {
        let path = format!("{target}/{path}");
        file.resources.iter().any(|other| !other.is_same(resource) && files(other).contains(&path))
    };
    let exists = |path: &String| tree.has(&format!("{target}/{path}"));
    let files: BTreeMap<String, Option<String>> = copies
        .into_iter()
        .filter(|(path, _)| !exists(path) || of_other(path))
        .map(|(path, text)| (path.clone(), Some(text).filter(|_| !exists(&path))))
        .collect();
    resource.options.extend(&Options {
        from: Some(from.clone()),
        copied: files.keys().cloned().collect(),
        workload: file.find(&old).map(|known| known.options.workload.clone()).unwrap_or_default(),
        ..Options::default()
    });
    let sample = tree.read(&format!("config/samples/{}", api_of_resource(&old).sample()))?;
    Ok(Copy { types, sample: sample.map(|text| sample_of(&text, &versions)), files })
}

/// The path of the module of a file in the folder of a version.
fn module_of(group: &str, version: &Version, path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let below = path.split('/').map(str::to_owned);
    ["api".to_owned(), group.to_owned(), version.to_string()].into_iter().chain(below).collect()
}

/// Adds the files of a module's folder to `texts`, and returns their paths.
fn with_folder(
    source: &str,
    module: &str,
    texts: &mut BTreeMap<String, String>,
    tree: &Tree,
) -> Result<Vec<String>, ReadError> {
    let mut new = Vec::new();
    for path in tree.files_below(&format!("{source}/{module}"))? {
        let Some(below) = path.strip_prefix(&format!("{source}/")).filter(|path| path.ends_with(".rs")) else {
            continue;
        };
        if let Some(text) = tree.read(&path)?.filter(|_| !texts.contains_key(below)) {
            texts.insert(below.to_owned(), text);
            new.push(below.to_owned());
        }
    }
    Ok(new)
}

fn unreadable(path: &str, error: EditError) -> UserError {
    let at = error.at.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
    UserError::new(format!("cannot copy `{path}{at}`: {}", error.reason)).help(error.help)
}

/// The sample with the API version replaced.
fn sample_of(text: &str, versions: &Versions) -> String {
    let old = format!("{}/{}", versions.group, versions.from);
    let line = |line: &str| match line.strip_prefix("apiVersion:") {
        Some(value) if value.trim().trim_matches(['"', '\'']) == old => {
            line.replacen(&old, &format!("{}/{}", versions.group, versions.to), 1)
        }
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Changes a request so that it creates the version in PROJECT: a copy, whose texts `read` returns, or a version that
/// is not served.
pub fn restore<E>(
    request: &mut Request,
    resource: &Resource,
    read: impl Fn(&str) -> Result<Option<String>, E>,
) -> Result<(), E> {
    let Options { from, copied, served, .. } = resource.options.clone();
    request.resource.options.extend(&Options { from, copied, served, ..Options::default() });
    if !is_copy(resource) {
        return Ok(());
    }
    let (api, folder) = (api_of_resource(resource), folder(resource, &resource.version));
    let mut files = BTreeMap::new();
    for path in &resource.options.copied {
        files.insert(path.clone(), read(&format!("{folder}/{path}"))?);
    }
    let (types, sample) = (read(&api.types_file())?, read(&format!("config/samples/{}", api.sample()))?);
    request.copy = Some(Copy { types, sample, files });
    Ok(())
}

/// Resets a version so that it is not a copy of another one.
pub fn forget(resource: &mut Resource) {
    resource.options.from = None;
    resource.options.copied.clear();
}

/// `true` if the version is no longer served, which is the first step of its deletion.
pub fn is_unserved(resource: &Resource) -> bool {
    resource.options.served == Some(false)
}

/// A version that is no longer served: its entry in PROJECT, and the edits of its type.
pub fn unserved(resource: &Resource) -> (Resource, Vec<Edit>) {
    let mut unserved = resource.clone();
    unserved.options.served = Some(false);
    let argument = |argument: &str| {
        let (kind, version) = (resource.kind.to_string(), resource.version.to_string());
        Edit::KubeArgument { kind, version, argument: argument.into() }
    };
    // The deletion of the storage version is refused, so this version has `storage = false`.
    (unserved, ["storage = false", "deprecated", "served = false"].map(argument).into())
}

/// The entry of a kind's hub with the new version, and the webhooks that this adds; `None` if nothing is converted.
pub fn conversion(
    args: &Args,
    resource: &Resource,
    file: &ProjectFile,
    tree: &Tree,
) -> anyhow::Result<Option<(Resource, Webhooks)>> {
    let others = others(resource, file);
    let has_hub = others.iter().any(|other| !other.webhooks.spokes.is_empty());
    let is_first = !tree.has(LIST);
    let mut refusals = UserErrors::default();
    if args.conversion == Some(false) && has_hub {
        refusals.push(
            UserError::new(format!(
                "the other versions of `{}` are converted, and all versions must be",
                resource.kind
            ))
            .help("leave out `--conversion=false`"),
        );
    }
    if args.conversion == Some(true) && (others.is_empty() || !is_copy(resource)) {
        refusals.push(
            UserError::new(format!(
                "`--conversion` is for a further version of a kind whose type is copied, and `{}` has none",
                resource.kind
            ))
            .help("leave out `--conversion`, or use `opctl create webhook --conversion`"),
        );
    }
    let converts = has_hub || args.conversion == Some(true);
    refusals.settle()?;
    if !converts || !is_copy(resource) {
        return Ok(None);
    }
    let Some(stored) = stored(&others, tree)? else {
        return Err(UserError::new(format!(
            "no version of `{}` is stored: all of them have `storage = false`",
            resource.kind
        ))
        .help("remove it from the version that etcd should hold")
        .into());
    };
    let mut hub = stored.clone();
    let added: Vec<Version> = match has_hub {
        true => vec![resource.version.clone()],
        false => {
            let versions = others.iter().map(|other| &other.version).filter(|version| **version != hub.version);
            versions.chain([&resource.version]).cloned().collect()
        }
    };
    hub.webhooks.spokes.extend(added.iter().filter(|version| !stored.webhooks.spokes.contains(version)).cloned());
    let server = if is_certified(tree)? { Server::CertManager } else { Server::OwnCertificate };
    let webhooks =
        Webhooks { server: Some(server).filter(|_| is_first), admissions: Vec::new(), conversion: Some(added) };
    Ok(Some((hub, webhooks)))
}
