//! Vector clocks. The clock of a thread tells which operations of other threads happened before the
//! thread's next operation.

/// The number of a thread, which is the host or a wavefront. When the machine becomes idle, the
/// numbers start again. Wavefronts that start together have adjacent numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ThreadId(pub(super) u32);

impl ThreadId {
    /// The number of the host.
    pub(super) const HOST: ThreadId = ThreadId(0);
}

/// A vector clock: for each thread, the number of its latest epoch that is known, or zero. A thread
/// begins a new epoch after each release and each barrier. Only the range of wavefronts with known
/// epochs is stored, because a wavefront usually knows epochs of only a few others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    host: u32,
    first: u32,
    epochs: Vec<u32>,
}

impl Clock {
    /// The latest epoch of `thread` (the time between two of its releases) that this clock knows.
    /// Zero if the clock knows no epoch of `thread`.
    #[inline]
    pub(super) fn of(&self, thread: ThreadId) -> u32 {
        if thread == ThreadId::HOST {
            return self.host;
        }
        match thread.0.checked_sub(self.first) {
            Some(at) => self.epochs.get(at as usize).copied().unwrap_or(0),
            None => 0,
        }
    }

    /// Raises the epoch of `thread` that this clock knows to at least `epoch`. An epoch is the time
    /// between two releases of a thread.
    pub(super) fn learn(&mut self, thread: ThreadId, epoch: u32) {
        if thread == ThreadId::HOST {
            self.host = self.host.max(epoch);
            return;
        }
        self.widen(thread.0, thread.0 + 1);
        let place = &mut self.epochs[(thread.0 - self.first) as usize];
        *place = epoch.max(*place);
    }

    /// Combines this clock with another one: takes the later epoch of each thread. An epoch is the
    /// time between two releases or barriers of a thread.
    pub(super) fn join(&mut self, other: &Clock) {
        self.host = self.host.max(other.host);
        if other.epochs.is_empty() {
            return;
        }
        self.widen(other.first, other.first + other.epochs.len() as u32);
        let from = (other.first - self.first) as usize;
        for (mine, theirs) in self.epochs[from..].iter_mut().zip(&other.epochs) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Extends the range of threads for which this clock stores epochs (times between two releases
    /// of a thread). The new range contains the threads from `first` up to, but not including,
    /// `end`.
    fn widen(&mut self, first: u32, end: u32) {
        if self.epochs.is_empty() {
            self.first = first;
        }
        if first < self.first {
            let more = (self.first - first) as usize;
            self.epochs.splice(0..0, core::iter::repeat_n(0, more));
            self.first = first;
        }
        let len = (end - self.first) as usize;
        if len > self.epochs.len() {
            self.epochs.resize(len, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(of: &[(u32, u32)]) -> Clock {
        let mut clock = Clock::default();
        for &(thread, epoch) in of {
            clock.learn(ThreadId(thread), epoch);
        }
        clock
    }

    #[test]
    fn a_join_takes_the_maximum_of_each_entry() {
        let mut clock_a = clock(&[(7, 3), (9, 1), (0, 2)]);
        clock_a.join(&clock(&[(5, 4), (7, 2), (9, 6), (0, 1)]));
        let found: Vec<u32> = (0..12).map(|thread| clock_a.of(ThreadId(thread))).collect();
        assert_eq!(found, [2, 0, 0, 0, 0, 4, 0, 3, 0, 6, 0, 0]);
    }

    #[test]
    fn only_a_window_is_stored() {
        assert_eq!(clock(&[(1_000_000, 1), (1_000_003, 1)]).epochs.len(), 4);
        let mut empty = Clock::default();
        empty.join(&clock(&[(50, 2)]));
        assert_eq!((empty.first, empty.epochs.len()), (50, 1));
    }
}
