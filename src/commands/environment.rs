//! Reads the environment of this machine: the locations of programs, downloads and test environments, proxies for
//! downloads, the address of webhooks, and the time of generated files. No other module reads environment variables, except
//! for `cargo_home.rs`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::error::UserError;
use opctl_testenv::assets::{Cache, Network, Proxies, Search, Wanted};

/// The locations in which programs are searched for.
pub fn search(kubernetes: Option<Wanted>, mirror: Option<&str>) -> Search {
    let mirror = mirror.map(ToOwned::to_owned).or_else(|| text(&["OPCTL_ENVTEST_MIRROR"]));
    Search {
        kubernetes,
        kubebuilder_assets: path("KUBEBUILDER_ASSETS"),
        path: env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default(),
        cache: Cache::at(cache()),
        network: Network::new(mirror.as_deref(), proxies()),
    }
}

/// The folder that contains the folders of test environments.
pub fn environments() -> PathBuf {
    cache().join("testenv")
}

/// `true` if a folder in PATH has the program.
pub fn has_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// `true` for a terminal that cannot move its cursor.
pub fn is_dumb_terminal() -> bool {
    env::var_os("TERM").is_some_and(|terminal| terminal == "dumb")
}

/// PATH with `folder` appended.
pub fn path_with(folder: &Path) -> Option<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(env::split_paths(&path).chain([folder.to_owned()])).ok()
}

/// The repository that a GitHub workflow has checked out.
pub fn github_workspace() -> Option<PathBuf> {
    std::env::var_os("GITHUB_WORKSPACE").map(PathBuf::from)
}

/// A file with categories of operators, which replace those of OperatorHub.io.
pub fn bundle_categories() -> Option<PathBuf> {
    path("OPERATOR_BUNDLE_CATEGORIES")
}

/// The build time that the user sets: <https://reproducible-builds.org/specs/source-date-epoch>.
pub fn source_date_epoch() -> Option<String> {
    text(&["SOURCE_DATE_EPOCH"])
}

/// The time for generated files: `SOURCE_DATE_EPOCH`, or else now, in UTC and in the format of RFC 3339.
///
/// # Errors
///
/// If `SOURCE_DATE_EPOCH` is not a number of seconds.
pub fn build_time() -> Result<String, UserError> {
    let Some(text) = source_date_epoch() else { return Ok(seconds(Timestamp::now())) };
    let time = text.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map(seconds).ok_or_else(|| {
        UserError::new(format!("SOURCE_DATE_EPOCH is not a time: `{text}`"))
            .help("set it to the seconds since 1970, e.g. `$(git log -1 --format=%ct)`, or unset it")
    })
}

fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The architecture of this machine, in the notation of images.
pub fn architecture() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// The URL at which the API server calls an operator on this machine.
pub fn webhook_url() -> OsString {
    path("WEBHOOK_URL").map_or_else(|| "https://127.0.0.1:9443".into(), PathBuf::into_os_string)
}

/// `OPCTL_CACHE`, or else `opctl` in the system's cache folder.
fn cache() -> PathBuf {
    path("OPCTL_CACHE").unwrap_or_else(|| {
        let home = || env::home_dir().unwrap_or_else(env::temp_dir);
        let caches = path("XDG_CACHE_HOME").unwrap_or_else(|| match env::consts::OS {
            "macos" => home().join("Library/Caches"),
            _ => home().join(".cache"),
        });
        caches.join("opctl")
    })
}

/// The user's folder for data of programs.
pub fn data_folder() -> PathBuf {
    path("XDG_DATA_HOME").unwrap_or_else(|| env::home_dir().unwrap_or_else(env::temp_dir).join(".local/share"))
}

/// The user's folder for configurations.
pub fn config_folder() -> PathBuf {
    path("XDG_CONFIG_HOME").unwrap_or_else(|| env::home_dir().unwrap_or_else(env::temp_dir).join(".config"))
}

/// The proxies for downloads, from the variables that curl reads. Go reads them too, except for ALL_PROXY.
fn proxies() -> Proxies {
    let none = text(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
    Proxies {
        http: text(&["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]),
        https: text(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
        none: none.split(',').map(ToOwned::to_owned).collect(),
    }
}

/// The variable with the proxy for this server, as kubectl and operators read it, and its value.
pub fn proxy_to(server: &str) -> Option<(&'static str, String)> {
    let names = match server.starts_with("http://") {
        true => ["HTTP_PROXY", "http_proxy"],
        false => ["HTTPS_PROXY", "https_proxy"],
    };
    names.into_iter().find_map(|name| Some((name, text(&[name])?)))
}

/// The hosts that are accessed without a proxy.
pub fn no_proxy() -> String {
    text(&["NO_PROXY", "no_proxy"]).unwrap_or_default()
}

fn path(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The value of the first variable that is set and not empty.
fn text(names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()))
}
