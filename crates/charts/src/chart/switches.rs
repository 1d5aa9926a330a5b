//! The boolean values of a chart, and the templates whose output they change.
//!
//! Switches that affect different templates are independent, so one rendering inverts many of them. For a template with
//! kinds, only the conditions around the kinds matter, and the values that these are computed from; for a template with
//! roles, or one that includes whole objects, everything that it reads.

use std::collections::{BTreeMap, BTreeSet};

use super::Chart;
use super::uses::{Part, Reader, Token, parts};
use super::values::values;

/// A value whose default is a boolean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The path below `.Values`.
    pub path: Vec<String>,
    pub default: bool,
    /// The templates that it affects, by their paths in the chart.
    pub templates: BTreeSet<String>,
}

/// The switches of a chart and of its subcharts.
pub fn switches(chart: &Chart) -> Vec<Switch> {
    let mut analysis = Analysis::default();
    analysis.add(chart, &[], "", Some(&BTreeSet::new()));
    let templates: Vec<(&String, BTreeSet<Vec<String>>)> =
        analysis.templates.iter().map(|template| (&template.path, analysis.values(template))).collect();
    let found = values(chart).switches().into_iter().map(|(path, default)| {
        // A template that reads a whole object reads its switches. One that reads all values depends on few of them, so
        // that does not count.
        let reads = |read: &Vec<String>| !read.is_empty() && path.starts_with(read);
        let templates = templates.iter().filter(|(_, paths)| paths.iter().any(reads));
        let templates = templates.map(|(template, _)| (*template).clone()).collect();
        Switch { path, default, templates }
    });
    found.collect()
}

/// The switches that affect a template, in groups of independent ones.
pub fn groups(switches: &[Switch]) -> Vec<Vec<Switch>> {
    let mut groups: Vec<(BTreeSet<&String>, Vec<Switch>)> = Vec::new();
    for switch in switches.iter().filter(|switch| !switch.templates.is_empty()) {
        let is_free = |(taken, _): &(BTreeSet<&String>, _)| switch.templates.iter().all(|it| !taken.contains(it));
        let at = groups.iter().position(is_free).unwrap_or_else(|| {
            groups.push(Default::default());
            groups.len() - 1
        });
        groups[at].0.extend(&switch.templates);
        groups[at].1.push(switch.clone());
    }
    groups.into_iter().map(|(_, switches)| switches).collect()
}

/// A dependency of a condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Value(Vec<String>),
    /// A `define`, by name.
    Include(String),
}

#[derive(Default)]
struct Analysis {
    defines: BTreeMap<String, BTreeSet<Read>>,
    templates: Vec<Template>,
}

struct Template {
    /// The path in the chart.
    path: String,
    /// The path of its chart's values.
    key: Vec<String>,
    /// The values that enable its chart.
    conditions: BTreeSet<Vec<String>>,
    reads: BTreeSet<Read>,
}

/// A path of values, seen from the chart at the root. Charts share `global`.
fn below(key: &[String], path: &[String]) -> Vec<String> {
    match path.first() {
        Some(first) if first == "global" => path.to_vec(),
        _ => [key, path].concat(),
    }
}

impl Analysis {
    /// `key` is the path of the chart's values, and `conditions` are the values that enable the chart; `None` for a
    /// library, which has only `define`s.
    fn add(&mut self, chart: &Chart, key: &[String], folder: &str, conditions: Option<&BTreeSet<Vec<String>>>) {
        for (path, text) in chart.templates() {
            let mut flow = flow(text);
            self.defines.append(&mut flow.defines);
            let Some(conditions) = conditions else { continue };
            self.templates.push(Template {
                path: format!("{folder}{path}"),
                key: key.to_vec(),
                conditions: conditions.clone(),
                reads: flow.decisive(),
            });
        }
        for (name, subchart) in &chart.subcharts {
            let own = chart.dependencies.iter().filter(|dependency| dependency.key() == name);
            let own = own.flat_map(super::Dependency::conditions).map(|path| below(key, &path));
            let conditions = conditions.filter(|_| !subchart.is_library);
            let conditions = conditions.map(|conditions| conditions.iter().cloned().chain(own).collect());
            let key = [key, std::slice::from_ref(name)].concat();
            self.add(subchart, &key, &format!("{folder}charts/{name}/"), conditions.as_ref());
        }
    }

    /// The values that affect a template.
    fn values(&self, Template { key, conditions, reads, .. }: &Template) -> BTreeSet<Vec<String>> {
        let mut values = conditions.clone();
        for read in reads {
            self.resolve(read, &mut BTreeSet::new(), &mut |path| _ = values.insert(below(key, path)));
        }
        values
    }

    fn resolve<'a>(&'a self, read: &'a Read, seen: &mut BTreeSet<&'a str>, found: &mut dyn FnMut(&[String])) {
        match read {
            Read::Value(path) => found(path),
            Read::Include(name) if seen.insert(name) => {
                self.defines.get(name).into_iter().flatten().for_each(|read| self.resolve(read, seen, found));
            }
            Read::Include(_) => {}
        }
    }
}

/// The dependencies of a template's text.
#[derive(Default)]
struct Flow {
    /// The conditions around its kinds, and the values that these are computed from.
    heads: BTreeSet<Read>,
    all: BTreeSet<Read>,
    kinds: Vec<String>,
    defines: BTreeMap<String, BTreeSet<Read>>,
}

