//! Rewrites the objects of a CRD in the storage version by empty patches, and tracks which are stored in it.
//!
//! After an empty patch, the API server only writes an object whose stored form differs from the current one. So an
//! object with an unchanged `resourceVersion` is stored in the storage version, and repeating a migration does not
//! write objects again. `kubectl replace` cannot be used, because it rewrites the annotation
//! `last-applied-configuration` of objects created by `kubectl apply`.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use serde_json::{Value, json};

use crate::{FailureCause, Kubectl, KubectlError, KubectlOutput, crds, items, list, text_at};
use opctl_model::threads;

/// The versions in which objects of a CRD may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The name: `memcacheds.cache.example.com`.
    pub crd: String,
    pub kind: String,
    /// The storage version.
    pub version: String,
    /// `status.storedVersions`.
    pub stored: Vec<String>,
    pub is_terminating: bool,
    pub spec: Value,
    /// `None` if no version is served, so no object can be read.
    served: Option<String>,
    generation: i64,
    resource_version: String,
}

/// Namespace (empty for cluster-scoped objects) and name.
pub type Key = (String, String);

/// The result of processing all objects once.
#[derive(Debug, Default)]
pub struct Sweep {
    pub rewritten: usize,
    /// Objects found to be stored in the storage version.
    pub verified: usize,
    /// Objects deleted by others at the same time, or without a response from the API server.
    pub unanswered: usize,
    /// The reasons of the API server for rejecting updates of objects.
    pub failures: Vec<String>,
    /// The last reason for a missing response.
    pub disturbance: Option<String>,
}

#[derive(Debug, Default)]
pub struct Migration {
    verified: BTreeSet<Key>,
    rewrites: BTreeMap<Key, Rewrite>,
}

/// The empty patches of one object that changed its `resourceVersion`.
#[derive(Debug, Default)]
struct Rewrite {
    /// The number of consecutive patches, without a change by others before the next one.
    times: usize,
    /// The number of times that others had changed the object before a patch.
    by_others: usize,
    /// The `resourceVersion` after the last patch.
    version: String,
}

/// The maximum number of objects in memory.
const PAGE: usize = 400;
/// An object that others have changed this often since it was first rewritten is stored in the storage version, as they
/// wrote it.
const CHANGED_BY_OTHERS: usize = 3;
/// The number of parallel kubectl processes for updates; each updates its objects sequentially.
const PARALLEL: usize = 4;

impl Storage {
    /// The stored versions of those of these CRDs that exist in the cluster.
    pub fn all(kubectl: &Kubectl, crds: &[String]) -> Result<Vec<Self>, KubectlError> {
        Ok(crds::get(kubectl, crds)?.iter().map(Self::of).collect())
    }

    pub fn of(crd: &Value) -> Self {
        let versions = list(&crd["spec"]["versions"]);
        let name = |version: &Value| text_at(version, "/name").to_owned();
        let storage = versions.iter().find(|version| version["storage"] == true);
        let served = versions.iter().filter(|version| version["served"] == true);
        let stored = crd["status"]["storedVersions"].as_array().into_iter().flatten();
        Self {
            crd: text_at(crd, "/metadata/name").into(),
            kind: text_at(crd, "/spec/names/kind").into(),
            version: storage.map(name).unwrap_or_default(),
            stored: stored.filter_map(|version| version.as_str().map(String::from)).collect(),
            is_terminating: crd.pointer("/metadata/deletionTimestamp").is_some(),
            spec: crd["spec"].clone(),
            // Objects in the storage version need no conversion.
            served: served.max_by_key(|version| version["storage"] == true).map(name),
            generation: crd["metadata"]["generation"].as_i64().unwrap_or_default(),
            resource_version: text_at(crd, "/metadata/resourceVersion").into(),
        }
    }

    /// The stored versions other than the storage version.
    pub fn old(&self) -> Vec<&str> {
        self.stored.iter().map(String::as_str).filter(|version| *version != self.version).collect()
    }

    /// `true` if objects are read and written in the same way as with the earlier state.
    pub fn is_same_as(&self, earlier: &Self) -> bool {
        (self.generation, &self.version) == (earlier.generation, &earlier.version)
    }

