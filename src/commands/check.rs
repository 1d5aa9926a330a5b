//! `opctl check`: compares the requests of the code to the API server with the permissions that the markers grant, and
//! adds missing ones.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;

use super::allow::without_allowed;
use super::features::FeatureArgs;
use super::manifests::{self, ManifestOptions, crate_for};
use super::message_format::MessageArgs;
use super::{Console, Outcome, Task, carry_out, console::Verbosity, counted, lock_all, recover};
use crate::api::ansible;
use crate::api::chart::{self, Stale};
use crate::custom_objects;
use crate::doctor::Permissions;
use crate::roles::{self, Fix, Roles};
use opctl_edit::plan::Plan;
use opctl_edit::{self as edit, Edit, Function};
use opctl_kustomize::config;
use opctl_kustomize::yaml::Node;
use opctl_model::diagnostic::{Diagnostic, ReportedBy, Span};
use opctl_model::project::{ProjectError, ProjectFile, Tree};
use opctl_model::threads;
use opctl_model::{Allow, Operator, RbacRule, Scope};
use opctl_schema::apiserver::check_decoding;
use opctl_source::diagnostics::OP049;
use opctl_source::emit::{self, CustomResourceDefinition};
use opctl_source::grants::diagnostics::{OP415, OP417};
use opctl_source::grants::{self, Decision, Grantor, Home, Missing};
use opctl_source::{self as source, Source};

/// Check that the RBAC markers grant what the code requests from the API server
///
/// The source is parsed, not compiled. A missing permission is an error, an unused one a warning; -v lists each request with
/// the marker or rule that grants it. Nothing is written without --fix. To check that the manifests match the source, run
/// `opctl manifests --check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # In a project or any folder below it
  opctl check

  # Add missing markers and regenerate config/rbac
  opctl check --fix

  # Show these changes without writing them
  opctl check --fix --diff

  # In CI: also fail on unused permissions
  opctl check --deny-warnings

  # In any kube-rs crate: compare the code with the roles that are deployed
  opctl check --role charts/operator

  # Add the missing permissions to these roles
  opctl check --role charts/operator --fix

  # For a review: list every request with the marker that grants it
  opctl check -v")]
pub struct CheckArgs {
    /// The folder of a crate [default: the project around the current folder]
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,

    /// Add missing markers next to the code that needs them, and regenerate config/rbac; with --role, add the missing
    /// permissions to the roles
    ///
    /// Permissions are never removed. In a Helm chart, a role is edited where its rules are literal text, and only if
    /// helm then renders the same except for the new permissions.
    #[arg(long)]
    pub fix: bool,

    /// Compare the code with the roles in a file, folder, kustomization or Helm chart, instead of the markers
    ///
    /// Works in any kube-rs crate. Only roles that are bound to a service account are used; if there are none, all
    /// roles are used. A Helm chart is rendered with its default values or those of --helm-values, which needs helm 4.
    #[arg(long, value_name = "PATH")]
    pub role: Option<PathBuf>,

    /// With --role: a file with values for the Helm charts, if they do not render with their default values (repeatable)
    #[arg(long, value_name = "FILE", requires = "role")]
    pub helm_values: Vec<PathBuf>,

    /// With --role: the service account of the operator, if several have roles (repeatable)
    #[arg(long, value_name = "NAME", requires = "role")]
    pub service_account: Vec<String>,

    /// Treat warnings as errors
    #[arg(long)]
    pub deny_warnings: bool,

    #[command(flatten)]
    pub features: FeatureArgs,

    #[command(flatten)]
    pub messages: MessageArgs,
}

pub fn run(args: &CheckArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = crate_for(args.path.as_deref(), args.role.is_some(), "check")?;
    recover(&root, console)?;
    args.messages.run(&root, console, |console| run_in(args, &root, console))
}

