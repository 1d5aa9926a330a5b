//! The code that prints CRDs, as text that is inserted into copies of an operator's own files.
//!
//! It is inserted right after the type or macro call that declares a kind. There, it can name private items, and
//! `self::*` includes the output of a macro. An `impl` needs no path from the root of the crate to its module, so no
//! other file has to change. The code is on the line where the item ends, so the compiler's messages have the line
//! numbers of the operator's files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use opctl_model::lexer::{Token, behind_group, code};

type Tokens = [(Token, Range<usize>)];

/// The crates that the code uses, by their names in this package.
pub struct Crates {
    /// The path to the crate with `CustomResourceExt`, e.g. `::kube`.
    pub kube: Option<String>,
    pub serde_json: String,
}

/// The types to print after an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// Types that derive `CustomResource`, or expressions whose value is a CRD.
    Known { expressions: Vec<String>, cfgs: String, is_v1beta1: bool },
    /// Names of types that a macro may declare.
    Possible(BTreeSet<String>),
}

/// The types to print, and the position in the text for the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub end: usize,
    pub names: Names,
}

const NO_LINTS: &str = "#[doc(hidden)] #[allow(warnings, clippy::all, clippy::pedantic, clippy::restriction)]";
const STRINGS: &str = "::std::vec::Vec<::std::string::String>";

/// The type whose name begins at `at`, with a `#[kube(…)]` before it. `None` if there is no such type.
pub fn kind(text: &str, at: usize) -> Option<Item> {
    let tokens = code(text);
    let name = tokens.iter().position(|(_, range)| range.start == at)?;
    let word = |at: usize| tokens.get(at).map_or("", |(_, range)| &text[range.clone()]);
    let start = beginning(&tokens, name);
    let attribute = |key: &str| {
        let found =
            (start..name).find(|at| word(*at) == key && word(at + 1) == "=" && word(at + 2).starts_with('"'))?;
        Some(word(found + 2).trim_matches('"').to_owned())
    };
    // The derived type has the name of the kind, unless an argument sets another name.
    let root = attribute("root").or_else(|| attribute("struct")).or_else(|| attribute("kind"))?;
    let mut cfgs = String::new();
    for at in (start..name).filter(|at| word(*at) == "#" && word(at + 2) == "cfg") {
        let end = behind_group(&tokens, at + 1);
        cfgs.push_str(&text[tokens[at].1.start..tokens[end - 1].1.end]);
    }
    let is_v1beta1 = attribute("apiextensions").as_deref() == Some("v1beta1");
    let names = Names::Known { expressions: vec![format!("{root}::crd()")], cfgs, is_v1beta1 };
    Some(Item { end: end(text, &tokens, name)?, names })
}

/// The item with the macro at `at`, which is a call or an attribute.
pub fn macro_use(text: &str, at: usize) -> Option<Item> {
    let tokens = code(text);
    let first = tokens.iter().position(|(_, range)| range.start >= at)?;
    let end = end(text, &tokens, first)?;
    let imported = imported(text, &tokens);
    let word = |at: usize| tokens.get(at).map_or("", |(_, range)| &text[range.clone()]);
    let inside = (first..tokens.len()).take_while(|at| tokens[*at].1.end <= end);
    // Paths and types with parameters already exist, so the macro does not declare them.
    let is_path = |at: usize| word(at) == ":" && word(at + 1) == ":";
    let is_alone = |at: &usize| word(at + 1) != "<" && !is_path(at + 1) && !(*at > 1 && is_path(at - 2));
    let names = inside.filter(is_alone).map(|at| word(at).trim_matches('"'));
    let names = names.filter(|name| is_type_name(name) && !imported.contains(name)).map(String::from).collect();
    Some(Item { end, names: Names::Possible(names) })
}

