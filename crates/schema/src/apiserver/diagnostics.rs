//! CRDs, objects and webhook configurations that the API server would reject or warn about.

opctl_model::diagnostics! {
    /// A field of a webhook is missing or has an invalid value. `sideEffects` must be `None` or `NoneOnDryRun`; the API server calls no
    /// webhook with other side effects. In `patch`, write values exactly as the API spells them: `Fail`, where the argument also takes
    /// `fail`.
    OP120: Markers, Mistake;

    /// The API server cannot reach this webhook. It needs either a Service or a URL. A URL must use https and have no user, query or
    /// fragment. The path of a Service must start with `/` and consist of lowercase letters, digits, `-` and `.` between slashes; its
    /// port must be from 1 to 65535.
    OP123: Markers, Mistake;

    /// The timeout of a webhook must be from 1 to 30 seconds. Omit it for the default of 10 seconds.
    OP124: Markers, Mistake;

    /// The list of review versions of a webhook is invalid. It must contain `v1` or `v1beta1`, the versions that API servers send, and no
    /// version twice. Write `v1`.
    OP125: Markers, Mistake;

    /// A rule of a webhook is invalid or would never match a request. It has an empty list, a value that is repeated or already covered
    /// by a `*` next to it, a kind instead of its plural, or a group with a version. In `resources`, `*` matches all resources but no
    /// subresources, `pods/*` all subresources of pods, and `*/*` everything.
    OP126: Markers, Mistake;

    /// A selector or match condition in `patch` is invalid. It has an invalid label key or value, an operator without its values, no name
    /// or expression, or an expression that is not valid CEL.
    OP128: Markers, Mistake;

    /// A name is not valid in Kubernetes. Plural, singular, short names, categories and versions consist of lowercase letters, digits and
    /// `-`, start with a letter, end with a letter or digit, and have at most 63 characters. A kind may contain uppercase letters and has
    /// at most 59 characters, because the name of its list is `KindList`.
    ///
    /// ```rust
    /// #[kube(group = "example.com", version = "v1", kind = "Cache", plural = "caches", shortname = "ca")]
    /// struct CacheSpec {}
    /// ```
    OP301: ApiServer, Mistake;

    /// The API group is invalid. It must be a lowercase domain with at least one dot; the group and the plural together have at most 252
    /// characters. Use a domain that you own, so that it does not clash with other operators.
    ///
    /// ```rust
    /// #[kube(group = "cache.example.com", version = "v1", kind = "Cache")]
    /// struct CacheSpec {}
    /// ```
    OP302: ApiServer, Mistake;

    /// Groups that end in `k8s.io` or `kubernetes.io` are reserved for the Kubernetes project. A kind in such a group needs the
    /// annotation `api-approved.kubernetes.io`, with the URL of the API review, or with a reason that starts with `unapproved` for
    /// experiments.
    ///
    /// ```rust
    /// #[kube(
    ///     group = "trial.k8s.io",
    ///     version = "v1alpha1",
    ///     kind = "Cache",
    ///     annotation("api-approved.kubernetes.io", "unapproved, a trial")
    /// )]
    /// struct CacheSpec {}
    /// ```
    OP303: ApiServer, Mistake;

    /// Exactly one version of a kind must be the storage version, and version names must be unique. Set `storage = false` on the other
    /// versions. See [Several versions of a kind](../concepts/versions.md).
    ///
    /// ```rust
    /// #[kube(group = "example.com", version = "v1", kind = "Cache", storage = true)]
    /// struct CacheSpec {}
    /// ```
    OP304: ApiServer, Mistake;

    /// The deprecation warning is invalid. It must not be empty, longer than 256 bytes, or contain line breaks: `kubectl` prints it as
    /// one line.
    ///
    /// ```rust
    /// #[kube(deprecated = "example.com/v1alpha1 Cache is deprecated; use v1")]
    /// struct CacheSpec {}
    /// ```
    OP305: ApiServer, Mistake;

    /// The kind has no schema (`schema = "disabled"`), but the API server requires one. If the kind belongs to another project and kopium
    /// generated its types, move them to a folder named `external`, or mark them with [`+opctl:external`](markers.md#opctlexternal): opctl
    /// generates no CRDs for such kinds. To accept and keep any field, use this schema:
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    ///     anything: serde_json::Value,
    /// }
    /// ```
    OP306: ApiServer, Mistake;

    /// A label or annotation of the CRD has an invalid key or value. A key has the form `name` or `domain/name`. The name part and the
    /// value of a label have at most 63 letters, digits, `-`, `_` and `.`, and start and end with a letter or digit.
    ///
    /// ```rust
    /// #[kube(label("example.com/tier", "cache"), annotation("example.com/note", "any text"))]
    /// struct CacheSpec {}
    /// ```
    OP307: ApiServer, Mistake;

    /// A printer column is invalid. It needs a name, a path that starts with a dot, and one of the types `integer`, `number`, `string`,
    /// `boolean` and `date`. The format is optional: `int32`, `int64`, `float`, `double`, `byte`, `date`, `date-time` or `password`.
    ///
    /// ```rust
    /// #[kube(printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size"))]
    /// struct CacheSpec {
    ///     size: i32,
    /// }
    /// ```
    OP308: ApiServer, Mistake;

    /// A path of the scale subresource has the wrong prefix. `spec_replicas_path` must start with `.spec.`, `status_replicas_path` with
    /// `.status.`, and `label_selector_path` with either.
    ///
    /// ```rust
    /// #[kube(
    ///     status = CacheStatus,
    ///     scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas")
    /// )]
    /// struct CacheSpec {
    ///     replicas: i32,
    /// }
    /// #[derive(JsonSchema)]
    /// struct CacheStatus {
    ///     replicas: i32,
    /// }
    /// ```
    OP309: ApiServer, Mistake;

    /// A selectable field is invalid. It must be a string, boolean or integer, with a path of plain names (`.spec.tier`), not inside a
    /// list and not in `metadata`. At most 8 fields can be selectable, each declared once.
    ///
    /// ```rust
    /// #[kube(selectable = ".spec.tier")]
    /// struct CacheSpec {
    ///     tier: String,
    /// }
    /// ```
    OP310: ApiServer, Mistake;

    /// a printer column or the scale subresource refers to a field that the schema does not have. The API server accepts that,
    /// but the column stays empty. Use the names of the YAML: with `rename_all = "camelCase"`, `max_size` is `maxSize`.
    ///
    /// ```rust
    /// #[kube(printcolumn(name = "Max", type_ = "integer", json_path = ".spec.maxSize"))]
    /// #[serde(rename_all = "camelCase")]
    /// struct CacheSpec {
    ///     max_size: i32,
    /// }
    /// ```
    OP311: ApiServer, Warning;

    /// A value has no type in the schema, or several types. The schema of a CRD must be *structural*: each value has one type that does
    /// not depend on the value. For arbitrary values, preserve unknown fields; for numbers or strings, use `IntOrString`.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    ///     overrides: serde_json::Value,
    ///     port: k8s_openapi::apimachinery::pkg::util::intstr::IntOrString,
    /// }
    /// ```
    OP313: ApiServer, Mistake;

    /// The schema of an array must have one schema for all items. It has none, or a list of schemas, as for a tuple.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     ports: PortRange,
    ///     names: Vec<String>,
    /// }
    /// #[derive(JsonSchema)]
    /// struct PortRange {
    ///     first: i32,
    ///     last: i32,
    /// }
    /// ```
    OP314: ApiServer, Mistake;

    /// The schema uses a keyword or type that the API server does not support. These are `$ref`, `$schema`, `definitions`,
    /// `patternProperties`, `dependencies`, `additionalItems`, `id`, `uniqueItems: true` and the type `null`. They usually come from
    /// `#[schemars(extend(…))]` or `schema_with`. Instead of unique items, declare the list as a set:
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[x_kube(merge_strategy = ListMerge::Set)]
    ///     zones: Vec<String>,
    /// }
    /// ```
    OP315: ApiServer, Mistake;

    /// A type has named fields and also a rule for fields with other names. The rule comes from `#[serde(deny_unknown_fields)]` or a
    /// flattened map; the API server allows only one of the two. `deny_unknown_fields` is not needed: the API server drops unknown
    /// fields, and `kubectl` rejects them. Give a map a field of its own:
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     size: i32,
    ///     labels: BTreeMap<String, String>,
    /// }
    /// ```
    OP316: ApiServer, Mistake;

    /// A keyword is not allowed inside `anyOf`, `oneOf`, `allOf` or `not`. There, the API server accepts only restrictions (`required`,
    /// `enum`, `minLength`, …): no type, default, title, description, `nullable` or `x-kubernetes-…`, and nothing about `metadata`. kube
    /// moves these keywords out of enums where it can. Where it cannot, give all variants fields, or none of them, remove attributes and
    /// rules from the variants, or write the schema yourself with `#[schemars(schema_with = "…")]`.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     source: Source,
    /// }
    /// #[derive(JsonSchema)]
    /// #[serde(rename_all = "camelCase")]
    /// enum Source {
    ///     Git { url: String },
    ///     Image { name: String },
    /// }
    /// ```
    OP317: ApiServer, Mistake;

    /// A field occurs only inside `anyOf`, `oneOf`, `allOf` or `not`. It has no type. At the top level of a resource the API server
    /// rejects this. At deeper levels it drops the field from every object, which is a warning here. Declare the field outside as well.
    OP318: ApiServer, Mistake;

    /// The top level of a resource must be an object with named fields. It cannot be an array, a map, or nullable. With a status
    /// subresource it cannot use `anyOf`, `enum`, `default`, `minProperties` and similar keywords, because the API server validates spec
    /// and status separately. The usual cause is `no_spec` on an enum or on a flattened map. Move them into a field:
    ///
    /// ```rust
    /// #[kube(status = CacheStatus)]
    /// struct CacheSpec {
    ///     source: Source,
    ///     labels: BTreeMap<String, String>,
    /// }
    /// #[derive(JsonSchema)]
    /// enum Source {
    ///     Git,
    ///     Image,
    /// }
    /// #[derive(JsonSchema)]
    /// struct CacheStatus {
    ///     ready: bool,
    /// }
    /// ```
    OP319: ApiServer, Mistake;

    /// The fields `apiVersion`, `kind` and `metadata` are reserved. With `no_spec`, a field of your type can clash with them: rename it.
    /// In an embedded resource, they must have the types that Kubernetes gives them.
    ///
    /// ```rust
    /// #[kube(no_spec)]
    /// struct Cache1 {
    ///     cache_kind: i32,
    /// }
    /// ```
    OP320: ApiServer, Mistake;

    /// The keyword `x-kubernetes-embedded-resource` is on a value that cannot be an object of Kubernetes. The value must be an object
    /// with named fields or with preserved unknown fields, cannot have `x-kubernetes-int-or-string`, and cannot be inside `metadata`.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[schemars(extend(
    ///         "type" = "object",
    ///         "x-kubernetes-embedded-resource" = true,
    ///         "x-kubernetes-preserve-unknown-fields" = true
    ///     ))]
    ///     template: serde_json::Value,
    /// }
    /// ```
    OP321: ApiServer, Mistake;

    /// The pattern is not a valid regular expression for the API server. It uses Go's syntax ([RE2](https://golang.org/s/re2syntax)),
    /// which has no look-around, no backreferences, and at most 1000 repetitions. Express such conditions as a CEL rule.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[schemars(regex(pattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$"))]
    ///     #[x_kube(validation = ("!self.startsWith('kube-')", "names that start with kube- are reserved"))]
    ///     name: String,
    /// }
    /// ```
    OP322: ApiServer, Mistake;

    /// The merge strategy of a list does not match its items. Items can never be null. `ListMerge::Set` requires items that are replaced
    /// as a whole: strings, numbers, or objects with the map type `atomic`. `ListMerge::Map` requires objects; its keys are fields with a
    /// scalar type, named as in YAML, and either required or with a default.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    ///     pools: Vec<Pool>,
    /// }
    /// #[derive(JsonSchema)]
    /// struct Pool {
    ///     name: String,
    ///     size: Option<i32>,
    /// }
    /// ```
    OP323: ApiServer, Mistake;

    /// The keyword `x-kubernetes-map-type` is only valid on objects, as `atomic` or `granular`.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[x_kube(merge_strategy = MapMerge::Atomic)]
    ///     selector: BTreeMap<String, String>,
    /// }
    /// ```
    OP324: ApiServer, Mistake;

    /// A default violates its own schema. It is out of range, not one of the enum's values, or does not match the pattern. The usual
    /// cause is `#[serde(default)]` on a field whose empty value is not allowed. For the values of a map it is a warning: the API server
    /// accepts the CRD but rejects every object that gets the default. A default must also follow the CEL rules of its field: as the value of
    /// a new object, and as the old and new value of one that is updated.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[serde(default = "one")]
    ///     #[schemars(range(min = 1))]
    ///     replicas: i32,
    /// }
    /// fn one() -> i32 {
    ///     1
    /// }
    /// ```
    OP326: ApiServer, Mistake;

    /// A default contains a field that is not in the schema. The API server would drop the field. The usual cause is `#[schemars(skip)]`,
    /// or different names for serialization and deserialization.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[serde(default)]
    ///     limits: Limits,
    /// }
    /// #[derive(Default, JsonSchema, Serialize)]
    /// struct Limits {
    ///     #[serde(rename = "max")]
    ///     maximum: i32,
    /// }
    /// ```
    OP327: ApiServer, Mistake;

    /// The fields `apiVersion`, `kind` and `metadata` cannot have defaults. The API server sets them before it applies defaults. Rename
    /// the field.
    ///
    /// ```rust
    /// #[kube(no_spec)]
    /// struct Cache1 {
    ///     #[serde(default)]
    ///     sort: String,
    /// }
    /// ```
    OP328: ApiServer, Mistake;

    /// the API server does not know this format. Since Kubernetes 1.34 it warns whenever the CRD is applied
    /// (`Warning: unrecognized format "uint16"`). It knows `int32` and `int64` for integers, `float` and `double` for numbers, and for
    /// strings `date`, `date-time`, `duration`, `byte`, `uri`, `email`, `hostname`, `ipv4`, `ipv6`, `cidr`, `mac`, `uuid`, `password`,
    /// `k8s-short-name`, `k8s-long-name` and some more. Rust's unsigned and short integers have formats that it does not know. Use `i32`
    /// or `i64`, or set the format; the bounds are kept.
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[schemars(extend("format" = "int32"))]
    ///     port: u16,
    ///     #[schemars(range(min = 0))]
    ///     size: i64,
    /// }
    /// ```
    OP329: ApiServer, Warning;

    /// the CRD is too large for client-side `kubectl apply`. kubectl stores a copy of it in an annotation, and all annotations
    /// of an object together are limited to 262,144 bytes. Use `kubectl apply --server-side`, as the project's Makefile does, or make the
    /// CRD smaller: most of it is descriptions of Kubernetes' own types, which `--no-foreign-descriptions` omits.
    OP330: ApiServer, Warning;

    /// The CRD is larger than a request to etcd can be. The limit is 1.5 MiB. Omit descriptions, serve fewer versions, or do not describe
    /// part of the object:
    ///
    /// ```rust
    /// struct CacheSpec {
    ///     #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    ///     pod_template: serde_json::Value,
    /// }
    /// ```
    OP331: ApiServer, Mistake;

    /// Two kinds of a group have the same name. In a group, a plural, singular or short name belongs to one kind, and so do kinds and
    /// list kinds (`PriceList` is the list kind of `Price`). Whichever CRD comes second gets the condition `NamesAccepted=False` and is
    /// never served. Change the name at the location: a short name can be removed, a singular is set with `singular = "…"`. The same
    /// names in different groups are accepted; for a short name, kubectl chooses one of the groups, and prints a warning.
    ///
    /// ```rust
    /// #[kube(group = "shop.example.com", version = "v1", kind = "Database", shortname = "dtb")]
    /// struct DatabaseSpec {}
    /// ```
    OP332: ApiServer, Mistake;

    /// a short name is the singular or plural of its own kind. kubectl accepts these two without a short name. A new cluster accepts the
    /// CRD, but a cluster that has the CRD without this short name does not: the CRD gets `NamesAccepted=False`, and whatever waits for it, such
    /// as `helm --wait`, times out. Remove the short name.
    ///
    /// ```rust
    /// #[kube(group = "tool.example.com", version = "v1", kind = "ToolServer", shortname = "ts")]
    /// struct ToolServerSpec {}
    /// ```
    OP333: ApiServer, Warning;

    /// a category is the name of another kind, of the project or of Kubernetes. kubectl looks for a category before it looks
    /// for a kind: with the category `pods`, `kubectl get pods` lists the objects of this kind instead of Pods, and `kubectl delete
    /// pods --all` deletes them. Choose a category that is not a name of a kind, such as the name of the product.
    ///
    /// ```rust
    /// #[kube(group = "shop.example.com", version = "v1", kind = "Price", category = "shop")]
    /// struct PriceSpec {}
    /// ```
    OP334: ApiServer, Warning;

    /// A CEL rule or its `messageExpression` has invalid syntax. Rules are in `x-kubernetes-validations`, in Rust
    /// `#[kube(validation = …)]` or `#[x_kube(validation = …)]`; the message shows the position. Common causes are `=` instead of `==`,
    /// `and` instead of `&&`, a backslash that Rust's string literal has consumed (write the rule as `r#"…"#`), and a reserved word as a
    /// variable name.
    OP340: ApiServer, Mistake;

    /// A CEL rule has an unknown name or a type error. It uses a field that its schema does not have, a function that Kubernetes does not
    /// provide, or an operator or function with arguments of the wrong type. The API server checks types when the CRD is applied, not
    /// only when the rule runs:
    ///
    /// - `self` is the value that the rule is attached to: in a rule on a struct, its fields are `self.field`; in a rule on a field,
    ///   `self` is the value of the field. Names are those of the JSON (`maxReplicas`, not `max_replicas`).
    /// - Characters that are not valid in CEL names are escaped: `a-b` is `self.a__dash__b`, `a.b` is `self.a__dot__b`, `a/b` is
    ///   `self.a__slash__b`, `a__b` is `self.a__underscores__b`.
    /// - Integers and doubles are different types: write `self.ratio * 2.0` or `double(self.count)`. Comparing them is allowed.
    /// - Fields without a schema (`x-kubernetes-preserve-unknown-fields`) are not accessible. Of an object's metadata, only `name` and
    ///   `generateName` are.
    /// - Objects from different parts of the schema are never equal, even if they have the same fields: compare them field by field.
    ///
    /// opctl knows the functions of Kubernetes 1.34 and newer; an older API server may lack some of them.
    OP341: ApiServer, Mistake;

    /// A CEL rule does not return a bool, or a `messageExpression` does not return a string. A value whose type is only known when the
    /// rule runs, such as an `IntOrString`, must be compared with something: `self.port == 8080`.
    OP343: ApiServer, Mistake;

    /// A literal in a CEL rule is invalid. It is a regular expression that Go does not support (no look-around, no backreferences), a
    /// duration such as `1d` (the largest unit is `h`), a time that does not follow RFC 3339, a list of mixed types, or a format string
    /// that does not match its arguments.
    OP344: ApiServer, Mistake;

    /// A CEL rule uses `oldSelf` where the API server cannot match old and new values. This is the case for the items of a list that is
    /// not of type map. Make it one (`#[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]`), or move the rule to the list or
    /// above. The same code reports `optionalOldSelf` on a rule that does not use `oldSelf`.
    OP345: ApiServer, Mistake;

    /// A property of a CEL rule is invalid. The rule is empty, its message is blank or has several lines, a rule with several lines has
    /// no message, `reason` is none of `FieldValueInvalid`, `FieldValueForbidden`, `FieldValueRequired` and `FieldValueDuplicate`, or
    /// `fieldPath` is not the path of a field in the schema (`.spec.name`, `.labels['a.b']`).
    OP346: ApiServer, Mistake;

    /// The estimated cost of a CEL rule exceeds the API server's limit. The cost of one evaluation, multiplied by the number of values
    /// that the rule is evaluated for, must not exceed 10,000,000. A list, map or string without a maximum size counts as large as a
    /// request of 3 MiB allows, so a loop over an unbounded list is usually too expensive, and a nested loop nearly always. Set limits
    /// for the values that the rule uses, and for the lists and maps around it:
    ///
    /// ```rust
    /// #[x_kube(validation = "self.hosts.all(host, !(host in self.labels))")]
    /// struct RouteSpec {
    ///     /// At most 64 strings of at most 253 characters.
    ///     #[schemars(length(max = 64), inner(length(max = 253)))]
    ///     hosts: Vec<String>,
    ///     /// At most 64 entries.
    ///     #[schemars(extend("maxProperties" = 64))]
    ///     labels: BTreeMap<String, String>,
    /// }
    /// ```
    ///
    /// Or simplify the rule: a list of type map needs no rule against duplicate keys, and a rule on the items costs less than a loop over
    /// them.
    OP347: ApiServer, Mistake;

    /// The estimated cost of all CEL rules of a version exceeds 100,000,000. The location is that of the most expensive rule; reduce the
    /// cost as for [OP347](#op347).
    OP348: ApiServer, Mistake;

    /// A CEL rule is on a value that has no type in the schema. An example is a value that only has
    /// `x-kubernetes-preserve-unknown-fields`, or a list of such values. Move the rule to the parent, where it can check less
    /// (`has(self.field)`), or declare the type.
    OP349: ApiServer, Mistake;

    /// A schema has the same CEL rule twice. The rule is the key of `x-kubernetes-validations`, so `kubectl apply --server-side` and every
    /// tool that uses server-side apply reject the CRD with `duplicate entries for key [rule="…"]`. `kubectl create` accepts it. The rules of a
    /// type and those of a field of that type are at the same place in the schema. Remove one of them, even if their messages differ:
    ///
    /// ```rust
    /// struct Spec {
    ///     pool: Pool,
    /// }
    ///
    /// #[derive(KubeSchema)]
    /// #[x_kube(validation = "self.min <= self.max")]
    /// struct Pool {
    ///     min: i32,
    ///     max: i32,
    /// }
    /// ```
    OP352: ApiServer, Mistake;

    /// an enum in the schema lists the same value twice. The API server accepts this, but two variants then have the same name, and
    /// serde deserializes the value as the first of them, never as the second. Rename or remove one of the variants.
    OP353: ApiServer, Warning;

    /// The object has the wrong kind or a version that is not served. `apiVersion` consists of the group in `#[kube(group = …)]` and a
    /// version: `cache.example.com/v1`.
    OP450: Check, Mistake;

    /// The object has a field that is not in the schema of its kind. `kubectl apply` fails, because kubectl requests strict field
    /// validation. Use the names that serde uses: with `#[serde(rename_all = "camelCase")]`, the Rust field `replica_count` is
    /// `replicaCount`.
    OP451: Check, Mistake;

    /// The metadata of the object is invalid. The name is missing or not a DNS subdomain, a label or annotation has an invalid key or
    /// value, an object of a cluster-scoped kind has a namespace, or an owner reference lacks a field.
    OP452: Check, Mistake;

    /// A value has another type than its schema requires, or a string does not have the required format. YAML reads an unquoted `1.10` as
    /// a number, and YAML 1.1 `yes` and `on` as booleans: quote strings, as in `"1.10"`. A value can only be null if the type permits it
    /// (`Option<T>`).
    OP453: Check, Mistake;

    /// A required field is missing. To make the field optional, use an `Option` or `#[serde(default)]` in Rust.
    OP454: Check, Mistake;

    /// A value violates its schema. It is not one of the allowed values, out of range, too short or too long, does not match the pattern,
    /// or does not match exactly one of several variants.
    OP455: Check, Mistake;

    /// A list contains duplicates. In a list of type set, each item must be unique; in a list of type map, the keys of each item
    /// (`#[x_kube(merge_strategy = …)]`).
    OP456: Check, Mistake;

    /// An embedded object (`x-kubernetes-embedded-resource`) has an invalid `apiVersion`, `kind` or metadata.
    OP457: Check, Mistake;

    /// the manifest sets `status`, which the API server drops when it creates the object. The kind has the status subresource.
    /// Remove it: the operator writes the status.
    OP458: Check, Warning;

    /// opctl cannot check the format or pattern of a value as the API server does. The rest of the object is checked.
    OP459: Check, Warning;

    /// The object violates a CEL rule of its kind. The message is that of the rule, and the location that of its `fieldPath`.
    OP460: Check, Mistake;

    /// A CEL rule of the kind fails with an error for this object. The API server then rejects the object. The usual cause is a rule that
    /// reads a missing field (`no such key`), an index that is out of bounds, or a division by zero. Test for the field in the rule:
    /// `!has(self.name) || self.name != ''`, or `self.?name.orValue('') != ''`.
    OP461: Check, Mistake;

    /// opctl cannot evaluate a CEL rule for this object. The rule uses a named time zone, `%e` in a format, or a comparison of
    /// fields without a type in the schema, or needs so many steps that the API server may stop it. The API server will evaluate it.
    OP462: Check, Warning;

    /// the API server accepts an object that does not deserialize into the Rust type of the kind. The operator then does not see the
    /// object, or not as a typed object, and anyone who may create objects of the kind can cause this. The message shows the value, and
    /// the help the attribute that makes the API server reject it, in the generated CRD and in `crd()`:
    ///
    /// ```rust
    /// #[schemars(range(max = u32::MAX))]
    /// replicas: Option<u32>,
    /// ```
    ///
    /// | Type | What the API server accepts |
    /// |---|---|
    /// | `u32`, `NonZeroU32` | numbers above the maximum, because it does not know the format `uint32`. It does enforce `int32` and the range of an `i64`, and the schemas of 8-bit and 16-bit integers have bounds. |
    /// | `IntOrString` and `Quantity` of Kubernetes | `null` where the field is not required, because kube makes such fields nullable |
    /// | `chrono::DateTime`, `jiff::Timestamp` | any time zone offset (`+99:59`), and text after the time. For the types of jiff, also 10 fractional digits and the end of the year 9999. |
    /// | `kube::core::Duration`, `humantime_serde`, durations of jiff | any string, or any string that contains a duration |
    /// | `IpAddr`, `Ipv4Addr`, `IpNet`, `Url`, `Uuid`, `semver::Version`, `SocketAddr` | other strings, because it does not know the format or interprets it differently |
    /// | strings that are parsed, such as `DisplayFromStr` of serde_with | any string |
    /// | maps with keys other than strings, such as `BTreeMap<Ipv4Addr, String>` | any key |
    /// | strings with a format, such as `#[schemars(email)]` | a list, because it does not check the JSON type of strings whose format it knows. `extend("minItems" = 1, "maxItems" = 0)` rejects every list. |
    /// | a field with a different schema, such as `#[schemars(with = "…")]` or `schema_with` | everything that this schema accepts |
    /// | values under `x-kubernetes-preserve-unknown-fields` | everything, and other fields, which `#[serde(deny_unknown_fields)]` refuses |
    /// | a field that the schema does not require | an object without the field, unless it is an `Option` or has `#[serde(default)]`. With `#[serde(with = "…")]` or `deserialize_with`, serde requires even an `Option`. |
    /// | `#[serde(try_from = "…")]`, a function of `with` or `deserialize_with`, a hand-written `Deserialize` | values that the code refuses, as far as opctl can evaluate it. Otherwise see [OP471](#op471). |
    ///
    /// If no schema can describe what the type parses, use `String` and parse it in the reconciler, which can then report the error in
    /// the status. If something else prevents the value, for example a webhook, or the field is in the status, which only the operator
    /// writes, allow the finding with `// +opctl:allow:OP470 reason` above the field or the struct.
    ///
    /// opctl tests values with the API server's rules on the schema of the kind, including bounds and CEL rules in the source. It does not
    /// check fields inside Kubernetes' own types, nor times such as `+99:59` in its `Time`, which clients written in Go refuse as well.
    OP470: Decoding, Warning;

    /// a function or type decides which values it deserializes, opctl cannot evaluate its code, and the schema accepts every value of
    /// the JSON type. If the code refuses any of them, an object with such a value does not deserialize, as described for [OP470](#op470). This
    /// concerns functions of `#[serde(with = "…")]` and `deserialize_with`, `try_from`, hand-written implementations of `Deserialize`, and types
    /// of other crates. There is one finding for each function or type. Limit the schema to what the code reads:
    ///
    /// ```rust
    /// #[serde(deserialize_with = "parse_schedule")]
    /// #[schemars(regex(pattern = r"^(\S+ ){4}\S+$"))]
    /// schedule: Schedule,
    /// ```
    ///
    /// There is no finding if the schema has an `enum`, a pattern, a format or a CEL rule at this place, or if the code cannot fail, such as
    /// `Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())`. If the code reads every value that the schema accepts, allow the finding
    /// with `// +opctl:allow:OP471 reason` above the function, the `impl` or the field.
    OP471: Decoding, Warning;
}
