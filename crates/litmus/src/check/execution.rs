//! A complete execution of a program, which the crate keeps for reports, drawings and explanations.

use crate::exec::event::{Event, EventKind};
use crate::exec::set::{EventSet, Word, members, wide};
use crate::exec::skeleton::{Rows, Skeleton};
use crate::program::{Dialect, FenceProxy, Order, Program, Proxy, Value};

use super::search::AllowedExecution;

/// A named relation between events, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges {
    /// The name of the relation.
    pub name: String,
    /// The pairs of events in the relation. Each event is given by its number.
    pub pairs: Vec<(usize, usize)>,
}

/// A complete execution of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The events: initial writes, then each thread's events in program order.
    pub events: Vec<Event>,
    /// The value that each event reads or writes; `None` for fences.
    pub values: Vec<Option<Value>>,
    /// The program order as pairs of event numbers, without the pairs that follow from other pairs
    /// by transitivity.
    pub po: Vec<(usize, usize)>,
    /// The reads-from relation: pairs of a write and a read that takes its value from this write.
    pub rf: Vec<(usize, usize)>,
    /// The coherence order as pairs of event numbers, without the pairs that follow from other
    /// pairs by transitivity.
    pub co: Vec<(usize, usize)>,
    /// The from-reads relation: pairs of a read and a write. The write directly follows, in
    /// coherence order, the write from which the read takes its value.
    pub fr: Vec<(usize, usize)>,
}

impl Execution {
    /// Copies an execution that the search has found.
    pub(crate) fn of<W: Word>(skeleton: &Skeleton<'_>, found: &AllowedExecution<'_, W>) -> Execution {
        let rf: Vec<_> = skeleton
            .events
            .iter()
            .enumerate()
            .filter(|(read, event)| event.reads() && found.rf[*read] != *read)
            .map(|(read, _)| (found.rf[read], read))
            .collect();
        let co = reduced(&wide(found.co));
        let fr = rf
            .iter()
            .flat_map(|&(write, read)| {
                co.iter().filter(move |(from, _)| *from == write).map(move |&(_, to)| (read, to))
            })
            .collect();
        let values = skeleton
            .events
            .iter()
            .enumerate()
            .map(|(i, event)| if event.is_fence() { None } else { found.values[i] })
            .collect();
        Execution { events: skeleton.events.clone(), values, po: reduced(&skeleton.po), rf, co, fr }
    }

    /// The label of the event in herd's notation: `a` to `z`, then `a1` to `z1`, and so on.
    #[must_use]
    pub fn letter(&self, event: usize) -> String {
        let letter = char::from(b'a' + (event % 26) as u8);
        match event / 26 {
            0 => letter.to_string(),
            round => format!("{letter}{round}"),
        }
    }

    /// Describes the event in words: its label, its thread and its action, such as
    /// `b: P0: W[release, device 0] x=1`.
    #[must_use]
    pub fn describe(&self, program: &Program, event: usize) -> String {
        let of = &self.events[event];
        let thread = match of.thread {
            Some(thread) => format!("P{}", thread.0),
            None => "initial".to_owned(),
        };
        format!("{}: {thread}: {}", self.letter(event), action(program, of, self.values[event]))
    }
}

/// Describes the action of an event in words, without its label and its thread, such as
/// `W[release, device 0] x=1`.
#[must_use]
pub fn action(program: &Program, event: &Event, value: Option<Value>) -> String {
    let kind = match event.kind {
        EventKind::Read => "R",
        EventKind::Write => "W",
        EventKind::Fence => "F",
        EventKind::Barrier => "B",
        EventKind::BarrierEntry => "B entry",
        EventKind::BarrierExit => "B exit",
    };
    let mut marks = Vec::new();
    if event.order != Order::Plain {
        marks.push(order_name(event.order).to_owned());
    }
    match event.fence_proxy {
        Some(FenceProxy::Alias) => marks.push("proxy alias".to_owned()),
        Some(FenceProxy::Path(proxy)) => marks.push(format!("proxy {}", proxy_name(proxy))),
        None if event.proxy != Proxy::Generic => marks.push(proxy_name(event.proxy).to_owned()),
        None => {}
    }
    if let Some(scope) = event.scope.filter(|_| program.dialect != Dialect::C11) {
        marks.push(program.scopes.name(scope));
    }
    if event.remote {
        marks.push("remote".to_owned());
    }
    if event.commutative {
        marks.push("commutative".to_owned());
    }
    if event.rmw {
        marks.push("rmw".to_owned());
    }
    let marks = if marks.is_empty() { String::new() } else { format!("[{}]", marks.join(", ")) };
    match event.loc {
        Some(loc) => {
            let value = value.map_or_else(|| "?".to_owned(), |value| program.value_name(value));
            format!("{kind}{marks} {}={value}", program.loc(loc).name)
        }
        None => format!("{kind}{marks}"),
    }
}

/// The name of a memory order, as reports show it.
#[must_use]
pub const fn order_name(order: Order) -> &'static str {
    match order {
        Order::Plain => "plain",
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

const fn proxy_name(proxy: Proxy) -> &'static str {
    match proxy {
        Proxy::Generic => "generic",
        Proxy::Texture => "texture",
        Proxy::Surface => "surface",
        Proxy::Constant => "constant",
    }
}

/// The pairs of a transitive order that do not follow from other pairs by transitivity.
pub(crate) fn reduced(rows: &[EventSet]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (from, &row) in rows.iter().enumerate() {
        let implied = members(row).fold(EventSet::EMPTY, |set, via| set | rows[via]);
        pairs.extend(members(row & !implied).map(|to| (from, to)));
    }
    pairs
}

/// All pairs of a relation. If `rows` is a set, the result has a pair (e, e) for each member e.
pub(crate) fn pairs(rows: &Rows, events: usize) -> Vec<(usize, usize)> {
    if rows.len() == 1 && events != 1 {
        return members(rows[0]).map(|event| (event, event)).collect();
    }
    rows.iter().enumerate().flat_map(|(from, &row)| members(row).map(move |to| (from, to))).collect()
}
