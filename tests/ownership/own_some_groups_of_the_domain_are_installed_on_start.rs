kind Widget widgets.acme.io
kind Gadget gadgets.acme.io
pub fn name() -> kube::CustomResourceDefinition {
    Widget::crd()
}
