// +opctl:conversion:group=cache.example.com,kind=Memcached

use opctl_runtime::webhook::{ConversionError, carry};

use crate::api::Memcached as Hub;
use crate::api::v1::Memcached as Spoke;

impl TryFrom<Spoke> for Hub {
    type Error = ConversionError;

    fn try_from(old: Spoke) -> Result<Self, ConversionError> {
        let mut new: Self = carry(&old)?;
        new.spec.size = old.spec.replicas;
        Ok(new)
    }
}
