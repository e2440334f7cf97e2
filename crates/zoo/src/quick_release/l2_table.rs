//! The state transition tables of a line in a bank of the L2.

use proto::{Row, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line in the read cache of a bank of the L2.
    pub enum L2State {
        /// The line is not present.
        I,
        /// The line is present, and the written bit is clear.
        V,
        /// The line is present, and the written bit is set: the write cache has newer bytes.
        W,
        /// A fetch is under way.
        IV,
        /// A fetch is under way, and its bytes must not be used.
        IX,
    }
    /// The events of a line in a bank of the L2.
    pub enum L2Event {
        /// An L1 asks for the line. If the written bit is not clear, the write cache has no bytes of
        /// the line.
        Get,
        /// An L1 asks for a line that does not hit in the read cache, and the write cache has all its
        /// bytes.
        GetCovered,
        /// An L1 asks for a line that does not hit in the read cache, and the write cache has bytes of
        /// it.
        GetPart,
        /// An L1 writes bytes out.
        Write,
        /// An atomic passes to the directory.
        Atomic,
        /// The line leaves the write cache.
        Leave,
        /// The fetched bytes arrive, and the write cache has no bytes of the line.
        Fill,
        /// The fetched bytes arrive, and the write cache has bytes of the line.
        FillWritten,
        /// A host writes the line.
        Inv,
        /// The line is evicted from the read cache, because its way is needed for another line.
        Evict,
    }
    /// The actions on a line in a bank of the L2.
    pub enum L2Action {
        /// Read the line from the directory. Takes a miss register.
        Fetch,
        /// Send the line to the L1.
        SendData,
        /// Send the bytes of the write cache to the L1.
        SendWritten,
        /// Merge the written bytes into the write cache, and queue the address in the S-FIFO.
        Merge,
        /// Invalidate the copies of all L1s, and write the bytes of the write cache out to the
        /// directory, if there are any.
        WriteOut,
        /// Send the access to the directory.
        PassOn,
        /// Invalidate the copies of all L1s, and send the access to the directory.
        PassWrite,
        /// Invalidate the copies of all L1s, and acknowledge the invalidation of the host.
        Tell,
        /// Take the fetched bytes.
        Fill,
        /// Free the miss register, and wake inputs that wait for it, the line or its way.
        Wake,
        /// Wake the requests that wait for the fetch.
        Divert,
    }
}

/// The state transition table of a line in a bank of the L2 of a repaired protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L2Table;

const NO_FETCH: &str = "no fetch is under way";
const NO_LINE: &str = "there is no line";
const HITS: &str = "the request hits in the read cache";
const PINNED: &str = "a line with a fetch under way is pinned";
const WRITTEN: &str = "the write cache has bytes of a line whose written bit is set";
const NOT_SENT: &str = "the bytes of the write cache are written out before an L1 reads them";

impl Table for L2Table {
    type State = L2State;
    type Event = L2Event;
    type Action = L2Action;
    const ID: TableId = TableId(2);
    const NAME: &'static str = "A line in a bank of the L2";

    fn row(state: L2State, event: L2Event) -> Row<L2State, L2Action> {
        use L2Action as A;
        use L2Event::*;
        use L2State::*;
        match (state, event) {
            (I, Get) => go(IV, &[A::Fetch]).retry(),
            (V, Get) => stay(&[A::SendData]),
            (W, Get) => impossible(WRITTEN),
            (IV, Get) => stall(),
            // A request that fetched again each time could starve while others write the line. So the
            // directory answers it.
            (IX, Get) => stay(&[A::PassOn]),

            (_, GetCovered) => impossible(NOT_SENT),
            (V, GetPart) => impossible(HITS),
            (I | IX, GetPart) => stay(&[A::WriteOut, A::PassOn]),
            (W, GetPart) => go(I, &[A::WriteOut, A::PassOn]),
            (IV, GetPart) => go(IX, &[A::WriteOut, A::PassOn, A::Divert]),

            (I | W | IV | IX, Write) => stay(&[A::Merge]),
            (V, Write) => go(W, &[A::Merge]),

            (I | IX, Atomic) => stay(&[A::WriteOut, A::PassWrite]),
            (V | W, Atomic) => go(I, &[A::WriteOut, A::PassWrite]),
            (IV, Atomic) => go(IX, &[A::WriteOut, A::PassWrite, A::Divert]),

            (I | IX, Leave) => stay(&[A::WriteOut]),
            (V, Leave) => impossible(WRITTEN),
            (W, Leave) => go(I, &[A::WriteOut]),
            (IV, Leave) => go(IX, &[A::WriteOut, A::Divert]),

            (I | V | W, Fill | FillWritten) => impossible(NO_FETCH),
            (IV, Fill) => go(V, &[A::Fill, A::Wake]),
            (IV, FillWritten) => go(W, &[A::Fill, A::Wake]),
            // The fetched bytes may be older than a write.
            (IX, Fill | FillWritten) => go(I, &[A::Wake]),

            // The L1s may have copies that the L2 does not have.
            (I | IX, Inv) => stay(&[A::Tell]),
            (V | W, Inv) => go(I, &[A::Tell]),
            (IV, Inv) => go(IX, &[A::Tell, A::Divert]),

            (I, Evict) => impossible(NO_LINE),
            (V | W, Evict) => go(I, &[]),
            (IV | IX, Evict) => impossible(PINNED),
        }
    }
}

/// The state transition table of a line in a bank of the L2 of `quick-release`, as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct L2Published;

impl Table for L2Published {
    type State = L2State;
    type Event = L2Event;
    type Action = L2Action;
    const ID: TableId = L2Table::ID;
    const NAME: &'static str = L2Table::NAME;
    const NEVER_STORED: &'static [L2State] = &[L2State::IX];

    fn row(state: L2State, event: L2Event) -> Row<L2State, L2Action> {
        use L2Action as A;
        use L2Event::*;
        use L2State::*;
        match (state, event) {
            (IX, _) => impossible("every fetch is used"),
            (V, GetCovered) => impossible(HITS),
            (_, GetCovered) => stay(&[A::SendWritten]),
            (I | W, GetPart) => go(IV, &[A::WriteOut, A::Fetch]).retry(),
            (IV, GetPart) => stay(&[A::WriteOut]).retry(),
            (_, Atomic) => stay(&[A::PassOn]),
            (V, Leave) => go(I, &[A::WriteOut]),
            (IV, Leave) => stay(&[A::WriteOut]),
            (IV, FillWritten) => go(V, &[A::Fill, A::Wake]),
            (IV, Inv) => stay(&[A::Tell]),
            (state, event) => L2Table::row(state, event),
        }
    }
}
