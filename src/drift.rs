//! Compares the CRDs of a source with checked-in copies: in files, in a folder, or in a Helm chart.
//!
//! Two CRDs are equal if an API server treats them alike. Comments, field order, the order of sets such as `required`,
//! empty lists and default values are ignored, but not the order of printer columns, which kubectl shows. The tool that
//! generated a copy does not matter.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::diagnostics::{OP612, OP613, OP614};
use crate::kept;
use opctl_kustomize::yaml::Node;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::{Step, counted};
use opctl_schema::compat::{self, with_whole_numbers};
use opctl_source::emit::CustomResourceDefinition;

/// Checked-in CRDs.
pub struct Copies {
    /// The path, as shown in messages.
    pub name: String,
    /// If helm had to render the chart, positions refer to the rendered text.
    crds: Vec<Node>,
}

/// The result of a comparison.
#[derive(Default)]
pub struct Drift {
    pub diagnostics: Vec<Diagnostic>,
    /// The number of CRDs that are equal.
    pub equal: usize,
    /// The number of CRDs that differ or have no copy.
    pub different: usize,
    /// The number of copies in groups without a kind in the source.
    pub others: usize,
}

impl Copies {
    /// Reads the CRDs in a file, folder or chart.
    ///
    /// # Errors
    ///
    /// Those of [`kept::crds`].
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        Ok(Self { name: path.display().to_string(), crds: kept::crds(path)? })
    }
}

/// Compares the CRDs of a source with the copies. `may_be_refused` returns `true` for kinds whose CRD could not be
/// derived.
pub fn compare(
    crds: &[CustomResourceDefinition],
    copies: &Copies,
    may_be_refused: impl Fn(&str, &str) -> bool,
) -> Drift {
    let mut drift = Drift::default();
    let mut known = Vec::new();
    for crd in crds {
        let name = crd.metadata.name.as_deref().unwrap_or_default();
        let kind = &crd.spec.names.kind;
        known.push(name);
        let mut found = copies.crds.iter().filter(|copy| copy.text_at(&["metadata", "name"]) == Some(name)).peekable();
        if found.peek().is_none() {
            drift.different += 1;
            drift.diagnostics.push(OP613.error(format!("no CRD `{name}` (kind `{kind}`) in `{}`", copies.name)));
            continue;
        }
        let source = serde_json::to_value(&crd.spec).expect("a CRD is JSON");
        let before = drift.diagnostics.len();
        for copy in found {
            drift.diagnostics.extend(differences(kind, &source, copy));
        }
        match drift.diagnostics.len() == before {
            true => drift.equal += 1,
            false => drift.different += 1,
        }
    }
    for copy in &copies.crds {
        let [group, kind] = group_and_kind(copy);
        let is_known = copy.text_at(&["metadata", "name"]).is_some_and(|name| known.contains(&name));
        if !is_known && !may_be_refused(group, kind) && !crds.iter().any(|crd| crd.spec.group == group) {
            drift.others += 1;
        }
        drift.diagnostics.extend(undeclared(crds, copy, &may_be_refused));
    }
    drift
}

/// A warning if a copy is in a group of the source, but no kind declares it.
pub fn undeclared(
    crds: &[CustomResourceDefinition],
    copy: &Node,
    may_be_refused: impl Fn(&str, &str) -> bool,
) -> Option<Diagnostic> {
    let name = copy.text_at(&["metadata", "name"]).unwrap_or_default();
    let [group, kind] = group_and_kind(copy);
    let is_declared = crds.iter().any(|crd| crd.metadata.name.as_deref() == Some(name));
    if is_declared || may_be_refused(group, kind) || !crds.iter().any(|crd| crd.spec.group == group) {
        return None;
    }
    let warning = OP614.warning(format!("the source has no kind `{kind}` in the group `{group}`"));
    let place = copy.at(&["metadata", "name"]).unwrap_or(copy);
    Some(warning.at(place.span.clone(), "no kind in the source declares this CRD"))
}

fn group_and_kind(copy: &Node) -> [&str; 2] {
    [["spec", "group"].as_slice(), &["spec", "names", "kind"]].map(|path| copy.text_at(path).unwrap_or_default())
}

