//! Signatures of kube and opctl-runtime, and of the crates that operators use between their calls: declarations that
//! the rest of this folder reads, and that are never compiled.
//!
//! Each module in the root is a crate, and names in it are resolved as in any other code; `std::prelude` is imported
//! into every module. A function or type that is not declared here is of an unknown type, and makes no requests:
//! declare whatever passes on a request, or the type of its object. The supported syntax:
//!
//! - Structs with their type parameters, enums with their variants, aliases, `pub use`, inherent and trait impls with
//!   associated types, traits, free functions. Only fields whose type matters are declared; other structs have an
//!   empty body. References, lifetimes and `mut` mean nothing; `Send`, `'static` and other bounds are ignored.
//! - A parameter with `= _` is a phantom: code does not write it, it is inferred at each use of the type.
//! - `#[transparent]` on a struct: it is its first argument (`Arc<T>` is `T`); its functions are found by its name.
//! - Futures, streams and iterators are structs here: `impl Stream<Item = T>`, `dyn Stream<Item = T>` and similar
//!   bounds name their parameters. `.await` unwraps `Future`; a `for` iterates over the result of `into_iter`.
//! - `?` returns the first argument of `Result` and `Option`.
//! - The body of a function is empty, or a call of other functions that makes the same requests.
//! - `#[asks("list", "watch")]` on a function: a call makes requests with these verbs. They are for the parameter `K`
//!   unless `of = Other` names another one, in the namespaces of the parameter `Reach` unless `reach = Other` does.
//!   `subresource = "status"`; `group = "events.k8s.io", resource = "events"` instead of a kind; `optional` if some
//!   clusters or cases do not need it. `subresource = name` without quotes is the value of the argument with that
//!   name. `when = Way` is for a phantom parameter of a type: the request is made if the parameter is `Yes` or
//!   unclear, and not if it is `No`. `when = O::Writes` is an associated type of a parameter. `reach = some` is for
//!   requests in one unknown namespace, and `reach = cluster` for cluster-scoped resources.
//! - `#[reach(cluster)]`, `#[reach(some)]`, `#[reach(any)]`, `#[reach(namespace)]` on a function: the value of the
//!   parameter `Reach`: the whole cluster, a namespace, either of them, or the value of the argument with that name.
//! - `#[kind(group, kind)]` on a function: `Kind` is given by these two of its arguments; a third one is the plural.
//!   On a struct: its last parameter is given by these of its fields.
//! - `#[plural(Named, plural)]` on a function: `Kind` is the kind of the parameter `Named` with the plural of an
//!   argument.
//! - `#[kind_of(K)]` on a function: `Kind` is the kind of the parameter `K`; `#[kind_of()]`: one that only the API
//!   server knows.
//! - `#[says(Uri = uri)]`, `#[says(Method = "GET")]` on a function: this parameter is the string in an argument, or
//!   this string.
//! - `#[path(url)]` on a function: the argument is a path, which determines `K` and `Reach` if it is a string.
//! - `#[sends(request)]` on a function: it sends an HTTP request that was built elsewhere.
//! - `#[client]` on a struct: code with a value of it can make requests.
//! - `#[collects(C, Item)]` on a function: the elements of a `C` are `Item`s.
//! - `#[same_kind]` on a struct: its requests are for its first argument (`PartialObjectMeta<K>`).

// The crates that `kube` re-exports: code may depend on them, and a glob of `kube` leads into them.
mod kube_client {
    pub use kube::*;
}

mod kube_core {
    pub use kube::core::*;
}

mod kube_runtime {
    pub use kube::runtime::*;
}

mod kube {
    pub use self::api::Api;
    pub use self::client::Client;
    pub use self::config::Config;
    pub use self::core::{CustomResourceExt, Resource, ResourceExt};
    pub use self::discovery::Discovery;
    pub use self::error::Error;

    pub type Result<T, E> = std::result::Result<T, E>;

    /// Values of phantom parameters.
    pub struct Yes;
    pub struct No;

    pub mod prelude {
        pub use super::core::{CustomResourceExt, Resource, ResourceExt};
        pub use super::runtime::utils::WatchStreamExt;
    }

    pub mod error {
        pub struct Error;
        pub struct ErrorResponse;
    }

    pub mod config {
        pub struct Config;
        impl Config {
            pub async fn infer() -> Result<Self, Error> {}
            pub fn incluster() -> Result<Self, Error> {}
        }
    }

    pub mod client {
        pub use super::config::Config;
        use super::core::ObjectList;
        use super::error::Error;

        #[client]
        pub struct Client;
        impl Client {
            #[sends(request)]
            pub async fn send(&self, request: http::Request) -> Result<http::Response, Error> {}
            #[sends(request)]
            pub async fn connect(&self, request: http::Request) -> Result<WebSocketStream, Error> {}
            #[sends(request)]
            pub async fn request<T>(&self, request: http::Request) -> Result<T, Error> {}
            #[sends(request)]
            pub async fn request_text(&self, request: http::Request) -> Result<String, Error> {}
            #[sends(request)]
            pub async fn request_stream(&self, request: http::Request) -> Result<AsyncBufRead, Error> {}
            #[sends(request)]
            pub async fn request_status<T>(&self, request: http::Request) -> Result<Either<T, Status>, Error> {}
            #[sends(request)]
            pub async fn request_events<T>(
                &self,
                request: http::Request,
            ) -> Result<futures::Stream<Result<super::core::watch::WatchEvent<T>, Error>>, Error> {
            }
            // `Client` is also a service of tower.
            #[sends(request)]
            pub async fn call(&mut self, request: http::Request) -> Result<http::Response, Error> {}
            #[sends(request)]
            pub async fn oneshot(self, request: http::Request) -> Result<http::Response, Error> {}
            pub async fn ready(&mut self) -> Result<Self, Error> {}
            pub async fn ready_oneshot(self) -> Result<Self, Error> {}
            // Every authenticated user may use discovery.
            pub async fn apiserver_version(&self) -> Result<Info, Error> {}
            pub async fn list_api_groups(&self) -> Result<APIGroupList, Error> {}
            pub async fn list_api_groups_aggregated(&self) -> Result<APIGroupDiscoveryList, Error> {}
            pub async fn list_api_group_resources(&self, apiversion: &str) -> Result<APIResourceList, Error> {}
            pub async fn list_core_api_versions(&self) -> Result<APIVersions, Error> {}
            pub async fn list_core_api_versions_aggregated(&self) -> Result<APIGroupDiscoveryList, Error> {}
            pub async fn list_core_api_resources(&self, version: &str) -> Result<APIResourceList, Error> {}
            // These are requests to a kubelet, not to the API server.
            pub async fn kubelet_node_attach(
                &self,
                params: &KubeletDebugParams,
                container: &str,
                ap: &AttachParams,
            ) -> Result<AttachedProcess, Error> {
            }
            pub async fn kubelet_node_exec<I>(
                &self,
                params: &KubeletDebugParams,
                container: &str,
                command: I,
                ap: &AttachParams,
            ) -> Result<AttachedProcess, Error> {
            }
            pub async fn kubelet_node_logs(
                &self,
                params: &KubeletDebugParams,
                container: &str,
                lp: &LogParams,
            ) -> Result<AsyncBufRead, Error> {
            }
            pub async fn kubelet_node_portforward(
                &self,
                params: &KubeletDebugParams,
                ports: &[u16],
            ) -> Result<Portforwarder, Error> {
            }
            pub fn default_namespace(&self) -> String {}
            pub fn valid_until(&self) -> Option<Timestamp> {}

            pub fn new<S, T>(service: S, default_namespace: T) -> Self {}
            pub async fn try_default() -> Result<Self, Error> {}
            pub fn try_from<C>(config: C) -> Result<Self, Error> {}
            pub fn with_valid_until<T>(self, valid_until: T) -> Self {}

            #[asks("get")]
            pub async fn get<K, Reach>(&self, name: &str, scope: &scope::Scope<Reach>) -> Result<K, Error> {}
            #[asks("get")]
            pub async fn fetch<K, Reach, Kind>(&self, reference: &Kind) -> Result<K, Error> {}
            #[asks("list")]
            pub async fn list<K, Reach>(
                &self,
                lp: &ListParams,
                scope: &scope::Scope<Reach>,
            ) -> Result<ObjectList<K>, Error> {
            }
        }

        pub struct ClientBuilder;
        impl ClientBuilder {
            pub fn try_from(config: Config) -> Result<Self, Error> {}
            pub fn with_layer<L>(self, layer: &L) -> Self {}
            pub fn build(self) -> Client {}
        }

        pub mod scope {
            pub struct Scope<Reach = _>;
            impl<Reach> Scope<Reach> {
                #[reach(namespace)]
                pub fn from(namespace: &str) -> Self {}
                #[reach(some)]
                pub fn try_from<N>(namespace: N) -> Result<Self, super::super::error::Error> {}
            }
            pub type Namespace<Reach> = Scope<Reach>;
            pub type Cluster = Scope<Cluster>;
        }
    }

    pub mod discovery {
        pub use self::oneshot::{group, pinned_group, pinned_kind};
        pub use super::core::dynamic::ApiResource;
        use super::core::dynamic::GroupVersionKind;
        use super::error::Error;

        /// Every authenticated user may use discovery, so it needs no permission.
        pub struct Discovery;
        impl Discovery {
            pub fn new(client: Client) -> Self {}
            pub fn filter<A>(self, allow: A) -> Self {}
            pub fn exclude<A>(self, deny: A) -> Self {}
            pub async fn run(self) -> Result<Self, Error> {}
            pub async fn run_aggregated(self) -> Result<Self, Error> {}
            pub fn groups(&self) -> Iterator<ApiGroup> {}
            pub fn groups_alphabetical(&self) -> Vec<ApiGroup> {}
            pub fn get(&self, group: &str) -> Option<ApiGroup> {}
            pub fn resolve_gvk<Kind>(
                &self,
                gvk: &GroupVersionKind<Kind>,
            ) -> Option<(ApiResource<Kind>, ApiCapabilities)> {
            }
        }

        pub struct ApiGroup;
        impl ApiGroup {
            #[kind_of()]
            pub fn recommended_resources<Kind>(&self) -> Vec<(ApiResource<Kind>, ApiCapabilities)> {}
            #[kind_of()]
            pub fn recommended_kind<Kind>(&self, kind: &str) -> Option<(ApiResource<Kind>, ApiCapabilities)> {}
            #[kind_of()]
            pub fn resources_by_stability<Kind>(&self) -> Vec<(ApiResource<Kind>, ApiCapabilities)> {}
            #[kind_of()]
            pub fn versioned_resources<Kind>(&self, ver: &str) -> Vec<(ApiResource<Kind>, ApiCapabilities)> {}
        }

        pub struct ApiCapabilities;

        pub mod oneshot {
            pub async fn group(client: &Client, apigroup: &str) -> Result<super::ApiGroup, super::Error> {}
            pub async fn pinned_group<G>(client: &Client, gv: &G) -> Result<super::ApiGroup, super::Error> {}
            pub async fn pinned_kind<Kind>(
                client: &Client,
                gvk: &super::GroupVersionKind<Kind>,
            ) -> Result<(super::ApiResource<Kind>, super::ApiCapabilities), super::Error> {
            }
        }
    }

    pub mod core {
        pub mod admission {
            pub struct AdmissionRequest<T> {
                pub object: Option<T>,
                pub old_object: Option<T>,
                pub name: String,
                pub namespace: Option<String>,
            }
        }

