//! Evaluates `cfg` and `cfg_attr` as `cargo run` does on Linux with the features of the package.
//!
//! A name that only a build script can set is undecided: items that depend on it are refused where they are needed.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, Fields, Ident, Lit, LitBool, Meta, Token};

use opctl_model::lexer::{Lexer, Token};

/// The `cfg` values that a crate is compiled with.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    pub features: BTreeSet<String>,
    /// Features in Cargo.toml, which build scripts do not set.
    pub declared: BTreeSet<String>,
    /// Names, with optional values, that `rustflags` or a known build script pass to the compiler.
    pub set: Vec<(String, String)>,
    /// A build script may set more names.
    pub open: bool,
    /// The profile disables debug assertions.
    pub without_debug_assertions: bool,
}

type Metas = Punctuated<Meta, Token![,]>;

impl Cfg {
    /// `Some(true)` if every `#[cfg]` among these attributes holds, also in `cfg_attr`; `None` if only a build script
    /// decides.
    pub fn keeps(&self, attributes: &[Attribute]) -> Option<bool> {
        all(attributes.iter().map(|attribute| self.admits(&attribute.meta)))
    }

    /// `Some(true)` if an attribute keeps its item. A `cfg` that does not parse is left to rustc.
    fn admits(&self, attribute: &Meta) -> Option<bool> {
        let is_nested = attribute.path().is_ident("cfg_attr");
        let list = (is_nested || attribute.path().is_ident("cfg")).then(|| list_of(attribute)).flatten();
        let mut metas = list.into_iter().flatten();
        let Some(predicate) = metas.next() else { return Some(true) };
        let holds = self.holds(&predicate);
        if is_nested { any([not(holds), all(metas.map(|meta| self.admits(&meta)))].into_iter()) } else { holds }
    }

    /// `true` if a `cfg` removes an inline module around the byte `at` of a file.
    pub fn removes(&self, text: &str, at: usize) -> bool {
        if !text[..at].contains("#[cfg(") {
            return false;
        }
        let mut tokens = Lexer::new(text).code().take_while(|(_, range)| range.start < at).peekable();
        // For each open brace, `true` if it is that of a removed module.
        let mut open = Vec::new();
        let (mut attributes, mut is_removed) = (None::<Range<usize>>, false);
        while let Some((token, range)) = tokens.next() {
            match token {
                Token::Sign(b'#') => {
                    let mut depth = 0;
                    let start = attributes.as_ref().map_or(range.start, |attributes| attributes.start);
                    while let Some((token, inner)) =
                        tokens.next_if(|(token, _)| depth > 0 || *token == Token::Sign(b'['))
                    {
                        match token {
                            Token::Sign(b'[') => depth += 1,
                            Token::Sign(b']') => depth -= 1,
                            _ => {}
                        }
                        attributes = Some(start..inner.end);
                        if depth == 0 {
                            break;
                        }
                    }
                }
                Token::Word if &text[range.clone()] == "mod" => {
                    let attributes = attributes.clone().map_or("", |attributes| &text[attributes]);
                    let attributes = Attribute::parse_outer.parse_str(attributes).unwrap_or_default();
                    is_removed = self.keeps(&attributes) == Some(false);
                }
                Token::Sign(sign @ (b'{' | b'}' | b';')) => {
                    match sign {
                        b'{' => open.push(is_removed),
                        b'}' => _ = open.pop(),
                        _ => {}
                    }
                    (attributes, is_removed) = (None, false);
                }
                _ => {}
            }
        }
        open.contains(&true)
    }

    /// Removes fields and variants by their `cfg`, and expands `cfg_attr` everywhere in the type. Returns `true` if
    /// all of them are decided.
    pub fn apply(&self, input: &mut DeriveInput) -> bool {
        let mut decided = self.expand(&mut input.attrs);
        match &mut input.data {
            Data::Struct(data) => decided &= self.apply_to_fields(&mut data.fields),
            Data::Enum(data) => {
                let variants = std::mem::take(&mut data.variants);
                data.variants =
                    variants.into_iter().filter(|variant| self.stays(&variant.attrs, &mut decided)).collect();
                for variant in &mut data.variants {
                    decided &= self.expand(&mut variant.attrs);
                    decided &= self.apply_to_fields(&mut variant.fields);
                }
            }
            Data::Union(_) => {}
        }
        decided
    }

