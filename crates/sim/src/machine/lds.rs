//! Local memory and work-group barriers.

use kernel::{Action, Addressing, OpId, Posted};
use proto::{Agent, Op, Order};

use super::access::Phase;
use super::{Event, Machine, Owner};
use crate::coalesce::bank_turns;
use crate::probe::Probe;
use crate::queue::Cycle;

/// From the last wavefront's arrival at a barrier until all go on.
const BARRIER_CYCLES: u64 = 4;

impl<Pr: Probe> Machine<'_, Pr> {
    /// Performs an access to local memory. Its values are there at once; the
    /// time it takes follows from the banks it touches.
    pub(super) fn local_access(&mut self, now: Cycle, number: u32, id: OpId, instr: u32) {
        let wave = &self.waves[number as usize];
        let cu = wave.at.cu as usize;
        let Some(group) = self.groups.get_mut(wave.group) else { return };
        let mut ops = self.session.ops();
        let op = ops.get_mut(id);
        let turns = u64::from(turns(op, self.system.lds.banks));
        let changed = perform(op, &mut group.lds);
        drop(ops);
        if changed {
            self.watch.progress(now);
        }
        let counts = &mut self.tally.counts;
        counts.lds_accesses += 1;
        counts.lds_conflict_cycles += turns.saturating_sub(1);
        let unit = &mut self.cus[cu];
        let start = now.max(unit.lds_free_at);
        unit.lds_free_at = start + turns.max(1);
        let done = start + u64::from(self.system.lds.latency_cycles) + turns.saturating_sub(1);
        self.at(done, Event::Complete(instr));
    }

    /// A wavefront has come to a barrier; first it releases, if it is to.
    pub(super) fn reach_barrier(&mut self, now: Cycle, number: u32, instr: u32, order: Order) {
        if order.releases() {
            return self.ask_fence(now, number, instr, Order::Release, Phase::BarrierRelease);
        }
        self.arrive_at_barrier(now, instr);
    }

    fn ask_fence(&mut self, now: Cycle, wave: u32, number: u32, order: Order, phase: Phase) {
        let agent = Agent::Cu(self.waves[wave as usize].at.cu as u16);
        let Some(instr) = self.instrs.get_mut(number) else { return };
        instr.phase = phase;
        instr.left = 1;
        instr.ask.op = Op::Fence;
        instr.ask.order = order;
        self.ask_order(now, agent, number);
    }

    pub(super) fn arrive_at_barrier(&mut self, now: Cycle, number: u32) {
        let Some(instr) = self.instrs.get_mut(number) else { return };
        let Owner::Wave(wave) = instr.owner else { return };
        instr.phase = Phase::BarrierWait;
        let Some(group) = self.groups.get_mut(self.waves[wave as usize].group) else { return };
        group.at_barrier.push(number);
        if group.at_barrier.len() < group.waves as usize {
            return;
        }
        for instr in core::mem::take(&mut group.at_barrier) {
            self.at(now + BARRIER_CYCLES, Event::Complete(instr));
        }
    }

    /// All wavefronts have come; the one of this instruction goes on, after it
    /// has acquired, if it is to.
    pub(super) fn behind_barrier(&mut self, now: Cycle, number: u32) {
        self.tally.counts.barriers += 1;
        let Some(instr) = self.instrs.get_mut(number) else { return };
        let (Owner::Wave(wave), Some(op)) = (instr.owner, instr.op) else { return };
        let order = self.session.ops().get(op).semantics.order;
        if order.acquires() {
            return self.ask_fence(now, wave, number, Order::Acquire, Phase::BarrierAcquire);
        }
        instr.phase = Phase::BarrierAcquire;
        self.complete(now, number);
    }
}

/// How many turns the banks need.
fn turns(op: &Posted, banks: u32) -> u32 {
    let words = op.width.bytes().div_ceil(4) as u32;
    match op.addressing {
        Addressing::None | Addressing::Single(_) => words.div_ceil(banks).max(1),
        // Consecutive words fill the banks one after the other.
        Addressing::Unit(_) if op.width.bytes() >= 4 => (op.exec.count() * words).div_ceil(banks),
        Addressing::Unit(_) | Addressing::Gather => {
            let offsets = core::array::from_fn(|lane| op.addr(lane).0);
            let shares = matches!(op.action, Action::Load);
            bank_turns(&offsets, op.exec.0, op.width, banks, shares)
        }
    }
}

/// Performs an access of all its lanes, lowest first. Did a byte change?
fn perform(op: &mut Posted, lds: &mut [u8]) -> bool {
    let mut changed = false;
    let bytes = op.width.bytes();
    for lane in op.exec.iter() {
        let at = op.addr(lane).0 as usize;
        // The kernel's handle checks indices; what lies beyond is not there.
        let Some(place) = lds.get_mut(at..at + bytes) else { continue };
        let mut word = [0u8; 8];
        word[..bytes].copy_from_slice(place);
        let old = u64::from_le_bytes(word);
        let new = match op.action {
            Action::Store => op.value(lane),
            Action::Rmw { .. } => op.rmw(lane).map_or(old, |rmw| rmw.apply(old, op.value(lane))),
            _ => old,
        };
        if new != old {
            changed = true;
            place.copy_from_slice(&new.to_le_bytes()[..bytes]);
        }
        if !matches!(op.action, Action::Store) {
            op.set_value(lane, old);
        }
    }
    changed
}
