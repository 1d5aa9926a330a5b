//- Cargo.toml
[workspace]
members = ["partner", "operator"]
//- partner/Cargo.toml
[package]
name = "partner"
version = "0.1.0"
edition = "2024"
[dependencies]
kube = "4"
schemars = "1"
serde = "1"
//- partner/src/lib.rs
kind Gadget partner.dev
//- operator/Cargo.toml
[package]
name = "operator"
version = "0.1.0"
edition = "2024"
[dependencies]
partner = { path = "../partner" }
kube = "4"
schemars = "1"
serde = "1"
//- operator/src/main.rs
kind Widget acme.io
kind Lever acme.io
fn main() {}
