mod actions;
mod children;
mod closures;
mod conditions;
mod conversions;
mod failures;
mod generic;
mod helpers;
mod plain;
mod relations;
mod tasks;
mod webhooks;

use opctl_runtime::Runnable;

pub fn all() -> Vec<Runnable> {
    [
        vec![actions::controller(), actions::unit(), children::controller(), closures::controller(), closures::action()],
        vec![conditions::controller(), failures::controller(), generic::memcacheds(), generic::fleet()],
        vec![helpers::controller(), plain::controller(), plain::driven(), relations::controller(), tasks::task(), webhooks::server()],
    ]
    .concat()
}
