//! The dimension programs: message programs that differ in the widths of words, in the words of a
//! request, and in the shape of the machine.
//!
//! Other programs access one word with each request, on machines with two banks and caches of one
//! set. A dimension program passes data along a chain of threads. Its dimensions are the width of
//! the words, the words of a request, the operations on data and flag, the compute units, the
//! wavefronts, the kernels, the host, the banks, and the sets and ways of caches. A covering array
//! chooses the programs: all pairs of values of two dimensions occur.

use proto::{Agent, Width};

use crate::machine::bounds::Shape;
use crate::machine::placement::Placement;
use crate::programs::covering::pairwise;
use crate::programs::test::{Machines, Test};

/// The words of data that one request accesses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanes {
    /// One word.
    One,
    /// Two adjacent words.
    Adjacent,
    /// Two words with a word of another thread between them.
    Apart,
}

/// The operations that write a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteKind {
    Store,
    /// A read-modify-write that adds to the old value.
    Add,
    /// A compare-and-swap that succeeds.
    Swap,
    /// A store, and behind it a compare-and-swap that fails.
    Fail,
}

/// The thread of the chain that runs on the host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostThread {
    Nobody,
    First,
    Last,
}

/// The widths of the words in the line of the data. `None` means different widths.
const WIDTHS: [Option<Width>; 5] = [Some(Width::W1), Some(Width::W2), Some(Width::W4), Some(Width::W8), None];
const LANES: [Lanes; 3] = [Lanes::One, Lanes::Adjacent, Lanes::Apart];
const WRITES: [WriteKind; 4] = [WriteKind::Store, WriteKind::Add, WriteKind::Swap, WriteKind::Fail];
/// The compute units of the threads of a chain, and of its neighbours. The neighbours write words of
/// their own in the line of the data.
type Units = (&'static [u16], &'static [u16]);

/// Three wavefronts on one compute unit, two units, three wavefronts on one of two units, three
/// units, and four units.
const UNITS: [Units; 5] =
    [(&[0, 0], &[0]), (&[0, 1], &[]), (&[0, 1], &[1, 1]), (&[0, 1], &[2]), (&[0, 1], &[2, 3])];
const KERNELS: [u8; 2] = [1, 2];
const HOSTS: [HostThread; 3] = [HostThread::Nobody, HostThread::First, HostThread::Last];
const BANKS: [u16; 3] = [1, 2, 3];
const SETS: [u32; 2] = [1, 2];
const WAYS: [u32; 2] = [1, 2];
/// The numbers of the machines of every verification.
const MACHINES: [u8; 4] = [0, 1, 2, 3];

/// The numbers of values of the dimensions, in the order of [`Values::of`].
const SIZES: [usize; 11] = [
    WIDTHS.len(),
    LANES.len(),
    WRITES.len(),
    WRITES.len(),
    UNITS.len(),
    KERNELS.len(),
    HOSTS.len(),
    BANKS.len(),
    SETS.len(),
    WAYS.len(),
    MACHINES.len(),
];

/// The values of the dimensions of one program.
#[derive(Clone, Copy)]
struct Values {
    width: Option<Width>,
    lanes: Lanes,
    data: WriteKind,
    flag: WriteKind,
    units: Units,
    kernels: u8,
    host: HostThread,
    shape: Shape,
    machine: u8,
}

/// The initial value of each word except the flag. It is not zero, so that it differs from bytes
/// that nobody wrote.
const INITIAL: u8 = 1;
/// The words of data in the line that all threads share, each with the value that the first thread
/// writes.
const DATA: [(&str, u8); 2] = [("x", 3), ("y", 4)];
/// The word of data in a line of its own, with the value that the first thread writes.
const FAR: (&str, u8) = ("u", 5);
/// The words of the neighbours, each with the value that its neighbour writes.
const OWN: [(&str, u8); 2] = [("v", 6), ("w", 7)];
/// A value that no word has.
const NEVER: u8 = 9;

