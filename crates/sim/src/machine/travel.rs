//! What a station's step sets off: messages, memory operations, timers,
//! answers; and how those arrive.

use proto::{LineAddr, MemoryOp, TimerClass, Uses};

use super::{DEADLINE_IS_BUSY, Machine};
use crate::engine::Event;
use crate::network::{Departure, Transit};
use crate::queue::Cycle;
use crate::reports::attribution::Trail;
use crate::reports::probe::Probe;
use crate::stations::fabric::{Out, StationId};

/// What a station was given.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// A request, new from its port.
    Request { line: Option<LineAddr> },
    /// A message.
    Message { name: &'static str, line: Option<LineAddr>, is_access: bool },
    /// Memory's answer.
    Memory { line: LineAddr },
    /// A timer.
    Timer,
}

/// When what a step sets off leaves its station.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    /// Messages and memory operations.
    sends: Cycle,
    /// Answers with bytes.
    values: Cycle,
    /// Answers without.
    accepts: Cycle,
    /// How long the input waited until the station took it up.
    queued: u64,
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// Tells a station what time it is, if its protocol looks at the clock.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Cycle, station: StationId) {
        if !self.clocked || self.holds_time {
            return;
        }
        let state = &mut self.stations[station as usize];
        let tick = now / u64::from(self.system.timers.tick_cycles);
        let elapsed = tick - state.last_tick;
        if elapsed > 0 {
            state.last_tick = tick;
            self.pass(now, station, u32::try_from(elapsed).unwrap_or(u32::MAX));
        }
    }

    /// Tells a station that so many ticks have passed.
    pub(super) fn pass(&mut self, now: Cycle, station: StationId, elapsed: u32) {
        self.fabric.tick(station, elapsed, self.out.get_or_insert_default());
        self.carry_out(now, station, Origin::Timer, Trail::default());
    }

    /// Lets time pass by cycles from now on, for all stations.
    pub(super) fn release_time(&mut self, now: Cycle) {
        self.holds_time = false;
        for station in 0..self.stations.len() as StationId {
            self.stations[station as usize].last_tick = now / u64::from(self.system.timers.tick_cycles);
            if let Some(ticks) = self.fabric.deadline(station) {
                self.schedule_deadline(now, station, ticks);
            }
        }
    }

    /// A station must hear of the time again in so many ticks.
    fn schedule_deadline(&mut self, now: Cycle, station: StationId, ticks: u32) {
        if self.holds_time {
            return;
        }
        let state = &mut self.stations[station as usize];
        let due = (state.last_tick + u64::from(ticks)) * u64::from(self.system.timers.tick_cycles);
        if state.deadline.is_none_or(|earlier| due < earlier) {
            state.deadline = Some(due);
            self.reports.watch.busy(now, DEADLINE_IS_BUSY - station, due - now);
            self.engine.at(due, Event::Deadline(station));
        }
    }

    /// A deadline of a station may have come: the station knows.
    pub(super) fn deadline_due(&mut self, now: Cycle, station: StationId) {
        let state = &mut self.stations[station as usize];
        if state.deadline.is_some_and(|due| due <= now) {
            state.deadline = None;
        }
        self.catch_up(now, station);
    }

    /// Carries out what the last step of a station did.
    #[inline(never)]
    pub(super) fn carry_out(&mut self, now: Cycle, station: StationId, origin: Origin, trail: Trail) {
        let mut out = self.out.take().unwrap_or_default();
        self.reports.tally.uses(self.stations[station as usize].level, &out.uses);
        if let Some(why) = out.violation.take() {
            return self.engine.violate(why);
        }
        let leaving = self.leaving(now, station, origin, &out.uses);
        let trail = trail.at_bank(leaving.queued);
        let departure = Departure { from: station, at: leaving.sends, trail };
        if !out.sends.is_empty() {
            for sent in out.sends.drain(..) {
                if self.network.send(&mut self.engine, &mut self.reports, &departure, &sent) {
                    self.fabric.drop_message(sent.message);
                }
            }
        }
        if !out.memory.is_empty() {
            for op in out.memory.drain(..) {
                self.send_to_memory(&departure, op);
            }
        }
        if !out.spends.is_empty() {
            self.spend_all(now, station, trail, &mut out);
        }
        if !out.replies.is_empty() {
            self.answer_all(now, station, leaving, trail, &out);
            out.replies.clear();
        }
        while let Some(class) = out.timers.pop() {
            self.arm(now, station, class);
        }
        if let Some(ticks) = out.deadline.take() {
            self.schedule_deadline(now, station, ticks);
        }
        self.out = Some(out);
    }

    fn answer_all(&mut self, now: Cycle, station: StationId, leaving: Leaving, trail: Trail, out: &Out) {
        for (slot, data) in &out.replies {
            let at = if data.is_some() { leaving.values } else { leaving.accepts };
            self.answer(now, at, trail, station, *slot, data.as_ref());
        }
    }

    /// How long the station takes, behind what it is already serving.
    #[inline]
    fn leaving(&mut self, now: Cycle, station: StationId, origin: Origin, uses: &Uses) -> Leaving {
        let invalidation = self.invalidation_cycles(station, uses);
        let state = &mut self.stations[station as usize];
        let timing = state.timing;
        let mut queued = 0;
        let (what, line, start) = match origin {
            Origin::Request { line } => {
                let latency = timing.latency_cycles + invalidation;
                let leaving = Leaving {
                    sends: now + latency,
                    values: now + latency,
                    accepts: now + 1 + invalidation,
                    queued: 0,
                };
                self.reports.probe.serve(station, "request", line, now, now + 1 + invalidation);
                if invalidation > 0
                    && let Some(port) = self.ports.get_mut(station)
                {
                    port.free_at = now + 1 + invalidation;
                }
                return leaving;
            }
            Origin::Message { name, line, is_access } => {
                let mut start = now.max(state.busy_until);
                if uses.atomics > 0
                    && let Some(line) = line
                {
                    let length = u64::from(uses.atomics) * timing.atomic_cycles;
                    start = after_atomics(&mut state.atomics, now, start, line, length);
                }
                queued = start - now;
                self.reports.tally.counts.bank_wait_cycles += queued;
                if is_access {
                    state.busy_until = state.busy_until.max(now) + timing.occupancy_cycles;
                    start += timing.latency_cycles;
                }
                (name, line, start)
            }
            Origin::Memory { line } => ("fill", Some(line), now),
            Origin::Timer => ("timer", None, now),
        };
        let leave = start + invalidation;
        let until = (now + timing.occupancy_cycles.max(1)).max(state.busy_until);
        let from = until - timing.occupancy_cycles.max(1);
        self.reports.probe.serve(station, what, line, from, until);
        if invalidation > 0
            && let Some(port) = self.ports.get_mut(station)
        {
            port.free_at = port.free_at.max(now) + invalidation;
        }
        Leaving { sends: leave, values: leave, accepts: leave, queued }
    }

    #[inline(never)]
    pub(super) fn arrive(&mut self, now: Cycle, number: u32) {
        let Some(transit) = self.network.arrive(&mut self.reports, number) else { return };
        let Transit { to, message, name, line, is_access, trail, .. } = transit;
        self.catch_up(now, to);
        self.fabric.deliver(to, message, self.out.get_or_insert_default());
        self.carry_out(now, to, Origin::Message { name, line, is_access }, trail);
    }

    fn send_to_memory(&mut self, departure: &Departure, op: MemoryOp) {
        let clock = if self.clocked { self.fabric.clock(departure.from) } else { 0 };
        let homes = self.fabric.homes();
        let Machine { engine, reports, network, memory, .. } = self;
        memory.send(engine, reports, network, homes, departure, (op, clock));
    }

    /// Memory's answer reaches the station.
    #[inline(never)]
    pub(super) fn memory_done(&mut self, now: Cycle, number: u32) {
        let arrived = self.memory.arrive(&mut self.reports, &mut self.network, number);
        let Some((station, line, trail)) = arrived else { return };
        self.catch_up(now, station);
        // Answers are large: this one is read where it lies.
        let Some(operation) = self.memory.operation(number) else { return };
        let out = self.out.get_or_insert_default();
        self.fabric.memory(station, &operation.reply, operation.clock, out);
        self.memory.forget(number);
        self.carry_out(now, station, Origin::Memory { line }, trail);
    }

    /// Starts a timer, unless it runs already.
    fn arm(&mut self, now: Cycle, station: StationId, class: TimerClass) {
        let state = &mut self.stations[station as usize];
        let bit = 1u8 << (class as u8);
        if state.timers_running & bit != 0 {
            return;
        }
        state.timers_running |= bit;
        let timers = &self.system.timers;
        let period = match class {
            // A station that is busy for longer with each access drains no faster.
            TimerClass::Drain => u64::from(timers.drain_cycles).max(state.timing.occupancy_cycles),
            TimerClass::Epoch => u64::from(timers.epoch_cycles),
            // Its station counts the ticks.
            TimerClass::Lease => u64::from(timers.tick_cycles),
        };
        self.engine.at(now + period, Event::Timer(station, class));
    }

    /// Gives every station its first input. It takes no time.
    pub(super) fn give_first_inputs(&mut self) {
        for station in 0..self.stations.len() as StationId {
            let out = self.out.get_or_insert_default();
            self.fabric.start(station, out);
            let is_silent = out.sends.is_empty() && out.memory.is_empty() && out.timers.is_empty();
            if !is_silent || out.deadline.is_some() || out.violation.is_some() {
                self.carry_out(0, station, Origin::Timer, Trail::default());
            }
        }
    }

    #[inline(never)]
    pub(super) fn timer_due(&mut self, now: Cycle, station: StationId, class: TimerClass) {
        self.stations[station as usize].timers_running &= !(1u8 << (class as u8));
        self.catch_up(now, station);
        self.fabric.timer(station, class, self.out.get_or_insert_default());
        self.carry_out(now, station, Origin::Timer, Trail::default());
    }
}

/// When an atomic on a line may begin: after the last one of that line. Notes
/// that it takes `length`.
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
