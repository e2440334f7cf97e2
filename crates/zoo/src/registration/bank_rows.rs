//! The states, events and actions of the banks' tables.

use proto::symbols;

symbols! {
    /// The states of a line.
    pub enum BankState {
        /// The line is not present.
        I,
        /// The line is present, but some bytes that the access needs are not valid.
        P,
        /// The line is present with all bytes that the access needs, and no cache is registered for
        /// it.
        V,
        /// A fetch from memory is under way.
        IV,
        /// A first-level cache is registered for the line.
        R,
        /// A first-level cache is registered for the line, and a recall is under way.
        RC,
        /// A first-level cache is registered for the line, and a recall for an eviction is under way.
        RE,
    }
}

symbols! {
    /// The events of a line.
    pub enum BankEvent {
        /// A first-level cache asks for the line.
        Get,
        /// A load of data that is performed here.
        Read,
        /// A write to a bank that combines writes.
        Write,
        /// A write to a bank that writes through.
        WriteThrough,
        /// A write to a bank that has no free way, or whose write policy keeps no copy of written
        /// lines.
        WriteDrop,
        /// A first-level cache asks for registration.
        Register,
        /// The registered cache asks for the bytes again.
        Renew,
        /// An atomic that is performed in the registered cache, or else here.
        Anywhere,
        /// An atomic that is performed here while no cache is registered.
        Unregistered,
        /// An access at system scope, which is performed in memory.
        System,
        /// The registered cache returns the registration.
        Return,
        /// The fetched bytes arrive.
        Fill,
        /// The line is evicted, because its way is needed for another line.
        Evict,
        /// A release or an acquire at system scope recalls the registered line.
        Call,
        /// An acquire at system scope invalidates a clean line.
        Inv,
        /// An acquire at system scope is carried out while the line is dirty.
        InvDirty,
        /// A release at system scope flushes this dirty line.
        Flush,
    }
}

symbols! {
    /// The actions that the rows of the table perform.
    pub enum BankAction {
        /// Read the line from memory. Takes a miss register.
        Fetch,
        /// Send the line to the first-level cache.
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
        /// Record the requester as the owner.
        Own,
        /// Send registration and the bytes of the line.
        Grant,
        /// Recall the registration from the owner.
        Recall,
        /// Forward the access to the owner, which performs it.
        Forward,
        /// Remove the owner and merge the returned bytes.
        TakeBack,
        /// Decrease the number of recalls under way by one.
        EndRecall,
        /// Fill the bytes that are not valid.
        Fill,
        /// Free the miss register of the fetch.
        EndFetch,
        /// Invalidate the clean bytes.
        KeepDirty,
        /// Wake inputs that wait for the line, its way or a miss register.
        Wake,
    }
}

impl BankEvent {
    /// Whether the bank can carry out the event only if all bytes that the event requests are valid
    /// in the bank.
    #[must_use]
    pub fn needs_bytes(self) -> bool {
        matches!(
            self,
            BankEvent::Get
                | BankEvent::Read
                | BankEvent::Register
                | BankEvent::Anywhere
                | BankEvent::Unregistered
        )
    }
}
