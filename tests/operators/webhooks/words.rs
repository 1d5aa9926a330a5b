//! Repeated commands, commands in another order, edited files, and kinds whose names conflict.

use super::project::{BuildFolder, Files, Project};
use super::trees::{OWN, POD, two_versions};

const FLAGS: [&str; 3] = ["--defaulting", "--validation", "--conversion --spoke v1alpha1"];

fn create(subject: &str, flags: &str) -> String {
    format!("opctl create webhook {subject} {flags}")
}

#[test]
fn the_order_does_not_matter() {
    let pod = create(POD, "--defaulting --validation");
    let at_once = Project::of(two_versions(), &[&create(OWN, &FLAGS.join(" ")), &pod]);
    let in_order = |order: [usize; 3], pod_first: bool| {
        let mut lines: Vec<String> = order.map(|place| create(OWN, FLAGS[place])).into();
        for flag in &FLAGS[..2] {
            lines.insert(if pod_first { 0 } else { lines.len() }, create(POD, flag));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        Project::of(two_versions(), &lines)
    };
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        same(&at_once.files(), &in_order(order, false).files());
    }
    // PROJECT lists resources in the order of their creation.
    let (mut one, mut other) = (at_once.files(), in_order([2, 1, 0], true).files());
    assert!(one.remove("PROJECT").is_some() && other.remove("PROJECT").is_some());
    same(&one, &other);
}

fn same(one: &Files, other: &Files) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (path, text) in one {
        assert_eq!(String::from_utf8_lossy(text), String::from_utf8_lossy(&other[path]), "{path}");
    }
}

#[test]
fn a_second_run_changes_nothing() {
    let lines = [create(OWN, &FLAGS.join(" ")), create(POD, "--defaulting")];
    let project = Project::of(two_versions(), &lines.each_ref().map(String::as_str));
    let before = project.files();
    for line in lines {
        let said = project.shell(&line);
        assert!(said.contains("up to date") || said.contains("nothing to do"), "{said}");
        project.shell(&format!("{line} --check"));
    }
    same(&before, &project.files());
}

#[test]
fn a_handler_that_was_edited_stays() {
    let project = Project::of(two_versions(), &[&create(OWN, "--defaulting")]);
    let handler = "src/webhook/cache/v1/backup/defaulting.rs";
    project.replace(handler, "    Ok(())", "    // Ours.\n    Ok(())");
    let before = project.files();
    for flags in ["--defaulting", "--defaulting --validation"] {
        let refused = project.try_shell(&create(OWN, flags));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("error: `{handler}` exists already, and was edited\n")), "{said}");
        assert!(said.contains("  help: leave it out of what is asked for, and edit it by hand\n"), "{said}");
        same(&before, &project.files());
    }

    for flags in &FLAGS[1..] {
        project.shell(&create(OWN, flags));
    }
    assert!(project.read(handler).contains("// Ours."));
    project.is_sound();
    let whole = Project::of(two_versions(), &[&create(OWN, &FLAGS.join(" "))]);
    whole.replace(handler, "    Ok(())", "    // Ours.\n    Ok(())");
    same(&whole.files(), &project.files());

    project.shell(&format!("{} --overwrite {handler}", create(OWN, "--defaulting")));
    assert!(!project.read(handler).contains("// Ours."));
}

/// For one namespace: kinds with names of the server's items, a group with the name of its folder, and an external
/// kind.
#[test]
fn names_that_are_taken() {
    let project = Project::new(&[
        "opctl init --domain example.com --project-name shop --namespaced",
        "opctl create api --group cache --version v1 --kind Webhook",
        "opctl create api --group cache --version v1alpha1 --kind Webhook --controller=false",
        "opctl create api --group server --version v1 --kind Request --controller=false",
        "opctl create api --group server --version v1beta1 --kind Request --controller=false",
        "opctl create webhook --group cache --version v1 --kind Webhook --defaulting --validation --conversion --spoke v1alpha1",
        "opctl create webhook --group server --version v1 --kind Request --defaulting --validation --conversion --spoke v1beta1",
        EXTERNAL,
        "opctl create webhook --external-type crate::workload::Workload --group apps --version v1 --kind Deployment \
         --defaulting --validation",
    ]);
    project.is_sound();
    let manifests = project.read("config/webhook/manifests.yaml");
    let selector = "  namespaceSelector:\n    matchExpressions:\n    - key: kubernetes.io/metadata.name\n      \
                    operator: In\n      values:\n      - shop-system\n";
    assert_eq!(manifests.matches(selector).count(), 6, "{manifests}");
    BuildFolder::new("taken", "").compiles(&project.files());
}

/// A type of the user for a kind of another project.
const EXTERNAL: &str = r"printf '//! What we read of it.\n\nuse k8s_openapi::api::apps::v1::Deployment;\nuse kube::Resource;
use kube::api::ObjectMeta;\nuse serde::{Deserialize, Serialize};\n
#[derive(Clone, Debug, Deserialize, Resource, Serialize)]\n#[resource(inherit = Deployment)]\npub struct Workload {
    pub metadata: ObjectMeta,\n}\n' > src/workload.rs && printf 'pub mod workload;\n' >> src/lib.rs";

/// For several namespaces, below the root of a workspace.
#[test]
fn a_member_of_a_workspace() {
    let project = Project::new(&[
        "mkdir -p tools/src && echo 'fn main() {}' > tools/src/main.rs",
        r#"printf '[package]\nname = "tools"\nversion = "0.1.0"\nedition = "2024"\n' > tools/Cargo.toml"#,
        r#"printf '[workspace]\nresolver = "3"\nmembers = [\n    "tools",\n]\n' > Cargo.toml"#,
        "opctl init operators/shop --domain example.com --api cache/v1/Backup --watch-namespace a,b",
        "cd operators/shop && opctl create api --group cache --version v1alpha1 --kind Backup --controller=false",
        "cd operators/shop && opctl create webhook --group cache --version v1 --kind Backup --defaulting --validation \
         --conversion --spoke v1alpha1",
        "cd operators/shop && opctl create webhook --group core --version v1 --kind Pod --defaulting",
        "cd operators/shop && opctl manifests --check && opctl check --deny-warnings",
    ]);
    let manifests = project.read("operators/shop/config/webhook/manifests.yaml");
    let selector = "      operator: In\n      values:\n      - a\n      - b\n";
    assert_eq!(manifests.matches(selector).count(), 3, "{manifests}");
    BuildFolder::new("workspace", "operators/shop/").compiles(&project.files());
}
