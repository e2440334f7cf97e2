//! The last messages of a run, kept for the diagnosis of a stuck run.

use proto::LineAddr;

use crate::queue::Cycle;

/// A message that was sent, as the history keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PastMessage {
    pub(crate) at: Cycle,
    /// The number of the station (controller) that sent the message. The number after the last
    /// station stands for memory.
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) name: &'static str,
    pub(crate) line: Option<LineAddr>,
    pub(crate) dropped: bool,
}

impl PastMessage {
    /// The record of a sent message about a line. The caller sets the sender and the receiver.
    pub(crate) fn of(at: Cycle, name: &'static str, line: LineAddr) -> PastMessage {
        PastMessage { at, from: 0, to: 0, name, line: Some(line), dropped: false }
    }
}

/// The number of messages that the history keeps.
const KEPT: usize = 1 << 13;

/// The last messages that were sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    ring: Vec<PastMessage>,
    next: usize,
    dropped: Vec<PastMessage>,
}

impl History {
    #[inline]
    pub(crate) fn sent(&mut self, past: PastMessage) {
        if past.dropped {
            self.dropped.push(past);
        }
        if self.ring.len() < KEPT {
            self.ring.push(past);
        } else {
            self.ring[self.next] = past;
            self.next = (self.next + 1) % KEPT;
        }
    }

    /// The messages about `line` for the diagnosis of a stuck run, oldest first: the last messages
    /// about the line, at most `most` of them, and all older ones that a seeded fault dropped.
    pub(crate) fn of_line(&self, line: LineAddr, most: usize) -> Vec<PastMessage> {
        let (newer, older) = self.ring.split_at(self.next);
        let about = |past: &&PastMessage| past.line == Some(line);
        let mut last: Vec<PastMessage> =
            newer.iter().rev().chain(older.iter().rev()).filter(about).take(most).copied().collect();
        last.reverse();
        let lost = self.dropped.iter().filter(about).filter(|past| !last.contains(past)).copied();
        let mut all: Vec<PastMessage> = lost.collect();
        all.extend(last);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_messages_of_a_line_are_kept_and_dropped_ones_always() {
        let mut history = History::default();
        let past = |at: u64, line: u64, dropped| PastMessage {
            at,
            from: 0,
            to: 1,
            name: "Get",
            line: Some(LineAddr(line)),
            dropped,
        };
        history.sent(past(0, 7, true));
        for at in 1..=(2 * KEPT as u64) {
            history.sent(past(at, at % 2, false));
        }
        let cycles = |line| history.of_line(LineAddr(line), 2).iter().map(|p| p.at).collect::<Vec<_>>();
        assert_eq!(cycles(0), [2 * KEPT as u64 - 2, 2 * KEPT as u64]);
        assert_eq!(cycles(7), [0]);
    }
}
