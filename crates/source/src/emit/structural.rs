//! A raw schema → the structural schema of a CRD: the transforms of `crd()`, by the code of schemars, kube-core and
//! k8s-openapi itself.
//!
//! kube's rewriter parses and serializes everything below a schema again at each level. So the fields of an inner
//! object are transformed separately if nothing around them can inspect them, and only once if several objects are
//! equal: a Pod template takes a quarter of the time.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSONSchemaProps, JSONSchemaPropsOrArray};
use schemars::generate::SchemaSettings;
use schemars::transform::AddNullable;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::transforms;
use opctl_model::versions::Kube;

/// Runs the transforms of schemars and kube, and parses the result as the API server's type, as kube-derive does. An
/// error is the text of the panic of `crd()`.
pub fn structural(raw: &Value, kube: Kube) -> Result<JSONSchemaProps, String> {
    Schemas::default().structural(raw, kube)
}

/// Schemas of several kinds, which have parts in common, such as the conditions of a status.
#[derive(Default)]
pub struct Schemas(BTreeMap<Kube, Parts>);

impl Schemas {
    /// The same as [`structural`].
    pub fn structural(&mut self, raw: &Value, kube: Kube) -> Result<JSONSchemaProps, String> {
        // The parts are only kept if no panic left them incomplete.
        let mut parts = self.0.remove(&kube).unwrap_or_else(|| Parts::new(kube));
        let schema: Result<JSONSchemaProps, String> = catching_panics(|| {
            let mut root = raw.clone();
            parts.take_from_inside(&mut root)?;
            ROOT.set(root);
            let mut schema = typed(generator(kube).into_root_schema_for::<Root>())?;
            parts.put_back(&mut schema);
            Ok(schema)
        })?;
        let schema = schema?;
        self.0.insert(kube, parts);
        Ok(schema)
    }
}

fn generator(kube: Kube) -> SchemaGenerator {
    let settings = SchemaSettings::openapi3().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    transforms::add(settings.with_transform(AddNullable::default()), kube).into_generator()
}

fn typed(schema: Schema) -> Result<JSONSchemaProps, String> {
    serde_json::from_value(schema.to_value()).map_err(|error| error.to_string())
}

type Properties = BTreeMap<String, JSONSchemaProps>;

/// The fields of inner objects, transformed except for the parts within them.
struct Parts {
    generator: SchemaGenerator,
    done: Vec<Properties>,
    /// Raw `properties` and `required` → number of the part; `None` if they remain in the schema.
    numbers: HashMap<(Map<String, Value>, Value), Option<usize>>,
}

/// Prefix of the placeholder, with a number, that replaces an object's fields.
const PART: &str = "\u{0}part ";

/// Keywords of schemas that the transforms do not look through. Enums, `flatten` and references have others.
const OPAQUE: &[&str] = &[
    "additionalProperties",
    "default",
    "deprecated",
    "description",
    "examples",
    "format",
    "items",
    "maxItems",
    "maxProperties",
    "minItems",
    "minProperties",
    "nullable",
    "properties",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];

impl Parts {
    fn new(kube: Kube) -> Self {
        Self { generator: generator(kube), done: Vec::new(), numbers: HashMap::new() }
    }

    /// Takes the parts out of the objects inside a schema. Returns the schema's keywords if nothing looks through
    /// them.
    fn take_from_inside<'a>(&mut self, schema: &'a mut Value) -> Result<Option<&'a mut Map<String, Value>>, String> {
        let is_opaque = |key: &String| OPAQUE.contains(&key.as_str()) || key.starts_with("x-kubernetes-");
        let Some(keywords) = schema.as_object_mut().filter(|keywords| keywords.keys().all(is_opaque)) else {
            return Ok(None);
        };
        // Nothing is taken out of `additionalProperties`, because schemars' transforms depend on being inside of one.
        if let Some(items) = keywords.get_mut("items") {
            self.take_from(items)?;
        }
        if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
            properties.values_mut().try_for_each(|property| self.take_from(property))?;
        }
        Ok(Some(keywords))
    }

    fn take_from(&mut self, schema: &mut Value) -> Result<(), String> {
        let Some(keywords) = self.take_from_inside(schema)? else { return Ok(()) };
        let required = keywords.get("required").cloned().unwrap_or_else(|| json!([]));
        let Some(Value::Object(properties)) = keywords.get_mut("properties") else { return Ok(()) };
        if properties.is_empty() {
            return Ok(());
        }
        let key = (std::mem::take(properties), required);
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => self.do_part(&key.0, &key.1)?,
        };
        *properties = match number {
            Some(number) => Map::from_iter([(format!("{PART}{number}"), json!({}))]),
            None => key.0.clone(),
        };
        self.numbers.insert(key, number);
        Ok(())
    }

    fn do_part(&mut self, properties: &Map<String, Value>, required: &Value) -> Result<Option<usize>, String> {
        // If the rewriter cannot read something, it leaves that and everything around it unchanged, and does not
        // even sort `required`. The surrounding schema must contain it for the same result.
        let mut names = required.as_array().cloned().unwrap_or_default();
        names.extend(["\u{10ffff}".into(), "".into()]);
        let mut schema = Schema::from(Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(properties.clone())),
            ("required".to_owned(), Value::Array(names)),
        ]));
        for transform in self.generator.transforms_mut() {
            transform.transform(&mut schema);
        }
        if schema.get("required").and_then(|names| names.get(0)) != Some(&json!("")) {
            return Ok(None);
        }
        self.done.push(typed(schema)?.properties.unwrap_or_default());
        Ok(Some(self.done.len() - 1))
    }

    fn put_back(&self, schema: &mut JSONSchemaProps) {
        if let Some(properties) = &mut schema.properties {
            let part = properties.keys().next().and_then(|name| name.strip_prefix(PART)?.parse::<usize>().ok());
            if let Some(number) = part {
                properties.clone_from(&self.done[number]);
            }
            properties.values_mut().for_each(|property| self.put_back(property));
        }
        if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
            self.put_back(items);
        }
    }
}

