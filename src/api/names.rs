//! Parses the names in the arguments of `create api`, and the workload.

use super::Args;
use crate::error::{UserError, UserErrors};
use crate::scaffold::Workload;
use opctl_model::names::{Group, Image, Kind, Plural, Version, parse_label};
use opctl_model::project::WorkloadOptions;

/// Validated names.
pub struct Names {
    pub group: Group,
    pub version: Version,
    pub kind: Kind,
    pub plural: Option<Plural>,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub workload: Option<Workload>,
}

impl Names {
    /// Parses the names. All missing and invalid ones are reported at once.
    pub fn parse(args: &Args) -> Result<Self, UserErrors> {
        let mut refusals = UserErrors::default();
        if let Some(refusal) = missing(args) {
            refusals.push(refusal);
        }
        let group = args.group.as_deref().and_then(|text| refusals.check(Group::parse(text)));
        let version = args.version.as_deref().and_then(|text| refusals.check(Version::parse(text)));
        let kind = args.kind.as_deref().and_then(|text| refusals.check(Kind::parse(text)));
        let plural = args.plural.as_deref().and_then(|text| refusals.check(Plural::parse(text)));
        let mut labels = |what, texts: &[String]| -> Vec<String> {
            texts.iter().filter_map(|text| refusals.check(parse_label(what, text))).collect()
        };
        let short_names = labels("short name", &args.options.short_names);
        let categories = labels("category", &args.options.categories);
        let workload = workload(&args.options.workload, &mut refusals);
        let (Some(group), Some(version), Some(kind)) = (group, version, kind) else {
            return Err(refusals);
        };
        refusals.settle()?;
        Ok(Self { group, version, kind, plural, short_names, categories, workload })
    }
}

/// One error for all missing names.
fn missing(args: &Args) -> Option<UserError> {
    let flags = [
        ("--group", "cache", args.group.is_some()),
        ("--version", "v1alpha1", args.version.is_some()),
        ("--kind", "Memcached", args.kind.is_some()),
    ];
    let missing = || flags.iter().filter(|(_, _, is_given)| !is_given);
    let names: Vec<String> = missing().map(|(flag, ..)| format!("`{flag}`")).collect();
    let examples: Vec<String> = missing().map(|(flag, example, _)| format!("{flag} {example}")).collect();
    let refusal = UserError::new(format!("missing {}", names.join(", ")));
    (!names.is_empty()).then(|| refusal.help(format!("specify what to create, e.g. `{}`", examples.join(" "))))
}

/// The container that `--image` and its flags describe.
fn workload(args: &WorkloadOptions, refusals: &mut UserErrors) -> Option<Workload> {
    let Some(image) = &args.image else {
        let about_one = [
            ("--container-port", args.container_port.is_some()),
            ("--container-command", !args.container_command.is_empty()),
            ("--run-as-user", args.run_as_user.is_some()),
        ];
        for (flag, _) in about_one.iter().filter(|(_, is_given)| *is_given) {
            refusals.push(
                UserError::new(format!("`{flag}` requires `--image`"))
                    .help(format!("add e.g. `--image memcached:1.6.39-alpine`, or leave out `{flag}`")),
            );
        }
        return None;
    };
    Some(Workload {
        image: refusals.check(Image::parse(image))?,
        port: args.container_port,
        command: args.container_command.clone(),
        user: args.run_as_user,
    })
}
