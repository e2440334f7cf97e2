//! The protocol's stations, behind an interface that names no protocol.
//!
//! Everything else in this crate is compiled once; this file is compiled once
//! a protocol. It steps stations, keeps the messages under way, and makes the
//! choices that a station leaves to its environment without regard to time:
//! which way is given up (the least recently used of the lowest rank).

use proto::{
    Agent, ArrayUse, Coverage, Effects, Key, LineData, LineView, MemoryOp, MemoryReply, Message, Mutation,
    Node, NodeId, Per, PlanKey, Protocol, Rank, Request, SetIndex, Settings, Setup, Slot, Spending, Station,
    TimerClass, Topology, Uses, Way, World, WritePolicy,
};

/// The number of a station in the order of the protocol's kinds.
pub(crate) type StationId = u32;

/// The number of a message under way.
pub(crate) type MessageId = u32;

/// A message that a step sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) to: StationId,
    pub(crate) message: MessageId,
    pub(crate) name: &'static str,
    pub(crate) payload_bytes: u32,
    pub(crate) line: Option<proto::LineAddr>,
    pub(crate) is_access: bool,
}

/// What a step did, without the protocol's types.
#[derive(Debug, Default)]
pub(crate) struct Out {
    pub(crate) sends: Vec<Sent>,
    pub(crate) replies: Vec<(Slot, Option<LineData>)>,
    pub(crate) memory: Vec<MemoryOp>,
    pub(crate) timers: Vec<TimerClass>,
    pub(crate) uses: Uses,
    pub(crate) spends: Vec<(Slot, Spending)>,
    pub(crate) violation: Option<String>,
}

/// Where a station stands in its protocol.
#[derive(Clone, Debug)]
pub(crate) struct StationInfo {
    /// For example `L2[3]`.
    pub(crate) name: String,
    /// The number of its level.
    pub(crate) level: u8,
    /// Which one of its kind.
    pub(crate) index: u32,
}

/// A level at which a protocol has stations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelInfo {
    /// Its name on the machine: `l2`.
    pub(crate) name: String,
    /// What there are `count` stations for in all.
    pub(crate) per: Per,
    pub(crate) count: u32,
    /// Do the stations keep lines?
    pub(crate) has_lines: bool,
    /// How many lines may be under way at each, if it keeps lines.
    pub(crate) miss_registers: u32,
    /// How many levels stand between it and memory.
    pub(crate) height: u32,
}

impl LevelInfo {
    /// Do several compute units share a station, which keeps lines?
    pub(crate) fn is_bank(&self) -> bool {
        self.has_lines && matches!(self.per, Per::Chiplet | Per::Machine)
    }
}

/// Something that is parked at a station, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parked {
    /// A request that is presented again when the key is woken.
    Request { key: String, slot: Slot },
    /// A request that waits for the fill of its line.
    Waiting { line: proto::LineAddr, slot: Slot },
    /// A message that is presented again when the key is woken.
    Message { key: String, from: String, name: &'static str, line: Option<proto::LineAddr> },
}

/// The stations of one protocol.
pub(crate) trait Fabric {
    /// All stations; their numbers are their positions.
    fn stations(&self) -> Vec<StationInfo>;
    /// The levels of the stations, by number.
    fn levels(&self) -> Vec<LevelInfo>;
    /// Where an agent's requests go.
    fn entry(&self, agent: Agent, key: PlanKey) -> StationId;
    /// Does any controller look at clock ticks?
    fn is_clocked(&self) -> bool;
    /// Tells the protocol which arrays a kernel uses. Kernels come in order.
    fn add_kernel(&mut self, uses: &[ArrayUse]);
    /// Presents a request.
    fn request(&mut self, to: StationId, slot: Slot, request: &Request, out: &mut Out);
    /// Delivers a message that was sent.
    fn deliver(&mut self, to: StationId, message: MessageId, out: &mut Out);
    /// Forgets a message that was sent.
    fn drop_message(&mut self, message: MessageId);
    /// Delivers memory's answer.
    fn memory(&mut self, to: StationId, reply: &MemoryReply, out: &mut Out);
    /// Gives a station its first input.
    fn start(&mut self, to: StationId, out: &mut Out);
    /// A timer has run out.
    fn timer(&mut self, to: StationId, class: TimerClass, out: &mut Out);
    /// Time has passed.
    fn tick(&mut self, to: StationId, elapsed: u32, out: &mut Out);
    /// The lines that a station holds.
    fn lines(&self, at: StationId, out: &mut Vec<LineView>);
    /// What is parked at a station.
    fn parked(&self, at: StationId) -> Vec<Parked>;
    /// How often each row fired.
    fn coverage(&self) -> &Coverage;
    /// From now on somebody else says which ways are given up, with
    /// [`Fabric::evict`]; or nobody else any more.
    fn hold_ways(&mut self, held: bool);
    /// What whoever says so has to know of a station, whose ways are sorted by
    /// their lines for it.
    fn ways(&mut self, at: StationId) -> Ways;
    /// Gives up a way.
    fn evict(&mut self, to: StationId, way: Way, out: &mut Out);
}

