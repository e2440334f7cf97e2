//! The random tester finds seeded faults in every dimension of episodes (property that an episode
//! draws, such as the widths of words).
//!
//! The faults are wrong controllers: caches and banks of `vi` and `rsp` that change an input or an
//! effect of a step. A value of the type `SeededFault` selects the fault. It names a table that no
//! protocol has.

use crate::toys;
use explore::stress::{Failure, Options, stress};
use explore::{Bounds, Explorer, Limits, Placement, Requirements, Subject};
use proto::parts::Host;
use proto::{
    Agent, ByteMask, Change, Controller, Cx, Disposition, Hit, Homes, Info, Input, Key, KindLevel, Level,
    Load, MemoryAccess, NodeId, Op, OpClass, Order, PlanKey, Plans as _, Protocol, Request, RequestInput,
    RmwKind, SeededFault, SetIndex, Sharing, Slot, TableId, TimerClass, Way, Width, WritePolicy,
    protocol_nodes,
};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{L1Plans, Step};

/// A table number that no protocol has. A seeded fault with this table number selects a fault of
/// this file.
const FAULTS: TableId = TableId(100);
/// No bank in the machines of the tester has more sets.
const SETS_MAX: u32 = 8;

proto::symbols! {
    /// A fault of a controller.
    pub enum Fault {
        /// A load hits if some of its bytes are valid.
        HitsOnOverlap,
        /// A line is written out in whole words of four bytes.
        RoundsDirtyMask,
        /// A read-modify-write of several words updates the first one only.
        UpdatesFirstWord,
        /// A read-modify-write updates the first eight words only.
        UpdatesEightWords,
        /// A signed minimum is computed as an unsigned one.
        MinIsUnsigned,
        /// A compare-and-swap that fails stores all the same.
        StoresOnFailedSwap,
        /// An addition to a word of eight bytes adds to four of them.
        AddsToHalf,
        /// A release of the third wavefront of a compute unit does not flush.
        ThirdWavefront,
        /// A release of a wavefront with a number from 16 on does not flush.
        LargeWavefront,
        /// An acquire at chiplet scope does not invalidate.
        ChipletScope,
        /// An acquire at a named scope does not invalidate.
        NamedScope,
        /// The ninth way of a bank loses a byte when it is evicted.
        NinthWay,
        /// An acquire of the third compute unit does not invalidate.
        ThirdUnit,
        /// An acquire of the ninth compute unit does not invalidate.
        NinthUnit,
        /// The third bank loses a byte of each write.
        ThirdBank,
        /// The fifth bank loses a byte of each write.
        FifthBank,
        /// A flush that joins another flush under way is answered at the end of that other flush.
        JoinsFlush,
        /// A flush waits only for the acks of earlier writes, and not for those of the writes that
        /// it sends itself.
        FlipsParityEarly,
        /// The first load of a cache waits for a way, although one is free.
        ForgetsWait,
        /// If an input waits for a way when memory replies, the bank offers its lines for eviction
        /// later, and does not wake the input then.
        OffersLate,
        /// While an input waits for a way, an access makes the lines of the bank unevictable for a
        /// time.
        PinsLines,
        /// The cache panics at a read-modify-write of eight bytes.
        Panics,
        /// Locks of remote operations are told apart only by their slots (numbers of requests at
        /// one node), and not by the nodes.
        LocksBySlot,
    }
}

use proto::Symbol as _;

impl Fault {
    fn seeded_fault(self) -> SeededFault {
        SeededFault { table: FAULTS, change: Change::DropStep { step: self.index() as u8 } }
    }
}

/// Whether the seeded fault is this one.
fn has<P: Protocol>(cx: &Cx<'_, P>, fault: Fault) -> bool {
    cx.world.seeded_fault == Some(fault.seeded_fault())
}

/// A cache of `vi` into which a fault can be seeded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1 {
    cache: zoo::vi::L1,
    /// Whether a flush is under way.
    flushes: bool,
    /// The number of acks that were counted before they arrived.
    counted: u32,
    /// Whether a load has waited for a free way.
    has_waited: bool,
}

