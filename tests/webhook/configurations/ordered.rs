//! Webhooks are in order of their names, whatever that of their markers.

// +kubebuilder:webhook:mutating=false,path=/c,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=c.example.com,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,path=/a,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=a.example.com,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=true,path=/b,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=b.example.com,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,path=/b,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=b.example.com,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=false,path=/a-b,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=a-b.example.com,sideEffects=None,admissionReviewVersions=v1
