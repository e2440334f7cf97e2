//! The messages that leave a bank of the L2 towards the directory, behind invalidations.

use super::{DIRECTORY, FIRST, Missing, Params, Quick, ToDirectory, ToL1};
use proto::{Cx, LineAddr, Message as _, NodeId};
use std::collections::VecDeque;

/// The invalidations of L1s that are not yet acknowledged by all, and the messages that wait for them,
/// in one order. The L1s answer each bank in the order of its invalidations, so an ack needs no number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Departures {
    queue: VecDeque<Departure>,
    /// The number of invalidations of the queue, the oldest first, that each L1 has acknowledged.
    acked: Vec<u32>,
}

/// A message to the directory, or an invalidation behind which nothing waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Departure {
    /// Whether the acks of an invalidation must arrive first.
    awaits_acks: bool,
    msg: Option<ToDirectory>,
}

impl Departures {
    /// No invalidation is under way.
    #[must_use]
    pub(super) fn new(params: &Params) -> Departures {
        Departures { queue: VecDeque::new(), acked: vec![0; usize::from(params.invalidated)] }
    }

    /// Whether a message about the line waits.
    #[must_use]
    pub(super) fn has(&self, line: LineAddr) -> bool {
        self.queue.iter().any(|departure| departure.msg.as_ref().is_some_and(|msg| msg.line() == Some(line)))
    }

    /// Whether no invalidation is under way.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Invalidates the copies of all L1s.
    fn invalidate<P: Quick>(line: LineAddr, cx: &mut Cx<'_, P>) {
        for index in 0..cx.world.params.invalidated {
            cx.fx.send(NodeId { kind: FIRST, index }, ToL1::Inv { line });
        }
    }

    /// Sends a message to the directory. In a repaired protocol, it waits for the acks of the messages
    /// before it.
    pub(super) fn send<P: Quick>(&mut self, msg: impl Into<ToDirectory>, cx: &mut Cx<'_, P>) {
        if cx.world.params.repaired {
            self.queue.push_back(Departure { awaits_acks: false, msg: Some(msg.into()) });
            self.depart(cx);
        } else {
            Departures::go(msg.into(), cx);
        }
    }

    /// Invalidates the copies of all L1s, and sends a message to the directory. In a repaired protocol,
    /// the message waits for the acks.
    pub(super) fn send_after_inv<P: Quick>(
        &mut self,
        line: LineAddr,
        msg: impl Into<ToDirectory>,
        cx: &mut Cx<'_, P>,
    ) {
        Departures::invalidate(line, cx);
        let msg = match cx.world.params.repaired {
            true => Some(msg.into()),
            false => {
                Departures::go(msg.into(), cx);
                None
            }
        };
        self.queue.push_back(Departure { awaits_acks: true, msg });
        self.depart(cx);
    }

    /// Invalidates the copies of all L1s because a host writes the line. A repaired protocol then
    /// acknowledges the invalidation of the host.
    pub(super) fn tell<P: Quick>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>) {
        Departures::invalidate(line, cx);
        let msg = cx.world.params.repaired.then_some(ToDirectory::Invalidated { line });
        self.queue.push_back(Departure { awaits_acks: true, msg });
        self.depart(cx);
    }

    /// Sends the marker of a release behind all invalidations.
    pub(super) fn mark<P: Quick>(&mut self, msg: ToDirectory, cx: &mut Cx<'_, P>) {
        if cx.world.params.lacks(Missing::Acks) {
            return Departures::go(msg, cx);
        }
        self.queue.push_back(Departure { awaits_acks: false, msg: Some(msg) });
        self.depart(cx);
    }

    /// Counts the ack of an L1. Returns false if no ack of this L1 was due.
    #[must_use]
    pub(super) fn acked<P: Quick>(&mut self, from: NodeId, cx: &mut Cx<'_, P>) -> bool {
        let due = self.queue.iter().filter(|departure| departure.awaits_acks).count();
        match self.acked.get_mut(usize::from(from.index)) {
            Some(count) if (*count as usize) < due => *count += 1,
            _ => return false,
        }
        self.depart(cx);
        true
    }

    /// Sends the messages for which nothing is due any more.
    fn depart<P: Quick>(&mut self, cx: &mut Cx<'_, P>) {
        while let Some(front) = self.queue.front() {
            if front.awaits_acks {
                if self.acked.contains(&0) {
                    return;
                }
                self.acked.iter_mut().for_each(|count| *count -= 1);
            }
            if let Some(msg) = self.queue.pop_front().and_then(|departure| departure.msg) {
                Departures::go(msg, cx);
            }
        }
    }

    /// Sends a message to the bank of the directory that serves all lines of this bank of the L2.
    fn go<P: Quick>(msg: ToDirectory, cx: &mut Cx<'_, P>) {
        let (l2, directory) = cx.world.params.banks;
        let (chiplet, bank) = (cx.me.index / l2, cx.me.index % l2);
        cx.fx.send(NodeId { kind: DIRECTORY, index: chiplet * directory + bank % directory }, msg);
    }
}
