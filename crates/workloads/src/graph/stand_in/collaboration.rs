//! Stands in for `coAuthorsDBLP`.
//!
//! Known: authors of computer science papers, joined if they wrote one
//! together (10th DIMACS challenge): 299,067 vertices, 977,676 edges, one
//! component. The network of the same source that SNAP publishes, 317,080
//! vertices, has a largest degree of 343, a diameter of 23, a clustering
//! coefficient of 0.31, a Gini coefficient of 0.54, and a power law of exponent
//! 3.3 in its tail (KONECT).
//!
//! Made: papers, one after the other, whose authors become a clique. A paper
//! belongs to a field, and fields grow as papers choose them. At least one
//! author wrote before; the others are new, or of those who wrote in the field
//! lately, by the number of their papers, or seldom of any field. A career has
//! two papers at least and 140 at most, and by a power law in between. Authors
//! are numbered as they first write.

use kernel::rng::Rng;

use super::super::Csr;
use super::Size;
use super::draw::unit;
use super::edges::Edges;

/// One paper in so many founds a field.
const FIELDS_ONE_IN: u64 = 24;
/// One author in so many is of any field.
const STRANGERS_ONE_IN: u64 = 24;
const AUTHORS_MAX: usize = 24;
/// Only so many of a field's latest names are asked again.
const NAMES_KNOWN: u64 = 300;
/// The most papers anybody writes.
const PAPERS_MAX: f64 = 140.0;

struct World {
    size: Size,
    edges: Edges,
    authors: u32,
    /// How many papers each author still writes.
    papers_left: Vec<u8>,
    /// For each field the authors of its papers, as often as they wrote.
    fields: Vec<Vec<u32>>,
    /// The field of each paper.
    papers: Vec<u32>,
}

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let mut world = World {
        size,
        edges: Edges::with_capacity(size.edges),
        authors: 1,
        papers_left: vec![u8::MAX],
        fields: vec![vec![0]],
        papers: vec![0],
    };
    while world.authors < size.vertices || world.edges.len() < size.edges {
        world.write_paper(&mut rng);
    }
    world.edges.into_graph(size.vertices, None)
}

impl World {
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
            // Just enough edges are left for everybody to get one.
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

    /// A new author if there are few for so many edges, else a known one.
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

    /// One of two who wrote in a field lately: who has more papers to write.
    fn of_field(&self, field: usize, rng: &mut Rng) -> u32 {
        let authors = &self.fields[field];
        let latest = (authors.len() as u64).min(NAMES_KNOWN);
        let mut asked = || authors[authors.len() - 1 - rng.below(latest) as usize];
        let (one, two) = (asked(), asked());
        if self.papers_left[one as usize] >= self.papers_left[two as usize] { one } else { two }
    }
}

/// Two to four mostly, with a long tail.
fn author_count(rng: &mut Rng) -> usize {
    // The lesser of two with exponents 1 and 2 has exponent 3.
    let (one, two) = (1.0 / (1.0 - unit(rng)), 1.0 / (1.0 - unit(rng)).sqrt());
    ((2.0 * one.min(two)).round() as usize).clamp(2, AUTHORS_MAX)
}
