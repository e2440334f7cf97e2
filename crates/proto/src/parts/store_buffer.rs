//! The store buffer: a FIFO of dirty lines, with flush markers.
//!
//! A flush takes many steps. It puts a marker behind the queued lines. The buffer drains entry by
//! entry, and other wavefronts store behind the marker. When the marker reaches the head, the flush
//! waits only for the acks of earlier writes.

use super::acks::AckParity;
use crate::contract::{Cx, Protocol};
use crate::line::LineAddr;
use crate::node::Slot;
use core::fmt::Debug;
use core::hash::Hash;
use std::collections::VecDeque;

/// A waiter for a flush: a request of this compute unit, or another requester of the
/// protocol, for example a remote cache or a bank.
pub trait FlushWaiter<P: Protocol>: Copy + Eq + Hash + Debug + From<Slot> + 'static {
    /// Completes the flush: resumes the waiting request, or answers the requester. Returns the
    /// waiter if the controller itself must act for it.
    fn flushed(self, cx: &mut Cx<'_, P>) -> Option<Self>;
}

impl<P: Protocol> FlushWaiter<P> for Slot {
    #[inline]
    fn flushed(self, cx: &mut Cx<'_, P>) -> Option<Self> {
        cx.fx.resume(self);
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Entry<W> {
    Line(LineAddr),
    Flush(W),
}

/// The result of a removal from the head of the store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Popped {
    /// The dirty bytes of this line must be written out now.
    Line(LineAddr),
    /// Nothing can leave now: the head is a line that is not ready, or the marker of a flush behind
    /// an unfinished flush.
    Blocked,
    /// The buffer is empty.
    Empty,
}

/// The store buffer of one cache. The type `W` identifies the waiters for a flush.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct StoreBuffer<W = Slot> {
    fifo: VecDeque<Entry<W>>,
    lines: u32,
    /// The writes that have left the buffer and are not yet acknowledged.
    pub acks: AckParity,
    closing: Vec<W>,
}

crate::clone_in_place! { [W: Clone] StoreBuffer<W> { fifo, lines, acks, closing } }

impl<W> Default for StoreBuffer<W> {
    fn default() -> Self {
        StoreBuffer { fifo: VecDeque::new(), lines: 0, acks: AckParity::default(), closing: Vec::new() }
    }
}

impl<W: Copy + PartialEq> StoreBuffer<W> {
    /// The number of lines in the store buffer.
    #[inline]
    #[must_use]
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// Whether the buffer contains a flush marker. If it does, the entries must be written out even
    /// if the write policy keeps dirty lines in the cache.
    #[inline]
    #[must_use]
    pub fn has_flush(&self) -> bool {
        self.fifo.len() as u32 > self.lines
    }

