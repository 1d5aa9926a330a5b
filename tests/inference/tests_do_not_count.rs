use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client};

pub async fn run(client: Client) {
    let _ = Api::<Pod>::all(client).get("a").await;
}

#[cfg(feature = "off")]
pub async fn off(client: Client) {
    let _ = Api::<Secret>::all(client).get("a").await;
}

pub async fn partly(client: Client) {
    #[cfg(feature = "off")]
    {
        let _ = Api::<Secret>::all(client.clone()).get("a").await;
    }
    #[cfg(feature = "off")]
    let _ = Api::<Secret>::all(client.clone()).get("a").await;
    drop(client);
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn fixture(client: Client) {
        let _ = Api::<Secret>::all(client).get("a").await;
    }
}
