//! Separates the crate's own kinds from types for kinds of other projects, whose CRDs are not generated: a partial
//! schema would replace the complete one in the cluster.
//!
//! A marker decides first, then PROJECT, then evidence in the code: calls of `crd()`, and the groups. Evidence for
//! another project is a warning (OP030). Kinds without evidence are the crate's own, unless the crate has kinds of
//! several domains: those, and kinds with contradictory evidence, are errors (OP049).
//!
//! Evidence is only collected if the ownership is in doubt, because `crd_calls` reads the tokens of all files,
//! including tests and examples. The code that calls `crd()` is better evidence than the requests: controllers also
//! watch and change kinds of other projects. A kind for which the evidence does not decide is refused like one with
//! an error, so an existing CRD is neither rewritten nor removed.

use std::collections::{BTreeMap, BTreeSet};

use super::Source;
use super::crd_calls::{Call, Calls, Code, RootType};
use crate::diagnostics::{OP030, OP049};
use crate::markers::diagnostics::OP115;
use crate::resolve::modules::Modules;
use crate::resolve::package::Package;
use crate::resolve::runtime;
use crate::resolve::skim;
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::widespread::project_of;
use opctl_model::project::{Origin, ProjectFile, ReadError, join};
use opctl_model::{Api, External, Underivable};

/// Group and kind.
type Kind = (String, String);

/// The declarations of a kind in the source, in all versions.
#[derive(Default)]
struct Declared {
    /// Spans of the names of its types.
    spans: Vec<Span>,
    /// Folders of the packages that declare it.
    packages: BTreeSet<String>,
    has_status: bool,
    /// It is annotated as approved for a group of Kubernetes.
    is_approved: bool,
    /// No version could be derived.
    is_underivable: bool,
}

enum Verdict {
    Own,
    /// A marker or PROJECT declares it external.
    External,
    /// The evidence that it is external.
    ProbablyExternal(String),
    /// The contradiction in the evidence, or what is missing.
    Unclear(String),
}

impl Source {
    /// Moves the kinds of other projects, with their diagnostics, out of `apis` and `underivable`, and returns the spans of
    /// their type names. Adds an error to `underivable` for each unclear kind.
    pub(super) fn leave_external(
        &mut self,
        packages: &[Package],
        modules: &Modules,
        apis: &mut Vec<Api>,
        underivable: &mut Vec<Underivable>,
    ) -> Vec<Span> {
        self.check_ownership_markers(apis, underivable);
        // Types whose kind cannot be read are matched by their span.
        let marked = self.operator.ownerships.iter().filter(|marker| marker.is_external);
        let nameless = underivable.iter().filter(|it| it.kind.is_none()).filter_map(|it| it.span.clone());
        let nameless: Vec<Span> = nameless.filter(|span| marked.clone().any(|it| it.covers.contains(span))).collect();
        self.leave_underivable(&nameless, underivable);
        let kinds = declared(apis, underivable, modules);
        let is_of_kind = |problem: &Diagnostic| underivable.iter().any(|stopped| stopped.reasons.contains(problem));
        let makes_kinds = self.diagnostics.iter().any(|problem| problem.needs_compiler() && !is_of_kind(problem));
        let verdicts = Decision { source: self, packages, modules, kinds: &kinds, makes_kinds }.verdicts();
        let mut left = Vec::new();
        for ((group, kind), verdict) in verdicts {
            let declared = &kinds[&(group.clone(), kind.clone())];
            let is_it = |api: &Api| (&api.group, &api.kind) == (&group, &kind);
            let warning = match verdict {
                Verdict::Own => continue,
                Verdict::Unclear(why) => {
                    let error = unclear(&group, &kind, declared, why);
                    if declared.is_underivable {
                        // The compiler may determine the schema, but not the owner of the kind.
                        let id = (group.clone(), kind.clone());
                        let stopped = underivable.iter_mut().filter(|it| it.kind.as_ref() == Some(&id));
                        let stopped: Vec<&mut Underivable> = stopped.collect();
                        if stopped.iter().all(|it| it.reasons.iter().all(Diagnostic::needs_compiler)) {
                            self.diagnostics.push(error.clone());
                            stopped.into_iter().for_each(|it| it.reasons.push(error.clone()));
                        }
                    } else {
                        self.diagnostics.push(error.clone());
                        apis.retain(|api| !is_it(api));
                        underivable.extend(declared.spans.iter().map(|span| Underivable {
                            kind: Some((group.clone(), kind.clone())),
                            span: Some(span.clone()),
                            reasons: vec![error.clone()],
                        }));
                    }
                    continue;
                }
                Verdict::External => None,
                Verdict::ProbablyExternal(why) => Some(probably_external(&group, &kind, declared, why)),
            };
            self.diagnostics.extend(warning.clone());
            let versions = apis.extract_if(.., |api| is_it(api)).collect();
            self.leave_underivable(&declared.spans, underivable);
            left.extend(declared.spans.iter().cloned());
            self.operator.externals.push(External { group, kind, versions, warning });
        }
        left
    }

