//! The estimated cost of an expression, in the units of the API server's limits.
//!
//! Follows `checker/cost.go` and `ext/lists.go` of cel-go and `pkg/cel/library/cost.go` of k8s.io/apiserver. Only upper
//! bounds are compared with limits, so costs are counted as these; of sizes, the lower bounds matter as well.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::check::Checked;
use super::library::Overload;
use super::parse::{ACCUMULATOR, Comprehension, Element, Expr, Kind, Literal, Tree};
use super::types::{Declaration, Shape, Type};

const TRAVERSAL: f64 = 0.1;
const REGEX: f64 = 0.25;
const LIST: u64 = 10;
const MAP: u64 = 30;
/// Length of the longest regular expression behind a named format, in characters.
const FORMAT_REGEX: f64 = 128.0;

pub fn estimate(tree: &Tree, checked: &Checked, declared: &Arc<Declaration>) -> u64 {
    let mut estimator = Estimator {
        checked,
        root: declared,
        paths: vec![Path::default(); tree.nodes],
        sizes: vec![None; tree.nodes],
        entries: vec![None; tree.nodes],
        locals: Vec::new(),
    };
    estimator.cost(&tree.root)
}

struct Estimator<'a> {
    checked: &'a Checked,
    root: &'a Arc<Declaration>,
    /// Indexed by node id, as are `sizes` and `entries`.
    paths: Vec<Path>,
    /// Sizes that were computed so far.
    sizes: Vec<Option<Size>>,
    entries: Vec<Option<Entries>>,
    locals: Vec<Local>,
}

/// Location in the schema from which a value comes: a variable and the steps from it. Empty for a value that comes from
/// elsewhere.
///
/// Mirrors a slice in Go, including the bug that aliasing causes in cel-go: two paths that extend the same path may
/// share the memory of the next step, and the later one overwrites the step of the earlier. For this reason the API
/// server takes the key of a map for a value in `self.spec.map.all(k, v, …)`, but not in `self.map.all(k, v, …)`.
#[derive(Clone, Debug, Default)]
struct Path {
    steps: Rc<RefCell<Vec<Step>>>,
    length: usize,
    capacity: usize,
}

#[derive(Clone, Debug)]
enum Step {
    Variable,
    Field(String),
    Elements,
    Keys,
    Indices,
}

impl Path {
    fn step(&self, step: Step) -> Path {
        let length = self.length + 1;
        if length > self.capacity {
            let mut steps = self.steps.borrow()[..self.length].to_vec();
            steps.push(step);
            return Path { steps: Rc::new(RefCell::new(steps)), length, capacity: length.next_power_of_two() };
        }
        let mut steps = self.steps.borrow_mut();
        match steps.get_mut(self.length) {
            Some(there) => *there = step,
            None => steps.push(step),
        }
        Path { steps: self.steps.clone(), length, capacity: self.capacity }
    }

    /// The declared size at this path. The first step is skipped as the variable, whatever it is.
    fn size(&self, root: &Arc<Declaration>) -> Option<Size> {
        let steps = self.steps.borrow();
        let (_, steps) = steps[..self.length].split_first()?;
        let declared = steps.iter().try_fold(root.clone(), |declared, step| match (&declared.shape, step) {
            (Shape::List(elements) | Shape::Map(elements), Step::Elements) => Some(elements.clone()),
            (Shape::Map(_), Step::Keys) => Some(Declaration::key()),
            // A reserved word that is not escaped is not found as a field here.
            (Shape::Object(fields), Step::Field(name)) => fields.get(name).cloned(),
            _ => None,
        })?;
        Some(Size { min: 0, max: declared.max_elements })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    min: u64,
    max: u64,
}

impl Size {
    const UNKNOWN: Size = Size { min: 0, max: u64::MAX };

    fn exactly(size: u64) -> Size {
        Size { min: size, max: size }
    }

