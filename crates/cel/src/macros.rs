//! Macro calls → comprehensions, following cel-go's `parser/macro.go` and `ext/`.

use std::ops::Range;

use super::parse::{ACCUMULATOR, Comprehension, Element, Expr, Kind, Literal, Parser, Problem};

type Expanded = Result<Expr, Problem>;

/// Expands macro calls.
pub struct Macros<'a> {
    pub parser: &'a mut Parser,
    pub range: Range<usize>,
}

impl Macros<'_> {
    pub fn quantifier(&mut self, name: &str, range: Expr, mut args: Vec<Expr>) -> Expanded {
        let predicate = args.pop().expect("two or three arguments");
        let variables = self.variables(args)?;
        let [init, condition, step, result] = match name {
            "all" => {
                let so_far = self.accumulator();
                let condition = self.call("@not_strictly_false", vec![so_far]);
                let so_far = self.accumulator();
                let step = self.call("_&&_", vec![so_far, predicate]);
                [self.literal(Literal::Bool(true)), condition, step, self.accumulator()]
            }
            "exists" => {
                let so_far = self.accumulator();
                let not = self.call("!_", vec![so_far]);
                let condition = self.call("@not_strictly_false", vec![not]);
                let so_far = self.accumulator();
                let step = self.call("_||_", vec![so_far, predicate]);
                [self.literal(Literal::Bool(false)), condition, step, self.accumulator()]
            }
            _ => {
                let (so_far, one) = (self.accumulator(), self.literal(Literal::Int(1)));
                let more = self.call("_+_", vec![so_far, one]);
                let so_far = self.accumulator();
                let step = self.call("_?_:_", vec![predicate, more, so_far]);
                let (count, one) = (self.accumulator(), self.literal(Literal::Int(1)));
                let result = self.call("_==_", vec![count, one]);
                [self.literal(Literal::Int(0)), self.literal(Literal::Bool(true)), step, result]
            }
        };
        Ok(self.comprehension(range, variables, init, condition, step, result))
    }

    pub fn map(&mut self, range: Expr, mut args: Vec<Expr>) -> Expanded {
        let transform = args.pop().expect("two or three arguments");
        let filter = (args.len() == 2).then(|| args.remove(1));
        let variables = self.variables(args)?;
        Ok(self.gather(range, variables, filter, transform))
    }

    pub fn filter(&mut self, range: Expr, mut args: Vec<Expr>) -> Expanded {
        let filter = args.pop();
        let element = args[0].clone();
        let variables = self.variables(args)?;
        Ok(self.gather(range, variables, filter, element))
    }

    pub fn transform(&mut self, name: &str, range: Expr, mut args: Vec<Expr>) -> Expanded {
        let transform = args.pop().expect("three or four arguments");
        let filter = (args.len() == 3).then(|| args.remove(2));
        let variables = self.variables(args)?;
        if name == "transformList" {
            return Ok(self.gather(range, variables, filter, transform));
        }
        let mut insert = vec![self.accumulator()];
        if name == "transformMap" {
            insert.push(self.node(Kind::Ident(variables[0].clone())));
        }
        insert.push(transform);
        let step = self.call("cel.@mapInsert", insert);
        let init = self.node(Kind::Map(Vec::new()));
        Ok(self.collect(range, variables, filter, init, step))
    }

    pub fn sort_by(&mut self, list: Expr, args: Vec<Expr>) -> Expanded {
        const INPUT: &str = "@__sortBy_input__";
        if matches!(list.kind, Kind::Literal(_) | Kind::Map(_) | Kind::Message(_)) {
            return Err(Problem::at(list.range, "`sortBy` is for lists"));
        }
        let input = self.node(Kind::Ident(INPUT.to_owned()));
        let keys = self.map(input, args)?;
        let input = self.node(Kind::Ident(INPUT.to_owned()));
        let sorted = self.node(Kind::Call {
            function: "@sortByAssociatedKeys".to_owned(),
            target: Some(Box::new(input)),
            args: vec![keys],
        });
        Ok(self.bind("#unused".to_owned(), INPUT.to_owned(), list, sorted))
    }

    pub fn optional_map(&mut self, name: &str, target: Expr, mut args: Vec<Expr>) -> Expanded {
        let mapped = args.pop().expect("two arguments");
        let variable = self.variables(args)?.remove(0);
        let again = self.copy(&target);
        let value = self.member("value", again);
        let bound = self.bind("#unused".to_owned(), variable, value, mapped);
        let then = if name == "optMap" { self.call("optional.of", vec![bound]) } else { bound };
        let has_value = self.member("hasValue", target);
        let none = self.call("optional.none", Vec::new());
        Ok(self.call("_?_:_", vec![has_value, then, none]))
    }

    /// Loop step `accumulator + [element]`, for all elements or for those that pass the filter.
    fn gather(&mut self, range: Expr, variables: Vec<String>, filter: Option<Expr>, element: Expr) -> Expr {
        let so_far = self.accumulator();
        let element = self.node(Kind::List(vec![Element { optional: false, value: element }]));
        let step = self.call("_+_", vec![so_far, element]);
        let init = self.node(Kind::List(Vec::new()));
        self.collect(range, variables, filter, init, step)
    }

    fn collect(&mut self, range: Expr, variables: Vec<String>, filter: Option<Expr>, init: Expr, step: Expr) -> Expr {
        let step = match filter {
            Some(filter) => {
                let so_far = self.accumulator();
                self.call("_?_:_", vec![filter, step, so_far])
            }
            None => step,
        };
        let (condition, result) = (self.literal(Literal::Bool(true)), self.accumulator());
        self.comprehension(range, variables, init, condition, step, result)
    }

    /// Binds `name` to `value` in `result`: a comprehension over an empty list.
    fn bind(&mut self, unused: String, name: String, value: Expr, result: Expr) -> Expr {
        let range = self.node(Kind::List(Vec::new()));
        let condition = self.literal(Literal::Bool(false));
        let step = self.node(Kind::Ident(name.clone()));
        self.node(Kind::Comprehension(Box::new(Comprehension {
            range,
            variable: unused,
            second: None,
            accumulator: name,
            init: value,
            condition,
            step,
            result,
        })))
    }

    fn comprehension(
        &mut self,
        range: Expr,
        mut variables: Vec<String>,
        init: Expr,
        condition: Expr,
        step: Expr,
        result: Expr,
    ) -> Expr {
        let second = (variables.len() == 2).then(|| variables.remove(1));
        self.node(Kind::Comprehension(Box::new(Comprehension {
            range,
            variable: variables.remove(0),
            second,
            accumulator: ACCUMULATOR.to_owned(),
            init,
            condition,
            step,
            result,
        })))
    }

    fn variables(&self, args: Vec<Expr>) -> Result<Vec<String>, Problem> {
        let mut names = Vec::new();
        for Expr { range, kind, .. } in args {
            match kind {
                Kind::Ident(name) if name == "__result__" => {
                    return Err(Problem::at(range, "`__result__` is not a valid name for a variable"));
                }
                Kind::Ident(name) if names.contains(&name) => {
                    return Err(Problem::at(range, format!("the variable `{name}` is there twice")));
                }
                Kind::Ident(name) => names.push(name),
                _ => return Err(Problem::at(range, "expected the name of a variable")),
            }
        }
        Ok(names)
    }

    fn accumulator(&mut self) -> Expr {
        self.node(Kind::Ident(ACCUMULATOR.to_owned()))
    }

    fn literal(&mut self, literal: Literal) -> Expr {
        self.node(Kind::Literal(literal))
    }

    fn member(&mut self, function: &str, target: Expr) -> Expr {
        self.node(Kind::Call { function: function.to_owned(), target: Some(Box::new(target)), args: Vec::new() })
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.parser.call(self.range.clone(), function, args)
    }

    pub fn node(&mut self, kind: Kind) -> Expr {
        self.parser.node(self.range.clone(), kind)
    }

    fn copy(&mut self, expr: &Expr) -> Expr {
        let mut copy = expr.clone();
        copy.visit_mut(&mut |expr| {
            expr.id = self.parser.nodes;
            self.parser.nodes += 1;
        });
        copy
    }
}
