//! The stations of a protocol (controllers with their waiting inputs), behind an interface that is
//! the same for all protocols.
//!
//! The rest of this crate is compiled once; this file is compiled once for each protocol. It
//! executes the steps of stations, stores the messages in transit, and makes the one choice that
//! does not depend on time: the line to evict. It evicts the least recently used of the ways that
//! the protocol ranks lowest.

mod copy;

use drive::{At, Driver, Messages, Nodes, StationInput};
use proto::{
    Addr, Agent, ArrayId, ArrayUse, Beside, Condition, Coverage, Effects, Homes, Hosts, Key, LineAddr,
    LineData, LineView, Load, MemoryOp, MemoryReply, Message, Node, Per, PlanKey, Protocol, Rank, Request,
    SetIndex, Settings, Setup, Slot, Spending, Station, TimerClass, Topology, Uses, Way, WritePolicy,
};

use crate::memory::bytes::Memory;
use crate::options::RunOptions;

/// The number of a station (controller). All stations of the first kind that the protocol lists,
/// such as the L1s, come first, then the stations of the second kind, and so on.
pub(crate) type StationId = At;

/// The number of a message in transit.
pub(crate) type MessageId = u32;

/// A message that the step of a station (controller) sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) to: StationId,
    pub(crate) message: MessageId,
    pub(crate) name: &'static str,
    pub(crate) payload_bytes: u32,
    pub(crate) line: Option<LineAddr>,
    pub(crate) is_access: bool,
}

/// The effects of a step of a station (controller), in types that do not depend on the protocol.
#[derive(Debug, Default)]
pub(crate) struct StepEffects {
    pub(crate) sends: Vec<Sent>,
    pub(crate) replies: Vec<(Slot, Option<LineData>)>,
    pub(crate) memory: Vec<MemoryOp>,
    pub(crate) timers: Vec<TimerClass>,
    /// The number of ticks until the next deadline of the station (controller). `None` if the
    /// station waits for no deadline.
    pub(crate) deadline: Option<u32>,
    pub(crate) uses: Uses,
    pub(crate) spends: Vec<(Slot, Spending)>,
    pub(crate) violation: Option<String>,
}

/// The identity of a station (a controller of the protocol).
#[derive(Clone, Debug)]
pub(crate) struct StationInfo {
    /// The name of the station (controller), for example `L2[3]`.
    pub(crate) name: String,
    /// The number of the memory level to which the station (controller) belongs.
    pub(crate) level: u8,
    /// The number of the station (controller) among those of its kind.
    pub(crate) index: u32,
}

/// A memory level at which the protocol has stations (controllers).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelInfo {
    /// The name of the level in the machine description, for example `l2`.
    pub(crate) name: String,
    /// The kind of unit, such as a chiplet, to which each station (controller) of the level
    /// belongs. `count` is the number of all stations of the level.
    pub(crate) per: Per,
    pub(crate) count: u32,
    /// Whether the stations (controllers) keep lines.
    pub(crate) has_lines: bool,
    /// The number of misses that each station (controller) can have outstanding. Zero if the
    /// stations keep no lines.
    pub(crate) miss_registers: u32,
    /// The number of levels between this level and main memory.
    pub(crate) height: u32,
    /// The level whose positions in the network this level shares. `None` if this level has
    /// positions of its own.
    pub(crate) beside: Option<Beside>,
    /// The level whose place or shape this level takes, if the machine description does not declare
    /// this level with lines.
    pub(crate) like: Option<String>,
}

impl LevelInfo {
    /// The name of the level whose section of the machine description has the timing of the stations
    /// (controllers).
    pub(crate) fn described(&self) -> &str {
        self.like.as_ref().unwrap_or(&self.name)
    }

    /// Whether the stations (controllers) of the level are banks: they keep lines, and several
    /// compute units share a station.
    pub(crate) fn is_bank(&self) -> bool {
        self.has_lines && self.is_shared()
    }

    /// Whether several compute units share a station (controller) of the level.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.per, Per::Chiplet | Per::Machine)
    }

    /// Identifies the place of station (controller) `index` of this level in the network: returns
    /// the name of the level whose station stands at the place, and the number of that station in
    /// its level. If this level has places of its own, the two are its own name and `index`.
    pub(crate) fn site(&self, index: u32) -> (&str, u32) {
        match &self.beside {
            Some(beside) => (&beside.name, index * u32::from(beside.count) / self.count.max(1)),
            None => (&self.name, index),
        }
    }
}