impl L1 {
    fn new(level: &KindLevel, (): &()) -> L1 {
        L1 { cache: zoo::vi::L1::new(level, &()), flushes: false, counted: 0, has_waited: false }
    }

    /// Answers a load if its line has some of the bytes that it loads, but not all of them.
    fn hits(&self, ask: RequestInput<'_>, cx: &mut Cx<'_, Faulty>) -> bool {
        if ask.req.op != Op::Load || ask.req.order != Order::Plain || cx.stage > 0 {
            return false;
        }
        let mut lines = Vec::new();
        Controller::<Faulty>::lines(&self.cache, &mut lines);
        let hit = |line: &&proto::LineView| line.line == ask.req.line && line.valid.overlaps(ask.req.mask);
        let Some(line) = lines.iter().find(hit).filter(|line| !line.valid.contains(ask.req.mask)) else {
            return false;
        };
        cx.fx.reply(ask.slot, line.data);
        true
    }

    fn request(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, Faulty>) -> Disposition {
        if has(cx, Fault::HitsOnOverlap) && self.hits(ask, cx) {
            return Disposition::Done;
        }
        if has(cx, Fault::Panics) && matches!(ask.req.op, Op::Rmw(_)) && ask.req.mask.count() == 8 {
            panic!("eight bytes at once");
        }
        if has(cx, Fault::ForgetsWait) && ask.req.op == Op::Load && !self.has_waited {
            self.has_waited = true;
            return Disposition::Stall(Key::Way(SetIndex(0)));
        }
        let mut req = *ask.req;
        change(&mut req, cx);
        let (slot, data) = (ask.slot, ask.data);
        self.cache.step(Input::Request(RequestInput { slot, req: &req, data }), cx)
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
            self.cache.step(Input::Message { from: cx.me, msg }, cx);
        }
    }
}

/// Changes a request in the way of the seeded fault.
fn change(req: &mut Request, cx: &Cx<'_, Faulty>) {
    let wavefront = req.issuer.wavefront;
    let relaxes_release =
        wavefront == 2 && has(cx, Fault::ThirdWavefront) || wavefront >= 16 && has(cx, Fault::LargeWavefront);
    let relaxes_acquire = cx.me.index == 2 && has(cx, Fault::ThirdUnit)
        || cx.me.index == 8 && has(cx, Fault::NinthUnit)
        || req.scope.level == Level::Chiplet && has(cx, Fault::ChipletScope)
        || req.scope.level == Level::Named && has(cx, Fault::NamedScope);
    let relaxes = req.releases() && relaxes_release || req.acquires() && relaxes_acquire;
    if relaxes && req.is_atomic_access() {
        req.order = Order::Relaxed;
    }
    let Op::Rmw(rmw) = &mut req.op else { return };
    if has(cx, Fault::UpdatesFirstWord) {
        req.mask = first_words(req.mask, 1, rmw.width);
    }
    if has(cx, Fault::UpdatesEightWords) {
        req.mask = first_words(req.mask, 8, rmw.width);
    }
    if rmw.kind == RmwKind::MinS && has(cx, Fault::MinIsUnsigned) {
        rmw.kind = RmwKind::MinU;
    }
    if matches!(rmw.kind, RmwKind::CompareExchange { .. }) && has(cx, Fault::StoresOnFailedSwap) {
        rmw.kind = RmwKind::Exchange;
    }
    if rmw.width == Width::W8 && rmw.kind == RmwKind::Add && has(cx, Fault::AddsToHalf) {
        rmw.width = Width::W4;
    }
}

/// The mask of the first `count` words of `mask`.
fn first_words(mask: ByteMask, count: usize, width: Width) -> ByteMask {
    let (mut words, mut left) = (ByteMask::NONE, mask);
    for _ in 0..count {
        let Some(first) = left.first() else { break };
        let word = ByteMask::range(first, width.bytes());
        (words, left) = (words.union(word), left.minus(word));
    }
    words
}

/// The mask of all words of four bytes that contain a byte of `mask`.
fn in_words(mask: ByteMask) -> ByteMask {
    let words = (0..proto::LINE_BYTES_MAX / 4).map(|word| ByteMask::range(4 * word, 4));
    words.filter(|word| word.overlaps(mask)).fold(ByteMask::NONE, ByteMask::union)
}

