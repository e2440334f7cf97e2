//! The stations of a machine (the controllers of the protocol) and their timing.
//!
//! A step changes the state of its station at once. Its messages and answers leave later: the
//! station first finishes its earlier work, and then takes its latency.

use proto::{
    Addr, Agent, Condition, Homes, LineAddr, LineData, LineView, Load, MemoryReply, PlanKey, Request, Slot,
    TimerClass, Uses,
};

use crate::config::System;
use crate::engine::{Engine, Event};
use crate::queue::Cycle;
use crate::reports::Reports;
use crate::reports::probe::Probe;
use crate::reports::progress::{BUSY_STATION, Watch};
use crate::stations::banks::InnerBanks;
use crate::stations::fabric::{Fabric, LevelInfo, MessageId, StationId, StationInfo, StepEffects};
use crate::stations::leave::TimedStation;
pub(crate) use crate::stations::leave::{LeaveTimes, StepInput};
use crate::stations::timing::{StationTiming, l1_flush_cycles};

/// The periods of the protocol's timers and of the clock tick, in cycles.
#[derive(Clone, Copy, Debug)]
struct Periods {
    drain: u64,
    epoch: u64,
    tick: u64,
}

/// The stations (controllers) of a machine, with their timing.
pub(crate) struct TimedStations {
    fabric: Box<dyn Fabric>,
    /// The effects of the last step. They are in a box, so that the caller can take them out and
    /// give the box back.
    out: Option<Box<StepEffects>>,
    levels: Vec<LevelInfo>,
    stations: Vec<TimedStation>,
    periods: Periods,
    is_clocked: bool,
    /// Whether the moves of a script advance the clocks of the stations (controllers). If false,
    /// simulated time advances them.
    holds_time: bool,
}

impl TimedStations {
    /// The stations (controllers) of a machine in their initial states, with their timing.
    pub(crate) fn new(system: &System, fabric: Box<dyn Fabric>) -> TimedStations {
        let levels = fabric.levels();
        let timed = |info: StationInfo| TimedStation {
            level: info.level,
            timers_running: 0,
            timing: StationTiming::of(system, levels[usize::from(info.level)].described()),
            busy_until: 0,
            banks: InnerBanks::of(system, &levels[usize::from(info.level)].name).map(Box::new),
            atomics: Vec::new(),
            last_tick: 0,
            deadline: None,
            name: info.name,
        };
        let timers = &system.timers;
        TimedStations {
            stations: fabric.stations().into_iter().map(timed).collect(),
            levels,
            is_clocked: fabric.is_clocked(),
            fabric,
            out: None,
            periods: Periods {
                drain: u64::from(timers.drain_cycles),
                epoch: u64::from(timers.epoch_cycles),
                tick: u64::from(timers.tick_cycles),
            },
            holds_time: false,
        }
    }

    /// The range of the numbers of all stations (controllers).
    pub(crate) fn numbers(&self) -> core::ops::Range<StationId> {
        0..self.stations.len() as StationId
    }

    /// The name of a station (controller).
    pub(crate) fn name(&self, station: StationId) -> &str {
        &self.stations[station as usize].name
    }

