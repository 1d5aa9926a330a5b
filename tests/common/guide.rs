//! Does with a project what a page of the book says: puts its blocks of Rust in place of what was scaffolded.

/// The blocks of Rust on a page, in their order.
pub fn rust_blocks(page: &str) -> Vec<&str> {
    page.split("```rust\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

/// Puts a block in place of the item that begins with `start`, whose last line is the next one that is `}` with the same indentation,
/// or `;` for the last of several `use`.
pub fn replace_item(source: &str, start: &str, block: &str) -> String {
    let (before, item) = source.split_once(start).unwrap_or_else(|| panic!("no `{start}` in\n{source}"));
    let indent = before.rsplit('\n').next().unwrap();
    let (_, after) = item.split_once(&format!("\n{indent}}}\n")).unwrap();
    format!("{}{block}{after}", &before[..before.len() - indent.len()])
}

/// Puts a block of `use` in place of those at the top.
pub fn replace_imports(source: &str, block: &str) -> String {
    let (before, imports) = source.split_once("\nuse ").unwrap();
    let (_, after) = imports.split_once(";\n\n///").unwrap();
    format!("{before}\n{block}\n///{after}")
}
