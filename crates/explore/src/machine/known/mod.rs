//! The parts of a machine with a program, and the effect of every move of a part. All of this is
//! plain numbers, and a search reads nothing else.
//!
//! A state consists of one word for each node and one word for memory. A node's word is the number
//! of a [part](crate::machine): the node's station (controller with its parked inputs), the threads
//! that run there, and its messages under way. A move changes one or two words. Protocols with
//! logical times have a further word for each node; see [`rebase`].

mod expand;
mod rebase;
mod repeats;

use std::sync::Arc;

use proto::Channels;
use rustc_hash::FxHashMap;

use crate::machine::bounds::Bounds;
use crate::machine::moves::Move;
use crate::subject::Subject;

pub(crate) use expand::{Expansion, Frames, Offer, Sink};
use rebase::Rebase;
pub(crate) use repeats::Repeats;

/// The bit that marks a fault where the number of a part (the state of one node) is expected. The
/// other bits are the number of the fault.
pub(crate) const FAULT: u32 = 1 << 31;
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// The effect of a move on a part of the machine's state. A part is the state of one node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// The part (the state of one node) changes to the part with this number.
    Go(u32),
    /// The part (the state of one node) changes to `rest`, and node `to` receives `input`.
    Send { rest: u32, to: u8, input: u32 },
    /// The part (the state of one node) changes to `rest`, and memory performs the operation `op`.
    /// The reply reaches the part at once if no other node accesses the line; otherwise it is under
    /// way to the part.
    Serve { rest: u32, op: u32 },
    /// The move leads to the fault with this number.
    Fault(u32),
}

/// A move of a part (the state of one node), with its effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartMove {
    pub(crate) mv: Move,
    /// Whether a run may omit the move for ever.
    pub(crate) is_optional: bool,
    pub(crate) effect: Effect,
}

/// The moves and the summary of a part (the state of one node).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartInfo {
    first: u32,
    last: u32,
    /// Whether the part (the state of one node) offers a move that is not optional.
    pub(crate) busy: bool,
    /// Whether a periodic timer of the node runs.
    pub(crate) turns: bool,
    /// The number of preemptions so far of the work-groups at this node, plus [`FULL`] if a queue
    /// is too long for any core to issue. The sum of this number over the nodes of a state decides
    /// which moves are withheld.
    holds: u16,
    /// Whether the threads of the node have completed the current step of the program, and the
    /// requests of all agents (compute units and the command processor) to the node are answered.
    pub(crate) done: bool,
    /// The number of ticks by which the node's clock is ahead of the slowest clock.
    ahead: u8,
    /// Whether the program has a further step.
    more: bool,
}

/// The bit of the field `holds` of a part (node state) that forbids every core to issue. The lower
/// bits of `holds` count preemptions. A state has at most 255 nodes and 255 preemptions, so the sum
/// of `holds` over its nodes fits in 16 bits.
const FULL: u16 = 1 << 8;

/// The part of the transition system that is known so far: the effects of moves of parts (node
/// states).
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) nodes: usize,
    /// Whether the protocol reads a clock, so that time passes.
    pub(crate) clocked: bool,
    /// Whether the messages of a channel may overtake one another.
    overtaking: bool,
    /// The maximum number of ticks between two clocks.
    skew: u8,
    /// The maximum number of preemptions of work-groups in a run. [`FULL`] if the machine has no
    /// preemption.
    preemptions_max: u16,
    /// The known results of moving parts (node states) to other logical times. `None` for protocols
    /// without logical times.
    pub(crate) rebase: Option<Rebase>,
    infos: Vec<Option<PartInfo>>,
    part_moves: Vec<PartMove>,
    after_input: FxHashMap<u64, u32>,
    served: FxHashMap<u64, (u32, u32)>,
    answered: FxHashMap<u64, u32>,
    /// For each part (the state of one node): the part after a tick, and whether only its clock has
    /// changed.
    ticks: FxHashMap<u32, (u32, bool)>,
    /// For each part (the state of one node) whose clock is ahead: the part after a tick of the
    /// slowest clock.
    lagged: FxHashMap<u32, u32>,
    nexts: FxHashMap<u32, u32>,
    pub(crate) faults: Vec<Arc<str>>,
}

pub(crate) const fn pair(a: u32, b: u32) -> u64 {
    (a as u64) << 32 | b as u64
}

