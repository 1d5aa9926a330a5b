//! A kind as people write it without opctl.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A shelf with books.
#[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "library.example.com",
    version = "v1",
    kind = "Shelf",
    plural = "shelves",
    namespaced,
    status = "ShelfStatus"
)]
pub struct ShelfSpec {
    pub books: i32,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct ShelfStatus {
    pub free: i32,
}
