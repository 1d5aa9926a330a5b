//! The diagnostics of all crates, and those that only commands report.

use opctl_charts::ansible;
use opctl_model::diagnostic::Code;
use opctl_olm::bundle;
use opctl_schema::{apiserver, compat};
use opctl_source::{grants, markers};

use crate::compiled;

/// In the order of the reference.
pub fn all() -> Vec<&'static Code> {
    let mut codes = [
        opctl_model::diagnostics::CODES,
        opctl_source::diagnostics::CODES,
        markers::diagnostics::CODES,
        grants::diagnostics::CODES,
        apiserver::diagnostics::CODES,
        compat::diagnostics::CODES,
        opctl_kustomize::diagnostics::CODES,
        ansible::diagnostics::CODES,
        opctl_olm::diagnostics::CODES,
        bundle::diagnostics::CODES,
        compiled::diagnostics::CODES,
        CODES,
    ]
    .concat();
    codes.sort_by_key(|code| (code.chapter, code.name));
    codes
}

pub fn find(name: &str) -> Option<&'static Code> {
    all().into_iter().find(|code| code.name == name)
}

opctl_model::diagnostics! {
    /// A name that is new in this release belongs to another CRD in the previous one, or to the same CRD in another role: a short name that is the
    /// CRD's own singular, or two kinds that exchange their short names. `opctl manifests --against REF` reports it. The API server does not accept the
    /// name, and the CRD gets `NamesAccepted=False`. Choose another name, or remove the name in one release and use it again in the next.
    OP335: ApiServer, Mistake;

    /// a CRD is removed from the manifests, because no kind in the source declares it anymore. A kind with another plural or group
    /// is another CRD. `kubectl apply` keeps what is no longer in the manifests, but where they are applied with pruning (Argo CD, Flux,
    /// `kubectl apply --prune`), the cluster deletes the CRD, and with it all objects of the kind. If the CRD should stay, restore the kind.
    /// If it should go, first delete its objects while the operator still runs, so that it can clean up.
    OP350: ApiServer, Warning;

    /// an `+opctl:allow:CODE` comment silences nothing. The problem has been fixed, or the comment is in the wrong place or has
    /// the wrong code. The comment applies to the item or statement below it, including the markers in between, or to its line if it is
    /// at the end of one. Errors from OP001 to OP399 cannot be allowed.
    OP419: Check, Warning;

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

    /// The permissions of a chart do not match the chart. `permissions.rs` of its controller has a checksum of the files in `helm-charts`, and
    /// they have changed since it was generated. `opctl check --fix` renders the chart and generates the file again; it needs helm 4, and
    /// values in the sample for everything that the chart requires. The finding also appears if the chart cannot be read or rendered.
    OP480: Charts, Mistake;

    /// a chart has changed, and helm 4, which renders it, is not installed. So opctl cannot determine which permissions it needs.
    OP481: Charts, Warning;

    /// Something in a project of operator-sdk cannot be imported. `opctl import helm-operator DIR` reads `watches.yaml` strictly: an unknown key,
    /// which operator-sdk ignores, a template in `overrideValues`, a kind without a CRD in `config/crd/bases`, a cluster-scoped kind, or a chart
    /// that helm does not render is an error at its line, and nothing is written. So is a role or playbook that does not exist, for
    /// `opctl import ansible-operator DIR`.
    OP482: Charts, Mistake;

    /// something in a project of operator-sdk has no counterpart in the imported project, or was left out. The message says what to
    /// set instead.
    OP483: Charts, Warning;

    /// The permissions of a kind do not match the tasks of its role or playbook, which have changed since they were derived.
    /// `opctl check --fix` derives them again.
    OP485: Ansible, Mistake;

    /// A marker `+operator-sdk:csv:customresourcedefinitions` describes nothing. It belongs right above the type with
    /// `#[derive(CustomResource)]`, or, with `type=spec` or `type=status`, above a field of that part. Only comments and attributes may be
    /// between the marker and the type or field.
    OP510: BundleGeneration, Mistake;

    /// Objects in the cluster would be refused by the new CRD. With `--against cluster`, opctl checks the objects of each CRD whose change
    /// concerns objects, by the rules of the API server. Change these objects before you deploy, or the CRD.
    OP611: Changes, Mistake;
}
