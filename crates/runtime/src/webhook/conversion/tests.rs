use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;

/// A hub and a spoke: two `pages` of the hub are one of the `leaves` of the spoke; only the hub has `title`, only the
/// spoke `shelf`.
mod hub {
    use super::*;

    #[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
    #[kube(group = "example.com", version = "v1", kind = "Book", namespaced)]
    pub struct BookSpec {
        pub pages: i32,
        pub title: Option<String>,
        #[serde(default)]
        pub notes: Vec<Note>,
    }

    #[derive(KubeSchema, Clone, Debug, Deserialize, Serialize)]
    pub struct Note {
        pub text: String,
        pub page: Option<i32>,
    }
}

mod spoke {
    use super::*;

    #[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
    #[kube(group = "example.com", version = "v1beta1", kind = "Book", namespaced, storage = false)]
    pub struct BookSpec {
        pub leaves: i32,
        pub shelf: Option<String>,
        #[serde(default)]
        pub notes: Vec<Note>,
    }

    #[derive(KubeSchema, Clone, Debug, Deserialize, Serialize)]
    pub struct Note {
        pub text: String,
    }
}

mod oldest {
    use super::*;

    #[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
    #[kube(group = "example.com", version = "v1alpha1", kind = "Book", namespaced, storage = false)]
    pub struct BookSpec {
        pub notes: Vec<String>,
        pub pages: String,
    }
}

/// Infallible: `From` works like `TryFrom`.
impl From<hub::Book> for spoke::Book {
    fn from(old: hub::Book) -> Self {
        let note = |it: hub::Note| spoke::Note { text: it.text };
        let spec = spoke::BookSpec {
            leaves: old.spec.pages / 2,
            shelf: None,
            notes: old.spec.notes.into_iter().map(note).collect(),
        };
        Self { metadata: old.metadata, spec }
    }
}

impl TryFrom<spoke::Book> for hub::Book {
    type Error = String;

    fn try_from(old: spoke::Book) -> Result<Self, String> {
        let pages = old.spec.leaves.checked_mul(2).ok_or("too many leaves")?;
        let note = |it: spoke::Note| hub::Note { text: it.text, page: None };
        let spec = hub::BookSpec { pages, title: None, notes: old.spec.notes.into_iter().map(note).collect() };
        Ok(Self { metadata: old.metadata, spec })
    }
}

impl TryFrom<hub::Book> for oldest::Book {
    type Error = ConversionError;

    fn try_from(old: hub::Book) -> Result<Self, ConversionError> {
        carry(&old)
    }
}

impl TryFrom<oldest::Book> for hub::Book {
    type Error = ConversionError;

    fn try_from(old: oldest::Book) -> Result<Self, ConversionError> {
        carry(&old)
    }
}

fn books() -> Conversion<hub::Book> {
    Conversion::new(vec![Spoke::of::<spoke::Book>(), Spoke::of::<oldest::Book>()])
}

fn book(version: &str, spec: Value) -> Value {
    json!({
        "apiVersion": format!("example.com/{version}"),
        "kind": "Book",
        "metadata": { "name": "sample", "uid": "1" },
        "spec": spec,
    })
}

fn to(version: &str, object: &Value) -> Value {
    books().convert(object.clone(), &format!("example.com/{version}")).unwrap()
}

#[test]
fn keeps_what_another_version_has_no_place_for() {
    let notes = json!([{ "text": "a", "page": 1 }, { "text": "b", "page": 2 }]);
    let before = book("v1", json!({ "pages": 7, "title": "T", "notes": notes }));
    let mut there = to("v1beta1", &before);
    assert_eq!(there["spec"], json!({ "leaves": 3, "notes": [{ "text": "a" }, { "text": "b" }] }));
    assert_eq!(to("v1", &there), before);

    // Fields that were changed meanwhile are kept; the others are restored, list elements at any index.
    there["spec"] = json!({ "leaves": 5, "shelf": "S", "notes": [{ "text": "b" }, { "text": "c" }] });
    let after = to("v1", &there);
    let notes = json!([{ "text": "b", "page": 2 }, { "text": "c" }]);
    assert_eq!(after["spec"], json!({ "pages": 10, "title": "T", "notes": notes }));
    assert_eq!(to("v1beta1", &after)["spec"], there["spec"]);
}

#[test]
fn an_element_that_was_changed_is_found_by_its_place() {
    let notes = json!([{ "text": "a", "page": 1 }, { "text": "b", "page": 2 }]);
    let mut there = to("v1beta1", &book("v1", json!({ "pages": 2, "title": null, "notes": notes })));
    there["spec"]["notes"][0]["text"] = "changed".into();
    let notes = json!([{ "text": "changed", "page": 1 }, { "text": "b", "page": 2 }]);
    assert_eq!(to("v1", &there)["spec"]["notes"], notes);
}

