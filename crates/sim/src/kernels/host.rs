//! The host: the CPU beside the GPU. It executes its operations in order.
//!
//! The host makes one timed access at a time. These accesses have system scope and go through a
//! station (a controller of the protocol) of the host. Copies of whole arrays are not timed: a copy
//! waits until nothing is outstanding in the machine, and the run's cycles exclude that wait.

use std::collections::VecDeque;

use kernel::{OpId, Polled, Session};

use crate::engine::Engine;
use crate::queue::Cycle;
use crate::reports::error::RunError;

/// The state of the host during a run.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pending: VecDeque<OpId>,
    waits_for: Option<OpId>,
    /// The timed access that the host has issued and that is not complete. `None` if there is no
    /// such access.
    current: Option<OpId>,
    draining_since: Option<Cycle>,
    /// Whether the host waits until the writes of the completed kernels are released to it.
    waits_for_release: bool,
    /// The cycles for which copies of whole arrays by the host have waited for the machine to
    /// become idle. The run's cycles exclude these waits.
    untimed_cycles: u64,
    ended: bool,
    /// Whether the host has written since the last kernel began.
    has_written: bool,
}

impl Host {
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether the host has an operation to issue or an access that is not complete. A wait for the
    /// end of a kernel does not count.
    pub(crate) fn is_at_work(&self) -> bool {
        self.current.is_some() || !self.pending.is_empty()
    }

    /// Whether a host copy (a copy of a whole array) waits until nothing is outstanding in the
    /// machine.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining_since.is_some()
    }

    /// The cycles for which copies of whole arrays by the host have waited for the machine to
    /// become idle. The run's cycles exclude these waits.
    pub(crate) fn untimed_cycles(&self) -> u64 {
        self.untimed_cycles
    }

    /// The operation that the host code waits for. `None` if it waits for no operation.
    pub(crate) fn waits_for(&self) -> Option<OpId> {
        self.waits_for
    }

    /// The timed access that the host has issued and that is not complete. `None` if there is no
    /// such access.
    pub(crate) fn current(&self) -> Option<OpId> {
        self.current
    }

    /// Runs the host code until it waits for an operation or ends.
    pub(crate) fn poll(&mut self, engine: &mut Engine, session: &mut Session) {
        let polled = session.poll_host();
        let mut ops = session.ops();
        self.pending.extend(ops.posted());
        ops.clear_posted();
        drop(ops);
        match polled {
            Polled::Waiting(op) => self.waits_for = Some(op),
            Polled::Ended => {
                self.waits_for = None;
                self.ended = true;
            }
            Polled::Faulted(fault) => engine.fail(RunError::Fault(fault)),
        }
    }

    /// The next operation of the host that may start. `None` if there is no operation, or the host
    /// must wait before it.
    pub(crate) fn next(&self) -> Option<OpId> {
        let may_go_on = self.current.is_none() && !self.is_draining() && !self.waits_for_release;
        self.pending.front().copied().filter(|_| may_go_on)
    }

    /// Removes the host's next operation from the queue of posted operations.
    pub(crate) fn take_next(&mut self) {
        self.pending.pop_front();
    }

    /// Removes the host's next operation, a timed access, from the queue and marks it as issued.
    pub(crate) fn begin(&mut self, id: OpId) {
        self.take_next();
        self.current = Some(id);
    }

    /// Ends an operation of the host. Returns true if the host code was waiting for it.
    pub(crate) fn end(&mut self, id: OpId) -> bool {
        if self.current == Some(id) {
            self.current = None;
        }
        let waits = self.waits_for == Some(id);
        if waits {
            self.waits_for = None;
        }
        waits
    }

    /// Begins the host's wait for the release of the completed kernels if `waits` is true, and ends
    /// it otherwise.
    pub(crate) fn wait_for_release(&mut self, waits: bool) {
        self.waits_for_release = waits;
    }

    /// Begins the wait of a host copy (a copy of a whole array). The wait ends when nothing is
    /// outstanding in the machine.
    pub(crate) fn drain(&mut self, now: Cycle) {
        self.draining_since = Some(now);
    }

    /// Ends the wait of a host copy (a copy of a whole array), because nothing is outstanding in
    /// the machine.
    pub(crate) fn drained(&mut self, now: Cycle) {
        if let Some(since) = self.draining_since.take() {
            self.untimed_cycles += now - since;
        }
    }

    /// Records that the host has written to memory.
    pub(crate) fn wrote(&mut self) {
        self.has_written = true;
    }

    /// Returns whether the host has written to memory since the last kernel began. The next kernel
    /// begins now, so from now on the answer is no until the host writes again.
    pub(crate) fn take_written(&mut self) -> bool {
        core::mem::take(&mut self.has_written)
    }
}
