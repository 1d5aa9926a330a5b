//! Errors of reconciles, and their text in logs and conditions.

use std::fmt;

use crate::client;

/// The error of a reconcile: any error, with a reason for programs.
///
/// `?` converts every error. The reason is `RequestFailed` for an error of [`kube`] and `ReconcileFailed` for others;
/// [`ResultExt::reason`] sets another one.
///
/// ```
/// use opctl_runtime::{Error, Result, ResultExt};
///
/// fn port(text: &str) -> Result<u16> {
///     let port = text.parse().reason("InvalidPort")?;
///     if port == 0 {
///         return Err(Error::new("InvalidPort", "port 0 cannot be used").permanent());
///     }
///     Ok(port)
/// }
/// assert_eq!(port("x").unwrap_err().reason(), "InvalidPort");
/// ```
#[derive(Debug)]
pub struct Error {
    reason: &'static str,
    permanent: bool,
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// The result of a reconcile, or of a step of it.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Creates an error with a `reason`, one CamelCase word of a small set, and a message for people.
    pub fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self { reason, permanent: false, source: message.into().into() }
    }

    /// Marks the error as permanent, such as for an invalid spec: there is no early retry until the object changes.
    #[must_use]
    pub fn permanent(mut self) -> Self {
        self.permanent = true;
        self
    }

    /// The reason of the condition, which is also a label of the metrics.
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// `true` if a retry cannot succeed until the object changes.
    pub fn is_permanent(&self) -> bool {
        self.permanent
    }

    /// The underlying error of kube, if a request to the API server failed.
    pub fn request(&self) -> Option<&kube::Error> {
        self.source.downcast_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.request() {
            Some(error) => write!(f, "a request to the API server failed: {}", brief(error)),
            None => f.write_str(&with_causes(&*self.source)),
        }
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let source: Box<dyn std::error::Error + Send + Sync> = error.into();
        let reason = if source.is::<kube::Error>() { "RequestFailed" } else { "ReconcileFailed" };
        Self { reason, permanent: false, source }
    }
}

/// Sets the reason of the error of a result.
pub trait ResultExt<T> {
    /// Sets the `reason` of an error: one CamelCase word of a small set.
    ///
    /// # Errors
    ///
    /// If `self` is an error.
    fn reason(self, reason: &'static str) -> Result<T>;
}

impl<T, E: Into<Error>> ResultExt<T> for std::result::Result<T, E> {
    fn reason(self, reason: &'static str) -> Result<T> {
        self.map_err(|error| Error { reason, ..error.into() })
    }
}

/// Truncates a text to `longest` bytes, at the boundary of a character.
pub(crate) fn shortened(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// Describes a failed request in one sentence that names the server; the `Display` of kube repeats the whole response.
pub fn brief(error: &kube::Error) -> String {
    client::describe(error)
}

/// The error and its causes in one line. A cause that the text already contains is not repeated.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // The `Display` of kube adds a prefix, so the check below would not find its text.
        let message = error.downcast_ref().map_or_else(|| error.to_string(), brief);
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}
