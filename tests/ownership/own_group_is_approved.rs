kind Widget acme.io
kind Gadget gadgets.x-k8s.io annotation("api-approved.kubernetes.io","https://github.com/kubernetes/enhancements/pull/1111")
