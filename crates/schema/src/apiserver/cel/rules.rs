//! Evaluates the CEL rules of a schema on an object that is created, and on defaults.
//!
//! Source: `pkg/apiserver/schema/cel/validation.go` of k8s.io/apiextensions-apiserver. A created object has no old one,
//! so rules that use `oldSelf` are skipped, unless it is optional.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSONSchemaProps, ValidationRule};
use opctl_cel::{Budget, Data, Declaration, Expression, Failure, Output, Schema};
use serde_json::Value as Json;

use super::super::object::ObjectStep;
use super::super::{items, property, values};
use super::{leads_to, of, one_line};

/// The reason why a rule does not hold.
#[derive(Debug)]
pub enum Verdict {
    /// The rule is false; contains its message.
    Refused(String),
    /// The evaluation fails; the API server rejects the object, too.
    Failed(String),
    Unknown(String),
}

#[derive(Debug)]
pub struct Broken<'a> {
    pub path: Vec<ObjectStep>,
    pub rule: &'a ValidationRule,
    pub verdict: Verdict,
}

/// Evaluates all rules. `object` has its defaults, and fits the schema.
pub fn evaluate_all<'a>(root: &'a JSONSchemaProps, object: &Json) -> Vec<Broken<'a>> {
    Walk::default().all(root, object, true)
}

/// Evaluates the rules on the default of a schema. The default fits the rest of the schema.
pub fn evaluate_default<'a>(schema: &'a JSONSchemaProps, default: &Json) -> Vec<Broken<'a>> {
    Walk { is_default: true, ..Walk::default() }.all(schema, default, is_resource(schema))
}

fn is_resource(schema: &JSONSchemaProps) -> bool {
    schema.x_kubernetes_embedded_resource == Some(true)
}

#[derive(Default)]
struct Walk<'a> {
    path: Vec<ObjectStep>,
    /// By the schema that contains the rules, since a schema of items is visited for every item.
    compiled: HashMap<*const JSONSchemaProps, Rc<(Schema, Vec<Compiled<'a>>)>>,
    /// Nothing more is reported after it is spent.
    budget: Budget,
    found: Vec<Broken<'a>>,
    /// The API server evaluates rules on a default twice: as a new value, and as an update of an equal old value.
    is_default: bool,
}

struct Compiled<'a> {
    rule: &'a ValidationRule,
    expression: Result<Expression, Failure>,
    message: Option<Expression>,
}

impl<'a> Walk<'a> {
    fn all(mut self, root: &'a JSONSchemaProps, value: &Json, resource: bool) -> Vec<Broken<'a>> {
        self.visit(root, root, value, resource);
        self.found
    }

    /// `rules` contains the rules, `schema` the types. They differ for rules in `allOf`.
    fn visit(&mut self, rules: &'a JSONSchemaProps, schema: &'a JSONSchemaProps, value: &Json, resource: bool) {
        if value.is_null() || self.budget.is_spent() {
            return;
        }
        if rules.x_kubernetes_validations.as_ref().is_some_and(|rules| !rules.is_empty()) {
            self.evaluate(rules, schema, value, resource);
        }
        for inner in rules.all_of.iter().flatten() {
            self.visit(inner, schema, value, resource);
        }
        match value {
            Json::Object(map) => {
                for (name, value) in map {
                    let inner = |schema: &'a JSONSchemaProps| property(schema, name).or_else(|| values(schema));
                    if let (Some(rules), Some(schema)) = (inner(rules), inner(schema)) {
                        self.path.push(ObjectStep::Key(name.clone()));
                        self.visit(rules, schema, value, is_resource(schema));
                        self.path.pop();
                    }
                }
            }
            Json::Array(list) => {
                if let (Some(rules), Some(schema)) = (items(rules), items(schema)) {
                    for (index, value) in list.iter().enumerate() {
                        self.path.push(ObjectStep::Index(index));
                        self.visit(rules, schema, value, is_resource(schema));
                        self.path.pop();
                    }
                }
            }
            _ => {}
        }
    }

    fn evaluate(&mut self, rules: &'a JSONSchemaProps, schema: &'a JSONSchemaProps, value: &Json, resource: bool) {
        let compiled = self.compiled.entry(std::ptr::from_ref(rules)).or_insert_with(|| {
            let stated = rules.x_kubernetes_validations.iter().flatten();
            let typed = of(schema);
            let declared = Declaration::new(&typed, resource);
            let compiled = stated.map(|rule| Compiled::new(rule, declared.as_ref())).collect();
            Rc::new((typed, compiled))
        });
        let compiled = Rc::clone(compiled);
        let (typed, compiled) = &*compiled;
        let self_ = Data::new(value, typed, resource);
        for Compiled { rule, expression, message } in compiled {
            let optional_old = rule.optional_old_self == Some(true);
            let mut holds = |old| match expression {
                Ok(expression) => expression.evaluate(&self_, old, &mut self.budget),
                Err(failure) => Err(failure.clone()),
            };
            let uses_old = expression.as_ref().is_ok_and(Expression::uses_old_self);
            let mut outcome = if uses_old && !optional_old { Ok(Output::Bool(true)) } else { holds(None) };
            if uses_old && self.is_default && matches!(outcome, Ok(Output::Bool(true))) {
                outcome = holds(Some(&self_));
            }
            let mut path = self.path.clone();
            let verdict = match outcome {
                Ok(Output::Bool(true)) => continue,
                Ok(_) => {
                    let to = rule.field_path.as_deref().and_then(|path| leads_to(schema, path));
                    path.extend(to.into_iter().flatten().map(ObjectStep::Key));
                    Verdict::Refused(said(rule, message.as_ref(), &self_, &mut self.budget))
                }
                Err(Failure::Error(problem)) => Verdict::Failed(problem),
                Err(Failure::Unknown(what)) => Verdict::Unknown(what),
            };
            self.found.push(Broken { path, rule, verdict });
            if self.budget.is_spent() {
                return;
            }
        }
    }
}

impl<'a> Compiled<'a> {
    fn new(rule: &'a ValidationRule, declared: Option<&Arc<Declaration>>) -> Self {
        let optional_old = rule.optional_old_self == Some(true);
        let compile = |text: &str| Expression::compile(text, declared?, optional_old).ok();
        let failure = || Failure::Unknown("a rule that does not compile here".to_owned());
        Compiled {
            rule,
            expression: compile(&rule.rule).ok_or_else(failure),
            message: rule.message_expression.as_deref().filter(|text| !text.is_empty()).and_then(compile),
        }
    }
}

fn said(rule: &ValidationRule, message: Option<&Expression>, self_: &Data, budget: &mut Budget) -> String {
    const LONGEST: usize = 5 * 1024;
    if let Some(message) = message
        && let Ok(Output::String(text)) = message.evaluate(self_, None, budget)
    {
        let text = text.trim();
        if !text.is_empty() && text.len() <= LONGEST && !text.contains('\n') {
            return text.to_owned();
        }
    }
    match rule.message.as_deref().filter(|message| !message.is_empty()) {
        Some(message) => message.trim().to_owned(),
        None => format!("failed rule: {}", one_line(&rule.rule)),
    }
}