        pub use self::crd::CustomResourceExt;
        pub use self::dynamic::{ApiResource, DynamicObject};
        pub use self::gvk::{GroupVersion, GroupVersionKind, GroupVersionResource};
        pub use self::metadata::{PartialObjectMeta, PartialObjectMetaExt};
        pub use self::object::{Object, ObjectList};
        pub use self::params::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, WatchParams};
        pub use self::request::Request;
        pub use self::resource::{Resource, ResourceExt};
        pub use self::watch::WatchEvent;

        pub mod crd {
            pub trait CustomResourceExt {
                fn crd() -> k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition
                {
                }
                #[kind_of(Self)]
                fn api_resource<Kind>() -> super::dynamic::ApiResource<Kind> {}
            }
            impl<K> CustomResourceExt for K {}
        }

        pub mod gvk {
            #[kind(group, kind)]
            pub struct GroupVersionKind<Kind = _> {
                pub group: String,
                pub version: String,
                pub kind: String,
            }
            impl<Kind> GroupVersionKind<Kind> {
                #[kind(group, kind)]
                pub fn gvk(group: &str, version: &str, kind: &str) -> Self {}
                #[kind_of()]
                pub fn try_from<T>(types: T) -> kube::Result<Self, kube::Error> {}
                pub fn api_version(&self) -> String {}
            }
            pub struct GroupVersion<Group = _>;
            impl<Group> GroupVersion<Group> {
                #[says(Group = group)]
                pub fn gv(group: &str, version: &str) -> Self {}
                #[kind(Group, kind)]
                pub fn with_kind<Kind>(self, kind: &str) -> GroupVersionKind<Kind> {}
                pub fn api_version(&self) -> String {}
            }
            pub struct GroupVersionResource;
            impl GroupVersionResource {
                pub fn gvr(group: &str, version: &str, resource: &str) -> Self {}
            }
        }

        pub mod dynamic {
            pub use super::gvk::GroupVersionKind;

            #[same_kind]
            pub struct DynamicObject<Kind = _> {
                pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            }
            impl<Kind> DynamicObject<Kind> {
                pub fn new(name: &str, resource: &ApiResource<Kind>) -> Self {}
                pub fn data<V>(self, data: V) -> Self {}
                pub fn within(self, namespace: &str) -> Self {}
                pub fn try_parse<K>(self) -> Result<K, ParseDynamicObjectError> {}
            }
            impl<Kind> super::Resource for DynamicObject<Kind> {
                type DynamicType = ApiResource<Kind>;
            }

            #[kind(group, kind, plural)]
            pub struct ApiResource<Kind = _> {
                pub group: String,
                pub version: String,
                pub api_version: String,
                pub kind: String,
                pub plural: String,
            }
            impl<Kind> ApiResource<Kind> {
                #[kind_of(K)]
                pub fn erase<K>(dyntype: &K::DynamicType) -> Self {}
                pub fn from_gvk(gvk: &GroupVersionKind<Kind>) -> Self {}
                #[plural(Named, plural)]
                pub fn from_gvk_with_plural<Named>(gvk: &GroupVersionKind<Named>, plural: &str) -> Self {}
            }
        }

        pub mod metadata {
            #[same_kind]
            pub struct PartialObjectMeta<K> {
                pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            }
            pub trait PartialObjectMetaExt {
                fn into_request_partial<K>(self) -> PartialObjectMeta<K> {}
                fn into_response_partial<K>(self) -> PartialObjectMeta<K> {}
            }
            impl PartialObjectMetaExt for k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {}
            impl<K> super::Resource for PartialObjectMeta<K> {
                type DynamicType = K::DynamicType;
            }
        }

        pub mod object {
            #[same_kind]
            pub struct Object<P, U, Kind = _> {
                pub types: Option<TypeMeta>,
                pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
                pub spec: P,
                pub status: Option<U>,
            }
            impl<P, U, Kind> Object<P, U, Kind> {
                pub fn new(name: &str, ar: &super::dynamic::ApiResource<Kind>, spec: P) -> Self {}
                pub fn within(self, ns: &str) -> Self {}
            }
            impl<P, U, Kind> super::Resource for Object<P, U, Kind> {
                type DynamicType = super::dynamic::ApiResource<Kind>;
            }
            pub struct NotUsed;

            pub struct ObjectList<K> {
                pub items: Vec<K>,
            }
            impl<K> ObjectList<K> {
                pub fn iter(&self) -> Iterator<K> {}
                pub fn iter_mut(&mut self) -> Iterator<K> {}
                pub fn into_iter(self) -> Iterator<K> {}
            }
        }

        pub mod watch {
            pub enum WatchEvent<K> {
                Added(K),
                Modified(K),
                Deleted(K),
                Bookmark(Bookmark),
                Error(Status),
            }
        }

        pub mod params {
            /// `Applies`: the server creates the object if it does not exist.
            pub enum Patch<P, Applies = _> {
                #[when(Applies = No)]
                Json(P),
                #[when(Applies = Yes)]
                Apply(P),
                #[when(Applies = No)]
                Merge(P),
                #[when(Applies = No)]
                Strategic(P),
            }
            pub struct DeleteParams;
            pub struct GetParams;
            pub struct ListParams;
            pub struct PatchParams;
            pub struct PostParams;
            pub struct WatchParams;
        }

        pub mod resource {
            pub trait Resource {
                type DynamicType;
                fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {}
                fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {}
                fn url_path(dt: &Self::DynamicType, namespace: Option<&str>) -> super::request::Url<Self> {}
                fn object_ref(&self, dt: &Self::DynamicType) -> k8s_openapi::api::core::v1::ObjectReference {}
                // If the plugin OwnerReferencesPermissionEnforcement is enabled, an owner that blocks its deletion
                // needs it.
                #[asks("update", of = Self, subresource = "finalizers", optional)]
                fn controller_owner_ref(
                    &self,
                    dt: &Self::DynamicType,
                ) -> Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference> {
                }
                #[asks("update", of = Self, subresource = "finalizers", optional)]
                fn owner_ref(
                    &self,
                    dt: &Self::DynamicType,
                ) -> Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference> {
                }
            }

            impl<K> Resource for K {}

            pub trait ResourceExt {
                fn name_any(&self) -> String {}
                fn name_unchecked(&self) -> String {}
                fn namespace(&self) -> Option<String> {}
                fn uid(&self) -> Option<String> {}
                fn resource_version(&self) -> Option<String> {}
                fn labels(&self) -> &BTreeMap<String, String> {}
                fn labels_mut(&mut self) -> &mut BTreeMap<String, String> {}
                fn annotations(&self) -> &BTreeMap<String, String> {}
                fn annotations_mut(&mut self) -> &mut BTreeMap<String, String> {}
                fn owner_references(&self) -> &Vec<OwnerReference> {}
                fn owner_references_mut(&mut self) -> &mut Vec<OwnerReference> {}
                fn finalizers(&self) -> &Vec<String> {}
                fn finalizers_mut(&mut self) -> &mut Vec<String> {}
            }
            impl<K> ResourceExt for K {}
        }

        /// Requests that are built here are sent by `Client::request` and similar functions; each counts where it is
        /// built.
        pub mod request {
            pub struct Url<K>;
            pub struct Request<K, Reach = _>;
            pub struct Built;

