//! The training of a network with one hidden layer by back propagation (the workload `backprop` of
//! Rodinia): one pass forward and one pass backward.
//!
//! A work-group of 16 by 16 work-items multiplies 16 inputs with their weights to the 16 hidden
//! units, and adds the products in local memory. As in Rodinia, each work-item then stores its sum
//! in place of its weight, although no kernel reads it. The host adds the sums of all work-groups,
//! and computes the hidden units, the output, and the errors of both. It copies the weights to the
//! machine again, and the second kernel adjusts the weights between the inputs and the hidden
//! layer.

use kernel::prelude::*;

use super::{expect_numbers, multiples};
use crate::fault::{Fault, planted};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static BACKPROP: Workload = Workload {
    name: "backprop",
    summary: "trains a network with one hidden layer: partial sums in local memory, then new weights",
    origin: "Rodinia (2009); Hechtman thesis, section 4.4; Dalmia thesis, Tables 3.3 and 5.2",
    room: Room::Learning,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("blocks", "12")], small: &[], paper: &[("blocks", "4096")] },
    settings: &[Setting::count("blocks", 256, 1, 1 << 16, "number of blocks of 16 inputs")],
    make: |settings, seed| Ok(backprop(settings, seed)),
};

/// The number of inputs that a work-group handles. It is also the number of units in the hidden
/// layer.
const SIDE: u32 = 16;

/// The number of entries in a row of weights. The first entry belongs to no hidden unit.
const ROW: u32 = SIDE + 1;

const ETA: f32 = 0.3;
const MOMENTUM: f32 = 0.3;

#[derive(Clone, Copy, Debug)]
struct Layer {
    /// The inputs of the network. Input 0 is the constant 1, whose weights are the thresholds.
    inputs: Array<f32>,
    /// The weights between the inputs and the hidden units, with one row for each input.
    weights: Array<f32>,
    /// The changes of the weights in the previous training step.
    changes: Array<f32>,
    /// For each work-group, the sum of each hidden unit over the inputs of this work-group.
    partials: Array<f32>,
    /// The error of each hidden unit. Entry 0 belongs to no hidden unit.
    deltas: Array<f32>,
}

/// For each lane, the number of its hidden unit, and the number of its input within the work-group.
fn coordinates(w: &Wave) -> (Lanes<u32>, Lanes<u32>) {
    let item = w.lane_id() + w.index() * w.lanes();
    (item & (SIDE - 1), item >> 4)
}

/// The index of each lane's weight, from the lane's hidden unit and its input.
fn weight_of(w: &Wave, unit: Lanes<u32>, input: Lanes<u32>) -> Lanes<u32> {
    (input + (w.work_group() * SIDE + 1)) * ROW + unit + 1
}

async fn layer_forward(w: Wave, s: Layer) {
    let (unit, input) = coordinates(&w);
    let values = w.lds::<f32>(0, SIDE);
    let products = w.lds::<f32>(4 * SIDE, SIDE * SIDE);
    let here = u64::from(w.index() * w.lanes());
    let first_input = w.work_group() * SIDE + u32::from(!planted(Fault::WrongIndex));
    let loads = w.when(unit.eq(0));
    let value = loads.load(s.inputs, input + first_input).await;
    loads.store(values, input, value).await;
    let weight = w.load(s.weights, weight_of(&w, unit, input)).await;
    w.store(products, Unit(here), weight).await;
    w.barrier().await;
    let (weight, value) = (w.load(products, Unit(here)), w.load(values, input));
    let product = weight.await * value.await;
    w.store(products, Unit(here), product).await;
    w.barrier().await;
    let mut half = 1;
    while half < SIDE {
        let adds = w.when((input & (2 * half - 1)).eq(0));
        let mine = adds.load(products, Unit(here));
        let other = adds.load(products, Unit(here + u64::from(half * SIDE)));
        let sum = mine.await + other.await;
        adds.store(products, Unit(here), sum).await;
        if !planted(Fault::MissingBarrier) {
            w.barrier().await;
        }
        half *= 2;
    }
    let sum = w.load(products, Unit(here)).await;
    w.store(s.weights, weight_of(&w, unit, input), sum);
    // If a wavefront has few lanes, the first 16 work-items are in several wavefronts.
    let w = w.below(here, u64::from(SIDE));
    if w.any() {
        let sums = w.load(products, Unit(here)).await;
        w.store(s.partials, Unit(u64::from(w.work_group() * SIDE) + here), sums).await;
    }
}

/// Adjusts the weights at the indices `weight` by the errors of their hidden units.
async fn adjust(w: &Wave, s: Layer, weight: Lanes<u32>, unit: Lanes<u32>, input: Lanes<u32>) {
    let (delta, value) = (w.load(s.deltas, unit + 1), w.load(s.inputs, input));
    let (old, change) = (w.load(s.weights, weight), w.load(s.changes, weight));
    let step = delta.await * ETA * value.await + change.await * MOMENTUM;
    let new = old.await + step;
    w.store(s.weights, weight, new);
    w.store(s.changes, weight, step).await;
}

