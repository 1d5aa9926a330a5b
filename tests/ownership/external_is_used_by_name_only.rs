kind Widget acme.io
kind Gadget partner.dev
pub async fn is_installed(crds: kube::Api<CustomResourceDefinition>) -> bool {
    crds.get(&Gadget::crd().name_any()).await.is_ok() && crds.get(Widget::crd_name()).await.is_ok()
}
//- src/bin/crdgen.rs
fn main() {
    println!("{}", serde_json::to_string(&oracle::Widget::crd()).unwrap());
}
