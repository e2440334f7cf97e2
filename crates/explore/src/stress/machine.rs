//! A machine of a few compute units with tiny caches. A seed decides the order in which possible
//! events occur.

use super::boundaries::Boundaries;
use super::draws::Draws;
use super::episode::Units;
use super::fault::{EpisodeFault, fault, unfinished};
use super::layout::{COUNTERS, FLAG_WORDS, Layout, WAVES};
use super::order::Program;
use super::residencies::Residencies;
use super::shapes::{Lines, homes, lines_max};
use super::slots::{Sender, Slots};
use super::stations::Stations;
use super::under_way::{Event, UnderWay};
use super::wave::Wave;
use crate::subject::Subject;
use drive::{At, StationInput};
use proto::{
    Agent, Channels, Hosts, KernelId, LineData, MemoryReply, PlanKey, Rank, Request, SeededFault, SetIndex,
    Slot, Symbol as _, Topology, Way,
};
use std::rc::Rc;

/// The maximum number of events of a run. A run with more events counts as endless.
const EVENTS_MAX: u64 = 400_000;
/// The number of different rates of the clock. Depending on the rate, a tick passes once in 1, 2,
/// 4, ... events on average.
const PACES: usize = 7;
/// The rate of random evictions, which happen although no way is needed: this number in 256 events.
const RANDOM_EVICTIONS: u64 = 2;
/// The rate of preemptions, while the program allows further preemptions: this number in 256
/// events.
const PREEMPTIONS: u64 = 4;

/// One in this number of runs is watched: each step is followed by a check of the state of its
/// controller. The checks take longer than the steps.
const WATCHED: u64 = 64;

/// The counts of one run of an episode (a random program).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunCounts {
    pub(super) operations: u64,
    pub(super) evictions: u64,
    pub(super) kernels: u64,
    pub(super) preemptions: u64,
    pub(super) events: u64,
}

/// The properties of the machines of a stress test.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    /// The seeded fault of the protocol. `None` for the protocol as written.
    pub(super) seeded_fault: Option<SeededFault>,
    /// The order in which messages between two nodes may arrive.
    pub(super) channels: Channels,
    pub(super) layouts: Rc<[Layout]>,
}

pub(super) struct Machine {
    subject: Subject,
    channels: Channels,
    pub(super) stations: Box<dyn Stations>,
    pub(super) boundaries: Boundaries,
    pub(super) layouts: Rc<[Layout]>,
    /// The binary logarithm of the size of a line in bytes.
    pub(super) line_shift: u32,
    /// The numbers of the lines of `memory`.
    pub(super) lines: Lines,
    /// The time of the last tick of each node.
    clocks: Vec<u64>,
    under_way: UnderWay,
    pub(super) slots: Slots,
    /// On average, one in `pace` events also advances the clock by a tick.
    pace: usize,
    /// The maximum number of sets of a cache.
    sets_max: u32,
    pub(super) memory: Vec<LineData>,
    /// The lines that the host has read after the last kernel. Unused if hosts access memory
    /// directly.
    pub(super) seen: Vec<LineData>,
    /// The bytes that memory (or the host, if it has a cache) must have at the end of the run. The
    /// buffer is reused by the next run.
    pub(super) expected: Vec<u8>,
    pub(super) waves: Vec<Wave>,
    pub(super) residencies: Residencies,
    /// Whether a work-group may be preempted now.
    pub(super) is_preemptive: bool,
    /// The number of the current kernel, or of the next kernel if none runs.
    pub(super) kernel: KernelId,
    /// For each flag, the value that the last completed step has set.
    pub(super) set: [u32; FLAG_WORDS],
    /// For each flag: the wavefronts that sleep until the flag is set, one bit for each wavefront.
    pub(super) sleeping: [u16; FLAG_WORDS],
    /// For each counter, the values that additions have returned, as a mask with one bit for each
    /// value.
    pub(super) counted: [u64; COUNTERS],
    /// The requests of a kernel's beginning or end, or of the host after the last kernel, that are
    /// not yet answered, one bit for each.
    pub(super) ending: u32,
    victims: Vec<(Way, Rank)>,
    pub(super) ran: RunCounts,
    pub(super) draws: Draws,
    /// Whether the state of a controller is checked after each of its steps in this run.
    is_watched: bool,
    /// Whether the last run has ended because no event was possible any more. In that case, the
    /// reset for the next run has no messages, operations or requests to remove.
    has_ended: bool,
}

