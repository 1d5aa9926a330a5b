//! Digests of files and values, to detect changes.

use std::path::Path;
use std::{fs, io};

use ring::digest::{Context as Sha256, SHA256};
use serde_json::Value;

/// The first 32 hexadecimal digits of the SHA-256 of `parts`: short enough for the value of a label (63 characters).
pub(crate) fn digest<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut sum = Sha256::new(&SHA256);
    for part in parts {
        let part = part.as_ref();
        sum.update(&(part.len() as u64).to_le_bytes());
        sum.update(part);
    }
    sum.finish().as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The files below a folder with their contents, sorted by relative path, which is separated by `/`.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    collect(folder, "", &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match fs::metadata(entry.path())?.is_dir() {
            true => collect(&entry.path(), &format!("{path}/"), files)?,
            false => files.push((path, fs::read(entry.path())?)),
        }
    }
    Ok(())
}

/// Renders JSON with sorted keys, so that equal values give equal text.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields =
                fields.into_iter().map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical(value)));
            format!("{{{}}}", Vec::from_iter(fields).join(","))
        }
        Value::Array(items) => format!("[{}]", Vec::from_iter(items.iter().map(canonical)).join(",")),
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_count() {
        let [one, other] =
            [r#"{"b": {"d": 1, "c": [true, null]}, "a": "x"}"#, r#"{"a": "x", "b": {"c": [true, null], "d": 1}}"#];
        let [one, other] = [one, other].map(|text| canonical(&serde_json::from_str(text).unwrap()));
        assert_eq!(one, other);
        assert_eq!(one, r#"{"a":"x","b":{"c":[true,null],"d":1}}"#);
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
    }
}
