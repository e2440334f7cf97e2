//! The binary: hands arguments in and an exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    human_panic::setup_panic!();
    fencepost::output::handle_interrupts();
    ExitCode::from(fencepost::run(
        std::env::args_os(),
        &mut std::io::stdout().lock(),
        &mut std::io::stderr().lock(),
    ))
}
