//! Projects of operator-sdk.

opctl_model::diagnostics! {
    /// Something in a project of operator-sdk cannot be imported. `opctl import helm-operator DIR` reads `watches.yaml` strictly.
    /// Errors at their line are: an unknown key, which operator-sdk ignores; a template in `overrideValues` other than a part of
    /// an environment variable (`{{ ("$IMAGE" | split ":")._1 }}`); a kind without a CRD in `config/crd/bases`; a cluster-scoped
    /// kind; and a chart that helm does not render. For `opctl import ansible-operator DIR`, so is a role or playbook that does
    /// not exist. Nothing is written then.
    OP482: Charts, Mistake;

    /// something in a project of operator-sdk has no counterpart in the imported project, or was left out. The message says what to
    /// set instead.
    OP483: Charts, Warning;
}
