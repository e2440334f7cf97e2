//! The stand-in (generated replacement) for the matrix `c-68`.
//!
//! Original: a symmetric indefinite matrix of a nonlinear optimization problem, with 64,810 rows
//! and 565,996 entries (SuiteSparse Matrix Collection, group GHS_indef; the other matrices `c-*`
//! are in this group and in the group Schenk_IBMNA). The matrices are linear systems of an
//! interior-point method, from IBM. Such a system has the form [H A^T; A 0]: H couples variables,
//! and each row of A is a constraint. The collection's description has neither the sizes of H and
//! A, nor the degrees, nor the order of the rows.
//!
//! Generator (ours): it makes the system of a circuit whose transistors are sized for speed, a
//! problem that IBM solved by such methods. It first makes a circuit: a list of gates in
//! topological order. A gate has two inputs, and each input is driven by an earlier gate, mostly a
//! near one, or from outside of the circuit. The variables of a gate are the widths of its two kinds
//! of transistors, the arrival times of the two edges (rise and fall) of its output, and the slews
//! of these two edges. Each input of a gate has four constraints: for each edge of the output, one
//! bounds the arrival time and one bounds the slew. Such a constraint has the bounded variable, the
//! arrival time and the slew of the input, the widths of the gate, the widths of all gates that its
//! output drives, and a slack. The arrival time of each output of the circuit is at most the worst
//! arrival time, which is one further variable. One constraint bounds the sum of all widths. H
//! couples the widths of a gate with each other, with the slews of its inputs, and with the widths
//! that its output drives: a delay is the resistance of a gate, times its load.
//!
//! The numbers follow from this form. A gate has 22 rows, so 64,810 rows are 2,875 gates. The largest
//! degree is that of the constraint on the sum of all widths: two for each gate. The second largest
//! is that of the worst arrival time: two for each gate that drives no other gate. All other
//! degrees are below 100. The number of entries comes within 5% of the original; gates get further
//! inputs, which have no constraint on the arrival time, until it is equal.
//!
//! The order of the rows is that of the form: all variables, then all constraints. In the first
//! part, variables of one kind are consecutive, as a modelling language declares them: widths,
//! arrival times, slews, slacks. So a range of rows has degrees of one kind.
//!
//! There is no diagonal, but the number of arcs equals the number of entries of the original with
//! its diagonal. Values are whole numbers from 1 to 10,000, uniform in their logarithm.

use kernel::rng::Rng;

use super::super::Csr;
use super::Size;
use super::draw::{exp2, unit};
use super::edges::Edges;

/// The edges of a signal: rise and fall.
const SIGNAL_EDGES: [u32; 2] = [0, 1];
/// The rows of a gate: six variables, and a constraint with a slack for the arrival time and for the
/// slew of each edge, for each of its two inputs.
const ROWS_PER_GATE: u32 = 22;
/// The rows for each hundred gates. A gate that drives no other gate has four more rows: a
/// constraint with a slack for each edge. Of gates with two inputs, a share of e^-2 drives none.
const ROWS_PER_100_GATES: u64 = 2254;

/// A circuit: gates in topological order.
struct Circuit {
    gates: u32,
    /// The gates that drive the two inputs of each gate. `None` is an input of the circuit.
    drivers: Vec<[Option<u32>; 2]>,
    /// The gates that each gate drives.
    loads: Vec<Vec<u32>>,
}

/// The first row of each kind of row, in the order of the rows.
struct Rows {
    widths: u32,
    arrivals: u32,
    slews: u32,
    worst_arrival: u32,
    slacks: u32,
    constraints: u32,
    /// The number of constraints on the arrival times of outputs of the circuit.
    checks: u32,
}

pub(super) fn generate(size: Size, seed: u64) -> Csr {
    let mut rng = Rng::new(seed);
    let gates = (u64::from(size.vertices - 2) * 100 / ROWS_PER_100_GATES).max(1) as u32;
    let circuit = Circuit::new(gates, &mut rng);
    let rows = Rows::new(size.vertices, gates);
    let mut edges = Edges::with_capacity(size.edges);
    circuit.constrain(&rows, size.vertices, &mut edges);
    for gate in 0..gates {
        circuit.couple(gate, &rows, &mut edges);
    }
    // Some gates have a further input. It loads the gate that drives it, and has no constraints.
    for _ in 0..16 * gates {
        let gate = rng.below(u64::from(gates)) as u32;
        if let Some(driver) = driver(gate, gates, &mut rng) {
            circuit.load(driver, gate, &rows, size.edges, &mut edges);
        }
    }
    // A circuit of a few gates has room for more entries only between gates that are not connected.
    while edges.len() < size.edges {
        let variable = rng.below(u64::from(rows.slacks)) as u32;
        edges.add(variable, rng.below(u64::from(size.vertices)) as u32);
    }
    edges.into_graph(size.vertices, Some(&|u, v| magnitude(seed, u, v)))
}

