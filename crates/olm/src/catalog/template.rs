//! Templates of catalogs → documents, and back. `olm.template.basic` lists documents. `olm.semver` lists images of bundles,
//! whose versions determine channels and upgrade edges. `olm.template.substitutes` puts rebuilt bundles in the place of
//! others. Source: `alpha/template` of operator-registry.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::schemas::fold_document;
use super::{Catalog, Document, head, validate};
use crate::bundle::semver::{self, Version};
use crate::diagnostics::OP530;
use crate::fields::fold;
use opctl_kustomize::yaml::{Node, Value as YamlValue};
use opctl_model::diagnostic::{Diagnostic, SourceFile};

/// Returns the rendered bundle of an image; `None` for an unknown image.
pub type Render<'a> = dyn Fn(&str) -> Option<Rendered> + 'a;

/// A bundle in its catalog form.
#[derive(Clone, Debug)]
pub struct Rendered {
    pub document: Value,
    pub description: String,
    /// The fields `base64data` and `mediatype`.
    pub icon: Option<Value>,
}

/// The documents of a template, or problems with their positions. Keys have any case, as in the examples of `opm`: `Stable`.
pub fn expand(template: &Node, render: &Render) -> Result<Vec<Value>, Vec<Diagnostic>> {
    let mut template = template.clone();
    fold(&mut template, &format!("{}|entries", KEYS.join("|")));
    for path in ["substitutions.*.name|base", "candidate|fast|stable.bundles.*.image"] {
        fold(&mut template, path);
    }
    if let Some(YamlValue::List(entries)) = template.get_mut("entries").map(|list| &mut list.value) {
        entries.iter_mut().for_each(fold_document);
    }
    let template = &template;
    match template.text_at(&["schema"]).unwrap_or_default() {
        BASIC => basic(template, render),
        "olm.semver" => semver(template, render),
        SUBSTITUTES => substitutes(template, render),
        other => {
            let message = format!("unknown template schema `{other}`");
            Err(vec![
                problem(template, message).help(format!("the schemas are `{BASIC}`, `olm.semver` and `{SUBSTITUTES}`")),
            ])
        }
    }
}

const BASIC: &str = "olm.template.basic";
const SUBSTITUTES: &str = "olm.template.substitutes";

/// The documents of a catalog as a basic template. A bundle with an image is reduced to it.
pub fn to_basic(documents: Vec<Value>) -> Value {
    let entry = |document: Value| match document["image"].as_str() {
        Some(image) if document["schema"] == "olm.bundle" && !image.is_empty() => {
            json!({"schema": "olm.bundle", "image": image})
        }
        _ => document,
    };
    json!({"schema": BASIC, "entries": documents.into_iter().map(entry).collect::<Vec<_>>()})
}

/// The documents of a catalog as a template of substitutions, without any.
pub fn to_substitutes(documents: Vec<Value>) -> Value {
    json!({"schema": SUBSTITUTES, "entries": documents, "substitutions": []})
}

fn problem(node: &Node, message: impl Into<String>) -> Diagnostic {
    OP530.error(message).at(head(node), "")
}

fn unknown(node: &Node, image: &str) -> Diagnostic {
    problem(node, format!("the bundle of the image `{image}` is not known"))
        .help(format!("name the folder of the bundle, `--bundle {image}=DIR`, or pull the image: `--pull`"))
}

/// Copies all documents; renders bundles that have only an image.
fn basic(template: &Node, render: &Render) -> Result<Vec<Value>, Vec<Diagnostic>> {
    let (mut documents, mut problems) = (Vec::new(), Vec::new());
    for entry in template.items_at(&["entries"]) {
        let text = |key: &str| entry.text_at(&[key]).unwrap_or_default();
        let is_reference = text("schema") == "olm.bundle"
            && !text("image").is_empty()
            && entry.entries().iter().all(|it| matches!(it.key.as_str(), "schema" | "image"));
        if !is_reference {
            documents.push(entry.json());
            continue;
        }
        match render(text("image")) {
            Some(rendered) => documents.push(rendered.document),
            None => problems.push(unknown(entry, text("image"))),
        }
    }
    if problems.is_empty() { Ok(documents) } else { Err(problems) }
}

