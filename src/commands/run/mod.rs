//! `opctl run`: installs a bundle in a cluster, with OLM v0, with OLM v1 or without OLM, and updates it.
//!
//! Each way is a module: [`v0`], [`v1`] and [`plain`]. `opctl_olm::install` renders the objects for OLM,
//! `opctl_cluster::olm` evaluates their status; both work on values, without a cluster.

mod plain;
mod session;
mod source;
mod v0;
mod v1;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use serde_json::Value;

pub use self::plain::{is_crd, lines};
pub use self::session::{EXTENSIONS, Olm, SUBSCRIPTIONS, Session};
use self::source::Source;
use super::kubebuilder_syntax::RUN;
use super::on_cluster::ConnectionArgs;
use super::{Console, Outcome};
use crate::commands::complete;
use crate::error::{ExternalError, UserError};
use opctl_olm as olm;
use opctl_olm::install::{self, Mode};

/// Install or update a bundle in a cluster, with OLM or without
#[derive(Args, Debug)]
pub struct RunCommandArgs {
    /// The `run` of operator-sdk before 1.0.
    #[arg(long, hide = true)]
    local: bool,

    /// The same.
    #[arg(long, hide = true, requires = "local")]
    namespace: Option<String>,

    #[command(subcommand)]
    command: Option<Run>,
}

#[derive(Debug, Subcommand)]
pub enum Run {
    Bundle(Box<BundleArgs>),
    BundleUpgrade(Box<UpgradeArgs>),
}

/// Install a bundle in a cluster
///
/// BUNDLE is a folder or an image. The cluster's OLM installs it: OLM v0 from a catalog that opctl creates in the
/// namespace, for which no image needs to be pushed; OLM v1 from the image of a catalog (`--catalog-image`).
/// `--without-olm` applies what OLM would create. `opctl cleanup PACKAGE` removes it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # With the OLM of the cluster
  opctl run bundle bundle --namespace operators
  opctl run bundle registry.example.com/memcached-operator-bundle:v0.1.0 --namespace operators

  # For one namespace instead of all
  opctl run bundle bundle -n operators --install-mode SingleNamespace=team-a

  # With OLM v1, from a catalog that has the bundle
  opctl run bundle bundle -n operators --catalog-image registry.example.com/memcached-operator-catalog:v0.1.0

  # In a cluster without OLM
  opctl run bundle bundle -n operators --without-olm")]
pub struct BundleArgs {
    /// The folder or the image of the bundle
    #[arg(value_name = "BUNDLE", default_value = "bundle")]
    pub bundle: String,

    /// The namespaces to watch: AllNamespaces, OwnNamespace, SingleNamespace=NAME or MultiNamespace=NAME,NAME [default:
    /// all, or the operator's own, if the bundle supports it]
    #[arg(long, value_name = "MODE")]
    pub install_mode: Option<String>,

    /// Render the bundle and apply it, without OLM
    #[arg(long, conflicts_with_all = ["olm", "catalog_image"])]
    pub without_olm: bool,

    /// With `--without-olm`, print the manifests without using a cluster
    #[arg(long, requires = "without_olm")]
    pub print: bool,

    /// The version of OLM to use, if the cluster has both [default: v0, or v1 with --catalog-image]
    #[arg(long, value_name = "VERSION", value_enum)]
    pub olm: Option<OlmVersion>,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Update a bundle that `opctl run bundle` has installed
///
/// The new bundle has another version. It is installed as the old one was: by the same version of OLM, or without OLM.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl run bundle-upgrade bundle --namespace operators

  # With OLM v1
  opctl run bundle-upgrade bundle -n operators --catalog-image registry.example.com/memcached-operator-catalog:v0.2.0")]
pub struct UpgradeArgs {
    /// The folder or the image of the new bundle
    #[arg(value_name = "BUNDLE", default_value = "bundle")]
    pub bundle: String,

    #[command(flatten)]
    pub run: RunArgs,
}

/// Arguments of both installing and updating.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// The namespace of the operator, which exists [default: that of the kubeconfig]
    #[arg(short, long, value_name = "NAME", add = ArgValueCandidates::new(complete::namespaces))]
    pub namespace: Option<String>,

    /// OLM v1: the image of a catalog that has the bundle
    #[arg(long, value_name = "IMAGE")]
    pub catalog_image: Option<String>,

    /// OLM v0: the image with `opm` that serves the bundle; what it has of a catalog in /configs is served, too
    #[arg(long, value_name = "IMAGE", default_value = "quay.io/operator-framework/opm:latest")]
    pub index_image: String,

    /// OLM v0: the pull policy of this image
    #[arg(long, value_name = "POLICY", value_parser = ["Always", "IfNotPresent", "Never"])]
    pub image_pull_policy: Option<String>,

