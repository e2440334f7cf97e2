//! A machine of eight compute units with tiny caches, on which everything that
//! can happen next happens in an order that a seed decides.

use super::draws::Draws;
use super::episode::{COUNTERS, CUS, FLAG_WORDS, WAVES, WORDS};
use super::order::Program;
use super::queues::Queues;
use super::waves::{Wave, unfinished};
use proto::{
    Agent, CacheShape, Channels, Effects, Key, LineData, MemoryOp, MemoryReply, Mutation, Node as _, NodeId,
    PlanKey, Protocol, Rank, Request, SetIndex, Setup, Slot, Station, Symbol as _, TimerClass, Topology, Way,
    World, WritePolicy,
};

/// Bytes of a word.
pub(super) const WORD: usize = 4;
/// A run with more events does not end.
const EVENTS_MAX: u64 = 400_000;
/// An eviction that nobody needs, so many times of 256 events.
const WHIMS: u64 = 2;

/// The machines: every pair of write policies, lines and caches of some sizes.
pub(super) fn topologies() -> Vec<Topology> {
    use WritePolicy::{Combining, Through, ThroughInvalidate};
    let cache = |sets, ways, policy, room| CacheShape {
        sets,
        ways,
        policy,
        store_buffer_entries: room,
        miss_registers: room,
    };
    let machine = |line_bytes, l1, l2| Topology::banked(CUS as u16, 2, line_bytes, l1, l2);
    let mut machines = Vec::new();
    for (l1, l2) in [(Combining, Combining), (Through, Through), (Through, ThroughInvalidate)] {
        machines.push(machine(64, cache(2, 3, l1, 4), cache(1, 4, l2, 4)));
        machines.push(machine(32, cache(2, 2, l1, 3), cache(2, 2, l2, 2)));
    }
    machines.push(machine(16, cache(1, 2, Combining, 1), cache(1, 2, Combining, 1)));
    machines.push(machine(64, cache(1, 2, ThroughInvalidate, 2), cache(1, 2, Combining, 2)));
    machines
}

/// What can happen next. Nodes and wavefronts are numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A message arrives: the oldest, where channels keep order.
    Deliver {
        from: u8,
        to: u8,
    },
    /// Memory does what a node has asked for first.
    Memory(u8),
    Timer(u8, TimerClass),
    /// A node must give up a way of a set.
    Need(u8, SetIndex),
    /// A wavefront may go on.
    Wave(u8),
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// A sentence.
    pub(super) what: String,
    /// The wavefront and the step in its program, if it is about one.
    pub(super) at: Option<(usize, usize)>,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ran {
    pub(super) operations: u64,
    pub(super) evictions: u64,
    pub(super) events: u64,
}

/// The controllers, and what they have done just now.
struct Nodes<P: Protocol> {
    setup: Setup<P>,
    mutation: Option<Mutation>,
    stations: Vec<Station<P>>,
    /// By node: when it was last told how much time has passed.
    clocks: Vec<u64>,
    fx: Effects<P::Msg>,
}

impl<P: Protocol> Nodes<P> {
    #[inline]
    fn tell(
        &mut self,
        node: usize,
        now: u64,
        tell: impl FnOnce(&mut Station<P>, World<'_, P>, &mut Effects<P::Msg>),
    ) {
        let world = World { mutation: self.mutation, ..self.setup.world() };
        let station = &mut self.stations[node];
        if P::CLOCKED {
            let elapsed = (now - self.clocks[node]) as u32;
            self.clocks[node] = now;
            station.tick(elapsed, world, &mut self.fx);
        }
        tell(station, world, &mut self.fx);
    }
}

pub(super) struct Machine<P: Protocol> {
    pub(super) topology: Topology,
    nodes: Nodes<P>,
    /// The most sets that a cache has.
    sets_max: u32,
    /// By node: as it is before anything happened.
    fresh: Vec<P::Node>,
    /// The first node of each kind.
    kinds: Vec<usize>,
    /// By sender and receiver: the messages under way.
    channels: Queues<P::Msg>,
    /// By node: what memory is to do for it.
    asked: Queues<MemoryOp>,
    pub(super) memory: Vec<LineData>,
    timers: Vec<u8>,
    pub(super) ready: Vec<Event>,
    /// How many of those are timers that run for ever.
    periodic: usize,
    pub(super) waves: Vec<Wave>,
    /// By flag: the value that has been set for certain.
    pub(super) set: [u32; FLAG_WORDS],
    /// By flag: a bit for each who sleeps until it is set.
    pub(super) sleeping: [u16; FLAG_WORDS],
    /// By counter: the values that were answered.
    pub(super) counted: [Vec<u32>; COUNTERS],
    /// A bit for each end of a kernel that is awaited.
    pub(super) ending: u32,
    /// The last replies, while they are looked at.
    replies: Vec<(Slot, Option<LineData>)>,
    victims: Vec<(Way, Rank)>,
    pub(super) ran: Ran,
    pub(super) draws: Draws,
    /// Has the last run come to its end, so that nothing is left of it but what
    /// stations hold?
    has_ended: bool,
}

impl<P: Protocol> Machine<P> {
    pub(super) fn new(topology: Topology, mutation: Option<Mutation>) -> Result<Self, String> {
        let setup = Setup::<P>::new(&topology)?;
        let ids: Vec<NodeId> = setup.levels.nodes().collect();
        if ids.len() > usize::from(u8::MAX) {
            return Err(format!("it has {} nodes, and at most {} can be stressed", ids.len(), u8::MAX));
        }
        let kinds: Vec<usize> = (0..P::KINDS.len() as u8)
            .map(|kind| ids.iter().position(|id| id.kind == kind).unwrap_or(ids.len()))
            .collect();
        let stations = setup.stations();
        let lines = (WORDS * WORD).div_ceil(usize::from(topology.line_bytes));
        Ok(Machine {
            sets_max: topology
                .levels
                .iter()
                .filter_map(|level| level.array)
                .map(|array| array.sets)
                .max()
                .unwrap_or(1),
            fresh: stations.iter().map(|station| station.node.clone()).collect(),
            channels: Queues::new(ids.len() * ids.len()),
            asked: Queues::new(ids.len()),
            memory: vec![LineData::default(); lines],
            timers: vec![0; ids.len()],
            ready: Vec::new(),
            periodic: 0,
            waves: vec![Wave::default(); WAVES],
            set: [0; FLAG_WORDS],
            sleeping: [0; FLAG_WORDS],
            counted: Default::default(),
            ending: 0,
            replies: Vec::new(),
            victims: Vec::new(),
            ran: Ran::default(),
            draws: Draws::new(0),
            has_ended: true,
            nodes: Nodes { setup, mutation, stations, clocks: vec![0; ids.len()], fx: Effects::default() },
            kinds,
            topology,
        })
    }

