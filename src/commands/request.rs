//! What is asked for with `opctl create api` or `opctl init --api`: names are checked, gaps are asked about, and the
//! whole is held against what the project has already.

use std::fmt::Display;

use serde_json::{Map, Value};

use super::create_api::CreateApiArgs;
use super::error::{Refusal, Refusals};
use super::{Console, ansible, chart, external, further, wiring};
use crate::scaffold::{self, Wiring, Workload};
use opctl_model::names::{ControllerName, Group, Image, Kind, NameError, Plural, Version, parse_label};
use opctl_model::project::builtin::{self, Builtin};
use opctl_model::project::{Api, Origin, ProjectFile, Resource, Webhooks};

/// A request that the project can fulfil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The entry of PROJECT as it will be.
    pub resource: Resource,
    /// Whether the type itself is asked for.
    pub adds_type: bool,
    pub adds_controller: bool,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub wiring: Wiring,
    /// Of a kind of another project, where they are made from its CRD.
    pub external_types: Option<String>,
    pub workload: Option<Workload>,
    pub chart: Option<chart::Operator>,
    pub ansible: Option<ansible::Operator>,
    pub finalizer: bool,
    /// Of a further version of a kind.
    pub copied: Option<further::Copy>,
    /// The hub that a further version is converted to, with the webhooks that are new.
    pub conversion: Option<(Resource, scaffold::webhook::Webhooks)>,
}

/// The option in PROJECT that has those of further controllers, by their names.
const CONTROLLERS: &str = "controllers";

/// The names of a request, each one legal.
pub struct Names {
    pub group: Group,
    pub version: Version,
    pub kind: Kind,
    pub plural: Option<Plural>,
    short_names: Vec<String>,
    categories: Vec<String>,
    workload: Option<Workload>,
}

/// A flag that is true unless the user sets it to false.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Yes,
    No,
    Unset,
}

impl Flag {
    fn of(value: Option<bool>) -> Self {
        match value {
            Some(true) => Self::Yes,
            Some(false) => Self::No,
            None => Self::Unset,
        }
    }

    fn is_wanted(self) -> bool {
        self != Self::No
    }
}

impl Request {
    /// Checks the arguments against each other and against what the project has.
    pub fn new(args: &CreateApiArgs, project: &ProjectFile) -> Result<Self, Refusals> {
        let names = Names::parse(args)?;
        let (resource_flag, controller_flag) = (Flag::of(args.resource), Flag::of(args.controller));
        if !resource_flag.is_wanted() && !controller_flag.is_wanted() {
            let refusal = Refusal::new("nothing to create: neither a resource nor a controller")
                .help("leave out `--resource=false` or `--controller=false`");
            return Err(Refusals(vec![refusal]));
        }
        if let (Some(flag), false) = (wiring::given_flag(&args.wiring), controller_flag.is_wanted()) {
            let refusal = Refusal::new(format!("`{flag}` requires a controller, but `--controller=false` is given"))
                .help("leave out one of the two");
            return Err(Refusals(vec![refusal]));
        }
        if args.finalizer && !controller_flag.is_wanted() {
            let refusal = Refusal::new("`--finalizer` requires a controller, but `--controller=false` is given")
                .help("leave out one of the two");
            return Err(Refusals(vec![refusal]));
        }
        let is_there = args.external.external_type.is_some() || adds_to_known(args, &names, project);
        let resource_flag = if is_there { Flag::No } else { resource_flag };
        let resource = match &args.external.external_type {
            Some(path) => {
                external::of_type(path, &names, args.namespaced, project).map_err(|refusal| Refusals(vec![refusal]))?
            }
            None => subject(project, &names, args, resource_flag)?,
        };
        let wiring = wiring::wiring(&args.wiring, &resource, project)?;
        if let Some(workload) = &names.workload {
            wiring::refuse_parts_of_workload(&wiring, workload)?;
        }
        // One controller serves all versions: a further version adds none, unless it is asked for.
        let is_further = !resource.controller && !further::others(&resource, project).is_empty();
        let is_asked = args.finalizer || wiring::given_flag(&args.wiring).is_some();
        let controller_flag = match controller_flag {
            Flag::Unset if is_further && resource_flag.is_wanted() && !is_asked => Flag::No,
            flag => flag,
        };
        let mut request = Self::decide(project, names, resource, resource_flag, controller_flag, wiring)?;
        request.finalizer = args.finalizer;
        request.keep(args);
        Ok(request)
    }