impl Values {
    /// The values of a row of the covering array of [`SIZES`].
    fn of(row: &[usize]) -> Values {
        let (sets, ways) = (SETS[row[8]], WAYS[row[9]]);
        Values {
            width: WIDTHS[row[0]],
            lanes: LANES[row[1]],
            data: WRITES[row[2]],
            flag: WRITES[row[3]],
            units: UNITS[row[4]],
            kernels: KERNELS[row[5]],
            host: HOSTS[row[6]],
            shape: Shape { banks: BANKS[row[7]], sets: (sets, sets), ways: (ways, ways) },
            machine: MACHINES[row[10]],
        }
    }

    /// The words of data in the shared line.
    fn data(&self) -> &'static [(&'static str, u8)] {
        if self.lanes == Lanes::One { &DATA[..1] } else { &DATA }
    }

    /// The words in the shared line, in order. The last one is only read.
    fn line(&self) -> &'static [&'static str] {
        match self.lanes {
            Lanes::One => &["x", "v", "w", "s"],
            Lanes::Adjacent => &["x", "y", "v", "w", "s"],
            Lanes::Apart => &["x", "v", "y", "w", "s"],
        }
    }

    /// The number of threads of the chain.
    fn chain(&self) -> usize {
        self.units.0.len()
    }

    /// The words of the neighbours, each with the value that its neighbour writes.
    fn own(&self) -> &'static [(&'static str, u8)] {
        &OWN[..self.units.1.len()]
    }

    fn is_on_host(&self, thread: usize) -> bool {
        match self.host {
            HostThread::Nobody => false,
            HostThread::First => thread == 0,
            HostThread::Last => thread + 1 == self.chain(),
        }
    }

    /// The compute units and hosts of the threads. The neighbours are behind the chain.
    fn agents(&self) -> Vec<Agent> {
        let (chain, neighbours) = self.units;
        let units = chain.iter().chain(neighbours).enumerate();
        let agent = |(thread, &unit)| if self.is_on_host(thread) { Agent::Host(0) } else { Agent::Cu(unit) };
        units.map(agent).collect()
    }

    /// The scope of all synchronization.
    fn scope(&self) -> &'static str {
        match self.host {
            HostThread::Nobody => "memory_scope_device",
            HostThread::First | HostThread::Last => "memory_scope_all_svm_devices",
        }
    }

    /// The operations that change words from `old` to new values, with a memory order.
    fn writes(&self, kind: WriteKind, words: &[(&str, u8)], old: u8, order: &str) -> Vec<String> {
        let scope = self.scope();
        let swap = |name: &str, desired: u8, order: &str| {
            format!(
                "int s{name} = atomic_compare_exchange_strong_explicit({name}, &e{name}, {desired}, \
                 memory_order_{order}, memory_order_relaxed, {scope});"
            )
        };
        let expects = |expected: u8| {
            words.iter().map(move |(name, _)| format!("int e{name} = {expected};")).collect::<Vec<_>>()
        };
        let store = |(name, new): &(&str, u8)| match (kind, order) {
            (WriteKind::Store, "relaxed") => format!("*{name} = {new};"),
            _ => format!("atomic_store_explicit({name}, {new}, memory_order_{order}, {scope});"),
        };
        match kind {
            WriteKind::Store => words.iter().map(store).collect(),
            WriteKind::Add => {
                let add = |(name, new): &(&str, u8)| {
                    format!(
                        "atomic_fetch_add_explicit({name}, {}, memory_order_{order}, {scope});",
                        new - old
                    )
                };
                words.iter().map(add).collect()
            }
            WriteKind::Swap => {
                let swaps = words.iter().map(|(name, new)| swap(name, *new, order));
                expects(old).into_iter().chain(swaps).collect()
            }
            WriteKind::Fail => {
                let swaps = words.iter().map(|(name, _)| swap(name, NEVER - 1, "relaxed"));
                let stores = words.iter().map(store);
                // The flag is free for the next thread when it is stored.
                if order == "relaxed" {
                    stores.chain(expects(NEVER)).chain(swaps).collect()
                } else {
                    expects(NEVER).into_iter().chain(swaps).chain(stores).collect()
                }
            }
        }
    }

    /// The operations that pass the flag on to the next thread of the chain.
    fn passes(&self, thread: usize) -> Vec<String> {
        self.writes(self.flag, &[("f", thread as u8 + 1)], thread as u8, "release")
    }

    /// The operations of a thread of the chain.
    fn chained(&self, thread: usize) -> Vec<String> {
        let (name, new) = FAR;
        if thread == 0 {
            let mut code = self.writes(self.data, self.data(), INITIAL, "relaxed");
            code.push(format!("*{name} = {new};"));
            code.extend(self.passes(0));
            return code;
        }
        let scope = self.scope();
        // The line is then in the reader's cache before the data is written. The host has no cache.
        let stale = (!self.is_on_host(thread)).then(|| String::from("int rs = *s;"));
        let mut code: Vec<String> = stale.into_iter().collect();
        code.push(format!("await(f == {thread}, memory_order_acquire, {scope});"));
        code.extend(self.data().iter().map(|(name, _)| match self.data {
            WriteKind::Store => format!("int r{name} = *{name};"),
            _ => format!("int r{name} = atomic_load_explicit({name}, memory_order_relaxed, {scope});"),
        }));
        code.push(format!("int r{name} = *{name};"));
        if thread + 1 < self.chain() {
            code.extend(self.passes(thread));
        }
        code
    }

    /// The text of the program.
    fn text(&self, name: &str) -> String {
        let is_atomic = |word: &str| {
            let is_data = self.data().iter().any(|(name, _)| *name == word);
            word == "f" || is_data && self.data != WriteKind::Store
        };
        let words: Vec<&str> = [&["f"], self.line(), &[FAR.0]].concat();
        let initial = words.iter().map(|&word| {
            let value = if word == "f" { 0 } else { INITIAL };
            format!("[{word}] = {value};\n")
        });
        let parameter =
            |word: &&str| format!("global {} {word}", if is_atomic(word) { "atomic_int*" } else { "int*" });
        let parameters = words.iter().map(parameter).collect::<Vec<_>>().join(", ");
        let own = |(name, new): &(&str, u8)| vec![format!("*{name} = {new};")];
        let codes = (0..self.chain()).map(|thread| self.chained(thread));
        let codes: Vec<Vec<String>> = codes.chain(self.own().iter().map(own)).collect();
        let mut text = format!("OPENCL {name}\n\n{{\n{}}}\n", initial.collect::<String>());
        for (thread, code) in codes.iter().enumerate() {
            text += &format!("\nP{thread} ({parameters}) {{\n  {}\n}}\n", code.join("\n  "));
        }
        let groups = (0..codes.len()).filter(|&thread| !self.is_on_host(thread));
        let groups = groups.map(|thread| format!(" (work_group P{thread})")).collect::<String>();
        let mut seen: Vec<String> = Vec::new();
        for thread in 1..self.chain() {
            let read = self.data().iter().chain([&FAR]);
            seen.extend(read.map(|(name, new)| format!("{thread}:r{name}={new}")));
        }
        if matches!(self.data, WriteKind::Swap | WriteKind::Fail) {
            let succeeds = u8::from(self.data == WriteKind::Swap);
            seen.extend(self.data().iter().map(|(name, _)| format!("0:s{name}={succeeds}")));
            // The register of the expected value holds the old value.
            let old = |new: u8| if succeeds == 1 { INITIAL } else { new };
            seen.extend(self.data().iter().map(|&(name, new)| format!("0:e{name}={}", old(new))));
        }
        let finals = self.data().iter().chain(self.own()).chain([&FAR]);
        seen.extend(finals.map(|(name, new)| format!("{name}={new}")));
        seen.push(format!("f={}", self.chain() - 1));
        text + &format!("\nscopeTree (device{groups})\n\nforall ({})\n", seen.join(" /\\ "))
    }

    /// The placement of the program: the flag and the last word of data in lines of their own.
    fn placement(&self) -> Placement {
        let (agents, shared) = (self.agents(), self.line().len());
        let lines = [&[1u8][..], &vec![0; shared], &[2]].concat();
        let mixed = |at: usize| Width::ALL[at % Width::ALL.len()];
        let widths = (0..shared).map(|at| self.width.unwrap_or_else(|| mixed(at)));
        let apart = self.width.unwrap_or(Width::W4);
        let stage = |thread: usize| u8::from(thread + 1 == self.chain());
        Placement {
            widths: [apart].into_iter().chain(widths).chain([apart]).collect(),
            lanes: self.lanes != Lanes::One,
            stages: if self.kernels > 1 { (0..agents.len()).map(stage).collect() } else { Vec::new() },
            ..Placement::new(agents, lines)
        }
    }
}

