use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

fn pods(client: Client) -> Api<Pod> {
    Api::all(client)
}

async fn with<F, Fut>(client: Client, make: fn(Client) -> Api<Pod>, then: F)
where
    F: Fn(Api<Pod>) -> Fut,
    Fut: Future<Output = ()>,
{
    let _ = make(client.clone()).get("a").await;
    then(make(client)).await;
}

pub async fn run(client: Client) {
    with(client.clone(), pods, |api| async move {
        let _ = api.list(&Default::default()).await;
    })
    .await;
    let api = Some(client).map(pods).unwrap();
    let _ = api.delete("a", &Default::default()).await;
}
