//! The table of a line in the L1, as published.

use proto::{Row, Table, TableId, go, impossible, stall, stay, symbols};

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
        /// Registration, or the bytes of a registered line, are asked for.
        IR,
        /// The same, and only the bytes that were asked for may be installed.
        XR,
        /// Registered.
        R,
        /// Registered, but bytes that are asked for are not valid.
        RP,
        /// Registered, and given back when this cache is flushed.
        RF,
    }
}

symbols! {
    /// What happens to a line.
    pub enum LineEvent {
        /// A load of data.
        Load,
        /// A store of data.
        Store,
        /// An atomic that acquires or releases.
        Sync,
        /// An atomic that orders nothing.
        Relaxed,
        /// An atomic of another cache that orders nothing.
        Forward,
        /// An access to be performed below passes a clean line.
        Pass,
        /// An access to be performed below passes a dirty line.
        PassDirty,
        /// Registration comes.
        Grant,
        /// Registration is to be given back.
        Recall,
        /// The flush before that is finished.
        Flushed,
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
        /// An acquire or a registration invalidates a clean line.
        Inv,
        /// An acquire or a registration meets a dirty line.
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
        /// Ask the bank for registration and the bytes; takes a miss register.
        SendRegister,
        /// Answer with the bytes of the line.
        Reply,
        /// Merge the stored bytes; a clean line joins the store buffer.
        Merge,
        /// Answer a request that expects no bytes.
        Accept,
        /// Perform the atomic and answer; what it wrote stays until registration goes.
        Perform,
        /// Perform the atomic and answer; a clean line that it writes joins the store buffer.
        PerformQueued,
        /// Send the atomic back to the bank: it is not registered here.
        Bounce,
        /// Take the line out of the store buffer, and present what waits for room in it.
        Unqueue,
        /// Send the dirty bytes to the bank, if there are any; they are clean from now on.
        WriteOut,
        /// Flush this cache; what is dirty now and registered waits for no flush.
        BeginFlush,
        /// Give registration back, with the dirty bytes.
        SendReturn,
        /// Take the bytes that came and were not written meanwhile.
        Fill,
        /// Take only those that were asked for.
        FillAsked,
        /// Answer the loads that wait for this fill.
        Answer,
        /// Go on with the request that waits for the registration.
        Resume,
        /// Keep only the dirty bytes.
        KeepDirty,
        /// The fill has come: free the miss register and present what waited for one or for a way.
        EndFill,
        /// Present what waited for the line.
        Wake,
    }
}

/// The table of a line in the L1, as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Table;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const ACCESS_ONLY: &str = "only an access asks for bytes";
const PINNED: &str = "a line with a fill or a flush under way is pinned";
const UNQUEUED: &str = "a line leaves the store buffer before it leaves the cache";
const UNASKED: &str = "no registration was asked for";
const UNREGISTERED: &str = "the line is not registered";
const KEPT: &str = "the bytes of a registered line stay";

impl Table for L1Table {
    type State = LineState;
    type Event = LineEvent;
    type Action = LineAction;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in the L1";
    const OWNERS: &'static [LineState] = &[LineState::R];
    const NEVER_STORED: &'static [LineState] = &[LineState::P, LineState::RP];

    fn row(state: LineState, event: LineEvent) -> Row<LineState, LineAction> {
        use LineAction::*;
        use LineEvent::*;
        use LineState::*;
        match (state, event) {
            (I | P, Load) => go(IV, &[SendGet]).wait(),
            (V, Load) => stay(&[Reply]),
            (IV, Load) => stay(&[]).wait(),
            // The coming bytes may be older than an acquire: ask again.
            (IX, Load) => stall(),
            // A store needs no permission and no fetch: the mask remembers its bytes.
            (I, Store) => go(V, &[Merge, Accept]),
            (V | IV | IX, Store) => stay(&[Merge, Accept]),
            // Data of a registered line is at the L2 (III.C.1).
            (IR | R | RF, Load | Store) => stay(&[]).next(),

            // Table 3, c1, c9, c17. What is dirty leaves before (III.C.1).
            (I, Sync) => go(IR, &[SendRegister]).next(),
            (V, Sync) => go(IR, &[Unqueue, WriteOut, KeepDirty, SendRegister]).next(),
            (IV | IX, Sync) => stall(),
            // Table 3, c0, c8, c16.
            (R, Sync | Relaxed | Forward) => stay(&[Perform]),
            // Readable by nobody until the flush is over (III.B).
            (IR | RF, Sync | Relaxed) | (RF, Forward) => stall(),
            (I | V | IV | IX, Relaxed) => stay(&[]).next(),
            // It was given back while the atomic was on its way.
            (I | V | IV | IX | IR, Forward) => stay(&[Bounce]),

            (I, Pass) => stay(&[]),
            // The access below would make this copy stale for its own thread.
            (V, Pass) => go(I, &[]),
            (V, PassDirty) => go(I, &[Unqueue, WriteOut]),
            (IV, Pass) => go(IX, &[]),
            (IV, PassDirty) => go(IX, &[Unqueue, WriteOut]),
            (IX, Pass) => stay(&[]),
            (IX, PassDirty) => stay(&[Unqueue, WriteOut]),
            // The bank takes the registration back before it performs it.
            (IR | R | RF, Pass) | (R | RF, PassDirty) => stay(&[]),

            (IR, Grant) => go(R, &[Fill, EndFill, Resume, Wake]),
            (I | P | V | IV | IX | R | RP | RF, Grant) => impossible(UNASKED),
            // Table 3, c4, c12, c20.
            (R, Recall) => go(RF, &[BeginFlush]),
            // It has been given back, and is perhaps asked for again.
            (I | V | IV | IX | IR | RF, Recall) => stay(&[]),
            (RF, Flushed) => go(I, &[SendReturn, Wake]),
            (I | P | V | IV | IX | IR | R | RP, Flushed) => impossible("no flush was begun for the line"),

            (V | IV | IX, Drain) => stay(&[WriteOut]),
            (V, DrainDrop) => go(I, &[WriteOut]),
            (IV, DrainDrop) => go(IX, &[WriteOut]),
            (IX, DrainDrop) => stay(&[WriteOut]),
            (I, Drain | DrainDrop) => impossible(UNQUEUED),
            (IR | R | RF, Drain | DrainDrop) => impossible("what atomics wrote is not in the store buffer"),

            (IV, Data | DataDirty) => go(V, &[Fill, Answer, EndFill, Wake]),
            // The loads that waited came before the invalidation.
            (IX, Data) => go(I, &[Fill, Answer, EndFill, Wake]),
            (IX, DataDirty) => go(V, &[Fill, Answer, KeepDirty, EndFill, Wake]),
            (I | V | IR | R | RF, Data | DataDirty) => impossible(NO_FILL),

            (V, Evict) => go(I, &[]),
            (V, EvictDirty) => go(I, &[Unqueue, WriteOut]),
            // Synchronization may have to find what was written here (III.C.2).
            (R, Evict | EvictDirty) => go(RF, &[BeginFlush]),
            (IV | IX | IR | RF, Evict | EvictDirty) => impossible(PINNED),

            (V, Inv) => go(I, &[]),
            (V, InvDirty) => stay(&[KeepDirty]),
            (IV, Inv | InvDirty) => go(IX, &[]),
            (IX, Inv | InvDirty) => stay(&[]),
            // Registered bytes survive (IV).
            (IR | R | RF, Inv) | (R | RF, InvDirty) => stay(&[]),
            (IR, PassDirty | InvDirty) => impossible("nothing is dirty while registration is asked for"),

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
