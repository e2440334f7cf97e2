//! Prints a generated program as a test in the OpenCL dialect.

use core::fmt::Write;

use super::skeleton::{Kind, Op, ProgramSkeleton, level_kind, order_of};
use crate::check::condition_text;
use crate::program::{Level, Order, Program, Term};

fn order_name(order: Order) -> &'static str {
    match order {
        Order::Plain | Order::Relaxed => "memory_order_relaxed",
        Order::Acquire => "memory_order_acquire",
        Order::Release => "memory_order_release",
        Order::AcqRel => "memory_order_acq_rel",
        Order::SeqCst => "memory_order_seq_cst",
    }
}

/// The word for a scope level in the header of a thread of an OpenCL test.
fn header_word(level: Level) -> &'static str {
    match level {
        Level::WorkGroup => "wg",
        Level::Device => "dev",
        Level::SubGroup => "sg",
        other => level_kind(other),
    }
}

pub(super) fn open_cl(skeleton: &ProgramSkeleton, program: &Program) -> String {
    let mut text = format!("OPENCL {}\n\n{{\n", program.name);
    for location in &program.locations {
        let _ = writeln!(text, "[{}] = 0;", location.name);
    }
    text.push_str("}\n");
    let data = |location: u8| {
        let mut ops = skeleton.threads.iter().flatten().filter(|op| op.kind.accesses());
        ops.any(|op| op.location == location && !op.kind.synchronizes())
    };
    let mut written = vec![0; skeleton.locations()];
    for (t, ops) in skeleton.threads.iter().enumerate() {
        let levels = skeleton.levels.iter().zip(&skeleton.tree).filter(|(level, _)| **level != Level::System);
        let place: Vec<String> =
            levels.map(|(&level, row)| format!("{} {}", header_word(level), row[t])).collect();
        let mut used: Vec<u8> = ops.iter().filter(|op| op.kind.accesses()).map(|op| op.location).collect();
        used.sort_unstable();
        used.dedup();
        let parameters: Vec<String> = used
            .iter()
            .map(|&l| format!("global {}* x{l}", if data(l) { "int" } else { "atomic_int" }))
            .collect();
        let _ = writeln!(text, "\nP{t}@{} ({}) {{", place.join(", "), parameters.join(", "));
        thread(&mut text, skeleton, ops, &mut written);
        text.push_str("}\n");
    }
    let observed: Vec<String> = program
        .state_terms()
        .into_iter()
        .map(|term| match term {
            Term::Reg(..) => format!("P{}", program.term_name(term)),
            _ => program.term_name(term),
        })
        .collect();
    let _ = writeln!(text, "\nlocations [{}]\n{}", observed.join("; "), condition_text(program));
    text
}

fn thread(text: &mut String, skeleton: &ProgramSkeleton, ops: &[Op], written: &mut [u32]) {
    let mut depth = 1;
    let mut reads = 0;
    for op in ops {
        let indent = "  ".repeat(depth);
        let order = order_name(order_of(op.kind, op.ordering));
        let scope = format!("memory_scope_{}", level_kind(skeleton.levels[usize::from(op.level)]));
        let scope = scope.replace("system", "all_svm_devices");
        let x = format!("x{}", op.location);
        if op.kind.writes() {
            written[usize::from(op.location)] += 1;
        }
        let value = written.get(usize::from(op.location)).copied().unwrap_or(0);
        let line = match op.kind {
            Kind::Load => format!("int r{reads} = *{x};"),
            Kind::Store => format!("*{x} = {value};"),
            Kind::SyncLoad | Kind::ConditionalLoad => {
                format!("int r{reads} = atomic_load_explicit({x}, {order}, {scope});")
            }
            Kind::SyncStore => format!("atomic_store_explicit({x}, {value}, {order}, {scope});"),
            Kind::Await => format!("await({x} == {}, {order}, {scope});", op.value),
            Kind::Exchange | Kind::Take => {
                format!("int r{reads} = atomic_exchange_explicit({x}, {value}, {order}, {scope});")
            }
            Kind::Fence => {
                let flags = "CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE";
                format!("atomic_work_item_fence({flags}, {order}, {scope});")
            }
            Kind::Barrier => {
                format!("work_group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, {scope});")
            }
        };
        let _ = writeln!(text, "{indent}{line}");
        if op.kind.is_conditional() {
            let _ = writeln!(text, "{indent}if (r{reads} == {}) {{", op.value);
            depth += 1;
        }
        if op.kind.reads() && op.kind != Kind::Await {
            reads += 1;
        }
    }
    for depth in (1..depth).rev() {
        let _ = writeln!(text, "{}}}", "  ".repeat(depth));
    }
}
