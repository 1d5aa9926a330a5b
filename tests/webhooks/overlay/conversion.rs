//! `Backup` from v1alpha1 to v1, which is stored, and back.

use opctl_runtime::webhook::{ConversionError, carry};

use crate::api::cache as api;

impl TryFrom<api::v1alpha1::backup::Backup> for api::v1::backup::Backup {
    type Error = ConversionError;

    fn try_from(old: api::v1alpha1::backup::Backup) -> Result<Self, ConversionError> {
        let mut new: Self = carry(&old)?;
        let timeout = &old.spec.timeout;
        let seconds = timeout.strip_suffix('s').and_then(|it| it.parse().ok());
        let no_time =
            || ConversionError::Refused(format!("spec.timeout: {timeout} is no time in seconds"));
        new.spec.timeout_seconds = seconds.ok_or_else(no_time)?;
        new.spec.copies = old.spec.replicas;
        Ok(new)
    }
}

impl TryFrom<api::v1::backup::Backup> for api::v1alpha1::backup::Backup {
    type Error = ConversionError;

    fn try_from(old: api::v1::backup::Backup) -> Result<Self, ConversionError> {
        let mut new: Self = carry(&old)?;
        new.spec.timeout = format!("{}s", old.spec.timeout_seconds);
        new.spec.replicas = old.spec.copies;
        Ok(new)
    }
}
