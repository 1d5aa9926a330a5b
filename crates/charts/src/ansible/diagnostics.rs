//! Roles and playbooks of Ansible.

opctl_model::diagnostics! {
    /// the permissions that a task needs cannot be derived, because its kind, its group or the path of a template is computed, the
    /// plural of its kind is not known, or it runs a program such as `kubectl`. Add a marker with the least verbs that it needs above
    /// `controller()` of its kind. The generated `permissions.rs` lists these places, too.
    OP484: Ansible, Warning;

    /// A role or playbook cannot be read: it is not valid YAML, it does not exist, or `meta/argument_specs.yml` has a type or a choice that
    /// Ansible does not accept. Nothing is written.
    OP486: Ansible, Mistake;

    /// a variable of a role gets no field in the spec, because no key leads to it: keys of a spec are written in snake case as
    /// variables. Rename it, such as `fooBar` to `foo_bar`.
    OP487: Ansible, Warning;

    /// a task uses a module that works with operator-sdk only: `operator_sdk.util.osdk_metric`, one that opctl does not know, or one that
    /// newer releases of Ansible and kubernetes.core have removed, such as `k8s_facts`: the images of old operators have older ones.
    /// `k8s_status` and `requeue_after` come with the runtime: see [Operators for Ansible](../ansible.md#status).
    OP488: Ansible, Warning;

    /// a task, or a block or play around it, has credentials for the API server of its own, such as `kubeconfig` or `api_key`. The
    /// operator sees the requests of other tasks, and makes the objects that they create those of the object of the run. It does not
    /// see these: what such a task creates has no owner, is not deleted with the object, and a change of it starts no run. Remove the
    /// credentials, since a run has those of the operator; for another cluster, delete the objects in a finalizer.
    OP492: Ansible, Warning;

    /// a key of a mapping is repeated. Ansible uses the last one, and opctl reads the file in the same way.
    OP491: Ansible, Warning;
}
