kind Widget acme.io
kind Deployment apps namespaced
