//! Templates of catalogs → documents. `olm.template.basic` lists documents. `olm.semver` lists images of bundles, whose
//! versions determine channels and upgrade edges. Source: `alpha/template` of operator-registry.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::head;
use crate::bundle::semver::{self, Version};
use crate::diagnostics::OP530;
use opctl_kustomize::yaml::Node;
use opctl_model::diagnostic::Diagnostic;

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

/// The documents of a template, or problems with their positions.
pub fn expand(template: &Node, render: &Render) -> Result<Vec<Value>, Vec<Diagnostic>> {
    match template.text_at(&["schema"]).unwrap_or_default() {
        "olm.template.basic" => basic(template, render),
        "olm.semver" => semver(template, render),
        other => {
            let message = format!("there is no template of the schema `{other}`");
            Err(vec![problem(template, message).help("the schemas are `olm.template.basic` and `olm.semver`")])
        }
    }
}

fn problem(node: &Node, message: impl Into<String>) -> Diagnostic {
    OP530.error(message).at(head(node), "")
}

fn unknown(node: &Node, image: &str) -> Diagnostic {
    problem(node, format!("the bundle of the image `{image}` is not known"))
        .help(format!("opctl pulls no images: name the folder of the bundle, `--bundle {image}=DIR`"))
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

fn semver(template: &Node, render: &Render) -> Result<Vec<Value>, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    const KEYS: [&str; 7] = [
        "schema",
        "generateMajorChannels",
        "generateMinorChannels",
        "defaultChannelTypePreference",
        "candidate",
        "fast",
        "stable",
    ];
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
