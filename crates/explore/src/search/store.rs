//! The states of a search, each with its parent.
//!
//! The hash of a state selects one of a fixed number of shards (parts of the store). Several
//! workers can insert states at once, and a state's number does not depend on the number of
//! workers.

/// The number of shards of the store. Each shard has its own hash table.
pub(crate) const SHARDS: usize = 32;
const SHARD_BITS: u32 = SHARDS.trailing_zeros();
/// The maximum number of states in a shard (part of the store of states).
const SHARD_STATES_MAX: usize = u32::MAX as usize >> SHARD_BITS;

/// The number of a state: a combination of its shard (part of the store) and its place in that
/// shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StateId(pub(crate) u32);

impl StateId {
    /// The number that stands for the parent of the first state, which has no parent.
    pub(crate) const NONE: StateId = StateId(u32::MAX);

    pub(crate) const fn new(shard: usize, place: usize) -> StateId {
        StateId((place as u32) << SHARD_BITS | shard as u32)
    }

    pub(crate) const fn shard(self) -> usize {
        self.0 as usize % SHARDS
    }

    pub(crate) const fn place(self) -> usize {
        (self.0 >> SHARD_BITS) as usize
    }
}

/// The hash of a state.
#[inline]
pub(crate) fn hash(state: &[u32]) -> u64 {
    let mut hash = 0u64;
    for pair in state.chunks(2) {
        let word = u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
        let product = u128::from(hash ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f;
        hash = (product as u64) ^ ((product >> 64) as u64).rotate_left(23);
    }
    hash
}

/// The shard (part of the store) for states with this hash. The choice depends on bits that the
/// tables in the shards do not use.
#[inline]
pub(crate) const fn shard_of(hash: u64) -> usize {
    (hash >> 59) as usize % SHARDS
}

/// The value of a free slot in the hash table of a shard (part of the store).
const EMPTY: u32 = u32::MAX;
/// The minimum number of slots in the hash table of a shard (part of the store).
const SLOTS_MIN: usize = 64;

/// A shard (part of the store): its states, and a hash table of them.
///
/// The low bits of a slot of the table hold the place of a state in the shard. The other bits hold
/// bits of the state's hash. Therefore a lookup rejects most other states and does not read their
/// words.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    /// The words of all states, each state followed by its parent.
    words: Vec<u32>,
    slots: Vec<u32>,
    len: usize,
}

/// The hash bits that a slot holds. The low `place_bits` bits of the slot are left free for the
/// place of a state.
#[inline]
const fn tag(hash: u64, place_bits: u32) -> u32 {
    ((hash >> 27) as u32) << place_bits
}

impl Shard {
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Reads the word that a lookup of this hash reads first. If consecutive calls read different
    /// words, their misses in the host's caches overlap.
    #[inline]
    pub(crate) fn touch_slot(&self, hash: u64) -> u32 {
        self.slots.get(hash as usize & (self.slots.len().wrapping_sub(1))).copied().unwrap_or(0)
    }

