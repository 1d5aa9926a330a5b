//! Rust source: the CRDs, requests and metrics in it.

opctl_model::diagnostics! {
    /// A source file is not valid Rust syntax. opctl reads code that does not compile, but it has to parse. Run `cargo check` for the
    /// compiler's own message.
    OP001: Source, Mistake;

    /// The file of a module or the root file of a crate is missing. Create the file or remove the `mod name;`. opctl follows `#[path]`,
    /// and the paths in Cargo.toml (`[lib] path`, `[[bin]] path`).
    OP002: Source, Mistake;

    /// An attribute of serde or schemars is invalid: a name that the crate does not have at this place, a value of the wrong form, or two
    /// attributes that exclude each other. The crate's derive rejects it as well, in every release that opctl reads; for serde, the message is
    /// serde's own. For a typo, the help names the closest attribute:
    ///
    /// | does not compile | write |
    /// |---|---|
    /// | `#[schemars(lenght(min = 1))]`, `#[schemars(range(mni = 1))]` | `length`, `min` |
    /// | `#[serde(rename_all = "camelCas")]` | `"camelCase"` |
    /// | `#[schemars(regex(pattern = "…"), contains("…"))]` | one of them; two formats exclude each other, too |
    /// | `#[schemars(example = "x")]` | `example = &"x"` for the text, `example = x()` for a function |
    /// | `#[schemars(inner(extend("key" = 1)))]` | `extend("items" = …)` at the field: `inner` takes validations only |
    /// | `#[schemars(!default)]` without `#[serde(default)]` | nothing: there is no attribute to unset |
    /// | `#[schemars(deprecated = true)]` | `#[deprecated]` |
    OP004: Source, Mistake;

    /// An argument of `#[kube(…)]` or `#[x_kube(…)]` is unknown, repeated or malformed, or `group`, `version` or `kind` is missing. The
    /// derive of your kube release reports the same. For a typo, the help names the closest argument. The same code covers three naming
    /// problems: a struct with the name of the type that kube generates (rename it to `KindSpec`), a kind that cannot be the name of a
    /// Rust type, such as `My-Widget` (use `MyWidget`), and the kind `Y`, for which kube-derive cannot form the plural (add
    /// `plural = "ys"`).
    OP005: Source, Mistake;

    /// A file is nested more deeply than opctl parses: 128 brackets, 256 generic arguments, or 1,024 operators within each other; or it has
    /// a number of more than 1,000 digits. Nothing of the file is read. Such code is usually generated, or broken; split it with a `type`, a
    /// `let` or a function.
    OP006: Source, Mistake;

    /// The file of a module is that of a module around it (`#[path]` leads back to it), or there are more than 128 modules within each
    /// other. rustc rejects the former, too. Fix the path, or move the module outwards.
    OP007: Source, Mistake;

    /// An attribute is unknown: it is neither built into Rust nor declared by a derive of the type. Usually, the name has a typo
    /// (`#[schmars(…)]`), or the type does not derive the trait that the attribute is for: `#[x_kube(…)]` requires `kube::KubeSchema`.
    /// If the type has a derive that opctl does not know, which may have attributes of its own, only obvious typos are reported.
    OP008: Source, Mistake;

    /// an attribute compiles but has no effect. schemars reads some rules of validator and garde from `#[validate(…)]` and
    /// `#[garde(…)]`, and ignores all others; if the name of an ignored rule or argument is close to one that it reads, such as
    /// `#[validate(lenght(min = 1))]`, the rule is missing in the schema. `#[kube(…)]` has no effect at a field: it belongs at the struct.
    OP009: Source, Warning;

    /// The type cannot be found from where it is used, or its type parameters are missing. opctl resolves modules, `use`, renames, globs,
    /// re-exports and types in the source of other crates. It neither expands macros nor runs build scripts, so it cannot see types that
    /// they generate. A type of another crate may also be behind a feature that is not enabled. An associated type such as
    /// `<Own as Trait>::Item` or `T::Item` is found where one `impl` for a type of the source has it.
    OP010: Source, CompilerOnly;

    /// The type comes from a crate whose source opctl cannot read. The schemas of std, k8s-openapi and serde_json, and of many types of
    /// chrono, jiff, url, uuid and indexmap, are built in. For other crates, opctl reads the sources that cargo has downloaded, in the
    /// versions that Cargo.lock pins. opctl downloads nothing itself: run `cargo fetch`, which also writes Cargo.lock. If several errors
    /// may follow from missing sources, opctl reports only this one. Otherwise, wrap the type in one of your own, or declare its schema:
    /// `#[schemars(with = "String")]`.
    OP011: Source, CompilerOnly;

    /// This form of type has no JSON schema. That applies to function pointers, trait objects, arrays of more than 32 elements and tuples
    /// of more than 16. Use a struct, a `Vec`, an `Option` or a map.
    OP012: Source, Mistake;

    /// The schema is built by code that opctl cannot evaluate. Examples are a hand-written `JsonSchema`, a `schema_with` function, a
    /// computed validation rule and `#[schemars(transform = …)]`. opctl does evaluate function bodies that consist of a
    /// `json_schema!({ … })` literal, of `Schema::default()`, or of the schema of another type (`generator.subschema_for::<T>()`,
    /// `T::json_schema(generator)`), also with `insert` calls on it and with functions that are given the generator; the transform
    /// `RestrictFormats::default()`; and rules such as `("rule", "message")` and `Rule::new("…").message("…")`. For a
    /// constant change, use `#[schemars(extend("key" = value))]`.
    ///
    /// The same holds for types and functions that an attribute macro may change, and for types whose schema comes from a derive other than
    /// those of schemars and kube.
    OP013: Source, CompilerOnly;

    /// A default, a bound or a pattern is part of the schema, but opctl cannot evaluate its expression. It evaluates literals, constants,
    /// struct literals, constructors of std, derived and hand-written `Default` implementations, and functions whose bodies consist of
    /// these, operators, `let`, `if`, `match`, `return` and `?`, closures, constants within the body, common methods of options, results,
    /// texts, numbers, durations, collections and iterators, struct literals of k8s-openapi, `LazyLock`, and the constants, constructors
    /// and texts of many types of chrono, jiff, semver, url and uuid: `Url::parse("https://example.com/").unwrap()`,
    /// `Version::new(1, 2, 3)`, `SignedDuration::from_secs(30)`. Of fields with `#[serde(with = "…")]` or `serialize_with`, it evaluates
    /// the function that writes the default, and knows humantime_serde. Statements may set the fields of a local of
    /// the same block, as in `let mut spec = Self::new(); spec.replicas = 3; spec`, and `insert` into a schema. Only a compiler runs other code
    /// that changes something: loops, `+=`, `list.push(…)` and `&mut`.
    ///
    /// It also cannot evaluate values that depend on anything else, have no defined order (a `HashSet` with several items), or have a
    /// hand-written `Serialize`, and rejects code that only a compiler understands for certain: numbers whose type is not evident and decides
    /// the result (`let n = 200`), `#[cfg]`, `use` and functions in a body, items of traits (`<Type as Trait>::NAME`), unused variables that
    /// may have an effect, methods and macros with a name that a trait or macro of the crate has (or of another crate, behind a glob such
    /// as `use tracing::*`; run `cargo fetch` if that crate is not on disk), and functions that may panic, even where
    /// their value is not written. Let the [compiled types](../engines.md) print the CRD, or set the value in the schema instead:
    /// `#[schemars(!default, extend("default" = …))]`.
    OP014: Source, CompilerOnly;

    /// A type contains itself, directly or through other types. The schema of a CRD has no references, so it cannot express recursion,
    /// and kube fails as well. Use `serde_json::Value` for the inner part, or limit the depth with separate types.
    OP015: Source, Mistake;

    /// kube's `crd()` would panic for this kind. The usual cause is an enum:
    ///
    /// - With `#[serde(tag = "…")]`, the tag has a different schema in each variant, but a field of a CRD has only one schema. Without
    ///   the tag, users write `disk: { path: … }` or `bucket: { name: … }`, as in Kubernetes' own API.
    /// - With `#[serde(untagged)]`, the fields of all variants are merged into one object. A field that occurs in two variants must have
    ///   the same type and the same doc comment in both.
    /// - If some variants have fields and others have none, the former are objects and the latter strings. Write `Memory {}` instead of
    ///   `Memory` to make it an object.
    ///
    /// Otherwise, a type has a schema that a CRD cannot express, such as a field with several types. Use another type, or write the
    /// schema yourself with `#[schemars(schema_with = "…")]`.
    OP016: Source, Mistake;

    /// The package uses a Kubernetes type, but opctl cannot determine for which Kubernetes version. The types of k8s-openapi 0.26 to 0.29
    /// are built in, for every Kubernetes version that each of them supports. Cargo.lock selects the release of k8s-openapi. A feature of
    /// k8s-openapi selects the Kubernetes version, which opctl looks up as k8s-openapi's build script does:
    ///
    /// - in `[dependencies]` or the default features of the package, in its path dependencies, or in `K8S_OPENAPI_ENABLED_VERSION` under
    ///   `[env]` in `.cargo/config.toml`;
    /// - for a library that does not select a version: in the workspace members that use it, else in its `[dev-dependencies]`.
    ///
    /// Enable exactly one of the features that this release of k8s-openapi has: `latest`, `earliest`, or one such as `v1_35`. The types of
    /// other releases of k8s-openapi are read from their source, if it has been downloaded: run `cargo fetch`.
    OP017: Source, CompilerOnly;

    /// The package uses a release of kube whose CRDs opctl does not know, or a type whose schema depends on the release of schemars in a
    /// way that opctl does not implement. opctl knows kube 2 to 5 and schemars 1. Cargo.lock selects the releases; without it, opctl
    /// assumes the latest ones that Cargo.toml allows. Update the dependency, update opctl if the release is newer than opctl, or let the
    /// [compiled types](../engines.md) print the CRDs: `--engine cargo`.
    OP018: Source, CompilerOnly;

    /// A type used in a custom resource has no schema. Add `schemars::JsonSchema` (or `kube::KubeSchema`) to its `#[derive(…)]`.
    OP019: Source, CompilerOnly;

    /// The versions of a kind are inconsistent. One is declared twice, none is the storage version, or they differ in scope or names. See
    /// [Several versions of a kind](../concepts/versions.md).
    OP020: Source, Mistake;

    /// opctl cannot read a custom resource, so its CRD would be missing without notice: a macro or a build script generates the type, a
    /// macro declares its module, `include!` brings it in, it is declared in a block, such as the body of a function, or it has
    /// `#[kube(…)]` without the derive `CustomResource`. Declare the type in a module, without a macro, or let the [compiled
    /// types](../engines.md) print the CRDs.
    OP021: Source, CompilerOnly;

    /// two served versions of a kind have different fields, and there is no conversion webhook. If the stored version lacks a field
    /// of another one, this is an error ([OP601](#op601)). The API server then converts
    /// objects by changing only `apiVersion`, and server-side apply fails for fields that exist in one version only. Keep the fields
    /// identical, stop serving one of the versions, or scaffold a webhook with `opctl create webhook --conversion`. See [Several versions
    /// of a kind](../concepts/versions.md#conversion).
    OP022: Source, Warning;

    /// An item is behind a `#[cfg(name)]` that only a build script can set. opctl does not run build scripts. Use a cargo feature
    /// instead, or let the [compiled types](../engines.md) print the CRDs. The `cfg`s of k8s-openapi's build script are supported.
    OP023: Source, CompilerOnly;

    /// A macro generates this type, or may generate a type of this name, which would take precedence over the one from the standard library
    /// or from a glob import. opctl does not expand macros. It checks which names a `macro_rules!` macro of the crate can declare, and knows
    /// common macros such as `lazy_static!`. Write the type without the macro, call the macro in a module of its own, import the name
    /// explicitly (`use std::string::String;`), or declare the schema: `#[schemars(with = "String")]`.
    OP024: Source, CompilerOnly;

    /// The type derives `JsonSchema` from schemars 0.8, whose schemas differ from those of schemars 1. In your own crate, update schemars
    /// and kube, or let the [compiled types](../engines.md) print the CRDs: `--engine cargo`. For a type of another crate, use a version of
    /// the crate that supports schemars 1, or declare the schema: `#[schemars(with = "String")]`.
    OP025: Source, CompilerOnly;

    /// A type leads to too many others: through more than 128 types within each other, such as an alias of itself, through more than a
    /// million types in all, or to a schema of more than 250,000 values. An API server stores at most 1.5 MB of a CRD. Break the circle,
    /// or keep a part of the type as `serde_json::Value` with `#[schemars(schema_with = …)]`.
    OP026: Source, Mistake;

    /// `merge_strategy = StructMerge::…` has no effect. kube drops its keyword when it generates the CRD. Use `MapMerge::Atomic`
    /// for an atomic struct. Structs are granular by default.
    OP027: Source, Warning;

    /// kube ignores `scale` for a kind without a status. `kubectl scale` would not work. Add `status = "…"`.
    OP028: Source, Warning;

    /// opctl does not read this file. It contains a custom resource but no `mod` leads to it, or `include!` includes it by a
    /// path that opctl cannot determine, such as one in `OUT_DIR`. A custom resource in the file gets no CRD. Declare the file with
    /// `mod`, or let the [compiled types](../engines.md) print the CRDs.
    OP029: Source, Warning;

    /// the source has a type for a kind that belongs to another project, so opctl generates no CRD for it. Such a type often
    /// has only the fields that the operator reads. If its CRD were applied beside the real one, the API server would drop all other
    /// fields of existing objects. The message has the first of these reasons that applies:
    ///
    /// - The API group belongs to Kubernetes or to a widespread project, such as `cert-manager.io`.
    /// - kopium generated the type from a CRD, as the comment at the top of the file says.
    /// - `PROJECT` does not list the kind, and its group is not in the domain of the project.
    /// - The code calls `crd()` for kinds of other groups, for example in a `crdgen` binary, but for no kind of this group.
    ///
    /// To confirm this and get no warning, write [`+opctl:external`](markers.md#opctlexternal) above the type. If the CRD is your own, write
    /// [`+opctl:owned`](markers.md#opctlowned). Requests for the kind still need permissions; `opctl check` reports missing ones.
    ///
    /// ```rust
    /// // +opctl:external
    /// #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    /// #[kube(group = "cert-manager.io", version = "v1", kind = "Certificate", namespaced)]
    /// pub struct CertificateSpec {
    ///     pub secret_name: String,
    /// }
    /// ```
    OP030: Source, Warning;

    /// It is unclear whether the CRD of a kind is your own or that of another project (see [OP030](#op030)). opctl generates no CRD for the
    /// kind, and keeps an existing one with its roles, because both mistakes can delete data: a partial CRD applied beside the real one
    /// removes fields from objects, and a CRD removed where manifests are applied with pruning takes all its objects with it. Write
    /// [`+opctl:owned`](markers.md#opctlowned) or [`+opctl:external`](markers.md#opctlexternal) above the type. opctl reports this if one of
    /// these applies:
    ///
    /// - The kinds of the crate are in groups of several domains, and nothing in the code calls `crd()` for this one.
    /// - The evidence is contradictory: the group belongs to a widespread project, but `crd()` is called for the kind, as in a `crdgen`
    ///   binary.
    /// - The kind belongs to another project, but an earlier version of opctl generated its CRD. With `+opctl:external`, the next
    ///   `opctl manifests` removes the file. If you apply the manifests with pruning (`kubectl apply --prune`, Argo CD, Flux), first exclude
    ///   the CRD from it, for example with the annotation `argocd.argoproj.io/sync-options: Prune=false` on the CRD in the cluster, or
    ///   `kustomize.toolkit.fluxcd.io/prune: disabled`. Then apply the CRD of the other project again, to get the missing fields back.
    OP049: Source, Mistake;

    /// every kind of the package is behind a `cfg` that does not hold, so no CRD is generated. The warning names the feature of Cargo.toml
    /// that adds most of them, and `--features` enables it, as with cargo. Features that the package needs by default belong in
    /// `default = […]`.
    OP051: Source, Warning;

    /// The name of a type is misspelled: nothing of this name is in scope, and a type with almost the same name is. Macros, derives and
    /// other crates that could bring the name are not in use here, so a compiler would reject it, too. If there may be such code, opctl
    /// reports [OP010](#op010) instead.
    OP052: Source, Mistake;

    /// opctl cannot determine what a call requests from the API server. As long as there is such a call, no permission is
    /// reported as unused ([OP417](#op417)): its marker may be for this request.
    ///
    /// - The kind is known only at run time, or comes from a function of another crate. Name it where the `Api` is created or passed on:
    ///
    ///   ```rust
    ///   let pods = Api::<Pod>::all(client);
    ///   ```
    ///
    ///   The kind of an `Api<DynamicObject>` is that of its `ApiResource`. opctl understands `ApiResource::erase::<Kind>(&())`, literals of
    ///   `ApiResource` and `GroupVersionKind`, and `ApiResource::from_gvk(&GroupVersionKind::gvk("apps", "v1", "Deployment"))`, also in
    ///   functions, constants and fields, but not an `ApiResource` that comes from discovery or a file.
    /// - A method such as `list` or `patch` is called on a value whose type is not known. Give the variable a type.
    /// - `Client::request`, `Client::send` and the like get a path that is not a literal. Use an `Api`, or write the path as a literal or a
    ///   `format!` with a literal resource: `format!("/api/v1/namespaces/{namespace}/pods")`.
    /// - opctl cannot expand a macro, or the code passes a client to a function whose source opctl does not read. Make the request in a
    ///   function of the project.
    ///
    /// If the request cannot be written otherwise, write markers for everything that it may need, and `// +opctl:allow:OP401 reason` above
    /// the function.
    OP401: Check, Warning;

    /// no request to the API server was found in a package that uses a client of kube. `opctl check` has then compared nothing. The
    /// message has the number of files and functions that were read. Check that `--path` names the package of the operator, and that its
    /// `cfg`s and features are those of the build (`--features`). If another crate makes all requests, write markers for them, and
    /// `// +opctl:allow:OP402 reason` in any file of the package.
    OP402: Check, Warning;

    /// the project calls a crate that makes requests with kube, such as a library for leader election or a framework, and opctl
    /// does not read the code of other crates. Write markers for its requests, which its documentation lists, and
    /// `// +opctl:allow:OP403 reason` above the function. The warning is at the first call; permissions are not reported as unused.
    OP403: Check, Warning;

    /// a metric is missing from the dashboard of `opctl edit --grafana`. opctl reads the name and the type of a metric where
    /// `ctx.metrics.register` is called: the name must be a string literal, and the type (`Counter`, `Gauge`, `Histogram`, or a `Family` of one
    /// of them) must be in the same expression. It may be in `register::<Counter>(…)`, in `let backups: Counter = …`, the type of the field
    /// that is initialized, or the return type of a function that ends with the call.
    OP490: Metrics, Warning;
}
