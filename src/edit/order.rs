//! The order in which siblings stand: rustfmt's version sort (style edition 2024), so that an inserted line is where
//! `cargo fmt` would put it. Numbers count as numbers, `_` comes before everything: `v1 < v1alpha1 < v2 < v10`.

use std::cmp::Ordering;

/// A total order: texts that differ only in leading zeros fall back to the order of their bytes.
///
/// Source: "Sorting" in the Rust style guide, and `version_sort` of rustfmt.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (mut a_chunks, mut b_chunks) = (chunks(a), chunks(b));
    let mut zeros = Ordering::Equal;
    loop {
        let (x, y) = match (a_chunks.next(), b_chunks.next()) {
            (Some(x), Some(y)) => (x, y),
            (Some(_), None) => return Ordering::Greater,
            (None, Some(_)) => return Ordering::Less,
            // The number with more leading zeros comes first; the first such pair decides.
            (None, None) => return zeros.then_with(|| a.cmp(b)),
        };
        let order = match (x.as_bytes()[0], y.as_bytes()[0]) {
            (b'_', b'_') => Ordering::Equal,
            (b'_', _) => Ordering::Less,
            (_, b'_') => Ordering::Greater,
            (b'0'..=b'9', b'0'..=b'9') => {
                let (m, n) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
                zeros = zeros.then((y.len() - n.len()).cmp(&(x.len() - m.len())));
                m.len().cmp(&n.len()).then_with(|| m.cmp(n))
            }
            _ => x.cmp(y),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Splits into single underscores, runs of digits and runs of anything else.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = *rest.as_bytes().first()?;
        let end = match first {
            b'_' => 1,
            b'0'..=b'9' => rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()),
            _ => rest.find(|c: char| c == '_' || c.is_ascii_digit()).unwrap_or(rest.len()),
        };
        let (chunk, tail) = rest.split_at(end);
        rest = tail;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_count_and_underscores_come_first() {
        let sorted = ["_a", "a", "a_b", "a1", "ab", "v1", "v1_1", "v1alpha1", "v1beta1", "v2", "v10", "v011"];
        for pair in sorted.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn is_a_total_order(a in "[a_01]{0,6}", b in "[a_01]{0,6}", c in "[a_01]{0,6}") {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            prop_assert_eq!(compare(&a, &b).is_eq(), a == b);
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }
    }
}