/// `true` if an API server treats the specs of two CRDs alike.
pub fn is_same(one: &Value, other: &Value) -> bool {
    normal(one) == normal(other)
}

/// The errors of one CRD.
fn differences(kind: &str, source: &Value, copy: &Node) -> Vec<Diagnostic> {
    const SHOWN: usize = 10;
    let Some(spec) = copy.get("spec").filter(|spec| !spec.entries().is_empty()) else {
        return vec![OP612.error(format!("`{kind}`: the CRD has no `spec`")).at(copy.span.clone(), "")];
    };
    let copy = spec.json();
    let mut found = orders_of_columns(source, &copy);
    let [source, mut kept] = [normal(source), normal(&copy)];
    // kube's `crd()` sets no conversion, so a copy may contain one.
    if source.get("conversion").is_none() {
        remove(&mut kept, "conversion");
    }
    differ(&source, &kept, &mut Vec::new(), &mut found);
    let (descriptions, others): (Vec<_>, Vec<_>) = found.iter().partition(|it| it.is_description());
    let mut diagnostics: Vec<Diagnostic> = others.iter().take(SHOWN).map(|it| it.diagnostic(kind, spec)).collect();
    if let (Some(last), 1..) = (diagnostics.last_mut(), others.len().saturating_sub(SHOWN)) {
        last.help.push(format!("and {} in `{kind}`", counted(others.len() - SHOWN, "more difference")));
    }
    match descriptions[..] {
        [] => {}
        [first, ..] => {
            let message = match descriptions.len() {
                1 => format!("`{kind}`: the description of `{}` differs", first.described()),
                number => format!("`{kind}`: {number} descriptions differ, the first at `{}`", first.described()),
            };
            diagnostics.push(OP612.error(message).at(place(spec, &first.path), ""));
        }
    }
    diagnostics
}

/// A differing value, by its path in the spec of the CRD.
struct Difference {
    path: Vec<String>,
    source: Option<Value>,
    copy: Option<Value>,
}

impl Difference {
    /// `true` for the description of a schema. A property may have this name, too.
    fn is_description(&self) -> bool {
        let is_in_value = |pair: &[String]| pair[0] != "properties" && ["default", "example"].contains(&&*pair[1]);
        let [.., before, last] = &self.path[..] else { return false };
        last == "description" && before != "properties" && !self.path.windows(2).any(is_in_value)
    }

    /// The path of the described field.
    fn described(&self) -> String {
        shown(&self.path[..self.path.len() - 1])
    }

    fn diagnostic(&self, kind: &str, spec: &Node) -> Diagnostic {
        let is_object = |value: &Option<Value>| value.as_ref().is_some_and(Value::is_object);
        let message = match (&self.source, &self.copy) {
            (_, None) if is_object(&self.source) => "is missing in the copy".to_owned(),
            (None, _) if is_object(&self.copy) => "is missing in the source".to_owned(),
            (source, copy) => {
                let [source, copy] = [source, copy].map(|value| value.as_ref().map_or("missing".into(), short));
                format!("is {source} in the source but {copy} in the copy")
            }
        };
        OP612.error(format!("`{kind}`: `{}` {message}", shown(&self.path))).at(place(spec, &self.path), "")
    }
}

/// A value for a message, with at most 60 characters.
pub fn short(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.chars().count() > LONGEST {
        true => format!("`{}…`", text.chars().take(LONGEST).collect::<String>()),
        false => format!("`{text}`"),
    }
}

/// The path in the format of other messages: `v1 spec.pools[].name: minimum` for a schema.
fn shown(path: &[String]) -> String {
    let (version, rest) = match path {
        [versions, version, schema, root, rest @ ..]
            if versions == "versions" && schema == "schema" && root == "openAPIV3Schema" =>
        {
            (version, rest)
        }
        [versions, version] if versions == "versions" => return version.clone(),
        [versions, version, rest @ ..] if versions == "versions" => return format!("{version} {}", rest.join(".")),
        path => return path.join("."),
    };
    let (mut steps, mut keys) = (Vec::new(), rest);
    loop {
        let (step, others) = match keys {
            [key, name, others @ ..] if key == "properties" => (Step::Property(name.clone()), others),
            [key, others @ ..] if key == "items" => (Step::Items, others),
            [key, others @ ..] if key == "additionalProperties" && !others.is_empty() => (Step::Values, others),
            _ => break,
        };
        steps.push(step);
        keys = others;
    }
    let field = compat::shown(&steps);
    let place = [version.as_str(), &field].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    if keys.is_empty() { place } else { format!("{place}: {}", keys.join(".")) }
}