    /// Where a request of an agent comes in.
    pub(super) fn entry(&self, agent: Agent, request: &Request) -> usize {
        number(&self.kinds, P::entry(&self.nodes.setup.params, agent, PlanKey::of(request)))
    }

    /// Everything as it is before anything happened.
    fn reset(&mut self, seed: u64) {
        for (station, fresh) in self.nodes.stations.iter_mut().zip(&self.fresh) {
            station.begin_anew(fresh);
        }
        if !self.has_ended {
            self.channels.clear();
            self.asked.clear();
            self.timers.fill(0);
            self.ready.clear();
            self.periodic = 0;
            self.sleeping.fill(0);
            self.ending = 0;
        }
        self.memory.fill(LineData::default());
        self.nodes.clocks.fill(0);
        self.waves.fill_with(Wave::default);
        self.set.fill(0);
        self.counted.iter_mut().for_each(Vec::clear);
        self.nodes.fx.clear();
        self.replies.clear();
        self.ran = Ran::default();
        self.draws = Draws::new(seed);
    }

    /// Runs the wavefronts in the order that the seed decides.
    pub(super) fn run(&mut self, program: &Program, seed: u64) -> Result<Ran, Wrong> {
        self.reset(seed);
        self.has_ended = false;
        for node in 0..self.nodes.stations.len() {
            self.tell(node, |station, world, fx| station.start(world, fx));
            self.carry_out(node, program)?;
        }
        for (wave, steps) in program.threads.iter().enumerate() {
            if !steps.is_empty() {
                self.wake(wave);
            }
        }
        self.go_on(program)?;
        if !self.waves.iter().zip(&program.threads).all(|(wave, steps)| wave.is_done(steps)) {
            return Err(unfinished(&self.waves, program, "nothing can happen any more"));
        }
        self.end_kernels(program)?;
        if let Some(station) = self.nodes.stations.iter().find(|station| !station.is_quiet()) {
            return Err(wrong(format!("{} is not at rest at the end", name::<P>(station.id()))));
        }
        self.check_memory(program)?;
        self.has_ended = self.ready.is_empty();
        Ok(self.ran)
    }

    /// Until nothing can happen any more.
    pub(super) fn go_on(&mut self, program: &Program) -> Result<(), Wrong> {
        while !self.is_idle(program) {
            self.ran.events += 1;
            if self.ran.events > EVENTS_MAX {
                return Err(unfinished(&self.waves, program, "nothing comes to an end"));
            }
            let draw = self.draws.next();
            let at = ((draw >> 32) * self.ready.len() as u64) >> 32;
            let event = self.ready.swap_remove(at as usize);
            self.happens(event, program)?;
            if draw & 0xff < WHIMS {
                let node = self.draws.below(self.nodes.stations.len());
                let sets = self.sets_max as usize;
                let set = SetIndex(self.draws.below(sets) as u32);
                self.give_up(node, set, program)?;
            }
        }
        Ok(())
    }

    /// Can nothing happen any more, but that timers run for ever for which nobody
    /// waits?
    fn is_idle(&self, program: &Program) -> bool {
        let waits = || {
            let mut waves = self.waves.iter().zip(&program.threads);
            self.ending != 0 || !waves.all(|(wave, steps)| wave.is_done(steps))
        };
        self.ready.len() == self.periodic && (self.periodic == 0 || !waits())
    }

