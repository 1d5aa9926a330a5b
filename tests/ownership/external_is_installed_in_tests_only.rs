kind Widget acme.io
kind Gadget partner.dev
kind Certificate cert-manager.io
#[cfg(test)]
mod tests {
    fn environment() -> Environment {
        Environment::default().with_crds(vec![Widget::crd(), Gadget::crd(), Certificate::crd()])
    }
}
//- src/bin/crdgen.rs
fn main() {
    println!("{}", serde_json::to_string(&oracle::Widget::crd()).unwrap());
}
