//! The accesses of memory-side caches to DRAM.
//!
//! If DRAM serves accesses in order of arrival, the end of an access is known when the cache makes
//! it. If DRAM prefers open rows, the end is known only when DRAM has served the access. Then
//! [`Behind`] collects the accesses of an operation, and [`Fills`] remembers the operations that wait
//! for them. The answers about one line leave in the order in which the operations arrived, so no
//! operation gets ahead of a fill of its line.

use std::collections::VecDeque;

use proto::{ByteMask, Homes, LineAddr};
use rustc_hash::FxHashMap;

use crate::memory::dram::{ByteLocation, Dram};
use crate::memory::scheduler::Request;
use crate::queue::Cycle;
use crate::reports::probe::Probe;
use crate::slab::Slab;

/// An access to one line of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// A read that a write of the same line follows at once: the first half of a read-modify-write.
    ReadForUpdate,
    Write(ByteMask),
}

/// An access that reaches DRAM later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deferred {
    /// The access. Its number is not yet known.
    pub(super) request: Request,
    /// Whether the operation waits for the access. It does not wait for the write of an evicted line.
    pub(super) is_awaited: bool,
}

/// Main memory behind all memory-side caches, for one operation.
pub(crate) struct Behind<'a, Pr> {
    pub(crate) dram: &'a mut Dram,
    pub(crate) homes: &'a Homes,
    pub(crate) line_bytes: u32,
    pub(crate) probe: &'a mut Pr,
    /// The accesses of the operation that reach DRAM later. `None` if DRAM serves accesses in order of
    /// arrival.
    pub(crate) deferred: Option<Vec<Deferred>>,
    /// The cycles that the operation has waited, so far, for busy DRAM.
    pub(crate) dram_wait: u64,
    /// The cycles that the operation has waited, so far, for busy memory-side caches.
    pub(crate) side_wait: u64,
}

impl<Pr: Probe> Behind<'_, Pr> {
    /// Serves an access that reaches DRAM at cycle `now`. Returns the cycle at which it is done, or the
    /// cycle `now` if DRAM serves the access later.
    #[inline]
    pub(crate) fn access(&mut self, now: Cycle, line: LineAddr, access: Access) -> Cycle {
        let located = ByteLocation::of(line, self.homes, self.line_bytes);
        let (bytes, is_write) = match access {
            Access::Read | Access::ReadForUpdate => (self.line_bytes, false),
            Access::Write(mask) => (mask.count(), true),
        };
        if let Some(deferred) = &mut self.deferred {
            let (channel, bank, row) = self.dram.place(located);
            let (read_bytes, written_bytes) = ((!is_write).then_some(bytes), is_write.then_some(bytes));
            let (number, address, arrived) = (0, located.address, now);
            let request = Request { number, channel, bank, row, address, read_bytes, written_bytes, arrived };
            deferred.push(Deferred { request, is_awaited: true });
            return now;
        }
        let queued = self.dram.traffic().queue_cycles;
        let served = self.dram.access(now, located, bytes, is_write);
        self.dram_wait += self.dram.traffic().queue_cycles - queued;
        self.probe.dram(&served);
        served.done
    }

    /// Performs accesses for which the operation does not wait.
    pub(super) fn aside(&mut self, accesses: impl FnOnce(&mut Self)) {
        let waits = (self.dram_wait, self.side_wait);
        let first = self.deferred.as_ref().map_or(0, Vec::len);
        accesses(self);
        (self.dram_wait, self.side_wait) = waits;
        for deferred in self.deferred.iter_mut().flat_map(|all| &mut all[first..]) {
            deferred.is_awaited = false;
        }
    }
}

/// An access of a memory-side cache that DRAM has not completed.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    request: Request,
    /// The line and the number of the operation that waits for the access.
    operation: Option<(LineAddr, u32)>,
    /// The cycles that the access waited for busy DRAM.
    waited: u64,
}

/// An operation that waits for accesses to DRAM, or for earlier operations on its line.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u32,
    /// The number of accesses for which the operation still waits.
    outstanding: usize,
    /// The first cycle at which the answer can leave, from the times of the caches alone.
    ready_at: Cycle,
    /// The cycles that the operation's accesses waited for busy DRAM.
    dram_wait: u64,
}

/// The answer to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ready {
    /// The number of the operation.
    pub(super) number: u32,
    /// The cycle at which the answer leaves.
    pub(super) at: Cycle,
    /// The cycles that the operation's accesses waited for busy DRAM.
    pub(super) dram_wait: u64,
}

