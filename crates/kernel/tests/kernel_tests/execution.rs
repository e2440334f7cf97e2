//! Tests of the guarantees that the functional executor gives to a program.

use kernel::prelude::*;
use kernel::reference::{self, Options, Schedule};

fn options(lanes: u32, schedule: Schedule) -> Options {
    let shape = Shape { lanes, ..Shape::default() };
    Options { shape, schedule, idle_steps_max: 10_000, ..Options::default() }
}

/// Runs the program with 32 and with 64 lanes and under several schedules, and checks each answer.
fn everywhere(program: impl Fn() -> Program, check: impl Fn(&Answer, u32)) {
    for lanes in [32, 64] {
        for schedule in [Schedule::RoundRobin, Schedule::Seeded(1), Schedule::Seeded(2)] {
            match reference::run(program(), &options(lanes, schedule)) {
                Ok(outcome) => check(&outcome.answer, lanes),
                Err(error) => panic!("{lanes} lanes, {schedule:?}: {error}"),
            }
        }
    }
}

async fn double(w: Wave, a: Array<u32>, b: Array<u32>) {
    let base = w.first_item();
    let w = w.below(base, a.len());
    let x = w.load(a, Unit(base)).await;
    w.store(b, Unit(base), x + x).await;
}

fn doubling(len: u64, groups: u32) -> Program {
    Program::new("doubling", move |host| async move {
        let a = host.alloc::<u32>("a", len);
        let b = host.alloc::<u32>("b", len);
        let values: Vec<u32> = (0..len as u32).collect();
        host.write(a, &values).await;
        let kernel = Kernel::new("double", move |w| double(w, a, b)).uses([a.read(), b.write()]);
        host.launch(kernel, Grid::new(groups, 2)).await;
        Answer::new().with_array("b", &host, b).await
    })
}

#[test]
fn a_grid_larger_than_the_machine_runs_to_its_end() {
    everywhere(
        || doubling(5000, 100),
        |answer, _| {
            let want: Vec<u32> = (0..5000).map(|v| 2 * v).collect();
            assert_eq!(answer.expect("b", &want), Ok(()));
        },
    );
}

/// Counts the Collatz steps of each item. Lanes leave the loop one by one.
async fn collatz(w: Wave, out: Array<u32>) {
    let at = Unit(w.first_item());
    let (mut n, mut steps) = (w.item() + 1, Lanes::splat(0u32));
    let mut go = w.when(n.ne(1));
    while go.any() {
        let odd = (n & 1).ne(0);
        n.assign(go.mask(), Lanes::select(odd, n * 3 + 1, n / 2));
        steps.assign(go.mask(), steps + 1);
        go = go.when(n.ne(1));
    }
    w.store(out, at, steps).await;
}

