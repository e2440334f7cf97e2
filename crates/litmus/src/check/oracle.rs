//! Compares the search with two independent oracles on small random programs. The first oracle
//! evaluates the model on every candidate execution. The second oracle runs every interleaving.

mod random;
mod vulkan;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::cat::{Model, shipped, shipped_names, stage};
use crate::exec::set::{EventSet, Word, wide};
use crate::exec::skeleton::Skeleton;
use crate::exec::unfold::{numbers_of, unfold};
use crate::program::{Access, Dialect, Instr, LocId, Order, Program, Term, ThreadId, Value};

use super::search::{AllowedExecution, SearchOptions, Visitor, satisfied, search};
use random::{LOCKS, Mix, mixed, program};

use super::{Gaps, Options, Paths, check, fence_orders, for_each_skeleton};

type Pairs = (Vec<usize>, Vec<EventSet>, Vec<usize>);

/// A visitor that collects executions together with the flags that hold on them.
#[derive(Default)]
struct Collector {
    found: BTreeSet<Pairs>,
}

impl Visitor for Collector {
    fn execution<W: Word>(&mut self, found: &AllowedExecution<'_, W>) -> ControlFlow<()> {
        let flags = found.flags.iter().map(|(number, _)| *number).collect();
        let new = self.found.insert((found.rf.to_vec(), wide(found.co), flags));
        assert!(new, "an execution is found once");
        ControlFlow::Continue(())
    }

    fn stop(&mut self) -> bool {
        false
    }

    fn wants_flag(&self, _: usize) -> bool {
        true
    }
}

/// The part of an execution that the visitor [`Counter`] distinguishes: the writes from which its
/// observed reads take their values, and the coherence order.
type Observed = (Vec<usize>, Vec<EventSet>);

/// A visitor that counts executions in groups. The executions of a group differ only in the writes
/// that unobserved reads read from.
#[derive(Default, PartialEq, Eq, Debug)]
struct Counter {
    found: BTreeMap<Observed, u64>,
    flags: BTreeMap<usize, u64>,
    /// The number of executions that the search has reported.
    reported: u64,
}

impl Counter {
    /// Whether the visitor observes the read with this event number: it observes the reads with
    /// even numbers.
    const fn observed(read: usize) -> bool {
        read.is_multiple_of(2)
    }

    fn add(&mut self, rf: &[usize], co: Vec<EventSet>, flags: impl Iterator<Item = usize>, weight: u64) {
        let rf = rf.iter().copied().enumerate().filter(|(read, _)| Counter::observed(*read));
        *self.found.entry((rf.map(|(_, write)| write).collect(), co)).or_default() += weight;
        flags.for_each(|flag| *self.flags.entry(flag).or_default() += weight);
        self.reported += 1;
    }

    /// Computes, from the set `all` of all executions, the counts that the search should give.
    fn of(all: &BTreeSet<Pairs>) -> Counter {
        let mut counter = Counter::default();
        for (rf, co, flags) in all {
            counter.add(rf, co.clone(), flags.iter().copied(), 1);
        }
        counter
    }
}

impl Visitor for Counter {
    fn execution<W: Word>(&mut self, found: &AllowedExecution<'_, W>) -> ControlFlow<()> {
        self.add(found.rf, wide(found.co), found.flags.iter().map(|(flag, _)| *flag), found.weight);
        ControlFlow::Continue(())
    }

    fn observes(&self, read: usize) -> bool {
        Counter::observed(read)
    }

    fn stop(&mut self) -> bool {
        false
    }

    fn wants_flag(&self, _: usize) -> bool {
        true
    }
}

