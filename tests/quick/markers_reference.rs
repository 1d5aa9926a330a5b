//! Compares `docs/reference/markers.md` with the table of the marker parser.
//!
//! `SNAPSHOTS=overwrite cargo test --test quick markers_reference` updates it.

use std::fmt::Write;
use std::path::Path;

use opctl_model::diagnostic::SourceFile;
use opctl_source::markers;
use opctl_source::markers::go::{GO_MARKERS, GoForm, GoMarker};
use opctl_source::markers::table::{Argument, Form, MARKERS, Marker, Need, Type};
use snapbox::{Assert, Data};

/// Cargo runs tests in the package's folder.
const PATH: &str = "docs/reference/markers.md";

#[test]
fn the_reference_of_markers_is_up_to_date() {
    let mut text = HEAD.to_owned();
    text.push_str("| | controller-gen 0.23 | opctl |\n|---|---|---|\n");
    for (marker, meaning) in ACCIDENTS {
        writeln!(text, "| `{}` | {meaning} | {} |", cell(marker), said(marker)).unwrap();
    }
    for marker in MARKERS {
        describe(&mut text, marker);
    }
    text.push_str(GO);
    text.push_str("| marker | in Rust |\n|---|---|\n");
    for GoMarker { name, form, rust } in GO_MARKERS {
        let shown = match form {
            GoForm::Prefixed | GoForm::Alone => format!("+{name}"),
            GoForm::Any => format!("+{name}:…"),
            GoForm::WithValue => format!("+{name}=…"),
        };
        writeln!(text, "| `{shown}` | {} |", cell(rust)).unwrap();
    }
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(text), Data::read_from(Path::new(PATH), None).raw());
}

#[test]
fn every_example_is_read_without_a_complaint() {
    for marker in MARKERS {
        assert!(!marker.examples.is_empty(), "{} has no example", marker.name);
        for example in marker.examples {
            let end = if marker.arguments.is_empty() { "" } else { ":" };
            let start = format!("{}{end}", marker.name);
            assert!(example.starts_with(&start), "`{example}` does not start with `{start}`");
            let problems = problems(&format!("+{example}"));
            assert!(problems.is_empty(), "{example}: {problems:?}");
        }
        for argument in marker.arguments.iter().filter(|_| marker.form == Form::Named) {
            let only = format!("+{}:{}={}", marker.name, argument.name, argument.example);
            let about_the_value = |(said, _): &(String, String)| !said.starts_with("missing argument");
            let wrong: Vec<_> = problems(&only).into_iter().filter(about_the_value).collect();
            assert!(wrong.is_empty(), "{only}: {wrong:?}");
        }
    }
}

const HEAD: &str = "\
# Markers

Markers are comments that opctl reads. This page is made of the table that it reads them by.

## Where they stand

A marker is one `//` comment anywhere in the module tree of the package: above an item, behind code, in a function, on its
own. Doc comments and block comments are not read, and a marker in one is an error: the text of a doc comment would go into
the CRDs. A line that ends in `\\` is continued by the `//` line directly below; blanks at its start do not count:

```rust
// +kubebuilder:rbac:groups=apps,resources=deployments, \\
//     verbs=get;list;watch;create;patch
```

