//! The predefined sets and relations of the `.cat` language.

use crate::exec::event::{Event, EventKind};
use crate::exec::set::EventSet;
use crate::exec::skeleton::{Rows, Skeleton};
use crate::program::{Dialect, FenceProxy, Instr, Level, Order, Proxy, Region, ThreadId};

use super::graph::Chosen;
use super::vulkan;

/// The value of a predefined name of the `.cat` language.
pub(super) enum Base {
    /// A set of events.
    Set(EventSet),
    /// A relation that is the same in all executions of the skeleton (the events of one path
    /// through each thread).
    Rel(Rows),
    /// A relation that the search enumerates.
    Chosen(Chosen),
    /// The intersection of two relations: one that the search enumerates, and one that is the same
    /// in all executions.
    Derived(Chosen, Rows),
    /// The union of reads-from, coherence and from-reads.
    Com,
    /// The writes that no other write follows in coherence order. The field holds all writes of the
    /// test.
    FinalWrites(EventSet),
}

/// The sets and relations that only some test formats define.
const FORMAT_SPECIFIC: [&str; 34] = [
    "WI",
    "SG",
    "WG",
    "DV",
    "ALL",
    "SYS",
    "CTA",
    "CLUSTER",
    "GPU",
    "GLOBAL",
    "LOCAL",
    "NAL",
    "EF",
    "XF",
    "GEN",
    "TEX",
    "SUR",
    "CON",
    "ALIAS",
    "WEAK",
    "swi",
    "ssg",
    "swg",
    "sdv",
    "scta",
    "scluster",
    "sgpu",
    "sr",
    "syncbar",
    "sync_barrier",
    "sync_fence",
    "vloc",
    "REM",
    "B",
];

/// The set of all writes.
pub(super) fn writes(on: &Skeleton<'_>) -> EventSet {
    on.set(Event::writes)
}

/// Whether the test is a C or OpenCL test with at least one read-modify-write.
pub(super) fn has_c_rmws(on: &Skeleton<'_>) -> bool {
    matches!(on.program.dialect, Dialect::C11 | Dialect::OpenCl) && on.events.iter().any(|e| e.rmw)
}

/// For a model that uses the coherence order of only the writes in `ordered`: the pairs (a, b) of
/// writes to one word that coherence must not contain, so that the search tries only one order of
/// the other writes. In this one order, the other writes of each word come first, by event number.
/// The writes in `ordered` come after them. The order among the writes in `ordered` stays open.
pub(super) fn redundant_orders(on: &Skeleton<'_>, ordered: EventSet) -> Rows {
    let number = |event: &Event| on.events.iter().position(|other| core::ptr::eq(other, event));
    on.rows(|a, b| {
        let (Some(from), Some(to)) = (number(a), number(b)) else { return false };
        let is_ordered = |event: usize| ordered.has(event);
        let writes = [a, b].iter().all(|e| e.writes() && e.thread.is_some()) && on.word(a) == on.word(b);
        writes && !is_ordered(to) && (is_ordered(from) || from > to)
    })
}

/// The accesses of the location with this name.
pub(super) fn of_location(name: &str, on: &Skeleton<'_>) -> EventSet {
    on.set(|e| e.loc.is_some_and(|loc| on.program.loc(loc).name == name))
}

/// Whether some test format defines the name. The caller already knows that the format of the
/// program does not define it.
pub(super) fn defined_by_other_format(name: &str) -> bool {
    FORMAT_SPECIFIC.contains(&name) || vulkan::SETS.contains(&name) || vulkan::RELATIONS.contains(&name)
}

/// The value of the predefined name `name` in the skeleton `on` (the events of one path through
/// each thread). `None` if the name is not predefined.
pub(super) fn find(name: &str, on: &Skeleton<'_>) -> Option<Base> {
    if on.program.dialect == Dialect::Vulkan {
        let own = vulkan::set(name, on).map(Base::Set);
        if let Some(base) = own.or_else(|| vulkan::relation(name, on).map(Base::Rel)) {
            return Some(base);
        }
    }
    set(name, on).map(Base::Set).or_else(|| relation(name, on))
}

/// The effective memory order of an event. In PTX, an acquire-release operation makes its read an
/// acquire and its write a release. In other formats the read and the write both have the order of
/// the operation.
fn order(event: &Event, dialect: Dialect) -> Order {
    if dialect != Dialect::Ptx || event.is_fence() {
        return event.order;
    }
    match (event.order, event.reads()) {
        (Order::AcqRel, true) => Order::Acquire,
        (Order::AcqRel, false) => Order::Release,
        (Order::Acquire, false) | (Order::Release, true) => Order::Relaxed,
        (order, _) => order,
    }
}