    fn plus(self, other: Size) -> Size {
        Size { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    fn times(self, other: Size) -> Size {
        Size { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    fn union(self, other: Size) -> Size {
        Size { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Cost of traversing a value of this size.
    fn cost(self, factor: f64) -> u64 {
        multiply(self.max, factor)
    }
}

fn multiply(number: u64, factor: f64) -> u64 {
    // The cast saturates.
    (number as f64 * factor).ceil() as u64
}

/// Sizes of the keys and values in a list or map that an expression creates.
#[derive(Clone, Copy, Debug)]
struct Entries {
    is_list: bool,
    key: Size,
    value: Size,
}

impl Entries {
    fn union(self, other: Entries) -> Entries {
        Entries { is_list: self.is_list, key: self.key.union(other.key), value: self.value.union(other.value) }
    }
}

struct Local {
    name: String,
    path: Path,
    size: Option<Size>,
    entries: Option<Entries>,
}

/// An argument of a call, with its path and size at the time when its cost was computed.
struct Node<'a> {
    expr: &'a Expr,
    path: Path,
    size: Option<Size>,
}

impl Node<'_> {
    fn size(&self) -> Size {
        self.size.unwrap_or(Size::UNKNOWN)
    }
}

impl Estimator<'_> {
    fn cost(&mut self, expr: &Expr) -> u64 {
        match &expr.kind {
            Kind::Literal(_) | Kind::Message(_) => 0,
            Kind::Ident(name) => {
                let local = self.local(name).map(|local| local.path.clone());
                self.paths[expr.id] = local.unwrap_or_else(|| Path::default().step(Step::Variable));
                1
            }
            Kind::Select { operand, test: true, .. } => self.cost(operand),
            Kind::Select { operand, field, test: false } => {
                let cost = self.cost(operand);
                let counts = matches!(self.type_of(operand), Type::Map(..) | Type::Object(_) | Type::Library(_));
                self.paths[expr.id] = self.path(operand).step(Step::Field(field.clone()));
                cost.saturating_add(u64::from(counts))
            }
            Kind::Call { function, target, args } => self.call(expr, function, target.as_deref(), args),
            Kind::List(elements) => self.list(expr, elements),
            Kind::Map(entries) => self.map(expr, entries),
            Kind::Comprehension(fold) if is_bind(fold) => self.bind(expr, fold),
            Kind::Comprehension(fold) => self.comprehension(expr, fold),
        }
    }

    fn call(&mut self, expr: &Expr, function: &str, target: Option<&Expr>, args: &[Expr]) -> u64 {
        if let ("dyn", None, [arg]) = (function, target, args) {
            let cost = self.cost(arg);
            self.copy_sizes(expr, arg);
            return cost.saturating_add(1);
        }
        let mut costs = Vec::new();
        let mut nodes = Vec::new();
        for arg in args {
            costs.push(self.cost(arg));
            nodes.push(self.node(arg));
        }
        let overloads = self.checked.overloads[expr.id].clone();
        let mut cost = 0;
        // The receiver may be a namespace, i.e. a part of the function's name.
        let namespace =
            target.filter(|_| overloads.iter().all(|overload| !overload.member)).and_then(Expr::qualified_name);
        let function = &namespace.as_ref().map_or_else(|| function.to_owned(), |space| format!("{space}.{function}"));
        let target = target.filter(|_| namespace.is_none()).map(|target| {
            cost = self.cost(target);
            self.node(target)
        });
        let mut call = 0;
        let mut result: Option<Size> = None;
        for overload in overloads {
            let (of_overload, size) = self.overload(expr, function, overload, target.as_ref(), &nodes, &costs);
            call = call.max(of_overload);
            result = match (result, size) {
                (Some(result), Some(size)) => Some(result.union(size)),
                (result, size) => result.or(size),
            };
            if function == "_[_]" && !matches!(overload.args[0], Type::Optional(_)) {
                result = self.entries_of(&args[0]).map(|entries| entries.value);
                self.paths[expr.id] = self.path(&args[0]).step(Step::Elements);
            }
            if result.is_none() {
                result = self.size(expr);
            }
        }
        self.sizes[expr.id] = result.or(self.sizes[expr.id]);
        cost.saturating_add(call)
    }

    /// Cost of a call including its arguments, and the size of its result.
    fn overload(
        &mut self,
        expr: &Expr,
        function: &str,
        overload: &Overload,
        target: Option<&Node>,
        args: &[Node],
        costs: &[u64],
    ) -> (u64, Option<Size>) {
        let all = costs.iter().fold(0, |sum: u64, cost| sum.saturating_add(*cost));
        let of_library = lists(function, overload, target, args).or_else(|| self.kubernetes(function, target, args));
        if let Some((cost, size)) = of_library {
            return (cost.saturating_add(all), size);
        }
        let with_args = |cost: u64| cost.saturating_add(all);
        match (function, overload.args.as_slice(), target, args) {
            ("format", _, Some(target), _) => (with_args(target.size().cost(TRAVERSAL)), None),
            ("bytes", [Type::String], _, [arg]) => {
                let size = arg.size();
                (with_args(size.cost(TRAVERSAL)), Some(Size { min: size.min, max: size.max.wrapping_mul(4) }))
            }
            ("string", [Type::Bytes], _, [arg]) => {
                let size = arg.size();
                (with_args(size.cost(TRAVERSAL)), Some(Size { min: size.min / 4, max: size.max }))
            }
            ("strings.quote", _, _, [arg]) => {
                let size = arg.size();
                let quoted = Size { min: size.min.wrapping_add(2), max: size.max.wrapping_mul(2).wrapping_add(2) };
                (with_args(size.cost(TRAVERSAL)), Some(quoted))
            }
            ("startsWith" | "endsWith", _, _, [arg]) => (with_args(arg.size().cost(TRAVERSAL)), None),
            ("@in" | "in" | "_in_", [_, Type::List(_)], _, [_, list]) => (with_args(list.size().cost(1.0)), None),
            ("matches", _, Some(target), [pattern]) => {
                let text = target.size().plus(Size::exactly(1)).cost(TRAVERSAL);
                (with_args(text.saturating_mul(pattern.size().cost(REGEX))), None)
            }
            ("contains", _, Some(target), [part]) => {
                (with_args(target.size().cost(TRAVERSAL).saturating_mul(part.size().cost(TRAVERSAL))), None)
            }
            ("_&&_" | "_||_", ..) => (all, None),
            ("_?_:_", _, _, [_, then, otherwise]) => {
                if let (Some(then), Some(otherwise)) = (self.entries_of(then.expr), self.entries_of(otherwise.expr)) {
                    self.entries[expr.id] = Some(then.union(otherwise));
                }
                (costs[0].saturating_add(costs[1].max(costs[2])), Some(then.size().union(otherwise.size())))
            }
            ("_+_", [Type::String | Type::Bytes | Type::List(_), _], _, [left, right]) => {
                let size = left.size().plus(right.size());
                if let (Some(left), Some(right)) = (self.entries_of(left.expr), self.entries_of(right.expr)) {
                    self.entries[expr.id] = Some(left.union(right));
                }
                let is_list = matches!(overload.args[0], Type::List(_));
                (with_args(if is_list { 1 } else { size.cost(TRAVERSAL) }), Some(size))
            }
            ("_==_" | "_!=_", _, _, [left, right])
            | ("_<_" | "_<=_" | "_>_" | "_>=_", [Type::String | Type::Bytes, _], _, [left, right]) => {
                (with_args(multiply(left.size().max.min(right.size().max), TRAVERSAL)), None)
            }
            _ => (with_args(1), None),
        }
    }

    /// Cost of functions in Kubernetes' libraries.
    fn kubernetes(&mut self, function: &str, target: Option<&Node>, args: &[Node]) -> Option<(u64, Option<Size>)> {
        let cost = match function {
            "check" => 350_000,
            "serviceAccount" | "path" | "group" | "resource" | "subresource" | "namespace" | "name" | "allowed"
            | "reason" | "error" | "errored" => 1,
            "fieldSelector" | "labelSelector" => {
                let [selector] = args else { return None };
                let length = selector.size();
                LIST.saturating_add(length.cost(TRAVERSAL)).saturating_add(multiply(length.cost(0.5), 50.0))
            }
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
                let target = target?;
                match self.element(target) {
                    Some((element, size)) => {
                        let traversal = match element {
                            Type::String | Type::Bytes => size.cost(TRAVERSAL),
                            _ => 0,
                        };
                        target.size().max.saturating_mul(traversal.saturating_add(1))
                    }
                    None => target.size().cost(TRAVERSAL),
                }
            }
            "url" => {
                let [text] = args else { return None };
                return Some((text.size().cost(TRAVERSAL), Some(text.size())));
            }
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                let size = target?.size();
                return Some((size.cost(TRAVERSAL), Some(size)));
            }
            "replace" => {
                let (size, [old, new, ..]) = (target?.size(), args) else { return None };
                return Some((size.cost(2.0 * TRAVERSAL), Some(replaced(size, old.size(), new.size()))));
            }
            "split" => {
                let size = target?.size();
                let max = match args.get(1).map(|limit| &limit.expr.kind) {
                    Some(Kind::Literal(Literal::Int(limit))) => *limit as u64,
                    _ => size.max,
                };
                return Some((size.cost(2.0 * TRAVERSAL), Some(Size { min: 0, max })));
            }
            "join" => {
                let target = target?;
                let list = target.size();
                let mut size = self.element(target).map_or(Size::exactly(0), |(_, element)| list.times(element));
                if let Some(separator) = args.first() {
                    let between = Size { min: list.min.saturating_sub(1), max: list.max.saturating_sub(1) };
                    size = size.plus(separator.size().times(between));
                }
                return Some((size.cost(TRAVERSAL), Some(size)));
            }
            "find" | "findAll" => {
                let (size, [pattern, ..]) = (target?.size(), args) else { return None };
                let text = size.plus(Size::exactly(1)).cost(TRAVERSAL);
                let cost = text.saturating_mul(pattern.size().cost(REGEX));
                return Some((cost, Some(Size { min: 0, max: size.max })));
            }
            "ip" if target.is_some() => 1,
            "ip" | "cidr" | "isIP" | "isCIDR" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
                args.first()?.size().cost(TRAVERSAL)
            }
            "ip.isCanonical" => args.first()?.size().cost(2.0 * TRAVERSAL),
            "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast" => 1,
            "containsIP" | "containsCIDR" => {
                // An address of 16 bytes costs 2. Two are compared, or three and the prefix length.
                let compared: u64 = if function == "containsIP" { 4 } else { 4 + 2 + 1 };
                let other = args.first()?;
                match self.type_of(other.expr) {
                    Type::Library(_) => compared,
                    _ => compared.saturating_add(other.size().cost(TRAVERSAL)),
                }
            }
            "validate" => multiply(args.first()?.size().cost(TRAVERSAL), FORMAT_REGEX * REGEX),
            "format.named" => 1,
            "sign" | "asInteger" | "isInteger" | "asApproximateFloat" | "isGreaterThan" | "isLessThan"
            | "compareTo" | "add" | "sub" | "major" | "minor" | "patch" => 1,
            "getScheme" | "getHostname" | "getHost" | "getPort" | "getEscapedPath" | "getQuery" => 1,
            "_==_" => match (self.type_of(args[0].expr), self.type_of(args[1].expr)) {
                (Type::Library(left), Type::Library(right)) if left == right => match *left {
                    "NamedFormat" => multiply(64, TRAVERSAL),
                    "URL" => multiply(args[1].size.map_or(1, |size| size.max), TRAVERSAL),
                    _ => 1,
                },
                _ => return None,
            },
            _ => return None,
        };
        Some((cost, None))
    }

