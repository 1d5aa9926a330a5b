//! `opctl dev` on a copy of an example while its source is edited.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::eventually;
use super::example::Example;
use crate::common;
use crate::control_plane::skipped;
use crate::workdir;

const TYPE: &str = "src/api/cache/v1alpha1/memcached.rs";
const RECONCILE: &str = "src/controller/cache/memcached/deployment.rs";

#[test]
fn every_change_takes_effect_and_an_error_none() {
    if std::env::var_os("KUBEBUILDER_ASSETS").is_none() {
        return skipped("opctl dev", "KUBEBUILDER_ASSETS is not set");
    }
    // All managers are compiled to the same path, from which this one runs.
    let _cargo = workdir::lock_cargo();
    let project = Project::copied();
    let mut dev = Dev::start(&project);
    eventually("the operator runs", || dev.runs() == 1);
    dev.apply("one");
    let image = || dev.get(&["deployment", "one", "-o", "jsonpath={.spec.template.spec.containers[0].image}"]);
    eventually("it reconciles", || image().contains("memcached:"));

    project.edit(TYPE, "range(min = 1, max = 5)", "range(min = 1, max = 7)");
    let path = "jsonpath={.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.maximum}";
    eventually("the type is there", || dev.get(&["crd", "memcacheds.cache.example.com", "-o", path]) == "7");
    eventually("the operator is built and started again", || dev.runs() == 2);
    let manifest = fs::read_to_string(project.0.join("config/crd/bases/cache.example.com_memcacheds.yaml")).unwrap();
    assert!(manifest.contains("maximum: 7"), "{manifest}");

    project.edit(RECONCILE, "fn labels(object", "fn labels(object: &Memcached) -> i32 { 1 }\nfn others(object");
    eventually("the error is shown", || dev.log().contains("the previous build keeps running"));
    assert!(dev.log().contains("error[E0308]"), "{}", dev.log());
    dev.apply("two");
    eventually("the one before goes on", || dev.get(&["deployment", "two", "-o", "name"]) == "deployment.apps/two");
    assert_eq!(dev.runs(), 2);

    project.edit(RECONCILE, "fn labels(object: &Memcached) -> i32 { 1 }\nfn others(object", "fn labels(object");
    project.edit(RECONCILE, "\"memcached:1", "\"memcached-edited:1");
    eventually("the reconcile is another", || image().contains("memcached-edited:"));

    dev.signal("INT");
    assert_eq!(dev.child.wait().unwrap().code(), Some(0), "{}", dev.log());
    project.nothing_is_left();

    let mut dev = Dev::start(&project);
    eventually("it runs once more", || dev.runs() == 1);
    dev.signal("KILL");
    dev.child.wait().unwrap();
    project.nothing_is_left();
}

/// A copy of an example with its own version, since cargo identifies packages by name and version.
struct Project(PathBuf);

impl Project {
    fn copied() -> Self {
        let folder = common::operators_target().join("dev/memcached");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let example = Example { folder: "memcached", name: "" }.path();
        let mut copy = Command::new("cp");
        copy.args(["-R", "Cargo.toml", "Cargo.lock", "PROJECT", "src", "tests", "config"])
            .arg(&folder)
            .current_dir(example);
        common::output(copy);
        // The relative path to the runtime resolves to this link.
        let crates = common::operators_target().join("crates");
        let _ = fs::remove_file(&crates);
        symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates"), crates).unwrap();
        let project = Self(folder);
        project.edit("Cargo.toml", "version = \"0.1.0\"", "version = \"0.1.8\"");
        let lock = fs::read_to_string(project.0.join("Cargo.lock")).unwrap();
        let own = "name = \"memcached-operator\"\nversion = \"0.1.0\"";
        assert!(lock.contains(own));
        project.edit("Cargo.lock", own, &own.replace("0.1.0", "0.1.8"));
        project
    }

    fn edit(&self, file: &str, before: &str, after: &str) {
        let path = self.0.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(before), "{file} has no `{before}`");
        fs::write(path, text.replacen(before, after, 1)).unwrap();
    }

    fn cache(&self) -> PathBuf {
        self.0.with_file_name("cache")
    }

    fn nothing_is_left(&self) {
        let has_ended = || {
            let output = Command::new("ps").args(["-axwwo", "args="]).output().unwrap();
            let lines = String::from_utf8(output.stdout).unwrap();
            let manager = common::operators_target().join("debug/manager");
            let ours = [self.cache(), manager].map(|path| path.to_str().unwrap().to_owned());
            !lines.lines().any(|line| ours.iter().any(|path| line.contains(path)))
        };
        eventually("all processes have ended", has_ended);
        let folders = || fs::read_dir(self.cache().join("testenv")).unwrap().count();
        eventually("all folders are gone", || folders() == 1);
    }
}

struct Dev {
    child: Child,
    log: PathBuf,
}

impl Dev {
    fn start(project: &Project) -> Self {
        let log = project.0.with_file_name("dev.log");
        let out = File::create(&log).unwrap();
        let mut dev = common::for_operators(Command::new(env!("CARGO_BIN_EXE_opctl")));
        dev.args(["dev", "--", "--metrics-bind-address=0", "--health-probe-bind-address=127.0.0.1:0"]);
        dev.current_dir(&project.0).env("OPCTL_CACHE", project.cache()).stdin(Stdio::null());
        let child = dev.stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap();
        Self { child, log }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// The number of operator starts.
    fn runs(&self) -> usize {
        self.log().lines().filter(|line| line.starts_with("     Running ")).count()
    }

    fn kubectl(&self) -> Command {
        let log = self.log();
        let kubeconfig = log.lines().find_map(|line| line.trim().strip_prefix("export KUBECONFIG=")).unwrap();
        let mut kubectl = Command::new(Path::new(&std::env::var_os("KUBEBUILDER_ASSETS").unwrap()).join("kubectl"));
        kubectl.env("KUBECONFIG", kubeconfig);
        kubectl
    }

    fn apply(&self, name: &str) {
        let object = format!("apiVersion: cache.example.com/v1alpha1\nkind: Memcached\nmetadata: {{ name: {name} }}\n");
        let file = self.log.with_file_name(format!("{name}.yaml"));
        fs::write(&file, object + "spec: { size: 1 }\n").unwrap();
        let mut kubectl = self.kubectl();
        kubectl.args(["apply", "-f"]).arg(file);
        common::output(kubectl);
    }

    /// The output of `kubectl get`; empty if the object does not exist.
    fn get(&self, what: &[&str]) -> String {
        let output = self.kubectl().args(["get", "--ignore-not-found"]).args(what).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.log());
        }
        let _ = self.child.kill();
    }
}
