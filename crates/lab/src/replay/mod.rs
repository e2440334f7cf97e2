//! Replays a counterexample of the explorer on the simulated machine with timing. The trace (the
//! file with the counterexample) determines the order of the events. The machine determines the
//! cycle of each event.
//!
//! The machine has the caches, banks and cores of the trace, and the latencies of a machine
//! description. Each move of the trace is one event of the timed machine. A station is the
//! controller of a cache or of a bank:
//!
//! | move | event |
//! |---|---|
//! | `issue` | a wavefront, or the host, issues its next operation |
//! | `deliver` | the oldest message between two stations arrives |
//! | `serve`, `answer` | memory performs an operation; the answer of memory arrives; a trace may have one move for both |
//! | `timer` | a timer expires |
//! | `evict` | a way is evicted; the machine makes no other eviction |
//! | `tick` | the clock ticks, for all stations or for one; the clock ticks only at these moves, however many cycles pass |
//! | `cross` | an operation that a core has delayed reaches a station that does not serve the core's plain loads, or the answer of the operation returns from that station |
//! | `boundary`, `next` | a compute unit or the command processor makes its acquire or release request at the beginning or end of a kernel; the next step of the program begins |
//! | `preempt`, `resume` | the compute unit of a work-group makes a release, and the work-group leaves it; another compute unit takes the work-group and makes an acquire |
//!
//! Two parts of a run are not in the trace. If the program has only one kernel, the start of this
//! kernel is not in the trace, because all caches are empty then. The end of the last kernel, which
//! releases to the host, is not in the trace either. Every event between the two parts is a move of
//! the trace.

mod machine;
mod program;
mod roles;
mod thread;

use std::collections::BTreeSet;

use explore::trace::{Obstacle, Verdict};
use explore::{
    FILTERED_OUT, Fault, NO_MOVE_LEFT, Placement, Replay, StagedKernel, Subject, Trace, overwritten, show,
};
use litmus::program::{Program, Term, Value};
use proto::{Channels, LineAddr, Protocol, Symbol as _, TimerClass, Way};
use sim::config::System;
use sim::follow::{End, FollowError, Move, MoveIssuer, Script, ScriptKernel, ScriptOutcome, follow};

use machine::AddressMap;
use roles::ThreadRoles;
use thread::Observations;

/// A trace that was replayed with timing.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The placement (of threads on compute units, and of words in lines) on the timed machine.
    /// This machine has words of four bytes.
    pub placement: Placement,
    /// The same trace, replayed in the explorer.
    pub explored: Replay,
    /// For each move of the trace, the cycle in which its event happened. `None` for a move without
    /// an event.
    pub cycles: Vec<Option<u64>>,
    /// The verdict: whether the fault that the trace records occurred again.
    pub verdict: Verdict,
    /// A description of how the timed run ended.
    pub end: String,
    /// The reasons why the final state is forbidden, one on each line. Empty if the final state is
    /// allowed or if the run has no final state.
    pub reasons: Vec<String>,
}

/// Replays the moves of a trace on a machine with the latencies of the machine description
/// `latencies`. The function `stop` is called during the searches of the explorer and of the memory
/// models. If it returns true, they end early.
///
/// # Errors
/// If the machine lacks a feature, if a move is impossible, or if the timed run differs from the
/// run in the explorer. The error is a sentence with the cause. For an impossible move, it lists
/// the possible moves.
pub fn replay(
    trace: &Trace,
    subject: &Subject,
    latencies: &System,
    stop: &dyn Fn() -> bool,
) -> Result<Timed, Obstacle> {
    let timed =
        subjects::timed(subject.info.name).ok_or_else(|| String::from("there is no such protocol"))?;
    replay_with(trace, (subject, &timed), latencies, stop)
}

/// Does the same as [`replay`], but for the protocol `P`, which need not be in the list of known
/// protocols.
///
/// # Errors
/// The errors of [`replay`].
pub fn replay_as<P: Protocol>(
    trace: &Trace,
    latencies: &System,
    stop: &dyn Fn() -> bool,
) -> Result<Timed, Obstacle> {
    replay_with(trace, (&Subject::of::<P>(), &sim::Subject::of::<P>()), latencies, stop)
}

