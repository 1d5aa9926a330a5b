kind Widget acme.io
kind Certificate cert-manager.io
//- src/bin/crdgen.rs
fn main() {
    print(oracle::Widget::crd(), oracle::Certificate::crd());
}