/// The position of a value, or of its innermost existing ancestor.
fn place(spec: &Node, path: &[String]) -> Span {
    let mut node = spec;
    let mut span = spec.span.clone();
    for key in path {
        let by_name = || node.items().iter().find(|item| item.text_at(&["name"]) == Some(key));
        let entry = node.entries().iter().find(|entry| entry.key == *key);
        match (entry, by_name()) {
            (Some(entry), _) => (node, span) = (&entry.value, entry.key_span.clone()),
            (None, Some(item)) => (node, span) = (item, item.span.clone()),
            (None, None) => break,
        }
    }
    span
}

/// Adds the differing values. Lists are compared as a whole.
fn differ(source: &Value, copy: &Value, path: &mut Vec<String>, found: &mut Vec<Difference>) {
    if source == copy {
        return;
    }
    let (Value::Object(one), Value::Object(other)) = (source, copy) else {
        found.push(Difference { path: path.clone(), source: Some(source.clone()), copy: Some(copy.clone()) });
        return;
    };
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    for key in keys {
        path.push(key.clone());
        match (one.get(key), other.get(key)) {
            (Some(one), Some(other)) => differ(one, other, path, found),
            (source, copy) => {
                found.push(Difference { path: path.clone(), source: source.cloned(), copy: copy.cloned() });
            }
        }
        path.pop();
    }
}

/// The common printer columns of each version, if their order differs.
fn orders_of_columns(source: &Value, copy: &Value) -> Vec<Difference> {
    let named = |items: &Value| -> Vec<(String, Value)> {
        let items = items.as_array().into_iter().flatten();
        items.map(|item| (item["name"].as_str().unwrap_or_default().to_owned(), item.clone())).collect()
    };
    let [source, copy] = [source, copy].map(|spec| named(&spec["versions"]));
    let of_both = source.iter().filter_map(|(name, version)| {
        let (_, other) = copy.iter().find(|(other, _)| other == name)?;
        let [one, other] = [version, other].map(|version| named(&version["additionalPrinterColumns"]));
        let shared = |columns: &[(String, Value)], others: &[(String, Value)]| -> Vec<String> {
            let names = columns.iter().map(|(name, _)| name);
            names.filter(|name| others.iter().any(|(other, _)| other == *name)).cloned().collect()
        };
        Some((name, shared(&one, &other), shared(&other, &one)))
    });
    let differ = of_both.filter(|(_, source, copy)| source != copy);
    differ
        .map(|(version, source, copy)| Difference {
            path: ["versions", version, "additionalPrinterColumns"].map(String::from).into(),
            source: Some(source.into()),
            copy: Some(copy.into()),
        })
        .collect()
}

/// The spec of a CRD without parts that an API server ignores. Versions and printer columns become maps by name.
fn normal(spec: &Value) -> Value {
    let mut spec = with_whole_numbers(spec);
    let kind = spec["names"]["kind"].as_str().unwrap_or_default().to_owned();
    if let Some(names) = spec["names"].as_object_mut() {
        let defaults = [("singular", kind.to_lowercase()), ("listKind", format!("{kind}List"))];
        names.retain(|key, value| !defaults.iter().any(|(name, default)| key == name && *value == **default));
        for set in ["categories", "shortNames"] {
            names.entry(set).and_modify(sort);
        }
    }
    remove_empty(&mut spec["names"], &["categories", "shortNames"]);
    if spec["conversion"] == json!({ "strategy": "None" }) {
        remove(&mut spec, "conversion");
    }
    if spec["preserveUnknownFields"] == json!(false) {
        remove(&mut spec, "preserveUnknownFields");
    }
    let versions = spec["versions"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let column = |mut column: Value| {
        if column["priority"] == json!(0) {
            remove(&mut column, "priority");
        }
        (column["name"].as_str().unwrap_or_default().to_owned(), column)
    };
    let named = |mut version: Value| {
        if version["deprecated"] == json!(false) {
            remove(&mut version, "deprecated");
        }
        remove_empty(&mut version, &["additionalPrinterColumns", "selectableFields", "subresources"]);
        if let Some(Value::Array(columns)) = version.get_mut("additionalPrinterColumns").map(Value::take) {
            version["additionalPrinterColumns"] = columns.into_iter().map(column).collect::<Map<_, _>>().into();
        }
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            *schema = normal_schema(schema);
        }
        let name = version["name"].as_str().unwrap_or_default().to_owned();
        (name, version)
    };
    spec["versions"] = versions.into_iter().map(named).collect::<Map<_, _>>().into();
    spec
}

