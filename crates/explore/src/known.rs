//! What is known of a machine with a program: all its parts, and what every
//! move of a part does. Plain numbers: this is what a search reads.
//!
//! A state is a word for each node and one for memory. A node's word is the
//! number of a [part](crate::machine): its station, the threads that run there,
//! and what it has sent. So a move changes one or two words. Protocols with logical
//! times have a word more for each node; see [`crate::rebase`].

use std::sync::Arc;

use rustc_hash::FxHashMap;

use proto::Protocol;

use crate::bounds::Bounds;
use crate::moves::Move;
use crate::rebase::Rebase;

/// No part: the step is a fault, whose number is in the other bits.
pub(crate) const FAULT: u32 = 1 << 31;
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// What a move of a part does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    /// The part becomes that one.
    Go(u32),
    /// It becomes `rest`, and a node is told something.
    Send { rest: u32, to: u8, told: u32 },
    /// It becomes `rest`, memory performs an operation, and the answer comes.
    Serve { rest: u32, op: u32 },
    /// It must not do that.
    Fault(u32),
}

/// A move of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    pub(crate) mv: Move,
    /// Need it never be made?
    pub(crate) whim: bool,
    pub(crate) does: Does,
}

/// What a part may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    first: u32,
    last: u32,
    /// Must some move be made some day?
    pub(crate) busy: bool,
    /// Does a timer run that runs for ever?
    pub(crate) turns: bool,
    /// What keeps moves of a state from being made: preemptions of the work-groups that
    /// are here, and [`FULL`] if no core is to issue because of its queues.
    holds: u16,
    /// Have its threads come to their ends, and the requests of its step?
    pub(crate) done: bool,
    /// By how many ticks is its clock ahead of the slowest?
    ahead: u8,
    /// Has the program another step behind this one?
    more: bool,
}

/// No core is to issue. Preemptions are counted below it. A machine has at most 255 nodes,
/// so the sum over them fits.
const FULL: u16 = 1 << 8;

/// What becomes of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// Something is not known yet: have it learnt, and ask again.
    Unknown,
    /// It goes on.
    Goes,
    /// The program is over, and nothing moves.
    End,
    /// Nothing moves, and the program is not over.
    Stuck,
    /// That move must not happen.
    Fault(Move, u32),
}

/// Takes the successors of a state.
pub(crate) trait Sink {
    /// A move, and where it leads.
    fn go(&mut self, mv: Move, whim: bool, next: &[u32]);
    /// A move that must wait until some queue is shorter.
    fn wait(&mut self, mv: Move);
    /// A move that must not happen, and the number of its fault.
    fn fault(&mut self, _mv: Move, _fault: u32) {}
}

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) nodes: usize,
    /// Does time pass?
    pub(crate) clocked: bool,
    /// How many ticks may clocks be apart?
    skew: u8,
    /// From so many preemptions on, no work-group is preempted. [`FULL`] where a machine
    /// has no preemption.
    preemptions_max: u16,
    /// Of protocols with logical times.
    pub(crate) rebase: Option<Rebase>,
    infos: Vec<Option<Info>>,
    locals: Vec<Local>,
    told: FxHashMap<u64, u32>,
    served: FxHashMap<u64, (u32, u32)>,
    answered: FxHashMap<u64, u32>,
    /// The part behind a tick, and whether nothing else but its clock has changed.
    ticks: FxHashMap<u32, (u32, bool)>,
    /// The part behind a tick of the slowest clock, by which it is ahead.
    lagged: FxHashMap<u32, u32>,
    nexts: FxHashMap<u32, u32>,
    pub(crate) faults: Vec<Arc<str>>,
}

/// How the parts of a state stand to one another in time.
pub(crate) trait Frames {
    /// What the receiver of a message becomes.
    fn deliver(&self, known: &Known, next: &mut [u32], from: usize, to: usize, told: u32) -> Option<u32>;
    /// Undoes what a delivery has changed beside the words of two parts.
    fn restore(&self, known: &Known, next: &mut [u32], state: &[u32]);
    /// The form in which a state is kept. `room` is room for it.
    fn settle<'a>(&self, known: &Known, next: &'a [u32], room: &'a mut Vec<u32>) -> Option<&'a [u32]>;
}

