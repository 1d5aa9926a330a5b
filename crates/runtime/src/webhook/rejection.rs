//! Rejections of changes, in the format of Kubernetes' own validation.

use std::fmt::Display;

use kube::core::admission::{AdmissionRequest, AdmissionResponse};
use kube::core::response::{StatusCause, StatusDetails};
use kube::{Resource, ResourceExt};
use serde::Serialize;

use super::Warnings;
use super::admission::deny;
use crate::brief;

/// The invalid fields of a change; or a failure, after which the webhook cannot decide.
///
/// Fields have the form `spec.ports[0].name`. `kubectl` prints them like validation errors of Kubernetes itself.
///
/// ```
/// use opctl_runtime::webhook::{Rejection, Warnings};
///
/// fn validate(replicas: i32) -> Result<Warnings, Rejection> {
///     let mut rejection = Rejection::default();
///     if replicas % 2 == 0 {
///         rejection.invalid("spec.replicas", replicas, "must be odd");
///     }
///     rejection.or(Warnings::new())
/// }
/// assert!(validate(3).is_ok() && validate(4).is_err());
/// ```
#[derive(Debug, Default)]
pub struct Rejection {
    causes: Vec<StatusCause>,
    failure: Option<String>,
}

impl Rejection {
    /// Adds a field with an invalid value.
    pub fn invalid(&mut self, field: &str, value: impl Serialize, why: impl Display) {
        let value = json(&value);
        self.cause("FieldValueInvalid", field, format!("Invalid value: {value}: {why}"));
    }

    /// Adds a missing required field.
    pub fn required(&mut self, field: &str, why: impl Display) {
        self.cause("FieldValueRequired", field, format!("Required value: {why}"));
    }

    /// Adds a field whose value is not one of the supported ones.
    pub fn unsupported(&mut self, field: &str, value: impl Serialize, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(json).collect();
        let (value, supported) = (json(&value), supported.join(", "));
        let message = format!("Unsupported value: {value}: supported values: {supported}");
        self.cause("FieldValueNotSupported", field, message);
    }

    /// Adds a field whose value another field or object already has.
    pub fn duplicate(&mut self, field: &str, value: impl Serialize) {
        self.cause("FieldValueDuplicate", field, format!("Duplicate value: {}", json(&value)));
    }

    /// Adds a field that must not be set or changed.
    pub fn forbidden(&mut self, field: &str, why: impl Display) {
        self.cause("FieldValueForbidden", field, format!("Forbidden: {why}"));
    }

    /// Returns the warnings if there are no invalid fields and no failure.
    ///
    /// # Errors
    ///
    /// `self` if there is an invalid field or a failure.
    pub fn or(self, warnings: Warnings) -> Result<Warnings, Self> {
        if self.causes.is_empty() && self.failure.is_none() {
            return Ok(warnings);
        }
        Err(self)
    }

    fn cause(&mut self, reason: &str, field: &str, message: String) {
        let (reason, field) = (reason.to_owned(), field.to_owned());
        self.causes.push(StatusCause { reason, message, field });
    }

    /// The response that denies a request.
    pub(super) fn of<T: Resource<DynamicType = ()>>(self, review: &AdmissionRequest<T>) -> AdmissionResponse {
        if let Some(failure) = self.failure {
            return deny(review.uid.clone(), 500, "InternalError", failure);
        }
        let lines: Vec<String> = self.causes.iter().map(|it| format!("{}: {}", it.field, it.message)).collect();
        let lines = match &lines[..] {
            [line] => line.clone(),
            lines => format!("[{}]", lines.join(", ")),
        };
        let object = review.object.as_ref().or(review.old_object.as_ref());
        let name = object.map(ResourceExt::name_any).unwrap_or_default();
        let (group, kind) = (T::group(&()).into_owned(), T::kind(&()).into_owned());
        let qualified = if group.is_empty() { kind.clone() } else { format!("{kind}.{group}") };
        let message = format!("{qualified} \"{name}\" is invalid: {lines}");
        let mut response = deny(review.uid.clone(), 422, "Invalid", message);
        response.result.details =
            Some(StatusDetails { name, group, kind, uid: String::new(), causes: self.causes, retry_after_seconds: 0 });
        response
    }
}

/// A request of the webhook failed: the change is denied with an internal error, not because of its fields.
impl From<kube::Error> for Rejection {
    fn from(error: kube::Error) -> Self {
        let failure = Some(format!("the webhook cannot decide: {}", brief(&error)));
        Self { failure, ..Self::default() }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
