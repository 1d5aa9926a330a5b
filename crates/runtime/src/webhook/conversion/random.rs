//! Random objects that match a schema. The same seed gives the same object.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSONSchemaProps, JSONSchemaPropsOrBool};
use serde_json::{Map, Value, json};

use super::carry::items;

/// A random generator, by the algorithm SplitMix64.
pub struct Random(pub u64);

const TEXTS: [&str; 6] = ["", "a", "Ünï\n\"x\"", "0", "null", "some longer text"];

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn coin(&mut self) -> bool {
        self.next().is_multiple_of(2)
    }

    fn within(&mut self, low: i64, high: i64) -> i64 {
        let span = (i128::from(high) - i128::from(low)).max(0) + 1;
        (i128::from(low) + i128::from(self.next()) % span) as i64
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.next() as usize % of.len()]
    }

    pub fn object(&mut self, api_version: &str, kind: &str, schema: &JSONSchemaProps) -> Value {
        let mut object = self.value(schema);
        object["apiVersion"] = api_version.into();
        object["kind"] = kind.into();
        object["metadata"] = self.metadata();
        object
    }

    fn metadata(&mut self) -> Value {
        let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "2", "controller": true });
        let all = json!({
            "namespace": "default",
            "labels": { "app": "a", "tier": "b" },
            "annotations": { "example.com/note": self.text(0, 20) },
            "finalizers": ["example.com/cleanup"],
            "ownerReferences": [owner],
            "generation": self.within(1, 9),
            "creationTimestamp": "2026-01-02T03:04:05Z",
        });
        let mut metadata = json!({ "name": "sample", "uid": "1" });
        for (name, value) in all.as_object().into_iter().flatten() {
            if self.coin() {
                metadata[name] = value.clone();
            }
        }
        metadata
    }

    fn value(&mut self, schema: &JSONSchemaProps) -> Value {
        if schema.nullable == Some(true) && self.next().is_multiple_of(4) {
            return Value::Null;
        }
        if let Some(allowed) = &schema.enum_ {
            return self.one(allowed).0.clone();
        }
        if schema.x_kubernetes_int_or_string == Some(true) {
            let number = self.within(0, 99);
            return if self.coin() { json!(number) } else { json!(format!("{number}%")) };
        }
        match schema.type_.as_deref() {
            Some("object") => self.fields(schema),
            Some("array") => {
                let least = schema.min_items.unwrap_or(0);
                let length = self.within(least, schema.max_items.unwrap_or(least + 3).min(least + 3));
                let items = items(schema);
                (0..length).map(|_| items.map_or(json!("item"), |it| self.value(it))).collect()
            }
            Some("string") => self.string(schema),
            Some("boolean") => json!(self.coin()),
            Some("integer") => self.integer(schema).into(),
            // Eighths are exact in an `f32` too.
            Some("number") => json!(self.integer(schema) as f64 + self.within(0, 7) as f64 / 8.0),
            _ => json!({ "any": self.text(0, 20) }),
        }
    }

    fn fields(&mut self, schema: &JSONSchemaProps) -> Value {
        let mut map = Map::new();
        // An enum with data gets the fields of one variant only.
        let variants = schema.one_of.as_deref().unwrap_or_default();
        let of = |it: &JSONSchemaProps| it.required.clone().unwrap_or_default();
        let others: Vec<_> = variants.iter().flat_map(of).collect();
        let mut required = schema.required.clone().unwrap_or_default();
        if !variants.is_empty() {
            required.extend(of(self.one(variants)));
        }
        for (name, property) in schema.properties.iter().flatten() {
            let needed = required.contains(name);
            if needed || !others.contains(name) && self.coin() {
                map.insert(name.clone(), self.value(property));
            }
        }
        if let Some(JSONSchemaPropsOrBool::Schema(schema)) = &schema.additional_properties {
            for _ in 0..self.within(0, 3) {
                map.insert(format!("key-{}", self.within(0, 99)), self.value(schema));
            }
        }
        if schema.x_kubernetes_embedded_resource == Some(true) {
            map.extend([
                ("apiVersion".to_owned(), json!("v1")),
                ("kind".to_owned(), json!("ConfigMap")),
                ("metadata".to_owned(), json!({ "name": "embedded" })),
            ]);
        }
        if schema.x_kubernetes_preserve_unknown_fields == Some(true) && self.coin() {
            map.insert("unknown".to_owned(), json!([self.text(0, 20), 1, null]));
        }
        map.into()
    }

    fn integer(&mut self, schema: &JSONSchemaProps) -> i64 {
        let (low, high) = match (schema.type_.as_deref(), schema.format.as_deref()) {
            (_, Some("int64")) => (i64::MIN, i64::MAX),
            (_, Some("uint64")) => (0, i64::MAX),
            (_, Some("uint32" | "uint")) => (0, u32::MAX.into()),
            (_, Some("uint16")) => (0, u16::MAX.into()),
            (_, Some("uint8")) => (0, u8::MAX.into()),
            (_, Some("int16")) => (i16::MIN.into(), i16::MAX.into()),
            (_, Some("int8")) => (i8::MIN.into(), i8::MAX.into()),
            (Some("number"), _) => (-1000, 1000),
            _ => (i32::MIN.into(), i32::MAX.into()),
        };
        let low = schema.minimum.map_or(low, |it| low.max(it.ceil() as i64));
        let high = schema.maximum.map_or(high, |it| high.min(it.floor() as i64));
        // Half of the numbers are small, as in practice.
        match self.coin() {
            true => self.within(low.max(high.min(0)), high.min(low.max(9))),
            false => self.within(low, high),
        }
    }

    fn string(&mut self, schema: &JSONSchemaProps) -> Value {
        if schema.format.as_deref() == Some("date-time") {
            let day = self.within(10, 28);
            return json!(format!("2026-0{}-{day}T0{}:30:05Z", self.within(1, 9), self.within(0, 9)));
        }
        if schema.pattern.is_some() {
            let known = schema.default.as_ref().or(schema.example.as_ref());
            return known.map_or(json!("word"), |it| it.0.clone());
        }
        let least = schema.min_length.unwrap_or(0);
        self.text(least, schema.max_length.unwrap_or(least + 20)).into()
    }

    fn text(&mut self, least: i64, most: i64) -> String {
        let text = self.one(&TEXTS).chars().chain(std::iter::repeat('x'));
        let natural = self.within(least, most.min(least + 20));
        text.take(usize::try_from(natural).unwrap_or(0)).collect()
    }
}
