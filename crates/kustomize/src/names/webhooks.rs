//! Checks the Services and certificates that webhook configurations and CRDs reference.

use super::{Names, Reference};
use crate::diagnostics::{OP442, OP443, OP445};
use crate::object::Object;
use crate::yaml::Node;
use opctl_model::diagnostic::Severity;

impl Names<'_> {
    pub(super) fn webhooks(&mut self, object: &Object) {
        for webhook in object.node.items_at(&["webhooks"]) {
            self.called(object, webhook.at(&["clientConfig", "service"]), true);
        }
        self.injected(object);
    }

    pub(super) fn conversion(&mut self, object: &Object) {
        self.called(object, object.node.at(&["spec", "conversion", "webhook", "clientConfig", "service"]), false);
        self.injected(object);
    }

    pub(super) fn api_service(&mut self, object: &Object) {
        self.called(object, object.node.at(&["spec", "service"]), true);
        self.injected(object);
    }

    /// Checks the Service of a webhook and its port; the default is 443.
    fn called(&mut self, object: &Object, service: Option<&Node>, is_followed: bool) {
        let Some((service, name)) = service.and_then(|service| Some((service, service.get("name")?))) else { return };
        let by = format!("this {}", object.id().kind);
        let namespace = service.text_at(&["namespace"]).unwrap_or_default();
        let Some(found) = self.find("", "Service", Some(namespace), name.as_text().unwrap_or_default()) else {
            self.look_up(Reference {
                code: OP443,
                severity: Severity::Error,
                group: "",
                kind: "Service",
                namespace: Some(namespace),
                name,
                by,
                is_followed,
            });
            return;
        };
        if service.get("port").is_some() {
            self.service_port(&by, service.get("port"), found);
        } else if !found
            .node
            .items_at(&["spec", "ports"])
            .iter()
            .any(|port| port.get("port").is_some_and(|port| port.json() == 443))
        {
            let message =
                format!("{by} asks the port 443 of the Service `{}`, which it does not have", found.id().name);
            let problem = OP442.error(message).at(name.span.clone(), "");
            self.problems.push(problem.help("set the `port` next to `name`; the default is 443"));
        }
    }

    /// Checks the Certificate from which cert-manager injects the CA.
    fn injected(&mut self, object: &Object) {
        let Some(said) = object.node.at(&["metadata", "annotations", "cert-manager.io/inject-ca-from"]) else { return };
        let Some(text) = said.as_text().filter(|text| !text.contains("$(")) else { return };
        let Some((namespace, name)) = text.split_once('/') else {
            let message = format!("`{text}` names no Certificate: it must be `namespace/name`");
            self.problems.push(OP445.error(message).at(said.span.clone(), ""));
            return;
        };
        if self.find("cert-manager.io", "Certificate", Some(namespace), name).is_some() {
            return;
        }
        let certificates = self.all.iter().filter(|object| object.is("cert-manager.io", "Certificate"));
        let known: Vec<String> = certificates
            .map(|object| object.id())
            .map(|id| format!("{}/{}", super::effective(&id.namespace), id.name))
            .collect();
        let message = format!("the CA comes from the Certificate `{text}`, which is not here");
        let problem = OP445.error(message).at(said.span.clone(), "");
        self.problems.push(match known.as_slice() {
            [] => problem.help("add the Certificate to what kustomize renders"),
            known => problem.help(format!("there is: `{}`; kustomize does not rename it here", known.join("`, `"))),
        });
    }

    pub(super) fn certificate(&mut self, object: &Object) {
        let id = object.id();
        let Some(issuer) = object.node.at(&["spec", "issuerRef"]) else { return };
        let kind = issuer.text_at(&["kind"]).unwrap_or("Issuer");
        let group = issuer.text_at(&["group"]).unwrap_or("cert-manager.io");
        // ClusterIssuers and external issuers are cluster-scoped.
        if let Some(name) = issuer.get("name").filter(|_| kind == "Issuer" && group == "cert-manager.io") {
            self.look_up(Reference {
                code: OP445,
                severity: Severity::Error,
                group,
                kind,
                namespace: Some(&id.namespace),
                name,
                by: "this Certificate".into(),
                is_followed: false,
            });
        }
    }

    pub(super) fn issuer(&mut self, object: &Object) {
        let id = object.id();
        let Some(name) = object.node.at(&["spec", "ca", "secretName"]) else { return };
        self.secret(&id.namespace, name, "this Issuer");
    }
}
