//! Checks what a pod references: its service account, ConfigMaps, Secrets, claims, volumes and ports.

use super::{Names, Pods, Reference, first_label, hindrance, is_restrictive, selects};
use crate::diagnostics::{OP440, OP441, OP442, OP443};
use crate::fields::pod_spec;
use crate::yaml::Node;
use opctl_model::diagnostic::{Diagnostic, Severity};
use opctl_model::names::nearest;

/// A reference to a ConfigMap or Secret.
struct Source<'a> {
    kind: &'static str,
    name: &'a Node,
    is_optional: bool,
    /// The keys that it must contain.
    keys: Vec<&'a Node>,
}

impl Names<'_> {
    pub(super) fn pods(&mut self, pods: &Pods) {
        let id = pods.object.id();
        let by = format!("this {}", id.kind);
        let reference = |kind: &'static str, severity, name| Reference {
            code: OP440,
            severity,
            group: "",
            kind,
            namespace: Some(&id.namespace),
            name,
            by: by.clone(),
            is_followed: true,
        };
        let account = pods.spec.get("serviceAccountName").or_else(|| pods.spec.get("serviceAccount"));
        if let Some(name) = account.filter(|name| name.as_text() != Some("default")) {
            self.look_up(reference("ServiceAccount", Severity::Error, name));
        }
        for source in sources(pods) {
            let text = source.name.as_text().unwrap_or_default();
            let found = self.find("", source.kind, Some(&id.namespace), text);
            if let Some(found) = found {
                self.keys(&source, &found.node);
                continue;
            }
            let is_brought = source.kind == "ConfigMap" && text == "kube-root-ca.crt";
            if source.is_optional || is_brought || source.kind == "Secret" && self.is_issued(&id.namespace, text) {
                continue;
            }
            // Secrets are often created separately, to keep them out of the repository.
            let severity = if source.kind == "Secret" { Severity::Warning } else { Severity::Error };
            self.look_up(reference(source.kind, severity, source.name));
        }
        for volume in pods.spec.items_at(&["volumes"]) {
            if let Some(name) = volume.at(&["persistentVolumeClaim", "claimName"]) {
                self.look_up(reference("PersistentVolumeClaim", Severity::Warning, name));
            }
        }
        self.volumes(pods);
        self.own_ports(pods);
        self.default_container(pods);
        let selector = pods.object.node.at(&["spec", "selector"]).filter(|_| id.group == "apps");
        if let Some(selector) = selector.filter(|selector| !selects(selector, pods.labels)) {
            let message = format!("this {} does not select the pods of its own template", id.kind);
            let problem = OP441.error(message).at(first_label(selector).span.clone(), "");
            let why = hindrance(selector, [pods.labels].into_iter()).filter(|_| is_restrictive(selector));
            self.problems.push(problem.help(why.unwrap_or_else(|| "give the template these labels".into())));
        }
        if let Some(name) = pods.object.node.at(&["spec", "serviceName"]).filter(|_| id.kind == "StatefulSet") {
            self.look_up(Reference { code: OP443, ..reference("Service", Severity::Error, name) });
        }
    }

    /// Checks a reference to a Secret outside of a pod. Secrets of a Certificate are skipped. kustomize does not update
    /// these names.
    pub(super) fn secret(&mut self, namespace: &str, name: &Node, by: &str) {
        if !self.is_issued(namespace, name.as_text().unwrap_or_default()) {
            self.look_up(Reference {
                code: OP440,
                severity: Severity::Warning,
                group: "",
                kind: "Secret",
                namespace: Some(namespace),
                name,
                by: by.into(),
                is_followed: false,
            });
        }
    }

    /// `true` if a Certificate in the manifests creates the Secret.
    fn is_issued(&self, namespace: &str, secret: &str) -> bool {
        self.all.iter().any(|object| {
            object.is("cert-manager.io", "Certificate")
                && object.node.text_at(&["spec", "secretName"]) == Some(secret)
                && (self.is_lenient || super::effective(&object.id().namespace) == super::effective(namespace))
        })
    }

    fn keys(&mut self, source: &Source, found: &Node) {
        if source.is_optional {
            return;
        }
        let fields = ["data", "binaryData", "stringData"];
        let keys = fields.iter().filter_map(|field| found.get(field)).flat_map(Node::entries);
        let keys: Vec<&str> = keys.map(|entry| entry.key.as_str()).collect();
        for key in &source.keys {
            let Some(text) = key.as_text().filter(|text| !keys.contains(text)) else { continue };
            // An empty object is filled by others.
            if keys.is_empty() {
                continue;
            }
            let name = source.name.as_text().unwrap_or_default();
            let message = format!("the {} `{name}` has no key `{text}`", source.kind);
            let problem = OP440.error(message).at(key.span.clone(), "");
            self.problems.push(problem.help(match nearest(text, keys.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has `{}`", keys.join("`, `")),
            }));
        }
    }

    fn volumes(&mut self, pods: &Pods) {
        let own = pods.spec.items_at(&["volumes"]).iter().filter_map(|volume| volume.text_at(&["name"]));
        let claims = pods.object.node.items_at(&["spec", "volumeClaimTemplates"]).iter();
        let names: Vec<&str> = own.chain(claims.filter_map(|claim| claim.text_at(&["metadata", "name"]))).collect();
        for mount in pods.containers().flat_map(|container| container.items_at(&["volumeMounts"])) {
            let Some(name) = mount.get("name") else { continue };
            let Some(text) = name.as_text().filter(|text| !names.contains(text)) else { continue };
            let message = format!("this container mounts the volume `{text}`, which the pod does not have");
            let problem = OP440.error(message).at(name.span.clone(), "");
            self.problems.push(problem.help(match nearest(text, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "add it to the `volumes` of the pod".into(),
            }));
        }
    }

    /// Checks the container that `kubectl logs` and `exec` use by default.
    fn default_container(&mut self, pods: &Pods) {
        let path = pod_spec(&pods.object.id().kind).unwrap_or_default();
        let template = path.split_last().and_then(|(_, above)| pods.object.node.at(above));
        let annotation = ["metadata", "annotations", "kubectl.kubernetes.io/default-container"];
        let Some(said) = template.and_then(|template| template.at(&annotation)) else { return };
        let names: Vec<&str> = pods.containers().filter_map(|container| container.text_at(&["name"])).collect();
        let Some(text) = said.as_text().filter(|text| !names.contains(text)) else { return };
        let message = format!("kubectl is to take the container `{text}`, which the pod does not have");
        let problem = OP440.warning(message).at(said.span.clone(), "");
        self.problems.push(match nearest(text, names.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help(format!("there is: `{}`", names.join("`, `"))),
        });
    }

    /// Checks the ports that probes and hooks of a container refer to by name.
    fn own_ports(&mut self, pods: &Pods) {
        for container in pods.containers() {
            let names: Vec<&str> =
                container.items_at(&["ports"]).iter().filter_map(|port| port.text_at(&["name"])).collect();
            let probes =
                ["livenessProbe", "readinessProbe", "startupProbe"].iter().filter_map(|probe| container.get(probe));
            let hooks = ["postStart", "preStop"].iter().filter_map(|hook| container.at(&["lifecycle", hook]));
            let asked =
                probes.chain(hooks).flat_map(|probe| ["httpGet", "tcpSocket"].map(|by| probe.at(&[by, "port"])));
            for port in asked.flatten() {
                let Some(text) = port.as_text().filter(|text| !names.contains(text)) else { continue };
                let message = format!("this probe asks the port `{text}`, which the container does not have");
                self.problems.push(missing_port(message, text, port, &names));
            }
        }
    }
}