/// Replaces bundles with rebuilt ones in all channels.
fn substitutes(template: &Node, render: &Render) -> Result<Vec<Value>, Vec<Diagnostic>> {
    let entries = template.items_at(&["entries"]);
    let document = |node: &Node| Document { node: node.clone(), path: String::new() };
    let errors = |catalog: &Catalog| {
        let problems = validate::check(catalog).into_iter().filter(Diagnostic::is_error).collect::<Vec<_>>();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    };
    errors(&Catalog { documents: entries.iter().map(document).collect() })?;
    let mut documents: Vec<Value> = entries.iter().map(Node::json).collect();
    let (mut bases, mut images) = (BTreeSet::new(), BTreeSet::new());
    for node in template.items_at(&["substitutions"]) {
        let refuse = |message: String| vec![problem(node, message)];
        let [image, base] = ["name", "base"].map(|key| node.text_at(&[key]).unwrap_or_default());
        if image.is_empty() || base.is_empty() {
            return Err(refuse(
                "a substitution has the image of a bundle, `name`, and the name of another, `base`".into(),
            ));
        }
        if !bases.insert(base) {
            return Err(refuse(format!("the bundle `{base}` is substituted twice")));
        }
        if !images.insert(image) {
            return Err(refuse(format!("the image `{image}` is the substitute of two bundles")));
        }
        let Some(rendered) = render(image) else { return Err(vec![unknown(node, image)]) };
        substitute(&mut documents, base, rendered.document).map_err(refuse)?;
        // The result has no positions in the template.
        let file = SourceFile::new("", super::yaml(&documents));
        let result = Catalog { documents: Catalog::parse(&file, "").map_err(|problem| vec![problem])? };
        errors(&result).map_err(|problems| refuse(format!("the result is not valid: {}", problems[0].message)))?;
    }
    Ok(documents)
}

/// Adds a bundle that takes over the upgrades of another, which it skips.
fn substitute(documents: &mut Vec<Value>, base: &str, bundle: Value) -> Result<(), String> {
    let name = bundle["name"].clone();
    let of_base = documents.iter().find(|document| document["schema"] == "olm.bundle" && document["name"] == base);
    let of_base = of_base.ok_or_else(|| format!("the catalog has no bundle `{base}`"))?;
    if order(of_base)? >= order(&bundle)? {
        return Err(format!("the version of {name} is not above that of `{base}`"));
    }
    for channel in documents.iter_mut().filter(|document| document["schema"] == "olm.channel") {
        let Some(entries) = channel["entries"].as_array_mut() else { continue };
        let mut new = None;
        for entry in entries.iter_mut() {
            if entry["name"] == base {
                let mut moved = std::mem::replace(entry, json!({"name": base}));
                moved["name"] = name.clone();
                skips(&mut moved).push(base.into());
                new = Some(moved);
            } else if entry["replaces"] == base {
                entry["replaces"] = name.clone();
                skips(entry).push(base.into());
            } else if entry["skips"].as_array().is_some_and(|skips| skips.iter().any(|skip| skip == base)) {
                skips(entry).retain(|skip| skip != base);
                skips(entry).push(name.clone());
            }
        }
        entries.extend(new);
    }
    documents.push(bundle);
    Ok(())
}

/// The list `skips` of an entry.
fn skips(entry: &mut Value) -> &mut Vec<Value> {
    if !entry["skips"].is_array() {
        entry["skips"] = json!([]);
    }
    entry["skips"].as_array_mut().expect("it is set above")
}

/// The version of a bundle, and its release: build metadata of the version, or a field of its own.
fn order(bundle: &Value) -> Result<(Version, Option<Version>), String> {
    let named = |problem: String| format!("the bundle {}: {problem}", bundle["name"]);
    let mut version = version(bundle).map_err(named)?;
    let properties = bundle["properties"].as_array().into_iter().flatten();
    let release = properties.filter_map(|property| property["value"]["release"].as_str()).next().unwrap_or_default();
    let release = if release.is_empty() { version.build.to_string() } else { release.to_owned() };
    version.build = Version::new(0, 0, 0).build;
    // Releases are ordered as pre-releases are.
    let release = (!release.is_empty()).then(|| semver::parse(&format!("0.0.0-{release}"))).transpose();
    Ok((version, release.map_err(named)?))
}

/// The archetypes of channels, least stable first.
const ARCHETYPES: [&str; 3] = ["candidate", "fast", "stable"];

