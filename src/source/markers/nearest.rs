//! The word that was probably meant.

/// The nearest of `words`, if it is near enough to be a slip of the fingers: one edit, or two in a word of five
/// characters or more. Case does not count.
pub fn nearest<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let limit = if text.chars().count() < 5 { 1 } else { 2 };
    words
        .into_iter()
        .map(|word| (distance(&text, &word.to_lowercase()), word))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// How many characters to insert, remove, replace or swap with their neighbour (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_of_the_fingers_only() {
        let verbs = ["get", "list", "watch", "deletecollection"];
        assert_eq!(nearest("wacth", verbs), Some("watch"));
        assert_eq!(nearest("List", verbs), Some("list"));
        assert_eq!(nearest("delete-collection", verbs), Some("deletecollection"));
        assert_eq!(nearest("gte", verbs), Some("get"));
        assert_eq!(nearest("read", verbs), None);
    }
}
