//! `opctl create api --helm-chart` with charts of repositories and registries, with and without credentials, and their
//! upgrades. Requires helm 4, and `registry` of google/go-containerregistry for the registry.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::helm::has_helm;
use crate::mirror::{Request, Server, reply};
use crate::sandbox::Sandbox;
use crate::skipped::skipped;
use crate::testenv_setup::signed_by_a_company;

/// An empty project, and next to it the archives of a chart in three versions. helm has its own home folder there.
fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    succeeds(
        &sandbox,
        "mkdir repo
         for version in 1.0.0 1.1.0 2.0.0; do
             rm -rf plain && cp -r \"$CHARTS/plain\" . && sed -i \"s/^version:.*/version: $version/\" plain/Chart.yaml
             if [ $version != 1.0.0 ]; then
                 rm plain/templates/tests/test.yaml
                 echo \"message: $version\" >> plain/values.yaml
                 echo '# {{ .Values.message }}' >> plain/templates/ingress.yaml
             fi
             helm package plain --destination repo || exit 1
         done
         helm repo index repo && opctl init demo --domain example.com --license none --yes",
    );
    sandbox.folder.push("demo");
    sandbox
}

/// `true` on success, and the output. helm has no access to the settings of the user who runs the test.
fn run(sandbox: &Sandbox, line: &str) -> (bool, String) {
    let home = sandbox.root().join("helm");
    let mut shell = sandbox.command("sh");
    for name in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        shell.env(name, home.join(name));
    }
    let output = shell.env("HOME", &home).args(["-c", &format!("exec 2>&1\n{line}")]).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn succeeds(sandbox: &Sandbox, line: &str) -> String {
    let (is_done, said) = run(sandbox, line);
    assert!(is_done, "{line}\n{said}");
    said
}

/// Runs a command that must fail with these messages and write nothing.
fn fails(sandbox: &Sandbox, line: &str, expected: &[&str]) {
    let before = succeeds(sandbox, "find . -type f | sort | xargs cksum");
    let (is_done, said) = run(sandbox, line);
    assert!(!is_done && said.ends_with("nothing was written\n") && !said.contains("secret"), "{line}\n{said}");
    for expected in expected {
        assert!(said.contains(expected), "{line}: {expected}\n{said}");
    }
    assert_eq!(succeeds(sandbox, "find . -type f | sort | xargs cksum"), before);
}

/// The files of the repository, for requests with the password.
fn answer(sandbox: &Sandbox) -> impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static {
    let folder = sandbox.root().join("repo");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files: BTreeMap<String, Vec<u8>> =
        files.map(|path| (format!("/{}", path.file_name().unwrap().display()), fs::read(&path).unwrap())).collect();
    let expected = format!("Basic {}", STANDARD.encode("reader:secret"));
    move |request| match (request.header("authorization"), files.get(&request.target)) {
        (Some(given), Some(file)) if given == expected => reply("200 OK", "", file),
        (Some(given), None) if given == expected => reply("404 Not Found", "", b""),
        _ => reply("401 Unauthorized", "WWW-Authenticate: Basic\r\n", b""),
    }
}

const CREATE: &str = "opctl create api --group web --version v1 --kind Site --helm-chart";

