//! Renders a bundle (a folder of `templates/`) with a context to files. The only file that uses Tera.

use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use serde::Serialize;
use tera::{Context, Delimiters, Tera};

use super::File;

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// All templates, parsed once.
static TERA: LazyLock<Tera> = LazyLock::new(|| {
    let mut tera = Tera::new();
    // These delimiters do not occur in the target languages. Helm, GitHub Actions and `format!` use `{{ }}`.
    tera.set_delimiters(Delimiters {
        block_start: "[%".into(),
        block_end: "%]".into(),
        variable_start: "[=".into(),
        variable_end: "=]".into(),
        comment_start: "[#".into(),
        comment_end: "#]".into(),
    })
    .expect("no template was added yet");
    tera.autoescape_on(Vec::<&str>::new());
    let templates = files(&TEMPLATES).into_iter().filter(|(name, _)| name.ends_with(".tera"));
    tera.add_raw_templates(templates).expect("the tests parse every template");
    tera
});

/// Renders the files of a bundle, sorted by path. In paths, each placeholder such as `_kind_` is replaced by its value.
///
/// # Panics
///
/// If a template uses a variable that is not in the context. The tests render every bundle.
pub fn render(bundle: &str, context: &impl Serialize, placeholders: &[(&str, &str)]) -> Vec<File> {
    let context = Context::from_serialize(context).expect("a context is a struct of plain values");
    let mut files: Vec<File> = files(folder(bundle))
        .into_iter()
        .map(|(name, _)| {
            let text = TERA.render(name, &context).unwrap_or_else(|error| panic!("cannot render `{name}`: {error}"));
            let path = name[bundle.len() + 1..].strip_suffix(".tera").expect("every template ends in `.tera`");
            let path = placeholders.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
            File { path, text }
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The files of a bundle without templates, unchanged, by their paths in the bundle.
pub fn verbatim(bundle: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    files(folder(bundle)).into_iter().map(|(name, text)| (&name[bundle.len() + 1..], text))
}

fn folder(bundle: &str) -> &'static Dir<'static> {
    TEMPLATES.get_dir(bundle).unwrap_or_else(|| panic!("there is no bundle `{bundle}`"))
}

/// The name (the path below `templates/`) and text of each file below a folder.
fn files(folder: &'static Dir<'static>) -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<_> = folder
        .files()
        .map(|file| (file.path().to_str(), file.contents_utf8()))
        .map(|(name, text)| (name.expect("paths are UTF-8"), text.expect("templates are UTF-8")))
        .collect();
    found.extend(folder.dirs().flat_map(files));
    found
}
