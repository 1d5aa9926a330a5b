//! The objects with which OLM installs a bundle: for OLM v0, a catalog in ConfigMaps with a Pod that serves it, and a
//! Subscription; for OLM v1, a ClusterCatalog and a ClusterExtension.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value, json};

use super::object::{list, text};
use super::render::checksum;

/// An install mode of a CSV, with the namespaces that the operator watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    All,
    Own,
    Single(String),
    Multi(BTreeSet<String>),
}

impl Mode {
    const NAMES: [&str; 4] = ["AllNamespaces", "OwnNamespace", "SingleNamespace", "MultiNamespace"];

    /// Parses operator-sdk's syntax: `AllNamespaces`, `OwnNamespace`, `SingleNamespace=a` or `MultiNamespace=a,b`. An
    /// error is the violated rule.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (mode, names) = text.split_once('=').map_or((text, ""), |(mode, names)| (mode, names));
        let names: BTreeSet<String> = names.split(',').filter(|name| !name.is_empty()).map(String::from).collect();
        let mut one = names.iter();
        match (mode, names.len()) {
            ("AllNamespaces", 0) => Ok(Self::All),
            ("OwnNamespace", 0) => Ok(Self::Own),
            ("SingleNamespace", 1) => Ok(Self::Single(one.next().cloned().unwrap_or_default())),
            ("MultiNamespace", 1..) => Ok(Self::Multi(names)),
            ("AllNamespaces" | "OwnNamespace", _) => Err("this mode has no namespaces"),
            ("SingleNamespace", _) => Err("write it with one namespace: `SingleNamespace=team-a`"),
            ("MultiNamespace", _) => Err("write it with namespaces: `MultiNamespace=team-a,team-b`"),
            _ => Err("use `AllNamespaces`, `OwnNamespace`, `SingleNamespace=NAME` or `MultiNamespace=NAME,NAME`"),
        }
    }

    /// The mode for the namespaces of an OperatorGroup; an empty set means all namespaces.
    pub fn of(watched: &BTreeSet<String>, namespace: &str) -> Self {
        match watched.len() {
            0 => Self::All,
            1 if watched.contains(namespace) => Self::Own,
            1 => Self::Single(watched.iter().next().cloned().unwrap_or_default()),
            _ => Self::Multi(watched.clone()),
        }
    }

    /// The first supported mode that needs no list of namespaces.
    pub fn default_of(csv: &Value) -> Option<Self> {
        [Self::All, Self::Own].into_iter().find(|mode| mode.is_supported_by(csv))
    }

    /// The watched namespaces; empty for all.
    pub fn watched(&self, namespace: &str) -> BTreeSet<String> {
        match self {
            Self::All => BTreeSet::new(),
            Self::Own => [namespace.to_owned()].into(),
            Self::Single(name) => [name.clone()].into(),
            Self::Multi(names) => names.clone(),
        }
    }

    pub fn is_supported_by(&self, csv: &Value) -> bool {
        supported(csv).contains(&self.name())
    }

    fn name(&self) -> &'static str {
        Self::NAMES[match self {
            Self::All => 0,
            Self::Own => 1,
            Self::Single(_) => 2,
            Self::Multi(_) => 3,
        }]
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::All | Self::Own => Ok(()),
            Self::Single(name) => write!(f, "={name}"),
            Self::Multi(names) => write!(f, "={}", names.iter().map(String::as_str).collect::<Vec<_>>().join(",")),
        }
    }
}

/// The install modes that a CSV supports.
pub fn supported(csv: &Value) -> Vec<&str> {
    let modes = list(csv, "/spec/installModes").iter().filter(|mode| mode["supported"] == true);
    modes.map(|mode| text(mode, "/type")).collect()
}

/// The label of objects created by opctl. `PART_OF` contains their package.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "opctl");
const PART_OF: &str = "app.kubernetes.io/part-of";

/// The labels of all objects of a package.
pub fn labels(package: &str) -> Value {
    let mut labels = Map::new();
    labels.insert(MANAGED_BY.0.into(), MANAGED_BY.1.into());
    labels.insert(PART_OF.into(), package.into());
    labels.into()
}

/// The labels as a selector.
pub fn selector(package: &str) -> String {
    format!("{}={},{PART_OF}={package}", MANAGED_BY.0, MANAGED_BY.1)
}

pub fn is_ours(object: &Value) -> bool {
    object["metadata"]["labels"][MANAGED_BY.0] == MANAGED_BY.1
}

/// A package to subscribe to in a namespace.
#[derive(Clone, Copy, Debug)]
pub struct Package<'a> {
    pub name: &'a str,
    pub namespace: &'a str,
}

/// The channel in catalogs of a single package.
pub const CHANNEL: &str = "opctl-run-bundle";

/// The key of the document in each ConfigMap.
pub const DOCUMENT: &str = "catalog.json";

/// Settings of the Pod that serves a catalog.
#[derive(Clone, Debug)]
pub struct Serving<'a> {
    /// Contains `opm`, and optionally further catalog files in `/configs`.
    pub index_image: &'a str,
    pub pull_policy: Option<&'a str>,
    pub pull_secret: Option<&'a str>,
    pub service_account: Option<&'a str>,
    /// The Pod meets the Pod security standard `restricted`.
    pub restricted: bool,
}

