//! The CEL rules of a schema (`x-kubernetes-validations`) that the API server would reject: they do not compile, or
//! their estimated cost exceeds its limits.
//!
//! The crate `opctl-cel` compiles each rule. Rules that it cannot decide are not reported, to avoid false alarms.
//! [`rules`] evaluates rules on an object.

mod rules;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool, ValidationRule,
};
use opctl_cel::{
    CompileError, Declaration, Expression, RULE_COST_LIMIT, Schema, TOTAL_COST_LIMIT, check_syntax, escape,
};

use super::Finding;
use crate::apiserver::diagnostics::{OP340, OP341, OP343, OP344, OP345, OP346, OP347, OP348, OP349};
use opctl_model::diagnostic::Code;
use opctl_model::{CrdLocation, Step};
pub use rules::{Broken, Verdict, evaluate_all, evaluate_default};

pub fn check(root: &JSONSchemaProps, findings: &mut Vec<Finding>) {
    let mut walk = Walk { findings, costs: Vec::new() };
    let inside = Inside { declared: None, cardinality: Some(1), unpaired: false };
    walk.visit(root, &mut Vec::new(), true, inside);
    let Walk { findings, mut costs } = walk;
    let total = costs.iter().fold(0, |sum: u64, (cost, _)| sum.saturating_add(*cost));
    if total > TOTAL_COST_LIMIT && costs.iter().all(|(cost, _)| *cost <= RULE_COST_LIMIT) {
        costs.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
        let (_, location) = costs.swap_remove(0);
        let message =
            format!("all CEL rules together cost {} times what the API server allows", times(total, TOTAL_COST_LIMIT));
        findings.push(Finding::error(OP348, location, message).help(BOUND));
    }
}

const BOUND: &str = "make the rule simpler, or the limits of what it looks at smaller: `maxItems`, `maxProperties` and \
                     `maxLength`; what has none counts as large as a request can be";

struct Walk<'a> {
    findings: &'a mut Vec<Finding>,
    costs: Vec<(u64, CrdLocation)>,
}

/// Facts about a schema that depend on the schemas around it.
#[derive(Clone)]
struct Inside {
    /// Set at the first rule. `None` before, and if CEL cannot see values of the schema.
    declared: Option<Arc<Declaration>>,
    /// Maximum number of values of the schema in an object; `None` if it is unlimited.
    cardinality: Option<u64>,
    /// The API server cannot match a new value to its old value.
    unpaired: bool,
}

