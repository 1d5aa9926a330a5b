//! A validated request of `create api`: the changes to a project.

use super::chart::Fetched;
use super::conflicts::{refuse_clashes, refuse_second_of_a_module, refuse_what_the_type_cannot, served_elsewhere};
use super::plan::project_of;
use super::subject::{own, subject};
use super::{Args, Names, Report, ansible, chart, external, versions, wiring};
use crate::error::{UserError, UserErrors};
use crate::scaffold::{self, Wiring, Workload};
use opctl_model::project::{Controller, ControllerOptions, Options, ProjectFile, Resource, Tree};

/// A request that is valid for the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The new entry of PROJECT.
    pub resource: Resource,
    /// The request adds the type.
    pub adds_type: bool,
    pub adds_controller: bool,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub wiring: Wiring,
    /// The source of the Rust types of an external kind, if they are generated from its CRD.
    pub external_types: Option<String>,
    pub workload: Option<Workload>,
    pub chart: Option<chart::Operator>,
    pub ansible: Option<ansible::Operator>,
    /// A patch of the Deployment with the environment variables of an imported operator.
    pub environment: Option<String>,
    pub finalizer: bool,
    /// The type is a copy of another version.
    pub copy: Option<versions::Copy>,
    /// The hub that a new version is converted to, and the new webhooks.
    pub conversion: Option<(Resource, scaffold::webhook::Webhooks)>,
}

impl Request {
    /// Validates the arguments and resolves everything that they add to the project. `fetched` is the chart of
    /// [`chart::fetch`], and `written` returns the text of a file as opctl wrote it.
    pub fn prepare(
        args: &Args,
        fetched: Option<Fetched>,
        file: &ProjectFile,
        tree: &Tree,
        report: Report,
        written: impl Fn(&str) -> anyhow::Result<Option<String>>,
    ) -> anyhow::Result<Self> {
        if let Some(path) = &args.external_type {
            external::refuse_unknown_crate(path, tree)?;
        }
        let mut request = match &args.external_crd {
            Some(path) => {
                let (resource, types) = external::of_crd(path, args.external_crd_version.as_deref(), file)?;
                Self::external(args, resource, types, file)?
            }
            None => Self::new(args, file)?,
        };
        if let Some(fetched) = fetched {
            request.chart = Some(fetched.operator(&args.chart, &mut request.resource, file, report)?);
        }
        if request.adds_type
            && let Some(from) = versions::origin(args, &request.resource, file)?
        {
            match file.find(&request.resource).filter(|known| versions::is_copy(known)) {
                Some(known) => versions::restore(&mut request, known, written)?,
                None => request.copy = Some(versions::copy(&mut request.resource, &from, file, tree, report)?),
            }
        }
        request.conversion = versions::conversion(args, &request.resource, file, tree)?;
        if args.ansible.flag().is_some() {
            let project = project_of(file, tree)?;
            request.ansible =
                Some(ansible::operator(&args.ansible, &mut request.resource, file, &project, tree, report)?);
        }
        Ok(request)
    }

    /// Validates the arguments against each other and against PROJECT.
    pub fn new(args: &Args, project: &ProjectFile) -> Result<Self, UserErrors> {
        let names = Names::parse(args)?;
        if args.resource == Some(false) && args.controller == Some(false) {
            let refusal = UserError::new("nothing to create: neither a resource nor a controller")
                .help("leave out `--resource=false` or `--controller=false`");
            return Err(UserErrors(vec![refusal]));
        }
        if let (Some(flag), Some(false)) = (args.wiring_flag(), args.controller) {
            let refusal = UserError::new(format!("`{flag}` requires a controller, but `--controller=false` is given"))
                .help("leave out one of the two");
            return Err(UserErrors(vec![refusal]));
        }
        if args.options.finalizer && args.controller == Some(false) {
            let refusal = UserError::new("`--finalizer` requires a controller, but `--controller=false` is given")
                .help("leave out one of the two");
            return Err(UserErrors(vec![refusal]));
        }
        let exists = args.external_type.is_some()
            || adds_to_known(args, &names, project)
            || project.find(&own(project, &names, args)).is_some_and(Resource::is_adopted);
        let wanted = if exists { Some(false) } else { args.resource };
        let resource = match &args.external_type {
            Some(path) => external::of_type(path, &names, args.namespaced, project)
                .map_err(|refusal| UserErrors(vec![refusal]))?,
            None => subject(project, &names, args, wanted)?,
        };
        let wiring = wiring::wiring(args, &resource, project)?;
        if let Some(workload) = &names.workload {
            wiring::refuse_parts_of_workload(&wiring, workload)?;
        }
        // One controller serves all versions, so a further version gets none by default.
        let is_another = !resource.controller && !versions::others(&resource, project).is_empty();
        let adds_type = wanted != Some(false);
        let adds_controller = args.controller.unwrap_or(!(is_another && adds_type) || describes_controller(args));
        let mut request = Self::decide(project, names, resource, adds_type, adds_controller, wiring)?;
        request.finalizer = args.options.finalizer;
        request.keep(args);
        Ok(request)
    }

    /// Stores the options in PROJECT.
    fn keep(&mut self, args: &Args) {
        let kept = &mut self.resource;
        let Some(name) = &self.wiring.name else { return kept.options.extend(&args.options) };
        let own = ControllerOptions::of(&args.options);
        let controller = kept.controllers.iter_mut().find(|controller| controller.name == *name);
        if let Some(controller) = controller.filter(|_| own != ControllerOptions::default()) {
            controller.options = own;
        }
        kept.options.extend(&Options { workload: args.options.workload.clone(), ..Options::default() });
    }