            impl<K, Reach> Request<K, Reach> {
                #[path(url_path)]
                pub fn new(url_path: Url<K>) -> Self {}
                #[asks("get")]
                pub fn get(&self, name: &str, gp: &GetParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("get")]
                pub fn get_metadata(&self, name: &str, gp: &GetParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("list")]
                pub fn list(&self, lp: &ListParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("list")]
                pub fn list_metadata(&self, lp: &ListParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("watch")]
                pub fn watch(&self, wp: &WatchParams, ver: &str) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("watch")]
                pub fn watch_metadata(&self, wp: &WatchParams, ver: &str) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("create")]
                pub fn create(&self, pp: &PostParams, data: Vec<u8>) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("delete")]
                pub fn delete(&self, name: &str, dp: &DeleteParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("deletecollection")]
                pub fn delete_collection(&self, dp: &DeleteParams, lp: &ListParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("patch")]
                #[asks("create", when = Applies)]
                pub fn patch<P, Applies>(
                    &self,
                    name: &str,
                    pp: &PatchParams,
                    patch: &super::params::Patch<P, Applies>,
                ) -> Result<http::Request<Vec<u8>, Built>, Error> {
                }
                #[asks("patch")]
                #[asks("create", when = Applies)]
                pub fn patch_metadata<P, Applies>(
                    &self,
                    name: &str,
                    pp: &PatchParams,
                    patch: &super::params::Patch<P, Applies>,
                ) -> Result<http::Request<Vec<u8>, Built>, Error> {
                }
                #[asks("update")]
                pub fn replace(&self, name: &str, pp: &PostParams, data: Vec<u8>) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("get", subresource = subresource_name)]
                pub fn get_subresource(&self, subresource_name: &str, name: &str) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("create", subresource = subresource_name)]
                pub fn create_subresource(
                    &self,
                    subresource_name: &str,
                    name: &str,
                    pp: &PostParams,
                    data: Vec<u8>,
                ) -> Result<http::Request<Vec<u8>, Built>, Error> {
                }
                #[asks("patch", subresource = subresource_name)]
                pub fn patch_subresource<P>(
                    &self,
                    subresource_name: &str,
                    name: &str,
                    pp: &PatchParams,
                    patch: &P,
                ) -> Result<http::Request<Vec<u8>, Built>, Error> {
                }
                #[asks("update", subresource = subresource_name)]
                pub fn replace_subresource(
                    &self,
                    subresource_name: &str,
                    name: &str,
                    pp: &PostParams,
                    data: Vec<u8>,
                ) -> Result<http::Request<Vec<u8>, Built>, Error> {
                }
                #[asks("get", subresource = "log")]
                pub fn logs(&self, name: &str, lp: &LogParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("create", subresource = "eviction")]
                pub fn evict(&self, name: &str, ep: &EvictParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("get", "create", subresource = "attach")]
                pub fn attach(&self, name: &str, ap: &AttachParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("get", "create", subresource = "exec")]
                pub fn exec<I>(&self, name: &str, command: I, ap: &AttachParams) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("get", "create", subresource = "portforward")]
                pub fn portforward<P>(&self, name: &str, ports: P) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("patch")]
                pub fn restart(&self, name: &str) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("patch")]
                pub fn cordon(&self, name: &str) -> Result<http::Request<Vec<u8>, Built>, Error> {}
                #[asks("patch")]
                pub fn uncordon(&self, name: &str) -> Result<http::Request<Vec<u8>, Built>, Error> {}
            }
        }
    }

    pub mod api {
        pub use self::entry::Entry;
        use super::client::Client;
        pub use super::core::dynamic::{ApiResource, DynamicObject};
        pub use super::core::gvk::GroupVersionKind;
        pub use super::core::metadata::{PartialObjectMeta, PartialObjectMetaExt};
        pub use super::core::object::ObjectList;
        pub use super::core::params::{
            DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, WatchParams,
        };
        pub use super::core::request::Request;
        pub use super::core::watch::WatchEvent;
        pub use super::core::{Resource, ResourceExt};
        use super::error::Error;
        use futures::Stream;
        use k8s_openapi::api::autoscaling::v1::Scale;

        #[client]
        pub struct Api<K, Reach = _>;

        impl<K, Reach> Api<K, Reach> {
            #[reach(cluster)]
            pub fn all(client: Client) -> Self {}
            #[reach(cluster)]
            pub fn all_with(client: Client, dyntype: &K::DynamicType) -> Self {}
            #[reach(ns)]
            pub fn namespaced(client: Client, ns: &str) -> Self {}
            #[reach(ns)]
            pub fn namespaced_with(client: Client, ns: &str, dyntype: &K::DynamicType) -> Self {}
            #[reach(some)]
            pub fn default_namespaced(client: Client) -> Self {}
            #[reach(some)]
            pub fn default_namespaced_with(client: Client, dyntype: &K::DynamicType) -> Self {}
            #[reach(cluster)]
            pub fn dynamic<S>(client: Client, dyntype: &K::DynamicType, scope: &S) -> Self {}
            #[reach(ns)]
            pub fn constrain<Before>(self: Api<K, Before>, ns: &str) -> Self {}
            #[reach(cluster)]
            pub fn unconstrain<Before>(self: Api<K, Before>) -> Self {}
            #[reach(some)]
            pub fn constrain_default<Before>(self: Api<K, Before>) -> Self {}
            pub fn into_client(self) -> Client {}
            pub fn namespace(&self) -> Option<String> {}
            pub fn resource_url(&self) -> super::core::request::Url<K> {}

            #[asks("get")]
            pub async fn get(&self, name: &str) -> Result<K, Error> {}
            #[asks("get")]
            pub async fn get_with(&self, name: &str, gp: &GetParams) -> Result<K, Error> {}
            #[asks("get")]
            pub async fn get_opt(&self, name: &str) -> Result<Option<K>, Error> {}
            #[asks("get")]
            pub async fn get_metadata(&self, name: &str) -> Result<PartialObjectMeta<K>, Error> {}
            #[asks("get")]
            pub async fn get_metadata_with(&self, name: &str, gp: &GetParams) -> Result<PartialObjectMeta<K>, Error> {}
            #[asks("get")]
            pub async fn get_metadata_opt(&self, name: &str) -> Result<Option<PartialObjectMeta<K>>, Error> {}
            #[asks("get")]
            pub async fn get_metadata_opt_with(
                &self,
                name: &str,
                gp: &GetParams,
            ) -> Result<Option<PartialObjectMeta<K>>, Error> {
            }
            #[asks("list")]
            pub async fn list(&self, lp: &ListParams) -> Result<ObjectList<K>, Error> {}
            #[asks("list")]
            pub async fn list_metadata(&self, lp: &ListParams) -> Result<ObjectList<PartialObjectMeta<K>>, Error> {}
            #[asks("create")]
            pub async fn create(&self, pp: &PostParams, data: &K) -> Result<K, Error> {}
            #[asks("delete")]
            pub async fn delete(&self, name: &str, dp: &DeleteParams) -> Result<Either<K, Status>, Error> {}
            #[asks("deletecollection")]
            pub async fn delete_collection(
                &self,
                dp: &DeleteParams,
                lp: &ListParams,
            ) -> Result<Either<ObjectList<K>, Status>, Error> {
            }
            #[asks("patch")]
            #[asks("create", when = Applies)]
            pub async fn patch<P, Applies>(
                &self,
                name: &str,
                pp: &PatchParams,
                patch: &Patch<P, Applies>,
            ) -> Result<K, Error> {
            }
            #[asks("patch")]
            #[asks("create", when = Applies)]
            pub async fn patch_metadata<P, Applies>(
                &self,
                name: &str,
                pp: &PatchParams,
                patch: &Patch<P, Applies>,
            ) -> Result<PartialObjectMeta<K>, Error> {
            }
            #[asks("update")]
            pub async fn replace(&self, name: &str, pp: &PostParams, data: &K) -> Result<K, Error> {}
            #[asks("watch")]
            pub async fn watch(
                &self,
                wp: &WatchParams,
                version: &str,
            ) -> Result<Stream<Result<WatchEvent<K>, Error>>, Error> {
            }
            #[asks("watch")]
            pub async fn watch_metadata(
                &self,
                wp: &WatchParams,
                version: &str,
            ) -> Result<Stream<Result<WatchEvent<PartialObjectMeta<K>>, Error>>, Error> {
            }
            #[asks("get")]
            pub async fn entry(&self, name: &str) -> Result<Entry<K, Reach>, Error> {}

            #[asks("get", subresource = "scale")]
            pub async fn get_scale(&self, name: &str) -> Result<Scale, Error> {}
            #[asks("patch", subresource = "scale")]
            pub async fn patch_scale<P>(&self, name: &str, pp: &PatchParams, patch: &Patch<P>) -> Result<Scale, Error> {
            }
            #[asks("update", subresource = "scale")]
            pub async fn replace_scale(&self, name: &str, pp: &PostParams, data: &Scale) -> Result<Scale, Error> {}
            #[asks("get", subresource = "status")]
            pub async fn get_status(&self, name: &str) -> Result<K, Error> {}
            #[asks("patch", subresource = "status")]
            pub async fn patch_status<P>(&self, name: &str, pp: &PatchParams, patch: &Patch<P>) -> Result<K, Error> {}
            #[asks("update", subresource = "status")]
            pub async fn replace_status(&self, name: &str, pp: &PostParams, data: &K) -> Result<K, Error> {}
            #[asks("get", subresource = subresource_name)]
            pub async fn get_subresource(&self, subresource_name: &str, name: &str) -> Result<K, Error> {}
            #[asks("create", subresource = subresource_name)]
            pub async fn create_subresource<I, T>(
                &self,
                subresource_name: &str,
                name: &str,
                pp: &PostParams,
                data: &I,
            ) -> Result<T, Error> {
            }
            #[asks("patch", subresource = subresource_name)]
            pub async fn patch_subresource<P>(
                &self,
                subresource_name: &str,
                name: &str,
                pp: &PatchParams,
                patch: &Patch<P>,
            ) -> Result<K, Error> {
            }
            #[asks("update", subresource = subresource_name)]
            pub async fn replace_subresource<I>(
                &self,
                subresource_name: &str,
                name: &str,
                pp: &PostParams,
                data: &I,
            ) -> Result<K, Error> {
            }

            #[asks("get", subresource = "ephemeralcontainers")]
            pub async fn get_ephemeral_containers(&self, name: &str) -> Result<K, Error> {}
            #[asks("patch", subresource = "ephemeralcontainers")]
            pub async fn patch_ephemeral_containers<P>(
                &self,
                name: &str,
                pp: &PatchParams,
                patch: &Patch<P>,
            ) -> Result<K, Error> {
            }
            #[asks("update", subresource = "ephemeralcontainers")]
            pub async fn replace_ephemeral_containers(
                &self,
                name: &str,
                pp: &PostParams,
                data: &K,
            ) -> Result<K, Error> {
            }
            #[asks("get", subresource = "resize")]
            pub async fn get_resize(&self, name: &str) -> Result<K, Error> {}
            #[asks("patch", subresource = "resize")]
            pub async fn patch_resize<P>(&self, name: &str, pp: &PatchParams, patch: &Patch<P>) -> Result<K, Error> {}
            #[asks("update", subresource = "resize")]
            pub async fn replace_resize(&self, name: &str, pp: &PostParams, data: &K) -> Result<K, Error> {}
            #[asks("get", subresource = "log")]
            pub async fn logs(&self, name: &str, lp: &LogParams) -> Result<String, Error> {}
            #[asks("get", subresource = "log")]
            pub async fn log_stream(&self, name: &str, lp: &LogParams) -> Result<AsyncBufRead, Error> {}
            #[asks("create", subresource = "eviction")]
            pub async fn evict(&self, name: &str, ep: &EvictParams) -> Result<Status, Error> {}
            // A websocket is opened with GET; since 1.35 the API server also requires `create`.
            #[asks("get", "create", subresource = "attach")]
            pub async fn attach(&self, name: &str, ap: &AttachParams) -> Result<AttachedProcess, Error> {}
            #[asks("get", "create", subresource = "exec")]
            pub async fn exec<I>(&self, name: &str, command: I, ap: &AttachParams) -> Result<AttachedProcess, Error> {}
            #[asks("get", "create", subresource = "portforward")]
            pub async fn portforward(&self, name: &str, ports: &Vec<u16>) -> Result<Portforwarder, Error> {}

            #[asks("patch")]
            pub async fn restart(&self, name: &str) -> Result<K, Error> {}
            #[asks("patch")]
            pub async fn cordon(&self, name: &str) -> Result<K, Error> {}
            #[asks("patch")]
            pub async fn uncordon(&self, name: &str) -> Result<K, Error> {}
            #[asks("create", subresource = "token")]
            pub async fn create_token_request(
                &self,
                name: &str,
                pp: &PostParams,
                token_request: &k8s_openapi::api::authentication::v1::TokenRequest,
            ) -> Result<k8s_openapi::api::authentication::v1::TokenRequest, Error> {
            }
            #[asks("get", subresource = "approval")]
            pub async fn get_approval(&self, name: &str) -> Result<K, Error> {}
            // Approving requires the permission `approve` on that signer.
            #[asks("patch", subresource = "approval")]
            #[asks("approve", group = "certificates.k8s.io", resource = "signers")]
            pub async fn patch_approval<P>(&self, name: &str, pp: &PatchParams, patch: &Patch<P>) -> Result<K, Error> {}
        }

        pub mod entry {
            #[client]
            pub enum Entry<K, Reach = _> {
                Occupied(OccupiedEntry<K, Reach>),
                Vacant(VacantEntry<K, Reach>),
            }
            impl<K, Reach> Entry<K, Reach> {
                pub fn get(&self) -> Option<&K> {}
                pub fn get_mut(&mut self) -> Option<&mut K> {}
                pub fn and_modify(self, f: impl FnOnce(&mut K)) -> Self {}
                pub fn or_insert(self, default: impl FnOnce() -> K) -> OccupiedEntry<K, Reach> {}
            }

            #[client]
            pub struct OccupiedEntry<K, Reach = _>;
            impl<K, Reach> OccupiedEntry<K, Reach> {
                pub fn get(&self) -> &K {}
                pub fn get_mut(&mut self) -> &mut K {}
                pub fn and_modify(self, f: impl FnOnce(&mut K)) -> Self {}
                pub fn into_object(self) -> K {}
                // It creates an inserted object, and replaces an existing one.
                #[asks("create", "update")]
                pub async fn commit(&mut self, pp: &PostParams) -> Result<(), CommitError> {}
            }

            #[client]
            pub struct VacantEntry<K, Reach = _>;
            impl<K, Reach> VacantEntry<K, Reach> {
                pub fn insert(self, object: K) -> OccupiedEntry<K, Reach> {}
            }
        }
    }

    pub mod runtime {
        pub use self::controller::{Config, Controller, applier};
        pub use self::finalizer::finalizer;
        pub use self::reflector::reflector;
        pub use self::utils::{Predicate, WatchStreamExt, predicates};
        pub use self::wait::conditions;
        pub use self::watcher::{metadata_watcher, watcher};

        pub mod controller {
            use super::reflector::{ObjectRef, Store};
            use futures::Stream;
            use kube::Api;

            pub struct Controller<K>;
            pub struct Config;
            impl Config {
                pub fn debounce(self, debounce: Duration) -> Self {}
                pub fn concurrency(self, concurrency: u16) -> Self {}
            }
            pub struct Action;
            impl Action {
                pub fn requeue(duration: Duration) -> Self {}
                pub fn await_change() -> Self {}
            }
            pub enum Error<E, W> {
                ObjectNotFound(ObjectRef<()>),
                ReconcilerFailed(E, ObjectRef<()>),
                QueueError(W),
                RunnerError(RunnerError),
            }

            impl<K> Controller<K> {
                #[asks("list", "watch")]
                pub fn new<Reach>(main_api: Api<K, Reach>, wc: super::watcher::Config) -> Self {}
                #[asks("list", "watch")]
                pub fn new_with<Reach>(
                    main_api: Api<K, Reach>,
                    wc: super::watcher::Config,
                    dyntype: K::DynamicType,
                ) -> Self {
                }
                pub fn for_stream<E>(trigger: Stream<Result<K, E>>, reader: Store<K>) -> Self {}
                pub fn for_stream_with<E>(
                    trigger: Stream<Result<K, E>>,
                    reader: Store<K>,
                    dyntype: K::DynamicType,
                ) -> Self {
                }
                pub fn for_shared_stream(trigger: Stream<Arc<K>>, reader: Store<K>) -> Self {}
                pub fn for_shared_stream_with(
                    trigger: Stream<Arc<K>>,
                    reader: Store<K>,
                    dyntype: K::DynamicType,
                ) -> Self {
                }
                #[asks("list", "watch", of = Child)]
                pub fn owns<Child, Reach>(self, api: Api<Child, Reach>, wc: super::watcher::Config) -> Self {}
                #[asks("list", "watch", of = Child)]
                pub fn owns_with<Child, Reach>(
                    self,
                    api: Api<Child, Reach>,
                    dyntype: Child::DynamicType,
                    wc: super::watcher::Config,
                ) -> Self {
                }
                pub fn owns_stream<Child, E>(self, trigger: Stream<Result<Child, E>>) -> Self {}
                pub fn owns_stream_with<Child, E>(
                    self,
                    trigger: Stream<Result<Child, E>>,
                    dyntype: Child::DynamicType,
                ) -> Self {
                }
                pub fn owns_shared_stream<Child>(self, trigger: Stream<Arc<Child>>) -> Self {}
                pub fn owns_shared_stream_with<Child>(
                    self,
                    trigger: Stream<Arc<Child>>,
                    dyntype: Child::DynamicType,
                ) -> Self {
                }
                #[asks("list", "watch", of = Other)]
                pub fn watches<Other, Reach, I>(
                    self,
                    api: Api<Other, Reach>,
                    wc: super::watcher::Config,
                    mapper: impl Fn(Other) -> I,
                ) -> Self {
                }
                #[asks("list", "watch", of = Other)]
                pub fn watches_with<Other, Reach, I>(
                    self,
                    api: Api<Other, Reach>,
                    dyntype: Other::DynamicType,
                    wc: super::watcher::Config,
                    mapper: impl Fn(Other) -> I,
                ) -> Self {
                }
                pub fn watches_stream<Other, E, I>(
                    self,
                    trigger: Stream<Result<Other, E>>,
                    mapper: impl Fn(Other) -> I,
                ) -> Self {
                }
                pub fn watches_stream_with<Other, E, I>(
                    self,
                    trigger: Stream<Result<Other, E>>,
                    mapper: impl Fn(Other) -> I,
                    dyntype: Other::DynamicType,
                ) -> Self {
                }
                pub fn watches_shared_stream<Other, I>(
                    self,
                    trigger: Stream<Arc<Other>>,
                    mapper: impl Fn(Arc<Other>) -> I,
                ) -> Self {
                }
                pub fn watches_shared_stream_with<Other, I>(
                    self,
                    trigger: Stream<Arc<Other>>,
                    mapper: impl Fn(Arc<Other>) -> I,
                    dyntype: Other::DynamicType,
                ) -> Self {
                }
                pub fn reconcile_all_on(self, trigger: Stream<()>) -> Self {}
                pub fn reconcile_on(self, trigger: Stream<ObjectRef<K>>) -> Self {}
                pub fn graceful_shutdown_on(self, trigger: impl Future<Output = ()>) -> Self {}
                pub fn shutdown_on_signal(self) -> Self {}
                pub fn with_config(self, config: Config) -> Self {}
                pub fn trigger_backoff<B>(self, backoff: B) -> Self {}
                pub fn store(&self) -> Store<K> {}
                pub fn run<Fut, Ctx, E>(
                    self,
                    reconciler: impl FnMut(Arc<K>, Arc<Ctx>) -> impl Future<Output = Result<Action, E>>,
                    error_policy: impl Fn(Arc<K>, &E, Arc<Ctx>) -> Action,
                    context: Arc<Ctx>,
                ) -> Stream<Result<(ObjectRef<K>, Action), Error<E, super::watcher::Error>>> {
                }
            }

            pub fn applier<K, Q, Ctx, E>(
                reconciler: impl FnMut(Arc<K>, Arc<Ctx>) -> impl Future<Output = Result<Action, E>>,
                error_policy: impl Fn(Arc<K>, &E, Arc<Ctx>) -> Action,
                context: Arc<Ctx>,
                store: Store<K>,
                queue: Q,
                config: Config,
            ) -> Stream<Result<(ObjectRef<K>, Action), Error<E, ()>>> {
            }
            pub fn trigger_self<K, S>(stream: S, dyntype: K::DynamicType) -> Stream<Result<ReconcileRequest<K>, ()>> {}
            pub fn trigger_owners<Owner, S, D>(
                stream: S,
                owner_type: Owner::DynamicType,
                child_type: D,
            ) -> Stream<Result<ReconcileRequest<Owner>, ()>> {
            }
            pub fn trigger_with<T, K, I, E>(
                stream: Stream<Result<T, E>>,
                mapper: impl Fn(T) -> I,
            ) -> Stream<Result<ReconcileRequest<K>, E>> {
            }
            pub struct ReconcileRequest<K> {
                pub obj_ref: ObjectRef<K>,
            }
        }

        pub mod reflector {
            pub use self::store::{Store, store, store_shared};
            use futures::Stream;

            pub fn reflector<K, E>(
                writer: store::Writer<K>,
                stream: Stream<Result<super::watcher::Event<K>, E>>,
            ) -> Stream<Result<super::watcher::Event<K>, E>> {
            }

            pub mod store {
                use futures::Stream;

                pub struct Store<K>;
                impl<K> Store<K> {
                    pub async fn wait_until_ready(&self) -> Result<(), WriterDropped> {}
                    pub fn get(&self, key: &super::ObjectRef<K>) -> Option<Arc<K>> {}
                    pub fn find(&self, predicate: impl Fn(&K) -> bool) -> Option<Arc<K>> {}
                    pub fn state(&self) -> Vec<Arc<K>> {}
                    pub fn state_filter(&self, predicate: impl Fn(&K) -> bool) -> Vec<Arc<K>> {}
                    pub fn state_filter_selector(&self, selector: &Selector) -> Vec<Arc<K>> {}
                }

                pub struct Writer<K>;
                impl<K> Writer<K> {
                    pub fn new(dyntype: K::DynamicType) -> Self {}
                    pub fn new_shared(buf_size: usize, dyntype: K::DynamicType) -> Self {}
                    pub fn default() -> Self {}
                    pub fn as_reader(&self) -> Store<K> {}
                    pub fn subscribe(&self) -> Option<Stream<Arc<K>>> {}
                    pub fn apply_watcher_event(&mut self, event: &kube::runtime::watcher::Event<K>) {}
                }

                pub fn store<K>() -> (Store<K>, Writer<K>) {}
                pub fn store_shared<K>(buf_size: usize) -> (Store<K>, Writer<K>) {}
            }

            pub struct ObjectRef<K> {
                pub name: String,
                pub namespace: Option<String>,
            }
            impl<K> ObjectRef<K> {
                pub fn new(name: &str) -> Self {}
                pub fn new_with(name: &str, dyntype: K::DynamicType) -> Self {}
                pub fn from_obj(obj: &K) -> Self {}
                pub fn from_obj_with(obj: &K, dyntype: K::DynamicType) -> Self {}
                pub fn within(self, namespace: &str) -> Self {}
            }
        }

        pub mod watcher {
            use futures::Stream;
            use kube::Api;
            use kube::api::PartialObjectMeta;

            pub struct Config;
            impl Config {
                pub fn default() -> Self {}
                pub fn any_semantic(self) -> Self {}
                pub fn fields(self, field_selector: &str) -> Self {}
                pub fn labels(self, label_selector: &str) -> Self {}
                pub fn labels_from(self, selector: &Selector) -> Self {}
                pub fn page_size(self, page_size: u32) -> Self {}
                pub fn streaming_lists(self) -> Self {}
                pub fn timeout(self, timeout_secs: u32) -> Self {}
                pub fn disable_bookmarks(self) -> Self {}
                pub fn list_semantic(self, semantic: ListSemantic) -> Self {}
            }
            pub struct Error;
            pub type Result<T> = std::result::Result<T, Error>;
            pub enum Event<K> {
                Apply(K),
                Delete(K),
                Init,
                InitApply(K),
                InitDone,
            }
            impl<K> Event<K> {
                pub fn modify(self, f: impl FnMut(&mut K)) -> Self {}
            }

            #[asks("list", "watch")]
            pub fn watcher<K, Reach>(api: Api<K, Reach>, watcher_config: Config) -> Stream<Result<Event<K>>> {}
            #[asks("list", "watch")]
            pub fn metadata_watcher<K, Reach>(
                api: Api<K, Reach>,
                watcher_config: Config,
            ) -> Stream<Result<Event<PartialObjectMeta<K>>>> {
            }
            #[asks("list", "watch")]
            pub fn watch_object<K, Reach>(api: Api<K, Reach>, name: &str) -> Stream<Result<Option<K>>> {}
        }

        pub mod finalizer {
            use kube::Api;

            pub enum Event<K> {
                Apply(Arc<K>),
                Cleanup(Arc<K>),
            }
            pub enum Error<E> {
                ApplyFailed(E),
                CleanupFailed(E),
                AddFinalizer(kube::Error),
                RemoveFinalizer(kube::Error),
                UnnamedObject,
                InvalidFinalizer,
            }
            #[asks("patch")]
            pub async fn finalizer<K, Reach, E>(
                api: &Api<K, Reach>,
                finalizer_name: &str,
                obj: Arc<K>,
                reconcile: impl FnOnce(Event<K>) -> impl Future<Output = Result<super::controller::Action, E>>,
            ) -> Result<super::controller::Action, Error<E>> {
            }
        }

        pub mod wait {
            use kube::Api;

            pub struct Error;
            #[asks("list", "watch")]
            pub async fn await_condition<K, Reach, C>(
                api: Api<K, Reach>,
                name: &str,
                cond: C,
            ) -> Result<Option<K>, Error> {
            }
            pub mod conditions {}
            pub mod delete {
                use kube::Api;

                pub struct Error;
                #[asks("delete", "list", "watch")]
                pub async fn delete_and_finalize<K, Reach>(
                    api: Api<K, Reach>,
                    name: &str,
                    delete_params: &DeleteParams,
                ) -> Result<(), Error> {
                }
            }
        }

        pub mod events {
            pub struct Event;
            pub struct Reporter;
            #[client]
            pub struct Recorder;
            impl Recorder {
                pub fn new(client: kube::Client, reporter: Reporter) -> Self {}
                // A repeated event patches the first one.
                #[asks("create", "patch", group = "events.k8s.io", resource = "events")]
                pub async fn publish(
                    &self,
                    ev: &Event,
                    reference: &k8s_openapi::api::core::v1::ObjectReference,
                ) -> Result<(), kube::Error> {
                }
            }
        }

        pub mod utils {
            use futures::Stream;

            pub mod predicates {}
            pub trait Predicate {}
            pub trait WatchStreamExt {}

            impl<T> Stream<T> {
                pub fn default_backoff(self) -> Stream<T> {}
                pub fn backoff<B>(self, backoff: B) -> Stream<T> {}
            }
            impl<K, E> Stream<Result<super::watcher::Event<K>, E>> {
                pub fn applied_objects(self) -> Stream<Result<K, E>> {}
                pub fn touched_objects(self) -> Stream<Result<K, E>> {}
                pub fn modify(self, f: impl FnMut(&mut K)) -> Self {}
                pub fn reflect(self, writer: super::reflector::store::Writer<K>) -> Self {}
                pub fn reflect_shared(self, writer: super::reflector::store::Writer<K>) -> Self {}
            }
            impl<K, E> Stream<Result<K, E>> {
                pub fn predicate_filter<P>(self, predicate: P, config: PredicateConfig) -> Self {}
            }
        }
    }
}

