//! The thermal model of a chip. Two programs that simulate the temperature of a chip use this
//! model.

use kernel::prelude::*;

use crate::data;
use crate::instance::Instance;

/// The maximum power per unit of area, in W/m². This constant and those after it are the parameters
/// of Rodinia's model, in SI units.
const POWER_MAX: f64 = 3.0e6;
const PRECISION: f64 = 0.001;
pub(super) const HEAT_SILICON: f64 = 1.75e6;
pub(super) const CONDUCTION_SILICON: f64 = 100.0;
pub(super) const FACTOR: f64 = 0.5;
pub(super) const THICKNESS: f64 = 0.0005;
pub(super) const SIDE: f64 = 0.016;
/// The temperature of the surroundings of the chip.
pub(super) const AMBIENT: f32 = 80.0;

/// The longest time step, in seconds. In one step, the power changes a temperature by at most
/// `PRECISION`.
pub(super) fn step() -> f64 {
    PRECISION / (POWER_MAX / (FACTOR * THICKNESS * HEAT_SILICON))
}

/// The arrays that hold the state of the chip in the memory of the machine.
#[derive(Clone, Copy)]
pub(super) struct Chip {
    /// The temperatures before a launch.
    pub(super) from: Array<f32>,
    /// The temperatures after a launch.
    pub(super) to: Array<f32>,
    pub(super) power: Array<f32>,
    /// An array in which the work-items of a work-group share data, if the program needs one.
    pub(super) tiles: Option<Array<f32>>,
}

/// The inputs of a simulation: for each element of the chip, its temperature at the start and its
/// power.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    pub(super) temperatures: Vec<f32>,
    pub(super) power: Vec<f32>,
}

impl Inputs {
    /// Random inputs for `n` elements.
    pub(super) fn random(seed: u64, n: u64) -> Inputs {
        let temperatures = data::floats(seed, n).into_iter().map(|x| 330.0 + 8.0 * x).collect();
        let power = data::floats(!seed, n).into_iter().map(|x| 0.005 * (x + 1.0)).collect();
        Inputs { temperatures, power }
    }
}

/// Makes a program that makes launches one after another, and the check of the temperatures after
/// the last launch. `launch` makes the kernel and the grid of a launch. `tiles` has the number of
/// elements of the array `tiles`, and of the part that each work-group uses. `next` computes one
/// time step on the host, and the check calls it `steps` times.
pub(super) fn simulation<L: Copy + 'static>(
    name: &'static str,
    inputs: impl Fn() -> Inputs + Clone + 'static,
    launches: Vec<L>,
    launch: impl Fn(&Shape, Chip, L) -> (Kernel, Grid) + 'static,
    tiles: Option<(u64, u64)>,
    (steps, next): (u64, impl Fn(&[f32], &[f32]) -> Vec<f32> + 'static),
) -> Instance {
    let of_program = inputs.clone();
    let program = Program::new(name, move |host| async move {
        let Inputs { temperatures, power } = of_program();
        let n = power.len() as u64;
        let mut chip = Chip {
            from: host.alloc("temperature", n),
            to: host.alloc("temperature-after", n),
            power: host.alloc("power", n),
            tiles: None,
        };
        chip.tiles = tiles.map(|(all, _)| host.alloc("tiles", all));
        host.write(chip.from, &temperatures).await;
        host.write(chip.power, &power).await;
        for one in launches {
            let (kernel, grid) = launch(&host.shape(), chip, one);
            let uses = [chip.from.read(), chip.power.read(), chip.to.write()];
            let parts = tiles.zip(chip.tiles).map(|((_, part), array)| array.read_write().in_parts(part));
            host.launch(kernel.uses(uses).uses(parts), grid).await;
            chip = Chip { from: chip.to, to: chip.from, ..chip };
        }
        Answer::new().with_array("temperature", &host, chip.from).await
    });
    Instance::new(program, move |answer| {
        let Inputs { mut temperatures, power } = inputs();
        for _ in 0..steps {
            temperatures = next(&temperatures, &power);
        }
        answer.expect("temperature", &temperatures)
    })
}
