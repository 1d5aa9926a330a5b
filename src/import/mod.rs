//! Plans the conversion of operator-sdk projects: a request for each watched kind, and the new project.
//!
//! [`opctl_charts::operator_sdk`] reads the other project. Problems are diagnostics with positions in its files, all
//! reported at once.

pub mod ansible;
pub mod helm;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::api::{self, Request};
use crate::error::{SourceErrors, UserError, UserErrors};
use crate::scaffold::api_of_resource;
use opctl_charts::operator_sdk::diagnostics::{OP482, OP483};
use opctl_charts::operator_sdk::{Crd, Existing, Gvk, Project, environment};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::names::{Domain, ProjectName};
use opctl_model::project::{Options, ProjectFile, Resource};
use opctl_model::yaml;

/// The new PROJECT, with the name of the other project and a domain that is a suffix of all groups.
///
/// # Errors
///
/// If there is no such domain, or the name is invalid. The error contains all problems in `found`.
pub fn new_project(source: &Project, kinds: &[&Gvk], found: &mut Vec<Diagnostic>) -> anyhow::Result<ProjectFile> {
    let names = source.names.clone().unwrap_or_default();
    let kinds: Vec<&&Gvk> = kinds.iter().filter(|gvk| gvk.builtin().is_none()).collect();
    let groups: BTreeSet<&str> = kinds.iter().map(|gvk| gvk.group.as_str()).collect();
    let is_below = |domain: &str| groups.iter().all(|group| label(group, domain).is_some());
    let parents = groups.first().into_iter().flat_map(|group| group.match_indices('.').map(|(at, _)| &group[at + 1..]));
    let domain = std::iter::once(names.domain.as_str()).chain(parents).find(|domain| is_below(domain));
    if let (None, Some(gvk)) = (domain, kinds.first()) {
        let message = "the groups of the watches have no domain in common";
        let help = "create a project for each domain with `opctl init`, and import the watches of each group there";
        found.push(OP482.error(message).at(gvk.group_span.clone(), "").help(help));
    }
    if found.iter().any(Diagnostic::is_error) {
        return Err(SourceErrors::from(std::mem::take(found)).into());
    }
    let mut refusals = UserErrors::default();
    let name = project_name(source, &names.project_name, found);
    let name = refusals.check(ProjectName::parse(&name).map_err(|error| {
        UserError::from(error)
            .help("correct `projectName` in PROJECT, or run `opctl init` first, and import in the new project")
    }));
    let domain = refusals.check(Domain::parse(domain.unwrap_or("example.com")));
    match (name, domain) {
        (Some(name), Some(domain)) => Ok(ProjectFile::new(name, domain)),
        _ => Err(refusals.into()),
    }
}

/// The name in the other PROJECT, or else the name of the folder; if it is too long, its last words.
fn project_name(source: &Project, name: &str, found: &mut Vec<Diagnostic>) -> String {
    let mut warn = |message: String| found.push(OP483.warning(message).help(OTHER_NAME));
    let folder = source.dir.canonicalize().unwrap_or_else(|_| source.dir.clone());
    let folder = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let folder = folder.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let is_template = name.contains('$');
    let name = if name.is_empty() || is_template { folder } else { name.to_owned() };
    if name.len() > ProjectName::MAX
        && let Some(short) = shortened(&name)
    {
        warn(format!("`{name}` is longer than {} characters, so the project is called `{short}`", ProjectName::MAX));
        return short;
    }
    if is_template {
        warn(format!("`projectName` in PROJECT is filled in by a build, so the project is called `{name}`"));
    }
    name
}

const OTHER_NAME: &str = "for another name, run `opctl init NAME` first, and import in that project";

/// The last words of a name that are short enough together: `acme-acme-ansible-operator` → `acme-ansible-operator`.
fn shortened(name: &str) -> Option<String> {
    let ends = name.match_indices('-').map(|(at, _)| &name[at + 1..]);
    ends.filter(|end| ProjectName::parse(end).is_ok()).map(str::to_owned).next()
}

/// The part of a group before the domain.
fn label<'a>(group: &'a str, domain: &str) -> Option<&'a str> {
    group.strip_suffix(domain)?.strip_suffix('.').filter(|label| !label.is_empty())
}

/// Adds the environment variables of the other project to the first request. Returns their names.
fn add_environment(source: &Project, requests: &mut [Request], found: &mut Vec<Diagnostic>) -> Vec<String> {
    let variables = environment::variables(source, found);
    let names = variables.iter().filter_map(|it| it["name"].as_str()).map(str::to_owned).collect();
    let Some(first) = requests.first_mut().filter(|_| !variables.is_empty()) else { return names };
    let patch = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "controller-manager", "namespace": "system" },
        "spec": { "template": { "spec": { "containers": [{ "name": "manager", "env": variables }] } } },
    });
    first.environment = Some(yaml::document(&patch));
    names
}

