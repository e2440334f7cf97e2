//! The lifting steps of the two wavelets of JPEG 2000.

use kernel::prelude::*;

/// A wavelet whose elements have the type `Self`. Its transform is a sequence of lifting steps.
///
/// Step `i` changes the elements at odd indices if `i` is even, and those at even indices
/// otherwise. It adds to each of them a function of its two neighbours.
pub(super) trait Lifted: Word {
    /// The number of lifting steps. The results of a tile depend on this number of elements beyond
    /// each end of the tile.
    const STEPS: u32;
    /// Makes one lifting step on vectors. Returns the new values of `here`.
    fn lift(step: u32, left: Lanes<Self>, here: Lanes<Self>, right: Lanes<Self>) -> Lanes<Self>;
    /// Makes one lifting step on single numbers. Returns the new value of `here`.
    fn lift_one(step: u32, left: Self, here: Self, right: Self) -> Self;
    /// Scales the result of the lifting steps. `high` says for each of the two directions whether
    /// the element is in the high band.
    fn scaled(here: Lanes<Self>, high: [bool; 2]) -> Lanes<Self>;
    /// Scales the result of the lifting steps for a single number, as [`Lifted::scaled`] does for
    /// vectors.
    fn scaled_one(here: Self, high: [bool; 2]) -> Self;
    /// Converts pixels, with values from 0 to 255, to elements of the transform.
    fn pixels(byte: Lanes<u32>) -> Lanes<Self>;
    /// Converts one pixel, with a value from 0 to 255, to an element of the transform.
    fn pixel(byte: u32) -> Self;
}

/// The 5/3 wavelet of JPEG 2000, which is computed exactly in integers.
impl Lifted for i32 {
    const STEPS: u32 = 2;

    fn lift(step: u32, left: Lanes<i32>, here: Lanes<i32>, right: Lanes<i32>) -> Lanes<i32> {
        let sum = left + right;
        if step == 0 { here - (sum >> 1) } else { here + ((sum + 2) >> 2) }
    }

    fn lift_one(step: u32, left: i32, here: i32, right: i32) -> i32 {
        if step == 0 { here - ((left + right) >> 1) } else { here + ((left + right + 2) >> 2) }
    }

    fn scaled(here: Lanes<i32>, _high: [bool; 2]) -> Lanes<i32> {
        here
    }

    fn scaled_one(here: i32, _high: [bool; 2]) -> i32 {
        here
    }

    fn pixels(byte: Lanes<u32>) -> Lanes<i32> {
        byte.to_i32() - 128
    }

    fn pixel(byte: u32) -> i32 {
        byte as i32 - 128
    }
}

/// The factors of the four lifting steps of the 9/7 wavelet.
const FACTORS: [f32; 4] = [-1.586_134_3, -0.052_980_12, 0.882_911_1, 0.443_506_85];

/// The scale of the 9/7 wavelet: elements of the high band are multiplied by it, those of the low
/// band are divided by it.
const SCALE: f32 = 1.230_174_1;

/// The factor by which an element of the 9/7 wavelet is scaled. `high` says for each of the two
/// directions whether the element is in the high band.
fn scale(high: [bool; 2]) -> f32 {
    let one = |is_high| if is_high { SCALE } else { 1.0 / SCALE };
    one(high[0]) * one(high[1])
}

/// The 9/7 wavelet of JPEG 2000, which is computed in floating point.
impl Lifted for f32 {
    const STEPS: u32 = 4;

    fn lift(step: u32, left: Lanes<f32>, here: Lanes<f32>, right: Lanes<f32>) -> Lanes<f32> {
        (left + right).mul_add(FACTORS[step as usize], here)
    }

    fn lift_one(step: u32, left: f32, here: f32, right: f32) -> f32 {
        (left + right).mul_add(FACTORS[step as usize], here)
    }

    fn scaled(here: Lanes<f32>, high: [bool; 2]) -> Lanes<f32> {
        here * scale(high)
    }

    fn scaled_one(here: f32, high: [bool; 2]) -> f32 {
        here * scale(high)
    }

    fn pixels(byte: Lanes<u32>) -> Lanes<f32> {
        byte.to_f32() - 128.0
    }

    fn pixel(byte: u32) -> f32 {
        byte as f32 - 128.0
    }
}

/// The index below `n` of the element that stands for element `index`, which may lie beyond the
/// ends. The elements are mirrored at both ends.
pub(super) fn mirrored(index: i64, n: i64) -> i64 {
    let period = (2 * (n - 1)).max(1);
    let index = index.rem_euclid(period);
    if index < n { index } else { period - index }
}

