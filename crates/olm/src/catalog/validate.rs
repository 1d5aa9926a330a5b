//! Checks a catalog by the rules of `opm` and OLM. Source: `declcfg_to_model.go` and `model.go` of operator-registry,
//! which stop at the first error; this code reports all.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use super::graph::check_chain;
use super::schemas::{DOCUMENTS, PROPERTIES};
use super::{Catalog, Document, entries, head};
use crate::bundle::image;
use crate::bundle::semver::{self, Range, Version, is_identifier};
use crate::diagnostics::OP530;
use crate::fields::undecodable;
use opctl_kustomize::yaml::{Node, Value};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::names::is_dns_label;

/// All problems, by document.
pub fn check(catalog: &Catalog) -> Vec<Diagnostic> {
    let mut problems = Problems(Vec::new());
    decode(catalog, &mut problems);
    let packages = packages(catalog, &mut problems);
    channels(catalog, &packages, &mut problems);
    bundles(catalog, &packages, &mut problems);
    shared_images(catalog, &mut problems);
    deprecations(catalog, &packages, &mut problems);
    problems.0
}

struct Problems(Vec<Diagnostic>);

impl Problems {
    /// `rule` is the name of the violated rule.
    fn push(&mut self, rule: &str, span: Span, message: impl AsRef<str>) {
        self.0.push(OP530.error(format!("{} [{rule}]", message.as_ref())).at(span, ""));
    }
}

fn place(document: &Document, key: &str) -> Span {
    let entry = document.node.entries().iter().find(|entry| entry.key == key);
    match entry {
        Some(entry) if entry.value.as_text().is_some() => entry.value.span.clone(),
        Some(entry) => entry.key_span.clone(),
        None => head(&document.node),
    }
}

fn packages<'a>(catalog: &'a Catalog, problems: &mut Problems) -> BTreeMap<&'a str, &'a Document> {
    let mut packages = BTreeMap::new();
    for package in catalog.of_schema("olm.package") {
        let name = package.name();
        if !is_dns_label(name) {
            problems.push(
                "package-name",
                place(package, "name"),
                format!("`{name}` is not a name of a package: use a DNS label"),
            );
        }
        if packages.insert(name, package).is_some() {
            problems.push("package-twice", place(package, "name"), format!("there are two packages `{name}`"));
        }
        if let Some(data) = package.node.at(&["icon", "base64data"]).filter(|data| !is_base64(data)) {
            problems.push("package-icon", data.span.clone(), "the data of the icon is not base64");
        }
        let default = package.text("defaultChannel");
        let channels: Vec<&str> = catalog.channels(name).map(Document::name).collect();
        if channels.is_empty() {
            problems.push("package-channels", place(package, "name"), format!("the package `{name}` has no channel"));
        }
        if default.is_empty() {
            problems.push(
                "default-channel",
                place(package, "name"),
                format!("the package `{name}` has no default channel"),
            );
        } else if !channels.contains(&default) {
            let message = format!("the default channel `{default}` is not a channel of the package `{name}`");
            problems.push("default-channel", place(package, "defaultChannel"), message);
        }
    }
    packages
}

fn channels(catalog: &Catalog, packages: &BTreeMap<&str, &Document>, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for channel in catalog.of_schema("olm.channel") {
        let (package, name) = (channel.package(), channel.name());
        if !packages.contains_key(package) {
            problems.push("package-unknown", place(channel, "package"), format!("package `{package}` not found"));
            continue;
        }
        if name.is_empty() {
            problems.push("channel-name", place(channel, "name"), "this channel has no name");
        } else if !seen.insert((package, name)) {
            problems.push(
                "channel-twice",
                place(channel, "name"),
                format!("the package `{package}` has two channels `{name}`"),
            );
        }
        let nodes = channel.node.items_at(&["entries"]);
        if nodes.is_empty() {
            problems.push("channel-empty", place(channel, "entries"), format!("the channel `{name}` has no entries"));
            continue;
        }
        let bundles: BTreeSet<&str> =
            catalog.of_schema("olm.bundle").filter(|bundle| bundle.package() == package).map(Document::name).collect();
        let all = entries(channel);
        let mut names = BTreeSet::new();
        for (entry, node) in all.iter().zip(nodes) {
            let span = |key: &str| node.get(key).map_or_else(|| head(node), |value| value.span.clone());
            if entry.name.is_empty() {
                problems.push("entry-name", head(node), "this entry has no name");
            } else if !names.insert(&entry.name) {
                problems.push(
                    "entry-twice",
                    span("name"),
                    format!("the channel `{name}` has two entries `{}`", entry.name),
                );
            } else if !bundles.contains(entry.name.as_str()) {
                problems.push("entry-bundle", span("name"), format!("`olm.bundle` `{}` not found", entry.name));
            }
            if entry.skips.iter().any(String::is_empty) {
                problems.push("entry-skips", span("skips"), format!("`{}` skips an entry without a name", entry.name));
            }
            if !entry.skip_range.is_empty()
                && let Err(problem) = Range::parse(&entry.skip_range)
            {
                problems.push("entry-skip-range", span("skipRange"), problem);
            }
        }
        if names.len() == all.len()
            && let Err(problem) = check_chain(&all)
        {
            problems.push("channel-graph", place(channel, "entries"), format!("the channel `{name}`: {problem}"));
        }
    }
}

