//! The priority of an input that waits for a way of a set: no later access may take a way of the set,
//! or start an operation during which a line of the set cannot be evicted.

use drive::StationInput;
use proto::{Key, Message, Node as _, Protocol, SetIndex, Station, Way};

/// Whether an input is an access, or a reply of memory that lets parked accesses go on. Other
/// inputs may make lines unevictable while an input waits for a way: a recall, for example, must
/// not wait for that input.
pub(crate) fn is_bound<R, M: Message, A>(input: &StationInput<R, &M, A>) -> bool {
    match input {
        StationInput::Request { .. } | StationInput::Memory { .. } => true,
        StationInput::Message { msg, .. } => msg.is_access(),
        StationInput::Start | StationInput::Timer(_) | StationInput::Evict(_) | StationInput::Tick(_) => {
            false
        }
    }
}

/// The sentence of a report about an input that waits for a way of the set and is overtaken.
pub(crate) fn overtaken(set: SetIndex) -> String {
    format!(
        "a later access takes a way of set {}, or makes a line of the set unevictable, while an earlier \
         access waits for a way of the set",
        set.0
    )
}

/// The first set with a waiting input that is overtaken: an input waits for a way of the set before
/// and after the step from `before` to `after`, and the step occupies a way of the set or makes a
/// line of the set unevictable. The step must be that of a bound input ([`is_bound`]).
pub(crate) fn overtaken_set<P: Protocol>(before: &Station<P>, after: &Station<P>) -> Option<SetIndex> {
    let mut sets = before.parked_keys().into_iter().filter_map(|(key, _)| match key {
        Key::Way(set) => Some(set),
        _ => None,
    });
    sets.find(|&set| {
        let ways = |station: &Station<P>| {
            let (mut occupied, mut victims) = (Vec::new(), Vec::new());
            station.node.occupied(set, &mut occupied);
            station.node.victims(set, &mut victims);
            (occupied, victims.into_iter().map(|(way, _)| way).collect::<Vec<_>>())
        };
        let ((held, evictable), (holds, can_evict)) = (ways(before), ways(after));
        let is_taken = |way: &Way| !held.contains(way);
        let is_pinned = |way: &Way| evictable.contains(way) && !can_evict.contains(way);
        holds.iter().any(|way| is_taken(way) || is_pinned(way)) && keeps_parked(before, after, Key::Way(set))
    })
}

/// Whether all inputs that are parked under a key before a step are parked under it after the step.
fn keeps_parked<P: Protocol>(before: &Station<P>, after: &Station<P>, key: Key) -> bool {
    let left = after.parked_requests();
    let mut requests = before.parked_requests().into_iter().filter(|(of, _)| *of == key);
    let mut others = after.parked_messages();
    let mut messages = before.parked_messages().into_iter().filter(|(of, ..)| *of == key);
    requests.all(|request| left.contains(&request))
        && messages.all(|message| {
            let at = others.iter().position(|other| *other == message);
            at.map(|at| others.swap_remove(at)).is_some()
        })
}
