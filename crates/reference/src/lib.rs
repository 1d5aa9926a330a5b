//! Documents about an operator for people and editors: the reference of its API as Markdown and HTML, JSON schemas, and
//! Grafana dashboards.
//!
//! CRDs as JSON and the names of metrics go in, texts come out. This crate knows neither the project nor its files.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod dashboards;
mod json_schema;
mod markdown;

use std::collections::BTreeMap;

use serde_json::Value;

use opctl_model::yaml;

/// A version of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Api {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub short_names: Vec<String>,
    pub is_namespaced: bool,
    pub is_storage: bool,
    /// The warning of the API server, if the version is deprecated.
    pub deprecated: Option<String>,
    /// Names and JSON paths.
    pub columns: Vec<(String, String)>,
    pub subresources: Vec<String>,
    pub schema: Value,
}

/// The versions of the kinds in CRDs, sorted by group and kind. The versions of a kind are in the order of its CRD,
/// most recent first.
pub fn apis(crds: &[Value]) -> Vec<Api> {
    let mut apis: Vec<Api> = crds.iter().flat_map(versions).collect();
    apis.sort_by(|a, b| (&a.group, &a.kind).cmp(&(&b.group, &b.kind)));
    apis
}

fn versions(crd: &Value) -> Vec<Api> {
    let spec = &crd["spec"];
    let api = |version: &Value| {
        let subresources = version["subresources"].as_object();
        let columns = items(&version["additionalPrinterColumns"]).iter();
        Api {
            group: text(&spec["group"]),
            version: text(&version["name"]),
            kind: text(&spec["names"]["kind"]),
            plural: text(&spec["names"]["plural"]),
            short_names: items(&spec["names"]["shortNames"]).iter().map(text).collect(),
            is_namespaced: spec["scope"] == "Namespaced",
            is_storage: version["storage"] == true,
            deprecated: (version["deprecated"] == true).then(|| match text(&version["deprecationWarning"]) {
                warning if warning.is_empty() => "This version is deprecated.".into(),
                warning => warning,
            }),
            columns: columns.map(|column| (text(&column["name"]), text(&column["jsonPath"]))).collect(),
            subresources: subresources.into_iter().flat_map(serde_json::Map::keys).cloned().collect(),
            schema: version["schema"]["openAPIV3Schema"].clone(),
        }
    };
    items(&spec["versions"]).iter().filter(|version| version["served"] != false).map(api).collect()
}

/// An example of a kind: the text of a sample, without its leading comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub api_version: String,
    pub kind: String,
    pub text: String,
}

/// The samples in the text of a file.
///
/// # Errors
///
/// If a document is not YAML.
pub fn samples(text: &str) -> Result<Vec<Sample>, yaml::Error> {
    let mut samples = Vec::new();
    for document in text.trim_start_matches('\u{feff}').split("\n---") {
        let is_head = |line: &&str| line.trim().is_empty() || line.starts_with('#') || line.starts_with("---");
        let own: String = document.lines().skip_while(is_head).map(|line| format!("{line}\n")).collect();
        let object: Value = if own.is_empty() { Value::Null } else { yaml::read(&own)? };
        let [api_version, kind] = ["apiVersion", "kind"].map(|key| self::text(&object[key]));
        if !kind.is_empty() {
            samples.push(Sample { api_version, kind, text: own });
        }
    }
    Ok(samples)
}

/// The reference as Markdown.
pub fn markdown(project: &str, apis: &[Api], samples: &[Sample]) -> String {
    markdown::pages(project, apis, samples)
}

/// The reference as a self-contained web page.
pub fn html(project: &str, markdown: &str) -> String {
    let parser = pulldown_cmark::Parser::new_ext(markdown, pulldown_cmark::Options::ENABLE_TABLES);
    let mut body = String::new();
    pulldown_cmark::html::push_html(&mut body, parser);
    let title = project.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>API of {title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

const STYLE: &str = "\
:root { color-scheme: light dark; --line: #8884; --code: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 64rem; margin: 0 auto; padding: 1rem; }
h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; }
h3 { margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
code { background: var(--code); border-radius: 3px; padding: .1em .25em; font-size: .9em; }
td:nth-child(2) code { overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: 6px; padding: .8rem; overflow-x: auto; }
pre code { background: none; padding: 0; }
";

/// JSON schemas by path: `GROUP/KIND_VERSION.json`, where kubeconform and editors expect them.
pub fn json_schemas(apis: &[Api], comment: &str) -> BTreeMap<String, String> {
    let file = |api: &Api| {
        let path = format!("{}/{}_{}.json", api.group, api.kind.to_lowercase(), api.version);
        (path, json_schema::of(api, comment))
    };
    apis.iter().map(file).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