/// An input that waits at a station (controller) until the station can handle it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parked {
    /// A request that waits in the station for the event `key`. When the event happens, the request
    /// is presented to the controller again.
    Request { key: String, slot: Slot },
    /// A request that waits for the fill of this line.
    Waiting { line: LineAddr, slot: Slot },
    /// A message that waits in the station for the event `key`. When the event happens, the message
    /// is presented to the controller again.
    Message { key: String, from: String, name: &'static str, line: Option<LineAddr> },
}

/// The stations (controllers with parked inputs) of one protocol.
pub(crate) trait Fabric {
    /// All stations (controllers), in the order of their numbers.
    fn stations(&self) -> Vec<StationInfo>;
    /// The levels that have stations (controllers), by number.
    fn levels(&self) -> Vec<LevelInfo>;
    /// The station (controller) that receives an agent's requests with this key, which has the
    /// kind, the order, the scope level and the hints of the requests.
    ///
    /// # Errors
    /// If the machine has no such station.
    fn entry(&self, agent: Agent, key: PlanKey) -> Result<StationId, String>;
    /// The rule that gives each line its home, which is a chiplet and a bank.
    fn homes(&self) -> &Homes;
    /// Places the page of a line on a chiplet, unless the page has a chiplet already.
    fn touch(&mut self, line: LineAddr, chiplet: u16);
    /// Whether the protocol uses clock ticks.
    fn is_clocked(&self) -> bool;
    /// Tells the protocol which arrays a launched kernel uses. The calls come in launch order.
    fn add_kernel(&mut self, uses: &[ArrayUse]);
    /// Answers a plain load, if it is a hit and its step has no effect but the answer. Executes
    /// that step, and returns the bytes and whether the line has dirty bytes. Otherwise returns
    /// `None`, without any change: the load needs a normal step.
    fn hit(&mut self, to: StationId, load: &Load) -> Option<(&[u8], bool)>;
    /// Gives a station (controller) a request.
    fn request(&mut self, to: StationId, slot: Slot, request: &Request, out: &mut StepEffects);
    /// Delivers a message that was sent to a station (controller).
    fn deliver(&mut self, to: StationId, message: MessageId, out: &mut StepEffects);
    /// Removes a message that was sent, without delivering it.
    fn drop_message(&mut self, message: MessageId);
    /// Delivers memory's answer to an operation. `sent` was the clock of the station (controller),
    /// in ticks, when it sent the operation.
    fn memory(&mut self, to: StationId, reply: &MemoryReply, sent: i64, out: &mut StepEffects);
    /// Gives a station (controller) its initial input.
    fn start(&mut self, to: StationId, out: &mut StepEffects);
    /// Tells a station (controller) that a timer of this class has expired.
    fn timer(&mut self, to: StationId, class: TimerClass, out: &mut StepEffects);
    /// Advances the clock of a station (controller) by `elapsed` ticks.
    fn tick(&mut self, to: StationId, elapsed: u32, out: &mut StepEffects);
    /// The number of ticks by which the clock of a station (controller) has been advanced so far.
    fn clock(&self, at: StationId) -> i64;
    /// The number of ticks until the next deadline of a station (controller). `None` if the station
    /// waits for no deadline.
    fn deadline(&self, at: StationId) -> Option<u32>;
    /// Appends to `out` the lines that a station (controller) holds.
    fn lines(&self, at: StationId, out: &mut Vec<LineView>);
    /// Appends to `out` the conditions of a station (controller). A condition is a state that
    /// lasts, such as a granted epoch. A timeline of the run draws them.
    fn conditions(&self, at: StationId, out: &mut Vec<Condition>);
    /// The parked inputs of a station (controller): those that wait until the station can handle
    /// them.
    fn parked(&self, at: StationId) -> Vec<Parked>;
    /// The number of times that each row (the entry for one state and one event) of the protocol's
    /// tables was used.
    fn coverage(&self) -> &Coverage;
    /// Decides who chooses the ways to evict. If `held` is true, the caller chooses them with
    /// [`Fabric::evict`]. If it is false, the least recently used way is evicted, among the ways
    /// that the protocol ranks lowest.
    fn hold_ways(&mut self, held: bool);
    /// Sorts the lines of each set by their numbers, in all stations (controllers). The explorer
    /// (the program that tries every schedule) does the same after each step of a schedule. A flush
    /// writes lines in this order.
    fn sort_ways(&mut self);
    /// The ways of a station (controller), for a caller that chooses the ways to evict.
    fn ways(&mut self, at: StationId) -> Ways;
    /// Limits the number of lines in each set of a station (controller); see
    /// [`proto::Controller::limit_ways`]. Returns false if the station supports no limit.
    fn limit_ways(&mut self, at: StationId, ways: u32) -> bool;
    /// The first way, in the order of the sets, that a station (controller) may evict now. `None` if
    /// there is no such way.
    fn victim(&mut self, at: StationId) -> Option<Way>;
    /// The first rule that the last step of the station (controller) has broken; see
    /// [`Station::check_after_step`].
    fn fault(&self, at: StationId) -> Option<String>;
    /// Lets a station (controller) evict a way.
    fn evict(&mut self, to: StationId, way: Way, out: &mut StepEffects);
    /// The way in which hosts reach memory.
    fn hosts(&self) -> Hosts;
    /// Writes bytes of an array to an address through the controller of the first host. The copy
    /// takes no simulated time, and nothing counts its steps. The caller ensures that nothing is
    /// outstanding in the machine, and that the protocol does not use clock ticks. Returns the
    /// periodic timers that the copy has started and that still run.
    ///
    /// # Errors
    /// If the protocol violates a rule.
    fn host_copy(
        &mut self,
        to: Addr,
        bytes: &[u8],
        array: ArrayId,
        memory: &mut Memory,
    ) -> Result<Vec<(StationId, TimerClass)>, String>;
}

