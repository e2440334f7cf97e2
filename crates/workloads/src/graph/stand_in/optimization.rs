//! The stand-in (generated replacement) for the matrix `c-68`.
//!
//! Original: a matrix of a nonlinear optimization problem in IBM's circuit tuning (SuiteSparse
//! Matrix Collection, group GHS_indef). It is symmetric and indefinite, with 64,810 rows and
//! 565,996 entries, including the diagonal. Matrices of this family have the form [H A^T; A 0]: H
//! couples variables, and A has a row with the variables of each constraint. Most rows have few
//! entries, and a few have thousands.
//!
//! Generator: it makes three variables for every two constraints. The variables have the first
//! rows. A constraint has variables near its own position; a few constraints are wide and have many
//! variables. Some variables are hubs, which appear in constraints everywhere. The degree of the
//! first hub is one twelfth of the number of rows. The degree of hub number `n` is the degree of
//! the first hub, divided by `n`. There is no diagonal, but the number of arcs equals the number of
//! entries of the original with its diagonal. Values are whole numbers from 1 to 10,000, uniform in
//! their logarithm.

use kernel::rng::Rng;

use super::super::Csr;
use super::Size;
use super::draw::{exp2, unit};
use super::edges::Edges;

const HUBS: u32 = 32;
/// The maximum distance between a variable and the position of its constraint.
const REACH: u64 = 48;

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let variables = (u64::from(size.vertices) * 3 / 5).max(2) as u32;
    let constraints = size.vertices - variables;
    let mut edges = Edges::with_capacity(size.edges);
    let place = |constraint: u32| u64::from(constraint) * u64::from(variables) / u64::from(constraints);

    // A constraint reaches from its own position to the position of the next constraint, so that
    // the graph is connected.
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
            // One constraint in fifty is wide: it has many variables.
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

/// The magnitude of the entry in row `u` and column `v`: from 1 to 10,000, uniform in its
/// logarithm.
pub(super) fn magnitude(seed: u64, u: u32, v: u32) -> u32 {
    const LOG2_OF_10_000: f64 = 13.287_712_379_549_449;
    let key = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(u) << 32 | u64::from(v));
    exp2(unit(&mut Rng::new(key)) * LOG2_OF_10_000).round() as u32
}