fn replay_with(
    trace: &Trace,
    (subject, timed): (&Subject, &sim::Subject),
    latencies: &System,
    stop: &dyn Fn() -> bool,
) -> Result<Timed, Obstacle> {
    if trace.concerns_all_runs() {
        let what = match trace.violation.fault {
            Fault::ThinAir => "that a load returned a byte that no run writes there",
            _ => "that a program never ends",
        };
        return Err(format!("{what} is a finding about all runs, but a timed replay shows one run").into());
    }
    if trace.violation.fault == Fault::Astray {
        return Err(String::from(
            "a run in which a thread computes an address outside the program's memory cannot be timed",
        )
        .into());
    }
    if trace.violation.fault == Fault::Disagreement {
        return Err(String::from(
            "a state in which the lines of several controllers violate a rule cannot be timed, because \
             the timed machine does not check the rule",
        )
        .into());
    }
    if subject.info.channels == Channels::Unordered {
        let name = subject.info.name;
        return Err(format!(
            "{name} allows messages to overtake each other, but the timed network keeps their order"
        )
        .into());
    }
    let mut explored = trace.replay(subject, u64::MAX, stop)?;
    let plain;
    let trace = if trace.placement.is_plain() {
        trace
    } else {
        plain = trace.with_plain_words();
        let original = core::mem::replace(&mut explored, plain.replay(subject, u64::MAX, stop)?);
        if (original.verdict, &original.end) != (explored.verdict, &explored.end) {
            return Err(format!(
                "a timed replay uses words of four bytes and one word for each request; with this change, \
                 the moves end with: {}",
                explored.end
            )
            .into());
        }
        &plain
    };
    let roles = ThreadRoles::of(trace)?;
    let addresses = AddressMap::of(trace)?;
    let kernels = match trace.placement.stages.is_empty() {
        true => None,
        false => Some(trace.kernels().map_err(|error| error.to_string())?),
    };
    let (program, seen) = program::of(trace.program(), &roles, &addresses, kernels.as_deref())?;
    let moves = moves(trace, &roles, &addresses, (&explored.replay, kernels.as_deref()))?;
    let kernels: Option<Vec<ScriptKernel>> =
        kernels.as_ref().map(|kernels| kernels.iter().map(led).collect());
    let script = Script {
        pages: &addresses.pages(trace),
        kernels: kernels.as_deref(),
        moves: &moves.iter().map(|(_, mv)| *mv).collect::<Vec<_>>(),
    };
    let system = addresses.system(trace, &roles, latencies);
    let led = follow(timed, &system, program, trace.seeded_fault(), &script);
    let followed = led.map_err(|error| match error {
        FollowError::NotOpen { at, open } => {
            let (at, open) = (moves[at].0, in_words(&open, &roles, &addresses));
            format!("{} is not possible on the timed machine; possible: {open}", named(trace, at))
        }
        other => other.to_string(),
    })?;
    compare(trace, &explored.replay, &moves, &followed)?;
    let mut cycles = vec![None; trace.violation.moves.len()];
    for ((at, _), step) in moves.iter().zip(&followed.steps) {
        cycles[*at] = Some(step.cycle);
    }
    let (fault, (end, outcome)) = match &followed.end {
        End::Over(_) => match seen.borrow().stale {
            Some(cu) => (Some(Fault::Unquiet), (overwritten(cu as u16), None)),
            None => (Some(Fault::Outcome), ending(trace.program(), &seen.borrow())),
        },
        End::NotAtRest(why) => (Some(Fault::Unquiet), (why.clone(), None)),
        End::Impossible(why) => (Some(Fault::Impossible), (why.clone(), None)),
        End::Stuck => (Some(Fault::Deadlock), (NO_MOVE_LEFT.to_owned(), None)),
        End::Unfinished(open) => (
            None,
            (
                format!(
                    "the timed run has not ended after the last move; possible now: {}",
                    in_words(open, &roles, &addresses)
                ),
                None,
            ),
        ),
    };
    let reasons = match outcome {
        Some(outcome) => trace.reasons(&BTreeSet::from([outcome]), subject.info.hosts, stop)?,
        None => Vec::new(),
    };
    let is = |why: &str| without_request_numbers(&end) == without_request_numbers(why);
    if fault != explored.replay.end.fault() || fault.is_some() && !is(&explored.end) {
        let there = explored.end;
        return Err(format!("the explorer ends with: {there}; the timed machine ends with: {end}").into());
    }
    let verdict = trace.verdict(fault, !reasons.is_empty(), is(&trace.violation.why));
    Ok(Timed { placement: trace.placement.clone(), explored: explored.replay, cycles, verdict, end, reasons })
}

