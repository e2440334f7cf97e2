//! Walks of protocols that register the lines of atomics: scopes are hints, so
//! every program is walked as it is and with work-group scope everywhere.

use crate::programs::{self, Expected, PLAIN, SYS, U, X, Y, Z, case, host, on, writer};
use crate::walker::{Bounds, Do, Outcome, Program, Sync, walk};
use proto::Level::{Device, System, WorkGroup};
use proto::Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use proto::{Protocol, WritePolicy};
use std::collections::BTreeSet;
use zoo::hlrc::{Hlrc, HlrcNoprio, HlrcRepaired};

/// The same program, with work-group scope in the place of device scope.
fn narrowed(program: &Program) -> Program {
    let mut narrowed = program.clone();
    for op in narrowed.threads.iter_mut().flat_map(|t| &mut t.ops) {
        let sync: &mut Sync = match op {
            Do::Store(_, _, s)
            | Do::Load(_, s)
            | Do::Await(_, _, s)
            | Do::Until(_, _, s, _)
            | Do::Add(_, _, s)
            | Do::Update(_, _, s)
            | Do::Take(_, s)
            | Do::Fence(s) => s,
            Do::KernelBegin(_) | Do::KernelEnd(_) => continue,
        };
        if sync.1 == Device {
            sync.1 = WorkGroup;
        }
    }
    narrowed
}

fn machines(program: &Program) -> Vec<Bounds> {
    use WritePolicy::{Combining, Through, ThroughInvalidate};
    let loops = program.threads.iter().flat_map(|t| &t.ops).any(|op| matches!(op, Do::Until(..)));
    let is_small = program.threads.len() < 3 && !loops;
    let mut machines = vec![
        Bounds::new(Combining, Combining).tight(),
        Bounds::new(Through, ThroughInvalidate).tight(),
        Bounds::new(Through, ThroughInvalidate),
    ];
    if is_small {
        machines.push(Bounds::new(Combining, Combining).evicting());
        machines.push(Bounds::new(Through, Through).evicting());
        machines.push(Bounds::new(ThroughInvalidate, ThroughInvalidate).evicting());
    }
    machines
}

/// All outcomes of a program; a violation is one of its own.
fn outcomes<P: Protocol>(program: &Program) -> Result<BTreeSet<Outcome>, String> {
    let mut all = BTreeSet::new();
    for bounds in machines(program) {
        let found = walk::<P>(program, bounds, None);
        if let Some(why) = found.violation {
            return Err(format!("{}, {}: {why} on {bounds:?}", P::INFO.name, program.name));
        }
        all.extend(found.outcomes);
    }
    Ok(all)
}

/// Says of which programs a protocol shows anything but what is expected.
fn wrong<P: Protocol>(programs: &[Expected], narrow: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for expected in programs {
        let program = if narrow { narrowed(&expected.program) } else { expected.program.clone() };
        match outcomes::<P>(&program) {
            Err(why) => wrong.push(why),
            Ok(all) if !all.is_subset(&expected.outcomes) => {
                let more: Vec<_> = all.difference(&expected.outcomes).collect();
                wrong.push(format!("{}: {more:?}", program.name));
            }
            Ok(_) => {}
        }
    }
    wrong
}

#[test]
fn probe_all() {
    let all = programs::all();
    for narrow in [false, true] {
        println!("hlrc narrow {narrow}: {:#?}", wrong::<Hlrc>(&all, narrow));
        println!("repaired narrow {narrow}: {:#?}", wrong::<HlrcRepaired>(&all, narrow));
    }
}
