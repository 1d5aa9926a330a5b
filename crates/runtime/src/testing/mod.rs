//! Test support: a mock API server for unit tests, checks of CRDs, samples on a real API server.
//!
//! ```
//! use std::sync::Arc;
//!
//! use k8s_openapi::api::core::v1::{ConfigMap, Secret};
//! use opctl_runtime::{Children, Context, Outcome, Result, testing};
//!
//! async fn reconcile(object: Arc<ConfigMap>, ctx: Arc<Context>) -> Result<Outcome> {
//!     let mut secret = Secret::default();
//!     secret.metadata.name = Some("copy".to_owned());
//!     let mut children = Children::of(&*object, &ctx);
//!     children.apply(secret).await?;
//!     Ok(children.outcome())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let (ctx, calls) = testing::context();
//! let mut object = ConfigMap::default();
//! object.metadata.name = Some("sample".to_owned());
//! let outcome = reconcile(testing::stored(object), ctx).await.unwrap();
//! assert_eq!(outcome.conditions()[0].reason, "Available");
//! let owner = &calls.applied::<Secret>("copy")["metadata"]["ownerReferences"][0];
//! assert_eq!(owner["name"], "sample");
//! # }
//! ```

mod crds;
mod mock;
mod samples;
mod store;

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use clap::Parser;
use kube::Resource;
use serde::de::DeserializeOwned;

use crate::Options;
use crate::apply::is_namespaced;

#[cfg(feature = "conversion")]
pub use crate::webhook::conversion::round_trip::round_trip;
#[cfg(feature = "webhook")]
pub use crate::webhook::testing::{ask, assert_webhooks};
pub use crds::assert_crds;
pub use mock::{
    Call, Calls, Object, api_server, context, context_having, context_with, default_answers, object, status,
};
pub use samples::samples_become_ready;

/// Parses the arguments of a manager. Exits the process if an argument is invalid.
pub fn options<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Options {
    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }
    Arguments::parse_from(["manager"].into_iter().chain(arguments)).options
}

/// Completes an object like an API server: uid `1`, generation 1, resource version `1` and, for a namespaced kind,
/// namespace `default`, unless they are set.
pub fn stored<K>(mut object: K) -> Arc<K>
where
    K: Resource<DynamicType = (), Scope: 'static>,
{
    let metadata = object.meta_mut();
    metadata.uid.get_or_insert_with(|| "1".to_owned());
    metadata.generation.get_or_insert(1);
    metadata.resource_version.get_or_insert_with(|| "1".to_owned());
    if is_namespaced::<K>() {
        metadata.namespace.get_or_insert_with(|| "default".to_owned());
    }
    Arc::new(object)
}

/// Parses a YAML file; panics if it cannot be read or parsed.
pub(crate) fn read_yaml<T: DeserializeOwned + Debug>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
