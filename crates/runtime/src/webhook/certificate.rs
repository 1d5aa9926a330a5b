//! Where the certificate of the webhook server comes from, and how the API server comes to trust it.

mod pair;
mod shared;

use std::io;
use std::time::SystemTime;

use axum::http::Uri;
use k8s_openapi::ByteString;

use super::SERVER;
use super::registration::{Local, Undo};
use crate::manager::{Context, Error};
use crate::server::Certificate;
use crate::webhook;
use pair::Pair;
use shared::Shared;

pub enum Source {
    /// From a folder. Who made it, such as cert-manager, makes it known.
    Files(Certificate),
    /// Made here for a Service: one for all replicas, in a Secret.
    Shared(Box<Shared>),
    /// Made here for a URL, where only this process answers.
    Own(Certificate, Local),
}

impl Source {
    /// None where nothing says by which name the API server calls.
    pub async fn open(ctx: &Context) -> Result<Option<Self>, Error> {
        let options = &ctx.options.webhook;
        if !options.enabled {
            return Ok(None);
        }
        if let Some(folder) = options.webhook_cert_dir.clone() {
            return Ok(Some(Self::Files(Certificate::new(Some(folder))?)));
        }
        if let Some(service) = &options.webhook_service {
            let shared = Shared::open(ctx, service).await?;
            return Ok(Some(Self::Shared(shared.into())));
        }
        let Some(url) = options.webhook_url.clone() else {
            return Ok(None);
        };
        let pair = Pair::issue(&names_of_url(&url)?, SystemTime::now())?;
        let certificate = pair.certificate()?;
        let local = Local {
            client: ctx.client.clone(),
            url,
            bundle: ByteString(pair.bundle.into()),
        };
        Ok(Some(Self::Own(certificate, local)))
    }

    pub fn certificate(&self) -> Certificate {
        match self {
            Self::Files(certificate) | Self::Own(certificate, _) => certificate.clone(),
            Self::Shared(shared) => shared.certificate.clone(),
        }
    }

    /// Has the API server call what is served here, and trust it, until shutdown.
    pub async fn keep(self, ctx: &Context) -> Result<(), Error> {
        match self {
            Self::Files(_) => {
                ctx.readiness.reached(SERVER.name);
                ctx.shutdown().await;
                Ok(())
            }
            Self::Shared(mut shared) => tokio::select! {
                () = ctx.shutdown() => Ok(()),
                never = shared.keep() => match never {},
            },
            Self::Own(_, local) => {
                let mut undos = Vec::new();
                let registered = register(&local, &mut undos).await;
                if registered.is_ok() {
                    ctx.readiness.reached(SERVER.name);
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

/// Until one fails: those before it have to be undone nevertheless.
async fn register(local: &Local, undos: &mut Vec<Undo>) -> Result<(), Error> {
    for registration in webhook::registrations() {
        registration.register(local, undos).await?;
    }
    Ok(())
}

fn names_of_url(url: &str) -> Result<Vec<String>, io::Error> {
    let parsed = url.parse().ok();
    let parsed = parsed.filter(|it: &Uri| it.scheme_str() == Some("https"));
    let in_vain = || io::Error::other(format!("`--webhook-url {url}` is no `https://HOST:PORT`"));
    let host = parsed.as_ref().and_then(Uri::host).ok_or_else(in_vain)?;
    // An IPv6 address is in brackets only as part of a URL.
    let host = host.trim_matches(['[', ']']).to_owned();
    Ok(vec![host, "localhost".to_owned()])
}

#[cfg(test)]
mod tests;
