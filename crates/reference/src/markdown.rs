//! Renders the reference as Markdown: a chapter per kind and version, and a table for each of its objects.

use serde_json::Value;

use super::{Api, Sample, items};

pub fn pages(project: &str, apis: &[Api], samples: &[Sample]) -> String {
    let mut text = format!("# API of {project}\n\n");
    for api in apis {
        let summary = first_sentence(description(&api.schema));
        let anchor = anchor(api, "");
        text += &format!("- [{} `{}/{}`](#{anchor}){}\n", api.kind, api.group, api.version, separated(": ", &summary));
    }
    for api in apis {
        let example = samples
            .iter()
            .filter(|sample| sample.kind == api.kind && sample.api_version == format!("{}/{}", api.group, api.version));
        text += &chapter(api, &example.collect::<Vec<_>>());
    }
    text
}

fn chapter(api: &Api, samples: &[&Sample]) -> String {
    let Api { group, version, kind, plural, .. } = api;
    let mut text = format!("\n<a id=\"{}\"></a>\n\n## {kind} `{version}`\n\n", anchor(api, ""));
    if let Some(warning) = &api.deprecated {
        text += &format!("**Deprecated.** {warning}\n\n");
    }
    text += &separated("", &format!("{}\n\n", escaped(description(&api.schema))));
    text += &format!(
        "- apiVersion: `{group}/{version}`{}\n",
        if api.is_storage { ", as which objects are stored" } else { "" }
    );
    let names = [plural.clone()].into_iter().chain(api.short_names.iter().cloned());
    text += &format!("- `kubectl get`: {}\n", list(names));
    text += &format!("- scope: {}\n", if api.is_namespaced { "namespaced" } else { "cluster" });
    if !api.columns.is_empty() {
        let columns = api.columns.iter().map(|(name, path)| format!("{} (`{path}`)", escaped(name)));
        text += &format!("- columns: {}\n", columns.collect::<Vec<_>>().join(", "));
    }
    if !api.subresources.is_empty() {
        text += &format!("- subresources: {}\n", list(api.subresources.iter().cloned()));
    }
    for sample in samples {
        text += &format!("\n```yaml\n{}```\n", sample.text);
    }
    rules(&api.schema, &mut text);
    let properties = api.schema["properties"].as_object();
    for (name, schema) in properties.into_iter().flatten().filter(|(name, _)| !OF_EVERY_OBJECT.contains(&name.as_str()))
    {
        section(api, name, schema, &mut text);
    }
    text
}

/// The fields that all objects have. `metadata` may have its own rules, but no other fields.
const OF_EVERY_OBJECT: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Adds the table of an object, and the tables of the objects in it.
fn section(api: &Api, path: &str, schema: &Value, text: &mut String) {
    let (path, schema) = inner(path, schema);
    *text += &format!("\n<a id=\"{}\"></a>\n\n### {}\n", anchor(api, &path), escaped(&path));
    let about = description(schema);
    if !about.is_empty() {
        *text += &format!("\n{}\n", escaped(about));
    }
    rules(schema, text);
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty()) else {
        *text += &format!("\nType: {}\n", kind_of(api, &path, schema));
        return;
    };
    if is_pod_template(schema) {
        *text += "\nA template for Pods: see `PodTemplateSpec` in the [API of Kubernetes](https://kubernetes.io/docs/reference/kubernetes-api/).\n";
        return;
    }
    *text += "\n| field | type | description |\n|---|---|---|\n";
    let required = items(&schema["required"]);
    for (name, schema) in properties {
        // An API server applies the default of a required field.
        let is_required = required.iter().any(|required| required == name) && schema.get("default").is_none();
        let mut about = cell(description(schema));
        for rule in items(&schema["x-kubernetes-validations"]).iter().map(rule) {
            about += &format!("{}{}", if about.is_empty() { "" } else { "<br>" }, cell(&rule));
        }
        let constraints = constraints(schema);
        let of = [kind_of(api, &format!("{path}.{name}"), schema)].into_iter();
        let of = of.chain(is_required.then(|| "**required**".into())).chain(constraints);
        *text += &format!("| `{name}` | {} | {about} |\n", of.collect::<Vec<_>>().join("<br>"));
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        *text += "\nFurther fields are kept as they are.\n";
    }
    for (name, schema) in properties {
        let path = format!("{path}.{name}");
        if has_fields(inner(&path, schema).1) {
            section(api, &path, schema, text);
        }
    }
}

/// The objects in a list or map, and their path: `items[]`, `limits.*`.
fn inner<'a>(path: &str, schema: &'a Value) -> (String, &'a Value) {
    if schema["items"].is_object() {
        return inner(&format!("{path}[]"), &schema["items"]);
    }
    if schema["additionalProperties"].is_object() && !has_fields(schema) {
        return inner(&format!("{path}.*"), &schema["additionalProperties"]);
    }
    (path.into(), schema)
}

fn has_fields(schema: &Value) -> bool {
    schema["properties"].as_object().is_some_and(|properties| !properties.is_empty())
}

/// `true` for a Pod template, which has hundreds of fields that Kubernetes documents.
fn is_pod_template(schema: &Value) -> bool {
    let pod = &schema["properties"]["spec"]["properties"];
    pod["containers"].is_object()
        && pod["initContainers"].is_object()
        && pod["terminationGracePeriodSeconds"].is_object()
}

/// The type of a field, as a link if it has a section.
fn kind_of(api: &Api, path: &str, schema: &Value) -> String {
    let (path, object) = inner(path, schema);
    let name = name_of(schema);
    if has_fields(object) { format!("[{name}](#{})", anchor(api, &path)) } else { name }
}

