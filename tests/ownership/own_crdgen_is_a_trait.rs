kind Widget acme.io
kind Gadget partner.dev
pub trait Print: kube::CustomResourceExt {
    fn print() {
        println!("{}", serde_json::to_string(&Self::crd()).unwrap());
    }
}
impl Print for Widget {}
impl Print for Gadget {}
//- src/main.rs
use oracle::*;
fn main() {
    Widget::print();
    <Gadget as Print>::print();
}
