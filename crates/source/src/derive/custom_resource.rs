//! `#[derive(CustomResource)]` with `#[kube(…)]` → [`Api`].
//!
//! Follows kube-derive: the root type that its macro generates is built here as syntax and derived like any other
//! type.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quote::{format_ident, quote};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use syn::punctuated::Punctuated;
use syn::{Attribute, DeriveInput, Expr, ExprLit, Lit, LitStr, Meta, MetaList, Path, Token};

use super::types::Deriver;
use crate::attributes::{flag, value};
use crate::diagnostics::{OP005, OP013, OP018, OP019, OP021, OP028};
use crate::evaluate::context::{Derived, Reported, Scope, all};
use crate::resolve::modules::{ModuleId, TypeDecl, name};
use crate::resolve::resources::Resource;
use crate::resolve::roots::{self, root_type};
use opctl_model::diagnostic::Span;
use opctl_model::names::{default_plural, nearest};
use opctl_model::reads::Reads;
use opctl_model::versions::{Kube as Release, range};
use opctl_model::{Api, Declared, Scope as ApiScope, Underivable};

/// The arguments of `#[kube(…)]`, merged from all such attributes of the type.
#[derive(Default)]
struct Kube {
    release: Release,
    text: BTreeMap<&'static str, LitStr>,
    flags: BTreeMap<&'static str, bool>,
    lists: BTreeMap<&'static str, Vec<LitStr>>,
    pairs: BTreeMap<&'static str, BTreeMap<String, String>>,
    status: Option<Path>,
    columns: Vec<Value>,
    scale: Option<(Value, Span)>,
    validations: Vec<Expr>,
    attributes: Vec<Meta>,
    deprecated: Option<Option<String>>,
    /// Arguments so far, except those that may be repeated.
    seen: BTreeSet<String>,
}

const TEXT: &[&str] = &["group", "version", "kind", "root", "singular", "plural", "doc", "schema"];
const FLAGS: &[&str] = &["namespaced", "no_spec", "storage", "served", "cel"];
const LISTS: &[&str] = &["shortname", "category", "selectable", "derive"];
const OTHERS: &[&str] =
    &["annotation", "attr", "crates", "deprecated", "label", "printcolumn", "scale", "status", "validation"];
const CRATES: &[&str] = &["kube", "kube_core", "k8s_openapi", "schemars", "serde", "serde_json", "std"];

/// Arguments that may be repeated.
fn is_list(argument: &str) -> bool {
    LISTS.contains(&argument) || ["annotation", "attr", "label", "printcolumn", "validation"].contains(&argument)
}

/// `true` if the value of an argument is a comma-separated list of objects.
fn several<T: Object>(meta: &Meta) -> bool {
    let Ok(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) = value(meta.clone()) else { return false };
    serde_json::from_str::<Vec<T>>(&format!("[{}]", text.value())).is_ok()
}

/// The object in `printcolumn` or `scale`, as kube parses it from JSON.
trait Object: DeserializeOwned + Serialize {
    /// Keys of its values in a list.
    const KEYS: &'static [&'static str];
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Column {
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    json_path: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
    type_: String,
}

impl Object for Column {
    const KEYS: &'static [&'static str] = &["name", "type_", "json_path", "description", "format", "priority"];
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Scale {
    #[serde(skip_serializing_if = "Option::is_none")]
    label_selector_path: Option<String>,
    spec_replicas_path: String,
    status_replicas_path: String,
}

impl Object for Scale {
    const KEYS: &'static [&'static str] = &["spec_replicas_path", "status_replicas_path", "label_selector_path"];
}

