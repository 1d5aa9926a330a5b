use opctl_runtime::webhook::{Defaulting, Rejection, Request, Webhook};

use crate::api::Memcached;

pub fn webhook() -> Webhook {
    Defaulting::new("/mutate-cache-example-com-v1alpha1-memcached", default).into()
}

async fn default(object: &mut Memcached, request: &Request<Memcached>) -> Result<(), Rejection> {
    let user = request.review.user_info.username.clone().unwrap_or_default();
    let annotations = object.metadata.annotations.get_or_insert_default();
    annotations.insert("example.com/owner".into(), user);
    Ok(())
}

#[cfg(test)]
mod tests {
    use kube::api::ObjectMeta;
    use opctl_runtime::testing;

    use super::*;
    use crate::api::MemcachedSpec;

    #[tokio::test]
    async fn allows_an_object() {
        let metadata = ObjectMeta { name: Some("sample".into()), ..Default::default() };
        let object = serde_json::to_value(Memcached { metadata, spec: MemcachedSpec { size: 3 } }).unwrap();
        let response = testing::ask(&webhook(), "CREATE", object).await;
        assert_eq!(response["allowed"], true, "{response}");
    }
}
