kind Widget store.acme.io
kind Gadget partner.dev
kind Issuer cert-manager.io
kind Listed listed.dev
//- PROJECT
domain: acme.io
layout:
- opctl/v1
projectName: oracle
resources:
- {api: {crdVersion: v1, namespaced: true}, domain: acme.io, group: store, kind: Widget, path: "crate", version: v1}
- {domain: dev, external: true, group: listed, kind: Listed, path: "crate::Listed", version: v1}
version: "3"
