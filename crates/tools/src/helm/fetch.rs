//! Fetches charts from all sources, with their dependencies.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::process::{Failure, run};
use super::{Files, HelmError, Workspace, ignore, refuse};
use opctl_charts::chart::{CHART, Dependency, Metadata, REQUIREMENTS};
use opctl_model::project::{Contents, Intake, Tree, read_regular};

/// The source of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The chart that `helm create` creates, with this name.
    Starter(String),
    /// A folder or an archive.
    Path(PathBuf),
    /// `repo/chart`, a URL, `oci://…`, or the name of a chart in `repo`.
    Remote { reference: String, repo: Option<String>, version: Option<String> },
}

/// Fetches a chart, and returns its folder with all dependencies in `charts/`.
pub fn fetch(source: &Source, workspace: &Workspace) -> Result<PathBuf, HelmError> {
    match source {
        Source::Starter(name) => {
            let folder = workspace.path(name);
            run(&["create", &folder.display().to_string()], "")
                .map_err(|failure| failure.into_error("helm creates no chart", "use a name of lowercase letters"))?;
            Ok(folder)
        }
        Source::Remote { reference, repo, version } => pull(reference, repo.as_deref(), version.as_deref(), workspace),
        Source::Path(path) if path.is_dir() => {
            let origin = path.canonicalize().unwrap_or_else(|_| path.clone());
            // The relative paths of dependencies stay valid between copies.
            copy(&origin, workspace, &mut BTreeSet::new())
        }
        Source::Path(path) => {
            let archive = read_regular(path).map_err(|error| HelmError {
                message: format!("cannot read `{}`: {error}", path.display()),
                help: "name the folder or the archive of a chart".into(),
            })?;
            for (name, content) in extract(&path.display().to_string(), &archive, &mut Intake::default())? {
                workspace.put(&format!("archive/{name}"), &content)?;
            }
            filled(&workspace.path("archive"), workspace)
        }
    }
}

fn pull(
    reference: &str,
    repo: Option<&str>,
    version: Option<&str>,
    workspace: &Workspace,
) -> Result<PathBuf, HelmError> {
    let folder = workspace.path("pulled");
    let target = folder.display().to_string();
    let mut arguments = vec!["pull", reference, "--untar", "--untardir", &target];
    arguments.extend(repo.iter().flat_map(|repo| ["--repo", repo]));
    arguments.extend(version.iter().flat_map(|version| ["--version", version]));
    let pulled = run(&arguments, "").or_else(|failure| match failure {
        // Other clients accept registries on this machine without TLS.
        Failure::Failed { text, .. } if text.contains("HTTP response to HTTPS client") && is_local(reference) => {
            run(&[&arguments[..], &["--plain-http"]].concat(), "")
        }
        failure => Err(failure),
    });
    pulled.map_err(|failure| {
        let help = "check the name and the version, `helm repo list`, and that the repository can be reached; a folder needs a \
                    path that exists";
        failure.into_error(&format!("cannot fetch the chart `{reference}`"), help)
    })?;
    let mut charts = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    match charts.find(|path| path.join(CHART).is_file()) {
        Some(chart) => filled(&chart, workspace),
        None => refuse(format!("`{reference}`, as fetched by helm, is not a chart"), "check the name of the chart"),
    }
}

