//! Renames types, modules and names of kinds in Rust source, by the resolved items of paths, not by spelling.
//!
//! Markers and `#[kube(…)]` contain the kind's names for the API server. Strings, other comments, and the user's names
//! stay the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use syn::{Expr, ExprLit, Item, Lit, Meta};

use super::Source;
use super::argument::kubes;
use super::paths::{PathAt, paths};
use opctl_model::lexer::{self, Lexer, Token};

/// The names of a kind in the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindNames {
    /// The full group: `cache.example.com`.
    pub group: String,
    pub kind: String,
    pub plural: String,
    pub singular: String,
}

impl KindNames {
    /// The name of its CRD.
    pub fn crd(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renames {
    /// Modules by path from the root of the crate, with their new names.
    pub modules: BTreeMap<Vec<String>, String>,
    /// Types by path from the root of the crate, with their new names.
    pub types: BTreeMap<Vec<String>, String>,
    /// The old and new name of the library in other targets.
    pub library: (String, String),
    pub kinds: Vec<(KindNames, KindNames)>,
}

/// The Rust files of a package, used to resolve paths.
#[derive(Debug, Default)]
pub struct Package {
    library: String,
    /// The root file of the crate with the renamed types and modules: the library, or the only binary.
    root: String,
    /// The imports of each module, by name; `globs` contains the modules imported with `*`.
    imports: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
    globs: BTreeMap<Vec<String>, Vec<Vec<String>>>,
    modules: BTreeSet<Vec<String>>,
    types: BTreeSet<Vec<String>>,
}

/// Maximum depth of imports of imports.
const DEPTH: usize = 8;

impl Package {
    /// `files` are texts by path, relative to the folder of the package.
    pub fn new<'a>(renames: &Renames, files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let files: Vec<(&str, &str)> = files.collect();
        let has_library = files.iter().any(|(path, _)| *path == "src/lib.rs");
        let mut package = Self {
            root: if has_library { "src/lib.rs" } else { "src/main.rs" }.to_owned(),
            library: renames.library.0.clone(),
            types: renames.types.keys().cloned().collect(),
            ..Self::default()
        };
        let files: Vec<(Vec<String>, &str)> =
            files.into_iter().map(|(path, text)| (package.module_of(path), text)).collect();
        for (module, text) in &files {
            for length in 0..=module.len() {
                package.modules.insert(module[..length].to_vec());
            }
            for path in paths(text) {
                let inside = path.inside.iter().map(|name| (*name).to_owned());
                package.modules.insert(module.iter().cloned().chain(inside).collect());
            }
        }
        for (module, text) in &files {
            let all = paths(text);
            let imports = all.iter().filter_map(|path| Some((path.import?, path)));
            for (name, path) in imports {
                let Some(target) = package.absolute(path, module, 0) else { continue };
                let place: Vec<String> =
                    module.iter().cloned().chain(path.inside.iter().map(|name| (*name).to_owned())).collect();
                match name {
                    "*" => package.globs.entry(place).or_default().push(target),
                    name => _ = package.imports.entry(place).or_default().insert(name.to_owned(), target),
                }
            }
        }
        package
    }

    /// The positions at which a file uses items of another one.
    pub fn uses(&self, path: &str, text: &str, other: &str) -> Vec<Range<usize>> {
        let (module, other) = (self.module_of(path), self.module_of(other));
        let variants = variants(text);
        let mut found = Vec::new();
        for path in paths(text) {
            let is_one_word = path.segments.len() == 1 && path.import.is_none();
            let leads_there = |target: Vec<String>| {
                let target = self.canonical(&target, 0);
                // A variable may have the name of a module.
                target.starts_with(&other) && !(is_one_word && target.len() == other.len())
            };
            let (start, end) = (path.segments[0].1.start, path.segments[path.segments.len() - 1].1.end);
            if !variants.contains(&start) && self.absolute(&path, &module, 0).is_some_and(leads_there) {
                found.push(start..end);
            }
        }
        found
    }

    /// The module of a file. Another target has a separate root.
    fn module_of(&self, path: &str) -> Vec<String> {
        if path == self.root {
            return Vec::new();
        }
        let Some(below) = path.strip_prefix("src/").filter(|below| *below != "main.rs" && !below.starts_with("bin/"))
        else {
            return vec![format!("/{path}")];
        };
        let below = below.trim_end_matches(".rs");
        below.strip_suffix("/mod").unwrap_or(below).split('/').map(str::to_owned).collect()
    }

    /// The path from the root of the crate, if it can be resolved.
    fn absolute(&self, path: &PathAt, module: &[String], depth: usize) -> Option<Vec<String>> {
        let names = || path.segments.iter().map(|(name, _)| (*name).to_owned());
        let first = names().next()?;
        if first == self.library {
            return Some(names().skip(1).collect());
        }
        let own = root_of(module);
        match first.as_str() {
            "crate" => return Some(own.iter().cloned().chain(names().skip(1)).collect()),
            "self" | "super" => return path.absolute(module),
            _ => {}
        }
        let own_names = |module: &[String]| -> Vec<String> { module.iter().cloned().chain(names()).collect() };
        // Inline modules mostly import their parent with `super::*`.
        let inside: Vec<String> =
            module.iter().cloned().chain(path.inside.iter().map(|name| (*name).to_owned())).collect();
        for place in [&inside[..], module] {
            if let Some(target) = self.named(place, &first, depth) {
                return Some(target.into_iter().chain(names().skip(1)).collect());
            }
            let child: Vec<String> = place.iter().cloned().chain([first.clone()]).collect();
            if self.modules.contains(&child) || self.types.contains(&child) {
                return Some(own_names(place));
            }
        }
        None
    }

    /// The item that a name in a module refers to through an import.
    fn named(&self, module: &[String], name: &str, depth: usize) -> Option<Vec<String>> {
        if depth > DEPTH {
            return None;
        }
        if let Some(target) = self.imports.get(module).and_then(|imports| imports.get(name)) {
            return Some(target.clone());
        }
        self.globs.get(module)?.iter().find_map(|glob| {
            let glob = self.canonical(glob, depth + 1);
            let child: Vec<String> = glob.iter().cloned().chain([name.to_owned()]).collect();
            let exists = self.modules.contains(&child) || self.types.contains(&child);
            if exists { Some(child) } else { self.named(&glob, name, depth + 1) }
        })
    }

    /// The path with all imports resolved.
    fn canonical(&self, path: &[String], depth: usize) -> Vec<String> {
        let mut at: Vec<String> = Vec::new();
        for name in path {
            let child: Vec<String> = at.iter().cloned().chain([name.clone()]).collect();
            let exists = self.modules.contains(&child) || self.types.contains(&child);
            at = match self.named(&at, name, depth).filter(|_| !exists && depth <= DEPTH) {
                Some(target) => self.canonical(&target, depth + 1),
                None => child,
            };
        }
        at
    }
}

/// The root of the target that a module is in.
fn root_of(module: &[String]) -> &[String] {
    match module.first() {
        Some(first) if first.starts_with('/') => &module[..1],
        _ => &[],
    }
}

impl Renames {
    /// A new name that the file already uses for something else, in addition to the old name.
    pub fn taken(&self, path: &str, text: &str, package: &Package) -> Option<String> {
        let module = package.module_of(path);
        let all = paths(text);
        let is_old = |name: &str| self.types.keys().any(|path| path.last().is_some_and(|old| old == name));
        let names = || all.iter().flat_map(|path| path.segments.iter().map(|(name, _)| *name));
        let declared: Vec<String> = syn::parse_file(text).map(|file| declared(&file).collect()).unwrap_or_default();
        if !names().any(is_old) && !declared.iter().any(|name| is_old(name)) {
            return None;
        }
        let imported = all.iter().filter_map(|path| path.import).map(str::to_owned);
        let is_renamed = |name: &str| self.types.contains_key(&[&module[..], &[name.to_owned()]].concat());
        let mut known = imported.chain(declared).filter(|name| !is_old(name) && !is_renamed(name));
        known.find(|name| self.types.values().any(|new| new == name))
    }

