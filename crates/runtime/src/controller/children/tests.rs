use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::runtime::watcher::Event;
use serde_json::{Value, json};

use super::*;
use crate::controller::Owned;
use crate::testing::{Calls, context, context_with, status};

fn parent() -> ConfigMap {
    let metadata = json!({ "name": "parent", "namespace": "default", "uid": "1" });
    serde_json::from_value(json!({ "metadata": metadata })).unwrap()
}

fn secret(name: &str) -> Secret {
    let mut secret = Secret::default();
    secret.metadata.name = Some(name.to_owned());
    secret
}

/// A Secret that this controller applied, as a watch delivers it.
fn seen(name: &str, version: &str, manager: &str) -> Child<Secret> {
    let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "parent", "uid": "1", "controller": true });
    let metadata = json!({
        "name": name, "namespace": "default", "uid": format!("uid of {name}"), "resourceVersion": version,
        "ownerReferences": [owner], "managedFields": [{ "manager": manager, "operation": "Apply" }],
    });
    serde_json::from_value(json!({ "metadata": metadata })).unwrap()
}

/// A context whose watch has delivered `children`, with an API server that responds with `answer`.
fn watching<F>(children: Vec<Child<Secret>>, answer: F) -> (Context, Calls, std::sync::Arc<Index>)
where
    F: Fn(&crate::testing::Call) -> (u16, Value) + Send + 'static,
{
    let (ctx, calls) = context_with(answer);
    let ctx = ctx.of_controller(None);
    let index = ctx.owned.watch::<ConfigMap, Secret>(&ctx.field_manager);
    index.note(Event::<Child<Secret>>::Init, 0);
    for child in children {
        index.note(Event::InitApply(child), 0);
    }
    index.note(Event::<Child<Secret>>::InitDone, 0);
    (ctx, calls, index)
}

/// Accepts every apply and delete.
fn accepting(call: &crate::testing::Call) -> (u16, Value) {
    match call.method.as_str() {
        "DELETE" => (200, json!({ "kind": "Status", "status": "Success" })),
        _ => (200, call.body.clone()),
    }
}

fn deletions(calls: &Calls) -> Vec<(String, Value)> {
    let calls = calls.of::<Secret>().into_iter().filter(|call| call.method == "DELETE");
    calls.map(|call| (call.path.rsplit('/').next().unwrap().to_owned(), call.body["preconditions"].clone())).collect()
}

#[tokio::test]
async fn a_child_gets_its_owner_its_namespace_and_its_type() {
    let (ctx, calls) = context();
    let parent = parent();
    let mut children = Children::of(&parent, &ctx);
    let applied = children.apply(secret("child")).await.unwrap();
    assert_eq!(applied.metadata.name.as_deref(), Some("child"));
    let body = calls.applied::<Secret>("child");
    assert_eq!((&body["apiVersion"], &body["kind"]), (&json!("v1"), &json!("Secret")));
    assert_eq!(body["metadata"]["namespace"], "default");
    let owner = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "parent", "uid": "1", "controller": true }]);
    assert_eq!(body["metadata"]["ownerReferences"], owner);
    let call = &calls.take()[0];
    assert!(call.query.contains("force=true") && call.query.contains("fieldManager=test-operator"), "{}", call.query);
}

#[tokio::test]
async fn a_child_that_cannot_have_this_owner_is_refused() {
    let (ctx, calls) = context();
    let (parent, mut namespace) = (parent(), Namespace::default());
    let mut elsewhere = secret("child");
    elsewhere.metadata.namespace = Some("other".to_owned());
    let mut cluster_wide = ClusterRole::default();
    cluster_wide.metadata.name = Some("child".to_owned());
    namespace.metadata.name = Some("parent".to_owned());
    namespace.metadata.uid = Some("2".to_owned());
    let mut children = Children::of(&parent, &ctx);
    for (refused, why) in [
        (children.apply(Secret::default()).await.map(drop), "a child of kind Secret has no name"),
        (
            children.apply(elsewhere).await.map(drop),
            "Secret child cannot be a child of ConfigMap parent: it is not in namespace default",
        ),
        (children.apply(cluster_wide).await.map(drop), "it is not in namespace default"),
        (Children::of(&namespace, &ctx).apply(secret("child")).await.map(drop), "Secret child needs a namespace"),
    ] {
        let error = refused.unwrap_err();
        assert_eq!((error.reason(), error.is_permanent()), ("InvalidChild", true));
        assert!(error.to_string().contains(why), "{error}");
    }
    assert!(calls.is_empty());
    children.apply(secret("child")).await.unwrap();
    let twice = children.apply(secret("child")).await.unwrap_err();
    assert!(twice.to_string().contains("applied twice"), "{twice}");
}

