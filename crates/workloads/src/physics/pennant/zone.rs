//! The formulas of one zone: geometry, state, forces and work.
//!
//! A zone is a polygon with four sides. Side `i` leads from point `i` to the next one, and corner
//! `i` lies between side `i - 1` and side `i`.

use crate::physics::real::Real;

/// A vector with two coordinates.
pub(super) type Pair<R> = [R; 2];
/// Four vectors: one for each point, side or corner of a zone.
pub(super) type Four<R> = [Pair<R>; 4];

/// The adiabatic exponent of the gas.
const GAMMA: f64 = 5.0 / 3.0;
/// The coefficient of the linear viscosity. The next constant, `QUADRATIC`, is the coefficient of
/// the quadratic viscosity.
const LINEAR: f64 = 0.1;
const QUADRATIC: f64 = 1.0;
/// The coefficient of the forces of subzones. A subzone is a triangle of a zone, used to keep the
/// zone in shape.
const SUBZONE: f64 = 0.5;
/// The smallest speed of sound. This speed replaces any smaller one.
pub(super) const SPEED_MIN: f64 = 1e-3;

fn add<R: Real>(a: Pair<R>, b: Pair<R>) -> Pair<R> {
    [a[0] + b[0], a[1] + b[1]]
}

fn sub<R: Real>(a: Pair<R>, b: Pair<R>) -> Pair<R> {
    [a[0] - b[0], a[1] - b[1]]
}

fn scaled<R: Real>(a: Pair<R>, by: R) -> Pair<R> {
    [a[0] * by, a[1] * by]
}

fn half<R: Real>(a: Pair<R>) -> Pair<R> {
    [a[0] * 0.5, a[1] * 0.5]
}

fn dot<R: Real>(a: Pair<R>, b: Pair<R>) -> R {
    a[0] * b[0] + a[1] * b[1]
}

fn cross<R: Real>(a: Pair<R>, b: Pair<R>) -> R {
    a[0] * b[1] - a[1] * b[0]
}

fn length<R: Real>(a: Pair<R>) -> R {
    dot(a, a).root()
}

/// The mean of the four points of a zone.
fn centre<R: Real>(p: &Four<R>) -> Pair<R> {
    let sum = add(add(p[0], p[1]), add(p[2], p[3]));
    [sum[0] * 0.25, sum[1] * 0.25]
}

/// The middle point of each side of a zone.
fn middles<R: Real>(p: &Four<R>) -> Four<R> {
    core::array::from_fn(|side| half(add(p[side], p[(side + 1) % 4])))
}

/// The length of each side of a zone.
fn lengths<R: Real>(p: &Four<R>) -> [R; 4] {
    core::array::from_fn(|side| length(sub(p[(side + 1) % 4], p[side])))
}

/// The areas of the triangles between each side and the centre of a zone, the area of the zone, and
/// its characteristic length.
pub(super) fn geometry<R: Real>(p: &Four<R>) -> ([R; 4], R, R) {
    let centre = centre(p);
    let areas: [R; 4] =
        core::array::from_fn(|side| cross(sub(p[(side + 1) % 4], p[side]), sub(centre, p[side])) * 0.5);
    let heights: [R; 4] = {
        let lengths = lengths(p);
        core::array::from_fn(|side| areas[side] * 4.0 / lengths[side])
    };
    let area = areas[0] + areas[1] + areas[2] + areas[3];
    (areas, area, heights[0].least(heights[1]).least(heights[2]).least(heights[3]))
}

/// For each side, the vector from the centre of the zone to the middle of the side, turned by 90
/// degrees.
fn surfaces<R: Real>(p: &Four<R>) -> Four<R> {
    let centre = centre(p);
    middles(p).map(|middle| {
        let [x, y] = sub(middle, centre);
        [-y, x]
    })
}

/// The state of a zone at the beginning of a step.
#[derive(Clone, Copy)]
pub(super) struct Start<R> {
    pub(super) mass: R,
    pub(super) energy: R,
    pub(super) density: R,
    pub(super) area: R,
    pub(super) work_rate: R,
}

