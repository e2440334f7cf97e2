//! Faults of guards, masks, keys and counters, each seeded by hand into a copy of `vi`. The
//! programs that every verification explores report each of these faults.

#![allow(unreachable_pub, reason = "the macro of the contract writes public items")]

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::toys;
use explore::claim::Claim;
use explore::verify::{self, Options, Test};
use explore::{Subject, corpus};
use proto::parts::Host;
use proto::{
    Agent, ByteMask, Controller, Cx, Disposition, Info, Input, Key, Level, LineView, NodeId, Op, Order,
    PlanKey, Protocol, Request, RequestInput, Rmw, RmwKind, SetIndex, Sharing, Slot, protocol_nodes,
};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{Bank, L1};

/// The fault of the copy of `vi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Seeded {
    /// No fault.
    None,
    /// A load hits if the line has at least one of the bytes that it loads.
    HitByOverlap,
    /// A store makes all bytes of each four-byte word dirty of which it writes at least one byte.
    DirtyInWords,
    /// A read-modify-write changes only the first of its words.
    FirstWordOnly,
    /// A compare-and-swap that fails stores its new value nevertheless.
    FailedSwapStores,
    /// A flush that arrives during another flush is answered together with that other flush.
    JoinedFlush,
    /// A bank treats the flushes of two caches as one flush if they have the same slot (number of
    /// the request at its cache).
    SlotWithoutNode,
    /// The third bank acknowledges a flush at once.
    ThirdBank,
    /// The bytes of a line that leaves the ninth way are lost.
    NinthWay,
    /// An acquire of the third wavefront does not invalidate.
    ThirdWavefront,
    /// A release of the third compute unit does not flush.
    ThirdUnit,
    /// The beginning of a kernel does not invalidate the cache.
    KernelBegin,
    /// The first update in a cache waits for a way, although one is free.
    ForgottenWait,
}

const ALL: [Seeded; 12] = [
    Seeded::HitByOverlap,
    Seeded::DirtyInWords,
    Seeded::FirstWordOnly,
    Seeded::FailedSwapStores,
    Seeded::JoinedFlush,
    Seeded::SlotWithoutNode,
    Seeded::ThirdBank,
    Seeded::NinthWay,
    Seeded::ThirdWavefront,
    Seeded::ThirdUnit,
    Seeded::KernelBegin,
    Seeded::ForgottenWait,
];

/// The fault of the controllers that are made next, as its position in [`ALL`] counted from one.
/// Zero stands for no fault.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// The protocol of the controllers. The macro `proto::delegate` expects the name `P` for it.
type P = Faulty;

/// A cache of a compute unit with a fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultyCache {
    cache: L1,
    seeded: Seeded,
    /// Whether an update has waited for a free way.
    has_waited: bool,
}

impl FaultyCache {
    /// The request that the cache carries out in place of `req`.
    fn instead(&self, req: &Request, me: NodeId) -> Request {
        let mut req = *req;
        match (self.seeded, req.op) {
            (Seeded::HitByOverlap, Op::Load) => {
                let mut views: Vec<LineView> = Vec::new();
                Controller::<Faulty>::lines(&self.cache, &mut views);
                let view = views.iter().find(|view| view.line == req.line);
                if let Some(view) = view.filter(|view| view.valid.overlaps(req.mask)) {
                    req.mask = ByteMask(req.mask.0 & view.valid.0);
                }
            }
            (Seeded::DirtyInWords, Op::Store) => {
                let words = (0..128 / 4).map(|word| ByteMask::range(4 * word, 4));
                req.mask = words.filter(|word| word.overlaps(req.mask)).fold(req.mask, ByteMask::union);
            }
            (Seeded::FirstWordOnly, Op::Rmw(rmw)) => {
                req.mask = req.mask.first().map_or(req.mask, |at| ByteMask::range(at, rmw.width.bytes()));
            }
            (Seeded::FailedSwapStores, Op::Rmw(Rmw { kind: RmwKind::CompareExchange { .. }, .. })) => {
                if let Op::Rmw(rmw) = &mut req.op {
                    rmw.kind = RmwKind::Exchange;
                }
            }
            (Seeded::ThirdWavefront, Op::Load) if req.issuer.wavefront >= 2 && req.order.acquires() => {
                req.order = Order::Relaxed;
            }
            (Seeded::ThirdUnit, Op::Store | Op::Rmw(_)) if me.index >= 2 && req.order.releases() => {
                req.order = Order::Relaxed;
            }
            _ => {}
        }
        req
    }
}

impl Controller<Faulty> for FaultyCache {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, Faulty>) -> Disposition {
        match input {
            Input::Request(RequestInput { slot, req, data }) => {
                if self.seeded == Seeded::KernelBegin && matches!(req.op, Op::KernelBegin(_)) {
                    cx.fx.replies.push((slot, None));
                    return Disposition::Done;
                }
                let is_update = matches!(req.op, Op::Rmw(_)) && req.scope.level == Level::WorkGroup;
                if self.seeded == Seeded::ForgottenWait && is_update && !self.has_waited {
                    self.has_waited = true;
                    return Disposition::Stall(Key::Way(SetIndex(0)));
                }
                let req = &self.instead(req, cx.me);
                Controller::<Faulty>::step(
                    &mut self.cache,
                    Input::Request(RequestInput { slot, req, data }),
                    cx,
                )
            }
            input => {
                let loses = matches!(input, Input::Evict(way) if way.0 >= 8);
                let disposition = Controller::<Faulty>::step(&mut self.cache, input, cx);
                if loses && self.seeded == Seeded::NinthWay {
                    cx.fx.sends.clear();
                }
                disposition
            }
        }
    }

    proto::delegate! { cache: victims, lines, is_quiet, canonicalize }
}