/// The number of the group of dimension programs. Other groups have smaller numbers.
const GROUP: usize = 1 << 17;

/// The number of lines that [`in_many_ways`] writes: one more than the ways of its caches.
const MANY: usize = 10;

/// A program that fills all ways of caches with nine ways and needs one way more.
fn in_many_ways() -> (String, Placement, Shape) {
    let words: Vec<String> = (0..MANY).map(|word| format!("x{word}")).collect();
    let all = |of: &dyn Fn(&String) -> String| words.iter().map(of).collect::<Vec<_>>();
    let initial = all(&|word| format!("[{word}] = {INITIAL};\n")).concat();
    let parameters = all(&|word| format!("global int* {word}")).join(", ");
    // Each store needs the value of the load before it, so no two of them overlap.
    let (mut code, mut value) = (Vec::new(), String::from("2"));
    for word in &words {
        code.push(format!("*{word} = {value};\n  int r{word} = *{word};"));
        value = format!("r{word}");
    }
    let code = code.join("\n  ");
    let seen = all(&|word| format!("0:r{word}=2 /\\ {word}=2")).join(" /\\ ");
    let text = format!(
        "OPENCL many-ways\n\n{{\n{initial}}}\n\nP0 ({parameters}) {{\n  {code}\n}}\n\n\
         scopeTree (device (work_group P0))\n\nforall ({seen})\n"
    );
    let ways = MANY as u32 - 1;
    let placement = Placement::new(vec![Agent::Cu(0)], (0..MANY as u8).collect());
    (text, placement, Shape { banks: 1, sets: (1, 1), ways: (ways, ways) })
}

