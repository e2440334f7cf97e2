//! The logical clocks of a compute unit.

use super::Params;
use proto::parts::SmallMap;
use proto::{Issuer, LineAddr, RequestInput, Slot};
use std::collections::BTreeMap;

/// The logical times of an issuer of loads and writes. Without separate times for loads and writes,
/// `read` and `write` are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Clock {
    /// The latest time of a load. The next load is not before this time.
    pub(super) read: u32,
    /// The latest time of a store or a read-modify-write. The next store or read-modify-write is
    /// not before this time.
    pub(super) write: u32,
}

impl Clock {
    /// Advances the time of writes (if `is_write` is set) or that of loads to at least `time`. In a
    /// protocol without separate times for loads and writes, both advance.
    fn advance(&mut self, time: u32, is_write: bool, params: &Params) {
        let part = if is_write { &mut self.write } else { &mut self.read };
        *part = time.max(*part);
        if !params.weak {
            self.join(*self);
        }
    }

    /// Advances both times of this clock, read and write, to the latest of the four times of this
    /// clock and of the clock `other`.
    fn join(&mut self, other: Clock) {
        let latest = self.read.max(self.write).max(other.read).max(other.write);
        *self = Clock { read: latest, write: latest };
    }
}

/// The receiver of an answer: a request, or the load that waits for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Receiver {
    /// The request in this slot.
    Slot(Slot),
    /// The load that waits for this line.
    Line(LineAddr),
}

/// The clocks of a compute unit: one for the whole unit and, if the protocol has clocks of
/// wavefronts, one for each wavefront whose time may differ from that of the unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Clocks {
    unit: Clock,
    wavefronts: BTreeMap<u32, Clock>,
    /// The wavefronts of the accesses and fills under way. Empty if wavefronts have no clocks.
    slots: SmallMap<Slot, u32>,
    lines: SmallMap<LineAddr, u32>,
}

/// The wavefront whose clock a request uses, or `None` for the clock of the unit.
fn wavefront(ask: RequestInput<'_>, params: &Params) -> Option<u32> {
    params.variant.per_wavefront.then_some(ask.req.issuer.wavefront)
}

impl Clocks {
    /// The clock of an issuer.
    pub(super) fn of(&self, issuer: Issuer) -> Clock {
        self.wavefronts.get(&issuer.wavefront).copied().unwrap_or(self.unit)
    }

    fn clock(&mut self, wavefront: Option<u32>) -> &mut Clock {
        let unit = self.unit;
        match wavefront {
            None => &mut self.unit,
            Some(wavefront) => self.wavefronts.entry(wavefront).or_insert(unit),
        }
    }

    /// Notes that an answer to this request is due.
    pub(super) fn expect_answer(&mut self, receiver: Receiver, ask: RequestInput<'_>, params: &Params) {
        match (receiver, wavefront(ask, params)) {
            (_, None) => {}
            (Receiver::Slot(slot), Some(wavefront)) => self.slots.insert(slot, wavefront),
            (Receiver::Line(line), Some(wavefront)) => self.lines.insert(line, wavefront),
        }
    }

    /// Processes the time in an answer: advances the clock of the issuer that waits for the answer
    /// to at least `time`.
    pub(super) fn answered(&mut self, receiver: Receiver, time: u32, is_write: bool, params: &Params) {
        let wavefront = match receiver {
            Receiver::Slot(slot) => self.slots.remove(slot),
            Receiver::Line(line) => self.lines.remove(line),
        };
        self.clock(wavefront).advance(time, is_write, params);
    }

    /// Advances the clock of the load's issuer to at least `version`: the time of the last write of
    /// the copy that answers the load.
    pub(super) fn read(&mut self, ask: RequestInput<'_>, version: u32, params: &Params) {
        self.clock(wavefront(ask, params)).advance(version, false, params);
    }

    /// Advances the read time and the write time of a request's issuer to the latest of the two. If
    /// wavefronts have clocks, the times of the compute unit also count, and the unit advances to
    /// the same time.
    pub(super) fn join(&mut self, ask: RequestInput<'_>, params: &Params) {
        let unit = self.unit;
        let clock = self.clock(wavefront(ask, params));
        clock.join(unit);
        self.unit = *clock;
    }

    /// Advances the unit and all its wavefronts to one time, which is at least `time`.
    pub(super) fn advance_all(&mut self, time: u32) {
        self.unit.join(Clock { read: time, write: time });
        self.wavefronts.values().for_each(|&clock| self.unit.join(clock));
        self.wavefronts.clear();
    }

    /// Sets all clocks to zero.
    pub(super) fn reset(&mut self) {
        self.unit = Clock::default();
        self.wavefronts.clear();
    }
}
