//! Permissions of markers, compared with the requests of code: the results equal those of Kubernetes' authorizer for
//! the generated roles, and the diagnostics equal the recorded ones.

use std::fs;
use std::path::{Path, PathBuf};

use opctl_model::diagnostic::{Diagnostic, SourceFile, Span, render};
use opctl_model::{Operator, RbacRule, Reach, Request};
use opctl_source::emit::{self, Options};
use opctl_source::grants::{self, Decision, Grantor, Home};
use opctl_source::markers;
use proptest::prelude::*;
use serde_json::Value;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_request_is_granted_when_the_generated_roles_grant_it(
        markers in any_markers(),
        request in any_request(),
        namespaced in any::<bool>(),
    ) {
        let rbac = rules(&markers.join("\n"));
        let home = Home { namespace: Some("system".into()), namespaced, ..Home::default() };
        let roles = Roles::of(&rbac, namespaced);
        let operator = Operator { rbac, requests: vec![request.clone()], ..Operator::default() };
        let decision = grants::decisions(&operator, &home).remove(0);
        prop_assert_eq!(kind(&decision), roles.decision(&request, namespaced), "{:?}", roles);
        if let Decision::Granted(by) | Decision::TooNarrow(by) = decision {
            // Each marker alone grants the request.
            let alone = |number: usize| Operator { rbac: vec![operator.rbac[number].clone()], requests: vec![request.clone()], ..Operator::default() };
            let kinds: Vec<_> = by.iter().map(|number| kind(&grants::decisions(&alone(*number), &home)[0])).collect();
            prop_assert!(kinds.iter().all(|it| *it == kinds[0] && *it != Kind::Missing));
        }
    }

    #[test]
    fn what_is_called_unused_can_go(markers in any_markers(), requests in prop::collection::vec(any_request(), 0..4)) {
        let text = markers.join("\n");
        let operator = Operator { rbac: rules(&text), requests, ..Operator::default() };
        let before: Vec<Kind> = grants::decisions(&operator, &Home::default()).iter().map(kind).collect();
        for unused in grants::unused(&operator, &Home::default()).into_iter().flatten() {
            let (span, _) = unused.span.unwrap();
            let said = &text[span.range.clone()];
            let without: Vec<RbacRule> = operator.rbac.iter().map(|rule| {
                if !(rule.span.range.start..rule.span.range.end).contains(&span.range.start) {
                    return rule.clone();
                }
                let mut rule = rule.clone();
                let gone = |word: &String| said.split(';').any(|it| it == word);
                if unused.help[0].contains("a marker for each") {
                    return rule;
                }
                match said {
                    _ if said.starts_with('+') => rule.verbs.clear(),
                    _ if unused.message.contains("anything in") => rule.groups.retain(|word| !gone(word)),
                    _ if rule.resources.iter().any(&gone) => rule.resources.retain(|word| !gone(word)),
                    _ if rule.resources.len() > 1 || rule.groups.len() > 1 => return rule,
                    _ => rule.verbs.retain(|word| !gone(word)),
                }
                rule
            }).collect();
            let operator = Operator { rbac: without, requests: operator.requests.clone(), ..Operator::default() };
            let after: Vec<Kind> = grants::decisions(&operator, &Home::default()).iter().map(kind).collect();
            prop_assert_eq!(&before, &after, "{}", said);
        }
    }

    #[test]
    fn the_marker_that_is_suggested_grants_what_is_missing(markers in any_markers(), request in any_request(), namespaced in any::<bool>()) {
        let home = Home { namespace: Some("system".into()), namespaced, ..Home::default() };
        let mut operator = Operator { rbac: rules(&markers.join("\n")), requests: vec![request], ..Operator::default() };
        let missing = grants::missing(&operator, &home, |span| span.range.clone());
        let [missing] = &missing[..] else { return Ok(()) };
        let added = rules(&format!("// {}", missing.marker()));
        operator.rbac.extend(added);
        prop_assert_eq!(kind(&grants::decisions(&operator, &home)[0]), Kind::Granted);
    }
}

#[test]
fn diagnostics_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/grants");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let cases: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect();
    assert!(cases.len() > 4);
    for case in cases {
        let home = match case.file_stem().unwrap().to_str() {
            Some("namespaced") => Home { namespace: Some("zoo-system".into()), namespaced: true, ..Home::default() },
            _ => Home::default(),
        };
        let rendered = rendered(&fs::read_to_string(&case).unwrap(), &home);
        snapbox::assert_data_eq!(rendered, snapbox::Data::read_from(&case.with_extension("txt"), None).raw());
    }
}

