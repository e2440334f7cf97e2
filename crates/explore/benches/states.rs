//! How many states a second, and how many bytes a state: bounded machines of
//! two compute units with evictions at every level.
//!
//! `cargo bench -p explore --bench states -- [PROTOCOL] [WORKERS] [PROGRAM]`

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark tells its figures and reads the clock"
)]

use std::time::Instant;

use explore::{Asked, Bounds, Explorer, Explores, Limits, Placement};
use litmus::program::{
    Access, BinaryOp, Builder, Dialect, Expr, Instr, Level, Order, Program, Prop, Quantifier, Scopes, Term,
    ThreadId, ThreadSet,
};
use proto::{Protocol, WritePolicy};

/// Two threads of two work-groups pass a message back and forth.
fn ping_pong(words: u8) -> Program {
    let mut scopes = Scopes::flat(2);
    let device = scopes.add(Level::Device, "device", 0, ThreadSet::first(2));
    for t in 0..2 {
        scopes.add(Level::WorkGroup, "work_group", u32::from(t), ThreadSet::only(ThreadId(t)));
    }
    let mut b = Builder::new("ping-pong", Dialect::OpenCl, scopes, 2);
    let data: Vec<_> = (0..words).map(|i| b.location(&format!("x{i}"), 0)).collect();
    let (f, g) = (b.location("f", 0), b.location("g", 0));
    let (p0, p1) = (ThreadId(0), ThreadId(1));
    let wait = |loc| Instr::Await {
        dst: None,
        access: Access::atomic(Expr::Addr(loc), Order::Acquire, device),
        cmp: BinaryOp::Eq,
        value: Expr::Const(1),
    };
    for &x in &data {
        b.load(p1, "r0", x);
        b.store(p0, x, 1);
    }
    b.store_atomic(p0, f, 1, Order::Release, device);
    b.push(p1, wait(f));
    for &x in &data {
        b.load(p1, "r0", x);
        b.store(p1, x, 2);
    }
    b.store_atomic(p1, g, 1, Order::Release, device);
    b.push(p0, wait(g));
    let last = data.last().copied().expect("a word");
    let r1 = b.load(p0, "r1", last);
    let mut program = b.exists(Prop::equals(Term::Reg(p0, r1), 2));
    program.condition.quantifier = Quantifier::Forall;
    program
}

struct Bench {
    workers: usize,
}

impl zoo::Visit for Bench {
    type Output = ();
    fn visit<P: Protocol>(self) {
        for words in [1, 2, 3] {
            let program = ping_pong(words);
            let placement = Placement::spread(&program).paired(&program);
            for policy in [WritePolicy::Combining, WritePolicy::Through] {
                let bounds = Bounds::new(policy, policy).evicting();
                let mut explorer = Explorer::<P>::new(bounds, None);
                let mut limits =
                    Limits { workers: self.workers, states_max: 20_000_000, ..Limits::default() };
                let asked =
                    Asked { may_block: std::env::var("FENCEPOST_CYCLES").is_err(), ..Asked::default() };
                let start = Instant::now();
                let found =
                    explorer.explore(&program, &placement, &asked, &mut limits).expect("a sound program");
                let seconds = start.elapsed().as_secs_f64();
                let (states, rest) = found.bytes;
                println!(
                    "{} words={words} {policy:?}: {} states, {} moves, depth {}, {:.2} s, {:.2} M states/s, \
                     {:.1} bytes a state and {:.1} more, parts {:?}, outcomes {}, {:?} {:?}",
                    P::INFO.name,
                    found.states,
                    found.transitions,
                    found.depth,
                    seconds,
                    found.states as f64 / seconds / 1e6,
                    states as f64 / found.states as f64,
                    rest as f64 / found.states as f64,
                    found.parts,
                    found.outcomes.len(),
                    found.violation,
                    found.incomplete,
                );
            }
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|a| !a.starts_with("--"));
    let protocol = arguments.next().unwrap_or_else(|| "vi".to_owned());
    let workers = arguments.next().and_then(|w| w.parse().ok()).unwrap_or(1);
    assert!(zoo::with(&protocol, Bench { workers }).is_some(), "no protocol {protocol}");
}
