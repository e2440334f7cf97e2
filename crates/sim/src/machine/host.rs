//! The host: an in-order agent beside the GPU.
//!
//! Its timed accesses go through its own station at system scope, one at a
//! time. Copies of whole arrays are outside of the timed part: they wait until
//! nothing is under way, and the time of that waiting is not counted.

use std::collections::VecDeque;

use kernel::{Action, OpId, Polled};
use proto::Agent;
use proto::issue::IssueId;

use super::access::{AskHead, Instr, Phase, split};
use super::{Machine, Owner};
use crate::engine::Event;
use crate::queue::Cycle;
use crate::reports::error::RunError;
use crate::reports::probe::{Probe, WaveAt};
use crate::reports::spent::Beside;

/// The host's part of a run.
#[derive(Debug, Default)]
pub(super) struct HostState {
    pending: VecDeque<OpId>,
    pub(super) waits_for: Option<OpId>,
    /// The timed access under way.
    current: Option<OpId>,
    draining_since: Option<Cycle>,
    /// Does it wait until the kernels so far are released to it?
    waits_for_release: bool,
    /// Cycles spent waiting for the machine to come to rest before a copy.
    pub(super) untimed_cycles: u64,
    ended: bool,
}

impl HostState {
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Has it something to issue, or to wait for, but the end of kernels?
    pub(super) fn is_at_work(&self) -> bool {
        self.current.is_some() || !self.pending.is_empty()
    }

    fn may_go_on(&self) -> bool {
        self.current.is_none() && !self.is_draining() && !self.waits_for_release
    }

    /// Does a copy wait for the machine to come to rest?
    pub(super) fn is_draining(&self) -> bool {
        self.draining_since.is_some()
    }
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// Lets the host's program run until it waits, and starts what it posted.
    pub(super) fn poll_host(&mut self) {
        self.poll_host_once();
        self.host_next();
    }

    fn poll_host_once(&mut self) {
        let polled = self.session.poll_host();
        let mut ops = self.session.ops();
        self.host.pending.extend(ops.posted());
        ops.clear_posted();
        drop(ops);
        match polled {
            Polled::Waiting(op) => self.host.waits_for = Some(op),
            Polled::Ended => {
                self.host.waits_for = None;
                self.host.ended = true;
            }
            Polled::Faulted(fault) => self.engine.fail(RunError::Fault(fault)),
        }
    }

    /// Starts the host's next operations, as far as they need not wait.
    fn host_next(&mut self) {
        let now = self.engine.now();
        while !self.engine.has_failed() && self.host.may_go_on() {
            let Some(&id) = self.host.pending.front() else { return };
            let action = self.session.ops().get(id).action;
            match action {
                // Reading a whole array finds what caches hold: see `read_bytes`.
                Action::Launch(_) | Action::HostRead => {}
                _ => self.host.waits_for_release = self.release_to_host(now),
            }
            if self.host.waits_for_release {
                return;
            }
            match action {
                Action::HostWrite | Action::HostRead => {
                    let is_at_rest = self.engine.is_quiet() && self.instrs.len() == 0;
                    if !is_at_rest && self.kernels.is_idle() {
                        self.host.draining_since = Some(now);
                        return;
                    }
                    self.host.pending.pop_front();
                    self.reports.probe.host_issue(now, self.session.ops().get(id));
                    self.copy(id);
                    self.reports.watch.progress(now);
                    self.host_op_done(id);
                }
                Action::Launch(kernel) => {
                    self.host.pending.pop_front();
                    self.launch(now, kernel);
                }
                _ => {
                    self.host.pending.pop_front();
                    self.host.current = Some(id);
                    let each = u64::from(self.system.host.operation_cycles);
                    let work = self.session.ops().get(id).work;
                    let ops = work.0.iter().map(|&n| u64::from(n)).sum::<u64>();
                    self.reports.watch.busy(now, super::HOST_IS_BUSY, each * (1 + ops));
                    self.engine.at(now + each * (1 + ops), Event::Host);
                }
            }
        }
    }

    /// The machine has come to rest: the copy takes place.
    pub(super) fn host_drained(&mut self) {
        if let Some(since) = self.host.draining_since.take() {
            self.host.untimed_cycles += self.engine.now() - since;
        }
        self.host_next();
    }

    /// What the host accesses next is up to date.
    pub(super) fn released_to_host(&mut self) {
        self.host.waits_for_release = false;
        self.turn(true);
        self.host_next();
    }

    fn copy(&mut self, id: OpId) {
        let mut ops = self.session.ops();
        let op = ops.get_mut(id);
        match op.action {
            Action::HostWrite => {
                self.memory.write(op.base(), &op.bulk);
                drop(ops);
                self.kernels.host_has_written = true;
            }
            _ => {
                let base = op.base();
                let mut bulk = core::mem::take(&mut op.bulk);
                drop(ops);
                self.read_bytes(base, &mut bulk);
                self.session.ops().get_mut(id).bulk = bulk;
            }
        }
    }

    /// Issues the timed access that the host is at.
    #[inline(never)]
    pub(super) fn host_issue(&mut self, now: Cycle) {
        let Some(id) = self.host.current else { return };
        let ops = self.session.ops();
        let op = ops.get(id);
        let mut parts = core::mem::take(&mut self.parts);
        parts.clear();
        split(&mut self.coalescer, op, &mut parts);
        let ask = AskHead::of(op, WaveAt::default(), 0, 0, 1);
        let writes = matches!(op.action, Action::Store | Action::Rmw { .. });
        self.reports.probe.host_issue(now, op);
        if self.reports.watch.is_examining() {
            let site = (op.site.line(), op.site.column());
            self.reports.watch.examine(now, (u32::MAX, site, op.addr(0).0, op.value(0)));
        }
        drop(ops);
        self.kernels.host_has_written |= writes;
        let instr = self.instrs.insert(Instr {
            owner: Owner::Host(id),
            op: Some(id),
            issue: IssueId(0),
            phase: Phase::Simple,
            left: parts.len().max(1) as u32,
            done_at: now,
            issued_at: now,
            ask,
            kept: None,
            spent: Beside::default(),
            spent_now: Beside::default(),
        });
        if parts.is_empty() {
            self.ask_order(now, Agent::Host(0), instr);
        } else {
            self.reports.tally.counts.host_accesses += 1;
            self.ask_lines(now, Agent::Host(0), instr, &parts);
        }
        self.parts = parts;
    }

    /// An operation of the host is complete: an access, or a kernel.
    pub(super) fn host_completed(&mut self, now: Cycle, id: OpId) {
        debug_assert_eq!(now, self.engine.now());
        if self.host.current == Some(id) {
            self.host.current = None;
        }
        self.host_op_done(id);
        self.host_next();
    }

    fn host_op_done(&mut self, id: OpId) {
        let mut ops = self.session.ops();
        self.reports.probe.host_complete(self.engine.now(), ops.get(id));
        ops.complete(id);
        drop(ops);
        if self.host.waits_for == Some(id) {
            self.host.waits_for = None;
            self.poll_host_once();
        }
    }
}
