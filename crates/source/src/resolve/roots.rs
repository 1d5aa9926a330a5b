//! The types that `#[derive(CustomResource)]` makes next to a spec.

use syn::punctuated::Punctuated;
use syn::{DeriveInput, Expr, ExprLit, Lit, Meta, Path, Token};

use crate::attributes::value;

fn kube_metas(input: &DeriveInput) -> Vec<Meta> {
    let attributes = input.attrs.iter().filter(|attribute| attribute.path().is_ident("kube"));
    attributes
        .filter_map(|attribute| attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok())
        .flatten()
        .collect()
}

/// The name of the type that the derive makes.
pub fn root_name(input: &DeriveInput) -> Option<syn::Ident> {
    let metas = kube_metas(input);
    let said = |key: &str| {
        let meta = metas.iter().find(|meta| meta.path().is_ident(key))?;
        match value(meta.clone()).ok()? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        }
    };
    syn::parse_str(&said("root").or_else(|| said("kind"))?).ok()
}

/// That type, with the attributes that say which kind it is.
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