    /// Reports markers with no kind below them.
    fn check_ownership_markers(&mut self, apis: &[Api], underivable: &[Underivable]) {
        for marker in &self.operator.ownerships {
            let mut names =
                apis.iter().map(|api| &api.span).chain(underivable.iter().filter_map(|it| it.span.as_ref()));
            if !names.any(|name| marker.covers.contains(name)) {
                let message = "there is no custom resource below this marker";
                let help = "put it right above the type with `#[kube(…)]`, or remove it";
                self.diagnostics.push(OP115.warning(message).at(marker.span.clone(), "").help(help));
            }
        }
    }

    fn leave_underivable(&mut self, spans: &[Span], underivable: &mut Vec<Underivable>) {
        let is_left = |stopped: &Underivable| stopped.span.as_ref().is_some_and(|span| spans.contains(span));
        let (left, own): (Vec<_>, Vec<_>) = underivable.drain(..).partition(is_left);
        let is_reason =
            |of: &[Underivable], problem: &Diagnostic| of.iter().any(|stopped| stopped.reasons.contains(problem));
        self.diagnostics.retain(|problem| !is_reason(&left, problem) || is_reason(&own, problem));
        *underivable = own;
    }
}

fn declared(apis: &[Api], underivable: &[Underivable], modules: &Modules) -> BTreeMap<Kind, Declared> {
    let mut kinds: BTreeMap<Kind, Declared> = BTreeMap::new();
    let folder = |span: &Span| modules.package_of(&span.file).map(|(package, _)| package.folder.clone());
    for api in apis {
        let kind = kinds.entry((api.group.clone(), api.kind.clone())).or_default();
        kind.has_status |= api.status_subresource;
        kind.is_approved |= api.annotations.contains_key("api-approved.kubernetes.io");
        kind.packages.extend(folder(&api.span));
        kind.spans.push(api.span.clone());
    }
    for Underivable { kind, span, .. } in underivable {
        let (Some(kind), Some(span)) = (kind, span) else { continue };
        let kind = kinds.entry(kind.clone()).or_default();
        kind.is_underivable |= kind.spans.is_empty();
        kind.packages.extend(folder(span));
        kind.spans.push(span.clone());
    }
    kinds
}

/// Weight of a domain in the crate, compared with other domains.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Weight {
    /// A kind of this domain is known to be the crate's own.
    is_own: bool,
    kinds: usize,
    with_status: usize,
}

/// Input of the decision for all kinds.
struct Decision<'a> {
    source: &'a Source,
    packages: &'a [Package],
    modules: &'a Modules,
    kinds: &'a BTreeMap<Kind, Declared>,
    /// Macros generate kinds that the source does not name.
    makes_kinds: bool,
}

