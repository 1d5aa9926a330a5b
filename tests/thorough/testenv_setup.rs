//! `opctl testenv setup` with a local server: an index, and archives whose programs are shell scripts.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use opctl_testenv::assets::platform;

use crate::mirror::*;

/// A machine with an empty cache and no programs on PATH.
struct Machine {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Machine {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    /// A machine whose mirror is this server.
    fn with(server: &Server) -> Self {
        Self::new().set("OPCTL_ENVTEST_MIRROR", server.url())
    }

    fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The cache folder of a release.
    fn release(&self, version: &str) -> PathBuf {
        self.path(&format!("cache/kubernetes/{version}-{}", platform()))
    }

    fn part(&self, version: &str) -> PathBuf {
        self.path(&format!("cache/kubernetes/{}.part", name(version)))
    }

    /// The entries of the cache.
    fn cached(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("cache/kubernetes")).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Creates a folder with programs.
    fn programs(&self, folder: &str, files: &[(&str, &[u8])]) -> String {
        let folder = self.path(folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, content) in files {
            fs::write(folder.join(name), content).unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder.to_str().unwrap().to_owned()
    }

    fn kubernetes(&self, folder: &str, version: &str) -> String {
        let server = script(&format!("echo Kubernetes v{version}"));
        self.programs(folder, &[("etcd", &script("echo etcd")), ("kube-apiserver", &server)])
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_opctl"));
        command.args(["testenv", "setup"]).args(arguments).current_dir(self.folder.path());
        command.env_clear().env("OPCTL_CACHE", self.path("cache")).env("HOME", self.path("home"));
        command.envs(self.variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn setup(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }
}

impl Said {
    fn of(output: std::process::Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    fn is(&self, folder: &Path) -> &Self {
        assert_eq!((self.code, &self.out[..]), (0, &format!("{}\n", folder.display())[..]), "{}", self.err);
        self
    }

    /// Asserts that the command failed with these messages and empty stdout.
    #[track_caller]
    fn failed(&self, parts: &[&str]) -> &Self {
        assert_eq!((self.code, &self.out[..]), (1, ""), "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is not said:\n{}", self.err);
        }
        self
    }
}

#[test]
fn downloads_the_newest_and_then_needs_no_network() {
    let server = mirror(file);
    let machine = Machine::with(&server);
    let folder = machine.release("1.36.0");
    let said = machine.setup(&[]);
    said.is(&folder);
    assert_eq!(said.err, format!("downloading `{}/{}` (0.3 MB)\n", server.url(), name("1.36.0")));
    assert_eq!(server.targets(), [INDEX, &format!("/{}", name("1.36.0"))]);
    assert_eq!(machine.cached(), [format!("1.36.0-{}", platform())], "nothing else stays behind");
    assert_eq!(fs::read(folder.join("kubectl")).unwrap(), programs("1.36.0")[2].1);

    for arguments in [&[][..], &["--kubernetes", "1.36"], &["--kubernetes", "v1.36.0"], &["--check"]] {
        let said = machine.setup(arguments);
        assert_eq!(said.is(&folder).err, "");
    }
    assert_eq!(server.requests().len(), 2, "what is in the cache is not asked for");

    machine.setup(&["--kubernetes", "1.35", "-q"]).is(&machine.release("1.35.1"));
    machine.setup(&[]).is(&folder);
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_version_is_whole_or_not_in_the_cache() {
    let server = mirror(file);
    let machine = Machine::with(&server);
    // A release without one of its programs, and one whose extraction was killed.
    fs::create_dir_all(machine.release("1.36.0")).unwrap();
    fs::write(machine.release("1.36.0").join("etcd"), "").unwrap();
    let killed = machine.path(&format!("cache/kubernetes/1.36.0-{}.unpacking", platform()));
    fs::create_dir_all(&killed).unwrap();
    fs::write(killed.join("etcd"), "half").unwrap();
    machine.setup(&[]).is(&machine.release("1.36.0"));
    assert_eq!(machine.cached(), [format!("1.36.0-{}", platform())]);
}

#[test]
fn without_a_cache_of_its_own_it_is_in_the_users() {
    let server = mirror(file);
    let machine = Machine::with(&server);
    let folder = format!("opctl/kubernetes/1.36.0-{}", platform());
    let run = |name: &str, value: PathBuf| {
        Said::of(machine.command(&[]).env_remove("OPCTL_CACHE").env(name, value).output().unwrap())
    };
    run("XDG_CACHE_HOME", machine.path("xdg")).is(&machine.path("xdg").join(&folder));
    let caches = if cfg!(target_os = "macos") { "home/Library/Caches" } else { "home/.cache" };
    run("HOME", machine.path("home")).is(&machine.path(caches).join(&folder));
}

#[test]
fn a_wrong_checksum_is_refused_and_the_file_is_gone() {
    let server = mirror(|request, archive| {
        let mut other = archive.to_vec();
        other[100] ^= 1;
        file(request, &other)
    });
    let machine = Machine::with(&server);
    let expected = hash(&archive("1.36.0"));
    let mut other = archive("1.36.0");
    other[100] ^= 1;
    machine.setup(&[]).failed(&["is not what was released", &expected, &hash(&other), "help: run the command again"]);
    assert_eq!(machine.cached(), [""; 0]);
}

#[test]
fn a_cut_connection_goes_on_where_it_ended() {
    let tries = AtomicUsize::new(0);
    let server = mirror(move |request, archive| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => cut(file(request, archive), 100_000),
        1 => cut(file(request, archive), 50_000),
        _ => file(request, archive),
    });
    let machine = Machine::with(&server);
    let said = machine.setup(&[]);
    said.is(&machine.release("1.36.0"));
    assert!(said.err.contains("note: the connection was cut: trying again\n"), "{}", said.err);
    assert_eq!(said.err.matches("downloading").count(), 1, "{}", said.err);
    let length = archive("1.36.0").len();
    let from: Vec<usize> = server.requests()[1..].iter().map(Request::from).collect();
    assert_eq!(from, [0, length - 100_000, length - 50_000]);
}

#[test]
fn a_server_that_knows_no_ranges_begins_again() {
    let tries = AtomicUsize::new(0);
    let server = mirror(move |_, archive| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => cut(reply("200 OK", "", archive), 100_000),
        _ => reply("200 OK", "", archive),
    });
    let machine = Machine::with(&server);
    machine.setup(&[]).is(&machine.release("1.36.0"));
    assert!(server.requests()[2].from() > 0, "it was asked for the rest");
}

#[test]
fn a_part_survives_for_the_next_run() {
    let server = mirror(|request, archive| cut(file(request, archive), 100_000));
    let machine = Machine::with(&server);
    machine.setup(&[]).failed(&["cannot download", "the connection was cut", "KUBEBUILDER_ASSETS"]);
    assert_eq!(server.requests().len(), 1 + 5, "it was tried five times");
    assert_eq!(machine.cached(), [format!("{}.part", name("1.36.0"))]);
    let length = fs::metadata(machine.part("1.36.0")).unwrap().len();
    assert_eq!(length as usize, archive("1.36.0").len() - 100_000);

    let server = mirror(file);
    machine.setup(&["--mirror", &server.url()]).is(&machine.release("1.36.0"));
    assert_eq!(server.requests()[1].from() as u64, length);
    assert_eq!(machine.cached(), [format!("1.36.0-{}", platform())]);
}

#[test]
fn a_part_is_checked_before_anything_is_asked_for() {
    let server = mirror(file);
    let machine = Machine::with(&server);
    fs::create_dir_all(machine.path("cache/kubernetes")).unwrap();
    fs::write(machine.part("1.36.0"), archive("1.36.0")).unwrap();
    machine.setup(&[]).is(&machine.release("1.36.0"));
    assert_eq!(server.targets(), [INDEX], "it was whole");
}

#[test]
fn a_part_of_another_file_is_forgotten() {
    for part in [vec![0; 1000], vec![0; 1_000_000]] {
        let server = mirror(file);
        let machine = Machine::with(&server);
        fs::create_dir_all(machine.path("cache/kubernetes")).unwrap();
        fs::write(machine.part("1.36.0"), part).unwrap();
        machine.setup(&[]).is(&machine.release("1.36.0"));
    }
}

#[test]
fn what_is_refused_is_told_at_once_with_every_other_way() {
    let ways = [
        "export KUBEBUILDER_ASSETS=DIR",
        "put it on PATH",
        "opctl testenv setup --mirror URL",
        "OPCTL_ENVTEST_MIRROR",
        "opctl testenv setup --archive envtest-vVERSION",
        "setup-envtest use -p path",
        "the cache has 1.35.1: `--kubernetes 1.35.1`",
        "HTTPS_PROXY",
    ];
    for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found"] {
        for refused in [INDEX.to_owned(), format!("/{}", name("1.36.0"))] {
            let answer = mirror(file);
            let machine = Machine::with(&answer);
            machine.setup(&["--kubernetes", "1.35"]).is(&machine.release("1.35.1"));

            let (target, bytes) = (refused.clone(), archive("1.36.0"));
            let server = Server::start(move |request| match request.target == target {
                true => reply(status, "", b"go away"),
                false => reply("200 OK", "", &index(&[("1.36.0", &bytes)])),
            });
            let said = machine.setup(&["--kubernetes", "1.36", "--mirror", &server.url()]);
            said.failed(&[&format!("cannot download `{}{refused}`: the server answers {status}", server.url())]);
            said.failed(&ways);
            assert_eq!(
                server.targets().iter().filter(|target| **target == refused).count(),
                1,
                "it is not asked twice"
            );
        }
    }
}

#[test]
fn a_server_that_is_busy_is_asked_again() {
    let tries = AtomicUsize::new(0);
    let server = mirror(move |request, archive| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => reply("503 Service Unavailable", "", b""),
        1 => reply("429 Too Many Requests", "", b""),
        2 => Vec::new(),
        _ => file(request, archive),
    });
    let machine = Machine::with(&server);
    machine.setup(&[]).is(&machine.release("1.36.0"));
}

#[test]
fn offline_is_told_with_every_other_way() {
    let address = closed();
    let said = Machine::new().setup(&["--mirror", &format!("http://{address}/")]);
    said.failed(&[
        &format!("cannot download `http://{address}/envtest-releases.yaml`: connection refused"),
        "--archive",
    ]);
    assert!(!said.err.contains("nothing was written"), "{}", said.err);
    assert!(!said.err.contains("trying again"), "{}", said.err);
}

#[test]
fn versions_that_are_not_there_are_told_with_those_that_are() {
    let server = mirror(file);
    let machine = Machine::with(&server);
    machine
        .setup(&["--kubernetes", "1.34"])
        .failed(&["there is no Kubernetes 1.34 in", "help: there are 1.36.0, 1.35.1\n"]);
    machine.setup(&["--kubernetes", "1.36.7"]).failed(&["there is no Kubernetes 1.36.7 in"]);
    let before = server.requests().len();
    machine.setup(&["--kubernetes", "1.30"]).failed(&["Kubernetes 1.30 is too old", "selectableFields", "since 1.31"]);
    machine.setup(&["--kubernetes", "latest"]).failed(&["`latest` is not a Kubernetes version", "`1.36` or `1.36.2`"]);
    assert_eq!(server.requests().len(), before);
    assert_eq!(machine.cached(), [""; 0]);
}

#[test]
fn an_index_without_this_platform_or_that_is_none_is_told() {
    let here = String::from_utf8(index(&[("1.36.0", b"")])).unwrap();
    for (text, expected) in [
        (here.replace(&platform(), "plan9-mips"), format!("there is no Kubernetes for `{}` in", platform())),
        ("<html>log in first</html>".into(), "is not an index of envtest releases".into()),
    ] {
        let server = Server::start(move |_| reply("200 OK", "", text.as_bytes()));
        Machine::with(&server).setup(&[]).failed(&[&expected, "--archive"]);
    }
}

#[test]
fn a_mirror_may_want_a_name_and_a_password() {
    let server = mirror(file);
    let machine = Machine::new();
    let url = format!("http://me:secret@{}/", server.address);
    let said = machine.setup(&["--mirror", &url]);
    said.is(&machine.release("1.36.0"));
    let unknown = machine.setup(&["--mirror", &url, "--kubernetes", "1.34"]);
    for said in [said, unknown] {
        assert!(said.err.contains("***@") && !said.err.contains("secret"), "{}", said.err);
    }
    for request in server.requests() {
        assert_eq!(request.header("authorization"), Some("Basic bWU6c2VjcmV0"));
    }
}

#[test]
fn the_versions_there_are_can_be_listed() {
    let server = mirror(file);
    let machine = Machine::with(&server);
    machine.setup(&["--kubernetes", "1.35"]).is(&machine.release("1.35.1"));
    let said = machine.setup(&["--list"]);
    assert_eq!((said.code, &said.out[..]), (0, "1.36.0\n1.35.1  in the cache\n"));
}

#[test]
fn nothing_is_downloaded_where_nothing_may_be_written() {
    let server = mirror(file);
    let machine = Machine::with(&server);
    machine.setup(&["--check"]).failed(&["`opctl testenv setup` downloads them"]);
    let said = machine.setup(&["--dry-run"]);
    assert_eq!((said.code, &said.out[..]), (0, ""));
    assert!(said.err.starts_with("would download"), "{}", said.err);
    assert!(server.requests().is_empty() && !machine.path("cache").exists());
}

// ---- Archives in other formats ----

/// Extracts an archive without a network.
fn unpack(machine: &Machine, name: &str, content: &[u8]) -> Said {
    fs::write(machine.path(name), content).unwrap();
    machine.setup(&["--archive", name])
}

#[test]
fn an_archive_that_somebody_brought_needs_no_network() {
    let machine = Machine::new().set("OPCTL_ENVTEST_MIRROR", format!("http://{}", closed()));
    unpack(&machine, &name("1.36.0"), &archive("1.36.0")).is(&machine.release("1.36.0"));
    machine.setup(&["--kubernetes", "1.36"]).is(&machine.release("1.36.0"));
    assert!(machine.path(&name("1.36.0")).exists(), "it is the user's");
}

#[test]
fn archives_that_are_none_leave_nothing_behind() {
    let file = |path: &str, content: Vec<u8>| (path.to_owned(), content);
    let with = |more| archive_of(&[programs("1.36.0"), vec![more]].concat());
    let changed = |at: usize, content| {
        let mut files = programs("1.36.0");
        files[at].1 = content;
        archive_of(&files)
    };
    let truncated = archive("1.36.0")[..1000].to_vec();
    for (content, expected) in [
        (with(file("../../evil", vec![])), "its entry `../../evil` leads out of it"),
        (with(file("/tmp/evil", vec![])), "its entry `/tmp/evil` leads out of it"),
        (with(file("controller-tools/envtest/../../../evil", vec![])), "leads out of it"),
        (archive_of(&programs("1.36.0")[..1]), "it has no `controller-tools/envtest/kube-apiserver`"),
        (archive("1.35.1"), "its name says Kubernetes 1.36.0, and its `kube-apiserver` is 1.35.1"),
        (
            changed(1, b"\x7fELF of another machine".to_vec()),
            "its `kube-apiserver` does not run here: Exec format error",
        ),
        (
            changed(0, script("echo no such library >&2; exit 127")),
            "its `etcd` does not run here: exit status: 127: no such library",
        ),
        (truncated, "cannot unpack"),
        (b"<html>".to_vec(), "cannot unpack"),
    ] {
        let machine = Machine::new();
        unpack(&machine, &name("1.36.0"), &content).failed(&[expected, "help: an archive is called"]);
        assert_eq!(machine.cached(), [""; 0], "{expected}");
        assert!(!machine.path("evil").exists() && !Path::new("/tmp/evil").exists());
    }
    unpack(&Machine::new(), "envtest.tar.gz", &archive("1.36.0"))
        .failed(&["`envtest.tar.gz` is not named as an archive for"]);
    unpack(&Machine::new(), &name("1.30.0"), &archive("1.30.0")).failed(&["Kubernetes 1.30.0 is too old"]);
    Machine::new().setup(&["--archive", &name("1.36.0")]).failed(&["cannot unpack", "No such file"]);
}

#[test]
fn a_link_in_an_archive_is_refused() {
    let machine = Machine::new();
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    tar.append_link(&mut header, "controller-tools/envtest/etcd", "/bin/true").unwrap();
    let archive = tar.into_inner().unwrap().finish().unwrap();
    unpack(&machine, &name("1.36.0"), &archive).failed(&["its entry `controller-tools/envtest/etcd` leads out of it"]);
}

// ---- Programs on this machine ----

#[test]
fn the_folder_that_is_named_is_taken_or_nothing() {
    let server = mirror(file);
    let named = |make: &dyn Fn(&Machine) -> String, arguments: &[&str]| {
        let machine = Machine::with(&server);
        let folder = make(&machine);
        let said = Said::of(machine.command(arguments).env("KUBEBUILDER_ASSETS", &folder).output().unwrap());
        assert!(!machine.path("cache").exists());
        (said, folder)
    };
    let good = |machine: &Machine| machine.kubernetes("bin", "1.36.3");
    for arguments in [&[][..], &["--kubernetes", "1.36"], &["--kubernetes", "1.36.3"]] {
        let (said, folder) = named(&good, arguments);
        said.is(Path::new(&folder));
    }
    let (said, folder) = named(&good, &["--kubernetes", "1.35"]);
    said.failed(&[&format!("KUBEBUILDER_ASSETS names `{folder}`, which has Kubernetes 1.36.3, not 1.35"), "unset"]);

    let (said, folder) = named(&|machine| machine.programs("bin", &[("kube-apiserver", b"")]), &[]);
    said.failed(&[&format!("KUBEBUILDER_ASSETS names `{folder}`, which has no `etcd`"), "unset KUBEBUILDER_ASSETS"]);
    let (said, _) = named(&|machine| machine.path("nowhere").to_str().unwrap().into(), &[]);
    said.failed(&["which has no `etcd`"]);

    let (said, folder) = named(&|machine| machine.kubernetes("bin", "1.30.4"), &[]);
    said.failed(&[&format!("Kubernetes 1.30.4 in `{folder}` is too old for a test environment"), "selectableFields"]);
    assert!(server.requests().is_empty());
}

#[test]
fn a_program_that_does_not_run_is_told() {
    let run = |etcd: &[u8], mode: u32| {
        let machine = Machine::new();
        let folder = machine.kubernetes("bin", "1.36.0");
        machine.programs("bin", &[("etcd", etcd)]);
        fs::set_permissions(machine.path("bin/etcd"), fs::Permissions::from_mode(mode)).unwrap();
        let said = |name: &str| Said::of(machine.command(&[]).env(name, &folder).output().unwrap());
        (format!("`{folder}/etcd` does not run: "), said("KUBEBUILDER_ASSETS"), said("PATH"))
    };
    for (etcd, mode, reason) in [
        (&b"\x7fELF of another machine"[..], 0o755, "Exec format error"),
        (&script("echo")[..], 0o644, "Permission denied"),
        (&script("echo broken >&2; exit 3")[..], 0o755, "exit status: 3: broken"),
    ] {
        let (start, named, on_path) = run(etcd, mode);
        named.failed(&[&format!("{start}{reason}"), &format!("for `{}`", platform())]);
        on_path.failed(&[&format!("{start}{reason}")]);
    }
    let machine = Machine::new();
    let folder = machine.programs("bin", &[("etcd", &script("echo")), ("kube-apiserver", &script("echo Hello"))]);
    machine.set("KUBEBUILDER_ASSETS", folder).setup(&[]).failed(&["kube-apiserver` does not run: says `Hello`"]);
}

#[test]
fn path_comes_before_the_cache_unless_it_has_another_version() {
    let server = mirror(file);
    let machine = Machine::with(&server);
    let old = machine.kubernetes("old", "1.30.1");
    let half = machine.programs("half", &[("etcd", &script("echo"))]);
    let good = machine.kubernetes("good", "1.37.1");
    let machine = machine.set("PATH", format!("{half}:{old}::{good}"));
    let said = machine.setup(&[]);
    said.is(Path::new(&good));
    assert_eq!(said.err, format!("note: `{old}` on PATH has Kubernetes 1.30.1, older than 1.31: passed over\n"));
    assert!(server.requests().is_empty());

    let said = machine.setup(&["--kubernetes", "1.36"]);
    said.is(&machine.release("1.36.0"));
    assert!(said.err.contains(&format!("note: `{good}` on PATH has Kubernetes 1.37.1, not 1.36: passed over\n")));
}

// ---- Network ----

#[test]
fn a_proxy_is_used_where_the_variables_say() {
    let server = mirror(file);
    let proxy = server.proxy();
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let machine = Machine::new().set(variable, format!("http://me:pass@{}", proxy.address));
        machine.setup(&["--mirror", "http://mirror.invalid"]).is(&machine.release("1.36.0"));
        let asked = proxy.requests().pop().unwrap();
        assert_eq!((&asked.method[..], &asked.target[..]), ("CONNECT", "mirror.invalid:80"), "{variable}");
        assert_eq!(asked.header("proxy-authorization"), Some("Basic bWU6cGFzcw=="));
    }
    let count = proxy.requests().len();
    for none in ["127.0.0.1", "example.com, 127.0.0.1", "*"] {
        let machine = Machine::with(&server).set("HTTP_PROXY", proxy.url()).set("NO_PROXY", none);
        machine.setup(&[]).is(&machine.release("1.36.0"));
    }
    assert_eq!(proxy.requests().len(), count, "NO_PROXY is respected");
}

