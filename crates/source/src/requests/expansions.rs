//! Expands macro calls among the items of a module, an `impl` or a trait.

use std::rc::Rc;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{ImplItem, Item, ItemImpl, ItemTrait, Macro, TraitItem, Type};

use crate::resolve::macro_rules::expand;
use crate::resolve::modules::{Call, ModuleId, Modules, UsePath, mentions, span_of};
use opctl_model::diagnostic::Span;

/// The call of a macro with unknown output.
pub struct Unclear {
    pub module: ModuleId,
    pub span: Span,
    pub name: String,
    /// Tokens of the call, and of the rules of the macro.
    pub tokens: TokenStream,
    /// Type of the `impl` around the call.
    pub itself: Option<Type>,
}

/// Maximum number of expansions in one module: a recursive macro exceeds it.
const MANY: usize = 10_000;

/// Adds the expansions of macro calls among a module's items to the module, and returns the calls that are unclear.
pub fn expand_items(modules: &Modules, id: ModuleId) -> Vec<Unclear> {
    let mut unclear = Vec::new();
    let mut index = 0;
    while let Some(call) = modules.module(id).macros.get(index).cloned().filter(|_| index < MANY) {
        index += 1;
        let rules = modules.rules_for(id, &call.path);
        let expansion = match rules.is_empty() {
            true => plain(&call).and_then(|tokens| items(tokens).ok()),
            false => {
                rules.iter().find_map(|(rules, definer)| items(expand(rules, &call.tokens, call.at, definer)?).ok())
            }
        };
        match expansion {
            Some(items) => modules.extend(id, items),
            None => {
                let name = call.path.segments.last().cloned().unwrap_or_default();
                let Call { span, mut tokens, .. } = call;
                tokens.extend(rules.into_iter().map(|(rules, _)| rules));
                unclear.push(Unclear { module: id, span, name, tokens, itself: None });
            }
        }
    }
    unclear
}

fn items(tokens: TokenStream) -> syn::Result<Vec<Item>> {
    let mut items = syn::parse2::<syn::File>(tokens)?.items;
    // `task_local!` accepts statics without a value.
    items.retain(
        |item| !matches!(item, Item::Verbatim(tokens) if mentions(tokens.clone(), "static") && !has_value(tokens)),
    );
    match items.iter().find(|item| matches!(item, Item::Verbatim(_))) {
        Some(unknown) => Err(syn::Error::new_spanned(unknown, "unknown syntax")),
        None => Ok(items),
    }
}

fn has_value(tokens: &TokenStream) -> bool {
    let is_sign = |tree: TokenTree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == '=');
    tokens.clone().into_iter().any(is_sign)
}

/// The items in a call of a macro of another crate, such as `lazy_static!` or `thread_local!`.
fn plain(call: &Call) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = Vec::new();
    for tree in call.tokens.clone() {
        let is_of = |word: &str, tree: &TokenTree| matches!(tree, TokenTree::Ident(ident) if ident == word);
        // `static ref NAME: Type = …;` is treated as a static with this type and value.
        if !(is_of("ref", &tree) && tokens.last().is_some_and(|last| is_of("static", last))) {
            tokens.push(tree);
        }
    }
    // The last item may lack its semicolon.
    let ends = matches!(tokens.last(), Some(TokenTree::Punct(sign)) if sign.as_char() == ';')
        || matches!(tokens.last(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace);
    if !ends && !tokens.is_empty() {
        tokens.push(TokenTree::Punct(proc_macro2::Punct::new(';', proc_macro2::Spacing::Alone)));
    }
    (!call.is_plain).then(|| tokens.into_iter().collect())
}

/// An `impl` with the expansions of macro calls among its items.
pub fn whole_impl(modules: &Modules, id: ModuleId, item: &Rc<ItemImpl>, unclear: &mut Vec<Unclear>) -> Rc<ItemImpl> {
    let call = |inner: &ImplItem| match inner {
        ImplItem::Macro(call) => Some(call.mac.clone()),
        _ => None,
    };
    match expand_members(modules, id, &item.items, call, Some(&item.self_ty), unclear) {
        Some(items) => Rc::new(ItemImpl { items, ..(**item).clone() }),
        None => item.clone(),
    }
}

/// A trait with the expansions of macro calls among its items.
pub fn whole_trait(modules: &Modules, id: ModuleId, item: &Rc<ItemTrait>, unclear: &mut Vec<Unclear>) -> Rc<ItemTrait> {
    let call = |inner: &TraitItem| match inner {
        TraitItem::Macro(call) => Some(call.mac.clone()),
        _ => None,
    };
    match expand_members(modules, id, &item.items, call, None, unclear) {
        Some(items) => Rc::new(ItemTrait { items, ..(**item).clone() }),
        None => item.clone(),
    }
}

/// The items with the expansions of the macro calls among them; `None` if there are no calls.
fn expand_members<T: Parse + Clone>(
    modules: &Modules,
    id: ModuleId,
    items: &[T],
    call: impl Fn(&T) -> Option<Macro>,
    itself: Option<&Type>,
    unclear: &mut Vec<Unclear>,
) -> Option<Vec<T>> {
    items.iter().find_map(&call)?;
    let mut whole = Vec::new();
    let mut open: Vec<T> = items.iter().rev().cloned().collect();
    let mut count = 0;
    while let Some(inner) = open.pop() {
        let Some(call) = call(&inner) else {
            whole.push(inner);
            continue;
        };
        count += 1;
        let rules = modules.rules_for(id, &UsePath::of(&call.path));
        let expansion = rules
            .iter()
            .find_map(|(rules, definer)| members.parse2(expand(rules, &call.tokens, call.path.span(), definer)?).ok());
        match expansion.filter(|_| count < MANY) {
            Some(expansion) => open.extend(expansion.into_iter().rev()),
            None => unclear.push(Unclear {
                module: id,
                span: span_of(&modules.module(id).file, &call.path),
                name: call.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default(),
                tokens: rules.into_iter().map(|(rules, _)| rules).chain([call.tokens]).collect(),
                itself: itself.cloned(),
            }),
        }
    }
    Some(whole)
}

fn members<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(input.parse()?);
    }
    Ok(items)
}