impl Decision<'_> {
    fn verdicts(&self) -> BTreeMap<Kind, Verdict> {
        let project = ProjectFile::read(&self.source.tree).ok();
        let mut verdicts = BTreeMap::new();
        for (kind, declared) in self.kinds {
            if let Some(verdict) = self.stated(kind, declared, project.as_ref()) {
                verdicts.insert(kind.clone(), verdict);
            }
        }
        let open: Vec<_> = self.kinds.iter().filter(|(kind, _)| !verdicts.contains_key(*kind)).collect();
        let groups: BTreeSet<&str> = open.iter().map(|((group, _), _)| group.as_str()).collect();
        // An ordinary crate: nothing suggests that the kinds are another project's.
        let is_doubtful = project.is_some()
            || self.kinds.len() > open.len()
            || groups.len() > 1
            || groups.iter().any(|group| project_of(group).is_some())
            || open.iter().any(|(_, declared)| is_of_kopium(declared));
        if open.is_empty() || !is_doubtful {
            return verdicts;
        }
        let stated: BTreeSet<Kind> = verdicts.keys().cloned().collect();
        let evidence = Evidence::find(self, project.as_ref());
        for ((group, kind), declared) in open {
            if let Some(verdict) = evidence.verdict(group, declared) {
                verdicts.insert((group.clone(), kind.clone()), verdict);
            }
        }
        self.compare_domains(&stated, &mut verdicts);
        verdicts
    }

    /// The verdict of a marker or of PROJECT.
    fn stated(&self, kind: &Kind, declared: &Declared, project: Option<&ProjectFile>) -> Option<Verdict> {
        let markers = self.source.operator.ownerships.iter();
        let mut markers = markers.filter(|marker| declared.spans.iter().any(|span| marker.covers.contains(span)));
        if let Some(marker) = markers.next() {
            return Some(if marker.is_external { Verdict::External } else { Verdict::Own });
        }
        let (group, kind) = kind;
        if let Some(project) = project {
            let mut resources = project.resources.iter();
            if let Some(resource) = resources.find(|it| it.full_group() == *group && it.kind.as_str() == kind) {
                return Some(match resource.origin {
                    Origin::Own => Verdict::Own,
                    Origin::Kubernetes | Origin::External { .. } => Verdict::External,
                });
            }
            let domain = project.domain.to_string();
            if group.strip_suffix(&domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')) {
                return Some(Verdict::Own);
            }
        }
        declared.is_approved.then_some(Verdict::Own)
    }

    /// Kinds without evidence are the crate's own, unless it has kinds of several domains. Kinds that the user
    /// decided about do not count, so that a marker for one kind changes nothing for the others.
    fn compare_domains(&self, stated: &BTreeSet<Kind>, verdicts: &mut BTreeMap<Kind, Verdict>) {
        for kinds in self.packages.iter().map(|package| self.kinds_of(package)) {
            let is_own = |kind: &Kind| matches!(verdicts.get(kind), Some(Verdict::Own));
            let is_open = |kind: &Kind| !verdicts.contains_key(kind);
            let owned = kinds.iter().filter(|kind| stated.contains(**kind) && is_own(kind));
            let owned: BTreeSet<&str> = owned.map(|kind| domain(&kind.0)).collect();
            let mut domains: BTreeMap<&str, Weight> = BTreeMap::new();
            for kind in kinds.iter().filter(|kind| is_own(kind) || is_open(kind)) {
                if !owned.contains(domain(&kind.0)) {
                    let weight = domains.entry(domain(&kind.0)).or_default();
                    weight.is_own |= is_own(kind);
                    weight.kinds += 1;
                    weight.with_status += usize::from(self.kinds[*kind].has_status);
                }
            }
            let most = domains.values().max().copied().unwrap_or_default();
            let is_unique = domains.values().filter(|weight| **weight == most).count() == 1;
            let is_home = |weight: &Weight| weight.is_own || is_unique && *weight == most;
            let homes: Vec<&str> =
                domains.iter().filter(|(_, weight)| is_home(weight)).map(|(domain, _)| *domain).collect();
            let why = match homes[..] {
                [] => format!("there are kinds of `{}`", Vec::from_iter(domains.keys().copied()).join("` and `")),
                _ => format!("the other kinds are those of `{}`", homes.join("` and `")),
            };
            let why = format!("{why}, and nothing calls `crd()` for this one");
            let strays = kinds.iter().filter(|kind| is_open(kind));
            let strays = strays.filter(|kind| domains.get(domain(&kind.0)).is_some_and(|weight| !is_home(weight)));
            let strays: Vec<Kind> = strays.map(|kind| (*kind).clone()).collect();
            verdicts.extend(strays.into_iter().map(|kind| (kind, Verdict::Unclear(why.clone()))));
        }
    }

    /// The kinds of a package and of the project's packages that it depends on.
    fn kinds_of(&self, package: &Package) -> Vec<&Kind> {
        let mut folders = vec![package.folder.as_str()];
        let mut at = 0;
        while let Some(folder) = folders.get(at) {
            let locals = self.modules.local_packages();
            let dependencies =
                locals.iter().filter(|local| local.folder == *folder).flat_map(|it| it.dependencies.values());
            let below: Vec<&str> = dependencies.filter_map(|dependency| dependency.folder.as_deref()).collect();
            for folder in below {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
            at += 1;
        }
        let is_here = |declared: &Declared| declared.packages.iter().any(|folder| folders.contains(&folder.as_str()));
        self.kinds.iter().filter(|(_, declared)| is_here(declared)).map(|(kind, _)| kind).collect()
    }

    /// All code of the packages: the modules of the build, files that no module declares, tests, examples and build
    /// scripts; and the other packages of the workspace. The flag is `false` if a file could not be read: then the
    /// evidence is incomplete.
    fn code(&self) -> (Vec<Code>, bool) {
        let files = self.modules.files();
        let mut all: Vec<Code> = files.iter().map(|file| Code { file: file.clone(), is_test: false }).collect();
        all.retain(|code| {
            self.modules.package_of(&code.file).is_none_or(|(package, _)| package.name != runtime::PACKAGE)
        });
        let (unread, problems) = self.source.unread(self.packages.iter(), &files);
        let mut is_whole = problems.is_empty();
        all.extend(unread.into_iter().map(|file| Code { file, is_test: true }));
        for package in self.packages {
            let folders = [("tests", true), ("benches", true), ("examples", false)];
            is_whole &= self.add_code(&package.folder, &folders, &mut all).is_ok();
        }
        // Another crate of the workspace may print the CRDs of this one.
        let beside = self.packages.first().map(|first| Package::members_beside(&self.source.tree, &first.folder));
        for package in beside.into_iter().flatten() {
            let is_known = self.modules.local_packages().iter().any(|known| known.folder == package.folder);
            if !is_known && package.name != runtime::PACKAGE {
                is_whole &= self.add_code(&package.folder, &[("src", false), ("examples", false)], &mut all).is_ok();
            }
        }
        (all, is_whole)
    }

    /// Adds the files in these folders of a package, and its build script.
    fn add_code(&self, package: &str, folders: &[(&str, bool)], all: &mut Vec<Code>) -> Result<(), ReadError> {
        let tree = &self.source.tree;
        let mut paths = vec![(join(package, "build.rs"), false)];
        for (folder, is_test) in folders {
            paths.extend(tree.files_below(&join(package, folder))?.into_iter().map(|path| (path, *is_test)));
        }
        for (path, is_test) in paths.into_iter().filter(|(path, _)| path.ends_with(".rs")) {
            all.extend(tree.read(&path)?.map(|text| Code { file: SourceFile::new(path, text), is_test }));
        }
        Ok(())
    }
}

