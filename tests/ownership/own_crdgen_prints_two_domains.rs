kind Widget acme.io
kind Gadget partner.dev
//- src/bin/crdgen.rs
use kube::CustomResourceExt;
fn main() {
    for crd in [oracle::Widget::crd(), oracle::Gadget::crd()] {
        println!("{}", serde_json::to_string(&crd).unwrap());
    }
}