/// The accesses of memory-side caches that DRAM has not completed, and the operations that wait for
/// them.
#[derive(Debug, Default)]
pub(super) struct Fills {
    accesses: Slab<Outstanding>,
    /// For each line, the operations without an answer, in the order of their arrival.
    lines: FxHashMap<LineAddr, VecDeque<Waiting>>,
}

impl Fills {
    /// Adds the accesses of an operation on a line. Without an access, the answer could leave at cycle
    /// `ready_at`. Returns the numbers of the accesses, each with the cycle at which it reaches DRAM.
    pub(super) fn begin(
        &mut self,
        line: LineAddr,
        number: u32,
        ready_at: Cycle,
        deferred: &[Deferred],
    ) -> Vec<(u32, Cycle)> {
        let outstanding = deferred.iter().filter(|access| access.is_awaited).count();
        let waiting = Waiting { number, outstanding, ready_at, dram_wait: 0 };
        self.lines.entry(line).or_default().push_back(waiting);
        let accesses = &mut self.accesses;
        let add = |access: &Deferred| {
            let operation = access.is_awaited.then_some((line, number));
            let request = access.request;
            (accesses.insert(Outstanding { request, operation, waited: 0 }), request.arrived)
        };
        deferred.iter().map(add).collect()
    }

    /// The access of this number, as a request to DRAM.
    pub(super) fn request(&self, number: u32) -> Option<Request> {
        self.accesses.get(number).map(|access| Request { number, ..access.request })
    }

    /// Records that DRAM has served an access, which waited for `waited` cycles. Returns whether an
    /// operation waits for its data.
    pub(super) fn served(&mut self, number: u32, waited: u64) -> bool {
        let Some(access) = self.accesses.get_mut(number) else { return false };
        access.waited = waited;
        if access.operation.is_none() {
            self.accesses.free(number);
            return false;
        }
        true
    }

    /// Records that the data of an access have arrived. Returns the line of its operation.
    pub(super) fn arrived(&mut self, number: u32) -> Option<LineAddr> {
        let Outstanding { operation, waited, .. } = self.accesses.remove(number)?;
        let (line, operation) = operation?;
        let waiting = self.lines.get_mut(&line)?.iter_mut().find(|waiting| waiting.number == operation)?;
        waiting.outstanding -= 1;
        waiting.dram_wait += waited;
        Some(line)
    }

    /// The next answer about a line, at cycle `now`. `None` if the oldest operation waits for an access.
    pub(super) fn answer(&mut self, now: Cycle, line: LineAddr) -> Option<Ready> {
        let operations = self.lines.get_mut(&line)?;
        let &Waiting { number, ready_at, dram_wait, .. } =
            operations.front().filter(|waiting| waiting.outstanding == 0)?;
        operations.pop_front();
        if operations.is_empty() {
            self.lines.remove(&line);
        }
        Some(Ready { number, at: ready_at.max(now), dram_wait })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(arrived: Cycle, is_awaited: bool) -> Deferred {
        let (number, channel, bank, row, address) = (0, 0, 0, 0, 0);
        let (read_bytes, written_bytes) = (Some(64), None);
        let request = Request { number, channel, bank, row, address, read_bytes, written_bytes, arrived };
        Deferred { request, is_awaited }
    }

    fn ready(number: u32, at: Cycle, dram_wait: u64) -> Option<Ready> {
        Some(Ready { number, at, dram_wait })
    }

    #[test]
    fn an_answer_waits_for_its_accesses_and_for_earlier_answers_about_its_line() {
        let mut fills = Fills::default();
        let (line, other) = (LineAddr(3), LineAddr(4));
        let accesses = fills.begin(line, 10, 7, &[access(5, true), access(6, false), access(7, true)]);
        assert_eq!(accesses, [(0, 5), (1, 6), (2, 7)]);
        assert_eq!(fills.answer(7, line), None);
        // A hit under the miss, and a hit of another line.
        assert_eq!(fills.begin(line, 11, 30, &[]), []);
        assert_eq!(fills.begin(other, 12, 9, &[]), []);
        assert_eq!((fills.answer(8, line), fills.answer(8, other)), (None, ready(12, 9, 0)));
        assert!(fills.served(2, 3), "an operation waits for the data");
        assert!(!fills.served(1, 100), "no operation waits for the write of an evicted line");
        assert!(fills.served(0, 4));
        assert_eq!((fills.arrived(2), fills.answer(20, line)), (Some(line), None));
        assert_eq!((fills.arrived(0), fills.answer(25, line)), (Some(line), ready(10, 25, 7)));
        assert_eq!(fills.answer(25, line), ready(11, 30, 0));
        assert_eq!(fills.answer(25, line), None);
        assert!(fills.lines.is_empty() && fills.accesses.len() == 0);
    }
}
