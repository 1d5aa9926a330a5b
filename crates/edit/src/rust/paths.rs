//! The paths in Rust text, including macros: each segment with its position, and the module that contains the path.
//!
//! Only tokens are read, so nothing is missed that a parser would skip.

use std::ops::Range;

use opctl_model::lexer::{self, Token};

/// A path such as `crate::api::v1::Thing`; a `use` tree has one for each leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathAt<'a> {
    pub segments: Vec<(&'a str, Range<usize>)>,
    /// The inline modules of the file around it.
    pub inside: Vec<&'a str>,
    /// The name under which a `use` imports it; `*` for all names in it.
    pub import: Option<&'a str>,
}

impl PathAt<'_> {
    /// The path from the root of the crate, if it starts with `crate`, `self` or `super`. `module` is that of the file.
    pub fn absolute(&self, module: &[String]) -> Option<Vec<String>> {
        let names = self.segments.iter().map(|(name, _)| *name);
        let mut from = match self.segments.first()?.0 {
            "crate" => Vec::new(),
            "self" | "super" => {
                module.iter().cloned().chain(self.inside.iter().map(|name| (*name).to_owned())).collect()
            }
            _ => return None,
        };
        for name in names.skip_while(|name| *name == "crate" || *name == "self") {
            match name {
                "super" => _ = from.pop()?,
                name => from.push(name.to_owned()),
            }
        }
        Some(from)
    }
}

/// All paths of a text, in source order, including those of a single segment.
pub fn paths(text: &str) -> Vec<PathAt<'_>> {
    let tokens = lexer::code(text);
    let mut reader = Reader { text, tokens: &tokens, found: Vec::new(), inside: Vec::new() };
    reader.read();
    reader.found
}

struct Reader<'a, 't> {
    text: &'a str,
    tokens: &'t [(Token, Range<usize>)],
    found: Vec<PathAt<'a>>,
    /// Inline modules, each with its depth of braces.
    inside: Vec<(&'a str, usize)>,
}

impl<'a> Reader<'a, '_> {
    fn read(&mut self) {
        let (mut at, mut depth) = (0, 0_usize);
        while let Some((token, _)) = self.tokens.get(at) {
            match token {
                Token::Sign(b'{') => depth += 1,
                Token::Sign(b'}') => {
                    depth = depth.saturating_sub(1);
                    self.inside.retain(|(_, inner)| *inner <= depth);
                }
                Token::Word => match self.word(at) {
                    "mod" if self.is_sign(at + 2, b'{') => {
                        self.inside.push((self.word(at + 1), depth + 1));
                        at += 2;
                        continue;
                    }
                    // `use<…>` captures parameters of a type.
                    "use" if !self.is_sign(at + 1, b'<') => {
                        at = self.tree(at + 1, &[]);
                        continue;
                    }
                    word if word.starts_with(|c: char| c.is_ascii_digit()) => {}
                    _ => {
                        at = self.path(at);
                        continue;
                    }
                },
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads a path and returns the next token. Names after a dot are fields or methods.
    fn path(&mut self, start: usize) -> usize {
        let mut at = start;
        let mut segments = vec![(self.word(at), self.range(at))];
        while self.is_separator(at + 1) && self.is_word(at + 3) {
            at += 3;
            segments.push((self.word(at), self.range(at)));
        }
        let before = start.checked_sub(1);
        let follows = before.is_some_and(|before| {
            self.is_sign(before, b'.') && !before.checked_sub(1).is_some_and(|dot| self.is_sign(dot, b'.'))
                || self.is_sign(before, b':') && before.checked_sub(1).is_some_and(|first| self.is_separator(first))
        });
        if !follows {
            self.add(segments, None);
        }
        at + 1
    }

    /// Reads a `use` tree after `prefix` and returns the next token.
    fn tree(&mut self, start: usize, prefix: &[(&'a str, Range<usize>)]) -> usize {
        let mut at = start;
        let mut segments = prefix.to_vec();
        if self.is_separator(at) {
            at += 2;
        }
        loop {
            if self.is_sign(at, b'{') {
                at += 1;
                while at < self.tokens.len() && !self.is_sign(at, b'}') {
                    let next = self.tree(at, &segments);
                    at = next.max(at + 1);
                    if self.is_sign(at, b',') {
                        at += 1;
                    }
                }
                return at + 1;
            }
            if self.is_sign(at, b'*') {
                self.add(segments, Some("*"));
                return at + 1;
            }
            if !self.is_word(at) {
                return at;
            }
            segments.push((self.word(at), self.range(at)));
            at += 1;
            if self.is_separator(at) {
                at += 2;
                continue;
            }
            let mut name = segments.last().map_or("", |(name, _)| *name);
            if name == "self" && segments.len() > 1 {
                segments.pop();
                name = segments.last().map_or("", |(name, _)| *name);
            }
            if self.is_word(at) && self.word(at) == "as" {
                name = self.word(at + 1);
                at += 2;
            }
            self.add(segments, Some(name));
            return at;
        }
    }

    fn add(&mut self, segments: Vec<(&'a str, Range<usize>)>, import: Option<&'a str>) {
        let inside = self.inside.iter().map(|(name, _)| *name).collect();
        self.found.push(PathAt { segments, inside, import });
    }

    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |(_, range)| &self.text[range.clone()])
    }

    fn range(&self, at: usize) -> Range<usize> {
        self.tokens[at].1.clone()
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|(token, _)| *token == Token::Word)
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|(token, _)| *token == Token::Sign(sign))
    }

    /// `::`
    fn is_separator(&self, at: usize) -> bool {
        self.is_sign(at, b':') && self.is_sign(at + 1, b':') && self.tokens[at].1.end == self.tokens[at + 1].1.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let of = |path: PathAt| {
            let names: Vec<&str> = path.segments.iter().map(|(name, _)| *name).collect();
            let import = path.import.map(|name| format!(" as {name}")).unwrap_or_default();
            format!(
                "{}{}{import}",
                path.inside.iter().map(|name| format!("{name}/")).collect::<String>(),
                names.join("::")
            )
        };
        paths(text).into_iter().map(of).collect()
    }

    #[test]
    fn paths_are_read_from_code_use_trees_and_macros() {
        let text = "use crate::{a::{self, B as C}, d::*};\nmod tests {\n use super::*;\n fn f() -> impl Fn() + use<> { json!({x: b::C::<T>::new(), 1.y}) }\n}\nfn g() {}\n";
        let all = names(text);
        assert_eq!(all[..3], ["crate::a as a", "crate::a::B as C", "crate::d as *"]);
        assert!(all.contains(&"tests/super as *".to_owned()), "{all:?}");
        assert!(all.contains(&"tests/b::C".to_owned()), "{all:?}");
        assert!(all.contains(&"g".to_owned()) && !all.contains(&"y".to_owned()), "{all:?}");
    }

    #[test]
    fn absolute_paths_start_at_the_crate() {
        let module = ["api".to_owned(), "v1".to_owned(), "thing".to_owned()];
        let absolute =
            |text: &str| paths(text).last().and_then(|path| path.absolute(&module)).map(|path| path.join("::"));
        assert_eq!(absolute("use super::common::Size;").as_deref(), Some("api::v1::common::Size"));
        assert_eq!(absolute("crate::api::v1").as_deref(), Some("api::v1"));
        assert_eq!(absolute("mod tests { use super::super::common; }").as_deref(), Some("api::v1::common"));
        assert_eq!(absolute("serde::Serialize"), None);
    }
}
