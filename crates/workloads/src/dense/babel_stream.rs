//! BabelStream: a sequence of five kernels over three arrays. The sequence runs many times.

use kernel::prelude::*;

use crate::data;
use crate::float::{Float, fused, near, plus, sum_in_group, times};
use crate::group::grid_of;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{Setting, Settings};

pub(crate) static BABEL_STREAM: Workload = Workload {
    name: "babel-stream",
    summary: "copies, scales, adds and multiplies three arrays by five kernels in turn",
    origin: "BabelStream (2016), kernels of its HIP version; Dalmia thesis (2023), Table 5.2",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("n", "1300"), ("times", "2")],
        small: &[("n", "32k")],
        // Table 5.2 of the thesis gives 524288 elements. BabelStream repeats its kernels 100 times
        // by default, which takes ten times as long.
        paper: &[("n", "512k"), ("times", "10")],
    },
    settings: &[
        Setting::count("n", 64 << 10, 1, 1 << 28, "number of elements of each array"),
        Setting::count("times", 2, 1, 10_000, "number of repetitions of the five kernels"),
        Setting::policy(
            "type",
            &[("double", "8-byte floats"), ("float", "4-byte floats")],
            "the type of the elements",
        ),
    ],
    make: |settings, seed| {
        let width = if settings.is("type", "double") { 8 } else { 4 };
        settings.limit_arrays(&["n"], 3 * width * settings.count("n"))?;
        let stream = if settings.is("type", "double") { stream::<f64> } else { stream::<f32> };
        Ok(stream(settings, seed))
    },
};

const SCALAR: f64 = 0.4;
/// The maximum number of work-groups of the kernel `dot`.
const DOT_GROUPS: u64 = 256;

#[derive(Clone, Copy)]
struct Arrays<T> {
    a: Array<T>,
    b: Array<T>,
    c: Array<T>,
}

async fn copy<T: Float>(w: Wave, from: Array<T>, to: Array<T>) {
    let base = w.first_item();
    let w = w.below(base, to.len());
    let x = w.load(from, Unit(base)).await;
    w.store(to, Unit(base), x);
}

async fn scale<T: Float>(w: Wave, from: Array<T>, to: Array<T>) {
    let base = w.first_item();
    let w = w.below(base, to.len());
    let x = w.load(from, Unit(base)).await;
    w.store(to, Unit(base), times(x, T::of(SCALAR)));
}

async fn add<T: Float>(w: Wave, s: Arrays<T>) {
    let base = w.first_item();
    let w = w.below(base, s.c.len());
    let (x, y) = (w.load(s.a, Unit(base)), w.load(s.b, Unit(base)));
    let sum = plus(x.await, y.await);
    w.store(s.c, Unit(base), sum);
}

async fn triad<T: Float>(w: Wave, s: Arrays<T>) {
    let base = w.first_item();
    let w = w.below(base, s.a.len());
    let (x, y) = (w.load(s.b, Unit(base)), w.load(s.c, Unit(base)));
    let sum = fused(y.await, T::of(SCALAR), x.await);
    w.store(s.a, Unit(base), sum);
}

async fn dot<T: Float>(w: Wave, s: Arrays<T>, sums: Array<T>) {
    let mut sum = Lanes::<T>::default();
    let mut base = w.first_item();
    while base < s.a.len() {
        let within = w.below(base, s.a.len());
        let (x, y) = (within.load(s.a, Unit(base)), within.load(s.b, Unit(base)));
        sum = fused(x.await, y.await, sum);
        base += w.items();
    }
    let tree = w.lds::<T>(0, w.waves() * w.lanes());
    sum_in_group(&w, tree, sum).await;
    if w.index() == 0 {
        let total = w.load(tree, 0).await;
        w.store(sums, u64::from(w.work_group()), total);
    }
}

/// Launches the first four of the five kernels of BabelStream, one after the other.
async fn four_kernels<T: Float>(host: &Host, s: Arrays<T>) {
    let grid = grid_over(&host.shape(), s.a.len());
    let Arrays { a, b, c } = s;
    let read = |array: Array<T>| array.read().in_parts(GROUP_ITEMS);
    let write = |array: Array<T>| array.write().in_parts(GROUP_ITEMS);
    let kernel = Kernel::new("copy", move |w| copy(w, a, c));
    host.launch(kernel.uses([read(a), write(c)]), grid).await;
    let kernel = Kernel::new("mul", move |w| scale(w, c, b));
    host.launch(kernel.uses([read(c), write(b)]), grid).await;
    let kernel = Kernel::new("add", move |w| add(w, s));
    host.launch(kernel.uses([read(a), read(b), write(c)]), grid).await;
    let kernel = Kernel::new("triad", move |w| triad(w, s));
    host.launch(kernel.uses([read(b), read(c), write(a)]), grid).await;
}

fn stream<T: Float>(settings: &Settings, seed: u64) -> Instance {
    let (n, repetitions) = (settings.count("n"), settings.count("times"));
    // BabelStream starts with equal elements. Different elements reveal a wrong index.
    let start =
        move || -> Vec<T> { data::floats(seed, n).into_iter().map(|x| T::of(f64::from(x))).collect() };
    let program = Program::new("babel-stream", move |host| async move {
        let s = Arrays { a: host.alloc("a", n), b: host.alloc("b", n), c: host.alloc("c", n) };
        let groups = n.div_ceil(GROUP_ITEMS).min(DOT_GROUPS);
        let sums = host.alloc::<T>("sums", groups);
        host.write(s.a, &start()).await;
        let bytes = GROUP_ITEMS as u32 * T::WIDTH.bytes() as u32;
        let grid = grid_of(&host.shape(), groups, GROUP_ITEMS as u32).lds_bytes(bytes);
        let mut dots = Vec::new();
        for _ in 0..repetitions {
            four_kernels(&host, s).await;
            let kernel = Kernel::new("dot", move |w| dot(w, s, sums));
            let uses = [s.a.read(), s.b.read(), sums.write().in_parts(1)];
            host.launch(kernel.uses(uses), grid).await;
            let sums = host.read(sums).await;
            dots.push(sums.into_iter().fold(T::default(), |sum, part| sum + part));
        }
        let answer = Answer::new().with_array("a", &host, s.a).await;
        let answer = answer.with_array("b", &host, s.b).await.with_array("c", &host, s.c).await;
        answer.with("dots", &dots)
    });
    Instance::new(program, move |answer| {
        let (mut a, scalar) = (start(), T::of(SCALAR));
        let (mut b, mut c, mut dots) = (a.clone(), a.clone(), Vec::new());
        for _ in 0..repetitions {
            for ((a, b), c) in a.iter_mut().zip(&mut b).zip(&mut c) {
                *b = *a * scalar;
                *c = *a + *b;
                *a = c.fused(scalar, *b);
            }
            dots.push(T::of(a.iter().zip(&b).map(|(a, b)| a.wide() * b.wide()).sum()));
        }
        answer.expect("a", &a)?;
        answer.expect("b", &b)?;
        answer.expect("c", &c)?;
        // All terms of the sum are positive, so its error is proportional to the sum.
        let relative = if T::WIDTH.bytes() == 8 { 1e-12 } else { 1e-5 };
        answer.compare("dots", &dots, near::<T>(relative, 0.0))
    })
}
