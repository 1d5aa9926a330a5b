//! The certificate of a server: from files, which are reloaded, or from memory.

use std::error::Error;
use std::io;
use std::mem::replace;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::{NoServerSessionStorage, ParsedCertificate};
use rustls::{CertificateError, RootCertStore, ServerConfig};
use tracing::{info, warn};

/// Interval of reading the files. Few file watchers notice the symbolic link by which the kubelet replaces a Secret,
/// and the files are small and in memory.
const INTERVAL: Duration = Duration::from_secs(2);

/// The certificate and key of a [`Server`](super::Server). Clones share it: after a replacement, all serve the new one.
#[derive(Clone, Debug)]
pub struct Certificate {
    config: Arc<RwLock<Arc<ServerConfig>>>,
    folder: Option<PathBuf>,
}

impl Certificate {
    /// Loads `tls.crt` and `tls.key` from a folder, such as a mounted Secret. The server reloads them: a replaced pair
    /// is served within seconds.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or the key does not belong to the certificate.
    pub fn from_folder(folder: PathBuf) -> io::Result<Self> {
        let config = read(&folder).and_then(|(chain, key)| parse(&chain, &key));
        let config = config.map_err(|problem| failure_in(&folder, &problem))?;
        Ok(Self { config: Arc::new(RwLock::new(config)), folder: Some(folder) })
    }

    /// Issues a self-signed certificate. Traffic is encrypted, but clients cannot verify the server.
    ///
    /// # Errors
    ///
    /// If no random numbers are available.
    pub fn self_signed() -> io::Result<Self> {
        let issued =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).map_err(|error| failure(error.into()))?;
        let key = issued.signing_key.serialize_pem();
        Self::from_pem(issued.cert.pem().as_bytes(), key.as_bytes())
    }

    /// Parses a certificate, followed by those of its issuers, and its key, all in PEM.
    ///
    /// # Errors
    ///
    /// If the PEM is invalid, or the key does not belong to the certificate.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> io::Result<Self> {
        let config = parse(chain, key).map_err(failure)?;
        Ok(Self { config: Arc::new(RwLock::new(config)), folder: None })
    }

    /// Replaces the pair for connections from now on.
    ///
    /// # Errors
    ///
    /// If the PEM is invalid, or the key does not belong to the certificate. The previous pair stays in use.
    pub fn replace(&self, chain: &[u8], key: &[u8]) -> io::Result<()> {
        self.serve(parse(chain, key).map_err(failure)?);
        Ok(())
    }

    fn serve(&self, config: Arc<ServerConfig>) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
    }

    pub(super) fn config(&self) -> Arc<ServerConfig> {
        let config = self.config.read();
        config.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reloads the files until it is dropped; returns at once if there are none. The previous pair stays in use while
    /// the files are invalid.
    pub(super) async fn follow(self) {
        let Some(folder) = &self.folder else { return };
        let mut served = read(folder).ok();
        let mut failed = None;
        let mut expired = false;
        loop {
            // Logged once, not at each reload.
            let before = replace(&mut expired, served.as_ref().is_some_and(|(chain, _)| is_expired(chain)));
            if expired && !before {
                warn!("the certificate in {} has expired: clients refuse it until it is renewed", folder.display());
            }
            tokio::time::sleep(INTERVAL).await;
            let result = read(folder).and_then(|pair| {
                if served.as_ref() != Some(&pair) {
                    self.serve(parse(&pair.0, &pair.1)?);
                    info!("serving the new certificate in {}", folder.display());
                    served = Some(pair);
                }
                Ok(())
            });
            // Each problem is logged once.
            let problem = result.err().map(|problem| failure_in(folder, &problem).to_string());
            if let Some(problem) = problem.as_ref().filter(|_| failed != problem) {
                warn!("the previous certificate stays in use: {problem}");
            }
            failed = problem;
        }
    }
}

type Problem = Box<dyn Error + Send + Sync>;

fn failure(problem: Problem) -> io::Error {
    io::Error::other(format!("cannot serve HTTPS: {problem}"))
}

fn failure_in(folder: &Path, problem: &Problem) -> io::Error {
    io::Error::other(format!("cannot serve HTTPS with the certificate in {}: {problem}", folder.display()))
}

fn read(folder: &Path) -> Result<(Vec<u8>, Vec<u8>), Problem> {
    let file = |name| std::fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    Ok((file("tls.crt")?, file("tls.key")?))
}

fn parse(chain: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, Problem> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
    let chain = chain.map_err(|error| format!("tls.crt: {error}"))?;
    // After a write to a full disk, for example. The error of rustls would be that the peer sent none.
    if chain.is_empty() {
        return Err("tls.crt: there is no certificate in it".into());
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| format!("tls.key: {error}"))?;
    // An explicit provider does not depend on the rustls features that other crates enable.
    let mut config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // Clients keep their connections open, so sessions would only take memory.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config.into())
}

/// `true` if the first certificate of a chain in PEM has expired.
fn is_expired(chain: &[u8]) -> bool {
    let Ok(leaf) = CertificateDer::from_pem_slice(chain) else { return false };
    let Ok(leaf) = ParsedCertificate::try_from(&leaf) else { return false };
    let (nobody, algorithms) = (RootCertStore::empty(), ring::default_provider().signature_verification_algorithms);
    // webpki checks the validity period before the issuer, which is unknown here.
    let verified = verify_server_cert_signed_by_trust_anchor(&leaf, &nobody, &[], UnixTime::now(), algorithms.all);
    let Err(rustls::Error::InvalidCertificate(why)) = verified else { return false };
    matches!(why, CertificateError::Expired | CertificateError::ExpiredContext { .. })
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn a_certificate_whose_time_is_over_is_noticed() {
        let until = |year| {
            let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_after = date_time_ymd(year, 1, 1);
            let issued = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
            issued.pem().into_bytes()
        };
        assert!(is_expired(&until(2020)));
        assert!(!is_expired(&until(4000)) && !is_expired(b""));
    }
}
