//! The table of all markers, each with its arguments and the function that parses it. The parser, its messages and
//! `docs/reference/markers.md` are all generated from these rows.

use super::arguments::Arguments;
use super::{Markers, allow, csv, rbac, webhook};
use opctl_model::Ownership;

/// A marker: `// +name:argument=value,argument=value`.
#[derive(Debug)]
pub struct Marker {
    /// Without `+`.
    pub name: &'static str,
    /// Description: a clause.
    pub about: &'static str,
    pub form: Form,
    pub arguments: &'static [Argument],
    /// Complete markers, the simplest first.
    pub examples: &'static [&'static str],
    /// Adds the result of the marker, or its errors, to empty `Markers`.
    pub(super) read: fn(&Arguments, &mut Markers),
}

/// Syntax of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `name=value,name=value`, in any order.
    Named,
    /// `first second`: values alone, in the table's order; the last one extends to the end of the line.
    Positional,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Argument {
    pub name: &'static str,
    pub kind: Type,
    pub need: Need,
    /// Value if the argument is absent.
    pub default: Option<&'static str>,
    /// `""` is a valid value.
    pub may_be_empty: bool,
    /// Description: a clause.
    pub about: &'static str,
    /// Notes about its values.
    pub values: Option<&'static str>,
    /// A value; `""` if it has no name to follow.
    pub example: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Text,
    Texts,
    /// `{{a,b},{c,d}}`
    Lists,
    Integer,
    Boolean,
    /// One of these, case-insensitive.
    OneOf(&'static [&'static str]),
    /// Some of these, case-insensitive.
    SomeOf(&'static [&'static str]),
}

