//! The expansion of a state: all its successors, computed from its parts (the states of its nodes).

use crate::machine::known::{Effect, FAULT, FULL, Known, PartMove, UNKNOWN};
use crate::machine::moves::Move;

/// The result of the expansion of a state (the computation of all its successors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// The effect of some move is not known yet. The caller computes the effect and expands again.
    Unknown,
    /// The state has at least one successor.
    Goes,
    /// The program is over, and no move is possible.
    End,
    /// No move is possible, and the program is not over.
    Stuck,
    /// The move leads to a fault, whose number follows.
    Fault(Move, u32),
}

/// A move that a state offers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) mv: Move,
    /// Whether a run may omit the move for ever.
    pub(crate) is_optional: bool,
    /// The input that the move delivers, if the channels keep no order. The position in a
    /// [`Move::Deliver`] changes while a message waits; the input's number does not.
    input: Option<u32>,
    /// The index of the move among the moves of all parts, or `None` for a move of all nodes.
    pub(crate) at: Option<u32>,
}

impl Offer {
    /// An offer of a move that a run must make eventually and that delivers no message.
    fn of(mv: Move) -> Offer {
        Offer { mv, is_optional: false, input: None, at: None }
    }

    /// The identity of the move, for fairness. If all states of a run offer a move with the same
    /// identity, a fair run makes the move.
    pub(crate) fn identity(self) -> (Move, Option<u32>) {
        match (self.mv, self.input) {
            (Move::Deliver { from, to, .. }, Some(_)) => (Move::Deliver { from, to, nth: 0 }, self.input),
            (mv, _) => (mv, None),
        }
    }
}

/// The receiver of the successors of a state.
pub(crate) trait Sink {
    /// Receives a successor: the move that a state offers, and the next state.
    fn go(&mut self, offer: Offer, next: &[u32]);
    /// Receives a move that must wait until a queue is shorter.
    fn wait(&mut self, mv: Move);
    /// Receives a faulty move, with the number of the fault.
    fn fault(&mut self, _mv: Move, _fault: u32) {}
}

/// The relation between the logical times in the parts (node states) of a state. Each part is
/// stored relative to its own time base.
pub(crate) trait Frames {
    /// The part (the state of one node) of the receiver after the delivery of an input, or `None`
    /// if the result is not known yet.
    fn deliver(&self, known: &Known, next: &mut [u32], from: usize, to: usize, input: u32) -> Option<u32>;
    /// Undoes the changes that a delivery makes to the state `next`, except to the parts (node
    /// states) of the sender and the receiver.
    fn restore(&self, known: &Known, next: &mut [u32], state: &[u32]);
    /// The canonical form of a state, or `None` if it is not known yet. `room` is a buffer for the
    /// result.
    fn settle<'a>(&self, known: &Known, next: &'a [u32], room: &'a mut Vec<u32>) -> Option<&'a [u32]>;
}

/// The [`Frames`] (relation of the logical times in the parts of a state) of a protocol without
/// logical time. There are no times to relate.
struct Timeless;

impl Frames for Timeless {
    #[inline]
    fn deliver(&self, known: &Known, next: &mut [u32], _from: usize, to: usize, input: u32) -> Option<u32> {
        known.after_input(next[to], input)
    }
    #[inline]
    fn restore(&self, _known: &Known, _next: &mut [u32], _state: &[u32]) {}
    #[inline]
    fn settle<'a>(&self, _known: &Known, next: &'a [u32], _room: &'a mut Vec<u32>) -> Option<&'a [u32]> {
        Some(next)
    }
}

impl Known {
    /// Gives every successor of a state to `sink`, which receives successors. `next` is a buffer
    /// for one state.
    pub(crate) fn expand(&self, state: &[u32], next: &mut Vec<u32>, sink: &mut impl Sink) -> Expansion {
        match &self.rebase {
            None => self.expand_in(&Timeless, state, next, sink),
            Some(rebase) => self.expand_in(rebase, state, next, sink),
        }
    }

