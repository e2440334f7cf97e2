//! Shared parts of first-level caches that register lines.

use super::{RegistrationProtocol, ToBank, ToL1};
use crate::parts::FirstLevel;
use core::fmt::Debug;
use core::hash::Hash;
use proto::parts::CacheArray;
use proto::{ByteMask, Cx, LineAddr, Rank, RequestInput, SetIndex, Slot, Way};

/// The data that comes with an event of a line. The actions in the table row of the event use it.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The request that causes the event.
    Request(RequestInput<'a>),
    /// The message that causes the event.
    Message(&'a ToL1),
    /// No data comes with the event.
    Nothing,
}

/// Requests registration and the bytes of the line from the bank.
pub fn register<P: RegistrationProtocol>(
    line: LineAddr,
    mask: ByteMask,
    slot: Option<Slot>,
    cx: &mut Cx<'_, P>,
) {
    cx.fx.send(cx.below(line), ToBank::Register { line, mask, slot });
}

/// Returns the registration of a line to the bank. The message carries the whole line if `whole` is
/// set, and otherwise only the dirty bytes.
pub fn give_back<P: RegistrationProtocol, S: Copy + Eq + Hash + Debug, W: Copy + Eq>(
    cache: &FirstLevel<S, W>,
    line: LineAddr,
    way: Way,
    whole: bool,
    cx: &mut Cx<'_, P>,
) {
    let (mask, data) = cache.dirty_bytes(way);
    cx.fx.uses.data_reads += u32::from(whole || !mask.is_empty());
    cx.fx.send(cx.below(line), ToBank::Return { line, mask, data, whole });
}

/// The states of lines that `victims` distinguishes when it decides which lines may be evicted.
#[derive(Clone, Copy, Debug)]
pub struct EvictableStates<S> {
    /// The state of an unregistered line.
    pub plain: S,
    /// The state of a registered line.
    pub registered: S,
    /// The state of a line whose eviction is under way. While a set contains such a line, no other
    /// line of the set may be evicted.
    pub leaving: S,
}

/// Appends to `out` the ways of a set whose lines may be evicted. The rank of a way says how early
/// its line is evicted. If `retains` is set, registered lines are evicted last.
pub fn victims<S: Copy + Eq + Hash + Debug>(
    array: &CacheArray<S>,
    set: SetIndex,
    states: EvictableStates<S>,
    retains: bool,
    out: &mut Vec<(Way, Rank)>,
) {
    if array.in_set_where(set, |state| state == states.leaving).next().is_some() {
        return;
    }
    for way in array.in_set_where(set, |state| state == states.plain || state == states.registered) {
        let is_retained = retains && array.state(way) == states.registered;
        out.push((way, Rank(u8::from(is_retained))));
    }
}
