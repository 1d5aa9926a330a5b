//! Metadata that OperatorHub.io shows. Source: `operatorhub.go`, `operatorhubv2.go`, `standardcapabilities.go` and
//! `standardcategories.go` of operator-framework/api.

use super::super::findings::Findings;
use super::super::folder::Bundle;
use super::super::semver::{self, Version};
use super::{head, place, text};

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    let (csv, spec) = (&bundle.csv().node, bundle.spec());
    if spec.text_at(&["provider", "name"]).unwrap_or_default().trim().is_empty() {
        findings.error("hub-provider", &place(csv, &["spec", "provider", "name"]), "`spec.provider.name` is not set");
    }
    for maintainer in spec.items_at(&["maintainers"]) {
        let email = text(maintainer, "email");
        if text(maintainer, "name").is_empty() || email.is_empty() {
            findings.error("hub-maintainers", &head(maintainer), "a maintainer has a `name` and an `email`");
        }
        if !email.is_empty() && !is_address(email) {
            findings.error(
                "hub-maintainers",
                &place(maintainer, &["email"]),
                format!("`{email}` is not an e-mail address"),
            );
        }
    }
    for link in spec.items_at(&["links"]) {
        let url = text(link, "url");
        if text(link, "name").is_empty() || url.is_empty() {
            findings.error("hub-links", &head(link), "a link has a `name` and a `url`");
        }
        if !url.is_empty() && !is_url(url) {
            findings
                .error("hub-links", &place(link, &["url"]), format!("`{url}` is not a URL"))
                .help("write `https://…`");
        }
    }
    if semver::parse_tolerant(text(spec, "version")).ok().is_none_or(|version| version == Version::new(0, 0, 0)) {
        findings.error("hub-version", &place(csv, &["spec", "version"]), "`spec.version` is not set");
    }
    icon(bundle, findings);
}

fn icon(bundle: &Bundle, findings: &mut Findings) {
    let span = place(&bundle.csv().node, &["spec", "icon"]);
    let Some(list) = bundle.spec().get("icon").filter(|list| !list.is_null()) else {
        findings.warning("hub-icon", &span, "`spec.icon` is not set");
        return;
    };
    if list.items().len() != 1 {
        findings.error("hub-icon", &span, format!("`spec.icon` has {} images, and must have one", list.items().len()));
    }
    let Some(icon) = list.items().first() else { return };
    let media_type = text(icon, "mediatype");
    if media_type.is_empty() || text(icon, "base64data").is_empty() {
        findings.error("hub-icon", &head(icon), "the icon has `base64data` and a `mediatype`");
    }
    if !media_type.is_empty() && !["image/gif", "image/jpeg", "image/png", "image/svg+xml"].contains(&media_type) {
        let help = "use `image/svg+xml`, `image/png`, `image/jpeg` or `image/gif`";
        let message = format!("OperatorHub.io does not show icons of the type `{media_type}`");
        findings.error("hub-icon", &place(icon, &["mediatype"]), message).help(help);
    }
}

pub fn capabilities(bundle: &Bundle, findings: &mut Findings) {
    const LEVELS: [&str; 5] = ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"];
    let Some(annotation) = bundle.csv_annotation("capabilities") else { return };
    let level = annotation.as_text().unwrap_or_default();
    if !LEVELS.contains(&level) {
        let message = format!("`{level}` is not a level of the operator maturity model");
        findings
            .error("capabilities", &annotation.span, message)
            .help(format!("the levels are: {}", LEVELS.join(", ")));
    }
}

/// The categories of OperatorHub.io.
pub const CATEGORIES: [&str; 16] = [
    "AI/Machine Learning",
    "Application Runtime",
    "Big Data",
    "Cloud Provider",
    "Developer Tools",
    "Database",
    "Integration & Delivery",
    "Logging & Tracing",
    "Monitoring",
    "Modernization & Migration",
    "Networking",
    "OpenShift Optional",
    "Security",
    "Storage",
    "Streaming & Messaging",
    "Observability",
];