impl Machine {
    /// The machine with this number and shape.
    pub(super) fn new(
        subject: &Subject,
        (topology, number): (&Topology, usize),
        setup: &Setup,
    ) -> Result<Self, String> {
        let lines = Lines::of(topology, false);
        let stations = (subject.stressed)((topology, number), homes(topology, lines, 0), setup.seeded_fault)?;
        let count = stations.count() as usize;
        if count > usize::from(u8::MAX) {
            return Err(format!("the machine has {count} nodes, expected at most {}", u8::MAX));
        }
        let sets = topology.levels.iter().filter_map(|level| level.array).map(|array| array.sets);
        Ok(Machine {
            subject: *subject,
            channels: setup.channels,
            boundaries: Boundaries::new(&*stations)?,
            layouts: Rc::clone(&setup.layouts),
            line_shift: topology.line_bytes.trailing_zeros(),
            lines,
            sets_max: sets.max().unwrap_or(1),
            under_way: UnderWay::new(count),
            slots: Slots::new(count),
            memory: vec![LineData::default(); lines_max(topology)],
            seen: Vec::new(),
            expected: Vec::new(),
            waves: vec![Wave::default(); WAVES],
            residencies: Residencies::new(&Program::default(), Units::of(topology)),
            is_preemptive: false,
            kernel: KernelId(0),
            set: [0; FLAG_WORDS],
            sleeping: [0; FLAG_WORDS],
            counted: [0; COUNTERS],
            ending: 0,
            pace: 1,
            victims: Vec::new(),
            ran: RunCounts::default(),
            draws: Draws::new(0),
            is_watched: false,
            has_ended: true,
            stations,
            clocks: vec![0; count],
        })
    }

    /// Whether hosts have caches that the protocol keeps coherent.
    pub(super) fn has_cached_hosts(&self) -> bool {
        self.subject.info.hosts == Hosts::Cached
    }

    pub(super) fn topology(&self) -> &Topology {
        self.stations.topology()
    }

    /// The host that runs the thread of the host. If there are several hosts, they run it in turn,
    /// each from the end of a kernel to the end of the next one.
    fn host(&self) -> Agent {
        Agent::Host(self.kernel.0 % self.topology().hosts)
    }

    /// The node that a request of a wavefront enters.
    #[inline]
    pub(super) fn entry(&self, wave: usize, request: &Request) -> Result<At, EpisodeFault> {
        let agent = self.residencies.cu(wave).map_or_else(|| self.host(), |cu| Agent::Cu(cu as u16));
        self.stations.entry(agent, PlanKey::of(request)).map_err(fault)
    }

    /// Takes a slot of a node for a request.
    #[inline]
    pub(super) fn slot(&mut self, node: At, sender: Sender) -> Result<Slot, EpisodeFault> {
        let slot = self.slots.take(node, sender);
        slot.ok_or_else(|| {
            fault(format!("{} has too many outstanding requests", self.stations.node_name(node)))
        })
    }

    /// Marks a wavefront as ready to issue.
    pub(super) fn make_ready(&mut self, wave: usize) {
        self.under_way.ready.push(Event::Wave(wave as u8));
    }

    /// Restores the initial state of the machine. The homes (chiplets and banks) of lines and the
    /// rate of the clock are drawn from a seed.
    fn reset(&mut self, seed: u64, program: &Program) {
        self.stations.reset_to();
        if !self.has_ended {
            self.under_way.clear();
            self.slots.clear();
            self.sleeping.fill(0);
            self.ending = 0;
        }
        let initial = &self.layouts[usize::from(program.layout)].initial;
        for (line, bytes) in self.memory.iter_mut().zip(initial.chunks(1 << self.line_shift)) {
            line.0[..bytes.len()].copy_from_slice(bytes);
        }
        self.clocks.fill(0);
        self.lines = Lines::of(self.stations.topology(), program.is_sparse);
        if self.stations.topology().chiplets > 1 {
            let homes = homes(self.stations.topology(), self.lines, seed);
            self.stations.place(homes);
        }
        self.waves.fill_with(Wave::default);
        self.residencies = Residencies::new(program, Units::of(self.stations.topology()));
        self.kernel = KernelId(0);
        self.set.fill(0);
        self.counted.fill(0);
        self.under_way.replies.clear();
        self.ran = RunCounts::default();
        self.draws = Draws::new(seed);
        self.under_way.due.fill(None);
        self.under_way.now = 0;
        if self.subject.is_clocked {
            self.pace = 1 << self.draws.below(PACES);
        }
    }

