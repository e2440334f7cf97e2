//! The state transition table of a line in an L1 of hLRC, as published.

use proto::{Row, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line in an L1 of hLRC.
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
        /// Registration, or the bytes of a registered line, are requested.
        IR,
        /// Registration, or the bytes of a registered line, are requested, and only the requested bytes may be kept.
        XR,
        /// The line is registered to this cache.
        R,
        /// The line is registered to this cache, but some bytes that the access needs are not
        /// valid.
        RP,
        /// The line is registered to this cache, which returns the registration after a flush.
        RF,
    }
}

symbols! {
    /// The events of a line in an L1 of hLRC.
    pub enum LineEvent {
        /// A load of data.
        Load,
        /// A store of data.
        Store,
        /// An atomic that acquires or releases.
        Sync,
        /// An atomic that orders no other access.
        Relaxed,
        /// An atomic that another cache issued and that orders no other access.
        Forward,
        /// An access is performed at a level below, and the line here is clean.
        Pass,
        /// An access is performed at a level below, and the line here is dirty.
        PassDirty,
        /// The grant of registration arrives.
        Grant,
        /// The bank recalls the registration.
        Recall,
        /// The flush before the return of the registration is complete.
        Flushed,
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
        /// An acquire or a registration invalidates a clean line.
        Inv,
        /// An acquire or a registration is carried out while the line is dirty.
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
        /// Request registration and the bytes from the bank. Takes a miss register.
        SendRegister,
        /// Answer with the bytes of the line.
        Reply,
        /// Merge the bytes of a store into the line. A clean line joins the store buffer.
        Merge,
        /// Answer a request that expects no bytes.
        Accept,
        /// Perform the atomic and answer. The bytes that it writes stay dirty until the
        /// registration is returned.
        Perform,
        /// Perform the atomic and answer. A clean line that it writes joins the store buffer.
        PerformQueued,
        /// Send the atomic back to the bank, because the line is not registered here.
        Bounce,
        /// Remove the line from the store buffer, and wake inputs that wait for an entry.
        Unqueue,
        /// Write the dirty bytes out to the bank, if there are any. The line becomes clean.
        WriteOut,
        /// Begin a flush of this cache. Its completion returns the registration.
        BeginFlush,
        /// Return the registration with the dirty bytes.
        SendReturn,
        /// Fill the bytes that are not valid.
        Fill,
        /// Fill only the requested bytes.
        FillAsked,
        /// Answer the loads that wait for the line.
        Answer,
        /// Resume the request that waits for the registration.
        Resume,
        /// Invalidate the clean bytes.
        KeepDirty,
        /// Free the miss register, and wake inputs that wait for one or for a way.
        EndFill,
        /// Wake inputs that wait for the line.
        Wake,
    }
}

/// The state transition table of a line in an L1 of hLRC, as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Table;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const ACCESS_ONLY: &str = "the state is only for accesses that need missing bytes";
const PINNED: &str = "a line with a fill or a flush under way is pinned";
const UNQUEUED: &str = "a line leaves the store buffer before it leaves the cache";
const UNREQUESTED: &str = "no registration was requested";
const UNREGISTERED: &str = "the state does not occur: the bytes of a registered line are never invalidated";
const KEPT: &str = "the state does not occur: the bytes of a registered line are never invalidated";

impl Table for L1Table {
    type State = LineState;
    type Event = LineEvent;
    type Action = LineAction;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in the L1";
    const OWNERS: &'static [LineState] = &[LineState::R];
    const NEVER_STORED: &'static [LineState] = &[LineState::P, LineState::RP];

    proto::listed_rows! { L1Table::rule: (LineState, LineEvent) -> LineAction }
}