impl Type {
    pub fn is_list(self) -> bool {
        matches!(self, Self::Texts | Self::Lists | Self::SomeOf(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// Required if the argument with this name is absent.
    Unless(&'static str),
    Optional,
}

impl Marker {
    pub fn argument(&self, name: &str) -> Option<&'static Argument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }
}

/// The marker with this name, without `+`.
pub fn find(name: &str) -> Option<&'static Marker> {
    MARKERS.iter().find(|marker| marker.name == name)
}

fn ownership(arguments: &Arguments, is_external: bool) -> Ownership {
    let (span, covers) = allow::place(arguments);
    Ownership { is_external, span, covers }
}

/// Defaults for the fields of a row.
const OPTIONAL: Argument = Argument {
    name: "",
    kind: Type::Text,
    need: Need::Optional,
    default: None,
    may_be_empty: false,
    about: "",
    values: None,
    example: "",
};

const SERVICE_NAME: Argument = Argument {
    name: "serviceName",
    default: Some("`webhook-service`"),
    about: "the service that answers",
    example: "webhook-service",
    ..OPTIONAL
};

const SERVICE_NAMESPACE: Argument = Argument {
    name: "serviceNamespace",
    default: Some("`system`, which kustomize replaces"),
    about: "its namespace",
    example: "kube-system",
    ..OPTIONAL
};

const SERVICE_PORT: Argument = Argument {
    name: "servicePort",
    kind: Type::Integer,
    default: Some("the API server's: 443"),
    about: "its port",
    example: "9443",
    ..OPTIONAL
};

pub const MARKERS: &[Marker] = &[
    Marker {
        name: "kubebuilder:rbac",
        about: "grants the operator permissions",
        form: Form::Named,
        arguments: &[
            Argument {
                name: "groups",
                kind: Type::Texts,
                need: Need::Unless("urls"),
                may_be_empty: true,
                about: "the API groups of the resources, `\"\"` for the core group",
                values: Some("`core` is the core group, too; `*` is all of them"),
                example: "apps",
                ..OPTIONAL
            },
            Argument {
                name: "resources",
                kind: Type::Texts,
                need: Need::Unless("urls"),
                about: "the resources, as lowercase plurals",
                values: Some("`deployments/status` is a subresource, `*` all of them"),
                example: "deployments;pods/log",
                ..OPTIONAL
            },
            Argument {
                name: "verbs",
                kind: Type::Texts,
                need: Need::Required,
                about: "what is allowed",
                values: Some(
                    "`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection` or `*`; for `urls` \
                     those of HTTP; also what some API servers ask about, such as `bind` or `use`",
                ),
                example: "get;list;watch",
                ..OPTIONAL
            },
            Argument {
                name: "resourceNames",
                kind: Type::Texts,
                default: Some("any name"),
                about: "only objects of these names",
                example: "leader-lock",
                ..OPTIONAL
            },
            Argument {
                name: "urls",
                kind: Type::Texts,
                about: "non-resource URLs, instead of groups and resources",
                values: Some("`*` only at the end"),
                example: "/metrics;/healthz/*",
                ..OPTIONAL
            },
            Argument {
                name: "namespace",
                default: Some("a ClusterRole; in a project with `namespaced: true` the operator's namespace"),
                about: "a Role in this namespace",
                example: "kube-system",
                ..OPTIONAL
            },
            Argument {
                name: "roleName",
                default: Some("`manager-role`"),
                about: "the name of the role",
                example: "reader",
                ..OPTIONAL
            },
        ],
        examples: &[
            "kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch",
            "kubebuilder:rbac:groups=\"\",resources=secrets,resourceNames=token,verbs=get,namespace=kube-system",
            "kubebuilder:rbac:urls=/metrics,verbs=get",
        ],
        read: |arguments, markers| markers.operator.rbac.push(rbac::read(arguments, &mut markers.diagnostics)),
    },
    Marker {
        name: "kubebuilder:webhook",
        about: "registers an admission webhook",
        form: Form::Named,
        arguments: &[
            Argument {
                name: "mutating",
                kind: Type::Boolean,
                need: Need::Required,
                about: "whether it may change objects (a mutating webhook)",
                example: "false",
                ..OPTIONAL
            },
            Argument {
                name: "name",
                need: Need::Required,
                about: "the webhook's name",
                values: Some("a domain name of three parts or more"),
                example: "vmemcached.kb.io",
                ..OPTIONAL
            },
            Argument {
                name: "path",
                need: Need::Unless("url"),
                about: "where the operator's service answers",
                example: "/validate-cache-example-com-v1-memcached",
                ..OPTIONAL
            },
            Argument {
                name: "url",
                about: "a server outside the cluster, instead of `path` and the service",
                example: "https://webhooks.example.com/validate",
                ..OPTIONAL
            },
            Argument {
                name: "groups",
                kind: Type::Texts,
                need: Need::Required,
                may_be_empty: true,
                about: "the API groups of the resources, `\"\"` for the core group",
                values: Some("`core` is the core group, too; `*` is all of them"),
                example: "cache.example.com",
                ..OPTIONAL
            },
            Argument {
                name: "versions",
                kind: Type::Texts,
                need: Need::Required,
                about: "API versions of the resources",
                example: "v1;v1alpha1",
                ..OPTIONAL
            },
            Argument {
                name: "resources",
                kind: Type::Texts,
                need: Need::Required,
                about: "lowercase plurals",
                example: "memcacheds",
                ..OPTIONAL
            },
            Argument {
                name: "verbs",
                kind: Type::SomeOf(&["create", "update", "delete", "connect", "*"]),
                need: Need::Required,
                about: "the operations that call it",
                example: "create;update",
                ..OPTIONAL
            },
            Argument {
                name: "failurePolicy",
                kind: Type::OneOf(&["Fail", "Ignore"]),
                need: Need::Required,
                about: "what holds while the webhook does not answer",
                example: "fail",
                ..OPTIONAL
            },
            Argument {
                name: "sideEffects",
                kind: Type::OneOf(&["None", "NoneOnDryRun"]),
                need: Need::Required,
                about: "what it changes besides its answer",
                example: "None",
                ..OPTIONAL
            },
            Argument {
                name: "admissionReviewVersions",
                kind: Type::Texts,
                need: Need::Required,
                about: "the versions of AdmissionReview that it reads, the best first",
                example: "v1",
                ..OPTIONAL
            },
            Argument {
                name: "matchPolicy",
                kind: Type::OneOf(&["Exact", "Equivalent"]),
                default: Some("the API server's: `Equivalent`"),
                about: "whether requests through other versions of the resource count, too",
                example: "Equivalent",
                ..OPTIONAL
            },
            Argument {
                name: "reinvocationPolicy",
                kind: Type::OneOf(&["Never", "IfNeeded"]),
                default: Some("the API server's: `Never`"),
                about: "whether it is called again after other webhooks changed the object",
                values: Some("for `mutating=true` only"),
                example: "IfNeeded",
                ..OPTIONAL
            },
            Argument {
                name: "timeoutSeconds",
                kind: Type::Integer,
                default: Some("the API server's: 10"),
                about: "how long the API server waits",
                values: Some("1 to 30"),
                example: "5",
                ..OPTIONAL
            },
            SERVICE_NAME,
            SERVICE_NAMESPACE,
            SERVICE_PORT,
            Argument {
                name: "webhookVersions",
                kind: Type::SomeOf(&["v1"]),
                default: Some("`v1`"),
                about: "the API version of the configuration",
                example: "v1",
                ..OPTIONAL
            },
            Argument {
                name: "patch",
                about: "JSON that is merged into the webhook at the end: selectors, match conditions",
                example: "`{\"objectSelector\":{\"matchLabels\":{\"watched\":\"yes\"}}}`",
                ..OPTIONAL
            },
        ],
        examples: &[
            "kubebuilder:webhook:mutating=false,path=/validate-cache-example-com-v1-memcached,failurePolicy=fail,\
             sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1,\
             name=vmemcached.kb.io,admissionReviewVersions=v1",
        ],
        read: |arguments, markers| markers.operator.webhooks.extend(webhook::read(arguments, &mut markers.diagnostics)),
    },
    Marker {
        name: "kubebuilder:webhookconfiguration",
        about: "names the object that holds the webhooks",
        form: Form::Named,
        arguments: &[
            Argument {
                name: "mutating",
                kind: Type::Boolean,
                need: Need::Required,
                about: "which of the two objects",
                example: "true",
                ..OPTIONAL
            },
            Argument {
                name: "name",
                default: Some("`mutating-webhook-configuration` or `validating-webhook-configuration`"),
                about: "its name",
                example: "memcached-defaults",
                ..OPTIONAL
            },
        ],
        examples: &["kubebuilder:webhookconfiguration:mutating=true,name=memcached-defaults"],
        read: |arguments, markers| {
            let configuration = webhook::configuration(arguments, &mut markers.diagnostics);
            markers.operator.webhook_configurations.extend(configuration);
        },
    },
    Marker {
        name: "opctl:conversion",
        about: "has a webhook convert the versions of a kind into each other",
        form: Form::Named,
        arguments: &[
            Argument {
                name: "group",
                need: Need::Required,
                about: "the group of the kind, as in `#[kube(group = …)]`",
                example: "cache.example.com",
                ..OPTIONAL
            },
            Argument { name: "kind", need: Need::Required, about: "the kind", example: "Memcached", ..OPTIONAL },
            Argument {
                name: "path",
                default: Some("`/convert`"),
                about: "where the operator's service answers",
                example: "/convert",
                ..OPTIONAL
            },
            Argument {
                name: "url",
                about: "a server outside the cluster, instead of `path` and the service",
                example: "https://hooks.example.com/convert",
                ..OPTIONAL
            },
            SERVICE_NAME,
            SERVICE_NAMESPACE,
            SERVICE_PORT,
            Argument {
                name: "conversionReviewVersions",
                kind: Type::Texts,
                default: Some("`v1`"),
                about: "the versions of reviews that it speaks, the best first",
                example: "v1",
                ..OPTIONAL
            },
        ],
        examples: &["opctl:conversion:group=cache.example.com,kind=Memcached"],
        read: |arguments, markers| {
            markers.operator.conversions.extend(webhook::conversion(arguments, &mut markers.diagnostics))
        },
    },
    Marker {
        name: "opctl:ca",
        about: "names the CA certificate of the webhooks; without it, the operator sets `caBundle` itself",
        form: Form::Named,
        arguments: &[
            Argument {
                name: "certificate",
                about: "a Certificate of cert-manager, `NAME` in the operator's namespace or `NAMESPACE/NAME`",
                example: "serving-cert",
                ..OPTIONAL
            },
            Argument {
                name: "secret",
                about: "a Secret that cert-manager reads `ca.crt` of, `NAME` or `NAMESPACE/NAME`",
                example: "webhooks/ca",
                ..OPTIONAL
            },
            Argument {
                name: "file",
                about: "certificates in PEM, from the package's folder",
                example: "certs/ca.crt",
                ..OPTIONAL
            },
        ],
        examples: &["opctl:ca:certificate=serving-cert", "opctl:ca:file=certs/ca.crt"],
        read: |arguments, markers| markers.authorities.extend(webhook::authority(arguments, &mut markers.diagnostics)),
    },
    Marker {
        name: "opctl:allow",
        about: "silences one diagnostic in the item or statement that follows",
        form: Form::Positional,
        arguments: &[
            Argument {
                name: "CODE",
                need: Need::Required,
                about: "the diagnostic's code",
                values: Some("one of `opctl check` (from `OP401`), or of a warning"),
                ..OPTIONAL
            },
            Argument {
                name: "reason",
                need: Need::Required,
                about: "why it is right here, for those who read the code",
                ..OPTIONAL
            },
        ],
        examples: &["opctl:allow:OP417 the role is shared with the installer"],
        read: |arguments, markers| markers.operator.allows.extend(allow::read(arguments, &mut markers.diagnostics)),
    },
    Marker {
        name: "opctl:external",
        about: "says that the CRD of the custom resource that follows belongs to another project, and generates none",
        form: Form::Positional,
        arguments: &[],
        examples: &["opctl:external"],
        read: |arguments, markers| markers.operator.ownerships.push(ownership(arguments, true)),
    },
    Marker {
        name: "opctl:owned",
        about: "says that the CRD of the custom resource that follows belongs to this crate, whatever its group suggests",
        form: Form::Positional,
        arguments: &[],
        examples: &["opctl:owned"],
        read: |arguments, markers| markers.operator.ownerships.push(ownership(arguments, false)),
    },
    Marker {
        name: "operator-sdk:csv:customresourcedefinitions",
        about: "says how consoles show the kind or the field below it, in a bundle for OLM",
        form: Form::Named,
        arguments: &[
            Argument {
                name: "type",
                kind: Type::OneOf(&["spec", "status"]),
                default: Some("the marker is about a kind"),
                about: "makes it about a field: the part of the object that the field is in",
                example: "spec",
                ..OPTIONAL
            },
            Argument {
                name: "displayName",
                default: Some("the words of the name"),
                about: "what it is called",
                example: "\"Number of servers\"",
                ..OPTIONAL
            },
            Argument {
                name: "xDescriptors",
                kind: Type::Texts,
                default: Some("derived from the schema"),
                about: "how a field is shown and entered",
                example: "\"urn:alm:descriptor:com.tectonic.ui:podCount\"",
                ..OPTIONAL
            },
            Argument {
                name: "resources",
                kind: Type::Lists,
                default: Some("the kinds that the controller owns"),
                about: "more kinds of objects that belong to one of this kind: kind, version, and a name if it has one",
                example: "{{Deployment,v1},{Service,v1}}",
                ..OPTIONAL
            },
            Argument {
                name: "order",
                kind: Type::Integer,
                default: Some("behind those with an order, by name"),
                about: "the place among the others",
                example: "1",
                ..OPTIONAL
            },
        ],
        examples: &[
            "operator-sdk:csv:customresourcedefinitions:displayName=\"Memcached App\",resources={{Deployment,v1},{Service,v1,memcached}}",
            "operator-sdk:csv:customresourcedefinitions:type=spec,displayName=\"Size\",xDescriptors={\"urn:alm:descriptor:com.tectonic.ui:podCount\"}",
        ],
        read: |arguments, markers| markers.operator.displayed.extend(csv::read(arguments, &mut markers.diagnostics)),
    },
];
