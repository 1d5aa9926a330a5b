//! What the verbs have in common: the cluster that is worked on, how it is told of what goes wrong there, applying, deleting
//! and waiting.

use std::collections::BTreeSet;
use std::time::Duration;

use super::console::Verbosity;
use super::error::{OnCluster, Refusal};
use super::{Console, counted, environment};
use crate::cli;
use crate::cluster::{self, Crd, Deadline, Kubectl, KubectlError, Object, State, Trouble};
use crate::plan::Mode;

/// The cluster of a command.
pub struct Cluster<'a> {
    pub kubectl: Kubectl,
    pub timeout: Duration,
    /// As the user has said it.
    said_timeout: &'a str,
    pub console: &'a Console,
}

/// Who has which field. `kubectl apply -f dist/install.yaml` has another one.
const FIELD_MANAGER: &str = "opctl";

impl<'a> Cluster<'a> {
    /// Nothing is asked of it yet. `command` is refused where it would not do what the flags about writing say.
    pub fn of(args: &'a cli::Cluster, command: &str, console: &'a Console) -> anyhow::Result<Self> {
        let flag = match console.mode {
            Mode::Apply if console.overwrite.is_empty() => None,
            Mode::Apply => Some("--overwrite"),
            Mode::DryRun => Some("--dry-run"),
            Mode::Diff => Some("--diff"),
            Mode::Check => Some("--check"),
        };
        if let Some(flag) = flag {
            return Err(Refusal::new(format!("`{flag}` is about files, and `opctl {command}` writes none"))
                .help(format!("`opctl {command} --print` shows the manifests that it is about, and touches no cluster"))
                .help(format!("`… --print | kubectl diff --server-side --force-conflicts --field-manager {FIELD_MANAGER} -f -` compares them with a cluster"))
                .into());
        }
        let timeout = duration(&args.timeout).ok_or_else(|| {
            Refusal::new(format!("invalid timeout `{}`", args.timeout)).help("write it as `90s`, `2m`, `1m30s` or `1h`")
        })?;
        let kubectl = environment::kubectl(args.program.kubectl.as_deref(), args.context.as_deref());
        Ok(Self { kubectl, timeout, said_timeout: &args.timeout, console })
    }

    /// For a command that has a cluster already.
    pub fn with(kubectl: Kubectl, console: &'a Console) -> Self {
        Self { kubectl, timeout: Duration::from_secs(60), said_timeout: "60s", console }
    }

    /// Says which cluster it is, and sees that somebody answers there.
    pub fn begin(&self) -> anyhow::Result<()> {
        let view = self.kubectl.output(&["config", "view", "--minify", "-o", "json"], "");
        let mut has_context = true;
        match view {
            Ok(view) => {
                let view = cluster::items(&view).into_iter().next().unwrap_or_default();
                let context = view["current-context"].as_str().unwrap_or_default().to_owned();
                let context = self.kubectl.context.clone().unwrap_or(context);
                let server = view["clusters"][0]["cluster"]["server"].as_str().unwrap_or("unknown").to_owned();
                self.console.say(&format!("cluster: context `{context}`, server {server}"));
            }
            Err(error) => match (error.trouble(), &self.kubectl.context) {
                (Trouble::NoContext, Some(context)) => {
                    return Err(OnCluster(
                        Refusal::new(format!("the kubeconfig has no context `{context}`"))
                            .help("`kubectl config get-contexts` lists those that it has"),
                    )
                    .into());
                }
                // In a Pod, kubectl knows the cluster without one.
                (Trouble::NoContext, None) => {
                    has_context = false;
                    self.console
                        .say("cluster: the kubeconfig names none, so it is the one that kubectl finds by itself");
                }
                _ => return Err(self.told("read the kubeconfig", &error).into()),
            },
        }
        // One request, and no discovery: it fails at once or after this time.
        match self.kubectl.output(&["get", "--raw", "/version", "--request-timeout", "10s"], "") {
            Ok(_) => Ok(()),
            Err(error) => match error.trouble() {
                // Somebody answers.
                Trouble::Forbidden(_) => Ok(()),
                Trouble::Unauthorized | Trouble::NoKubectl => Err(self.told("ask the cluster", &error).into()),
                _ if words(&error).contains("(Forbidden)") => Ok(()),
                _ => Err(OnCluster(unreachable(&error, has_context)).into()),
            },
        }
    }

