//! Threads of one program in several kernels.
//!
//! The work-groups and the host threads of a program are distributed over kernels, in thread order
//! and in reverse order. The position of a thread's kernel is the thread's stage. A kernel
//! completes before the next one begins: the next kernel's beginning acquires what the kernel's end
//! releases. The program for the memory models expresses this order. At its end, each thread adds
//! one to a counter of its stage, at system scope. The threads of the next stage first wait until
//! this counter shows the end of all threads of the stage. A memory model that orders accesses by
//! synchronization then orders the writes of a kernel before the reads of later kernels.

use std::borrow::Cow;

use litmus::program::{
    Access, BinaryOp, Expr, Instr, Level, LocId, Location, Program, Region, RmwOp, ScopeId, ScopeInstance,
    ThreadId, ThreadSet,
};
use proto::{Agent, Order};

/// All ways to distribute the threads of a program over 2 to `kernels_max` kernels. Each way gives,
/// for every thread, the position of its kernel (its stage).
pub(crate) fn spread(program: &Program, agents: &[Agent], kernels_max: u8) -> Vec<Vec<u8>> {
    // A work-group belongs to one kernel.
    let mut units: Vec<_> = Vec::new();
    let of_thread: Vec<usize> = (0..program.threads.len())
        .map(|t| {
            let group = program.scopes.enclosing(ThreadId(t as u8), Level::WorkGroup);
            let unit = match (agents[t], group) {
                (Agent::Cu(_), Some(group)) => (None, Some(group)),
                _ => (Some(t), None),
            };
            units.iter().position(|other| *other == unit).unwrap_or_else(|| {
                units.push(unit);
                units.len() - 1
            })
        })
        .collect();
    let mut all = Vec::new();
    for stages in 2..=usize::from(kernels_max).min(units.len()) {
        for cuts in cuts(units.len(), stages) {
            let stage = |unit: usize| cuts.iter().filter(|&&cut| cut <= unit).count() as u8;
            all.push(of_thread.iter().map(|&unit| stage(unit)).collect());
            all.push(of_thread.iter().map(|&unit| stages as u8 - 1 - stage(unit)).collect());
        }
    }
    all
}

/// All ways to divide a sequence of `units` units (work-groups and host threads) into `pieces`
/// pieces of successive units. Each way lists the first unit of each piece, except for the first
/// piece.
fn cuts(units: usize, pieces: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 1..pieces {
        let longer = all.iter().flat_map(|cuts: &Vec<usize>| {
            let first = cuts.last().map_or(1, |cut| cut + 1);
            (first..units).map(move |cut| cuts.iter().copied().chain([cut]).collect())
        });
        all = longer.collect();
    }
    all
}

/// The program that the memory models check. `stages` has, for each thread, the position of its
/// kernel. Added operations order each kernel before the next one.
pub(crate) fn in_turn<'a>(program: &'a Program, stages: &[u8]) -> Cow<'a, Program> {
    let mut order = stages.to_vec();
    order.sort_unstable();
    order.dedup();
    if order.len() < 2 {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    let system = system_of(&mut program);
    let first = program.locations.len() as u16;
    for (at, stage) in order[1..].iter().enumerate() {
        let loc = LocId(first + at as u16);
        program.locations.push(Location {
            name: format!("before-stage-{stage}"),
            init: 0,
            region: Region::Global,
            atomic: true,
            physical: loc,
            generic: loc,
            object: loc.0,
        });
    }
    for (thread, stage) in stages.iter().enumerate() {
        let at = order.iter().position(|other| other == stage).unwrap_or_default();
        let word = |at: usize| LocId(first + at as u16);
        if at > 0 {
            let ended = stages.iter().filter(|other| **other == order[at - 1]).count();
            begin_behind(&mut program.threads[thread], wait(word(at - 1), ended, system));
        }
        if at + 1 < order.len() {
            program.threads[thread].code.push(add(word(at), system));
            program.threads[thread].lines.push(0);
        }
    }
    Cow::Owned(program)
}

/// The scope that contains all threads. The function adds the scope if the program lacks it. Only a
/// program that was not parsed from text can lack it.
fn system_of(program: &mut Program) -> ScopeId {
    let all = ThreadSet::first(program.threads.len());
    let holds_all = |scope: &ScopeInstance| scope.level == Level::System && scope.members.includes(all);
    let known = program.scopes.iter().find(|(_, scope)| holds_all(scope)).map(|(id, _)| id);
    known.unwrap_or_else(|| program.scopes.add(Level::System, "system", 0, all))
}

fn access(word: LocId, order: Order, system: ScopeId) -> Access {
    Access::atomic(Expr::Addr(word), order, system)
}

fn wait(word: LocId, count: usize, system: ScopeId) -> Instr {
    let value = Expr::Const(count as i64);
    Instr::Await { dst: None, access: access(word, Order::Acquire, system), cmp: BinaryOp::Eq, value }
}

fn add(word: LocId, system: ScopeId) -> Instr {
    let access = access(word, Order::AcqRel, system);
    Instr::Rmw { dst: None, access, op: RmwOp::Add, operand: Expr::Const(1) }
}

