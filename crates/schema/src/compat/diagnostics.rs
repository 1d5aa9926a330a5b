//! Changes of CRDs.

opctl_model::diagnostics! {
    /// Data of stored objects is lost: a field, the status, or entries of a map are left out when an object is read, and gone once it is written.
    /// This also holds for a version that is removed, and for versions with different fields and no conversion between them. It is an error in
    /// alpha versions, too. Keep what is stored, and move it to a new version of the kind with a conversion.
    ///
    /// `opctl manifests` reports it, too, for served versions with different fields and no conversion: every write of such an object, also of a
    /// label through another version, stores it without the fields that the stored version does not have.
    OP601: Changes, Mistake;

    /// Stored objects can no longer be changed: they break a rule that the API server checks with every change of the object, such as a new
    /// required field, a CEL rule of the object around a field, or another type. Even an operator that adds a label to such an object may be
    /// refused. Give a new required field a default, and let CEL rules hold for old objects (`optionalOldSelf`). A new limit on the number of
    /// fields also belongs here where an object keeps fields without a schema: the API server does not see that such a value is unchanged.
    OP602: Changes, Mistake;

    /// Writers are refused: the API server no longer accepts values that it accepted, or a version is no longer served. Stored values stay valid
    /// until they are changed (ratcheting, Kubernetes 1.30 or newer). Manifests that people keep in git fail.
    ///
    /// A keyword that refuses no value is not reported: a `maximum` that the `format` implies, `4.0` instead of `4`, or a `format` that the
    /// API server does not check. For a format that it checks, the message has a value that is refused from now on. It is only a warning if
    /// the Rust type of the previous `format` could not decode the value, such as 5000000000 for `uint32`.
    OP603: Changes, Mistake;

    /// The meaning of stored objects changes: a default is new, different or gone. Objects that were stored while there was another default
    /// keep that one, so the same manifest may mean two things.
    OP604: Changes, Mistake;

    /// Readers may fail: the API server accepts or stores values that clients of the previous release do not know. A Rust type without a
    /// variant or an `Option` for such a value does not decode the object. Operators built with `opctl-runtime` leave such an object out and
    /// report it; plain watches of kube-rs stop at it. It is an error only for values in the status, which the operator itself writes.
    OP605: Changes, Mistake;

    /// The CRD is another one for a cluster: it is gone, or its scope, kind or plural has changed, which the API server refuses. Objects do not
    /// move by themselves.
    OP606: Changes, Mistake;

    /// A subresource, a selectable field, a printer column, a short name or another name is gone or different. `kubectl scale`, autoscalers, field selectors
    /// and scripts may rely on it.
    OP607: Changes, Mistake;

    /// Server-side apply merges a list or a map in another way. Field managers may take over items of others, and lists with duplicates are refused
    /// where items now have keys.
    OP608: Changes, Mistake;

    /// The storage version or the conversion changes. Once an object is stored in a version that the previous release does not know, this release
    /// cannot be rolled back to.
    OP609: Changes, Mistake;

    /// opctl cannot tell whether values that were valid still are. The message has both texts.
    OP610: Changes, Warning;

    /// A name that is new in this release belongs to another CRD in the previous one, or to the same CRD in another role: a short name that is the
    /// CRD's own singular, or two kinds that exchange their short names. `opctl manifests --against REF` reports it. The API server does not accept the
    /// name, and the CRD gets `NamesAccepted=False`. Choose another name, or remove the name in one release and use it again in the next.
    OP335: ApiServer, Mistake;
}