/// Evaluates the whole model on one candidate execution. Uses no results of the search.
fn judge(
    staged: &mut stage::Staged,
    skeleton: &Skeleton<'_>,
    rf: &[usize],
    co: &[EventSet],
    sync: &[EventSet],
) -> Option<Vec<usize>> {
    use crate::cat::graph::{Chosen, NodeId, Op};
    assert!(staged.choices.is_empty(), "choices are judged elsewhere");
    let n = skeleton.len();
    let (mut rf_rows, mut fr_rows) = (vec![EventSet::EMPTY; n], vec![EventSet::EMPTY; n]);
    for (read, event) in skeleton.events.iter().enumerate().filter(|(_, e)| e.reads()) {
        assert_eq!(skeleton.word(event), skeleton.word(&skeleton.events[rf[read]]));
        rf_rows[rf[read]].insert(read);
        fr_rows[read] = co[rf[read]];
    }
    for at in 0..staged.graph.nodes.len() {
        let id = NodeId(at as u32);
        match staged.graph.nodes[at].op {
            Op::Chosen(Chosen::Rf, _) => staged.graph.set_value(id, &rf_rows),
            Op::Chosen(Chosen::Co, _) => staged.graph.set_value(id, co),
            Op::Chosen(Chosen::Fr, _) => staged.graph.set_value(id, &fr_rows),
            Op::Chosen(Chosen::SyncFence, _) => staged.graph.set_value(id, sync),
            _ => {}
        }
    }
    let mut flags = Vec::new();
    for (number, check) in staged.checks.iter().enumerate() {
        for &id in &check.plan {
            staged.graph.refresh(id).expect("definitions settle");
        }
        let holds = satisfied(check.kind, staged.graph.value(check.low)) != check.negated;
        match (check.flag, holds) {
            (true, true) => flags.push(number),
            (false, false) => return None,
            _ => {}
        }
    }
    Some(flags)
}

/// Compares the search with an evaluation of the model on every candidate execution. Returns the
/// numbers of candidates and of allowed executions.
fn compare(model: &Model, program: &Program) -> (usize, usize) {
    let unfoldings: Vec<_> =
        (0..program.threads.len()).map(|t| unfold(program, ThreadId(t as u8), 1, false)).collect();
    let numbers = numbers_of(program);
    let (mut candidates, mut allowed) = (0, 0);
    let mut gaps = Gaps::default();
    for_each_skeleton(program, &unfoldings, Paths::Whole, &mut gaps, &mut |skeleton| {
        let Some(skeleton) = skeleton else { return Ok(true) };
        let options = |unchecked, wide| SearchOptions {
            file: &model.file,
            partial_coherence: model.partial_coherence,
            numbers: &numbers,
            unchecked,
            wide,
        };
        for sync in fence_orders(&skeleton) {
            let staged = stage::stage(model, &skeleton)?;
            let syncs = [sync.clone()];
            let (mut pruned, mut in_wide_words, mut every) =
                (Collector::default(), Collector::default(), Collector::default());
            for (wide, into) in [(false, &mut pruned), (true, &mut in_wide_words)] {
                search(&skeleton, staged.clone(), &options(false, wide), &syncs, into).expect("it ends");
            }
            assert_eq!(pruned.found, in_wide_words.found, "{}", model.name);
            let mut counter = Counter::default();
            search(&skeleton, staged.clone(), &options(false, false), &syncs, &mut counter).expect("it ends");
            let expected = Counter::of(&pruned.found);
            assert_eq!(
                (&counter.found, &counter.flags),
                (&expected.found, &expected.flags),
                "{}",
                model.name
            );
            let mut flagless = staged.clone();
            let mut staged = staged;
            flagless.checks.retain(|c| !c.flag);
            search(&skeleton, flagless, &options(true, false), &syncs, &mut every).expect("it ends");
            candidates += every.found.len();
            let judged: BTreeSet<Pairs> = every
                .found
                .iter()
                .filter_map(|(rf, co, _)| {
                    let flags = judge(&mut staged, &skeleton, rf, co, &sync)?;
                    Some((rf.clone(), co.clone(), flags))
                })
                .collect();
            assert_eq!(pruned.found, judged, "{}", model.name);
            allowed += judged.len();
        }
        Ok(true)
    })
    .expect("the model fits the test");
    (candidates, allowed)
}

/// An estimate of the number of candidate executions of a program.
fn size(program: &Program) -> usize {
    let count = |loc: LocId, wanted: fn(&Instr) -> bool| {
        let code = program.threads.iter().flat_map(|t| &t.code);
        code.filter(|i| wanted(i) && i.access().is_some_and(|a| a.address.as_location() == Some(loc))).count()
    };
    (0..program.locations.len() as u16)
        .map(|loc| {
            let writes = count(LocId(loc), |i| !matches!(i, Instr::Load { .. }));
            let reads = count(LocId(loc), |i| !matches!(i, Instr::Store { .. }));
            (1..=writes).product::<usize>() * (writes + 1).pow(reads as u32)
        })
        .product()
}