/// The ways of the one set of a station.
#[derive(Debug)]
pub(crate) struct Ways {
    /// Does anybody wait for one?
    pub(crate) is_needed: bool,
    /// Those that could be given up.
    pub(crate) victims: Vec<Way>,
    /// What is not as it must be when everything is over.
    pub(crate) unrest: Option<String>,
}

/// [`Fabric`] for one protocol.
pub(crate) struct Stations<P: Protocol> {
    setup: Setup<P>,
    kernels: Vec<Vec<ArrayUse>>,
    mutation: Option<Mutation>,
    stations: Vec<Station<P>>,
    /// The first station of each kind.
    first_of_kind: Vec<StationId>,
    recency: Vec<Recency>,
    fx: Effects<P::Msg>,
    messages: Vec<Option<(NodeId, P::Msg)>>,
    free_messages: Vec<MessageId>,
    victims: Vec<(Way, Rank)>,
    uses: u64,
    line_bytes: u32,
    /// Does somebody else say which ways are given up?
    holds_ways: bool,
}

/// When each way of a station was last used.
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

/// Evictions that free no way, again and again, are a fault of the protocol.
const EVICTIONS_PER_INPUT_MAX: u32 = 1 << 16;

impl<P: Protocol> Stations<P> {
    /// The stations of a machine, before anything happened.
    ///
    /// # Errors
    /// What of the machine this protocol cannot use.
    pub(crate) fn new(
        topology: &Topology,
        settings: &Settings,
        lines_per_page: u64,
        mutation: Option<Mutation>,
    ) -> Result<Self, String> {
        let setup = Setup::with(topology, settings, lines_per_page)?;
        let stations = setup.stations();
        let counts = (0..P::KINDS.len() as u8).map(|kind| StationId::from(setup.levels.of(kind).count));
        let first_of_kind = counts
            .scan(0, |next, count| {
                *next += count;
                Some(*next - count)
            })
            .collect();
        let recency = stations.iter().map(|_| Recency::default()).collect();
        Ok(Stations {
            setup,
            kernels: Vec::new(),
            mutation,
            stations,
            first_of_kind,
            recency,
            fx: Effects::default(),
            messages: Vec::new(),
            free_messages: Vec::new(),
            victims: Vec::new(),
            uses: 0,
            line_bytes: u32::from(topology.line_bytes),
            holds_ways: false,
        })
    }

    #[inline]
    fn number(&self, node: NodeId) -> StationId {
        self.first_of_kind[usize::from(node.kind)] + StationId::from(node.index)
    }

    fn name(node: NodeId) -> String {
        let kind = P::KINDS.get(usize::from(node.kind)).map_or("?", |kind| kind.name);
        format!("{kind}[{}]", node.index)
    }

    /// Steps a station and hands out what it did.
    #[inline]
    fn step(
        &mut self,
        at: StationId,
        out: &mut Out,
        input: impl FnOnce(&mut Station<P>, World<'_, P>, &mut Effects<P::Msg>, &mut Chooser<'_>),
    ) {
        let world = World { kernels: &self.kernels, mutation: self.mutation, ..self.setup.world() };
        let station = &mut self.stations[at as usize];
        self.fx.clear();
        let recency = &mut self.recency[at as usize];
        let holds = self.holds_ways;
        let mut chooser = Chooser { recency, victims: &mut self.victims, uses: &mut self.uses, holds };
        input(station, world, &mut self.fx, &mut chooser);
        chooser.touch(&self.fx.touches);
        self.fx.touches.clear();
        if !self.fx.needs.is_empty() {
            make_room(station, world, &mut self.fx, &mut chooser);
        }
        self.hand_out(out, station_node(&self.stations[at as usize]));
    }

