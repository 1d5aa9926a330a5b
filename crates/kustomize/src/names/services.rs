//! Checks selectors of pods and Services, and the ports that they reference.

use super::pods::missing_port;
use super::{Names, Pods, Reference, effective, first_label, hindrance, is_restrictive, selects};
use crate::diagnostics::{OP441, OP442, OP443, OP444};
use crate::object::Object;
use crate::yaml::{Node, Value};
use opctl_model::diagnostic::{Diagnostic, Severity};

impl<'a> Names<'a> {
    pub(super) fn service(&mut self, object: &Object) {
        let Some(pods) = self.selected_pods(object, object.node.at(&["spec", "selector"]), Severity::Error) else {
            return;
        };
        let names: Vec<&str> = pods.iter().flat_map(Pods::port_names).collect();
        for port in object.node.items_at(&["spec", "ports"]) {
            self.named_port("this Service", port.get("targetPort"), &names);
        }
    }

    pub(super) fn network_policy(&mut self, object: &Object) {
        let selector = object.node.at(&["spec", "podSelector"]);
        let Some(pods) = self.selected_pods(object, selector, Severity::Warning) else { return };
        let names: Vec<&str> = pods.iter().flat_map(Pods::port_names).collect();
        for rule in object.node.items_at(&["spec", "ingress"]) {
            for port in rule.items_at(&["ports"]) {
                self.named_port("this NetworkPolicy", port.get("port"), &names);
            }
        }
    }

    pub(super) fn disruption_budget(&mut self, object: &Object) {
        self.selected_pods(object, object.node.at(&["spec", "selector"]), Severity::Warning);
    }

    pub(super) fn pod_monitor(&mut self, object: &Object) {
        if object.node.at(&["spec", "namespaceSelector"]).is_some_and(|namespaces| !namespaces.entries().is_empty()) {
            return;
        }
        let selector = object.node.at(&["spec", "selector"]);
        let Some(pods) = self.selected_pods(object, selector, Severity::Error) else { return };
        let names: Vec<&str> = pods.iter().flat_map(Pods::port_names).collect();
        for endpoint in object.node.items_at(&["spec", "podMetricsEndpoints"]) {
            self.named_port("this PodMonitor", endpoint.get("port"), &names);
        }
    }

    pub(super) fn service_monitor(&mut self, object: &Object) {
        let id = object.id();
        let namespaces = object.node.at(&["spec", "namespaceSelector"]);
        let is_any = namespaces.is_some_and(|namespaces| namespaces.get("any").is_some_and(Node::is_true));
        let named: Vec<&str> = namespaces
            .map_or(&[][..], |namespaces| namespaces.items_at(&["matchNames"]))
            .iter()
            .filter_map(Node::as_text)
            .collect();
        let Some(selector) = object.node.at(&["spec", "selector"]).filter(|selector| is_restrictive(selector)) else {
            return;
        };
        let in_reach = |service: &&Object| {
            let namespace = service.id().namespace;
            let own = named.is_empty() && effective(&namespace) == effective(&id.namespace);
            service.is("", "Service") && (self.is_lenient || is_any || own || named.contains(&namespace.as_str()))
        };
        let services: Vec<&'a Object> = self.all.iter().copied().filter(in_reach).collect();
        let labels = |service: &&'a Object| service.node.at(&["metadata", "labels"]);
        let selected: Vec<&&Object> = services.iter().filter(|service| selects(selector, labels(service))).collect();
        if selected.is_empty() {
            // A namespace outside of the manifests may have further Services.
            if is_any || named.iter().any(|namespace| !self.owns_namespace(namespace)) {
                return;
            }
            let message = "this ServiceMonitor selects no Service by its labels";
            let problem = OP441.error(message).at(first_label(selector).span.clone(), "");
            let why = hindrance(selector, services.iter().map(labels));
            self.problems.push(problem.help(why.unwrap_or_else(|| "there is no Service in its namespace".into())));
            return;
        }
        let ports = selected.iter().flat_map(|service| service.node.items_at(&["spec", "ports"]));
        let names: Vec<&str> = ports.filter_map(|port| port.text_at(&["name"])).collect();
        for endpoint in object.node.items_at(&["spec", "endpoints"]) {
            self.named_port("this ServiceMonitor", endpoint.get("port"), &names);
            for path in [["ca", "secret", "name"], ["cert", "secret", "name"], ["keySecret", "name", ""]] {
                let path: Vec<&str> = path.into_iter().filter(|key| !key.is_empty()).collect();
                let Some(name) = endpoint.get("tlsConfig").and_then(|tls| tls.at(&path)) else { continue };
                self.secret(&id.namespace, name, "this ServiceMonitor");
            }
        }
    }

