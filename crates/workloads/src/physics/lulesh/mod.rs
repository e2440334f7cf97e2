//! LULESH: the Sedov blast problem on an unstructured mesh of hexahedra.
//!
//! A time step of the Lagrangian method moves the nodes by the forces of stress and of the
//! hourglass control. It then updates the volume, viscosity, energy and pressure of the elements.
//! The kernels are the loops of LULESH 2.0 in the same order, with a single region (in which all
//! elements are of one material). As in the threaded versions of LULESH, the forces of corners are
//! stored in memory, and each node adds the forces of its corners. The temporary values of the
//! equation of state are arrays in memory, and most kernels read arrays that the kernel before them
//! wrote.
//!
//! The three normal stresses are equal, so one array holds all of them. The deviatoric strains are
//! not computed, because no later loop reads them.

mod domain;
mod element;
mod kernels;
mod material;
mod mesh;
mod reference;

use std::rc::Rc;

use kernel::prelude::*;

use super::grid_of;
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};
use domain::{Domain, GROUP_ITEMS};
use material::{Clock, STOP, UNBOUNDED};
use mesh::Mesh;
use reference::State;

pub(crate) static LULESH: Workload = Workload {
    name: "lulesh",
    summary: "a blast wave in shock hydrodynamics on a mesh of hexahedra, 26 kernels a step",
    origin: "LULESH 2.0 (LLNL-TR-490254); STC paper (TACO 2023), section 7; Dalmia's thesis (2023)",
    room: Room::Physics,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("cells", "3"), ("steps", "2")],
        small: &[],
        // With 130 steps, there are 3,380 launches, as in the STC paper. Dalmia's thesis uses 10
        // cells.
        paper: &[("cells", "10"), ("steps", "130")],
    },
    settings: &[
        Setting::count("cells", 8, 1, 64, "number of elements along an edge of the cube"),
        Setting::count(
            "steps",
            5,
            1,
            2000,
            "maximum number of time steps; the run also ends at the end time of the problem",
        ),
    ],
    make: |settings, _| Ok(lulesh(settings)),
};

async fn launch_all(host: &Host, kernels: impl IntoIterator<Item = (Kernel, u64)>) {
    for (kernel, items) in kernels {
        host.launch(kernel, grid_of(&host.shape(), items, GROUP_ITEMS)).await;
    }
}

async fn run(host: Host, cells: usize, steps: u64) -> Answer {
    let mesh = Mesh::new(cells);
    let domain = Rc::new(Domain::alloc(&host, &mesh));
    domain.write(&host, &mesh).await;
    let mut clock = Clock { time: 0.0, dt: mesh.first_dt, cycle: 0 };
    let mut limits = [UNBOUNDED; 2];
    while clock.time < STOP && clock.cycle < steps {
        clock.advance(limits[0], limits[1]);
        launch_all(&host, domain.node_kernels(clock.dt)).await;
        let of_elements = domain.element_kernels(clock.dt).into_iter();
        launch_all(&host, of_elements.map(|kernel| (kernel, domain.elements))).await;
        for (limit, array) in limits.iter_mut().zip(domain.limits) {
            *limit = host.read(array).await.into_iter().fold(UNBOUNDED, f64::min);
        }
    }
    Answer::new()
        .with_array("energy", &host, domain.e)
        .await
        .with_array("pressure", &host, domain.p)
        .await
        .with_array("viscosity", &host, domain.q)
        .await
        .with_array("volume", &host, domain.v)
        .await
        .with_array("x", &host, domain.place[0])
        .await
        .with_array("y", &host, domain.place[1])
        .await
        .with_array("z", &host, domain.place[2])
        .await
}

fn lulesh(settings: &Settings) -> Instance {
    let (cells, steps) = (settings.count("cells") as usize, settings.count("steps"));
    let program = Program::new("lulesh", move |host| run(host, cells, steps));
    Instance::new(program, move |answer| {
        // The host evaluates the same formulas in the same order, so all bits are equal.
        let mut state = State::new(cells);
        state.run(steps);
        answer.expect("energy", &state.e)?;
        answer.expect("pressure", &state.p)?;
        answer.expect("viscosity", &state.q)?;
        answer.expect("volume", &state.v)?;
        let [x, y, z] = &state.place;
        answer.expect("x", x)?;
        answer.expect("y", y)?;
        answer.expect("z", z)
    })
}
