//! Checks that the litmus programs of the work-stealing deque and of the locks are equivalent to
//! the kernels of the workloads. A litmus program and a kernel run operation by operation, with the
//! same values for their reads, and all possible values are tried. Both must then perform the same
//! operations on the same words, in the same order, with the same memory order, scope, hint and
//! values, and end with the same result.

use std::collections::{BTreeMap, BTreeSet};

use kernel::prelude::{Answer, Grid, Kernel, Level, Program, Wave};
use kernel::{Action, Coords, Polled, Semantics, Session, Shape};
use proto::{KernelId, RmwKind, Width};
use workloads::stealing::{Layout, Policy, Queues, Refill, StealOutcome, Stealing};

/// An operation that a thread performed: its effect, its word, and its memory order and scope.
#[derive(Clone, Debug, PartialEq)]
struct Access {
    what: Effect,
    word: String,
    semantics: Semantics,
}

#[derive(Clone, Debug, PartialEq)]
enum Effect {
    Load,
    Store(i64),
    CompareExchange { expected: i64, desired: i64 },
}

/// The state of a thread after its reads have received the given values.
#[derive(Clone, Debug, PartialEq)]
enum End {
    /// The thread waits for the value of a word, because no given values are left. The field is the
    /// name of the word.
    AwaitsValue(String),
    /// The thread has ended. The field has the results of the thread by their names.
    Done(BTreeMap<String, i64>),
    /// The thread did what the litmus program does not model: it failed, or accessed an element with
    /// the meaning [`Place::Out`].
    Out,
}

/// The meaning of an element of an array in memory, for the comparison.
enum Place {
    /// The element is a word of the litmus program. The field is the name of the word.
    Word(String),
    /// The element holds a result of the thread. The field is the name of the result.
    Result(String),
    /// The litmus program has no word for the element. Accesses to the element are not compared,
    /// and a read of the element returns the value in the field.
    Other(i64),
    /// The litmus program does not model accesses to the element. A thread that accesses the element
    /// ends with [`End::Out`].
    Out,
}

/// A thread to compare: the program for the simulated machine, the position of the thread, and the
/// meaning of the arrays.
struct Thread<'a> {
    make: &'a dyn Fn() -> Program,
    at: Coords,
    place: &'a dyn Fn(&str, u64) -> Place,
}

/// The signed value of the bits of a word.
fn value(bits: u64, width: Width) -> i64 {
    if width == Width::W4 { i64::from((bits as u32).cast_signed()) } else { bits.cast_signed() }
}

/// Runs the host of the program up to the first launch of a kernel.
fn launched(session: &mut Session) -> KernelId {
    loop {
        assert!(matches!(session.poll_host(), Polled::Waiting(_)), "the host launches");
        let mut ops = session.ops();
        for id in ops.posted().to_vec() {
            if let Action::Launch(kernel) = ops.get(id).action {
                return kernel;
            }
            ops.complete(id);
        }
        ops.clear_posted();
    }
}

impl Thread<'_> {
    /// Runs the thread. Its reads receive the values in `answers`, in order. Returns the operations
    /// performed, and the state of the thread at the end.
    fn run(&self, answers: &[i64]) -> (Vec<Access>, End) {
        let mut session = Session::new((self.make)(), Shape::default());
        let kernel = launched(&mut session);
        session.ops().clear_posted();
        let mut wave = session.spawn(kernel, self.at);
        let mut answers = answers.iter().copied();
        let (mut accesses, mut results) = (Vec::new(), BTreeMap::new());
        loop {
            let polled = wave.poll();
            if let Some(end) = self.perform(&session, &mut answers, &mut accesses, &mut results) {
                return (accesses, end);
            }
            match polled {
                Polled::Waiting(_) => {}
                Polled::Ended => return (accesses, End::Done(results)),
                Polled::Faulted(_) => return (accesses, End::Out),
            }
        }
    }

    fn perform(
        &self,
        session: &Session,
        answers: &mut dyn Iterator<Item = i64>,
        accesses: &mut Vec<Access>,
        results: &mut BTreeMap<String, i64>,
    ) -> Option<End> {
        let arrays = session.arrays();
        let mut ops = session.ops();
        for id in ops.posted().to_vec() {
            let op = ops.get_mut(id);
            assert!(op.is_access() && op.exec.count() == 1, "one lane accesses global memory");
            let lane = op.exec.first().unwrap_or(0);
            let array = &arrays[usize::from(op.array.0) - 1];
            let index = (op.addr(lane).0 - array.base.0) / op.width.bytes() as u64;
            let operand = value(op.value(lane), op.width);
            let word = match (self.place)(&array.name, index) {
                Place::Out => return Some(End::Out),
                Place::Result(name) => {
                    results.insert(name, operand);
                    ops.complete(id);
                    continue;
                }
                Place::Other(found) => {
                    op.set_value(lane, found as u64);
                    ops.complete(id);
                    continue;
                }
                Place::Word(word) => word,
            };
            let what = match (op.action, op.rmw(lane).map(|rmw| rmw.kind)) {
                (Action::Load, _) => Effect::Load,
                (Action::Store, _) => Effect::Store(operand),
                (_, Some(RmwKind::CompareExchange { expected })) => {
                    Effect::CompareExchange { expected: value(expected, op.width), desired: operand }
                }
                other => panic!("{other:?} of {word}"),
            };
            accesses.push(Access { what, word: word.clone(), semantics: op.semantics });
            if op.reads() {
                let Some(found) = answers.next() else { return Some(End::AwaitsValue(word)) };
                op.set_value(lane, found as u64);
            }
            ops.complete(id);
        }
        ops.clear_posted();
        None
    }
}

