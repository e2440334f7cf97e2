//! Queues of messages between nodes and of operations at memory.

/// The number that stands for no slot.
const NONE: u32 = u32::MAX;

/// A fixed number of queues, most of them empty. Their elements share one array of slots. The slot
/// that was freed last is reused first, while it is in the host's cache.
#[derive(Debug)]
pub(super) struct Queues<T> {
    rooms: Vec<Option<T>>,
    /// For each slot: the next slot in its queue, or in the list of free slots.
    behind: Vec<u32>,
    /// The number of the first free slot.
    free: u32,
    /// For each queue: its first and its last slot.
    ends: Vec<[u32; 2]>,
}

impl<T> Queues<T> {
    /// Creates `count` empty queues.
    pub(super) fn new(count: usize) -> Self {
        Queues { rooms: Vec::new(), behind: Vec::new(), free: NONE, ends: vec![[NONE; 2]; count] }
    }

    #[inline]
    pub(super) fn push(&mut self, queue: usize, element: T) {
        let room = self.free;
        let room = if room == NONE {
            self.rooms.push(Some(element));
            self.behind.push(NONE);
            self.rooms.len() as u32 - 1
        } else {
            self.free = core::mem::replace(&mut self.behind[room as usize], NONE);
            self.rooms[room as usize] = Some(element);
            room
        };
        let [first, last] = &mut self.ends[queue];
        if *first == NONE {
            *first = room;
        } else {
            self.behind[*last as usize] = room;
        }
        *last = room;
    }

    /// Removes the element at index `at` of a queue and returns it.
    #[inline]
    pub(super) fn take(&mut self, queue: usize, at: usize) -> Option<T> {
        let (mut before, mut room) = (NONE, self.ends[queue][0]);
        for _ in 0..at {
            before = room;
            room = *self.behind.get(room as usize)?;
        }
        let next = core::mem::replace(self.behind.get_mut(room as usize)?, self.free);
        self.free = room;
        let [first, last] = &mut self.ends[queue];
        if before == NONE {
            *first = next;
        } else {
            self.behind[before as usize] = next;
        }
        if next == NONE {
            *last = before;
        }
        self.rooms[room as usize].take()
    }

    pub(super) fn len(&self, queue: usize) -> usize {
        let behind = |room: &u32| self.behind.get(*room as usize).copied();
        core::iter::successors(Some(self.ends[queue][0]), behind).take_while(|&room| room != NONE).count()
    }

    pub(super) fn clear(&mut self) {
        self.rooms.clear();
        self.behind.clear();
        self.free = NONE;
        self.ends.fill([NONE; 2]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::draws::Draws;
    use std::collections::VecDeque;

    #[test]
    fn queues_behave_as_deques() {
        const COUNT: usize = 5;
        let mut queues = Queues::new(COUNT);
        let mut oracle = vec![VecDeque::new(); COUNT];
        let mut draws = Draws::new(1);
        for number in 0..20_000u32 {
            let queue = draws.below(COUNT);
            if draws.chance(120) {
                queues.push(queue, number);
                oracle[queue].push_back(number);
            } else {
                let at = draws.below(3);
                assert_eq!(queues.take(queue, at), oracle[queue].remove(at));
            }
            assert_eq!(queues.len(queue), oracle[queue].len());
            if number == 10_000 {
                queues.clear();
                oracle.iter_mut().for_each(VecDeque::clear);
            }
        }
        assert!(queues.rooms.len() < 2_000, "rooms are used again: {}", queues.rooms.len());
    }
}
