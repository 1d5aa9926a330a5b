use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

trait Inner {
    type Kind;
}

trait Outer {
    type Kind;
}

struct Of<T>(T);

impl<T> Outer for Of<T>
where
    Of<T>: Inner,
{
    type Kind = <Of<T> as Inner>::Kind;
}

impl Inner for Of<u8> {
    type Kind = Pod;
}

pub async fn belongs(client: Client) {
    let pods: Api<<Of<u8> as Outer>::Kind> = Api::all(client);
    let _ = pods.get_metadata("a").await;
}
