//! Makes random walks of programs in the explorer. A walk is a random schedule: all moves of a run,
//! as in a trace.

use explore::trace::Verdict;
use explore::verify::{Finding, Test};
use explore::{End, Explorer, Fault, Move, Placement, Trace, Violation};
use lab::replay::Timed;

use super::Dice;

/// The maximum number of moves (steps) of a walk (a random schedule). A longer walk is dropped.
const MOVES_MAX: usize = 250;

/// The moves (steps) that are possible after the moves in `moves`. If the run has ended, returns
/// its end as an error.
fn open(
    explorer: &mut Explorer,
    test: &Test,
    placement: usize,
    moves: &mut Vec<Move>,
) -> Result<Vec<Move>, End> {
    let program = test.program();
    let drawn = explorer.replay(&program, &test.placements[placement], moves).expect("supported");
    if drawn.end != End::Goes {
        return Err(drawn.end);
    }
    // No node has the number 250, so the move is impossible, and the error lists the possible
    // moves.
    moves.push(Move::Answer { node: 250, line: 0 });
    let drawn = explorer.replay(&program, &test.placements[placement], moves).expect("supported");
    moves.pop();
    let End::Closed(why) = drawn.end else { panic!("there is no such node") };
    let named = why.split('`').skip(1).step_by(2).skip(1);
    Ok(named.map(|mv| mv.parse().expect("a move")).collect())
}

/// The trace of a random walk, if the walk ends within the maximum number of moves. Moves that
/// `rare` selects are preferred: if some are possible, the next move is one of them in at least
/// half of the cases.
pub(crate) fn walk(
    explorer: &mut Explorer,
    protocol: &str,
    (test, placement): (&Test, usize),
    rare: fn(Move) -> bool,
    dice: &mut Dice,
) -> Option<Trace> {
    let mut moves = Vec::new();
    let end = loop {
        match open(explorer, test, placement, &mut moves) {
            Err(end) => break end,
            Ok(_) if moves.len() > MOVES_MAX => return None,
            Ok(open) => {
                let wanted: Vec<Move> = open.iter().copied().filter(|&mv| rare(mv)).collect();
                let among = if wanted.is_empty() || dice.roll(2) == 0 { &open } else { &wanted };
                moves.push(among[dice.roll(among.len())]);
            }
        }
    };
    let violation = Violation { fault: end.fault()?, why: end.why(&test.program()), moves };
    let finding = Finding { test: 0, placement, bounds: explorer.bounds(), models: Vec::new(), violation };
    Some(Trace::of(protocol, test, &finding))
}

/// Returns the test with words of four bytes, because the timed machine has such words.
pub(crate) fn plain(mut test: Test) -> Test {
    test.placements = test.placements.into_iter().map(Placement::plain).collect();
    test
}

/// Returns true if an error message names a feature of a litmus test that no kernel on the timed
/// machine can have.
pub(crate) fn is_known(why: &str) -> bool {
    let known = [
        "and never looks whether",
        "work-groups have different sizes",
        "a weak compare",
        "a scope other than",
        "one thread",
        "one host",
        "a barrier that only some threads",
    ];
    known.iter().any(|known| why.contains(known))
}

/// Asserts that the timed replay of a walk (a random schedule) reaches the same end as the walk in
/// the explorer.
pub(crate) fn comes_to_its_end(trace: &Trace, timed: Result<Timed, String>) {
    let timed = timed.unwrap_or_else(|why| panic!("{why}:\n{trace}"));
    assert_eq!(timed.end, trace.violation.why, "{trace}");
    let expected = match trace.violation.fault {
        // The walk is not checked against a model.
        Fault::Outcome => Verdict::Gone,
        _ => Verdict::Same,
    };
    assert_eq!(timed.verdict, expected, "{trace}");
}
