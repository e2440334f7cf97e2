//! Scripted runs: a script of moves decides the order of events, and the machine decides their
//! times.
//!
//! In an ordinary run, latencies decide which of two messages arrives first, and the least recently
//! used way is evicted. In a scripted run, a list of [`Move`]s decides both. If the environment of
//! the protocol chooses when an event happens, the event waits until a move names it, and then
//! happens at the current cycle. All other events (arithmetic, ports, transit through the network,
//! kernel launches) need no move. If the script lists kernels, moves also order the requests at the
//! boundaries of these kernels. The clocks of controllers advance only by moves. After the last
//! move, simulated time advances them.

use kernel::Program;
use proto::SeededFault;

use crate::config::System;
use crate::led::machine::ScriptEnd;
pub use crate::led::moves::{
    End, FollowError, MadeMove, Move, MoveIssuer, Script, ScriptKernel, ScriptOutcome,
};
use crate::machine::Machine;
use crate::options::RunOptions;
use crate::run::outcome;
use crate::stations::subject::Subject;

/// Runs `program` on `system` under a protocol, and makes the moves of a script in their order.
/// Each cache must have one set. If the script lists no kernels, every wavefront waits before its
/// first operation when the moves begin. Each kernel must end with arithmetic, so that it does not
/// end before the last move or before the move that ends it. If the last moves are operations of
/// the host, the program must launch another kernel after these operations.
///
/// # Errors
/// The errors of [`crate::run`], and an error if a move is not possible when its turn comes.
pub fn follow(
    subject: &Subject,
    system: &System,
    program: Program,
    seeded_fault: Option<SeededFault>,
    script: &Script<'_>,
) -> Result<ScriptOutcome, FollowError> {
    // Every hit must execute a step of its controller, because a move names the step.
    let options =
        RunOptions { seeded_fault, steps_hits: true, explored_settings: true, ..RunOptions::default() };
    let mut stations = (subject.stations)(system, &options)?;
    script.pages.iter().for_each(|&(line, chiplet)| stations.touch(line, chiplet));
    let mut probe = ();
    let machine = Machine::new(system, program, &options, &mut probe, stations)?;
    let led = machine.follow(script)?;
    let end = match led.end {
        ScriptEnd::Over(finished) => End::Over(Box::new(outcome(system, *finished))),
        ScriptEnd::Early(end) => end,
    };
    Ok(ScriptOutcome { stations: led.stations, steps: led.steps, end })
}
