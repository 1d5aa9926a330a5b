//! [`Api`]s → CustomResourceDefinitions, by the code of schemars, kube-core and k8s-openapi itself.
//!
//! A kind's versions are merged into one CRD as kube's `merge_crds` does. A diagnostic replaces each panic of kube.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, CustomResourceSubresourceScale,
    CustomResourceSubresourceStatus, CustomResourceSubresources, CustomResourceValidation, SelectableField,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::crd::merge_crds;
use serde_json::{Value, json};

use super::panics::explain;
use super::structural::Schemas;
use crate::diagnostics::OP020;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::threads;
use opctl_model::{Api, Scope};

/// The CRDs, one per kind, sorted by name.
pub fn crds(apis: &[Api]) -> Result<Vec<CustomResourceDefinition>, Vec<Diagnostic>> {
    let (crds, problems) = crds_and_problems(apis);
    if problems.is_empty() { Ok(crds) } else { Err(problems.into_iter().map(|problem| problem.diagnostic).collect()) }
}

/// The reason why a kind has no CRD.
pub struct CrdProblem {
    pub group: String,
    pub kind: String,
    pub diagnostic: Diagnostic,
}

/// The CRDs of the kinds without a problem, sorted by name, and the problems of all others.
pub fn crds_and_problems(apis: &[Api]) -> (Vec<CustomResourceDefinition>, Vec<CrdProblem>) {
    let mut kinds: BTreeMap<String, Vec<&Api>> = BTreeMap::new();
    for api in apis {
        kinds.entry(format!("{}.{}", api.plural, api.group)).or_default().push(api);
    }
    let kinds: Vec<Vec<&Api>> = kinds.into_values().collect();
    let (mut crds, mut problems) = (Vec::new(), two_plurals(apis));
    let merged = threads::map_with(&kinds, Schemas::default, |schemas, apis| merged(apis.clone(), schemas));
    for (apis, result) in kinds.iter().zip(merged) {
        match result {
            Ok(crd) => crds.push(crd),
            Err(found) => problems.extend(found.into_iter().map(|diagnostic| problem(apis[0], diagnostic))),
        }
    }
    crds.retain(|crd| {
        !problems.iter().any(|problem| (&problem.group, &problem.kind) == (&crd.spec.group, &crd.spec.names.kind))
    });
    (crds, problems)
}

fn problem(api: &Api, diagnostic: Diagnostic) -> CrdProblem {
    CrdProblem { group: api.group.clone(), kind: api.kind.clone(), diagnostic }
}

/// A kind with two plurals would be two CRDs, and the API server accepts the names of only one of them.
fn two_plurals(apis: &[Api]) -> Vec<CrdProblem> {
    let mut first: BTreeMap<(&str, &str), &Api> = BTreeMap::new();
    let mut problems = Vec::new();
    for api in apis {
        let known = first.entry((&api.group, &api.kind)).or_insert(api);
        if known.plural != api.plural {
            let message = format!("`{}` has two plurals: `{}` and `{}`", api.kind, known.plural, api.plural);
            let error = OP020
                .error(message)
                .at(api.span.clone(), format!("the other version is at {}", known.span))
                .help("give all versions of a kind the same `plural`");
            problems.push(problem(api, error));
        }
    }
    problems
}

/// Merges generated CRDs of single versions into one CRD per kind by the same rule, sorted by name.
pub fn merge(crds: Vec<CustomResourceDefinition>) -> Result<Vec<CustomResourceDefinition>, Vec<Diagnostic>> {
    let mut kinds: BTreeMap<String, Vec<CustomResourceDefinition>> = BTreeMap::new();
    for crd in crds {
        kinds.entry(crd.metadata.name.clone().unwrap_or_default()).or_default().push(crd);
    }
    let (mut crds, mut problems) = (Vec::new(), Vec::new());
    for (name, mut versions) in kinds {
        versions
            .sort_by_cached_key(|crd| crd.spec.versions.first().map(|v| kube_core::Version::parse(&v.name).priority()));
        let stored = versions.iter().flat_map(|crd| &crd.spec.versions).find(|version| version.storage);
        let stored = stored.map(|version| version.name.clone()).unwrap_or_default();
        let merged = if versions.len() == 1 { Ok(versions.remove(0)) } else { merge_crds(versions, &stored) };
        match merged {
            Ok(crd) => crds.push(crd),
            Err(error) => problems.push(OP020.error(format!("the versions of `{name}` do not fit together: {error}"))),
        }
    }
    if problems.is_empty() { Ok(crds) } else { Err(problems) }
}

