//! The cycles at which the effects of a step leave a station (a controller of the protocol).

use proto::{LineAddr, Uses};

use crate::queue::Cycle;
use crate::reports::Reports;
use crate::reports::probe::Probe;
use crate::stations::banks::InnerBanks;
use crate::stations::fabric::StationId;
use crate::stations::timing::StationTiming;

/// The input that caused a step of a station (controller).
#[derive(Clone, Copy, Debug)]
pub(crate) enum StepInput {
    /// A new request that came through the port of the station (controller).
    Request { line: Option<LineAddr> },
    /// A message from another station (controller).
    Message { name: &'static str, line: Option<LineAddr>, is_access: bool },
    /// Memory's answer to an operation about a line.
    Memory { line: LineAddr },
    /// A timer, a clock tick, an eviction that a script of moves or a change of the L1's size orders,
    /// or the initial input.
    Timer,
}

impl StepInput {
    /// The line that the input concerns. `None` if it concerns no line.
    pub(super) fn line(&self) -> Option<LineAddr> {
        match *self {
            StepInput::Request { line } | StepInput::Message { line, .. } => line,
            StepInput::Memory { line } => Some(line),
            StepInput::Timer => None,
        }
    }
}

/// The cycles at which the effects of a step leave the station (controller).
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaveTimes {
    /// The cycle at which messages and memory operations leave the station (controller).
    pub(crate) sends: Cycle,
    /// The cycle at which answers with bytes leave the station (controller).
    pub(crate) values: Cycle,
    /// The cycle at which answers without bytes leave the station (controller).
    pub(crate) accepts: Cycle,
    /// The cycles that the input waited until the station (controller) was free.
    pub(crate) queued: u64,
    /// The cycles during which the station (controller) invalidates lines and serves no request.
    pub(crate) invalidation: u64,
    /// If a flush begins in this step: the cycle at which the cache has found its dirty lines.
    /// Before this cycle, the station (controller) serves no request. `None` if no flush begins, or
    /// if the cache need not search for the lines.
    pub(crate) walk_end: Option<Cycle>,
}

/// The simulator's timing data about a station (controller).
#[derive(Debug)]
pub(super) struct TimedStation {
    /// The number of the memory level to which the station (controller) belongs.
    pub(super) level: u8,
    pub(super) timers_running: u8,
    pub(super) timing: StationTiming,
    pub(super) busy_until: Cycle,
    /// The banks inside the station (controller). If `Some`, an access occupies only the bank of its
    /// line, and the field `busy_until` is that of the bank of the last input.
    pub(super) banks: Option<Box<InnerBanks>>,
    /// The lines on which an atomic is in progress, each with the cycle at which the atomic ends.
    pub(super) atomics: Vec<(LineAddr, Cycle)>,
    pub(super) last_tick: u64,
    /// The cycle of the next scheduled deadline event of the station (controller). `None` if no
    /// such event is scheduled.
    pub(super) deadline: Option<Cycle>,
    pub(super) name: String,
}

impl TimedStation {
    /// Computes the cycles at which the effects of a step leave. The station (controller) has banks
    /// inside.
    #[inline(never)]
    pub(super) fn leave_times_of_bank<Pr: Probe>(
        &mut self,
        now: Cycle,
        reports: &mut Reports<'_, Pr>,
        station: StationId,
        input: StepInput,
        uses: &Uses,
    ) -> LeaveTimes {
        let line = input.line();
        let before = self.banks.as_ref().map_or(0, |banks| banks.busy_until(line));
        self.busy_until = before;
        let times = self.leave_times(now, reports, station, input, uses);
        if let Some(banks) = &mut self.banks
            && self.busy_until > before
        {
            // A walk looks at the lines of all banks.
            banks.occupy(line.filter(|_| times.walk_end.is_none()), self.busy_until);
        }
        times
    }

