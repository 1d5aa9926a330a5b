//! Expands calls of `macro_rules!` macros: the rules of a macro and the tokens of a call → the expansion.
//!
//! Hygiene is not implemented: it affects which variable a name refers to, but not the inferred types. Tokens of the
//! definition have the span of the call, and tokens of the call keep theirs, so that every span is in the file of the
//! call.

use std::collections::HashMap;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};

/// Values of the variables of a rule.
type Bindings = HashMap<String, Binding>;

#[derive(Clone)]
enum Binding {
    Tokens(TokenStream),
    /// A variable in a repetition: one binding per round.
    Rounds(Vec<Binding>),
}

/// A part of a matcher.
enum Matcher {
    Token(TokenTree),
    Group(Delimiter, Vec<Matcher>),
    /// `$name:fragment`
    Variable(String, String),
    Repetition(Repetition<Matcher>),
}

/// `$( … ) separator times`
struct Repetition<T> {
    inner: Vec<T>,
    separator: Option<TokenTree>,
    times: Times,
}

#[derive(Clone, Copy, PartialEq)]
enum Times {
    Any,
    Once,
    Optional,
}

/// Maximum number of tokens in the output of a rule; infinite recursion exceeds it.
const LARGE: usize = 100_000;

/// Expands a call by the first rule that matches it; `definer` replaces `$crate`. `None` if no rule matches.
pub fn expand(rules: &TokenStream, call: &TokenStream, at: Span, definer: &TokenStream) -> Option<TokenStream> {
    let trees: Vec<TokenTree> = rules.clone().into_iter().collect();
    let groups: Vec<&Group> = trees
        .iter()
        .filter_map(|tree| match tree {
            TokenTree::Group(group) => Some(group),
            _ => None,
        })
        .collect();
    let tokens: Vec<TokenTree> = call.clone().into_iter().collect();
    groups.chunks_exact(2).find_map(|rule| {
        let matchers = matchers(rule[0].stream())?;
        let mut bindings = Bindings::new();
        let end = matches(&matchers, &tokens, 0, &mut bindings)?;
        let mut made = Transcriber { at, definer, count: 0 };
        (end == tokens.len()).then(|| made.transcribe(rule[1].stream(), &bindings))?
    })
}

fn matchers(tokens: TokenStream) -> Option<Vec<Matcher>> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < trees.len() {
        match (&trees[at], trees.get(at + 1)) {
            (sign, Some(TokenTree::Ident(variable))) if is_dollar(sign) && *variable != "crate" => {
                let Some(TokenTree::Ident(fragment)) = trees.get(at + 3) else { return None };
                found.push(Matcher::Variable(variable.unraw().to_string(), fragment.to_string()));
                at += 4;
            }
            (sign, Some(TokenTree::Group(group))) if is_dollar(sign) => {
                let (separator, times, length) = repeated(&trees[at + 2..])?;
                found.push(Matcher::Repetition(Repetition { inner: matchers(group.stream())?, separator, times }));
                at += 2 + length;
            }
            (TokenTree::Group(group), _) => {
                found.push(Matcher::Group(group.delimiter(), matchers(group.stream())?));
                at += 1;
            }
            (token, _) => {
                found.push(Matcher::Token(token.clone()));
                at += 1;
            }
        }
    }
    Some(found)
}

/// The separator and the operator after `$( … )`, and their number of tokens.
fn repeated(behind: &[TokenTree]) -> Option<(Option<TokenTree>, Times, usize)> {
    let times = |tree: &TokenTree| match tree {
        TokenTree::Punct(sign) => match sign.as_char() {
            '*' => Some(Times::Any),
            '+' => Some(Times::Once),
            '?' => Some(Times::Optional),
            _ => None,
        },
        _ => None,
    };
    let [first, rest @ ..] = behind else { return None };
    match (times(first), rest.first().and_then(times)) {
        // `$( … )+*`: the plus is the separator.
        (Some(Times::Once), Some(second)) if second != Times::Optional => Some((Some(first.clone()), second, 2)),
        (Some(times), _) => Some((None, times, 1)),
        (None, Some(times)) => Some((Some(first.clone()), times, 2)),
        (None, None) => None,
    }
}

fn is_dollar(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(sign) if sign.as_char() == '$')
}