    #[inline]
    fn hand_out(&mut self, out: &mut Out, from: NodeId) {
        if !self.fx.sends.is_empty() {
            let mut sends = core::mem::take(&mut self.fx.sends);
            for (to, msg) in sends.drain(..) {
                let to = self.number(to);
                let (name, payload_bytes) = (msg.name(), msg.payload_bytes(self.line_bytes));
                let (line, is_access) = (msg.line(), msg.is_access());
                let message = match self.free_messages.pop() {
                    Some(id) => {
                        self.messages[id as usize] = Some((from, msg));
                        id
                    }
                    None => {
                        self.messages.push(Some((from, msg)));
                        (self.messages.len() - 1) as MessageId
                    }
                };
                out.sends.push(Sent { to, message, name, payload_bytes, line, is_access });
            }
            self.fx.sends = sends;
        }
        // Whoever reads `out` empties it, so that nothing old comes back.
        debug_assert!(out.replies.is_empty() && out.memory.is_empty() && out.timers.is_empty());
        if !self.fx.replies.is_empty() {
            core::mem::swap(&mut out.replies, &mut self.fx.replies);
        }
        if !self.fx.memory.is_empty() {
            core::mem::swap(&mut out.memory, &mut self.fx.memory);
        }
        if !self.fx.timers.is_empty() {
            core::mem::swap(&mut out.timers, &mut self.fx.timers);
        }
        if !self.fx.spends.is_empty() {
            core::mem::swap(&mut out.spends, &mut self.fx.spends);
        }
        out.uses = self.fx.uses;
        if self.fx.violation.is_some() {
            out.violation = self.fx.violation.take();
        }
    }
}

#[inline]
fn station_node<P: Protocol>(station: &Station<P>) -> NodeId {
    station.id()
}

/// Chooses the ways that a station gives up.
struct Chooser<'a> {
    recency: &'a mut Recency,
    victims: &'a mut Vec<(Way, Rank)>,
    uses: &'a mut u64,
    /// Is that for somebody else to say?
    holds: bool,
}

impl Chooser<'_> {
    #[inline]
    fn touch(&mut self, ways: &[Way]) {
        if !ways.is_empty() {
            *self.uses += 1;
            for &way in ways {
                self.recency.touch(way, *self.uses);
            }
        }
    }

    /// Of the ways that may go, the least recently used of the lowest rank.
    fn choose<P: Protocol>(&mut self, node: &P::Node, set: SetIndex, touched: &[Way]) -> Option<Way> {
        self.touch(touched);
        if self.holds {
            return None;
        }
        self.victims.clear();
        node.victims(set, self.victims);
        // Uses are counted, and no run counts to 2^56.
        let last_use = self.recency.last_use.as_slice();
        let mut best = (u64::MAX, None);
        for &(way, Rank(rank)) in self.victims.iter() {
            let used = last_use.get(way.0 as usize).copied().unwrap_or(0);
            let key = u64::from(rank) << 56 | used;
            if key < best.0 {
                best = (key, Some(way));
            }
        }
        best.1
    }
}

/// Gives up ways where inputs are parked for one. Without a victim an input
/// stays parked until a way comes free.
fn make_room<P: Protocol>(
    station: &mut Station<P>,
    world: World<'_, P>,
    fx: &mut Effects<P::Msg>,
    chooser: &mut Chooser<'_>,
) {
    let mut evictions = 0;
    let mut needs = Vec::new();
    while !fx.needs.is_empty() && fx.violation.is_none() {
        needs.append(&mut fx.needs);
        for set in needs.drain(..) {
            let Some(way) = chooser.choose::<P>(&station.node, set, &fx.touches) else { continue };
            fx.touches.clear();
            evictions += 1;
            station.evict(way, world, fx);
        }
        if evictions > EVICTIONS_PER_INPUT_MAX {
            let name = Stations::<P>::name(station.id());
            fx.violation = Some(format!("{name}: evictions free no way"));
        }
    }
    fx.needs.clear();
    chooser.touch(&fx.touches);
    fx.touches.clear();
}

impl<P: Protocol> Fabric for Stations<P> {
    fn stations(&self) -> Vec<StationInfo> {
        let info = |station: &Station<P>| {
            let id = station.id();
            StationInfo { name: Self::name(id), level: id.kind, index: u32::from(id.index) }
        };
        self.stations.iter().map(info).collect()
    }

