//! Releases: the changelog, the manifests, the workflow and the files in `packaging` are consistent, and `install.sh`
//! installs the output of `dist`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use toml_edit::{DocumentMut, Item};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const VERSION: &str = env!("CARGO_PKG_VERSION");
const WORKFLOW: &str = ".github/workflows/release.yml";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The targets that the workflow builds opctl for.
fn targets() -> BTreeSet<String> {
    let workflow = read(WORKFLOW);
    let targets = workflow.split("{ target: ").skip(1).map(|rest| rest.split(',').next().unwrap().to_owned());
    targets.collect()
}

/// The manifests of all packages.
fn manifests() -> Vec<DocumentMut> {
    let libraries = fs::read_dir(Path::new(ROOT).join("crates")).unwrap();
    let mut paths: Vec<_> = libraries.map(|entry| entry.unwrap().path().join("Cargo.toml")).collect();
    paths.push(Path::new(ROOT).join("Cargo.toml"));
    paths.iter().map(|path| fs::read_to_string(path).unwrap().parse().unwrap()).collect()
}

#[test]
fn the_newest_release_in_the_changelog_is_the_version_in_the_manifest() {
    let changelog = read("CHANGELOG.md");
    let mut headings = changelog.lines().filter(|line| line.starts_with("## ")).peekable();
    headings.next_if_eq(&"## [Unreleased]");
    // Before the first release, there is no heading.
    if let Some(newest) = headings.next() {
        assert!(
            newest.starts_with(&format!("## [{VERSION}] - 20")),
            "Cargo.toml has {VERSION}, CHANGELOG.md `{newest}`"
        );
    }
}

#[test]
fn every_package_is_published_and_described() {
    let workflow = read(WORKFLOW);
    let (list, _) = workflow.split_once("for package in ").unwrap().1.split_once(';').unwrap();
    let workspace: DocumentMut = read("Cargo.toml").parse().unwrap();
    let workspace = &workspace["workspace"];
    for manifest in manifests() {
        let package = &manifest["package"];
        let name = package["name"].as_str().unwrap();
        assert!(list.split(' ').any(|published| published == name), "{WORKFLOW} does not publish {name}");
        // The runtime's manifest is copied to projects, so it cannot inherit from the workspace.
        let inherits = |item: &Item| name != "opctl-runtime" && item.get("workspace").is_some();
        let common = [
            ("edition", "2024"),
            ("rust-version", env!("CARGO_PKG_RUST_VERSION")),
            ("license", env!("CARGO_PKG_LICENSE")),
            ("repository", env!("CARGO_PKG_REPOSITORY")),
        ];
        for (key, value) in common {
            let stated = if inherits(&package[key]) { &workspace["package"][key] } else { &package[key] };
            assert_eq!(stated.as_str(), Some(value), "`{key}` of {name}");
        }
        assert!(!package["description"].as_str().unwrap().is_empty());
        // crates.io accepts five keywords.
        assert!((1..=5).contains(&package["keywords"].as_array().unwrap().len()), "keywords of {name}");
        assert!(!package["categories"].as_array().unwrap().is_empty(), "categories of {name}");
        let lints = if inherits(&manifest["lints"]) { &workspace["lints"] } else { &manifest["lints"] };
        assert_eq!(lints["rust"]["unsafe_code"].as_str(), Some("forbid"), "{name}");
    }
}

#[test]
fn every_target_of_the_workflow_can_be_installed() {
    let targets = targets();
    assert_eq!(targets.len(), 4, "{targets:?}");
    for path in ["packaging/install.sh", "packaging/opctl.rb", "packaging/opctl.yaml"] {
        let text = read(path);
        let counts = ["https://github.com/", env!("CARGO_PKG_REPOSITORY")].map(|url| text.matches(url).count());
        assert_eq!(counts[0], counts[1], "{path} has URLs of other repositories");
        let words = text.split(|sign: char| !(sign.is_ascii_alphanumeric() || "-_".contains(sign)));
        let words = words.map(|word| word.strip_prefix("opctl-").unwrap_or(word));
        let found = words.filter(|word| ["-unknown-linux-musl", "-apple-darwin"].iter().any(|end| word.ends_with(end)));
        assert_eq!(found.map(String::from).collect::<BTreeSet<_>>(), targets, "{path}");
    }
}

