//! The signatures in `crates/source/src/requests/signatures.rs`, from which requests are derived: they have no
//! duplicates, and those of the runtime exist in the runtime.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quote::ToTokens;
use syn::{
    Fields, FnArg, GenericArgument, GenericParam, Generics, ImplItem, Item, PathArguments, ReturnType, Signature,
    TraitItem, Type, TypeParamBound, Visibility, WherePredicate,
};

use crate::requests::kube_sources;

#[test]
fn nothing_is_declared_twice() {
    let mut known = BTreeSet::new();
    let twice: Vec<_> = table("").into_iter().filter(|it| !known.insert(it.key())).collect();
    assert!(known.len() > 500, "this is not the table");
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn the_runtime_has_what_is_declared_of_it() {
    let mut runtime = Declarations::default();
    runtime.add_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/runtime/src"));
    let table = table("opctl_runtime");
    let has = |it: &&Declaration| {
        let is_it = |other: &Declaration| {
            (&other.of, &other.name, &other.signature) == (&it.of, &it.name, &it.signature)
                && other.module.starts_with(&it.module)
        };
        runtime.0.iter().any(is_it)
    };
    let differing: Vec<String> = table
        .iter()
        .filter(|it| !has(it))
        .map(|it| {
            let same_name = runtime.0.iter().filter(|other| (&other.of, &other.name) == (&it.of, &it.name));
            format!("{it:?}, and the runtime has {:?}", same_name.collect::<Vec<_>>())
        })
        .collect();
    assert!(table.len() > 100, "this is not the table");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// The types of kube's functions in the table are simplified, but the number of arguments is the same.
#[test]
fn functions_of_kube_have_as_many_parameters() {
    let mut kube = Declarations::default();
    kube_sources().iter().for_each(|folder| kube.add_folder(folder));
    let mut compared = 0;
    let mut differing = Vec::new();
    for it in table("kube").iter().filter(|it| it.parameters.is_some()) {
        let same_name = kube.0.iter().filter(|other| (&other.of, &other.name) == (&it.of, &it.name));
        let known: Vec<usize> = same_name.filter_map(|other| other.parameters).collect();
        compared += usize::from(!known.is_empty());
        if !known.is_empty() && !known.contains(&it.parameters.unwrap()) {
            differing.push(format!("{it:?}, and in kube it has {known:?} parameters"));
        }
    }
    assert!(compared > 200, "this is not kube: {compared}");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// A module, type, field or function.
#[derive(Debug)]
struct Declaration {
    module: Vec<String>,
    /// The type of a field or method as written; empty for others.
    pattern: String,
    /// The name of this type.
    of: String,
    name: String,
    /// The signature in the notation of the table.
    signature: String,
    /// The number of a function's parameters.
    parameters: Option<usize>,
}

impl Declaration {
    fn key(&self) -> (Vec<String>, String, String) {
        (self.module.clone(), self.pattern.clone(), self.name.clone())
    }
}

/// The declarations of a crate in the table, or of all crates.
fn table(krate: &str) -> Vec<Declaration> {
    let items = syn::parse_file(include_str!("../../crates/source/src/requests/signatures.rs")).unwrap().items;
    let mut all = Declarations::default();
    all.add(&items, &[]);
    if !krate.is_empty() {
        all.0.retain(|it| it.module.first().is_some_and(|module| module == krate));
        all.0.iter_mut().for_each(|it| drop(it.module.remove(0)));
    }
    all.0
}

#[derive(Default)]
struct Declarations(Vec<Declaration>);

impl Declarations {
    /// Adds public items in the files of a folder.
    fn add_folder(&mut self, folder: &Path) {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
            let path = entry.unwrap().into_path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let module = path.strip_prefix(folder).unwrap().with_extension("");
                let module = module.iter().map(|part| part.to_str().unwrap().to_owned());
                let module: Vec<String> = module.filter(|part| part != "mod" && part != "lib").collect();
                self.add(&syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap().items, &module);
            }
        }
    }

    fn push(&mut self, module: &[String], of: Option<&Type>, name: &impl ToString, signature: String) {
        let pattern = of.map(|of| of.to_token_stream().to_string()).unwrap_or_default();
        let of = of.map(|of| Normal::default().ty(of)).unwrap_or_default();
        let of = of.split('<').next().unwrap_or_default().to_owned();
        let (module, name) = (module.to_vec(), name.to_string());
        self.0.push(Declaration { module, pattern, of, name, signature, parameters: None });
    }

    fn push_function(&mut self, module: &[String], of: Option<&Type>, signature: &Signature, normal: Normal) {
        self.push(module, of, &signature.ident, normal.signature(signature));
        self.0.last_mut().unwrap().parameters = Some(signature.inputs.len());
    }

    fn add(&mut self, items: &[Item], module: &[String]) {
        for item in items {
            match item {
                Item::Mod(item) => {
                    self.push(module, None, &item.ident, "mod".into());
                    let inner: Vec<String> = module.iter().cloned().chain([item.ident.to_string()]).collect();
                    self.add(
                        item.content.iter().flat_map(|(_, items)| items).cloned().collect::<Vec<_>>().as_slice(),
                        &inner,
                    );
                }
                Item::Fn(item) if is_public(&item.vis) => {
                    self.push_function(module, None, &item.sig, Normal::default());
                }
                Item::Struct(item) if is_public(&item.vis) => {
                    self.push(module, None, &item.ident, "type".into());
                    let Fields::Named(fields) = &item.fields else { continue };
                    let ident = &item.ident;
                    for field in fields.named.iter().filter(|field| is_public(&field.vis)) {
                        let of: Type = syn::parse_quote!(#ident);
                        let name = field.ident.as_ref().unwrap();
                        self.push(module, Some(&of), name, Normal::default().ty(&field.ty));
                    }
                }
                Item::Enum(item) if is_public(&item.vis) => self.push(module, None, &item.ident, "type".into()),
                Item::Type(item) if is_public(&item.vis) => self.push(module, None, &item.ident, "alias".into()),
                Item::Trait(item) if is_public(&item.vis) => {
                    self.push(module, None, &item.ident, "trait".into());
                    let ident = &item.ident;
                    for inner in &item.items {
                        if let TraitItem::Fn(method) = inner {
                            let of: Type = syn::parse_quote!(#ident);
                            self.push_function(module, Some(&of), &method.sig, Normal::default());
                        }
                    }
                }
                Item::Impl(item) => {
                    let mut normal = Normal::default();
                    normal.add(&item.generics);
                    for inner in &item.items {
                        if let ImplItem::Fn(method) = inner
                            && (is_public(&method.vis) || item.trait_.is_some())
                        {
                            self.push_function(module, Some(&item.self_ty), &method.sig, normal.clone());
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

/// Types in the notation of the table: names without paths, no references and lifetimes, and futures and functions in
/// place of type parameters with such bounds.
#[derive(Clone, Default)]
struct Normal {
    parameters: BTreeMap<String, Vec<TypeParamBound>>,
}

impl Normal {
    fn add(&mut self, generics: &Generics) {
        for parameter in &generics.params {
            if let GenericParam::Type(it) = parameter {
                self.parameters.entry(it.ident.to_string()).or_default().extend(it.bounds.iter().cloned());
            }
        }
        for predicate in generics.where_clause.iter().flat_map(|it| &it.predicates) {
            if let WherePredicate::Type(it) = predicate {
                let name = it.bounded_ty.to_token_stream().to_string();
                self.parameters.entry(name).or_default().extend(it.bounds.iter().cloned());
            }
        }
    }

    fn signature(mut self, signature: &Signature) -> String {
        self.add(&signature.generics);
        let inputs = signature.inputs.iter().map(|input| match input {
            FnArg::Receiver(_) => "self".to_owned(),
            FnArg::Typed(input) => self.ty(&input.ty),
        });
        let output = self.output(&signature.output);
        let output = if signature.asyncness.is_some() { format!("Future<{output}>") } else { output };
        format!("fn({}) -> {output}", inputs.collect::<Vec<_>>().join(", "))
    }

    fn output(&self, output: &ReturnType) -> String {
        match output {
            ReturnType::Default => "()".to_owned(),
            ReturnType::Type(_, ty) => self.ty(ty),
        }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Reference(it) => self.ty(&it.elem),
            Type::Paren(it) => self.ty(&it.elem),
            Type::Slice(it) => format!("Vec<{}>", self.ty(&it.elem)),
            Type::Tuple(it) => format!("({})", self.list(&it.elems)),
            Type::ImplTrait(it) => self.bounds(&it.bounds),
            Type::Path(it) => self.path(&it.path),
            other => other.to_token_stream().to_string(),
        }
    }

    fn list<'a>(&self, types: impl IntoIterator<Item = &'a Type>) -> String {
        types.into_iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ")
    }

    /// The bounds, without traits that are irrelevant for requests.
    fn bounds<'a>(&self, bounds: impl IntoIterator<Item = &'a TypeParamBound>) -> String {
        let bounds = bounds.into_iter().filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) => Some(self.path(&bound.path)),
            _ => None,
        });
        bounds.filter(|bound| !["Clone", "Debug", "Send", "Sync"].contains(&&**bound)).collect::<Vec<_>>().join(" + ")
    }

    fn path(&self, path: &syn::Path) -> String {
        let last = path.segments.last().unwrap();
        let name = last.ident.to_string();
        let function = |inputs: String, output: String| format!("{name}({inputs}) -> {output}");
        let arguments = match &last.arguments {
            PathArguments::None => Vec::new(),
            PathArguments::Parenthesized(it) => {
                return function(self.list(it.inputs.iter().map(|input| &input.ty)), self.output(&it.output));
            }
            PathArguments::AngleBracketed(it) => it
                .args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(ty),
                    GenericArgument::AssocType(it) => Some(&it.ty),
                    _ => None,
                })
                .collect(),
        };
        let mut texts: Vec<String> = arguments.iter().map(|ty| self.ty(ty)).filter(|ty| ty != "Reach").collect();
        match (&*name, &arguments[..]) {
            // An `async fn` of the runtime.
            ("Function", [Type::Tuple(inputs), output]) => {
                return format!("Fn({}) -> Future<{}>", self.list(&inputs.elems), self.ty(output));
            }
            // The `Result` of the runtime.
            ("Result", [_]) => texts.push("Error".to_owned()),
            // The client has its own errors.
            ("Error", []) if path.segments.first().is_some_and(|it| it.ident == "kube") => {
                return "kube::Error".to_owned();
            }
            (parameter, []) => {
                let bound = self.parameters.get(parameter).map(|bounds| self.bounds(bounds)).unwrap_or_default();
                if bound.starts_with("Fn") || bound.starts_with("Future<") {
                    return bound;
                }
            }
            _ => {}
        }
        if texts.is_empty() { name } else { format!("{name}<{}>", texts.join(", ")) }
    }
}
