//! The stand-in (generated replacement) for the graph `coAuthorsDBLP`.
//!
//! Original: vertices are authors of computer science papers, and edges join coauthors (10th DIMACS
//! challenge). The graph has 299,067 vertices, 977,676 edges and one component. SNAP publishes a
//! network of the same source with 317,080 vertices. The SNAP network has a largest degree of 343,
//! a diameter of 23, a clustering coefficient of 0.31, a Gini coefficient of 0.54, and a power law
//! of exponent 3.3 in its tail (KONECT).
//!
//! Generator: it makes one paper after the other. All authors of a paper are joined with each
//! other. The field of a paper is the field of a random earlier paper. At least one author of a
//! paper is known from an earlier paper. The other authors are of three kinds: new authors, recent
//! authors of the field (weighted by the number of their papers), and rarely authors of any field.
//! The number of papers of an author is from 2 to 140 and follows a power law. Authors are numbered
//! in the order of their first papers.

use kernel::rng::Rng;

use super::super::Csr;
use super::Size;
use super::draw::unit;
use super::edges::Edges;

/// One of this many papers begins a new field.
const FIELDS_ONE_IN: u64 = 24;
/// One of this many known authors comes from any field instead of the field of the paper.
const STRANGERS_ONE_IN: u64 = 24;
const AUTHORS_MAX: usize = 24;
/// Known authors of a field are drawn from at most this many of its most recent authors.
const RECENT_AUTHORS_MAX: u64 = 300;
/// The maximum number of papers of one author.
const PAPERS_MAX: f64 = 140.0;

struct Network {
    size: Size,
    edges: Edges,
    authors: u32,
    /// The number of papers that each author still has to write.
    papers_left: Vec<u8>,
    /// For each field, the authors of its papers. An author of several papers is in the list
    /// several times.
    fields: Vec<Vec<u32>>,
    /// The field of each paper.
    papers: Vec<u32>,
}

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let mut network = Network {
        size,
        edges: Edges::with_capacity(size.edges),
        authors: 1,
        papers_left: vec![u8::MAX],
        fields: vec![vec![0]],
        papers: vec![0],
    };
    while network.authors < size.vertices || network.edges.len() < size.edges {
        network.write_paper(&mut rng);
    }
    network.edges.into_graph(size.vertices, None)
}

impl Network {
    fn write_paper(&mut self, rng: &mut Rng) {
        let some_paper = rng.below(self.papers.len() as u64) as usize;
        let mut field = self.papers[some_paper] as usize;
        let mut authors = vec![self.of_field(field, rng)];
        if rng.below(FIELDS_ONE_IN) == 0 {
            field = self.fields.len();
            self.fields.push(Vec::new());
        }
        if self.edges_left() > self.authors_left() + AUTHORS_MAX * AUTHORS_MAX {
            for _ in 1..author_count(rng) {
                authors.push(self.next_author(field, rng));
            }
        } else if self.authors_left() > 0 {
            // Few edges are left: one for each author who is still to come, and hardly more.
            authors.push(self.new_author(rng));
        } else {
            authors.push(self.next_author(field, rng));
        }
        authors.sort_unstable();
        authors.dedup();
        for (index, &u) in authors.iter().enumerate() {
            for &v in &authors[..index] {
                self.edges.add(u, v);
            }
        }
        for &author in &authors {
            let left = &mut self.papers_left[author as usize];
            *left = left.saturating_sub(1);
        }
        self.fields[field].extend(authors);
        self.papers.push(field as u32);
    }

    /// The next author of a paper of `field`. If there are too few authors for the number of edges
    /// so far, this is mostly a new author, otherwise mostly a known one.
    fn next_author(&mut self, field: usize, rng: &mut Rng) -> u32 {
        let authors_done = u64::from(self.authors) * self.size.edges as u64;
        let edges_done = self.edges.len() as u64 * u64::from(self.size.vertices);
        let new_in_ten = if authors_done < edges_done { 9 } else { 2 };
        if self.authors_left() > 0 && rng.below(10) < new_in_ten {
            return self.new_author(rng);
        }
        if rng.below(STRANGERS_ONE_IN) == 0 || self.fields[field].is_empty() {
            let some_paper = rng.below(self.papers.len() as u64) as usize;
            return self.of_field(self.papers[some_paper] as usize, rng);
        }
        self.of_field(field, rng)
    }

    fn edges_left(&self) -> usize {
        self.size.edges - self.edges.len()
    }

    fn authors_left(&self) -> usize {
        (self.size.vertices - self.authors) as usize
    }

    fn new_author(&mut self, rng: &mut Rng) -> u32 {
        self.authors += 1;
        self.papers_left.push((2.0 / (1.0 - unit(rng)).sqrt()).min(PAPERS_MAX) as u8);
        self.authors - 1
    }

    /// Draws two recent authors of a field. Returns the author with the larger number of papers
    /// left to write.
    fn of_field(&self, field: usize, rng: &mut Rng) -> u32 {
        let authors = &self.fields[field];
        let latest = (authors.len() as u64).min(RECENT_AUTHORS_MAX);
        let mut draw = || authors[authors.len() - 1 - rng.below(latest) as usize];
        let (one, two) = (draw(), draw());
        if self.papers_left[one as usize] >= self.papers_left[two as usize] { one } else { two }
    }
}

/// The number of authors of a paper: mostly 2 to 4, rarely many more.
fn author_count(rng: &mut Rng) -> usize {
    // The minimum of two draws from power laws with exponents 1 and 2 follows a power law with
    // exponent 3.
    let (one, two) = (1.0 / (1.0 - unit(rng)), 1.0 / (1.0 - unit(rng)).sqrt());
    ((2.0 * one.min(two)).round() as usize).clamp(2, AUTHORS_MAX)
}
