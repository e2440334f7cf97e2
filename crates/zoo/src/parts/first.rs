//! The lines of a first-level cache, and functions for the actions of its state transition table.

use super::{HasBankMessages, LowerLevel, ResourceNeeds, ToBank};
use core::fmt::Debug;
use core::hash::Hash;
use core::ops::RangeInclusive;
use proto::parts::{CacheArray, Place, hit};
use proto::{
    ByteMask, Cx, Disposition, Hit, Homes, Key, KindLevel, LineAddr, LineData, Load, Op, OpClass, Plans,
    Protocol, RequestInput, Slot, Table, TimerClass, Way,
};

/// A first-level cache: its lines, and its outstanding operations at the level below. `S` is the
/// type of a line's state. A value of the type `W` identifies a waiter for a flush.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FirstLevel<S, W = Slot> {
    /// The lines of the cache.
    pub array: CacheArray<S>,
    /// The outstanding operations at the level below.
    pub lower: LowerLevel<W>,
    /// The number of miss registers in use.
    pub fills: u32,
}

proto::clone_in_place! { [S: Clone, W: Clone] FirstLevel<S, W> { array, lower, fills } }

/// The data that comes with an event of a line. The actions in the table row of the event use it.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The request that causes the event.
    Request(RequestInput<'a>),
    /// The bytes of the fill that causes the event.
    Fill(&'a LineData),
    /// No data comes with the event.
    Nothing,
}

/// Performs an access on the bytes of a line. Returns the accessed bytes as they were before.
pub(super) fn perform(bytes: &mut LineData, op: Op, operands: &LineData, mask: ByteMask) -> LineData {
    let old = bytes.masked(mask);
    match op {
        Op::Rmw(rmw) => {
            rmw.perform(bytes, operands, mask);
        }
        Op::Store => bytes.merge(operands, mask),
        Op::Load | Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => {}
    }
    old
}

impl<S: Copy + Eq + Hash + Debug, W: Copy + Eq> FirstLevel<S, W> {
    /// An empty cache without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, absent: S) -> Self {
        let array = CacheArray::new(level, absent);
        FirstLevel { array, lower: LowerLevel::default(), fills: 0 }
    }

    /// Whether the line in a way has dirty bytes. False for an absent line (`None`).
    #[inline]
    #[must_use]
    pub fn is_dirty(&self, way: Option<Way>) -> bool {
        way.is_some_and(|way| !self.array.dirty(way).is_empty())
    }

    /// Checks whether an access lacks a resource that it needs. Returns how the access must wait,
    /// or `None` if all resources are free.
    #[inline]
    pub fn lacks<P: Protocol>(
        &self,
        place: Place,
        needs: ResourceNeeds,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        if needs.entry && self.lower.buffer.lines() >= cx.level().array.store_buffer_entries {
            cx.fx.timer(TimerClass::Drain);
            return Some(Disposition::Stall(Key::StoreBuffer));
        }
        needs.lacks(&self.array, place, self.fills, cx)
    }

    /// Takes a miss register for a request to the level below. `end_fill` frees the
    /// register.
    pub fn begin_fill<P: Protocol>(&mut self, cx: &mut Cx<'_, P>) {
        self.fills += 1;
        cx.fx.uses.fetches += 1;
    }

    /// Frees a miss register, and wakes the inputs that wait for a miss register, or for a way in
    /// the set of `place`.
    pub fn end_fill<P: Protocol>(&mut self, place: Place, cx: &mut Cx<'_, P>) {
        cx.count_down(&mut self.fills, "a fill ends, but no fill was under way");
        cx.fx.wake(Key::Way(place.set));
        cx.fx.wake(Key::Miss);
    }

    /// Requests the line from its bank. Takes a miss register.
    pub fn get<P: HasBankMessages>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>) {
        self.begin_fill(cx);
        cx.fx.send(cx.below(line), ToBank::Get { line });
    }

    /// Completes [`FirstLevel::get`] when its fill has arrived: frees the miss register, and wakes
    /// the inputs that wait for a way, for a miss register or for this line. The inputs that wait
    /// for the line are woken last, because they may have to request the line again.
    pub fn end_get<P: Protocol>(&mut self, place: Place, cx: &mut Cx<'_, P>) {
        self.end_fill(place, cx);
        cx.fx.wake(Key::Line(place.line));
    }

    /// Writes the bytes of a fill into a way. Bytes of the way that are already valid stay as they
    /// are.
    pub fn fill<P: Protocol>(&mut self, way: Way, data: &LineData, cx: &mut Cx<'_, P>) {
        cx.fx.uses.data_writes += 1;
        self.array.fill(way, data);
    }

    /// The line that answers a non-atomic load at once, or `None` if there is no such line (see
    /// [`proto::Controller::hit`]). The load is answered at once only if its plan (list of steps)
    /// begins with the step `here`, and `reply` is the only action in the table row of `event`.
    #[inline]
    #[must_use]
    pub fn hit<T: Table<State = S>, Q: Plans>(
        &self,
        load: &Load,
        homes: &Homes,
        here: Q::Step,
        (event, reply): (T::Event, T::Action),
    ) -> Option<Hit<'_>> {
        let is_plain_load = load.key.op == OpClass::Load && load.key.is_plain();
        (is_plain_load && Q::plan(load.key).first() == Some(&here))
            .then(|| hit::<T>(&self.array, load, homes, event, reply))
            .flatten()
    }

    /// Answers a load with the bytes of the line.
    pub fn reply<P: Protocol>(&self, way: Way, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) {
        cx.fx.uses.data_reads += 1;
        cx.fx.uses.loads_of_dirty_lines += u32::from(self.is_dirty(Some(way)));
        cx.fx.reply(ask.slot, self.array.read(way));
    }

    /// Writes bytes of a line that is present in the cache. The written bytes become dirty. Returns
    /// whether the line was clean before.
    pub fn write<P: Protocol>(
        &mut self,
        way: Way,
        data: &LineData,
        mask: ByteMask,
        cx: &mut Cx<'_, P>,
    ) -> bool {
        cx.fx.uses.data_writes += 1;
        self.array.write(way, data, mask)
    }

    /// Puts a written line into the store buffer, if the line was clean before the write
    /// (`was_clean`).
    pub fn queue_if(&mut self, was_clean: bool, line: LineAddr) {
        if was_clean {
            self.lower.buffer.push(line);
        }
    }

    /// Performs an atomic access on a line that is present in the cache. Returns the accessed bytes
    /// as they were before, and whether the access made a clean line dirty.
    pub fn perform<P: Protocol>(
        &mut self,
        way: Way,
        op: Op,
        operands: &LineData,
        mask: ByteMask,
        cx: &mut Cx<'_, P>,
    ) -> (LineData, bool) {
        cx.fx.uses.data_reads += 1;
        let mut bytes = self.array.read(way);
        let old = perform(&mut bytes, op, operands, mask);
        let mut was_clean = false;
        if op != Op::Load {
            cx.fx.uses.atomics += 1;
            cx.fx.uses.atomic_words += mask.count().div_ceil(4);
            was_clean = self.write(way, &bytes, mask, cx);
        }
        (old, was_clean)
    }

    /// Removes a line from the store buffer, and wakes the inputs that wait for an entry of the
    /// buffer.
    pub fn unqueue<P: Protocol>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>) {
        self.lower.buffer.remove(line);
        cx.fx.wake(Key::StoreBuffer);
    }

    /// The dirty bytes of the line in a way: their mask and their values.
    #[must_use]
    pub fn dirty_bytes(&self, way: Way) -> (ByteMask, LineData) {
        let mask = self.array.dirty(way);
        (mask, self.array.read(way).masked(mask))
    }

    /// Writes the dirty bytes of a line out to the bank, if there are any. The line
    /// becomes clean.
    pub fn write_out<P: HasBankMessages>(&mut self, line: LineAddr, way: Way, cx: &mut Cx<'_, P>) {
        let (mask, data) = self.dirty_bytes(way);
        if mask.is_empty() {
            return;
        }
        self.array.clean(way);
        cx.fx.uses.data_reads += 1;
        cx.fx.uses.lines_written_out += 1;
        let parity = self.lower.buffer.acks.sent();
        cx.fx.send(cx.below(line), ToBank::Write { line, mask, data, parity });
    }

    /// Compares the counts of this cache with the things that they count. Returns a sentence about
    /// the first wrong count, or `None` if all counts are right. `fills` is the range of right
    /// values for the number of miss registers in use. `is_queued` accepts the states in which a
    /// dirty line must be in the store buffer.
    #[must_use]
    pub fn miscount(
        &self,
        fills: RangeInclusive<u32>,
        is_queued: impl Fn(S) -> bool,
    ) -> Option<&'static str> {
        let (array, buffer) = (&self.array, &self.lower.buffer);
        let (mut dirty, mut forgotten) = (0, false);
        for way in array.occupied(Way(0)).filter(|&way| !array.dirty(way).is_empty()) {
            let times = buffer.queued().filter(|&line| array.line(way) == Some(line)).count();
            dirty += times;
            forgotten |= times > 1 || times == 0 && is_queued(array.state(way));
        }
        if !array.counts_ways() {
            Some("the number of occupied ways is wrong")
        } else if !fills.contains(&self.fills) {
            Some("the number of miss registers in use differs from the number of fills under way")
        } else if buffer.lines() as usize != buffer.queued().count() {
            Some("the number of lines in the store buffer is wrong")
        } else if forgotten || dirty != buffer.queued().count() {
            Some("the lines in the store buffer differ from the dirty lines of the cache")
        } else {
            None
        }
    }

    /// Whether no operation is under way.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.fills == 0 && self.lower.is_quiet()
    }

    /// Brings the cache into one canonical form, so that equivalent caches become equal.
    pub fn canonicalize(&mut self) {
        self.array.canonicalize();
        self.lower.canonicalize();
    }
}