    /// True if a webhook converts between the versions.
    pub fn has_conversion(&self) -> bool {
        self.spec["conversion"]["strategy"] == "Webhook"
    }

    pub fn is_served(&self) -> bool {
        self.served.is_some()
    }

    /// The number of objects in the cluster.
    pub fn count(&self, kubectl: &Kubectl) -> Result<usize, KubectlError> {
        self.page(kubectl, 1, "").map(|page| page.objects.len() + page.remaining)
    }

    fn page(&self, kubectl: &Kubectl, limit: usize, token: &str) -> Result<Page, KubectlError> {
        let (group, plural) = (text_at(&self.spec, "/group"), text_at(&self.spec, "/names/plural"));
        let version = self.served.as_deref().unwrap_or_default();
        let path = format!("/apis/{group}/{version}/{plural}?limit={limit}&continue={token}");
        let list = kubectl.output(&["get", "--raw", &path], "")?;
        let list: Value = serde_json::from_str(&list).unwrap_or_default();
        let remaining = list["metadata"]["remainingItemCount"].as_u64().unwrap_or_default();
        Ok(Page {
            objects: list["items"].as_array().cloned().unwrap_or_default(),
            remaining: usize::try_from(remaining).unwrap_or(usize::MAX),
            next: Some(text_at(&list, "/metadata/continue").to_owned()).filter(|token| !token.is_empty()),
        })
    }

    /// Removes all versions except the storage version from the status. The API server rejects this if the CRD has
    /// changed since it was read.
    pub fn trim(&self, kubectl: &Kubectl) -> Result<(), KubectlError> {
        let patch = json!({
            "metadata": { "resourceVersion": self.resource_version },
            "status": { "storedVersions": [self.version] },
        });
        let resource = "customresourcedefinitions.apiextensions.k8s.io";
        let patch = patch.to_string();
        let arguments =
            ["patch", resource, &self.crd, "--subresource=status", "--type=merge", "-o", "name", "-p", &patch];
        kubectl.output(&arguments, "").map(drop)
    }
}

struct Page {
    objects: Vec<Value>,
    /// The number of objects after this page.
    remaining: usize,
    next: Option<String>,
}

impl Migration {
    /// Rewrites all objects that are not verified yet. Reports the number of processed and of all objects.
    pub fn sweep(
        &mut self,
        kubectl: &Kubectl,
        storage: &Storage,
        mut report: impl FnMut(usize, usize),
    ) -> Result<Sweep, KubectlError> {
        let mut sweep = Sweep::default();
        let mut seen: BTreeSet<Key> = BTreeSet::new();
        let (mut token, mut done) = (String::new(), 0);
        loop {
            let page = match storage.page(kubectl, PAGE, &token) {
                // The list has expired. It starts again, without the objects that were already processed.
                Err(error) if !token.is_empty() && is_expired(&error) => {
                    (token, done) = (String::new(), 0);
                    continue;
                }
                page => page?,
            };
            done += page.objects.len();
            let mut pending = page.objects;
            pending.retain(|object| !self.is_verified(object) && seen.insert(key(object)));
            self.rewrite(kubectl, &pending, &mut sweep)?;
            report(done, done + page.remaining);
            match page.next {
                Some(next) => token = next,
                None => return Ok(sweep),
            }
        }
    }

    fn is_verified(&self, object: &Value) -> bool {
        self.verified.contains(&key(object))
    }

    /// The objects that nobody else changes and that were rewritten at least this many times in a row.
    pub fn rewritten(&self, times: usize) -> Vec<&Key> {
        self.rewrites.iter().filter(|(_, rewrite)| rewrite.times >= times).map(|(key, _)| key).collect()
    }

    /// Records an object whose `resourceVersion` changed from the listed one by an empty patch.
    fn add_rewrite(&mut self, key: Key, listed: &str, version: &str) {
        let rewrite = self.rewrites.entry(key.clone()).or_default();
        if rewrite.version.is_empty() || rewrite.version == listed {
            rewrite.times += 1;
        } else {
            rewrite.times = 1;
            rewrite.by_others += 1;
        }
        version.clone_into(&mut rewrite.version);
        if rewrite.by_others == CHANGED_BY_OTHERS {
            self.verified.insert(key);
        }
    }

