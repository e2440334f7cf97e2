//! The words of an episode (a random program): their kinds, their widths, and their places in
//! memory.

use super::draws::Draws;
use proto::Width;

/// The number of wavefronts of an episode (a random program). The last of them is the thread of the
/// host.
pub(super) const WAVES: usize = 16;
pub(super) const HOST: usize = WAVES - 1;
/// The maximum number of work-groups of an episode (a random program).
pub(super) const GROUPS_MAX: usize = 12;
/// The number of data words. The sections of an episode (lists of accesses of one wavefront) load,
/// store and update these words.
pub(super) const DATA: usize = 30;
/// The number of the first data word that is an atomic. The data words with this number or a larger
/// one are accessed atomically, at varying scopes.
pub(super) const FIRST_ATOM: usize = 20;
/// The maximum number of words that one request accesses.
pub(super) const LANES_MAX: usize = 16;
/// The number of flags of each wavefront: for its work-group, for the device, for the system, and
/// for remote releases.
pub(super) const FLAGS: usize = 4;
pub(super) const REMOTE_RELEASES: usize = 3;
pub(super) const FLAG_WORDS: usize = WAVES * FLAGS;
/// The number of the first counter word. There is one counter for the device and one for each
/// work-group.
pub(super) const FIRST_COUNTER: usize = DATA + FLAG_WORDS;
pub(super) const COUNTERS: usize = 1 + GROUPS_MAX;
/// The number of all words: data, flags and counters.
pub(super) const WORDS: usize = FIRST_COUNTER + COUNTERS;
/// The maximum number of bytes that all words take: no word is wider than eight bytes.
pub(super) const BYTES_MAX: usize = 8 * WORDS;
/// The number of different layouts (widths and places of all words).
pub(super) const LAYOUTS: usize = 64;
/// The number of the layout whose words follow one another in numerical order, with four bytes
/// each.
pub(super) const IN_ORDER: u8 = 0;
/// The value of bytes that belong to no word. It must not change.
const GAP: u8 = 0x5a;
/// The value of each byte of data word 0 at the start. Each byte of data word `n` starts with this
/// value plus `n`. No store writes such a value.
const FIRST_INITIAL: u8 = 0x80;

/// The value of each byte of a data word at the start.
pub(super) const fn initial(word: usize) -> u8 {
    FIRST_INITIAL + word as u8
}

/// The number with this width whose bytes all have the value `byte`.
#[inline]
pub(super) fn repeated(byte: u8, width: Width) -> u64 {
    u64::from(byte) * (0x0101_0101_0101_0101 >> (64 - 8 * width.bytes()))
}

/// The widths of words, and their places in memory.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The address of the first byte of each word. It is a multiple of the word's width.
    pub(super) places: [u16; WORDS],
    pub(super) widths: [Width; WORDS],
    /// The bytes of memory at the start.
    pub(super) initial: Vec<u8>,
}

/// The rule that gives words their widths.
#[derive(Clone, Copy)]
enum Widths {
    All(Width),
    Mixed,
}

impl Layout {
    /// All layouts (widths and places of all words). The layout [`IN_ORDER`] is the simplest one.
    pub(super) fn all() -> Vec<Layout> {
        (0..LAYOUTS).map(Layout::new).collect()
    }

    fn new(number: usize) -> Layout {
        let mut draws = Draws::new(number as u64);
        let mut order: [u8; WORDS] = core::array::from_fn(|word| word as u8);
        // Some words change places with words of the same or another kind.
        for _ in 0..[0, 6, 24, 0][number % 4] {
            order.swap(draws.below(WORDS), draws.below(WORDS));
        }
        let rule = match number / 4 % 8 {
            0..3 => Widths::All(Width::W4),
            3 => Widths::All(Width::W1),
            4 => Widths::All(Width::W8),
            _ => Widths::Mixed,
        };
        let mut widths = [Width::W4; WORDS];
        let mut width = Width::W4;
        for (word, of_word) in widths.iter_mut().enumerate() {
            *of_word = match rule {
                Widths::All(width) => width,
                Widths::Mixed => {
                    // Neighbours often have one width, so that one request can update both.
                    if word != FIRST_ATOM + 1 && draws.chance(96) {
                        width = Width::ALL[draws.below(Width::ALL.len())];
                    }
                    width
                }
            };
        }
        Layout::placed(&order, widths)
    }