`opctl manifests -v` shows how many markers were read. Markers are ignored in a module that a `cfg` removes, such as that of
the tests, and those in a file below `src` that belongs to no module: each is [a warning](diagnostics.md#op112).

## Markers of the runtime

`opctl-runtime` has RBAC markers of its own, above its public items: `Manager` needs Leases, webhooks need the Secret of their
certificate. A marker counts for your operator if your code names its item in a path of `opctl_runtime`: in a `use`, in an
expression, or in a macro. Tests do not count, and neither does code that a `cfg` removes. These permissions are in your roles like those of your
own markers, wherever the runtime is: vendored, in another folder, or in the registry. `{operator}` in such a marker is the name of your package.

`opctl manifests -v` does not count these markers, and `opctl check` does not report them as unused. If the source of the runtime is not
found, that is [an error](diagnostics.md#op113).

## How they are written

The grammar is controller-gen's: `+name:argument=value,argument=value`, in any order, blanks around names and values allowed.

| value | written as |
|---|---|
| text | `plain`, `\"quoted\\n\"` with Go's escapes, or `` `between backticks` `` where a backslash is one; quoted if it has `,`, `;`, `}`, a quote or a blank inside |
| list | `a;b`, or `{a, b}`; inside of braces `a;b` is a list in the list |
| map | `{key: value, key: value}` |
| whole number | `10`, `-1` |
| truth value | `true`, `false` |

A blank behind a text without quotes makes controller-gen 0.23 lose the end of the text, so that `verbs=get , groups=apps`
grants nothing; opctl reads what stands there.

What looks like a marker must be one: an unknown name, argument or value is an error with the place and the nearest name. Some
things that controller-gen takes mean something else there than it looks like. Here they are errors, too:

";

/// Mistakes in markers, and the result of controller-gen.
const ACCIDENTS: &[(&str, &str)] = &[
    ("+kubebuilder:rbca:groups=apps,resources=deployments,verbs=get", "ignored"),
    ("+ kubebuilder:rbac:groups=apps,resources=deployments,verbs=get", "ignored"),
    (
        "+kubebuilder:rbac:groups=,resources=deployments,verbs=get",
        "a rule without groups, which the API server refuses",
    ),
    ("+kubebuilder:rbac:namespace=,groups=apps,resources=deployments,verbs=get", "the namespace `,groups=apps`"),
    (
        "+kubebuilder:rbac:groups=apps,resources=deployments,verbs=",
        "a rule without verbs, which the API server refuses",
    ),
    ("+kubebuilder:rbac:groups=apps,resources=deployments,verbs=get list", "the one verb `get list`"),
    ("+kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;;list", "the verbs `get` and `;list`"),
    ("+kubebuilder:rbac:groups=apps,resources=deployments,verbs='get'", "the verb `'get'`, quotes included"),
    ("+kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,verbs=list", "the last one counts"),
];

const GO: &str = "
## Markers of Go

controller-gen reads these on Go types. They have no effect in Rust, so each is [an error](diagnostics.md#op103) which says
what to write instead, in comments of any kind. `+optional`, `+required` and `+nullable` count where nothing follows them.

";

fn describe(text: &mut String, marker: &Marker) {
    let Marker { name, about, form, arguments, examples, .. } = marker;
    write!(text, "\n## +{name}\n\n{}.\n", capitalized(about)).unwrap();
    if arguments.is_empty() {
        writeln!(text, "\nIt has no arguments.").unwrap();
    } else {
        if *form == Form::Positional {
            writeln!(text, "\nIt is written `+{}`.", marker.usage()).unwrap();
        }
        writeln!(text, "\n| argument | type | if it is left out | meaning | example |\n|---|---|---|---|---|").unwrap();
    }
    for argument in *arguments {
        let Argument { name, kind, need, default, about, values, example, .. } = argument;
        let otherwise = match (need, default) {
            (Need::Required, _) => "an error".into(),
            (Need::Unless(other), _) => format!("an error, unless there is `{other}`"),
            (Need::Optional, default) => default.unwrap_or_default().to_owned(),
        };
        let says = [Some(*about), *values].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let quote = if example.contains('`') { "``" } else { "`" };
        let example = if example.is_empty() { String::new() } else { format!("{quote}{name}={example}{quote}") };
        let cells = [typed(*kind), otherwise, says, example].map(|text| cell(&text));
        writeln!(text, "| `{name}` | {} |", cells.join(" | ")).unwrap();
    }
    let lines: Vec<String> = examples.iter().map(|example| format!("// +{example}")).collect();
    write!(text, "\n```rust\n{}\n```\n", lines.join("\n")).unwrap();
}

fn typed(kind: Type) -> String {
    let words = |words: &[&str]| format!("`{}`", words.join("`, `"));
    match kind {
        Type::Text => "text".into(),
        Type::Texts => "list of texts".into(),
        Type::Lists => "list of lists".into(),
        Type::Integer => "whole number".into(),
        Type::Boolean => words(&["true", "false"]),
        Type::OneOf(values) => format!("{} (any case)", words(values)),
        Type::SomeOf(values) => format!("list of {} (any case)", words(values)),
    }
}

/// The message of opctl, and its help.
fn said(marker: &str) -> String {
    let (message, help) = problems(marker).into_iter().next().expect("it is an error");
    cell(&format!("{message}: {help}"))
}

/// Messages, each with its help.
fn problems(marker: &str) -> Vec<(String, String)> {
    let read = markers::read(&SourceFile::new("src/lib.rs", format!("// {marker}\n")));
    read.diagnostics.into_iter().map(|problem| (problem.message, problem.help.join(", "))).collect()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}
