//! A vendored folder: files that opctl wrote as a whole, next to a list of their checksums. The list shows which of
//! them were edited since; `sha256sum --check SHA256SUMS` can read it.
//!
//! A folder without this list belongs to the user.

use std::collections::BTreeMap;
use std::fmt::Write;

use ring::digest::{SHA256, digest};

use super::{Change, Plan};

/// The name of the list.
pub const SUMS: &str = "SHA256SUMS";

/// Checksums by path, relative to the folder of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums(pub BTreeMap<String, String>);

impl Sums {
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.to_owned(), checksum(text))).collect())
    }

    /// `None` for invalid text.
    pub fn parse(text: &str) -> Option<Self> {
        let line = |line: &str| {
            let (sum, path) = line.split_once("  ")?;
            let is_sum = sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_sum.then(|| (path.to_owned(), sum.to_owned()))
        };
        text.lines().map(line).collect::<Option<_>>().map(Self)
    }

    pub fn text(&self) -> String {
        self.0.iter().map(|(path, sum)| format!("{sum}  {path}\n")).collect()
    }
}

impl Plan {
    /// Makes `folder` contain these files, given by path relative to it. `written` is the current list of checksums in
    /// the folder: listed files that are no longer needed are removed.
    pub fn vendor(&mut self, folder: &str, files: &[(&str, &str)], written: Option<&str>) {
        let new = Sums::of(files.iter().copied());
        let old = written.and_then(Sums::parse);
        let list = old.as_ref().and(written).map(checksum);
        let mut old = old.unwrap_or_default().0;
        let mut put = |path: &str, text: Option<String>, written: Option<String>| {
            let change = Change::Vendor { folder: folder.into(), text, written };
            self.put(format!("{folder}/{path}"), change);
        };
        for (path, text) in files {
            put(path, Some((*text).into()), old.remove(*path));
        }
        put(SUMS, Some(new.text()), list);
        for (path, sum) in old {
            put(&path, None, Some(sum));
        }
    }
}

/// SHA-256 in hexadecimal. CRLF counts as LF, because a checkout on Windows may convert line endings.
pub fn checksum(text: &str) -> String {
    let unix;
    let text = if text.contains('\r') {
        unix = text.replace("\r\n", "\n");
        &unix
    } else {
        text
    };
    checksum_of_bytes(text.as_bytes())
}

/// SHA-256 in hexadecimal, of a file that need not be text.
pub fn checksum_of_bytes(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a String takes everything");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_that_of_sha256sum() {
        let sums = Sums::of([("src/lib.rs", "hello\n"), ("a", "")]);
        assert_eq!(
            sums.text(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n\
             5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03  src/lib.rs\n"
        );
        assert_eq!(Sums::parse(&sums.text()), Some(sums));
        assert_eq!(Sums::parse("hello"), None);
        assert_eq!(checksum("a\r\nb\r\n"), checksum("a\nb\n"));
    }
}
