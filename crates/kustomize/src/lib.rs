//! Renders kustomizations to the objects that `kubectl kustomize` prints, with the source position of each value.
//!
//! A folder with kustomizations goes in. Out come objects, in which each key and value has the position that set it,
//! and diagnostics for everything that kustomize would reject. It starts no program, and reads nothing from a network
//! or a cluster: if a kustomization needs a remote resource, a Helm chart or a plugin, [`Render::is_closed`] is false
//! and the rest is rendered.
//!
//! ```
//! use opctl_kustomize::render;
//!
//! let root = tempfile::tempdir()?;
//! let write = |path: &str, text: &str| std::fs::write(root.path().join(path), text);
//! std::fs::create_dir(root.path().join("shop"))?;
//! write("shop/kustomization.yaml", "namePrefix: shop-\nresources: [account.yaml]\n")?;
//! write("shop/account.yaml", "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: till\n")?;
//!
//! let (shop, diagnostics) = render(root.path(), "shop");
//! assert!(shop.is_closed && diagnostics.is_empty());
//! let account = &shop.objects[0];
//! assert_eq!(account.id().to_string(), "ServiceAccount `shop-till`");
//! assert_eq!(account.node.at(&["kind"]).unwrap().span.to_string(), "shop/account.yaml:2:7");
//! assert_eq!(account.node.json()["metadata"]["name"], "shop-till");
//!
//! write("shop/kustomization.yaml", "resources: [acount.yaml]\n")?;
//! let (_, diagnostics) = render(root.path(), "shop");
//! assert_eq!(diagnostics[0].help, ["did you mean `account.yaml`?"]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`Renderer`] renders several kustomizations of one [`Tree`] and parses each file once. [`yaml`] parses other files
//! in the same way. [`config`] knows the folders of a project that opctl scaffolded; nothing else in this crate does.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![deny(missing_docs)]

pub mod config;
pub mod diagnostics;
mod fields;
mod follow;
mod generate;
mod json_patch;
mod kustomization;
mod merge;
mod names;
mod object;
mod patch;
mod path;
mod render;
mod replace;
mod select;
mod transform;
pub mod yaml;

use std::path::PathBuf;

pub use opctl_model::diagnostic::{Diagnostic, Severity, SourceFile, Span};
pub use opctl_model::project::Tree;

pub use self::kustomization::{FILE_NAMES, Kustomization};
pub use self::object::{Id, Object};
pub use self::render::{Render, Renderer};
pub use self::transform::{Image, images_in};

/// Renders the kustomization in `folder`, a path relative to `root` with `/`. It may use files anywhere in `root`.
pub fn render(root: impl Into<PathBuf>, folder: &str) -> (Render, Vec<Diagnostic>) {
    let tree = Tree::at(root);
    let mut renderer = Renderer::new(&tree);
    let render = renderer.render(folder, &[]);
    (render, renderer.problems)
}