/// A schema with sorted `required` and `enum`, and with spaces instead of line breaks in descriptions. Names of
/// properties, and the contents of defaults and examples, are not treated as keywords.
fn normal_schema(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let value = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            ("required" | "enum", list) => {
                let mut list = list.clone();
                sort(&mut list);
                list
            }
            ("properties", Value::Object(fields)) => {
                fields.iter().map(|(name, schema)| (name.clone(), normal_schema(schema))).collect()
            }
            ("description", Value::String(text)) => text.split_whitespace().collect::<Vec<_>>().join(" ").into(),
            ("items" | "additionalProperties" | "not", schema) => normal_schema(schema),
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter().map(normal_schema).collect(),
            (_, value) => value.clone(),
        };
        (key.clone(), value)
    };
    let is_default = |(key, value): &(&String, &Value)| {
        (key.as_str() == "nullable" && **value == json!(false)) || (key.as_str() == "required" && **value == json!([]))
    };
    map.iter().filter(|entry| !is_default(entry)).map(value).collect()
}

fn sort(list: &mut Value) {
    if let Value::Array(items) = list {
        items.sort_by_key(Value::to_string);
    }
}

fn remove_empty(value: &mut Value, keys: &[&str]) {
    if let Some(map) = value.as_object_mut() {
        map.retain(|key, value| !(keys.contains(&key.as_str()) && (*value == json!([]) || *value == json!({}))));
    }
}

fn remove(value: &mut Value, key: &str) {
    if let Some(map) = value.as_object_mut() {
        map.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use opctl_kustomize::yaml::{Dialect, documents};
    use opctl_model::diagnostic::SourceFile;

    use super::*;

    const CRD: &str = r#"{"metadata": {"name": "shelves.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced",
        "names": {"kind": "Shelf", "plural": "shelves", "singular": "shelf", "categories": [], "shortNames": ["sh", "s"]},
        "versions": [{"name": "v1", "served": true, "storage": true, "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 0}], "schema": {"openAPIV3Schema": {
            "type": "object", "required": ["spec", "kind"], "properties": {"spec": {"type": "object", "properties": {
                "books": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
                "size": {"type": "integer", "minimum": 1.0, "description": "The size,\nin books."}
            }}}
        }}}]
    }}"#;

    fn crd() -> CustomResourceDefinition {
        serde_json::from_str(CRD).unwrap()
    }

    fn compare_with(copy: &str) -> Drift {
        let crds = documents(&SourceFile::new("deploy/crd.yaml", copy), Dialect::Kubectl).unwrap();
        let copies = Copies { name: "deploy".into(), crds };
        compare(&[crd()], &copies, |_, _| false)
    }

    fn messages(copy: &str) -> Vec<String> {
        compare_with(copy).diagnostics.into_iter().map(|it| it.message).collect()
    }

    const COPY: &str = "\
# By hand.
kind: CustomResourceDefinition
metadata:
  name: shelves.example.com
spec:
  versions:
  - storage: true
    served: true
    name: v1
    additionalPrinterColumns:
    - {jsonPath: .spec.size, type: integer, name: Size}
    schema:
      openAPIV3Schema:
        type: object
        required: [kind, spec]
        properties:
          spec:
            type: object
            properties:
              size: {description: 'The size, in books.', minimum: 1, type: integer}
              books:
                type: array
                items: {enum: [b, a], type: string}
  names:
    kind: Shelf
    listKind: ShelfList
    plural: shelves
    shortNames: [s, sh]
  conversion: {strategy: None}
  scope: Namespaced
  group: example.com
