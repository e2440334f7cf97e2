use proto::Protocol;
use sim::RunOptions;
use sim::config::System;
use workloads::Size;
use zoo::quick_release::*;

fn go<P: Protocol>() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../systems/apu.toml");
    let system: System = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(system.problems(), []);
    for name in ["vec-add", "reduce", "histogram", "bfs", "fg-share", "l1-resident"] {
        let Ok(w) = workloads::find(name) else {
            println!("no {name}");
            continue;
        };
        let settings = w.sized(Size::Tiny).expect("settings");
        let instance = w.instance(&settings, 1).expect("instance");
        let (program, check) = instance.into_parts();
        let start = std::time::Instant::now();
        let out = sim::run::<P, ()>(&system, program, &RunOptions::default(), &mut ());
        match out {
            Ok(out) => println!(
                "{} {name}: {} cycles, {:?}, l1 hits {} dram writes {} reads {} in {:?}",
                P::INFO.name,
                out.cycles,
                check(&out.answer).map_err(|e| e.to_string()),
                out.counters["l1_hits"],
                out.counters["dram_writes"],
                out.counters["dram_reads"],
                start.elapsed()
            ),
            Err(e) => println!("{} {name}: ERROR {e}", P::INFO.name),
        }
    }
}
#[test]
fn published() {
    go::<QuickRelease>()
}
#[test]
fn repaired() {
    go::<QuickReleaseRepaired>()
}
#[test]
fn groups() {
    go::<QuickReleaseGroups>()
}
#[test]
fn split() {
    go::<QuickReleaseSplit>()
}
#[test]
fn wt() {
    go::<zoo::wt::Wt>()
}