#[test]
fn lanes_leave_a_loop_one_by_one() {
    let program = || {
        Program::new("collatz", |host| async move {
            let out = host.alloc::<u32>("out", 256);
            let groups = 256 / host.shape().lanes;
            host.launch(Kernel::new("collatz", move |w| collatz(w, out)), Grid::new(groups, 1)).await;
            Answer::new().with_array("out", &host, out).await
        })
    };
    let steps = |mut n: u64| {
        let mut steps = 0u32;
        while n != 1 {
            n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    };
    let want: Vec<u32> = (1..=256).map(steps).collect();
    everywhere(program, |answer, _| assert_eq!(answer.expect("out", &want), Ok(())));
}

#[test]
fn the_three_forms_of_a_place_access_the_same_elements() {
    async fn body(w: Wave, a: Array<u16>, out: Array<u16>) {
        let unit = w.load(a, Unit(3)).await;
        let gather = w.load(a, w.lane_id() + 3).await;
        let single: u16 = w.when(Mask::lane(5)).load(a, 8).await;
        let same = unit.eq(gather).0 & w.mask().0 == w.mask().0;
        w.store(out, 0, u16::from(same)).await;
        w.store(out, 1, single - unit.get(5)).await;
        w.store(out, w.lane_id() + 2, unit + 1).await;
    }
    let program = || {
        Program::new("places", |host| async move {
            let (a, out) = (host.alloc::<u16>("a", 100), host.alloc::<u16>("out", 66));
            let values: Vec<u16> = (0..100).map(|v| v * 7).collect();
            host.write(a, &values).await;
            host.launch(Kernel::new("places", move |w| body(w, a, out)), Grid::new(1, 1)).await;
            Answer::new().with_array("out", &host, out).await
        })
    };
    everywhere(program, |answer, lanes| {
        let out = answer.get::<u16>("out").unwrap_or_default();
        assert_eq!(out[..2], [1, 0]);
        for lane in 0..64usize {
            let want = if lane < lanes as usize { (lane as u16 + 3) * 7 + 1 } else { 0 };
            assert_eq!(out[lane + 2], want, "lane {lane} of {lanes}");
        }
    });
}

/// Every lane pushes onto one lock-free stack by compare-exchange, with an
/// expected value of its own.
async fn push_all(w: Wave, top: Array<u32>, next: Array<u32>) {
    let node = w.item() + 1;
    let mut todo = w.clone();
    while todo.any() {
        let old: u32 = todo.atomic_load(top, 0, relaxed(Level::Device)).await;
        todo.store(next, node, Lanes::splat(old)).await;
        let zero = Lanes::splat(0u32);
        let sem = release(Level::Device);
        let seen = todo.compare_exchange(top, zero, Lanes::splat(old), node, sem).await;
        todo = todo.when(seen.ne(old));
    }
}

#[test]
fn a_compare_exchange_succeeds_lane_by_lane() {
    let program = || {
        Program::new("stack", |host| async move {
            let items = 4 * host.shape().lanes;
            let top = host.alloc::<u32>("top", 1);
            let next = host.alloc::<u32>("next", u64::from(items) + 1);
            host.launch(Kernel::new("push", move |w| push_all(w, top, next)), Grid::new(2, 2)).await;
            let (top, next) = (host.read(top).await, host.read(next).await);
            let mut seen = vec![0u32; next.len()];
            let mut node = top[0];
            while node != 0 {
                seen[node as usize] += 1;
                node = next[node as usize];
            }
            Answer::new().with("seen", &seen[1..])
        })
    };
    everywhere(program, |answer, lanes| {
        assert_eq!(answer.expect("seen", &vec![1u32; 4 * lanes as usize]), Ok(()));
    });
}

#[test]
fn read_modify_writes_follow_the_type_of_the_array() {
    async fn body(w: Wave, f: Array<f32>, s: Array<i32>, b: Array<u8>) {
        let device = relaxed(Level::Device);
        let zero = Lanes::splat(0u32);
        w.update(f, zero, RmwKind::AddF, Lanes::splat(0.5f32), device.commutative()).await;
        w.fetch_min(s, zero, w.lane_id().to_i32() - 40, device).await;
        let old = w.fetch_add(b, w.lane_id() % 2, Lanes::splat(3u8), device).await;
        w.leader().store(b, 2, w.reduce(&old, 0, Class::Int, u8::max)).await;
    }
    let program = || {
        Program::new("types", |host| async move {
            let (f, s) = (host.alloc::<f32>("f", 1), host.alloc::<i32>("s", 1));
            let b = host.alloc::<u8>("b", 3);
            host.launch(Kernel::new("types", move |w| body(w, f, s, b)), Grid::new(1, 1)).await;
            let (f, s, b) = (host.read(f).await, host.read(s).await, host.read(b).await);
            Answer::new().with("f", &f).with("s", &s).with("b", &b)
        })
    };
    everywhere(program, |answer, lanes| {
        assert_eq!(answer.expect("f", &[lanes as f32 / 2.0]), Ok(()));
        assert_eq!(answer.expect("s", &[-40i32]), Ok(()));
        let each = (lanes / 2 * 3) as u8;
        assert_eq!(answer.expect("b", &[each, each, each - 3]), Ok(()));
    });
}

/// Each wavefront stores its number in local memory. After the barrier, each wavefront reads all of
/// the numbers.
async fn exchange_in_lds(w: Wave, out: Array<u32>) {
    let lds = w.lds::<u32>(64, w.waves());
    for round in 1..=3u32 {
        w.store(lds, u64::from(w.index()), round * 10 + w.index()).await;
        w.barrier().await;
        let mut sum = 0;
        for wave in 0..w.waves() {
            sum += w.load(lds, u64::from(wave)).await;
        }
        w.barrier().await;
        let at = (w.global_index()) * 3 + u64::from(round) - 1;
        w.store(out, at, sum).await;
    }
}

#[test]
fn a_barrier_orders_earlier_stores_before_later_loads() {
    let program = || {
        Program::new("lds", |host| async move {
            let out = host.alloc::<u32>("out", 5 * 4 * 3);
            let grid = Grid::new(5, 4).lds_bytes(80);
            host.launch(Kernel::new("lds", move |w| exchange_in_lds(w, out)), grid).await;
            Answer::new().with_array("out", &host, out).await
        })
    };
    let want: Vec<u32> = (0..20).flat_map(|_| [46, 86, 126]).collect();
    everywhere(program, |answer, _| assert_eq!(answer.expect("out", &want), Ok(())));
}

#[test]
fn the_host_runs_beside_a_kernel_and_launches_more() {
    async fn answer_flag(w: Wave, flag: Array<u32>) {
        while w.atomic_load(flag, 0, acquire(Level::System)).await != 1 {}
        w.atomic_store(flag, 1, 7, release(Level::System)).await;
    }
    let program = || {
        Program::new("beside", |host| async move {
            let flag = host.alloc::<u32>("flag", 2);
            let first = host.launch(Kernel::new("answer", move |w| answer_flag(w, flag)), Grid::new(1, 1));
            let late = host.alloc::<u32>("late", 128);
            let kernel = Kernel::new("other", move |w| double(w, late, late));
            host.launch(kernel, Grid::new(1, 2)).await;
            host.atomic_store(flag, 0, 1, Order::Release).await;
            while host.atomic_load(flag, 1, Order::Acquire).await != 7 {}
            first.await;
            let old = host.rmw(flag, 0, RmwKind::CompareExchange { expected: 1 }, 5, Order::SeqCst).await;
            Answer::new().with("old", &[old]).with_array("flag", &host, flag).await
        })
    };
    everywhere(program, |answer, _| {
        assert_eq!(answer.expect("old", &[1u32]), Ok(()));
        assert_eq!(answer.expect("flag", &[5u32, 7]), Ok(()));
    });
}

#[test]
fn a_seed_determines_the_run() {
    async fn race(w: Wave, order: Array<u32>, next: Array<u32>) {
        let place = w.fetch_add(next, 0, 1, relaxed(Level::Device)).await;
        w.store(order, u64::from(place), w.global_index() as u32).await;
    }
    let run = |seed| {
        let program = Program::new("race", |host| async move {
            let (order, next) = (host.alloc::<u32>("order", 16), host.alloc::<u32>("next", 1));
            host.launch(Kernel::new("race", move |w| race(w, order, next)), Grid::new(8, 2)).await;
            Answer::new().with_array("order", &host, order).await
        });
        let outcome = reference::run(program, &options(64, Schedule::Seeded(seed)));
        outcome.map(|o| o.answer).unwrap_or_default()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let mut all = run(3).get::<u32>("order").unwrap_or_default();
    all.sort_unstable();
    assert_eq!(all, (0..16).collect::<Vec<_>>());
}

#[test]
fn work_groups_spread_or_pack_as_the_grid_says() {
    async fn note(w: Wave, on: Array<u32>) {
        w.store(on, u64::from(w.work_group()), w.compute_unit()).await;
    }
    for (placement, want) in [(Placement::Spread, [0u32, 1, 2, 3]), (Placement::Pack, [0; 4])] {
        let program = Program::new("places", move |host| async move {
            let on = host.alloc::<u32>("on", 4);
            let grid = Grid::new(4, 1).placed(placement);
            host.launch(Kernel::new("note", move |w| note(w, on)), grid).await;
            Answer::new().with_array("on", &host, on).await
        });
        let outcome = reference::run(program, &options(64, Schedule::RoundRobin));
        assert_eq!(outcome.map(|o| o.answer.expect("on", &want)), Ok(Ok(())), "{placement:?}");
    }
}
