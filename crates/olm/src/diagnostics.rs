//! Generated bundles, the configuration of scorecard, and catalogs.

opctl_model::diagnostics! {
    /// an object is not in the bundle, because OLM does not install objects of this kind. OLM takes ConfigMaps, CRDs, NetworkPolicies,
    /// PodDisruptionBudgets, PriorityClasses, roles and bindings, Secrets, Services, ServiceAccounts, the kinds of the Prometheus operator and
    /// of OpenShift's console, and VerticalPodAutoscalers. It creates Deployments, webhook configurations and certificates of webhooks from the
    /// CSV. Have the operator create the object, or have the users of the bundle apply it.
    OP500: BundleGeneration, Warning;

    /// a field is not in the bundle. The CSV has no place for it: `namespaceSelector`, `matchConditions` and `caBundle` of a webhook,
    /// `annotations` of a Deployment, `annotations` and `imagePullSecrets` of the operator's service account, the aggregation of a role, and the
    /// authority of a ServiceMonitor, which is in a Secret of cert-manager. The help names what has the same effect.
    OP501: BundleGeneration, Warning;

    /// an object or a permission is for another namespace than that of the operator. OLM creates objects in the namespace that the
    /// user of the bundle chooses, and grants permissions there and in the namespaces of the OperatorGroup. A RoleBinding in `kube-system`, for
    /// example, has no place in a bundle. For a project with `--watch-namespace`, the permissions are granted in the namespaces of the
    /// OperatorGroup instead.
    OP502: BundleGeneration, Warning;

    /// a binding may not have the intended effect. OLM does not change the namespace of a subject, so a binding that is a file of its
    /// own works in one namespace only. Bindings of the operator's accounts to roles of the project, to `system:auth-delegator` and to
    /// `cluster-admin` are permissions in the CSV instead, and have no such problem. The code also reports a binding whose account no Deployment
    /// uses.
    OP503: BundleGeneration, Warning;

    /// the object is in the bundle, but not every cluster or catalog takes it. If a cluster has no CRD of a kind, such as
    /// ServiceMonitor, OLM installs nothing of the bundle. Versions of OLM before 2025, and some catalogs, refuse NetworkPolicies.
    OP504: BundleGeneration, Warning;

    /// There is no Deployment to install, or the Deployments are in different namespaces. OLM installs an operator in one namespace.
    OP505: BundleGeneration, Mistake;

    /// A webhook does not lead to a container of the operator. The CSV has the Deployment and the port of the container, so opctl follows the
    /// webhook to its Service, the port of the Service, the Deployment that the Service selects, and the named port of its container. A webhook
    /// with a `url`, a missing Service or port, and a Service that selects no or several Deployments are errors.
    OP506: BundleGeneration, Mistake;

    /// An image is not known. A variable `RELATED_IMAGE_…` has no value, or two variables of one name have different values; or, with
    /// `--use-image-digests`, the file of `--digests` has no digest for the image.
    OP507: BundleGeneration, Mistake;

    /// the namespace of `config/default` is written in a field, such as an argument or the name of a server. The users of the bundle
    /// choose another namespace. In a Deployment, take the namespace from a variable with a `fieldRef`.
    OP508: BundleGeneration, Warning;

    /// The CSV cannot be valid. Its name, `PACKAGE.vVERSION`, has more than 63 characters; there are two base CSVs; or the install modes do not
    /// fit a conversion webhook, of which a cluster has one: then `AllNamespaces` must be the only supported mode.
    OP509: BundleGeneration, Mistake;

    /// The configuration of scorecard is invalid. opctl reads it strictly: an unknown setting, which operator-sdk ignores, is an error.
    OP520: Bundles, Mistake;

    /// A file-based catalog, or the template of one, is invalid. `opm validate` would refuse the catalog, or OLM would not offer the upgrades that
    /// it is meant to have.
    OP530: Bundles, Mistake;
}