    /// Renames items in a Rust file of the package. In a text that is not Rust, only markers are changed.
    pub fn in_rust(&self, path: &str, text: &str, package: &Package) -> String {
        let module = package.module_of(path);
        let mut changes: BTreeMap<usize, (Range<usize>, String)> = BTreeMap::new();
        let mut change = |range: Range<usize>, new: String| _ = changes.insert(range.start, (range, new));
        let variants = variants(text);
        for path in paths(text) {
            self.in_path(&path, &module, package, &variants, &mut change);
        }
        for (range, new) in self.declared(text, &module) {
            change(range, new);
        }
        if let Ok(source) = Source::parse(text) {
            self.in_arguments(&source, &mut change);
        }
        for range in markers(text) {
            let new = self.in_marker(&text[range.clone()]);
            change(range, new);
        }
        let mut new = text.to_owned();
        for (range, with) in changes.into_values().rev() {
            new.replace_range(range, &with);
        }
        new
    }

    fn in_path(
        &self,
        path: &PathAt,
        module: &[String],
        package: &Package,
        variants: &BTreeSet<usize>,
        change: &mut impl FnMut(Range<usize>, String),
    ) {
        let (old, new) = &self.library;
        if path.segments[0].0 == old && old != new && (path.segments.len() > 1 || path.import.is_some()) {
            change(path.segments[0].1.clone(), new.clone());
        }
        for (index, (name, range)) in path.segments.iter().enumerate() {
            let up_to = PathAt { segments: path.segments[..=index].to_vec(), ..path.clone() };
            let Some(target) = package.absolute(&up_to, module, 0) else { continue };
            let target = package.canonical(&target, 0);
            if target.last().is_none_or(|last| last != name) || variants.contains(&range.start) {
                continue;
            }
            // A variable may have the name of a module.
            let is_module = path.segments.len() > 1 || path.import.is_some();
            let renamed = self.types.get(&target).or_else(|| self.modules.get(&target).filter(|_| is_module));
            if let Some(new) = renamed {
                change(range.clone(), new.clone());
            }
        }
    }