impl Flow {
    fn decisive(self) -> BTreeSet<Read> {
        let is_plain = |kind: &String| !kind.contains("Role") && !kind.ends_with("List");
        match !self.kinds.is_empty() && self.kinds.iter().all(is_plain) {
            true => self.heads,
            false => self.all,
        }
    }
}

struct Block {
    /// The name of a `define`.
    name: Option<String>,
    reads: BTreeSet<Read>,
}

fn flow(text: &str) -> Flow {
    let mut flow = Flow::default();
    let mut reader = Reader::default();
    let mut variables: BTreeMap<String, BTreeSet<Read>> = BTreeMap::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut line = String::new();
    let is_head = |line: &str| line.starts_with("kind:") || line.starts_with("apiVersion:");
    for part in parts(text) {
        let tokens = match part {
            Part::Action(tokens) => tokens,
            Part::Text(text) => {
                for (number, rest) in text.split('\n').enumerate() {
                    if number > 0 {
                        line.clear();
                    }
                    line.push_str(rest);
                    if is_head(&line) && !rest.is_empty() {
                        flow.heads.extend(blocks.iter().flat_map(|block| block.reads.iter().cloned()));
                        let kind = line.strip_prefix("kind:").map(|kind| kind.trim().trim_matches('"').to_owned());
                        flow.kinds.extend(kind);
                    }
                }
                continue;
            }
        };
        let first = reader.uses.len();
        reader.action(&tokens);
        let mut reads: BTreeSet<Read> = reader.uses[first..].iter().map(|it| Read::Value(it.path.clone())).collect();
        for (at, token) in tokens.iter().enumerate() {
            match (token, tokens.get(at + 1)) {
                (Token::Word(word), Some(Token::Text(name))) if word == "include" || word == "template" => {
                    reads.insert(Read::Include(name.clone()));
                }
                (Token::Word(word), _) => {
                    let name = word.split('.').next().unwrap_or_default();
                    reads.extend(variables.get(name).into_iter().flatten().cloned());
                }
                _ => {}
            }
        }
        if let [Token::Word(name), Token::Sign('='), ..] = &tokens[..] {
            variables.entry(name.clone()).or_default().extend(reads.clone());
        }
        let define = blocks.iter().rev().find_map(|block| block.name.clone());
        match define {
            Some(name) => flow.defines.entry(name).or_default().extend(reads.clone()),
            None => flow.all.extend(reads.clone()),
        }
        if is_head(&line) {
            flow.heads.extend(reads.clone());
        }
        match (tokens.first(), tokens.get(1)) {
            (Some(Token::Word(word)), Some(Token::Text(name))) if word == "define" || word == "block" => {
                blocks.push(Block { name: Some(name.clone()), reads: BTreeSet::new() });
            }
            (Some(Token::Word(word)), _) if ["if", "with", "range"].contains(&&**word) => {
                blocks.push(Block { name: None, reads });
            }
            (Some(Token::Word(word)), _) if word == "else" => {
                blocks.last_mut().into_iter().for_each(|block| block.reads.extend(reads.clone()));
            }
            (Some(Token::Word(word)), _) if word == "end" => _ = blocks.pop(),
            _ => {}
        }
    }
    flow
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(files: &[(&str, &str)]) -> Chart {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Chart::parse(&files.collect()).unwrap()
    }

    #[test]
    fn one_rendering_changes_all_switches_that_are_independent() {
        let chart = chart(&[
            ("Chart.yaml", "name: a\nversion: 1.0.0\ndependencies:\n- name: sub\n  condition: sub.enabled\n"),
            (
                "values.yaml",
                "ingress: { enabled: false, tls: false }\nrbac: { create: true, wide: false }\nhpa: false\nvpa: false\ndebug: false\n",
            ),
            ("templates/_helpers.tpl", "{{ define \"wide\" }}{{ if .Values.rbac.wide }}*{{ end }}{{ end }}"),
            (
                "templates/ingress.yaml",
                "{{ if .Values.ingress.enabled }}\nkind: Ingress\nspec: {{ if .Values.ingress.tls }}{{ end }}\n{{ end }}",
            ),
            (
                "templates/role.yaml",
                "{{ $create := and .Values.rbac.create true }}{{ if $create }}\nkind: Role\nrules: {{ include \"wide\" . }}\n{{ end }}",
            ),
            (
                "templates/scaling.yaml",
                "{{ if .Values.hpa }}\nkind: HorizontalPodAutoscaler\n---\n{{ else if .Values.vpa }}\nkind: {{ .x }}\n{{ end }}",
            ),
            ("charts/sub/Chart.yaml", "name: sub\nversion: 1.0.0\n"),
            ("charts/sub/values.yaml", "service: true\n"),
            ("charts/sub/templates/a.yaml", "{{ if .Values.service }}\nkind: Service\n{{ end }}"),
        ]);
        let groups = groups(&switches(&chart));
        let groups: Vec<String> = groups
            .iter()
            .map(|group| group.iter().map(|switch| switch.path.join(".")).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(groups, ["ingress.enabled rbac.create hpa sub.service", "rbac.wide vpa sub.enabled"]);
    }
}
