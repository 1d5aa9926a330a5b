//! `opctl scorecard`: runs the tests of a bundle. The tests of operator-sdk run in this process, all others as Pods.

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::Context;
use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use serde_json::Value;

use super::bundle::source::source;
use super::kubectl::ContextArgs;
use super::on_cluster::duration;
use super::{Console, counted};
use crate::commands::complete;
use crate::error::{ExternalError, SourceErrors, UserError};
use opctl_cluster::{Deadline, Kubectl};
use opctl_model::diagnostic::{Diagnostic, SourceFile};
use opctl_model::project::{Tree, join};
use opctl_model::selector::LabelSelector;
use opctl_olm::bundle::{self, Findings, Folder};
use opctl_olm::scorecard::pods::{self, PodSettings, Progress};
use opctl_olm::scorecard::{self, Config, Outcome, Stage, State, Test, TestResult, archive, builtin, output};

/// Run the scorecard tests of a bundle
///
/// The tests are in `tests/scorecard/config.yaml` of the bundle. operator-sdk's six tests (`scorecard-test …`) run in
/// opctl, without a cluster; tests with other images run as Pods. Exits 1 if a test does not pass.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl scorecard bundle

  # The tests of a suite, as JSON
  opctl scorecard bundle --selector suite=olm --output json

  # List the tests without running them
  opctl scorecard bundle --list

  # Custom tests in a namespace, with more time for pulling images
  opctl scorecard bundle --namespace tests --wait-time 5m")]
pub struct ScorecardArgs {
    /// The folder or image of the bundle [default: bundle]
    #[arg(value_name = "BUNDLE")]
    pub dir: Option<PathBuf>,

    /// The configuration [default: config.yaml in the folder that the bundle's annotations name, or in tests/scorecard]
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Run only the tests with these labels, e.g. suite=basic
    #[arg(short = 'l', long, value_name = "SELECTOR", default_value = "")]
    pub selector: String,

    /// List the tests without running them
    #[arg(short = 'L', long)]
    pub list: bool,

    /// The output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output: Format,

    /// The namespace of the Pods [default: that of the kubeconfig]
    #[arg(short, long, value_name = "NAME", add = ArgValueCandidates::new(complete::namespaces))]
    pub namespace: Option<String>,

    /// The service account of the Pods, unless the configuration names one
    #[arg(short, long, value_name = "NAME", default_value = "default")]
    pub service_account: String,

    /// The maximum time to wait for all Pods, e.g. 90s or 5m
    #[arg(short, long, value_name = "DURATION", default_value = "30s")]
    pub wait_time: String,

    /// Keep the Pods and the ConfigMap
    #[arg(short = 'x', long)]
    pub skip_cleanup: bool,

    /// The security context of the Pods; `restricted` complies with that Pod security standard
    #[arg(long, value_name = "STANDARD", value_enum, default_value_t)]
    pub pod_security: PodSecurity,

    /// The folder for files that tests write
    #[arg(short, long, value_name = "DIR", default_value = "test-output")]
    pub test_output: PathBuf,

    /// The image that unpacks the bundle in a Pod; it needs tar
    #[arg(short, long, value_name = "IMAGE", default_value = "busybox:1.37")]
    pub untar_image: String,

    /// The image that keeps the files that a test writes; it needs sh and tar
    #[arg(short = 'b', long, value_name = "IMAGE", default_value = "busybox:1.37")]
    pub storage_image: String,

