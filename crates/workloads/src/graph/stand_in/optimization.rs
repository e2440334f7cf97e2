//! Stands in for `c-68`.
//!
//! Known: a matrix of a nonlinear optimization problem of IBM's circuit tuning
//! (SuiteSparse Matrix Collection, group GHS_indef), symmetric and indefinite,
//! of 64,810 rows and 565,996 entries, the diagonal included. Matrices of this
//! family are of the form [H A^T; A 0]: couplings H among variables, and a
//! row of A for each constraint with the variables it touches. Most rows have
//! few entries and a few have thousands.
//!
//! Made: three variables to two constraints, variables first. A constraint
//! touches variables near its place; few constraints are wide. Some variables
//! stand in many constraints all over: the degree of the first is a twelfth of
//! the rows, of the second half of that, of the third a third. The diagonal is
//! left out, and the arcs are as many as the entries with it. Values are whole
//! from 1 to 10,000, evenly spread in their logarithm.

use kernel::rng::Rng;

use super::super::Csr;
use super::Size;
use super::draw::{exp2, unit};
use super::edges::Edges;

const HUBS: u32 = 32;
/// How far from its place a constraint touches variables.
const REACH: u64 = 48;

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let variables = (u64::from(size.vertices) * 3 / 5).max(2) as u32;
    let constraints = size.vertices - variables;
    let mut edges = Edges::with_capacity(size.edges);
    let place = |constraint: u32| u64::from(constraint) * u64::from(variables) / u64::from(constraints);

    // From its own place up to that of the next: so everything hangs together.
    for constraint in 0..constraints {
        let end = place(constraint + 1).min(u64::from(variables) - 1);
        for variable in place(constraint)..=end {
            edges.add(variable as u32, variables + constraint);
        }
    }
    for hub in 0..HUBS {
        let variable = rng.below(u64::from(variables)) as u32;
        for _ in 0..size.vertices / 12 / (hub + 1) {
            edges.add(variable, variables + rng.below(u64::from(constraints)) as u32);
        }
    }
    while edges.len() < size.edges {
        let near = |place: u64, rng: &mut Rng| {
            let offset = (rng.below(REACH) + rng.below(REACH)) as i64 - REACH as i64;
            place.saturating_add_signed(offset).min(u64::from(variables) - 1) as u32
        };
        match rng.below(10) {
            0 | 1 => {
                let variable = rng.below(u64::from(variables));
                edges.add(variable as u32, near(variable, &mut rng));
            }
            // One constraint in fifty is wide.
            2 | 3 => {
                let wide = rng.below(u64::from(constraints).div_ceil(50)) as u32 * 50;
                edges.add(near(place(wide), &mut rng), variables + wide.min(constraints - 1));
            }
            _ => {
                let constraint = rng.below(u64::from(constraints)) as u32;
                edges.add(near(place(constraint), &mut rng), variables + constraint);
            }
        }
    }
    edges.into_graph(size.vertices, Some(&|u, v| magnitude(seed, u, v)))
}

/// The magnitude of an entry: from 1 to 10,000, evenly spread in its logarithm.
pub(super) fn magnitude(seed: u64, u: u32, v: u32) -> u32 {
    const LOG2_OF_10_000: f64 = 13.287_712_379_549_449;
    let key = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(u) << 32 | u64::from(v));
    exp2(unit(&mut Rng::new(key)) * LOG2_OF_10_000).round() as u32
}
