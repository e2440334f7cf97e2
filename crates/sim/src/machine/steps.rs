//! The inputs that stations (the controllers of the protocol) receive, and the effects of their
//! steps: messages, memory operations, timers and answers.

use proto::{Addr, MemoryAccess, MemoryOp, TimerClass};

use super::Machine;
use crate::network::{Departure, Transit};
use crate::queue::Cycle;
use crate::reports::attribution::QueueWaits;
use crate::reports::probe::Probe;
use crate::stations::fabric::{StationId, StepEffects};
use crate::stations::timed::{LeaveTimes, StepInput};

impl<Pr: Probe> Machine<'_, Pr> {
    /// Advances the clock of a station (controller) to the current cycle. Does nothing if the
    /// protocol has no clocks.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Cycle, station: StationId) {
        if let Some(elapsed) = self.stations.catch_up(now, station) {
            self.pass(now, station, elapsed);
        }
    }

    /// Advances the clock of a station (controller) by `elapsed` ticks.
    pub(crate) fn pass(&mut self, now: Cycle, station: StationId, elapsed: u32) {
        self.stations.pass(station, elapsed);
        self.carry_out(now, station, StepInput::Timer, QueueWaits::default());
    }

    /// Handles a deadline event: advances the clock of the station (controller) to the current
    /// cycle. The station then decides whether its deadline has come. An earlier input of the same
    /// cycle may have advanced the clock already. The next deadline was not scheduled then, because
    /// this event was still pending. Therefore this function schedules it.
    pub(super) fn deadline_due(&mut self, now: Cycle, station: StationId) {
        self.stations.deadline_due(now, station);
        self.catch_up(now, station);
        let watch = &mut self.reports.watch;
        self.stations.schedule_next_deadline(&mut self.engine, watch, station);
    }

    /// Carries out the effects of the last step of a station (controller): sends messages and
    /// memory operations, starts timers, records answers.
    #[inline(never)]
    pub(crate) fn carry_out(
        &mut self,
        now: Cycle,
        station: StationId,
        input: StepInput,
        queue_waits: QueueWaits,
    ) {
        let mut out = self.stations.take_out();
        self.stations.count(now, &mut self.reports, station, &out.uses);
        if let Some(why) = out.violation.take() {
            return self.engine.violate(why);
        }
        let leave_times = self.stations.leave_times(now, &mut self.reports, station, input, &out.uses);
        let LeaveTimes { invalidation, walk_end, .. } = leave_times;
        if invalidation > 0 || walk_end.is_some() {
            match input {
                StepInput::Request { .. } => self.ports.keep_until(station, leave_times.accepts),
                _ => {
                    self.ports.keep_until(station, walk_end.unwrap_or(0));
                    self.ports.delay(now, station, invalidation);
                }
            }
        }
        let queue_waits = queue_waits.at_bank(leave_times.queued);
        let clock = self.stations.clock(station);
        let departure = Departure { from: station, at: leave_times.sends, clock, queue_waits };
        self.send_all(&departure, &mut out);
        if !out.spends.is_empty() {
            self.ports.set_activity(now, station, queue_waits, out.spends.drain(..));
        }
        if !out.replies.is_empty() {
            self.answer_all(now, station, leave_times, queue_waits, &out);
            out.replies.clear();
        }
        while let Some(class) = out.timers.pop() {
            self.stations.arm(&mut self.engine, station, class, walk_end);
        }
        if let Some(ticks) = out.deadline.take() {
            let watch = &mut self.reports.watch;
            self.stations.schedule_deadline(&mut self.engine, watch, station, ticks);
        }
        self.stations.done(out);
        self.stations.draw(now, &mut self.reports, station);
    }

    /// Sends the messages and the memory operations of a step.
    #[inline]
    fn send_all(&mut self, departure: &Departure, out: &mut StepEffects) {
        let Machine { engine, reports, network, memory, stations, .. } = self;
        // The moves of a script decide when messages arrive, so no message waits for memory.
        let mut held = self.held.as_deref_mut().filter(|_| self.script.is_none());
        let is_write = |op: &&MemoryOp| matches!(op.access, MemoryAccess::Write { .. });
        let batch = held
            .as_mut()
            .and_then(|held| held.begin(departure.from, out.memory.iter().filter(is_write).count()));
        for sent in &out.sends {
            let is_held = held.as_mut().is_some_and(|held| held.hold(batch, departure, sent));
            if !is_held && network.send(engine, reports, departure, sent) {
                stations.drop_message(sent.message);
            }
        }
        out.sends.clear();
        for op in &out.memory {
            let number = memory.send(engine, reports, network, stations.homes(), departure, op);
            if let (Some(batch), Some(number), Some(held)) = (batch, number, &mut held)
                && is_write(&op)
            {
                held.add(batch, number);
            }
        }
        out.memory.clear();
    }

    fn answer_all(
        &mut self,
        now: Cycle,
        station: StationId,
        leave_times: LeaveTimes,
        queue_waits: QueueWaits,
        out: &StepEffects,
    ) {
        for (slot, data) in &out.replies {
            let at = if data.is_some() { leave_times.values } else { leave_times.accepts };
            self.answer(now, at, queue_waits, station, *slot, data.as_ref());
        }
    }

    /// Delivers the message with this number, which has arrived, to its station (controller).
    #[inline(never)]
    pub(super) fn arrive(&mut self, now: Cycle, number: u32) {
        let Some(transit) = self.network.arrive(&mut self.reports, number) else { return };
        let Transit { to, message, name, line, is_access, queue_waits, .. } = transit;
        self.catch_up(now, to);
        self.stations.deliver(to, message);
        self.carry_out(now, to, StepInput::Message { name, line, is_access }, queue_waits);
    }

    /// Delivers memory's answer to the operation with this number to the station (controller) that
    /// sent it.
    #[inline(never)]
    pub(super) fn memory_done(&mut self, now: Cycle, number: u32) {
        let arrived = self.memory.arrive(&mut self.reports, &mut self.network, number);
        let Some((station, line, queue_waits)) = arrived else { return };
        self.release_held(now, number, queue_waits);
        self.catch_up(now, station);
        let Some((reply, clock)) = self.memory.take_answer(number) else { return };
        self.stations.memory(station, &reply, clock);
        self.carry_out(now, station, StepInput::Memory { line }, queue_waits);
    }

    /// Sends the messages that have waited for memory's answer to the operation with this number.
    #[inline]
    fn release_held(&mut self, now: Cycle, number: u32, queue_waits: QueueWaits) {
        let Some(held) = &mut self.held else { return };
        for (departure, sent) in held.answered(now, number, queue_waits) {
            if self.network.send(&mut self.engine, &mut self.reports, &departure, &sent) {
                self.stations.drop_message(sent.message);
            }
        }
    }

    /// Gives every station (controller) its initial input. The machine's clock does not advance.
    pub(crate) fn give_first_inputs(&mut self) {
        for station in self.stations.numbers() {
            if self.stations.start(station) {
                self.carry_out(0, station, StepInput::Timer, QueueWaits::default());
            }
        }
    }

    #[inline(never)]
    pub(super) fn timer_due(&mut self, now: Cycle, station: StationId, class: TimerClass) {
        self.stations.disarm(station, class);
        self.catch_up(now, station);
        self.stations.timer(station, class);
        self.carry_out(now, station, StepInput::Timer, QueueWaits::default());
    }

    /// Reads bytes of memory as if every cache had written its dirty lines out.
    pub(super) fn read_bytes(&self, from: Addr, to: &mut [u8]) {
        self.memory.read(from, to);
        self.stations.overlay_dirty(from, to, u64::from(self.system.sector_bytes()));
    }
}