/// Only the types that lead to the object of a request, or to a kind.
mod k8s_openapi {
    pub mod apimachinery {
        pub mod pkg {
            pub mod apis {
                pub mod meta {
                    pub mod v1 {
                        pub struct ObjectMeta {
                            pub name: Option<String>,
                            pub namespace: Option<String>,
                            pub owner_references: Option<Vec<OwnerReference>>,
                        }
                        pub struct OwnerReference;
                        pub struct Condition;
                    }
                }
            }
        }
    }
}

/// The requests that the runtime makes on behalf of the project. Requests for itself (Leases, TokenReviews, its
/// certificates) are not here: the markers in its source grant them.
mod opctl_runtime {
    pub use self::context::Context;
    pub use self::controller::{Children, Controller, Outcome};
    pub use self::error::{Error, Result, ResultExt};
    pub use self::manager::{Manager, Operator, Options, Runnable, Runs};
    use kube::{Api, Client};

    #[asks("create", "patch")]
    pub async fn apply<K, Reach>(
        field_manager: &str,
        api: &Api<K, Reach>,
        name: &str,
        object: &impl Serialize,
    ) -> std::result::Result<K, kube::Error> {
    }
    #[asks("patch", subresource = "status", reach = some)]
    pub async fn apply_status<K>(
        field_manager: &str,
        client: &Client,
        object: &K,
        status: &impl Serialize,
    ) -> std::result::Result<(), kube::Error> {
    }
    pub fn child_name(parent: &impl ResourceExt, suffix: &str) -> String {}