/// The scope of a channel: a major or a minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    Major,
    Minor,
}

/// A generated channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    pub entries: Vec<super::Entry>,
}

/// The settings of a semver template.
const KEYS: [&str; 7] = [
    "schema",
    "generateMajorChannels",
    "generateMinorChannels",
    "defaultChannelTypePreference",
    "candidate",
    "fast",
    "stable",
];

fn semver(template: &Node, render: &Render) -> Result<Vec<Value>, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    for entry in template.entries().iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
        let found = OP530.error(format!("a semver template has no setting `{}`", entry.key));
        problems.push(found.at(entry.key_span.clone(), "").help(format!("the settings are: {}", KEYS.join(", "))));
    }
    let is_set = |key: &str| template.get(key).is_some_and(Node::is_true);
    let major = is_set("generateMajorChannels");
    let minor = is_set("generateMinorChannels") || !major;
    let streams: Vec<Stream> =
        [(major, Stream::Major), (minor, Stream::Minor)].into_iter().filter(|it| it.0).map(|it| it.1).collect();
    let preferred = match template.text_at(&["defaultChannelTypePreference"]).unwrap_or_default() {
        "" if minor => Stream::Minor,
        "" => Stream::Major,
        "minor" => Stream::Minor,
        "major" => Stream::Major,
        other => {
            problems.push(problem(
                template,
                format!("`defaultChannelTypePreference` is `minor` or `major`, not `{other}`"),
            ));
            Stream::Minor
        }
    };
    if !streams.contains(&preferred) {
        problems.push(
            problem(template, "no channels of the preferred type are generated")
                .help("set `generateMajorChannels` and `generateMinorChannels`"),
        );
    }
    let mut bundles: BTreeMap<String, Rendered> = BTreeMap::new();
    let mut versions: [Vec<(String, Version)>; 3] = Default::default();
    let mut package: Option<String> = None;
    for (archetype, versions) in ARCHETYPES.iter().zip(&mut versions) {
        for entry in template.items_at(&[archetype, "bundles"]) {
            let image = entry.text_at(&["image"]).unwrap_or_default();
            let Some(rendered) = render(image) else {
                problems.push(unknown(entry, image));
                continue;
            };
            let name = rendered.document["name"].as_str().unwrap_or_default().to_owned();
            let its_package = rendered.document["package"].as_str().unwrap_or_default().to_owned();
            if *package.get_or_insert_with(|| its_package.clone()) != its_package {
                problems.push(problem(entry, format!("the bundle `{name}` is of another package, `{its_package}`")));
            }
            match version(&rendered.document) {
                Err(found) => problems.push(problem(entry, format!("the bundle `{name}`: {found}"))),
                Ok(_) if versions.iter().any(|(known, _)| *known == name) => {
                    problems.push(problem(entry, format!("the bundle `{name}` is listed twice")));
                }
                Ok(version) => match versions.iter().find(|(_, known)| known.cmp_precedence(&version).is_eq()) {
                    Some((known, _)) => {
                        let message = format!(
                            "the versions of `{known}` and `{name}` cannot be ordered: they differ in build metadata only"
                        );
                        problems.push(problem(entry, message));
                    }
                    None => versions.push((name.clone(), version)),
                },
            }
            bundles.insert(name, rendered);
        }
    }
    let Some(package) = package else {
        problems.push(problem(template, "the template lists no bundles").help("add images to `stable.bundles`"));
        return Err(problems);
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    let channels = channels(&versions, &streams);
    let default = default_channel(&versions, &streams, preferred).unwrap_or_default();
    let mut of_package = json!({"schema": "olm.package", "name": package, "defaultChannel": default});
    let latest = channels.iter().find(|channel| channel.name == default).and_then(|channel| channel.entries.last());
    if let Some(rendered) = latest.and_then(|entry| bundles.get(&entry.name)) {
        if !rendered.description.is_empty() {
            of_package["description"] = rendered.description.clone().into();
        }
        if let Some(icon) = &rendered.icon {
            of_package["icon"] = icon.clone();
        }
    }
    let mut documents = vec![of_package];
    documents.extend(channels.iter().map(|channel| document(&package, channel)));
    documents.extend(bundles.into_values().map(|rendered| rendered.document));
    Ok(documents)
}

