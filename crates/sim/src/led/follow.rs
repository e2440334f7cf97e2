//! A run in a given order: the caller says what happens next, and the machine only
//! says when.
//!
//! In an ordinary run latencies decide which of two messages arrives first, and
//! the least recently used way is given up. Here a list of [`Move`]s decides: an
//! event of the machine that is a choice of the environment waits until a move
//! names it, and takes place at the cycle that the machine has come to. All else
//! (arithmetic, ports, the way across the network, the launch of kernels) goes on
//! by itself. Where the script names kernels, their beginnings and ends are led as
//! well, request by request. For controllers that look at the clock, time passes when a move says
//! so, and by cycles behind the last move.

use kernel::Program;
use proto::Mutation;

use crate::config::System;
use crate::led::machine::Ended;
pub use crate::led::moves::{End, FollowError, Followed, Issues, LedKernel, Move, Script, Step};
use crate::machine::Machine;
use crate::options::RunOptions;
use crate::run::outcome;
use crate::stations::subject::Subject;

/// Runs `program` on `system` under a protocol, and makes these moves in this
/// order. Each cache has one set. Without kernels in the script, every wavefront
/// stands before its first operation then. The kernels must end with arithmetic, so
/// that none has ended before the moves are over, or before a move ends it. Where
/// the host is the last to run, the program launches another kernel behind that.
///
/// # Errors
/// As [`crate::run`]; and if a move is not open when its turn comes.
pub fn follow(
    subject: &Subject,
    system: &System,
    program: Program,
    mutation: Option<Mutation>,
    script: &Script<'_>,
) -> Result<Followed, FollowError> {
    // Every step is shown.
    let options = RunOptions { mutation, steps_hits: true, ..RunOptions::default() };
    let mut stations = (subject.stations)(system, &options)?;
    script.pages.iter().for_each(|&(line, chiplet)| stations.touch(line, chiplet));
    let mut probe = ();
    let machine = Machine::new(system, program, &options, &mut probe, stations)?;
    let led = machine.follow(script)?;
    let end = match led.end {
        Ended::Over(finished) => End::Over(Box::new(outcome(system, *finished))),
        Ended::Otherwise(end) => end,
    };
    Ok(Followed { stations: led.stations, steps: led.steps, end })
}
