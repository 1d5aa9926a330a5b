//! Builds container images: finds a working builder, and generates its command lines. Of the project, it knows only the
//! Dockerfile and the context; `commands/build.rs` decides what is built, and runs the commands.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::toolchain::{self, ToolError};
use opctl_model::names::Image;
use opctl_process::{Child, quoted};

/// The supported builders, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Docker,
    Podman,
    Buildah,
    Nerdctl,
}

impl Tool {
    pub const ALL: [Self; 4] = [Self::Docker, Self::Podman, Self::Buildah, Self::Nerdctl];

    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Buildah => "buildah",
            Self::Nerdctl => "nerdctl",
        }
    }

    /// Commands that succeed only if the builder can build images, e.g. if its daemon runs and BuildKit is available.
    fn probes(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Docker => &[&["version", "--format", "{{.Server.Version}}"], &["buildx", "version"]],
            Self::Podman | Self::Nerdctl => &[&["info"]],
            Self::Buildah => &[&["info"]],
        }
    }

    /// `true` if the tool is based on buildah rather than BuildKit.
    fn is_buildah(self) -> bool {
        matches!(self, Self::Podman | Self::Buildah)
    }
}

/// A builder on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Builder {
    pub tool: Tool,
    /// The program and its leading arguments, e.g. `sudo` and `nerdctl`.
    words: Vec<String>,
}

impl Builder {
    pub fn of(tool: Tool) -> Self {
        Self { tool, words: vec![tool.name().into()] }
    }

    /// Parses a command such as `/opt/bin/docker` or `sudo nerdctl`. The name of the program determines its
    /// arguments.
    pub fn parse(command: &str) -> Option<Self> {
        let words: Vec<String> = match Path::new(command).is_file() {
            // The path of an existing file may contain spaces.
            true => vec![command.into()],
            false => command.split_whitespace().map(String::from).collect(),
        };
        let program = Path::new(words.last()?).file_stem()?.to_str()?;
        let tool = Tool::ALL.into_iter().find(|tool| tool.name() == program)?;
        Some(Self { tool, words })
    }

    /// Checks that the builder can build images.
    pub fn check(&self, folder: &Path) -> Result<(), ToolError> {
        self.tool.probes().iter().try_for_each(|probe| {
            let [program, leading @ ..] = &self.words[..] else { unreachable!("`parse` has found a program") };
            let arguments: Vec<&str> = leading.iter().map(String::as_str).chain(probe.iter().copied()).collect();
            toolchain::version(folder, program, &arguments).map(drop)
        })
    }

    pub fn command(&self, folder: &Path, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(arguments).current_dir(folder);
        command
    }

    /// The command line for a shell.
    pub fn shown(&self, arguments: &[String]) -> String {
        let words: Vec<String> = self.words.iter().chain(arguments).map(|word| quoted(word)).collect();
        words.join(" ")
    }

    /// Removes the image list of an earlier build, if any. Otherwise, this build would be added to it.
    pub fn forget(&self, folder: &Path, build: &Build) {
        if self.tool.is_buildah() && build.platforms.len() > 1 {
            let arguments = ["manifest", "rm", build.image.as_str()].map(String::from);
            let mut command = self.command(folder, &arguments);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let _ = Child::spawn(&mut command).and_then(Child::output);
        }
    }
}

/// The settings of a build.
#[derive(Clone, Debug)]
pub struct Build<'a> {
    pub image: &'a Image,
    /// Platforms as `os/architecture`. If empty, the platform of this machine.
    pub platforms: &'a [String],
    /// Build arguments as `KEY=VALUE`.
    pub arguments: &'a [String],
    pub labels: Vec<(&'static str, String)>,
    /// The time of the image and its files, in seconds since 1970.
    pub time: Option<&'a str>,
    /// The folder of the build context.
    pub context: &'a str,
    /// The ignore file of the context, if it is not its `.dockerignore`.
    pub ignore_file: Option<&'a str>,
    pub push: bool,
}