    pub fn verified(&self) -> usize {
        self.verified.len()
    }

    fn rewrite(&mut self, kubectl: &Kubectl, objects: &[Value], sweep: &mut Sweep) -> Result<(), KubectlError> {
        let patched: Vec<_> = thread::scope(|scope| {
            let parts = objects.chunks(objects.len().div_ceil(PARALLEL).max(1));
            let parts: Vec<_> = parts.map(|part| threads::spawn(scope, || patch(kubectl, part))).collect();
            parts.into_iter().map(threads::join).collect()
        });
        let versions = objects.iter().map(|object| (key(object), text_at(object, "/metadata/resourceVersion")));
        let mut left: BTreeMap<Key, &str> = versions.collect();
        let mut stopped = None;
        for patched in patched {
            let (output, error) = patched?;
            for (key, version) in output.stdout.lines().filter_map(parse_patched) {
                match left.remove(&key) {
                    Some(listed) if listed == version => {
                        sweep.verified += 1;
                        self.verified.insert(key);
                    }
                    listed => {
                        sweep.rewritten += 1;
                        self.add_rewrite(key, listed.unwrap_or_default(), version);
                    }
                }
            }
            match error {
                // Contains a message for each object.
                Some(KubectlError::Failed { ref stderr, .. })
                    if error.as_ref().is_some_and(|error| error.cause() == FailureCause::Other) =>
                {
                    let (failures, disturbance) = messages(stderr);
                    sweep.failures.extend(failures);
                    sweep.disturbance = disturbance.or(sweep.disturbance.take());
                }
                error => stopped = stopped.or(error),
            }
        }
        sweep.unanswered += left.len();
        stopped.map_or(Ok(()), Err)
    }
}

/// Sends an empty patch for each object.
fn patch(kubectl: &Kubectl, objects: &[Value]) -> Result<(KubectlOutput, Option<KubectlError>), KubectlError> {
    let identity = |object: &Value| {
        let metadata = ["name", "namespace"].map(|field| (field, &object["metadata"][field]));
        let metadata: BTreeMap<_, _> = metadata.into_iter().filter(|(_, value)| !value.is_null()).collect();
        json!({ "apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": metadata })
    };
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects.iter().map(identity).collect::<Vec<_>>() });
    kubectl.run_to_the_end(&PATCH, &list.to_string())
}

const PATCH: [&str; 10] = [
    "patch",
    "--type=merge",
    "-p",
    "{}",
    "--field-manager",
    "opctl-migrate",
    "-o",
    r#"jsonpath={.metadata.namespace}{"\t"}{.metadata.name}{"\t"}{.metadata.resourceVersion}{"\n"}"#,
    "-f",
    "-",
];

fn key(object: &Value) -> Key {
    (text_at(object, "/metadata/namespace").into(), text_at(object, "/metadata/name").into())
}

/// Parses an object in the output, and its `resourceVersion`.
fn parse_patched(line: &str) -> Option<(Key, &str)> {
    let mut parts = line.split('\t');
    Some(((parts.next()?.into(), parts.next()?.into()), parts.next()?))
}

fn is_expired(error: &KubectlError) -> bool {
    matches!(error, KubectlError::Failed { stderr, .. } if stderr.contains("(Expired)"))
}

/// Temporary errors of the API server: others have changed or deleted the object, or the server is overloaded.
const PASSING: [&str; 6] =
    ["(Conflict)", "(NotFound)", "(TooManyRequests)", "(Timeout)", "(ServerTimeout)", "(ServiceUnavailable)"];

/// The prefix of errors from the API server, as opposed to network errors.
const ANSWER: &str = "Error from server ";

/// `true` if the error is temporary.
pub fn is_passing(error: &KubectlError) -> bool {
    let KubectlError::Failed { stderr, .. } = error else { return false };
    let is_overload = || PASSING[2..].iter().any(|why| stderr.contains(why));
    match error.cause() {
        FailureCause::Unreachable => true,
        FailureCause::Other => !stderr.contains(ANSWER) || is_overload(),
        _ => false,
    }
}