/// Parts know no logical time.
struct Timeless;

impl Frames for Timeless {
    #[inline]
    fn deliver(&self, known: &Known, next: &mut [u32], _from: usize, to: usize, told: u32) -> Option<u32> {
        known.told(next[to], told)
    }
    #[inline]
    fn restore(&self, _known: &Known, _next: &mut [u32], _state: &[u32]) {}
    #[inline]
    fn settle<'a>(&self, _known: &Known, next: &'a [u32], _room: &'a mut Vec<u32>) -> Option<&'a [u32]> {
        Some(next)
    }
}

pub(crate) const fn pair(a: u32, b: u32) -> u64 {
    (a as u64) << 32 | b as u64
}

impl Known {
    /// Nothing yet, of a machine with so many nodes.
    pub(crate) fn new<P: Protocol>(nodes: usize, bounds: &Bounds) -> Known {
        Known {
            nodes,
            clocked: P::CLOCKED,
            skew: bounds.skew_ticks,
            preemptions_max: if bounds.preemptions > 0 { bounds.preemptions.into() } else { FULL },
            rebase: P::REBASED.map(Rebase::new),
            ..Known::default()
        }
    }

    #[inline]
    pub(crate) fn info(&self, part: u32) -> Option<Info> {
        self.infos.get(part as usize).copied().flatten()
    }

    pub(crate) fn locals(&self, info: Info) -> &[Local] {
        &self.locals[info.first as usize..info.last as usize]
    }

    pub(crate) fn set_info(
        &mut self,
        part: u32,
        locals: &[Local],
        (full, done, more): (bool, bool, bool),
        (ahead, preempted): (u8, u8),
    ) {
        let first = self.locals.len() as u32;
        self.locals.extend_from_slice(locals);
        if self.infos.len() <= part as usize {
            self.infos.resize(part as usize + 1, None);
        }
        let busy = locals.iter().any(|local| !local.whim && !local.mv.is_periodic());
        let turns = locals.iter().any(|local| local.mv.is_periodic());
        let last = self.locals.len() as u32;
        let holds = u16::from(preempted) + if full { FULL } else { 0 };
        let info = Info { first, last, busy, turns, holds, done, ahead, more };
        self.infos[part as usize] = Some(info);
    }

    /// Have all threads come to their ends?
    pub(crate) fn is_done(&self, state: &[u32]) -> bool {
        state[..self.nodes].iter().all(|&part| self.info(part).is_some_and(|info| info.done && !info.more))
    }

    /// Has everything come to the end of a step that is not the last?
    pub(crate) fn goes_on(&self, state: &[u32]) -> bool {
        state[..self.nodes].iter().all(|&part| self.info(part).is_some_and(|info| info.done && info.more))
    }

    /// What a part becomes in the next step of the program.
    pub(crate) fn next(&self, part: u32) -> Option<u32> {
        self.nexts.get(&part).copied()
    }

    pub(crate) fn set_next(&mut self, part: u32, to: u32) {
        self.nexts.insert(part, to);
    }

    /// What a part becomes when it is told something.
    #[inline]
    pub(crate) fn told(&self, part: u32, told: u32) -> Option<u32> {
        self.told.get(&pair(part, told)).copied()
    }

    pub(crate) fn set_told(&mut self, part: u32, told: u32, to: u32) {
        self.told.insert(pair(part, told), to);
    }

    /// Memory and the reply after an operation.
    #[inline]
    pub(crate) fn served(&self, memory: u32, op: u32) -> Option<(u32, u32)> {
        self.served.get(&pair(memory, op)).copied()
    }

    pub(crate) fn set_served(&mut self, memory: u32, op: u32, to: (u32, u32)) {
        self.served.insert(pair(memory, op), to);
    }

    /// What a part becomes when memory has answered.
    #[inline]
    pub(crate) fn answered(&self, part: u32, reply: u32) -> Option<u32> {
        self.answered.get(&pair(part, reply)).copied()
    }

