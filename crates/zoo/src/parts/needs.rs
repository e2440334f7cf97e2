//! The resources that an access needs.

use core::fmt::Debug;
use core::hash::Hash;
use proto::parts::{CacheArray, Place};
use proto::{Cx, Disposition, Key, Protocol};

/// The resources that an access needs before its row of the table is carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceNeeds {
    /// Whether the access needs an entry of the store buffer.
    pub entry: bool,
    /// Whether the access needs a miss register.
    pub register: bool,
    /// Whether the access needs a way for its line. A free way is required only if the line does
    /// not already have a way.
    pub way: bool,
}

impl ResourceNeeds {
    /// Checks whether a miss register or a way is lacking. Returns how the access must wait, or
    /// `None` if both are free or not needed. `in_use` is the number of miss registers in use.
    ///
    /// An access that would take a register or a way waits behind earlier inputs that wait for a way
    /// of the same set. Accesses that wait for a register may pass inputs that wait for a way of
    /// another set.
    #[inline]
    pub fn lacks<S: Copy + Eq + Hash + Debug, P: Protocol>(
        self,
        array: &CacheArray<S>,
        place: Place,
        in_use: u32,
        cx: &Cx<'_, P>,
    ) -> Option<Disposition> {
        let takes = self.way && place.way.is_none();
        if self.register && in_use >= cx.level().array.miss_registers {
            return Some(Disposition::Stall(Key::Miss));
        }
        if takes && array.free_way(place).is_none() {
            return Some(Disposition::NeedWay(place.set));
        }
        if (takes || self.register) && cx.has_way_waiter(place.set) {
            return Some(Disposition::Stall(Key::Way(place.set)));
        }
        None
    }
}