    /// Runs the wavefronts in an order that the seed decides.
    pub(super) fn run(&mut self, program: &Program, seed: u64) -> Result<RunCounts, EpisodeFault> {
        self.reset(seed, program);
        self.is_watched = seed.is_multiple_of(WATCHED);
        self.stations.watch(self.is_watched);
        self.has_ended = false;
        for node in 0..self.stations.count() {
            self.deliver(node, &StationInput::Start, program)?;
        }
        for (at, stage) in program.stages.iter().enumerate() {
            self.run_stage(stage, at == 0, program)?;
        }
        if self.has_cached_hosts() {
            self.let_host_read(program)?;
        }
        if let Some(at) = (0..self.stations.count()).find(|&at| !self.stations.is_quiet(at)) {
            return Err(fault(format!(
                "{} is still busy at the end of the run",
                self.stations.node_name(at)
            )));
        }
        self.check_final_values(program)?;
        self.ran.kernels = self.kernel.0.into();
        self.has_ended = self.under_way.ready.is_empty();
        Ok(self.ran)
    }

    /// Runs until no event is left.
    pub(super) fn run_events(&mut self, program: &Program) -> Result<(), EpisodeFault> {
        while !self.is_idle() {
            self.ran.events += 1;
            if self.ran.events > EVENTS_MAX {
                return Err(unfinished(&self.waves, "the run exceeds its limit of events"));
            }
            if self.subject.is_clocked && self.draws.below(self.pace) == 0 {
                self.under_way.now += 1;
            }
            let draw = self.draws.next();
            let at = ((draw >> 32) * self.under_way.ready.len() as u64) >> 32;
            let event = self.under_way.ready.swap_remove(at as usize);
            self.handle(event, program)?;
            if draw & 0xff < RANDOM_EVICTIONS {
                let node = self.draws.below(self.stations.count() as usize);
                let sets = self.sets_max as usize;
                let set = SetIndex(self.draws.below(sets) as u32);
                self.evict(node as At, set, program)?;
            }
            if self.is_preemptive && draw >> 8 & 0xff < PREEMPTIONS {
                self.preempt(program)?;
                self.is_preemptive = self.residencies.left > 0;
            }
        }
        Ok(())
    }

    /// Whether the run has come to rest: no event is possible except for timers and deadlines that
    /// no wavefront waits for.
    fn is_idle(&self) -> bool {
        let waits = || {
            self.ending != 0 || self.residencies.is_moving() || !self.waves.iter().all(|wave| wave.is_done())
        };
        let UnderWay { ready, periodic, .. } = &self.under_way;
        ready.len() == *periodic && (*periodic == 0 || !waits())
    }

