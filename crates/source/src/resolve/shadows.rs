//! What the crate itself may have put in the place of std's macros, traits and methods.
//!
//! Macros and traits have no place in the module tree that manifests are read from, so they are found in the tokens of all
//! files. A trait counts as in scope wherever its name can be seen.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::modules::{ModuleId, Modules};
use super::names::{Namespace, Target, resolve};
use opctl_model::lexer::{Token, code};

/// Crates whose names opctl knows: a glob of them brings no method or macro of std's names.
const HARMLESS: &[&str] =
    &["std", "core", "alloc", "k8s_openapi", "kube", "kube_core", "schemars", "serde", "serde_json"];

/// A name that a macro makes.
const ANY: &str = "$";

/// The macros, traits and methods that a crate declares.
#[derive(Default)]
struct Declared {
    macros: BTreeSet<String>,
    /// With the methods of each.
    traits: BTreeMap<String, BTreeSet<String>>,
    /// The functions of types themselves.
    methods: BTreeSet<String>,
}

/// The methods of std that values of the source have as well.
pub const OF_ANY: &[&str] = &["clone", "into"];

/// Whether a text may have a function of this name, by a look at its bytes.
fn may_define(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end();
        // Behind `fn`, a comment, or `r#`.
        let line = before.lines().next_back().unwrap_or_default();
        before.ends_with("fn") || before.ends_with("*/") || before.ends_with('#') || line.contains("//")
    })
}

impl Declared {
    fn add(&mut self, text: &str) {
        let has_words = ["macro_rules", "trait", "Into"].iter().any(|word| text.contains(word));
        if !has_words && !OF_ANY.iter().any(|method| may_define(text, method)) {
            return;
        }
        let tokens: Vec<_> = code(text);
        let word = |index: usize| match tokens.get(index) {
            Some((Token::Word, range)) => Some(&text[range.clone()]),
            _ => None,
        };
        let sign = |index: usize| match tokens.get(index) {
            Some((Token::Sign(sign), _)) => Some(*sign),
            _ => None,
        };
        // Behind the head of an item.
        let body = |at: usize| (at..tokens.len()).find(|index| matches!(sign(*index), Some(b'{' | b';')));
        let functions = |open: usize| {
            let mut depth = 0;
            let is_inside = |index: &usize| {
                depth += i32::from(sign(*index) == Some(b'{')) - i32::from(sign(*index) == Some(b'}'));
                depth > 0
            };
            let inside: Vec<usize> = (open..tokens.len()).take_while(is_inside).collect();
            let names = inside.into_iter().filter(|index| word(*index) == Some("fn"));
            names.map(|index| word(index + 1).unwrap_or(ANY).to_string()).collect::<Vec<_>>()
        };
        for at in 0..tokens.len() {
            match word(at) {
                Some("impl") => {
                    let Some(open) = body(at) else { continue };
                    let mut depth = 0;
                    let outside = (at + 1..open).filter(|index| {
                        depth += i32::from(sign(*index) == Some(b'<')) - i32::from(sign(*index) == Some(b'>'));
                        depth == 0
                    });
                    let head: Vec<&str> = outside.filter_map(word).collect();
                    match head.iter().position(|word| *word == "for") {
                        None => self.methods.extend(functions(open)),
                        // `impl Into<Own> for …` goes before std's, which is by `From`.
                        Some(end) if end > 0 && head[end - 1] == "Into" => {
                            _ = self.traits.entry("Into".into()).or_default()
                        }
                        Some(_) => {}
                    }
                }
                Some("macro_rules") if sign(at + 1) == Some(b'!') => {
                    self.macros.insert(word(at + 2).unwrap_or(ANY).into());
                }
                Some("trait") => {
                    let methods = self.traits.entry(word(at + 1).unwrap_or(ANY).into()).or_default();
                    methods.extend(body(at).map(functions).unwrap_or_default());
                }
                _ => {}
            }
        }
    }
}

