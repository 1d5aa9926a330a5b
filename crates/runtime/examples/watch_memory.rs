//! Compares the memory that a controller of kube and one of this crate take for many objects.
//!
//! `KUBEBUILDER_ASSETS=… cargo run --example watch_memory -- 5000`, on Linux

use std::env;
use std::error::Error;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::Action;
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Client, Config, CustomResource, CustomResourceExt, ResourceExt};
use opctl_runtime::controller::drive;
use opctl_runtime::{Context, Controller, Result, Runnable, Runs, operator, testing};
use opctl_testenv::{Assets, Environment, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

#[derive(CustomResource, Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[kube(group = "memory.example.com", version = "v1", kind = "Sample", namespaced)]
struct SampleSpec {
    size: u32,
    text: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let argument = env::args().nth(1).unwrap_or_else(|| "5000".to_owned());
    match argument.as_str() {
        "kube" => measure(kube_controller()).await,
        "runtime" => measure(Controller::<Sample>::new(reconcile).owns::<ConfigMap>().into()).await,
        number => compare(number.parse()?).await,
    }
}

/// Creates the objects, and runs each controller in its own process.
async fn compare(number: u32) -> Result<(), Box<dyn Error>> {
    let assets = env::var_os("KUBEBUILDER_ASSETS").and_then(Assets::in_folder).ok_or("set KUBEBUILDER_ASSETS")?;
    let folder = tempfile::tempdir()?;
    let environment = Environment::start(Settings::new(assets, folder.path(), "memory"))?;
    let kubeconfig = Kubeconfig::read_from(environment.kubeconfig())?;
    let client = Client::try_from(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)?;
    let crds = Api::<CustomResourceDefinition>::all(client.clone());
    let crd = crds.create(&PostParams::default(), &Sample::crd()).await?;
    await_condition(crds, &crd.name_any(), conditions::is_crd_established()).await?;
    let api = Api::<Sample>::default_namespaced(client);
    let create = |index: u32| {
        let api = api.clone();
        let spec = SampleSpec { size: index, text: "some text of a usual length".to_owned() };
        async move { api.create(&PostParams::default(), &Sample::new(&format!("sample-{index}"), spec)).await }
    };
    let mut created = stream::iter(0..number).map(create).buffer_unordered(16);
    while let Some(created) = created.next().await {
        created?;
    }
    for mode in ["kube", "runtime", "kube", "runtime", "kube", "runtime"] {
        let output =
            Command::new(env::current_exe()?).arg(mode).env("KUBECONFIG", environment.kubeconfig()).output()?;
        print!("{mode}\t{}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(())
}

/// Prints the current and the maximum resident memory some seconds after all objects were reconciled.
async fn measure(runnable: Runnable) -> Result<(), Box<dyn Error>> {
    let ctx = Context::new(Client::try_default().await?, operator!(), testing::options([]));
    ctx.readiness.wait_for(runnable.name());
    let (readiness, running) = (ctx.readiness.clone(), tokio::spawn(async move { runnable.run(ctx).await }));
    while !readiness.missing().is_empty() {
        sleep(Duration::from_millis(100)).await;
    }
    sleep(Duration::from_secs(5)).await;
    running.abort();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    println!("{}", lines.map(str::to_owned).collect::<Vec<_>>().join("\t"));
    Ok(())
}

async fn reconcile(_: Arc<Sample>, _: Arc<Context>) -> Result<Action> {
    Ok(Action::await_change())
}

/// A plain kube controller that drops `managedFields`.
fn kube_controller() -> Runnable {
    Runnable::new("kube", Runs::Once, async |ctx: Context| {
        let (store, writer) = reflector::store();
        let objects = watcher(ctx.api::<Sample>(), watcher::Config::default())
            .modify(|object| object.managed_fields_mut().clear())
            .reflect(writer)
            .touched_objects();
        let controller = kube::runtime::Controller::for_stream(objects, store)
            .owns(ctx.api::<ConfigMap>(), watcher::Config::default());
        drive("kube", controller, reconcile, ctx).await
    })
}