impl Controller<Faulty> for L1 {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, Faulty>) -> Disposition {
        let sent = cx.fx.sends.len();
        let disposition = match input {
            Input::Request(ask) => {
                let disposition = self.request(ask, cx);
                if ask.req.releases() {
                    self.flushes = disposition != Disposition::Done;
                }
                disposition
            }
            Input::Message { msg: ToL1::WriteAck { .. }, .. } if self.counted > 0 => {
                self.counted -= 1;
                Disposition::Done
            }
            input => self.cache.step(input, cx),
        };
        if has(cx, Fault::RoundsDirtyMask) {
            for (_, msg) in &mut cx.fx.sends[sent..] {
                if let Msg::Bank(ToBank::Write { mask, .. }) = msg {
                    *mask = in_words(*mask);
                }
            }
        }
        if self.flushes && has(cx, Fault::FlipsParityEarly) {
            self.count_early(sent, cx);
        }
        disposition
    }

    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        Controller::<Faulty>::hit(&self.cache, load, homes)
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, proto::Rank)>) {
        Controller::<Faulty>::victims(&self.cache, set, out);
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        Controller::<Faulty>::occupied(&self.cache, set, out);
    }

    fn lines(&self, out: &mut Vec<proto::LineView>) {
        Controller::<Faulty>::lines(&self.cache, out);
    }

    fn is_quiet(&self) -> bool {
        Controller::<Faulty>::is_quiet(&self.cache)
    }
}

/// A bank of `vi` into which a fault can be seeded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    bank: zoo::vi::Bank,
    /// The flush under way (`flush`), and the flushes that joined it (`joined`).
    flush: Option<(NodeId, Slot)>,
    joined: Vec<(NodeId, Slot)>,
    /// Whether the bank offers no line for eviction.
    offers_none: bool,
    /// Whether the timer of a flush runs.
    drains: bool,
}

impl Bank {
    fn new(level: &KindLevel, (): &()) -> Bank {
        Bank {
            bank: zoo::vi::Bank::new(level, &()),
            flush: None,
            joined: Vec::new(),
            offers_none: false,
            drains: false,
        }
    }

    /// Answers the flushes that joined another flush, if a step has completed that other flush.
    fn answer_joined(&mut self, sent: usize, cx: &mut Cx<'_, Faulty>) {
        let Some((node, slot)) = self.flush else { return };
        let is_answer = |(to, msg): &(NodeId, Msg)| *to == node && *msg == Msg::L1(ToL1::BankDone { slot });
        if cx.fx.sends[sent..].iter().any(is_answer) {
            self.flush = None;
            for (node, slot) in self.joined.drain(..) {
                cx.fx.send(node, ToL1::BankDone { slot });
            }
        }
    }
}

impl Controller<Faulty> for Bank {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, Faulty>) -> Disposition {
        let sent = cx.fx.sends.len();
        let pins = match input {
            Input::Memory(_) => has(cx, Fault::OffersLate),
            Input::Message { msg: ToBank::Get { .. }, .. } => has(cx, Fault::PinsLines),
            _ => false,
        };
        let pins = pins && (0..SETS_MAX).any(|set| cx.has_way_waiter(SetIndex(set)));
        if let Input::Timer(_) = input {
            if core::mem::take(&mut self.offers_none) {
                if self.drains {
                    cx.fx.timer(TimerClass::Drain);
                }
                if has(cx, Fault::PinsLines) {
                    (0..SETS_MAX).for_each(|set| cx.fx.wake(Key::Way(SetIndex(set))));
                }
                return Disposition::Done;
            }
            self.drains = false;
        }
        let disposition = match input {
            Input::Message { from, msg: &ToBank::Flush { slot } } if has(cx, Fault::JoinsFlush) => {
                if self.flush.is_some() {
                    self.joined.push((from, slot));
                    return Disposition::Done;
                }
                self.flush = Some((from, slot));
                self.bank.step(input, cx)
            }
            Input::Evict(Way(8)) if has(cx, Fault::NinthWay) => {
                let disposition = self.bank.step(input, cx);
                for op in &mut cx.fx.memory {
                    if let MemoryAccess::Write { mask, .. } = &mut op.access {
                        mask.forget_first();
                    }
                }
                disposition
            }
            Input::Message { from, msg }
                if cx.me.index == 2 && has(cx, Fault::ThirdBank)
                    || cx.me.index == 4 && has(cx, Fault::FifthBank) =>
            {
                let mut msg = *msg;
                proto::Message::forget_byte(&mut msg);
                self.bank.step(Input::Message { from, msg: &msg }, cx)
            }
            input => self.bank.step(input, cx),
        };
        self.drains |= cx.fx.timers.contains(&TimerClass::Drain);
        if pins && disposition == Disposition::Done {
            self.offers_none = true;
            cx.fx.timer(TimerClass::Drain);
        }
        self.answer_joined(sent, cx);
        disposition
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, proto::Rank)>) {
        if !self.offers_none {
            Controller::<Faulty>::victims(&self.bank, set, out);
        }
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        Controller::<Faulty>::occupied(&self.bank, set, out);
    }

    fn lines(&self, out: &mut Vec<proto::LineView>) {
        Controller::<Faulty>::lines(&self.bank, out);
    }

    fn is_quiet(&self) -> bool {
        self.joined.is_empty() && Controller::<Faulty>::is_quiet(&self.bank)
    }
}

