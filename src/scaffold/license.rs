//! The license of a generated project: the header of its files, and LICENSE.

use serde::Serialize;

use super::{File, bundle};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum License {
    Apache2,
    Mit,
    None,
    /// The text of a user's header file, with or without comment signs.
    Header(String),
}

impl License {
    /// The SPDX expression, if it is known.
    pub fn spdx(&self) -> Option<&'static str> {
        match self {
            Self::Apache2 => Some("Apache-2.0"),
            Self::Mit => Some("MIT"),
            Self::None | Self::Header(_) => None,
        }
    }
}

/// The SPDX expression that corresponds to an existing one in Cargo.toml.
pub fn spdx(known: Option<&str>) -> Option<&'static str> {
    [License::Apache2, License::Mit].iter().filter_map(License::spdx).find(|spdx| known == Some(spdx))
}

/// The header, without comment signs and possibly empty, and the file LICENSE. They contain no year: output must not
/// depend on the clock, and a copyright notice needs none.
pub fn license(license: &License, owner: &str) -> (String, Option<File>) {
    let bundle = match license {
        License::Apache2 => "license/apache2",
        License::Mit => "license/mit",
        License::None => return (String::new(), None),
        License::Header(text) => return (without_comment_signs(text), None),
    };
    let mut files = bundle::render(bundle, &Owner { owner }, &[]);
    let header = files.remove(files.iter().position(|file| file.path == "header.txt").expect("each license has one"));
    (header.text.trim().to_owned(), files.pop())
}

#[derive(Serialize)]
struct Owner<'a> {
    owner: &'a str,
}

/// `text` as the comment at the start of a file with this name; `None` for files without comments.
pub fn comment(path: &str, text: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let sign = match name.rsplit_once('.') {
        Some((_, "rs")) => "//",
        Some((_, "yaml" | "yml" | "toml" | "sh")) => "#",
        None if name == "Makefile" || name == "Dockerfile" => "#",
        _ => return None,
    };
    Some(text.lines().map(|line| format!("{sign} {line}").trim_end().to_owned() + "\n").collect())
}

/// Removes `/* … */` with its ` * `, or a `//` or `#` before every line.
fn without_comment_signs(text: &str) -> String {
    let text = text.trim();
    let lines: Vec<&str> = match text.strip_prefix("/*").and_then(|text| text.strip_suffix("*/")) {
        Some(block) => block.trim_matches('*').lines().map(|line| strip(line.trim_start(), "*")).collect(),
        None => {
            let commented = |sign| text.lines().all(|line| line.is_empty() || line.starts_with(sign));
            let sign = ["///", "//", "#"].into_iter().find(|sign| commented(*sign)).unwrap_or("");
            text.lines().map(|line| strip(line, sign)).collect()
        }
    };
    lines.join("\n").trim().to_owned()
}

fn strip<'a>(line: &'a str, sign: &str) -> &'a str {
    match line.strip_prefix(sign) {
        Some(rest) if !sign.is_empty() => rest.strip_prefix(' ').unwrap_or(rest).trim_end(),
        _ => line.trim_end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_users_lose_their_comment_signs() {
        for text in ["/*\nA\n\nB\n*/\n", "/*\n * A\n *\n * B\n */", "// A\n//\n// B\n", "# A\n\n# B", "A\n\nB\n"] {
            assert_eq!(license(&License::Header(text.into()), "").0, "A\n\nB", "{text}");
        }
    }

    #[test]
    fn names_the_owner_and_no_year() {
        for each in [License::Apache2, License::Mit] {
            let (header, file) = license(&each, "The Example Authors");
            assert!(header.starts_with("Copyright The Example Authors"), "{header}");
            assert!(file.is_some_and(|file| file.path == "LICENSE"));
        }
        assert_eq!(license(&License::None, ""), (String::new(), None));
    }

    #[test]
    fn comments_fit_the_language() {
        assert_eq!(comment("src/main.rs", "A\n\nB").as_deref(), Some("// A\n//\n// B\n"));
        assert_eq!(comment("Makefile", "A").as_deref(), Some("# A\n"));
        assert_eq!(comment("README.md", "A"), None);
    }
}
