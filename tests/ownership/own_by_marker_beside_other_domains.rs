kind Widget acme.io
kind Lever acme.io
// +opctl:owned
kind Gadget partner.dev
kind Gizmo gizmos.partner.dev
kind Other other.dev