impl Build<'_> {
    /// The arguments of each command, in the order of execution. `architecture` is the one of this machine.
    pub fn commands(&self, tool: Tool, architecture: &str) -> Vec<Vec<String>> {
        let (image, several) = (self.image.as_str(), self.platforms.len() > 1);
        let mut build: Vec<&str> = match tool {
            Tool::Docker if several => vec!["buildx", "build"],
            // Without `--layers`, buildah would build all stages again.
            Tool::Buildah => vec!["build", "--layers"],
            Tool::Docker | Tool::Podman | Tool::Nerdctl => vec!["build"],
        };
        build.extend(["--file", "Dockerfile"]);
        build.extend([if tool.is_buildah() && several { "--manifest" } else { "--tag" }, image]);
        let platforms = self.platforms.join(",");
        let mut arguments = self.arguments.to_vec();
        if !platforms.is_empty() {
            build.extend(["--platform", &platforms]);
            if tool.is_buildah() {
                // Older releases do not set the arguments for `FROM --platform=$BUILDPLATFORM`.
                let build_platform =
                    [("BUILDPLATFORM", format!("linux/{architecture}")), ("BUILDARCH", architecture.into())];
                arguments.extend(build_platform.map(|(name, value)| format!("{name}={value}")));
            }
        }
        match self.time {
            Some(time) if tool.is_buildah() => build.extend(["--timestamp", time]),
            Some(time) => arguments.push(format!("SOURCE_DATE_EPOCH={time}")),
            None => {}
        }
        if let Some(file) = self.ignore_file.filter(|_| tool.is_buildah()) {
            build.extend(["--ignorefile", file]);
        }
        arguments.iter().for_each(|argument| build.extend(["--build-arg", argument]));
        let labels: Vec<String> = self.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        labels.iter().for_each(|label| build.extend(["--label", label]));
        // docker does not store images for several platforms locally, so the build itself must push them.
        let pushes_itself = tool == Tool::Docker && several;
        build.extend((pushes_itself && self.push).then_some("--push"));
        build.push(self.context);

        let destination = format!("docker://{image}");
        let push: Option<Vec<&str>> = (self.push && !pushes_itself).then(|| match (tool, several) {
            (Tool::Podman | Tool::Buildah, true) => vec!["manifest", "push", "--all", image, &destination],
            (Tool::Nerdctl, true) => vec!["push", "--all-platforms", image],
            (_, _) => vec!["push", image],
        });
        let owned = |command: Vec<&str>| command.into_iter().map(String::from).collect();
        [Some(build), push].into_iter().flatten().map(owned).collect()
    }
}

/// The commit that an image is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: String,
    /// Seconds since 1970.
    pub time: String,
    /// The files differ from the commit.
    pub is_dirty: bool,
    /// The URL of the repository's web page: `https://github.com/OWNER/REPOSITORY`.
    pub source: Option<String>,
}

/// The current commit of the repository around `folder`. Only changes in `context` make it dirty.
pub fn commit(folder: &Path, context: &str) -> Result<Commit, ToolError> {
    let git = |arguments: &[&str]| toolchain::version(folder, "git", arguments);
    let head = git(&["log", "-1", "--format=%H %ct"])?;
    let (id, time) = head.split_once(' ').ok_or_else(|| ToolError::Broken(head.clone()))?;
    // `version` returns the first line of the output, and an error if there is none, i.e. if there are no changes.
    let is_dirty = git(&["status", "--porcelain", "--", context]).is_ok();
    let source = git(&["remote", "get-url", "origin"]).ok().and_then(|address| page(&address));
    Ok(Commit { id: id.into(), time: time.into(), is_dirty, source })
}

/// `git@github.com:a/b.git` → `https://github.com/a/b`, without a password; `None` for a folder.
fn page(address: &str) -> Option<String> {
    let place = match address.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", place)) => place.to_owned(),
        Some(_) => return None,
        None => {
            let (host, path) = address.split_once(':').filter(|(host, _)| !host.contains('/'))?;
            format!("{host}/{path}")
        }
    };
    let (authority, path) = place.split_once('/')?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(format!("https://{host}/{}", path.trim_end_matches('/').trim_end_matches(".git")))
}

/// The relative path from a folder to one above it, such as `../..`.
pub fn way_up(from: &Path, to: &Path) -> String {
    let steps = from.strip_prefix(to).map_or(0, |rest| rest.components().count());
    let up: PathBuf = std::iter::repeat_n("..", steps).collect();
    if steps == 0 { ".".into() } else { up.display().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_builder_is_known_by_the_name_of_its_program() {
        let tool = |command: &str| Builder::parse(command).map(|builder| builder.tool);
        assert_eq!(tool("docker"), Some(Tool::Docker));
        assert_eq!(tool("/opt/bin/buildah"), Some(Tool::Buildah));
        assert_eq!(tool("sudo nerdctl"), Some(Tool::Nerdctl));
        for wrong in ["", "kaniko", "podman --remote"] {
            assert_eq!(tool(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_page_of_a_repository_has_no_password() {
        for address in [
            "git@example.com:team/shop.git",
            "ssh://git@example.com/team/shop.git",
            "https://me:secret@example.com/team/shop",
            "https://example.com/team/shop.git/",
        ] {
            assert_eq!(page(address).as_deref(), Some("https://example.com/team/shop"), "{address}");
        }
        for folder in ["/srv/shop.git", "../shop", "file:///srv/shop"] {
            assert_eq!(page(folder), None, "{folder}");
        }
    }

    #[test]
    fn the_context_of_a_member_is_above_it() {
        assert_eq!(way_up(Path::new("/a/b/c"), Path::new("/a")), "../..");
        assert_eq!(way_up(Path::new("/a"), Path::new("/a")), ".");
    }
}