    /// Has PROJECT keep the arguments that the scaffold depends on.
    fn keep(&mut self, args: &CreateApiArgs) {
        let lists = Self::lists(args).into_iter().filter(|(_, texts)| !texts.is_empty());
        let lists = lists.map(|(key, texts)| (key.to_owned(), Value::from(texts.clone())));
        match &self.wiring.name {
            None => self.resource.options.extend(lists),
            // A further controller has a wiring of its own.
            Some(name) => {
                let mut own = Map::from_iter(lists);
                for (key, is_asked) in [("finalizer", args.finalizer), ("image", self.workload.is_some())] {
                    if is_asked {
                        own.insert(key.into(), true.into());
                    }
                }
                if !own.is_empty() {
                    let all = self.resource.options.entry(CONTROLLERS).or_insert_with(|| Map::new().into());
                    all[name.as_str()] = own.into();
                }
            }
        }
    }

    /// The arguments that PROJECT keeps as they were given.
    fn lists(args: &CreateApiArgs) -> [(&'static str, &Vec<String>); 4] {
        [
            ("shortNames", &args.short_names),
            ("categories", &args.categories),
            ("owns", &args.wiring.owns),
            ("watches", &args.wiring.watches),
        ]
    }

    /// The arguments that made an entry of PROJECT.
    pub fn arguments(resource: &Resource) -> CreateApiArgs {
        let text = |key: &str| resource.options.get(key).and_then(Value::as_str).map(str::to_owned);
        let number = |key: &str| resource.options.get(key).and_then(Value::as_i64);
        let list = |key: &str| -> Vec<String> {
            let texts = resource.options.get(key).and_then(Value::as_array).into_iter().flatten();
            texts.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        CreateApiArgs {
            group: Some(resource.group.to_string()),
            version: Some(resource.version.to_string()),
            kind: Some(resource.kind.to_string()),
            plural: resource.plural.as_ref().map(ToString::to_string),
            short_names: list("shortNames"),
            categories: list("categories"),
            namespaced: resource.api.map(|api| api.namespaced),
            resource: Some(resource.api.is_some()),
            controller: Some(resource.controller),
            // It stays in PROJECT when somebody removes the controller by hand.
            finalizer: resource.controller && resource.options.get("finalizer") == Some(&true.into()),
            image: text("image"),
            container_port: number("containerPort").and_then(|port| u16::try_from(port).ok()),
            container_command: list("containerCommand"),
            run_as_user: number("runAsUser"),
            wiring: wiring::WiringArgs { controller_name: None, owns: list("owns"), watches: list("watches") },
            yes: true,
            ..CreateApiArgs::default()
        }
    }

    /// The arguments that made a further controller of an entry.
    pub fn arguments_of_controller(resource: &Resource, name: &ControllerName) -> CreateApiArgs {
        let runs_image = runs_image(resource, name);
        let mut options = options_of_controller(resource, name).cloned().unwrap_or_default();
        options.remove("image");
        if runs_image {
            let of_image = ["image", "containerPort", "containerCommand", "runAsUser"];
            options.extend(resource.options.clone().into_iter().filter(|(key, _)| of_image.contains(&key.as_str())));
        }
        let mut args = Self::arguments(&Resource { options, controller: true, ..resource.clone() });
        // With an image, the type is given once more, because it describes the image, too.
        (args.resource, args.controller) = (Some(runs_image), Some(true));
        if !runs_image {
            (args.plural, args.namespaced) = (None, None);
        }
        args.wiring.controller_name = Some(name.to_string());
        args
    }

    /// A controller for a kind whose types are made from its CRD.
    pub fn external(
        args: &CreateApiArgs,
        resource: Resource,
        types: String,
        project: &ProjectFile,
    ) -> Result<Self, Refusals> {
        let wiring = wiring::wiring(&args.wiring, &resource, project)?;
        let names = Names {
            group: resource.group.clone(),
            version: resource.version.clone(),
            kind: resource.kind.clone(),
            plural: None,
            short_names: Vec::new(),
            categories: Vec::new(),
            workload: None,
        };
        let request = Self::decide(project, names, resource, Flag::No, Flag::of(args.controller), wiring)?;
        let mut request = Self { external_types: Some(types), finalizer: args.finalizer, ..request };
        request.keep(args);
        Ok(request)
    }

    /// A type and its controller, of `GROUP/VERSION/KIND`; a second version of a kind gets no second controller.
    pub fn parse(text: &str, project: &ProjectFile) -> Result<Self, Refusals> {
        let [group, version, kind] = text.split('/').collect::<Vec<_>>()[..] else {
            let refusal = Refusal::new(format!("invalid API `{text}`"))
                .help("use GROUP/VERSION/KIND, e.g. `--api cache/v1alpha1/Memcached`");
            return Err(Refusals(vec![refusal]));
        };
        let some = |text: &str| Some(text.to_owned());
        let args = CreateApiArgs {
            group: some(group),
            version: some(version),
            kind: some(kind),
            resource: Some(true),
            ..CreateApiArgs::default()
        };
        let names = Names::parse(&args)?;
        let resource = subject(project, &names, &args, Flag::Yes)?;
        let controller = if served_elsewhere(project, &resource).is_some() { Flag::No } else { Flag::Yes };
        Self::decide(project, names, resource, Flag::Yes, controller, Wiring::default())
    }

    fn decide(
        project: &ProjectFile,
        names: Names,
        mut resource: Resource,
        resource_flag: Flag,
        controller_flag: Flag,
        wiring: Wiring,
    ) -> Result<Self, Refusals> {
        let mut refusals = Refusals::default();
        if controller_flag.is_wanted()
            && wiring.name.is_none()
            && let Some(other) = served_elsewhere(project, &resource)
        {
            refusals.push(
                Refusal::new(format!("`{}` has a controller already, made with {}", resource.kind, other.version))
                    .help("one controller serves all versions of a kind: add `--controller=false`")
                    .help("for a second one beside it give it a name: `--controller-name NAME`"),
            );
        }
        if names.workload.is_some() && resource.api.is_some_and(|api| !api.namespaced) {
            refusals.push(
                Refusal::new(format!(
                    "`--image` is for kinds that live in a namespace, and `{}` does not",
                    resource.kind
                ))
                .help("a Deployment needs one: leave out `--image`, or `--namespaced=false` if the kind is new"),
            );
        }
        if controller_flag.is_wanted() {
            refuse_what_the_type_cannot(project, &resource, &wiring, names.workload.is_some(), &mut refusals);
        }
        let module = controller_flag.is_wanted().then(|| wiring.module(&resource.kind));
        if let Some(module) = &module {
            refuse_second_of_a_module(project, &resource, &wiring, module, &mut refusals);
        }
        refuse_clashes(project, &resource, module.as_deref(), &mut refusals);
        refusals.settle()?;
        match &wiring.name {
            Some(name) if !resource.controllers.contains(name) => resource.controllers.push(name.clone()),
            Some(_) => {}
            None => resource.controller |= controller_flag.is_wanted(),
        }
        Ok(Self {
            resource,
            adds_type: resource_flag.is_wanted(),
            adds_controller: controller_flag.is_wanted(),
            short_names: names.short_names,
            categories: names.categories,
            wiring,
            external_types: None,
            workload: names.workload,
            chart: None,
            ansible: None,
            finalizer: false,
            copied: None,
            conversion: None,
        })
    }
}

/// Whether a controller with a name is asked for, and no option is about the type, which exists.
fn adds_to_known(args: &CreateApiArgs, names: &Names, project: &ProjectFile) -> bool {
    args.wiring.controller_name.is_some()
        && args.resource.is_none()
        && args.image.is_none()
        && project.find(&own(project, names, args)).is_some()
}

impl Request {
    /// What PROJECT keeps of it beside the resource; empty where nothing was asked.
    pub fn options(&self) -> Map<String, Value> {
        let mut options = self.resource.options.clone();
        if self.finalizer && self.wiring.name.is_none() {
            options.insert("finalizer".into(), true.into());
        }
        options.extend(self.chart.iter().flat_map(|chart| chart.options.clone()));
        options.extend(self.ansible.iter().flat_map(|ansible| ansible.options.clone()));
        let Some(workload) = &self.workload else { return options };
        options.insert("image".into(), workload.image.as_str().into());
        if let Some(port) = workload.port {
            options.insert("containerPort".into(), port.into());
        }
        if !workload.command.is_empty() {
            options.insert("containerCommand".into(), workload.command.clone().into());
        }
        if let Some(user) = workload.user {
            options.insert("runAsUser".into(), user.into());
        }
        options
    }
}

impl Names {
    /// Everything that is missing or wrong is told at once.
    pub fn parse(args: &CreateApiArgs) -> Result<Self, Refusals> {
        let mut refusals = Refusals::default();
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
        let short_names = labels("short name", &args.short_names);
        let categories = labels("category", &args.categories);
        let workload = workload(args, &mut refusals);
        let (Some(group), Some(version), Some(kind)) = (group, version, kind) else {
            return Err(refusals);
        };
        refusals.settle()?;
        Ok(Self { group, version, kind, plural, short_names, categories, workload })
    }
}

/// One refusal for all missing names.
fn missing(args: &CreateApiArgs) -> Option<Refusal> {
    let flags = [
        ("--group", "cache", args.group.is_some()),
        ("--version", "v1alpha1", args.version.is_some()),
        ("--kind", "Memcached", args.kind.is_some()),
    ];
    let missing = || flags.iter().filter(|(_, _, is_given)| !is_given);
    let names: Vec<String> = missing().map(|(flag, ..)| format!("`{flag}`")).collect();
    let examples: Vec<String> = missing().map(|(flag, example, _)| format!("{flag} {example}")).collect();
    let refusal = Refusal::new(format!("missing {}", names.join(", ")));
    (!names.is_empty()).then(|| refusal.help(format!("specify what to create, e.g. `{}`", examples.join(" "))))
}

/// What `--image` and the flags about it ask for.
fn workload(args: &CreateApiArgs, refusals: &mut Refusals) -> Option<Workload> {
    let Some(image) = &args.image else {
        let about_one = [
            ("--container-port", args.container_port.is_some()),
            ("--container-command", !args.container_command.is_empty()),
            ("--run-as-user", args.run_as_user.is_some()),
        ];
        for (flag, _) in about_one.iter().filter(|(_, is_given)| *is_given) {
            refusals.push(
                Refusal::new(format!("`{flag}` requires `--image`"))
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

/// The arguments, with answers for the missing ones. Invalid arguments are reported first: they need another command line,
/// not answers.
pub fn ask(args: &CreateApiArgs, project: &ProjectFile, console: &Console) -> anyhow::Result<CreateApiArgs> {
    let or_legal = |name: &Option<String>, legal: &str| name.clone().or_else(|| Some(legal.to_owned()));
    Names::parse(&CreateApiArgs {
        group: or_legal(&args.group, "group"),
        version: or_legal(&args.version, "v1"),
        kind: or_legal(&args.kind, "Kind"),
        ..args.clone()
    })?;
    let mut args = args.clone();
    ask_for(&mut args.group, "Group, e.g. cache", Group::parse, console)?;
    ask_for(&mut args.version, "Version, e.g. v1alpha1", Version::parse, console)?;
    ask_for(&mut args.kind, "Kind, e.g. Memcached", Kind::parse, console)?;
    if args.external.external_type.is_some() || adds_to_known(&args, &Names::parse(&args)?, project) {
        return Ok(args);
    }
    if args.resource.is_none() {
        // Who describes a type wants it.
        args.resource = Some(no_details(&args).is_err() || console.ask_yes_no("Create Resource")?);
    }
    let resource = subject(project, &Names::parse(&args)?, &args, Flag::of(args.resource))?;
    let describes_controller = args.finalizer || wiring::given_flag(&args.wiring).is_some();
    if args.controller.is_none() && !describes_controller {
        let served = served_elsewhere(project, &resource).is_some();
        args.controller = Some(!served && console.ask_yes_no("Create Controller")?);
    }
    Ok(args)
}

/// Asks for a name that is missing.
pub fn ask_for<T: Display>(
    text: &mut Option<String>,
    question: &str,
    parse: impl Fn(&str) -> Result<T, NameError>,
    console: &Console,
) -> anyhow::Result<()> {
    if text.is_none() {
        let name = console.ask(question, |answer| parse(answer).map_err(|error| error.to_string()))?;
        *text = Some(name.to_string());
    }
    Ok(())
}

/// The resource that is meant, as PROJECT has it or will have it.
fn subject(
    project: &ProjectFile,
    names: &Names,
    args: &CreateApiArgs,
    resource_flag: Flag,
) -> Result<Resource, Refusals> {
    let own = own(project, names, args);
    let known = project.find(&own);
    let result = match (resource_flag, known) {
        (Flag::Yes, _) | (Flag::Unset, Some(_)) => own_type(project, own, known, args),
        (Flag::Unset, None) => match Builtin::find(names.group.as_str(), names.version.as_str(), names.kind.as_str()) {
            Some(builtin) => Err(ambiguous(builtin, project)),
            None => own_type(project, own, None, args),
        },
        (Flag::No, Some(known)) if known.api.is_some() => no_details(args).map(|()| known.clone()),
        (Flag::No, _) => no_details(args).and_then(|()| match external::known(names, project) {
            Some(known) => Ok(known.clone()),
            None => kubernetes_type(names, project),
        }),
    };
    result.map_err(|refusal| Refusals(vec![refusal]))
}

/// The entry of a type of this project, its details those of the kind's other versions unless given.
pub fn own(project: &ProjectFile, names: &Names, args: &CreateApiArgs) -> Resource {
    let mut own = Resource {
        group: names.group.clone(),
        version: names.version.clone(),
        kind: names.kind.clone(),
        domain: Some(project.domain.clone()),
        plural: names.plural.clone().filter(|plural| *plural != names.kind.plural()),
        path: format!("crate::api::{}::{}", names.group.module(), names.version),
        api: None,
        controller: false,
        controllers: Vec::new(),
        options: Map::new(),
        webhooks: Webhooks::default(),
        origin: Origin::Own,
    };
    let sibling = project.resources.iter().find(|other| other.is_same_kind(&own) && other.api.is_some());
    let sibling_scope = sibling.and_then(|sibling| sibling.api).map(|api| api.namespaced);
    own.api = Some(Api { namespaced: args.namespaced.or(sibling_scope).unwrap_or(true) });
    if names.plural.is_none() {
        own.plural = sibling.and_then(|sibling| sibling.plural.clone());
    }
    own
}

fn own_type(
    project: &ProjectFile,
    own: Resource,
    known: Option<&Resource>,
    args: &CreateApiArgs,
) -> Result<Resource, Refusal> {
    let group = own.group.as_str();
    if builtin::is_reserved_group(group) {
        return Err(Refusal::new(format!("the group `{group}` belongs to Kubernetes itself"))
            .help("for a controller of one of its types add `--resource=false`")
            .help(format!("for a resource of your own choose another name, which gets `.{}`", own_domain(&own))));
    }
    if let Some(short) = group.strip_suffix(&format!(".{}", own_domain(&own))) {
        return Err(Refusal::new(format!("the group `{group}` ends in the project's domain, which is added anyway"))
            .help(format!("use `--group {short}`")));
    }
    let full_name = format!("{}.{group}.{}", own.plural.clone().unwrap_or_else(|| own.kind.plural()), own_domain(&own));
    if full_name.len() > 253 {
        return Err(Refusal::new(format!("the name `{full_name}` has {} characters", full_name.len()))
            .help("a CustomResourceDefinition's name has at most 253: shorten the group or the domain"));
    }
    let sibling = project.resources.iter().find(|other| other.is_same_kind(&own) && other.api.is_some());
    if let Some(sibling) = sibling {
        let differs = |what: &str, flag: String| {
            Refusal::new(format!("`{}` has another {what} in its version {}", own.kind, sibling.version))
                .help(format!("all versions of a kind share it: leave out `{flag}`"))
        };
        if sibling.api != own.api {
            return Err(differs("scope", format!("--namespaced={}", args.namespaced.unwrap_or(true))));
        }
        if sibling.plural != own.plural {
            return Err(differs("plural", format!("--plural {}", args.plural.as_deref().unwrap_or_default())));
        }
    }
    Ok(own.with_controllers_of(known))
}

fn own_domain(own: &Resource) -> &str {
    own.domain.as_ref().map_or("", |domain| domain.as_str())
}

fn ambiguous(builtin: &Builtin, project: &ProjectFile) -> Refusal {
    let (group, version, kind) = (builtin.group(), builtin.version, builtin.kind);
    let refusal = Refusal::new(format!("`{group}/{version}` `{kind}` is a type of Kubernetes itself"))
        .help("for a controller of it add `--resource=false`");
    if builtin::is_reserved_group(group) {
        return refusal;
    }
    refusal.help(format!("for a resource of your own in `{group}.{}` add `--resource`", project.domain))
}

/// What describes a new type is of no use without one.
fn no_details(args: &CreateApiArgs) -> Result<(), Refusal> {
    let details = [
        ("--plural", args.plural.is_some()),
        ("--shortname", !args.short_names.is_empty()),
        ("--category", !args.categories.is_empty()),
        ("--namespaced", args.namespaced.is_some()),
        ("--image", args.image.is_some()),
    ];
    match details.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => {
            Err(Refusal::new(format!("`{flag}` describes a new resource, and `--resource=false` asks for none"))
                .help("leave out one of the two"))
        }
        None => Ok(()),
    }
}

pub fn kubernetes_type(names: &Names, project: &ProjectFile) -> Result<Resource, Refusal> {
    let (group, version, kind) = (names.group.as_str(), names.version.as_str(), names.kind.as_str());
    if let Some(builtin) = Builtin::find(group, version, kind) {
        let of_kubernetes = Resource {
            group: names.group.clone(),
            version: names.version.clone(),
            kind: names.kind.clone(),
            domain: None,
            plural: None,
            path: builtin.path.into(),
            api: None,
            controller: false,
            controllers: Vec::new(),
            options: Map::new(),
            webhooks: Webhooks::default(),
            origin: Origin::Kubernetes,
        };
        return Ok(project.find(&of_kubernetes).cloned().unwrap_or(of_kubernetes));
    }
    let in_group: Vec<&Builtin> = builtin::in_group(group).collect();
    if in_group.is_empty() {
        if let Some(full) = builtin::full_group(group) {
            return Err(Refusal::new(format!("Kubernetes has no group `{group}`"))
                .help(format!("did you mean `--group {full}`?")));
        }
        let unknown =
            format!("PROJECT has no `{kind}` in `{group}/{version}`, and Kubernetes itself has no such group");
        let refusal = Refusal::new(unknown).help(format!("groups of Kubernetes are {}", list(builtin::groups())));
        return Err(if builtin::is_reserved_group(group) {
            refusal
        } else {
            refusal.help("leave out `--resource=false` to create the resource too")
        });
    }
    let same_kind: Vec<_> = in_group
        .iter()
        .filter(|builtin| builtin.kind.eq_ignore_ascii_case(kind) || builtin.plural.eq_ignore_ascii_case(kind))
        .collect();
    let refusal = Refusal::new(format!("Kubernetes has no `{kind}` in `{group}/{version}`"));
    if let [near, ..] = same_kind[..] {
        let (version, kind) = (near.version, near.kind);
        return Err(refusal.help(format!("did you mean `--group {group} --version {version} --kind {kind}`?")));
    }
    let refusal = refusal.help(format!("its kinds there are {}", list(in_group.iter().map(|builtin| builtin.kind))));
    Err(if builtin::is_reserved_group(group) {
        refusal
    } else {
        refusal.help(format!("for a resource of your own in `{group}.{}` add `--resource`", project.domain))
    })
}

pub fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    format!("`{}`", names.join("`, `"))
}

/// Another version of the kind that has the controller.
fn served_elsewhere<'a>(project: &'a ProjectFile, resource: &Resource) -> Option<&'a Resource> {
    let mut others = project.resources.iter().filter(|other| other.is_same_kind(resource) && !other.is_same(resource));
    others.find(|other| other.controller)
}

/// Two names that would be the same module, file or CustomResourceDefinition. `controller` is the module of a new one.
fn refuse_clashes(project: &ProjectFile, resource: &Resource, controller: Option<&str>, refusals: &mut Refusals) {
    let (group_module, kind_module) = (resource.group_module(), resource.kind.module());
    let others = project.resources.iter().filter(|other| !other.is_same_kind(resource));
    for other in others {
        let same_group_module = other.group_module() == group_module;
        let same_kind_module = other.kind.module() == kind_module;
        let both_own = other.origin == Origin::Own && resource.origin == Origin::Own;
        let same_group = other.group == resource.group && other.domain == resource.domain;
        let same_controller = || controller.filter(|new| other.controller_modules().iter().any(|old| old == new));
        let refusal = if both_own && same_group_module && !same_group {
            Refusal::new(format!(
                "the groups `{}` and `{}` would both be the Rust module `{}`",
                resource.group,
                other.group,
                other.group.module()
            ))
            .help("choose another group")
        } else if both_own && same_group && same_kind_module {
            Refusal::new(format!(
                "the kinds `{}` and `{}` would both be the Rust module `{}`",
                resource.kind,
                other.kind,
                other.kind.module()
            ))
            .help("choose another kind")
        } else if both_own && same_group && other.plural() == resource.plural() {
            Refusal::new(format!("the plural `{}` is that of `{}` already", other.plural(), other.kind))
                .help("choose another one with `--plural`")
        } else if same_group_module && same_kind_module && same_controller().is_some() {
            Refusal::new(format!(
                "the controllers of `{}` in `{}` and in `{}` would be the same Rust module",
                resource.kind,
                resource.full_group(),
                other.full_group()
            ))
            .help("choose another group, or `--controller=false`")
        } else if same_group_module && let Some(module) = same_controller() {
            Refusal::new(format!("a controller of `{}` has the Rust module `{module}` already", other.kind))
                .help("choose another name: `--controller-name NAME`")
        } else {
            continue;
        };
        if !refusals.0.contains(&refusal) {
            refusals.push(refusal);
        }
    }
}

/// The options of a further controller in PROJECT.
fn options_of_controller<'a>(resource: &'a Resource, name: &ControllerName) -> Option<&'a Map<String, Value>> {
    resource.options.get(CONTROLLERS)?.get(name.as_str())?.as_object()
}