    /// OLM v0: the Secret with which the cluster pulls the images of bundles
    #[arg(long, value_name = "NAME")]
    pub pull_secret_name: Option<String>,

    /// OLM v0: the service account of the Pod that serves the bundle; OLM v1: the one that installs it
    #[arg(long, value_name = "NAME")]
    pub service_account: Option<String>,

    /// OLM v0: whether this Pod meets the Pod security standard `restricted`
    #[arg(long, value_name = "STANDARD", value_enum, default_value_t)]
    pub security_context_config: SecurityContext,

    /// Do not verify the certificate of the registry
    #[arg(long)]
    pub skip_tls_verify: bool,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OlmVersion {
    V0,
    V1,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SecurityContext {
    #[default]
    Restricted,
    Legacy,
}

pub fn run(args: &RunCommandArgs, console: &Console) -> anyhow::Result<Outcome> {
    match &args.command {
        Some(Run::Bundle(args)) => bundle(args, console),
        Some(Run::BundleUpgrade(args)) => upgrade(args, console),
        None => {
            let refusal = UserError::new("`opctl run` runs bundles: `opctl run bundle`, `opctl run bundle-upgrade`");
            let namespace = args.namespace.as_ref();
            let one =
                namespace.map(|name| format!("`WATCH_NAMESPACE={name} make install run` watches that namespace only"));
            Err(one.into_iter().fold(refusal.help(RUN), UserError::help).into())
        }
    }
}

fn bundle(args: &BundleArgs, console: &Console) -> anyhow::Result<Outcome> {
    let given = args.install_mode.as_deref().map(|text| {
        Mode::parse(text).map_err(|rule| UserError::new(format!("invalid install mode `{text}`")).help(rule))
    });
    let given = given.transpose()?;
    let source = source::load(&args.bundle, args.run.skip_tls_verify, console)?;
    if args.print {
        let namespace = args.run.namespace.as_deref().unwrap_or("default");
        let values = plain::rendered(&source, namespace, &mode(&source, given.as_ref())?)?;
        console.print(olm::documents("", &values).trim_start());
        return Ok(Outcome::Done);
    }
    let session = Session::start(&args.run.connection, args.run.namespace.as_deref(), "run bundle", console)?;
    if let Some(installed) = Installed::all(&session, &source.package)?.first() {
        let refusal = UserError::new(format!("`{}` is installed already: {installed}", source.package));
        return Err(ExternalError(
            refusal
                .help("`opctl run bundle-upgrade` updates it to another version")
                .help(format!("or remove it: `{}`", session.cleanup(&source.package))),
        )
        .into());
    }
    let target = if args.without_olm { Target::Plain } else { target(&session, args)? };
    if let Some(given) = given.as_ref().filter(|_| target != Target::V0) {
        check(&source, given)?;
    }
    let hint = format!("`{}` removes what this creates", session.cleanup(&source.package));
    console.info(&hint);
    let done = match target {
        Target::Plain => plain::install(&session, &source, &mode(&source, given.as_ref())?, None),
        Target::V0 => v0::install(&session, &source, &args.run, given.as_ref()),
        Target::V1 => v1::install(&session, &source, &args.run, given.as_ref()),
    };
    explained(done, &session, &source.package)
}

fn upgrade(args: &UpgradeArgs, console: &Console) -> anyhow::Result<Outcome> {
    let source = source::load(&args.bundle, args.run.skip_tls_verify, console)?;
    let session = Session::start(&args.run.connection, args.run.namespace.as_deref(), "run bundle-upgrade", console)?;
    let installed = Installed::one(&session, &source.package)?;
    console.info(&format!("found {installed}"));
    let done = match &installed {
        Installed::Plain(inventory) => {
            plain::install(&session, &source, &plain::mode(&session, inventory)?, Some(inventory))
        }
        Installed::V0(subscription) => v0::upgrade(&session, &source, &args.run, subscription),
        Installed::V1(extension) => v1::upgrade(&session, &source, &args.run, extension),
    };
    explained(done, &session, &source.package)
}

/// The installer of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Plain,
    V0,
    V1,
}

fn target(session: &Session, args: &BundleArgs) -> anyhow::Result<Target> {
    let Olm { v0, v1 } = session.olm()?;
    let wanted = match args.olm {
        Some(OlmVersion::V0) => Target::V0,
        Some(OlmVersion::V1) => Target::V1,
        None if args.run.catalog_image.is_some() || !v0 => Target::V1,
        None => Target::V0,
    };
    let refusal = match wanted {
        Target::V0 if v0 => return Ok(wanted),
        Target::V1 if v1 => return Ok(wanted),
        _ if !v0 && !v1 => UserError::new("the cluster has no OLM"),
        Target::V0 => UserError::new("the cluster has OLM v1, and not OLM v0"),
        _ => UserError::new("the cluster has OLM v0, and not OLM v1").help("leave out `--catalog-image` and `--olm`"),
    };
    Err(ExternalError(
        refusal.help("`opctl olm install` installs it").help("`--without-olm` installs the bundle without it"),
    )
    .into())
}

/// The install mode to use, which the bundle must support.
fn mode(source: &Source, given: Option<&Mode>) -> anyhow::Result<Mode> {
    match given {
        Some(mode) => check(source, mode).map(|()| mode.clone()),
        None => Ok(Mode::default_of(&source.csv).ok_or_else(|| {
            let modes = install::supported(&source.csv).join(", ");
            UserError::new(format!("the bundle supports the install modes {modes}, for which namespaces must be named"))
                .help("`--install-mode SingleNamespace=NAME`")
        })?),
    }
}

fn check(source: &Source, mode: &Mode) -> anyhow::Result<()> {
    if mode.is_supported_by(&source.csv) {
        return Ok(());
    }
    let modes = install::supported(&source.csv).join(", ");
    let refusal = UserError::new(format!("the bundle supports the install modes {modes}, and not {mode}"));
    Err(refusal.help("`installModes` of the base CSV lists them").into())
}

/// Adds help about the objects that already exist to an error.
fn explained(done: anyhow::Result<()>, session: &Session, package: &str) -> anyhow::Result<Outcome> {
    match done {
        Ok(()) => Ok(Outcome::Done),
        Err(error) => Err(match error.downcast::<ExternalError>() {
            Ok(ExternalError(refusal)) => {
                let status = format!("kubectl get pods,events -n {}", session.namespace);
                ExternalError(
                    refusal
                        .help(format!("look further: `{status}`"))
                        .help(format!("what was created is kept; `{}` removes it", session.cleanup(package))),
                )
                .into()
            }
            Err(error) => error,
        }),
    }
}

/// An installation of a package.
#[derive(Clone, Debug)]
pub enum Installed {
    /// Without OLM: the ConfigMap with the inventory.
    Plain(Value),
    /// With OLM v0: the Subscription.
    V0(Value),
    /// With OLM v1: the ClusterExtension.
    V1(Value),
}

impl Installed {
    /// All installations of a package in the namespace.
    pub fn all(session: &Session, package: &str) -> anyhow::Result<Vec<Self>> {
        let mut all = Vec::new();
        let inventory = session.get("configmap", &install::inventory(package))?;
        all.extend(inventory.filter(install::is_ours).map(Self::Plain));
        let Olm { v0, v1 } = session.olm()?;
        if v0 {
            let subscriptions = session.items(&[SUBSCRIPTIONS])?;
            all.extend(subscriptions.into_iter().filter(|it| at(it, "/spec/name") == package).map(Self::V0));
        }
        if v1 {
            let extensions = session.items(&[EXTENSIONS])?;
            let is_meant = |it: &Value| at(it, "/spec/source/catalog/packageName") == package;
            all.extend(extensions.into_iter().filter(is_meant).map(Self::V1));
        }
        Ok(all)
    }