async fn adjust_weights(w: Wave, s: Layer) {
    let (unit, input) = coordinates(&w);
    adjust(&w, s, weight_of(&w, unit, input), unit, input + (w.work_group() * SIDE + 1)).await;
    if w.work_group() == 0 {
        // The thresholds of the hidden units are the weights of input 0.
        let first_row = w.when(input.eq(0));
        adjust(&first_row, s, unit + 1, unit, Lanes::splat(0)).await;
    }
}

/// The network before the training step.
struct Network {
    inputs: Vec<f32>,
    weights: Vec<f32>,
    changes: Vec<f32>,
    /// The threshold of the output unit, followed by the weights from the hidden units to this
    /// unit.
    outputs: Vec<f32>,
}

impl Network {
    fn new(seed: u64, count: u64) -> Network {
        let rows = (count + 1) * u64::from(ROW);
        // The weights are so small that the sums over all inputs have a magnitude near 1. The units
        // then do not saturate.
        let unit = 0.5f32.powi(count.ilog2().div_ceil(2) as i32 + 1);
        let mut inputs = multiples(seed, count + 1, 15, 1.0 / 16.0);
        inputs.iter_mut().for_each(|input| *input = input.abs());
        inputs[0] = 1.0;
        Network {
            inputs,
            weights: multiples(seed ^ 1, rows, 8, unit),
            changes: multiples(seed ^ 2, rows, 8, unit),
            outputs: multiples(seed ^ 3, u64::from(ROW), 8, 1.0 / 16.0),
        }
    }

    /// The errors of the hidden units, from their sums over all inputs except input 0. The host
    /// computes them, as in Rodinia.
    fn deltas(&self, sums: &[f32]) -> Vec<f32> {
        const TARGET: f32 = 0.1;
        let squash = |sum: f32| 1.0 / (1.0 + libm::expf(-sum));
        let hidden: Vec<f32> = (0..SIDE as usize).map(|j| squash(self.weights[j + 1] + sums[j])).collect();
        let weighted = hidden.iter().zip(&self.outputs[1..]).map(|(unit, weight)| unit * weight);
        let output = squash(weighted.fold(self.outputs[0], |sum, term| sum + term));
        let error = output * (1.0 - output) * (TARGET - output);
        let back =
            hidden.iter().zip(&self.outputs[1..]).map(|(unit, weight)| unit * (1.0 - unit) * error * weight);
        [0.0].into_iter().chain(back).collect()
    }

    /// The sums that the work-groups must compute: for each block of 16 inputs, the sum of each
    /// hidden unit over these inputs. Each sum is added in double precision, and rounded once.
    fn partials(&self) -> Vec<f32> {
        let (side, row) = (SIDE as usize, ROW as usize);
        let of_block = |block: usize| {
            (0..side).map(move |unit| {
                let inputs = block * side + 1..(block + 1) * side + 1;
                let terms =
                    inputs.map(|i| f64::from(self.inputs[i]) * f64::from(self.weights[i * row + unit + 1]));
                terms.sum::<f64>() as f32
            })
        };
        (0..self.inputs.len() / side).flat_map(of_block).collect()
    }

    /// The weights after the training step, and the changes of the weights.
    fn adjusted(&self) -> (Vec<f32>, Vec<f32>) {
        let deltas = self.deltas(&sums_of(&self.partials()));
        let (mut weights, mut changes) = (self.weights.clone(), self.changes.clone());
        for (input, value) in self.inputs.iter().enumerate() {
            for (unit, delta) in deltas.iter().enumerate().skip(1) {
                let at = input * ROW as usize + unit;
                let step = ETA * delta * value + MOMENTUM * changes[at];
                weights[at] += step;
                changes[at] = step;
            }
        }
        (weights, changes)
    }
}

/// For each hidden unit, the sum of its partial sums over all blocks of inputs.
fn sums_of(partials: &[f32]) -> Vec<f32> {
    let unit = |j: usize| partials.iter().skip(j).step_by(SIDE as usize).sum::<f32>();
    (0..SIDE as usize).map(unit).collect()
}

