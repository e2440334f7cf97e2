//! A machine of eight compute units with tiny caches, on which everything that
//! can happen next happens in an order that a seed decides.

use super::draws::Draws;
use super::episode::{CUS, Kind, Step, WAVES, WORDS, cu};
use proto::{
    Agent, ArrayId, ByteMask, CacheShape, Channels, Effects, Hints, Homes, Issuer, Key, LineAddr, LineData,
    MemoryAccess, MemoryOp, MemoryReply, Mutation, Node as _, NodeId, Op, Order, Protocol, Rank, Request,
    Rmw, RmwKind, Role, Scope, SetIndex, Shape, Slot, Station, Symbol as _, TimerClass, Way, Width, World,
    WritePolicy,
};
use std::collections::VecDeque;

/// Bytes of a word.
const WORD: usize = 4;
/// Data accesses of a wavefront that may be under way at once.
const UNDER_WAY_MAX: usize = 4;
/// A run with more events does not end.
const EVENTS_MAX: u64 = 400_000;
/// Who waits for a flag that is not set asks for it anyhow, so many times of 256.
const IMPATIENCE: u64 = 64;
/// An eviction that nobody needs, so many times of 256 events.
const WHIMS: u64 = 2;

/// The machines: every pair of write policies, lines and caches of some sizes.
pub(super) fn shapes() -> Vec<Shape> {
    use WritePolicy::{Combining, Through, ThroughInvalidate};
    let cache = |sets, ways, policy, room| CacheShape {
        sets,
        ways,
        policy,
        store_buffer_entries: room,
        miss_registers: room,
    };
    let shape = |line_bytes, l1, l2| Shape { cus: CUS as u16, chiplets: 1, banks: 2, line_bytes, l1, l2 };
    let mut shapes = Vec::new();
    for (l1, l2) in [(Combining, Combining), (Through, Through), (Through, ThroughInvalidate)] {
        shapes.push(shape(64, cache(2, 3, l1, 4), cache(1, 4, l2, 4)));
        shapes.push(shape(32, cache(2, 2, l1, 3), cache(2, 2, l2, 2)));
    }
    shapes.push(shape(16, cache(1, 2, Combining, 1), cache(1, 2, Combining, 1)));
    shapes.push(shape(64, cache(1, 2, ThroughInvalidate, 2), cache(1, 2, Combining, 2)));
    shapes
}

/// What runs: the steps of each wavefront, and where each word stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program<'a> {
    pub(super) threads: &'a [Vec<Step>],
    pub(super) places: &'a [usize],
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A message of a channel arrives: the oldest, where channels keep order.
    Deliver(usize),
    /// Memory does what a node has asked for first.
    Memory(usize),
    Timer(usize, TimerClass),
    /// A node must give up a way of a set.
    Need(usize, SetIndex),
    /// A wavefront may go on.
    Wave(usize),
}

#[derive(Clone, Debug, Default)]
struct Wave {
    at: usize,
    /// The steps under way, with their places in its program.
    under_way: [Option<(usize, Step)>; UNDER_WAY_MAX],
    /// Is it in the list of what can happen?
    is_ready: bool,
}

impl Wave {
    fn is_idle(&self) -> bool {
        self.under_way.iter().all(Option::is_none)
    }
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

pub(super) struct Machine<P: Protocol> {
    shape: Shape,
    params: P::Params,
    homes: Homes,
    mutation: Option<Mutation>,
    fresh: Vec<Station<P>>,
    stations: Vec<Station<P>>,
    /// The first node of each kind.
    kinds: Vec<usize>,
    entries: Vec<usize>,
    channels: Vec<VecDeque<P::Msg>>,
    asked: Vec<VecDeque<MemoryOp>>,
    memory: Vec<LineData>,
    timers: Vec<u8>,
    clocks: Vec<u64>,
    ready: Vec<Event>,
    waves: Vec<Wave>,
    /// By flag: the value that has been set for certain.
    set: Vec<u32>,
    /// By flag: who sleeps until it is set.
    sleeping: Vec<Vec<usize>>,
    /// By counter: the values that were answered.
    counted: Vec<Vec<u32>>,
    fx: Effects<P::Msg>,
    victims: Vec<(Way, Rank)>,
    ran: Ran,
    draws: Draws,
}

impl<P: Protocol> Machine<P> {
    pub(super) fn new(shape: Shape, mutation: Option<Mutation>) -> Result<Self, String> {
        let params = P::params(&shape)?;
        let ids: Vec<NodeId> = proto::nodes::<P>(&shape).collect();
        let kinds = (0..P::KINDS.len() as u8)
            .map(|kind| ids.iter().position(|id| id.kind == kind).unwrap_or(ids.len()))
            .collect();
        let fresh: Vec<Station<P>> = ids.iter().map(|&id| Station::new(id, &params)).collect();
        let lines = (WORDS * WORD).div_ceil(usize::from(shape.line_bytes));
        let mut machine = Machine {
            homes: Homes::new(&shape, 1),
            stations: fresh.clone(),
            channels: (0..ids.len() * ids.len()).map(|_| VecDeque::new()).collect(),
            asked: vec![VecDeque::new(); ids.len()],
            memory: vec![LineData::default(); lines],
            timers: vec![0; ids.len()],
            clocks: vec![0; ids.len()],
            ready: Vec::new(),
            waves: vec![Wave::default(); WAVES],
            set: vec![0; WORDS],
            sleeping: vec![Vec::new(); WORDS],
            counted: vec![Vec::new(); WORDS],
            fx: Effects::default(),
            victims: Vec::new(),
            ran: Ran::default(),
            draws: Draws::new(0),
            entries: Vec::new(),
            kinds,
            fresh,
            params,
            shape,
            mutation,
        };
        let agent = |wave| cu(wave).map_or(Agent::Host, |cu| Agent::Cu(cu as u16));
        machine.entries = (0..WAVES).map(|wave| machine.node(P::entry(agent(wave)))).collect();
        Ok(machine)
    }

