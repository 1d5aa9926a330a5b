//! Bundles for OpenShift that use APIs which Kubernetes 1.22 removed. Source: `community.go` of operator-framework/api.

use std::sync::Arc;

use serde_json::Value as Json;

use super::super::findings::Findings;
use super::super::folder::Bundle;
use super::super::semver::{self, Version};
use super::removed::uses_removed_in_1_22;
use super::{head, place};
use opctl_model::diagnostic::{SourceFile, Span};

const LABEL: &str = "com.redhat.openshift.versions";
const RULE: &str = "community-openshift";
/// The first OpenShift release based on Kubernetes 1.22.
const FIRST_WITHOUT: Version = Version::new(4, 9, 0);

/// `dockerfile` is that of `--optional-values index-path=…`.
pub fn check(bundle: &Bundle, dockerfile: Option<&Arc<SourceFile>>, findings: &mut Findings) {
    if !uses_removed_in_1_22(bundle) {
        return;
    }
    if let Err((span, problem)) = max_version(bundle) {
        let help =
            "or set the property `olm.maxOpenShiftVersion` to a version before 4.9, in the annotation `olm.properties`";
        findings.error(RULE, &span, problem).help("migrate from the APIs that Kubernetes 1.22 removed").help(help);
    }
    let Some(dockerfile) = dockerfile else {
        let message = format!("the label `{LABEL}` is not checked");
        findings
            .warning_without_place(RULE, message)
            .help("specify the Dockerfile: `--optional-values index-path=bundle.Dockerfile`");
        return;
    };
    if let Err((span, problem)) = label(dockerfile) {
        findings
            .error(RULE, &span, problem)
            .help(format!("limit the bundle to versions before 4.9: `LABEL {LABEL}=v4.6-v4.8`"));
    }
}

type Problem = (Span, String);

fn is_before(text: &str) -> Result<bool, String> {
    semver::parse_tolerant(text).map(|version| version.cmp_precedence(&FIRST_WITHOUT).is_lt())
}

fn max_version(bundle: &Bundle) -> Result<(), Problem> {
    let csv = &bundle.csv().node;
    let Some(annotation) = bundle.csv_annotation("olm.properties") else {
        return Err((
            place(csv, &["metadata", "annotations"]),
            "the bundle is not limited to OpenShift before 4.9".into(),
        ));
    };
    let span = head(annotation);
    let properties: Json = serde_json::from_str(annotation.as_text().unwrap_or_default())
        .map_err(|error| (span.clone(), format!("`olm.properties` is not a JSON array: {error}")))?;
    let of_type = |property: &&Json| property["type"] == "olm.maxOpenShiftVersion";
    let Some(property) = properties.as_array().into_iter().flatten().find(of_type) else {
        return Err((span, "the property `olm.maxOpenShiftVersion` is missing".into()));
    };
    let value = property["value"].as_str().unwrap_or_default();
    match is_before(value) {
        Ok(true) => Ok(()),
        Ok(false) => Err((span, format!("`olm.maxOpenShiftVersion` is {value}, and the APIs were removed in 4.9"))),
        Err(problem) => Err((span, problem)),
    }
}

/// Checks that the last version of the label is before 4.9: `=v4.8` or `v4.6-v4.8`, but not `v4.8`, which has no upper
/// limit.
fn label(dockerfile: &Arc<SourceFile>) -> Result<(), Problem> {
    let text = &dockerfile.text;
    let Some(start) = text.find(LABEL) else {
        return Err((Span { file: Arc::clone(dockerfile), range: 0..0 }, format!("the label `{LABEL}` is missing")));
    };
    let line = text[start..].lines().next().unwrap_or_default();
    let span = Span { file: Arc::clone(dockerfile), range: start..start + line.trim_end().len() };
    let Some((_, value)) = line.split_once('=') else {
        return Err((span, format!("the label `{LABEL}` has no value")));
    };
    let value = value.trim().trim_matches(['"', '\'']);
    let last = match (value.strip_prefix('='), value.split_once('-')) {
        (Some(exact), _) => exact,
        (None, Some((_, last))) => last,
        (None, None) => return Err((span, format!("`{value}` includes OpenShift 4.9 and later"))),
    };
    match is_before(last) {
        Ok(true) => Ok(()),
        Ok(false) => Err((span, format!("`{value}` includes OpenShift 4.9 or later"))),
        Err(problem) => Err((span, problem)),
    }
}
