use opctl_cel::{Budget, Data, Declaration, Expression, Output};
use serde_json::json;

pub fn run() {
    let schema = serde_json::from_value(crate::types::schema()).unwrap();
    let declaration = Declaration::new(&schema, true).unwrap();
    let rule = Expression::compile("self.spec.size < 10", &declaration, false).unwrap();
    let object = Data::new(&json!({"metadata": {"name": "a"}, "spec": {"size": 10}}), &schema, true);
    if rule.evaluate(&object, None, &mut Budget::default()) == Ok(Output::Bool(false)) {
        println!("a rule says no");
    }
}
