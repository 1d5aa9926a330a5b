use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;

use super::*;
use crate::mock;

const CONFIGURATION: Configuration =
    Configuration { name: "mutating", local: "local", resource: ApiResource::erase::<MutatingWebhookConfiguration> };

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
        CONFIGURATION.trust(&client, &bundle()).await.unwrap();
        let calls = calls.take();
        assert_eq!(calls.len(), 1 + writes);
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
    let local = Local { client, url, bundle: bundle() };
    let service = json!({ "name": "webhooks", "namespace": "system", "path": "/a" });
    let webhooks = json!([{ "name": "a.kb.io", "clientConfig": { "service": service } }]);
    let manifest = json!({ "metadata": { "name": "sample" }, "webhooks": webhooks });
    let moved = localize(manifest.clone(), &local, "local", &["/a"]).unwrap();
    let config = json!({ "url": "https://127.0.0.1:9443/a", "caBundle": "bmV3" });
    assert_eq!(moved["webhooks"], json!([{ "name": "a.kb.io", "clientConfig": config }]));
    assert_eq!(moved["metadata"], json!({ "name": "local" }));
    let refused = localize(manifest, &local, "local", &["/b"]).unwrap_err();
    assert!(refused.contains("`/a`") && refused.contains("a.kb.io"), "{refused}");
}
