//! Messages of L2 banks that wait for memory, on a machine whose L2 acknowledges a write only when
//! memory has answered it.
//!
//! In one step, a bank that writes through sends the write to memory and the answer to the writer.
//! Here the messages of such a step wait until memory has answered all writes of the step. Later
//! messages of the bank to the same receiver wait behind them, because the protocols rely on the
//! order of the messages between two stations (controllers). To a protocol, the wait is a longer way
//! through the network: its steps and the order of its messages are the same. No wait is endless,
//! because the answer of memory depends on no held message.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use crate::network::Departure;
use crate::queue::Cycle;
use crate::reports::attribution::QueueWaits;
use crate::stations::fabric::{Sent, StationId};

/// The writes of one step of a bank, for which the messages of the step wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Batch(u64);

/// A message that has not left its bank.
#[derive(Clone, Copy, Debug)]
struct HeldMessage {
    /// The writes for which the message waits. `None` if it waits only for earlier messages.
    batch: Option<Batch>,
    departure: Departure,
    sent: Sent,
}

/// A batch of writes that memory has not answered completely.
#[derive(Clone, Copy, Debug)]
struct Due {
    bank: StationId,
    writes: u32,
}

/// The messages of L2 banks that wait for memory.
#[derive(Debug)]
pub(crate) struct HeldMessages {
    /// The numbers of the banks.
    banks: core::ops::Range<StationId>,
    batches: u64,
    due: FxHashMap<Batch, Due>,
    /// For each write that memory has not answered, the batch to which it belongs. The key is the
    /// number of the operation on memory.
    batch_of: FxHashMap<u32, Batch>,
    /// For each bank and each receiver, the held messages in the order in which they were sent.
    queues: BTreeMap<(StationId, StationId), VecDeque<HeldMessage>>,
}

impl HeldMessages {
    /// No messages, on a machine whose L2 banks have these numbers.
    pub(crate) fn new(banks: core::ops::Range<StationId>) -> HeldMessages {
        HeldMessages {
            banks,
            batches: 0,
            due: FxHashMap::default(),
            batch_of: FxHashMap::default(),
            queues: BTreeMap::new(),
        }
    }

    /// Begins a batch for the writes of a step. `None` if the step has no writes, or is not that of
    /// an L2 bank.
    pub(crate) fn begin(&mut self, station: StationId, writes: usize) -> Option<Batch> {
        if writes == 0 || !self.banks.contains(&station) {
            return None;
        }
        self.batches += 1;
        let batch = Batch(self.batches);
        self.due.insert(batch, Due { bank: station, writes: writes as u32 });
        Some(batch)
    }

    /// Adds a write, with this number of its operation on memory, to a batch.
    pub(crate) fn add(&mut self, batch: Batch, operation: u32) {
        self.batch_of.insert(operation, batch);
    }

    /// Holds a message of a step, if it must wait for the batch of the step or for earlier messages
    /// to the same receiver. Returns false if the message may leave.
    #[must_use]
    pub(crate) fn hold(&mut self, batch: Option<Batch>, departure: &Departure, sent: &Sent) -> bool {
        let route = (departure.from, sent.to);
        if batch.is_none() && !self.queues.contains_key(&route) {
            return false;
        }
        let message = HeldMessage { batch, departure: *departure, sent: *sent };
        self.queues.entry(route).or_default().push_back(message);
        true
    }

