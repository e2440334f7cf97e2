//! The tables of the L1: what happens to a line, and what each operation does.

use super::step::Step;
use proto::{
    Level, OpClass, Order, PlanKey, Plans, Row, Table, TableId, go, impossible, stall, stay, symbols,
};

symbols! {
    /// The states of a line.
    pub enum LineState {
        /// Not present.
        I,
        /// Present, but bytes that are asked for are not valid.
        P,
        /// Present, with the bytes that are asked for.
        V,
        /// A fill is under way.
        IV,
        /// A fill is under way that must not be installed.
        IX,
    }
}

symbols! {
    /// What happens to a line.
    pub enum LineEvent {
        /// A load that this cache may satisfy.
        Load,
        /// A store that this cache may satisfy.
        Store,
        /// A read-modify-write at work-group scope or below.
        Rmw,
        /// An access to be performed below passes a clean line.
        Pass,
        /// An access to be performed below passes a dirty line.
        PassDirty,
        /// The line is the oldest in the store buffer.
        Drain,
        /// The same, and the cache keeps nothing that it has written.
        DrainDrop,
        /// The fill comes; no byte is dirty.
        Data,
        /// The fill comes; some bytes are dirty.
        DataDirty,
        /// The environment takes the way of a clean line.
        Evict,
        /// The environment takes the way of a dirty line.
        EvictDirty,
        /// An acquire invalidates a clean line.
        Inv,
        /// An acquire meets a dirty line.
        InvDirty,
    }
}

impl LineEvent {
    /// The same event, where it meets dirty bytes.
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
    /// What is done.
    pub enum LineAction {
        /// Ask the bank for the line; takes a miss register.
        SendGet,
        /// Answer with the bytes of the line.
        Reply,
        /// Merge the stored bytes; a clean line joins the store buffer.
        Merge,
        /// Answer a request that expects no bytes.
        Accept,
        /// Update the words and answer with the old bytes; a clean line joins the store buffer.
        Perform,
        /// Take the line out of the store buffer, and present what waits for room in it.
        Unqueue,
        /// Send the dirty bytes to the bank; they are clean from now on.
        WriteOut,
        /// Take the filled bytes that were not written meanwhile.
        Fill,
        /// Answer the loads that wait for this fill.
        Answer,
        /// Keep only the dirty bytes.
        KeepDirty,
        /// Free the miss register and present what waited.
        Wake,
        /// Present what waited for the fill: it cannot be had here.
        Divert,
    }
}

/// The table of a line in the L1.
#[derive(Clone, Copy, Debug)]
pub struct L1Table;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const ACCESS_ONLY: &str = "only an access asks for bytes";
const PINNED: &str = "a line with a fill under way is pinned";
const UNQUEUED: &str = "a line leaves the store buffer before it leaves the cache";

impl Table for L1Table {
    type State = LineState;
    type Event = LineEvent;
    type Action = LineAction;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in the L1";
    const NEVER_STORED: &'static [LineState] = &[LineState::P];

    fn row(state: LineState, event: LineEvent) -> Row<LineState, LineAction> {
        use LineAction::*;
        use LineEvent::*;
        use LineState::*;
        match (state, event) {
            (I | P, Load) => go(IV, &[SendGet]).wait(),
            (I | P, Rmw) => go(IV, &[SendGet]).retry(),
            // A store needs no permission and no fetch: the mask remembers its bytes.
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
            // The access below would make this copy stale for its own thread.
            (V, Pass) => go(I, &[]),
            (V, PassDirty) => go(I, &[Unqueue, WriteOut]),
            (V, Drain) => stay(&[WriteOut]),
            (V, DrainDrop) => go(I, &[WriteOut]),
            (V, Data | DataDirty) => impossible(NO_FILL),
            (V, Evict | Inv) => go(I, &[]),
            (V, EvictDirty) => go(I, &[Unqueue, WriteOut]),
            // The dirty bytes are newer than anything below, and may be another
            // work-item's; the rest of the line may be stale.
            (V, InvDirty) => stay(&[KeepDirty]),

            (IV, Load) => stay(&[]).wait(),
            (IV | IX, Store) => stay(&[Merge, Accept]),
            (IV, Rmw) => stall(),
            // Updates that wait for the fill would ask for it again and again
            // while peers acquire: they are performed below instead.
            (IX, Rmw) => stay(&[]).next(),
            (IV, Pass | Inv | InvDirty) => go(IX, &[Divert]),
            (IV, PassDirty) => go(IX, &[Unqueue, WriteOut, Divert]),
            (IV | IX, Drain) => stay(&[WriteOut]),
            (IV, DrainDrop) => go(IX, &[WriteOut, Divert]),
            (IV, Data | DataDirty) => go(V, &[Fill, Answer, Wake]),
            (IV | IX, Evict | EvictDirty) => impossible(PINNED),

            // The coming bytes may be older than the acquire: a later load must
            // ask again.
            (IX, Load) => stall(),
            (IX, Pass | Inv | InvDirty) => stay(&[]),
            (IX, PassDirty) => stay(&[Unqueue, WriteOut]),
            (IX, DrainDrop) => stay(&[WriteOut]),
            // The loads that waited came before the invalidation: they may
            // still have the bytes.
            (IX, Data) => go(I, &[Fill, Answer, Wake]),
            (IX, DataDirty) => go(V, &[Fill, Answer, KeepDirty, Wake]),
        }
    }
}

