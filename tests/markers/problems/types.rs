// Values that are not of their argument's type.

// +kubebuilder:webhookconfiguration:mutating=yes
// +kubebuilder:webhookconfiguration:mutating="true"
// +kubebuilder:webhookconfiguration:mutating=true;false
// +kubebuilder:webhookconfiguration:mutating={a: b}
// +kubebuilder:webhookconfiguration:mutating={true}
// +kubebuilder:webhookconfiguration:mutating=
// +kubebuilder:webhookconfiguration:mutating=true,name=a b
// +kubebuilder:webhookconfiguration:mutating=true,name=a;b
// +kubebuilder:webhookconfiguration:mutating=true,name="",mutating=false
// +kubebuilder:webhook:timeoutSeconds=ten
// +kubebuilder:webhook:timeoutSeconds="10"
// +kubebuilder:webhook:timeoutSeconds=10s
// +kubebuilder:webhook:timeoutSeconds=1.5
// +kubebuilder:webhook:timeoutSeconds=+5
// +kubebuilder:webhook:timeoutSeconds=99999999999999999999
// +kubebuilder:webhook:failurePolicy=fial
// +kubebuilder:webhook:failurePolicy=Abort
// +kubebuilder:webhook:verbs=create;udpate
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs={{get},list}
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs={get;list,watch}
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs={}
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs={get: list}
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,namespace={a: {b: c}}
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,extra={a: {b: c}}
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,namespace={"a": b
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;;list
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs="get"list
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=`get
