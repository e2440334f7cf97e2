//! A queue that allocates memory only when it gets a second element. The inputs that wait at a
//! controller are kept in such queues, and most of these queues have one element.

use std::collections::VecDeque;

/// A FIFO queue that allocates no memory for its first element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Queue<T> {
    /// The first element. `None` only if the queue is empty.
    first: Option<T>,
    rest: VecDeque<T>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { first: None, rest: VecDeque::new() }
    }
}

impl<T> Queue<T> {
    /// A queue of one element.
    pub(crate) fn of(element: T) -> Self {
        Queue { first: Some(element), rest: VecDeque::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    #[inline]
    pub(crate) fn push_back(&mut self, element: T) {
        match self.first {
            None => self.first = Some(element),
            Some(_) => self.rest.push_back(element),
        }
    }

    #[inline]
    pub(crate) fn push_front(&mut self, element: T) {
        if let Some(second) = self.first.replace(element) {
            self.rest.push_front(second);
        }
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let first = self.first.take()?;
        self.first = self.rest.pop_front();
        Some(first)
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        self.first.as_ref()
    }

    /// Drops the elements for which `keep` returns false.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.rest.retain(&mut keep);
        if self.first.as_ref().is_some_and(|first| !keep(first)) {
            self.first = self.rest.pop_front();
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(&mut self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_behaves_as_a_deque() {
        let (mut queue, mut oracle) = (Queue::default(), VecDeque::new());
        for i in 0..4000u32 {
            match (i.wrapping_mul(0x9e37_79b9) >> 24) % 5 {
                0 | 1 => {
                    queue.push_back(i);
                    oracle.push_back(i);
                }
                2 => {
                    queue.push_front(i);
                    oracle.push_front(i);
                }
                3 => assert_eq!(queue.front(), oracle.front()),
                _ => assert_eq!(queue.pop_front(), oracle.pop_front()),
            }
            assert!(queue.iter().eq(&oracle));
            assert_eq!((queue.len(), queue.is_empty()), (oracle.len(), oracle.is_empty()));
        }
    }
}
