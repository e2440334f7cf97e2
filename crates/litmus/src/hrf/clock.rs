//! Vector clocks that record which accesses each thread knows. An access is known to a thread if it
//! happens before the thread's next step. A closure is a set of synchronization edges that
//! happens-before may combine. Each closure has its own clocks.
//!
//! The time of a thread is the number of its accesses. If a thread knows an access of another
//! thread, it also knows the earlier accesses of that thread. So one number `n` is sufficient for
//! each other thread: it says that the thread knows the first `n` accesses of that other thread.

use super::scoping::Channel;

/// The clocks of all threads and channels. An access is known to a thread if it happens before the
/// thread's next step. A channel carries known accesses from releases to acquires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clocks {
    threads: usize,
    closures: usize,
    /// For each closure (a set of edges that happens-before may combine) and each pair of threads,
    /// the number of accesses of the second thread that the first thread knows. Indexed as
    /// `[closure][knowing thread][known thread]`.
    known: Vec<u16>,
    /// For each channel and each thread, the number of accesses of the thread that the channel
    /// carries. A channel carries known accesses from releases to acquires. Indexed as
    /// `[channel][known thread]`.
    released: Vec<u16>,
}

impl Clocks {
    pub(crate) fn new(threads: usize, closures: usize, channels: usize) -> Clocks {
        Clocks {
            threads,
            closures,
            known: vec![0; closures * threads * threads],
            released: vec![0; channels * threads],
        }
    }

    pub(crate) fn copy_from(&mut self, from: &Clocks) {
        self.known.copy_from_slice(&from.known);
        self.released.copy_from_slice(&from.released);
    }

    fn row(&self, closure: usize, thread: usize) -> usize {
        (closure * self.threads + thread) * self.threads
    }

    /// Records that thread `t` has made `count` accesses.
    pub(crate) fn set_own(&mut self, t: usize, count: usize) {
        for closure in 0..self.closures {
            let row = self.row(closure, t);
            self.known[row + t] = count as u16;
        }
    }

    /// Adds to the channel the accesses that thread `t` knows (that happen before its next step). A
    /// channel carries known accesses from releases to acquires.
    pub(crate) fn release(&mut self, t: usize, channel: Channel, slots: [usize; 2]) {
        let row = self.row(usize::from(channel.closure), t);
        for slot in slots {
            let start = (channel.base as usize + slot) * self.threads;
            for u in 0..self.threads {
                let to = &mut self.released[start + u];
                *to = (*to).max(self.known[row + u]);
            }
        }
    }

    /// Adds the accesses that the channel carries to the accesses that thread `t` knows (that
    /// happen before its next step).
    pub(crate) fn acquire(&mut self, t: usize, channel: Channel, slots: [usize; 2]) {
        let row = self.row(usize::from(channel.closure), t);
        for slot in slots {
            let start = (channel.base as usize + slot) * self.threads;
            for u in 0..self.threads {
                let to = &mut self.known[row + u];
                *to = (*to).max(self.released[start + u]);
            }
        }
    }

    /// Whether the access of thread `u` with number `index` is known to thread `t` (happens before
    /// its next step) in at least one closure (a set of edges that happens-before may combine).
    pub(crate) fn knows(&self, t: usize, u: usize, index: usize) -> bool {
        (0..self.closures).any(|closure| usize::from(self.known[self.row(closure, t) + u]) > index)
    }

    /// The clock of thread `t` in each closure (a set of edges that happens-before may combine).
    /// The clock has, for each thread, the number of its accesses that thread `t` knows.
    pub(crate) fn of_thread(&self, t: usize) -> impl Iterator<Item = &[u16]> {
        (0..self.closures).map(move |closure| {
            let row = self.row(closure, t);
            &self.known[row..row + self.threads]
        })
    }

    /// The clock of each channel, which carries known accesses from releases to acquires. The clock
    /// has, for each thread, the number of its accesses that the channel carries.
    pub(crate) fn of_channels(&self) -> impl Iterator<Item = &[u16]> {
        self.released.chunks_exact(self.threads.max(1))
    }
}