/// `others` replace the standard categories.
pub fn categories(bundle: &Bundle, others: Option<&[String]>, findings: &mut Findings) {
    let Some(annotation) = bundle.csv_annotation("categories") else { return };
    let known: Vec<&str> =
        others.map_or_else(|| CATEGORIES.to_vec(), |others| others.iter().map(String::as_str).collect());
    for category in annotation.as_text().unwrap_or_default().split(',').map(str::trim) {
        if !known.contains(&category) {
            let message = format!("`{category}` is not a category of OperatorHub.io");
            findings
                .error("categories", &annotation.span, message)
                .help(format!("the categories are: {}", known.join(", ")));
        }
    }
}

/// `name@host`, or `Name <name@host>`. Source: RFC 5322, without comments and folded lines.
fn is_address(text: &str) -> bool {
    let text = text.trim();
    let address = match text.strip_suffix('>') {
        Some(rest) => match rest.rsplit_once('<') {
            Some((name, address)) if !name.contains(['<', '>', '@', ',', '(', ')', ':', ';', '\\', '[', ']']) => {
                address
            }
            _ => return false,
        },
        None => text,
    };
    let is_atom = |atom: &str| {
        !atom.is_empty()
            && atom.chars().all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || c as u32 > 127)
    };
    let Some((local, host)) = address.rsplit_once('@') else { return false };
    let is_quoted =
        local.len() > 2 && local.starts_with('"') && local.ends_with('"') && !local[1..local.len() - 1].contains('"');
    let is_literal = host.starts_with('[') && host.ends_with(']') && host.len() > 2;
    (is_quoted || local.split('.').all(is_atom)) && (is_literal || host.split('.').all(is_atom))
}

/// `true` for URLs that Go's `url.ParseRequestURI` accepts: an absolute URL, or an absolute path.
fn is_url(text: &str) -> bool {
    let is_printable = text.chars().all(|c| !c.is_control() && c != ' ');
    let has_sound_escapes =
        text.split('%').skip(1).all(|rest| rest.len() >= 2 && rest.bytes().take(2).all(|b| b.is_ascii_hexdigit()));
    if !is_printable || !has_sound_escapes {
        return false;
    }
    if text.starts_with('/') {
        return true;
    }
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let host = rest.strip_prefix("//").map(|rest| rest.split(['/', '?']).next().unwrap_or_default());
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let is_host = |host: &str| {
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        match host.strip_prefix('[') {
            Some(rest) => rest
                .split_once(']')
                .is_some_and(|(_, port)| port.is_empty() || port.strip_prefix(':').is_some_and(is_port)),
            None => {
                host.split_once(':').is_none_or(|(_, port)| is_port(port))
                    && !host.contains(['<', '>', '"', '\\', '^', '`', '{', '|', '}'])
            }
        }
    };
    is_scheme
        && match host {
            Some(host) => is_host(host),
            // Opaque URLs, such as `mailto:`, are rejected.
            None => rest.starts_with('/'),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_urls_are_those_that_go_parses() {
        for text in ["a@b", "a.b+c@example.com", "Jane Doe <jane@example.com>", "\"a b\"@c"] {
            assert!(is_address(text), "{text}");
        }
        for text in ["", "a", "a@", "@b", "a b@c", "a@b@c", "jane <a@b", "a..b@c", "a@b,c@d"] {
            assert!(!is_address(text), "{text}");
        }
        for text in ["https://example.com", "http://a:80/b?c=%20", "/path", "https://[::1]:80/", "file:///a"] {
            assert!(is_url(text), "{text}");
        }
        for text in ["", "example.com", "a b", "https://a b", "https://a:b", "mailto:a@b", "://a", "https://a/%zz"] {
            assert!(!is_url(text), "{text}");
        }
    }
}
