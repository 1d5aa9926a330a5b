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

//! The Deployment that a `Memcached` asks for, and the labels by which it and its Pods are found.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{
    Capabilities, Container, ContainerPort, PodSecurityContext, PodSpec, PodTemplateSpec,
    SeccompProfile, SecurityContext,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::ResourceExt;
use kube::api::ObjectMeta;

use crate::api::cache::v1alpha1::memcached::Memcached;

const IMAGE: &str = "memcached:1.6.39-alpine";
const PORT: i32 = 11211;
/// The image's own user; by its number, as `runAsNonRoot` cannot judge a name.
const USER: i64 = 11211;

const NAME: &str = "app.kubernetes.io/name";
const INSTANCE: &str = "app.kubernetes.io/instance";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const MANAGER: &str = env!("CARGO_PKG_NAME");

/// Builds the Deployment from the object alone, so that applying it again changes nothing.
pub fn deployment(object: &Memcached) -> Deployment {
    let labels = labels(object);
    Deployment {
        metadata: ObjectMeta {
            name: Some(object.name_any()),
            labels: Some(labels.clone()),
            ..Default::default()
        },
        spec: DeploymentSpec {
            replicas: Some(object.spec.size),
            selector: LabelSelector {
                match_labels: Some(labels.clone()),
                ..Default::default()
            },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta {
                    labels: Some(labels),
                    ..Default::default()
                }),
                spec: Some(pod()),
            },
            ..Default::default()
        },
        ..Default::default()
    }
}

/// It passes the Pod Security Standard "restricted".
fn pod() -> PodSpec {
    PodSpec {
        automount_service_account_token: Some(false),
        security_context: Some(PodSecurityContext {
            run_as_non_root: Some(true),
            run_as_user: Some(USER),
            seccomp_profile: Some(SeccompProfile {
                type_: "RuntimeDefault".to_owned(),
                ..Default::default()
            }),
            ..Default::default()
        }),
        containers: vec![Container {
            name: "memcached".to_owned(),
            image: Some(IMAGE.to_owned()),
            ports: Some(vec![ContainerPort {
                name: Some("memcached".to_owned()),
                container_port: PORT,
                ..Default::default()
            }]),
            security_context: Some(SecurityContext {
                allow_privilege_escalation: Some(false),
                read_only_root_filesystem: Some(true),
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

fn labels(object: &Memcached) -> BTreeMap<String, String> {
    BTreeMap::from([
        (NAME.to_owned(), "memcached".to_owned()),
        (INSTANCE.to_owned(), object.name_any()),
        (MANAGED_BY.to_owned(), MANAGER.to_owned()),
    ])
}

/// Selects the Pods of an object.
pub fn selector(object: &Memcached) -> String {
    format!(
        "{NAME}=memcached,{MANAGED_BY}={MANAGER},{INSTANCE}={}",
        object.name_any()
    )
}
