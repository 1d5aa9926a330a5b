//! Literal Jinja expressions: strings, lists, names, and their concatenations with `+` and `~`.

/// The text in quotes; `None` if this is not a string.
pub fn quoted(text: &str) -> Option<&str> {
    let mut quotes = ['\'', '"'].into_iter();
    let inside =
        quotes.find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote).filter(|it| !it.contains(quote)));
    inside.filter(|text| !text.is_empty())
}

/// Splits at separators outside of quotes and brackets.
pub fn split<'a>(text: &'a str, separators: &[char]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for at in outside_of_quotes(text, separators) {
        parts.push(&text[start..at]);
        start = at + 1;
    }
    parts.push(&text[start..]);
    parts
}

/// The positions of `letters`, all of them ASCII, outside of quotes and brackets.
pub fn outside_of_quotes<'a>(text: &'a str, letters: &'a [char]) -> impl Iterator<Item = usize> + 'a {
    let (mut quote, mut depth) = (None, 0_usize);
    text.char_indices().filter_map(move |(at, letter)| {
        match (quote, letter) {
            (Some(open), _) => {
                quote = quote.filter(|_| letter != open);
                return None;
            }
            (None, '\'' | '"') => {
                quote = Some(letter);
                return None;
            }
            (None, letter) if depth == 0 && letters.contains(&letter) => return Some(at),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_count_outside_of_quotes_and_brackets() {
        assert_eq!(split("'a,b', f(c, d), [1, 2]", &[',']), ["'a,b'", " f(c, d)", " [1, 2]"]);
        assert_eq!(split("item + '.y' ~ x", &['+', '~']), ["item ", " '.y' ", " x"]);
        assert_eq!(outside_of_quotes("'(' + a) + b", &[')']).next(), Some(7));
    }

    #[test]
    fn a_string_is_in_one_pair_of_quotes() {
        for (text, expected) in
            [("'a'", Some("a")), ("\"a'b\"", Some("a'b")), ("'a' + 'b'", None), ("''", None), ("a", None)]
        {
            assert_eq!(quoted(text), expected, "{text}");
        }
    }
}
