//! `Website` from v1 to v1alpha1, which is stored, and back.

use opctl_runtime::webhook::{ConversionError, carry};

use crate::api::web::v1::website::Website as Spoke;
use crate::api::web::v1alpha1::website::Website as Hub;

const INDEX: &str = "index.html";

impl TryFrom<Spoke> for Hub {
    type Error = ConversionError;

    fn try_from(mut old: Spoke) -> Result<Self, ConversionError> {
        let index = old.spec.pages.remove(INDEX);
        let mut new: Self = carry(&old)?;
        new.spec.html = index.unwrap_or_default();
        Ok(new)
    }
}

impl TryFrom<Hub> for Spoke {
    type Error = ConversionError;

    fn try_from(old: Hub) -> Result<Self, ConversionError> {
        let mut new: Self = carry(&old)?;
        new.spec.pages.insert(INDEX.to_owned(), old.spec.html);
        Ok(new)
    }
}
