//! Helper attributes that derives register, such as `#[serde]`. rustc refuses any other attribute on a field.

use syn::{Attribute, Data, DeriveInput};

use super::macros::{attribute_macros, is_inert};
use super::problems::Problems;
use opctl_model::names::nearest;

/// The derives of a type.
#[derive(Default)]
pub struct Derives {
    pub known: Vec<&'static str>,
    /// There are other derives, which may register any attribute.
    pub has_others: bool,
}

impl Derives {
    pub fn has(&self, name: &str) -> bool {
        self.known.contains(&name)
    }
}

/// Attributes with the derives that register them; the first derive is suggested.
const HELPERS: &[(&str, &[&str])] = &[
    (
        "serde",
        &["serde::Deserialize", "Serialize", "Deserialize_repr", "Serialize_repr", "JsonSchema", "JsonSchema_repr"],
    ),
    ("schemars", &["schemars::JsonSchema", "JsonSchema_repr", "KubeSchema", "CELSchema"]),
    ("validate", &["schemars::JsonSchema", "KubeSchema", "CELSchema"]),
    ("garde", &["schemars::JsonSchema"]),
    ("kube", &["kube::CustomResource"]),
    ("x_kube", &["kube::KubeSchema", "CELSchema"]),
    ("resource", &["kube::Resource"]),
    ("default", &["Default"]),
];

impl Derives {
    fn register(&self, derives: &[&str]) -> bool {
        derives.iter().any(|derive| self.has(derive.rsplit("::").next().unwrap_or(derive)))
    }
}

/// Reports attributes that neither rustc nor a derive of the type knows, and those without effect at their place.
/// `is_macro` returns `true` if a macro has the name of the attribute.
pub fn check_names(input: &DeriveInput, derives: &Derives, is_macro: impl Fn(&Attribute) -> bool, problems: &Problems) {
    // An attribute macro may read any attribute of the type.
    let is_known_whole = !derives.has_others && attribute_macros(&input.attrs).is_empty();
    for attribute in &input.attrs {
        if !is_macro(attribute) {
            check_name(attribute, derives, is_known_whole, true, problems);
        }
    }
    let (variants, fields): (Vec<_>, Vec<_>) = match &input.data {
        Data::Struct(data) => (Vec::new(), data.fields.iter().collect()),
        Data::Enum(data) => {
            (data.variants.iter().collect(), data.variants.iter().flat_map(|variant| &variant.fields).collect())
        }
        Data::Union(_) => return,
    };
    let variants = variants.into_iter().flat_map(|variant| &variant.attrs);
    for attribute in variants.chain(fields.into_iter().flat_map(|field| &field.attrs)) {
        check_name(attribute, derives, is_known_whole, false, problems);
        if attribute.path().is_ident("kube") && derives.has("CustomResource") {
            let help = "write it above the struct; rules of a field are `#[x_kube(validation = …)]`";
            problems.warn(
                attribute,
                "kube reads `#[kube(…)]` only at the struct, so it has no effect here",
                Some(help.into()),
            );
        }
    }
}

fn check_name(attribute: &Attribute, derives: &Derives, is_known_whole: bool, may_be_macro: bool, problems: &Problems) {
    let Some(name) = attribute.path().get_ident().map(ToString::to_string) else { return };
    if let Some((_, owners)) = HELPERS.iter().find(|(helper, _)| *helper == name) {
        if is_known_whole && !derives.register(owners) {
            let message = format!("`#[{name}]` belongs to `{}`, which this type does not derive", owners[0]);
            let help = format!("add `{}` to its `#[derive(…)]`, or remove the attribute", owners[0]);
            problems.unknown_name(attribute.path(), message, Some(help));
        }
        return;
    }
    if is_inert(attribute) {
        return;
    }
    let registered = HELPERS.iter().filter(|(_, owners)| derives.register(owners)).map(|(helper, _)| *helper);
    // A single edit in a long name is a typo, even if another derive or macro may have attributes of its own.
    let is_near = |helper: &&str| name.len() > 4 && strsim::osa_distance(&name, helper) == 1;
    let close = registered.clone().find(is_near);
    if close.is_none() && (may_be_macro || !is_known_whole) {
        return;
    }
    let near = close.or_else(|| nearest(&name, registered.chain(["deprecated", "doc"])));
    let help = near.map(|near| format!("did you mean `{near}`?"));
    let help = help.unwrap_or_else(|| "derive the trait that it is an attribute of, or remove it".into());
    problems.unknown_name(attribute.path(), format!("unknown attribute `{name}`"), Some(help));
}
