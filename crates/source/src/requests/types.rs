//! Types, as far as requests depend on them, and variables for unknown ones.
//!
//! References and pointers are transparent, so `&Arc<T>` is `T`. Unification never fails: two types that cannot be
//! equal are left unchanged, because reporting code that does not compile is not opctl's task.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::raw::HOLE;

/// A struct, enum or trait: its index in [`World`](super::world::World).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decl(pub usize);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// Nothing is known about it, and nothing follows from it.
    Unknown,
    /// A variable for a type that is not known yet.
    Var(usize),
    /// A type parameter of the current function.
    Param(Rc<str>),
    Named(Decl, Rc<[Type]>),
    Tuple(Rc<[Type]>),
    /// A callable: its arguments and its result.
    Fn(Rc<[Type]>, Rc<Type>),
    /// One of these strings, namespaces or kinds.
    Set(Rc<BTreeSet<Atom>>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    Text(Rc<str>),
    /// A string with `{}` for the parts that are known only at run time.
    Pattern(Rc<str>),
    /// The whole cluster.
    Cluster,
    Namespace(Rc<str>),
    SomeNamespace,
    /// The value of a parameter of the current function.
    Param(Rc<str>),
    /// The kind with these names.
    Kind(KindNames),
    /// The kind of a type.
    Of(Type),
    /// A kind that is known only at run time.
    AnyKind,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindNames {
    pub group: Rc<str>,
    /// Empty if only the plural is known.
    pub kind: Rc<str>,
    pub plural: Option<Rc<str>>,
}

impl KindNames {
    /// The value of a parameter of the current function, as a part of these names.
    pub fn of_parameter(name: &str) -> Rc<str> {
        format!("\0{name}").into()
    }

    fn parts(&self) -> impl Iterator<Item = &Rc<str>> {
        [&self.group, &self.kind].into_iter().chain(&self.plural)
    }

    /// `true` if no part depends on a parameter.
    pub fn is_ground(&self) -> bool {
        self.parts().all(|part| !part.starts_with('\0'))
    }

    /// These names with the values of parameters.
    fn with(&self, vars: &mut Vars, of: &impl Fn(&str) -> Option<Type>) -> Atom {
        let part = |part: &Rc<str>| match part.strip_prefix('\0') {
            Some(name) => match &vars.atoms(&of(name)?).into_iter().collect::<Vec<_>>()[..] {
                [Atom::Text(text)] => Some(text.clone()),
                [Atom::Param(name)] => Some(Self::of_parameter(name)),
                _ => None,
            },
            None => Some(part.clone()),
        };
        let (group, kind) = (part(&self.group), part(&self.kind));
        match (group, kind, self.plural.as_ref().map(part)) {
            (Some(group), Some(kind), None) => Atom::Kind(Self { group, kind, plural: None }),
            (Some(group), Some(kind), Some(Some(plural))) => Atom::Kind(Self { group, kind, plural: Some(plural) }),
            _ => Atom::AnyKind,
        }
    }
}

/// The origin of a value of unknown type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    #[default]
    Unknown,
    /// Not from a client of the API server.
    Other,
    /// From a client of the API server.
    Client,
    /// From a crate that uses kube, with this index in [`World`](super::world::World).
    Crate(usize),
}

/// Name of an implicit parameter that represents a set: see `= _` in `signatures.rs`.
pub const PHANTOM: &str = "~_";

impl Type {
    pub fn set(atoms: impl IntoIterator<Item = Atom>) -> Self {
        Self::Set(Rc::new(atoms.into_iter().collect()))
    }

    pub fn unit() -> Self {
        Self::Tuple(Rc::from([]))
    }

    /// `true` if no part depends on a parameter.
    pub fn is_ground(&self) -> bool {
        match self {
            Self::Unknown | Self::Var(_) => true,
            Self::Param(_) => false,
            Self::Named(_, inner) | Self::Tuple(inner) => inner.iter().all(Self::is_ground),
            Self::Fn(arguments, result) => arguments.iter().all(Self::is_ground) && result.is_ground(),
            Self::Set(atoms) => atoms.iter().all(|atom| match atom {
                Atom::Param(_) => false,
                Atom::Of(ty) => ty.is_ground(),
                Atom::Kind(names) => names.is_ground(),
                _ => true,
            }),
        }
    }

    /// `true` if no part depends on an explicit parameter.
    pub fn is_written(&self) -> bool {
        match self {
            Self::Param(name) => name.starts_with('~'),
            Self::Named(_, inner) | Self::Tuple(inner) => inner.iter().all(Self::is_written),
            Self::Fn(arguments, result) => arguments.iter().all(Self::is_written) && result.is_written(),
            Self::Set(atoms) => atoms.iter().all(|atom| match atom {
                Atom::Of(ty) => ty.is_written(),
                _ => true,
            }),
            Self::Unknown | Self::Var(_) => true,
        }
    }

