//! The types that `#[derive(CustomResource)]` generates next to a spec.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{DeriveInput, Expr, ExprLit, Lit, Meta, Path, Token};

use super::resources::Resource;
use crate::attributes::{flag, value};
use opctl_model::Scope;
use opctl_model::names::default_plural;

/// An argument of `#[kube(…)]`.
struct Argument(Meta);

impl Parse for Argument {
    /// Old releases of kube have `struct` instead of `root`. A keyword is not a path, so it is not a `Meta`.
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Token![struct]) {
            return input.parse().map(Self);
        }
        input.parse::<Token![struct]>()?;
        input.parse::<Token![=]>()?;
        let root: Expr = input.parse()?;
        Ok(Self(syn::parse_quote!(root = #root)))
    }
}

fn kube_metas(input: &DeriveInput) -> Vec<Meta> {
    let attributes = input.attrs.iter().filter(|attribute| attribute.path().is_ident("kube"));
    attributes
        .filter_map(|attribute| attribute.parse_args_with(Punctuated::<Argument, Token![,]>::parse_terminated).ok())
        .flatten()
        .map(|Argument(meta)| meta)
        .collect()
}

/// The string in an argument of `#[kube(…)]`; `None` if it is missing or repeated.
fn text(metas: &[Meta], key: &str) -> Option<String> {
    let mut given = metas.iter().filter(|meta| meta.path().is_ident(key));
    match (value(given.next()?.clone()).ok()?, given.next()) {
        (Expr::Lit(ExprLit { lit: Lit::Str(text), .. }), None) => Some(text.value()),
        _ => None,
    }
}

/// The name of the type that the derive generates.
pub fn root_name(input: &DeriveInput) -> Option<syn::Ident> {
    let metas = kube_metas(input);
    syn::parse_str(&text(&metas, "root").or_else(|| text(&metas, "kind"))?).ok()
}

/// Group, version, kind, plural and scope. Every kube since 0.60 has these arguments, so they are known even if the
/// schema cannot be derived.
pub fn resource(input: &DeriveInput) -> Option<Resource> {
    let metas = kube_metas(input);
    let kind = text(&metas, "kind")?;
    let singular = text(&metas, "singular").unwrap_or_else(|| kind.to_ascii_lowercase());
    let namespaced = metas.iter().find(|meta| meta.path().is_ident("namespaced")).map_or(Some(false), flag)?;
    Some(Resource {
        group: text(&metas, "group")?,
        version: text(&metas, "version")?,
        kind,
        plural: text(&metas, "plural").unwrap_or_else(|| default_plural(&singular)),
        scope: Some(if namespaced { Scope::Namespaced } else { Scope::Cluster }),
    })
}

/// `true` if the kind has a status subresource.
pub fn has_status(input: &DeriveInput) -> bool {
    kube_metas(input).iter().any(|meta| meta.path().is_ident("status"))
}

/// The generated type, with the attributes that determine its kind.
pub fn root_type(input: &DeriveInput) -> Option<DeriveInput> {
    let root = root_name(input)?;
    let metas = kube_metas(input);
    let status =
        metas.iter().filter(|meta| meta.path().is_ident("status")).find_map(|meta| match value(meta.clone()) {
            Ok(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => text.parse::<Path>().ok(),
            Ok(Expr::Path(path)) => Some(path.path),
            _ => None,
        });
    let attributes = input.attrs.iter().filter(|attribute| attribute.path().is_ident("kube"));
    let (spec, status) = (&input.ident, status.iter());
    Some(syn::parse_quote! {
        #(#attributes)*
        pub struct #root {
            pub metadata: _,
            pub spec: #spec,
            #(pub status: Option<#status>,)*
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_releases_of_kube_name_the_type_with_a_keyword() {
        let input: DeriveInput = syn::parse_quote! {
            #[kube(group = "acme.io", version = "v1", kind = "Widget", namespaced)]
            #[kube(struct = "WidgetObject", status = "WidgetStatus")]
            struct WidgetSpec;
        };
        assert_eq!(root_name(&input).unwrap(), "WidgetObject");
        let resource = resource(&input).unwrap();
        assert_eq!(
            (&*resource.kind, &*resource.plural, resource.scope),
            ("Widget", "widgets", Some(Scope::Namespaced))
        );
        assert!(has_status(&input));
    }
}
