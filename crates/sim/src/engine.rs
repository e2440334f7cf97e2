//! The event queue of a machine, and its first failure, which ends the run.

use drive::At;
use proto::TimerClass;

use crate::queue::{Cycle, EventQueue};
use crate::reports::error::RunError;

/// An event that is scheduled at a cycle. Most kinds contain the number of the object that the
/// event concerns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The wavefront in the wavefront slot of this number starts.
    WaveStart(u32),
    /// The arithmetic that this SIMD unit runs is done.
    Simd(u32),
    /// The port of this station (a controller of the protocol) serves the next line request.
    Port(u32),
    /// The memory instruction of this number is complete.
    Complete(u32),
    /// This message enters the network.
    Depart(u32),
    /// This message arrives at its station (controller).
    Arrive(u32),
    /// This operation on memory enters the network.
    MemoryDepart(u32),
    /// This memory operation reaches memory.
    MemoryStart(u32),
    /// This memory channel may serve a request that waits.
    MemoryServe(u32),
    /// This access of a memory-side cache reaches its memory channel.
    MemoryFill(u32),
    /// The data of this access of a memory-side cache arrive.
    MemoryFilled(u32),
    /// Memory's answer to this operation on memory enters the network.
    MemoryReturn(u32),
    /// Memory's answer to this operation reaches its station (controller).
    MemoryDone(u32),
    /// A timer of this class expires at this station (a controller of the protocol).
    Timer(At, TimerClass),
    /// This station (a controller of the protocol) may have reached the clock tick that it waits
    /// for.
    Deadline(At),
    /// The launch latency of the next kernel has passed.
    Launch,
    /// The command processor places the next work-group on a compute unit.
    Dispatch,
    /// The host issues its next timed operation.
    Host,
}

impl Event {
    /// Whether the machine counts as busy while this event is pending. True for all events except
    /// `Timer` and `Deadline`.
    fn is_live(self) -> bool {
        !matches!(self, Event::Timer(..) | Event::Deadline(_))
    }
}

/// The event queue of a machine, and the first failure of the run.
#[derive(Debug)]
pub(crate) struct Engine {
    queue: EventQueue<Event>,
    /// The number of pending events, not counting the events `Timer` and `Deadline`.
    live: u64,
    seed: u64,
    failure: Option<RunError>,
}

impl Engine {
    /// An empty event queue without a failure, for a run with this seed.
    pub(crate) fn new(seed: u64) -> Engine {
        Engine { queue: EventQueue::default(), live: 0, seed, failure: None }
    }

    /// The current cycle, which is the cycle of the event that was taken last.
    #[inline]
    pub(crate) fn now(&self) -> Cycle {
        self.queue.now()
    }

    /// Schedules an event at cycle `when`.
    #[inline]
    pub(crate) fn at(&mut self, when: Cycle, event: Event) {
        self.live += u64::from(event.is_live());
        self.queue.push(when, event);
    }

    /// Takes the next event from the queue. It counts as pending until the caller passes it to
    /// [`Engine::begin`].
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Cycle, Event)> {
        self.queue.pop()
    }

    /// Begins an event that [`Engine::next`] returned. The event no longer counts as pending.
    #[inline]
    pub(crate) fn begin(&mut self, event: Event) {
        self.live -= u64::from(event.is_live());
    }

    /// Puts an event back into the queue, at cycle `when`. The event was taken but has not begun.
    pub(crate) fn put_back(&mut self, when: Cycle, event: Event) {
        self.queue.push(when, event);
    }

    /// Whether all pending events are of the kinds `Timer` and `Deadline`, which do not keep the
    /// machine busy.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.live == 0
    }

    /// The number of events scheduled so far.
    pub(crate) fn events(&self) -> u64 {
        self.queue.inserted()
    }

    /// Records a failure, which ends the run. Only the first failure is kept.
    #[cold]
    pub(crate) fn fail(&mut self, error: RunError) {
        self.failure.get_or_insert(error);
    }

    /// Records a failure of the run: the protocol has violated a rule. For example, it has reached
    /// a row that its tables call impossible.
    #[cold]
    pub(crate) fn violate(&mut self, why: String) {
        let (cycle, seed) = (self.now(), self.seed);
        self.fail(RunError::Violation { why, cycle, seed });
    }

    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Removes the recorded failure and returns it. `None` if the run has not failed.
    pub(crate) fn take_failure(&mut self) -> Option<RunError> {
        self.failure.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_other_than_timers_and_deadlines_keep_a_machine_busy_until_they_begin() {
        let mut engine = Engine::new(0);
        engine.at(5, Event::Timer(0, TimerClass::Drain));
        engine.at(6, Event::Deadline(0));
        assert!(engine.is_quiet());
        engine.at(4, Event::Launch);
        assert!(!engine.is_quiet());
        let (when, event) = engine.next().unwrap();
        engine.put_back(when, event);
        assert!(!engine.is_quiet(), "it was taken and has not begun");
        let (_, event) = engine.next().unwrap();
        engine.begin(event);
        assert!(engine.is_quiet());
        let (_, timer) = engine.next().unwrap();
        engine.begin(timer);
        assert!(engine.is_quiet() && engine.now() == 5);
    }

    #[test]
    fn the_first_failure_is_kept() {
        let mut engine = Engine::new(7);
        engine.violate("first".to_owned());
        engine.fail(RunError::Machine("second".to_owned()));
        assert!(
            matches!(engine.take_failure(), Some(RunError::Violation { why, seed: 7, .. }) if why == "first")
        );
        assert!(!engine.has_failed());
    }
}
