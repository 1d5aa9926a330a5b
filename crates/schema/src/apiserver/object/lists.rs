//! Reports duplicates in lists of type set or map.
//!
//! Source: `pkg/apiserver/schema/listtype/validation.go`.

use std::collections::HashMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::{Map, Value};

use super::{ObjectFinding, ObjectStep, shown};
use crate::apiserver::diagnostics::OP456;
use crate::apiserver::value::brief;
use crate::apiserver::{items, property, values};

pub fn check(value: &Value, schema: &JSONSchemaProps, path: &mut Vec<ObjectStep>, findings: &mut Vec<ObjectFinding>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                if let Some(schema) = property(schema, name).or_else(|| values(schema)) {
                    path.push(ObjectStep::Key(name.clone()));
                    check(value, schema, path, findings);
                    path.pop();
                }
            }
        }
        Value::Array(list) => {
            match schema.x_kubernetes_list_type.as_deref() {
                Some("set") => unique(&list.iter().map(Value::to_string).collect::<Vec<_>>(), list, path, findings),
                Some("map") => map(list, schema, path, findings),
                _ => {}
            }
            if let Some(items) = items(schema) {
                for (index, value) in list.iter().enumerate() {
                    path.push(ObjectStep::Index(index));
                    check(value, items, path, findings);
                    path.pop();
                }
            }
        }
        _ => {}
    }
}

fn map(list: &[Value], schema: &JSONSchemaProps, path: &mut Vec<ObjectStep>, findings: &mut Vec<ObjectFinding>) {
    if let Some(index) = list.iter().position(|item| !item.is_object() && !item.is_null()) {
        path.push(ObjectStep::Index(index));
        let message =
            format!("{}: {} is not an object, but the list is merged by keys", shown(path), brief(&list[index]));
        findings.push(ObjectFinding::error(OP456, path, message));
        path.pop();
        return;
    }
    let keys = schema.x_kubernetes_list_map_keys.as_deref().unwrap_or_default();
    let key_of = |item: &Value| -> Value {
        let with = |key: &String| Some((key.clone(), item.get(key)?.clone()));
        keys.iter().filter_map(with).collect::<Map<_, _>>().into()
    };
    let of_items: Vec<Value> = list.iter().map(key_of).collect();
    unique(&of_items.iter().map(Value::to_string).collect::<Vec<_>>(), &of_items, path, findings);
}

/// Reports each duplicate value once, at its second occurrence.
fn unique(texts: &[String], values: &[Value], path: &mut Vec<ObjectStep>, findings: &mut Vec<ObjectFinding>) {
    let mut first: HashMap<&str, (usize, usize)> = HashMap::new();
    for (index, text) in texts.iter().enumerate() {
        let (first, times) = first.entry(text).or_insert((index, 0));
        *times += 1;
        if *times == 2 {
            path.push(ObjectStep::Index(index));
            let message = format!("{}: {} duplicates item {first}", shown(path), brief(&values[index]));
            findings.push(ObjectFinding::error(OP456, path, message));
            path.pop();
        }
    }
}