    /// The layout of words of these widths that follow one another in this order.
    fn placed(order: &[u8; WORDS], widths: [Width; WORDS]) -> Layout {
        let mut places = [0; WORDS];
        let mut end = 0usize;
        for &word in order {
            let bytes = widths[usize::from(word)].bytes();
            end = end.next_multiple_of(bytes);
            places[usize::from(word)] = end as u16;
            end += bytes;
        }
        let mut layout = Layout { places, widths, initial: vec![GAP; end] };
        for word in 0..WORDS {
            let value = if word < DATA { initial(word) } else { 0 };
            layout.initial[usize::from(places[word])..][..widths[word].bytes()].fill(value);
        }
        layout
    }

    /// The line of a word, on a machine whose lines have `1 << line_shift` bytes.
    #[inline]
    pub(super) fn line(&self, word: usize, line_shift: u32) -> u16 {
        self.places[word] >> line_shift
    }

    /// The data words that one request can access together with the word `first`, among the words
    /// with the next numbers. Bit `i` of `wanted` asks for the word `first + 1 + i`. The words of a
    /// read-modify-write have one width.
    pub(super) fn beside(&self, first: usize, wanted: usize, is_rmw: bool, line_shift: u32) -> u32 {
        let next = (wanted as u64 % (1 << (LANES_MAX - 1))) << (first + 1);
        let is_beside = |&word: &usize| {
            (word < FIRST_ATOM) == (first < FIRST_ATOM)
                && (!is_rmw || self.widths[word] == self.widths[first])
                && self.line(word, line_shift) == self.line(first, line_shift)
        };
        bits((next % (1 << DATA)) as u32).filter(is_beside).fold(0, |words, word| words | 1 << word)
    }

    /// The description of a word's width and place in a report.
    pub(super) fn text(&self, word: usize) -> String {
        let (place, bytes) = (self.places[word], self.widths[word].bytes());
        format!("{} has {bytes} {} at {place}", name(word), if bytes == 1 { "byte" } else { "bytes" })
    }
}

/// The numbers of the bits that are set.
#[inline]
pub(super) fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        (set != 0).then(|| {
            let bit = set.trailing_zeros() as usize;
            set &= set - 1;
            bit
        })
    })
}

/// The name of a word in a report.
pub(super) fn name(word: usize) -> String {
    match word {
        word if word < FIRST_ATOM => format!("d{word}"),
        word if word < DATA => format!("a{word}"),
        word if word < FIRST_COUNTER => {
            let flag = word - DATA;
            let of = ["wg", "dev", "sys", "rem"][flag % FLAGS];
            format!("f{}.{of}", flag / FLAGS)
        }
        FIRST_COUNTER => String::from("count.dev"),
        word => format!("count.wg{}", word - FIRST_COUNTER - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Words beside the first one, in the form of an argument of [`Layout::beside`].
    const WANTED: [usize; 5] = [0, 1, 6, 0x5a5a, usize::MAX];

    #[test]
    fn words_are_aligned_and_disjoint() {
        for layout in Layout::all() {
            let mut taken = BTreeSet::new();
            for word in 0..WORDS {
                let (first, bytes) = (usize::from(layout.places[word]), layout.widths[word].bytes());
                assert!(first.is_multiple_of(bytes) && first + bytes <= layout.initial.len());
                assert!((first..first + bytes).all(|byte| taken.insert(byte)), "{}", name(word));
            }
            assert!(layout.initial.len() <= BYTES_MAX);
        }
    }

    #[test]
    fn layouts_have_all_widths_and_different_neighbours() {
        let all = Layout::all();
        let widths: BTreeSet<_> = all.iter().flat_map(|layout| &layout.widths[..DATA]).copied().collect();
        assert_eq!(widths.len(), Width::ALL.len());
        let neighbours = |at: usize| {
            let pairs = all.iter().map(move |layout| (layout.widths[at], layout.widths[at + 1]));
            pairs.collect::<BTreeSet<_>>().len()
        };
        // Two atomics always have one width, so that one request can update both.
        assert!((0..DATA - 1).all(|at| at == FIRST_ATOM || neighbours(at) > 4));
        assert_eq!(neighbours(FIRST_ATOM), Width::ALL.len());
        let in_order = &all[usize::from(IN_ORDER)];
        assert!((0..WORDS).all(|word| usize::from(in_order.places[word]) == 4 * word));
    }

    #[test]
    fn words_of_one_request_share_a_line() {
        for layout in Layout::all() {
            for (first, wanted) in (0..DATA).flat_map(|first| WANTED.map(move |wanted| (first, wanted))) {
                let beside = layout.beside(first, wanted, true, 4);
                for word in (0..DATA).filter(|word| beside >> word & 1 == 1) {
                    assert_eq!(layout.places[word] / 16, layout.places[first] / 16);
                    assert_eq!(layout.widths[word], layout.widths[first]);
                    assert!(word > first && (word < FIRST_ATOM) == (first < FIRST_ATOM));
                }
            }
        }
    }
}
