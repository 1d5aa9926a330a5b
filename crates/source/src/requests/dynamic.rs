//! Kinds and paths that code specifies as strings: `GroupVersionKind::gvk("apps", "v1", "Deployment")`,
//! `ApiResource { … }`, `http::Request::get("/api/v1/pods")`.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::body::Body;
use super::function::Fact;
use super::raw::{self, Meaning, ResourcePath};
use super::table::{Asks, kind_fields};
use super::types::{Atom, KindNames, Type};
use super::world::DeclKind;

impl Body<'_, '_> {
    /// The kinds with these names: group, kind and optionally the plural. If a name is known only at run time, any
    /// kind.
    pub fn kinds(&self, texts: &[Type]) -> Type {
        let texts: Option<Vec<Vec<Rc<str>>>> = texts.iter().map(|ty| self.all_texts(ty)).collect();
        let Some([groups, kinds, plurals @ ..]) = texts.as_deref() else { return Type::set([Atom::AnyKind]) };
        // With several groups and several kinds, their combinations are not known.
        if [groups, kinds].into_iter().chain(plurals).filter(|texts| texts.len() > 1).count() > 1 {
            return Type::set([Atom::AnyKind]);
        }
        let mut found = BTreeSet::new();
        for group in groups {
            for kind in kinds {
                let names = |plural| Atom::Kind(KindNames { group: group.clone(), kind: kind.clone(), plural });
                match plurals {
                    [plurals, ..] => found.extend(plurals.iter().map(|plural| names(Some(plural.clone())))),
                    [] => _ = found.insert(names(None)),
                }
            }
        }
        Type::set(found)
    }

    /// The same kinds with another plural.
    pub fn with_plural(&self, kinds: &Type, plural: &Type) -> Type {
        let kinds = self.vars.atoms(kinds);
        let Some(plurals) = self.all_texts(plural).filter(|_| !kinds.is_empty()) else {
            return Type::set([Atom::AnyKind]);
        };
        Type::set(kinds.iter().flat_map(|atom| match atom {
            Atom::Kind(names) => {
                let with = |plural: &Rc<str>| Atom::Kind(KindNames { plural: Some(plural.clone()), ..names.clone() });
                plurals.iter().map(with).collect()
            }
            _ => vec![Atom::AnyKind],
        }))
    }

    /// The strings that a value may be; `None` if others are possible.
    fn all_texts(&self, ty: &Type) -> Option<Vec<Rc<str>>> {
        let atoms = self.vars.atoms(ty);
        let text = |atom: &Atom| match atom {
            Atom::Text(text) => Some(text.clone()),
            Atom::Param(name) => Some(KindNames::of_parameter(name)),
            _ => None,
        };
        let texts: Vec<Rc<str>> = atoms.iter().map(text).collect::<Option<_>>()?;
        (!texts.is_empty()).then_some(texts)
    }

    /// Determines the kind of a struct literal of an `ApiResource` or a `GroupVersionKind` from its fields.
    pub fn kind_of_literal(&mut self, ty: &Type, fields: &[(String, Type)]) {
        let Some((names, kind)) = self.kind_parameter(ty) else { return };
        let said = |wanted: &String| fields.iter().find(|(name, _)| name == wanted).map(|(_, ty)| ty.clone());
        let texts: Vec<Type> = names.iter().map(|name| said(name).unwrap_or(Type::Unknown)).collect();
        let kinds = self.kinds(&texts);
        self.vars.unify(&kind, &kinds);
    }

    /// A value from code that opctl does not read may be of any kind.
    pub fn admit_any_kind(&mut self, ty: &Type) {
        if let Some((_, kind)) = self.kind_parameter(ty) {
            return self.vars.unify(&kind, &Type::set([Atom::AnyKind]));
        }
        match self.vars.known(ty) {
            Type::Named(_, types) | Type::Tuple(types) => types.iter().for_each(|ty| self.admit_any_kind(ty)),
            _ => {}
        }
    }

    /// The fields with the names of a kind, and the type parameter for that kind.
    fn kind_parameter(&self, ty: &Type) -> Option<(Vec<String>, Type)> {
        let Type::Named(decl, types) = self.vars.known(ty) else { return None };
        let declaration = self.world.declaration(decl);
        let DeclKind::Data(input) = &declaration.what else { return None };
        let names = kind_fields(&input.attrs)?;
        Some((names, types.get(declaration.generics.len().checked_sub(1)?)?.clone()))
    }

