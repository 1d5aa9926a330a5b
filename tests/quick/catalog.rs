//! File-based catalogs: validation, upgrade graphs, templates and additions, compared with a naive second
//! implementation of `opm`'s rules.

use std::collections::{BTreeMap, BTreeSet};

use opctl_kustomize::yaml::{Dialect, documents};
use opctl_model::diagnostic::SourceFile;
use opctl_model::project::Tree;
use opctl_olm::bundle::semver::Version;
use opctl_olm::bundle::{Bundle, Findings, Folder, load};
use opctl_olm::catalog::add::{Addition, FileChange, add};
use opctl_olm::catalog::render::{self, Content};
use opctl_olm::catalog::template::{Rendered, Stream, channels, expand, to_basic, to_substitutes};
use opctl_olm::catalog::{Catalog, Document, Entry, graph, validate};
use proptest::prelude::*;
use serde_json::{Value, json};

fn catalog(text: &str) -> Catalog {
    let parsed: Vec<Document> = Catalog::parse(&SourceFile::new("catalog.yaml", text), "catalog.yaml").unwrap();
    Catalog { documents: parsed }
}

const GOOD: &str = r#"
schema: olm.package
name: a
defaultChannel: stable
---
schema: olm.channel
package: a
name: stable
entries:
- name: a.v1.0.0
- name: a.v1.1.0
  replaces: a.v1.0.0
  skipRange: ">=0.9.0 <1.1.0"
---
schema: olm.bundle
package: a
name: a.v1.0.0
image: example.com/a:v1.0.0
properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]
---
schema: olm.bundle
package: a
name: a.v1.1.0
image: example.com/a:v1.1.0
relatedImages: [{name: "", image: example.com/b}]
properties: [{type: olm.package, value: {packageName: a, version: 1.1.0}}]
---
schema: olm.deprecations
package: a
entries:
- reference: {schema: olm.bundle, name: a.v1.0.0}
  message: old
---
schema: example.com/other
"#;

