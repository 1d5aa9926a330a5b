use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

trait HasPods {
    fn pods(&self) -> Api<Pod>;
}

trait Watches: HasPods {
    async fn look(&self) {
        let _ = self.pods().list(&Default::default()).await;
    }
}

async fn look<W: Watches>(watches: &W) {
    let _ = watches.pods().get("a").await;
    watches.look().await;
}

struct Here(Client);

impl HasPods for Here {
    fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.0.clone(), "here")
    }
}

impl Watches for Here {}

pub async fn run(client: Client) {
    look(&Here(client)).await;
}