/// The ways of a station (controller) whose cache has a single set.
#[derive(Debug)]
pub(crate) struct Ways {
    /// Whether an input waits for a free way.
    pub(crate) is_needed: bool,
    /// The ways that the station (controller) may evict.
    pub(crate) victims: Vec<Way>,
    /// The reason why the station (controller) is not at rest. `None` if it is at rest.
    pub(crate) unrest: Option<String>,
}

/// The stations of protocol `P` (controllers with their waiting inputs), as a [`Fabric`].
pub(crate) struct Stations<P: Protocol> {
    pub(super) nodes: Nodes<P>,
    pub(super) stations: Vec<Station<P>>,
    /// For each station (controller), the times at which its ways were last used.
    recency: Vec<Recency>,
    pub(super) fx: Effects<P::Msg>,
    /// The messages in transit, each with its sender.
    messages: Messages<(StationId, P::Msg)>,
    /// For each message, the clock of its sender when it was sent, in ticks. Used only if the
    /// protocol has clocks.
    sent: Vec<i64>,
    /// For each station (controller), the number of ticks by which its clock has been advanced.
    clocks: Vec<i64>,
    victims: Vec<(Way, Rank)>,
    occupied: Vec<Way>,
    uses: u64,
    pub(super) line_bytes: u32,
    /// The logarithm to base 2 of the number of lines that share a tag.
    tag_bits: u32,
    /// Whether the caller chooses the ways to evict. If false, the least recently used way is
    /// evicted, among the ways that the protocol ranks lowest.
    pub(super) holds_ways: bool,
    /// Whether hits are answered by a shortcut instead of a step.
    skips_hits: bool,
}

/// The last uses of the ways of a station (controller). The uses at all stations are numbered in
/// the order of time, and each way has the number of its last use.
#[derive(Debug, Default)]
struct Recency {
    last_use: Vec<u64>,
}

impl Recency {
    #[inline]
    fn touch(&mut self, way: Way, at: u64) {
        let way = way.0 as usize;
        if way >= self.last_use.len() {
            self.last_use.resize(way + 1, 0);
        }
        self.last_use[way] = at;
    }
}

