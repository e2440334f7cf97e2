//! The moves that a part (the state of one node) offers.

use proto::{Channels, Symbol as _, TimerClass, Way};
use smallvec::SmallVec;

use crate::machine::controllers::{StationInput, Word};
use crate::machine::known::{Effect, PartMove};
use crate::machine::moves::Move;
use crate::machine::stations::Victim;
use crate::machine::threads::Issued;
use crate::machine::{Machine, Part, PartResult};

impl Machine {
    /// Computes and records the moves of the part (the state of one node) with this number.
    pub(crate) fn learn_moves(&mut self, number: u32) {
        let part = self.parts.thing(number).clone();
        let node = part.node;
        let mut part_moves = Vec::new();
        let add = |part_moves: &mut Vec<PartMove>, mv, is_optional, effect| {
            part_moves.push(PartMove { mv, is_optional, effect })
        };
        for at in 0..part.threads.len() {
            let (thread, _) = part.threads[at];
            if !self.runs(&part, at) {
                continue;
            }
            let issued = self.issue(&part, at);
            let Some(effect) = self.effect_of(issued) else { continue };
            add(&mut part_moves, Move::Issue { thread }, false, effect);
        }
        if self.bounds.preemptions > 0 {
            self.preemptions(&part, &mut part_moves);
        }
        self.boundary_moves(&part, &mut part_moves);
        self.deliveries(&part, &mut part_moves);
        self.crossings(&part, &mut part_moves);
        for (at, &(line, op)) in part.ops.iter().enumerate() {
            if part.ops[..at].iter().all(|(other, _)| *other != line) {
                let mut rest = part.clone();
                rest.ops.remove(at);
                let rest = self.parts.number(rest);
                add(&mut part_moves, Move::Serve { node, line }, false, Effect::Serve { rest, op });
            }
        }
        for (at, &(line, reply)) in part.replies.iter().enumerate() {
            if part.replies[..at].iter().all(|(other, _)| *other != line) {
                let mut rest = part.clone();
                rest.replies.remove(at);
                let effect = self.goes(rest, StationInput::Memory { reply });
                add(&mut part_moves, Move::Answer { node, line }, false, effect);
            }
        }
        let runs = |class: &TimerClass| part.timers >> class.index() & 1 == 1;
        for timer in TimerClass::ALL.iter().copied().filter(runs) {
            let class = timer.index() as u8;
            let rest = Part { timers: part.timers & !(1 << class), ..part.clone() };
            let effect = self.goes(rest, StationInput::Timer(timer));
            add(&mut part_moves, Move::Timer { node, class }, false, effect);
        }
        for Victim { way, is_needed } in self.controllers.look(part.station).victims.clone() {
            if self.bounds.evictions || is_needed {
                let effect = self.goes(part.clone(), StationInput::Evict(Way(way.into())));
                add(&mut part_moves, Move::Evict { node, way }, !is_needed, effect);
            }
        }
        let done = self.has_done_step(&part);
        let full = self.is_full(&part);
        let more = self.steps.has_more(part.step);
        let preempted = self.preempted(&part);
        self.known.set_info(number, &part_moves, (full, done, more), (part.ahead, preempted));
    }

    /// The effect of the move in which a thread issues a request. `None` if the thread has nothing
    /// to issue.
    pub(crate) fn effect_of(&mut self, issued: PartResult<Issued>) -> Option<Effect> {
        Some(match issued {
            Ok(Issued::Nothing) => return None,
            Ok(Issued::Here(to)) => Effect::Go(to),
            Ok(Issued::Elsewhere { rest, to, input }) => Effect::Send { rest, to, input },
            Err(why) => Effect::Fault(self.known.fault(&why)),
        })
    }

    fn deliveries(&mut self, part: &Part, part_moves: &mut Vec<PartMove>) {
        let from = part.node;
        let mut receivers: SmallVec<[u8; 8]> = part.out.iter().map(|&(to, _)| to).collect();
        receivers.dedup();
        for to in receivers {
            let mut messages = self.messages(part, to);
            if self.channels() == Channels::Fifo {
                messages.truncate(1);
            }
            for (nth, msg) in (0..).zip(messages) {
                let mut rest = part.clone();
                if let Some(at) = rest.out.iter().position(|&sent| sent == (to, msg)) {
                    rest.out.remove(at);
                }
                let rest = self.parts.number(rest);
                let input =
                    self.words.number(Word::StationInput(StationInput::Message { from: from.into(), msg }));
                let mv = Move::Deliver { from, to, nth };
                part_moves.push(PartMove {
                    mv,
                    is_optional: false,
                    effect: Effect::Send { rest, to, input },
                });
            }
        }
    }

    /// The messages under way from a part (the state of one node) to the node `to`, in the order of
    /// the indices of [`Move::Deliver`]. If channels keep no order, the list contains equal
    /// messages only once, and their contents decide their order in the list.
    pub(crate) fn messages(&self, part: &Part, to: u8) -> SmallVec<[u32; 4]> {
        let sent = part.out.iter().filter(|(other, _)| *other == to).map(|&(_, msg)| msg);
        let mut messages: SmallVec<[u32; 4]> = sent.collect();
        if self.channels() == Channels::Unordered {
            messages.dedup();
            messages.sort_by_cached_key(|&msg| self.controllers.text_of_message(msg));
        }
        messages
    }

    fn crossings(&mut self, part: &Part, part_moves: &mut Vec<PartMove>) {
        let from = part.node;
        for (at, &(to, input)) in part.wires.iter().enumerate() {
            let nth = part.wires[..at].iter().filter(|(other, _)| *other == to).count() as u8;
            let mut rest = part.clone();
            rest.wires.remove(at);
            let rest = self.parts.number(rest);
            let mv = Move::Cross { from, to, nth };
            part_moves.push(PartMove { mv, is_optional: false, effect: Effect::Send { rest, to, input } });
        }
    }

    /// Whether a queue of messages or operations of the part (the state of one node) has reached
    /// its maximum length.
    fn is_full(&self, part: &Part) -> bool {
        let most = usize::from(self.bounds.queue_max);
        let is_long = |queue: &[(u8, u32)]| {
            queue.len() >= most
                && queue.iter().any(|(to, _)| queue.iter().filter(|(other, _)| other == to).count() >= most)
        };
        is_long(&part.out) || is_long(&part.ops) || is_long(&part.replies)
    }

    fn goes(&mut self, rest: Part, input: StationInput) -> Effect {
        let after = self.deliver(rest, input).and_then(|part| self.settled(part));
        match after {
            Ok(to) => Effect::Go(to),
            Err(why) => Effect::Fault(self.known.fault(&why)),
        }
    }
}
