//! Leases in logical time: the writes of `rcc` and `g-tsc-repaired` are atomic, although copies with
//! older bytes remain readable. In the weak form of `rcc`, loads and writes have separate times. It
//! keeps all claims except `sc`.

use explore::claim::Claim;
use explore::verify::{self, Machines, Options, Status, Test};
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject, corpus};
use proto::issue::IssueRule;
use proto::parts::Host;
use proto::{
    Agent, Claim as Claimed, Info, Kind, Levels, NodeId, PlanKey, Protocol, Setting, Settings, WritePolicy,
};
use proto::{PlansView, TableView, protocol_nodes};
use zoo::lease::{
    Bank, GTscRepaired, L1, Params, Rcc, RccRepaired, Rollover, ToBank, ToL1, ToRollover, long, short,
};
use zoo::parts;

/// The claims of `rcc` with the setting `weak = 1`: those of `rcc` without `sc`.
const CLAIMS: &[Claimed] = &{
    let [drf, _, hrf, opencl, ptx] = Rcc::INFO.claims else { panic!("`rcc` has five claims") };
    [*drf, *hrf, *opencl, *ptx]
};

/// `rcc` with the setting `weak = 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weak;

protocol_nodes! { Weak: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host), Rollover(Rollover, ToRollover) }

impl From<parts::ToL1> for Msg {
    fn from(msg: parts::ToL1) -> Self {
        Msg::L1(msg.into())
    }
}

impl From<parts::ToBank> for Msg {
    fn from(msg: parts::ToBank) -> Self {
        Msg::Bank(msg.into())
    }
}

impl Protocol for Weak {
    type Node = Node;
    type Msg = Msg;
    type Params = Params;

    const INFO: Info = Info { name: "weak-rcc", claims: CLAIMS, ..Rcc::INFO };
    const KINDS: &'static [Kind] = Rcc::KINDS;
    const SETTINGS: &'static [Setting] = Rcc::SETTINGS;
    const EXPLORED: &'static [(&'static str, u64)] = &[("timestamp_bits", 2), ("lease", 1), ("weak", 1)];

    fn params(levels: &Levels, settings: &Settings) -> Result<Params, String> {
        Rcc::params(levels, settings)
    }

    fn node(id: NodeId, levels: &Levels, params: &Params) -> Node {
        match id.kind {
            parts::FIRST => Node::L1(L1::new(levels.of(id.kind), params)),
            parts::BANK => Node::Bank(Bank::new(levels.of(id.kind), params)),
            parts::HOST => Node::Host(Host),
            _ => Node::Rollover(Rollover::default()),
        }
    }

    fn entry(params: &Params, agent: Agent, key: PlanKey) -> NodeId {
        Rcc::entry(params, agent, key)
    }

    fn tables() -> Vec<TableView> {
        Rcc::tables()
    }

    fn plans() -> Vec<PlansView> {
        Rcc::plans()
    }
}

/// A program in which each thread writes one word and then reads the word that the other thread
/// writes. Each thread also reads that word first, so its cache may have a copy of the word.
const BUFFERING: &str = "OPENCL buffering
{ }

P0@wg 0, dev 0 (global int* x, global int* y) {
  int r0 = *y;
  *x = 1;
  int r1 = *y;
}

P1@wg 1, dev 0 (global int* x, global int* y) {
  int r0 = *x;
  *y = 1;
  int r1 = *x;
}

forall (0:r1=1 \\/ 1:r1=1)
";

/// A program in which a thread passes a message on to a last reader. The last reader may have a
/// copy of `x` from before the store to `x`.
const PASSED_ON: &str = "OPENCL passed-on
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* f) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
  atomic_store_explicit(f, r0, memory_order_seq_cst, memory_scope_device);
}

P2@wg 2, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
  int r1 = atomic_load_explicit(f, memory_order_seq_cst, memory_scope_device);
  int r2 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}

forall (2:r1=0 \\/ 2:r2=1)
";

const BOUNDS: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

/// A program in which a thread polls a word until another thread has written it twice.
const POLLED: &str = "OPENCL polled
{ }

