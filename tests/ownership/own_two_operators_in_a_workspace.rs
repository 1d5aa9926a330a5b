//- Cargo.toml
[workspace]
members = ["a", "b", "common"]
//- common/Cargo.toml
[package]
name = "common"
version = "0.1.0"
edition = "2024"
//- common/src/lib.rs
pub fn log() {}
//- a/Cargo.toml
[package]
name = "a"
version = "0.1.0"
edition = "2024"
[dependencies]
common = { path = "../common" }
kube = "4"
schemars = "1"
serde = "1"
//- a/src/main.rs
kind Widget acme.io
//- b/Cargo.toml
[package]
name = "b"
version = "0.1.0"
edition = "2024"
[dependencies]
common = { path = "../common" }
kube = "4"
schemars = "1"
serde = "1"
//- b/src/main.rs
kind Gadget partner.dev
