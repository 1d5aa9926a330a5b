//! Commands and flags of kubebuilder 4 and operator-sdk that opctl does not have.
//!
//! Each is either accepted, because opctl needs no such option, or refused with an alternative. [`extend`] makes clap
//! parse them without showing them in help; [`check`] reports them.

use clap::{Arg, ArgAction, ArgMatches, Command as Syntax};

use super::Console;
use crate::error::{UserError, UserErrors};

/// The answer to a command or flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No effect. The note explains why.
    Accepted(&'static str),
    /// An error with the alternative. `{}` is replaced by the given value.
    Refused(&'static str),
}
use Answer::{Accepted, Refused};

const ANSIBLE: Answer = Refused(
    "`opctl create api --ansible-role NAME` creates an operator for a role, `opctl import ansible-operator DIR` converts one",
);
const APPEND: Answer =
    Refused("later source files start with the text in `hack/boilerplate.txt`: edit that file, and `LICENSE`");
const CHART: Answer = Refused("`opctl generate chart` generates a chart of the operator");
const CRATE: Answer = Refused("`cargo add CRATE` adds the crate that has the type of `--external-type PATH`");
const DOMAIN: Answer =
    Refused("with `--external-type PATH`, `--group` is the whole group, e.g. `--group cert-manager.io`");
const MAKE: Answer = Accepted("opctl regenerates the manifests itself, so there is nothing to run afterwards");
const MANIFESTS: Answer = Refused("`opctl manifests` regenerates CRDs and RBAC from the Rust source");
const MULTIGROUP: Answer = Accepted("each group has its own folder in every project");
const BUNDLE: Answer = Refused("`opctl generate bundle` generates a bundle for OLM");
const OVERLAY: Answer = Refused(
    "opctl renders `config` itself; `--overlay {}` makes the bundle of the `kustomization.yaml` in this folder",
);
const OVERWRITE: Answer = Refused("`--overwrite PATH` replaces one file of yours");
/// The alternatives for running the operator itself.
pub const RUN: &str =
    "`opctl dev` runs the operator with its own API server; `make install run` uses the cluster of KUBECONFIG";
const PARTS: Answer = Accepted("manifests and metadata are always generated together, so that they fit each other");
const RUST_TYPE: Answer =
    Refused("`--external-type PATH` names the Rust type; `--external-crd FILE` has kopium generate it from the CRD");
const UPDATE: Answer = Refused(
    "`opctl update` merges the changes of the scaffold into your files; .github/workflows/update.yml does it each week in a pull request",
);
const V1: Answer = Refused("Kubernetes has only v1 since 1.22: leave the option out");

/// Commands (alternatives separated by `|`), then a flag, then its value. A value in capitals matches any, and
/// `[=BOOL]` is optional. The first matching row applies.
const TABLE: &[(&str, Answer)] = &[
    // Flags of kubebuilder's `init` and `edit`.
    ("init --repo MODULE", Accepted("a crate has no module path; its name is that of the project")),
    ("init --fetch-deps[=BOOL]", Accepted("cargo fetches dependencies when it builds")),
    (
        "init --skip-go-version-check[=BOOL]",
        Accepted("there is no Go version to check; `opctl doctor` checks the Rust toolchain"),
    ),
    ("init|edit --multigroup[=BOOL]", MULTIGROUP),
    (
        "init --component-config[=BOOL]",
        Accepted("settings of the operator are arguments and variables in `config/manager/manager.yaml`"),
    ),
    ("init --project-version 3", Accepted("PROJECT has version 3")),
    ("init --project-version VERSION", Refused("PROJECT has version 3: leave the option out")),
    ("init --license-file FILE", Refused("`--license {}` uses the text of this file as the header")),
    ("edit --license LICENSE", APPEND),
    ("edit --license-file FILE", APPEND),
    ("edit --owner OWNER", APPEND),
    ("edit --manifests FILE", Accepted("the chart is always made of `config/default`")),
    // Flags of `create api` and `create webhook`.
    ("create api|create webhook --make[=BOOL]", MAKE),
    ("create api|create webhook|edit|init --force[=BOOL]", OVERWRITE),
    ("create api --ssa[=BOOL]", Accepted("controllers always use server-side apply")),
    ("create api --manifests[=BOOL]", MAKE),
    ("create api|create webhook --external-api-path PATH", RUST_TYPE),
    ("create api|create webhook --external-api-domain DOMAIN", DOMAIN),
    ("create api|create webhook --external-api-module MODULE", CRATE),
    ("create api --api-version VERSION", Refused("`--group GROUP --version VERSION` are the two parts of `{}`")),
    ("create api|init --crd-version v1", Accepted("CRDs have version v1")),
    ("create api|init --crd-version VERSION", V1),
    ("create webhook --webhook-version v1", Accepted("webhook configurations have version v1")),
    ("create webhook --webhook-version VERSION", V1),
    // Plugins, without the rest of their keys: `go.kubebuilder.io/v4` is `go`.
    ("create api --plugins deploy-image", Accepted("`--image` alone creates such a controller")),
    ("create webhook|edit|init --plugins deploy-image", Refused("`opctl create api --image IMAGE` does this")),
    (
        "create api|create webhook|edit|init --plugins go",
        Accepted("projects have the same layout, in Rust instead of Go"),
    ),
    ("create api|create webhook|edit|init --plugins base", Accepted("projects have the same layout, in Rust")),
    ("create api|create webhook|edit|init --plugins kustomize", Accepted("`config` always is for kustomize")),
    ("create api|create webhook|init --plugins operator-chart", CHART),
    ("edit --plugins operator-chart", Accepted("`opctl generate chart` does this, too")),
    (
        "create webhook|edit --plugins helm",
        Refused(
            "`opctl create api --helm-chart CHART` creates an operator for a chart, `opctl import helm-operator DIR` converts one",
        ),
    ),
    (
        "create webhook|edit --plugins hybrid",
        Refused(
            "`opctl create api --helm-chart CHART` creates an operator for a chart, `opctl import helm-operator DIR` converts one",
        ),
    ),
    ("create api|init --plugins helm", Accepted("`--helm-chart` alone creates such a controller")),
    ("create api|init --plugins hybrid", Accepted("every project may have controllers in Rust and for charts")),
    ("create webhook|edit --plugins ansible", ANSIBLE),
    ("create api|init --plugins ansible", Accepted("`--ansible-role` alone creates such a controller")),
    (
        "create api|create webhook|init --plugins grafana",
        Refused("`opctl edit --grafana` generates Grafana dashboards"),
    ),
    ("edit --plugins grafana", Accepted("`--grafana` generates the dashboards")),
    ("create api|create webhook|edit|init --plugins autoupdate", UPDATE),
    ("create api|create webhook|edit|init --plugins manifests", BUNDLE),
    ("create api|create webhook|edit|init --plugins scorecard", BUNDLE),
    (
        "create api|create webhook|edit|init --plugins PLUGIN",
        Refused("opctl has no plugins: see `opctl init --help`, `opctl edit --help` and `opctl create api --help`"),
    ),
    // Flags for variables of kubebuilder's Makefile.
    ("build-installer|deploy --img IMAGE", Refused("`--image {}` names the image")),
    // Commands of kubebuilder and operator-sdk.
    ("alpha config-3alpha-to-3", Refused("PROJECT has version 3 from the start: nothing to do")),
    ("alpha", UPDATE),
    ("generate bundle --kustomize-dir config/manifests", Accepted("the bundle is made of this folder")),
    ("generate bundle --kustomize-dir DIR", OVERLAY),
    ("generate bundle --input-dir DIR", OVERLAY),
    ("generate bundle --deploy-dir DIR", OVERLAY),
    ("generate bundle --crds-dir DIR", Accepted("the CRDs are among the objects that `config` renders")),
    ("generate bundle --manifests[=BOOL]", PARTS),
    ("generate bundle --metadata[=BOOL]", PARTS),
    (
        "generate bundle --stdout[=BOOL]",
        Refused(
            "`--diff` prints the files without writing them; `opctl bundle render --namespace NAME` prints the objects of a bundle",
        ),
    ),
    ("generate csv", BUNDLE),
    ("generate kustomize manifests --apis-dir DIR", Accepted("the kinds are those of the Rust source")),
    ("generate kustomize manifests --input-dir DIR", Accepted("the base CSV is in `config/manifests/bases`")),
    ("generate kustomize manifests --output-dir DIR", Accepted("the base CSV is in `config/manifests/bases`")),
    ("generate packagemanifests", BUNDLE),
    ("generate k8s", Refused("nothing needs to be generated: `#[derive(Clone)]` is Rust's DeepCopy")),
    ("generate openapi", Refused("nothing needs to be generated: the CRDs of `opctl manifests` have the schemas")),
    ("generate crds|generate manifests|generate rbac", MANIFESTS),
    ("olm status|olm uninstall --olm-namespace NAME", Accepted("opctl finds OLM in every namespace")),
    ("olm status --version VERSION", Accepted("opctl shows the version that is installed")),
    ("pkgman-to-bundle", BUNDLE),
    ("run bundle|run bundle-upgrade --ca-secret-name NAME", Accepted("the Pod that serves the bundle pulls nothing")),
    ("run bundle|run bundle-upgrade --decompression-image IMAGE", Accepted("the catalog is not compressed")),
    ("run bundle --mode MODE", Accepted("bundles replace each other in the order in which they are run")),
    ("run bundle|run bundle-upgrade --skip-tls[=BOOL]", Refused("the flag is `--skip-tls-verify`")),
    (
        "run bundle|run bundle-upgrade --use-http[=BOOL]",
        Refused("`--skip-tls-verify` is for registries without TLS, too"),
    ),
    ("run local", Refused(RUN)),
    (
        "run packagemanifests",
        Refused(
            "package manifests are deprecated: `opctl generate bundle` generates a bundle, `opctl run bundle` runs it",
        ),
    ),
    // Commands of operator-sdk before 1.0, of controller-gen and setup-envtest, and other likely guesses.
    ("add controller", Refused("`opctl create api --resource=false` creates only a controller")),
    ("add crd", Refused("`opctl create api --controller=false` creates only a resource")),
    ("add webhook", Refused("`opctl create webhook` creates a defaulting, validating or conversion webhook")),
    ("add", Refused("`opctl create api` creates a resource and its controller")),
    ("controller-gen", MANIFESTS),
    ("crd", MANIFESTS),
    ("create controller", Refused("`opctl create api --resource=false` creates only a controller")),
    ("create crd", Refused("`opctl create api --controller=false` creates only a resource")),
    ("create resource", Refused("`opctl create api --controller=false` creates only a resource")),
    ("docs", Refused("`opctl generate docs` generates the reference of the API")),
    ("envtest", Refused("`opctl testenv setup` finds or downloads etcd and kube-apiserver")),
    ("gen", MANIFESTS),
    ("ansible-operator", Refused("`opctl import ansible-operator DIR` converts an Ansible operator of operator-sdk")),
    ("helm-operator", Refused("`opctl import helm-operator DIR` converts a Helm operator of operator-sdk")),
    (
        "lint",
        Refused("`make lint` checks the format and runs clippy, `opctl check` checks the permissions and manifests"),
    ),
    ("make", Refused("`make help` lists the targets of the Makefile")),
    ("manifest", MANIFESTS),
    ("new", Refused("`opctl init DIR --domain DOMAIN` starts a project")),
    (
        "olm-catalog",
        Refused(
            "`opctl generate bundle` generates a bundle for OLM, and `opctl help catalog` lists the commands for catalogs of them",
        ),
    ),
    ("print-deps", Refused("`cargo tree` prints the dependencies, `opctl version` the supported versions")),
    ("rbac", MANIFESTS),
    (
        "setup-envtest",
        Refused("`opctl testenv setup --kubernetes 1.36` prints the folder, as `setup-envtest use -p path` does"),
    ),
    ("test", Refused("`make test` runs the tests")),
    ("up", Refused(RUN)),
];

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    commands: &'static str,
    pub flag: Option<&'static str>,
    /// `None` for a flag that is true or false and may have no value.
    value: Option<&'static str>,
    pub answer: Answer,
}