/// Applies a child. Also returns the methods of the requests.
async fn applied_unless_taken(ctx: &Context, calls: &Calls, child: Secret) -> (Result<Secret>, Vec<String>) {
    let parent = parent();
    let applied = Children::of(&parent, ctx).apply_unless_taken(child).await;
    (applied, calls.take().into_iter().map(|call| call.method).collect())
}

fn labelled() -> Secret {
    let mut secret = secret("child");
    secret.metadata.labels = Some([("app".to_owned(), "parent".to_owned())].into());
    secret
}

/// An API server with a Secret that has this metadata.
fn having(metadata: Value) -> (std::sync::Arc<Context>, Calls) {
    context_with(move |call| match call.method.as_str() {
        "GET" if metadata.is_null() => (404, status(404, "NotFound")),
        "GET" => (200, json!({ "metadata": metadata })),
        _ => (200, call.body.clone()),
    })
}

#[tokio::test]
async fn a_name_that_is_free_or_the_owners_is_applied() {
    let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "parent", "uid": "1", "controller": true });
    for metadata in [
        Value::Null,
        json!({ "name": "child", "ownerReferences": [owner] }),
        json!({ "name": "child", "labels": { "app": "parent", "team": "a" } }),
    ] {
        let (ctx, calls) = having(metadata);
        let (applied, methods) = applied_unless_taken(&ctx, &calls, labelled()).await;
        assert_eq!(applied.unwrap().metadata.owner_references.unwrap()[0].uid, "1");
        assert_eq!(methods, ["GET", "PATCH"]);
    }
}

#[tokio::test]
async fn a_name_that_is_taken_is_left_alone() {
    let owner = |uid: &str, controller: bool| json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "parent", "uid": uid, "controller": controller });
    for metadata in [
        json!({ "name": "child" }),
        json!({ "name": "child", "labels": { "app": "other" } }),
        json!({ "name": "child", "ownerReferences": [owner("2", true)] }),
        json!({ "name": "child", "ownerReferences": [owner("1", false)] }),
    ] {
        let (ctx, calls) = having(metadata);
        let (refused, methods) = applied_unless_taken(&ctx, &calls, labelled()).await;
        let error = refused.unwrap_err();
        assert_eq!((error.reason(), error.is_permanent()), ("NameTaken", false));
        let text = "the Secret `child` does not belong to this ConfigMap: delete it, or choose another name";
        assert_eq!(error.to_string(), text);
        assert_eq!(methods, ["GET"]);
    }
}

#[tokio::test]
async fn a_child_without_labels_adopts_nothing() {
    for labels in [json!({}), json!({ "app": "parent" })] {
        let (ctx, calls) = having(json!({ "name": "child", "labels": labels }));
        let (refused, _) = applied_unless_taken(&ctx, &calls, secret("child")).await;
        assert_eq!(refused.unwrap_err().reason(), "NameTaken");
    }
}

#[tokio::test]
async fn what_the_watch_has_seen_as_the_owners_is_not_asked_for() {
    let mut of_another = seen("other", "1", "test-operator");
    of_another.metadata.owner_references.as_mut().unwrap()[0].uid = "2".to_owned();
    let (ctx, calls, _) =
        watching(vec![seen("child", "1", "kubectl"), of_another], |call| match call.method.as_str() {
            "GET" => (200, json!({ "metadata": { "name": "other" } })),
            _ => (200, call.body.clone()),
        });
    let (applied, methods) = applied_unless_taken(&ctx, &calls, secret("child")).await;
    assert_eq!((applied.is_ok(), methods), (true, vec!["PATCH".to_owned()]));
    let (refused, methods) = applied_unless_taken(&ctx, &calls, secret("other")).await;
    assert_eq!((refused.is_err(), methods), (true, vec!["GET".to_owned()]));
}

#[tokio::test]
async fn nothing_is_applied_where_the_name_cannot_be_looked_at() {
    let (ctx, calls) = context_with(|_| (403, status(403, "Forbidden")));
    let (refused, methods) = applied_unless_taken(&ctx, &calls, labelled()).await;
    assert_eq!((refused.unwrap_err().reason(), methods), ("RequestFailed", vec!["GET".to_owned()]));
}

