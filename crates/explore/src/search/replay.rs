//! Replay of a trace, move by move: the events, the messages, and the contents of every cache.

use std::collections::BTreeSet;

use litmus::program::{LocId, Program, Value};
use proto::{LineAddr, LineView, Op, Per, Request, Symbol as _, TimerClass};

use crate::machine::controllers::{StationInput, Word};
use crate::machine::crossing::{Crossing, crossing, note_ages};
use crate::machine::known::{Expansion, Offer, Sink};
use crate::machine::moves::Move;
use crate::machine::outcome::{self, Outcome};
use crate::machine::placement::{Unsupported, Word as MemoryWord};
use crate::machine::play::Halt;
use crate::machine::{Machine, Recorded};
use crate::search::disagreement;
use crate::search::fault::{Fault, show};
use crate::search::overtaking::SendOrder;

/// A step of a replayed trace, as drawn in a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartStep {
    /// The move of the step.
    pub mv: Move,
    /// The indices of the lanes (columns of the chart) of sender and receiver. For an event without
    /// a message, both are the index of the event's own lane.
    pub lanes: (usize, usize),
    /// The description of the message or the event.
    pub text: String,
    /// Whether memory replied to the operation of this step in the same step.
    pub merged: bool,
    /// The crossing between a core and another controller that the move makes (its thread and
    /// operation), or `None` if the move makes no such crossing.
    pub crosses: Option<Crossing>,
    /// Descriptions of the answers to threads, and of changed contents of caches.
    pub notes: Vec<String>,
}

/// A trace that was replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Descriptions of the threads, each with the cache or host port where it runs.
    pub threads: Vec<String>,
    /// The names of the lanes (columns of the chart): the threads' caches, the banks, further
    /// controllers, and memory.
    pub lanes: Vec<String>,
    /// The steps of the trace.
    pub steps: Vec<ChartStep>,
    /// The end of the replay: the state after the last step.
    pub end: End,
    /// The violation of a rule about the lines of several controllers in the state after the last
    /// move, in words. `None` if the state violates no such rule.
    pub disagreement: Option<String>,
    /// The lines of the text that explains the fault.
    pub reasons: Vec<String>,
}

/// The kind of state after the last move of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// A move is still possible.
    #[default]
    Goes,
    /// The program is over, with one of these outcomes.
    Over(BTreeSet<Outcome>),
    /// The program is over, but something is still under way, as described.
    Unquiet(String),
    /// No move is possible, and the program is not over.
    Stuck,
    /// The protocol declares the last move impossible, for this reason.
    Impossible(String),
    /// A thread cannot continue with the values that it has read, for this reason.
    Astray(String),
    /// The state does not offer the last move. The text names the moves that it offers.
    Closed(String),
}

impl End {
    /// The kind of fault at this end, or `None` if the end is no fault. An outcome counts as a
    /// fault here, although the outcome may be allowed.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        match self {
            End::Goes | End::Closed(_) => None,
            End::Over(_) => Some(Fault::Outcome),
            End::Unquiet(_) => Some(Fault::Unquiet),
            End::Stuck => Some(Fault::Deadlock),
            End::Impossible(_) => Some(Fault::Impossible),
            End::Astray(_) => Some(Fault::Astray),
        }
    }

    /// The description of the end, in the same words that an exploration uses for a fault.
    #[must_use]
    pub fn why(&self, program: &Program) -> String {
        match self {
            End::Goes => String::from("the moves end before the program does"),
            End::Over(outcomes) if outcomes.is_empty() => String::from(FILTERED_OUT),
            End::Over(outcomes) => {
                let all: Vec<String> = outcomes.iter().map(|outcome| show(program, outcome)).collect();
                format!("it ends with {}", all.join(" or "))
            }
            End::Stuck => String::from(NO_MOVE_LEFT),
            End::Unquiet(why) | End::Impossible(why) | End::Astray(why) | End::Closed(why) => why.clone(),
        }
    }

    /// The reason why the last move was not possible, or why a thread cannot continue after it.
    /// `None` for every other end.
    pub(crate) fn last_fault(&self) -> Option<&str> {
        match self {
            End::Impossible(why) | End::Astray(why) | End::Closed(why) => Some(why),
            End::Goes | End::Over(_) | End::Unquiet(_) | End::Stuck => None,
        }
    }
}

