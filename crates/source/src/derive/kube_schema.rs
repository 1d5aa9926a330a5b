//! `#[derive(KubeSchema)]`: CEL rules and merge strategies of `#[x_kube(…)]`, as values of kube-core's own types,
//! added to the derived schema by kube-core's own functions. Follows `cel_schema` of kube-derive.

use std::collections::BTreeSet;

use kube_core::{ListMerge, MapMerge, Message, Reason, Rule, StructMerge};
use schemars::Schema;
use syn::punctuated::Punctuated;
use syn::{Attribute, DeriveInput, Expr, ExprLit, Lit, Meta, Token};

use super::custom_resource::path_text;
use super::types::Deriver;
use crate::attributes::{flag, value};
use crate::diagnostics::{OP004, OP005, OP013, OP027};
use crate::evaluate::context::{Derived, Scope, all};
use crate::known::Shape;
use opctl_model::versions::Kube as Release;

/// The arguments of `#[x_kube(…)]` on a struct, and on its fields.
const CONTAINER: &[&str] = &["cel", "crates", "validation"];
const FIELD: &[&str] = &["merge_strategy", "validation"];

fn crates_of_schemas(kube: Release) -> &'static [&'static str] {
    let known: &[&str] = &["kube_core", "schemars", "serde", "std", "serde_json"];
    if kube.has_argument("cel") { known } else { &known[..4] }
}

enum Strategy {
    List(ListMerge),
    Map(MapMerge),
    Struct(StructMerge),
}

/// Sets the merge strategy of the only property of a schema.
fn lay_strategy(schema: &mut Schema, strategy: Strategy) {
    let laid = match strategy {
        Strategy::List(strategy) => kube_core::merge_strategy_property(schema, 0, strategy),
        Strategy::Map(strategy) => kube_core::merge_strategy_property(schema, 0, strategy),
        Strategy::Struct(strategy) => kube_core::merge_strategy_property(schema, 0, strategy),
    };
    laid.expect("a merge strategy is JSON");
}

impl Deriver<'_, '_> {
    /// `#[derive(KubeSchema)]`: the derived schema with validation rules and merge strategies.
    pub fn kube_schema(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<Shape> {
        if !matches!(&input.data, syn::Data::Struct(data) if matches!(data.fields, syn::Fields::Named(_))) {
            let span = self.cx.span(scope, &input.ident);
            return self.cx.refuse(
                OP004
                    .error("`KubeSchema` is for structs with named fields")
                    .at(span, "")
                    .help("derive `schemars::JsonSchema` instead"),
            );
        }
        let kept = |attributes: &mut Vec<Attribute>| {
            attributes.retain(|attribute| {
                ["serde", "schemars", "doc", "validate"].iter().any(|name| attribute.path().is_ident(name))
            });
        };
        self.check_x_kube(input, scope)?;
        let rules = self.rules(&input.attrs, scope)?;
        let mut plain = input.clone();
        kept(&mut plain.attrs);
        let mut laid_over = Vec::new();
        if let syn::Data::Struct(data) = &mut plain.data {
            for field in &mut data.fields {
                let field_rules = self.rules(&field.attrs, scope)?;
                let strategy = self.merge_strategy(&field.attrs, scope)?;
                kept(&mut field.attrs);
                if !field_rules.is_empty() || strategy.is_some() {
                    laid_over.push((field.clone(), field_rules, strategy));
                }
            }
        }
        let mut schema = self.container(&plain, scope)?.schema;
        for rule in rules {
            kube_core::validate(&mut schema, rule).expect("a rule is JSON");
        }
        for (field, rules, strategy) in laid_over {
            let mut alone = plain.clone();
            if let syn::Data::Struct(data) = &mut alone.data
                && let syn::Fields::Named(fields) = &mut data.fields
            {
                fields.named = [field].into_iter().collect();
            }
            let mut one = self.container(&alone, scope)?.schema;
            for rule in rules {
                kube_core::validate_property(&mut one, 0, rule).expect("a rule is JSON");
            }
            if let Some(strategy) = strategy {
                lay_strategy(&mut one, strategy);
            }
            kube_core::merge_properties(&mut schema, &mut one);
        }
        Ok(schema.into())
    }

    /// The rules in the `#[x_kube(validation = …)]` of a container or field, in order.
    fn rules(&mut self, attributes: &[Attribute], scope: &Scope) -> Derived<Vec<Rule>> {
        let metas = self.arguments("x_kube", attributes, scope)?;
        let validations = metas.into_iter().filter(|meta| meta.path().is_ident("validation"));
        all(validations.map(|meta| {
            let expr = value(meta);
            let expr = self.cx.parsed(scope, expr)?;
            self.rule(&expr, scope)
        }))
    }

    fn merge_strategy(&mut self, attributes: &[Attribute], scope: &Scope) -> Derived<Option<Strategy>> {
        let metas = self.arguments("x_kube", attributes, scope)?;
        let Some(meta) = metas.into_iter().find(|meta| meta.path().is_ident("merge_strategy")) else { return Ok(None) };
        let expr = value(meta);
        let mut expr = self.cx.parsed(scope, expr)?;
        // The derive also parses it from a string.
        if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &expr {
            let parsed = text.parse();
            expr = self.cx.parsed(scope, parsed)?;
        }
        let (path, arguments) = match &expr {
            Expr::Path(path) => (path, None),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => (path, Some(&call.args)),
                _ => return self.not_a_rule(&expr, scope),
            },
            _ => return self.not_a_rule(&expr, scope),
        };
        let segments: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let strategy = match (segments.as_slice(), arguments) {
            ([.., "ListMerge", "Atomic"], None) => Strategy::List(ListMerge::Atomic),
            ([.., "ListMerge", "Set"], None) => Strategy::List(ListMerge::Set),
            ([.., "ListMerge", "Map"], Some(arguments)) if arguments.len() == 1 => {
                let Expr::Macro(list) = &arguments[0] else { return self.not_a_rule(&expr, scope) };
                let keys = list.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                let keys = self.cx.parsed(scope, keys)?;
                Strategy::List(ListMerge::Map(all(keys.iter().map(|key| self.rule_text(key, scope)))?))
            }
            ([.., "MapMerge", "Atomic"], None) => Strategy::Map(MapMerge::Atomic),
            ([.., "MapMerge", "Granular"], None) => Strategy::Map(MapMerge::Granular),
            ([.., "StructMerge", _], None) => {
                let span = self.cx.span(scope, &expr);
                self.cx.diagnostics.push(
                    OP027
                        .warning("`StructMerge` has no effect: kube loses it on the way to the CRD")
                        .at(span, "")
                        .help("write `MapMerge::Atomic`, which is for structs, too; granular they are anyway"),
                );
                Strategy::Struct(StructMerge::Granular)
            }
            _ => return self.not_a_rule(&expr, scope),
        };
        Ok(Some(strategy))
    }

