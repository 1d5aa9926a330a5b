//! The upgrade graph of a channel: its head, its edges, and renderings as text, SVG and Mermaid.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Catalog, Entry, entries};
use crate::bundle::semver::{Range, Version};

/// The entry that no other replaces or skips. Source: `Channel.Head` of `alpha/model`.
pub fn head(entries: &[Entry]) -> Result<&Entry, String> {
    let incoming: BTreeSet<&str> = entries
        .iter()
        .flat_map(|entry| entry.skips.iter().map(String::as_str).chain([entry.replaces.as_str()]))
        .filter(|name| !name.is_empty())
        .collect();
    let heads: BTreeMap<&str, &Entry> = entries
        .iter()
        .filter(|entry| !incoming.contains(entry.name.as_str()))
        .map(|entry| (entry.name.as_str(), entry))
        .collect();
    let names: Vec<&str> = heads.keys().copied().collect();
    match heads.values().next() {
        None => Err("no entry is the head: each is replaced or skipped by another".into()),
        Some(head) if heads.len() == 1 => Ok(head),
        Some(_) => {
            Err(format!("several entries are heads: {}; all but one must be replaced or skipped", names.join(", ")))
        }
    }
}

/// Checks that `replaces` leads from the head to all entries that are not skipped. Source: `validateReplacesChain` of
/// `alpha/model`.
pub fn check_chain(entries: &[Entry]) -> Result<(), String> {
    let head = head(entries)?;
    let by_name: BTreeMap<&str, &Entry> = entries.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let skipped: BTreeSet<&str> = entries.iter().flat_map(|entry| entry.skips.iter().map(String::as_str)).collect();
    let mut chain = vec![head.name.as_str()];
    let mut current = Some(head);
    while let Some(entry) = current {
        let replaces = entry.replaces.as_str();
        if skipped.contains(replaces) {
            break;
        }
        if let Some(start) = chain.iter().position(|name| *name == replaces) {
            let cycle: Vec<&str> = chain[start..].iter().copied().chain([replaces]).collect();
            return Err(format!("the entries replace each other in a circle: {}", cycle.join(" → ")));
        }
        chain.push(replaces);
        current = by_name.get(replaces).copied();
    }
    let stranded: Vec<&str> =
        by_name.keys().copied().filter(|name| !chain.contains(name) && !skipped.contains(name)).collect();
    if stranded.is_empty() {
        Ok(())
    } else {
        Err(format!("no upgrade leads from these entries to the head: {}", stranded.join(", ")))
    }
}

/// The field that allows an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Replaces,
    Skips,
    SkipRange,
}

/// An upgrade from one entry to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub to: String,
    pub from: String,
    pub kind: Kind,
}

/// All upgrades of a channel. `versions` are those of the bundles; a `skipRange` covers the entries whose version it
/// contains.
pub fn edges(entries: &[Entry], versions: &BTreeMap<String, Version>) -> Vec<Edge> {
    let mut edges = Vec::new();
    for entry in entries {
        let mut add = |from: &str, kind| {
            if !from.is_empty()
                && from != entry.name
                && !edges.iter().any(|it: &Edge| it.to == entry.name && it.from == from)
            {
                edges.push(Edge { to: entry.name.clone(), from: from.to_owned(), kind });
            }
        };
        add(&entry.replaces, Kind::Replaces);
        entry.skips.iter().for_each(|skip| add(skip, Kind::Skips));
        if let Ok(range) = Range::parse(&entry.skip_range) {
            let covered = entries.iter().filter(|other| versions.get(&other.name).is_some_and(|it| range.contains(it)));
            covered.for_each(|other| add(&other.name, Kind::SkipRange));
        }
    }
    edges
}

/// The versions of the bundles of a package, by name.
pub fn versions(catalog: &Catalog, package: &str) -> BTreeMap<String, Version> {
    let bundles = catalog.of_schema("olm.bundle").filter(|bundle| bundle.package() == package);
    bundles.filter_map(|bundle| Some((bundle.name().to_owned(), super::validate::version(bundle)?))).collect()
}

/// A channel, from the head downwards.
#[derive(Clone, Debug)]
struct Column {
    title: String,
    /// The names of the entries.
    rows: Vec<String>,
    edges: Vec<Edge>,
    head: Option<String>,
    /// The `skipRange` of each entry that has one.
    ranges: BTreeMap<String, String>,
}

fn columns(catalog: &Catalog, package: &str) -> Vec<Column> {
    let default = catalog.of_schema("olm.package").find(|it| it.name() == package).map(|it| it.text("defaultChannel"));
    let versions = versions(catalog, package);
    let column = |channel: &super::Document| {
        let entries = entries(channel);
        let mut rows: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let version = |name: &String| versions.get(name).cloned().unwrap_or(Version::new(0, 0, 0));
        rows.sort_by(|one, other| version(other).cmp_precedence(&version(one)).then_with(|| other.cmp(one)));
        let is_default = default == Some(channel.name());
        Column {
            title: format!("{}{}", channel.name(), if is_default { " (default)" } else { "" }),
            rows,
            edges: edges(&entries, &versions),
            head: head(&entries).ok().map(|head| head.name.clone()),
            ranges: entries
                .iter()
                .filter(|it| !it.skip_range.is_empty())
                .map(|it| (it.name.clone(), it.skip_range.clone()))
                .collect(),
        }
    };
    catalog.channels(package).map(column).collect()
}

