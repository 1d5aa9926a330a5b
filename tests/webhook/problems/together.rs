// +kubebuilder:webhookconfiguration:mutating=false,name=a
// +kubebuilder:webhookconfiguration:mutating=false,name=b
// +kubebuilder:webhookconfiguration:mutating=true,name=c
// +kubebuilder:webhook:mutating=false,path=/a,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=a.example.com,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,path=/b,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=a.example.com,sideEffects=None,admissionReviewVersions=v1
