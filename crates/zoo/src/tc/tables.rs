//! The state transition tables of a line in the L1 and of a line's leases at the bank, and the
//! plans (lists of steps) of operations.

use proto::{
    OpClass, Order, PlanKey, Reach, Row, Steps, Table, TableId, go, impossible, stall, stay, symbols,
};

symbols! {
    /// The states of a line.
    pub enum State {
        /// The line is not present.
        I,
        /// The line is present, and its lease runs.
        V,
        /// A fill is under way.
        IV,
        /// A fill is under way, and its bytes only answer the load that waits for them.
        IX,
    }
    /// The events of a line.
    pub enum Event {
        /// A load.
        Load,
        /// A write of this compute unit leaves for the bank or for memory, or a load at system scope
        /// leaves for memory.
        Pass,
        /// A fill comes, and its lease runs.
        Data,
        /// A fill comes without a lease, or its lease ended while the fill was under way.
        DataEnded,
        /// The lease ends.
        End,
        /// The line is evicted, because its way is needed for another line.
        Evict,
    }
    /// The actions of the rows.
    pub enum Action {
        /// Ask the bank for the line. The request holds a miss register.
        SendGet,
        /// Answer with the bytes of the line.
        Reply,
        /// Take the filled bytes and the lease.
        Fill,
        /// Answer the load that waits for the fill.
        Answer,
        /// Forget the lease.
        Forget,
        /// Free the miss register, and wake the inputs that wait for a miss register, for the line or
        /// for its way.
        Wake,
    }
}

/// The state transition table of a line in the L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Table;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const PINNED: &str = "a line with a fill under way is pinned";
const NO_LEASE: &str = "only a line that is present has a lease";

impl Table for L1Table {
    type State = State;
    type Event = Event;
    type Action = Action;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in the L1";

    fn row(state: State, event: Event) -> Row<State, Action> {
        use Action::*;
        use Event::*;
        use State::*;
        match (state, event) {
            (I, Load) => go(IV, &[SendGet]).wait(),
            (V, Load) => stay(&[Reply]),
            // The bytes on their way may be older than a write that this load must see.
            (IV | IX, Load) => stall(),
            (I, Pass) => stay(&[]),
            // The write makes the copy stale.
            (V, Pass) => go(I, &[Forget]),
            (IV, Pass) => go(IX, &[]),
            (IX, Pass) => stay(&[]),
            (I | V, Data | DataEnded) => impossible(NO_FILL),
            (IV, Data) => go(V, &[Fill, Answer, Wake]),
            (IV, DataEnded) | (IX, Data | DataEnded) => go(I, &[Answer, Wake]),
            (V, End) => go(I, &[]),
            (I | IV | IX, End) => impossible(NO_LEASE),
            (V, Evict) => go(I, &[Forget]),
            (I, Evict) => impossible(NO_LINE),
            (IV | IX, Evict) => impossible(PINNED),
        }
    }
}

symbols! {
    /// The states of a line's leases at its bank.
    pub enum Lease {
        /// No lease runs.
        Free,
        /// One compute unit alone has leases of the line.
        Private,
        /// Several compute units got leases, and the last of these leases has not ended.
        Shared,
        /// Leases run, and an access waits for their end, or for a way of the line's set.
        Awaited,
        /// No lease runs, and an access waits for a way of the line's set.
        Wanted,
    }
    /// The events of a line's leases.
    pub enum Use {
        /// The compute unit that alone has a lease of the line gets the line.
        OwnGet,
        /// Another compute unit gets the line.
        Get,
        /// The compute unit that alone has a lease of the line writes to the line.
        OwnWrite,
        /// Another compute unit writes, or the access is performed in memory.
        Write,
        /// The last lease ends.
        End,
    }
    /// The actions on leases.
    pub enum Deed {
        /// Give the requester a lease, and set a deadline for its end.
        Grant,
        /// Forget the lease.
        Release,
        /// Wake the inputs that wait for the line or for its way.
        WakeLine,
    }
}

/// The table of a line's leases at its bank. A write that does not wait for leases has a row only if its
/// compute unit alone has a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseTable;

const NOBODY: &str =
    "only a compute unit that alone has a lease causes the event, and only if no access waits";

impl Table for LeaseTable {
    type State = Lease;
    type Event = Use;
    type Action = Deed;
    const ID: TableId = TableId(3);
    const NAME: &'static str = "The leases of a line at its bank";
    const NEVER_STORED: &'static [Lease] = &[Lease::Awaited, Lease::Wanted];

