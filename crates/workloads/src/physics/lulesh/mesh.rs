//! The mesh of the Sedov problem: a cube of hexahedral elements, and its initial state.

use super::element::{Points, volume};

/// Numbers that stand for a missing neighbour of an element. The element has no neighbour there
/// because one of its faces lies on the edge of the mesh.
pub(super) mod edge {
    /// The face of the element is on a plane of symmetry. The gradient beyond the plane equals the
    /// gradient of the element.
    pub(crate) const SYMMETRY: u32 = u32::MAX;
    /// The face of the element is a free surface. The gradient beyond the surface is zero.
    pub(crate) const FREE: u32 = u32::MAX - 1;
}

/// The mesh and the state at the start: places of nodes, connectivity, volumes and energy.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    /// The nodes of each element. Corner `c` of element `e` has the index `c * elements + e`.
    pub(super) nodes: Vec<u32>,
    /// For each node, the index in `corners` of its first corner.
    pub(super) first_corner: Vec<u32>,
    /// For each node, the corners of elements that lie at this node, as indices in `nodes`.
    pub(super) corners: Vec<u32>,
    /// The neighbours of each element before and after it along x, y and z. Each of the six lists
    /// has an entry for each element.
    pub(super) neighbours: [Vec<u32>; 6],
    /// The nodes on the planes of symmetry x = 0, y = 0 and z = 0.
    pub(super) symmetry: [Vec<u32>; 3],
    pub(super) place: [Vec<f64>; 3],
    /// The volume of each element, which is also its mass.
    pub(super) volume: Vec<f64>,
    pub(super) nodal_mass: Vec<f64>,
    /// The initial energy of the element at the origin. All other elements begin with zero energy.
    pub(super) origin_energy: f64,
    /// The length of the first time step.
    pub(super) first_dt: f64,
}

/// The length of an edge of the cube.
const EDGE: f64 = 1.125;
/// The initial energy of the element at the origin, for a cube with 45 elements along an edge.
const ENERGY_OF_45: f64 = 3.948_746e7;

impl Mesh {
    /// The mesh with `cells` elements along each edge of the cube.
    pub(super) fn new(cells: usize) -> Mesh {
        let side = cells + 1;
        let elements = cells * cells * cells;
        let mut nodes = vec![0; 8 * elements];
        for (element, [x, y, z]) in
            (0..elements).map(|e| (e, [e % cells, e / cells % cells, e / cells / cells]))
        {
            let first = (z * side + y) * side + x;
            let of_face = [first, first + 1, first + side + 1, first + side];
            for corner in 0..8 {
                let node = of_face[corner % 4] + corner / 4 * side * side;
                nodes[corner * elements + element] = node as u32;
            }
        }
        let place = [0, 1, 2].map(|axis| {
            let index = |node: usize| [node % side, node / side % side, node / side / side][axis];
            (0..side * side * side).map(|node| EDGE * index(node) as f64 / cells as f64).collect()
        });
        let mut mesh = Mesh {
            nodes,
            first_corner: Vec::new(),
            corners: Vec::new(),
            neighbours: neighbours(cells),
            symmetry: symmetry(side),
            place,
            volume: Vec::new(),
            nodal_mass: vec![0.0; side * side * side],
            origin_energy: ENERGY_OF_45
                * (cells as f64 / 45.0)
                * (cells as f64 / 45.0)
                * (cells as f64 / 45.0),
            first_dt: 0.0,
        };
        mesh.list_corners();
        mesh.volume = (0..elements).map(|element| volume(&mesh.points_of(element))).collect();
        for (at, node) in mesh.nodes.iter().enumerate() {
            mesh.nodal_mass[*node as usize] += mesh.volume[at % elements] / 8.0;
        }
        mesh.first_dt = 0.5 * libm::cbrt(mesh.volume[0]) / (2.0 * mesh.origin_energy).sqrt();
        mesh
    }

    /// The number of elements.
    pub(super) fn elements(&self) -> usize {
        self.nodes.len() / 8
    }

    /// The number of nodes.
    pub(super) fn node_count(&self) -> usize {
        self.nodal_mass.len()
    }

    /// The places of the eight corners of an element.
    fn points_of(&self, element: usize) -> Points<f64> {
        let elements = self.elements();
        [0, 1, 2].map(|axis| {
            core::array::from_fn(|corner| self.place[axis][self.nodes[corner * elements + element] as usize])
        })
    }

    /// Fills the lists of the corners that lie at each node, in the order of their elements.
    fn list_corners(&mut self) {
        let elements = self.elements();
        let mut of_node = vec![Vec::new(); self.node_count()];
        for element in 0..elements {
            for corner in 0..8 {
                let at = corner * elements + element;
                of_node[self.nodes[at] as usize].push(at as u32);
            }
        }
        self.first_corner.push(0);
        for corners in of_node {
            self.corners.extend(corners);
            self.first_corner.push(self.corners.len() as u32);
        }
    }
}

/// For each element, its neighbours before and after it along each axis.
fn neighbours(cells: usize) -> [Vec<u32>; 6] {
    let stride = [1, cells, cells * cells];
    core::array::from_fn(|face| {
        let (step, is_after) = (stride[face / 2], face % 2 == 1);
        let of = |element: usize| match (element / step % cells, is_after) {
            (0, false) => edge::SYMMETRY,
            (last, true) if last == cells - 1 => edge::FREE,
            (_, false) => (element - step) as u32,
            (_, true) => (element + step) as u32,
        };
        (0..cells * cells * cells).map(of).collect()
    })
}

/// The nodes on each of the three planes of symmetry.
fn symmetry(side: usize) -> [Vec<u32>; 3] {
    let nodes = 0..(side * side * side) as u32;
    [1, side as u32, (side * side) as u32]
        .map(|step| nodes.clone().filter(|node| node / step % side as u32 == 0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mesh_fills_the_cube() {
        let mesh = Mesh::new(3);
        assert_eq!((mesh.elements(), mesh.node_count()), (27, 64));
        let volume: f64 = mesh.volume.iter().sum();
        assert!((volume - EDGE * EDGE * EDGE).abs() < 1e-12, "{volume}");
        let mass: f64 = mesh.nodal_mass.iter().sum();
        assert!((mass - volume).abs() < 1e-12, "{mass}");
        assert_eq!(mesh.symmetry.each_ref().map(Vec::len), [16, 16, 16]);
        // A corner of the cube belongs to one element, and its centre node to eight.
        let corners = |node: usize| mesh.first_corner[node + 1] - mesh.first_corner[node];
        assert_eq!((corners(0), corners(21), corners(63)), (1, 8, 1));
        assert_eq!((mesh.neighbours[0][0], mesh.neighbours[1][0]), (edge::SYMMETRY, 1));
        assert_eq!((mesh.neighbours[4][13], mesh.neighbours[5][26]), (4, edge::FREE));
    }
}