/// Calls of `crd()`, by the groups of their kinds.
struct Evidence {
    domain: Option<String>,
    /// The first call in shipped code, and the first in a test.
    calls: BTreeMap<String, [Option<Span>; 2]>,
    /// The first call for any kind, and its group if the project declares that kind.
    first: [Option<(Span, Option<String>)>; 2],
    /// All calls are known.
    is_complete: bool,
}

impl Evidence {
    fn find(decision: &Decision, project: Option<&ProjectFile>) -> Self {
        let modules = decision.modules;
        let mut groups: BTreeMap<RootType, &str> = BTreeMap::new();
        for ((group, _), declared) in decision.kinds {
            let names = declared.spans.iter().filter_map(|span| root_type(span, modules));
            groups.extend(names.map(|root| (root, group.as_str())));
        }
        let roots: BTreeSet<RootType> = groups.keys().cloned().collect();
        let (code, is_whole) = decision.code();
        let Calls { calls: found, has_unknown } = Calls::find(&code, &roots, modules, decision.makes_kinds);
        let mut calls: BTreeMap<String, [Option<Span>; 2]> = BTreeMap::new();
        let mut first = [None, None];
        for Call { root, span, is_test } in found {
            let group = root.map(|root| groups[&root].to_owned());
            if let Some(group) = &group {
                calls.entry(group.clone()).or_default()[usize::from(is_test)].get_or_insert_with(|| span.clone());
            }
            first[usize::from(is_test)].get_or_insert((span, group));
        }
        Self {
            domain: project.map(|project| project.domain.to_string()),
            calls,
            first,
            is_complete: is_whole && !has_unknown,
        }
    }

