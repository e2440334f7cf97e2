//! Link reservations and traffic counts.

use crate::queue::Cycle;

/// The traffic of one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTraffic {
    /// Bytes carried.
    pub bytes: u64,
    /// The cycles in which it was busy.
    pub busy_cycles: u64,
}

/// The traffic of the whole network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NocTraffic {
    /// Messages sent.
    pub messages: u64,
    /// Bytes sent, counted once for each message.
    pub bytes: u64,
    /// Bytes times the hops they travelled.
    pub byte_hops: u64,
    /// Flits sent, counted once for each message.
    pub flits: u64,
    /// Flits times the hops they travelled.
    pub flit_hops: u64,
    /// Messages delivered.
    pub delivered_messages: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Cycles that messages waited for a busy link or port.
    pub queue_cycles: u64,
    /// Messages that crossed from one chiplet to another.
    pub link_messages: u64,
    /// The bytes of those messages.
    pub link_bytes: u64,
    /// The part of the queue cycles that was spent waiting for a link between
    /// chiplets.
    pub link_queue_cycles: u64,
}

/// An occupation of a link by a message, as probes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// The number of the link.
    pub link: usize,
    /// The first busy cycle.
    pub from: Cycle,
    /// The first cycle in which the link is free again.
    pub until: Cycle,
}

/// The state of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    free_at: Cycle,
    pub(super) traffic: LinkTraffic,
}

/// A message that crosses links.
pub(super) struct MessagePath<'a, W> {
    pub(super) links: &'a mut [Link],
    pub(super) bytes: u64,
    /// The time at which its head arrives at its current place.
    pub(super) head: Cycle,
    pub(super) queued: u64,
    pub(super) watch: W,
}

impl<W: FnMut(LinkUse)> MessagePath<'_, W> {
    /// Reserves a link for some cycles, from the time it is free.
    #[inline]
    pub(super) fn cross(&mut self, link: usize, cycles: u64) {
        let l = &mut self.links[link];
        let start = self.head.max(l.free_at);
        self.queued += start - self.head;
        l.free_at = start + cycles;
        l.traffic.bytes += self.bytes;
        l.traffic.busy_cycles += cycles;
        (self.watch)(LinkUse { link, from: start, until: start + cycles });
        self.head = start;
    }

    /// Crosses one hop, over its link if it has one. `first` is the first link of
    /// the chiplet.
    #[inline]
    pub(super) fn hop(&mut self, first: usize, link: Option<usize>, cycles: u64, latency: u64) {
        if let Some(link) = link {
            self.cross(first + link, cycles);
        }
        self.head += latency;
    }
}