/// The pressure of a zone at half the time step, and its speed of sound.
pub(super) fn state_half<R: Real>(start: Start<R>, area_half: R, dt: f64) -> (R, R) {
    let Start { mass, energy, density, area, work_rate } = start;
    let zero = R::splat(0.0);
    let energy = energy.most(zero);
    let pressure = density * energy * (GAMMA - 1.0);
    let by_density = energy * (GAMMA - 1.0);
    let by_energy = density * (GAMMA - 1.0);
    let square = by_density + by_energy * pressure / (density * density);
    let speed = square.most(R::splat(SPEED_MIN * SPEED_MIN)).root();
    let change = (area_half - area) / mass;
    let bulk = density * speed * speed;
    let denominator = by_energy * 0.5 * change + 1.0;
    let source = work_rate * (0.5 * dt) / mass;
    (pressure + (by_energy * source - density * bulk * change) / denominator, speed)
}

/// The forces on the sides of a zone by its pressure and its subzones (the triangles of the sides).
pub(super) fn side_forces<R: Real>(
    p: &Four<R>,
    fractions: [R; 4],
    (areas, area): ([R; 4], R),
    (pressure, density, speed): (R, R, R),
) -> Four<R> {
    let surfaces = surfaces(p);
    core::array::from_fn(|side| {
        let subzone = density * fractions[side] * (area / areas[side]);
        let excess = speed * speed * (subzone - density) * SUBZONE;
        scaled(surfaces[side], -(pressure + excess))
    })
}

/// The compression at a corner of a zone. `width` and `change` are zero if the corner expands.
#[derive(Clone, Copy)]
pub(super) struct Corner<R> {
    /// The length over which the viscosity acts.
    pub(super) width: R,
    /// The magnitude of the difference of velocities at the corner.
    pub(super) change: R,
    /// The weight of the corner's viscous forces.
    pub(super) weight: R,
    /// The cosine of the angle between the two sides at the corner.
    pub(super) cosine: R,
}

/// The compression at each corner of a zone.
pub(super) fn compressions<R: Real>(p: &Four<R>, u: &Four<R>) -> [Corner<R>; 4] {
    let (x2, u2) = (centre(p), centre(u));
    let (middles, means, lengths) = (middles(p), middles(u), lengths(p));
    core::array::from_fn(|corner| {
        let before = (corner + 3) % 4;
        let (x0, x1, x3) = (p[corner], middles[corner], middles[before]);
        let (u0, u1, u3) = (u[corner], means[corner], means[before]);
        let area = cross(sub(x2, x0), sub(x3, x1)) * 0.5;
        let least = lengths[before].least(lengths[corner]);
        let cosine = dot(sub(x3, x0), sub(x1, x0)) * 4.0 / (lengths[before] * lengths[corner]);
        let divergence = (cross(sub(u2, u0), sub(x3, x1)) - cross(sub(u3, u1), sub(x2, x0))) / (area * 2.0);
        let one = half(sub(add(x1, x2), add(x0, x3)));
        let other = half(sub(add(x2, x3), add(x0, x1)));
        let (one_length, other_length) = (length(one), length(other));
        let sum = add(add(u0, u1), add(u2, u3));
        let along = (dot(one, sum) * other_length).magnitude() - (dot(other, sum) * one_length).magnitude();
        let ratio = along.if_above(0.0, one_length / other_length, other_length / one_length);
        let width = (area * 4.0 * ratio).root().least(least * 2.0);
        let first = sub(add(u1, u2), add(u0, u3));
        let second = sub(add(u2, u3), add(u0, u1));
        let change = dot(first, first).most(dot(second, second)).root();
        let zero = R::splat(0.0);
        let sine = -(cosine * cosine) + 1.0;
        Corner {
            width: divergence.if_below(0.0, width, zero),
            change: divergence.if_below(0.0, change, zero),
            weight: sine.if_below(1e-4, zero, area / sine),
            cosine: sine.if_below(1e-4, zero, cosine),
        }
    })
}

