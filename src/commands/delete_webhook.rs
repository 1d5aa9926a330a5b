//! `opctl delete webhook`: undoes the changes of `opctl create webhook`; with the last webhook, also the server.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::delete_api::find;
use super::questions::choose_to_delete;
use super::{Console, Next, Outcome, Task, carry_out, lock, manifests, project_folder, tree};
use crate::api::components::is_certified;
use crate::api::plan::{add_rendered, project_of, webhooks_of};
use crate::api::{adopted, record, versions};
use crate::commands::complete;
use crate::error::UserError;
use crate::scaffold::api_of_resource;
use crate::scaffold::webhook::{self, Server};
use opctl_edit::Edit;
use opctl_edit::plan::Plan;
use opctl_model::project::{PROJECT, ProjectFile, Resource, Tree};

/// Delete webhooks of a kind: their files, their manifests and their entries in PROJECT
///
/// The inverse of `opctl create webhook`. With the last webhook of the project, its server goes, too. cert-manager
/// stays on for metrics. Files that were edited since are only removed with --overwrite.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # All webhooks of a kind
  opctl delete webhook --group cache --version v1alpha1 --kind Memcached

  # List what would be removed with the validating one
  opctl delete webhook --group cache --version v1alpha1 --kind Memcached --validation --dry-run")]
pub struct DeleteWebhookArgs {
    /// The group without the project's domain
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: Option<String>,

    /// The version: of a conversion, that of the hub
    #[arg(long, add = ArgValueCandidates::new(complete::versions))]
    pub version: Option<String>,

    /// The kind
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
    pub kind: Option<String>,

    /// Delete the defaulting webhook [default: all webhooks]
    #[arg(long)]
    pub defaulting: bool,

    /// Delete the validating webhook [default: all webhooks]
    #[arg(long, visible_alias = "programmatic-validation")]
    pub validation: bool,

    /// Delete the conversion webhook [default: all webhooks]
    #[arg(long)]
    pub conversion: bool,
}

pub fn run(args: &DeleteWebhookArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = project_folder()?;
    let tree = tree(&root);
    // Questions come before the project is locked, so that no other command waits for the answers.
    let names = [&args.group, &args.version, &args.kind];
    let Some(names) = choose_to_delete("the webhooks", names, &ProjectFile::read(&tree)?, console)? else {
        console.info("nothing was deleted");
        return Ok(Outcome::Problems);
    };
    let _lock = lock(&root, console)?;
    let tree = super::tree(&root);
    let file = ProjectFile::read(&tree)?;
    let resource = find(names.each_ref(), &file)?;
    let kept = kept(args, &resource)?;
    let has_no_spokes_now = !resource.webhooks.spokes.is_empty() && kept.webhooks.spokes.is_empty();
    let (mut plan, planned) = changes(&resource, kept, &file, &tree)?;
    if has_no_spokes_now {
        // A copied version was stored only because it was the hub.
        versions::edits(&resource).into_iter().for_each(|(path, edit)| plan.edit(path, edit));
    }
    manifests::add_if_sound(&mut plan, &tree, &manifests::ManifestOptions::of(Some(&planned)), console)?;
    let mut next = vec![Next::new("opctl deploy --image IMAGE", "in each cluster: the API server no longer calls it")];
    if plan.changes.contains_key(webhook::LIST) && is_certified(&tree)? {
        next.push(Next::new("opctl edit --cert-manager=false", "if the metrics are not to use cert-manager either"));
    }
    if !resource.webhooks.spokes.is_empty() && (args.conversion || !(args.defaulting || args.validation)) {
        next.insert(0, Next::new("opctl manifests --against cluster", "shows whether objects would lose fields"));
    }
    let again = "run the same command without `--check`";
    carry_out(&Task { again, tree: &tree, folder: "", plan, next }, console)
}

/// The entry of PROJECT without the deleted webhooks.
fn kept(args: &DeleteWebhookArgs, resource: &Resource) -> Result<Resource, UserError> {
    let all = !(args.defaulting || args.validation || args.conversion);
    let Resource { kind, version, .. } = resource;
    let mut kept = resource.clone();
    let webhooks = &mut kept.webhooks;
    let there = [webhooks.defaulting, webhooks.validation, !webhooks.spokes.is_empty()];
    if all && there == [false; 3] {
        return Err(UserError::new(format!("`{kind}` {version} has no webhooks in PROJECT")));
    }
    let asked = [(args.defaulting, "defaulting"), (args.validation, "validating"), (args.conversion, "conversion")];
    for ((is_requested, name), exists) in asked.into_iter().zip(there) {
        if is_requested && !exists {
            return Err(UserError::new(format!("`{kind}` {version} has no {name} webhook in PROJECT")));
        }
    }
    if all || args.defaulting {
        (webhooks.defaulting, webhooks.defaulting_path) = (false, None);
    }
    if all || args.validation {
        (webhooks.validation, webhooks.validation_path) = (false, None);
    }
    if all || args.conversion {
        webhooks.spokes.clear();
    }
    Ok(kept)
}

/// Removes the webhooks of an entry of PROJECT, except for those of `kept`. Also returns the new PROJECT, which the
/// manifests depend on.
pub fn changes(
    resource: &Resource,
    kept: Resource,
    file: &ProjectFile,
    tree: &Tree,
) -> anyhow::Result<(Plan, ProjectFile)> {
    let project = project_of(file, tree)?;
    let remaining: Vec<Resource> =
        file.resources.iter().map(|other| if other.is_same(resource) { kept.clone() } else { other.clone() }).collect();
    let has_webhooks = |resource: &Resource| {
        let webhooks = &resource.webhooks;
        webhooks.defaulting || webhooks.validation || !webhooks.spokes.is_empty()
    };
    let mut wanted = webhooks_of(resource, Some(&kept), &project);
    if !remaining.iter().any(has_webhooks) {
        wanted.server = Some(if is_certified(tree)? { Server::CertManager } else { Server::OwnCertificate });
    }
    let mut created = Plan::default();
    add_rendered(&mut created, webhook::webhooks(&project, &api_of_resource(resource), &wanted));
    adopted::adapt(&mut created, &project, tree);
    let needed = remaining.iter().flat_map(|other| {
        let rendered = webhook::webhooks(&project, &api_of_resource(other), &webhooks_of(other, None, &project));
        let insertions = rendered.insertions.into_iter().map(|insertion| (insertion.path, Edit::from(insertion.what)));
        insertions.chain(versions::edits(other))
    });
    let needed = adopted::edits(needed, &project, tree);
    let mut plan = created.inverse(&needed, |path| tree.read(path)).map_err(record::inverse_error)?;
    adopted::undeclare(&mut plan, &project, tree);

    let text = tree.read(PROJECT)?.unwrap_or_default();
    let entry = |resource: &Resource| Edit::YamlEntry {
        key: "resources".into(),
        identity: Resource::identity(),
        fields: resource.fields(),
    };
    let without = entry(resource).undo(&text, None).map_err(|error| UserError::edit(PROJECT, error))?;
    // The type of another project is in PROJECT only for its webhooks.
    let is_empty = kept.api.is_none() && !kept.controller && kept.controllers.is_empty() && !has_webhooks(&kept);
    let after = match is_empty {
        true => without,
        false => entry(&kept).apply(&without).map_err(|error| UserError::edit(PROJECT, error))?,
    };
    let planned = ProjectFile::parse(&after).map_err(crate::error::SourceErrors::from)?;
    plan.edit(PROJECT, Edit::Lines { before: text, after });
    Ok((plan, planned))
}