/// A text in a valid catalog, its replacement, and the violated rules.
const CASES: &[(&str, &str, &[&str])] = &[
    ("name: a\ndefault", "name: A\ndefault", &["package-name", "package-unknown"]),
    ("schema: example.com/other", "schema: olm.package\nname: a\ndefaultChannel: stable", &["package-twice"]),
    ("defaultChannel: stable", "defaultChannel: other", &["default-channel"]),
    ("defaultChannel: stable", "x: y", &["default-channel"]),
    (
        "schema: example.com/other",
        "schema: olm.package\nname: b\ndefaultChannel: c",
        &["default-channel", "package-channels"],
    ),
    ("schema: example.com/other", "schema: olm.channel\nname: b\npackage: c", &["package-unknown"]),
    ("schema: example.com/other", "schema: olm.channel\npackage: a", &["channel-name", "channel-empty"]),
    (
        "schema: example.com/other",
        "schema: olm.channel\npackage: a\nname: stable\nentries: [{name: a.v1.0.0}]",
        &["channel-twice"],
    ),
    (
        "schema: example.com/other",
        "schema: olm.channel\npackage: a\nname: fast\nentries: [{name: a.v1.0.0}, {name: \"\"}]",
        &["entry-name"],
    ),
    (
        "schema: example.com/other",
        "schema: olm.channel\npackage: a\nname: fast\nentries: [{name: a.v1.0.0}, {name: a.v1.0.0}]",
        &["entry-twice"],
    ),
    (
        "schema: example.com/other",
        "schema: olm.channel\npackage: a\nname: fast\nentries: [{name: a.v9.0.0}]",
        &["entry-bundle"],
    ),
    ("  replaces: a.v1.0.0", "  replaces: a.v1.0.0\n  skips: [\"\"]", &["entry-skips"]),
    (">=0.9.0 <1.1.0", "^0.9.0", &["entry-skip-range"]),
    ("  replaces: a.v1.0.0\n", "", &["channel-graph"]),
    ("- name: a.v1.0.0\n", "- name: a.v1.0.0\n  replaces: a.v1.1.0\n", &["channel-graph"]),
    (
        "schema: example.com/other",
        "schema: olm.bundle\npackage: a\nimage: b\nproperties: [{type: olm.package, value: {packageName: a, version: 3.0.0}}]",
        &["bundle-name", "bundle-channel"],
    ),
    ("schema: example.com/other", "schema: olm.bundle\npackage: b\nname: c", &["package-unknown"]),
    (
        "schema: example.com/other",
        "schema: olm.bundle\npackage: a\nname: a.v1.0.0\nimage: b\nproperties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]",
        &["bundle-twice"],
    ),
    ("image: example.com/a:v1.0.0", "image: Not An Image", &["bundle-image"]),
    ("image: example.com/a:v1.0.0\n", "", &["bundle-image"]),
    ("image: example.com/b}", "image: A B}", &["related-image"]),
    ("image: example.com/a:v1.1.0", "image: example.com/a:v1.0.0", &["bundle-image"]),
    (
        "defaultChannel: stable",
        "defaultChannel: stable\nicon: {base64data: \"?\", mediatype: image/png}",
        &["package-icon"],
    ),
    ("defaultChannel: stable", "defaultChannel: stable\nicon: true", &["document-decode"]),
    ("defaultChannel: stable", "defaultChannel: stable\ndescription: 1", &["document-decode"]),
    ("image: example.com/b}", "image: {}}", &["document-decode"]),
    ("version: 1.0.0}}", "version: 1.0.0}}, {type: example.com/other}", &["property-value"]),
    (
        "version: 1.0.0}}",
        "version: 1.0.0}}, {type: olm.csv.metadata, value: {annotations: {a: true}, nativeAPIs: [{kind: 1}]}}",
        &["property-value"],
    ),
    (
        "version: 1.0.0}}",
        "version: 1.0.0}}, {type: olm.gvk, value: {group: a, kind: 1, version: v1}}",
        &["property-value"],
    ),
    ("version: 1.0.0}}", "version: 1.0.0}}, {type: olm.bundle.object, value: {data: \"?\"}}", &["property-value"]),
    ("version: 1.0.0}}", "version: 1.0.0}}, {type: olm.package.required, value: a}", &["property-value"]),
    ("{packageName: a, version: 1.0.0}", "{packageName: b, version: 1.0.0}", &["bundle-package"]),
    (
        "properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]",
        "properties: []",
        &["bundle-package"],
    ),
    ("version: 1.0.0", "version: \"1.0\"", &["bundle-version"]),
    ("version: 1.0.0", "version: 1.1.0", &["bundle-version-twice"]),
    ("version: 1.0.0", "version: 1.0.0, release: \"1\"", &["bundle-release"]),
    ("schema: olm.bundle, name: a.v1.0.0", "schema: olm.bundle, name: b", &["deprecation"]),
    ("message: old", "message: \"\"", &["deprecation"]),
    ("schema: example.com/other", "schema: olm.deprecations\npackage: a", &["deprecation"]),
];

#[test]
fn each_rule_of_catalogs_is_reported_and_a_good_one_is_not() {
    assert_eq!(validate::check(&catalog(GOOD)), []);
    for (old, new, rules) in CASES {
        assert!(GOOD.contains(old), "{old}");
        let problems = validate::check(&catalog(&GOOD.replacen(old, new, 1)));
        let rule = |message: &str| message.rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
        let found: BTreeSet<String> = problems.iter().map(|problem| rule(&problem.message)).collect();
        let expected: BTreeSet<String> = rules.iter().map(ToString::to_string).collect();
        assert!(expected.is_subset(&found), "{old:?} → {new:?}: {problems:#?}");
        assert!(
            found.len() == expected.len() || new.contains("name: A") || old.contains("image: example.com/a:v1.0.0\n"),
            "{old:?} → {new:?}: {found:?}"
        );
    }
}

#[test]
fn concatenated_json_is_a_catalog() {
    let documents: Vec<String> = catalog(GOOD).documents.iter().map(|it| format!("{:#}\n", it.node.json())).collect();
    let read = catalog(&documents.concat());
    assert_eq!(read.documents.len(), documents.len());
    assert_eq!(validate::check(&read), []);
    let broken = documents.concat().replace("\"defaultChannel\": \"stable\"", "\"defaultChannel\": \"other\"");
    let problems = validate::check(&catalog(&broken));
    assert_eq!(problems.len(), 1, "{problems:#?}");
    let (span, _) = problems[0].span.as_ref().unwrap();
    assert_eq!(&span.file.text[span.range.clone()], "\"other\"");
}

