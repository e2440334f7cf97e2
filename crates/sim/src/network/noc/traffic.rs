//! Reservations of links by messages, and traffic counts.

use crate::queue::Cycle;

/// The traffic of one link: the bytes that crossed it and its busy cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTraffic {
    /// The number of bytes that the link has carried.
    pub bytes: u64,
    /// The number of cycles in which the link was busy.
    pub busy_cycles: u64,
}

/// The traffic of the whole network: messages, bytes, flits and waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NocTraffic {
    /// The number of messages sent.
    pub messages: u64,
    /// The number of bytes sent. A message counts once, whatever its number of hops.
    pub bytes: u64,
    /// The sum over all messages of their bytes times the hops they travelled.
    pub byte_hops: u64,
    /// The number of flits sent. A message counts once, whatever its number of hops.
    pub flits: u64,
    /// The sum over all messages of their flits times the hops they travelled.
    pub flit_hops: u64,
    /// The number of messages that have arrived.
    pub delivered_messages: u64,
    /// The number of bytes of the messages that have arrived.
    pub delivered_bytes: u64,
    /// The cycles that messages waited for busy links and ports, summed over all messages.
    pub queue_cycles: u64,
    /// The number of messages that crossed from one chiplet to another.
    pub link_messages: u64,
    /// The number of bytes of the messages that crossed from one chiplet to another.
    pub link_bytes: u64,
    /// The part of `queue_cycles` that messages waited for links between chiplets.
    pub link_queue_cycles: u64,
}

/// The use of a link by one message, in the form that probes (observers of a run) see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkUse {
    /// The number of the link among all links and ports.
    pub link: usize,
    /// The first cycle in which the message occupies the link.
    pub from: Cycle,
    /// The first cycle in which the link is free again after the message.
    pub until: Cycle,
}

/// The state of a link: the cycle at which it is free, and its traffic.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    free_at: Cycle,
    pub(super) traffic: LinkTraffic,
}

/// A message on its way: the links that it may reserve, and the time so far.
pub(super) struct MessagePath<'a, W> {
    pub(super) links: &'a mut [Link],
    pub(super) bytes: u64,
    /// The cycle at which the first byte of the message arrives at its current place.
    pub(super) head: Cycle,
    pub(super) queued: u64,
    pub(super) watch: W,
}

impl<W: FnMut(LinkUse)> MessagePath<'_, W> {
    /// Reserves a link for `cycles` cycles, as soon as the link is free.
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

    /// Moves the message one hop further, over `link` if the hop has a link. `first` is the number
    /// of the chiplet's first link.
    #[inline]
    pub(super) fn hop(&mut self, first: usize, link: Option<usize>, cycles: u64, latency: u64) {
        if let Some(link) = link {
            self.cross(first + link, cycles);
        }
        self.head += latency;
    }
}
