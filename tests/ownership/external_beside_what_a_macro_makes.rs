kind Widget acme.io
kind Gadget partner.dev
macro_rules! kinds {
    ($($name:literal: $spec:ident),*) => { $(
        #[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        #[kube(group = "made.acme.io", version = "v1", kind = $name)]
        pub struct $spec {}
    )* };
}
kinds!("Wheel": WheelSpec);
//- Cargo.toml
[package]
name = "oracle"
version = "0.1.0"
edition = "2024"

[dependencies]
kube = "5"
elsewhere = "1"
//- src/bin/crdgen.rs
use elsewhere::Lever;
use kube::CustomResourceExt;
fn main() {
    println!("{}", serde_json::to_string(&Lever::crd()).unwrap());
}
