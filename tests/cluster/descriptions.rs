//! A CRD with a PodTemplateSpec, with and without the descriptions of Kubernetes' types.

use crate::control_plane::ControlPlane;
use crate::pod_template::{crd, text};

#[test]
fn the_api_server_accepts_both() {
    let Some(cluster) = ControlPlane::start("descriptions", 0) else { return };
    let (whole, short) = (text(&crd(true)), text(&crd(false)));
    cluster.kubectl(&["create", "-f", "-"], &whole);
    cluster.kubectl(&["delete", "-f", "-"], &whole);
    // Client-side apply, kubectl's default, stores the whole object in an annotation.
    let refused = cluster.run(&["apply", "-f", "-"], &whole);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("may not be more than 262144 bytes"), "{said}");
    cluster.kubectl(&["apply", "-f", "-"], &short);
}
