//! Faults of guards, masks, keys and counters, each seeded by hand into a copy of `vi` or of
//! `rsp-repaired`. A verification without options reports each of these faults, within a bound of
//! states. Only the overtaking of messages needs the option `--unordered`.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::toys;
use explore::claim::Claim;
use explore::verify::{self, Machines, Options};
use explore::{Programs, Subject, corpus};
use proto::parts::Host;
use proto::{
    Agent, ByteMask, Controller, Cx, Disposition, Info, Input, Key, Level, LineView, MemoryAccess, NodeId,
    Op, Order, PlanKey, Protocol, Rank, Request, RequestInput, Rmw, RmwKind, SetIndex, Sharing, Slot,
    TimerClass, Way, protocol_nodes,
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
    /// A read-modify-write changes only the first four of its words.
    FourWordsOnly,
    /// A compare-and-swap that fails stores its new value nevertheless.
    FailedSwapStores,
    /// A flush that arrives during another flush is answered together with that other flush.
    JoinedFlush,
    /// A bank treats the flushes of two caches as one flush if they have the same slot (number of
    /// the request at its cache).
    SlotWithoutNode,
    /// The third bank acknowledges a flush at once.
    ThirdBank,
    /// The bytes of a line that leaves the ninth way of a cache are lost.
    NinthWay,
    /// The bytes of a line that leaves the ninth way of a bank are lost.
    NinthWayOfBank,
    /// An acquire of the third wavefront does not invalidate.
    ThirdWavefront,
    /// A release of the third compute unit does not flush.
    ThirdUnit,
    /// The beginning of a kernel does not invalidate the cache.
    KernelBegin,
    /// The first update in a cache waits for a way, although one is free.
    ForgottenWait,
    /// If an input waits for a way when a fetch ends, and no line can be evicted until then, the bank
    /// offers its lines for eviction later, and does not wake the input then.
    LateVictims,
    /// While an input waits for a way, an access makes the lines of the bank unevictable for a time.
    PinnedVictims,
    /// A flush waits only for the acks of earlier writes, and not for those of the writes that it
    /// sends itself.
    EarlyParity,
    /// A message overtakes an earlier message between the same two controllers. The channels of the
    /// machine have this fault, as with the option `--unordered`.
    Overtaking,
    /// An access overtakes an earlier access of its sender to the same line that is parked (waits) at
    /// the bank. The channels keep their order.
    ParkedOvertaken,
    /// A cache of `rsp-repaired` treats the locks of two remote operations as one lock if they have
    /// the same slot (number of the request at its cache).
    LocksBySlot,
}

const ALL: [Seeded; 20] = [
    Seeded::HitByOverlap,
    Seeded::DirtyInWords,
    Seeded::FirstWordOnly,
    Seeded::FourWordsOnly,
    Seeded::FailedSwapStores,
    Seeded::JoinedFlush,
    Seeded::SlotWithoutNode,
    Seeded::ThirdBank,
    Seeded::NinthWay,
    Seeded::NinthWayOfBank,
    Seeded::ThirdWavefront,
    Seeded::ThirdUnit,
    Seeded::KernelBegin,
    Seeded::ForgottenWait,
    Seeded::LateVictims,
    Seeded::PinnedVictims,
    Seeded::EarlyParity,
    Seeded::Overtaking,
    Seeded::ParkedOvertaken,
    Seeded::LocksBySlot,
];

/// The fault of the controllers that are made next, as its position in [`ALL`] counted from one.
/// Zero stands for no fault.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// The fault of a controller that is made now.
fn next_seeded() -> Seeded {
    ALL.get(NEXT.load(Ordering::Relaxed).wrapping_sub(1)).copied().unwrap_or(Seeded::None)
}

/// The protocol of the controllers. The macro `proto::delegate` expects the name `P` for it.
type P = Faulty;

/// A cache of a compute unit with a fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultyCache {
    cache: L1,
    seeded: Seeded,
    /// Whether an update has waited for a free way.
    has_waited: bool,
    /// Whether a release flushes. Without the fault `EarlyParity`, this is always false.
    flushes: bool,
    /// The number of acks that were counted before they arrived.
    counted: u32,
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
            (Seeded::FirstWordOnly | Seeded::FourWordsOnly, Op::Rmw(rmw)) => {
                let words_max = if self.seeded == Seeded::FirstWordOnly { 1 } else { 4 };
                let width = rmw.width.bytes();
                let words = (0..128 / width).map(|word| ByteMask::range(width * word, width));
                let words = words.filter(|word| word.overlaps(req.mask)).take(words_max);
                req.mask = words.fold(ByteMask::NONE, ByteMask::union);
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

    /// Counts the acks of the writes that a step has sent (the messages from index `sent` on),
    /// before these acks arrive.
    fn count_early(&mut self, sent: usize, cx: &mut Cx<'_, Faulty>) {
        let parity = |(_, msg): &(NodeId, Msg)| match msg {
            Msg::Bank(ToBank::Write { parity, .. }) => Some(*parity),
            _ => None,
        };
        let early: Vec<bool> = cx.fx.sends[sent..].iter().filter_map(parity).collect();
        for parity in early {
            self.counted += 1;
            let msg = &ToL1::WriteAck { parity };
            Controller::<Faulty>::step(&mut self.cache, Input::Message { from: cx.me, msg }, cx);
        }
    }

    /// A step of the L1 with the seeded fault, unless this fault is `EarlyParity`.
    fn faulty_step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, Faulty>) -> Disposition {
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
}

