//! All declarations that code can name: of the project, and of the crates in [`signatures.rs`](TABLE). This module
//! lowers names and types from syntax; it infers nothing.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{
    Block, DeriveInput, GenericParam, Generics, ImplItem, ItemConst, ItemFn, ItemImpl, ItemTrait, ItemType, Macro,
    Path, Signature, Token, TraitItem, Type as Syntax, TypeParamBound, WherePredicate,
};

use super::blocks::{Blocks, Expansion, address, expansion};
use super::expansions::{self, Unclear};
use super::function::Analysis;
use super::table::Rules;
use super::types::{Atom, Decl, Type, Vars};
use crate::resolve::modules::{ModuleId, Modules, TypeDecl, UsePath, mentions, name};
use crate::resolve::names::{Foreign, Namespace, Target, resolve};
use crate::resolve::resources::{Resource, Resources};

const TABLE: &str = include_str!("signatures.rs");

pub struct World<'a> {
    pub modules: &'a Modules,
    /// Determines the resources of types.
    pub resources: RefCell<&'a mut dyn Resources>,
    /// The kinds whose types macros make.
    pub of_macros: Vec<Resource>,
    pub table: ModuleId,
    prelude: ModuleId,
    pub known: Known,
    declarations: RefCell<Vec<Rc<Declaration>>>,
    /// Cache of resolved names, because code repeats them.
    types: RefCell<HashMap<ModuleId, HashMap<UsePath, Option<Named>>>>,
    values: Values,
    by_target: RefCell<HashMap<(Option<ModuleId>, String), Decl>>,
    pub functions: Vec<Rc<Function>>,
    pub free: HashMap<(ModuleId, String), FnId>,
    pub impls: Vec<Impl>,
    pub by_head: HashMap<Decl, Vec<usize>>,
    /// Impls for all types, e.g. `impl<T: Bound> Trait for T`.
    pub blanket: Vec<usize>,
    pub of_traits: HashMap<Decl, Vec<(String, FnId)>>,
    /// Constants of the project.
    pub constants: Vec<(ModuleId, Rc<ItemConst>)>,
    /// Modules of blocks that contain items, by the address of the block.
    blocks: HashMap<usize, ModuleId>,
    added: HashSet<ModuleId>,
    /// Expansions of calls of the project's macros, by the address of the call.
    expansions: HashMap<usize, Expansion>,
    /// Macro calls among items that are not understood.
    pub unclear: Vec<Unclear>,
    /// Names and numbers of arguments of kube's methods that make requests.
    pub requesting: HashSet<(String, usize)>,
    /// Types of constants, inferred from their values.
    pub value_types: RefCell<HashMap<(ModuleId, String), Type>>,
    /// Structs and enums of the project; `true` if it contains a client.
    pub holding: RefCell<HashMap<Decl, bool>>,
    /// Crates that use kube's client, and those that do not.
    pub users: RefCell<Vec<String>>,
    pub strangers: RefCell<HashSet<String>>,
    /// Generic analysis of each function; `None` while it is being computed.
    pub analyses: RefCell<HashMap<FnId, Option<Rc<Analysis>>>>,
    /// Analysis of each function with types in place of its parameters.
    pub instances: RefCell<HashMap<Instance, Rc<Analysis>>>,
}

type Values = RefCell<HashMap<ModuleId, HashMap<UsePath, Option<(ModuleId, String)>>>>;

/// A function, and the types of its parameters.
pub type Instance = (FnId, Vec<Type>);

/// A struct, enum, union or trait, or an item of which only the name is known.
pub struct Declaration {
    pub module: Option<ModuleId>,
    /// The name; for a foreign item, the whole path.
    pub path: Vec<String>,
    pub foreign: Option<Foreign>,
    pub what: DeclKind,
    /// Names of its type parameters, followed by the phantoms of its fields.
    pub generics: Vec<String>,
    pub is_transparent: bool,
    /// A struct, or the variants of an enum; computed on demand.
    pub shapes: RefCell<Option<Rc<Vec<Shape>>>>,
}

