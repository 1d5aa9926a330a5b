//! Checks the size of a CRD against the limits of `kubectl apply`, which stores a copy in an annotation, and of etcd.

use std::io::{self, Write};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::Finding;
use crate::apiserver::diagnostics::{OP330, OP331};
use opctl_model::CrdLocation;

/// Maximum size of all annotations, in bytes. Source: `TotalAnnotationSizeLimitB` of apimachinery.
const OF_ANNOTATIONS: usize = 256 << 10;
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Default maximum size of a request to etcd, in bytes.
const OF_ETCD: usize = 1536 << 10;

pub fn check(crd: &CustomResourceDefinition) -> Option<Finding> {
    let mut json = Serializer::with_formatter(Count::default(), Go);
    crd.serialize(&mut json).expect("a CRD is JSON, and counting does not fail");
    let Count(size) = json.into_inner();
    let annotations = crd.metadata.annotations.iter().flatten();
    let others: usize = annotations.map(|(key, value)| key.len() + value.len()).sum();
    // kubectl adds `"annotations":{},` if there are none, and a trailing newline.
    let applied = size + 1 + if others == 0 { 17 } else { 0 };
    if size > OF_ETCD {
        let message = format!("the CRD has {size} bytes as JSON, more than the 1.5 MiB that etcd takes");
        return Some(smaller(Finding::error(OP331, CrdLocation::Kind, message)));
    }
    if LAST_APPLIED.len() + applied + others > OF_ANNOTATIONS {
        let message = format!(
            "the CRD has {size} bytes as JSON, too many for `kubectl apply`, which keeps a copy in an annotation"
        );
        let finding = Finding::warning(OP330, CrdLocation::Kind, message);
        return Some(smaller(finding.help("apply it with `kubectl apply --server-side`")));
    }
    None
}

fn smaller(finding: Finding) -> Finding {
    finding.help("make it smaller with `opctl manifests --no-foreign-descriptions` or `--max-description N`")
}

/// Counts the bytes of Go's JSON: `<`, `>` and `&` are escaped, whole numbers have no decimal point.
#[derive(Default)]
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Go;

impl Formatter for Go {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let escaped = fragment.bytes().filter(|byte| matches!(byte, b'<' | b'>' | b'&')).count();
        writer.write_all(fragment.as_bytes())?;
        writer.write_all(&b"u003c".repeat(escaped))
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value}")
    }
}