impl Rows {
    fn new(vertices: u32, gates: u32) -> Self {
        let checks = (vertices - 2 - ROWS_PER_GATE * gates) / 2;
        // All constraints but the last one have a slack. The last one, on the sum of the widths,
        // has a slack if the number of rows is odd.
        let constraints = 8 * gates + checks + 1;
        Rows {
            widths: 0,
            arrivals: 2 * gates,
            slews: 4 * gates,
            worst_arrival: 6 * gates,
            slacks: 6 * gates + 1,
            constraints: vertices - constraints,
            checks,
        }
    }

    /// The rows of the widths of a gate.
    fn widths(&self, gate: u32) -> [u32; 2] {
        [self.widths + 2 * gate, self.widths + 2 * gate + 1]
    }

    fn arrival(&self, gate: u32, signal_edge: u32) -> u32 {
        self.arrivals + 2 * gate + signal_edge
    }

    fn slew(&self, gate: u32, signal_edge: u32) -> u32 {
        self.slews + 2 * gate + signal_edge
    }

    /// The constraints on a gate: for both inputs and both edges, that on the arrival time and that
    /// on the slew.
    fn constraints(&self, gate: u32) -> core::ops::Range<u32> {
        self.constraints + 8 * gate..self.constraints + 8 * gate + 8
    }
}

impl Circuit {
    fn new(gates: u32, rng: &mut Rng) -> Self {
        let mut circuit = Circuit { gates, drivers: Vec::new(), loads: vec![Vec::new(); gates as usize] };
        for gate in 0..gates {
            let drivers = [driver(gate, gates, rng), driver(gate, gates, rng)];
            for driver in drivers.into_iter().flatten() {
                circuit.loads[driver as usize].push(gate);
            }
            circuit.drivers.push(drivers);
        }
        circuit
    }

    /// Adds the entries of A.
    fn constrain(&self, rows: &Rows, vertices: u32, edges: &mut Edges) {
        for gate in 0..self.gates {
            let mut constraints = rows.constraints(gate);
            for input in self.drivers[gate as usize] {
                for edge in SIGNAL_EDGES {
                    // Gates invert: the output rises after the input has fallen.
                    let (Some(arrival), Some(slew)) = (constraints.next(), constraints.next()) else {
                        return;
                    };
                    edges.add(rows.arrival(gate, edge), arrival);
                    edges.add(rows.slew(gate, edge), slew);
                    if let Some(driver) = input {
                        edges.add(rows.arrival(driver, 1 - edge), arrival);
                        edges.add(rows.slew(driver, 1 - edge), arrival);
                        edges.add(rows.slew(driver, 1 - edge), slew);
                    }
                }
            }
            for constraint in rows.constraints(gate) {
                let loads = &self.loads[gate as usize];
                for width in loads.iter().chain([&gate]).flat_map(|&gate| rows.widths(gate)) {
                    edges.add(width, constraint);
                }
            }
        }
        let first_check = rows.constraints + 8 * self.gates;
        for (check, (gate, edge)) in (first_check..first_check + rows.checks).zip(self.outputs()) {
            edges.add(rows.arrival(gate, edge), check);
            edges.add(rows.worst_arrival, check);
        }
        for (slack, constraint) in (rows.slacks..rows.constraints).zip(rows.constraints..) {
            edges.add(slack, constraint);
        }
        for width in (0..self.gates).flat_map(|gate| rows.widths(gate)) {
            edges.add(width, vertices - 1);
        }
    }

    /// The signal edges whose arrival is checked: those of gates that drive no other gate, and then
    /// the others, as often as necessary.
    fn outputs(&self) -> impl Iterator<Item = (u32, u32)> {
        let of_kind = |is_output: bool| {
            (0..self.gates).filter(move |&gate| self.loads[gate as usize].is_empty() == is_output)
        };
        let gates: Vec<u32> = of_kind(true).chain(of_kind(false)).collect();
        (0..).map(move |check: usize| (gates[check / 2 % gates.len()], check as u32 % 2))
    }