impl Known {
    /// The record of known moves for a machine with this number of nodes. It is empty: no move is
    /// known yet.
    pub(crate) fn new(subject: &Subject, nodes: usize, bounds: &Bounds) -> Known {
        Known {
            nodes,
            clocked: subject.is_clocked,
            overtaking: bounds.overtaking || subject.info.channels == Channels::Unordered,
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

    /// Whether all threads and all steps of the program are complete.
    pub(crate) fn is_done(&self, state: &[u32]) -> bool {
        state[..self.nodes].iter().all(|&part| self.info(part).is_some_and(|info| info.done && !info.more))
    }

    /// Whether the current step is complete on all nodes and another step follows.
    pub(crate) fn goes_on(&self, state: &[u32]) -> bool {
        state[..self.nodes].iter().all(|&part| self.info(part).is_some_and(|info| info.done && info.more))
    }

    /// Whether some queue of the state is too long for any core to issue.
    pub(crate) fn has_full_queue(&self, state: &[u32]) -> bool {
        let parts = state[..self.nodes].iter();
        parts.filter_map(|&part| self.info(part)).any(|info| info.holds >= FULL)
    }

    /// The part (the state of one node) in the next step of the program, or `None` if it is not
    /// known yet.
    pub(crate) fn next(&self, part: u32) -> Option<u32> {
        self.nexts.get(&part).copied()
    }

    pub(crate) fn set_next(&mut self, part: u32, to: u32) {
        self.nexts.insert(part, to);
    }

    /// The part (the state of one node) that `part` becomes when it receives `input`, or
    /// `None` if it is not known yet.
    #[inline]
    pub(crate) fn after_input(&self, part: u32, input: u32) -> Option<u32> {
        self.after_input.get(&pair(part, input)).copied()
    }

    pub(crate) fn set_after_input(&mut self, part: u32, input: u32, to: u32) {
        self.after_input.insert(pair(part, input), to);
    }

    /// The number of memory's state after an operation, and the number of the reply. `None` if they
    /// are not known yet.
    #[inline]
    pub(crate) fn served(&self, memory: u32, op: u32) -> Option<(u32, u32)> {
        self.served.get(&pair(memory, op)).copied()
    }

    pub(crate) fn set_served(&mut self, memory: u32, op: u32, to: (u32, u32)) {
        self.served.insert(pair(memory, op), to);
    }

    /// The part (the state of one node) after memory's reply, or `None` if it is not known yet.
    #[inline]
    pub(crate) fn answered(&self, part: u32, reply: u32) -> Option<u32> {
        self.answered.get(&pair(part, reply)).copied()
    }

    pub(crate) fn set_answered(&mut self, part: u32, reply: u32, to: u32) {
        self.answered.insert(pair(part, reply), to);
    }

    /// The part (the state of one node) after a tick, and whether only its clock has changed.
    /// `None` if the result is not known yet.
    pub(crate) fn tick(&self, part: u32) -> Option<(u32, bool)> {
        self.ticks.get(&part).copied()
    }

    pub(crate) fn set_tick(&mut self, part: u32, to: (u32, bool)) {
        self.ticks.insert(part, to);
    }

    /// The part (the state of one node) after a tick of the slowest clock, or `None` if it is not
    /// known yet.
    pub(crate) fn lagged(&self, part: u32) -> Option<u32> {
        self.lagged.get(&part).copied()
    }

    pub(crate) fn set_lagged(&mut self, part: u32, to: u32) {
        self.lagged.insert(part, to);
    }

    /// The number of the fault with this description. A new fault gets a new number.
    pub(crate) fn fault(&mut self, why: &str) -> u32 {
        let at = self.faults.iter().position(|known| &**known == why).unwrap_or_else(|| {
            self.faults.push(Arc::from(why));
            self.faults.len() - 1
        });
        at as u32
    }

    /// The approximate size in bytes of everything that is known about parts (node states) and
    /// their moves.
    pub(crate) fn bytes(&self) -> usize {
        self.infos.capacity() * size_of::<Option<PartInfo>>()
            + self.part_moves.capacity() * size_of::<PartMove>()
            + (self.after_input.capacity() + self.answered.capacity()) * 17
            + self.served.capacity() * 25
            + self.ticks.capacity() * 13
            + (self.lagged.capacity() + self.nexts.capacity()) * 9
            + self.rebase.as_ref().map_or(0, Rebase::bytes)
    }
}