/// A decision without the indices of markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Granted,
    TooNarrow,
    Missing,
}

fn kind(decision: &Decision) -> Kind {
    match decision {
        Decision::Granted(_) => Kind::Granted,
        Decision::TooNarrow(_) => Kind::TooNarrow,
        Decision::Missing => Kind::Missing,
    }
}

/// The generated `role.yaml`.
#[derive(Debug)]
struct Roles(Vec<Value>);

/// The attributes of an authorization request. An empty namespace is the whole cluster, an empty name is no object.
struct Attributes<'a> {
    verb: &'a str,
    group: &'a str,
    resource: &'a str,
    namespace: &'a str,
    name: &'a str,
}

const NAMESPACES: [&str; 4] = ["system", "zoo", "park", "elsewhere"];
const NAMES: [&str; 3] = ["a", "b", "other"];

impl Roles {
    fn of(rules: &[RbacRule], namespaced: bool) -> Self {
        let manifests = emit::manifests(&[], rules, &Options { namespaced, namespaces: Vec::new() }).unwrap();
        let role = manifests.into_iter().find(|manifest| manifest.path == "rbac/role.yaml").unwrap();
        let documents = role.text.split("---\n").filter(|document| document.contains("kind:"));
        Self(documents.map(|document| serde_saphyr::from_str(document).unwrap()).collect())
    }

    /// Tries all requests that this one may represent.
    fn decision(&self, request: &Request, namespaced: bool) -> Kind {
        let names: &[&str] = match request.verb {
            "list" | "watch" | "deletecollection" => &[""],
            "create" if !request.resource.contains('/') => &[""],
            _ => &NAMES,
        };
        let grants = |namespace: &str, names: &[&str]| {
            names.iter().any(|name| {
                let Request { verb, group, resource, .. } = request;
                self.allows(&Attributes { verb, group, resource, namespace, name })
            })
        };
        let some = |names: &[&str]| NAMESPACES.iter().any(|namespace| grants(namespace, names));
        let (whole, part) = match &request.reach {
            Reach::Cluster => (grants("", names), some(&NAMES)),
            Reach::Namespace(name) => (grants(name, names), grants(name, &NAMES)),
            Reach::SomeNamespace => (some(names), some(&NAMES)),
            // An operator with Roles gets its namespace from the environment.
            Reach::Unknown if namespaced => (some(names), some(&NAMES)),
            Reach::Unknown => (grants("", names), some(&NAMES)),
        };
        match (whole, part) {
            (true, _) => Kind::Granted,
            (_, true) => Kind::TooNarrow,
            _ => Kind::Missing,
        }
    }

    /// Follows plugin/pkg/auth/authorizer/rbac: cluster roles first, then the roles of the namespace.
    fn allows(&self, attributes: &Attributes) -> bool {
        self.0.iter().any(|role| {
            let namespace = role.pointer("/metadata/namespace").and_then(Value::as_str);
            let holds = namespace.is_none_or(|namespace| namespace == attributes.namespace);
            holds && role["rules"].as_array().unwrap().iter().any(|rule| rule_allows(rule, attributes))
        })
    }
}

/// Follows pkg/apis/rbac/v1/evaluation_helpers.go.
fn rule_allows(rule: &Value, attributes: &Attributes) -> bool {
    let list = |key: &str| -> Vec<&str> {
        rule[key].as_array().into_iter().flatten().map(|item| item.as_str().unwrap()).collect()
    };
    let (resources, names) = (list("resources"), list("resourceNames"));
    let verb_matches = list("verbs").iter().any(|verb| *verb == "*" || *verb == attributes.verb);
    let group_matches = list("apiGroups").iter().any(|group| *group == "*" || *group == attributes.group);
    let subresource = attributes.resource.split_once('/').map_or("", |(_, subresource)| subresource);
    let resource_matches = resources.iter().any(|resource| {
        if *resource == "*" || *resource == attributes.resource {
            return true;
        }
        !subresource.is_empty()
            && resource.len() == subresource.len() + 2
            && resource.starts_with("*/")
            && resource.ends_with(subresource)
    });
    let name_matches = names.is_empty() || names.contains(&attributes.name);
    verb_matches && group_matches && resource_matches && name_matches
}

fn rules(text: &str) -> Vec<RbacRule> {
    let markers::Markers { operator, diagnostics, .. } = markers::read(&SourceFile::new("src/lib.rs", text));
    let rbac = operator.rbac;
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics, false));
    rbac
}

