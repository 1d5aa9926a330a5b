use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client, ResourceExt};

struct Options {
    namespace: Option<String>,
}

pub async fn matched(client: Client, object: Secret) {
    let namespace = match object.metadata.namespace.as_deref() {
        Some("") | None => "default",
        Some(namespace) => namespace,
    };
    let _ = Api::<Secret>::namespaced(client, namespace).get("a").await;
}

pub async fn or(client: Client, object: Secret) {
    let namespace = object.namespace().unwrap_or("default".into());
    let _ = Api::<Secret>::namespaced(client, &namespace).get("a").await;
}

pub async fn or_else(client: Client, object: Secret) {
    let namespace = object.namespace().unwrap_or_else(|| "default".to_owned());
    let _ = Api::<Secret>::namespaced(client, &namespace).get("a").await;
}

pub async fn of_field(client: Client, options: &Options) {
    let namespace = options.namespace.as_deref().unwrap_or("default");
    let _ = Api::<Secret>::namespaced(client, namespace).get("a").await;
}

pub async fn if_let(client: Client, options: Options) {
    let namespace = if let Some(namespace) = &options.namespace { namespace } else { "default" };
    let _ = Api::<Secret>::namespaced(client, namespace).get("a").await;
}

pub async fn assigned(client: Client, options: &Options) {
    let mut namespace = "default";
    if let Some(other) = &options.namespace {
        namespace = other;
    }
    let _ = Api::<Secret>::namespaced(client, namespace).get("a").await;
}

pub async fn of_environment(client: Client) {
    let namespace = std::env::var("NAMESPACE").unwrap_or_else(|_| "default".into());
    let _ = Api::<Secret>::namespaced(client, &namespace).get("a").await;
}

async fn given(client: Client, namespace: &str) {
    let _ = Api::<Secret>::namespaced(client, namespace).get("a").await;
}

pub async fn run(client: Client) {
    given(client.clone(), "zoo").await;
    let unwritten = client.default_namespace().to_owned();
    given(client, &unwritten).await;
}

pub async fn if_let_of_metadata(client: Client, object: Secret) {
    let namespace = if let Some(namespace) = &object.metadata.namespace { namespace } else { "default" };
    let _ = Api::<Secret>::namespaced(client.clone(), namespace).get("a").await;
    let namespace = object.metadata.namespace.as_deref().unwrap_or("default");
    let _ = Api::<Secret>::namespaced(client, namespace).get("a").await;
}

pub async fn one_of_two(client: Client, is_first: bool) {
    let namespace = match is_first {
        true => "first",
        false => return,
    };
    let _ = Api::<Secret>::namespaced(client.clone(), namespace).get("a").await;
    let namespace = if is_first { "first" } else { "second" };
    let _ = Api::<Secret>::namespaced(client, namespace).get("a").await;
}