/// Matches tokens from index `at` on; returns the index of the rest.
fn matches(matchers: &[Matcher], tokens: &[TokenTree], at: usize, bindings: &mut Bindings) -> Option<usize> {
    let mut at = at;
    for (index, matcher) in matchers.iter().enumerate() {
        at = match matcher {
            Matcher::Token(token) => (text(token) == text(tokens.get(at)?)).then_some(at + 1)?,
            Matcher::Group(delimiter, inner) => {
                let Some(TokenTree::Group(group)) = tokens.get(at) else { return None };
                let within: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_it = group.delimiter() == *delimiter;
                (is_it && matches(inner, &within, 0, bindings)? == within.len()).then_some(at + 1)?
            }
            Matcher::Variable(variable, fragment) => {
                let (found, end) = parse(fragment, tokens, at)?;
                bindings.insert(variable.clone(), Binding::Tokens(found));
                end
            }
            Matcher::Repetition(repetition) => rounds(repetition, &matchers[index + 1..], tokens, at, bindings)?,
        };
    }
    Some(at)
}

/// Matches as many rounds of a repetition as possible.
fn rounds(
    repetition: &Repetition<Matcher>,
    behind: &[Matcher],
    tokens: &[TokenTree],
    at: usize,
    bindings: &mut Bindings,
) -> Option<usize> {
    let mut names = Vec::new();
    variables(&repetition.inner, &mut names);
    let mut found: HashMap<String, Vec<Binding>> = names.into_iter().map(|name| (name, Vec::new())).collect();
    let (mut at, mut count) = (at, 0);
    loop {
        let start = match &repetition.separator {
            Some(separator) if count > 0 => match tokens.get(at) {
                Some(token) if text(token) == text(separator) => at + 1,
                _ => break,
            },
            _ => at,
        };
        // A token that follows the repetition ends it, if no round can begin with it.
        let ends = start == at
            && matches!((behind.first(), tokens.get(at)), (Some(Matcher::Token(next)), Some(token))
                if text(next) == text(token))
            && !matches!(repetition.inner.first(), Some(Matcher::Token(first)) if tokens.get(at).is_some_and(|token| text(first) == text(token)));
        let mut round = Bindings::new();
        let Some(end) = (!ends).then(|| matches(&repetition.inner, tokens, start, &mut round)).flatten() else { break };
        if end == start {
            break;
        }
        for (name, binding) in round {
            found.entry(name).or_default().push(binding);
        }
        (at, count) = (end, count + 1);
        if repetition.times == Times::Optional {
            break;
        }
    }
    bindings.extend(found.into_iter().map(|(name, rounds)| (name, Binding::Rounds(rounds))));
    (count > 0 || repetition.times != Times::Once).then_some(at)
}

fn variables(matchers: &[Matcher], names: &mut Vec<String>) {
    for matcher in matchers {
        match matcher {
            Matcher::Variable(name, _) => names.push(name.clone()),
            Matcher::Group(_, inner) | Matcher::Repetition(Repetition { inner, .. }) => variables(inner, names),
            Matcher::Token(_) => {}
        }
    }
}

/// The text of a token; for a group, only its delimiter: `matches` compares the contents.
fn text(tree: &TokenTree) -> String {
    match tree {
        TokenTree::Group(group) => format!("{:?}", group.delimiter()),
        TokenTree::Ident(ident) => ident.unraw().to_string(),
        tree => tree.to_string(),
    }
}

