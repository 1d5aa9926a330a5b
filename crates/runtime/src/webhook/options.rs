//! The arguments of the webhook server; each can be an environment variable too.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ArgAction;

use crate::manager::address;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Webhooks")]
pub struct WebhookOptions {
    /// Serve no webhooks
    #[arg(long = "no-webhooks", env = "ENABLE_WEBHOOKS", action = ArgAction::SetFalse)]
    pub enabled: bool,
    /// Where webhooks are served, by HTTPS
    #[arg(long, env, value_name = "ADDRESS", value_parser = address, default_value = ":9443")]
    pub webhook_bind_address: SocketAddr,
    /// The folder with their certificate, `tls.crt` and `tls.key`, that somebody else made and the API server trusts
    #[arg(long, env, value_name = "FOLDER")]
    pub webhook_cert_dir: Option<PathBuf>,
    /// The Service by which the API server calls them: a certificate for it is made, kept in a Secret and made known
    #[arg(long, env, value_name = "NAME")]
    pub webhook_service: Option<String>,
    /// Where the API server finds this process, e.g. https://127.0.0.1:9443: they are registered while it runs
    #[arg(long, env, value_name = "URL")]
    pub webhook_url: Option<String>,
}