    pub mod client {
        pub async fn connect(metrics: &Metrics) -> Result<kube::Client, Error> {}
        pub fn from_config(config: kube::Config, metrics: &Metrics) -> Result<kube::Client, Error> {}
    }

    pub mod context {
        use super::manager::{Operator, Options};
        use kube::runtime::controller::Action;
        use kube::{Api, Client};

        type WaitForCancellationFutureOwned = std::future::Future<()>;

        #[client]
        pub struct Context {
            pub client: Client,
            pub operator: Operator,
            pub options: Arc<Options>,
        }
        impl Context {
            pub fn new(client: Client, operator: Operator, options: Options) -> Self {}
            #[reach(any)]
            pub fn api<K, Reach>(&self) -> Api<K, Reach> {}
            pub fn namespace(&self) -> Option<&str> {}
            // The objects come from the watch of the controller.
            pub fn objects<K>(&self) -> Vec<Arc<K>> {}
            pub fn with_objects<K>(self, objects: kube::runtime::reflector::Store<K>) -> Self {}
            pub fn requeue(&self) -> Action {}
            #[asks("create", group = "events.k8s.io", resource = "events")]
            pub async fn event<K>(&self, object: &K, type_: EventType, reason: &str, note: impl Into<String>) {}
            pub fn shutdown(&self) -> WaitForCancellationFutureOwned {}
        }
    }

    pub mod controller {
        pub use self::outcome::{IntoOutcome, Outcome};
        use super::{Context, Error};
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
        use kube::runtime::controller::Action;

        pub struct Controller<K>;
        impl<K> Controller<K> {
            #[asks("list", "watch")]
            #[asks("patch", subresource = "status", when = O::Writes, reach = some)]
            pub fn new<O, E>(reconcile: impl Fn(Arc<K>, Arc<Context>) -> Future<Result<O, E>>) -> Self {}
            pub fn named(self, name: &str) -> Self {}
            pub fn condition(self, name: &str) -> Self {}
            pub fn timeout(self, limit: Duration) -> Self {}
            pub fn config(self, config: Config) -> Self {}
            #[asks("list", "watch", of = C)]
            pub fn owns<C>(self) -> Self {}
            #[asks("list", "watch", of = C)]
            pub fn owns_with<C>(self, config: Config) -> Self {}
            #[asks("list", "watch", of = W)]
            pub fn watches<W, I>(self, related: impl Fn(W) -> I) -> Self {}
            #[asks("list", "watch", of = W)]
            pub fn watches_with<W, I>(self, config: Config, related: impl Fn(W) -> I) -> Self {}
            #[asks("list", "watch", of = W)]
            pub fn watches_when<W>(self, is_related: impl Fn(&K, &W) -> bool) -> Self {}
            pub fn releases(self) -> Self {}
            #[asks("patch", reach = some)]
            pub fn finalizer<E>(
                self,
                name: &str,
                cleanup: impl Fn(Arc<K>, Arc<Context>) -> Future<Result<(), E>>,
            ) -> Self {
            }
        }

        pub async fn drive<K>(
            name: &str,
            controller: kube::runtime::Controller<K>,
            reconcile: impl Fn(Arc<K>, Arc<Context>) -> Future<Result<Action, Error>>,
            ctx: Context,
        ) -> Result<(), super::manager::Error> {
        }

        pub mod outcome {
            use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
            use kube::runtime::controller::Action;
            use kube::{No, Yes};

            pub struct Outcome;
            impl Outcome {
                pub fn ready(reason: &str, message: impl Into<String>) -> Self {}
                pub fn not_ready(reason: &str, message: impl Into<String>) -> Self {}
                pub fn failed(reason: &str, message: impl Into<String>) -> Self {}
                pub fn unchanged() -> Self {}
                pub fn condition(self, condition: Condition) -> Self {}
                pub fn status(self, status: impl Serialize) -> Self {}
                pub fn requeue_after(self, time: Duration) -> Self {}
            }

            /// `Writes`: the controller of a reconcile function with this result writes the status.
            pub trait IntoOutcome {
                type Writes;
            }
            impl IntoOutcome for Outcome {
                type Writes = Yes;
            }
            impl IntoOutcome for Condition {
                type Writes = Yes;
            }
            impl IntoOutcome for Action {
                type Writes = No;
            }
            impl IntoOutcome for () {
                type Writes = No;
            }
        }

        pub struct Children;
        impl Children {
            // See `Resource::controller_owner_ref`.
            #[asks("update", subresource = "finalizers", reach = some, optional)]
            pub fn of<K>(object: &K, ctx: &Context) -> Self {}
            #[asks("create", "patch", of = C, reach = some)]
            pub async fn apply<C>(&mut self, child: C) -> Result<C, Error> {}
            #[asks("get", "create", "patch", of = C, reach = some)]
            pub async fn apply_unless_taken<C>(&mut self, child: C) -> Result<C, Error> {}
            #[asks("delete", of = C, reach = some)]
            pub async fn prune<C>(&mut self) -> Result<(), Error> {}
            pub fn ready(&self) -> Condition {}
            pub fn outcome(&self) -> Outcome {}
        }
    }

    pub mod error {
        pub struct Error;
        pub type Result<T, E> = std::result::Result<T, E>;
        pub trait ResultExt {}
        impl<T, E> std::result::Result<T, E> {
            pub fn reason(self, reason: &str) -> std::result::Result<T, Error> {}
        }
    }

    // The objects of a chart cannot be read here: the markers that `create api --helm-chart` generates grant them.
    pub mod helm {
        use super::{Context, Error, Outcome};
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

        pub struct Drift;
        pub struct OnFailure;
        pub struct ReleaseInfo;
        pub struct ReleaseStatus;
        pub struct ValuesFrom;

        pub struct ChartController<K>;
        impl<K> ChartController<K> {
            #[asks("list", "watch")]
            #[asks("patch", reach = some)]
            #[asks("patch", subresource = "status", reach = some)]
            pub fn new(chart: impl Into<String>) -> Self {}
            pub fn values<E>(
                self,
                values: impl Fn(Arc<K>, Arc<Context>, serde_json::Value) -> Future<Result<serde_json::Value, E>>,
            ) -> Self {
            }
            pub fn values_from(self, sources: impl Fn(&K) -> Vec<ValuesFrom>) -> Self {}
            pub fn release(self, settings: impl FnOnce(Release) -> Release) -> Self {}
            pub fn name_prefix(self, prefix: impl Into<String>) -> Self {}
            pub fn finalizer(self, name: &str) -> Self {}
            pub fn period(self, period: Duration) -> Self {}
            pub fn drift(self, drift: Drift) -> Self {}
            pub fn config(self, config: Config) -> Self {}
        }

        pub struct Release;
        impl Release {
            pub fn new(chart: impl Into<String>) -> Self {}
            pub fn named(self, name: impl Into<String>) -> Self {}
            pub fn values(self, values: impl Serialize) -> Self {}
            pub fn timeout(self, timeout: Duration) -> Self {}
            pub fn on_failure(self, action: OnFailure) -> Self {}
            pub fn takes_ownership(self) -> Self {}
            pub fn attempts(self, attempts: u32) -> Self {}
            pub fn drift(self, drift: Drift) -> Self {}
            pub fn ignore(self, kind: &str, place: &str) -> Self {}
            // It reports its progress in the status.
            #[asks("patch", subresource = "status", reach = some)]
            pub async fn apply<K>(&self, owner: &K, ctx: &Context) -> Result<Released, Error> {}
            pub async fn uninstall<K>(&self, owner: &K, ctx: &Context) -> Result<(), Error> {}
        }

        pub struct Released;
        impl Released {
            pub fn is_ready(&self) -> bool {}
            pub fn conditions(&self) -> Vec<Condition> {}
            pub fn info(&self) -> Option<&ReleaseInfo> {}
            pub fn outcome(self) -> Outcome {}
        }
    }

    // The same applies to roles and playbooks.
    pub mod ansible {
        pub struct AnsibleStatus;
        pub struct Dependent;
        pub struct Run;

        pub struct AnsibleController<K>;
        impl<K> AnsibleController<K> {
            #[asks("list", "watch")]
            #[asks("patch", reach = some)]
            #[asks("patch", subresource = "status", reach = some)]
            pub fn role(name: impl Into<String>) -> Self {}
            #[asks("list", "watch")]
            #[asks("patch", reach = some)]
            #[asks("patch", subresource = "status", reach = some)]
            pub fn playbook(path: impl Into<String>) -> Self {}
            pub fn vars(self, vars: impl Serialize) -> Self {}
            pub fn finalizer(self, finalizer: Finalizer) -> Self {}
            pub fn period(self, period: Duration) -> Self {}
            pub fn timeout(self, timeout: Duration) -> Self {}
            pub fn manage_status(self, is_managed: bool) -> Self {}
            pub fn watch_dependents(self, is_watched: bool) -> Self {}
            pub fn watch_cluster_scoped(self, is_watched: bool) -> Self {}
            pub fn watch_annotations(self, is_watched: bool) -> Self {}
            pub fn unwatched(self, api_version: &str, kind: &str) -> Self {}
            pub fn mark_unsafe(self, is_marked: bool) -> Self {}
            pub fn snake_case(self, is_converted: bool) -> Self {}
            pub fn keep_runs(self, number: u16) -> Self {}
            pub fn verbosity(self, level: u8) -> Self {}
            pub fn named(self, name: &'static str) -> Self {}
            pub fn config(self, config: Config) -> Self {}
        }

