kind Widget acme.io
kind Lever acme.io
pub mod v1 {
    kind Gadget partner.dev
}
pub mod v2 {
    kind Gadget partner.dev version="v2" storage=false
}
