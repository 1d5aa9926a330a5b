//! The module tree of a package's crates: the file of each module, and its declarations.
//!
//! Follows rustc: `mod x;` is `x.rs` or `x/mod.rs`, `#[path]`, inline modules, `cfg` with the package's features on
//! Linux. Macros are not expanded: items in their output are missing.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, DeriveInput, Expr, ImplItem, Item, ItemConst, ItemEnum, ItemFn, ItemImpl, ItemMacro, ItemMod,
    ItemStruct, ItemTrait, ItemType, Stmt, Token, TraitItem, Type, TypePath, UseTree, Visibility,
};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::cfg::{self, Cfg};
use super::features;
use super::foreign::{Foreign, Missing};
use super::kubernetes_version::{self, Unclear};
use super::macro_output::Makes;
use super::package::{self, Dependency, Kind, Package, normalize};
use super::roots;
use super::runtime::{self, Runtime};
use super::skim;
use crate::attributes::item_macro;
use crate::diagnostics::{OP001, OP002, OP006, OP007, OP013, OP021, OP023, OP029};
use crate::known::Minor;
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::lexer::{self, Excess, Lexer};
use opctl_model::project::{Tree, join};
use opctl_model::versions::{Release, Schemars};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(usize);

/// All modules of all crates that were read. The project's own are located at once; a module without child files is
/// only parsed when a path leads into it, as are all modules of other packages.
#[derive(Default)]
pub struct Modules {
    tree: Rc<Tree>,
    all: RefCell<Vec<Slot>>,
    crates: RefCell<Vec<Rc<Krate>>>,
    /// Packages in the project's own tree; the packages that opctl reads are first.
    local: Vec<Rc<Package>>,
    roots: usize,
    /// The `opctl-runtime`s among them: their markers and requests only count if the project uses their items.
    runtimes: Vec<(Rc<Package>, Cfg)>,
    /// Files of the project that may declare a custom resource.
    candidates: RefCell<Vec<ModuleId>>,
    foreign: OnceCell<Result<Foreign, Missing>>,
    table: OnceCell<ModuleId>,
    pub(crate) schemars: OnceCell<Schemars>,
    /// Packages whose source was not found.
    missing: RefCell<BTreeSet<Missing>>,
    files: RefCell<Vec<Arc<SourceFile>>>,
    /// Files in `include_str!`, by path.
    included: RefCell<BTreeMap<String, String>>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    reading: Reading,
    /// Output of macro calls, by module and index: see `made`.
    pub(crate) calls: RefCell<HashMap<(ModuleId, usize), Rc<Makes>>>,
    other_names: RefCell<OtherNames>,
    /// Paths without `.rs` of the project's modules that this build omits, or that are read in another way.
    left_out: RefCell<Vec<String>>,
    /// Items that this build omits.
    left_out_items: RefCell<Vec<Span>>,
}

/// Renames by `use … as` and `type`.
#[derive(Default)]
struct OtherNames {
    /// Modules that were searched.
    listed: BTreeSet<ModuleId>,
    /// Original names by new name.
    names: HashMap<String, BTreeSet<String>>,
}

/// The extent to which the project's files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// The items that manifests need.
    #[default]
    Declarations,
    /// Everything at once, including function bodies, traits, and the types that kube's derive generates.
    Whole,
}

/// A module, parsed on demand.
enum Slot {
    Unread(Unread),
    Reading,
    Read(Rc<Module>),
}

struct Unread {
    parent: Option<ModuleId>,
    krate: usize,
    contents: Contents,
    /// Files of the enclosing modules, starting with the crate's root.
    around: Vec<Arc<SourceFile>>,
}

enum Contents {
    /// Content of `mod name { … }`.
    Inline { file: Arc<SourceFile>, items: Vec<Item>, folders: ModuleFolders },
    /// A file that was located.
    Text { file: Arc<SourceFile>, folders: ModuleFolders, declared: Span },
    /// `mod name;`: one of these files, and the span of the declaration.
    File { candidates: Vec<String>, stem: String, is_mod_rs: bool, declared: Span },
    /// Root file of a crate.
    Root(String),
}

impl Contents {
    /// The span of `mod name;`.
    fn declared(&self) -> Option<Span> {
        match self {
            Self::Text { declared, .. } | Self::File { declared, .. } => Some(declared.clone()),
            Self::Inline { .. } | Self::Root(_) => None,
        }
    }
}

/// The content of an unreadable file.
const NOTHING: syn::File = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: Vec::new() };

/// Maximum depth of nested modules.
const MODULES: usize = 128;

/// An error about a module whose file is that of an enclosing module, or that is nested too deeply.
fn endless(file: &Arc<SourceFile>, declared: Span, around: &[Arc<SourceFile>]) -> Option<Diagnostic> {
    if around.iter().any(|outer| Arc::ptr_eq(outer, file)) {
        let message = format!("`{}` is the file of a module in itself", file.path);
        return Some(OP007.error(message).at(declared, "").help("fix its `#[path]`, or remove this line"));
    }
    (around.len() >= MODULES).then(|| {
        let message = format!("there are more than {MODULES} modules within each other");
        OP007.error(message).at(declared, "").help("declare this module in an outer one")
    })
}

/// A library or binary.
struct Krate {
    /// The library's name in code; `None` for a binary.
    name: Option<String>,
    root: ModuleId,
    package: Rc<Package>,
    cfg: Cfg,
    /// The selected Kubernetes version for each release of k8s-openapi, according to the project's Cargo.toml files.
    kubernetes: RefCell<BTreeMap<Release, Result<Minor, Unclear>>>,
    /// For a foreign package: its index in the lock file, its own tree if it has one, and the label of its folder in
    /// messages.
    foreign: Option<Origin>,
}

impl Krate {
    /// `true` if opctl contains its source.
    fn is_carried(&self) -> bool {
        self.foreign.as_ref().is_some_and(|origin| origin.entry == CARRIED)
    }
}

/// Not an index in a lock file.
const CARRIED: usize = usize::MAX;
/// The runtime, if there is no lock file.
const UNLOCKED: usize = usize::MAX - 1;

struct Origin {
    entry: usize,
    tree: Option<Rc<Tree>>,
    label: String,
}

/// One module and its declarations, without items that `cfg` removes.
#[derive(Clone)]
pub struct Module {
    pub parent: Option<ModuleId>,
    krate: usize,
    pub file: Arc<SourceFile>,
    pub types: BTreeMap<String, TypeDecl>,
    pub modules: BTreeMap<String, ModuleId>,
    pub consts: BTreeMap<String, Rc<ItemConst>>,
    pub functions: BTreeMap<String, Rc<ItemFn>>,
    pub impls: Vec<Rc<ItemImpl>>,
    /// Only in crates that are read whole.
    pub traits: BTreeMap<String, Rc<ItemTrait>>,
    /// Names of all traits.
    pub trait_names: BTreeSet<String>,
    pub uses: BTreeMap<String, Vec<Use>>,
    pub globs: Vec<Use>,
    /// `#[macro_use] extern crate`: their macros are available in the whole crate, if this is its root.
    pub macro_crates: Vec<String>,
    /// Visibility of declarations: of types and modules (`false`), and of constants and functions (`true`).
    pub reaches: BTreeMap<(bool, String), Reach>,
    /// Names whose `cfg` only a build script decides, and their spans.
    pub undecided: BTreeMap<String, Span>,
    /// Items that an attribute macro may change, and their spans.
    pub changed: BTreeMap<String, Span>,
    /// Types that kube's derive generates, and the types with the derive.
    pub roots: BTreeMap<String, String>,
    /// `macro_rules!`
    pub rules: BTreeMap<String, TokenStream>,
    /// Macro calls among the items.
    pub macros: Vec<Call>,
    /// Code that may implement a trait for a type outside of the module's own `impl`s: in a block, or by an attribute
    /// macro.
    pub loose: Vec<(Span, TokenStream)>,
}

/// A macro call among items.
#[derive(Clone)]
pub struct Call {
    pub span: Span,
    /// The path of the call, as a span of its tokens.
    pub at: proc_macro2::Span,
    pub path: UsePath,
    pub tokens: TokenStream,
    /// The tokens are the items.
    pub is_plain: bool,
}

/// Visibility of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    All,
    Within(ModuleId),
}

/// One path of a `use`.
#[derive(Clone)]
pub struct Use {
    pub path: UsePath,
    pub reach: Reach,
}

#[derive(Clone)]
pub enum TypeDecl {
    /// A struct, enum or union.
    Data(Rc<DeriveInput>),
    Alias(Rc<ItemType>),
}

/// A path in a `use`, without its final `as`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UsePath {
    /// It starts with `::`.
    pub global: bool,
    pub segments: Vec<String>,
}

/// A dependency under its name in one crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyName {
    krate: usize,
    name: String,
}

/// The meaning of a crate name.
pub enum External {
    /// The root of a library that was read.
    Read(ModuleId),
    /// Another crate, by its own name; without a `DependencyName`, a path of std.
    Foreign(String, Option<DependencyName>),
}

impl UsePath {
    pub fn of(path: &syn::Path) -> Self {
        let segments = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        Self { global: path.leading_colon.is_some(), segments }
    }
}

impl Modules {
    /// Reads the libraries and binaries of the packages, and the libraries of their path dependencies.
    pub fn read(tree: &Tree, packages: &[Package]) -> Self {
        Self::read_as(tree, packages, Reading::Declarations)
    }

