//! The table of a line in the L1.

use proto::{Row, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line.
    pub enum LineState {
        /// Not present.
        I,
        /// Present, but bytes that are asked for are not valid.
        P,
        /// Present, with the bytes that are asked for, and not registered.
        V,
        /// A fill is under way.
        IV,
        /// A fill is under way that must not be installed.
        IX,
        /// Registration is asked for; the bytes that are asked for are valid.
        IR,
        /// Registration is asked for, and bytes that are asked for come with it.
        IP,
        /// Registration is asked for, and given back as soon as it comes.
        IE,
        /// Registered.
        R,
    }
}

symbols! {
    /// What happens to a line.
    pub enum LineEvent {
        /// A load of data.
        Load,
        /// A store of data.
        Store,
        /// An atomic asks for the line.
        Atomic,
        /// The line is registered for the atomic that asked.
        Registered,
        /// The line is the oldest in the store buffer.
        Drain,
        /// Registration comes.
        Grant,
        /// Registration is to be given back.
        Recall,
        /// Another cache loads data of the line.
        Serve,
        /// The fill comes; no byte is dirty.
        Data,
        /// The fill comes; some bytes are dirty.
        DataDirty,
        /// The environment takes the way of a clean line.
        Evict,
        /// The environment takes the way of a dirty line.
        EvictDirty,
        /// An acquire, or an access at system scope, invalidates a clean line.
        Inv,
        /// The same, and some bytes are dirty.
        InvDirty,
    }
}

impl LineEvent {
    /// The same event, where it meets dirty bytes.
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
    /// What is done.
    pub enum LineAction {
        /// Ask the bank for the line; takes a miss register.
        SendGet,
        /// Ask the bank for registration and the bytes; an atomic takes a miss register.
        SendRegister,
        /// If bytes are dirty, releases wait for this registration from now on.
        Count,
        /// Answer with the bytes of the line.
        Reply,
        /// A line that is clean joins the store buffer.
        Queue,
        /// Merge the stored bytes.
        Merge,
        /// Answer a request that expects no bytes.
        Accept,
        /// Perform the atomic and answer.
        Perform,
        /// Take the line out of the store buffer.
        Unqueue,
        /// Send the line to the cache that loads it.
        SendLine,
        /// Have the bank serve the load: the line is not registered here.
        Bounce,
        /// Give registration back, with the line.
        SendReturn,
        /// Take the bytes that came, but for those that are dirty here.
        Fill,
        /// Answer the loads that wait for these bytes.
        Answer,
        /// Go on with the atomic that waits for the registration.
        Resume,
        /// Keep only the dirty bytes.
        KeepDirty,
        /// The fill has come: free the miss register and present what waited for one or for a way.
        EndFill,
        /// The same for a registration; releases and stores wait for it no longer.
        EndRegister,
        /// Present what waited for the line.
        Wake,
    }
}

/// The table of a line in the L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L1Table;

const NO_LINE: &str = "there is no line";
const NO_FILL: &str = "no fill is under way";
const ACCESS_ONLY: &str = "only an access asks for bytes";
const PINNED: &str = "a line with a fill or a registration under way is pinned";
const UNQUEUED: &str = "a line leaves the store buffer when it is registered, and not while it is filled";
const UNASKED: &str = "no registration was asked for";

impl Table for L1Table {
    type State = LineState;
    type Event = LineEvent;
    type Action = LineAction;
    const ID: TableId = TableId(0);
    const NAME: &'static str = "A line in the L1";
    const OWNERS: &'static [LineState] = &[LineState::R];
    const NEVER_STORED: &'static [LineState] = &[LineState::P, LineState::IP];

    fn row(state: LineState, event: LineEvent) -> Row<LineState, LineAction> {
        use LineAction::*;
        use LineEvent::*;
        use LineState::*;
        match (state, event) {
            (I | P, Load) => go(IV, &[SendGet]).wait(),
            (V | IR | R, Load) => stay(&[Reply]),
            (IV | IP, Load) => stay(&[]).wait(),
            // The coming bytes may be older than an acquire: ask again.
            (IX, Load) => stall(),
            // Stores gather here, and the mask remembers their bytes.
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
            (I | P | V | IV | IX | IR | IP | IE, Registered) => impossible("it has just been registered"),

            (IR, Grant) => go(R, &[Fill, Resume, EndRegister, Answer, Wake]),
            (IE, Grant) => go(I, &[SendReturn, EndRegister, Wake]),
            (I | P | V | IV | IX | IP | R, Grant) => impossible(UNASKED),
            (R, Recall) => go(I, &[SendReturn]),
            // It has been given back, and is perhaps asked for again.
            (I | V | IV | IX | IR | IE, Recall) => stay(&[]),
            (R, Serve) => stay(&[SendLine]),
            (I | V | IV | IX | IR | IE, Serve) => stay(&[Bounce]),

            (IV, Data | DataDirty) => go(V, &[Fill, Answer, EndFill, Wake]),
            // The loads that waited came before the invalidation.
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
            // The bytes that come with registration are up to date.
            (IR, Inv | InvDirty) => stay(&[KeepDirty]),
            // Registered bytes survive (IV).
            (IE | R, Inv | InvDirty) => stay(&[]),

            (I, Evict | EvictDirty | Inv | InvDirty) => impossible(NO_LINE),
            (P | IP, Store | Atomic | Recall | Serve | Data | DataDirty) => impossible(ACCESS_ONLY),
            (P | IP, Evict | EvictDirty | Inv | InvDirty) => impossible(ACCESS_ONLY),
        }
    }
}
