//! Waits until CRDs are established, and deletes CRDs together with their objects.

use std::collections::BTreeSet;

use super::Cluster;
use crate::commands::console::Verbosity;
use crate::commands::counted;
use crate::error::{ExternalError, UserError};
use opctl_cluster::{Crd, Deadline, KubectlError, NotServed, Object, Obstacle, RemainingObject};

/// The maximum number of objects in a message.
const SHOWN: usize = 5;

impl Cluster<'_> {
    /// Waits until the API server serves these CRDs.
    pub(super) fn await_served<'o>(&self, crds: impl Iterator<Item = &'o Object>) -> anyhow::Result<()> {
        let names: Vec<String> = crds.map(|crd| crd.name.clone()).collect();
        if names.is_empty() {
            return Ok(());
        }
        let mut progress = self.console.progress();
        let waiting = |names: &[&str]| progress.show(&format!("waiting for {}", names.join(", ")));
        let served = Crd::await_served(&self.kubectl, &names, Deadline::after(self.timeout), waiting);
        drop(progress);
        match served {
            Ok(()) => self.console.info(&format!("{} served", are(names.len(), "CRD"))),
            Err(NotServed::Refused(refused)) => return Err(ExternalError(self.names_taken(&refused)?).into()),
            Err(NotServed::Waiting(waiting)) => return Err(ExternalError(self.not_served(&waiting)).into()),
            Err(NotServed::Kubectl(error)) => return Err(self.failure("read the CRDs", &error).into()),
        }
        Ok(())
    }

    /// An error with the names of these CRDs that the API server does not accept, and the CRDs that already have them.
    fn names_taken(&self, refused: &[String]) -> Result<UserError, ExternalError> {
        let obstacles =
            Obstacle::of_each(&self.kubectl, refused).map_err(|error| self.failure("read the CRDs", &error))?;
        let lines: String = obstacles.iter().map(|(name, obstacle)| format!("\n  `{name}` {obstacle}")).collect();
        let mut refusal = UserError::new(format!("the API server does not accept all names{lines}"));
        for help in obstacles.into_iter().flat_map(|(_, obstacle)| obstacle.help) {
            if !refusal.help.contains(&help) {
                refusal = refusal.help(help);
            }
        }
        Ok(refusal)
    }

    fn not_served(&self, waiting: &[(String, String)]) -> UserError {
        let lines: String = waiting.iter().map(|(name, why)| format!("\n  `{name}`: {why}")).collect();
        let refusal = UserError::new(format!("not every CRD is served after {}{lines}", self.timeout_argument));
        if waiting.iter().any(|(_, why)| why.contains("being deleted")) {
            return refusal.help("a CRD is deleted after its last object: check which finalizers block these");
        }
        refusal.help(format!("look at it: `kubectl describe crd {}`", waiting[0].0))
    }

    /// Shows the objects that are deleted with the CRDs, asks for confirmation, deletes the CRDs, and waits until they
    /// are gone. Returns `false` if the user declined. `holder` is a message about the program that removes finalizers.
    pub fn delete_crds(&self, crds: &[&Object], yes: bool, holder: &str) -> anyhow::Result<bool> {
        let names: Vec<String> = crds.iter().map(|crd| crd.name.clone()).collect();
        let read = |error: KubectlError| self.failure("read the CRDs", &error);
        let there = if names.is_empty() { Vec::new() } else { Crd::all(&self.kubectl, &names).map_err(read)? };
        if there.is_empty() {
            self.console.info("none of the CRDs is in the cluster");
            return Ok(true);
        }
        if !self.may_delete_crds(&there, yes)? {
            return Ok(false);
        }
        self.delete_crds_unasked(&there, holder)?;
        Ok(true)
    }

    /// Shows the objects that are deleted with the CRDs, and asks for confirmation. Returns `false` if the user
    /// declined.
    pub fn may_delete_crds(&self, there: &[Crd], yes: bool) -> anyhow::Result<bool> {
        self.console.eprint(&self.losses(there)?);
        if !yes && !self.console.can_ask() {
            return Err(ExternalError(
                UserError::new("refusing to delete without confirmation: not a terminal")
                    .help("`--yes` deletes them; with make: `YES=1`"),
            )
            .into());
        }
        if !yes
            && !self
                .console
                .ask_no("delete them?", "deleting a CRD deletes all objects of its kind, in every namespace")?
        {
            self.console.info("nothing was deleted");
            return Ok(false);
        }
        Ok(true)
    }

    /// Shows the objects of these CRDs that only a running operator can clean up, and asks for confirmation. Returns
    /// `false` if the user declined.
    pub fn may_abandon_objects(&self, crds: &[&Object], yes: bool) -> anyhow::Result<bool> {
        let names: Vec<String> = crds.iter().map(|crd| crd.name.clone()).collect();
        if yes || names.is_empty() {
            return Ok(true);
        }
        let read = |error: KubectlError| {
            let ExternalError(refusal) = self.failure("find the objects that have finalizers", &error);
            ExternalError(refusal.help("`--yes` deletes the operator without looking for them"))
        };
        let mut text = String::new();
        for crd in Crd::all(&self.kubectl, &names).map_err(read)? {
            let mut held = crd.objects(&self.kubectl).map_err(read)?;
            held.retain(RemainingObject::waits_for_a_controller);
            if held.is_empty() {
                continue;
            }
            let lines = listed(&held, "  ", |object| format!("{}: {}", named(object), finalizers(object)));
            text.push_str(&format!("{} of `{}` with finalizers:{lines}\n", counted(held.len(), "object"), crd.name));
        }
        if text.is_empty() {
            return Ok(true);
        }
        self.console.eprint(&format!("{text}Without the operator, they are not cleaned up, and cannot be deleted.\n"));
        if !self.console.can_ask() {
            return Err(ExternalError(
                UserError::new("refusing to delete the operator without confirmation: not a terminal")
                    .help("first delete these objects, or the CRDs with them: `--delete-crds`")
                    .help("`--yes` deletes only the operator; with make: `YES=1`"),
            )
            .into());
        }
        let answer = self.console.ask_no(
            "delete the operator?",
            "only the running operator removes these finalizers: first delete the objects, then the operator",
        )?;
        if !answer {
            self.console.info("nothing was deleted");
        }
        Ok(answer)
    }

    /// Deletes the CRDs, and waits until they are gone. `holder` is a message about the program that removes
    /// finalizers.
    pub fn delete_crds_unasked(&self, there: &[Crd], holder: &str) -> anyhow::Result<()> {
        let mut delete = vec![
            "delete",
            "--ignore-not-found",
            "--wait=false",
            "-o",
            "name",
            "customresourcedefinitions.apiextensions.k8s.io",
        ];
        delete.extend(there.iter().map(|crd| crd.name.as_str()));
        let deleted = self.kubectl.output(&delete, "").map_err(|error| self.failure("delete the CRDs", &error))?;
        self.list("delete", &deleted);
        self.await_gone(there, holder)
    }

    /// The kinds, with the number of objects of each.
    fn losses(&self, crds: &[Crd]) -> anyhow::Result<String> {
        let mut text = String::from("this deletes these kinds, and all their objects in the cluster:\n");
        let width = crds.iter().map(|crd| crd.name.len()).max().unwrap_or_default();
        for crd in crds {
            let held = crd.objects(&self.kubectl).map_err(|error| {
                let ExternalError(refusal) = self.failure(&format!("count the objects of `{}`", crd.name), &error);
                ExternalError(refusal.help("nothing was deleted, since what would go is not known"))
            })?;
            let namespaces: BTreeSet<&str> = held.iter().map(|object| object.namespace.as_str()).collect();
            let spread = match namespaces.len() {
                0 => String::new(),
                _ if namespaces.contains("") => String::new(),
                number => format!(" in {}", counted(number, "namespace")),
            };
            let number = if held.is_empty() { "no object".into() } else { counted(held.len(), "object") };
            let is_verbose = self.console.verbosity == Verbosity::Verbose;
            let lines = if is_verbose { listed(&held, "    ", named) } else { String::new() };
            text.push_str(&format!("  {:width$}  {number}{spread}{lines}\n", crd.name));
        }
        Ok(text)
    }

    fn await_gone(&self, crds: &[Crd], holder: &str) -> anyhow::Result<()> {
        let names: Vec<String> = crds.iter().map(|crd| crd.name.clone()).collect();
        let mut progress = self.console.progress();
        let waiting = |left| progress.show(&format!("waiting for the deletion of {}", counted(left, "CRD")));
        let left = Crd::await_gone(&self.kubectl, &names, Deadline::after(self.timeout), waiting);
        drop(progress);
        let left = left.map_err(|error| self.failure("read the CRDs", &error))?;
        if left.is_empty() { Ok(()) } else { Err(ExternalError(self.deletion_blocked(&left, holder)?).into()) }
    }

    /// An error with the objects that block the deletion of CRDs, and their finalizers.
    fn deletion_blocked(&self, crds: &[Crd], holder: &str) -> Result<UserError, ExternalError> {
        let mut lines = String::new();
        let mut example = None;
        for crd in crds {
            let held = crd.objects(&self.kubectl).map_err(|error| self.failure("list what is left", &error))?;
            lines.push_str(&format!("\n  `{}`: {} left", crd.name, counted(held.len(), "object")));
            lines.push_str(&listed(&held, "    ", |object| {
                format!("{}: held by {}", named(object), finalizers(object))
            }));
            if let Some(object) = held.iter().find(|object| !object.finalizers.is_empty()) {
                let namespace =
                    if object.namespace.is_empty() { String::new() } else { format!(" -n {}", object.namespace) };
                example.get_or_insert(format!("kubectl patch {} {}{namespace}", crd.name, object.name));
            }
        }
        let refusal =
            UserError::new(format!("some CRDs still exist after {}{lines}", self.timeout_argument)).help(holder);
        Ok(match example {
            Some(patch) => refusal.help(format!(
                "to give up what they wait for, take their finalizers away: `{patch} --type=merge -p '{{\"metadata\":{{\"finalizers\":null}}}}'`"
            )),
            None => refusal,
        })
    }
}

/// A line for each of the first [`SHOWN`] objects, and the number of the others.
fn listed(objects: &[RemainingObject], indent: &str, line: impl Fn(&RemainingObject) -> String) -> String {
    let mut lines: String = objects.iter().take(SHOWN).map(|object| format!("\n{indent}{}", line(object))).collect();
    if objects.len() > SHOWN {
        lines.push_str(&format!("\n{indent}and {} more", objects.len() - SHOWN));
    }
    lines
}

fn named(object: &RemainingObject) -> String {
    match object.namespace.as_str() {
        "" => format!("`{}`", object.name),
        namespace => format!("`{namespace}/{}`", object.name),
    }
}

fn finalizers(object: &RemainingObject) -> String {
    match &object.finalizers[..] {
        [] => "nothing, so it will be deleted soon".into(),
        finalizers => format!("`{}`", finalizers.join("`, `")),
    }
}

/// `1 CRD is`, `2 CRDs are`.
fn are(number: usize, what: &str) -> String {
    format!("{} {}", counted(number, what), if number == 1 { "is" } else { "are" })
}
