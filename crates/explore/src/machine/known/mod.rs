//! The parts of a machine with a program, and the effect of every move of a part. All of it is
//! plain numbers, and a search reads nothing else.
//!
//! A state is a word for each node and one for memory. A node's word is the number of a
//! [part](crate::machine): its station, the threads that run there, and its messages under
//! way. A move changes one or two words. Protocols with logical times have a further word for
//! each node; see [`crate::machine::rebase`].

mod expand;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::machine::bounds::Bounds;
use crate::machine::moves::Move;
use crate::machine::rebase::Rebase;
use crate::subject::Subject;

pub(crate) use expand::{Expansion, Frames, Sink};

/// Marks a fault in place of a part. The other bits number the fault.
pub(crate) const FAULT: u32 = 1 << 31;
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// The effect of a move of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// The part becomes this one.
    Go(u32),
    /// The part becomes `rest`, and node `to` receives an input.
    Send { rest: u32, to: u8, told: u32 },
    /// The part becomes `rest`, memory performs an operation, and the answer comes.
    Serve { rest: u32, op: u32 },
    /// The move is a fault.
    Fault(u32),
}

/// A move of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartMove {
    pub(crate) mv: Move,
    /// True if a run may omit the move for ever.
    pub(crate) is_optional: bool,
    pub(crate) effect: Effect,
}

/// The moves and the summary of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartInfo {
    first: u32,
    last: u32,
    /// True if the part offers a move that is not optional.
    pub(crate) busy: bool,
    /// True if a periodic timer runs.
    pub(crate) turns: bool,
    /// The preemptions of the work-groups here so far, and [`FULL`] if a queue is too long for
    /// any core to issue. The sum over the nodes of a state decides which moves are held.
    holds: u16,
    /// True if its threads and the requests of its step are complete.
    pub(crate) done: bool,
    /// The ticks by which its clock is ahead of the slowest.
    ahead: u8,
    /// True if the program has a further step.
    more: bool,
}

/// No core may issue. The bits below count preemptions. A machine has at most 255 nodes, so
/// the sum over them fits.
const FULL: u16 = 1 << 8;

/// The known part of the transition system.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) nodes: usize,
    /// True if time passes.
    pub(crate) clocked: bool,
    /// The most ticks between two clocks.
    skew: u8,
    /// No work-group is preempted after this many preemptions. [`FULL`] if the machine has no
    /// preemption.
    preemptions_max: u16,
    /// Present for protocols with logical times.
    pub(crate) rebase: Option<Rebase>,
    infos: Vec<Option<PartInfo>>,
    part_moves: Vec<PartMove>,
    told: FxHashMap<u64, u32>,
    served: FxHashMap<u64, (u32, u32)>,
    answered: FxHashMap<u64, u32>,
    /// The part after a tick, and whether only its clock has changed.
    ticks: FxHashMap<u32, (u32, bool)>,
    /// The part after a tick of the slowest clock, which it is ahead of.
    lagged: FxHashMap<u32, u32>,
    nexts: FxHashMap<u32, u32>,
    pub(crate) faults: Vec<Arc<str>>,
}

pub(crate) const fn pair(a: u32, b: u32) -> u64 {
    (a as u64) << 32 | b as u64
}

impl Known {
    /// Nothing known yet, for a machine with this many nodes.
    pub(crate) fn new(subject: &Subject, nodes: usize, bounds: &Bounds) -> Known {
        Known {
            nodes,
            clocked: subject.is_clocked,
            skew: bounds.skew_ticks,
            preemptions_max: if bounds.preemptions > 0 { bounds.preemptions.into() } else { FULL },
            rebase: subject.rebased.map(Rebase::new),
            ..Known::default()
        }
    }

    #[inline]
    pub(crate) fn info(&self, part: u32) -> Option<PartInfo> {
        self.infos.get(part as usize).copied().flatten()
    }

    pub(crate) fn part_moves(&self, info: PartInfo) -> &[PartMove] {
        &self.part_moves[info.first as usize..info.last as usize]
    }