fn backprop(settings: &Settings, seed: u64) -> Instance {
    let blocks = settings.count("blocks");
    let count = blocks * u64::from(SIDE);
    let program = Program::new("backprop", move |host| async move {
        let network = Network::new(seed, count);
        let s = Layer {
            inputs: host.alloc("inputs", count + 1),
            weights: host.alloc("weights", (count + 1) * u64::from(ROW)),
            changes: host.alloc("changes", (count + 1) * u64::from(ROW)),
            partials: host.alloc("partials", count),
            deltas: host.alloc("deltas", u64::from(ROW)),
        };
        host.write(s.inputs, &network.inputs).await;
        host.write(s.weights, &network.weights).await;
        host.write(s.changes, &network.changes).await;
        let grid = Grid::new(blocks as u32, (SIDE * SIDE).div_ceil(host.shape().lanes));
        let (row, tile) = (u64::from(ROW), u64::from(ROW * SIDE));
        let of_inputs = |array: Array<f32>| array.slice(row..array.len());
        let kernel = Kernel::new("layer-forward", move |w| layer_forward(w, s))
            .uses([s.inputs.read(), of_inputs(s.weights).read_write().in_parts(tile)])
            .uses([s.partials.write().in_parts(u64::from(SIDE))]);
        host.launch(kernel, grid.lds_bytes(4 * (SIDE + SIDE * SIDE))).await;
        let partials = host.read(s.partials).await;
        host.write(s.deltas, &network.deltas(&sums_of(&partials))).await;
        host.write(s.weights, &network.weights).await;
        let thresholds = [s.weights, s.changes].map(|array| array.slice(0..row).read_write());
        let weights = [s.weights, s.changes].map(|array| of_inputs(array).read_write().in_parts(tile));
        let kernel = Kernel::new("adjust-weights", move |w| adjust_weights(w, s))
            .uses([s.inputs.read(), s.deltas.read()])
            .uses(thresholds)
            .uses(weights);
        host.launch(kernel, grid).await;
        let answer = Answer::new().with("partials", &partials);
        let answer = answer.with_array("weights", &host, s.weights).await;
        answer.with_array("changes", &host, s.changes).await
    });
    Instance::new(program, move |answer| {
        let network = Network::new(seed, count);
        let (weights, changes) = network.adjusted();
        expect_numbers(answer, "partials", &network.partials())?;
        expect_numbers(answer, "weights", &weights)?;
        expect_numbers(answer, "changes", &changes)
    })
}

#[cfg(test)]
mod tests {
    use kernel::reference::{Issue, Observer, Options, run_observed};
    use kernel::{Action, Posted, Space};

    use super::*;
    use crate::fault::finds;

    /// Counts the elements that the kernel `layer-forward` loads from and stores to global memory.
    #[derive(Default)]
    struct Elements {
        loads: u32,
        stores: u32,
    }

    impl Observer for Elements {
        fn issue(&mut self, issue: Option<Issue>, op: &Posted) {
            if issue.is_none_or(|issue| issue.kernel.0 > 0) || op.space != Space::Global {
                return;
            }
            match op.action {
                Action::Load => self.loads += op.exec.count(),
                Action::Store => self.stores += op.exec.count(),
                _ => {}
            }
        }
    }

    #[test]
    fn each_work_item_of_the_forward_kernel_stores_its_sum_in_place_of_its_weight() {
        let mut settings = BACKPROP.defaults();
        assert_eq!(settings.set("blocks", "3"), Ok(()));
        let (program, check) = backprop(&settings, 1).into_parts();
        let mut elements = Elements::default();
        let outcome = run_observed(program, &Options::default(), &mut elements);
        assert_eq!(outcome.map(|outcome| check(&outcome.answer)), Ok(Ok(())));
        // A block has 16 inputs, 256 weights and 16 sums.
        assert_eq!((elements.loads, elements.stores), (3 * (16 + 256), 3 * (256 + 16)));
    }

    #[test]
    fn an_index_that_is_wrong_by_one_and_a_missing_barrier_give_wrong_sums() {
        for fault in [Fault::WrongIndex, Fault::MissingBarrier] {
            assert!(finds(&BACKPROP, fault), "{fault:?}");
        }
    }

    #[test]
    fn a_step_moves_the_output_towards_the_target() {
        let network = Network::new(3, 64);
        let deltas = network.deltas(&sums_of(&network.partials()));
        assert!(deltas.iter().skip(1).any(|delta| delta.abs() > 1e-4), "{deltas:?}");
        let still = Network { changes: vec![0.0; network.changes.len()], ..network };
        let (weights, _) = still.adjusted();
        let output = |weights: &[f32]| {
            let hidden = (0..16).map(|unit| {
                let terms =
                    still.inputs.iter().enumerate().map(|(i, value)| value * weights[i * 17 + unit + 1]);
                1.0 / (1.0 + (-terms.sum::<f32>()).exp())
            });
            let sum: f32 = hidden.zip(&still.outputs[1..]).map(|(unit, weight)| unit * weight).sum();
            1.0 / (1.0 + (-(sum + still.outputs[0])).exp())
        };
        let (before, after) = (output(&still.weights), output(&weights));
        assert!((after - 0.1).abs() < (before - 0.1).abs(), "{before} to {after}");
    }
}
