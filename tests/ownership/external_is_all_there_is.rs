kind Certificate cert-manager.io namespaced
