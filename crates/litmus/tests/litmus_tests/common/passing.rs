//! Short Vulkan tests: a thread writes a word and passes a message to a reader.
#![allow(unreachable_pub, reason = "it is a module of several tests")]

use litmus::check::{Options, Report, check};

/// The placement of two threads in one sub-group. Each of the next three constants places two
/// threads in one larger scope (a work-group, a queue family, the device), but in no smaller common
/// scope.
pub const ONE_SG: [&str; 2] = ["sg 0, wg 0, qf 0", "sg 0, wg 0, qf 0"];
pub const ONE_WG: [&str; 2] = ["sg 0, wg 0, qf 0", "sg 1, wg 0, qf 0"];
pub const ONE_QF: [&str; 2] = ["sg 0, wg 0, qf 0", "sg 0, wg 1, qf 0"];
pub const ONE_DV: [&str; 2] = ["sg 0, wg 0, qf 0", "sg 0, wg 0, qf 1"];
/// The scope levels, each with a placement of two threads that share a scope of this level but no
/// smaller scope.
pub const LEVELS: [(&str, [&str; 2]); 4] = [("sg", ONE_SG), ("wg", ONE_WG), ("qf", ONE_QF), ("dv", ONE_DV)];

/// Checks a test whose threads are lists of instructions under the model `vulkan`. In the test, `z`
/// is an alias of `x`, and `g` is an alias of `f`. `order` gives the pairs of
/// system-synchronizes-with, `places` the placements of the threads, and `ask` the condition.
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

/// Splits the code of a thread at its semicolons. Returns the instructions.
pub fn lines(text: &str) -> Vec<String> {
    text.split(';').map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// Whether the write of `x` is ordered before the read of `x` into `r1` in the last thread, in
/// executions in which this thread has read the value `flag` into `r0`. If the write is ordered,
/// the read returns its value and does not race with it. Otherwise the read may miss the write, and
/// races with it.
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

/// Whether the write of `x` in `writer` is ordered before the read of `x` in `reader` (see
/// [`is_ordered`]). The two threads are in one queue family but in different work-groups.
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
