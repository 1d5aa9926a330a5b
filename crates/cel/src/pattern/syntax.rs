//! Checks regular expressions against Go's syntax, which is RE2's: it has no look-around and no back-references, and
//! accepts less than Rust's. Follows `regexp/syntax/parse.go`.

/// Checks a regular expression by Go's rules.
///
/// # Errors
///
/// The reason why Go rejects it.
pub fn check(pattern: &str) -> Result<(), String> {
    let mut parser = Parser { rest: pattern, names: Vec::new() };
    let mut groups = 0;
    // `atom`: a preceding expression exists that `*` can repeat. `repeated`: it already has a repetition operator.
    let (mut atom, mut repeated) = (false, false);
    while let Some(c) = parser.next() {
        let was_repeated = std::mem::take(&mut repeated);
        match c {
            '(' => {
                if parser.group()? {
                    groups += 1;
                    atom = false;
                }
                continue;
            }
            ')' if groups == 0 => return Err("`)` without `(`".to_owned()),
            ')' => {
                groups -= 1;
                atom = true;
            }
            '|' => atom = false,
            '*' | '+' | '?' | '{' => {
                if c == '{' && !parser.count()? {
                    atom = true;
                    continue;
                }
                if !atom {
                    return Err(format!("nothing before `{c}` to repeat"));
                }
                if was_repeated {
                    return Err(format!("`{c}` after another repetition"));
                }
                parser.take('?');
                repeated = true;
            }
            '[' => {
                parser.class()?;
                atom = true;
            }
            '\\' => {
                parser.escape()?;
                atom = true;
            }
            _ => atom = true,
        }
    }
    if groups > 0 { Err("`(` without `)`".to_owned()) } else { Ok(()) }
}

