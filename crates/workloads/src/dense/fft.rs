//! The fast Fourier transform of complex numbers. Each pass is a kernel that reads one buffer and
//! writes another.
//!
//! The passes are those of Stockham's form (Govindaraju et al., 2008). Each pass combines `radix`
//! finished transforms of size `done` into one transform of size `radix * done`. The frequencies
//! come out in ascending order, so no reversal of bits is necessary.

use core::f64::consts::PI;
use core::ops::{Add, Sub};

use kernel::prelude::*;

use crate::data;
use crate::float::near;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static FFT: Workload = Workload {
    name: "fft",
    summary: "computes the Fourier transform of complex numbers, by a kernel for each pass",
    origin: "SHOC and AMD APP SDK; STC paper (TACO 2023), section 7; Hechtman thesis (2014), Table 3.2",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("n", "2048")],
        small: &[],
        // The papers give no size.
        paper: &[("n", "1m")],
    },
    settings: &[
        Setting::count("n", 1 << 15, 2, 1 << 24, "number of complex numbers, a power of two"),
        Setting::policy(
            "radix",
            &[("radix-4", "four numbers for each work-item"), ("radix-2", "two numbers for each work-item")],
            "the radix of the passes; the last one may have radix 2",
        ),
    ],
    make: fft,
};

