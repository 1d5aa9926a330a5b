//! The declarations of a kind: structs, enums, newtypes, generics, aliases, manual schemas, and the custom resource.

use super::attributes::{DERIVES, FieldContext, RULES};
use super::indented;
use super::world::{Shape, Ty, World};

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

impl World {
    pub fn any_type(&mut self) {
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

    pub fn new_name(&mut self, what: &str) -> String {
        format!("{what}{}", self.number())
    }

    pub fn structure(&mut self, module: usize, derive: &str) {
        let name = self.new_name("Struct");
        let count = self.dice.between(1, 6);
        let types: Vec<Ty> = (0..count).map(|_| self.ty(2)).collect();
        self.structure_of(module, &name, types, derive, "");
    }

    /// A struct with named fields; `head` has more attributes.
    pub fn structure_of(&mut self, module: usize, name: &str, types: Vec<Ty>, derive: &str, head: &str) {
        let kube_schema = derive.contains("KubeSchema");
        let all_default = types.iter().all(|ty| self.has_default(ty));
        let names: Vec<String> = (0..types.len()).map(|_| self.field_name()).collect();
        let derives_default = all_default && self.dice.percent(60);
        // A struct literal with all fields.
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

        let context = FieldContext { module, defaults: true, flatten: !deny && !container_default, rules: kube_schema };
        text += &format!("pub struct {name} {{\n");
        for (field, ty) in names.iter().zip(&types) {
            text += &self.field(field, ty, context);
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

    /// A struct literal with all fields: `{ a: 1, b: … }`.
    pub fn literal(&mut self, names: &[String], types: &[Ty], module: usize) -> Option<String> {
        let values: Option<Vec<String>> = types.iter().map(|ty| self.value(ty, module, 2)).collect();
        let fields = names.iter().zip(values?).map(|(name, value)| format!("{name}: {value}"));
        Some(format!("{{ {} }}", fields.collect::<Vec<_>>().join(", ")))
    }

    pub fn field_name(&mut self) -> String {
        let word = self.dice.pick(&WORDS);
        let joined = matches!(word, "match" | "type" | "ref") && self.dice.percent(60);
        let number = self.number();
        // Names with and without an underscore before digits are renamed differently.
        if joined && !number.is_multiple_of(2) { format!("{word}{number}") } else { format!("{word}_{number}") }
    }

    pub fn units(&mut self, module: usize) {
        self.unit_enum(module, 0);
    }

    pub fn units_with_docs(&mut self, module: usize) {
        self.unit_enum(module, 60);
    }

    /// An enum without data; `documented` is the percentage of documented variants.
    pub fn unit_enum(&mut self, module: usize, documented: u64) {
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

    pub fn variant_name(&mut self) -> String {
        let word = self.dice.pick(&["Always", "OnFailure", "HTTPRoute", "Aws", "S3", "LeastConn", "Never", "V1Beta1"]);
        format!("{word}{}", self.number())
    }

    pub fn data_enum(&mut self, module: usize) {
        let name = self.new_name("Choice");
        let mut count = self.dice.between(1, 4);
        let tag = self.number();
        // Enums that kube supports: untagged ones, and those whose variants have their own keys. kube panics for
        // several tagged variants, or some without data.
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
        let context = FieldContext { module, defaults: false, flatten: false, rules: false };
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
                    text += &indented(&self.field(&field, &ty, context).replace("pub ", ""));
                }
                text += "    },\n";
            }
        }
        text += "}\n";
        self.item(module, text);
        self.declare(name, module, Shape::Opaque, false);
    }

    /// The content of a variant with one unnamed field; `with_fields` for an internal tag.
    pub fn newtype_content(&mut self, with_fields: bool) -> Ty {
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

    pub fn newtype(&mut self, module: usize) {
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
                    "\nimpl From<{written_from}> for {name} {{\n    fn from(_: {written_from}) -> Self {{\n        unreachable!(\"only its schema is asked for\")\n    }}\n}}\n"
                );
            }
            3 => {
                text += &format!("#[serde(try_from = \"{written_from}\")]\n");
                conversions = format!(
                    "\nimpl TryFrom<{written_from}> for {name} {{\n    type Error = String;\n    fn try_from(_: {written_from}) -> Result<Self, String> {{\n        unreachable!(\"only its schema is asked for\")\n    }}\n}}\n"
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

    pub fn generic(&mut self, module: usize) {
        let name = self.new_name("Generic");
        let mut text = self.docs("");
        text += &format!("#[derive({DERIVES}, JsonSchema)]\n");
        if self.dice.percent(60) {
            text += "#[serde(rename_all = \"camelCase\")]\n";
        }
        let default = self.dice.pick(&["", "", " = String"]);
        let context = FieldContext { module, defaults: false, flatten: false, rules: false };
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
            text += &self.field(&field, &ty, context);
        }
        text += "}\n";
        self.item(module, text);
        self.declare(name, module, Shape::Generic, false);
    }

    pub fn alias(&mut self, module: usize) {
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

    /// A type with a manual schema.
    pub fn by_hand(&mut self, module: usize) {
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

    pub fn hand_schema(&mut self) -> &'static str {
        self.dice.pick(&[
            "{ \"type\": \"object\", \"x-kubernetes-preserve-unknown-fields\": true }",
            "{ \"x-kubernetes-int-or-string\": true, \"anyOf\": [{ \"type\": \"integer\" }, { \"type\": \"string\" }] }",
            "{ \"type\": \"string\", \"pattern\": \"^[a-z]+$\", \"maxLength\": 63 }",
            "{ \"type\": [\"string\", \"null\"], \"format\": \"duration\" }",
            "{ \"type\": \"object\", \"properties\": { \"a\": { \"type\": \"integer\", \"minimum\": 0 } }, \"required\": [\"a\"] }",
        ])
    }

    /// The custom resource, with all unused types as fields. Returns the path of the type that kube generates.
    pub fn spec(&mut self) -> String {
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
        // The last one is never used, since not every spec can be compared.
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
}
