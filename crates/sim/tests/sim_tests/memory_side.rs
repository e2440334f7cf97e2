//! Tests of memory-side caches (`[[memory_side]]`), and of the machines `mttop` and `apu`, which have some.

use kernel::prelude::*;
use proto::{Kind, Levels, Per};
use sim::attribution::Cause;
use sim::config::{MemorySideSpec, SideWrite, System};
use sim::dram::{Dram, DramScheduler};
use sim::{Outcome, RunOptions, Subject};

use crate::common::*;
use crate::memory_path::{Uncached, updates};

/// A change of a memory-side cache.
type Change = fn(&mut MemorySideSpec);

const RULES: [SideWrite; 3] = [SideWrite::Back, SideWrite::Update, SideWrite::Invalidate];

fn cache(name: &str, bytes: u64, write: SideWrite) -> MemorySideSpec {
    let (latency_cycles, occupancy_cycles) = (30, 1);
    let (ways, read_pj, write_pj) = (4, 2.0, 3.0);
    let name = name.to_owned();
    MemorySideSpec { name, bytes, ways, latency_cycles, occupancy_cycles, write, read_pj, write_pj }
}

/// The machine `hlrc-8cu` with these memory-side caches.
fn machine(memory_side: Vec<MemorySideSpec>) -> System {
    let system = System { memory_side, ..system("hlrc-8cu") };
    assert_eq!(system.problems(), []);
    system
}

fn uncached(system: &System, program: Program) -> Outcome {
    sim::run::<Uncached, ()>(system, program, &RunOptions::default(), &mut ()).unwrap()
}

fn under(protocol: &str, system: &System, program: Program) -> Outcome {
    let subject = subjects::timed(protocol).unwrap();
    let run = sim::run_subject(&subject, system, program, &RunOptions::default(), &mut ());
    run.unwrap_or_else(|why| panic!("{protocol}: {why}"))
}

