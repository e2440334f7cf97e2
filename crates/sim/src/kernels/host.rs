//! The host: an in-order agent beside the GPU.
//!
//! Its timed accesses go through its own station at system scope, one at a time.
//! Copies of whole arrays are not timed: a copy waits until nothing is under way,
//! and the run's cycles exclude that wait.

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
    /// The timed access under way.
    current: Option<OpId>,
    draining_since: Option<Cycle>,
    /// Whether it waits for the release of the completed kernels.
    waits_for_release: bool,
    /// The cycles of waits before copies.
    untimed_cycles: u64,
    ended: bool,
    /// Whether it has written since the last kernel began.
    has_written: bool,
}

impl Host {
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether it has an operation to issue or under way. A wait for the end of a
    /// kernel does not count.
    pub(crate) fn is_at_work(&self) -> bool {
        self.current.is_some() || !self.pending.is_empty()
    }

    /// Whether a copy waits until nothing is under way.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining_since.is_some()
    }

    /// The cycles of waits before copies, which the run's cycles exclude.
    pub(crate) fn untimed_cycles(&self) -> u64 {
        self.untimed_cycles
    }

    /// The operation that its program waits for.
    pub(crate) fn waits_for(&self) -> Option<OpId> {
        self.waits_for
    }

    /// The timed access under way.
    pub(crate) fn current(&self) -> Option<OpId> {
        self.current
    }

    /// Runs its program until it waits.
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

    /// The next operation, unless it must wait.
    pub(crate) fn next(&self) -> Option<OpId> {
        let may_go_on = self.current.is_none() && !self.is_draining() && !self.waits_for_release;
        self.pending.front().copied().filter(|_| may_go_on)
    }

    /// Takes the next operation.
    pub(crate) fn take_next(&mut self) {
        self.pending.pop_front();
    }

    /// Takes the next operation, a timed access, which begins now.
    pub(crate) fn begin(&mut self, id: OpId) {
        self.take_next();
        self.current = Some(id);
    }

    /// Ends an operation. Returns true if the program was waiting for it.
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

    /// Begins or ends the wait for the release of the completed kernels.
    pub(crate) fn wait_for_release(&mut self, waits: bool) {
        self.waits_for_release = waits;
    }

    /// Begins the wait until nothing is under way.
    pub(crate) fn drain(&mut self, now: Cycle) {
        self.draining_since = Some(now);
    }

    /// Ends the wait: nothing is under way.
    pub(crate) fn drained(&mut self, now: Cycle) {
        if let Some(since) = self.draining_since.take() {
            self.untimed_cycles += now - since;
        }
    }

    /// Records a write by the host.
    pub(crate) fn wrote(&mut self) {
        self.has_written = true;
    }

    /// Returns whether the host has written since the last kernel began, and resets
    /// that, because the next kernel begins.
    pub(crate) fn take_written(&mut self) -> bool {
        core::mem::take(&mut self.has_written)
    }
}
