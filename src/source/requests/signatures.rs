//! What kube, and what stands between its calls in the code of operators, takes and gives: declarations that the rest
//! of this folder reads, and nobody compiles.
//!
//! Each module in the root is a crate, and names in it are resolved as in any other code; `std::prelude` is what
//! stands in every module. What is not declared here is of an unknown type, and asks nothing: declare what gets a
//! request, or a type that a request is about, from one place to another. What is understood:
//!
//! - Structs with their type parameters, enums with their variants, aliases, `pub use`, inherent and trait impls with
//!   associated types, traits, free functions. Fields count where they have a type that matters; other bodies of
//!   structs are empty. References, lifetimes and `mut` mean nothing; `Send`, `'static` and other bounds are not
//!   looked at.
//! - A parameter with `= _` is a phantom: code does not write it, it is inferred wherever the type is used.
//! - `#[transparent]` on a struct: it is its first argument (`Arc<T>` is `T`); its functions are found by its name.
//! - Futures, streams and iterators are structs here: `impl Stream<Item = T>`, `dyn Stream<Item = T>` and bounds like
//!   them name their parameters. `.await` takes `Future`'s apart; a `for` takes what `into_iter` gives.
//! - `?` takes the first argument of `Result` and `Option`.
//! - The body of a function is empty, or a call of other functions that makes the same requests.
//! - `#[asks("list", "watch")]` on a function: a call makes requests with these verbs. They are about the parameter `K`
//!   unless `of = Other` names another one, in the namespaces of the parameter `Reach` unless `reach = Other` does.
//!   `subresource = "status"`; `group = "events.k8s.io", resource = "events"` instead of a kind; `optional` where not
//!   every cluster or case needs it.
//! - `#[reach(cluster)]`, `#[reach(some)]`, `#[reach(namespace)]` on a function: what the parameter `Reach` is; the last
//!   form names the argument that says it.
//! - `#[kind(group, kind)]` on a function: `Kind` is what these two of its arguments say.
//! - `#[same_kind]` on a struct: its requests are about its first argument (`PartialObjectMeta<K>`).

mod kube {
    pub use self::client::Client;
    pub use self::api::Api;
    pub use self::core::{Resource, ResourceExt};

    pub mod client {
        pub struct Client;
        impl Client {
            pub async fn try_default() -> Result<Self, Error> {}
        }
    }

    pub mod core {
        pub use self::dynamic::*;
        pub use super::api::{ListParams, ObjectList, Patch, PatchParams, PartialObjectMeta, PartialObjectMetaExt};

        pub mod dynamic {
            #[same_kind]
            pub struct DynamicObject<Kind = _>;
            pub struct ApiResource<Kind = _>;
            pub struct GroupVersionKind<Kind = _>;

            impl<Kind> ApiResource<Kind> {
                pub fn erase<K>(dyntype: &()) -> ApiResource<K> {}
                pub fn from_gvk(gvk: &GroupVersionKind<Kind>) -> Self {}
                pub fn from_gvk_with_plural(gvk: &GroupVersionKind<Kind>, plural: &str) -> Self {}
            }
            impl<Kind> GroupVersionKind<Kind> {
                #[kind(group, kind)]
                pub fn gvk(group: &str, version: &str, kind: &str) -> Self {}
            }
            impl<Kind> super::Resource for DynamicObject<Kind> {
                type DynamicType = ApiResource<Kind>;
            }
        }

        pub trait Resource {
            type DynamicType;
            fn meta(&self) -> &ObjectMeta {}
        }

        pub trait ResourceExt {
            fn name_any(&self) -> String {}
            fn namespace(&self) -> Option<String> {}
        }
        impl<K> ResourceExt for K {}
    }

    pub mod api {
        pub use super::core::dynamic::*;
        pub use super::core::{Resource, ResourceExt};

        pub struct Api<K, Reach = _>;
        pub struct ObjectList<K> {
            pub items: Vec<K>,
        }
        #[same_kind]
        pub struct PartialObjectMeta<K>;

        impl<K, Reach> Api<K, Reach> {
            #[reach(cluster)]
            pub fn all(client: Client) -> Self {}
            #[reach(cluster)]
            pub fn all_with(client: Client, dyntype: &K::DynamicType) -> Self {}
            #[reach(namespace)]
            pub fn namespaced(client: Client, namespace: &str) -> Self {}
            #[reach(ns)]
            pub fn namespaced_with(client: Client, ns: &str, dyntype: &K::DynamicType) -> Self {}
            #[reach(some)]
            pub fn default_namespaced(client: Client) -> Self {}
            #[reach(some)]
            pub fn default_namespaced_with(client: Client, dyntype: &K::DynamicType) -> Self {}
            pub fn into_client(self) -> Client {}

            #[asks("get")]
            pub async fn get(&self, name: &str) -> Result<K, Error> {}
            #[asks("get")]
            pub async fn get_opt(&self, name: &str) -> Result<Option<K>, Error> {}
            #[asks("list")]
            pub async fn list(&self, lp: &ListParams) -> Result<ObjectList<K>, Error> {}
            #[asks("list")]
            pub async fn list_metadata(&self, lp: &ListParams) -> Result<ObjectList<PartialObjectMeta<K>>, Error> {}
            #[asks("create")]
            pub async fn create(&self, pp: &PostParams, data: &K) -> Result<K, Error> {}
            #[asks("patch")]
            pub async fn patch<P>(&self, name: &str, pp: &PatchParams, patch: &Patch<P>) -> Result<K, Error> {}
            #[asks("patch", subresource = "status")]
            pub async fn patch_status<P>(&self, name: &str, pp: &PatchParams, patch: &Patch<P>) -> Result<K, Error> {}
            #[asks("delete")]
            pub async fn delete(&self, name: &str, dp: &DeleteParams) -> Result<Either<K, Status>, Error> {}
        }

