//! `opctl status`: compares the project with a cluster, on one screen.
//!
//! `gather` asks the cluster, with a few kubectl processes at the same time. Each other file has the checks of a section, as functions of
//! what was gathered, so that their tests are tables. Nothing is written, and a section that cannot be read is reported as skipped.

mod certificate;
mod clock;
mod crds;
mod gather;
mod leftovers;
mod objects;
mod operator;
mod roles;
mod webhooks;

use std::thread::sleep;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use self::clock::Now;
use self::gather::Facts;
use super::console::Verbosity;
use super::doctor::cluster::rendered;
use super::error::Refusal;
use super::findings::{Finding, Section, Severity, summary, text};
use super::kubectl::ContextArgs;
use super::on_cluster::{Cluster, duration};
use super::{Console, Outcome, rendered as manifests, tree};
use opctl_edit::plan::Mode;
use opctl_model::project::{ProjectFile, Tree};

/// Compare the project with the cluster: CRDs, roles, the operator, webhooks, objects and leftovers
///
/// Compares what `opctl deploy` would apply with the cluster of KUBECONFIG, and shows what runs there: the rollout, restarts, the leader,
/// certificates, and objects that are not ready or cannot be deleted. Nothing is written. What the current user may not read is
/// skipped.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # What runs in the current cluster, and how it differs from the project
  opctl status

  # Exit 1 if there is a warning or an error
  opctl status --check

  # Refresh every ten seconds
  opctl status --watch --interval 10s

  # For programs
  opctl status -o json | jq '.sections[].findings[] | select(.severity == \"error\")'")]
pub struct StatusArgs {
    #[command(flatten)]
    pub context: ContextArgs,

    /// The output format; with --watch, JSON has one line per refresh
    #[arg(short, long, value_enum, default_value_t)]
    pub output: Format,

    /// Refresh until interrupted
    #[arg(short, long)]
    pub watch: bool,

    /// The time between two refreshes
    #[arg(long, value_name = "DURATION", default_value = "5s", requires = "watch")]
    pub interval: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
}

/// What the project would apply.
struct Project {
    name: String,
    /// The objects of `config/default`.
    objects: Vec<Value>,
    /// The API groups of its kinds.
    groups: Vec<String>,
}

impl Project {
    fn read(tree: &Tree) -> anyhow::Result<Self> {
        let project = ProjectFile::read(tree)?;
        let mut objects = rendered(tree, "config/default");
        // A project may deploy its CRDs separately.
        if !objects.iter().any(|object| object["kind"] == "CustomResourceDefinition") {
            objects.extend(rendered(tree, "config/crd"));
        }
        if objects.is_empty() {
            return Err(Refusal::new("there is no `config/default/kustomization.yaml` in the project")
                .help("it lists all that is deployed; bring it back, e.g. from version control")
                .into());
        }
        let groups = objects.iter().filter_map(|object| object["spec"]["group"].as_str().map(String::from)).collect();
        Ok(Self { name: project.name.to_string(), objects, groups })
    }

    /// Its objects of a kind.
    fn of(&self, kind: &'static str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }
}

pub fn run(args: &StatusArgs, console: &Console) -> anyhow::Result<Outcome> {
    if matches!(console.mode, Mode::DryRun | Mode::Diff) || !console.overwrite.is_empty() {
        return Err(Refusal::new("`--dry-run`, `--diff` and `--overwrite` are for commands that write files")
            .help("`opctl status` writes nothing; `--check` exits with 1 if the cluster differs")
            .into());
    }
    let interval = duration(&args.interval).filter(|it| !it.is_zero()).ok_or_else(|| {
        Refusal::new(format!("invalid interval `{}`", args.interval)).help("write it as `5s`, `1m30s` or `1h`")
    })?;
    let tree = tree(&manifests::project()?);
    let cluster = Cluster::with(args.context.kubectl(), console);
    loop {
        // It may change meanwhile.
        let project = Project::read(&tree)?;
        let facts = Facts::gather(&project, &cluster)?;
        let sections = sections(&project, &facts, Now::of_clock());
        show(args, &facts, &sections, console);
        if !args.watch {
            let worst = sections.iter().flat_map(|section| &section.findings).map(|finding| finding.severity).max();
            let differs = worst.is_some_and(|worst| worst >= Severity::Warning);
            return Ok(if differs && console.mode == Mode::Check { Outcome::Drift } else { Outcome::Done });
        }
        sleep(interval);
    }
}

fn sections(project: &Project, facts: &Facts, now: Now) -> Vec<Section> {
    let section = |title, findings| Section { title, findings };
    let mut sections = vec![
        section("CRDs", crds::examine(project, facts)),
        section("roles", roles::examine(project, facts)),
        section("operator", operator::examine(project, facts, now)),
        section("webhooks", webhooks::examine(project, facts, now)),
        section("objects", objects::examine(project, facts, now)),
        section("leftovers", leftovers::examine(project, facts)),
    ];
    sections.retain(|section| !section.findings.is_empty());
    sections
}

fn show(args: &StatusArgs, facts: &Facts, sections: &[Section], console: &Console) {
    if args.output == Format::Json {
        let json = to_json(facts, sections);
        return console.print(&if args.watch { format!("{json}\n") } else { format!("{json:#}\n") });
    }
    let is_quiet = console.verbosity == Verbosity::Quiet;
    let least = if is_quiet { Severity::Warning } else { Severity::Ok };
    let text = text(sections, least);
    if args.watch {
        // Clears the screen; where there is none, it is left out.
        console.print("\u{1b}[H\u{1b}[2J");
    }
    console.info(&format!("cluster: {}", facts.cluster));
    console.lines(&text);
    if !is_quiet {
        console.print(&format!("{}\n", summary(sections)));
    }
}

fn to_json(facts: &Facts, sections: &[Section]) -> Value {
    let finding = |finding: &Finding| json!({ "severity": finding.severity.word(), "message": finding.what, "help": finding.help });
    let section = |section: &Section| json!({ "title": section.title, "findings": section.findings.iter().map(finding).collect::<Vec<_>>() });
    let differs = sections.iter().flat_map(|section| &section.findings).any(|it| it.severity >= Severity::Warning);
    json!({
        "cluster": facts.cluster, "differs": differs, "sections": sections.iter().map(section).collect::<Vec<_>>(),
    })
}

/// `shop-system/shop-controller-manager`, or the name alone.
fn full_name(object: &Value) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_a_difference_and_what_was_skipped_is_none() {
        let facts = Facts { cluster: "here".into(), ..Facts::default() };
        let of = |finding| to_json(&facts, &[Section { title: "a", findings: vec![Finding::ok("b"), finding] }]);
        assert_eq!(of(Finding::skipped("c"))["differs"], false);
        let warned = of(Finding::warning("c").help("d"));
        assert_eq!(warned["differs"], true);
        let finding = json!({ "severity": "warning", "message": "c", "help": ["d"] });
        assert_eq!(warned["sections"][0]["findings"][1], finding);
    }
}
