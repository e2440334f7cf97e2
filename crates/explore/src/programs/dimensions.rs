//! The dimension programs: message programs that differ in the widths of words, in the words of a
//! request, and in the shape of the machine.
//!
//! Other programs access one word with each request, on machines with two banks and caches of one
//! set. In a dimension program a sender passes data to a receiver through a flag, while other
//! threads access adjacent words. Its dimensions are the width of the words, the words of a
//! request, the operations on data and flag, the compute units, the wavefronts, the kernels, the
//! host, the machine, the banks, and the sets and ways of caches. A covering array chooses the
//! programs: all pairs of values of two dimensions occur. A second covering array chooses short
//! programs, whose lines are evicted at any time ([`short`]). Further programs test what no
//! combination of these values tests ([`single`]).

use proto::{Agent, Sharing, Width};

use crate::machine::bounds::Shape;
use crate::machine::placement::Placement;
use crate::programs::claim::Claim;
use crate::programs::covering::pairwise;
use crate::programs::draft::{
    BANKS, CU0, CU1, Draft, HOST, INITIAL, KERNELS, LANES, Lanes, SETS, WAYS, WIDTHS,
};
use crate::programs::test::{Machines, Test};
use crate::programs::{short, single};

/// The operations that write a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteKind {
    Store,
    /// A read-modify-write that adds to the old value.
    Add,
    /// A compare-and-swap that succeeds.
    Swap,
    /// A store and a compare-and-swap that fails.
    Fail,
}

const WRITES: [WriteKind; 4] = [WriteKind::Store, WriteKind::Add, WriteKind::Swap, WriteKind::Fail];
/// The agents (compute units or the host) of the threads.
#[derive(Clone, Copy)]
struct ThreadAgents {
    sender: Agent,
    receiver: Agent,
    /// The agents (compute units or the host) that run the neighbours. A neighbour is a thread that
    /// writes words of its own in the line of the data. In the order of threads, the neighbours
    /// come before the sender and the receiver. So the sender or the receiver may be the third
    /// wavefront of a compute unit.
    neighbours: &'static [Agent],
}

impl ThreadAgents {
    const fn new(sender: Agent, receiver: Agent, neighbours: &'static [Agent]) -> ThreadAgents {
        ThreadAgents { sender, receiver, neighbours }
    }
}

const CU2: Agent = Agent::Cu(2);
const CU3: Agent = Agent::Cu(3);

/// The agents of the threads of the programs. In the first seven entries, all threads run on
/// compute units. In order, these entries have three wavefronts on one unit; one wavefront on each
/// of two units; three wavefronts on one unit and one on another (two entries); one wavefront on
/// each of three units; one on each of four units; and two wavefronts on one unit and one on each
/// of two others. In the other entries, the host is the sender, the receiver or a neighbour, and
/// the other threads run on one to three units.
const AGENTS: [ThreadAgents; 12] = [
    ThreadAgents::new(CU0, CU0, &[CU0]),
    ThreadAgents::new(CU1, CU0, &[]),
    ThreadAgents::new(CU1, CU0, &[CU0, CU0]),
    ThreadAgents::new(CU1, CU0, &[CU1, CU1]),
    ThreadAgents::new(CU2, CU1, &[CU0]),
    ThreadAgents::new(CU3, CU2, &[CU0, CU1]),
    ThreadAgents::new(CU2, CU1, &[CU0, CU0]),
    ThreadAgents::new(HOST, CU0, &[CU0, CU0]),
    ThreadAgents::new(HOST, CU1, &[CU0]),
    ThreadAgents::new(CU0, HOST, &[CU0, CU0]),
    ThreadAgents::new(CU2, HOST, &[CU0, CU1]),
    ThreadAgents::new(CU1, CU0, &[HOST]),
];
/// Whether the receiver acquires by a remote operation, so that a sender on a compute unit may
/// release at work-group scope.
const REMOTE: [bool; 2] = [false, true];
/// The numbers of the machines that every verification uses.
const MACHINES: [u8; 4] = [0, 1, 2, 3];

/// The number of the machine whose caches write through, on cores that overlap accesses.
const WRITE_THROUGH: u8 = 2;