/// Parses a fragment at a token; returns the index of the rest.
fn parse(fragment: &str, tokens: &[TokenTree], at: usize) -> Option<(TokenStream, usize)> {
    let one = |is_it: bool| is_it.then(|| Some((tokens.get(at)?.clone().into(), at + 1)))?;
    match fragment {
        "tt" => one(true),
        "ident" => one(matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word != "_")),
        "lifetime" => parsed::<syn::Lifetime>(tokens, at, syn::Lifetime::parse),
        "literal" => parsed(tokens, at, |input| {
            let minus: Option<syn::Token![-]> = input.parse()?;
            let literal: syn::Lit = input.parse()?;
            Ok(quote::quote!(#minus #literal))
        }),
        "vis" => parsed(tokens, at, syn::Visibility::parse),
        "ty" => parsed(tokens, at, syn::Type::parse),
        "path" => parsed(tokens, at, |input| match input.parse()? {
            syn::Type::Path(path) => Ok(path),
            _ => Err(input.error("no path")),
        }),
        "pat" => parsed(tokens, at, syn::Pat::parse_multi_with_leading_vert),
        "pat_param" => parsed(tokens, at, syn::Pat::parse_single),
        "block" => parsed(tokens, at, syn::Block::parse),
        "item" => parsed(tokens, at, syn::Item::parse),
        "meta" => parsed(tokens, at, syn::Meta::parse),
        "stmt" => parsed(tokens, at, |input| match input.fork().parse::<syn::Stmt>() {
            Ok(syn::Stmt::Item(_)) => input.parse::<syn::Stmt>(),
            // The semicolon is not a part of the statement.
            _ if input.peek(syn::Token![let]) => Err(input.error("handled below")),
            _ => Ok(syn::Stmt::Expr(input.parse()?, None)),
        })
        .or_else(|| {
            let end = tokens[at..].iter().position(|tree| text(tree) == ";").map_or(tokens.len(), |end| at + end);
            (end > at).then(|| (tokens[at..end].iter().cloned().collect(), end))
        }),
        _ if fragment.starts_with("expr") => {
            let (found, end) = parsed(tokens, at, syn::Expr::parse)?;
            // A group preserves the precedence of the expression.
            let is_one = end - at == 1;
            let grouped = |tokens| TokenTree::Group(Group::new(Delimiter::None, tokens)).into();
            Some((if is_one { found } else { grouped(found) }, end))
        }
        _ => None,
    }
}

fn parsed<T: ToTokens>(
    tokens: &[TokenTree],
    at: usize,
    parse: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> Option<(TokenStream, usize)> {
    let rest: TokenStream = tokens[at..].iter().cloned().collect();
    let read = |input: ParseStream<'_>| {
        let found = parse(input)?.to_token_stream();
        let rest: TokenStream = input.parse()?;
        Ok((found, rest.into_iter().count()))
    };
    let (found, left) = read.parse2(rest).ok()?;
    Some((found, tokens.len() - left))
}

struct Transcriber<'a> {
    at: Span,
    definer: &'a TokenStream,
    count: usize,
}

impl Transcriber<'_> {
    /// `None` if the body is invalid, or the output exceeds `LARGE`.
    fn transcribe(&mut self, body: TokenStream, bindings: &Bindings) -> Option<TokenStream> {
        let trees: Vec<TokenTree> = body.into_iter().collect();
        let mut made = TokenStream::new();
        let mut at = 0;
        while at < trees.len() {
            self.count += 1;
            if self.count > LARGE {
                return None;
            }
            match (&trees[at], trees.get(at + 1)) {
                (sign, Some(TokenTree::Ident(word))) if is_dollar(sign) => {
                    match bindings.get(&word.unraw().to_string()) {
                        Some(Binding::Tokens(tokens)) => made.extend(tokens.clone()),
                        Some(Binding::Rounds(_)) => return None,
                        None if word == "crate" => made.extend(self.definer.clone()),
                        // A variable of a macro that this one defines.
                        None => made.extend([trees[at].clone(), self.placed(&trees[at + 1])]),
                    }
                    at += 2;
                }
                (sign, Some(TokenTree::Group(group))) if is_dollar(sign) => {
                    let (separator, _, length) = repeated(&trees[at + 2..])?;
                    match self.repeat(group, separator.as_ref(), bindings)? {
                        Some(tokens) => made.extend(tokens),
                        None => made.extend(trees[at..at + 2 + length].iter().cloned()),
                    }
                    at += 2 + length;
                }
                (TokenTree::Group(group), _) => {
                    let mut inner = Group::new(group.delimiter(), self.transcribe(group.stream(), bindings)?);
                    inner.set_span(self.at);
                    made.extend([TokenTree::Group(inner)]);
                    at += 1;
                }
                (token, _) => {
                    made.extend([self.placed(token)]);
                    at += 1;
                }
            }
        }
        Some(made)
    }

    /// Transcribes a repetition once for each matched round of its variables. `Some(None)` if no variable is bound,
    /// so that the repetition belongs to a nested `macro_rules!`.
    fn repeat(
        &mut self,
        group: &Group,
        separator: Option<&TokenTree>,
        bindings: &Bindings,
    ) -> Option<Option<TokenStream>> {
        let mut used = Vec::new();
        mentioned(group.stream(), &mut used);
        let repeated: Vec<(&String, &Vec<Binding>)> = used
            .iter()
            .filter_map(|name| match bindings.get(name)? {
                Binding::Rounds(rounds) => Some((name, rounds)),
                Binding::Tokens(_) => None,
            })
            .collect();
        let Some(count) = repeated.iter().map(|(_, rounds)| rounds.len()).min() else { return Some(None) };
        let mut made = TokenStream::new();
        for round in 0..count {
            if round > 0 {
                made.extend(separator.map(|separator| self.placed(separator)));
            }
            let mut inner = bindings.clone();
            inner.extend(repeated.iter().map(|(name, rounds)| ((*name).clone(), rounds[round].clone())));
            made.extend(self.transcribe(group.stream(), &inner)?);
        }
        Some(Some(made))
    }

    fn placed(&self, token: &TokenTree) -> TokenTree {
        let mut token = token.clone();
        token.set_span(self.at);
        token
    }
}

