//! The state transition tables of a line in the L1, and the plans (lists of steps) of operations.

use proto::{OpClass, PlanKey, Reach, Row, Steps, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line in the read cache of an L1.
    pub enum L1State {
        /// The line is not present.
        I,
        /// The line is present, and the written bit is clear.
        V,
        /// The line is present, and the written bit is set: the write cache has newer bytes.
        W,
        /// A fill is under way.
        IV,
        /// A fill is under way, and its bytes must not be kept.
        IX,
    }
    /// The events of a line in an L1.
    pub enum L1Event {
        /// A load. If the written bit is not clear, the write cache has no bytes of the line.
        Load,
        /// A load that does not hit in the read cache, and the write cache has all its bytes.
        LoadCovered,
        /// A load that does not hit in the read cache, and the write cache has only some bytes of the line.
        LoadPart,
        /// A store.
        Store,
        /// The line leaves the write cache, or an atomic of this compute unit passes to the directory.
        Leave,
        /// The fill arrives, and the write cache has no bytes of the line.
        Data,
        /// The fill arrives, and the write cache has bytes of the line.
        DataWritten,
        /// The L2 invalidates the line.
        Inv,
        /// The line is evicted from the read cache, because its way is needed for another line.
        Evict,
    }
    /// The actions on a line in an L1.
    pub enum L1Action {
        /// Request the line from the L2. Takes a miss register.
        SendGet,
        /// Answer with the bytes of the read cache.
        Reply,
        /// Answer with the bytes of the write cache.
        ReplyWritten,
        /// Merge the bytes of a store into the write cache, and queue the address in the S-FIFO.
        Merge,
        /// Write the bytes of the write cache out to the L2, if there are any.
        WriteOut,
        /// Take the bytes of the fill.
        Fill,
        /// Answer the loads that wait for the fill.
        Answer,
        /// Free the miss register, and wake inputs that wait for it, the line or its way.
        Wake,
        /// Acknowledge the invalidation.
        Ack,
    }
}

/// The state transition table of a line in the L1 of a repaired protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Table;

const NO_FILL: &str = "no fill is under way";
const NO_LINE: &str = "there is no line";
const HITS: &str = "the load hits in the read cache";
const PINNED: &str = "a line with a fill under way is pinned";
const WRITTEN: &str = "the write cache has bytes of a line whose written bit is set";

impl Table for L1Table {
    type State = L1State;
    type Event = L1Event;
    type Action = L1Action;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in the L1";

    fn row(state: L1State, event: L1Event) -> Row<L1State, L1Action> {
        use L1Action::*;
        use L1Event::*;
        use L1State::*;
        match (state, event) {
            (I, Load) => go(IV, &[SendGet]).wait(),
            (V, Load) => stay(&[Reply]),
            (W, Load) => impossible(WRITTEN),
            (IV, Load) => stay(&[]).wait(),
            // The fill may be older than a write that the thread has seen: the load requests again.
            (IX, Load) => stall(),

            (V, LoadCovered | LoadPart) => impossible(HITS),
            (I | W | IV | IX, LoadCovered) => stay(&[ReplyWritten]),
            // The L2 gets the bytes before the request, on the same channel.
            (I | W, LoadPart) => go(IV, &[WriteOut, SendGet]).wait(),
            // The fill under way does not have the bytes that are written out now.
            (IV, LoadPart) => go(IX, &[WriteOut]).retry(),
            (IX, LoadPart) => stay(&[WriteOut]).retry(),

            (I | W | IV | IX, Store) => stay(&[Merge]),
            (V, Store) => go(W, &[Merge]),

            (I | IX, Leave) => stay(&[WriteOut]),
            (V | W, Leave) => go(I, &[WriteOut]),
            (IV, Leave) => go(IX, &[WriteOut]),

            (I | V | W, Data | DataWritten) => impossible(NO_FILL),
            (IV, Data) => go(V, &[Fill, Answer, Wake]),
            // The bytes were requested before the store.
            (IV, DataWritten) => go(W, &[Fill, Answer, Wake]),
            // The waiting loads were presented before the write, so they may read these bytes.
            (IX, Data | DataWritten) => go(I, &[Fill, Answer, Wake]),

            (I | IX, Inv) => stay(&[Ack]),
            (V | W, Inv) => go(I, &[Ack]),
            // The L2 may have read the bytes before the write.
            (IV, Inv) => go(IX, &[Ack]),

            (I, Evict) => impossible(NO_LINE),
            (V | W, Evict) => go(I, &[]),
            (IV | IX, Evict) => impossible(PINNED),
        }
    }
}

/// The state transition table of a line in the L1 of `quick-release`, as published. Rows that differ
/// from [`L1Table`] keep every fill, with a clear written bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Published;

