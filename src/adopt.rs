//! The input is an operator that opctl did not scaffold, the output its entries in PROJECT and the files with its CRDs.
//!
//! Nothing is compiled, and the source is not changed. Kinds are identified by `#[kube(…)]`, so this works for every
//! release of kube.

use std::collections::BTreeMap;

use crate::error::{UserError, UserErrors};
use opctl_kustomize::yaml::{Dialect, documents};
use opctl_model::diagnostic::SourceFile;
use opctl_model::names::{Domain, Group, Kind, NameError, Plural, ProjectName, TypePath, Version};
use opctl_model::project::{Api, CrdPath, Manifest, Options, Origin, ReadError, Resource, Tree, Webhooks};
use opctl_model::{Declared, Scope};
use opctl_source::emit::CustomResourceDefinition;

/// The project's name, a prefix of Kubernetes resources, from the name of the package: `my-operator` for `my_operator`.
///
/// # Errors
///
/// If no valid name is similar.
pub fn name(manifest: &Manifest) -> Result<ProjectName, UserError> {
    let package = manifest.package_name().unwrap_or_default();
    ProjectName::near(package).ok_or_else(|| {
        UserError::new(format!("the package's name `{package}` cannot be the project's"))
            .help("choose another one, e.g. `--project-name memcached-operator`")
    })
}

/// The longest common suffix of the groups of own kinds, each without its first label: `example.com` for
/// `cache.example.com` and `shop.example.com`. A group such as `example.com` is itself a domain. If the groups have no
/// common suffix, the domain of most kinds; `None` if there are no own kinds.
pub fn domain<'a>(groups: impl Iterator<Item = &'a str>) -> Option<Domain> {
    let domains: Vec<Vec<&str>> = groups
        .map(|group| {
            let labels: Vec<&str> = group.split('.').collect();
            labels[usize::from(labels.len() > 2)..].to_vec()
        })
        .collect();
    let common = domains.iter().cloned().reduce(|common, labels| {
        let equal = common.iter().rev().zip(labels.iter().rev()).take_while(|(one, other)| one == other).count();
        common[common.len() - equal..].to_vec()
    })?;
    let of_kinds = |domain: &Vec<&str>| domains.iter().filter(|other| *other == domain).count();
    let domain = if common.len() > 1 { common } else { domains.iter().rev().max_by_key(|it| of_kinds(it))?.clone() };
    Domain::parse(&domain.join(".")).ok()
}

/// The entries of PROJECT for kinds, and an error for each kind with a name that is not valid in PROJECT.
pub fn resources(kinds: &[Declared], domain: &Domain) -> (Vec<Resource>, UserErrors) {
    let mut refusals = UserErrors::default();
    let resources = kinds.iter().filter_map(|kind| refusals.check(resource(kind, domain))).collect();
    (resources, refusals)
}

/// The entries of PROJECT for all versions of kinds that macros make, without the paths of their types, and an error
/// for each version with a name that is not valid in PROJECT.
pub fn resources_of_macros(crds: &[CustomResourceDefinition], domain: &Domain) -> (Vec<Resource>, UserErrors) {
    let mut refusals = UserErrors::default();
    let resources = crds.iter().flat_map(|crd| crd.spec.versions.iter().map(move |version| (&crd.spec, version)));
    let resources = resources.filter_map(|(spec, version)| {
        let names = Names {
            group: &spec.group,
            version: &version.name,
            kind: &spec.names.kind,
            plural: &spec.names.plural,
            namespaced: spec.scope == "Namespaced",
        };
        refusals.check(own(&names, domain))
    });
    (resources.collect(), refusals)
}

fn resource(kind: &Declared, domain: &Domain) -> Result<Resource, UserError> {
    let at = |error: NameError| {
        let UserError { message, help } = error.into();
        UserError { message: format!("{message} (at {})", kind.span), help }
    };
    let namespaced = kind.scope == Scope::Namespaced;
    let Declared { group, version, kind: name, plural, .. } = kind;
    let own = own(&Names { group, version, kind: name, plural, namespaced }, domain).map_err(at)?;
    let krate = kind.library.as_deref().filter(|_| !kind.folder.is_empty()).unwrap_or("crate");
    let path = TypePath::parse(&format!("{krate}::{}", kind.path)).map_err(at)?;
    // A scaffolded type has the path of its module in PROJECT.
    let module = format!("crate::api::{}::{version}", own.group.module());
    let is_scaffolded = path.to_string() == format!("{module}::{}::{}", own.kind.module(), own.kind.type_name());
    let path = if is_scaffolded { module } else { path.to_string() };
    Ok(match kind.is_external {
        true => Resource { path, api: None, origin: Origin::External { namespaced }, ..own },
        false => Resource { path, ..own },
    })
}

