//! URLs by the rules of Go's `net/url`, as of 1.26.

use std::net::Ipv6Addr;

#[derive(Clone, Debug, PartialEq)]
pub struct Url {
    pub scheme: String,
    /// Host and port.
    pub host: String,
    pub query: String,
    path: String,
    raw_path: String,
    /// The parts that are only compared: user, opaque part, fragment.
    rest: String,
}

/// Parses an absolute URL. A `#` does not start a fragment. `None` for an invalid URL.
pub fn parse_request_uri(text: &str) -> Option<Url> {
    parse(text, true)
}

/// Parses a URL as Kubernetes' CEL library does: with `ParseRequestURI`, then with `Parse`.
pub fn parse_absolute(text: &str) -> Option<Url> {
    parse_request_uri(text)?;
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    unescape(fragment, Part::Fragment)?;
    let mut url = parse(text, false)?;
    url.rest.extend(["#", fragment]);
    Some(url)
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Path,
    User,
    Host,
    Zone,
    Query,
    Fragment,
}

fn parse(text: &str, via_request: bool) -> Option<Url> {
    if text.bytes().any(|c| c < b' ' || c == 0x7f) || text.is_empty() && via_request {
        return None;
    }
    let mut url = Url {
        scheme: String::new(),
        host: String::new(),
        query: String::new(),
        path: String::new(),
        raw_path: String::new(),
        rest: String::new(),
    };
    if text == "*" {
        url.path = text.to_owned();
        return Some(url);
    }
    let (scheme, rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (mut rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    url.query = query.to_owned();
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            url.rest = rest.to_owned();
            return Some(url);
        }
        if via_request || rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return None;
        }
    }
    if (!url.scheme.is_empty() || !via_request && !rest.starts_with("///"))
        && let Some(after) = rest.strip_prefix("//")
    {
        let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
        rest = path;
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        url.host = self::host(&url.scheme, host)?;
        if let Some(user) = user {
            let is_valid = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
            if !user.chars().all(is_valid) {
                return None;
            }
            unescape(user, Part::User)?;
            url.rest = format!("{user}@");
        }
    }
    url.path = unescape(rest, Part::Path)?;
    if escape(&url.path, Part::Path) != rest {
        url.raw_path = rest.to_owned();
    }
    Some(url)
}

/// Splits a URL into the scheme, which may be empty, and the rest.
fn scheme(text: &str) -> Option<(&str, &str)> {
    for (at, c) in text.bytes().enumerate() {
        match c {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at > 0 => return Some((&text[..at], &text[at + 1..])),
            b':' => return None,
            _ => break,
        }
    }
    Some(("", text))
}

fn host(scheme: &str, host: &str) -> Option<String> {
    if let Some(open) = host.rfind('[') {
        if open > 0 {
            return None;
        }
        let close = host.rfind(']')?;
        let (name, port) = (&host[1..close], &host[close + 1..]);
        if !is_optional_port(port) {
            return None;
        }
        let name = match name.find("%25") {
            Some(zone) => unescape(&name[..zone], Part::Host)? + &unescape(&name[zone..], Part::Zone)?,
            None => unescape(name, Part::Host)?,
        };
        let (address, zone) =
            name.split_once('%').map_or((name.as_str(), None), |(address, zone)| (address, Some(zone)));
        address.parse::<Ipv6Addr>().ok().filter(|_| zone.is_none_or(|zone| !zone.is_empty()))?;
        return Some(format!("[{name}]{port}"));
    }
    if let (Some(first), Some(last)) = (host.find(':'), host.rfind(':')) {
        let port = if matches!(scheme, "http" | "https") { first } else { last };
        if !is_optional_port(&host[port..]) {
            return None;
        }
    }
    unescape(host, Part::Host)
}

fn is_optional_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|c| c.is_ascii_digit()))
}

impl Url {
    pub fn hostname(&self) -> &str {
        let (host, _) = self.split_host();
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    pub fn port(&self) -> &str {
        self.split_host().1
    }

    fn split_host(&self) -> (&str, &str) {
        match self.host.rfind(':') {
            Some(colon) if is_optional_port(&self.host[colon..]) => (&self.host[..colon], &self.host[colon + 1..]),
            _ => (&self.host, ""),
        }
    }

    pub fn escaped_path(&self) -> String {
        let is_valid = |c: u8| b"!$&'()*+,;=:@[]%".contains(&c) || !should_escape(c, Part::Path);
        if !self.raw_path.is_empty() && self.raw_path.bytes().all(is_valid) {
            return self.raw_path.clone();
        }
        if self.path == "*" { "*".to_owned() } else { escape(&self.path, Part::Path) }
    }

    /// Query parameters in the order of the URL. Invalid ones are skipped.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';'));
        pairs
            .filter_map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                Some((unescape(name, Part::Query)?, unescape(value, Part::Query)?))
            })
            .collect()
    }
}

fn unescape(text: &str, part: Part) -> Option<String> {
    let in_host = matches!(part, Part::Host | Part::Zone);
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'%' => {
                let hex = |at: usize| after.get(at).and_then(|c| char::from(*c).to_digit(16)).map(|digit| digit as u8);
                let value = hex(0)? << 4 | hex(1)?;
                if part == Part::Host && value < 0x80 && value != b'%' {
                    return None;
                }
                if part == Part::Zone && value != b'%' && value != b' ' && should_escape(value, Part::Host) {
                    return None;
                }
                out.push(value);
                rest = &after[2..];
            }
            b'+' if part == Part::Query => out.push(b' '),
            c if in_host && *c < 0x80 && should_escape(*c, part) => return None,
            c => out.push(*c),
        }
    }
    // Strings in Go may contain invalid UTF-8; CEL prints them with replacement characters.
    Some(String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn escape(text: &str, part: Part) -> String {
    let mut out = String::new();
    for c in text.bytes() {
        if should_escape(c, part) {
            out.push_str(&format!("%{c:02X}"));
        } else {
            out.push(char::from(c));
        }
    }
    out
}

fn should_escape(c: u8, part: Part) -> bool {
    if c.is_ascii_alphanumeric() || b"-_.~".contains(&c) {
        return false;
    }
    match part {
        Part::Host | Part::Zone => !b"!$&'()*+,;=:[]<>\"".contains(&c),
        Part::Path => !b"$&+,/:;=@".contains(&c),
        Part::User => !b"$&+,;=".contains(&c),
        Part::Query => true,
        Part::Fragment => !b"$&+,/:;=?@!()*".contains(&c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_urls_as_go_does() {
        let url = parse_absolute("HTTPS://user:p%40ss@example.com:8080/a%2Fb/ü?k=v&k=w+x&l#frag").unwrap();
        assert_eq!((url.scheme.as_str(), url.host.as_str()), ("https", "example.com:8080"));
        assert_eq!((url.hostname(), url.port()), ("example.com", "8080"));
        // A character that must be escaped but is not makes the raw path invalid, so the path is escaped from scratch.
        assert_eq!(url.escaped_path(), "/a/b/%C3%BC");
        assert_eq!(parse_absolute("/a%2Fb").unwrap().escaped_path(), "/a%2Fb");
        let pairs = [("k", "v"), ("k", "w x"), ("l", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(url.parameters(), pairs);
        assert_eq!(parse_absolute("http://[::1]:80/").unwrap().hostname(), "::1");
        for text in
            ["", "a/b", "://x", "http://a b/", "http://[::1", "http://a:b/", "http://a/%zz", "http://[1.2.3.4]/"]
        {
            assert_eq!(parse_absolute(text), None, "{text}");
        }
    }
}