    /// This type with its parameters replaced.
    pub fn with(&self, vars: &mut Vars, of: &impl Fn(&str) -> Option<Type>) -> Self {
        let mut list = |types: &[Self]| types.iter().map(|ty| ty.with(vars, of)).collect::<Rc<[_]>>();
        match self {
            Self::Param(name) => of(name).unwrap_or(Self::Unknown),
            Self::Named(decl, inner) => Self::Named(*decl, list(inner)),
            Self::Tuple(inner) => Self::Tuple(list(inner)),
            Self::Fn(arguments, result) => {
                let arguments = list(arguments);
                Self::Fn(arguments, Rc::new(result.with(vars, of)))
            }
            Self::Set(atoms) => {
                let var = vars.fresh();
                for atom in atoms.iter() {
                    match atom {
                        Atom::Param(name) => vars.unify(&var, &of(name).unwrap_or(Self::Unknown)),
                        Atom::Kind(names) => {
                            let atom = names.with(vars, of);
                            vars.unify(&var, &Self::set([atom]));
                        }
                        Atom::Of(ty) => {
                            let ty = ty.with(vars, of);
                            vars.unify(&var, &Self::set([Atom::Of(ty)]));
                        }
                        atom => vars.unify(&var, &Self::set([atom.clone()])),
                    }
                }
                var
            }
            Self::Unknown | Self::Var(_) => self.clone(),
        }
    }
}

/// Variables of one function's body.
#[derive(Default)]
pub struct Vars {
    slots: Vec<Slot>,
    /// Associated types of unknown types: the type, the name, and the variable for the associated type.
    pub pending: Vec<(Type, String, Type)>,
    /// Number of nested lookups of associated types.
    pub nested: usize,
}

#[derive(Clone)]
enum Slot {
    Free(Origin),
    Bound(Type),
    /// Each of these is possible, because code may assign any of them.
    Set(BTreeSet<Atom>),
}

/// Maximum depth of a type.
const DEEP: usize = 24;

impl Vars {
    pub fn fresh(&mut self) -> Type {
        self.fresh_from(Origin::Unknown)
    }

    pub fn fresh_from(&mut self, origin: Origin) -> Type {
        self.slots.push(Slot::Free(origin));
        Type::Var(self.slots.len() - 1)
    }

    /// The origin of a value of unknown type.
    pub fn origin(&self, ty: &Type) -> Origin {
        match self.known(ty) {
            Type::Var(var) => match &self.slots[var] {
                Slot::Free(origin) => *origin,
                Slot::Set(_) | Slot::Bound(_) => Origin::Other,
            },
            Type::Unknown => Origin::Unknown,
            _ => Origin::Other,
        }
    }

    pub fn set(&mut self, atom: Atom) -> Type {
        self.slots.push(Slot::Set([atom].into()));
        Type::Var(self.slots.len() - 1)
    }

    /// The type, with its outermost variable resolved.
    pub fn known(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Type::Var(var) = ty
            && let Slot::Bound(bound) = &self.slots[*var]
        {
            ty = bound;
        }
        ty.clone()
    }

    /// The possible values of a variable.
    pub fn atoms(&self, ty: &Type) -> BTreeSet<Atom> {
        match self.known(ty) {
            Type::Var(var) => match &self.slots[var] {
                Slot::Set(atoms) => atoms.clone(),
                Slot::Free(_) | Slot::Bound(_) => BTreeSet::new(),
            },
            Type::Set(atoms) => (*atoms).clone(),
            Type::Param(name) => [Atom::Param(name)].into(),
            _ => BTreeSet::new(),
        }
    }

    /// `true` if nothing is known.
    pub fn is_free(&self, ty: &Type) -> bool {
        match self.known(ty) {
            Type::Var(var) => matches!(self.slots[var], Slot::Free(_)),
            Type::Unknown => true,
            _ => false,
        }
    }

    /// Makes two types equal, if possible.
    pub fn unify(&mut self, left: &Type, right: &Type) {
        let (left, right) = (self.known(left), self.known(right));
        match (left, right) {
            (Type::Unknown, _) | (_, Type::Unknown) => {}
            (Type::Var(left), Type::Var(right)) => self.join(left, right),
            (Type::Var(var), other) | (other, Type::Var(var)) => self.bind(var, other),
            (Type::Named(left, these), Type::Named(right, those)) if left == right => self.unify_all(&these, &those),
            (Type::Tuple(these), Type::Tuple(those)) => self.unify_all(&these, &those),
            (Type::Fn(these, result), Type::Fn(those, other)) => {
                self.unify_all(&these, &those);
                self.unify(&result, &other);
            }
            _ => {}
        }
    }