    /// A controller for an external kind whose types are generated from its CRD.
    pub fn external(args: &Args, resource: Resource, types: String, project: &ProjectFile) -> Result<Self, UserErrors> {
        let wiring = wiring::wiring(args, &resource, project)?;
        let names = Names {
            group: resource.group.clone(),
            version: resource.version.clone(),
            kind: resource.kind.clone(),
            plural: None,
            short_names: Vec::new(),
            categories: Vec::new(),
            workload: None,
        };
        let request = Self::decide(project, names, resource, false, args.controller != Some(false), wiring)?;
        let mut request = Self { external_types: Some(types), finalizer: args.options.finalizer, ..request };
        request.keep(args);
        Ok(request)
    }

    /// The type `GROUP/VERSION/KIND` and its controller. A further version of a kind gets no controller.
    pub fn parse(text: &str, project: &ProjectFile) -> Result<Self, UserErrors> {
        let [group, version, kind] = text.split('/').collect::<Vec<_>>()[..] else {
            let refusal = UserError::new(format!("invalid API `{text}`"))
                .help("use GROUP/VERSION/KIND, e.g. `--api cache/v1alpha1/Memcached`");
            return Err(UserErrors(vec![refusal]));
        };
        let some = |text: &str| Some(text.to_owned());
        let args = Args {
            group: some(group),
            version: some(version),
            kind: some(kind),
            resource: Some(true),
            ..Args::default()
        };
        let names = Names::parse(&args)?;
        let resource = subject(project, &names, &args, Some(true))?;
        let adds_controller = served_elsewhere(project, &resource).is_none();
        Self::decide(project, names, resource, true, adds_controller, Wiring::default())
    }

    fn decide(
        project: &ProjectFile,
        names: Names,
        mut resource: Resource,
        adds_type: bool,
        adds_controller: bool,
        wiring: Wiring,
    ) -> Result<Self, UserErrors> {
        let mut refusals = UserErrors::default();
        if adds_controller
            && wiring.name.is_none()
            && let Some(other) = served_elsewhere(project, &resource)
        {
            refusals.push(
                UserError::new(format!("`{}` has a controller already, made with {}", resource.kind, other.version))
                    .help("one controller serves all versions of a kind: add `--controller=false`")
                    .help("to add a second one, name it: `--controller-name NAME`"),
            );
        }
        if names.workload.is_some() && resource.api.is_some_and(|api| !api.namespaced) {
            refusals.push(
                UserError::new(format!(
                    "`--image` is for kinds that live in a namespace, and `{}` does not",
                    resource.kind
                ))
                .help("a Deployment needs one: leave out `--image`, or `--namespaced=false` if the kind is new"),
            );
        }
        if adds_controller {
            refuse_what_the_type_cannot(project, &resource, &wiring, names.workload.is_some(), &mut refusals);
        }
        let module = adds_controller.then(|| wiring.module(&resource.kind));
        if let Some(module) = &module {
            refuse_second_of_a_module(project, &resource, &wiring, module, &mut refusals);
        }
        refuse_clashes(project, &resource, module.as_deref(), &mut refusals);
        refusals.settle()?;
        match &wiring.name {
            Some(name) if resource.named(name).is_none() => {
                resource.controllers.push(Controller { name: name.clone(), options: ControllerOptions::default() });
            }
            Some(_) => {}
            None => resource.controller |= adds_controller,
        }
        Ok(Self {
            resource,
            adds_type,
            adds_controller,
            short_names: names.short_names,
            categories: names.categories,
            wiring,
            external_types: None,
            workload: names.workload,
            chart: None,
            ansible: None,
            environment: None,
            finalizer: false,
            copy: None,
            conversion: None,
        })
    }
}

/// `true` if the request adds a named controller to an existing type, and no argument describes the type.
fn adds_to_known(args: &Args, names: &Names, project: &ProjectFile) -> bool {
    args.controller_name.is_some()
        && args.resource.is_none()
        && args.options.workload.image.is_none()
        && project.find(&own(project, names, args)).is_some()
}

fn describes_controller(args: &Args) -> bool {
    args.options.finalizer || args.wiring_flag().is_some()
}

/// Asks whether to create the resource and the controller, unless the arguments determine it.
pub fn complete(
    args: &mut Args,
    project: &ProjectFile,
    ask: impl Fn(&str, &str) -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let names = Names::parse(args)?;
    if args.external_type.is_some() || adds_to_known(args, &names, project) {
        return Ok(());
    }
    // `--resource=false` and `--controller=false` imply the other one: a request for neither is an error.
    let only_controller = args.resource == Some(false);
    if args.resource.is_none() {
        // Flags that describe a type imply it.
        args.resource = Some(
            args.type_flag().is_some()
                || args.controller == Some(false)
                || ask("Create Resource", "the Rust type of the kind, from which its CRD is generated")?,
        );
    }
    let resource = subject(project, &names, args, args.resource)?;
    if args.controller.is_none() && !describes_controller(args) {
        let served = served_elsewhere(project, &resource).is_some();
        let ask = || ask("Create Controller", "the code that reconciles the objects of the kind");
        args.controller = Some(!served && (only_controller || ask()?));
    }
    Ok(())
}