impl Deriver<'_, '_> {
    /// All custom resources that a module declares.
    pub fn custom_resources(&mut self, module: ModuleId) -> Vec<Api> {
        let mut apis = Vec::new();
        for module in self.cx.modules.in_file(module) {
            for declared in self.cx.modules.module(module).types.values() {
                let TypeDecl::Data(input) = declared else { continue };
                let scope = Scope::of(module);
                self.state.declared.extend(self.declared(input, &scope));
                self.begin_kind();
                let derived = if self.cx.derives(&input.attrs, "CustomResource", module) {
                    self.custom_resource(input, &scope)
                } else if root_type(input).is_some() {
                    self.refuse_without_derive(input, &scope)
                } else {
                    continue;
                };
                let span = self.cx.span(&scope, &input.ident);
                match derived {
                    Ok(Some(api)) => apis.push(api),
                    Ok(None) => self.state.foreign.push(span),
                    Err(Reported) => {
                        let reasons = std::mem::take(&mut self.cx.reasons);
                        let names = roots::resource(input);
                        let kind = names.map(|names| (names.group, names.kind));
                        self.state.underivable.push(Underivable { kind, span: Some(span), reasons });
                    }
                }
            }
        }
        apis
    }

    fn declared(&self, input: &DeriveInput, scope: &Scope) -> Option<Declared> {
        let Resource { group, version, kind, plural, scope: reach } = roots::resource(input)?;
        let (library, package) = self.cx.modules.crate_of(scope.module);
        let path = [self.cx.modules.path_of(scope.module), vec![name(&roots::root_name(input)?)]].concat().join("::");
        Some(Declared {
            group,
            version,
            kind,
            plural,
            scope: reach?,
            has_status: roots::has_status(input),
            is_external: false,
            path,
            library,
            folder: package.folder.clone(),
            span: self.cx.span(scope, &input.ident),
        })
    }

