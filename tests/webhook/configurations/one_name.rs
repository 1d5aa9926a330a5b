//! Only one of the two configurations, with the name that it has anyway.

// +kubebuilder:webhookconfiguration:mutating=true
// +kubebuilder:webhook:mutating=true,path=/a,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=a.example.com,sideEffects=None,admissionReviewVersions=v1
