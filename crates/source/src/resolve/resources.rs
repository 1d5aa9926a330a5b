//! Resources of requests for the objects of a type, as in URLs and roles.

use super::names::Target;
use crate::known::kubernetes;
use opctl_model::Scope as Reach;

/// The resource of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// `""` is the core group.
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    /// `None` if only the API server knows.
    pub scope: Option<Reach>,
}

impl Resource {
    /// A resource of which only the path is known.
    pub fn of_plural(group: &str, plural: &str) -> Self {
        let known = kubernetes::kinds().find(|known| known.group == group && known.plural == plural);
        known.map(Self::from).unwrap_or_else(|| {
            let [group, plural] = [group, plural].map(String::from);
            Self { group, version: String::new(), kind: String::new(), plural, scope: None }
        })
    }
}

impl From<kubernetes::Kind> for Resource {
    fn from(kind: kubernetes::Kind) -> Self {
        Self {
            group: kind.group.into(),
            version: kind.version.into(),
            kind: kind.name.into(),
            plural: kind.plural.into(),
            scope: Some(if kind.namespaced { Reach::Namespaced } else { Reach::Cluster }),
        }
    }
}

/// The kinds of the project and of the crates that it uses. Their names may be constants, which need an evaluator.
pub trait Resources {
    /// The resource of a type; `None` if it is not a kind, or its names cannot be evaluated.
    fn resource_of(&mut self, target: &Target) -> Option<Resource>;

    /// The resource with these names. The plural comes from the API server at run time, as with
    /// `discovery::pinned_kind`.
    fn resource_named(&mut self, group: &str, version: &str, kind: &str) -> Resource;
}