P0@wg 0, dev 0 (global atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(x, 2, memory_order_relaxed, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x) {
  await(x == 2, memory_order_relaxed, memory_scope_device);
}

forall (x=2)
";

fn explore<P: Protocol>(text: &str, bounds: Bounds) -> Exploration {
    let test = Test::read("test", text).expect("it is a test");
    let program = &*test.program();
    let claim = Claim::of("sc").expect("a known model");
    let promise = claim.promise(program, &mut || false).expect("the model covers it");
    let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: false };
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let placement = Placement::spread(program);
    explorer.explore(program, &placement, &requirements, &mut Limits::default()).expect("supported")
}

fn fault<P: Protocol>(text: &str) -> Option<Fault> {
    fault_within::<P>(text, BOUNDS)
}

fn fault_within<P: Protocol>(text: &str, bounds: Bounds) -> Option<Fault> {
    let found = explore::<P>(text, bounds);
    assert_eq!(found.incomplete, None);
    found.violation.map(|violation| violation.fault)
}

#[test]
fn writes_are_atomic_in_logical_time() {
    for text in [BUFFERING, PASSED_ON] {
        assert_eq!(fault::<Rcc>(text), None);
        assert_eq!(fault::<GTscRepaired>(text), None);
    }
    assert_eq!(fault::<Weak>(BUFFERING), Some(Fault::Outcome));
    assert_eq!(fault::<Weak>(PASSED_ON), None);
}

/// A program in which a thread loads a word again and again while another thread updates it.
const LOADED: &str = "OPENCL loaded
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* f) {
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(f, 1, memory_order_relaxed, memory_scope_device);
}

P1@wg 1, dev 0 (global int* x, global atomic_int* f) {
  while (!atomic_load_explicit(f, memory_order_relaxed, memory_scope_device)) { int r0 = *x; }
}

exists (f=1)
";

/// A program in which a thread updates a word at device scope while another thread updates it again
/// and again at system scope.
const UPDATED: &str = "OPENCL updated
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(f, 1, memory_order_relaxed, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* f) {
  while (!atomic_load_explicit(f, memory_order_relaxed, memory_scope_device)) {
    int r0 = atomic_exchange_explicit(x, 2, memory_order_relaxed, memory_scope_all_svm_devices);
  }
}

exists (f=1)
";

/// Searches a program for a run that never ends, whatever its threads read.
fn endless<P: Protocol>(text: &str) -> Option<Fault> {
    let test = Test::read("test", text).expect("it is a test");
    let program = &*test.program();
    let requirements = Requirements { allowed: None, may_block: false };
    let mut explorer = Explorer::new(&Subject::of::<P>(), BOUNDS.evicting().in_full(), None);
    let placement = Placement::spread(program);
    let found = explorer.explore(program, &placement, &requirements, &mut Limits::default());
    let found = found.expect("supported");
    assert_eq!(found.incomplete, None);
    found.violation.map(|violation| violation.fault)
}

#[test]
fn only_a_write_reaches_the_largest_timestamp() {
    assert_eq!(endless::<short::Rcc>(LOADED), Some(Fault::Livelock));
    assert_eq!(endless::<short::LacksSpare>(LOADED), Some(Fault::Livelock));
    assert_eq!(endless::<short::RccRepaired>(LOADED), None);
}

#[test]
fn an_access_at_system_scope_does_not_pass_one_that_waits_for_a_fetch() {
    assert_eq!(endless::<short::LacksTurns>(UPDATED), Some(Fault::Livelock));
    assert_eq!(endless::<short::RccRepaired>(UPDATED), None);
    assert_eq!(endless::<short::GTscRepaired>(UPDATED), None);
}

#[test]
fn a_request_that_is_under_way_during_a_rollover_loses_its_old_time() {
    for bounds in [BOUNDS.evicting(), BOUNDS.evicting().in_full()] {
        assert_eq!(fault_within::<short::Rcc>(POLLED, bounds), Some(Fault::Livelock));
        assert_eq!(fault_within::<short::LacksEpochs>(POLLED, bounds), Some(Fault::Livelock));
        assert_eq!(fault_within::<short::RccRepaired>(POLLED, bounds), None);
        assert_eq!(fault_within::<RccRepaired>(POLLED, bounds), None);
    }
}