impl Package<'_> {
    /// The name of the CatalogSource.
    pub fn catalog(&self) -> String {
        format!("{}-catalog", self.name)
    }

    fn metadata(&self, name: &str) -> Value {
        json!({ "name": name, "namespace": self.namespace, "labels": labels(self.name) })
    }

    /// The package and channel of the catalog. Each bundle replaces the previous one.
    pub fn channel(&self, csvs: &[String]) -> Vec<Value> {
        let before = std::iter::once(None).chain(csvs.iter().map(Some));
        let entries: Vec<Value> = csvs
            .iter()
            .zip(before)
            .map(|(name, replaces)| match replaces {
                Some(replaces) => json!({ "name": name, "replaces": replaces }),
                None => json!({ "name": name }),
            })
            .collect();
        vec![
            json!({ "schema": "olm.package", "name": self.name, "defaultChannel": CHANNEL }),
            json!({ "schema": "olm.channel", "package": self.name, "name": CHANNEL, "entries": entries }),
        ]
    }

    /// The ConfigMaps of a catalog: the channel, then each bundle.
    pub fn config_maps(&self, bundles: &[Value]) -> Vec<Value> {
        let csvs: Vec<String> = bundles.iter().map(|bundle| text(bundle, "/name").to_owned()).collect();
        let channel: String = self.channel(&csvs).iter().map(|document| format!("{document}\n")).collect();
        let texts = std::iter::once(channel).chain(bundles.iter().map(|bundle| format!("{bundle}\n")));
        texts
            .enumerate()
            .map(|(at, document)| {
                json!({
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": self.metadata(&format!("{}-{at}", self.catalog())),
                    "data": { DOCUMENT: document },
                })
            })
            .collect()
    }

    /// The Pod that serves the ConfigMaps. A hash of their content is in its name, because a Pod cannot be updated.
    pub fn pod(&self, config_maps: &[Value], serving: &Serving) -> Value {
        let name = |config_map: &Value| text(config_map, "/metadata/name").to_owned();
        // Files are mounted individually: `opm` would read those of a mounted ConfigMap twice, because of their links.
        let mounts: Vec<Value> = config_maps
            .iter()
            .map(|map| {
                let name = name(map);
                json!({
                    "name": name,
                    "mountPath": format!("/configs/{name}.json"),
                    "subPath": DOCUMENT,
                    "readOnly": true,
                })
            })
            .collect();
        let volumes: Vec<Value> =
            config_maps.iter().map(|map| json!({ "name": name(map), "configMap": { "name": name(map) } })).collect();
        let mut container = json!({
            "name": "registry-grpc",
            "image": serving.index_image,
            "args": ["serve", "/configs"],
            "ports": [{ "name": "grpc", "containerPort": PORT }],
            "readinessProbe": { "grpc": { "port": PORT }, "periodSeconds": 2 },
            "volumeMounts": mounts,
        });
        let mut spec = json!({ "volumes": volumes });
        if let Some(policy) = serving.pull_policy {
            container["imagePullPolicy"] = policy.into();
        }
        if serving.restricted {
            spec["securityContext"] = json!({ "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } });
            container["securityContext"] =
                json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } });
        }
        if let Some(account) = serving.service_account {
            spec["serviceAccountName"] = account.into();
        }
        if let Some(secret) = serving.pull_secret {
            spec["imagePullSecrets"] = json!([{ "name": secret }]);
        }
        spec["containers"] = json!([container]);
        let hash = checksum(&format!("{spec}{}", Value::from(config_maps)));
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": self.metadata(&format!("{}-{hash}", self.catalog())),
            "spec": spec,
        })
    }

    /// The CatalogSource with the address of the Pod.
    pub fn catalog_source(&self, ip: &str, pull_secret: Option<&str>) -> Value {
        let host = if ip.contains(':') { format!("[{ip}]") } else { ip.to_owned() };
        let mut spec = json!({
            "sourceType": "grpc",
            "address": format!("{host}:{PORT}"),
            "displayName": self.name,
            "publisher": "opctl",
        });
        if let Some(secret) = pull_secret {
            spec["secrets"] = json!([secret]);
        }
        self.of_olm("CatalogSource", "v1alpha1", &self.catalog(), spec)
    }

    pub fn operator_group(&self, watched: &BTreeSet<String>) -> Value {
        let spec = if watched.is_empty() { json!({}) } else { json!({ "targetNamespaces": watched }) };
        let mut group = self.of_olm("OperatorGroup", "v1", "opctl", spec);
        // It applies to all packages in the namespace.
        group["metadata"]["labels"] = json!({ MANAGED_BY.0: MANAGED_BY.1 });
        group
    }

    pub fn subscription(&self, csv: &str) -> Value {
        let spec = json!({
            "name": self.name,
            "channel": CHANNEL,
            "source": self.catalog(),
            "sourceNamespace": self.namespace,
            "startingCSV": csv,
            "installPlanApproval": "Manual",
        });
        self.of_olm("Subscription", "v1alpha1", self.name, spec)
    }

    fn of_olm(&self, kind: &str, version: &str, name: &str, spec: Value) -> Value {
        json!({
            "apiVersion": format!("operators.coreos.com/{version}"),
            "kind": kind,
            "metadata": self.metadata(name),
            "spec": spec,
        })
    }

    /// The ClusterCatalog for OLM v1.
    pub fn cluster_catalog(&self, image: &str) -> Value {
        json!({
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterCatalog",
            "metadata": { "name": self.catalog(), "labels": labels(self.name) },
            "spec": { "source": { "type": "Image", "image": { "ref": image } } },
        })
    }

    /// The ClusterExtension for OLM v1, which installs the package in the namespace.
    pub fn cluster_extension(&self, version: &str, watched: &BTreeSet<String>, service_account: Option<&str>) -> Value {
        let mut spec = json!({
            "namespace": self.namespace,
            "source": {
                "sourceType": "Catalog",
                "catalog": {
                    "packageName": self.name,
                    "version": version,
                    "selector": { "matchLabels": { "olm.operatorframework.io/metadata.name": self.catalog() } },
                },
            },
        });
        if let Some(name) = service_account {
            spec["serviceAccount"] = json!({ "name": name });
        }
        if let Some(namespace) = watched.iter().next() {
            spec["config"] = json!({ "configType": "Inline", "inline": { "watchNamespace": namespace } });
        }
        json!({
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterExtension",
            "metadata": { "name": self.name, "labels": labels(self.name) },
            "spec": spec,
        })
    }

    /// The inventory of an installation without OLM, used to find the objects later. `objects` are lines of [`line()`].
    pub fn inventory(&self, version: &str, objects: &BTreeSet<String>) -> Value {
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": self.metadata(&inventory(self.name)),
            "data": { "version": version, "objects": objects.join("\n") },
        })
    }
}

