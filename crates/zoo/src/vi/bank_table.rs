//! The table of a line in an L2 bank.

use proto::{Row, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line.
    pub enum BankState {
        /// Not present.
        I,
        /// Present, but bytes that are asked for are not valid.
        P,
        /// Present, with the bytes that are asked for.
        V,
        /// A fetch from memory is under way.
        IV,
        /// A fetch is under way whose bytes must not be used.
        IX,
    }
}

symbols! {
    /// What happens to a line.
    pub enum BankEvent {
        /// An L1 asks for the line.
        Get,
        /// An atomic load at this level.
        Read,
        /// A write, where the bank combines writes.
        Write,
        /// A write, where the bank writes through.
        WriteThrough,
        /// A write, where the bank writes through and keeps nothing.
        WriteDrop,
        /// A read-modify-write, where the bank combines writes.
        Update,
        /// A read-modify-write, where the bank writes through.
        UpdateThrough,
        /// A read-modify-write, where the bank writes through and keeps nothing.
        UpdateDrop,
        /// An access at system scope passes a clean line.
        Remote,
        /// An access at system scope passes a dirty line.
        RemoteDirty,
        /// Memory answers; no byte is dirty.
        Fill,
        /// Memory answers; some bytes are dirty.
        FillDirty,
        /// The environment takes the way of a clean line.
        Evict,
        /// The environment takes the way of a dirty line.
        EvictDirty,
        /// An acquire at system scope drops a clean line.
        Inv,
        /// An acquire at system scope meets a dirty line.
        InvDirty,
        /// A release at system scope has come to this dirty line.
        Flush,
    }
}

impl BankEvent {
    /// Does it need all the bytes that it names?
    #[must_use]
    pub fn needs_bytes(self) -> bool {
        use BankEvent::*;
        matches!(self, Get | Read | Update | UpdateThrough | UpdateDrop)
    }

    /// The same event, where it meets dirty bytes.
    #[must_use]
    pub fn of_dirty(self) -> BankEvent {
        match self {
            BankEvent::Remote => BankEvent::RemoteDirty,
            BankEvent::Fill => BankEvent::FillDirty,
            BankEvent::Evict => BankEvent::EvictDirty,
            BankEvent::Inv => BankEvent::InvDirty,
            event => event,
        }
    }
}

symbols! {
    /// What is done.
    pub enum BankAction {
        /// Read the line from memory; takes a miss register.
        Fetch,
        /// Send the line to the L1.
        SendData,
        /// Merge the written bytes.
        Merge,
        /// Write the bytes that came to memory.
        WriteMemory,
        /// Write the dirty bytes to memory, if there are any; they are clean from now on.
        WriteOut,
        /// Acknowledge the write.
        Ack,
        /// Read or update the words and answer with the old bytes.
        Perform,
        /// Perform the access in memory; memory's answer is passed on.
        PassOn,
        /// Take the fetched bytes that were not written meanwhile.
        Fill,
        /// Keep only the dirty bytes.
        KeepDirty,
        /// Free the miss register and present what waited.
        Wake,
        /// Present what waited for the fetch: memory serves it.
        Divert,
    }
}

/// The table of a line in an L2 bank.
#[derive(Clone, Copy, Debug)]
pub struct BankTable;

const NO_LINE: &str = "there is no line";
const NO_FETCH: &str = "no fetch is under way";
const ACCESS_ONLY: &str = "only an access asks for bytes";
const PINNED: &str = "a line with a fetch under way is pinned";
const WHOLE: &str = "a bank that keeps no writes holds whole lines";

impl Table for BankTable {
    type State = BankState;
    type Event = BankEvent;
    type Action = BankAction;
    const ID: TableId = TableId(2);
    const NAME: &'static str = "A line in an L2 bank";
    const NEVER_STORED: &'static [BankState] = &[BankState::P];

