//! What first-level caches that register lines have in common.

use super::{Registers, ToBank, ToL1};
use crate::parts::First;
use core::fmt::Debug;
use core::hash::Hash;
use proto::parts::CacheArray;
use proto::{Ask, ByteMask, Cx, LineAddr, Rank, SetIndex, Slot, Way};

/// What an event brings with it.
#[derive(Clone, Copy, Debug)]
pub enum Carried<'a> {
    /// A request.
    Request(Ask<'a>),
    /// A message.
    Message(&'a ToL1),
    /// Nothing.
    Nothing,
}

/// Asks the bank for registration and the bytes of the line.
pub fn register<P: Registers>(line: LineAddr, mask: ByteMask, slot: Option<Slot>, cx: &mut Cx<'_, P>) {
    cx.fx.send(cx.below(line), ToBank::Register { line, mask, slot });
}

/// Gives registration back, with the dirty bytes, or with the `whole` line.
pub fn give_back<P: Registers, S: Copy + Eq + Hash + Debug, W: Copy + Eq>(
    cache: &First<S, W>,
    line: LineAddr,
    way: Way,
    whole: bool,
    cx: &mut Cx<'_, P>,
) {
    let (mask, data) = cache.dirty_bytes(way);
    cx.fx.uses.data_reads += u32::from(whole || !mask.is_empty());
    cx.fx.send(cx.below(line), ToBank::Return { line, mask, data, whole });
}

/// The states that decide what may be given up.
#[derive(Clone, Copy, Debug)]
pub struct Settled<S> {
    /// A line that nobody is registered for.
    pub plain: S,
    /// A registered line.
    pub registered: S,
    /// A line that is being given up: meanwhile its set offers no other.
    pub leaving: S,
}

/// The ways of a set that may be given up. A cache that `retains` gives
/// registered lines up last.
pub fn victims<S: Copy + Eq + Hash + Debug>(
    array: &CacheArray<S>,
    set: SetIndex,
    states: Settled<S>,
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