    /// Type and size of a list's elements; `None` if the value is not a list.
    fn element(&self, list: &Node) -> Option<(Type, Size)> {
        let Type::List(element) = self.type_of(list.expr) else { return None };
        let size = match list.path.length {
            0 => None,
            // A copy of the path with its own memory, which overwrites no other step.
            length => Path { capacity: length, ..list.path.clone() }.step(Step::Elements).size(self.root),
        };
        Some(((**element).clone(), size.unwrap_or(Size::UNKNOWN)))
    }

    fn list(&mut self, expr: &Expr, elements: &[Element]) -> u64 {
        let mut cost = LIST;
        let mut item = if elements.is_empty() { Size::exactly(0) } else { Size { min: u64::MAX, max: 0 } };
        for Element { value, .. } in elements {
            cost = cost.saturating_add(self.cost(value));
            item = item.union(self.size(value).unwrap_or(Size::UNKNOWN));
        }
        self.entries[expr.id] = Some(Entries { is_list: true, key: Size::exactly(1), value: item });
        cost
    }

    fn map(&mut self, expr: &Expr, entries: &[(Expr, Element)]) -> u64 {
        let mut cost = MAP;
        let empty = if entries.is_empty() { Size::exactly(0) } else { Size { min: u64::MAX, max: 0 } };
        let mut sizes = Entries { is_list: false, key: empty, value: empty };
        for (key, Element { value, .. }) in entries {
            cost = cost.saturating_add(self.cost(key)).saturating_add(self.cost(value));
            sizes.key = sizes.key.union(self.size(key).unwrap_or(Size::UNKNOWN));
            sizes.value = sizes.value.union(self.size(value).unwrap_or(Size::UNKNOWN));
        }
        self.entries[expr.id] = Some(sizes);
        cost
    }

