//! Downloads from a local server, through the library. Most tests of downloads are in opctl's
//! `tests/thorough/testenv_setup.rs`.
#![cfg(unix)]

#[expect(dead_code, reason = "opctl's tests use more of it")]
#[path = "../mirror/mod.rs"]
mod mirror;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mirror::{End, INDEX, Server, archive, cut, file, hash, index_at, mirror, name, reply};
use opctl_testenv::AssetsError;
use opctl_testenv::assets::{
    Cache, Event, Network, Proxies, Release, Search, Version, Wanted, download, find, platform,
};
use tempfile::TempDir;

/// Unlike for a mirror, the index is not next to the archives.
fn search(folder: &Path, server: &Server) -> Search {
    let mut network = Network::new(None, Proxies::default());
    network.index = format!("{}{INDEX}", server.url());
    network.patience = Duration::from_millis(400);
    Search {
        kubernetes: Some(Wanted::parse("1.36").unwrap()),
        kubebuilder_assets: None,
        path: Vec::new(),
        cache: Cache::at(folder.join("cache")),
        network,
    }
}

#[test]
fn archives_are_where_the_index_says_and_redirects_keep_the_range() {
    let bytes = archive("1.36.0");
    let tries = AtomicUsize::new(0);
    let files = Server::start(move |request| match (&request.target[..], tries.fetch_add(1, Ordering::SeqCst)) {
        ("/stored", 1) => cut(file(request, &bytes), 1000),
        ("/stored", _) => file(request, &bytes),
        _ => reply("302 Found", "Location: /stored\r\n", b""),
    });
    let text = index_at(&files.url(), &[("1.36.0", &archive("1.36.0"))]);
    let server = Server::start(move |_| reply("200 OK", "", &text));
    let folder = TempDir::new().unwrap();
    let found = download(&search(folder.path(), &server), &mut |_| ()).unwrap();
    assert_eq!(found.folder(), folder.path().join(format!("cache/kubernetes/1.36.0-{}", platform())));
    assert_eq!(found.version().unwrap(), Version::parse("1.36.0").unwrap());
    let first = format!("/{}", name("1.36.0"));
    assert_eq!(files.targets(), [&first[..], "/stored", &first, "/stored"]);
    assert_eq!(files.requests()[3].from(), archive("1.36.0").len() - 1000);
}

#[test]
fn a_server_that_goes_silent_is_left() {
    let bytes = archive("1.36.0");
    let tries = AtomicUsize::new(0);
    let server = Server::start_with(move |request| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => (cut(file(request, &bytes), 1000), End::Silent),
        _ => (file(request, &bytes), End::Closed),
    });
    let folder = TempDir::new().unwrap();
    let search = search(folder.path(), &server);
    let release = Release {
        version: Version::parse("1.36.0").unwrap(),
        archive: name("1.36.0"),
        hash: hash(&archive("1.36.0")),
        url: format!("{}/x", server.url()),
    };
    let part = folder.path().join("part");
    let began = Instant::now();
    let mut reasons = Vec::new();
    let watch = &mut |event: Event| {
        if let Event::Retrying { reason } = event {
            reasons.push(reason.to_owned());
        }
    };
    search.network.download(&release, &part, watch).unwrap();
    assert_eq!(reasons, ["nothing came for too long"]);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(fs::read(part).unwrap(), archive("1.36.0"));
}

#[test]
fn what_is_found_is_an_error_of_the_library_with_its_help() {
    let folder = TempDir::new().unwrap();
    let server = mirror(file);
    let mut search = search(folder.path(), &server);
    search.kubebuilder_assets = Some(folder.path().join("nowhere"));
    let error = find(&search, &mut |_| ()).unwrap_err();
    assert!(matches!(error, AssetsError::Incomplete { missing: "etcd", .. }));
    assert!(error.help(&search)[0].contains("both `etcd` and `kube-apiserver`"));
}
