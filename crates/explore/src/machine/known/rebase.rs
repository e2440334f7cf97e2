//! Logical time: the meaning of a state does not depend on absolute times.
//!
//! The logical times of a timestamp protocol only advance, so the protocol has infinitely many
//! states. Most of these states differ only in their times. The times of a state are therefore
//! rebased over all nodes and messages together: the least time of the state becomes zero, and gaps
//! wider than [`proto::Protocol::REBASED`] are narrowed to that width.
//!
//! A part (the state of one node) is stored once, under a number, with times relative to the part's
//! own least time. After its other words, a state has one more word for each node. This word is the
//! offset of the part's least time from the least time of the state. So there are few different
//! parts, and the effect of a part's move is computed once for all times. If a move delivers an
//! input from one part to another, both parts are expressed relative to the smaller of their two
//! offsets.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::machine::Machine;
use crate::machine::controllers::{StationInput, Word};
use crate::machine::known::{Effect, FAULT, Frames, Known, UNKNOWN, pair};

/// Different logical times, earliest first.
pub(crate) type Times = SmallVec<[u32; 8]>;

/// The known results of changing the logical times of parts (node states).
#[derive(Debug)]
pub(crate) struct Rebase {
    /// The width to which wider gaps between times are narrowed.
    apart: u32,
    /// The logical times in each part (the state of one node), if they are known.
    times: Vec<Option<Times>>,
    /// The key is a part (the state of one node) and a list of times. The value is the part that
    /// differs from the key's part only in having these times.
    recast: FxHashMap<(u32, Times), u32>,
    /// The key is an input and a number of ticks. The value is the input with all its times
    /// increased by this number.
    later: FxHashMap<u64, u32>,
}

/// The logical times of one node in a rebased state: the times relative to the least time of the
/// node, and the offset of this least time from the least time of the state.
struct Rebased {
    times: Times,
    offset: u32,
}

fn plus(times: &Times, ticks: u32) -> Times {
    times.iter().map(|time| time + ticks).collect()
}

impl Rebase {
    pub(crate) fn new(apart: u32) -> Rebase {
        Rebase {
            apart: apart.max(1),
            times: Vec::new(),
            recast: FxHashMap::default(),
            later: FxHashMap::default(),
        }
    }

    fn times(&self, part: u32) -> Option<&Times> {
        self.times.get(part as usize).and_then(Option::as_ref)
    }

    /// The part (the state of one node) that is equal to `part` except that it has these times.
    /// `None` if it is not known yet.
    fn cast(&self, part: u32, times: Times) -> Option<u32> {
        match self.times(part)? == &times {
            true => Some(part),
            false => self.recast.get(&(part, times)).copied(),
        }
    }

    fn later_input(&self, input: u32, ticks: u32) -> Option<u32> {
        if ticks == 0 { Some(input) } else { self.later.get(&pair(input, ticks)).copied() }
    }

    /// Pairs of parts (node states) that differ only in their times.
    pub(super) fn casts(&self) -> impl Iterator<Item = (u32, u32)> {
        self.recast.iter().map(|(&(part, _), &to)| (part, to))
    }

    /// Pairs of inputs that differ only in their times.
    pub(super) fn later_inputs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.later.iter().map(|(&key, &to)| ((key >> 32) as u32, to))
    }

    /// The common time base of two parts (node states) between which a move delivers an input, and
    /// the numbers of ticks by which the receiver and the input are shifted. If the receiver has no
    /// times, the base is that of the sender, and nothing is shifted. `None` if the times of the
    /// receiver are not known yet.
    fn meet(&self, receiver: (u32, u32), sender_offset: u32) -> Option<(u32, u32, u32)> {
        let (part, offset) = receiver;
        if self.times(part)?.is_empty() {
            return Some((sender_offset, 0, 0));
        }
        let from = offset.min(sender_offset);
        Some((from, offset - from, sender_offset - from))
    }

    /// The times and the offset of each part (the state of one node) after a rebase of the state:
    /// gaps above `apart` between the times of the state are shortened to `apart`. `None` if the
    /// times of some part are not known yet.
    fn rebased(&self, nodes: usize, state: &[u32]) -> Option<SmallVec<[Rebased; 8]>> {
        let mut all: SmallVec<[u32; 32]> = SmallVec::new();
        for (&part, &offset) in state[..nodes].iter().zip(&state[nodes + 1..]) {
            all.extend(self.times(part)?.iter().map(|time| time + offset));
        }
        all.sort_unstable();
        all.dedup();
        let mut to: SmallVec<[u32; 32]> = SmallVec::new();
        for (at, &time) in all.iter().enumerate() {
            to.push(match at {
                0 => 0,
                _ => to[at - 1] + (time - all[at - 1]).min(self.apart),
            });
        }
        let mut rebased = SmallVec::new();
        for (&part, &offset) in state[..nodes].iter().zip(&state[nodes + 1..]) {
            let of = |time: &u32| all.binary_search(&(time + offset)).map_or(0, |at| to[at]);
            let mut times: Times = self.times(part)?.iter().map(of).collect();
            let offset = times.first().copied().unwrap_or(0);
            times.iter_mut().for_each(|time| *time -= offset);
            rebased.push(Rebased { times, offset });
        }
        Some(rebased)
    }

    /// The approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.times.capacity() * size_of::<Option<Times>>()
            + self.recast.capacity() * (size_of::<(u32, Times)>() + 5)
            + self.later.capacity() * 13
    }
}