    fn row(state: BankState, event: BankEvent) -> Row<BankState, BankAction> {
        use BankAction as A;
        use BankEvent::*;
        use BankState::*;
        match (state, event) {
            (I | P, Get | Read | Update | UpdateThrough) => go(IV, &[A::Fetch]).retry(),
            (I, UpdateDrop) => go(IV, &[A::Fetch]).retry(),
            (P, UpdateDrop) => impossible(WHOLE),
            // Partial writes need no fetch: the mask remembers their bytes.
            (I, Write) => go(V, &[A::Merge, A::Ack]),
            (I, WriteThrough) => go(V, &[A::Merge, A::WriteOut, A::Ack]),
            (I, WriteDrop) => stay(&[A::WriteMemory, A::Ack]),
            (I, Remote) => stay(&[A::PassOn]),
            (I, Fill | FillDirty) => impossible(NO_FETCH),
            (I, RemoteDirty | Evict | EvictDirty | Inv | InvDirty | Flush) => impossible(NO_LINE),

            (P, Write | WriteThrough | WriteDrop | Remote | RemoteDirty) => impossible(ACCESS_ONLY),
            (P, Fill | FillDirty | Evict | EvictDirty | Inv | InvDirty | Flush) => impossible(ACCESS_ONLY),

            (V, Get) => stay(&[A::SendData]),
            (V, Read | Update) => stay(&[A::Perform]),
            (V, Write) => stay(&[A::Merge, A::Ack]),
            (V, WriteThrough) => stay(&[A::Merge, A::WriteOut, A::Ack]),
            // Memory serves one bank's operations on a line in order: a later
            // fetch sees this write.
            (V, WriteDrop) => go(I, &[A::WriteMemory, A::Ack]),
            (V, UpdateThrough) => stay(&[A::Perform, A::WriteOut]),
            (V, UpdateDrop) => go(I, &[A::Perform, A::WriteOut]),
            // The copy here would be older than memory.
            (V, Remote) => go(I, &[A::PassOn]),
            (V, RemoteDirty) => go(I, &[A::WriteOut, A::PassOn]),
            (V, Fill | FillDirty) => impossible(NO_FETCH),
            (V, Evict | Inv) => go(I, &[]),
            (V, EvictDirty) => go(I, &[A::WriteOut]),
            (V, InvDirty) => stay(&[A::KeepDirty]),
            (V, Flush) => stay(&[A::WriteOut]),

            (IV, Get | Read | Update | UpdateThrough | UpdateDrop) => stall(),
            // Asking for the line again and again would starve while others
            // acquire or pass it: memory serves them one by one.
            (IX, Get | Read | Update | UpdateThrough | UpdateDrop) => stay(&[A::WriteOut, A::PassOn]),
            (IV | IX, Write) => stay(&[A::Merge, A::Ack]),
            // The way is there and the fetched bytes are wanted: the write is
            // merged even where the bank keeps no writes.
            (IV | IX, WriteThrough | WriteDrop) => stay(&[A::Merge, A::WriteOut, A::Ack]),
            (IV, Remote) => go(IX, &[A::PassOn, A::Divert]),
            (IV, RemoteDirty) => go(IX, &[A::WriteOut, A::PassOn, A::Divert]),
            (IX, Remote) => stay(&[A::PassOn]),
            (IX, RemoteDirty) => stay(&[A::WriteOut, A::PassOn]),
            (IV, Fill | FillDirty) => go(V, &[A::Fill, A::Wake]),
            // The bytes may be older than an acquire.
            (IX, Fill) => go(I, &[A::Wake]),
            (IX, FillDirty) => go(V, &[A::KeepDirty, A::Wake]),
            (IV | IX, Evict | EvictDirty) => impossible(PINNED),
            (IV, Inv | InvDirty) => go(IX, &[A::Divert]),
            (IX, Inv | InvDirty) => stay(&[]),
            (IV | IX, Flush) => stay(&[A::WriteOut]),
        }
    }
}
