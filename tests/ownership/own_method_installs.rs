kind Widget acme.io
kind Gadget partner.dev
impl Widget {
    pub fn definition() -> CustomResourceDefinition {
        Self::crd()
    }
}
impl Install for Gadget {
    fn definition(&self) -> CustomResourceDefinition {
        Self::crd()
    }
}