    /// Server-side apply: these manifests say what their fields are, whoever has changed them meanwhile. Fields that they
    /// no longer have go too, and an object may be larger than the annotation of another apply.
    pub fn apply(&self, objects: &[&Object]) -> anyhow::Result<()> {
        if objects.is_empty() {
            return Ok(());
        }
        let apply =
            ["apply", "--server-side", "--force-conflicts", "--field-manager", FIELD_MANAGER, "-o", "name", "-f", "-"];
        let text = cluster::text(objects.iter().copied());
        let said = self.kubectl.run(&apply, &text).map_err(|error| {
            let OnCluster(refusal) = self.told("apply the manifests", &error);
            OnCluster(refusal.help("what was applied before that stays; run the command again once it is mended"))
        })?;
        self.list("apply", &said.output);
        said.warnings.iter().for_each(|warning| self.console.warn(warning));
        Ok(())
    }

    /// What is not there is passed over, and so are kinds that the cluster does not know.
    pub fn delete(&self, objects: &[&Object]) -> anyhow::Result<()> {
        if objects.is_empty() {
            return Ok(());
        }
        let timeout = format!("{}s", self.timeout.as_secs().max(1));
        let delete = ["delete", "--ignore-not-found", "--timeout", &timeout, "-o", "name", "-f", "-"];
        let mut left: Vec<&Object> = objects.to_vec();
        loop {
            let error = match self.kubectl.run(&delete, &cluster::text(left.iter().copied())) {
                Ok(said) => {
                    self.list("delete", &said.output);
                    return Ok(());
                }
                Err(error) => error,
            };
            let unknown: Vec<String> = unknown_kinds(&words(&error));
            let before = left.len();
            left.retain(|object| !unknown.contains(&object.kind));
            if left.len() == before {
                return Err(self.told("delete the manifests", &error).into());
            }
            if left.is_empty() {
                return Ok(());
            }
        }
    }

    fn list(&self, verb: &str, names: &str) {
        self.console.list(&names.lines().map(|name| format!("{verb}  {name}\n")).collect::<String>());
    }

    /// Waits until the API server serves the objects of these CRDs.
    pub fn await_served(&self, crds: &[&Object]) -> anyhow::Result<()> {
        let names: Vec<String> = crds.iter().map(|crd| crd.name.clone()).collect();
        if names.is_empty() {
            return Ok(());
        }
        let deadline = Deadline::after(self.timeout);
        let mut progress = self.console.progress();
        loop {
            let there = Crd::all(&self.kubectl, &names).map_err(|error| self.told("read the CRDs", &error))?;
            let mut waiting: Vec<(String, String)> = Vec::new();
            let mut refused: Vec<(String, String)> = Vec::new();
            for name in &names {
                match there.iter().find(|crd| crd.name == *name).map(|crd| &crd.state) {
                    Some(State::Served) => {}
                    Some(State::Waiting(why)) => waiting.push((name.clone(), why.clone())),
                    Some(State::Refused(why)) => refused.push((name.clone(), why.clone())),
                    None => waiting.push((name.clone(), "it is gone: somebody has deleted it".into())),
                }
            }
            if waiting.is_empty() && refused.is_empty() {
                drop(progress);
                self.console.say(&format!("{} served", are(names.len(), "CRD")));
                return Ok(());
            }
            // What was refused of an earlier CRD may still stand there.
            if !refused.is_empty() && deadline.has_waited(PATIENCE_WITH_NAMES) {
                drop(progress);
                return Err(OnCluster(names_taken(&refused)).into());
            }
            if deadline.has_passed() {
                drop(progress);
                waiting.append(&mut refused);
                return Err(OnCluster(self.not_served(&waiting)).into());
            }
            progress.show(&format!(
                "waiting for {}",
                waiting.iter().chain(&refused).map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
            ));
            deadline.pause();
        }
    }

