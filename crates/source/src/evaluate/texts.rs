//! Methods of std's strings and characters.

use syn::{Expr, ExprMethodCall};

use super::Evaluator;
use super::context::{Derived, Resolved, Scope};
use super::numbers::{in_range, integer_type};
use super::values::{Hint, Value};

/// The pattern of a string search.
enum Pattern {
    Text(String),
    /// Any of these characters; for a closure, the characters of the string for which it returns `true`.
    Letters(Vec<char>),
}

/// Evaluates an expression with a pattern in std's form.
macro_rules! by {
    ($pattern:expr, $found:ident => $expr:expr) => {
        match &$pattern {
            Pattern::Text($found) => {
                let $found = $found.as_str();
                $expr
            }
            Pattern::Letters($found) => {
                let $found = $found.as_slice();
                $expr
            }
        }
    };
}

pub fn of_text(
    evaluator: &mut Evaluator<'_, '_>,
    text: &str,
    method: &str,
    arguments: &[&Expr],
    call: &ExprMethodCall,
    scope: &Scope,
    hint: &Hint,
) -> Derived<Option<Value>> {
    let bytes = || text.bytes().map(|byte| Value::Integer(byte.into(), "u8")).collect();
    Ok(match (method, arguments) {
        ("into_boxed_str" | "into_string" | "as_ref" | "to_string", []) => Some(text_value(text)),
        ("trim_start", []) => Some(text_value(text.trim_start())),
        ("trim_end", []) => Some(text_value(text.trim_end())),
        ("split_whitespace", []) => Some(texts(text.split_whitespace())),
        ("split_ascii_whitespace", []) => Some(texts(text.split_ascii_whitespace())),
        ("lines", []) => Some(texts(text.lines())),
        ("chars", []) => Some(Value::List("iterator", text.chars().map(Value::Char).collect())),
        ("char_indices", []) => {
            let pair = |(at, letter)| Value::List("tuple", vec![index(at), Value::Char(letter)]);
            Some(Value::List("iterator", text.char_indices().map(pair).collect()))
        }
        ("bytes", []) => Some(Value::List("iterator", bytes())),
        ("as_bytes", []) => Some(Value::List("array", bytes())),
        ("into_bytes", []) => Some(Value::List("Vec", bytes())),
        ("is_ascii", []) => Some(Value::Bool(text.is_ascii())),
        ("eq_ignore_ascii_case", [other]) => {
            let other = evaluator.text(other, scope)?;
            Some(Value::Bool(text.eq_ignore_ascii_case(&other)))
        }
        ("repeat", [count]) => {
            let count = usize::try_from(evaluator.integer(count, scope, "usize")?).unwrap_or(usize::MAX);
            (count.saturating_mul(text.len()) <= super::values::MAX_SIZE).then(|| Value::Text(text.repeat(count)))
        }
        ("split_at", [at]) => {
            let at = usize::try_from(evaluator.integer(at, scope, "usize")?).ok();
            at.and_then(|at| text.split_at_checked(at)).map(|(left, right)| pair(left, right))
        }
        ("get", [range]) => match super::numbers::without_parens(range) {
            Expr::Range(range) => {
                let range = evaluator.span_of_range(range, text.len(), scope)?;
                Some(option(text.get(range).map(text_value)))
            }
            _ => None,
        },
        ("parse", []) => {
            let given = call.turbofish.as_ref().and_then(|list| match list.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Some(Hint::exactly((ty.clone(), scope.clone()))),
                _ => None,
            });
            // The hint of `unwrap` is for the content of a result.
            let of = match given {
                Some(given) => given,
                None => evaluator.cx.element(hint, 0)?,
            };
            parsed_as(evaluator, text, &of)?
        }
        (method, [argument, rest @ ..]) => {
            // With a count and a pattern, the pattern is last.
            let (argument, rest) = match (method, rest) {
                ("splitn" | "rsplitn", [pattern]) => (*pattern, &[*argument][..]),
                (_, rest) => (*argument, rest),
            };
            let is_known = PATTERNED.contains(&method);
            match if is_known { pattern(evaluator, argument, text, scope)? } else { None } {
                Some(pattern) => of_text_by(evaluator, text, method, &pattern, rest, scope)?,
                None => None,
            }
        }
        _ => None,
    })
}

