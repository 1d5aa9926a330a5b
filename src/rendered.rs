//! Renders the manifests of a project with kustomize, and substitutes the image of the operator.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::places;

use opctl_cluster::{self as cluster, Kubectl, KubectlError, ManifestError, Object};
use opctl_kustomize::{Renderer, images_in};
use opctl_model::names::{Image, NameError};
use opctl_model::project::{Origin, ProjectFile, Tree};
use opctl_model::yaml;

/// The name of the image in the scaffold, as in an entry of `images`.
pub const PLACEHOLDER: &str = "controller";
pub const PLACEHOLDER_TAGGED: &str = "controller:latest";

#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The help is the way to get it.
    #[error("there is no `config/default/kustomization.yaml` in the project")]
    NoKustomization(Vec<String>),

    #[error("there is no CRD in `config/crd`, and an operator without kinds needs none")]
    NoCrds,

    #[error("kustomize cannot render `{folder}`: {message}")]
    Kustomize { folder: &'static str, message: String },

    /// kubectl, which contains kustomize, cannot be started.
    #[error(transparent)]
    Kubectl(KubectlError),

    #[error(transparent)]
    Manifest(#[from] ManifestError),

    /// The text of the manifests cannot be searched for images.
    #[error("{0}")]
    Images(String),

    #[error("invalid {} `{}`", .0.what, .0.text)]
    Image(#[from] NameError),

    #[error("{0}")]
    Crds(anyhow::Error),

    /// `others` are the images of containers.
    #[error("no container in `config/default` has the image `{PLACEHOLDER}`")]
    NoPlaceholder { image: String, others: Vec<String> },

    #[error("no image given: `config/default` has the placeholder `{placeholder}`")]
    NoImage { placeholder: String, command: &'static str },
}

/// The objects of `config/default`, with the image substituted.
pub fn whole(tree: &Tree, kubectl: &Kubectl, image: ImageSubstitution) -> Result<Vec<Object>, RenderError> {
    Ok(cluster::objects(&text(tree, kubectl, image)?)?)
}

/// The text of `config/default`, with the image substituted.
pub fn text(tree: &Tree, kubectl: &Kubectl, image: ImageSubstitution) -> Result<String, RenderError> {
    if !has_kustomization(tree, "config/default") {
        return Err(RenderError::NoKustomization(ways_to_deploy(tree)));
    }
    let mut rendered = render(tree, kubectl, "config/default")?;
    substitute_image(&mut rendered, image)?;
    Ok(rendered)
}

/// The next steps if there is no `config/default`. Those of an adopted operator may deploy it otherwise.
fn ways_to_deploy(tree: &Tree) -> Vec<String> {
    if !ProjectFile::read(tree).is_ok_and(|project| project.adopted) {
        return vec!["it lists everything that is deployed; restore it, e.g. from version control".into()];
    }
    let files = tree.own_files().unwrap_or_default();
    let mut help = vec![
        "`opctl adopt --config` adds it, with a Deployment, a role and the CRDs".to_owned(),
        "or write it, if `config` has manifests of yours: `resources` lists their folders, such as `- ../rbac`".into(),
    ];
    if let Some(chart) = files.iter().find_map(|path| path.strip_suffix("/Chart.yaml")) {
        help.push(format!("a chart renders without opctl: `helm template NAME {chart} --include-crds`"));
    }
    help
}

/// The CRDs alone; never empty.
pub fn crds(tree: &Tree, kubectl: &Kubectl) -> Result<Vec<Object>, RenderError> {
    let mut objects = Vec::new();
    if has_kustomization(tree, "config/crd") {
        objects = cluster::objects(&render(tree, kubectl, "config/crd")?)?;
        objects.retain(Object::is_crd);
    } else if let Ok(project) = ProjectFile::read(tree) {
        let crds = places::applicable(tree, &project.crds).map_err(RenderError::Crds)?;
        let text: String = crds.iter().map(|kept| format!("---\n{}", yaml::document(&kept.crd))).collect();
        objects = cluster::objects(&text)?;
    }
    if objects.is_empty() { Err(RenderError::NoCrds) } else { Ok(objects) }
}

/// The CRDs alone, rendered without kubectl.
pub fn crd_values(tree: &Tree) -> Vec<Value> {
    let project = || ProjectFile::read(tree).ok();
    match has_kustomization(tree, "config/crd") {
        true => values(tree, "config/crd"),
        false => {
            let crds = project().and_then(|project| places::crds(tree, &project.crds).ok());
            crds.into_iter().flatten().map(|kept| kept.crd).collect()
        }
    }
}

/// The names of the CRDs among rendered objects.
pub fn crd_names(objects: &[Object]) -> impl Iterator<Item = &str> {
    objects.iter().filter(|object| object.is_crd()).map(|object| object.name.as_str())
}

/// The project's own kinds without a CRD, neither in `deployed`, the names of the rendered CRDs, nor in the files that
/// PROJECT lists.
pub fn kinds_without_crd<'a>(tree: &Tree, deployed: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let Ok(project) = ProjectFile::read(tree) else { return BTreeSet::new() };
    let own = project.resources.iter().filter(|it| it.origin == Origin::Own && it.api.is_some());
    let mut missing: BTreeMap<String, String> =
        own.map(|it| (format!("{}.{}", it.plural(), it.full_group()), it.kind.to_string())).collect();
    deployed.for_each(|name| drop(missing.remove(name)));
    // CRDs may be large, so their files are read only if necessary.
    if !missing.is_empty() {
        let kept = places::readable_crds(tree, &project.crds).map(|(kept, _)| kept).unwrap_or_default();
        let names = kept.iter().filter_map(|kept| kept.crd["metadata"]["name"].as_str());
        names.for_each(|name| drop(missing.remove(name)));
    }
    missing.into_values().collect()
}

/// The objects of a kustomization, rendered without kubectl; none if the folder has no `kustomization.yaml`.
pub fn values(tree: &Tree, folder: &str) -> Vec<Value> {
    if !tree.has(&format!("{folder}/kustomization.yaml")) {
        return Vec::new();
    }
    let objects = Renderer::new(tree).render(folder, &[]).objects;
    objects.into_iter().map(|object| object.node.json()).collect()
}

fn has_kustomization(tree: &Tree, folder: &str) -> bool {
    let names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
    names.iter().any(|name| tree.has(&format!("{folder}/{name}")))
}

fn render(tree: &Tree, kubectl: &Kubectl, folder: &'static str) -> Result<String, RenderError> {
    let path = tree.root().join(folder);
    kubectl.output(&["kustomize", &path.to_string_lossy()], "").map_err(|error| match error {
        KubectlError::Failed { stderr, .. } => {
            RenderError::Kustomize { folder, message: stderr.trim_start_matches("error: ").to_owned() }
        }
        error => RenderError::Kubectl(error),
    })
}

/// The treatment of the placeholder for the image of the operator.
#[derive(Clone, Copy, Debug)]
pub enum ImageSubstitution<'a> {
    /// The operator does not run, so any image is accepted.
    Skip,
    /// `command` runs the operator with this image, or with the one in the manifests if it is `None`.
    Required { image: Option<&'a str>, command: &'static str },
}

/// Replaces the placeholder with the image.
fn substitute_image(rendered: &mut String, substitution: ImageSubstitution) -> Result<(), RenderError> {
    let ImageSubstitution::Required { image, command } = substitution else { return Ok(()) };
    let image = image.map(Image::parse).transpose()?.map(|image| image.to_string());
    let images = images_in(rendered).map_err(|error| RenderError::Images(error.message))?;
    let (placeholders, others): (Vec<_>, Vec<_>) = images.into_iter().partition(|image| image.name == PLACEHOLDER);
    match image {
        Some(image) if !placeholders.is_empty() => {
            for placeholder in placeholders.iter().rev() {
                rendered.replace_range(placeholder.range.clone(), &scalar(&image));
            }
        }
        // `controller:latest` is the default of the Makefile's IMG.
        Some(image) if image != PLACEHOLDER_TAGGED => {
            let others = others.into_iter().map(|image| image.reference).collect();
            return Err(RenderError::NoPlaceholder { image, others });
        }
        None if !placeholders.is_empty() => {
            return Err(RenderError::NoImage { placeholder: placeholders[0].reference.clone(), command });
        }
        _ => {}
    }
    Ok(())
}

/// The image as a YAML scalar. A text without a letter, colon or slash could be parsed as another type, so it is
/// quoted.
fn scalar(image: &str) -> String {
    let is_plain = image.contains(char::is_alphabetic) && image.contains(['/', ':']);
    if is_plain { image.into() } else { format!("\"{image}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RENDERED: &str = "kind: CustomResourceDefinition\nspec:\n  containers:\n  - image: controller:latest\n---\n\
        kind: Deployment\nmetadata:\n  annotations:\n    image: controller:latest\nspec:\n  template:\n    spec:\n      \
        containers:\n      - args:\n        - 'image: controller:latest'\n        image: controller:latest\n      \
        - image: other/controller:latest\n      initContainers:\n      - image: controller@sha256:1\n";

    fn put(image: Option<&str>, rendered: &str) -> Result<String, String> {
        let mut text = rendered.to_owned();
        substitute_image(&mut text, ImageSubstitution::Required { image, command: "deploy" })
            .map_err(|error| error.to_string())
            .map(|()| text)
    }

    #[test]
    fn the_image_is_put_in_where_containers_have_the_placeholder() {
        let expected = RENDERED.replace("\n        image: controller:latest", "\n        image: a.b/c:v1");
        let expected = expected.replace("controller@sha256:1", "a.b/c:v1");
        assert_eq!(put(Some("a.b/c:v1"), RENDERED).unwrap(), expected);
        assert!(put(Some("12"), RENDERED).unwrap().contains("image: \"12\"\n"));
    }

    #[test]
    fn an_image_is_needed_where_there_is_a_place_for_it() {
        let named = RENDERED.replace("controller", "mine");
        assert!(put(None, RENDERED).unwrap_err().starts_with("no image given"));
        assert_eq!(put(None, &named).unwrap(), named);
        assert_eq!(put(Some("controller:latest"), &named).unwrap(), named);
        assert!(put(Some("a/b:c"), &named).unwrap_err().starts_with("no container in `config/default`"));
        assert!(put(Some("A b"), RENDERED).is_err());
    }
}
