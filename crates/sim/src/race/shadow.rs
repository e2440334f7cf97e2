//! The shadow of memory: for each word of memory, the recorded accesses with which a later access
//! may race.
//!
//! A word has room for two records. If more accesses must be kept, such as those of many readers,
//! the records move to a list.

use rustc_hash::FxHashMap;

use super::clock::ThreadId;
use super::code::CodeId;
use super::scope::Instance;

const THREAD_BITS: u32 = 21;
const EPOCH_BITS: u32 = 19;
const LANE_BITS: u32 = 6;
const MASK_BITS: u32 = 4;

/// The largest thread number that a record can hold. The constant `EPOCHS_MOST` is the largest
/// number of an epoch (the time between two releases or barriers of a thread).
pub(super) const THREADS_MOST: u32 = (1 << THREAD_BITS) - 1;
pub(super) const EPOCHS_MOST: u32 = (1 << EPOCH_BITS) - 1;

/// The record of one access to a word: thread, epoch (time between two releases or barriers of the
/// thread), code site (place in the source), lane, and accessed bytes, packed in 64 bits. In sorted
/// order, the records of a thread are adjacent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record(u64);

const RECORD: u64 = 1;
const LIST: u64 = 2;
const TAG: u64 = 3;

impl Record {
    #[inline]
    pub(super) fn new(thread: ThreadId, epoch: u32, code: CodeId, lane: u32, mask: u8) -> Record {
        let mut bits = u64::from(thread.0);
        bits = bits << EPOCH_BITS | u64::from(epoch);
        bits = bits << CodeId::BITS | u64::from(code.0);
        bits = bits << LANE_BITS | u64::from(lane);
        bits = bits << MASK_BITS | u64::from(mask);
        // The tag takes the two lowest bits. The sizes of all fields add up to 64 bits: 21 + 19 +
        // 12 + 6 + 4 + 2.
        Record(bits << 2 | RECORD)
    }

    #[inline]
    pub(super) fn thread(self) -> ThreadId {
        ThreadId((self.0 >> (64 - THREAD_BITS)) as u32)
    }

    #[inline]
    pub(super) fn epoch(self) -> u32 {
        (self.0 >> (64 - THREAD_BITS - EPOCH_BITS)) as u32 & EPOCHS_MOST
    }

    #[inline]
    pub(super) fn code(self) -> CodeId {
        CodeId((self.0 >> (2 + MASK_BITS + LANE_BITS)) as u16 & ((1 << CodeId::BITS) - 1))
    }

    #[inline]
    pub(super) fn lane(self) -> u32 {
        (self.0 >> (2 + MASK_BITS)) as u32 & ((1 << LANE_BITS) - 1)
    }

    #[inline]
    pub(super) fn mask(self) -> u8 {
        (self.0 >> 2) as u8 & ((1 << MASK_BITS) - 1)
    }

    /// Whether `other` adds nothing to this record: both have the same thread, epoch (time between
    /// two releases or barriers of the thread) and code site (place in the source), and `other` has
    /// no further bytes. `other` need not be stored then.
    #[inline]
    pub(super) fn is_repeated_by(self, other: Record) -> bool {
        (self.0 ^ other.0) >> (2 + MASK_BITS + LANE_BITS) == 0 && other.mask() & !self.mask() == 0
    }
}

/// The recorded accesses to one word: up to two records, or the number of a list of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Word([u64; 2]);

const _: () = assert!(size_of::<Word>() == 16);

/// The list of records of a word that has more than two records. The other fields summarize the
/// records, so that most accesses need not be compared with each record.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    /// The records in sorted order, and therefore grouped by thread.
    pub(super) records: Vec<Record>,
    /// Whether any record of the list is a write.
    pub(super) writes: bool,
    /// Whether any record of the list is an ordinary (not atomic) access.
    pub(super) plain: bool,
    /// The scope instance of all atomic accesses in the list. `None` if their scope instances
    /// differ, if one of them is remote or in local memory, or if the list has no atomic access.
    pub(super) scope: Option<Instance>,
    /// Whether no record of the list is an atomic access.
    pub(super) is_fresh: bool,
}

impl List {
    /// The index range of the records of `thread` in the list.
    pub(super) fn of(&self, thread: ThreadId) -> core::ops::Range<usize> {
        let first = self.records.partition_point(|record| record.thread() < thread);
        let more = self.records[first..].iter().take_while(|record| record.thread() == thread).count();
        first..first + more
    }
}

/// The recorded accesses to a word: up to two records in the word itself, or a list.
pub(super) enum WordRecords<'a> {
    Inline([Option<Record>; 2]),
    List(&'a mut List),
}

/// The number of words in a page of the shadow. A page covers four kilobytes of memory.
const PAGE_WORDS: usize = 1024;

#[derive(Debug)]
struct Page {
    generation: u32,
    words: Box<[Word]>,
}

/// The address of a word: in global memory, or in the local memory of a work-group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum WordAt {
    Global(u64),
    Local { group: u64, word: u32 },
}

/// The amount of memory that the shadow uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShadowUse {
    /// The number of allocated pages of the shadow.
    pub(super) pages: u64,
    /// The number of times that the records of a word had to move into a list, because there were
    /// more than two.
    pub(super) spilled: u64,
    /// The length of the longest list of records of one word.
    pub(super) longest: u64,
}