    /// The `mod` items of renamed modules.
    fn declared(&self, text: &str, module: &[String]) -> Vec<(Range<usize>, String)> {
        let tokens = lexer::code(text);
        let mut found = Vec::new();
        for pair in tokens.windows(3) {
            let [(_, first), (Token::Word, name), (Token::Sign(b';'), _)] = pair else { continue };
            let child: Vec<String> = module.iter().cloned().chain([text[name.clone()].to_owned()]).collect();
            if &text[first.clone()] == "mod"
                && let Some(new) = self.modules.get(&child)
            {
                found.push((name.clone(), new.clone()));
            }
        }
        found
    }

    /// The names in arguments of `#[kube(…)]`.
    fn in_arguments(&self, source: &Source, change: &mut impl FnMut(Range<usize>, String)) {
        for kube in kubes(&source.file) {
            let of =
                |(old, _): &&(KindNames, KindNames)| kube.says("kind", &old.kind) && kube.says("group", &old.group);
            let Some((old, new)) = self.kinds.iter().find(of) else { continue };
            for argument in kube.lists.iter().flat_map(|(_, arguments)| arguments) {
                let Meta::NameValue(pair) = argument else { continue };
                let Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) = &pair.value else { continue };
                let (text, status) = (value.value(), |names: &KindNames| format!("{}Status", names.kind));
                let renamed = match pair.path.get_ident().map(ToString::to_string).as_deref() {
                    Some("kind" | "struct" | "root") if text == old.kind => &new.kind,
                    Some("group") if text == old.group => &new.group,
                    Some("plural") if text == old.plural => &new.plural,
                    Some("singular") if text == old.singular => &new.singular,
                    Some("status") if text == status(old) => &status(new),
                    _ => continue,
                };
                change(source.range(value.span()), format!("{renamed:?}"));
            }
        }
    }