/// The protocol `vi` with controllers into which a fault can be seeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Faulty;

protocol_nodes! { Faulty: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host) }

/// The description of a protocol into which faults can be seeded.
const INFO: Info = Info {
    name: "faulty",
    summary: "a protocol with faulty controllers",
    claims: zoo::vi::SCOPED_CLAIMS,
    sharing: Sharing::Scoped,
    ..toys::INFO
};

impl Protocol for Faulty {
    type Node = Node;
    type Msg = Msg;
    type Params = ();
    const INFO: Info = INFO;
    const KINDS: &'static [proto::Kind] = zoo::vi::Vi::KINDS;

    fn params(_: &proto::Levels, _: &proto::Settings) -> Result<(), String> {
        Ok(())
    }

    fn node(id: NodeId, levels: &proto::Levels, (): &()) -> Node {
        match id.kind {
            0 => Node::L1(L1::new(levels.of(id.kind), &())),
            1 => Node::Bank(Bank::new(levels.of(id.kind), &())),
            _ => Node::Host(Host),
        }
    }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        agent.enters(0, 2)
    }

    toys::no_tables! {}
}

/// The protocol `rsp` with locks into which a fault can be seeded.
pub mod locked {
    use super::*;
    use zoo::rsp::{RspPlans, ToL1};

    /// A cache of `rsp`. With the seeded fault `LocksBySlot`, it tells locks apart only by their
    /// slots (numbers of requests at one node), and not by the nodes.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct L1(zoo::rsp::L1<RspPlans>);

    impl Controller<Locked> for L1 {
        type Msg = ToL1;

        fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, Locked>) -> Disposition {
            match input {
                Input::Message { from, msg: ToL1::Lock { .. } | ToL1::Unlock { .. } }
                    if has(cx, Fault::LocksBySlot) =>
                {
                    let Input::Message { msg, .. } = input else { return Disposition::Done };
                    let (sent, any) = (cx.fx.sends.len(), NodeId { kind: from.kind, index: u16::MAX });
                    let disposition = self.0.step(Input::Message { from: any, msg }, cx);
                    cx.fx.sends[sent..].iter_mut().for_each(|(to, _)| *to = from);
                    disposition
                }
                input => self.0.step(input, cx),
            }
        }

        fn victims(&self, set: SetIndex, out: &mut Vec<(Way, proto::Rank)>) {
            Controller::<Locked>::victims(&self.0, set, out);
        }

        fn lines(&self, out: &mut Vec<proto::LineView>) {
            Controller::<Locked>::lines(&self.0, out);
        }

