kind Widget acme.io
kind Gadget partner.dev
pub async fn install(client: kube::Client) {
    use kube::CustomResourceExt;
    for crd in kube::core::crd::merge_crds(vec![Widget::crd(), Gadget::crd()], "v1") {
        apply(&client, crd).await;
    }
}
