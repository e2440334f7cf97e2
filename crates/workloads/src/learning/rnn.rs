//! The forward pass of recurrent networks: a layer of gated recurrent units, and a layer of long
//! short-term memory.
//!
//! One kernel multiplies the inputs of all time steps with their weights. Then each time step has
//! two kernels. The first multiplies the outputs of the step before with their weights. The second
//! computes the gates element by element, and from the gates the new outputs. A work-group keeps
//! its input vector in local memory.
//!
//! The host computes the expected numbers by additions in the same order and the same precision as
//! the kernels, so the check is exact.

use kernel::prelude::*;

use super::multiples;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static RNN_GRU: Workload = Workload {
    name: "rnn-gru",
    summary: "runs a layer of gated recurrent units over several time steps",
    origin: "DeepBench (2016); Dalmia thesis, Table 5.2",
    room: Room::Learning,
    purpose: Purpose::Benchmark,
    sizes: SIZES,
    settings: &SETTINGS,
    make: |settings, seed| recurrent(Kind::Gru, settings, seed),
};

pub(crate) static RNN_LSTM: Workload = Workload {
    name: "rnn-lstm",
    summary: "runs a layer of long short-term memory over several time steps",
    origin: "DeepBench (2016); Dalmia thesis, Table 5.2",
    room: Room::Learning,
    purpose: Purpose::Benchmark,
    sizes: SIZES,
    settings: &SETTINGS,
    make: |settings, seed| recurrent(Kind::Lstm, settings, seed),
};

/// The defaults are the batch, the time steps and the hidden units of Table 5.2 of the Dalmia
/// thesis.
static SETTINGS: [Setting; 4] = [
    Setting::count("batch", 4, 1, 1 << 10, "number of sequences"),
    Setting::count("steps", 2, 1, 1 << 12, "number of time steps"),
    Setting::count("hidden", 256, 1, 1 << 12, "number of hidden units"),
    Setting::count("inputs", 256, 1, 1 << 12, "number of inputs of a time step"),
];

const SIZES: Sizes =
    Sizes { tiny: &[("batch", "2"), ("hidden", "20"), ("inputs", "30")], small: &[], paper: &[] };

/// The kind of layer: gated recurrent units, or long short-term memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gru,
    Lstm,
}

impl Kind {
    /// The number of gates of a hidden unit. Each gate needs a product. A gated recurrent unit has
    /// three gates (reset, update, new), and a unit of long short-term memory has four (input,
    /// forget, new, output).
    fn gates(self) -> u64 {
        match self {
            Kind::Gru => 3,
            Kind::Lstm => 4,
        }
    }
}