/// The description of the end of a run whose outcome the test's filter excludes.
pub const FILTERED_OUT: &str = "the test's filter excludes the outcome";
/// The description of a deadlock.
pub const NO_MOVE_LEFT: &str = "no move (event) is possible, but the program has not ended";

/// Replays the moves of a trace on the machine of its program.
pub(crate) fn of(machine: &mut Machine, moves: &[Move]) -> Result<Replay, Unsupported> {
    // In the original search, memory answered in a separate move if several nodes reached the line.
    // So the lines of such moves are marked as shared before the replay.
    for mv in moves {
        if let Move::Answer { line, .. } = *mv {
            machine.share(line);
        }
    }
    loop {
        let replay = replay(machine, moves)?;
        if let Some(why) = machine.unsupported.take() {
            return Err(Unsupported(why));
        }
        if !machine.is_stale {
            return Ok(replay);
        }
        machine.again();
    }
}

fn replay(machine: &mut Machine, moves: &[Move]) -> Result<Replay, Unsupported> {
    let mut state = machine.start()?;
    let memory = machine.known.nodes;
    let mut lanes: Vec<String> = (0..memory as u8).map(|node| machine.controllers.node_name(node)).collect();
    lanes.push("memory".to_owned());
    let mut replay = Replay { threads: threads(machine, &state, &lanes), lanes, ..Replay::default() };
    let mut ages = Vec::new();
    let mut send_order = SendOrder::default();
    for (at, &mv) in moves.iter().enumerate() {
        note_ages(machine, &state, &mut ages);
        machine.learn(&state);
        if machine.is_stale {
            return Ok(replay);
        }
        let ((from, to), text) = describe(machine, &state, mv);
        let crosses = crossing(machine, &state, mv, &ages);
        // A file may name a node that does not exist: the move is then refused.
        let lanes = (from.min(memory), to.min(memory));
        machine.recorded = Some(Recorded::default());
        let played = machine.play(&state, mv);
        let Recorded { answers, sends } = machine.recorded.take().unwrap_or_default();
        let mut notes: Vec<String> =
            answers.iter().map(|(t, request, values)| answered(machine, *t, *request, values)).collect();
        let overtaken = send_order.overtaken(machine, &state, mv);
        notes.extend(overtaken.map(|messages| overtakes(machine, &state, (to, &replay.lanes), messages)));
        match played {
            Ok(next) => {
                notes.extend(changes(machine, &replay.lanes, &state, &next));
                state = next;
                send_order.update(machine, &state, &sends);
            }
            Err(Halt::Impossible(why)) if machine.bad_values.contains(&why) => {
                replay.end = End::Astray(why.to_string());
            }
            Err(Halt::Impossible(why)) => replay.end = End::Impossible(why.to_string()),
            Err(Halt::Closed(open)) => {
                replay.end =
                    End::Closed(format!("move {}, `{mv}`, is not possible here; {}", at + 1, named(&open)));
            }
        }
        let merged = matches!(mv, Move::Serve { line, .. } if machine.merges(line));
        replay.steps.push(ChartStep { mv, lanes, text, merged, crosses, notes });
        if replay.end != End::Goes {
            return Ok(replay);
        }
    }
    replay.end = end(machine, &state);
    replay.disagreement = disagreement::of_state(machine, &state);
    Ok(replay)
}

