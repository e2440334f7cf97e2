//! The material: artificial viscosity, the equation of state and the limits of the time step.

use crate::physics::real::Real;

/// An energy with a smaller magnitude counts as zero. The next four constants are such limits for
/// the pressure, the viscosity, the volume (minus 1) and the velocity.
const ENERGY_CUT: f64 = 1e-7;
const PRESSURE_CUT: f64 = 1e-7;
const VISCOSITY_CUT: f64 = 1e-7;
const VOLUME_CUT: f64 = 1e-10;
const VELOCITY_CUT: f64 = 1e-7;
/// The smallest relative volume of an element. The next two constants are the largest relative
/// volume and the smallest energy.
const VOLUME_MIN: f64 = 1e-9;
const VOLUME_MAX: f64 = 1e9;
const ENERGY_MIN: f64 = -1e15;
/// The coefficient of the linear viscosity. The next constant, `QUADRATIC`, is the coefficient of
/// the quadratic viscosity.
const LINEAR: f64 = 0.5;
const QUADRATIC: f64 = 2.0 / 3.0;
/// The factor of the quadratic viscosity in the Courant limit: 64 times the square of the
/// coefficient 2.
const COURANT: f64 = 64.0 * 2.0 * 2.0;
/// The maximum relative change of an element's volume in a time step.
const VOLUME_CHANGE_MAX: f64 = 0.1;
/// The limit of the time step if no element limits it.
pub(super) const UNBOUNDED: f64 = 1e20;
const TINY: f64 = 1e-36;

/// `value`, or zero if its magnitude is below `cut`.
fn cut<R: Real>(value: R, cut: f64) -> R {
    value.magnitude().if_below(cut, R::splat(0.0), value)
}

/// A component of a node's velocity after a time step.
pub(super) fn velocity<R: Real>(velocity: R, acceleration: R, dt: f64) -> R {
    cut(velocity + acceleration * dt, VELOCITY_CUT)
}

/// The relative volume of an element after a time step. A volume that is very close to 1 becomes 1.
pub(super) fn settled_volume<R: Real>(v: R) -> R {
    (v - 1.0).magnitude().if_below(VOLUME_CUT, R::splat(1.0), v)
}

/// The relative volume, restricted to the bounds of the equation of state.
pub(super) fn clamped_volume<R: Real>(v: R) -> R {
    v.most(R::splat(VOLUME_MIN)).least(R::splat(VOLUME_MAX))
}

/// The monotonic limiter along one direction, from the velocity gradients of the element and of its
/// two neighbours.
pub(super) fn limiter<R: Real>(here: R, before: R, after: R) -> R {
    let norm = R::splat(1.0) / (here + TINY);
    let (before, after) = (before * norm, after * norm);
    let phi = (before + after) * 0.5;
    let phi = phi.least(before * 2.0).least(after * 2.0);
    phi.most(R::splat(0.0)).least(R::splat(1.0))
}

/// The linear part and the quadratic part of the viscosity of an element.
pub(super) fn viscosity<R: Real>(phi: [R; 3], delv: [R; 3], delx: [R; 3], density: R, vdov: R) -> (R, R) {
    let zero = R::splat(0.0);
    let changes = [0, 1, 2].map(|along: usize| (delv[along] * delx[along]).least(zero));
    let one = R::splat(1.0);
    let (mut linear, mut quadratic) = (zero, zero);
    for (change, phi) in changes.into_iter().zip(phi) {
        linear = linear + change * (one - phi);
        quadratic = quadratic + change * change * (one - phi * phi);
    }
    let (linear, quadratic) = (-(density * linear * LINEAR), density * quadratic * QUADRATIC);
    (vdov.if_above(0.0, zero, linear), vdov.if_above(0.0, zero, quadratic))
}

/// The compression of an element at the end of a time step, and at half the step.
pub(super) fn compressions<R: Real>(v: R, delv: R) -> (R, R) {
    let one = R::splat(1.0);
    let half = one / (v - delv * 0.5) - 1.0;
    let whole = one / v - 1.0;
    (whole, v.if_above(VOLUME_MIN, half, whole))
}

/// The pressure `p` of an element, and the coefficient `bvc`, from which the speed of sound is
/// computed.
pub(super) struct Pressure<R> {
    pub(super) p: R,
    pub(super) bvc: R,
}

/// The factor of the compression in the equation of state.
const C1S: f64 = 2.0 / 3.0;

/// The pressure of an element, which is an ideal gas, from its energy and its compression.
pub(super) fn pressure<R: Real>(energy: R, compression: R) -> Pressure<R> {
    let bvc = (compression + 1.0) * C1S;
    let p = cut(bvc * energy, PRESSURE_CUT);
    Pressure { p: p.most(R::splat(0.0)), bvc }
}