    fn comprehension(&mut self, expr: &Expr, fold: &Comprehension) -> u64 {
        let before = self.cost(&fold.range).saturating_add(self.cost(&fold.init));
        self.push_value(&fold.accumulator, &fold.init);
        match &fold.second {
            Some(second) => {
                self.push_key(&fold.variable, &fold.range);
                self.push_element(second, &fold.range);
            }
            None if self.is_list(&fold.range) => self.push_element(&fold.variable, &fold.range),
            None => self.push_key(&fold.variable, &fold.range),
        }
        let turn = self.cost(&fold.condition).saturating_add(self.cost(&fold.step));
        self.locals.truncate(self.locals.len() - 1 - usize::from(fold.second.is_some()));
        let result = self.cost(&fold.result);
        self.locals.pop();

        let turns = self.size(&fold.range).unwrap_or(Size::UNKNOWN);
        match &fold.init.kind {
            Kind::Literal(_) => {
                let size = self.size(&fold.init);
                self.sizes[expr.id] = size.or(self.sizes[expr.id]);
            }
            Kind::List(_) | Kind::Map(_) => {
                self.sizes[expr.id] = Some(turns);
                let entries = self.entries_of(&fold.step);
                self.entries[expr.id] = entries.or(self.entries[expr.id]);
            }
            _ => {}
        }
        before.saturating_add(result).saturating_add(turns.max.saturating_mul(turn))
    }

