//! Compares the manifests and permissions with the source, as `opctl manifests --check` and `opctl check` do.

use super::{Checks, Finding, ManifestSteps, Permissions, Target};
use opctl_edit::plan::Step;
use opctl_model::counted;
use opctl_model::diagnostic::{Diagnostic, ReportedBy};
use opctl_source::grants::diagnostics::OP415;

pub fn examine(target: &Target, checks: &Checks) -> Vec<Finding> {
    let Ok(project) = &target.project else {
        return vec![Finding::skipped("cannot read PROJECT, which has the settings for manifests")];
    };
    let here = target.here();
    let steps = match (checks.manifests)(project.as_ref()) {
        Ok(steps) => steps,
        Err(error) => return vec![Finding::error(error)],
    };
    let is_adopted = |steps: &[Step]| steps.iter().any(|step| step.before.is_some());
    if project.is_none() && steps.as_ref().is_ok_and(|steps| !is_adopted(steps)) {
        let skipped = Finding::skipped("none of the manifests under `config` is opctl's");
        return vec![skipped.help(format!("opctl manifests{here}"))];
    }
    let mut found = check_manifests(&steps, &here);
    if project.is_none() && steps.as_ref().is_err_and(|errors| errors.iter().all(Diagnostic::needs_compiler)) {
        // The section about kinds shows the reason.
        found.clear();
    }
    let permissions = (checks.permissions)(project.as_ref());
    match project.is_none() && !permissions.has_markers {
        true => found.push(without_markers(&permissions, &here)),
        false => found.extend(check_permissions(&permissions.findings, &here)),
    }
    found
}

/// The finding for a crate without markers. Its permissions are in roles, which opctl does not know.
fn without_markers(permissions: &Permissions, here: &str) -> Finding {
    let missing = permissions.findings.iter().filter(|diagnostic| diagnostic.code == OP415).count();
    match missing {
        0 => Finding::ok("the code asks for nothing, and there are no RBAC markers"),
        missing => {
            let what = format!("there are no RBAC markers; the code makes requests in {}", counted(missing, "place"));
            Finding::skipped(what).help(format!("opctl check{here} --role PATH"))
        }
    }
}

fn check_manifests(steps: &ManifestSteps, here: &str) -> Vec<Finding> {
    let steps = match steps {
        Ok(steps) => steps,
        Err(diagnostics) => return vec![check_source(diagnostics, here)],
    };
    let (conflicts, others): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| step.is_conflict());
    let changed: Vec<&Step> = others.into_iter().filter(|step| !step.is_unchanged()).collect();
    let mut found = Vec::new();
    if let Some(what) = differ(&changed, "not as the source makes it", "not as the source makes them") {
        found.push(Finding::error(what).help(format!("opctl manifests{here}")));
    }
    if let Some(what) =
        differ(&conflicts, "not as the source makes it, and yours", "not as the source makes them, and yours")
    {
        found.push(Finding::error(what).help(format!("opctl manifests{here} --diff")));
    }
    if found.is_empty() {
        found.push(Finding::ok("the manifests are those of the source"));
    }
    found
}

/// `2 files are …: a, b`.
fn differ(steps: &[&Step], one: &str, several: &str) -> Option<String> {
    let paths: Vec<String> = steps.iter().take(3).map(|step| format!("`{}`", step.path)).collect();
    let more = if steps.len() > paths.len() { ", …" } else { "" };
    match steps.len() {
        0 => None,
        1 => Some(format!("{} is {one}", paths[0])),
        number => Some(format!("{} are {several}: {}{more}", counted(number, "file"), paths.join(", "))),
    }
}

fn check_source(diagnostics: &[Diagnostic], here: &str) -> Finding {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
    let location = errors.iter().find_map(|error| error.span.as_ref()).map(|(span, _)| span.to_string());
    let finding = match errors.iter().all(|error| error.needs_compiler()) {
        true => Finding::skipped("some kinds need a compiler, which the doctor does not run")
            .help(format!("opctl manifests{here} --check")),
        false => {
            let what = format!("{} in the source, so no manifest can be made", counted(errors.len(), "error"));
            Finding::error(what).help(format!("opctl manifests{here}"))
        }
    };
    Finding { location, ..finding }
}

