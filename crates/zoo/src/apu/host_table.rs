//! The state transition table of a line in the cache of a host over a stateless directory.

use crate::moesi::{CacheAction as Action, CacheEvent as Event, CacheState as State, CacheTable};
use proto::{Row, Table, TableId, go, impossible, stay};

/// The state transition table of a line in the cache of a host. Some rows differ from the table of
/// [`crate::moesi`], because a stateless directory also asks caches that do not own the line, and
/// answers each request to write with the bytes of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostTable;

const NEVER_ALONE: &str = "a stateless directory gives no cache a line as the only copy for reading";

impl Table for HostTable {
    type State = State;
    type Event = Event;
    type Action = Action;
    const ID: TableId = TableId(3);
    const NAME: &'static str = "A line in the cache of a host";
    const OWNERS: &'static [State] = &[State::O, State::M, State::OU];
    const NEVER_STORED: &'static [State] = &[State::E];

    fn row(state: State, event: Event) -> Row<State, Action> {
        use State::{E, IS, M, OU, S, SU};
        match (state, event) {
            (E, _) | (IS, Event::DataE) => impossible(NEVER_ALONE),
            (S | SU, Event::Share) => stay(&[Action::SendGone]),
            // No other write came first, so the copy is as new as the bytes that come, or newer.
            (SU, Event::DataM) => go(M, &[Action::MarkDirty, Action::Wake]),
            (OU, Event::DataM) => go(M, &[Action::Wake]),
            (state, event) => CacheTable::row(state, event),
        }
    }
}
