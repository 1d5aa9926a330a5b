//! Runs cargo: finds the binary target, compiles and runs it, and returns its output.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anstream::adapter::strip_str;
use serde_json::Value;

use super::Failure;
use crate::diagnostics::{OP040, OP041, OP042, OP043, OP044};
use opctl_model::diagnostic::Diagnostic;
use opctl_model::names::nearest;
use opctl_model::project::{Features, PROJECT};
use opctl_process::Child;

/// A binary of a package, as listed by cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub package: String,
    /// Cargo's options that select its features.
    pub options: Vec<String>,
    /// Its Cargo.toml and the target folder, unless cargo finds both itself.
    pub manifest: Option<(PathBuf, PathBuf)>,
    /// The arguments of the binary.
    pub arguments: Vec<String>,
}

/// The binaries with these names, or with these names after the package's name, of the package in `folder` and of all
/// members of the workspace with this root. At least one for each name.
pub fn programs(
    folder: &Path,
    names: &[String],
    arguments: &[String],
    features: &Features,
) -> Result<Vec<Program>, Box<Failure>> {
    let all = binaries(&metadata(folder)?, folder, features);
    let mut found: Vec<Program> = Vec::new();
    for name in names {
        let mut named = all.iter().filter(|program| program.is(name)).peekable();
        if named.peek().is_none() {
            return Err(Box::new(no_binary(name, &all).into()));
        }
        found.extend(named.map(|program| Program { arguments: arguments.to_vec(), ..program.clone() }));
    }
    Ok(found)
}

/// The packages of the workspace around a folder, without their dependencies.
pub fn metadata(folder: &Path) -> Result<Value, Box<Failure>> {
    let mut command = cargo(folder);
    command.args(["metadata", "--no-deps", "--format-version", "1", "--color", "always"]);
    let output = Child::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped())).and_then(Child::output);
    let output = output.map_err(not_started)?;
    if !output.status.success() {
        let diagnostic = OP040.error("cargo cannot read the package");
        return Err(Box::new(Failure { diagnostic, stderr: text(&output.stderr) }));
    }
    let not_read = |error| Failure::from(OP040.error(format!("cargo's answer is not JSON: {error}")));
    Ok(serde_json::from_slice(&output.stdout).map_err(not_read)?)
}

/// Compiles a binary of the package in `folder`, with cargo's output on standard error. Returns its path, or `None`
/// if it does not compile.
pub fn build(folder: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let mut command = cargo(folder);
    command.args(["build", "--message-format", "json-render-diagnostics", "--bin", name]).stdout(Stdio::piped());
    let output = Child::spawn(&mut command)?.output()?;
    let executable = |line: &[u8]| {
        let message: Value = serde_json::from_slice(line).ok()?;
        let is_it = message["reason"] == "compiler-artifact" && message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| is_it).map(PathBuf::from)
    };
    let path = output.stdout.split(|byte| *byte == b'\n').rev().find_map(executable);
    Ok(path.filter(|_| output.status.success()))
}

fn cargo(folder: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn not_started(error: io::Error) -> Box<Failure> {
    let diagnostic = if error.kind() == io::ErrorKind::NotFound {
        OP040.error("cargo is not on the PATH").help("install Rust from https://rustup.rs")
    } else {
        OP040.error(format!("cargo does not run: {error}"))
    };
    Box::new(diagnostic.into())
}

/// The package in `folder`, or all packages of the workspace with this root. In a project, members that are projects
/// themselves print other CRDs and are excluded.
pub fn asked<'p, P>(folder: &Path, root: &Path, packages: &'p [P], manifest: impl Fn(&P) -> &PathBuf) -> Vec<&'p P> {
    let (here, is_root, is_project) = (folder.join("Cargo.toml"), root == folder, folder.join(PROJECT).is_file());
    let is_requested = |package: &&P| {
        let manifest = manifest(package);
        *manifest == here || is_root && !(is_project && manifest.with_file_name(PROJECT).is_file())
    };
    packages.iter().filter(is_requested).collect()
}

