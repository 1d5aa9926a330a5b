//! The source of the webhook server's certificate, and its trust by the API server.

mod pair;
mod shared;

use std::io;
use std::time::SystemTime;

use http::Uri;
use k8s_openapi::ByteString;

use super::registration::{Local, Registration, Undo};
use super::{NAME, Webhook};
use crate::Context;
use crate::manager::Error;
use crate::server::Certificate;
use pair::Pair;
use shared::Shared;

pub enum Source {
    /// Files in a folder. Their issuer, such as cert-manager, makes the API server trust them.
    Files(Certificate),
    /// Issued by the operator for a Service: one for all replicas, in a Secret.
    Shared(Box<Shared>),
    /// Issued by the operator for a URL, for this process only.
    Own(Box<Own>),
}

pub struct Own {
    certificate: Certificate,
    local: Local,
    registrations: Vec<Registration>,
}

impl Source {
    /// Selects the source by the arguments; `None` if they do not specify how the API server reaches this process.
    pub async fn open(webhooks: &[Webhook], ctx: &Context) -> Result<Option<Self>, Error> {
        let options = &ctx.options.webhook;
        if !options.enabled {
            return Ok(None);
        }
        if let Some(folder) = options.webhook_cert_dir.clone() {
            return Ok(Some(Self::Files(Certificate::from_folder(folder)?)));
        }
        let registrations = Registration::all(webhooks, ctx.operator.name);
        if let Some(service) = &options.webhook_service {
            let shared = Shared::open(ctx, service, registrations).await?;
            return Ok(Some(Self::Shared(shared.into())));
        }
        let Some(url) = options.webhook_url.clone() else {
            return Ok(None);
        };
        let pair = Pair::issue(ctx.operator.name, &names_of_url(&url)?, SystemTime::now())?;
        let certificate = pair.certificate()?;
        let local = Local {
            client: ctx.client.clone(),
            field_manager: ctx.operator.name,
            url,
            bundle: ByteString(pair.bundle.into()),
            paths: webhooks.iter().map(Webhook::path).collect(),
        };
        Ok(Some(Self::Own(Own { certificate, local, registrations }.into())))
    }

    pub fn certificate(&self) -> Certificate {
        match self {
            Self::Files(certificate) => certificate.clone(),
            Self::Own(own) => own.certificate.clone(),
            Self::Shared(shared) => shared.certificate.clone(),
        }
    }

    /// Registers this process and its certificate with the API server, until shutdown.
    pub async fn keep(self, ctx: &Context) -> Result<(), Error> {
        match self {
            Self::Files(_) => {
                ctx.readiness.reached(NAME);
                ctx.shutdown().await;
                Ok(())
            }
            Self::Shared(mut shared) => tokio::select! {
                () = ctx.shutdown() => Ok(()),
                never = shared.keep() => match never {},
            },
            Self::Own(own) => {
                let mut undos = Vec::new();
                let registered = register(&own.registrations, &own.local, &mut undos).await;
                if registered.is_ok() {
                    ctx.readiness.reached(NAME);
                    ctx.shutdown().await;
                }
                for undo in undos {
                    undo.run().await;
                }
                registered
            }
        }
    }
}

/// Registers until one fails. `undos` then contains those that must be undone.
async fn register(registrations: &[Registration], local: &Local, undos: &mut Vec<Undo>) -> Result<(), Error> {
    for registration in registrations {
        registration.register(local, undos).await?;
    }
    Ok(())
}

fn names_of_url(url: &str) -> Result<Vec<String>, io::Error> {
    let parsed = url.parse().ok();
    let parsed = parsed.filter(|it: &Uri| it.scheme_str() == Some("https"));
    let failure = || io::Error::other(format!("`--webhook-url {url}` is not `https://HOST:PORT`"));
    let host = parsed.as_ref().and_then(Uri::host).ok_or_else(failure)?;
    // An IPv6 address has brackets only within a URL.
    let host = host.trim_matches(['[', ']']).to_owned();
    Ok(vec![host, "localhost".to_owned()])
}

#[cfg(test)]
mod tests;