/// A message for each object that the API server refuses to update, including detail lines; and the reason for missing
/// responses.
fn messages(stderr: &str) -> (Vec<String>, Option<String>) {
    let (mut failures, mut disturbance): (Vec<String>, _) = (Vec::new(), None);
    let mut is_refused = false;
    for line in stderr.lines().filter(|line| !line.starts_with("Warning: ")) {
        if line.starts_with(['*', ' ', '\t']) {
            if let Some(failure) = failures.last_mut().filter(|_| is_refused) {
                failure.extend([" ", line.trim()]);
            }
            continue;
        }
        let answer = line.strip_prefix(ANSWER);
        is_refused = match answer {
            Some(answer) => !PASSING.iter().any(|why| answer.starts_with(why)),
            None => line.contains(" is invalid: "),
        };
        match answer.unwrap_or(line) {
            message if is_refused => failures.push(message.to_owned()),
            message if answer.is_none() => disturbance = Some(message.to_owned()),
            _ => {}
        }
    }
    (failures, disturbance)
}

/// Lets the cluster rewrite the objects: a StorageVersionMigration, which the controller manager processes.
pub struct VersionMigration<'a> {
    pub name: String,
    kubectl: &'a Kubectl,
    version: &'static str,
    storage: &'a Storage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MigrationState {
    /// Without a status: the controller manager may not support this API.
    Ignored,
    Running,
    Succeeded,
    Failed(String),
}

const RESOURCE: &str = "storageversionmigrations.storagemigration.k8s.io";

impl<'a> VersionMigration<'a> {
    /// `None` if the cluster does not serve this API.
    pub fn of(kubectl: &'a Kubectl, storage: &'a Storage) -> Option<Self> {
        let group = kubectl.output(&["get", "--raw", "/apis/storagemigration.k8s.io"], "").ok()?;
        let version = served_version(&group)?;
        Some(Self { name: format!("opctl-{}", storage.crd), kubectl, version, storage })
    }

    /// Starts the migration. Replaces one of an earlier run that has ended.
    pub fn start(&self) -> Result<(), KubectlError> {
        if !matches!(self.state()?, Some(MigrationState::Ignored | MigrationState::Running)) {
            self.delete()?;
            let resource = json!({
                "group": self.storage.spec["group"], "resource": self.storage.spec["names"]["plural"],
            });
            let object = json!({
                "apiVersion": format!("storagemigration.k8s.io/{}", self.version), "kind": "StorageVersionMigration",
                "metadata": { "name": self.name }, "spec": { "resource": resource },
            });
            self.kubectl.output(&["create", "-o", "name", "-f", "-"], &object.to_string())?;
        }
        Ok(())
    }

    /// `None` if it does not exist.
    pub fn state(&self) -> Result<Option<MigrationState>, KubectlError> {
        let get = ["get", RESOURCE, &self.name, "--ignore-not-found", "-o", "json"];
        Ok(items(&self.kubectl.output(&get, "")?).first().map(state))
    }

    pub fn delete(&self) -> Result<(), KubectlError> {
        self.kubectl.output(&["delete", RESOURCE, &self.name, "--ignore-not-found", "-o", "name"], "").map(drop)
    }
}

/// The latest supported version. `v1alpha1` has a different schema.
fn served_version(group: &str) -> Option<&'static str> {
    let group: Value = serde_json::from_str(group).ok()?;
    let served = |version: &&str| {
        group["versions"].as_array().is_some_and(|versions| versions.iter().any(|it| it["version"] == **version))
    };
    ["v1", "v1beta1"].into_iter().find(|version| served(version))
}