#[test]
fn pruning_loses_and_invents_no_execution() {
    for of in shipped_names() {
        let model = shipped(of.name).expect("it is shipped").expect("it is a model");
        let dialect = match of.name {
            name if name.starts_with("ptx") => Dialect::Ptx,
            name if name.starts_with("opencl") => Dialect::OpenCl,
            // A separate test covers the Vulkan model.
            "vulkan" => continue,
            // The flags of these models depend on `with` statements. A separate test covers such
            // flags.
            "drf" | "hrf-direct" | "hrf-indirect" => continue,
            _ => Dialect::C11,
        };
        let (mut candidates, mut allowed) = (0, 0);
        for seed in 0..400 {
            let program = program(seed, dialect);
            if size(&program) > 400 || candidates > 4000 {
                continue;
            }
            let (c, a) = compare(&model, &program);
            candidates += c;
            allowed += a;
        }
        assert!(candidates > 1000 && allowed > 100, "{}: {allowed} of {candidates}", of.name);
        assert!(allowed < candidates, "{} forbids something", of.name);
    }
}

#[test]
fn pruning_is_exact_on_read_modify_writes_and_barriers() {
    for (name, dialect) in [
        ("ptx-6.0", Dialect::Ptx),
        ("ptx-7.5", Dialect::Ptx),
        ("sc", Dialect::Ptx),
        ("opencl", Dialect::OpenCl),
        ("rc11", Dialect::C11),
        ("tso", Dialect::C11),
    ] {
        let model = shipped(name).expect("it is shipped").expect("it is a model");
        let (mut candidates, mut allowed, mut met) = (0, 0, 0);
        for seed in 0..600 {
            let mix = if dialect == Dialect::Ptx { LOCKS } else { Mix { barriers: 0, ..LOCKS } };
            let program = mixed(seed, dialect, mix);
            if size(&program) > 2000 || candidates > 20_000 {
                continue;
            }
            let (c, a) = compare(&model, &program);
            candidates += c;
            allowed += a;
            let barriers = program.threads.iter().flat_map(|t| &t.code);
            met += barriers.filter(|i| matches!(i, Instr::Barrier(_))).count();
        }
        assert!(candidates > 1000 && allowed > 100, "{name}: {allowed} of {candidates}");
        assert!(allowed < candidates, "{name} forbids something");
        assert!(met > 20 || dialect != Dialect::Ptx, "{met} barriers");
    }
}

/// Tests that the search finds exactly the executions that the oracle finds, for models with a
/// partial coherence order, and for models that restrict the atomicity rule to some
/// read-modify-writes or to some intervening writes.
#[test]
fn pruning_is_exact_on_atomicity_of_any_form() {
    let coherent = "acyclic po-loc | rf | co | fr as coherence";
    for title in ["", "OWN partialco\n"] {
        for path in [
            "fr; co",
            "fre; coe",
            "(fr \\ int); co",
            "fr; (co \\ int)",
            "(fr & (_ * SC)); co",
            "fr; (co & (SC * _))",
            "(fr & (A * A) \\ id); (co & (RLX * _))",
        ] {
            for order in ["", coherent] {
                let text = format!("{title}{order}\nempty rmw & ({path}) as atomicity");
                let model =
                    Model::parse("own", "own.cat", &text, &mut |_| Err("none".into())).expect("a model");
                let (mut candidates, mut allowed) = (0, 0);
                for seed in 0..60 {
                    let program = mixed(seed, Dialect::C11, Mix { barriers: 0, ..LOCKS });
                    if size(&program) > 200 {
                        continue;
                    }
                    let (c, a) = compare(&model, &program);
                    candidates += c;
                    allowed += a;
                }
                assert!(allowed > 50 && allowed < candidates, "{text}: {allowed} of {candidates}");
            }
        }
    }
}

