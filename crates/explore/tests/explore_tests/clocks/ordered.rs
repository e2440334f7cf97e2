//! Messages that request accesses keep their order while they are parked (while they wait at a
//! controller), and they also age during this time.

use proto::{
    Agent, ArrayId, ByteMask, Controller, Cx, Disposition, Effects, Hints, Info, Input, Issuer, Key, Kind,
    Levels, LineAddr, LineData, NodeId, Op, Order, Per, PlanKey, Protocol, Request, Scope, Settings, Setup,
    Slot, Station, Topology, WritePolicy, aged, protocol_nodes,
};

use crate::toys;

proto::messages! {
    /// A message that requests a line with a lease of some ticks.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum Word {
        Ask { line: LineAddr, ticks: u32 } [line(line), access, ages(|elapsed| *ticks = aged(*ticks, elapsed))],
    }
}

/// A controller that accepts messages only after its first request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gate {
    is_open: bool,
    heard: Vec<u32>,
}

impl<P: Protocol> Controller<P> for Gate {
    type Msg = Word;

    fn step(&mut self, input: Input<'_, Word>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { msg: Word::Ask { ticks, .. }, .. } if self.is_open => self.heard.push(*ticks),
            Input::Message { msg: Word::Ask { line, .. }, .. } => {
                return Disposition::Stall(Key::Line(*line));
            }
            Input::Request(ask) => {
                self.is_open = true;
                cx.fx.wake(Key::Line(ask.req.line));
                cx.fx.accept(ask.slot);
            }
            _ => {}
        }
        Disposition::Done
    }

    fn is_quiet(&self) -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gates;

protocol_nodes! { Gates: Gate(Gate, Word) }

impl Protocol for Gates {
    type Node = Node;
    type Msg = Msg;
    type Params = ();
    const CLOCKED: bool = true;
    const INFO: Info = Info { name: "gates", summary: "messages wait for a request", ..toys::INFO };
    const KINDS: &'static [Kind] = &[Kind::port("Gate", "l1", Per::Cu)];

    fn params(_: &Levels, _: &Settings) -> Result<(), String> {
        Ok(())
    }

    fn node(_: NodeId, _: &Levels, (): &()) -> Node {
        Node::Gate(Gate::default())
    }

    fn entry((): &(), _: Agent, _: PlanKey) -> NodeId {
        NodeId { kind: 0, index: 0 }
    }

    toys::no_tables! {}
}

#[test]
fn parked_accesses_age_in_their_order() {
    let bounded = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
    let setup = Setup::<Gates>::new(&bounded).expect("a sound machine");
    let [me, other] = [0, 1].map(|index| NodeId { kind: 0, index });
    let mut station = Station::new(me, &setup);
    let mut fx = Effects::default();
    let line = LineAddr(0);
    for ticks in [9, 5] {
        let msg = Msg::from(Word::Ask { line, ticks });
        station.message(other, &msg, setup.world(), &mut fx);
        station.tick(1, setup.world(), &mut fx);
    }
    let request = Request {
        op: Op::Fence,
        order: Order::Plain,
        scope: Scope::DEVICE,
        issuer: Issuer::default(),
        hints: Hints::default(),
        array: ArrayId(0),
        line,
        mask: ByteMask::NONE,
        data: LineData::default(),
    };
    station.request(Slot(0), &request, setup.world(), &mut fx);
    assert_eq!(fx.violation, None);
    let Node::Gate(gate) = &station.node;
    assert_eq!(gate.heard, [7, 4]);
}