    fn handle(&mut self, event: Event, program: &Program) -> Result<(), EpisodeFault> {
        match event {
            Event::Wave(wave) => self.issue(usize::from(wave), program),
            Event::Need(node, set) => {
                // If no line can be evicted, the input waits until a step of its controller wakes it.
                // The input then needs a way again, and this event happens again.
                if self.stations.is_wanted(node.into(), set) {
                    self.evict(node.into(), set, program)?;
                }
                Ok(())
            }
            Event::Deliver { from, to } => {
                let channels = &mut self.under_way.channels;
                let channel = usize::from(from) * self.under_way.count + usize::from(to);
                let at = match self.channels {
                    Channels::Fifo => 0,
                    Channels::Unordered => self.draws.below(channels.len(channel).max(1)),
                };
                let Some((msg, sent)) = channels.take(channel, at) else { return Ok(()) };
                if self.subject.is_clocked {
                    self.stations.age(msg, ticks(self.under_way.now - sent));
                }
                self.deliver(to.into(), &StationInput::Message { from: from.into(), msg }, program)
            }
            Event::Memory(node) => {
                let Some((mut op, sent)) = self.under_way.memory_ops.take(node.into(), 0) else {
                    return Ok(());
                };
                if self.subject.is_clocked {
                    let elapsed = ticks(self.under_way.now - sent);
                    self.stations.age_tag(node.into(), &mut op.tag, elapsed);
                }
                let line = self.lines.index(op.line).and_then(|line| self.memory.get_mut(line));
                let Some(line) = line else {
                    let node = self.stations.node_name(node.into());
                    return Err(fault(format!("{node} accesses line {}, which no word is in", op.line.0)));
                };
                let reply = drive::serve(line, &op);
                self.deliver(node.into(), &StationInput::Memory { reply: &reply }, program)
            }
            Event::Timer(node, class) => {
                self.under_way.timers[usize::from(node)] &= !(1 << class.index());
                self.under_way.periodic -= usize::from(class.is_periodic());
                self.deliver(node.into(), &StationInput::Timer(class), program)
            }
            Event::Deadline(node) => {
                let UnderWay { due, now, ready, periodic, .. } = &mut self.under_way;
                if due[usize::from(node)].is_some_and(|due| due > *now) {
                    *now += 1;
                    ready.push(event);
                    return Ok(());
                }
                due[usize::from(node)] = None;
                *periodic -= 1;
                self.catch_up(node.into(), program)
            }
        }
    }

    /// Gives an input to a node, and processes the answers. Before the input, the node gets the
    /// clock ticks that have passed since its last tick.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        at: At,
        input: &StationInput<&Request, u32, &MemoryReply>,
        program: &Program,
    ) -> Result<(), EpisodeFault> {
        if self.subject.is_clocked {
            self.catch_up(at, program)?;
        }
        self.deliver_now(at, input, program)
    }

    /// Gives a node the clock ticks that have passed since its last tick.
    fn catch_up(&mut self, at: At, program: &Program) -> Result<(), EpisodeFault> {
        let elapsed = self.under_way.now - self.clocks[at as usize];
        self.clocks[at as usize] = self.under_way.now;
        self.deliver_now(at, &StationInput::Tick(u32::try_from(elapsed).unwrap_or(u32::MAX)), program)
    }

    #[inline]
    fn deliver_now(
        &mut self,
        at: At,
        input: &StationInput<&Request, u32, &MemoryReply>,
        program: &Program,
    ) -> Result<(), EpisodeFault> {
        self.stations.deliver(at, input, &mut self.under_way).map_err(fault)?;
        if self.is_watched
            && let Some(why) = self.stations.fault(at)
        {
            return Err(fault(why));
        }
        if self.subject.is_clocked
            && let Some(left) = self.stations.next_deadline(at)
        {
            self.under_way.wait_until(at, self.under_way.now + u64::from(left));
        }
        if self.under_way.replies.is_empty() {
            return Ok(());
        }
        let mut replies = core::mem::take(&mut self.under_way.replies);
        let done =
            replies.iter().try_for_each(|(slot, data)| self.answered((at, *slot), data.as_ref(), program));
        replies.clear();
        self.under_way.replies = replies;
        done
    }

    /// Evicts a way of the set, if one can be evicted.
    fn evict(&mut self, node: At, set: SetIndex, program: &Program) -> Result<(), EpisodeFault> {
        if self.subject.is_clocked {
            // The ways that can be evicted depend on the time.
            self.catch_up(node, program)?;
        }
        self.victims.clear();
        self.stations.victims(node, set, &mut self.victims);
        let Some(lowest) = self.victims.iter().map(|(_, rank)| *rank).min() else { return Ok(()) };
        self.victims.retain(|(_, rank)| *rank == lowest);
        let (way, _) = self.victims[self.draws.below(self.victims.len())];
        self.ran.evictions += 1;
        self.deliver(node, &StationInput::Evict(way), program)
    }
}

/// A number of elapsed ticks in the type that messages use.
fn ticks(elapsed: u64) -> i32 {
    i32::try_from(elapsed).unwrap_or(i32::MAX)
}
