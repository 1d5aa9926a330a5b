//! After any sequence of commands of one opctl version, with edits by the user in between, `opctl update` has nothing
//! to do.
//!
//! `OPCTL_SEQUENCES=1000 cargo test --test thorough sequences` sets the number of random sequences. A failure prints
//! its seed.
#![cfg(unix)]

use std::fs;
use std::process::Output;

use crate::cores::on_all_cores;
use crate::dice::Dice;
use crate::edits::files;
use crate::sandbox::Sandbox;

const RUNTIMES: &[&str] = &["", "--runtime registry", "--license none", "--namespaced", "--watch-namespace red,blue"];

const KINDS: &[(&str, &str)] = &[("cache", "Memcached"), ("cache", "Redis"), ("web", "Site"), ("batch", "CronJob")];

const VERSIONS: &[&str] = &["v1alpha1", "v1beta1", "v1"];

/// GROUP, KIND, VERSION and OTHER are replaced. A command that does not fit the project is rejected, and changes
/// nothing.
const COMMANDS: &[&str] = &[
    "create api --group GROUP --kind KIND --version VERSION",
    "create api --group GROUP --kind KIND --version VERSION --owns core/v1/ConfigMap --watches core/v1/Secret --finalizer",
    "create api --group GROUP --kind KIND --version VERSION --image nginx --container-port 80",
    "create api --group GROUP --kind KIND --version VERSION --controller=false --shortname k --category all",
    "create api --group GROUP --kind KIND --version VERSION --namespaced=false",
    "create api --group GROUP --kind KIND --version VERSION --conversion",
    "create api --group GROUP --kind KIND --version VERSION --controller-name second",
    "create api --group apps --kind Deployment --version v1 --resource=false",
    "create webhook --group GROUP --kind KIND --version VERSION --defaulting --validation",
    "create webhook --group GROUP --kind KIND --version VERSION --validation --cert-manager",
    "create webhook --group GROUP --kind KIND --version VERSION --conversion --spoke OTHER",
    "delete api --group GROUP --kind KIND --version VERSION",
    "delete webhook --group GROUP --kind KIND --version VERSION",
    "delete version --group GROUP --kind KIND --version VERSION",
    "rename kind --group GROUP --kind KIND --to Store",
    "rename kind --group GROUP --kind Store --to KIND",
    "rename group --group GROUP --to store",
    "rename project --to market",
    "rename domain --to example.org",
    "edit --namespaced",
    "edit --namespaced=false",
    "edit --cert-manager",
    "edit --cert-manager=false",
    "edit --leader-election --prometheus",
    "edit --leader-election=false",
    "edit --network-policy --grafana",
    "edit --grafana=false",
    "generate chart --image example.com/manager:v1",
    "generate kustomize manifests",
    "generate docs",
    "manifests",
    "check --fix",
];

fn opctl(sandbox: &Sandbox, line: &str) -> Output {
    sandbox.command("opctl").args(line.split_whitespace()).arg("--quiet").output().unwrap()
}

fn command(dice: &mut Dice) -> String {
    let (group, kind) = KINDS[dice.below(KINDS.len())];
    let (version, other) = (dice.pick(VERSIONS), dice.pick(VERSIONS));
    let line = dice.pick(COMMANDS).replace("GROUP", group).replace("KIND", kind);
    let needs_no_answers = if line.starts_with("create") { " --yes" } else { "" };
    line.replace("VERSION", version).replace("OTHER", other) + needs_no_answers
}

/// An edit of the user: code of a controller that needs more permissions, a field, or comments in any file.
fn edit(sandbox: &Sandbox, dice: &mut Dice) -> String {
    let paths: Vec<String> = files(sandbox).into_keys().filter(|path| !path.starts_with(".opctl/")).collect();
    let of_user = |path: &&String| path.ends_with(".rs") || path.starts_with("config/") && !path.contains("/bases/");
    let of_user: Vec<&String> = paths.iter().filter(of_user).filter(|path| !path.starts_with("runtime/")).collect();
    let path = if of_user.is_empty() { return String::new() } else { dice.pick(&of_user) };
    let text = fs::read_to_string(sandbox.folder.join(path)).unwrap();
    let new = text
        .replacen("::new(reconcile)", "::new(reconcile)\n        .owns::<k8s_openapi::api::core::v1::Service>()", 1)
        .replacen("    // Add fields", "    /// Mine.\n    pub mine: Option<String>,\n    // Add fields", 1);
    let is_rust = path.ends_with(".rs");
    // Generated files are not edited.
    let comment = if is_rust { "// Mine.\n" } else { "# Mine.\n" };
    let new = match () {
        () if text.starts_with(opctl_source::emit::HEADER) => return String::new(),
        () if new != text && dice.percent(60) => new,
        () => format!("{text}{comment}"),
    };
    fs::write(sandbox.folder.join(path), new).unwrap();
    format!("(edit of {path})")
}

/// The commands of a sequence after which `opctl update` has something to do, and its output.
fn wrong(seed: u64) -> Option<String> {
    let mut dice = Dice::new(seed);
    let sandbox = Sandbox::new();
    let mut lines = vec![format!("init --project-name shop --domain example.com {}", dice.pick(RUNTIMES))];
    assert!(opctl(&sandbox, &lines[0]).status.success());
    for _ in 0..dice.between(3, 8) {
        let line = if dice.percent(25) { edit(&sandbox, &mut dice) } else { command(&mut dice) };
        if !line.starts_with('(') {
            let output = opctl(&sandbox, &line);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let refused = if output.status.success() { "" } else { " # refused" };
            if output.status.code() == Some(2) || output.status.code().is_none() {
                return Some(format!("seed {seed}: {}\n{line}: {said}", lines.join("\n")));
            }
            lines.push(format!("{line}{refused}"));
        } else {
            lines.push(line);
        }
    }
    let before = files(&sandbox);
    let check = opctl(&sandbox, "update --check");
    let update = opctl(&sandbox, "update");
    let after = files(&sandbox);
    let changed: Vec<&String> =
        before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
    let is_right = check.status.success() && update.status.success() && changed.is_empty();
    (!is_right).then(|| {
        let said = [check.stderr, update.stderr].concat();
        format!("seed {seed}: {}\n{changed:?}\n{}", lines.join("\n"), String::from_utf8_lossy(&said))
    })
}

#[test]
fn there_is_nothing_to_update() {
    let count: u64 = std::env::var("OPCTL_SEQUENCES").map_or(50, |text| text.parse().unwrap());
    let first: u64 = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let seeds: Vec<u64> = (0..count).map(|number| first.wrapping_mul(1_000_003).wrapping_add(number)).collect();
    let wrong: Vec<String> = on_all_cores(&seeds, |seed| wrong(*seed)).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} of {count} sequences:\n{}", wrong.len(), wrong.join("\n\n"));
}
