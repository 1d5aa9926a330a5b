use kube::CustomResourceExt;

fn main() {
    println!("{}", serde_json::to_string(&my_crate::Memcached::crd()).expect("a CRD is JSON"));
}