/// The names of a version of a kind.
struct Names<'a> {
    /// The full group name.
    group: &'a str,
    version: &'a str,
    kind: &'a str,
    plural: &'a str,
    namespaced: bool,
}

/// The entry of an own kind, without a path.
fn own(names: &Names, domain: &Domain) -> Result<Resource, NameError> {
    let label = names.group.strip_suffix(domain.as_str()).and_then(|rest| rest.strip_suffix('.'));
    let (group, own_domain) = match label.or_else(|| names.group.split('.').next()) {
        Some(label) if label.len() < names.group.len() => (label, Some(&names.group[label.len() + 1..])),
        _ => (names.group, None),
    };
    let kind = Kind::parse(names.kind)?;
    let plural = Plural::parse(names.plural)?;
    Ok(Resource {
        group: Group::parse(group)?,
        version: Version::parse(names.version)?,
        domain: own_domain.map(Domain::parse).transpose()?,
        plural: Some(plural).filter(|plural| *plural != kind.plural()),
        kind,
        path: String::new(),
        api: Some(Api { namespaced: names.namespaced }),
        controller: false,
        controllers: Vec::new(),
        options: Options::default(),
        webhooks: Webhooks::default(),
        origin: Origin::Own,
    })
}

/// Folders with manifests that are not deployed.
const NOT_DEPLOYED: [&str; 8] = ["docs", "example", "examples", "fixtures", "test", "testdata", "tests", "vendor"];

/// The files and folders of the repository with CRDs of these names, sorted: the folder if it contains several such
/// files or only CRDs, else the file. `folder` is the path of the crate from the root of the repository.
///
/// # Errors
///
/// If the files of the repository cannot be listed or read.
pub fn crd_places(names: &[String], repository: &Tree, folder: &str) -> Result<Vec<CrdPath>, ReadError> {
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in repository.own_files()? {
        let is_manifest = [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end));
        if !is_manifest || path.split('/').any(|folder| NOT_DEPLOYED.contains(&folder)) {
            continue;
        }
        let text = repository.read(&path)?.unwrap_or_default();
        if text.contains("CustomResourceDefinition") && has_crd(&path, &text, names) {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
            folders.entry(parent).or_default().push(path);
        }
    }
    let mut places = Vec::new();
    for (parent, mut files) in folders {
        let is_of_crds = parent.rsplit('/').next().is_some_and(|name| name.to_ascii_lowercase().contains("crd"));
        let path = if files.len() > 1 || is_of_crds { parent } else { files.remove(0) };
        places.extend(CrdPath::parse(&from_folder(&path, folder)));
    }
    Ok(places)
}

/// The path relative to `folder`. Both paths are relative to the root of the repository.
fn from_folder(path: &str, folder: &str) -> String {
    let mut up = folder;
    let mut prefix = String::new();
    loop {
        if let Some(rest) = path.strip_prefix(up).filter(|rest| up.is_empty() || rest.starts_with('/')) {
            return format!("{prefix}{}", rest.trim_start_matches('/'));
        }
        up = up.rsplit_once('/').map_or("", |(up, _)| up);
        prefix.push_str("../");
    }
}

