//! `opctl delete api` is the inverse of `opctl create api`.

use std::collections::BTreeMap;
use std::fs;

use opctl_model::project::ProjectFile;

use crate::edits::files;
use crate::golden::{can_be_made, names};
use crate::golden_copies::{golden_copy, third};
use crate::project::assert_same;
use crate::sandbox::{Sandbox, shell};

/// Names of kinds, and more options.
const KINDS: [(&str, &str); 6] = [
    ("--group zoo --version v1 --kind Zebra", ""),
    ("--group zoo --version v1beta1 --kind Ape", "--owns core/v1/ConfigMap --watches core/v1/Secret --finalizer"),
    ("--group zoo --version v1 --kind Bear", "--image nginx --container-port 80"),
    ("--group ant --version v1 --kind Colony", "--namespaced=false --shortname col --category all --plural colonies"),
    ("--group batch --version v1 --kind CronJob", "--resource=false"),
    ("--group cave --version v1alpha1 --kind Cave", "--controller=false"),
];

/// Kinds are added to whatever a project already has.
#[test]
fn what_was_created_can_be_deleted_from_every_golden_project() {
    for (number, name) in third(0, names().iter().enumerate()).filter(|(_, name)| can_be_made(name)) {
        let sandbox = golden_copy(name);
        let before = files(&sandbox);
        // Not all kinds in each, since there are many projects.
        for (names, options) in [KINDS[number % 3], KINDS[3 + number % 3]] {
            shell(&sandbox, &format!("opctl create api --yes {names} {options}"));
            shell(&sandbox, &format!("opctl delete api {names}"));
            assert_same(&before, &files(&sandbox), &format!("{name}: {names}"));
        }
    }
}

#[test]
fn several_are_deleted_in_any_order() {
    let sandbox = Sandbox::new();
    shell(&sandbox, "opctl init --project-name zoo --domain example.com");
    let before = files(&sandbox);
    for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 0, 4, 1, 5, 3]] {
        for (names, options) in KINDS {
            shell(&sandbox, &format!("opctl create api --yes {names} {options}"));
        }
        for index in order {
            shell(&sandbox, &format!("opctl delete api {}", KINDS[index].0));
            shell(&sandbox, "opctl manifests --check");
        }
        assert_same(&before, &files(&sandbox), &format!("{order:?}"));
    }
}

/// The webhooks of a kind with three versions.
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
        let before = files(&sandbox);
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            for (number, (webhook, _)) in WEBHOOKS.iter().enumerate() {
                let server = if number == 0 { server } else { "" };
                shell(&sandbox, &format!("opctl create webhook --yes {kind} {webhook} {server}"));
            }
            for index in order {
                shell(&sandbox, &format!("opctl delete webhook {kind} {}", WEBHOOKS[index].1));
                shell(&sandbox, "opctl manifests --check");
            }
            // The metrics still use cert-manager.
            shell(&sandbox, "opctl edit --cert-manager=false");
            assert_same(&before, &files(&sandbox), &format!("{server} {order:?}"));
        }
    }
}

/// The project's own kinds, with the number of their versions.
fn own_kinds(sandbox: &Sandbox) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(sandbox.folder.join("PROJECT")).unwrap();
    let mut kinds = BTreeMap::new();
    for it in ProjectFile::parse(&text).unwrap().resources.iter().filter(|resource| resource.api.is_some()) {
        *kinds.entry(format!("--group {} --kind {}", it.group, it.kind)).or_default() += 1;
    }
    kinds
}

#[test]
fn a_further_version_of_every_kind_is_created_and_deleted_again() {
    for name in third(1, &names()).filter(|name| can_be_made(name)) {
        let sandbox = golden_copy(name);
        let before = files(&sandbox);
        for (number, (kind, versions)) in own_kinds(&sandbox).iter().take(2).enumerate() {
            // With several versions, the others are still converted. A webhook server is large, so it is not added for
            // each kind.
            let conversion = if (number, *versions) == (0, 1) { "--conversion" } else { "" };
            shell(&sandbox, &format!("opctl create api --yes {kind} --version v7beta1 {conversion}"));
            shell(&sandbox, "opctl manifests --check");
            shell(&sandbox, "opctl update --check");
            shell(&sandbox, &format!("opctl create api --yes {kind} --version v7beta1 --check"));
            shell(&sandbox, &format!("opctl delete version {kind} --version v7beta1"));
            assert_same(&before, &files(&sandbox), &format!("{name}: {kind}"));
        }
    }
}