#[test]
fn bundles_with_one_image_are_no_error_but_are_not_added() {
    let problems = validate::check(&catalog(&GOOD.replace("a:v1.1.0\n", "a:v1.0.0\n")));
    assert!(problems.len() == 1 && !problems[0].is_error(), "{problems:#?}");
    let mut bundle = rendered("i:v1.2.0").unwrap().document;
    bundle["image"] = "example.com/a:v1.1.0".into();
    let addition = Addition { bundle, channels: vec!["stable".into()], ..Addition::default() };
    assert!(add(&catalog(GOOD), &addition).unwrap_err()[0].contains("`a.v1.1.0` of the catalog has the same image"));
}

/// The good bundle of `opctl bundle validate`, with a second version of its CRD.
fn bundle() -> Bundle {
    let mut tree = Tree::at("tests/bundle/good");
    let path = "manifests/cache.example.com_memcacheds.yaml";
    let text = tree.read(path).unwrap().unwrap();
    let (before, versions) = text.split_once("  versions:\n").unwrap();
    let second = versions.replace("name: v1alpha1", "name: v1alpha2").replace("storage: true", "storage: false");
    tree.lay_over(path, format!("{before}  versions:\n{versions}{second}"));
    load(Folder { tree: &tree, shown: "" }, &mut Findings::default()).unwrap()
}

#[test]
fn a_rendered_bundle_has_each_version_of_its_crds() {
    let document = render::bundle(&bundle(), "i", Content::Metadata);
    let kinds = document["properties"].as_array().unwrap().iter().filter(|property| property["type"] == "olm.gvk");
    let versions: Vec<&str> = kinds.map(|property| property["value"]["version"].as_str().unwrap()).collect();
    assert_eq!(versions, ["v1alpha1", "v1alpha2"]);
}

#[test]
fn manifests_in_bundles_become_metadata() {
    let mut document = render::bundle(&bundle(), "i", Content::Objects);
    render::migrate(&mut document);
    let expected = render::bundle(&bundle(), "i", Content::Metadata);
    assert_eq!(document, expected);
    render::migrate(&mut document);
    assert_eq!(document, expected);
    let mut without_image = render::bundle(&bundle(), "", Content::Objects);
    let before = without_image.clone();
    render::migrate(&mut without_image);
    assert_eq!(without_image, before);
}

#[test]
fn a_substitute_takes_over_the_upgrades_of_its_base() {
    let documents: Vec<Value> = catalog(GOOD).documents.iter().map(|it| it.node.json()).collect();
    let template_of = |substitutions: Value| {
        let mut template = to_substitutes(documents.clone());
        template["substitutions"] = substitutions;
        template.to_string()
    };
    let made = template(&template_of(json!([{"name": "i:v1.0.1", "base": "a.v1.0.0"}]))).unwrap();
    let channel = made.iter().find(|document| document["schema"] == "olm.channel").unwrap();
    let entries = json!([
        {"name": "a.v1.0.0"},
        {"name": "a.v1.1.0", "replaces": "a.v1.0.1", "skipRange": ">=0.9.0 <1.1.0", "skips": ["a.v1.0.0"]},
        {"name": "a.v1.0.1", "skips": ["a.v1.0.0"]},
    ]);
    assert_eq!(channel["entries"], entries);
    let made = template(&template_of(json!([{"name": "i:v1.2.0", "base": "a.v1.1.0"}]))).unwrap();
    let channel = made.iter().find(|document| document["schema"] == "olm.channel").unwrap();
    let entries = json!([
        {"name": "a.v1.0.0"},
        {"name": "a.v1.1.0"},
        {"name": "a.v1.2.0", "replaces": "a.v1.0.0", "skipRange": ">=0.9.0 <1.1.0", "skips": ["a.v1.1.0"]},
    ]);
    assert_eq!(channel["entries"], entries);
    for (substitutions, problem) in [
        (json!([{"name": "i:v1.0.0", "base": "a.v1.1.0"}]), "is not above"),
        (json!([{"name": "i:v2.0.0", "base": "b"}]), "no bundle `b`"),
        (json!([{"name": "i:v2.0.0"}]), "`base`"),
        (json!([{"name": "unknown", "base": "a.v1.1.0"}]), "`unknown` is not known"),
        (json!([{"name": "i:v1.0.1", "base": "a.v1.0.0"}, {"name": "i:v1.0.2", "base": "a.v1.0.0"}]), "twice"),
        (json!([{"name": "i:v2.0.0", "base": "a.v1.0.0"}, {"name": "i:v2.0.0", "base": "a.v1.1.0"}]), "of two bundles"),
    ] {
        let problems = template(&template_of(substitutions)).unwrap_err();
        assert!(problems.iter().any(|it| it.contains(problem)), "{problem}: {problems:?}");
    }
}

