//! Attributes of serde, schemars and kube in every position and form, with misspellings and in pairs. The set that
//! opctl accepts is compared with that of the derives.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use opctl_model::project::Tree;
use opctl_source as source;

use crate::oracles::Oracle;

/// The attributes of a type, and their position.
#[derive(Clone, Copy)]
struct Place {
    name: &'static str,
    /// `@` is replaced by the attribute.
    text: &'static str,
    /// `false` if the position is similar to another one, and gets fewer forms.
    is_full: bool,
    /// The names of both crates that are valid here.
    pairs: &'static [&'static str],
}

const DERIVES: &str = "#[derive(Serialize, Deserialize, JsonSchema)] ";

const fn place(name: &'static str, text: &'static str, pairs: &'static [&'static str]) -> Place {
    Place { name, text, is_full: !pairs.is_empty(), pairs }
}

const OF_CONTAINERS: &[&str] = &[
    "bound",
    "content",
    "crate",
    "default",
    "deny_unknown_fields",
    "description",
    "example",
    "expecting",
    "extend",
    "field_identifier",
    "from",
    "inline",
    "into",
    "remote",
    "rename",
    "rename_all",
    "rename_all_fields",
    "schema_with",
    "tag",
    "title",
    "transform",
    "transparent",
    "try_from",
    "untagged",
    "variant_identifier",
    "with",
];

const OF_VARIANTS: &[&str] = &[
    "alias",
    "borrow",
    "bound",
    "description",
    "deserialize_with",
    "example",
    "extend",
    "other",
    "rename",
    "rename_all",
    "schema_with",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "title",
    "transform",
    "untagged",
    "with",
];

const OF_FIELDS: &[&str] = &[
    "alias",
    "bound",
    "contains",
    "default",
    "description",
    "deserialize_with",
    "email",
    "example",
    "extend",
    "flatten",
    "getter",
    "inner",
    "ip",
    "ipv4",
    "ipv6",
    "length",
    "pattern",
    "range",
    "regex",
    "rename",
    "required",
    "schema_with",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "title",
    "transform",
    "url",
    "with",
];

const CONTAINERS: &[Place] = &[
    place("struct", "@ pub struct T { pub x: u8 }", OF_CONTAINERS),
    place("enum", "@ pub enum T { A, B { x: u8 }, C(u8) }", OF_CONTAINERS),
    place("tuple struct", "@ pub struct T(pub u8, pub u8);", &[]),
    place("newtype", "@ pub struct T(pub u8);", &[]),
    place("unit struct", "@ pub struct T;", &[]),
];

const VARIANTS: &[Place] = &[
    place("newtype variant", "pub enum T { A, @ B(u8) }", OF_VARIANTS),
    place("unit variant", "pub enum T { A, @ B }", &[]),
    place("struct variant", "pub enum T { A, @ B { x: u8 } }", &[]),
];

const FIELDS: &[Place] = &[
    place("field", "pub struct T { pub x: u8, @ pub y: Option<String> }", OF_FIELDS),
    place("tuple field", "pub struct T(pub u8, @ pub u8);", &[]),
    place("newtype field", "pub struct T(@ pub u8);", &[]),
    place("field of a variant", "pub enum T { A, B { @ x: u8 } }", &[]),
];

/// All names of both crates, and some unknown ones.
const NAMES: &[&str] = &[
    "alias",
    "borrow",
    "bound",
    "contains",
    "content",
    "crate",
    "default",
    "deny_unknown_fields",
    "deprecated",
    "description",
    "deserialize_with",
    "email",
    "example",
    "expecting",
    "extend",
    "field_identifier",
    "flatten",
    "format",
    "from",
    "getter",
    "inline",
    "inner",
    "into",
    "ip",
    "ipv4",
    "ipv6",
    "length",
    "minimum",
    "other",
    "pattern",
    "range",
    "regex",
    "remote",
    "rename",
    "rename_all",
    "rename_all_fields",
    "required",
    "schema_with",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "tag",
    "title",
    "transform",
    "transparent",
    "try_from",
    "untagged",
    "url",
    "variant_identifier",
    "with",
];

