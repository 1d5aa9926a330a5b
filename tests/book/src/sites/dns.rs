use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A client of a DNS that has an API of its own. This one keeps the records in memory.
#[derive(Clone, Debug, Default)]
pub struct Dns(Arc<Mutex<BTreeMap<String, String>>>);

/// The DNS answered with an error.
#[derive(Debug)]
pub struct DnsError(&'static str);

impl fmt::Display for DnsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for DnsError {}

impl Dns {
    /// Makes `host` lead to `address`. Returns whether that is a change.
    pub async fn set(&self, host: &str, address: &str) -> Result<bool, DnsError> {
        if !host.contains('.') {
            return Err(DnsError("a host has a domain"));
        }
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = records.insert(host.to_owned(), address.to_owned());
        Ok(last.as_deref() != Some(address))
    }

    /// Removes the record of `host`, if there is one.
    pub async fn remove(&self, host: &str) -> Result<(), DnsError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(host);
        Ok(())
    }

    /// The address that `host` leads to.
    pub fn address(&self, host: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
    }
}
