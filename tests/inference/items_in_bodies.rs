use kube::Client;

pub async fn run(client: Client) {
    use k8s_openapi::api::core::v1::Pod;
    use kube::Api;

    struct Pods(Api<Pod>);

    impl Pods {
        async fn first(&self) {
            let _ = self.0.get("a").await;
        }
    }

    async fn second(client: Client) {
        use k8s_openapi::api::core::v1::Secret as Pod;
        let _ = Api::<Pod>::all(client).get("b").await;
    }

    Pods(Api::all(client.clone())).first().await;
    second(client).await;
}