        pub struct Finalizer;
        impl Finalizer {
            pub fn new(name: &'static str) -> Self {}
            pub fn role(self, name: impl Into<String>) -> Self {}
            pub fn playbook(self, path: impl Into<String>) -> Self {}
            pub fn vars(self, vars: impl Serialize) -> Self {}
        }
    }

    pub mod manager {
        use super::Context;
        use kube::Client;

        pub struct Error;
        pub struct Operator;
        pub struct Options;
        pub struct Runs;

        pub struct Runnable;
        impl Runnable {
            pub fn new(name: &str, runs: Runs, run: impl Fn(Context) -> Future<Result<(), Error>>) -> Self {}
            pub async fn run(&self, ctx: Context) -> Result<(), Error> {}
        }

        pub struct Manager;
        impl Manager {
            pub fn new(operator: Operator) -> Self {}
            pub async fn run(self, runnables: Vec<Runnable>) -> ExitCode {}
            pub async fn start(self, client: Client, options: Options, runnables: Vec<Runnable>) -> Result<(), Error> {}
        }
    }

    pub mod webhook {
        pub use self::conversion::{Conversion, Spoke};
        use super::{Context, Runnable};
        use kube::core::admission::AdmissionRequest;

        pub struct Webhook;
        pub struct Rejection;
        pub type Warnings = Vec<String>;
        pub fn server(webhooks: Vec<Webhook>) -> Runnable {}

        pub struct Request<T> {
            pub review: AdmissionRequest<T>,
            pub ctx: Context,
        }

        pub struct Defaulting;
        impl Defaulting {
            pub fn new<T>(path: &str, default: impl Fn(T, Request<T>) -> Future<Result<(), Rejection>>) -> Self {}
        }

        pub struct Validating<T>;
        impl<T> Validating<T> {
            pub fn new(path: &str) -> Self {}
            pub fn create(self, function: impl Fn(T, Request<T>) -> Future<Result<Warnings, Rejection>>) -> Self {}
            pub fn update(self, function: impl Fn(T, T, Request<T>) -> Future<Result<Warnings, Rejection>>) -> Self {}
            pub fn delete(self, function: impl Fn(T, Request<T>) -> Future<Result<Warnings, Rejection>>) -> Self {}
        }

        pub mod conversion {
            pub struct Conversion<Hub>;
            impl<Hub> Conversion<Hub> {
                // The webhook server registers its certificate in the CRD.
                #[asks(
                    "get",
                    "patch",
                    group = "apiextensions.k8s.io",
                    resource = "customresourcedefinitions",
                    reach = cluster
                )]
                pub fn new(spokes: Vec<Spoke<Hub>>) -> Self {}
            }
            pub struct Spoke<Hub>;
            impl<Hub> Spoke<Hub> {
                pub fn of<T>() -> Self {}
            }
        }
    }
}

mod futures {
    pub use self::future::{BoxFuture, FutureExt, TryFutureExt};
    pub use self::prelude::*;

    pub mod prelude {
        pub use super::future::{FutureExt, TryFutureExt};
        pub use super::stream::{Stream, StreamExt, TryStream, TryStreamExt};
        pub use std::future::Future;
    }

    pub mod stream {
        pub struct Stream<Item>;
        pub trait StreamExt {}
        pub trait TryStreamExt {}
        pub type TryStream<T> = Stream<T>;
        pub type BoxStream<'a, T> = Stream<T>;
        pub type LocalBoxStream<'a, T> = Stream<T>;

        impl<Item> Stream<Item> {
            pub fn boxed(self) -> Self {}
            pub fn boxed_local(self) -> Self {}
            pub fn by_ref(&mut self) -> Self {}
            pub fn fuse(self) -> Self {}
            pub fn peekable(self) -> Self {}
            pub async fn next(&mut self) -> Option<Item> {}
            pub fn select_next_some(&mut self) -> std::future::Future<Item> {}
            pub async fn for_each<Fut>(self, f: impl FnMut(Item) -> Fut) {}
            pub async fn for_each_concurrent<L, Fut>(self, limit: L, f: impl FnMut(Item) -> Fut) {}
            pub fn map<T>(self, f: impl FnMut(Item) -> T) -> Stream<T> {}
            pub fn then<T>(self, f: impl FnMut(Item) -> std::future::Future<T>) -> Stream<T> {}
            pub fn filter<Fut>(self, f: impl FnMut(&Item) -> Fut) -> Self {}
            pub fn filter_map<T>(self, f: impl FnMut(Item) -> std::future::Future<Option<T>>) -> Stream<T> {}
            pub fn flat_map<T>(self, f: impl FnMut(Item) -> Stream<T>) -> Stream<T> {}
            pub fn inspect(self, f: impl FnMut(&Item)) -> Self {}
            pub async fn fold<T>(self, init: T, f: impl FnMut(T, Item) -> std::future::Future<T>) -> T {}
            pub fn buffered(self, n: usize) -> Stream<Item> {}
            pub fn buffer_unordered(self, n: usize) -> Stream<Item> {}
            #[collects(C, Item)]
            pub async fn collect<C>(self) -> C {}
            pub fn take(self, n: usize) -> Self {}
            pub fn take_until<Fut>(self, fut: Fut) -> Self {}
            pub fn take_while<Fut>(self, f: impl FnMut(&Item) -> Fut) -> Self {}
            pub fn skip(self, n: usize) -> Self {}
            pub fn chain(self, other: Stream<Item>) -> Self {}
            pub fn enumerate(self) -> Stream<(usize, Item)> {}
            pub fn zip<T>(self, other: Stream<T>) -> Stream<(Item, T)> {}
        }
        impl<T, E> Stream<std::result::Result<T, E>> {
            pub async fn try_next(&mut self) -> std::result::Result<Option<T>, E> {}
            pub async fn try_for_each<Fut>(self, f: impl FnMut(T) -> Fut) -> std::result::Result<(), E> {}
            pub async fn try_for_each_concurrent<L, Fut>(
                self,
                limit: L,
                f: impl FnMut(T) -> Fut,
            ) -> std::result::Result<(), E> {
            }
            #[collects(C, T)]
            pub async fn try_collect<C>(self) -> std::result::Result<C, E> {}
            pub fn try_filter<Fut>(self, f: impl FnMut(&T) -> Fut) -> Self {}
            pub fn try_filter_map<U>(
                self,
                f: impl FnMut(T) -> std::future::Future<std::result::Result<Option<U>, E>>,
            ) -> Stream<std::result::Result<U, E>> {
            }
            pub fn map_ok<U>(self, f: impl FnMut(T) -> U) -> Stream<std::result::Result<U, E>> {}
            pub fn map_err<F>(self, f: impl FnMut(E) -> F) -> Stream<std::result::Result<T, F>> {}
            pub fn and_then<U>(
                self,
                f: impl FnMut(T) -> std::future::Future<std::result::Result<U, E>>,
            ) -> Stream<std::result::Result<U, E>> {
            }
            pub fn inspect_ok(self, f: impl FnMut(&T)) -> Self {}
            pub fn inspect_err(self, f: impl FnMut(&E)) -> Self {}
            pub fn try_take_while<Fut>(self, f: impl FnMut(&T) -> Fut) -> Self {}
            pub fn try_skip_while<Fut>(self, f: impl FnMut(&T) -> Fut) -> Self {}
        }
        pub fn iter<T>(items: std::iter::Iterator<T>) -> Stream<T> {}
        pub fn select<T>(first: Stream<T>, second: Stream<T>) -> Stream<T> {}
        pub fn select_all<T>(streams: std::iter::Iterator<Stream<T>>) -> Stream<T> {}
        pub fn once<T>(future: std::future::Future<T>) -> Stream<T> {}
        pub fn empty<T>() -> Stream<T> {}
        pub fn pending<T>() -> Stream<T> {}
        pub fn unfold<S, T>(init: S, f: impl FnMut(S) -> std::future::Future<Option<(T, S)>>) -> Stream<T> {}

        pub struct FuturesUnordered;
    }

    pub mod future {
        pub use std::future::Future;
        pub type BoxFuture<'a, T> = std::future::Future<T>;
        pub type LocalBoxFuture<'a, T> = std::future::Future<T>;
        pub trait FutureExt {}
        pub trait TryFutureExt {}
        pub enum Either<A, B> {
            Left(A),
            Right(B),
        }

        impl<T> std::future::Future<T> {
            pub fn boxed(self) -> Self {}
            pub fn boxed_local(self) -> Self {}
            pub fn fuse(self) -> Self {}
            pub fn shared(self) -> Self {}
            pub async fn map<U>(self, f: impl FnOnce(T) -> U) -> U {}
            pub async fn then<U>(self, f: impl FnOnce(T) -> std::future::Future<U>) -> U {}
            pub fn inspect(self, f: impl FnOnce(&T)) -> Self {}
            pub fn left_future(self) -> Self {}
            pub fn right_future(self) -> Self {}
            pub fn into_stream(self) -> super::stream::Stream<T> {}
            pub fn now_or_never(self) -> Option<T> {}
        }
        impl<T, E> std::future::Future<std::result::Result<T, E>> {
            pub async fn map_ok<U>(self, f: impl FnOnce(T) -> U) -> std::result::Result<U, E> {}
            pub async fn map_err<F>(self, f: impl FnOnce(E) -> F) -> std::result::Result<T, F> {}
            pub async fn and_then<U>(
                self,
                f: impl FnOnce(T) -> std::future::Future<std::result::Result<U, E>>,
            ) -> std::result::Result<U, E> {
            }
            pub async fn or_else<F>(
                self,
                f: impl FnOnce(E) -> std::future::Future<std::result::Result<T, F>>,
            ) -> std::result::Result<T, F> {
            }
            pub async fn unwrap_or_else(self, f: impl FnOnce(E) -> T) -> T {}
        }

        pub async fn join<A, B>(a: Future<A>, b: Future<B>) -> (A, B) {}
        pub async fn join3<A, B, C>(a: Future<A>, b: Future<B>, c: Future<C>) -> (A, B, C) {}
        pub async fn join_all<T>(futures: std::iter::Iterator<Future<T>>) -> Vec<T> {}
        pub async fn try_join<A, B, E>(
            a: Future<std::result::Result<A, E>>,
            b: Future<std::result::Result<B, E>>,
        ) -> std::result::Result<(A, B), E> {
        }
        pub async fn try_join_all<T, E>(
            futures: std::iter::Iterator<Future<std::result::Result<T, E>>>,
        ) -> std::result::Result<Vec<T>, E> {
        }
        pub async fn ready<T>(value: T) -> T {}
        pub async fn ok<T, E>(value: T) -> std::result::Result<T, E> {}
        pub async fn err<T, E>(error: E) -> std::result::Result<T, E> {}
        pub async fn lazy<T>(f: impl FnOnce() -> T) -> T {}
    }
}

mod either {
    pub use futures::future::Either;
}

mod futures_util {
    pub use futures::*;
}

mod futures_core {
    pub use futures::stream;
    pub use futures::stream::Stream;
}

mod tokio {
    pub use self::task::spawn;

    pub mod task {
        pub struct JoinError;
        pub type JoinHandle<T> = std::future::Future<Result<T, JoinError>>;

        pub fn spawn<T>(future: std::future::Future<T>) -> std::future::Future<Result<T, JoinError>> {}
        pub fn spawn_local<T>(future: std::future::Future<T>) -> std::future::Future<Result<T, JoinError>> {}
        pub fn spawn_blocking<T>(f: impl FnOnce() -> T) -> std::future::Future<Result<T, JoinError>> {}
        pub fn block_in_place<T>(f: impl FnOnce() -> T) -> T {}