/// A complex number in each lane.
#[derive(Clone, Copy)]
struct Complex {
    re: Lanes<f32>,
    im: Lanes<f32>,
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, other: Complex) -> Complex {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Complex {
    fn zero() -> Complex {
        Complex { re: Lanes::splat(0.0), im: Lanes::splat(0.0) }
    }

    fn times(self, other: Complex) -> Complex {
        Complex {
            re: self.re.mul_add(other.re, -(self.im * other.im)),
            im: self.re.mul_add(other.im, self.im * other.re),
        }
    }

    /// The product of each number with the negative imaginary unit.
    fn turned(self) -> Complex {
        Complex { re: self.im, im: -self.re }
    }
}

/// Complex numbers in memory: an array of real parts and an array of imaginary parts.
#[derive(Clone, Copy)]
struct Numbers {
    re: Array<f32>,
    im: Array<f32>,
}

impl Numbers {
    fn alloc(host: &Host, names: [&str; 2], n: u64) -> Numbers {
        Numbers { re: host.alloc(names[0], n), im: host.alloc(names[1], n) }
    }
}

/// One pass of the transform, which is one kernel.
#[derive(Clone, Copy)]
struct Pass {
    from: Numbers,
    to: Numbers,
    /// The powers of the complex root of unity whose degree is the size of the whole transform.
    roots: Numbers,
    radix: u64,
    /// The size of the transforms that are finished before this pass.
    done: u64,
}

impl Pass {
    /// The number of work-items of the pass.
    fn items(&self) -> u64 {
        self.from.re.len() / self.radix
    }

    async fn run(self, w: Wave) {
        let (base, items, done) = (w.first_item(), self.items(), self.done as u32);
        let item = w.item();
        let w = w.below(base, items);
        let within = item & (done - 1);
        let mut v = [Complex::zero(); 4];
        let loads: [_; 4] = core::array::from_fn(|r| {
            let at = Unit(base + items * r as u64);
            (r < self.radix as usize).then(|| (w.load(self.from.re, at), w.load(self.from.im, at)))
        });
        for (v, (re, im)) in v.iter_mut().zip(loads.into_iter().flatten()) {
            *v = Complex { re: re.await, im: im.await };
        }
        if done > 1 {
            let turn = within * (items / self.done) as u32;
            let mut power = turn;
            for v in &mut v[1..self.radix as usize] {
                let (re, im) = (w.load(self.roots.re, power), w.load(self.roots.im, power));
                *v = v.times(Complex { re: re.await, im: im.await });
                power += turn;
            }
        }
        let out = if self.radix == 2 {
            [v[0] + v[1], v[0] - v[1], v[2], v[3]]
        } else {
            let (even, odd) = (v[0] + v[2], v[1] + v[3]);
            let (even_turned, odd_turned) = (v[0] - v[2], (v[1] - v[3]).turned());
            [even + odd, even_turned + odd_turned, even - odd, even_turned - odd_turned]
        };
        let mut to = (item - within) * self.radix as u32 + within;
        for out in &out[..self.radix as usize] {
            w.store(self.to.re, to, out.re);
            w.store(self.to.im, to, out.im);
            to += done;
        }
    }

    async fn launch(self, host: &Host) {
        let items = self.items();
        let mut uses = vec![self.to.re.write(), self.to.im.write()];
        if self.done > 1 {
            uses.extend([self.roots.re.read(), self.roots.im.read()]);
        }
        for r in 0..self.radix {
            let part = r * items..(r + 1) * items;
            for array in [self.from.re, self.from.im] {
                uses.push(array.slice(part.clone()).read().in_parts(GROUP_ITEMS));
            }
        }
        let kernel = Kernel::new(format!("fft-radix-{}", self.radix), move |w| self.run(w));
        host.launch(kernel.uses(uses), grid_over(&host.shape(), items)).await;
    }
}

/// The power `power` of the root of unity of degree `n`, in double precision: the real and the
/// imaginary part.
fn root(power: u64, n: u64) -> (f64, f64) {
    let angle = -2.0 * PI * power as f64 / n as f64;
    (libm::cos(angle), libm::sin(angle))
}

fn fft(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let n = settings.count("n");
    let radix_max = if settings.is("radix", "radix-4") { 4 } else { 2 };
    if !n.is_power_of_two() {
        return Err(settings.conflict(format!("setting `n` is {n}, but must be a power of two")));
    }
    let program = Program::new("fft", move |host| async move {
        let mut from = Numbers::alloc(&host, ["re", "im"], n);
        let mut to = Numbers::alloc(&host, ["re-after", "im-after"], n);
        let roots = Numbers::alloc(&host, ["cosines", "sines"], n);
        host.write(from.re, &data::floats(seed, n)).await;
        host.write(from.im, &data::floats(!seed, n)).await;
        let (cosines, sines): (Vec<f32>, Vec<f32>) =
            (0..n).map(|power| root(power, n)).map(|(re, im)| (re as f32, im as f32)).unzip();
        host.write(roots.re, &cosines).await;
        host.write(roots.im, &sines).await;
        let mut done = 1;
        while done < n {
            let radix = (n / done).min(radix_max);
            Pass { from, to, roots, radix, done }.launch(&host).await;
            (from, to) = (to, from);
            done *= radix;
        }
        Answer::new().with_array("re", &host, from.re).await.with_array("im", &host, from.im).await
    });
    Ok(Instance::new(program, move |answer| {
        let numbers = data::floats(seed, n).into_iter().zip(data::floats(!seed, n));
        let numbers = numbers.map(|(re, im)| (f64::from(re), f64::from(im))).collect();
        let (re, im): (Vec<f32>, Vec<f32>) =
            reference(numbers).into_iter().map(|(re, im)| (re as f32, im as f32)).unzip();
        // Each pass adds an error of about 2^-24 times the root mean square of the frequencies.
        let error = 1e-6 * libm::sqrt(n as f64);
        answer.compare("re", &re, near::<f32>(0.0, error))?;
        answer.compare("im", &im, near::<f32>(0.0, error))
    }))
}

/// The transform of `numbers`, computed on the host in double precision. The function combines the
/// transform of the numbers at even indices with the transform of the numbers at odd indices.
fn reference(numbers: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let n = numbers.len();
    if n == 1 {
        return numbers;
    }
    let part = |first: usize| reference(numbers.iter().skip(first).step_by(2).copied().collect());
    let (even, odd) = (part(0), part(1));
    let mut all = vec![(0.0, 0.0); n];
    for k in 0..n / 2 {
        let (c, s) = root(k as u64, n as u64);
        let (re, im) = odd[k];
        let turned = (re * c - im * s, re * s + im * c);
        all[k] = (even[k].0 + turned.0, even[k].1 + turned.1);
        all[k + n / 2] = (even[k].0 - turned.0, even[k].1 - turned.1);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_equals_the_definition_of_the_transform() {
        let n = 64u64;
        let numbers: Vec<(f64, f64)> =
            data::floats(1, n).iter().zip(data::floats(2, n)).map(|(a, b)| ((*a).into(), b.into())).collect();
        for (k, (re, im)) in reference(numbers.clone()).into_iter().enumerate() {
            let mut sum = (0.0, 0.0);
            for (j, (x, y)) in numbers.iter().enumerate() {
                let (c, s) = root(k as u64 * j as u64 % n, n);
                sum = (sum.0 + x * c - y * s, sum.1 + x * s + y * c);
            }
            assert!((sum.0 - re).abs() + (sum.1 - im).abs() < 1e-12, "frequency {k}");
        }
    }
}
