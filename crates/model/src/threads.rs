//! Parts of a command that run at the same time, each on a stack that is as large as that of the main thread: the same limits on
//! nesting hold in all of them.

use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism, scope};

const STACK: usize = 32 << 20;

/// Linux reads several files to tell.
pub static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));

/// The results of many items, in their order, by as many threads as the machine has cores.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    // Starting a thread takes as long as a small CRD.
    if items.len() < 4 {
        return items.iter().map(work).collect();
    }
    let part = |items: &[T]| Vec::from_iter(items.iter().map(&work));
    let (own, others) = items.split_at(items.len().div_ceil(*CORES));
    scope(|scope| {
        let part = &part;
        let others: Vec<_> = others.chunks(own.len()).map(|items| spawn(scope, move || part(items))).collect();
        part(own).into_iter().chain(others.into_iter().flat_map(join)).collect()
    })
}

/// Runs both; a panic goes on here.
pub fn both<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (A, B) {
    scope(|scope| {
        let other = spawn(scope, other);
        let own = own();
        (join(other), own)
    })
}

pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    run: impl FnOnce() -> T + Send + 'scope,
) -> ScopedJoinHandle<'scope, T> {
    Builder::new().stack_size(STACK).spawn_scoped(scope, run).expect("a few threads can be started")
}

pub fn join<T>(thread: ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
