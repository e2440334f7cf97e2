//! The state transition table of a line in an L1 of DeNovo.

use proto::{Row, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line in an L1 of DeNovo.
    pub enum LineState {
        /// The line is not present.
        I,
        /// The line is present, but some bytes that the access needs are not valid.
        P,
        /// The line is present and not registered, and all bytes that the access needs are valid.
        V,
        /// A fill is under way.
        IV,
        /// A fill is under way, and its bytes must not be kept.
        IX,
        /// Registration is requested, and all bytes that the access needs are valid.
        IR,
        /// Registration is requested, and some bytes that the access needs come with the grant.
        IP,
        /// Registration is requested, and this cache returns the registration at once after the
        /// grant.
        IE,
        /// The line is registered to this cache.
        R,
    }
}

symbols! {
    /// The events of a line in an L1 of DeNovo.
    pub enum LineEvent {
        /// A load of data.
        Load,
        /// A store of data.
        Store,
        /// An atomic asks for registration of the line.
        Atomic,
        /// An atomic is performed on the line that is registered for it.
        Registered,
        /// The store buffer drains this line.
        Drain,
        /// The grant of registration arrives.
        Grant,
        /// The bank recalls the registration.
        Recall,
        /// Another cache loads data of the line.
        Serve,
        /// The fill arrives, and no byte is dirty.
        Data,
        /// The fill arrives, and some bytes are dirty.
        DataDirty,
        /// A clean line is evicted, because its way is needed for another line.
        Evict,
        /// A dirty line is evicted, because its way is needed for another line.
        EvictDirty,
        /// An acquire, or an access at system scope, invalidates a clean line.
        Inv,
        /// An acquire, or an access at system scope, is carried out while the line is dirty.
        InvDirty,
    }
}

impl LineEvent {
    /// The variant of this event for a dirty line. If the event has no such variant, the result is
    /// the event itself.
    #[must_use]
    pub fn of_dirty(self) -> LineEvent {
        match self {
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
        /// Request registration and the bytes from the bank. An atomic takes a miss register.
        SendRegister,
        /// If the line is dirty, make releases wait for its registration.
        Count,
        /// Answer with the bytes of the line.
        Reply,
        /// Put the line into the store buffer, if it is clean.
        Queue,
        /// Merge the bytes of a store into the line.
        Merge,
        /// Answer a request that expects no bytes.
        Accept,
        /// Perform the atomic and answer.
        Perform,
        /// Remove the line from the store buffer.
        Unqueue,
        /// Send the line to the cache that loads it.
        SendLine,
        /// Send the load back to the bank, because the line is not registered here.
        Bounce,
        /// Return the registration with the line.
        SendReturn,
        /// Fill the bytes that are not dirty.
        Fill,
        /// Answer the loads that wait for the line.
        Answer,
        /// Resume the atomic that waits for the registration.
        Resume,
        /// Invalidate the clean bytes.
        KeepDirty,
        /// Free the miss register, and wake inputs that wait for one or for a way.
        EndFill,
        /// Free the miss register of a registration, if it has one, and wake inputs that wait for one or for a way. End the wait of releases and stores for the registration.
        EndRegister,
        /// Wake inputs that wait for the line.
        Wake,
    }
}

/// The state transition table of a line in an L1 of DeNovo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Table;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const ACCESS_ONLY: &str = "the state is only for accesses that need missing bytes";
const PINNED: &str = "a line with a fill or a registration under way is pinned";
const UNQUEUED: &str = "only a line in V drains: present, not registered, and without a fill under way";
const UNREQUESTED: &str = "no registration was requested";

impl Table for L1Table {
    type State = LineState;
    type Event = LineEvent;
    type Action = LineAction;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in the L1";
    const OWNERS: &'static [LineState] = &[LineState::R];
    const NEVER_STORED: &'static [LineState] = &[LineState::P, LineState::IP];