    fn not_served(&self, waiting: &[(String, String)]) -> Refusal {
        let lines: String = waiting.iter().map(|(name, why)| format!("\n  `{name}`: {why}")).collect();
        let refusal = Refusal::new(format!("not every CRD is served after {}{lines}", self.said_timeout));
        if waiting.iter().any(|(_, why)| why.contains("being deleted")) {
            return refusal.help("a CRD goes when its last object has gone: see which finalizers hold these");
        }
        refusal.help(format!("look at it: `kubectl describe crd {}`", waiting[0].0))
    }

    /// Shows which objects go with the CRDs, asks, deletes the CRDs, and waits until they are gone. `false`: the answer
    /// was no. `holder` says who could take finalizers away.
    pub fn delete_crds(&self, crds: &[&Object], yes: bool, holder: &str) -> anyhow::Result<bool> {
        let names: Vec<String> = crds.iter().map(|crd| crd.name.clone()).collect();
        let read = |error: KubectlError| self.told("read the CRDs", &error);
        let there = if names.is_empty() { Vec::new() } else { Crd::all(&self.kubectl, &names).map_err(read)? };
        if there.is_empty() {
            self.console.say("none of the CRDs is in the cluster");
            return Ok(true);
        }
        self.console.tell(&self.losses(&there)?);
        if !yes && !self.console.can_ask() {
            return Err(OnCluster(
                Refusal::new("nobody can be asked here whether these are to be deleted, so nothing was")
                    .help("`--yes` deletes them; with make: `YES=1`"),
            )
            .into());
        }
        if !yes && !self.console.ask_yes_no("delete them?")? {
            self.console.say("nothing was deleted");
            return Ok(false);
        }
        let mut delete = vec![
            "delete",
            "--ignore-not-found",
            "--wait=false",
            "-o",
            "name",
            "customresourcedefinitions.apiextensions.k8s.io",
        ];
        delete.extend(there.iter().map(|crd| crd.name.as_str()));
        let said = self.kubectl.output(&delete, "").map_err(|error| self.told("delete the CRDs", &error))?;
        self.list("delete", &said);
        self.await_gone(&there, holder)?;
        Ok(true)
    }

    /// Each kind, and how many objects of it there are.
    fn losses(&self, crds: &[Crd]) -> anyhow::Result<String> {
        let mut text = String::from("these kinds go, and with them every object of them in the whole cluster:\n");
        let width = crds.iter().map(|crd| crd.name.len()).max().unwrap_or_default();
        for crd in crds {
            let held = crd.objects(&self.kubectl).map_err(|error| {
                let OnCluster(refusal) = self.told(&format!("count the objects of `{}`", crd.name), &error);
                OnCluster(refusal.help("nothing was deleted, since what would go is not known"))
            })?;
            let namespaces: BTreeSet<&str> = held.iter().map(|object| object.namespace.as_str()).collect();
            let spread = match namespaces.len() {
                0 => String::new(),
                _ if namespaces.contains("") => String::new(),
                number => format!(" in {}", counted(number, "namespace")),
            };
            let number = if held.is_empty() { "no object".into() } else { counted(held.len(), "object") };
            text.push_str(&format!("  {:width$}  {number}{spread}\n", crd.name));
            if self.console.verbosity == Verbosity::Verbose {
                held.iter().take(SHOWN).for_each(|object| text.push_str(&format!("    {}\n", named(object))));
                if held.len() > SHOWN {
                    text.push_str(&format!("    and {} more\n", held.len() - SHOWN));
                }
            }
        }
        Ok(text)
    }

