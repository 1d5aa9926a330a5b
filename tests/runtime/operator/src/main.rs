//! Every way in which an operator makes requests through `opctl-runtime`. The requests that opctl finds in it are in `../requests.txt`.

mod api;
mod cases;

use std::process::ExitCode;

use opctl_runtime::{Manager, operator};

#[tokio::main]
async fn main() -> ExitCode {
    Manager::new(operator!()).run(cases::all()).await
}