/// Runs a program, and returns its exit code, stdout and stderr.
#[cfg(unix)]
fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[cfg(unix)]
#[test]
fn a_tag_needs_its_version_in_the_manifest_and_a_section_in_the_changelog() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("packaging")).unwrap();
    fs::copy(Path::new(ROOT).join("packaging/notes"), folder.join("packaging/notes")).unwrap();
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"opctl\"\nversion = \"0.2.0\"\n").unwrap();
    let changelog = "# Changelog\n\n## [Unreleased]\n\n- later\n\n## [0.2.0] - 2027-01-01\n\n### New\n\n- this\n\n## [0.1.0] - 2026-01-01\n\n- old\n";
    fs::write(folder.join("CHANGELOG.md"), changelog).unwrap();
    let notes = |tag: &str| run(Command::new("sh").arg(folder.join("packaging/notes")).arg(tag));

    assert_eq!(notes("v0.2.0"), (0, "\n### New\n\n- this\n".into(), String::new()));
    let (code, _, err) = notes("v0.1.0");
    assert_eq!(code, 1);
    assert_eq!(
        err,
        "error: the tag is v0.1.0, but Cargo.toml has another version; set it, or tag the commit that does\n"
    );
    fs::write(folder.join("CHANGELOG.md"), "# Changelog\n\n## [Unreleased]\n\n- this\n").unwrap();
    let (code, _, err) = notes("v0.2.0");
    assert_eq!(code, 1);
    assert_eq!(err, "error: CHANGELOG.md has no section `## [0.2.0] - DATE`; rename `## [Unreleased]`\n");
}

/// `dist` needs GNU tar.
#[cfg(target_os = "linux")]
mod dist {
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;
    use crate::mirror::{Server, file, reply};

    /// A target whose binary does not run.
    const BROKEN: &str = "x86_64-apple-darwin";

    fn program(path: &Path, script: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The files of a release, whose binaries are scripts that run this opctl.
    fn dist(folder: &Path) -> PathBuf {
        let (built, dist) = (folder.join("built"), folder.join("dist"));
        for target in targets() {
            let script = format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_opctl"));
            let script = if target == BROKEN { "echo no such loader >&2; exit 127" } else { &script };
            program(&built.join(format!("opctl-{target}/opctl")), script);
        }
        let mut command = Command::new(Path::new(ROOT).join("packaging/dist"));
        let made = run(command.arg(VERSION).args([&built, &dist]).env("SOURCE_DATE_EPOCH", "1700000000"));
        assert_eq!(made.0, 0, "{made:?}");
        dist
    }

    /// A machine with an empty home folder and a fake `uname`, and a server with a release.
    struct Machine {
        folder: TempDir,
        server: Server,
    }

    impl Machine {
        /// `answer` modifies the files of the server.
        fn new(system: &str, machine: &str, answer: fn(&str, Vec<u8>) -> Vec<u8>) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let script = format!("case $1 in -s) echo {system} ;; -m) echo {machine} ;; esac");
            program(&folder.path().join("bin/uname"), &script);
            program(&folder.path().join("bin/sysctl"), "exit 1");
            let dist = dist(folder.path());
            let server = Server::start(move |request| {
                let name = request.target.rsplit('/').next().unwrap();
                match fs::read(dist.join(name)) {
                    Ok(content) => file(request, &answer(name, content)),
                    Err(_) => reply("404 Not Found", "", b""),
                }
            });
            Self { folder, server }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.folder.path().join(path)
        }

        /// Runs the script like `curl … | sh`.
        fn install(&self, variables: &[(&str, &str)]) -> (i32, String, String) {
            let script = fs::File::open(self.path("dist/install.sh")).unwrap();
            let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
            let mut command = Command::new("sh");
            command.stdin(script).env("PATH", path).env("HOME", self.path("home"));
            command
                .env("OPCTL_RELEASE_MIRROR", self.server.url())
                .env_remove("OPCTL_VERSION")
                .env_remove("OPCTL_INSTALL_DIR");
            run(command.envs(variables.iter().copied()))
        }

        /// The error, without the name of the server. Asserts that nothing was installed.
        fn refusal(&self, variables: &[(&str, &str)]) -> String {
            let (code, out, err) = self.install(variables);
            assert_eq!((code, out.as_str()), (1, ""), "{err}");
            assert!(!self.path("home/.local/bin/opctl").exists());
            let err = err.lines().find(|line| line.starts_with("error: ")).unwrap();
            err.replace(&self.server.url(), "URL").replace(self.folder.path().to_str().unwrap(), "FOLDER")
        }
    }