#[test]
fn a_repository_may_want_a_password() {
    if !has_helm("a repository of charts") {
        return;
    }
    let sandbox = project();
    let server = Server::start(answer(&sandbox));
    let url = server.url();
    fails(&sandbox, &format!("{CREATE} plain --helm-chart-repo {url}"), &["cannot fetch the chart `plain`", "401"]);
    let with = url.replace("http://", "http://reader:secret@");
    let said = succeeds(&sandbox, &format!("{CREATE} plain --helm-chart-repo {with} --helm-chart-version '^1.0'"));
    assert!(!said.contains("secret"), "{said}");
    assert_eq!(
        succeeds(&sandbox, "grep ^version helm-charts/plain/Chart.yaml; grep -r helmChart PROJECT"),
        format!("version: 1.1.0\n    helmChart: plain\n    helmChartRepo: {url}\n    helmChartVersion: ^1.0\n")
    );
    assert_eq!(run(&sandbox, "grep -rl reader:secret --exclude-dir=runtime .").1, "");

    let sandbox = project();
    let add = format!("helm repo add local {url} --username reader --password secret");
    succeeds(&sandbox, &format!("{add} && {CREATE} local/plain"));
    assert_eq!(succeeds(&sandbox, "grep ^version helm-charts/plain/Chart.yaml"), "version: 2.0.0\n");
    fails(
        &sandbox,
        &format!("{CREATE} local/plain --helm-chart-version '>=3'"),
        &["cannot fetch the chart `local/plain`", "no chart version found"],
    );
    fails(&sandbox, &format!("{CREATE} local/other"), &["chart \"other\" matching  not found"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_repository_may_have_a_certificate_of_a_company() {
    if !has_helm("a repository of charts with TLS") {
        return;
    }
    let sandbox = project();
    let (company, config) = signed_by_a_company();
    let server = Server::tls(config, answer(&sandbox));
    fs::write(sandbox.root().join("company.pem"), company).unwrap();
    let url = server.address.replace("127.0.0.1", "https://reader:secret@localhost");
    let create = format!("{CREATE} plain --helm-chart-repo {url}");
    fails(&sandbox, &create, &["certificate signed by unknown authority"]);
    succeeds(&sandbox, &format!("SSL_CERT_FILE=../company.pem {create}"));

    let sandbox = project();
    let url = server.address.replace("127.0.0.1", "https://localhost");
    let company = "../company.pem";
    fs::write(sandbox.root().join("company.pem"), signed_by_a_company().0).unwrap();
    let add = format!("helm repo add local {url} --username reader --password secret --ca-file {company}");
    // A chart from another company.
    assert!(!run(&sandbox, &add).0);
}

#[test]
fn a_dependency_that_was_missing_is_fetched_by_the_same_command() {
    if !has_helm("a dependency that cannot be fetched") {
        return;
    }
    let sandbox = project();
    let (is_up, repository) = (Arc::new(AtomicBool::new(false)), answer(&sandbox));
    let serves = is_up.clone();
    let server = Server::start(move |request| match serves.load(Ordering::Relaxed) {
        true => repository(request),
        false => reply("503 Service Unavailable", "", b""),
    });
    let url = server.url().replace("http://", "http://reader:secret@");
    let chart = format!(
        "mkdir ../whole && printf 'apiVersion: v2\\nname: whole\\nversion: 1.0.0\\ndependencies:\\n- name: plain\\n  version: ~1.0.0\\n  \
         repository: {url}\\n' > ../whole/Chart.yaml"
    );
    succeeds(&sandbox, &chart);
    let create = format!("{CREATE} ../whole");
    fails(&sandbox, &create, &["cannot", "503 Service Unavailable"]);
    is_up.store(true, Ordering::Relaxed);
    succeeds(&sandbox, &create);
    assert_eq!(succeeds(&sandbox, "grep ^version helm-charts/whole/charts/plain/Chart.yaml"), "version: 1.0.0\n");
}

#[test]
fn a_newer_version_replaces_what_was_not_edited() {
    if !has_helm("a newer version of a chart") {
        return;
    }
    let sandbox = project();
    let server = Server::start(answer(&sandbox));
    let url = server.url().replace("http://", "http://reader:secret@");
    let create = |version: &str| format!("{CREATE} plain --helm-chart-repo {url} --helm-chart-version {version}");
    succeeds(&sandbox, &create("1.0.0"));
    succeeds(&sandbox, "git init -q && git add -A && echo '// mine' >> src/controller/web/site.rs");
    let said = succeeds(&sandbox, &create("1.1.0"));
    let changed = succeeds(&sandbox, "git status --porcelain | grep -v -e '^A ' -e ' .opctl/'");
    let expected = [
        "AM PROJECT",
        "AM config/crd/bases/web.example.com_sites.yaml",
        "AM config/samples/web_v1_site.yaml",
        "AM helm-charts/plain/Chart.yaml",
        "AM helm-charts/plain/templates/ingress.yaml",
        "AD helm-charts/plain/templates/tests/test.yaml",
        "AM helm-charts/plain/values.yaml",
        "AM src/api/web/v1/site.rs",
        "AM src/controller/web/site.rs",
        "AM src/controller/web/site/permissions.rs",
    ];
    assert_eq!(changed.lines().collect::<Vec<_>>(), expected, "{said}");
    succeeds(&sandbox, "grep -q 'pub message' src/api/web/v1/site.rs && opctl check && opctl manifests --check");
    assert!(fs::read_to_string(sandbox.folder.join("PROJECT")).unwrap().contains("helmChartVersion: \"1.1.0\"\n"));
    // Unrelated edits are kept, and conflicting ones are reported.
    succeeds(&sandbox, "sed -i 's/How many Pods/So many Pods/' helm-charts/plain/values.yaml src/api/web/v1/site.rs");
    succeeds(&sandbox, &create("2.0.0"));
    let edited = "grep -l 'So many' helm-charts/plain/values.yaml src/api/web/v1/site.rs";
    assert_eq!(succeeds(&sandbox, edited).lines().count(), 2);
    succeeds(&sandbox, "sed -i 's/^version: 2.*/version: 2.0.0-mine/' helm-charts/plain/Chart.yaml");
    fails(&sandbox, &create("1.0.0"), &["has version 2.0.0-mine, without which"]);
    succeeds(&sandbox, "sed -i 's/^version: 2.*/version: 2.0.0/; s/^appVersion.*//' helm-charts/plain/Chart.yaml");
    succeeds(&sandbox, "sed -i 's/^message.*/message: mine/' helm-charts/plain/values.yaml");
    fails(&sandbox, &create("1.1.0"), &["`helm-charts/plain/values.yaml`", "message: 2.0.0"]);
}

/// A registry on this machine, which stops with the test.
struct Registry {
    process: Child,
    address: String,
}

impl Registry {
    fn start() -> Option<Self> {
        let mut command = Command::new("registry");
        // Port 0 selects a free port.
        command.args(["-port", "0"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let Ok(mut process) = command.spawn() else {
            skipped("a chart of a registry", "there is no `registry` on the PATH");
            return None;
        };
        let mut log = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let port = log.find_map(|line| Some(line.split_once("serving on port ")?.1.to_owned())).unwrap();
        // The registry would block or fail if its log was not read.
        thread::spawn(move || log.for_each(drop));
        Some(Self { process, address: format!("127.0.0.1:{port}") })
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn charts_come_from_a_registry() {
    if !has_helm("a chart of a registry") {
        return;
    }
    let sandbox = project();
    let Some(registry) = Registry::start() else { return };
    let charts = format!("oci://{}/charts", registry.address);
    // helm requires a flag for HTTP, even for a registry on this machine.
    let push = format!("for chart in ../repo/*.tgz; do helm push $chart {charts} --plain-http || exit 1; done");
    succeeds(&sandbox, &push);
    succeeds(&sandbox, &format!("{CREATE} {charts}/plain --helm-chart-version '~1.0'"));
    assert_eq!(succeeds(&sandbox, "grep ^version helm-charts/plain/Chart.yaml"), "version: 1.0.0\n");
    fails(&sandbox, &format!("{CREATE} {charts}/other"), &["cannot fetch the chart"]);
}
