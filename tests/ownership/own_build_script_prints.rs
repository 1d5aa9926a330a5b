kind Widget acme.io
kind Gadget partner.dev
//- build.rs
#[path = "src/lib.rs"]
mod api;
fn main() {
    write(api::Widget::crd(), api::Gadget::crd());
}
