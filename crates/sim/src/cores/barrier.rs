//! Work-group barriers.

use proto::{Op, Order};

use crate::cores::Cores;
use crate::cores::instr::{Owner, Phase};
use crate::engine::{Engine, Event};

/// From the last wavefront's arrival at a barrier until all go on.
const BARRIER_CYCLES: u64 = 4;

impl Cores<'_> {
    /// The instruction of a wavefront becomes a fence in front of its barrier, or behind
    /// it. Says whose.
    pub(crate) fn fence(&mut self, number: u32, order: Order, phase: Phase) -> Option<u32> {
        let instr = self.instrs.get_mut(number)?;
        let Owner::Wave(wave) = instr.owner else { return None };
        instr.phase = phase;
        instr.left = 1;
        instr.ask.op = Op::Fence;
        instr.ask.order = order;
        Some(wave)
    }

    /// A wavefront has come to a barrier. The last one of its work-group lets all go on.
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
