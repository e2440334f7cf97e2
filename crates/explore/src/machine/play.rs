//! The replay of a trace, move by move. A replay computes a move with the code of the exploration,
//! so it accepts only moves that the exploration also finds.

use std::sync::Arc;

use proto::{Symbol as _, TimerClass, Way};

use crate::machine::Machine;
use crate::machine::controllers::{StationInput, Word};
use crate::machine::known::{Offer, Sink};
use crate::machine::moves::Move;

/// The reason why a move has no next state.
pub(crate) enum Halt {
    /// The state does not offer the move. The list holds the moves that the state offers.
    Closed(Vec<Move>),
    /// The protocol reports that the move is impossible.
    Impossible(Arc<str>),
}

/// A receiver of the successors of a state. It keeps the effect of one move, and the list of all
/// moves that the state offers.
struct Offers {
    mv: Move,
    next: Option<Vec<u32>>,
    fault: Option<u32>,
    open: Vec<Move>,
}

impl Sink for Offers {
    fn go(&mut self, Offer { mv, .. }: Offer, next: &[u32]) {
        self.open.push(mv);
        if mv == self.mv {
            self.next.get_or_insert_with(|| next.to_vec());
        }
    }
    fn wait(&mut self, _mv: Move) {}
    fn fault(&mut self, mv: Move, fault: u32) {
        self.open.push(mv);
        if mv == self.mv {
            self.fault.get_or_insert(fault);
        }
    }
}

impl Machine {
    /// The next state after a move. The effects of all moves of the state must be known.
    pub(crate) fn play(&mut self, state: &[u32], mv: Move) -> Result<Vec<u32>, Halt> {
        let mut offers = Offers { mv, next: None, fault: None, open: Vec::new() };
        self.known.expand(state, &mut Vec::new(), &mut offers);
        let Offers { next, fault, open, .. } = offers;
        let played = match (next, fault) {
            (Some(next), _) => Ok(next),
            (None, Some(fault)) => Err(Halt::Impossible(self.known.faults[fault as usize].clone())),
            (None, None) => return Err(Halt::Closed(open)),
        };
        self.record_answers(state, mv);
        played
    }

    /// Repeats the inputs of a move, so that the answers to threads are recorded. The repetition is
    /// necessary because the results of known moves are not computed again, so `play` records no
    /// answers.
    fn record_answers(&mut self, state: &[u32], mv: Move) {
        let nodes = self.known.nodes;
        let number = |node: u8| state[usize::from(node)];
        let first = |queue: &[(u8, u32)], line: u8| {
            queue.iter().find(|(other, _)| *other == line).map(|&(_, number)| number)
        };
        let input = match mv {
            Move::Issue { thread } => {
                if let Some((node, at)) = self.location_of(state, thread) {
                    // The result of the issue is known already. Only the record of its answers is
                    // needed.
                    let part = self.part(state[node]).clone();
                    drop(self.issue(&part, at));
                }
                return;
            }
            Move::Preempt { thread } => {
                if let Some((node, at)) = self.location_of(state, thread) {
                    let part = self.part(state[node]).clone();
                    drop(self.preempt(&part, at));
                }
                return;
            }
            Move::Resume { thread, cu } => {
                if let Some((node, at)) = self.location_of(state, thread) {
                    let part = self.part(state[node]).clone();
                    if let Ok((rest, to, word)) = self.resume(&part, at, cu.into()) {
                        let receiver = if to == part.node { rest } else { number(to) };
                        drop(self.hand(receiver, word));
                    }
                }
                return;
            }
            Move::Boundary { agent } => {
                let asks = state[..nodes].iter().find(|&&part| self.part(part).asks(agent));
                if let Some(part) = asks.map(|&part| self.part(part).clone()) {
                    drop(self.ask_boundary(&part, agent));
                }
                return;
            }
            Move::Next => return,
            Move::Tick => {
                state[..nodes].iter().for_each(|&part| drop(self.tick(part)));
                return;
            }
            Move::TickAt { node } => {
                drop(self.tick(number(node)));
                return;
            }
            Move::Deliver { from, to, nth } => {
                let messages = self.messages(self.part(number(from)), to);
                let Some(&msg) = messages.get(usize::from(nth)) else { return };
                let input = StationInput::Message { from: from.into(), msg };
                if self.known.rebase.is_some() {
                    let offset = |node: u8| state[nodes + 1 + usize::from(node)];
                    let input = self.words.number(Word::StationInput(input));
                    let (part, input, _) = self.learn_meeting((number(to), offset(to)), offset(from), input);
                    drop(self.hand(part, self.words.thing(input).clone()));
                    return;
                }
                Some((to, input))
            }
            Move::Cross { from, to, nth } => {
                let wires = self.part(number(from)).wires.iter().filter(|(other, _)| *other == to);
                let word = wires.map(|&(_, word)| word).nth(usize::from(nth));
                if let Some(word) = word {
                    drop(self.hand(number(to), self.words.thing(word).clone()));
                }
                return;
            }
            Move::Serve { node, line } if self.merges(line) => {
                let op = first(&self.part(number(node)).ops, line);
                let served = op.and_then(|op| self.known.served(state[nodes], op));
                served.map(|(_, reply)| (node, StationInput::Memory { reply }))
            }
            Move::Serve { .. } => None,
            Move::Answer { node, line } => first(&self.part(number(node)).replies, line)
                .map(|reply| (node, StationInput::Memory { reply })),
            Move::Timer { node, class } => {
                TimerClass::ALL.get(usize::from(class)).map(|&class| (node, StationInput::Timer(class)))
            }
            Move::Evict { node, way } => Some((node, StationInput::Evict(Way(way.into())))),
        };
        if let Some((node, input)) = input {
            drop(self.deliver_and_settle(number(node), input));
        }
    }
}
