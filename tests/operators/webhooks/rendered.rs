//! The rendered objects of a project, and the references between them.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use super::project::Project;
use super::trees::{CONVERSION, DEFAULTING, Tree, VALIDATION};
use crate::common;
use crate::workdir::kubectl;

pub struct Rendered(Vec<Value>);

const INJECTED: &str = "/metadata/annotations/cert-manager.io~1inject-ca-from";

impl Rendered {
    pub fn of(project: &Project) -> Self {
        let mut command = Command::new(kubectl().unwrap());
        command.current_dir(project.folder()).args(["kustomize", "config/default"]);
        let text = common::output(command);
        Self(text.split("\n---\n").map(|object| opctl_model::yaml::read(object).unwrap()).collect())
    }

    fn all(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |object| object["kind"] == kind)
    }

    fn one(&self, kind: &str) -> &Value {
        let all: Vec<&Value> = self.all(kind).collect();
        assert_eq!(all.len(), 1, "{kind}: {all:#?}");
        all[0]
    }

    /// The Service of the webhooks.
    fn service(&self) -> &Value {
        let mut services = self.all("Service").filter(|it| name(it).ends_with("-webhook-service"));
        let service = services.next().expect("a Service of webhooks");
        assert_eq!(services.next(), None);
        service
    }

    fn pod(&self) -> &Value {
        &self.one("Deployment")["spec"]["template"]
    }

    fn container(&self) -> &Value {
        &self.pod()["spec"]["containers"][0]
    }

    /// The port of the Service, if the container has a port with the name of its target.
    fn port(&self) -> u64 {
        let port = &self.service()["spec"]["ports"][0];
        assert_eq!(port["port"], 443, "where a clientConfig without a port leads");
        let ports = self.container()["ports"].as_array().unwrap();
        let found = ports.iter().find(|it| it["name"] == port["targetPort"]);
        found.unwrap_or_else(|| panic!("{port} is none of {ports:#?}"))["containerPort"].as_u64().unwrap()
    }

    /// The objects with client configurations for the API server.
    fn callers(&self) -> Vec<(&Value, Vec<&Value>)> {
        let configurations = self.0.iter().filter(|it| kind(it).ends_with("WebhookConfiguration"));
        let configurations = configurations.map(|it| {
            let webhooks = it["webhooks"].as_array().unwrap().iter();
            (it, webhooks.map(|webhook| &webhook["clientConfig"]).collect())
        });
        let crds = self.all("CustomResourceDefinition").filter_map(|it| {
            let config = it.pointer("/spec/conversion/webhook/clientConfig")?;
            Some((it, vec![config]))
        });
        configurations.chain(crds).collect()
    }

    pub fn fits_together(&self, project: &Project, tree: Tree) {
        let (service, namespace) = (self.service(), "shop-system");
        assert_eq!(service["metadata"]["namespace"], namespace);
        matches(&service["spec"]["selector"], self.pod());
        assert_eq!(self.port(), 9443);

        let callers = self.callers();
        let kinds: BTreeSet<&str> = callers.iter().map(|(caller, _)| kind(caller)).collect();
        let expected = [
            ("MutatingWebhookConfiguration", DEFAULTING),
            ("ValidatingWebhookConfiguration", VALIDATION),
            ("CustomResourceDefinition", CONVERSION),
        ];
        let expected = expected.iter().filter(|(_, webhook)| tree.has(*webhook)).map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, expected, "{}", tree.command());
        let rust = project.files().into_iter().filter(|(path, _)| path.starts_with("src/webhook/"));
        let rust: Vec<String> = rust.map(|(_, text)| String::from_utf8(text).unwrap()).collect();
        for (caller, configs) in &callers {
            // The runtime patches the configurations with these names, and the CRD of the hub's type.
            let (expected, served) = match kind(caller) {
                "MutatingWebhookConfiguration" => ("shop-mutating-webhook-configuration", "Defaulting::new(PATH, "),
                "ValidatingWebhookConfiguration" => ("shop-validating-webhook-configuration", "Validating::new(PATH)"),
                _ => ("backups.cache.example.com", "Conversion::<Hub>::new("),
            };
            assert_eq!(name(caller), expected);
            for config in configs {
                let path = config["service"]["path"].as_str().unwrap();
                let called = json!({ "name": name(service), "namespace": namespace, "path": path });
                assert_eq!(**config, json!({ "service": called }));
                // The runtime serves all conversions at one path.
                let constant =
                    if path == "/convert" { String::new() } else { format!("const PATH: &str = \"{path}\";") };
                let is_served = |text: &String| text.contains(served) && text.contains(&constant);
                assert!(rust.iter().any(is_served), "{path} is not served");
            }
        }

        self.grants("customresourcedefinitions", "CustomResourceDefinition", &callers);
        self.grants("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", &callers);
        self.grants("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", &callers);
        assert_eq!(self.granted("Role", "secrets"), ["shop-webhook-certificate".to_owned()].into());
        let variable = |name: &str| {
            let mut variables = self.container()["env"].as_array().unwrap().iter();
            variables.find(|it| it["name"] == name).map(|it| it["value"].as_str().unwrap())
        };
        assert_eq!(variable("WEBHOOK_SERVICE"), Some(name(service)));

        let folder = variable("WEBHOOK_CERT_DIR");
        if tree.by_cert_manager {
            self.is_certified(namespace, folder.expect("where the certificate is"), &callers);
        } else {
            assert_eq!(folder, None);
            assert_eq!(self.all("Certificate").chain(self.all("Issuer")).count(), 0);
            assert!(callers.iter().all(|(caller, _)| caller.pointer(INJECTED).is_none()));
        }
    }

    /// Asserts that the operator may write to these objects and to no others of the kind.
    fn grants(&self, resource: &str, kind_of_it: &str, callers: &[(&Value, Vec<&Value>)]) {
        let of_kind = callers.iter().filter(|(caller, _)| kind(caller) == kind_of_it);
        let names = of_kind.map(|(caller, _)| name(caller).to_owned()).collect();
        assert_eq!(self.granted("ClusterRole", resource), names, "{resource}");
    }

    /// The names of objects in the rules of the operator's role.
    fn granted(&self, role: &str, resource: &str) -> BTreeSet<String> {
        let mut roles = self.all(role).filter(|it| name(it) == "shop-manager-role");
        let rules = roles.next().map(|role| role["rules"].as_array().unwrap());
        let of_it = |rule: &&Value| rule["resources"].as_array().unwrap().contains(&resource.into());
        let rules: Vec<&Value> = rules.into_iter().flatten().filter(of_it).collect();
        // `create` cannot be restricted by name.
        let rules = rules.into_iter().filter(|rule| rule["verbs"] != json!(["create"]));
        let names = rules.map(|rule| rule["resourceNames"].as_array().expect("all of a kind"));
        names.flatten().map(|name| name.as_str().unwrap().to_owned()).collect()
    }

    /// Asserts that cert-manager issues the certificate, the Pod mounts it, and the API server trusts it.
    fn is_certified(&self, namespace: &str, folder: &str, callers: &[(&Value, Vec<&Value>)]) {
        let objects: Vec<&Value> = self.all("Certificate").chain(self.all("Issuer")).collect();
        assert!(objects.len() == 5 && objects.iter().all(|object| object["metadata"]["namespace"] == namespace));
        let certificates = self.all("Certificate").filter(|it| it["spec"]["secretName"] == "webhook-server-cert");
        let certificate = certificates.last().expect("a certificate of the webhooks");
        let spec = &certificate["spec"];
        let called = format!("{}.{namespace}.svc", name(self.service()));
        assert_eq!(spec["dnsNames"], json!([called, format!("{called}.cluster.local")]));
        let issuer = self.issuer(certificate);
        let is_authority = |it: &&Value| it["spec"]["secretName"] == issuer["spec"]["ca"]["secretName"];
        let authority = self.all("Certificate").find(is_authority).expect("the certificate of the authority");
        assert_eq!(authority["spec"]["isCA"], true);
        assert_eq!(self.issuer(authority)["spec"], json!({ "selfSigned": {} }));
        let mounts = self.container()["volumeMounts"].as_array().unwrap();
        let mount = mounts.iter().find(|it| it["mountPath"] == folder).expect("a mount");
        let volumes = self.pod()["spec"]["volumes"].as_array().unwrap();
        let volume = volumes.iter().find(|it| it["name"] == mount["name"]).expect("a volume");
        assert_eq!(volume["secret"]["secretName"], spec["secretName"]);
        let injected = format!("{namespace}/{}", name(certificate));
        for (caller, _) in callers {
            assert_eq!(caller.pointer(INJECTED), Some(&json!(injected)), "{}", name(caller));
        }
    }

    fn issuer(&self, certificate: &Value) -> &Value {
        let reference = &certificate["spec"]["issuerRef"];
        assert_eq!(reference["kind"], "Issuer");
        self.all("Issuer").find(|issuer| issuer["metadata"]["name"] == reference["name"]).expect("an issuer")
    }

    /// Asserts that network policies allow the API server, and reject others.
    pub fn lets_in(&self) {
        let port = self.port();
        let lets_in = |policy: &&Value| {
            let mut rules = policy["spec"]["ingress"].as_array().unwrap().iter();
            rules.any(|rule| {
                let anyone = rule["from"].is_null();
                anyone
                    && rule["ports"].as_array().unwrap().iter().any(|it| it["port"] == port && it["protocol"] == "TCP")
            })
        };
        let policies: Vec<&Value> = self.all("NetworkPolicy").filter(lets_in).collect();
        let [policy] = policies[..] else { panic!("{policies:#?}") };
        assert_eq!(policy["metadata"]["namespace"], "shop-system");
        matches(&policy["spec"]["podSelector"]["matchLabels"], self.pod());
        assert_eq!(self.one("Deployment")["spec"]["replicas"], 2);
    }
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

fn kind(object: &Value) -> &str {
    object["kind"].as_str().unwrap()
}

/// Asserts that a non-empty selector matches the Pod.
fn matches(selector: &Value, pod: &Value) {
    let selector = selector.as_object().unwrap();
    assert!(!selector.is_empty());
    for (label, value) in selector {
        assert_eq!(pod["metadata"]["labels"][label], *value, "{label}");
    }
}
