//! The verifier compares the hits of a controller (its answers to loads without a step) with the
//! steps of the controller.

use crate::toys;
use explore::verify::Test;
use explore::{Bounds, Explorer, Fault, Limits, Placement, Requirements, Subject};
use proto::parts::Host;
use proto::{
    Agent, ByteMask, Controller, Cx, Disposition, Hit, Homes, Info, Input, Load, NodeId, Op, PlanKey,
    Protocol, Sharing, TimerClass, WritePolicy, protocol_nodes,
};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{Bank, L1};

/// The fault in the hits of a cache (its answers to loads without a step).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum HitFault {
    /// The fault: a present line counts as complete for any load.
    Bytes,
    /// The fault: the hit names a wrong row of the protocol's table, the one after the correct row.
    Row,
    /// The fault: half of the line counts as the whole line.
    Length,
    /// The fault: the step starts a timer, which a hit cannot do.
    Timer,
}

/// The cache of `vi` with wrong hits (answers to loads without a step).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultyCache(L1, HitFault);

impl<P: Protocol<Msg: From<ToBank>>> Controller<P> for FaultyCache {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Timer(TimerClass::Epoch) => return Disposition::Done,
            Input::Request(ask) if ask.req.op == Op::Load && self.1 == HitFault::Timer => {
                cx.fx.timer(TimerClass::Epoch);
            }
            _ => {}
        }
        Controller::<P>::step(&mut self.0, input, cx)
    }
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        let mask = if self.1 == HitFault::Bytes { ByteMask::NONE } else { load.mask };
        let mut hit = Controller::<P>::hit(&self.0, &Load { mask, ..*load }, homes)?;
        match self.1 {
            HitFault::Bytes | HitFault::Timer => {}
            HitFault::Row => hit.row.row += 1,
            HitFault::Length => hit.bytes = &hit.bytes[..hit.bytes.len() / 2],
        }
        Some(hit)
    }
    proto::delegate! { 0: victims, occupied, lines, is_quiet, canonicalize }
}

macro_rules! faulty_hits {
    ($($module:ident::$toy:ident, $fault:ident;)+) => {
        $(mod $module {
            use super::*;

            /// `vi` with a faulty cache.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $toy;

            protocol_nodes! { $toy: L1(FaultyCache, ToL1), Bank(Bank, ToBank), Host(Host) }

            impl Protocol for $toy {
                const INFO: Info = Info {
                    name: "faulty-hits",
                    summary: "vi with faulty hits",
                    sharing: Sharing::Scoped,
                    ..toys::INFO
                };
                toys::over_banks_of_vi! { |level| FaultyCache(L1::new(level, &()), HitFault::$fault) }

                fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
                    agent.enters(0, 2)
                }

            }
        })+
    };
}

faulty_hits! {
    bytes::OfBytes, Bytes;
    row::OfRow, Row;
    length::OfLength, Length;
    timer::OfTimer, Timer;
}

/// A program in which a store makes half of a line valid and a load reads the other half.
const HALVES: &str = "OPENCL HALVES
{ y = 1; }

P0@wg 0, dev 0 (global int* x, global int* y) {
  *x = 1;
  int r0 = *y;
  int r1 = *y;
}

exists (0:r0=1 /\\ 0:r1=1 /\\ x=1)
";

fn why<P: Protocol>() -> Option<(Fault, String)> {
    let test = Test::read("HALVES", HALVES).expect("it is a test");
    let program = &*test.program();
    // Both words in one line.
    let placement = Placement { lines: vec![0, 0], ..Placement::spread(program) };
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let found = explorer.explore(program, &placement, &Requirements::default(), &mut Limits::default());
    found.expect("it fits").violation.map(|violation| (violation.fault, violation.why))
}

#[test]
fn a_hit_that_differs_from_its_step_is_reported() {
    let violations =
        [why::<bytes::OfBytes>(), why::<row::OfRow>(), why::<length::OfLength>(), why::<timer::OfTimer>()];
    for (violation, at) in violations.into_iter().zip(0..) {
        let (fault, why) = violation.expect("the hits are faulty");
        assert_eq!(fault, Fault::Impossible);
        let expected = if at == 3 {
            "a load hit starts a timer, expected no effect except the answer"
        } else {
            "its step has other effects than a hit"
        };
        assert!(why.contains(expected), "{why}");
    }
}

/// Checks that the verifier finds no fault in the hits of `vi` (the answers to loads without a
/// step), although the step for a dirty line starts the drain timer: the timer already runs, so the
/// step has no other effect than the hit.
#[test]
fn the_hits_of_vi_match_its_steps() {
    assert_eq!(why::<zoo::vi::Vi>(), None);
}