#[test]
fn a_basic_template_has_the_images_of_bundles() {
    let documents: Vec<Value> = catalog(GOOD).documents.iter().map(|it| it.node.json()).collect();
    let basic = to_basic(documents.clone());
    assert_eq!(basic["entries"][0], documents[0]);
    assert_eq!(basic["entries"][2], json!({"schema": "olm.bundle", "image": "example.com/a:v1.0.0"}));
}

fn entry(name: usize, replaces: Option<usize>, skips: &[usize]) -> Entry {
    let name_of = |index: usize| format!("a.v{index}");
    Entry {
        name: name_of(name),
        replaces: replaces.map_or_else(String::new, name_of),
        skips: skips.iter().map(|skip| name_of(*skip)).collect(),
        skip_range: String::new(),
    }
}

/// A channel is valid if it has a single head, and every entry that is not skipped is reachable from it by `replaces`,
/// without cycles.
fn naive(entries: &[Entry]) -> bool {
    let targets =
        |entry: &Entry| -> Vec<String> { entry.skips.iter().cloned().chain([entry.replaces.clone()]).collect() };
    let heads: Vec<&Entry> =
        entries.iter().filter(|entry| !entries.iter().any(|other| targets(other).contains(&entry.name))).collect();
    let [head] = heads[..] else { return false };
    let is_skipped = |name: &str| entries.iter().any(|entry| entry.skips.iter().any(|skip| skip == name));
    let next = |entry: &Entry| entries.iter().find(|other| other.name == entry.replaces && !is_skipped(&other.name));
    let mut reached = vec![head];
    while let Some(entry) = next(reached.last().unwrap()) {
        if reached.iter().any(|known| known.name == entry.name) {
            return false;
        }
        reached.push(entry);
    }
    entries.iter().all(|entry| is_skipped(&entry.name) || reached.iter().any(|known| known.name == entry.name))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn a_graph_is_valid_where_every_entry_leads_to_the_head(
        edges in proptest::collection::vec((proptest::option::weighted(0.8, 0_usize..7), proptest::collection::vec(0_usize..7, 0..2)), 1..6),
        is_chain in any::<bool>(),
    ) {
        let number = |(index, (replaces, skips)): (usize, &(Option<usize>, Vec<usize>))| {
            // Half of the channels are chains, most of which are valid.
            let replaces = if is_chain && replaces.is_some() { index.checked_sub(1) } else { *replaces };
            let skips: Vec<usize> = skips.iter().copied().filter(|skip| !is_chain || *skip < index).collect();
            entry(index, replaces, &skips)
        };
        let entries: Vec<Entry> = edges.iter().enumerate().map(number).collect();
        prop_assert_eq!(graph::check_chain(&entries).is_ok(), naive(&entries), "{:?}", entries);
    }

    #[test]
    fn semver_channels_are_those_of_the_table(
        versions in proptest::collection::btree_set((0_u64..3, 0_u64..3, 0_u64..4), 1..9),
        major in any::<bool>(),
    ) {
        let versions: Vec<Version> = versions.into_iter().map(|(major, minor, patch)| Version::new(major, minor, patch)).collect();
        let named: Vec<(String, Version)> = versions.iter().rev().map(|version| (format!("a.v{version}"), version.clone())).collect();
        let stream = if major { Stream::Major } else { Stream::Minor };
        let made = channels(&[Vec::new(), Vec::new(), named], &[stream]);
        // The expected edges of each version by the documentation of the format: the last patch of a minor version has
        // the edges.
        let mut expected: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for version in &versions {
            let lower: Vec<&Version> = versions.iter().filter(|it| it.major == version.major && it.cmp_precedence(version).is_lt()).collect();
            let is_last = !versions.iter().any(|it| (it.major, it.minor) == (version.major, version.minor) && it.patch > version.patch);
            let before = lower.iter().filter(|it| it.minor < version.minor).max_by(|one, other| one.cmp_precedence(other));
            let mut entry = Entry { name: format!("a.v{version}"), ..Entry::default() };
            if is_last {
                entry.replaces = before.map_or_else(String::new, |version| format!("a.v{version}"));
                let skips: BTreeSet<String> = lower.iter().map(|version| format!("a.v{version}")).filter(|name| *name != entry.replaces).collect();
                entry.skips = skips.into_iter().collect();
            }
            let channel = if major { format!("stable-v{}", version.major) } else { format!("stable-v{}.{}", version.major, version.minor) };
            expected.entry(channel).or_default().push(entry);
        }
        let made: BTreeMap<String, Vec<Entry>> = made.into_iter().map(|channel| (channel.name, channel.entries)).collect();
        for entries in made.values() {
            prop_assert!(graph::check_chain(entries).is_ok(), "{:?}", entries);
        }
        prop_assert_eq!(made, expected);
    }
}