/// The request for a kind. If it is invalid, adds the errors to `found`.
fn request(gvk: &Gvk, crd: Option<&Crd>, file: &ProjectFile, found: &mut Vec<Diagnostic>) -> Option<Request> {
    let request = arguments(gvk, crd, file).and_then(|args| Request::new(&args, file));
    let wrong =
        |UserErrors(refusals): UserErrors| found.extend(refusals.into_iter().map(|refusal| at(&gvk.span, refusal)));
    request.map_err(wrong).ok()
}

/// A version that no watch names: the API server serves it or has objects of it.
struct OtherVersion {
    /// Adds the type. The controller of the watched version serves all versions.
    request: Request,
    existing: Existing,
    samples: Vec<(String, String)>,
}

/// The other versions of a watched kind.
fn other_versions(
    source: &Project,
    watched: &Gvk,
    crd: &Crd,
    file: &ProjectFile,
    found: &mut Vec<Diagnostic>,
) -> Vec<OtherVersion> {
    let mut others = Vec::new();
    for (version, existing) in &crd.others {
        let gvk = Gvk { version: version.clone(), ..watched.clone() };
        let args = arguments(&gvk, Some(crd), file).map(|args| api::Args { controller: Some(false), ..args });
        let request = args.and_then(|args| Request::new(&args, file));
        match request {
            Ok(mut request) => {
                request.resource.options.served = existing.is_unserved.then_some(false);
                let samples = match existing.is_unserved {
                    true => Vec::new(),
                    false => samples(source, &gvk, &request.resource, found).0,
                };
                others.push(OtherVersion { request, existing: existing.clone(), samples });
            }
            Err(UserErrors(refusals)) => found.extend(refusals.into_iter().map(|refusal| at(&gvk.span, refusal))),
        }
    }
    others
}

/// The samples of a kind, one of which gets the name of opctl's sample, and the spec of the first one.
fn samples(
    source: &Project,
    gvk: &Gvk,
    resource: &Resource,
    found: &mut Vec<Diagnostic>,
) -> (Vec<(String, String)>, Value) {
    let (mut samples, spec) = source.samples(gvk, found);
    let usual = api_of_resource(resource).sample();
    if samples.iter().all(|(name, _)| *name != usual)
        && let Some((name, _)) = samples.first_mut()
    {
        *name = usual;
    }
    (samples, spec)
}

fn at(span: &Span, refusal: UserError) -> Diagnostic {
    let diagnostic = OP482.error(refusal.message).at(span.clone(), "");
    refusal.help.into_iter().fold(diagnostic, Diagnostic::help)
}

/// The arguments of `opctl create api` for a kind.
fn arguments(gvk: &Gvk, crd: Option<&Crd>, file: &ProjectFile) -> Result<api::Args, UserErrors> {
    if let Some(builtin) = gvk.builtin() {
        return Ok(api::Args {
            group: Some(builtin.group().to_owned()),
            version: Some(gvk.version.clone()),
            kind: Some(gvk.kind.clone()),
            resource: Some(false),
            controller: Some(true),
            ..api::Args::default()
        });
    }
    let Some(group) = label(&gvk.group, file.domain.as_str()) else {
        let message = format!("the group `{}` does not end in the project's domain, `{}`", gvk.group, file.domain);
        let refusal = UserError::new(message).help("import it as a separate project, in an empty folder");
        return Err(UserErrors(vec![refusal]));
    };
    let (plural, short_names, categories) = match crd {
        Some(crd) => (crd.plural.clone(), crd.short_names.clone(), crd.categories.clone()),
        None => Default::default(),
    };
    Ok(api::Args {
        group: Some(group.to_owned()),
        version: Some(gvk.version.clone()),
        kind: Some(gvk.kind.clone()),
        plural,
        namespaced: crd.is_some_and(|crd| !crd.is_namespaced).then_some(false),
        resource: Some(true),
        controller: Some(true),
        options: Options { short_names, categories, ..Options::default() },
        ..api::Args::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_last_words() {
        for (name, expected) in [
            ("acme-acme-ansible-operator-for-web", Some("ansible-operator-for-web")),
            ("acme-1st-operator-of-the-company", Some("operator-of-the-company")),
            ("averyveryverylongnamewithoutwords", None),
        ] {
            assert_eq!(shortened(name).as_deref(), expected, "{name}");
        }
    }
}