impl Walk<'_> {
    fn visit(&mut self, schema: &JSONSchemaProps, path: &mut Vec<Step>, resource: bool, mut inside: Inside) {
        let rules = schema.x_kubernetes_validations.as_deref().unwrap_or_default();
        if !rules.is_empty() {
            inside.declared = inside.declared.or_else(|| Declaration::new(&of(schema), resource));
            self.rules(schema, rules, path, &inside);
        }
        let children = |cardinality: Option<i64>| match (inside.cardinality, cardinality) {
            (Some(outer), Some(inner)) => Some(outer.saturating_mul(inner.max(0) as u64)),
            _ => None,
        };
        let embedded = |schema: &JSONSchemaProps| schema.x_kubernetes_embedded_resource == Some(true);
        let declared =
            |find: &dyn Fn(&Declaration) -> Option<Arc<Declaration>>| inside.declared.as_deref().and_then(find);
        if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
            let unpaired = inside.unpaired || schema.x_kubernetes_list_type.as_deref() != Some("map");
            let cardinality = children(schema.max_items);
            let inside = Inside { declared: declared(&Declaration::elements), cardinality, unpaired };
            path.push(Step::Items);
            self.visit(items, path, embedded(items), inside);
            path.pop();
        }
        let is_map = schema.additional_properties.is_some();
        let cardinality = children(if is_map { schema.max_properties } else { Some(1) });
        if let Some(JSONSchemaPropsOrBool::Schema(values)) = &schema.additional_properties {
            let inside = Inside { declared: declared(&Declaration::elements), cardinality, ..inside };
            path.push(Step::Values);
            self.visit(values, path, embedded(values), inside);
            path.pop();
        }
        for (name, property) in schema.properties.iter().flatten() {
            let field = |declared: &Declaration| declared.property(name);
            let inside = Inside { declared: declared(&field), cardinality, unpaired: inside.unpaired };
            path.push(Step::Property(name.clone()));
            self.visit(property, path, embedded(property), inside);
            path.pop();
        }
    }

    fn rules(&mut self, schema: &JSONSchemaProps, rules: &[ValidationRule], path: &[Step], inside: &Inside) {
        let location = CrdLocation::Schema(path.to_vec());
        for rule in rules {
            let before = self.findings.len();
            let mut wrong = |message: &str| self.findings.push(Finding::error(OP346, location.clone(), message));
            stated(schema, rule, &mut wrong);
            if self.findings.len() > before {
                continue;
            }
            let Some(declared) = &inside.declared else {
                let message = "a CEL rule on a value whose type the schema does not specify";
                self.findings.push(Finding::error(OP349, location.clone(), message));
                continue;
            };
            let optional_old = rule.optional_old_self == Some(true);
            let compiled = match compile(&rule.rule, "rule", declared, optional_old, "bool") {
                Ok(compiled) => compiled,
                Err(Failure::Unknown) => continue,
                Err(Failure::Wrong(code, message)) => {
                    self.findings.push(Finding::error(code, location.clone(), message));
                    continue;
                }
            };
            if compiled.uses_old_self() && inside.unpaired {
                let message =
                    "`oldSelf` in a rule on list items, which the API server cannot match with their old values";
                let help = "make the list a map: `#[x_kube(merge_strategy = ListMerge::Map(vec![\"name\".into()]))]`, or \
                            put the rule on a field above the list";
                self.findings.push(Finding::error(OP345, location.clone(), message).help(help));
            } else if !compiled.uses_old_self() && rule.optional_old_self.is_some() {
                let message = "`optionalOldSelf` of a rule that does not use `oldSelf`";
                self.findings.push(Finding::error(OP345, location.clone(), message));
            }
            let cardinality = inside.cardinality.unwrap_or_else(|| declared.max_cardinality());
            let cost = compiled.cost().saturating_mul(cardinality);
            if self.spend(&rule.rule, "rule", cost, &location) {
                let mut help = missing_limits(&compiled, schema);
                if inside.cardinality.is_none() {
                    help.push(format!(
                        "a list or map around the rule has no limit, so the rule counts {cardinality} times"
                    ));
                }
                self.advise(help);
            }

            let Some(message) = rule.message_expression.as_deref().filter(|message| !message.is_empty()) else {
                continue;
            };
            match compile(message, "messageExpression", declared, optional_old, "string") {
                Ok(compiled) => {
                    if self.spend(message, "messageExpression", compiled.cost(), &location) {
                        self.advise(missing_limits(&compiled, schema));
                    }
                }
                Err(Failure::Unknown) => {}
                Err(Failure::Wrong(code, message)) => {
                    self.findings.push(Finding::error(code, location.clone(), message));
                }
            }
        }
    }

    /// Returns `true` if the cost exceeds the limit.
    fn spend(&mut self, text: &str, what: &str, cost: u64, location: &CrdLocation) -> bool {
        self.costs.push((cost, location.clone()));
        if cost > RULE_COST_LIMIT {
            let factor = times(cost, RULE_COST_LIMIT);
            let message =
                format!("this {what} may cost {factor} times what the API server allows: `{}`", one_line(text));
            self.findings.push(Finding::error(OP347, location.clone(), message));
        }
        cost > RULE_COST_LIMIT
    }

    /// Sets the help of the last finding.
    fn advise(&mut self, help: Vec<String>) {
        let finding = self.findings.last_mut().expect("there is one to be advised on");
        finding.help = if help.is_empty() { vec![BOUND.to_owned()] } else { help };
    }
}

/// The values used by the expression that have no maximum size, so they count as large as a request can be.
fn missing_limits(expression: &Expression, schema: &JSONSchemaProps) -> Vec<String> {
    let mut missing = Vec::new();
    for name in expression.fields() {
        let named = name.split('.').skip(1).try_fold(schema, |schema, field| {
            let mut properties = schema.properties.iter().flatten();
            properties.find(|(name, _)| escape(name).as_deref() == Some(field)).map(|(_, property)| property)
        });
        missing.extend(named.into_iter().flat_map(|schema| without_limits(&format!("`{name}`"), schema)));
    }
    missing.sort();
    missing.dedup();
    missing
}

