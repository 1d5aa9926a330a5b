//! Distributes the work of one test to all cores.

use std::thread;

/// Calls a function with each value, on all cores. The results are unordered.
pub fn on_all_cores<T: Sync, R: Send>(values: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let part = |core| values.iter().skip(core).step_by(cores).map(&each).collect::<Vec<R>>();
    let part = &part;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|core| scope.spawn(move || part(core))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}
