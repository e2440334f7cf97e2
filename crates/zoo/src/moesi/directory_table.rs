//! The state transition table of a line in the directory.

use proto::{Row, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line in the directory. A name of two letters, and each of D, A and R, is a
    /// transient state: a transaction of the line or a recall is under way.
    pub enum DirectoryState {
        /// The line has no entry, so no cache has a copy.
        I,
        /// Sharers are recorded, and memory has the current bytes, or a write of them is under way.
        S,
        /// One cache is recorded, as the owner: its line is in E or M, or the answer to its request is
        /// under way, or it has evicted the line.
        X,
        /// An owner with dirty bytes and at least one sharer are recorded.
        O,
        /// A fetch from memory is under way, for a cache that reads.
        FS,
        /// A fetch from memory is under way, for a cache that writes. No cache has a copy.
        FM,
        /// The owner has been asked for the line, for a cache that reads.
        D,
        /// All other copies are being invalidated, for a cache that writes.
        A,
        /// All copies are being invalidated, and then the entry is free: a recall.
        R,
    }
    /// The events of a line in the directory.
    pub enum DirectoryEvent {
        /// A cache asks for a copy.
        GetS,
        /// The recorded owner asks for a copy.
        GetSOwn,
        /// A cache without a copy asks for the line to write it, and other caches are recorded.
        GetM,
        /// A cache without a copy asks for the line to write it, and no other cache is recorded.
        GetMAlone,
        /// A recorded cache asks for an upgrade, and other caches are recorded.
        Up,
        /// The only recorded cache asks for an upgrade.
        UpAlone,
        /// The owner has evicted the line and writes its dirty bytes out. Other caches are recorded.
        Put,
        /// The owner has evicted the line and writes its dirty bytes out. No other cache is recorded.
        PutAlone,
        /// The owner answers with the bytes of the line, and still owns the line.
        Dirty,
        /// The owner answers with the bytes of the line. Memory has the same bytes.
        Clean,
        /// The owner answers that it has evicted the line.
        Gone,
        /// A cache acknowledges an invalidation, and others have not done so.
        Ack,
        /// The last cache acknowledges its invalidation. The old owner has sent the bytes of the line.
        LastBytes,
        /// The last cache acknowledges its invalidation. No cache has sent bytes.
        LastBare,
        /// The last cache acknowledges its invalidation, and the cache that writes has kept its copy.
        LastGrant,
        /// The bytes come from memory, and a cache other than the requester is recorded.
        Fill,
        /// The bytes come from memory, and no cache other than the requester is recorded.
        FillAlone,
        /// The entry is evicted, because its way is needed for another line.
        Evict,
    }
    /// The actions on a line in the directory.
    pub enum DirectoryAction {
        /// Record the requester, and take a miss register for the transaction. A requester that writes
        /// and has no copy is no sharer any more.
        Begin,
        /// Read the line from memory.
        Fetch,
        /// Ask the owner for the line.
        AskOwner,
        /// Invalidate the copies of all recorded caches but the requester.
        InvalidateOthers,
        /// Invalidate the copies of all recorded caches.
        InvalidateAll,
        /// Remove the cache that has answered from the record, and keep its bytes.
        Collect,
        /// Record the requester as a sharer.
        Join,
        /// Record the owner as a sharer.
        Demote,
        /// Record the requester as the owner, without sharers.
        Own,
        /// Remove the owner from the record.
        Forget,
        /// Write the bytes to memory.
        WriteOut,
        /// Send the line to the requester, for reading.
        SendS,
        /// Send the line to the requester, for reading, as the only copy.
        SendE,
        /// Send the line to the requester, for writing.
        SendM,
        /// Tell the requester that it has the only copy.
        SendGrant,
        /// End the transaction: drop the bytes of the line, free the miss register, and wake the inputs
        /// that wait for the line, for its way or for a miss register.
        End,
        /// Drop the record, and wake the inputs that wait for the way or for the line.
        Release,
    }
}

/// The state transition table of a line in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DirectoryTable;

const NO_COPY: &str = "no cache is recorded";
const NO_OWNER: &str = "no owner is recorded";
const ONE_HOLDER: &str = "a line in X has one recorded cache";
const SOLE_HOLDER: &str = "the only cache that is recorded has sent no upgrade that is still unserved";
const SHARED: &str = "a line in O has a recorded sharer";
const WRITES_OUT: &str = "an owner does not evict dirty bytes without a message";
const NOT_ASKED: &str = "the owner has not been asked for the line";
const NO_INVALIDATION: &str = "no invalidation is under way";
const NO_FETCH: &str = "no fetch is under way";
const NO_ENTRY: &str = "there is no entry";
const PINNED: &str = "a line with a transaction or a recall under way is pinned";
const NO_WRITER: &str = "a recall has no requester";