        pub struct JoinSet<T>;
        impl<T> JoinSet<T> {
            pub fn new() -> Self {}
            pub fn spawn(&mut self, future: std::future::Future<T>) {}
            pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {}
            pub async fn join_all(self) -> Vec<T> {}
        }
    }

    pub mod time {
        pub async fn timeout<T>(duration: Duration, future: std::future::Future<T>) -> Result<T, Elapsed> {}
        pub async fn timeout_at<T>(deadline: Instant, future: std::future::Future<T>) -> Result<T, Elapsed> {}
        pub struct Elapsed;
    }

    pub mod runtime {
        pub struct Runtime;
        impl Runtime {
            pub fn new() -> Result<Self, ()> {}
            pub fn block_on<T>(&self, future: std::future::Future<T>) -> T {}
            pub fn spawn<T>(&self, future: std::future::Future<T>) {}
        }
    }

    pub mod sync {
        pub struct Mutex<T>;
        impl<T> Mutex<T> {
            pub fn new(value: T) -> Self {}
            pub async fn lock(&self) -> T {}
        }
        pub struct RwLock<T>;
        impl<T> RwLock<T> {
            pub fn new(value: T) -> Self {}
            pub async fn read(&self) -> T {}
            pub async fn write(&self) -> T {}
        }
        pub struct OnceCell<T>;
        impl<T> OnceCell<T> {
            pub fn new() -> Self {}
            pub fn const_new() -> Self {}
            pub fn get(&self) -> Option<T> {}
            pub fn set(&self, value: T) -> Result<(), T> {}
            pub async fn get_or_init(&self, f: impl FnOnce() -> std::future::Future<T>) -> T {}
            pub async fn get_or_try_init<E>(
                &self,
                f: impl FnOnce() -> std::future::Future<Result<T, E>>,
            ) -> Result<T, E> {
            }
        }
        pub mod oneshot {
            pub type Sender<T> = super::mpsc::Sender<T>;
            pub type Receiver<T> = std::future::Future<Result<T, ()>>;
            pub fn channel<T>() -> (super::mpsc::Sender<T>, std::future::Future<Result<T, ()>>) {}
        }
        pub mod watch {
            pub struct Sender<T>;
            impl<T> Sender<T> {
                pub fn send(&self, value: T) -> Result<(), T> {}
                pub fn subscribe(&self) -> Receiver<T> {}
                pub fn borrow(&self) -> T {}
            }
            pub struct Receiver<T>;
            impl<T> Receiver<T> {
                pub fn borrow(&self) -> T {}
                pub fn borrow_and_update(&mut self) -> T {}
                pub async fn changed(&mut self) -> Result<(), ()> {}
                pub async fn wait_for(&mut self, f: impl FnMut(&T) -> bool) -> Result<T, ()> {}
            }
            pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {}
        }
        pub mod broadcast {
            pub struct Sender<T>;
            impl<T> Sender<T> {
                pub fn send(&self, value: T) -> Result<usize, T> {}
                pub fn subscribe(&self) -> super::mpsc::Receiver<T> {}
            }
            pub fn channel<T>(capacity: usize) -> (Sender<T>, super::mpsc::Receiver<T>) {}
        }
        pub mod mpsc {
            pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {}
            pub fn unbounded_channel<T>() -> (UnboundedSender<T>, Receiver<T>) {}
            pub type UnboundedReceiver<T> = Receiver<T>;
            pub struct UnboundedSender<T>;
            impl<T> UnboundedSender<T> {
                pub fn send(&self, value: T) -> Result<(), T> {}
            }
            pub struct Sender<T>;
            impl<T> Sender<T> {
                pub async fn send(&self, value: T) -> Result<(), T> {}
                pub fn try_send(&self, value: T) -> Result<(), T> {}
            }
            pub struct Receiver<T>;
            impl<T> Receiver<T> {
                pub async fn recv(&mut self) -> Option<T> {}
                pub fn try_recv(&mut self) -> Result<T, ()> {}
            }
        }
    }
}

mod anyhow {
    pub struct Error;
    pub type Result<T> = std::result::Result<T, Error>;

    pub trait Context {}
    impl<T, E> std::result::Result<T, E> {
        pub fn context<C>(self, context: C) -> std::result::Result<T, Error> {}
        pub fn with_context<C>(self, f: impl FnOnce() -> C) -> std::result::Result<T, Error> {}
    }
    impl<T> std::option::Option<T> {
        pub fn context<C>(self, context: C) -> std::result::Result<T, Error> {}
        pub fn with_context<C>(self, f: impl FnOnce() -> C) -> std::result::Result<T, Error> {}
    }
    pub fn Ok<T>(value: T) -> std::result::Result<T, Error> {}
}

mod tracing {
    pub trait Instrument {}
    impl<T> std::future::Future<T> {
        pub fn instrument<S>(self, span: S) -> Self {}
        pub fn in_current_span(self) -> Self {}
    }
}

/// Requests that code builds itself: `Method` and `Uri` are their strings, `Header` the values of all headers.
mod http {
    pub use self::request::Request;

    pub struct Response;
    pub struct Method;

    pub mod request {
        pub struct Request<B, Method = _, Uri = _, Header = _>;
        impl<B, Method, Uri, Header> Request<B, Method, Uri, Header> {
            pub fn builder() -> Builder<Method, Uri, Header> {}
            #[says(Method = "GET")]
            #[says(Uri = uri)]
            pub fn get<T>(uri: T) -> Builder<Method, Uri, Header> {}
            #[says(Method = "PUT")]
            #[says(Uri = uri)]
            pub fn put<T>(uri: T) -> Builder<Method, Uri, Header> {}
            #[says(Method = "POST")]
            #[says(Uri = uri)]
            pub fn post<T>(uri: T) -> Builder<Method, Uri, Header> {}
            #[says(Method = "DELETE")]
            #[says(Uri = uri)]
            pub fn delete<T>(uri: T) -> Builder<Method, Uri, Header> {}
            #[says(Method = "PATCH")]
            #[says(Uri = uri)]
            pub fn patch<T>(uri: T) -> Builder<Method, Uri, Header> {}
            // The path is set later.
            #[says(Uri = "")]
            pub fn new(body: B) -> Self {}
            #[says(Uri = "")]
            pub fn uri_mut(&mut self) {}
            #[says(Uri = "")]
            pub fn method_mut(&mut self) {}
            pub fn map<C>(self, f: impl FnOnce(B) -> C) -> Request<C, Method, Uri, Header> {}
        }

        pub struct Builder<Method = _, Uri = _, Header = _>;
        impl<Method, Uri, Header> Builder<Method, Uri, Header> {
            pub fn new() -> Self {}
            #[says(Method = method)]
            pub fn method<T>(self, method: T) -> Self {}
            #[says(Uri = uri)]
            pub fn uri<T>(self, uri: T) -> Self {}
            #[says(Header = value)]
            pub fn header<K, V>(self, key: K, value: V) -> Self {}
            pub fn version<V>(self, version: V) -> Self {}
            pub fn extension<E>(self, extension: E) -> Self {}
            pub fn body<B>(self, body: B) -> std::result::Result<Request<B, Method, Uri, Header>, ()> {}
        }
    }
}

mod hyper {
    pub use http::*;
}

mod once_cell {
    pub mod sync {
        pub use std::sync::{LazyLock as Lazy, OnceLock as OnceCell};
    }
    pub mod unsync {
        pub use std::sync::{LazyLock as Lazy, OnceLock as OnceCell};
    }
}

mod parking_lot {
    pub struct Mutex<T>;
    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {}
        pub fn lock(&self) -> T {}
    }
    pub struct RwLock<T>;
    impl<T> RwLock<T> {
        pub fn new(value: T) -> Self {}
        pub fn read(&self) -> T {}
        pub fn write(&self) -> T {}
    }
}

mod std {
    pub mod prelude {
        pub use super::boxed::Box;
        pub use super::convert::{AsRef, Into};
        pub use super::future::Future;
        pub use super::iter::{IntoIterator, Iterator};
        pub use super::option::Option;
        pub use super::result::Result;
        pub use super::string::{String, str};
        pub use super::sync::Arc;
        pub use super::vec::Vec;
    }

    pub mod option {
        pub enum Option<T> {
            None,
            Some(T),
        }
        impl<T> Option<T> {
            pub fn expect(self, message: &str) -> T {}
            pub fn unwrap(self) -> T {}
            pub fn unwrap_or(self, default: T) -> T {}
            pub fn unwrap_or_default(self) -> T {}
            pub fn unwrap_or_else(self, f: impl FnOnce() -> T) -> T {}
            pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Option<U> {}
            pub fn map_or<U>(self, default: U, f: impl FnOnce(T) -> U) -> U {}
            pub fn map_or_else<U>(self, default: impl FnOnce() -> U, f: impl FnOnce(T) -> U) -> U {}
            pub fn and_then<U>(self, f: impl FnOnce(T) -> Option<U>) -> Option<U> {}
            pub fn and<U>(self, other: Option<U>) -> Option<U> {}
            pub fn or(self, other: Option<T>) -> Option<T> {}
            pub fn or_else(self, f: impl FnOnce() -> Option<T>) -> Option<T> {}
            pub fn filter(self, f: impl FnOnce(&T) -> bool) -> Option<T> {}
            pub fn is_some_and(self, f: impl FnOnce(T) -> bool) -> bool {}
            pub fn is_none_or(self, f: impl FnOnce(T) -> bool) -> bool {}
            pub fn inspect(self, f: impl FnOnce(&T)) -> Self {}
            pub fn ok_or<E>(self, error: E) -> Result<T, E> {}
            pub fn ok_or_else<E>(self, error: impl FnOnce() -> E) -> Result<T, E> {}
            pub fn as_deref(&self) -> Option<T> {}
            pub fn as_deref_mut(&mut self) -> Option<T> {}
            pub fn cloned(self) -> Option<T> {}
            pub fn copied(self) -> Option<T> {}
            pub fn take(&mut self) -> Option<T> {}
            pub fn replace(&mut self, value: T) -> Option<T> {}
            pub fn insert(&mut self, value: T) -> T {}
            pub fn get_or_insert(&mut self, value: T) -> T {}
            pub fn get_or_insert_with(&mut self, f: impl FnOnce() -> T) -> T {}
            pub fn iter(&self) -> Iterator<T> {}
            pub fn into_iter(self) -> Iterator<T> {}
            pub fn zip<U>(self, other: Option<U>) -> Option<(T, U)> {}
        }
        impl<T> Option<Option<T>> {
            pub fn flatten(self) -> Option<T> {}
        }
        impl<T, E> Option<Result<T, E>> {
            pub fn transpose(self) -> Result<Option<T>, E> {}
        }
    }

    pub mod result {
        pub enum Result<T, E> {
            Ok(T),
            Err(E),
        }
        impl<T, E> Result<T, E> {
            pub fn expect(self, message: &str) -> T {}
            pub fn unwrap(self) -> T {}
            pub fn unwrap_or(self, default: T) -> T {}
            pub fn unwrap_or_default(self) -> T {}
            pub fn unwrap_or_else(self, f: impl FnOnce(E) -> T) -> T {}
            pub fn ok(self) -> Option<T> {}
            pub fn err(self) -> Option<E> {}
            pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Result<U, E> {}
            pub fn map_err<F>(self, f: impl FnOnce(E) -> F) -> Result<T, F> {}
            pub fn map_or<U>(self, default: U, f: impl FnOnce(T) -> U) -> U {}
            pub fn map_or_else<U>(self, default: impl FnOnce(E) -> U, f: impl FnOnce(T) -> U) -> U {}
            pub fn and_then<U>(self, f: impl FnOnce(T) -> Result<U, E>) -> Result<U, E> {}
            pub fn or_else<F>(self, f: impl FnOnce(E) -> Result<T, F>) -> Result<T, F> {}
            pub fn is_ok_and(self, f: impl FnOnce(T) -> bool) -> bool {}
            pub fn is_err_and(self, f: impl FnOnce(E) -> bool) -> bool {}
            pub fn inspect(self, f: impl FnOnce(&T)) -> Self {}
            pub fn inspect_err(self, f: impl FnOnce(&E)) -> Self {}
            pub fn into_iter(self) -> Iterator<T> {}
        }
        impl<T, E> Result<Option<T>, E> {
            pub fn transpose(self) -> Option<Result<T, E>> {}
        }
    }