/// Declarations that the syntax of the language refers to.
#[derive(Clone, Copy)]
pub struct Known {
    pub future: Decl,
    pub list: Decl,
    pub iterator: Decl,
    pub option: Decl,
    pub result: Decl,
    /// `kube::No` of the table.
    pub no: Decl,
    /// `http::Request`
    pub request: Decl,
    /// `http::Method`
    pub method: Decl,
    /// `kube::core::request::Url`
    pub url: Decl,
}

pub enum DeclKind {
    Data(Rc<DeriveInput>),
    Trait(Rc<ItemTrait>),
    Elsewhere,
}

/// A struct, or a variant of an enum.
pub struct Shape {
    pub variant: Option<String>,
    pub fields: Vec<Field>,
    /// The value that this variant sets for a parameter.
    pub when: Option<(String, String)>,
}

pub struct Field {
    pub name: String,
    pub ty: Syntax,
    /// Its own range in the phantoms of the whole type.
    pub phantoms: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FnId(pub usize);

pub struct Function {
    pub module: ModuleId,
    pub item: FnItem,
    pub owner: Owner,
    pub is_table: bool,
    pub rules: Rules,
    /// Its string arguments may be names of kinds.
    pub names_kinds: bool,
}

pub enum FnItem {
    Free(Rc<ItemFn>),
    Method(Rc<ItemImpl>, usize),
    Provided(Rc<ItemTrait>, usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    None,
    Impl(usize),
    Trait(Decl),
}

pub struct Impl {
    pub module: ModuleId,
    pub item: Rc<ItemImpl>,
    pub of: Option<Decl>,
    /// The type of the impl, with parameters.
    pub pattern: Type,
    pub functions: HashMap<String, FnId>,
}

/// The scope of a type expression.
#[derive(Clone)]
pub struct Env {
    pub module: ModuleId,
    pub names: HashMap<String, Type>,
    pub itself: Option<Type>,
    /// Number of aliases around it.
    pub depth: usize,
}

/// The elided part of a type.
pub enum Elided<'a> {
    Phantom,
    /// `_`, or an omitted argument.
    Argument,
    /// `impl Trait`, if the trait is not a struct of the table.
    ImplTrait(&'a Punctuated<TypeParamBound, Token![+]>),
}

pub type Elide<'e> = dyn FnMut(&mut Vars, Elided<'_>) -> Type + 'e;

/// In the body of a function, all elided parts are inferred.
pub fn inferred(vars: &mut Vars, _: Elided<'_>) -> Type {
    vars.fresh()
}

#[derive(Clone)]
pub enum Named {
    Decl(Decl),
    Alias(ModuleId, Rc<ItemType>),
}

impl Function {
    pub fn signature(&self) -> &Signature {
        signature_of(&self.item)
    }

    pub fn body(&self) -> Option<&Block> {
        match &self.item {
            FnItem::Free(item) => Some(&item.block),
            FnItem::Method(item, index) => match &item.items[*index] {
                ImplItem::Fn(function) => Some(&function.block),
                _ => None,
            },
            FnItem::Provided(item, index) => match &item.items[*index] {
                TraitItem::Fn(function) => function.default.as_ref(),
                _ => None,
            },
        }
    }

    /// Its own generics and those of the impl or trait around it, outer ones first.
    pub fn generics(&self) -> [Option<&Generics>; 2] {
        let outer = match &self.item {
            FnItem::Free(_) => None,
            FnItem::Method(item, _) => Some(&item.generics),
            FnItem::Provided(item, _) => Some(&item.generics),
        };
        [outer, Some(&self.signature().generics)]
    }

    /// Names of all its type parameters; a function of a trait has `Self` as a parameter.
    pub fn parameters(&self) -> Vec<String> {
        let itself = matches!(self.owner, Owner::Trait(_)).then(|| "Self".to_string());
        itself.into_iter().chain(self.generics().into_iter().flatten().flat_map(type_parameters)).collect()
    }

    pub fn has_receiver(&self) -> bool {
        self.signature().receiver().is_some()
    }

    pub fn name(&self) -> String {
        name(&self.signature().ident)
    }

    /// `true` for `#[test]`, `#[tokio::test]`.
    pub fn is_test(&self) -> bool {
        let attributes = match &self.item {
            FnItem::Free(item) => &item.attrs,
            FnItem::Method(..) | FnItem::Provided(..) => return false,
        };
        attributes.iter().any(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "test"))
    }

