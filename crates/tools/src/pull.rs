//! Reads the files of a container image from a registry, or from the images of this machine. The first program that can
//! get the image saves it as an archive in docker's format, which is unpacked in memory. This is for bundles, which are
//! small.

use std::fmt;
use std::io;
use std::process::{Command, Stdio};

use serde::Deserialize;

use opctl_model::project::{Contents, Intake, LIMITS};
use opctl_process::Child;

/// The files of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// By path, without a leading `/`.
    pub files: Contents,
}

/// The reasons why programs cannot get an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullError {
    pub reasons: Vec<(&'static str, String)>,
}

/// A line for each program.
impl fmt::Display for PullError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reasons.iter().try_for_each(|(program, reason)| write!(f, "\n  {program}: {reason}"))
    }
}

/// The commands with which a program saves an image to standard output.
struct Way {
    program: &'static str,
    /// A command to run first, whose output is not needed.
    pull: &'static [&'static str],
    save: &'static [&'static str],
    /// The option for registries without a trusted certificate; `None` if this is in the configuration of the program.
    insecure: Option<(Step, &'static str)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Pull,
    Save,
}

/// Programs without a daemon are first. `{}` stands for the image.
const WAYS: [Way; 6] = [
    Way {
        program: "skopeo",
        pull: &[],
        // Without `--quiet`, skopeo prints its progress to standard output.
        save: &["copy", "--quiet", "docker://{}", "docker-archive:/dev/stdout"],
        insecure: Some((Step::Save, "--src-tls-verify=false")),
    },
    Way {
        program: "crane",
        pull: &[],
        save: &["pull", "{}", "/dev/stdout"],
        insecure: Some((Step::Save, "--insecure")),
    },
    Way { program: "docker", pull: &["pull", "{}"], save: &["save", "{}"], insecure: None },
    Way {
        program: "podman",
        pull: &["pull", "{}"],
        save: &["save", "--format", "docker-archive", "{}"],
        insecure: Some((Step::Pull, "--tls-verify=false")),
    },
    Way {
        program: "nerdctl",
        pull: &["pull", "{}"],
        save: &["save", "{}"],
        insecure: Some((Step::Pull, "--insecure-registry")),
    },
    Way {
        program: "buildah",
        pull: &["pull", "{}"],
        save: &["push", "--quiet", "{}", "docker-archive:/dev/stdout"],
        insecure: Some((Step::Pull, "--tls-verify=false")),
    },
];

/// The names of the programs.
pub fn programs() -> Vec<&'static str> {
    WAYS.iter().map(|way| way.program).collect()
}

/// The files of an image. `insecure` disables the verification of the registry's certificate.
///
/// # Errors
///
/// If no program can get the image, or the saved file is not an archive of an image.
pub fn files(image: &str, insecure: bool) -> Result<Files, PullError> {
    let mut reasons = Vec::new();
    for way in &WAYS {
        match way.files(image, insecure) {
            Ok(files) => return Ok(files),
            Err(reason) => reasons.push((way.program, reason)),
        }
    }
    Err(PullError { reasons })
}

impl Way {
    fn files(&self, image: &str, insecure: bool) -> Result<Files, String> {
        if !self.pull.is_empty() {
            // An image that was built on this machine need not be in a registry, so a failed pull is not an error yet.
            let pulled = self.output(Step::Pull, self.pull, image, insecure);
            if pulled.as_ref().is_err_and(|reason| reason == MISSING) {
                return Err(MISSING.into());
            }
            return match self.output(Step::Save, self.save, image, insecure) {
                Ok(archive) => unpack(&archive),
                Err(reason) => Err(pulled.err().unwrap_or(reason)),
            };
        }
        unpack(&self.output(Step::Save, self.save, image, insecure)?)
    }

    fn output(&self, step: Step, arguments: &[&str], image: &str, insecure: bool) -> Result<Vec<u8>, String> {
        let (first, rest) = arguments.split_first().expect("each way has arguments");
        let flag = self.insecure.filter(|(at, _)| insecure && *at == step).map(|(_, flag)| flag);
        let rest = rest.iter().map(|argument| argument.replace("{}", image));
        run(self.program, [(*first).to_owned()].into_iter().chain(flag.map(str::to_owned)).chain(rest))
    }
}