/// All binaries of the package in `folder`, or of the workspace with this root.
fn binaries(metadata: &Value, folder: &Path, chosen: &Features) -> Vec<Program> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let manifest = |package: &Value| package["manifest_path"].as_str().map(PathBuf::from).unwrap_or_default();
    let packages: Vec<_> =
        list(&metadata["packages"]).into_iter().map(|package| (manifest(&package), package)).collect();
    let root = metadata["workspace_root"].as_str().map(Path::new).unwrap_or(Path::new(""));
    let mut binaries = Vec::new();
    for (_, package) in asked(folder, root, &packages, |(manifest, _)| manifest) {
        for target in list(&package["targets"]) {
            if list(&target["kind"]).iter().any(|kind| kind == "bin") {
                binaries.push(Program {
                    name: text(&target["name"]),
                    package: text(&package["name"]),
                    options: options(&package["features"], list(&target["required-features"]).iter().map(text), chosen),
                    manifest: None,
                    arguments: Vec::new(),
                });
            }
        }
    }
    binaries
}

/// Cargo's options for a binary. It is not built without the features that it requires. The features chosen by the user
/// may belong to other packages.
pub fn options(declared: &Value, required: impl Iterator<Item = String>, chosen: &Features) -> Vec<String> {
    let mut options = Vec::new();
    options.extend(chosen.all_features.then(|| "--all-features".into()));
    options.extend(chosen.no_default_features.then(|| "--no-default-features".into()));
    let own = chosen.features.iter().filter(|name| declared.get(name).is_some()).cloned();
    let features: Vec<String> = required.chain(own).collect();
    if !features.is_empty() {
        options.extend(["--features".into(), features.join(",")]);
    }
    options
}

fn no_binary(name: &str, all: &[Program]) -> Diagnostic {
    let names: Vec<&str> = all.iter().map(|program| program.name.as_str()).collect();
    let mut diagnostic = OP041.error(format!("there is no binary `{name}` that could print the CRDs"));
    if let Some(near) = nearest(name, names.iter().copied()) {
        diagnostic = diagnostic.help(format!("did you mean `--crdgen-bin {near}`?"));
    } else if !names.is_empty() {
        diagnostic = diagnostic.help(format!("name another with `--crdgen-bin`; there is `{}`", names.join("`, `")));
    }
    diagnostic.help(format!("or add `src/bin/{name}.rs`: `opctl explain OP041` shows one"))
}

impl Program {
    /// `true` if the binary has this name, with or without the name of its package: `shop-crdgen` is the `crdgen` of
    /// `shop`, because members of a workspace have one folder for binaries.
    fn is(&self, name: &str) -> bool {
        let own = self.name.strip_prefix(&self.package).and_then(|rest| rest.strip_prefix('-')).unwrap_or(&self.name);
        own == name || self.name == name
    }

    /// Compiles and runs the binary, and returns its output on stdout.
    pub fn output(&self, folder: &Path, progress: &mut dyn FnMut(&str)) -> Result<String, Box<Failure>> {
        self.build(folder, progress)?;
        progress(&format!("running {}", self.name));
        let mut command = self.command(folder, &["run", "--quiet"]);
        if !self.arguments.is_empty() {
            command.arg("--").args(&self.arguments);
        }
        let child = Child::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let output = child.and_then(Child::output).map_err(not_started)?;
        if !output.status.success() {
            let message = format!("`{}`, which should print the CRDs, fails", self.name);
            let diagnostic = OP043.error(message).help(format!("try it yourself: `cargo run --bin {}`", self.name));
            return Err(Box::new(Failure { diagnostic, stderr: text(&output.stderr) }));
        }
        String::from_utf8(output.stdout).map_err(|_| {
            let message = format!("what `{}` prints is not UTF-8", self.name);
            Box::new(OP044.error(message).into())
        })
    }