/// The stores of P0 displace the lines of its loads, which both begin at the largest timestamp.
const DISPLACED: &str = "OPENCL displaced
{ [y] = 0; [x] = 0; [z] = 0; [w] = 0; }

P0@wg 0, dev 0 (global int* x, global atomic_int* y, global int* z, global int* w) {
  int r0 = *x;
  int r1 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
  *z = 1;
  *w = 1;
}

P1@wg 0, dev 0 (global atomic_int* y) {
  atomic_fetch_add_explicit(y, 1, memory_order_relaxed, memory_scope_device);
  atomic_fetch_add_explicit(y, 1, memory_order_relaxed, memory_scope_device);
  atomic_fetch_add_explicit(y, 1, memory_order_relaxed, memory_scope_device);
}

exists (y=3)
";

#[test]
fn a_request_that_waits_during_two_rollovers_does_not_get_its_old_time_back() {
    let bounds = BOUNDS.tight().core(IssueRule::Gpu);
    assert_eq!(fault_within::<short::LacksVoids>(DISPLACED, bounds), Some(Fault::Livelock));
    assert_eq!(fault_within::<short::RccRepaired>(DISPLACED, bounds), None);
}

/// The maximum number of threads of the programs for whole claims.
const THREADS_MAX: usize = 2;

/// Verifies the claims of a protocol on the shipped programs of these folders.
fn keeps_its_claims(subject: &Subject, folders: &[&str]) {
    let mut tests = corpus::shipped().expect("they are tests");
    tests.retain(|test| folders.iter().any(|folder| test.name.starts_with(folder)));
    tests.retain(|test| test.program().threads.len() <= THREADS_MAX);
    tests.iter_mut().for_each(|test| test.machines = Machines::InTurn);
    let options = Options::new(verify::machines_of(&subject.info));
    let found = verify::verify(subject, &tests, &options).expect("known models");
    assert!(found.findings.is_empty(), "{:?}", found.findings.first());
    assert!(found.complete, "{:?}", found.gaps);
    assert!(found.claims.iter().all(|(_, status)| *status == Status::Verified), "{:?}", found.claims);
}

#[test]
fn the_weak_form_keeps_its_claims() {
    keeps_its_claims(&Subject::of::<Weak>(), &["hrf/", "opencl/", "ptx/"]);
    assert!(CLAIMS.iter().all(|claim| claim.model != "sc"));
}

#[test]
fn the_repaired_protocol_keeps_its_claims_with_timestamps_of_one_bit() {
    keeps_its_claims(&Subject::of::<short::RccRepaired>(), &["hrf/", "opencl/", "ptx/"]);
}

/// P0 loads x again after its lease has ended. P1 then writes x at a time after this load, when its
/// lease of y has ended.
const RENEWED: &str = "OPENCL renewed
{ }

P0@wg 0, dev 0 (global int* x, global int* y) {
  int r0 = *x;
  *y = 1;
  int r1 = *x;
}

P1@wg 1, dev 0 (global int* x, global int* y, global int* z) {
  *z = 1;
  int r0 = *y;
  *x = 1;
  int r1 = *y;
}

exists (0:r1=0 /\\ 1:r1=0)
";

/// With timestamps of two bits, as in other explorations, no time is late enough.
#[test]
fn a_renewal_extends_the_lease_also_at_the_bank() {
    let subject = Subject::of::<long::RccRepaired>();
    let name = "A line in an L2 bank: Renew in V, without Lease";
    let options = Options { mutants: Some(name), ..Options::new(vec![BOUNDS]) };
    let test = Test::read("renewed", RENEWED).expect("a litmus test");
    let verification = verify::verify(&subject, &[test], &options).expect("known models");
    assert!(!verification.is_refuted());
    let mutants = verification.mutants.expect("seeded");
    assert_eq!(mutants.killed.iter().map(|(killed, _)| killed.as_str()).collect::<Vec<_>>(), [name]);
}