/// The number of values of each dimension (property in which the dimension programs differ), in the
/// order of [`Values::of`].
const SIZES: [usize; 11] = [
    WIDTHS.len(),
    LANES.len(),
    WRITES.len(),
    WRITES.len(),
    AGENTS.len(),
    KERNELS.len(),
    BANKS.len(),
    SETS.len(),
    WAYS.len(),
    MACHINES.len(),
    REMOTE.len(),
];

/// The values that one program has in the dimensions (the properties in which dimension programs
/// differ).
#[derive(Clone, Copy)]
struct Values {
    width: Option<Width>,
    lanes: Lanes,
    data: WriteKind,
    flag: WriteKind,
    agents: ThreadAgents,
    kernels: u8,
    shape: Shape,
    machine: u8,
    is_remote: bool,
}

/// The words of data in the line that all threads share, each with the value that the sender writes.
const DATA: [(&str, u8); 2] = [("x", 3), ("y", 4)];
/// The word of data in a line of its own, with the value that the sender writes.
const FAR: (&str, u8) = ("u", 5);
/// The words of the neighbours (threads beside the sender and the receiver), each with the value
/// that its neighbour writes.
const OWN: [(&str, u8); 2] = [("v", 6), ("w", 7)];
/// The word in the shared line that the receiver writes and reads together with the data.
const BESIDE: (&str, u8) = ("o", 8);
/// A value that no word has.
const NEVER: u8 = 19;

impl Values {
    /// The values of a row of the covering array of [`SIZES`].
    fn of(row: &[usize]) -> Values {
        let (sets, ways) = (SETS[row[7]], WAYS[row[8]]);
        Values {
            width: WIDTHS[row[0]],
            lanes: LANES[row[1]],
            data: WRITES[row[2]],
            flag: WRITES[row[3]],
            agents: AGENTS[row[4]],
            kernels: KERNELS[row[5]],
            shape: Shape { banks: BANKS[row[6]], sets: (sets, sets), ways: (ways, ways) },
            machine: MACHINES[row[9]],
            is_remote: REMOTE[row[10]],
        }
    }

