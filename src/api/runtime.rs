//! The crate `opctl-runtime` in a folder: vendored by opctl, or the user's.

use semver::Version;

use crate::scaffold::Runtime;
use opctl_edit::plan::SUMS;
use opctl_model::project::{Manifest, ReadError, Tree, join};

/// A copy of the runtime.
pub struct Copy {
    pub version: String,
    /// The list of checksums; without one, the copy is the user's.
    pub sums: Option<String>,
}

impl Copy {
    pub fn read(tree: &Tree, folder: &str) -> Result<Option<Self>, ReadError> {
        let manifest = Manifest::read(tree, folder)?;
        let Some((Runtime::PACKAGE, version)) = manifest.as_ref().and_then(Manifest::package) else { return Ok(None) };
        Ok(Some(Self { version: version.into(), sums: tree.read(&join(folder, SUMS))? }))
    }

    /// The copy is newer than the runtime of this opctl.
    pub fn is_newer(&self) -> bool {
        Version::parse(&self.version).ok() > Version::parse(&Runtime::embedded().version).ok()
    }
}