    fn apply_to_fields(&self, fields: &mut Fields) -> bool {
        let list = match fields {
            Fields::Named(fields) => &mut fields.named,
            Fields::Unnamed(fields) => &mut fields.unnamed,
            Fields::Unit => return true,
        };
        let mut decided = true;
        *list = std::mem::take(list).into_iter().filter(|field| self.stays(&field.attrs, &mut decided)).collect();
        list.iter_mut().fold(decided, |decided, field| self.expand(&mut field.attrs) && decided)
    }

    fn stays(&self, attributes: &[Attribute], decided: &mut bool) -> bool {
        let keeps = self.keeps(attributes);
        *decided &= keeps.is_some();
        keeps != Some(false)
    }

    /// Replaces `cfg_attr` by its attributes; `false` if one is undecided.
    pub fn expand(&self, attributes: &mut Vec<Attribute>) -> bool {
        let mut decided = true;
        let mut expanded = Vec::with_capacity(attributes.len());
        for attribute in attributes.drain(..) {
            let Some(metas) = attribute.path().is_ident("cfg_attr").then(|| list_of(&attribute.meta)).flatten() else {
                expanded.push(attribute);
                continue;
            };
            let mut metas = metas.into_iter();
            let holds = metas.next().map_or(Some(false), |predicate| self.holds(&predicate));
            // The documentation of another build only changes a description, which is decided with the rest.
            decided &= holds.is_some();
            if holds == Some(true) {
                let mut inner: Vec<_> = metas.map(|meta| Attribute { meta, ..attribute.clone() }).collect();
                decided &= self.expand(&mut inner);
                expanded.extend(inner);
            }
        }
        *attributes = expanded;
        decided
    }

    fn holds(&self, predicate: &Meta) -> Option<bool> {
        let name = predicate.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let inner = || list_of(predicate).unwrap_or_default();
        match (name.as_str(), predicate) {
            ("all", Meta::List(_)) => all(inner().iter().map(|meta| self.holds(meta))),
            ("any", Meta::List(_)) => any(inner().iter().map(|meta| self.holds(meta))),
            ("not", Meta::List(_)) => not(all(inner().iter().map(|meta| self.holds(meta)))),
            ("debug_assertions", Meta::Path(_)) => Some(!self.without_debug_assertions),
            ("unix" | "true", Meta::Path(_)) => Some(true),
            // Only a nightly compiler has it.
            ("overflow_checks", Meta::Path(_)) => None,
            (
                "test" | "doc" | "doctest" | "docsrs" | "windows" | "miri" | "proc_macro" | "false" | "clippy"
                | "rustfmt" | "fuzzing" | "loom" | "ub_checks",
                Meta::Path(_),
            ) => Some(false),
            (_, Meta::NameValue(pair)) => {
                let Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) = &pair.value else { return Some(false) };
                let value = value.value();
                match (name.as_str(), value.as_str()) {
                    ("feature", feature) if self.features.contains(feature) => Some(true),
                    ("feature", feature) if self.declared.contains(feature) => Some(self.set.contains(&(name, value))),
                    (
                        "target_os"
                        | "target_family"
                        | "target_pointer_width"
                        | "target_arch"
                        | "target_env"
                        | "target_endian"
                        | "target_vendor"
                        | "target_has_atomic"
                        | "target_feature"
                        | "target_abi"
                        | "panic"
                        | "sanitize",
                        _,
                    ) => Some(LINUX.contains(&(name.as_str(), value.as_str()))),
                    _ if self.set.iter().any(|(set, _)| *set == name) => Some(self.set.contains(&(name, value))),
                    _ => (!self.open).then_some(false),
                }
            }
            (name, Meta::Path(_)) if self.set.contains(&(name.to_owned(), String::new())) => Some(true),
            // Every other name could only be set by a build script or a flag.
            _ => (!self.open).then_some(false),
        }
    }
}