impl Table for L1Published {
    type State = L1State;
    type Event = L1Event;
    type Action = L1Action;
    const ID: TableId = L1Table::ID;
    const NAME: &'static str = L1Table::NAME;
    const NEVER_STORED: &'static [L1State] = &[L1State::IX];

    fn row(state: L1State, event: L1Event) -> Row<L1State, L1Action> {
        use L1Action::*;
        use L1Event::*;
        use L1State::*;
        match (state, event) {
            (IX, _) => impossible("every fill is kept"),
            (IV, LoadPart) => stay(&[WriteOut]).wait(),
            (IV, Leave) => stay(&[WriteOut]),
            (IV, DataWritten) => go(V, &[Fill, Answer, Wake]),
            (IV, Inv) => stay(&[Ack]),
            (state, event) => L1Table::row(state, event),
        }
    }
}

symbols! {
    /// The steps from which the plans of operations are composed.
    pub enum Step {
        /// Load from the read cache or the write cache, or request the line. Answer.
        Load,
        /// Store into the write cache.
        Put,
        /// Put a marker into the S-FIFO, and wait for its acks.
        Release,
        /// Put a marker into the S-FIFO for which nothing waits.
        Trail,
        /// Write the line out of the write cache, and invalidate it in the read cache.
        Leave,
        /// Put the address of the line into the S-FIFO, as the mark of an atomic.
        Mark,
        /// Perform the access at the directory, and wait for the answer.
        Atomic,
        /// Answer the request.
        AnswerIt,
    }
}

proto::plans! {
    /// The plan of each operation at an L1 of `quick-release`.
    pub struct PublishedPlans: Step = published, TableId(5), "Operations at the L1"
}

proto::plans! {
    /// The plan of each operation at an L1 of `quick-release-repaired`.
    pub struct RepairedPlans: Step = repaired, TableId(5), "Operations at the L1"
}

proto::plans! {
    /// The plan of each operation at an L1 of `quick-release-groups`.
    pub struct GroupPlans: Step = grouped, TableId(5), "Operations at the L1"
}

proto::plans! {
    /// The plans of a test protocol: a store-release does not wait for its marker.
    pub struct EarlyPlans: Step = early, TableId(5), "Operations at the L1"
}

/// The steps of a release.
const fn release(key: PlanKey) -> &'static [Step] {
    if key.releases() { &[Step::Release] } else { &[] }
}

/// An acquire and the beginning of a kernel have nothing to do. A store-release stores when its
/// release is complete, and begins another release for which nothing waits.
const fn published(key: PlanKey) -> Steps<Step> {
    use Step::{AnswerIt, Atomic, Load, Mark, Put, Trail};
    let access: &[Step] = match key.op {
        OpClass::Load => return Steps::of(&[&[Load]]),
        OpClass::Store if key.releases() => &[Put, Trail],
        OpClass::Store => &[Put],
        OpClass::Rmw | OpClass::Update => &[Mark, Atomic],
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[],
    };
    Steps::of(&[release(key), access, &[AnswerIt]])
}

/// A store-release puts its marker and its store into the write path at once.
const fn early(key: PlanKey) -> Steps<Step> {
    use Step::{AnswerIt, Put, Trail};
    match key.op {
        OpClass::Store if key.releases() => Steps::of(&[&[Trail, Put, Trail, AnswerIt]]),
        _ => published(key),
    }
}

/// All atomics that write are performed at the directory, when no cache has an older copy.
const fn repaired(key: PlanKey) -> Steps<Step> {
    use Step::{AnswerIt, Atomic, Leave, Load, Mark, Put};
    let access: &[Step] = match key.op {
        OpClass::Load => return Steps::of(&[&[Load]]),
        OpClass::Store if key.is_plain() => &[Put],
        OpClass::Store | OpClass::Rmw | OpClass::Update => &[Leave, Mark, Atomic],
        OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd => &[],
    };
    Steps::of(&[release(key), access, &[AnswerIt]])
}

/// The wavefronts of a work-group share an L1. So a store, a fence or a release at work-group scope is
/// complete in the L1.
const fn grouped(key: PlanKey) -> Steps<Step> {
    use Step::{AnswerIt, Atomic, Leave, Mark, Put};
    match (key.op, key.reach()) {
        (OpClass::Store, Reach::Group) => Steps::of(&[&[Put, AnswerIt]]),
        (OpClass::Rmw | OpClass::Update, Reach::Group) => Steps::of(&[&[Leave, Mark, Atomic, AnswerIt]]),
        (OpClass::Fence, Reach::Group) => Steps::of(&[&[AnswerIt]]),
        _ => repaired(key),
    }
}
