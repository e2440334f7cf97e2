//! Spatiotemporal coherence (STC): without any one of its repairs, of its rules against deadlocks, or
//! without the order of its sweep, the protocol fails. Programs about demands, about the start bit,
//! and about three compute units.

use explore::claim::Claim;
use explore::verify::Test;
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject, corpus};
use proto::{Protocol, WritePolicy};
use std::collections::BTreeSet;
use zoo::stc::lacking::{
    AReturn, AnEnd, AnEpoch, Announcement, MovedDemands, Reach, RepeatedDemands, Room, Sweep,
};
use zoo::stc::{StcAb, StcAbRepaired, StcEs, StcEsRepaired, StcMb, StcMbRepaired, StcNv, StcNvRepaired};

/// A program whose words are in successive lines. Successive lines are in different bands (groups of
/// addresses that are written in different epochs, which are periods of time). Each thread is given by
/// its work-group, which is also its compute unit, and its code. In the code, `b = 1` stores, `r0 = b`
/// loads, and all other lines stay as they are.
fn program(words: &[&str], threads: &[(u8, &[&str])], condition: &str) -> String {
    let own: Vec<String> = words.iter().map(|word| format!("global atomic_int* {word}")).collect();
    let own = own.join(", ");
    let seq_cst = "memory_order_seq_cst, memory_scope_device";
    let mut text = "OPENCL program\n{ }\n".to_owned();
    for (thread, (group, code)) in threads.iter().enumerate() {
        text += &format!("\nP{thread}@wg {group}, dev 0 ({own}) {{\n");
        let accesses = || code.iter().map(|line| (line, line.split_once(" = ")));
        let loads = accesses().filter_map(|(_, access)| access.filter(|(_, word)| words.contains(word)));
        let registers: BTreeSet<&str> = loads.map(|(register, _)| register).collect();
        text.extend(registers.iter().map(|register| format!("  int {register};\n")));
        text.extend(accesses().map(|(line, access)| match access {
            Some((register, word)) if registers.contains(register) => {
                format!("  {register} = atomic_load_explicit({word}, {seq_cst});\n")
            }
            Some((word, value)) => format!("  atomic_store_explicit({word}, {value}, {seq_cst});\n"),
            None => format!("  {line}\n"),
        }));
        text += "}\n";
    }
    text + &format!("\nforall ({condition})\n")
}

/// A program that passes a message: the reader may have a copy of `x` when it reads the flag `f`.
/// The order of the words decides whether `x` and `f` can be written in the same epoch.
fn message(words: &[&str]) -> String {
    let threads: [(u8, &[&str]); 2] = [(0, &["x = 1", "f = 1"]), (1, &["r0 = x", "r1 = f", "r2 = x"])];
    program(words, &threads, "1:r1=0 \\/ 1:r2=1")
}

/// A program with stores to both bands (groups of addresses), and then to the first band again.
fn turns() -> String {
    program(&["x", "y"], &[(0, &["x = 1", "y = 1", "x = 2"])], "x=2 /\\ y=1")
}

/// A program in which a write of `b` is blocked while a thread on the same compute unit loads `d`.
/// Both words are in one band (group of addresses), so the start bit (the lowest address bit that
/// selects the band) moves up. Then `b` is in another band.
fn conflict() -> String {
    program(&["a", "b", "c", "d"], &[(0, &["b = 1"]), (0, &["r0 = d"])], "b=1 /\\ 1:r0=0")
}

const BOUNDS: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

fn explore<P: Protocol>(text: &str) -> Exploration {
    let test = Test::read("test", text).expect("it is a test");
    let program = &*test.program();
    let claim = Claim::of("sc").expect("a known model");
    let promise = claim.promise(program, &mut || false).expect("the model covers it");
    let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: false };
    let mut explorer = Explorer::new(&Subject::of::<P>(), BOUNDS, None);
    let placement = Placement::spread(program);
    explorer.explore(program, &placement, &requirements, &mut Limits::default()).expect("supported")
}

fn fault<P: Protocol>(text: &str) -> Option<Fault> {
    let found = explore::<P>(text);
    assert_eq!(found.incomplete, None);
    found.violation.map(|violation| violation.fault)
}

/// The fault that a test shows in a placement, under the claim `hrf-indirect`.
fn fault_in<P: Protocol>(test: &Test, placement: &Placement) -> Option<Fault> {
    let program = &*test.program();
    let claim = Claim::of("hrf-indirect").expect("a known model");
    let promise = claim.promise(program, &mut || false).expect("the model covers it");
    let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: false };
    let mut explorer = Explorer::new(&Subject::of::<P>(), BOUNDS, None);
    let found = explorer.explore(program, placement, &requirements, &mut Limits::default());
    found.expect("supported").violation.map(|violation| violation.fault)
}