    #[inline]
    fn expand_in(
        &self,
        frames: &impl Frames,
        state: &[u32],
        next: &mut Vec<u32>,
        sink: &mut impl Sink,
    ) -> Expansion {
        let mut room = Vec::new();
        let nodes = self.nodes;
        let (mut busy, mut turns, mut holds, mut done, mut more) = (false, false, 0, true, false);
        for &part in &state[..nodes] {
            let Some(info) = self.info(part) else { return Expansion::Unknown };
            busy |= info.busy;
            turns |= info.turns;
            holds += info.holds;
            done &= info.done;
            more |= info.more;
        }
        let is_some_held = holds >= self.preemptions_max;
        let goes_on = done && more;
        if !busy && !goes_on {
            if done {
                return Expansion::End;
            }
            if !self.clocked && !turns {
                return Expansion::Stuck;
            }
        }
        next.clear();
        next.extend_from_slice(state);
        let mut fault = None;
        for (node, &part) in state[..nodes].iter().enumerate() {
            let Some(info) = self.info(part) else { return Expansion::Unknown };
            for (at, part_move) in (info.first..).zip(self.part_moves(info)) {
                if is_some_held && self.is_held(part_move.mv, holds, sink) {
                    continue;
                }
                let after = match part_move.effect {
                    Effect::Go(to) => {
                        next[node] = to;
                        if !self.go(frames, (at, *part_move), next, &mut room, sink) {
                            return Expansion::Unknown;
                        }
                        to
                    }
                    Effect::Send { rest, to, input } => {
                        let to = usize::from(to);
                        next[node] = rest;
                        let before = next[to];
                        let after = frames.deliver(self, next, node, to, input).unwrap_or(UNKNOWN);
                        if after & FAULT == 0 {
                            next[to] = after;
                            if !self.go(frames, (at, *part_move), next, &mut room, sink) {
                                return Expansion::Unknown;
                            }
                            next[to] = before;
                        }
                        frames.restore(self, next, state);
                        after
                    }
                    Effect::Serve { rest, op } => {
                        let Some((memory, reply)) = self.served(state[nodes], op) else {
                            return Expansion::Unknown;
                        };
                        let after = self.answered(rest, reply).unwrap_or(UNKNOWN);
                        if after & FAULT == 0 {
                            next[node] = after;
                            next[nodes] = memory;
                            if !self.go(frames, (at, *part_move), next, &mut room, sink) {
                                return Expansion::Unknown;
                            }
                            next[nodes] = state[nodes];
                        }
                        after
                    }
                    Effect::Fault(fault) => fault | FAULT,
                };
                next[node] = part;
                if after & FAULT != 0 {
                    let Some(failed) = failed(part_move.mv, after, sink) else { return Expansion::Unknown };
                    fault.get_or_insert(failed);
                }
            }
        }
        if let Some(fault) = fault {
            return fault;
        }
        if goes_on && let Some(failed) = self.go_on((state, frames), next, sink) {
            return failed;
        }
        let moves = busy || turns || goes_on;
        match (self.clocked, self.skew) {
            (false, _) => Expansion::Goes,
            (true, 0) => self.pass_time((state, frames), next, sink, moves),
            (true, _) => self.pass_time_apart((state, frames), next, sink, moves),
        }
    }

    /// Whether the machine withholds the move: an issue while some queue is full, or a preemption
    /// after the maximum number. `holds` is the sum of the `holds` fields of all parts (node
    /// states): it counts preemptions, and marks full queues.
    fn is_held(&self, mv: Move, holds: u16, sink: &mut impl Sink) -> bool {
        if mv.is_issue() && holds >= FULL {
            sink.wait(mv);
            return true;
        }
        matches!(mv, Move::Preempt { .. }) && holds % FULL >= self.preemptions_max
    }