/// `true` if a registry is on this machine.
fn is_local(reference: &str) -> bool {
    let address = reference.strip_prefix("oci://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|host| address.strip_prefix(host).is_some_and(|port| port.is_empty() || port.starts_with(':')))
}

/// Copies a chart and the charts that it refers to with `file://`, each to the corresponding path below the workspace.
fn copy(origin: &Path, workspace: &Workspace, copied: &mut BTreeSet<PathBuf>) -> Result<PathBuf, HelmError> {
    let place = origin.components().filter(|part| matches!(part, Component::Normal(_))).collect::<PathBuf>();
    let place = Path::new("copy").join(place).to_string_lossy().into_owned();
    let folder = workspace.path(&place);
    if !copied.insert(origin.to_owned()) {
        return Ok(folder);
    }
    // Fails before anything is copied if the folder is not a chart.
    let dependencies = metadata(origin)?.dependencies;
    let files = workspace.read(origin)?;
    let rules = files.get(ignore::FILE).map(|text| String::from_utf8_lossy(text).into_owned());
    let rules = ignore::Rules::parse(&rules.unwrap_or_default()).or_else(|reason| {
        refuse(
            format!("`{}`: {reason}", origin.join(ignore::FILE).display()),
            "helm does not read it, either: correct it",
        )
    })?;
    for (path, content) in files.into_iter().filter(|(path, _)| !rules.ignore(path)) {
        workspace.put(&format!("{place}/{path}"), &content)?;
    }
    for Dependency { name, repository, .. } in dependencies {
        let Some(path) = repository.strip_prefix("file://").filter(|path| !Path::new(path).is_absolute()) else {
            continue;
        };
        let Ok(target) = origin.join(path).canonicalize() else {
            let message = format!("`{}` depends on `{name}` in `{repository}`, which is missing", origin.display());
            return refuse(message, "correct the path in Chart.yaml");
        };
        copy(&target, workspace, copied)?;
    }
    filled(&folder, workspace)
}

/// The folder, with its dependencies in `charts/`.
fn filled(folder: &Path, workspace: &Workspace) -> Result<PathBuf, HelmError> {
    let wanted = metadata(folder)?.dependencies;
    let there = names_in(&workspace.read(folder)?)?;
    if wanted.iter().all(|dependency| there.contains(&dependency.name)) {
        return Ok(folder.to_owned());
    }
    let lock = if folder.join(REQUIREMENTS).exists() { "requirements.lock" } else { "Chart.lock" };
    let has_lock = folder.join(lock).exists();
    build(folder, &[]).or_else(|failure| match failure {
        // helm knows only repositories that the user added, but a dependency can be in any repository.
        Failure::Failed { text, .. } if text.contains("no repository definition") => {
            let config = with_repositories(&wanted, workspace)?;
            build(folder, &["--repository-config", &config]).map_err(|failure| not_built(failure, folder, workspace))
        }
        failure => Err(not_built(failure, folder, workspace)),
    })?;
    if !has_lock {
        // The lock file contains a timestamp, and is not needed if the dependencies are present.
        workspace.remove(&folder.join(lock))?;
    }
    Ok(folder.to_owned())
}

fn build(folder: &Path, more: &[&str]) -> Result<String, Failure> {
    let folder = folder.display().to_string();
    run(&[&["dependency", "build", &folder], more].concat(), "")
}

fn not_built(failure: Failure, folder: &Path, workspace: &Workspace) -> HelmError {
    let mut details = String::new();
    if let Failure::Failed { text, .. } = &failure {
        let lines = text.lines().filter(|line| line.contains("Unable to get an update") || line.starts_with('\t'));
        details = lines.map(|line| format!(" ({})", line.trim())).collect();
    }
    let help = "run `helm dependency build` in the folder of the chart to see more; then run this command again";
    let mut error = failure.into_error("cannot fetch the dependencies of the chart", help);
    let inside = folder.display().to_string();
    let copy = workspace.path("copy").display().to_string();
    error.message = (error.message + &details).replace(&inside, "the chart").replace(&copy, "");
    error
}

/// The path of a helm configuration with the user's repositories and those of the dependencies.
fn with_repositories(wanted: &[Dependency], workspace: &Workspace) -> Result<String, HelmError> {
    let failed = |failure: Failure| {
        failure.into_error("cannot add the repository of a dependency", "check `repository` in Chart.yaml")
    };
    let users = run(&["env", "HELM_REPOSITORY_CONFIG"], "").map_err(failed)?;
    workspace.put("repositories.yaml", &std::fs::read(users.trim()).unwrap_or_default())?;
    let config = workspace.path("repositories.yaml").display().to_string();
    let urls: BTreeSet<&str> =
        wanted.iter().map(|it| it.repository.as_str()).filter(|url| url.starts_with("http")).collect();
    for (number, url) in urls.into_iter().enumerate() {
        run(&["repo", "add", &format!("opctl-{number}"), url, "--repository-config", &config], "").map_err(failed)?;
    }
    Ok(config)
}

/// The files of a chart for a project. The archives in `charts/` are unpacked to folders.
pub fn unpacked(contents: Contents) -> Result<Files, HelmError> {
    let (mut files, mut intake) = (Files::default(), Intake::default());
    unpack("", contents, &mut intake, &mut files)?;
    Ok(files)
}

fn unpack(folder: &str, contents: Contents, intake: &mut Intake, files: &mut Files) -> Result<(), HelmError> {
    for (path, content) in contents {
        if let Some(charts) = folder_of_archive(&path) {
            let inside = extract(&path, &content, intake)?;
            let name = name_of(&path, &inside)?;
            unpack(&format!("{folder}{charts}/{name}/"), inside, intake, files)?;
        } else {
            files.add(format!("{folder}{path}"), content);
        }
    }
    Ok(())
}

/// The folder of a file, if the file is the archive of a dependency.
fn folder_of_archive(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/')?;
    ((folder == "charts" || folder.ends_with("/charts")) && name.ends_with(".tgz")).then_some(folder)
}

/// The names of the charts in `charts/`.
fn names_in(contents: &Contents) -> Result<BTreeSet<String>, HelmError> {
    let (mut names, mut intake) = (BTreeSet::new(), Intake::default());
    for (path, content) in contents.iter().filter(|(path, _)| path.starts_with("charts/")) {
        match path.split('/').collect::<Vec<_>>()[..] {
            [_, archive] if archive.ends_with(".tgz") => {
                _ = names.insert(name_of(path, &extract(path, content, &mut intake)?)?);
            }
            [_, folder, CHART] => {
                let metadata = Metadata::parse(&String::from_utf8_lossy(content), None);
                names.insert(metadata.map_or_else(|_| folder.to_owned(), |metadata| metadata.name));
            }
            _ => {}
        }
    }
    Ok(names)
}

/// The name of the chart in an archive.
fn name_of(path: &str, files: &Contents) -> Result<String, HelmError> {
    let text = files.get(CHART).map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
    match Metadata::parse(&text, None) {
        Ok(metadata) => Ok(metadata.name),
        Err((file, error)) => {
            refuse(format!("`{path}` is not a chart: {file}: {error}"), "run `helm dependency build` again")
        }
    }
}

/// The files in the archive of a chart, relative to its only folder.
fn extract(path: &str, archive: &[u8], intake: &mut Intake) -> Result<Contents, HelmError> {
    let broken = |error: &dyn std::fmt::Display| HelmError {
        message: format!("`{path}` is not the archive of a chart: {error}"),
        help: "`helm package` makes one".into(),
    };
    let contents = intake.archive(archive).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => HelmError {
            message: format!("cannot unpack `{path}`: {error}"),
            help: "a chart has templates and values only: leave large files out of it".into(),
        },
        _ => broken(&error),
    })?;
    let below = |(path, content): (String, Vec<u8>)| Some((path.split_once('/')?.1.to_owned(), content));
    let contents: Contents = contents.into_iter().filter_map(below).collect();
    match contents.contains_key(CHART) {
        true => Ok(contents),
        false => Err(broken(&"it has no Chart.yaml")),
    }
}

fn metadata(folder: &Path) -> Result<Metadata, HelmError> {
    let Ok(Some(text)) = Tree::of_others(folder).read(CHART) else {
        return refuse(
            format!("`{}` is not a chart: it has no Chart.yaml", folder.display()),
            "name the folder of a chart, or its archive",
        );
    };
    let failed = |file: &str, error: &dyn std::fmt::Display| HelmError {
        message: format!("`{}`: {error}", folder.join(file).display()),
        help: "`helm lint` in the folder of the chart shows more".into(),
    };
    let requirements = Tree::of_others(folder).read(REQUIREMENTS).map_err(|error| failed(REQUIREMENTS, &error))?;
    Metadata::parse(&text, requirements.as_deref()).map_err(|(file, error)| failed(file, &error))
}