fn without_limits(name: &str, schema: &JSONSchemaProps) -> Vec<String> {
    let lacks =
        |name: &str, limit: &str, attribute: &str| format!("{name} has no `{limit}`: `#[schemars({attribute})]`");
    let mut missing = Vec::new();
    match (schema.type_.as_deref(), &schema.items, &schema.additional_properties) {
        (Some("string"), ..) => {
            let is_time = matches!(schema.format.as_deref(), Some("date" | "date-time" | "duration"));
            if schema.max_length.is_none() && schema.enum_.is_none() && !is_time {
                missing.push(lacks(name, "maxLength", "length(max = …)"));
            }
        }
        (Some("array"), Some(JSONSchemaPropsOrArray::Schema(items)), _) => {
            if schema.max_items.is_none() {
                missing.push(lacks(name, "maxItems", "length(max = …)"));
            }
            if items.type_.as_deref() == Some("string") && !without_limits(name, items).is_empty() {
                missing.push(lacks(&format!("what is in {name}"), "maxLength", "inner(length(max = …))"));
            }
        }
        (Some("object"), _, Some(_)) if schema.max_properties.is_none() => {
            missing.push(lacks(name, "maxProperties", "extend(\"maxProperties\" = …)"));
        }
        _ => {}
    }
    missing
}

enum Failure {
    Unknown,
    Wrong(&'static Code, String),
}

fn compile(
    text: &str,
    what: &str,
    declared: &Arc<Declaration>,
    optional_old: bool,
    wanted: &str,
) -> Result<Expression, Failure> {
    let compiled = Expression::compile(text, declared, optional_old).map_err(|error| {
        let wrong = |code, range, message: String| Failure::Wrong(code, does_not_compile(text, what, range, &message));
        match error {
            CompileError::Syntax { range, message } => wrong(OP340, range, message),
            CompileError::Type { range, message } => wrong(OP341, range, message),
            CompileError::Literal { range, message } => wrong(OP344, range, message),
            CompileError::Unknown => Failure::Unknown,
        }
    })?;
    let result = compiled.result();
    if result != wanted {
        let message = format!("this {what} gives {result} instead of {wanted}: `{}`", one_line(text));
        return Err(Failure::Wrong(OP343, message));
    }
    Ok(compiled)
}

fn does_not_compile(text: &str, what: &str, range: Range<usize>, message: &str) -> String {
    let part = one_line(text.get(range).unwrap_or_default());
    let at = if part.is_empty() { String::new() } else { format!(", at `{part}`") };
    format!("this {what} does not compile{at}: {message}")
}

/// The syntax error of an expression. Names and types are not checked.
pub fn syntax_problem(text: &str) -> Option<String> {
    match check_syntax(text) {
        Err(CompileError::Syntax { range, message }) => Some(does_not_compile(text, "expression", range, &message)),
        _ => None,
    }
}

/// The parts of a schema that CEL uses.
fn of(schema: &JSONSchemaProps) -> Schema {
    let inner = |schema: Option<&JSONSchemaProps>| schema.map(|schema| Box::new(of(schema)));
    let properties = |all: &BTreeMap<String, JSONSchemaProps>| {
        all.iter().map(|(name, property)| (name.clone(), of(property))).collect()
    };
    Schema {
        type_: schema.type_.clone(),
        format: schema.format.clone(),
        nullable: schema.nullable == Some(true),
        default: schema.default.as_ref().map(|JSON(value)| value.clone()),
        enum_: schema.enum_.iter().flatten().map(|JSON(value)| value.clone()).collect(),
        max_length: schema.max_length,
        max_items: schema.max_items,
        max_properties: schema.max_properties,
        items: inner(super::items(schema)),
        additional_properties: inner(super::values(schema)),
        properties: schema.properties.as_ref().map(properties),
        required: schema.required.clone().unwrap_or_default(),
        int_or_string: schema.x_kubernetes_int_or_string == Some(true),
        embedded_resource: schema.x_kubernetes_embedded_resource == Some(true),
        preserve_unknown_fields: schema.x_kubernetes_preserve_unknown_fields == Some(true),
        list_type: schema.x_kubernetes_list_type.clone(),
        list_map_keys: schema.x_kubernetes_list_map_keys.clone().unwrap_or_default(),
    }
}

/// Checks the fields of a rule other than its expressions.
fn stated(schema: &JSONSchemaProps, rule: &ValidationRule, wrong: &mut impl FnMut(&str)) {
    let has_newlines = |text: &str| text.contains(['\n', '\r']);
    let is_blank =
        |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty() && text.trim().is_empty());
    let message = rule.message.as_deref().unwrap_or_default().trim();
    if rule.rule.trim().is_empty() {
        wrong("an empty CEL rule");
    } else if is_blank(&rule.message) {
        wrong("the message of a CEL rule is blank");
    } else if has_newlines(message) {
        wrong("the message of a CEL rule has more than one line");
    } else if has_newlines(rule.rule.trim()) && message.is_empty() {
        wrong("a CEL rule of several lines needs a message");
    }
    if is_blank(&rule.message_expression) {
        wrong("the `messageExpression` of a CEL rule is blank");
    }
    const REASONS: [&str; 4] =
        ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    if let Some(reason) = rule.reason.as_deref().filter(|reason| !REASONS.contains(reason)) {
        wrong(&format!("no reason `{reason}` for a CEL rule; there are {}", REASONS.join(", ")));
    }
    let is_wrong = |path: &&str| path.trim().is_empty() || has_newlines(path) || leads_to(schema, path).is_none();
    if let Some(path) = rule.field_path.as_deref().filter(|path| !path.is_empty()).filter(is_wrong) {
        wrong(&format!("the fieldPath `{}` of a CEL rule leads to no field", one_line(path)));
    }
}

