use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client};

trait Source {
    fn client(&self) -> Client;

    async fn pods(&self) {
        let _ = Api::<Pod>::all(self.client()).get("a").await;
    }

    async fn secrets(&self);
}

struct Cluster(Client);

impl Source for Cluster {
    fn client(&self) -> Client {
        self.0.clone()
    }

    async fn secrets(&self) {
        let _ = Api::<Secret>::all(self.client()).get("a").await;
    }
}

pub async fn run(client: Client) {
    let cluster = Cluster(client);
    cluster.pods().await;
    cluster.secrets().await;
}