    /// Renames names in a marker. The plural of a kind is identified by its group.
    fn in_marker(&self, marker: &str) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
        let words: BTreeSet<&str> = marker.split(|c| !is_part(c)).collect();
        let groups = marker.split_once("groups=").map_or("", |(_, groups)| groups);
        let groups: Vec<&str> = groups.split([',', ' ', '\n']).next().unwrap_or_default().split(';').collect();
        let mut new = String::new();
        let mut rest = marker;
        while !rest.is_empty() {
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            new += &self.word(word, new.ends_with("kind="), &words, &groups).unwrap_or_else(|| word.to_owned());
            let signs = after.find(is_part).unwrap_or(after.len());
            new += &after[..signs];
            rest = &after[signs..];
        }
        new
    }

    fn word(&self, word: &str, is_kind: bool, words: &BTreeSet<&str>, groups: &[&str]) -> Option<String> {
        self.kinds.iter().find_map(|(old, new)| {
            let is_of_group = words.contains(old.group.as_str());
            if word == old.group {
                return Some(new.group.clone());
            }
            if word == old.crd() {
                return Some(new.crd());
            }
            if let Some(start) = word.strip_suffix(&format!(".{}", old.group))
                && let Some(start) = webhook(start, &old.singular)
            {
                return Some(format!("{}{}{}.{}", start.0, new.singular, start.1, new.group));
            }
            if let Some(path) = admission_path(word, old, new) {
                return Some(path);
            }
            if !is_of_group {
                return None;
            }
            if is_kind {
                return (word == old.kind).then(|| new.kind.clone());
            }
            // With several groups, the plural may belong to the kind of another group.
            if groups.len() > 1 {
                return None;
            }
            let rest =
                word.strip_prefix(old.plural.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
            Some(format!("{}{rest}", new.plural))
        })
    }
}

/// `mmemcached-v1` → `m` and `-v1`: the letter and the version in the name of a webhook.
fn webhook<'a>(name: &'a str, singular: &str) -> Option<(&'a str, &'a str)> {
    let rest = name.get(1..)?.strip_prefix(singular)?;
    rest.starts_with("-v").then(|| (&name[..1], rest))
}

/// Renames the path of a webhook: `/mutate-cache-example-com-v1-memcached`.
fn admission_path(word: &str, old: &KindNames, new: &KindNames) -> Option<String> {
    ["/mutate-", "/validate-"].into_iter().find_map(|verb| {
        let rest = word.strip_prefix(verb)?.strip_prefix(&old.group.replace('.', "-"))?.strip_prefix('-')?;
        let version = rest.strip_suffix(old.singular.as_str())?.strip_suffix('-')?;
        let is_version = version.starts_with('v') && !version.contains('-');
        is_version.then(|| format!("{verb}{}-{version}-{}", new.group.replace('.', "-"), new.singular))
    })
}

/// The markers of a text, each with its continuation lines.
fn markers(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut continues = false;
    for (token, range) in Lexer::new(text) {
        let comment = text[range.clone()].trim_start_matches('/').trim();
        let starts = comment.starts_with("+kubebuilder:") || comment.starts_with("+opctl:");
        match (token, found.last_mut()) {
            (Token::LineComment, Some(last)) if continues && !starts => last.end = range.end,
            (Token::LineComment, _) if starts => found.push(range),
            _ => {
                continues = false;
                continue;
            }
        }
        continues = comment.ends_with('\\');
    }
    found
}

