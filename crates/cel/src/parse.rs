//! The text of a CEL expression → its syntax tree, with the macros expanded (`has`, `all`, `map`, …).
//!
//! Written by hand because the `cel` crate's grammar lacks what Kubernetes has had since 1.29: optionals (`self.?name`,
//! `list[?0]`, `{?'key': value}`) and macros with two variables. The grammar is `CEL.g4` of cel-go, with one function
//! per rule. The expansion follows cel-go as well, since the cost of a rule is that of its expansion.

use std::ops::Range;

use super::lexer::{Token, tokens};
use super::macros::Macros;

/// Maximum recursion depth. cel-go also gives up beyond it.
const MAX_DEPTH: usize = 200;

/// The variable in which a comprehension accumulates its result. Not an identifier, so no rule can use it.
pub const ACCUMULATOR: &str = "@result";

const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

pub fn is_keyword(name: &str) -> bool {
    RESERVED.contains(&name) || ["true", "false", "null", "in"].contains(&name)
}

#[derive(Clone, Debug)]
pub struct Expr {
    /// Unique within a tree, and smaller than [`Tree::nodes`].
    pub id: usize,
    /// Range in bytes. Nodes of a macro's expansion have the range of the call.
    pub range: Range<usize>,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Literal(Literal),
    Ident(String),
    /// `operand.field`; with `test`, `has(operand.field)`.
    Select {
        operand: Box<Expr>,
        field: String,
        test: bool,
    },
    /// Operators are called by cel-go's names: `_+_`, `_?_:_`, `@in`.
    Call {
        function: String,
        target: Option<Box<Expr>>,
        args: Vec<Expr>,
    },
    List(Vec<Element>),
    Map(Vec<(Expr, Element)>),
    /// `name{field: value}`, which has no use in a CRD's rules.
    Message(String),
    Comprehension(Box<Comprehension>),
}

#[derive(Clone, Debug)]
pub struct Element {
    /// Written `?value`: omitted if the optional is empty.
    pub optional: bool,
    pub value: Expr,
}

/// The loop that macros expand to. `optMap` uses it over an empty list to bind a name to a value.
#[derive(Clone, Debug)]
pub struct Comprehension {
    pub range: Expr,
    pub variable: String,
    pub second: Option<String>,
    pub accumulator: String,
    pub init: Expr,
    pub condition: Expr,
    pub step: Expr,
    pub result: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    Null,
}

#[derive(Debug)]
pub struct Tree {
    pub root: Expr,
    pub nodes: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The API server rejects the expression.
    Wrong { range: Range<usize>, message: String },
    /// This crate cannot determine whether the API server rejects it.
    Unknown,
}

impl Problem {
    pub fn at(range: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::Wrong { range, message: message.into() }
    }
}

type Parsed<T> = Result<T, Problem>;

pub fn parse(text: &str) -> Parsed<Tree> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, next: 0, nodes: 0, depth: 0 };
    let root = parser.expression()?;
    if parser.peek() != &Token::End {
        return Err(parser.unexpected("an operator or the end"));
    }
    Ok(Tree { root, nodes: parser.nodes })
}

pub struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    /// Number of nodes created so far.
    pub nodes: usize,
    depth: usize,
}

