kind Widget acme.io
// +opctl:owned
kind Gadget partner.dev
// +opctl:owned
kind Certificate cert-manager.io
