kind Widget acme.io
kind Gadget partner.dev
//- src/bin/crdgen.rs
use kube::CustomResourceExt;
/// Not `Gadget::crd()`.
fn main() {
    println!("{}", serde_json::to_string(&oracle::Widget::crd()).unwrap());
    // Nor oracle::Gadget::crd().
    println!("{}", "Gadget::crd()");
}
