use k8s_openapi::api::core::v1::ConfigMap;

use super::*;
use crate::testing as mock;
use crate::webhook::{Defaulting, Rejection, Request, Validating};

fn mutating() -> Registration {
    let resource = ApiResource::erase::<MutatingWebhookConfiguration>(&());
    Registration::Admission(Configuration::new("shop", "mutating", resource))
}

fn bundle() -> ByteString {
    ByteString(b"new".to_vec())
}

fn configuration(bundles: [Value; 2]) -> Value {
    let [a, b] = bundles.map(|it| json!({ "url": "https://a", "caBundle": it }));
    let webhooks = json!([{ "name": "a", "clientConfig": a }, { "name": "b", "clientConfig": b }]);
    json!({ "metadata": { "name": "sample" }, "webhooks": webhooks })
}

#[tokio::test]
async fn only_a_bundle_that_differs_is_written() {
    for (bundles, writes) in
        [([json!("bmV3"), json!("bmV3")], 0), ([json!("bmV3"), Value::Null], 1), ([json!("b2xk"), json!("b2xk")], 1)]
    {
        let there = configuration(bundles);
        let (client, calls) = mock::api_server(move |_| (200, there.clone()));
        mutating().trust(&client, "shop", &bundle()).await.unwrap();
        let calls = calls.take();
        assert_eq!(calls.len(), 1 + writes);
        assert!(calls[0].path.ends_with("/mutatingwebhookconfigurations/shop-mutating-webhook-configuration"));
        if let Some(patch) = calls.get(1) {
            assert_eq!(patch.content_type, "application/strategic-merge-patch+json");
            let config = json!({ "caBundle": "bmV3" });
            let webhooks = json!([
                { "name": "a", "clientConfig": config }, { "name": "b", "clientConfig": config },
            ]);
            assert_eq!(patch.body, json!({ "webhooks": webhooks }));
        }
    }
}

#[tokio::test]
async fn webhooks_are_called_at_the_url_and_only_those_that_are_served() {
    let (client, _) = mock::api_server(|_| (500, Value::Null));
    let url = "https://127.0.0.1:9443/".to_owned();
    let local = Local { client, field_manager: "shop", url, bundle: bundle(), paths: vec!["/a"] };
    let service = json!({ "name": "webhooks", "namespace": "system", "path": "/a" });
    let webhooks = json!([{ "name": "a.kb.io", "clientConfig": { "service": service } }]);
    let manifest = json!({ "metadata": { "name": "sample" }, "webhooks": webhooks });
    let moved = localize(manifest.clone(), &local, "local").unwrap();
    let config = json!({ "url": "https://127.0.0.1:9443/a", "caBundle": "bmV3" });
    assert_eq!(moved["webhooks"], json!([{ "name": "a.kb.io", "clientConfig": config }]));
    assert_eq!(moved["metadata"], json!({ "name": "local" }));
    let local = Local { paths: vec!["/b"], ..local };
    let refused = localize(manifest, &local, "local").unwrap_err();
    assert!(refused.contains("`/a`") && refused.contains("a.kb.io"), "{refused}");
}

async fn nothing(_: &mut ConfigMap, _: &Request<ConfigMap>) -> Result<(), Rejection> {
    Ok(())
}

#[test]
fn configurations_follow_from_the_webhooks() {
    let mutating = || Defaulting::new("/mutate", nothing).into();
    let validating = || Validating::<ConfigMap>::new("/validate").into();
    let names = |webhooks: &[Webhook]| {
        let all = Registration::all(webhooks, "shop");
        Vec::from_iter(all.iter().map(|it| it.name().to_owned()))
    };
    assert_eq!(names(&[]), Vec::<String>::new());
    let (first, second) = ("shop-mutating-webhook-configuration", "shop-validating-webhook-configuration");
    assert_eq!(names(&[mutating(), mutating()]), [first]);
    assert_eq!(names(&[validating(), mutating()]), [first, second]);
}