/// The declarations of the project (`None`) and of the crates that it uses, by their roots; each is read when it is first needed.
pub struct Shadows<'a> {
    modules: &'a Modules,
    crates: HashMap<Option<ModuleId>, Rc<Declared>>,
}

impl<'a> Shadows<'a> {
    pub fn new(modules: &'a Modules) -> Self {
        Self { modules, crates: HashMap::new() }
    }

    fn declared(&mut self, module: ModuleId) -> Rc<Declared> {
        let krate = self.modules.is_foreign(module).then(|| self.modules.root(module));
        if let Some(declared) = self.crates.get(&krate) {
            return declared.clone();
        }
        let mut declared = Declared::default();
        match krate {
            None => self.modules.files().iter().for_each(|file| declared.add(&file.text)),
            Some(_) => {
                let modules = self.modules.whole_crate(module);
                let mut files: Vec<_> = modules.iter().map(|id| self.modules.module(*id).file.clone()).collect();
                files.dedup_by(|one, other| one.path == other.path);
                files.iter().for_each(|file| declared.add(&file.text));
            }
        }
        let declared = Rc::new(declared);
        self.crates.insert(krate, declared.clone());
        declared
    }

    /// Whether the crate declares a trait of this name.
    pub fn is_own_trait(&mut self, name: &str, module: ModuleId) -> bool {
        let declared = self.declared(module);
        declared.traits.contains_key(name) || declared.traits.contains_key(ANY)
    }

    /// Whether a type of the crate has a method of this name, which goes before that of any trait.
    pub fn is_own_method(&mut self, method: &str, module: ModuleId) -> bool {
        self.declared(module).methods.contains(method)
    }

    /// Whether `value.method()` may be a method of a trait of the crate.
    pub fn may_be_of_own_trait(&mut self, method: &str, module: ModuleId) -> bool {
        let (reach, has_foreign_glob) = self.reach(module);
        if has_foreign_glob {
            return true;
        }
        let declared = self.declared(module);
        let mut traits =
            declared.traits.iter().filter(|(_, methods)| methods.contains(method) || methods.contains(ANY));
        traits.any(|(name, _)| {
            reach.iter().any(|id| {
                let module = self.modules.module(*id);
                // A macro may import it.
                name == ANY || !module.macros.is_empty() || module.file.text.contains(name)
            })
        })
    }

    /// Whether `name!` may be a macro of the crate, or one that it imports from elsewhere.
    pub fn is_own_macro(&mut self, name: &str, of: &str, module: ModuleId) -> bool {
        let declared = self.declared(module);
        let (reach, has_foreign_glob) = self.reach(module);
        let is_imported = reach.iter().any(|id| {
            let module = self.modules.module(*id);
            let imports = module.uses.get(name).into_iter().flatten();
            imports.into_iter().any(|used| match resolve(self.modules, *id, &used.path, Namespace::Macro) {
                Some(Target::Foreign(foreign)) => !foreign.path.iter().any(|segment| segment == of),
                _ => !used.path.segments.iter().any(|segment| segment == of),
            })
        });
        has_foreign_glob || is_imported || declared.macros.contains(name) || declared.macros.contains(ANY)
    }

    /// The modules whose names are in scope in a module, through globs; and whether a glob brings names that are not known.
    fn reach(&self, module: ModuleId) -> (Vec<ModuleId>, bool) {
        let (mut reach, mut has_foreign_glob) = (vec![module], false);
        let mut next = 0;
        while let Some(&id) = reach.get(next) {
            next += 1;
            for glob in &self.modules.module(id).globs {
                match resolve(self.modules, id, &glob.path, Namespace::Type) {
                    Some(Target::Module(found)) if !reach.contains(&found) => reach.push(found),
                    Some(Target::Foreign(foreign)) => has_foreign_glob |= !HARMLESS.contains(&foreign.path[0].as_str()),
                    _ => {}
                }
            }
        }
        (reach, has_foreign_glob)
    }
}