struct Parser<'a> {
    rest: &'a str,
    names: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.rest.starts_with(c);
        if found {
            self.next();
        }
        found
    }

    /// Parses after `(`. Returns `false` for flags such as `(?i)`, which open no group.
    fn group(&mut self) -> Result<bool, String> {
        if !self.take('?') {
            return Ok(true);
        }
        let unknown = || "`(?` without a name or flags; Go has no look-around".to_owned();
        let named = self.rest.strip_prefix("P<").or_else(|| self.rest.strip_prefix('<'));
        if let Some((name, rest)) = named.and_then(|named| named.split_once('>')) {
            let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_word || self.names.contains(&name) {
                return Err(unknown());
            }
            self.names.push(name);
            self.rest = rest;
            return Ok(true);
        }
        let (mut negative, mut some) = (false, false);
        loop {
            match self.next() {
                Some('i' | 'm' | 's' | 'U') => some = true,
                Some('-') if !negative => (negative, some) = (true, false),
                Some(end @ (':' | ')')) if some || !negative => return Ok(end == ':'),
                _ => return Err(unknown()),
            }
        }
    }

    /// Parses after `{`. Returns `false` if the brace is literal.
    fn count(&mut self) -> Result<bool, String> {
        let Some((inside, rest)) = self.rest.split_once('}') else { return Ok(false) };
        let (min, max) = inside.split_once(',').unwrap_or((inside, inside));
        let is_number = |text: &str| {
            !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'))
        };
        if !is_number(min) || !(max.is_empty() || is_number(max)) {
            return Ok(false);
        }
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number <= 1000);
        let most = if max.is_empty() { Some(1000) } else { number(max) };
        match (number(min), most) {
            (Some(min), Some(max)) if min <= max => {
                self.rest = rest;
                Ok(true)
            }
            _ => Err(format!("no more than 1000 repetitions, and not `{{{inside}}}`")),
        }
    }

    /// Parses after `[`.
    fn class(&mut self) -> Result<(), String> {
        self.take('^');
        let mut first = true;
        loop {
            let before = self.rest;
            match self.next().ok_or("`[` without `]`")? {
                ']' if !first => return Ok(()),
                '[' if self.rest.starts_with(':') && self.rest[1..].contains(":]") => {
                    let name = self.rest[1..].split(":]").next().unwrap_or_default();
                    const KNOWN: [&str; 14] = [
                        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
                        "space", "upper", "word", "xdigit",
                    ];
                    if !KNOWN.contains(&name.trim_start_matches('^')) {
                        return Err(format!("no class `[:{name}:]`"));
                    }
                    self.rest = &self.rest[name.len() + 3..];
                }
                '\\' if self.rest.starts_with(['d', 'D', 's', 'S', 'w', 'W', 'p', 'P']) => self.escape().map(drop)?,
                _ => {
                    self.rest = before;
                    let low = self.class_char()?;
                    if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                        self.next();
                        let high = self.class_char()?;
                        if high < low {
                            return Err(format!("the range `{low}-{high}` is the wrong way round"));
                        }
                    }
                }
            }
            first = false;
        }
    }

    fn class_char(&mut self) -> Result<char, String> {
        match self.next().ok_or("`[` without `]`")? {
            '\\' => self.character(),
            c => Ok(c),
        }
    }

    /// Parses after a backslash outside of a class.
    fn escape(&mut self) -> Result<(), String> {
        match self.rest.chars().next() {
            Some('A' | 'b' | 'B' | 'z' | 'd' | 'D' | 's' | 'S' | 'w' | 'W') => drop(self.next()),
            Some('Q') => self.rest = self.rest.split_once("\\E").map_or("", |(_, rest)| rest),
            Some('p' | 'P') => {
                self.next();
                match self.next() {
                    Some('{') => self.rest = self.rest.split_once('}').ok_or("`\\p{` without `}`")?.1,
                    Some(_) => {}
                    None => return Err("`\\p` without a class".to_owned()),
                }
            }
            _ => drop(self.character()?),
        }
        Ok(())
    }

    /// The character that an escape represents.
    fn character(&mut self) -> Result<char, String> {
        let c = self.next().ok_or("a backslash at the end")?;
        let unknown = || format!("no escape `\\{c}` in Go");
        let code = match c {
            'a' => 7,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            'x' => {
                let (digits, rest) = match self.rest.strip_prefix('{') {
                    Some(braced) => braced.split_once('}').ok_or_else(unknown)?,
                    None => self.rest.split_at_checked(2).ok_or_else(unknown)?,
                };
                self.rest = rest;
                u32::from_str_radix(digits, 16).map_err(|_| unknown())?
            }
            '0'..='7' => {
                let more = self.rest.bytes().take(2).take_while(|c| matches!(c, b'0'..=b'7')).count();
                if c != '0' && more == 0 {
                    return Err(format!("`\\{c}` refers back, which Go's regular expressions cannot"));
                }
                let (digits, rest) = self.rest.split_at(more);
                self.rest = rest;
                u32::from_str_radix(&format!("{c}{digits}"), 8).map_err(|_| unknown())?
            }
            _ if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(c),
            _ => return Err(unknown()),
        };
        char::from_u32(code).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn knows_what_go_compiles() {
        for good in [
            "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            "a{2}b{,3}c{1,}",
            r"\d+(\.\d+)?%",
            "(?P<x>a)(?<y>b)",
            "(?i)a",
            "(?i:a|)",
            "[]a]",
            "[^]]",
            "[[:alpha:]_-]",
            r"[\]\[-]",
            r"\Q[(\E",
            "a{",
            "{a}",
            "x*?",
            r"\pL\p{Greek}",
            r"[\w.-]",
            "()",
            "a||b",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "(",
            "a)",
            "*a",
            "a**",
            "a|*",
            "[a",
            "[z-a]",
            "(?=a)",
            "(?!a)",
            r"\1",
            "a{1001}",
            "a{3,2}",
            r"\y",
            "\\",
            "(?x)a",
            "[[:what:]]",
            r"[a-\d]",
            "(?<x>a)(?<x>b)",
            r"\Z",
            r"\u00e9",
            "a*??",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
