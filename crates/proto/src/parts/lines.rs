//! Controllers whose lines change state by the rows of a table.

use super::array::{CacheArray, Place};
use crate::contract::{Cx, Disposition, Hit, Load, Protocol};
use crate::homes::Homes;
use crate::line::LineAddr;
use crate::node::{Key, Way};
use crate::symbols::Symbol as _;
use crate::table::{After, Row, RowId, Table};
use crate::uses::Cause;

/// The state type of a table.
pub type StateOf<T> = <T as Table>::State;
/// The event type of a table.
pub type EventOf<T> = <T as Table>::Event;

/// The line that answers a load ([`Hit`]). The line must hold all requested bytes, and the row of
/// its state and `event` must have `reply` as its only action. The function looks the row up with
/// the stored state of the line. Therefore the table must have the same row for a dirty line as for
/// a clean line.
#[inline]
#[must_use]
pub fn hit<'a, T: Table>(
    array: &'a CacheArray<T::State>,
    load: &Load,
    homes: &Homes,
    event: T::Event,
    reply: T::Action,
) -> Option<Hit<'a>> {
    let way = array.find(load.line, homes)?;
    if !array.valid(way).contains(load.mask) {
        return None;
    }
    let state = array.state(way);
    match T::row(state, event) {
        Row::Do { actions: &[action], next: None, after: After::Done } if action == reply => {
            let row =
                RowId { table: T::ID, row: (state.index() * T::Event::ALL.len() + event.index()) as u16 };
            Some(Hit { way, row, bytes: array.bytes(way), is_dirty: !array.dirty(way).is_empty() })
        }
        _ => None,
    }
}

/// A controller with an array of lines, each in a state of a table. The controller implements the
/// actions, and the choice of the row's state and event ([`Lines::classify`]). The trait looks rows
/// up and carries them out.
pub trait Lines<P: Protocol> {
    /// The table that the lines follow.
    type Table: Table;
    /// The operand of an event: the request, message or bytes that its actions need.
    type Operand<'a>: Copy;
    /// The state of a line that is not in the array.
    const ABSENT: StateOf<Self::Table>;

    /// Whether a line in this state takes a way of the array. The controller itself keeps the lines
    /// that are neither absent nor in a way, such as loads under way that bypass the array. Its
    /// [`Lines::classify`] returns their state.
    #[inline]
    #[must_use]
    fn occupies(state: StateOf<Self::Table>) -> bool {
        state != Self::ABSENT
    }

    /// The array that holds the lines.
    fn array(&mut self) -> &mut CacheArray<StateOf<Self::Table>>;

    /// The state and the event that select the row for an event of a line. They can differ from the
    /// stored state and the given event, because a table can have separate rows for a dirty line
    /// and for a line without the requested bytes.
    fn classify(
        &self,
        place: Place,
        event: EventOf<Self::Table>,
        operand: Self::Operand<'_>,
    ) -> (StateOf<Self::Table>, EventOf<Self::Table>);

    /// Performs one action of a row.
    fn act(
        &mut self,
        action: <Self::Table as Table>::Action,
        place: Place,
        operand: Self::Operand<'_>,
        cx: &mut Cx<'_, P>,
    );

    /// Looks up the row for an event of a line and carries the row out. The line need not be
    /// present.
    fn event(
        &mut self,
        line: LineAddr,
        event: EventOf<Self::Table>,
        operand: Self::Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let place = self.array().place(line, cx.world.homes);
        let (state, event) = self.classify(place, event, operand);
        self.transition(place, state, event, operand, cx)
    }

    /// Carries out an event for the line that a way holds.
    fn event_in(
        &mut self,
        way: Way,
        event: EventOf<Self::Table>,
        operand: Self::Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        match self.array().line(way) {
            Some(line) => self.event(line, event, operand, cx),
            None => Disposition::Impossible("an empty way cannot be evicted"),
        }
    }

    /// Carries out an event for every line that `selects` accepts, in the order of the ways.
    fn event_of_all(
        &mut self,
        mut selects: impl FnMut(LineAddr, StateOf<Self::Table>) -> bool,
        event: EventOf<Self::Table>,
        operand: Self::Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let mut next = Way(0);
        while let Some(way) = self.array().next_occupied(next) {
            next = Way(way.0 + 1);
            let Some(line) = self.array().line(way) else { continue };
            if !selects(line, self.array().state(way)) {
                continue;
            }
            let disposition = self.event(line, event, operand, cx);
            if disposition != Disposition::Done {
                return disposition;
            }
        }
        Disposition::Done
    }

    /// Carries out an event for every line. Counts one invalidation of the whole cache with this
    /// cause.
    fn invalidate_all(
        &mut self,
        cause: Cause,
        event: EventOf<Self::Table>,
        operand: Self::Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        if matches!(cause, Cause::Kernel | Cause::Order) && cx.level().array.ignores_acquires {
            return Disposition::Done;
        }
        cx.fx.uses.invalidations.count(cause);
        let mut count = 0;
        let all = |_, _| {
            count += 1;
            true
        };
        let disposition = self.event_of_all(all, event, operand, cx);
        cx.fx.uses.lines_invalidated += count;
        disposition
    }

    /// Looks up the row of a state and an event that [`Lines::classify`] has chosen, and carries
    /// the row out. A line takes a free way when it enters a state that needs one
    /// ([`Lines::occupies`]). When it enters another state, it frees its way, and the inputs that wait
    /// for a way of the set are woken, after those that the actions wake. The caller ensures that the
    /// set has a free way.
    #[inline]
    fn transition(
        &mut self,
        mut place: Place,
        state: StateOf<Self::Table>,
        event: <Self::Table as Table>::Event,
        operand: Self::Operand<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        cx.fx.uses.tag_lookups += 1;
        let looked = cx.row::<Self::Table>(state, event);
        let (actions, next, after) = match looked.row {
            Row::Do { actions, next, after } => (actions, next, after),
            Row::Stall => return Disposition::Stall(Key::Line(place.line)),
            Row::Impossible(why) => return Disposition::Impossible(why),
        };
        if place.way.is_none() && next.is_some_and(Self::occupies) {
            place.way = self.array().free_way(place);
            let Some(way) = place.way else { return Disposition::Impossible("no way is free") };
            self.array().insert(way, place.line, Self::ABSENT);
        }
        let sent = (cx.fx.sends.len(), cx.fx.memory.len());
        for (i, &action) in actions.iter().enumerate() {
            if looked.skip != Some(i as u8) {
                self.act(action, place, operand, cx);
            }
        }
        if looked.forgets {
            cx.fx.forget_bytes(sent);
        }
        if let Some(way) = place.way {
            if next.is_some_and(|next| !Self::occupies(next)) {
                cx.fx.wake(Key::Way(place.set));
                self.array().remove(way, Self::ABSENT);
            } else {
                if let Some(next) = next {
                    self.array().set_state(way, next);
                }
                cx.fx.touches.push(way);
            }
        }
        match after {
            After::Done => Disposition::Done,
            After::Wait => Disposition::Wait(place.line),
            After::Retry => Disposition::Stall(Key::Line(place.line)),
            After::Next => {
                cx.stage += 1;
                Disposition::Done
            }
        }
    }
}
