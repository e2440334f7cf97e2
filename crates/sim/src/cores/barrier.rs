//! Work-group barriers: wavefronts arrive, and all of them continue after the last arrival.

use proto::{Op, Order};

use crate::cores::Cores;
use crate::cores::instr::{Owner, Phase};
use crate::engine::{Engine, Event};

/// Cycles from the arrival of the last wavefront at a barrier until all wavefronts of the
/// work-group continue.
const BARRIER_CYCLES: u64 = 4;

impl Cores<'_> {
    /// Turns the barrier instruction of a wavefront into a fence for one phase: the release before
    /// the barrier or the acquire after it, as `order` and `phase` say. `number` is the number of
    /// the instruction. Returns the number of the wavefront.
    pub(crate) fn fence(&mut self, number: u32, order: Order, phase: Phase) -> Option<u32> {
        let instr = self.instrs.get_mut(number)?;
        let Owner::Wave(wave) = instr.owner else { return None };
        instr.phase = phase;
        instr.left = 1;
        instr.head.op = Op::Fence;
        instr.head.order = order;
        Some(wave)
    }

    /// Records the arrival of a wavefront at a barrier. The last arrival of a
    /// work-group lets all of its wavefronts continue.
    pub(crate) fn arrive_at_barrier(&mut self, engine: &mut Engine, number: u32) {
        let Some(instr) = self.instrs.get_mut(number) else { return };
        let Owner::Wave(wave) = instr.owner else { return };
        instr.phase = Phase::BarrierWait;
        let Some(group) = self.groups.get_mut(self.waves[wave as usize].group) else { return };
        group.at_barrier.push(number);
        if group.at_barrier.len() < group.waves as usize {
            return;
        }
        for instr in core::mem::take(&mut group.at_barrier) {
            engine.at(engine.now() + BARRIER_CYCLES, Event::Complete(instr));
        }
    }
}