impl Table for DirectoryTable {
    type State = DirectoryState;
    type Event = DirectoryEvent;
    type Action = DirectoryAction;
    const ID: TableId = TableId(2);
    const NAME: &'static str = "A line in the directory";

    fn row(state: DirectoryState, event: DirectoryEvent) -> Row<DirectoryState, DirectoryAction> {
        use DirectoryAction as A;
        use DirectoryEvent::*;
        use DirectoryState::*;
        match (state, event) {
            (I | S, GetS) => go(FS, &[A::Begin, A::Fetch]),
            (I | S, GetMAlone) => go(FM, &[A::Begin, A::Fetch]),
            (I, GetSOwn | GetM | Up | UpAlone) => impossible(NO_COPY),
            (I | S | FS | FM, Put | PutAlone) | (S | FS | FM, GetSOwn) => impossible(NO_OWNER),
            (I, Evict) => impossible(NO_ENTRY),

            (S | X | O, GetM) | (S | O, Up) => go(A, &[A::Begin, A::InvalidateOthers]),
            (S, UpAlone) => go(X, &[A::Own, A::SendGrant]),
            (S | X | O, Evict) => go(R, &[A::InvalidateAll]),

            (X | O, GetS) => go(D, &[A::Begin, A::AskOwner]),
            // The owner has evicted a clean line, and the directory was not told.
            (X, GetSOwn) => go(FS, &[A::Begin, A::Forget, A::Fetch]),
            (X, GetMAlone) => go(FM, &[A::Begin, A::Forget, A::Fetch]),
            (X | D, UpAlone) => impossible(SOLE_HOLDER),
            (X, Put | Up) => impossible(ONE_HOLDER),
            (X, PutAlone) => go(I, &[A::WriteOut, A::Release]),

            (O, GetSOwn) => impossible(WRITES_OUT),
            (O, GetMAlone | UpAlone | PutAlone) => impossible(SHARED),
            (O, Put) => go(S, &[A::WriteOut, A::Forget]),

            (FM, GetM | Up | UpAlone) => impossible(NO_COPY),
            (FS | FM | D | A | R, GetS | GetMAlone)
            | (FS | D | A | R, GetM | Up)
            | (FS | A | R, UpAlone)
            | (D | A | R, GetSOwn) => stall(),
            (FS, Fill) => go(S, &[A::Join, A::SendS, A::End]),
            (FS, FillAlone) => go(X, &[A::Own, A::SendE, A::End]),
            (FM, Fill) => impossible(NO_COPY),
            (FM, FillAlone) => go(X, &[A::Own, A::SendM, A::End]),

            // The bytes come before the answer of the owner, on the same channel. Memory performs a
            // later fetch after this write.
            (D | A | R, Put | PutAlone) => stay(&[A::WriteOut]),
            (D, Dirty) => go(O, &[A::Join, A::SendS, A::End]),
            (D, Clean) => go(S, &[A::Demote, A::Join, A::SendS, A::End]),
            (D, Gone) => go(FS, &[A::Forget, A::Fetch]),

            (A | R, Ack) => stay(&[A::Collect]),
            (A, LastBytes) => go(X, &[A::Own, A::SendM, A::End]),
            (A, LastBare) => go(FM, &[A::Collect, A::Fetch]),
            (A, LastGrant) => go(X, &[A::Own, A::SendGrant, A::End]),
            (R, LastBytes) => go(I, &[A::Collect, A::WriteOut, A::Release]),
            (R, LastBare) => go(I, &[A::Release]),
            (R, LastGrant) => impossible(NO_WRITER),

            (FS | FM | D | A | R, Evict) => impossible(PINNED),
            (I | S | X | O | FS | FM | A | R, Dirty | Clean | Gone) => impossible(NOT_ASKED),
            (I | S | X | O | FS | FM | D, Ack | LastBytes | LastBare | LastGrant) => {
                impossible(NO_INVALIDATION)
            }
            (I | S | X | O | D | A | R, Fill | FillAlone) => impossible(NO_FETCH),
        }
    }
}