fn led(kernel: &StagedKernel) -> ScriptKernel {
    let StagedKernel { host_has_written, is_released, is_followed, .. } = *kernel;
    ScriptKernel { host_has_written, is_released, is_followed }
}

/// Removes the numbers of requests from the message about a fault. The explorer and the timed
/// machine number requests differently, so the numbers would hide that two messages agree.
fn without_request_numbers(why: &str) -> String {
    let mut parts = why.split("Slot(");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
    core::iter::once(first).chain(rest).collect::<Vec<_>>().join("Slot(")
}

/// A phrase that names a move of the trace by its number and its text.
fn named(trace: &Trace, at: usize) -> String {
    format!("move {}, `{}`,", at + 1, trace.violation.moves[at])
}

/// Converts the moves of the trace to events of the timed machine. Each event comes with the index
/// of its move.
fn moves(
    trace: &Trace,
    roles: &ThreadRoles,
    addresses: &AddressMap,
    (explored, kernels): (&Replay, Option<&[StagedKernel]>),
) -> Result<Vec<(usize, Move)>, String> {
    let mut moves = Vec::new();
    let mut moves_between = moves_between(roles, kernels.unwrap_or_default()).into_iter();
    let of = |thread: u8| roles.issuers.get(usize::from(thread)).copied();
    for (at, &mv) in trace.violation.moves.iter().enumerate() {
        let refuse = |what: &str| Err(format!("{} {what}", named(trace, at)));
        let event = match mv {
            explore::Move::Issue { thread } => match of(thread) {
                Some(issues) => Move::Issue(issues),
                None => return refuse("names a thread that does not exist"),
            },
            explore::Move::Deliver { nth, .. } if nth > 0 => {
                return refuse(
                    "lets a message overtake another, but the channels of the timed machine are FIFO",
                );
            }
            explore::Move::Deliver { from, to, .. } => Move::Deliver { from: from.into(), to: to.into() },
            explore::Move::Cross { from, to, .. } => {
                let crosser = explored.steps.get(at).and_then(|step| step.crosses);
                match crosser.and_then(|crosser| Some((of(crosser.thread)?, crosser.nth))) {
                    Some((issues, nth)) => {
                        Move::Cross { from: from.into(), to: to.into(), issues, nth: nth.into() }
                    }
                    None => return refuse("names two nodes between which no request or answer travels"),
                }
            }
            explore::Move::Serve { node, line } => {
                let answers = explored.steps.get(at).is_some_and(|step| step.merged);
                Move::Serve { station: node.into(), line: addresses.line(line), answers }
            }
            explore::Move::Answer { node, line } => {
                Move::Answer { station: node.into(), line: addresses.line(line) }
            }
            explore::Move::Timer { node, class } => match TimerClass::ALL.get(usize::from(class)) {
                Some(&class) => Move::Timer { station: node.into(), class },
                None => return refuse("names a timer that does not exist"),
            },
            explore::Move::Evict { node, way } => Move::Evict { station: node.into(), way: Way(way.into()) },
            explore::Move::Tick => Move::Tick { station: None },
            explore::Move::TickAt { node } => Move::Tick { station: Some(node.into()) },
            explore::Move::Boundary { agent } => Move::Boundary { agent: agent.into() },
            explore::Move::Next => match moves_between.next() {
                // Between two consecutive parts that the host runs, the trace has no move.
                Some(false) => continue,
                _ => Move::Next,
            },
            explore::Move::Preempt { thread } => match roles.work_group(thread) {
                Some(work_group) => Move::Preempt { work_group },
                None => return refuse("names a thread that is in no work-group"),
            },
            explore::Move::Resume { thread, cu } => match roles.work_group(thread) {
                Some(work_group) => Move::Resume { work_group, cu: cu.into() },
                None => return refuse("names a thread that is in no work-group"),
            },
        };
        moves.push((at, event));
    }
    Ok(moves)
}

/// Says, for each pair of consecutive steps of a program, whether the trace has a move between
/// them: the move that ends one step and begins the next. A step is a kernel, the boundary of a
/// kernel, or a part that the host runs. If both steps are parts that the host runs, the trace has
/// no move between them. In all other cases it has one move.
fn moves_between(roles: &ThreadRoles, kernels: &[StagedKernel]) -> Vec<bool> {
    let mut is_host = Vec::new();
    for stage in roles.order() {
        match kernels.iter().find(|kernel| kernel.stage == stage) {
            None => is_host.push(true),
            Some(kernel) => {
                let ends = usize::from(kernel.is_followed) * (1 + usize::from(kernel.is_released));
                is_host.extend(core::iter::repeat_n(false, 3 + ends));
            }
        }
    }
    is_host.windows(2).map(|pair| pair != [true, true]).collect()
}

