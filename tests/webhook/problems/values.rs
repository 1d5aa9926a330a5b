// +kubebuilder:webhook:mutating=true,path=a,timeoutSeconds=40,failurePolicy=fail,groups=a/v1,resources=Deployment,verbs=create;*,versions=1,name=example.com,sideEffects=None,admissionReviewVersions=v2
// +kubebuilder:webhook:mutating=true,path=/A_b,timeoutSeconds=-1,failurePolicy=fail,groups=a;*,resources=pods/a/b;pods;*,verbs=create;create,versions=v1;*,name=B.example.com,sideEffects=None,admissionReviewVersions=v1;v1
// +kubebuilder:webhook:mutating=true,url="http://a",failurePolicy=fail,groups=A_b,resources=pods/status;pods/*;*/*,verbs=create,versions=v1,name=a.example.com,sideEffects=None,admissionReviewVersions=V1
// +kubebuilder:webhook:mutating=true,url="https://me@a/b",failurePolicy=fail,groups=a,resources=pods/,verbs=create,versions=v1,name=b.example.com,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=true,url="https://a/b?c",failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=c.example.com,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:mutating=true,path=/a,servicePort=0,failurePolicy=fail,groups=a,resources=as,verbs=create,versions=v1,name=d.example.com,sideEffects=None,admissionReviewVersions=v1
// +opctl:conversion:group=example.com,kind=A,path=convert,conversionReviewVersions=v2