impl<P: Protocol> Stations<P> {
    /// The stations (controllers with their waiting inputs) of a machine, in their initial states.
    ///
    /// # Errors
    /// If the machine lacks a property that the protocol needs. The error names the property.
    pub(crate) fn new(
        topology: &Topology,
        settings: &Settings,
        homes: Homes,
        options: &RunOptions,
    ) -> Result<Self, String> {
        let setup = Setup::with(topology, settings, homes)?;
        let nodes = Nodes::with(topology, setup, options.seeded_fault);
        let count = nodes.ids().len() as StationId;
        Ok(Stations {
            stations: (0..count).map(|at| nodes.fresh(at)).collect(),
            nodes,
            recency: (0..count).map(|_| Recency::default()).collect(),
            fx: Effects::default(),
            messages: Messages::default(),
            sent: Vec::new(),
            clocks: vec![0; count as usize],
            victims: Vec::new(),
            occupied: Vec::new(),
            uses: 0,
            line_bytes: u32::from(topology.line_bytes),
            tag_bits: topology.lines_per_tag.trailing_zeros(),
            holds_ways: false,
            // Clock ticks and seeded faults take effect only in a step, so a run with one of them
            // does not use the shortcut.
            skips_hits: !P::CLOCKED && options.seeded_fault.is_none() && !options.steps_hits,
        })
    }

    /// Gives a station (controller) an input and collects the effects of the step.
    #[inline(always)]
    fn deliver_input(
        &mut self,
        at: StationId,
        input: &StationInput<&Request, &P::Msg, &MemoryReply>,
        out: &mut StepEffects,
    ) {
        // The caller has emptied `out` after the last step, so that it contains no earlier effect.
        debug_assert!(out.replies.is_empty() && out.memory.is_empty() && out.timers.is_empty());
        let mut chooser = Chooser {
            recency: &mut self.recency[at as usize],
            victims: &mut self.victims,
            occupied: &mut self.occupied,
            uses: &mut self.uses,
            holds: self.holds_ways,
            messages: &mut self.messages,
            line_bytes: self.line_bytes,
            tag_bits: self.tag_bits,
            out,
        };
        let station = &mut self.stations[at as usize];
        let done = self.nodes.deliver(station, at, input, &mut self.fx, &mut chooser);
        if let Err(why) = done {
            out.violation = Some(why);
        }
        if P::CLOCKED {
            out.deadline = station.next_deadline();
            self.sent.resize(self.messages.bound() as usize, 0);
            for sent in &out.sends {
                self.sent[sent.message as usize] = self.clocks[at as usize];
            }
        }
    }
}

/// The driver of one step of a station (controller): it chooses the ways to evict, and collects the
/// effects of the step.
struct Chooser<'a, M> {
    recency: &'a mut Recency,
    victims: &'a mut Vec<(Way, Rank)>,
    occupied: &'a mut Vec<Way>,
    uses: &'a mut u64,
    /// Whether the caller of the stations (controllers) chooses the ways to evict. If true, this
    /// `Chooser` chooses no way.
    holds: bool,
    messages: &'a mut Messages<(StationId, M)>,
    line_bytes: u32,
    /// The logarithm to base 2 of the number of lines that share a tag.
    tag_bits: u32,
    out: &'a mut StepEffects,
}

impl<M> Chooser<'_, M> {
    #[inline]
    fn touch(&mut self, ways: &[Way]) {
        if !ways.is_empty() {
            *self.uses += 1;
            for &way in ways {
                self.recency.touch(way, *self.uses);
            }
        }
    }
}

/// The least recently used of the ways with the lowest rank. `last_use` has the last use of each
/// way.
#[inline]
fn least_recently_used(victims: &[(Way, Rank)], last_use: &[u64]) -> Option<Way> {
    // The number of a use is below 2^56 in any run, so the rank fits into the bits above it.
    let mut best = (u64::MAX, None);
    for &(way, Rank(rank)) in victims {
        let used = last_use.get(way.0 as usize).copied().unwrap_or(0);
        let key = u64::from(rank) << 56 | used;
        if key < best.0 {
            best = (key, Some(way));
        }
    }
    best.1
}

