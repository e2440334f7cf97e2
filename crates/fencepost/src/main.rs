//! The binary: passes arguments in and returns the exit code.

use std::process::ExitCode;

/// The memory allocator of the program. It asks the kernel for large pages. Simulations and
/// searches access records that are spread over their whole memory. Large pages reduce the number
/// of page-table lookups, which is most of the gain.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    human_panic::setup_panic!();
    fencepost::output::handle_panics();
    fencepost::output::handle_interrupts();
    fencepost::output::fit_tables_to_terminal();
    // No stream is locked for the whole run, because other threads write to the terminal
    // too.
    ExitCode::from(fencepost::run(std::env::args_os(), &mut std::io::stdout(), &mut std::io::stderr()))
}
