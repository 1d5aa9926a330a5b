//! The diagnostics of all crates, and those that only commands report.

use opctl_charts::{ansible, operator_sdk};
use opctl_model::diagnostic::Code;
use opctl_olm::bundle;
use opctl_schema::{apiserver, compat};
use opctl_source::{grants, markers};

use crate::compiled;

const ALL: [&[&Code]; 13] = [
    opctl_model::diagnostics::CODES,
    opctl_source::diagnostics::CODES,
    markers::diagnostics::CODES,
    grants::diagnostics::CODES,
    apiserver::diagnostics::CODES,
    compat::diagnostics::CODES,
    opctl_kustomize::diagnostics::CODES,
    ansible::diagnostics::CODES,
    operator_sdk::diagnostics::CODES,
    opctl_olm::diagnostics::CODES,
    bundle::diagnostics::CODES,
    compiled::diagnostics::CODES,
    CODES,
];

/// In the order of the reference.
pub fn all() -> Vec<&'static Code> {
    let mut codes = ALL.concat();
    codes.sort_by_key(|code| (code.chapter, code.name));
    codes
}

pub fn find(name: &str) -> Option<&'static Code> {
    ALL.into_iter().flatten().copied().find(|code| code.name == name)
}

opctl_model::diagnostics! {
    /// A marker `+operator-sdk:csv:customresourcedefinitions` describes nothing. It belongs right above the type with
    /// `#[derive(CustomResource)]`, or, with `type=spec` or `type=status`, above a field of that part. Only comments and attributes may be
    /// between the marker and the type or field.
    OP116: Markers, Mistake;

    /// a CRD is removed from the manifests, because no kind in the source declares it anymore. A kind with another plural or group
    /// is another CRD. `kubectl apply` keeps what is no longer in the manifests, but where they are applied with pruning (Argo CD, Flux,
    /// `kubectl apply --prune`), the cluster deletes the CRD, and with it all objects of the kind. If the CRD should stay, restore the kind.
    /// If it should go, first delete its objects while the operator still runs, so that it can clean up.
    OP350: ApiServer, Warning;

    /// an `+opctl:allow:CODE` comment silences nothing. The problem has been fixed, or the comment is in the wrong place or has
    /// the wrong code. The comment applies to the item or statement below it, including the markers in between, or to its line if it is
    /// at the end of one. Errors from OP001 to OP399 cannot be allowed.
    OP419: Check, Warning;

    /// The permissions of a chart do not match the chart. `permissions.rs` of its controller has a checksum of the files in `helm-charts`, and
    /// they have changed since it was generated. `opctl check --fix` renders the chart and generates the file again; it needs helm 4, and
    /// values in the sample for everything that the chart requires. The finding also appears if the chart cannot be read or rendered.
    OP480: Charts, Mistake;

    /// a chart has changed, and helm 4, which renders it, is not installed. So opctl cannot determine which permissions it needs.
    OP481: Charts, Warning;

    /// The permissions of a kind do not match the tasks of its role or playbook, which have changed since they were derived.
    /// `opctl check --fix` derives them again.
    OP485: Ansible, Mistake;

    /// Objects in the cluster would be refused by the new CRD. With `--against cluster`, opctl checks the objects of each CRD whose change
    /// concerns objects, by the rules of the API server. Change these objects before you deploy, or the CRD.
    OP611: Changes, Mistake;

    /// A CRD that a repository keeps differs from the one that the source declares: it was not generated again after a change, was edited, or
    /// another tool made it. [`opctl manifests --compare PATH`](cli.md#opctl-manifests) reports each value, and one line for all descriptions.
    /// Comments, the order of fields, and values that are the default make no difference. Generate the CRD again, or change the source.
    OP612: Changes, Mistake;

    /// A repository keeps no CRD of a kind of the source. Whoever installs the operator from these files gets no such kind. Generate the CRD, or
    /// give `--compare` the folder that contains it.
    OP613: Changes, Mistake;

    /// a repository keeps a CRD that no kind of the source declares, in a group of the source. The kind may have been removed, renamed, or be
    /// behind a feature of cargo (`--features`).
    OP614: Changes, Warning;
}
