//! Follows pages of the book: replaces scaffolded code in a project by their Rust blocks.

use std::path::Path;

use crate::sandbox::Sandbox;

const KIND: &str = "src/api/cache/v1alpha1/memcached.rs";
pub const CONTROLLER: &str = "src/controller/cache/memcached.rs";
const SAMPLE: &str = "config/samples/cache_v1alpha1_memcached.yaml";

/// Follows `docs/getting-started.md` until the operator runs. `run` executes each command.
pub fn getting_started(page: &str, mut run: impl FnMut(&Sandbox, &str)) -> Sandbox {
    let blocks = rust_blocks(page);
    let [spec, status, imports, controller, reconcile, markers, tests, valid] = blocks[..] else {
        panic!("{blocks:?}")
    };
    let mut terminal = Sandbox::new();
    run(&terminal, "opctl init memcached-operator --domain example.com");
    terminal.folder.push("memcached-operator");
    run(&terminal, "opctl create api --group cache --version v1alpha1 --kind Memcached");

    edit(&terminal, KIND, |source| replace_item(source, "pub struct MemcachedSpec", spec));
    let (status, _) = status.split_once("    // …").unwrap();
    edit(&terminal, KIND, |source| source.replace("pub struct MemcachedStatus {\n", status));
    run(&terminal, "opctl manifests --diff");
    give_the_sample_a_size(&terminal);

    edit(&terminal, CONTROLLER, |source| {
        let source = replace_imports(source, imports);
        let source =
            replace_item(&source, "// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,", controller);
        replace_item(&source, "// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,", reconcile)
    });
    run(&terminal, "opctl check --fix");
    edit(&terminal, CONTROLLER, |source| {
        assert!(markers.lines().all(|marker| source.contains(marker)), "{markers}\n{source}");
        let source = source.replace("use opctl_runtime::testing;", "use opctl_runtime::testing::{self, Calls};");
        let source = replace_item(&source, "#[tokio::test]\n    async fn is_ready_when_the_spec_is_fulfilled", tests);
        replace_item(&source, "/// Returns a valid spec", valid)
    });
    terminal
}

/// The edits of `docs/tour.md` in the new project `demo`: first the kind, then the controller.
pub fn tour_api(terminal: &Sandbox, page: &str) {
    edit(terminal, KIND, |source| replace_item(source, "pub struct MemcachedSpec", rust_blocks(page)[0]));
    give_the_sample_a_size(terminal);
}

pub fn tour_controller(terminal: &Sandbox, page: &str) {
    let [_, controller, imports] = rust_blocks(page)[..] else { panic!("other blocks are in the tour") };
    edit(terminal, CONTROLLER, |source| {
        let source = replace_item(source, "// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,", "");
        let source = replace_item(
            &source,
            "// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,",
            controller,
        );
        replace_imports(&source, imports)
    });
}

fn give_the_sample_a_size(terminal: &Sandbox) {
    edit(terminal, SAMPLE, |sample| sample.replace("spec: {}\n", "spec:\n  size: 3\n"));
}

/// The Rust blocks of a page, in order.
pub fn rust_blocks(page: &str) -> Vec<&str> {
    page.split("```rust\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

pub fn edit(terminal: &Sandbox, file: &str, change: impl Fn(&str) -> String) {
    let file = terminal.folder.join(Path::new(file));
    let before = std::fs::read_to_string(&file).unwrap();
    let after = change(&before);
    assert_ne!(before, after, "{}", file.display());
    std::fs::write(file, after).unwrap();
}

/// Replaces the item that begins with `start` and ends with the next `}` of the same indentation.
fn replace_item(source: &str, start: &str, block: &str) -> String {
    let (before, item) = source.split_once(start).unwrap_or_else(|| panic!("no `{start}` in\n{source}"));
    let indent = before.rsplit('\n').next().unwrap();
    let (_, after) = item.split_once(&format!("\n{indent}}}\n")).unwrap();
    format!("{}{block}{after}", &before[..before.len() - indent.len()])
}

/// Replaces the imports at the top.
fn replace_imports(source: &str, block: &str) -> String {
    let (before, imports) = source.split_once("\nuse ").unwrap();
    let (_, after) = imports.split_once(";\n\n///").unwrap();
    format!("{before}\n{block}\n///{after}")
}
