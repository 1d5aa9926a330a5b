use std::collections::BTreeSet;
use std::path::Path;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Resource;
use serde::Deserialize;
use serde_json::{Value, json};

use super::admission::{Rejection, Request, Warnings, default, validate};
use super::mock::{self, context, read};
use super::*;

/// What the API server asks when a ConfigMap is created.
fn review(mut object: Value) -> Value {
    object["apiVersion"] = "v1".into();
    object["kind"] = "ConfigMap".into();
    mock::review("CREATE", object)
}

fn config_map() -> Value {
    json!({
        "metadata": { "name": "sample" },
        "data": { "key": "value" },
        "unknown": 1,
    })
}

async fn fill_in(object: &mut ConfigMap, _: &Request<ConfigMap>) -> Result<(), Rejection> {
    object.immutable = Some(true);
    Ok(())
}

async fn judge(object: &ConfigMap, request: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
    if object.meta().name.as_deref() == Some("panic") {
        panic!("on purpose");
    }
    let mut rejection = Rejection::default();
    if object.data.is_none() {
        rejection.required("data", "there must be some");
    }
    if object.immutable == Some(true) {
        rejection.invalid("immutable", true, "it must change");
    }
    rejection.or(vec![format!("{:?} of it", request.review.operation)])
}

async fn update(_: &ConfigMap, new: &ConfigMap, request: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
    judge(new, request).await
}

async fn validated(body: impl AsRef<[u8]>) -> (u16, Value) {
    let body = Bytes::copy_from_slice(body.as_ref());
    read(validate(body, context(), judge, update, judge).await).await
}

#[tokio::test]
async fn a_default_is_a_patch_of_what_was_sent() {
    let body = review(config_map()).to_string();
    let (status, answer) = read(default(body.into(), context(), fill_in).await).await;
    let response = &answer["response"];
    assert_eq!((status, &response["uid"], &response["allowed"]), (200, &"1".into(), &true.into()));
    let patch: Vec<u8> = serde_json::from_value(response["patch"].clone()).unwrap_or_default();
    let patch: Value = serde_json::from_slice(&patch).unwrap();
    assert_eq!(patch, json!([{ "op": "add", "path": "/immutable", "value": true }]));
}

#[tokio::test]
async fn a_rejection_names_fields() {
    let (status, answer) = validated(review(config_map()).to_string()).await;
    assert_eq!((status, &answer["response"]["warnings"]), (200, &json!(["Create of it"])));

    let wrong = json!({ "metadata": { "name": "sample" }, "immutable": true });
    let (status, answer) = validated(review(wrong).to_string()).await;
    let response = &answer["response"];
    assert_eq!((status, &response["allowed"], &response["status"]["code"]), (200, &false.into(), &422.into()));
    let message = "ConfigMap \"sample\" is invalid: \
                   [data: Required value: there must be some, immutable: Invalid value: true: it must change]";
    assert_eq!(response["status"]["message"], message);
    let fields: Vec<_> =
        response["status"]["details"]["causes"].as_array().unwrap().iter().map(|it| &it["field"]).collect();
    assert_eq!(fields, ["data", "immutable"]);
}

#[tokio::test]
async fn a_stored_object_that_cannot_be_read_can_be_repaired_and_deleted() {
    for (operation, warnings) in [("UPDATE", 2), ("DELETE", 1)] {
        let mut review = review(config_map());
        review["request"]["operation"] = operation.into();
        review["request"]["oldObject"] = json!({ "metadata": {}, "data": "text" });
        if operation == "DELETE" {
            review["request"]["object"] = Value::Null;
        }
        let (_, answer) = validated(review.to_string()).await;
        assert_eq!(answer["response"]["allowed"], true, "{answer}");
        assert_eq!(answer["response"]["warnings"].as_array().unwrap().len(), warnings, "{answer}");
    }
}