        impl<K> ObjectList<K> {
            pub fn iter(&self) -> Iterator<K> {}
            pub fn into_iter(self) -> Iterator<K> {}
        }
    }

    pub mod runtime {
        pub use self::controller::Controller;

        pub mod controller {
            pub struct Controller<K, Reach = _>;
            pub struct Action;
            pub enum Error<E, W> {
                ReconcilerFailed(E, ObjectRef),
            }

            impl<K, Reach> Controller<K, Reach> {
                #[asks("list", "watch")]
                pub fn new(main_api: kube::Api<K, Reach>, wc: Config) -> Self {}
                #[asks("list", "watch", of = Child, reach = Near)]
                pub fn owns<Child, Near>(self, api: kube::Api<Child, Near>, wc: Config) -> Self {}
                #[asks("list", "watch", of = Other, reach = Near)]
                pub fn watches<Other, Near, I>(
                    self,
                    api: kube::Api<Other, Near>,
                    wc: Config,
                    mapper: impl Fn(Other) -> I,
                ) -> Self {
                }
                pub fn with_config(self, config: Config) -> Self {}
                pub fn graceful_shutdown_on(self, trigger: impl Future<Output = ()>) -> Self {}
                pub fn store(&self) -> super::reflector::Store<K> {}
                pub fn run<Fut, Ctx, E>(
                    self,
                    reconciler: impl FnMut(Arc<K>, Arc<Ctx>) -> Fut,
                    error_policy: impl Fn(Arc<K>, &E, Arc<Ctx>) -> Action,
                    context: Arc<Ctx>,
                ) -> impl futures::Stream<Item = Result<(super::reflector::ObjectRef<K>, Action), Error<E, ()>>> {
                }
            }
        }

        pub mod reflector {
            pub struct Store<K>;
            pub struct ObjectRef<K>;

            impl<K> Store<K> {
                pub fn get(&self, key: &ObjectRef<K>) -> Option<Arc<K>> {}
                pub fn state(&self) -> Vec<Arc<K>> {}
            }
        }
    }
}

mod futures {
    pub use self::stream::{Stream, StreamExt};

    pub mod stream {
        pub struct Stream<Item>;
        pub use Stream as StreamExt;

        impl<Item> Stream<Item> {
            pub async fn for_each<Fut>(self, f: impl FnMut(Item) -> Fut) {}
            pub async fn next(&mut self) -> Option<Item> {}
        }
    }
    pub mod future {
        pub type BoxFuture<'a, T> = std::future::Future<T>;
    }
}

mod tokio {
    pub use self::task::spawn;

    pub mod task {
        pub fn spawn<T>(future: impl Future<Output = T>) -> impl Future<Output = Result<T, JoinError>> {}
    }
}

mod std {
    pub mod prelude {
        pub use super::boxed::Box;
        pub use super::future::Future;
        pub use super::iter::{IntoIterator, Iterator};
        pub use super::option::Option;
        pub use super::result::Result;
        pub use super::string::{str, String};
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
            pub fn unwrap_or_default(self) -> T {}
            pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Option<U> {}
            pub fn and_then<U>(self, f: impl FnOnce(T) -> Option<U>) -> Option<U> {}
            pub fn filter(self, f: impl FnOnce(&T) -> bool) -> Option<T> {}
            pub fn map_or<U>(self, default: U, f: impl FnOnce(T) -> U) -> U {}
            pub fn ok_or<E>(self, error: E) -> Result<T, E> {}
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
            pub fn ok(self) -> Option<T> {}
            pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Result<U, E> {}
            pub fn map_err<F>(self, f: impl FnOnce(E) -> F) -> Result<T, F> {}
            pub fn and_then<U>(self, f: impl FnOnce(T) -> Result<U, E>) -> Result<U, E> {}
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
        /// Slices and arrays, too.
        pub struct Vec<T>;
        impl<T> Vec<T> {
            pub fn new() -> Self {}
            pub fn push(&mut self, value: T) {}
            pub fn iter(&self) -> Iterator<T> {}
            pub fn into_iter(self) -> Iterator<T> {}
            pub fn index(&self) -> T {}
        }
    }

    pub mod iter {
        pub struct Iterator<Item>;
        pub type IntoIterator<Item> = Iterator<Item>;
        impl<Item> Iterator<Item> {
            pub fn into_iter(self) -> Self {}
            pub fn next(&mut self) -> Option<Item> {}
            pub fn map<B>(self, f: impl FnMut(Item) -> B) -> Iterator<B> {}
            pub fn filter(self, f: impl FnMut(&Item) -> bool) -> Self {}
            pub fn for_each(self, f: impl FnMut(Item)) {}
            pub fn collect<C>(self) -> C {}
        }
    }

    pub mod future {
        pub struct Future<Output>;
        impl<Output> Future<Output> {
            pub fn into_future(self) -> Self {}
        }
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
    }

    pub mod sync {
        #[transparent]
        pub struct Arc<T>;
        impl<T> Arc<T> {
            pub fn new(value: T) -> T {}
            pub fn clone(value: &T) -> T {}
        }
    }

    pub mod clone {
        /// What all types have.
        pub trait Clone {
            fn clone(&self) -> Self {}
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
