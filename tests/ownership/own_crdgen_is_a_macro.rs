kind Widget acme.io
kind Gadget partner.dev
//- src/bin/crdgen.rs
macro_rules! print_crds {
    ($($kind:ty),*) => { $(println!("{}", serde_json::to_string(&<$kind as kube::CustomResourceExt>::crd()).unwrap());)* };
}
fn main() {
    print_crds!(oracle::Widget, oracle::Gadget);
}