thread_local! {
    /// The raw schema that [`Root`] returns.
    static ROOT: RefCell<Value> = const { RefCell::new(Value::Null) };
    static PANIC_IS_AN_ANSWER: Cell<bool> = const { Cell::new(false) };
}

/// A root type whose schema was derived from source.
struct Root;

impl JsonSchema for Root {
    fn schema_name() -> Cow<'static, str> {
        "Root".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::try_from(ROOT.take()).unwrap_or_default()
    }
}

/// kube's rewriter reports errors by panicking. The panic is caught and not printed.
fn catching_panics<R>(ask: impl FnOnce() -> R) -> Result<R, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !PANIC_IS_AN_ANSWER.get() {
                before(info);
            }
        }));
    });
    PANIC_IS_AN_ANSWER.set(true);
    let answer = panic::catch_unwind(AssertUnwindSafe(ask));
    PANIC_IS_AN_ANSWER.set(false);
    answer.map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_else(|| "no reason given".into())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use opctl_model::versions::KUBE;

    /// The whole schema in one pass, as kube-derive does.
    fn whole(raw: &Value, kube: Kube) -> Result<JSONSchemaProps, String> {
        catching_panics(|| {
            ROOT.set(raw.clone());
            typed(generator(kube).into_root_schema_for::<Root>())
        })?
    }

    fn names() -> impl Strategy<Value = String> {
        prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(String::from)
    }

    /// Schemas as derives generate them, with everything that the transforms change, and some that they cannot read.
    fn schemas() -> impl Strategy<Value = Value> {
        let scalar = prop::sample::select(vec![
            json!({"type": "string"}),
            json!({"type": ["integer", "null"], "format": "int32", "minimum": 0}),
            json!({"x-kubernetes-int-or-string": true}),
            json!({"type": "string", "enum": ["A", "B"]}),
            json!({"anyOf": [{"type": "string", "enum": ["A"]}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "string", "enum": ["A"]}, {"type": "string", "const": "B", "description": "b"}]}),
            json!({"type": "string", "maxLength": "not a number"}),
            json!({"type": "integer", "exclusiveMaximum": 3}),
            json!(true),
        ]);
        scalar.prop_recursive(5, 40, 4, |inner| {
            let fields = prop::collection::btree_map(names(), inner.clone(), 0..4);
            let object = (fields, prop::collection::vec(names(), 0..3), any::<[bool; 4]>()).prop_map(
                |(fields, required, [nullable, denied, described, defaults])| {
                    let mut object = json!({"type": "object", "properties": fields, "required": required});
                    if nullable {
                        object["type"] = json!(["object", "null"]);
                    }
                    if denied {
                        object["additionalProperties"] = json!(described);
                    }
                    if described {
                        object["description"] = json!("an object");
                    }
                    if defaults {
                        object["default"] = json!({"a": null});
                    }
                    object
                },
            );
            let object = object.boxed();
            let variants = prop::collection::vec(object.clone(), 1..3).boxed();
            prop_oneof![
                4 => object.clone(),
                1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
                1 => inner.clone().prop_map(|values| json!({"type": "object", "additionalProperties": values})),
                1 => variants.clone().prop_map(|variants| json!({"oneOf": variants})),
                1 => variants.prop_map(|variants| json!({"type": "object", "anyOf": variants})),
                1 => (object, inner).prop_map(|(mut object, nested)| {
                    object["unevaluatedProperties"] = json!(false);
                    object["allOf"] = json!([nested]);
                    object
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn parts_make_the_same_as_the_whole(schema in schemas()) {
            let raw = json!({"type": "object", "properties": {"spec": schema}, "required": ["spec"]});
            for kube in KUBE.iter().filter_map(|release| Kube::new(*release)) {
                prop_assert_eq!(structural(&raw, kube).ok(), whole(&raw, kube).ok(), "{}", kube);
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_left_alone_with_all_around_it() {
        let unreadable = json!({"type": "object", "properties": {"x": {"type": "array", "minItems": "one"}}});
        let kept =
            json!({"type": "object", "properties": {"u": {"type": "integer", "minimum": "x"}}, "required": ["b", "a"]});
        for schema in [unreadable, kept] {
            assert_eq!(structural(&schema, Kube::default()), whole(&schema, Kube::default()));
        }
    }
}