    /// The names of all stations (controllers), by number.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.stations.iter().map(|station| station.name.as_str())
    }

    /// The stations (controllers) without their timing, for reading.
    pub(crate) fn fabric(&self) -> &dyn Fabric {
        &*self.fabric
    }

    /// The stations (controllers) without their timing, for changes that take no simulated time.
    pub(crate) fn fabric_mut(&mut self) -> &mut dyn Fabric {
        &mut *self.fabric
    }

    /// The rule that gives each line its home, which is a chiplet and a bank.
    #[inline]
    pub(crate) fn homes(&self) -> &Homes {
        self.fabric.homes()
    }

    /// The station (controller) that receives an agent's requests with this key, which has the
    /// kind, the order, the scope level and the hints of the requests.
    ///
    /// # Errors
    /// If the machine has no such station.
    #[inline]
    pub(crate) fn entry(&self, agent: Agent, key: PlanKey) -> Result<StationId, String> {
        self.fabric.entry(agent, key)
    }

    /// Whether the stations (controllers) use clock ticks.
    #[inline]
    pub(crate) fn is_clocked(&self) -> bool {
        self.is_clocked
    }

    /// The clock of a station (controller) in ticks. Zero if the protocol has no clocks.
    #[inline]
    pub(crate) fn clock(&self, station: StationId) -> i64 {
        if self.is_clocked { self.fabric.clock(station) } else { 0 }
    }

    /// Answers a load by the shortcut for hits: returns the bytes, and the cycle at which they
    /// leave. `None` if the load needs a normal step.
    #[inline]
    pub(crate) fn hit<Pr: Probe>(
        &mut self,
        now: Cycle,
        reports: &mut Reports<'_, Pr>,
        station: StationId,
        load: &Load,
    ) -> Option<(&[u8], Cycle)> {
        let (bytes, is_dirty) = self.fabric.hit(station, load)?;
        let timed = &self.stations[station as usize];
        reports.tally.hit(timed.level, is_dirty);
        reports.probe.serve(station, "request", Some(load.line), now, now + 1);
        Some((bytes, now + timed.timing.latency_cycles + timed.timing.path_cycles))
    }

    /// Gives a request to a station (controller).
    #[inline]
    pub(crate) fn request(&mut self, station: StationId, slot: Slot, request: &Request) {
        self.fabric.request(station, slot, request, self.out.get_or_insert_default());
    }

    /// Delivers a message to a station (controller).
    #[inline]
    pub(crate) fn deliver(&mut self, station: StationId, message: MessageId) {
        self.fabric.deliver(station, message, self.out.get_or_insert_default());
    }

    /// Removes a message without delivering it.
    pub(crate) fn drop_message(&mut self, message: MessageId) {
        self.fabric.drop_message(message);
    }

    /// Delivers memory's answer to an operation. `clock` was the clock of the station (controller),
    /// in ticks, when it sent the operation.
    #[inline]
    pub(crate) fn memory(&mut self, station: StationId, reply: &MemoryReply, clock: i64) {
        self.fabric.memory(station, reply, clock, self.out.get_or_insert_default());
    }

    /// Lets a station (controller) evict a way.
    pub(crate) fn evict(&mut self, station: StationId, way: proto::Way) {
        self.fabric.evict(station, way, self.out.get_or_insert_default());
    }

    /// The range of the numbers of the stations (controllers) of a level. It is empty if the protocol
    /// has no station at this level.
    pub(crate) fn of_level(&self, name: &str) -> core::ops::Range<StationId> {
        let is_here = |station: &TimedStation| self.levels[usize::from(station.level)].name == name;
        let first = self.stations.iter().position(is_here).unwrap_or(0);
        let count = self.stations[first..].iter().take_while(|station| is_here(station)).count();
        first as StationId..(first + count) as StationId
    }

    /// The stations (controllers) of the level `l1` that keep lines.
    pub(crate) fn l1s(&self) -> impl Iterator<Item = StationId> + use<> {
        let is_l1 = |level: &LevelInfo| level.name == "l1" && level.has_lines;
        let levels: Vec<bool> = self.levels.iter().map(is_l1).collect();
        let chosen: Vec<StationId> =
            self.numbers().filter(|&at| levels[usize::from(self.stations[at as usize].level)]).collect();
        chosen.into_iter()
    }

    /// Limits the number of lines in each set of an L1 to `ways`, each with all its sectors, and
    /// adjusts the time of its flush walks. Returns false if the protocol does not support a limit.
    pub(crate) fn resize_l1(&mut self, system: &System, station: StationId, ways: u32) -> bool {
        self.stations[station as usize].timing.flush_cycles = l1_flush_cycles(system, ways);
        self.fabric.limit_ways(station, ways * system.sectors_per_line())
    }

    /// Whether a station (controller) holds no line.
    pub(crate) fn is_empty(&self, station: StationId) -> bool {
        let mut lines = Vec::new();
        self.fabric.lines(station, &mut lines);
        lines.is_empty()
    }

    /// Advances the clock of a station (controller) by `elapsed` ticks.
    pub(crate) fn pass(&mut self, station: StationId, elapsed: u32) {
        self.fabric.tick(station, elapsed, self.out.get_or_insert_default());
    }

    /// Gives a station (controller) its initial input. Returns true if the input had an effect.
    pub(crate) fn start(&mut self, station: StationId) -> bool {
        let out = self.out.get_or_insert_default();
        self.fabric.start(station, out);
        let is_silent = out.sends.is_empty() && out.memory.is_empty() && out.timers.is_empty();
        !is_silent || out.deadline.is_some() || out.violation.is_some()
    }

    /// Tells a station (controller) that a timer of this class has expired.
    #[inline]
    pub(crate) fn timer(&mut self, station: StationId, class: TimerClass) {
        self.fabric.timer(station, class, self.out.get_or_insert_default());
    }

    /// Marks a timer of a station (controller) as not running.
    #[inline]
    pub(crate) fn disarm(&mut self, station: StationId, class: TimerClass) {
        self.stations[station as usize].timers_running &= !(1u8 << (class as u8));
    }

    /// Starts a timer of a station (controller), unless a timer of this class already runs there. A
    /// timer by which lines leave the store buffer does not expire before `walk_end`, the end of the
    /// walk that finds these lines.
    #[inline]
    pub(crate) fn arm(
        &mut self,
        engine: &mut Engine,
        station: StationId,
        class: TimerClass,
        walk_end: Option<Cycle>,
    ) {
        let timed = &mut self.stations[station as usize];
        let bit = 1u8 << (class as u8);
        if timed.timers_running & bit != 0 {
            return;
        }
        timed.timers_running |= bit;
        let period = match class {
            // The drain period is at least the time for which one access occupies the station.
            TimerClass::Drain => self.periods.drain.max(timed.timing.occupancy_cycles),
            TimerClass::Epoch => self.periods.epoch,
            // The timer expires after one tick. The station itself counts the ticks of a lease.
            TimerClass::Lease => self.periods.tick,
        };
        let walk_end = walk_end.filter(|_| class == TimerClass::Drain).unwrap_or(0);
        engine.at((engine.now() + period).max(walk_end), Event::Timer(station, class));
    }

    /// Takes the box with the effects of the last step. The caller gives the box back with
    /// [`TimedStations::done`].
    #[inline]
    pub(crate) fn take_out(&mut self) -> Box<StepEffects> {
        self.out.take().unwrap_or_default()
    }

    /// Takes back the box of effects after the caller has carried them out.
    #[inline]
    pub(crate) fn done(&mut self, out: Box<StepEffects>) {
        self.out = Some(out);
    }

    /// Adds the activity of a step to the counters of the level to which the station (controller)
    /// belongs.
    #[inline]
    pub(crate) fn count<Pr>(
        &self,
        now: Cycle,
        reports: &mut Reports<'_, Pr>,
        station: StationId,
        uses: &Uses,
    ) {
        reports.tally.uses(now, self.stations[station as usize].level, uses);
    }

    /// The number of ticks since the clock of the station (controller) was last advanced. The
    /// caller must advance the clock by this number. `None` if no tick has passed, or if simulated
    /// time does not advance the clock.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Cycle, station: StationId) -> Option<u32> {
        if !self.is_clocked || self.holds_time {
            return None;
        }
        let timed = &mut self.stations[station as usize];
        let tick = now / self.periods.tick;
        let elapsed = tick - timed.last_tick;
        timed.last_tick = tick;
        (elapsed > 0).then(|| u32::try_from(elapsed).unwrap_or(u32::MAX))
    }

    /// From now on, the moves of a script advance the clocks of all stations (controllers).
    pub(crate) fn hold_time(&mut self) {
        self.holds_time = true;
    }

    /// From now on, simulated time advances the clocks of all stations (controllers).
    pub(crate) fn release_time(&mut self, engine: &mut Engine, watch: &mut Watch) {
        self.holds_time = false;
        for station in self.numbers() {
            self.stations[station as usize].last_tick = engine.now() / self.periods.tick;
            self.schedule_next_deadline(engine, watch, station);
        }
    }

    /// Schedules the next deadline of a station (controller), if the station has one.
    pub(crate) fn schedule_next_deadline(
        &mut self,
        engine: &mut Engine,
        watch: &mut Watch,
        station: StationId,
    ) {
        if let Some(ticks) = self.fabric.deadline(station) {
            self.schedule_deadline(engine, watch, station, ticks);
        }
    }

    /// Schedules the deadline of a station (controller), which lies `ticks` ticks ahead, unless an
    /// earlier deadline is already scheduled.
    pub(crate) fn schedule_deadline(
        &mut self,
        engine: &mut Engine,
        watch: &mut Watch,
        station: StationId,
        ticks: u32,
    ) {
        if self.holds_time {
            return;
        }
        let timed = &mut self.stations[station as usize];
        let due = (timed.last_tick + u64::from(ticks)) * self.periods.tick;
        if timed.deadline.is_none_or(|earlier| due < earlier) {
            timed.deadline = Some(due);
            watch.busy(engine.now(), BUSY_STATION - station, due - engine.now());
            engine.at(due, Event::Deadline(station));
        }
    }

    /// Handles a deadline event: marks the deadline as no longer scheduled. The station
    /// (controller) itself decides whether its deadline has come.
    pub(crate) fn deadline_due(&mut self, now: Cycle, station: StationId) {
        let timed = &mut self.stations[station as usize];
        if timed.deadline.is_some_and(|due| due <= now) {
            timed.deadline = None;
        }
    }

    /// Computes the cycles at which the effects of a step leave, given the latency and the earlier
    /// work of the station (controller).
    #[inline]
    pub(crate) fn leave_times<Pr: Probe>(
        &mut self,
        now: Cycle,
        reports: &mut Reports<'_, Pr>,
        station: StationId,
        input: StepInput,
        uses: &Uses,
    ) -> LeaveTimes {
        let timed = &mut self.stations[station as usize];
        match timed.banks {
            None => timed.leave_times(now, reports, station, input, uses),
            Some(_) => timed.leave_times_of_bank(now, reports, station, input, uses),
        }
    }

    /// Shows the conditions of a station (controller) to a probe that draws them. A condition is a
    /// state that lasts, such as a granted epoch.
    #[inline]
    pub(crate) fn draw<Pr: Probe>(&self, now: Cycle, reports: &mut Reports<'_, Pr>, station: StationId) {
        if reports.probe.draws() {
            let mut conditions: Vec<Condition> = Vec::new();
            self.fabric.conditions(station, &mut conditions);
            reports.probe.conditions(now, station, conditions);
        }
    }

    /// Copies the dirty bytes of all stations (controllers) over bytes that were read from memory,
    /// as if every cache had written its dirty lines out. The levels next to memory are copied
    /// first, because the dirty bytes of the levels above them are newer.
    pub(crate) fn overlay_dirty(&self, from: Addr, to: &mut [u8], line_bytes: u64) {
        let end = from.0 + to.len() as u64;
        let (first, last) = (LineAddr(from.0 / line_bytes), LineAddr(end.div_ceil(line_bytes)));
        let mut order: Vec<StationId> = self.numbers().collect();
        order.sort_by_key(|&at| self.levels[usize::from(self.stations[at as usize].level)].height);
        let mut views = Vec::new();
        for station in order {
            views.clear();
            self.fabric.lines(station, &mut views);
            let touches = |view: &&LineView| !view.dirty.is_empty() && (first..last).contains(&view.line);
            for view in views.iter().filter(touches) {
                overlay(from.0, to, view.line.0 * line_bytes, view, line_bytes as usize);
            }
        }
    }
}

/// Copies the dirty bytes of a line over `to`. The line starts at address `base`,
/// and `to` at address `from`.
fn overlay(from: u64, to: &mut [u8], base: u64, view: &LineView, line_bytes: usize) {
    let LineData(bytes) = &view.data;
    for (i, &byte) in bytes.iter().enumerate().take(line_bytes) {
        let dirty = view.dirty.0 >> i & 1 == 1;
        let at = (base + i as u64).checked_sub(from).map(|at| at as usize);
        if let (true, Some(place)) = (dirty, at.and_then(|at| to.get_mut(at))) {
            *place = byte;
        }
    }
}
