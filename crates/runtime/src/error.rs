//! Errors of reconciles, and how errors are written into logs and conditions.

use std::fmt;

use crate::client;

/// Why a reconcile failed: any error, with a reason for programs.
///
/// `?` makes one of every error. Its reason is `RequestFailed` for an error of [`kube`] and `ReconcileFailed` for others;
/// [`ResultExt::reason`] names another one.
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

/// The result of a reconcile, or of a part of it.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with a `reason`, one CamelCase word of a small set, and a message for people.
    pub fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self { reason, permanent: false, source: message.into().into() }
    }

    /// Do not retry until the object changes: its spec cannot be fulfilled, however often it is tried.
    #[must_use]
    pub fn permanent(mut self) -> Self {
        self.permanent = true;
        self
    }

    /// The reason in the condition, and the label of the metric.
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// Whether a retry is pointless until the object changes.
    pub fn is_permanent(&self) -> bool {
        self.permanent
    }

    /// The error of a request to the API server, if this is one.
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

/// Gives the error of a result a reason.
pub trait ResultExt<T> {
    /// The same result, whose error has this `reason`: one CamelCase word of a small set.
    ///
    /// # Errors
    ///
    /// If the result is one.
    fn reason(self, reason: &'static str) -> Result<T>;
}

impl<T, E: Into<Error>> ResultExt<T> for std::result::Result<T, E> {
    fn reason(self, reason: &'static str) -> Result<T> {
        self.map_err(|error| Error { reason, ..error.into() })
    }
}

/// The text, cut off at this number of bytes at most.
pub(crate) fn shortened(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// What went wrong with a request, in one sentence that names the server: kube's own text repeats the whole answer.
pub fn brief(error: &kube::Error) -> String {
    client::describe(error)
}

/// The error and its causes in one line. A cause that a message already names is not repeated.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // kube's own text has a prefix, with which it would be repeated.
        let message = error.downcast_ref().map_or_else(|| error.to_string(), brief);
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}
