//! The module tree of a package's crates: which file is which module, and what is declared there.
//!
//! Follows rustc: `mod x;` is `x.rs` or `x/mod.rs`, `#[path]`, inline modules, `cfg` with the package's default features
//! on Linux. Macros are not expanded: an item that a macro makes is not seen.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Attribute, DeriveInput, Expr, Item, ItemConst, ItemFn, ItemImpl, ItemMod, ItemType, Stmt, UseTree};

use super::cfg::Cfg;
use super::known::Minor;
use super::kubernetes_version::{self, Unclear};
use super::package::{Dependency, Package, normalize};
use super::skim;
use crate::diagnostic::{Diagnostic, SourceFile, Span};
use crate::project::{Tree, join};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(usize);

/// All modules of all crates that were read.
#[derive(Default)]
pub struct Modules {
    all: Vec<Module>,
    crates: Vec<Krate>,
    /// Every Rust file that was read, once, in reading order.
    pub files: Vec<Arc<SourceFile>>,
}

/// A library or a binary.
struct Krate {
    /// The library's name in code; `None` for a binary.
    name: Option<String>,
    root: ModuleId,
    folder: String,
    dependencies: BTreeMap<String, Dependency>,
    kubernetes: Result<Minor, Unclear>,
}

/// One module and what it declares; items that `cfg` removes are not there.
pub struct Module {
    pub parent: Option<ModuleId>,
    krate: usize,
    pub file: Arc<SourceFile>,
    pub types: BTreeMap<String, TypeDecl>,
    pub modules: BTreeMap<String, ModuleId>,
    pub consts: BTreeMap<String, Rc<ItemConst>>,
    pub functions: BTreeMap<String, Rc<ItemFn>>,
    pub impls: Vec<Rc<ItemImpl>>,
    pub uses: BTreeMap<String, UsePath>,
    pub globs: Vec<UsePath>,
}

#[derive(Clone)]
pub enum TypeDecl {
    /// A struct, enum or union.
    Data(Rc<DeriveInput>),
    Alias(Rc<ItemType>),
}

/// The path in a `use`, without its last `as`.
#[derive(Clone, Debug)]
pub struct UsePath {
    /// Starts with `::`.
    pub global: bool,
    pub segments: Vec<String>,
}

impl Modules {
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.all[id.0]
    }

    pub fn ids(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.all.len()).map(ModuleId)
    }

    pub fn root(&self, id: ModuleId) -> ModuleId {
        self.crates[self.module(id).krate].root
    }

    /// What a crate name means in the crate of `id`: a library that was read, or the name of a foreign crate.
    pub fn external(&self, id: ModuleId, name: &str) -> Option<Result<ModuleId, String>> {
        let krate = &self.crates[self.module(id).krate];
        let library = |folder: &str| {
            let library = self.crates.iter().find(|other| other.name.is_some() && other.folder == folder)?;
            Some(library.root)
        };
        if krate.name.is_none()
            && let Some(root) = library(&krate.folder)
            && self.crates.iter().any(|other| other.root == root && other.name.as_deref() == Some(name))
        {
            return Some(Ok(root));
        }
        if let Some(dependency) = krate.dependencies.get(name) {
            let read = dependency.folder.as_deref().and_then(library);
            return Some(read.ok_or_else(|| dependency.krate.clone()));
        }
        matches!(name, "std" | "core" | "alloc").then(|| Err(name.into()))
    }

    /// The version of Kubernetes that the crate of `id` is compiled for.
    pub fn kubernetes(&self, id: ModuleId) -> &Result<Minor, Unclear> {
        &self.crates[self.module(id).krate].kubernetes
    }

    /// Reads the library and the binaries of a package, and the libraries of its path dependencies.
    pub fn read(&mut self, tree: &Tree, package: &Package, diagnostics: &mut Vec<Diagnostic>) {
        self.read_with(tree, package, &kubernetes_version::of(tree, package), diagnostics);
    }

    /// Reads them as part of a build for this version of Kubernetes.
    fn read_with(
        &mut self,
        tree: &Tree,
        package: &Package,
        kubernetes: &Result<Minor, Unclear>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        if self.crates.iter().any(|krate| krate.folder == package.folder) {
            return;
        }
        let library = package.library.iter().map(|(name, root)| (Some(name.clone()), root));
        for (name, root) in library.chain(package.binaries.iter().map(|root| (None, root))) {
            self.crates.push(Krate {
                name,
                root: ModuleId(self.all.len()),
                folder: package.folder.clone(),
                dependencies: package.dependencies.clone(),
                kubernetes: kubernetes.clone(),
            });
            self.read_crate(tree, package, root, diagnostics);
        }
        for folder in package.dependencies.values().filter_map(|dependency| dependency.folder.as_deref()) {
            // A path dependency that cannot be read is reported where one of its types is needed.
            for package in Package::read(tree, folder).unwrap_or_default() {
                self.read_with(tree, &Package { binaries: Vec::new(), ..package }, kubernetes, diagnostics);
            }
        }
    }

    /// Reads the crate that was added last.
    fn read_crate(&mut self, tree: &Tree, package: &Package, root: &str, diagnostics: &mut Vec<Diagnostic>) {
        let krate = self.crates.len() - 1;
        let folder = parent(root).to_string();
        let mut reader = Reader { modules: self, tree, cfg: Cfg::new(&package.features), krate, diagnostics };
        let text = match tree.read(root) {
            Ok(Some(text)) => text,
            Ok(None) => {
                let missing = Diagnostic::error("OP002", format!("the crate's root file `{root}` does not exist"));
                reader.diagnostics.push(missing.help("check the paths in Cargo.toml"));
                String::new()
            }
            Err(error) => {
                reader.diagnostics.push(Diagnostic::error("OP002", error.to_string()));
                String::new()
            }
        };
        reader.read_file(root, text, None, Place { file_folder: folder.clone(), children: folder });
    }
}

