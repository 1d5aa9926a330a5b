//! Runs parts of a command in parallel, each with a stack as large as that of the main thread, so that the same limits
//! on nesting apply in all of them.

use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism, scope};

const STACK: usize = 32 << 20;

/// The number of cores. Cached, because Linux reads several files to determine it.
pub static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));

/// Maps items in parallel, with one thread per core. The results are in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    // Starting a thread takes as long as processing a small CRD.
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

/// Runs both in parallel. Panics are propagated.
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
