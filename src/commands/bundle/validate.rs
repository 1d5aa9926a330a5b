//! `opctl bundle validate`: reports what OLM, its validators and an API server would reject in the bundle of a folder.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::super::message_format::MessageArgs;
use super::super::{Console, Outcome, counted, environment};
use super::source::{is_image, source};
use crate::error::{ExternalError, UserError};
use opctl_model::diagnostic::{Diagnostic, SourceFile};
use opctl_model::names::nearest;
use opctl_model::project::Tree;
use opctl_model::selector::LabelSelector;
use opctl_olm::bundle::{self, Finding, Folder, Options, Validator};
use opctl_tools::validators;

/// Validate a bundle of the Operator Lifecycle Manager
///
/// Checks the rules of operator-framework's validators, and what OLM and the API server refuse when the bundle is installed. Each
/// problem has its file and line, and the name of a rule; docs/olm-validate.md lists the rules. The bundle may be of any tool.
/// An image is pulled with skopeo, crane or a container engine. No cluster is accessed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl bundle validate bundle

  # Requirements of OperatorHub.io, and good practices; warnings fail
  opctl bundle validate bundle --select-optional suite=operatorframework --strict

  # Restrictions of OLM v1
  opctl bundle validate bundle --select olmv1

  # A published bundle
  opctl bundle validate registry.example.com/memcached-operator-bundle:v0.1.0

  opctl bundle validate --list-optional")]
pub struct ValidateArgs {
    /// The folder with `manifests` and `metadata`, or an image with them [default: bundle]
    #[arg(value_name = "BUNDLE")]
    pub dir: Option<PathBuf>,

    /// Also run the optional validators with these labels, e.g. suite=operatorframework or name=good-practices
    #[arg(long, value_name = "SELECTOR")]
    pub select_optional: Option<String>,

    /// Also run this optional validator, e.g. olmv1 (repeatable)
    #[arg(long, value_name = "NAME")]
    pub select: Vec<String>,

    /// Settings of optional validators: k8s-version=VERSION, index-path=DOCKERFILE
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub optional_values: Vec<String>,

    /// Programs that also validate the bundle, separated by `:` (on Windows `;`)
    ///
    /// Each is run with the folder of the bundle, and prints a `ManifestResult` of operator-framework's library as JSON.
    #[arg(long, value_name = "PROGRAMS")]
    pub alpha_select_external: Option<OsString>,

    /// List the optional validators
    #[arg(long)]
    pub list_optional: bool,

    /// Fail on warnings, too
    #[arg(long)]
    pub strict: bool,

    /// The output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output: Output,

    #[command(flatten)]
    pub messages: MessageArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    #[default]
    Text,
    /// With rules and positions
    Json,
    /// As operator-sdk prints it
    JsonAlpha1,
}

pub fn run(args: &ValidateArgs, console: &Console) -> anyhow::Result<Outcome> {
    if args.list_optional {
        console.print(&list());
        return Ok(Outcome::Done);
    }
    let options = options(args)?;
    let current = std::env::current_dir().context("cannot find out the current folder")?;
    let (tree, shown) = source(args.dir.as_deref().unwrap_or(Path::new("bundle")), false, console)?;
    let findings = bundle::validate(Folder { tree: &tree, shown: &shown }, &options);
    let external = external(args, &tree, console)?;
    let is_bad = |diagnostic: &Diagnostic| args.strict || diagnostic.is_error();
    let passed = !findings.iter().map(|finding| &finding.diagnostic).chain(&external).any(is_bad);
    if args.output != Output::Text {
        console.print(&format!("{:#}\n", report(&findings, &external, passed, args.output)));
        return Ok(if passed { Outcome::Done } else { Outcome::Problems });
    }
    args.messages.run(&current, console, |console| {
        let is_shown = |it: &&Diagnostic| console.verbosity > super::super::Verbosity::Quiet || is_bad(it);
        let all: Vec<Diagnostic> =
            findings.iter().map(|finding| &finding.diagnostic).chain(&external).cloned().collect();
        console.diagnose(&all.iter().filter(is_shown).cloned().collect::<Vec<_>>());
        console.info(&summary(&shown, &all, passed));
        Ok(if passed { Outcome::Done } else { Outcome::Problems })
    })
}

/// The problems that external validators report.
fn external(args: &ValidateArgs, tree: &Tree, console: &Console) -> anyhow::Result<Vec<Diagnostic>> {
    let Some(programs) = &args.alpha_select_external else { return Ok(Vec::new()) };
    if args.dir.as_deref().is_some_and(is_image) {
        let refusal = UserError::new("external validators read the bundle in a folder, and this one is an image");
        return Err(refusal.help("unpack it first, e.g. with `crane export IMAGE - | tar x`").into());
    }
    let mut found = Vec::new();
    for program in std::env::split_paths(programs).filter(|program| !program.as_os_str().is_empty()) {
        console.status("running", &program.display().to_string());
        let run = validators::run(&program, tree.root()).map_err(|reason| {
            let refusal = UserError::new(format!("the validator `{}` failed: {reason}", program.display()));
            ExternalError(
                refusal.help("it prints a `ManifestResult` as JSON, and exits 0 even if the bundle is not valid"),
            )
        });
        found.extend(run?);
    }
    Ok(found)
}

