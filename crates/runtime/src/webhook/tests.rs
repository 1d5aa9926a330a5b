use k8s_openapi::api::core::v1::ConfigMap;
use kube::Resource;
use serde_json::{Value, json};

use super::testing::{self, empty_cluster, read};
use super::*;

/// The review of the creation of a ConfigMap.
fn review(mut object: Value) -> Value {
    object["apiVersion"] = "v1".into();
    object["kind"] = "ConfigMap".into();
    testing::review("CREATE", object)
}

fn config_map() -> Value {
    json!({
        "metadata": { "name": "sample" },
        "data": { "key": "value" },
        "unknown": 1,
    })
}

async fn default(object: &mut ConfigMap, _: &Request<ConfigMap>) -> Result<(), Rejection> {
    object.immutable = Some(true);
    Ok(())
}

async fn validate(object: &ConfigMap, request: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
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
    validate(new, request).await
}

fn defaulting() -> Webhook {
    Defaulting::new("/mutate", default).into()
}

fn validating() -> Webhook {
    Validating::new("/validate").create(validate).update(update).delete(validate).into()
}

async fn answer(webhook: &Webhook, body: impl AsRef<[u8]>) -> Answer {
    let (Serves::Mutating(handler) | Serves::Validating(handler)) = &webhook.serves else { panic!("{webhook:?}") };
    handler(Bytes::copy_from_slice(body.as_ref()), empty_cluster()).await
}

async fn validated(body: impl AsRef<[u8]>) -> (u16, Value) {
    read(answer(&validating(), body).await).await
}

#[tokio::test]
async fn a_default_is_a_patch_of_what_was_sent() {
    let mut object = config_map();
    object["apiVersion"] = "v1".into();
    object["kind"] = "ConfigMap".into();
    let response = testing::ask(&defaulting(), "CREATE", object).await;
    assert_eq!((&response["uid"], &response["allowed"]), (&"1".into(), &true.into()));
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
async fn a_body_that_is_no_review_of_its_kind_gets_an_answer() {
    for (body, status, reason) in [
        (String::new(), 400, "not an AdmissionReview"),
        ("{".to_owned(), 400, "not an AdmissionReview"),
        ("{}".to_owned(), 400, "not an AdmissionReview"),
        (
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#.to_owned(),
            400,
            "not the request of an AdmissionReview",
        ),
        (
            review(config_map()).to_string().replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1"),
            400,
            "not the request of an AdmissionReview",
        ),
        ("[".repeat(100_000), 400, "not an AdmissionReview"),
    ] {
        let (answered, answer) = validated(&body).await;
        assert_eq!(answered, status, "{body:.200}");
        assert!(answer.as_str().is_some_and(|it| it.contains(reason)), "{answer}");
    }
    let pod = review(config_map()).to_string().replace("ConfigMap", "Pod");
    let data = review(json!({ "metadata": {}, "data": "text" })).to_string();
    for (body, code, reason) in [
        (pod, 400, "this webhook is for ConfigMap of v1, not for Pod of v1"),
        (data, 422, "the ConfigMap does not match its type"),
    ] {
        let (status, answer) = validated(&body).await;
        let result = &answer["response"]["status"];
        assert_eq!((status, &answer["response"]["allowed"], &result["code"]), (200, &false.into(), &code.into()));
        assert!(result["message"].as_str().is_some_and(|it| it.contains(reason)), "{result}");
    }
}

/// Reviews with randomly changed, removed and added bytes.
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

async fn guarded(limit: Duration, body: Bytes, handler: BoxFuture<'static, Answer>) -> Answer {
    guard("/", limit, &Semaphore::new(DECODED), body, |_| handler).await
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_panics_or_is_slow_fails_alone() {
    let object = json!({ "metadata": { "name": "panic" } });
    let panics = async move { answer(&validating(), review(object).to_string()).await }.boxed();
    let answer = guarded(limit(None), Bytes::new(), panics).await;
    assert_eq!((answer.operation, answer.result), (UNKNOWN, WebhookResult::Failed));
    assert_eq!(read(answer).await, (500, "it panicked: on purpose".into()));

    for (query, limited) in
        [(None, "10s"), (Some("timeout=3s"), "3s"), (Some("timeout=3"), "10s"), (Some("timeout=9999999999s"), "30s")]
    {
        let answer = guarded(limit(query), Bytes::new(), std::future::pending().boxed()).await;
        assert_eq!(read(answer).await, (500, format!("it took longer than {limited}").into()));
    }
}

/// A small body can take much memory once decoded.
#[tokio::test]
async fn a_review_with_very_many_values_is_not_decoded() {
    let many = |count: usize| {
        let object = json!({ "metadata": {}, "data": { "key": "" }, "other": vec![0; count] });
        Bytes::from(review(object).to_string())
    };
    for (count, expected) in [(1_000, 200), (1_000_000, 200), (1_100_000, 413)] {
        let body = many(count);
        let webhook = validating();
        let handler = {
            let body = body.clone();
            async move { answer(&webhook, body).await }.boxed()
        };
        let status = guarded(PATIENCE, body, handler).await.response.status();
        assert_eq!(status, expected, "{count}");
    }
}

#[test]
fn a_path_is_served_once_and_is_a_path() {
    let paths = |paths: &[&'static str]| {
        let webhooks = Vec::from_iter(paths.iter().map(|path| Defaulting::new(path, default).into()));
        router(&webhooks, &empty_cluster()).map(drop).map_err(|error| error.to_string())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _runtime = runtime.enter();
    assert_eq!(paths(&["/a", "/b"]), Ok(()));
    assert_eq!(paths(&["/a", "/a"]), Err("two webhooks have the path `/a`".to_owned()));
    for path in ["a", "/{a}", ""] {
        assert_eq!(paths(&[path]), Err(format!("`{path}` cannot be the path of a webhook")));
    }
}

#[tokio::test]
async fn requests_are_counted_by_operation_and_result() {
    let ctx = empty_cluster();
    let router = router(&[defaulting(), validating()], &ctx).unwrap();
    let ask = async |path: &str, body: String| {
        let request = http::Request::post(path).body(axum::body::Body::from(body)).unwrap();
        let response = tower::ServiceExt::oneshot(router.clone(), request).await.unwrap();
        response.status().as_u16()
    };
    assert_eq!(ask("/mutate?timeout=5s", review(config_map()).to_string()).await, 200);
    assert_eq!(ask("/validate", review(json!({ "metadata": {} })).to_string()).await, 200);
    assert_eq!(ask("/validate", "{".to_owned()).await, 400);
    assert_eq!(ask("/none", String::new()).await, 404);
    let metrics = ctx.metrics.text();
    for line in [
        r#"controller_webhook_requests_total{path="/mutate",operation="CREATE",outcome="allowed"} 1"#,
        r#"controller_webhook_requests_total{path="/validate",operation="CREATE",outcome="refused"} 1"#,
        r#"controller_webhook_requests_total{path="/validate",operation="UNKNOWN",outcome="failed"} 1"#,
        r#"controller_webhook_duration_seconds_count{path="/validate"} 2"#,
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
}