pub fn all() -> impl Iterator<Item = Row> {
    TABLE.iter().map(|(typed, answer)| {
        let (commands, flag) =
            typed.split_once(" --").map_or((*typed, None), |(commands, flag)| (commands, Some(flag)));
        let (flag, value) = match flag.and_then(|flag| flag.split_once(' ')) {
            Some((flag, value)) => (Some(flag), Some(value)),
            None => (flag.map(|flag| flag.trim_end_matches("[=BOOL]")), None),
        };
        Row { commands, flag, value, answer: *answer }
    })
}

impl Row {
    /// The commands that the row applies to.
    pub fn paths(self) -> impl Iterator<Item = Vec<&'static str>> {
        self.commands.split('|').map(|path| path.split(' ').collect())
    }

    fn fits_value(self, value: &str) -> bool {
        self.value.is_none_or(|expected| expected == value || expected.chars().all(|c| c.is_ascii_uppercase()))
    }

    fn argument(self, flag: &'static str) -> Arg {
        let argument = Arg::new(flag).long(flag).hide(true);
        match self.value {
            Some(_) => argument.action(ArgAction::Append).value_delimiter((flag == PLUGINS).then_some(',')),
            None => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
        }
    }
}

const PLUGINS: &str = "plugins";

/// The ID of the argument with the words after an unknown command.
const WORDS: &str = "words";

