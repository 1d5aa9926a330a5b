//! The attributes of an item that may be macros, and so may replace the item.

use syn::Attribute;

/// Attributes of the language and its tools, and helpers of the derives that opctl knows. They never change the item.
const INERT: &[&str] = &[
    "allow",
    "automatically_derived",
    "cfg",
    "cfg_attr",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "garde",
    "kube",
    "must_use",
    "non_exhaustive",
    "repr",
    "schemars",
    "serde",
    "validate",
    "warn",
    "x_kube",
];

/// Attributes on items other than types that change nothing that opctl reads: attributes of the language, and macros
/// by the names under which they are imported.
const INERT_ON_ITEMS: &[&str] = &[
    "async_recursion",
    "async_trait",
    "bench",
    "cold",
    "export_name",
    "global_allocator",
    "ignore",
    "inline",
    "instrument",
    "link",
    "link_section",
    "macro_export",
    "macro_use",
    "no_mangle",
    "path",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "rstest",
    "should_panic",
    "target_feature",
    "test",
    "track_caller",
    "unsafe",
    "used",
];

/// Crates whose attribute macros only wrap the body of a function.
const WRAPPING: &[&str] =
    &["async_recursion", "async_trait", "rstest", "test_log", "tokio", "tracing", "tracing_attributes"];

/// The attributes that may be macros, which may replace this type: unknown ones before the last derive. The flag is
/// `true` for an attribute after a derive: it is a helper of that derive if no macro has its name.
pub fn attribute_macros(attributes: &[Attribute]) -> Vec<(&Attribute, bool)> {
    let is_derive = |attribute: &Attribute| attribute.path().is_ident("derive");
    let Some(last) = attributes.iter().rposition(is_derive) else {
        return attributes
            .iter()
            .filter(|attribute| !is_inert(attribute))
            .map(|attribute| (attribute, false))
            .collect();
    };
    let first = attributes.iter().position(is_derive).unwrap_or(last);
    let unknown = attributes.iter().enumerate().take(last).filter(|(_, attribute)| !is_inert(attribute));
    unknown.map(|(index, attribute)| (attribute, index > first)).collect()
}

/// A macro that may change an item other than a type. `meant` resolves the path of an attribute through `use`
/// declarations.
pub fn item_macro(attributes: &[Attribute], meant: impl Fn(&Attribute) -> Vec<String>) -> Option<&Attribute> {
    attributes.iter().find(|attribute| {
        let is_known = match meant(attribute).as_slice() {
            [only] => INERT_ON_ITEMS.contains(&only.as_str()),
            [krate, ..] => WRAPPING.contains(&krate.as_str()),
            [] => false,
        };
        !is_inert(attribute) && !is_known
    })
}

pub fn is_inert(attribute: &Attribute) -> bool {
    let first = attribute.path().segments.first().map(|segment| segment.ident.to_string()).unwrap_or_default();
    INERT.contains(&first.as_str()) || matches!(first.as_str(), "rustfmt" | "clippy" | "diagnostic")
}
