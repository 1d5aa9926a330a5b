//! Every template renders for all kinds of answers to well-formed files: Rust formatted like rustfmt, valid YAML and
//! TOML, and no template syntax.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use opctl::scaffold::webhook::{self, Admission, Server, Webhooks};
use opctl::scaffold::{
    self, Ansible, Api, Chart, CoreType, File, Inserted, License, Project, Related, Rendered, RuntimeSource, Spec,
    Watch, Wiring, Workload,
};
use opctl_model::names::{ControllerName, Domain, Group, Image, Kind, Plural, ProjectName, Version};

fn project(license: &License, namespaced: bool, workspace: Option<&str>) -> Project {
    Project {
        name: ProjectName::parse("memcached-operator").unwrap(),
        domain: Domain::parse("example.com").unwrap(),
        namespaced,
        namespaces: Vec::new(),
        header: scaffold::license(license, "The Example Authors").0,
        spdx: license.spdx(),
        workspace: workspace.map(Into::into),
        runtime: RuntimeSource { version: "5.0.0".into(), path: Some("runtime".into()), is_vendored: true },
        adopted: None,
        charts: false,
        ansible: false,
    }
}

/// Projects with every license, scope and location, by name.
fn projects() -> Vec<(String, Project)> {
    let licenses = [License::None, License::Apache2, License::Mit, License::Header("// Mine\n//\n// alone".into())];
    let mut projects = Vec::new();
    for license in &licenses {
        for namespaced in [false, true] {
            for workspace in [None, Some("../..")] {
                let name = format!("{license:?} {namespaced} {workspace:?}");
                projects.push((name, project(license, namespaced, workspace)));
            }
        }
    }
    // The shortest and the longest name, and one that sorts before every crate.
    for name in ["m", "memcached-operator-for-tests", "aaa"] {
        let project = Project { name: ProjectName::parse(name).unwrap(), ..project(&License::None, false, None) };
        projects.push((name.into(), project));
    }
    projects
}

fn own(group: &str, version: &str, kind: &str) -> Api {
    Api {
        group: Group::parse(group).unwrap(),
        version: Version::parse(version).unwrap(),
        kind: Kind::parse(kind).unwrap(),
        plural: None,
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        core: None,
        wiring: Wiring::default(),
        workload: None,
        chart: None,
        ansible: None,
        has_image: false,
        finalizer: false,
    }
}

fn chart() -> Chart {
    Chart { folder: "nginx".into(), spec: spec(), adopted: None }
}

fn spec() -> Spec {
    Spec {
        fields: "    pub replicas: Option<i64>,\n".into(),
        others: "\n#[derive(JsonSchema)]\npub struct Other {\n    pub any: BTreeMap<String, Value>,\n}\n".into(),
        has_map: true,
        has_value: true,
        sample: " {}".into(),
        ..Spec::default()
    }
}

