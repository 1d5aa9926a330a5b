kind Widget acme.io namespaced
kind Certificate cert-manager.io namespaced
kind HTTPRoute gateway.networking.k8s.io namespaced plural="httproutes"
kind HelmRelease helm.toolkit.fluxcd.io namespaced