    /// Whether the marker of a flush is at the head and waits for an earlier flush.
    #[inline]
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        !self.closing.is_empty() && matches!(self.fifo.front(), Some(Entry::Flush(_)))
    }

    /// The line at the head of the buffer. `None` if the head is a flush marker or the buffer is
    /// empty.
    #[inline]
    #[must_use]
    pub fn next_line(&self) -> Option<LineAddr> {
        match self.fifo.front() {
            Some(&Entry::Line(line)) => Some(line),
            Some(Entry::Flush(_)) | None => None,
        }
    }

    /// Queues a line that has become dirty.
    pub fn push(&mut self, line: LineAddr) {
        self.fifo.push_back(Entry::Line(line));
        self.lines += 1;
    }

    /// Removes a line from any position, because it was evicted or written out of order.
    pub fn remove(&mut self, line: LineAddr) {
        if let Some(at) = self.fifo.iter().position(|e| *e == Entry::Line(line)) {
            self.fifo.remove(at);
            self.lines -= 1;
        }
    }

    /// Begins a flush for `waiter`. Returns true if the flush is already complete.
    #[must_use]
    pub fn flush(&mut self, waiter: W) -> bool {
        if self.fifo.is_empty() && self.acks.is_idle() {
            return true;
        }
        self.fifo.push_back(Entry::Flush(waiter));
        false
    }

    /// Begins a flush of only the lines that `is_own` selects. The other lines move behind the
    /// marker of this flush, unless an earlier flush waits for them. Returns true if the flush is
    /// already complete.
    #[must_use]
    pub fn flush_of(&mut self, waiter: W, is_own: impl Fn(LineAddr) -> bool) -> bool {
        let owns = |entry: &Entry<W>| matches!(*entry, Entry::Line(line) if is_own(line));
        if self.acks.is_idle() && !self.fifo.iter().any(owns) {
            return true;
        }
        let last = self.fifo.iter().rposition(|entry| matches!(entry, Entry::Flush(_)));
        let rest = self.fifo.split_off(last.map_or(0, |at| at + 1));
        let (own, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(owns);
        self.fifo.extend(own);
        self.fifo.push_back(Entry::Flush(waiter));
        self.fifo.extend(others);
        false
    }

    /// Removes the oldest line. Before that, processes the markers at the head, and appends the
    /// waiters of completed flushes to `finished`.
    pub fn pop(&mut self, finished: &mut Vec<W>) -> Popped {
        self.pop_if(finished, |_| true)
    }

    /// Removes the oldest line as `pop` does, but a line for which `ready` is false blocks the
    /// buffer.
    pub fn pop_if(&mut self, finished: &mut Vec<W>, ready: impl Fn(LineAddr) -> bool) -> Popped {
        loop {
            match self.fifo.front() {
                None => return Popped::Empty,
                Some(&Entry::Line(line)) if !ready(line) => return Popped::Blocked,
                Some(&Entry::Line(line)) => {
                    self.fifo.pop_front();
                    self.lines -= 1;
                    return Popped::Line(line);
                }
                Some(Entry::Flush(_)) if self.is_blocked() => return Popped::Blocked,
                Some(Entry::Flush(_)) => {
                    while let Some(&Entry::Flush(waiter)) = self.fifo.front() {
                        self.fifo.pop_front();
                        self.closing.push(waiter);
                    }
                    self.acks.turn();
                    self.finish(finished);
                }
            }
        }
    }

    /// Counts an ack of a write with this parity (the bit that names the write's class). If the ack
    /// completes flushes, appends their waiters to `finished`. Returns false if no write with this
    /// parity was outstanding.
    #[must_use]
    pub fn acked(&mut self, parity: bool, finished: &mut Vec<W>) -> bool {
        let expected = self.acks.acked(parity);
        self.finish(finished);
        expected
    }

    fn finish(&mut self, finished: &mut Vec<W>) {
        if !self.acks.is_closing() {
            finished.append(&mut self.closing);
        }
    }

    /// Whether no flush and no write is under way. The buffer may still hold lines if the write
    /// policy keeps dirty lines in the cache (`Combining`).
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        !self.has_flush() && self.closing.is_empty() && self.acks.is_idle()
    }

    /// The lines in the store buffer, oldest first.
    pub fn queued(&self) -> impl Iterator<Item = LineAddr> + '_ {
        self.fifo.iter().filter_map(|entry| match entry {
            Entry::Line(line) => Some(*line),
            Entry::Flush(_) => None,
        })
    }

    /// Brings the buffer into one canonical form, so that equivalent buffers become equal.
    pub fn canonicalize(&mut self) {
        self.acks.canonicalize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_completes_when_all_earlier_writes_are_acknowledged() {
        let (mut buffer, mut finished) = (StoreBuffer::<Slot>::default(), Vec::new());
        buffer.push(LineAddr(1));
        assert!(!buffer.flush(Slot(7)));
        buffer.push(LineAddr(2));
        assert_eq!(buffer.pop(&mut finished), Popped::Line(LineAddr(1)));
        let first = buffer.acks.sent();
        assert_eq!(buffer.pop(&mut finished), Popped::Line(LineAddr(2)));
        assert!(finished.is_empty(), "the first write is not acknowledged");
        let second = buffer.acks.sent();
        assert!(buffer.acked(first, &mut finished));
        assert_eq!(finished, [Slot(7)]);
        assert!(buffer.acked(second, &mut finished));
        assert!(buffer.is_quiet());
    }

    #[test]
    fn a_flush_of_some_lines_leaves_the_others_behind() {
        let (mut buffer, mut finished) = (StoreBuffer::<Slot>::default(), Vec::new());
        let is = |wanted: u64| move |line: LineAddr| line.0 == wanted;
        (1..4).for_each(|line| buffer.push(LineAddr(line)));
        assert!(buffer.flush_of(Slot(0), is(9)), "none of its lines is queued");
        assert!(!buffer.flush_of(Slot(1), is(2)));
        assert_eq!(buffer.pop(&mut finished), Popped::Line(LineAddr(2)));
        let first = buffer.acks.sent();
        assert!(!buffer.flush_of(Slot(2), is(1)));
        assert!(!buffer.flush_of(Slot(3), is(9)), "the outstanding write may belong to this flush");
        assert!(buffer.acked(first, &mut finished));
        assert!(buffer.has_flush());
        assert_eq!(buffer.pop(&mut finished), Popped::Line(LineAddr(1)));
        assert_eq!(finished, [Slot(1)]);
        let second = buffer.acks.sent();
        assert_eq!(buffer.pop(&mut finished), Popped::Line(LineAddr(3)));
        assert!(buffer.acked(second, &mut finished));
        assert_eq!(finished, [Slot(1), Slot(2), Slot(3)]);
        assert!(buffer.is_quiet());
    }

    #[test]
    fn a_second_flush_waits_for_the_first() {
        let (mut buffer, mut finished) = (StoreBuffer::<Slot>::default(), Vec::new());
        buffer.push(LineAddr(1));
        assert!(!buffer.flush(Slot(1)));
        assert_eq!(buffer.pop(&mut finished), Popped::Line(LineAddr(1)));
        let first = buffer.acks.sent();
        assert_eq!(buffer.pop(&mut finished), Popped::Empty);
        assert!(!buffer.flush(Slot(2)));
        assert_eq!(buffer.pop(&mut finished), Popped::Blocked);
        assert!(buffer.acked(first, &mut finished));
        assert_eq!(buffer.pop(&mut finished), Popped::Empty);
        assert_eq!(finished, [Slot(1), Slot(2)]);
        assert!(buffer.is_quiet());
    }

    #[test]
    fn a_line_that_is_not_ready_blocks_the_buffer() {
        let (mut buffer, mut finished) = (StoreBuffer::<Slot>::default(), Vec::new());
        buffer.push(LineAddr(1));
        assert!(!buffer.flush(Slot(1)));
        assert_eq!(buffer.next_line(), Some(LineAddr(1)));
        assert_eq!(buffer.pop_if(&mut finished, |line| line != LineAddr(1)), Popped::Blocked);
        assert_eq!((buffer.lines(), finished.len()), (1, 0));
        assert_eq!(buffer.pop_if(&mut finished, |_| true), Popped::Line(LineAddr(1)));
        assert_eq!(buffer.next_line(), None, "the flush is at the head");
    }

    #[test]
    fn an_empty_buffer_has_nothing_to_flush() {
        assert!(StoreBuffer::<Slot>::default().flush(Slot(0)));
    }
}
