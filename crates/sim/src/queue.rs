//! The event queue: it orders events by time, and events of the same time by insertion.
//!
//! Most events lie less than four thousand cycles ahead. They go into a ring, which has one list
//! for each cycle, in constant time. A bitmap of two levels finds the next list that is not empty.
//! One slab stores the events of all lists. The few events further ahead wait in a heap. Such an
//! event moves into the ring as soon as the ring reaches its cycle, so no event that is inserted
//! later can precede it.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// A point in simulated time, in cycles of the GPU clock.
pub type Cycle = u64;

const RING: usize = 4096;
const WORDS: usize = RING / 64;
// The bitmap has 64 words. One more word can therefore record which of these words are not zero.
const _: () = assert!(WORDS == 64);

/// The index that stands for the absence of an event.
const NONE: u32 = u32::MAX;

/// A queue of events of type `T`.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    now: Cycle,
    /// The entry `t % RING` is the list of the events of cycle `t`, for each cycle `t` with `now <=
    /// t < now + RING`. The entry holds the slab index of the last event of the list. The field
    /// `next` of that event is the index of the first event of the list.
    ring: Box<[u32; RING]>,
    /// One bit for each entry of the ring: set if its list has events.
    occupied: Box<[u64; WORDS]>,
    /// One bit for each word of `occupied`: set if the word is not zero.
    occupied_words: u64,
    slab: Vec<SlabEvent<T>>,
    /// The index of the first free entry of the slab.
    free: u32,
    far: BinaryHeap<Reverse<FarEvent<T>>>,
    inserted: u64,
    len: usize,
}

/// An entry of the slab. If it holds an event, `next` is the index of the next event of the same
/// list. If it is free, `next` is the index of the next free entry.
#[derive(Clone, Copy, Debug)]
struct SlabEvent<T> {
    next: u32,
    event: T,
}

/// An event too far ahead for the ring. Such events are ordered by time, then by insertion.
#[derive(Clone, Debug)]
struct FarEvent<T> {
    at: Cycle,
    order: u64,
    event: T,
}

impl<T> PartialEq for FarEvent<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}
impl<T> Eq for FarEvent<T> {}
impl<T> PartialOrd for FarEvent<T> {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for FarEvent<T> {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl<T: Copy> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue {
            now: 0,
            ring: Box::new([NONE; RING]),
            occupied: Box::new([0; WORDS]),
            occupied_words: 0,
            slab: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            inserted: 0,
            len: 0,
        }
    }
}

impl<T: Copy> EventQueue<T> {
    /// The current cycle, which is the cycle of the event that was taken last.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// The number of pending events.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event is pending.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of events inserted so far.
    #[must_use]
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Inserts an event that happens at cycle `at`. If this cycle is past, the event happens in the
    /// current cycle.
    #[inline]
    pub fn push(&mut self, at: Cycle, event: T) {
        debug_assert!(at >= self.now, "an event at {at} was inserted at {}", self.now);
        let at = at.max(self.now);
        self.len += 1;
        let order = self.inserted;
        self.inserted += 1;
        if at - self.now < RING as u64 {
            self.list(at, event);
        } else {
            self.far.push(Reverse(FarEvent { at, order, event }));
        }
    }

    /// Appends an event to the list of its cycle. The cycle must be within the ring.
    #[inline]
    fn list(&mut self, at: Cycle, event: T) {
        let slot = at as usize % RING;
        let new = self.free;
        let new = match self.slab.get_mut(new as usize) {
            Some(place) => {
                self.free = place.next;
                *place = SlabEvent { next: new, event };
                new
            }
            None => self.grow(event),
        };
        let last = core::mem::replace(&mut self.ring[slot], new);
        if last == NONE {
            self.occupied[slot / 64] |= 1 << (slot % 64);
            self.occupied_words |= 1 << (slot / 64);
        } else {
            let first = core::mem::replace(&mut self.slab[last as usize].next, new);
            self.slab[new as usize].next = first;
        }
    }

    /// Appends a new entry with this event to the slab, as a list of this event alone. Returns the
    /// index of the entry.
    #[cold]
    fn grow(&mut self, event: T) -> u32 {
        let new = self.slab.len() as u32;
        self.slab.push(SlabEvent { next: new, event });
        new
    }

    /// Removes the next event and returns it with its cycle, which becomes the current time. `None`
    /// if the queue is empty.
    #[inline]
    pub fn pop(&mut self) -> Option<(Cycle, T)> {
        if self.ring[self.now as usize % RING] == NONE {
            self.advance()?;
        }
        let slot = self.now as usize % RING;
        let last = self.ring[slot];
        let first = self.slab[last as usize].next;
        let SlabEvent { next, event } = self.slab[first as usize];
        self.slab[first as usize].next = core::mem::replace(&mut self.free, first);
        self.len -= 1;
        if first == last {
            self.ring[slot] = NONE;
            self.occupied[slot / 64] &= !(1 << (slot % 64));
            if self.occupied[slot / 64] == 0 {
                self.occupied_words &= !(1 << (slot / 64));
            }
        } else {
            self.slab[last as usize].next = next;
        }
        Some((self.now, event))
    }

    /// The cycle of the next event. `None` if the queue is empty.
    #[must_use]
    pub fn peek(&self) -> Option<Cycle> {
        self.next_in_ring().or_else(|| self.far.peek().map(|far| far.0.at))
    }

    fn next_in_ring(&self) -> Option<Cycle> {
        let start = self.now as usize % RING;
        let (word, bit) = (start / 64, start % 64);
        let behind = self.occupied[word] & (u64::MAX << bit);
        let (word, bits) = if behind != 0 {
            (word, behind)
        } else if self.occupied_words == 0 {
            return None;
        } else {
            // The word that contains the current cycle's bit comes last: its lower bits stand for
            // cycles that are nearly one round of the ring ahead.
            let after = self.occupied_words.rotate_right(word as u32 + 1).trailing_zeros() as usize;
            let word = (word + 1 + after) % WORDS;
            (word, self.occupied[word])
        };
        let slot = word * 64 + bits.trailing_zeros() as usize;
        Some(self.now + ((slot + RING - start) % RING) as u64)
    }

    /// Moves the current time to the cycle of the next event. Moves events from the heap into the
    /// ring if the ring now reaches their cycles. `None` if no event is pending.
    fn advance(&mut self) -> Option<()> {
        self.now = self.peek()?;
        while let Some(far) = self.far.peek() {
            if far.0.at - self.now >= RING as u64 {
                break;
            }
            let Some(Reverse(far)) = self.far.pop() else { break };
            self.list(far.at, far.event);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Property: the queue returns events in the same order as a plain heap of (time, order of
        /// insertion).
        #[test]
        fn events_leave_by_time_then_by_insertion(
            steps in prop::collection::vec((0u64..16_000, 0usize..4), 1..400),
        ) {
            let mut queue = EventQueue::default();
            let mut oracle = BinaryHeap::new();
            for (order, (ahead, pops)) in steps.into_iter().enumerate() {
                let at = queue.now() + if order % 3 == 0 { ahead } else { ahead % 4400 };
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
    fn an_event_inserted_in_its_own_cycle_comes_after_the_others_of_that_cycle() {
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
        queue.push(5000, "far");
        queue.push(4000, "step");
        assert_eq!(queue.pop(), Some((4000, "step")));
        queue.push(5000, "near");
        assert_eq!(queue.pop(), Some((5000, "far")));
        assert_eq!(queue.pop(), Some((5000, "near")));
    }
}
