//! The arrays of the Sedov problem in the memory of the machine.

use kernel::{Array, Host, Shape};

use super::mesh::Mesh;

/// The number of work-items in a work-group.
pub(super) const GROUP_ITEMS: u64 = 64;

/// The arrays of the problem. An array of elements or of nodes has one entry for each element or
/// node of the mesh. An array of corners has eight entries for each element: first those for corner
/// 0 of all elements, then those for corner 1 of all elements, and so on.
#[derive(Debug)]
pub(super) struct Domain {
    pub(super) elements: u64,
    pub(super) node_count: u64,
    /// The node at each corner of each element. This array and the next four are those of [`Mesh`].
    pub(super) nodes: Array<u32>,
    pub(super) first_corner: Array<u32>,
    pub(super) corners: Array<u32>,
    pub(super) neighbours: [Array<u32>; 6],
    pub(super) symmetry: [Array<u32>; 3],
    // Arrays of nodes.
    pub(super) place: [Array<f64>; 3],
    pub(super) velocity: [Array<f64>; 3],
    pub(super) acceleration: [Array<f64>; 3],
    pub(super) force: [Array<f64>; 3],
    pub(super) nodal_mass: Array<f64>,
    // Arrays of corners.
    pub(super) corner_force: [Array<f64>; 3],
    pub(super) corner_place: [Array<f64>; 3],
    pub(super) derivatives: [Array<f64>; 3],
    // Arrays of elements: their state, which lasts from step to step.
    pub(super) volume: Array<f64>,
    pub(super) mass: Array<f64>,
    pub(super) e: Array<f64>,
    pub(super) p: Array<f64>,
    pub(super) q: Array<f64>,
    pub(super) v: Array<f64>,
    pub(super) speed: Array<f64>,
    // Arrays of elements: values that are used only within one step.
    pub(super) stress: Array<f64>,
    pub(super) determinant: Array<f64>,
    pub(super) vnew: Array<f64>,
    pub(super) delv: Array<f64>,
    pub(super) vdov: Array<f64>,
    pub(super) length: Array<f64>,
    pub(super) delv_along: [Array<f64>; 3],
    pub(super) delx_along: [Array<f64>; 3],
    pub(super) linear: Array<f64>,
    pub(super) quadratic: Array<f64>,
    pub(super) clamped: Array<f64>,
    pub(super) compression: Array<f64>,
    pub(super) compression_half: Array<f64>,
    pub(super) e_old: Array<f64>,
    pub(super) p_old: Array<f64>,
    pub(super) q_old: Array<f64>,
    pub(super) e_new: Array<f64>,
    pub(super) p_new: Array<f64>,
    pub(super) q_new: Array<f64>,
    pub(super) p_half: Array<f64>,
    pub(super) bvc: Array<f64>,
    /// For each wavefront, the smallest Courant limit and the smallest hydrodynamic limit of its
    /// elements.
    pub(super) limits: [Array<f64>; 2],
}

/// Allocates three arrays, one for each axis.
fn axes(host: &Host, name: &str, len: u64) -> [Array<f64>; 3] {
    ["x", "y", "z"].map(|axis| host.alloc(format!("{name}-{axis}"), len))
}

impl Domain {
    /// Allocates the arrays for this mesh.
    pub(super) fn alloc(host: &Host, mesh: &Mesh) -> Domain {
        let (elements, node_count) = (mesh.elements() as u64, mesh.node_count() as u64);
        let of_elements = |name: &str| host.alloc::<f64>(name, elements);
        let waves = waves(&host.shape(), elements);
        Domain {
            elements,
            node_count,
            nodes: host.alloc("nodes", 8 * elements),
            first_corner: host.alloc("first-corner", node_count + 1),
            corners: host.alloc("corners", 8 * elements),
            neighbours: ["x-before", "x-after", "y-before", "y-after", "z-before", "z-after"]
                .map(|name| host.alloc(name, elements)),
            symmetry: [0, 1, 2]
                .map(|axis: usize| host.alloc(format!("symmetry-{axis}"), mesh.symmetry[axis].len() as u64)),
            place: axes(host, "place", node_count),
            velocity: axes(host, "velocity", node_count),
            acceleration: axes(host, "acceleration", node_count),
            force: axes(host, "force", node_count),
            nodal_mass: host.alloc("nodal-mass", node_count),
            corner_force: axes(host, "corner-force", 8 * elements),
            corner_place: axes(host, "corner-place", 8 * elements),
            derivatives: axes(host, "volume-derivative", 8 * elements),
            volume: of_elements("volume"),
            mass: of_elements("mass"),
            e: of_elements("energy"),
            p: of_elements("pressure"),
            q: of_elements("viscosity"),
            v: of_elements("relative-volume"),
            speed: of_elements("sound-speed"),
            stress: of_elements("stress"),
            determinant: of_elements("determinant"),
            vnew: of_elements("new-volume"),
            delv: of_elements("volume-change"),
            vdov: of_elements("volume-rate"),
            length: of_elements("length"),
            delv_along: axes(host, "velocity-gradient", elements),
            delx_along: axes(host, "place-gradient", elements),
            linear: of_elements("linear-viscosity"),
            quadratic: of_elements("quadratic-viscosity"),
            clamped: of_elements("clamped-volume"),
            compression: of_elements("compression"),
            compression_half: of_elements("half-compression"),
            e_old: of_elements("old-energy"),
            p_old: of_elements("old-pressure"),
            q_old: of_elements("old-viscosity"),
            e_new: of_elements("new-energy"),
            p_new: of_elements("new-pressure"),
            q_new: of_elements("new-viscosity"),
            p_half: of_elements("half-pressure"),
            bvc: of_elements("pressure-factor"),
            limits: ["courant-limits", "hydro-limits"].map(|name| host.alloc(name, waves)),
        }
    }

    /// Writes the mesh and the initial state to the arrays.
    pub(super) async fn write(&self, host: &Host, mesh: &Mesh) {
        host.write(self.nodes, &mesh.nodes).await;
        host.write(self.first_corner, &mesh.first_corner).await;
        host.write(self.corners, &mesh.corners).await;
        for (array, values) in self.neighbours.into_iter().zip(&mesh.neighbours) {
            host.write(array, values).await;
        }
        for axis in 0..3 {
            host.write(self.symmetry[axis], &mesh.symmetry[axis]).await;
            host.write(self.place[axis], &mesh.place[axis]).await;
        }
        host.write(self.nodal_mass, &mesh.nodal_mass).await;
        host.write(self.volume, &mesh.volume).await;
        host.write(self.mass, &mesh.volume).await;
        host.write(self.v, &vec![1.0; mesh.elements()]).await;
        host.write(self.e, &[mesh.origin_energy]).await;
    }
}

/// The number of wavefronts in a grid that has a work-item for each element.
fn waves(shape: &Shape, elements: u64) -> u64 {
    let grid = crate::physics::grid_of(shape, elements, GROUP_ITEMS);
    u64::from(grid.work_groups) * u64::from(grid.waves)
}
