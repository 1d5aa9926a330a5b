//! The variables of a run, with the names of operator-sdk's Ansible operators.

use kube::Resource;
use serde_json::{Map, Value, json};

use super::controller::Settings;
use crate::{Error, Result};

/// The variables for an object. `vars`, those of the controller, take precedence. `object` is the response of the API
/// server.
pub(super) fn variables<K: Resource<DynamicType = ()>>(
    object: &Value,
    vars: &[&Map<String, Value>],
    settings: &Settings,
) -> Result<Map<String, Value>> {
    let spec = match &object["spec"] {
        Value::Null => Map::new(),
        Value::Object(spec) => spec.clone(),
        _ => return Err(invalid("`spec` is not an object".to_owned())),
    };
    let mut all = match settings.is_snake_case {
        true => snake_keys(spec.clone(), "spec")?,
        false => spec.clone(),
    };
    if settings.marks_unsafe
        && let Some(name) = all.keys().find(|name| name.starts_with("ansible_"))
    {
        return Err(invalid(format!(
            "`spec` has a key for `{name}`: variables that begin with `ansible_` are Ansible's own"
        )));
    }
    let whole = format!("_{}_{}", K::group(&()), K::kind(&()).to_lowercase()).replace(['.', '-'], "_");
    all.insert(format!("{whole}_spec"), spec.into());
    all.insert(whole, object.clone());
    if settings.marks_unsafe {
        all = all.into_iter().map(|(name, value)| (name, marked(value))).collect();
    }
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    all.insert("ansible_operator_meta".to_owned(), json!({ "name": text("name"), "namespace": text("namespace") }));
    for vars in vars {
        all.extend((*vars).clone());
    }
    Ok(all)
}

fn invalid(why: String) -> Error {
    Error::new("InvalidSpec", why).permanent()
}

/// Marks every string as unsafe, so that Ansible does not evaluate it.
fn marked(value: Value) -> Value {
    match value {
        Value::String(_) => json!({ "__ansible_unsafe": value }),
        Value::Array(items) => items.into_iter().map(marked).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, marked(value))).collect(),
        other => other,
    }
}

/// Converts keys to snake case at any depth. It is an error if two keys become the same.
fn snake_keys(fields: Map<String, Value>, at: &str) -> Result<Map<String, Value>> {
    let mut converted = Map::new();
    for (key, value) in fields {
        let name = snake(&key);
        let value = snake_values(value, &format!("{at}.{key}"))?;
        if converted.insert(name.clone(), value).is_some() {
            return Err(invalid(format!("two keys of `{at}` are the variable `{name}`, one of them is `{key}`")));
        }
    }
    Ok(converted)
}

fn snake_values(value: Value, at: &str) -> Result<Value> {
    match value {
        Value::Object(fields) => snake_keys(fields, at).map(Value::Object),
        Value::Array(items) => items.into_iter().map(|item| snake_values(item, at)).collect(),
        other => Ok(other),
    }
}

/// Always separate words.
const WORDS: [&str; 3] = ["HTTP", "URL", "IP"];

/// Converts `fooBar` to `foo_bar` by the exact rules of operator-sdk, including their oddities, since roles rely on the
/// names.
fn snake(key: &str) -> String {
    let text = numbers_apart(key);
    let text = text.trim_matches(' ');
    let letters: Vec<char> = apart(text).chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let changes = letters.get(at + 1).is_some_and(|next| {
            letter.is_ascii_uppercase() && next.is_ascii_lowercase()
                || letter.is_ascii_lowercase() && next.is_ascii_uppercase()
        });
        if !word.is_empty() && !word.ends_with('_') && changes {
            if letter.is_ascii_uppercase() {
                words.push(std::mem::replace(&mut word, letter.to_string()));
            } else {
                word.push(letter);
                words.push(std::mem::take(&mut word));
            }
        } else if [' ', '_', '-'].contains(&letter) {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(letter);
        }
    }
    words.push(word);
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let is_word = WORDS.iter().any(|word| word.to_lowercase() == words[0]);
    let is_capitalized = text.starts_with(|first: char| first.is_ascii_uppercase());
    let prefix = if is_capitalized && !is_word { "_" } else { "" };
    format!("{prefix}{}", words.join("_"))
}

/// Converts `a1b2` to `a 1 b2`.
fn numbers_apart(key: &str) -> String {
    let letters: Vec<char> = key.chars().collect();
    let mut text = String::new();
    let mut at = 0;
    while at < letters.len() {
        let digits = |from: usize| letters[from..].iter().take_while(|letter| letter.is_ascii_digit()).count();
        let is_letter = |at: usize| letters.get(at).is_some_and(char::is_ascii_alphabetic);
        if is_letter(at) {
            let first = digits(at + 1);
            let next = at + 1 + first;
            if first > 0 && is_letter(next) {
                let second = digits(next + 1);
                if second > 0 {
                    let part = |from: usize, to: usize| letters[from..to].iter().collect::<String>();
                    let end = next + 1 + second;
                    text += &format!("{} {} {}", letters[at], part(at + 1, next), part(next, end));
                    at = end;
                    continue;
                }
            }
        }
        text.push(letters[at]);
        at += 1;
    }
    text
}

