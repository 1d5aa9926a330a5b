pub mod api;
pub mod partner;
//- src/api.rs
kind Gateway acme.io
//- src/partner.rs
kind Gateway partner.dev
//- src/bin/crdgen.rs
use oracle::api::Gateway;
fn main() {
    println!("{}", serde_json::to_string(&Gateway::crd()).unwrap());
}
