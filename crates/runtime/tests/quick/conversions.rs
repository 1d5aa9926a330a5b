//! Conversions between the versions of `Backup` lose no field.

use std::env;
use std::process::Command;

use opctl_runtime::testing;

use crate::backups::{definitions, webhooks};

#[test]
fn nothing_is_lost() {
    // An annotation preserves each of these fields in the version that lacks it.
    let kept = [("v1", "spec.note"), ("v1alpha1", "spec.targets[].region")];
    let conversion = webhooks().into_iter().find(|webhook| webhook.path() == "/convert").unwrap();
    testing::round_trip(&conversion, &definitions(), &kept);
}

#[test]
fn a_thousand_objects_come_back() {
    let mut test = Command::new(env::current_exe().unwrap());
    let output = test.args(["--exact", "conversions::nothing_is_lost"]).env("ROUND_TRIPS", "1000").output().unwrap();
    let tested = String::from_utf8(output.stdout).unwrap();
    assert!(tested.contains("::nothing_is_lost ... ok\n"), "{tested}");
}