/// The logistic function at `x`.
fn sigmoid_of(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

fn sigmoid(x: Lanes<f32>) -> Lanes<f32> {
    Lanes::splat(1.0f32) / ((-x).map(Class::Special, libm::expf) + 1.0)
}

fn tanh(x: Lanes<f32>) -> Lanes<f32> {
    x.map(Class::Special, libm::tanhf)
}

/// The sizes of the layer and of its input.
#[derive(Clone, Copy, Debug)]
struct Sizing {
    kind: Kind,
    batch: u64,
    steps: u64,
    hidden: u64,
    inputs: u64,
}

impl Sizing {
    /// The number of products for one sequence in one time step: one for each gate of each hidden
    /// unit.
    fn products(&self) -> u64 {
        self.kind.gates() * self.hidden
    }
}

#[derive(Clone, Copy, Debug)]
struct Layer {
    sizes: Sizing,
    /// The inputs of each sequence. Those of one time step follow those of the step before.
    inputs: Array<f32>,
    /// For each input, its weights to all gates of all hidden units.
    input_weights: Array<f32>,
    /// For each hidden unit, the weights from its output to all gates of all hidden units.
    hidden_weights: Array<f32>,
    input_biases: Array<f32>,
    hidden_biases: Array<f32>,
    /// The products of the inputs of all time steps with their weights, plus biases.
    from_inputs: Array<f32>,
    /// The products of the outputs of the previous time step with their weights, plus biases.
    from_hidden: Array<f32>,
    /// The outputs of all hidden units, before the first time step and after each step.
    outputs: Array<f32>,
    /// The states of the memory cells after the last time step.
    cells: Array<f32>,
}

/// A product of a matrix with several vectors: `to = weights * from + biases`.
#[derive(Clone, Copy, Debug)]
struct Product {
    weights: Array<f32>,
    biases: Array<f32>,
    from: Array<f32>,
    to: Array<f32>,
    /// The number of elements of an input vector. The next field, `height`, is the number of
    /// elements of an output vector.
    width: u64,
    height: u64,
}

impl Product {
    fn launch(self, host: &Host, name: &str) -> kernel::Accepted {
        let waves = (GROUP_ITEMS as u32).div_ceil(host.shape().lanes);
        let groups = self.to.len() / self.height * self.height.div_ceil(GROUP_ITEMS);
        let kernel = Kernel::new(name, move |w| multiply(w, self)).uses([
            self.weights.read(),
            self.biases.read(),
            self.from.read(),
            self.to.write(),
        ]);
        host.launch(kernel, Grid::new(groups as u32, waves).lds_bytes(4 * self.width as u32))
    }
}

/// Multiplies a matrix with vectors. Each work-group computes 256 elements of an output vector.
async fn multiply(w: Wave, p: Product) {
    let (group, groups) = (u64::from(w.work_group()), p.height.div_ceil(GROUP_ITEMS));
    let (vector, part) = (group / groups, group % groups);
    let here = u64::from(w.index() * w.lanes());
    let local = w.lds::<f32>(0, p.width as u32);
    for base in (here..p.width).step_by((w.waves() * w.lanes()) as usize) {
        let w = w.below(base, p.width);
        let values = w.load(p.from, Unit(vector * p.width + base)).await;
        w.store(local, Unit(base), values).await;
    }
    w.barrier().await;
    let first = part * GROUP_ITEMS + here;
    let w = w.below(first, p.height);
    let mut sum = w.load(p.biases, Unit(first)).await;
    for column in 0..p.width {
        let weight = w.load(p.weights, Unit(column * p.height + first));
        let value = w.load(local, column).await;
        sum += weight.await * value;
    }
    w.store(p.to, Unit(vector * p.height + first), sum).await;
}

impl Layer {
    /// The two products of gate `gate` in a time step: the product from the inputs, and the product
    /// from the outputs of the previous time step. For each lane, `at` is the index of the product
    /// of gate 0 of the lane's hidden unit.
    async fn products(&self, w: &Wave, step: u64, at: Lanes<u32>, gate: u64) -> (Lanes<f32>, Lanes<f32>) {
        let at = at + (gate * self.sizes.hidden) as u32;
        let of_step = step * self.sizes.batch * self.sizes.products();
        let from_inputs = w.load(self.from_inputs, at + of_step as u32);
        let from_hidden = w.load(self.from_hidden, at);
        (from_inputs.await, from_hidden.await)
    }
}

/// Computes the outputs of one time step from the products of the gates.
async fn gates(w: Wave, s: Layer, step: u64) {
    let (base, items) = (w.first_item(), s.sizes.batch * s.sizes.hidden);
    let w = w.below(base, items);
    if !w.any() {
        return;
    }
    let item = w.item();
    let sequence = item / s.sizes.hidden as u32;
    let at = item + sequence * (s.sizes.products() - s.sizes.hidden) as u32;
    let (x0, h0) = s.products(&w, step, at, 0).await;
    let (x1, h1) = s.products(&w, step, at, 1).await;
    let (x2, h2) = s.products(&w, step, at, 2).await;
    let output = match s.sizes.kind {
        Kind::Gru => {
            let (reset, update) = (sigmoid(x0 + h0), sigmoid(x1 + h1));
            let new = tanh(x2 + reset * h2);
            let last = w.load(s.outputs, Unit(step * items + base)).await;
            (Lanes::splat(1.0f32) - update) * new + update * last
        }
        Kind::Lstm => {
            let (x3, h3) = s.products(&w, step, at, 3).await;
            let (input, forget) = (sigmoid(x0 + h0), sigmoid(x1 + h1));
            let (new, output) = (tanh(x2 + h2), sigmoid(x3 + h3));
            let cell = forget * w.load(s.cells, Unit(base)).await + input * new;
            w.store(s.cells, Unit(base), cell);
            output * tanh(cell)
        }
    };
    w.store(s.outputs, Unit((step + 1) * items + base), output).await;
}

/// The inputs, weights and biases of the layer.
struct Numbers {
    inputs: Vec<f32>,
    input_weights: Vec<f32>,
    hidden_weights: Vec<f32>,
    input_biases: Vec<f32>,
    hidden_biases: Vec<f32>,
}

impl Numbers {
    fn new(s: &Sizing, seed: u64) -> Numbers {
        Numbers {
            inputs: multiples(seed, s.steps * s.batch * s.inputs, 100, 0.01),
            input_weights: multiples(seed ^ 1, s.inputs * s.products(), 100, 0.001),
            hidden_weights: multiples(seed ^ 2, s.hidden * s.products(), 100, 0.001),
            input_biases: multiples(seed ^ 3, s.products(), 100, 0.005),
            hidden_biases: multiples(seed ^ 4, s.products(), 100, 0.005),
        }
    }

    /// The outputs after each time step, and the states of the memory cells after the last time
    /// step, computed on the host.
    fn outputs(&self, s: &Sizing) -> (Vec<f32>, Vec<f32>) {
        let (hidden, rows) = (s.hidden as usize, s.products() as usize);
        let product = |weights: &[f32], biases: &[f32], values: &[f32], row: usize| {
            let terms = values.iter().enumerate().map(|(column, value)| weights[column * rows + row] * value);
            terms.fold(biases[row], |sum, term| sum + term)
        };
        let mut outputs = Vec::new();
        let mut last = vec![0.0; s.batch as usize * hidden];
        let mut cells = last.clone();
        for inputs in self.inputs.chunks(s.batch as usize * s.inputs as usize) {
            let mut next = Vec::with_capacity(last.len());
            for (sequence, x) in inputs.chunks(s.inputs as usize).enumerate() {
                let h = &last[sequence * hidden..][..hidden];
                for unit in 0..hidden {
                    let of_x = |gate: usize| {
                        product(&self.input_weights, &self.input_biases, x, gate * hidden + unit)
                    };
                    let of_h = |gate: usize| {
                        product(&self.hidden_weights, &self.hidden_biases, h, gate * hidden + unit)
                    };
                    let gate = |gate| sigmoid_of(of_x(gate) + of_h(gate));
                    next.push(match s.kind {
                        Kind::Gru => {
                            let new = libm::tanhf(of_x(2) + gate(0) * of_h(2));
                            (1.0 - gate(1)) * new + gate(1) * h[unit]
                        }
                        Kind::Lstm => {
                            let cell = &mut cells[sequence * hidden + unit];
                            *cell = gate(1) * *cell + gate(0) * libm::tanhf(of_x(2) + of_h(2));
                            gate(3) * libm::tanhf(*cell)
                        }
                    });
                }
            }
            outputs.extend_from_slice(&next);
            last = next;
        }
        (outputs, cells)
    }
}

impl Layer {
    async fn load(host: &Host, sizes: Sizing, numbers: &Numbers) -> Layer {
        let (states, products) = (sizes.batch * sizes.hidden, sizes.products());
        let s = Layer {
            sizes,
            inputs: host.alloc("inputs", numbers.inputs.len() as u64),
            input_weights: host.alloc("input-weights", numbers.input_weights.len() as u64),
            hidden_weights: host.alloc("hidden-weights", numbers.hidden_weights.len() as u64),
            input_biases: host.alloc("input-biases", products),
            hidden_biases: host.alloc("hidden-biases", products),
            from_inputs: host.alloc("from-inputs", sizes.steps * sizes.batch * products),
            from_hidden: host.alloc("from-hidden", sizes.batch * products),
            outputs: host.alloc("outputs", (sizes.steps + 1) * states),
            cells: host.alloc("cells", states),
        };
        host.write(s.inputs, &numbers.inputs).await;
        host.write(s.input_weights, &numbers.input_weights).await;
        host.write(s.hidden_weights, &numbers.hidden_weights).await;
        host.write(s.input_biases, &numbers.input_biases).await;
        host.write(s.hidden_biases, &numbers.hidden_biases).await;
        s
    }

    /// Launches the kernels of all time steps, one after the other.
    async fn run(self, host: &Host) {
        let (s, height) = (self, self.sizes.products());
        let items = s.sizes.batch * s.sizes.hidden;
        let of_inputs = Product {
            weights: s.input_weights,
            biases: s.input_biases,
            from: s.inputs,
            to: s.from_inputs,
            width: s.sizes.inputs,
            height,
        };
        of_inputs.launch(host, "multiply-inputs").await;
        for step in 0..s.sizes.steps {
            let of_hidden = Product {
                weights: s.hidden_weights,
                biases: s.hidden_biases,
                from: s.outputs.slice(step * items..(step + 1) * items),
                to: s.from_hidden,
                width: s.sizes.hidden,
                height,
            };
            of_hidden.launch(host, "multiply-hidden").await;
            let own = [s.outputs.slice((step + 1) * items..(step + 2) * items).write(), s.cells.read_write()];
            let kernel = Kernel::new("gates", move |w| gates(w, s, step))
                .uses([s.from_inputs.read(), s.from_hidden.read()])
                .uses([s.outputs.slice(step * items..(step + 1) * items).read().in_parts(GROUP_ITEMS)])
                .uses(own.map(|used| used.in_parts(GROUP_ITEMS)));
            host.launch(kernel, grid_over(&host.shape(), items)).await;
        }
    }
}

fn recurrent(kind: Kind, settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let [batch, steps, hidden, inputs] =
        ["batch", "steps", "hidden", "inputs"].map(|name| settings.count(name));
    let sizes = Sizing { kind, batch, steps, hidden, inputs };
    let products = steps * batch * sizes.products();
    if products > 1 << 28 {
        return Err(
            settings.conflict(format!("all steps together have {products} products, expected at most 2^28"))
        );
    }
    let name = if kind == Kind::Gru { "rnn-gru" } else { "rnn-lstm" };
    let program = Program::new(name, move |host| async move {
        let s = Layer::load(&host, sizes, &Numbers::new(&sizes, seed)).await;
        s.run(&host).await;
        let outputs = s.outputs.slice(batch * hidden..s.outputs.len());
        let answer = Answer::new().with_array("outputs", &host, outputs).await;
        match kind {
            Kind::Gru => answer,
            Kind::Lstm => answer.with_array("cells", &host, s.cells).await,
        }
    });
    Ok(Instance::new(program, move |answer| {
        let (outputs, cells) = Numbers::new(&sizes, seed).outputs(&sizes);
        answer.expect("outputs", &outputs)?;
        match kind {
            Kind::Gru => Ok(()),
            Kind::Lstm => answer.expect("cells", &cells),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(kind: Kind) -> Sizing {
        Sizing { kind, batch: 2, steps: 3, hidden: 16, inputs: 24 }
    }

    #[test]
    fn a_unit_without_weights_follows_its_biases() {
        // Both gates of a gated unit are 1/2. The output of the unit therefore moves half of the
        // way to tanh(1) in each step.
        let s = sizes(Kind::Gru);
        let mut numbers = Numbers::new(&s, 1);
        numbers.input_weights.fill(0.0);
        numbers.hidden_weights.fill(0.0);
        numbers.hidden_biases.fill(0.0);
        numbers.input_biases = (0..48).map(|row| if row < 32 { 0.0 } else { 1.0 }).collect();
        let (outputs, _) = numbers.outputs(&s);
        for (step, share) in [0.5, 0.75, 0.875].into_iter().enumerate() {
            let want = share * 1.0f32.tanh();
            assert!(outputs[step * 32..][..32].iter().all(|have| (have - want).abs() < 1e-6));
        }
    }

    #[test]
    fn a_cell_keeps_its_state_while_the_forget_gate_is_open() {
        let s = sizes(Kind::Lstm);
        let mut numbers = Numbers::new(&s, 1);
        numbers.input_weights.fill(0.0);
        numbers.hidden_weights.fill(0.0);
        numbers.hidden_biases.fill(0.0);
        // The input gate and the forget gate are open. The cell therefore adds tanh(1) to its state
        // in each step.
        numbers.input_biases = (0..64).map(|row| if row < 32 { 30.0 } else { 1.0 }).collect();
        let (outputs, cells) = numbers.outputs(&s);
        let (cell, gate) = (3.0 * 1.0f32.tanh(), sigmoid_of(1.0));
        assert!(cells.iter().all(|have| (have - cell).abs() < 1e-5), "{cells:?}");
        assert!(outputs[64..].iter().all(|have| (have - gate * cell.tanh()).abs() < 1e-5));
    }
}
