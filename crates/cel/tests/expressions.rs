//! Evaluates the expressions of `expressions.txt`. opctl's `tests/cluster/objects.rs` compares the same file with an
//! API server.

use opctl_cel::{Budget, Data, Declaration, Expression, Failure, Output, RULE_COST_LIMIT, Schema};
use serde_json::json;

/// One expression per line. It must be true, or fail after the prefix `error: `.
const EXPRESSIONS: &str = include_str!("expressions.txt");

#[test]
fn expressions_have_their_values() {
    let words = json!({"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10}});
    let spec = json!({"type": "object", "properties": {"words": words}});
    let schema = serde_json::from_value(json!({"type": "object", "properties": {"spec": spec}})).unwrap();
    let object = json!({"kind": "Rows", "metadata": {"name": "a"}, "spec": {"words": ["hello", "mellow"]}});
    let declaration = Declaration::new(&schema, true).unwrap();
    let data = Data::new(&object, &schema, true);
    let (mut known, mut wrong) = (0, Vec::new());
    for line in EXPRESSIONS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let text = line.strip_prefix("error: ").unwrap_or(line);
        let expression =
            Expression::compile(text, &declaration, false).unwrap_or_else(|error| panic!("{text}: {error}"));
        let outcome = expression.evaluate(&data, None, &mut Budget::default());
        let is_right = match &outcome {
            Ok(value) => text == line && *value == Output::Bool(true),
            Err(Failure::Error(_)) => text != line,
            Err(Failure::Unknown(_)) => continue,
        };
        known += 1;
        if !is_right {
            wrong.push(format!("{line}: {outcome:?}"));
        }
    }
    assert!(known > 300, "{known}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn replicas() -> (Schema, std::sync::Arc<Declaration>) {
    let properties = json!({"replicas": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}}});
    let schema: Schema = serde_json::from_value(json!({"type": "object", "properties": properties})).unwrap();
    let declaration = Declaration::new(&schema, false).unwrap();
    (schema, declaration)
}

#[test]
fn old_self_is_optional_if_the_rule_says_so() {
    let (schema, declaration) = replicas();
    let data = |replicas: i64| Data::new(&json!({"replicas": replicas}), &schema, false);
    let mut budget = Budget::default();

    let grows = Expression::compile("self.replicas >= oldSelf.replicas", &declaration, false).unwrap();
    assert!(grows.uses_old_self());
    assert_eq!(grows.evaluate(&data(2), Some(&data(1)), &mut budget), Ok(Output::Bool(true)));
    assert_eq!(grows.evaluate(&data(1), Some(&data(2)), &mut budget), Ok(Output::Bool(false)));

    let text = "oldSelf.hasValue() ? self.replicas >= oldSelf.value().replicas : self.replicas == 1";
    let starts_at_one = Expression::compile(text, &declaration, true).unwrap();
    assert_eq!(starts_at_one.evaluate(&data(1), None, &mut budget), Ok(Output::Bool(true)));
    assert_eq!(starts_at_one.evaluate(&data(2), None, &mut budget), Ok(Output::Bool(false)));
    assert_eq!(starts_at_one.evaluate(&data(2), Some(&data(1)), &mut budget), Ok(Output::Bool(true)));
    assert!(Expression::compile(text, &declaration, false).is_err(), "it is an object, then");
}

#[test]
fn the_cost_counts_every_item_of_a_list_without_limit() {
    let (_, declaration) = replicas();
    let cost = |text: &str| Expression::compile(text, &declaration, false).unwrap().cost();
    assert!(cost("self.replicas < 3") < 10);
    assert!(cost("self.names.all(a, self.names.all(b, a == b))") > RULE_COST_LIMIT);
}

#[test]
fn fields_are_named_as_they_are_written() {
    let (_, declaration) = replicas();
    let expression = Expression::compile("self.names.size() == self.replicas", &declaration, false).unwrap();
    let mut fields = expression.fields();
    fields.sort();
    assert_eq!(fields, ["self.names", "self.replicas"]);
}

#[test]
fn a_spent_budget_is_no_verdict() {
    let (schema, declaration) = replicas();
    let names: Vec<String> = (0..1000).map(|number| format!("name-{number}")).collect();
    let data = Data::new(&json!({"names": names}), &schema, false);
    let text = "self.names.all(a, self.names.all(b, self.names.all(c, a + b != c)))";
    let expression = Expression::compile(text, &declaration, false).unwrap();
    let mut budget = Budget::default();
    while !budget.is_spent() {
        assert!(matches!(expression.evaluate(&data, None, &mut budget), Err(Failure::Unknown(_))));
    }
    assert!(expression.evaluate(&data, None, &mut budget).is_err());
}