/// What each operation does at the L1.
#[derive(Clone, Copy, Debug)]
pub struct L1Plans;

impl Plans for L1Plans {
    type Step = Step;
    const ID: TableId = TableId(1);
    const NAME: &'static str = "Operations at the L1";

    fn plan(key: PlanKey) -> &'static [Step] {
        use OpClass::*;
        use Step::*;
        let acquires = key.order.acquires();
        let releases = key.order.releases();
        match (key.op, key.level) {
            // Plain accesses, and atomics that the CU's own work-items share.
            (Load | Store, _) if key.order == Order::Plain => &[Here],
            (Load | Store, Level::WorkItem | Level::SubGroup | Level::WorkGroup) => &[Here],
            // Those that meet a fill that is not kept go on below.
            (Rmw | Update, _) if key.order == Order::Plain => &[Here, Pass, Below, AnswerIt],
            (Rmw | Update, Level::WorkItem | Level::SubGroup | Level::WorkGroup) => {
                &[Here, Pass, Below, AnswerIt]
            }
            (Fence, Level::WorkItem | Level::SubGroup | Level::WorkGroup) => &[AnswerIt],

            (Load, Level::System) if acquires => &[Pass, BelowSystem, InvalidateBanks, Invalidate, AnswerIt],
            (Load | Store | Rmw | Update, Level::System) if !acquires && !releases => {
                &[Pass, BelowSystem, AnswerIt]
            }
            (Load, Level::System) => &[Pass, BelowSystem, AnswerIt],
            (Store, Level::System) if releases => &[Flush, FlushBanks, Pass, BelowSystem, AnswerIt],
            (Store, Level::System) => &[Pass, BelowSystem, AnswerIt],
            (Rmw | Update, Level::System) => match (acquires, releases) {
                (true, true) => {
                    &[Flush, FlushBanks, Pass, BelowSystem, InvalidateBanks, Invalidate, AnswerIt]
                }
                (true, false) => &[Pass, BelowSystem, InvalidateBanks, Invalidate, AnswerIt],
                (false, _) => &[Flush, FlushBanks, Pass, BelowSystem, AnswerIt],
            },
            (Fence, Level::System) => match (acquires, releases) {
                (true, true) => &[Flush, FlushBanks, InvalidateBanks, Invalidate, AnswerIt],
                (true, false) => &[InvalidateBanks, Invalidate, AnswerIt],
                (false, true) => &[Flush, FlushBanks, AnswerIt],
                (false, false) => &[AnswerIt],
            },
            (KernelBegin, Level::System) => &[InvalidateBanks, Invalidate, AnswerIt],
            (KernelEnd, Level::System) => &[Flush, FlushBanks, AnswerIt],

            (Load, Level::Chiplet | Level::Device | Level::Named) if acquires => {
                &[Pass, Below, Invalidate, AnswerIt]
            }
            (Load, Level::Chiplet | Level::Device | Level::Named) => &[Pass, Below, AnswerIt],
            (Store, Level::Chiplet | Level::Device | Level::Named) if releases => {
                &[Flush, Pass, Below, AnswerIt]
            }
            // Nobody waits for it but a later flush; the channel keeps it in order.
            (Store, Level::Chiplet | Level::Device | Level::Named) => &[Pass, Post, AnswerIt],
            (Rmw | Update, Level::Chiplet | Level::Device | Level::Named) => match (acquires, releases) {
                (true, true) => &[Flush, Pass, Below, Invalidate, AnswerIt],
                (true, false) => &[Pass, Below, Invalidate, AnswerIt],
                (false, true) => &[Flush, Pass, Below, AnswerIt],
                (false, false) if key.op == Update => &[Pass, Post, AnswerIt],
                (false, false) => &[Pass, Below, AnswerIt],
            },
            (Fence, Level::Chiplet | Level::Device | Level::Named) => match (acquires, releases) {
                (true, true) => &[Flush, Invalidate, AnswerIt],
                (true, false) => &[Invalidate, AnswerIt],
                (false, true) => &[Flush, AnswerIt],
                (false, false) => &[AnswerIt],
            },
            (KernelBegin, _) => &[Invalidate, AnswerIt],
            (KernelEnd, _) => &[Flush, AnswerIt],
        }
    }
}