    #[command(flatten)]
    pub context: ContextArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
    Xunit,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PodSecurity {
    #[default]
    Legacy,
    Restricted,
}

pub fn run(args: &ScorecardArgs, console: &Console) -> anyhow::Result<super::Outcome> {
    let selector = LabelSelector::parse(&args.selector).map_err(UserError::new)?;
    let patience = duration(&args.wait_time).ok_or_else(|| {
        UserError::new(format!("invalid wait time `{}`", args.wait_time))
            .help("write it as `90s`, `2m`, `1m30s` or `1h`")
    })?;
    let (tree, shown) = source(args.dir.as_deref().unwrap_or(Path::new("bundle")), false, console)?;
    let mut findings = Findings::default();
    let bundle = bundle::load(Folder { tree: &tree, shown: &shown }, &mut findings);
    let label = bundle.as_ref().map(|bundle| bundle.annotations.clone());
    let config = config(args, &tree, &shown, label.as_ref().and_then(|it| it.text_at(&[TEST_CONFIG])))?;
    let stages: Vec<Stage> = config
        .stages
        .iter()
        .map(|stage| Stage {
            parallel: stage.parallel,
            tests: stage.tests.iter().filter(|test| selector.selects(|key| test.labels.get(key))).cloned().collect(),
        })
        .collect();
    let outcomes = if args.list {
        let tests = stages.iter().flat_map(|stage| &stage.tests);
        tests.map(|test| Outcome { test: test.clone(), results: Vec::new() }).collect()
    } else {
        if let Some(bundle) = &bundle {
            bundle::check(bundle, &bundle::Options::default(), &mut findings);
        }
        let findings = findings.sorted();
        let builtin = |name| builtin::run(name, bundle.as_ref(), &findings);
        let is_custom = |test: &Test| builtin::name(test).is_none();
        let custom = stages.iter().flat_map(|stage| &stage.tests).any(is_custom);
        let cluster = custom.then(|| Pods::start(args, &config, &tree, patience, console)).transpose()?;
        let outcomes = run_stages(&stages, &builtin, cluster.as_ref());
        if let Some(cluster) = cluster {
            cluster.finish(console);
        }
        outcomes
    };
    console.print(&match args.output {
        Format::Text => output::text(&outcomes),
        Format::Json => format!("{:#}\n", output::json(&outcomes)),
        Format::Xunit => output::xunit(&outcomes),
    });
    let results = || outcomes.iter().flat_map(|outcome| &outcome.results);
    let failed = results().filter(|result| result.state != State::Pass).count();
    if !args.list && args.output == Format::Text && !outcomes.is_empty() {
        let all = counted(results().count(), "result");
        console.info(&if failed == 0 { format!("{all}: all passed") } else { format!("{all}: {failed} did not pass") });
    }
    Ok(if failed == 0 { super::Outcome::Done } else { super::Outcome::Problems })
}

const TEST_CONFIG: &str = "operators.operatorframework.io.test.config.v1";

fn config(args: &ScorecardArgs, tree: &Tree, shown: &str, label: Option<&str>) -> anyhow::Result<Config> {
    let missing = |path: &str| {
        UserError::new(format!("there is no configuration of scorecard, `{path}`"))
            .help("`opctl generate bundle` writes one, and `--config FILE` names another")
    };
    let file = match &args.config {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|_| missing(&path.display().to_string()))?;
            SourceFile::new(path.display().to_string(), text)
        }
        None => {
            let inside = |path: &&str| !path.split('/').any(|part| part == "..");
            let folder = label.map(|label| label.trim_matches('/')).filter(inside).unwrap_or("tests/scorecard");
            let path = join(folder, "config.yaml");
            let text = tree.read(&path)?.ok_or_else(|| missing(&join(shown, &path)))?;
            SourceFile::new(join(shown, &path), text)
        }
    };
    Ok(scorecard::parse(&file).map_err(|problems: Vec<Diagnostic>| SourceErrors::from(problems))?)
}

