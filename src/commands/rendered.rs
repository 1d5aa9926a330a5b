//! The manifests of a project, as `kubectl kustomize` renders them, and the image of the operator in them.

use std::path::PathBuf;

use anyhow::Context;

use super::error::Refusal;
use super::on_cluster::no_kubectl;
use crate::cluster::{self, Kubectl, KubectlError, Object};
use opctl_kustomize as config;
use opctl_model::names::Image;
use opctl_model::project::{Tree, root_above};

/// The name of the image in the scaffold, which an entry of `images` would use.
pub const PLACEHOLDER: &str = "controller";
const PLACEHOLDER_TAGGED: &str = "controller:latest";

/// The folder of the project around the current one.
pub fn project() -> anyhow::Result<PathBuf> {
    let current = std::env::current_dir().context("cannot determine the current folder")?;
    Ok(root_above(&current)?)
}

/// The objects of `config/default`, with the image substituted.
pub fn whole(tree: &Tree, kubectl: &Kubectl, image: ImageSubstitution) -> anyhow::Result<Vec<Object>> {
    Ok(cluster::objects(&text(tree, kubectl, image)?)?)
}

/// The same as text.
pub fn text(tree: &Tree, kubectl: &Kubectl, image: ImageSubstitution) -> anyhow::Result<String> {
    if !has_kustomization(tree, "config/default") {
        return Err(Refusal::new("there is no `config/default/kustomization.yaml` in the project")
            .help("it lists all that is deployed; bring it back, e.g. from version control")
            .help("to apply the CRDs alone, run `opctl install`")
            .into());
    }
    let mut rendered = render(tree, kubectl, "config/default")?;
    substitute_image(&mut rendered, image)?;
    Ok(rendered)
}

/// The CRDs alone; at least one.
pub fn crds(tree: &Tree, kubectl: &Kubectl) -> anyhow::Result<Vec<Object>> {
    let mut objects = Vec::new();
    if has_kustomization(tree, "config/crd") {
        objects = cluster::objects(&render(tree, kubectl, "config/crd")?)?;
        objects.retain(Object::is_crd);
    }
    if objects.is_empty() {
        return Err(Refusal::new(
            "there is no CRD in `config/crd`, and without a kind of its own an operator needs none",
        )
        .help("`opctl create api` adds a kind")
        .help("`opctl manifests` regenerates `config/crd` from the Rust source")
        .into());
    }
    Ok(objects)
}

fn has_kustomization(tree: &Tree, folder: &str) -> bool {
    let names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
    names.iter().any(|name| tree.has(&format!("{folder}/{name}")))
}

fn render(tree: &Tree, kubectl: &Kubectl, folder: &str) -> anyhow::Result<String> {
    let path = tree.root().join(folder);
    kubectl.output(&["kustomize", &path.to_string_lossy()], "").map_err(|error| match error {
        KubectlError::Failed { stderr, .. } => {
            let message = stderr.trim_start_matches("error: ");
            Refusal::new(format!("kustomize cannot render `{folder}`: {message}"))
                .help("`opctl check` shows what is wrong under `config`, and where")
                .into()
        }
        error => no_kubectl(&error).into(),
    })
}

/// Whether the placeholder for the image of the operator is replaced.
#[derive(Clone, Copy, Debug)]
pub enum ImageSubstitution<'a> {
    /// The operator will not run, so any image is fine.
    Skip,
    /// `command` runs the operator with this image, or with the one in the manifests if it is `None`.
    Required { image: Option<&'a str>, command: &'a str },
}

/// Replaces the placeholder with the image.
fn substitute_image(rendered: &mut String, substitution: ImageSubstitution) -> anyhow::Result<()> {
    let ImageSubstitution::Required { image, command } = substitution else { return Ok(()) };
    let image = image.map(Image::parse).transpose().map_err(Refusal::from)?.map(|image| image.to_string());
    let images = config::images_in(rendered).map_err(|error| Refusal::new(error.message))?;
    let (placeholders, others): (Vec<_>, Vec<_>) = images.into_iter().partition(|image| image.name == PLACEHOLDER);
    match image {
        Some(image) if !placeholders.is_empty() => {
            for placeholder in placeholders.iter().rev() {
                rendered.replace_range(placeholder.range.clone(), &scalar(&image));
            }
        }
        // The default of the Makefile's IMG.
        Some(image) if image != PLACEHOLDER_TAGGED => {
            let others: Vec<String> = others.iter().map(|image| format!("`{}`", image.reference)).collect();
            let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
            return Err(Refusal::new(format!("no container in `config/default` has the image `{PLACEHOLDER}`"))
                .help(format!("there is {others}; leave `--image` out to take the manifests as they are"))
                .help(format!("or write `image: {PLACEHOLDER_TAGGED}` where `{image}` should go"))
                .into());
        }
        None if !placeholders.is_empty() => {
            return Err(Refusal::new(format!(
                "no image given: `config/default` has the placeholder `{}`",
                placeholders[0].reference
            ))
            .help(format!("opctl {command} --image registry.example.com/my-operator:v1"))
            .into());
        }
        _ => {}
    }
    Ok(())
}

/// As YAML, which reads texts without a letter, a colon or a slash as it likes.
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
        let substitution = ImageSubstitution::Required { image, command: "deploy" };
        substitute_image(&mut text, substitution).map_err(|error| error.to_string()).map(|()| text)
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
