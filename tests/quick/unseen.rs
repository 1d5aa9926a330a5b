//! Diagnostics of `opctl check` about code whose requests it cannot determine: each case is a crate with the expected
//! codes.

use opctl_model::project::Tree;
use opctl_source::grants::{self, Home};
use opctl_source::{self as source, Source};

const KUBE: &str = "kube = { version = \"*\", features = [\"derive\", \"runtime\"] }\n";

fn read(dependencies: &str, main: &str) -> Source {
    let mut tree = Tree::at("nowhere");
    let manifest = "[package]\nname = \"case\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n\
        k8s-openapi = { version = \"*\", features = [\"latest\"] }\n";
    tree.lay_over("Cargo.toml", format!("{manifest}{dependencies}"));
    tree.lay_over("src/main.rs", main);
    source::read_requests(&tree, "")
}

fn codes(source: &Source) -> Vec<&'static str> {
    source.diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect()
}

/// The `use` items of each case.
const USES: &str = "use k8s_openapi::api::core::v1::{Pod, Secret};\nuse kube::{Api, Client};\n";

#[test]
fn what_may_make_requests_unseen_is_reported() {
    let cases: &[(&str, &str, &[&str])] = &[
        // Functions and values of other crates.
        ("koprs = \"0.1\"\n", "async fn run(client: Client) { koprs::sync(client).await; }", &["OP403"]),
        (
            "koprs = \"0.1\"\n",
            "async fn run(client: Client) { koprs::a(client.clone()).await; koprs::b(client).await; }",
            &["OP403"],
        ),
        (
            "koprs = \"0.1\"\n",
            "async fn run() { let all = koprs::Manager::new().await; all.sync().await; }",
            &["OP403"],
        ),
        ("koprs = \"0.1\"\n", "async fn run(all: &koprs::Manager) { all.sync().await; }", &["OP403"]),
        ("koprs = \"0.1\"\n", "use koprs::Ext; async fn run(client: Client) { client.sync().await; }", &["OP401"]),
        ("koprs = \"0.1\"\n", "async fn run(client: Client) { koprs::sync!(client); }", &["OP401"]),
        (
            "axum = \"0.8\"\n",
            "async fn run(client: Client) { axum::serve(1, axum::Router::new().with_state(client)).await; }",
            &["OP402"],
        ),
        // Values in types of other crates, which opctl does not follow.
        (
            "arc_swap = \"1\"\n",
            "async fn run(client: Client) { let api = arc_swap::ArcSwap::from_pointee(Api::<Pod>::all(client)); let _ = api.load().list(&Default::default()).await; }",
            &["OP401"],
        ),
        (
            "dashmap = \"6\"\n",
            "async fn run(client: Client) { let apis = dashmap::DashMap::new(); apis.insert(1, Api::<Pod>::all(client)); let _ = apis.get(&1).unwrap().get(\"a\").await; }",
            &["OP401"],
        ),
        // Values of unknown types.
        ("", "async fn run(api: generated::PodApi) { let _ = api.list(&Default::default()).await; }", &["OP401"]),
        ("", "async fn run(api: generated::PodApi) { let _ = api.get(\"a\").await; }", &["OP401"]),
        (
            "koprs = \"1\"\n",
            "#[derive(koprs::Ask)] struct Ctx { client: Client } async fn run(ctx: Ctx) { ctx.pods().await; }",
            &["OP401"],
        ),
        // Macros.
        (
            "delegate = \"0.13\"\n",
            "struct Pods(Api<Pod>); impl Pods { delegate::delegate! { to self.0 { async fn get(&self, name: &str) -> Result<Pod, kube::Error>; } } }",
            &["OP401"],
        ),
        ("", "async fn run(client: Client) { include!(concat!(env!(\"OUT_DIR\"), \"/run.rs\")) }", &["OP401"]),
        (
            "",
            "macro_rules! ask { ($k:ty) => { Api::<$k>::all(client).get(\"a\") } } async fn run(client: Client) { let _ = ask!(1 2 3); }",
            &["OP401"],
        ),
        ("", "own_macros::ask! { async fn run(client: Client) -> Api::<Pod>; }", &["OP401"]),
        // Paths. The client of kube 2 to 4 is a service of tower.
        (
            "http = \"1\"\ntower = \"0.5\"\n",
            "use tower::{Service, ServiceExt}; async fn run(mut client: Client, path: &str) { let request = http::Request::get(path).body(kube::client::Body::empty()).unwrap(); let _ = client.ready().await.unwrap().call(request).await; }",
            &["OP401"],
        ),
        (
            "http = \"1\"\n",
            "async fn run(client: Client, name: &str) { let mut path = String::from(\"/api/v1/namespaces/\"); path += name; let _ = client.request_text(http::Request::get(path).body(vec![]).unwrap()).await; }",
            &["OP401"],
        ),
        (
            "http = \"1\"\n",
            "async fn run(client: Client, path: &str) { let _ = client.request_text(http::Request::get(path).body(vec![]).unwrap()).await; }",
            &["OP401"],
        ),
        (
            "http = \"1\"\n",
            "async fn run(client: Client) { let _ = client.request_text(http::Request::get(\"/version\").body(vec![]).unwrap()).await; }",
            &["OP402"],
        ),
    ];
    let mut differences = Vec::new();
    for (dependencies, code, expected) in cases {
        let source = read(&format!("{KUBE}{dependencies}"), &format!("{USES}{code}\nfn main() {{}}\n"));
        if codes(&source) != *expected || !source.operator.makes_more_requests {
            differences.push(format!("{code}\n  expected {expected:?}, found {:?}", codes(&source)));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn ordinary_code_is_not_reported() {
    let cases: &[(&str, &str)] = &[
        (
            "redis = \"1\"\n",
            "use redis::AsyncCommands; async fn run(client: Client) { let _ = Api::<Pod>::all(client).get(\"a\").await; let redis = redis::Client::open(\"\").unwrap(); let mut all = redis.get_multiplexed_async_connection().await.unwrap(); let _ = all.get(\"a\").await; }",
        ),
        (
            "redis = \"1\"\n",
            "async fn read<C: redis::AsyncCommands>(all: &mut C) { let _ = all.get(\"a\").await; } async fn run(client: Client) { let _ = Api::<Pod>::all(client).get(\"a\").await; }",
        ),
        (
            "moka = \"1\"\nreqwest = \"1\"\n",
            "struct Ctx { client: Client, cache: moka::future::Cache<String, u8>, http: reqwest::Client } async fn run(ctx: Ctx) { let _ = Api::<Pod>::all(ctx.client.clone()).get(\"a\").await; let _ = ctx.cache.get(\"a\").await; let _ = ctx.http.get(\"https://x\").send().await; let _ = ctx.http.delete(\"x\").send().await; }",
        ),
        (
            "axum = \"0.8\"\n",
            "#[derive(Clone)] struct Ctx { client: Client } async fn run(ctx: Ctx) { let _ = Api::<Pod>::all(ctx.client.clone()).get(\"a\").await; let app = axum::Router::new().with_state(ctx); axum::serve(1, app).await; }",
        ),
        (
            "",
            "async fn run(client: Client) { let pods = Api::<Pod>::all(client).list(&Default::default()).await.unwrap(); let names: std::collections::BTreeMap<_, _> = pods.items.iter().map(|pod| (pod.metadata.name.clone(), 1)).collect(); let _ = names.get(&None); let text = \"a b\".replace(\"a\", \"b\"); drop(text); }",
        ),
        (
            "tokio = \"1\"\n",
            "tokio::task_local! { static CLIENT: Client; } async fn run(client: Client) { let _ = Api::<Pod>::all(client).get(\"a\").await; }",
        ),
        (
            "",
            "macro_rules! log { ($($t:tt)*) => { println!($($t)*) } } async fn run(client: Client) { log!(\"{}\", Api::<Pod>::all(client).get(\"a\").await.is_ok()); }",
        ),
        (
            "serde_json = \"1\"\n",
            "async fn run(client: Client) { let value = serde_json::json!({ \"a\": { \"b\": [1, null] } }); let _ = value.get(\"a\"); let _ = Api::<Pod>::all(client).get(\"a\").await; }",
        ),
    ];
    let mut differences = Vec::new();
    for (dependencies, code) in cases {
        let source = read(&format!("{KUBE}{dependencies}"), &format!("{USES}{code}\nfn main() {{}}\n"));
        if !source.diagnostics.is_empty() || source.operator.requests.is_empty() || source.operator.makes_more_requests
        {
            differences.push(format!("{code}\n  found {:?}", source.diagnostics));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A package without a client, a library of types and a program that prints CRDs make no requests.
#[test]
fn a_package_without_requests_is_reported_only_if_it_has_a_client() {
    let types = "use kube::CustomResource;\nfn main() { println!(\"{}\", 1); }\n";
    let idle = "use kube::{Api, Client};\nasync fn run(client: Client) { let _ = client; }\nfn main() {}\n";
    let without = "kube = { version = \"*\", default-features = false, features = [\"derive\"] }\n";
    assert_eq!(codes(&read(KUBE, types)), Vec::<&str>::new());
    assert_eq!(codes(&read(KUBE, idle)), ["OP402"]);
    assert_eq!(codes(&read(without, types)), Vec::<&str>::new());
    assert_eq!(codes(&read("framework = \"1\"\n", &idle.replace("kube::", "framework::kube::"))), ["OP402"]);
    let message = read(KUBE, idle).diagnostics.remove(0).message;
    assert_eq!(message, "no request to the API server was found in 1 file and 2 functions of `case`");
}

/// If opctl reported such a marker, removing it could cause 403 errors.
#[test]
fn nothing_is_called_unused_as_long_as_a_request_is_unknown() {
    let marker = "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=delete\n";
    let seen = "async fn run(client: Client) { let _ = Api::<Pod>::all(client).get(\"a\").await; }\nfn main() {}\n";
    let unseen = "// +opctl:allow:OP401 reason\nasync fn more(api: generated::Api) { let _ = api.get(\"a\").await; }\n";
    let unused =
        |code: String| grants::unused(&read(KUBE, &code).operator, &Home::default()).map(|unused| unused.len());
    assert_eq!(unused(format!("{USES}{marker}{seen}")), Some(1));
    assert_eq!(unused(format!("{USES}{marker}{seen}{unseen}")), None);
}
