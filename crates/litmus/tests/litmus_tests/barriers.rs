//! Tests barriers with a count, which complete when a given number of threads has arrived: which
//! arrivals complete a barrier together, and which arrivals remain. Compares the outcomes of small
//! programs with those of every interleaving on a machine that is written for this test.

use std::collections::BTreeSet;

use litmus::cat::Model;
use litmus::check::{Options, Report, check};
use litmus::program::{
    Access, Barrier, Builder, Dialect, Expr, Instr, Level, LocId, Order, Program, Prop, Scopes, Term,
    ThreadId, ThreadSet, Value,
};

use crate::common::random::Rng;

fn ptx(threads: &str, condition: &str) -> Report {
    let text = format!("PTX test\n{{\nx=0; y=0;\n}}\n{threads}\n{condition}\n");
    let program = litmus::parse::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let model = litmus::cat::shipped("ptx-7.5").expect("it is shipped").expect("it is a model");
    check(&program, &model, &mut Options::default()).expect("the model fits")
}

#[test]
fn two_of_three_complete_a_barrier_and_the_third_waits() {
    // P0 may remain: the others meet, and P0 reads P1's write before it waits.
    let threads = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n\
                   ld.weak r0, x | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;\n\
                   bar.cta.sync 1, 1, 2 | st.weak x, 1 | ;";
    let report = ptx(threads, "exists (P0:r0 == 1)");
    assert!(report.verdict && report.complete);
    assert!(
        report.notes.iter().any(|note| note.contains("waits at a barrier for ever")),
        "{:?}",
        report.notes
    );
}

#[test]
fn the_third_does_not_synchronize_with_the_two() {
    // P0 and P2 meet without P1. Neither certainly sees P1's writes.
    let threads = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n\
                   bar.cta.sync 1, 1, 2 | st.weak x, 1 | bar.cta.sync 1, 1, 2 ;\n\
                   ld.weak r0, x | st.weak y, 1 | ld.weak r0, y ;\n\
                   | bar.cta.sync 1, 1, 2 | ;";
    assert!(ptx(threads, "exists (P0:r0 == 0 /\\ P2:r0 == 0)").verdict);
    // With a count of three, all three threads meet.
    assert!(!ptx(&threads.replace("1, 1, 2", "1, 1, 3"), "exists (P0:r0 == 0)").verdict);
}

#[test]
fn a_barrier_completes_again() {
    // Four threads meet in pairs: P0 meets P1, P2 or P3, and all threads end.
    let threads = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 | P3@cta 0,gpu 0 ;\n\
                   bar.cta.sync 1, 1, 2 | st.weak x, 1 | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;\n\
                   ld.weak r0, x | bar.cta.sync 1, 1, 2 | | ;";
    let report = ptx(threads, "exists (P0:r0 == 0)");
    assert!(report.verdict && report.notes.is_empty(), "{:?}", report.notes);
    // One thread arrives twice, two others once: it meets each of them.
    let threads = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n\
                   bar.cta.sync 1, 1, 2 | st.weak x, 1 | st.weak y, 1 ;\n\
                   bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 2 ;\n\
                   ld.weak r0, x | | ;\n ld.weak r1, y | | ;";
    let both = ptx(threads, "forall (P0:r0 == 1 /\\ P0:r1 == 1)");
    // If P1 meets P2, P0 waits for ever and reads nothing.
    assert!(both.states.iter().all(|s| s.satisfies || s.values.iter().all(|(_, v)| **v == *"0")), "{both:?}");
    assert!(!both.verdict && both.positive > 0);
}

#[test]
fn a_count_in_a_register_is_followed() {
    let threads = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\n\
                   st.weak y, 2 | ld.weak r2, y | bar.cta.sync 1, 1, 2 ;\n\
                   st.weak x, 1 | bar.cta.sync 1, 1, r2 | ld.weak r0, x ;\n\
                   bar.cta.sync 1, 1, 2 | | ;";
    let report = ptx(threads, "exists (P1:r2 == 2 /\\ P2:r0 == 0)");
    assert!(report.verdict, "P1 meets P2 while P0 is left: {report:?}");
}

/// A random program: three threads of one group with stores, loads, and barriers that wait for two
/// threads.
fn program(seed: u64) -> Program {
    let mut dice = Rng(seed);
    let mut scopes = Scopes::flat(3);
    let group = scopes.add(Level::WorkGroup, "cta", 0, ThreadSet::first(3));
    let mut b = Builder::new("random", Dialect::Ptx, scopes, 3);
    let locs = [b.location("x", 0), b.location("y", 0)];
    let mut terms = Vec::new();
    for number in 0..3 {
        let id = ThreadId(number as u8);
        for at in 0..2 + dice.below(2) {
            let loc = locs[dice.below(2)];
            match dice.below(5) {
                0 => {
                    let value = Expr::Const(1 + (number * 4 + at) as Value);
                    b.push(id, Instr::Store { access: Access::plain(Expr::Addr(loc)), value });
                }
                1 => {
                    let dst = b.register(id, &format!("r{at}"));
                    b.push(id, Instr::Load { dst, access: Access::plain(Expr::Addr(loc)) });
                    terms.push(Term::Reg(id, dst));
                }
                kind => {
                    b.push(
                        id,
                        Instr::Barrier(Barrier {
                            group,
                            scope: group,
                            order: Order::AcqRel,
                            instance: 0,
                            id: Expr::Const(Value::from(dice.below(4) == 0)),
                            arrive: kind == 4 && seed.is_multiple_of(2),
                            quorum: Some(Expr::Const(2)),
                            global: true,
                            local: true,
                            tags: Vec::new(),
                        }),
                    );
                }
            }
        }
    }
    let mut program = b.exists(Prop::True);
    program.observed = terms;
    program.observed.extend(locs.map(Term::Loc));
    program
}