/// Arguments of single names, in addition to the forms of all names.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("bound", &["= \"T: Clone\"", "(serialize = \"T: Clone\")", "(serialise = \"T: Clone\")"]),
    ("borrow", &["= \"'a\""]),
    (
        "contains",
        &["(pattern = \"x\")", "(patern = \"x\")", "(a, b)", "(pattern)", "(pattern = \"x\", pattern = \"y\")"],
    ),
    ("description", &["= concat!(\"a\", \"b\")"]),
    ("example", &["= \"x y\"", "= \"\"", "= &\"x\"", "= f()"]),
    (
        "extend",
        &[
            "(\"a\" = 1)",
            "(\"a\")",
            "(\"a\" = )",
            "(\"a\" = 1, \"a\" = 2)",
            "(\"a\" = { \"b\": [1, 2] }, \"c\" = null)",
        ],
    ),
    (
        "inner",
        &[
            "(length(min = 1))",
            "(lenght(min = 1))",
            "(extend(\"a\" = 1))",
            "(title = \"x\")",
            "(rename = \"x\")",
            "(email, url)",
            "(inner(email))",
            "(!email)",
            "(regex(pattern = \"x\"), contains(\"y\"))",
            "(required = true)",
        ],
    ),
    ("length", BOUNDS),
    ("range", BOUNDS),
    (
        "regex",
        &[
            "(pattern = \"x\")",
            "(path = X)",
            "(path = \"X\")",
            "(patern = \"x\")",
            "(pattern)",
            "(pattern = \"x\", flags = \"i\")",
        ],
    ),
    ("rename", BOTH),
    ("rename", &["= \"{T}\"", "= \"}{\"", "= \"{\"", "= \"{{x}}\""]),
    ("rename_all", BOTH),
    ("rename_all_fields", BOTH),
    ("skip_serializing_if", &["= \"Option::is_none\""]),
    ("transform", &["= f"]),
];

const BOUNDS: &[&str] = &[
    "(min = 1)",
    "(max = \"1\")",
    "(equal = 1)",
    "(min = 1, max = 2)",
    "(min = 1, equal = 1)",
    "(equal = 1, max = 1)",
    "(mni = 1)",
    "(min)",
    "(min = \"1 +\")",
    "(min = 1, min = 2)",
    "(min = 1, code = \"x\")",
    "(min = -1.5)",
    "(min: 1)",
];

const BOTH: &[&str] = &[
    "(serialize = \"lowercase\")",
    "(serialize = \"lowercase\", deserialize = \"UPPERCASE\")",
    "(serialise = \"lowercase\")",
    "(serialize = \"lowercase\", serialize = \"lowercase\")",
    "= \"camelCas\"",
];

/// The forms of an attribute. The first ones are also used for positions that are not full.
const FORMS: &[&str] = &[
    "",
    "= \"lowercase\"",
    "(a = \"b\")",
    "= \"1 x\"",
    "= 1",
    "= true",
    "= lowercase",
    "()",
    "(\"x\")",
    "= \"x\" \"y\"",
];

/// A type, or a kind.
pub struct Case {
    /// Unique.
    pub name: String,
    text: String,
}

/// All cases about types, which are the same for all releases of kube.
pub fn of_types() -> Vec<Case> {
    let mut cases = Cases::default();
    for place in [CONTAINERS, VARIANTS, FIELDS].concat() {
        for kind in ["serde", "schemars"] {
            cases.forms(kind, place);
        }
        if place.is_full {
            cases.misspelled("serde", place);
            cases.misspelled("schemars", place);
            cases.pairs(place);
            cases.unset(place);
        }
    }
    for kind in ["validate", "garde"] {
        cases.forms(kind, FIELDS[0]);
    }
    cases.others();
    cases.0
}