        fn is_quiet(&self) -> bool {
            Controller::<Locked>::is_quiet(&self.0)
        }
    }

    /// The variant of `rsp` whose caches confuse the locks of different nodes if the fault
    /// `LocksBySlot` is seeded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Locked;

    protocol_nodes! { Locked: L1(L1, ToL1), Bank(zoo::vi::Bank, ToBank), Host(Host) }

    impl From<zoo::parts::ToL1> for Msg {
        fn from(msg: zoo::parts::ToL1) -> Self {
            Msg::L1(msg.into())
        }
    }

    impl Protocol for Locked {
        type Node = Node;
        type Msg = Msg;
        type Params = ();
        const INFO: Info = Info { claims: zoo::rsp::CLAIMS, sharing: Sharing::Remote, ..INFO };
        const KINDS: &'static [proto::Kind] = zoo::vi::Vi::KINDS;

        fn params(_: &proto::Levels, _: &proto::Settings) -> Result<(), String> {
            Ok(())
        }

        fn node(id: NodeId, levels: &proto::Levels, (): &()) -> Node {
            let level = levels.of(id.kind);
            match id.kind {
                0 => Node::L1(L1(zoo::rsp::L1::new(level, &()))),
                1 => Node::Bank(zoo::vi::Bank::new(level, &())),
                _ => Node::Host(Host),
            }
        }

        fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
            agent.enters(0, 2)
        }

        toys::no_tables! {}
    }
}

/// The maximum number of operations of a small program that fails.
const OPERATIONS_MAX: usize = 40;

fn options(seeded_fault: Option<SeededFault>, episodes: u64) -> Options<'static> {
    Options { episodes, seeded_fault, jobs: 2, ..Options::default() }
}

fn failure<P: Protocol>(options: &Options<'_>) -> Option<Failure> {
    stress(&Subject::of::<P>(), options).expect("episodes exist for it").failure
}

#[test]
fn the_controllers_without_a_fault_pass() {
    assert_eq!(failure::<Faulty>(&options(None, 2_000)), None);
    assert_eq!(failure::<locked::Locked>(&options(None, 1_000)), None);
}

#[test]
fn a_fault_of_every_dimension_is_found_reproducibly() {
    for (fault, episodes) in [
        (Fault::HitsOnOverlap, 200),
        (Fault::RoundsDirtyMask, 200),
        (Fault::UpdatesFirstWord, 200),
        (Fault::UpdatesEightWords, 4_000),
        (Fault::MinIsUnsigned, 1_000),
        (Fault::StoresOnFailedSwap, 200),
        (Fault::AddsToHalf, 2_000),
        (Fault::ThirdWavefront, 1_000),
        (Fault::LargeWavefront, 1_000),
        (Fault::ChipletScope, 1_000),
        (Fault::NamedScope, 1_000),
        (Fault::NinthWay, 2_000),
        (Fault::ThirdUnit, 200),
        (Fault::NinthUnit, 2_000),
        (Fault::ThirdBank, 200),
        (Fault::FifthBank, 1_000),
        (Fault::JoinsFlush, 20_000),
        (Fault::FlipsParityEarly, 5_000),
        (Fault::OffersLate, 2_000),
    ] {
        let options = options(Some(fault.seeded_fault()), episodes);
        let found = failure::<Faulty>(&options).unwrap_or_else(|| panic!("{fault:?} is not found"));
        assert!(found.operations() <= OPERATIONS_MAX, "{fault:?}: {found}");
        let again = Options { seed: found.seed, episodes: 1, ..options };
        assert_eq!(failure::<Faulty>(&again), Some(found), "{fault:?}: its seed alone makes it fail");
    }
}

/// The seeded fault lets an input wait for a way although one is free. A run in which the tester
/// checks the controllers after each step reports the faulty step. Other runs may report a later
/// fault, or none.
#[test]
fn a_forgotten_wait_for_a_way_is_found_at_its_step() {
    assert!(is_reported(Fault::ForgetsWait, "an input that waits for it is not woken"));
}

/// The seeded fault breaks nothing but the priority of an access that waits for a way.
#[test]
fn an_access_that_overtakes_one_that_waits_for_a_way_is_found() {
    assert!(is_reported(Fault::PinsLines, "while an earlier access waits for a way of the set"));
}