#[test]
fn each_repair_is_needed() {
    let (apart, together) = (message(&["x", "f"]), message(&["x", "y", "f"]));
    // A fill under way for a whole epoch is stale.
    assert_eq!(fault::<StcNv>(&apart), Some(Fault::Outcome));
    assert_eq!(fault::<Announcement>(&apart), None);
    // The reader has not yet changed to the epoch in which both words are written.
    assert_eq!(fault::<StcNv>(&together), Some(Fault::Outcome));
    assert_eq!(fault::<Announcement>(&together), Some(Fault::Outcome));
    for text in [&apart, &together] {
        assert_eq!(fault::<StcNvRepaired>(text), None);
    }
}

/// The sweep compares lines with the epoch that ends. If the register of the current epoch changes
/// first, the reader keeps its copy of `x` beyond the epoch in which `x` is written.
#[test]
fn the_sweep_comes_before_the_change_of_the_register() {
    for text in [&message(&["x", "f"]), &message(&["x", "y", "f"])] {
        assert_eq!(fault::<Sweep>(text), Some(Fault::Outcome));
        assert_eq!(fault::<StcNvRepaired>(text), None);
    }
}

#[test]
fn the_variants_share_the_gaps_and_the_repairs() {
    // Both epochs of the words must be demanded, so the words are not in the first epoch.
    let (apart, together) = (message(&["y", "x", "f"]), message(&["y", "x", "z", "f"]));
    for text in [&apart, &together] {
        assert_eq!(fault::<StcEs>(text), Some(Fault::Outcome));
        assert_eq!(fault::<StcAb>(text), Some(Fault::Outcome));
        assert_eq!(fault::<StcMb>(text), Some(Fault::Outcome));
        assert_eq!(fault::<StcEsRepaired>(text), None);
        assert_eq!(fault::<StcAbRepaired>(text), None);
        assert_eq!(fault::<StcMbRepaired>(text), None);
    }
}

#[test]
fn a_demand_is_lost_when_the_start_bit_moves() {
    assert_eq!(fault::<StcEs>(&conflict()), None);
    let lost = explore::<StcAb>(&conflict()).violation.expect("the write waits for ever");
    assert_eq!(lost.fault, Fault::Livelock, "{}", lost.why);
    assert_eq!(fault::<StcAbRepaired>(&conflict()), None);
    assert_eq!(fault::<StcMbRepaired>(&conflict()), None);
}

/// Two blocked writes are in one band, and in different bands after the start bit has moved because of
/// the load of `f`. The compute unit has demanded their common epoch once, or the epoch management unit
/// has recorded one of two demands. So the other write has no demand if compute units do not repeat
/// their demands.
#[test]
fn demands_are_repeated_because_bands_split() {
    let words = ["a", "b", "c", "d", "e", "f"];
    let end = "b=1 /\\ d=1";
    let on_one: [(u8, &[&str]); 3] = [(0, &["b = 1"]), (0, &["d = 1"]), (0, &["r0 = f"])];
    let on_two: [(u8, &[&str]); 3] = [(0, &["b = 1"]), (1, &["d = 1"]), (0, &["r0 = f"])];
    for text in [program(&words, &on_one, end), program(&words, &on_two, end)] {
        assert_eq!(fault::<RepeatedDemands>(&text), Some(Fault::Livelock));
        assert_eq!(fault::<MovedDemands>(&text), None);
        assert_eq!(fault::<StcAbRepaired>(&text), None);
        assert_eq!(fault::<StcMbRepaired>(&text), None);
    }
}

/// A thread polls words beside a blocked write of `b` on the same compute unit. The load of `d` moves
/// the start bit up, and the load of `a` moves it down again, so it oscillates. `b` has another band
/// after each move. If the epoch management unit does not move the demand, it can grant the epoch of
/// the other band each time, for ever. The repaired protocols end in every fair run.
#[test]
fn a_write_does_not_starve_when_the_start_bit_oscillates() {
    let words = ["a", "b", "c", "d", "e"];
    let text = |poll: &[&str]| program(&words, &[(0, &["b = 1", "e = 1"]), (0, poll)], "b=1");
    let one = text(&["do {", "r1 = d", "r0 = e", "} while (r0 == 0);"]);
    let both = text(&["do {", "r1 = d", "r2 = a", "r0 = e", "} while (r0 == 0);"]);
    for text in [&one, &both] {
        assert_eq!(fault::<StcAb>(text), Some(Fault::Livelock));
        assert_eq!(fault::<StcEs>(text), None);
        assert_eq!(fault::<StcAbRepaired>(text), None);
        assert_eq!(fault::<StcMbRepaired>(text), None);
        assert_eq!(fault::<RepeatedDemands>(text), None);
    }
    assert_eq!(fault::<MovedDemands>(&one), None, "the start bit moves only once");
    let starves = explore::<MovedDemands>(&both).violation.expect("the write starves");
    assert_eq!(starves.fault, Fault::Livelock);
    assert!(starves.why.contains("a thread starves"), "{}", starves.why);
}

