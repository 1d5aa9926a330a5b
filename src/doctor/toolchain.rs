//! Checks that the tools that a project needs are installed and recent enough.

use super::{Finding, Target};
use opctl_cluster::{Kubectl, KubectlError};
use opctl_model::versions::Release;
use opctl_source::dependencies::{Dependencies, Locked};
use opctl_tools::helm;
use opctl_tools::toolchain::{ToolError, ToolVersion, version};

/// The virtual environment that the Makefile creates.
const VENV: &str = ".venv/bin";

pub fn examine(target: &Target, packages: &[Dependencies], kubectl: &Kubectl) -> Vec<Finding> {
    let folder = target.tree.root();
    let ask = |program: &str, arguments: &[&str]| version(folder, program, arguments);
    let programs = Programs {
        cargo: ask("cargo", &["--version"]),
        rustc: ask("rustc", &["--version"]),
        rustfmt: ask("rustfmt", &["--version"]),
        // Cargo also searches other locations for clippy.
        clippy: ask("cargo", &["clippy", "--version"]),
        make: ask("make", &["--version"]),
        kubectl: client(kubectl),
        // The daemon, if there is one, answers the second query.
        containers: ["docker", "podman"].map(|tool| {
            let version = ask(tool, &["--version"])?;
            ask(tool, &["version"]).map(|_| version)
        }),
        installer: Installer::ALL.into_iter().find(|installer| ask(installer.program(), &["--version"]).is_ok()),
        has_rustup: ask("rustup", &["--version"]).is_ok(),
        helm: target.has_charts().then(helm::version),
        ansible: target.has_ansible().then(|| {
            let venv = folder.join(VENV);
            let of = |program: &str| match venv.is_dir() {
                true => ask(&venv.join(program).display().to_string(), &["--version"]),
                false => ask(program, &["--version"]),
            };
            Ansible {
                python: ask("python3", &["--version"]),
                runner: of("ansible-runner"),
                core: of("ansible-playbook"),
            }
        }),
    };
    check(&programs, &needs(packages))
}

/// The versions of the programs.
struct Programs {
    cargo: ToolVersion,
    rustc: ToolVersion,
    rustfmt: ToolVersion,
    clippy: ToolVersion,
    make: ToolVersion,
    /// With the name of the command.
    kubectl: (String, ToolVersion),
    containers: [ToolVersion; 2],
    /// The package manager of this system.
    installer: Option<Installer>,
    has_rustup: bool,
    /// `None` if it is not needed.
    helm: Option<ToolVersion>,
    ansible: Option<Ansible>,
}

struct Ansible {
    python: ToolVersion,
    runner: ToolVersion,
    core: ToolVersion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Installer {
    Apt,
    Dnf,
    Zypper,
    Pacman,
    Apk,
    Brew,
}

impl Installer {
    const ALL: [Self; 6] = [Self::Apt, Self::Dnf, Self::Zypper, Self::Pacman, Self::Apk, Self::Brew];

    fn program(self) -> &'static str {
        match self {
            Self::Apt => "apt-get",
            Self::Dnf => "dnf",
            Self::Zypper => "zypper",
            Self::Pacman => "pacman",
            Self::Apk => "apk",
            Self::Brew => "brew",
        }
    }

    fn command(self, package: &str) -> String {
        let program = self.program();
        match self {
            Self::Apt | Self::Dnf | Self::Zypper => format!("sudo {program} install {package}"),
            Self::Pacman => format!("sudo pacman -S {package}"),
            Self::Apk => format!("sudo apk add {package}"),
            Self::Brew => format!("brew install {package}"),
        }
    }
}

/// A package, and the oldest compiler that supports it.
type Need = (String, String);

fn needs(packages: &[Dependencies]) -> Vec<Need> {
    let mut needs = Vec::new();
    for package in packages {
        needs.extend(package.rust_version.clone().map(|version| (package.package.clone(), version)));
        let Locked::Versions(built) = &package.locked else { continue };
        let kube = built.iter().filter(|built| built.name == "kube");
        needs.extend(kube.filter_map(|kube| Some((format!("kube {}", kube.version), kube.rust_version.clone()?))));
    }
    needs.dedup();
    needs
}