    pub(crate) fn set_answered(&mut self, part: u32, reply: u32, to: u32) {
        self.answered.insert(pair(part, reply), to);
    }

    /// What a part becomes when time passes.
    pub(crate) fn tick(&self, part: u32) -> Option<(u32, bool)> {
        self.ticks.get(&part).copied()
    }

    pub(crate) fn set_tick(&mut self, part: u32, to: (u32, bool)) {
        self.ticks.insert(part, to);
    }

    /// What a part becomes when the slowest clock ticks.
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

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.infos.capacity() * size_of::<Option<Info>>()
            + self.locals.capacity() * size_of::<Local>()
            + (self.told.capacity() + self.answered.capacity()) * 17
            + self.served.capacity() * 25
            + self.ticks.capacity() * 13
            + (self.lagged.capacity() + self.nexts.capacity()) * 9
            + self.rebase.as_ref().map_or(0, Rebase::bytes)
    }

    /// Gives every successor of a state to the sink. `next` is room for one.
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
            for local in self.locals(info) {
                if is_some_held && self.is_held(local.mv, holds, sink) {
                    continue;
                }
                let after = match local.does {
                    Does::Go(to) => {
                        next[node] = to;
                        if !self.go(frames, *local, next, &mut room, sink) {
                            return Expansion::Unknown;
                        }
                        to
                    }
                    Does::Send { rest, to, told } => {
                        let to = usize::from(to);
                        next[node] = rest;
                        let before = next[to];
                        let after = frames.deliver(self, next, node, to, told).unwrap_or(UNKNOWN);
                        if after & FAULT == 0 {
                            next[to] = after;
                            if !self.go(frames, *local, next, &mut room, sink) {
                                return Expansion::Unknown;
                            }
                            next[to] = before;
                        }
                        frames.restore(self, next, state);
                        after
                    }
                    Does::Serve { rest, op } => {
                        let Some((memory, reply)) = self.served(state[nodes], op) else {
                            return Expansion::Unknown;
                        };
                        let after = self.answered(rest, reply).unwrap_or(UNKNOWN);
                        if after & FAULT == 0 {
                            next[node] = after;
                            next[nodes] = memory;
                            if !self.go(frames, *local, next, &mut room, sink) {
                                return Expansion::Unknown;
                            }
                            next[nodes] = state[nodes];
                        }
                        after
                    }
                    Does::Fault(fault) => fault | FAULT,
                };
                next[node] = part;
                if after & FAULT != 0 {
                    let Some(failed) = failed(local.mv, after, sink) else { return Expansion::Unknown };
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

    /// Is the move one of those that are not made?
    fn is_held(&self, mv: Move, holds: u16, sink: &mut impl Sink) -> bool {
        if mv.is_issue() && holds >= FULL {
            sink.wait(mv);
            return true;
        }
        matches!(mv, Move::Preempt { .. }) && holds % FULL >= self.preemptions_max
    }

    /// The next step of the program begins on all nodes at once.
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
        sink.go(Move::Next, false, next);
        None
    }

    /// Gives a successor to the sink, in the form in which it is kept. False if that
    /// is not known yet.
    #[inline]
    fn go(
        &self,
        frames: &impl Frames,
        local: Local,
        next: &[u32],
        room: &mut Vec<u32>,
        sink: &mut impl Sink,
    ) -> bool {
        match frames.settle(self, next, room) {
            Some(next) => sink.go(local.mv, local.whim, next),
            None => return false,
        }
        true
    }

    /// Time passes for all nodes at once.
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
        sink.go(Move::Tick, false, next);
        Expansion::Goes
    }
}

impl Known {
    /// A tick passes for one node, if its clock is not too far ahead then. A node
    /// that is ahead of the slowest clock by the most waits for it.
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
            sink.go(mv, false, next);
        }
        if is_idle { Expansion::Stuck } else { Expansion::Goes }
    }
}

/// None if the step is not known yet.
#[cold]
fn failed(mv: Move, after: u32, sink: &mut impl Sink) -> Option<Expansion> {
    if after == UNKNOWN {
        return None;
    }
    sink.fault(mv, after & !FAULT);
    Some(Expansion::Fault(mv, after & !FAULT))
}
