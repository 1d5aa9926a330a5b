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

use clap::Parser;
use futures::FutureExt;
use serde_json::{Value, json};

use super::*;
use crate::mock::{self, Call, Calls};

/// Runs these parts until one of them ends, with an API server that has no more than a Lease, held by `holder`.
async fn outcome(holder: Option<&'static str>, runnables: Vec<Runnable>) -> (String, Calls) {
    let (client, calls) = mock::api_server(move |call| answer(call, holder));
    let mut arguments = vec![
        "manager",
        "--health-probe-bind-address=127.0.0.1:0",
        "--metrics-bind-address=0",
    ];
    if holder.is_some() {
        arguments.push("--leader-elect");
    }
    let options = Options::parse_from(arguments);
    let error = run(client, options, runnables).await.unwrap_err();
    (error.to_string(), calls)
}

fn answer(call: &Call, holder: Option<&str>) -> (u16, Value) {
    let mut lease = call.body.clone();
    match call.method.as_str() {
        "GET" if call.path == "/version" => {
            let version = json!({
                "major": "1", "minor": "37", "gitVersion": "v1.37.0", "gitCommit": "", "gitTreeState": "",
                "buildDate": "", "goVersion": "", "compiler": "", "platform": "",
            });
            return (200, version);
        }
        "GET" => {
            lease = json!({ "metadata": {}, "spec": { "holderIdentity": holder, "leaseDurationSeconds": 60 } })
        }
        _ => {}
    }
    lease["metadata"]["resourceVersion"] = "1".into();
    (200, lease)
}

fn part(name: &'static str, runs: Runs, run: Run) -> Runnable {
    Runnable { name, runs, run }
}

type Run = fn(Context) -> futures::future::BoxFuture<'static, Result<(), Error>>;

const STEADY: Run = |ctx| Box::pin(ctx.shutdown().map(Ok));
const ENDING: Run = |_| Box::pin(async { Ok(()) });
const STUCK: Run = |_| Box::pin(pending());

#[tokio::test]
async fn a_part_that_ends_stops_the_others() {
    let parts = vec![
        part("steady", Runs::Once, STEADY),
        part("ending", Runs::Once, ENDING),
    ];
    let (error, _) = outcome(None, parts).await;
    assert_eq!(error, "`ending` ended before shutdown");
}

#[tokio::test(start_paused = true)]
async fn only_servers_run_in_a_replica_that_does_not_lead() {
    let ending_later: Run = |_| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(30)).await;
            Ok(())
        })
    };
    let parts = vec![
        part("controller", Runs::PerNamespace, ENDING),
        part("server", Runs::InEveryReplica, ending_later),
    ];
    let (error, calls) = outcome(Some("another"), parts).await;
    assert_eq!(error, "`server` ended before shutdown");
    assert!(calls.take().iter().all(|call| call.method == "GET"));
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_released_when_all_have_ended() {
    let parts = vec![
        part("stuck", Runs::Once, STUCK),
        part("ending", Runs::Once, ENDING),
    ];
    let (error, calls) = outcome(Some(""), parts).await;
    assert_eq!(error, "`ending` ended before shutdown", "the first reason");
    let calls = calls.take();
    let holders: Vec<_> = calls
        .iter()
        .filter(|call| call.method == "PUT")
        .map(|call| call.body["spec"]["holderIdentity"].as_str().unwrap())
        .collect();
    let (last, before) = holders.split_last().unwrap();
    assert_eq!(*last, "");
    // Renewed through the grace period of 20 seconds.
    assert!(before.len() > 8, "{holders:?}");
    assert!(before.iter().all(|holder| !holder.is_empty()));
}