/// True if a further controller was made with `--image`. A further version of a kind has the image in its options, too, though the
/// controller of another version runs it.
fn runs_image(resource: &Resource, name: &ControllerName) -> bool {
    options_of_controller(resource, name).is_some_and(|own| own.get("image") == Some(&true.into()))
}

/// A controller for an image works with a type that `--image` made, and is the only such one of its kind: its Deployments
/// are called as the objects, and `scale` tells of one. A plain one that writes the whole status fits a plain type alone.
fn refuse_what_the_type_cannot(
    project: &ProjectFile,
    resource: &Resource,
    wiring: &Wiring,
    for_image: bool,
    refusals: &mut Refusals,
) {
    let kind = &resource.kind;
    let versions = || project.resources.iter().filter(|other| other.is_same_kind(resource) && other.api.is_some());
    let runs = versions().filter(|version| version.has_image()).find_map(|version| match version.controller {
        true => Some(None),
        false => version.controllers.iter().find(|name| runs_image(version, name)).map(Some),
    });
    let is_there = versions().find(|version| version.version == resource.version);
    match (for_image, runs) {
        (true, Some(other)) if other != wiring.name.as_ref() => refusals.push(
            Refusal::new(match other {
                Some(name) => format!("the controller `{name}` runs an image for each `{kind}` already"),
                None => format!("the controller of `{kind}` runs an image for each of its objects already"),
            })
                .help("an object has one number of replicas, which `kubectl scale` sets: give the other image a kind of its own")
                .help("for a controller that does something else leave out `--image`; it may make Deployments: `--owns apps/v1/Deployment`"),
        ),
        (true, _) if wiring.name.is_some() && is_there.is_some_and(|version| !version.has_image()) => refusals.push(
            Refusal::new(format!("`{kind}` was made without `--image`, so its objects have no `replicas` and no `scale`"))
                .help("give the image a kind of its own")
                .help("or leave out `--image`, and have the controller make Deployments: `--owns apps/v1/Deployment`"),
        ),
        (false, runs) if wiring.name.is_none() && resource.has_image() && !resource.controller => {
            let refusal = Refusal::new(format!("`{kind}` was made with `--image`, and a plain controller does not fit its status"));
            refusals.push(match runs {
                Some(_) => refusal.help("for one beside the one that it has give it a name: `--controller-name NAME`"),
                None => refusal.help("use `--image IMAGE` for this one too, without `--resource=false`"),
            });
        }
        _ => {}
    }
}

/// Two controllers of one kind in one file: `captain`, and the one that is called after `Captain`.
fn refuse_second_of_a_module(
    project: &ProjectFile,
    resource: &Resource,
    wiring: &Wiring,
    module: &str,
    refusals: &mut Refusals,
) {
    let mut versions = project.resources.iter().filter(|other| other.is_same_kind(resource));
    let is_taken = versions.any(|version| match wiring.name {
        Some(_) => version.controller && module == resource.kind.module(),
        None => version.controllers.iter().any(|name| name.module() == module),
    });
    if is_taken {
        refusals.push(
            Refusal::new(format!("a controller of `{}` has the Rust module `{module}` already", resource.kind))
                .help("choose another name: `--controller-name NAME`"),
        );
    }
}