fn client(kubectl: &Kubectl) -> (String, ToolVersion) {
    let shown = kubectl.program.display().to_string();
    let answer = match kubectl.output(&["version", "--client", "--output=json"], "") {
        Ok(text) => serde_json::from_str::<serde_json::Value>(&text)
            .ok()
            .and_then(|value| Some(format!("{shown} {}", value["clientVersion"]["gitVersion"].as_str()?)))
            .ok_or_else(|| ToolError::Broken("it does not report its version".into())),
        Err(KubectlError::Missing(_)) => Err(ToolError::Missing),
        Err(KubectlError::NotStarted { reason, .. }) => Err(ToolError::Broken(reason.to_string())),
        Err(KubectlError::Failed { stderr, .. }) => {
            Err(ToolError::Broken(stderr.lines().last().unwrap_or_default().into()))
        }
    };
    (shown, answer)
}

fn check(programs: &Programs, needs: &[Need]) -> Vec<Finding> {
    let rust = || match programs.has_rustup {
        true => "rustup default stable".to_owned(),
        false => "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh".to_owned(),
    };
    let component = |name: &str| match (programs.has_rustup, programs.installer) {
        (true, _) => format!("rustup component add {name}"),
        (false, Some(Installer::Apt)) => Installer::Apt.command(if name == "clippy" { "rust-clippy" } else { name }),
        (false, Some(installer @ (Installer::Dnf | Installer::Zypper))) => installer.command(name),
        (false, _) => rust(),
    };
    let package = |name: &str| programs.installer.map(|installer| installer.command(name));
    let shim = match &programs.cargo {
        Err(ToolError::Broken(reason)) if reason.starts_with("rustup could not choose") => {
            Some((reason, "rustup default stable"))
        }
        Err(ToolError::Broken(reason)) if reason.starts_with("toolchain ") => {
            Some((reason, "rustup toolchain install"))
        }
        _ => None,
    };
    if let Some((reason, help)) = shim {
        let what = format!("`cargo` is installed without a toolchain ({})", reason.trim_end_matches('.'));
        return [vec![Finding::error(what).help(help)], check_others(programs, package)].concat();
    }
    let mut found = vec![program("cargo", &programs.cargo, || Finding::error("").help(rust()))];
    found.push(match &programs.rustc {
        Ok(version) => compiler(version, needs, programs.has_rustup, rust),
        silence @ Err(_) => program("rustc", silence, || Finding::error("").help(rust())),
    });
    found.push(program("rustfmt", &programs.rustfmt, || {
        Finding::warning("needed by `make fmt` and `make lint`").help(component("rustfmt"))
    }));
    found.push(program("clippy", &programs.clippy, || {
        Finding::warning("needed by `make lint`").help(component("clippy"))
    }));
    found.extend(check_others(programs, package));
    found
}

/// Checks the tools that are not part of a Rust toolchain.
fn check_others(programs: &Programs, package: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let mut found = vec![program("make", &programs.make, || {
        Finding::warning("the Makefile has the project's commands")
            .help(package("make").unwrap_or("install GNU make".into()))
    })];
    let (name, kubectl) = &programs.kubectl;
    found.push(program(name, kubectl, || {
        let finding = Finding::error("needed by `opctl install` and `opctl deploy`");
        match programs.installer {
            Some(Installer::Brew) => finding.help(Installer::Brew.command("kubectl")),
            _ => finding.help("opctl testenv setup, or see https://kubernetes.io/docs/tasks/tools/"),
        }
    }));
    found.extend(programs.helm.as_ref().map(|helm| {
        match helm {
            Ok(version) if !helm::is_supported(version) => {
                Finding::error(format!("helm {version} is not supported: the charts of the project need helm 4"))
                    .help(helm::INSTALL)
            }
            Ok(version) => Finding::ok(format!("helm {version}")),
            missing => {
                program("helm", missing, || Finding::error("needed by the charts of the project").help(helm::INSTALL))
            }
        }
    }));
    found.extend(programs.ansible.iter().flat_map(|ansible| check_ansible(ansible, &package)));
    let [docker, podman] = &programs.containers;
    found.push(match (docker, podman) {
        (Ok(version), _) | (_, Ok(version)) => Finding::ok(version),
        (Err(ToolError::Broken(reason)), _) => {
            let what = format!("`docker` has no daemon ({reason}): needed to build images, by `make docker-build`");
            Finding::warning(what).help("start Docker, e.g. `sudo systemctl start docker`, or set DOCKER_HOST")
        }
        (_, Err(ToolError::Broken(reason))) => {
            let what = format!("`podman` does not run ({reason}): needed to build images, by `make docker-build`");
            Finding::warning(what).help("podman machine start")
        }
        _ => {
            let what = "neither `docker` nor `podman` runs: needed to build images, by `make docker-build`";
            Finding::warning(what).help(package("podman").unwrap_or("install docker or podman".into()))
        }
    });
    found
}