/// The shadow of global and local memory: the records of all words.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    generation: u32,
    global: Vec<Option<Page>>,
    local: FxHashMap<(u64, u32), Page>,
    lists: Vec<List>,
    free: Vec<u32>,
    pub(super) usage: ShadowUse,
}

impl Shadow {
    /// Removes all records, because later accesses are ordered after all earlier ones.
    pub(super) fn forget(&mut self) {
        self.generation += 1;
        self.local.clear();
        self.lists.clear();
        self.free.clear();
    }

    #[inline]
    fn page(&mut self, at: WordAt) -> (&mut Page, usize) {
        let generation = self.generation;
        let usage = &mut self.usage;
        let fresh = || {
            usage.pages += 1;
            Page { generation, words: vec![Word::default(); PAGE_WORDS].into_boxed_slice() }
        };
        let (page, word) = match at {
            WordAt::Global(word) => {
                let number = (word / PAGE_WORDS as u64) as usize;
                if number >= self.global.len() {
                    self.global.resize_with(number + 1, || None);
                }
                (self.global[number].get_or_insert_with(fresh), word % PAGE_WORDS as u64)
            }
            WordAt::Local { group, word } => {
                let page = self.local.entry((group, word / PAGE_WORDS as u32)).or_insert_with(fresh);
                (page, u64::from(word) % PAGE_WORDS as u64)
            }
        };
        if page.generation != generation {
            page.generation = generation;
            page.words.fill(Word::default());
        }
        (page, word as usize)
    }

    #[inline]
    pub(super) fn get(&mut self, at: WordAt) -> Word {
        let (page, word) = self.page(at);
        page.words[word]
    }

    #[inline]
    pub(super) fn set(&mut self, at: WordAt, to: Word) {
        let (page, word) = self.page(at);
        page.words[word] = to;
    }

    pub(super) fn records_of(&mut self, word: Word) -> WordRecords<'_> {
        match word.list() {
            Some(number) => WordRecords::List(&mut self.lists[number as usize]),
            None => WordRecords::Inline(word.records()),
        }
    }

    /// Stores a list of records for a word that has more than two. Returns the new value of the
    /// word, which refers to the list.
    pub(super) fn spill(&mut self, list: List) -> Word {
        self.usage.spilled += 1;
        let number = match self.free.pop() {
            Some(number) => {
                self.lists[number as usize] = list;
                number
            }
            None => {
                self.lists.push(list);
                (self.lists.len() - 1) as u32
            }
        };
        Word([u64::from(number) << 2 | LIST, 0])
    }

    /// Moves the records of a list back into the word if the list has at most two. Returns the new
    /// value of the word.
    pub(super) fn shrink(&mut self, word: Word) -> Word {
        let Some(number) = word.list() else { return word };
        let list = &mut self.lists[number as usize];
        self.usage.longest = self.usage.longest.max(list.records.len() as u64);
        if list.records.len() > 2 {
            return word;
        }
        let mut records = core::mem::take(&mut list.records).into_iter();
        self.free.push(number);
        Word::of([records.next(), records.next()])
    }
}

impl Word {
    #[inline]
    pub(super) fn of(records: [Option<Record>; 2]) -> Word {
        Word(records.map(|record| record.map_or(0, |record| record.0)))
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == [0, 0]
    }

    #[inline]
    fn list(self) -> Option<u32> {
        (self.0[0] & TAG == LIST).then_some((self.0[0] >> 2) as u32)
    }

    #[inline]
    pub(super) fn records(self) -> [Option<Record>; 2] {
        self.0.map(|bits| (bits & TAG == RECORD).then_some(Record(bits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_its_fields() {
        let record = Record::new(ThreadId(THREADS_MOST), EPOCHS_MOST, CodeId(4094), 63, 15);
        let found = (record.thread(), record.epoch(), record.code(), record.lane(), record.mask());
        assert_eq!(found, (ThreadId(THREADS_MOST), EPOCHS_MOST, CodeId(4094), 63, 15));
        let record = Record::new(ThreadId(5), 7, CodeId(9), 11, 3);
        let found = (record.thread(), record.epoch(), record.code(), record.lane(), record.mask());
        assert_eq!(found, (ThreadId(5), 7, CodeId(9), 11, 3));
    }

    #[test]
    fn words_are_kept_until_the_shadow_is_cleared() {
        let mut shadow = Shadow::default();
        let record = Record::new(ThreadId(1), 1, CodeId(0), 0, 15);
        for at in [WordAt::Global(5000), WordAt::Local { group: 3, word: 4 }] {
            shadow.set(at, Word::of([Some(record), None]));
            assert_eq!(shadow.get(at).records(), [Some(record), None]);
        }
        shadow.forget();
        assert!(shadow.get(WordAt::Global(5000)).is_empty());
        assert!(shadow.get(WordAt::Local { group: 3, word: 4 }).is_empty());
    }

    #[test]
    fn a_short_list_moves_back_into_its_word() {
        let mut shadow = Shadow::default();
        let record = |thread| Record::new(ThreadId(thread), 1, CodeId(0), 0, 15);
        let records = vec![record(1), record(2), record(3)];
        let word = shadow.spill(List { records, ..List::default() });
        let WordRecords::List(list) = shadow.records_of(word) else { panic!("three records do not fit") };
        assert_eq!(list.of(ThreadId(2)), 1..2);
        list.records.truncate(2);
        let word = shadow.shrink(word);
        assert_eq!(word.records(), [Some(record(1)), Some(record(2))]);
        assert_eq!(shadow.free, [0]);
    }
}
