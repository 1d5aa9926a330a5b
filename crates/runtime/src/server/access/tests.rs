use futures::future::join_all;
use serde_json::{Value, json};

use super::*;
use crate::testing::{Call, Calls, api_server, status};

/// An API server on which `reader` has the permission and `other` does not; for `broken`, it fails. All other tokens
/// are invalid.
fn cluster() -> (Access, Calls) {
    let (client, calls) = api_server(|call: &Call| {
        let spec = &call.body["spec"];
        let answer = match call.path.rsplit('/').next() {
            Some("tokenreviews") if spec["token"] == "broken" => return (500, status(500, "InternalError")),
            Some("tokenreviews") => {
                let known = spec["token"] == "reader" || spec["token"] == "other";
                json!({ "authenticated": known, "user": { "username": spec["token"] } })
            }
            _ => json!({ "allowed": spec["user"] == "reader" }),
        };
        (201, json!({ "metadata": {}, "spec": spec, "status": answer }))
    });
    (Access::new(client), calls)
}

fn tokens(calls: &Calls) -> Vec<Value> {
    let reviews = calls.take().into_iter().filter(|call| call.path.ends_with("/tokenreviews"));
    reviews.map(|call| call.body["spec"]["token"].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_verdict_is_remembered_for_some_seconds() {
    let (access, calls) = cluster();
    for (token, expected, time) in [
        ("reader", StatusCode::OK, ALLOWED),
        ("other", StatusCode::FORBIDDEN, REFUSED),
        ("unknown", StatusCode::UNAUTHORIZED, REFUSED),
    ] {
        for _ in 0..3 {
            assert_eq!(access.verdict(token, "/metrics").await, Some(expected));
        }
        assert_eq!(tokens(&calls), [token]);
        tokio::time::sleep(time - Duration::from_millis(1)).await;
        assert_eq!(access.verdict(token, "/metrics").await, Some(expected));
        assert_eq!(tokens(&calls), [(); 0].map(|()| Value::Null));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(access.verdict(token, "/metrics").await, Some(expected));
        assert_eq!(tokens(&calls), [token]);
        // Each path has its own review.
        assert_eq!(access.verdict(token, "/other").await, Some(expected));
        assert_eq!(tokens(&calls), [token]);
    }
}

#[tokio::test]
async fn an_error_is_not_remembered() {
    let (access, calls) = cluster();
    for _ in 0..2 {
        assert_eq!(access.verdict("broken", "/metrics").await, None);
        assert_eq!(tokens(&calls), ["broken"]);
    }
    assert!(access.entries().is_empty());
}

#[tokio::test]
async fn concurrent_requests_with_a_token_are_one_question() {
    let (access, calls) = cluster();
    // Dropping one request does not cancel the review of the others.
    let mut first = Box::pin(access.verdict("reader", "/metrics"));
    assert_eq!((&mut first).now_or_never(), None);
    let others = join_all((0..20).map(|_| access.verdict("reader", "/metrics")));
    drop(first);
    assert_eq!(others.await, vec![Some(StatusCode::OK); 20]);
    assert_eq!(tokens(&calls), ["reader"]);
    // After all are dropped, the next request starts a new review.
    let mut left = Box::pin(access.verdict("other", "/metrics"));
    assert_eq!((&mut left).now_or_never(), None);
    drop(left);
    assert_eq!(access.verdict("other", "/metrics").await, Some(StatusCode::FORBIDDEN));
}

#[tokio::test]
async fn many_tokens_neither_fill_the_memory_nor_push_out_who_may_read() {
    let (access, calls) = cluster();
    assert_eq!(access.verdict("reader", "/metrics").await, Some(StatusCode::OK));
    for token in 0..2 * ENTRIES {
        access.verdict(&token.to_string(), "/metrics").await;
    }
    assert_eq!(access.entries().len(), ENTRIES);
    tokens(&calls);
    assert_eq!(access.verdict("reader", "/metrics").await, Some(StatusCode::OK));
    assert_eq!(calls.take(), []);
}

#[test]
fn the_scheme_of_a_token_may_be_in_any_case() {
    for header in ["Bearer reader", "bearer reader", "BEARER  reader"] {
        assert_eq!(bearer(header), Some("reader"), "{header}");
    }
    for header in ["Basic reader", "Bearerreader", "reader", ""] {
        assert_eq!(bearer(header), None, "{header}");
    }
}