/// Answers an atomic access that was performed in this cache. `old` holds the accessed bytes as
/// they were before the access.
pub fn performed<P: Protocol>(ask: RequestInput<'_>, old: LineData, cx: &mut Cx<'_, P>) {
    match ask.req.reads() {
        true => cx.fx.reply(ask.slot, old),
        false => cx.fx.accept(ask.slot),
    }
}

/// Generates the items `Table`, `ABSENT` and `array` of [`proto::parts::Lines`] for a controller
/// that contains a [`FirstLevel`]. The arguments are the field with the [`FirstLevel`], the state
/// transition table of its lines, and the state of a line that is not present.
macro_rules! first_lines {
    ($cache:ident: $table:ty, absent: $absent:expr) => {
        type Table = $table;
        const ABSENT: proto::parts::StateOf<$table> = $absent;

        fn array(&mut self) -> &mut proto::parts::CacheArray<proto::parts::StateOf<$table>> {
            &mut self.$cache.array
        }
    };
}

/// Generates the methods `victims`, `occupied`, `limit_ways`, `lines`, `is_quiet` and `canonicalize` of a
/// [`proto::Controller`] that contains a [`FirstLevel`]. The arguments are the field with the
/// [`FirstLevel`], the state transition table of its lines, and the state of lines that may be
/// evicted. If the last argument is absent, the macro does not generate `victims`, and the
/// controller implements it itself.
macro_rules! first_views {
    ($cache:ident: $table:ty, settled: $settled:expr) => {
        fn victims(&self, set: proto::SetIndex, out: &mut Vec<(proto::Way, proto::Rank)>) {
            self.$cache.array.victims(set, $settled, out);
        }

        $crate::parts::first_views! { $cache: $table }
    };
    ($cache:ident: $table:ty) => {
        fn occupied(&self, set: proto::SetIndex, out: &mut Vec<proto::Way>) {
            out.extend(self.$cache.array.in_set(set));
        }

        fn limit_ways(&mut self, ways: u32) -> bool {
            self.$cache.array.limit_ways(ways);
            true
        }

        fn lines(&self, out: &mut Vec<proto::LineView>) {
            self.$cache.array.views::<$table>(out);
        }

        fn is_quiet(&self) -> bool {
            self.$cache.is_quiet()
        }

        fn canonicalize(&mut self) {
            self.$cache.canonicalize();
        }
    };
}

