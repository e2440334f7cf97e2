//! The stand-in (generated replacement) for the graph `dictionary28`.
//!
//! Original: the 52,652 words with two to eight letters of Knuth's English dictionary, in
//! alphabetical order. Two words are joined if a change, an addition or a removal of one letter
//! turns one into the other: 89,038 edges. The largest component has 24,831 words, the second one
//! 1,125, all others at most 27 (Pajek). Of English words, 5,757 have five letters; 14,135 pairs of
//! these differ in one letter, and the pairs join them to 853 components (Stanford GraphBase).
//!
//! Generator (ours): it makes random words, and joins them by the same rule. About half of the words
//! are an earlier word with a suffix, such as `s` or `ed`. The others are syllables: consonants, a
//! vowel, and sometimes consonants. Some letters and groups of letters are more frequent than
//! others. The numbers of words with two to eight letters have the proportions of English word
//! lists. The number of edges grows with the square of the number of words, as in random subsets of
//! one dictionary. If it is behind, the next word is the one with the most neighbours of several
//! random words: of as many as edges are missing, and of at least six.
//!
//! A smaller dictionary has shorter words: one letter fewer for each factor of eight. So its words
//! have as many neighbours. Vertices are the words in alphabetical order.

use kernel::rng::Rng;
use rustc_hash::FxHashMap;

use super::super::Csr;
use super::Size;
use super::draw::unit;
use super::edges::Edges;

const LETTERS_MAX: u32 = 8;
/// The numbers of words with two letters, with three letters and so on, of a thousand words.
const WORDS_BY_LETTERS: [(u32, u32); 7] = [(2, 1), (3, 12), (4, 48), (5, 107), (6, 189), (7, 287), (8, 356)];
/// The number of words of the original dictionary.
const WORDS: f64 = 52_652.0;
/// The smallest number of random words of which one is taken if there are too few edges.
const CANDIDATES: u64 = 6;

