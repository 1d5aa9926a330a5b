//! The names of CRDs that conflict with each other: in a group, a plural, singular or short name belongs to one CRD,
//! and so does a kind or list kind.
//!
//! Source: `calculateNamesAndConditions` of `pkg/controller/status/naming_controller.go`. Names in different groups
//! never conflict.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::Finding;
use crate::apiserver::diagnostics::{OP332, OP333, OP334};
use opctl_model::CrdLocation;
use opctl_model::project::builtin;

/// The role of a name in a CRD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Contains the index in the list.
    ShortName(usize),
    Singular,
    Plural,
    Kind,
    ListKind,
}

impl Role {
    /// Kinds and list kinds do not conflict with the names of resources.
    fn is_kind(self) -> bool {
        matches!(self, Self::Kind | Self::ListKind)
    }

    pub fn location(self) -> CrdLocation {
        match self {
            Self::ShortName(nth) => CrdLocation::Argument("shortname", nth),
            Self::Singular => CrdLocation::Argument("singular", 0),
            Self::Plural => CrdLocation::Argument("plural", 0),
            Self::Kind | Self::ListKind => CrdLocation::Argument("kind", 0),
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::ShortName(_) => "short name",
            Self::Singular => "singular",
            Self::Plural => "plural",
            Self::Kind => "kind",
            Self::ListKind => "list kind",
        }
    }

    /// The impact of changing a name: removing a short name breaks no client, while a new plural creates another CRD.
    fn cost(self) -> u8 {
        match self {
            Self::ShortName(_) => 0,
            Self::Singular => 1,
            Self::Plural => 2,
            Self::Kind => 3,
            Self::ListKind => 4,
        }
    }

    fn way_out(self) -> &'static str {
        match self {
            Self::ShortName(_) => "remove this short name or choose another one",
            Self::Singular => "choose another one with `singular = \"…\"`",
            Self::Plural => "choose another one with `plural = \"…\"`",
            Self::Kind | Self::ListKind => "rename one of the two kinds",
        }
    }
}

/// The names of one CRD, either requested or accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names {
    single: BTreeMap<Role, String>,
    short: Vec<String>,
}

impl Names {
    /// The requested names, including the API server's defaults.
    fn requested(crd: &CustomResourceDefinition) -> Self {
        let names = &crd.spec.names;
        let or = |name: &Option<String>, default: String| name.clone().filter(|it| !it.is_empty()).unwrap_or(default);
        let single = [
            (Role::Plural, names.plural.clone()),
            (Role::Singular, or(&names.singular, names.kind.to_lowercase())),
            (Role::Kind, names.kind.clone()),
            (Role::ListKind, or(&names.list_kind, format!("{}List", names.kind))),
        ];
        Self { single: single.into(), short: names.short_names.clone().unwrap_or_default() }
    }

    fn all(&self) -> impl Iterator<Item = (Role, &str)> {
        let short = self.short.iter().enumerate().map(|(nth, name)| (Role::ShortName(nth), name.as_str()));
        short.chain(self.single.iter().map(|(role, name)| (*role, name.as_str())))
    }
}

/// Reports each name that two CRDs of a group request, at the one that is easier to change; each short name that is the
/// singular or plural of its CRD; and each category that is the name of another kind. Findings are returned with the
/// index of their CRD.
pub fn check_together(crds: &[CustomResourceDefinition]) -> Vec<(usize, Finding)> {
    let names: Vec<Names> = crds.iter().map(Names::requested).collect();
    let mut findings = shared(crds, &names);
    for (index, (crd, own)) in crds.iter().zip(&names).enumerate() {
        for (nth, name) in own.short.iter().enumerate() {
            let role = Role::ShortName(nth);
            if let Some((own, _)) = own.single.iter().find(|(role, single)| !role.is_kind() && *single == name) {
                findings.entry((index, role)).or_insert_with(|| own_name(crd, name, role, *own));
            }
        }
    }
    let findings = findings.into_iter().map(|((index, _), finding)| (index, finding));
    findings.chain(categories(crds, &names)).collect()
}

/// The names that two CRDs of a group request.
fn shared(crds: &[CustomResourceDefinition], names: &[Names]) -> BTreeMap<(usize, Role), Finding> {
    let mut findings = BTreeMap::new();
    let mut owners: BTreeMap<(&str, bool, &str), (usize, Role)> = BTreeMap::new();
    for (index, (crd, names)) in crds.iter().zip(names).enumerate() {
        for (role, name) in names.all() {
            let first = *owners.entry((&crd.spec.group, role.is_kind(), name)).or_insert((index, role));
            if first.0 != index {
                let (at, with) =
                    if first.1.cost() < role.cost() { (first, (index, role)) } else { ((index, role), first) };
                findings.entry(at).or_insert_with(|| taken(crds, name, at, with));
            }
        }
    }
    findings
}

