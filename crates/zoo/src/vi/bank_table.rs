//! The state transition table of a line in an L2 bank.

use proto::{Row, Table, TableId, go, impossible, stall, stay, symbols};

symbols! {
    /// The states of a line.
    pub enum BankState {
        /// The line is not present.
        I,
        /// The line is present, but some bytes that the access needs are not valid.
        P,
        /// The line is present, and all bytes that the access needs are valid.
        V,
        /// A fetch from memory is under way.
        IV,
        /// A fetch is under way, and its bytes must not be used.
        IX,
    }
}

symbols! {
    /// The events of a line.
    pub enum BankEvent {
        /// An L1 asks for the line.
        Get,
        /// A load that is performed at the L2.
        Read,
        /// A write to a bank that combines writes.
        Write,
        /// A write to a bank that writes through.
        WriteThrough,
        /// A write to a bank that writes through and keeps no copy.
        WriteDrop,
        /// A read-modify-write at a bank that combines writes.
        Update,
        /// A read-modify-write at a bank that writes through.
        UpdateThrough,
        /// A read-modify-write at a bank that writes through and keeps no copy.
        UpdateDrop,
        /// An access at system scope is performed in memory, and the line here is clean.
        Remote,
        /// An access at system scope is performed in memory, and the line here is dirty.
        RemoteDirty,
        /// The fetched bytes arrive, and no byte is dirty.
        Fill,
        /// The fetched bytes arrive, and some bytes are dirty.
        FillDirty,
        /// A clean line is evicted, because its way is needed for another line.
        Evict,
        /// A dirty line is evicted, because its way is needed for another line.
        EvictDirty,
        /// An acquire at system scope invalidates a clean line.
        Inv,
        /// An acquire at system scope is carried out while the line is dirty.
        InvDirty,
        /// A release at system scope flushes this dirty line.
        Flush,
    }
}

impl BankEvent {
    /// Whether the bank can carry out the event only if all bytes that the event requests are valid
    /// in the bank.
    #[must_use]
    pub fn needs_bytes(self) -> bool {
        use BankEvent::*;
        matches!(self, Get | Read | Update | UpdateThrough | UpdateDrop)
    }

    /// The variant of this event for a dirty line. If the event has no such variant, the result is
    /// the event itself.
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
    /// The actions that the rows of the table perform.
    pub enum BankAction {
        /// Read the line from memory. Takes a miss register.
        Fetch,
        /// Send the line to the L1.
        SendData,
        /// Merge the written bytes.
        Merge,
        /// Write the received bytes to memory.
        WriteMemory,
        /// Write the dirty bytes to memory, if there are any. The line becomes clean.
        WriteOut,
        /// Acknowledge the write.
        Ack,
        /// Read or update the words and answer with the old bytes.
        Perform,
        /// Perform the access in memory and forward memory's reply.
        PassOn,
        /// Fill the bytes that are not valid.
        Fill,
        /// Invalidate the clean bytes.
        KeepDirty,
        /// Free the miss register, and wake inputs that wait for it, the line or its way.
        Wake,
        /// Wake accesses that wait for the fetch. Memory performs these accesses.
        Divert,
    }
}

/// The state transition table of a line in an L2 bank.
#[derive(Clone, Copy, Debug)]
pub struct BankTable;

const NO_LINE: &str = "there is no line";
const NO_FETCH: &str = "no fetch is under way";
const ACCESS_ONLY: &str = "the state is only for accesses that need missing bytes";
const PINNED: &str = "a line with a fetch under way is pinned";
const WHOLE: &str = "a bank that keeps no writes holds whole lines";

impl Table for BankTable {
    type State = BankState;
    type Event = BankEvent;
    type Action = BankAction;
    const ID: TableId = TableId(2);
    const NAME: &'static str = "A line in an L2 bank";
    const NEVER_STORED: &'static [BankState] = &[BankState::P];

    proto::listed_rows! { BankTable::rule: (BankState, BankEvent) -> BankAction }
}

impl BankTable {
    const fn rule(state: BankState, event: BankEvent) -> Row<BankState, BankAction> {
        use BankAction as A;
        use BankEvent::*;
        use BankState::*;
        match (state, event) {
            (I | P, Get | Read | Update | UpdateThrough) => go(IV, &[A::Fetch]).retry(),
            (I, UpdateDrop) => go(IV, &[A::Fetch]).retry(),
            (P, UpdateDrop) => impossible(WHOLE),
            // Partial writes need no fetch: the dirty mask records their bytes.
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
            // Memory serves one bank's operations on a line in order, so a later
            // fetch reads this write.
            (V, WriteDrop) => go(I, &[A::WriteMemory, A::Ack]),
            (V, UpdateThrough) => stay(&[A::Perform, A::WriteOut]),
            (V, UpdateDrop) => go(I, &[A::Perform, A::WriteOut]),
            // If the copy stayed here, it would be older than memory.
            (V, Remote) => go(I, &[A::PassOn]),
            (V, RemoteDirty) => go(I, &[A::WriteOut, A::PassOn]),
            (V, Fill | FillDirty) => impossible(NO_FETCH),
            (V, Evict | Inv) => go(I, &[]),
            (V, EvictDirty) => go(I, &[A::WriteOut]),
            (V, InvDirty) => stay(&[A::KeepDirty]),
            (V, Flush) => stay(&[A::WriteOut]),

            (IV, Get | Read | Update | UpdateThrough | UpdateDrop) => stall(),
            // An access that fetches again each time would starve while others
            // acquire or access the line at system scope. So memory performs it.
            (IX, Get | Read | Update | UpdateThrough | UpdateDrop) => stay(&[A::WriteOut, A::PassOn]),
            (IV | IX, Write) => stay(&[A::Merge, A::Ack]),
            // The line has a way and needs the fetched bytes. So the write is merged
            // even if the bank keeps no writes.
            (IV | IX, WriteThrough | WriteDrop) => stay(&[A::Merge, A::WriteOut, A::Ack]),
            (IV, Remote) => go(IX, &[A::PassOn, A::Divert]),
            (IV, RemoteDirty) => go(IX, &[A::WriteOut, A::PassOn, A::Divert]),
            (IX, Remote) => stay(&[A::PassOn]),
            (IX, RemoteDirty) => stay(&[A::WriteOut, A::PassOn]),
            (IV, Fill | FillDirty) => go(V, &[A::Fill, A::Wake]),
            // The fetched bytes may be older than an acquire.
            (IX, Fill) => go(I, &[A::Wake]),
            (IX, FillDirty) => go(V, &[A::KeepDirty, A::Wake]),
            (IV | IX, Evict | EvictDirty) => impossible(PINNED),
            (IV, Inv | InvDirty) => go(IX, &[A::Divert]),
            (IX, Inv | InvDirty) => stay(&[]),
            (IV | IX, Flush) => stay(&[A::WriteOut]),
        }
    }
}