    /// Bounds of its parameters, and of those around it.
    pub fn bounds(&self) -> Vec<(String, &TypeParamBound)> {
        let mut all = Vec::new();
        for generics in self.generics().into_iter().flatten() {
            for parameter in generics.type_params() {
                all.extend(parameter.bounds.iter().map(|bound| (name(&parameter.ident), bound)));
            }
            for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
                if let WherePredicate::Type(predicate) = predicate
                    && let Syntax::Path(path) = &predicate.bounded_ty
                    && let Some(ident) = path.path.get_ident()
                {
                    all.extend(predicate.bounds.iter().map(|bound| (name(ident), bound)));
                }
            }
        }
        all
    }
}

impl<'a> World<'a> {
    pub fn new(modules: &'a Modules, resources: &'a mut dyn Resources, of_macros: Vec<Resource>) -> Self {
        let own = modules.local();
        let table = modules.open_table("signatures.rs", TABLE);
        let path = |path: &[&str]| UsePath { global: true, segments: path.iter().map(ToString::to_string).collect() };
        let prelude = match resolve(modules, table, &path(&["std", "prelude"]), Namespace::Type) {
            Some(Target::Module(prelude)) => prelude,
            _ => table,
        };
        let mut world = Self {
            modules,
            resources: RefCell::new(resources),
            of_macros,
            table,
            prelude,
            known: Known {
                future: Decl(0),
                list: Decl(0),
                iterator: Decl(0),
                option: Decl(0),
                result: Decl(0),
                no: Decl(0),
                request: Decl(0),
                method: Decl(0),
                url: Decl(0),
            },
            declarations: RefCell::default(),
            types: RefCell::default(),
            values: RefCell::default(),
            by_target: RefCell::default(),
            functions: Vec::new(),
            free: HashMap::new(),
            impls: Vec::new(),
            by_head: HashMap::new(),
            blanket: Vec::new(),
            of_traits: HashMap::new(),
            constants: Vec::new(),
            blocks: HashMap::new(),
            added: HashSet::new(),
            expansions: HashMap::new(),
            unclear: Vec::new(),
            requesting: HashSet::new(),
            value_types: RefCell::default(),
            holding: RefCell::default(),
            users: RefCell::default(),
            strangers: RefCell::default(),
            analyses: RefCell::default(),
            instances: RefCell::default(),
        };
        let known =
            |name: &str| match world.find_segments(prelude, &UsePath { global: false, segments: vec![name.into()] }) {
                Some(Named::Decl(decl)) => decl,
                _ => Decl(0),
            };
        let in_table = |segments: &[&str]| match world.find_segments(table, &path(segments)) {
            Some(Named::Decl(decl)) => decl,
            _ => Decl(0),
        };
        world.known = Known {
            future: known("Future"),
            list: known("Vec"),
            iterator: known("Iterator"),
            option: known("Option"),
            result: known("Result"),
            no: in_table(&["kube", "No"]),
            request: in_table(&["http", "Request"]),
            method: in_table(&["http", "Method"]),
            url: in_table(&["kube", "core", "request", "Url"]),
        };
        for module in modules.whole_crate(table) {
            world.add(module, true);
        }
        for module in own {
            world.add(module, false);
        }
        // Macros may declare modules.
        while let Some(module) = modules.local().into_iter().find(|module| !world.added.contains(module)) {
            world.add(module, false);
        }
        for index in 0..world.impls.len() {
            world.index(index);
        }
        world
    }