impl L1Table {
    pub(super) const fn rule(state: LineState, event: LineEvent) -> Row<LineState, LineAction> {
        use LineAction::*;
        use LineEvent::*;
        use LineState::*;
        match (state, event) {
            (I | P, Load) => go(IV, &[SendGet]).wait(),
            (V, Load) => stay(&[Reply]),
            (IV, Load) => stay(&[]).wait(),
            // The fill may be older than an acquire, so the load requests the line again.
            (IX, Load) => stall(),
            // A store needs no permission and no fetch: the dirty mask records its bytes.
            (I, Store) => go(V, &[Merge, Accept]),
            (V | IV | IX, Store) => stay(&[Merge, Accept]),
            // The data of a registered line is at the L2 (section III.C.1 of the paper).
            (IR | R | RF, Load | Store) => stay(&[]).next(),

            // Table 3, c1, c9, c17. Dirty bytes are written out before the registration (section
            // III.C.1).
            (I, Sync) => go(IR, &[SendRegister]).next(),
            (V, Sync) => go(IR, &[Unqueue, WriteOut, KeepDirty, SendRegister]).next(),
            (IV | IX, Sync) => stall(),
            // Table 3, c0, c8, c16.
            (R, Sync | Relaxed | Forward) => stay(&[Perform]),
            // No access reads the line until the flush is complete (section III.B).
            (IR | RF, Sync | Relaxed) | (RF, Forward) => stall(),
            (I | V | IV | IX, Relaxed) => stay(&[]).next(),
            // The registration was returned while the atomic was in flight.
            (I | V | IV | IX | IR, Forward) => stay(&[Bounce]),

            (I, Pass) => stay(&[]),
            // The access at the level below would make this copy stale, even for the thread that
            // makes the access.
            (V, Pass) => go(I, &[]),
            (V, PassDirty) => go(I, &[Unqueue, WriteOut]),
            (IV, Pass) => go(IX, &[]),
            (IV, PassDirty) => go(IX, &[Unqueue, WriteOut]),
            (IX, Pass) => stay(&[]),
            (IX, PassDirty) => stay(&[Unqueue, WriteOut]),
            // The bank recalls the registration before it performs the access.
            (IR | R | RF, Pass) | (R | RF, PassDirty) => stay(&[]),

            (IR, Grant) => go(R, &[Fill, EndFill, Resume, Wake]),
            (I | P | V | IV | IX | R | RP | RF, Grant) => impossible(UNREQUESTED),
            // Table 3, c4, c12, c20.
            (R, Recall) => go(RF, &[BeginFlush]),
            // The registration has been returned already, and may be requested again.
            (I | V | IV | IX | IR | RF, Recall) => stay(&[]),
            (RF, Flushed) => go(I, &[SendReturn, Wake]),
            (I | P | V | IV | IX | IR | R | RP, Flushed) => impossible("no flush for the line is under way"),

            (V | IV | IX, Drain) => stay(&[WriteOut]),
            (V, DrainDrop) => go(I, &[WriteOut]),
            (IV, DrainDrop) => go(IX, &[WriteOut]),
            (IX, DrainDrop) => stay(&[WriteOut]),
            (I, Drain | DrainDrop) => impossible(UNQUEUED),
            (IR | R | RF, Drain | DrainDrop) => {
                impossible("a line that only atomics have made dirty is not in the store buffer")
            }

            (IV, Data | DataDirty) => go(V, &[Fill, Answer, EndFill, Wake]),
            // The waiting loads precede the invalidation, so they may read the fill.
            (IX, Data) => go(I, &[Fill, Answer, EndFill, Wake]),
            (IX, DataDirty) => go(V, &[Fill, Answer, KeepDirty, EndFill, Wake]),
            (I | V | IR | R | RF, Data | DataDirty) => impossible(NO_FILL),

            (V, Evict) => go(I, &[]),
            (V, EvictDirty) => go(I, &[Unqueue, WriteOut]),
            // Later synchronization through this line must find the dirty bytes of this cache at
            // the L2 (section III.C.2).
            (R, Evict | EvictDirty) => go(RF, &[BeginFlush]),
            (IV | IX | IR | RF, Evict | EvictDirty) => impossible(PINNED),

            (V, Inv) => go(I, &[]),
            (V, InvDirty) => stay(&[KeepDirty]),
            (IV, Inv | InvDirty) => go(IX, &[]),
            (IX, Inv | InvDirty) => stay(&[]),
            // Registered bytes survive an acquire (section IV).
            (IR | R | RF, Inv) | (R | RF, InvDirty) => stay(&[]),
            (IR, PassDirty | InvDirty) => impossible("no byte is dirty while registration is requested"),

            (I, PassDirty | Evict | EvictDirty | Inv | InvDirty) => impossible(NO_LINE),
            (P, Store | Sync | Relaxed | Forward | Pass | PassDirty | Recall) => impossible(ACCESS_ONLY),
            (P, Drain | DrainDrop | Data | DataDirty | Evict | EvictDirty | Inv | InvDirty) => {
                impossible(ACCESS_ONLY)
            }
            (XR | RP, Load | Store | Sync | Relaxed | Forward | Pass | PassDirty | Recall) => {
                impossible(KEPT)
            }
            (XR | RP, Drain | DrainDrop | Data | DataDirty | Evict | EvictDirty | Inv | InvDirty) => {
                impossible(KEPT)
            }
            (XR, Grant | Flushed) => impossible(UNREGISTERED),
        }
    }
}