/// The positions of calls of a `macro_rules!` macro among the items of the file and its inline modules.
pub fn calls_of(text: &str, name: &str) -> Vec<usize> {
    let tokens = code(text);
    let word = |at: usize| tokens.get(at).map_or("", |(_, range)| &text[range.clone()]);
    // For each open bracket, `true` unless it belongs to a module.
    let (mut open, mut calls) = (Vec::new(), Vec::new());
    for (at, (token, range)) in tokens.iter().enumerate() {
        match token {
            Token::Sign(b'(' | b'[' | b'{') => open.push(at < 2 || word(at) != "{" || word(at - 2) != "mod"),
            Token::Sign(b')' | b']' | b'}') => {
                open.pop();
            }
            _ if word(at) == name && word(at + 1) == "!" && word(at + 2) != "=" && !open.contains(&true) => {
                calls.push(range.start);
            }
            _ => {}
        }
    }
    calls
}

/// The name of the `macro_rules!` macro whose definition is at `at`.
pub fn defined_macro(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..)?.strip_prefix("macro_rules")?.trim_start().strip_prefix('!')?.trim_start();
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&rest[..end])
}

/// Prints the CRDs of `Type::crd()` and `Type::merged_crd(…)` calls in a file, after the items with these calls.
pub fn calls_of_crd(text: &str) -> Vec<Item> {
    let tokens = code(text);
    let word = |at: usize| tokens.get(at).map_or("", |(_, range)| &text[range.clone()]);
    let is_path = |at: usize| at >= 3 && word(at - 1) == ":" && word(at - 2) == ":";
    let is_test = |at: usize| ["#[cfg(test", "#[test"].iter().any(|test| text[tokens[at].1.start..].starts_with(test));
    let mut items: Vec<Item> = Vec::new();
    for at in
        (0..tokens.len()).filter(|at| matches!(word(*at), "crd" | "merged_crd") && is_path(*at) && word(at + 1) == "(")
    {
        let mut first = at;
        while is_path(first) && tokens[first - 3].0 == Token::Word {
            first -= 3;
        }
        let behind = behind_group(&tokens, at + 1);
        let path = &text[tokens[first].1.start..tokens[at].1.start];
        let call = &text[tokens[first].1.start..tokens[behind - 1].1.end];
        let Some(item) = around(&tokens, at) else { continue };
        let Some(end) = end(text, &tokens, item) else { continue };
        let names = match (word(at), path.strip_suffix("::").unwrap_or(path)) {
            (_, "" | "Self" | "CustomResourceExt") => continue,
            // The argument is the stored version. It must be a path, because the code cannot name other expressions.
            ("merged_crd", _) if (at + 2..behind - 1).all(|at| is_type_name(word(at)) || word(at) == ":") => {
                known(format!("{call}.expect(\"the versions of a kind fit together\")"))
            }
            ("crd", name) if is_type_name(name) => Names::Possible([name.to_owned()].into()),
            // Tests may use crates that are not dependencies of the other targets.
            ("crd", path) if !path.starts_with("self::") && !path.starts_with("super::") && !is_test(item) => {
                known(format!("{path}::crd()"))
            }
            _ => continue,
        };
        items.push(Item { end, names });
    }
    items.dedup();
    items
}

fn known(expression: String) -> Names {
    Names::Known { expressions: vec![expression], cfgs: String::new(), is_v1beta1: false }
}

