//! The attributes in `signatures.rs`: which requests a call makes, and what it says of namespaces and kinds.

use std::rc::Rc;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, ExprPath, Ident, Lit, Token};

/// What the verbs of the API server are.
const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch", "approve"];

/// What stands before a function of the table.
#[derive(Default)]
pub struct Rules {
    pub asks: Vec<Rc<Asks>>,
    pub reach: Option<Reach>,
    /// The names of the arguments that say group and kind.
    pub kind: Option<(String, String)>,
    /// The parameters that are a collection and what goes into it.
    pub collects: Option<(String, String)>,
}

/// `#[asks(…)]`
#[derive(Debug, Default)]
pub struct Asks {
    pub verbs: Vec<&'static str>,
    /// The parameters that tell the kind and the namespaces; for these `some` and `cluster` as well.
    pub of: Option<String>,
    pub reach: Option<String>,
    pub subresource: Option<Subresource>,
    pub group: Option<String>,
    pub resource: Option<String>,
    pub optional: bool,
    /// Only if this parameter is `Yes`, or may be; with a type that belongs to it, if that is.
    pub when: Option<(String, Option<String>)>,
}

#[derive(Clone, Debug)]
pub enum Subresource {
    Named(String),
    /// The argument that names it.
    Argument(String),
}

pub enum Reach {
    Cluster,
    Some,
    /// Only runs tell: some namespace, or the whole cluster.
    Any,
    /// The argument that names it.
    Argument(String),
}

impl Rules {
    pub fn read(attributes: &[Attribute]) -> Self {
        let mut rules = Self::default();
        for attribute in attributes {
            let names = || {
                let names = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated);
                names.into_iter().flatten().map(|name| name.to_string()).collect::<Vec<_>>()
            };
            if attribute.path().is_ident("asks") {
                rules.asks.extend(Asks::read(attribute).map(Rc::new));
            } else if attribute.path().is_ident("reach") {
                rules.reach = names().pop().map(|name| match name.as_str() {
                    "cluster" => Reach::Cluster,
                    "some" => Reach::Some,
                    "any" => Reach::Any,
                    _ => Reach::Argument(name),
                });
            } else if attribute.path().is_ident("kind") {
                rules.kind = <[String; 2]>::try_from(names()).ok().map(Into::into);
            } else if attribute.path().is_ident("collects") {
                rules.collects = <[String; 2]>::try_from(names()).ok().map(Into::into);
            }
        }
        rules
    }
}

impl Asks {
    fn read(attribute: &Attribute) -> Option<Self> {
        let mut asks = Self::default();
        for argument in attribute.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()? {
            match &argument {
                Expr::Lit(ExprLit { lit: Lit::Str(verb), .. }) => {
                    asks.verbs.push(VERBS.iter().find(|known| **known == verb.value())?);
                }
                Expr::Path(_) if text(&argument).as_deref() == Some("optional") => asks.optional = true,
                Expr::Assign(assign) => {
                    let value = text(&assign.right);
                    match text(&assign.left)?.as_str() {
                        "of" => asks.of = value,
                        "reach" => asks.reach = value,
                        "subresource" => {
                            let named = matches!(*assign.right, Expr::Lit(_));
                            let of = if named { Subresource::Named } else { Subresource::Argument };
                            asks.subresource = value.map(of);
                        }
                        "when" => asks.when = parameter(&assign.right),
                        "group" => asks.group = value,
                        "resource" => asks.resource = value,
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        Some(asks)
    }
}

/// What `#[when(Parameter = Yes)]` before a variant says of a parameter of its enum.
pub fn when(attributes: &[Attribute]) -> Option<(String, String)> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("when"))?;
    let Expr::Assign(assign) = attribute.parse_args().ok()? else { return None };
    Some((text(&assign.left)?, text(&assign.right)?))
}

/// `Parameter` or `Parameter::Belonging`.
fn parameter(expr: &Expr) -> Option<(String, Option<String>)> {
    let Expr::Path(ExprPath { path, .. }) = expr else { return None };
    let mut segments = path.segments.iter().map(|segment| segment.ident.to_string());
    Some((segments.next()?, segments.next()))
}

/// A name or a text.
fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(ExprPath { path, .. }) => path.get_ident().map(ToString::to_string),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
