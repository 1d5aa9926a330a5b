//! A certificate for a Service: the same for all replicas, in a Secret, and replaced so that no request fails.
//!
//! First the Secret has the new one, with both CAs; then the API server is told to trust both; then each replica serves it.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, PostParams};
use tokio::time::sleep;
use tracing::{info, warn};

use super::SERVER;
use super::pair::{Pair, Verdict};
use crate::manager::{Context, Error, brief, jittered, with_causes};
use crate::server::Certificate;
use crate::webhook;
use crate::webhook::Registration;

const SECRET: &str = concat!(env!("CARGO_PKG_NAME"), "-webhook-certificate");
/// How often a replica looks what others did to the Secret and to the objects that name its CA.
const LOOK: Duration = Duration::from_secs(10);
/// Until every API server trusts what one of them was told: the others learn of it by a watch.
const SPREAD: Duration = Duration::from_secs(5);

/// What one replica knows of the Secret.
pub struct Shared {
    ctx: Context,
    api: Api<Secret>,
    names: Vec<String>,
    served: Pair,
    pub certificate: Certificate,
    registrations: Vec<&'static dyn Registration>,
}

impl Shared {
    pub async fn open(ctx: &Context, service: &str) -> Result<Self, Error> {
        let namespace = ctx.client.default_namespace();
        let api = Api::namespaced(ctx.client.clone(), namespace);
        let names = names_of_service(service, namespace);
        let served = current(&api, &names, None, SystemTime::now()).await?;
        let certificate = served.certificate()?;
        Ok(Self {
            ctx: ctx.clone(),
            api,
            names,
            served,
            certificate,
            registrations: webhook::registrations(),
        })
    }

    /// Never ends: a request that fails is made again.
    pub async fn keep(&mut self) -> Infallible {
        loop {
            match self.look(SystemTime::now()).await {
                Ok(true) => self.ctx.readiness.reached(SERVER.name),
                Ok(false) => {}
                Err(error) => warn!("the certificate was not looked at: {}", with_causes(&error)),
            }
            sleep(jittered(LOOK)).await;
        }
    }

    /// Follows the Secret, as soon as the API server trusts what is there; whether it does.
    async fn look(&mut self, now: SystemTime) -> Result<bool, Error> {
        let pair = current(&self.api, &self.names, Some(&self.served), now).await?;
        // Trusted until the end, even if another replica made the new one without knowing of it.
        let pair = pair.with(&self.served);
        let bundle = ByteString(pair.bundle.clone().into());
        let trusted = self.tell(&bundle).await;
        if trusted && pair.leaf != self.served.leaf {
            sleep(SPREAD).await;
            let (leaf, key) = (pair.leaf.as_bytes(), pair.key.as_bytes());
            self.certificate.replace(leaf, key)?;
            self.served = pair;
            info!("serving another certificate");
        }
        Ok(trusted)
    }

    /// Makes the CAs known wherever the API server is sent here; whether that is all done.
    async fn tell(&self, bundle: &ByteString) -> bool {
        let mut trusted = true;
        for registration in &self.registrations {
            let Err(error) = registration.trust(&self.ctx.client, bundle).await else {
                continue;
            };
            let hint = match &error {
                kube::Error::Api(absent) if absent.is_not_found() => "; `make deploy` installs it",
                _ => "",
            };
            let why = brief(&error);
            warn!("the API server is not told whom to trust: {why}{hint}");
            trusted = false;
        }
        trusted
    }
}

/// The pair in the Secret, or a new one if that is not good for long. Of several replicas one writes it, the others read.
// +kubebuilder:rbac:groups=core,resources=secrets,resourceNames=[= name =]-webhook-certificate,verbs=get;update,namespace=system
// No name limits who may create: the request for it has none.
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=create,namespace=system
async fn current(
    api: &Api<Secret>,
    names: &[String],
    served: Option<&Pair>,
    now: SystemTime,
) -> Result<Pair, Error> {
    loop {
        let secret = api.get_opt(SECRET).await?;
        let found = secret.as_ref().map(read);
        let verdict = found.as_ref().map(|pair| pair.judge(names, now));
        let (why, before) = match (found, verdict) {
            (Some(pair), Some(Verdict::Good)) => return Ok(pair),
            (Some(pair), Some(Verdict::Ending)) => ("that ends soon".to_owned(), Some(pair)),
            (_, Some(Verdict::Bad(problem))) => (problem.to_string(), None),
            _ => ("there is none".to_owned(), None),
        };
        let mut pair = Pair::issue(names, now)?;
        for before in before.iter().chain(served) {
            pair = pair.with(before);
        }
        let exists = secret.is_some();
        let secret = write(secret.unwrap_or_default(), &pair);
        let params = PostParams::default();
        let written = match exists {
            true => api.replace(SECRET, &params, &secret).await,
            false => api.create(&params, &secret).await,
        };
        match written {
            Ok(_) => {
                info!("a new certificate for the webhooks is in Secret `{SECRET}`: {why}");
                return Ok(pair);
            }
            // Written or deleted since it was read.
            Err(kube::Error::Api(status)) if status.code == 409 || status.code == 404 && exists => {
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn read(secret: &Secret) -> Pair {
    let text = |key: &str| {
        let bytes = secret.data.as_ref().and_then(|data| data.get(key));
        bytes
            .map(|it| String::from_utf8_lossy(&it.0).into_owned())
            .unwrap_or_default()
    };
    Pair {
        leaf: text("tls.crt"),
        key: text("tls.key"),
        bundle: text("ca.crt"),
    }
}

/// Whatever else the Secret says stays, as does the version that this replaces.
fn write(mut secret: Secret, pair: &Pair) -> Secret {
    secret.metadata.name = Some(SECRET.to_owned());
    secret
        .type_
        .get_or_insert_with(|| "kubernetes.io/tls".to_owned());
    let data = [
        ("tls.crt", &pair.leaf),
        ("tls.key", &pair.key),
        ("ca.crt", &pair.bundle),
    ];
    let data = data.map(|(key, text)| (key.to_owned(), ByteString(text.clone().into())));
    secret.data = Some(data.into());
    secret
}

/// What API servers call a Service, and people who try it.
fn names_of_service(service: &str, namespace: &str) -> Vec<String> {
    let name = format!("{service}.{namespace}.svc");
    let long = format!("{name}.cluster.local");
    [&name, &long, "localhost", "127.0.0.1"]
        .map(str::to_owned)
        .into()
}

#[cfg(test)]
mod tests;