/// The positions at which enums declare their variants.
fn variants(text: &str) -> BTreeSet<usize> {
    let tokens = lexer::code(text);
    let mut found = BTreeSet::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_enum = tokens[at].0 == Token::Word && &text[tokens[at].1.clone()] == "enum";
        at += 1;
        if !is_enum {
            continue;
        }
        while at < tokens.len() && tokens[at].0 != Token::Sign(b'{') && tokens[at].0 != Token::Sign(b';') {
            at += 1;
        }
        at += 1;
        let mut starts = true;
        while at < tokens.len() && tokens[at].0 != Token::Sign(b'}') {
            match tokens[at].0 {
                Token::Word if starts => {
                    found.insert(tokens[at].1.start);
                    starts = false;
                }
                Token::Sign(b',') => starts = true,
                Token::Sign(b'(' | b'[' | b'{') => {
                    at = lexer::behind_group(&tokens, at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }
    found
}

/// The suffixes of types whose names begin with that of the kind, such as `Spec`. The kind itself is derived.
///
/// # Errors
///
/// If the text is not Rust.
pub fn ends_of_types(source: &str, kind: &str) -> Result<Vec<String>, syn::Error> {
    let file = syn::parse_file(source)?;
    let end = |name: String| Some(name.strip_prefix(kind)?.to_owned());
    let ends = declared(&file).filter_map(end).filter(|end| end.starts_with(char::is_uppercase));
    Ok(ends.chain([String::new()]).collect())
}

fn declared(file: &syn::File) -> impl Iterator<Item = String> {
    file.items.iter().filter_map(|item| match item {
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        Item::Type(item) => Some(item.ident.to_string()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(group: &str, kind: &str, plural: &str) -> KindNames {
        let singular = kind.to_lowercase();
        KindNames { group: group.into(), kind: kind.into(), plural: plural.into(), singular }
    }

    fn path(text: &str) -> Vec<String> {
        text.split("::").map(str::to_owned).collect()
    }

    fn renames() -> Renames {
        let types = ["", "Spec", "Status"]
            .map(|end| (path(&format!("api::cache::v1::memcached::Memcached{end}")), format!("Store{end}")));
        Renames {
            modules: [
                (path("api::cache::v1::memcached"), "store".into()),
                (path("controller::cache::memcached"), "store".into()),
            ]
            .into(),
            types: types.into(),
            library: ("operator".into(), "operator".into()),
            kinds: vec![(
                names("cache.example.com", "Memcached", "memcacheds"),
                names("cache.example.com", "Store", "stores"),
            )],
        }
    }

    #[track_caller]
    fn renamed(files: &[(&str, &str)], path: &str) -> String {
        let renames = renames();
        let package = Package::new(&renames, files.iter().copied());
        let text = files.iter().find(|file| file.0 == path).unwrap().1;
        renames.in_rust(path, text, &package)
    }

    const TYPES: (&str, &str) = (
        "src/api/cache/v1/memcached.rs",
        "#[kube(group = \"cache.example.com\", version = \"v1\", kind = \"Memcached\", status = \"MemcachedStatus\")]\n\
         pub struct MemcachedSpec {}\npub struct MemcachedStatus {}\npub enum Other { Memcached, B(MemcachedSpec) }\n",
    );

    #[test]
    fn types_are_renamed_where_they_are_declared() {
        assert_eq!(
            renamed(&[TYPES], TYPES.0),
            "#[kube(group = \"cache.example.com\", version = \"v1\", kind = \"Store\", status = \"StoreStatus\")]\n\
             pub struct StoreSpec {}\npub struct StoreStatus {}\npub enum Other { Memcached, B(StoreSpec) }\n"
        );
    }

    #[test]
    fn paths_are_followed_through_imports_reexports_and_globs() {
        let files = [
            TYPES,
            ("src/api/cache/v1/mod.rs", "pub mod memcached;\npub use memcached::Memcached;\n"),
            (
                "src/a.rs",
                "use crate::api::cache as api;\nfn f(memcached: api::v1::Memcached) { memcached.go(); vec![api::v1::memcached::MemcachedSpec {}] }\n",
            ),
            (
                "src/b.rs",
                "use crate::api::cache::v1::memcached::*;\nmod tests { use super::*; fn f(x: Memcached, y: Other::Memcached) {} }\n",
            ),
            ("src/c.rs", "use other::Memcached;\nfn f(x: Memcached) { memcached::go() }\n"),
            ("src/d.rs", "use crate::api::cache::v1::Memcached as M;\nfn f(x: M) {}\n"),
            ("tests/t.rs", "use operator::api::cache::v1::memcached::Memcached;\nfn f(x: Memcached) {}\n"),
        ];
        assert_eq!(renamed(&files, "src/api/cache/v1/mod.rs"), "pub mod store;\npub use store::Store;\n");
        assert_eq!(
            renamed(&files, "src/a.rs"),
            "use crate::api::cache as api;\nfn f(memcached: api::v1::Store) { memcached.go(); vec![api::v1::store::StoreSpec {}] }\n"
        );
        assert_eq!(
            renamed(&files, "src/b.rs"),
            "use crate::api::cache::v1::store::*;\nmod tests { use super::*; fn f(x: Store, y: Other::Memcached) {} }\n"
        );
        assert_eq!(renamed(&files, "src/c.rs"), files[4].1);
        assert_eq!(renamed(&files, "src/d.rs"), "use crate::api::cache::v1::Store as M;\nfn f(x: M) {}\n");
        assert_eq!(renamed(&files, "tests/t.rs"), "use operator::api::cache::v1::store::Store;\nfn f(x: Store) {}\n");
    }

    #[test]
    fn uses_are_found_through_imports_and_reexports() {
        let files = [
            TYPES,
            ("src/api/cache/v1/mod.rs", "pub mod memcached;\npub use memcached::*;\n"),
            ("src/api/cache/v2/memcached.rs", "pub struct MemcachedSpec {}\n"),
            ("src/a.rs", "use crate::api::cache::v1::Memcached as M;\nfn f(m: M) { let memcached = 1; }\n"),
            ("src/b.rs", "use crate::api::cache::v1::*;\nfn f(m: MemcachedSpec) {}\n"),
            ("src/c.rs", "use crate::api::cache::v2::memcached::MemcachedSpec;\nenum E { Memcached }\n"),
        ];
        let package = Package::new(&renames(), files.iter().copied());
        let uses = |path: &str| -> Vec<&str> {
            let text = files.iter().find(|file| file.0 == path).unwrap().1;
            package.uses(path, text, TYPES.0).into_iter().map(|range| &text[range]).collect()
        };
        assert_eq!(uses("src/a.rs"), ["crate::api::cache::v1::Memcached", "M"]);
        assert_eq!(uses("src/b.rs"), ["MemcachedSpec"]);
        assert!(uses("src/c.rs").is_empty());
    }

    #[test]
    fn markers_are_renamed_and_texts_are_not() {
        let marker = "// +kubebuilder:webhook:path=/mutate-cache-example-com-v1-memcached,groups=cache.example.com,\\\n//     resources=memcacheds,name=mmemcached-v1.cache.example.com\n\
            // +kubebuilder:rbac:groups=apps,resources=memcacheds\n// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status\n// memcacheds.cache.example.com\n\
            const A: &str = \"Memcached\";\n";
        let expected = "// +kubebuilder:webhook:path=/mutate-cache-example-com-v1-store,groups=cache.example.com,\\\n//     resources=stores,name=mstore-v1.cache.example.com\n\
            // +kubebuilder:rbac:groups=apps,resources=memcacheds\n// +kubebuilder:rbac:groups=cache.example.com,resources=stores/status\n// memcacheds.cache.example.com\n\
            const A: &str = \"Memcached\";\n";
        assert_eq!(renamed(&[("src/x.rs", marker)], "src/x.rs"), expected);
    }
}
