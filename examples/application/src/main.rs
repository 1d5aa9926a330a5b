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

//! The process: arguments, logs, a client, then the controllers until it is told to stop.

use std::process::ExitCode;

use clap::Parser;
use kube::Client;

use application::manager::Options;
use application::telemetry::{self, LogOptions};
use application::{controller, manager};

/// Runs the controllers of application.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    manager: Options,
    #[command(flatten)]
    logs: LogOptions,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    // Dropped at the very end.
    let _telemetry = match telemetry::init(&args.logs) {
        Ok(telemetry) => telemetry,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    match run(args.manager).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{}", manager::with_causes(&error));
            // Without waiting for tasks that do not yield: another replica may lead soon.
            std::process::exit(1)
        }
    }
}

async fn run(options: Options) -> Result<(), manager::Error> {
    let client = Client::try_default()
        .await
        .map_err(manager::Error::NoCluster)?;
    manager::run(client, options, controller::all()).await
}