/// The values that reads of a word receive in the comparison.
fn values(word: &str) -> &'static [i64] {
    match word {
        "head" => &[0, 1, 2],
        "tail" => &[0, 1, 2],
        "lock" => &[0, 1],
        "counter" | "ledger" => &[0, 3],
        _ => &[5, 7],
    }
}

/// The maximum number of reads for which all values are tried. No thread of the deque programs
/// makes more reads. A thread that takes a lock at its second attempt makes fewer.
const READS_MAX: usize = 10;

/// Runs both threads with the same values for their reads, for all combinations of values. Returns
/// the number of combinations, or a description of the first difference.
fn compare(kernel: &Thread<'_>, litmus: &Thread<'_>) -> Result<usize, String> {
    let (mut open, mut ways) = (vec![Vec::new()], 0);
    while let Some(answers) = open.pop() {
        let (accesses, end) = kernel.run(&answers);
        let (shown, shown_end) = litmus.run(&answers);
        let is_out = end == End::Out && shown.starts_with(&accesses);
        if !is_out && (&shown, &shown_end) != (&accesses, &end) {
            return Err(format!("after {answers:?}: {shown:?} {shown_end:?}, and not {accesses:?} {end:?}"));
        }
        match end {
            End::Out => {}
            End::AwaitsValue(word) if answers.len() < READS_MAX => {
                open.extend(values(&word).iter().map(|&value| [&*answers, &[value]].concat()));
            }
            _ => ways += 1,
        }
    }
    Ok(ways)
}

/// The text of a litmus program of the runtime (deque and locks).
fn text(name: &str) -> &'static str {
    let path = format!("runtime/{name}.litmus");
    explore::corpus::SHIPPED.iter().find(|(known, _)| *known == path).expect("it is shipped").1
}

