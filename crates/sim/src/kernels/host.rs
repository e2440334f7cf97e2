//! The host: an in-order agent beside the GPU.
//!
//! Its timed accesses go through its own station at system scope, one at a
//! time. Copies of whole arrays are outside of the timed part: they wait until
//! nothing is under way, and the time of that waiting is not counted.

use std::collections::VecDeque;

use kernel::{OpId, Polled, Session};

use crate::engine::Engine;
use crate::queue::Cycle;
use crate::reports::error::RunError;

/// The host's part of a run.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pending: VecDeque<OpId>,
    waits_for: Option<OpId>,
    /// The timed access under way.
    current: Option<OpId>,
    draining_since: Option<Cycle>,
    /// Does it wait until the kernels so far are released to it?
    waits_for_release: bool,
    /// Cycles spent waiting for the machine to come to rest before a copy.
    untimed_cycles: u64,
    ended: bool,
    /// Has it written since the last kernel began?
    has_written: bool,
}

impl Host {
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Has it something to issue, or to wait for, but the end of kernels?
    pub(crate) fn is_at_work(&self) -> bool {
        self.current.is_some() || !self.pending.is_empty()
    }

    /// Does a copy wait for the machine to come to rest?
    pub(crate) fn is_draining(&self) -> bool {
        self.draining_since.is_some()
    }

    /// Cycles spent waiting for the machine to come to rest before a copy.
    pub(crate) fn untimed_cycles(&self) -> u64 {
        self.untimed_cycles
    }

    /// What its program waits for.
    pub(crate) fn waits_for(&self) -> Option<OpId> {
        self.waits_for
    }

    /// The timed access under way.
    pub(crate) fn current(&self) -> Option<OpId> {
        self.current
    }

    /// Lets its program run until it waits.
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

    /// The next operation begins.
    pub(crate) fn take_next(&mut self) {
        self.pending.pop_front();
    }

    /// The next operation begins: an access, which takes time.
    pub(crate) fn begin(&mut self, id: OpId) {
        self.take_next();
        self.current = Some(id);
    }

    /// An operation is over. Was its program waiting for it?
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

    /// It waits until the kernels so far are released to it; or it waits no longer.
    pub(crate) fn wait_for_release(&mut self, waits: bool) {
        self.waits_for_release = waits;
    }

    /// It waits until the machine comes to rest.
    pub(crate) fn drain(&mut self, now: Cycle) {
        self.draining_since = Some(now);
    }

    /// The machine has come to rest.
    pub(crate) fn drained(&mut self, now: Cycle) {
        if let Some(since) = self.draining_since.take() {
            self.untimed_cycles += now - since;
        }
    }

    /// It writes.
    pub(crate) fn wrote(&mut self) {
        self.has_written = true;
    }

    /// Has it written since the last kernel began? Another one begins now.
    pub(crate) fn take_written(&mut self) -> bool {
        core::mem::take(&mut self.has_written)
    }
}