    fn node(&self, id: NodeId) -> usize {
        self.kinds[usize::from(id.kind)] + usize::from(id.index)
    }

    /// Everything as it is before anything happened.
    fn reset(&mut self) {
        self.stations.clone_from(&self.fresh);
        self.channels.iter_mut().for_each(VecDeque::clear);
        self.asked.iter_mut().for_each(VecDeque::clear);
        self.memory.fill(LineData::default());
        self.timers.fill(0);
        self.clocks.fill(0);
        self.ready.clear();
        self.waves.fill(Wave::default());
        self.set.fill(0);
        self.sleeping.iter_mut().for_each(Vec::clear);
        self.counted.iter_mut().for_each(Vec::clear);
        self.fx.clear();
        self.ran = Ran::default();
    }

    /// Runs the wavefronts in the order that the seed decides.
    pub(super) fn run(&mut self, program: Program<'_>, seed: u64) -> Result<Ran, Wrong> {
        self.reset();
        self.draws = Draws::new(seed);
        for (wave, steps) in program.threads.iter().enumerate() {
            if !steps.is_empty() {
                self.wake(wave);
            }
        }
        while !self.ready.is_empty() {
            self.ran.events += 1;
            if self.ran.events > EVENTS_MAX {
                return Err(self.unfinished(program, "nothing comes to an end"));
            }
            let at = self.draws.below(self.ready.len());
            let event = self.ready.swap_remove(at);
            self.happens(event, program)?;
            if self.draws.chance(WHIMS) {
                let node = self.draws.below(self.stations.len());
                let sets = self.shape.l1.sets.max(self.shape.l2.sets) as usize;
                let set = SetIndex(self.draws.below(sets) as u32);
                self.give_up(node, set, program)?;
            }
        }
        let is_done = |(wave, steps): (&Wave, &Vec<Step>)| wave.at >= steps.len() && wave.is_idle();
        if !self.waves.iter().zip(program.threads).all(is_done) {
            return Err(self.unfinished(program, "nothing can happen any more"));
        }
        match self.stations.iter().find(|station| !station.is_quiet()) {
            Some(station) => Err(wrong(format!("{} is not at rest at the end", name::<P>(station.id())))),
            None => Ok(self.ran),
        }
    }

    fn unfinished(&self, program: Program<'_>, why: &str) -> Wrong {
        let steps = |wave: usize| program.threads[wave].len();
        let left = (0..WAVES).find(|&w| self.waves[w].at < steps(w) || !self.waves[w].is_idle());
        let at = left.map(|wave| (wave, self.waves[wave].at.min(steps(wave).saturating_sub(1))));
        Wrong { what: format!("{why}, and not all wavefronts are done"), at }
    }

    fn wake(&mut self, wave: usize) {
        if !self.waves[wave].is_ready {
            self.waves[wave].is_ready = true;
            self.ready.push(Event::Wave(wave));
        }
    }

