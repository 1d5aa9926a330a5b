//! Other things have methods of these names, too.

use std::collections::BTreeMap;

use kube::Client;

struct Api;

impl Api {
    fn list(&self) -> Vec<u8> {
        Vec::new()
    }
}

pub async fn run(_: Client) {
    let map: BTreeMap<String, u8> = BTreeMap::new();
    map.get("a");
    Api.list();
}