    fn unchanged(_: &str, content: Vec<u8>) -> Vec<u8> {
        content
    }

    #[test]
    fn archives_contain_man_pages_and_completions_and_are_reproducible() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [dist, again] = [0, 1].map(|at| dist(folders[at].path()));
        let sums = fs::read_to_string(dist.join("SHA256SUMS")).unwrap();
        assert_eq!(sums, fs::read_to_string(again.join("SHA256SUMS")).unwrap());
        let mut files: Vec<_> = targets().iter().map(|target| format!("opctl-{target}.tar.gz")).collect();
        files.insert(0, "install.sh".to_owned());
        assert_eq!(sums.lines().map(|line| line.split_once("  ").unwrap().1).collect::<Vec<_>>(), files);

        let target = "aarch64-apple-darwin";
        let archive = dist.join(format!("opctl-{target}.tar.gz"));
        let (_, list, _) = run(Command::new("tar").arg("-tvzf").arg(archive));
        for path in ["LICENSE", "README.md", "CHANGELOG.md", "man/opctl.1", "man/opctl-create-api.1"] {
            assert!(list.contains(&format!(" opctl-{target}/{path}\n")), "{path}\n{list}");
        }
        for path in ["completions/opctl.bash", "completions/opctl.fish", "completions/_opctl"] {
            assert!(list.contains(&format!(" opctl-{target}/{path}\n")), "{path}\n{list}");
        }
        assert!(list.contains("-rwxr-xr-x 0/0"), "{list}");