/// The categories that are names of other kinds, in any group. kubectl prefers a category to a kind.
fn categories(crds: &[CustomResourceDefinition], names: &[Names]) -> Vec<(usize, Finding)> {
    let mut findings = Vec::new();
    for (index, crd) in crds.iter().enumerate() {
        for (nth, category) in crd.spec.names.categories.iter().flatten().enumerate() {
            let is_other = |(other, names): &(usize, &Names)| {
                *other != index && names.all().any(|(role, name)| !role.is_kind() && name == category)
            };
            let other = names.iter().enumerate().find(is_other).map(|(other, _)| crds[other].spec.names.kind.as_str());
            if let Some(other) = other.or_else(|| kind_of_kubernetes(category)) {
                let message = format!("the category `{category}` is also a name of the kind `{other}`");
                let help = format!(
                    "kubectl looks for a category first: `kubectl delete {category} --all` deletes the `{}` objects",
                    crd.spec.names.kind
                );
                let finding = Finding::warning(OP334, CrdLocation::Argument("category", nth), message);
                findings.push((index, finding.help("choose another category").help(help)));
            }
        }
    }
    findings
}

/// The built-in kind with this name in kubectl.
fn kind_of_kubernetes(name: &str) -> Option<&'static str> {
    let short = SHORT_NAMES.iter().find(|(short, _)| *short == name).map(|(_, plural)| *plural);
    let is_name = |it: &&builtin::Builtin| it.plural == short.unwrap_or(name) || it.kind.eq_ignore_ascii_case(name);
    builtin::all().find(is_name).map(|builtin| builtin.kind)
}

/// The short names of built-in kinds, and their plurals. `tests/cluster/naming.rs` compares them with an API server.
pub const SHORT_NAMES: &[(&str, &str)] = &[
    ("cj", "cronjobs"),
    ("cm", "configmaps"),
    ("crd", "customresourcedefinitions"),
    ("crds", "customresourcedefinitions"),
    ("cs", "componentstatuses"),
    ("csr", "certificatesigningrequests"),
    ("deploy", "deployments"),
    ("ds", "daemonsets"),
    ("ep", "endpoints"),
    ("ev", "events"),
    ("hpa", "horizontalpodautoscalers"),
    ("ing", "ingresses"),
    ("ip", "ipaddresses"),
    ("limits", "limitranges"),
    ("netpol", "networkpolicies"),
    ("no", "nodes"),
    ("ns", "namespaces"),
    ("pc", "priorityclasses"),
    ("pdb", "poddisruptionbudgets"),
    ("po", "pods"),
    ("pv", "persistentvolumes"),
    ("pvc", "persistentvolumeclaims"),
    ("quota", "resourcequotas"),
    ("rc", "replicationcontrollers"),
    ("rs", "replicasets"),
    ("sa", "serviceaccounts"),
    ("sc", "storageclasses"),
    ("sts", "statefulsets"),
    ("svc", "services"),
    ("vac", "volumeattributesclasses"),
];

fn taken(
    crds: &[CustomResourceDefinition],
    name: &str,
    (at, role): (usize, Role),
    (with, their): (usize, Role),
) -> Finding {
    let kind = |index: usize| &crds[index].spec.names.kind;
    let ours = if role == Role::Kind { String::new() } else { format!(" of `{}`", kind(at)) };
    let theirs = if their == Role::Kind { String::new() } else { format!(" of `{}`", kind(with)) };
    let message = format!(
        "the {} `{name}`{ours} is also the {}{theirs} in `{}`: the API server serves only one of the two kinds",
        role.words(),
        their.words(),
        crds[at].spec.group,
    );
    Finding::error(OP332, role.location(), message).help(role.way_out())
}

fn own_name(crd: &CustomResourceDefinition, name: &str, role: Role, own: Role) -> Finding {
    let kind = &crd.spec.names.kind;
    let message = format!("the short name `{name}` is the {} of `{kind}` itself", own.words());
    Finding::warning(OP333, role.location(), message)
        .help("remove it: kubectl accepts the singular and the plural anyway")
        .help("a cluster that has the CRD without this short name does not accept it: the CRD gets NamesAccepted=False, and `helm --wait` times out")
}

