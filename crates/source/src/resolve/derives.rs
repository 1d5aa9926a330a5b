//! `#[derive(…)]` → its macros, independent of renames by `use`.

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, DeriveInput, Path, Token};

use super::modules::{ModuleId, Modules, UsePath, mentions};
use super::names::{Namespace, Target, follow, resolve};
use crate::attributes::Derives;

/// The derives that opctl knows, by their crates.
const KNOWN: &[(&[&str], &[&str])] = &[
    (&["std"], &["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"]),
    (&["serde", "serde_derive"], &["Deserialize", "Serialize"]),
    (&["serde_repr"], &["Deserialize_repr", "Serialize_repr"]),
    (&["schemars", "schemars_derive"], &["JsonSchema", "JsonSchema_repr"]),
    (&["kube", "kube_derive"], &["CELSchema", "CustomResource", "KubeSchema", "Resource"]),
];

/// Crates that re-export some of these, e.g. `k8s_openapi::serde::Serialize`.
const RE_EXPORTING: &[&str] = &["k8s_openapi", "kube_core", "kube_runtime"];

/// The crates whose derives implement neither `Serialize` nor `Default` nor `JsonSchema`.
const UNRELATED: &[&str] = &[
    "arbitrary",
    "async_graphql",
    "bon",
    "borsh",
    "clap",
    "derive_builder",
    "derive_more",
    "derive_new",
    "diesel",
    "garde",
    "getset",
    "kube_derive",
    "num_derive",
    "proptest_derive",
    "rkyv",
    "sqlx",
    "strum",
    "strum_macros",
    "thiserror",
    "ts_rs",
    "typed_builder",
    "utoipa",
    "validator",
    "zeroize",
];

/// `true` if a crate has no derive with a name that opctl looks for.
pub fn is_unrelated(krate: &str) -> bool {
    UNRELATED.contains(&krate)
}

/// The macro that a path in `#[derive(…)]` refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Derive {
    Known(&'static str),
    /// Another derive, by its path.
    Other(Vec<String>),
}

/// The derive that a path in a known crate refers to.
pub fn known(path: &[String]) -> Option<&'static str> {
    let (krate, last) = (path.first()?, path.last()?);
    let is_known = |name: &str| KNOWN.iter().any(|(crates, _)| crates.contains(&name));
    if !is_known(krate) && !RE_EXPORTING.contains(&krate.as_str()) {
        return None;
    }
    KNOWN.iter().flat_map(|(_, derives)| *derives).copied().find(|derive| derive == last)
}

/// `true` if a type has a derive of std, serde, schemars or kube, given by its original name.
pub fn derives(modules: &Modules, module: ModuleId, attributes: &[Attribute], name: &str) -> bool {
    find(modules, module, attributes, name).is_some()
}

/// The path of such a derive.
pub fn find(modules: &Modules, module: ModuleId, attributes: &[Attribute], name: &str) -> Option<UsePath> {
    paths(attributes).find(|path| {
        // The name of another known derive refers to that derive, unless a `use` renames it.
        let [.., last] = path.segments.as_slice() else { return false };
        let is_other = last != name && KNOWN.iter().any(|(_, derives)| derives.contains(&last.as_str()));
        let is_renamed = || {
            let module = modules.module(module);
            path.segments.len() > 1 || module.uses.contains_key(last) || !module.globs.is_empty()
        };
        (!is_other || is_renamed()) && matches!(derive(modules, module, path), Derive::Known(known) if known == name)
    })
}

/// All derives of a type.
pub fn of(modules: &Modules, module: ModuleId, attributes: &[Attribute]) -> Derives {
    let mut derives = Derives::default();
    for path in paths(attributes) {
        match derive(modules, module, &path) {
            Derive::Known(name) => derives.known.push(name),
            Derive::Other(_) => derives.has_others = true,
        }
    }
    derives
}

/// A derive that may implement serde's, schemars' or std's traits in its own way.
pub fn other(modules: &Modules, module: ModuleId, attributes: &[Attribute]) -> Option<String> {
    others(modules, module, attributes).find(|path| !is_unrelated(&path[0])).map(|path| path.join("::"))
}

/// `true` if a derive may implement `From`.
pub fn may_convert(modules: &Modules, module: ModuleId, attributes: &[Attribute]) -> bool {
    others(modules, module, attributes)
        .any(|path| path.last().is_some_and(|last| last == "From") || !is_unrelated(&path[0]))
}

/// `true` if a derive of this type may generate another type with this name, such as `BackupBuilder` for `Backup`.
pub fn may_make(modules: &Modules, module: ModuleId, input: &DeriveInput, name: &str) -> bool {
    let is_of_type = name.contains(&super::modules::name(&input.ident));
    let mentions_name = || input.attrs.iter().any(|attribute| mentions(attribute.to_token_stream(), name));
    others(modules, module, &input.attrs).any(|path| !is_unrelated(&path[0]) || is_of_type || mentions_name())
}

fn others(modules: &Modules, module: ModuleId, attributes: &[Attribute]) -> impl Iterator<Item = Vec<String>> {
    paths(attributes).filter_map(move |path| match derive(modules, module, &path) {
        Derive::Other(path) => Some(path),
        Derive::Known(_) => None,
    })
}

fn paths(attributes: &[Attribute]) -> impl Iterator<Item = UsePath> {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let lists =
        derives.filter_map(|derive| derive.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok());
    lists.flatten().map(|path| UsePath::of(&path))
}

fn derive(modules: &Modules, module: ModuleId, path: &UsePath) -> Derive {
    let mut found = resolve(modules, module, path, Namespace::Macro);
    // Limits cycles: chains of re-exports are short.
    for _ in 0..8 {
        let Some(Target::Foreign(foreign)) = &found else { break };
        if let Some(name) = known(&foreign.path) {
            return Derive::Known(name);
        }
        found = match follow(modules, foreign, Namespace::Macro) {
            Ok(Some(next)) if next != Target::Foreign(foreign.clone()) => Some(next),
            // The crate has another item with this name.
            Ok(None) if path.segments.len() == 1 && foreign.via.is_some() => None,
            _ => return Derive::Other(foreign.path.clone()),
        };
    }
    match found {
        None => by_name(path).map_or_else(|| Derive::Other(path.segments.clone()), Derive::Known),
        Some(_) => Derive::Other(path.segments.clone()),
    }
}

/// For a name that is not declared: a derive of std, or incomplete code.
fn by_name(path: &UsePath) -> Option<&'static str> {
    match path.segments.as_slice() {
        [only] => KNOWN.iter().flat_map(|(_, derives)| *derives).copied().find(|derive| derive == only),
        segments => known(segments),
    }
}