/// Collects the variables among tokens, at any depth.
fn mentioned(tokens: TokenStream, names: &mut Vec<String>) {
    let mut is_variable = false;
    for tree in tokens {
        match &tree {
            TokenTree::Ident(word) if is_variable => names.push(word.unraw().to_string()),
            TokenTree::Group(group) => mentioned(group.stream(), names),
            _ => {}
        }
        is_variable = is_dollar(&tree);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_becomes_what_rustc_makes_of_it() {
        let cases = [
            ("($x:expr) => { $x . get () }", "a . b", "a . b . get ()"),
            ("() => { 1 }; ($x:ident $(, $rest:ident)* $(,)?) => { $x $(+ $rest)* }", "a, b, c,", "a + b + c"),
            (
                "($($key:literal => $value:expr),* $(,)?) => { [$(($key, $value)),*] }",
                "\"a\" => 1, \"b\" => 2,",
                "[(\"a\" , 1) , (\"b\" , 2)]",
            ),
            (
                "($v:vis fn $name:ident -> $t:ty $body:block) => { $v fn $name () -> $t $body }",
                "pub fn f -> Vec<u8> { x }",
                "pub fn f () -> Vec < u8 > { x }",
            ),
            ("($($k:ident : [$($v:tt)*]);+) => { $( $k ( $($v),* ) )+ }", "a: [1 2]; b: []", "a (1 , 2) b ()"),
            ("(@step $n:expr) => { $n }; ($n:expr) => { step!(@step $n) }", "7", "step ! (@ step 7)"),
            ("($p:pat => $e:expr) => { match x { $p => $e } }", "Some(1 | 2) => y", "match x { Some (1 | 2) => y }"),
            (
                "($p:path, $l:lifetime, $s:stmt) => { $p $l $s }",
                "a::<B>::c, 'x, let y = 1",
                "a ::< B >:: c 'x let y = 1",
            ),
            ("($(#[$m:meta])* $i:item) => { $i }", "#[a = \"b\"] struct X;", "struct X ;"),
            ("($x:expr) => { $crate::m!($x) }", "1", "crate :: m ! (1)"),
            (
                "($t:ty) => { macro_rules! inner { ($y:expr) => { $y as $t } } }",
                "u8",
                "macro_rules ! inner { ($ y : expr) => { $ y as u8 } }",
            ),
            ("($($a:ident)+ end) => { $($a)+ }", "a b end", "a b"),
        ];
        for (rules, call, expected) in cases {
            let made =
                expand(&rules.parse().unwrap(), &call.parse().unwrap(), Span::call_site(), &"crate".parse().unwrap());
            // A group without delimiters is not visible.
            let squeeze = |text: String| text.split_whitespace().collect::<String>();
            let expected: TokenStream = expected.parse().unwrap();
            assert_eq!(
                made.map(|made| squeeze(made.to_string())),
                Some(squeeze(expected.to_string())),
                "{rules} of {call}"
            );
        }
    }

    #[test]
    fn what_no_rule_matches_is_nothing() {
        for (rules, call) in [("(a) => { b }", "c"), ("($x:ident) => { $x }", "1"), ("($x:expr, $y:expr) => {}", "1")] {
            assert!(
                expand(&rules.parse().unwrap(), &call.parse().unwrap(), Span::call_site(), &TokenStream::new())
                    .is_none()
            );
        }
    }
}