    fn happens(&mut self, event: Event, program: Program<'_>) -> Result<(), Wrong> {
        let node = match event {
            Event::Wave(wave) => return self.goes_on(wave, program),
            Event::Need(node, set) => {
                let is_wanted = self.stations[node].parked_count(Key::Way(set)) > 0;
                if is_wanted && !self.give_up(node, set, program)? {
                    self.ready.push(event);
                }
                return Ok(());
            }
            Event::Deliver(channel) => {
                let nodes = self.stations.len();
                let (from, to) = (channel / nodes, channel % nodes);
                let queue = &mut self.channels[channel];
                let nth = match P::INFO.channels {
                    Channels::Fifo => 0,
                    Channels::Unordered => self.draws.below(queue.len().max(1)),
                };
                let Some(msg) = queue.remove(nth) else { return Ok(()) };
                let from = self.stations[from].id();
                self.tell(to, |station, world, fx| station.message(from, msg, world, fx));
                to
            }
            Event::Memory(node) => {
                let Some(op) = self.asked[node].pop_front() else { return Ok(()) };
                let data = self.serve(op);
                self.tell(node, |station, world, fx| station.memory(&MemoryReply { op, data }, world, fx));
                node
            }
            Event::Timer(node, class) => {
                self.timers[node] &= !(1 << class.index());
                self.tell(node, |station, world, fx| station.timer(class, world, fx));
                node
            }
        };
        self.carry_out(node, program)
    }