/// The names in `.spec.name` or `.spec['a.b']`, if they are properties or keys of maps.
fn leads_to(mut schema: &JSONSchemaProps, path: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let name;
        if let Some(quoted) = rest.strip_prefix("['") {
            let end = (0..quoted.len()).find(|at| quoted[..*at].ends_with('\'') && !quoted[..*at].ends_with("\\'"));
            let after = end.and_then(|end| quoted.get(end..)?.strip_prefix(']'))?;
            name = quoted[..quoted.len() - after.len() - 2].replace("\\'", "'");
            rest = after;
        } else {
            let plain = rest.strip_prefix('.')?;
            let end =
                plain.find(['.', '[', ']']).filter(|end| *end > 0).or((!plain.is_empty()).then_some(plain.len()))?;
            name = plain[..end].to_owned();
            rest = &plain[end..];
        }
        schema = match &schema.properties {
            Some(properties) => properties.get(&name)?,
            None => super::values(schema)?,
        };
        names.push(name);
    }
    Some(names)
}

fn times(cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    if factor > 100.0 {
        "more than 100".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.2}")
    } else {
        format!("{factor:.1}")
    }
}

pub fn one_line(text: &str) -> String {
    const LONGEST: usize = 100;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn findings(rule: &str) -> Vec<Finding> {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "words": {"type": "array", "items": {"type": "string"}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "count": {"type": "integer"},
            },
            "x-kubernetes-validations": [{"rule": rule}],
        });
        let mut findings = Vec::new();
        check(&serde_json::from_value(schema).unwrap(), &mut findings);
        findings
    }

    #[test]
    fn says_where_a_rule_is_wrong_and_what_is_near() {
        for (rule, code, message) in [
            ("self.count = 3", "OP340", "this rule does not compile, at `=`: `=` is not an operator; equality is `==`"),
            (
                "self.coutn > 3",
                "OP341",
                "this rule does not compile, at `self.coutn`: no field `coutn`; did you mean `count`?",
            ),
            (
                "count > 3",
                "OP341",
                "this rule does not compile, at `count`: no name `count`; the field is `self.count`",
            ),
            ("self.name > 3", "OP341", "this rule does not compile, at `self.name > 3`: no `>` between string and int"),
            (
                "self.name.startWith('a')",
                "OP341",
                "this rule does not compile, at `self.name.startWith('a')`: no function `startWith`; did you mean `startsWith`?",
            ),
            (
                "self.name.contains(3)",
                "OP341",
                "this rule does not compile, at `self.name.contains(3)`: `contains` of string takes (string), not (int)",
            ),
            ("self.count", "OP343", "this rule gives int instead of bool: `self.count`"),
            (
                "self.name.matches('(')",
                "OP344",
                "this rule does not compile, at `'('`: not a regular expression of Go: `(` without `)`",
            ),
        ] {
            let findings = findings(rule);
            assert_eq!(findings.len(), 1, "{rule}: {findings:?}");
            assert_eq!((findings[0].code.name, findings[0].message.as_str()), (code, message));
        }
    }

    #[test]
    fn names_the_limits_that_are_missing() {
        let findings = findings("self.words.all(w, self.labels.exists(k, k == w + self.name))");
        assert_eq!(findings[0].code.name, "OP347");
        let expected = [
            "`self.labels` has no `maxProperties`: `#[schemars(extend(\"maxProperties\" = …))]`",
            "`self.name` has no `maxLength`: `#[schemars(length(max = …))]`",
            "`self.words` has no `maxItems`: `#[schemars(length(max = …))]`",
            "what is in `self.words` has no `maxLength`: `#[schemars(inner(length(max = …)))]`",
        ];
        assert_eq!(findings[0].help, expected);
    }
}
