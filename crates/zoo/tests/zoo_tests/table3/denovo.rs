//! The column of DeNovo in Table 3 of the hLRC paper.
//!
//! `StReg` of the paper (the registration of stores) takes the place of a flush. It ends when every
//! dirty line of the L1 is registered to this L1.

use super::bench::{Bench, ObservedStep};
use super::hlrc::registration;
use super::table::{Act, Column, Instruction, Row};
use crate::row;
use proto::{ByteMask, LineAddr, LineData, LineView};

pub(crate) struct DenovoColumn;

impl Column for DenovoColumn {
    type Protocol = zoo::denovo::DenovoB;
    const NAME: &'static str = "denovo-b";
    const LABELS: (char, u32) = ('b', 26);
    const ONLY_ATOMICS: bool = true;

    fn rows() -> Vec<Row> {
        vec![
            row!(Ld Acquire WorkGroup from LocalL1 => b0: LdL1, b1: InvLocal),
            row!(Ld Acquire WorkGroup from L2 => b2: Register, b3: LdL1, b4: InvLocal),
            row!(Ld Acquire WorkGroup from RemoteL1 => b5: Register, b6: LdL1, b7: InvLocal),
            row!(St Release WorkGroup from LocalL1 => b8: StReg, b9: StL1),
            row!(St Release WorkGroup from L2 => b10: StReg, b11: Register, b12: StL1),
            row!(St Release WorkGroup from RemoteL1 => b13: StReg, b14: Register, b15: StL1),
            row!(Rmw AcqRel WorkGroup from LocalL1 => b16: StReg, b17: RmwL1, b18: InvLocal),
            row!(Rmw AcqRel WorkGroup from L2 => b19: StReg, b20: Register, b21: RmwL1, b22: InvLocal),
            row!(Rmw AcqRel WorkGroup from RemoteL1 => b23: StReg, b24: Register, b25: RmwL1, b26: InvLocal),
        ]
    }

    fn access(_: Instruction, actions: &[&str]) -> bool {
        actions.contains(&"Perform")
    }

    fn own_acts(step: &ObservedStep) -> Vec<Act> {
        registration(step)
    }

    fn has_arrived(
        bench: &Bench<Self::Protocol>,
        cu: u16,
        line: LineAddr,
        mask: ByteMask,
        data: &LineData,
    ) -> bool {
        let lines = bench.lines_of(cu);
        let mut registered = lines.iter().filter(|view| view.line == line && Self::is_registered(view));
        registered.any(|view| view.data.masked(mask) == *data)
    }

    fn printed(act: Act) -> Act {
        if act == Act::FlushLocal { Act::StReg } else { act }
    }

    fn is_registered(line: &LineView) -> bool {
        line.state == "R"
    }
}