    /// The path segments, or the kind, that an argument adds to the path of a request.
    pub fn said(&self, ty: &Type) -> Type {
        match self.vars.known(ty) {
            Type::Named(decl, types) if decl == self.world.known.url => Type::set([Atom::Of(types[0].clone())]),
            ty => match self.vars.atoms(&ty) {
                atoms if atoms.is_empty() => Type::set([Atom::Pattern(raw::HOLE.into())]),
                atoms => Type::set(atoms),
            },
        }
    }

    /// Reads the path argument of `kube::core::Request::new`, if it is a string.
    pub fn follow_path(&mut self, path: &Type, kind: &Type, reach: &Type) {
        let atoms = self.vars.atoms(path);
        for text in raw::texts(&atoms).unwrap_or_default() {
            let (names, place) = match raw::meaning(text) {
                Meaning::Resource(path) if !path.is_object => {
                    let (group, plural) = (path.group.as_str().into(), Some(path.resource.as_str().into()));
                    (Atom::Kind(KindNames { group, kind: Rc::from(""), plural }), path.atom())
                }
                _ => (Atom::AnyKind, Atom::SomeNamespace),
            };
            self.vars.unify(kind, &Type::set([names]));
            self.vars.unify(reach, &Type::set([place]));
        }
    }

    /// Adds the HTTP requests that the body sends. Requests that kube builds are skipped: they are counted where they are
    /// built.
    pub fn add_sent(&mut self) {
        for (span, by, request) in std::mem::take(&mut self.sent) {
            let parts = match self.vars.known(&request) {
                Type::Named(decl, types) if decl == self.world.known.request => types,
                _ => Rc::from([]),
            };
            let mut found = match &parts[..] {
                [_, method, ..] if matches!(self.vars.known(method), Type::Named(..)) => continue,
                [_, method, uri, header] => self.requested(method, uri, header),
                _ => Vec::new(),
            };
            if found.is_empty() {
                found.push(Asked::about(Vec::new(), Type::set([Atom::AnyKind])));
            }
            self.facts.extend(found.into_iter().filter_map(|asked| {
                let Asked { asks, kind, reach } = asked?;
                let (when, subresource) = (None, None);
                Some(Fact { asks: Rc::new(asks), kind, reach, when, subresource, by: by.clone(), span: span.clone() })
            }));
        }
    }

    /// The permissions for the possible methods and paths of a request; `None` for a path that every user may read.
    fn requested(&self, method: &Type, uri: &Type, header: &Type) -> Vec<Option<Asked>> {
        let [methods, uris, headers] = [method, uri, header].map(|ty| self.vars.atoms(ty));
        let applies = headers.iter().any(|atom| matches!(atom, Atom::Text(text) if text.contains("apply-patch")));
        let unknown = |atom: &Atom| Asked::about(Vec::new(), Type::set([atom.clone()]));
        let methods = match raw::texts(&methods) {
            // The default of `http::Request`.
            Some(methods) if methods.is_empty() => vec!["GET"],
            Some(methods) => methods,
            None => return methods.iter().map(unknown).collect(),
        };
        let asked = methods.iter().flat_map(|method| {
            uris.iter().map(move |uri| match uri {
                Atom::Of(kind) => Asked::about(raw::verbs(None, method, applies), kind.clone()),
                Atom::Text(text) | Atom::Pattern(text) => match raw::meaning(text) {
                    Meaning::Open => None,
                    Meaning::Unknown => unknown(&Atom::AnyKind),
                    Meaning::Resource(path) => Some(Asked::at(&path, raw::verbs(Some(&path), method, applies))),
                },
                atom => unknown(atom),
            })
        });
        asked.collect()
    }
}

/// The permissions for a raw request.
struct Asked {
    asks: Asks,
    kind: Type,
    reach: Type,
}

impl Asked {
    fn about(verbs: Vec<&'static str>, kind: Type) -> Option<Self> {
        Some(Self { asks: Asks { verbs, ..Asks::default() }, kind, reach: Type::Unknown })
    }

    fn at(path: &ResourcePath, verbs: Vec<&'static str>) -> Self {
        let (group, resource) = (Some(path.group.clone()), Some(path.full_resource()));
        let reach = Type::set([path.atom()]);
        Self { asks: Asks { verbs, group, resource, ..Asks::default() }, kind: Type::Unknown, reach }
    }
}
