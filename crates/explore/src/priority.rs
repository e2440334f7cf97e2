//! The priority of an input that waits for a way of a set: no access that is presented later may start
//! an operation during which a line of the set cannot be evicted.
//!
//! No access can take a way of the set, either: if a way is free, an input that waits for it has lost
//! its wake, which [`Station::check_after_step`] reports.

use drive::StationInput;
use proto::{Key, Message, Node as _, PlanKey, Protocol, Request, SetIndex, Station, Way};

/// Whether an input must respect this priority: an access, or a reply of memory, which lets parked
/// accesses go on. The steps of other inputs are not checked: a recall, for example, must not wait.
pub(crate) fn is_bound<M: Message, A>(input: &StationInput<&Request, &M, A>) -> bool {
    match input {
        StationInput::Request { request, .. } => PlanKey::of(request).is_access(),
        StationInput::Message { msg, .. } => msg.is_access(),
        StationInput::Memory { .. } => true,
        StationInput::Start | StationInput::Timer(_) | StationInput::Evict(_) | StationInput::Tick(_) => {
            false
        }
    }
}

/// The sentence of a report about an input that waits for a way of the set and is overtaken.
pub(crate) fn overtaken(set: SetIndex) -> String {
    format!(
        "a later access makes a line of set {} unevictable, while an earlier access waits for a way of the set",
        set.0
    )
}

/// The first set with waiting inputs that are overtaken: all inputs that wait for a way of the set
/// before the step from `before` to `after` wait after it, too, and the step makes a line of the set
/// unevictable. The step must be that of a bound input ([`is_bound`]).
pub(crate) fn overtaken_set<P: Protocol>(before: &Station<P>, after: &Station<P>) -> Option<SetIndex> {
    let mut sets = before.parked_keys().into_iter().filter_map(|(key, _)| match key {
        Key::Way(set) => Some(set),
        _ => None,
    });
    sets.find(|&set| {
        let victims = |station: &Station<P>| {
            let mut victims = Vec::new();
            station.node.victims(set, &mut victims);
            victims.into_iter().map(|(way, _)| way).collect::<Vec<_>>()
        };
        let (evictable, can_evict) = (victims(before), victims(after));
        let mut held = Vec::new();
        after.node.occupied(set, &mut held);
        let is_pinned = |way: &Way| held.contains(way) && !can_evict.contains(way);
        evictable.iter().any(is_pinned) && keeps_parked(before, after, Key::Way(set))
    })
}

/// Whether all inputs that are parked under a key before a step are parked under it after the step.
fn keeps_parked<P: Protocol>(before: &Station<P>, after: &Station<P>, key: Key) -> bool {
    let requests_after = after.parked_requests();
    let mut messages_after = after.parked_messages();
    let mut requests = before.parked_requests().into_iter().filter(|(of, _)| *of == key);
    let mut messages = before.parked_messages().into_iter().filter(|(of, ..)| *of == key);
    requests.all(|request| requests_after.contains(&request))
        && messages.all(|message| {
            let at = messages_after.iter().position(|other| *other == message);
            at.map(|at| messages_after.swap_remove(at)).is_some()
        })
}