    fn unify_all(&mut self, these: &[Type], those: &[Type]) {
        for (this, that) in these.iter().zip(those) {
            self.unify(this, that);
        }
    }

    fn join(&mut self, left: usize, right: usize) {
        if left == right {
            return;
        }
        match (self.slots[left].clone(), &mut self.slots[right]) {
            (Slot::Set(atoms), Slot::Set(others)) => others.extend(atoms),
            (Slot::Set(atoms), other) => *other = Slot::Set(atoms),
            (Slot::Free(origin), Slot::Free(other)) => *other = origin.max(*other),
            _ => {}
        }
        self.slots[left] = Slot::Bound(Type::Var(right));
    }

    fn bind(&mut self, var: usize, ty: Type) {
        let is_cyclic = self.occurs(var, &ty, 0);
        match (&mut self.slots[var], &ty) {
            (Slot::Set(atoms), Type::Set(others)) => atoms.extend(others.iter().cloned()),
            (Slot::Set(atoms), Type::Param(name)) => drop(atoms.insert(Atom::Param(name.clone()))),
            // A known string remains one if the type `String` is expected.
            (Slot::Set(_), Type::Named(..)) => {}
            (slot @ Slot::Free(_), Type::Set(atoms)) => *slot = Slot::Set((**atoms).clone()),
            (slot @ Slot::Free(_), Type::Param(name)) if name.starts_with(PHANTOM) => {
                *slot = Slot::Set([Atom::Param(name.clone())].into());
            }
            (slot, _) if !is_cyclic => {
                let before = std::mem::replace(slot, Slot::Bound(ty.clone()));
                if let Slot::Free(origin) = before {
                    self.spread(&ty, origin, 0);
                }
            }
            _ => {}
        }
    }

    /// A string that code modifies: afterwards any string is possible.
    pub fn forget_text(&mut self, ty: &Type) {
        if let Type::Var(var) = self.known(ty)
            && let Slot::Set(atoms) = &mut self.slots[var]
        {
            *atoms = [Atom::Pattern(HOLE.into())].into();
        }
    }

    /// A value of this origin may have been stored in a value of an unknown type.
    pub fn admit(&mut self, ty: &Type, origin: Origin) {
        if let Type::Var(var) = self.known(ty)
            && let Slot::Free(before) = &mut self.slots[var]
        {
            *before = origin.max(*before);
        }
    }

    /// The parts of a value have its origin.
    fn spread(&mut self, ty: &Type, origin: Origin, depth: usize) {
        if origin == Origin::Unknown || depth > DEEP {
            return;
        }
        match self.known(ty) {
            Type::Var(var) => {
                if let Slot::Free(part) = &mut self.slots[var] {
                    *part = origin.max(*part);
                }
            }
            Type::Named(_, types) | Type::Tuple(types) => {
                types.iter().for_each(|ty| self.spread(ty, origin, depth + 1));
            }
            _ => {}
        }
    }

    fn occurs(&self, var: usize, ty: &Type, depth: usize) -> bool {
        let any = |types: &[Type]| types.iter().any(|ty| self.occurs(var, ty, depth + 1));
        depth > DEEP
            || match self.known(ty) {
                Type::Var(other) => other == var,
                Type::Named(_, inner) | Type::Tuple(inner) => any(&inner),
                Type::Fn(arguments, result) => any(&arguments) || self.occurs(var, &result, depth + 1),
                Type::Unknown | Type::Param(_) | Type::Set(_) => false,
            }
    }

    /// The type without variables.
    pub fn export(&self, ty: &Type) -> Type {
        self.export_to(ty, 0)
    }

    fn export_to(&self, ty: &Type, depth: usize) -> Type {
        if depth > DEEP {
            return Type::Unknown;
        }
        let list = |types: &[Type]| types.iter().map(|ty| self.export_to(ty, depth + 1)).collect::<Rc<[_]>>();
        let set = |atoms: &BTreeSet<Atom>| {
            Type::set(atoms.iter().map(|atom| match atom {
                Atom::Of(ty) => Atom::Of(self.export_to(ty, depth + 1)),
                atom => atom.clone(),
            }))
        };
        match self.known(ty) {
            Type::Var(var) => match &self.slots[var] {
                Slot::Set(atoms) => match atoms.iter().next() {
                    Some(Atom::Param(name)) if atoms.len() == 1 => Type::Param(name.clone()),
                    _ => set(atoms),
                },
                Slot::Free(_) | Slot::Bound(_) => Type::Unknown,
            },
            Type::Set(atoms) => set(&atoms),
            Type::Named(decl, inner) => Type::Named(decl, list(&inner)),
            Type::Tuple(inner) => Type::Tuple(list(&inner)),
            Type::Fn(arguments, result) => Type::Fn(list(&arguments), Rc::new(self.export_to(&result, depth + 1))),
            ty => ty,
        }
    }
}