impl Controller<Faulty> for FaultyCache {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, Faulty>) -> Disposition {
        if self.seeded != Seeded::EarlyParity {
            return self.faulty_step(input, cx);
        }
        let sent = cx.fx.sends.len();
        let disposition = match input {
            Input::Request(RequestInput { req, .. }) => {
                let disposition = self.faulty_step(input, cx);
                if req.releases() {
                    self.flushes = disposition != Disposition::Done;
                }
                disposition
            }
            Input::Message { msg: ToL1::WriteAck { .. }, .. } if self.counted > 0 => {
                self.counted -= 1;
                Disposition::Done
            }
            input => self.faulty_step(input, cx),
        };
        if self.flushes {
            self.count_early(sent, cx);
        }
        disposition
    }

    proto::delegate! { cache: victims, occupied, lines, is_quiet, canonicalize }
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
    /// Whether the bank offers no line for eviction.
    offers_none: bool,
    /// Whether the timer of a flush runs.
    drains: bool,
}

impl Controller<Faulty> for FaultyBank {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, Faulty>) -> Disposition {
        let sets = (0..cx.level().array.sets).map(SetIndex);
        if let Input::Timer(_) = input {
            if core::mem::take(&mut self.offers_none) {
                if self.drains {
                    cx.fx.timer(TimerClass::Drain);
                }
                if self.seeded == Seeded::PinnedVictims {
                    sets.for_each(|set| cx.fx.wake(Key::Way(set)));
                }
                return Disposition::Done;
            }
            self.drains = false;
        }
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
        let mut evictable = Vec::new();
        for set in sets.clone() {
            Controller::<Faulty>::victims(&self.bank, set, &mut evictable);
        }
        let pins = match input {
            Input::Memory(_) => self.seeded == Seeded::LateVictims && evictable.is_empty(),
            Input::Message { msg: ToBank::Get { .. }, .. } => self.seeded == Seeded::PinnedVictims,
            _ => false,
        };
        let pins = pins && sets.clone().any(|set| cx.has_way_waiter(set));
        let loses = matches!(input, Input::Evict(way) if way.0 >= 8);
        let disposition = Controller::<Faulty>::step(&mut self.bank, input, cx);
        self.drains |= cx.fx.timers.contains(&TimerClass::Drain);
        if pins && disposition == Disposition::Done {
            self.offers_none = true;
            cx.fx.timer(TimerClass::Drain);
        }
        if loses && self.seeded == Seeded::NinthWayOfBank {
            for op in &mut cx.fx.memory {
                if let MemoryAccess::Write { mask, .. } = &mut op.access {
                    *mask = ByteMask::NONE;
                }
            }
        }
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

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        if !self.offers_none {
            Controller::<Faulty>::victims(&self.bank, set, out);
        }
    }

    proto::delegate! { bank: occupied, lines, canonicalize }

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
        let seeded = next_seeded();
        let level = levels.of(id.kind);
        match id.kind {
            0 => Node::L1(FaultyCache {
                cache: L1::new(level, &()),
                seeded,
                has_waited: false,
                flushes: false,
                counted: 0,
            }),
            1 => Node::Bank(FaultyBank {
                bank: Bank::new(level, &()),
                seeded,
                flushes: Vec::new(),
                joined: Vec::new(),
                offers_none: false,
                drains: false,
            }),
            _ => Node::Host(Host),
        }
    }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        agent.enters(0, 2)
    }

    toys::no_tables! {}
}

/// The protocol `rsp-repaired` with a fault of its locks.
pub mod locked {
    use super::*;
    use zoo::rsp::{RepairedPlans, ToL1};

    /// The protocol of the controllers. The macro `proto::delegate` expects the name `P` for it.
    type P = FaultyRsp;

