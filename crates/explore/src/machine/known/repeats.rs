//! Moves that a run may make again and again.
//!
//! A run that repeats a state takes each part (the state of one node) back to where it was. So every
//! change of a part in such a run is on a circle of changes of parts, and so is every change of
//! memory. If a change belongs to a delivery, both the sender and the receiver must be on a circle.
//! There are far fewer parts than states, so it is cheap to find the moves of which this is true.

use core::convert::Infallible;
use core::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::{Effect, FAULT, Known};
use crate::components::{self, components};

/// A side of a move that changes two parts, or a part and memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Giver,
    Taker,
}

/// What a move delivers: an input of a controller, or an operation of memory with its reply.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Delivery {
    Input(u32),
    Operation(u32, u32),
}

/// A change of a part (the state of one node) or of memory by a move.
#[derive(Clone, Copy)]
struct Change {
    from: u32,
    to: u32,
    /// The index of the move among the moves of all parts, or `None` for the change of a receiver, of
    /// memory, or by a move of all nodes.
    of: Option<u32>,
    /// What is delivered, and the side of this change. `None` if nothing is delivered.
    delivery: Option<(Delivery, Side)>,
}

/// The graph of the changes. The changes are in the order of the parts from which they lead.
struct Graph<'a> {
    changes: &'a [Change],
    /// The index of the first change from each part, and the number of all changes.
    firsts: Vec<u32>,
}

impl<'a> Graph<'a> {
    fn of(changes: &'a [Change], count: usize) -> Graph<'a> {
        let mut firsts = vec![0; count + 1];
        changes.iter().for_each(|change| firsts[change.from as usize + 1] += 1);
        for at in 0..count {
            firsts[at + 1] += firsts[at];
        }
        Graph { changes, firsts }
    }
}

impl components::Graph for Graph<'_> {
    type Break = Infallible;

    fn edges(&mut self, vertex: u32, to: &mut Vec<u32>) -> ControlFlow<Infallible> {
        let at = vertex as usize;
        let changes = &self.changes[self.firsts[at] as usize..self.firsts[at + 1] as usize];
        to.extend(changes.iter().map(|change| change.to));
        ControlFlow::Continue(())
    }

    fn close(&mut self, _: &[u32], _: &[u32]) -> ControlFlow<Infallible> {
        ControlFlow::Continue(())
    }
}

/// Sets of numbers that count as one number. Initially, each number is alone.
struct Sets(Vec<u32>);

impl Sets {
    fn of(pairs: impl Iterator<Item = (u32, u32)>) -> Sets {
        let mut sets = Sets(Vec::new());
        for (a, b) in pairs {
            let (a, b) = (sets.find(a), sets.find(b));
            let count = sets.0.len() as u32;
            sets.0.extend(count..=a.max(b));
            sets.0[a as usize] = b;
        }
        sets
    }

    /// The number that stands for the set of `number`.
    fn find(&self, mut number: u32) -> u32 {
        while let Some(&to) = self.0.get(number as usize)
            && to != number
        {
            number = to;
        }
        number
    }
}

/// The moves that a run may make again and again.
pub(crate) struct Repeats(Vec<bool>);

impl Repeats {
    /// All moves, as if each could be repeated.
    #[cfg(test)]
    pub(crate) fn all(known: &Known) -> Repeats {
        Repeats(vec![true; known.part_moves.len()])
    }

    /// Whether a run may make the move with this index again and again. A move without an index is a
    /// move of all nodes.
    pub(crate) fn has(&self, at: Option<u32>) -> bool {
        at.is_none_or(|at| self.0[at as usize])
    }
}

