//! A certificate for a Service: shared by all replicas in a Secret, and rotated without a failing request.
//!
//! First, the Secret gets the new pair with both CAs. Then the API server is made to trust both, and then each replica
//! serves the new pair.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, PostParams};
use tokio::time::sleep;
use tracing::{info, warn};

use super::pair::{Pair, Verdict};
use crate::controller::jittered;
use crate::manager::Error;
use crate::server::Certificate;
use crate::webhook::NAME;
use crate::webhook::registration::Registration;
use crate::{Context, brief, with_causes};

/// Interval in which a replica reads the Secret and the objects that contain its CA.
const LOOK: Duration = Duration::from_secs(10);
/// Time until every API server trusts a CA that was written to one of them: the others get it by a watch.
const SPREAD: Duration = Duration::from_secs(5);

/// One replica's view of the Secret.
pub struct Shared {
    ctx: Context,
    issuer: Issuer,
    served: Pair,
    pub certificate: Certificate,
    registrations: Vec<Registration>,
}

/// The Secret with the pair, and the names that the certificate is for.
struct Issuer {
    api: Api<Secret>,
    operator: &'static str,
    secret: String,
    names: Vec<String>,
}

impl Shared {
    pub async fn open(ctx: &Context, service: &str, registrations: Vec<Registration>) -> Result<Self, Error> {
        let namespace = ctx.client.default_namespace();
        let operator = ctx.operator.name;
        let issuer = Issuer {
            api: Api::namespaced(ctx.client.clone(), namespace),
            operator,
            secret: format!("{operator}-webhook-certificate"),
            names: names_of_service(service, namespace),
        };
        let served = issuer.current(None, SystemTime::now()).await?;
        let certificate = served.certificate()?;
        Ok(Self { ctx: ctx.clone(), issuer, served, certificate, registrations })
    }

    /// Keeps the certificate up to date. Never returns: failed requests are retried.
    pub async fn keep(&mut self) -> Infallible {
        loop {
            match self.look(SystemTime::now()).await {
                Ok(true) => self.ctx.readiness.reached(NAME),
                Ok(false) => {}
                Err(error) => warn!("cannot check the certificate of webhooks: {}", with_causes(&error)),
            }
            sleep(jittered(LOOK)).await;
        }
    }

    /// Serves the pair of the Secret once the API server trusts it. Returns `true` if it does.
    async fn look(&mut self, now: SystemTime) -> Result<bool, Error> {
        let pair = self.issuer.current(Some(&self.served), now).await?;
        // The served pair stays trusted, even if another replica issued the new one without knowing of it.
        let pair = pair.with(&self.served);
        let bundle = ByteString(pair.bundle.clone().into());
        let trusted = self.trust(&bundle).await;
        if trusted && pair.leaf != self.served.leaf {
            sleep(SPREAD).await;
            let (leaf, key) = (pair.leaf.as_bytes(), pair.key.as_bytes());
            self.certificate.replace(leaf, key)?;
            self.served = pair;
            info!("serving another certificate for webhooks");
        }
        Ok(trusted)
    }

    /// Makes the API server trust the CAs wherever it calls this operator. Returns `true` on success.
    async fn trust(&self, bundle: &ByteString) -> bool {
        let mut trusted = true;
        for registration in &self.registrations {
            let Err(error) = registration.trust(&self.ctx.client, self.ctx.operator.name, bundle).await else {
                continue;
            };
            let hint = match &error {
                kube::Error::Api(absent) if absent.is_not_found() => "; `make deploy` installs it",
                _ => "",
            };
            let why = brief(&error);
            warn!("cannot register the CA of webhooks in `{}`: {why}{hint}", registration.name());
            trusted = false;
        }
        trusted
    }
}

impl Issuer {
    /// The pair of the Secret, or a new one if that expires soon. One replica writes it, the others read it.
    async fn current(&self, served: Option<&Pair>, now: SystemTime) -> Result<Pair, Error> {
        let Self { api, operator, secret: name, names } = self;
        loop {
            let secret = api.get_opt(name).await?;
            let found = secret.as_ref().map(read);
            let verdict = found.as_ref().map(|pair| pair.verify(names, now));
            let (why, before) = match (found, verdict) {
                (Some(pair), Some(Verdict::Good)) => return Ok(pair),
                (Some(pair), Some(Verdict::Ending)) => ("the old one expires soon".to_owned(), Some(pair)),
                (_, Some(Verdict::Bad(problem))) => (format!("the old one is invalid: {problem}"), None),
                _ => ("there was none".to_owned(), None),
            };
            let mut pair = Pair::issue(operator, names, now)?;
            for before in before.iter().chain(served) {
                pair = pair.with(before);
            }
            let exists = secret.is_some();
            let secret = write(name, secret.unwrap_or_default(), &pair);
            let params = PostParams::default();
            let written = match exists {
                true => api.replace(name, &params, &secret).await,
                false => api.create(&params, &secret).await,
            };
            match written {
                Ok(_) => {
                    info!("issued a certificate for webhooks in Secret `{name}`: {why}");
                    return Ok(pair);
                }
                // The Secret was written or deleted since it was read.
                Err(kube::Error::Api(status)) if status.code == 409 || status.code == 404 && exists => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn read(secret: &Secret) -> Pair {
    let text = |key: &str| {
        let bytes = secret.data.as_ref().and_then(|data| data.get(key));
        bytes.map(|it| String::from_utf8_lossy(&it.0).into_owned()).unwrap_or_default()
    };
    Pair { leaf: text("tls.crt"), key: text("tls.key"), bundle: text("ca.crt") }
}

/// Sets the pair of a Secret. Other fields are kept, such as the version that this replaces.
fn write(name: &str, mut secret: Secret, pair: &Pair) -> Secret {
    secret.metadata.name = Some(name.to_owned());
    secret.type_.get_or_insert_with(|| "kubernetes.io/tls".to_owned());
    let data = [("tls.crt", &pair.leaf), ("tls.key", &pair.key), ("ca.crt", &pair.bundle)];
    let data = data.map(|(key, text)| (key.to_owned(), ByteString(text.clone().into())));
    secret.data = Some(data.into());
    secret
}

/// The names by which API servers call a Service, and local ones for manual tests.
fn names_of_service(service: &str, namespace: &str) -> Vec<String> {
    let name = format!("{service}.{namespace}.svc");
    let long = format!("{name}.cluster.local");
    [&name, &long, "localhost", "127.0.0.1"].map(str::to_owned).into()
}

#[cfg(test)]
mod tests;