    /// A cache of `rsp-repaired`. With the fault `LocksBySlot`, it tells locks apart only by their
    /// slots (numbers of requests at one node), and not by the nodes.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct LockedCache {
        cache: zoo::rsp::L1<RepairedPlans>,
        seeded: Seeded,
    }

    impl Controller<FaultyRsp> for LockedCache {
        type Msg = ToL1;

        fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, FaultyRsp>) -> Disposition {
            match input {
                Input::Message { from, msg: ToL1::Lock { .. } | ToL1::Unlock { .. } }
                    if self.seeded == Seeded::LocksBySlot =>
                {
                    let Input::Message { msg, .. } = input else { return Disposition::Done };
                    let (sent, any) = (cx.fx.sends.len(), NodeId { kind: from.kind, index: u16::MAX });
                    let disposition = self.cache.step(Input::Message { from: any, msg }, cx);
                    cx.fx.sends[sent..].iter_mut().for_each(|(to, _)| *to = from);
                    disposition
                }
                input => self.cache.step(input, cx),
            }
        }

        proto::delegate! { cache: victims, occupied, lines, is_quiet, canonicalize }
    }

    /// `rsp-repaired` with a fault of its locks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct FaultyRsp;

    protocol_nodes! { FaultyRsp: L1(LockedCache, ToL1), Bank(Bank, ToBank), Host(Host) }

    impl From<zoo::parts::ToL1> for Msg {
        fn from(msg: zoo::parts::ToL1) -> Self {
            Msg::L1(msg.into())
        }
    }

    impl Protocol for FaultyRsp {
        type Node = Node;
        type Msg = Msg;
        type Params = ();
        const INFO: Info = Info {
            name: "faulty-rsp",
            summary: "rsp-repaired with a fault",
            claims: zoo::rsp::CLAIMS,
            sharing: Sharing::Remote,
            ..toys::INFO
        };
        const KINDS: &'static [proto::Kind] = zoo::vi::Vi::KINDS;

        fn params(_: &proto::Levels, _: &proto::Settings) -> Result<(), String> {
            Ok(())
        }

        fn node(id: NodeId, levels: &proto::Levels, (): &()) -> Node {
            let level = levels.of(id.kind);
            match id.kind {
                0 => Node::L1(LockedCache { cache: zoo::rsp::L1::new(level, &()), seeded: next_seeded() }),
                1 => Node::Bank(Bank::new(level, &())),
                _ => Node::Host(Host),
            }
        }

        fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
            agent.enters(0, 2)
        }

        toys::no_tables! {}
    }
}

/// `vi` with banks whose parked accesses are overtaken.
pub mod unordered {
    use super::*;
    use proto::Message as _;

    proto::messages! {
        /// A message to a bank. With the fault `ParkedOvertaken`, no message stays behind the parked
        /// accesses of its sender.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ToLooseBank = Shared(ToBank) [order(keeps_order)] {}
    }

    fn keeps_order(msg: &ToBank) -> bool {
        next_seeded() != Seeded::ParkedOvertaken && msg.keeps_order()
    }

    /// A bank that receives [`ToLooseBank`].
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct LooseBank {
        bank: Bank,
    }

    impl Controller<FaultyOrder> for LooseBank {
        type Msg = ToLooseBank;

        fn step(&mut self, input: Input<'_, ToLooseBank>, cx: &mut Cx<'_, FaultyOrder>) -> Disposition {
            let input = match input {
                Input::Message { from, msg: ToLooseBank::Shared(msg) } => Input::Message { from, msg },
                Input::Request(request) => Input::Request(request),
                Input::Memory(reply) => Input::Memory(reply),
                Input::Evict(way) => Input::Evict(way),
                Input::Timer(class) => Input::Timer(class),
                Input::Tick { elapsed } => Input::Tick { elapsed },
            };
            Controller::<FaultyOrder>::step(&mut self.bank, input, cx)
        }

        proto::delegate! { bank: victims, occupied, lines, is_quiet, canonicalize }
    }

    /// The protocol of the controllers. The macro `proto::delegate` expects the name `P` for it.
    type P = FaultyOrder;

    /// `vi` with banks whose parked accesses are overtaken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct FaultyOrder;

    protocol_nodes! { FaultyOrder: L1(L1, ToL1), Bank(LooseBank, ToLooseBank), Host(Host) }

    impl From<ToBank> for Msg {
        fn from(msg: ToBank) -> Self {
            Msg::Bank(msg.into())
        }
    }

    impl Protocol for FaultyOrder {
        type Node = Node;
        type Msg = Msg;
        type Params = ();
        const INFO: Info = Info { name: "faulty-order", ..Faulty::INFO };
        const KINDS: &'static [proto::Kind] = zoo::vi::Vi::KINDS;

