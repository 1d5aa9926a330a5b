//! `opctl build`: builds the image of the operator with a builder on this machine, and pushes it. All checks run
//! before the first program.

use std::path::Path;

use clap::Args;

use super::{Console, Outcome, environment, project_folder, workspace_above};
use crate::error::{ExternalError, UserError, UserErrors};
use opctl_edit::plan::Mode;
use opctl_model::names::Image;
use opctl_tools::image::{self, Build, Builder, Commit, Tool};
use opctl_tools::toolchain::ToolError;

/// Build the operator's image with docker, podman, buildah or nerdctl
///
/// The image gets labels with the git repository, the commit and the tag, and the commit's time as its own, so that two builds of
/// one commit give the same image.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl build --image registry.example.com/memcached-operator:v1

  # For several platforms, and push it
  opctl build --image registry.example.com/memcached-operator:v1 --platform linux/amd64,linux/arm64 --push

  # Without a daemon
  opctl build --image registry.example.com/memcached-operator:v1 --builder buildah

  # Print the commands without running them
  opctl build --image registry.example.com/memcached-operator:v1 --dry-run")]
pub struct BuildArgs {
    /// The name of the image
    #[arg(long, value_name = "NAME[:TAG]", required_unless_present = "name")]
    pub image: Option<String>,

    /// The same, as in operator-sdk before 1.0
    #[arg(value_name = "NAME", conflicts_with = "image", hide = true)]
    pub name: Option<String>,

    /// The platforms of the image, e.g. linux/amd64,linux/arm64 [default: that of the builder]
    #[arg(long, value_name = "OS/ARCH", value_delimiter = ',')]
    pub platform: Vec<String>,

    /// Push the image to its registry
    #[arg(long)]
    pub push: bool,

    /// The builder: docker, podman, buildah or nerdctl, also with a path or as `sudo nerdctl` [default: the first that works]
    #[arg(long, value_name = "PROGRAM")]
    pub builder: Option<String>,

    /// Set an ARG of the Dockerfile; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub build_arg: Vec<String>,
}

pub fn run(args: &BuildArgs, console: &Console) -> anyhow::Result<Outcome> {
    refuse_flags(console)?;
    let image = request(args)?;
    let root = project_folder()?;
    let builder = match args.builder.as_deref().filter(|builder| !builder.is_empty()) {
        Some(command) => named(command, &root)?,
        None => first_that_works(&root)?,
    };
    let workspace = workspace_above(&root)?;
    let context = workspace.as_deref().map_or_else(|| ".".into(), |workspace| image::way_up(&root, workspace));
    check_files(&root, &context, console)?;

    let commit = commit(&root, &context, console);
    let (time, labels) = described(commit.as_ref(), &image);
    let build = Build {
        image: &image,
        platforms: &args.platform,
        arguments: &args.build_arg,
        labels,
        time: time.as_deref(),
        context: &context,
        ignore_file: workspace.is_some().then_some("Dockerfile.dockerignore"),
        push: args.push,
    };
    if builder.tool == Tool::Docker && args.platform.len() > 1 && !args.push {
        return Err(UserError::new("docker does not keep images for several platforms")
            .help("add `--push`, or build for one platform")
            .into());
    }
    let commands = build.commands(builder.tool, environment::architecture());
    if console.mode == Mode::DryRun {
        let lines: Vec<String> = commands.iter().map(|command| builder.shown(command) + "\n").collect();
        console.print(&lines.concat());
        return Ok(Outcome::Done);
    }
    builder.forget(&root, &build);
    for arguments in &commands {
        let shown = builder.shown(arguments);
        console.info(&shown);
        let status = opctl_process::run_foreground(&mut builder.command(&root, arguments))
            .map_err(|error| ExternalError(UserError::new(format!("cannot run `{shown}`: {error}"))))?;
        if !status.success() {
            return Err(ExternalError(failure(&builder, arguments, &status.to_string())).into());
        }
    }
    console.info(&format!("{} {image}", if args.push { "pushed" } else { "built" }));
    Ok(Outcome::Done)
}

/// Refuses flags about writing files, which this command ignores.
fn refuse_flags(console: &Console) -> Result<(), UserError> {
    let flag = match console.mode {
        Mode::Diff => "--diff",
        Mode::Check => "--check",
        Mode::Apply | Mode::DryRun if !console.overwrite.is_empty() => "--overwrite",
        Mode::Apply | Mode::DryRun => return Ok(()),
    };
    Err(UserError::new(format!("`{flag}` is for commands that write files, and `opctl build` writes none"))
        .help("`opctl build --dry-run` prints the commands without running them"))
}

