//! Kinds of one group: the names that opctl reports, and the kinds that an API server does not accept.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl_source::Source;
use opctl_source::emit;

use crate::crds::{read, with_header};

/// Arguments of `#[kube(…)]`, one text for each kind.
pub struct Case {
    pub kinds: &'static [&'static str],
    /// The expected codes, each with its argument.
    pub found: &'static [&'static str],
    /// The kinds that a new cluster does not serve if they are applied in the order of their plurals, with the reason.
    pub refused: &'static [&'static str],
}

pub const CASES: &[Case] = &[
    // Distinct names.
    case(&[r#"kind = "Price", shortname = "pr", category = "shop""#, r#"kind = "Cost", shortname = "co""#], &[], &[]),
    case(&[r#"kind = "Price", shortname = "pricelist""#], &[], &[]),
    case(&[r#"kind = "Price", shortname = "a", shortname = "a""#], &[], &[]),
    case(&[r#"kind = "Sheep", plural = "sheep""#], &[], &[]),
    // Kinds and list kinds do not conflict with the names of resources.
    case(&[r#"kind = "Price", singular = "cost""#, r#"kind = "Other", shortname = "price""#], &[], &[]),
    // Short names.
    case(
        &[r#"kind = "Price", shortname = "p""#, r#"kind = "Product", shortname = "x", shortname = "p""#],
        &["OP332 shortname = \"p\""],
        &["Product ShortNamesConflict"],
    ),
    case(
        &[r#"kind = "A", shortname = "p""#, r#"kind = "B", shortname = "p""#, r#"kind = "C", shortname = "p""#],
        &["OP332 shortname = \"p\"", "OP332 shortname = \"p\""],
        &["B ShortNamesConflict", "C ShortNamesConflict"],
    ),
    case(
        &[r#"kind = "Database", shortname = "db""#, r#"kind = "Db""#],
        &["OP332 shortname = \"db\""],
        &["Db SingularConflict"],
    ),
    case(
        &[r#"kind = "Db""#, r#"kind = "Zone", shortname = "dbs""#],
        &["OP332 shortname = \"dbs\""],
        &["Zone ShortNamesConflict"],
    ),
    case(&[r#"kind = "Price", shortname = "price""#], &["OP333 shortname = \"price\""], &[]),
    case(&[r#"kind = "Price", shortname = "p", shortname = "prices""#], &["OP333 shortname = \"prices\""], &[]),
    // Singulars and plurals.
    case(
        &[r#"kind = "Price", plural = "prices", singular = "cost""#, r#"kind = "Cost""#],
        &["OP332 singular = \"cost\""],
        &["Price SingularConflict"],
    ),
    case(
        &[r#"kind = "Db""#, r#"kind = "DB", plural = "databases""#],
        &["OP332 kind = \"Db\""],
        &["Db SingularConflict"],
    ),
    case(
        &[r#"kind = "Price", plural = "cost""#, r#"kind = "Cost""#],
        &["OP332 kind = \"Cost\""],
        &["Cost SingularConflict"],
    ),
    // Kinds.
    case(&[r#"kind = "Price""#, r#"kind = "PriceList""#], &["OP332 kind = \"PriceList\""], &["Price ListKindConflict"]),
    // Categories, which only kubectl resolves.
    case(&[r#"kind = "Price", category = "costs""#, r#"kind = "Cost""#], &["OP334 category = \"costs\""], &[]),
    case(&[r#"kind = "Price", category = "prices", category = "price""#], &[], &[]),
    case(&[r#"kind = "Price", category = "all""#], &[], &[]),
    case(&[r#"kind = "Price", category = "pods""#], &["OP334 category = \"pods\""], &[]),
    case(&[r#"kind = "Price", category = "svc""#], &["OP334 category = \"svc\""], &[]),
    case(&[r#"kind = "Price", category = "networkpolicy""#], &["OP334 category = \"networkpolicy\""], &[]),
];

const fn case(
    kinds: &'static [&'static str],
    found: &'static [&'static str],
    refused: &'static [&'static str],
) -> Case {
    Case { kinds, found, refused }
}

impl Case {
    /// A crate with the kinds.
    pub fn source(&self, group: &str) -> Source {
        let declare = |(index, arguments): (usize, &&str)| {
            format!(
                "#[derive(CustomResource, KubeSchema)]\n#[kube(group = \"GROUP\", version = \"v1\", {arguments})]\nstruct Of{index} {{}}\n"
            )
        };
        let text: String = self.kinds.iter().enumerate().map(declare).collect();
        read(&with_header(&text, group))
    }

    pub fn crds(source: &Source) -> Vec<CustomResourceDefinition> {
        emit::crds(&source.operator.apis).unwrap_or_else(|problems| panic!("{problems:?}"))
    }
}
