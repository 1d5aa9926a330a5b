//! Turns a [`Plan`] and the files on disk into [`Step`]s.
use super::{Plan, Step};

#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub header: &'static str,
    pub overwrite: Vec<String>,
}

pub fn resolve<E>(
    _plan: &Plan,
    _policy: &Policy,
    _read: impl Fn(&str) -> Result<Option<String>, E>,
) -> Result<Vec<Step>, E> {
    Ok(Vec::new())
}