/// The image, if all arguments are valid.
fn request(args: &BuildArgs) -> Result<Image, UserErrors> {
    let mut refusals = UserErrors::default();
    let name = args.image.as_ref().or(args.name.as_ref()).expect("one of both is required");
    let image = refusals.check(Image::parse(name));
    if image.as_ref().is_some_and(Image::has_digest) {
        refusals.push(
            UserError::new(format!("`{name}` has a digest, which an image gets when it is built"))
                .help("leave out what begins with `@`"),
        );
    }
    for platform in &args.platform {
        let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let parts: Vec<&str> = platform.split('/').collect();
        if !matches!(parts.len(), 2 | 3) || parts[0] != "linux" || !parts.iter().all(|part| is_part(part)) {
            refusals.push(
                UserError::new(format!("invalid platform `{platform}`"))
                    .help("use `linux/ARCHITECTURE`, e.g. `linux/amd64` or `linux/arm64`"),
            );
        }
    }
    for argument in &args.build_arg {
        if argument.split_once('=').is_none_or(|(name, _)| name.is_empty()) {
            refusals.push(UserError::new(format!("invalid build argument `{argument}`")).help("use `KEY=VALUE`"));
        }
    }
    refusals.settle()?;
    Ok(image.expect("a name that does not parse is refused"))
}

fn named(command: &str, root: &Path) -> Result<Builder, UserError> {
    let builder = Builder::parse(command).ok_or_else(|| {
        UserError::new(format!("`{command}` is not a known builder"))
            .help("use docker, podman, buildah or nerdctl; others build the `Dockerfile` without opctl")
    })?;
    builder.check(root).map_err(|error| {
        UserError::new(format!("cannot build images with `{command}`: {}", reason(&error)))
            .help("without `--builder`, opctl uses the first of docker, podman, buildah and nerdctl that works")
    })?;
    Ok(builder)
}

fn first_that_works(root: &Path) -> Result<Builder, UserError> {
    let mut reasons = Vec::new();
    for tool in Tool::ALL {
        let builder = Builder::of(tool);
        match builder.check(root) {
            Ok(()) => return Ok(builder),
            Err(error) => reasons.push(format!("\n  {}: {}", tool.name(), reason(&error))),
        }
    }
    Err(UserError::new(format!("no program that builds images works here{}", reasons.concat()))
        .help(
            "install one of them; buildah needs no daemon: https://github.com/containers/buildah/blob/main/install.md",
        )
        .help("`--builder PROGRAM` names one that is elsewhere"))
}

fn reason(error: &ToolError) -> &str {
    match error {
        ToolError::Missing => "not on the PATH",
        ToolError::Broken(reason) => reason,
    }
}

fn check_files(root: &Path, context: &str, console: &Console) -> Result<(), UserError> {
    if !root.join("Dockerfile").is_file() {
        return Err(UserError::new("there is no `Dockerfile` in the project")
            .help("restore it, e.g. from version control; `opctl init` writes one"));
    }
    if !root.join(context).join("Cargo.lock").is_file() {
        console.warn("there is no Cargo.lock, so this build selects the versions of all crates");
        console.hint("run `cargo generate-lockfile`, and commit the file");
    }
    Ok(())
}

/// The current commit. Without a repository, the image is built with fewer labels.
fn commit(root: &Path, context: &str, console: &Console) -> Option<Commit> {
    match image::commit(root, context) {
        Ok(commit) => {
            if commit.is_dirty {
                console.warn("there are changes that are not committed: the revision of the image ends in `-dirty`");
            }
            Some(commit)
        }
        Err(error) => {
            let reason = reason(&error);
            console.note(&format!(
                "the image has no revision, and the time of this build, because git has no commit here ({reason})"
            ));
            None
        }
    }
}

/// The creation time of the image, and its labels.
fn described(commit: Option<&Commit>, image: &Image) -> (Option<String>, Vec<(&'static str, String)>) {
    let time = environment::source_date_epoch().or_else(|| commit.map(|commit| commit.time.clone()));
    let revision = commit.map(|Commit { id, is_dirty, .. }| if *is_dirty { format!("{id}-dirty") } else { id.clone() });
    let labels = [
        ("org.opencontainers.image.source", commit.and_then(|commit| commit.source.clone())),
        ("org.opencontainers.image.revision", revision),
        ("org.opencontainers.image.version", image.tag().filter(|tag| *tag != "latest").map(String::from)),
    ];
    (time, labels.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

/// The error for a failed command of the builder, which has printed the reason.
fn failure(builder: &Builder, arguments: &[String], status: &str) -> UserError {
    let refusal = UserError::new(format!("`{}` failed: {status}", builder.shown(arguments)));
    match arguments.iter().any(|argument| argument == "push") {
        true => {
            let login = builder.shown(&["login".into(), "REGISTRY".into()]);
            refusal.help(format!("if the registry wants a login: `{login}`"))
        }
        false => refusal.help("its messages above tell why; the `Dockerfile` is yours to edit"),
    }
}
