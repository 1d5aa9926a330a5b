use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

#[derive(Default)]
struct Builder {
    client: Option<Client>,
    pods: Option<Api<Pod>>,
}

impl Builder {
    fn client(mut self, client: Client) -> Self {
        self.client = Some(client);
        self
    }

    fn pods(self) -> Self {
        let pods = self.client.clone().map(|client| Api::namespaced(client, "here"));
        Self { pods, ..self }
    }

    fn build(self) -> Option<Api<Pod>> {
        self.pods
    }
}

pub async fn run(client: Client) {
    if let Some(pods) = Builder::default().client(client).pods().build() {
        let _ = pods.get("a").await;
    }
}