    fn add(&mut self, id: ModuleId, is_table: bool) {
        self.added.insert(id);
        if !is_table {
            self.unclear.extend(expansions::expand_items(self.modules, id));
        }
        let module = self.modules.module(id);
        let first = self.functions.len();
        for (name, item) in &module.functions {
            let function = self.function(id, FnItem::Free(item.clone()), Owner::None, is_table);
            self.free.insert((id, name.clone()), function);
        }
        for item in &module.impls {
            let item = &expansions::whole_impl(self.modules, id, item, &mut self.unclear);
            let owner = Owner::Impl(self.impls.len());
            let mut functions = HashMap::new();
            for (index, inner) in item.items.iter().enumerate() {
                if let ImplItem::Fn(inner) = inner {
                    let function = self.function(id, FnItem::Method(item.clone(), index), owner, is_table);
                    functions.insert(name(&inner.sig.ident), function);
                }
            }
            self.impls.push(Impl { module: id, item: item.clone(), of: None, pattern: Type::Unknown, functions });
        }
        for (declared, item) in &module.traits {
            let item = &expansions::whole_trait(self.modules, id, item, &mut self.unclear);
            let Some(decl) = self.declared(id, declared) else { continue };
            let mut functions = Vec::new();
            for (index, inner) in item.items.iter().enumerate() {
                if let TraitItem::Fn(inner) = inner {
                    let item = FnItem::Provided(item.clone(), index);
                    functions.push((name(&inner.sig.ident), self.function(id, item, Owner::Trait(decl), is_table)));
                }
            }
            self.of_traits.insert(decl, functions);
        }
        if is_table {
            return;
        }
        self.constants.extend(module.consts.values().map(|item| (id, item.clone())));
        let mut blocks = Blocks::of(self.modules, id);
        for function in &self.functions[first..] {
            if let Some(body) = function.body() {
                blocks.visit_block(body);
            }
        }
        module.consts.values().for_each(|item| blocks.visit_expr(&item.expr));
        let Blocks { found, around, expansions, .. } = blocks;
        self.expansions.extend(expansions);
        for (address, items) in found {
            let around = around.get(&address).and_then(|around| self.blocks.get(around)).copied();
            let block = self.modules.block(around.unwrap_or(id), items);
            self.blocks.insert(address, block);
            self.add(block, false);
        }
    }

    fn may_name_kinds(&self, module: ModuleId, item: &FnItem) -> bool {
        let names = ["ApiResource", "GroupVersion", "GroupVersionKind"];
        if !self.modules.module(module).file.text.contains("GroupVersion") {
            return false;
        }
        let tokens = match item {
            FnItem::Free(item) => item.to_token_stream(),
            FnItem::Method(item, index) => item.items[*index].to_token_stream(),
            FnItem::Provided(item, index) => item.items[*index].to_token_stream(),
        };
        names.iter().any(|name| mentions(tokens.clone(), name))
    }

    /// `true` if a module of the table belongs to kube.
    fn is_of_kube(&self, module: ModuleId) -> bool {
        let root = self.modules.module(self.table);
        let mut around = std::iter::successors(Some(module), |id| self.modules.module(*id).parent);
        around.any(|id| root.modules.get("kube") == Some(&id))
    }

    fn function(&mut self, module: ModuleId, item: FnItem, owner: Owner, is_table: bool) -> FnId {
        let attributes = match &item {
            FnItem::Method(item, index) if is_table => match &item.items[*index] {
                ImplItem::Fn(function) => &function.attrs[..],
                _ => &[],
            },
            FnItem::Free(item) if is_table => &item.attrs,
            FnItem::Provided(item, index) if is_table => match &item.items[*index] {
                TraitItem::Fn(function) => &function.attrs[..],
                _ => &[],
            },
            FnItem::Free(_) | FnItem::Method(..) | FnItem::Provided(..) => &[],
        };
        let rules = Rules::read(attributes);
        if is_table && !rules.asks.is_empty() && self.is_of_kube(module) {
            let signature = signature_of(&item);
            if signature.receiver().is_some() {
                self.requesting.insert((name(&signature.ident), signature.inputs.len() - 1));
            }
        }
        let names_kinds = !is_table && self.may_name_kinds(module, &item);
        self.functions.push(Rc::new(Function { module, item, owner, is_table, rules, names_kinds }));
        FnId(self.functions.len() - 1)
    }

    /// Determines the trait and the type of an impl.
    fn index(&mut self, index: usize) {
        let (module, item) = (self.impls[index].module, self.impls[index].item.clone());
        let of = item.trait_.as_ref().and_then(|(of, _)| match self.find(module, of)? {
            Named::Decl(decl) => Some(decl),
            Named::Alias(..) => None,
        });
        let names = type_parameters(&item.generics).map(|name| (name.clone(), Type::Param(name.into()))).collect();
        let env = Env { module, names, itself: None, depth: 0 };
        let pattern = self.lower(&mut Vars::default(), &env, &item.self_ty, &mut |_, _| Type::Unknown);
        let transparent = match &*item.self_ty {
            Syntax::Path(path) => self.transparent(module, &path.path),
            _ => None,
        };
        match (&transparent, &pattern) {
            (Some(decl), _) | (None, Type::Named(decl, _)) => self.by_head.entry(*decl).or_default().push(index),
            (None, Type::Param(_)) => self.blanket.push(index),
            _ => {}
        }
        self.impls[index].of = of;
        self.impls[index].pattern = pattern;
    }