/// Cases in order, and their names.
#[derive(Default)]
struct Cases(Vec<Case>, BTreeSet<String>);

impl Cases {
    fn add(&mut self, place: Place, attribute: &str) {
        self.add_with(DERIVES, place, attribute);
    }

    fn add_with(&mut self, derives: &str, place: Place, attribute: &str) {
        let who = if derives == DERIVES { String::new() } else { format!(", {}", derives.trim()) };
        let text = format!("{derives}{}", place.text.replace('@', attribute));
        self.push(format!("{}{who}: {attribute}", place.name), text);
    }

    fn push(&mut self, name: String, text: String) {
        if self.1.insert(name.clone()) {
            self.0.push(Case { name, text });
        }
    }

    fn forms(&mut self, kind: &str, place: Place) {
        for name in NAMES {
            // Other names are unknown in any form.
            let is_valid = kind == "validate" || kind == "garde" || place.pairs.contains(name);
            for form in FORMS.iter().take(if is_valid { FORMS.len() } else { 2 }) {
                self.add(place, &format!("#[{kind}({name}{form})]"));
            }
            let own = ARGUMENTS.iter().filter(|(of, _)| of == name).flat_map(|(_, forms)| *forms);
            for form in own.filter(|_| is_valid) {
                self.add(place, &format!("#[{kind}({name}{form})]"));
            }
        }
    }

    fn misspelled(&mut self, kind: &str, place: Place) {
        for name in NAMES.iter().filter(|name| name.len() > 3) {
            self.add(place, &format!("#[{kind}({}{})]", misspelled(name), usual(name, kind)));
        }
    }

    fn pairs(&mut self, place: Place) {
        // Attributes that are not valid alone are not combined.
        let names: Vec<&str> = NAMES.iter().copied().filter(|name| place.pairs.contains(name)).collect();
        for (first, one) in names.iter().enumerate() {
            for other in &names[first..] {
                let pair = |kind| format!("{one}{}, {other}{}", usual(one, kind), usual(other, kind));
                self.add(place, &format!("#[schemars({})]", pair("schemars")));
                self.add(place, &format!("#[serde({})]", pair("serde")));
            }
            let (serde, schemars) = (usual(one, "serde"), usual(one, "schemars"));
            self.add(place, &format!("#[serde({one}{serde})] #[schemars({one}{schemars})]"));
        }
    }

    fn unset(&mut self, place: Place) {
        for name in NAMES {
            self.add(place, &format!("#[schemars(!{name})]"));
            self.add(place, &format!("#[serde({name}{})] #[schemars(!{name})]", usual(name, "serde")));
            self.add(place, &format!("#[schemars({name}{}, !{name})]", usual(name, "schemars")));
        }
    }