#[test]
fn an_annotation_restores_nothing_that_the_version_has_itself() {
    let whole = json!({ "pages": 4, "title": "T", "notes": [] });
    let there = to("v1beta1", &book("v1", whole));
    for (annotation, title) in [
        ("not JSON".to_owned(), json!(null)),
        (json!({ "lost": { "spec": { "title": 7 } }, "left": { "spec": { "title": null } } }).to_string(), json!(null)),
        (json!({ "lost": { "spec": { "pages": 8 } }, "left": { "spec": { "pages": 4 } } }).to_string(), json!(null)),
        (
            json!({ "lost": { "spec": { "title": "U" } }, "left": { "spec": { "title": null } } }).to_string(),
            json!("U"),
        ),
    ] {
        let mut there = there.clone();
        there["metadata"]["annotations"]["conversion.example.com/v1"] = annotation.into();
        let after = to("v1", &there);
        assert_eq!(after["spec"]["title"], title);
        assert_eq!(after["spec"]["pages"], 4);
        assert_eq!(after["metadata"], book("v1", json!({}))["metadata"]);
    }
}

fn ask(review: &Value) -> (u16, Value) {
    let response = answer(&serde_json::to_vec(review).unwrap(), &[books().versions]).response;
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20);
    let body = futures::executor::block_on(body).unwrap();
    let text = || String::from_utf8_lossy(&body).into_owned().into();
    (status, serde_json::from_slice(&body).unwrap_or_else(|_| text()))
}

fn review(objects: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": { "uid": "7", "desiredAPIVersion": "example.com/v1", "objects": objects },
    })
}

#[test]
fn answers_in_the_order_of_the_objects() {
    let new = book("v1", json!({ "anything": "stays as it is" }));
    let old = book("v1beta1", json!({ "leaves": 1 }));
    let (status, answer) = ask(&review(json!([new, old])));
    assert_eq!((status, &answer["apiVersion"]), (200, &json!("apiextensions.k8s.io/v1")));
    let response = &answer["response"];
    assert_eq!((&response["uid"], &response["result"]["status"]), (&json!("7"), &json!("Success")));
    assert_eq!(response["convertedObjects"], json!([new, to("v1", &old)]));
}

#[tokio::test]
async fn conversions_are_served_together() {
    let things: Webhook = Conversion::<thing::Thing>::new(Vec::new()).into();
    let ctx = crate::webhook::testing::empty_cluster();
    let router = crate::webhook::router(&[things, books().into()], &ctx).unwrap();
    let thing = json!({ "apiVersion": "example.com/v1", "kind": "Thing" });
    let review = review(json!([thing, book("v1beta1", json!({ "leaves": 1 }))]));
    let request = http::Request::post(PATH).body(axum::body::Body::from(review.to_string())).unwrap();
    let response = tower::ServiceExt::oneshot(router, request).await.unwrap();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let answer: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(answer["response"]["result"]["status"], "Success");
    assert_eq!(answer["response"]["convertedObjects"][1]["spec"]["pages"], 2);
    let line = r#"controller_webhook_requests_total{path="/convert",operation="CONVERT",outcome="allowed"} 1"#;
    let metrics = ctx.metrics.text();
    assert!(metrics.lines().any(|it| it == line), "{metrics}");
}

#[test]
fn names_the_object_that_it_cannot_convert_and_the_reason() {
    let mut other = book("v1beta1", json!({}));
    other["kind"] = "Film".into();
    let too_many = book("v1beta1", json!({ "leaves": i32::MAX }));
    for (object, why) in [
        (
            other,
            "Film sample from example.com/v1beta1 to example.com/v1: no conversion is known for `example.com/v1beta1 Film`",
        ),
        (
            book("v7", json!({})),
            "Book sample from example.com/v7 to example.com/v1: no conversion is known for `example.com/v7`",
        ),
        (too_many, "Book sample from example.com/v1beta1 to example.com/v1: too many leaves"),
        (
            book("v1beta1", json!({ "leaves": "x" })),
            "Book sample from example.com/v1beta1 to example.com/v1: it does not match `example.com/v1beta1`: invalid type: string \"x\", expected i32",
        ),
    ] {
        let (status, answer) = ask(&review(json!([object])));
        assert_eq!(status, 200);
        let response = &answer["response"];
        assert_eq!((&response["result"]["status"], &response["convertedObjects"]), (&json!("Failure"), &json!([])));
        assert_eq!(response["result"]["message"], why);
    }
}

#[test]
fn refuses_what_is_no_review_of_v1() {
    let mut beta = review(json!([]));
    beta["apiVersion"] = "apiextensions.k8s.io/v1beta1".into();
    let mut empty = review(json!([]));
    empty["request"].take();
    for (body, why) in [
        (beta, "not the request of a ConversionReview of apiextensions.k8s.io/v1"),
        (empty, "not the request of a ConversionReview"),
        (json!({}), "not a ConversionReview: missing field `apiVersion`"),
    ] {
        let (status, answer) = ask(&body);
        assert_eq!(status, 400);
        assert!(answer.as_str().unwrap().starts_with(why), "{answer}");
    }
}