    pub mod string {
        pub struct String;
        pub struct str;
        impl String {
            pub fn from<T>(text: T) -> T {}
        }
    }

    pub mod vec {
        /// Also slices and arrays.
        pub struct Vec<T>;
        impl<T> Vec<T> {
            pub fn new() -> Self {}
            pub fn with_capacity(capacity: usize) -> Self {}
            pub fn push(&mut self, value: T) {}
            pub fn pop(&mut self) -> Option<T> {}
            pub fn first(&self) -> Option<T> {}
            pub fn last(&self) -> Option<T> {}
            pub fn get(&self, index: usize) -> Option<T> {}
            pub fn get_mut(&mut self, index: usize) -> Option<T> {}
            pub fn iter(&self) -> Iterator<T> {}
            pub fn iter_mut(&mut self) -> Iterator<T> {}
            pub fn into_iter(self) -> Iterator<T> {}
            pub fn drain<R>(&mut self, range: R) -> Iterator<T> {}
            pub fn extend(&mut self, items: Iterator<T>) {}
            pub fn append(&mut self, other: &mut Vec<T>) {}
            pub fn retain(&mut self, f: impl FnMut(&T) -> bool) {}
            pub fn chunks(&self, size: usize) -> Iterator<Vec<T>> {}
            pub fn sort_by_key<K>(&mut self, f: impl FnMut(&T) -> K) {}
            pub fn index(&self) -> T {}
        }
    }

    pub mod iter {
        pub struct Iterator<Item>;
        pub type IntoIterator<Item> = Iterator<Item>;
        impl<Item> Iterator<Item> {
            pub fn into_iter(self) -> Self {}
            pub fn next(&mut self) -> Option<Item> {}
            pub fn last(self) -> Option<Item> {}
            pub fn nth(&mut self, n: usize) -> Option<Item> {}
            pub fn map<B>(self, f: impl FnMut(Item) -> B) -> Iterator<B> {}
            pub fn filter(self, f: impl FnMut(&Item) -> bool) -> Self {}
            pub fn filter_map<B>(self, f: impl FnMut(Item) -> Option<B>) -> Iterator<B> {}
            pub fn flat_map<B>(self, f: impl FnMut(Item) -> Iterator<B>) -> Iterator<B> {}
            pub fn find(&mut self, f: impl FnMut(&Item) -> bool) -> Option<Item> {}
            pub fn find_map<B>(&mut self, f: impl FnMut(Item) -> Option<B>) -> Option<B> {}
            pub fn for_each(self, f: impl FnMut(Item)) {}
            pub fn try_for_each<R>(&mut self, f: impl FnMut(Item) -> R) -> R {}
            pub fn fold<B>(self, init: B, f: impl FnMut(B, Item) -> B) -> B {}
            pub fn any(&mut self, f: impl FnMut(Item) -> bool) -> bool {}
            pub fn all(&mut self, f: impl FnMut(Item) -> bool) -> bool {}
            pub fn inspect(self, f: impl FnMut(&Item)) -> Self {}
            pub fn take(self, n: usize) -> Self {}
            pub fn take_while(self, f: impl FnMut(&Item) -> bool) -> Self {}
            pub fn skip(self, n: usize) -> Self {}
            pub fn skip_while(self, f: impl FnMut(&Item) -> bool) -> Self {}
            pub fn chain(self, other: Iterator<Item>) -> Self {}
            pub fn rev(self) -> Self {}
            pub fn peekable(self) -> Self {}
            pub fn cloned(self) -> Self {}
            pub fn copied(self) -> Self {}
            pub fn enumerate(self) -> Iterator<(usize, Item)> {}
            pub fn zip<B>(self, other: Iterator<B>) -> Iterator<(Item, B)> {}
            pub fn max_by_key<B>(self, f: impl FnMut(&Item) -> B) -> Option<Item> {}
            pub fn min_by_key<B>(self, f: impl FnMut(&Item) -> B) -> Option<Item> {}
            #[collects(C, Item)]
            pub fn collect<C>(self) -> C {}
        }
        pub fn once<T>(value: T) -> Iterator<T> {}
        pub fn repeat<T>(value: T) -> Iterator<T> {}
        pub fn repeat_with<T>(f: impl FnMut() -> T) -> Iterator<T> {}
        pub fn from_fn<T>(f: impl FnMut() -> Option<T>) -> Iterator<T> {}
        pub fn successors<T>(first: Option<T>, f: impl FnMut(&T) -> Option<T>) -> Iterator<T> {}
        pub fn zip<A, B>(a: Iterator<A>, b: Iterator<B>) -> Iterator<(A, B)> {}
    }

    pub mod collections {
        pub struct VecDeque<T>;
        impl<T> VecDeque<T> {
            pub fn new() -> Self {}
            pub fn push_back(&mut self, value: T) {}
            pub fn push_front(&mut self, value: T) {}
            pub fn pop_back(&mut self) -> Option<T> {}
            pub fn pop_front(&mut self) -> Option<T> {}
            pub fn front(&self) -> Option<T> {}
            pub fn iter(&self) -> Iterator<T> {}
            pub fn into_iter(self) -> Iterator<T> {}
        }
        pub struct BTreeMap<K, V>;
        pub type HashMap<K, V> = BTreeMap<K, V>;
        impl<K, V> BTreeMap<K, V> {
            pub fn new() -> Self {}
            pub fn get<Q>(&self, key: &Q) -> Option<V> {}
            pub fn get_mut<Q>(&mut self, key: &Q) -> Option<V> {}
            pub fn insert(&mut self, key: K, value: V) -> Option<V> {}
            pub fn remove<Q>(&mut self, key: &Q) -> Option<V> {}
            pub fn iter(&self) -> Iterator<(K, V)> {}
            pub fn into_iter(self) -> Iterator<(K, V)> {}
            pub fn entry(&mut self, key: K) -> Entry<V> {}
            pub fn index(&self) -> V {}
            pub fn keys(&self) -> Iterator<K> {}
            pub fn values(&self) -> Iterator<V> {}
            pub fn values_mut(&mut self) -> Iterator<V> {}
            pub fn into_values(self) -> Iterator<V> {}
        }
        pub struct Entry<V>;
        impl<V> Entry<V> {
            pub fn or_insert(self, value: V) -> V {}
            pub fn or_insert_with(self, f: impl FnOnce() -> V) -> V {}
            pub fn or_default(self) -> V {}
            pub fn and_modify(self, f: impl FnOnce(&mut V)) -> Self {}
        }
    }

    pub mod future {
        pub struct Future<Output>;
        pub type IntoFuture<Output> = Future<Output>;
        impl<Output> Future<Output> {
            pub fn into_future(self) -> Self {}
        }
        pub async fn ready<T>(value: T) -> T {}
    }

    pub mod boxed {
        #[transparent]
        pub struct Box<T>;
        impl<T> Box<T> {
            pub fn new(value: T) -> T {}
            pub fn pin(value: T) -> T {}
        }
    }

    pub mod pin {
        #[transparent]
        pub struct Pin<P>;
        impl<P> Pin<P> {
            pub fn new(pointer: P) -> P {}
        }
    }

    pub mod rc {
        #[transparent]
        pub struct Rc<T>;
        impl<T> Rc<T> {
            pub fn new(value: T) -> T {}
            pub fn clone(value: &T) -> T {}
        }
    }

    pub mod borrow {
        #[transparent]
        pub struct Cow<T>;
        #[transparent]
        pub struct Borrow<T>;
    }

    // In bounds, a value that can be converted to a type counts as that type.
    pub mod convert {
        #[transparent]
        pub struct AsRef<T>;
        #[transparent]
        pub struct Into<T>;
        pub fn identity<T>(value: T) -> T {}
    }

    pub mod ops {
        #[transparent]
        pub struct Deref<Target>;
        #[transparent]
        pub struct DerefMut<Target>;
    }

    pub mod mem {
        pub fn take<T>(value: &mut T) -> T {}
        pub fn replace<T>(value: &mut T, new: T) -> T {}
    }

    pub mod cell {
        pub struct RefCell<T>;
        impl<T> RefCell<T> {
            pub fn new(value: T) -> Self {}
            pub fn borrow(&self) -> T {}
            pub fn borrow_mut(&self) -> T {}
            pub fn into_inner(self) -> T {}
            pub fn replace(&self, value: T) -> T {}
        }
        pub use super::sync::{LazyLock as LazyCell, OnceLock as OnceCell};
    }

    pub mod thread {
        pub struct LocalKey<T>;
        impl<T> LocalKey<T> {
            pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {}
        }
    }

    pub mod sync {
        #[transparent]
        pub struct Arc<T>;
        impl<T> Arc<T> {
            pub fn new(value: T) -> T {}
            pub fn clone(value: &T) -> T {}
            pub fn unwrap_or_clone(value: T) -> T {}
        }
        pub struct Mutex<T>;
        impl<T> Mutex<T> {
            pub fn new(value: T) -> Self {}
            pub fn lock(&self) -> Result<T, ()> {}
        }
        pub struct RwLock<T>;
        impl<T> RwLock<T> {
            pub fn new(value: T) -> Self {}
            pub fn read(&self) -> Result<T, ()> {}
            pub fn write(&self) -> Result<T, ()> {}
        }
        pub struct OnceLock<T>;
        impl<T> OnceLock<T> {
            pub fn new() -> Self {}
            pub fn get(&self) -> Option<T> {}
            pub fn get_or_init(&self, f: impl FnOnce() -> T) -> T {}
            pub fn set(&self, value: T) -> Result<(), T> {}
            pub fn take(&mut self) -> Option<T> {}
            pub fn get_mut(&mut self) -> Option<T> {}
            pub fn into_inner(self) -> Option<T> {}
        }
        #[transparent]
        pub struct LazyLock<T>;
        impl<T> LazyLock<T> {
            pub fn new(f: impl FnOnce() -> T) -> T {}
            pub fn force(value: &T) -> T {}
        }
        #[transparent]
        pub struct Weak<T>;
        pub mod mpsc {
            pub fn channel<T>() -> (tokio::sync::mpsc::Sender<T>, Receiver<T>) {}
            pub struct Receiver<T>;
            impl<T> Receiver<T> {
                pub fn recv(&self) -> Result<T, ()> {}
                pub fn iter(&self) -> Iterator<T> {}
                pub fn into_iter(self) -> Iterator<T> {}
                pub fn try_recv(&self) -> Result<T, ()> {}
            }
        }
    }

    pub mod clone {
        /// Methods that all types have.
        pub trait Clone {
            fn clone(&self) -> Self {}
            fn default() -> Self {}
            fn to_owned(&self) -> Self {}
            fn to_string(&self) -> Self {}
            fn as_ref(&self) -> Self {}
            fn as_mut(&mut self) -> Self {}
            fn borrow(&self) -> Self {}
            fn by_ref(&mut self) -> Self {}
        }
        impl<T> Clone for T {}
    }
}
