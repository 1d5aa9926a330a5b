//! Markers in comments.

opctl_model::diagnostics! {
    /// A comment looks like a marker but has a typo. Examples are `+kubebulder:`, `+kubebuilder:rbca:`, or a missing `+` or `:`. It would
    /// be ignored, and the operator would lack the permission in the cluster. The help names the closest marker; see [all
    /// markers](markers.md).
    OP101: Markers, Mistake;

    /// A marker is in a doc comment or a block comment. opctl reads markers only in `//` comments. Start the line with `//`.
    OP102: Markers, Mistake;

    /// The marker is for Go types and has no effect in Rust. Examples are `+kubebuilder:validation:Minimum` and `+optional`. The help
    /// shows what to write instead; see [the list of Go markers](markers.md#markers-of-go).
    OP103: Markers, Mistake;

    /// The marker has no argument with this name. The help names the closest one; see [all markers and their arguments](markers.md).
    OP105: Markers, Mistake;

    /// An argument of a marker is given twice. Separate the values of a list with `;`, or write a second marker.
    OP106: Markers, Mistake;

    /// Arguments of a marker are missing. `+kubebuilder:rbac` requires `verbs`, and either `groups` and `resources` or `urls`. The core
    /// group is `groups=""`.
    OP107: Markers, Mistake;

    /// The arguments of a marker have invalid syntax. There is a missing quote, an empty value, a space inside a value, several values
    /// for an argument that takes one, or text where a number is expected. See [how arguments are
    /// written](markers.md#how-they-are-written).
    OP108: Markers, Mistake;

    /// The arguments of `+kubebuilder:rbac` exclude each other. `urls` cannot be combined with `groups`, `resources`, `resourceNames` or
    /// `namespace`.
    OP109: Markers, Mistake;

    /// An argument has a value that does not exist or would grant nothing. This can be an unknown verb, a kind instead of its plural, a
    /// resource of another group, `create` or `deletecollection` with `resourceNames`, a wildcard inside a name, an invalid role name, or
    /// an unknown code in `+opctl:allow`. A verb that Kubernetes does not have, but that another API server may use, is only a warning.
    OP110: Markers, Mistake;

    /// A marker ends in `\`, but no continuation line follows. The next line must be a `//` comment that is not a marker itself. Remove
    /// the `\`, or remove what separates the lines.
    OP111: Markers, Mistake;

    /// opctl does not read some markers. Either their file is not part of the crate, because no `mod` declares it, or only one
    /// behind `#[cfg(test)]` or a feature that is off by default: declare the file or remove it. Or they are in a module that a `cfg`
    /// removes, such as a test module: the operator does not need permissions that only its tests use.
    OP112: Markers, Warning;

    /// The permissions that [`opctl-runtime`](markers.md#markers-of-the-runtime) needs are unknown, because its source was not found.
    /// opctl writes no manifests: without these permissions, the operator would start, but the API server would deny its requests. The
    /// help shows the fix: `cargo fetch` if the crate has not been downloaded yet, or the right `path` in Cargo.toml for a vendored copy.
    OP113: Markers, Mistake;

    /// A marker in the source of `opctl-runtime` is not attached to a public item. No project could use it. The source has been edited:
    /// move the marker above a `pub` item or above an `impl` of a public type, or restore the file.
    OP114: Markers, Mistake;

    /// there is no custom resource below an [`+opctl:external`](markers.md#opctlexternal) or
    /// [`+opctl:owned`](markers.md#opctlowned) marker. Put the marker right above the type that has `#[kube(…)]`, with its other comments and
    /// attributes, or remove it.
    OP115: Markers, Warning;

    /// The markers of webhook configurations conflict. Two webhooks have the same name, a configuration has two names, or a marker names
    /// a configuration without webhooks. opctl generates two configurations per crate, one for all mutating and one for all validating
    /// webhooks.
    OP122: Markers, Mistake;

    /// The `patch` of a webhook is invalid. It is not a JSON object, or contains an unknown field, a value of the wrong type, or an
    /// unsupported directive. Write the fields as in a webhook configuration. See [Patches](../concepts/webhooks.md#patches).
    OP127: Markers, Mistake;

    /// The arguments of a webhook marker exclude each other. `url` cannot be combined with `path` or the arguments of a Service,
    /// `reinvocationPolicy` is for mutating webhooks only, and `+opctl:ca` takes only one of `certificate`, `secret` and `file`.
    OP129: Markers, Mistake;

    /// The conversion is for a kind that this crate does not declare, or a kind has two conversions. Use the same `group` and `kind` as
    /// in `#[kube(…)]`. For a kind with a single version it is a warning, because the API server would never call the webhook.
    OP130: Markers, Mistake;

    /// `+opctl:ca` names an invalid object, or a file that is missing or contains no PEM certificate. A file that contains a private key
    /// is rejected, because opctl would publish the key in the manifests. Use one marker per crate; it applies to all webhooks and
    /// conversions, and is an error if there are none. See [Whom the API server
    /// trusts](../concepts/webhooks.md#whom-the-api-server-trusts).
    OP131: Markers, Mistake;

    /// A marker with `namespace=` is for cluster-scoped resources, such as nodes, PersistentVolumes or ClusterRoles. The API server
    /// accepts a Role with this rule, but the Role never permits anything. Remove `namespace=`, so that the rule becomes part of a
    /// ClusterRole, [also in a project with `namespaced: true`](../concepts/rbac.md#cluster-scoped-resources).
    OP141: Markers, Mistake;
}