    /// The only installation of a package.
    pub fn one(session: &Session, package: &str) -> anyhow::Result<Self> {
        let mut all = Self::all(session, package)?;
        if let (Some(one), true) = (all.pop(), all.is_empty()) {
            return Ok(one);
        }
        let namespace = &session.namespace;
        let refusal = if all.is_empty() {
            UserError::new(format!("`{package}` is not installed in the namespace `{namespace}`"))
                .help("`--namespace NAME` names another one; `kubectl get subscriptions,clusterextensions -A` lists what OLM has installed")
        } else {
            UserError::new(format!("`{package}` is installed several times in the namespace `{namespace}`"))
                .help("delete all but one, e.g. with `kubectl delete subscription NAME`")
        };
        Err(ExternalError(refusal).into())
    }
}

impl std::fmt::Display for Installed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plain(inventory) => {
                write!(f, "version {} without OLM", at(inventory, "/data/version"))
            }
            Self::V0(subscription) => {
                let name = at(subscription, "/metadata/name");
                match at(subscription, "/status/installedCSV") {
                    "" => write!(f, "the Subscription `{name}`, which has installed nothing yet"),
                    csv => write!(f, "`{csv}` by the Subscription `{name}`"),
                }
            }
            Self::V1(extension) => {
                let (name, version) = (at(extension, "/metadata/name"), at(extension, "/spec/source/catalog/version"));
                write!(f, "version {version} by the ClusterExtension `{name}`")
            }
        }
    }
}

/// The text at a JSON pointer; empty if it does not exist.
pub fn at<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
