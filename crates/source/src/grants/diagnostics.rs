//! Permissions: what markers grant, compared with what the code requests.

opctl_model::diagnostics! {
    /// The code makes a request that no marker permits. The API server would respond with 403. The location is the call that determines
    /// the kind. `opctl check --fix` adds the marker above the function. To add it yourself, write it on a line of its own:
    ///
    /// ```rust
    /// // +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
    /// async fn converge(object: &Memcached, ctx: &Context) -> Result<(), Error> {
    /// ```
    ///
    /// Server-side apply (`Patch::Apply`) needs `patch`, and also `create` to create objects. A watch, and with it every controller and
    /// reflector, needs `list` and `watch`. Subresources such as `deployments/status` and `pods/eviction` need permissions of their own.
    ///
    /// If the operator gets the permission in another way, for example from a role that you bind yourself, allow the request above the
    /// function: `// +opctl:allow:OP415 granted by the role "platform"`.
    ///
    /// With `opctl check --role PATH`, the permissions are those of the roles in manifests or a Helm chart instead of markers, and
    /// `opctl check --role PATH --fix` adds what is missing to these roles. If a crate has no markers at all, `opctl check` reports this once.
    OP415: Check, Mistake;

    /// A marker, or a rule of a role with `--role`, permits only part of a request. It permits one namespace (`namespace=…`) or certain object
    /// names (`resourceNames=…`), but the code asks for more. `Api::all` makes requests in the whole cluster; requests with `list`, `watch`,
    /// `deletecollection` and `create` contain no object name. Widen the marker or rule, or narrow the request: use `Api::namespaced`, or
    /// `get`. A rule of a Role holds in the namespace of its RoleBinding; for the whole cluster, it has to be in a ClusterRole with a
    /// ClusterRoleBinding. If opctl cannot determine whether the request is for one namespace or for the whole cluster, this is a warning.
    ///
    /// In a project with `namespaced: true`, markers become Roles in the operator's own namespace, and no Role permits a request in the
    /// whole cluster. Use `Api::default_namespaced` or the scaffolded `Context::api`, or make the operator cluster-wide with
    /// `namespaced: false` in PROJECT. For cluster-scoped kinds of Kubernetes and of the project, opctl generates a ClusterRole in such a
    /// project, too.
    ///
    /// `resourceNames` do permit a `list` or `watch` with the field selector `metadata.name=…`, but opctl does not read field selectors.
    /// Allow such a request: `// +opctl:allow:OP416 it selects the name`.
    OP416: Check, Mistake;

    /// a marker, or a rule of a role with `--role`, grants a permission that the code does not seem to use. Anyone who takes over the operator
    /// has all of its permissions. Remove the verb, the resource, the group or the marker; `opctl check --fix` never removes permissions.
    /// While there are requests that opctl cannot determine ([OP401](#op401) to [OP403](#op403), also where they are allowed), nothing is
    /// reported as unused.
    ///
    /// If the permission is needed by something that opctl [cannot see](../concepts/check.md#what-it-cannot-see), allow it above the
    /// marker:
    ///
    /// ```rust
    /// // +opctl:allow:OP417 asked for by the sidecar
    /// // +kubebuilder:rbac:groups=core,resources=configmaps,verbs=get
    /// ```
    ///
    /// A role that other programs use, too, has permissions that the code of the operator does not need: with `--role`, name the service
    /// account of the operator with `--service-account`.
    OP417: Check, Warning;

    /// a marker, or a rule of a role with `--role`, that has `*` grants more than the operator needs. All verbs include `escalate` and
    /// `impersonate`, all resources include Secrets and the resources of CRDs that are installed later. List what the code uses; the help
    /// shows it. For an operator that has to work with arbitrary kinds, allow it: `// +opctl:allow:OP418 reason`.
    OP418: Check, Warning;

    /// a role is bound to the service account of the operator, but the manifests of `opctl check --role PATH` do not define it, or select it in a
    /// way that opctl does not evaluate. Pass a folder that contains it; until then, its permissions are reported as missing.
    OP420: Check, Warning;
}
