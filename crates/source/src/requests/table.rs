//! The attributes in `signatures.rs`: the requests of a call, and its effects on namespaces and kinds.

use std::rc::Rc;

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, ExprPath, Ident, Lit, Token};

/// Verbs of the API server.
const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch", "approve"];

/// Attributes of a function in the table.
#[derive(Default)]
pub struct Rules {
    pub asks: Vec<Rc<Asks>>,
    pub reach: Option<Reach>,
    /// Arguments with the group, the kind, and optionally the plural.
    pub kind: Option<Vec<String>>,
    /// The parameter with the same kind as `Kind`, and the argument with its plural.
    pub plural: Option<Vec<String>>,
    /// The parameter with the same kind as `Kind`; `Some(None)` if only the API server knows it.
    pub kind_of: Option<Option<String>>,
    /// Parameters that are strings, each with the literal or the argument.
    pub says: Vec<(String, Subresource)>,
    /// The argument with a path, which determines `K` and `Reach`.
    pub path: Option<String>,
    /// The argument with a request that was built elsewhere.
    pub sends: Option<String>,
    /// The parameters for a collection and its elements.
    pub collects: Option<(String, String)>,
}

/// `#[asks(…)]`
#[derive(Debug, Default)]
pub struct Asks {
    pub verbs: Vec<&'static str>,
    /// The parameters with the kind and the namespaces; the latter may also be `some` and `cluster`.
    pub of: Option<String>,
    pub reach: Option<String>,
    pub subresource: Option<Subresource>,
    pub group: Option<String>,
    pub resource: Option<String>,
    pub optional: bool,
    /// The request is made unless this parameter is `No`; with an associated type, that type decides.
    pub when: Option<(String, Option<String>)>,
}

#[derive(Clone, Debug)]
pub enum Subresource {
    Named(String),
    /// The argument with its name.
    Argument(String),
}

pub enum Reach {
    Cluster,
    Some,
    /// Known only at run time: some namespace, or the whole cluster.
    Any,
    /// The argument with its name.
    Argument(String),
}

impl Rules {
    pub fn read(attributes: &[Attribute]) -> Self {
        let mut rules = Self::default();
        for attribute in attributes {
            let names = || {
                let all = |input: ParseStream<'_>| {
                    Punctuated::<Ident, Token![,]>::parse_terminated_with(input, Ident::parse_any)
                };
                let names = attribute.parse_args_with(all);
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
                rules.kind = Some(names());
            } else if attribute.path().is_ident("plural") {
                rules.plural = Some(names());
            } else if attribute.path().is_ident("kind_of") {
                rules.kind_of = Some(names().pop());
            } else if attribute.path().is_ident("path") {
                rules.path = names().pop();
            } else if attribute.path().is_ident("sends") {
                rules.sends = names().pop();
            } else if attribute.path().is_ident("says") {
                rules.says.extend(says(attribute));
            } else if attribute.path().is_ident("collects") {
                rules.collects = <[String; 2]>::try_from(names()).ok().map(Into::into);
            }
        }
        rules
    }
}

/// `#[says(Parameter = "text")]`, `#[says(Parameter = argument)]`
fn says(attribute: &Attribute) -> Option<(String, Subresource)> {
    let Expr::Assign(assign) = attribute.parse_args().ok()? else { return None };
    let said = match &*assign.right {
        Expr::Lit(_) => Subresource::Named(text(&assign.right)?),
        right => Subresource::Argument(text(right)?),
    };
    Some((text(&assign.left)?, said))
}

/// The fields with group, kind and optionally the plural of the last parameter of a struct: `#[kind(group, kind)]`.
pub fn kind_fields(attributes: &[Attribute]) -> Option<Vec<String>> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("kind"))?;
    let names = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated).ok()?;
    Some(names.into_iter().map(|name| name.to_string()).collect())
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

/// `#[when(Parameter = Yes)]` on a variant: the value that it sets for a parameter of its enum.
pub fn when(attributes: &[Attribute]) -> Option<(String, String)> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("when"))?;
    let Expr::Assign(assign) = attribute.parse_args().ok()? else { return None };
    Some((text(&assign.left)?, text(&assign.right)?))
}

/// `Parameter` or `Parameter::Associated`.
fn parameter(expr: &Expr) -> Option<(String, Option<String>)> {
    let Expr::Path(ExprPath { path, .. }) = expr else { return None };
    let mut segments = path.segments.iter().map(|segment| segment.ident.to_string());
    Some((segments.next()?, segments.next()))
}

/// An identifier or a string.
fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(ExprPath { path, .. }) => path.get_ident().map(ToString::to_string),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