    /// Compiles the binary separately from its run, to distinguish errors of the compiler from those of the program.
    fn build(&self, folder: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), Box<Failure>> {
        let mut command = self.command(folder, &["build", "--color", "always"]);
        // Otherwise, cargo shows its progress only on a terminal.
        command.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "100");
        let mut child = Child::spawn(command.stdout(Stdio::null()).stderr(Stdio::piped())).map_err(not_started)?;
        let (mut errors, mut line) = (String::new(), Vec::new());
        // Cargo redraws the progress bar on one line, so a line is processed at each carriage return.
        for byte in child.stderr().into_iter().flat_map(|stderr| BufReader::new(stderr).bytes()).map_while(Result::ok) {
            if !matches!(byte, b'\r' | b'\n') {
                line.push(byte);
                continue;
            }
            let line = text(&std::mem::take(&mut line));
            match news(&line) {
                Some(news) => progress(&news),
                // Cargo cleared its progress bar before this line.
                None => errors.push_str(&format!("{}\n", line.trim_start_matches("\x1b[K"))),
            }
        }
        if child.output().map_err(not_started)?.status.success() {
            return Ok(());
        }
        let message = format!("the crate does not compile, so `{}` cannot print the CRDs", self.name);
        let help = "fix the errors that cargo reports above";
        Err(Box::new(Failure { diagnostic: OP042.error(message).help(help), stderr: errors }))
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = cargo(folder);
        command.args(arguments).args(["--package", &self.package, "--bin", &self.name]).args(&self.options);
        if let Some((manifest, target)) = &self.manifest {
            command.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(target);
        }
        command
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Cargo's progress from a line of its output; `None` if the line is about the code.
///
/// `    Building [===>   ] 12/345: serde, kube(build)` → `compiling serde (12/345)`. Other states are right-aligned in
/// twelve columns.
fn news(line: &str) -> Option<String> {
    let line = strip_str(line).to_string();
    let (state, rest) = line.split_at_checked(12)?;
    let (state, rest) = (state.trim_start(), rest.strip_prefix(' ')?);
    let is_state =
        state.starts_with(|c: char| c.is_ascii_uppercase()) && state.chars().all(|c| c.is_ascii_alphabetic());
    if !is_state {
        return None;
    }
    let bar = rest.split_once("] ").filter(|_| rest.starts_with('[')).and_then(|(_, count)| count.split_once(": "));
    Some(match bar {
        Some((count, crates)) => {
            let krate = crates.split([',', '(', ' ']).next().unwrap_or_default();
            format!("compiling {krate} ({count})")
        }
        None => format!("{} {}", state.to_ascii_lowercase(), rest.trim_end()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_the_progress_of_cargo() {
        let progress = |line: &str| news(line);
        assert_eq!(
            progress("\x1b[K\x1b[1m\x1b[96m    Building\x1b[0m [====>    ] 12/345: kube-core(build), serde      "),
            Some("compiling kube-core (12/345)".into())
        );
        assert_eq!(
            progress("\x1b[1m\x1b[92m   Compiling\x1b[0m serde_json v1.0.154"),
            Some("compiling serde_json v1.0.154".into())
        );
        assert_eq!(
            progress("    Blocking waiting for file lock on build directory"),
            Some("blocking waiting for file lock on build directory".into())
        );
        for line in ["error[E0308]: mismatched types", "   |                    ^^^", " --> src/main.rs:2:25", ""] {
            assert_eq!(progress(line), None, "{line}");
        }
    }

    #[test]
    fn a_package_has_its_own_binaries_and_a_workspace_those_of_its_members() {
        let package = |name: &str, folder: &str| {
            json!({"name": name, "manifest_path": format!("{folder}/Cargo.toml"), "features": {"extra": []}, "targets": [
                {"kind": ["lib"], "name": "x"},
                {"kind": ["bin"], "name": "crdgen", "required-features": ["schema"]},
            ]})
        };
        let metadata = json!({"workspace_root": "/w", "packages": [package("w", "/w"), package("a", "/w/a"), package("b", "/w/b")]});
        let packages = |folder: &str| -> Vec<String> {
            binaries(&metadata, Path::new(folder), &Features::default())
                .into_iter()
                .map(|program| program.package)
                .collect()
        };
        let program = |name: &str| Program {
            name: name.into(),
            package: "shop".into(),
            options: Vec::new(),
            manifest: None,
            arguments: Vec::new(),
        };
        let names = ["crdgen", "shop-crdgen", "store-crdgen", "shop-shop-crdgen"];
        assert_eq!(names.map(|name| program(name).is("crdgen")), [true, true, false, false]);
        assert!(program("shop-crdgen").is("shop-crdgen"));
        assert_eq!(packages("/w/b"), ["b"]);
        assert_eq!(packages("/w"), ["w", "a", "b"]);
        let options = |chosen| binaries(&metadata, Path::new("/w/a"), &chosen).remove(0).options;
        assert_eq!(options(Features::default()), ["--features", "schema"]);
        let some = Features { features: vec!["extra".into(), "other".into()], ..Features::default() };
        assert_eq!(options(some), ["--features", "schema,extra"]);
        let all = Features { all_features: true, no_default_features: true, ..Features::default() };
        assert_eq!(options(all), ["--all-features", "--no-default-features", "--features", "schema"]);
    }
}