    /// The held messages, each with its bank.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (StationId, &Sent)> {
        let messages = |(&(bank, _), queue)| {
            let queue: &VecDeque<HeldMessage> = queue;
            queue.iter().map(move |message| (bank, &message.sent))
        };
        self.queues.iter().flat_map(messages)
    }

    /// Records that memory's answer to an operation has arrived at its bank at cycle `now`, after
    /// these waits. Returns the messages that may leave now, in order.
    pub(crate) fn answered(
        &mut self,
        now: Cycle,
        operation: u32,
        queue_waits: QueueWaits,
    ) -> Vec<(Departure, Sent)> {
        let mut free = Vec::new();
        let Some(batch) = self.batch_of.remove(&operation) else { return free };
        let Some(due) = self.due.get_mut(&batch) else { return free };
        due.writes -= 1;
        if due.writes > 0 {
            return free;
        }
        let bank = due.bank;
        self.due.remove(&batch);
        let mut emptied = Vec::new();
        for (&route, queue) in self.queues.range_mut((bank, 0)..=(bank, StationId::MAX)) {
            // The waits of the write include those of the step that sent it.
            for message in queue.iter_mut().filter(|message| message.batch == Some(batch)) {
                message.departure.queue_waits = queue_waits;
            }
            let due = &self.due;
            while let Some(message) = queue.front()
                && message.batch.is_none_or(|batch| !due.contains_key(&batch))
            {
                let departure = Departure { at: message.departure.at.max(now), ..message.departure };
                free.push((departure, message.sent));
                queue.pop_front();
            }
            if queue.is_empty() {
                emptied.push(route);
            }
        }
        for route in emptied {
            self.queues.remove(&route);
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departure(from: StationId, at: Cycle) -> Departure {
        Departure { from, at, clock: 0, queue_waits: QueueWaits::default() }
    }

    fn sent(to: StationId, message: u32) -> Sent {
        Sent { to, message, name: "Ack", payload_bytes: 0, line: None, is_access: false }
    }

    /// The numbers and the departure times of messages that may leave.
    fn numbers(free: &[(Departure, Sent)]) -> Vec<(u32, Cycle)> {
        free.iter().map(|(departure, sent)| (sent.message, departure.at)).collect()
    }

    #[test]
    fn messages_of_a_step_wait_for_all_its_writes_and_keep_their_order() {
        let mut held = HeldMessages::new(8..10);
        let first = held.begin(8, 2);
        held.add(first.unwrap(), 40);
        held.add(first.unwrap(), 41);
        assert!(held.hold(first, &departure(8, 5), &sent(1, 0)));
        // Another receiver, and another bank, do not wait.
        assert!(!held.hold(None, &departure(8, 6), &sent(2, 1)));
        assert!(!held.hold(None, &departure(9, 6), &sent(1, 2)));
        // A later message to the same receiver waits behind.
        assert!(held.hold(None, &departure(8, 90), &sent(1, 3)));
        let second = held.begin(8, 1);
        held.add(second.unwrap(), 42);
        assert!(held.hold(second, &departure(8, 7), &sent(1, 4)));
        assert!(held.hold(second, &departure(8, 7), &sent(3, 5)));
        let waits = QueueWaits::default();
        assert_eq!(numbers(&held.answered(20, 41, waits)), []);
        // The second step is answered first. Its message to station 1 keeps its place.
        assert_eq!(numbers(&held.answered(30, 42, waits)), [(5, 30)]);
        assert_eq!(numbers(&held.answered(40, 40, waits)), [(0, 40), (3, 90), (4, 40)]);
        assert!(held.queues.is_empty() && held.due.is_empty() && held.batch_of.is_empty());
        assert!(!held.hold(None, &departure(8, 50), &sent(1, 6)));
    }

    #[test]
    fn only_banks_wait_and_a_message_has_the_waits_of_its_write() {
        let mut held = HeldMessages::new(8..10);
        assert_eq!((held.begin(7, 1), held.begin(10, 1), held.begin(8, 0)), (None, None, None));
        let batch = held.begin(9, 1);
        held.add(batch.unwrap(), 3);
        assert!(held.hold(batch, &departure(9, 5), &sent(1, 0)));
        let waits = QueueWaits::default().at_dram(17);
        let free = held.answered(9, 3, waits);
        assert_eq!(free[0].0.queue_waits, waits);
        assert!(held.answered(9, 3, waits).is_empty(), "no write has this number any more");
    }
}
