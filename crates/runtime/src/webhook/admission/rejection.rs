//! Why a change is refused, in the words of Kubernetes' own validation.

use std::fmt::Display;

use kube::core::admission::{AdmissionRequest, AdmissionResponse};
use kube::core::response::{StatusCause, StatusDetails};
use kube::{Resource, ResourceExt};
use serde::Serialize;

use super::{Warnings, deny};
use crate::manager::brief;

/// Fields and what is wrong with them, or what kept the webhook from judging. Fields are written as in
/// `spec.ports[0].name`.
#[derive(Debug, Default)]
pub struct Rejection {
    causes: Vec<StatusCause>,
    failure: Option<String>,
}

impl Rejection {
    /// A value that is wrong.
    pub fn invalid(&mut self, field: &str, value: impl Serialize, why: impl Display) {
        let value = json(&value);
        self.cause(
            "FieldValueInvalid",
            field,
            format!("Invalid value: {value}: {why}"),
        );
    }

    /// A value that is missing.
    pub fn required(&mut self, field: &str, why: impl Display) {
        self.cause(
            "FieldValueRequired",
            field,
            format!("Required value: {why}"),
        );
    }

    /// A value that is none of those that there are.
    pub fn unsupported(&mut self, field: &str, value: impl Serialize, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(json).collect();
        let (value, supported) = (json(&value), supported.join(", "));
        let message = format!("Unsupported value: {value}: supported values: {supported}");
        self.cause("FieldValueNotSupported", field, message);
    }

    /// A value that another field or object has already.
    pub fn duplicate(&mut self, field: &str, value: impl Serialize) {
        self.cause(
            "FieldValueDuplicate",
            field,
            format!("Duplicate value: {}", json(&value)),
        );
    }

    /// A field that must not be set or changed, whatever its value.
    pub fn forbidden(&mut self, field: &str, why: impl Display) {
        self.cause("FieldValueForbidden", field, format!("Forbidden: {why}"));
    }

    /// An error if anything was found, else the warnings.
    pub fn or(self, warnings: Warnings) -> Result<Warnings, Self> {
        if self.causes.is_empty() && self.failure.is_none() {
            return Ok(warnings);
        }
        Err(self)
    }

    fn cause(&mut self, reason: &str, field: &str, message: String) {
        let (reason, field) = (reason.to_owned(), field.to_owned());
        self.causes.push(StatusCause {
            reason,
            message,
            field,
        });
    }

    /// The answer to a request.
    pub(super) fn of<T: Resource<DynamicType = ()>>(
        self,
        review: &AdmissionRequest<T>,
    ) -> AdmissionResponse {
        if let Some(failure) = self.failure {
            return deny(review, 500, "InternalError", failure);
        }
        let lines: Vec<String> = self
            .causes
            .iter()
            .map(|it| format!("{}: {}", it.field, it.message))
            .collect();
        let lines = match &lines[..] {
            [line] => line.clone(),
            lines => format!("[{}]", lines.join(", ")),
        };
        let object = review.object.as_ref().or(review.old_object.as_ref());
        let name = object.map(ResourceExt::name_any).unwrap_or_default();
        let (group, kind) = (T::group(&()).into_owned(), T::kind(&()).into_owned());
        let qualified = if group.is_empty() {
            kind.clone()
        } else {
            format!("{kind}.{group}")
        };
        let message = format!("{qualified} \"{name}\" is invalid: {lines}");
        let mut response = deny(review, 422, "Invalid", message);
        response.result.details = Some(StatusDetails {
            name,
            group,
            kind,
            uid: String::new(),
            causes: self.causes,
            retry_after_seconds: 0,
        });
        response
    }
}

/// What a webhook asks of the cluster may fail, and then it cannot judge: the change is refused, and not for its fields.
impl From<kube::Error> for Rejection {
    fn from(error: kube::Error) -> Self {
        let failure = Some(format!("the webhook cannot judge: {}", brief(&error)));
        Self {
            failure,
            ..Self::default()
        }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