    /// Computes the cycles at which the effects of a step leave. If the station (controller) has
    /// banks inside, `busy_until` must be that of the bank of the input.
    #[inline]
    pub(super) fn leave_times<Pr: Probe>(
        &mut self,
        now: Cycle,
        reports: &mut Reports<'_, Pr>,
        station: StationId,
        input: StepInput,
        uses: &Uses,
    ) -> LeaveTimes {
        let timed = self;
        let timing = timed.timing;
        let invalidation = invalidation_cycles(&timing, uses);
        let flush = u64::from(uses.flushes.total()) * timing.flush_cycles;
        // A walk begins when the walks of earlier flushes have ended.
        let walk = |timed: &mut TimedStation, start: Cycle| {
            (flush > 0).then(|| {
                timed.busy_until = timed.busy_until.max(start) + flush;
                timed.busy_until
            })
        };
        // Whether the input waits until the station is free, and whether it is an access. An input
        // that is no access may wake atomics.
        let charges = timing.charges_atomics(uses);
        let (what, line, waits, is_access) = match input {
            StepInput::Request { line } => {
                let walk_end = walk(timed, now);
                let start = walk_end.unwrap_or(now) + invalidation;
                reports.probe.serve(station, "request", line, now, start + 1);
                return LeaveTimes {
                    sends: start + timing.latency_cycles,
                    values: start + timing.latency_cycles + timing.path_cycles,
                    accepts: start + 1,
                    queued: 0,
                    invalidation,
                    walk_end,
                };
            }
            StepInput::Message { name, line, is_access } => (name, line, true, is_access),
            StepInput::Memory { line } => ("fill", Some(line), charges, false),
            StepInput::Timer => ("timer", None, charges, false),
        };
        let (mut start, mut queued) = (now, 0);
        if waits {
            start = now.max(timed.busy_until);
            if uses.atomics > 0
                && let Some(line) = line
            {
                let length = u64::from(uses.atomics) * timing.atomic_cycles;
                start = after_atomics(&mut timed.atomics, now, start, line, length);
            }
            queued = start - now;
            reports.tally.counts.bank_wait_cycles += queued;
        }
        if is_access || charges {
            timed.busy_until = timed.busy_until.max(now) + timing.occupancy(uses);
        }
        if is_access {
            start += timing.latency_cycles;
        }
        if charges {
            // The answers of a step leave together, so they wait for its last atomic.
            start += timing.before_last_atomic(uses);
        }
        let walk_end = walk(timed, start);
        // A flush that begins at another input follows a flush that ends, whose answers do not wait.
        let is_message = matches!(input, StepInput::Message { .. });
        let leave = walk_end.filter(|_| is_message).unwrap_or(start) + invalidation;
        let occupancy = timing.occupancy(uses).max(1);
        let until = (now + occupancy).max(timed.busy_until);
        let from = until - occupancy;
        reports.probe.serve(station, what, line, from, until);
        let answers = leave + timing.path_cycles;
        LeaveTimes { sends: leave, values: answers, accepts: answers, queued, invalidation, walk_end }
    }
}

/// The cycles for which a station (controller) is busy with the invalidation of lines after a step.
#[inline]
fn invalidation_cycles(timing: &StationTiming, uses: &Uses) -> u64 {
    let times = uses.invalidations.total();
    if times == 0 {
        return 0;
    }
    u64::from(if timing.is_walked { uses.lines_invalidated } else { times }) * timing.invalidate_cycles
}

/// The cycle at which an atomic on a line may begin: not before the end of the previous atomic on
/// this line. Reserves the line for `length` cycles.
fn after_atomics(
    atomics: &mut Vec<(LineAddr, Cycle)>,
    now: Cycle,
    start: Cycle,
    line: LineAddr,
    length: u64,
) -> Cycle {
    atomics.retain(|&(_, until)| until > now);
    match atomics.iter_mut().find(|(other, _)| *other == line) {
        Some((_, until)) => {
            let begin = start.max(*until);
            *until = begin + length;
            begin
        }
        None => {
            atomics.push((line, start + length));
            start
        }
    }
}
