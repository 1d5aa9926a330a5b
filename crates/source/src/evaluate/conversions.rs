//! Conversions and collections: `into`, `from`, `collect`, and the iterators in between.

use std::cmp::Ordering;
use std::rc::Rc;

use syn::{Expr, ExprClosure, ExprMethodCall, Pat, ReturnType};

use super::Evaluator;
use super::context::{Context, Derived, Resolved, Scope, Typed};
use super::items::Function;
use super::values::{Hint, Local, Value, is_pointer};
use crate::resolve::modules::name;

impl Evaluator<'_, '_> {
    /// `value.into()`, `T::from(value)`.
    pub fn converted(&mut self, value: &Expr, expr: &Expr, scope: &Scope, to: &Hint) -> Derived<Value> {
        let ty = match to {
            Hint::Type(ty) => ty,
            Hint::Text => {
                let value = self.evaluate(value, scope, &Hint::Free)?;
                return self.cx.or_not_evident(text_of(value), expr, scope);
            }
            Hint::Json => {
                let value = self.evaluate(value, scope, &Hint::Free)?;
                return match value {
                    Value::Text(_) | Value::Bool(_) | Value::Integer(..) | Value::Single(_) | Value::Double(_) => {
                        Ok(Value::Json(self.serialized(value, expr, scope)?))
                    }
                    _ => self.cx.not_evident(expr, scope),
                };
            }
            _ => return self.cx.not_evident(expr, scope),
        };
        match self.cx.meaning(ty)? {
            Some(Resolved::Data { module, input, scope: inner, .. }) => {
                if self.cx.shadows.is_own_trait("From", scope.module)
                    || self.cx.shadows.is_own_trait("Into", scope.module)
                {
                    return self.cx.not_evident(expr, scope);
                }
                // Another derive may implement conversions that are not visible.
                let is_plain = !crate::resolve::derives::may_convert(self.cx.modules, module, &input.attrs);
                let conversion = self.cx.impls.implementation("From", module, &name(&input.ident)).filter(|_| is_plain);
                let Some((at, item)) = conversion else {
                    // `T` implements `From<T>`, too.
                    let value = self.evaluate(value, scope, &Hint::Unknown)?;
                    return match &value {
                        Value::Data(data) if Rc::ptr_eq(&data.input, &input) => Ok(value),
                        _ => self.cx.not_evident(expr, scope),
                    };
                };
                match Function::in_impl(&item, "from", at, &input, &inner) {
                    Some(function) => self.apply(&function, &[value], None, expr, scope),
                    None => self.cx.not_evident(expr, scope),
                }
            }
            Some(Resolved::Known { path, arguments, .. }) => {
                self.converted_to_known(value, expr, scope, ty, &path, &arguments)
            }
            Some(Resolved::Slice(element)) => {
                let value = self.evaluate(value, scope, &Hint::List(Box::new(Hint::exactly(*element))))?;
                match value {
                    Value::List("array" | "Vec", list) => Ok(Value::List("array", list)),
                    _ => self.cx.not_evident(expr, scope),
                }
            }
            _ => self.cx.not_evident(expr, scope),
        }
    }

