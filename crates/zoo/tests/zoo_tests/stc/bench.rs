//! A machine for the tests of the STC protocols, which moves step by step.

use drive::{At, Machine, Nodes, StationInput};
use proto::{
    Agent, ByteMask, Condition, Homes, LineAddr, LineData, LineView, MemoryOp, Node as _, NodeId, Op, Order,
    PlanKey, Protocol, Request, Scope, Settings, Setup, Slot, TimerClass, Topology, Width, WritePolicy,
};
use std::collections::{BTreeMap, VecDeque};

/// The node of the epoch management unit.
const EMU: NodeId = NodeId { kind: 3, index: 0 };

/// A machine with three compute units and eight epochs. In each epoch, one band of lines may be
/// written. Line `n` belongs to band `n` modulo 8.
pub(super) struct Bench<P: Protocol> {
    machine: Machine<P>,
    sent: VecDeque<(At, At, P::Msg)>,
    memory: VecDeque<(At, MemoryOp)>,
    /// Whether the timer of the epoch management unit runs.
    is_armed: bool,
    answers: BTreeMap<Slot, Option<LineData>>,
    requests: u32,
}

impl<P: Protocol> Bench<P> {
    pub(super) fn new() -> Self {
        let bounded = Topology::bounded(WritePolicy::Through, WritePolicy::Combining);
        let topology = Topology { cus: 3, ..bounded }
            .with_array("l1", |l1| (l1.ways, l1.store_buffer_entries, l1.miss_registers) = (8, 8, 8))
            .with_array("l2", |l2| l2.ways = 8);
        let settings = Settings::explored::<P>().with("epoch_bits", 3).with("blocked_stores", 8);
        let setup = Setup::with(&topology, &settings, Homes::new(&topology, 1)).unwrap();
        let mut bench = Bench {
            machine: Machine::new(Nodes::with(&topology, setup, None)),
            sent: VecDeque::new(),
            memory: VecDeque::new(),
            is_armed: false,
            answers: BTreeMap::new(),
            requests: 0,
        };
        for at in 0..bench.machine.nodes().ids().len() as At {
            bench.step(at, &StationInput::Start);
        }
        bench
    }

    fn step(&mut self, at: At, input: &StationInput<&Request, &P::Msg, &proto::MemoryReply>) {
        let record = self.machine.record(at, input).unwrap();
        assert!(record.needs.is_empty(), "there is a way for every line");
        self.sent.extend(record.sends.into_iter().map(|(to, msg)| (at, to, msg)));
        self.memory.extend(record.memory.into_iter().map(|op| (at, op)));
        self.is_armed |= record.timers.contains(&TimerClass::Epoch);
        self.answers.extend(record.replies);
    }

    /// Delivers the oldest message or, without a message, the oldest reply of memory. Returns whether
    /// there was one.
    pub(super) fn step_once(&mut self) -> bool {
        if let Some((from, to, msg)) = self.sent.pop_front() {
            self.step(to, &StationInput::Message { from, msg: &msg });
        } else if let Some((at, op)) = self.memory.pop_front() {
            let reply = self.machine.serve(&op);
            self.step(at, &StationInput::Memory { reply: &reply });
        } else {
            return false;
        }
        true
    }

    /// Delivers all messages and replies, in the order in which they were sent.
    pub(super) fn rest(&mut self) {
        while self.step_once() {}
    }

    fn l1(&self, cu: u16) -> At {
        self.machine.nodes().entry(Agent::Cu(cu), PlanKey::PLAIN_LOAD).unwrap()
    }

    fn emu(&self) -> At {
        self.machine.nodes().position(EMU).expect("a machine has an epoch management unit")
    }

    /// Makes a request for the first word of a line, and delivers no message. Returns the slot of the
    /// request.
    pub(super) fn post(&mut self, cu: u16, line: LineAddr, op: Op, order: Order) -> Slot {
        let mut data = LineData::default();
        data.write(0, Width::W4, 1);
        let request = Request {
            op,
            order,
            scope: Scope::DEVICE,
            issuer: proto::Issuer::default(),
            hints: proto::Hints::default(),
            array: proto::ArrayId(0),
            line,
            mask: ByteMask::range(0, 4),
            data,
        };
        self.requests += 1;
        let slot = Slot(self.requests);
        self.step(self.l1(cu), &StationInput::Request { slot, request: &request });
        slot
    }

    /// Stores to the first word of a line, and delivers all messages. Returns the slot of the store.
    pub(super) fn store(&mut self, cu: u16, line: LineAddr, order: Order) -> Slot {
        let slot = self.post(cu, line, Op::Store, order);
        self.rest();
        slot
    }

    /// Loads the first word of a line, and delivers all messages. Returns the loaded value.
    pub(super) fn load(&mut self, cu: u16, line: LineAddr, order: Order) -> u64 {
        let slot = self.post(cu, line, Op::Load, order);
        self.rest();
        let answer = self.answers.remove(&slot).expect("a load is answered at once");
        answer.expect("the answer has bytes").read(0, Width::W4)
    }

    /// Whether a store is complete.
    pub(super) fn is_complete(&self, store: Slot) -> bool {
        self.answers.contains_key(&store)
    }

    /// Lets the timer of the epoch management unit expire, so that it begins a change of epochs.
    /// Delivers no message.
    pub(super) fn wake(&mut self) {
        assert!(core::mem::take(&mut self.is_armed), "the epoch management unit has its timer");
        self.step(self.emu(), &StationInput::Timer(TimerClass::Epoch));
    }

    /// Lets the epoch management unit change the epochs (and thus the bands of lines that may be
    /// written), if it has an epoch to grant.
    pub(super) fn change(&mut self) {
        self.wake();
        self.rest();
    }

    /// The numbers of the epochs (times in which one band of lines each may be written) in force, as
    /// time lines show them.
    pub(super) fn epochs(&self) -> String {
        let mut all: Vec<Condition> = Vec::new();
        self.machine.station(self.emu()).node.conditions(&mut all);
        let epochs = all.into_iter().find(|condition| condition.track == "epochs");
        let text = epochs.expect("no change of epochs is under way").text;
        let (epochs, _) = text.split_once(';').expect("the text also has the size of bands");
        epochs.trim_start_matches("epochs ").trim_start_matches("epoch ").to_owned()
    }

    /// The lines in the L1 of a compute unit.
    pub(super) fn lines(&self, cu: u16) -> Vec<LineView> {
        let mut lines = Vec::new();
        self.machine.station(self.l1(cu)).node.lines(&mut lines);
        lines.sort_by_key(|view| view.line.0);
        lines
    }
}