    pub fn read_as(tree: &Tree, packages: &[Package], reading: Reading) -> Self {
        let (enabled, problems) = local(tree, packages);
        // A procedural macro runs at compile time, so none of its types is in the operator.
        let roots = packages.iter().filter(|package| !package.is_proc_macro).count();
        let mut modules = Self {
            tree: Rc::new(tree.clone()),
            all: RefCell::default(),
            crates: RefCell::default(),
            local: enabled.iter().map(|(package, _)| package.clone()).collect(),
            roots,
            runtimes: Vec::new(),
            candidates: RefCell::default(),
            foreign: OnceCell::new(),
            table: OnceCell::new(),
            schemars: OnceCell::new(),
            missing: RefCell::default(),
            files: RefCell::default(),
            included: RefCell::default(),
            diagnostics: RefCell::new(problems),
            reading,
            calls: RefCell::default(),
            other_names: RefCell::default(),
            left_out: RefCell::default(),
            left_out_items: RefCell::default(),
        };
        modules.local.iter_mut().skip(roots).for_each(|package| {
            Rc::make_mut(package).binaries.clear();
        });
        let flags = modules.flags();
        for (index, (package, (_, features))) in modules.local.iter().zip(enabled).enumerate() {
            let set = flags.clone();
            let without_debug_assertions = modules.omits_debug_assertions(&package.name, true);
            let declared = package.declared_features();
            let cfg = Cfg { features, declared, set, open: package.has_build_script, without_debug_assertions };
            if package.name == runtime::PACKAGE && index >= roots {
                modules.runtimes.push((package.clone(), cfg));
                continue;
            }
            let library = package.library.iter().map(|(name, root)| (Some(name.clone()), root));
            for (name, root) in library.chain(package.binaries.iter().map(|root| (None, root))) {
                modules.open(package, name, root, cfg.clone(), None);
            }
        }
        modules
    }

    /// `true` if the profile in Cargo.toml or `.cargo/config.toml` disables debug assertions.
    fn omits_debug_assertions(&self, name: &str, member: bool) -> bool {
        let first = self.local.first();
        first.is_some_and(|package| package::omits_debug_assertions(&self.tree, &package.folder, name, member))
    }

    fn flags(&self) -> Vec<(String, String)> {
        self.local.first().map(|package| package::flags(&self.tree, &package.folder)).unwrap_or_default()
    }

    /// `true` if a file of the project is not a module of this build, or is read as a part of another one.
    pub fn leaves_out(&self, path: &str) -> bool {
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        let is_in = |left: &String| stem == left || stem.strip_prefix(left).is_some_and(|rest| rest.starts_with('/'));
        self.left_out.borrow().iter().any(is_in)
    }

    /// The items that the build omits; they are reported once.
    pub fn take_left_out_items(&self) -> Vec<Span> {
        self.left_out_items.take()
    }

    /// `true` if a module may access an item with this visibility.
    pub fn reaches(&self, reach: Reach, from: ModuleId) -> bool {
        let Reach::Within(module) = reach else { return true };
        std::iter::successors(Some(from), |id| self.module(*id).parent).any(|id| id == module)
    }

    /// The definitions of `macro_rules!` of this name in the crate of `id`.
    pub fn rules(&self, id: ModuleId, name: &str) -> Vec<TokenStream> {
        let krate = self.module(id).krate;
        let find = || {
            let all = self.all.borrow();
            let read = all.iter().filter_map(|slot| match slot {
                Slot::Read(module) if module.krate == krate => module.rules.get(name).cloned(),
                _ => None,
            });
            read.collect::<Vec<_>>()
        };
        let found = find();
        if !found.is_empty() {
            return found;
        }
        self.read_mentioning(&format!("macro_rules! {name}"));
        find()
    }

    /// The definitions of `macro_rules!` in the project that a path may refer to, each with the meaning of `$crate`
    /// in the module.
    pub fn rules_for(&self, id: ModuleId, path: &UsePath) -> Vec<(TokenStream, TokenStream)> {
        let imported = match &path.segments[..] {
            [name] if !path.global => std::iter::successors(Some(id), |id| self.module(*id).parent)
                .find_map(|id| Some(self.module(id).uses.get(name)?.first()?.path.clone())),
            _ => None,
        };
        let path = imported.as_ref().unwrap_or(path);
        let Some((last, [first, ..])) = path.segments.split_last() else {
            let Some(name) = path.segments.first() else { return Vec::new() };
            // A macro that an enclosing module defines is in scope without a path.
            let mut around = std::iter::successors(Some(id), |id| self.module(*id).parent);
            let near = around.find_map(|id| self.module(id).rules.get(name).cloned());
            let near = near.map_or_else(|| self.rules(id, name), |rules| vec![rules]);
            let of_crates = || {
                let root = self.module(self.root(id));
                let read = root.macro_crates.iter().filter_map(|krate| match self.external(id, krate)? {
                    External::Read(other) => Some((krate.clone(), other)),
                    External::Foreign(..) => None,
                });
                let found = read.flat_map(|(krate, other)| self.rules_of(other, &krate, name));
                found.collect()
            };
            let near: Vec<_> = near.into_iter().map(|rules| (rules, quote::quote!(crate))).collect();
            return if near.is_empty() { of_crates() } else { near };
        };
        match self.external(id, first) {
            Some(External::Read(other)) => self.rules_of(other, first, last),
            Some(External::Foreign(..)) => Vec::new(),
            None => self.rules(id, last).into_iter().map(|rules| (rules, quote::quote!(crate))).collect(),
        }
    }

