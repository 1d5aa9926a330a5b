//! A crate whose compiled types print their CRDs, which are compared with what opctl reads in its source.

/// The Cargo.toml of an oracle of this name. All have the same dependencies, so that kube is compiled once.
pub fn manifest(name: &str) -> String {
    include_str!("../engine/oracle.toml").replace("\"oracle\"", &format!("\"{name}\""))
}
