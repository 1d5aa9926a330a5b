//! Compares the manifests of a project with the cluster.
//!
//! `gather` sends a few requests in parallel. Each other module contains the checks of a section, as functions of the
//! results, so that their tests are tables. A section that cannot be read is reported as skipped.

mod certificate;
mod clock;
mod crds;
mod gather;
mod leftovers;
mod objects;
mod operator;
mod roles;
mod webhooks;

use serde_json::{Value, json};

use self::clock::Now;
use self::gather::Facts;
use crate::Kubectl;
use crate::connection::ConnectionError;
use crate::findings::{self, Section, Severity, worst};

/// The objects that a project applies.
#[derive(Clone, Debug)]
pub struct Project {
    /// Empty for a crate of which only the kinds are known.
    pub name: String,
    pub objects: Vec<Value>,
    /// The placeholder for the operator's image until it is deployed.
    pub placeholder: &'static str,
}

impl Project {
    /// The objects of a kind.
    fn of(&self, kind: &'static str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    /// `true` if a CRD of the project is in this API group.
    fn has_group(&self, group: &str) -> bool {
        self.objects.iter().any(|object| object["spec"]["group"] == group)
    }
}

/// The state of a project in a cluster.
#[derive(Clone, Debug)]
pub struct Status {
    /// The context and the server of the cluster.
    pub cluster: String,
    pub sections: Vec<Section>,
}

impl Status {
    /// Reads the state from the cluster.
    ///
    /// # Errors
    ///
    /// If the cluster cannot be reached. Objects that the user may not read are findings.
    pub fn read(project: &Project, kubectl: &Kubectl) -> Result<Self, ConnectionError> {
        Ok(Self::of(project, Facts::gather(project, kubectl)?, Now::of_clock()))
    }

    fn of(project: &Project, facts: Facts, now: Now) -> Self {
        let section = |title, findings| Section { title, findings };
        let mut sections = vec![
            section("CRDs", crds::examine(project, &facts)),
            section("roles", roles::examine(project, &facts)),
            section("operator", operator::examine(project, &facts, now)),
            section("webhooks", webhooks::examine(project, &facts, now)),
            section("objects", objects::examine(project, &facts, now)),
            section("leftovers", leftovers::examine(project, &facts)),
        ];
        sections.retain(|section| !section.findings.is_empty());
        Self { cluster: facts.cluster, sections }
    }

    /// `true` if there is a warning or an error.
    pub fn differs(&self) -> bool {
        worst(&self.sections).is_some_and(|worst| worst >= Severity::Warning)
    }

    pub fn to_json(&self) -> Value {
        json!({ "cluster": self.cluster, "differs": self.differs(), "sections": findings::json(&self.sections) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Finding;

    #[test]
    fn a_warning_is_a_difference_and_what_was_skipped_is_none() {
        let of = |finding| {
            let sections = vec![Section { title: "a", findings: vec![Finding::ok("b"), finding] }];
            Status { cluster: "here".into(), sections }.to_json()
        };
        assert_eq!(of(Finding::skipped("c"))["differs"], false);
        let warned = of(Finding::warning("c").help("d"));
        assert_eq!(warned["differs"], true);
        let finding = json!({ "severity": "warning", "message": "c", "help": ["d"] });
        assert_eq!(warned["sections"][0]["findings"][1], finding);
    }
}
