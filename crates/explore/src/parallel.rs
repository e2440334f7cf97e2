//! Work on several host threads, with results in a fixed order.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs a worker on every number below `count`, on `jobs` host threads. The function `worker`
/// creates the worker of each host thread. The results are in the order of the numbers.
pub(crate) fn in_parallel<T: Send, W: FnMut(usize) -> T>(
    jobs: usize,
    count: usize,
    worker: impl Fn() -> W + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        (index < count).then_some((index, ()))
    };
    pull(jobs.min(count), take, || {
        let mut worker = worker();
        move |index, ()| worker(index)
    })
}

/// Runs a worker on each item that `next` returns, on `jobs` host threads. `next` also returns a
/// number for each item. The results are in the order of these numbers.
pub(crate) fn pull<I, T: Send, W: FnMut(usize, I) -> T>(
    jobs: usize,
    next: impl Fn() -> Option<(usize, I)> + Sync,
    worker: impl Fn() -> W + Sync,
) -> Vec<T> {
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let work = || {
            let mut worker = worker();
            let mut own = Vec::new();
            while let Some((index, item)) = next() {
                own.push((index, worker(index, item)));
            }
            own
        };
        let handles: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        // A worker panics only if an invariant is broken. The panic is then passed on.
        handles.into_iter().flat_map(|handle| handle.join().expect("no worker panics")).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}
