// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! What an `Application` asks for, as functions of the object: applying it again changes nothing.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{
    Capabilities, Container, ContainerPort, PodSecurityContext, PodSpec, PodTemplateSpec,
    SeccompProfile, SecurityContext, Service, ServicePort, ServiceSpec,
};
use k8s_openapi::api::networking::v1::{
    HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule,
    IngressServiceBackend, IngressSpec, ServiceBackendPort,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt;
use kube::api::ObjectMeta;

use crate::api::apps::v1alpha1::application::{
    Application, DeploymentPart, IngressPart, ServicePart,
};

/// What the port is called, in the Deployment and in the Service.
const PORT: &str = "http";

const INSTANCE: &str = "app.kubernetes.io/instance";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

pub fn deployment(object: &Application, part: &DeploymentPart) -> Deployment {
    let labels = labels(object);
    Deployment {
        metadata: metadata(object),
        spec: DeploymentSpec {
            replicas: Some(part.replicas),
            selector: LabelSelector {
                match_labels: Some(labels.clone()),
                ..Default::default()
            },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels),
                    ..Default::default()
                }),
                spec: Some(pod(part)),
            },
            ..Default::default()
        },
        ..Default::default()
    }
}

/// It passes the Pod Security Standard "restricted".
fn pod(part: &DeploymentPart) -> PodSpec {
    PodSpec {
        automount_service_account_token: Some(false),
        security_context: Some(PodSecurityContext {
            run_as_non_root: Some(true),
            seccomp_profile: Some(SeccompProfile {
                type_: "RuntimeDefault".to_owned(),
                ..Default::default()
            }),
            ..Default::default()
        }),
        containers: vec![Container {
            name: "application".to_owned(),
            image: Some(part.image.clone()),
            ports: Some(vec![ContainerPort {
                name: Some(PORT.to_owned()),
                container_port: part.port,
                ..Default::default()
            }]),
            security_context: Some(SecurityContext {
                allow_privilege_escalation: Some(false),
                capabilities: Some(Capabilities {
                    drop: Some(vec!["ALL".to_owned()]),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            ..Default::default()
        }],
        ..Default::default()
    }
}

pub fn service(object: &Application, part: &ServicePart) -> Service {
    Service {
        metadata: metadata(object),
        spec: Some(ServiceSpec {
            selector: Some(labels(object)),
            ports: Some(vec![ServicePort {
                name: Some(PORT.to_owned()),
                port: part.port,
                target_port: Some(IntOrString::String(PORT.to_owned())),
                ..Default::default()
            }]),
            ..Default::default()
        }),
        ..Default::default()
    }
}

pub fn ingress(object: &Application, part: &IngressPart) -> Ingress {
    let backend = IngressServiceBackend {
        name: object.name_any(),
        port: Some(ServiceBackendPort {
            name: Some(PORT.to_owned()),
            ..Default::default()
        }),
    };
    let path = HTTPIngressPath {
        path: Some(part.path.clone()),
        path_type: "Prefix".to_owned(),
        backend: IngressBackend {
            service: Some(backend),
            ..Default::default()
        },
    };
    Ingress {
        metadata: metadata(object),
        spec: Some(IngressSpec {
            ingress_class_name: part.class_name.clone(),
            rules: Some(vec![IngressRule {
                host: Some(part.host.clone()),
                http: Some(HTTPIngressRuleValue { paths: vec![path] }),
            }]),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Where it is reached, as far as the spec tells.
pub fn address(object: &Application) -> Option<String> {
    let (name, namespace) = (object.name_any(), object.namespace()?);
    match (&object.spec.ingress, &object.spec.service) {
        (Some(ingress), _) => Some(format!("http://{}{}", ingress.host, ingress.path)),
        (None, Some(service)) => Some(format!("http://{name}.{namespace}.svc:{}", service.port)),
        (None, None) => None,
    }
}

/// All of them have the name of the object.
fn metadata(object: &Application) -> ObjectMeta {
    ObjectMeta {
        name: Some(object.name_any()),
        labels: Some(labels(object)),
        ..Default::default()
    }
}

pub fn labels(object: &Application) -> BTreeMap<String, String> {
    BTreeMap::from([
        (INSTANCE.to_owned(), object.name_any()),
        (MANAGED_BY.to_owned(), env!("CARGO_PKG_NAME").to_owned()),
    ])
}