fn rendered(image: &str) -> Option<Rendered> {
    let version = image.rsplit_once(":v")?.1;
    let properties = json!([{"type": "olm.package", "value": {"packageName": "a", "version": version}}]);
    let document = json!({"schema": "olm.bundle", "package": "a", "name": format!("a.v{version}"), "image": image, "properties": properties});
    Some(Rendered { document, description: format!("Version {version}."), icon: None })
}

fn template(text: &str) -> Result<Vec<Value>, Vec<String>> {
    let nodes = documents(&SourceFile::new("template.yaml", text), Dialect::Kubectl).unwrap();
    let messages = |problems: Vec<opctl_model::diagnostic::Diagnostic>| {
        problems.into_iter().map(|problem| problem.message).collect()
    };
    expand(&nodes[0], &rendered).map_err(messages)
}

/// Published templates are written so.
#[test]
fn keys_have_any_case() {
    let text = "Schema: olm.semver\nGenerateMajorChannels: true\nStable:\n  Bundles:\n  - Image: i:v1.0.0\n";
    assert_eq!(template(text), template(&text.replace("Schema", "schema").replace("Stable", "stable")));
    assert_eq!(template(text).unwrap()[1]["name"], "stable-v1");
    let upper = GOOD
        .replace("schema:", "Schema:")
        .replace("defaultChannel:", "DefaultChannel:")
        .replace("entries:", "Entries:")
        .replace("skipRange:", "skiprange:")
        .replace("properties:", "Properties:")
        .replace("type:", "Type:")
        .replace("packageName:", "PackageName:");
    assert!(validate::check(&catalog(&upper)).is_empty(), "{:?}", validate::check(&catalog(&upper)));
}

#[test]
fn a_semver_template_makes_channels_and_the_package() {
    let text = "schema: olm.semver\ngenerateMajorChannels: true\ngenerateMinorChannels: true\nfast: {bundles: [{image: i:v2.0.0}]}\nstable: {bundles: [{image: i:v1.0.0}, {image: i:v1.0.1}, {image: i:v1.1.0}]}\n";
    let made = template(text).unwrap();
    let default = |text: &str| template(text).unwrap()[0]["defaultChannel"].clone();
    assert_eq!(
        made[0],
        json!({"schema": "olm.package", "name": "a", "defaultChannel": "stable-v1.1", "description": "Version 1.1.0."})
    );
    // The minor channel starts with a higher version than the major one.
    assert_eq!(default(&format!("{text}defaultChannelTypePreference: major\n")), "stable-v1.1");
    assert_eq!(
        default("schema: olm.semver\ngenerateMajorChannels: true\nstable: {bundles: [{image: i:v1.0.0}]}\n"),
        "stable-v1"
    );
    let names: Vec<&str> =
        made.iter().filter(|it| it["schema"] == "olm.channel").map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fast-v2", "fast-v2.0", "stable-v1", "stable-v1.0", "stable-v1.1"]);
    let major = made.iter().find(|it| it["name"] == "stable-v1").unwrap();
    let entries = json!([{"name": "a.v1.0.0"}, {"name": "a.v1.0.1", "skips": ["a.v1.0.0"]}, {"name": "a.v1.1.0", "replaces": "a.v1.0.1", "skips": ["a.v1.0.0"]}]);
    assert_eq!(major["entries"], entries);
    let yaml = opctl_model::yaml::documents("", &made);
    assert_eq!(validate::check(&catalog(&yaml)), []);
}

