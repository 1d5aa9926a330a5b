//! `--features` and related flags: the features of the crate for reading and compiling.

use clap::Args;

use opctl_model::project::Features;

#[derive(Args, Debug)]
pub struct FeatureArgs {
    /// Turn on these features of the crate (comma-separated), as with cargo
    #[arg(long, value_name = "FEATURES")]
    pub features: Vec<String>,

    /// Turn on all features
    #[arg(long)]
    pub all_features: bool,

    /// Turn off the default features
    #[arg(long)]
    pub no_default_features: bool,
}

impl FeatureArgs {
    pub fn chosen(&self) -> Features {
        let Self { features, all_features, no_default_features } = self;
        let names = features.iter().flat_map(|names| names.split([',', ' '])).filter(|name| !name.is_empty());
        Features {
            features: names.map(String::from).collect(),
            all_features: *all_features,
            no_default_features: *no_default_features,
        }
    }
}