/// Runs every interleaving of a loop-free program.
fn interleave(program: &Program) -> BTreeSet<Vec<Value>> {
    struct State {
        pcs: Vec<usize>,
        registers: Vec<Vec<Value>>,
        memory: Vec<Value>,
    }
    fn step(program: &Program, state: &State, out: &mut BTreeSet<Vec<Value>>) {
        let mut ended = true;
        for (number, thread) in program.threads.iter().enumerate() {
            let Some(instr) = thread.code.get(state.pcs[number]) else { continue };
            ended = false;
            let mut next = State {
                pcs: state.pcs.clone(),
                registers: state.registers.clone(),
                memory: state.memory.clone(),
            };
            next.pcs[number] += 1;
            let registers = &mut next.registers[number];
            let word = |a: &Access| usize::from(a.address.as_location().expect("addresses are plain").0);
            match instr {
                Instr::Load { dst, access } => registers[usize::from(dst.0)] = next.memory[word(access)],
                Instr::Store { access, value } => {
                    next.memory[word(access)] = value.eval(registers).expect("it has a value");
                }
                Instr::Rmw { dst, access, op, operand } => {
                    let old = next.memory[word(access)];
                    next.memory[word(access)] =
                        op.apply(old, operand.eval(registers).expect("it has a value"));
                    if let Some(dst) = dst {
                        registers[usize::from(dst.0)] = old;
                    }
                }
                _ => {}
            }
            step(program, &next, out);
        }
        if ended {
            let value = |term: &Term| match *term {
                Term::Reg(thread, reg) => state.registers[usize::from(thread.0)][usize::from(reg.0)],
                Term::Loc(loc) => state.memory[usize::from(loc.0)],
                Term::Const(value) => value,
            };
            out.insert(program.state_terms().iter().map(value).collect());
        }
    }
    let mut out = BTreeSet::new();
    let start = State {
        pcs: vec![0; program.threads.len()],
        registers: program.threads.iter().map(|t| vec![0; t.registers.len()]).collect(),
        memory: vec![0; program.locations.len()],
    };
    step(program, &start, &mut out);
    out
}

#[test]
fn sequential_consistency_is_the_set_of_interleavings() {
    let model = shipped("sc").expect("it is shipped").expect("it is a model");
    let mut several = 0;
    for seed in 0..300 {
        let program = program(seed, Dialect::C11);
        let report = check(&program, &model, &mut Options::default()).expect("the model fits");
        let states: BTreeSet<Vec<Value>> = report
            .states
            .iter()
            .map(|s| s.values.iter().map(|(_, v)| v.parse().expect("a number")).collect())
            .collect();
        assert_eq!(states, interleave(&program), "seed {seed}");
        several += usize::from(states.len() > 1);
    }
    assert!(several > 100, "{several} programs have several outcomes");
}

#[test]
fn stronger_models_allow_less() {
    let chain = ["sc", "tso", "rmo"];
    for seed in 0..200 {
        let program = program(seed, Dialect::C11);
        let states: Vec<BTreeSet<String>> = chain
            .iter()
            .map(|name| {
                let model = shipped(name).expect("it is shipped").expect("it is a model");
                let report = check(&program, &model, &mut Options::default()).expect("the model fits");
                report.states.iter().map(ToString::to_string).collect()
            })
            .collect();
        assert!(states[0].is_subset(&states[1]) && states[1].is_subset(&states[2]), "seed {seed}");
    }
}

#[test]
fn rc11_allows_no_more_than_c11() {
    // The test uses only programs without sequentially consistent operations. On other programs,
    // C11 with its simplified axiom may forbid executions that RC11 allows.
    let mut compared = 0;
    for seed in 0..300 {
        let program = program(seed, Dialect::C11);
        let seq_cst = program.threads.iter().flat_map(|t| &t.code).any(|instr| match instr {
            Instr::Fence(fence) => fence.order == Order::SeqCst,
            other => other.access().is_some_and(|a| a.order == Order::SeqCst),
        });
        // In C11 a plain read sees only visible writes, so programs with plain accesses are left
        // out.
        let plain = program
            .threads
            .iter()
            .flat_map(|t| &t.code)
            .any(|i| i.access().is_some_and(|a| a.order == Order::Plain));
        if seq_cst || plain {
            continue;
        }
        compared += 1;
        let states = |name: &str| -> BTreeSet<String> {
            let model = shipped(name).expect("it is shipped").expect("it is a model");
            let report = check(&program, &model, &mut Options::default()).expect("the model fits");
            report.states.iter().map(ToString::to_string).collect()
        };
        assert!(states("rc11").is_subset(&states("c11")), "seed {seed}");
    }
    assert!(compared > 20, "{compared} programs were compared");
}

#[test]
fn an_execution_reads_only_writes_of_its_word() {
    let model = shipped("sc").expect("it is shipped").expect("it is a model");
    for seed in 0..50 {
        let program = program(seed, Dialect::OpenCl);
        let report = check(&program, &model, &mut Options::default()).expect("the model fits");
        for state in &report.states {
            let Some(of) = &state.example else { continue };
            for &(write, read) in &of.rf {
                assert!(of.events[write].writes() && of.events[read].reads());
                assert_eq!(of.events[write].loc, of.events[read].loc);
                assert_eq!(of.values[write], of.values[read]);
            }
            let reads = of.events.iter().filter(|e| e.reads()).count();
            assert_eq!(of.rf.len(), reads, "every read reads from one write");
        }
    }
}
