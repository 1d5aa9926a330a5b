//! Replaces names and namespaces that depend on the release.

use serde_json::{Value, json};

use super::Operator;
use super::merge::Tree;

/// Placeholders. They consist of letters, so YAML does not quote them.
const FULL_NAME: &str = "OpctlFullName";
const NAMESPACE: &str = "OpctlNamespace";
const SERVICE_ACCOUNT: &str = "OpctlServiceAccount";

/// The `namePrefix` and `namespace` of kustomize, which the release replaces.
pub struct Names {
    chart: String,
    prefix: String,
    namespace: String,
    /// The maximum length of a name after the prefix, in characters.
    longest: usize,
}

impl Names {
    pub fn of(operator: &Operator) -> Self {
        let names = operator.renderings.values().flatten().filter(|object| {
            // Names of other kinds may have 253 characters.
            ["Service", "Deployment", "StatefulSet", "DaemonSet", "Job"].iter().any(|kind| object["kind"] == *kind)
        });
        let names = names.filter_map(|object| {
            object["metadata"]["name"].as_str()?.strip_prefix(operator.prefix.trim_end_matches('-'))
        });
        Self {
            chart: operator.name.clone(),
            prefix: operator.prefix.clone(),
            namespace: operator.namespace.clone(),
            longest: names.map(str::len).max().unwrap_or_default(),
        }
    }