#[test]
fn a_proxy_that_refuses_is_named() {
    let proxy = Server::start(|_| reply("407 Proxy Authentication Required", "", b""));
    let machine = Machine::new().set("HTTPS_PROXY", format!("http://me:secret@{}", proxy.address));
    let said = machine.setup(&[]);
    let url = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml";
    said.failed(&[
        &format!("cannot download `{url}` by the proxy `http://***@{}`: ", proxy.address),
        "407",
        "--mirror",
    ]);
    assert!(!said.err.contains("secret"), "{}", said.err);
    assert_eq!(proxy.targets(), ["raw.githubusercontent.com:443"]);
    Machine::new().set("HTTPS_PROXY", "gopher://x").setup(&[]).failed(&["`gopher://x` is not a valid proxy URL"]);
}

/// The certificate of an unknown certificate authority, and a server at localhost with a certificate signed by it.
pub fn signed_by_a_company() -> (String, rustls::ServerConfig) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new([]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let company = rcgen::CertifiedIssuer::self_signed(params, key).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(["localhost".into()]).unwrap();
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.signed_by(&key, &company).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            rustls::pki_types::PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        )
        .unwrap();
    (company.pem(), config)
}

#[test]
#[cfg(target_os = "linux")]
fn a_company_may_sign_its_own_certificates() {
    let (company, config) = signed_by_a_company();
    let bytes = archive("1.36.0");
    let server = Server::tls(config, move |request| match &request.target[..] {
        INDEX => reply("200 OK", "", &index(&[("1.36.0", &bytes)])),
        _ => file(request, &bytes),
    });
    let mirror = server.address.replace("127.0.0.1", "https://localhost");
    let machine = Machine::new();
    machine.setup(&["--mirror", &mirror]).failed(&["invalid peer certificate: UnknownIssuer", "SSL_CERT_FILE"]);
    fs::write(machine.path("company.pem"), company).unwrap();
    let machine = machine.set("SSL_CERT_FILE", "company.pem");
    machine.setup(&["--mirror", &mirror]).is(&machine.release("1.36.0"));
}