/// The code that prints these types as number `place`. Empty if the package has no name for kube.
pub fn print(names: &Names, place: usize, crates: &Crates) -> String {
    let Crates { kube, serde_json } = crates;
    let mut body = String::new();
    let cfgs = match names {
        Names::Known { expressions, cfgs, is_v1beta1 } => {
            if let Some(kube) = kube {
                write!(body, "use {kube}::CustomResourceExt as _;").expect("text");
                if *is_v1beta1 {
                    write!(body, "use {kube}::core::crd::v1beta1::CustomResourceExt as _;").expect("text");
                }
            }
            for expression in expressions {
                write!(body, "crds.push({serde_json}::to_string(&{expression}).expect(\"a CRD is JSON\"));")
                    .expect("text");
            }
            cfgs.as_str()
        }
        Names::Possible(names) => {
            // A name that the module does not have resolves to the struct in the outer block, because names of inner
            // blocks take precedence. Without a name for the trait, only calls show which types implement it.
            let Some(kube) = kube else { return String::new() };
            for name in names {
                write!(body, "struct {name};").expect("text");
            }
            let json = "::core::option::Option<::std::string::String>";
            write!(
                body,
                "struct Probe<T: ?::core::marker::Sized>(::core::marker::PhantomData<T>); \
                 trait Other {{ fn json(&self) -> {json} {{ ::core::option::Option::None }} }} \
                 trait Kind {{ fn json(&self) -> {json}; }} \
                 impl<T: ?::core::marker::Sized> Other for &Probe<T> {{}} \
                 impl<T: {kube}::CustomResourceExt> Kind for Probe<T> {{ fn json(&self) -> {json} {{ \
                 ::core::option::Option::Some({serde_json}::to_string(&T::crd()).expect(\"a CRD is JSON\")) }} }} \
                 {{ use self::*;"
            )
            .expect("text");
            for name in names {
                write!(body, "crds.extend((&Probe::<{name}>(::core::marker::PhantomData)).json());").expect("text");
            }
            body.push('}');
            ""
        }
    };
    format!(
        " {NO_LINTS} {cfgs} const _: () = {{ impl crate::__opctl::Crds for crate::__opctl::Place<{place}> {{ \
         fn crds() -> {STRINGS} {{ let mut crds: {STRINGS} = ::std::vec::Vec::new(); {body} crds }} }} }};"
    )
}

/// A module for the root of a crate. Its `print` prints the CRDs of these places. A crate need not contain all of them:
/// `Place` prints nothing if it does not implement `Crds`.
pub fn module(places: usize) -> String {
    let mut text = format!(
        "\n{NO_LINTS} pub mod __opctl {{ pub struct Place<const N: usize>; pub trait Crds {{ fn crds() -> {STRINGS}; }} \
         struct Probe<T>(::core::marker::PhantomData<T>); \
         trait Other {{ fn crds(&self) -> {STRINGS} {{ ::std::vec::Vec::new() }} }} trait Here {{ fn crds(&self) -> {STRINGS}; }} \
         impl<T> Other for &Probe<T> {{}} impl<T: Crds> Here for Probe<T> {{ fn crds(&self) -> {STRINGS} {{ T::crds() }} }} \
         pub fn print() {{"
    );
    for place in 0..places {
        write!(
            text,
            "\nfor crd in (&Probe::<Place<{place}>>(::core::marker::PhantomData)).crds() \
             {{ ::std::println!(\"{{{{\\\"place\\\":{place},\\\"crd\\\":{{crd}}}}}}\"); }}"
        )
        .expect("text");
    }
    text.push_str("\n} }\n");
    text
}

/// The root file of a binary, with a `main` that only prints CRDs. `None` if the file has no `fn main`.
pub fn printing_main(text: &str) -> Option<String> {
    let tokens = code(text);
    let word = |at: usize| tokens.get(at).map_or("", |(_, range)| &text[range.clone()]);
    let (mut depth, mut bodies) = (0, Vec::new());
    for at in 0..tokens.len() {
        match tokens[at].0 {
            Token::Sign(b'(' | b'[' | b'{') => depth += 1,
            Token::Sign(b')' | b']' | b'}') => depth -= 1,
            _ => {}
        }
        if depth == 0 && word(at) == "fn" && word(at + 1) == "main" {
            bodies.extend((at..tokens.len()).find(|at| word(*at) == "{").map(|at| tokens[at].1.end));
        }
    }
    // There may be several `fn main`, selected by `cfg`. The rest of `main` is kept: without it, much of the crate
    // would be unused, which a lint may forbid.
    let mut printing = text.to_owned();
    for end in bodies.iter().rev() {
        printing.insert_str(*end, " if true { crate::__opctl::print(); ::std::process::exit(0) }");
    }
    (!bodies.is_empty()).then_some(printing)
}

