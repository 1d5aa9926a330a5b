//! Suggests the closest known name for a misspelt one.

/// The closest of `words` within an edit distance of 1, or 2 for a text of five characters or more. Ignores case.
pub fn nearest<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let limit = if text.chars().count() < 5 { 1 } else { 2 };
    words
        .into_iter()
        .map(|word| (strsim::osa_distance(&text, &word.to_lowercase()), word))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}