/// A bank of the shared cache with a fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultyBank {
    bank: Bank,
    seeded: Seeded,
    /// The flushes under way.
    flushes: Vec<(NodeId, Slot)>,
    /// The flushes that are answered together with the next flush that ends.
    joined: Vec<(NodeId, Slot)>,
}

impl Controller<Faulty> for FaultyBank {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, Faulty>) -> Disposition {
        if let Input::Message { from, msg: &ToBank::Flush { slot } } = input {
            match self.seeded {
                Seeded::ThirdBank if cx.me.index >= 2 => {
                    cx.fx.send(from, ToL1::BankDone { slot });
                    return Disposition::Done;
                }
                Seeded::JoinedFlush if !self.flushes.is_empty() => {
                    self.joined.push((from, slot));
                    return Disposition::Done;
                }
                Seeded::SlotWithoutNode if self.flushes.iter().any(|&(_, other)| other == slot) => {
                    return Disposition::Done;
                }
                _ => self.flushes.push((from, slot)),
            }
        }
        let disposition = Controller::<Faulty>::step(&mut self.bank, input, cx);
        let before = self.flushes.len();
        let sends = &cx.fx.sends;
        self.flushes.retain(|&(node, slot)| {
            let is_end = |(to, msg): &(NodeId, Msg)| {
                *to == node && matches!(*msg, Msg::L1(ToL1::BankDone { slot: done }) if done == slot)
            };
            !sends.iter().any(is_end)
        });
        if self.flushes.len() < before {
            for (node, slot) in self.joined.drain(..) {
                cx.fx.send(node, ToL1::BankDone { slot });
            }
        }
        disposition
    }

    proto::delegate! { bank: victims, lines, canonicalize }

    fn is_quiet(&self) -> bool {
        self.joined.is_empty() && Controller::<Faulty>::is_quiet(&self.bank)
    }
}

/// `vi` with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Faulty;

protocol_nodes! { Faulty: L1(FaultyCache, ToL1), Bank(FaultyBank, ToBank), Host(Host) }

impl Protocol for Faulty {
    const INFO: Info = Info {
        name: "faulty-vi",
        summary: "vi with a fault",
        claims: zoo::vi::Vi::INFO.claims,
        sharing: Sharing::Scoped,
        ..toys::INFO
    };

    type Node = Node;
    type Msg = Msg;
    type Params = ();
    const KINDS: &'static [proto::Kind] = zoo::vi::Vi::KINDS;

    fn params(_: &proto::Levels, _: &proto::Settings) -> Result<(), String> {
        Ok(())
    }

    fn node(id: NodeId, levels: &proto::Levels, (): &()) -> Node {
        let seeded = ALL.get(NEXT.load(Ordering::Relaxed).wrapping_sub(1)).copied().unwrap_or(Seeded::None);
        let level = levels.of(id.kind);
        match id.kind {
            0 => Node::L1(FaultyCache { cache: L1::new(level, &()), seeded, has_waited: false }),
            1 => Node::Bank(FaultyBank {
                bank: Bank::new(level, &()),
                seeded,
                flushes: Vec::new(),
                joined: Vec::new(),
            }),
            _ => Node::Host(Host),
        }
    }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        agent.enters(0, 2)
    }

    toys::no_tables! {}
}

/// The name of the first test that reports the fault, and the states explored until then.
fn reported_by(seeded: Seeded, tests: &[Test]) -> (Option<String>, u64) {
    let number = ALL.iter().position(|&other| other == seeded).map_or(0, |at| at + 1);
    NEXT.store(number, Ordering::Relaxed);
    let subject = Subject::of::<Faulty>();
    let options = Options::new(verify::machines_of(&subject.info));
    let mut states = 0;
    for test in tests {
        let found = verify::verify(&subject, core::slice::from_ref(test), &options).expect("known models");
        states += found.states;
        if let Some(finding) = found.findings.first() {
            let why = &finding.violation.why;
            return (Some(format!("{}: {why}", test.name)), states);
        }
    }
    (None, states)
}

/// The maximum number of states that may be explored until a fault is reported. A default run
/// explores about a million states a second, so this limit is much less than a minute.
const STATES_MAX: u64 = 5_000_000;

#[test]
fn every_fault_is_reported_by_the_programs_of_a_default_run() {
    let claims = Claim::all_of(&zoo::vi::Vi::INFO).expect("known models");
    let mut tests = corpus::dimensions(&claims);
    let shipped = ["caches/host-reads-second-release.litmus", "caches/compared-and-kept.litmus"];
    let more = corpus::shipped().expect("they are tests").into_iter();
    tests.extend(more.filter(|test| shipped.contains(&test.name.as_str())));
    assert_eq!(reported_by(Seeded::None, &tests).0, None);
    for seeded in ALL {
        let (why, states) = reported_by(seeded, &tests);
        assert!(why.is_some() && states < STATES_MAX, "{seeded:?}: {why:?} after {states} states");
        // The report names the step that forgets the input, not the deadlock that may follow.
        let is_step = |why: &String| why.ends_with("an input that waits for it is not woken");
        assert_eq!(why.as_ref().is_some_and(is_step), seeded == Seeded::ForgottenWait, "{why:?}");
    }
}
