//! Figure 7 of the STC paper (TACO 2023), step by step: three stores, a releasing store, and a
//! reader that spins.
//!
//! The paper prints the epochs Z, W, V, U, Z, X and Z. An epoch management unit that grants all
//! epochs in turn does not grant Z between U and X. The epoch management unit of `stc-es` grants the
//! printed sequence, because it skips epochs without a demand: the bands have the numbers Z < W < V
//! < U < X, and a third compute unit writes in the band Z. So the test uses the epoch management
//! unit of `stc-es`, and needs no other one.
//!
//! The text of section 4.7 has three mistakes, which the figure and the test do not have:
//!
//! * It gives the epochs of U, V, W and X as "U, W, W, and X". The epoch of V is V.
//! * It says that V and U leave the cache in Figures 7(c) and 7(d). Figure 7(c) is the epoch of W,
//!   so V and U leave one step later, in 7(d) and 7(e).
//! * It says that thread 1 executes the releasing store. Thread 0 executes it.

use super::bench::Bench;
use proto::{LineAddr, LineView, Order, Protocol, Slot, Width};
use zoo::stc::{StcEs, StcEsRepaired};

/// The lines of the words that the figure names. The lines `Z`, `W`, `V`, `U` and `X` are in the
/// order of their bands (groups of lines that may be written at the same time).
const Z: LineAddr = LineAddr(0);
const W: LineAddr = LineAddr(1);
const V: LineAddr = LineAddr(2);
const U: LineAddr = LineAddr(3);
const X: LineAddr = LineAddr(4);

/// The numbers of the compute units: `WRITER` runs the writer (thread 0), `READER` runs the reader
/// (thread 1), and `THIRD` runs a third thread that writes in the band Z.
const WRITER: u16 = 0;
const READER: u16 = 1;
const THIRD: u16 = 2;

/// The names of the lines U, V, W and X that are in the reader's cache, each with the value of its
/// first word.
fn cached<P: Protocol>(bench: &Bench<P>) -> String {
    let lines = bench.lines(READER);
    let one = |view: &LineView| format!("{}={}", name(view.line), view.data.read(0, Width::W4));
    let of_reader = [U, V, W, X].map(|line| lines.iter().find(|view| view.line == line).map(one));
    of_reader.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The names of the lines of those stores in `stores` that are not complete.
fn blocked<P: Protocol>(bench: &Bench<P>, stores: &[(LineAddr, Slot)]) -> String {
    let open = stores.iter().filter(|(_, slot)| !bench.is_complete(*slot));
    open.map(|(line, _)| name(*line)).collect::<Vec<_>>().join(" ")
}

fn name(line: LineAddr) -> &'static str {
    ["Z", "W", "V", "U", "X"][line.0 as usize]
}

/// One step of the figure: its letter, the stores in the blocked-store queue of thread 0, the lines
/// in the cache of thread 1, and the value of X that thread 1 reads.
type Step = (&'static str, String, String, u64);

fn trace<P: Protocol>() -> (Vec<Step>, [u64; 3]) {
    let mut bench = Bench::<P>::new();
    let mut stores: Vec<(LineAddr, Slot)> = Vec::new();
    let mut trace = Vec::new();
    let mut others = Vec::new();
    // Thread 0 executes its program lines 1 to 3. Thread 1 executes the loads that bring the old
    // values into its cache.
    stores.extend([U, V, W].map(|line| (line, bench.store(WRITER, line, Order::Plain))));
    let old = [U, V, W].map(|line| bench.load(READER, line, Order::Plain));
    assert_eq!(old, [0, 0, 0]);
    for (step, epoch) in [("b", Z), ("c", W), ("d", V), ("e", U), ("f", Z), ("g", X), ("h", Z)] {
        if step != "b" {
            bench.change();
        }
        // The printed epoch is granted: a write in its band is complete at once.
        let probe = bench.store(THIRD, LineAddr(epoch.0 + 8), Order::Plain);
        assert!(bench.is_complete(probe), "step {step}: the epoch is {}", name(epoch));
        // The core holds the releasing store back until the stores before it are complete. In the
        // figure, the epoch management unit has chosen epoch Z before this store.
        if step == "f" {
            assert_eq!(blocked(&bench, &stores), "");
            stores.push((X, bench.store(WRITER, X, Order::Release)));
        }
        // The third thread demands Z before the steps in which the figure has this epoch.
        if ["e", "g"].contains(&step) {
            others.push(bench.store(THIRD, Z, Order::Plain));
        }
        // Thread 1 spins.
        let seen = bench.load(READER, X, Order::Acquire);
        trace.push((step, blocked(&bench, &stores), cached(&bench), seen));
    }
    assert!(others.iter().all(|&slot| bench.is_complete(slot)));
    let new = [U, V, W].map(|line| bench.load(READER, line, Order::Plain));
    (trace, new)
}

#[test]
fn the_trace_is_that_of_the_figure() {
    let step = |step, blocked: &str, cached: &str, seen| (step, blocked.to_owned(), cached.to_owned(), seen);
    let figure = vec![
        step("b", "U V W", "U=0 V=0 W=0 X=0", 0),
        step("c", "U V", "U=0 V=0 X=0", 0),
        step("d", "U", "U=0 X=0", 0),
        step("e", "", "X=0", 0),
        step("f", "X", "X=0", 0),
        step("g", "", "", 1),
        step("h", "", "X=1", 1),
    ];
    for (trace, new) in [trace::<StcEs>(), trace::<StcEsRepaired>()] {
        assert_eq!(trace, figure);
        assert_eq!(new, [1, 1, 1]);
    }
}