/// A program in which one wavefront reads and writes scattered words, and adds to them.
fn walk(steps: u64) -> Program {
    Program::new("walk", move |host| async move {
        let words = host.alloc::<u32>("words", 4096);
        let kernel = Kernel::new("walk", move |w: Wave| async move {
            for step in 0..steps {
                let at = step * step * 37 % 4096;
                let found = w.load(words, at).await;
                w.store(words, (at + 64) % 4096, found + 1).await;
                w.fetch_add(words, at / 2, found + 3, relaxed(Level::System)).await;
                w.fence(release(Level::System)).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("words", &host, words).await
    })
}

/// The counters of a run that do not count cycles, and are not those of memory behind the protocol.
fn of_protocol(outcome: &Outcome) -> Vec<(&String, &u64)> {
    let is_other = |name: &str| {
        ["dram_", "side", "cycles."].iter().any(|prefix| name.starts_with(prefix)) || name.contains("_cycles")
    };
    outcome.counters.iter().filter(|(name, _)| !is_other(name)).collect()
}

#[test]
fn a_memory_side_cache_changes_times_and_nothing_else() {
    for (protocol, scheduler) in [
        ("vi", DramScheduler::OldestFirst),
        ("vi", DramScheduler::OpenRowFirst),
        ("no-l1", DramScheduler::OldestFirst),
        ("no-l1", DramScheduler::OpenRowFirst),
        ("hlrc", DramScheduler::OldestFirst),
        ("denovo-rprio", DramScheduler::OldestFirst),
        ("gpu-vi", DramScheduler::OldestFirst),
    ] {
        let machine = |memory_side| {
            let mut machine = machine(memory_side);
            machine.dram.scheduler = scheduler;
            machine
        };
        let none = under(protocol, &machine(Vec::new()), walk(60));
        let off = under(protocol, &machine(vec![cache("side", 0, SideWrite::Back)]), walk(60));
        assert_eq!(off, none, "{protocol}");
        for write in RULES {
            for caches in [
                vec![cache("side", 4096, write)],
                vec![cache("side", 1024, SideWrite::Back), cache("side2", 8192, write)],
            ] {
                let with = under(protocol, &machine(caches), walk(60));
                assert_eq!(with.answer, none.answer, "{protocol} {write:?}");
                assert_eq!(of_protocol(&with), of_protocol(&none), "{protocol} {write:?}");
                assert_eq!(with.coverage, none.coverage, "{protocol} {write:?}");
                assert_ne!(with.cycles, none.cycles, "{protocol} {write:?}");
                assert!(with.counters["side_accesses"] > 0, "{protocol} {write:?}");
            }
        }
    }
}

#[test]
fn every_program_is_right_behind_every_memory_side_cache() {
    let orders = [DramScheduler::OldestFirst, DramScheduler::OpenRowFirst];
    for (write, scheduler) in RULES.into_iter().flat_map(|write| orders.map(|order| (write, order))) {
        let mut machine = machine(vec![cache("side", 2048, write)]);
        machine.dram.scheduler = scheduler;
        for outcome in
            [run(&machine, vec_add(3000), &RunOptions::default()).unwrap(), uncached(&machine, vec_add(3000))]
        {
            outcome.answer.expect("c", &vec_add_answer(3000)).unwrap();
            let count = |name: &str| outcome.counters[&format!("side_{name}")];
            assert_eq!(count("hits") + count("misses") + count("bypasses"), count("accesses"));
            let of_dram = outcome.counters["dram_reads"] + outcome.counters["dram_writes"];
            assert_eq!(count("misses") + count("bypasses") + count("lines_written_out"), of_dram);
            assert_eq!(outcome.attribution.total(), outcome.cycles);
        }
        let outcome = run(&machine, host_flag(3), &RunOptions::default()).unwrap();
        outcome.answer.expect("seen", &[42u32, 44, 46]).unwrap();
    }
}

#[test]
fn every_program_is_right_if_memory_prefers_open_rows() {
    for name in ["hlrc-8cu", "titan-v"] {
        let mut machine = system(name);
        machine.dram.scheduler = DramScheduler::OpenRowFirst;
        let mut oldest_first = machine.clone();
        oldest_first.dram = machine.dram.oldest_first();
        assert_eq!(machine.problems(), []);
        for outcome in
            [run(&machine, vec_add(3000), &RunOptions::default()).unwrap(), uncached(&machine, vec_add(3000))]
        {
            outcome.answer.expect("c", &vec_add_answer(3000)).unwrap();
            assert_eq!(outcome.attribution.total(), outcome.cycles, "{name}");
        }
        let outcome = run(&machine, host_flag(3), &RunOptions::default()).unwrap();
        outcome.answer.expect("seen", &[42u32, 44, 46]).unwrap();
        let outcome = uncached(&machine, updates(4));
        outcome.answer.expect("data", &[4u32]).unwrap();
        // One wavefront makes one access after the other, so nothing can be reordered.
        let counts = |outcome: &Outcome| {
            ["dram_reads", "dram_writes", "dram_bytes", "memory_ops"].map(|name| outcome.counters[name])
        };
        assert_eq!(counts(&outcome), counts(&uncached(&oldest_first, updates(4))), "{name}");
    }
}

#[test]
fn one_access_after_the_other_takes_the_same_time_in_either_order_of_dram() {
    // One wavefront makes one access after the other, so nothing can be reordered. Without an eviction,
    // no access of DRAM overlaps with another one.
    for write in [SideWrite::Back, SideWrite::Invalidate] {
        let oldest_first = machine(vec![cache("side", 4096, write)]);
        let mut open_row_first = oldest_first.clone();
        open_row_first.dram.scheduler = DramScheduler::OpenRowFirst;
        let program = || {
            Program::new("loads", move |host| async move {
                let words = host.alloc::<u32>("words", 4096);
                let kernel = Kernel::new("loads", move |w: Wave| async move {
                    for step in 0..40u64 {
                        w.leader().load(words, Unit(step * step * 16 % 512)).await;
                    }
                });
                host.launch(kernel, Grid::new(1, 1)).await;
                Answer::new()
            })
        };
        let [oldest, open] = [&oldest_first, &open_row_first].map(|machine| uncached(machine, program()));
        assert_eq!((oldest.cycles, oldest.counters), (open.cycles, open.counters), "{write:?}");
    }
}

#[test]
fn an_atomic_in_memory_reads_and_writes_the_memory_side_cache() {
    let counts = |write| {
        let [oldest, open] = [DramScheduler::OldestFirst, DramScheduler::OpenRowFirst].map(|scheduler| {
            let mut machine = machine(vec![cache("side", 4096, write)]);
            machine.dram.scheduler = scheduler;
            let outcome = uncached(&machine, updates(4));
            outcome.answer.expect("data", &[4u32]).unwrap();
            let names = ["side_accesses", "dram_reads", "dram_writes"];
            names.map(|name| outcome.counters[name])
        });
        assert_eq!(oldest, open, "{write:?}");
        oldest
    };
    assert_eq!(counts(SideWrite::Back), [8, 1, 0]);
    assert_eq!(counts(SideWrite::Update), [8, 1, 4]);
    assert_eq!(counts(SideWrite::Invalidate), [8, 4, 4]);
    // An atomic that hits takes the latency, and the write waits for the read to begin.
    let cycles =
        |times| uncached(&machine(vec![cache("side", 4096, SideWrite::Back)]), updates(times)).cycles;
    let mut slower = machine(vec![cache("side", 4096, SideWrite::Back)]);
    slower.memory_side[0].latency_cycles += 100;
    let slow = |times| uncached(&slower, updates(times)).cycles;
    assert_eq!(slow(9) - slow(4), cycles(9) - cycles(4) + 5 * 100);
}

#[test]
fn the_energy_and_the_waits_of_a_memory_side_cache_are_named() {
    let mut machine = machine(vec![cache("side", 1 << 20, SideWrite::Back)]);
    machine.memory_side[0].occupancy_cycles = 60;
    let outcome = uncached(&machine, vec_add(2000));
    let count = |name: &str| outcome.counters[&format!("side_{name}")];
    let energy: std::collections::BTreeMap<String, f64> = outcome.energy.entries().into_iter().collect();
    assert_eq!(energy["side"], 2.0 * count("data_reads") as f64 + 3.0 * count("data_writes") as f64);
    let parts: f64 = energy.iter().filter(|(name, _)| *name != "total").map(|(_, part)| part).sum();
    assert!((parts - energy["total"]).abs() < 1e-6 * parts && energy["side"] > 0.0);
    assert!(count("queue_cycles") > 0);
    let waited = outcome.attribution.of(Cause::QueueMemorySide);
    assert!(waited > outcome.cycles / 20, "{:?}", outcome.attribution);
    let names = sim::counter_names(&Subject::of::<Uncached>(), &machine).unwrap();
    assert!(names.contains(&"side_hits".to_owned()), "{names:?}");
    machine.memory_side[0].occupancy_cycles = 0;
    let free = uncached(&machine, vec_add(2000));
    assert_eq!(free.attribution.of(Cause::QueueMemorySide), 0);
}

#[test]
fn the_storage_of_a_level_is_used_once() {
    let machine = machine(vec![cache("l2", 4096, SideWrite::Back)]);
    let plain = run(&system("hlrc-8cu"), walk(20), &RunOptions::default()).unwrap();
    assert_eq!(run(&machine, walk(20), &RunOptions::default()).unwrap(), plain);
    // This protocol has no controllers at the L2.
    let outcome = uncached(&machine, walk(20));
    assert!(outcome.counters["l2_hits"] > 0);
    assert!(outcome.energy.l2 > 0.0 && !outcome.energy.levels.contains_key("l2"));
}

#[test]
fn a_wrong_memory_side_cache_is_reported_by_its_key() {
    let found = |change: Change| -> Vec<String> {
        let mut spec = cache("side", 4096, SideWrite::Back);
        change(&mut spec);
        let machine = System { memory_side: vec![spec], ..system("hlrc-8cu") };
        machine.problems().iter().map(|problem| format!("{}: {}", problem.key(), problem.message)).collect()
    };
    assert_eq!(found(|_| {}), [""; 0]);
    assert_eq!(found(|spec| spec.bytes = 0), [""; 0]);
    let cases: [(Change, &str); 6] = [
        (
            |spec| spec.bytes = 1000,
            "memory_side.0.bytes: 1000 bytes of `side`, expected 0 or a multiple of 1024",
        ),
        (|spec| spec.bytes = 1 << 40, "at most 256 MiB"),
        (
            |spec| spec.name = "L3".to_owned(),
            "memory_side.0.name: a memory-side cache `L3`, expected lower-case",
        ),
        (
            |spec| spec.name = "dram".to_owned(),
            "memory_side.0.name: a memory-side cache `dram`, expected a name",
        ),
        (|spec| spec.read_pj = -1.0, "memory_side.0.read_pj: -1 pJ"),
        (|spec| spec.write_pj = f64::NAN, "memory_side.0.write_pj: NaN pJ"),
    ];
    for (change, part) in cases {
        let found = found(change);
        assert!(found.len() == 1 && found[0].contains(part), "{found:?} lacks {part}");
    }
    let twice = vec![cache("side", 4096, SideWrite::Back); 2];
    let problems = System { memory_side: twice, ..system("hlrc-8cu") }.problems();
    assert_eq!(problems[0].key(), "memory_side.1.name");
    let mut reordered = machine(vec![cache("side", 4096, SideWrite::Back)]);
    reordered.dram.scheduler = DramScheduler::OpenRowFirst;
    assert_eq!(reordered.problems(), []);
    let text = toml::to_string(&machine(vec![cache("side", 4096, SideWrite::Update)])).unwrap();
    let again: System = toml::from_str(&text).unwrap();
    assert_eq!(again.memory_side, [cache("side", 4096, SideWrite::Update)]);
    let wrong = toml::from_str::<System>(&text.replacen("\"update\"", "\"through\"", 1)).unwrap_err();
    assert!(wrong.message().contains("`back`, `update`, `invalidate`"), "{wrong}");
}

#[test]
fn the_machine_of_the_thesis_serves_protocols_with_an_l2_and_with_a_directory() {
    let machine = system("mttop");
    assert_eq!(machine.problems(), []);
    for protocol in ["vi", "no-l1", "hlrc", "denovo-b", "gpu-vi", "tc-weak-repaired", "stc-ab-repaired"] {
        let outcome = under(protocol, &machine, reduce(600));
        outcome.answer.expect("total", &[(0..600u32).sum::<u32>()]).unwrap();
        assert!(outcome.counters["l2_tag_lookups"] > 0, "{protocol}: the L2 has controllers");
    }
    let outcome = under("moesi", &machine, reduce(600));
    outcome.answer.expect("total", &[(0..600u32).sum::<u32>()]).unwrap();
    assert!(outcome.counters["l2_accesses"] > 0, "the L2 is a memory-side cache");
    assert!(outcome.counters["directory_tag_lookups"] > 0, "the directory has controllers");
    let kinds = [
        Kind::cache("L1", "l1", Per::Cu).over("directory"),
        Kind::cache("Directory", "directory", Per::Chiplet),
        Kind::cache("Host", "host", Per::Host).over("directory"),
    ];
    let levels = Levels::fit("toy", &kinds, &machine.topology()).unwrap();
    let directory = levels.of(1);
    assert_eq!((directory.count, directory.array.sets * directory.array.ways), (4, 512));
    assert_eq!((levels.of(0).below, levels.of(2).below), (Some(1), Some(1)));
    // Without controllers at the L2, its data is a memory-side cache with the latency of the table.
    let outcome = uncached(&machine, walk(20));
    assert!(outcome.counters["l2_hits"] > 0 && outcome.counters["l2_misses"] > 0);
    let hit = machine.memory_side[0].latency_cycles + machine.levels[0].latency_cycles;
    assert_eq!(hit, machine.l2.latency_cycles);
    // A line from memory takes the 100 ns of the table, at 1 GHz.
    assert_eq!(Dram::new(&machine.dram, 1).access(0, 0u64, 64, false).done, 100);
}

#[test]
fn the_machine_of_an_apu_serves_directories_with_and_without_records() {
    let machine = system("apu");
    assert_eq!(machine.problems(), []);
    for protocol in ["wt", "apu-no-l1", "rfo", "quick-release", "quick-release-repaired"] {
        let outcome = under(protocol, &machine, reduce(600));
        outcome.answer.expect("total", &[(0..600u32).sum::<u32>()]).unwrap();
        assert!(outcome.counters["directory_tag_lookups"] > 0, "{protocol}: the directory has controllers");
        assert!(outcome.counters["l2_accesses"] > 0, "{protocol}: the L2 is a level or a memory-side cache");
        let outcome = under(protocol, &machine, host_flag(2));
        outcome.answer.expect("seen", &[42u32, 44]).unwrap();
    }
    // The writes of the GPU go through the L3 to memory.
    assert!(under("wt", &machine, reduce(600)).counters["l3_bypasses"] > 0);
}

/// An input that waits for a way is tried again when a transaction or a fetch ends, because only then
/// the driver can evict a line.
#[test]
fn caches_and_directories_of_one_line_serve_all_compute_units() {
    for (name, protocols) in [
        ("hlrc-8cu", &["vi", "gpu-vi", "tc-strong", "rcc-repaired", "denovo-b", "hlrc-repaired"][..]),
        ("mttop", &["moesi"]),
        ("apu", &["rfo", "wt", "apu-no-l1", "quick-release-repaired"]),
    ] {
        let mut machine = system(name);
        let line_bytes = u64::from(machine.l1.line_bytes);
        (machine.l1.bytes, machine.l1.ways) = (line_bytes, 1);
        (machine.l2.bytes, machine.l2.ways) = (line_bytes * u64::from(machine.l2.banks), 1);
        for level in machine.levels.iter_mut().filter(|level| level.name == "directory") {
            (level.lines, level.ways) = (Some(1), 1);
        }
        assert_eq!(machine.problems(), [], "{name}");
        for protocol in protocols {
            let outcome = under(protocol, &machine, reduce(600));
            outcome.answer.expect("total", &[(0..600u32).sum::<u32>()]).unwrap();
        }
    }
}
