//! The work-stealing deque and the spin locks of the workloads, as litmus programs. No task is lost
//! or taken twice, and critical sections exclude one another, on every protocol for which the
//! policy (a variant of the program, such as the scopes of its atomics) is meant. Each of these
//! conditions fails if the policy does not fit the protocol. `hlrc-noprio` and `denovo-rprio` are left
//! out, because they have the same states as `hlrc` and `denovo-b`.
//!
//! A test of `lab` checks that the programs match the kernels.

use std::collections::BTreeSet;

use explore::claim::{Claim, NoPromise, Promise};
use explore::verify::{self, Test};
use explore::{
    Bounds, Exploration, Explorer, Fault, Limits, Outcome, Placement, Requirements, Subject, corpus, show,
};
use litmus::program::{Program, Term};
use proto::issue::IssueRule;
use proto::{Protocol, WritePolicy};
use zoo::vi::Vi;

/// The shapes of programs on the deque. Each shape exists with each policy (a variant of the
/// program, such as the scopes of its atomics).
const DEQUE: [&str; 6] =
    ["pop-steal", "pop-steal-twice", "push-steal", "push-pop-steal", "pop-push-steal", "steal-steal"];
const LOCKS: [&str; 3] = ["lock-counter+device", "lock-counter+work-group", "fg-share+device"];

fn test(name: &str) -> Test {
    let path = format!("runtime/{name}.litmus");
    let (_, text) = corpus::SHIPPED.iter().find(|(known, _)| *known == path).expect("it is shipped");
    Test::read(&path, text).expect("it is a test")
}

/// Whether the outcome satisfies the condition of the program.
fn is_right(program: &Program, outcome: &Outcome) -> bool {
    let terms = program.state_terms();
    let mut value = |term| match term {
        Term::Const(value) => value,
        term => outcome[terms.iter().position(|&t| t == term).expect("it is shown")],
    };
    program.condition.prop.holds(&mut value)
}

/// The outcomes that violate the condition of the program, in words.
fn wrong(program: &Program, outcomes: &BTreeSet<Outcome>) -> Vec<String> {
    outcomes.iter().filter(|outcome| !is_right(program, outcome)).map(|o| show(program, o)).collect()
}

/// The promises of the protocol's claims for a program.
fn promises<P: Protocol>(program: &Program) -> Vec<(Claim, Promise)> {
    let claims = P::INFO.claims.iter().map(|claim| Claim::of(claim.model).expect("a known model"));
    let promises = claims.filter_map(|claim| match claim.promise(program, &mut || false) {
        Ok(promise) => Some((claim, promise)),
        Err(NoPromise::Undefined(_)) => None,
        Err(NoPromise::Incomplete(why)) => panic!("{}: {why}", claim.model),
    });
    promises.filter(|(_, promise)| promise.allowed.is_some()).collect()
}

fn explore<P: Protocol>(program: &Program, placement: &Placement, bounds: Bounds) -> Exploration {
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let found = explorer.explore(program, placement, &Requirements::default(), &mut Limits::default());
    found.expect("the machine has all that it needs")
}

/// The machines for a test. With evictions at any time the deque has too many states for a test, so
/// for the deque lines are evicted only when ways are needed. `fencepost verify` explores both
/// kinds of evictions.
fn machines(evictions: bool) -> impl Iterator<Item = Bounds> {
    let all = verify::machines().into_iter();
    all.map(move |bounds| Bounds { evictions: bounds.evictions && evictions, ..bounds })
}

/// Explores a program on every machine and in every placement, and checks that its condition holds.
/// Protocols other than `vi` explore every other pair of a machine and a placement. Successive
/// protocols explore different pairs.
fn holds<P: Protocol>(test: &Test, evictions: bool) {
    let program = test.program();
    let promises = promises::<P>(&program);
    let turn = zoo::ALL.iter().position(|info| info.name == P::INFO.name).expect("a protocol");
    let is_explored = |number: usize| P::INFO.name == Vi::INFO.name || number % 2 == turn % 2;
    for (machine, bounds) in machines(evictions).enumerate() {
        for (at, placement) in test.placements.iter().enumerate() {
            if !is_explored(machine + at) {
                continue;
            }
            let found = explore::<P>(&program, placement, bounds);
            let place = format!("{} of {} on {bounds}, {placement}", test.name, P::INFO.name);
            // No livelock occurs either.
            assert_eq!((found.violation, found.incomplete), (None, None), "{place}");
            let wrong = wrong(&program, &found.outcomes);
            assert!(wrong.is_empty() && !found.outcomes.is_empty(), "{place}: {wrong:?}");
            for (claim, promise) in
                promises.iter().filter(|(claim, _)| claim.covers_core(&program, bounds.core))
            {
                let allowed = promise.allowed.as_ref().expect("the program is chosen so");
                assert!(found.outcomes.is_subset(allowed), "{place}: beyond {}", claim.model);
            }
        }
    }
}

