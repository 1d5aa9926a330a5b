//! A server with an index, and archives whose programs are shell scripts.

mod server;

use flate2::Compression;
use flate2::write::GzEncoder;
use opctl_testenv::assets::platform;
use ring::digest::{SHA512, digest};

pub use server::*;

pub const INDEX: &str = "/envtest-releases.yaml";

/// The file name of an archive: `envtest-v1.36.0-linux-amd64.tar.gz`.
pub fn name(version: &str) -> String {
    format!("envtest-v{version}-{}.tar.gz", platform())
}

pub fn script(line: &str) -> Vec<u8> {
    format!("#!/bin/sh\n{line}\n").into_bytes()
}

/// The programs of a version, and a file that compression does not shrink.
pub fn programs(version: &str) -> Vec<(String, Vec<u8>)> {
    let mut state = 1u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    });
    let file = |name: &str, content| (format!("controller-tools/envtest/{name}"), content);
    vec![
        file("etcd", script("echo etcd Version: 3.6.0")),
        file("kube-apiserver", script(&format!("echo Kubernetes v{version}"))),
        file("kubectl", noise.take(300_000).collect()),
    ]
}

pub fn archive_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        // `set_path` would reject paths that lead out.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        header.set_cksum();
        tar.append(&header, &content[..]).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

pub fn archive(version: &str) -> Vec<u8> {
    archive_of(&programs(version))
}

pub fn hash(bytes: &[u8]) -> String {
    digest(&SHA512, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An index of archives with URLs below `url`.
pub fn index_at(url: &str, releases: &[(&str, &[u8])]) -> Vec<u8> {
    let mut text = "releases:\n".to_owned();
    for (version, archive) in releases {
        let name = name(version);
        let hash = hash(archive);
        text += &format!("  v{version}:\n    {name}:\n      hash: {hash}\n      selfLink: {url}/{name}\n");
    }
    text.into_bytes()
}

/// A mirror's index contains the original URLs of the archives, which must not be used.
pub fn index(releases: &[(&str, &[u8])]) -> Vec<u8> {
    index_at("https://releases.invalid", releases)
}

/// A mirror with 1.36.0 and 1.35.1. `answer` returns the responses for archives.
pub fn mirror(answer: impl Fn(&Request, &[u8]) -> Vec<u8> + Send + Sync + 'static) -> Server {
    let releases = ["1.35.1", "1.36.0"].map(|version| (version, archive(version)));
    Server::start(move |request| {
        if request.target == INDEX {
            return reply("200 OK", "", &index(&releases.each_ref().map(|(version, bytes)| (*version, &bytes[..]))));
        }
        match releases.iter().find(|(version, _)| request.target == format!("/{}", name(version))) {
            Some((_, archive)) => answer(request, archive),
            None => reply("404 Not Found", "", b""),
        }
    })
}