/// `true` if the file has a CRD with one of these names. Template lines that are not YAML are skipped.
fn has_crd(path: &str, text: &str, names: &[String]) -> bool {
    let lines = text.split_inclusive('\n').map(|line| if line.trim_start().starts_with("{{") { "\n" } else { line });
    let file = SourceFile::new(path, lines.collect::<String>());
    documents(&file, Dialect::Kubectl).unwrap_or_default().iter().any(|node| {
        node.text_at(&["kind"]) == Some("CustomResourceDefinition")
            && node.text_at(&["metadata", "name"]).is_some_and(|name| names.iter().any(|own| own == name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use opctl_model::diagnostic::Span;

    fn kind(group: &str, kind: &str) -> Declared {
        Declared {
            group: group.into(),
            version: "v1".into(),
            kind: kind.into(),
            plural: format!("{}s", kind.to_lowercase()),
            scope: Scope::Namespaced,
            has_status: false,
            is_external: false,
            path: format!("crd::{kind}"),
            library: Some("shop".into()),
            folder: String::new(),
            span: Span { file: SourceFile::new("src/crd.rs", ""), range: 0..0 },
        }
    }

    #[test]
    fn the_domain_is_the_common_end_of_the_groups() {
        let of = |groups: &[&str]| domain(groups.iter().copied()).map(|domain| domain.to_string());
        assert_eq!(of(&["cache.example.com"]).as_deref(), Some("example.com"));
        assert_eq!(of(&["cache.example.com", "a.b.example.com"]).as_deref(), Some("example.com"));
        assert_eq!(of(&["kube.rs"]).as_deref(), Some("kube.rs"));
        assert_eq!(of(&["cache.a.com", "a.com"]).as_deref(), Some("a.com"));
        assert_eq!(of(&["x.a.com", "b.com", "y.b.com"]).as_deref(), Some("b.com"));
        assert_eq!(of(&["a.com", "b.com"]).as_deref(), Some("a.com"));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn entries_have_the_full_group_and_the_type() {
        let domain = Domain::parse("example.com").unwrap();
        let external = Declared { is_external: true, ..kind("cert-manager.io", "Issuer") };
        let api = Declared { folder: "api".into(), ..kind("example.com", "Top") };
        let kinds = [kind("cache.example.com", "Memcached"), api, external];
        let old = Declared { version: "v0".into(), ..kind("example.com", "Old") };
        let (found, refused) = resources(&[&kinds[..], &[old]].concat(), &domain);
        assert_eq!(refused.0.len(), 1);
        let described: Vec<String> =
            found.iter().map(|it| format!("{} {} {}", it.full_group(), it.type_path(), it.is_adopted())).collect();
        assert_eq!(
            described,
            [
                "cache.example.com crate::crd::Memcached true",
                "example.com shop::crd::Top true",
                "cert-manager.io crate::crd::Issuer false",
            ]
        );
    }

    #[test]
    fn every_version_of_a_macro_has_an_entry_without_a_path() {
        let version = |name: &str| serde_json::json!({"name": name, "served": true, "storage": name == "v1"});
        let crd: CustomResourceDefinition = serde_json::from_value(serde_json::json!({"spec": {
            "group": "cache.example.com", "scope": "Namespaced", "names": {"kind": "Shelf", "plural": "shelves"},
            "versions": [version("v1"), version("v1alpha1"), version("2")],
        }}))
        .unwrap();
        let (found, refused) = resources_of_macros(&[crd], &Domain::parse("example.com").unwrap());
        assert_eq!(refused.0.len(), 1);
        assert!(found.iter().all(|it| it.is_of_macro() && it.is_adopted() && it.is_namespaced()));
        let fields: Vec<String> = found.iter().map(|it| serde_json::to_string(&it.fields()).unwrap()).collect();
        let entry = |version: &str| {
            let api = r#""api":{"crdVersion":"v1","namespaced":true}"#;
            format!(
                r#"{{{api},"domain":"example.com","group":"cache","kind":"Shelf","plural":"shelves","version":"{version}"}}"#
            )
        };
        assert_eq!(fields, [entry("v1"), entry("v1alpha1")]);
    }

    #[test]
    fn crds_are_found_where_they_are_deployed_from() {
        let crd = |name: &str| format!("kind: CustomResourceDefinition\nmetadata:\n  name: {name}\n");
        let [one, two] = ["as.g.io", "bs.g.io"].map(crd);
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("charts/op/crds/a.yaml", one.clone()),
            ("charts/op/templates/crds.yaml", format!("{{{{- if .Values.crds }}}}\n{one}---\n{two}{{{{- end }}}}\n")),
            ("operator/deploy/a.yaml", one.clone()),
            ("operator/deploy/b.yml", two.clone()),
            ("operator/deploy/others/c.yaml", crd("others.g.io")),
            ("operator/tests/crd.yaml", one),
        ] {
            let file = root.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let names = ["as.g.io", "bs.g.io"].map(String::from);
        let places = |folder: &str| -> Vec<String> {
            let places = crd_places(&names, &Tree::at(root.path()), folder).unwrap();
            places.iter().map(ToString::to_string).collect()
        };
        assert_eq!(places(""), ["charts/op/crds", "charts/op/templates/crds.yaml", "operator/deploy"]);
        assert_eq!(places("operator"), ["../charts/op/crds", "../charts/op/templates/crds.yaml", "deploy"]);
    }
}