/// The names of the offered moves.
fn named(open: &[Move]) -> String {
    let open: Vec<String> = open.iter().map(|mv| format!("`{mv}`")).collect();
    if open.is_empty() {
        String::from("no move is possible")
    } else {
        format!("possible now: {}", open.join(" or "))
    }
}

/// A receiver of successors that ignores all of them.
struct Nowhere;

impl Sink for Nowhere {
    fn go(&mut self, _: Offer, _next: &[u32]) {}
    fn wait(&mut self, _mv: Move) {}
}

fn end(machine: &mut Machine, state: &[u32]) -> End {
    machine.learn(state);
    match machine.known.expand(state, &mut Vec::new(), &mut Nowhere) {
        Expansion::End => {
            let mut outcomes = BTreeSet::new();
            match outcome::of(machine, state, &mut outcomes) {
                Ok(()) => End::Over(outcomes),
                Err(why) => End::Unquiet(why.to_string()),
            }
        }
        Expansion::Stuck => End::Stuck,
        Expansion::Goes | Expansion::Fault(..) | Expansion::Unknown => End::Goes,
    }
}

fn threads(machine: &Machine, state: &[u32], lanes: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for (node, &part) in state[..machine.known.nodes].iter().enumerate() {
        let of = machine.part(part).threads.iter();
        names.extend(of.map(|(t, _)| (*t, format!("P{t} at {}", lanes[node]))));
    }
    names.sort();
    names.into_iter().map(|(_, name)| name).collect()
}

/// The lanes (columns of the chart) of a move, and the move's description.
fn describe(machine: &Machine, state: &[u32], mv: Move) -> ((usize, usize), String) {
    let memory = machine.known.nodes;
    let part = |node: usize| state[..memory].get(node).map(|&part| machine.part(part));
    match mv {
        Move::Issue { thread } => {
            let location = machine.location_of(state, thread);
            let at = location.map_or(0, |(node, _)| node);
            let state = location.and_then(|(node, at)| part(node).map(|p| p.threads[at].1));
            let offer = state.map(|s| machine.code.offer(usize::from(thread), machine.thread(s)));
            let text = match offer {
                Some(Ok(crate::machine::thread::Offer::Send { request, .. })) => asks(machine, &request),
                Some(Ok(crate::machine::thread::Offer::Keep { request, .. })) => {
                    format!(
                        "{}, kept at the core until earlier accesses are complete",
                        asks(machine, &request)
                    )
                }
                _ => "continues without a request".to_owned(),
            };
            ((at, at), format!("P{thread}: {text}"))
        }
        Move::Deliver { from, to, nth } => {
            let lanes = (usize::from(from), usize::from(to));
            let messages = part(lanes.0).map(|part| machine.messages(part, to)).unwrap_or_default();
            let msg = messages.get(usize::from(nth)).copied();
            (lanes, msg.map(|msg| message_text(machine, msg)).unwrap_or_default())
        }
        Move::Cross { from, to, nth } => {
            let lanes = (usize::from(from), usize::from(to));
            let input = part(lanes.0).and_then(|p| {
                p.wires
                    .iter()
                    .filter(|(other, _)| *other == to)
                    .nth(usize::from(nth))
                    .map(|(_, input)| *input)
            });
            let text = match input.map(|input| machine.words.thing(input)) {
                Some(Word::StationInput(StationInput::Request { request, .. })) => {
                    asks(machine, machine.controllers.request_of(*request))
                }
                _ => "an answer".to_owned(),
            };
            (lanes, text)
        }
        Move::Serve { node, line } => {
            let op = part(usize::from(node))
                .and_then(|p| p.ops.iter().find(|(other, _)| *other == line))
                .map(|(_, op)| machine.controllers.op_of(*op).access);
            let what = match op {
                Some(proto::MemoryAccess::Read) => "reads",
                Some(proto::MemoryAccess::Write { .. }) => "writes",
                Some(proto::MemoryAccess::Rmw { .. }) => "updates",
                None => "?",
            };
            let line = line_name(machine, LineAddr(u64::from(line)));
            ((usize::from(node), memory), format!("{what} {line}"))
        }
        Move::Answer { node, line } => {
            let line = line_name(machine, LineAddr(u64::from(line)));
            ((memory, usize::from(node)), format!("answer {line}"))
        }
        Move::Timer { node, class } => {
            let class = TimerClass::ALL.get(usize::from(class)).map_or("?", |c| c.name());
            ((usize::from(node), usize::from(node)), format!("timer {class}"))
        }
        Move::Evict { node, way } => {
            let at = usize::from(node);
            ((at, at), format!("way {way} is evicted"))
        }
        Move::Tick => ((0, memory), "time passes".to_owned()),
        Move::TickAt { node } => ((usize::from(node), usize::from(node)), "time passes".to_owned()),
        Move::Boundary { agent } => {
            let at = (0..memory).find(|&node| part(node).is_some_and(|p| p.asks(agent))).unwrap_or(0);
            let step = part(at).map(|p| machine.steps.name(p.step));
            ((at, at), format!("agent {agent}: {}", step.unwrap_or_default()))
        }
        Move::Preempt { thread } => {
            let at = machine.location_of(state, thread).map_or(0, |(node, _)| node);
            ((at, at), format!("{}: preempted", group(machine, thread)))
        }
        Move::Resume { thread, cu } => {
            let from = machine.location_of(state, thread).map_or(0, |(node, _)| node);
            let to = machine.slots.unit(cu.into()).map_or(from, usize::from);
            ((from, to), format!("{}: resumed on CU {cu}", group(machine, thread)))
        }
        Move::Next => {
            let step = part(0).map(|p| machine.steps.name(p.step + 1));
            ((0, memory), step.unwrap_or_default())
        }
    }
}

