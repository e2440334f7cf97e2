//! The properties of messages that drivers use, and logical times.

use crate::line::LineAddr;
use core::fmt::Debug;
use core::hash::Hash;

/// A message.
pub trait Message: Clone + Eq + Hash + Debug {
    /// Its name, for charts and statistics.
    fn name(&self) -> &'static str;
    /// The bytes after the header, on a machine with lines of `line_bytes`.
    fn payload_bytes(&self, line_bytes: u32) -> u32;
    /// The line that it concerns, if any.
    fn line(&self) -> Option<LineAddr>;
    /// Whether it requests a line from the receiver. Such a message counts as a
    /// hit or a miss.
    fn is_access(&self) -> bool;
    /// Whether it stays behind a parked message of the same sender for the same
    /// line. A message that a parked access may need returns false: flushed bytes
    /// of a line under recall, for example.
    fn keeps_order(&self) -> bool {
        self.is_access()
    }
    /// Drops the first of the written bytes that it carries, for a seeded fault.
    /// Returns false if it carries none.
    fn forget_byte(&mut self) -> bool {
        false
    }
    /// Shortens the relative times that it carries by `elapsed` ticks ([`aged`]),
    /// because time has passed while it was in flight or parked. `elapsed` is
    /// negative if the receiver's clock is behind the sender's.
    fn age(&mut self, elapsed: i32) {
        let _ = elapsed;
    }
    /// Visits every logical time in it; see [`super::Protocol::REBASED`].
    fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        let _ = visit;
    }
}

/// A logical time, such as a timestamp. Events advance it, clocks do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u32);

/// The rest of a relative time, such as a lease of `ticks`, after `elapsed` ticks.
/// An expired time stays expired.
#[inline]
#[must_use]
pub const fn aged(ticks: u32, elapsed: i32) -> u32 {
    match ticks {
        0 => 0,
        _ => ticks.saturating_sub_signed(elapsed),
    }
}

/// The message enumeration of a protocol, with a variant that carries an `M`. If
/// several kinds of controller receive an `M`, the kind of the receiver selects the
/// variant.
pub trait Wrap<M>: Sized {
    /// The message for a controller of a kind.
    fn wrap(kind: u8, msg: M) -> Self;
}

impl<M, All: From<M>> Wrap<M> for All {
    #[inline]
    fn wrap(_: u8, msg: M) -> Self {
        msg.into()
    }
}

/// The messages of a controller that receives none.
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
