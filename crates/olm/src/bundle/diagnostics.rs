//! Bundles: a code for each family of rules.

opctl_model::diagnostics! {
    /// The format of a bundle is wrong: a folder or file is missing or cannot be read, or an annotation or dependency in `metadata` is invalid.
    /// operator-framework's validators and OLM refuse the bundle.
    OP510: Bundles, Mistake;

    /// The ClusterServiceVersion of a bundle is invalid, or incomplete. The rules are those that operator-framework's validators always check.
    OP511: Bundles, Mistake;

    /// A manifest of a bundle other than the ClusterServiceVersion is invalid: a CRD that the operator does not own, a kind that OLM does not
    /// know, a namespace, or too much data for a ConfigMap.
    OP512: Bundles, Mistake;

    /// A bundle breaks a rule of an optional validator, selected with `--select-optional` or `--select`.
    /// `opctl bundle validate --list-optional` lists the validators.
    OP513: Bundles, Mistake;

    /// OLM v1 refuses to install a bundle. These rules are checked with `--select olmv1`.
    OP514: Bundles, Mistake;

    /// A bundle has a mistake that no validator of operator-framework reports, but that OLM or the API server stumbles over later: an example that
    /// the CRD rejects, a webhook without a port, an account that OLM does not create, a second object in a file.
    OP515: Bundles, Mistake;
}
