//! Tests of an L2 bank of temporal coherence, to which a test delivers messages one by one. A lease
//! has two ticks, as on the machines that the explorer checks.

use drive::{At, Machine, Nodes, Record, StationInput};
use proto::{
    Agent, ByteMask, Homes, LineAddr, LineData, MemoryOp, MemoryReply, NodeId, Op, PlanKey, SetIndex, Slot,
    Topology, WritePolicy,
};
use zoo::parts::{self, AccessSite, Answer, BANK, FIRST};
use zoo::tc::strong::Msg;
use zoo::tc::{TcStrong, ToBank, ToL1};

const LINE: LineAddr = LineAddr(0);

/// A bank of a machine with two compute units, driven by a test.
struct Bank {
    machine: Machine<TcStrong>,
    at: At,
}

/// The message that an L1 sends to the bank to store a word.
fn store(cu: u16, site: AccessSite) -> Msg {
    let mut data = LineData::default();
    data.0[0] = 7;
    let (mask, requester) = (ByteMask::range(0, 4), NodeId { kind: FIRST, index: cu });
    let answer = Answer::Request(Slot(u32::from(cu)));
    Msg::from(parts::ToBank::Access { line: LINE, mask, data, op: Op::Store, site, answer, requester })
}

impl Bank {
    fn new() -> Bank {
        let topology = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
        let nodes =
            Nodes::new(&topology, Homes::new(&topology, 1), None).expect("a bounded machine is sound");
        let at = nodes.position(NodeId { kind: BANK, index: 0 }).expect("there is a bank");
        Bank { machine: Machine::new(nodes), at }
    }

    /// A bank that holds the line `LINE`. Compute unit 0 has a lease for this line.
    fn leased() -> Bank {
        let mut bank = Bank::new();
        let record = bank.receive(0, &Msg::from(ToBank::Get { line: LINE }));
        let [op] = record.memory[..] else { panic!("the bank fetches the line: {:?}", record.memory) };
        assert_eq!(bank.fill(op), ["Leased to 0, 2 ticks"]);
        bank
    }

    fn cu(&self, cu: u16) -> At {
        self.machine.nodes().entry(Agent::Cu(cu), PlanKey::PLAIN_LOAD).expect("every agent has an entry")
    }

    fn receive(&mut self, cu: u16, msg: &Msg) -> Record<TcStrong> {
        let from = self.cu(cu);
        self.machine.record(self.at, &StationInput::Message { from, msg }).expect("no rule is violated")
    }

    /// The answers to a message.
    fn deliver(&mut self, cu: u16, msg: &Msg) -> Vec<String> {
        let record = self.receive(cu, msg);
        self.answers(&record)
    }

    fn fill(&mut self, op: MemoryOp) -> Vec<String> {
        let reply = MemoryReply { op, data: LineData::default() };
        let record = self.machine.record(self.at, &StationInput::Memory { reply: &reply });
        self.answers(&record.expect("no rule is violated"))
    }

    /// Lets ticks pass. Returns what the bank then answers.
    fn pass(&mut self, ticks: u32) -> Vec<String> {
        let record = self.machine.record(self.at, &StationInput::Tick(ticks));
        self.answers(&record.expect("no rule is violated"))
    }

    fn answers(&self, record: &Record<TcStrong>) -> Vec<String> {
        let (first, second) = (self.cu(0), self.cu(1));
        let text = |(to, msg): &(At, Msg)| {
            let to = if *to == first { 0 } else { u32::from(*to == second) };
            match *msg {
                Msg::L1(ToL1::Leased { lease, .. }) => format!("Leased to {to}, {lease} ticks"),
                Msg::L1(ToL1::Performed { older_copies, .. }) => {
                    format!("Performed to {to}, older copies for {older_copies} ticks")
                }
                Msg::L1(ToL1::Bank(ref msg)) => format!("{} to {to}", proto::Message::name(msg)),
                ref msg => format!("{} to {to}", proto::Message::name(msg)),
            }
        };
        record.sends.iter().map(text).collect()
    }