#[tokio::test]
async fn what_is_no_review_of_its_kind_gets_an_answer() {
    for (body, status, reason) in [
        (String::new(), 400, "no AdmissionReview"),
        ("{".to_owned(), 400, "no AdmissionReview"),
        ("{}".to_owned(), 400, "no AdmissionReview"),
        (r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#.to_owned(), 400, "no request"),
        (
            review(config_map()).to_string().replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1"),
            400,
            "no request",
        ),
        ("[".repeat(100_000), 400, "no AdmissionReview"),
    ] {
        let (answered, answer) = validated(&body).await;
        assert_eq!(answered, status, "{body:.200}");
        assert!(answer.as_str().is_some_and(|it| it.contains(reason)), "{answer}");
    }
    let pod = review(config_map()).to_string().replace("ConfigMap", "Pod");
    let data = review(json!({ "metadata": {}, "data": "text" })).to_string();
    for (body, code, reason) in [
        (pod, 400, "this webhook knows ConfigMap of v1, and no Pod of v1"),
        (data, 422, "the ConfigMap is not as its type says"),
    ] {
        let (status, answer) = validated(&body).await;
        let result = &answer["response"]["status"];
        assert_eq!((status, &answer["response"]["allowed"], &result["code"]), (200, &false.into(), &code.into()));
        assert!(result["message"].as_str().is_some_and(|it| it.contains(reason)), "{result}");
    }
}

/// Reviews with bytes changed, cut out and put in at random.
#[tokio::test]
async fn any_body_gets_an_answer() {
    let rounds = std::env::var("BODIES").map_or(3000, |it| it.parse().expect("a number"));
    let valid = review(config_map()).to_string();
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for _ in 0..rounds {
        let mut body = valid.clone().into_bytes();
        for _ in 0..=random(4) {
            let at = random(body.len());
            match random(4) {
                0 => body[at] = random(256) as u8,
                1 => drop(body.drain(at..(at + random(20)).min(body.len()))),
                2 => body.insert(at, br#"{}[]",:0nt\"#[random(11)]),
                _ => body.extend_from_within(at..),
            }
            if body.is_empty() {
                break;
            }
        }
        let (status, answer) = validated(&body).await;
        let is_verdict = status == 200 && answer["response"]["allowed"].is_boolean();
        assert!(is_verdict || status == 400, "{status} {answer} to {}", String::from_utf8_lossy(&body));
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_panics_or_is_slow_is_the_end_of_that_answer_alone() {
    let object = json!({ "metadata": { "name": "panic" } });
    let body = Bytes::from(review(object).to_string());
    let panics = validate(body, context(), judge, update, judge);
    let (status, why) = read(guard("/", limit(None), Box::pin(panics)).await).await;
    assert_eq!((status, why), (500, "it panicked: on purpose".into()));

    let slow = Box::pin(std::future::pending());
    let (status, why) = read(guard("/", limit(Some("timeout=3s")), slow).await).await;
    assert_eq!((status, why), (500, "it took longer than 3s".into()));
}

#[tokio::test]
async fn what_is_larger_than_two_objects_is_not_read() {
    let Some(path) = webhook::all().first().map(|webhook| webhook.path) else {
        return;
    };
    let mut servers = JoinSet::new();
    let certificate = server::Certificate::new(None).unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let handle = server::serve(&mut servers, address, router(&context()), Some(certificate)).await.unwrap();
    let address = handle.listening().await.unwrap();
    let mut config = kube::Config::new(format!("https://{address}").parse().unwrap());
    config.accept_invalid_certs = true;
    let client = kube::Client::try_from(config).unwrap();
    let status = async |path: &str, size: usize| {
        let body = vec![b' '; size].into();
        let request = http::Request::post(path).body(body).unwrap();
        client.send(request).await.unwrap().status().as_u16()
    };
    assert_eq!(status(path, LARGEST).await, 400);
    assert_eq!(status(path, LARGEST + 1).await, 413);
    assert_eq!(status("/none", 1).await, 404);
}

/// What the API server is told to call is served, and the other way round.
#[test]
fn markers_and_webhooks_have_the_same_paths() {
    let mut told = BTreeSet::new();
    for file in ["webhook/manifests.yaml", "crd/bases"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config").join(file);
        let files = match path.read_dir() {
            Ok(folder) => folder.map(|entry| entry.unwrap().path()).collect(),
            Err(_) => vec![path],
        };
        for text in files.iter().filter_map(|file| std::fs::read_to_string(file).ok()) {
            for document in yaml_serde::Deserializer::from_str(&text) {
                let document = Value::deserialize(document).unwrap();
                let clients = document["webhooks"].as_array().into_iter().flatten();
                let clients = clients.chain(document["spec"]["conversion"].get("webhook"));
                told.extend(clients.filter_map(|it| Some(it["clientConfig"]["service"]["path"].as_str()?.to_owned())));
            }
        }
    }
    let served: BTreeSet<_> = webhook::all().iter().map(|webhook| webhook.path.to_owned()).collect();
    assert_eq!(served, told, "src/webhook has those on the left, config/ those on the right: run `opctl manifests`");
}