    /// Reads the first word of the stored state that a lookup of this hash compares. If consecutive
    /// calls read different words, their misses in the host's caches overlap.
    #[inline]
    pub(crate) fn touch_state(&self, stride: usize, hash: u64) -> u32 {
        if self.slots.is_empty() {
            return 0;
        }
        let mask = self.slots.len() - 1;
        let place_mask = mask as u32;
        let tag = tag(hash, self.slots.len().trailing_zeros());
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return 0;
            }
            if slot & !place_mask == tag {
                return self.words[(slot & place_mask) as usize * stride];
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the place of the state if the state is known. Otherwise returns the free slot for
    /// the state as an error.
    #[inline]
    fn probe(&self, stride: usize, hash: u64, state: &[u32]) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let place_mask = mask as u32;
        let tag = tag(hash, self.slots.len().trailing_zeros());
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return Err(at);
            }
            if slot & !place_mask == tag {
                let place = (slot & place_mask) as usize;
                let words = &self.words[place * stride..(place + 1) * stride - 1];
                if words.iter().zip(state).all(|(a, b)| a == b) {
                    return Ok(place);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Inserts a record: a state followed by its parent. Returns the place of the state if it was
    /// known already.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, record: &[u32]) -> Option<usize> {
        let stride = record.len();
        // The load factor is at most four fifths. At a higher load factor, the longer probes would
        // cost more time than the smaller table saves.
        if self.len * 5 >= self.slots.len() * 4 {
            self.grow(stride);
        }
        let at = match self.probe(stride, hash, &record[..stride - 1]) {
            Ok(place) => return Some(place),
            Err(at) => at,
        };
        self.slots[at] = self.len as u32 | tag(hash, self.slots.len().trailing_zeros());
        self.len += 1;
        if self.words.len() + stride > self.words.capacity() {
            // The capacity grows by a quarter, because doubling it would leave much of the memory
            // empty.
            self.words.reserve_exact((self.words.capacity() / 4).max(64 * stride));
        }
        self.words.extend_from_slice(record);
        None
    }

    #[cold]
    fn grow(&mut self, stride: usize) {
        let count = (2 * self.slots.len()).max(SLOTS_MIN);
        self.slots = Vec::new();
        self.slots.resize(count, EMPTY);
        for (place, record) in self.words.chunks_exact(stride).enumerate() {
            let hash = hash(&record[..stride - 1]);
            let mut at = hash as usize & (count - 1);
            while self.slots[at] != EMPTY {
                at = (at + 1) & (count - 1);
            }
            self.slots[at] = place as u32 | tag(hash, count.trailing_zeros());
        }
    }

    fn find(&self, stride: usize, hash: u64, state: &[u32]) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        self.probe(stride, hash, state).ok()
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.len >= SHARD_STATES_MAX
    }

    const fn bytes(&self) -> usize {
        (self.words.capacity() + self.slots.capacity()) * size_of::<u32>()
    }
}

/// All states of a search. The hash of a state selects the shard (part of the store) that holds the
/// state.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) width: usize,
    pub(crate) shards: Vec<Shard>,
}

impl Store {
    /// An empty store for states with this number of words.
    pub(crate) fn new(width: usize) -> Store {
        Store { width, shards: (0..SHARDS).map(|_| Shard::default()).collect() }
    }

    /// The length of a record: the number of words of a state, plus one for its parent.
    pub(crate) const fn stride(&self) -> usize {
        self.width + 1
    }

    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(Shard::len).sum()
    }

    /// The size of the store in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.shards.iter().map(Shard::bytes).sum()
    }

    #[inline]
    pub(crate) fn state(&self, id: StateId) -> &[u32] {
        let at = id.place() * self.stride();
        &self.shards[id.shard()].words[at..at + self.width]
    }

    /// The states of each shard (part of the store), in the order in which they were inserted. A
    /// search inserts states in the order of their distances from the first state.
    pub(crate) fn states_by_shard(&self) -> impl Iterator<Item = impl Iterator<Item = StateId>> {
        let shards = self.shards.iter().enumerate();
        shards.map(|(at, shard)| (0..shard.len()).map(move |place| StateId::new(at, place)))
    }

    pub(crate) fn parent(&self, id: StateId) -> StateId {
        StateId(self.shards[id.shard()].words[id.place() * self.stride() + self.width])
    }

    pub(crate) fn find(&self, state: &[u32]) -> Option<StateId> {
        let hash = hash(state);
        let shard = shard_of(hash);
        self.shards[shard].find(self.stride(), hash, state).map(|place| StateId::new(shard, place))
    }

    /// The path of states from the first state to the state `id`.
    pub(crate) fn path(&self, id: StateId) -> Vec<StateId> {
        let mut path = vec![id];
        let mut at = id;
        while self.parent(at) != StateId::NONE {
            at = self.parent(at);
            path.push(at);
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_kept_once_with_its_first_parent() {
        let mut store = Store::new(3);
        for round in 0..2 {
            for i in 0..5000u32 {
                let record = [i, i / 7, 3, i + round];
                let hash = hash(&record[..3]);
                let shard = shard_of(hash);
                let found = store.shards[shard].insert(hash, &record);
                assert_eq!(found.is_some(), round == 1, "{i}");
            }
        }
        assert_eq!(store.len(), 5000);
        for i in 0..5000u32 {
            let id = store.find(&[i, i / 7, 3]).expect("it was inserted");
            assert_eq!(store.state(id), [i, i / 7, 3]);
            assert_eq!(store.parent(id), StateId(i));
        }
        assert_eq!(store.find(&[1, 1, 1]), None);
        assert!(store.shards.iter().all(|shard| shard.len() > 100), "the shards are filled evenly");
    }
}