/// A way of the tag that is evicted next. A tag has `1 << tag_bits` ways, and the cache needs all of
/// them, so it asks again until the tag has no line. Therefore only a tag is chosen whose lines can
/// all be evicted: `victims` contains all its ways that `occupied` contains. Both are in ascending
/// order. Of these tags, the least recently used one of those with the lowest rank is chosen. A tag
/// was used when one of its lines was used, and has the highest rank of its lines. A line that has
/// left counts no more, so a tag whose eviction has begun stays the next one.
fn first_of_tag(victims: &[(Way, Rank)], occupied: &[Way], last_use: &[u64], tag_bits: u32) -> Option<Way> {
    debug_assert!(victims.is_sorted_by_key(|(way, _)| way.0) && occupied.is_sorted_by_key(|way| way.0));
    let tag = |way: Way| way.0 >> tag_bits;
    let mut best = (u64::MAX, None);
    let (mut victims, mut occupied) = (victims, occupied);
    while let Some(&(first, _)) = victims.first() {
        occupied = &occupied[occupied.iter().take_while(|&&way| tag(way) < tag(first)).count()..];
        let lines = occupied.iter().take_while(|&&way| tag(way) == tag(first)).count();
        let (mut ways, mut rank, mut used) = (0, 0, 0);
        for &(way, Rank(each)) in victims.iter().take_while(|(way, _)| tag(*way) == tag(first)) {
            ways += 1;
            rank = rank.max(each);
            used = used.max(last_use.get(way.0 as usize).copied().unwrap_or(0));
        }
        let key = u64::from(rank) << 56 | used;
        if ways >= lines && key < best.0 {
            best = (key, Some(first));
        }
        (victims, occupied) = (&victims[ways..], &occupied[lines..]);
    }
    best.1
}

impl<P: Protocol> Driver<P> for Chooser<'_, P::Msg> {
    /// Chooses the least recently used of the ways that the protocol ranks lowest, after the ways in
    /// `touched` have been used. If several lines share a tag, chooses a way of the least recently
    /// used tag.
    fn victim(&mut self, _: At, node: &P::Node, set: SetIndex, touched: &[Way]) -> Option<Way> {
        self.touch(touched);
        if self.holds {
            return None;
        }
        self.victims.clear();
        node.victims(set, self.victims);
        let last_use = self.recency.last_use.as_slice();
        if self.tag_bits == 0 {
            return least_recently_used(self.victims, last_use);
        }
        self.occupied.clear();
        node.occupied(set, self.occupied);
        first_of_tag(self.victims, self.occupied, last_use, self.tag_bits)
    }

    #[inline]
    fn touched(&mut self, _: At, ways: &[Way]) {
        self.touch(ways);
    }

    #[inline]
    fn used(&mut self, _: At, uses: &Uses) {
        self.out.uses = *uses;
    }

    #[inline]
    fn sent(&mut self, from: At, to: At, msg: P::Msg) {
        let (name, payload_bytes) = (msg.name(), msg.payload_bytes(self.line_bytes));
        let (line, is_access) = (msg.line(), msg.is_access());
        let message = self.messages.insert((from, msg));
        self.out.sends.push(Sent { to, message, name, payload_bytes, line, is_access });
    }

    #[inline]
    fn requested(&mut self, _: At, ops: &mut Vec<MemoryOp>) {
        core::mem::swap(&mut self.out.memory, ops);
    }

    #[inline]
    fn armed(&mut self, _: At, class: TimerClass) {
        self.out.timers.push(class);
    }

    /// Does nothing. An input that needs a free way waits at its station (controller).
    #[inline]
    fn blocked(&mut self, _: At, _: SetIndex) {}

    #[inline]
    fn spent(&mut self, _: At, spends: &[(Slot, Spending)]) {
        self.out.spends.extend_from_slice(spends);
    }

    #[inline]
    fn answered(&mut self, _: At, answers: &mut Vec<(Slot, Option<LineData>)>) {
        core::mem::swap(&mut self.out.replies, answers);
    }
}

impl<P: Protocol> Fabric for Stations<P> {
    fn stations(&self) -> Vec<StationInfo> {
        let ids = self.nodes.ids();
        let info = |(at, id): (usize, &proto::NodeId)| StationInfo {
            name: self.nodes.name(at as At),
            level: id.kind,
            index: u32::from(id.index),
        };
        ids.iter().enumerate().map(info).collect()
    }

    fn levels(&self) -> Vec<LevelInfo> {
        let height = |kind: u8| {
            let down = core::iter::successors(Some(kind), |&kind| self.nodes.level(kind).below);
            down.take(P::KINDS.len()).count() as u32 - 1
        };
        let info = |(kind, declared): (u8, &proto::Kind)| {
            let level = self.nodes.level(kind);
            LevelInfo {
                name: level.name.clone(),
                per: level.per,
                count: u32::from(level.count),
                has_lines: declared.has_lines,
                miss_registers: level.array.miss_registers,
                height: height(kind),
                beside: level.beside.clone(),
                like: level.like.clone(),
            }
        };
        (0..).zip(P::KINDS).map(info).collect()
    }

