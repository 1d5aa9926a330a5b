use super::*;
use crate::testing as mock;
use serde_json::Value;

fn crd(conversion: &Value) -> Value {
    let names = json!({ "kind": "A", "plural": "as" });
    json!({ "metadata": { "name": NAME }, "spec": {
        "group": "example.com", "names": names, "scope": "Cluster", "versions": [], "conversion": conversion,
    } })
}

const NAME: &str = "as.example.com";

fn answering(conversion: Value) -> (Client, mock::Calls) {
    mock::api_server(move |_| (200, crd(&conversion)))
}

#[tokio::test]
async fn only_a_bundle_that_differs_is_written() {
    let new = ByteString(b"new".to_vec());
    for (bundle, writes) in [("bmV3", 0), ("b2xk", 1)] {
        let config = json!({ "url": "https://a", "caBundle": bundle });
        let webhook = json!({ "clientConfig": config, "conversionReviewVersions": ["v1"] });
        let (client, calls) = answering(json!({ "strategy": "Webhook", "webhook": webhook }));
        trust(&client, "shop", NAME, &new).await.unwrap();
        let calls = calls.take();
        assert_eq!(calls.len(), 1 + writes);
        if let Some(patch) = calls.get(1) {
            let webhook = json!({ "clientConfig": { "caBundle": "bmV3" } });
            assert_eq!(patch.body, json!({ "spec": { "conversion": { "webhook": webhook } } }));
        }
    }
}

#[tokio::test]
async fn what_converted_before_does_so_again() {
    let by = |config: Value| {
        let webhook = json!({ "clientConfig": config, "conversionReviewVersions": ["v1"] });
        json!({ "strategy": "Webhook", "webhook": webhook })
    };
    let service = json!({ "name": "webhooks", "namespace": "system", "path": PATH });
    let service = by(json!({ "service": service, "caBundle": "b2xk" }));
    let none = json!({ "strategy": "None" });
    for (before, after) in [(&service, &service), (&none, &none), (&by(json!({ "url": "https://killed" })), &none)] {
        let (client, calls) = answering(before.clone());
        let bundle = ByteString(b"new".to_vec());
        let local = Local {
            client,
            field_manager: "shop",
            url: "https://127.0.0.1:9443".to_owned(),
            bundle,
            paths: vec![PATH],
        };
        let mut undos = Vec::new();
        register(&local, NAME, &mut undos).await.unwrap();
        undos.remove(0).request.await.unwrap();
        let patches = calls.take().into_iter().skip(1);
        let values: Vec<_> = patches.map(|call| call.body[0]["value"].clone()).collect();
        let here = json!({ "url": "https://127.0.0.1:9443/convert", "caBundle": "bmV3" });
        assert_eq!(values, [by(here), after.clone()]);
    }
}
