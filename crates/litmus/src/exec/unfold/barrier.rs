//! Unfolds barriers (adds their events to a path), including barriers whose resource number depends
//! on reads.

use super::{Next, Register, State, Unfolder, WaitPoint, evaluate, push};
use crate::exec::event::{EventKind, Meeting};
use crate::exec::set::EventSet;
use crate::exec::sym::Sym;
use crate::program::{Barrier, BinaryOp, Dialect, Order, Value};

impl Unfolder<'_> {
    pub(super) fn barrier(&mut self, state: &mut State, pc: usize, barrier: &Barrier) -> Next {
        let Register { value: id, from } = evaluate(state, &barrier.id);
        let quorum = barrier.quorum.as_ref().map(|q| evaluate(state, q));
        if !from.is_empty() {
            state.deciding.push((from, None));
        }
        if let Some(quorum) = &quorum
            && !quorum.from.is_empty()
        {
            state.deciding.push((quorum.from, None));
        }
        // A symbolic resource or count may be any number of the program, so the path is split for
        // each number.
        let tried = |value: &Sym| value.constant().map_or_else(|| self.numbers.clone(), |value| vec![value]);
        let ids = tried(&id);
        let counts = match &quorum {
            Some(quorum) => tried(&quorum.value).into_iter().map(Some).collect(),
            None => vec![None],
        };
        if let (&[id], &[count]) = (&ids[..], &counts[..]) {
            self.pass_barrier(state, pc, barrier, id, count);
            return Next::Go;
        }
        for &number in &ids {
            for &count in &counts {
                let mut other = state.clone();
                let mut goes =
                    self.admit(&mut other, Sym::binary(BinaryOp::Eq, id.clone(), Sym::Const(number)));
                if let (Some(quorum), Some(count)) = (&quorum, count) {
                    let same = Sym::binary(BinaryOp::Eq, quorum.value.clone(), Sym::Const(count));
                    goes = goes && self.admit(&mut other, same);
                }
                if goes {
                    self.pass_barrier(&mut other, pc, barrier, number, count);
                    self.pending.push(other);
                }
            }
        }
        Next::Stop
    }

    fn pass_barrier(
        &mut self,
        state: &mut State,
        pc: usize,
        barrier: &Barrier,
        id: Value,
        quorum: Option<Value>,
    ) {
        let round = match state.rounds.iter_mut().find(|(i, n, _)| (*i, *n) == (barrier.instance, id)) {
            Some((_, _, round)) => {
                *round += 1;
                *round
            }
            None => {
                state.rounds.push((barrier.instance, id, 0));
                0
            }
        };
        let meeting = Meeting {
            group: barrier.group,
            instance: barrier.instance,
            id,
            round,
            quorum,
            arrive: barrier.arrive,
        };
        if !barrier.arrive {
            self.wait_at(state, WaitPoint::Barrier(meeting));
        }
        let kinds: &[EventKind] = if self.program.dialect == Dialect::OpenCl {
            &[EventKind::BarrierEntry, EventKind::BarrierExit]
        } else {
            &[EventKind::Barrier]
        };
        for &kind in kinds {
            let mut event = self.event(kind, pc);
            event.order = match kind {
                EventKind::BarrierEntry => Order::Release,
                EventKind::BarrierExit => Order::Acquire,
                _ => barrier.order,
            };
            event.scope = Some(barrier.scope);
            (event.global, event.local) = (barrier.global, barrier.local);
            event.meeting = Some(meeting);
            event.tags = barrier.tags.clone();
            push(state, event, Sym::Const(0), EventSet::EMPTY, EventSet::EMPTY);
        }
    }
}
