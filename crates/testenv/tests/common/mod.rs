//! Helpers for tests with real test environments, here and in opctl.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use opctl_testenv::Assets;

use crate::skipped::skipped;

/// The programs for test environments. Without them, prints that the test is skipped.
pub fn assets() -> Option<Assets> {
    let assets = env::var_os("KUBEBUILDER_ASSETS").and_then(Assets::in_folder);
    if assets.is_none() {
        skipped("a test environment", "KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver");
    }
    assets
}

pub fn kubectl(kubeconfig: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("kubectl").args(arguments).env("KUBECONFIG", kubeconfig).output().unwrap();
    let said = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(said(output.stdout)) } else { Err(said(output.stderr)) }
}

/// The ids of the processes with this path in their command lines.
pub fn processes(mention: &Path) -> BTreeSet<u32> {
    let output = Command::new("ps").args(["-axwwo", "pid=,args="]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let ours = lines.lines().filter(|line| line.contains(mention.to_str().unwrap()));
    ours.map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect()
}

pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
        sleep(Duration::from_millis(50));
    }
}

/// The files in the folder of environments, except for its lock.
pub fn left(root: &Path) -> Vec<String> {
    let names = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lock").collect()
}
