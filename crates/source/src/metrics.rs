//! Reads the metrics that a project registers, with `ctx.metrics.register("name", "help")` or `register_with`, and
//! their types.

use std::collections::BTreeMap;
use std::sync::Arc;

use syn::visit::{self, Visit};
use syn::{
    Expr, ExprMethodCall, ExprStruct, Fields, GenericArgument, ItemFn, ItemImpl, ItemStruct, Lit, Local, Member, Pat,
    PathArguments, ReturnType, Stmt, Type,
};

use crate::diagnostics::OP490;
use crate::resolve::modules::{Modules, span_of};
use opctl_model::diagnostic::{Diagnostic, SourceFile};
use opctl_model::{Metric, MetricForm};

/// The metrics, sorted by name, and a warning for each that cannot be read.
pub fn read(modules: &Modules) -> (Vec<Metric>, Vec<Diagnostic>) {
    let parsed: Vec<(Arc<SourceFile>, syn::File)> = modules
        .files()
        .into_iter()
        .filter(|file| file.text.contains("register"))
        .filter_map(|file| syn::parse_file(&file.text).ok().map(|parsed| (file, parsed)))
        .collect();
    let mut structs = Structs::default();
    parsed.iter().for_each(|(_, parsed)| structs.visit_file(parsed));
    let mut metrics = BTreeMap::new();
    let mut warnings = Vec::new();
    for (file, parsed) in &parsed {
        let mut search =
            Search { modules, file, structs: &structs, this: None, metrics: &mut metrics, warnings: &mut warnings };
        search.visit_file(parsed);
    }
    (metrics.into_values().collect(), warnings)
}

/// Types of fields, by struct and field.
#[derive(Default)]
struct Structs(BTreeMap<(String, String), Type>);

impl<'ast> Visit<'ast> for Structs {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        let Fields::Named(fields) = &item.fields else { return };
        for field in &fields.named {
            if let Some(name) = &field.ident {
                self.0.insert((item.ident.to_string(), name.to_string()), field.ty.clone());
            }
        }
    }
}

struct Search<'a> {
    modules: &'a Modules,
    file: &'a Arc<SourceFile>,
    structs: &'a Structs,
    /// The type that `Self` refers to.
    this: Option<String>,
    metrics: &'a mut BTreeMap<String, Metric>,
    warnings: &'a mut Vec<Diagnostic>,
}

impl Search<'_> {
    /// Visits an expression whose type is known from its context.
    fn expect(&mut self, expr: &Expr, r#type: Option<&Type>) {
        match expr {
            Expr::MethodCall(call) if is_registration(call) => self.add(call, r#type),
            other => self.visit_expr(other),
        }
    }

    fn add(&mut self, call: &ExprMethodCall, expected: Option<&Type>) {
        let span = span_of(self.file, call);
        if self.modules.removes(self.file, span.range.start) {
            return;
        }
        let turbofish = call.turbofish.as_ref().and_then(|it| it.args.first());
        let named = turbofish.and_then(|argument| match argument {
            GenericArgument::Type(Type::Infer(_)) => None,
            GenericArgument::Type(named) => Some(named),
            _ => None,
        });
        let given = call.args.iter().nth(2).and_then(constructed);
        let form = named.or(expected).and_then(form).or(given);
        let mut arguments = call.args.iter().map(literal);
        match (arguments.next().flatten(), form) {
            (Some(name), Some(form)) => {
                let help = arguments.next().flatten().unwrap_or_default();
                self.metrics.insert(name.clone(), Metric { name, help, form });
            }
            (None, _) => self.warn(call, "its name is not a string literal", "write the name as a string literal"),
            (_, None) => self.warn(
                call,
                "its type is not in this expression",
                "name the type, e.g. `let backups: Counter = …` or `register_with(…, Histogram::new(…))`",
            ),
        }
    }

    fn warn(&mut self, call: &ExprMethodCall, why: &str, help: &str) {
        let warning = OP490.warning("a metric is missing from the dashboard".to_owned());
        self.warnings.push(warning.at(span_of(self.file, call), why).help(help));
    }

    fn body(&mut self, block: &syn::Block, output: &ReturnType) {
        for statement in &block.stmts {
            match (statement, output) {
                (Stmt::Expr(last, None), ReturnType::Type(_, output)) => self.expect(last, Some(output)),
                (statement, _) => self.visit_stmt(statement),
            }
        }
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.body(&item.block, &item.sig.output);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.body(&item.block, &item.sig.output);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let outer = std::mem::replace(&mut self.this, last_name(&item.self_ty));
        visit::visit_item_impl(self, item);
        self.this = outer;
    }

    fn visit_local(&mut self, local: &'ast Local) {
        let Some(init) = &local.init else { return };
        let named = match &local.pat {
            Pat::Type(named) => Some(&*named.ty),
            _ => None,
        };
        self.expect(&init.expr, named);
    }

    fn visit_expr_struct(&mut self, item: &'ast ExprStruct) {
        let name = item.path.segments.last().map(|segment| segment.ident.to_string());
        let name = if name.as_deref() == Some("Self") { self.this.clone() } else { name };
        for field in &item.fields {
            let Member::Named(member) = &field.member else { continue };
            let structs = self.structs;
            let named = name.clone().and_then(|name| structs.0.get(&(name, member.to_string())));
            self.expect(&field.expr, named);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        match is_registration(call) {
            true => self.add(call, None),
            false => visit::visit_expr_method_call(self, call),
        }
    }
}

/// `true` for `….metrics.register(name, help)` and `metrics.register_with(name, help, metric)`.
fn is_registration(call: &ExprMethodCall) -> bool {
    let receiver = match &*call.receiver {
        Expr::Field(field) => matches!(&field.member, Member::Named(name) if name == "metrics"),
        Expr::Path(path) => path.path.is_ident("metrics"),
        _ => false,
    };
    receiver
        && match call.method.to_string().as_str() {
            "register" => call.args.len() == 2,
            "register_with" => call.args.len() == 3,
            _ => false,
        }
}

/// The form of a metric from its constructor: `Histogram::new(…)`,
/// `Family::<Labels, Histogram>::new_with_constructor(…)`.
fn constructed(metric: &Expr) -> Option<MetricForm> {
    let Expr::Call(call) = metric else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    let mut r#type = path.path.clone();
    r#type.segments.pop()?;
    // Removes the trailing `::`, which the parser would refuse.
    r#type.segments.pop_punct();
    form(&Type::Path(syn::TypePath { qself: None, path: r#type, attrs: Vec::new() }))
}

fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The form of a metric from its type: `Counter`, `Family<Labels, Counter>`.
fn form(r#type: &Type) -> Option<MetricForm> {
    let Type::Path(path) = r#type else { return None };
    let segment = path.path.segments.last()?;
    match segment.ident.to_string().as_str() {
        "Counter" => Some(MetricForm::Counter),
        "Gauge" => Some(MetricForm::Gauge),
        "Histogram" => Some(MetricForm::Histogram),
        "Family" => match &segment.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.iter().nth(1)? {
                GenericArgument::Type(inner) => form(inner),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn last_name(r#type: &Type) -> Option<String> {
    match r#type {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}