/// Runs the programs of the deque under these policies (variants, such as the scopes of atomics),
/// and those of the locks. A program that is race-free under the protocol's claim satisfies its
/// condition by the model alone, except for the programs in `not_promised`.
fn runs<P: Protocol>(policies: &[&str], not_promised: &[&str]) {
    let names = policies.iter().flat_map(|policy| DEQUE.map(|shape| format!("{shape}+{policy}")));
    for name in names {
        let test = test(&name);
        let promises = promises::<P>(&test.program());
        assert!(!promises.is_empty(), "{} claims nothing of {name}", P::INFO.name);
        for (claim, promise) in promises {
            let wrong = wrong(&test.program(), promise.allowed.as_ref().expect("the program is chosen so"));
            assert_eq!(
                wrong.is_empty(),
                !not_promised.contains(&&*name),
                "{name}, {}: {wrong:?}",
                claim.model
            );
        }
        holds::<P>(&test, false);
    }
    // The race-free models promise nothing for the locks, which spin with relaxed reads; the
    // protocols run them nevertheless.
    for name in LOCKS {
        holds::<P>(&test(name), true);
    }
}

macro_rules! protocols {
    ($($name:ident: $protocol:ty, $policies:expr, but for $not_promised:expr;)+) => {
        $(
            #[test]
            fn $name() {
                runs::<$protocol>(&$policies, &$not_promised);
            }
        )+
    };
}

/// The programs whose condition the model does not promise. OpenCL with remote operations has no
/// total order of sequentially consistent operations at different scopes, and the deque needs such
/// an order.
const NOT_PROMISED: [&str; 1] = ["pop-steal-twice+remote"];

protocols! {
    vi: Vi, ["device"], but for [];
    vi_targeted: zoo::vi_targeted::ViTargeted, ["device"], but for [];
    no_l1: zoo::no_l1::NoL1, ["device"], but for [];
    rsp: zoo::rsp::Rsp, ["device", "remote"], but for NOT_PROMISED;
    rsp_repaired: zoo::rsp::RspRepaired, ["device", "remote"], but for NOT_PROMISED;
    hlrc: zoo::hlrc::Hlrc, ["device", "unscoped", "scoped"], but for [];
    hlrc_repaired: zoo::hlrc::HlrcRepaired, ["unscoped", "scoped"], but for [];
    denovo_b: zoo::denovo::DenovoB, ["unscoped"], but for [];
}

/// The violations of a program on `vi` with work-groups on different compute units.
fn fails(name: &str, bounds: Bounds) -> Vec<String> {
    let program = test(name).program().into_owned();
    let found = explore::<Vi>(&program, &Placement::spread(&program), bounds);
    // If only the holder sees the release of a lock, others wait for ever.
    let faults = [None, Some(Fault::Livelock)];
    assert!(faults.contains(&found.violation.map(|violation| violation.fault)), "{name}");
    wrong(&program, &found.outcomes)
}

const COMBINING: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

#[test]
fn the_textbook_deque_takes_tasks_twice_and_reads_stale_tasks_on_vi() {
    for bounds in [COMBINING, COMBINING.core(IssueRule::Gpu)] {
        assert_eq!(fails("pop-steal-twice+published", bounds), ["0:got=8; 1:first=7; 1:second=8;"]);
        let stale = fails("push-steal+published", bounds);
        assert_eq!(stale, ["1:got=5; head=1; slots[0]=7; tail=1;"]);
    }
}

#[test]
fn every_condition_can_fail() {
    // Without flushes, a thief finds a new task neither in `push-steal` nor in `push-pop-steal`. Its
    // reads of a task are shown above.
    for shape in DEQUE.iter().filter(|shape| !shape.starts_with("push-")) {
        let wrong = fails(&format!("{shape}+unscoped"), COMBINING);
        assert!(!wrong.is_empty(), "{shape}");
    }
    assert_eq!(fails("lock-counter+too-narrow", COMBINING), ["0:old=0; 1:old=0; lock=0;"]);
}
