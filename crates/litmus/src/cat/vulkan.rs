//! The predefined sets and relations of Vulkan tests.

use crate::exec::event::{Event, EventKind};
use crate::exec::set::EventSet;
use crate::exec::skeleton::{Rows, Skeleton};
use crate::program::Level;

/// The sets that only Vulkan tests define. The sets of storage classes and semantics
/// are defined even if the test does not use them.
pub(super) const SETS: [&str; 20] = [
    "ATOM",
    "NONPRIV",
    "AV",
    "VIS",
    "SEMAV",
    "SEMVIS",
    "AVDEVICE",
    "VISDEVICE",
    "CBAR",
    "QF",
    "SC0",
    "SC1",
    "SC2",
    "SC3",
    "SEMSC0",
    "SEMSC1",
    "SEMSC2",
    "SEMSC3",
    "REL",
    "ACQ",
];

/// The relations that only Vulkan tests define.
pub(super) const RELATIONS: [&str; 2] = ["sqf", "ssw"];

fn is_device_operation(event: &Event) -> bool {
    event.kind == EventKind::Fence && event.scope.is_none()
}

fn is_atomic(event: &Event) -> bool {
    !event.is_fence() && event.order.is_atomic()
}

fn has(event: &Event, tag: &str) -> bool {
    event.tags.iter().any(|own| own == tag)
}

/// Whether the event is in the set `AV` or `VIS`. `tag` selects the set. `AV` has the atomic writes
/// and the writes with the tag `AV`. `VIS` has the atomic reads and the reads with the tag `VIS`.
fn has_instruction_mark(event: &Event, tag: &str) -> bool {
    match tag {
        "AV" => event.writes() && (is_atomic(event) || has(event, tag)),
        _ => event.reads() && (is_atomic(event) || has(event, tag)),
    }
}

pub(super) fn set(name: &str, on: &Skeleton<'_>) -> Option<EventSet> {
    Some(match name {
        "ATOM" => on.set(is_atomic),
        // Non-private accesses are the atomic accesses, and the accesses with an availability or
        // visibility operation.
        "NONPRIV" => {
            on.set(|e| ["AV", "VIS"].iter().any(|mark| has_instruction_mark(e, mark)) || has(e, "NONPRIV"))
        }
        "AV" | "VIS" => on.set(|e| has_instruction_mark(e, name)),
        // Of an acquire-release read-modify-write, only the read is in `ACQ`, and only the write is
        // in `REL`.
        "ACQ" => on.set(|e| !e.writes() && e.order.acquires()),
        "REL" => on.set(|e| !e.reads() && e.order.releases()),
        // A control barrier without semantics is not a memory barrier.
        "F" => {
            on.set(|e| e.is_fence() && !is_device_operation(e) && (e.order.acquires() || e.order.releases()))
        }
        "CBAR" => on.set(|e| e.meeting.is_some()),
        "QF" => on.set(|e| e.scope.is_some_and(|s| on.program.scopes.get(s).level == Level::Chiplet)),
        _ if SETS.contains(&name) => on.set(|e| has(e, name)),
        _ => return None,
    })
}

pub(super) fn relation(name: &str, on: &Skeleton<'_>) -> Option<Rows> {
    Some(match name {
        "sqf" => on.same_level(Level::Chiplet),
        "ssw" => on.rows(|a, b| match (a.thread, b.thread) {
            (Some(first), Some(later)) => on.program.system_order.contains(&(first, later)),
            _ => false,
        }),
        // Accesses by one reference. A reference is one of the names of a word.
        "vloc" => on.rows(|a, b| {
            let reference = |e: &Event| e.loc.map(|loc| on.program.loc(loc).generic);
            a.loc.is_some() && reference(a) == reference(b)
        }),
        _ => return None,
    })
}
