//! Real stations in a small machine, driven in an order that a seed decides.

use proto::{
    Agent, ByteMask, Effects, Key, LineAddr, LineData, LineView, MemoryOp, MemoryReply, Message as _,
    Node as _, Op, PlanKey, Protocol, Request, RowView, Setup, Slot, Spending, Station, Symbol, TableView,
    TimerClass, Topology, Uses, World, WritePolicy,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zoo::parts::FIRST;

/// Compute units: who asks, where the variable may have been, and another one.
pub(crate) const CUS: u16 = 3;

/// What a node was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Request,
    Message(&'static str, Option<LineAddr>),
    Memory(LineAddr),
    Timer,
}

/// One step of a node, as seen from outside.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) level: &'static str,
    /// Which one of its kind.
    pub(crate) index: u16,
    pub(crate) told: Told,
    /// The actions of the rows that it has fired, row by row.
    pub(crate) rows: Vec<Vec<&'static str>>,
    pub(crate) uses: Uses,
    /// On what requests spend their time from now on.
    pub(crate) spends: Vec<(Slot, Spending)>,
    /// Its lines before and after.
    pub(crate) before: Vec<LineView>,
    pub(crate) after: Vec<LineView>,
}

/// The machine.
pub(crate) struct Bench<P: Protocol> {
    setup: Setup<P>,
    tables: Vec<TableView>,
    stations: Vec<Station<P>>,
    channels: BTreeMap<(usize, usize), VecDeque<P::Msg>>,
    asked: VecDeque<(usize, MemoryOp)>,
    memory: BTreeMap<LineAddr, LineData>,
    timers: BTreeSet<(usize, usize)>,
    answered: BTreeSet<Slot>,
    draws: u64,
}

enum Move {
    Deliver(usize, usize),
    Memory,
    Timer(usize, usize),
}

impl<P: Protocol> Bench<P> {
    pub(crate) fn new(seed: u64) -> Self {
        let bounded = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
        let topology = Topology { cus: CUS, ..bounded }
            .with_array("l1", |l1| (l1.ways, l1.store_buffer_entries, l1.miss_registers) = (8, 8, 8))
            .with_array("l2", |l2| l2.ways = 8);
        let setup = Setup::new(&topology).expect("a bounded machine is sound");
        Bench {
            tables: P::tables(),
            stations: setup.stations(),
            setup,
            channels: BTreeMap::new(),
            asked: VecDeque::new(),
            memory: BTreeMap::new(),
            timers: BTreeSet::new(),
            answered: BTreeSet::new(),
            draws: seed,
        }
    }

    fn node(&self, id: proto::NodeId) -> usize {
        self.stations.iter().position(|s| s.id() == id).expect("a node of the machine")
    }

    /// The L1 of a compute unit.
    fn first(&self, cu: u16) -> usize {
        self.node(proto::NodeId { kind: FIRST, index: cu })
    }

