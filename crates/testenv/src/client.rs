//! Requests to the API server of a test environment, as its administrator.

use std::time::Duration;

use serde_json::Value;
use ureq::http::StatusCode;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use super::pki::Pair;

/// The timeout of a request. Only a watch takes longer.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Client {
    agent: ureq::Agent,
    url: String,
}

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// Contains the message of the API server.
    #[error("{1}")]
    Refused(StatusCode, String),
    #[error(transparent)]
    Transport(#[from] ureq::Error),
}

impl Client {
    pub fn new(url: &str, authority: &str, admin: &Pair) -> Result<Self, RequestError> {
        let authority = Certificate::from_pem(authority.as_bytes())?;
        let certificate = Certificate::from_pem(admin.public.as_bytes())?;
        let key = PrivateKey::from_pem(admin.key.as_bytes())?;
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::new_with_certs(&[authority]))
            .client_cert(Some(ClientCert::new_with_certs(&[certificate], key)))
            .build();
        // The API server is on this machine, so no proxy is needed.
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .proxy(None)
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build();
        Ok(Self { agent: config.into(), url: url.to_owned() })
    }

    /// Returns the body, JSON or plain text.
    pub fn get(&self, path: &str) -> Result<String, RequestError> {
        read(self.agent.get(format!("{}{path}", self.url)).call()?)
    }

    /// Server-side apply.
    pub fn apply(&self, path: &str, object: &Value) -> Result<(), RequestError> {
        let url = format!("{}{path}?fieldManager=opctl&force=true", self.url);
        let request = self.agent.patch(url).content_type("application/apply-patch+yaml");
        read(request.send(object.to_string())?).map(drop)
    }
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> Result<String, RequestError> {
    let status = response.status();
    let body = response.body_mut().with_config().limit(u64::MAX).read_to_string()?;
    if status.is_success() {
        return Ok(body);
    }
    let answer = serde_json::from_str::<Value>(&body).ok();
    let message = answer.as_ref().and_then(|answer| answer["message"].as_str()).unwrap_or(&body);
    Err(RequestError::Refused(status, message.to_owned()))
}
