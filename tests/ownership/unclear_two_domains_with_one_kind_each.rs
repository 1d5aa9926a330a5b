kind Widget acme.io
kind Gadget partner.dev