/// The names of all threads in the work-group of a thread.
fn group(machine: &Machine, thread: u8) -> String {
    let group = machine.groups.get(usize::from(thread)).copied().unwrap_or_default();
    group.iter().map(|thread| format!("P{}", thread.0)).collect::<Vec<_>>().join(" and ")
}

/// The text of a message: its name and its line.
fn message_text(machine: &Machine, msg: u32) -> String {
    let (name, line) = machine.controllers.message(msg);
    let line = line.map(|line| format!(" {}", line_name(machine, line)));
    format!("{name}{}", line.unwrap_or_default())
}

/// The note about a message that overtakes an older one, with the state of the message's line at
/// the receiver. This state and the message identify the row of the table that takes the message
/// too early.
fn overtakes(
    machine: &Machine,
    state: &[u32],
    (to, lanes): (usize, &[String]),
    (msg, older): (u32, u32),
) -> String {
    let (name, line) = machine.controllers.message(msg);
    let views = machine.controllers.views(machine.part(state[to]).station);
    let view = views.iter().find(|view| Some(view.line) == line);
    let held = match view {
        Some(view) => format!("holds the line in {}", view.state),
        None => String::from("does not hold the line"),
    };
    let older = message_text(machine, older);
    format!("{name} overtakes {older} and reaches {}, which {held}", lanes[to])
}

/// The name of a line, made of the names of its words.
fn line_name(machine: &Machine, line: LineAddr) -> String {
    let names: Vec<&str> = words(machine, line).map(|(loc, _)| name(machine, loc)).collect();
    format!("[{}]", names.join(" "))
}

/// The words of a line, each with its location.
fn words(machine: &Machine, line: LineAddr) -> impl Iterator<Item = (LocId, MemoryWord)> {
    let all = machine.code.words.iter().enumerate().map(|(at, word)| (LocId(at as u16), *word));
    all.filter(move |(loc, word)| word.line == line && machine.code.program.loc(*loc).physical == *loc)
}

fn name(machine: &Machine, loc: LocId) -> &str {
    &machine.code.program.loc(loc).name
}