    /// Adds the entries of H for a gate.
    fn couple(&self, gate: u32, rows: &Rows, edges: &mut Edges) {
        let [one, other] = rows.widths(gate);
        edges.add(one, other);
        for width in [one, other] {
            for driver in self.drivers[gate as usize].into_iter().flatten() {
                for edge in SIGNAL_EDGES {
                    edges.add(width, rows.slew(driver, edge));
                }
            }
            for load in self.loads[gate as usize].iter().flat_map(|&load| rows.widths(load)) {
                edges.add(width, load);
            }
        }
    }

    /// Adds the entries for a further gate that a gate drives, but no more than `edges_max`.
    fn load(&self, driver: u32, gate: u32, rows: &Rows, edges_max: usize, edges: &mut Edges) {
        for load in rows.widths(gate) {
            for row in rows.constraints(driver).chain(rows.widths(driver)) {
                if edges.len() < edges_max {
                    edges.add(load, row);
                }
            }
        }
    }
}

/// The gate that drives an input of `gate`, or `None` if the input comes from outside. The distance
/// is mostly small and rarely large, like the lengths of wires.
fn driver(gate: u32, gates: u32, rng: &mut Rng) -> Option<u32> {
    let bits = f64::from(gates.ilog2() + 1);
    gate.checked_sub(exp2(unit(rng) * unit(rng) * bits) as u32)
}

/// The magnitude of the entry in row `u` and column `v`: from 1 to 10,000, uniform in its
/// logarithm.
pub(super) fn magnitude(seed: u64, u: u32, v: u32) -> u32 {
    const LOG2_OF_10_000: f64 = 13.287_712_379_549_449;
    let key = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(u) << 32 | u64::from(v));
    exp2(unit(&mut Rng::new(key)) * LOG2_OF_10_000).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two gates: the first drives one input of the second, and the others come from outside.
    fn two_gates() -> Circuit {
        Circuit { gates: 2, drivers: vec![[None, None], [Some(0), None]], loads: vec![vec![1], vec![]] }
    }

    /// The rows with an entry in a column.
    fn rows_of(graph: &Csr, column: u32) -> Vec<u32> {
        graph.neighbours(column).to_vec()
    }

    #[test]
    fn a_constraint_has_the_variables_of_its_gate_its_input_and_its_loads() {
        // Widths are rows 0 to 3, arrival times 4 to 7, slews 8 to 11, the worst arrival time is 12,
        // slacks are 13 to 31, and constraints 32 to 50.
        let rows = Rows::new(51, 2);
        assert_eq!((rows.slacks, rows.constraints, rows.checks), (13, 32, 2));
        let mut edges = Edges::with_capacity(99);
        two_gates().constrain(&rows, 51, &mut edges);
        let graph = edges.into_graph(51, None);
        // The rise of the first gate: its arrival time, its widths, those of its load, a slack.
        assert_eq!(rows_of(&graph, 32), [0, 1, 2, 3, 4, 13]);
        // The rise of the second gate after the fall of the first one: arrival time, then slew.
        assert_eq!(rows_of(&graph, 40), [2, 3, 5, 6, 9, 21]);
        assert_eq!(rows_of(&graph, 41), [2, 3, 9, 10, 22]);
        // The second gate drives no other gate, so its arrival times are checked.
        assert_eq!((rows_of(&graph, 48), rows_of(&graph, 49)), (vec![6, 12, 29], vec![7, 12, 30]));
        assert_eq!(rows_of(&graph, 50), [0, 1, 2, 3, 31], "the sum of all widths");
    }

    #[test]
    fn the_last_constraint_has_a_slack_only_with_an_odd_number_of_rows() {
        for (vertices, slacks) in [(50, 18), (51, 19)] {
            let rows = Rows::new(vertices, 2);
            assert_eq!((rows.constraints - rows.slacks, rows.checks), (slacks, 2));
        }
    }

    #[test]
    fn widths_are_coupled_with_each_other_with_loads_and_with_slews_of_inputs() {
        let rows = Rows::new(51, 2);
        let mut edges = Edges::with_capacity(99);
        two_gates().couple(1, &rows, &mut edges);
        let graph = edges.into_graph(51, None);
        assert_eq!((rows_of(&graph, 2), rows_of(&graph, 3)), (vec![3, 8, 9], vec![2, 8, 9]));
        let mut edges = Edges::with_capacity(99);
        two_gates().couple(0, &rows, &mut edges);
        assert_eq!(rows_of(&edges.into_graph(51, None), 0), [1, 2, 3]);
    }
}
