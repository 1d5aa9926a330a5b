//! opctl and an API server accept the same names: in the cases, and in random sets of CRDs with few names. Each set has
//! its own group, and is tested in a new cluster and after an update.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write;
use std::thread::sleep;
use std::time::{Duration, Instant};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl_model::diagnostic::Severity;
use opctl_schema::apiserver::{self, Claim, SHORT_NAMES};
use serde_json::{Value, json};

use crate::api::{self, Api, CRDS};
use crate::apiserver::Random;
use crate::control_plane::ControlPlane;
use crate::naming_cases::{CASES, Case};

/// The time limit for the API server's conditions of all CRDs.
const WAIT: Duration = Duration::from_secs(60);

/// The number of concurrent sets: an API server needs long to publish the schemas of a thousand CRDs.
const BATCH: usize = 40;

#[test]
fn the_api_server_accepts_the_names_that_opctl_expects() {
    let count: usize = env::var("OPCTL_RANDOM_NAMES").map_or(15, |count| count.parse().unwrap());
    let Some(cluster) = ControlPlane::start("names of CRDs", 0) else { return };
    has_the_short_names(&cluster);
    let mut api = Api::of(&cluster);
    let cases = CASES.iter().enumerate().map(|(index, case)| {
        let reported = case.found.iter().filter(|found| found.starts_with("OP332")).count();
        assert_eq!(reported, case.refused.len(), "opctl reports each refused name as an error: {:?}", case.kinds);
        let group = format!("case{index}.example.com");
        let crds = Case::crds(&case.source(&group));
        Set { expected: Some(case.refused), ..Set::new(group, crds) }
    });
    let mut sets: Vec<Set> = cases.chain((0..count).map(Set::random)).collect();
    let (mut wrong, mut refused, mut updated) = (String::new(), 0, 0);
    while !sets.is_empty() {
        let batch = sets.drain(..BATCH.min(sets.len())).collect();
        let batch = creates(&mut api, batch, &mut wrong);
        refused += batch.iter().filter(|set| set.is_refused()).count();
        updated += updates(&mut api, batch, &mut wrong);
        delete_all(&mut api);
    }
    eprintln!("{count} random sets and {} cases: {refused} with conflicts, {updated} updated", CASES.len());
    assert!(wrong.is_empty(), "{wrong}");
    assert!(refused > count / 3 && updated > count / 10, "these sets say little");
}

/// Creates the CRDs of each group one after another.
fn creates(api: &mut Api, mut sets: Vec<Set>, wrong: &mut String) -> Vec<Set> {
    for wave in 0..sets.iter().map(|set| set.crds.len()).max().unwrap_or_default() {
        for crd in sets.iter_mut().filter_map(|set| set.create(wave)) {
            api::object(api.post(CRDS, &json!(crd))).unwrap();
        }
        compare(api, &sets, &format!("after creating CRD {wave} of each group"), wrong);
    }
    for set in &sets {
        if let Some(expected) = set.expected {
            assert_eq!(set.seen_reasons(api), expected, "{}", set.names());
        }
        let findings = apiserver::check_together(&set.crds);
        if findings.iter().any(|(_, finding)| finding.severity == Severity::Error) != set.is_refused() {
            writeln!(wrong, "{}: found {findings:?}, refused: {:?}", set.names(), set.conflicts).unwrap();
        }
    }
    sets
}

/// Changes the names of the CRDs of each group one after another. If several CRDs wait for a name, any of them may get
/// it, so groups with conflicts are not updated. Returns the number of updated groups.
fn updates(api: &mut Api, mut sets: Vec<Set>, wrong: &mut String) -> usize {
    sets.retain(|set| !set.is_refused() && !set.updates.is_empty());
    for wave in 0..sets.iter().map(|set| set.updates.len()).max().unwrap_or_default() {
        for crd in sets.iter_mut().filter_map(|set| set.update(wave)) {
            api::object(api.apply(&format!("{CRDS}/{}", crd.metadata.name.as_deref().unwrap()), &json!(crd))).unwrap();
        }
        compare(api, &sets, &format!("after updating CRD {wave} of each group"), wrong);
    }
    sets.len()
}

/// Asserts that no resource has these names, which `kubectl` treats as a category.
fn has_the_short_names(cluster: &ControlPlane) {
    let lines = cluster.kubectl(&["api-resources", "--no-headers"], "");
    let of_line = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [plural, short, _, _, _] => short.split(',').map(|short| (short.to_owned(), plural.to_owned())).collect(),
        _ => Vec::new(),
    };
    let served: BTreeSet<(String, String)> = lines.lines().flat_map(of_line).collect();
    let known = SHORT_NAMES.iter().map(|(short, plural)| ((*short).to_owned(), (*plural).to_owned()));
    assert_eq!(known.collect::<BTreeSet<_>>(), served);
}

/// The CRDs of one group.
struct Set {
    group: String,
    crds: Vec<CustomResourceDefinition>,
    /// The same CRDs with different names.
    updates: Vec<CustomResourceDefinition>,
    /// The names of the applied CRDs.
    claims: Vec<Claim>,
    conflicts: Vec<Vec<apiserver::NameConflict>>,
    /// The recorded result of the API server, for a case.
    expected: Option<&'static [&'static str]>,
}

impl Set {
    fn new(group: String, crds: Vec<CustomResourceDefinition>) -> Self {
        Self { group, crds, updates: Vec::new(), claims: Vec::new(), conflicts: Vec::new(), expected: None }
    }

