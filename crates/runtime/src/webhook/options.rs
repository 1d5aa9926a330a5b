//! The arguments of the webhook server; each can be an environment variable too.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ArgAction;

use crate::manager::address;

/// The arguments of the webhook server; each can be an environment variable too.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Webhooks")]
pub struct WebhookOptions {
    /// Serve no webhooks
    #[arg(long = "no-webhooks", env = "ENABLE_WEBHOOKS", action = ArgAction::SetFalse)]
    pub enabled: bool,
    /// The address of the webhook server, which speaks HTTPS
    #[arg(long, env, value_name = "ADDRESS", value_parser = address, default_value = ":9443")]
    pub webhook_bind_address: SocketAddr,
    /// The folder with `tls.crt` and `tls.key` for webhooks, issued by a CA that the API server trusts
    #[arg(long, env, value_name = "FOLDER")]
    pub webhook_cert_dir: Option<PathBuf>,
    /// The Service of the webhook server: its certificate is issued, kept in a Secret, and registered with the API server
    #[arg(long, env, value_name = "NAME")]
    pub webhook_service: Option<String>,
    /// URL at which the API server reaches this process, e.g. https://127.0.0.1:9443; its webhooks are registered while it runs
    #[arg(long, env, value_name = "URL")]
    pub webhook_url: Option<String>,
}