fn state(migration: &Value) -> MigrationState {
    let condition = |name| super::condition(migration, name).filter(|[status, ..]| *status == "True");
    match (condition("Succeeded"), condition("Failed"), condition("Running")) {
        (Some(_), ..) => MigrationState::Succeeded,
        (_, Some([_, reason, message]), _) => {
            MigrationState::Failed(if message.is_empty() { reason } else { message }.to_owned())
        }
        (.., Some(_)) => MigrationState::Running,
        _ => MigrationState::Ignored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storage_version_is_read_and_written_if_it_is_served() {
        let crd = |served: [bool; 2]| {
            Storage::of(&json!({
                "metadata": { "name": "as.b.c", "generation": 3, "resourceVersion": "7" },
                "spec": { "group": "b.c", "names": { "kind": "A", "plural": "as" }, "versions": [
                    { "name": "v1", "served": served[0], "storage": false },
                    { "name": "v2", "served": served[1], "storage": true },
                ] },
                "status": { "storedVersions": ["v1", "v2"] },
            }))
        };
        assert_eq!(crd([true, true]).served.as_deref(), Some("v2"));
        assert_eq!(crd([true, false]).served.as_deref(), Some("v1"));
        assert!(!crd([false, false]).is_served());
        assert_eq!(crd([true, true]).old(), ["v1"]);
    }

    #[test]
    fn conflicts_are_no_failures() {
        let stderr = "Error from server (Conflict): error when replacing \"STDIN\": Operation cannot be fulfilled on as.b.c \"x\"\n\
            The A \"y\" is invalid: \n* spec.a: Required value\n* spec.b: Required value\n\
            Error from server (NotFound): error when replacing \"STDIN\": as.b.c \"z\" not found\n\
            error when replacing \"STDIN\": Put \"https://127.0.0.1/apis/b.c\": EOF\n\
            Error from server (Forbidden): error when replacing \"STDIN\": admission webhook \"w\" denied the request: no";
        let refused = "The A \"y\" is invalid:  * spec.a: Required value * spec.b: Required value";
        let denied = "(Forbidden): error when replacing \"STDIN\": admission webhook \"w\" denied the request: no";
        let eof = "error when replacing \"STDIN\": Put \"https://127.0.0.1/apis/b.c\": EOF".to_owned();
        assert_eq!(messages(stderr), (vec![refused.to_owned(), denied.to_owned()], Some(eof)));
    }

    #[test]
    fn what_others_change_all_the_time_is_stored_as_they_write_it() {
        let key = (String::new(), "a".to_owned());
        let mut migration = Migration::default();
        for round in 0..=CHANGED_BY_OTHERS {
            assert!(!migration.verified.contains(&key), "{round}");
            // Others have changed the object before each list.
            migration.add_rewrite(key.clone(), &format!("{round}1"), &format!("{round}2"));
        }
        assert!(migration.verified.contains(&key));
        assert_eq!(migration.rewritten(2), Vec::<&Key>::new());
    }

    #[test]
    fn what_changes_with_each_patch_is_told_from_what_others_change() {
        let key = (String::new(), "a".to_owned());
        let mut migration = Migration::default();
        for version in 1..4 {
            migration.add_rewrite(key.clone(), &version.to_string(), &(version + 1).to_string());
        }
        assert_eq!(migration.rewritten(3), [&key]);
        assert!(migration.verified.is_empty());
    }

    #[test]
    fn patched_objects_are_read_from_lines() {
        let key = |namespace: &str| (namespace.to_owned(), "a".to_owned());
        assert_eq!(parse_patched("ns\ta\t12"), Some((key("ns"), "12")));
        assert_eq!(parse_patched("\ta\t12"), Some((key(""), "12")));
        assert_eq!(parse_patched("a.b.c/x replaced"), None);
    }

    #[test]
    fn the_state_of_a_migration_is_in_its_conditions() {
        let of = |kind: &str| {
            state(&json!({ "status": { "conditions": [
            { "type": "Running", "status": if kind == "Running" { "True" } else { "False" } },
            { "type": kind, "status": "True", "message": "why" },
        ] } }))
        };
        assert_eq!(of("Running"), MigrationState::Running);
        assert_eq!(of("Succeeded"), MigrationState::Succeeded);
        assert_eq!(of("Failed"), MigrationState::Failed("why".into()));
        assert_eq!(state(&json!({})), MigrationState::Ignored);
        assert_eq!(
            served_version(r#"{"versions": [{"version": "v1beta1"}, {"version": "v1alpha1"}]}"#),
            Some("v1beta1")
        );
        assert_eq!(served_version(r#"{"versions": [{"version": "v1alpha1"}]}"#), None);
    }
}