    /// Reports the arguments of `#[x_kube(…)]` that the derive refuses.
    fn check_x_kube(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<()> {
        let kube = self.kube_release(scope)?;
        let on_type = self.arguments("x_kube", &input.attrs, scope);
        let mut result = on_type.and_then(|metas| self.check_x_kube_arguments(metas, CONTAINER, kube, scope));
        if let syn::Data::Struct(data) = &input.data {
            for field in &data.fields {
                let on_field = self.arguments("x_kube", &field.attrs, scope);
                result = result.and(on_field.and_then(|metas| self.check_x_kube_arguments(metas, FIELD, kube, scope)));
            }
        }
        result
    }

    fn check_x_kube_arguments(
        &mut self,
        metas: Vec<Meta>,
        known: &[&str],
        kube: Release,
        scope: &Scope,
    ) -> Derived<()> {
        let mut seen = BTreeSet::new();
        all(metas.iter().map(|meta| {
            let span = self.cx.span(scope, meta);
            let name = path_text(meta.path());
            let error = |message: String| OP005.error(message).at(span.clone(), "");
            if !known.contains(&name.as_str()) {
                let elsewhere = [CONTAINER, FIELD].iter().any(|known| known.contains(&name.as_str()));
                let place = if known == FIELD { "a field" } else { "a struct" };
                let message = if elsewhere {
                    format!("`#[x_kube({name} …)]` is not for {place}")
                } else {
                    format!("unknown kube attribute `{name}` in `#[x_kube(…)]`")
                };
                return self.unknown_argument(meta, &message, known, scope);
            }
            if name == "cel" && !kube.has_argument("cel") {
                return self.not_in_release("attribute `cel`", kube, span, "remove it, or update kube");
            }
            if name != "validation" && !seen.insert(name.clone()) {
                return self.cx.refuse(error(format!("`{name}` is set twice")));
            }
            match (name.as_str(), meta) {
                ("crates", _) => self.check_crates(meta, crates_of_schemas(kube), scope),
                ("cel", _) if flag(meta).is_some() => Ok(()),
                ("cel", _) => self.cx.refuse(error("`cel` takes `true` or `false`".into())),
                (_, Meta::NameValue(_)) => Ok(()),
                _ => self.cx.refuse(error(format!("`{name}` takes a value: `{name} = …`"))),
            }
        }))?;
        Ok(())
    }

    /// `"rule"`, `("rule", "message")`, or `Rule::new("…")` with its builder calls.
    pub fn rule(&mut self, expr: &Expr, scope: &Scope) -> Derived<Rule> {
        match expr {
            Expr::Paren(inner) => self.rule(&inner.expr, scope),
            Expr::Tuple(pair) if pair.elems.len() == 2 => Ok(Rule::new(self.evaluator().text(&pair.elems[0], scope)?)
                .message(Message::Message(self.evaluator().text(&pair.elems[1], scope)?))),
            Expr::Call(call) if call.args.len() == 1 => match &*call.func {
                Expr::Path(path)
                    if path
                        .path
                        .segments
                        .iter()
                        .rev()
                        .take(2)
                        .map(|segment| segment.ident.to_string())
                        .eq(["new", "Rule"]) =>
                {
                    Ok(Rule::new(self.rule_text(&call.args[0], scope)?))
                }
                _ => self.not_a_rule(expr, scope),
            },
            Expr::MethodCall(call) if call.args.len() == 1 => {
                let rule = self.rule(&call.receiver, scope)?;
                let argument = &call.args[0];
                match call.method.to_string().as_str() {
                    "message" => {
                        let message = self.rule_message(argument, scope)?;
                        Ok(rule.message(message))
                    }
                    "reason" => {
                        let reason = self.rule_reason(argument, scope)?;
                        Ok(rule.reason(reason))
                    }
                    "field_path" => Ok(rule.field_path(self.rule_text(argument, scope)?)),
                    "optional_old_self" if !self.kube_release(scope)?.has_optional_old_self() => {
                        let (kube, span) = (self.kube_release(scope)?, self.cx.span(scope, &call.method));
                        self.not_in_release(
                            "method `Rule::optional_old_self`",
                            kube,
                            span,
                            "remove the call, or update kube",
                        )
                    }
                    "optional_old_self" => match argument {
                        Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(value), .. }) => {
                            Ok(rule.optional_old_self(value.value))
                        }
                        _ => self.not_a_rule(argument, scope),
                    },
                    _ => self.not_a_rule(expr, scope),
                }
            }
            _ => Ok(Rule::new(self.evaluator().text(expr, scope)?)),
        }
    }

    fn rule_message(&mut self, expr: &Expr, scope: &Scope) -> Derived<Message> {
        if let Expr::Call(call) = expr
            && call.args.len() == 1
            && let Expr::Path(path) = &*call.func
        {
            let text = self.rule_text(&call.args[0], scope)?;
            return match path.path.segments.last().map(|segment| segment.ident.to_string()).as_deref() {
                Some("Message") => Ok(Message::Message(text)),
                Some("Expression") => Ok(Message::Expression(text)),
                _ => self.not_a_rule(expr, scope),
            };
        }
        Ok(Message::Message(self.rule_text(expr, scope)?))
    }

    fn rule_reason(&mut self, expr: &Expr, scope: &Scope) -> Derived<Reason> {
        let last = match expr {
            Expr::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        match last.as_deref() {
            Some("FieldValueInvalid") => Ok(Reason::FieldValueInvalid),
            Some("FieldValueForbidden") => Ok(Reason::FieldValueForbidden),
            Some("FieldValueRequired") => Ok(Reason::FieldValueRequired),
            Some("FieldValueDuplicate") => Ok(Reason::FieldValueDuplicate),
            _ => self.not_a_rule(expr, scope),
        }
    }

    /// A string, also through `String::from`.
    fn rule_text(&mut self, expr: &Expr, scope: &Scope) -> Derived<String> {
        match expr {
            Expr::Call(call) if call.args.len() == 1 => self.evaluator().text(&call.args[0], scope),
            _ => self.evaluator().text(expr, scope),
        }
    }

    fn not_a_rule<T>(&mut self, expr: &Expr, scope: &Scope) -> Derived<T> {
        let span = self.cx.span(scope, expr);
        self.cx.refuse(
            OP013.error("this rule or merge strategy is made by code that only a compiler can run")
                .at(span, "")
                .help("write it as `\"rule\"`, `(\"rule\", \"message\")`, `Rule::new(\"…\").message(\"…\")`, `ListMerge::Map(vec![…])`, …"),
        )
    }
}