    fn bind(&mut self, expr: &Expr, fold: &Comprehension) -> u64 {
        let before = self.cost(&fold.range).saturating_add(self.cost(&fold.init));
        self.push_value(&fold.accumulator, &fold.init);
        let result = self.cost(&fold.result);
        self.locals.pop();
        self.copy_sizes(expr, &fold.result);
        before.saturating_add(result)
    }

    fn push_value(&mut self, name: &str, value: &Expr) {
        let (path, entries) = (self.path(value), self.entries_of(value));
        let size = self.size(value);
        self.locals.push(Local { name: name.to_owned(), path, size, entries });
    }

    fn push_key(&mut self, name: &str, range: &Expr) {
        let size = self.entries_of(range).map(|entries| entries.key);
        let is_list = self.is_list(range);
        let path = self.path(range).step(if is_list { Step::Indices } else { Step::Keys });
        self.locals.push(Local { name: name.to_owned(), path, size, entries: None });
    }

    fn push_element(&mut self, name: &str, range: &Expr) {
        let size = self.entries_of(range).map(|entries| entries.value);
        let path = self.path(range).step(Step::Elements);
        self.locals.push(Local { name: name.to_owned(), path, size, entries: None });
    }

    fn is_list(&self, range: &Expr) -> bool {
        match self.entries_of(range) {
            Some(entries) => entries.is_list,
            None => matches!(self.type_of(range), Type::List(_)),
        }
    }

