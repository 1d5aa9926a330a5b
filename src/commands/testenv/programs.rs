//! Finds or downloads the control plane binaries for all commands that start one, with a progress bar.

use opctl_testenv::assets::{self, Assets, AssetsError, Event, OLDEST, Search, Wanted};

use crate::commands::Console;
use crate::commands::environment;
use crate::error::{ExternalError, UserError};
use opctl_process::Shield;

/// Finds or downloads the programs of this version, or of any version if none is given.
pub fn assets(kubernetes: Option<&str>, mirror: Option<&str>, console: &Console) -> anyhow::Result<Assets> {
    let search = search(kubernetes, mirror)?;
    watched(&search, console, |watch| match assets::find(&search, watch)? {
        Some(assets) => Ok(assets),
        None => assets::download(&search, watch),
    })
}

/// The search locations, from the command line and the environment.
pub fn search(kubernetes: Option<&str>, mirror: Option<&str>) -> anyhow::Result<Search> {
    let wanted = kubernetes.map(Wanted::parse).transpose();
    let search = environment::search(wanted.as_ref().ok().copied().flatten(), mirror);
    wanted.map_err(|error| failed(error, &search))?;
    Ok(search)
}

/// Ctrl-C while an archive was unpacked. Unpacking is completed first.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Shows the progress of `work`.
pub fn watched<T>(
    search: &Search,
    console: &Console,
    work: impl FnOnce(&mut dyn FnMut(Event)) -> Result<T, AssetsError>,
) -> anyhow::Result<T> {
    let mut bar = console.progress();
    let mut is_reported = false;
    let mut shield = None;
    let result = work(&mut |event| match event {
        Event::Skipped { folder, version } => {
            let reason = match search.kubernetes {
                Some(wanted) => format!("not {wanted}"),
                None => format!("older than {}.{}", OLDEST.major, OLDEST.minor),
            };
            console.note(&format!("`{}` on PATH has Kubernetes {version}, {reason}: passed over", folder.display()));
        }
        Event::Waiting { folder } => console.info(&format!("waiting for another opctl in `{}`", folder.display())),
        Event::Downloading { url, size } => {
            if !std::mem::replace(&mut is_reported, true) {
                let size = size.map(|size| format!(" ({})", megabytes(size))).unwrap_or_default();
                console.info(&format!("downloading `{url}`{size}"));
            }
        }
        Event::Progress { done, size } => bar.show(&drawn(done, size)),
        Event::Retrying { reason } => {
            bar.clear();
            console.note(&format!("{reason}: trying again"));
        }
        Event::Unpacking => shield = Some(Shield::raise()),
    });
    bar.clear();
    if shield.is_some_and(|shield| shield.is_interrupted()) {
        return Err(Interrupted.into());
    }
    result.map_err(|error| failed(error, search))
}

/// A progress bar: `[=====>    ] 42 % of 61 MB`.
fn drawn(done: u64, size: Option<u64>) -> String {
    const WIDTH: usize = 40;
    let Some(size) = size.filter(|size| *size > 0) else { return megabytes(done) };
    let percent = (done * 100 / size).min(100);
    let line = "=".repeat(usize::try_from(percent).unwrap_or_default() * WIDTH / 100);
    format!("[{:width$}] {percent} % of {}", line + ">", megabytes(size), width = WIDTH + 1)
}

fn megabytes(bytes: u64) -> String {
    match bytes {
        0..10_000_000 => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

fn failed(error: AssetsError, search: &Search) -> anyhow::Error {
    let refusal = UserError { message: error.to_string(), help: error.help(search) };
    ExternalError(refusal).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_grows_to_its_end() {
        assert_eq!(drawn(0, Some(61_500_000)), format!("[>{}] 0 % of 61 MB", " ".repeat(40)));
        assert_eq!(
            drawn(30_750_000, Some(61_500_000)),
            format!("[{}>{}] 50 % of 61 MB", "=".repeat(20), " ".repeat(20))
        );
        assert_eq!(drawn(61_500_000, Some(61_500_000)), format!("[{}>] 100 % of 61 MB", "=".repeat(40)));
        assert_eq!(drawn(1_250_000, None), "1.2 MB");
    }
}
