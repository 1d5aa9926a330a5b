// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! The certificate of a server: from files, read again when they change, or made at the start.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum_server::tls_rustls::RustlsConfig;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tracing::warn;

use super::Error;

/// How often the files are read, which are small and in memory.
const LOOK: Duration = Duration::from_secs(1);

pub struct Certificate {
    /// For as many servers as there are.
    pub config: RustlsConfig,
    folder: Option<PathBuf>,
    last: Result<Pair, String>,
}

/// A chain and its key, as PEM.
type Pair = (Vec<u8>, Vec<u8>);

impl Certificate {
    /// What `tls.crt` and `tls.key` of a folder hold, such as a Secret that is mounted there. Without a folder, it is signed by
    /// itself: nobody on the way can read along, but a client cannot tell who answers.
    pub fn new(folder: Option<PathBuf>) -> Result<Self, Error> {
        let last = read(folder.as_deref());
        let config = config(&last).map_err(Error::Certificate)?;
        Ok(Self {
            config: RustlsConfig::from_config(config),
            folder,
            last,
        })
    }

    /// Follows the files. With files that do not fit together, the server goes on as before.
    ///
    /// Their contents are compared: the kubelet replaces a Secret by moving a symbolic link, of which few watchers tell.
    pub async fn follow(mut self) {
        while self.folder.is_some() {
            tokio::time::sleep(LOOK).await;
            let now = read(self.folder.as_deref());
            if now == self.last {
                continue;
            }
            match config(&now) {
                Ok(config) => self.config.reload_from_config(config),
                Err(error) => warn!("the certificate stays as it was: {error}"),
            }
            self.last = now;
        }
    }
}

fn read(folder: Option<&Path>) -> Result<Pair, String> {
    let Some(folder) = folder else {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let made = made.map_err(|error| error.to_string())?;
        let key = made.signing_key.serialize_pem();
        return Ok((made.cert.pem().into(), key.into()));
    };
    let file = |name| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    Ok((file("tls.crt")?, file("tls.key")?))
}

fn config(pair: &Result<Pair, String>) -> Result<Arc<ServerConfig>, String> {
    let (chain, key) = pair.as_ref().map_err(String::clone)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
    let chain = chain.map_err(|error| format!("tls.crt: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| format!("tls.key: {error}"))?;
    // Named, so that it does not depend on what other crates enable of rustls.
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has what TLS 1.2 and 1.3 need")
        .with_no_client_auth()
        .with_single_cert(chain, key);
    config.map(Arc::new).map_err(|error| error.to_string())
}
