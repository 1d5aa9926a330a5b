//! What the environment says about other programs, and nothing that gets into output.

use std::env;
use std::path::{Path, PathBuf};

use crate::cluster::Kubectl;

/// `said` is what the user calls it, with arguments where it needs some. Else `kubectl` on PATH, else that of
/// KUBEBUILDER_ASSETS.
pub fn kubectl(said: Option<&str>, context: Option<&str>) -> Kubectl {
    let (program, leading) = match said.filter(|said| *said != "kubectl") {
        // A path may have spaces.
        Some(said) if !Path::new(said).is_file() => words(said),
        Some(said) => (said.into(), Vec::new()),
        None => (on_path().or_else(in_assets).unwrap_or_else(|| "kubectl".into()), Vec::new()),
    };
    Kubectl { program, leading, context: context.map(String::from), kubeconfig: None }
}

fn words(said: &str) -> (PathBuf, Vec<String>) {
    let mut words = said.split_whitespace().map(String::from);
    (words.next().unwrap_or_default().into(), words.collect())
}

fn on_path() -> Option<PathBuf> {
    let mut folders = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>())?.into_iter();
    let name = format!("kubectl{}", env::consts::EXE_SUFFIX);
    // By its name alone it reads better in messages.
    folders.any(|folder| folder.join(&name).is_file()).then(|| "kubectl".into())
}

fn in_assets() -> Option<PathBuf> {
    let folder = env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty())?;
    let program = Path::new(&folder).join(format!("kubectl{}", env::consts::EXE_SUFFIX));
    program.is_file().then_some(program)
}

/// Where the API server calls an operator that runs here.
pub fn webhook_url() -> std::ffi::OsString {
    env::var_os("WEBHOOK_URL").filter(|url| !url.is_empty()).unwrap_or_else(|| "https://127.0.0.1:9443".into())
}