        fn params(_: &proto::Levels, _: &proto::Settings) -> Result<(), String> {
            Ok(())
        }

        fn node(id: NodeId, levels: &proto::Levels, (): &()) -> Node {
            let level = levels.of(id.kind);
            match id.kind {
                0 => Node::L1(L1::new(level, &())),
                1 => Node::Bank(LooseBank { bank: Bank::new(level, &()) }),
                _ => Node::Host(Host),
            }
        }

        fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
            agent.enters(0, 2)
        }

        toys::no_tables! {}
    }
}

/// The result of a verification that ends at the first report of a fault.
struct Report {
    /// The name of the test that reports a fault, and the fault. `None` if no test reports one.
    why: Option<String>,
    /// The numbers of tests and of states until the report.
    tests: usize,
    states: u64,
}

/// Explores the programs that a verification of `Q` without options explores first: the dimension
/// programs and the shipped tests. The order and the machines are those of that verification. Ends at
/// the first report of a fault, after `tests_max` tests, and after more than `states_max` states.
fn reported_by<Q: Protocol>(seeded: Seeded, tests_max: usize, states_max: u64) -> Report {
    let number = ALL.iter().position(|&other| other == seeded).map_or(0, |at| at + 1);
    NEXT.store(number, Ordering::Relaxed);
    let subject = Subject::of::<Q>();
    let claims = Claim::all_of(&subject.info).expect("known models");
    let programs = Programs::of(corpus::shipped().expect("they are tests")).and_dimensions(&claims);
    let overtaking = seeded == Seeded::Overtaking;
    let machines = verify::machines_of(&subject.info).into_iter();
    let options = Options::new(machines.map(|bounds| bounds.overtaking(overtaking)).collect());
    let mut report = Report { why: None, tests: 0, states: 0 };
    for (number, test) in programs.in_order().take(tests_max) {
        let mut test = test.as_ref().clone();
        // A verification of one test numbers it anew, but the number chooses the machine.
        if test.machines == Machines::InTurn {
            test.machines = Machines::Nth((number % options.bounds.len()) as u8);
        }
        let found = verify::verify(&subject, core::slice::from_ref(&test), &options).expect("known models");
        report.tests += 1;
        report.states += found.states;
        report.why =
            found.findings.first().map(|finding| format!("{}: {}", test.name, finding.violation.why));
        if report.why.is_some() || report.states > states_max {
            break;
        }
    }
    report
}

/// The maximum number of states that may be explored until a fault is reported. A release build
/// explores about a million states a second, so this limit is much less than a minute.
const STATES_MAX: u64 = 3_000_000;

/// The maximum number of states of the tests that are also explored without a fault.
const SOUND_STATES_MAX: u64 = 500_000;

#[test]
fn a_verification_without_options_reports_every_fault_soon() {
    // For each protocol, the number of tests until the latest report of a fault.
    let [mut of_vi, mut of_order, mut of_rsp] = [0; 3];
    let mut wrong = Vec::new();
    for seeded in ALL {
        let (Report { why, tests, states }, most) = match seeded {
            Seeded::ParkedOvertaken => {
                (reported_by::<unordered::FaultyOrder>(seeded, usize::MAX, STATES_MAX), &mut of_order)
            }
            Seeded::LocksBySlot => {
                (reported_by::<locked::FaultyRsp>(seeded, usize::MAX, STATES_MAX), &mut of_rsp)
            }
            _ => (reported_by::<Faulty>(seeded, usize::MAX, STATES_MAX), &mut of_vi),
        };
        if why.is_none() || states > STATES_MAX {
            wrong.push(format!("{seeded:?}: {why:?} after {states} states"));
        }
        *most = tests.max(*most);
        // The report names the step that forgets the input, not a later fault.
        for (step, of) in [
            ("an input that waits for it is not woken", Seeded::ForgottenWait),
            (
                "can be evicted, but an input that waits for a way of the set is not woken",
                Seeded::LateVictims,
            ),
            ("unevictable, while an earlier access waits for a way of the set", Seeded::PinnedVictims),
        ] {
            let is_step = why.as_ref().is_some_and(|why| why.ends_with(step));
            if is_step != (seeded == of) {
                wrong.push(format!("{seeded:?}: another step than expected: {why:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Without a fault, the first of these tests report nothing.
    for found in [
        reported_by::<Faulty>(Seeded::None, of_vi, SOUND_STATES_MAX),
        reported_by::<unordered::FaultyOrder>(Seeded::None, of_order, SOUND_STATES_MAX),
        reported_by::<locked::FaultyRsp>(Seeded::None, of_rsp, SOUND_STATES_MAX),
    ] {
        assert_eq!(found.why, None);
    }
}
