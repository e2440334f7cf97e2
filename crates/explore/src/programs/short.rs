//! Short dimension programs: a sender passes data to a receiver through a flag, and lines are
//! evicted at any time.
//!
//! A verification evicts lines at any time only in programs of two threads and few instructions. A
//! covering array chooses these programs: all pairs of values of two dimensions occur.

use proto::{Agent, Width};

use crate::machine::bounds::Shape;
use crate::machine::placement::Placement;
use crate::programs::covering::pairwise;
use crate::programs::draft::{BANKS, CU0, CU1, Draft, HOST, KERNELS, LANES, Lanes, SETS, WAYS, WIDTHS};

/// The agents of the sender and the receiver.
const ENDS: [[Agent; 2]; 4] = [[CU1, CU0], [CU0, CU0], [HOST, CU0], [CU0, HOST]];
/// Whether fences order the accesses of the threads. Otherwise the operations on the flag do.
const FENCES: [bool; 2] = [false, true];
/// The numbers of the machines that evict lines at any time.
const EVICTING: [u8; 2] = [0, 3];

/// The number of values of each dimension (property in which the short programs differ), in the
/// order of [`program`].
const SIZES: [usize; 9] = [
    WIDTHS.len(),
    LANES.len(),
    ENDS.len(),
    FENCES.len(),
    KERNELS.len(),
    BANKS.len(),
    SETS.len(),
    WAYS.len(),
    EVICTING.len(),
];

/// The short programs.
pub(super) fn programs() -> impl Iterator<Item = Draft> {
    pairwise(&SIZES).into_iter().enumerate().map(|(number, row)| program(number + 1, &row))
}

/// The program of a row of the covering array of [`SIZES`].
fn program(number: usize, row: &[usize]) -> Draft {
    let (width, lanes, ends, has_fences) = (WIDTHS[row[0]], LANES[row[1]], ENDS[row[2]], FENCES[row[3]]);
    let (kernels, banks) = (KERNELS[row[4]], BANKS[row[5]]);
    let (sets, ways, machine) = (SETS[row[6]], WAYS[row[7]], EVICTING[row[8]]);
    let scope = if ends.contains(&HOST) { "memory_scope_all_svm_devices" } else { "memory_scope_device" };
    let data: &[(&str, u8)] = if lanes == Lanes::One { &[("x", 3)] } else { &[("x", 3), ("y", 4)] };
    let line: &[&str] = match lanes {
        Lanes::One => &["x", "s"],
        Lanes::Adjacent => &["x", "y", "s"],
        Lanes::Apart => &["x", "s", "y"],
    };
    let fence =
        |order: &str| format!("atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_{order}, {scope});");
    let (release, acquire) = if has_fences { ("relaxed", "relaxed") } else { ("release", "acquire") };
    let mut sends: Vec<String> = data.iter().map(|(word, new)| format!("*{word} = {new};")).collect();
    sends.extend(has_fences.then(|| fence("release")));
    sends.push(format!("atomic_store_explicit(f, 1, memory_order_{release}, {scope});"));
    // This load brings the line into the receiver's cache before the data is written. A program with
    // two words of data has no room for it. The host has no cache.
    let is_stale = lanes == Lanes::One && ends[1] != HOST;
    let mut receives: Vec<String> = is_stale.then(|| String::from("int rs = *s;")).into_iter().collect();
    receives.push(format!("await(f == 1, memory_order_{acquire}, {scope});"));
    receives.extend(has_fences.then(|| fence("acquire")));
    receives.extend(data.iter().map(|(word, _)| format!("int r{word} = *{word};")));
    let parameters = line.iter().map(|word| format!("global int* {word}, ")).collect::<String>();
    let code = |thread: usize, code: &[String]| {
        format!("P{thread} ({parameters}global atomic_int* f) {{\n  {}\n}}\n\n", code.join("\n  "))
    };
    let on_units = (0..2).filter(|&thread| ends[thread] != HOST);
    let groups = on_units.map(|thread| format!(" (work_group P{thread})")).collect::<String>();
    let seen = data.iter().map(|(word, new)| format!("1:r{word}={new} /\\ {word}={new} /\\ "));
    let text = format!(
        "OPENCL short-{number}\n\n{{ }}\n\n{}{}scopeTree (device{groups})\n\nforall ({}f=1)\n",
        code(0, &sends),
        code(1, &receives),
        seen.collect::<String>()
    );
    let widths = (0..line.len()).map(|at| width.unwrap_or(Width::ALL[at % Width::ALL.len()]));
    let placement = Placement {
        widths: widths.chain([Width::W4]).collect(),
        lanes: lanes != Lanes::One,
        stages: if kernels > 1 { vec![0, 1] } else { Vec::new() },
        ..Placement::new(ends.to_vec(), [vec![0; line.len()], vec![1]].concat())
    };
    let shape = Shape { banks, sets: (sets, sets), ways: (ways, ways) };
    Draft { name: format!("short-{number}"), text, placement, machine: Some((shape, machine)) }
}