    fn converted_to_known(
        &mut self,
        value: &Expr,
        expr: &Expr,
        scope: &Scope,
        ty: &Typed,
        path: &[String],
        arguments: &[Typed],
    ) -> Derived<Value> {
        if let ([inner, ..], true) = (arguments, is_pointer(path)) {
            return self.converted(value, expr, scope, &Hint::exactly(inner.clone()));
        }
        let last = path.last().map(String::as_str).unwrap_or_default();
        let converted = match last {
            "String" | "str" | "SmolStr" => text_of(self.evaluate(value, scope, &Hint::Free)?),
            "PathBuf" | "Path" => match self.evaluate(value, scope, &Hint::Unknown)? {
                Value::Text(text) => Some(Value::Json(text.into())),
                _ => None,
            },
            "Value" => return self.converted(value, expr, scope, &Hint::Json),
            "IpAddr" | "Ipv4Addr" if path[0] == "std" => {
                let bytes = match self.evaluate(value, scope, &Hint::List(Box::new(Hint::Number("u8"))))? {
                    Value::Json(address) => return Ok(Value::Json(address)),
                    Value::List("array", list) => list
                        .into_iter()
                        .map(|byte| match byte {
                            Value::Integer(byte, "u8") => u8::try_from(byte).ok(),
                            _ => None,
                        })
                        .collect::<Option<Vec<u8>>>(),
                    _ => None,
                };
                let bytes = bytes.and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
                bytes.map(|bytes| Value::Json(std::net::Ipv4Addr::from(bytes).to_string().into()))
            }
            "SocketAddr" if path[0] == "std" => super::foreign::socket_address(self, value, scope)?,
            "Duration" if path[0] == "kube" => match self.evaluate(value, scope, &Hint::Unknown)? {
                Value::Duration(time) => super::foreign::of_kube(time.into()),
                _ => None,
            },
            "Option" => match self.evaluate(value, scope, &Hint::of(arguments.first()))? {
                // `Option<Option<T>>` can be converted from both.
                Value::Option(_) => None,
                value => Some(Value::Option(Some(Box::new(value)))),
            },
            "f64" | "f32" => match (last, self.evaluate(value, scope, &Hint::Free)?) {
                ("f64", Value::Integer(number, _)) => Some(Value::Double(number as f64)),
                ("f64", Value::Single(number)) => Some(Value::Double(number.into())),
                ("f64", number @ Value::Double(_)) | ("f32", number @ Value::Single(_)) => Some(number),
                ("f32", Value::Integer(number, _)) => Some(Value::Single(number as f32)),
                _ => None,
            },
            _ if path.len() == 1 && super::numbers::integer_type(last).is_some() => {
                let to = super::numbers::integer_type(last).unwrap_or_default();
                match self.evaluate(value, scope, &Hint::Free)? {
                    Value::Integer(number, _) => super::numbers::in_range(number, to),
                    Value::Bool(value) => super::numbers::in_range(value.into(), to),
                    Value::Char(letter) => super::numbers::in_range(u32::from(letter).into(), to),
                    _ => None,
                }
            }
            collection => {
                let source = self.cx.source_of(&Hint::exactly(ty.clone()), collection)?;
                match self.evaluate(value, scope, &source)? {
                    Value::List("array", list) => self::collection(collection, list),
                    Value::List(kind, list) if kind == collection => Some(Value::List(kind, list)),
                    Value::Map(kind, entries) if kind == collection => Some(Value::Map(kind, entries)),
                    _ => None,
                }
            }
        };
        self.cx.or_not_evident(converted, expr, scope)
    }

    /// `….collect()`, into the type in the turbofish or the expected one.
    pub fn collected(
        &mut self,
        call: &ExprMethodCall,
        expr: &Expr,
        scope: &Scope,
        hint: &Hint,
        to: Option<Typed>,
    ) -> Derived<Value> {
        let hint = to.map_or_else(|| hint.clone(), Hint::exactly);
        let Some(collection) = self.cx.collection_of(&hint)? else { return self.cx.not_evident(expr, scope) };
        if matches!(collection.as_str(), "Option" | "Result") {
            return self.collected_if_all(call, expr, scope, &hint, &collection);
        }
        let source = self.cx.source_of(&hint, &collection)?;
        match self.evaluate(&call.receiver, scope, &source)? {
            Value::List("iterator", list) => self.cx.or_not_evident(self::collection(&collection, list), expr, scope),
            _ => self.cx.not_evident(expr, scope),
        }
    }

    /// `….collect::<Option<Vec<_>>>()`, also of results.
    fn collected_if_all(
        &mut self,
        call: &ExprMethodCall,
        expr: &Expr,
        scope: &Scope,
        hint: &Hint,
        wrapper: &str,
    ) -> Derived<Value> {
        let inner = self.cx.element(hint, 0)?;
        let Some(collection) = self.cx.collection_of(&inner)? else { return self.cx.not_evident(expr, scope) };
        let elements = match self.cx.source_of(&inner, &collection)? {
            Hint::List(elements) => Hint::List(Box::new(Hint::List(elements))),
            _ => Hint::Unknown,
        };
        let Value::List("iterator", list) = self.evaluate(&call.receiver, scope, &elements)? else {
            return self.cx.not_evident(expr, scope);
        };
        let mut all = Some(Vec::new());
        for value in list {
            let value = match (value, wrapper) {
                (Value::Option(value), "Option") | (Value::Result(value), "Result") => value,
                _ => return self.cx.not_evident(expr, scope),
            };
            all = all.zip(value).map(|(mut all, value)| {
                all.push(*value);
                all
            });
        }
        let made = match all {
            Some(all) => {
                let made = self::collection(&collection, all);
                Some(Box::new(self.cx.or_not_evident(made, expr, scope)?))
            }
            None => None,
        };
        Ok(if wrapper == "Option" { Value::Option(made) } else { Value::Result(made) })
    }

