//! Logical times, and the properties of messages that drivers (such as the simulator) use.

use crate::line::LineAddr;
use core::fmt::Debug;
use core::hash::Hash;

/// A message from one controller to another, with the properties that drivers (such as the
/// simulator) use.
pub trait Message: Clone + Eq + Hash + Debug {
    /// The name of the message, for charts and statistics.
    fn name(&self) -> &'static str;
    /// The number of bytes after the header of the message, on a machine with lines of
    /// `line_bytes`.
    fn payload_bytes(&self, line_bytes: u32) -> u32;
    /// The line that the message concerns, if any.
    fn line(&self) -> Option<LineAddr>;
    /// Whether the message requests a line from the receiver. The receiver counts such a message as
    /// a hit or a miss.
    fn is_access(&self) -> bool;
    /// Whether the message must wait while an older message of the same sender for the same line is
    /// parked at the receiver. The message must not wait if the parked message may need this
    /// message to proceed. For example, an access that waits for a recall needs the bytes that the
    /// owner flushes.
    fn keeps_order(&self) -> bool {
        self.is_access()
    }
    /// Drops the first of the written bytes that the message carries, for a seeded fault. Returns
    /// false if the message carries no written bytes.
    fn forget_byte(&mut self) -> bool {
        false
    }
    /// Shortens the relative times that the message carries by `elapsed` ticks ([`aged`]), because
    /// time has passed while the message was in flight or parked. `elapsed` is negative if the
    /// receiver's clock is behind the sender's.
    fn age(&mut self, elapsed: i32) {
        let _ = elapsed;
    }
    /// Calls `visit` for every logical time in the message, so that the explorer (the program that
    /// tries every schedule) can replace the times by smaller ones; see
    /// [`super::Protocol::REBASED`].
    fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        let _ = visit;
    }
}

/// A logical time, such as a timestamp. Events of the protocol advance it; clocks do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u32);

/// The number of ticks that remain of a duration of `ticks` ticks after `elapsed` ticks have
/// passed. The result is never below 0. A duration of 0 has expired: it stays 0 even if `elapsed`
/// is negative.
#[inline]
#[must_use]
pub const fn aged(ticks: u32, elapsed: i32) -> u32 {
    match ticks {
        0 => 0,
        _ => ticks.saturating_sub_signed(elapsed),
    }
}

/// Conversion of a message of type `M` into the message enumeration of a protocol. If several kinds
/// of controller receive an `M`, the kind of the receiver selects the variant.
pub trait Wrap<M>: Sized {
    /// Wraps a message in the variant for a receiver of this kind.
    fn wrap(kind: u8, msg: M) -> Self;
}

impl<M, All: From<M>> Wrap<M> for All {
    #[inline]
    fn wrap(_: u8, msg: M) -> Self {
        msg.into()
    }
}

/// The message type of a controller that receives no messages.
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
