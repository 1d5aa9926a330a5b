//! `opctl delete api` is the inverse of `opctl create api`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::golden::{Golden, can_be_made, names, shell};
use crate::sandbox::Sandbox;
use crate::{record, tree};

/// Every file, also those of the record of the scaffold.
fn all(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = tree::tree(folder);
    files.extend(record::record(folder));
    files
}

#[track_caller]
fn assert_same(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>, what: &str) {
    let differ = before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path));
    let differ: Vec<&String> = differ.collect();
    assert!(differ.is_empty(), "{what}: {differ:?}");
}

/// Names, and what else is asked for.
const KINDS: [(&str, &str); 6] = [
    ("--group zoo --version v1 --kind Zebra", ""),
    ("--group zoo --version v1beta1 --kind Ape", "--owns core/v1/ConfigMap --watches core/v1/Secret --finalizer"),
    ("--group zoo --version v1 --kind Bear", "--image nginx --container-port 80"),
    ("--group ant --version v1 --kind Colony", "--namespaced=false --shortname col --category all --plural colonies"),
    ("--group batch --version v1 --kind CronJob", "--resource=false"),
    ("--group cave --version v1alpha1 --kind Cave", "--controller=false"),
];

/// Beside whatever a project has already.
#[test]
fn what_was_created_can_be_deleted_from_every_golden_project() {
    for (number, name) in names().iter().enumerate().filter(|(_, name)| can_be_made(name)) {
        let sandbox = Golden::read(name).make(|_, _| {});
        let before = all(&sandbox.folder);
        // Not all of them in each: there are many projects.
        for (names, options) in [KINDS[number % 3], KINDS[3 + number % 3]] {
            shell(&sandbox, &format!("opctl create api --yes {names} {options}"));
            shell(&sandbox, &format!("opctl delete api {names}"));
            assert_same(&before, &all(&sandbox.folder), &format!("{name}: {names}"));
        }
    }
}

#[test]
fn several_are_deleted_in_any_order() {
    let sandbox = Sandbox::new();
    shell(&sandbox, "opctl init --project-name zoo --domain example.com");
    let before = all(&sandbox.folder);
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 0, 4, 1, 5, 3]] {
        for (names, options) in KINDS {
            shell(&sandbox, &format!("opctl create api --yes {names} {options}"));
        }
        for index in order {
            shell(&sandbox, &format!("opctl delete api {}", KINDS[index].0));
            shell(&sandbox, "opctl manifests --check");
        }
        assert_same(&before, &all(&sandbox.folder), &format!("{order:?}"));
    }
}

/// Of a kind with three versions.
#[test]
fn webhooks_are_deleted_in_any_order_and_the_server_with_the_last_one() {
    const WEBHOOKS: [(&str, &str); 4] = [
        ("--version v1 --defaulting", "--version v1 --defaulting"),
        ("--version v1beta1 --validation --validation-path /check", "--version v1beta1 --validation"),
        ("--version v1 --validation", "--version v1 --validation"),
        ("--version v1beta1 --conversion --spoke v1,v2", "--version v1beta1 --conversion"),
    ];
    let kind = "--group zoo --kind Zebra";
    for server in ["", "--cert-manager"] {
        let sandbox = Sandbox::new();
        shell(&sandbox, "opctl init --project-name zoo --domain example.com --api zoo/v1/Zebra");
        for version in ["v1beta1", "v2"] {
            shell(&sandbox, &format!("opctl create api {kind} --version {version} --controller=false --yes"));
        }
        let before = all(&sandbox.folder);
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            for (number, (webhook, _)) in WEBHOOKS.iter().enumerate() {
                let server = if number == 0 { server } else { "" };
                shell(&sandbox, &format!("opctl create webhook --yes {kind} {webhook} {server}"));
            }
            for index in order {
                shell(&sandbox, &format!("opctl delete webhook {kind} {}", WEBHOOKS[index].1));
                shell(&sandbox, "opctl manifests --check");
            }
            // The metrics still use it.
            shell(&sandbox, "opctl edit --cert-manager=false");
            assert_same(&before, &all(&sandbox.folder), &format!("{server} {order:?}"));
        }
    }
}
