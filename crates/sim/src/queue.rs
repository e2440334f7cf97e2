//! The event queue: a total order of events by (time, order of insertion).
//!
//! Nearly every event of a machine lies less than a thousand cycles ahead, so
//! a ring of buckets, one a cycle, takes them in constant time; a bitmap finds
//! the next bucket that is not empty. The rare event further ahead waits in a
//! heap and moves into the ring as soon as its cycle is within reach, hence
//! before anything can be inserted directly behind it.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// A point in simulated time, in cycles of the GPU clock.
pub type Cycle = u64;

const RING: usize = 1024;
const WORDS: usize = RING / 64;

/// A queue of events of type `T`.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    now: Cycle,
    /// Bucket `t % RING` holds the events of cycle `t`, for `now <= t < now + RING`.
    ring: Box<[Vec<T>; RING]>,
    /// Which buckets hold events that were not taken yet.
    occupied: [u64; WORDS],
    /// How many events of the bucket of `now` were taken.
    taken: usize,
    far: BinaryHeap<Reverse<Far<T>>>,
    inserted: u64,
    len: usize,
}

/// An event beyond the ring. Ordered by time, then by insertion.
#[derive(Clone, Debug)]
struct Far<T> {
    at: Cycle,
    order: u64,
    event: T,
}

impl<T> PartialEq for Far<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}
impl<T> Eq for Far<T> {}
impl<T> PartialOrd for Far<T> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Far<T> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl<T: Copy> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue {
            now: 0,
            ring: Box::new(core::array::from_fn(|_| Vec::new())),
            occupied: [0; WORDS],
            taken: 0,
            far: BinaryHeap::new(),
            inserted: 0,
            len: 0,
        }
    }
}

impl<T: Copy> EventQueue<T> {
    /// The time of the event taken last.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// How many events wait.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Does nothing wait?
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many events were ever inserted.
    #[must_use]
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Inserts an event. An event of the past happens now.
    #[inline]
    pub fn push(&mut self, at: Cycle, event: T) {
        debug_assert!(at >= self.now, "an event at {at} was inserted at {}", self.now);
        let at = at.max(self.now);
        self.len += 1;
        let order = self.inserted;
        self.inserted += 1;
        if at - self.now < RING as u64 {
            let slot = at as usize % RING;
            self.ring[slot].push(event);
            self.occupied[slot / 64] |= 1 << (slot % 64);
        } else {
            self.far.push(Reverse(Far { at, order, event }));
        }
    }

    /// Takes the next event and moves time to it.
    #[inline]
    pub fn pop(&mut self) -> Option<(Cycle, T)> {
        let slot = self.now as usize % RING;
        if self.occupied[slot / 64] & (1 << (slot % 64)) == 0 {
            self.advance()?;
        }
        let slot = self.now as usize % RING;
        let bucket = &mut self.ring[slot];
        let event = bucket[self.taken];
        self.taken += 1;
        self.len -= 1;
        if self.taken == bucket.len() {
            bucket.clear();
            self.taken = 0;
            self.occupied[slot / 64] &= !(1 << (slot % 64));
        }
        Some((self.now, event))
    }

    /// The time of the next event.
    #[must_use]
    pub fn peek(&self) -> Option<Cycle> {
        self.next_in_ring().or_else(|| self.far.peek().map(|far| far.0.at))
    }

    fn next_in_ring(&self) -> Option<Cycle> {
        let start = self.now as usize % RING;
        let (word, bit) = (start / 64, start % 64);
        let slot = |word: usize, bits: u64| {
            let slot = word * 64 + bits.trailing_zeros() as usize;
            self.now + ((slot + RING - start) % RING) as u64
        };
        let first = self.occupied[word] & (u64::MAX << bit);
        if first != 0 {
            return Some(slot(word, first));
        }
        for i in 1..=WORDS {
            let w = (word + i) % WORDS;
            let mut bits = self.occupied[w];
            if i == WORDS {
                bits &= !(u64::MAX << bit);
            }
            if bits != 0 {
                return Some(slot(w, bits));
            }
        }
        None
    }

    /// Moves time to the next event and brings far events within reach.
    fn advance(&mut self) -> Option<()> {
        self.now = self.peek()?;
        while let Some(far) = self.far.peek() {
            if far.0.at - self.now >= RING as u64 {
                break;
            }
            let Some(Reverse(far)) = self.far.pop() else { break };
            let slot = far.at as usize % RING;
            self.ring[slot].push(far.event);
            self.occupied[slot / 64] |= 1 << (slot % 64);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same pushes and pops against a plain heap of (time, order).
        #[test]
        fn events_leave_by_time_then_by_insertion(
            steps in prop::collection::vec((0u64..4000, 0usize..4), 1..400),
        ) {
            let mut queue = EventQueue::default();
            let mut oracle = BinaryHeap::new();
            for (order, (ahead, pops)) in steps.into_iter().enumerate() {
                let at = queue.now() + if order % 3 == 0 { ahead } else { ahead % 1100 };
                queue.push(at, order);
                oracle.push(Reverse((at, order)));
                for _ in 0..pops {
                    prop_assert_eq!(queue.peek(), oracle.peek().map(|e| e.0.0));
                    prop_assert_eq!(queue.pop(), oracle.pop().map(|e| e.0));
                }
                prop_assert_eq!(queue.len(), oracle.len());
            }
            while let Some(Reverse(expected)) = oracle.pop() {
                prop_assert_eq!(queue.pop(), Some(expected));
            }
            prop_assert!(queue.is_empty());
            prop_assert_eq!(queue.pop(), None);
        }
    }

    #[test]
    fn an_event_of_the_running_cycle_happens_in_that_cycle_after_all_others() {
        let mut queue = EventQueue::default();
        queue.push(5, 'a');
        queue.push(5, 'b');
        assert_eq!(queue.pop(), Some((5, 'a')));
        queue.push(5, 'c');
        assert_eq!(queue.pop(), Some((5, 'b')));
        assert_eq!(queue.pop(), Some((5, 'c')));
        queue.push(5, 'd');
        assert_eq!(queue.pop(), Some((5, 'd')));
    }

    #[test]
    fn a_far_event_precedes_a_near_one_of_the_same_cycle_inserted_later() {
        let mut queue = EventQueue::default();
        queue.push(2000, "far");
        queue.push(1500, "step");
        assert_eq!(queue.pop(), Some((1500, "step")));
        queue.push(2000, "near");
        assert_eq!(queue.pop(), Some((2000, "far")));
        assert_eq!(queue.pop(), Some((2000, "near")));
    }
}
