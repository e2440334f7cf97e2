//! What can be the case with a line in a bank, what can happen to it, and what
//! can be done: the words of the banks' tables.

use proto::symbols;

symbols! {
    /// The states of a line.
    pub enum BankState {
        /// Not present.
        I,
        /// Present, but bytes that are asked for are not valid.
        P,
        /// Present, with the bytes that are asked for, and nobody is registered for it.
        V,
        /// A fetch from memory is under way.
        IV,
        /// A first-level cache is registered for the line.
        R,
        /// The registration is being recalled.
        RC,
        /// The same, and the way is given up when it has come back.
        RE,
    }
}

symbols! {
    /// What happens to a line.
    pub enum BankEvent {
        /// A first-level cache asks for the line.
        Get,
        /// A load of data that is performed here.
        Read,
        /// A write, where the bank combines writes.
        Write,
        /// A write, where the bank writes through.
        WriteThrough,
        /// A write of which the bank keeps nothing, or for which it has no way.
        WriteDrop,
        /// A first-level cache asks to be registered.
        Register,
        /// The cache that is registered asks for the bytes anew.
        Renew,
        /// An atomic that is performed where the line is.
        Anywhere,
        /// An atomic that is performed here, when nobody is registered.
        Unregistered,
        /// An access at system scope passes the line.
        System,
        /// The registration comes back.
        Return,
        /// Memory answers.
        Fill,
        /// The environment takes the way.
        Evict,
        /// A release or an acquire at system scope recalls the registered line.
        Call,
        /// An acquire at system scope drops a clean line.
        Inv,
        /// An acquire at system scope meets a dirty line.
        InvDirty,
        /// A release at system scope has come to this dirty line.
        Flush,
    }
}

symbols! {
    /// What is done.
    pub enum BankAction {
        /// Read the line from memory; takes a miss register.
        Fetch,
        /// Send the line to the first-level cache.
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
        /// The asker is registered from now on.
        Own,
        /// Send registration and the bytes of the line.
        Grant,
        /// Tell the cache that is registered to give the registration back.
        Recall,
        /// Have the access performed by the cache that is registered.
        Forward,
        /// Nobody is registered any more; merge the bytes that came back.
        TakeBack,
        /// A recall is over.
        EndRecall,
        /// Take the fetched bytes that were not written meanwhile.
        Fill,
        /// The fetch is over: free the miss register.
        EndFetch,
        /// Keep only the dirty bytes.
        KeepDirty,
        /// Present what waited for the line or its way.
        Wake,
    }
}

impl BankEvent {
    /// Does it need all the bytes that it names?
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