/// The oldest versions of Python and ansible-runner that can run roles.
const PYTHON: &str = "3.11";
const RUNNER: &str = "2.4";

fn check_ansible(ansible: &Ansible, package: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let python = match &ansible.python {
        Ok(version) if Release::parse(version.trim_start_matches("Python ")) < Release::parse(PYTHON) => {
            Finding::error(format!("{version} is too old: Ansible needs {PYTHON}"))
                .help("set PYTHON to a newer one for `make .venv`")
        }
        python => program("python3", python, || {
            Finding::error("needed by the roles and playbooks of the project")
                .help(package("python3").unwrap_or("see https://www.python.org/downloads/".into()))
        }),
    };
    let missing = || Finding::error("needed by the roles and playbooks of the project").help("make .venv");
    let runner = match &ansible.runner {
        Ok(version) if Release::parse(version) < Release::parse(RUNNER) => {
            Finding::error(format!("ansible-runner {version} is too old: {RUNNER} is needed")).help("make .venv")
        }
        Ok(version) => Finding::ok(format!("ansible-runner {version}")),
        runner => program("ansible-runner", runner, missing),
    };
    vec![python, runner, program("ansible-playbook", &ansible.core, missing)]
}

/// A finding with the version, or `otherwise` with the reason before its message.
fn program(name: &str, answer: &ToolVersion, otherwise: impl Fn() -> Finding) -> Finding {
    let what = match answer {
        Ok(version) => return Finding::ok(version),
        Err(ToolError::Missing) => format!("no `{name}` on the PATH"),
        Err(ToolError::Broken(reason)) => format!("`{name}` does not run ({reason})"),
    };
    let finding = otherwise();
    let what = if finding.what.is_empty() { what } else { format!("{what}: {}", finding.what) };
    Finding { what, ..finding }
}