/// The values of the properties of a type.
fn properties<'a>(bundle: &'a Document, kind: &'a str) -> impl Iterator<Item = &'a Node> {
    let all = bundle.node.items_at(&["properties"]).iter();
    all.filter(move |property| property.text_at(&["type"]) == Some(kind)).filter_map(|property| property.get("value"))
}

pub fn version(bundle: &Document) -> Option<Version> {
    semver::parse(properties(bundle, "olm.package").next()?.text_at(&["version"])?).ok()
}

fn bundles(catalog: &Catalog, packages: &BTreeMap<&str, &Document>, problems: &mut Problems) {
    let mut names = BTreeSet::new();
    let mut versions: BTreeMap<(&str, String), &str> = BTreeMap::new();
    for bundle in catalog.of_schema("olm.bundle") {
        let (package, name) = (bundle.package(), bundle.name());
        if !packages.contains_key(package) {
            problems.push("package-unknown", place(bundle, "package"), format!("package `{package}` not found"));
            continue;
        }
        if name.is_empty() {
            problems.push("bundle-name", place(bundle, "name"), "this bundle has no name");
        }
        if !names.insert((package, name)) {
            problems.push(
                "bundle-twice",
                place(bundle, "name"),
                format!("the package `{package}` has two bundles `{name}`"),
            );
        }
        if !catalog.channels(package).any(|channel| entries(channel).iter().any(|entry| entry.name == name)) {
            problems.push("bundle-channel", place(bundle, "name"), format!("the bundle `{name}` is in no channel"));
        }
        images(bundle, problems);
        property_values(bundle, problems);
        let of_package: Vec<&Node> = properties(bundle, "olm.package").collect();
        let [property] = of_package[..] else {
            let message =
                format!("the bundle `{name}` has {} properties `olm.package`, and must have one", of_package.len());
            problems.push("bundle-package", place(bundle, "properties"), message);
            continue;
        };
        let text = |key: &str| property.text_at(&[key]).unwrap_or_default();
        let span = |key: &str| property.get(key).map_or_else(|| head(property), |value| value.span.clone());
        if text("packageName") != package {
            let message =
                format!("the property `olm.package` is for `{}`, the bundle for `{package}`", text("packageName"));
            problems.push("bundle-package", span("packageName"), message);
        }
        let version = match semver::parse(text("version")) {
            Ok(version) => version,
            Err(problem) => {
                problems.push("bundle-version", span("version"), problem);
                continue;
            }
        };
        let release = text("release");
        if !release.is_empty() {
            if !release.split('.').all(is_identifier) {
                problems.push("bundle-release", span("release"), format!("`{release}` is not a release"));
            }
            if !version.build.is_empty() {
                problems.push("bundle-release", span("release"), "a version with build metadata cannot have a release");
            }
            let expected = format!("{package}-v{version}-{release}");
            if name != expected {
                problems.push(
                    "bundle-release",
                    place(bundle, "name"),
                    format!("with a release, the name must be `{expected}`"),
                );
            }
        }
        let shown = if release.is_empty() { version.to_string() } else { format!("{version}-{release}") };
        if let Some(other) = versions.insert((package, shown.clone()), name)
            && other != name
        {
            let message = format!("the bundles `{other}` and `{name}` have the same version {shown}");
            problems.push("bundle-version-twice", span("version"), message);
        }
    }
}

/// Reports fields of documents that `opm` does not decode.
fn decode(catalog: &Catalog, problems: &mut Problems) {
    for (schema, fields) in DOCUMENTS {
        for (node, problem) in catalog.of_schema(schema).flat_map(|document| undecodable(&document.node, fields)) {
            problems.push("document-decode", head(node), format!("{problem} in an `{schema}`"));
        }
    }
}

