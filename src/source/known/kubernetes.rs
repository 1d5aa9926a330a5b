//! The types of k8s-openapi 0.29 for Kubernetes 1.37, whose schemas are asked of the linked crate itself.
//!
//! Left out are `JSONSchemaProps` and what holds one: they are recursive, and no CRD can say that.

use serde_json::Value;

use super::{Known, schema_of};

type Type = (&'static str, Known, Option<fn() -> Value>);

/// `HasDefault::<T>::DEFAULT` is the default of a type that has one: an inherent constant wins over a trait's.
struct HasDefault<T>(std::marker::PhantomData<T>);

impl<T: Default + serde::Serialize> HasDefault<T> {
    const DEFAULT: Option<fn() -> Value> =
        Some(|| serde_json::to_value(T::default()).expect("the types of Kubernetes are JSON"));
}

trait NoDefault {
    const DEFAULT: Option<fn() -> Value> = None;
}

impl<T> NoDefault for HasDefault<T> {}

macro_rules! types {
    ($($module:tt: $($name:ident)*;)*) => {
        /// Types by module: the module's path, and its types' names with their schemas and default values.
        pub(super) const MODULES: &[(&str, &[Type])] = &[$(types!(@ $module $($name)*)),*];
    };
    (@ [$($module:ident)::+] $($name:ident)*) => {
        (
            concat!("k8s_openapi" $(, "::", stringify!($module))+),
            &{
                use k8s_openapi::$($module)::+::*;
                [$((stringify!($name), schema_of::<$name> as Known, HasDefault::<$name>::DEFAULT)),*]
            },
        )
    };
}

types! {
    [api::admissionregistration::v1]:
        ApplyConfiguration AuditAnnotation ExpressionWarning JSONPatch MatchCondition MatchResources
        MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingAdmissionPolicyBindingSpec
        MutatingAdmissionPolicySpec MutatingWebhook MutatingWebhookConfiguration Mutation NamedRuleWithOperations
        ParamKind ParamRef RuleWithOperations ServiceReference TypeChecking ValidatingAdmissionPolicy
        ValidatingAdmissionPolicyBinding ValidatingAdmissionPolicyBindingSpec ValidatingAdmissionPolicySpec
        ValidatingAdmissionPolicyStatus ValidatingWebhook ValidatingWebhookConfiguration Validation Variable
        WebhookClientConfig;
    [api::apps::v1]:
        ControllerRevision DaemonSet DaemonSetCondition DaemonSetSpec DaemonSetStatus DaemonSetUpdateStrategy
        Deployment DeploymentCondition DeploymentSpec DeploymentStatus DeploymentStrategy ReplicaSet
        ReplicaSetCondition ReplicaSetSpec ReplicaSetStatus RollingUpdateDaemonSet RollingUpdateDeployment
        RollingUpdateStatefulSetStrategy StatefulSet StatefulSetCondition StatefulSetOrdinals
        StatefulSetPersistentVolumeClaimRetentionPolicy StatefulSetSpec StatefulSetStatus StatefulSetUpdateStrategy;
    [api::authentication::v1]:
        BoundObjectReference SelfSubjectReview SelfSubjectReviewStatus TokenRequest TokenRequestSpec
        TokenRequestStatus TokenReview TokenReviewSpec TokenReviewStatus UserInfo;
    [api::authorization::v1]:
        FieldSelectorAttributes LabelSelectorAttributes LocalSubjectAccessReview NonResourceAttributes
        NonResourceRule ResourceAttributes ResourceRule SelfSubjectAccessReview SelfSubjectAccessReviewSpec
        SelfSubjectRulesReview SelfSubjectRulesReviewSpec SubjectAccessReview SubjectAccessReviewSpec
        SubjectAccessReviewStatus SubjectRulesReviewStatus;
    [api::autoscaling::v1]:
        CrossVersionObjectReference HorizontalPodAutoscaler HorizontalPodAutoscalerSpec HorizontalPodAutoscalerStatus
        Scale ScaleSpec ScaleStatus;
    [api::autoscaling::v2]:
        ContainerResourceMetricSource ContainerResourceMetricStatus CrossVersionObjectReference ExternalMetricSource
        ExternalMetricStatus HPAScalingPolicy HPAScalingRules HorizontalPodAutoscaler HorizontalPodAutoscalerBehavior
        HorizontalPodAutoscalerCondition HorizontalPodAutoscalerSpec HorizontalPodAutoscalerStatus MetricIdentifier
        MetricSpec MetricStatus MetricTarget MetricValueStatus ObjectMetricSource ObjectMetricStatus PodsMetricSource
        PodsMetricStatus ResourceMetricSource ResourceMetricStatus;
    [api::batch::v1]:
        CronJob CronJobSpec CronJobStatus Job JobCondition JobSchedulingConfiguration JobSpec JobStatus
        JobTemplateSpec PodFailurePolicy PodFailurePolicyOnExitCodesRequirement
        PodFailurePolicyOnPodConditionsPattern PodFailurePolicyRule SuccessPolicy SuccessPolicyRule
        UncountedTerminatedPods;
    [api::certificates::v1]:
        CertificateSigningRequest CertificateSigningRequestCondition CertificateSigningRequestSpec
        CertificateSigningRequestStatus ClusterTrustBundle ClusterTrustBundleSpec PodCertificateRequest
        PodCertificateRequestSpec PodCertificateRequestStatus;
    [api::coordination::v1]:
        Lease LeaseSpec;
    [api::core::v1]:
        AWSElasticBlockStoreVolumeSource Affinity AppArmorProfile AttachedVolume AzureDiskVolumeSource
        AzureFilePersistentVolumeSource AzureFileVolumeSource Binding CSIPersistentVolumeSource CSIVolumeSource
        Capabilities CephFSPersistentVolumeSource CephFSVolumeSource CinderPersistentVolumeSource CinderVolumeSource
        ClientIPConfig ClusterTrustBundleProjection ComponentCondition ComponentStatus ConfigMap ConfigMapEnvSource
        ConfigMapKeySelector ConfigMapNodeConfigSource ConfigMapProjection ConfigMapVolumeSource Container
        ContainerExtendedResourceRequest ContainerImage ContainerPort ContainerResizePolicy ContainerRestartRule
        ContainerRestartRuleOnExitCodes ContainerState ContainerStateRunning ContainerStateTerminated
        ContainerStateWaiting ContainerStatus ContainerUser DaemonEndpoint DownwardAPIProjection
        DownwardAPIVolumeFile DownwardAPIVolumeSource EmptyDirVolumeSource EndpointAddress EndpointPort
        EndpointSubset Endpoints EnvFromSource EnvVar EnvVarSource EphemeralContainer EphemeralVolumeSource Event
        EventSeries EventSource EvictionResponder ExecAction FCVolumeSource FileKeySelector
        FlexPersistentVolumeSource FlexVolumeSource FlockerVolumeSource GCEPersistentDiskVolumeSource GRPCAction
        GitRepoVolumeSource GlusterfsPersistentVolumeSource GlusterfsVolumeSource HTTPGetAction HTTPHeader HostAlias
        HostIP HostPathVolumeSource ISCSIPersistentVolumeSource ISCSIVolumeSource ImageVolumeSource ImageVolumeStatus
        KeyToPath Lifecycle LifecycleHandler LimitRange LimitRangeItem LimitRangeSpec LinuxContainerUser
        LoadBalancerIngress LoadBalancerStatus LocalObjectReference LocalVolumeSource ModifyVolumeStatus
        NFSVolumeSource Namespace NamespaceCondition NamespaceSpec NamespaceStatus Node NodeAddress NodeAffinity
        NodeAllocatableMappedResources NodeAllocatableOverheadResources NodeAllocatableResourceClaimStatus
        NodeCondition NodeConfigSource NodeConfigStatus NodeDaemonEndpoints NodeFeatures NodePodPreemptionPolicy
        NodeRuntimeHandler NodeRuntimeHandlerFeatures NodeSelector NodeSelectorRequirement NodeSelectorTerm NodeSpec
        NodeStatus NodeSwapStatus NodeSystemInfo ObjectFieldSelector ObjectReference PersistentVolume
        PersistentVolumeClaim PersistentVolumeClaimCondition PersistentVolumeClaimSpec PersistentVolumeClaimStatus
        PersistentVolumeClaimTemplate PersistentVolumeClaimVolumeSource PersistentVolumeSpec PersistentVolumeStatus
        PhotonPersistentDiskVolumeSource Pod PodAffinity PodAffinityTerm PodAntiAffinity PodCertificateProjection
        PodCondition PodDNSConfig PodDNSConfigOption PodExtendedResourceClaimStatus PodIP PodOS PodReadinessGate
        PodResourceClaim PodResourceClaimStatus PodSchedulingGate PodSchedulingGroup PodSecurityContext PodSpec
        PodStatus PodTemplate PodTemplateSpec PodVolumeHealth PortStatus PortworxVolumeSource PreferredSchedulingTerm
        Probe ProjectedVolumeSource QuobyteVolumeSource RBDPersistentVolumeSource RBDVolumeSource
        ReplicationController ReplicationControllerCondition ReplicationControllerSpec ReplicationControllerStatus
        ResourceClaim ResourceFieldSelector ResourceHealth ResourceQuota ResourceQuotaSpec ResourceQuotaStatus
        ResourceRequirements ResourceStatus SELinuxOptions ScaleIOPersistentVolumeSource ScaleIOVolumeSource
        ScopeSelector ScopedResourceSelectorRequirement SeccompProfile Secret SecretEnvSource SecretKeySelector
        SecretProjection SecretReference SecretVolumeSource SecurityContext Service ServiceAccount
        ServiceAccountTokenProjection ServicePort ServiceSpec ServiceStatus SessionAffinityConfig SleepAction
        StorageOSPersistentVolumeSource StorageOSVolumeSource Sysctl TCPSocketAction Taint Toleration
        TopologySelectorLabelRequirement TopologySelectorTerm TopologySpreadConstraint TypedLocalObjectReference
        TypedObjectReference Volume VolumeDevice VolumeHealthCondition VolumeHealthStatus VolumeMount
        VolumeMountStatus VolumeNodeAffinity VolumeProjection VolumeResourceRequirements VolumeStatus
        VsphereVirtualDiskVolumeSource WeightedPodAffinityTerm WindowsSecurityContextOptions;
    [api::discovery::v1]:
        Endpoint EndpointConditions EndpointHints EndpointPort EndpointSlice ForNode ForZone;
    [api::events::v1]:
        Event EventSeries;
    [api::networking::v1]:
        HTTPIngressPath HTTPIngressRuleValue IPAddress IPAddressSpec IPBlock Ingress IngressBackend IngressClass
        IngressClassParametersReference IngressClassSpec IngressLoadBalancerIngress IngressLoadBalancerStatus
        IngressPortStatus IngressRule IngressServiceBackend IngressSpec IngressStatus IngressTLS NetworkPolicy
        NetworkPolicyEgressRule NetworkPolicyIngressRule NetworkPolicyPeer NetworkPolicyPort NetworkPolicySpec
        ParentReference ServiceBackendPort ServiceCIDR ServiceCIDRSpec ServiceCIDRStatus;
    [api::node::v1]:
        Overhead RuntimeClass Scheduling;
    [api::policy::v1]:
        Eviction PodDisruptionBudget PodDisruptionBudgetSpec PodDisruptionBudgetStatus;
    [api::rbac::v1]:
        AggregationRule ClusterRole ClusterRoleBinding PolicyRule Role RoleBinding RoleRef Subject;
    [api::scheduling::v1]:
        PriorityClass;
    [api::storage::v1]:
        CSIDriver CSIDriverSpec CSINode CSINodeDriver CSINodeSpec CSINodeStatus CSIStorageCapacity StorageClass
        StorageHealth StorageHealthCondition TokenRequest VolumeAttachment VolumeAttachmentSource
        VolumeAttachmentSpec VolumeAttachmentStatus VolumeAttributesClass VolumeError VolumeNodeResources;
    [apiextensions_apiserver::pkg::apis::apiextensions::v1]:
        CustomResourceColumnDefinition CustomResourceConversion CustomResourceDefinitionCondition
        CustomResourceDefinitionNames CustomResourceDefinitionStatus CustomResourceSubresourceScale
        CustomResourceSubresourceStatus CustomResourceSubresources ExternalDocumentation JSON SelectableField
        ServiceReference ValidationRule WebhookClientConfig WebhookConversion;
    [apimachinery::pkg::api::resource]:
        Quantity;
    [apimachinery::pkg::apis::meta::v1]:
        APIGroup APIGroupList APIResource APIResourceList APIVersions Condition DeleteOptions
        FieldSelectorRequirement FieldsV1 GroupResource GroupVersionForDiscovery LabelSelector
        LabelSelectorRequirement ListMeta ManagedFieldsEntry MicroTime ObjectMeta OwnerReference Patch Preconditions
        ServerAddressByClientCIDR ShardInfo Status StatusCause StatusDetails Time;
    [apimachinery::pkg::runtime]:
        RawExtension;
    [apimachinery::pkg::util::intstr]:
        IntOrString;
}