/// Compares each thread of a litmus program with a wavefront of the kernel. `at` has the work-group
/// and the number of each wavefront. `results` names the registers whose final values the kernel
/// stores as results.
fn threads(
    text: &str,
    at: &[(u32, u32)],
    make: &dyn Fn() -> Program,
    place: &dyn Fn(&str, u64) -> Place,
    results: &[&str],
) -> Result<(), String> {
    let test = litmus::parse::parse(text).expect("it is a test");
    assert_eq!(test.threads.len(), at.len(), "{}", test.name);
    for (thread, &(work_group, wave)) in at.iter().enumerate() {
        let at = Coords { work_group, wave, compute_unit: work_group };
        let most = test.threads.iter().map(|t| t.registers.len()).max().unwrap_or(1);
        let place_in_litmus = |array: &str, index: u64| {
            let at = index as usize / 32;
            if array == "memory" {
                return Place::Word(test.locations[at].name.clone());
            }
            let register = &test.threads[thread].registers[index as usize % (most.max(1) * 32)];
            match results.contains(&&*register.name) {
                true => Place::Result(register.name.clone()),
                false => Place::Other(0),
            }
        };
        let make_litmus = || lab::litmus::program(&test, 0, 0).expect("machines can run it");
        let kernel = Thread { make, at, place };
        let litmus = Thread { make: &make_litmus, at, place: &place_in_litmus };
        let ways = compare(&kernel, &litmus).map_err(|why| format!("P{thread} of {}: {why}", test.name))?;
        assert!(ways > 1, "P{thread} of {}: {ways}", test.name);
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum QueueUse {
    Pop,
    Push,
    PushPop,
    PopPush,
    Steal,
    StealTwice,
    StealUntil,
}

const DEQUE: [(&str, QueueUse, QueueUse); 6] = [
    ("pop-steal", QueueUse::Pop, QueueUse::Steal),
    ("pop-steal-twice", QueueUse::Pop, QueueUse::StealTwice),
    ("push-steal", QueueUse::Push, QueueUse::StealUntil),
    ("push-pop-steal", QueueUse::PushPop, QueueUse::Steal),
    ("pop-push-steal", QueueUse::PopPush, QueueUse::Steal),
    ("steal-steal", QueueUse::Steal, QueueUse::Steal),
];

/// The task that the compared programs push to the queue.
const NEW: u32 = 7;
/// The number of slots of the queue in the compared programs.
const SLOTS: u32 = 2;

/// Performs the operations `does` on the first queue. Returns the tasks that the operations got,
/// with 0 for no task.
async fn work(w: &Wave, queues: Queues, does: QueueUse) -> [u32; 2] {
    let pop = async || queues.pop(w, 0).await.unwrap_or(0);
    let steal = async || match queues.steal(w, 0).await {
        StealOutcome::Task(task) => task,
        StealOutcome::Lost | StealOutcome::Empty => 0,
    };
    match does {
        QueueUse::Push => {
            queues.push(w, 0, NEW).await;
            [0; 2]
        }
        QueueUse::Pop => [pop().await, 0],
        QueueUse::PushPop => {
            queues.push(w, 0, NEW).await;
            [pop().await, 0]
        }
        QueueUse::PopPush => {
            let got = pop().await;
            queues.push(w, 0, NEW).await;
            [got, 0]
        }
        QueueUse::Steal => [steal().await, 0],
        QueueUse::StealTwice => [steal().await, steal().await],
        QueueUse::StealUntil => match steal().await {
            0 => [steal().await, 0],
            got => [got, 0],
        },
    }
}

fn deque(policy: Policy, does: [QueueUse; 2]) -> Program {
    Program::new("deque", move |host| async move {
        let queues = Queues::alloc(&host, 1, SLOTS, policy, 1);
        let results = host.alloc::<u32>("results", 4);
        let body = move |w: Wave| async move {
            let w = w.leader();
            let group = w.work_group();
            let got = work(&w, queues, does[group as usize]).await;
            for (at, got) in (0..).zip(got) {
                w.store(results, u64::from(group) * 2 + at, got).await;
            }
        };
        host.launch(Kernel::new("deque", body), Grid::new(2, 1)).await;
        Answer::new()
    })
}

const fn policy(own: Level, stealing: Stealing, published: bool) -> Policy {
    Policy { own, stealing, layout: Layout::Packed, refill: Refill::Owner, published, attempts: 1 }
}

/// Compares a litmus program of the deque with the kernel that performs the same operations.
fn same(text: &str, policy: Policy, does: [QueueUse; 2]) -> Result<(), String> {
    let twice = matches!(does[1], QueueUse::StealTwice);
    let place = |array: &str, index: u64| match (array, index) {
        // In packed form, a head and a tail have two elements each.
        ("queue-variables", 0) => Place::Word("head".to_owned()),
        ("queue-variables", 2) => Place::Word("tail".to_owned()),
        ("queue-tasks", slot) if slot < u64::from(SLOTS) => Place::Word(format!("slots[{slot}]")),
        ("results", 2) if twice => Place::Result("first".to_owned()),
        ("results", 3) if twice => Place::Result("second".to_owned()),
        ("results", 0 | 2) => Place::Result("got".to_owned()),
        ("results", _) => Place::Other(0),
        _ => Place::Out,
    };
    // A thread that only pushes gets no task, so the litmus program has no register for a task.
    let place_of_pusher = |array: &str, index: u64| match (array, index) {
        ("results", 0) => Place::Other(0),
        _ => place(array, index),
    };
    let place: &dyn Fn(&str, u64) -> Place = match does[0] {
        QueueUse::Push => &place_of_pusher,
        _ => &place,
    };
    threads(text, &[(0, 0), (1, 0)], &|| deque(policy, does), place, &["got", "first", "second"])
}

const POLICIES: [(&str, Policy); 5] = [
    ("device", policy(Level::Device, Stealing::Device, false)),
    ("remote", policy(Level::WorkGroup, Stealing::Remote, false)),
    ("unscoped", policy(Level::WorkGroup, Stealing::Unscoped, false)),
    ("scoped", policy(Level::WorkGroup, Stealing::Device, false)),
    ("published", policy(Level::Device, Stealing::Device, true)),
];

/// All litmus programs of the deque: the name, the policy, and the operations of the two threads.
fn deques() -> impl Iterator<Item = (String, Policy, [QueueUse; 2])> {
    let all = DEQUE.iter().flat_map(|&(shape, owner, thief)| {
        POLICIES.map(|(name, policy)| (format!("{shape}+{name}"), policy, [owner, thief]))
    });
    all.filter(|(name, policy, _)| !policy.published || PUBLISHED.iter().any(|shape| name.starts_with(shape)))
}

#[test]
fn the_deque() {
    for (name, policy, does) in deques() {
        assert_eq!(same(text(&name), policy, does), Ok(()));
    }
}

/// The shapes (operations of the two threads) of the deque programs that exist with the policy
/// `published`.
const PUBLISHED: [&str; 2] = ["pop-steal-twice", "push-steal"];

/// Compares the lock of a workload with its litmus program. The first element of each array of the
/// workload, except for `ready`, is the word of the litmus program with the name of the array.
fn lock(name: &str, workload: &str, policy: &str, settings: &[(&str, &str)], at: &[(u32, u32)]) {
    let make = || {
        let workload = workloads::find(workload).expect("there is such a workload");
        let mut chosen = workload.defaults();
        chosen.set_policy(policy).expect("a policy");
        settings.iter().for_each(|(name, value)| chosen.set(name, value).expect("a setting"));
        workload.instance(&chosen, 1).expect("made").into_parts().0
    };
    let place = |array: &str, index: u64| match array {
        // Wavefronts wait for each other before they begin. With this value of `ready`, all
        // wavefronts have arrived.
        "ready" => Place::Other(1000),
        word if index == 0 => Place::Word(word.to_owned()),
        _ => Place::Out,
    };
    assert_eq!(threads(text(name), at, &make, &place, &[]), Ok(()));
}

/// The positions (work-group and wavefront) of two threads: `APART` has two work-groups, `TOGETHER`
/// has two wavefronts of one work-group.
const APART: [(u32, u32); 2] = [(0, 0), (1, 0)];
const TOGETHER: [(u32, u32); 2] = [(0, 0), (0, 1)];

const LOCKS: [&str; 4] =
    ["lock-counter+device", "lock-counter+work-group", "lock-counter+too-narrow", "fg-share+device"];

#[test]
fn the_locks() {
    let [device, work_group, too_narrow, fg_share] = LOCKS;
    let apart = [("work-groups", "2"), ("increments", "1")];
    let together = [("work-groups", "1"), ("waves", "2"), ("increments", "1")];
    lock(device, "lock-counter", "device", &apart, &APART);
    lock(work_group, "lock-counter", "work-group", &together, &TOGETHER);
    lock(too_narrow, "lock-counter", "work-group", &apart, &APART);
    lock(fg_share, "fg-share", "device", &[("work-groups", "2"), ("words", "1")], &APART);
}

#[test]
fn every_program_of_the_runtime_is_compared() {
    let compared = deques().map(|(name, ..)| name).chain(LOCKS.map(str::to_owned));
    let shipped = explore::corpus::SHIPPED.iter().filter_map(|(path, _)| path.strip_prefix("runtime/"));
    let shipped = shipped.map(|path| path.trim_end_matches(".litmus").to_owned());
    assert_eq!(shipped.collect::<BTreeSet<_>>(), compared.collect::<BTreeSet<_>>());
}

/// The comparison detects a changed order, scope, hint, value, word or result,
/// and an additional step.
#[test]
fn a_difference_is_noticed() {
    let (name, policy, does) = deques().find(|(name, ..)| name == "pop-steal+remote").expect("it is there");
    let whole = text(&name);
    let changes = [
        ("t - 1, memory_order_seq_cst", "t - 1, memory_order_release"),
        ("memory_order_acquire, memory_scope_work_group", "memory_order_acquire, memory_scope_device"),
        ("atomic_load_explicit_remote(head", "atomic_load_explicit(head"),
        ("(tail, t - 1", "(tail, t - 2"),
        ("(tail, 0", "(tail, t"),
        ("atomic_load_explicit_remote(tail", "atomic_load_explicit_remote(head"),
        ("  int mine = 1;", "  int mine = 1; int more = slots[0];"),
        ("got = slots[h];", "got = slots[h] + 1;"),
    ];
    for (from, to) in changes {
        let changed = whole.replacen(from, to, 1);
        assert_ne!(changed, whole, "{from}");
        assert!(same(&changed, policy, does).is_err(), "{from} for {to}");
    }
}