/// The spec of a kind with an imported CRD.
fn imported_spec() -> Spec {
    Spec {
        columns: vec![r#"    printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size")"#.into()],
        has_crd: true,
        is_optional: true,
        ..spec()
    }
}

/// A role, a playbook that runs a role, and a watch with all settings.
fn ansible() -> [Ansible; 3] {
    let role = Ansible { role: Some("memcached".into()), spec: spec(), ..Ansible::default() };
    let playbook = Ansible { playbook: Some("playbooks/memcached.yml".into()), ..role.clone() };
    let watch = Watch {
        calls: vec![".period(Duration::from_secs(60))".into(), ".snake_case(false)".into()],
        has_duration: true,
        ..Watch::default()
    };
    let watched = Ansible { playbook: None, role: Some("a.b.c".into()), spec: imported_spec(), watch: Some(watch) };
    [role, playbook, watched]
}

/// Optional parts of a controller: all together, and each one alone.
fn workloads() -> Vec<Workload> {
    let image = |text: &str| Image::parse(text).unwrap();
    let whole = Workload {
        image: image(&format!("registry.example.com/{}:v1", "a".repeat(90))),
        port: Some(11211),
        command: [
            "memcached",
            "--memory-limit=64",
            "-o",
            "modern",
            "say \"hi\"",
            "\\",
            "--a-long-word-that-fills-the-line",
        ]
        .map(str::to_owned)
        .into(),
        user: Some(1001),
    };
    let bare = Workload { image: image("busybox"), port: None, command: Vec::new(), user: None };
    let digest = format!("a@sha256:{}", "0".repeat(128));
    let short = Workload { image: image(&digest), port: Some(1), command: vec!["sh".into()], ..bare.clone() };
    vec![whole, bare, short]
}

/// Kinds of every length and form, in groups of every form.
fn own_apis() -> Vec<Api> {
    let forty = "Abcdefghij".repeat(4);
    let mut apis = vec![own("cache", "v1alpha1", "Memcached")];
    for kind in ["A", "HTTPRoute", "Job", "Node", "Service", "Value", "Patch", "Call", "MemcachedCluster", &forty] {
        for group in ["a", "metrics-server", "a.b", "3scale", "type"] {
            apis.push(own(group, "v1", kind));
        }
    }
    // Every length at which a line may just fit.
    apis.extend((2..=63).map(|length| own("cache", "v1beta1", &format!("K{}", "k".repeat(length - 1)))));
    apis.extend([true, false].map(|namespaced| Api {
        plural: Some(Plural::parse("memcachedes").unwrap()),
        short_names: vec!["mc".into(), "memc".into()],
        categories: vec!["all".into()],
        namespaced,
        ..own("cache", "v1", "Memcached")
    }));
    apis
}

fn core_apis() -> Vec<Api> {
    let core = |group: &str, api_group: &str, kind: &str, rust_path: &str, namespaced: bool| {
        let core = CoreType { group: api_group.into(), rust_path: format!("k8s_openapi::api::{rust_path}") };
        Api { core: Some(core), namespaced, ..own(group, "v1", kind) }
    };
    let admission = "admissionregistration.k8s.io";
    let policy = "ValidatingAdmissionPolicyBinding";
    vec![
        core("core", "", "Pod", "core::v1::Pod", true),
        core("core", "", "Node", "core::v1::Node", false),
        core("apps", "apps", "Deployment", "apps::v1::Deployment", true),
        core("networking.k8s.io", "networking.k8s.io", "Ingress", "networking::v1::Ingress", true),
        core(admission, admission, policy, &format!("admissionregistration::v1::{policy}"), false),
    ]
}

fn related(path: &str, group: &str, kind: &str, namespaced: bool, is_bare: bool) -> Related {
    let kind = Kind::parse(kind).unwrap();
    let plural = kind.plural();
    Related { rust_path: path.into(), kind, group: group.into(), plural, namespaced, is_bare }
}

/// Controllers with a name, which own and watch kinds of every form.
fn wired(api: &Api) -> Vec<Api> {
    let k8s = |path: &str, group: &str, namespaced, is_bare| {
        let kind = path.rsplit("::").next().unwrap();
        related(&format!("k8s_openapi::api::{path}"), group, kind, namespaced, is_bare)
    };
    let own = |kind: &str, namespaced| {
        let path = format!("crate::api::cache::v1::{}::{kind}", Kind::parse(kind).unwrap().module());
        related(&path, "cache.example.com", kind, namespaced, false)
    };
    let config_map = k8s("core::v1::ConfigMap", "core", true, true);
    let deployment = k8s("apps::v1::Deployment", "apps", true, false);
    let cluster_role = k8s("rbac::v1::ClusterRole", "rbac.authorization.k8s.io", false, false);
    let lists = [
        (vec![], vec![]),
        (vec![config_map.clone()], vec![]),
        (vec![deployment.clone(), own(&"Abcdefghij".repeat(4), true)], vec![config_map.clone()]),
        (vec![], vec![config_map, cluster_role.clone(), own(&"Abcdefghij".repeat(4), false)]),
        (
            vec![
                own("A", true),
                own("Ingress", true),
                k8s("networking::v1::Ingress", "networking.k8s.io", true, false),
            ],
            vec![],
        ),
    ];
    let mut all = Vec::new();
    for (owns, watches) in lists {
        let others = |kinds: Vec<Related>| kinds.into_iter().filter(|it| it.kind != api.kind).collect::<Vec<_>>();
        let (owns, watches) = (others(owns), others(watches));
        for name in [None, Some("captain-backup-of-forty-characters-in-all")] {
            let name = name.map(|name| ControllerName::parse(name).unwrap());
            all.push(Api { wiring: Wiring { name, owns: owns.clone(), watches: watches.clone() }, ..api.clone() });
        }
    }
    if !api.namespaced {
        let wiring = Wiring { owns: vec![cluster_role, deployment], ..Wiring::default() };
        all.push(Api { wiring, ..api.clone() });
    }
    all
}

/// Each webhook that a kind can have.
fn webhooks(project: &Project, api: &Api, server: Option<Server>) -> Webhooks {
    let admissions = [Admission::Defaulting, Admission::Validation].map(|it| (it, it.path(project, api)));
    let spoke = Version::parse("v1alpha2").unwrap();
    Webhooks { server, admissions: admissions.into(), conversion: api.core.is_none().then(|| vec![spoke]) }
}

/// All rendered files, by a name that identifies their input.
fn everything() -> &'static BTreeMap<String, File> {
    static EVERYTHING: OnceLock<BTreeMap<String, File>> = OnceLock::new();
    EVERYTHING.get_or_init(scaffold_everything)
}