#[tokio::test]
async fn a_child_that_does_not_fit_its_type_is_named() {
    let (ctx, _) = context_with(|call| {
        let mut body = call.body.clone();
        body["spec"]["replicas"] = 5_000_000_000_u64.into();
        (200, body)
    });
    let parent = parent();
    let mut deployment = Deployment::default();
    deployment.metadata.name = Some("web".to_owned());
    let error = Children::of(&parent, &ctx).apply(deployment).await.unwrap_err();
    assert_eq!(error.reason(), "Undecodable");
    let text = error.to_string();
    assert!(text.starts_with("Deployment web cannot be decoded: spec.replicas: "), "{text}");
}

#[tokio::test]
async fn lists_that_others_added_to_are_replaced_where_they_make_the_object_invalid() {
    let invalid = |field: &'static str| {
        move |call: &crate::testing::Call| {
            if call.content_type != "application/apply-patch+yaml" {
                return (200, json!({ "metadata": { "name": "child" } }));
            }
            let mut refused = status(422, "Invalid");
            refused["details"] =
                json!({ "causes": [{ "field": field, "message": "no", "reason": "FieldValueInvalid" }] });
            (422, refused)
        }
    };
    let parent = parent();
    let (ctx, calls) = context_with(invalid("data"));
    Children::of(&parent, &ctx).apply(secret("child")).await.unwrap();
    let merge = &calls.take()[1];
    assert_eq!(merge.content_type, "application/merge-patch+json");
    assert_eq!(merge.body.get("metadata"), None, "owners and finalizers of others stay");
    let (ctx, calls) = context_with(invalid("metadata.ownerReferences"));
    Children::of(&parent, &ctx).apply(secret("child")).await.unwrap_err();
    assert_eq!(calls.take().len(), 1, "an object of another controller is left alone");
}

#[tokio::test]
async fn only_what_this_controller_applied_before_and_not_now_is_deleted() {
    let children = vec![
        seen("kept", "1", "test-operator"),
        seen("old", "2", "test-operator"),
        seen("of-another-controller", "3", "test-operator/other"),
        seen("by-hand", "4", "kubectl"),
    ];
    let (ctx, calls, _) = watching(children, accepting);
    let parent = parent();
    let mut children = Children::of(&parent, &ctx);
    children.apply(secret("kept")).await.unwrap();
    children.prune::<Secret>().await.unwrap();
    children.prune::<Deployment>().await.unwrap();
    let preconditions = json!({ "uid": "uid of old", "resourceVersion": "2" });
    assert_eq!(deletions(&calls), [("old".to_owned(), preconditions)]);
}

#[tokio::test]
async fn children_of_others_and_those_on_their_way_out_are_not_deleted() {
    let mut of_another = seen("of-another-owner", "1", "test-operator");
    of_another.metadata.owner_references.as_mut().unwrap()[0].uid = "2".to_owned();
    let mut orphan = seen("orphan", "1", "test-operator");
    orphan.metadata.owner_references.as_mut().unwrap()[0].controller = None;
    let mut leaving = seen("leaving", "1", "test-operator");
    leaving.metadata.deletion_timestamp = serde_json::from_value("2026-01-01T00:00:00Z".into()).unwrap();
    let (ctx, calls, index) =
        watching(vec![of_another, orphan, leaving, seen("adopted", "1", "test-operator")], |_| unreachable!());
    // By now, another object owns it.
    let mut adopted = seen("adopted", "2", "test-operator");
    adopted.metadata.owner_references.as_mut().unwrap()[0].uid = "2".to_owned();
    index.note(Event::Apply(adopted), 0);
    let parent = parent();
    Children::of(&parent, &ctx).prune::<Secret>().await.unwrap();
    assert!(calls.is_empty());
}

#[tokio::test]
async fn a_child_that_changed_meanwhile_is_looked_at_again() {
    let old = vec![seen("old", "2", "test-operator")];
    let (ctx, calls, index) = watching(old, |_| (409, status(409, "Conflict")));
    let parent = parent();
    Children::of(&parent, &ctx).prune::<Secret>().await.unwrap();
    assert_eq!(deletions(&calls).len(), 1, "the newer version is not known yet");
    // This event alone triggers no reconcile, but one waits for it.
    let pending = |version| {
        let mut child = seen("old", version, "test-operator");
        child.metadata.generation = Some(2);
        child
    };
    assert_eq!(index.note(Event::Apply(pending("3")), 0).len(), 1);
    calls.take();
    let (ctx, calls, _) = watching(vec![seen("old", "3", "test-operator")], |_| (404, status(404, "NotFound")));
    Children::of(&parent, &ctx).prune::<Secret>().await.unwrap();
    assert_eq!(deletions(&calls).len(), 1, "gone already");
}