    fn await_gone(&self, crds: &[Crd], holder: &str) -> anyhow::Result<()> {
        let names: Vec<String> = crds.iter().map(|crd| crd.name.clone()).collect();
        let deadline = Deadline::after(self.timeout);
        let mut progress = self.console.progress();
        loop {
            let mut left = Crd::all(&self.kubectl, &names).map_err(|error| self.told("read the CRDs", &error))?;
            // One that does not go was made anew by somebody meanwhile.
            left.retain(|crd| crd.is_terminating);
            if left.is_empty() {
                return Ok(());
            }
            if deadline.has_passed() {
                drop(progress);
                return Err(OnCluster(self.held_back(&left, holder)?).into());
            }
            progress.show(&format!("waiting until {} gone", are(left.len(), "CRD")));
            deadline.pause();
        }
    }

    /// Which objects hold the CRDs, and by which finalizer.
    fn held_back(&self, crds: &[Crd], holder: &str) -> Result<Refusal, OnCluster> {
        let mut lines = String::new();
        let mut example = None;
        for crd in crds {
            let held = crd.objects(&self.kubectl).map_err(|error| self.told("list what is left", &error))?;
            lines.push_str(&format!("\n  `{}`: {} left", crd.name, counted(held.len(), "object")));
            for object in held.iter().take(SHOWN) {
                lines.push_str(&format!("\n    {}: held by {}", named(object), finalizers(object)));
            }
            if held.len() > SHOWN {
                lines.push_str(&format!("\n    and {} more", held.len() - SHOWN));
            }
            if let Some(object) = held.iter().find(|object| !object.finalizers.is_empty()) {
                let namespace =
                    if object.namespace.is_empty() { String::new() } else { format!(" -n {}", object.namespace) };
                example.get_or_insert(format!("kubectl patch {} {}{namespace}", crd.name, object.name));
            }
        }
        let refusal = Refusal::new(format!("not every CRD is gone after {}{lines}", self.said_timeout)).help(holder);
        Ok(match example {
            Some(patch) => refusal.help(format!(
                "to give up what they wait for, take their finalizers away: `{patch} --type=merge -p '{{\"metadata\":{{\"finalizers\":null}}}}'`"
            )),
            None => refusal,
        })
    }

    /// What is said when kubectl fails to do something.
    pub fn told(&self, purpose: &str, error: &KubectlError) -> OnCluster {
        OnCluster(match error.trouble() {
            Trouble::NoKubectl => no_kubectl(error),
            Trouble::Unreachable => unreachable(error, true),
            Trouble::Unauthorized => {
                Refusal::new(format!("cannot {purpose}: the cluster does not accept this user: {}", words(error))).help(
                    "log in again, or choose another one with `--context`; `kubectl config get-contexts` lists them",
                )
            }
            Trouble::Forbidden(denials) => {
                let list: Vec<String> = denials.iter().map(ToString::to_string).collect();
                let message = match &list[..] {
                    [one] => format!("cannot {purpose}: {one}"),
                    many => format!("cannot {purpose}:\n  {}", many.join("\n  ")),
                };
                let namespace = denials[0].namespace.as_ref().map(|namespace| format!(" -n {namespace}"));
                let check = format!(
                    "kubectl auth can-i {} {}{}",
                    denials[0].verb,
                    denials[0].resource,
                    namespace.unwrap_or_default()
                );
                Refusal::new(message)
                    .help("ask somebody who administers the cluster for these rights, or to run this")
                    .help(format!("`opctl doctor` lists the rights of this user; for one: `{check}`"))
            }
            Trouble::Escalation => Refusal::new(format!("cannot {purpose}: {}", words(error))).help(
                "whoever makes a role must have all of its rights: let somebody run this who administers the cluster",
            ),
            Trouble::NoContext | Trouble::Other => Refusal::new(format!("cannot {purpose}: {}", words(error))),
        })
    }
}

/// A finding about names comes from before the CRD was applied, or stays.
const PATIENCE_WITH_NAMES: Duration = Duration::from_secs(3);

