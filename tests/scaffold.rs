//! Every template renders for every kind of answer, and what it makes is well formed: Rust that rustfmt would not
//! change, YAML and TOML that parse, no trace of the template language.

use std::collections::BTreeMap;
use std::process::Command;

use opctl::names::{Domain, Group, Kind, Plural, ProjectName, Version};
use opctl::scaffold::{self, Api, CoreType, File, Inserted, License, Project, Rendered};

fn project(license: &License, namespaced: bool, workspace: Option<&str>) -> Project {
    Project {
        name: ProjectName::parse("memcached-operator").unwrap(),
        domain: Domain::parse("example.com").unwrap(),
        namespaced,
        header: scaffold::license(license, "The Example Authors").0,
        spdx: license.spdx(),
        workspace: workspace.map(Into::into),
    }
}

/// Projects of every license, scope and place, by a name for each.
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
    }
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

/// All that is rendered, by a name that says where it came from.
fn everything() -> BTreeMap<String, File> {
    let mut all = BTreeMap::new();
    let mut put = |from: &str, files: Vec<File>| {
        for file in files {
            assert!(all.insert(format!("{from}: {}", file.path), file).is_none());
        }
    };
    for (name, project) in projects() {
        put(&name, scaffold::init(&project));
    }
    for project in [project(&License::Apache2, false, None), project(&License::None, true, None)] {
        let license = project.spdx.unwrap_or("none");
        let mut kind = |what: &str, api: &Api, rendered: Rendered| {
            let from = format!("{license} {what} {}/{} {} {}", api.group, api.version, api.kind, api.namespaced);
            let base = |each: scaffold::Insertion| Some(File { path: each.path, text: each.base? });
            put(&from, rendered.files);
            put(&from, rendered.insertions.into_iter().filter_map(base).collect());
        };
        for api in own_apis() {
            kind("api", &api, scaffold::api(&project, &api));
            kind("controller", &api, scaffold::controller(&project, &api));
        }
        for api in core_apis() {
            kind("core", &api, scaffold::controller(&project, &api));
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
            seen.entry(file.text).or_insert(name);
        }
    }
    // One rustfmt for all of them. It would look for the file of each `mod x;`.
    let with_bodies = |line: &str| match line.strip_suffix(";\n") {
        Some(start) if start.starts_with("pub mod ") || start.starts_with("mod ") => format!("{start} {{}}\n"),
        _ => line.to_owned(),
    };
    let paths: Vec<_> = (0..seen.len()).map(|index| folder.path().join(format!("{index}.rs"))).collect();
    for (text, path) in seen.keys().zip(&paths) {
        std::fs::write(path, text.split_inclusive('\n').map(with_bodies).collect::<String>()).unwrap();
    }
    let output = Command::new("rustfmt").args(["--edition", "2024", "--check"]).args(&paths).output().unwrap();
    let mut report = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    for (name, path) in seen.values().zip(&paths) {
        report = report.replace(&format!("{}:", path.display()), &format!("{name}:"));
    }
    assert!(output.status.success(), "{report}");
}

#[test]
fn yaml_and_toml_parse() {
    for (name, file) in everything() {
        if file.path.ends_with(".yaml") || file.path.ends_with(".yml") {
            for document in yaml_serde::Deserializer::from_str(&file.text) {
                let value: yaml_serde::Value =
                    serde::Deserialize::deserialize(document).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(value.is_mapping(), "{name} is not a mapping");
            }
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
            "old src/controller/mod.rs all: metrics_server::http_route::CONTROLLER",
        ]
    );
}
