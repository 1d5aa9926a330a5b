//! `cfg` and `cfg_attr`, decided as `cargo run` decides them on Linux with the package's default features.

use std::collections::BTreeSet;

use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, Fields, Lit, Meta, Token};

pub struct Cfg<'a> {
    features: &'a BTreeSet<String>,
}

type Metas = Punctuated<Meta, Token![,]>;

impl<'a> Cfg<'a> {
    pub fn new(features: &'a BTreeSet<String>) -> Self {
        Self { features }
    }

    /// Whether every `#[cfg]` among these attributes holds.
    pub fn keeps(&self, attributes: &[Attribute]) -> bool {
        attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).all(|attribute| {
            // A `cfg` that does not parse is left to rustc.
            attribute.parse_args::<Meta>().map_or(true, |predicate| self.holds(&predicate))
        })
    }

    /// Removes the fields and variants that `cfg` removes, and expands `cfg_attr` everywhere in the type.
    pub fn apply(&self, input: &mut DeriveInput) {
        self.expand(&mut input.attrs);
        match &mut input.data {
            Data::Struct(data) => self.apply_to_fields(&mut data.fields),
            Data::Enum(data) => {
                let variants = std::mem::take(&mut data.variants);
                data.variants = variants.into_iter().filter(|variant| self.keeps(&variant.attrs)).collect();
                for variant in &mut data.variants {
                    self.expand(&mut variant.attrs);
                    self.apply_to_fields(&mut variant.fields);
                }
            }
            Data::Union(_) => {}
        }
    }

    fn apply_to_fields(&self, fields: &mut Fields) {
        let list = match fields {
            Fields::Named(fields) => &mut fields.named,
            Fields::Unnamed(fields) => &mut fields.unnamed,
            Fields::Unit => return,
        };
        *list = std::mem::take(list).into_iter().filter(|field| self.keeps(&field.attrs)).collect();
        list.iter_mut().for_each(|field| self.expand(&mut field.attrs));
    }

    /// Puts what `cfg_attr` holds in its place.
    pub fn expand(&self, attributes: &mut Vec<Attribute>) {
        let mut expanded = Vec::with_capacity(attributes.len());
        for attribute in attributes.drain(..) {
            let Some(metas) = attribute.path().is_ident("cfg_attr").then(|| list_of(&attribute.meta)).flatten() else {
                expanded.push(attribute);
                continue;
            };
            let mut metas = metas.into_iter();
            if metas.next().is_some_and(|predicate| self.holds(&predicate)) {
                let mut inner: Vec<_> = metas.map(|meta| Attribute { meta, ..attribute.clone() }).collect();
                self.expand(&mut inner);
                expanded.extend(inner.into_iter().filter(|attribute| self.keeps(std::slice::from_ref(attribute))));
            }
        }
        *attributes = expanded;
    }

    fn holds(&self, predicate: &Meta) -> bool {
        let name = predicate.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let inner = || list_of(predicate).unwrap_or_default();
        match (name.as_str(), predicate) {
            ("all", Meta::List(_)) => inner().iter().all(|meta| self.holds(meta)),
            ("any", Meta::List(_)) => inner().iter().any(|meta| self.holds(meta)),
            ("not", Meta::List(_)) => !inner().iter().any(|meta| self.holds(meta)),
            ("unix" | "debug_assertions" | "true", Meta::Path(_)) => true,
            (_, Meta::NameValue(pair)) => {
                let Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) = &pair.value else { return false };
                match (name.as_str(), value.value().as_str()) {
                    ("feature", feature) => self.features.contains(feature),
                    ("target_os", "linux") | ("target_family", "unix") | ("target_pointer_width", "64") => true,
                    ("panic", "unwind") => true,
                    _ => false,
                }
            }
            // `test`, `doc`, `windows`, and every name that only a build script or a flag could set.
            _ => false,
        }
    }
}

fn list_of(meta: &Meta) -> Option<Metas> {
    meta.require_list().ok()?.parse_args_with(Metas::parse_terminated).ok()
}
