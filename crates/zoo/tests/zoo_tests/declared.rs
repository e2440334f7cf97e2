//! Tests of two declarations of tables: the states in which a cache owns its line, and the states
//! that no stored line has. Further tests check that impossible inputs and actions are reported.

use drive::{Machine, Nodes, Record, StationInput};
use proto::{
    ArrayId, ByteMask, Change, Hints, Homes, Issuer, LineAddr, LineData, MemoryReply, NodeId, Op, Order,
    Protocol, Request, RowView, Scope, SeededFault, Slot, Station, Symbol, Table, Topology, WritePolicy,
};
use zoo::Visit;
use zoo::hlrc::published::{Hlrc, Msg};
use zoo::hlrc::{BankTable, L1Table, LineEvent, LineState};
use zoo::parts::{AccessSite, Answer, ToBank as Shared};
use zoo::registration::{BankEvent, BankState, ToBank, ToL1};

const L1: NodeId = NodeId { kind: 0, index: 0 };
const BANK: NodeId = NodeId { kind: 1, index: 0 };
const LINE: LineAddr = LineAddr(0);

/// One station (a controller with its parked inputs) of hLRC. A test gives inputs to the station.
struct SingleStation {
    machine: Machine<Hlrc>,
    id: NodeId,
}

impl SingleStation {
    fn new(id: NodeId, seeded_fault: Option<SeededFault>) -> SingleStation {
        let topology = Topology::bounded(WritePolicy::Through, WritePolicy::Through);
        let nodes =
            Nodes::new(&topology, Homes::new(&topology, 1), seeded_fault).expect("a machine for hLRC");
        SingleStation { machine: Machine::new(nodes), id }
    }

    fn station(&self) -> &Station<Hlrc> {
        self.machine.station(self.machine.nodes().position(self.id).expect("a node of the machine"))
    }

    fn deliver(&mut self, input: StationInput<&Request, &Msg, &MemoryReply>) -> Result<Record<Hlrc>, String> {
        let at = self.machine.nodes().position(self.id).expect("a node of the machine");
        self.machine.record(at, &input)
    }

    /// Delivers a message that another node has sent.
    fn message(&mut self, from: NodeId, msg: &Msg) -> Result<Record<Hlrc>, String> {
        let from = self.machine.nodes().position(from).expect("a node of the machine");
        self.deliver(StationInput::Message { from, msg })
    }

    fn request(&mut self, op: Op, order: Order) -> Result<Record<Hlrc>, String> {
        let mask = ByteMask::range(0, 4);
        let (hints, array, issuer) = (Hints::default(), ArrayId(0), Issuer::default());
        let (line, data, scope) = (LINE, LineData::default(), Scope::work_group(0));
        let request = Request { op, order, scope, issuer, hints, array, line, mask, data };
        self.deliver(StationInput::Request { slot: Slot(0), request: &request })
    }
}

/// The seeded fault that leaves one action out of the table row for a state and an event.
fn without<T: Table>(state: T::State, event: T::Event, action: &str) -> Option<SeededFault> {
    let row = state.index() * T::Event::ALL.len() + event.index();
    let proto::Row::Do { actions, .. } = T::row(state, event) else { panic!("the row does nothing") };
    let at = actions.iter().position(|a| a.name() == action).expect("an action of the row");
    Some(SeededFault { table: T::ID, change: Change::DropAction { row: row as u16, action: at as u8 } })
}

#[test]
fn no_row_has_a_next_state_that_is_never_stored() {
    #[derive(Clone, Copy)]
    struct Declared;
    impl Visit for Declared {
        type Output = usize;
        fn visit<P: Protocol>(self) -> usize {
            let mut declared = 0;
            for table in P::tables() {
                for row in &table.rows {
                    let RowView::Do(_, Some(next), _) = row else { continue };
                    let state = table.states[*next].0;
                    assert!(!table.never_stored.contains(next), "{}: {}: {state}", P::INFO.name, table.name);
                }
                declared += table.never_stored.len();
            }
            declared
        }
    }
    for info in zoo::ALL {
        // Each row of their tables is for the stored state of a line.
        let declares = !["moesi", "rfo"].contains(&info.name);
        assert_eq!(zoo::with(info.name, Declared).expect("a protocol") > 0, declares, "{}", info.name);
    }
}