#[test]
fn goes_from_spoke_to_spoke_through_the_hub() {
    let old = book("v1beta1", json!({ "leaves": 3, "shelf": "S", "notes": [{ "text": "a" }] }));
    let there = to("v1alpha1", &old);
    // `pages` has another type there and is required: it gets the zero value.
    assert_eq!(there["spec"], json!({ "notes": [], "pages": "" }));
    assert_eq!(to("v1beta1", &there)["spec"], old["spec"]);
}

#[test]
fn an_annotation_that_cannot_be_converted_is_ignored() {
    let mut object = book("v1", json!({ "pages": 6 }));
    let kept = json!({ "lost": { "spec": { "leaves": i32::MAX } }, "left": { "spec": { "leaves": 3 } } });
    object["metadata"]["annotations"] = json!({ "conversion.example.com/v1beta1": kept.to_string() });
    assert_eq!(to("v1beta1", &object)["spec"]["leaves"], 3);
}

/// Server-side apply requests this when a field manager changes to another version.
#[test]
fn converts_a_part_of_an_object() {
    let part = json!({ "apiVersion": "example.com/v1beta1", "kind": "Book", "metadata": {} });
    assert_eq!(to("v1", &part)["spec"]["pages"], 0);
}

mod thing {
    use std::collections::BTreeMap;

    use k8s_openapi::api::core::v1::PodSpec;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, MicroTime, Time};
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

    use super::*;

    #[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
    #[kube(group = "example.com", version = "v1", kind = "Thing")]
    pub struct ThingSpec {
        pod: PodSpec,
        time: Time,
        micro: Option<MicroTime>,
        port: IntOrString,
        conditions: Vec<Condition>,
        real: f64,
        single: f32,
        tiny: u8,
        huge: i64,
        unsigned: u64,
        map: BTreeMap<String, Option<i32>>,
        choice: Choice,
        data: Data,
        #[schemars(range(min = 5, max = 7))]
        some: i32,
        #[schemars(length(min = 3, max = 4))]
        text: String,
    }

    #[derive(schemars::JsonSchema, Clone, Debug, Deserialize, Serialize)]
    pub enum Choice {
        First,
        Second,
    }

    #[derive(schemars::JsonSchema, Clone, Debug, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub enum Data {
        Named { number: i32 },
        Text(String),
    }
}

/// A random object decodes into its type, and is the same after it was encoded and decoded.
#[test]
fn random_objects_fit_their_types() {
    let crd = <thing::Thing as kube::CustomResourceExt>::crd();
    let schema = crd.spec.versions[0].schema.as_ref().unwrap();
    let schema = schema.open_api_v3_schema.as_ref().unwrap();
    for seed in 0..200 {
        let object = || random::Random(seed).object("example.com/v1", "Thing", schema);
        assert_eq!(object(), object());
        let read = |it| serde_json::from_value::<thing::Thing>(it).unwrap();
        let written = serde_json::to_value(read(object())).unwrap();
        assert!((5..8).contains(&written["spec"]["some"].as_i64().unwrap()));
        assert!((3..5).contains(&written["spec"]["text"].as_str().unwrap().chars().count()));
        assert_eq!(serde_json::to_value(read(written.clone())).unwrap(), written);
    }
}

#[derive(Default)]
struct Crds(Vec<CustomResourceDefinition>);

impl Crds {
    fn of(crds: Vec<CustomResourceDefinition>) -> Self {
        Self(vec![kube::core::crd::merge_crds(crds, "v1").unwrap()])
    }

    fn tested(&self, conversion: Conversion<hub::Book>, kept: &[(&str, &str)]) -> Result<(), String> {
        let webhook = conversion.into();
        let tested = std::panic::AssertUnwindSafe(|| round_trip::round_trip(&webhook, &self.0, kept));
        std::panic::catch_unwind(tested).map_err(|panic| *panic.downcast::<String>().unwrap())
    }
}

#[test]
fn a_round_trip_finds_what_is_lost() {
    use kube::CustomResourceExt;

    let crds = || Crds::of(vec![hub::Book::crd(), oldest::Book::crd()]);
    let conversion = || Conversion::new(vec![Spoke::of::<oldest::Book>()]);
    let kept = [
        ("v1alpha1", "spec.notes"),
        ("v1alpha1", "spec.pages"),
        ("v1alpha1", "spec.title"),
        ("v1", "spec.notes"),
        ("v1", "spec.pages"),
    ];
    assert_eq!(crds().tested(conversion(), &kept), Ok(()));
    let lost = crds().tested(conversion(), &kept[1..]).unwrap_err();
    assert!(lost.contains(r#"add ("v1alpha1", "spec.notes") to the kept fields"#), "{lost}");
    assert!(!lost.contains("spec.pages"), "{lost}");

    let missing = crds().tested(Conversion::new(Vec::new()), &kept).unwrap_err();
    assert_eq!(missing, "books.example.com has no spoke for the version v1alpha1");
    let unknown = Crds::default().tested(conversion(), &kept).unwrap_err();
    assert_eq!(unknown, "`books.example.com` is not among the CRDs");
}