/// A kind whose types are in several files.
fn edited() -> Sandbox {
    let sandbox = Sandbox::new();
    shell(&sandbox, "opctl init --project-name zoo --domain example.com --api zoo/v1/Zebra");
    let types = sandbox.folder.join("src/api/zoo/v1/zebra.rs");
    let text = fs::read_to_string(&types).unwrap();
    let text = text
        .replace("use serde::{", "use super::common::{Size, sizes::Unit};\nuse crate::shared::Color;\nuse serde::{")
        .replace("pub struct ZebraSpec {", "pub struct ZebraSpec {\n    /// As of zoo.example.com/v1.\n    pub size: Size,\n    // Mine.\n    pub unit: Option<Unit>,\n    pub color: Option<Color>,")
        .replace("    namespaced,", "    namespaced,\n    shortname = \"zb\",");
    fs::write(&types, text).unwrap();
    let derive =
        "#[derive(Clone, Debug, Default, serde::Deserialize, PartialEq, serde::Serialize, schemars::JsonSchema)]";
    let write = |path: &str, text: String| {
        let path = sandbox.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "src/api/zoo/v1/common/mod.rs",
        format!(
            "pub mod sizes;\n\n{derive}\npub struct Size {{ pub unit: Option<crate::api::zoo::v1::common::sizes::Unit> }}\n"
        ),
    );
    write("src/api/zoo/v1/common/sizes.rs", format!("{derive}\npub struct Unit {{ pub name: Option<String> }}\n"));
    write("src/shared.rs", format!("{derive}\npub struct Color {{ pub name: Option<String> }}\n"));
    shell(
        &sandbox,
        "sed -i 's/^pub mod zebra;/pub mod common;\\n&/' src/api/zoo/v1/mod.rs && sed -i 's/^pub mod api;/&\\npub mod shared;/' src/lib.rs",
    );
    shell(
        &sandbox,
        "sed -i 's/^spec: {}/spec:\\n  size: {} # in feet/' config/samples/zoo_v1_zebra.yaml && opctl manifests",
    );
    sandbox
}

fn read(sandbox: &Sandbox, path: &str) -> String {
    fs::read_to_string(sandbox.folder.join(path)).unwrap()
}

#[test]
fn a_version_is_copied_with_its_comments_and_its_own_types() {
    let sandbox = edited();
    let before = files(&sandbox);
    let output =
        sandbox.command("opctl").args("create api --group zoo --kind Zebra --version v2".split(' ')).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("`crate::shared"), "what is outside of the version's folder belongs to all: {text}");
    assert!(
        text.contains("opctl create webhook --group zoo --version v1 --kind Zebra --conversion --spoke v2"),
        "{text}"
    );

    let (old, new) = (read(&sandbox, "src/api/zoo/v1/zebra.rs"), read(&sandbox, "src/api/zoo/v2/zebra.rs"));
    let expected = old
        .replace("version = \"v1\",", "version = \"v2\",\n    storage = false,")
        .replace("zoo.example.com/v1", "zoo.example.com/v2");
    assert_eq!(new, expected);
    let common = read(&sandbox, "src/api/zoo/v2/common/mod.rs");
    assert!(common.contains("crate::api::zoo::v2::common::sizes::Unit"), "{common}");
    assert!(read(&sandbox, "src/api/zoo/v2/mod.rs").contains("pub mod common;\npub mod zebra;\n"));
    let sample = read(&sandbox, "config/samples/zoo_v2_zebra.yaml");
    assert!(sample.contains("apiVersion: zoo.example.com/v2\n") && sample.contains("size: {} # in feet"), "{sample}");
    let crd = read(&sandbox, "config/crd/bases/zoo.example.com_zebras.yaml");
    assert!(crd.contains("name: v2\n") && crd.contains("- zb\n"), "{crd}");
    shell(&sandbox, "opctl update --check && opctl manifests --check");
    shell(&sandbox, "opctl delete version --group zoo --kind Zebra --version v2");
    assert_same(&before, &files(&sandbox), "the same as before");
}

