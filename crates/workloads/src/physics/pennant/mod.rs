//! PENNANT: hydrodynamics on an unstructured mesh of polygons, for the Noh problem.
//!
//! A time step moves the points half of the way. It computes areas, pressures and the forces on the
//! sides of each zone, adds a viscosity where corners are compressed, and sums the forces of the
//! corners at each point. Then it moves the points the whole way, and turns the work of the forces
//! into energy. The kernels are the loops of PENNANT in the same order. Forces and values of
//! corners are stored in memory.
//!
//! The geometry is planar, while that of PENNANT is cylindrical. The total energy is therefore
//! conserved except for rounding errors.

mod host;
mod kernels;
mod zone;

use std::rc::Rc;

use kernel::prelude::*;

use super::grid_of;
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};
use host::{Clock, Mesh, State};
use kernels::{Arrays, GROUP_ITEMS};

pub(crate) static PENNANT: Workload = Workload {
    name: "pennant",
    summary: "hydrodynamics on an unstructured mesh: 17 kernels a step gather forces at points",
    origin: "PENNANT (LA-UR-12-26640), the Noh problem; Dalmia's thesis (2023), Table 5.2",
    room: Room::Physics,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("zones", "5"), ("steps", "2")],
        small: &[],
        paper: &[("zones", "100"), ("steps", "20")],
    },
    settings: &[
        Setting::count("zones", 32, 1, 1 << 10, "number of zones along an edge of the mesh"),
        Setting::count("steps", 5, 1, 3000, "number of time steps"),
    ],
    make: |settings, _| Ok(pennant(settings)),
};

async fn write(host: &Host, a: &Arrays, mesh: &Mesh, state: &State) {
    host.write(a.points, &mesh.points).await;
    host.write(a.first_corner, &mesh.first_corner).await;
    host.write(a.corners, &mesh.corners).await;
    host.write(a.fractions, &mesh.fractions).await;
    host.write(a.mass, &mesh.area).await;
    host.write(a.area, &mesh.area).await;
    host.write(a.energy, &state.energy).await;
    host.write(a.whole, &state.whole).await;
    host.write(a.density, &state.density).await;
    for axis in 0..2 {
        host.write(a.axes[axis], &mesh.axes[axis]).await;
        host.write(a.place[axis], &mesh.place[axis]).await;
        host.write(a.velocity[axis], &mesh.velocity[axis]).await;
    }
}

async fn run(host: Host, edge: usize, steps: u64) -> Answer {
    let mesh = Mesh::new(edge);
    let arrays = Rc::new(Arrays::alloc(&host, &mesh));
    write(&host, &arrays, &mesh, &State::new(edge)).await;
    let mut clock = Clock::new();
    for _ in 0..steps {
        for (kernel, items) in arrays.kernels(clock.dt) {
            host.launch(kernel, grid_of(&host.shape(), items, GROUP_ITEMS)).await;
        }
        let stable = host.read(arrays.limits[0]).await.into_iter().fold(f64::INFINITY, f64::min);
        let change = host.read(arrays.limits[1]).await.into_iter().fold(0.0, f64::max);
        clock.advance(stable, change);
    }
    let mut answer = Answer::new();
    for (axis, name) in ["x", "y"].into_iter().enumerate() {
        answer = answer
            .with_array(name, &host, arrays.place[axis])
            .await
            .with_array(format!("velocity-{name}"), &host, arrays.velocity[axis])
            .await;
    }
    answer.with_array("energy", &host, arrays.energy).await.with_array("density", &host, arrays.density).await
}

fn pennant(settings: &Settings) -> Instance {
    let (edge, steps) = (settings.count("zones") as usize, settings.count("steps"));
    let program = Program::new("pennant", move |host| run(host, edge, steps));
    Instance::new(program, move |answer| {
        // The host evaluates the same formulas in the same order, so all bits are equal.
        let mut state = State::new(edge);
        state.run(steps);
        for (axis, name) in ["x", "y"].into_iter().enumerate() {
            answer.expect(name, &state.place[axis])?;
            answer.expect(&format!("velocity-{name}"), &state.velocity[axis])?;
        }
        answer.expect("energy", &state.energy)?;
        answer.expect("density", &state.density)
    })
}
