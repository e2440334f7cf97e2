//! The stand-in (generated replacement) for the graph `dictionary28`.
//!
//! Original: the 52,652 words with two to eight letters of Knuth's English
//! dictionary, in alphabetical order. Two words are joined if a change, an
//! addition or a removal of one letter turns one into the other: 89,038 edges.
//! The largest component has 24,831 words, the second one 1,125, all others at
//! most 27 (Pajek).
//!
//! Generator: it makes random words, and joins them by the same rule. Words alternate consonants
//! and vowels. Some letters are more frequent than others, so that short words have many
//! neighbours, and long words few or none. The generator adds short words as long as there are too
//! few edges, and long words otherwise. Vertices are the words in alphabetical order.

use kernel::rng::Rng;
use rustc_hash::FxHashMap;

use super::super::Csr;
use super::Size;
use super::edges::Edges;

const LETTERS_MAX: usize = 8;
const CONSONANTS: &[u8] = b"ssstttrrrnnnlllddmmppccbbggkkffhhwvyjz";
const VOWELS: &[u8] = b"aaaeeeeeiioouu";

/// A word with five bits for each letter. The first letter has the highest bits, so the numeric
/// order is the alphabetical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Word(u64);

struct Dictionary {
    edges: Edges,
    words: Vec<Word>,
    known: FxHashMap<Word, u32>,
    /// The words that are equal if one letter is masked. The key is the masked word, and the
    /// position of the masked letter.
    masked: FxHashMap<(Word, usize), Vec<u32>>,
    shortened: FxHashMap<Word, Vec<u32>>,
    /// The words with at most `short_letters` letters.
    short: Vec<u32>,
    short_letters: usize,
}

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let mut dictionary = Dictionary::new(size);
    while (dictionary.words.len() as u64) < u64::from(size.vertices) {
        let few = dictionary.edges.len() as u64 * u64::from(size.vertices)
            < size.edges as u64 * dictionary.words.len() as u64;
        let letters = dictionary.next_word(few, &mut rng);
        dictionary.add(&letters);
    }
    dictionary.in_alphabetical_order(size.vertices)
}

impl Word {
    fn new(letters: &[u8]) -> Word {
        let packed = letters.iter().fold(0, |packed, &letter| packed << 5 | u64::from(letter & 31));
        Word(packed << (5 * (LETTERS_MAX - letters.len())))
    }

    fn letters(self) -> Vec<u8> {
        let letter = |index: usize| (self.0 >> (5 * (LETTERS_MAX - 1 - index)) & 31) as u8;
        (0..LETTERS_MAX).map(letter).take_while(|&letter| letter > 0).map(|letter| letter | 0x60).collect()
    }
}

impl Dictionary {
    fn new(size: Size) -> Self {
        // The short words of a smaller dictionary must have as many neighbours. A short word has up
        // to six letters in a dictionary of 52,652 words, and one letter fewer for each factor of
        // 16.
        let short_letters = 2 + (size.vertices.max(16).ilog2() as usize + 1) / 4;
        Dictionary {
            edges: Edges::with_capacity(size.edges),
            words: Vec::new(),
            known: FxHashMap::default(),
            masked: FxHashMap::default(),
            shortened: FxHashMap::default(),
            short: Vec::new(),
            short_letters,
        }
    }

    /// A random word. If `few` is true (there are too few edges), it is likely to have neighbours,
    /// otherwise unlikely.
    fn next_word(&self, few: bool, rng: &mut Rng) -> Vec<u8> {
        match rng.below(10) {
            _ if self.words.is_empty() => fresh(4, rng),
            0..7 if few && !self.short.is_empty() => {
                self.changed(self.short[rng.below(self.short.len() as u64) as usize], rng)
            }
            _ if few => fresh(self.short_letters - rng.below(3) as usize, rng),
            0..3 => self.changed(rng.below(self.words.len() as u64) as u32, rng),
            3 => fresh(6, rng),
            4..7 => fresh(7, rng),
            _ => fresh(8, rng),
        }
    }

    /// The letters of a word after a random change, addition or removal of one letter.
    fn changed(&self, word: u32, rng: &mut Rng) -> Vec<u8> {
        let mut letters = self.words[word as usize].letters();
        let at = rng.below(letters.len() as u64) as usize;
        match rng.below(8) {
            0 if letters.len() < LETTERS_MAX => letters.insert(at + 1, letter(rng.below(2) == 0, rng)),
            1 if letters.len() < LETTERS_MAX => letters.push(b's'),
            2 if letters.len() > 2 => drop(letters.remove(at)),
            _ => letters[at] = letter(VOWELS.contains(&letters[at]), rng),
        }
        letters
    }

    /// Adds a word and its edges, unless the dictionary already has the word.
    fn add(&mut self, letters: &[u8]) {
        let (word, number) = (Word::new(letters), self.words.len() as u32);
        if self.known.contains_key(&word) {
            return;
        }
        for at in 0..letters.len() {
            let mut masked = letters.to_vec();
            masked[at] = 31;
            let alike = self.masked.entry((Word::new(&masked), at)).or_default();
            for &other in &*alike {
                self.edges.add(other, number);
            }
            alike.push(number);
            let mut shorter = letters.to_vec();
            shorter.remove(at);
            let shorter = Word::new(&shorter);
            if let Some(&other) = self.known.get(&shorter) {
                self.edges.add(other, number);
            }
            self.shortened.entry(shorter).or_default().push(number);
        }
        for &longer in self.shortened.get(&word).map_or(&[][..], Vec::as_slice) {
            self.edges.add(longer, number);
        }
        self.known.insert(word, number);
        self.words.push(word);
        if letters.len() <= self.short_letters {
            self.short.push(number);
        }
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

/// A random word that alternates consonants and vowels.
fn fresh(letters: usize, rng: &mut Rng) -> Vec<u8> {
    let first = rng.below(4) == 0;
    (0..letters).map(|at| letter(first == (at % 2 == 0), rng)).collect()
}

fn letter(vowel: bool, rng: &mut Rng) -> u8 {
    let letters = if vowel { VOWELS } else { CONSONANTS };
    letters[rng.below(letters.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn edges_join_exactly_the_words_one_letter_apart() {
        let mut dictionary = Dictionary::new(Size { vertices: 600, edges: 0 });
        let mut rng = Rng::new(9);
        for _ in 0..600 {
            let letters = dictionary.next_word(true, &mut rng);
            dictionary.add(&letters);
        }
        let words: Vec<Vec<u8>> = dictionary.words.iter().map(|word| word.letters()).collect();
        let mut right = 0;
        for (index, word) in words.iter().enumerate() {
            right += words[..index].iter().filter(|other| next_to(word, other)).count();
        }
        assert!(right > 500, "{right}");
        assert_eq!(dictionary.edges.len(), right);
    }

    #[test]
    fn words_are_numbers_in_alphabetical_order() {
        let words = ["a", "ab", "aba", "abz", "b", "zzzzzzzz"];
        assert!(words.iter().map(|word| Word::new(word.as_bytes())).is_sorted());
        assert!(words.iter().all(|word| Word::new(word.as_bytes()).letters() == word.as_bytes()));
    }
}