#[track_caller]
fn is_refused(sandbox: &Sandbox, arguments: &str, because: &str) {
    let before = files(sandbox);
    let output = sandbox.command("opctl").args(arguments.split_whitespace()).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments}: {text}");
    assert!(text.contains(because), "{arguments}: {text}");
    assert_same(&before, &files(sandbox), arguments);
}

#[test]
fn what_all_versions_share_is_refused_for_one() {
    let sandbox = edited();
    let create = "create api --group zoo --kind Zebra --version v2";
    is_refused(&sandbox, &format!("{create} --from v3"), "`Zebra` has no version v3 to copy");
    is_refused(&sandbox, &format!("{create} --shortname z"), "leave out `--shortname`");
    is_refused(&sandbox, &format!("{create} --namespaced=false"), "has another scope");
    is_refused(
        &sandbox,
        "create api --group zoo --kind Lion --version v2 --conversion",
        "`--conversion` is for a further version",
    );
    shell(
        &sandbox,
        "sed -i 's/use super::common::{Size/use super::{Stripes, common::Size/; s/, sizes::Unit};/};\\nuse super::common::sizes::Unit;/' src/api/zoo/v1/zebra.rs",
    );
    is_refused(&sandbox, create, "src/api/zoo/v1/zebra.rs:");
}

#[test]
fn a_version_that_may_be_stored_goes_in_two_steps() {
    let sandbox = Sandbox::new();
    let kind = "--group zoo --kind Zebra";
    shell(
        &sandbox,
        "opctl init --project-name zoo --domain example.com && opctl create api --group zoo --kind Zebra --version v1 --controller=false --yes",
    );
    shell(&sandbox, &format!("opctl create api --yes {kind} --version v2 --conversion"));
    is_refused(&sandbox, &format!("delete version {kind} --version v1"), "has webhooks");
    // As `docs/migrating.md` has it, v2 becomes the hub.
    shell(&sandbox, &format!("opctl delete webhook {kind} --version v1 --conversion"));
    is_refused(&sandbox, &format!("delete version {kind} --version v1"), "objects of `Zebra` are stored as v1");
    shell(&sandbox, "sed -i '/storage = false/d' src/api/zoo/v2/zebra.rs");
    shell(
        &sandbox,
        "sed -i 's/version = \"v1\",/&\\n    storage = false,/' src/api/zoo/v1/zebra.rs && opctl manifests",
    );
    shell(&sandbox, &format!("opctl create webhook --yes {kind} --version v2 --conversion --spoke v1"));

    shell(&sandbox, &format!("opctl delete version {kind} --version v1"));
    let types = read(&sandbox, "src/api/zoo/v1/zebra.rs");
    assert!(types.contains("served = false,\n") && types.contains("deprecated,\n"), "{types}");
    let crd = read(&sandbox, "config/crd/bases/zoo.example.com_zebras.yaml");
    assert!(crd.contains("served: false\n"), "{crd}");
    assert!(!read(&sandbox, "config/samples/kustomization.yaml").contains("zoo_v1_zebra"));
    shell(&sandbox, "opctl update --check && opctl manifests --check");

    let user = sandbox.folder.join("src/user.rs");
    fs::write(&user, "use crate::api::zoo::{v1::zebra::ZebraSpec, v2::zebra as newer};\n").unwrap();
    is_refused(&sandbox, &format!("delete version {kind} --version v1"), "`Zebra` v1 is used in 1 place");
    is_refused(&sandbox, &format!("delete version {kind} --version v1"), "src/user.rs:1:");
    fs::write(&user, b"// \xff\n").unwrap();
    is_refused(&sandbox, &format!("delete version {kind} --version v1"), "`src/user.rs` is not UTF-8");
    fs::write(&user, "use crate::api::zoo::v2::zebra as newer;\n").unwrap();
    shell(&sandbox, &format!("opctl delete version {kind} --version v1"));
    assert!(!sandbox.folder.join("src/api/zoo/v1").exists());
    assert!(!sandbox.folder.join("src/webhook").exists());
    shell(&sandbox, "opctl update --check && opctl manifests --check");
}
