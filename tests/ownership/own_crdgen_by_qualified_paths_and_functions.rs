kind Widget acme.io
kind Gadget partner.dev
pub use self::Gadget as PartnerGadget;
//- src/bin/crdgen.rs
use kube::CustomResourceExt;
use oracle::PartnerGadget;
fn main() {
    let all: [fn() -> _; 2] = [<oracle::Widget as CustomResourceExt>::crd, PartnerGadget::crd];
    for crd in all {
        println!("{}", serde_json::to_string(&crd()).unwrap());
    }
}