    /// The words of data in the shared line, each with the value that the sender writes.
    fn data(&self) -> &'static [(&'static str, u8)] {
        if self.lanes == Lanes::One { &DATA[..1] } else { &DATA }
    }

    /// The words in the shared line that the receiver reads. If one request reads several words,
    /// the receiver's cache already holds one of these words, because the receiver has written it.
    fn read(&self) -> Vec<(&'static str, u8)> {
        let beside = (self.lanes != Lanes::One).then_some(BESIDE);
        self.data().iter().copied().chain(beside).collect()
    }

    /// The words in the shared line, in order. No thread writes the last of these words.
    fn line(&self) -> &'static [&'static str] {
        match self.lanes {
            Lanes::One => &["x", "v", "w", "s"],
            Lanes::Adjacent => &["x", "y", "o", "v", "w", "s"],
            Lanes::Apart => &["x", "v", "y", "w", "o", "s"],
        }
    }

    /// The words of the neighbours (threads beside the sender and the receiver), each with the
    /// value that its neighbour writes.
    fn own(&self) -> &'static [(&'static str, u8)] {
        &OWN[..self.agents.neighbours.len()]
    }

    /// The thread numbers of the sender and the receiver.
    fn ends(&self) -> (usize, usize) {
        let first = self.agents.neighbours.len();
        (first, first + 1)
    }

    /// The agents (compute units or the host) of the threads.
    fn agents(&self) -> Vec<Agent> {
        let ThreadAgents { sender, receiver, neighbours } = self.agents;
        neighbours.iter().copied().chain([sender, receiver]).collect()
    }

    fn is_on_host(&self, thread: usize) -> bool {
        self.agents()[thread] == HOST
    }

    /// Whether the sender or the receiver is the host.
    fn passes_to_host(&self) -> bool {
        self.agents.sender == HOST || self.agents.receiver == HOST
    }

    /// The scope that includes the sender and the receiver.
    fn scope(&self) -> &'static str {
        if self.passes_to_host() { "memory_scope_all_svm_devices" } else { "memory_scope_device" }
    }

    /// The suffix of the names of a thread's synchronizing functions, and the scope of these
    /// functions. A remote operation synchronizes with the other thread's operations of work-group
    /// scope. The host has no work-group, and no remote operations.
    fn reach(&self, thread: usize) -> (&'static str, &'static str) {
        let (_, receiver) = self.ends();
        match self.is_remote {
            true if self.is_on_host(thread) => ("", self.scope()),
            true if !self.passes_to_host() && thread != receiver => ("", "memory_scope_work_group"),
            true => ("_remote", self.scope()),
            false => ("", self.scope()),
        }
    }

    /// The operations that change words from `old` to new values, with a memory order.
    fn writes(&self, kind: WriteKind, words: &[(&str, u8)], old: u8, order: &str) -> Vec<String> {
        let (suffix, scope) = if order == "relaxed" { ("", self.scope()) } else { self.reach(self.ends().0) };
        let swap = |name: &str, desired: u8, order: &str| {
            format!(
                "int s{name} = atomic_compare_exchange_strong_explicit{suffix}({name}, &e{name}, {desired}, \
                 memory_order_{order}, memory_order_relaxed, {scope});"
            )
        };
        let expects = |expected: u8| {
            words.iter().map(move |(name, _)| format!("int e{name} = {expected};")).collect::<Vec<_>>()
        };
        let store = |(name, new): &(&str, u8)| match (kind, order) {
            (WriteKind::Store, "relaxed") => format!("*{name} = {new};"),
            _ => format!("atomic_store_explicit{suffix}({name}, {new}, memory_order_{order}, {scope});"),
        };
        match kind {
            WriteKind::Store => words.iter().map(store).collect(),
            WriteKind::Add => {
                let add = |(name, new): &(&str, u8)| {
                    format!(
                        "atomic_fetch_add_explicit{suffix}({name}, {}, memory_order_{order}, {scope});",
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
                // If the words are the flag, the failing swaps come before the store, because the
                // receiver goes on as soon as the flag is stored.
                if order == "relaxed" {
                    stores.chain(expects(NEVER)).chain(swaps).collect()
                } else {
                    expects(NEVER).into_iter().chain(swaps).chain(stores).collect()
                }
            }
        }
    }

    /// The operations of the sender.
    fn sends(&self) -> Vec<String> {
        let (name, new) = FAR;
        let mut code = self.writes(self.data, self.data(), INITIAL, "relaxed");
        code.push(format!("*{name} = {new};"));
        code.extend(self.writes(self.flag, &[("f", 1)], 0, "release"));
        code
    }

    /// The operations of the receiver.
    fn receives(&self) -> Vec<String> {
        let (scope, (_, receiver)) = (self.scope(), self.ends());
        let is_plain = self.data == WriteKind::Store;
        let how = format!("memory_order_relaxed, {scope}");
        // This load brings the line into the receiver's cache before the data is written. The host
        // has no cache.
        let stale = (!self.is_on_host(receiver)).then(|| String::from("int rs = *s;"));
        let mut code: Vec<String> = stale.into_iter().collect();
        let (suffix, reach) = self.reach(receiver);
        code.push(format!("await{suffix}(f == 1, memory_order_acquire, {reach});"));
        code.extend(self.read().iter().filter(|word| **word == BESIDE).map(|(name, new)| match is_plain {
            true => format!("*{name} = {new};"),
            false => format!("atomic_store_explicit({name}, {new}, {how});"),
        }));
        code.extend(self.read().iter().map(|(name, _)| match is_plain {
            true => format!("int r{name} = *{name};"),
            false => format!("int r{name} = atomic_load_explicit({name}, {how});"),
        }));
        code.push(format!("int r{0} = *{0};", FAR.0));
        code
    }

    /// The text of the program.
    fn text(&self, name: &str) -> String {
        let is_atomic = |word: &str| {
            let is_data = self.read().iter().any(|(name, _)| *name == word);
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
        let codes = self.own().iter().map(own).chain([self.sends(), self.receives()]);
        let codes: Vec<Vec<String>> = codes.collect();
        let mut text = format!("OPENCL {name}\n\n{{\n{}}}\n", initial.collect::<String>());
        for (thread, code) in codes.iter().enumerate() {
            text += &format!("\nP{thread} ({parameters}) {{\n  {}\n}}\n", code.join("\n  "));
        }
        let groups = (0..codes.len()).filter(|&thread| !self.is_on_host(thread));
        let groups = groups.map(|thread| format!(" (work_group P{thread})")).collect::<String>();
        let mut seen: Vec<String> = Vec::new();
        let (sender, receiver) = self.ends();
        let read = self.read();
        seen.extend(read.iter().chain([&FAR]).map(|(name, new)| format!("{receiver}:r{name}={new}")));
        if matches!(self.data, WriteKind::Swap | WriteKind::Fail) {
            let succeeds = self.data == WriteKind::Swap;
            for &(name, new) in self.data() {
                // The register of the expected value holds the old value.
                let old = if succeeds { INITIAL } else { new };
                seen.push(format!("{sender}:s{name}={} /\\ {sender}:e{name}={old}", u8::from(succeeds)));
            }
        }
        let finals = read.iter().chain(self.own()).chain([&FAR, &("f", 1)]);
        seen.extend(finals.map(|(name, new)| format!("{name}={new}")));
        text + &format!("\nscopeTree (device{groups})\n\nforall ({})\n", seen.join(" /\\ "))
    }

    /// The placement of the program. The lines with data compete for the ways of one set, and with
    /// three banks each line is in another bank.
    fn placement(&self) -> Placement {
        let (agents, shared) = (self.agents(), self.line().len());
        let lines = [&[0u8][..], &vec![1; shared], &[5]].concat();
        let mixed = |at: usize| Width::ALL[at % Width::ALL.len()];
        let widths = (0..shared).map(|at| self.width.unwrap_or_else(|| mixed(at)));
        let apart = self.width.unwrap_or(Width::W4);
        let stage = |thread: usize| u8::from(thread == self.ends().1);
        Placement {
            widths: [apart].into_iter().chain(widths).chain([apart]).collect(),
            lanes: self.lanes != Lanes::One,
            stages: if self.kernels > 1 { (0..agents.len()).map(stage).collect() } else { Vec::new() },
            ..Placement::new(agents, lines)
        }
    }
}

/// The group number of all dimension programs (which differ in word widths, requests and machine
/// shapes). Tests that are generated in the same way have the same group number. The numbers for
/// enumerated programs and for message programs are smaller.
const GROUP: usize = 1 << 17;

/// The dimension programs (message programs that differ in word widths, requests and machine
/// shapes) for these claims. Most single programs come first, and programs for the machine whose
/// caches write through come last, because the former have the fewest states and the latter the
/// most.
#[must_use]
pub fn dimensions(claims: &[Claim]) -> Vec<Test> {
    let has_remote = claims.iter().any(|claim| claim.sharing() == Sharing::Remote);
    let mut sizes = SIZES;
    if !has_remote {
        sizes[SIZES.len() - 1] = 1;
    }
    let chains = pairwise(&sizes).into_iter().enumerate().map(|(number, row)| {
        let values = Values::of(&row);
        Draft {
            name: (number + 1).to_string(),
            text: values.text(&format!("dimensions-{}", number + 1)),
            placement: values.placement(),
            machine: Some((values.shape, values.machine)),
        }
    });
    let mut chains: Vec<Draft> = chains.collect();
    chains.sort_by_key(|draft| draft.machine.is_some_and(|(_, number)| number == WRITE_THROUGH));
    let drafts = single::programs(has_remote).into_iter().chain(short::programs()).chain(chains);
    let drafts = drafts.chain([single::large_program()]);
    let test = |draft: Draft| {
        // A unit test parses the texts of all dimension programs.
        let name = format!("dimensions/{}", draft.name);
        let mut test = Test::read(&name, &draft.text).expect("the text is a test");
        test.placements = vec![draft.placement];
        test.machines = draft.machine.map_or(Machines::All, |(_, number)| Machines::Nth(number));
        test.shape = draft.machine.map(|(shape, _)| shape);
        test.group = GROUP;
        test
    };
    drafts.map(test).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_one_outcome_and_no_race() {
        for (model, count) in [("opencl", 115), ("opencl-rsp", 117)] {
            let claims = [Claim::of(model).expect("a model")];
            let tests = dimensions(&claims);
            // The page `docs/verification-reference.md` gives these numbers.
            assert_eq!(tests.len(), count, "programs for {model}");
            for test in tests {
                let placement = &test.placements[0];
                let promise = claims[0].promise_in_stages(&test.program(), &placement.stages, &mut || false);
                let promise = promise.expect("it is defined");
                assert!(promise.race_free, "{model}: {}\n{}", test.name, test.text().0);
                assert_eq!(promise.allowed.map(|allowed| allowed.len()), Some(1), "{model}: {}", test.name);
            }
        }
    }
}