    fn victims(&self) -> usize {
        let mut ways = Vec::new();
        proto::Node::<TcStrong>::victims(&self.machine.station(self.at).node, SetIndex(0), &mut ways);
        ways.len()
    }
}

#[test]
fn a_write_waits_for_the_lease_of_another_compute_unit() {
    let mut bank = Bank::leased();
    assert!(bank.deliver(1, &store(1, AccessSite::Unregistered)).is_empty());
    assert_eq!(bank.machine.station(bank.at).next_deadline(), Some(2));
    assert!(bank.pass(1).is_empty());
    assert_eq!(bank.pass(1), ["Done to 1"]);
}

#[test]
fn a_compute_unit_that_alone_has_a_lease_writes_at_once() {
    let mut bank = Bank::leased();
    assert_eq!(bank.deliver(0, &store(0, AccessSite::Unregistered)), ["Done to 0"]);
    // Its lease is over, so the other one does not wait either.
    assert_eq!(bank.deliver(1, &store(1, AccessSite::Unregistered)), ["Done to 1"]);
}

#[test]
fn a_compute_unit_waits_if_others_have_a_lease_too() {
    let mut bank = Bank::leased();
    assert_eq!(bank.pass(1), Vec::<String>::new());
    assert_eq!(bank.deliver(1, &Msg::from(ToBank::Get { line: LINE })), ["Leased to 1, 2 ticks"]);
    assert!(bank.deliver(0, &store(0, AccessSite::Unregistered)).is_empty());
    assert!(bank.pass(1).is_empty(), "the lease of the other one still runs");
    assert_eq!(bank.pass(1), ["Done to 0"]);
}

#[test]
fn no_lease_is_given_while_a_write_waits() {
    let mut bank = Bank::leased();
    assert!(bank.deliver(1, &store(1, AccessSite::Unregistered)).is_empty());
    assert!(bank.deliver(0, &Msg::from(ToBank::Get { line: LINE })).is_empty());
    // The write comes first, and the load gets its bytes.
    assert_eq!(bank.pass(2), ["Done to 1", "Leased to 0, 2 ticks"]);
}

#[test]
fn a_write_that_does_not_wait_says_when_older_copies_end() {
    let mut bank = Bank::leased();
    let answer = bank.deliver(1, &store(1, AccessSite::Here));
    assert_eq!(answer, ["Performed to 1, older copies for 2 ticks"]);
    let answer = bank.deliver(0, &store(0, AccessSite::Here));
    assert_eq!(answer, ["Performed to 0, older copies for 0 ticks"]);
}

#[test]
fn a_leased_line_is_no_victim() {
    let mut bank = Bank::leased();
    assert_eq!(bank.victims(), 0);
    bank.pass(2);
    assert_eq!(bank.victims(), 1);
}

#[test]
fn a_wait_for_leases_ends_with_the_leases_that_ran_at_its_beginning() {
    let wait = Msg::from(ToBank::AwaitLeases { slot: Slot(3) });
    assert_eq!(Bank::new().deliver(1, &wait), ["LeasesEnded to 1"]);
    let mut bank = Bank::leased();
    assert!(bank.deliver(1, &wait).is_empty());
    bank.pass(1);
    assert_eq!(bank.deliver(0, &Msg::from(ToBank::Get { line: LINE })), ["Leased to 0, 2 ticks"]);
    assert_eq!(bank.pass(1), ["LeasesEnded to 1"], "the second lease began later");
}

#[test]
fn a_timestamp_has_four_bytes() {
    let bytes = |msg: Msg| proto::Message::payload_bytes(&msg, 64);
    let data = LineData::default();
    assert_eq!(bytes(ToBank::Get { line: LINE }.into()), 4);
    assert_eq!(bytes(ToL1::Leased { line: LINE, data, lease: 1 }.into()), 68);
    assert_eq!(bytes(ToL1::Performed { slot: Slot(0), bytes: 4, data, older_copies: 1 }.into()), 8);
}