/// The viscous forces on the sides of a zone.
pub(super) fn viscous_forces<R: Real>(
    p: &Four<R>,
    u: &Four<R>,
    corners: &[Corner<R>; 4],
    (density, speed): (R, R),
) -> Four<R> {
    let lengths = lengths(p);
    // For each corner, two forces: along the side before it and along the side after it.
    let forces: [[Pair<R>; 2]; 4] = core::array::from_fn(|corner| {
        let (before, after) = ((corner + 3) % 4, (corner + 1) % 4);
        let quadratic = corners[corner].change * (QUADRATIC * 0.25 * (GAMMA + 1.0));
        let linear = speed * LINEAR;
        let strength = quadratic + (quadratic * quadratic + linear * linear).root();
        let viscosity = strength * density * corners[corner].width;
        [
            scaled(sub(u[corner], u[before]), viscosity / lengths[before]),
            scaled(sub(u[after], u[corner]), viscosity / lengths[corner]),
        ]
    });
    core::array::from_fn(|side| {
        let (here, next) = (side, (side + 1) % 4);
        let at = |corner: usize, own: Pair<R>, other: Pair<R>| {
            let Corner { weight, cosine, .. } = corners[corner];
            scaled(add(own, scaled(other, cosine)), weight)
        };
        let sum = add(at(here, forces[here][1], forces[here][0]), at(next, forces[next][0], forces[next][1]));
        scaled(sum, R::splat(1.0) / lengths[side])
    })
}

/// The force on each corner of a zone, from the forces on its two sides.
pub(super) fn corner_forces<R: Real>(sides: &Four<R>) -> Four<R> {
    core::array::from_fn(|corner| sub(sides[corner], sides[(corner + 3) % 4]))
}

/// The work on a zone in a time step, from the forces on its sides and the velocities of its points
/// before and after the step.
pub(super) fn work<R: Real>(sides: &Four<R>, before: &Four<R>, after: &Four<R>, dt: f64) -> R {
    let mut sum = R::splat(0.0);
    for side in 0..4 {
        let next = (side + 1) % 4;
        let (here, there) = (add(before[side], after[side]), add(before[next], after[next]));
        sum = sum + dot(sides[side], sub(here, there));
    }
    -(sum * (0.5 * dt))
}

/// The longest stable time step of a zone, and the relative change of its area in the last step.
pub(super) fn limits<R: Real>(p: &Four<R>, u: &Four<R>, width: R, speed: R, areas: (R, R)) -> (R, R) {
    let lengths = lengths(p);
    let mut fastest = R::splat(0.0);
    for side in 0..4 {
        let next = (side + 1) % 4;
        let along = dot(sub(u[next], u[side]), sub(p[next], p[side])).magnitude() / lengths[side];
        fastest = fastest.most(along);
    }
    let viscous = speed * LINEAR + fastest * (2.0 * QUADRATIC);
    (width * 0.6 / viscous.most(speed), ((areas.1 - areas.0) / areas.0).magnitude())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: Four<f64> = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];

    #[test]
    fn a_square_has_its_area_and_equal_sides() {
        let (areas, area, width) = geometry(&SQUARE);
        assert_eq!((areas, area, width), ([1.0; 4], 4.0, 2.0));
    }

    #[test]
    fn uniform_pressure_and_rigid_motion_do_not_change_the_zone() {
        let forces = side_forces(&SQUARE, [0.25; 4], ([1.0; 4], 4.0), (3.0, 1.0, 1.0));
        let corners = corner_forces(&forces);
        let sum = corners.into_iter().fold([0.0; 2], add);
        assert_eq!(sum, [0.0, 0.0]);
        // The pressure of the zone pushes its corner at the origin away from the zone.
        assert!(corners[0][0] < 0.0 && corners[0][1] < 0.0, "{corners:?}");
        let still = [[0.3, -0.2]; 4];
        let compressed = compressions(&SQUARE, &still);
        let viscous = viscous_forces(&SQUARE, &still, &compressed, (1.0, 1.0));
        assert!(viscous.iter().flatten().all(|force| *force == 0.0));
        assert!(work(&forces, &still, &still, 1.0).abs() < 1e-15);
    }

    #[test]
    fn viscosity_resists_compression_only() {
        let inward: Four<f64> = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
        let outward = inward.map(|[x, y]| [-x, -y]);
        let of =
            |u: &Four<f64>| corner_forces(&viscous_forces(&SQUARE, u, &compressions(&SQUARE, u), (1.0, 1.0)));
        assert!(of(&inward)[0].iter().all(|force| *force < 0.0));
        assert!(of(&outward).iter().flatten().all(|force| *force == 0.0));
    }
}