/// `cfg` values of the platform of operators.
const LINUX: &[(&str, &str)] = &[
    ("target_os", "linux"),
    ("target_family", "unix"),
    ("target_pointer_width", "64"),
    ("target_arch", "x86_64"),
    ("target_env", "gnu"),
    ("target_endian", "little"),
    ("target_vendor", "unknown"),
    ("target_abi", ""),
    ("target_feature", "fxsr"),
    ("target_feature", "sse"),
    ("target_feature", "sse2"),
    ("target_has_atomic", "8"),
    ("target_has_atomic", "16"),
    ("target_has_atomic", "32"),
    ("target_has_atomic", "64"),
    ("target_has_atomic", "ptr"),
    ("panic", "unwind"),
];

/// `true` if `[target.TARGET.dependencies]` applies: TARGET is `cfg(…)` or a target triple.
pub fn is_linux(target: &str) -> bool {
    match target.trim().strip_prefix("cfg").map(str::trim_start).and_then(|rest| rest.strip_prefix('(')) {
        Some(predicate) => {
            let predicate = predicate.trim_end().strip_suffix(')').unwrap_or(predicate);
            self::predicate.parse_str(predicate).is_ok_and(|predicate| Cfg::default().holds(&predicate) == Some(true))
        }
        None => target == "x86_64-unknown-linux-gnu",
    }
}

/// `false` if one is false, even if others are undecided.
pub fn all(verdicts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut decided = true;
    for verdict in verdicts {
        match verdict {
            Some(true) => {}
            Some(false) => return Some(false),
            None => decided = false,
        }
    }
    decided.then_some(true)
}

/// `true` if one is true, even if others are undecided.
fn any(verdicts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    not(all(verdicts.map(not)))
}

fn not(verdict: Option<bool>) -> Option<bool> {
    verdict.map(|holds| !holds)
}

fn list_of(meta: &Meta) -> Option<Metas> {
    let listed = |input: ParseStream<'_>| Metas::parse_terminated_with(input, predicate);
    meta.require_list().ok()?.parse_args_with(listed).ok()
}

/// A predicate of `cfg`, or an attribute in `cfg_attr`. syn does not parse `true` and `false` as paths.
fn predicate(input: ParseStream<'_>) -> syn::Result<Meta> {
    if input.peek(LitBool) { Ok(Meta::Path(Ident::parse_any(input)?.into())) } else { input.parse() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_what_stands_in_modules_of_other_builds() {
        let cfg = Cfg { features: ["on".into()].into(), ..Cfg::default() };
        for (text, expected) in [
            ("#[cfg(test)] mod tests { X }", true),
            ("#[cfg(test)]\n#[allow(unused)]\npub(crate) mod tests { fn f() { X } }", true),
            ("#[allow(unused)] // why\n#[cfg(feature = \"off\")] mod a { mod b { X } }", true),
            ("#[cfg(feature = \"on\")] mod a { X }", false),
            ("#[cfg(not(test))] mod a { X }", false),
            ("#[cfg(test)] mod tests { } X", false),
            ("#[cfg(test)] mod tests; X", false),
            ("#[cfg(test)] use a; mod b { X }", false),
            ("#[cfg(test)] fn f() { } mod b { X }", false),
            ("mod a { #[cfg(test)] mod tests { } X }", false),
            ("#[cfg(test)] mod tests { X", true),
            ("// #[cfg(test)] mod tests {\nX", false),
            ("\"#[cfg(test)] mod tests {\"; X", false),
            ("#[cfg(] mod tests { X }", false),
            ("}}} #[cfg(test)] mod tests { X }", true),
        ] {
            assert_eq!(cfg.removes(text, text.find('X').unwrap()), expected, "{text}");
        }
    }
}