fn scaffold_everything() -> BTreeMap<String, File> {
    let mut all = BTreeMap::new();
    let mut put = |from: &str, files: Vec<File>| {
        for file in files {
            assert!(all.insert(format!("{from}: {}", file.path), file).is_none());
        }
    };
    for (name, project) in projects() {
        put(&name, scaffold::init(&project));
    }
    for workspace in [None, Some("..")] {
        let project = Project { charts: true, ..project(&License::None, false, workspace) };
        put(&format!("charts {workspace:?}"), scaffold::init(&project));
        put(&format!("helm {workspace:?}"), scaffold::helm(&project).files);
        let project = Project { charts: workspace.is_none(), ansible: true, ..project };
        put(&format!("init for ansible {workspace:?}"), scaffold::init(&project));
        put(&format!("ansible {workspace:?}"), scaffold::ansible(&project).files);
    }
    for project in [project(&License::Apache2, false, None), project(&License::None, true, None)] {
        let license = project.spdx.unwrap_or("none");
        let mut kind = |what: &str, api: &Api, rendered: Rendered| {
            let Api { group, version, kind, namespaced, finalizer, workload, .. } = api;
            let image = workload.as_ref().map(|workload| workload.image.as_str());
            let from = format!("{license} {what} {group}/{version} {kind} {namespaced} {finalizer} {image:?}");
            let from = format!("{from} {:?}", workload.as_ref().and_then(|workload| workload.port));
            let from = format!("{from} {:?}", api.wiring);
            // Each insertion into a file has the same base text.
            let base = |each: scaffold::Insertion| Some((each.path, each.base?));
            let bases: BTreeMap<_, _> = rendered.insertions.into_iter().filter_map(base).collect();
            put(&from, rendered.files);
            put(&from, bases.into_iter().map(|(path, text)| File { path, text }).collect());
        };
        for api in own_apis() {
            kind("api", &api, scaffold::api(&project, &api));
            kind("controller", &api, scaffold::controller(&project, &api));
            // The optional parts of a controller do not depend on the license header.
            if license == "none" {
                continue;
            }
            if api.namespaced {
                let api = Api { chart: Some(chart()), ..api.clone() };
                kind("chart api", &api, scaffold::api(&project, &api));
                kind("chart controller", &api, scaffold::controller(&project, &api));
            }
            for (number, ansible) in ansible().into_iter().enumerate() {
                let api = Api { ansible: Some(ansible.clone()), ..api.clone() };
                kind(&format!("ansible api {number}"), &api, scaffold::api(&project, &api));
                kind(&format!("ansible controller {number}"), &api, scaffold::controller(&project, &api));
                let path = ansible.playbook.as_deref().unwrap_or("playbooks/x.yml");
                let files = [scaffold::role(&project, &api, "memcached"), scaffold::playbook(&project, &api, path)];
                let files = Rendered { files: files.concat(), insertions: Vec::new() };
                kind(&format!("what ansible runs {number}"), &api, files);
            }
            let api = Api { finalizer: true, ..api };
            kind("controller", &api, scaffold::controller(&project, &api));
            // All combinations for two names, and one for every other name.
            let combinations = if ["A", "HTTPRoute"].contains(&api.kind.as_str()) { 6 } else { 1 };
            let workloads =
                workloads().into_iter().flat_map(|each| [true, false].map(|finalizer| (each.clone(), finalizer)));
            for (workload, finalizer) in workloads.filter(|_| api.namespaced).take(combinations) {
                let api = Api { workload: Some(workload), has_image: true, finalizer, ..api.clone() };
                kind("api", &api, scaffold::api(&project, &api));
                kind("controller", &api, scaffold::controller(&project, &api));
            }
        }
        for api in core_apis() {
            for finalizer in [false, true] {
                let api = Api { finalizer, ..api.clone() };
                kind("core", &api, scaffold::controller(&project, &api));
            }
        }
        // The source of certificates does not depend on the kind, nor the header on either.
        let (server, count) =
            if license == "none" { (Server::OwnCertificate, usize::MAX) } else { (Server::CertManager, 1) };
        for api in own_apis().into_iter().chain(core_apis()).take(count) {
            let all = webhooks(&project, &api, Some(server));
            kind("webhooks", &api, webhook::webhooks(&project, &api, &all));
        }
        let forty = "Abcdefghij".repeat(4);
        let external = CoreType { group: "cert-manager.io".into(), rust_path: "crate::external::x::Cert".into() };
        let external = Api { core: Some(external), ..own("cert-manager.io", "v1", "Certificate") };
        let mut subjects =
            vec![own("cache", "v1", "Memcached"), own("cache", "v1", "B"), own("cache", "v1", &forty), external];
        subjects.push(Api { namespaced: false, ..own("cache", "v1", "Cluster") });
        for api in subjects.into_iter().chain(core_apis()).flat_map(|api| wired(&api)) {
            for finalizer in [false, true] {
                let api = Api { finalizer, ..api.clone() };
                let what = if api.core.is_some() { "wired core" } else { "wired" };
                kind(what, &api, scaffold::controller(&project, &api));
                if api.core.is_some() {
                    continue;
                }
                let of_image = Api { has_image: true, ..api.clone() };
                kind("wired beside an image", &of_image, scaffold::controller(&project, &of_image));
                for workload in workloads().into_iter().filter(|_| api.namespaced) {
                    let api = Api { workload: Some(workload), has_image: true, ..api.clone() };
                    kind("wired image", &api, scaffold::controller(&project, &api));
                }
            }
        }
    }
    all
}