/// Whether a run with the seeded fault ends with a report whose text has this end.
fn is_reported(fault: Fault, end: &str) -> bool {
    let options = Options { shrink: false, ..options(Some(fault.seeded_fault()), 1) };
    let mut reports = (0..1_000).filter_map(|seed| failure::<Faulty>(&Options { seed, ..options }));
    reports.any(|found: Failure| found.what.ends_with(end))
}

/// A run of one episode from the seed in the report panics again.
#[test]
fn a_panic_of_a_controller_is_reported_with_its_seed() {
    let options = options(Some(Fault::Panics.seeded_fault()), 2_000);
    let found = failure::<Faulty>(&options).expect("an episode has such an operation");
    assert_eq!(found.what, "a controller panics: eight bytes at once");
    assert_eq!(found.small_what, found.what);
    let again = failure::<Faulty>(&Options { seed: found.seed, episodes: 1, ..options });
    assert_eq!(again, Some(found));
}

/// The explorer reports the panic like other faults, with a schedule.
#[test]
fn a_panic_of_a_controller_is_a_violation() {
    let text = "OPENCL counted
{ }

P0 (global int* y, global atomic_int* x) {
  *y = 1;
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_work_group);
}

scopeTree (device (work_group P0))

forall (0:r0=0)
";
    let program = litmus::parse::parse(text).expect("a test");
    let placement = Placement { widths: vec![Width::W8; 2], ..Placement::spread(&program) };
    let explored = |fault: Option<SeededFault>| {
        let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
        let mut explorer = Explorer::new(&Subject::of::<Faulty>(), bounds, fault);
        let found = explorer.explore(&program, &placement, &Requirements::default(), &mut Limits::default());
        found.expect("the machine has all that the program needs").violation
    };
    assert_eq!(explored(None), None);
    let violation = explored(Some(Fault::Panics.seeded_fault())).expect("the controller panics");
    assert_eq!(violation.why, "a controller panics: eight bytes at once");
    assert!(!violation.moves.is_empty());
}

#[test]
fn locks_by_slot_are_found() {
    let found = failure::<locked::Locked>(&options(Some(Fault::LocksBySlot.seeded_fault()), 50_000));
    let found = found.expect("slots of two nodes are equal");
    assert!(found.operations() <= OPERATIONS_MAX, "{found}");
}

/// The mutant without the invalidation in the plan (the steps) of a kernel's beginning.
fn without_invalidation_at_begin() -> SeededFault {
    let level = Level::Device;
    let plan =
        PlanKey { op: OpClass::KernelBegin, order: Order::AcqRel, level, remote: false, commutative: false };
    let at = L1Plans::plan(plan).iter().position(|step| *step == Step::Invalidate);
    let at = at.expect("it invalidates") as u8;
    SeededFault { table: L1Plans::ID, change: Change::DropStepOf { plan, at } }
}

#[test]
fn a_kernel_that_begins_without_an_invalidation_is_found() {
    let found = failure::<zoo::vi::Vi>(&options(Some(without_invalidation_at_begin()), 400));
    let found = found.expect("a thread finds a value of an earlier kernel");
    assert!(found.operations() <= OPERATIONS_MAX, "{found}");
    let kernels = found.program.iter().filter(|(thread, _)| thread.starts_with("kernel "));
    assert!(kernels.count() >= 2 || found.machine.contains("may change its CU"), "{found}");
}

#[test]
fn protocols_without_epochs_need_the_order_of_channels() {
    for info in zoo::ALL {
        let has_epochs = info.name.starts_with("stc-");
        if has_epochs && zoo::reads_stale_copies(info.name) {
            continue;
        }
        let episodes = if has_epochs { 4_000 } else { 20_000 };
        let options = Options { overtaking: true, ..options(None, episodes) };
        let found =
            stress(&subjects::explored(info.name).expect("a protocol"), &options).expect("known claims");
        // No failure without the order of channels is known of the protocols with epochs.
        if has_epochs {
            assert!(found.failure.is_none(), "{}: {:?}", info.name, found.failure);
            continue;
        }
        let found = found.failure.unwrap_or_else(|| panic!("{} needs no order", info.name));
        // A failure that depends on the order of many messages shrinks less.
        assert!(found.operations() <= 2 * OPERATIONS_MAX, "{}: {found}", info.name);
    }
}
