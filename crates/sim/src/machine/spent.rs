//! On what operations spend their time: on the access, on acquiring, on
//! releasing.
//!
//! The time of an operation is that of its slowest line, whose request says
//! step by step what it is at.

use proto::{Op, Spending};

use super::Machine;
use super::access::{Instr, Phase};
use crate::fabric::{Out, StationId};
use crate::probe::Probe;
use crate::queue::Cycle;

/// Cycles beside the access itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beside {
    pub(super) acquire: u64,
    pub(super) release: u64,
}

impl Beside {
    fn add(&mut self, more: Beside) {
        self.acquire += more.acquire;
        self.release += more.release;
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
    /// A request that comes to its station.
    pub(super) fn new(now: Cycle, op: Op) -> Spent {
        let on = match op {
            Op::KernelBegin(_) => Spending::Acquire,
            Op::KernelEnd(_) => Spending::Release,
            Op::Load | Op::Store | Op::Rmw(_) | Op::Fence => Spending::Access,
        };
        Spent { beside: Beside::default(), on, since: now }
    }

    fn turn(&mut self, now: Cycle, on: Spending) {
        self.beside = self.until(now);
        self.on = on;
        self.since = now;
    }

    /// What it has spent when it is answered.
    pub(super) fn until(&self, now: Cycle) -> Beside {
        let mut beside = self.beside;
        match self.on {
            Spending::Access => {}
            Spending::Acquire => beside.acquire += now - self.since,
            Spending::Release => beside.release += now - self.since,
        }
        beside
    }
}

impl Instr {
    /// The requests of this phase are answered; others may follow.
    pub(super) fn close_phase(&mut self) {
        self.spent.add(core::mem::take(&mut self.spent_now));
    }
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// Requests turn to something else.
    #[inline(never)]
    pub(super) fn spend_all(&mut self, now: Cycle, station: StationId, out: &mut Out) {
        let port = self.port_of(station);
        for (slot, on) in out.spends.drain(..) {
            let flights = port.map(|port| &mut self.ports[port as usize].flights);
            if let Some(flight) = flights.and_then(|flights| flights.get_mut(slot.0)) {
                flight.spent.turn(now, on);
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
        let Beside { acquire, release } = instr.spent;
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