impl Frames for Rebase {
    fn deliver(&self, known: &Known, next: &mut [u32], from: usize, to: usize, input: u32) -> Option<u32> {
        let offsets = known.nodes + 1;
        let receiver = (next[to], next[offsets + to]);
        let (since, receiver_shift, input_shift) = self.meet(receiver, next[offsets + from])?;
        let part = self.cast(receiver.0, plus(self.times(receiver.0)?, receiver_shift))?;
        let after = known.after_input(part, self.later_input(input, input_shift)?)?;
        next[offsets + to] = since;
        Some(after)
    }

    fn restore(&self, known: &Known, next: &mut [u32], state: &[u32]) {
        let offsets = known.nodes + 1;
        next[offsets..].copy_from_slice(&state[offsets..]);
    }

    fn settle<'a>(&self, known: &Known, next: &'a [u32], room: &'a mut Vec<u32>) -> Option<&'a [u32]> {
        let nodes = known.nodes;
        room.clear();
        room.extend_from_slice(next);
        for (node, Rebased { times, offset }) in self.rebased(nodes, next)?.into_iter().enumerate() {
            room[node] = self.cast(next[node], times)?;
            room[nodes + 1 + node] = offset;
        }
        Some(room)
    }
}

impl Machine {
    fn rebase(&mut self) -> &mut Rebase {
        self.known.rebase.as_mut().expect("called only if the protocol has logical times")
    }

    fn learn_times(&mut self, part: u32) -> Times {
        if let Some(times) = self.rebase().times(part) {
            return times.clone();
        }
        let mut times = Times::new();
        self.retimed(part, &mut |time| {
            times.push(time);
            time
        });
        times.sort_unstable();
        times.dedup();
        let rebase = self.rebase();
        let at = part as usize;
        if rebase.times.len() <= at {
            rebase.times.resize(at + 1, None);
        }
        rebase.times[at] = Some(times.clone());
        times
    }

    /// Computes the part (the state of one node) that is equal to `part` except that it has these
    /// times.
    fn learn_cast(&mut self, part: u32, to: Times) -> u32 {
        let times = self.learn_times(part);
        if let Some(known) = self.rebase().cast(part, to.clone()) {
            return known;
        }
        let cast = self.retimed(part, &mut |time| times.binary_search(&time).map_or(time, |at| to[at]));
        self.learn_times(cast);
        self.rebase().recast.insert((part, to), cast);
        cast
    }

    fn learn_later(&mut self, input: u32, ticks: u32) -> u32 {
        if let Some(known) = self.rebase().later_input(input, ticks) {
            return known;
        }
        let later = match self.words.thing(input).clone() {
            Word::StationInput(StationInput::Message { from, msg }) => {
                let msg = self.controllers.retimed_message(msg, &mut |time| time + ticks);
                Word::StationInput(StationInput::Message { from, msg })
            }
            other => other,
        };
        let later = self.words.number(later);
        self.rebase().later.insert(pair(input, ticks), later);
        later
    }

    /// Shifts the times of a delivery to one common base: the times in the receiver's part (the
    /// state of one node), and the times in the input. Returns the number of the shifted part, the
    /// number of the shifted input, and the base.
    pub(crate) fn learn_meeting(
        &mut self,
        receiver: (u32, u32),
        sender_offset: u32,
        input: u32,
    ) -> (u32, u32, u32) {
        let times = self.learn_times(receiver.0);
        let meeting = self.rebase().meet(receiver, sender_offset);
        let (since, receiver_shift, input_shift) = meeting.expect("the times of the receiver are known");
        let part = self.learn_cast(receiver.0, plus(&times, receiver_shift));
        (part, self.learn_later(input, input_shift), since)
    }

