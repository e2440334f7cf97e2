//! Explores small programs that are hard to explore, because their threads have many interleavings.
//! Prints the numbers of states, steps and outcomes. The example does not measure time: use an
//! external tool.
//!
//! `cargo run --release -p litmus --example hrf_speed [NAME]`

use std::io::Write;

use litmus::hrf::{self, Model, Options, Reading};
use litmus::program::{
    Access, Builder, Dialect, Expr, Instr, Level, Order, Program, Prop, RmwOp, Scopes, Term, ThreadId,
    ThreadSet,
};

const THREADS: usize = 4;

fn scopes() -> Scopes {
    let mut scopes = Scopes::flat(THREADS);
    scopes.add(Level::WorkGroup, "work_group", 0, ThreadSet(0b0011));
    scopes.add(Level::WorkGroup, "work_group", 1, ThreadSet(0b1100));
    scopes.add(Level::Device, "device", 0, ThreadSet(0b1111));
    scopes
}

/// Builds a program of four threads with `ops` operations each. `op(t, n)` gives operation `n` of
/// thread `t`: its kind, its location and the level of its scope.
fn program(name: &str, ops: usize, op: impl Fn(usize, usize) -> (char, usize, Level)) -> Program {
    let scopes = scopes();
    let mut b = Builder::new(name, Dialect::OpenCl, scopes.clone(), THREADS);
    let locations: Vec<_> = (0..3).map(|i| b.location(&format!("x{i}"), 0)).collect();
    let mut observed: Vec<Term> = locations.iter().map(|&loc| Term::Loc(loc)).collect();
    for t in 0..THREADS {
        let thread = ThreadId(t as u8);
        for n in 0..ops {
            let (kind, loc, level) = op(t, n);
            let (loc, dst) = (locations[loc], b.register(thread, &format!("r{n}")));
            let scope = scopes.enclosing(thread, level).expect("every thread is in one of each level");
            let access = |order| Access::atomic(Expr::Addr(loc), order, scope);
            let value = Expr::Const((t * ops + n + 1) as i64);
            observed.push(Term::Reg(thread, dst));
            b.push(
                thread,
                match kind {
                    'r' => Instr::Load { dst, access: access(Order::Acquire) },
                    'w' => Instr::Store { access: access(Order::Release), value },
                    'p' => Instr::Load { dst, access: Access::plain(Expr::Addr(loc)) },
                    'q' => Instr::Store { access: Access::plain(Expr::Addr(loc)), value },
                    _ => Instr::Rmw {
                        dst: Some(dst),
                        access: access(Order::SeqCst),
                        op: RmwOp::Exchange,
                        operand: value,
                    },
                },
            );
        }
    }
    let mut program = b.exists(Prop::True);
    program.observed = observed;
    program
}

fn main() -> std::io::Result<()> {
    let wanted = std::env::args().nth(1);
    let levels = [Level::WorkGroup, Level::Device];
    let programs = [
        program("write-read-read", 3, |t, n| (if n == 0 { 'w' } else { 'r' }, (t + n) % 2, Level::Device)),
        program("write-write-read", 3, |t, n| (if n < 2 { 'w' } else { 'r' }, (t + n) % 2, Level::Device)),
        program("mixed-scopes", 3, |t, n| (['w', 'r', 'u'][n], (t + n) % 3, levels[(t + n) % 2])),
        program("data-and-sync", 3, |t, n| (['q', 'w', 'r'][n], (t + n) % 3, levels[n % 2])),
        program("exchanges", 3, |_, n| ('u', n % 2, Level::Device)),
        program("exchanges-mixed", 3, |t, n| ('u', (t + n) % 3, levels[(t + n) % 2])),
        program("two-writes-two-reads", 4, |t, n| {
            (if n < 2 { 'w' } else { 'r' }, (t + n) % 2, Level::Device)
        }),
    ];
    let mut out = std::io::stdout();
    for program in programs.iter().filter(|p| wanted.as_ref().is_none_or(|w| *w == p.name)) {
        for model in [Model::HrfIndirect, Model::HrfDirect] {
            let verdict = hrf::check(program, &Options::new(Reading::of(model)))
                .map_err(|error| std::io::Error::other(error.to_string()))?;
            writeln!(
                out,
                "{:22} {:13} {:9} states {:9} steps {:8} revisits {:7} outcomes {:3} races",
                program.name,
                model,
                verdict.effort.states,
                verdict.effort.steps,
                verdict.effort.revisits,
                verdict.states.len(),
                verdict.races.len()
            )?;
        }
    }
    Ok(())
}