/// Where the children of a module are looked for.
#[derive(Clone)]
struct Place {
    /// The folder that `#[path]` is relative to.
    file_folder: String,
    /// The folder of `mod x;`.
    children: String,
}

struct Reader<'a> {
    modules: &'a mut Modules,
    tree: &'a Tree,
    cfg: Cfg<'a>,
    krate: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn read_file(&mut self, path: &str, text: String, parent: Option<ModuleId>, place: Place) -> ModuleId {
        // A file may belong to two crates, e.g. to the library and a binary; it is one file all the same.
        let known = self.modules.files.iter().find(|file| file.path == path).cloned();
        let file = known.unwrap_or_else(|| {
            let file = SourceFile::new(path, text);
            self.modules.files.push(file.clone());
            file
        });
        let items = match skim::items(&file.text) {
            Ok(items) => items,
            Err(error) => {
                let span = Span { range: error.span().byte_range(), file: file.clone() };
                self.diagnostics.push(
                    Diagnostic::error("OP001", format!("this is not Rust: {error}"))
                        .at(span, "")
                        .help("`cargo check` tells more; opctl reads the source, but it must parse"),
                );
                Vec::new()
            }
        };
        self.add(file, items, parent, place)
    }

    fn add(&mut self, file: Arc<SourceFile>, items: Vec<Item>, parent: Option<ModuleId>, place: Place) -> ModuleId {
        let id = ModuleId(self.modules.all.len());
        self.modules.all.push(Module {
            parent,
            krate: self.krate,
            file,
            types: BTreeMap::new(),
            modules: BTreeMap::new(),
            consts: BTreeMap::new(),
            functions: BTreeMap::new(),
            impls: Vec::new(),
            uses: BTreeMap::new(),
            globs: Vec::new(),
        });
        for item in items {
            if self.cfg.keeps(attributes(&item)) {
                self.add_item(id, item, &place);
            }
        }
        id
    }

    fn add_item(&mut self, id: ModuleId, item: Item, place: &Place) {
        let module = &mut self.modules.all[id.0];
        match item {
            Item::Struct(item) => self.add_type(id, item.into()),
            Item::Enum(item) => self.add_type(id, item.into()),
            Item::Union(item) => self.add_type(id, item.into()),
            Item::Type(item) => {
                module.types.insert(name(&item.ident), TypeDecl::Alias(Rc::new(item)));
            }
            Item::Const(item) => {
                module.consts.insert(name(&item.ident), Rc::new(item));
            }
            Item::Fn(mut item) => {
                item.block.stmts.retain(|statement| self.cfg.keeps(statement_attributes(statement)));
                module.functions.insert(name(&item.sig.ident), Rc::new(item));
            }
            Item::Impl(item) => module.impls.push(Rc::new(item)),
            Item::Use(item) => {
                let mut prefix = UsePath { global: item.leading_colon.is_some(), segments: Vec::new() };
                add_use(module, &mut prefix, &item.tree);
            }
            Item::ExternCrate(item) => {
                let bound = item.rename.as_ref().map_or(&item.ident, |(_, rename)| rename);
                let path = UsePath { global: item.ident != "self", segments: vec![name(&item.ident)] };
                module.uses.insert(name(bound), path);
            }
            Item::Mod(item) => self.add_module(id, item, place),
            Item::Macro(item) if mentions(item.mac.tokens.clone(), "CustomResource") => {
                let span = span_of(&module.file, &item.mac.path);
                self.diagnostics.push(
                    Diagnostic::error("OP021", "a macro makes a custom resource, and opctl does not run macros")
                        .at(span, "")
                        .help("write the type out, or print the CRDs from the compiled types"),
                );
            }
            _ => {}
        }
    }

    fn add_type(&mut self, id: ModuleId, mut input: DeriveInput) {
        self.cfg.apply(&mut input);
        self.modules.all[id.0].types.insert(name(&input.ident), TypeDecl::Data(Rc::new(input)));
    }

    fn add_module(&mut self, parent_id: ModuleId, mut item: ItemMod, place: &Place) {
        self.cfg.expand(&mut item.attrs);
        let stem = name(&item.ident);
        let explicit = item.attrs.iter().find_map(path_attribute);
        let file = self.modules.module(parent_id).file.clone();
        let child = match item.content {
            Some((_, items)) => {
                let folder = join(&place.children, explicit.as_deref().unwrap_or(&stem));
                let place = Place { file_folder: folder.clone(), children: folder };
                self.add(file, items, Some(parent_id), place)
            }
            None => {
                let candidates = match &explicit {
                    Some(path) => vec![normalize(&join(&place.file_folder, path))],
                    None => vec![
                        join(&place.children, &format!("{stem}.rs")),
                        join(&place.children, &format!("{stem}/mod.rs")),
                    ],
                };
                let found = candidates.iter().find_map(|path| match self.tree.read(path) {
                    Ok(text) => text.map(|text| (path.clone(), text)),
                    Err(error) => {
                        self.diagnostics.push(Diagnostic::error("OP002", error.to_string()));
                        None
                    }
                });
                let Some((path, text)) = found else {
                    let span = Span { file, range: item.ident.span().byte_range() };
                    self.diagnostics.push(
                        Diagnostic::error("OP002", format!("no file for module `{stem}`"))
                            .at(span, format!("neither {} exists", list(&candidates)))
                            .help(format!("create `{}`, or remove this line", candidates[0])),
                    );
                    return;
                };
                let folder = parent(&path).to_string();
                let is_mod_rs = explicit.is_some() || path.ends_with("/mod.rs");
                let children = if is_mod_rs { folder.clone() } else { join(&folder, &stem) };
                self.read_file(&path, text, Some(parent_id), Place { file_folder: folder, children })
            }
        };
        self.modules.all[parent_id.0].modules.insert(stem, child);
    }
}

