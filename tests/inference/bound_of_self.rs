use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

struct Names(Vec<&'static str>);

impl Iterator for Names {
    type Item = &'static str;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.pop()
    }
}

impl Names {
    async fn look_up(&mut self, pods: Api<Pod>)
    where
        Self: Iterator<Item = &'static str>,
    {
        for name in self {
            let _ = pods.get(name).await;
        }
    }
}

pub async fn run(client: Client) {
    Names(vec!["a"]).look_up(Api::all(client)).await;
}
