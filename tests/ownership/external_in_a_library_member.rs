//- Cargo.toml
[workspace]
members = ["api", "operator"]
//- api/Cargo.toml
[package]
name = "api"
version = "0.1.0"
edition = "2024"
[dependencies]
kube = "4"
schemars = "1"
serde = "1"
//- api/src/lib.rs
kind Widget acme.io
kind Gadget partner.dev
//- operator/Cargo.toml
[package]
name = "operator"
version = "0.1.0"
edition = "2024"
[dependencies]
api = { path = "../api" }
kube = "4"

//- operator/src/main.rs
fn main() {}
//- operator/src/bin/crdgen.rs
use kube::CustomResourceExt;
fn main() {
    print(api::Widget::crd());
}