    fn rules_of(&self, root: ModuleId, krate: &str, name: &str) -> Vec<(TokenStream, TokenStream)> {
        let krate = syn::Ident::new(krate, proc_macro2::Span::call_site());
        self.rules(root, name).into_iter().map(|rules| (rules, quote::quote!(::#krate))).collect()
    }

    /// Adds the items in a macro's output to a module that was read.
    pub fn extend(&self, id: ModuleId, items: Vec<Item>) {
        let module = (*self.module(id)).clone();
        let krate = self.crates.borrow()[module.krate].clone();
        let folders = ModuleFolders { file_folder: String::new(), children: String::new() };
        let around = vec![module.file.clone()];
        let mut reader = Reader { modules: self, krate, id, module, folders, around };
        for item in items {
            let keeps = reader.krate.cfg.keeps(attributes(&item));
            reader.add_if(keeps, item);
        }
        self.all.borrow_mut()[id.0] = Slot::Read(Rc::new(reader.module));
    }

    pub fn module(&self, id: ModuleId) -> Rc<Module> {
        if let Slot::Read(module) = &self.all.borrow()[id.0] {
            return module.clone();
        }
        let slot = std::mem::replace(&mut self.all.borrow_mut()[id.0], Slot::Reading);
        let Slot::Unread(unread) = slot else { unreachable!("reading a module resolves no names") };
        let module = Rc::new(self.read_module(id, unread));
        self.all.borrow_mut()[id.0] = Slot::Read(module.clone());
        module
    }

    /// The modules of the project's files that may declare a custom resource.
    pub fn candidates(&self) -> Vec<ModuleId> {
        self.candidates.borrow().clone()
    }

    /// A module and its inner modules in the same file, in source order.
    pub fn in_file(&self, id: ModuleId) -> Vec<ModuleId> {
        let module = self.module(id);
        let is_inside = |child: &ModuleId| match &self.all.borrow()[child.0] {
            Slot::Read(child) => Arc::ptr_eq(&child.file, &module.file),
            Slot::Unread(_) | Slot::Reading => false,
        };
        let mut children: Vec<_> = module.modules.values().copied().filter(is_inside).collect();
        children.sort();
        [vec![id], children.into_iter().flat_map(|child| self.in_file(child)).collect()].concat()
    }

    /// The modules of the project's own crates that were read.
    pub fn local(&self) -> Vec<ModuleId> {
        self.select(|krate| krate.foreign.is_none())
    }

    /// Every module of the crate of `id`, parsed if necessary.
    pub fn whole_crate(&self, id: ModuleId) -> Vec<ModuleId> {
        let krate = self.module(id).krate;
        let mut known = 0;
        loop {
            let count = self.all.borrow().len();
            if known == count {
                break;
            }
            for index in known..count {
                let belongs = match &self.all.borrow()[index] {
                    Slot::Unread(unread) => unread.krate == krate,
                    Slot::Reading | Slot::Read(_) => false,
                };
                if belongs {
                    self.module(ModuleId(index));
                }
            }
            known = count;
        }
        let root = self.crates.borrow()[krate].root;
        self.select(|krate| krate.root == root)
    }

    fn select(&self, wanted: impl Fn(&Krate) -> bool) -> Vec<ModuleId> {
        let crates = self.crates.borrow();
        let all = self.all.borrow();
        let read = all.iter().enumerate().filter_map(|(index, slot)| match slot {
            Slot::Read(module) => Some((index, module)),
            Slot::Unread(_) | Slot::Reading => None,
        });
        read.filter(|(_, module)| wanted(&crates[module.krate])).map(|(index, _)| ModuleId(index)).collect()
    }

    /// Every Rust file of the project that was read, once, in reading order.
    pub fn files(&self) -> Vec<Arc<SourceFile>> {
        self.files.borrow().clone()
    }

    /// `true` if a `cfg` removes the inline module around the byte `at` of such a file.
    pub fn removes(&self, file: &SourceFile, at: usize) -> bool {
        self.owner(file).is_some_and(|krate| krate.cfg.removes(&file.text, at))
    }

    /// The crate of such a file.
    fn owner(&self, file: &SourceFile) -> Option<Rc<Krate>> {
        let crates = self.crates.borrow();
        let own = crates.iter().filter(|krate| {
            let folder = &krate.package.folder;
            krate.foreign.is_none() && (folder.is_empty() || file.path.starts_with(&format!("{folder}/")))
        });
        own.max_by_key(|krate| krate.package.folder.len()).cloned()
    }

    /// The package of such a file, and its `cfg` values.
    pub fn package_of(&self, file: &SourceFile) -> Option<(Rc<Package>, Cfg)> {
        self.owner(file).map(|krate| (krate.package.clone(), krate.cfg.clone()))
    }

    /// The packages that opctl reads.
    pub fn operators(&self) -> &[Rc<Package>] {
        &self.local[..self.roots.min(self.local.len())]
    }

    /// `true` if a package depends on a client of the API server: kube's, or a crate that uses it.
    pub fn has_client(&self, package: &Package) -> bool {
        let crates = self.crates.borrow();
        let Some(krate) = crates.iter().position(|it| it.foreign.is_none() && it.package.folder == package.folder)
        else {
            return false;
        };
        drop(crates);
        let mut normal = package.dependencies.iter().filter(|(_, it)| it.kind == Kind::Normal);
        normal.any(|(name, dependency)| match dependency.package.as_str() {
            "kube-client" | "kube-runtime" => true,
            "kube" => {
                let has = |feature: &str| dependency.features.iter().any(|it| it == feature);
                dependency.default_features || has("client") || has("runtime")
            }
            "kube-core" | "kube-derive" => false,
            // Without a lock file, any crate may re-export kube.
            _ => self.uses(&DependencyName { krate, name: name.clone() }, "kube-client") != Some(false),
        })
    }

    /// The packages in the project's own tree.
    pub fn local_packages(&self) -> &[Rc<Package>] {
        &self.local
    }

    /// The `opctl-runtime` that a package of the project depends on; `None` if it depends on none.
    pub fn runtime_of(&self, package: &Package) -> Option<Result<Runtime, Missing>> {
        let index = self
            .crates
            .borrow()
            .iter()
            .position(|krate| krate.foreign.is_none() && krate.package.folder == package.folder)?;
        let (name, dependency) = package.dependencies.iter().find(|(_, it)| it.package == runtime::PACKAGE)?;
        Some(match &dependency.folder {
            Some(folder) => self.runtime_in(folder),
            None => self.runtime_by(&DependencyName { krate: index, name: name.clone() }),
        })
    }

    /// A runtime in a folder is found without a lock file.
    fn runtime_in(&self, folder: &str) -> Result<Runtime, Missing> {
        let (package, cfg) = self
            .runtimes
            .iter()
            .find(|(package, _)| package.folder == folder)
            .ok_or_else(|| Missing::Folder { path: folder.into() })?;
        Ok(Runtime { tree: self.tree.clone(), package: package.clone(), cfg: cfg.clone(), label: folder.into() })
    }

    /// The runtime that Cargo.lock pins; if its source is not on disk, opctl's own copy, if it is the same version.
    fn runtime_by(&self, via: &DependencyName) -> Result<Runtime, Missing> {
        let located = self.entry(via).and_then(|(foreign, entry)| {
            let found = foreign.found(entry)?;
            let cfg = Cfg { features: foreign.features(entry)?, ..Cfg::default() };
            let tree = found.tree.clone().unwrap_or_else(|| self.tree.clone());
            Ok(Runtime { tree, package: found.package.clone(), cfg, label: found.label.clone() })
        });
        located.or_else(|missing| self.carried_runtime(via, &missing).ok_or(missing))
    }

    fn carried_runtime(&self, via: &DependencyName, missing: &Missing) -> Option<Runtime> {
        let carried = self.tree.runtime()?;
        let dependency = self.declared(via);
        let is_it = match missing {
            // Cargo has not selected a version yet.
            Missing::Lock { .. } | Missing::Entry { .. } => dependency.allows(&carried.version),
            _ => self.version(via).is_ok_and(|version| version == carried.version),
        };
        let package = Package::at(&carried.tree, "").ok().filter(|_| is_it)?;
        let default = dependency.default_features.then_some("default".to_owned());
        let features = package.closure(dependency.features.into_iter().chain(default));
        let label = format!("{}-{}", runtime::PACKAGE, carried.version);
        Some(Runtime {
            tree: Rc::new(carried.tree),
            package: Rc::new(package),
            cfg: Cfg { features, ..Cfg::default() },
            label,
        })
    }

    /// The problems of the files that were read since the last call.
    pub fn take_diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics.take()
    }

    /// The name of the library crate of a module, or `None` in a binary; and its package.
    pub fn crate_of(&self, id: ModuleId) -> (Option<String>, Rc<Package>) {
        let krate = self.krate(id);
        (krate.name.clone(), krate.package.clone())
    }

    /// The names of the enclosing modules and of the module itself, from the root of the crate.
    pub fn path_of(&self, id: ModuleId) -> Vec<String> {
        let Some(parent) = self.module(id).parent else { return Vec::new() };
        let around = self.module(parent);
        let own = around.modules.iter().find(|(_, child)| **child == id).map(|(name, _)| name.clone());
        self.path_of(parent).into_iter().chain(own).collect()
    }

    pub fn root(&self, id: ModuleId) -> ModuleId {
        self.krate(id).root
    }

    /// `true` if a module belongs to a package outside of the project's tree.
    pub fn is_foreign(&self, id: ModuleId) -> bool {
        self.krate(id).foreign.is_some()
    }

    /// `Some(true)` if `cfg!(…)` holds in a module.
    pub fn cfg_holds(&self, id: ModuleId, predicate: &TokenStream) -> Option<bool> {
        self.krate(id).cfg.keeps(&[syn::parse_quote!(#[cfg(#predicate)])])
    }

    /// The value of `env!("name")` in a module, if cargo sets it from Cargo.toml.
    pub fn environment(&self, id: ModuleId, name: &str) -> Option<String> {
        let krate = self.krate(id);
        let package = &krate.package;
        let version = package.built_version.as_deref();
        let part = |index: usize| {
            let numbers: Vec<&str> = version?.split('.').collect();
            let is_plain =
                numbers.len() == 3 && numbers.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
            numbers.get(index).filter(|_| is_plain).copied()
        };
        match name {
            "CARGO_PKG_NAME" => Some(package.name.as_str()),
            "CARGO_PKG_VERSION" => version,
            "CARGO_PKG_VERSION_MAJOR" => part(0),
            "CARGO_PKG_VERSION_MINOR" => part(1),
            "CARGO_PKG_VERSION_PATCH" => part(2),
            _ => None,
        }
        .filter(|_| krate.foreign.is_none())
        .map(String::from)
    }

    /// `true` if a module is one of k8s-openapi's own.
    pub fn is_kubernetes(&self, id: ModuleId) -> bool {
        self.krate(id).package.name == "k8s-openapi"
    }

    /// The parent of a module, which need not be parsed yet.
    fn parent(&self, id: ModuleId) -> Option<ModuleId> {
        match &self.all.borrow()[id.0] {
            Slot::Unread(unread) => unread.parent,
            Slot::Read(module) => module.parent,
            Slot::Reading => None,
        }
    }

    fn krate(&self, id: ModuleId) -> Rc<Krate> {
        let krate = self.module(id).krate;
        self.crates.borrow()[krate].clone()
    }

    /// Adds the table of signatures, a crate whose text opctl contains. The modules in its root are crates.
    pub fn open_table(&self, label: &str, text: &str) -> ModuleId {
        let mut tree = Tree::default();
        tree.lay_over(label, text);
        let origin = Origin { entry: CARRIED, tree: Some(Rc::new(tree)), label: label.into() };
        let package = Rc::new(Package::of_root(label));
        let table = self.open(&package, Some(label.into()), label, Cfg::default(), Some(origin));
        *self.table.get_or_init(|| table)
    }

    /// The table of signatures, if requests are read.
    pub fn table(&self) -> Option<ModuleId> {
        self.table.get().copied()
    }

    /// Adds a module for the items among the statements of a block.
    pub fn block(&self, around: ModuleId, items: Vec<Item>) -> ModuleId {
        let module = self.module(around);
        let none = ModuleFolders { file_folder: String::new(), children: String::new() };
        let contents = Contents::Inline { file: module.file.clone(), items, folders: none };
        let unread = Unread { parent: Some(around), krate: module.krate, contents, around: Vec::new() };
        let id = ModuleId(self.all.borrow().len());
        self.all.borrow_mut().push(Slot::Unread(unread));
        id
    }

    /// `true` if an item with these attributes is compiled in the crate of `id`.
    pub fn keeps(&self, id: ModuleId, attributes: &[Attribute]) -> bool {
        self.krate(id).cfg.keeps(attributes) != Some(false)
    }

    /// The meaning of a crate name in the crate of `id`.
    pub fn external(&self, id: ModuleId, name: &str) -> Option<External> {
        let index = self.module(id).krate;
        let krate = self.crates.borrow()[index].clone();
        if krate.is_carried() {
            return self.module(krate.root).modules.get(name).copied().map(External::Read);
        }
        if krate.name.is_none()
            && let Some(library) = self.library(&krate.package.folder)
            && library.name.as_deref() == Some(name)
        {
            return Some(External::Read(library.root));
        }
        if let Some(dependency) = krate.package.dependencies.get(name) {
            if krate.foreign.is_none()
                && let Some(library) = dependency.folder.as_deref().and_then(|folder| self.library(folder))
            {
                return Some(External::Read(library.root));
            }
            return Some(External::Foreign(
                dependency.krate.clone(),
                Some(DependencyName { krate: index, name: name.into() }),
            ));
        }
        // A path dependency that is not renamed has the name of its library, which may differ from its package's.
        let mut near = krate.package.dependencies.values().filter(|dependency| dependency.key == dependency.package);
        if krate.foreign.is_none()
            && let Some(library) = near.find_map(|dependency| {
                let library = self.library(dependency.folder.as_deref()?)?;
                (library.name.as_deref() == Some(name)).then_some(library)
            })
        {
            return Some(External::Read(library.root));
        }
        matches!(name, "std" | "core" | "alloc").then(|| External::Foreign(name.into(), None))
    }

    /// The library in a folder of the project.
    fn library(&self, folder: &str) -> Option<Rc<Krate>> {
        let crates = self.crates.borrow();
        let is_it =
            |krate: &&Rc<Krate>| krate.foreign.is_none() && krate.name.is_some() && krate.package.folder == folder;
        crates.iter().find(is_it).cloned()
    }

    /// A dependency of the crate of `id`, by the dependency's own crate name.
    pub fn dependency(&self, id: ModuleId, krate: &str) -> Option<(Dependency, DependencyName)> {
        let index = self.module(id).krate;
        let package = self.crates.borrow()[index].package.clone();
        let found = package.dependencies.iter().find(|(_, dependency)| dependency.krate == krate);
        found.map(|(name, dependency)| (dependency.clone(), DependencyName { krate: index, name: name.clone() }))
    }

    /// The names of these crates in the crate of `id`.
    pub fn dependencies(&self, id: ModuleId, crates: &[&str]) -> Vec<DependencyName> {
        let index = self.module(id).krate;
        let package = self.crates.borrow()[index].package.clone();
        let named = package.dependencies.iter().filter(|(_, it)| crates.contains(&it.krate.as_str()));
        named.map(|(name, _)| DependencyName { krate: index, name: name.clone() }).collect()
    }

    /// The dependency in Cargo.toml.
    pub fn declared(&self, via: &DependencyName) -> Dependency {
        self.crates.borrow()[via.krate].package.dependencies[&via.name].clone()
    }

    /// `true` if all types of the dependency are in opctl's table, so that its source is not needed.
    pub fn carries(&self, krate: &str, via: &DependencyName) -> bool {
        krate == "k8s_openapi" && !matches!(self.kubernetes(via), Err(Unclear::Release(_)))
    }

    /// The version of Kubernetes for which a dependency on k8s-openapi is compiled.
    pub fn kubernetes(&self, via: &DependencyName) -> Result<Minor, Unclear> {
        let krate = self.crates.borrow()[via.krate].clone();
        let release = kubernetes_version::release(&self.version_or_allowed(via).map_err(Unclear::Release)?)?;
        if krate.foreign.as_ref().is_none_or(|origin| origin.entry == UNLOCKED) {
            let asked = self.asked(&krate, release);
            if !matches!(asked, Err(Unclear::Nothing)) {
                return asked;
            }
        }
        // If Cargo.toml leaves it open, all compiled packages may select it.
        match self.features(via) {
            Ok(features) => kubernetes_version::one(&features, release),
            // Some sources are not on disk. k8s-openapi has one version for all packages.
            Err(_) => self.asked(&krate, release),
        }
    }

    /// The version of Kubernetes of the types that a module's kube re-exports.
    pub fn kubernetes_beside(&self, id: ModuleId) -> Result<Minor, Unclear> {
        let of_kube = self.kube(id).map_err(|_| Unclear::Nothing)?.k8s_openapi();
        let release = |version: &String| Release::parse(version).filter(|it| it.compatible() == of_kube.compatible());
        if let Some((_, via)) = self.dependency(id, "k8s_openapi")
            && self.version_or_allowed(&via).ok().as_ref().and_then(release).is_some()
        {
            return self.kubernetes(&via);
        }
        let locked = self.locked("k8s-openapi").iter().find_map(release);
        self.asked(&self.krate(id), locked.unwrap_or(of_kube))
    }

    fn asked(&self, krate: &Krate, release: Release) -> Result<Minor, Unclear> {
        let root = self.local.iter().take(self.roots).find(|root| root.folder == krate.package.folder);
        let root = root.or(self.local.first()).expect("a crate is of a package");
        // The packages that opctl reads have the selected features.
        let read = self.local.get(self.roots..).unwrap_or_default();
        let mut asked = krate.kubernetes.borrow_mut();
        asked.entry(release).or_insert_with(|| kubernetes_version::of(&self.tree, root, read, release)).clone()
    }

    /// The version of a dependency that is compiled.
    pub fn version(&self, via: &DependencyName) -> Result<String, Missing> {
        let (foreign, entry) = self.entry(via)?;
        Ok(foreign.version(entry).to_string())
    }

    /// `Some(true)` if a dependency is compiled with another package; `None` if the lock file is missing or does not
    /// list it.
    pub fn uses(&self, via: &DependencyName, package: &str) -> Option<bool> {
        let (foreign, entry) = self.entry(via).ok()?;
        Some(foreign.uses(entry, package))
    }

    /// The versions of a package in Cargo.lock that are compiled for the project.
    pub fn locked(&self, package: &str) -> Vec<String> {
        let foreign = (!self.local.is_empty()).then(|| self.foreign().ok()).flatten();
        foreign.map(|foreign| foreign.versions(package)).unwrap_or_default()
    }

    fn foreign(&self) -> Result<&Foreign, Missing> {
        let foreign = self.foreign.get_or_init(|| Foreign::read(self.tree.clone(), &self.local, self.roots));
        foreign.as_ref().map_err(Clone::clone)
    }

    fn features(&self, via: &DependencyName) -> Result<BTreeSet<String>, Missing> {
        let (foreign, entry) = self.entry(via)?;
        foreign.features(entry)
    }

    /// The root module of a dependency, whose source is located on disk.
    pub fn enter(&self, via: &DependencyName) -> Result<ModuleId, Missing> {
        self.found(via).inspect_err(|missing| _ = self.missing.borrow_mut().insert(missing.clone()))
    }

    /// The packages that were not found since the last call.
    pub fn take_missing(&self) -> BTreeSet<Missing> {
        self.missing.take()
    }

    fn found(&self, via: &DependencyName) -> Result<ModuleId, Missing> {
        let (foreign, entry) = match self.entry(via) {
            Ok(entry) => entry,
            // A new project has no lock file, and kinds for charts use the runtime's status type.
            Err(missing) => return self.unlocked_runtime(via).ok_or(missing),
        };
        let is_open = |krate: &&Rc<Krate>| krate.foreign.as_ref().is_some_and(|origin| origin.entry == entry);
        if let Some(krate) = self.crates.borrow().iter().find(is_open) {
            return Ok(krate.root);
        }
        let found = foreign.found(entry)?;
        let package = &found.package;
        let Some((name, root)) = package.library.as_ref().filter(|_| !package.is_proc_macro) else {
            return Err(Missing::Library { package: found.label.clone() });
        };
        let features = foreign.features(entry)?;
        let set = [set_by_build_script(package, &features), self.flags()].concat();
        let without_debug_assertions = self.omits_debug_assertions(&package.name, false);
        let declared = package.declared_features();
        let cfg = Cfg { features, declared, set, open: package.has_build_script, without_debug_assertions };
        let origin = Origin { entry, tree: found.tree.clone(), label: found.label.clone() };
        Ok(self.open(package, Some(name.clone()), root, cfg, Some(origin)))
    }

    /// The root module of the runtime, if the dependency is the runtime, which needs no lock file.
    fn unlocked_runtime(&self, via: &DependencyName) -> Option<ModuleId> {
        let dependency = self.declared(via);
        if dependency.package != runtime::PACKAGE {
            return None;
        }
        let is_open = |krate: &&Rc<Krate>| krate.foreign.as_ref().is_some_and(|origin| origin.entry == UNLOCKED);
        if let Some(krate) = self.crates.borrow().iter().find(is_open) {
            return Some(krate.root);
        }
        let runtime = match &dependency.folder {
            Some(folder) => self.runtime_in(folder),
            None => self.runtime_by(via),
        };
        let Runtime { tree, package, cfg, label } = runtime.ok()?;
        let (name, root) = package.library.clone()?;
        Some(self.open(&package, Some(name), &root, cfg, Some(Origin { entry: UNLOCKED, tree: Some(tree), label })))
    }

    /// The index of a dependency in the lock file.
    fn entry(&self, via: &DependencyName) -> Result<(&Foreign, usize), Missing> {
        let foreign = self.foreign()?;
        let krate = self.crates.borrow()[via.krate].clone();
        let from = match &krate.foreign {
            Some(origin) => Some(origin.entry),
            None => foreign.local(&krate.package.folder),
        };
        let from = from.ok_or_else(|| Missing::Entry { package: krate.package.name.clone() })?;
        Ok((foreign, foreign.dependency(from, &krate.package.dependencies[&via.name])?))
    }

    fn open(
        &self,
        package: &Rc<Package>,
        name: Option<String>,
        root: &str,
        cfg: Cfg,
        foreign: Option<Origin>,
    ) -> ModuleId {
        let krate = self.crates.borrow().len();
        let id = ModuleId(self.all.borrow().len());
        let is_local = foreign.is_none();
        let kubernetes = RefCell::default();
        let krate_read = Krate { name, root: id, package: package.clone(), cfg, kubernetes, foreign };
        self.crates.borrow_mut().push(Rc::new(krate_read));
        let unread = Unread { parent: None, krate, contents: Contents::Root(root.into()), around: Vec::new() };
        self.all.borrow_mut().push(Slot::Unread(unread));
        if is_local {
            self.candidates.borrow_mut().push(id);
            self.module(id);
        }
        id
    }

    fn read_module(&self, id: ModuleId, unread: Unread) -> Module {
        let krate = self.crates.borrow()[unread.krate].clone();
        let mut around = unread.around;
        let (file, items, folders, attributes_inside) = match unread.contents {
            Contents::Inline { file, items, folders } => (file, items, folders, Vec::new()),
            contents => {
                let declared = contents.declared();
                let (file, folders) = self.find(&krate, contents);
                let parsed = match declared.and_then(|declared| endless(&file, declared, &around)) {
                    Some(problem) => {
                        self.report(problem);
                        NOTHING
                    }
                    None => self.parse(&krate, &file),
                };
                (file, parsed.items, folders, parsed.attrs)
            }
        };
        around.push(file.clone());
        let module = Module {
            parent: unread.parent,
            krate: unread.krate,
            file,
            types: BTreeMap::new(),
            modules: BTreeMap::new(),
            consts: BTreeMap::new(),
            functions: BTreeMap::new(),
            impls: Vec::new(),
            traits: BTreeMap::new(),
            trait_names: BTreeSet::new(),
            uses: BTreeMap::new(),
            globs: Vec::new(),
            macro_crates: Vec::new(),
            reaches: BTreeMap::new(),
            undecided: BTreeMap::new(),
            changed: BTreeMap::new(),
            roots: BTreeMap::new(),
            rules: BTreeMap::new(),
            macros: Vec::new(),
            loose: Vec::new(),
        };
        let exists = krate.cfg.keeps(&attributes_inside);
        let mut reader = Reader { modules: self, krate, id, module, folders, around };
        for item in items {
            // `#![cfg(…)]` at the top of a file applies to all of it.
            let keeps = cfg::all([exists, reader.krate.cfg.keeps(attributes(&item))].into_iter());
            reader.add_if(keeps, item);
        }
        reader.module
    }

    /// The file of a module, and the folders of its children. A missing or unreadable file is reported, and counts as
    /// empty.
    fn find(&self, krate: &Krate, contents: Contents) -> (Arc<SourceFile>, ModuleFolders) {
        match contents {
            Contents::Inline { file, folders, .. } | Contents::Text { file, folders, .. } => (file, folders),
            Contents::Root(root) => {
                let text = self.text(krate, &root).unwrap_or_else(|| {
                    let missing = format!("the crate's root file `{root}` does not exist");
                    self.report(OP002.error(missing).help("check the paths in Cargo.toml"));
                    String::new()
                });
                let folder = parent(&root).to_string();
                (self.file(krate, &root, text), ModuleFolders { file_folder: folder.clone(), children: folder })
            }
            Contents::File { candidates, stem, is_mod_rs, declared } => {
                let found = candidates.iter().find_map(|path| Some((path, self.text(krate, path)?)));
                let Some((path, text)) = found else {
                    self.report(
                        OP002
                            .error(format!("no file for module `{stem}`"))
                            .at(declared.clone(), format!("neither {} exists", list(&candidates)))
                            .help(format!("create `{}`, or remove this line", candidates[0])),
                    );
                    let none = ModuleFolders { file_folder: String::new(), children: String::new() };
                    return (SourceFile::new(declared.file.path.clone(), ""), none);
                };
                let folder = parent(path).to_string();
                let is_mod_rs = is_mod_rs || path.ends_with("/mod.rs");
                let children = if is_mod_rs { folder.clone() } else { join(&folder, &stem) };
                (self.file(krate, path, text), ModuleFolders { file_folder: folder, children })
            }
        }
    }

    /// Parses the project's deferred modules that mention this word.
    pub fn read_mentioning(&self, word: &str) {
        let mentions = |slot: &Slot| match slot {
            Slot::Unread(Unread { contents: Contents::Text { file, .. }, .. }) => file.text.contains(word),
            _ => false,
        };
        let all = self.all.borrow();
        let ids: Vec<_> = (0..all.len()).filter(|id| mentions(&all[*id])).map(ModuleId).collect();
        drop(all);
        ids.iter().for_each(|id| drop(self.module(*id)));
    }

    /// Parses the modules of the project that mention a type, also under another name, and returns all its names.
    pub fn names_of(&self, type_name: &str) -> Vec<String> {
        let mut names = vec![type_name.to_owned()];
        let mut at = 0;
        while let Some(known) = names.get(at).cloned() {
            self.read_mentioning(&known);
            self.list_other_names();
            for other in self.other_names.borrow().names.get(&known).into_iter().flatten() {
                if !names.contains(other) {
                    names.push(other.clone());
                }
            }
            at += 1;
        }
        names
    }

    fn list_other_names(&self) {
        let OtherNames { listed, names } = &mut *self.other_names.borrow_mut();
        for id in self.local().into_iter().filter(|id| listed.insert(*id)) {
            let module = self.module(id);
            let imports = module.uses.iter().flat_map(|(bound, uses)| {
                uses.iter().filter_map(move |import| Some((import.path.segments.last()?.clone(), bound)))
            });
            let aliases = module.types.iter().filter_map(|(bound, declared)| match declared {
                TypeDecl::Alias(alias) => match &*alias.ty {
                    Type::Path(path) => Some((name(&path.path.segments.last()?.ident), bound)),
                    _ => None,
                },
                TypeDecl::Data(_) => None,
            });
            for (known, other) in imports.chain(aliases).filter(|(known, other)| known != *other) {
                names.entry(known).or_default().insert(other.clone());
            }
        }
    }

    /// `true` if everything is read, including the items in the output of the project's macros.
    pub fn is_whole(&self) -> bool {
        self.reading == Reading::Whole
    }

    /// `true` if the function bodies of a crate are read.
    fn reads_whole(&self, krate: &Krate) -> bool {
        self.reading == Reading::Whole && (krate.foreign.is_none() || krate.is_carried())
    }

    /// The text of a file of a crate; an unreadable one is reported, and counts as empty.
    fn text(&self, krate: &Krate, path: &str) -> Option<String> {
        let text = self.tree_of(krate).read(path).unwrap_or_else(|error| {
            self.report(error.into());
            Some(String::new())
        });
        text.map(as_rustc_reads)
    }

    fn file(&self, krate: &Krate, path: &str, text: String) -> Arc<SourceFile> {
        let shown = match &krate.foreign {
            Some(origin) => {
                let rest = path.strip_prefix(&krate.package.folder).unwrap_or(path).trim_start_matches('/');
                join(&origin.label, rest)
            }
            None => path.to_owned(),
        };
        // A file may belong to two crates, e.g. to the library and a binary; it is still one file.
        let known = self.files.borrow().iter().find(|file| krate.foreign.is_none() && file.path == path).cloned();
        let file = known.unwrap_or_else(|| {
            let file = SourceFile::new(shown, text);
            if krate.foreign.is_none() {
                self.files.borrow_mut().push(file.clone());
            }
            file
        });
        self.read_included(krate, path, &file);
        file
    }

    fn parse(&self, krate: &Krate, file: &Arc<SourceFile>) -> syn::File {
        if !krate.is_carried()
            && let Some(problem) = excess(file)
        {
            self.report(problem);
            return NOTHING;
        }
        let items = if self.reads_whole(krate) { skim::whole(&file.text) } else { skim::items(&file.text) };
        items.unwrap_or_else(|error| {
            let span = Span { range: error.span().byte_range(), file: file.clone() };
            let (line, column) = span.line_column();
            let invisible = invisible(&span);
            let diagnostic = match krate.foreign.is_some() || self.tree.is_inside(&file.path) {
                true => OP001.error(format!("this is not Rust: {error}")).at(span, ""),
                // A file outside of the project, through a link or a path: its text may be confidential, so messages
                // do not show it.
                false => {
                    let place = format!("{}:{line}:{column}", file.path);
                    OP001.error(format!("`{place}`, a file outside of the project, is not Rust: {error}"))
                }
            };
            let details = "run `cargo check` for details; opctl does not compile, but the source must parse";
            self.report(diagnostic.help(invisible.unwrap_or(details)));
            NOTHING
        })
    }

    /// Reads files that a file includes as text, since they may be doc comments.
    fn read_included(&self, krate: &Krate, path: &str, file: &SourceFile) {
        for call in file.text.split("include_str!").skip(1) {
            let named = call
                .trim_start_matches(['(', '[', '{', ' ', '\n'])
                .strip_prefix('"')
                .and_then(|rest| rest.split_once('"'));
            let Some((named, _)) = named else { continue };
            match self.tree_of(krate).read(&normalize(&join(parent(path), named))) {
                Ok(None) => {}
                Ok(Some(text)) => {
                    self.included.borrow_mut().insert(normalize(&join(parent(&file.path), named)), text);
                }
                Err(error) => self.report(error.into()),
            }
        }
    }

    /// The text of `include_str!("path")` in a file.
    pub fn included(&self, file: &SourceFile, path: &str) -> Option<String> {
        self.included.borrow().get(&normalize(&join(parent(&file.path), path))).cloned()
    }

    /// The code that `include!` inserts into a module.
    pub fn included_code(&self, id: ModuleId, tokens: &TokenStream) -> Option<String> {
        let (krate, module) = (self.krate(id), self.module(id));
        self.included_in(&krate, &module.file, tokens).map(|(_, text)| text)
    }

    /// The path and the text of the file in `include!`.
    fn included_in(&self, krate: &Krate, file: &SourceFile, tokens: &TokenStream) -> Option<(String, String)> {
        let named = path_of(&syn::parse2(tokens.clone()).ok()?)?;
        let place = match named.strip_prefix(PACKAGE) {
            Some(rest) => join(&krate.package.folder, rest.trim_start_matches('/')),
            None => join(parent(&file.path), &named),
        };
        let place = normalize(&place);
        let text = self.text(krate, &place)?;
        Some((place, text))
    }

    fn tree_of<'a>(&'a self, krate: &'a Krate) -> &'a Tree {
        krate.foreign.as_ref().and_then(|origin| origin.tree.as_deref()).unwrap_or(&self.tree)
    }

    fn report(&self, diagnostic: Diagnostic) {
        let mut diagnostics = self.diagnostics.borrow_mut();
        // A file may belong to several crates.
        if !diagnostics.contains(&diagnostic) {
            diagnostics.push(diagnostic);
        }
    }
}

/// The invisible character that makes the line of an error invalid.
fn invisible(at: &Span) -> Option<&'static str> {
    let line = at.file.text[at.range.start..].lines().next()?;
    if line.contains('\u{feff}') {
        return Some("remove the byte order mark (U+FEFF) from this line; it is valid only at the beginning of a file");
    }
    line.contains('\r').then_some("remove the carriage return from this line; it is valid only at its end")
}

/// The text as rustc reads it: `\r\n` is `\n`, also in literals, and identifiers are in normal form C.
fn as_rustc_reads(text: String) -> String {
    let mut text = if text.contains('\r') { text.replace("\r\n", "\n") } else { text };
    if !is_nfc(&text) {
        let words: Vec<_> = Lexer::new(&text).filter(|(token, _)| *token == lexer::Token::Word).collect();
        for (_, range) in words.into_iter().rev() {
            let word: String = text[range.clone()].nfc().collect();
            text.replace_range(range, &word);
        }
    }
    text
}

/// A package with its enabled features.
pub(crate) type Enabled = (Rc<Package>, BTreeSet<String>);

/// The packages and the path dependencies that are compiled with them, each with its features; and the errors of
/// unreadable path dependencies.
pub(crate) fn local(tree: &Tree, packages: &[Package]) -> (Vec<Enabled>, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let mut all: Vec<Rc<Package>> = packages.iter().cloned().map(Rc::new).collect();
    let roots: Vec<_> = all.iter().cloned().enumerate().collect();
    let enabled = features::enable(&roots, |_, dependency| {
        let Some(folder) = &dependency.folder else { return Ok(None) };
        let known = all.iter().position(|package| package.folder == *folder);
        let node = known.or_else(|| {
            match Package::at(tree, folder) {
                Ok(package) => all.push(Rc::new(package)),
                Err(problem) => {
                    // A missing one is reported where one of its types is needed.
                    if tree.has(&join(folder, "Cargo.toml")) && !problems.contains(&problem) {
                        problems.push(problem);
                    }
                    return None;
                }
            }
            Some(all.len() - 1)
        });
        Ok::<_, std::convert::Infallible>(node.map(|node| (node, all[node].clone())))
    });
    let Ok(enabled) = enabled;
    (enabled.into_values().filter(|(package, _)| !package.is_proc_macro).collect(), problems)
}

/// The `cfg` values that a known build script passes to the compiler.
fn set_by_build_script(package: &Package, features: &BTreeSet<String>) -> Vec<(String, String)> {
    let versions = features.iter().filter_map(|feature| feature.strip_prefix("v1_"));
    match package.name.as_str() {
        // There is one module for each version of Kubernetes; a feature selects it.
        "k8s-openapi" => versions.map(|minor| ("k8s_openapi_enabled_version".into(), format!("1.{minor}"))).collect(),
        _ => Vec::new(),
    }
}

/// A unique key for an item: if all builds are read, several items may have one name, as do all constants `_`.
fn own_key(is_whole: bool, name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_whole || !is_taken(&name) {
        return name;
    }
    (2..).map(|number| format!("{name} {number}")).find(|key| !is_taken(key)).unwrap_or(name)
}

/// Folders in which the files of child modules are searched.
#[derive(Clone)]
struct ModuleFolders {
    /// Folder that `#[path]` is relative to.
    file_folder: String,
    /// Folder of `mod x;`.
    children: String,
}

/// Collects the items of one module.
struct Reader<'a> {
    modules: &'a Modules,
    krate: Rc<Krate>,
    id: ModuleId,
    module: Module,
    folders: ModuleFolders,
    /// Files of the modules around its items.
    around: Vec<Arc<SourceFile>>,
}

impl Reader<'_> {
    fn add_if(&mut self, keeps: Option<bool>, item: Item) {
        match (keeps, item) {
            (Some(true), item) => self.add(item),
            (Some(false), item) => self.leave_out_item(&item),
            // With all code read, an undecided item counts.
            (None, item) if self.is_whole() => self.add(item),
            (None, item) => self.undecided(&item),
        }
    }

    fn add(&mut self, item: Item) {
        let is_whole = self.is_whole();
        if self.krate.foreign.is_none() && !is_whole {
            self.look_inside(&item);
            // For a type, this is checked where its schema is derived.
            let is_type = matches!(item, Item::Struct(_) | Item::Enum(_) | Item::Union(_));
            let mut attributes = attributes(&item).to_vec();
            self.krate.cfg.expand(&mut attributes);
            if !is_type && let Some(attribute) = item_macro(&attributes, |attribute| self.meant(attribute.path())) {
                return self.add_changed(attribute, &item);
            }
        }
        self.declare(&item);
        let module = &mut self.module;
        match item {
            Item::Struct(item) => self.add_type(item.into()),
            Item::Enum(item) => self.add_type(item.into()),
            Item::Union(item) => self.add_type(item.into()),
            Item::Type(item) => {
                module.types.insert(name(&item.ident), TypeDecl::Alias(Rc::new(item)));
            }
            Item::Const(item) => {
                let key = own_key(is_whole, name(&item.ident), |key| module.consts.contains_key(key));
                module.consts.insert(key, Rc::new(item));
            }
            Item::Fn(mut item) => {
                let cfg = &self.krate.cfg;
                decide(cfg, &mut item.block.stmts);
                let key = own_key(is_whole, name(&item.sig.ident), |key| module.functions.contains_key(key));
                module.functions.insert(key, Rc::new(item));
            }
            Item::Static(item) => {
                let (ident, ty, value) = (&item.ident, &item.ty, &item.expr);
                module.consts.insert(name(ident), Rc::new(syn::parse_quote!(const #ident: #ty = #value;)));
            }
            Item::Impl(mut item) => {
                let cfg = &self.krate.cfg;
                item.items.retain_mut(|item| {
                    if let ImplItem::Fn(function) = item {
                        decide(cfg, &mut function.block.stmts);
                    }
                    cfg.keeps(impl_attributes(item)) != Some(false)
                });
                let is_decided = is_whole || item.items.iter().all(|item| cfg.keeps(impl_attributes(item)).is_some());
                if !is_decided {
                    return self.undecided(&Item::Impl(item));
                }
                // A type that is not written as a plain path.
                if matches!(
                    *item.self_ty,
                    Type::Paren(_) | Type::Macro(_) | Type::Path(TypePath { qself: Some(_), .. })
                ) {
                    module.loose.push((span_of(&module.file, &item.self_ty), item.to_token_stream()));
                }
                module.impls.push(Rc::new(item));
            }
            Item::Use(item) => {
                let mut prefix = UsePath { global: item.leading_colon.is_some(), segments: Vec::new() };
                let reach = self.reach(&item.vis);
                add_use(&mut self.module, &mut prefix, &item.tree, reach);
            }
            Item::ExternCrate(item) => {
                let reach = self.reach(&item.vis);
                let bound = item.rename.as_ref().map_or(&item.ident, |(_, rename)| rename);
                let path = UsePath { global: item.ident != "self", segments: vec![name(&item.ident)] };
                if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_use")) {
                    self.module.macro_crates.push(name(&item.ident));
                }
                self.module.uses.entry(name(bound)).or_default().push(Use { path, reach });
            }
            Item::Mod(item) => self.add_module(item),
            Item::Macro(item) => self.add_macro(item),
            Item::Trait(mut item) if is_whole => {
                let cfg = &self.krate.cfg;
                item.items.retain(|item| match item {
                    TraitItem::Fn(function) => cfg.keeps(&function.attrs) != Some(false),
                    _ => true,
                });
                module.traits.insert(name(&item.ident), Rc::new(item));
            }
            _ => {}
        }
    }

    /// The path of a macro, resolved by the preceding `use`s.
    fn meant(&self, path: &syn::Path) -> Vec<String> {
        let written = UsePath::of(path).segments;
        let imported = written.first().and_then(|first| self.module.uses.get(first)?.first());
        let start = imported.map_or(&written[..1], |import| &import.path.segments);
        [start, &written[1..]].concat()
    }

    fn is_whole(&self) -> bool {
        self.modules.reads_whole(&self.krate)
    }

    /// Adds a `macro_rules!` definition or a macro call.
    fn add_macro(&mut self, item: ItemMacro) {
        let span = span_of(&self.module.file, &item.mac.path);
        let at = item.mac.path.span();
        let path = UsePath::of(&item.mac.path);
        let tokens = item.mac.tokens;
        let is_local = self.krate.foreign.is_none();
        let called = self.meant(&item.mac.path).pop().unwrap_or_default();
        if let Some(ident) = &item.ident {
            self.module.rules.entry(name(ident)).or_default().extend(tokens.clone());
        } else if called == "cfg_if" {
            return self.add_cfg_if(tokens);
        } else if called == "include" && is_local {
            return self.add_included(span, at, path, tokens);
        }
        if is_local && declares_kind(tokens.clone()) {
            self.refuse_kind(span.clone(), "a macro makes a custom resource, and opctl does not run macros");
        }
        if item.ident.is_none() {
            self.module.macros.push(Call { span, at, path, tokens, is_plain: false });
        }
    }

    fn refuse_kind(&self, span: Span, message: &str) {
        self.modules.report(
            OP021.error(message).at(span, "").help("write the type out, or print the CRDs from the compiled types"),
        );
    }

    /// `cfg_if! { if #[cfg(…)] { … } else if #[cfg(…)] { … } else { … } }` has the items of the first branch that
    /// holds.
    fn add_cfg_if(&mut self, tokens: TokenStream) {
        let mut before = Some(true);
        let mut condition = Some(true);
        let mut trees = tokens.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Punct(sign) if sign.as_char() == '#' => {
                    let Some(TokenTree::Group(group)) = trees.next() else { return };
                    let attribute = Attribute::parse_outer.parse2(quote::quote!(# #group)).unwrap_or_default();
                    condition = self.krate.cfg.keeps(&attribute);
                }
                TokenTree::Group(group) => {
                    let keeps = cfg::all([before, condition].into_iter());
                    let items = syn::parse2::<syn::File>(group.stream()).map(|file| file.items).unwrap_or_default();
                    for item in items {
                        self.add_if(cfg::all([keeps, self.krate.cfg.keeps(attributes(&item))].into_iter()), item);
                    }
                    before = cfg::all([before, condition.map(|holds| !holds)].into_iter());
                    condition = Some(true);
                }
                _ => {}
            }
        }
    }

    /// `include!("file")` among items: the file's declarations count as a macro's output.
    fn add_included(&mut self, span: Span, at: proc_macro2::Span, path: UsePath, tokens: TokenStream) {
        let Some((place, text)) = self.modules.included_in(&self.krate, &self.module.file, &tokens) else {
            self.warn_of_include(&span);
            return self.module.macros.push(Call { span, at, path, tokens, is_plain: false });
        };
        self.refuse_included(&span, &place, &text);
        self.modules.left_out.borrow_mut().push(place.strip_suffix(".rs").unwrap_or(&place).into());
        let tokens = text.parse().unwrap_or_default();
        self.module.macros.push(Call { span, at, path, tokens, is_plain: true });
    }

    fn refuse_included(&self, span: &Span, place: &str, text: &str) {
        if !skim::kinds_in(text).is_empty() {
            let message = format!("`{place}` has a custom resource, and opctl does not run `include!`");
            self.refuse_kind(span.clone(), &message);
        }
    }

    /// Warns of included code, which is not in the source: a build script may have generated it.
    fn warn_of_include(&self, span: &Span) {
        let package = &self.krate.package;
        let script = self.modules.text(&self.krate, &join(&package.folder, "build.rs")).unwrap_or_default();
        if package.has_build_script && skim::may_declare_kind(&script) {
            return self.refuse_kind(span.clone(), "a build script makes a custom resource, and opctl does not run it");
        }
        self.modules.report(
            OP029
                .warning("opctl does not read what is included here")
                .at(span.clone(), "a custom resource in it gets no CRD")
                .help("keep custom resources in files of their own, or print the CRDs from the compiled types"),
        );
    }

    /// Records an item of another build.
    fn leave_out_item(&self, item: &Item) {
        if self.krate.foreign.is_none() {
            self.modules.left_out_items.borrow_mut().push(span_of(&self.module.file, item));
        }
        if let Item::Mod(item) = item {
            self.leave_out(item);
        }
    }

    /// Records a module of another build.
    fn leave_out(&self, item: &ItemMod) {
        if item.content.is_none() && self.krate.foreign.is_none() {
            let path = match item.attrs.iter().find_map(path_attribute) {
                Some(path) => normalize(&join(&self.folders.file_folder, path.strip_suffix(".rs").unwrap_or(&path))),
                None => join(&self.folders.children, &name(&item.ident)),
            };
            self.modules.left_out.borrow_mut().push(path);
        }
    }

    /// Adds an item that an attribute macro may change.
    fn add_changed(&mut self, attribute: &Attribute, item: &Item) {
        let file = self.module.file.clone();
        let span = span_of(&file, attribute);
        let range = item.span().byte_range();
        if let Item::Mod(module) = item {
            if file.text.get(range).is_some_and(skim::may_declare_kind) {
                let message = format!("an attribute macro may change the custom resources in `{}`", module.ident);
                let help = "write out what it expands to, or print the CRDs from the compiled types";
                self.modules.report(OP013.error(message).at(span.clone(), "").help(help));
            }
            self.leave_out(module);
            let path = UsePath::of(attribute.path());
            let tokens = TokenStream::new();
            let at = attribute.path().span();
            self.module.macros.push(Call { span: span.clone(), at, path, tokens, is_plain: false });
        }
        let mut declared = Vec::new();
        names(item, &mut declared);
        self.module.changed.extend(declared.into_iter().map(|name| (name, span.clone())));
        if let Item::Impl(item) = item {
            self.module.loose.push((span, item.to_token_stream()));
        }
    }

    /// Searches the blocks of an item for custom resources and `impl`s: of functions, constants, the lengths of
    /// arrays.
    fn look_inside(&mut self, item: &Item) {
        let file = self.module.file.clone();
        let is_block = !matches!(item, Item::Mod(_) | Item::Macro(_));
        let Some(text) = file.text.get(item.span().byte_range()).filter(|_| is_block) else { return };
        let is_impl = matches!(item, Item::Impl(_));
        let may_count = text.matches("impl").count() > usize::from(is_impl)
            || skim::may_declare_kind(text)
            || text.contains("include!")
            || !skim::is_leaf(text);
        if !may_count {
            return;
        }
        let mut inside = Inside { reader: self, depth: 0 };
        inside.visit_item(item);
    }

    /// Records the visibility of an item.
    fn declare(&mut self, item: &Item) {
        let (is_value, ident, vis) = match item {
            Item::Struct(item) => (false, &item.ident, &item.vis),
            Item::Enum(item) => (false, &item.ident, &item.vis),
            Item::Union(item) => (false, &item.ident, &item.vis),
            Item::Type(item) => (false, &item.ident, &item.vis),
            Item::Trait(item) => {
                self.module.trait_names.insert(name(&item.ident));
                (false, &item.ident, &item.vis)
            }
            Item::Mod(item) => (false, &item.ident, &item.vis),
            Item::Const(item) => (true, &item.ident, &item.vis),
            Item::Static(item) => (true, &item.ident, &item.vis),
            Item::Fn(item) => (true, &item.sig.ident, &item.vis),
            _ => return,
        };
        let reach = self.reach(vis);
        self.module.reaches.insert((is_value, name(ident)), reach);
    }

    fn reach(&self, visibility: &Visibility) -> Reach {
        match visibility {
            _ if self.krate.is_carried() => Reach::All,
            Visibility::Public(_) => Reach::All,
            Visibility::Inherited => Reach::Within(self.id),
            Visibility::Restricted(restricted) => {
                let supers = restricted.path.segments.iter().filter(|segment| segment.ident == "super").count();
                if restricted.path.segments.iter().all(|segment| segment.ident == "self" || segment.ident == "super") {
                    let mut reach = if supers > 0 { self.module.parent } else { Some(self.id) };
                    for _ in 1..supers {
                        reach = reach.and_then(|id| self.modules.parent(id));
                    }
                    return Reach::Within(reach.unwrap_or(self.krate.root));
                }
                Reach::Within(self.krate.root)
            }
        }
    }

    /// Records an item whose `cfg` is undecided.
    fn undecided(&mut self, item: &Item) {
        let span = Span { file: self.module.file.clone(), range: item.span().byte_range() };
        let mut declared = Vec::new();
        names(item, &mut declared);
        match item {
            Item::Mod(module) => self.leave_out(module),
            Item::Impl(item) => self.module.loose.push((span.clone(), item.to_token_stream())),
            Item::Macro(item) => self.add_macro(item.clone()),
            _ => {}
        }
        if self.krate.foreign.is_none() && declares_kind(item.to_token_stream()) {
            self.modules.report(undecided(span.clone(), "a custom resource is declared here"));
        }
        self.module.undecided.extend(declared.into_iter().map(|name| (name, span.clone())));
    }

    fn add_type(&mut self, mut input: DeriveInput) {
        let span = span_of(&self.module.file, &input.ident);
        let bound = name(&input.ident);
        if !self.krate.cfg.apply(&mut input) {
            self.module.undecided.insert(bound.clone(), span);
        }
        if self.krate.foreign.is_none()
            && let Some(root) = roots::root_name(&input)
        {
            let reach = self.reach(&input.vis);
            self.module.reaches.entry((false, name(&root))).or_insert(reach);
            self.module.roots.insert(name(&root), bound.clone());
        }
        if self.modules.reading == Reading::Whole
            && let Some(root) = roots::root_type(&input)
        {
            let (kind, spec) = (&root.ident, &input.ident);
            self.module
                .impls
                .push(Rc::new(syn::parse_quote!(impl #kind { pub fn new(name: &str, spec: #spec) -> Self {} })));
            self.module.types.insert(name(&root.ident), TypeDecl::Data(Rc::new(root)));
        }
        self.module.types.insert(bound, TypeDecl::Data(Rc::new(input)));
    }

    fn add_module(&mut self, mut item: ItemMod) {
        if !self.krate.cfg.expand(&mut item.attrs) {
            return self.undecided(&Item::Mod(item));
        }
        let stem = name(&item.ident);
        let explicit = item.attrs.iter().find_map(path_attribute);
        let file = self.module.file.clone();
        let folders = &self.folders;
        let contents = match item.content {
            Some((_, items)) => {
                let folder = join(&folders.children, explicit.as_deref().unwrap_or(&stem));
                Contents::Inline {
                    file,
                    items,
                    folders: ModuleFolders { file_folder: folder.clone(), children: folder },
                }
            }
            None => Contents::File {
                candidates: match &explicit {
                    Some(path) => vec![normalize(&join(&folders.file_folder, path))],
                    None => vec![
                        join(&folders.children, &format!("{stem}.rs")),
                        join(&folders.children, &format!("{stem}/mod.rs")),
                    ],
                },
                stem: stem.clone(),
                is_mod_rs: explicit.is_some(),
                declared: Span { file, range: item.ident.span().byte_range() },
            },
        };
        let is_local = self.krate.foreign.is_none();
        let is_whole = self.is_whole();
        let contents = match contents {
            // Markers are read in every file.
            Contents::File { ref declared, .. } if is_local => {
                let declared = declared.clone();
                let (file, folders) = self.modules.find(&self.krate, contents);
                Contents::Text { file, folders, declared }
            }
            contents => contents,
        };
        let (is_candidate, can_wait) = match &contents {
            Contents::Text { file, .. } => (skim::may_declare_kind(&file.text), skim::is_leaf(&file.text)),
            _ => (false, false),
        };
        let unread = Unread { parent: Some(self.id), krate: self.module.krate, contents, around: self.around.clone() };
        let child = {
            let mut all = self.modules.all.borrow_mut();
            all.push(Slot::Unread(unread));
            ModuleId(all.len() - 1)
        };
        if is_candidate {
            self.modules.candidates.borrow_mut().push(child);
        }
        if is_whole || is_local && !can_wait {
            self.modules.module(child);
        }
        self.module.modules.insert(stem, child);
    }
}

/// An error about a file that is nested too deeply for a parser.
fn excess(file: &Arc<SourceFile>) -> Option<Diagnostic> {
    let Excess { range, reason } = lexer::excess(&file.text)?;
    let span = Span { file: file.clone(), range };
    Some(
        OP006
            .error(format!("`{}` {reason}", file.path))
            .at(span, "the limit is reached here")
            .help("split the type or the expression, for example with a `type`, a `let` or a function"),
    )
}

/// An error about an item that only a build script decides.
pub fn undecided(span: Span, label: &str) -> Diagnostic {
    OP023
        .error("a build script decides whether this is compiled, and opctl does not run it")
        .at(span, label)
        .help("choose by a cargo feature instead, or print the CRDs from the compiled types")
}

/// The names that an item declares.
fn names(item: &Item, declared: &mut Vec<String>) {
    match item {
        Item::Struct(item) => declared.push(name(&item.ident)),
        Item::Enum(item) => declared.push(name(&item.ident)),
        Item::Union(item) => declared.push(name(&item.ident)),
        Item::Type(item) => declared.push(name(&item.ident)),
        Item::Const(item) => declared.push(name(&item.ident)),
        Item::Static(item) => declared.push(name(&item.ident)),
        Item::Fn(item) => declared.push(name(&item.sig.ident)),
        Item::Mod(item) => declared.push(name(&item.ident)),
        Item::Trait(item) => declared.push(name(&item.ident)),
        Item::Use(item) => imported(&item.tree, declared),
        _ => {}
    }
}

/// Finds items that count in any block.
struct Inside<'a, 'r> {
    reader: &'a mut Reader<'r>,
    depth: usize,
}

impl<'ast> Visit<'ast> for Inside<'_, '_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = attributes(item);
        let is_test = |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "test");
        if attributes.iter().any(is_test) || self.reader.krate.cfg.keeps(attributes) == Some(false) {
            return self.reader.leave_out_item(item);
        }
        if self.depth > 0 {
            let span = span_of(&self.reader.module.file, item);
            match item {
                Item::Impl(item) => self.reader.module.loose.push((span, item.to_token_stream())),
                Item::Mod(item) if item.content.is_none() => {
                    self.reader.refuse_kind(span, "a block declares a module in a file, which opctl does not read");
                }
                Item::Struct(ItemStruct { attrs, ident, .. }) | Item::Enum(ItemEnum { attrs, ident, .. })
                    if attrs.iter().any(|attribute| has_kind(attribute.to_token_stream())) =>
                {
                    let span = span_of(&self.reader.module.file, ident);
                    self.reader
                        .refuse_kind(span, "a custom resource is declared in a block, where opctl reads no types");
                }
                _ => {}
            }
        }
        self.depth += 1;
        visit::visit_item(self, item);
        self.depth -= 1;
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let reader = &mut *self.reader;
        let span = span_of(&reader.module.file, &call.path);
        if has_kind(call.tokens.clone()) {
            reader.refuse_kind(span, "a macro makes a custom resource, and opctl does not run macros");
        } else if call.path.is_ident("include")
            && let Some((place, text)) = reader.modules.included_in(&reader.krate, &reader.module.file, &call.tokens)
        {
            reader.refuse_included(&span, &place, &text);
        }
    }
}

/// `true` if these tokens contain `#[kube(…)]` or kube's derive.
fn declares_kind(tokens: TokenStream) -> bool {
    mentions(tokens.clone(), "CustomResource") || has_kind(tokens)
}

/// `true` if these tokens contain `kube(…)` with a kind. In a macro, variables may replace its arguments, or `kube`
/// itself.
fn has_kind(tokens: TokenStream) -> bool {
    let trees: Vec<_> = tokens.into_iter().collect();
    let is_variable = |tree: &TokenTree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == '$');
    trees.iter().enumerate().any(|(at, tree)| {
        let TokenTree::Group(group) = tree else { return false };
        let says = |word| mentions(group.stream(), word);
        let is_kind = match trees[..at].split_last() {
            Some((TokenTree::Ident(_), [.., sign])) if is_variable(sign) => {
                ["group", "version", "kind"].iter().all(|word| says(word))
            }
            Some((TokenTree::Ident(name), _)) if name == "kube" => {
                says("kind") || group.stream().into_iter().any(|tree| is_variable(&tree))
            }
            _ => false,
        };
        is_kind || has_kind(group.stream())
    })
}

fn imported(tree: &UseTree, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => imported(&path.tree, names),
        UseTree::Name(leaf) => names.push(name(&leaf.ident)),
        UseTree::Rename(leaf) => names.push(name(&leaf.rename)),
        UseTree::Glob(_) => names.push("*".into()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| imported(tree, names)),
    }
}

/// An identifier's text without `r#`.
pub fn name(ident: &syn::Ident) -> String {
    use syn::ext::IdentExt;
    ident.unraw().to_string()
}

fn add_use(module: &mut Module, prefix: &mut UsePath, tree: &UseTree, reach: Reach) {
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
            add_use(module, prefix, &path.tree, reach);
            prefix.segments.pop();
        }
        UseTree::Name(leaf) => {
            let path = with(prefix, &leaf.ident);
            if let Some(bound) = path.segments.last().cloned() {
                module.uses.entry(bound).or_default().push(Use { path, reach });
            }
        }
        UseTree::Rename(leaf) => {
            let path = with(prefix, &leaf.ident);
            module.uses.entry(name(&leaf.rename)).or_default().push(Use { path, reach });
        }
        UseTree::Glob(_) => module.globs.push(Use { path: prefix.clone(), reach }),
        UseTree::Group(group) => group.items.iter().for_each(|tree| add_use(module, prefix, tree, reach)),
    }
}

