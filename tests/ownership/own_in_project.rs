kind Widget store.acme.io
kind Unlisted acme.io
kind Gadget store.partner.dev
//- PROJECT
domain: acme.io
layout:
- opctl/v1
projectName: oracle
resources:
- {api: {crdVersion: v1, namespaced: true}, domain: acme.io, group: store, kind: Widget, path: "crate", version: v1}
- {api: {crdVersion: v1, namespaced: true}, domain: partner.dev, group: store, kind: Gadget, path: "crate", version: v1}
version: "3"
