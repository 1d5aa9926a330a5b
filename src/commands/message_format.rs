//! `--message-format`: prints the diagnostics of a run in a format for other programs.

use std::path::Path;

use clap::{Args, ValueEnum};

use super::{Console, Outcome, environment};
use crate::error::SourceErrors;
use opctl_model::diagnostic::{Diagnostic, formats};
use opctl_model::project::{Manifest, ProjectError, Tree};

#[derive(Args, Debug)]
pub struct MessageArgs {
    /// The format of errors and warnings in the project's files
    ///
    /// With json, github and sarif, they go to standard output, and everything else to standard error.
    #[arg(long, help_heading = "Output", value_name = "FORMAT", value_enum, default_value_t)]
    pub message_format: MessageFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// With the source
    #[default]
    Human,
    /// One line each
    Short,
    /// As `cargo check --message-format json`, for editors
    Json,
    /// As annotations of GitHub Actions
    Github,
    /// For code scanning
    Sarif,
}

impl MessageArgs {
    /// Runs a command on the crate at `root` (an absolute path), and then prints the diagnostics in this format.
    pub fn run(
        &self,
        root: &Path,
        console: &Console,
        command: impl FnOnce(&Console) -> anyhow::Result<Outcome>,
    ) -> anyhow::Result<Outcome> {
        if self.message_format == MessageFormat::Human {
            return command(console);
        }
        let console = console.collecting(self.message_format != MessageFormat::Short);
        let result = match command(&console) {
            Err(error)
                if error.is::<SourceErrors>()
                    || matches!(error.downcast_ref(), Some(ProjectError::Bad(_)))
                    || super::unreadable(&error).is_some() =>
            {
                super::report(&error, &console);
                Ok(Outcome::Problems)
            }
            result => result,
        };
        let success = matches!(result, Ok(Outcome::Done));
        console.print_collected(|diagnostics| self.message_format.text(diagnostics, root, success));
        result
    }
}

impl MessageFormat {
    fn text(self, diagnostics: &[Diagnostic], root: &Path, success: bool) -> String {
        let current = std::env::current_dir().unwrap_or_default();
        // The paths of annotations are relative to this folder.
        let repository = environment::github_workspace().unwrap_or_else(|| current.clone());
        match self {
            Self::Human | Self::Short => formats::short(diagnostics, |path| below(&current, &root.join(path))),
            Self::Json => formats::json(diagnostics, root, &package(root), success),
            Self::Github => formats::github(diagnostics, |path| below(&repository, &root.join(path))),
            Self::Sarif => formats::sarif(diagnostics, |path| below(&repository, &root.join(path))),
        }
    }
}

/// The name and version of the crate. Only diagnostics in its files need them.
fn package(root: &Path) -> String {
    let manifest = Manifest::read(&Tree::at(root), "").ok().flatten();
    let package = manifest.as_ref().and_then(|manifest| manifest.package());
    package.map_or_else(|| "unknown".into(), |(name, version)| format!("{name}@{version}"))
}

/// The path relative to the folder, if it is below the folder.
fn below(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}