    /// `None` if there is no evidence.
    fn verdict(&self, group: &str, declared: &Declared) -> Option<Verdict> {
        let widespread = project_of(group);
        let none = [None, None];
        let [shipped, test] = self.calls.get(group).unwrap_or(&none);
        if let Some(call) = shipped {
            // The crate may be part of that widespread project, unless it also has kinds of its own.
            let is_mixed =
                self.calls.iter().any(|(other, [shipped, _])| shipped.is_some() && domain(other) != domain(group));
            return Some(match widespread.filter(|_| is_mixed) {
                Some(project) => {
                    let why =
                        format!("`{group}` belongs to {project}, but `crd()` is called for a kind of it in {call}");
                    Verdict::Unclear(why)
                }
                None => Verdict::Own,
            });
        }
        if let Some(project) = widespread {
            return Some(Verdict::ProbablyExternal(format!("`{group}` belongs to {project}")));
        }
        if is_of_kopium(declared) {
            return Some(Verdict::ProbablyExternal("kopium generated this type from a CRD".into()));
        }
        if let Some(domain) = &self.domain {
            let why = format!("PROJECT has the domain `{domain}`, and does not list this kind");
            return Some(Verdict::ProbablyExternal(why));
        }
        self.by_calls_for_others(group, test.is_some())
    }

    /// The authors list the kinds whose CRDs they print, and this is not one of them.
    fn by_calls_for_others(&self, group: &str, is_tested: bool) -> Option<Verdict> {
        let is_akin = |index: usize| {
            self.calls.iter().any(|(other, calls)| calls[index].is_some() && domain(other) == domain(group))
        };
        let [shipped, test] = &self.first;
        let (index, (call, listed)) = shipped.iter().map(|it| (0, it)).chain(test.iter().map(|it| (1, it))).next()?;
        // A call for one kind suggests that its domain is the crate's own. A list of CRDs has every kind, so there a missing
        // call is evidence.
        let is_own = match index {
            0 => is_akin(0) && (is_tested || !is_generator(&call.file.path)),
            _ => is_tested || is_akin(1),
        };
        if is_own {
            return Some(Verdict::Own);
        }
        let listed = listed.as_ref().map_or("a kind of another crate".into(), |listed| format!("a kind of `{listed}`"));
        let but = if is_tested { ", except in tests" } else { "" };
        let why = format!("`crd()` is called for {listed} in {call}, but for none of `{group}`{but}");
        self.is_complete.then_some(Verdict::ProbablyExternal(why))
    }
}

/// `true` if the path suggests a program that prints CRDs.
fn is_generator(path: &str) -> bool {
    let mut parts = path.trim_end_matches(".rs").split('/');
    parts.any(|part| {
        part.contains("crd") || part.contains("gen") || ["bin", "build", "examples", "xtask"].contains(&part)
    })
}

/// The root type that kube's derive generates for the type with this name.
fn root_type(span: &Span, modules: &Modules) -> Option<RootType> {
    let bound = &span.file.text[span.range.clone()];
    let here = modules.local().into_iter().map(|id| modules.module(id));
    let mut here = here.filter(|module| module.file.path == span.file.path);
    let name = here.find_map(|module| Some(module.roots.iter().find(|(_, of)| *of == bound)?.0.clone()))?;
    Some(RootType { name, file: span.file.path.clone() })
}

