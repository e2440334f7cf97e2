//! The geometry of a hexahedral element: shape functions, normals, volumes and hourglass modes.
//!
//! The corners 0 to 3 go around the lower face. The corners 4 to 7 go around the upper face in the
//! same way.

use crate::physics::real::Real;

/// One number for each of the eight corners of an element.
pub(super) type Corners<R> = [R; 8];
/// Three coordinates of the eight corners of an element.
pub(super) type Points<R> = [Corners<R>; 3];

/// The derivatives of the eight shape functions along x, y and z, and the determinant of the
/// Jacobian.
pub(super) fn shape_derivatives<R: Real>(p: &Points<R>) -> (Points<R>, R) {
    // The Jacobian has the derivative of each coordinate along the directions xi, eta and zeta.
    let [x, y, z] = [0, 1, 2].map(|axis| {
        let c = &p[axis];
        let (a, b, d, e) = (c[6] - c[0], c[5] - c[3], c[7] - c[1], c[4] - c[2]);
        [(a + b - d - e) * 0.125, (a - b + d - e) * 0.125, (a + b + d + e) * 0.125]
    });
    // The cofactors of the Jacobian.
    let of_x = [y[1] * z[2] - z[1] * y[2], z[0] * y[2] - y[0] * z[2], y[0] * z[1] - z[0] * y[1]];
    let of_y = [z[1] * x[2] - x[1] * z[2], x[0] * z[2] - z[0] * x[2], z[0] * x[1] - x[0] * z[1]];
    let of_z = [x[1] * y[2] - y[1] * x[2], y[0] * x[2] - x[0] * y[2], x[0] * y[1] - y[0] * x[1]];
    let derivatives = [of_x, of_y, of_z].map(|[xi, eta, zeta]| {
        let b = [-xi - eta - zeta, xi - eta - zeta, xi + eta - zeta, -xi + eta - zeta];
        [b[0], b[1], b[2], b[3], -b[2], -b[3], -b[0], -b[1]]
    });
    let determinant = (x[1] * of_x[1] + y[1] * of_y[1] + z[1] * of_z[1]) * 8.0;
    (derivatives, determinant)
}

/// The corners of the six faces. In this order, the normal of each face points outward.
const FACES: [[usize; 4]; 6] =
    [[0, 1, 2, 3], [0, 4, 5, 1], [1, 5, 6, 2], [2, 6, 7, 3], [3, 7, 4, 0], [4, 7, 6, 5]];

/// For each corner, the sum of the normals of the faces around it.
pub(super) fn node_normals<R: Real>(p: &Points<R>) -> Points<R> {
    let mut normals = [[R::splat(0.0); 8]; 3];
    for face in FACES {
        let bisectors = [0, 1, 2].map(|axis| {
            let [a, b, c, d] = face.map(|corner| p[axis][corner]);
            [(d + c - b - a) * 0.5, (c + b - d - a) * 0.5]
        });
        for (axis, normal) in normals.iter_mut().enumerate() {
            let (u, v) = (bisectors[(axis + 1) % 3], bisectors[(axis + 2) % 3]);
            let area = (u[0] * v[1] - v[0] * u[1]) * 0.25;
            face.iter().for_each(|&corner| normal[corner] = normal[corner] + area);
        }
    }
    normals
}

/// For each corner, the six corners whose places determine the derivative of the volume with
/// respect to the place of that corner.
const VOLUME_NEIGHBOURS: [[usize; 6]; 8] = [
    [1, 2, 3, 4, 5, 7],
    [2, 3, 0, 5, 6, 4],
    [3, 0, 1, 6, 7, 5],
    [0, 1, 2, 7, 4, 6],
    [7, 6, 5, 0, 3, 1],
    [4, 7, 6, 1, 0, 2],
    [5, 4, 7, 2, 1, 3],
    [6, 5, 4, 3, 2, 0],
];

/// For each corner, the derivative of the element's volume with respect to the corner's place.
pub(super) fn volume_derivatives<R: Real>(p: &Points<R>) -> Points<R> {
    [0, 1, 2].map(|axis| {
        let (u, v) = (&p[(axis + 1) % 3], &p[(axis + 2) % 3]);
        VOLUME_NEIGHBOURS.map(|[a, b, c, d, e, f]| {
            let pair = |c: &Corners<R>, i: usize, j: usize| c[i] + c[j];
            let sum = pair(u, b, c) * pair(v, a, b) - pair(u, a, b) * pair(v, b, c)
                + pair(u, a, e) * pair(v, d, e)
                - pair(u, d, e) * pair(v, a, e)
                - pair(u, c, f) * pair(v, d, f)
                + pair(u, d, f) * pair(v, c, f);
            sum * (1.0 / 12.0)
        })
    })
}