    fn tell(&mut self, node: usize, tell: impl FnOnce(&mut Station<P>, World<'_, P>, &mut Effects<P::Msg>)) {
        let world = World { params: &self.params, homes: &self.homes, kernels: &[], mutation: self.mutation };
        let station = &mut self.stations[node];
        if P::CLOCKED {
            let elapsed = (self.ran.events - self.clocks[node]) as u32;
            self.clocks[node] = self.ran.events;
            station.tick(elapsed, world, &mut self.fx);
        }
        tell(station, world, &mut self.fx);
    }

    fn serve(&mut self, op: MemoryOp) -> LineData {
        let line = &mut self.memory[op.line.0 as usize];
        match op.access {
            MemoryAccess::Read => *line,
            MemoryAccess::Write { mask, data } => {
                line.merge(&data, mask);
                LineData::default()
            }
            MemoryAccess::Rmw { rmw, mask, data } => rmw.perform(line, &data, mask),
        }
    }

    /// Gives up a way of the set, if there is one to be had.
    fn give_up(&mut self, node: usize, set: SetIndex, program: Program<'_>) -> Result<bool, Wrong> {
        self.victims.clear();
        let station = &self.stations[node];
        let cache = match P::KINDS[usize::from(station.id().kind)].role {
            Role::L1 | Role::Buffer => &self.shape.l1,
            _ => &self.shape.l2,
        };
        if set.0 >= cache.sets {
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
    fn carry_out(&mut self, node: usize, program: Program<'_>) -> Result<(), Wrong> {
        if let Some(why) = self.fx.violation.take() {
            return Err(wrong(why));
        }
        let nodes = self.stations.len();
        let mut sends = core::mem::take(&mut self.fx.sends);
        for (to, msg) in sends.drain(..) {
            let channel = node * nodes + self.node(to);
            self.channels[channel].push_back(msg);
            self.ready.push(Event::Deliver(channel));
        }
        self.fx.sends = sends;
        for op in self.fx.memory.drain(..) {
            self.asked[node].push_back(op);
            self.ready.push(Event::Memory(node));
        }
        for class in self.fx.timers.drain(..) {
            let bit = 1 << class.index();
            if self.timers[node] & bit == 0 {
                self.timers[node] |= bit;
                self.ready.push(Event::Timer(node, class));
            }
        }
        for set in self.fx.needs.drain(..) {
            self.ready.push(Event::Need(node, set));
        }
        let mut replies = core::mem::take(&mut self.fx.replies);
        for (slot, data) in replies.drain(..) {
            self.answered(slot, data, program)?;
        }
        self.fx.replies = replies;
        self.fx.clear();
        Ok(())
    }
}

fn name<P: Protocol>(id: NodeId) -> String {
    format!("{}[{}]", P::KINDS[usize::from(id.kind)].name, id.index)
}

fn wrong(what: String) -> Wrong {
    Wrong { what, at: None }
}

/// Wavefronts.
impl<P: Protocol> Machine<P> {
    /// Issues the next step of a wavefront, if it may be.
    fn goes_on(&mut self, wave: usize, program: Program<'_>) -> Result<(), Wrong> {
        let state = &mut self.waves[wave];
        state.is_ready = false;
        let Some(&step) = program.threads[wave].get(state.at) else { return Ok(()) };
        // Data accesses of different words overlap; nothing else does.
        let is_data = |step: &Step| step.order == Order::Plain;
        let waits_for =
            |&(_, other): &(usize, Step)| !is_data(&step) || !is_data(&other) || step.word == other.word;
        let is_held = state.under_way.iter().flatten().any(waits_for);
        let Some(free) = state.under_way.iter().position(Option::is_none).filter(|_| !is_held) else {
            return Ok(()); // An answer wakes it.
        };
        if step.awaits() && self.set[step.flag()] < step.value && !self.draws.chance(IMPATIENCE) {
            self.sleeping[step.flag()].push(wave);
            return Ok(());
        }
        state.under_way[free] = Some((state.at, step));
        state.at += 1;
        self.ran.operations += 1;
        let request = self.request(wave, step, program.places);
        let slot = Slot((wave * UNDER_WAY_MAX + free) as u32);
        let node = self.entries[wave];
        self.tell(node, |station, world, fx| station.request(slot, &request, world, fx));
        if is_data(&step) {
            self.wake(wave);
        }
        self.carry_out(node, program)
    }

    fn request(&self, wave: usize, step: Step, places: &[usize]) -> Request {
        let rmw = |kind, uses_value| Op::Rmw(Rmw { kind, width: Width::W4, uses_value });
        let (op, operand) = match step.kind {
            Kind::Load | Kind::Await => (Op::Load, 0),
            Kind::Store | Kind::Set => (Op::Store, step.value),
            Kind::Count => (rmw(RmwKind::Add, true), 1),
            Kind::AwaitAdding => (rmw(RmwKind::Add, true), 0),
            Kind::Swap => (rmw(RmwKind::Exchange, false), step.value),
            Kind::Fence => (Op::Fence, 0),
        };
        let group = cu(wave).unwrap_or(CUS) as u32;
        let instance = if step.level == proto::Level::WorkGroup { group } else { 0 };
        let (line, offset) = self.place(step.word, places);
        let mut data = LineData::default();
        data.write(offset, Width::W4, u64::from(operand));
        Request {
            op,
            order: step.order,
            scope: Scope { level: step.level, instance },
            issuer: Issuer { work_item: 0, wavefront: (wave / CUS) as u32, work_group: group },
            hints: Hints { remote: step.remote, commutative: false },
            array: ArrayId(0),
            line,
            mask: ByteMask::range(offset, WORD),
            data,
        }
    }

    fn place(&self, word: usize, places: &[usize]) -> (LineAddr, usize) {
        let (address, line_bytes) = (places[word] * WORD, usize::from(self.shape.line_bytes));
        (LineAddr((address / line_bytes) as u64), address % line_bytes)
    }

    /// A step is done, unless it must be done again.
    fn answered(&mut self, slot: Slot, data: Option<LineData>, program: Program<'_>) -> Result<(), Wrong> {
        let (wave, at) = (slot.0 as usize / UNDER_WAY_MAX, slot.0 as usize % UNDER_WAY_MAX);
        let Some((at, step)) = self.waves[wave].under_way[at].take() else {
            return Err(wrong(format!("wavefront {wave} is answered what it has not asked")));
        };
        let here = Some((wave, at));
        let (_, offset) = self.place(step.word, program.places);
        let found = data.map(|data| data.read(offset, Width::W4) as u32);
        let reads = matches!(step.kind, Kind::Load | Kind::Count | Kind::Await | Kind::AwaitAdding);
        if reads != found.is_some() {
            return Err(Wrong { what: String::from("the answer has bytes, or lacks them"), at: here });
        }
        let found = found.unwrap_or_default();
        match step.kind {
            Kind::Load if found != step.value => {
                return Err(Wrong { what: format!("found {found}"), at: here });
            }
            Kind::Count if self.counted[step.word].contains(&found) => {
                let what = format!("found {found}, which somebody else has found before");
                return Err(Wrong { what, at: here });
            }
            Kind::Count => self.counted[step.word].push(found),
            Kind::Await | Kind::AwaitAdding if found < step.value => {
                self.waves[wave].at -= 1;
                if self.set[step.flag()] < step.value && !self.draws.chance(IMPATIENCE) {
                    self.sleeping[step.flag()].push(wave);
                    return Ok(());
                }
            }
            Kind::Set | Kind::Swap => {
                self.set[step.flag()] = step.value;
                let mut sleeping = core::mem::take(&mut self.sleeping[step.flag()]);
                sleeping.drain(..).for_each(|sleeper| self.wake(sleeper));
                self.sleeping[step.flag()] = sleeping;
            }
            Kind::Load | Kind::Store | Kind::Await | Kind::AwaitAdding | Kind::Fence => {}
        }
        self.wake(wave);
        Ok(())
    }
}