#[tokio::test]
async fn a_list_brings_what_is_there_and_takes_away_what_is_not() {
    let (ctx, calls, index) =
        watching(vec![seen("a", "1", "test-operator"), seen("b", "1", "test-operator")], accepting);
    index.note(Event::<Child<Secret>>::Init, 0);
    index.note(Event::InitApply(seen("b", "7", "test-operator")), 0);
    assert_eq!(index.prunable("1").len(), 2, "nothing is forgotten while the list is under way");
    let news = index.note(Event::<Child<Secret>>::InitDone, 0);
    let [Event::Delete(gone), Event::InitDone] = news.as_slice() else { panic!("{news:?}") };
    assert_eq!((gone.metadata.name.as_deref(), gone.metadata.namespace.as_deref()), (Some("a"), Some("default")));
    let owner = &gone.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!(
        (owner.kind.as_str(), owner.name.as_str(), owner.uid.as_str()),
        ("ConfigMap", "parent", "1"),
        "it is reconciled"
    );
    let parent = parent();
    Children::of(&parent, &ctx).prune::<Secret>().await.unwrap();
    assert_eq!(deletions(&calls), [("b".to_owned(), json!({ "uid": "uid of b", "resourceVersion": "7" }))]);
    index.note(Event::Delete(seen("b", "8", "test-operator")), 0);
    assert!(index.prunable("1").is_empty());
}

#[tokio::test]
async fn reconciles_wait_until_all_children_are_listed() {
    let owned = Owned::default();
    owned.filled(0).await;
    let (one, two) = (owned.watch::<ConfigMap, Secret>("m"), owned.watch::<ConfigMap, Deployment>("m"));
    let mut filled = Box::pin(owned.filled(0));
    one.note(Event::<Child<Secret>>::InitDone, 0);
    one.note(Event::<Child<Secret>>::InitDone, 0);
    assert!(futures::poll!(&mut filled).is_pending());
    two.note(Event::<Child<Deployment>>::InitDone, 0);
    filled.await;
}

#[tokio::test]
async fn reconciles_in_a_new_slot_wait_until_its_children_are_listed() {
    let owned = Owned::default();
    let (one, two) = (owned.watch::<ConfigMap, Secret>("m"), owned.watch::<ConfigMap, Deployment>("m"));
    one.note(Event::<Child<Secret>>::InitDone, 1);
    two.note(Event::<Child<Deployment>>::InitDone, 3);
    let mut filled = Box::pin(owned.filled(2));
    assert!(futures::poll!(&mut filled).is_pending());
    one.note(Event::<Child<Secret>>::InitDone, 2);
    filled.await;
}

#[tokio::test]
async fn is_ready_when_all_children_are() {
    let of = |states: Vec<Readiness>| {
        let (ctx, _) = context();
        let mut children = Children::of(&parent(), &ctx);
        children.readiness = states.into_iter().map(|it| ("Deployment web".to_owned(), it)).collect();
        let outcome = children.outcome();
        let condition = outcome.conditions().first().cloned();
        condition.map(|it| (it.status, it.reason, it.message))
    };
    let shown =
        |status: &str, reason: &str, message: &str| Some((status.to_owned(), reason.to_owned(), message.to_owned()));
    let (progress, failed) = (|| Readiness::InProgress("1 of 3".to_owned()), || Readiness::Failed("late".to_owned()));
    assert_eq!(of(vec![]), shown("True", "Available", "all children are ready"));
    assert_eq!(of(vec![Readiness::Current, progress()]), shown("False", "Progressing", "Deployment web: 1 of 3"));
    assert_eq!(of(vec![progress(), failed()]), shown("False", "Failed", "Deployment web: late"));
    assert_eq!(of(vec![failed(), Readiness::Unobserved]), None, "there is nothing to write yet");
}

#[tokio::test]
async fn a_deployment_that_its_controller_has_not_seen_is_pending() {
    let (ctx, _) = context_with(|call| {
        let mut body = call.body.clone();
        body["metadata"]["generation"] = 1.into();
        (200, body)
    });
    let parent = parent();
    let mut children = Children::of(&parent, &ctx);
    let mut deployment = Deployment::default();
    deployment.metadata.name = Some("web".to_owned());
    children.apply(deployment).await.unwrap();
    assert!(children.is_pending() && children.outcome().is_unchanged());
}
