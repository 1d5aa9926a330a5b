//! Breaks lines that a long name makes longer than rustfmt allows, in the same way as rustfmt, so that templates look
//! like the generated code.
//!
//! Only forms that contain user input next to other text are supported: a `fn` signature, a `use` list, a `let` with a
//! type, a constant that is a string or a list of strings, and the watches of a controller. The tests run rustfmt on
//! every template with the longest names.

/// rustfmt's default of `max_width`, in columns.
const WIDTH: usize = 100;

/// rustfmt's default of `chain_width`: the maximum width of a chain of calls on one line, in columns.
const CHAIN_WIDTH: usize = 60;

/// Rust text without consecutive blank lines, which optional parts of a template leave behind.
pub fn single_blank_lines(text: &str) -> String {
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if line != "\n" || !kept.ends_with("\n\n") {
            kept.push_str(line);
        }
    }
    kept
}

/// Rust text with its long signatures, imports and other lines broken.
pub fn break_long_lines(text: &str) -> String {
    break_starts(&text.split_inclusive('\n').map(break_line).collect::<String>())
}

fn break_line(line: &str) -> String {
    let broken = signature(line).or_else(|| import(line)).or_else(|| binding(line)).or_else(|| constant(line));
    broken.or_else(|| chain(line)).unwrap_or_else(|| line.to_owned())
}

/// Breaks a long `let` before its value, if it has a type or the value is a call of `new`.
fn binding(line: &str) -> Option<String> {
    let (indent, text) = indented(line);
    if line.trim_end().len() <= WIDTH || !text.starts_with("let ") {
        return None;
    }
    let (head, value) =
        text.split_once(" = ").filter(|(head, value)| head.contains(": ") || value.contains("::new("))?;
    Some(format!("{indent}{head} =\n{indent}    {value}"))
}

/// Breaks a chain that is longer than [`CHAIN_WIDTH`] into one call per line.
fn chain(line: &str) -> Option<String> {
    let (indent, text) = indented(line);
    let text = text.trim_end();
    if !is_chain(text) || text.len() <= CHAIN_WIDTH {
        return None;
    }
    let mut broken = indent.to_owned();
    let (mut depth, mut is_quoted, mut calls) = (0_u32, false, 0);
    for character in text.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            '(' => depth += 1,
            ')' => depth -= 1,
            '.' if depth == 0 && !is_quoted => {
                broken.extend(["\n", indent, "    "]);
                calls += 1;
            }
            _ => {}
        }
        broken.push(character);
    }
    // A single call is not a chain, and is kept on the line if it fits.
    (calls > 1 || line.trim_end().len() > WIDTH).then(|| broken + "\n")
}

/// Breaks the argument in the first line of a chain, if the line is too long. The calls of the chain are then indented
/// like the closing bracket.
fn break_starts(text: &str) -> String {
    let mut broken = String::new();
    let mut calls: Option<(String, &str)> = None;
    for line in text.split_inclusive('\n') {
        let (indent, start) = indented(line);
        if let Some((inner, indent)) = &calls
            && let Some(call) = line.strip_prefix(inner.as_str())
        {
            broken.extend([*indent, call]);
            continue;
        }
        calls = None;
        match start.trim_end().strip_suffix(')').and_then(|start| start.split_once('(')) {
            Some((head, argument)) if is_chain(start) && line.trim_end().len() > WIDTH => {
                broken.push_str(&format!("{indent}{head}(\n{indent}    {argument},\n{indent})\n"));
                calls = Some((format!("{indent}    "), indent));
            }
            _ => broken.push_str(line),
        }
    }
    broken
}

fn is_chain(text: &str) -> bool {
    ["Controller::<", "ChartController::<", "AnsibleController::<"].iter().any(|start| text.starts_with(start))
}

fn indented(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start().len())
}

/// Rust text with its `use` lines sorted within each block, as by rustfmt.
pub fn sort_imports(text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_import = |line: &&str| line.starts_with("use ") && line.ends_with(";\n");
    for block in lines.chunk_by_mut(|a, b| is_import(a) && is_import(b)) {
        block.sort_by_key(|line| import_key(line));
    }
    lines.concat()
}

/// Sorts by segment, then by alias. Keywords are first, `_` is before all letters, lists are
/// after all names, and numbers are compared by value.
fn import_key(line: &str) -> (Vec<Vec<(u8, u64)>>, &str) {
    let path = line.trim_start_matches("use ").trim_end_matches([';', '\n']);
    let (path, alias) = path.split_once(" as ").unwrap_or((path, ""));
    (path.split("::").map(segment_key).collect(), alias)
}

