//! The column of hLRC in Table 3 of the hLRC paper.
//!
//! hLRC has no scopes, so every access in this column has work-group scope, as in the scenarios of
//! work stealing on hLRC. The paper prints the acts (effects of an access) c16 and c18 as `ST`
//! (stores). This test reads them as read-modify-writes, because the rows of these acts are
//! read-modify-writes.

use super::bench::{ObservedStep, StepInput};
use super::observe::{HERE, X};
use super::table::{Act, Column, Instruction, Row};
use crate::row;
use proto::LineView;

pub(crate) struct HlrcColumn;

impl Column for HlrcColumn {
    type Protocol = zoo::hlrc::Hlrc;
    const NAME: &'static str = "hlrc";
    const LABELS: (char, u32) = ('c', 23);
    const ONLY_ATOMICS: bool = true;

    fn rows() -> Vec<Row> {
        vec![
            row!(Ld Acquire WorkGroup from LocalL1 => c0: LdL1),
            row!(Ld Acquire WorkGroup from L2 => c1: Register, c2: LdL1, c3: InvLocal),
            row!(Ld Acquire WorkGroup from RemoteL1 => c4: FlushRemote, c5: Register, c6: LdL1, c7: InvLocal),
            row!(St Release WorkGroup from LocalL1 => c8: StL1),
            row!(St Release WorkGroup from L2 => c9: Register, c10: StL1, c11: InvLocal),
            row!(St Release WorkGroup from RemoteL1 =>
                c12: FlushRemote, c13: Register, c14: StL1, c15: InvLocal),
            row!(Rmw AcqRel WorkGroup from LocalL1 => c16: RmwL1),
            row!(Rmw AcqRel WorkGroup from L2 => c17: Register, c18: RmwL1, c19: InvLocal),
            row!(Rmw AcqRel WorkGroup from RemoteL1 =>
                c20: FlushRemote, c21: Register, c22: RmwL1, c23: InvLocal),
        ]
    }

    fn access(_: Instruction, actions: &[&str]) -> bool {
        actions.contains(&"Perform")
    }

    fn own_acts(step: &ObservedStep) -> Vec<Act> {
        registration(step)
    }

    fn is_registered(line: &LineView) -> bool {
        line.state.starts_with('R')
    }
}

/// The act of Table 3 for a step in which the grant of a registration for the variable arrives:
/// `Register` at the requesting L1, and `Odd` (an act that Table 3 does not have) at any other L1.
/// The result is empty for any other step.
pub(crate) fn registration(step: &ObservedStep) -> Vec<Act> {
    match step.input {
        StepInput::Message("Grant", Some(X)) if step.level == "l1" && step.index == HERE => {
            vec![Act::Register]
        }
        StepInput::Message("Grant", Some(X)) => vec![Act::Odd("a registration", step.index)],
        _ => Vec::new(),
    }
}
