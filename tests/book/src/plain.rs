//! The two controllers of `docs/comparison.md`: one with kube alone, one with opctl-runtime.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text that is kept in a ConfigMap.
#[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Greeting", namespaced, status = "GreetingStatus")]
pub struct GreetingSpec {
    pub text: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct GreetingStatus {
    pub conditions: Vec<Condition>,
}

pub mod with_kube {
    use std::sync::Arc;
    use std::time::Duration;

    use futures::StreamExt;
    use k8s_openapi::api::core::v1::ConfigMap;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
    use k8s_openapi::jiff::Timestamp;
    use kube::api::{Api, Patch, PatchParams};
    use kube::runtime::controller::{Action, Controller};
    use kube::runtime::watcher::Config;
    use kube::{Client, Resource, ResourceExt};
    use serde_json::json;
    use tracing::warn;

    use super::{Greeting, GreetingStatus};

    async fn reconcile(greeting: Arc<Greeting>, client: Arc<Client>) -> Result<Action, kube::Error> {
        let (name, namespace) = (greeting.name_any(), greeting.namespace().unwrap_or_default());
        let params = PatchParams::apply("greeting-operator").force();

        let mut config = ConfigMap::default();
        config.metadata.name = Some(name.clone());
        config.metadata.owner_references = greeting.controller_owner_ref(&()).map(|owner| vec![owner]);
        config.data = Some([("text".to_owned(), greeting.spec.text.clone())].into());
        let configs = Api::<ConfigMap>::namespaced(Client::clone(&client), &namespace);
        configs.patch(&name, &params, &Patch::Apply(config)).await?;

        let last = greeting.status.iter().flat_map(|status| &status.conditions).find(|it| it.type_ == "Ready");
        let ready = Condition {
            type_: "Ready".to_owned(),
            status: "True".to_owned(),
            reason: "Available".to_owned(),
            message: String::new(),
            observed_generation: greeting.metadata.generation,
            last_transition_time: match last {
                Some(last) if last.status == "True" => last.last_transition_time.clone(),
                _ => Time(Timestamp::now()),
            },
        };
        let status = json!({
            "apiVersion": Greeting::api_version(&()),
            "kind": Greeting::kind(&()),
            "status": GreetingStatus { conditions: vec![ready] },
        });
        let greetings = Api::<Greeting>::namespaced(Client::clone(&client), &namespace);
        greetings.patch_status(&name, &params, &Patch::Apply(status)).await?;
        Ok(Action::requeue(Duration::from_secs(3600)))
    }

    fn error_policy(greeting: Arc<Greeting>, error: &kube::Error, _: Arc<Client>) -> Action {
        warn!("{}: {error}", greeting.name_any());
        Action::requeue(Duration::from_secs(5))
    }

    pub async fn run() -> Result<(), kube::Error> {
        let client = Client::try_default().await?;
        Controller::new(Api::<Greeting>::all(client.clone()), Config::default())
            .owns(Api::<ConfigMap>::all(client.clone()), Config::default())
            .shutdown_on_signal()
            .run(reconcile, error_policy, Arc::new(client))
            .for_each(|_| async {})
            .await;
        Ok(())
    }
}

pub mod with_the_runtime {
    use std::process::ExitCode;
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::ResourceExt;
    use opctl_runtime::{Children, Context, Controller, Manager, Outcome, Result, operator};

    use super::Greeting;

    // +kubebuilder:rbac:groups=example.com,resources=greetings/status,verbs=patch
    // +kubebuilder:rbac:groups=core,resources=configmaps,verbs=create;patch
    async fn reconcile(greeting: Arc<Greeting>, ctx: Arc<Context>) -> Result<Outcome> {
        let mut config = ConfigMap::default();
        config.metadata.name = Some(greeting.name_any());
        config.data = Some([("text".to_owned(), greeting.spec.text.clone())].into());

        let mut children = Children::of(&*greeting, &ctx);
        children.apply(config).await?;
        Ok(children.outcome())
    }

    // +kubebuilder:rbac:groups=example.com,resources=greetings,verbs=list;watch
    // +kubebuilder:rbac:groups=core,resources=configmaps,verbs=list;watch
    pub async fn run() -> ExitCode {
        let controller = Controller::<Greeting>::new(reconcile).owns::<ConfigMap>();
        Manager::new(operator!()).run(vec![controller.into()]).await
    }
}
