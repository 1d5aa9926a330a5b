//! The fields of documents and properties, as `opm` decodes them.

use crate::fields::{Field, Type, fold};
use opctl_kustomize::yaml::{Node, Value};

/// The types of the fields of documents. Source: `declcfg.go`.
pub const DOCUMENTS: [(&str, &[Field]); 4] = {
    use Type::{List, Map, Text};
    [
        (
            "olm.package",
            &[
                ("name|defaultChannel|description", Text),
                ("icon", Map),
                ("icon.base64data|mediatype", Text),
                ("properties", List),
                ("properties.*", Map),
                ("properties.*.type", Text),
            ],
        ),
        (
            "olm.channel",
            &[
                ("name|package", Text),
                ("entries", List),
                ("entries.*", Map),
                ("entries.*.name|replaces|skipRange", Text),
                ("entries.*.skips", List),
                ("entries.*.skips.*", Text),
                ("properties", List),
                ("properties.*", Map),
                ("properties.*.type", Text),
            ],
        ),
        (
            "olm.bundle",
            &[
                ("name|package|image", Text),
                ("properties", List),
                ("properties.*", Map),
                ("properties.*.type", Text),
                ("relatedImages", List),
                ("relatedImages.*", Map),
                ("relatedImages.*.name|image", Text),
            ],
        ),
        (
            "olm.deprecations",
            &[
                ("package", Text),
                ("entries", List),
                ("entries.*", Map),
                ("entries.*.message", Text),
                ("entries.*.reference", Map),
                ("entries.*.reference.schema|name", Text),
            ],
        ),
    ]
};

/// The types of the fields of properties; other properties have any value. Source: `property.go`.
pub const PROPERTIES: [(&str, &[Field]); 7] = {
    use Type::{Bool, List, Map, Text};
    const GVK: &[Field] = &[("group|kind|version", Text)];
    [
        ("olm.bundle.object", &[]),
        ("olm.channel", &[("channelName", Text)]),
        (
            "olm.csv.metadata",
            &[
                ("description|displayName|maturity|minKubeVersion", Text),
                ("annotations|labels|provider|apiServiceDefinitions|crdDescriptions", Map),
                ("annotations|labels.*", Text),
                ("provider.name|url", Text),
                ("apiServiceDefinitions|crdDescriptions.owned|required", List),
                ("apiServiceDefinitions|crdDescriptions.owned|required.*", Map),
                (
                    "apiServiceDefinitions|crdDescriptions.owned|required.*.name|group|version|kind|displayName|description",
                    Text,
                ),
                ("installModes|keywords|links|maintainers|nativeAPIs", List),
                ("installModes|links|maintainers|nativeAPIs.*", Map),
                ("installModes.*.type", Text),
                ("installModes.*.supported", Bool),
                ("keywords.*", Text),
                ("links|maintainers.*.name", Text),
                ("links.*.url", Text),
                ("maintainers.*.email", Text),
                ("nativeAPIs.*.group|kind|version", Text),
            ],
        ),
        ("olm.gvk", GVK),
        ("olm.gvk.required", GVK),
        ("olm.package", &[("packageName|version|release", Text)]),
        ("olm.package.required", &[("packageName|versionRange", Text)]),
    ]
};

/// Gives the keys of a document the case that they have in the tables.
pub fn fold_document(document: &mut Node) {
    fold(document, "schema");
    let schema = document.text_at(&["schema"]).unwrap_or_default().to_owned();
    for (path, _) in DOCUMENTS.iter().filter(|(known, _)| *known == schema).flat_map(|(_, fields)| *fields) {
        fold(document, path);
    }
    let Some(Value::List(properties)) = document.get_mut("properties").map(|list| &mut list.value) else { return };
    for property in properties.iter_mut() {
        fold(property, "type|value");
        let kind = property.text_at(&["type"]).unwrap_or_default().to_owned();
        let Some(value) = property.get_mut("value") else { continue };
        for (path, _) in PROPERTIES.iter().filter(|(known, _)| *known == kind).flat_map(|(_, fields)| *fields) {
            fold(value, path);
        }
    }
}
