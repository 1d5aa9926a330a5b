kind Widget acme.io
kind Gadget partner.dev
//- examples/crds.rs
fn main() {
    print(oracle::Widget::crd(), oracle::Gadget::crd());
}