impl Known {
    /// The moves that a run may make again and again. `None` if no run can repeat a state.
    pub(crate) fn repeats(&self) -> Option<Repeats> {
        let (mut changes, count) = self.changes();
        changes.sort_by_key(|change| change.from);
        loop {
            let before = changes.len();
            let ControlFlow::Continue(component) = components(&mut Graph::of(&changes, count), count);
            changes.retain(|change| component[change.from as usize] == component[change.to as usize]);
            let mut sides: FxHashMap<Delivery, [bool; 2]> = FxHashMap::default();
            for (delivery, side) in changes.iter().filter_map(|change| change.delivery) {
                sides.entry(delivery).or_default()[side as usize] = true;
            }
            changes.retain(|change| {
                change.delivery.is_none_or(|(delivery, _)| sides.get(&delivery) == Some(&[true; 2]))
            });
            if changes.len() == before {
                break;
            }
        }
        let mut repeats = vec![false; self.part_moves.len()];
        changes.iter().filter_map(|change| change.of).for_each(|at| repeats[at as usize] = true);
        (!changes.is_empty()).then_some(Repeats(repeats))
    }

    /// All known changes of parts (node states) and of memory, and the number of all parts and states
    /// of memory. The numbers of the states of memory follow those of the parts. Parts that differ
    /// only in their logical times count as one part.
    fn changes(&self) -> (Vec<Change>, usize) {
        let rebase = self.rebase.as_ref();
        let parts = Sets::of(rebase.into_iter().flat_map(|rebase| rebase.casts()));
        let inputs = Sets::of(rebase.into_iter().flat_map(|rebase| rebase.later_inputs()));
        let memory = self.infos.len() as u32;
        let (mut changes, mut count) = (Vec::new(), memory);
        let mut add = |from: u32, to: u32, of: Option<u32>, delivery: Option<(Delivery, Side)>| {
            if to & FAULT == 0 {
                count = count.max(from + 1).max(to + 1);
                changes.push(Change { from, to, of, delivery });
            }
        };
        // The replies to each operation of memory.
        let mut replies: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (&key, &(to, reply)) in &self.served {
            let (from, op) = ((key >> 32) as u32, key as u32);
            replies.entry(op).or_default().push(reply);
            add(memory + from, memory + to, None, Some((Delivery::Operation(op, reply), Side::Taker)));
        }
        for (part, info) in (0..).zip(&self.infos) {
            let Some(info) = *info else { continue };
            let part = parts.find(part);
            for (at, part_move) in (info.first..).zip(self.part_moves(info)) {
                match part_move.effect {
                    Effect::Go(to) => add(part, parts.find(to), Some(at), None),
                    Effect::Send { rest, input, .. } => {
                        let delivery = (Delivery::Input(inputs.find(input)), Side::Giver);
                        add(part, parts.find(rest), Some(at), Some(delivery));
                    }
                    Effect::Serve { rest, op } => {
                        for &reply in replies.get(&op).into_iter().flatten() {
                            let delivery = (Delivery::Operation(op, reply), Side::Giver);
                            let to = self.answered(rest, reply);
                            to.into_iter().for_each(|to| add(part, parts.find(to), Some(at), Some(delivery)));
                        }
                    }
                    Effect::Fault(_) => {}
                }
            }
        }
        for (&key, &to) in &self.after_input {
            let delivery = (Delivery::Input(inputs.find(key as u32)), Side::Taker);
            add(parts.find((key >> 32) as u32), parts.find(to), None, Some(delivery));
        }
        let ticks = self.ticks.iter().map(|(&part, &(to, _))| (part, to));
        let ticks = ticks.chain(self.lagged.iter().map(|(&part, &to)| (part, to)));
        for (part, to) in ticks.filter(|(part, to)| part != to) {
            add(parts.find(part), parts.find(to), None, None);
        }
        for (&part, &to) in &self.nexts {
            add(parts.find(part), parts.find(to), None, None);
        }
        (changes, count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_one_set_count_as_one_number() {
        let sets = Sets::of([(1, 4), (2, 3), (3, 1), (4, 2)].into_iter());
        let one = sets.find(1);
        assert!([2, 3, 4].iter().all(|&number| sets.find(number) == one));
        assert_eq!((sets.find(0), sets.find(5), sets.find(9)), (0, 5, 9));
    }
}