/// Puts underscores around the first `HTTP`, `URL` and `IP`, or their plurals.
fn apart(text: &str) -> String {
    let mut text = text.to_owned();
    for word in WORDS {
        let Some(at) = text.find(word) else { continue };
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let first = if before.is_empty() { "" } else { "_" };
        text = match after.strip_prefix('s') {
            _ if after.is_empty() => format!("{before}_{word}"),
            Some("") => format!("{before}_{word}S"),
            Some(after) => format!("{before}{first}{word}S_{after}"),
            None => format!("{before}{first}{word}_{after}"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;

    use super::*;

    #[test]
    fn keys_are_written_as_operator_sdk_writes_them() {
        // The results of operator-sdk's function.
        for (key, name) in [
            ("size", "size"),
            ("fooBar", "foo_bar"),
            ("FooBar", "_foo_bar"),
            ("foo-bar baz", "foo_bar_baz"),
            ("JSONData", "_json_data"),
            ("sizeK8sBuckets", "size_k8s_buckets"),
            ("k8s_var", "k8s_var"),
            ("a1b22", "a_1_b22"),
            ("egressIPs", "egress_ips"),
            ("egressIPegress", "egress_ip_egress"),
            ("IPsegress", "_ips_egress"),
            ("URLegressIPEgressHTTP", "url_egress_ip_egress_http"),
            ("URLsegressIPsEgressHTTPs", "_urls_egress_ips_egress_https"),
            ("IP", "__ip"),
            ("_CanYou_Handle_mixedVars", "_can_you_handle_mixed_vars"),
            ("888", "888"),
            ("\u{e9}IPb-X", "\u{e9}_ip_b_x"),
        ] {
            assert_eq!(snake(key), name, "{key}");
        }
    }

    /// Compares with the file in `OPCTL_SNAKE_CASES`, which has a key and a name on each line, such as output of
    /// operator-sdk's function.
    #[test]
    fn keys_of_a_file_are_written_as_it_says() {
        let Ok(path) = std::env::var("OPCTL_SNAKE_CASES") else { return };
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let (key, name) = line.split_once('\t').unwrap();
            assert_eq!(snake(key), name, "{key}");
        }
    }

    fn object(spec: Value) -> Value {
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web", "namespace": "shop" }, "spec": spec })
    }

    #[test]
    fn the_variables_are_those_of_the_contract() {
        let object = object(json!({ "fooBar": { "innerKey": ["a", { "deepKey": 1 }] }, "size": 3 }));
        let vars = json!({ "size": 4, "state": "present" });
        let last = json!({ "state": "absent" });
        let settings = Settings { marks_unsafe: false, ..Settings::default() };
        let maps = [vars.as_object().unwrap(), last.as_object().unwrap()];
        let all = variables::<Deployment>(&object, &maps, &settings).unwrap();
        let expected = json!({
            "foo_bar": { "inner_key": ["a", { "deep_key": 1 }] },
            "size": 4,
            "state": "absent",
            "ansible_operator_meta": { "name": "web", "namespace": "shop" },
            "_apps_deployment": object,
            "_apps_deployment_spec": object["spec"],
        });
        assert_eq!(Value::from(all), expected);
        let settings = Settings { is_snake_case: false, ..Settings::default() };
        let all = variables::<Deployment>(&object, &[], &settings).unwrap();
        assert_eq!(all["fooBar"]["innerKey"][0], json!({ "__ansible_unsafe": "a" }));
        assert_eq!(all["_apps_deployment"]["metadata"]["name"], json!({ "__ansible_unsafe": "web" }));
        assert_eq!(all["ansible_operator_meta"]["name"], "web");
    }

    #[test]
    fn a_spec_cannot_change_what_it_must_not() {
        for (spec, what) in [
            (json!({ "fooBar": 1, "foo_bar": 2 }), "`foo_bar`"),
            (json!({ "a": [{ "fooBar": 1, "foo_bar": 2 }] }), "`spec.a`"),
            (json!({ "ansibleConnection": "ssh" }), "`ansible_connection`"),
            (json!([]), "`spec` is not an object"),
        ] {
            let error = variables::<Deployment>(&object(spec), &[], &Settings::default()).unwrap_err();
            assert!(error.is_permanent() && error.to_string().contains(what), "{error}");
        }
        let settings = Settings { marks_unsafe: false, ..Settings::default() };
        assert!(variables::<Deployment>(&object(json!({ "ansibleConnection": "ssh" })), &[], &settings).is_ok());
    }
}