/// So many objects are named.
const SHOWN: usize = 5;

/// kubectl's own.
fn words(error: &KubectlError) -> String {
    match error {
        KubectlError::Failed { said, .. } => said.trim_start_matches("error: ").to_owned(),
        error => error.to_string(),
    }
}

pub fn no_kubectl(error: &KubectlError) -> Refusal {
    let refusal = match error {
        KubectlError::Missing(program) if program == "kubectl" => {
            Refusal::new("there is no `kubectl` on PATH or in KUBEBUILDER_ASSETS")
        }
        error => Refusal::new(error.to_string()),
    };
    refusal
        .help("`opctl testenv setup` brings one; others: https://kubernetes.io/docs/tasks/tools/")
        .help("`--kubectl PROGRAM` names one that is elsewhere")
}

fn unreachable(error: &KubectlError, has_context: bool) -> Refusal {
    let refusal = Refusal::new(format!("cannot reach the cluster: {}", words(error)));
    if has_context {
        refusal
            .help("start it, or choose another one with `--context`; `kubectl config get-contexts` lists them")
            .help("`--print` prints the manifests without a cluster")
    } else {
        refusal.help("set KUBECONFIG to the file of a cluster, or choose one: `kubectl config use-context NAME`")
    }
}

fn names_taken(refused: &[(String, String)]) -> Refusal {
    let lines: Vec<String> = refused.iter().map(|(name, why)| format!("`{name}`: {why}")).collect();
    Refusal::new(format!("another kind of the same group has these names: {}", lines.join("\n  ")))
        .help("change the plural or the short names of the kind, then `opctl manifests`")
        .help("or delete the CRD that is in the way; `kubectl get crd` lists them")
}

/// The kinds in `no matches for kind "ServiceMonitor" in version …`, if nothing else went wrong.
fn unknown_kinds(said: &str) -> Vec<String> {
    let kinds = said.split("no matches for kind \"").skip(1).filter_map(|rest| rest.split('"').next());
    kinds.map(String::from).collect()
}

fn named(object: &cluster::Held) -> String {
    match object.namespace.as_str() {
        "" => format!("`{}`", object.name),
        namespace => format!("`{namespace}/{}`", object.name),
    }
}

fn finalizers(object: &cluster::Held) -> String {
    match &object.finalizers[..] {
        [] => "nothing, so it is about to go".into(),
        finalizers => format!("`{}`", finalizers.join("`, `")),
    }
}

/// `1 CRD is`, `2 CRDs are`
fn are(number: usize, what: &str) -> String {
    format!("{} {}", counted(number, what), if number == 1 { "is" } else { "are" })
}

/// `90s`, `2m`, `1m30s`, `1h`; a bare number is seconds.
fn duration(text: &str) -> Option<Duration> {
    let (mut seconds, mut number) = (0u64, String::new());
    for c in text.chars() {
        let unit = match c {
            '0'..='9' => {
                number.push(c);
                continue;
            }
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        seconds = seconds.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        number.clear();
    }
    if !number.is_empty() {
        // Units go down to seconds, so nothing but seconds may stand without one.
        seconds = seconds.checked_add(number.parse().ok()?)?;
    }
    // Longer than a year is a slip, and kubectl's own limit is near.
    (!text.is_empty() && seconds <= 365 * 24 * 3600).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_kubectl() {
        for (text, seconds) in [("90s", 90), ("2m", 120), ("1m30s", 90), ("1h", 3600), ("5", 5), ("0s", 0)] {
            assert_eq!(duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "m", "2 m", "-1s", "1d", "1.5m", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn kinds_that_a_cluster_does_not_know_are_named() {
        let said = "resource mapping not found for name: \"a\" namespace: \"b\" from \"STDIN\": no matches for kind \
            \"ServiceMonitor\" in version \"monitoring.coreos.com/v1\"\nensure CRDs are installed first";
        assert_eq!(unknown_kinds(said), ["ServiceMonitor"]);
    }
}
