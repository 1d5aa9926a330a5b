//! Checks the cluster of the current kubeconfig: its connection, its version, and the project's resources in it.

use std::net::IpAddr;

use serde_json::Value;

use super::{Checks, Finding, Target};
use crate::rendered;
use opctl_cluster::connection::{TIMEOUT, VIEW};
use opctl_cluster::{
    FailureCause, Kubectl, KubectlError, Obstacle, condition, differences, is_kind, items, list, name,
};
use opctl_model::project::Tree;
use opctl_model::versions::Release;
use opctl_source::dependencies::Dependencies;
use opctl_source::known::Minor;

/// A cluster whose API server responds.
pub struct Connection {
    /// The name of the current user in the cluster.
    pub user: Option<String>,
}

/// Checks the cluster. The connection is `None` if the API server does not respond.
pub fn examine(target: &Target, packages: &[Dependencies], checks: &Checks) -> (Vec<Finding>, Option<Connection>) {
    let kubectl = checks.kubectl;
    let config = match kubectl.output(&VIEW, "") {
        Ok(config) => json(&config),
        Err(error) => return (vec![no_context(&error)], None),
    };
    let (context, cluster) = (&config["contexts"][0]["name"], &config["clusters"][0]["cluster"]);
    let server = cluster["server"].as_str().unwrap_or_default();
    let context_name = format!("`{}` at {server}", context.as_str().unwrap_or_default());
    let proxy = check_proxy(cluster, (checks.proxy.to)(server), &checks.proxy.none);
    let version = match kubectl.output(&["version", "--output=json", TIMEOUT], "") {
        Ok(version) => json(&version)["serverVersion"]["gitVersion"].as_str().unwrap_or_default().to_owned(),
        Err(error) => return ([vec![unreachable(&context_name, &error)], Vec::from_iter(proxy)].concat(), None),
    };
    let mut found = vec![Finding::ok(format!("context {context_name} answers"))];
    found.extend(proxy);
    let minors = packages.iter().filter_map(|package| package.kubernetes.as_ref().ok()).copied();
    found.push(check_version(&version, minors.max()));
    if target.root.is_some() {
        found.extend(examine_crds(target, kubectl));
        found.extend(examine_deployments(&target.tree, kubectl));
    }
    let user = kubectl.output(&["auth", "whoami", "--output=json", TIMEOUT], "");
    let user = user.ok().and_then(|output| Some(json(&output)["status"]["userInfo"]["username"].as_str()?.to_owned()));
    (found, Some(Connection { user }))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn no_context(error: &KubectlError) -> Finding {
    let reason = error.reason();
    match error.cause() {
        FailureCause::NoKubectl => Finding::skipped(format!("cannot reach a cluster: {reason}")),
        // A missing context that `--context` or the kubeconfig names is a different error.
        FailureCause::NoContext if reason.contains("current-context must exist") => {
            let what = "there is no kubeconfig with a current context";
            Finding::skipped(what).help("export KUBECONFIG=FILE, or `kubectl config use-context NAME`")
        }
        _ => unusable(&reason),
    }
}

fn unusable(reason: &str) -> Finding {
    Finding::error(format!("kubectl cannot use the kubeconfig ({reason})")).help("kubectl config get-contexts")
}

fn unreachable(context: &str, error: &KubectlError) -> Finding {
    let reason = error.reason();
    match error.cause() {
        FailureCause::Unauthorized => Finding::error(format!("context {context} does not accept this user ({reason})"))
            .help("log in again, or choose another one: `opctl doctor --context NAME`"),
        FailureCause::Credentials => {
            Finding::error(format!("kubectl gets no credentials for context {context} ({reason})"))
                .help("install or repair the program that `exec` names in the kubeconfig")
        }
        FailureCause::Kubeconfig => unusable(&reason),
        _ => Finding::error(format!("context {context} does not answer ({reason})"))
            .help("start that cluster, or choose another one: `opctl doctor --context NAME`"),
    }
}

/// A finding for a proxy with a scheme that opctl-runtime does not support, because the operator would stop with an
/// error.
fn check_proxy(cluster: &Value, variable: Option<(&str, String)>, no_proxy: &str) -> Option<Finding> {
    let server = cluster["server"].as_str().unwrap_or_default();
    let address = server.split_once("://").map_or(server, |(_, address)| address).split('/').next().unwrap_or_default();
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
    let is_local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let names = |entry: &str| {
        let domain = entry.trim().trim_start_matches(['*', '.']);
        entry.trim() == "*" || host == domain || !domain.is_empty() && host.ends_with(&format!(".{domain}"))
    };
    let is_direct = is_local || no_proxy.split(',').any(names);
    let (origin, url) = match cluster["proxy-url"].as_str().filter(|url| !url.is_empty()) {
        Some(url) => ("`proxy-url` in the kubeconfig", url.to_owned()),
        None => variable.filter(|_| !is_direct)?,
    };
    let scheme = url.split_once("://").map_or("http", |(scheme, _)| scheme);
    if ["http", "https", "socks5", "socks5h"].contains(&scheme) {
        return None;
    }
    let what = format!("the operator cannot use the proxy of {origin}: it does not know the scheme `{scheme}`");
    Some(
        Finding::warning(what)
            .help("use a proxy with `http://`, `https://` or `socks5://`, or list the server in NO_PROXY"),
    )
}

/// The number of releases that a cluster may be older than the types, as for kube. See
/// <https://kube.rs/kubernetes-version/>.
const RELEASES_BEHIND: u64 = 5;

fn check_version(version: &str, minor: Option<Minor>) -> Finding {
    let Some(minor) = minor else { return Finding::ok(format!("Kubernetes {version}")) };
    let cluster = Release::parse(version.trim_start_matches('v')).map_or(0, |release| release.1);
    let types = u64::from(minor.number());
    if cluster + RELEASES_BEHIND < types {
        let what = format!("Kubernetes {version} is too old for the types of Kubernetes {minor} that k8s-openapi has");
        let help =
            format!("in Cargo.toml, give k8s-openapi the feature `v1_{}` for its own", minor.earliest().number());
        return Finding::warning(what).help(help);
    }
    Finding::ok(format!("Kubernetes {version}, and the types are those of {minor}"))
}

fn examine_crds(target: &Target, kubectl: &Kubectl) -> Vec<Finding> {
    let mut crds = rendered::crd_values(&target.tree);
    crds.retain(|object| is_kind(object, "CustomResourceDefinition"));
    if crds.is_empty() {
        return vec![Finding::skipped("`config/crd` has no CRD to look for")];
    }
    let names: Vec<&str> = crds.iter().map(name).collect();
    let arguments = [&["get", "customresourcedefinitions", "--ignore-not-found", "--output=json", TIMEOUT], &names[..]];
    match kubectl.output(&arguments.concat(), "") {
        Ok(output) => {
            let mut installed = items(&output);
            let has_obstacle = |crd: &Value| !Obstacle::all(crd, [].iter()).is_empty();
            if installed.iter().any(has_obstacle) {
                // The cause may be a CRD of another project, so all CRDs are read. If this fails, the condition is
                // shown without a cause.
                let all = kubectl.output(&["get", "customresourcedefinitions", "--output=json", TIMEOUT], "");
                installed = all.map_or(installed, |all| items(&all));
            }
            let found = |crd: &Value| installed.iter().find(|installed| name(installed) == name(crd));
            crds.iter().flat_map(|crd| check_crd(crd, found(crd), &installed)).collect()
        }
        Err(error) => vec![Finding::skipped(format!("cannot read CRDs ({})", error.reason()))],
    }
}

fn check_crd(generated: &Value, installed: Option<&Value>, around: &[Value]) -> Vec<Finding> {
    let name = name(generated);
    let Some(installed) = installed else {
        return vec![Finding::warning(format!("the CRD `{name}` is not installed")).help("opctl install")];
    };
    let mut found = Vec::new();
    let has = |version: &str| list(&generated["spec"]["versions"]).iter().any(|it| it["name"] == version);
    let stored = list(&installed["status"]["storedVersions"]).iter().filter_map(Value::as_str);
    let gone: Vec<&str> = stored.filter(|version| !has(version)).collect();
    if !gone.is_empty() {
        let what = format!(
            "objects of `{name}` may be stored as {}, which its CRD no longer has: the API server would refuse it",
            gone.join(" and ")
        );
        found.push(Finding::error(what).help("opctl migrate --yes"));
    }
    for obstacle in Obstacle::all(installed, around.iter()) {
        let what = format!("the CRD `{name}` {obstacle}");
        found.push(Finding { help: obstacle.help, ..Finding::error(what) });
    }
    let differences = differences(generated, installed);
    if !differences.is_empty() {
        let what = format!("the CRD `{name}` of the cluster is not the generated one: {}", differences.join(", "));
        found.push(Finding::warning(what).help("opctl install"));
    } else if found.is_empty() {
        found.push(Finding::ok(format!("the CRD `{name}` is installed, and the generated one")));
    }
    found
}

fn examine_deployments(tree: &Tree, kubectl: &Kubectl) -> Vec<Finding> {
    let mut deployments = rendered::values(tree, "config/default");
    deployments.retain(|object| is_kind(object, "Deployment"));
    let found = deployments.iter().map(|deployment| {
        let namespace = deployment["metadata"]["namespace"].as_str().unwrap_or("default");
        let name = name(deployment);
        let get = ["get", "deployment", name, "--namespace", namespace, "--ignore-not-found", "--output=json", TIMEOUT];
        match kubectl.output(&get, "") {
            Ok(output) => check_deployment(namespace, name, items(&output).first()),
            Err(error) => Finding::skipped(format!("the operator cannot be looked for ({})", error.reason())),
        }
    });
    found.collect()
}

fn check_deployment(namespace: &str, name: &str, deployed: Option<&Value>) -> Finding {
    let Some(deployed) = deployed else {
        let what = format!("the operator is not deployed: no Deployment `{name}` in `{namespace}`");
        return Finding::skipped(what).help("opctl deploy --image IMAGE");
    };
    match condition(deployed, "Available") {
        Some(["True", ..]) => {
            Finding::ok(format!("the operator is deployed and available, as `{name}` in `{namespace}`"))
        }
        condition => {
            let why = condition.map_or("it has no Pod yet", |[_, _, message]| message);
            let what = format!("the operator is deployed and not available ({})", why.trim_end_matches('.'));
            Finding::error(what)
                .help(format!("kubectl --namespace {namespace} describe pods"))
                .help(format!("kubectl --namespace {namespace} logs deployment/{name}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use opctl_cluster::findings::Severity;

    fn crd(versions: &[&str]) -> Value {
        let version = |(number, name): (usize, &&str)| {
            json!({
                "name": name, "served": true, "storage": number == 0,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "size": {"type": "integer", "minimum": 1.0, "nullable": false},
                }}},
            })
        };
        let versions: Vec<Value> = versions.iter().enumerate().map(version).collect();
        json!({
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "as.example.com"},
            "spec": {"scope": "Namespaced", "names": {"kind": "A", "plural": "as"}, "versions": versions},
        })
    }

    #[test]
    fn a_proxy_is_of_a_scheme_that_operators_know() {
        let checked = |server: &str, variable: &str, no_proxy: &str| {
            let variable = Some(("HTTPS_PROXY", variable.to_owned()));
            check_proxy(&json!({"server": server}), variable, no_proxy).map(|finding| finding.what)
        };
        let (server, ftp) = ("https://api.example.com:6443", "ftp://me:secret@proxy");
        let what = "the operator cannot use the proxy of HTTPS_PROXY: it does not know the scheme `ftp`";
        assert_eq!(checked(server, ftp, "other.com").as_deref(), Some(what));
        for known in ["http://proxy", "https://proxy:1", "socks5://proxy", "proxy:3128"] {
            assert_eq!(checked(server, known, ""), None, "{known}");
        }
        for direct in ["*", "a, .example.com", "api.example.com"] {
            assert_eq!(checked(server, ftp, direct), None, "{direct}");
        }
        assert_eq!(checked("https://[::1]:6443", ftp, ""), None);
        let cluster = json!({"server": "https://127.0.0.1", "proxy-url": "socks4://proxy"});
        assert!(check_proxy(&cluster, None, "*").is_some(), "kubectl always uses it");
    }

    /// The CRD, as the API server returns it.
    fn installed(versions: &[&str], stored: &[&str]) -> Value {
        let mut crd = crd(versions);
        for version in crd["spec"]["versions"].as_array_mut().unwrap() {
            version["schema"]["openAPIV3Schema"]["properties"]["size"] = json!({"type": "integer", "minimum": 1});
            version["additionalPrinterColumns"] = json!([{"name": "Age"}]);
        }
        crd["spec"]["names"]["listKind"] = json!("AList");
        crd["spec"]["conversion"] = json!({"strategy": "None"});
        crd["status"] = json!({"storedVersions": stored, "conditions": [{"type": "Established", "status": "True"}]});
        crd
    }

    fn lines(found: &[Finding]) -> Vec<String> {
        let help = |finding: &Finding| finding.help.first().cloned().unwrap_or_default();
        found.iter().map(|it| format!("{} {} -> {}", it.severity.word(), it.what, help(it))).collect()
    }

    #[test]
    fn what_the_api_server_fills_in_is_no_difference() {
        let found = check_crd(&crd(&["v1"]), Some(&installed(&["v1"], &["v1"])), &[]);
        assert_eq!(lines(&found), ["ok the CRD `as.example.com` is installed, and the generated one -> "]);
    }

    #[test]
    fn a_crd_that_is_missing_or_behind_is_installed() {
        let found = check_crd(&crd(&["v1"]), None, &[]);
        assert_eq!(lines(&found), ["warning the CRD `as.example.com` is not installed -> opctl install"]);
        let mut behind = installed(&["v1", "v1beta1"], &["v1"]);
        behind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["size"]["minimum"] = json!(2);
        let found = check_crd(&crd(&["v1", "v2"]), Some(&behind), &[]);
        assert_eq!(
            lines(&found),
            [
                "warning the CRD `as.example.com` of the cluster is not the generated one: schema of v1, v2 is missing, v1beta1 is gone -> opctl install"
            ]
        );
    }

    #[test]
    fn versions_that_are_stored_and_gone_are_an_error() {
        let found = check_crd(&crd(&["v1"]), Some(&installed(&["v1"], &["v1alpha1", "v1"])), &[]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].severity, Severity::Error);
        assert_eq!(found[0].help, ["opctl migrate --yes"]);
    }

    #[test]
    fn a_crd_that_is_not_served_is_an_error() {
        let mut waiting = installed(&["v1"], &["v1"]);
        waiting["status"]["conditions"] = json!([]);
        assert_eq!(check_crd(&crd(&["v1"]), Some(&waiting), &[])[0].severity, Severity::Error);
    }

    #[test]
    fn a_cluster_may_be_five_releases_older_than_the_types() {
        let types = Minor::all().pop().unwrap();
        let latest = u64::from(types.number());
        for end in [".3", ".3+k3s1", ".0-rc.1", ""] {
            let severity = |behind: u64| check_version(&format!("v1.{}{end}", latest - behind), Some(types)).severity;
            assert_eq!(
                [severity(0), severity(5), severity(6)],
                [Severity::Ok, Severity::Ok, Severity::Warning],
                "{end}"
            );
        }
        assert_eq!(check_version("v1.20.0", None).severity, Severity::Ok);
    }

    #[test]
    fn a_deployment_is_available_or_not() {
        let severity = |status: &str| {
            let deployed =
                json!({"status": {"conditions": [{"type": "Available", "status": status, "message": "Few."}]}});
            check_deployment("a", "b", Some(&deployed)).severity
        };
        assert_eq!([severity("True"), severity("False")], [Severity::Ok, Severity::Error]);
        assert_eq!(check_deployment("a", "b", None).severity, Severity::Skipped);
        assert_eq!(check_deployment("a", "b", Some(&json!({"status": {}}))).severity, Severity::Error);
    }
}