/// Merges the versions of one kind, least mature first, into one CRD. The storage version is the first one without
/// `storage = false`, so a new, more mature version never changes the storage version by itself.
fn merged(mut apis: Vec<&Api>, schemas: &mut Schemas) -> Result<CustomResourceDefinition, Vec<Diagnostic>> {
    if let Some(other) = apis.iter().find(|api| api.kind != apis[0].kind) {
        let message =
            format!("the kinds `{}` and `{}` have the same plural: `{}`", apis[0].kind, other.kind, other.plural);
        return Err(vec![
            OP020
                .error(message)
                .at(other.span.clone(), format!("the other kind is at {}", apis[0].span))
                .help("choose another plural for one of them with `plural = \"…\"`: a CRD has the name of its plural"),
        ]);
    }
    apis.sort_by_cached_key(|api| kube_core::Version::parse(&api.version).priority());
    if let Some(pair) = apis.windows(2).find(|pair| pair[0].version == pair[1].version) {
        let message =
            format!("`{}` `{}` is declared twice; the other is at {}", pair[1].kind, pair[1].version, pair[0].span);
        return Err(vec![
            OP020.error(message).at(pair[1].span.clone(), "").help("remove one, or change its version or plural"),
        ]);
    }
    let mut list = Vec::new();
    let mut problems = Vec::new();
    for api in &apis {
        match crd(api, schemas) {
            Ok(crd) => list.push(crd),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    if list.len() == 1 {
        return Ok(list.remove(0));
    }
    let stored = apis.iter().find(|api| api.storage).ok_or_else(|| {
        let message = format!("no version of `{}` is stored: all of them have `storage = false`", apis[0].kind);
        vec![OP020.error(message).at(apis[0].span.clone(), "").help("remove it from the version that etcd should hold")]
    })?;
    merge_crds(list, &stored.version).map_err(|error| {
        let last = apis.last().expect("there are two");
        let message = format!("the versions of `{}` do not fit together: {error}", last.kind);
        vec![OP020.error(message).at(last.span.clone(), format!("the stored version is at {}", stored.span))]
    })
}

/// Equals `CustomResourceExt::crd()` for one version. Source: kube-derive, `custom_resource/mod.rs`.
fn crd(api: &Api, schemas: &mut Schemas) -> Result<CustomResourceDefinition, Diagnostic> {
    let schema = match &api.schema {
        Some(raw) => Some(schemas.structural(raw, api.kube).map_err(|reason| explain(api, raw, &reason))?),
        None => None,
    };
    let is_written = |is_empty: bool| !is_empty || !api.kube.leaves_out_empty();
    let list = |list: &[String]| is_written(list.is_empty()).then(|| list.to_vec());
    let map = |map: &BTreeMap<String, String>| (!map.is_empty()).then(|| map.clone());
    let column = |column: &Value| CustomResourceColumnDefinition {
        description: text(column, "description"),
        format: text(column, "format"),
        json_path: text(column, "jsonPath").unwrap_or_default(),
        name: text(column, "name").unwrap_or_default(),
        priority: column["priority"].as_i64().and_then(|priority| priority.try_into().ok()),
        type_: text(column, "type").unwrap_or_default(),
    };
    let scale = |scale: &Value| CustomResourceSubresourceScale {
        label_selector_path: text(scale, "labelSelectorPath"),
        spec_replicas_path: text(scale, "specReplicasPath").unwrap_or_default(),
        status_replicas_path: text(scale, "statusReplicasPath").unwrap_or_default(),
    };
    let selectable = api.selectable_fields.iter().map(|path| SelectableField { json_path: path.clone() });
    Ok(CustomResourceDefinition {
        metadata: ObjectMeta {
            annotations: map(&api.annotations),
            labels: map(&api.labels),
            name: Some(format!("{}.{}", api.plural, api.group)),
            ..ObjectMeta::default()
        },
        spec: CustomResourceDefinitionSpec {
            group: api.group.clone(),
            names: CustomResourceDefinitionNames {
                categories: list(&api.categories),
                kind: api.kind.clone(),
                plural: api.plural.clone(),
                short_names: list(&api.short_names),
                singular: Some(api.singular.clone()),
                ..CustomResourceDefinitionNames::default()
            },
            scope: match api.scope {
                Scope::Namespaced => "Namespaced",
                Scope::Cluster => "Cluster",
            }
            .into(),
            versions: vec![CustomResourceDefinitionVersion {
                additional_printer_columns: is_written(api.columns.is_empty())
                    .then(|| api.columns.iter().map(column).collect()),
                deprecated: api.deprecated.as_ref().map(|_| true),
                deprecation_warning: api.deprecated.clone().flatten(),
                name: api.version.clone(),
                schema: Some(CustomResourceValidation { open_api_v3_schema: schema }),
                selectable_fields: (!api.selectable_fields.is_empty()).then(|| selectable.collect()),
                served: api.served,
                storage: api.storage,
                // kube-derive drops `scale` if there is no status.
                subresources: is_written(!api.status_subresource).then(|| match api.status_subresource {
                    true => CustomResourceSubresources {
                        scale: api.scale.as_ref().map(scale),
                        status: Some(CustomResourceSubresourceStatus(json!({}))),
                    },
                    false => CustomResourceSubresources::default(),
                }),
            }],
            ..CustomResourceDefinitionSpec::default()
        },
        ..CustomResourceDefinition::default()
    })
}

fn text(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().map(String::from)
}