    /// The result of calling a closure, or a function by its path, with these values.
    pub fn called(&mut self, function: &Expr, values: Vec<Value>, scope: &Scope, hint: &Hint) -> Derived<Value> {
        let function = super::numbers::without_parens(function);
        match function {
            Expr::Closure(closure) => self.closure_value(closure, values, scope, hint),
            Expr::Path(path) => {
                let local = path.path.get_ident().and_then(|ident| scope.locals.get(&name(ident)));
                match local.cloned() {
                    Some(Local::Closure(closure, at)) => return self.closure_value(&closure, values, &at, hint),
                    Some(Local::Value { .. }) => {
                        return match self.path_value(path, scope, &Hint::Unknown)? {
                            Value::Function(function, at) => self.called(&function, values, &at, hint),
                            _ => self.cx.not_evident(function, scope),
                        };
                    }
                    _ => {}
                }
                let mut inner = scope.clone();
                let mut arguments = Vec::new();
                for (index, value) in values.into_iter().enumerate() {
                    let ident = quote::format_ident!("__argument_{index}");
                    inner.hold(&ident, value, false);
                    arguments.push(ident);
                }
                let words: Vec<String> = path.path.segments.iter().map(|segment| name(&segment.ident)).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let is_own = match words[..] {
                    [of, _] => self.cx.shadows.is_own_trait(of, scope.module) || self.cx.is_item_of_type(of, scope),
                    _ => true,
                };
                let call: Expr = match (&words[..], &arguments[..]) {
                    (["str" | "ToString" | "ToOwned", "to_string" | "to_owned"], [value]) if !is_own => {
                        syn::parse_quote!(#value.to_string())
                    }
                    (["Into", "into"], [value]) if !is_own => syn::parse_quote!(#value.into()),
                    _ => syn::parse_quote!(#path(#(#arguments),*)),
                };
                self.evaluate(&call, &inner, hint)
            }
            _ => match self.evaluate(function, scope, &Hint::Unknown)? {
                Value::Function(function, at) => self.called(&function, values, &at, hint),
                _ => self.cx.not_evident(function, scope),
            },
        }
    }

    /// The result of a closure; it modifies nothing outside of it.
    pub fn closure_value(
        &mut self,
        closure: &ExprClosure,
        values: Vec<Value>,
        scope: &Scope,
        hint: &Hint,
    ) -> Derived<Value> {
        if closure.asyncness.is_some() || closure.inputs.len() != values.len() {
            return self.cx.not_evident(closure, scope);
        }
        let mut inner = scope.within_closure();
        for (parameter, value) in closure.inputs.iter().zip(values) {
            let pattern = match parameter {
                Pat::Type(typed) => &typed.pat,
                pattern => pattern,
            };
            let matches = self.matches(pattern, &value, &mut inner)?;
            self.cx.or_not_evident(matches.then_some(()), parameter, scope)?;
        }
        let hint = match &closure.output {
            ReturnType::Type(_, ty) => Hint::exactly(((**ty).clone(), scope.clone())),
            ReturnType::Default => hint.clone(),
        };
        self.closure_body(&closure.body, &inner, &hint)
    }

    /// The elements of an iterable value, if it has an order.
    pub fn elements(&mut self, value: Value) -> Option<Vec<Value>> {
        match value {
            Value::List(kind, list) if kind != "tuple" => Some(list),
            Value::Map(kind, entries) if kind == "BTreeMap" || entries.len() < 2 => {
                Some(entries.into_iter().map(|(key, value)| Value::List("tuple", vec![key, value])).collect())
            }
            Value::Option(value) => Some(value.map(|value| *value).into_iter().collect()),
            _ => None,
        }
    }
}

impl Context<'_> {
    /// The hint for the source of a collection: for its elements, or for pairs if it is a map.
    fn source_of(&mut self, collection: &Hint, last: &str) -> Derived<Hint> {
        let element = self.element(collection, 0)?;
        Ok(Hint::List(Box::new(if last.ends_with("Map") {
            Hint::Pair(Box::new(element), Box::new(self.element(collection, 1)?))
        } else {
            element
        })))
    }

    /// The name of the collection that a hint expects.
    pub fn collection_of(&mut self, hint: &Hint) -> Derived<Option<String>> {
        let Some(ty) = hint.ty() else { return Ok(None) };
        Ok(match self.meaning(ty)? {
            Some(Resolved::Known { path, arguments, .. }) => match (arguments.first(), is_pointer(&path)) {
                (Some(inner), true) => self.collection_of(&Hint::exactly(inner.clone()))?,
                _ => path.last().cloned(),
            },
            Some(Resolved::Slice(_)) => Some("array".into()),
            _ => None,
        })
    }

    /// `true` if an expression is a closure or a function.
    pub fn is_function(&mut self, expr: &Expr, scope: &Scope) -> bool {
        let Expr::Path(path) = super::numbers::without_parens(expr) else { return matches!(expr, Expr::Closure(_)) };
        match path.path.get_ident().and_then(|ident| scope.locals.get(&name(ident))) {
            Some(Local::Closure(..)) => true,
            Some(Local::Value { value, .. }) => matches!(**value, Value::Function(..)),
            Some(_) => false,
            None => {
                self.function(path, scope, None).is_some()
                    || path.path.segments.len() > 1 && !self.is_constant_item(path, scope)
            }
        }
    }
}

/// The result of `String::from`.
fn text_of(value: Value) -> Option<Value> {
    match value {
        Value::Char(letter) => Some(Value::Text(letter.to_string())),
        text @ Value::Text(_) => Some(text),
        _ => None,
    }
}

/// A collection of these elements, according to its type; `None` if their order is random, or defined by their type.
pub fn collection(last: &str, mut list: Vec<Value>) -> Option<Value> {
    const LISTS: [&str; 7] = ["Vec", "VecDeque", "LinkedList", "SmallVec", "ArrayVec", "array", "iterator"];
    const SETS: [&str; 4] = ["BTreeSet", "HashSet", "BinaryHeap", "IndexSet"];
    const MAPS: [&str; 4] = ["BTreeMap", "HashMap", "IndexMap", "Map"];
    if last == "String" {
        return super::methods::concatenated_texts(list).map(Value::Text);
    }
    if let Some(kind) = LISTS.into_iter().find(|kind| *kind == last) {
        return Some(Value::List(kind, list));
    }
    if let Some(kind) = SETS.into_iter().find(|kind| *kind == last) {
        if list.len() > 1 {
            list = if kind == "BTreeSet" { sorted(list, |value| value)? } else { return None };
        }
        return Some(Value::List(kind, list));
    }
    let kind = MAPS.into_iter().find(|kind| *kind == last)?;
    let pairs = list.into_iter().map(|pair| match pair {
        Value::List("tuple", pair) => <[Value; 2]>::try_from(pair).ok().map(|[key, value]| (key, value)),
        _ => None,
    });
    map(kind, pairs.collect::<Option<_>>()?)
}

/// A map of these entries; later ones replace earlier ones.
pub fn map(kind: &'static str, mut entries: Vec<(Value, Value)>) -> Option<Value> {
    if entries.len() > 1 {
        entries = sorted(entries, |(key, _)| key)?;
    }
    Some(Value::Map(kind, entries))
}

/// Sorts values that order like numbers or strings; of equal ones, keeps the last.
fn sorted<T>(list: Vec<T>, key: fn(&T) -> &Value) -> Option<Vec<T>> {
    let mut sorted: Vec<T> = Vec::new();
    for new in list {
        let mut at = 0;
        let mut replaces = false;
        for old in &sorted {
            match order(key(old), key(&new))? {
                Ordering::Less => at += 1,
                Ordering::Equal => replaces = true,
                Ordering::Greater => {}
            }
        }
        if replaces {
            sorted[at] = new;
        } else {
            sorted.insert(at, new);
        }
    }
    Some(sorted)
}

impl Evaluator<'_, '_> {
    /// Sorts by a comparison function.
    pub fn sorted_by(&mut self, list: Vec<Value>, function: &Expr, scope: &Scope) -> Derived<Option<Vec<Value>>> {
        let mut sorted: Vec<Value> = Vec::new();
        for new in list {
            let mut at = sorted.len();
            while at > 0 {
                let pair = vec![sorted[at - 1].clone(), new.clone()];
                match self.called(function, pair, scope, &Hint::Unknown)? {
                    Value::Ordering(Ordering::Greater) => at -= 1,
                    Value::Ordering(_) => break,
                    _ => return Ok(None),
                }
            }
            sorted.insert(at, new);
        }
        Ok(Some(sorted))
    }
}

impl Context<'_> {
    /// Sorts as `sort` does.
    pub fn in_order(&mut self, list: Vec<Value>) -> Option<Vec<Value>> {
        self.in_order_of(list.into_iter().map(|value| (value.clone(), value)).collect())
    }

    /// Sorts by keys; the sort is stable.
    pub fn in_order_of(&mut self, list: Vec<(Value, Value)>) -> Option<Vec<Value>> {
        let mut sorted: Vec<(Value, Value)> = Vec::new();
        for new in list {
            let mut at = sorted.len();
            while at > 0 && self.ordered(&sorted[at - 1].0, &new.0)? == Ordering::Greater {
                at -= 1;
            }
            sorted.insert(at, new);
        }
        Some(sorted.into_iter().map(|(_, value)| value).collect())
    }

    /// `cmp`, if it is derived at every level.
    pub fn ordered(&mut self, left: &Value, right: &Value) -> Option<Ordering> {
        let (Value::Data(left), Value::Data(right)) = (left, right) else { return order(left, right) };
        let is_derived = |trait_name: &str| {
            self.derives(&left.input.attrs, trait_name, left.module) && Rc::ptr_eq(&left.input, &right.input)
        };
        if !["PartialOrd", "Ord"].into_iter().all(is_derived)
            || ["PartialOrd", "Ord"].into_iter().any(|name| self.shadows.is_own_trait(name, left.module))
        {
            return None;
        }
        let fields = match &left.input.data {
            syn::Data::Struct(data) => &data.fields,
            syn::Data::Enum(data) => {
                // Variants are ordered by their discriminants.
                let at = |of: &Option<String>| data.variants.iter().position(|one| Some(name(&one.ident)) == *of);
                let (left_at, right_at) = (at(&left.variant)?, at(&right.variant)?);
                if data.variants.iter().any(|variant| variant.discriminant.is_some()) {
                    return None;
                }
                if left_at != right_at {
                    return Some(left_at.cmp(&right_at));
                }
                &data.variants[left_at].fields
            }
            syn::Data::Union(_) => return None,
        };
        for member in fields.members() {
            let key = super::values::key_of(&member);
            match self.ordered(left.fields.get(&key)?, right.fields.get(&key)?)? {
                Ordering::Equal => {}
                different => return Some(different),
            }
        }
        Some(Ordering::Equal)
    }
}

/// The order of values that order like numbers or strings, and of lists of these.
pub fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Integer(left, _), Value::Integer(right, _)) => Some(left.cmp(right)),
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        (Value::Char(left), Value::Char(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Unit, Value::Unit) => Some(Ordering::Equal),
        (Value::Duration(left), Value::Duration(right)) => Some(left.cmp(right)),
        (Value::Ordering(left), Value::Ordering(right)) => Some(left.cmp(right)),
        (Value::Option(None), Value::Option(right)) => Some(false.cmp(&right.is_some())),
        (Value::Option(Some(_)), Value::Option(None)) => Some(Ordering::Greater),
        (Value::Option(Some(left)), Value::Option(Some(right))) => order(left, right),
        (Value::List("Reverse", left), Value::List("Reverse", right)) => Some(in_turn(left, right)?.reverse()),
        (Value::List("array" | "tuple" | "Vec", left), Value::List("array" | "tuple" | "Vec", right)) => {
            in_turn(left, right)
        }
        _ => None,
    }
}

/// The lexicographic order of lists.
fn in_turn(left: &[Value], right: &[Value]) -> Option<Ordering> {
    for (left, right) in left.iter().zip(right) {
        match order(left, right)? {
            Ordering::Equal => {}
            different => return Some(different),
        }
    }
    Some(left.len().cmp(&right.len()))
}