impl Parser {
    fn expression(&mut self) -> Parsed<Expr> {
        self.deeper()?;
        let condition = self.logical("||", "_||_", |parser| parser.logical("&&", "_&&_", Parser::relation))?;
        let expr = if self.take("?") {
            let then = self.logical("||", "_||_", |parser| parser.logical("&&", "_&&_", Parser::relation))?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            let range = condition.range.start..otherwise.range.end;
            self.call(range, "_?_:_", vec![condition, then, otherwise])
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    /// Parses a chain of `||` or `&&` into a balanced tree.
    fn logical(&mut self, sign: &str, function: &str, operand: fn(&mut Parser) -> Parsed<Expr>) -> Parsed<Expr> {
        let mut terms = vec![operand(self)?];
        while self.take(sign) {
            terms.push(operand(self)?);
        }
        Ok(self.balanced(function, terms))
    }

    fn balanced(&mut self, function: &str, mut terms: Vec<Expr>) -> Expr {
        if terms.len() == 1 {
            return terms.remove(0);
        }
        let right = terms.split_off(terms.len().div_ceil(2));
        let (left, right) = (self.balanced(function, terms), self.balanced(function, right));
        let range = left.range.start..right.range.end;
        self.call(range, function, vec![left, right])
    }

    fn relation(&mut self) -> Parsed<Expr> {
        const SIGNS: [(&str, &str); 7] =
            [("<", "_<_"), ("<=", "_<=_"), (">=", "_>=_"), (">", "_>_"), ("==", "_==_"), ("!=", "_!=_"), ("in", "@in")];
        self.binary(&SIGNS, |parser| {
            parser.binary(&[("+", "_+_"), ("-", "_-_")], |parser| {
                parser.binary(&[("*", "_*_"), ("/", "_/_"), ("%", "_%_")], Parser::unary)
            })
        })
    }

    fn binary(&mut self, signs: &[(&str, &str)], operand: fn(&mut Parser) -> Parsed<Expr>) -> Parsed<Expr> {
        let depth = self.depth;
        let mut left = operand(self)?;
        while let Some((_, function)) = signs.iter().find(|(sign, _)| self.take(sign)) {
            self.deeper()?;
            let right = operand(self)?;
            let range = left.range.start..right.range.end;
            left = self.call(range, function, vec![left, right]);
        }
        self.depth = depth;
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        for (sign, function) in [("!", "!_"), ("-", "-_")] {
            if self.peek() != &Token::Sign(sign) {
                continue;
            }
            let start = self.range().start;
            // `-1` is a literal, `--1` is not.
            if sign == "-" && matches!(self.tokens[self.next + 1].0, Token::Int(_) | Token::Double(_)) {
                break;
            }
            let mut signs = 0;
            while self.take(sign) {
                signs += 1;
            }
            let operand = self.member()?;
            if signs % 2 == 0 {
                return Ok(operand);
            }
            let range = start..operand.range.end;
            return Ok(self.call(range, function, vec![operand]));
        }
        self.member()
    }

    fn member(&mut self) -> Parsed<Expr> {
        let depth = self.depth;
        let mut expr = self.primary()?;
        loop {
            let start = expr.range.start;
            if self.take(".") {
                let optional = self.take("?");
                let name = self.name()?;
                let end = self.previous().end;
                if optional {
                    let field = self.node(end..end, Kind::Literal(Literal::String(name)));
                    expr = self.call(start..end, "_?._", vec![expr, field]);
                } else if self.take("(") {
                    let args = self.arguments(")")?;
                    expr = self.member_call(start..self.previous().end, name, expr, args)?;
                } else {
                    let select = Kind::Select { operand: Box::new(expr), field: name, test: false };
                    expr = self.node(start..end, select);
                    // The two qualified names that a rule may use.
                    if let Some(name @ ("google.protobuf.Duration" | "google.protobuf.Timestamp")) =
                        expr.qualified_name().as_deref()
                    {
                        expr.kind = Kind::Ident(name.to_owned());
                    }
                }
            } else if self.take("[") {
                let function = if self.take("?") { "_[?_]" } else { "_[_]" };
                let index = self.expression()?;
                self.expect("]")?;
                expr = self.call(start..self.previous().end, function, vec![expr, index]);
            } else if self.peek() == &Token::Sign("{")
                && let Some(name) = expr.qualified_name()
            {
                self.next += 1;
                self.message_fields()?;
                expr = self.node(start..self.previous().end, Kind::Message(name));
            } else {
                self.depth = depth;
                return Ok(expr);
            }
            self.deeper()?;
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let range = self.range();
        let global = self.take(".");
        let token = self.peek().clone();
        if global && !matches!(token, Token::Name(_)) {
            return Err(self.unexpected("a name"));
        }
        self.next += 1;
        let kind = match token {
            Token::Name(name) => {
                if RESERVED.contains(&name.as_str()) {
                    return Err(Problem::at(range, format!("`{name}` is a reserved word of CEL")));
                }
                if self.take("(") {
                    let args = self.arguments(")")?;
                    return self.global_call(range.start..self.previous().end, name, args);
                }
                Kind::Ident(name)
            }
            Token::Sign("(") => {
                let expr = self.expression()?;
                self.expect(")")?;
                return Ok(expr);
            }
            Token::Sign("[") => {
                let mut elements = Vec::new();
                self.lone_comma("]");
                while !self.take("]") {
                    let optional = self.take("?");
                    elements.push(Element { optional, value: self.expression()? });
                    self.separator("]")?;
                }
                Kind::List(elements)
            }
            Token::Sign("{") => {
                let mut entries = Vec::new();
                self.lone_comma("}");
                while !self.take("}") {
                    let optional = self.take("?");
                    let key = self.expression()?;
                    self.expect(":")?;
                    entries.push((key, Element { optional, value: self.expression()? }));
                    self.separator("}")?;
                }
                Kind::Map(entries)
            }
            Token::Sign("-") => match self.peek().clone() {
                Token::Int(digits) => {
                    self.next += 1;
                    Kind::Literal(int(&format!("-{digits}"), &range)?)
                }
                Token::Double(digits) => {
                    self.next += 1;
                    Kind::Literal(double(&format!("-{digits}"), &range)?)
                }
                _ => return Err(self.unexpected("a value")),
            },
            Token::Int(digits) => Kind::Literal(int(&digits, &range)?),
            Token::Uint(digits) => Kind::Literal(Literal::Uint(
                radix(&digits, u64::from_str_radix)
                    .ok_or_else(|| Problem::at(range.clone(), "the number does not fit into 64 bits"))?,
            )),
            Token::Double(digits) => Kind::Literal(double(&digits, &range)?),
            Token::String(text) => Kind::Literal(Literal::String(text)),
            Token::Bytes(bytes) => Kind::Literal(Literal::Bytes(bytes)),
            Token::Sign("true") => Kind::Literal(Literal::Bool(true)),
            Token::Sign("false") => Kind::Literal(Literal::Bool(false)),
            Token::Sign("null") => Kind::Literal(Literal::Null),
            _ => {
                self.next -= 1;
                return Err(self.unexpected("a value"));
            }
        };
        Ok(self.node(range.start..self.previous().end, kind))
    }

    fn arguments(&mut self, close: &'static str) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        if self.take(close) {
            return Ok(args);
        }
        loop {
            args.push(self.expression()?);
            if !self.take(",") {
                self.expect(close)?;
                return Ok(args);
            }
        }
    }

    fn message_fields(&mut self) -> Parsed<()> {
        self.lone_comma("}");
        while !self.take("}") {
            self.take("?");
            self.name()?;
            self.expect(":")?;
            self.expression()?;
            self.separator("}")?;
        }
        Ok(())
    }

    /// Accepts `[,]` as `[]`.
    fn lone_comma(&mut self, close: &'static str) {
        if self.tokens.get(self.next + 1).is_some_and(|(token, _)| token == &Token::Sign(close)) {
            self.take(",");
        }
    }

    /// After an item: a comma, which may be trailing, or the end of the list.
    fn separator(&mut self, close: &'static str) -> Parsed<()> {
        if self.take(",") || self.peek() == &Token::Sign(close) { Ok(()) } else { Err(self.unexpected("`,`")) }
    }

    fn name(&mut self) -> Parsed<String> {
        let Token::Name(name) = self.peek() else { return Err(self.unexpected("a name")) };
        let name = name.clone();
        self.next += 1;
        Ok(name)
    }

    fn global_call(&mut self, range: Range<usize>, function: String, mut args: Vec<Expr>) -> Parsed<Expr> {
        if function != "has" || args.len() != 1 {
            return Ok(self.call(range, &function, args));
        }
        let Expr { kind: Kind::Select { operand, field, test: false }, .. } = args.remove(0) else {
            return Err(Problem::at(range, "`has` wants a field, as in `has(self.name)`"));
        };
        Ok(self.node(range, Kind::Select { operand, field, test: true }))
    }

    fn member_call(&mut self, range: Range<usize>, name: String, target: Expr, args: Vec<Expr>) -> Parsed<Expr> {
        let mut macros = Macros { parser: self, range };
        match (name.as_str(), args.len()) {
            ("all" | "exists" | "exists_one", 2 | 3) | ("existsOne", 3) => macros.quantifier(&name, target, args),
            ("map", 2 | 3) => macros.map(target, args),
            ("filter", 2) => macros.filter(target, args),
            ("transformList" | "transformMap" | "transformMapEntry", 3 | 4) => macros.transform(&name, target, args),
            ("sortBy", 2) => macros.sort_by(target, args),
            ("optMap" | "optFlatMap", 2) => macros.optional_map(&name, target, args),
            _ => {
                let kind = Kind::Call { function: name, target: Some(Box::new(target)), args };
                Ok(macros.node(kind))
            }
        }
    }

    pub fn call(&mut self, range: Range<usize>, function: &str, args: Vec<Expr>) -> Expr {
        self.node(range, Kind::Call { function: function.to_owned(), target: None, args })
    }

    pub fn node(&mut self, range: Range<usize>, kind: Kind) -> Expr {
        self.nodes += 1;
        Expr { id: self.nodes - 1, range, kind }
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Problem::Unknown) } else { Ok(()) }
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn range(&self) -> Range<usize> {
        self.tokens[self.next].1.clone()
    }

    fn previous(&self) -> Range<usize> {
        self.tokens[self.next - 1].1.clone()
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(next) if *next == sign);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Parsed<()> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let found = match self.peek() {
            Token::End => "the end".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Name(name) => format!("`{name}`"),
            Token::String(_) | Token::Bytes(_) => "a string".to_owned(),
            Token::Int(digits) | Token::Uint(digits) | Token::Double(digits) => format!("`{digits}`"),
        };
        Problem::at(self.range(), format!("expected {wanted}, found {found}"))
    }
}

