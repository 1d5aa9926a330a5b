pub mod v1 {
    kind Gadget partner.dev
}
pub mod v2 {
    kind Gadget partner.dev version="v2" storage=false
}
kind Widget acme.io
//- src/bin/crdgen.rs
fn main() {
    println!("{}", serde_json::to_string(&oracle::Widget::crd()).unwrap());
}
