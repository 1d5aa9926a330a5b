//! Every way in which an operator makes requests through `opctl-runtime`. What opctl reads in it stands in `../requests.txt`.

mod api;
mod cases;

use std::process::ExitCode;

use opctl_runtime::{Manager, operator};

#[tokio::main]
async fn main() -> ExitCode {
    Manager::new(operator!()).run(cases::all()).await
}
