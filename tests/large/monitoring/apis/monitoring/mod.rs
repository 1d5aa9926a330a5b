pub mod v1;
#[path = "alpha.rs"]
pub mod v1alpha1;