    fn random(index: usize) -> Self {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (index as u64 + 1).wrapping_mul(0xD129_0D3B_4B1A_7F2D));
        let group = format!("set{index}.example.com");
        let mut plurals = vec!["a", "b", "c", "d", "e", "f", "g"];
        let mut kinds = vec!["Aa", "Bb", "AaList", "BbList", "Cc", "Dd"];
        let (mut crds, mut updates) = (Vec::new(), Vec::new());
        for _ in 0..2 + random.below(3) {
            let plural = plurals.remove(random.below(plurals.len()));
            // Two CRDs have the same kind in rare cases.
            let kind = random.one_of(&kinds);
            if random.below(10) > 0 {
                kinds.retain(|it| *it != kind);
            }
            crds.push(crd(&group, plural, kind, &mut random));
            updates.push(crd(&group, plural, kind, &mut random));
        }
        Self { updates, ..Self::new(group, crds) }
    }

    fn is_refused(&self) -> bool {
        self.conflicts.iter().any(|conflicts| !conflicts.is_empty())
    }

    fn create(&mut self, index: usize) -> Option<CustomResourceDefinition> {
        let crd = self.crds.get(index)?;
        self.claims.push(Claim::new(crd));
        self.conflicts = apiserver::settle(&mut self.claims);
        Some(crd.clone())
    }

    fn update(&mut self, index: usize) -> Option<CustomResourceDefinition> {
        let crd = self.updates.get(index)?;
        self.claims[index].update(crd);
        self.conflicts = apiserver::settle(&mut self.claims);
        Some(crd.clone())
    }

    /// The reasons in the API server's conditions.
    fn seen_reasons(&self, api: &mut Api) -> Vec<String> {
        let reason = |crd: &CustomResourceDefinition| {
            let created = api.get(&format!("{CRDS}/{}", crd.metadata.name.as_deref().unwrap()));
            let conditions = created["status"]["conditions"].as_array()?;
            let reasons = conditions.iter().filter(|condition| condition["status"] == "False");
            let reason =
                reasons.filter_map(|condition| condition["reason"].as_str()).find(|it| it.ends_with("Conflict"))?;
            Some(format!("{} {reason}", crd.spec.names.kind))
        };
        self.crds.iter().filter_map(reason).collect()
    }

    fn names(&self) -> String {
        let names = |crd: &CustomResourceDefinition| json!(crd.spec.names).to_string();
        let list = |crds: &[CustomResourceDefinition]| crds.iter().map(names).collect::<Vec<_>>().join(" ");
        format!("{}: {} -> {}", self.group, list(&self.crds), list(&self.updates))
    }
}

/// A small CRD with names from a small set.
fn crd(group: &str, plural: &str, kind: &str, random: &mut Random) -> CustomResourceDefinition {
    let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"];
    let singular = random.one_of(&words);
    let short: Vec<&str> = (0..random.below(3)).map(|_| random.one_of(&words)).collect();
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": format!("{plural}.{group}") },
        "spec": {
            "group": group, "scope": "Cluster",
            "names": { "plural": plural, "singular": singular, "kind": kind, "shortNames": short },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": { "type": "object" } } }],
        },
    });
    serde_json::from_value(crd).unwrap()
}

fn delete_all(api: &mut Api) {
    let end = Instant::now() + WAIT;
    api::object(api.delete(CRDS)).unwrap();
    while !api.get(CRDS)["items"].as_array().unwrap().is_empty() {
        assert!(Instant::now() < end, "CRDs are still there");
        sleep(Duration::from_millis(200));
    }
}

/// Waits until the API server agrees. Remaining differences are appended to `wrong`.
fn compare(api: &mut Api, sets: &[Set], when: &str, wrong: &mut String) {
    let end = Instant::now() + WAIT;
    loop {
        let list = api.get(CRDS);
        let served: BTreeMap<&str, &Value> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|crd| (crd["metadata"]["name"].as_str().unwrap(), crd))
            .collect();
        let mut differences = String::new();
        for set in sets {
            for (crd, conflicts) in set.crds.iter().zip(&set.conflicts) {
                let name = crd.metadata.name.as_deref().unwrap();
                let seen = accepted(served[name]);
                if seen != Some(conflicts.is_empty()) {
                    writeln!(
                        differences,
                        "{when}: {name}: accepted {seen:?}, expected {conflicts:?}\n  {}",
                        set.names()
                    )
                    .unwrap();
                }
            }
        }
        if differences.is_empty() || Instant::now() > end {
            wrong.push_str(&differences);
            return;
        }
        sleep(Duration::from_millis(200));
    }
}

/// The condition for the last applied names, and for serving the CRD; `None` if it is not set yet.
fn accepted(crd: &Value) -> Option<bool> {
    let (spec, status) = (&crd["spec"]["names"], &crd["status"]["acceptedNames"]);
    let is = |kind: &str| {
        let conditions = crd["status"]["conditions"].as_array()?;
        let condition = conditions.iter().find(|condition| condition["type"] == kind)?;
        Some(condition["status"] == "True")
    };
    let is_whole =
        ["plural", "singular", "kind", "listKind", "shortNames"].iter().all(|field| spec[field] == status[field]);
    match (is("NamesAccepted")?, is("Established")?) {
        (true, true) if is_whole => Some(true),
        (false, _) => Some(false),
        _ => None,
    }
}
