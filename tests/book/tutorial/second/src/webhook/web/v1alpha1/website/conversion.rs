//! Converts `Website` objects between versions. The hub is v1alpha1, which is stored; each other version is a spoke, whose conversion to the
//! hub and back is in `src/api/web/<version>/website_conversion.rs`.

use opctl_runtime::webhook::{Conversion, Spoke, Webhook};

use crate::api::web as api;
use crate::api::web::v1alpha1::website::Website as Hub;

/// Builds the webhook; `webhook::all` serves it.
// +opctl:conversion:group=web.example.com,kind=Website
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=websites.web.example.com,verbs=get;patch
pub fn webhook() -> Webhook {
    Conversion::<Hub>::new(spokes()).into()
}

fn spokes() -> Vec<Spoke<Hub>> {
    vec![
        // `opctl create webhook` adds a line for each spoke.
        Spoke::of::<api::v1::website::Website>(),
    ]
}

#[cfg(test)]
mod tests {
    use opctl_runtime::testing;

    /// Fields that a version has no place for, and that are kept in an annotation for the others: `("v1", "spec.size")`.
    const KEPT: &[(&str, &str)] = &[("v1alpha1", "spec.pages")];

    #[test]
    fn nothing_is_lost() {
        testing::round_trip(&super::webhook(), &crate::api::crds(), KEPT);
    }
}
