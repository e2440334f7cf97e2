//! The binary: hands arguments in and an exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    human_panic::setup_panic!();
    fencepost::output::remove_unfinished_files_on_interrupt();
    ExitCode::from(fencepost::run(
        std::env::args_os(),
        &mut std::io::stdout().lock(),
        &mut std::io::stderr().lock(),
    ))
}
