//! Converts a litmus program to kernels for the timed machine, and to actions of the host between
//! the kernels.

use std::cell::RefCell;
use std::rc::Rc;

use explore::StagedKernel;
use kernel::{Program as KernelProgram, Use};

use kernel::prelude::{Answer, Array, Host, Kernel, Lanes, Semantics, Wave};
use litmus::program::{Instr, Program, Term};
use proto::AccessMode;
use sim::follow::MoveIssuer;

use super::machine::AddressMap;
use super::roles::ThreadRoles;
use super::thread::{Core, Observations, RunningTest, WordRef, value_of};

/// The value that the host writes into every word of memory after the end of the litmus program.
/// Litmus programs do not use this value.
const HOST_WORD: u32 = 0xb7b7_b7b7;

/// Converts a litmus program to a program for the timed machine. Also returns a record. The run
/// fills this record with the values that the threads read.
pub(super) fn of(
    test: &Program,
    roles: &ThreadRoles,
    addresses: &AddressMap,
    kernels: Option<&[StagedKernel]>,
) -> Result<(KernelProgram, Rc<RefCell<Observations>>), String> {
    for (thread, code) in test.threads.iter().map(|thread| &thread.code).enumerate() {
        let is_blind =
            |instr: &Instr| matches!(instr, Instr::Cas(cas) if cas.dst.is_none() && cas.success.is_none());
        if code.iter().any(is_blind) {
            return Err(format!(
                "P{thread} ignores the result of a compare-exchange; kernels have no such operation"
            ));
        }
    }
    let seen = Rc::new(RefCell::new(Observations::default()));
    seen.borrow_mut().registers = vec![Vec::new(); test.threads.len()];
    let (test, roles, addresses, left) = (test.clone(), roles.clone(), addresses.clone(), seen.clone());
    let kernels = kernels.map(<[_]>::to_vec);
    let program = KernelProgram::new(test.name.clone(), move |host| async move {
        let memory = Memory::of(&host, &test, &addresses, kernels.is_some()).await;
        let running = Rc::new(RunningTest { words: memory.words.clone(), test, roles, seen: left });
        let mut is_behind_kernel = false;
        for stage in running.roles.order() {
            let uses = match &kernels {
                None => Some(memory.arrays.iter().map(Array::read_write).collect()),
                Some(kernels) => kernels.iter().find(|kernel| kernel.stage == stage).map(|k| memory.uses(k)),
            };
            let launched = uses.map(|uses: Vec<Use>| {
                let body = running.clone();
                let kernel = Kernel::new("litmus", move |w| wavefront(w, body.clone(), stage)).uses(uses);
                host.launch(kernel, running.roles.grid())
            });
            is_behind_kernel = launched.is_some();
            if let Some(thread) = running.roles.thread(MoveIssuer::Host, stage) {
                running.thread(Core::Host(host.clone()), thread).await;
            }
            if let Some(launched) = launched {
                launched.await;
            }
        }
        if !is_behind_kernel {
            // This kernel starts after all moves of the trace, and ends the run.
            host.launch(Kernel::new("end", idle), running.roles.one_wave_per_cu()).await;
        }
        let mut locations = Vec::new();
        for &(array, at) in &memory.words {
            locations.push(value_of(host.load(array, at).await));
        }
        running.seen.borrow_mut().locations = locations;
        if shows_locations(&running.test) {
            overwrite(&host, &memory, &running).await;
        }
        Answer::new()
    });
    Ok((program, seen))
}

/// Returns true if the condition or the filter of the test reads memory locations.
fn shows_locations(test: &Program) -> bool {
    let mut terms = test.state_terms();
    if let Some(filter) = &test.filter {
        filter.collect_terms(&mut terms);
    }
    terms.iter().any(|term| matches!(term, Term::Loc(_)))
}

/// The arrays that hold the words of a litmus program.
struct Memory {
    /// The arrays of the program: one array for all lines, or one array for each line.
    arrays: Vec<Array<u32>>,
    /// For each location of the program, its array and its index in this array.
    words: Vec<WordRef>,
}

impl Memory {
    /// Allocates the arrays of the program and writes the initial values. If `is_by_line` is true,
    /// each line is an array of its own, as in the explorer. This is needed for kernels that
    /// declare which arrays they access.
    async fn of(host: &Host, test: &Program, addresses: &AddressMap, is_by_line: bool) -> Memory {
        let locations = 0..test.locations.len();
        let (arrays, words): (Vec<_>, Vec<_>) = if is_by_line {
            let _gap = host.alloc_behind::<u32>("gap", addresses.gap());
            let line = |line| host.alloc_behind(format!("line {line}"), addresses.line_words());
            let arrays: Vec<Array<u32>> = (0..addresses.lines()).map(line).collect();
            let words = locations.clone().map(|loc| addresses.in_line(loc));
            let words = words.map(|(line, at)| (arrays[line], at)).collect();
            (arrays, words)
        } else {
            let memory = host.alloc::<u32>("memory", addresses.len());
            (vec![memory], locations.clone().map(|loc| (memory, addresses.position(loc))).collect())
        };
        for &array in &arrays {
            let mut values = vec![0; array.len() as usize];
            for (location, (of, at)) in test.locations.iter().zip(&words) {
                if of.id() == array.id() {
                    values[*at as usize] = test.loc(location.physical).init as u32;
                }
            }
            host.write(array, &values).await;
        }
        Memory { arrays, words }
    }

    /// The declaration that a kernel makes at its launch: the arrays that it accesses, each with
    /// the kind of access.
    fn uses(&self, kernel: &StagedKernel) -> Vec<Use> {
        let used = kernel.uses.iter().filter_map(|used| {
            let array = self.arrays.get(used.first.0 as usize)?;
            Some(match used.mode {
                AccessMode::Read => array.read(),
                AccessMode::Write => array.write(),
                AccessMode::ReadWrite => array.read_write(),
            })
        });
        used.collect()
    }
}

async fn wavefront(w: Wave, running: Rc<RunningTest>, stage: u8) {
    let own = MoveIssuer::Wave { work_group: w.work_group(), wave: w.index() };
    if let Some(thread) = running.roles.thread(own, stage) {
        running.thread(Core::Wave(w), thread).await;
    }
    // An operation without an effect. It ends the run after all moves, see `sim::follow`.
    let _idle = Lanes::splat(0u32) + 1;
}

async fn idle(_: Wave) {}

/// Lets the host write a new value into every word, and then launches a kernel in which each
/// compute unit reads all words. A compute unit that reads another value is recorded as stale.
async fn overwrite(host: &Host, memory: &Memory, running: &Rc<RunningTest>) {
    for &(array, at) in &memory.words {
        host.store(array, at, HOST_WORD).await;
    }
    let (reader, words) = (running.clone(), memory.words.clone());
    let body = move |w: Wave| {
        let (running, words) = (reader.clone(), words.clone());
        async move {
            for (array, at) in words {
                if w.atomic_load(array, at, Semantics::PLAIN).await != HOST_WORD {
                    let stale = &mut running.seen.borrow_mut().stale;
                    *stale = Some(stale.map_or(w.compute_unit(), |other| other.min(w.compute_unit())));
                }
            }
        }
    };
    let uses: Vec<Use> = memory.arrays.iter().map(Array::read).collect();
    host.launch(Kernel::new("next", body).uses(uses), running.roles.one_wave_per_cu()).await;
}
