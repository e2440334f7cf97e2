//! A small machine for tests. Its stations (controllers with their parked inputs) receive messages
//! and other inputs in an order that a seed selects.

use drive::{At, Nodes, StationInput};
use proto::{
    Agent, ByteMask, Coverage, Effects, Homes, Key, LineAddr, LineData, LineView, MemoryOp, Message as _,
    Node as _, Op, PlanKey, Protocol, Request, RowView, Slot, Spending, TableView, TimerClass, Topology,
    Uses, WritePolicy,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The number of compute units: the requester, a unit whose L1 may have used the accessed variable
/// before, and one further unit.
pub(crate) const CUS: u16 = 3;

/// The kind of input that a step processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepInput {
    Request,
    Message(&'static str, Option<LineAddr>),
    Memory(LineAddr),
    Timer,
}

/// One step of a node, with the effects that a test can observe.
#[derive(Clone, Debug)]
pub(crate) struct ObservedStep {
    pub(crate) level: &'static str,
    /// The index of the node among the nodes of its kind.
    pub(crate) index: u16,
    pub(crate) input: StepInput,
    /// The actions of the table rows that this step carried out, one list for each row.
    pub(crate) rows: Vec<Vec<&'static str>>,
    pub(crate) uses: Uses,
    /// The changes of attribution in this step: from now on, the time of the request in this slot
    /// counts as this part of the request (the access, the acquire or the release).
    pub(crate) spends: Vec<(Slot, Spending)>,
    /// The lines of the node before and after the step (`before`, `after`).
    pub(crate) before: Vec<LineView>,
    pub(crate) after: Vec<LineView>,
}

/// A small machine with the stations (controllers with their parked inputs) of a protocol.
pub(crate) struct Bench<P: Protocol> {
    machine: drive::Machine<P>,
    tables: Vec<TableView>,
    channels: BTreeMap<(At, At), VecDeque<P::Msg>>,
    memory: VecDeque<(At, MemoryOp)>,
    timers: BTreeSet<(At, TimerClass)>,
    answered: BTreeSet<Slot>,
    draws: u64,
}

enum Move {
    Deliver(At, At),
    Memory,
    Timer(At, TimerClass),
}

impl<P: Protocol> Bench<P> {
    pub(crate) fn new(seed: u64) -> Self {
        let bounded = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
        let topology = Topology { cus: CUS, ..bounded }
            .with_array("l1", |l1| (l1.ways, l1.store_buffer_entries, l1.miss_registers) = (8, 8, 8))
            .with_array("l2", |l2| l2.ways = 8);
        let nodes =
            Nodes::new(&topology, Homes::new(&topology, 1), None).expect("a bounded machine is sound");
        Bench {
            machine: drive::Machine::new(nodes),
            tables: P::tables(),
            channels: BTreeMap::new(),
            memory: VecDeque::new(),
            timers: BTreeSet::new(),
            answered: BTreeSet::new(),
            draws: seed,
        }
    }

    fn entry(&self, cu: u16) -> At {
        self.machine.nodes().entry(Agent::Cu(cu), PlanKey::PLAIN_LOAD).expect("every agent has an entry")
    }

    fn level(&self, node: At) -> &'static str {
        P::KINDS[usize::from(self.machine.station(node).id().kind)].level
    }

    fn draw(&mut self, below: usize) -> usize {
        self.draws =
            self.draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.draws >> 33) as usize % below
    }

    /// The lines that a node holds.
    fn lines(&self, node: At) -> Vec<LineView> {
        let mut lines = Vec::new();
        self.machine.station(node).node.lines(&mut lines);
        lines
    }

    /// The lines of the L1 of a compute unit.
    pub(crate) fn lines_of(&self, cu: u16) -> Vec<LineView> {
        self.lines(self.entry(cu))
    }

    /// The bytes of a line in the L2, or in memory if the L2 does not hold the line.
    pub(crate) fn below(&self, line: LineAddr) -> LineData {
        let mut data = self.machine.line(line);
        let nodes = 0..self.machine.nodes().ids().len() as At;
        for node in nodes.filter(|&n| self.level(n) == "l2") {
            for view in self.lines(node).iter().filter(|view| view.line == line) {
                data.merge(&view.data, view.valid);
            }
        }
        data
    }

    /// Whether the L1 of a compute unit would hold back `request`, a read-modify-write of its own
    /// work-group, for a reason that does not depend on the line, such as a lock.
    pub(crate) fn holds_back(&self, cu: u16, request: &Request) -> bool {
        let mut station = self.machine.station(self.entry(cu)).clone();
        station.request(Slot(u32::MAX), request, self.machine.nodes().world(), &mut Effects::default());
        let requests = station.parked_requests();
        requests.iter().any(|(key, slot)| *slot == Slot(u32::MAX) && matches!(key, Key::Other(_)))
    }

    /// Gives an input to a node. Returns the observed step of the node.
    fn step(
        &mut self,
        node: At,
        input: StepInput,
        station_input: StationInput<&Request, &P::Msg, &proto::MemoryReply>,
    ) -> ObservedStep {
        let before = self.lines(node);
        self.machine.effects().coverage = Coverage::default();
        let record = self.machine.record(node, &station_input);
        let record = record.unwrap_or_else(|why| panic!("{}: {why}", P::INFO.name));
        assert!(record.needs.is_empty(), "there is a way for every line");
        for (to, msg) in record.sends {
            self.channels.entry((node, to)).or_default().push_back(msg);
        }
        self.memory.extend(record.memory.into_iter().map(|op| (node, op)));
        self.timers.extend(record.timers.into_iter().map(|class| (node, class)));
        self.answered.extend(record.replies.into_iter().map(|(slot, _)| slot));
        let coverage = &self.machine.effects().coverage;
        let mut rows = Vec::new();
        for table in &self.tables {
            for (index, row) in table.rows.iter().enumerate() {
                if let (RowView::Do(actions, ..), 1..) = (row, coverage.count(table.id, index)) {
                    rows.push(actions.clone());
                }
            }
        }
        let (level, index) = (self.level(node), self.machine.station(node).id().index);
        let (uses, spends) = (record.uses, record.spends);
        ObservedStep { level, index, input, rows, uses, spends, before, after: self.lines(node) }
    }

    /// Presents a request at the L1 of a compute unit. Returns the observed step.
    pub(crate) fn ask(&mut self, cu: u16, slot: Slot, request: &Request) -> ObservedStep {
        self.step(self.entry(cu), StepInput::Request, StationInput::Request { slot, request })
    }

    /// Delivers one of the waiting inputs (a message, a reply of memory or the expiry of a timer);
    /// the seed selects which one. Returns the observed step, or `None` if no input waits.
    pub(crate) fn next_step(&mut self) -> Option<ObservedStep> {
        self.channels.retain(|_, sent| !sent.is_empty());
        let mut moves: Vec<Move> = self.channels.keys().map(|&(from, to)| Move::Deliver(from, to)).collect();
        moves.extend(self.timers.iter().map(|&(node, class)| Move::Timer(node, class)));
        moves.extend(self.memory.front().map(|_| Move::Memory));
        if moves.is_empty() {
            return None;
        }
        let at = self.draw(moves.len());
        Some(match moves.swap_remove(at) {
            Move::Deliver(from, to) => {
                let msg = self.channels.get_mut(&(from, to)).and_then(VecDeque::pop_front)?;
                let input = StepInput::Message(msg.name(), msg.line());
                self.step(to, input, StationInput::Message { from, msg: &msg })
            }
            Move::Timer(node, class) => {
                self.timers.remove(&(node, class));
                self.step(node, StepInput::Timer, StationInput::Timer(class))
            }
            Move::Memory => {
                let (node, op) = self.memory.pop_front()?;
                let reply = self.machine.serve(&op);
                self.step(node, StepInput::Memory(op.line), StationInput::Memory { reply: &reply })
            }
        })
    }

    /// Makes a request and runs until the machine is quiet, without observing the steps.
    pub(crate) fn prepare(&mut self, cu: u16, slot: Slot, request: &Request) {
        self.ask(cu, slot, request);
        while self.next_step().is_some() {}
        assert!(self.is_answered(slot), "{}: {request:?}", P::INFO.name);
    }

    pub(crate) fn is_answered(&self, slot: Slot) -> bool {
        self.answered.contains(&slot)
    }
}

/// An access to the first word of a line.
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