fn property_values(bundle: &Document, problems: &mut Problems) {
    const RULE: &str = "property-value";
    for property in bundle.node.items_at(&["properties"]) {
        let kind = property.text_at(&["type"]).unwrap_or_default();
        let Some(value) = property.get("value") else {
            problems.push(RULE, head(property), format!("the property `{kind}` has no value"));
            continue;
        };
        let Some((_, fields)) = PROPERTIES.iter().find(|(known, _)| *known == kind) else { continue };
        if !value.is_null() && !matches!(value.value, Value::Map(_)) {
            problems.push(RULE, value.span.clone(), format!("the value of the property `{kind}` is not a mapping"));
        }
        for (node, problem) in undecodable(value, fields) {
            problems.push(RULE, head(node), format!("{problem} in the property `{kind}`"));
        }
        if kind == "olm.bundle.object" && value.get("data").is_some_and(|data| !is_base64(data)) {
            problems.push(RULE, head(value), format!("the data of a property `{kind}` is not base64"));
        }
    }
}

/// `true` for text that Go decodes as base64.
fn is_base64(node: &Node) -> bool {
    const ENGINE: GeneralPurpose =
        GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));
    node.is_null() || node.as_text().is_some_and(|text| ENGINE.decode(text.replace(['\n', '\r'], "")).is_ok())
}

/// Warns about bundles with the same image: if its tag was moved, the older one installs the newer content.
fn shared_images(catalog: &Catalog, problems: &mut Problems) {
    let mut images = BTreeMap::new();
    for bundle in catalog.of_schema("olm.bundle").filter(|bundle| !bundle.text("image").is_empty()) {
        let image = bundle.text("image");
        let first = *images.entry(image).or_insert(bundle.name());
        if first != bundle.name() {
            let message =
                format!("the bundles `{first}` and `{}` have the same image, `{image}` [bundle-image]", bundle.name());
            let help = "each version of a bundle has an image of its own; the digest of an image never changes";
            problems.0.push(OP530.warning(message).at(place(bundle, "image"), "").help(help));
        }
    }
}

fn images(bundle: &Document, problems: &mut Problems) {
    let name = bundle.text("image");
    let has_objects = properties(bundle, "olm.bundle.object").next().is_some();
    if name.is_empty() && !has_objects {
        let message = format!("the bundle `{}` has no image", bundle.name());
        problems.push("bundle-image", place(bundle, "image"), message);
    }
    if !name.is_empty() && !image::is_reference(name) {
        problems.push("bundle-image", place(bundle, "image"), format!("`{name}` is not a reference of an image"));
    }
    for related in bundle.node.items_at(&["relatedImages"]) {
        if let Some(image) = related.get("image")
            && let Some(text) = image.as_text().filter(|text| !text.is_empty() && !image::is_reference(text))
        {
            problems.push("related-image", image.span.clone(), format!("`{text}` is not a reference of an image"));
        }
    }
}

fn deprecations(catalog: &Catalog, packages: &BTreeMap<&str, &Document>, problems: &mut Problems) {
    const RULE: &str = "deprecation";
    let mut seen = BTreeSet::new();
    for document in catalog.of_schema("olm.deprecations") {
        let package = document.package();
        if !packages.contains_key(package) {
            problems.push(RULE, place(document, "package"), format!("package `{package}` not found"));
            continue;
        }
        if !seen.insert(package) {
            problems.push(
                RULE,
                place(document, "package"),
                format!("the package `{package}` has two lists of deprecations"),
            );
        }
        let mut references = BTreeSet::new();
        for entry in document.node.items_at(&["entries"]) {
            let [schema, name] = ["schema", "name"].map(|key| entry.text_at(&["reference", key]).unwrap_or_default());
            let span = head(entry);
            if entry.text_at(&["message"]).unwrap_or_default().is_empty() {
                problems.push(RULE, span.clone(), "this deprecation has no message");
            }
            if !references.insert((schema, name)) {
                problems.push(RULE, span.clone(), format!("there are two deprecations of `{schema}` `{name}`"));
            }
            let exists =
                |schema: &str| catalog.of_schema(schema).any(|it| it.package() == package && it.name() == name);
            match schema {
                "olm.bundle" | "olm.channel" if exists(schema) => {}
                "olm.bundle" | "olm.channel" => {
                    problems.push(RULE, span, format!("the package `{package}` has no `{schema}` `{name}`"));
                }
                "olm.package" if name.is_empty() => {}
                "olm.package" => problems.push(RULE, span, "the deprecation of a package has no `name`"),
                other => problems.push(
                    RULE,
                    span,
                    format!("a deprecation is of a package, channel or bundle, not of `{other}`"),
                ),
            }
        }
    }
}
