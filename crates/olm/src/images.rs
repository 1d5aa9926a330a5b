//! The images of a bundle: `relatedImages` of the CSV, and their digests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::deployments::{Deployments, containers, containers_mut};
use super::draft::Draft;
use super::object::{Object, list, text};
use crate::diagnostics::OP507;
use opctl_kustomize::yaml::Node;

/// Digests (`sha256:…`) by image reference.
pub type Digests = BTreeMap<String, String>;

const PREFIX: &str = "RELATED_IMAGE_";

/// `relatedImages`: the values of `RELATED_IMAGE_…` variables, and the images of containers that are pinned; with digests, all
/// images, which are pinned in `specs`, too.
pub fn related(
    draft: &mut Draft,
    deployments: &Deployments,
    specs: &mut [Value],
    digests: Option<&Digests>,
) -> Vec<Value> {
    // Names by image. That of a variable takes precedence over that of a container.
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for (at, (_, deployment)) in deployments.all.iter().enumerate() {
        for (pointer, container) in containers(&specs[at]["spec"]) {
            for (number, variable) in list(container, "/env").iter().enumerate() {
                let Some(name) = text(variable, "/name").strip_prefix(PREFIX) else { continue };
                let name = name.to_lowercase().replace('_', "-");
                let place = deployment.span(&format!("/spec{pointer}/env/{number}"));
                let image = text(variable, "/value");
                if image.is_empty() {
                    let message = format!("`{PREFIX}…` must name an image, but this variable has no value");
                    let error = OP507.error(message).at(place, "").help("set `value` to the image");
                    draft.findings.push(error);
                    continue;
                }
                match named.get(&name) {
                    Some(other) if other != image => {
                        let message =
                            format!("`{}` is the name of two images: `{other}` and `{image}`", text(variable, "/name"));
                        let help = "give one of the variables another name";
                        draft.findings.push(OP507.error(message).at(place, "").help(help));
                    }
                    _ => drop(named.insert(name, image.to_owned())),
                }
            }
        }
    }
    name_containers(specs, &mut named, |image| digests.is_some() || image.contains('@'));
    if let Some(digests) = digests {
        pin(draft, deployments, specs, digests);
        for image in named.values_mut() {
            *image = pinned(image, digests).unwrap_or_else(|| image.clone());
        }
    }
    named.into_iter().map(|(name, image)| json!({ "name": name, "image": image })).collect()
}

/// The images in the Deployments that are not pinned to a digest.
pub fn images(objects: &[Node]) -> BTreeSet<String> {
    let objects = objects.iter().cloned().map(Object::new);
    let deployments: Vec<Object> = objects.filter(|object| object.is("apps", "Deployment")).collect();
    let containers = deployments.iter().flat_map(|deployment| containers(&deployment.value["spec"]));
    let images = containers.flat_map(|(_, container)| {
        let related = list(container, "/env").iter().filter(|variable| text(variable, "/name").starts_with(PREFIX));
        related.map(|variable| text(variable, "/value")).chain([text(container, "/image")])
    });
    images.filter(|image| !image.is_empty() && !image.contains('@')).map(str::to_owned).collect()
}

/// Names images of containers without a variable.
fn name_containers(specs: &[Value], named: &mut BTreeMap<String, String>, is_listed: impl Fn(&str) -> bool) {
    let known: BTreeSet<String> = named.values().cloned().collect();
    for item in specs {
        for (_, container) in containers(&item["spec"]) {
            let (image, name) = (text(container, "/image"), text(container, "/name"));
            if known.contains(image) || !is_listed(image) {
                continue;
            }
            let name = match named.get(name) {
                Some(other) if other != image => format!("{}-{name}", text(item, "/name")),
                _ => name.to_owned(),
            };
            named.insert(name, image.to_owned());
        }
    }
}

/// Pins images in containers and in variables.
fn pin(draft: &mut Draft, deployments: &Deployments, specs: &mut [Value], digests: &Digests) {
    for (at, (_, deployment)) in deployments.all.iter().enumerate() {
        let mut missing = Vec::new();
        for (pointer, container) in containers(&specs[at]["spec"]) {
            let mut images = vec![(format!("{pointer}/image"), text(container, "/image"))];
            for (number, variable) in list(container, "/env").iter().enumerate() {
                if text(variable, "/name").starts_with(PREFIX) {
                    images.push((format!("{pointer}/env/{number}/value"), text(variable, "/value")));
                }
            }
            missing.extend(images.into_iter().filter(|(_, image)| !image.is_empty() && pinned(image, digests).is_none()).map(
                |(pointer, image)| {
                    OP507.error(format!("the digest of `{image}` is not known"))
                        .at(deployment.span(&format!("/spec{pointer}")), "")
                        .help(format!("add `{image}: sha256:…` to the file of `--digests`; `crane digest {image}` prints the digest"))
                },
            ));
        }
        draft.findings.extend(missing);
        for container in containers_mut(&mut specs[at]["spec"]) {
            let pin = |image: &mut Value| {
                if let Some(pinned) = image.as_str().and_then(|image| pinned(image, digests)) {
                    *image = pinned.into();
                }
            };
            container.get_mut("image").into_iter().for_each(pin);
            let Some(Value::Array(variables)) = container.get_mut("env") else { continue };
            let related = variables.iter_mut().filter(|variable| text(variable, "/name").starts_with(PREFIX));
            related.filter_map(|variable| variable.get_mut("value")).for_each(pin);
        }
    }
}

/// `name@sha256:…`; `None` if the digest is unknown.
fn pinned(image: &str, digests: &Digests) -> Option<String> {
    if image.contains('@') {
        return Some(image.to_owned());
    }
    let digest = digests.get(image)?;
    let start = image.rfind('/').map_or(0, |slash| slash + 1);
    let name = image[start..].find(':').map_or(image, |colon| &image[..start + colon]);
    Some(format!("{name}@{digest}"))
}