/// `true` if kopium generated the type, according to the comment at the top of the file.
fn is_of_kopium(declared: &Declared) -> bool {
    let is_generated = |span: &Span| {
        let comments = span.file.text.lines().take_while(|line| line.starts_with("//") || line.trim().is_empty());
        comments.take(8).any(|line| line.contains("generated by kopium"))
    };
    declared.spans.iter().any(is_generated)
}

/// The registrable domain of a group: `example.com` for `cache.example.com`, `example.co.uk` for
/// `cache.example.co.uk`. Below some domains, each project has its own subdomain.
fn domain(group: &str) -> &str {
    let is_shared = |labels: &str| {
        let country = labels.split_once('.').filter(|(_, country)| country.len() == 2);
        country.is_some_and(|(label, _)| ["ac", "co", "com", "edu", "gov", "net", "org"].contains(&label))
            || ["github.io", "gitlab.io", "k8s-sigs.io", "k8s.aws", "k8s.io", "kubernetes.io", "x-k8s.io"]
                .contains(&labels)
    };
    let labels = |count: usize| group.rmatch_indices('.').nth(count - 1).map_or(group, |(dot, _)| &group[dot + 1..]);
    let two = labels(2);
    if is_shared(two) { labels(3) } else { two }
}

/// The span of the `#[kube(…)]` on the first type of a kind.
fn attribute(declared: &Declared) -> Span {
    let span = declared.spans[0].clone();
    let kinds = skim::kinds_in(&span.file.text);
    let attribute = kinds.into_iter().find(|kind| kind.name == Some(span.range.start));
    attribute.map_or_else(|| span.clone(), |kind| Span { file: span.file.clone(), range: kind.at })
}

const IF_EXTERNAL: &str = "write `// +opctl:external` above the type";
const IF_OWN: &str = "write `// +opctl:owned` above the type";

fn probably_external(group: &str, kind: &str, declared: &Declared, why: String) -> Diagnostic {
    OP030
        .warning(format!("no CRD is generated for `{kind}` of `{group}`, which belongs to another project"))
        .at(attribute(declared), why)
        .help(format!("if that is right, {IF_EXTERNAL} to confirm it"))
        .help(format!("if the CRD is this crate's own, {IF_OWN}"))
}

fn unclear(group: &str, kind: &str, declared: &Declared, why: String) -> Diagnostic {
    OP049
        .error(format!("the CRD of `{kind}` of `{group}` may belong to another project"))
        .at(attribute(declared), why)
        .help(format!("if the CRD is this crate's own, {IF_OWN}"))
        .help(format!("if it is another project's, {IF_EXTERNAL}: opctl generates no CRD then"))
}

/// Error about a kind of another project whose CRD was generated by an earlier run.
pub fn generated_before(external: &External, path: &str) -> Diagnostic {
    let External { group, kind, warning, .. } = external;
    let message = format!("`{path}` was generated for `{kind}` of `{group}`, which belongs to another project");
    let span = warning.as_ref().and_then(|warning| warning.span.clone());
    let error = Diagnostic { span, ..OP049.error(message) };
    error
        .help(format!("if the CRD is this crate's own, {IF_OWN}"))
        .help(format!("if it is another project's, {IF_EXTERNAL}: opctl removes the file then"))
        .help("if you apply the manifests with pruning, first exclude the CRD from it: otherwise the cluster deletes the CRD and all of its objects")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_what_somebody_can_register() {
        for (group, expected) in [
            ("example.com", "example.com"),
            ("cache.example.com", "example.com"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("example.co.uk", "example.co.uk"),
            ("addons.cluster.x-k8s.io", "cluster.x-k8s.io"),
            ("cluster.x-k8s.io", "cluster.x-k8s.io"),
            ("g", "g"),
            ("co.uk", "co.uk"),
        ] {
            assert_eq!(domain(group), expected, "{group}");
        }
    }
}
