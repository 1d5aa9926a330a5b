class Opctl < Formula
  desc "Scaffold and check Kubernetes operators written in Rust"
  homepage "https://github.com/opctl-rs/opctl"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/opctl-rs/opctl/releases/download/v@VERSION@/opctl-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 opctl-aarch64-apple-darwin.tar.gz@"
    end
    on_intel do
      url "https://github.com/opctl-rs/opctl/releases/download/v@VERSION@/opctl-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 opctl-x86_64-apple-darwin.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/opctl-rs/opctl/releases/download/v@VERSION@/opctl-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 opctl-aarch64-unknown-linux-musl.tar.gz@"
    end
    on_intel do
      url "https://github.com/opctl-rs/opctl/releases/download/v@VERSION@/opctl-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 opctl-x86_64-unknown-linux-musl.tar.gz@"
    end
  end

  def install
    bin.install "opctl"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/opctl.bash" => "opctl"
    fish_completion.install "completions/opctl.fish"
    zsh_completion.install "completions/_opctl"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/opctl version")
  end
end