/// Texts, each with its relative frequency.
type Texts = [(&'static str, u32)];

/// The consonants before a vowel.
#[rustfmt::skip]
const STARTS: &Texts = &[
    ("s", 16), ("c", 14), ("r", 12), ("l", 12), ("p", 12), ("b", 12), ("t", 10), ("d", 10), ("m", 10),
    ("n", 9), ("f", 9), ("h", 9), ("g", 7), ("w", 7), ("v", 4), ("k", 1), ("j", 1), ("st", 4), ("ch", 2),
    ("sh", 2), ("tr", 2), ("pr", 2), ("br", 2), ("cr", 2), ("gr", 2), ("fl", 2), ("cl", 2), ("pl", 2),
    ("bl", 2), ("sp", 2), ("th", 1), ("sl", 1), ("dr", 1),
];
#[rustfmt::skip]
const VOWELS: &Texts = &[
    ("a", 32), ("e", 32), ("i", 26), ("o", 24), ("u", 12), ("ea", 2), ("oo", 1), ("ou", 1), ("ee", 1),
];
/// The consonants that end a syllable.
#[rustfmt::skip]
const ENDS: &Texts = &[
    ("", 59), ("n", 12), ("r", 12), ("t", 10), ("l", 10), ("s", 5), ("d", 5), ("m", 4), ("p", 4),
    ("g", 2), ("ck", 2), ("nd", 2), ("nt", 2), ("st", 2), ("ll", 2), ("ss", 1), ("ng", 1), ("rt", 1),
];
const SUFFIXES: &Texts = &[("s", 10), ("ed", 5), ("er", 5), ("ing", 4), ("y", 3), ("es", 2), ("e", 2)];

/// A word with five bits for each letter. The first letter has the highest bits, so the numeric
/// order is the alphabetical order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Word(u64);

/// A word in a list of words that are alike.
struct Alike {
    word: u32,
    /// The place of the next word of the list.
    next: Option<u32>,
}

struct Dictionary {
    edges: Edges,
    words: Vec<Word>,
    known: FxHashMap<Word, u32>,
    /// The words with each number of letters.
    by_letters: [Vec<Word>; LETTERS_MAX as usize + 1],
    /// The place of the first word in the list of the words that are equal if one letter is masked,
    /// by the masked word, and in the list of the words that are equal without one letter, by the
    /// word without it.
    first_alike: FxHashMap<Word, u32>,
    alike: Vec<Alike>,
    /// The number of letters that words have fewer than in the original dictionary.
    letters_fewer: f64,
}

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    dictionary(size, seed).in_alphabetical_order(size.vertices)
}

/// A dictionary with as many words as the graph has vertices.
fn dictionary(size: Size, seed: u64) -> Dictionary {
    let mut rng = Rng::new(seed);
    let mut dictionary = Dictionary::new(size);
    while dictionary.words.len() < size.vertices as usize {
        let next = dictionary.words.len() as u128 + 1;
        let edges =
            size.edges as u128 * next * next / (u128::from(size.vertices) * u128::from(size.vertices));
        let candidates = match (edges as usize).saturating_sub(dictionary.edges.len()) {
            0 => 1,
            behind => CANDIDATES.max(behind as u64),
        };
        let letters = dictionary.letters(&mut rng);
        let words = (0..candidates).map(|_| dictionary.random_word(letters, &mut rng));
        let new: Vec<Word> = words.filter(|word| !dictionary.known.contains_key(word)).collect();
        if let Some(word) = new.into_iter().max_by_key(|word| dictionary.neighbours(*word)) {
            dictionary.add(word);
        }
    }
    dictionary
}

impl Word {
    /// A letter that no word has.
    const MASK: u64 = 31;

    fn new(text: &str) -> Word {
        Word::default().followed_by(text)
    }

    /// The number of letters.
    fn len(self) -> u32 {
        LETTERS_MAX - self.0.trailing_zeros().min(5 * LETTERS_MAX) / 5
    }

    /// The number of bits below a letter.
    fn bits_below(at: u32) -> u32 {
        5 * (LETTERS_MAX - 1 - at)
    }

    fn letter(self, at: u32) -> u64 {
        self.0 >> Word::bits_below(at) & 31
    }

    /// The word with another text after it.
    fn followed_by(self, text: &str) -> Word {
        let letters = text.bytes().map(|letter| u64::from(letter & 31));
        let packed = letters.zip(self.len()..).map(|(letter, at)| letter << Word::bits_below(at));
        Word(packed.fold(self.0, |word, letter| word | letter))
    }

    fn masked(self, at: u32) -> Word {
        Word(self.0 | Word::MASK << Word::bits_below(at))
    }

    /// The words that have one letter less than this word.
    fn shortened(self) -> impl Iterator<Item = Word> {
        // The removal of either of two equal letters in a row gives the same word.
        let first_of_equal =
            (0..self.len()).filter(move |&at| at == 0 || self.letter(at) != self.letter(at - 1));
        first_of_equal.map(move |at| {
            let below = (1 << Word::bits_below(at)) - 1;
            Word(self.0 & !(below << 5 | 31) | (self.0 & below) << 5)
        })
    }
}

impl Dictionary {
    fn new(size: Size) -> Self {
        let ratio = (WORDS / f64::from(size.vertices)).max(1.0);
        let whole = (ratio as u64).ilog2();
        let bits = f64::from(whole) + ratio / (1u64 << whole) as f64 - 1.0;
        Dictionary {
            edges: Edges::with_capacity(size.edges),
            words: Vec::new(),
            known: FxHashMap::default(),
            by_letters: Default::default(),
            first_alike: FxHashMap::default(),
            alike: Vec::new(),
            letters_fewer: bits / 3.0,
        }
    }

    /// A random number of letters.
    fn letters(&self, rng: &mut Rng) -> u32 {
        let letters = draw(&WORDS_BY_LETTERS, rng);
        letters.saturating_sub((self.letters_fewer + unit(rng)) as u32).max(2)
    }

    /// A random word with this number of letters.
    fn random_word(&self, letters: u32, rng: &mut Rng) -> Word {
        if rng.below(100) < 45 {
            let suffix = draw(SUFFIXES, rng);
            let stems = letters.checked_sub(suffix.len() as u32).map(|stem| &self.by_letters[stem as usize]);
            if let Some(stems) = stems.filter(|stems| !stems.is_empty()) {
                return stems[rng.below(stems.len() as u64) as usize].followed_by(suffix);
            }
        }
        loop {
            let mut text = String::new();
            if rng.below(8) > 0 {
                text += draw(STARTS, rng);
            }
            text += draw(VOWELS, rng);
            while text.len() < letters as usize {
                text += draw(ENDS, rng);
                if text.len() < letters as usize {
                    text += draw(STARTS, rng);
                    text += draw(VOWELS, rng);
                }
            }
            if text.len() == letters as usize {
                return Word::new(&text);
            }
        }
    }

    /// The number of words one letter apart from this word.
    fn neighbours(&self, word: Word) -> usize {
        self.each_neighbour(word).count()
    }

    fn each_neighbour(&self, word: Word) -> impl Iterator<Item = u32> {
        let changed = (0..word.len()).flat_map(move |at| self.alike(word.masked(at)));
        let shorter = word.shortened().filter_map(|word| self.known.get(&word).copied());
        changed.chain(shorter).chain(self.alike(word))
    }

    /// The words in the list of a masked word, or of a word without one letter.
    fn alike(&self, key: Word) -> impl Iterator<Item = u32> {
        let mut place = self.first_alike.get(&key).copied();
        core::iter::from_fn(move || {
            let alike = &self.alike[place? as usize];
            place = alike.next;
            Some(alike.word)
        })
    }

    /// Adds a new word and its edges.
    fn add(&mut self, word: Word) {
        let number = self.words.len() as u32;
        let neighbours: Vec<u32> = self.each_neighbour(word).collect();
        for other in neighbours {
            self.edges.add(other, number);
        }
        for key in (0..word.len()).map(|at| word.masked(at)).chain(word.shortened()) {
            let place = self.alike.len() as u32;
            let next = self.first_alike.insert(key, place);
            self.alike.push(Alike { word: number, next });
        }
        self.known.insert(word, number);
        self.words.push(word);
        self.by_letters[word.len() as usize].push(word);
    }

    fn in_alphabetical_order(self, vertices: u32) -> Csr {
        let mut order: Vec<(Word, u32)> = self.words.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut vertex = vec![0; order.len()];
        for (to, (_, from)) in (0..).zip(order) {
            vertex[from as usize] = to;
        }
        self.edges.renumbered(&vertex).into_graph(vertices, None)
    }
}

/// One of several values, each of which has a relative frequency.
fn draw<T: Copy>(values: &[(T, u32)], rng: &mut Rng) -> T {
    let all: u32 = values.iter().map(|(_, often)| often).sum();
    let mut left = rng.below(u64::from(all)) as u32;
    let mut place = 0;
    while left >= values[place].1 {
        left -= values[place].1;
        place += 1;
    }
    values[place].0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(word: Word) -> String {
        (0..word.len()).map(|at| char::from(word.letter(at) as u8 | 0x60)).collect()
    }

    /// Whether a change, an addition or a removal of one letter turns one word into the other.
    fn next_to(a: &[u8], b: &[u8]) -> bool {
        let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
        let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
        match long.len() - short.len() {
            0 => same < long.len() && short[same + 1..] == long[same + 1..],
            1 => short[same..] == long[same + 1..],
            _ => false,
        }
    }

    /// A dictionary with short random words.
    fn small() -> Dictionary {
        let mut dictionary = Dictionary::new(Size { vertices: 600, edges: 0 });
        let mut rng = Rng::new(9);
        for _ in 0..600 {
            let word = dictionary.random_word(2 + rng.below(4) as u32, &mut rng);
            if !dictionary.known.contains_key(&word) {
                dictionary.add(word);
            }
        }
        dictionary
    }

    #[test]
    fn edges_join_exactly_the_words_one_letter_apart() {
        let dictionary = small();
        let words: Vec<String> = dictionary.words.iter().map(|word| text(*word)).collect();
        let mut right = 0;
        for (index, word) in words.iter().enumerate() {
            right += words[..index].iter().filter(|other| next_to(word.as_bytes(), other.as_bytes())).count();
        }
        assert!(right > 500, "{right}");
        assert_eq!(dictionary.edges.len(), right);
    }

    #[test]
    fn the_number_of_neighbours_counts_each_once() {
        let dictionary = small();
        let degrees: usize = dictionary.words.iter().map(|word| dictionary.neighbours(*word)).sum();
        // A word is in its own lists, once for each of its letters.
        let own: u32 = dictionary.words.iter().map(|word| word.len()).sum();
        assert_eq!(degrees, 2 * dictionary.edges.len() + own as usize);
    }

    #[test]
    fn words_of_five_letters_are_as_many_and_as_near_as_in_english() {
        let dictionary = dictionary(Size { vertices: 52_652, edges: 89_038 }, 1);
        let five = &dictionary.by_letters[5];
        assert!((5_200..6_300).contains(&five.len()), "{} words, and English has 5,757", five.len());
        // A word is in each of its own five lists.
        let alike = |word: &Word| (0..5).flat_map(|at| dictionary.alike(word.masked(at))).count() - 5;
        let pairs = five.iter().map(alike).sum::<usize>() / 2;
        assert!((10_500..17_500).contains(&pairs), "{pairs} pairs, and English has 14,135");
    }

    #[test]
    fn words_are_numbers_in_alphabetical_order() {
        let words = ["a", "ab", "aba", "abz", "b", "zzzzzzzz"];
        assert!(words.iter().map(|word| Word::new(word)).is_sorted());
        assert!(words.iter().all(|word| text(Word::new(word)) == *word));
    }

    #[test]
    fn a_word_loses_each_of_its_letters() {
        let shortened: Vec<String> = Word::new("boots").shortened().map(text).collect();
        assert_eq!(shortened, ["oots", "bots", "boos", "boot"]);
        assert_eq!(Word::new("a").shortened().next(), Some(Word::default()));
        assert_eq!(Word::new("walk").followed_by("ed"), Word::new("walked"));
    }

    #[test]
    fn random_words_have_the_number_of_letters() {
        let dictionary = small();
        let mut rng = Rng::new(3);
        for letters in [2, 3, 4, 5, 6, 7, 8].repeat(50) {
            assert_eq!(dictionary.random_word(letters, &mut rng).len(), letters);
        }
    }
}