/// An identifier's text without `r#`.
pub fn name(ident: &syn::Ident) -> String {
    use syn::ext::IdentExt;
    ident.unraw().to_string()
}

fn add_use(module: &mut Module, prefix: &mut UsePath, tree: &UseTree) {
    let with = |prefix: &UsePath, last: &syn::Ident| {
        let mut path = prefix.clone();
        // `use a::b::{self}` is `use a::b`.
        if last != "self" || path.segments.is_empty() {
            path.segments.push(name(last));
        }
        path
    };
    match tree {
        UseTree::Path(path) => {
            prefix.segments.push(name(&path.ident));
            add_use(module, prefix, &path.tree);
            prefix.segments.pop();
        }
        UseTree::Name(leaf) => {
            let path = with(prefix, &leaf.ident);
            if let Some(bound) = path.segments.last().cloned() {
                module.uses.insert(bound, path);
            }
        }
        UseTree::Rename(leaf) => {
            let path = with(prefix, &leaf.ident);
            module.uses.insert(name(&leaf.rename), path);
        }
        UseTree::Glob(_) => module.globs.push(prefix.clone()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| add_use(module, prefix, tree)),
    }
}

fn path_attribute(attribute: &Attribute) -> Option<String> {
    let value = &attribute.path().is_ident("path").then(|| attribute.meta.require_name_value().ok())??.value;
    match value {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn mentions(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => mentions(group.stream(), word),
        _ => false,
    })
}

fn statement_attributes(statement: &Stmt) -> &[Attribute] {
    match statement {
        Stmt::Local(local) => &local.attrs,
        Stmt::Expr(Expr::Block(block), _) => &block.attrs,
        Stmt::Expr(Expr::Return(returned), _) => &returned.attrs,
        Stmt::Macro(statement) => &statement.attrs,
        _ => &[],
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn list(paths: &[String]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" nor ")
}

/// Where a node of the syntax tree stands.
pub fn span_of(file: &Arc<SourceFile>, node: &impl Spanned) -> Span {
    Span { file: file.clone(), range: node.span().byte_range() }
}