    /// The declaration that is `#[transparent]`, if the path names one.
    pub fn transparent(&self, module: ModuleId, path: &Path) -> Option<Decl> {
        match self.find(module, path)? {
            Named::Decl(decl) => self.declaration(decl).is_transparent.then_some(decl),
            Named::Alias(..) => None,
        }
    }

    /// `true` if a parameter is `No`, as a type or as the value of a variant.
    pub fn is_no(&self, ty: &Type) -> bool {
        match ty {
            Type::Named(decl, _) => *decl == self.known.no,
            ty => *ty == Type::set([Atom::Text("No".into())]),
        }
    }

    pub fn declaration(&self, decl: Decl) -> Rc<Declaration> {
        self.declarations.borrow()[decl.0].clone()
    }

    pub fn function_of(&self, id: FnId) -> Rc<Function> {
        self.functions[id.0].clone()
    }

    pub fn impl_of(&self, index: usize) -> &Impl {
        &self.impls[index]
    }

    pub fn block(&self, block: &Block) -> Option<ModuleId> {
        self.blocks.get(&address(block)).copied()
    }

    /// The expansion of a call in a body; `None` if the macro does not belong to the project.
    pub fn expansion(&self, module: ModuleId, call: &Macro) -> Option<Expansion> {
        let known = self.expansions.get(&address(call)).cloned();
        // Calls in the arguments of other macros are parsed on demand.
        known.or_else(|| expansion(self.modules, module, call, &[]))
    }

    /// The type or trait that a path names.
    pub fn find(&self, from: ModuleId, path: &Path) -> Option<Named> {
        self.find_segments(from, &use_path(path))
    }

    pub fn find_segments(&self, from: ModuleId, path: &UsePath) -> Option<Named> {
        if let Some(known) = self.types.borrow().get(&from).and_then(|known| known.get(path)) {
            return known.clone();
        }
        let target = resolve(self.modules, from, path, Namespace::Type).or_else(|| match &path.segments[..] {
            [_] if !path.global => resolve(self.modules, self.prelude, path, Namespace::Type),
            _ => None,
        });
        let found = target.and_then(|target| self.named(target));
        self.types.borrow_mut().entry(from).or_default().insert(path.clone(), found.clone());
        found
    }

    /// The function or constant that a path names.
    pub fn value_item(&self, from: ModuleId, path: &UsePath) -> Option<(ModuleId, String)> {
        if let Some(known) = self.values.borrow().get(&from).and_then(|known| known.get(path)) {
            return known.clone();
        }
        let target = match resolve(self.modules, from, path, Namespace::Value) {
            Some(Target::Foreign(foreign)) => {
                let path = UsePath { global: true, segments: reexported(foreign).path };
                resolve(self.modules, self.table, &path, Namespace::Value)
            }
            target => target,
        };
        let found = match target {
            Some(Target::Item(module, name)) => Some((module, name)),
            _ => None,
        };
        self.values.borrow_mut().entry(from).or_default().insert(path.clone(), found.clone());
        found
    }

    /// The enum of a variant that is imported by `use Phase::Ready;` or `use Phase::*;`.
    pub fn imported_variant(&self, from: ModuleId, variant: &str) -> Option<Decl> {
        let module = self.modules.module(from);
        let named = module.uses.get(variant).into_iter().flatten().map(|used| {
            let segments = used.path.segments[..used.path.segments.len() - 1].to_vec();
            UsePath { segments, ..used.path.clone() }
        });
        let mut enums =
            named.chain(module.globs.iter().map(|glob| glob.path.clone())).filter(|path| !path.segments.is_empty());
        enums.find_map(|path| match self.find_segments(from, &path)? {
            Named::Decl(decl) => {
                let shapes = self.shapes(decl);
                shapes.iter().any(|shape| shape.variant.as_deref() == Some(variant)).then_some(decl)
            }
            Named::Alias(..) => None,
        })
    }

