//! A kind by the crate's own versions of schemars and k8s-openapi.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionNames, CustomResourceDefinitionSpec,
    CustomResourceDefinitionVersion, CustomResourceValidation,
};
use schemars::JsonSchema;
use serde_json::{Value, json};

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Thing {
    spec: Spec,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Spec {
    size: i32,
}

/// As CRDs have it: without references.
pub fn schema() -> Value {
    let settings = schemars::generate::SchemaSettings::openapi3().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Thing>().to_value();
    schema.as_object_mut().unwrap().retain(|key, _| key != "$schema" && key != "title");
    schema["x-kubernetes-validations"] = json!([{"rule": "self.spec.size < 10"}]);
    schema
}

pub fn crd() -> CustomResourceDefinition {
    let names = CustomResourceDefinitionNames { kind: "Thing".into(), plural: "things".into(), ..Default::default() };
    let version = CustomResourceDefinitionVersion {
        name: "v1".into(),
        served: true,
        storage: true,
        schema: Some(CustomResourceValidation {
            open_api_v3_schema: Some(serde_json::from_value(schema()).unwrap()),
        }),
        ..Default::default()
    };
    let mut crd = CustomResourceDefinition {
        spec: CustomResourceDefinitionSpec {
            group: "example.com".into(),
            names,
            scope: "Namespaced".into(),
            versions: vec![version],
            ..Default::default()
        },
        ..Default::default()
    };
    crd.metadata.name = Some("things.example.com".into());
    crd
}