fn run_in(args: &CheckArgs, root: &Path, console: &Console) -> anyhow::Result<Outcome> {
    let role_root = args.role.as_deref().map(|path| root_of(path, root));
    let _locks = match args.fix {
        true => lock_all([Some(root), role_root.as_deref()].into_iter().flatten(), console)?,
        false => Vec::new(),
    };
    let tree = super::tree(root).with_features(args.features.chosen());
    let project = match ProjectFile::read(&tree) {
        Ok(project) => Some(project),
        Err(ProjectError::Missing(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let roles =
        args.role.as_deref().map(|path| roles::read(path, &args.service_account, &args.helm_values)).transpose()?;
    let examined = Examined::of(&tree, project.as_ref(), roles.as_ref());
    let Examined { source: Source { operator, .. }, home, functions, .. } = &examined;
    let checked = examined.checked();
    let missing = examined.missing();
    let mut found = examined.diagnostics(project.as_ref(), &missing);
    let mut stale =
        project.as_ref().map(|project| chart::stale(&tree, project, &console.reporter())).unwrap_or_default();
    stale.extend(project.iter().flat_map(|project| ansible::stale(&tree, project)));

    let mut plan = Plan::default();
    for Stale { diagnostic, fixed, notes } in stale {
        match fixed.filter(|_| args.fix && roles.is_none()) {
            Some((path, text)) => {
                console.diagnose(&notes);
                plan.generate(path, text);
            }
            None => found.push(diagnostic),
        }
    }
    // Missing permissions that the user allowed are not added.
    let missing: Vec<&(Diagnostic, Missing)> = missing.iter().filter(|(error, _)| found.contains(error)).collect();
    match (&roles, &role_root) {
        (Some(roles), Some(root)) if args.fix => {
            fix_roles(roles, &missing, home, root, &mut plan, &mut found).iter().for_each(|note| console.note(note));
        }
        _ if args.fix => {
            for (error, missing) in missing {
                if let Some(edit) = fix(missing, &operator.rbac, functions) {
                    plan.edit(missing.first().span.file.path.clone(), edit);
                    found.retain(|diagnostic| diagnostic != error);
                }
            }
        }
        _ if has_no_markers(operator) => found = without_markers(found, &missing),
        _ => {}
    }
    let passed = report(&found, args.deny_warnings, checked, home, console);
    let outcome = match plan.changes.is_empty() {
        true => {
            console.info(&summary(&found, &examined, roles.as_ref()));
            if roles.is_some() && !args.fix && found.iter().any(|it| it.code == OP415) {
                console.hint("with `--fix`, the same command adds the missing permissions to the roles");
            }
            Outcome::Done
        }
        false => match &role_root {
            Some(root) => {
                let tree = Tree::at(root);
                let task = Task { again: "repeat the command", tree: &tree, folder: "", plan, next: Vec::new() };
                carry_out(&task, console)?
            }
            None => carry_out_with_manifests(plan, &tree, project.as_ref(), console)?,
        },
    };
    Ok(if passed { outcome } else { Outcome::Problems })
}

/// `true` if the user has no RBAC markers; those of the runtime do not count.
fn has_no_markers(operator: &Operator) -> bool {
    operator.rbac.iter().all(|rule| rule.is_of_runtime)
}

/// Replaces the errors about missing permissions by one error, because their cause is that there are no markers.
fn without_markers(mut found: Vec<Diagnostic>, missing: &[&(Diagnostic, Missing)]) -> Vec<Diagnostic> {
    let [(first, at), _, ..] = missing else { return found };
    let permissions = missing.iter().map(|(_, missing)| missing.verbs().len()).sum();
    let message = format!(
        "no marker grants the {} that the code needs: there are no RBAC markers",
        counted(permissions, "permission")
    );
    let error = OP415
        .error(message)
        .at(at.first().span.clone(), format!("`{}` asks for the first", at.first().by))
        .help("to compare the code with the roles that you deploy, run `opctl check --role PATH`")
        .help("or let `opctl check --fix` add markers above the functions, from which `opctl manifests` generates the role")
        .help("`opctl check -v` lists each request");
    let place = found.iter().position(|diagnostic| diagnostic == first).unwrap_or_default();
    found[place] = error;
    found.retain(|diagnostic| !missing.iter().any(|(error, _)| diagnostic == error));
    found
}

/// Adds the missing permissions to the roles, and to the diagnostics of the others the reason why they cannot be added.
/// Returns notes.
fn fix_roles(
    roles: &Roles,
    missing: &[&(Diagnostic, Missing)],
    home: &Home,
    root: &Path,
    plan: &mut Plan,
    found: &mut Vec<Diagnostic>,
) -> Vec<String> {
    let permissions: Vec<&Missing> = missing.iter().map(|(_, missing)| missing).collect();
    let Fix { edits, refused, notes } = roles.fix(&permissions, home, root);
    for (number, (error, _)) in missing.iter().enumerate() {
        match (found.iter().position(|diagnostic| diagnostic == error), refused.get(&number)) {
            (Some(at), Some(reason)) => found[at].help.push(format!("`--fix` cannot add it: {reason}")),
            (Some(at), None) => _ = found.remove(at),
            (None, _) => {}
        }
    }
    for (file, edit) in edits {
        let path = file.strip_prefix(root).expect("files outside are refused").to_string_lossy().into_owned();
        plan.edit(path, edit);
    }
    notes
}

/// The root folder for edits of roles: the crate, or the repository that contains the roles, or else their own folder.
fn root_of(roles: &Path, crate_root: &Path) -> PathBuf {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (roles, crate_root) = (real(roles), real(crate_root));
    if roles.starts_with(&crate_root) {
        return crate_root;
    }
    let folder = if roles.is_dir() { &roles } else { roles.parent().unwrap_or(&roles) };
    folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(folder).to_owned()
}

/// All findings about the permissions and the manifests of a project, as `opctl check` reports them.
pub fn findings(tree: &Tree, project: Option<&ProjectFile>) -> Permissions {
    let examined = Examined::of(tree, project, None);
    let mut found = examined.diagnostics(project, &examined.missing());
    found.extend(project.map(|project| chart::changed(tree, project)).unwrap_or_default());
    found.extend(project.into_iter().flat_map(|project| ansible::stale(tree, project)).map(|stale| stale.diagnostic));
    Permissions { findings: found, has_markers: !has_no_markers(&examined.source.operator) }
}

/// The parts of a project that are compared with each other.
struct Examined {
    source: Source,
    /// The source has no errors.
    is_sound: bool,
    /// Replaces a source with errors: an invalid marker grants nothing, so all of its permissions would be reported as
    /// missing.
    empty: Operator,
    home: Home,
    functions: Functions,
    /// The objects below `config`.
    objects: Vec<Node>,
    /// The problems below `config`, and the comments there that allow diagnostics.
    config: Vec<Diagnostic>,
    allows: Vec<Allow>,
    crds: Vec<CustomResourceDefinition>,
    /// Values of custom objects that are valid for the CRD but do not decode.
    decoding: Vec<Diagnostic>,
    /// The number of markers. In an adopted crate, the operator has further rules, which are derived from requests.
    markers: usize,
}

impl Examined {
    /// Uses the rules of `roles`, if given, instead of the markers.
    fn of(tree: &Tree, project: Option<&ProjectFile>, roles: Option<&Roles>) -> Self {
        let config = || (config::read(tree, ""), config::allows(tree, ""));
        let options = source::Options { reads: true, ..source::Options::default() };
        let (((objects, config), allows), mut source) =
            threads::both(config, || source::read_requests_with(tree, "", &options));
        let stops_manifests = |it: &Diagnostic| it.needs_compiler() || it.code == OP049;
        source.diagnostics.retain(|diagnostic| !stops_manifests(diagnostic));
        if let Some(roles) = roles {
            let markers = std::mem::replace(&mut source.operator.rbac, roles.rules.clone());
            source.operator.requests.extend(grants::of_runtime(&markers));
            source.diagnostics.extend(roles.diagnostics.iter().cloned());
        }
        let is_sound = !source.diagnostics.iter().any(Diagnostic::is_error);
        let empty = Operator::default();
        let mut home = home(project, if is_sound { &source.operator } else { &empty });
        if let Some(roles) = roles {
            let namespace = roles.namespace.clone();
            home = Home { namespace, namespaces: Vec::new(), grantor: Grantor::Roles, ..home };
        }
        let markers = source.operator.rbac.len();
        let options = ManifestOptions::of(project);
        // If the role cannot be read, this is reported with the manifests.
        let generates_role = || options.generates_role(&Plan::default(), tree).unwrap_or_default();
        if is_sound && roles.is_none() && options.adopted.is_some() && generates_role() {
            let rules = grants::rules_for_requests(&source.operator, &home);
            source.operator.rbac.extend(rules);
        }
        let (crds, _) = emit::crds_and_problems(&source.operator.apis);
        let decoding = check_decoding(&source.operator.apis, &crds);
        Self {
            source,
            is_sound,
            empty,
            home,
            functions: Functions::default(),
            objects,
            config,
            allows,
            crds,
            decoding,
            markers,
        }
    }

    fn checked(&self) -> &Operator {
        if self.is_sound { &self.source.operator } else { &self.empty }
    }

    /// The requests that no marker grants, each with its diagnostic.
    fn missing(&self) -> Vec<(Diagnostic, Missing<'_>)> {
        let around = |span: &Span| self.functions.around(span);
        let missing = grants::missing(self.checked(), &self.home, around).into_iter();
        missing
            .map(|it| (it.to_diagnostic(&self.checked().rbac, &around(&it.first().span), self.home.grantor), it))
            .collect()
    }

    /// All diagnostics, except for allowed ones.
    fn diagnostics(&self, project: Option<&ProjectFile>, missing: &[(Diagnostic, Missing)]) -> Vec<Diagnostic> {
        let (operator, checked) = (&self.source.operator, self.checked());
        let mut diagnostics = self.source.diagnostics.clone();
        diagnostics.extend(missing.iter().map(|(error, _)| error.clone()));
        diagnostics.extend(grants::too_narrow(checked, &self.home));
        diagnostics.extend(grants::wildcards(checked, self.home.grantor));
        let unused = grants::unused(checked, &self.home);
        let is_unused_known = unused.is_some();
        diagnostics.extend(unused.into_iter().flatten());
        diagnostics.extend(manifests::name_conflicts(&self.source, &self.crds));
        // Kinds that cannot be derived are reported by `opctl manifests`.
        diagnostics.extend(self.config.iter().cloned());
        diagnostics.extend(project.and_then(|project| config::unwatched(&self.objects, &project.namespaces)));
        diagnostics.extend(self.decoding.iter().cloned());
        custom_objects::check(&self.objects, self.crds.clone(), &mut diagnostics);
        let mut allows = [operator.allows.clone(), self.allows.clone()].concat();
        allows.retain(|allow| allow.code != OP417.name || is_unused_known);
        // Comments in the code allow missing permissions of the markers. If a role grants these, the comments are not
        // idle.
        let is_whole = self.is_sound && self.home.grantor == Grantor::Markers;
        without_allowed(diagnostics, &allows, is_whole.then_some(ReportedBy::Check))
    }
}

/// The place where permissions are granted. An operator without PROJECT has a ClusterRole.
pub fn home(project: Option<&ProjectFile>, operator: &Operator) -> Home {
    let Some(project) = project else { return Home::default() };
    let externals = operator.externals.iter().flat_map(|external| &external.versions);
    let cluster_kinds = operator.apis.iter().chain(externals).filter(|api| api.scope == Scope::Cluster);
    Home {
        // The namespace in `config/default` of the scaffold.
        namespace: Some(format!("{}-system", project.name)),
        namespaced: project.namespaced,
        namespaces: project.namespaces.iter().map(ToString::to_string).collect(),
        cluster_kinds: cluster_kinds.map(|api| (api.group.clone(), api.plural.clone())).collect(),
        grantor: Grantor::Markers,
    }
}

/// The functions of the source, by position. Each is searched for once.
#[derive(Default)]
struct Functions(RefCell<BTreeMap<(String, usize), Option<Function>>>);

impl Functions {
    /// The function around a position; `None` in the output of a macro.
    fn at(&self, span: &Span) -> Option<Function> {
        let key = (span.file.path.clone(), span.range.start);
        let find = || edit::function_at(&span.file.text, span.range.start);
        self.0.borrow_mut().entry(key).or_insert_with(find).clone()
    }

    /// The range of the function around a position, or else the range of the position.
    fn around(&self, span: &Span) -> Range<usize> {
        self.at(span).map_or_else(|| span.range.clone(), |function| function.range)
    }
}

/// The edit that adds or extends a marker above the function with the request.
fn fix(missing: &Missing, rules: &[RbacRule], functions: &Functions) -> Option<Edit> {
    let function = functions.at(&missing.first().span)?;
    let (comment, instead_of) = match missing.extended(rules, &function.range) {
        Some((marker, text)) => (text, Some(marker.file.text[marker.range.clone()].to_owned())),
        None => (missing.marker(), None),
    };
    Some(Edit::RustComment { function: function.number, comment, instead_of })
}

/// Carries out the plan. If opctl generates the role, the plan also updates it, because the role depends on the
/// markers.
fn carry_out_with_manifests(
    mut plan: Plan,
    tree: &Tree,
    project: Option<&ProjectFile>,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let role = tree.read("config/rbac/role.yaml")?;
    if project.is_some() || role.is_some_and(|text| emit::is_generated(&text)) {
        manifests::add_if_sound(&mut plan, tree, &ManifestOptions::of(project), console)?;
    }
    let task = Task { again: "run `opctl check --fix`", tree, folder: "", plan, next: Vec::new() };
    carry_out(&task, console)
}

/// Shows the diagnostics. Returns `true` if the check passes.
fn report(found: &[Diagnostic], deny_warnings: bool, operator: &Operator, home: &Home, console: &Console) -> bool {
    let (errors, warnings): (Vec<_>, Vec<_>) = found.iter().partition(|diagnostic| diagnostic.is_error());
    let shows_warnings = deny_warnings || console.verbosity > Verbosity::Quiet;
    let shown: Vec<Diagnostic> = found.iter().filter(|it| it.is_error() || shows_warnings).cloned().collect();
    console.diagnose(&shown);
    if console.verbosity == Verbosity::Verbose {
        console.print(&table(operator, home));
    }
    errors.is_empty() && (warnings.is_empty() || !deny_warnings)
}

/// A summary of what was compared, and the number of problems.
fn summary(found: &[Diagnostic], examined: &Examined, roles: Option<&Roles>) -> String {
    let operator = &examined.source.operator;
    let requests = operator.requests.iter().filter(|request| !request.optional).count();
    let requests = counted(requests, "request");
    let markers = match roles {
        Some(roles) => format!("{} in `{}`", counted(roles.rules.len(), "rule"), roles.name),
        None if operator.rbac.len() > examined.markers => {
            format!("{} and the generated role", counted(examined.markers, "marker"))
        }
        None => counted(examined.markers, "marker"),
    };
    let objects = match examined.objects.len() {
        0 => String::new(),
        objects => format!(", {} under config", counted(objects, "object")),
    };
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let problems = [(errors, "error"), (found.len() - errors, "warning")].into_iter().filter(|(number, _)| *number > 0);
    let problems: Vec<String> = problems.map(|(number, what)| counted(number, what)).collect();
    let summary = match &problems[..] {
        [] => format!("no problems found: {requests} of the code, granted by {markers}{objects}"),
        problems => format!("{requests} of the code, {markers}{objects}: {}", problems.join(", ")),
    };
    match operator.makes_more_requests && !operator.rbac.is_empty() {
        true => format!("{summary}; unused permissions are not reported, since there may be other requests"),
        false => summary,
    }
}

/// A table of the requests with their positions and the markers that grant them.
fn table(operator: &Operator, home: &Home) -> String {
    let mut rows: Vec<[String; 4]> = Vec::new();
    for (request, decision) in operator.requests.iter().zip(grants::decisions(operator, home)) {
        let marker = match decision {
            Decision::Granted(markers) => format!("granted at {}", operator.rbac[markers[0]].span),
            _ if request.optional => "not granted, and not always needed".into(),
            _ => "not granted".into(),
        };
        let resource = grants::kubectl_name(&request.group, &request.resource);
        rows.push([resource, request.verb.into(), format!("{} at {}", request.by, request.span), marker]);
    }
    rows.sort();
    rows.dedup();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let (first, second, third) = (width(0), width(1), width(2));
    rows.iter().map(|[a, b, c, d]| format!("{a:first$}  {b:second$}  {c:third$}  {d}\n")).collect()
}