    fn named(&self, target: Target) -> Option<Named> {
        match target {
            Target::Item(module, name) => match self.modules.module(module).types.get(&name) {
                Some(TypeDecl::Alias(alias)) => Some(Named::Alias(module, alias.clone())),
                _ => self.declared(module, &name).map(Named::Decl),
            },
            Target::Foreign(foreign) => {
                let foreign = reexported(foreign);
                let path = UsePath { global: true, segments: foreign.path.clone() };
                if let Some(target @ Target::Item(..)) = resolve(self.modules, self.table, &path, Namespace::Type) {
                    return self.named(target);
                }
                let key = (None, foreign.path.join("::"));
                let known = self.by_target.borrow().get(&key).copied();
                Some(Named::Decl(known.unwrap_or_else(|| {
                    let path = foreign.path.clone();
                    self.declare(key, None, path, Some(foreign), DeclKind::Elsewhere, Vec::new(), false)
                })))
            }
            Target::Module(_) | Target::Hidden(_) => None,
        }
    }

    /// A struct, enum or trait of a module.
    fn declared(&self, module: ModuleId, declared: &str) -> Option<Decl> {
        let key = (Some(module), declared.to_string());
        if let Some(decl) = self.by_target.borrow().get(&key) {
            return Some(*decl);
        }
        let here = self.modules.module(module);
        let path = vec![declared.to_string()];
        Some(match here.types.get(declared) {
            Some(TypeDecl::Data(input)) => {
                let generics = type_parameters(&input.generics).collect();
                let is_transparent = input.attrs.iter().any(|attribute| attribute.path().is_ident("transparent"));
                self.declare(key, Some(module), path, None, DeclKind::Data(input.clone()), generics, is_transparent)
            }
            Some(TypeDecl::Alias(_)) => return None,
            None => {
                let item = here.traits.get(declared)?;
                let generics = type_parameters(&item.generics).collect();
                self.declare(key, Some(module), path, None, DeclKind::Trait(item.clone()), generics, false)
            }
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one struct")]
    fn declare(
        &self,
        key: (Option<ModuleId>, String),
        module: Option<ModuleId>,
        path: Vec<String>,
        foreign: Option<Foreign>,
        what: DeclKind,
        generics: Vec<String>,
        is_transparent: bool,
    ) -> Decl {
        let mut all = self.declarations.borrow_mut();
        let decl = Decl(all.len());
        let shapes = RefCell::default();
        all.push(Rc::new(Declaration { module, path, foreign, what, generics, is_transparent, shapes }));
        self.by_target.borrow_mut().insert(key, decl);
        decl
    }
}

fn signature_of(item: &FnItem) -> &Signature {
    match item {
        FnItem::Free(item) => &item.sig,
        FnItem::Method(item, index) => match &item.items[*index] {
            ImplItem::Fn(function) => &function.sig,
            _ => unreachable!("the item of a method is a function"),
        },
        FnItem::Provided(item, index) => match &item.items[*index] {
            TraitItem::Fn(function) => &function.sig,
            _ => unreachable!("the item of a method is a function"),
        },
    }
}

/// Crates that re-export kube and k8s-openapi do so under their names: `stackable_operator::kube::Api`.
fn reexported(foreign: Foreign) -> Foreign {
    let is_known =
        |segment: &String| matches!(segment.as_str(), "kube" | "kube_client" | "kube_runtime" | "k8s_openapi");
    match foreign.path.iter().skip(1).position(is_known) {
        Some(at) if at + 2 < foreign.path.len() => Foreign { path: foreign.path[at + 1..].to_vec(), via: None },
        _ => foreign,
    }
}

pub fn type_parameters(generics: &Generics) -> impl Iterator<Item = String> {
    generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(name(&parameter.ident)),
        GenericParam::Lifetime(_) | GenericParam::Const(_) => None,
    })
}

pub fn use_path(path: &Path) -> UsePath {
    let segments = path.segments.iter().map(|segment| name(&segment.ident)).collect();
    UsePath { global: path.leading_colon.is_some(), segments }
}
