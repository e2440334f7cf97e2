//! Leases in logical time: the writes of `rcc` and `g-tsc-repaired` are atomic, although copies with
//! older bytes remain readable. In the weak form of `rcc`, loads and writes have separate times. It
//! keeps all claims except `sc`.

use explore::claim::Claim;
use explore::verify::{self, Machines, Options, Status, Test, Verification};
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject, corpus};
use proto::parts::Host;
use proto::{
    Agent, Claim as Claimed, Info, Kind, Levels, NodeId, PlanKey, Protocol, Setting, Settings, WritePolicy,
};
use proto::{PlansView, TableView, protocol_nodes};
use zoo::lease::{Bank, GTscRepaired, L1, Params, Rcc, Rollover, ToBank, ToL1, ToRollover};
use zoo::parts;

/// The claims of `rcc` with the setting `weak = 1`: those of `rcc` without `sc`.
const CLAIMS: &[Claimed] = &{
    let [drf, _, hrf, opencl, ptx] = Rcc::INFO.claims else { panic!("`rcc` has five claims") };
    [*drf, *hrf, *opencl, *ptx]
};

/// Generates a protocol that is `$base` with other settings in explorations, and with the given claims.
macro_rules! with_settings {
    ($(#[doc = $doc:literal])+ $module:ident::$protocol:ident, $base:ty, $name:literal, $claims:expr, $explored:expr) => {
        $(#[doc = $doc])+
        pub mod $module {
            use super::*;

            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $protocol;

            protocol_nodes! {
                $protocol: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host), Rollover(Rollover, ToRollover)
            }

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

            impl Protocol for $protocol {
                type Node = Node;
                type Msg = Msg;
                type Params = Params;

                const INFO: Info = Info { name: $name, claims: $claims, ..<$base>::INFO };
                const KINDS: &'static [Kind] = <$base>::KINDS;
                const SETTINGS: &'static [Setting] = <$base>::SETTINGS;
                const EXPLORED: &'static [(&'static str, u64)] = $explored;

                fn params(levels: &Levels, settings: &Settings) -> Result<Params, String> {
                    <$base>::params(levels, settings)
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
                    <$base>::entry(params, agent, key)
                }

                fn tables() -> Vec<TableView> {
                    <$base>::tables()
                }

                fn plans() -> Vec<PlansView> {
                    <$base>::plans()
                }
            }
        }
        pub use $module::$protocol;
    };
}

with_settings! {
    /// `rcc` with the setting `weak = 1`.
    weak::Weak, Rcc, "rcc-weak", CLAIMS, &[("timestamp_bits", 2), ("lease", 1), ("weak", 1)]
}
with_settings! {
    /// `rcc` with timestamps of one bit, so that almost every second write of a line starts a rollover.
    short::Short, Rcc, "rcc-short", Rcc::INFO.claims, &[("timestamp_bits", 1), ("lease", 1)]
}
with_settings! {
    /// `g-tsc-repaired` with timestamps of one bit.
    short_g_tsc::ShortGTsc, GTscRepaired, "g-tsc-short", GTscRepaired::INFO.claims,
    &[("timestamp_bits", 1), ("lease", 1)]
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

fn explore<P: Protocol>(text: &str) -> Exploration {
    let test = Test::read("test", text).expect("it is a test");
    let program = &*test.program();
    let claim = Claim::of("sc").expect("a known model");
    let promise = claim.promise(program, &mut || false).expect("the model covers it");
    let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: false };
    let mut explorer = Explorer::new(&Subject::of::<P>(), BOUNDS, None);
    let placement = Placement::spread(program);
    explorer.explore(program, &placement, &requirements, &mut Limits::default()).expect("supported")
}

fn fault<P: Protocol>(text: &str) -> Option<Fault> {
    let found = explore::<P>(text);
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

/// The maximum number of threads of the explored programs.
const THREADS_MAX: usize = 2;

/// Verifies a protocol on the shipped programs of these folders, each on one machine.
fn verified<P: Protocol>(folders: &[&str]) -> Verification {
    let subject = Subject::of::<P>();
    let mut tests = corpus::shipped().expect("they are tests");
    tests.retain(|test| folders.iter().any(|folder| test.name.starts_with(folder)));
    tests.retain(|test| test.program().threads.len() <= THREADS_MAX);
    tests.iter_mut().for_each(|test| test.machines = Machines::InTurn);
    let options = Options::new(verify::machines_of(&subject.info));
    let found = verify::verify(&subject, &tests, &options).expect("known models");
    let name = P::INFO.name;
    assert!(found.findings.is_empty(), "{name}: {:?}", found.findings.first());
    assert!(found.complete, "{name}: {:?}", found.gaps);
    let are_verified = found.claims.iter().all(|(_, status)| *status == Status::Verified);
    assert!(are_verified, "{name}: {:?}", found.claims);
    found
}

#[test]
fn the_weak_form_keeps_its_claims() {
    let found = verified::<Weak>(&["caches/", "hrf/", "opencl/", "ptx/"]);
    assert!(found.claims.iter().all(|(model, _)| model != "sc"), "{:?}", found.claims);
}

#[test]
fn claims_hold_while_timestamps_start_again_often() {
    let folders = ["caches/", "hrf/", "opencl/", "ptx/"];
    for found in [verified::<Short>(&folders), verified::<ShortGTsc>(&folders)] {
        let unreached = found.rows.1.iter().filter(|row| row.table == "The rollover unit");
        assert_eq!(unreached.count(), 0, "{}: {:?}", found.protocol, found.rows.1);
    }
}
