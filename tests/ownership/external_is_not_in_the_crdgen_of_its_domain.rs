kind Widget widgets.acme.io
kind Database databases.acme.io
//- src/bin/crdgen.rs
fn main() {
    println!("{}", serde_json::to_string(&oracle::Widget::crd()).unwrap());
}