    pub(super) fn ingress(&mut self, object: &Object) {
        let id = object.id();
        let rules = object.node.items_at(&["spec", "rules"]).iter();
        let paths = rules.flat_map(|rule| rule.items_at(&["http", "paths"]));
        let backends = paths.filter_map(|path| path.get("backend")).chain(object.node.at(&["spec", "defaultBackend"]));
        for service in backends.filter_map(|backend| backend.get("service")) {
            let Some(name) = service.get("name") else { continue };
            let text = name.as_text().unwrap_or_default();
            let Some(found) = self.find("", "Service", Some(&id.namespace), text) else {
                self.look_up(Reference {
                    code: OP443,
                    severity: Severity::Error,
                    group: "",
                    kind: "Service",
                    namespace: Some(&id.namespace),
                    name,
                    by: "this Ingress".into(),
                    is_followed: true,
                });
                continue;
            };
            let ports = found.node.items_at(&["spec", "ports"]);
            let names: Vec<&str> = ports.iter().filter_map(|port| port.text_at(&["name"])).collect();
            self.named_port("this Ingress", service.at(&["port", "name"]), &names);
            self.service_port("this Ingress", service.at(&["port", "number"]), found);
        }
    }

    pub(super) fn autoscaler(&mut self, object: &Object) {
        let id = object.id();
        let Some(target) = object.node.at(&["spec", "scaleTargetRef"]) else { return };
        let (Some(name), Some(kind)) = (target.get("name"), target.text_at(&["kind"])) else { return };
        let api_version = target.text_at(&["apiVersion"]).unwrap_or_default();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        self.look_up(Reference {
            code: OP444,
            severity: Severity::Error,
            group,
            kind,
            namespace: Some(&id.namespace),
            name,
            by: "this HorizontalPodAutoscaler".into(),
            is_followed: true,
        });
    }

    /// The pods that a selector matches in the object's namespace. `None` if the selector is empty; also if nothing
    /// matches, which is reported.
    fn selected_pods(&mut self, object: &Object, selector: Option<&Node>, severity: Severity) -> Option<Vec<Pods<'a>>> {
        let selector = selector.filter(|selector| is_restrictive(selector))?;
        let id = object.id();
        let mut pods = self.pods_in(&id.namespace);
        let why = hindrance(selector, pods.iter().map(|pods| pods.labels));
        pods.retain(|pods| selects(selector, pods.labels));
        if !pods.is_empty() {
            return Some(pods);
        }
        let message = format!("this {} selects no pods: no pod template here has these labels", id.kind);
        let problem = Diagnostic { severity, ..OP441.error(message) };
        let problem = problem.at(first_label(selector).span.clone(), "");
        self.problems.push(problem.help(why.unwrap_or_else(|| "there are no pods in its namespace".into())));
        None
    }

    /// Checks a port given by name. A number needs no entry.
    fn named_port(&mut self, by: &str, port: Option<&Node>, names: &[&str]) {
        let Some((port, text)) = port.and_then(|port| Some((port, port.as_text()?))) else { return };
        if !names.contains(&text) {
            self.problems.push(missing_port(
                format!("{by} refers to the port `{text}`, which does not exist"),
                text,
                port,
                names,
            ));
        }
    }

    /// Checks a port of a Service given by number.
    pub(super) fn service_port(&mut self, by: &str, port: Option<&Node>, service: &Object) {
        let Some(port) = port.filter(|port| matches!(port.value, Value::Number(_))) else { return };
        let ports: Vec<String> = service
            .node
            .items_at(&["spec", "ports"])
            .iter()
            .filter_map(|port| Some(port.get("port")?.json().to_string()))
            .collect();
        let text = port.json().to_string();
        if !ports.contains(&text) {
            let message =
                format!("{by} asks the port {text} of the Service `{}`, which it does not have", service.id().name);
            let problem = OP442.error(message).at(port.span.clone(), "");
            self.problems.push(problem.help(format!("it has {}", ports.join(", "))));
        }
    }
}