/// Methods with a pattern.
fn of_text_by(
    evaluator: &mut Evaluator<'_, '_>,
    text: &str,
    method: &str,
    pattern: &Pattern,
    rest: &[&Expr],
    scope: &Scope,
) -> Derived<Option<Value>> {
    Ok(match (method, rest) {
        ("trim_matches", []) => match pattern {
            Pattern::Letters(letters) => Some(text_value(text.trim_matches(letters.as_slice()))),
            Pattern::Text(_) => None,
        },
        ("trim_start_matches", []) => Some(text_value(by!(pattern, found => text.trim_start_matches(found)))),
        ("trim_end_matches", []) => Some(text_value(by!(pattern, found => text.trim_end_matches(found)))),
        ("starts_with", []) => Some(Value::Bool(by!(pattern, found => text.starts_with(found)))),
        ("ends_with", []) => Some(Value::Bool(by!(pattern, found => text.ends_with(found)))),
        ("contains", []) => Some(Value::Bool(by!(pattern, found => text.contains(found)))),
        ("find", []) => Some(option(by!(pattern, found => text.find(found)).map(index))),
        ("rfind", []) => Some(option(by!(pattern, found => text.rfind(found)).map(index))),
        ("strip_prefix", []) => Some(option(by!(pattern, found => text.strip_prefix(found)).map(text_value))),
        ("strip_suffix", []) => Some(option(by!(pattern, found => text.strip_suffix(found)).map(text_value))),
        ("split_once", []) => {
            Some(option(by!(pattern, found => text.split_once(found)).map(|(left, right)| pair(left, right))))
        }
        ("rsplit_once", []) => {
            Some(option(by!(pattern, found => text.rsplit_once(found)).map(|(left, right)| pair(left, right))))
        }
        ("split", []) => Some(by!(pattern, found => texts(text.split(found)))),
        ("rsplit", []) => Some(by!(pattern, found => texts(text.rsplit(found)))),
        ("split_inclusive", []) => Some(by!(pattern, found => texts(text.split_inclusive(found)))),
        ("split_terminator", []) => Some(by!(pattern, found => texts(text.split_terminator(found)))),
        ("matches", []) => Some(by!(pattern, found => texts(text.matches(found)))),
        ("splitn" | "rsplitn", [count]) => {
            let count = usize::try_from(evaluator.integer(count, scope, "usize")?).unwrap_or(usize::MAX);
            Some(match method {
                "splitn" => by!(pattern, found => texts(text.splitn(count, found))),
                _ => by!(pattern, found => texts(text.rsplitn(count, found))),
            })
        }
        ("replace", [with]) => {
            let with = evaluator.text(with, scope)?;
            Some(Value::Text(by!(pattern, found => text.replace(found, &with))))
        }
        ("replacen", [with, count]) => {
            let with = evaluator.text(with, scope)?;
            let count = usize::try_from(evaluator.integer(count, scope, "usize")?).unwrap_or(usize::MAX);
            Some(Value::Text(by!(pattern, found => text.replacen(found, &with, count))))
        }
        _ => None,
    })
}

/// A string, a character, a list of characters, or a function of a character.
fn pattern(evaluator: &mut Evaluator<'_, '_>, expr: &Expr, text: &str, scope: &Scope) -> Derived<Option<Pattern>> {
    if evaluator.cx.is_function(expr, scope) {
        let mut letters = Vec::new();
        for letter in text.chars() {
            match evaluator.called(expr, vec![Value::Char(letter)], scope, &Hint::Unknown)? {
                Value::Bool(true) => letters.push(letter),
                Value::Bool(false) => {}
                _ => return Ok(None),
            }
        }
        return Ok(Some(Pattern::Letters(letters)));
    }
    Ok(match evaluator.evaluate(expr, scope, &Hint::Unknown)? {
        Value::Text(text) => Some(Pattern::Text(text)),
        Value::Char(letter) => Some(Pattern::Letters(vec![letter])),
        Value::List("array", list) => {
            let letters = list.into_iter().map(|value| match value {
                Value::Char(letter) => Some(letter),
                _ => None,
            });
            letters.collect::<Option<_>>().map(Pattern::Letters)
        }
        _ => None,
    })
}

