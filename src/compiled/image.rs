//! Builds container images: finds a builder that works, and has its command lines. It knows nothing of the project but its
//! Dockerfile and context; `commands/build.rs` decides what is built, and runs the commands.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::toolchain::{self, ToolError};
use opctl_model::names::Image;
use opctl_process::{Child, quoted};

/// The programs whose arguments are known, in the order in which they are tried.
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

    /// A command that succeeds only where images can be built: with the daemon, and with BuildKit.
    fn probes(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Docker => &[&["version", "--format", "{{.Server.Version}}"], &["buildx", "version"]],
            Self::Podman | Self::Nerdctl => &[&["info"]],
            Self::Buildah => &[&["info"]],
        }
    }

    /// Whether it is made of the libraries of buildah rather than of BuildKit.
    fn is_buildah(self) -> bool {
        matches!(self, Self::Podman | Self::Buildah)
    }
}

/// A builder on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Builder {
    pub tool: Tool,
    /// The program and its first arguments: `sudo`, `nerdctl`.
    words: Vec<String>,
}

impl Builder {
    pub fn of(tool: Tool) -> Self {
        Self { tool, words: vec![tool.name().into()] }
    }

    /// A command as a user writes it, such as `/opt/bin/docker` or `sudo nerdctl`. The name of the program says which arguments it
    /// takes.
    pub fn parse(command: &str) -> Option<Self> {
        let words: Vec<String> = match Path::new(command).is_file() {
            // A path may have spaces.
            true => vec![command.into()],
            false => command.split_whitespace().map(String::from).collect(),
        };
        let program = Path::new(words.last()?).file_stem()?.to_str()?;
        let tool = Tool::ALL.into_iter().find(|tool| tool.name() == program)?;
        Some(Self { tool, words })
    }

    /// Why no image can be built with it.
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

    /// The command as a user would type it.
    pub fn shown(&self, arguments: &[String]) -> String {
        let words: Vec<String> = self.words.iter().chain(arguments).map(|word| quoted(word)).collect();
        words.join(" ")
    }

    /// Removes the list of images of an earlier build, to which this one would be added. It may not exist.
    pub fn forget(&self, folder: &Path, build: &Build) {
        if self.tool.is_buildah() && build.platforms.len() > 1 {
            let arguments = ["manifest", "rm", build.image.as_str()].map(String::from);
            let mut command = self.command(folder, &arguments);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let _ = Child::spawn(&mut command).and_then(Child::output);
        }
    }
}

/// What is built.
#[derive(Clone, Debug)]
pub struct Build<'a> {
    pub image: &'a Image,
    /// `os/architecture`; none: that of this machine.
    pub platforms: &'a [String],
    /// `KEY=VALUE`
    pub arguments: &'a [String],
    pub labels: Vec<(&'static str, String)>,
    /// The time of the image and of its files, in seconds since 1970.
    pub time: Option<&'a str>,
    /// The folder whose files the image is made from.
    pub context: &'a str,
    /// The list of the files in the context, where it is not `.dockerignore` there.
    pub ignore_file: Option<&'a str>,
    pub push: bool,
}

impl Build<'_> {
    /// The arguments of each command, in the order in which they run. `architecture` is that of this machine.
    pub fn commands(&self, tool: Tool, architecture: &str) -> Vec<Vec<String>> {
        let (image, several) = (self.image.as_str(), self.platforms.len() > 1);
        let mut build: Vec<&str> = match tool {
            Tool::Docker if several => vec!["buildx", "build"],
            // It would build all stages again.
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
                // Older releases do not set what `FROM --platform=$BUILDPLATFORM` needs.
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
        // What is built for several platforms is not among the images that docker keeps.
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
    /// In seconds since 1970.
    pub time: String,
    /// Files have changed since.
    pub is_dirty: bool,
    /// The address of the repository, as a page: `https://github.com/OWNER/REPOSITORY`.
    pub source: Option<String>,
}

/// The current commit of the repository that `folder` is in; `context` is the folder whose changes count.
pub fn commit(folder: &Path, context: &str) -> Result<Commit, ToolError> {
    let git = |arguments: &[&str]| toolchain::version(folder, "git", arguments);
    let head = git(&["log", "-1", "--format=%H %ct"])?;
    let (id, time) = head.split_once(' ').ok_or_else(|| ToolError::Broken(head.clone()))?;
    // The first line tells: without changes, there is none.
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

/// The way from a folder up to one above it: `../..`.
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
