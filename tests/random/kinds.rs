//! Random kinds: types that rustc, serde, schemars and kube take, in modules that import from each other.
//!
//! What their derives refuse is not made; what makes `crd()` panic is made seldom, for it hides the rest of its kind.

use std::collections::BTreeMap;

use super::world::{Shape, Ty, World};

pub struct Kind {
    pub seed: u64,
    /// The module that it is in, at the root of its crate.
    pub module: String,
    /// The type that kube makes, by its path below that module.
    pub root: String,
    /// By their paths below `src`.
    pub files: BTreeMap<String, String>,
    /// How many structs and enums it has.
    pub types: usize,
}

impl Kind {
    pub fn new(seed: u64, module: String) -> Self {
        let mut world = World::new(seed, module);
        for _ in 0..world.dice.between(3, 9) {
            world.any_type();
        }
        let root = world.spec();
        Self { seed, module: world.name.clone(), root, types: world.types.len(), files: world.files() }
    }
}

const WORDS: [&str; 24] = [
    "replicas",
    "image",
    "size",
    "policy",
    "name",
    "class",
    "endpoint",
    "url",
    "token",
    "mode",
    "window",
    "rate",
    "ports",
    "match",
    "type",
    "retention_days",
    "max_conns2",
    "x_ray",
    "tls",
    "ca_bundle",
    "http2",
    "on_failure",
    "labels",
    "ref",
];
const TEXTS: [&str; 8] = ["nginx", "a b", "", "1.2.3", "it's \\\"quoted\\\"", "ünïcode", "true", "key: value # no"];
const RULES: [&str; 10] = [
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "camelCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];
const INTEGERS: [&str; 10] = ["i32", "i32", "i64", "u8", "u16", "u32", "u64", "i8", "i16", "usize"];
const KUBERNETES: [&str; 14] = [
    "k8s_openapi::apimachinery::pkg::api::resource::Quantity",
    "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString",
    "k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector",
    "k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition",
    "k8s_openapi::apimachinery::pkg::apis::meta::v1::Time",
    "k8s_openapi::api::core::v1::EnvVar",
    "k8s_openapi::api::core::v1::ResourceRequirements",
    "k8s_openapi::api::core::v1::Toleration",
    "k8s_openapi::api::core::v1::LocalObjectReference",
    "k8s_openapi::api::core::v1::SecretKeySelector",
    "k8s_openapi::api::core::v1::ObjectReference",
    "k8s_openapi::api::core::v1::SecurityContext",
    "k8s_openapi::api::core::v1::ContainerPort",
    "k8s_openapi::api::core::v1::TopologySpreadConstraint",
];
const DERIVES: &str = "Clone, Debug, Deserialize, Serialize";

/// What is possible for a field where it stands.
#[derive(Clone, Copy)]
struct Place {
    module: usize,
    /// Defaults may be said: not in generics, nor in the fields of a variant.
    defaults: bool,
    flatten: bool,
    /// In a struct that derives KubeSchema.
    rules: bool,
}

impl World {
    // Types as they are used.

    fn ty(&mut self, depth: usize) -> Ty {
        if self.dice.percent(40) && !self.types.is_empty() {
            return self.declared_type(depth);
        }
        self.plain_type(depth)
    }

    fn declared_type(&mut self, depth: usize) -> Ty {
        let unused: Vec<usize> = (0..self.types.len()).filter(|index| !self.types[*index].used).collect();
        let index = match unused.as_slice() {
            [] => self.dice.below(self.types.len()),
            _ if self.dice.percent(30) => self.dice.below(self.types.len()),
            unused => unused[self.dice.below(unused.len())],
        };
        self.types[index].used = true;
        self.of(index, depth)
    }

    fn of(&mut self, index: usize, depth: usize) -> Ty {
        let takes_one = matches!(self.types[index].shape, Shape::Generic | Shape::GenericAlias);
        Ty::Declared(index, if takes_one { vec![self.argument(depth)] } else { Vec::new() })
    }

    /// An argument of a generic type: nothing that makes it recursive, and no option, which flattens otherwise.
    fn argument(&mut self, depth: usize) -> Ty {
        if depth > 0 && self.dice.percent(30) { self.plain_type(depth - 1) } else { self.scalar() }
    }

    fn scalar(&mut self) -> Ty {
        Ty::Scalar(match self.dice.below(10) {
            0..4 => "String",
            4 => "bool",
            5 => self.dice.pick(&["f32", "f64", "char", "i128", "u128", "isize"]),
            _ => self.dice.pick(&INTEGERS),
        })
    }

    fn plain_type(&mut self, depth: usize) -> Ty {
        let inner = |world: &mut Self| world.ty(depth - 1);
        match self.dice.below(if depth == 0 { 8 } else { 20 }) {
            0..5 => self.scalar(),
            5 => Ty::Foreign(self.dice.pick(&KUBERNETES), Vec::new()),
            6 => Ty::Foreign(
                self.dice.pick(&[
                    "std::path::PathBuf",
                    "std::net::IpAddr",
                    "std::net::Ipv4Addr",
                    "std::num::NonZeroU16",
                    "std::num::NonZeroI32",
                    "std::time::Duration",
                    "kube::core::Duration",
                ]),
                Vec::new(),
            ),
            7 => self.scalar(),
            8..12 => Ty::Foreign("std::option::Option", vec![inner(self)]),
            12..15 => Ty::Foreign("std::vec::Vec", vec![inner(self)]),
            15 | 16 => {
                let map = self.dice.pick(&["std::collections::BTreeMap", "std::collections::HashMap"]);
                Ty::Foreign(map, vec![self.key(), inner(self)])
            }
            17 => {
                let set = self.dice.pick(&["std::collections::BTreeSet", "std::collections::HashSet"]);
                let element = self.key();
                Ty::Foreign(set, vec![element])
            }
            18 => {
                let pointer = self.dice.pick(&["std::boxed::Box", "std::boxed::Box", "std::sync::Arc", "std::rc::Rc"]);
                Ty::Foreign(pointer, vec![inner(self)])
            }
            _ => match self.dice.below(12) {
                0 => Ty::Foreign("std::borrow::Cow", vec![Ty::Scalar("str")]),
                1 => Ty::Foreign("std::collections::VecDeque", vec![inner(self)]),
                2 => Ty::Array(Box::new(self.scalar()), self.dice.between(1, 4)),
                3 => Ty::Foreign("serde_json::Value", Vec::new()),
                4 => Ty::Tuple(vec![self.scalar(), self.scalar()]),
                5 => Ty::Foreign("std::num::Wrapping", vec![Ty::Scalar("u32")]),
                6 => Ty::Foreign("std::time::SystemTime", Vec::new()),
                7 => Ty::Foreign("k8s_openapi::api::core::v1::Affinity", Vec::new()),
                _ => self.scalar(),
            },
        }
    }

    /// A type that can be the key of a map and in a set.
    fn key(&mut self) -> Ty {
        let keys: Vec<usize> =
            (0..self.types.len()).filter(|index| matches!(self.types[*index].shape, Shape::Units(_))).collect();
        if !keys.is_empty() && self.dice.percent(25) {
            let key = keys[self.dice.below(keys.len())];
            self.types[key].used = true;
            return Ty::Declared(key, Vec::new());
        }
        Ty::Scalar(if self.dice.percent(85) { "String" } else { self.dice.pick(&["u16", "i32", "u64"]) })
    }

    // Declarations.

    fn any_type(&mut self) {
        let module = self.any_module();
        match self.dice.below(20) {
            0..9 => {
                let derive = if self.dice.percent(20) { "KubeSchema" } else { "JsonSchema" };
                self.structure(module, derive);
            }
            9 | 10 => self.units(module),
            11 | 12 => self.units_with_docs(module),
            13..16 => self.data_enum(module),
            16 => self.newtype(module),
            17 => self.generic(module),
            18 => self.alias(module),
            _ => self.by_hand(module),
        }
    }

    fn new_name(&mut self, what: &str) -> String {
        format!("{what}{}", self.number())
    }

    fn structure(&mut self, module: usize, derive: &str) {
        let name = self.new_name("Struct");
        let count = self.dice.between(1, 6);
        let types: Vec<Ty> = (0..count).map(|_| self.ty(2)).collect();
        self.structure_of(module, &name, types, derive, "");
    }

    /// A struct with named fields; `head` are further attributes.
    fn structure_of(&mut self, module: usize, name: &str, types: Vec<Ty>, derive: &str, head: &str) {
        let kube_schema = derive.contains("KubeSchema");
        let all_default = types.iter().all(|ty| self.has_default(ty));
        let names: Vec<String> = (0..types.len()).map(|_| self.field_name()).collect();
        let derives_default = all_default && self.dice.percent(60);
        // A struct literal of them all.
        let manual =
            if !derives_default && self.dice.percent(40) { self.literal(&names, &types, module) } else { None };
        let has_default = derives_default || manual.is_some();

        let mut text = self.docs("");
        let default = if derives_default { ", Default" } else { "" };
        text += &format!("#[derive({}{default}, {derive})]\n{head}", self.derives());
        let mut serde = Vec::new();
        let deny = self.dice.percent(10);
        if self.dice.percent(60) {
            let rule = self.dice.pick(&RULES);
            serde.push(match self.dice.below(10) {
                0 => format!("rename_all(serialize = \"{rule}\", deserialize = \"camelCase\")"),
                1 => format!("rename_all(deserialize = \"{rule}\")"),
                _ => format!("rename_all = \"{rule}\""),
            });
        }
        if deny {
            serde.push("deny_unknown_fields".into());
        }
        let mut container_default = false;
        if has_default && !kube_schema && self.dice.percent(25) {
            container_default = true;
            serde.push("default".into());
        } else if let (true, Some(literal)) = (self.dice.percent(8), self.literal(&names, &types, module)) {
            container_default = true;
            let function = self.new_name("made_");
            self.item(module, format!("fn {function}() -> {name} {{\n    {name} {literal}\n}}\n"));
            serde.push(format!("default = \"{function}\""));
        }
        text += &self.listed("serde", &serde);
        text += &self.schemars_of_container();
        if kube_schema && self.dice.percent(50) {
            text += &format!("#[x_kube(validation = {})]\n", self.rule());
        }

        let place = Place { module, defaults: true, flatten: !deny && !container_default, rules: kube_schema };
        text += &format!("pub struct {name} {{\n");
        for (field, ty) in names.iter().zip(&types) {
            text += &self.field(field, ty, place);
        }
        text += "}\n";
        if let Some(literal) = manual {
            let body = self.dice.pick(&["Self", name]);
            text += &format!(
                "\nimpl Default for {name} {{\n    fn default() -> Self {{\n        {body} {literal}\n    }}\n}}\n"
            );
        }
        self.item(module, text);
        let fields = names.into_iter().zip(types).collect();
        self.declare(name.into(), module, Shape::Struct(fields), has_default);
    }

    /// `{ a: 1, b: … }` of all fields.
    fn literal(&mut self, names: &[String], types: &[Ty], module: usize) -> Option<String> {
        let values: Option<Vec<String>> = types.iter().map(|ty| self.value(ty, module, 2)).collect();
        let fields = names.iter().zip(values?).map(|(name, value)| format!("{name}: {value}"));
        Some(format!("{{ {} }}", fields.collect::<Vec<_>>().join(", ")))
    }

    fn field_name(&mut self) -> String {
        let word = self.dice.pick(&WORDS);
        if matches!(word, "match" | "type" | "ref") && self.dice.percent(60) {
            // A keyword twice would be a field twice.
            let number = self.number();
            return if number.is_multiple_of(2) { format!("{word}_{number}") } else { format!("{word}{number}") };
        }
        format!("{word}_{}", self.number())
    }

    fn units(&mut self, module: usize) {
        self.unit_enum(module, 0);
    }

    fn units_with_docs(&mut self, module: usize) {
        self.unit_enum(module, 60);
    }

    /// An enum without data; so many of a hundred variants are documented.
    fn unit_enum(&mut self, module: usize, documented: u64) {
        let name = self.new_name("Enum");
        let variants: Vec<String> = (0..self.dice.between(1, 5)).map(|_| self.variant_name()).collect();
        let default = self.dice.percent(60).then(|| self.dice.below(variants.len()));
        let mut text = self.docs("");
        let derived = if default.is_some() { ", Default" } else { "" };
        text += &format!("#[derive({DERIVES}, PartialEq, Eq, PartialOrd, Ord, Hash{derived}, JsonSchema)]\n");
        if self.dice.percent(50) {
            let rule = self.dice.pick(&RULES);
            text += &format!("#[serde(rename_all = \"{rule}\")]\n");
        }
        text += &self.schemars_of_container();
        text += &format!("pub enum {name} {{\n");
        for (index, variant) in variants.iter().enumerate() {
            if self.dice.percent(documented) {
                text += &format!("    /// The {variant}.\n");
            }
            if default == Some(index) {
                text += "    #[default]\n";
            }
            match self.dice.below(20) {
                0 => text += &format!("    #[serde(rename = \"re-{}\")]\n", variant.to_lowercase()),
                1 => text += &format!("    #[serde(alias = \"also{variant}\")]\n"),
                2 if variants.len() > 1 && default != Some(index) => text += "    #[serde(skip_deserializing)]\n",
                3 => text += &format!("    #[schemars(rename = \"schema{variant}\")]\n"),
                4 => text += "    #[deprecated]\n",
                5 if documented > 0 => text += "    #[schemars(title = \"Titled\")]\n",
                _ => {}
            }
            text += &format!("    {variant},\n");
        }
        text += "}\n";
        self.item(module, text);
        self.declare(name, module, Shape::Units(variants), default.is_some());
    }

    fn variant_name(&mut self) -> String {
        let word = self.dice.pick(&["Always", "OnFailure", "HTTPRoute", "Aws", "S3", "LeastConn", "Never", "V1Beta1"]);
        format!("{word}{}", self.number())
    }

    fn data_enum(&mut self, module: usize) {
        let name = self.new_name("Choice");
        let mut count = self.dice.between(1, 4);
        let tag = self.number();
        // What kube can say: variants by their own keys; several tagged variants, or some without data, make it panic.
        let (tagging, content) = match self.dice.below(20) {
            0..11 => (String::new(), "external"),
            11..16 => ("untagged".into(), "untagged"),
            16 | 17 => {
                count = if self.dice.percent(70) { 1 } else { 2 };
                (format!("tag = \"tag{tag}\""), "internal")
            }
            _ => {
                count = if self.dice.percent(70) { 1 } else { 2 };
                (format!("tag = \"tag{tag}\", content = \"content{tag}\""), "adjacent")
            }
        };
        let mixed = self.dice.percent(6);
        let mut text = self.docs("");
        let mut serde = Vec::new();
        if !tagging.is_empty() {
            serde.push(tagging);
        }
        if self.dice.percent(60) {
            let rule = self.dice.pick(&RULES);
            serde.push(format!("rename_all = \"{rule}\""));
        }
        if self.dice.percent(40) {
            let rule = self.dice.pick(&RULES);
            serde.push(format!("rename_all_fields = \"{rule}\""));
        }
        if self.dice.percent(5) {
            serde.push("deny_unknown_fields".into());
        }
        text += &format!("#[derive({DERIVES}, JsonSchema)]\n");
        text += &self.listed("serde", &serde);
        text += &self.schemars_of_container();
        text += &format!("pub enum {name} {{\n");
        let place = Place { module, defaults: false, flatten: false, rules: false };
        for _ in 0..count {
            let variant = self.variant_name();
            text += &self.docs("    ");
            match self.dice.below(14) {
                0 => text += &format!("    #[serde(rename = \"renamed{variant}\")]\n"),
                1 => text += &format!("    #[serde(alias = \"alias{variant}\")]\n"),
                2 if count > 1 => text += "    #[serde(skip_deserializing)]\n",
                3 => text += "    #[serde(rename_all = \"SCREAMING_SNAKE_CASE\")]\n",
                4 => text += "    #[schemars(description = \"said by schemars\")]\n",
                _ => {}
            }
            if mixed && self.dice.percent(50) {
                text += &format!("    {variant},\n");
            } else if content != "untagged" && self.dice.percent(40) {
                let ty = self.newtype_content(content == "internal");
                let ty = self.written(&ty, module);
                text += &format!("    {variant}({ty}),\n");
            } else if content == "external" && self.dice.percent(3) {
                text += &format!("    {variant}(String, u8),\n");
            } else {
                text += &format!("    {variant} {{\n");
                for _ in 0..self.dice.between(1, 3) {
                    let ty = self.ty(1);
                    let field = self.field_name();
                    text += &indented(&self.field(&field, &ty, place).replace("pub ", ""));
                }
                text += "    },\n";
            }
        }
        text += "}\n";
        self.item(module, text);
        self.declare(name, module, Shape::Opaque, false);
    }

    /// What a variant of one unnamed field holds; with the tag inside it, something with fields.
    fn newtype_content(&mut self, with_fields: bool) -> Ty {
        if !with_fields {
            return self.ty(1);
        }
        let structs: Vec<usize> =
            (0..self.types.len()).filter(|index| matches!(self.types[*index].shape, Shape::Struct(_))).collect();
        if structs.is_empty() {
            return Ty::Foreign("std::collections::BTreeMap", vec![Ty::Scalar("String"), Ty::Scalar("String")]);
        }
        let index = structs[self.dice.below(structs.len())];
        self.types[index].used = true;
        Ty::Declared(index, Vec::new())
    }

    fn newtype(&mut self, module: usize) {
        let name = self.new_name("Newtype");
        let ty = self.ty(1);
        let mut text = self.docs("");
        let default = self.has_default(&ty) && self.dice.percent(50);
        text += &format!("#[derive({DERIVES}{}, JsonSchema)]\n", if default { ", Default" } else { "" });
        let from = self.scalar();
        let written_from = self.written(&from, module);
        let mut conversions = String::new();
        match self.dice.below(6) {
            0 | 1 => text += "#[serde(transparent)]\n",
            2 => {
                text += &format!("#[serde(from = \"{written_from}\")]\n");
                conversions = format!(
                    "\nimpl From<{written_from}> for {name} {{\n    fn from(_: {written_from}) -> Self {{\n        unimplemented!()\n    }}\n}}\n"
                );
            }
            3 => {
                text += &format!("#[serde(try_from = \"{written_from}\")]\n");
                conversions = format!(
                    "\nimpl TryFrom<{written_from}> for {name} {{\n    type Error = String;\n    fn try_from(_: {written_from}) -> Result<Self, String> {{\n        unimplemented!()\n    }}\n}}\n"
                );
            }
            _ => {}
        }
        text += &self.schemars_of_container();
        let validation = self.validation(&ty, module);
        let written = self.written(&ty, module);
        text += &format!("pub struct {name}({validation}pub {written});\n{conversions}");
        self.item(module, text);
        self.declare(name, module, Shape::Newtype(ty), default);
    }

    fn generic(&mut self, module: usize) {
        let name = self.new_name("Generic");
        let mut text = self.docs("");
        text += &format!("#[derive({DERIVES}, JsonSchema)]\n");
        if self.dice.percent(60) {
            text += "#[serde(rename_all = \"camelCase\")]\n";
        }
        let default = self.dice.pick(&["", "", " = String"]);
        let place = Place { module, defaults: false, flatten: false, rules: false };
        text += &format!("pub struct {name}<T{default}> {{\n");
        for index in 0..self.dice.between(1, 4) {
            let ty = match self.dice.below(if index == 0 { 5 } else { 7 }) {
                0 | 1 => Ty::Parameter,
                2 => Ty::Foreign("std::option::Option", vec![Ty::Parameter]),
                3 => Ty::Foreign("std::vec::Vec", vec![Ty::Parameter]),
                4 => Ty::Foreign("std::collections::BTreeMap", vec![Ty::Scalar("String"), Ty::Parameter]),
                _ => self.ty(1),
            };
            let field = self.field_name();
            text += &self.field(&field, &ty, place);
        }
        text += "}\n";
        self.item(module, text);
        self.declare(name, module, Shape::Generic, false);
    }

    fn alias(&mut self, module: usize) {
        let name = self.new_name("Alias");
        if self.dice.percent(40) {
            let target = *self.dice.pick(&[
                &"Vec<T>",
                &"std::collections::BTreeMap<String, T>",
                &"Option<Vec<T>>",
                &"std::collections::HashMap<String, T>",
            ]);
            self.item(module, format!("pub type {name}<T> = {target};\n"));
            self.declare(name, module, Shape::GenericAlias, true);
        } else {
            let ty = self.ty(2);
            let written = self.written(&ty, module);
            self.item(module, format!("pub type {name} = {written};\n"));
            self.declare(name, module, Shape::Alias(ty), false);
        }
    }

    /// A type whose schema is written by hand.
    fn by_hand(&mut self, module: usize) {
        let name = self.new_name("ByHand");
        let docs = self.docs("");
        let schema = self.hand_schema();
        let text = format!(
            "{docs}#[derive({DERIVES}, Default)]\npub struct {name}(pub serde_json::Value);\n
impl JsonSchema for {name} {{
    fn schema_name() -> std::borrow::Cow<'static, str> {{
        \"{name}\".into()
    }}
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {{
        schemars::json_schema!({schema})
    }}
}}\n"
        );
        self.item(module, text);
        self.declare(name, module, Shape::Opaque, false);
    }

    fn hand_schema(&mut self) -> &'static str {
        self.dice.pick(&[
            "{ \"type\": \"object\", \"x-kubernetes-preserve-unknown-fields\": true }",
            "{ \"x-kubernetes-int-or-string\": true, \"anyOf\": [{ \"type\": \"integer\" }, { \"type\": \"string\" }] }",
            "{ \"type\": \"string\", \"pattern\": \"^[a-z]+$\", \"maxLength\": 63 }",
            "{ \"type\": [\"string\", \"null\"], \"format\": \"duration\" }",
            "{ \"type\": \"object\", \"properties\": { \"a\": { \"type\": \"integer\", \"minimum\": 0 } }, \"required\": [\"a\"] }",
        ])
    }

    /// The custom resource; all types that nothing uses yet are in it. Gives the path of the type that kube makes.
    fn spec(&mut self) -> String {
        let module = self.any_module();
        let number = self.number();
        let (kind, name) = (format!("Kind{number}"), format!("Kind{number}Spec"));
        let root = if self.dice.percent(15) { format!("{kind}Resource") } else { kind.clone() };
        let status = self.dice.percent(50).then(|| {
            let name = format!("Kind{number}Status");
            let types = (0..self.dice.between(1, 3)).map(|_| self.ty(2)).collect();
            let home = self.any_module();
            self.structure_of(home, &name, types, "JsonSchema", "");
            let index = self.types.len() - 1;
            self.types[index].used = true;
            self.written(&Ty::Declared(index, Vec::new()), module)
        });

        let mut kube =
            vec![format!("group = \"random.example.com\", version = \"v1alpha{number}\", kind = \"{kind}\"")];
        if root != kind {
            kube.push(format!("root = \"{root}\""));
        }
        kube.extend(
            status.iter().map(|path| {
                if path.contains("::") { format!("status = \"{path}\"") } else { format!("status = {path}") }
            }),
        );
        let words = [
            "namespaced",
            "served = false",
            "storage = false",
            "deprecated",
            "deprecated = \"use v2\"",
            "shortname = \"kk\"",
            "shortname = \"kk\", shortname = \"kkk\"",
            "category = \"all\"",
            "plural = \"manykinds\"",
            "singular = \"onekind\"",
            "doc = \"Said by kube.\"",
            "label(\"app\", \"x\")",
            "annotation(\"example.com/a\", \"b\"), annotation(\"c\", \"d\")",
            "selectable = \".spec.x\"",
            "printcolumn = r#\"{\"name\":\"Age\",\"type\":\"date\",\"jsonPath\":\".metadata.creationTimestamp\"}\"#",
            "printcolumn(name = \"Ready\", type_ = \"string\", json_path = \".status.ready\", priority = 1)",
            "scale(spec_replicas_path = \".spec.r\", status_replicas_path = \".status.r\", label_selector_path = \".status.s\")",
            "scale = r#\"{\"specReplicasPath\":\".spec.r\",\"statusReplicasPath\":\".status.r\"}\"#",
            "derive = \"PartialOrd\"",
        ];
        // The last is there to be left out: not every spec can be compared.
        for word in &words[..words.len() - 1] {
            let taken = kube.iter().any(|known| known.split([' ', '(']).next() == word.split([' ', '(']).next());
            if self.dice.percent(12) && !taken {
                kube.push((*word).into());
            }
        }
        if self.dice.percent(10) {
            kube.push(format!("validation = {}", self.rule()));
        }
        if self.dice.percent(6) {
            kube.push("no_spec".into());
        }
        let head = format!("#[kube(\n    {},\n)]\n", kube.join(",\n    "));

        let mut types: Vec<Ty> = (0..self.dice.between(1, 4)).map(|_| self.ty(3)).collect();
        for index in 0..self.types.len() {
            if !self.types[index].used {
                self.types[index].used = true;
                let ty = self.of(index, 1);
                types.push(match self.dice.below(8) {
                    0 | 1 => Ty::Foreign("std::option::Option", vec![ty]),
                    2 => Ty::Foreign("std::vec::Vec", vec![ty]),
                    3 => Ty::Foreign("std::collections::BTreeMap", vec![Ty::Scalar("String"), ty]),
                    _ => ty,
                });
            }
        }
        let schema = if self.dice.percent(20) { "KubeSchema" } else { "JsonSchema" };
        self.structure_of(module, &name, types, &format!("CustomResource, {schema}"), &head);
        let below: String = self.modules[module].path.iter().map(|part| format!("{part}::")).collect();
        format!("{below}{root}")
    }

    // Attributes.

    fn field(&mut self, name: &str, ty: &Ty, place: Place) -> String {
        let mut text = self.docs("    ");
        let (mut serde, mut schemars) = (Vec::new(), Vec::new());
        let behind = self.behind(ty).clone();
        if place.flatten && self.can_flatten(&behind) && self.dice.percent(15) {
            return format!("{text}    #[serde(flatten)]\n    pub {name}: {},\n", self.written(ty, place.module));
        }
        let with = self.dice.percent(3);
        if with {
            let ty = self.plain_type(1);
            schemars.push(format!("with = \"{}\"", self.written(&ty, place.module)));
        } else if self.dice.percent(3) {
            let function = self.new_name("schema_");
            let schema = self.hand_schema();
            self.item(
                place.module,
                format!("pub fn {function}(_: &mut schemars::SchemaGenerator) -> schemars::Schema {{\n    schemars::json_schema!({schema})\n}}\n"),
            );
            schemars.push(format!("schema_with = \"{function}\""));
        }
        match self.dice.below(30) {
            0 => serde.push(format!("rename = \"{}\"", name.replace('_', "-"))),
            1 => serde.push(format!("alias = \"other_{name}\"")),
            2 => serde.push(format!("rename(serialize = \"out_{name}\", deserialize = \"in_{name}\")")),
            3 => schemars.push(format!("rename = \"schema_{name}\"")),
            _ => {}
        }
        let mut optional = false;
        if place.defaults && self.has_default(ty) && self.dice.percent(25) {
            optional = true;
            serde.push("default".into());
        } else if place.defaults
            && self.dice.percent(20)
            && let Some(function) = self.default_function(ty, place.module)
        {
            optional = true;
            serde.push(format!("default = \"{function}\""));
        }
        if (optional && self.dice.percent(30) || self.dice.percent(5))
            && let Some(skip) = self.skip(&behind, place.module)
        {
            serde.push(format!("skip_serializing_if = \"{skip}\""));
        }
        match self.dice.below(60) {
            0 if place.defaults && self.has_default(ty) => serde.push("skip".into()),
            1 if place.defaults && self.has_default(ty) => serde.push("skip_deserializing".into()),
            2 => serde.push("skip_serializing".into()),
            3 if place.defaults => schemars.push("skip".into()),
            4 if optional => schemars.push("!default".into()),
            _ => {}
        }
        text += &indented(&self.listed("serde", &serde));
        if self.dice.percent(4) {
            schemars.push("title = \"A field\"".into());
        }
        if self.dice.percent(4) {
            schemars.push("description = concat!(\"joined \", \"words\", 1)".into());
        }
        if self.dice.percent(5) {
            let extension = self.dice.pick(&[
                "extend(\"x-kubernetes-preserve-unknown-fields\" = true)",
                "extend(\"minimum\" = -5, \"maximum\" = 1_000)",
                "extend(\"default\" = { \"a\": [1, 2.5, null] })",
                "extend(\"format\" = \"quantity\")",
            ]);
            schemars.push(extension.into());
        }
        if self.dice.percent(4) {
            let example = self.dice.pick(&[
                "example = 5",
                "example = &\"text\", example = true",
                "example = \"two words\"",
                "example = [1, 2]",
            ]);
            schemars.push(example.into());
        }
        if self.dice.percent(2) {
            text += "    #[deprecated = \"no more\"]\n";
        }
        text += &indented(&self.listed("schemars", &schemars));
        if self.dice.percent(30) {
            text += &indented(&self.validation(&behind, place.module));
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        if place.rules && self.dice.percent(30) {
            text += &format!("    #[x_kube(validation = {})]\n", self.rule());
        } else if place.rules
            && matches!(&behind, Ty::Foreign(path, _) if path.ends_with("Vec"))
            && self.dice.percent(40)
        {
            let strategy = self.dice.pick(&["Atomic", "Set", "Map(vec![\"name\".into(), \"type\".to_string()])"]);
            text += &format!("    #[x_kube(merge_strategy = ListMerge::{strategy})]\n");
        }
        format!("{text}    pub {name}: {},\n", self.written(ty, place.module))
    }

    /// What serde can merge into a struct at run time: something with fields, or a map.
    fn can_flatten(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Declared(index, _) => {
                matches!(self.types[*index].shape, Shape::Struct(_) | Shape::Opaque | Shape::Units(_))
            }
            Ty::Foreign(path, arguments) if path.ends_with("Map") => {
                matches!(arguments[0], Ty::Scalar("String")) && matches!(arguments[1], Ty::Scalar(_))
            }
            Ty::Foreign(path, arguments) if path.ends_with("Option") => self.can_flatten(&arguments[0]),
            Ty::Foreign(path, _) => path.ends_with("Value"),
            _ => false,
        }
    }

    fn skip(&mut self, ty: &Ty, module: usize) -> Option<String> {
        let short = match ty {
            Ty::Scalar("String") => "String::is_empty",
            Ty::Foreign("std::option::Option", _) => "Option::is_none",
            Ty::Foreign("std::vec::Vec", _) => "Vec::is_empty",
            Ty::Foreign("std::collections::BTreeMap", _) => "std::collections::BTreeMap::is_empty",
            Ty::Scalar(integer @ ("i32" | "u16" | "i64")) => {
                let function = self.new_name("is_zero_");
                self.item(module, format!("fn {function}(value: &{integer}) -> bool {{\n    *value == 0\n}}\n"));
                return Some(function);
            }
            Ty::Scalar("bool") => "std::ops::Not::not",
            _ => return None,
        };
        Some(short.into())
    }

    /// A function that returns a value of the type: free, or in another module.
    fn default_function(&mut self, ty: &Ty, module: usize) -> Option<String> {
        let home = if self.dice.percent(70) { module } else { self.any_module() };
        let value = self.value(ty, home, 2)?;
        let function = self.new_name("default_");
        let written = self.written(ty, home);
        let value = if self.dice.percent(5) { format!("return {value};") } else { value };
        self.item(home, format!("pub fn {function}() -> {written} {{\n    {value}\n}}\n"));
        Some(self.local(&function, home, module))
    }

    /// Attributes that schemars applies if they fit the type; mostly they do.
    fn validation(&mut self, ty: &Ty, module: usize) -> String {
        let small = self.dice.between(0, 9);
        let large = self.dice.between(10, 300);
        let inner = match ty {
            Ty::Foreign("std::option::Option", arguments) => self.behind(&arguments[0]).clone(),
            ty => ty.clone(),
        };
        let text = match &inner {
            Ty::Scalar("String") => match self.dice.below(8) {
                0 => "email".into(),
                1 => "url".into(),
                2 => format!("length(equal = {small})"),
                3 => r#"regex(pattern = r"^[a-z]([-a-z0-9]*[a-z0-9])?$")"#.into(),
                4 => r#"pattern(r"^\d+(ms|s|m|h)$")"#.into(),
                5 => r#"contains(pattern = "a.b")"#.into(),
                6 => {
                    let constant = format!("LENGTH_{}", self.number());
                    self.item(module, format!("pub const {constant}: usize = {large} * 2;\n"));
                    format!("length(min = {small}, max = {constant})")
                }
                _ => format!("length(min = {small}, max = {large})"),
            },
            Ty::Scalar("f32" | "f64") => "range(min = 0.5, max = 99.25)".into(),
            Ty::Scalar("bool" | "char") => return String::new(),
            Ty::Scalar(integer) => match self.dice.below(4) {
                0 => format!("range(min = {small})"),
                1 if matches!(*integer, "i32" | "i64") => format!("range(min = -{small}, max = i16::MAX)"),
                _ => format!("range(min = {small}, max = {})", large % 128),
            },
            Ty::Foreign("std::vec::Vec", arguments) => match &arguments[0] {
                Ty::Scalar("String") if self.dice.percent(50) => {
                    format!("length(max = {large}), inner(length(min = {small}), pattern(\"^a\"))")
                }
                _ => format!("length(min = {small}, max = {large})"),
            },
            _ if self.dice.percent(20) => format!("length(min = {small})"),
            _ => return String::new(),
        };
        if self.dice.percent(10) && matches!(ty, Ty::Foreign("std::option::Option", _)) {
            return format!("#[schemars({text}, required)] ");
        }
        format!("#[schemars({text})] ")
    }

    fn schemars_of_container(&mut self) -> String {
        match self.dice.below(24) {
            0 => "#[schemars(title = \"A title\", description = \"Said by schemars.\")]\n".into(),
            1 => "#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]\n".into(),
            2 => format!("#[schemars(rename = \"Renamed{}\")]\n", self.number()),
            3 => "#[allow(clippy::all)]\n#[non_exhaustive]\n".into(),
            4 => "#[cfg_attr(all(), schemars(description = \"Under a condition.\"))]\n".into(),
            _ => String::new(),
        }
    }

    fn rule(&mut self) -> String {
        let rules = [
            "\"self == self\"",
            "(\"self == oldSelf\", \"cannot be changed\")",
            "Rule::new(\"1 < 2\").message(\"never\").reason(Reason::FieldValueForbidden)",
            "Rule::new(\"self == oldSelf\").message(Message::Expression(\"'no: ' + string(1)\".into())).optional_old_self(true)",
            "Rule::new(\"true\").field_path(\".a\")",
        ];
        self.dice.pick(&rules).into()
    }

    fn docs(&mut self, indent: &str) -> String {
        let lines: &[&str] = match self.dice.below(20) {
            0..11 => &[],
            11 => &["/// # A title", "///", "/// And what it means."],
            12 => &["/// Several lines", "/// that belong  together.", "///", "///  - a list", "///  - of two"],
            13 => &["/** A block comment. */"],
            14 => &["#[doc = \"said by an attribute\"]", "/// and a comment"],
            15 => &["// No documentation.", "///"],
            _ => &["/// What this is."],
        };
        lines.iter().map(|line| format!("{indent}{line}\n")).collect()
    }

    fn derives(&mut self) -> &'static str {
        self.dice.pick(&[DERIVES, DERIVES, "Debug, Clone, serde::Deserialize, serde::Serialize"])
    }

    /// In one attribute or in several.
    fn listed(&mut self, attribute: &str, items: &[String]) -> String {
        if items.is_empty() {
            String::new()
        } else if self.dice.percent(15) {
            items.iter().map(|item| format!("#[{attribute}({item})]\n")).collect()
        } else {
            format!("#[{attribute}({})]\n", items.join(", "))
        }
    }

    // Values.

    /// An expression of the type in a module; `None` where there is none that is simple.
    fn value(&mut self, ty: &Ty, module: usize, depth: usize) -> Option<String> {
        if self.dice.percent(12) && self.has_default(ty) {
            return Some("Default::default()".into());
        }
        let text = self.dice.pick(&TEXTS);
        Some(match ty {
            Ty::Scalar("String") => match self.dice.below(6) {
                0 => format!("String::from(\"{text}\")"),
                1 => format!("\"{text}\".to_owned()"),
                2 => format!("\"{text}\".into()"),
                3 if text.is_empty() => "String::new()".into(),
                3 => {
                    let (name, home) = (format!("TEXT_{}", self.number()), self.any_module());
                    self.item(home, format!("pub const {name}: &str = \"{text}\";\n"));
                    format!("{}.to_string()", self.local(&name, home, module))
                }
                _ => format!("\"{text}\".to_string()"),
            },
            Ty::Scalar("bool") => self.dice.pick(&["true", "false", "!false"]).into(),
            Ty::Scalar("char") => self.dice.pick(&["'a'", "'ß'", "'\\n'"]).into(),
            Ty::Scalar("f32" | "f64") => self.dice.pick(&["0.1", "1.0", "-2.5", "1e3", "0.1 + 0.2", "3."]).into(),
            Ty::Scalar("&'static str" | "str") => format!("\"{text}\""),
            Ty::Scalar(integer) => match self.dice.below(9) {
                0 => "0x1f".into(),
                1 => "1 << 4".into(),
                2 => "60 * 2 - 7".into(),
                3 => format!("{integer}::MAX"),
                4 if integer.starts_with('i') => "-5".into(),
                5 => format!("7{integer}"),
                6 => {
                    let (name, home) = (format!("NUMBER_{}", self.number()), self.any_module());
                    let number = self.number() % 100;
                    self.item(home, format!("pub const {name}: {integer} = {number};\n"));
                    self.local(&name, home, module)
                }
                7 if matches!(*integer, "i64" | "u64" | "i32" | "u32") => "10_000".into(),
                _ => self.dice.between(0, 100).to_string(),
            },
            Ty::Foreign("std::option::Option", arguments) => {
                if depth == 0 || self.dice.percent(25) {
                    "None".into()
                } else {
                    format!("Some({})", self.value(&arguments[0], module, depth - 1)?)
                }
            }
            Ty::Foreign("std::vec::Vec", arguments) => match self.dice.below(4) {
                0 => "Vec::new()".into(),
                1 => "vec![]".into(),
                _ if depth == 0 => "vec![]".into(),
                _ => {
                    let values: Option<Vec<String>> =
                        (0..self.dice.between(1, 3)).map(|_| self.value(&arguments[0], module, depth - 1)).collect();
                    format!("vec![{}]", values?.join(", "))
                }
            },
            Ty::Foreign(path, arguments) if path.ends_with("Map") => {
                let name = self.foreign(path, module);
                if depth == 0 || self.dice.percent(50) {
                    format!("{name}::new()")
                } else {
                    let key = self.value(&arguments[0], module, 0)?;
                    format!("{name}::from([({key}, {})])", self.value(&arguments[1], module, depth - 1)?)
                }
            }
            Ty::Foreign(path @ "std::collections::BTreeSet", arguments) => {
                let name = self.foreign(path, module);
                let values: Option<Vec<String>> =
                    (0..self.dice.between(0, 2)).map(|_| self.value(&arguments[0], module, 0)).collect();
                match values?.as_slice() {
                    [] => format!("{name}::new()"),
                    values => format!("{name}::from([{}])", values.join(", ")),
                }
            }
            Ty::Foreign(path @ ("std::boxed::Box" | "std::sync::Arc" | "std::rc::Rc"), arguments) => {
                let name = self.foreign(path, module);
                format!("{name}::new({})", self.value(&arguments[0], module, depth)?)
            }
            Ty::Foreign(path, _) if path.ends_with("::Quantity") => {
                format!("{}(\"1Gi\".into())", self.foreign(path, module))
            }
            Ty::Foreign(path, _) if path.ends_with("::IntOrString") => {
                let name = self.foreign(path, module);
                format!("{name}{}", self.dice.pick(&["::Int(80)", "::String(\"http\".to_string())"]))
            }
            Ty::Foreign("std::path::PathBuf", _) => "\"/etc/hosts\".into()".into(),
            Ty::Foreign(..) | Ty::Parameter => return None,
            Ty::Array(element, length) => {
                let values: Option<Vec<String>> = (0..*length).map(|_| self.value(element, module, depth)).collect();
                format!("[{}]", values?.join(", "))
            }
            Ty::Tuple(types) => {
                let values: Option<Vec<String>> = types.iter().map(|ty| self.value(ty, module, depth)).collect();
                format!("({})", values?.join(", "))
            }
            Ty::Declared(index, _) => {
                let shape = self.types[*index].shape.clone();
                if let Shape::Alias(ty) = &shape {
                    return self.value(ty, module, depth);
                }
                let written = self.written(ty, module);
                match shape {
                    Shape::Units(variants) => {
                        let variant = self.dice.below(variants.len());
                        format!("{written}::{}", variants[variant])
                    }
                    Shape::Newtype(inner) => format!("{written}({})", self.value(&inner, module, depth)?),
                    Shape::Struct(_) if self.types[*index].default && self.dice.percent(50) => {
                        format!("{written}::default()")
                    }
                    Shape::Struct(fields) if depth > 0 => {
                        let (names, types): (Vec<String>, Vec<Ty>) = fields.into_iter().unzip();
                        let given = if self.types[*index].default { self.dice.below(names.len()) } else { names.len() };
                        let literal = self.literal_at(&names[..given], &types[..given], module, depth - 1)?;
                        match (given == names.len(), given) {
                            (true, _) => format!("{written} {{ {literal} }}"),
                            (false, 0) => format!("{written} {{ ..Default::default() }}"),
                            _ => format!("{written} {{ {literal}, ..{written}::default() }}"),
                        }
                    }
                    _ => return None,
                }
            }
        })
    }

    fn literal_at(&mut self, names: &[String], types: &[Ty], module: usize, depth: usize) -> Option<String> {
        let values: Option<Vec<String>> = types.iter().map(|ty| self.value(ty, module, depth)).collect();
        let fields = names.iter().zip(values?).map(|(name, value)| format!("{name}: {value}"));
        Some(fields.collect::<Vec<_>>().join(", "))
    }

    // Files.

    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let text = self.module_text(0, &mut files);
        files.insert(format!("{}.rs", self.name), format!("#![allow(warnings)]\n{text}"));
        files
    }

    /// What stands in a module; its children are in it, or in files of their own.
    fn module_text(&self, module: usize, files: &mut BTreeMap<String, String>) -> String {
        let here = &self.modules[module];
        let mut text = String::from("use kube::{CustomResource, KubeSchema};\nuse schemars::JsonSchema;\n");
        text += "use serde::{Deserialize, Serialize};\n";
        for line in &here.uses {
            text += &format!("{line}\n");
        }
        let children = (0..self.modules.len()).filter(|child| {
            let path = &self.modules[*child].path;
            path.len() == here.path.len() + 1 && path.starts_with(&here.path)
        });
        for child in children {
            let inner = self.module_text(child, files);
            let child = &self.modules[child];
            let name = child.path.last().unwrap();
            // A file below an inline module would be looked for below that module's folder, too.
            if child.own_file && child.path.len() == 1 {
                let file = format!("{}/{}.rs", self.name, name.trim_start_matches("r#"));
                text += &format!("\npub mod {name};\n");
                files.insert(file, inner);
            } else {
                text += &format!("\npub mod {name} {{\n{}}}\n", indented(&inner));
            }
        }
        for item in &here.items {
            text += &format!("\n{item}");
        }
        text
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") }).collect()
}
