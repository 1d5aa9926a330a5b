//! Every way to write a marker.

// +kubebuilder:webhook:admissionReviewVersions = {v1, v1beta1} , mutating=false , path="/a", failurePolicy = Fail,groups={a,"b"},resources=`as`; "bs" ,verbs=CREATE;uPdate,versions="v1",name=a.example.com,sideEffects=none
// +kubebuilder:webhook:mutating=false,path=/b,failurePolicy=fail,groups=a,\
//     resources=as,verbs=create,versions=v1,name=b.example.com,sideEffects=None,\
//     admissionReviewVersions=v1