/// The error for an unknown name of a port.
pub(super) fn missing_port(message: String, text: &str, place: &Node, names: &[&str]) -> Diagnostic {
    let problem = OP442.error(message).at(place.span.clone(), "");
    match nearest(text, names.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None if names.is_empty() => problem.help("give a port this name"),
        None => problem.help(format!("there is: `{}`", names.join("`, `"))),
    }
}

fn sources<'a>(pods: &Pods<'a>) -> Vec<Source<'a>> {
    let mut sources = Vec::new();
    let is_optional = |node: &Node| node.get("optional").is_some_and(Node::is_true);
    let mut add = |kind, holder: Option<&'a Node>, name: &str, keys: Vec<&'a Node>| {
        if let Some((holder, name)) = holder.and_then(|holder| Some((holder, holder.get(name)?))) {
            sources.push(Source { kind, name, is_optional: is_optional(holder), keys });
        }
    };
    let items = |holder: Option<&'a Node>| -> Vec<&'a Node> {
        let items = holder.map_or(&[][..], |holder| holder.items_at(&["items"]));
        items.iter().filter_map(|item| item.get("key")).collect()
    };
    for volume in pods.spec.items_at(&["volumes"]) {
        add("ConfigMap", volume.get("configMap"), "name", items(volume.get("configMap")));
        add("Secret", volume.get("secret"), "secretName", items(volume.get("secret")));
        for source in volume.items_at(&["projected", "sources"]) {
            add("ConfigMap", source.get("configMap"), "name", items(source.get("configMap")));
            add("Secret", source.get("secret"), "name", items(source.get("secret")));
        }
    }
    for container in pods.containers() {
        for variable in container.items_at(&["env"]) {
            for (field, kind) in [("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")] {
                let from = variable.at(&["valueFrom", field]);
                add(kind, from, "name", from.and_then(|from| from.get("key")).into_iter().collect());
            }
        }
        for from in container.items_at(&["envFrom"]) {
            add("ConfigMap", from.get("configMapRef"), "name", Vec::new());
            add("Secret", from.get("secretRef"), "name", Vec::new());
        }
    }
    sources
}