/// The dimension programs.
#[must_use]
pub fn dimensions() -> Vec<Test> {
    let rows = pairwise(&SIZES);
    let chains = rows.iter().enumerate().map(|(number, row)| {
        let (values, name) = (Values::of(row), format!("dimensions/{}", number + 1));
        let text = values.text(&format!("dimensions-{}", number + 1));
        (name, text, values.placement(), (values.shape, values.machine))
    });
    let (text, placement, shape) = in_many_ways();
    let all = chains.chain([(String::from("dimensions/ways"), text, placement, (shape, 0))]);
    let test = |(name, text, placement, (shape, machine)): (String, String, Placement, (Shape, u8))| {
        // A test below parses all of them.
        let mut test = Test::read(&name, &text).expect("the text is a test");
        test.placements = vec![placement];
        test.machines = Machines::Nth(machine);
        test.shape = Some(shape);
        test.group = GROUP;
        test
    };
    all.map(test).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::claim::Claim;

    #[test]
    fn each_program_has_one_outcome_and_no_race() {
        let claim = Claim::of("opencl").expect("a model");
        let tests = dimensions();
        assert!((20..=40).contains(&tests.len()), "{} programs", tests.len());
        for test in tests {
            let placement = &test.placements[0];
            let promise = claim.promise_in_stages(&test.program(), &placement.stages, &mut || false);
            let promise = promise.expect("it is defined");
            assert!(promise.race_free, "{}", test.name);
            assert_eq!(promise.allowed.map(|allowed| allowed.len()), Some(1), "{}", test.name);
        }
    }
}