pub(crate) use {first_lines, first_views};

#[cfg(test)]
mod tests {
    use super::*;
    use proto::{CacheShape, WritePolicy};

    #[test]
    fn wrong_counts_are_reported() {
        let shape = CacheShape {
            sets: 1,
            ways: 2,
            policy: WritePolicy::Combining,
            store_buffer_entries: 2,
            miss_registers: 2,
            ignores_acquires: false,
        };
        let mut cache: FirstLevel<u8> = FirstLevel::new(&KindLevel::alone(shape, 16), 0);
        let is_wrong = |cache: &FirstLevel<u8>| cache.miscount(0..=0, |state| state == 1).is_some();
        assert!(!is_wrong(&cache));
        cache.fills = 1;
        assert!(is_wrong(&cache), "a fill is counted, and none is under way");
        cache.fills = 0;
        cache.array.insert(Way(0), LineAddr(3), 1);
        cache.array.write(Way(0), &LineData::default(), ByteMask::range(0, 4));
        assert!(is_wrong(&cache), "a dirty line is not in the store buffer");
        cache.lower.buffer.push(LineAddr(3));
        assert!(!is_wrong(&cache));
        cache.lower.buffer.push(LineAddr(3));
        assert!(is_wrong(&cache), "the line is in the store buffer twice");
        cache.lower.buffer.remove(LineAddr(3));
        cache.array.clean(Way(0));
        assert!(is_wrong(&cache), "a clean line is in the store buffer");
        cache.lower.buffer.remove(LineAddr(3));
        assert!(!is_wrong(&cache));
        cache.array.insert(Way(1), LineAddr(5), 2);
        cache.array.write(Way(1), &LineData::default(), ByteMask::range(0, 4));
        assert!(!is_wrong(&cache), "dirty bytes of a registered line may stay in the cache");
    }
}