/// The standard output of a program, or the last line of its errors.
pub(super) fn run(program: &str, arguments: impl Iterator<Item = String>) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output =
        Child::spawn(&mut command).and_then(|child| child.output_within(LIMITS.total)).map_err(|error| match error
            .kind()
        {
            io::ErrorKind::NotFound => MISSING.to_owned(),
            _ => error.to_string(),
        })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
    Err(last.map_or_else(|| output.status.to_string(), str::to_owned))
}

/// The reason of a program that does not exist.
pub(super) const MISSING: &str = "not on the PATH";

/// `manifest.json` of the archive.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Manifest {
    layers: Vec<String>,
}

/// The files in the archive of an image, with all layers applied.
fn unpack(archive: &[u8]) -> Result<Files, String> {
    let bad = |reason: String| format!("its output is not an image archive: {reason}");
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::FileTooLarge => format!("the image is too large for a bundle: {error}"),
        _ => bad(error.to_string()),
    };
    let parts = Intake::default().archive(archive).map_err(unreadable)?;
    let manifest = parts.get("manifest.json").ok_or_else(|| bad("it has no `manifest.json`".into()))?;
    let manifests: Vec<Manifest> = serde_json::from_slice(manifest).map_err(|error| bad(error.to_string()))?;
    let [Manifest { layers }] = &manifests[..] else {
        return Err(bad(format!("it has {} images", manifests.len())));
    };
    let (mut files, mut unpacked) = (Contents::new(), Intake::default());
    for name in layers {
        let layer = parts.get(name).ok_or_else(|| bad(format!("it has no layer `{name}`")))?;
        lay_over(&mut files, unpacked.archive(&layer[..]).map_err(unreadable)?);
    }
    Ok(Files { files })
}

/// Removes the files that the layer deletes, see
/// <https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts>.
fn lay_over(files: &mut Contents, layer: Contents) {
    for path in layer.keys() {
        let (folder, name) = path.rsplit_once('/').map_or(("", path.as_str()), |(folder, name)| (folder, name));
        let at = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let removed = match name.strip_prefix(".wh.") {
            Some(".wh..opq") => folder.to_owned(),
            Some(name) => at(name),
            None => continue,
        };
        let is_below = |path: &str| path.strip_prefix(&removed).is_some_and(|rest| rest.starts_with('/'));
        files.retain(|path, _| !removed.is_empty() && *path != removed && !is_below(path));
    }
    let is_marker = |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with(".wh."));
    files.extend(layer.into_iter().filter(|(path, _)| !is_marker(path)));
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    use super::*;

    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (path, content) in files {
            let mut header = Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, path, *content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn layers_are_laid_over_each_other() {
        let first = archive(&[("manifests/a.yaml", b"1"), ("manifests/b.yaml", b"1"), ("tests/x", b"1"), ("c", b"1")]);
        let second =
            gzip(&archive(&[("manifests/b.yaml", b"2"), ("manifests/.wh.a.yaml", b""), ("tests/.wh..wh..opq", b"")]));
        let manifest = br#"[{"Config": "c.json", "RepoTags": null, "Layers": ["one.tar", "two.tar.gz"]}]"#;
        let image = archive(&[("manifest.json", manifest), ("one.tar", &first), ("two.tar.gz", &second)]);
        let Files { files } = unpack(&image).unwrap();
        let shown: Vec<(&str, &[u8])> = files.iter().map(|(path, content)| (path.as_str(), &content[..])).collect();
        assert_eq!(shown, [("c", &b"1"[..]), ("manifests/b.yaml", b"2")]);
    }

    #[test]
    fn what_is_no_image_is_an_error() {
        let none = archive(&[("a", b"1")]);
        let lost = archive(&[("manifest.json", br#"[{"Layers": ["one.tar"]}]"#)]);
        for (archive, reason) in
            [(&none, "no `manifest.json`"), (&lost, "no layer `one.tar`"), (&b"x".to_vec(), "not an image archive")]
        {
            assert!(unpack(archive).unwrap_err().contains(reason), "{reason}");
        }
    }
}