fn segment_key(segment: &str) -> Vec<(u8, u64)> {
    if let Some(place) = ["self", "super", "crate"].iter().position(|keyword| *keyword == segment) {
        return vec![(0, place as u64)];
    }
    let mut key: Vec<(u8, u64)> = Vec::new();
    let mut in_number = false;
    for byte in segment.bytes() {
        match (byte, key.last_mut()) {
            (b'0'..=b'9', Some((_, number))) if in_number => *number = *number * 10 + u64::from(byte - b'0'),
            (b'0'..=b'9', _) => key.push((b'0', u64::from(byte - b'0'))),
            (b'_', _) => key.push((1, 0)),
            // `*` is sorted right before a list.
            (b'*', _) => key.push((b'{', 0)),
            _ => key.push((byte, 0)),
        }
        in_number = byte.is_ascii_digit();
    }
    key
}

/// Breaks a long signature into one parameter per line.
fn signature(line: &str) -> Option<String> {
    if line.trim_end().len() <= WIDTH {
        return None;
    }
    let indent = &line[..line.len() - line.trim_start().len()];
    let (head, rest) = line.split_once('(')?;
    if !head.split(' ').any(|word| word == "fn") {
        return None;
    }
    let (parameters, tail) = rest.split_once(") ->")?;
    let parameters: String = split(parameters).map(|each| format!("{indent}    {each},\n")).collect();
    Some(format!("{head}(\n{parameters}{indent}) ->{tail}"))
}

/// Splits a list at the commas outside of all brackets.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split_inclusive(move |c| {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(|part| part.trim().trim_end_matches(','))
}

/// Breaks a long constant: a string moves to the next line if it fits there, and a list gets one string per line.
fn constant(line: &str) -> Option<String> {
    if line.trim_end().len() <= WIDTH || !line.starts_with("const ") {
        return None;
    }
    let (head, value) = line.split_once(" = ")?;
    if value.starts_with('"') {
        return (value.trim_end().len() <= WIDTH - 4).then(|| format!("{head} =\n    {value}"));
    }
    let texts: Vec<String> = serde_json::from_str(value.trim_end().strip_suffix(';')?).ok()?;
    let texts: String = texts.iter().map(|text| format!("    {text:?},\n")).collect();
    Some(format!("{head} = [\n{texts}];\n"))
}

/// Breaks a long import into lines with as many names as fit. rustfmt's limits are lower here: by two columns for the
/// whole, and by one in a list.
fn import(line: &str) -> Option<String> {
    if line.trim_end().len() <= WIDTH - 2 {
        return None;
    }
    let (path, names) = line.strip_prefix("use ")?.trim_end().strip_suffix("};")?.split_once("::{")?;
    let mut lines = vec![String::from("   ")];
    for name in names.split(", ") {
        if lines.last().is_some_and(|line| line.len() > 3 && line.len() + name.len() + 2 > WIDTH - 1) {
            lines.push(String::from("   "));
        }
        let last = lines.last_mut().expect("there is a first line");
        last.push_str(&format!(" {name},"));
    }
    Some(format!("use {path}::{{\n{}\n}};\n", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_what_fits_alone() {
        let text = "use a::{B, C};\n\nasync fn f(a: A, b: B) -> C {\n}\n";
        assert_eq!(break_long_lines(text), text);
    }

    #[test]
    fn breaks_signatures_and_imports() {
        let long = "L".repeat(60);
        assert_eq!(
            break_long_lines(&format!(
                "    async fn f(object: Arc<{long}>, ctx: Arc<Context>) -> Result<(), Error> {{\n"
            )),
            format!(
                "    async fn f(\n        object: Arc<{long}>,\n        ctx: Arc<Context>,\n    ) -> Result<(), Error> {{\n"
            ),
        );
        assert_eq!(
            break_long_lines(&format!("fn f(a: {long}, b: Result<(A, B), C>) -> Result<A, B> {{\n")),
            format!("fn f(\n    a: {long},\n    b: Result<(A, B), C>,\n) -> Result<A, B> {{\n"),
        );
        assert_eq!(
            break_long_lines(&format!("const A: &str = \"{long}{}\";\n", "l".repeat(30))),
            format!("const A: &str =\n    \"{long}{}\";\n", "l".repeat(30)),
        );
        assert_eq!(
            break_long_lines(&format!("const A: [&str; 2] = [\"{long}\", \"{long}\"];\n")),
            format!("const A: [&str; 2] = [\n    \"{long}\",\n    \"{long}\",\n];\n"),
        );
        assert_eq!(
            break_long_lines(&format!("use a::{{{long}, {long}Status}};\n")),
            format!("use a::{{\n    {long},\n    {long}Status,\n}};\n"),
        );
    }
}
