kind Widget acme.io
kind Lever acme.io
kind Gadget partner.dev
pub struct Printer<K>(K);
impl<K: kube::CustomResourceExt> Printer<K> {
    pub fn print(&self) {
        println!("{}", serde_json::to_string(&K::crd()).unwrap());
    }
}
