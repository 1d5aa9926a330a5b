//! Structs and enums → schemas, as the derives of schemars and kube expand to.
//!
//! Follows `schema_exprs.rs` of schemars_derive 1.2.3 function by function; the helpers that the expansions call are
//! schemars' own. Differences of earlier releases of schemars 1 are in `opctl_model::versions`.

use std::collections::BTreeMap;

use schemars::transform::{RestrictFormats, Transform};
use schemars::{_private as expansion, Schema, json_schema};
use serde_derive_internals::Derive;
use serde_derive_internals::ast::{Data, Field, Style, Variant};
use serde_derive_internals::attr::{Default as SerdeDefault, TagType};
use serde_json::{Map, Value as Json, json};
use syn::{DeriveInput, Expr};

use super::types::Deriver;
use crate::attributes::{self, Bounds, Common, Matches, Problems, SchemaOverride, Validation};
use crate::diagnostics::{OP004, OP013, OP014, OP018};
use crate::evaluate::Evaluator;
use crate::evaluate::context::{Derived, Scope, all};
use crate::evaluate::values::Value;
use crate::known::{Hole, Shape, with_holes};
use crate::resolve::modules::name;
use opctl_model::Enumeration;

/// An incomplete schema: extensions are applied last, after everything else.
struct Draft {
    schema: Schema,
    extensions: Vec<(String, Json)>,
    /// `#[schemars(transform = RestrictFormats::default())]`
    restricts_formats: bool,
}

impl Draft {
    fn new(schema: Schema) -> Self {
        Self { schema, extensions: Vec::new(), restricts_formats: false }
    }

    fn extend(&mut self) {
        for (key, value) in self.extensions.drain(..) {
            self.schema.insert(key, value);
        }
        if std::mem::take(&mut self.restricts_formats) {
            RestrictFormats::default().transform(&mut self.schema);
        }
    }

    fn finish(mut self) -> Schema {
        self.extend();
        self.schema
    }
}

/// State that the fields of one container or variant share.
struct Context<'a> {
    scope: &'a Scope,
    generics: &'a syn::Generics,
    deny_unknown_fields: bool,
}

