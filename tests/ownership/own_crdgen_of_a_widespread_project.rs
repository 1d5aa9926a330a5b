kind Bundle fleet.cattle.io
kind Cluster management.cattle.io
kind Machine cluster.x-k8s.io
//- src/bin/crdgen.rs
fn main() {
    print(oracle::Bundle::crd());
    print(oracle::Cluster::crd());
}
