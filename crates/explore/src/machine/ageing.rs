//! Physical time: a tick of the clock, for all nodes or for one of them.
//!
//! Where all clocks tick together, a tick of a part tells its station and ages what
//! it has sent. Where they may be apart, a part knows by how many ticks its clock is
//! ahead of the slowest, and what is on its way is relative to that one: it ages when
//! the slowest clock ticks, and is brought to the clock of a node where it leaves or
//! reaches it. So a tick of a part is a function of the part in either case.

use proto::Channels;

use crate::machine::controllers::Told;
use crate::machine::known::FAULT;
use crate::machine::{Found, Machine, Part};

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

    /// The slowest clock ticks: the part is ahead of it by a tick less, and what it
    /// has sent ages.
    fn learn_lag(&mut self, part: u32) {
        if self.known.lagged(part).is_none() {
            let mut after = self.parts.thing(part).clone();
            after.ahead -= 1;
            self.age(&mut after);
            let after = self.parts.number(after);
            self.known.set_lagged(part, after);
        }
    }

    /// A tick passes: the station is told, and what the part has sent ages. Where
    /// clocks may be apart, that ages when the slowest of them ticks.
    pub(crate) fn tick(&mut self, part: u32) -> Found<u32> {
        let mut part = self.parts.thing(part).clone();
        match self.bounds.skew_ticks {
            0 => self.age(&mut part),
            _ => part.ahead += 1,
        }
        let part = self.told(part, Told::Tick(1))?;
        self.settled(part)
    }

    /// What a part has sent is on its way for a tick.
    fn age(&mut self, part: &mut Part) {
        let (station, controllers) = (part.station, &mut self.controllers);
        part.out.iter_mut().for_each(|(_, msg)| *msg = controllers.aged_message(*msg, 1));
        part.ops.iter_mut().for_each(|(_, op)| *op = controllers.aged_op(station, *op, 1));
        part.replies.iter_mut().for_each(|(_, reply)| *reply = controllers.aged_reply(station, *reply, 1));
        if self.controllers.subject.info.channels == Channels::Unordered {
            part.out.sort_unstable();
        }
    }

    /// What the station of a part hears where its clock is ahead: the time is later
    /// there.
    pub(crate) fn heard_ahead(&mut self, part: &Part, told: Told) -> Told {
        let ahead = i32::from(part.ahead);
        match told {
            Told::Message { from, msg } if ahead > 0 => {
                Told::Message { from, msg: self.controllers.aged_message(msg, ahead) }
            }
            Told::Memory { reply } if ahead > 0 => {
                Told::Memory { reply: self.controllers.aged_reply(part.station, reply, ahead) }
            }
            told => told,
        }
    }
}