impl Expr {
    /// The name `a.b.c`, if the expression consists of identifiers and field selections only.
    pub fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            Kind::Ident(name) => Some(name.clone()),
            Kind::Select { operand, field, test: false } => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }

    /// The child expressions, in source order.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::Literal(_) | Kind::Ident(_) | Kind::Message(_) => Vec::new(),
            Kind::Select { operand, .. } => vec![operand],
            Kind::Call { target, args, .. } => target.as_deref().into_iter().chain(args).collect(),
            Kind::List(elements) => elements.iter().map(|element| &element.value).collect(),
            Kind::Map(entries) => entries.iter().flat_map(|(key, element)| [key, &element.value]).collect(),
            Kind::Comprehension(fold) => {
                vec![&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result]
            }
        }
    }

    pub fn visit_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        match &mut self.kind {
            Kind::Literal(_) | Kind::Ident(_) | Kind::Message(_) => {}
            Kind::Select { operand, .. } => operand.visit_mut(visit),
            Kind::Call { target, args, .. } => {
                target.iter_mut().for_each(|target| target.visit_mut(visit));
                args.iter_mut().for_each(|arg| arg.visit_mut(visit));
            }
            Kind::List(elements) => elements.iter_mut().for_each(|element| element.value.visit_mut(visit)),
            Kind::Map(entries) => entries.iter_mut().for_each(|(key, element)| {
                key.visit_mut(visit);
                element.value.visit_mut(visit);
            }),
            Kind::Comprehension(fold) => {
                let Comprehension { range, init, condition, step, result, .. } = &mut **fold;
                [range, init, condition, step, result].into_iter().for_each(|part| part.visit_mut(visit));
            }
        }
    }
}

fn radix<T>(digits: &str, read: fn(&str, u32) -> Result<T, std::num::ParseIntError>) -> Option<T> {
    let (sign, plain) = digits.strip_prefix('-').map_or(("", digits), |plain| ("-", plain));
    match plain.strip_prefix("0x") {
        Some(hex) => read(&format!("{sign}{hex}"), 16).ok(),
        None => read(digits, 10).ok(),
    }
}

fn int(digits: &str, range: &Range<usize>) -> Parsed<Literal> {
    radix(digits, i64::from_str_radix)
        .map(Literal::Int)
        .ok_or_else(|| Problem::at(range.clone(), "the number does not fit into 64 bits"))
}

fn double(digits: &str, range: &Range<usize>) -> Parsed<Literal> {
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Literal::Double(number)),
        _ => Err(Problem::at(range.clone(), "the number does not fit into 64 bits")),
    }
}
