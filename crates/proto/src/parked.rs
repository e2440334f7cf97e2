//! The parked inputs of a station (a controller with the inputs that wait for it).

use crate::line::LineAddr;
use crate::lookup::Lookup;
use crate::node::{Key, NodeId, Slot};
use crate::queue::Queue;

/// An input in a list of parked inputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Parked<M> {
    Request(Slot),
    // Boxed because a message is large and lists of parked inputs are moved.
    Message(NodeId, Box<M>),
    /// An entry that stands for all parked accesses of this sender to this line. A wake presents
    /// the oldest of these accesses first.
    Turn(NodeId, LineAddr),
}

/// The lists of parked (waiting) inputs. Each list belongs to a key. When the controller wakes the
/// key, the inputs of the list are presented again.
pub(crate) type ParkedInputs<M> = Lookup<Key, Queue<Parked<M>>>;

/// Whether an input waits for the event that a key names (is parked under the key). When the event
/// happens, a wake presents the inputs again, one after the other. During the wake, the inputs that
/// are still to be presented do not count.
#[inline]
pub(crate) fn has_waiters<M>(parked: &ParkedInputs<M>, key: Key) -> bool {
    parked.get(&key).is_some_and(|list| !list.is_empty())
}