    fn level(&self, node: usize) -> &'static str {
        P::KINDS[usize::from(self.stations[node].id().kind)].level
    }

    fn draw(&mut self, below: usize) -> usize {
        self.draws =
            self.draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.draws >> 33) as usize % below
    }

    /// The lines of a node.
    fn lines(&self, node: usize) -> Vec<LineView> {
        let mut lines = Vec::new();
        self.stations[node].node.lines(&mut lines);
        lines
    }

    /// The lines of the L1 of a compute unit.
    pub(crate) fn lines_of(&self, cu: u16) -> Vec<LineView> {
        self.lines(self.first(cu))
    }

    /// The bytes of a line as the L2 or memory has them.
    pub(crate) fn below(&self, line: LineAddr) -> LineData {
        let mut data = self.memory.get(&line).copied().unwrap_or_default();
        for node in (0..self.stations.len()).filter(|&n| self.level(n) == "l2") {
            for view in self.lines(node).iter().filter(|view| view.line == line) {
                data.merge(&view.data, view.valid);
            }
        }
        data
    }

    /// Would the L1 of a compute unit hold a read-modify-write of its own
    /// work-group back, for no reason of the line?
    pub(crate) fn holds_back(&self, cu: u16, request: &Request) -> bool {
        let node = self.first(cu);
        let world = self.setup.world();
        let mut station = self.stations[node].clone();
        let mut fx = Effects::default();
        station.request(Slot(u32::MAX), request, world, &mut fx);
        let mut requests = station.parked_requests();
        requests.any(|(key, slot)| slot == Slot(u32::MAX) && matches!(key, Key::Other(_)))
    }

    /// Carries a step of a node out and says what was seen.
    fn step(
        &mut self,
        node: usize,
        told: Told,
        act: impl FnOnce(&mut Station<P>, World<'_, P>, &mut Effects<P::Msg>),
    ) -> Seen {
        let before = self.lines(node);
        let mut fx = Effects::default();
        let world = self.setup.world();
        act(&mut self.stations[node], world, &mut fx);
        assert_eq!(fx.violation, None, "{}", P::INFO.name);
        assert!(fx.needs.is_empty(), "there is room for every line");
        for (to, msg) in fx.sends.drain(..) {
            let to = self.node(to);
            self.channels.entry((node, to)).or_default().push_back(msg);
        }
        self.asked.extend(fx.memory.drain(..).map(|op| (node, op)));
        self.timers.extend(fx.timers.drain(..).map(|class| (node, class.index())));
        self.answered.extend(fx.replies.drain(..).map(|(slot, _)| slot));
        let mut rows = Vec::new();
        for table in &self.tables {
            for (index, row) in table.rows.iter().enumerate() {
                if let (RowView::Do(actions, ..), 1..) = (row, fx.coverage.count(table.id, index)) {
                    rows.push(actions.clone());
                }
            }
        }
        let (level, index) = (self.level(node), self.stations[node].id().index);
        Seen { level, index, told, rows, uses: fx.uses, spends: fx.spends, before, after: self.lines(node) }
    }

    /// Presents a request at the L1 of a compute unit.
    pub(crate) fn ask(&mut self, cu: u16, slot: Slot, request: &Request) -> Seen {
        let node = self.node(P::entry(&self.setup.params, Agent::Cu(cu), PlanKey::of(request)));
        self.step(node, Told::Request, |station, world, fx| station.request(slot, request, world, fx))
    }

    /// One of the things that can happen next; nothing if all is at rest.
    pub(crate) fn go_on(&mut self) -> Option<Seen> {
        self.channels.retain(|_, sent| !sent.is_empty());
        let mut moves: Vec<Move> = self.channels.keys().map(|&(from, to)| Move::Deliver(from, to)).collect();
        moves.extend(self.timers.iter().map(|&(node, class)| Move::Timer(node, class)));
        moves.extend(self.asked.front().map(|_| Move::Memory));
        if moves.is_empty() {
            return None;
        }
        let at = self.draw(moves.len());
        Some(match moves.swap_remove(at) {
            Move::Deliver(from, to) => {
                let msg = self.channels.get_mut(&(from, to)).and_then(VecDeque::pop_front)?;
                let told = Told::Message(msg.name(), msg.line());
                let from = self.stations[from].id();
                self.step(to, told, |station, world, fx| station.message(from, &msg, world, fx))
            }
            Move::Timer(node, class) => {
                self.timers.remove(&(node, class));
                let class = TimerClass::ALL[class];
                self.step(node, Told::Timer, |station, world, fx| station.timer(class, world, fx))
            }
            Move::Memory => {
                let (node, op) = self.asked.pop_front()?;
                let reply = MemoryReply { op, data: self.serve(op) };
                self.step(node, Told::Memory(op.line), |station, world, fx| station.memory(&reply, world, fx))
            }
        })
    }

    fn serve(&mut self, op: MemoryOp) -> LineData {
        let line = self.memory.entry(op.line).or_default();
        op.access.perform(line)
    }

    /// Does something and waits until all is at rest; nobody looks.
    pub(crate) fn prepare(&mut self, cu: u16, slot: Slot, request: &Request) {
        self.ask(cu, slot, request);
        while self.go_on().is_some() {}
        assert!(self.is_answered(slot), "{}: {request:?}", P::INFO.name);
    }

    pub(crate) fn is_answered(&self, slot: Slot) -> bool {
        self.answered.contains(&slot)
    }
}

/// An access of the first word of a line.
pub(crate) fn access(line: LineAddr, op: Op, value: u32) -> Request {
    let mut data = LineData::default();
    data.write(0, proto::Width::W4, u64::from(value));
    Request {
        op,
        order: proto::Order::Plain,
        scope: proto::Scope::DEVICE,
        issuer: proto::Issuer::default(),
        hints: proto::Hints::default(),
        array: proto::ArrayId(0),
        line,
        mask: ByteMask::range(0, 4),
        data,
    }
}