// ---- Problems of the machine ----

#[test]
fn two_at_once_download_once() {
    const WAITS: &str = "waiting for another opctl in";
    let one_waits = Arc::new(AtomicBool::new(false));
    let is_sent = one_waits.clone();
    let server = mirror(move |request, archive| {
        let began = Instant::now();
        while !is_sent.load(Ordering::SeqCst) && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        file(request, archive)
    });
    let machine = Machine::with(&server);
    let started: Vec<_> = (0..3).map(|_| machine.command(&[]).spawn().unwrap()).collect();
    let read = |mut child: Child| {
        let one_waits = one_waits.clone();
        std::thread::spawn(move || {
            let mut err = String::new();
            for line in BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap) {
                one_waits.fetch_or(line.contains(WAITS), Ordering::SeqCst);
                err += &format!("{line}\n");
            }
            Said { err, ..Said::of(child.wait_with_output().unwrap()) }
        })
    };
    let readers: Vec<_> = started.into_iter().map(read).collect();
    let said: Vec<Said> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
    said.iter().for_each(|said| {
        said.is(&machine.release("1.36.0"));
    });
    let archives = server.targets().iter().filter(|target| *target != INDEX).count();
    assert_eq!(archives, 1);
    assert!(said.iter().any(|said| said.err.contains(WAITS)));
}

