//! The tables of `opm alpha list`: the packages, channels or bundles of a catalog.

use super::{Catalog, Document, entries, graph};
use opctl_kustomize::yaml::Node;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    Packages,
    Channels,
    Bundles,
}

/// A header, and a row for each item, of one package or of all.
pub fn table(catalog: &Catalog, rows: Rows, package: Option<&str>) -> Vec<Vec<String>> {
    let is_selected = |document: &&Document| package.is_none_or(|package| document.package() == package);
    let channels = catalog.of_schema("olm.channel").filter(is_selected);
    let head = |channel: &Document| graph::head(&entries(channel)).map_or_else(|_| String::new(), |it| it.name.clone());
    let own = |text: &str| text.to_owned();
    let (header, mut lines): (&[&str], Vec<Vec<String>>) = match rows {
        Rows::Packages => {
            let line = |package: &Document| {
                let default = package.text("defaultChannel");
                let channel = catalog.channels(package.name()).find(|channel| channel.name() == default);
                let title = channel.map_or_else(String::new, |channel| title(catalog, package.name(), &head(channel)));
                vec![own(package.name()), title, own(default)]
            };
            let packages = catalog.of_schema("olm.package").filter(is_selected);
            (&["NAME", "DISPLAY NAME", "DEFAULT CHANNEL"], packages.map(line).collect())
        }
        Rows::Channels => {
            let line = |channel: &Document| vec![own(channel.package()), own(channel.name()), head(channel)];
            (&["PACKAGE", "CHANNEL", "HEAD"], channels.map(line).collect())
        }
        Rows::Bundles => {
            let lines = |channel: &Document| {
                let [package, name] = [channel.package(), channel.name()].map(own);
                let line = |entry: super::Entry| {
                    let image = bundle(catalog, &package, &entry.name).map_or("", |bundle| bundle.text("image"));
                    let [package, channel, image] = [package.as_str(), name.as_str(), image].map(own);
                    vec![package, channel, entry.name, entry.replaces, entry.skips.join(","), entry.skip_range, image]
                };
                entries(channel).into_iter().map(line).collect::<Vec<_>>()
            };
            let header = &["PACKAGE", "CHANNEL", "BUNDLE", "REPLACES", "SKIPS", "SKIP RANGE", "IMAGE"];
            (header, channels.flat_map(lines).collect())
        }
    };
    lines.sort();
    lines.insert(0, header.iter().map(|name| own(name)).collect());
    lines
}

fn bundle<'a>(catalog: &'a Catalog, package: &str, name: &str) -> Option<&'a Document> {
    catalog.of_schema("olm.bundle").find(|bundle| bundle.package() == package && bundle.name() == name)
}

/// The display name in the metadata of the ClusterServiceVersion.
fn title(catalog: &Catalog, package: &str, name: &str) -> String {
    let properties = bundle(catalog, package, name).map_or(&[][..], |bundle| bundle.node.items_at(&["properties"]));
    let metadata = properties.iter().filter(|property| property.text_at(&["type"]) == Some("olm.csv.metadata"));
    metadata
        .filter_map(|property: &Node| property.text_at(&["value", "displayName"]))
        .next()
        .unwrap_or_default()
        .to_owned()
}