    fn entry(&self, agent: Agent, key: PlanKey) -> Result<StationId, String> {
        self.nodes.entry(agent, key)
    }

    fn homes(&self) -> &Homes {
        self.nodes.world().homes
    }

    fn touch(&mut self, line: LineAddr, chiplet: u16) {
        self.nodes.homes_mut().touch(line, chiplet);
    }

    fn is_clocked(&self) -> bool {
        P::CLOCKED
    }

    fn add_kernel(&mut self, uses: &[ArrayUse]) {
        self.nodes.add_kernel(uses);
    }

    #[inline]
    fn hit(&mut self, to: StationId, load: &Load) -> Option<(&[u8], bool)> {
        if !self.skips_hits {
            return None;
        }
        let hit = self.stations[to as usize].node.hit(load, self.nodes.world().homes)?;
        self.fx.coverage.fire(hit.row.table, usize::from(hit.row.row));
        self.uses += 1;
        self.recency[to as usize].touch(hit.way, self.uses);
        Some((hit.bytes, hit.is_dirty))
    }

    fn request(&mut self, to: StationId, slot: Slot, request: &Request, out: &mut StepEffects) {
        self.deliver_input(to, &StationInput::Request { slot, request }, out);
    }

    fn deliver(&mut self, to: StationId, message: MessageId, out: &mut StepEffects) {
        let Some(mut boxed) = self.messages.take(message) else {
            out.violation = Some("a message was delivered twice".to_owned());
            return;
        };
        let (from, msg) = &mut *boxed;
        if P::CLOCKED {
            let elapsed = self.clocks[to as usize] - self.sent[message as usize];
            msg.age(i32::try_from(elapsed).unwrap_or(i32::MAX));
        }
        self.deliver_input(to, &StationInput::Message { from: *from, msg }, out);
        self.messages.give_back(boxed);
    }

    fn drop_message(&mut self, message: MessageId) {
        self.messages.take(message);
    }

    fn memory(&mut self, to: StationId, reply: &MemoryReply, sent: i64, out: &mut StepEffects) {
        if !P::CLOCKED {
            return self.deliver_input(to, &StationInput::Memory { reply }, out);
        }
        let mut reply = *reply;
        let elapsed = self.clocks[to as usize] - sent;
        let elapsed = i32::try_from(elapsed).unwrap_or(i32::MAX);
        self.stations[to as usize].node.age_tag(&mut reply.op.tag, elapsed);
        self.deliver_input(to, &StationInput::Memory { reply: &reply }, out);
    }

    fn start(&mut self, to: StationId, out: &mut StepEffects) {
        self.deliver_input(to, &StationInput::Start, out);
    }

    fn timer(&mut self, to: StationId, class: TimerClass, out: &mut StepEffects) {
        self.deliver_input(to, &StationInput::Timer(class), out);
    }

    fn tick(&mut self, to: StationId, elapsed: u32, out: &mut StepEffects) {
        self.clocks[to as usize] += i64::from(elapsed);
        self.deliver_input(to, &StationInput::Tick(elapsed), out);
    }

    fn clock(&self, at: StationId) -> i64 {
        self.clocks[at as usize]
    }

    fn deadline(&self, at: StationId) -> Option<u32> {
        self.stations[at as usize].next_deadline()
    }

    fn lines(&self, at: StationId, out: &mut Vec<LineView>) {
        self.stations[at as usize].node.lines(out);
    }

    fn conditions(&self, at: StationId, out: &mut Vec<Condition>) {
        self.stations[at as usize].node.conditions(out);
    }

    fn parked(&self, at: StationId) -> Vec<Parked> {
        let station = &self.stations[at as usize];
        let mut parked = Vec::new();
        for (key, slot) in station.parked_requests() {
            parked.push(Parked::Request { key: format!("{key:?}"), slot });
        }
        for (line, slot) in station.waiting_requests() {
            parked.push(Parked::Waiting { line, slot });
        }
        for (key, from, msg) in station.parked_messages() {
            let sender = self.nodes.position(from).map_or_else(|| "?".to_owned(), |at| self.nodes.name(at));
            let (key, name, line) = (format!("{key:?}"), msg.name(), msg.line());
            parked.push(Parked::Message { key, from: sender, name, line });
        }
        parked
    }

    fn coverage(&self) -> &Coverage {
        &self.fx.coverage
    }

    fn hold_ways(&mut self, held: bool) {
        self.holds_ways = held;
    }