/// A block for each channel of a package. Each entry is followed by the entries that can be upgraded to it.
pub fn text(catalog: &Catalog, package: &str) -> String {
    let mut text = format!("{package}\n");
    for Column { title, rows, edges, head, ranges } in columns(catalog, package) {
        _ = writeln!(text, "\n  {title}");
        for name in &rows {
            let mark = if head.as_ref() == Some(name) { "  (head)" } else { "" };
            _ = writeln!(text, "    {name}{mark}");
            if let Some(range) = ranges.get(name) {
                _ = writeln!(text, "      skipRange {range}");
            }
            for (kind, word) in
                [(Kind::Replaces, "replaces"), (Kind::Skips, "skips"), (Kind::SkipRange, "also upgrades")]
            {
                let from: Vec<&str> =
                    edges.iter().filter(|it| it.to == *name && it.kind == kind).map(|it| it.from.as_str()).collect();
                if !from.is_empty() {
                    _ = writeln!(text, "      {word} {}", from.join(", "));
                }
            }
        }
    }
    text
}

/// A graph in the syntax of Mermaid, which GitHub shows in Markdown, for several packages.
pub fn mermaid(catalog: &Catalog, packages: &[&str]) -> String {
    let mut text = "graph LR\n".to_owned();
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "#quot;"));
    for package in packages {
        _ = writeln!(text, "  subgraph {}", quoted(package));
        for (number, Column { title, rows, edges, ranges, .. }) in columns(catalog, package).into_iter().enumerate() {
            // Identifiers of nodes are global, and an entry can be in several channels.
            let node = |name: &str| format!("{package}-{number}-{name}[{}]", quoted(name));
            _ = writeln!(text, "    subgraph {package}-{number}[{}]", quoted(&title));
            for name in &rows {
                _ = writeln!(text, "      {}", node(name));
            }
            for edge in &edges {
                let label = match edge.kind {
                    Kind::Replaces => "replaces".to_owned(),
                    Kind::Skips => "skips".to_owned(),
                    Kind::SkipRange => quoted(&format!("skipRange {}", ranges[&edge.to])),
                };
                _ = writeln!(text, "      {} -- {label} --> {}", node(&edge.from), node(&edge.to));
            }
            text.push_str("    end\n");
        }
        text.push_str("  end\n");
    }
    text
}

const ROW: usize = 44;
const WIDTH: usize = 360;
const TOP: usize = 70;

/// SVG with a column for each channel, the head on top. Lines are solid for `replaces`, dashed for `skips`, dotted for
/// `skipRange`.
pub fn svg(catalog: &Catalog, package: &str) -> String {
    let columns = columns(catalog, package);
    let height = TOP + columns.iter().map(|column| column.rows.len()).max().unwrap_or_default() * ROW + 20;
    let width = columns.len().max(1) * WIDTH;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>Upgrades of {}</title>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        escaped(package)
    );
    for (index, Column { title, rows, edges, head, .. }) in columns.iter().enumerate() {
        let left = index * WIDTH + 70;
        _ = writeln!(text, "<text x=\"{left}\" y=\"36\" font-weight=\"bold\">{}</text>", escaped(title));
        let row = |name: &str| rows.iter().position(|row| row == name);
        for (nth, edge) in edges.iter().enumerate() {
            let (Some(from), Some(to)) = (row(&edge.from), row(&edge.to)) else { continue };
            let style = match edge.kind {
                Kind::Replaces => "",
                Kind::Skips => " stroke-dasharray=\"6 3\"",
                Kind::SkipRange => " stroke-dasharray=\"1 4\"",
            };
            let middle = |row: usize| TOP + row * ROW + 12;
            let (start, end) = (middle(from), middle(to));
            let bend = left - 12 - (from.abs_diff(to) * 9 + nth % 3 * 3).min(50);
            let label = format!("{} to {}", edge.from, edge.to);
            _ = writeln!(
                text,
                "<path d=\"M{left} {start}C{bend} {start} {bend} {end} {left} {end}\" fill=\"none\" stroke=\"#555\"{style} marker-end=\"url(#arrow)\"><title>{}</title></path>",
                escaped(&label)
            );
        }
        for (row, name) in rows.iter().enumerate() {
            let y = TOP + row * ROW;
            let fill = if head.as_ref() == Some(name) { "#d8ecd8" } else { "#eef2f7" };
            _ = writeln!(
                text,
                "<rect x=\"{left}\" y=\"{}\" width=\"270\" height=\"28\" rx=\"5\" fill=\"{fill}\" stroke=\"#888\"/><text x=\"{}\" y=\"{}\">{}</text>",
                y - 2,
                left + 10,
                y + 16,
                escaped(name)
            );
        }
    }
    text.push_str("</svg>\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
