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

//! Reconciles `Search` objects: installs the chart in `helm-charts/search` with the address of a wiki.

use std::sync::Arc;
use std::time::Duration;

use kube::{Api, ResourceExt};
use opctl_runtime::conditions::not_ready;
use opctl_runtime::helm::{OnFailure, Release};
use opctl_runtime::{Context, Controller, Outcome, Result, Runnable};

use crate::api::docs::v1::search::Search;
use crate::api::docs::v1::wiki::Wiki;

mod permissions;

/// Builds the controller; `controller::all` starts it.
// +kubebuilder:rbac:groups=docs.example.com,resources=searches,verbs=list;patch;watch
// +kubebuilder:rbac:groups=docs.example.com,resources=searches/status,verbs=patch
pub fn controller() -> Runnable {
    Controller::<Search>::new(reconcile)
        .watches_when(|search: &Search, wiki: &Wiki| {
            wiki.name_any() == search.spec.wiki && wiki.namespace() == search.namespace()
        })
        .releases()
        .finalizer(
            "docs.example.com/search",
            async |search: Arc<Search>, ctx: Arc<Context>| {
                release().uninstall(&*search, &ctx).await
            },
        )
        .into()
}

// +kubebuilder:rbac:groups=docs.example.com,resources=wikis,verbs=get
async fn reconcile(search: Arc<Search>, ctx: Arc<Context>) -> Result<Outcome> {
    let name = &search.spec.wiki;
    let wikis =
        Api::<Wiki>::namespaced(ctx.client.clone(), &search.namespace().unwrap_or_default());
    let Some(wiki) = wikis.get_opt(name).await? else {
        return Ok(not_ready("WikiNotFound", format!("there is no Wiki `{name}`")).into());
    };
    // What the spec sets are values of the chart, and the rest of them is derived.
    let mut values = serde_json::to_value(&search.spec)?;
    values["url"] = url(&wiki).into();
    Ok(release()
        .values(values)
        .apply(&*search, &ctx)
        .await?
        .outcome())
}

/// The chart in `helm-charts/search`. An upgrade whose Pods do not become ready is rolled back: the old search goes on.
fn release() -> Release {
    Release::new("search")
        .on_failure(OnFailure::RollBack)
        .timeout(Duration::from_secs(60))
}

/// The address of the wiki's Service, which has the name of the release.
fn url(wiki: &Wiki) -> String {
    let port = wiki.spec.service.as_ref().and_then(|service| service.port);
    format!("http://{}:{}", wiki.name_any(), port.unwrap_or(80))
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn the_port_is_that_of_the_wiki_or_the_default_of_its_chart() {
        let url_of = |spec| {
            let wiki = json!({ "apiVersion": "docs.example.com/v1", "kind": "Wiki", "metadata": { "name": "team" }, "spec": spec });
            url(&from_value(wiki).expect("it is a Wiki"))
        };
        assert_eq!(url_of(json!({})), "http://team:80");
        assert_eq!(
            url_of(json!({ "service": { "port": 8080 } })),
            "http://team:8080"
        );
    }
}