        for template in ["opctl.rb", "opctl.yaml"] {
            let rendered = fs::read_to_string(dist.join(template)).unwrap();
            assert!(!rendered.contains('@'), "{rendered}");
            for line in sums.lines().filter(|line| line.ends_with(".tar.gz")) {
                let (sum, archive) = line.split_once("  ").unwrap();
                let (_, rest) = rendered.split_once(&format!("/releases/download/v{VERSION}/{archive}")).unwrap();
                let next = rest.lines().nth(1).unwrap();
                assert!(
                    next.contains(&format!("sha256 \"{sum}\"")) || next.contains(&format!("sha256: \"{sum}\"")),
                    "{next}"
                );
            }
        }
    }

    #[test]
    fn the_latest_release_is_installed_into_the_home_folder() {
        let machine = Machine::new("Linux", "aarch64", unchanged);
        let (code, out, err) = machine.install(&[]);
        let folder = machine.path("home/.local/bin");
        let dir = folder.display();
        assert_eq!((code, err.as_str()), (0, ""));
        assert_eq!(out, format!("installed opctl {VERSION} as {dir}/opctl\nnext: add {dir} to PATH\n"));
        let files = ["opctl-aarch64-unknown-linux-musl.tar.gz", "SHA256SUMS"];
        assert_eq!(machine.server.targets(), files.map(|file| format!("/latest/download/{file}")));
        let entries: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(entries, ["opctl"]);
        assert_eq!(run(Command::new(folder.join("opctl")).arg("version")).0, 0);
    }

    #[test]
    fn variables_choose_the_version_and_the_folder() {
        let machine = Machine::new("Darwin", "arm64", unchanged);
        let folder = machine.path("bin").display().to_string();
        for version in [VERSION.to_owned(), format!("v{VERSION}")] {
            let (code, out, err) = machine.install(&[("OPCTL_VERSION", &version), ("OPCTL_INSTALL_DIR", &folder)]);
            assert_eq!((code, err.as_str()), (0, ""));
            assert_eq!(out, format!("installed opctl {VERSION} as {folder}/opctl\n"));
        }
        let archive = format!("/download/v{VERSION}/opctl-aarch64-apple-darwin.tar.gz");
        assert_eq!(machine.server.targets().iter().filter(|target| **target == archive).count(), 2);
    }

    #[test]
    fn what_cannot_be_verified_or_run_is_not_installed() {
        let changed = Machine::new("Linux", "x86_64", |name, content| match name {
            "SHA256SUMS" => content,
            _ => [content, vec![0]].concat(),
        });
        let error = changed.refusal(&[]);
        let start = "error: the checksum of URL/latest/download/opctl-x86_64-unknown-linux-musl.tar.gz is ";
        assert!(error.starts_with(start) && error.contains("; nothing was installed. Try again, "), "{error}");

        let unlisted = Machine::new("Linux", "x86_64", |name, content| match name {
            "SHA256SUMS" => Vec::new(),
            _ => content,
        });
        assert_eq!(
            unlisted.refusal(&[]),
            "error: URL/latest/download/SHA256SUMS does not list opctl-x86_64-unknown-linux-musl.tar.gz; nothing was \
             installed. Specify another release with OPCTL_VERSION"
        );

        let broken = Machine::new("Darwin", "x86_64", unchanged);
        program(&broken.path("home/bin/opctl"), "echo old");
        let folder = broken.path("home/bin");
        assert_eq!(
            broken.refusal(&[("OPCTL_INSTALL_DIR", folder.to_str().unwrap())]),
            "error: the binary for x86_64-apple-darwin does not run on this machine; nothing was installed. Build opctl from \
             source: cargo install --locked opctl"
        );
        assert_eq!(run(&mut Command::new(folder.join("opctl"))).1, "old\n");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn an_error_says_what_to_do() {
        let source = "build opctl from source: cargo install --locked opctl";
        let machine = Machine::new("Linux", "riscv64", unchanged);
        assert_eq!(machine.refusal(&[]), format!("error: there is no archive for Linux on riscv64; {source}"));
        let windows = Machine::new("MINGW64_NT-10.0", "x86_64", unchanged);
        assert_eq!(windows.refusal(&[]), "error: opctl does not run on Windows; run this in WSL");

        let machine = Machine::new("Linux", "x86_64", unchanged);
        fs::remove_file(machine.path("dist/opctl-x86_64-unknown-linux-musl.tar.gz")).unwrap();
        assert_eq!(
            machine.refusal(&[("OPCTL_VERSION", "9.9.9")]),
            "error: cannot download URL/download/v9.9.9/opctl-x86_64-unknown-linux-musl.tar.gz; the releases are listed on \
             https://github.com/opctl-rs/opctl/releases"
        );

        let machine = Machine::new("Linux", "x86_64", unchanged);
        let inside_a_file = machine.path("bin/uname/bin");
        assert_eq!(
            machine.refusal(&[("OPCTL_INSTALL_DIR", inside_a_file.to_str().unwrap())]),
            "error: cannot write to FOLDER/bin/uname/bin; set OPCTL_INSTALL_DIR to another folder, or run this as a user who \
             may write to it"
        );
    }
}