    pub(crate) fn set_info(
        &mut self,
        part: u32,
        part_moves: &[PartMove],
        (full, done, more): (bool, bool, bool),
        (ahead, preempted): (u8, u8),
    ) {
        let first = self.part_moves.len() as u32;
        self.part_moves.extend_from_slice(part_moves);
        if self.infos.len() <= part as usize {
            self.infos.resize(part as usize + 1, None);
        }
        let busy = part_moves.iter().any(|part_move| !part_move.is_optional && !part_move.mv.is_periodic());
        let turns = part_moves.iter().any(|part_move| part_move.mv.is_periodic());
        let last = self.part_moves.len() as u32;
        let holds = u16::from(preempted) + if full { FULL } else { 0 };
        let info = PartInfo { first, last, busy, turns, holds, done, ahead, more };
        self.infos[part as usize] = Some(info);
    }

    /// True if all threads and all steps of the program are complete.
    pub(crate) fn is_done(&self, state: &[u32]) -> bool {
        state[..self.nodes].iter().all(|&part| self.info(part).is_some_and(|info| info.done && !info.more))
    }

    /// True if a step is complete on all nodes and is not the last.
    pub(crate) fn goes_on(&self, state: &[u32]) -> bool {
        state[..self.nodes].iter().all(|&part| self.info(part).is_some_and(|info| info.done && info.more))
    }

    /// The part in the next step of the program.
    pub(crate) fn next(&self, part: u32) -> Option<u32> {
        self.nexts.get(&part).copied()
    }

    pub(crate) fn set_next(&mut self, part: u32, to: u32) {
        self.nexts.insert(part, to);
    }

    /// The part after an input.
    #[inline]
    pub(crate) fn told(&self, part: u32, told: u32) -> Option<u32> {
        self.told.get(&pair(part, told)).copied()
    }

    pub(crate) fn set_told(&mut self, part: u32, told: u32, to: u32) {
        self.told.insert(pair(part, told), to);
    }

    /// Memory and the answer after an operation.
    #[inline]
    pub(crate) fn served(&self, memory: u32, op: u32) -> Option<(u32, u32)> {
        self.served.get(&pair(memory, op)).copied()
    }

    pub(crate) fn set_served(&mut self, memory: u32, op: u32, to: (u32, u32)) {
        self.served.insert(pair(memory, op), to);
    }

    /// The part after memory's answer.
    #[inline]
    pub(crate) fn answered(&self, part: u32, reply: u32) -> Option<u32> {
        self.answered.get(&pair(part, reply)).copied()
    }

    pub(crate) fn set_answered(&mut self, part: u32, reply: u32, to: u32) {
        self.answered.insert(pair(part, reply), to);
    }

    /// The part after a tick, and whether only its clock has changed.
    pub(crate) fn tick(&self, part: u32) -> Option<(u32, bool)> {
        self.ticks.get(&part).copied()
    }

    pub(crate) fn set_tick(&mut self, part: u32, to: (u32, bool)) {
        self.ticks.insert(part, to);
    }

    /// The part after a tick of the slowest clock.
    pub(crate) fn lagged(&self, part: u32) -> Option<u32> {
        self.lagged.get(&part).copied()
    }

    pub(crate) fn set_lagged(&mut self, part: u32, to: u32) {
        self.lagged.insert(part, to);
    }

    /// The number of a fault.
    pub(crate) fn fault(&mut self, why: &str) -> u32 {
        let at = self.faults.iter().position(|known| &**known == why).unwrap_or_else(|| {
            self.faults.push(Arc::from(why));
            self.faults.len() - 1
        });
        at as u32
    }

    /// Approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.infos.capacity() * size_of::<Option<PartInfo>>()
            + self.part_moves.capacity() * size_of::<PartMove>()
            + (self.told.capacity() + self.answered.capacity()) * 17
            + self.served.capacity() * 25
            + self.ticks.capacity() * 13
            + (self.lagged.capacity() + self.nexts.capacity()) * 9
            + self.rebase.as_ref().map_or(0, Rebase::bytes)
    }
}