fn version(bundle: &Value) -> Result<Version, String> {
    let properties = bundle["properties"].as_array().into_iter().flatten();
    let mut of_package = properties.filter(|property| property["type"] == "olm.package");
    let property = of_package.next().ok_or("it has no property `olm.package`")?;
    semver::parse(property["value"]["version"].as_str().unwrap_or_default())
}

/// The `olm.channel` of a channel.
pub fn document(package: &str, channel: &Channel) -> Value {
    let entry = |entry: &super::Entry| {
        let mut json = json!({"name": entry.name});
        if !entry.replaces.is_empty() {
            json["replaces"] = entry.replaces.clone().into();
        }
        if !entry.skips.is_empty() {
            json["skips"] = entry.skips.clone().into();
        }
        if !entry.skip_range.is_empty() {
            json["skipRange"] = entry.skip_range.clone().into();
        }
        json
    };
    let entries: Vec<Value> = channel.entries.iter().map(entry).collect();
    json!({"schema": "olm.channel", "package": package, "name": channel.name, "entries": entries})
}

fn channel_name(archetype: &str, stream: Stream, version: &Version) -> String {
    match stream {
        Stream::Major => format!("{archetype}-v{}", version.major),
        Stream::Minor => format!("{archetype}-v{}.{}", version.major, version.minor),
    }
}

/// The generated channels, by name. In a major version of an archetype, the last patch of each minor version replaces
/// the last patch of the previous minor version, and skips all lower ones. In the channel of a minor version, the
/// replaced entry may be in another channel.
pub fn channels(versions: &[Vec<(String, Version)>; 3], streams: &[Stream]) -> Vec<Channel> {
    let mut channels: BTreeMap<String, Vec<super::Entry>> = BTreeMap::new();
    for (archetype, versions) in ARCHETYPES.iter().zip(versions) {
        let mut sorted: Vec<&(String, Version)> = versions.iter().collect();
        sorted.sort_by(|one, other| one.1.cmp_precedence(&other.1));
        for stream in streams {
            let mut last_of_minor = String::new();
            let mut lower: BTreeSet<String> = BTreeSet::new();
            for (index, (name, version)) in sorted.iter().map(|it| (&it.0, &it.1)).enumerate() {
                let previous = index.checked_sub(1).map(|index| sorted[index]);
                match previous {
                    Some((_, before)) if before.major != version.major => {
                        last_of_minor.clear();
                        lower.clear();
                    }
                    Some((previous, before)) => {
                        if before.minor != version.minor {
                            last_of_minor.clone_from(previous);
                        }
                        lower.insert(previous.clone());
                    }
                    None => {}
                }
                let next = sorted.get(index + 1).map(|it| &it.1);
                let is_last = next.is_none_or(|next| (next.major, next.minor) != (version.major, version.minor));
                let mut entry = super::Entry { name: name.clone(), ..super::Entry::default() };
                if is_last {
                    entry.replaces.clone_from(&last_of_minor);
                    entry.skips = lower.iter().filter(|name| **name != last_of_minor).cloned().collect();
                }
                channels.entry(channel_name(archetype, *stream, version)).or_default().push(entry);
            }
        }
    }
    channels.into_iter().map(|(name, entries)| Channel { name, entries }).collect()
}

/// The channel of the most stable archetype, then with the highest first version, then of the preferred stream.
fn default_channel(versions: &[Vec<(String, Version)>; 3], streams: &[Stream], preferred: Stream) -> Option<String> {
    let (archetype, versions) = ARCHETYPES.iter().zip(versions).rev().find(|(_, versions)| !versions.is_empty())?;
    let mut firsts: BTreeMap<String, (Version, Stream)> = BTreeMap::new();
    for (_, version) in versions {
        for stream in streams {
            let first =
                firsts.entry(channel_name(archetype, *stream, version)).or_insert_with(|| (version.clone(), *stream));
            if version.cmp_precedence(&first.0).is_lt() {
                first.0 = version.clone();
            }
        }
    }
    let order = |one: &(Version, Stream), other: &(Version, Stream)| -> Ordering {
        one.0.cmp_precedence(&other.0).then_with(|| (one.1 == preferred).cmp(&(other.1 == preferred)))
    };
    firsts.into_iter().max_by(|one, other| order(&one.1, &other.1)).map(|(name, _)| name)
}
