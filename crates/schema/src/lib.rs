//! The rules of a Kubernetes API server for CustomResourceDefinitions, objects and webhook configurations
//! ([`apiserver`]), and the breaking changes of a CRD ([`compat`]).
//!
//! Values go in, findings come out. Nothing here reads files, connects to a cluster or knows the source of a CRD.
//!
//! ```
//! use opctl_schema::apiserver::{CustomResourceDefinition, check};
//! use opctl_schema::compat::{Impact, compare};
//! use serde_json::{Value, json};
//!
//! let crd = |fields: Value| {
//!     json!({
//!         "metadata": { "name": "racks.depot.example.com" },
//!         "spec": {
//!             "group": "depot.example.com",
//!             "names": { "kind": "Rack", "listKind": "RackList", "plural": "racks", "singular": "rack" },
//!             "scope": "Namespaced",
//!             "versions": [{
//!                 "name": "v1",
//!                 "served": true,
//!                 "storage": true,
//!                 "schema": { "openAPIV3Schema": { "type": "object", "properties": fields } },
//!             }],
//!         },
//!     })
//! };
//! let old = crd(json!({ "height": { "type": "integer" }, "room": { "type": "string" } }));
//! let new = crd(json!({ "height": { "type": "integer", "maximum": 42 } }));
//!
//! let changes = compare(&[old], &[new.clone()]);
//! // Fields that are gone are reported at the object around them.
//! let paths: Vec<_> = changes.iter().map(|change| (change.path.as_str(), change.impact)).collect();
//! assert_eq!(paths, [("height", Impact::Breaking), ("", Impact::Loss)]);
//!
//! let new: CustomResourceDefinition = serde_json::from_value(new)?;
//! assert_eq!(check(&new), []);
//! # Ok::<(), serde_json::Error>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod apiserver;
pub mod compat;

pub use opctl_model::diagnostic::{Diagnostic, Severity};
pub use opctl_model::{CrdLocation, Step};
