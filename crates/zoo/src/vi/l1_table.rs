//! The state transition table of a line in the L1, and the plans (lists of steps) of operations.

use super::step::Step;
use proto::{OpClass, PlanKey, Reach, Row, Steps, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line.
    pub enum LineState {
        /// The line is not present.
        I,
        /// The line is present, but some bytes that the access needs are not valid.
        P,
        /// The line is present, and all bytes that the access needs are valid.
        V,
        /// A fill is under way.
        IV,
        /// A fill is under way, and its bytes must not be kept.
        IX,
    }
}

symbols! {
    /// The events of a line.
    pub enum LineEvent {
        /// A load that this cache may satisfy.
        Load,
        /// A store that this cache may satisfy.
        Store,
        /// A read-modify-write at work-group scope or below.
        Rmw,
        /// An access is performed at a level below, and the line here is clean.
        Pass,
        /// An access is performed at a level below, and the line here is dirty.
        PassDirty,
        /// The store buffer drains this line.
        Drain,
        /// The store buffer drains this line in a cache that keeps no copy.
        DrainDrop,
        /// The fill arrives, and no byte is dirty.
        Data,
        /// The fill arrives, and some bytes are dirty.
        DataDirty,
        /// A clean line is evicted, because its way is needed for another line.
        Evict,
        /// A dirty line is evicted, because its way is needed for another line.
        EvictDirty,
        /// An acquire invalidates a clean line.
        Inv,
        /// An acquire is carried out while the line is dirty.
        InvDirty,
    }
}

impl LineEvent {
    /// The variant of this event for a dirty line. If the event has no such variant, the result is
    /// the event itself.
    #[must_use]
    pub fn of_dirty(self) -> LineEvent {
        match self {
            LineEvent::Pass => LineEvent::PassDirty,
            LineEvent::Data => LineEvent::DataDirty,
            LineEvent::Evict => LineEvent::EvictDirty,
            LineEvent::Inv => LineEvent::InvDirty,
            event => event,
        }
    }
}

symbols! {
    /// The actions that the rows of the table perform.
    pub enum LineAction {
        /// Request the line from the bank. Takes a miss register.
        SendGet,
        /// Answer with the bytes of the line.
        Reply,
        /// Merge the bytes of a store into the line. A clean line joins the store buffer.
        Merge,
        /// Answer a request that expects no bytes.
        Accept,
        /// Update the words and answer with the old bytes. A clean line joins the store buffer.
        Perform,
        /// Remove the line from the store buffer, and wake inputs that wait for an entry.
        Unqueue,
        /// Write the dirty bytes out to the bank. The line becomes clean.
        WriteOut,
        /// Fill the bytes that are not valid.
        Fill,
        /// Answer the loads that wait for the line.
        Answer,
        /// Invalidate the clean bytes.
        KeepDirty,
        /// Free the miss register, and wake inputs that wait for it, the line or its way.
        Wake,
        /// Wake accesses that wait for the fill. These accesses continue at a level below, or
        /// request the line again.
        Divert,
    }
}

/// The state transition table of a line in the L1.
#[derive(Clone, Copy, Debug)]
pub struct L1Table;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const ACCESS_ONLY: &str = "the state is only for accesses that need missing bytes";
const PINNED: &str = "a line with a fill under way is pinned";
const UNQUEUED: &str = "a line leaves the store buffer before it leaves the cache";

impl Table for L1Table {
    type State = LineState;
    type Event = LineEvent;
    type Action = LineAction;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in the L1";
    const NEVER_STORED: &'static [LineState] = &[LineState::P];

    proto::listed_rows! { L1Table::rule: (LineState, LineEvent) -> LineAction }
}

