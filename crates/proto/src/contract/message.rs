//! What messages tell drivers, and the times in them.

use crate::line::LineAddr;
use core::fmt::Debug;
use core::hash::Hash;

/// A message.
pub trait Message: Clone + Eq + Hash + Debug {
    /// Its name, for charts and statistics.
    fn name(&self) -> &'static str;
    /// Bytes that travel beside the header, on a machine with such lines.
    fn payload_bytes(&self, line_bytes: u32) -> u32;
    /// The line it is about, if any.
    fn line(&self) -> Option<LineAddr>;
    /// Does it ask the receiver for a line (and count as a hit or a miss)?
    fn is_access(&self) -> bool;
    /// Must it stay behind an earlier one of its sender for the same line that
    /// is parked? Not so for what a parked access may be waiting for: flushed
    /// bytes of a line under recall, for example.
    fn keeps_order(&self) -> bool {
        self.is_access()
    }
    /// Forgets the first of the written bytes that it carries, when the checker
    /// is being checked. False if it carries none.
    fn forget_byte(&mut self) -> bool {
        false
    }
    /// Time passes while the message is on its way or parked: the times that it
    /// carries, relative to now, become that much shorter ([`aged`]). The number
    /// is negative where the clock of the receiver is behind that of the sender.
    fn age(&mut self, elapsed: i32) {
        let _ = elapsed;
    }
    /// Shows every logical time in it; see [`super::Protocol::REBASED`].
    fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        let _ = visit;
    }
}

/// A logical time, as a timestamp: it advances with what happens, not by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u32);

/// What is left of a time that is kept relative to now, as a lease of so many
/// ticks. A time that has run out stays so.
#[inline]
#[must_use]
pub const fn aged(ticks: u32, elapsed: i32) -> u32 {
    match ticks {
        0 => 0,
        _ => ticks.saturating_sub_signed(elapsed),
    }
}

/// All messages of a protocol, one of which carries an `M`. Where several kinds of
/// controller take it, the kind that gets it decides which.
pub trait Wrap<M>: Sized {
    /// The message for a controller of that kind.
    fn wrap(kind: u8, msg: M) -> Self;
}

impl<M, All: From<M>> Wrap<M> for All {
    #[inline]
    fn wrap(_: u8, msg: M) -> Self {
        msg.into()
    }
}

/// A message to a controller that is never told anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoMessage {}

impl Message for NoMessage {
    fn name(&self) -> &'static str {
        match *self {}
    }
    fn payload_bytes(&self, _line_bytes: u32) -> u32 {
        match *self {}
    }
    fn line(&self) -> Option<LineAddr> {
        match *self {}
    }
    fn is_access(&self) -> bool {
        match *self {}
    }
}