    fn others(&mut self) {
        let (container, field) = (CONTAINERS[0], FIELDS[0]);
        for attribute in [
            "#[schemars]",
            "#[schemars()]",
            "#[schemars = \"x\"]",
            "#[serde]",
            "#[serde()]",
            "#[serde = \"x\"]",
            "#[serde[default]]",
            "#[schemars(\"x\")]",
            "#[serde(\"x\")]",
            "#[serde(default default)]",
            "#[schemars(email url)]",
            "#[schemars(a::b)]",
            "#[serde(a::b)]",
            "#[schemars(!!email)]",
            "#[serde(!default)]",
            "#[validate]",
            "#[validate = 1]",
            "#[validate(length 1)]",
            "#[garde(skip)]",
            "#[garde(length(min = 1, chars))]",
            "#[garde(length(chars, max = 3))]",
            "#[validate(nested)]",
            "#[validate(custom(function = \"f\"))]",
            "#[validate(must_match(other = \"x\"))]",
            "#[validate(email(message = \"x\"))]",
            "#[validate(length(min = 1, message = \"x\"))]",
            "#[validate(required(message = \"x\"))]",
            "#[validate(url, email)]",
            "#[schemars(length(min = 1))] #[validate(length(max = 3))]",
            "#[schemars(range(min = 1), range(max = 2))]",
            "#[serde(default)] #[serde(default)]",
            "#[serde(rename = \"a\", alias = \"b\", alias = \"c\")]",
            "#[serde(rename(deserialize = \"a\", deserialize = \"b\"))]",
            "#[allow(unused)]",
            "#[deprecated]",
            "#[deprecated = \"x\"]",
            "#[doc = \"x\"]",
            "#[doc(hidden)]",
            "#[cfg(all())]",
            "#[cfg_attr(all(), serde(default))]",
            "#[cfg_attr(all(), serde(defalt))]",
            "#[cfg_attr(any(), serde(defalt))]",
        ] {
            self.add(field, attribute);
            self.add(container, attribute);
        }
        for attribute in [
            "#[schmars(email)]",
            "#[serd(default)]",
            "#[sered(default)]",
            "#[x_kube(validation = \"x\")]",
            "#[kube(x)]",
            "#[vaildate(email)]",
            "#[default]",
            "#[depricated]",
            "#[unknown]",
        ] {
            self.add(field, attribute);
        }
        for derives in
            ["#[derive(JsonSchema)] ", "#[derive(Serialize, JsonSchema)] ", "#[derive(Deserialize, JsonSchema)] "]
        {
            for place in [container, CONTAINERS[1], field] {
                for name in NAMES {
                    self.add_with(derives, place, &format!("#[serde({name}{})]", usual(name, "serde")));
                }
            }
        }
        for (name, text) in WHOLE {
            self.push((*name).into(), (*text).into());
        }
    }
}

