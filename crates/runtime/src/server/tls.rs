//! The certificate of a server: from files, which are followed, or made at the start.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum_server::tls_rustls::RustlsConfig;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tracing::warn;

/// How often the files are read, which are small and in memory: few watchers tell of the symbolic link by which the kubelet
/// replaces a Secret.
const LOOK: Duration = Duration::from_secs(2);

/// Clones are one: what replaces it is served by all.
#[derive(Clone)]
pub struct Certificate {
    pub config: RustlsConfig,
    folder: Option<PathBuf>,
}

impl Certificate {
    /// What `tls.crt` and `tls.key` of a folder hold, such as a Secret that is mounted there. Without a folder, it is signed by
    /// itself: nobody on the way can read along, but a client cannot tell who answers.
    pub fn new(folder: Option<PathBuf>) -> io::Result<Self> {
        let config = RustlsConfig::from_config(load(folder.as_deref()).map_err(in_vain)?);
        Ok(Self { config, folder })
    }

    /// A chain and its key, in PEM.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> io::Result<Self> {
        let config = RustlsConfig::from_config(parse(chain, key).map_err(in_vain)?);
        Ok(Self { config, folder: None })
    }

    /// Serves another pair to those who connect from now on.
    pub fn replace(&self, chain: &[u8], key: &[u8]) -> io::Result<()> {
        let config = parse(chain, key).map_err(in_vain)?;
        self.config.reload_from_config(config);
        Ok(())
    }

    /// Follows the files. With files that do not fit together, the server goes on as before.
    pub async fn follow(self) {
        while self.folder.is_some() {
            tokio::time::sleep(LOOK).await;
            match load(self.folder.as_deref()) {
                Ok(config) => self.config.reload_from_config(config),
                Err(error) => warn!("the certificate stays as it was: {error}"),
            }
        }
    }
}

type Problem = Box<dyn Error + Send + Sync>;

fn in_vain(error: Problem) -> io::Error {
    io::Error::other(format!("cannot serve by HTTPS: {error}"))
}

fn load(folder: Option<&Path>) -> Result<Arc<ServerConfig>, Problem> {
    let (chain, key) = match folder {
        Some(folder) => {
            let file = |name| {
                let path = folder.join(name);
                std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
            };
            (file("tls.crt")?, file("tls.key")?)
        }
        None => {
            let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
            let key = made.signing_key.serialize_pem();
            (made.cert.pem().into(), key.into())
        }
    };
    parse(&chain, &key)
}

fn parse(chain: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, Problem> {
    let chain = CertificateDer::pem_slice_iter(chain).collect::<Result<_, _>>();
    let chain = chain.map_err(|error| format!("tls.crt: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| format!("tls.key: {error}"))?;
    // Named, so that it does not depend on what other crates enable of rustls.
    let config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    Ok(config.into())
}