    /// Expands the state whose step is complete on all nodes: the next step of the program begins
    /// on all nodes at once. Returns `None` if this move has no fault and its result is known.
    fn go_on(
        &self,
        (state, frames): (&[u32], &impl Frames),
        next: &mut [u32],
        sink: &mut impl Sink,
    ) -> Option<Expansion> {
        for (node, &part) in state[..self.nodes].iter().enumerate() {
            let after = self.next(part).unwrap_or(UNKNOWN);
            if after & FAULT != 0 {
                return Some(failed(Move::Next, after, sink).unwrap_or(Expansion::Unknown));
            }
            next[node] = after;
        }
        let mut room = Vec::new();
        let Some(next) = frames.settle(self, next, &mut room) else { return Some(Expansion::Unknown) };
        sink.go(Offer::of(Move::Next), next);
        None
    }

    /// Gives a successor in canonical form to `sink`, which receives successors. Returns false if
    /// that form is not known yet.
    #[inline]
    fn go(
        &self,
        frames: &impl Frames,
        (at, part_move): (u32, PartMove),
        next: &[u32],
        room: &mut Vec<u32>,
        sink: &mut impl Sink,
    ) -> bool {
        let PartMove { mv, is_optional, effect } = part_move;
        let input = match effect {
            Effect::Send { input, .. } if self.overtaking => Some(input),
            _ => None,
        };
        let Some(next) = frames.settle(self, next, room) else { return false };
        sink.go(Offer { mv, is_optional, input, at: Some(at) }, next);
        true
    }

    /// Expands a state by a tick that passes for all nodes at once.
    fn pass_time(
        &self,
        (state, frames): (&[u32], &impl Frames),
        next: &mut [u32],
        sink: &mut impl Sink,
        busy: bool,
    ) -> Expansion {
        for (node, &part) in state[..self.nodes].iter().enumerate() {
            let (after, _) = self.tick(part).unwrap_or((UNKNOWN, false));
            if after & FAULT != 0 {
                return failed(Move::Tick, after, sink).unwrap_or(Expansion::Unknown);
            }
            next[node] = after;
        }
        let mut room = Vec::new();
        let Some(next) = frames.settle(self, next, &mut room) else { return Expansion::Unknown };
        if next == state {
            return if busy { Expansion::Goes } else { Expansion::Stuck };
        }
        sink.go(Offer::of(Move::Tick), next);
        Expansion::Goes
    }
}

impl Known {
    /// Expands a state by ticks of single nodes: each node whose clock may tick gives one
    /// successor. A node whose clock is ahead of the slowest clock by the maximum must wait.
    fn pass_time_apart(
        &self,
        (state, frames): (&[u32], &impl Frames),
        next: &mut [u32],
        sink: &mut impl Sink,
        busy: bool,
    ) -> Expansion {
        let mut room = Vec::new();
        let parts = &state[..self.nodes];
        let ahead = |part: u32| self.info(part).map_or(0, |info| info.ahead);
        let slowest = parts.iter().filter(|&&part| ahead(part) == 0).count();
        let mut is_idle = !busy;
        for (node, &part) in parts.iter().enumerate() {
            let mv = Move::TickAt { node: node as u8 };
            let (after, only_clock) = self.tick(part).unwrap_or((UNKNOWN, false));
            is_idle &= only_clock;
            if ahead(part) >= self.skew && after != UNKNOWN {
                continue;
            }
            if after & FAULT != 0 {
                return failed(mv, after, sink).unwrap_or(Expansion::Unknown);
            }
            next.copy_from_slice(state);
            next[node] = after;
            if slowest == 1 && ahead(part) == 0 {
                for word in &mut next[..self.nodes] {
                    let Some(lagged) = self.lagged(*word) else { return Expansion::Unknown };
                    *word = lagged;
                }
            }
            let Some(next) = frames.settle(self, next, &mut room) else { return Expansion::Unknown };
            sink.go(Offer::of(mv), next);
        }
        if is_idle { Expansion::Stuck } else { Expansion::Goes }
    }
}

/// Gives the fault of a move to `sink`, which receives the successors of a state. Returns `None` if
/// the effect of the move is not known yet.
#[cold]
fn failed(mv: Move, after: u32, sink: &mut impl Sink) -> Option<Expansion> {
    if after == UNKNOWN {
        return None;
    }
    sink.fault(mv, after & !FAULT);
    Some(Expansion::Fault(mv, after & !FAULT))
}
