//! An operator for the tests of leader election: its leader writes several times a second, on a single thread, which a
//! ConfigMap can block.
//!
//! `default/beats` contains the process that wrote last, and the number of its write; the process logs each write in
//! advance. A ConfigMap with the label `blocks=true` blocks the thread for its `seconds`.

use std::process::{self, ExitCode};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Api;
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use opctl_runtime::{Context, Controller, Manager, Operator, Result, ResultExt, Runnable, Runs, apply, brief, manager};
use tokio::time::sleep;

const OPERATOR: Operator = Operator { name: "beats", version: "1.0.0" };

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let blocking = Controller::<ConfigMap>::new(block).config(watcher::Config::default().labels("blocks=true"));
    Manager::new(OPERATOR).run(vec![blocking.into(), Runnable::new("beats", Runs::Once, beat)]).await
}

async fn block(object: Arc<ConfigMap>, _: Arc<Context>) -> Result<Action> {
    let seconds = object.data.iter().flatten().find(|(key, _)| *key == "seconds");
    let seconds = seconds.map_or("0", |(_, seconds)| seconds).parse().reason("InvalidSeconds")?;
    println!("blocked");
    thread::sleep(Duration::from_secs(seconds));
    println!("unblocked");
    Ok(Action::await_change())
}

async fn beat(ctx: Context) -> Result<(), manager::Error> {
    ctx.readiness.reached("beats");
    println!("writer {}", process::id());
    let api = Api::<ConfigMap>::namespaced(ctx.client.clone(), "default");
    let write = async {
        for count in 0_u64.. {
            let mut beats = ConfigMap::default();
            beats.metadata.name = Some("beats".to_owned());
            let data = [("writer", process::id().to_string()), ("count", count.to_string())];
            beats.data = Some(data.map(|(key, value)| (key.to_owned(), value)).into());
            println!("sends {count}");
            if let Err(error) = apply(OPERATOR.name, &api, "beats", &beats).await {
                println!("not written: {}", brief(&error));
            }
            sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::select! {
        () = write => unreachable!("it counts forever"),
        () = ctx.shutdown() => Ok(()),
    }
}
