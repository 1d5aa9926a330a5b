//! Runs parts of a command in parallel, each with a stack as large as that of the main thread, so that the same limits
//! on nesting apply in all of them.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism, scope};

const STACK: usize = 32 << 20;

static CORES: OnceLock<usize> = OnceLock::new();

/// The number of threads that work at the same time: that of the cores. Cached, because Linux reads several files to
/// determine it.
pub fn cores() -> usize {
    *CORES.get_or_init(|| available_parallelism().map_or(1, usize::from))
}

/// Sets the number of threads, for measurements that must not depend on the machine.
///
/// # Panics
///
/// If threads were started already.
pub fn set_cores(cores: usize) {
    CORES.set(cores).expect("the number of threads is set before there are any");
}

/// Maps items in parallel, with one thread per core. The results are in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_with(items, || (), |(), item| work(item))
}

/// Like [`map`], with a value for each thread that the work on one item leaves to the work on the next. No result may
/// depend on it.
pub fn map_with<T: Sync, R: Send, S>(
    items: &[T],
    new: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let part = |items: &[T]| {
        let mut state = new();
        Vec::from_iter(items.iter().map(|item| work(&mut state, item)))
    };
    // Starting a thread takes as long as processing a small CRD.
    if items.len() < 4 {
        return part(items);
    }
    let (own, others) = items.split_at(items.len().div_ceil(cores()));
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