fn any_markers() -> impl Strategy<Value = Vec<String>> {
    let some = |words: &'static [&'static str]| {
        prop::collection::vec(prop::sample::select(words), 1..=3).prop_map(|mut words| {
            words.sort_unstable();
            words.dedup();
            words.join(";")
        })
    };
    let names = prop_oneof![4 => Just(""), 1 => Just(",resourceNames=a;b")];
    let namespace = prop_oneof![2 => Just(""), 1 => Just(",namespace=zoo"), 1 => Just(",namespace=park"), 1 => Just(",namespace=system")];
    let groups = some(&["a.io", "b.io", "c.io", "*"]);
    let resources = some(&["pods", "pods/status", "jobs", "jobs/status", "*", "*/status", "*/scale"]);
    let verbs = some(&["get", "list", "watch", "create", "patch", "delete", "*"]);
    let marker =
        (groups, resources, verbs, names, namespace).prop_map(|(groups, resources, verbs, names, namespace)| {
            // Markers that can never match are rejected by the parser.
            let names = if verbs.contains("create") && !verbs.contains("patch") { "" } else { names };
            format!("// +kubebuilder:rbac:groups={groups},resources={resources},verbs={verbs}{names}{namespace}")
        });
    prop::collection::vec(marker, 0..5)
}

fn any_request() -> impl Strategy<Value = Request> {
    let verb =
        prop::sample::select(&["get", "list", "watch", "create", "patch", "delete", "deletecollection", "update"]);
    let group = prop::sample::select(&["a.io", "b.io", "c.io"]);
    let resource = prop::sample::select(&["pods", "pods/status", "jobs", "jobs/scale"]);
    let namespace = prop::sample::select(&["zoo", "park", "system", "elsewhere"]);
    let reach = prop_oneof![
        Just(Reach::Cluster),
        Just(Reach::SomeNamespace),
        Just(Reach::Unknown),
        namespace.prop_map(|name| Reach::Namespace(name.into())),
    ];
    (verb, group, resource, reach).prop_map(|(verb, group, resource, reach)| Request {
        verb,
        group: group.into(),
        resource: resource.into(),
        reach,
        span: Span { file: SourceFile::new("src/lib.rs", "f()"), range: 0..1 },
        by: "f".into(),
        within: None,
        optional: false,
    })
}

/// All diagnostics about a file. A line `// ? VERB GROUP/PLURAL REACH` declares a request of the line below; `core` is
/// the core group.
fn rendered(text: &str, home: &Home) -> String {
    let file = SourceFile::new("src/lib.rs", text);
    let mut requests = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        start += line.len();
        let Some(words) = line.trim().strip_prefix("// ? ") else { continue };
        let mut words = words.split(' ');
        let (verbs, resource) = (words.next().unwrap(), words.next().unwrap());
        let (group, resource) = resource.split_once('/').unwrap();
        let below = text[start..].lines().find(|line| !line.trim().starts_with("// ?")).unwrap();
        let at = start + text[start..].find(below).unwrap() + (below.len() - below.trim_start().len());
        let reach = match words.next().unwrap() {
            "cluster" => Reach::Cluster,
            "some" => Reach::SomeNamespace,
            "unknown" => Reach::Unknown,
            name => Reach::Namespace(name.into()),
        };
        for verb in verbs.split(',') {
            let verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
            requests.push(Request {
                verb: verbs.into_iter().find(|it| *it == verb).unwrap(),
                group: if group == "core" { String::new() } else { group.into() },
                resource: resource.into(),
                reach: reach.clone(),
                span: Span { file: file.clone(), range: at..at + below.trim().trim_end_matches(';').len() },
                by: "Api::call".into(),
                within: None,
                optional: words.clone().next() == Some("optional"),
            });
        }
    }
    let operator = Operator { rbac: rules(text), requests, ..Operator::default() };
    let around = |span: &Span| opctl_edit::function_at(&span.file.text, span.range.start).unwrap().range;
    let missing = grants::missing(&operator, home, around);
    let mut diagnostics: Vec<Diagnostic> = missing
        .iter()
        .map(|missing| missing.to_diagnostic(&operator.rbac, &around(&missing.first().span), Grantor::Markers))
        .collect();
    diagnostics.extend(grants::too_narrow(&operator, home));
    diagnostics.extend(grants::wildcards(&operator, Grantor::Markers));
    diagnostics.extend(grants::unused(&operator, home).into_iter().flatten());
    render(&diagnostics, false)
}