/// Rules about more than one position.
const WHOLE: &[(&str, &str)] = &[
    (
        "transparent with two fields",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[serde(transparent)] pub struct T { x: u8, y: u8 }",
    ),
    (
        "transparent for one direction",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[serde(transparent)] pub struct T { x: u8, #[serde(default)] y: u8 }",
    ),
    (
        "transparent with a skipped field",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[serde(transparent)] pub struct T { x: u8, #[serde(skip)] y: u8 }",
    ),
    (
        "tag of a tuple variant",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[serde(tag = \"t\")] pub enum T { A(u8, u8) }",
    ),
    (
        "tag that is a field",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[serde(tag = \"t\")] pub enum T { A { t: u8 } }",
    ),
    (
        "tag for schemars only",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[schemars(tag = \"t\")] pub enum T { A { t: u8 } }",
    ),
    (
        "tag that is the content",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[serde(tag = \"t\", content = \"t\")] pub enum T { A }",
    ),
    (
        "default before a field without",
        "#[derive(Serialize, Deserialize, JsonSchema)] pub struct T(#[serde(default)] u8, u8);",
    ),
    (
        "default on all later fields",
        "#[derive(Serialize, Deserialize, JsonSchema)] pub struct T(u8, #[serde(default)] u8);",
    ),
    ("other before a variant", "#[derive(Serialize, Deserialize, JsonSchema)] pub enum T { #[serde(other)] A, B }"),
    ("other at the end", "#[derive(Serialize, Deserialize, JsonSchema)] pub enum T { A, #[serde(other)] B }"),
    (
        "from and try_from",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[serde(from = \"A\", try_from = \"B\")] pub struct T { x: u8 }",
    ),
    (
        "rename by a parameter",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[schemars(rename = \"Of{A}\")] pub struct G<A> { x: A } pub type T = G<u8>;",
    ),
    (
        "rename by no parameter",
        "#[derive(Serialize, Deserialize, JsonSchema)] #[schemars(rename = \"Of{B}\")] pub struct G<A> { x: A } pub type T = G<u8>;",
    ),
    (
        "a name without a letter",
        "#[derive(Serialize, Deserialize, JsonSchema)] pub struct T { #[schemars(email, emial, url, lenght)] x: u8 }",
    ),
];

/// The usual valid form of an attribute.
fn usual(name: &str, kind: &str) -> &'static str {
    match name {
        "length" | "range" => "(min = 1)",
        "pattern" | "contains" => "(\"x\")",
        "regex" if kind == "validate" => "(path = X)",
        "regex" => "(pattern = \"x\")",
        "inner" => "(length(min = 1))",
        "extend" => "(\"a\" = 1)",
        "example" => "= 1",
        "transform" => "= f",
        "bound" => "= \"\"",
        "alias"
        | "content"
        | "crate"
        | "description"
        | "deserialize_with"
        | "expecting"
        | "from"
        | "getter"
        | "into"
        | "remote"
        | "rename"
        | "rename_all"
        | "rename_all_fields"
        | "schema_with"
        | "serialize_with"
        | "skip_serializing_if"
        | "tag"
        | "title"
        | "try_from"
        | "with" => "= \"lowercase\"",
        _ => "",
    }
}

/// Removes one letter in the middle, unless the result is another name.
fn misspelled(name: &str) -> String {
    let cut = |at: usize| format!("{}{}", &name[..at], &name[at + 1..]);
    let cuts = (0..name.len()).map(|offset| cut((name.len() / 2 + offset) % name.len()));
    cuts.into_iter().find(|cut| !NAMES.contains(&cut.as_str())).expect("few names are one letter longer than another")
}

/// All cases about `#[kube]` and `#[x_kube]` that the derive of a release decides.
pub fn of_kube(oracle: &Oracle) -> Vec<Case> {
    let mut cases = every_case_of_kube();
    // Before kube 3.1, columns are read when `crd()` runs, which panics; so are selectable fields before kube 4.1.
    let reads_late = |releases: &[&str]| releases.iter().any(|release| oracle.name() == format!("kube-{release}"));
    if reads_late(&["2.0.1", "3.0.0", "3.0.1"]) {
        let is_column = |name: &str| name.contains(&format!("printcolumn = r#\"{COLUMN_JSON}"));
        cases.retain(|case| !case.name.contains("printcolumn = ") || is_column(&case.name));
    }
    if reads_late(&["2.0.1", "3.0.0", "3.0.1", "3.1.0", "4.0.0"]) {
        cases.retain(|case| !case.name.contains("a\\\"b"));
    }
    cases
}

const COLUMN_JSON: &str = r#"{"name": "a", "type": "string", "jsonPath": ".spec.x"}"#;

fn every_case_of_kube() -> Vec<Case> {
    const COLUMN: &str = "name = \"a\", type_ = \"string\", json_path = \".spec.x\"";
    const SCALE: &str = "spec_replicas_path = \".spec.x\", status_replicas_path = \".status.x\"";
    let mut cases = Cases::default();
    let mut add = |attribute: &str, spec: &str| {
        let text = format!(
            "#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)] \
             #[kube(group = \"g.example.com\", version = \"v1\", kind = \"K\")] {attribute} {spec}"
        );
        let name = if spec == SPEC { attribute.into() } else { format!("{attribute} {spec}") };
        cases.push(name, text);
    };
    let strings = [
        "attr",
        "category",
        "derive",
        "doc",
        "plural",
        "root",
        "schema",
        "selectable",
        "shortname",
        "singular",
        "status",
    ];
    let flags = ["cel", "namespaced", "no_spec", "served", "storage"];
    let others = ["annotation", "crates", "deprecated", "label", "printcolumn", "scale", "validation"];
    let names = [&strings[..], &flags, &others, &["group", "version", "kind"]].concat();
    let forms = [
        "",
        " = \"x\"",
        " = \"true\"",
        " = 1",
        " = true",
        " = x::Y",
        "()",
        "(\"a\")",
        "(\"a\", \"b\")",
        "(\"a\", \"b\", \"c\")",
        "(a = \"b\")",
        " = 'x'",
    ];
    for name in &names {
        // rustc resolves the name of an attribute or a derive.
        let takes_name = |form: &&&str| !matches!(*name, "attr" | "derive") || **form != " = \"x\"";
        forms.iter().filter(takes_name).for_each(|form| add(&format!("#[kube({name}{form})]"), SPEC));
        add(&format!("#[kube({} = \"x\")]", name.replacen(|c: char| "aeiou".contains(c), "", 1)), SPEC);
        if !matches!(*name, "attr" | "derive") {
            add(&format!("#[kube({name} = \"a\", {name} = \"b\")]"), SPEC);
        }
        add(&format!("#[kube({name}, {name})]"), SPEC);
        add(&format!("#[kube({name} = \"1 x\")]"), SPEC);
    }
    for (name, good, keys) in [
        (
            "printcolumn",
            COLUMN,
            &["description", "format", "json_path", "name", "priority", "type_", "type", "jsonPath", "fromat"][..],
        ),
        ("scale", SCALE, &["label_selector_path", "spec_replicas_path", "status_replicas_path", "replicas_path"]),
    ] {
        add(&format!("#[kube({name}({good}))]"), SPEC);
        for key in keys {
            for form in ["", " = \"x\"", " = \"1\"", " = 1", " = -1", " = true", "(\"x\")", " = x"] {
                add(&format!("#[kube({name}({good}, {key}{form}))]"), SPEC);
                let others = good.split(", ").filter(|part| !part.starts_with(&format!("{key} ")));
                add(&format!("#[kube({name}({}, {key}{form}))]", others.collect::<Vec<_>>().join(", ")), SPEC);
            }
        }
        add(&format!("#[kube({name}({good}, \"x\"))]"), SPEC);
        add(&format!("#[kube({name}({good}), {name}({good}))]"), SPEC);
    }
    let column = COLUMN_JSON;
    let scale = r#"{"specReplicasPath": ".spec.x", "statusReplicasPath": ".status.x"}"#;
    for json in [
        column,
        &format!("{column}, {column}"),
        &format!("[{column}]"),
        "",
        "{}",
        "x",
        scale,
        &format!("{scale}, {scale}"),
        r#"{"name": "a", "type": "string", "jsonPath": ".spec.x", "priority": 1, "format": null, "more": 1}"#,
        r#"{"name": "a", "type": "string", "jsonPath": ".spec.x", "priority": "1"}"#,
        r#"{"name": "a", "name": "b", "type": "string", "jsonPath": ".spec.x"}"#,
        r#"{"name": "a", "type": "string", "json_path": ".spec.x"}"#,
        r#"{"specReplicasPath": ".spec.x", "statusReplicasPath": ".status.x", "labelSelectorPath": 1}"#,
    ] {
        add(&format!("#[kube(printcolumn = r#\"{json}\"#)]"), SPEC);
        add(&format!("#[kube(status = \"S\", scale = r#\"{json}\"#)]"), SPEC);
    }
    for name in ["kube", "kube_core", "k8s_openapi", "schemars", "serde", "serde_json", "std", "serde_jsn", "tokio"] {
        // schemars' attributes require its derive.
        let paths = [" = \"::a\"", " = ::a::b"].into_iter().filter(|_| name != "schemars");
        for form in paths.chain(["", " = 1", "(a)", " = \"1 x\""]) {
            add(&format!("#[kube(crates({name}{form}))]"), SPEC);
        }
        add(&format!("#[kube(crates({name} = \"a\", {name} = \"b\"))]"), SPEC);
    }
    for attribute in [
        "#[kube]",
        "#[kube()]",
        "#[kube = \"x\"]",
        "#[kube(\"x\")]",
        "#[kube(a::b)]",
        "#[kube(schema = \"derived\")]",
        "#[kube(schema = \"Derived\")]",
        "#[kube(schema = \"disabled\")]",
        "#[kube(schema = \"derive\")]",
        "#[kube(schema(derived))]",
        "#[kube(schema = \"disabled\", cel)]",
        "#[kube(cel = false, schema = \"disabled\")]",
        "#[kube(attr = \"serde(default)\")]",
        "#[kube(attr = \"derive(Debug)\")]",
        "#[kube(attr = \"schemars(inline)\")]",
        "#[kube(attr = \"allow(unused)\")]",
        "#[kube(derive = \"PartialEq\", derive = \"Default\")]",
        "#[kube(validation = Rule::new(\"x\"))]",
        "#[kube(validation = (\"x\", \"y\"))]",
        "#[kube(deprecated = \"x\")]",
        "#[kube(selectable = \".spec.a\\\"b\")]",
    ] {
        add(attribute, SPEC);
    }
    for spec in [
        "pub struct S(u8);",
        "pub struct S;",
        "pub enum S { A { x: u8 } }",
        "pub struct S { kind: u8 }",
        "pub struct S { status: u8 }",
        "pub struct S { r#type: u8 }",
    ] {
        add("#[kube(no_spec)]", spec);
        add("#[kube(no_spec = false)]", spec);
    }
    add("", "pub struct S { #[kube(x)] x: u8 }");
    add("", "pub struct S { #[x_kube(validation = \"x\")] x: u8 }");
    add("", "pub struct K { x: u8 }");
    of_x_kube(&mut cases);
    cases.0
}

const SPEC: &str = "pub struct S { x: u8 }";

fn of_x_kube(cases: &mut Cases) {
    let names = [
        "cel",
        "crates",
        "validation",
        "merge_strategy",
        "validtion",
        "merge_stategy",
        "cell",
        "crate",
        "rule",
        "namespaced",
    ];
    let forms = [
        "",
        " = \"x\"",
        " = \"true\"",
        " = 1",
        " = true",
        "(\"x\")",
        "(kube_core = \"a\")",
        "(kube_core = a, serde_json = \"b\")",
        "(kube = \"a\")",
        "(kube_core)",
        " = ListMerge::Atomic",
        " = \"ListMerge::Atomic\"",
        " = \"1 x\"",
        " = Rule::new(\"x\")",
        " = (\"x\", \"y\")",
    ];
    let mut add = |attribute: &str, text: &str| {
        let derives = "#[derive(Serialize, Deserialize, KubeSchema)] ";
        let name = format!("{attribute} in {text}");
        cases.push(name, format!("{derives}{}", text.replace('@', attribute)));
    };
    let (container, field) = ("@ pub struct T { x: u8 }", "pub struct T { @ x: Vec<u8>, y: u8 }");
    for name in names {
        for form in forms {
            add(&format!("#[x_kube({name}{form})]"), container);
            add(&format!("#[x_kube({name}{form})]"), field);
        }
        for form in ["", " = \"x\""] {
            add(&format!("#[x_kube({name}{form}, {name}{form})]"), container);
            add(&format!("#[x_kube({name}{form}, {name}{form})]"), field);
        }
    }
    for text in [container, field, "@ pub enum T { A }", "@ pub struct T(u8);", "@ pub struct T;"] {
        let attributes = [
            "#[x_kube]",
            "#[x_kube()]",
            "#[x_kube = \"x\"]",
            "#[x_kube(\"x\")]",
            "#[x_kube(a::b)]",
            "#[garde(length(min = 1))]",
            "#[kube(x)]",
            "#[schemars(lenght(min = 1))]",
            "#[serde(renme = \"x\")]",
            "#[schemars(default)]",
            "#[validate(length)]",
            "#[xkube(x)]",
        ];
        attributes.into_iter().for_each(|attribute| add(attribute, text));
    }
}

/// The number of cases per program. rustc and opctl are slow with more errors.
pub const PART: usize = 500;

/// The source of a program with cases, and the lines of each case.
pub fn source(cases: &[Case]) -> (String, Vec<Range<usize>>) {
    let mut text = String::from(
        "#![allow(warnings)]\nmod names {\n    pub use kube::{CustomResource, KubeSchema};\n    pub use schemars::JsonSchema;\n    \
         pub use serde::{Deserialize, Serialize};\n    \
         pub type lowercase = u8;\n    pub fn lowercase() {}\n    pub fn f() {}\n    pub const X: &str = \"\";\n}\nuse names::*;\n",
    );
    let mut ranges = Vec::new();
    let mut fields = String::new();
    for (index, Case { text: case, .. }) in cases.iter().enumerate() {
        let first = text.matches('\n').count() + 1;
        let _ = write!(text, "pub mod c{index} {{ use crate::names::*;\n{case}\n}}\n");
        ranges.push(first..first + 3);
        if !case.contains("CustomResource") {
            let _ = writeln!(fields, "f{index}: c{index}::T,");
        }
    }
    let _ = write!(
        text,
        "#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]\n\
         #[kube(group = \"g.example.com\", version = \"v1\", kind = \"All\")]\npub struct AllSpec {{\n{fields}}}\nfn main() {{}}\n"
    );
    (text, ranges)
}

/// Diagnostic codes of mistakes in attributes.
const CODES: &[&str] = &["OP004", "OP005", "OP008"];

/// The cases that opctl accepts.
pub fn accepted_by_opctl(oracle: &Oracle, cases: &[Case]) -> BTreeSet<usize> {
    let parts = cases.chunks(PART).enumerate();
    let accepted = |(part, cases)| accepted_of_part(oracle, cases).into_iter().map(move |index| part * PART + index);
    parts.flat_map(accepted).collect()
}

fn accepted_of_part(oracle: &Oracle, cases: &[Case]) -> BTreeSet<usize> {
    let (text, ranges) = source(cases);
    let mut starts = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        starts.push(offset);
        offset += line.len();
    }
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", oracle.manifest("attributes"));
    tree.lay_over("Cargo.lock", oracle.lock());
    tree.lay_over("src/main.rs", text);
    let lines = source::read(&tree, "").diagnostics.into_iter().filter_map(|diagnostic| {
        let (span, _) = diagnostic.span.as_ref().filter(|_| CODES.contains(&diagnostic.code.name))?;
        Some(starts.partition_point(|start| *start <= span.range.start))
    });
    without(&ranges, lines)
}

/// The cases without an error in one of these lines.
pub fn without(ranges: &[Range<usize>], lines: impl Iterator<Item = usize>) -> BTreeSet<usize> {
    let mut accepted: BTreeSet<usize> = (0..ranges.len()).collect();
    for line in lines {
        let after = ranges.partition_point(|range| range.start <= line);
        if after > 0 && ranges[after - 1].contains(&line) {
            accepted.remove(&(after - 1));
        }
    }
    accepted
}

/// The file with the accepted cases: those about types, and by release those about kube.
pub fn recorded_at() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attributes/accepted.txt")
}

/// The names of the accepted cases, by section.
pub fn recorded() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(recorded_at()).unwrap_or_default();
    let mut sections: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("## ") {
            Some(name) => current = name.into(),
            None => drop(sections.entry(current.clone()).or_default().insert(line.into())),
        }
    }
    sections
}

/// Cases that only the derives or only opctl accept.
pub fn differences(cases: &[Case], derives: &BTreeSet<usize>, opctl: &BTreeSet<usize>) -> Vec<String> {
    let line = |index: &usize| {
        let verdict =
            if derives.contains(index) { "opctl refuses what compiles" } else { "opctl accepts what does not compile" };
        format!("{verdict}: {}\n    {}", cases[*index].name, cases[*index].text)
    };
    derives.symmetric_difference(opctl).map(line).collect()
}