/// The description of a request.
fn asks(machine: &Machine, request: &Request) -> String {
    let order = match request.order {
        proto::Order::Plain => String::new(),
        order => {
            let remote = if request.hints.remote { " remote" } else { "" };
            format!(" {} {}{remote}", order.name(), request.scope.level.name())
        }
    };
    let locs: Vec<LocId> = machine.code.accesses(request).collect();
    let names: Vec<&str> = locs.iter().map(|&loc| name(machine, loc)).collect();
    let operands = locs.iter().map(|&loc| machine.code.word(loc).read(&request.data).to_string());
    let (loc, operands) = (names.join(" "), operands.collect::<Vec<_>>().join(" "));
    match request.op {
        Op::Load => format!("load {loc}{order}"),
        Op::Store => format!("store {loc} = {operands}{order}"),
        Op::Rmw(rmw) => format!("{:?} {loc} {operands}{order}", rmw.kind),
        Op::Fence => format!("fence{order}"),
        Op::KernelBegin(_) => "acquire of its compute unit".to_owned(),
        Op::KernelEnd(_) => "release of its compute unit".to_owned(),
    }
}

fn answered(machine: &Machine, thread: u8, request: u32, values: &[Value]) -> String {
    let request_text = asks(machine, machine.controllers.request_of(request));
    if values.is_empty() {
        return format!("P{thread}: {request_text} is done");
    }
    let values: Vec<String> = values.iter().map(Value::to_string).collect();
    format!("P{thread}: {request_text} reads {}", values.join(" "))
}

/// The descriptions of the changed contents of caches and memory, and of the changed conditions of
/// controllers, such as a granted epoch.
fn changes(machine: &Machine, lanes: &[String], before: &[u32], after: &[u32]) -> Vec<String> {
    let nodes = machine.known.nodes;
    let mut notes = Vec::new();
    for node in 0..nodes {
        let views = |part: u32| machine.controllers.views(machine.part(part).station);
        let (old, new) = (views(before[node]), views(after[node]));
        let id = machine.controllers.ids()[node];
        if machine.controllers.subject.kinds[usize::from(id.kind)].per == Per::Host {
            continue;
        }
        for view in new.iter().filter(|view| !old.contains(view)) {
            notes.push(format!("{} holds {}", lanes[node], held(machine, view)));
        }
        for view in old.iter().filter(|view| new.iter().all(|other| other.line != view.line)) {
            notes.push(format!("{} no longer holds {}", lanes[node], line_name(machine, view.line)));
        }
        let conditions = |part: u32| machine.controllers.conditions(machine.part(part).station);
        let (old, new) = (conditions(before[node]), conditions(after[node]));
        for condition in new.iter().filter(|condition| !old.contains(condition)) {
            notes.push(format!("{}, {}: {}", lanes[node], condition.track, condition.text));
        }
    }
    for (line, (old, new)) in
        machine.memory(before[nodes]).iter().zip(machine.memory(after[nodes])).enumerate()
    {
        if old != new {
            let data = machine.controllers.line_of(*new);
            let values = words(machine, LineAddr(line as u64));
            let values = values.map(|(loc, word)| format!("{}={}", name(machine, loc), word.read(data)));
            notes.push(format!("memory holds {}", values.collect::<Vec<_>>().join(" ")));
        }
    }
    notes
}

/// The description of a line in a cache: its values, with `*` for dirty words and `-` for invalid
/// words.
fn held(machine: &Machine, view: &LineView) -> String {
    let values = words(machine, view.line).map(|(loc, word)| {
        let mask = word.mask();
        let dirty = if view.dirty.overlaps(mask) { "*" } else { "" };
        let value = match view.valid.contains(mask) || view.dirty.contains(mask) {
            true => word.read(&view.data).to_string(),
            false => "-".to_owned(),
        };
        format!("{}={value}{dirty}", name(machine, loc))
    });
    format!("{} ({})", values.collect::<Vec<_>>().join(" "), view.state)
}