impl L1Table {
    const fn rule(state: LineState, event: LineEvent) -> Row<LineState, LineAction> {
        use LineAction::*;
        use LineEvent::*;
        use LineState::*;
        match (state, event) {
            (I | P, Load) => go(IV, &[SendGet]).wait(),
            (I | P, Rmw) => go(IV, &[SendGet]).retry(),
            // A store needs no permission and no fetch: the dirty mask records its bytes.
            (I, Store) => go(V, &[Merge, Accept]),
            (I, Pass) => stay(&[]),
            (I, Drain | DrainDrop) => impossible(UNQUEUED),
            (I, Data | DataDirty) => impossible(NO_FILL),
            (I, PassDirty | Evict | EvictDirty | Inv | InvDirty) => impossible(NO_LINE),

            (P, Store | Pass | PassDirty | Drain | DrainDrop) => impossible(ACCESS_ONLY),
            (P, Data | DataDirty | Evict | EvictDirty | Inv | InvDirty) => impossible(ACCESS_ONLY),

            (V, Load) => stay(&[Reply]),
            (V, Store) => stay(&[Merge, Accept]),
            (V, Rmw) => stay(&[Perform]),
            // The access at the level below would make this copy stale, even for the thread that
            // makes the access.
            (V, Pass) => go(I, &[]),
            (V, PassDirty) => go(I, &[Unqueue, WriteOut]),
            (V, Drain) => stay(&[WriteOut]),
            (V, DrainDrop) => go(I, &[WriteOut]),
            (V, Data | DataDirty) => impossible(NO_FILL),
            (V, Evict | Inv) => go(I, &[]),
            (V, EvictDirty) => go(I, &[Unqueue, WriteOut]),
            // The dirty bytes are newer than those of the level below, and another work-item
            // may have written them. The rest of the line may be stale.
            (V, InvDirty) => stay(&[KeepDirty]),

            (IV, Load) => stay(&[]).wait(),
            (IV | IX, Store) => stay(&[Merge, Accept]),
            (IV, Rmw) => stall(),
            // The cache must drop the fill. If an update waited for the fill, it would have to
            // request the line again each time another work-item of this compute unit acquires. So
            // the L2 performs the update.
            (IX, Rmw) => stay(&[]).next(),
            (IV, Pass | Inv | InvDirty) => go(IX, &[Divert]),
            (IV, PassDirty) => go(IX, &[Unqueue, WriteOut, Divert]),
            (IV | IX, Drain) => stay(&[WriteOut]),
            (IV, DrainDrop) => go(IX, &[WriteOut, Divert]),
            (IV, Data | DataDirty) => go(V, &[Fill, Answer, Wake]),
            (IV | IX, Evict | EvictDirty) => impossible(PINNED),

            // The fill may be older than the acquire, so a later load must request
            // the line again.
            (IX, Load) => stall(),
            (IX, Pass | Inv | InvDirty) => stay(&[]),
            (IX, PassDirty) => stay(&[Unqueue, WriteOut]),
            (IX, DrainDrop) => stay(&[WriteOut]),
            // The waiting loads precede the invalidation, so they may read the fill.
            (IX, Data) => go(I, &[Fill, Answer, Wake]),
            (IX, DataDirty) => go(V, &[Fill, Answer, KeepDirty, Wake]),
        }
    }
}

proto::plans! {
    /// The plan of each operation at the L1: the list of its steps.
    pub struct L1Plans: Step = plan, TableId(1), "Operations at the L1"
}

/// The plan (list of steps) of an operation. The operation is not a remote operation: it does not
/// synchronize with narrower scopes on other compute units.
pub(crate) const fn plan(key: PlanKey) -> Steps<Step> {
    let acquire: &[Step] = match key.acquired() {
        None | Some(Reach::Group) => &[],
        Some(Reach::Device) => &[Step::Invalidate],
        Some(Reach::System) => &[Step::InvalidateBanks, Step::Invalidate],
    };
    Steps::of(&[release(key), access(key), acquire, answer(key)])
}

/// The steps of an operation's release, which come before its access.
pub(crate) const fn release(key: PlanKey) -> &'static [Step] {
    match key.released() {
        None | Some(Reach::Group) => &[],
        Some(Reach::Device) => &[Step::Flush],
        Some(Reach::System) => &[Step::Flush, Step::FlushBanks],
    }
}

/// The steps that perform the access of an operation, at the level of the operation's scope.
const fn access(key: PlanKey) -> &'static [Step] {
    use Step::{Below, BelowSystem, Here, Pass, Post};
    match (key.op, key.reach()) {
        (OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd, _) => &[],
        (OpClass::Load | OpClass::Store, _) if key.is_plain() => &[Here],
        (OpClass::Load | OpClass::Store, Reach::Group) => &[Here],
        // `Here` continues with `Pass` if the line is in IX.
        (OpClass::Rmw | OpClass::Update, _) if key.is_plain() => &[Here, Pass, Below],
        (OpClass::Rmw | OpClass::Update, Reach::Group) => &[Here, Pass, Below],
        // Only a later flush waits for a posted access. The channel to the bank delivers accesses
        // in order.
        (OpClass::Store, Reach::Device) if !key.releases() => &[Pass, Post],
        (OpClass::Update, Reach::Device) if !key.releases() && !key.acquires() => &[Pass, Post],
        (_, Reach::Device) => &[Pass, Below],
        (_, Reach::System) => &[Pass, BelowSystem],
    }
}

/// The step that answers the request. The list is empty for a load or a store that is performed in
/// the L1, because the step that performs the access also answers the request.
const fn answer(key: PlanKey) -> &'static [Step] {
    match key.op {
        OpClass::Load | OpClass::Store if key.is_plain() || matches!(key.reach(), Reach::Group) => &[],
        _ => &[Step::AnswerIt],
    }
}
