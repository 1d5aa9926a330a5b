//! Breaks the lines that a long name makes longer than rustfmt allows, as rustfmt would, so that templates read like
//! the code they make.
//!
//! Only the two forms that hold names of the user next to other text are known: a `fn` signature and a `use` list.
//! The tests run rustfmt over every template with the longest names.

/// rustfmt's default.
const WIDTH: usize = 100;

/// Rust text with its long signatures and imports broken.
pub fn break_long_lines(text: &str) -> String {
    text.split_inclusive('\n').map(break_line).collect()
}

fn break_line(line: &str) -> String {
    signature(line).or_else(|| import(line)).unwrap_or_else(|| line.to_owned())
}

/// One parameter a line.
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
    let parameters: String = parameters.split(", ").map(|each| format!("{indent}    {each},\n")).collect();
    Some(format!("{head}(\n{parameters}{indent}) ->{tail}"))
}

/// As many names a line as fit. rustfmt leaves room here: two columns in the whole, one in a list.
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
            break_long_lines(&format!("use a::{{{long}, {long}Status}};\n")),
            format!("use a::{{\n    {long},\n    {long}Status,\n}};\n"),
        );
    }
}
