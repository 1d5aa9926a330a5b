//! Validating webhooks.

use std::fmt;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use hyper::body::Bytes;
use kube::Resource;
use kube::core::admission::{AdmissionResponse, Operation};
use serde::de::DeserializeOwned;

use super::admission::{Read, allow, read, refuse};
use super::{Answer, Function, Rejection, Request, Serves, Warnings, Webhook};
use crate::Context;

/// A validating webhook: allows or denies the creation, update or deletion of an object.
///
/// An operation without a function is allowed. The `verbs` of the marker decide which operations the API server sends.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use opctl_runtime::webhook::{Rejection, Request, Validating, Warnings, Webhook};
///
/// async fn validate_create(object: &ConfigMap, _: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
///     let mut rejection = Rejection::default();
///     if object.data.is_none() {
///         rejection.required("data", "must not be empty");
///     }
///     rejection.or(Warnings::new())
/// }
///
/// async fn validate_update(
///     old: &ConfigMap,
///     object: &ConfigMap,
///     request: &Request<ConfigMap>,
/// ) -> Result<Warnings, Rejection> {
///     validate_create(object, request).await
/// }
///
/// fn webhook() -> Webhook {
///     Validating::new("/validate-v1-configmap").create(validate_create).update(validate_update).into()
/// }
/// ```
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,\
//     resourceNames={operator}-validating-webhook-configuration,verbs=get;patch
pub struct Validating<T: Resource> {
    path: &'static str,
    create: Option<One<T>>,
    update: Option<Two<T>>,
    delete: Option<One<T>>,
}

type Verdict = Result<Warnings, Rejection>;
type One<T> = Box<dyn for<'a> Fn(&'a T, &'a Request<T>) -> BoxFuture<'a, Verdict> + Send + Sync>;
type Two<T> = Box<dyn for<'a> Fn(&'a T, &'a T, &'a Request<T>) -> BoxFuture<'a, Verdict> + Send + Sync>;

impl<T> Validating<T>
where
    T: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
{
    /// Creates a webhook at this path, which allows everything until functions are added.
    pub fn new(path: &'static str) -> Self {
        Self { path, create: None, update: None, delete: None }
    }

    /// Calls a function before an object is created. It is also called for an update of an object whose old version
    /// cannot be decoded: only the new one can be validated.
    #[must_use]
    pub fn create<F>(mut self, function: F) -> Self
    where
        F: for<'a> Function<'a, (&'a T, &'a Request<T>), Result<Warnings, Rejection>>,
    {
        self.create = Some(Box::new(move |new, request| function.call((new, request)).boxed()));
        self
    }

    /// Calls a function with the old and the new object before an update.
    #[must_use]
    pub fn update<F>(mut self, function: F) -> Self
    where
        F: for<'a> Function<'a, (&'a T, &'a T, &'a Request<T>), Result<Warnings, Rejection>>,
    {
        self.update = Some(Box::new(move |old, new, request| function.call((old, new, request)).boxed()));
        self
    }

    /// Calls a function before an object is deleted; the marker needs the verb `delete`. An object that cannot be
    /// decoded is deleted without a call.
    #[must_use]
    pub fn delete<F>(mut self, function: F) -> Self
    where
        F: for<'a> Function<'a, (&'a T, &'a Request<T>), Result<Warnings, Rejection>>,
    {
        self.delete = Some(Box::new(move |old, request| function.call((old, request)).boxed()));
        self
    }

    async fn answer(&self, body: Bytes, ctx: Context) -> Answer {
        let Read { request, mut warnings, operation } = match read::<T>(&body, ctx) {
            Ok(read) => read,
            Err(answer) => return *answer,
        };
        let review = &request.review;
        let verdict = match (&review.operation, &review.old_object, &review.object) {
            (Operation::Update, Some(old), Some(new)) => self.update.as_ref().map(|it| it(old, new, &request)),
            (Operation::Create | Operation::Update, None, Some(new)) => {
                self.create.as_ref().map(|it| it(new, &request))
            }
            (Operation::Delete, Some(old), _) => self.delete.as_ref().map(|it| it(old, &request)),
            _ => None,
        };
        let verdict = match verdict {
            Some(verdict) => verdict.await,
            None => Ok(Warnings::new()),
        };
        match verdict {
            Ok(more) => {
                warnings.extend(more);
                allow(operation, AdmissionResponse::from(review), warnings)
            }
            Err(rejection) => refuse(operation, rejection.of(review)),
        }
    }
}

impl<T: Resource> fmt::Debug for Validating<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validating").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<T> From<Validating<T>> for Webhook
where
    T: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
{
    fn from(webhook: Validating<T>) -> Self {
        let path = webhook.path;
        let webhook = Arc::new(webhook);
        let handler = move |body, ctx| {
            let webhook = webhook.clone();
            async move { webhook.answer(body, ctx).await }.boxed()
        };
        Self { path, serves: Serves::Validating(Arc::new(handler)) }
    }
}
