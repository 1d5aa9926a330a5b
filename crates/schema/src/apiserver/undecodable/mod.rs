//! A kind's schema + the values that serde accepts for its type → the values that the API server accepts and the type
//! rejects.
//!
//! Tries values that each type rejects: first on the schema of the value, then in a whole object, processed as in the
//! API server. Every finding has such an accepted value, so nothing is reported on suspicion.

mod report;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps, JSONSchemaPropsOrArray,
    JSONSchemaPropsOrBool, ValidationRule,
};
use serde_json::{Value, json};

pub use report::check_decoding;

use super::object::{ObjectStep, Rejection};
use super::sample::{KEY, Pin, any, sample};
use super::{cel, is_empty, object, shown, stored_at, text, value};
use opctl_model::Step;
use opctl_model::diagnostic::Span;
use opctl_model::reads::{Code, Knowledge, Part, Reads, Tag, Variant, takes};

/// A location whose schema accepts values that the Rust type rejects.
#[derive(Debug)]
pub struct Undecodable<'a> {
    /// The path for messages: `spec.pools[].size`.
    pub path: String,
    /// The path from the root of the schema.
    pub steps: Vec<Step>,
    /// The field or type in the source to which an attribute can be added.
    pub span: Option<&'a Span>,
    /// The steps from this field or type to the value.
    pub tail: Vec<Step>,
    pub problem: Problem<'a>,
    /// No schema describes the value, as below `x-kubernetes-preserve-unknown-fields`.
    pub is_undescribed: bool,
    /// An object that the API server stores and serde rejects. `None` if no values were found for the fields around the
    /// path.
    pub object: Option<Value>,
}

#[derive(Debug)]
pub enum Problem<'a> {
    /// The API server accepts these values, and the type `by` rejects them.
    Refused { by: &'a Reads, values: Vec<Value> },
    /// Like `Refused`, for keys of a map.
    Key { by: &'a Reads, keys: Vec<String> },
    /// The field may be missing, but serde requires it. `by_function` if the reason is a function that reads the field.
    Missing { by_function: bool },
    /// The API server stores a field that `deny_unknown_fields` rejects.
    Unknown,
}

impl Problem<'_> {
    /// `true` if a value or key is rejected. One attribute may fix several of these problems.
    pub fn is_of_value(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Key { .. })
    }
}

/// A value whose schema restricts only its type, and which is read by code that opctl cannot evaluate.
#[derive(Debug)]
pub struct Unchecked<'a> {
    pub path: String,
    pub span: Option<&'a Span>,
    pub code: &'a Code,
}

#[derive(Debug, Default)]
pub struct Comparison<'a> {
    pub found: Vec<Undecodable<'a>>,
    pub unchecked: Vec<Unchecked<'a>>,
}

/// Compares the schema of a version with `reads`, the values that serde accepts for its objects.
pub fn undecodable<'a>(crd: &CustomResourceDefinition, version: &str, reads: &'a Reads) -> Comparison<'a> {
    let version = crd.spec.versions.iter().find(|it| it.name == version);
    let root = version.and_then(|version| version.schema.as_ref()?.open_api_v3_schema.as_ref());
    let (Some(version), Some(root)) = (version, root) else { return Comparison::default() };
    let mut walk = Walk {
        crd,
        version,
        root,
        path: Vec::new(),
        site: None,
        around: Vec::new(),
        pins: Vec::new(),
        comparison: Comparison::default(),
    };
    walk.visit(reads, root, false);
    walk.comparison
}

