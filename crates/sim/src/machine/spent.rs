//! On what operations spend their time: on waiting for the port, on acquiring,
//! on releasing, in queues on the way, and on the access.
//!
//! The time of an operation is that of its slowest line, whose request says
//! step by step what it is at. What an answer has waited for in queues is known
//! from the messages that brought it.

use proto::{Op, Spending};

use super::Machine;
use super::access::{Instr, Phase};
use crate::queue::Cycle;
use crate::reports::attribution::{Trail, small};
use crate::reports::probe::Probe;
use crate::stations::fabric::{Out, StationId};

/// Cycles beside the access itself. An operation takes far fewer than 2^32;
/// what is beyond counts as access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beside {
    /// In front of the L1's port.
    pub(super) port: u32,
    pub(super) acquire: u32,
    pub(super) release: u32,
    /// In queues, wherever it was at that time.
    pub(super) noc: u32,
    pub(super) bank: u32,
    pub(super) dram: u32,
    /// In queues while it acquired or released.
    pub(super) acquire_queued: u32,
    pub(super) release_queued: u32,
}

impl Beside {
    fn add(&mut self, more: &Beside) {
        self.port = self.port.saturating_add(more.port);
        self.acquire = self.acquire.saturating_add(more.acquire);
        self.release = self.release.saturating_add(more.release);
        self.noc = self.noc.saturating_add(more.noc);
        self.bank = self.bank.saturating_add(more.bank);
        self.dram = self.dram.saturating_add(more.dram);
        self.acquire_queued = self.acquire_queued.saturating_add(more.acquire_queued);
        self.release_queued = self.release_queued.saturating_add(more.release_queued);
    }
}

/// The time of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    beside: Beside,
    on: Spending,
    since: Cycle,
}

impl Spent {
    /// A request that comes to its station, after it has waited for the port.
    #[inline]
    pub(super) fn new(now: Cycle, op: Op, waited: Cycle) -> Spent {
        let on = match op {
            Op::KernelBegin(_) => Spending::Acquire,
            Op::KernelEnd(_) => Spending::Release,
            Op::Load | Op::Store | Op::Rmw(_) | Op::Fence => Spending::Access,
        };
        Spent { beside: Beside { port: small(waited), ..Beside::default() }, on, since: now }
    }

    /// What it has spent until now, when something came that has waited in
    /// queues. A queue counts no longer than the request has been at what it
    /// is at: what came may have been under way before.
    #[inline]
    pub(super) fn until(&self, now: Cycle, trail: Trail) -> Beside {
        let mut beside = self.beside;
        let all = small(now - self.since);
        let mut left = all;
        let mut take = |queued: u32| {
            let taken = queued.min(left);
            left -= taken;
            taken
        };
        if trail != Trail::default() {
            beside.dram = beside.dram.saturating_add(take(trail.dram));
            beside.bank = beside.bank.saturating_add(take(trail.bank));
            beside.noc = beside.noc.saturating_add(take(trail.noc));
        }
        match self.on {
            Spending::Access => {}
            Spending::Acquire => {
                beside.acquire = beside.acquire.saturating_add(all);
                beside.acquire_queued = beside.acquire_queued.saturating_add(all - left);
            }
            Spending::Release => {
                beside.release = beside.release.saturating_add(all);
                beside.release_queued = beside.release_queued.saturating_add(all - left);
            }
        }
        beside
    }
}

impl Instr {
    /// The request for one line is answered at that time. What the operation spends is
    /// what its slowest line spends.
    #[inline]
    pub(super) fn answered(&mut self, at: Cycle, spent: impl FnOnce() -> Beside) {
        self.left -= 1;
        if at >= self.done_at {
            self.spent_now = spent();
            self.done_at = at;
        }
    }

    /// The requests of this phase are answered; others may follow.
    pub(super) fn close_phase(&mut self) {
        self.spent.add(&self.spent_now);
        self.spent_now = Beside::default();
    }
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// Requests turn to something else.
    #[inline(never)]
    pub(super) fn spend_all(&mut self, now: Cycle, station: StationId, trail: Trail, out: &mut Out) {
        let mut port = self.ports.get_mut(station);
        for (slot, on) in out.spends.drain(..) {
            if let Some(flight) = port.as_mut().and_then(|port| port.flights.get_mut(slot.0)) {
                let beside = flight.spent.until(now, trail);
                flight.spent = Spent { beside, on, since: now };
            }
        }
    }

    /// Counts the time of an operation that is complete.
    pub(super) fn count_wait(&mut self, instr: &Instr, now: Cycle) {
        if instr.phase == Phase::Lds {
            return;
        }
        let counts = &mut self.tally.counts;
        let all = now - instr.issued_at;
        let (acquire, release) = (u64::from(instr.spent.acquire), u64::from(instr.spent.release));
        let access = all - acquire - release;
        counts.op_wait_cycles += all;
        counts.acquire_wait_cycles += acquire;
        counts.release_wait_cycles += release;
        let ask = &instr.ask;
        *match (instr.phase, ask.op) {
            (Phase::Simple, Op::Load) if ask.order.is_atomic() => &mut counts.atomic_load_wait_cycles,
            (Phase::Simple, Op::Load) => &mut counts.load_wait_cycles,
            (Phase::Simple, Op::Store) if ask.order.is_atomic() => &mut counts.atomic_store_wait_cycles,
            (Phase::Simple, Op::Store) => &mut counts.store_wait_cycles,
            (Phase::Simple, Op::Rmw(_)) => &mut counts.atomic_rmw_wait_cycles,
            // The way of an order to its station belongs to the order.
            (Phase::Simple, Op::KernelEnd(_)) => &mut counts.release_wait_cycles,
            (Phase::Simple, Op::Fence) if ask.order.releases() => &mut counts.release_wait_cycles,
            (Phase::Simple, Op::KernelBegin(_) | Op::Fence) => &mut counts.acquire_wait_cycles,
            _ => &mut counts.barrier_wait_cycles,
        } += access;
    }
}
