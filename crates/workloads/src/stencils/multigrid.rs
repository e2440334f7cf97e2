//! The reference of the multigrid solver on the host: nested loops over three dimensions.

use crate::settings::Settings;

/// The way in which a level is smoothed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Smoothing {
    /// Sweeps from one array to another. Each sweep has a momentum and a weight.
    Sweeps([(f64, f64); 4]),
    /// Four sweeps in place, each over the cells of one colour.
    Colours,
}

impl Smoothing {
    pub(super) fn of(settings: &Settings) -> Smoothing {
        match settings.choice("smoother") {
            "gsrb" => Smoothing::Colours,
            "jacobi" => Smoothing::Sweeps([(0.0, 2.0 / 3.0); 4]),
            _ => Smoothing::Sweeps(chebyshev()),
        }
    }
}

/// The momentum and the weight of each sweep. They come from a Chebyshev polynomial for the
/// eigenvalues from 0.25 to 2. As in HPGMG, this range begins at an eighth of the largest
/// eigenvalue.
fn chebyshev() -> [(f64, f64); 4] {
    let (smallest, largest) = (0.25, 2.0);
    let (theta, delta) = (0.5 * (largest + smallest), 0.5 * (largest - smallest));
    let sigma = theta / delta;
    let mut rho = 1.0 / sigma;
    let mut factors = [(0.0, 1.0 / theta); 4];
    for factor in &mut factors[1..] {
        let next = 1.0 / (2.0 * sigma - rho);
        *factor = (next * rho, next * 2.0 / delta);
        rho = next;
    }
    factors
}

/// The number of times that the coarsest level is smoothed. This replaces an exact solution.
pub(super) fn bottom_smoothings() -> usize {
    4
}

/// The indices of the six neighbours of a cell. `None` stands for a neighbour beyond a face of the
/// cube.
fn neighbours(index: usize, n: usize) -> [Option<usize>; 6] {
    let mut around = [None; 6];
    for (axis, distance) in [1, n, n * n].into_iter().enumerate() {
        let at = index / distance % n;
        around[2 * axis] = (at > 0).then(|| index - distance);
        around[2 * axis + 1] = (at + 1 < n).then(|| index + distance);
    }
    around
}

/// For each cell, the inverse of the diagonal element of the discrete operator of Poisson's
/// equation.
pub(super) fn inverse_diagonal(n: usize) -> Vec<f64> {
    let outside = |index| neighbours(index, n).iter().filter(|cell| cell.is_none()).count();
    (0..n.pow(3)).map(|index| 1.0 / ((6 + outside(index)) as f64 * (n * n) as f64)).collect()
}

/// Applies the discrete operator of Poisson's equation to `x`. Returns the resulting value in the
/// cell `index`.
fn applied(x: &[f64], index: usize, n: usize) -> f64 {
    let sum = neighbours(index, n).iter().fold(0.0, |sum, cell| sum + cell.map_or(-x[index], |i| x[i]));
    (x[index] * 6.0 - sum) * (n * n) as f64
}

fn residual(x: &[f64], rhs: &[f64], n: usize) -> Vec<f64> {
    (0..rhs.len()).map(|i| rhs[i] - applied(x, i, n)).collect()
}

fn smooth(smoothing: Smoothing, x: &mut Vec<f64>, rhs: &[f64], n: usize) {
    let inverse = inverse_diagonal(n);
    match smoothing {
        Smoothing::Colours => {
            for colour in [0, 1, 0, 1] {
                for i in 0..x.len() {
                    if (i ^ (i / n) ^ (i / n / n)) & 1 == colour {
                        x[i] += inverse[i] * (rhs[i] - applied(x, i, n));
                    }
                }
            }
        }
        Smoothing::Sweeps(factors) => {
            let mut before = x.clone();
            for (momentum, weight) in factors {
                let rest = residual(x, rhs, n);
                let next = |i: usize| {
                    let value = x[i] + inverse[i] * rest[i] * weight;
                    if momentum == 0.0 { value } else { value + (x[i] - before[i]) * momentum }
                };
                let after = (0..x.len()).map(next).collect();
                before = core::mem::replace(x, after);
            }
        }
    }
}

/// One V-cycle over a level and all coarser levels.
fn v_cycle(smoothing: Smoothing, x: &mut Vec<f64>, rhs: &[f64], n: usize) {
    if n == 2 {
        (0..bottom_smoothings()).for_each(|_| smooth(smoothing, x, rhs, n));
        return;
    }
    smooth(smoothing, x, rhs, n);
    let (rest, half) = (residual(x, rhs, n), n / 2);
    let coarse_of = |i: usize| (i / n / n / 2 * half + i / n % n / 2) * half + i % n / 2;
    let mut coarse_rhs = vec![0.0; half.pow(3)];
    // In the order of ascending indices, the eight cells are added in the order of their
    // coordinates.
    rest.iter().enumerate().for_each(|(i, rest)| coarse_rhs[coarse_of(i)] += rest);
    coarse_rhs.iter_mut().for_each(|sum| *sum *= 0.125);
    let mut correction = vec![0.0; half.pow(3)];
    v_cycle(smoothing, &mut correction, &coarse_rhs, half);
    x.iter_mut().enumerate().for_each(|(i, x)| *x += correction[coarse_of(i)]);
    smooth(smoothing, x, rhs, n);
}

/// The solution after `cycles` V-cycles that start from zero.
pub(super) fn v_cycles(smoothing: Smoothing, rhs: &[f64], n: usize, cycles: u64) -> Vec<f64> {
    let mut x = vec![0.0; rhs.len()];
    (0..cycles).for_each(|_| v_cycle(smoothing, &mut x, rhs, n));
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data;

    #[test]
    fn each_cycle_reduces_the_residual_for_each_smoother() {
        let n = 16;
        let rhs: Vec<f64> = data::floats(3, 4096).into_iter().map(f64::from).collect();
        let norm = |x: &[f64]| residual(x, &rhs, n).iter().map(|r| r * r).sum::<f64>().sqrt();
        for smoother in ["chebyshev", "gsrb", "jacobi"] {
            let mut settings = super::super::HPGMG.defaults();
            assert_eq!(settings.set("smoother", smoother), Ok(()));
            let mut before = norm(&vec![0.0; rhs.len()]);
            for cycles in 1..4 {
                let after = norm(&v_cycles(Smoothing::of(&settings), &rhs, n, cycles));
                assert!(after < 0.5 * before, "{smoother}, cycle {cycles}: {before} to {after}");
                before = after;
            }
        }
    }
}