struct Walk<'a, 's> {
    crd: &'s CustomResourceDefinition,
    version: &'s CustomResourceDefinitionVersion,
    root: &'s JSONSchemaProps,
    path: Vec<Step>,
    /// The nearest field in the source around the path, and the length of the path there.
    site: Option<(&'a Span, usize)>,
    /// The types around the path, each with the length of the path there.
    around: Vec<(&'a Reads, usize)>,
    /// The tags of the variants around the path.
    pins: Vec<Pin>,
    comparison: Comparison<'a>,
}

impl<'a> Walk<'a, '_> {
    /// With `own`, tries values for the type itself, in addition to its parts.
    fn visit(&mut self, reads: &'a Reads, schema: &JSONSchemaProps, own: bool) {
        let (site, found) = (self.site, self.comparison.found.len());
        self.around.push((reads, self.path.len()));
        let mut inner = reads;
        let mut codes = Vec::new();
        loop {
            inner = match inner {
                Reads::At(span, inner) => {
                    self.site = Some((span, self.path.len()));
                    inner
                }
                Reads::Code(code) => {
                    codes.push(&**code);
                    &code.from
                }
                Reads::Optional(inner) => inner,
                inner => break self.parts(inner, schema),
            };
        }
        self.around.pop();
        if own && self.comparison.found.len() == found {
            self.own(reads, schema);
        }
        if self.comparison.found.len() == found && !is_limited(schema) {
            let codes = codes.into_iter().filter(|code| code.knowledge == Knowledge::None);
            let (path, span) = (shown(&self.path), self.site.map(|(span, _)| span));
            self.comparison.unchecked.extend(codes.map(|code| Unchecked { path: path.clone(), span, code }));
        }
        self.site = site;
    }

    fn step(&mut self, step: Step, reads: &'a Reads, schema: &JSONSchemaProps) {
        let Some(schema) = stored_at(schema, &step) else { return };
        self.path.push(step);
        self.visit(reads, schema, true);
        self.path.pop();
    }

    fn parts(&mut self, reads: &'a Reads, schema: &JSONSchemaProps) {
        match reads {
            Reads::List { items: reads, .. } => self.step(Step::Items, reads, schema),
            Reads::Map { keys, values: reads } => {
                self.step(Step::Values, reads, schema);
                // The keys of an enum are properties.
                for name in schema.properties.iter().flat_map(|properties| properties.keys()) {
                    self.step(Step::Property(name.clone()), reads, schema);
                }
                self.keys(keys, schema);
            }
            Reads::Struct(parts) => self.fields(parts, schema),
            Reads::Enum { tag, variants } => variants.iter().for_each(|variant| self.variant(tag, variant, schema)),
            _ => {}
        }
    }

    fn variant(&mut self, tag: &'a Tag, variant: &'a Variant, schema: &JSONSchemaProps) {
        let Some(content) = &variant.content else { return };
        let pinned = match tag {
            Tag::Internal(tag) | Tag::Adjacent { tag, .. } if !variant.untagged => Some(tag),
            _ => None,
        };
        let pin = pinned.map(|tag| {
            let value = variant.names[0].clone().into();
            Pin { path: self.path.clone(), name: tag.clone(), value }
        });
        let pins = self.pins.len();
        self.pins.extend(pin);
        match tag {
            Tag::External if !variant.untagged => {
                self.step(Step::Property(variant.names[0].clone()), content, schema);
            }
            Tag::Adjacent { content: name, .. } if !variant.untagged => {
                self.step(Step::Property(name.clone()), content, schema);
            }
            _ => self.visit(content, schema, false),
        }
        self.pins.truncate(pins);
    }

    fn fields(&mut self, parts: &'a [Part], schema: &JSONSchemaProps) {
        for part in parts {
            let field = match part {
                // A flattened option that does not match is `None`.
                Part::Flattened(Reads::Optional(_)) => continue,
                // A key with a property is a field.
                Part::Flattened(Reads::Map { values: reads, .. }) => {
                    self.step(Step::Values, reads, schema);
                    continue;
                }
                Part::Flattened(reads) => {
                    self.visit(reads, schema, false);
                    continue;
                }
                Part::NoOthers => {
                    self.others(parts, schema);
                    continue;
                }
                Part::Field(field) => field,
            };
            let site = self.site;
            let step = Step::Property(field.name.clone());
            let property = stored_at(schema, &step);
            self.path.push(step);
            if let Some(span) = &field.span {
                self.site = Some((span, self.path.len()));
            }
            if let Some(property) = property {
                self.visit(&field.reads, property, true);
            }
            let is_required = schema.required.iter().flatten().any(|required| *required == field.name);
            if field.required && !is_required {
                self.missing(property, field.by_function);
            }
            self.path.pop();
            self.site = site;
        }
    }

    /// Looks for fields that the API server stores and that the struct at the path rejects as unknown.
    fn others(&mut self, parts: &'a [Part], schema: &JSONSchemaProps) {
        let described = schema.properties.iter().flat_map(|properties| properties.keys().cloned());
        let tags = self.pins.iter().filter(|pin| pin.path == self.path).map(|pin| pin.name.clone()).collect::<Vec<_>>();
        let before = self.rejections(&self.object(&self.path, &any(schema)));
        let mut names =
            described.chain(["unknown".to_owned()]).filter(|name| !takes(parts, name) && !tags.contains(name));
        let found = names.find_map(|name| {
            let step = Step::Property(name.clone());
            let inner = stored_at(schema, &step)?;
            self.path.push(step);
            let object = self.object(&self.path, &any(inner));
            let stored = self.stored(&object, &before);
            let found = stored.filter(|(stored, _)| at(stored, &self.path).is_some() && self.is_refused(stored));
            if found.is_none() {
                self.path.pop();
            }
            found
        });
        if let Some((stored, is_whole)) = found {
            self.report(Problem::Unknown, is_whole.then_some(stored), schema);
            self.path.pop();
        }
    }

    /// Looks for keys of the map at the path that the API server stores and the type rejects.
    fn keys(&mut self, reads: &'a Reads, schema: &JSONSchemaProps) {
        let mut keys = Vec::new();
        let mut witness = None;
        let before = self.rejections(&self.object(&self.path, &any(schema)));
        for value in candidates(reads.innermost()).into_iter().chain([json!("x"), json!("a b"), json!("")]) {
            let key = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if keys.contains(&key) || reads.reads_key(&key) != Some(false) {
                continue;
            }
            let step = Step::Property(key.clone());
            let Some(inner) = stored_at(schema, &step) else { continue };
            self.path.push(step);
            let object = self.object(&self.path, &any(inner));
            let stored = self.stored(&object, &before);
            let found = stored.filter(|(stored, _)| at(stored, &self.path).is_some() && self.is_refused(stored));
            self.path.pop();
            if let Some((stored, is_whole)) = found {
                keys.push(key);
                witness.get_or_insert(is_whole.then_some(stored));
            }
        }
        if let Some(object) = witness {
            self.report(Problem::Key { by: reads.innermost(), keys }, object, schema);
        }
    }

    /// Checks that the field at the path, which has this schema, may be missing.
    fn missing(&mut self, property: Option<&JSONSchemaProps>, by_function: bool) {
        let Some((Step::Property(name), around)) = self.path.split_last() else { return };
        let mut object = self.object(&self.path, &property.map_or(Value::Null, any));
        let before = self.rejections(&object);
        let Some(parent) = at_mut(&mut object, around).and_then(Value::as_object_mut) else { return };
        parent.remove(name);
        let Some((stored, is_whole)) = self.stored(&object, &before) else { return };
        let is_missing = at(&stored, around).is_some_and(|parent| parent.get(name).is_none());
        if is_missing && self.is_refused(&stored) {
            let schema = property.unwrap_or(&super::ANYTHING);
            self.report(Problem::Missing { by_function }, is_whole.then_some(stored), schema);
        }
    }

    /// Tries values for the type at the path.
    fn own(&mut self, reads: &'a Reads, schema: &JSONSchemaProps) {
        let mut tried = candidates(reads.innermost());
        tried.extend(schema.enum_.iter().flatten().map(|value| value.0.clone()));
        tried.push(any(schema));
        tried.extend([json!(null), json!(true), json!(7), json!(1.5), json!("x"), json!(""), json!([]), json!({})]);
        let mut values = Vec::new();
        let mut witness = None;
        let mut before = None;
        for value in tried {
            let is_admitted = || match &value {
                Value::Null => schema.nullable == Some(true) || schema.type_.is_none(),
                value => value::check(value, schema).is_empty(),
            };
            if values.contains(&value) || reads.reads(&value) != Some(false) || !is_admitted() {
                continue;
            }
            // Another field may have a rule that is hard to satisfy and unrelated to this one.
            let before = before.get_or_insert_with(|| self.rejections(&self.object(&self.path, &any(schema))));
            let object = self.object(&self.path, &value);
            let Some((stored, is_whole)) = self.stored(&object, before) else { continue };
            let is_stored = at(&stored, &self.path).is_some_and(|stored| reads.reads(stored) == Some(false));
            if is_stored && self.is_refused(&stored) {
                values.push(value);
                witness.get_or_insert(is_whole.then_some(stored));
            }
        }
        if let Some(object) = witness {
            self.report(Problem::Refused { by: reads.innermost(), values }, object, schema);
        }
    }

    /// `true` if no type around the path accepts the value in another way, such as another variant of an untagged enum.
    fn is_refused(&self, stored: &Value) -> bool {
        self.around.iter().all(|(reads, length)| {
            let reads_it = at(stored, &self.path[..*length]).and_then(|value| reads.reads(value));
            match reads.innermost() {
                Reads::Enum { tag, variants } if has_untagged(tag, variants) => reads_it == Some(false),
                _ => reads_it != Some(true),
            }
        })
    }

    fn report(&mut self, problem: Problem<'a>, object: Option<Value>, schema: &JSONSchemaProps) {
        let (span, from) = self.site.map_or((None, 0), |(span, from)| (Some(span), from));
        let tail = self.path.get(from..).unwrap_or_default().to_vec();
        let path = shown(&self.path);
        let is_undescribed = std::ptr::eq(schema, &*super::ANYTHING);
        let steps = self.path.clone();
        self.comparison.found.push(Undecodable { path, steps, span, tail, problem, is_undescribed, object });
    }

    fn object(&self, path: &[Step], value: &Value) -> Value {
        let mut object = sample(self.root, path, value, &self.pins);
        let names = &self.crd.spec.names;
        let meta = json!({
            "apiVersion": format!("{}/{}", self.crd.spec.group, self.version.name),
            "kind": names.kind,
            "metadata": { "name": "a" },
        });
        if let (Value::Object(object), Value::Object(meta)) = (&mut object, meta) {
            object.extend(meta);
        }
        object
    }

    /// The object as the API server stores it, unless it rejects or may reject the object. The rejections in `but` are
    /// ignored unless they concern the path. The flag is `true` without any rejections.
    fn stored(&self, object: &Value, but: &[Rejection]) -> Option<(Value, bool)> {
        let (stored, rejections) = object::stored(self.version, self.root, object);
        let is_about = |path: &[ObjectStep]| path.iter().zip(steps_to(&self.path)).all(|(left, right)| *left == right);
        let admits = |rejection: &Rejection| but.contains(rejection) && !is_about(&rejection.path);
        rejections.iter().all(admits).then_some((stored, rejections.is_empty()))
    }

    fn rejections(&self, object: &Value) -> Vec<Rejection> {
        object::stored(self.version, self.root, object).1
    }
}

/// `true` if the API server accepts this CEL rule at the path; its cost may be too high.
fn takes_rule(crd: &CustomResourceDefinition, version: &str, path: &[Step], rule: &str) -> bool {
    let version = crd.spec.versions.iter().find(|it| it.name == version);
    let root = version.and_then(|version| version.schema.as_ref()?.open_api_v3_schema.as_ref());
    let Some(mut root) = root.cloned() else { return false };
    let inner = path.iter().try_fold(&mut root, |schema, step| match step {
        Step::Property(name) => schema.properties.as_mut()?.get_mut(name),
        Step::Items => match schema.items.as_mut()? {
            JSONSchemaPropsOrArray::Schema(items) => Some(&mut **items),
            JSONSchemaPropsOrArray::Schemas(_) => None,
        },
        Step::Values => match schema.additional_properties.as_mut()? {
            JSONSchemaPropsOrBool::Schema(values) => Some(&mut **values),
            JSONSchemaPropsOrBool::Bool(_) => None,
        },
    });
    let Some(schema) = inner else { return false };
    let rule = ValidationRule { rule: rule.to_owned(), ..ValidationRule::default() };
    schema.x_kubernetes_validations.get_or_insert_default().push(rule);
    let mut findings = Vec::new();
    cel::check(&root, &mut findings);
    findings.is_empty()
}

/// `true` if a schema limits a value beyond its type, which shows that its author considered the accepted values.
fn is_limited(schema: &JSONSchemaProps) -> bool {
    // The limits that schemars generates for types are not set by the user.
    let is_own = |bound: f64| ![0.0, 1.0, 127.0, 255.0, 32767.0, 65535.0].contains(&bound);
    !is_empty(&schema.enum_)
        || schema.pattern.is_some()
        || [schema.minimum, schema.maximum].into_iter().flatten().any(is_own)
        || !is_empty(&schema.x_kubernetes_validations)
        || super::formats::is_known(text(&schema.type_), text(&schema.format)) && text(&schema.type_) == "string"
}

fn has_untagged(tag: &Tag, variants: &[Variant]) -> bool {
    matches!(tag, Tag::Untagged) || variants.iter().any(|variant| variant.untagged)
}

/// Values that a type rejects, although they resemble accepted ones.
fn candidates(reads: &Reads) -> Vec<Value> {
    match reads {
        Reads::Integer(integer) => {
            let near = [integer.max.checked_add(1), integer.min.checked_sub(1), (!integer.zero).then_some(0)];
            // The API server has no integers of more than 64 bits.
            near.into_iter().flatten().filter_map(|number| i64::try_from(number).ok().map(Value::from)).collect()
        }
        Reads::ShortText(most) => vec!["x".repeat(most + 1).into(), "é".repeat(*most).into()],
        Reads::Char => vec!["ab".into()],
        Reads::Parsed(parsed) => parsed.refused.iter().map(|text| (*text).into()).collect(),
        Reads::Code(code) => code.refused.iter().cloned().chain(candidates(code.from.innermost())).collect(),
        Reads::FromText(inner) => {
            let numbers = candidates(inner).into_iter().map(|value| value.to_string().into());
            std::iter::once("x".into()).chain(numbers).collect()
        }
        Reads::Tuple(items) => vec![json!([]), json!(["a"]), Value::Array(vec![Value::Null; items.len()])],
        _ => Vec::new(),
    }
}

/// The path of the value passed to [`sample`].
fn steps_to(path: &[Step]) -> impl Iterator<Item = ObjectStep> {
    path.iter().map(|step| match step {
        Step::Property(name) => ObjectStep::Key(name.clone()),
        Step::Items => ObjectStep::Index(0),
        Step::Values => ObjectStep::Key(KEY.to_owned()),
    })
}

/// The value passed to [`sample`].
fn at<'v>(object: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(object, |value, step| match step {
        Step::Property(name) => value.get(name),
        Step::Items => value.get(0),
        Step::Values => value.get(KEY),
    })
}

