//! Storage for the messages in transit on a machine that identifies each message by a number.

/// Stores messages and gives each a small number. A message is large, so it is written once into a
/// heap allocation (box) and read there. A box is reused after its message has arrived.
#[derive(Debug)]
pub struct Messages<M> {
    boxes: Vec<Option<Box<M>>>,
    free: Vec<u32>,
    /// The boxes of messages that have arrived, kept for reuse.
    spare: Vec<Box<M>>,
}

impl<M> Default for Messages<M> {
    fn default() -> Self {
        Messages { boxes: Vec::new(), free: Vec::new(), spare: Vec::new() }
    }
}

impl<M> Messages<M> {
    /// An upper bound of the message numbers: the number of every stored message is smaller.
    #[inline]
    #[must_use]
    pub fn bound(&self) -> u32 {
        self.boxes.len() as u32
    }

    /// Stores a message until it is taken, and returns its number.
    #[inline]
    pub fn insert(&mut self, msg: M) -> u32 {
        let boxed = match self.spare.pop() {
            Some(mut boxed) => {
                *boxed = msg;
                boxed
            }
            None => Box::new(msg),
        };
        if let Some(number) = self.free.pop() {
            self.boxes[number as usize] = Some(boxed);
            return number;
        }
        self.boxes.push(Some(boxed));
        self.boxes.len() as u32 - 1
    }

    /// A message in transit, mutably. `None` if no message has this number.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> Option<&mut M> {
        self.boxes.get_mut(number as usize)?.as_deref_mut()
    }

    /// Removes a message and returns it in its box. The caller should [give the box
    /// back](Messages::give_back), so that it can be reused.
    #[inline]
    pub fn take(&mut self, number: u32) -> Option<Box<M>> {
        let taken = self.boxes.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(taken)
    }

    /// Takes back the box of an arrived message, so that a later message can reuse it.
    #[inline]
    pub fn give_back(&mut self, boxed: Box<M>) {
        self.spare.push(boxed);
    }

    /// Removes all messages.
    pub fn clear(&mut self) {
        self.spare.extend(self.boxes.drain(..).flatten());
        self.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Messages;

    #[test]
    fn a_message_keeps_its_number_until_it_is_taken() {
        let mut messages = Messages::default();
        let (a, b) = (messages.insert('a'), messages.insert('b'));
        assert_ne!(a, b);
        *messages.get_mut(b).unwrap() = 'c';
        let taken = messages.take(a).unwrap();
        assert_eq!((*taken, messages.take(a), messages.get_mut(a)), ('a', None, None));
        messages.give_back(taken);
        assert_eq!(messages.insert('d'), a);
        assert_eq!(
            (messages.bound(), messages.take(b).as_deref(), messages.take(a).as_deref()),
            (2, Some(&'c'), Some(&'d'))
        );
        messages.insert('e');
        messages.clear();
        assert_eq!((messages.bound(), messages.take(0), messages.insert('f')), (0, None, 0));
    }
}