#[test]
fn a_killed_one_is_in_nobodys_way() {
    let bytes = archive("1.36.0");
    let server = Server::start_with(move |request| match &request.target[..] {
        INDEX => (reply("200 OK", "", &index(&[("1.36.0", &bytes)])), End::Closed),
        _ => (cut(file(request, &bytes), 1000), End::Silent),
    });
    for signal in ["-TERM", "-KILL"] {
        let machine = Machine::with(&server);
        let child = machine.command(&[]).spawn().unwrap();
        let part = machine.part("1.36.0");
        let began = Instant::now();
        while fs::metadata(&part).map_or(0, |part| part.len()) < 200_000 {
            assert!(began.elapsed() < Duration::from_secs(120), "nothing comes");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert!(!child.wait_with_output().unwrap().status.success());
        assert_eq!(machine.cached(), [format!("{}.part", name("1.36.0"))], "{signal}");

        let good = mirror(file);
        machine.setup(&["--mirror", &good.url()]).is(&machine.release("1.36.0"));
        assert!(good.requests()[1].from() >= 200_000);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_with_another_place() {
    let server = mirror(file);
    let machine = Machine::with(&server);
    fs::create_dir_all(machine.path("cache/kubernetes")).unwrap();
    symlink("/dev/full", machine.part("1.36.0")).unwrap();
    let cache = machine.path("cache/kubernetes");
    machine.setup(&[]).failed(&[
        &format!("cannot write `{}`: No space left on device", machine.part("1.36.0").display()),
        &format!("the disk is full: make room, e.g. in the cache `{}`", cache.display()),
        "`export OPCTL_CACHE=DIR` chooses another folder",
    ]);
}

/// Limits files to 100 KB. The archive is smaller, and the extracted `kubectl` is larger.
#[test]
fn a_disk_that_is_full_while_it_is_unpacked_is_left_as_it_was() {
    let machine = Machine::new();
    fs::write(machine.path(&name("1.36.0")), archive("1.36.0")).unwrap();
    let opctl = machine.command(&["--archive", &name("1.36.0")]);
    let mut limited = Command::new("/bin/sh");
    // With SIGXFSZ ignored, writing fails like on a full disk.
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"", "sh"])
        .arg(opctl.get_program())
        .args(opctl.get_args());
    limited.current_dir(machine.folder.path()).env_clear();
    limited.envs(opctl.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let kubectl = format!("1.36.0-{}.unpacking/kubectl`: File too large", platform());
    Said::of(limited.output().unwrap()).failed(&[&kubectl, "the disk is full: make room", "OPCTL_CACHE"]);
    assert_eq!(machine.cached(), [""; 0]);
}

#[test]
fn a_cache_that_cannot_be_made_is_told() {
    let machine = Machine::with(&mirror(file));
    fs::write(machine.path("cache"), "a file").unwrap();
    machine.setup(&[]).failed(&["cannot write", "the cache is", "OPCTL_CACHE"]);
}
