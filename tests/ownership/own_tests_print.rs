kind Widget acme.io
kind Gadget partner.dev
#[cfg(test)]
mod tests {
    #[test]
    fn crds() {
        assert(super::Widget::crd());
    }
}
//- tests/crds.rs
#[test]
fn crds() {
    assert(oracle::Gadget::crd());
}
