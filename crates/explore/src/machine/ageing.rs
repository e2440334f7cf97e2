//! Physical time in an exploration: ticks of the clock, for all nodes together or for one node.
//!
//! If all clocks tick together, a tick of a part (the state of one node) steps its station
//! (controller) and ages its messages under way. If clocks may be apart, each part records by how
//! many ticks its clock is ahead of the slowest clock. The times of messages under way are then
//! relative to the slowest clock. These messages age when the slowest clock ticks. When a message
//! leaves a node, its times are converted from the clock of the node to the slowest clock. When a
//! message reaches a node, its times are converted to the clock of that node. Whether or not clocks
//! may be apart, the result of a tick of a part depends on the part alone.

use proto::Channels;

use crate::machine::controllers::StationInput;
use crate::machine::known::FAULT;
use crate::machine::{Machine, Part, PartResult};

impl Machine {
    pub(crate) fn learn_tick(&mut self, part: u32) {
        if self.known.tick(part).is_some() {
            return;
        }
        let after = self.tick(part);
        let after = self.or_fault(after);
        let before = self.parts.thing(part);
        let is_idle =
            after & FAULT == 0 && *before == Part { ahead: before.ahead, ..self.parts.thing(after).clone() };
        let is_slowest = before.ahead == 0;
        self.known.set_tick(part, (after, is_idle));
        if self.bounds.skew_ticks > 0 {
            if !is_slowest {
                self.learn_lag(part);
            } else if after & FAULT == 0 {
                self.learn_lag(after);
            }
        }
    }

    /// Computes a part (the state of one node) after a tick of the slowest clock: the part's clock
    /// is one tick less ahead, and its messages under way are one tick older.
    fn learn_lag(&mut self, part: u32) {
        if self.known.lagged(part).is_none() {
            let mut after = self.parts.thing(part).clone();
            after.ahead -= 1;
            self.age(&mut after);
            let after = self.parts.number(after);
            self.known.set_lagged(part, after);
        }
    }

    /// The part (the state of one node) after a tick of its clock: the station (controller) makes a
    /// step, and the messages under way become older. If clocks may be apart, the messages become
    /// older at a tick of the slowest clock instead.
    pub(crate) fn tick(&mut self, part: u32) -> PartResult<u32> {
        let mut part = self.parts.thing(part).clone();
        match self.bounds.skew_ticks {
            0 => self.age(&mut part),
            _ => part.ahead += 1,
        }
        let part = self.deliver(part, StationInput::Tick(1))?;
        self.settled(part)
    }

    /// Makes the messages, the operations to memory and the replies of memory that are under way in
    /// a part (the state of one node) older by one tick.
    fn age(&mut self, part: &mut Part) {
        let channels = self.channels();
        let (station, controllers) = (part.station, &mut self.controllers);
        part.out.iter_mut().for_each(|(_, msg)| *msg = controllers.aged_message(*msg, 1));
        part.ops.iter_mut().for_each(|(_, op)| *op = controllers.aged_op(station, *op, 1));
        part.replies.iter_mut().for_each(|(_, reply)| *reply = controllers.aged_reply(station, *reply, 1));
        if channels == Channels::Unordered {
            part.out.sort_unstable();
        }
    }

    /// The input of a part (the state of one node). If the part's clock is ahead of the
    /// slowest clock, the times in the input are converted to the part's clock.
    pub(crate) fn at_clock_of(&mut self, part: &Part, input: StationInput) -> StationInput {
        let ahead = i32::from(part.ahead);
        match input {
            StationInput::Message { from, msg } if ahead > 0 => {
                StationInput::Message { from, msg: self.controllers.aged_message(msg, ahead) }
            }
            StationInput::Memory { reply } if ahead > 0 => {
                StationInput::Memory { reply: self.controllers.aged_reply(part.station, reply, ahead) }
            }
            input => input,
        }
    }
}