/// Adds the rows of the table to the syntax of opctl.
pub fn extend(syntax: Syntax) -> Syntax {
    all().fold(syntax, |syntax, row| row.paths().fold(syntax, |syntax, path| add(syntax, &path, row)))
}

fn add(syntax: Syntax, path: &[&'static str], row: Row) -> Syntax {
    let [word, rest @ ..] = path else {
        let is_new = |flag| syntax.get_arguments().all(|argument| argument.get_long() != Some(flag));
        return match row.flag.filter(|flag| is_new(flag)) {
            Some(flag) => syntax.arg(row.argument(flag)),
            None => syntax,
        };
    };
    match syntax.find_subcommand(word) {
        Some(known) if known.is_hide_set() => syntax,
        Some(_) => syntax.mut_subcommand(word, |known| add(known, rest, row)),
        None => {
            let words = Arg::new(WORDS).hide(true).num_args(0..).trailing_var_arg(true).allow_hyphen_values(true);
            syntax.subcommand(Syntax::new(*word).hide(true).disable_help_flag(true).arg(words))
        }
    }
}

/// Prints a note for each accepted argument, and returns an error for each refused one.
pub fn check(syntax: &Syntax, matches: &ArgMatches, console: &Console) -> Result<(), UserErrors> {
    let (mut path, mut syntax, mut matches) = (Vec::new(), syntax, matches);
    while let Some((name, inner)) = matches.subcommand() {
        path.push(name);
        syntax = syntax.find_subcommand(name).unwrap_or(syntax);
        matches = inner;
    }
    // `ArgMatches` knows all argument IDs only in debug builds.
    if syntax.get_arguments().any(|argument| argument.get_id() == WORDS) {
        let words = matches.get_many::<String>(WORDS).into_iter().flatten().map(String::as_str);
        path.extend(words.take_while(|word| !word.starts_with('-')));
        return Err(UserErrors(vec![unknown_command(&path)]));
    }
    let here: Vec<Row> = all().filter(|row| row.paths().any(|other| other == path)).collect();
    let mut flags: Vec<&str> = here.iter().filter_map(|row| row.flag).collect();
    flags.dedup();
    // Flags with the same answer are reported together.
    let mut refused: Vec<(String, Vec<String>)> = Vec::new();
    let mut refusals = UserErrors::default();
    for flag in flags {
        for given in matches.get_many::<String>(flag).into_iter().flatten() {
            let value = if flag == PLUGINS { plugin(given) } else { given };
            let typed = if flag == PLUGINS { format!("`--{flag} {given}`") } else { format!("`--{flag}`") };
            let row = here.iter().find(|row| row.flag == Some(flag) && row.fits_value(value));
            match row.map(|row| row.answer) {
                Some(Accepted(_)) if value == "deploy-image" && !matches.contains_id("image") => refusals.push(
                    UserError::new(format!("{typed} requires `--image`"))
                        .help("add e.g. `--image memcached:1.6.39-alpine`"),
                ),
                Some(Accepted(_)) if value == "helm" && path != ["init"] && !matches.contains_id("helm_chart") => {
                    refusals.push(
                        UserError::new(format!("{typed} requires `--helm-chart`"))
                            .help("`--helm-chart CHART` names the chart; without a value, it is helm's starter chart"),
                    )
                }
                Some(Accepted(_))
                    if value == "ansible"
                        && path != ["init"]
                        && !["ansible_role", "ansible_playbook"].iter().any(|id| matches.contains_id(id)) =>
                {
                    refusals.push(
                        UserError::new(format!("{typed} requires `--ansible-role` or `--ansible-playbook`"))
                            .help("both create what does not exist; without a value, it has the name of the kind"),
                    )
                }
                Some(Accepted(note)) => console.note(&format!("{typed}: {note}")),
                Some(Refused(help)) => {
                    let help = help.replace("{}", given);
                    match refused.iter_mut().find(|(other, _)| *other == help) {
                        Some((_, all)) => all.push(typed),
                        None => refused.push((help, vec![typed])),
                    }
                }
                None => {}
            }
        }
    }
    for (help, typed) in refused {
        let message = format!("`opctl {}` has no {}", path.join(" "), typed.join(", "));
        refusals.push(UserError::new(message).help(help));
    }
    refusals.settle()
}

/// `go.kubebuilder.io/v4` → `go`, `deploy-image/v1-alpha` → `deploy-image`. kubebuilder's `helm/v2-alpha` generates a
/// chart of the operator, operator-sdk's `helm/v1` an operator for a chart.
fn plugin(key: &str) -> &str {
    match key.split(['.', '/']).next().unwrap_or(key) {
        "helm" if key.ends_with("-alpha") => "operator-chart",
        name => name,
    }
}

/// `true` for the plugin of kubebuilder that generates Grafana dashboards.
pub fn is_grafana(key: &str) -> bool {
    plugin(key) == "grafana"
}

/// `true` for the plugin of kubebuilder that generates a chart of the operator.
pub fn is_operator_chart(key: &str) -> bool {
    plugin(key) == "operator-chart"
}

/// The error for an unknown command, from the matching row with the most words: `run bundle` rather than `run`.
fn unknown_command(path: &[&str]) -> UserError {
    let fits = |words: &Vec<&str>| path.starts_with(words);
    let best = all().flat_map(|row| row.paths().filter(fits).map(move |words| (words, row.answer)));
    let best = best.filter(|(words, _)| !words.is_empty()).max_by_key(|(words, _)| words.len());
    let words = best.as_ref().map_or(path, |(words, _)| words);
    let refusal = UserError::new(format!("opctl has no command `{}`", words.join(" ")));
    match best {
        Some((_, Accepted(help) | Refused(help))) => refusal.help(help),
        None => refusal,
    }
}
