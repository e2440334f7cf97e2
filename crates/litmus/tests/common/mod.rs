//! What the tests of the HRF family share: programs made at random, and the
//! definitions of the paper applied word by word to every linearisation.

#![allow(dead_code, missing_docs, unreachable_pub)]

pub mod oracle;
pub mod random;

use litmus::program::Program;

/// The program, an instruction a line.
pub fn show(program: &Program) -> String {
    let mut text = format!("{:?}\n", program.scopes);
    for (t, thread) in program.threads.iter().enumerate() {
        for (pc, instr) in thread.code.iter().enumerate() {
            text.push_str(&format!("P{t} {pc}: {instr:?}\n"));
        }
    }
    text
}