/// The port of `opm serve`.
const PORT: u16 = 50051;

/// The name of the ConfigMap with the inventory of a package.
pub fn inventory(package: &str) -> String {
    format!("{package}-bundle")
}

/// An object in an inventory: `apiVersion kind namespace name`, with `-` for no namespace.
pub fn line(object: &Value) -> String {
    let namespace = Some(text(object, "/metadata/namespace")).filter(|namespace| !namespace.is_empty());
    let [version, kind, name] = ["/apiVersion", "/kind", "/metadata/name"].map(|field| text(object, field));
    format!("{version} {kind} {} {name}", namespace.unwrap_or("-"))
}

/// The inverse of [`line()`]: an object with only its identity. `None` for invalid text.
pub fn named(line: &str) -> Option<Value> {
    let [version, kind, namespace, name] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
    let mut metadata = json!({ "name": name });
    if namespace != "-" {
        metadata["namespace"] = namespace.into();
    }
    Some(json!({ "apiVersion": version, "kind": kind, "metadata": metadata }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: Package = Package { name: "shop", namespace: "operators" };

    #[test]
    fn install_modes_are_those_of_operator_sdk() {
        for text in ["AllNamespaces", "OwnNamespace", "SingleNamespace=a", "MultiNamespace=a,b"] {
            assert_eq!(Mode::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "All", "AllNamespaces=a", "SingleNamespace", "SingleNamespace=a,b", "MultiNamespace="] {
            assert!(Mode::parse(text).is_err(), "{text}");
        }
        let csv = json!({"spec": {"installModes": [
            {"type": "AllNamespaces", "supported": false}, {"type": "OwnNamespace", "supported": true}]}});
        assert_eq!(Mode::default_of(&csv), Some(Mode::Own));
        assert_eq!(Mode::of(&["operators".to_owned()].into(), "operators"), Mode::Own);
    }

    #[test]
    fn a_catalog_is_a_chain_of_bundles_in_config_maps() {
        let bundles = ["shop.v0.1.0", "shop.v0.2.0"].map(|name| json!({"schema": "olm.bundle", "name": name}));
        let maps = PACKAGE.config_maps(&bundles);
        let names: Vec<&str> = maps.iter().map(|map| text(map, "/metadata/name")).collect();
        assert_eq!(names, ["shop-catalog-0", "shop-catalog-1", "shop-catalog-2"]);
        assert!(maps[0]["data"][DOCUMENT].as_str().unwrap().contains(r#""replaces":"shop.v0.1.0""#));
        let serving = Serving {
            index_image: "opm",
            pull_policy: None,
            pull_secret: None,
            service_account: None,
            restricted: true,
        };
        let name = |maps: &[Value]| text(&PACKAGE.pod(maps, &serving), "/metadata/name").to_owned();
        assert_eq!(name(&maps), name(&PACKAGE.config_maps(&bundles)));
        assert_ne!(name(&maps), name(&PACKAGE.config_maps(&bundles[..1])));
    }

    #[test]
    fn objects_are_found_again_by_their_lines() {
        for object in [
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "b"}}),
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a"}}),
        ] {
            assert_eq!(named(&line(&object)), Some(object));
        }
        assert_eq!(named("v1 Service"), None);
    }
}