/// Transforms `n` of the values, which are `distance` apart, without scaling. The low band goes to
/// the first half, the high band to the second half.
pub(super) fn transform<T: Lifted>(values: &mut [T], distance: usize, n: usize) {
    let mut line: Vec<T> = values.iter().step_by(distance).take(n).copied().collect();
    if n == 1 {
        // If there is one element, its mirror images are equal. One number therefore stands for all
        // odd elements, and one for all even elements.
        let mut odd = line[0];
        for step in 0..T::STEPS {
            let (change, beside) = if step % 2 == 0 { (&mut odd, line[0]) } else { (&mut line[0], odd) };
            *change = T::lift_one(step, beside, *change, beside);
        }
        values[0] = line[0];
        return;
    }
    for step in 0..T::STEPS {
        let first = 1 - step as usize % 2;
        for i in (first..n).step_by(2) {
            let at = |index: i64| line[mirrored(index, n as i64) as usize];
            line[i] = T::lift_one(step, at(i as i64 - 1), line[i], at(i as i64 + 1));
        }
    }
    let low = n.div_ceil(2);
    for (i, value) in line.into_iter().enumerate() {
        values[(i / 2 + (i % 2) * low) * distance] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_details_has_an_empty_high_band() {
        for n in [1usize, 2, 3, 8, 31] {
            let mut line = vec![7i32; n];
            transform(&mut line, 1, n);
            assert!(line[..n.div_ceil(2)].iter().all(|&low| low == 7), "{line:?}");
            assert!(line[n.div_ceil(2)..].iter().all(|&high| high == 0), "{line:?}");
            let mut line = vec![7.0f32; n];
            transform(&mut line, 1, n);
            // The 9/7 wavelet of JPEG 2000 keeps a constant line up to the scale of the low band.
            assert!(line[..n.div_ceil(2)].iter().all(|low| (low / SCALE - 7.0).abs() < 1e-3), "{line:?}");
            assert!(line[n.div_ceil(2)..].iter().all(|high| high.abs() < 1e-4), "{line:?}");
        }
    }

    /// The coefficients of the filters that the lifting steps form. For each distance from -4 to 4,
    /// there is a coefficient of the low-pass filter and one of the high-pass filter. Each
    /// coefficient is a result of the transform of a line in which a single element has the value
    /// `unit` and all others are zero.
    fn taps<T: Lifted>(unit: T) -> [[T; 2]; 9] {
        core::array::from_fn(|distance| {
            let band = |centre: usize, index: usize| {
                let mut line = vec![T::default(); 32];
                line[centre + distance - 4] = unit;
                transform(&mut line, 1, 32);
                line[index]
            };
            // Element 16 is in the low band, element 15 in the high band.
            [band(16, 8), band(15, 16 + 7)]
        })
    }

    #[test]
    fn the_filters_of_the_9_7_wavelet_are_those_of_jpeg_2000() {
        let low = [0.602_949_018, 0.266_864_118, -0.078_223_267, -0.016_864_118, 0.026_748_757];
        let high = [1.115_087_052, -0.591_271_763, -0.057_543_526, 0.091_271_763, 0.0];
        let k = 1.230_174_105_f64;
        for (distance, [l, h]) in (-4..5_i32).zip(taps(1.0_f32)) {
            let at = distance.unsigned_abs() as usize;
            assert!((f64::from(l) / k - low[at]).abs() < 1e-6, "{distance}: {l}");
            assert!((f64::from(h) * k - high[at]).abs() < 1e-6, "{distance}: {h}");
        }
        for (high, want) in [([false; 2], 1.0 / k / k), ([true, false], 1.0), ([true; 2], k * k)] {
            assert!((f64::from(f32::scaled_one(1.0, high)) - want).abs() < 1e-6, "{high:?}");
        }
    }

    #[test]
    fn the_filters_of_the_5_3_wavelet_are_those_of_jpeg_2000() {
        // The coefficients in eighths are -1 2 6 2 -1 for the low band and -4 8 -4 for the high
        // band.
        let want = [[0, 0], [0, 0], [-8, 0], [16, -32], [48, 64], [16, -32], [-8, 0], [0, 0], [0, 0]];
        assert_eq!(taps(64_i32), want);
    }

    #[test]
    fn a_line_is_mirrored_at_its_ends_without_repeating_the_end() {
        let mut ramp = [0, 1, 2, 3, 4, 5, 6, 7];
        transform(&mut ramp, 1, 8);
        assert_eq!(ramp, [0, 2, 4, 6, 0, 0, 0, 1]);
        let mut edge = [8, 0, 0, 0, 0, 0, 0, 0];
        transform(&mut edge, 1, 8);
        assert_eq!(edge, [6, -1, 0, 0, -4, 0, 0, 0]);
    }

    #[test]
    fn mirrors_repeat_beyond_both_ends() {
        let indices: Vec<i64> = (-4..7).map(|i| mirrored(i, 3)).collect();
        assert_eq!(indices, [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]);
        assert_eq!(mirrored(-3, 1), 0);
    }
}