    fn row(state: Lease, event: Use) -> Row<Lease, Deed> {
        use Deed::*;
        use Lease::*;
        use Use::*;
        match (state, event) {
            (Free, Get) => go(Private, &[Grant]),
            (Private, OwnGet) | (Shared, Get) => stay(&[Grant]),
            (Private, Get) => go(Shared, &[Grant]),
            (Free, Write) => stay(&[]),
            // The copy has left the L1 before the write did.
            (Private, OwnWrite) => go(Free, &[Release]),
            (Private | Shared, Write) => stall(),
            // With further leases, the waiting access could wait for ever.
            (Awaited, Get | Write) => stall(),
            // The get is answered without a lease, so the line can be evicted.
            (Wanted, Get | Write) => stay(&[]),
            (Private | Shared, End) => go(Free, &[WakeLine]),
            (Free | Shared | Awaited | Wanted, OwnGet | OwnWrite) => impossible(NOBODY),
            (Free, End) => impossible("no lease runs"),
            (Awaited | Wanted, End) => {
                impossible("only an access finds the leases in this state; the end of a lease does not")
            }
        }
    }
}

symbols! {
    /// The steps of operations.
    pub enum Step {
        /// Load from this cache's copy of the line or, without a copy, from the bank; then answer.
        Here,
        /// Remove the line, because the access is performed at a level below.
        Pass,
        /// Perform the write or the atomic at the L2 when no lease of the line runs, and wait for the
        /// answer.
        Below,
        /// Perform the write or the atomic at the L2 at once, and wait for the answer. The answer
        /// carries the time at which the lease of the last copy with older bytes ends.
        BelowAtOnce,
        /// Perform the access in memory when no lease of the line runs, and wait for the answer.
        BelowSystem,
        /// Wait until no other L1 has a copy that is older than a write of this compute unit.
        AwaitCopies,
        /// Flush the L2 to memory and wait for the acks.
        FlushBanks,
        /// Invalidate the clean bytes of the L2 and wait for the acks.
        InvalidateBanks,
        /// Wait until all leases that run now have ended, at all banks.
        AwaitLeases,
        /// Answer the request.
        AnswerIt,
    }
}

/// The writes that are performed at the L2 while leases of their line run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtOnce {
    None,
    Plain,
    All,
}

proto::plans! {
    /// The plan of each operation at the L1 of `tc-strong`: the list of its steps.
    pub struct StrongPlans: Step = strong, TableId(1), "Operations at the L1"
}
proto::plans! {
    /// The plan of each operation at the L1 of `tc-weak`: the list of its steps.
    pub struct WeakPlans: Step = weak, TableId(1), "Operations at the L1"
}
proto::plans! {
    /// The plan of each operation at the L1 of `tc-weak-repaired`: the list of its steps.
    pub struct RepairedPlans: Step = repaired, TableId(1), "Operations at the L1"
}

const fn strong(key: PlanKey) -> Steps<Step> {
    plan(key, AtOnce::None)
}

const fn weak(key: PlanKey) -> Steps<Step> {
    plan(key, AtOnce::All)
}

const fn repaired(key: PlanKey) -> Steps<Step> {
    plan(key, AtOnce::Plain)
}

/// The steps of an operation. Every answered write is at the L2. If writes do not wait for copies
/// in other L1s, a fence waits for the end of the copies that are older than a write. A release and
/// a sequentially consistent access contain a fence.
const fn plan(key: PlanKey, at_once: AtOnce) -> Steps<Step> {
    use Step::*;
    let is_wide = matches!(key.reach(), Reach::System) && !key.is_plain();
    let has_fence = key.releases() || matches!(key.order, Order::SeqCst);
    let waits = !matches!(at_once, AtOnce::None) && has_fence;
    let fence: &[Step] = if waits { &[AwaitCopies] } else { &[] };
    let release: &[Step] = if matches!(key.released(), Some(Reach::System)) { &[FlushBanks] } else { &[] };
    let is_at_once = match at_once {
        AtOnce::None => false,
        AtOnce::Plain => key.is_plain(),
        AtOnce::All => true,
    };
    let access: &[Step] = match key.op {
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[],
        OpClass::Load if !is_wide => &[Here],
        _ if is_wide => &[Pass, BelowSystem],
        _ if is_at_once => &[Pass, BelowAtOnce],
        _ => &[Pass, Below],
    };
    let acquire: &[Step] = match key.acquired() {
        Some(Reach::System) => &[InvalidateBanks, AwaitLeases],
        None | Some(Reach::Group | Reach::Device) => &[],
    };
    let is_here = matches!(key.op, OpClass::Load) && !is_wide;
    Steps::of(&[fence, release, access, acquire, if is_here { &[] } else { &[AnswerIt] }])
}