fn at_mut<'v>(object: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(object, |value, step| match step {
        Step::Property(name) => value.get_mut(name),
        Step::Items => value.get_mut(0),
        Step::Values => value.get_mut(KEY),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use opctl_model::reads::{Field, Integer};

    fn u32() -> Reads {
        Reads::Integer(Integer { name: "u32".into(), min: 0, max: u32::MAX.into(), zero: true })
    }

    fn field(name: &str, required: bool, reads: Reads) -> Part {
        let (name, aliases) = (name.into(), Vec::new());
        Part::Field(Field { name, aliases, span: None, required, by_function: false, reads })
    }

    fn found(spec: Value, reads: Vec<Part>) -> Vec<(String, Option<Value>)> {
        let crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "ks.example.com"},
            "spec": {
                "group": "example.com",
                "names": {"plural": "ks", "kind": "K"},
                "scope": "Namespaced",
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
                }],
            },
        });
        let crd = serde_json::from_value(crd).unwrap();
        let reads = Reads::Struct(vec![field("spec", false, Reads::Struct(reads))]);
        let found = undecodable(&crd, "v1", &reads).found;
        found.into_iter().map(|one| (one.path, one.object.map(|object| object["spec"].clone()))).collect()
    }

    fn spec(size: Value) -> Value {
        json!({"type": "object", "properties": {"size": size}})
    }

    #[test]
    fn finds_what_the_schema_admits_and_the_type_refuses() {
        let size = || vec![field("size", false, u32())];
        let schema = json!({"type": "integer", "format": "uint32", "minimum": 0});
        assert_eq!(found(spec(schema), size()), [("`spec.size`".into(), Some(json!({"size": 4_294_967_296_i64})))]);
        let bounded = json!({"type": "integer", "minimum": 0, "maximum": u32::MAX});
        assert_eq!(found(spec(bounded), size()), []);
    }

    #[test]
    fn respects_rules_above_the_value() {
        let mut schema = spec(json!({"type": "integer", "minimum": 0}));
        schema["x-kubernetes-validations"] = json!([{"rule": "self.size < 10"}]);
        assert_eq!(found(schema, vec![field("size", false, u32())]), []);
    }

    #[test]
    fn finds_fields_that_may_be_missing() {
        let required = || vec![field("size", true, u32())];
        let mut schema = spec(json!({"type": "integer", "minimum": 0, "maximum": 9}));
        assert_eq!(found(schema.clone(), required()), [("`spec.size`".into(), Some(json!({})))]);
        schema["properties"]["size"]["default"] = json!(1);
        assert_eq!(found(schema.clone(), required()), []);
        schema["required"] = json!(["size"]);
        assert_eq!(found(schema, required()), []);
    }

    #[test]
    fn is_silent_where_another_variant_reads_the_value() {
        let variant = |reads| Variant {
            names: vec!["V".into()],
            other: false,
            untagged: false,
            content: Some(Reads::Struct(vec![field("size", true, reads)])),
        };
        let of = |variants| vec![field("v", false, Reads::Enum { tag: Tag::Untagged, variants })];
        let schema = || {
            let mut schema = spec(json!({"type": "integer"}));
            schema["required"] = json!(["size"]);
            json!({"type": "object", "properties": {"v": schema}})
        };
        let one = found(schema(), of(vec![variant(u32())]));
        assert_eq!(one, [("`spec.v.size`".into(), Some(json!({"v": {"size": 4_294_967_296_i64}})))]);
        assert_eq!(found(schema(), of(vec![variant(u32()), variant(Reads::Float)])), []);
    }

    #[test]
    fn takes_rules_whose_cost_is_limited() {
        let list = |schema: Value| json!({"type": "array", "items": schema});
        let crd = |spec: Value| {
            let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
            let versions = json!([{"name": "v1", "served": true, "storage": true, "schema": schema}]);
            let names = json!({"plural": "ks", "kind": "K"});
            let spec = json!({"group": "example.com", "names": names, "scope": "Namespaced", "versions": versions});
            serde_json::from_value(json!({"metadata": {}, "spec": spec})).unwrap()
        };
        let path = [Step::Property("spec".into())];
        let rule = "self.all(x, x.all(y, y.matches('^a+$')))";
        let text = json!({"type": "string"});
        assert!(!takes_rule(&crd(list(list(text.clone()))), "v1", &path, rule));
        assert!(takes_rule(&crd(list(text)), "v1", &path, "self.size() < 5"));
    }
}
