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

//! Logs: what `RUST_LOG` asks for, as text for people or as JSON for machines, on stderr.

use std::io::IsTerminal;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::FromEnvError;

#[derive(Clone, Debug, clap::Args)]
pub struct LogOptions {
    /// How logs are written; `RUST_LOG` says which, e.g. `info,kube=debug`
    #[arg(long, env = "LOG_FORMAT", value_enum, default_value_t = Format::Text)]
    pub log_format: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// Starts logging; an error is a mistake in `RUST_LOG`.
pub fn init(options: &LogOptions) -> Result<(), FromEnvError> {
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .from_env()?;
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match options.log_format {
        Format::Text => logs.with_ansi(std::io::stderr().is_terminal()).init(),
        Format::Json => logs.json().init(),
    }
    Ok(())
}
