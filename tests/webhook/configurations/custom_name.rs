// +kubebuilder:webhookconfiguration:mutating=true,name=defaults
// +kubebuilder:webhookconfiguration:mutating=false,name="rules.example.com"

// +kubebuilder:webhook:mutating=false,path=/a,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=a.example.com,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=true,path=/a,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=a.example.com,sideEffects=None,admissionReviewVersions=v1