    fn node<'a>(&mut self, expr: &'a Expr) -> Node<'a> {
        Node { expr, path: self.path(expr), size: self.size(expr) }
    }

    fn size(&mut self, expr: &Expr) -> Option<Size> {
        if self.sizes[expr.id].is_some() {
            return self.sizes[expr.id];
        }
        let evident = match &expr.kind {
            Kind::Literal(Literal::String(text)) => Some(text.chars().count()),
            Kind::Literal(Literal::Bytes(bytes)) => Some(bytes.len()),
            Kind::Literal(_) => Some(1),
            Kind::List(elements) => Some(elements.len()),
            Kind::Map(entries) => Some(entries.len()),
            _ => None,
        };
        if let Some(size) = evident {
            return Some(Size::exactly(size as u64));
        }
        if let Some(size) = self.path(expr).size(self.root) {
            self.sizes[expr.id] = Some(size);
            return Some(size);
        }
        if is_scalar(self.type_of(expr)) {
            return Some(Size::exactly(1));
        }
        let Kind::Ident(name) = &expr.kind else { return None };
        self.local(name).and_then(|local| local.size)
    }

    fn entries_of(&self, expr: &Expr) -> Option<Entries> {
        let local = || match &expr.kind {
            Kind::Ident(name) => self.local(name).and_then(|local| local.entries),
            _ => None,
        };
        self.entries[expr.id].or_else(local)
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        self.sizes[to.id] = self.size(from).or(self.sizes[to.id]);
        self.entries[to.id] = self.entries_of(from).or(self.entries[to.id]);
    }

    fn path(&self, expr: &Expr) -> Path {
        let local = match &expr.kind {
            Kind::Ident(name) => self.local(name),
            _ => None,
        };
        local.map_or_else(|| self.paths[expr.id].clone(), |local| local.path.clone())
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn type_of(&self, expr: &Expr) -> &Type {
        &self.checked.types[expr.id]
    }
}

/// Cost of the lists and sets libraries, which define cost estimates themselves.
fn lists(function: &str, overload: &Overload, target: Option<&Node>, args: &[Node]) -> Option<(u64, Option<Size>)> {
    let made = |factor: f64, size: Size| Some((size.cost(factor).saturating_add(1 + LIST), Some(size)));
    let int = |node: &Node, default: u64| match node.expr.kind {
        Kind::Literal(Literal::Int(number)) => number.max(0) as u64,
        _ => default,
    };
    match (function, target, args) {
        ("slice", Some(target), [start, end]) => {
            let end = int(end, target.size().max);
            made(1.0, Size::exactly(end.wrapping_sub(int(start, 0))))
        }
        ("lists.range", None, [end]) => made(1.0, Size::exactly(int(end, u64::MAX))),
        ("reverse", Some(target), []) => made(1.0, target.size()),
        ("flatten", Some(target), []) => made(1.0, target.size()),
        ("flatten", Some(target), [depth]) => made(int(depth, u64::MAX) as f64, target.size()),
        ("distinct", Some(target), []) => made(2.0, target.size().times(target.size())),
        ("sort", Some(list), []) | ("@sortByAssociatedKeys", Some(_), [list]) => {
            let Some(Type::List(compared)) = overload.args.last() else { return None };
            let compares_text = matches!(**compared, Type::String | Type::Bytes);
            let factor = if compares_text { 2.0 + TRAVERSAL } else { 2.0 };
            made(factor, list.size().times(list.size()))
        }
        ("sets.contains" | "sets.intersects" | "sets.equivalent", None, [left, right]) => {
            let factor = if function == "sets.equivalent" { 2.0 } else { 1.0 };
            Some((left.size().times(right.size()).cost(factor).saturating_add(1), None))
        }
        _ => None,
    }
}

fn replaced(text: Size, old: Size, new: Size) -> Size {
    let result = |text: u64, old: u64, new: u64, keeps_length: bool| {
        if old == 0 {
            // An empty string is found before every character and at the end.
            text.saturating_add(1).saturating_mul(new).saturating_add(text)
        } else if keeps_length {
            text
        } else {
            ((text as f64 / old as f64).ceil() as u64).saturating_mul(new)
        }
    };
    Size {
        min: result(text.min, old.max, new.min, old.max <= new.min),
        max: result(text.max, old.min, new.max, new.max <= old.min),
    }
}

fn is_bind(fold: &Comprehension) -> bool {
    matches!(&fold.range.kind, Kind::List(elements) if elements.is_empty())
        && matches!(fold.condition.kind, Kind::Literal(Literal::Bool(false)))
        && fold.accumulator != ACCUMULATOR
}

fn is_scalar(type_: &Type) -> bool {
    match type_ {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Optional(value) => is_scalar(value),
        _ => false,
    }
}