    /// Computes everything that [`Machine::rebased`] needs to rebase a state (to shift its logical
    /// times so that the least time is zero, and to narrow wide gaps).
    pub(crate) fn learn_rebased(&mut self, next: &[u32]) {
        let nodes = self.known.nodes;
        next[..nodes].iter().for_each(|&part| drop(self.learn_times(part)));
        let rebased = self.rebase().rebased(nodes, next).expect("the times of all parts are known");
        for (node, rebased) in rebased.into_iter().enumerate() {
            self.learn_cast(next[node], rebased.times);
        }
    }

    /// The rebased form of a state: its least logical time is zero, and wide gaps between its times
    /// are narrowed.
    pub(crate) fn rebased(&mut self, state: &[u32]) -> Vec<u32> {
        self.learn_rebased(state);
        let mut room = Vec::new();
        let rebase = self.known.rebase.as_ref();
        let settled =
            rebase.and_then(|rebase| rebase.settle(&self.known, state, &mut room).map(<[u32]>::to_vec));
        settled.expect("the parts of the state are known")
    }

    /// Computes the rebased form (least logical time zero) of each successor of a state. All parts
    /// (node states) of the state must be known.
    pub(crate) fn learn_frames(&mut self, state: &[u32]) {
        let nodes = self.known.nodes;
        let offset = |node: usize| state[nodes + 1 + node];
        for node in 0..nodes {
            let Some(info) = self.known.info(state[node]) else { continue };
            for at in 0..self.known.part_moves(info).len() {
                let mut next = state.to_vec();
                let after = match self.known.part_moves(info)[at].effect {
                    Effect::Go(to) => {
                        next[node] = to;
                        to
                    }
                    Effect::Send { rest, to, input } => {
                        let to = usize::from(to);
                        next[node] = rest;
                        let (part, input, since) =
                            self.learn_meeting((next[to], offset(to)), offset(node), input);
                        self.learn_after_input(part, input);
                        let after = self.known.after_input(part, input).unwrap_or(UNKNOWN);
                        next[to] = after;
                        next[nodes + 1 + to] = since;
                        after
                    }
                    Effect::Serve { rest, op } => {
                        self.learn_served(state[nodes], rest, op);
                        let served = self.known.served(state[nodes], op);
                        let after = served.and_then(|(_, reply)| self.known.answered(rest, reply));
                        next[node] = after.unwrap_or(UNKNOWN);
                        next[node]
                    }
                    Effect::Fault(_) => UNKNOWN,
                };
                if after & FAULT == 0 {
                    self.learn_rebased(&next);
                }
            }
        }
        if self.known.goes_on(state) {
            let stepped =
                state[..nodes].iter().map(|&part| self.known.next(part).filter(|next| next & FAULT == 0));
            if let Some(mut next) = stepped.collect::<Option<Vec<u32>>>() {
                next.extend_from_slice(&state[nodes..]);
                self.learn_rebased(&next);
            }
        }
        if self.controllers.subject.is_clocked && self.bounds.skew_ticks > 0 {
            for node in 0..nodes {
                self.learn_frames_apart(state, node);
            }
        } else if self.controllers.subject.is_clocked {
            let ticked: Option<Vec<u32>> = state[..nodes]
                .iter()
                .map(|&part| self.known.tick(part).map(|(after, _)| after).filter(|after| after & FAULT == 0))
                .collect();
            if let Some(mut next) = ticked {
                next.extend_from_slice(&state[nodes..]);
                self.learn_rebased(&next);
            }
        }
    }

    /// Computes the rebased form (least logical time zero) of a state after a tick of one node,
    /// even if the clocks of the other nodes do not allow that tick.
    fn learn_frames_apart(&mut self, state: &[u32], node: usize) {
        let nodes = self.known.nodes;
        let mut next = state.to_vec();
        match self.known.tick(state[node]) {
            Some((after, _)) if after & FAULT == 0 => next[node] = after,
            _ => return,
        }
        self.learn_rebased(&next);
        let lagged: Option<Vec<u32>> = next[..nodes].iter().map(|&part| self.known.lagged(part)).collect();
        if let Some(lagged) = lagged {
            next[..nodes].copy_from_slice(&lagged);
            self.learn_rebased(&next);
        }
    }

    /// The parts (node states) of a state, all with times relative to the least time of the state.
    pub(crate) fn together(&mut self, state: &[u32]) -> Vec<u32> {
        let nodes = self.known.nodes;
        if self.known.rebase.is_none() {
            return state[..nodes].to_vec();
        }
        let cast = |(node, &part): (usize, &u32)| {
            let times = self.learn_times(part);
            self.learn_cast(part, plus(&times, state[nodes + 1 + node]))
        };
        state[..nodes].iter().enumerate().map(cast).collect()
    }
}
