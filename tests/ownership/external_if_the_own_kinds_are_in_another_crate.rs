kind Gadget partner.dev
kind Certificate cert-manager.io
//- src/bin/crdgen.rs
fn main() {
    println!("{}", serde_json::to_string(&acme_api::Widget::crd()).unwrap());
}
