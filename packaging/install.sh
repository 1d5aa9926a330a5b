#!/bin/sh
# Installs opctl from a release on GitHub:
#
#   curl -fsSL https://github.com/opctl-rs/opctl/releases/latest/download/install.sh | sh
#
# Environment variables:
#
#   OPCTL_VERSION         the version, such as 0.1.0 [default: the latest release]
#   OPCTL_INSTALL_DIR     the folder for the binary [default: ~/.local/bin]
#   OPCTL_RELEASE_MIRROR  the URL of a mirror of https://github.com/opctl-rs/opctl/releases, with the same paths below it
#
# The script verifies the checksum of the archive, and writes one file, the binary.
set -eu

repository=https://github.com/opctl-rs/opctl

main() {
    target=$(detect_target)
    archive=opctl-$target.tar.gz
    releases=${OPCTL_RELEASE_MIRROR:-$repository/releases}
    case "${OPCTL_VERSION:-latest}" in
        latest) url=${releases%/}/latest/download ;;
        *) url=${releases%/}/download/v${OPCTL_VERSION#v} ;;
    esac
    dir=${OPCTL_INSTALL_DIR:-${HOME:?}/.local/bin}

    work=$(mktemp -d)
    new=$dir/.opctl.$$
    trap 'rm -rf "$work" "$new"' EXIT
    trap 'exit 1' HUP INT TERM

    download "$url/$archive" "$work/$archive"
    download "$url/SHA256SUMS" "$work/SHA256SUMS"
    verify_checksum
    tar -xzf "$work/$archive" -C "$work" "opctl-$target/opctl"

    # Renamed into place once it runs: an opctl that is running, or that works, is not overwritten.
    { mkdir -p "$dir" && cp "$work/opctl-$target/opctl" "$new" && chmod 755 "$new"; } ||
        fail "cannot write to $dir; set OPCTL_INSTALL_DIR to another folder, or run this as a user who may write to it"
    "$new" version >"$work/version" ||
        fail "the binary for $target does not run on this machine; nothing was installed. Build opctl from source:" \
            "cargo install --locked opctl"
    mv -f "$new" "$dir/opctl"

    echo "installed $(head -n 1 "$work/version") as $dir/opctl"
    case ":$PATH:" in
        *":$dir:"*) ;;
        *) echo "next: add $dir to PATH" ;;
    esac
}

detect_target() {
    machine=$(uname -m)
    # A shell that Rosetta translates.
    if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then machine=arm64; fi
    case "$(uname -s) $machine" in
        "Linux x86_64" | "Linux amd64") echo x86_64-unknown-linux-musl ;;
        "Linux aarch64" | "Linux arm64") echo aarch64-unknown-linux-musl ;;
        "Darwin x86_64") echo x86_64-apple-darwin ;;
        "Darwin arm64") echo aarch64-apple-darwin ;;
        MINGW* | MSYS* | CYGWIN*) fail "opctl does not run on Windows; run this in WSL" ;;
        *) fail "there is no archive for $(uname -s) on $machine; build opctl from source: cargo install --locked opctl" ;;
    esac
}

download() { # URL FILE
    if command -v curl >/dev/null; then
        curl -fsSL --retry 3 --proto-redir =https -o "$2" "$1"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1"
    else
        fail "curl and wget are missing; install one of them"
    fi || fail "cannot download $1; the releases are listed on $repository/releases"
}

verify_checksum() {
    if command -v sha256sum >/dev/null; then
        actual=$(sha256sum <"$work/$archive")
    elif command -v shasum >/dev/null; then
        actual=$(shasum -a 256 <"$work/$archive")
    else
        fail "sha256sum and shasum are missing; install one of them to verify the download"
    fi
    expected=$(awk -v archive="$archive" '$2 == archive { print $1 }' "$work/SHA256SUMS")
    if [ -z "$expected" ]; then
        fail "$url/SHA256SUMS does not list $archive; nothing was installed. Specify another release with OPCTL_VERSION"
    fi
    if [ "${actual%% *}" != "$expected" ]; then
        fail "the checksum of $url/$archive is ${actual%% *}, but SHA256SUMS lists $expected; nothing was installed." \
            "Try again, and report it on $repository/issues if it remains"
    fi
}

fail() {
    echo "error: $*" >&2
    exit 1
}

# The last line, so that a download that was cut short runs nothing.
main