#[derive(Clone)]
struct Machine {
    pcs: [usize; 3],
    waits: [bool; 3],
    /// For each of two barriers, the number of arrivals of each thread that have not yet completed
    /// the barrier.
    pending: [[usize; 3]; 2],
    registers: Vec<Vec<Value>>,
    memory: Vec<Value>,
}

impl Machine {
    fn arrive(&mut self, thread: usize, barrier: &Barrier) {
        let at = barrier.id.as_const().expect("a number") as usize;
        self.pending[at][thread] += 1;
        self.waits[thread] = !barrier.arrive;
        // Completed arrivals are the oldest ones, so a waiting thread continues last.
        while self.pending[at].iter().filter(|&&count| count > 0).count() >= 2 {
            for other in 0..3 {
                if self.pending[at][other] > 0 {
                    self.pending[at][other] -= 1;
                }
            }
        }
    }

    /// Whether the thread can take a step.
    fn is_free(&self, program: &Program, thread: usize) -> bool {
        if !self.waits[thread] {
            return true;
        }
        let Instr::Barrier(barrier) = &program.threads[thread].code[self.pcs[thread] - 1] else {
            return true;
        };
        self.pending[barrier.id.as_const().expect("a number") as usize][thread] == 0
    }
}

fn interleave(program: &Program, machine: &Machine, out: &mut BTreeSet<Vec<Value>>) {
    let mut ended = true;
    for thread in 0..3 {
        if !machine.is_free(program, thread) {
            continue;
        }
        let Some(instr) = program.threads[thread].code.get(machine.pcs[thread]) else { continue };
        ended = false;
        let mut next = machine.clone();
        next.pcs[thread] += 1;
        next.waits[thread] = false;
        let word = |a: &Access| usize::from(a.address.as_location().expect("addresses are plain").0);
        match instr {
            Instr::Load { dst, access } => {
                next.registers[thread][usize::from(dst.0)] = next.memory[word(access)];
            }
            Instr::Store { access, value } => {
                next.memory[word(access)] = value.as_const().expect("a number");
            }
            Instr::Barrier(barrier) => next.arrive(thread, barrier),
            other => panic!("{other:?} is not generated"),
        }
        interleave(program, &next, out);
    }
    if ended {
        let value = |term: &Term| match *term {
            Term::Reg(thread, reg) => machine.registers[usize::from(thread.0)][usize::from(reg.0)],
            Term::Loc(LocId(loc)) => machine.memory[usize::from(loc)],
            Term::Const(value) => value,
        };
        out.insert(program.state_terms().iter().map(value).collect());
    }
}

#[test]
fn counted_barriers_end_as_every_interleaving_does() {
    let text = "\"SC with barriers\"\n\
                acyclic po | (po; (syncbar; po)+) | rf | co | fr as order\n";
    let model =
        Model::parse("sc-bar", "sc-bar.cat", text, &mut |_| Err("none".into())).expect("it is a model");
    let mut several = 0;
    for seed in 0..300 {
        let program = program(seed);
        let report = check(&program, &model, &mut Options::default()).expect("the model fits");
        let states: BTreeSet<Vec<Value>> = report
            .states
            .iter()
            .map(|s| s.values.iter().map(|(_, v)| v.parse().expect("a number")).collect())
            .collect();
        let start = Machine {
            pcs: [0; 3],
            waits: [false; 3],
            pending: [[0; 3]; 2],
            registers: program.threads.iter().map(|t| vec![0; t.registers.len()]).collect(),
            memory: vec![0; 2],
        };
        let mut run = BTreeSet::new();
        interleave(&program, &start, &mut run);
        // On the machine, an arrival without waiting at an earlier generation is
        // visible in a later one. The model orders only within one generation.
        let mut code = program.threads.iter().flat_map(|t| &t.code);
        if code.any(|instr| matches!(instr, Instr::Barrier(barrier) if barrier.arrive)) {
            assert!(run.is_subset(&states), "seed {seed}: {program:?}");
        } else {
            assert_eq!(states, run, "seed {seed}: {program:?}");
        }
        several += usize::from(states.len() > 2);
    }
    assert!(several > 50, "{several} programs have several outcomes");
}

#[test]
fn different_counts_complete_no_barrier() {
    let threads = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\nbar.cta.sync 1, 1, 2 | bar.cta.sync 1, 1, 3 ;\n\
                   st.weak x, 1 | st.weak y, 1 ;";
    let report = ptx(threads, "exists (x == 1)");
    assert!(!report.verdict, "nobody goes on: {report:?}");
    assert!(report.notes.iter().any(|note| note.contains("diverge at a barrier")), "{:?}", report.notes);
}

#[test]
fn threads_at_another_resource_are_not_waited_for() {
    let threads = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\nbar.cta.sync 1, 1 | bar.cta.sync 1, 2 ;\n\
                   st.weak x, 1 | ld.weak r0, x ;";
    let report = ptx(threads, "exists (P1:r0 == 0)");
    assert!(report.verdict && report.notes.is_empty(), "{:?}", report.notes);
    let one = ptx(&threads.replace("1, 2", "1, 1"), "exists (P1:r0 == 0)");
    assert!(one.verdict && one.notes.is_empty(), "they meet, and then race: {one:?}");
}