fn summary(shown: &str, all: &[Diagnostic], passed: bool) -> String {
    let errors = all.iter().filter(|it| it.is_error()).count();
    let warnings = all.len() - errors;
    let shown = if shown.is_empty() { "." } else { shown };
    let problems = match (errors, warnings) {
        (0, 0) => return format!("`{shown}` is a valid bundle"),
        (0, warnings) => counted(warnings, "warning"),
        (errors, 0) => counted(errors, "error"),
        (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    };
    let verdict = if passed { "is a valid bundle" } else { "is not a valid bundle" };
    format!("`{shown}` {verdict}: {problems}")
}

fn report(findings: &[Finding], external: &[Diagnostic], passed: bool, output: Output) -> Value {
    let of_operator_sdk = |diagnostic: &Diagnostic| {
        let kind = if diagnostic.is_error() { "error" } else { "warning" };
        let place = diagnostic.span.as_ref().map_or_else(String::new, |(span, _)| format!("{span}: "));
        json!({"type": kind, "message": format!("{place}{}", diagnostic.message)})
    };
    let with_rule = |finding: &Finding| {
        let mut entry = entry(&finding.diagnostic);
        entry["rule"] = finding.rule.id.into();
        entry["source"] = finding.rule.source.name().into();
        entry
    };
    let outputs: Vec<Value> = match output {
        Output::JsonAlpha1 => {
            findings.iter().map(|finding| &finding.diagnostic).chain(external).map(of_operator_sdk).collect()
        }
        _ => findings.iter().map(with_rule).chain(external.iter().map(entry)).collect(),
    };
    json!({"passed": passed, "outputs": outputs})
}

/// A problem as JSON.
pub fn entry(diagnostic: &Diagnostic) -> Value {
    let Diagnostic { message, span, help, code, .. } = diagnostic;
    let kind = if diagnostic.is_error() { "error" } else { "warning" };
    let mut entry = json!({"type": kind, "message": message, "code": code.name, "help": help});
    if let Some((span, _)) = span {
        let (line, column) = span.line_column();
        entry["file"] = span.file.path.clone().into();
        entry["line"] = line.into();
        entry["column"] = column.into();
    }
    entry
}

fn list() -> String {
    let width = Validator::ALL.iter().map(|validator| validator.name().len()).max().unwrap_or_default();
    let suites = Validator::ALL.iter().filter_map(|validator| validator.suite()).map(|suite| suite.len() + 6).max();
    let second = suites.unwrap_or_default();
    let line = |validator: &Validator| {
        let suite = validator.suite().map_or_else(String::new, |suite| format!("suite={suite}"));
        format!("{:width$}  {suite:second$}  {}\n", validator.name(), validator.summary())
    };
    Validator::ALL.iter().map(line).collect()
}

fn options(args: &ValidateArgs) -> anyhow::Result<Options> {
    let mut validators = BTreeSet::new();
    if let Some(text) = &args.select_optional {
        let selector = LabelSelector::parse(text).map_err(UserError::new)?;
        let label = |validator: &Validator, key: &str| match key {
            "name" => Some(validator.name()),
            "suite" => validator.suite(),
            _ => None,
        };
        // An empty selector selects nothing, as in operator-sdk.
        let is_selected = |validator: &Validator| !selector.is_empty() && selector.selects(|key| label(validator, key));
        validators.extend(Validator::ALL.into_iter().filter(is_selected));
        if validators.is_empty() && !selector.is_empty() {
            let refusal = UserError::new(format!("no optional validator has the labels `{text}`"));
            return Err(refusal.help("`opctl bundle validate --list-optional` lists them").into());
        }
    }
    for name in &args.select {
        let Some(validator) = Validator::ALL.into_iter().find(|validator| validator.name() == name) else {
            let near = nearest(name, Validator::ALL.iter().map(|validator| validator.name()));
            let refusal = UserError::new(format!("there is no validator `{name}`"));
            return Err(match near {
                Some(near) => refusal.help(format!("did you mean `{near}`?")),
                None => refusal.help("`opctl bundle validate --list-optional` lists them"),
            }
            .into());
        };
        validators.insert(validator);
    }
    let mut options = Options { validators, ..Options::default() };
    for value in &args.optional_values {
        match value.split_once('=') {
            Some(("k8s-version", version)) => options.kubernetes = Some(version.to_owned()),
            Some(("index-path", path)) => {
                let text = std::fs::read_to_string(path).map_err(|error| {
                    UserError::new(format!("cannot read `{path}`: {error}"))
                        .help("`index-path` names the Dockerfile of the bundle")
                })?;
                options.dockerfile = Some(SourceFile::new(path, text));
            }
            _ => {
                let refusal = UserError::new(format!("`{value}` is not a setting of an optional validator"));
                return Err(refusal.help("the settings are `k8s-version=VERSION` and `index-path=DOCKERFILE`").into());
            }
        }
    }
    if let Some(path) = environment::bundle_categories() {
        options.categories = Some(categories(&path)?);
    }
    Ok(options)
}

/// Reads a file with `{"categories": ["…"]}`.
fn categories(path: &Path) -> anyhow::Result<Vec<String>> {
    let refuse = |problem: String| {
        UserError::new(format!("cannot read `{}`: {problem}", path.display()))
            .help("OPERATOR_BUNDLE_CATEGORIES names a file such as `{\"categories\": [\"Database\"]}`")
    };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    let json: Value = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
    let list = json["categories"].as_array().ok_or_else(|| refuse("it has no list `categories`".into()))?;
    Ok(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