    fn happens(&mut self, event: Event, program: &Program) -> Result<(), Wrong> {
        let node = match event {
            Event::Wave(wave) => return self.issue(usize::from(wave), program),
            Event::Need(node, set) => {
                let node = usize::from(node);
                let is_wanted = self.nodes.stations[node].parked_count(Key::Way(set)) > 0;
                if is_wanted && !self.give_up(node, set, program)? {
                    self.ready.push(event);
                }
                return Ok(());
            }
            Event::Deliver { from, to } => {
                let (from, to) = (usize::from(from), usize::from(to));
                let channel = from * self.nodes.stations.len() + to;
                let at = match P::INFO.channels {
                    Channels::Fifo => 0,
                    Channels::Unordered => self.draws.below(self.channels.len(channel).max(1)),
                };
                let Some(msg) = self.channels.take(channel, at) else { return Ok(()) };
                let from = self.nodes.stations[from].id();
                let now = self.ran.events;
                self.nodes.tell(to, now, |station, world, fx| station.message(from, msg, world, fx));
                to
            }
            Event::Memory(node) => {
                let node = usize::from(node);
                let Some(&op) = self.asked.take(node, 0) else { return Ok(()) };
                let reply = MemoryReply { op, data: op.access.perform(&mut self.memory[op.line.0 as usize]) };
                let now = self.ran.events;
                self.nodes.tell(node, now, |station, world, fx| station.memory(&reply, world, fx));
                node
            }
            Event::Timer(node, class) => {
                let node = usize::from(node);
                self.timers[node] &= !(1 << class.index());
                self.periodic -= usize::from(class.is_periodic());
                self.tell(node, |station, world, fx| station.timer(class, world, fx));
                node
            }
        };
        self.carry_out(node, program)
    }

    #[inline]
    pub(super) fn tell(
        &mut self,
        node: usize,
        tell: impl FnOnce(&mut Station<P>, World<'_, P>, &mut Effects<P::Msg>),
    ) {
        self.nodes.tell(node, self.ran.events, tell);
    }

    /// Gives up a way of the set, if there is one to be had.
    fn give_up(&mut self, node: usize, set: SetIndex, program: &Program) -> Result<bool, Wrong> {
        self.victims.clear();
        let station = &self.nodes.stations[node];
        if set.0 >= self.nodes.setup.levels.of(station.id().kind).array.sets {
            return Ok(false);
        }
        station.node.victims(set, &mut self.victims);
        let Some(lowest) = self.victims.iter().map(|(_, rank)| *rank).min() else { return Ok(false) };
        self.victims.retain(|(_, rank)| *rank == lowest);
        let (way, _) = self.victims[self.draws.below(self.victims.len())];
        self.ran.evictions += 1;
        self.tell(node, |station, world, fx| station.evict(way, world, fx));
        self.carry_out(node, program)?;
        Ok(true)
    }

    /// Carries out what a node has set off.
    pub(super) fn carry_out(&mut self, node: usize, program: &Program) -> Result<(), Wrong> {
        let Machine { nodes, channels, ready, periodic, kinds, asked, timers, .. } = self;
        let Nodes { fx, stations, .. } = nodes;
        if let Some(why) = fx.violation.take() {
            return Err(wrong(why));
        }
        let here = node as u8;
        for (to, msg) in &fx.sends {
            let to = number(kinds, *to);
            channels.push(node * stations.len() + to, msg);
            ready.push(Event::Deliver { from: here, to: to as u8 });
        }
        fx.sends.clear();
        for op in &fx.memory {
            asked.push(node, op);
            ready.push(Event::Memory(here));
        }
        fx.memory.clear();
        for &class in &fx.timers {
            let bit = 1 << class.index();
            if timers[node] & bit == 0 {
                timers[node] |= bit;
                *periodic += usize::from(class.is_periodic());
                ready.push(Event::Timer(here, class));
            }
        }
        fx.timers.clear();
        for &set in &fx.needs {
            ready.push(Event::Need(here, set));
        }
        fx.needs.clear();
        fx.touches.clear();
        fx.spends.clear();
        if !fx.replies.is_empty() {
            let mut replies = core::mem::take(&mut self.replies);
            core::mem::swap(&mut replies, &mut fx.replies);
            let done =
                replies.iter().try_for_each(|(slot, data)| self.answered(*slot, data.as_ref(), program));
            replies.clear();
            self.replies = replies;
            done?;
        }
        Ok(())
    }
}

fn number(kinds: &[usize], id: NodeId) -> usize {
    kinds[usize::from(id.kind)] + usize::from(id.index)
}

pub(super) fn name<P: Protocol>(id: NodeId) -> String {
    format!("{}[{}]", P::KINDS[usize::from(id.kind)].name, id.index)
}

pub(super) fn wrong(what: String) -> Wrong {
    Wrong { what, at: None }
}