/// The possible moves as text, in the notation of trace files.
fn in_words(open: &[Move], roles: &ThreadRoles, addresses: &AddressMap) -> String {
    if open.is_empty() {
        return String::from("nothing");
    }
    let open = open.iter().map(|&mv| format!("`{}`", in_trace(mv, roles, addresses)));
    open.collect::<Vec<_>>().join(" or ")
}

/// Converts an event of the timed machine to a move in the notation of traces.
fn in_trace(mv: Move, roles: &ThreadRoles, addresses: &AddressMap) -> explore::Move {
    let line = |line: LineAddr| addresses.line_in_trace(line);
    let thread = |role: &dyn Fn(MoveIssuer) -> bool| {
        roles.issuers.iter().position(|&other| role(other)).unwrap_or(0) as u8
    };
    let first = |group: u32| {
        thread(&|role| matches!(role, MoveIssuer::Wave { work_group, .. } if work_group == group))
    };
    match mv {
        Move::Issue(issues) => explore::Move::Issue { thread: thread(&|role| role == issues) },
        Move::Deliver { from, to } => explore::Move::Deliver { from: from as u8, to: to as u8, nth: 0 },
        Move::Serve { station, line: at, .. } => explore::Move::Serve { node: station as u8, line: line(at) },
        Move::Answer { station, line: at } => explore::Move::Answer { node: station as u8, line: line(at) },
        Move::Timer { station, class } => explore::Move::Timer { node: station as u8, class: class as u8 },
        Move::Evict { station, way } => explore::Move::Evict { node: station as u8, way: way.0 as u8 },
        Move::Tick { station: None } => explore::Move::Tick,
        Move::Tick { station: Some(station) } => explore::Move::TickAt { node: station as u8 },
        Move::Cross { from, to, nth, .. } => {
            explore::Move::Cross { from: from as u8, to: to as u8, nth: nth as u8 }
        }
        Move::Boundary { agent } => explore::Move::Boundary { agent: agent as u8 },
        Move::Next => explore::Move::Next,
        Move::Preempt { work_group } => explore::Move::Preempt { thread: first(work_group) },
        Move::Resume { work_group, cu } => explore::Move::Resume { thread: first(work_group), cu: cu as u8 },
    }
}

/// Checks that the timed run and the run in the explorer agree.
fn compare(
    trace: &Trace,
    explored: &Replay,
    moves: &[(usize, Move)],
    followed: &ScriptOutcome,
) -> Result<(), String> {
    if !explored.lanes.starts_with(&followed.stations) {
        let (there, here) = (explored.lanes.join(", "), followed.stations.join(", "));
        return Err(format!(
            "the controllers of the timed machine are {here}, but those of the explored machine are {there}"
        ));
    }
    for ((at, _), timed) in moves.iter().zip(&followed.steps) {
        let Some(step) = explored.steps.get(*at) else { break };
        if !timed.what.is_empty() && step.text.split(' ').next() != Some(timed.what) {
            let (there, here) = (&step.text, timed.what);
            return Err(format!(
                "{}: the explored run does `{there}`, the timed run does `{here}`",
                named(trace, *at)
            ));
        }
    }
    Ok(())
}

/// Returns the final state of the run in words, and the values of the registers and locations that
/// the condition of the test reads. The values are `None` if the filter of the test excludes this
/// final state.
fn ending(program: &Program, seen: &Observations) -> (String, Option<Vec<Value>>) {
    let mut value = |term: Term| match term {
        Term::Const(value) => value,
        Term::Loc(loc) => seen.locations[usize::from(program.loc(loc).physical.0)],
        Term::Reg(thread, reg) => seen.registers[usize::from(thread.0)][usize::from(reg.0)],
    };
    if program.filter.as_ref().is_some_and(|filter| !filter.holds(&mut value)) {
        return (String::from(FILTERED_OUT), None);
    }
    let outcome: Vec<Value> = program.state_terms().into_iter().map(value).collect();
    (format!("it ends with {}", show(program, &outcome)), Some(outcome))
}
