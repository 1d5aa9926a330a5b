use std::fmt::Debug;

use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

pub async fn exists<K>(api: &Api<K>) -> bool
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    api.get_opt("a").await.is_ok()
}

pub async fn run(_: Client) {}