    fn refuse_without_derive<T>(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<T> {
        let span = self.cx.span(scope, &input.ident);
        let message = format!("`{}` has `#[kube(…)]`, and does not derive kube's `CustomResource`", input.ident);
        let help =
            "derive `kube::CustomResource`, or print the CRDs from the compiled types, if a macro makes the kind";
        self.cx.refuse(OP021.error(message).at(span, "").help(help))
    }

    /// `None` for the kind of another project, whose CRD is not generated.
    fn custom_resource(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<Option<Api>> {
        let kube = self.kube(&input.attrs, scope)?;
        let span = self.cx.span(scope, &input.ident);
        // Without a schema there is no CRD: the type only serves requests.
        let is_disabled = kube.text.get("schema").is_some_and(|mode| mode.value() == "disabled");
        if is_disabled && span.file.path.split('/').any(|folder| folder == "external") {
            return Ok(None);
        }
        let missing: Vec<&str> =
            ["group", "version", "kind"].into_iter().filter(|key| !kube.text.contains_key(key)).collect();
        if !missing.is_empty() {
            let message = format!("`#[kube(…)]` does not set {}", missing.join(", "));
            let help = "write `#[kube(group = \"…\", version = \"…\", kind = \"…\")]`";
            return self.cx.refuse(OP005.error(message).at(span, "").help(help));
        }
        let text = |key: &str| kube.text.get(key).map(LitStr::value);
        let required = |key: &str| text(key).expect("checked above");
        let flag = |key: &str, default: bool| kube.flags.get(key).copied().unwrap_or(default);
        let list =
            |key: &str| kube.lists.get(key).map(|list| list.iter().map(LitStr::value).collect()).unwrap_or_default();
        let pairs = |key: &str| kube.pairs.get(key).cloned().unwrap_or_default();

        let kind = required("kind");
        let root = text("root").unwrap_or_else(|| kind.clone());
        if name(&input.ident) == root {
            let message = format!("kube generates the type `{root}`, so this type cannot have that name");
            return self.cx.refuse(OP005.error(message).at(span, "").help(format!("rename it to `{root}Spec`")));
        }
        if !syn::parse_str::<syn::Ident>(&root).is_ok_and(|ident| name(&ident) == root) {
            let message = format!("kube generates the type `{root}`, which is not a name that a Rust type can have");
            let help = "use UpperCamelCase, such as `kind = \"MyWidget\"`";
            return self.cx.refuse(OP005.error(message).at(span, "").help(help));
        }
        let singular = text("singular").unwrap_or_else(|| kind.to_ascii_lowercase());
        let plural = match text("plural") {
            Some(plural) => plural,
            None if singular == "y" => {
                let message = "kube-derive panics when it makes the plural of `y`";
                return self.cx.refuse(OP005.error(message).at(span, "").help("add `plural = \"ys\"`"));
            }
            None => default_plural(&singular),
        };
        if let (Some((_, span)), None) = (&kube.scale, &kube.status) {
            self.cx.diagnostics.push(
                OP028
                    .warning("`scale` has no effect: kube drops it where there is no `status`")
                    .at(span.clone(), "")
                    .help("add `status = \"…Status\"` with the replicas in it"),
            );
        }
        self.check_flags(input, &kube, scope)?;
        let schema = self.schema(input, &kube, &root, scope)?;
        Ok(Some(Api {
            kube: kube.release,
            group: required("group"),
            version: required("version"),
            kind,
            plural,
            singular,
            short_names: list("shortname"),
            categories: list("category"),
            scope: if flag("namespaced", false) { ApiScope::Namespaced } else { ApiScope::Cluster },
            served: flag("served", true),
            storage: flag("storage", true),
            deprecated: kube.deprecated.clone(),
            status_subresource: kube.status.is_some(),
            scale: kube.scale.as_ref().map(|(scale, _)| scale.clone()),
            columns: kube.columns.clone(),
            selectable_fields: list("selectable"),
            annotations: pairs("annotation"),
            labels: pairs("label"),
            schema: schema.map(schemars::Schema::to_value),
            enums: Arc::default(),
            reads: Reads::Unknown,
            span,
        }))
    }

    /// Reports combinations that kube's derive refuses.
    fn check_flags(&mut self, input: &DeriveInput, kube: &Kube, scope: &Scope) -> Derived<()> {
        let is_set = |flag: &str| kube.flags.get(flag).copied().unwrap_or(false);
        let error = |message: String, span: Span| OP005.error(message).at(span, "");
        if is_set("cel") && kube.text.get("schema").is_some_and(|mode| mode.value() != "derived") {
            let message = "`cel` requires a schema that kube derives".into();
            let diagnostic = error(message, self.cx.span(scope, &input.ident));
            return self.cx.refuse(diagnostic.help("remove `cel` or `schema`"));
        }
        if !is_set("no_spec") {
            return Ok(());
        }
        let syn::Data::Struct(syn::DataStruct { fields: syn::Fields::Named(fields), .. }) = &input.data else {
            let message = "`no_spec` requires a struct with named fields".into();
            let diagnostic = error(message, self.cx.span(scope, &input.ident));
            return self.cx.refuse(diagnostic.help("name its fields, or remove `no_spec`"));
        };
        let taken = ["apiVersion", "api_version", "kind", "metadata", "status"];
        let names = fields.named.iter().filter_map(|field| field.ident.as_ref());
        match names.into_iter().find(|ident| taken.iter().any(|taken| *ident == taken)) {
            Some(ident) => {
                let message = format!("with `no_spec`, `{ident}` is already a field of the root object");
                let diagnostic = error(message, self.cx.span(scope, ident));
                self.cx.refuse(diagnostic.help("rename the field, or remove `no_spec`"))
            }
            None => Ok(()),
        }
    }

    /// The schema of a root type that kube's derive generates, as the type of a field.
    pub fn generated_schema(&mut self, root: &str, input: &DeriveInput, scope: &Scope) -> Derived<schemars::Schema> {
        let kube = self.kube(&input.attrs, scope)?;
        self.cx.check_attribute_macros(input, scope)?;
        let mode = kube.text.get("schema").map_or_else(|| "derived".into(), LitStr::value);
        if self.cx.derives(&input.attrs, "CustomResource", scope.module) && mode == "derived" {
            return self.root_schema(input, &kube, root, scope);
        }
        let span = self.cx.span(scope, &input.ident);
        let message = format!("`{root}` has no schema that kube derives");
        self.cx.refuse(OP019.error(message).at(span, "").help("specify it: `#[schemars(with = \"…\")]`"))
    }

    /// The result of the root type's `JsonSchema`; `None` with `schema = "disabled"`.
    fn schema(
        &mut self,
        input: &DeriveInput,
        kube: &Kube,
        root: &str,
        scope: &Scope,
    ) -> Derived<Option<schemars::Schema>> {
        self.cx.check_attribute_macros(input, scope)?;
        let span = self.cx.span(scope, &input.ident);
        let mode = kube.text.get("schema").map_or_else(|| "derived".into(), LitStr::value);
        let (mut schema, name) = match mode.as_str() {
            "disabled" => return Ok(None),
            "derived" => {
                let has_rules = !kube.validations.is_empty() && !kube.release.keeps_names();
                let name = if has_rules { format!("{root}Validated") } else { root.to_owned() };
                (self.root_schema(input, kube, root, scope)?, name)
            }
            "manual" => match self.cx.impls.implementation("JsonSchema", scope.module, root) {
                Some((at, item)) => {
                    let at = Scope::of(at);
                    let name = self.manual_name(&at, &item)?;
                    (self.manual_schema(&at, &item)?.schema, name)
                }
                None => {
                    let message =
                        format!("with `schema = \"manual\"`, `{root}` needs an `impl JsonSchema` that opctl can find");
                    return self.cx.refuse(OP013.error(message).at(span, ""));
                }
            },
            _ => {
                let message = format!("`schema = \"{mode}\"` is not `derived`, `manual` or `disabled`");
                return self.cx.refuse(OP005.error(message).at(span, ""));
            }
        };
        // Like `into_root_schema_for`: the root's name is its title, unless it has one.
        schema.ensure_object().entry("title").or_insert_with(|| name.into());
        Ok(Some(schema))
    }

    /// The schema of the type that kube's macro generates around the spec.
    fn root_schema(
        &mut self,
        input: &DeriveInput,
        kube: &Kube,
        root: &str,
        scope: &Scope,
    ) -> Derived<schemars::Schema> {
        let spec = &input.ident;
        let root = format_ident!("{root}");
        let doc = kube
            .text
            .get("doc")
            .map_or_else(|| format!(" Auto-generated derived type for {spec} via `CustomResource`"), LitStr::value);
        let attributes = &kube.attributes;
        let flatten = kube.flags.get("no_spec").copied().unwrap_or(false).then(|| quote!(#[serde(flatten)]));
        let status = kube.status.iter();
        let generated: DeriveInput = syn::parse_quote! {
            #[doc = #doc]
            #(#[#attributes])*
            #[serde(rename_all = "camelCase")]
            struct #root {
                #[schemars(skip)]
                metadata: (),
                #flatten
                spec: #spec,
                #(#[serde(skip_serializing_if = "Option::is_none")] status: Option<#status>,)*
            }
        };
        let mut schema = if kube.validations.is_empty() && !kube.flags.get("cel").copied().unwrap_or(false) {
            self.container(&generated, scope)?.schema
        } else {
            self.kube_schema(&generated, scope)?.schema
        };
        for validation in &kube.validations {
            let rule = self.rule(validation, scope)?;
            kube_core::validate(&mut schema, rule).expect("a rule is JSON");
        }
        Ok(schema)
    }

    fn kube(&mut self, attributes: &[Attribute], scope: &Scope) -> Derived<Kube> {
        let mut kube = Kube { release: self.kube_release(scope)?, ..Kube::default() };
        // Collects all mistakes, because the derive reports them at once.
        let read =
            self.arguments("kube", attributes, scope)?.into_iter().map(|meta| self.read_kube(&mut kube, meta, scope));
        all(read)?;
        Ok(kube)
    }

    /// The release of kube whose derives are used in this scope.
    pub fn kube_release(&mut self, scope: &Scope) -> Derived<Release> {
        match self.cx.modules.kube(scope.module) {
            Ok(release) => Ok(release),
            Err(version) => {
                let package = self.cx.modules.package_of(&self.cx.modules.module(scope.module).file);
                let package = package.map_or("a dependency".into(), |(package, _)| format!("`{}`", package.name));
                let message =
                    format!("{package} uses kube {version}, and opctl knows the CRDs of kube {}", range("kube"));
                let help = "update kube or opctl, or let the compiled types print the CRDs: `--engine cargo`";
                self.cx.refuse(OP018.error(message).help(help))
            }
        }
    }

    /// Refuses a feature that the user's release of kube does not have, as kube's derive would.
    pub fn not_in_release<T>(&mut self, what: &str, kube: Release, span: Span, help: &str) -> Derived<T> {
        self.cx.refuse(OP005.error(format!("{kube} has no {what}")).at(span, "").help(help))
    }

    /// The arguments of all `#[name(…)]` attributes; `#[name]` has none.
    pub fn arguments(&mut self, name: &str, attributes: &[Attribute], scope: &Scope) -> Derived<Vec<Meta>> {
        let mut arguments = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
            if !matches!(attribute.meta, Meta::Path(_)) {
                let list = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
                arguments.extend(self.cx.parsed(scope, list)?);
            }
        }
        Ok(arguments)
    }

    /// Refuses an argument that kube's derives do not have.
    pub fn unknown_argument<T>(&mut self, meta: &Meta, message: &str, known: &[&str], scope: &Scope) -> Derived<T> {
        let span = self.cx.span(scope, meta.path());
        let help = match nearest(&path_text(meta.path()), known.iter().copied()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("it takes {}", known.join(", ")),
        };
        self.cx.refuse(OP005.error(message).at(span, "").help(help))
    }

    fn read_kube(&mut self, kube: &mut Kube, meta: Meta, scope: &Scope) -> Derived<()> {
        let span = self.cx.span(scope, &meta);
        let key = path_text(meta.path());
        if !is_list(&key) && !kube.seen.insert(key.clone()) {
            return self.cx.refuse(OP005.error(format!("`{key}` is set twice")).at(span, ""));
        }
        if !kube.release.has_argument(&key) {
            return self.not_in_release(&format!("attribute `{key}`"), kube.release, span, "remove it, or update kube");
        }
        let find = |keys: &'static [&'static str]| keys.iter().copied().find(|known| *known == key);
        let string = |deriver: &mut Self, meta: Meta| -> Derived<LitStr> {
            match value(meta) {
                Ok(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => Ok(text),
                _ => deriver
                    .cx
                    .refuse(OP005.error(format!("`{key}` takes a string: `{key} = \"…\"`")).at(span.clone(), "")),
            }
        };
        if let Some(known) = find(TEXT) {
            let mode = meta.require_list().and_then(|list| list.parse_args::<syn::Ident>());
            let text = match mode {
                Ok(mode) if known == "schema" && kube.release.has_lists_of_modes() => {
                    LitStr::new(&mode.to_string(), mode.span())
                }
                _ => string(self, meta)?,
            };
            kube.text.insert(known, text);
        } else if let Some(known) = find(FLAGS) {
            let on = flag(&meta);
            let Some(on) = on else {
                return self.cx.refuse(OP005.error(format!("`{known}` takes `true` or `false`")).at(span, ""));
            };
            kube.flags.insert(known, on);
        } else if let Some(known) = find(LISTS) {
            let text = string(self, meta)?;
            if known == "selectable" && !kube.release.leaves_out_empty() && text.value().contains(['"', '\\']) {
                return self.not_in_release("paths with `\"` or `\\`", kube.release, span, "use another field");
            }
            if known == "derive" {
                let path = text.parse::<Path>();
                self.cx.parsed(scope, path)?;
            }
            kube.lists.entry(known).or_default().push(text);
        } else {
            match key.as_str() {
                "annotation" | "label" => {
                    let pair = meta
                        .require_list()
                        .and_then(|list| list.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated));
                    let pair: Vec<String> = self.cx.parsed(scope, pair)?.iter().map(LitStr::value).collect();
                    let [name, value] = pair.as_slice() else {
                        return self.cx.refuse(OP005.error(format!("write `{key}(\"name\", \"value\")`")).at(span, ""));
                    };
                    let known = if key == "label" { "label" } else { "annotation" };
                    kube.pairs.entry(known).or_default().insert(name.clone(), value.clone());
                }
                "attr" => {
                    let text = string(self, meta)?;
                    let parsed = text.parse::<Meta>();
                    let meta = self.cx.parsed(scope, parsed)?;
                    if ["derive", "serde", "schemars"].iter().any(|refused| meta.path().is_ident(refused)) {
                        let message = format!("`attr` does not accept `{}`", path_text(meta.path()));
                        let help = "kube sets these itself; write `derive = \"…\"` for another derive";
                        return self.cx.refuse(OP005.error(message).at(span, "").help(help));
                    }
                    // The derives of the root type see the attributes that `cfg_attr` expands to.
                    let mut attributes: Vec<syn::Attribute> = vec![syn::parse_quote!(#[#meta])];
                    let package = self.cx.modules.package_of(&self.cx.modules.module(scope.module).file);
                    if !package.is_none_or(|(_, cfg)| cfg.expand(&mut attributes)) {
                        let message = "cannot evaluate the `cfg_attr` in `attr`: a build script decides it";
                        let help = "write the attribute without `cfg_attr`";
                        return self.cx.refuse(OP013.error(message).at(span, "").help(help));
                    }
                    kube.attributes.extend(attributes.into_iter().map(|attribute| attribute.meta));
                }
                "status" => {
                    let path = path(meta);
                    kube.status = Some(self.cx.parsed(scope, path)?);
                }
                "printcolumn" if matches!(meta, Meta::List(_)) && !kube.release.has_lists_of_columns() => {
                    let what = "`printcolumn(…)`, only JSON";
                    return self.not_in_release(
                        what,
                        kube.release,
                        span,
                        "write `printcolumn = r#\"{ … }\"#`, or update kube",
                    );
                }
                "printcolumn" => {
                    // Earlier releases insert the text into a JSON list, so it may have several columns.
                    let is_list = !kube.release.has_lists_of_columns();
                    kube.columns.extend(self.objects::<Column>(meta, is_list, scope)?);
                }
                "scale" => {
                    let scale = self.objects::<Scale>(meta, false, scope)?;
                    kube.scale = scale.into_iter().next().map(|scale| (scale, span));
                }
                "validation" => {
                    let expr = value(meta);
                    kube.validations.push(self.cx.parsed(scope, expr)?);
                }
                "deprecated" => {
                    kube.deprecated = Some(match meta {
                        Meta::Path(_) => None,
                        meta => Some(string(self, meta)?.value()),
                    });
                }
                "crates" => self.check_crates(&meta, CRATES, scope)?,
                _ => {
                    let message = format!("kube has no attribute `{key}`");
                    let known = [TEXT, FLAGS, LISTS, OTHERS].concat();
                    return self.unknown_argument(&meta, &message, &known, scope);
                }
            }
        }
        Ok(())
    }

    /// `name(key = value, …)` or a JSON string → objects in the form of the CRD.
    fn objects<T: Object>(&mut self, meta: Meta, is_list: bool, scope: &Scope) -> Derived<Vec<Value>> {
        let span = self.cx.span(scope, &meta);
        let parsed: serde_json::Result<Vec<T>> = match &meta {
            Meta::List(list) => {
                let object = self.object_of_list(list, T::KEYS, scope)?;
                serde_json::from_value(object.into()).map(|object| vec![object])
            }
            meta => match value(meta.clone()) {
                Ok(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) if is_list => {
                    serde_json::from_str(&format!("[{}]", text.value()))
                }
                Ok(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
                    serde_json::from_str(&text.value()).map(|object| vec![object])
                }
                _ => {
                    let message = "this is neither a list of values nor a JSON object";
                    return self.cx.refuse(OP005.error(message).at(span, ""));
                }
            },
        };
        match parsed {
            Ok(objects) => Ok(objects.iter().map(|object| serde_json::json!(object)).collect()),
            // kube before 3.1 accepted several objects.
            Err(error) if several::<T>(&meta) => {
                let help = "repeat the argument for each of them: `printcolumn = …, printcolumn = …`";
                self.cx.refuse(OP005.error(error.to_string()).at(span, "these are several objects").help(help))
            }
            Err(error) => {
                let help =
                    format!("it takes {}", T::KEYS.iter().map(|key| crd_key(key)).collect::<Vec<_>>().join(", "));
                self.cx.refuse(OP005.error(error.to_string()).at(span, "").help(help))
            }
        }
    }

    fn object_of_list(&mut self, list: &MetaList, keys: &[&str], scope: &Scope) -> Derived<Map<String, Value>> {
        let members = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        let members = self.cx.parsed(scope, members)?.into_iter();
        let read = members.map(|member| {
            let key = path_text(member.path());
            if !keys.contains(&key.as_str()) {
                let message = format!("`{}` has no argument `{key}`", path_text(&list.path));
                return self.unknown_argument(&member, &message, keys, scope);
            }
            let span = self.cx.span(scope, &member);
            let value = match value(member) {
                Ok(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) if key == "priority" => {
                    text.value().parse::<i32>().ok().map(Value::from)
                }
                Ok(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) if key == "priority" => {
                    number.base10_parse::<i32>().ok().map(Value::from)
                }
                Ok(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => Some(text.value().into()),
                _ => None,
            };
            match value {
                Some(value) => Ok((key, value, span)),
                None => {
                    let form = if key == "priority" { "a number, negative ones in quotes" } else { "a string" };
                    self.cx.refuse(OP005.error(format!("`{key}` takes {form}")).at(span, ""))
                }
            }
        });
        let mut object = Map::new();
        for (key, value, span) in all(read)? {
            if object.insert(crd_key(&key), value).is_some() {
                return self.cx.refuse(OP005.error(format!("`{key}` is set twice")).at(span, ""));
            }
        }
        Ok(object)
    }

    /// `crates(kube = "…", …)`
    pub fn check_crates(&mut self, meta: &Meta, known: &[&str], scope: &Scope) -> Derived<()> {
        let crates = meta.require_list();
        let crates = crates.and_then(|list| list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated));
        let mut seen = BTreeSet::new();
        all(self.cx.parsed(scope, crates)?.into_iter().map(|member| {
            let key = path_text(member.path());
            if !known.contains(&key.as_str()) {
                return self.unknown_argument(&member, &format!("`crates` has no argument `{key}`"), known, scope);
            }
            if !seen.insert(key.clone()) {
                let span = self.cx.span(scope, &member);
                return self.cx.refuse(OP005.error(format!("`{key}` is set twice")).at(span, ""));
            }
            let path = path(member);
            self.cx.parsed(scope, path).map(|_| ())
        }))?;
        Ok(())
    }
}

/// The path of `name = path`, which may be quoted.
fn path(meta: Meta) -> syn::Result<Path> {
    match value(meta)? {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse(),
        Expr::Path(path) => Ok(path.path),
        other => Err(syn::Error::new_spanned(other, "expected a path")),
    }
}

pub fn path_text(path: &Path) -> String {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>().join("::")
}

/// The key of an argument in the CRD: `json_path` → `jsonPath`, `type_` → `type`.
fn crd_key(key: &str) -> String {
    use heck::ToLowerCamelCase;
    key.to_lower_camel_case()
}