/// The names in `use` items, which macros do not declare.
fn imported<'t>(text: &'t str, tokens: &Tokens) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    let mut is_use = false;
    for (_, range) in tokens {
        match &text[range.clone()] {
            "use" => is_use = true,
            ";" => is_use = false,
            word if is_use => {
                names.insert(word);
            }
            _ => {}
        }
    }
    names
}

fn is_type_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_alphanumeric() || c == '_')
        && word != "Self"
}

/// The end of the item that contains the token `first`, which is not in the item's body.
fn end(text: &str, tokens: &Tokens, first: usize) -> Option<usize> {
    let word = |at: usize| tokens.get(at).map_or("", |(_, range)| &text[range.clone()]);
    let (mut depth, mut is_value) = (0, false);
    for (at, (token, range)) in tokens.iter().enumerate().skip(first) {
        match token {
            // The braces of a value do not end its item. `const fn` and const generics in `<…>` have no value.
            Token::Word if depth == 0 && matches!(word(at), "const" | "static") => {
                let is_parameter = at > first && matches!(word(at - 1), "<" | ",");
                is_value |= !is_parameter && !matches!(word(at + 1), "async" | "extern" | "fn" | "unsafe");
            }
            Token::Sign(b'(' | b'[' | b'{') => depth += 1,
            // The bracket of the attribute that contains `first`.
            Token::Sign(b']') if depth == 0 => {}
            Token::Sign(b')' | b']' | b'}') => {
                depth -= 1;
                if depth == 0 && *token == Token::Sign(b'}') && !is_value {
                    return Some(range.end);
                }
            }
            Token::Sign(b';') if depth == 0 => return Some(range.end),
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    None
}

/// The first token of the item with its name at `name`: the one after the previous item or after the opening brace of
/// the block.
fn beginning(tokens: &Tokens, name: usize) -> usize {
    let mut depth = 0;
    for at in (0..name).rev() {
        match tokens[at].0 {
            Token::Sign(b')' | b']') => depth += 1,
            Token::Sign(b'(' | b'[') => depth -= 1,
            Token::Sign(b'{' | b'}' | b';') if depth == 0 => return at + 1,
            _ => {}
        }
    }
    0
}

/// The first token of the top-level item that contains the token `inner`.
fn around(tokens: &Tokens, inner: usize) -> Option<usize> {
    let (mut depth, mut start) = (0, 0);
    for (at, (token, _)) in tokens.iter().enumerate().take(inner) {
        match token {
            Token::Sign(b'(' | b'[' | b'{') => depth += 1,
            Token::Sign(b')' | b']' | b'}') => {
                depth -= 1;
                if depth == 0 && *token == Token::Sign(b'}') {
                    start = at + 1;
                }
            }
            Token::Sign(b';') if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    (depth > 0).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text before the end of an item, and a description of the types to print there.
    fn shown(text: &str, item: Option<Item>) -> Option<(&str, String)> {
        let Item { end, names } = item?;
        let names = match names {
            Names::Known { expressions, cfgs, is_v1beta1 } => {
                format!("{}{cfgs}{}", expressions.join(", "), if is_v1beta1 { " v1beta1" } else { "" })
            }
            Names::Possible(names) => Vec::from_iter(names).join("|"),
        };
        let line = text[..end].lines().last().unwrap_or_default();
        Some((line, names))
    }

    #[test]
    fn a_kind_is_printed_behind_its_type() {
        let kind_at = |text: &'static str, name: &str| shown(text, kind(text, text.find(name).unwrap()));
        for (text, expected) in [
            (
                "#[kube(kind = \"A\")]\nstruct ASpec { x: [u8; 3] }\nstruct B;",
                ("struct ASpec { x: [u8; 3] }", "A::crd()"),
            ),
            (
                "struct B;\n#[kube(kind = \"A\", struct = \"Other\")]\npub(crate) struct ASpec;",
                ("pub(crate) struct ASpec;", "Other::crd()"),
            ),
            (
                "mod m { #[kube(kind = \"A\")] struct ASpec(u8); }",
                ("mod m { #[kube(kind = \"A\")] struct ASpec(u8);", "A::crd()"),
            ),
            (
                "#[cfg(feature = \"x\")] #[derive(X)] #[kube(kind=\"A\", apiextensions = \"v1beta1\")] enum ASpec { B { c: u8 }, D }",
                (
                    "#[cfg(feature = \"x\")] #[derive(X)] #[kube(kind=\"A\", apiextensions = \"v1beta1\")] enum ASpec { B { c: u8 }, D }",
                    "A::crd()#[cfg(feature = \"x\")] v1beta1",
                ),
            ),
        ] {
            let (line, names) = kind_at(text, "ASpec").unwrap();
            assert_eq!((line, names.as_str()), expected);
        }
        assert_eq!(kind_at("#[kube(kind = \"B\")] struct B; struct ASpec;", "ASpec"), None);
    }

    #[test]
    fn a_macro_may_make_what_its_use_names() {
        for (text, place, expected) in [
            ("use a::Trait;\nkinds!(Trait, One: List<Two>, c::Three, \"Four\", five);", "kinds", "Four|One|Two"),
            ("kinds! { A }\nstruct B;", "kinds", "A"),
            ("#[versioned(name = \"V1\")]\npub mod m { struct A; }\nstruct B;", "#[", "A|V1"),
        ] {
            assert_eq!(shown(text, macro_use(text, text.find(place).unwrap())).unwrap().1, expected, "{text}");
        }
        let text = "macro_rules! kinds { ($x:ident) => { struct $x; } }\nkinds!(A);\nif kinds != 3 {}\nm! { kinds!(C); }\nmod m { kinds!(B); }";
        assert_eq!(defined_macro(text, 0), Some("kinds"));
        assert_eq!(calls_of(text, "kinds"), [text.find("kinds!(A").unwrap(), text.find("kinds!(B").unwrap()]);
    }

    #[test]
    fn calls_of_crd_name_kinds() {
        let text = "fn main() { print(&[Foo::crd(), b::Bar::crd()], One::merged_crd(Version::V1)?); }\n\
            const X: T = T { crd: || crate::Baz::crd() };\nfn generic<K>() { Self::crd(); x.crd(); Two::merged_crd(v); }\n\
            #[cfg(test)] mod tests { fn f() { a::OnlyInTests::crd(); Tested::crd(); } }\n";
        let found: Vec<_> = calls_of_crd(text).into_iter().map(|item| shown(text, Some(item)).unwrap()).collect();
        let names: Vec<&str> = found.iter().map(|(_, names)| names.as_str()).collect();
        let merged = "One::merged_crd(Version::V1).expect(\"the versions of a kind fit together\")";
        assert_eq!(names, ["Foo", "b::Bar::crd()", merged, "crate::Baz::crd()", "Tested"]);
        assert!(found[0].0.ends_with("?); }") && found[3].0.ends_with("};"), "{found:?}");
    }

    #[test]
    fn main_prints_first() {
        let text = "mod m { fn main() {} }\n#[tokio::main]\nasync fn main() -> Result<(), E> { run() }\n";
        let printing = printing_main(text).unwrap();
        assert!(
            printing
                .starts_with("mod m { fn main() {} }\n#[tokio::main]\nasync fn main() -> Result<(), E> { if true {")
        );
        assert!(printing.ends_with(" } run() }\n"));
        let two = printing_main("#[cfg(unix)] fn main() {}\n#[cfg(not(unix))] fn main() {}\n").unwrap();
        assert_eq!(two.matches("__opctl::print").count(), 2);
        assert_eq!(printing_main("pub use lib::main;"), None);
    }

    #[test]
    fn added_code_is_one_line_of_rust() {
        for names in [known("a::B::crd()".into()), Names::Possible(["A".to_owned()].into())] {
            let code = print(&names, 3, &Crates { kube: Some("::kube".into()), serde_json: "::serde_json".into() });
            assert!(!code.contains('\n'), "{code}");
            assert_eq!(code.matches('{').count(), code.matches('}').count(), "{code}");
        }
    }
}
