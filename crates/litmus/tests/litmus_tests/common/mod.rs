//! Shared parts of the tests: random programs, short Vulkan tests, and the definitions of the HRF
//! paper, applied to every linearisation (total order of all steps) of a program.

#![allow(missing_docs, unreachable_pub)]

pub mod oracle;
pub mod passing;
pub mod random;
pub mod vulkan;

use litmus::program::Program;

/// The program as text, with one line for each instruction.
pub fn show(program: &Program) -> String {
    let mut text = format!("{:?}\n", program.scopes);
    for (t, thread) in program.threads.iter().enumerate() {
        for (pc, instr) in thread.code.iter().enumerate() {
            text.push_str(&format!("P{t} {pc}: {instr:?}\n"));
        }
    }
    text
}