    fn levels(&self) -> Vec<LevelInfo> {
        let height = |kind: u8| {
            let down = core::iter::successors(Some(kind), |&kind| self.setup.levels.of(kind).below);
            down.take(P::KINDS.len()).count() as u32 - 1
        };
        let info = |(kind, declared): (u8, &proto::Kind)| {
            let level = self.setup.levels.of(kind);
            LevelInfo {
                name: level.name.clone(),
                per: level.per,
                count: u32::from(level.count),
                has_lines: declared.has_lines,
                miss_registers: level.array.miss_registers,
                height: height(kind),
            }
        };
        (0..).zip(P::KINDS).map(info).collect()
    }

    fn entry(&self, agent: Agent, key: PlanKey) -> StationId {
        self.number(P::entry(&self.setup.params, agent, key))
    }

    fn is_clocked(&self) -> bool {
        P::CLOCKED
    }

    fn add_kernel(&mut self, uses: &[ArrayUse]) {
        self.kernels.push(uses.to_vec());
    }

    fn request(&mut self, to: StationId, slot: Slot, request: &Request, out: &mut Out) {
        self.step(to, out, |station, world, fx, chooser| {
            station.request_choosing(slot, request, world, fx, |node, set, touched| {
                chooser.choose::<P>(node, set, touched)
            });
        });
    }

    fn deliver(&mut self, to: StationId, message: MessageId, out: &mut Out) {
        let Some((from, msg)) = self.messages[message as usize].take() else {
            out.violation = Some("a message was delivered twice".to_owned());
            return;
        };
        self.free_messages.push(message);
        self.step(to, out, |station, world, fx, chooser| {
            station.message_choosing(from, &msg, world, fx, |node, set, touched| {
                chooser.choose::<P>(node, set, touched)
            });
        });
    }

    fn drop_message(&mut self, message: MessageId) {
        self.messages[message as usize] = None;
        self.free_messages.push(message);
    }

    fn memory(&mut self, to: StationId, reply: &MemoryReply, out: &mut Out) {
        self.step(to, out, |station, world, fx, _| station.memory(reply, world, fx));
    }

    fn start(&mut self, to: StationId, out: &mut Out) {
        self.step(to, out, |station, world, fx, _| station.start(world, fx));
    }

    fn timer(&mut self, to: StationId, class: TimerClass, out: &mut Out) {
        self.step(to, out, |station, world, fx, _| station.timer(class, world, fx));
    }

    fn tick(&mut self, to: StationId, elapsed: u32, out: &mut Out) {
        self.step(to, out, |station, world, fx, _| station.tick(elapsed, world, fx));
    }

    fn lines(&self, at: StationId, out: &mut Vec<LineView>) {
        self.stations[at as usize].node.lines(out);
    }

    fn parked(&self, at: StationId) -> Vec<Parked> {
        let station = &self.stations[at as usize];
        let requests =
            station.parked_requests().map(|(key, slot)| Parked::Request { key: format!("{key:?}"), slot });
        let waiting = station.waiting_requests().map(|(line, slot)| Parked::Waiting { line, slot });
        let messages = station.parked_messages().map(|(key, from, msg)| Parked::Message {
            key: format!("{key:?}"),
            from: Self::name(from),
            name: msg.name(),
            line: msg.line(),
        });
        requests.chain(waiting).chain(messages).collect()
    }

    fn coverage(&self) -> &Coverage {
        &self.fx.coverage
    }

    fn hold_ways(&mut self, held: bool) {
        self.holds_ways = held;
    }

    fn ways(&mut self, at: StationId) -> Ways {
        let station = &mut self.stations[at as usize];
        station.node.canonicalize();
        let is_needed = station.parked_keys().any(|(key, _)| matches!(key, Key::Way(_)));
        self.victims.clear();
        station.node.victims(SetIndex(0), &mut self.victims);
        let victims = self.victims.iter().map(|(way, _)| *way).collect();
        let policy = self.setup.levels.of(station.id().kind).array.policy;
        let unrest = station.unrest(policy != WritePolicy::Combining);
        Ways { is_needed, victims, unrest }
    }

    fn evict(&mut self, to: StationId, way: Way, out: &mut Out) {
        self.step(to, out, |station, world, fx, _| station.evict(way, world, fx));
    }
}