#[test]
fn no_trace_of_the_template_language_is_left() {
    for (name, file) in everything() {
        for trace in ["[=", "=]", "[%", "%]", "[#", "#]"] {
            assert!(!file.text.contains(trace), "{name} contains `{trace}`");
        }
        for trace in ["_group_", "_version_", "_kind_", "_sample_", ".tera"] {
            assert!(!file.path.contains(trace), "{name}");
        }
        assert!(file.text.ends_with('\n') && !file.text.ends_with("\n\n"), "{name} does not end in one newline");
        assert!(!file.text.contains("\n\n\n"), "{name} has two empty lines in a row");
        for (index, line) in file.text.lines().enumerate() {
            assert_eq!(line, line.trim_end(), "{name}:{} ends in a space", index + 1);
        }
    }
}

#[test]
fn rust_parses_and_rustfmt_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = BTreeMap::new();
    for (name, file) in everything() {
        if file.path.ends_with(".rs") {
            syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{name}: {error}"));
            seen.entry(&file.text).or_insert(name);
        }
    }
    // Without a body, rustfmt would look for the file of each `mod x;`.
    let with_bodies = |line: &str| match line.strip_suffix(";\n") {
        Some(start) if start.starts_with("pub mod ") || start.starts_with("mod ") => format!("{start} {{}}\n"),
        _ => line.to_owned(),
    };
    let paths: Vec<_> = (0..seen.len()).map(|index| folder.path().join(format!("{index}.rs"))).collect();
    for (text, path) in seen.keys().zip(&paths) {
        std::fs::write(path, text.split_inclusive('\n').map(with_bodies).collect::<String>()).unwrap();
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let start = |paths: &[std::path::PathBuf]| {
        let mut rustfmt = Command::new("rustfmt");
        rustfmt.args(["--edition", "2024", "--check"]).args(paths).stdout(Stdio::piped()).stderr(Stdio::piped());
        rustfmt.spawn().unwrap()
    };
    // Runs all rustfmt processes concurrently.
    let running: Vec<_> = paths.chunks(paths.len().div_ceil(cores)).map(start).collect();
    let outputs: Vec<_> = running.into_iter().map(|rustfmt| rustfmt.wait_with_output().unwrap()).collect();
    let said = outputs.iter().flat_map(|output| [&output.stdout, &output.stderr]);
    let mut report: String = said.map(|text| String::from_utf8_lossy(text)).collect();
    for (name, path) in seen.values().zip(&paths) {
        report = report.replace(&format!("{}:", path.display()), &format!("{name}:"));
    }
    assert!(outputs.iter().all(|output| output.status.success()), "{report}");
}