/// Stores come at every point of a change of epochs, between `PrepareEpochChange` and `ChangeEpoch`
/// too. A compute unit resets its filter of demands while a demand is on its way. In both cases every
/// store has its turn.
#[test]
fn no_demand_is_lost_while_the_start_bit_stays() {
    let words = ["a", "b", "c", "d"];
    let during: [(u8, &[&str]); 2] = [(0, &["b = 1"]), (1, &["a = 1", "d = 1"])];
    let reset: [(u8, &[&str]); 2] = [(0, &["b = 1", "d = 1", "c = 1"]), (1, &["a = 1", "b = 2"])];
    for text in [program(&words, &during, "a=1 /\\ d=1"), program(&words, &reset, "a=1 /\\ d=1")] {
        assert_eq!(fault::<StcEs>(&text), None);
        assert_eq!(fault::<StcEsRepaired>(&text), None);
        assert_eq!(fault::<StcAb>(&text), None);
        assert_eq!(fault::<StcAbRepaired>(&text), None);
        assert_eq!(fault::<StcMb>(&text), None);
        assert_eq!(fault::<StcMbRepaired>(&text), None);
        assert_eq!(fault::<RepeatedDemands>(&text), None);
    }
}

/// Four bands have a blocked write, and a change of epochs grants two epochs at most.
#[test]
fn every_store_has_its_turn_with_more_demands_than_a_change_grants() {
    let words = ["a", "b", "c", "d"];
    let threads: [(u8, &[&str]); 3] =
        [(0, &["a = 1", "c = 1"]), (0, &["b = 1", "d = 1"]), (1, &["c = 2", "a = 2"])];
    assert_eq!(fault::<Room>(&program(&words, &threads, "b=1 /\\ d=1")), None);
}

/// Writes are atomic, also for three compute units: a third one that reads a write reads everything
/// that its writer has read (WRC), and two readers see two writes in one order (IRIW, in which one
/// compute unit makes both writes). In the programs with a first load of `x`, the last reader may have
/// an old copy.
#[test]
fn writes_are_atomic_on_three_compute_units() {
    let words = ["x", "y"];
    let wrc: [(u8, &[&str]); 3] = [(0, &["x = 1"]), (1, &["r0 = x", "y = 1"]), (2, &["r0 = y", "r1 = x"])];
    let copied: [(u8, &[&str]); 3] =
        [(0, &["x = 1"]), (1, &["r0 = x", "y = 1"]), (2, &["r2 = x", "r0 = y", "r1 = x"])];
    let iriw: [(u8, &[&str]); 4] =
        [(0, &["x = 1"]), (0, &["y = 1"]), (1, &["r0 = x", "r1 = y"]), (2, &["r0 = y", "r1 = x"])];
    let is_caused = "1:r0=0 \\/ 2:r0=0 \\/ 2:r1=1";
    let wrc = program(&words, &wrc, is_caused);
    let copied = program(&words, &copied, is_caused);
    let iriw = program(&words, &iriw, "2:r0=0 \\/ 2:r1=1 \\/ 3:r0=0 \\/ 3:r1=1");
    for text in [&wrc, &copied, &iriw] {
        assert_eq!(fault::<StcNvRepaired>(text), None);
        assert_eq!(fault::<StcEsRepaired>(text), None);
    }
    assert_eq!(fault::<StcNv>(&copied), Some(Fault::Outcome), "the claim is also refutable in this shape");
}

/// A compute unit acquires from the host, and tells another one at device scope. An acquire at device
/// scope invalidates nothing, so the first acquire must remove the copies of both.
#[test]
fn an_acquire_of_the_system_reaches_all_compute_units() {
    let name = "caches/passed-on-from-host.litmus";
    let (_, text) = corpus::SHIPPED.iter().find(|(path, _)| *path == name).expect("shipped");
    let test = Test::read(name, text).expect("it is a test");
    let of = |placement| fault_in::<Reach>(&test, placement) == Some(Fault::Outcome);
    let placement = test.placements.iter().find(|placement| of(placement)).expect("a copy stays");
    assert_eq!(fault_in::<StcEsRepaired>(&test, placement), None);
}

#[test]
fn each_rule_against_deadlocks_is_needed() {
    fn never_ends<P: Protocol>() {
        let violation = explore::<P>(&turns()).violation.expect("a store is never performed");
        assert_eq!(violation.fault, Fault::Livelock, "{}: {}", P::INFO.name, violation.why);
        assert!(violation.why.contains("no path to an end"), "{}: {}", P::INFO.name, violation.why);
    }
    assert_eq!(fault::<StcNvRepaired>(&turns()), None);
    never_ends::<AnEpoch>();
    never_ends::<AnEnd>();
    never_ends::<AReturn>();
}
