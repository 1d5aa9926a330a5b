kind Widget acme.io
kind Gadget partner.dev
//- src/bin/crdgen.rs
use kube::CustomResourceExt;
fn main() {
    one::<oracle::Widget>();
    both::<oracle::Gadget>();
}
fn both<K: CustomResourceExt>() {
    one::<K>();
}
fn one<K>()
where
    K: CustomResourceExt,
{
    println!("{}", serde_json::to_string(&K::crd()).unwrap());
}
