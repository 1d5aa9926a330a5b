kind Widget acme.io
kind Lever acme.io
kind Gadget partner.dev