/// The speed of sound in an element.
pub(super) fn sound_speed<R: Real>(energy: R, volume: R, bvc: R, p: R) -> R {
    let square = energy * C1S + volume * volume * bvc * p;
    square.if_above(0.111_111_1e-36, square.root(), R::splat(0.333_333_3e-18))
}

/// The viscosity of an element, from the speed of sound and the linear and quadratic parts. An
/// element that expands has no viscosity.
pub(super) fn viscous<R: Real>(delv: R, speed: R, linear: R, quadratic: R) -> R {
    delv.if_above(0.0, R::splat(0.0), speed * linear + quadratic)
}

/// The state of an element before a time step: energy, pressure and viscosity.
#[derive(Clone, Copy)]
pub(super) struct Old<R> {
    pub(super) e: R,
    pub(super) p: R,
    pub(super) q: R,
}

/// The energy of an element after the first half of a time step.
pub(super) fn energy_half<R: Real>(old: Old<R>, delv: R) -> R {
    (old.e - delv * 0.5 * (old.p + old.q)).most(R::splat(ENERGY_MIN))
}

/// The energy of an element after the whole time step. `p_half` and `q` are the pressure and the
/// viscosity at half the step.
pub(super) fn energy_whole<R: Real>(energy: R, old: Old<R>, delv: R, p_half: R, q: R) -> R {
    let energy = energy + delv * 0.5 * ((old.p + old.q) * 3.0 - (p_half + q) * 4.0);
    cut(energy, ENERGY_CUT).most(R::splat(ENERGY_MIN))
}

/// The corrected energy of an element, by Simpson's rule over the time step. `half` and `end` have
/// the pressure and the viscosity at half the step and at its end.
pub(super) fn energy_corrected<R: Real>(energy: R, old: Old<R>, delv: R, half: (R, R), end: (R, R)) -> R {
    let sum = (old.p + old.q) * 7.0 - (half.0 + half.1) * 8.0 + (end.0 + end.1);
    let energy = energy - sum * delv * (1.0 / 6.0);
    cut(energy, ENERGY_CUT).most(R::splat(ENERGY_MIN))
}

/// The viscosity of an element after the time step. An element that expands keeps the viscosity
/// that it had at half the step.
pub(super) fn final_viscosity<R: Real>(delv: R, before: R, speed: R, linear: R, quadratic: R) -> R {
    delv.if_above(0.0, before, cut(speed * linear + quadratic, VISCOSITY_CUT))
}

/// The relative volume of an element at half the time step, from its compression.
pub(super) fn half_volume<R: Real>(compression: R) -> R {
    R::splat(1.0) / (compression + 1.0)
}

/// The Courant limit and the hydrodynamic limit that an element sets to the next time step.
pub(super) fn time_limits<R: Real>(speed: R, length: R, vdov: R) -> (R, R) {
    let square = speed * speed;
    let with = square + length * length * COURANT * vdov * vdov;
    let courant = length / vdov.if_below(0.0, with, square).root();
    let hydro = R::splat(VOLUME_CHANGE_MAX) / (vdov.magnitude() + 1e-20);
    let none = R::splat(UNBOUNDED);
    // An element whose volume does not change sets no limit.
    let moves = |limit: R| vdov.if_below(0.0, limit, vdov.if_above(0.0, limit, none));
    (moves(courant), moves(hydro))
}

/// The simulated time, the next time step, and the number of steps so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) time: f64,
    pub(super) dt: f64,
    pub(super) cycle: u64,
}

/// The simulated time at which the problem ends.
pub(super) const STOP: f64 = 1e-2;

impl Clock {
    /// Chooses the next time step from the limits that the elements set in the last step. Advances
    /// the simulated time by it.
    pub(super) fn advance(&mut self, courant: f64, hydro: f64) {
        const LARGEST: f64 = 1e-2;
        let left = STOP - self.time;
        if self.cycle > 0 {
            let bound = if courant < UNBOUNDED { courant / 2.0 } else { UNBOUNDED };
            let bound = if hydro < bound { hydro * 2.0 / 3.0 } else { bound };
            let ratio = bound / self.dt;
            let next = match ratio {
                1.0..1.1 => self.dt,
                1.2.. => self.dt * 1.2,
                _ => bound,
            };
            self.dt = next.min(LARGEST);
        }
        let mut target = left;
        if target > self.dt && target < 4.0 * self.dt / 3.0 {
            target = 2.0 * self.dt / 3.0;
        }
        self.dt = self.dt.min(target);
        self.time += self.dt;
        self.cycle += 1;
    }
}