/// The result of `parse`.
fn parsed_as(evaluator: &mut Evaluator<'_, '_>, text: &str, hint: &Hint) -> Derived<Option<Value>> {
    if let Some(ty) = evaluator.cx.number_of(hint)? {
        return Ok(parsed_number(text, ty));
    }
    if matches!(hint, Hint::Text) {
        return Ok(Some(result(Some(text_value(text)))));
    }
    let Some(ty) = hint.ty() else { return Ok(None) };
    let Some(Resolved::Known { path, arguments, .. }) = evaluator.cx.meaning(ty)? else { return Ok(None) };
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    Ok(match names[..] {
        [.., "String"] => Some(result(Some(text_value(text)))),
        ["bool"] => Some(result(text.parse().ok().map(Value::Bool))),
        ["char"] => Some(result(text.parse().ok().map(Value::Char))),
        _ => super::foreign::parsed(evaluator.cx, &path, &arguments, text),
    })
}

/// Methods whose argument is a pattern.
const PATTERNED: [&str; 21] = [
    "contains",
    "ends_with",
    "find",
    "matches",
    "replace",
    "replacen",
    "rfind",
    "rsplit",
    "rsplit_once",
    "rsplitn",
    "split",
    "split_inclusive",
    "split_once",
    "split_terminator",
    "splitn",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_end_matches",
    "trim_matches",
    "trim_start_matches",
];

fn text_value(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn texts<'t>(parts: impl Iterator<Item = &'t str>) -> Value {
    Value::List("iterator", parts.map(text_value).collect())
}

fn pair(left: &str, right: &str) -> Value {
    Value::List("tuple", vec![text_value(left), text_value(right)])
}

fn index(at: usize) -> Value {
    Value::Integer(at as i128, "usize")
}

fn option(value: Option<Value>) -> Value {
    Value::Option(value.map(Box::new))
}

fn result(value: Option<Value>) -> Value {
    Value::Result(value.map(Box::new))
}

/// The result of `parse`; std, unlike `i128`, refuses `-0` for unsigned types.
fn parsed_number(text: &str, ty: &'static str) -> Option<Value> {
    let value = match ty {
        "f32" => text.parse().ok().map(Value::Single),
        "f64" => text.parse().ok().map(Value::Double),
        "i128" | "u128" => return None,
        ty if ty.starts_with('u') && text.starts_with('-') => None,
        ty => text.parse().ok().and_then(|number| in_range(number, ty)),
    };
    Some(result(value))
}