";

    #[test]
    fn order_comments_and_defaults_make_no_difference() {
        let drift = compare_with(COPY);
        assert!(drift.diagnostics.is_empty(), "{:?}", drift.diagnostics);
        assert_eq!((drift.equal, drift.different, drift.others), (1, 0, 0));
    }

    #[test]
    fn each_difference_is_reported_at_its_line() {
        for (kept, edited, line, message) in [
            (
                "minimum: 1,",
                "minimum: 2,",
                20,
                "`Shelf`: `v1 spec.size: minimum` is `1` in the source but `2` in the copy",
            ),
            ("minimum: 1, ", "", 20, "`Shelf`: `v1 spec.size: minimum` is `1` in the source but missing in the copy"),
            (
                "enum: [b, a]",
                "enum: [b]",
                23,
                r#"`Shelf`: `v1 spec.books[]: enum` is `["a","b"]` in the source but `["b"]` in the copy"#,
            ),
            ("in books.", "in centimeters.", 20, "`Shelf`: the description of `v1 spec.size` differs"),
            (
                "jsonPath: .spec.size",
                "jsonPath: .status.size",
                11,
                r#"`Shelf`: `v1 additionalPrinterColumns.Size.jsonPath` is `".spec.size"` in the source but `".status.size"` in the copy"#,
            ),
            (
                "scope: Namespaced",
                "scope: Cluster",
                30,
                r#"`Shelf`: `scope` is `"Namespaced"` in the source but `"Cluster"` in the copy"#,
            ),
            (
                "served: true",
                "served: false",
                8,
                "`Shelf`: `v1 served` is `true` in the source but `false` in the copy",
            ),
        ] {
            assert!(COPY.contains(kept), "{kept}");
            let drift = compare_with(&COPY.replacen(kept, edited, 1));
            let [found] = &drift.diagnostics[..] else { panic!("{kept}: {:?}", drift.diagnostics) };
            assert_eq!((&*found.message, found.span.as_ref().unwrap().0.line_column().0), (message, line));
            assert_eq!((drift.equal, drift.different), (0, 1));
        }
    }

    #[test]
    fn the_order_of_printer_columns_makes_a_difference() {
        let columns = |names: [&str; 2]| {
            let column = |name| json!({ "name": name, "type": "integer", "jsonPath": ".spec.size" });
            json!({ "versions": [{ "name": "v1", "additionalPrinterColumns": names.map(column) }] })
        };
        let copy = |names| columns(names).to_string();
        let found = |names| {
            let file = SourceFile::new("deploy/crd.yaml", format!("spec: {}", copy(names)));
            let copy = documents(&file, Dialect::Kubectl).unwrap().remove(0);
            let found = differences("Shelf", &columns(["Size", "Age"]), &copy);
            found.into_iter().map(|it| it.message).collect::<Vec<_>>()
        };
        assert_eq!(found(["Size", "Age"]), Vec::<String>::new());
        let order = r#"`["Size","Age"]` in the source but `["Age","Size"]` in the copy"#;
        assert_eq!(found(["Age", "Size"]), [format!("`Shelf`: `v1 additionalPrinterColumns` is {order}")]);
        // A missing column is one difference, not two.
        assert_eq!(found(["Age", "Books"]).len(), 2);
    }

    #[test]
    fn kinds_without_a_copy_and_copies_without_a_kind_are_reported() {
        let other = COPY.replace("shelves", "boxes").replace("Shelf", "Box");
        assert_eq!(
            messages(&other),
            [
                "no CRD `shelves.example.com` (kind `Shelf`) in `deploy`",
                "the source has no kind `Box` in the group `example.com`"
            ]
        );
        let both = format!("{COPY}---\n{}", other.replace("example.com", "cert-manager.io"));
        assert_eq!(compare_with(&both).others, 1);
        assert_eq!(messages(&both), Vec::<String>::new());
    }
}