/// The findings that only `opctl check` reports. Errors of the source are reported elsewhere.
fn check_permissions(diagnostics: &[Diagnostic], here: &str) -> Vec<Finding> {
    let (of_check, of_source): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
        diagnostics.iter().partition(|diagnostic| diagnostic.code.chapter.reported_by() == ReportedBy::Check);
    if of_source.iter().any(|diagnostic| diagnostic.is_error()) {
        return vec![Finding::skipped("permissions cannot be checked while the source has errors")];
    }
    let (missing, others): (Vec<_>, Vec<_>) = of_check.into_iter().partition(|diagnostic| diagnostic.code == OP415);
    let (errors, warnings): (Vec<_>, Vec<_>) = others.into_iter().partition(|diagnostic| diagnostic.is_error());
    let first = |found: &[&Diagnostic]| found.iter().find_map(|it| Some(it.span.as_ref()?.0.to_string()));
    let mut found = Vec::new();
    let mut add = |finding: fn(String) -> Finding, which: &[&Diagnostic], what: String, help: String| {
        if !which.is_empty() {
            found.push(Finding { location: first(which), ..finding(what).help(help) });
        }
    };
    let what = format!("the code asks for what no marker grants, in {}", counted(missing.len(), "place"));
    add(Finding::error, &missing, what, format!("opctl check{here} --fix"));
    let what = format!("{} of `opctl check`", counted(errors.len(), "error"));
    add(Finding::error, &errors, what, format!("opctl check{here}"));
    let what = format!("{} of `opctl check`", counted(warnings.len(), "warning"));
    add(Finding::warning, &warnings, what, format!("opctl check{here}"));
    if found.is_empty() {
        found.push(Finding::ok("the role grants what the code requests"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use opctl_cluster::findings::Severity;
    use opctl_edit::plan::Verdict;
    use opctl_source::diagnostics::{OP001, OP012, OP014, OP022};
    use opctl_source::grants::diagnostics::OP416;

    fn step(path: &str, verdict: Verdict) -> Step {
        Step { path: path.into(), vendored: None, verdict, before: None, after: None }
    }

    fn lines(found: &[Finding]) -> Vec<String> {
        let help = |finding: &Finding| finding.help.first().cloned().unwrap_or_default();
        found.iter().map(|it| format!("{} {} -> {}", it.severity.word(), it.what, help(it))).collect()
    }

    #[test]
    fn counts_the_files_that_would_change() {
        let conflict = Verdict::Conflict { reason: String::new(), help: String::new() };
        let steps = Ok(vec![
            step("a", Verdict::Update),
            step("b", Verdict::Unchanged),
            step("c", Verdict::Create),
            step("d", Verdict::Remove),
            step("e", Verdict::Update),
            step("f", conflict),
        ]);
        assert_eq!(
            lines(&check_manifests(&steps, " --path .")),
            [
                "error 4 files are not as the source makes them: `a`, `c`, `d`, … -> opctl manifests --path .",
                "error `f` is not as the source makes it, and yours -> opctl manifests --path . --diff",
            ]
        );
        let steps = Ok(vec![step("b", Verdict::Unchanged)]);
        assert_eq!(check_manifests(&steps, "")[0].severity, Severity::Ok);
    }

    #[test]
    fn what_only_a_compiler_knows_is_no_error() {
        let unknown = OP014.error("x");
        assert_eq!(check_source(std::slice::from_ref(&unknown), "").severity, Severity::Skipped);
        let finding = check_source(&[unknown, OP012.error("y"), OP022.warning("z")], "");
        assert_eq!(lines(&[finding]), ["error 2 errors in the source, so no manifest can be made -> opctl manifests"]);
    }

    #[test]
    fn missing_markers_are_errors_that_fix_repairs() {
        let found = [OP415.error(""), OP416.warning(""), OP001.warning("")];
        assert_eq!(
            lines(&check_permissions(&found, "")),
            [
                "error the code asks for what no marker grants, in 1 place -> opctl check --fix",
                "warning 1 warning of `opctl check` -> opctl check",
            ]
        );
        let unsound = [OP012.error(""), OP416.warning("")];
        assert_eq!(check_permissions(&unsound, "")[0].severity, Severity::Skipped);
        assert_eq!(check_permissions(&[], "")[0].severity, Severity::Ok);
    }
}