/// The requested and accepted names of a CRD in the API server.
#[derive(Clone, Debug)]
pub struct Claim {
    requested: Names,
    accepted: Names,
}

/// A name that the API server does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameConflict {
    pub role: Role,
    pub name: String,
}

impl Claim {
    /// A CRD that is new to the cluster.
    pub fn new(crd: &CustomResourceDefinition) -> Self {
        Self { requested: Names::requested(crd), accepted: Names::default() }
    }

    /// Applies the CRD with other names.
    pub fn update(&mut self, crd: &CustomResourceDefinition) {
        self.requested = Names::requested(crd);
    }

    /// Accepts names that no CRD of the group has, not even this one in another role. As in the API server, the last
    /// conflict determines the reason.
    fn decide(&mut self, used: &BTreeSet<(bool, String)>) -> Vec<NameConflict> {
        let mut conflicts = Vec::new();
        conflicts.extend(self.decide_single(Role::Plural, used));
        conflicts.extend(self.decide_single(Role::Singular, used));
        let short = self.requested.short.iter().enumerate();
        let is_free = |name: &String| self.accepted.short.contains(name) || !used.contains(&(false, name.clone()));
        let short: Vec<NameConflict> = short
            .filter(|(_, name)| !is_free(name))
            .map(|(nth, name)| NameConflict { role: Role::ShortName(nth), name: name.clone() })
            .collect();
        if short.is_empty() {
            self.accepted.short.clone_from(&self.requested.short);
        }
        conflicts.extend(short);
        conflicts.extend(self.decide_single(Role::Kind, used));
        conflicts.extend(self.decide_single(Role::ListKind, used));
        conflicts
    }

    fn decide_single(&mut self, role: Role, used: &BTreeSet<(bool, String)>) -> Option<NameConflict> {
        let name = &self.requested.single[&role];
        if self.accepted.single.get(&role) != Some(name) && used.contains(&(role.is_kind(), name.clone())) {
            return Some(NameConflict { role, name: name.clone() });
        }
        self.accepted.single.insert(role, name.clone());
        None
    }
}

/// Runs the naming controller for all CRDs of a group, in order, until nothing changes; returns the conflicts of each.
pub fn settle<'a>(claims: impl IntoIterator<Item = &'a mut Claim>) -> Vec<Vec<NameConflict>> {
    let mut claims: Vec<&mut Claim> = claims.into_iter().collect();
    loop {
        let before: Vec<Names> = claims.iter().map(|claim| claim.accepted.clone()).collect();
        let mut conflicts = Vec::new();
        for index in 0..claims.len() {
            let used = claims.iter().flat_map(|claim| claim.accepted.all());
            let used = used.map(|(role, name)| (role.is_kind(), name.to_owned())).collect();
            conflicts.push(claims[index].decide(&used));
        }
        if claims.iter().map(|claim| &claim.accepted).eq(&before) {
            return conflicts;
        }
    }
}

/// The names of the new CRDs that the API server does not accept after the old ones are applied, each with the index of
/// its CRD.
pub fn refused_names(old: &[CustomResourceDefinition], new: &[CustomResourceDefinition]) -> Vec<(usize, NameConflict)> {
    let groups: BTreeSet<&str> = new.iter().map(|crd| crd.spec.group.as_str()).collect();
    let mut refused = Vec::new();
    for group in groups {
        let of_group = |crd: &&CustomResourceDefinition| crd.spec.group == group;
        let mut claims: BTreeMap<&str, Claim> =
            old.iter().filter(of_group).map(|crd| (crd.spec.names.plural.as_str(), Claim::new(crd))).collect();
        settle(claims.values_mut());
        let updated: Vec<(usize, &CustomResourceDefinition)> =
            new.iter().enumerate().filter(|(_, crd)| of_group(crd)).collect();
        for (_, crd) in &updated {
            claims.entry(&crd.spec.names.plural).or_insert_with(|| Claim::new(crd)).update(crd);
        }
        let plurals: Vec<&str> = claims.keys().copied().collect();
        for (plural, conflicts) in plurals.into_iter().zip(settle(claims.values_mut())) {
            let position = updated.iter().find(|(_, crd)| crd.spec.names.plural == plural).map(|(index, _)| *index);
            refused.extend(position.into_iter().flat_map(|index| conflicts.iter().map(move |it| (index, it.clone()))));
        }
    }
    refused
}
