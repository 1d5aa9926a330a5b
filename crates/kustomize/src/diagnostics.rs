//! Kustomizations, and references between objects.

opctl_model::diagnostics! {
    /// the operator watches different namespaces from those that its Roles are in. The Roles are in the namespaces that
    /// `manifests.namespaces` in [PROJECT](project-file.md#several-namespaces) lists; the operator watches those in the variable
    /// WATCH_NAMESPACE of its Deployment, or the whole cluster without it. It would fail to start, or ignore some of the namespaces. Make
    /// the two lists equal.
    OP145: Markers, Warning;

    /// A file that a kustomization lists is not valid YAML for Kubernetes. It contains tabs as indentation, a duplicate key, a key that
    /// is not a string, a number that JSON does not have, or an alias inside its own anchor. Files with more than 200,000 values after
    /// expanding aliases are rejected, too.
    OP430: Check, Mistake;

    /// A kustomization lists a file or folder that kustomize cannot load. It is missing, is a folder without a kustomization, or is a
    /// file outside of the kustomization's folder: kustomize reads folders anywhere, but files only below the kustomization.
    /// `kubectl kustomize` fails here.
    OP431: Check, Mistake;

    /// A kustomization is invalid. A field is unknown or has the wrong type, the `kind` or `apiVersion` is wrong, the file is empty, the
    /// folder contains two kustomizations, or a component is listed as a kustomization or the other way around. List components under
    /// `components`, and everything else under `resources`.
    OP432: Check, Mistake;

    /// A file that a kustomization lists does not contain Kubernetes objects. An object has `apiVersion`, `kind` and `metadata.name`.
    /// List other files, such as patches, where they are used. List another kustomization by its folder.
    OP433: Check, Mistake;

    /// A kustomization contains the same object twice. Two files define an object with the same kind, version, namespace and name, a file
    /// or folder is listed twice, or `namespace:` moves objects from two namespaces into one. kustomize fails here.
    OP434: Check, Mistake;

    /// Kustomizations form a cycle. Remove one of the entries that the help lists.
    OP435: Check, Mistake;

    /// no kustomization lists this manifest, although its folder has a kustomization. `kubectl apply -k` does not apply it. List
    /// the file or remove it. To keep a manifest apart on purpose, move it to a folder without a kustomization, or annotate it with
    /// `config.kubernetes.io/local-config: "true"`.
    OP436: Check, Warning;

    /// A kustomization refers to an object that it does not contain. kustomize fails if a patch, the source of a replacement, an entry of
    /// `replicas`, or a generator with `behavior: merge` or `replace` names the object. A patch must use the namespace and `apiVersion`
    /// of the object's file. It is a warning where kustomize ignores the entry silently: the `target` of a patch or replacement matches
    /// nothing, or no container uses the image in `images`.
    OP437: Check, Mistake;

    /// A patch or replacement does not match its object. The path of a JSON patch does not exist, a `test` fails, the patch has no
    /// `target`, or the field of a replacement does not exist. It is a warning if a JSON patch replaces a missing field, because
    /// kustomize then adds the field.
    OP438: Check, Mistake;

    /// A RoleBinding or ClusterRoleBinding refers to a missing role or service account. The role is not rendered with it, or the account
    /// is missing in one of the rendered namespaces. `kubectl apply` succeeds, but the operator lacks the permissions. A service account
    /// in a binding also needs its `namespace`. opctl knows the ClusterRoles that every cluster has (`admin`, `cluster-admin`, `edit`,
    /// `view`, `system:…`) and the account `default`, and does not check accounts in other namespaces. If such an account has the name of
    /// one that is rendered here, it is a warning, because the namespace is probably wrong.
    OP439: Check, Mistake;

    /// A pod refers to something that is missing, so it would not start. It may be a ServiceAccount, ConfigMap, Secret,
    /// PersistentVolumeClaim or volume, or a key of the ConfigMap or Secret. References with `optional: true` are not checked, and
    /// neither are Secrets that a Certificate creates. A missing Secret or claim is a warning, also where a ServiceMonitor or an Issuer
    /// refers to the Secret, because they are often created separately. It is also a warning if the annotation
    /// `kubectl.kubernetes.io/default-container` names a container that the pod does not have.
    OP440: Check, Mistake;

    /// A selector matches nothing in the rendered manifests. It is the selector of a Service, PodMonitor or ServiceMonitor, or of a
    /// Deployment or other workload, which must select its own pods. For NetworkPolicies and PodDisruptionBudgets it is a warning,
    /// because they may be for pods that the operator creates. The help compares the labels with the closest candidate.
    OP441: Check, Mistake;

    /// A manifest refers to a port that does not exist. It is the `targetPort` of a Service, or the port in a probe, a monitor, a
    /// NetworkPolicy, the backend of an Ingress, or a webhook. The default port of a webhook is 443.
    OP442: Check, Mistake;

    /// A manifest refers to a missing Service. It is a webhook, the conversion of a CRD, an APIService, an Ingress or a StatefulSet.
    /// kustomize updates these names when it renames the Service, except in conversions.
    OP443: Check, Mistake;

    /// The `scaleTargetRef` of a HorizontalPodAutoscaler refers to a missing object.
    OP444: Check, Mistake;

    /// A manifest refers to a missing issuer or Certificate. The former is referenced by a Certificate, the latter by the annotation
    /// `cert-manager.io/inject-ca-from`. The annotation contains the final `namespace/name`, and kustomize does not update it: write the
    /// names as they will be after renaming, copy them with `replacements`, or list the fields in a file under `configurations`.
    OP445: Check, Mistake;

    /// nothing in the rendered manifests creates the namespace of a workload. In a cluster without the namespace, the API server
    /// rejects the workload. Add a Namespace, or create it first.
    OP446: Check, Warning;

    /// The kind or version of an object does not exist. No CRD in the manifests defines the kind, although there are CRDs of its group,
    /// or the CRD does not serve the version. The usual cause is a sample of a removed or renamed version. The same code reports kinds
    /// and versions of Kubernetes' own groups that do not exist.
    OP447: Check, Mistake;

    /// `yes`, `no`, `on`, `off`, `y` or `n` is not quoted. kustomize reads it as a string (YAML 1.2), but `kubectl apply -f` as
    /// a boolean (YAML 1.1). Quote it, or write `true` or `false`.
    OP448: Check, Warning;
}
