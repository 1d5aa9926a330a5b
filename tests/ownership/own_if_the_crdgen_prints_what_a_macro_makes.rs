kind Widget acme.io
kind Gadget tools.acme.io
use kube::CustomResourceExt;
macro_rules! kinds {
    ($($name:literal: $spec:ident),*) => { $(
        #[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        #[kube(group = "made.acme.io", version = "v1", kind = $name)]
        pub struct $spec {}
    )* };
}
kinds!("Lever": LeverSpec);
pub fn lever() -> String {
    serde_json::to_string(&Lever::crd()).unwrap()
}
