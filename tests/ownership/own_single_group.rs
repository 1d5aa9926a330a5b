kind Widget acme.io
kind Gadget acme.io