fn set(name: &str, on: &Skeleton<'_>) -> Option<EventSet> {
    let dialect = on.program.dialect;
    let ptx = dialect == Dialect::Ptx;
    let of_order = |wanted: Order| on.set(|e| e.thread.is_some() && order(e, dialect) == wanted);
    let region = |e: &Event| e.loc.map(|loc| on.program.loc(loc).region);
    Some(match name {
        "R" => on.set(Event::reads),
        "W" => on.set(Event::writes),
        "M" => on.set(|e| !e.is_fence()),
        "F" => on.set(Event::is_fence),
        "I" | "IW" => on.set(|e| e.thread.is_none()),
        "RMW" => on.set(|e| e.rmw),
        "emptyset" | "NExp" | "ADDR" => EventSet::EMPTY,
        "Exp" => on.set(|_| true),
        // No format has instructions that take a lock, so sets of lock events are empty. Some
        // formats mark the accesses of locks with annotations.
        "LK" | "LS" if matches!(dialect, Dialect::C11 | Dialect::OpenCl) => EventSet::EMPTY,
        "RU" if matches!(dialect, Dialect::C11 | Dialect::Lisa) => EventSet::EMPTY,
        "LKR" | "LKW" | "UL" | "LF" if matches!(dialect, Dialect::C11 | Dialect::Lisa) => tagged(name, on),
        "RL" if matches!(dialect, Dialect::C11 | Dialect::Lisa) => tagged("LF", on),
        "UL" if dialect == Dialect::OpenCl => EventSet::EMPTY,
        // Accesses with a memory order are atomic.
        "A" | "ATOMIC" => on.set(|e| !e.is_fence() && e.order.is_atomic()),
        "NA" | "PLAIN" | "P" => on.set(|e| !e.is_fence() && !e.order.is_atomic()),
        "WEAK" if ptx => on.set(|e| !e.is_fence() && !e.order.is_atomic()),
        "RLX" => of_order(Order::Relaxed),
        "ACQ" => of_order(Order::Acquire),
        "REL" => of_order(Order::Release),
        "ACQ_REL" | "AR" => of_order(Order::AcqRel),
        "SC" => of_order(Order::SeqCst),
        // Consume is treated as acquire, so no event has that order.
        "CON" if !ptx => EventSet::EMPTY,
        "B" | "BARRIER" => on.set(|e| e.meeting.is_some()),
        "EF" => on.set(|e| e.kind == EventKind::BarrierEntry),
        "XF" => on.set(|e| e.kind == EventKind::BarrierExit),
        "REM" | "REMOTE" => on.set(|e| e.remote),
        "COMMUTATIVE" => on.set(|e| e.commutative),
        "ARRIVE" if ptx => on.set(|e| e.meeting.is_some_and(|m| m.arrive)),
        "GLOBAL" if !ptx => on.set(|e| region(e).map_or(e.is_fence() && e.global, |r| r == Region::Global)),
        "LOCAL" if !ptx => on.set(|e| region(e).map_or(e.is_fence() && e.local, |r| r == Region::Local)),
        "NAL" if !ptx => on.set(|e| {
            e.loc.is_some_and(|loc| {
                let location = on.program.loc(loc);
                !location.atomic && location.region != Region::Unqualified
            })
        }),
        "GEN" if ptx => on.set(|e| e.fence_proxy.is_none() && e.proxy == Proxy::Generic),
        "TEX" if ptx => on.set(|e| path(e) == Some(Proxy::Texture)),
        "SUR" if ptx => on.set(|e| path(e) == Some(Proxy::Surface)),
        "CON" => on.set(|e| path(e) == Some(Proxy::Constant)),
        "ALIAS" if ptx => on.set(|e| e.fence_proxy == Some(FenceProxy::Alias)),
        _ => return scope_set(name, on).or_else(|| tag_set(name, on)),
    })
}

/// The proxy (the path to memory) of an access, or the proxy whose accesses a proxy fence orders.
/// `None` for an alias fence.
fn path(event: &Event) -> Option<Proxy> {
    match event.fence_proxy {
        Some(FenceProxy::Path(proxy)) => Some(proxy),
        Some(FenceProxy::Alias) => None,
        None => Some(event.proxy),
    }
}

