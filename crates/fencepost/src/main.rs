//! The program `fencepost`: passes its arguments to the library and returns the exit code.

use std::process::ExitCode;

/// The memory allocator of the program. It asks the operating system for large pages. Simulations
/// and searches access records that are spread over their whole memory. Large pages reduce the
/// number of page-table lookups; this is most of the gain from this allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    human_panic::setup_panic!();
    fencepost::output::handle_panics();
    fencepost::output::handle_interrupts();
    fencepost::output::fit_tables_to_terminal();
    // The standard streams are not locked for the whole run, because other threads also write to
    // the terminal.
    ExitCode::from(fencepost::run(std::env::args_os(), &mut std::io::stdout(), &mut std::io::stderr()))
}