    fn sort_ways(&mut self) {
        self.stations.iter_mut().for_each(|station| station.node.canonicalize());
    }

    fn ways(&mut self, at: StationId) -> Ways {
        let station = &mut self.stations[at as usize];
        let is_needed = station.parked_keys().iter().any(|(key, _)| matches!(key, Key::Way(_)));
        self.victims.clear();
        let shape = self.nodes.level(station.id().kind).array;
        for set in (0..shape.sets.max(1)).map(SetIndex) {
            station.node.victims(set, &mut self.victims);
        }
        let victims = self.victims.iter().map(|(way, _)| *way).collect();
        let unrest = station.check_at_rest(shape.sets, shape.policy != WritePolicy::Combining);
        Ways { is_needed, victims, unrest }
    }

    fn limit_ways(&mut self, at: StationId, ways: u32) -> bool {
        self.stations[at as usize].node.limit_ways(ways)
    }

    fn victim(&mut self, at: StationId) -> Option<Way> {
        let station = &self.stations[at as usize];
        let sets = self.nodes.level(station.id().kind).array.sets;
        self.victims.clear();
        for set in (0..sets).map(SetIndex) {
            station.node.victims(set, &mut self.victims);
            if !self.victims.is_empty() {
                break;
            }
        }
        self.victims.first().map(|(way, _)| *way)
    }

    fn fault(&self, at: StationId) -> Option<String> {
        self.stations[at as usize].check_after_step(self.nodes.world())
    }

    fn evict(&mut self, to: StationId, way: Way, out: &mut StepEffects) {
        self.deliver_input(to, &StationInput::Evict(way), out);
    }

    fn hosts(&self) -> Hosts {
        P::INFO.hosts
    }

    fn host_copy(
        &mut self,
        to: Addr,
        bytes: &[u8],
        array: ArrayId,
        memory: &mut Memory,
    ) -> Result<Vec<(StationId, TimerClass)>, String> {
        let written = copy::write(self, (to, bytes), array, memory);
        written.map_err(|why| format!("while the host copies an array: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(ways: &[(u32, u8)]) -> Vec<(Way, Rank)> {
        ways.iter().map(|&(way, rank)| (Way(way), Rank(rank))).collect()
    }

    #[test]
    fn the_least_recently_used_tag_is_evicted_way_by_way() {
        let evicted = |victims: &[(u32, u8)], last_use: &[u64]| {
            let occupied: Vec<Way> = victims.iter().map(|&(way, _)| Way(way)).collect();
            let victims = ways(victims);
            (first_of_tag(&victims, &occupied, last_use, 1), least_recently_used(&victims, last_use))
        };
        // Way 0 is the oldest one, but the other way of its tag was used last.
        let last_use = [1, 9, 3, 4, 2, 8];
        let all = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)];
        assert_eq!(evicted(&all, &last_use), (Some(Way(2)), Some(Way(0))));
        assert_eq!(evicted(&all[3..], &last_use), (Some(Way(3)), Some(Way(4))));
        // A line that has left counts no more, even if its eviction touched its way.
        assert_eq!(evicted(&[(3, 0), (4, 0), (5, 0)], &[1, 9, 99, 4, 2, 8]).0, Some(Way(3)));
        // A tag with a way of a higher rank is evicted after the others.
        assert_eq!(evicted(&[(0, 0), (2, 0), (3, 1)], &last_use).0, Some(Way(0)));
        assert_eq!(evicted(&[], &last_use), (None, None));
    }

    #[test]
    fn a_tag_is_evicted_only_if_all_its_lines_can_leave() {
        let occupied = [0, 1, 3, 4, 5].map(Way);
        let chosen = |victims: &[(u32, u8)]| first_of_tag(&ways(victims), &occupied, &[1, 1, 0, 3, 2, 2], 1);
        assert_eq!(chosen(&[(0, 0), (1, 0), (3, 0), (4, 0), (5, 0)]), Some(Way(0)));
        // Way 1 is not a victim, then way 5 is not one either.
        assert_eq!(chosen(&[(0, 0), (3, 0), (4, 0), (5, 0)]), Some(Way(4)));
        assert_eq!(chosen(&[(0, 0), (3, 0), (4, 0)]), Some(Way(3)));
        assert_eq!(chosen(&[(0, 0), (4, 0)]), None);
    }
}