#[test]
fn yaml_and_toml_parse() {
    for (name, file) in everything() {
        if file.path.ends_with(".yaml") || file.path.ends_with(".yml") {
            let documents = opctl_model::yaml::read_all(&file.text).unwrap_or_else(|error| panic!("{name}: {error}"));
            // Playbooks and task files are lists.
            let is_ansible = ["molecule/", "playbooks/", "roles/"].iter().any(|folder| file.path.starts_with(folder));
            let fits = |document: &serde_json::Value| document.is_object() || is_ansible && document.is_array();
            assert!(documents.iter().all(fits), "{name} has what is not a mapping");
        }
        if file.path.ends_with(".toml") {
            file.text.parse::<toml_edit::DocumentMut>().unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn the_header_starts_every_source_file() {
    let sources = [".rs", ".yaml", ".yml", ".toml", "Makefile", "Dockerfile"];
    for (license, first) in
        [(License::Apache2, "Copyright The Example Authors"), (License::Header("Mine".into()), "Mine")]
    {
        let project = project(&license, false, None);
        let api = own("cache", "v1", "Memcached");
        let of_kind = [scaffold::api(&project, &api), scaffold::controller(&project, &api)];
        let files = scaffold::init(&project).into_iter().chain(of_kind.into_iter().flat_map(|each| each.files));
        for file in files.filter(|file| sources.iter().any(|end| file.path.ends_with(end))) {
            let sign = if file.path.ends_with(".rs") { "//" } else { "#" };
            assert!(file.text.starts_with(&format!("{sign} {first}\n")), "{}", file.path);
        }
    }
}

#[test]
fn a_kind_says_what_to_insert_where() {
    let project = project(&License::None, false, None);
    let api = own("metrics-server", "v1", "HTTPRoute");
    let insertions = |rendered: Rendered| -> Vec<String> {
        let describe = |each: scaffold::Insertion| {
            let what = match each.what {
                Inserted::Module(name) => format!("mod {name}"),
                Inserted::ListItem { function, item } => format!("{function}: {item}"),
                Inserted::YamlItem { key, item } => format!("{key}: {item}"),
                Inserted::Feature { dependency, feature } => format!("{dependency}: {feature}"),
                Inserted::KubeArgument { version, argument, .. } => format!("{version}: {argument}"),
                Inserted::NoKubeArgument { version, argument, .. } => format!("{version}: no {argument}"),
            };
            format!("{} {} {what}", if each.base.is_some() { "new" } else { "old" }, each.path)
        };
        rendered.insertions.into_iter().map(describe).collect()
    };
    assert_eq!(
        insertions(scaffold::api(&project, &api)),
        [
            "old src/api/mod.rs mod metrics_server",
            "new src/api/metrics_server/mod.rs mod v1",
            "new src/api/metrics_server/v1/mod.rs mod http_route",
            "old src/api/mod.rs all: metrics_server::v1::http_route::HTTPRoute::crd()",
            "old config/samples/kustomization.yaml resources: metrics-server_v1_httproute.yaml",
        ]
    );
    assert_eq!(
        insertions(scaffold::controller(&project, &api)),
        [
            "old src/controller/mod.rs mod metrics_server",
            "new src/controller/metrics_server/mod.rs mod http_route",
            "old src/controller/mod.rs all: metrics_server::http_route::controller()",
        ]
    );
    let (api, spoke) = (own("server", "v1", "HTTPRoute"), Version::parse("v2").unwrap());
    let later = Webhooks { server: None, admissions: Vec::new(), conversion: Some(vec![spoke]) };
    assert_eq!(
        insertions(webhook::webhooks(&project, &api, &later)),
        [
            "old src/webhook/mod.rs mod server",
            "new src/webhook/server/mod.rs mod v1",
            "new src/webhook/server/v1/mod.rs mod http_route",
            "new src/webhook/server/v1/http_route/mod.rs mod conversion",
            "old Cargo.toml opctl-runtime: conversion",
            "old src/webhook/mod.rs all: server::v1::http_route::conversion::webhook()",
            "old src/api/server/v1/http_route.rs v1: no storage = false",
            "new src/webhook/server/v1/http_route/conversion.rs spokes: Spoke::of::<api::v2::http_route::HTTPRoute>()",
            "old src/api/server/v2/mod.rs mod http_route_conversion",
            "old src/api/server/v2/http_route.rs v2: storage = false",
        ]
    );
}

/// A project only contains code for its own kinds; everything else is in the runtime.
#[test]
fn the_code_of_a_project_stays_short() {
    let (project, api) = (project(&License::None, false, None), own("cache", "v1alpha1", "Memcached"));
    let mut files = scaffold::init(&project);
    for rendered in [scaffold::api(&project, &api), scaffold::controller(&project, &api)] {
        files.extend(rendered.files);
    }
    let lines = |file: &&scaffold::File| file.text.lines().count();
    let rust = || files.iter().filter(|file| file.path.ends_with(".rs"));
    assert!(rust().map(|file| lines(&file)).sum::<usize>() <= 600);
    assert!(rust().find(|file| file.path == "src/main.rs").is_some_and(|file| lines(&file) <= 25));
    let controller = rust().find(|file| file.path == "src/controller/cache/memcached.rs").unwrap();
    let code = controller.text.split("#[cfg(test)]").next().unwrap();
    assert!(code.lines().count() <= 120, "{code}");
}

/// Names with an upper-case first letter in the `use` items of a template.
fn imported_types(template: &str) -> BTreeSet<&str> {
    let lines = template.lines().filter_map(|line| line.split_once("use ").map(|(_, path)| path));
    let paths = lines.filter(|path| path.contains("::") && path.contains(';') && !path.starts_with("crate::"));
    let words = paths.flat_map(|path| path.split(|c: char| !c.is_alphanumeric()));
    // The spec and the status of the kind itself.
    words
        .filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase()) && !["Spec", "Status"].contains(word))
        .collect()
}

#[test]
fn a_kind_has_another_type_if_its_files_import_one_of_its_name() {
    // Templates for webhooks rename the type themselves; those for conversions import it as `Hub` and `Spoke`.
    let by_alias = ["webhook", "defaulting", "validation", "conversion-hub", "conversion-spoke", "project"];
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let watches = vec![related("k8s_openapi::api::core::v1", "core", "Node", false, true)];
    let mut checked = 0;
    for entry in walkdir::WalkDir::new(&templates).into_iter().map(Result::unwrap) {
        let path = entry.path().strip_prefix(&templates).unwrap().to_str().unwrap().replace('\\', "/");
        let bundle = path.split('/').next().unwrap();
        if !path.ends_with(".rs.tera") || bundle == "runtime" || by_alias.contains(&bundle) {
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap();
        for name in imported_types(&text) {
            let kind = Kind::parse(name).unwrap();
            let with_options = [
                Api { workload: workloads().pop(), ..own("a", "v1", name) },
                Api { chart: Some(chart()), ..own("a", "v1", name) },
                Api { ansible: Some(Ansible::default()), ..own("a", "v1", name) },
                Api { wiring: Wiring { watches: watches.clone(), ..Wiring::default() }, ..own("a", "v1", name) },
            ];
            let is_refused = with_options.iter().any(|api| scaffold::option_that_imports(api).is_some());
            // Except in tests of charts, which do not use the kind.
            assert!(kind.type_name() != name || is_refused || name == "Path", "{path}: {name}");
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked} imports");
}
