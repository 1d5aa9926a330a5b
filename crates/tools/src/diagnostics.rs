//! CRDs of compiled types.

opctl_model::diagnostics! {
    /// opctl cannot use cargo. It is not on the `PATH`, or it fails to read the package. opctl needs cargo only with `--engine cargo`,
    /// and with `--engine auto` for kinds that it cannot derive from the source. See [Engines](../engines.md).
    OP040: Source, Mistake;

    /// There is no binary of this name, or no library or binary of the crate can print the CRDs of the compiled types. opctl needs no
    /// binary for this: it compiles a copy of the crate, with code that prints the CRDs. Where that does not work, specify a binary
    /// of the crate with `--crdgen-bin NAME`, and its arguments with `--crdgen-args`. You can add one to any crate:
    ///
    /// ```rust
    /// //! Prints every CustomResourceDefinition as the compiled types give it.
    ///
    /// use kube::CustomResourceExt;
    ///
    /// fn main() {
    ///     for crd in [my_crate::Memcached::crd()] {
    ///         println!("{}", serde_json::to_string(&crd).expect("a CRD is JSON"));
    ///     }
    /// }
    /// ```
    OP041: Source, Mistake;

    /// The crate does not compile, so the CRDs of its compiled types are not available. cargo's output is printed above the error.
    /// Without `--engine cargo`, the compiler is needed only for the kinds that opctl lists.
    OP042: Source, Mistake;

    /// The binary that prints the CRDs exited with an error or panicked. Its output is printed above the error; to debug it, run
    /// `cargo run --bin crdgen`. kube's `crd()` panics for types without a structural schema ([OP016](#op016)).
    OP043: Source, Mistake;

    /// The output of the binary is not a list of CRDs. It must print only CustomResourceDefinitions of `apiextensions.k8s.io/v1` to
    /// stdout: as YAML documents, as consecutive JSON values, or as a list of either. Write logs to stderr.
    OP044: Source, Mistake;

    /// A kind needs the compiled types, but these do not give its CRD. Add the kind to the binary that prints the CRDs; in a scaffolded
    /// project, to `fn all` in `src/api/mod.rs`. If there is no such binary, the compiled crate does not have the kind: a feature may
    /// be missing (`--features`), or a macro makes the kind under a name that opctl cannot know. It knows the names in the call of the
    /// macro, and those for which the code calls `crd()` or `merged_crd(…)`.
    OP045: Source, Mistake;

    /// The descriptions of Kubernetes' own types cannot be omitted for a kind that needs the compiled types. The compiled CRD does not
    /// show which descriptions come from Kubernetes. Shorten all descriptions instead, with `--max-description N` or `maxDescription` in
    /// PROJECT, or change the kind so that opctl can derive it from the source.
    OP046: Source, Mistake;

    /// `opctl manifests --verify` found a difference between the CRD that opctl derives from the source and the CRD of the compiled
    /// types. The location is that of the type or field in the source; the message has the path in the CRD. This is a bug in opctl:
    /// please report it with the type. Until it is fixed, generate the CRDs with `--engine cargo`.
    ///
    /// Build scripts and features are possible reasons, too: verify with the `--features` that you build with.
    OP050: Source, Mistake;
}