/// The events whose operation has a scope of the level that `name` denotes. `None` if `name`
/// denotes no level.
fn scope_set(name: &str, on: &Skeleton<'_>) -> Option<EventSet> {
    let level = match name {
        "WI" => Level::WorkItem,
        "SG" => Level::SubGroup,
        "WG" | "CTA" => Level::WorkGroup,
        "CLUSTER" => Level::Chiplet,
        "DV" | "GPU" => Level::Device,
        "ALL" | "SYS" => Level::System,
        _ => return None,
    };
    Some(on.set(|e| e.scope.is_some_and(|scope| on.program.scopes.get(scope).level == level)))
}

/// The tag whose events a set holds: the name of the set with a lower-case first letter. The set
/// `Mine` holds the events with the tag `'mine`.
pub(super) fn tag_of(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The events annotated with a tag.
pub(super) fn tagged(tag: &str, on: &Skeleton<'_>) -> EventSet {
    on.set(|e| e.tags.iter().any(|own| own.eq_ignore_ascii_case(tag)))
}

/// The pairs of accesses of one word.
pub(super) fn same_location(on: &Skeleton<'_>) -> Rows {
    on.rows(|a, b| a.loc.is_some() && on.word(a) == on.word(b))
}

/// The pairs of events whose threads are in the same scope instance of this level. `None` if the
/// test has no such level.
pub(super) fn same_scope(level: &str, on: &Skeleton<'_>) -> Option<Rows> {
    let around = |e: &Event| on.program.scopes.around(e.thread?, level);
    let rows = on.rows(|a, b| around(a).is_some() && around(a) == around(b));
    let mut threads = (0..on.program.threads.len()).map(|t| ThreadId(t as u8));
    threads.any(|t| on.program.scopes.around(t, level).is_some()).then_some(rows)
}

/// The events of a LISA test that have the annotation `name`. Capital and small letters count as
/// equal. `None` if the test does not have the annotation.
fn tag_set(name: &str, on: &Skeleton<'_>) -> Option<EventSet> {
    let lower = tag_of(name);
    let fits = |tag: &String| tag == name || *tag == lower || tag.eq_ignore_ascii_case(name);
    let has = |e: &Event| e.tags.iter().any(fits);
    let in_code = on.program.threads.iter().flat_map(|t| &t.code).any(|instr| {
        let tags = match instr {
            Instr::Fence(fence) => Some(&fence.tags),
            _ => instr.access().map(|access| &access.tags),
        };
        tags.is_some_and(|tags| tags.iter().any(fits))
    });
    // The events of a read-modify-write may have annotations that its instruction lacks.
    let in_halves = || on.events.iter().any(has);
    (in_code || in_halves()).then(|| on.set(has))
}

fn relation(name: &str, on: &Skeleton<'_>) -> Option<Base> {
    let n = on.len();
    let same_thread = |a: &Event, b: &Event| a.thread.is_some() && a.thread == b.thread;
    // Each initial write counts as a separate thread.
    let internal = || {
        let mut rows = on.rows(same_thread);
        rows.iter_mut().enumerate().for_each(|(i, row)| row.insert(i));
        rows
    };
    let external = || {
        let mut rows = on.rows(|a, b| !same_thread(a, b));
        rows.iter_mut().enumerate().for_each(|(i, row)| row.remove(i));
        rows
    };
    let masked = |mut rows: Rows, mask: &Rows| {
        rows.iter_mut().zip(mask).for_each(|(r, &m)| *r &= m);
        rows
    };
    Some(match name {
        "rf" => Base::Chosen(Chosen::Rf),
        "co" | "mo" | "ws" => Base::Chosen(Chosen::Co),
        "fr" => Base::Chosen(Chosen::Fr),
        "rfi" => Base::Derived(Chosen::Rf, internal()),
        "rfe" => Base::Derived(Chosen::Rf, external()),
        "coi" | "moi" => Base::Derived(Chosen::Co, internal()),
        "coe" | "moe" => Base::Derived(Chosen::Co, external()),
        "fri" => Base::Derived(Chosen::Fr, internal()),
        "fre" => Base::Derived(Chosen::Fr, external()),
        "com" => Base::Com,
        "FW" => Base::FinalWrites(on.set(Event::writes)),
        "po" | "sb" => Base::Rel(on.po.clone()),
        "po-loc" => Base::Rel(masked(on.po.clone(), &same_location(on))),
        "addr" => Base::Rel(on.addr.clone()),
        "data" => Base::Rel(on.data.clone()),
        "ctrl" => Base::Rel(on.ctrl.clone()),
        "rmw" | "amo" => Base::Rel(on.rmw.clone()),
        "lxsx" | "emptyrel" | "iico_data" | "iico_ctrl" | "iico_order" => Base::Rel(vec![EventSet::EMPTY; n]),
        // `sm` and `si` relate the events of one access. An access is one event in this crate, so
        // each access is related only to itself.
        "sm" | "si" => Base::Rel(on.rows(|a, b| !a.is_fence() && core::ptr::eq(a, b))),
        "loc" => Base::Rel(same_location(on)),
        "int" => Base::Rel(internal()),
        "ext" => Base::Rel(external()),
        "id" => Base::Rel((0..n).map(EventSet::only).collect()),
        "unv" => Base::Rel(vec![EventSet::below(n); n]),
        _ => return scope_relation(name, on),
    })
}

fn scope_relation(name: &str, on: &Skeleton<'_>) -> Option<Base> {
    let dialect = on.program.dialect;
    let ptx = dialect == Dialect::Ptx;
    let around = |level: Level| on.same_level(level);
    Some(match name {
        "swi" => Base::Rel(around(Level::WorkItem)),
        "ssg" => Base::Rel(around(Level::SubGroup)),
        "swg" => Base::Rel(around(Level::WorkGroup)),
        "scta" if ptx => Base::Rel(around(Level::WorkGroup)),
        "scluster" if ptx => Base::Rel(around(Level::Chiplet)),
        "sgpu" if ptx => Base::Rel(around(Level::Device)),
        "sdv" => Base::Rel(around(Level::Device)),
        "syncbar" => Base::Rel(meetings(on)),
        "sync_barrier" if ptx => Base::Rel(meetings(on)),
        "sync_fence" if ptx => Base::Chosen(Chosen::SyncFence),
        "sr" => Base::Rel(on.rows(|a, b| reaches(on, a, b) && reaches(on, b, a))),
        "vloc" if ptx => Base::Rel(on.rows(|a, b| {
            let generic = |e: &Event| e.loc.map(|loc| on.program.loc(loc).generic);
            a.loc.is_some() && generic(a) == generic(b)
        })),
        "same-instance" => Base::Rel(on.rows(|a, b| a.scope.is_some() && a.scope == b.scope)),
        "narrower" => Base::Rel(on.rows(|a, b| narrower(on, a, b))),
        "smaller" => Base::Rel(on.rows(|a, b| smaller(on, a, b))),
        "holds" => Base::Rel(on.rows(|a, b| reaches(on, a, b))),
        _ => return None,
    })
}

/// The pairs (a, b) of events that meet at a barrier at which the thread of a synchronizes with the
/// thread of b. If the thread of b only arrives at the barrier and does not wait, there is no pair
/// with b in second place.
fn meetings(on: &Skeleton<'_>) -> Rows {
    let mut rows = on.meets.clone();
    for (event, to) in on.events.iter().enumerate() {
        if to.meeting.is_some_and(|m| m.arrive) {
            rows.iter_mut().for_each(|row| row.remove(event));
        }
    }
    rows
}

/// Whether the scope of `a` contains the thread of `b`.
fn reaches(on: &Skeleton<'_>, a: &Event, b: &Event) -> bool {
    match (a.scope, b.thread) {
        (Some(scope), Some(thread)) => on.program.scopes.get(scope).members.contains(thread),
        _ => false,
    }
}

/// Whether the scope instance of `a` is inside that of `b`, or equal to it.
fn narrower(on: &Skeleton<'_>, a: &Event, b: &Event) -> bool {
    match (a.scope, b.scope) {
        (Some(inner), Some(outer)) => on.program.scopes.includes(outer, inner),
        _ => false,
    }
}

/// Whether the scope instance of `b` contains the scope instance of `a` and is strictly larger. If
/// the two instances have the same threads, the one of the outer level is larger: a device is
/// larger than a work-group.
fn smaller(on: &Skeleton<'_>, a: &Event, b: &Event) -> bool {
    let (Some(inner), Some(outer)) = (a.scope, b.scope) else { return false };
    let size = |scope| {
        let instance = on.program.scopes.get(scope);
        (instance.members.count(), instance.level, scope)
    };
    narrower(on, a, b) && size(inner) < size(outer)
}
