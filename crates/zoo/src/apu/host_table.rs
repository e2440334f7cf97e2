//! The state transition table of a line in the cache of a host over a stateless directory.

use crate::moesi::{CacheAction as Action, CacheEvent as Event, CacheState as State, CacheTable};
use proto::{Row, Table, TableId, go, stay};

/// The state transition table of a line in the cache of a host. Some rows differ from the table of
/// [`crate::moesi`], because a stateless directory also asks caches that do not own the line, and
/// answers each request to write with the bytes of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostTable;

impl Table for HostTable {
    type State = State;
    type Event = Event;
    type Action = Action;
    const ID: TableId = TableId(3);
    const NAME: &'static str = "A line in the cache of a host";
    const OWNERS: &'static [State] = CacheTable::OWNERS;

    fn row(state: State, event: Event) -> Row<State, Action> {
        use State::{M, OU, S, SU};
        match (state, event) {
            (S | SU, Event::Share) => stay(&[Action::SendGone]),
            // No other write came first, so the copy is as new as the bytes that come, or newer.
            (SU, Event::DataM) => go(M, &[Action::MarkDirty, Action::Wake]),
            (OU, Event::DataM) => go(M, &[Action::Wake]),
            (state, event) => CacheTable::row(state, event),
        }
    }
}