/// Inserts an instruction at the beginning of a thread.
fn begin_behind(thread: &mut litmus::program::Thread, instr: Instr) {
    for instr in &mut thread.code {
        match instr {
            Instr::Branch { target, join, .. } => {
                *target += 1;
                *join = join.map(|join| join + 1);
            }
            Instr::Jump { target } => *target += 1,
            _ => {}
        }
    }
    for (from, between, to) in &mut thread.unsequenced {
        (*from, *between, *to) = (*from + 1, *between + 1, *to + 1);
    }
    thread.code.insert(0, instr);
    thread.lines.insert(0, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::placement::Placement;

    fn program(threads: &str) -> Program {
        let text = format!("OPENCL staged\n{{ }}\n{threads}\nexists (x=1)\n");
        litmus::parse::parse(&text).expect("a test")
    }

    const THREE: &str = "P0@wg 0, dev 0 (global int* x) { *x = 1; }
P1@wg 1, dev 0 (global int* x) { int r0 = *x; }
P2@wg 1, dev 0 (global int* x) { int r0 = *x; if (r0 == 1) { int r1 = *x; } }";

    #[test]
    fn a_work_group_is_of_one_kernel_and_kernels_come_in_both_orders() {
        let program = program(THREE);
        let placement = Placement::spread(&program);
        assert_eq!(spread(&program, &placement.agents, 1), Vec::<Vec<u8>>::new());
        let two = vec![vec![0, 1, 1], vec![1, 0, 0]];
        assert_eq!(spread(&program, &placement.agents, 2), two);
        // Two work-groups allow at most two kernels.
        assert_eq!(spread(&program, &placement.agents, 4), two);
        assert_eq!(cuts(4, 3), [[1, 2], [1, 3], [2, 3]]);
    }

    /// The word and the value that a thread awaits at its beginning, and the word that it adds to
    /// at its end.
    type Ends<'a> = (Option<(&'a str, i64)>, Option<&'a str>);

    fn ends(staged: &Program) -> Vec<Ends<'_>> {
        let name = |access: &Access| {
            let loc = access.address.as_location().expect("a word of its own");
            assert_eq!(access.scope.map(|scope| staged.scopes.get(scope).level), Some(Level::System));
            staged.loc(loc).name.as_str()
        };
        let of = |thread: &litmus::program::Thread| {
            let awaited = match thread.code.first() {
                Some(Instr::Await { access, cmp: BinaryOp::Eq, value: Expr::Const(value), .. }) => {
                    assert_eq!(access.order, Order::Acquire);
                    Some((name(access), *value))
                }
                _ => None,
            };
            let added = match thread.code.last() {
                Some(Instr::Rmw { access, op: RmwOp::Add, operand: Expr::Const(1), .. }) => {
                    assert_eq!(access.order, Order::AcqRel);
                    Some(name(access))
                }
                _ => None,
            };
            (awaited, added)
        };
        staged.threads.iter().map(of).collect()
    }

    #[test]
    fn threads_wait_for_all_threads_of_the_stage_before() {
        let program = program(THREE);
        let (one, two) = ("before-stage-1", "before-stage-2");
        for (stages, expected) in [
            ([0, 0, 1], [(None, Some(one)), (None, Some(one)), (Some((one, 2)), None)]),
            ([0, 1, 2], [(None, Some(one)), (Some((one, 1)), Some(two)), (Some((two, 1)), None)]),
            ([1, 0, 0], [(Some((one, 2)), None), (None, Some(one)), (None, Some(one))]),
        ] {
            let staged = in_turn(&program, &stages);
            assert_eq!(ends(&staged), expected, "{stages:?}");
            let words = &staged.locations[program.locations.len()..];
            assert!(words.iter().all(|word| word.init == 0 && word.atomic), "{stages:?}");
        }
    }

    #[test]
    fn the_program_for_models_keeps_jumps_and_observations() {
        let program = program(THREE);
        let staged = in_turn(&program, &[0, 1, 1]);
        let count = |t: usize| staged.threads[t].code.len() - program.threads[t].code.len();
        assert_eq!([count(0), count(1), count(2)], [1, 1, 1]);
        let targets = |program: &Program| -> Vec<usize> {
            program.threads[2].code.iter().filter_map(Instr::target).collect()
        };
        let (before, after) = (targets(&program), targets(&staged));
        assert!(!before.is_empty() && before.iter().map(|at| at + 1).eq(after));
        assert_eq!(staged.state_terms(), program.state_terms());
        assert!(matches!(in_turn(&program, &[]), Cow::Borrowed(_)));
    }

    #[test]
    fn a_program_without_a_system_scope_gets_one() {
        let mut program = program(THREE);
        let with = in_turn(&program, &[0, 1, 1]).into_owned();
        let mut scopes = litmus::program::Scopes::default();
        for (_, scope) in program.scopes.iter().filter(|(_, scope)| scope.level != Level::System) {
            scopes.add(scope.level, &scope.kind, scope.instance, scope.members);
        }
        program.scopes = scopes;
        let without = in_turn(&program, &[0, 1, 1]);
        assert_eq!(ends(&without), ends(&with));
    }
}