    /// The name without the prefix.
    pub fn short<'a>(&self, name: &'a str) -> &'a str {
        name.strip_prefix(&self.prefix).unwrap_or(name)
    }

    pub fn actions(&self) -> Vec<(&'static str, String)> {
        vec![
            (FULL_NAME, format!("include \"{}.fullname\" .", self.chart)),
            (NAMESPACE, ".Release.Namespace".into()),
            (SERVICE_ACCOUNT, format!("include \"{}.serviceAccountName\" .", self.chart)),
        ]
    }

    /// The object with placeholders for names and namespaces. Schemas and images are not changed.
    pub fn replace(&self, object: &Value) -> Value {
        if object["kind"] != "CustomResourceDefinition" {
            return self.replaced("", object);
        }
        let mut crd = object.clone();
        for pointer in ["/metadata/annotations", "/spec/conversion"] {
            if let Some(value) = crd.pointer_mut(pointer) {
                *value = self.replaced("", value);
            }
        }
        crd
    }

    fn replaced(&self, key: &str, value: &Value) -> Value {
        match value {
            Value::String(text) if key != "image" => self.in_text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.replaced(key, item)).collect(),
            Value::Object(entries) => {
                let is_kept = |key: &str| key == "resourceNames" && self.names_lease(value);
                let entry = |(key, value): (&String, &Value)| {
                    (key.clone(), if is_kept(key) { value.clone() } else { self.replaced(key, value) })
                };
                entries.iter().map(entry).collect()
            }
            other => other.clone(),
        }
    }

    /// `true` if the rule is for the Lease of the operator, whose name is that of the package in every release.
    fn names_lease(&self, rule: &Value) -> bool {
        rule["resources"] == json!(["leases"]) && rule["resourceNames"] == json!([self.chart])
    }

    /// A name as template text.
    pub fn in_template(&self, name: &str) -> String {
        let text = self.in_text(name);
        self.actions()
            .iter()
            .fold(text, |text, (placeholder, action)| text.replace(placeholder, &format!("{{{{ {action} }}}}")))
    }

    /// Replaces names in a text. They start at word boundaries: `system/PREFIX-serving-cert`,
    /// `PREFIX-webhook-service.NAMESPACE.svc`.
    fn in_text(&self, text: &str) -> String {
        let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '-';
        let mut result = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(is_of_name) {
            let (before, word) = rest.split_at(start);
            let end = word.find(|character| !is_of_name(character)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            result.push_str(before);
            match word.strip_prefix(&self.prefix).filter(|_| !self.prefix.is_empty()) {
                _ if !self.namespace.is_empty() && word == self.namespace => result.push_str(NAMESPACE),
                Some(name) if !name.is_empty() => {
                    let separator = if self.prefix.ends_with('-') { "-" } else { "" };
                    result.extend([FULL_NAME, separator, name]);
                }
                _ => result.push_str(word),
            }
            rest = after;
        }
        result + rest
    }

    /// Replaces references to the operator's service account by the name in the values.
    pub fn service_account(&self, tree: &mut Tree, account: &str) {
        let name = self.in_text(account);
        visit(tree, &mut |tree| {
            let is_subject =
                matches!(tree.get(&["kind"]), Some(Tree::Same(Value::String(kind))) if kind == "ServiceAccount");
            let at: &[&[&str]] =
                if is_subject { &[&["name"], &["metadata", "name"]] } else { &[&["serviceAccountName"]] };
            for path in at {
                if let Some(value) = tree.get(path)
                    && matches!(value, Tree::Same(Value::String(text)) if *text == name)
                {
                    *value = Tree::Same(SERVICE_ACCOUNT.into());
                }
            }
        });
    }

    /// `_helpers.tpl`.
    pub fn helpers(&self, account: &str) -> String {
        let chart = &self.chart;
        // If names rendered by kustomize are longer than that, the prefix is not shortened further.
        let most = 63usize.saturating_sub(self.longest).max(self.prefix.trim_end_matches('-').len()).max(16);
        let account = match self.in_text(account).split_once(FULL_NAME) {
            Some((before, after)) => format!("printf \"{before}%s{after}\" (include \"{chart}.fullname\" .)"),
            None => format!("{account:?}"),
        };
        let kept = most - 9;
        format!(
            r#"
{{{{/* What the names of all objects start with. A name that is too long for the longest of them is cut, and ends in a digest, so that it
stays another one than that of another release. */}}}}
{{{{- define "{chart}.fullname" -}}}}
{{{{- $name := default .Chart.Name .Values.nameOverride -}}}}
{{{{- $full := printf "%s-%s" .Release.Name $name -}}}}
{{{{- if .Values.fullnameOverride -}}}}
{{{{- $full = .Values.fullnameOverride -}}}}
{{{{- else if contains $name .Release.Name -}}}}
{{{{- $full = .Release.Name -}}}}
{{{{- end -}}}}
{{{{- if gt (len $full) {most} -}}}}
{{{{- $full = printf "%s-%s" ($full | trunc {kept} | trimSuffix "-") ($full | sha256sum | trunc 8) -}}}}
{{{{- end -}}}}
{{{{- $full | trimSuffix "-" -}}}}
{{{{- end }}}}

{{{{- define "{chart}.serviceAccountName" -}}}}
{{{{- .Values.serviceAccount.name | default ({account}) -}}}}
{{{{- end }}}}

{{{{/* Labels of all objects, beside their own. */}}}}
{{{{- define "{chart}.labels" -}}}}
app.kubernetes.io/instance: {{{{ .Release.Name | quote }}}}
app.kubernetes.io/managed-by: {{{{ .Release.Service }}}}
{{{{- with .Chart.AppVersion }}}}
app.kubernetes.io/version: {{{{ . | replace "+" "_" | trunc 63 | quote }}}}
{{{{- end }}}}
helm.sh/chart: {{{{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}}}
{{{{- end }}}}

{{{{/* A digest rather than a tag, if there is one. */}}}}
{{{{- define "{chart}.image" -}}}}
{{{{- $image := .Values.manager.image -}}}}
{{{{- if $image.digest -}}}}
{{{{- printf "%s@%s" $image.repository $image.digest -}}}}
{{{{- else -}}}}
{{{{- printf "%s:%s" $image.repository (toString ($image.tag | default .Chart.AppVersion)) -}}}}
{{{{- end -}}}}
{{{{- end }}}}
"#
        )
    }
}

/// Calls a function for each mapping that refers to a service account, and for those that contain one.
fn visit(tree: &mut Tree, function: &mut impl FnMut(&mut Tree)) {
    if let Tree::Same(value) = tree {
        // Trees without a service account are not opened.
        if !mentions(value) {
            return;
        }
        tree.open();
    }
    if let Tree::Map(_) = tree {
        function(tree);
    }
    match tree {
        Tree::Map(entries) => entries.iter_mut().for_each(|entry| visit(&mut entry.it.1, function)),
        Tree::List(items) => items.iter_mut().for_each(|item| visit(&mut item.it, function)),
        Tree::Choice(choices) => choices.iter_mut().for_each(|choice| visit(&mut choice.it, function)),
        Tree::Same(_) | Tree::Lines(_) => {}
    }
}

fn mentions(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(mentions),
        Value::Object(entries) => {
            let is_account = entries.get("kind").is_some_and(|kind| kind == "ServiceAccount");
            is_account || entries.contains_key("serviceAccountName") || entries.values().any(mentions)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lease_has_the_same_name_in_every_release() {
        let text = |text: &str| text.to_owned();
        let names =
            Names { chart: text("shop-operator"), prefix: text("shop-"), namespace: text("shop-operator"), longest: 0 };
        let rule = |resource: &str, name: &str| json!({ "resources": [resource], "resourceNames": [name] });
        let role = |name: &str, rules: Value| json!({ "kind": "Role", "metadata": { "name": name }, "rules": rules });
        let rules =
            json!([rule("leases", "shop-operator"), rule("leases", "shop-lock"), rule("secrets", "shop-operator")]);
        let replaced =
            json!([rule("leases", "shop-operator"), rule("leases", "OpctlFullName-lock"), rule("secrets", NAMESPACE)]);
        assert_eq!(names.replace(&role("shop-role", rules)), role("OpctlFullName-role", replaced));
    }
}