fn name_of(schema: &Value) -> String {
    if schema["x-kubernetes-int-or-string"] == true {
        return "integer or string".into();
    }
    let or_null = if schema["nullable"] == true { " or null" } else { "" };
    let name = match schema["type"].as_str() {
        Some("array") => format!("list of {}", plural(&name_of(&schema["items"]))),
        Some("object") if schema["additionalProperties"].is_object() && !has_fields(schema) => {
            format!("map of {}", plural(&name_of(&schema["additionalProperties"])))
        }
        Some(one) => match schema["format"].as_str() {
            Some(format) if one == "string" => format!("{one} ({format})"),
            _ => one.to_owned(),
        },
        None => "any value".into(),
    };
    name + or_null
}

fn plural(name: &str) -> String {
    match name {
        "any value" => "any values".into(),
        name if name.starts_with("list of") => name.replacen("list of", "lists of", 1),
        name if name.starts_with("map of") => name.replacen("map of", "maps of", 1),
        name => match name.split_once(' ') {
            Some((first, rest)) => format!("{first}s {rest}"),
            None => format!("{name}s"),
        },
    }
}

/// The constraints of a schema in addition to the type.
fn constraints(schema: &Value) -> Vec<String> {
    let mut all = Vec::new();
    // Bounds are floating-point numbers, even those of integers.
    let value = |key: &str| schema.get(key).map(|value| value.to_string().trim_end_matches(".0").to_owned());
    if let Some(default) = value("default") {
        all.push(format!("default: {}", code(&default)));
    }
    if let Some(values) = schema["enum"].as_array() {
        let values = values.iter().map(|value| code(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
        all.push(format!("one of {}", values.collect::<Vec<_>>().join(", ")));
    }
    let [more, less] = ["exclusiveMinimum", "exclusiveMaximum"].map(|key| schema[key] == true);
    match (value("minimum"), value("maximum")) {
        (Some(least), Some(most)) if !more && !less => all.push(format!("{least} to {most}")),
        (least, most) => {
            all.extend(least.map(|least| format!("{} {least}", if more { "more than" } else { "at least" })));
            all.extend(most.map(|most| format!("{} {most}", if less { "less than" } else { "at most" })));
        }
    }
    for (least, most, one, several) in [
        ("minLength", "maxLength", "character", "characters"),
        ("minItems", "maxItems", "item", "items"),
        ("minProperties", "maxProperties", "entry", "entries"),
    ] {
        let counted = |number: String| format!("{number} {}", if number == "1" { one } else { several });
        match (value(least), value(most)) {
            (Some(least), Some(most)) => all.push(format!("{least} to {}", counted(most))),
            (Some(least), None) => all.push(format!("at least {}", counted(least))),
            (None, Some(most)) => all.push(format!("at most {}", counted(most))),
            (None, None) => {}
        }
    }
    if let Some(factor) = value("multipleOf") {
        all.push(format!("a multiple of {factor}"));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        all.push(format!("matches {}", code(pattern)));
    }
    if schema["uniqueItems"] == true || schema["x-kubernetes-list-type"] == "set" {
        all.push("each item once".into());
    }
    if schema["x-kubernetes-list-type"] == "map" {
        let keys = items(&schema["x-kubernetes-list-map-keys"]).iter().filter_map(Value::as_str);
        all.push(format!("each {} once", keys.map(code).collect::<Vec<_>>().join(" and ")));
    }
    all
}

/// Adds the rules of an object.
fn rules(schema: &Value, text: &mut String) {
    let rules: Vec<String> = items(&schema["x-kubernetes-validations"]).iter().map(rule).collect();
    if !rules.is_empty() {
        *text += &rules.iter().fold(String::from("\n"), |text, rule| format!("{text}- {rule}\n"));
    }
}

/// A CEL rule: its message, and the expression.
fn rule(rule: &Value) -> String {
    let expression = code(rule["rule"].as_str().unwrap_or_default());
    match rule["message"].as_str() {
        Some(message) => format!("{}: {expression}", escaped(message)),
        None => format!("Rule: {expression}"),
    }
}

/// Inline code, with as many backticks as the text requires.
fn code(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let (fence, space) = ("`".repeat(longest + 1), if longest > 0 { " " } else { "" });
    format!("{fence}{space}{}{space}{fence}", text.replace('\n', " ").replace('|', "\\|"))
}

fn list(names: impl Iterator<Item = String>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn description(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// Text for a table cell: one line, in which `<br>` separates paragraphs and list items.
fn cell(text: &str) -> String {
    let text = escaped(text).replace('|', "\\|").replace("\n\n", "<br><br>");
    text.replace("\n- ", "<br>- ").replace("\n* ", "<br>- ").replace('\n', " ")
}

/// Escapes HTML in a description, which is Markdown but not HTML: `Vec<String>` is not an element.
fn escaped(text: &str) -> String {
    let mut is_code = false;
    let mut result = String::new();
    for character in text.trim().chars() {
        match character {
            '`' => is_code = !is_code,
            '<' if !is_code => {
                result.push_str("&lt;");
                continue;
            }
            _ => {}
        }
        result.push(character);
    }
    result
}

fn first_sentence(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    escaped(line.split_once(". ").map_or(line, |(sentence, _)| sentence)).trim_end_matches('.').to_owned()
}

fn separated(before: &str, text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!("{before}{text}") }
}

fn anchor(api: &Api, path: &str) -> String {
    let name = format!("{}.{}-{}{}", api.kind, api.group, api.version, separated("-", path));
    name.to_lowercase().replace("[]", "").replace(['.', '*', '/'], "-")
}
