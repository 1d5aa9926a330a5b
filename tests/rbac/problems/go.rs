// Markers that only mean something on Go types.

/// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:items:MaxLength=3
// +kubebuilder:validation:XValidation:rule="self > 1",message="x"
// +kubebuilder:validation:Frob=1
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
// +kubebuilder:resource:path=memcacheds,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:storageversion
// +kubebuilder:object:root=true
// +kubebuilder:default=3
// +kubebuilder:scaffold:imports
// +kubebuilder:printcolum:name=Age
