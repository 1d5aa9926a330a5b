//! The licence of a new project: the header of its source files, its LICENSE, and its name in Cargo.toml.

use super::error::Refusal;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct License {
    /// Without comment signs; empty: none.
    pub header: String,
    /// The text of the LICENSE file.
    pub text: Option<String>,
    pub spdx: Option<&'static str>,
}

impl License {
    /// `apache2`, `mit`, `none`, or the path of a file whose text becomes the header.
    pub fn new(choice: &str, owner: &str, owner_said: bool) -> Result<Self, Refusal> {
        let copyright = format!("Copyright {owner}");
        let tagged = |spdx: &str| format!("{copyright}\nSPDX-License-Identifier: {spdx}");
        match choice {
            "apache2" => Ok(Self {
                header: tagged("Apache-2.0"),
                text: Some(include_str!("license/apache2.txt").to_owned()),
                spdx: Some("Apache-2.0"),
            }),
            "mit" => Ok(Self {
                header: tagged("MIT"),
                text: Some(include_str!("license/mit.txt").replace("[copyright]", &copyright)),
                spdx: Some("MIT"),
            }),
            "none" if owner_said => Ok(Self { header: copyright, ..Self::default() }),
            "none" => Ok(Self::default()),
            path => Self::from_file(path),
        }
    }

    fn from_file(path: &str) -> Result<Self, Refusal> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Refusal::new(format!("cannot read the licence header `{path}`: {error}"))
                .help("say `--license apache2`, `mit` or `none`, or the path of a text file")
        })?;
        Ok(Self { header: without_comment_signs(&text), ..Self::default() })
    }
}

/// The text of a header that may come as a comment of Rust or Go.
fn without_comment_signs(text: &str) -> String {
    let lines = text.trim().lines().map(str::trim_end);
    let bare = lines.map(|line| {
        let line = line.strip_prefix("//").map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest));
        let line = line.strip_prefix("/*").map_or(line, str::trim_start);
        line.strip_suffix("*/").map_or(line, str::trim_end)
    });
    bare.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_may_come_as_a_comment() {
        for text in ["A\n\nB\n", "// A\n//\n// B\n", "/*\nA\n\nB\n*/\n", "/* A\n\nB */"] {
            assert_eq!(without_comment_signs(text), "A\n\nB", "{text}");
        }
    }
}