/// The determinant of the matrix whose rows are the three vectors.
fn determinant<R: Real>(x: [R; 3], y: [R; 3], z: [R; 3]) -> R {
    x[0] * (y[1] * z[2] - z[1] * y[2])
        + x[1] * (z[0] * y[2] - y[0] * z[2])
        + x[2] * (y[0] * z[1] - z[0] * y[1])
}

/// The volume of the element.
pub(super) fn volume<R: Real>(p: &Points<R>) -> R {
    let of = |edges: fn(&Corners<R>) -> [R; 3]| determinant(edges(&p[0]), edges(&p[1]), edges(&p[2]));
    let sum = of(|c| [(c[3] - c[1]) + (c[7] - c[2]), c[6] - c[3], c[2] - c[0]])
        + of(|c| [(c[4] - c[3]) + (c[5] - c[7]), c[6] - c[4], c[7] - c[0]])
        + of(|c| [(c[1] - c[4]) + (c[2] - c[5]), c[6] - c[1], c[5] - c[0]]);
    sum * (1.0 / 12.0)
}

/// The characteristic length of the element, from its volume and its largest face.
pub(super) fn characteristic_length<R: Real>(p: &Points<R>, volume: R) -> R {
    let area = |face: [usize; 4]| {
        let of = |axis: usize| {
            let [a, b, c, d] = face.map(|corner| p[axis][corner]);
            ((c - a) - (d - b), (c - a) + (d - b))
        };
        let (f, g) = ([of(0).0, of(1).0, of(2).0], [of(0).1, of(1).1, of(2).1]);
        let dot = |a: [R; 3], b: [R; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let both = dot(f, g);
        dot(f, f) * dot(g, g) - both * both
    };
    const AROUND: [[usize; 4]; 6] =
        [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
    let largest = AROUND.map(area).into_iter().fold(R::splat(0.0), R::most);
    volume * 4.0 / largest.root()
}

/// The velocity gradient's diagonal: the derivative of each velocity component along its own axis.
pub(super) fn velocity_gradient<R: Real>(
    velocity: &Points<R>,
    derivatives: &Points<R>,
    jacobian: R,
) -> [R; 3] {
    let inverse = R::splat(1.0) / jacobian;
    [0, 1, 2].map(|axis| {
        let (b, v) = (&derivatives[axis], &velocity[axis]);
        inverse * (b[0] * (v[0] - v[6]) + b[1] * (v[1] - v[7]) + b[2] * (v[2] - v[4]) + b[3] * (v[3] - v[5]))
    })
}

/// The four hourglass modes: motions of the corners that do not change the volume. Each mode has a
/// sign for each corner.
const HOURGLASS_MODES: [[f64; 8]; 4] = [
    [1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0],
    [1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0],
    [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0],
];

/// The forces on the corners that damp the hourglass modes, by the method of Flanagan and
/// Belytschko.
pub(super) fn hourglass_forces<R: Real>(
    p: &Points<R>,
    velocity: &Points<R>,
    derivatives: &Points<R>,
    determinant: R,
    coefficient: R,
) -> Points<R> {
    let inverse = R::splat(1.0) / determinant;
    let shapes = HOURGLASS_MODES.map(|mode| {
        let moments = [0, 1, 2].map(|axis| {
            let terms = (0..8).map(|corner| p[axis][corner] * mode[corner]);
            terms.fold(R::splat(0.0), |sum, term| sum + term)
        });
        let shape = |corner: usize| {
            let along = derivatives[0][corner] * moments[0]
                + derivatives[1][corner] * moments[1]
                + derivatives[2][corner] * moments[2];
            -(inverse * along) + mode[corner]
        };
        core::array::from_fn::<R, 8, _>(shape)
    });
    [0, 1, 2].map(|axis| {
        let strengths = shapes.map(|shape| {
            let terms = (0..8).map(|corner| shape[corner] * velocity[axis][corner]);
            terms.fold(R::splat(0.0), |sum, term| sum + term)
        });
        core::array::from_fn(|corner| {
            let terms = shapes.iter().zip(strengths).map(|(shape, strength)| shape[corner] * strength);
            coefficient * terms.fold(R::splat(0.0), |sum, term| sum + term)
        })
    })
}

/// The gradients of the velocity (`delv`) and of the place (`delx`) along the directions xi, eta
/// and zeta. The artificial viscosity uses them.
pub(super) fn viscosity_gradients<R: Real>(
    p: &Points<R>,
    velocity: &Points<R>,
    volume: R,
) -> ([R; 3], [R; 3]) {
    const TINY: f64 = 1e-36;
    let norm = R::splat(1.0) / (volume + TINY);
    // The difference between the means of two opposite faces.
    let across = |c: &Corners<R>, to: [usize; 4], from: [usize; 4]| {
        let [to, from] = [to, from].map(|f| c[f[0]] + c[f[1]] + c[f[2]] + c[f[3]]);
        (to - from) * 0.25
    };
    const PAIRS: [([usize; 4], [usize; 4]); 3] =
        [([1, 2, 6, 5], [0, 3, 7, 4]), ([3, 2, 6, 7], [0, 1, 5, 4]), ([4, 5, 6, 7], [0, 1, 2, 3])];
    let edges = PAIRS.map(|(to, from)| [0, 1, 2].map(|axis| across(&p[axis], to, from)));
    let (mut delv, mut delx) = ([R::splat(0.0); 3], [R::splat(0.0); 3]);
    for along in 0..3 {
        let (u, v) = (edges[(along + 1) % 3], edges[(along + 2) % 3]);
        let area = [0, 1, 2].map(|axis| {
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            u[b] * v[c] - u[c] * v[b]
        });
        let square = area[0] * area[0] + area[1] * area[1] + area[2] * area[2] + TINY;
        delx[along] = volume / square.root();
        let (to, from) = PAIRS[along];
        let change = [0, 1, 2].map(|axis| across(&velocity[axis], to, from));
        delv[along] = area[0] * norm * change[0] + area[1] * norm * change[1] + area[2] * norm * change[2];
    }
    (delv, delx)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corners of a box whose edges have the lengths `a`, `b` and `c`.
    fn block(a: f64, b: f64, c: f64) -> Points<f64> {
        [[0.0, a, a, 0.0, 0.0, a, a, 0.0], [0.0, 0.0, b, b, 0.0, 0.0, b, b], [0.0, 0.0, 0.0, 0.0, c, c, c, c]]
    }

    #[test]
    fn the_volume_of_a_box_is_the_product_of_its_edges() {
        let p = block(2.0, 3.0, 5.0);
        assert!((volume(&p) - 30.0).abs() < 1e-12);
        assert!((shape_derivatives(&p).1 - 30.0).abs() < 1e-12);
        assert!((characteristic_length(&p, 30.0) - 4.0 * 30.0 / 60.0).abs() < 1e-12);
    }

    #[test]
    fn the_derivatives_of_the_volume_agree_with_differences() {
        let mut p = block(1.0, 1.5, 2.0);
        p[0][6] = 1.2;
        p[1][4] = -0.3;
        let derivatives = volume_derivatives(&p);
        for axis in 0..3 {
            for corner in 0..8 {
                let (mut less, mut more) = (p, p);
                less[axis][corner] -= 1e-4;
                more[axis][corner] += 1e-4;
                let slope = (volume(&more) - volume(&less)) / 2e-4;
                let found = derivatives[axis][corner];
                assert!((slope - found).abs() < 1e-8, "{axis} {corner}: {slope}, not {found}");
            }
        }
    }

    #[test]
    fn normals_of_a_closed_surface_cancel() {
        let normals = node_normals(&block(1.0, 2.0, 3.0));
        for normal in normals {
            assert!(normal.iter().sum::<f64>().abs() < 1e-12);
        }
        assert!(normals[0][0] < 0.0 && normals[0][6] > 0.0);
    }

    #[test]
    fn rigid_motion_has_no_hourglass_force_and_no_gradient() {
        let p = block(1.0, 1.0, 1.0);
        let v = [[0.5; 8], [-1.0; 8], [2.0; 8]];
        let (b, jacobian) = shape_derivatives(&p);
        assert!(velocity_gradient(&v, &b, jacobian).iter().all(|d| d.abs() < 1e-12));
        let forces = hourglass_forces(&p, &v, &volume_derivatives(&p), 1.0, -1.0);
        assert!(forces.iter().flatten().all(|f| f.abs() < 1e-12));
    }
}