#[test]
fn a_template_with_a_mistake_is_refused() {
    for (text, problem) in [
        ("schema: other", "unknown template schema `other`"),
        ("schema: olm.semver\nstabel: {}", "no setting `stabel`"),
        ("schema: olm.semver", "lists no bundles"),
        ("schema: olm.semver\ndefaultChannelTypePreference: patch", "is `minor` or `major`"),
        ("schema: olm.semver\ndefaultChannelTypePreference: major", "preferred type"),
        ("schema: olm.semver\nstable: {bundles: [{image: unknown}]}", "`unknown` is not known"),
        ("schema: olm.semver\nstable: {bundles: [{image: i:vx}]}", "not a semantic version"),
        ("schema: olm.semver\nstable: {bundles: [{image: i:v1.0.0}, {image: i:v1.0.0}]}", "listed twice"),
        ("schema: olm.semver\nstable: {bundles: [{image: i:v1.0.0+a}, {image: i:v1.0.0+b}]}", "cannot be ordered"),
        ("schema: olm.template.basic\nentries: [{schema: olm.bundle, image: unknown}]", "`unknown` is not known"),
    ] {
        let problems = template(text).unwrap_err();
        assert!(problems.iter().any(|it| it.contains(problem)), "{text}: {problems:?}");
    }
    let basic =
        "schema: olm.template.basic\nentries: [{schema: olm.package, name: a}, {schema: olm.bundle, image: i:v1.0.0}]";
    let made = template(basic).unwrap();
    assert_eq!(made, [json!({"schema": "olm.package", "name": "a"}), rendered("i:v1.0.0").unwrap().document]);
}

#[test]
fn a_bundle_is_added_behind_the_head_and_comments_stay() {
    let text = GOOD
        .replace("- name: a.v1.1.0\n", "# the head\n- name: a.v1.1.0\n")
        .replace("skipRange: \">=0.9.0 <1.1.0\"\n", "skipRange: \">=0.9.0 <1.1.0\" # all\n");
    let old = catalog(&text);
    let bundle = rendered("i:v1.2.0").unwrap().document;
    let addition =
        Addition { bundle: bundle.clone(), channels: vec!["stable".into(), "fast".into()], ..Addition::default() };
    let changes = add(&old, &addition).unwrap();
    let [
        FileChange::Create { path, documents },
        FileChange::Edit { after, .. },
        FileChange::Create { path: channel, .. },
    ] = &changes[..]
    else {
        panic!("{changes:?}");
    };
    assert_eq!(
        (path.as_str(), documents, channel.as_str()),
        ("bundles/a.v1.2.0.yaml", &vec![bundle], "channels/fast.yaml")
    );
    let added = "  skipRange: \">=0.9.0 <1.1.0\" # all\n- name: a.v1.2.0\n  replaces: a.v1.1.0\n---\n";
    let expected = text.replace(
        "  skipRange: \">=0.9.0 <1.1.0\" # all\n---\n",
        &added.replace("name: a.v1.2.0", "name: \"a.v1.2.0\"").replace("replaces: a.v1.1.0", "replaces: \"a.v1.1.0\""),
    );
    assert_eq!(*after, expected);
    let again = Addition {
        bundle: old.of_schema("olm.bundle").next().unwrap().node.json(),
        channels: vec!["stable".into()],
        ..Addition::default()
    };
    assert_eq!(add(&old, &again), Ok(Vec::new()));
    let flow = catalog(
        &GOOD
            .replace(
                "- name: a.v1.0.0\n- name: a.v1.1.0\n  replaces: a.v1.0.0\n  skipRange: \">=0.9.0 <1.1.0\"\n",
                "- {name: a.v1.0.0}\n",
            )
            .replace("entries:\n- {name: a.v1.0.0}", "entries: [{name: a.v1.0.0}]"),
    );
    assert!(add(&flow, &addition).unwrap_err()[1].contains("by hand"));
}