pub fn of_char(letter: char, method: &str, arguments: &[&Expr]) -> Option<Value> {
    Some(match (method, arguments) {
        ("to_ascii_uppercase", []) => Value::Char(letter.to_ascii_uppercase()),
        ("to_ascii_lowercase", []) => Value::Char(letter.to_ascii_lowercase()),
        ("is_ascii", []) => Value::Bool(letter.is_ascii()),
        ("is_ascii_digit", []) => Value::Bool(letter.is_ascii_digit()),
        ("is_ascii_hexdigit", []) => Value::Bool(letter.is_ascii_hexdigit()),
        ("is_ascii_alphabetic", []) => Value::Bool(letter.is_ascii_alphabetic()),
        ("is_ascii_alphanumeric", []) => Value::Bool(letter.is_ascii_alphanumeric()),
        ("is_ascii_uppercase", []) => Value::Bool(letter.is_ascii_uppercase()),
        ("is_ascii_lowercase", []) => Value::Bool(letter.is_ascii_lowercase()),
        ("is_ascii_punctuation", []) => Value::Bool(letter.is_ascii_punctuation()),
        ("is_ascii_whitespace", []) => Value::Bool(letter.is_ascii_whitespace()),
        ("len_utf8", []) => index(letter.len_utf8()),
        // Properties of other characters may change with the version of std.
        ("is_alphabetic", []) if letter.is_ascii() => Value::Bool(letter.is_alphabetic()),
        ("is_alphanumeric", []) if letter.is_ascii() => Value::Bool(letter.is_alphanumeric()),
        ("is_numeric", []) if letter.is_ascii() => Value::Bool(letter.is_numeric()),
        ("is_uppercase", []) if letter.is_ascii() => Value::Bool(letter.is_uppercase()),
        ("is_lowercase", []) if letter.is_ascii() => Value::Bool(letter.is_lowercase()),
        ("is_whitespace", []) if letter.is_ascii() => Value::Bool(letter.is_whitespace()),
        ("to_uppercase", []) if letter.is_ascii() => {
            Value::List("iterator", vec![Value::Char(letter.to_ascii_uppercase())])
        }
        ("to_lowercase", []) if letter.is_ascii() => {
            Value::List("iterator", vec![Value::Char(letter.to_ascii_lowercase())])
        }
        _ => return None,
    })
}

/// `char::from_digit`, `String::from_utf8` and similar functions: an associated function that returns a string or
/// character.
pub fn text_made(
    evaluator: &mut Evaluator<'_, '_>,
    of: &str,
    function: &str,
    arguments: &[&Expr],
    scope: &Scope,
) -> Derived<Option<Value>> {
    Ok(match (of, function, arguments) {
        ("char", "from_digit", [digit, radix]) => {
            let (digit, radix) = (evaluator.integer(digit, scope, "u32")?, evaluator.integer(radix, scope, "u32")?);
            let digits = u32::try_from(digit).ok().zip(u32::try_from(radix).ok().filter(|radix| *radix <= 36));
            digits.map(|(digit, radix)| option(char::from_digit(digit, radix).map(Value::Char)))
        }
        ("char", "from_u32", [number]) => {
            let number = u32::try_from(evaluator.integer(number, scope, "u32")?).ok();
            number.map(|number| option(char::from_u32(number).map(Value::Char)))
        }
        ("char", "from", [number]) => match evaluator.evaluate(number, scope, &Hint::Number("u8"))? {
            Value::Integer(number, "u8") => u8::try_from(number).ok().map(|number| Value::Char(number.into())),
            letter @ Value::Char(_) => Some(letter),
            _ => None,
        },
        ("String", "from_utf8" | "from_utf8_lossy", [bytes]) | ("str", "from_utf8", [bytes]) => {
            let of_bytes = Hint::List(Box::new(Hint::Number("u8")));
            let Value::List("array" | "Vec", list) = evaluator.evaluate(bytes, scope, &of_bytes)? else {
                return Ok(None);
            };
            let bytes = list.into_iter().map(|byte| match byte {
                Value::Integer(byte, _) => u8::try_from(byte).ok(),
                _ => None,
            });
            let Some(bytes) = bytes.collect::<Option<Vec<u8>>>() else { return Ok(None) };
            let text = String::from_utf8(bytes).ok().map(Value::Text);
            if function == "from_utf8_lossy" { text } else { Some(result(text)) }
        }
        (number, "from_str_radix", [text, radix]) => {
            let Some(ty) = integer_type(number).filter(|ty| !ty.ends_with("128")) else { return Ok(None) };
            let text = evaluator.text(text, scope)?;
            let radix =
                u32::try_from(evaluator.integer(radix, scope, "u32")?).ok().filter(|radix| (2..=36).contains(radix));
            let is_negative = ty.starts_with('u') && text.starts_with('-');
            radix.map(|radix| {
                let number = i128::from_str_radix(&text, radix).ok().filter(|_| !is_negative);
                result(number.and_then(|number| in_range(number, ty)))
            })
        }
        _ => None,
    })
}