fn run_stages(
    stages: &[Stage],
    builtin: &(impl Fn(&'static str) -> TestResult + Sync),
    cluster: Option<&Pods>,
) -> Vec<Outcome> {
    let one = |test: &Test| {
        let results = match (builtin::name(test), cluster) {
            (Some(name), _) => vec![builtin(name)],
            (None, Some(cluster)) => cluster.run(test),
            (None, None) => unreachable!("there is a cluster if a test needs one"),
        };
        Outcome { test: test.clone(), results }
    };
    let mut outcomes = Vec::new();
    for stage in stages {
        if stage.parallel {
            // One thread per test: most tests wait for Pods.
            outcomes.extend(thread::scope(|scope| {
                let threads: Vec<_> = stage.tests.iter().map(|test| scope.spawn(|| one(test))).collect();
                let joined = threads.into_iter().map(|thread| thread.join());
                joined
                    .map(|outcome| outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect::<Vec<_>>()
            }));
        } else {
            outcomes.extend(stage.tests.iter().map(one));
        }
    }
    outcomes
}

/// The Pods of a run, and the ConfigMap with the bundle.
struct Pods {
    kubectl: Kubectl,
    namespace: Option<String>,
    settings: PodSettings,
    deadline: Deadline,
    wait_time: String,
    test_output: PathBuf,
    keep: bool,
}

impl Pods {
    fn start(
        args: &ScorecardArgs,
        config: &Config,
        tree: &Tree,
        patience: std::time::Duration,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let kubectl = args.context.kubectl();
        let archive = archive::bundle(tree).context("cannot archive the bundle")?;
        let mut pods = Self {
            kubectl,
            namespace: args.namespace.clone(),
            settings: PodSettings {
                config_map: String::new(),
                service_account: config.service_account.clone().unwrap_or_else(|| args.service_account.clone()),
                untar_image: args.untar_image.clone(),
                storage_image: args.storage_image.clone(),
                restricted: args.pod_security == PodSecurity::Restricted,
            },
            deadline: Deadline::after(patience),
            wait_time: args.wait_time.clone(),
            test_output: args.test_output.clone(),
            keep: args.skip_cleanup,
        };
        let created = pods.create(&pods::config_map(&archive)).map_err(|problem| {
            let refusal = UserError::new(format!("tests with images of their own run as Pods: {problem}"));
            ExternalError(
                refusal.help("check `kubectl config current-context`, or run other tests: `--selector suite=basic`"),
            )
        })?;
        pods.settings.config_map = created;
        console.status("Created", &format!("ConfigMap {} with the bundle", pods.settings.config_map));
        Ok(pods)
    }

    /// Creates an object with a name that the API server generates. Returns the name.
    fn create(&self, object: &Value) -> Result<String, String> {
        let created = self.kubectl(&["create", "-f", "-", "-o", "json"], &object.to_string())?;
        let created: Value =
            serde_json::from_str(&created).map_err(|error| format!("kubectl printed no JSON: {error}"))?;
        let name = created["metadata"]["name"].as_str();
        name.map(str::to_owned).ok_or_else(|| "kubectl printed an object without a name".to_owned())
    }

    fn kubectl(&self, arguments: &[&str], stdin: &str) -> Result<String, String> {
        let namespace = self.namespace.iter().flat_map(|name| ["--namespace", name.as_str()]);
        let arguments: Vec<&str> = arguments.iter().copied().chain(namespace).collect();
        self.kubectl.output(&arguments, stdin).map_err(|error| error.to_string())
    }

    fn run(&self, test: &Test) -> Vec<TestResult> {
        self.try_run(test).unwrap_or_else(|problem| vec![TestResult::failed(State::Error, problem, "")])
    }

    fn try_run(&self, test: &Test) -> Result<Vec<TestResult>, String> {
        let name = self.create(&pods::pod(test, &self.settings))?;
        loop {
            let json = self.kubectl(&["get", "pod", &name, "-o", "json"], "")?;
            let pod: Value =
                serde_json::from_str(&json).map_err(|error| format!("kubectl printed no JSON: {error}"))?;
            let waits = match pods::progress(&pod) {
                Progress::Finished => break,
                Progress::Failed { container, how } => {
                    let log = self.kubectl(&["logs", &name, "-c", &container], "").unwrap_or_else(|problem| problem);
                    let message =
                        format!("the container `{container}` of the Pod `{name}` has failed with {how}\n{log}");
                    return Err(message.trim_end().to_owned());
                }
                Progress::Waits(waits) => waits,
            };
            if self.deadline.has_passed() {
                return Err(format!(
                    "the Pod `{name}` has not finished in {}: {waits} (`--wait-time` sets the time)",
                    self.wait_time
                ));
            }
            self.deadline.pause();
        }
        let log = self.kubectl(&["logs", &name, "-c", pods::CONTAINER], "")?;
        let mut results = pods::results(&log);
        if let Some(path) = &test.storage
            && let Err(problem) = self.copy(&name, path, test)
        {
            results.push(TestResult::failed(State::Error, format!("cannot copy the files of the test: {problem}"), ""));
        }
        Ok(results)
    }

    /// Copies the files of a test to `TEST_OUTPUT/SUITE/TEST`.
    fn copy(&self, pod: &str, path: &str, test: &Test) -> Result<(), String> {
        let part = |key: &str| test.labels.get(key).map_or(key, String::as_str).replace(['/', '\\'], "-");
        let target = self.test_output.join(part("suite")).join(part("test"));
        let source = format!("{pod}:{path}");
        self.kubectl(&["cp", &source, &target.to_string_lossy(), "-c", pods::STORAGE], "").map(drop)
    }

    fn finish(self, console: &Console) {
        let name = &self.settings.config_map;
        if self.keep {
            return console.note(&format!("kept the ConfigMap `{name}`, and the Pods with the label `testrun={name}`"));
        }
        let label = format!("testrun={name}");
        let pods = self.kubectl(&["delete", "pods", "-l", &label, "--wait=false"], "");
        let config_map = self.kubectl(&["delete", "configmap", name, "--wait=false"], "");
        for problem in [pods, config_map].into_iter().filter_map(Result::err) {
            console.warn(&format!("cannot clean up: {problem}"));
        }
    }
}
