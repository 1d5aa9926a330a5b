//! Shortens descriptions in CRDs that would otherwise be too large.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

/// Truncates every description in the schemas to `max` characters, at the end of a sentence or else of a word; 0
/// removes them.
pub fn shorten_descriptions(crds: &mut [CustomResourceDefinition], max: usize) {
    let versions = crds.iter_mut().flat_map(|crd| &mut crd.spec.versions);
    for schema in versions.filter_map(|version| version.schema.as_mut()?.open_api_v3_schema.as_mut()) {
        shorten_below(schema, max);
    }
}

fn shorten_below(schema: &mut JSONSchemaProps, max: usize) {
    schema.description = schema.description.take().and_then(|text| shortened(text, max));
    // A structural schema has no other subschemas.
    let named = [&mut schema.properties, &mut schema.pattern_properties, &mut schema.definitions];
    let listed = [&mut schema.all_of, &mut schema.any_of, &mut schema.one_of];
    named.into_iter().flatten().flat_map(|schemas| schemas.values_mut()).for_each(|schema| shorten_below(schema, max));
    listed.into_iter().flatten().flatten().for_each(|schema| shorten_below(schema, max));
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(schema)) => shorten_below(schema, max),
        Some(JSONSchemaPropsOrArray::Schemas(schemas)) => {
            schemas.iter_mut().for_each(|schema| shorten_below(schema, max));
        }
        None => {}
    }
    for schema in [&mut schema.additional_properties, &mut schema.additional_items] {
        if let Some(JSONSchemaPropsOrBool::Schema(schema)) = schema {
            shorten_below(schema, max);
        }
    }
    if let Some(schema) = &mut schema.not {
        shorten_below(schema, max);
    }
}

/// As many whole sentences as fit; if none does, as many words, and `…`.
fn shortened(text: String, max: usize) -> Option<String> {
    if max == 0 {
        return None;
    }
    let Some((end, _)) = text.char_indices().nth(max) else { return Some(text) };
    if let Some(end) = ends_of_sentences(&text).take_while(|at| *at <= end).last() {
        return Some(text[..end].into());
    }
    // One character is reserved for the `…`.
    let end = text.char_indices().nth(max - 1).map_or(0, |(at, _)| at);
    let (before, after) = text.split_at(end);
    let words =
        if after.starts_with(char::is_whitespace) { end } else { before.rfind(char::is_whitespace).unwrap_or(end) };
    Some(format!("{}…", before[..words].trim_end_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation())))
}

/// Positions after `.`, `!` or `?`, unless the next word is lower case as after `e.g.`, and at the ends of
/// paragraphs.
fn ends_of_sentences(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(|(at, c)| {
        let end = at + c.len_utf8();
        let rest = &text[end..];
        let next = rest.trim_start();
        let ends = matches!(c, '.' | '!' | '?') && rest.len() > next.len() && !next.starts_with(char::is_lowercase);
        let paragraph_ends = !c.is_whitespace() && rest.starts_with("\n\n");
        (ends || paragraph_ends).then_some(end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_the_end_of_a_sentence_or_word() {
        let cut = |text: &str, max: usize| shortened(text.into(), max).unwrap();
        let text = "How many replicas, e.g. three. Zero stops it. More cost more.";
        assert_eq!(cut(text, 100), text);
        assert_eq!(cut(text, text.len()), text);
        assert_eq!(cut(text, text.len() - 1), "How many replicas, e.g. three. Zero stops it.");
        assert_eq!(cut(text, 30), "How many replicas, e.g. three.");
        assert_eq!(cut(text, 29), "How many replicas, e.g…");
        assert_eq!(cut(text, 19), "How many replicas…");
        assert_eq!(cut(text, 4), "How…");
        assert_eq!(cut(text, 3), "Ho…");
        assert_eq!(cut(text, 1), "…");
        assert_eq!(cut("A heading\n\nand its text", 12), "A heading");
        assert_eq!(cut("über größe", 7), "über…");
        assert_eq!(shortened(text.into(), 0), None);
        for max in 1..80 {
            assert!(cut(text, max).chars().count() <= max, "{max}");
        }
    }
}
