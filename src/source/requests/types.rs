//! Types, as far as requests depend on them, and what is not known of them yet.
//!
//! References and pointers are seen through, so `&Arc<T>` is `T`. Nothing here is ever an error: two types that cannot
//! be equal are left as they are, for code that does not compile is not opctl's to judge.

use std::collections::BTreeSet;
use std::rc::Rc;

/// A struct, enum or trait: its number in [`World`](super::world::World).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decl(pub usize);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// Nothing is known of it, and nothing follows from it.
    Unknown,
    /// Not known yet.
    Var(usize),
    /// A type parameter of the function at hand.
    Param(Rc<str>),
    Named(Decl, Rc<[Type]>),
    Tuple(Rc<[Type]>),
    /// What can be called: its arguments and its result.
    Fn(Rc<[Type]>, Rc<Type>),
    /// One of these texts, or in one of these places.
    Set(Rc<BTreeSet<Atom>>),
    /// A kind that is named by texts: group and kind.
    Kind(Rc<str>, Rc<str>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    Text(Rc<str>),
    /// The whole cluster.
    Cluster,
    Namespace(Rc<str>),
    SomeNamespace,
    /// What a parameter of the function at hand stands for.
    Param(Rc<str>),
}

impl Type {
    pub fn set(atoms: impl IntoIterator<Item = Atom>) -> Self {
        Self::Set(Rc::new(atoms.into_iter().collect()))
    }

    pub fn unit() -> Self {
        Self::Tuple(Rc::from([]))
    }

    /// Whether it says nothing of a parameter.
    pub fn is_ground(&self) -> bool {
        match self {
            Self::Unknown | Self::Var(_) | Self::Kind(..) => true,
            Self::Param(_) => false,
            Self::Named(_, inner) | Self::Tuple(inner) => inner.iter().all(Self::is_ground),
            Self::Fn(arguments, result) => arguments.iter().all(Self::is_ground) && result.is_ground(),
            Self::Set(atoms) => !atoms.iter().any(|atom| matches!(atom, Atom::Param(_))),
        }
    }

    /// Whether it says nothing of a parameter that somebody wrote.
    pub fn is_written(&self) -> bool {
        match self {
            Self::Param(name) => name.starts_with('~'),
            Self::Named(_, inner) | Self::Tuple(inner) => inner.iter().all(Self::is_written),
            Self::Fn(arguments, result) => arguments.iter().all(Self::is_written) && result.is_written(),
            Self::Unknown | Self::Var(_) | Self::Kind(..) | Self::Set(_) => true,
        }
    }

    /// This type, with others in the place of parameters.
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
                        atom => vars.unify(&var, &Self::set([atom.clone()])),
                    }
                }
                var
            }
            Self::Unknown | Self::Var(_) | Self::Kind(..) => self.clone(),
        }
    }
}

/// The variables of one function's body.
#[derive(Default)]
pub struct Vars {
    slots: Vec<Slot>,
    /// Types that belong to others which are not known yet: the other, the name, and what stands for it.
    pub pending: Vec<(Type, String, Type)>,
    /// So many associated types are being looked up for the sake of one another.
    pub nested: usize,
}

#[derive(Clone)]
enum Slot {
    Free,
    Bound(Type),
    /// It may be each of these, as code joins them.
    Set(BTreeSet<Atom>),
}

/// No type in code that people write is as deep.
const DEEP: usize = 24;

impl Vars {
    pub fn fresh(&mut self) -> Type {
        self.slots.push(Slot::Free);
        Type::Var(self.slots.len() - 1)
    }

    pub fn set(&mut self, atom: Atom) -> Type {
        self.slots.push(Slot::Set([atom].into()));
        Type::Var(self.slots.len() - 1)
    }

    /// As far as it is known, on the outside.
    pub fn known(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Type::Var(var) = ty
            && let Slot::Bound(bound) = &self.slots[*var]
        {
            ty = bound;
        }
        ty.clone()
    }

    /// What a variable may be.
    pub fn atoms(&self, ty: &Type) -> BTreeSet<Atom> {
        match self.known(ty) {
            Type::Var(var) => match &self.slots[var] {
                Slot::Set(atoms) => atoms.clone(),
                Slot::Free | Slot::Bound(_) => BTreeSet::new(),
            },
            Type::Set(atoms) => (*atoms).clone(),
            Type::Param(name) => [Atom::Param(name)].into(),
            _ => BTreeSet::new(),
        }
    }

    /// Whether nothing at all is known.
    pub fn is_free(&self, ty: &Type) -> bool {
        match self.known(ty) {
            Type::Var(var) => matches!(self.slots[var], Slot::Free),
            Type::Unknown => true,
            _ => false,
        }
    }

    /// Makes two types equal, where they can be.
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
        if let Slot::Set(atoms) = self.slots[left].clone() {
            match &mut self.slots[right] {
                Slot::Set(others) => others.extend(atoms),
                other => *other = Slot::Set(atoms),
            }
        }
        self.slots[left] = Slot::Bound(Type::Var(right));
    }

    fn bind(&mut self, var: usize, ty: Type) {
        let is_cyclic = self.occurs(var, &ty, 0);
        match (&mut self.slots[var], &ty) {
            (Slot::Set(atoms), Type::Set(others)) => atoms.extend(others.iter().cloned()),
            (Slot::Set(atoms), Type::Param(name)) => drop(atoms.insert(Atom::Param(name.clone()))),
            (slot @ Slot::Free, Type::Set(atoms)) => *slot = Slot::Set((**atoms).clone()),
            (slot, _) if !is_cyclic => *slot = Slot::Bound(ty),
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
                Type::Unknown | Type::Param(_) | Type::Set(_) | Type::Kind(..) => false,
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
        match self.known(ty) {
            Type::Var(var) => match &self.slots[var] {
                Slot::Set(atoms) => Type::Set(Rc::new(atoms.clone())),
                Slot::Free | Slot::Bound(_) => Type::Unknown,
            },
            Type::Named(decl, inner) => Type::Named(decl, list(&inner)),
            Type::Tuple(inner) => Type::Tuple(list(&inner)),
            Type::Fn(arguments, result) => Type::Fn(list(&arguments), Rc::new(self.export_to(&result, depth + 1))),
            ty => ty,
        }
    }
}
