//! Files that exist but cannot be read. Their content would be missing from the output, so they are errors, each with
//! its cause and a fix.

use std::fmt;
use std::io::{self, ErrorKind};

use crate::diagnostic::{Diagnostic, SourceFile, Span};
use crate::diagnostics::{OP031, OP032};

#[derive(Debug, thiserror::Error)]
#[error("cannot read `{path}`: {source}")]
pub struct ReadError {
    pub path: String,
    pub source: io::Error,
}

/// The first byte of a file that is not UTF-8, and the position of its replacement in the lossily decoded text.
#[derive(Debug)]
struct NotUtf8 {
    byte: u8,
    offset: usize,
    at: Span,
}

impl fmt::Display for NotUtf8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.at.line_column();
        let Self { byte, offset, .. } = self;
        write!(f, "it is not UTF-8: line {line}, column {column} is the byte 0x{byte:02x} (offset {offset})")
    }
}

impl std::error::Error for NotUtf8 {}

/// Decodes the text of a file. Errors quote a line of it, unless a link leads out of the project: that text may not be
/// meant for readers of the messages.
pub fn decode(path: &str, bytes: Vec<u8>, is_inside: impl FnOnce() -> bool) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        if !is_inside() {
            return io::Error::new(ErrorKind::InvalidData, "it is outside of the project, and not UTF-8");
        }
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.into_bytes();
        let file = SourceFile::new(path, String::from_utf8_lossy(&bytes));
        let range = offset..offset + char::REPLACEMENT_CHARACTER.len_utf8();
        io::Error::new(ErrorKind::InvalidData, NotUtf8 { byte: bytes[offset], offset, at: Span { file, range } })
    })
}

impl ReadError {
    /// `true` if the file is not text, or too large. This is no error for files of any type.
    pub fn is_binary(&self) -> bool {
        matches!(self.source.kind(), ErrorKind::InvalidData | ErrorKind::FileTooLarge)
    }

    fn not_utf8(&self) -> Option<&NotUtf8> {
        self.source.get_ref()?.downcast_ref()
    }

    fn help(&self) -> String {
        let path = &self.path;
        match self.source.kind() {
            ErrorKind::PermissionDenied => {
                format!("allow reading it, and searching the folders around it: `chmod u+rX {path}`")
            }
            ErrorKind::IsADirectory => "move the folder away: opctl reads a file of this name".into(),
            ErrorKind::NotFound => "fix the symbolic link, or remove it".into(),
            _ => "replace it by a file that can be read, or remove it".into(),
        }
    }
}

impl From<ReadError> for Diagnostic {
    fn from(error: ReadError) -> Self {
        Self::from(&error)
    }
}

impl From<&ReadError> for Diagnostic {
    fn from(error: &ReadError) -> Self {
        match error.not_utf8() {
            Some(NotUtf8 { byte, offset, at }) => OP032
                .error(format!("`{}` is not UTF-8", error.path))
                .at(at.clone(), format!("the byte 0x{byte:02x}, at offset {offset}"))
                .help("save the file as UTF-8"),
            None => OP031.error(error.to_string()).help(error.help()),
        }
    }
}

/// `true` for the codes of unreadable files. Their declarations are unknown, so nothing may be written or deleted.
pub fn is_unreadable(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code, OP031 | OP032)
}
