kind Widget acme.io
// +opctl:external
kind Gadget partner.dev
// +opctl:external
kind Certificate cert-manager.io