/// A finding about the compiler. `output` is e.g. `rustc 1.95.0 (59807616e 2026-04-14)`.
fn compiler(output: &str, needs: &[Need], has_rustup: bool, otherwise: impl Fn() -> String) -> Finding {
    let version = output.split(' ').nth(1).unwrap_or_default();
    let needed = needs.iter().max_by_key(|(_, needed)| Release::parse(needed));
    match needed {
        None => Finding::ok(output),
        Some((by, needed)) if Release::parse(version) < Release::parse(needed) => {
            let what = format!("rustc {version} is too old: {by} needs {needed}");
            Finding::error(what).help(if has_rustup { "rustup update stable".into() } else { otherwise() })
        }
        Some((by, needed)) => Finding::ok(format!("{output}, and {by} needs {needed}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opctl_cluster::findings::Severity;

    fn version_is(text: &str) -> ToolVersion {
        Ok(text.into())
    }

    fn all_there() -> Programs {
        Programs {
            cargo: version_is("cargo 1.95.0"),
            rustc: version_is("rustc 1.95.0 (59807616e 2026-04-14)"),
            rustfmt: version_is("rustfmt 1.9.0"),
            clippy: version_is("clippy 0.1.95"),
            make: version_is("GNU Make 4.3"),
            kubectl: ("kubectl".into(), version_is("kubectl v1.36.2")),
            containers: [Err(ToolError::Missing), version_is("podman version 5.4.0")],
            installer: Some(Installer::Apt),
            has_rustup: true,
            helm: None,
            ansible: None,
        }
    }

    fn worst(programs: &Programs, needs: &[Need]) -> Vec<String> {
        let found = check(programs, needs).into_iter().filter(|finding| finding.severity > Severity::Ok);
        found.map(|Finding { severity, what, help, .. }| format!("{} {what} -> {}", severity.word(), help[0])).collect()
    }

    #[test]
    fn nothing_is_wrong_where_all_is_there_and_new_enough() {
        let needs = [("shop".to_owned(), "1.89".to_owned()), ("kube 5.0.0".to_owned(), "1.95".to_owned())];
        assert_eq!(worst(&all_there(), &needs), [""; 0]);
        let nightly = Programs { rustc: version_is("rustc 1.100.0-nightly (abc 2026-04-14)"), ..all_there() };
        assert_eq!(worst(&nightly, &needs), [""; 0]);
    }

    #[test]
    fn the_newest_compiler_that_is_needed_counts() {
        let needs = [("shop".to_owned(), "1.89".to_owned()), ("kube 5.0.0".to_owned(), "1.100".to_owned())];
        let mut programs = all_there();
        assert_eq!(
            worst(&programs, &needs),
            ["error rustc 1.95.0 is too old: kube 5.0.0 needs 1.100 -> rustup update stable"]
        );
        programs.has_rustup = false;
        assert!(worst(&programs, &needs)[0].contains("sh.rustup.rs"));
    }

    #[test]
    fn a_shim_without_a_toolchain_and_a_client_without_a_daemon_do_not_count() {
        let broken = |reason: &str| Err(ToolError::Broken(reason.into()));
        let no_daemon =
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?";
        let mut programs = Programs {
            cargo: broken("rustup could not choose a version of cargo to run, and no default is configured."),
            rustc: broken("rustup could not choose a version of rustc to run, and no default is configured."),
            containers: [broken(no_daemon), Err(ToolError::Missing)],
            ..all_there()
        };
        let [shim, docker] = &worst(&programs, &[])[..] else { panic!("{:?}", worst(&programs, &[])) };
        assert!(shim.starts_with("error `cargo` is installed without a toolchain (rustup could"), "{shim}");
        assert!(shim.ends_with("-> rustup default stable"), "{shim}");
        assert!(docker.starts_with("warning `docker` has no daemon (Cannot connect"), "{docker}");
        programs.cargo = broken("toolchain '1.80' is not installed");
        assert!(worst(&programs, &[])[0].ends_with("-> rustup toolchain install"));
    }

    #[test]
    fn charts_need_helm_4() {
        let old = Programs { helm: Some(version_is("v3.18.0")), ..all_there() };
        let expected = "error helm v3.18.0 is not supported: the charts of the project need helm 4 -> install helm 4: https://helm.sh/docs/intro/install/";
        assert_eq!(worst(&old, &[]), [expected]);
        let new = Programs { helm: Some(version_is("v4.3.1")), ..all_there() };
        assert_eq!(worst(&new, &[]), [""; 0]);
    }

    #[test]
    fn missing_programs_are_reported_with_how_to_install_them() {
        let gone = || Err(ToolError::Missing);
        let broken = || Err(ToolError::Broken("'cargo-clippy' is not installed".into()));
        let programs = Programs { rustfmt: gone(), clippy: broken(), make: gone(), ..all_there() };
        assert_eq!(
            worst(&programs, &[]),
            [
                "warning no `rustfmt` on the PATH: needed by `make fmt` and `make lint` -> rustup component add rustfmt",
                "warning `clippy` does not run ('cargo-clippy' is not installed): needed by `make lint` -> rustup component add clippy",
                "warning no `make` on the PATH: the Makefile has the project's commands -> sudo apt-get install make",
            ]
        );
        let nothing = Programs {
            cargo: gone(),
            rustc: gone(),
            rustfmt: gone(),
            clippy: gone(),
            make: gone(),
            kubectl: ("kubectl".into(), gone()),
            containers: [gone(), gone()],
            installer: Some(Installer::Brew),
            has_rustup: false,
            helm: Some(gone()),
            ansible: None,
        };
        let worst = worst(&nothing, &[]);
        assert_eq!(worst.len(), 8);
        assert!(worst[5].ends_with("-> brew install kubectl"), "{worst:?}");
        assert_eq!(worst.iter().filter(|finding| finding.starts_with("error")).count(), 4);
    }
}
