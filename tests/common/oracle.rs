//! A crate whose compiled types print their CRDs, for comparison with the CRDs that opctl derives from its source.

/// The Cargo.toml of an oracle. All oracles have the same dependencies, so that kube is compiled once.
pub fn manifest(name: &str) -> String {
    include_str!("../engine/oracle.toml").replace("\"oracle\"", &format!("\"{name}\""))
}