#[test]
fn only_owners_may_keep_dirty_bytes_under_a_write_through_policy() {
    let mut l1 = SingleStation::new(L1, None);
    l1.request(Op::Store, Order::Plain).expect("a row for it");
    assert!(l1.station().is_quiet(), "the written line only waits for its timer");
    let why = l1.station().check_at_rest(1, true).expect("the policy writes dirty bytes out");
    assert!(why.contains("dirty bytes"), "{why}");
    assert_eq!(l1.station().check_at_rest(1, false), None);

    let mut bank = SingleStation::new(BANK, None);
    let (mask, data) = (ByteMask::range(0, 4), LineData::default());
    register(&mut bank);
    let back = Msg::Bank(ToBank::Return { line: LINE, mask, data, whole: false });
    bank.message(L1, &back).expect("a row for it");
    let mut views = Vec::new();
    proto::Node::lines(&bank.station().node, &mut views);
    assert!(views.iter().any(|view| view.owns && !view.dirty.is_empty()), "{views:?}");
    assert_eq!(
        bank.station().check_at_rest(1, true),
        None,
        "bytes of a returned registration stay in the bank"
    );
}

/// Makes a bank register an L1 for the line `LINE`.
fn register(bank: &mut SingleStation) {
    let msg = Msg::Bank(ToBank::Register { line: LINE, mask: ByteMask::range(0, 4), slot: Some(Slot(0)) });
    let fetch = bank.message(L1, &msg).expect("a row for it");
    let reply = MemoryReply { op: fetch.memory[0], data: LineData::default() };
    let record = bank.deliver(StationInput::Memory { reply: &reply }).expect("a row for it");
    let l1 = bank.machine.nodes().position(L1);
    assert!(record.sends.iter().any(|(to, msg)| Some(*to) == l1 && proto::Message::name(msg) == "Grant"));
}

#[test]
fn the_return_of_a_registration_without_an_owner_is_reported() {
    let mut bank = SingleStation::new(BANK, without::<BankTable>(BankState::V, BankEvent::Register, "Own"));
    register(&mut bank);
    let (mask, data) = (ByteMask::NONE, LineData::default());
    let back = Msg::Bank(ToBank::Return { line: LINE, mask, data, whole: false });
    let why = bank.message(L1, &back).expect_err("no cache is registered");
    assert_eq!(why, "L2[0]: no first-level cache is registered for the line");
}

#[test]
fn a_count_below_zero_is_reported() {
    let lost = without::<L1Table>(LineState::I, LineEvent::Sync, "SendRegister");
    let mut l1 = SingleStation::new(L1, lost);
    l1.request(Op::Load, Order::Acquire).expect("a row for it");
    let (mask, data) = (ByteMask::range(0, 4), LineData::default());
    let grant = Msg::L1(ToL1::Grant { line: LINE, mask, slot: Some(Slot(0)), data });
    let why = l1.message(BANK, &grant).expect_err("no fill is under way");
    assert_eq!(why, "L1[0]: a fill ends, but no fill was under way");
}

#[test]
fn a_posted_access_to_a_registered_line_is_reported() {
    let mut bank = SingleStation::new(BANK, None);
    register(&mut bank);
    let (mask, data, other) = (ByteMask::range(0, 4), LineData::default(), NodeId { kind: 0, index: 1 });
    let (op, site, answer) = (Op::Store, AccessSite::Anywhere, Answer::Posted { parity: false });
    let posted =
        Msg::Bank(Shared::Access { line: LINE, mask, data, op, site, answer, requester: other }.into());
    let why = bank.message(other, &posted).expect_err("no row forwards it");
    assert_eq!(why, "L2[0]: a posted write is not forwarded");
}
