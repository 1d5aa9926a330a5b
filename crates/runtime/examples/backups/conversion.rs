//! Converts a `Backup` between v1alpha1 and v1, the stored version.
//!
//! `carry` copies the fields that both versions have. Fields that the other version lacks are preserved in an
//! annotation.

use opctl_runtime::webhook::{ConversionError, carry};

use super::{v1, v1alpha1};

impl TryFrom<v1alpha1::Backup> for v1::Backup {
    type Error = ConversionError;

    fn try_from(old: v1alpha1::Backup) -> Result<Self, ConversionError> {
        let mut new: Self = carry(&old)?;
        let timeout = &old.spec.timeout;
        let seconds = timeout.strip_suffix('s').and_then(|it| it.parse().ok());
        let no_time = || ConversionError::Refused(format!("spec.timeout: {timeout} is no time in seconds"));
        new.spec.timeout_seconds = seconds.ok_or_else(no_time)?;
        new.spec.copies = old.spec.replicas;
        Ok(new)
    }
}

impl TryFrom<v1::Backup> for v1alpha1::Backup {
    type Error = ConversionError;

    fn try_from(old: v1::Backup) -> Result<Self, ConversionError> {
        let mut new: Self = carry(&old)?;
        new.spec.timeout = format!("{}s", old.spec.timeout_seconds);
        new.spec.replicas = old.spec.copies;
        Ok(new)
    }
}