/// Placeholder for the package's folder in a path.
const PACKAGE: &str = "\0";

/// The path in `include!`: strings, `concat!(…)` and `env!("CARGO_MANIFEST_DIR")`.
fn path_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        Expr::Macro(call) if call.mac.path.is_ident("concat") => {
            let parts = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()?;
            parts.iter().map(path_of).collect()
        }
        Expr::Macro(call) if call.mac.path.is_ident("env") => {
            let variable: syn::LitStr = call.mac.parse_body().ok()?;
            (variable.value() == "CARGO_MANIFEST_DIR").then(|| PACKAGE.to_owned())
        }
        _ => None,
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
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn impl_attributes(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        _ => &[],
    }
}

pub fn mentions(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => mentions(group.stream(), word),
        _ => false,
    })
}

/// Keeps the statements that are compiled, without the `cfg`s that are decided.
fn decide(cfg: &Cfg, statements: &mut Vec<Stmt>) {
    statements.retain_mut(|statement| {
        let attributes = match statement {
            Stmt::Local(local) => &mut local.attrs,
            Stmt::Expr(Expr::Block(block), _) => &mut block.attrs,
            Stmt::Expr(Expr::Return(returned), _) => &mut returned.attrs,
            Stmt::Macro(statement) => &mut statement.attrs,
            _ => return true,
        };
        let keeps = cfg.keeps(attributes);
        if keeps == Some(true) {
            attributes.retain(|attribute| !attribute.path().is_ident("cfg"));
        }
        keeps != Some(false)
    });
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn list(paths: &[String]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" nor ")
}

/// The span of a node of the syntax tree.
pub fn span_of(file: &Arc<SourceFile>, node: &impl Spanned) -> Span {
    Span { file: file.clone(), range: node.span().byte_range() }
}
