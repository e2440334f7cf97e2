//! Short Vulkan tests: a thread writes a word and passes a message to a reader.
#![allow(unreachable_pub, dead_code, reason = "it is a module of several tests")]

use litmus::check::{Options, Report, check};

/// The placements of two threads: in one sub-group, work-group, queue family, or device.
pub const ONE_SG: [&str; 2] = ["sg 0, wg 0, qf 0", "sg 0, wg 0, qf 0"];
pub const ONE_WG: [&str; 2] = ["sg 0, wg 0, qf 0", "sg 1, wg 0, qf 0"];
pub const ONE_QF: [&str; 2] = ["sg 0, wg 0, qf 0", "sg 0, wg 1, qf 0"];
pub const ONE_DV: [&str; 2] = ["sg 0, wg 0, qf 0", "sg 0, wg 0, qf 1"];
/// The scopes, each with a placement of two threads that share no smaller scope.
pub const LEVELS: [(&str, [&str; 2]); 4] = [("sg", ONE_SG), ("wg", ONE_WG), ("qf", ONE_QF), ("dv", ONE_DV)];

/// Checks a test whose threads are lists of instructions. `z` is an alias of `x`, and
/// `g` an alias of `f`.
pub fn run(order: &str, places: &[&str], threads: &[Vec<String>], ask: &str) -> Report {
    let mut text = format!("VULKAN t\n{{ x=0; f=0; h=0; z aliases x; g aliases f; }}\n{order}\n");
    let heads: Vec<String> = places.iter().enumerate().map(|(p, place)| format!("P{p}@{place}")).collect();
    text += &format!("{} ;\n", heads.join(" | "));
    for row in 0..threads.iter().map(Vec::len).max().unwrap_or(0) {
        let cells: Vec<&str> = threads.iter().map(|t| t.get(row).map_or("", String::as_str)).collect();
        text += &format!("{} ;\n", cells.join(" | "));
    }
    text += ask;
    let program = litmus::parse::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let model = litmus::cat::shipped("vulkan").expect("it is shipped").expect("it is a model");
    let report = check(&program, &model, &mut Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(report.complete, "{text}");
    report
}

/// The lines of a thread.
pub fn lines(text: &str) -> Vec<String> {
    text.split(';').map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// Whether a write of `x` is ordered before the last thread's read of it into `r1`, if
/// that thread has read `flag` into `r0`. An ordered write is seen and does not race.
/// Another write may be missed, and races.
#[track_caller]
pub fn is_ordered(places: &[&str], threads: &[&str], flag: u32) -> bool {
    let last = places.len() - 1;
    let threads: Vec<Vec<String>> = threads.iter().map(|text| lines(text)).collect();
    let ask = format!("filter (P{last}:r0 == {flag}) exists (P{last}:r1 == 0)");
    let report = run("", places, &threads, &ask);
    assert!(report.positive + report.negative > 0, "the flag is seen: {threads:?}");
    assert_eq!(report.verdict, report.has_race(), "{threads:?}");
    !report.verdict
}

/// The same for two threads of one queue family in different work-groups.
#[track_caller]
pub fn orders(writer: &str, reader: &str) -> bool {
    is_ordered(&ONE_QF, &[writer, reader], 1)
}

pub const RELEASE: &str = "st.atom.rel.dv.sc0.semsc0 f, 1";
pub const ACQUIRE: &str = "ld.atom.acq.dv.sc0.semsc0 r0, f";
pub const WRITE: &str = "st.av.dv.sc0 x, 1";
pub const READ: &str = "ld.vis.dv.sc0 r1, x";

/// A thread that executes these instructions in order.
pub fn thread(instructions: &[&str]) -> String {
    instructions.join("; ")
}