    proto::listed_rows! { L1Table::rule: (LineState, LineEvent) -> LineAction }
}

impl L1Table {
    const fn rule(state: LineState, event: LineEvent) -> Row<LineState, LineAction> {
        use LineAction::*;
        use LineEvent::*;
        use LineState::*;
        match (state, event) {
            (I | P, Load) => go(IV, &[SendGet]).wait(),
            (V | IR | R, Load) => stay(&[Reply]),
            (IV | IP, Load) => stay(&[]).wait(),
            // The fill may be older than an acquire, so the load requests the line again.
            (IX, Load) => stall(),
            // Stores stay here until a release, and the dirty mask records their bytes.
            (I, Store) => go(V, &[Queue, Merge, Accept]),
            (V | IV | IX, Store) => stay(&[Queue, Merge, Accept]),
            (IR, Store) => stay(&[Merge, Count, Accept]),
            (R, Store) => stay(&[Merge, Accept]),

            // Table 3, StReg: b8, b10, b13, b16, b19, b23.
            (V, Drain) => go(IR, &[SendRegister, Count]),
            (I | P | IV | IX | IR | IP | IE | R, Drain) => impossible(UNQUEUED),

            // Table 3, b2, b5, b11, b14, b20, b24.
            (I, Atomic) => go(IR, &[SendRegister]).next(),
            (V, Atomic) => go(IR, &[Unqueue, SendRegister, Count]).next(),
            (R, Atomic) => stay(&[]).next(),
            (IV | IX | IR, Atomic) => stall(),
            (IE, Load | Store | Atomic) => stall(),
            // Table 3, b0, b3, b6, b9, b12, b15, b17, b21, b25.
            (R, Registered) => stay(&[Perform]),
            (I | P | V | IV | IX | IR | IP | IE, Registered) => impossible("the event occurs only in R"),

            (IR, Grant) => go(R, &[Fill, Resume, EndRegister, Answer, Wake]),
            (IE, Grant) => go(I, &[SendReturn, EndRegister, Wake]),
            (I | P | V | IV | IX | IP | R, Grant) => impossible(UNREQUESTED),
            (R, Recall) => go(I, &[SendReturn]),
            // The registration has been returned already, and may be requested again.
            (I | V | IV | IX | IR | IE, Recall) => stay(&[]),
            (R, Serve) => stay(&[SendLine]),
            (I | V | IV | IX | IR | IE, Serve) => stay(&[Bounce]),

            (IV, Data | DataDirty) => go(V, &[Fill, Answer, EndFill, Wake]),
            // The waiting loads precede the invalidation, so they may read the fill.
            (IX, Data) => go(I, &[Fill, Answer, EndFill, Wake]),
            (IX, DataDirty) => go(V, &[Fill, Answer, KeepDirty, EndFill, Wake]),
            (I | V | IR | IE | R, Data | DataDirty) => impossible(NO_FILL),

            (V, Evict) => go(I, &[]),
            (V, EvictDirty) => go(IE, &[Unqueue, SendRegister, Count]),
            (R, Evict | EvictDirty) => go(I, &[SendReturn]),
            (IV | IX | IR | IE, Evict | EvictDirty) => impossible(PINNED),

            (V, Inv) => go(I, &[]),
            (V, InvDirty) => stay(&[KeepDirty]),
            (IV, Inv | InvDirty) => go(IX, &[]),
            (IX, Inv | InvDirty) => stay(&[]),
            // The bytes of the grant are up to date.
            (IR, Inv | InvDirty) => stay(&[KeepDirty]),
            // Registered bytes survive an acquire (section IV of the paper).
            (IE | R, Inv | InvDirty) => stay(&[]),

            (I, Evict | EvictDirty | Inv | InvDirty) => impossible(NO_LINE),
            (P | IP, Store | Atomic | Recall | Serve | Data | DataDirty) => impossible(ACCESS_ONLY),
            (P | IP, Evict | EvictDirty | Inv | InvDirty) => impossible(ACCESS_ONLY),
        }
    }
}