impl Deriver<'_, '_> {
    /// `#[derive(JsonSchema)]`.
    pub fn container(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<Shape> {
        let mut input = input.clone();
        attributes::merge_into_serde(&mut input, &Problems::default());
        let container = self.cx.parsed(scope, attributes::container(&input, Derive::Deserialize))?;
        let common = Common::read(&input.attrs);

        if common.is_plain()
            && let Some(SchemaOverride::Type(ty)) = &common.with
        {
            return self.shape(ty, scope);
        }
        let transparent = match &container.data {
            Data::Struct(_, fields) if container.attrs.transparent() => {
                fields.iter().find(|field| field.attrs.transparent())
            }
            _ => None,
        };
        if let Some(field) = transparent {
            let field_common = Common::read(&field.original.attrs);
            let validation = Validation::read(&field.original.attrs);
            if common.is_plain() && field_common.is_plain() && field_common.with.is_none() && validation.is_plain() {
                return self.shape(field.ty, scope);
            }
        }

        let mut draft = if let Some(with) = &common.with {
            Draft::new(self.with(with, scope)?.schema)
        } else if let Some(field) = transparent {
            self.field(field, scope, false)?
        } else if let Some(from) = container.attrs.type_from().or(container.attrs.type_try_from()) {
            Draft::new(self.shape(from, scope)?.schema)
        } else {
            let deny_unknown_fields = container.attrs.deny_unknown_fields();
            let context = Context { scope, generics: &input.generics, deny_unknown_fields };
            match &container.data {
                Data::Struct(Style::Unit, _) => Draft::new(unit()),
                Data::Struct(Style::Newtype, fields) => self.field(&fields[0], scope, false)?,
                Data::Struct(Style::Tuple, fields) => Draft::new(self.unnamed_fields(fields, scope)?),
                Data::Struct(Style::Struct, fields) => {
                    let default = match container.attrs.default() {
                        SerdeDefault::None => None,
                        SerdeDefault::Default => Some(self.evaluator().default_fields(&input, scope)?),
                        SerdeDefault::Path(path) => Some(self.evaluator().fields_made_by(path, &input, scope)?),
                    };
                    Draft::new(self.named_fields(fields, &context, default.as_ref())?)
                }
                Data::Enum(variants) => {
                    let schema = self.enumeration(variants, container.attrs.tag(), &context)?;
                    self.state.enums.push(Enumeration {
                        name: name(&input.ident),
                        span: self.cx.span(scope, &input.ident),
                        tag: match container.attrs.tag() {
                            TagType::Internal { tag } | TagType::Adjacent { tag, .. } => Some(tag.clone()),
                            TagType::External | TagType::None => None,
                        },
                        schema: schema.clone().to_value(),
                    });
                    Draft::new(schema)
                }
            }
        };
        self.describe(&mut draft, &common, scope)?;
        Ok(draft.finish().into())
    }

    /// `#[derive(JsonSchema_repr)]`: an enum by its discriminants.
    pub fn repr_enum(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<Shape> {
        let syn::Data::Enum(data) = &input.data else {
            let span = self.cx.span(scope, &input.ident);
            return self.cx.refuse(OP004.error("`JsonSchema_repr` is for enums").at(span, ""));
        };
        let variants = data.variants.iter();
        let values = all(variants.map(|variant| {
            let number = self.evaluator().discriminant(input, &name(&variant.ident), scope)?;
            Ok(json!(i64::try_from(number).unwrap_or(i64::MAX)))
        }))?;
        let mut draft = Draft::new(json_schema!({ "type": "integer", "enum": values }));
        let common = Common::read(&input.attrs);
        self.describe(&mut draft, &common, scope)?;
        Ok(draft.finish().into())
    }

    fn named_fields(
        &mut self,
        fields: &[Field<'_>],
        context: &Context<'_>,
        default: Option<&BTreeMap<String, Value>>,
    ) -> Derived<Schema> {
        let mut schema = json_schema!({ "type": "object" });
        if context.deny_unknown_fields {
            schema.insert("additionalProperties".into(), false.into());
        }
        let members = all(fields
            .iter()
            .filter(|field| !field.attrs.skip_deserializing())
            .map(|field| self.member(field, context, default)));
        for member in members? {
            match member {
                Member::Flattened(part) => expansion::flatten(&mut schema, part),
                Member::Property { name, optional, schema: property } => {
                    expansion::insert_object_property(&mut schema, &name, optional, property);
                }
            }
        }
        Ok(schema)
    }

    fn unnamed_fields(&mut self, fields: &[Field<'_>], scope: &Scope) -> Derived<Schema> {
        let fields = fields.iter().filter(|field| !field.attrs.skip_deserializing());
        let items = all(fields.map(|field| Ok(self.field(field, scope, false)?.finish().to_value())))?;
        let mut schema = json_schema!({ "type": "array", "maxItems": items.len() });
        if !items.is_empty() {
            schema.insert("minItems".into(), items.len().into());
            schema.insert("prefixItems".into(), items.into());
        }
        Ok(schema)
    }

    fn member(
        &mut self,
        field: &Field<'_>,
        context: &Context<'_>,
        default: Option<&BTreeMap<String, Value>>,
    ) -> Derived<Member> {
        let scope = context.scope;
        let (common, validation, shape) = self.read_field(field, scope)?;
        if field.attrs.flatten() {
            self.check_flattened(&shape, validation.required, field, scope)?;
            let flattened = with_holes(vec![shape], |generator| {
                expansion::json_schema_for_flatten::<Hole<0>>(generator, validation.required)
            });
            return Ok(Member::Flattened(flattened));
        }
        let optional_type = shape.optional;
        let mut draft = self.field_of(field, shape, common, &validation, scope, false)?;
        let has_default = default.is_some() || !field.attrs.default().is_none();
        if has_default
            && !field.attrs.skip_serializing()
            && let Some(value) = self.field_default(field, default, context)?
        {
            draft.schema.insert("default".into(), value);
        }
        Ok(Member::Property {
            name: field.attrs.name().deserialize_name().value.clone(),
            optional: has_default || !validation.required && optional_type,
            schema: draft.finish(),
        })
    }

    /// Refuses an enum that an earlier release of schemars flattens differently from serde.
    fn check_flattened(&mut self, shape: &Shape, required: bool, field: &Field<'_>, scope: &Scope) -> Derived<()> {
        let schemars = self.cx.modules.schemars();
        let schema = shape.required_schema();
        let is_text = |schema: &Json| schema["type"] == "string" && schema["enum"].is_array();
        let has_units = is_text(schema.as_value()) || schema.get("oneOf").is_some_and(|variants| is_text(&variants[0]));
        let is_enum = ["oneOf", "anyOf"].iter().any(|key| schema.get(*key).is_some());
        if schemars.flattens_enums() || !(has_units || shape.optional && !required && is_enum) {
            return Ok(());
        }
        let span = self.cx.span(scope, &field.original);
        let message = format!("{schemars} flattens this enum in its own way, which opctl does not know");
        let help =
            "update schemars: `cargo update -p schemars`, or let the compiled types print the CRDs: `--engine cargo`";
        self.cx.refuse(OP018.error(message).at(span, "").help(help))
    }

    /// The value that serde fills in, as JSON; `None` if it is skipped, or its type cannot be serialized.
    fn field_default(
        &mut self,
        field: &Field<'_>,
        default: Option<&BTreeMap<String, Value>>,
        context: &Context<'_>,
    ) -> Derived<Option<Json>> {
        let ty = (field.ty.clone(), context.scope.clone());
        let value = self.evaluator().if_needed(|evaluator| match field.attrs.default() {
            SerdeDefault::None => {
                let key = match &field.member {
                    syn::Member::Named(ident) => name(ident),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                };
                match default.and_then(|fields| fields.get(&key)) {
                    Some(value) => Ok(value.clone()),
                    None => evaluator.cx.not_evident(field.original, context.scope),
                }
            }
            SerdeDefault::Default => evaluator.default_of(field.ty, context.scope),
            SerdeDefault::Path(path) => evaluator.made_by(path, &ty, context.scope),
        });
        let skip = field.attrs.skip_serializing_if();
        if let Some(with) = field.attrs.serialize_with() {
            let value = self.cx.known(value)?;
            if let Some(skip) = skip
                && self.evaluator().skips(skip, &value, &ty)?
            {
                return Ok(None);
            }
            if matches!(value, Value::Option(None)) && self.cx.serializes_none(with, context.scope) {
                return Ok(Some(Json::Null));
            }
            let written = |evaluator: &mut Evaluator<'_, '_>| evaluator.written_by_function(with, value, context.scope);
            if let Value::Json(json) = self.evaluator().if_needed(written) {
                return Ok(Some(json));
            }
            let span = self.cx.span(context.scope, with);
            return self.cx.refuse(
                OP014
                    .error("the default of this field is written by a function of its own: only a compiler can run it")
                    .at(span, "")
                    .help("remove the default, or set the schema's: `#[schemars(!default, extend(\"default\" = …))]`"),
            );
        }
        let json = self.evaluator().default_json(value.clone(), &ty, skip, context.generics, field.original)?;
        // The code of the default runs even if the value is not serialized.
        if matches!(value, Value::Unknown(_)) {
            let makes = match field.attrs.default() {
                SerdeDefault::Path(path) => quote::quote!(#path()),
                SerdeDefault::Default => self.cx.default_function(&ty)?,
                SerdeDefault::None => Default::default(),
            };
            if self.cx.panics.may_panic(makes) {
                self.cx.known(value)?;
            }
        }
        Ok(json)
    }

    fn field(&mut self, field: &Field<'_>, scope: &Scope, tagged_newtype: bool) -> Derived<Draft> {
        let (common, validation, shape) = self.read_field(field, scope)?;
        self.field_of(field, shape, common, &validation, scope, tagged_newtype)
    }

    fn read_field(&mut self, field: &Field<'_>, scope: &Scope) -> Derived<(Common, Validation, Shape)> {
        let common = Common::read(&field.original.attrs);
        let validation = Validation::read(&field.original.attrs);
        let shape = match &common.with {
            Some(with) => self.with(with, scope),
            None => self.shape(field.ty, scope),
        }?;
        Ok((common, validation, shape))
    }

    fn field_of(
        &mut self,
        field: &Field<'_>,
        shape: Shape,
        common: Common,
        validation: &Validation,
        scope: &Scope,
        tagged_newtype: bool,
    ) -> Derived<Draft> {
        let schema = if validation.required {
            shape.required_schema().clone()
        } else if tagged_newtype {
            with_holes(vec![shape], expansion::json_schema_for_internally_tagged_enum_newtype_variant::<Hole<0>>)
        } else {
            shape.schema
        };
        let mut draft = Draft::new(schema);
        self.describe(&mut draft, &common, scope)?;
        self.validate(&mut draft.schema, validation, scope)?;
        if field.attrs.skip_deserializing() {
            draft.schema.insert("readOnly".into(), true.into());
        }
        if field.attrs.skip_serializing() {
            draft.schema.insert("writeOnly".into(), true.into());
        }
        Ok(draft)
    }

    fn enumeration(&mut self, variants: &[Variant<'_>], tag: &TagType, context: &Context<'_>) -> Derived<Schema> {
        if variants.is_empty() {
            return Ok(Schema::from(false));
        }
        let mut unique = !matches!(tag, TagType::None);
        let mut names = Vec::new();
        let mut schemas = Vec::new();
        let mut complex = Vec::new();
        for variant in variants {
            let common = Common::read(&variant.original.attrs);
            let simple = matches!(tag, TagType::External)
                && matches!(variant.style, Style::Unit)
                && common.is_plain()
                && common.with.is_none()
                && !variant.attrs.untagged();
            if simple {
                if !variant.attrs.skip_deserializing() {
                    names.push(Json::from(variant.attrs.name().deserialize_name().value.clone()));
                }
            } else {
                complex.push((variant, common));
            }
        }
        let has_simple = complex.len() < variants.len();
        if has_simple {
            let schema = json_schema!({ "type": "string", "enum": names });
            if complex.is_empty() {
                return Ok(schema);
            }
            schemas.push(schema.to_value());
        }
        unique &= !complex.iter().any(|(variant, _)| variant.attrs.untagged());
        let complex = complex.into_iter().filter(|(variant, _)| !variant.attrs.skip_deserializing());
        let complex = all(complex.map(|(variant, common)| self.variant(variant, &common, tag, context)))?;
        schemas.extend(complex.into_iter().map(Schema::to_value));
        let mut map = Map::new();
        map.insert(if unique { "oneOf" } else { "anyOf" }.into(), schemas.into());
        Ok(Schema::from(map))
    }

    fn variant(
        &mut self,
        variant: &Variant<'_>,
        common: &Common,
        tag: &TagType,
        context: &Context<'_>,
    ) -> Derived<Schema> {
        let name = &variant.attrs.name().deserialize_name().value;
        let bare_unit = matches!(variant.style, Style::Unit) && common.with.is_none();
        let mut draft = match tag {
            TagType::None => self.content(variant, common, context, false)?,
            _ if variant.attrs.untagged() => self.content(variant, common, context, false)?,
            TagType::External if bare_unit => Draft::new(expansion::new_unit_enum_variant(name)),
            TagType::External => {
                let content = self.content(variant, common, context, false)?.finish();
                Draft::new(expansion::new_externally_tagged_enum_variant(name, content))
            }
            TagType::Internal { tag } => {
                let mut draft = match &common.with {
                    Some(with) => Draft::new(self.with(with, context.scope)?.schema),
                    None => self.content(variant, common, context, true)?,
                };
                expansion::apply_internal_enum_variant_tag(&mut draft.schema, tag, name, context.deny_unknown_fields);
                draft
            }
            TagType::Adjacent { tag, content } => {
                let mut schema = json_schema!({
                    "type": "object",
                    "properties": { tag: { "type": "string", "const": name } },
                    "required": [tag],
                });
                if !bare_unit {
                    let inner = self.content(variant, common, context, false)?.finish();
                    let object = schema.ensure_object();
                    object["properties"][content] = inner.to_value();
                    object["required"].as_array_mut().expect("made above").push(content.clone().into());
                }
                if context.deny_unknown_fields {
                    schema.insert("additionalProperties".into(), false.into());
                }
                Draft::new(schema)
            }
        };
        self.describe(&mut draft, common, context.scope)?;
        Ok(draft.finish())
    }

    /// The schema of a variant's content, without its tag.
    fn content(
        &mut self,
        variant: &Variant<'_>,
        common: &Common,
        context: &Context<'_>,
        internal: bool,
    ) -> Derived<Draft> {
        if let Some(with) = &common.with {
            return Ok(Draft::new(self.with(with, context.scope)?.schema));
        }
        match variant.style {
            Style::Unit => Ok(Draft::new(unit())),
            Style::Newtype => self.field(&variant.fields[0], context.scope, internal),
            Style::Tuple => Ok(Draft::new(self.unnamed_fields(&variant.fields, context.scope)?)),
            Style::Struct => Ok(Draft::new(self.named_fields(&variant.fields, context, None)?)),
        }
    }

    /// Adds title, description, deprecation and examples; extensions are applied last.
    fn describe(&mut self, draft: &mut Draft, common: &Common, scope: &Scope) -> Derived<()> {
        let restricts = common.transforms.iter().filter(|transform| self.restricts_formats(transform, scope)).count();
        draft.restricts_formats |= restricts > 0;
        if let Some(transform) = common.transforms.first().filter(|_| restricts < common.transforms.len()) {
            let span = self.cx.span(scope, transform);
            return self.cx.refuse(
                OP013
                    .error("`transform` changes the schema by code that only a compiler can run")
                    .at(span, "")
                    .help("write the change as data: `#[schemars(extend(\"key\" = value))]`"),
            );
        }
        let doc = match &common.doc {
            Some(lines) => {
                let lines = all(lines.iter().map(|line| self.evaluator().text(line, scope)))?;
                Some(lines.join("\n"))
            }
            None => None,
        };
        let (doc_title, doc_description) = doc.as_deref().map_or(("", ""), expansion::get_title_and_description);
        let title = match &common.title {
            Some(title) => self.evaluator().text(title, scope)?,
            None => doc_title.to_string(),
        };
        let description = match &common.description {
            Some(description) => self.evaluator().text(description, scope)?,
            None => doc_description.to_string(),
        };
        expansion::insert_metadata_property_if_nonempty(&mut draft.schema, "title", title);
        expansion::insert_metadata_property_if_nonempty(&mut draft.schema, "description", description);
        if common.deprecated {
            draft.schema.insert("deprecated".into(), true.into());
        }
        if !common.examples.is_empty() {
            let examples = all(common.examples.iter().map(|example| self.evaluator().untyped(example, scope)))?;
            draft.schema.insert("examples".into(), examples.into());
        }
        let extensions = common.extensions.iter();
        let extensions =
            all(extensions.map(|(key, tokens)| Ok((key.clone(), self.evaluator().json(tokens.clone(), scope)?))))?;
        draft.extensions.extend(extensions);
        if !self.cx.modules.schemars().extends_last() {
            draft.extend();
        }
        Ok(())
    }

    /// `true` for schemars' `RestrictFormats::default()`, a transform that removes the formats that JSON Schema does
    /// not define.
    fn restricts_formats(&self, transform: &Expr, scope: &Scope) -> bool {
        let Expr::Call(call) = transform else { return false };
        let Expr::Path(function) = &*call.func else { return false };
        let path = self.cx.foreign(function, scope);
        path == ["schemars", "transform", "RestrictFormats", "default"] && call.args.is_empty()
    }

    fn validate(&mut self, schema: &mut Schema, validation: &Validation, scope: &Scope) -> Derived<()> {
        let mut bounds = |deriver: &mut Self, bounds: Option<&Bounds>, types: &[(&str, &str)]| {
            let Some(bounds) = bounds else { return Ok(()) };
            for (side, bound) in [("min", &bounds.min), ("max", &bounds.max)] {
                let Some(bound) = bound else { continue };
                let value = deriver.evaluator().number(bound, scope)?;
                for (required_type, suffix) in types {
                    expansion::insert_validation_property(
                        schema,
                        required_type,
                        &format!("{side}{suffix}"),
                        value.clone(),
                    );
                }
            }
            Ok(())
        };
        bounds(self, validation.length.as_ref(), &[("string", "Length"), ("array", "Items")])?;
        bounds(self, validation.range.as_ref(), &[("number", "imum")])?;
        match &validation.matches {
            Some(Matches::Pattern(pattern) | Matches::Regex(pattern)) => {
                let pattern = self.evaluator().text(pattern, scope)?;
                expansion::insert_validation_property(schema, "string", "pattern", pattern);
            }
            Some(Matches::Contains(contains)) => {
                expansion::must_contain(schema, &self.evaluator().text(contains, scope)?)
            }
            None => {}
        }
        if let Some(format) = validation.format {
            schema.insert("format".into(), format.in_schema().into());
        }
        if let Some(inner) = &validation.inner
            && let Some(items) = schema.get_mut("items").and_then(|items| <&mut Schema>::try_from(items).ok())
        {
            self.validate(items, inner, scope)?;
        }
        Ok(())
    }
}

enum Member {
    Flattened(Schema),
    Property { name: String, optional: bool, schema: Schema },
}

fn unit() -> Schema {
    json_schema!({ "type": "null" })
}
