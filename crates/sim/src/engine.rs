//! The clock of a machine: what happens when, and the first failure, which ends it.

use drive::At;
use proto::TimerClass;

use crate::queue::{Cycle, EventQueue};
use crate::reports::error::RunError;

/// Something that happens at a cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A wavefront takes its first step.
    WaveStart(u32),
    /// A SIMD unit has done the arithmetic before an operation.
    Simd(u32),
    /// A port serves the next line request.
    Port(u32),
    /// An instruction is complete.
    Complete(u32),
    /// A message enters the network.
    Depart(u32),
    /// A message arrives.
    Arrive(u32),
    /// An operation on memory enters the network.
    MemoryDepart(u32),
    /// An operation reaches memory.
    MemoryStart(u32),
    /// Memory's answer enters the network.
    MemoryReturn(u32),
    /// Memory's answer reaches its station.
    MemoryDone(u32),
    /// A timer of a station runs out.
    Timer(At, TimerClass),
    /// A station waits for the tick of this cycle.
    Deadline(At),
    /// The next kernel's launch cost is paid.
    Launch,
    /// The dispatcher places the next work-group.
    Dispatch,
    /// The host issues its next timed operation.
    Host,
}

impl Event {
    /// Is the machine busy as long as this is to come?
    fn is_live(self) -> bool {
        !matches!(self, Event::Timer(..) | Event::Deadline(_))
    }
}

/// The events of a machine, in order.
#[derive(Debug)]
pub(crate) struct Engine {
    queue: EventQueue<Event>,
    /// Events to come that are neither a timer nor a deadline.
    live: u64,
    seed: u64,
    failure: Option<RunError>,
}

impl Engine {
    /// A clock at which nothing is to happen yet, in a run with that seed.
    pub(crate) fn new(seed: u64) -> Engine {
        Engine { queue: EventQueue::default(), live: 0, seed, failure: None }
    }

    /// The cycle of the event taken last.
    #[inline]
    pub(crate) fn now(&self) -> Cycle {
        self.queue.now()
    }

    /// Schedules an event.
    #[inline]
    pub(crate) fn at(&mut self, when: Cycle, event: Event) {
        self.live += u64::from(event.is_live());
        self.queue.push(when, event);
    }

    /// Takes the next event. It is to come until it [begins](Engine::begin).
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Cycle, Event)> {
        self.queue.pop()
    }

    /// An event that was taken takes place.
    #[inline]
    pub(crate) fn begin(&mut self, event: Event) {
        self.live -= u64::from(event.is_live());
    }

    /// Schedules an event that was taken and has not begun.
    pub(crate) fn put_back(&mut self, when: Cycle, event: Event) {
        self.queue.push(when, event);
    }

    /// Is nothing to come but timers and deadlines?
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.live == 0
    }

    /// How many events were ever scheduled.
    pub(crate) fn events(&self) -> u64 {
        self.queue.inserted()
    }

    /// Keeps the first failure.
    #[cold]
    pub(crate) fn fail(&mut self, error: RunError) {
        self.failure.get_or_insert(error);
    }

    /// The protocol did what its tables say cannot happen.
    #[cold]
    pub(crate) fn violate(&mut self, why: String) {
        let (cycle, seed) = (self.now(), self.seed);
        self.fail(RunError::Violation { why, cycle, seed });
    }

    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Takes the failure, if there is one.
    pub(crate) fn take_failure(&mut self) -> Option<RunError> {
        self.failure.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_and_deadlines_keep_no_machine_busy_and_an_event_does_until_it_begins() {
        let mut engine = Engine::new(0);
        engine.at(5, Event::Timer(0, TimerClass::Drain));
        engine.at(6, Event::Deadline(0));
        assert!(engine.is_quiet());
        engine.at(4, Event::Launch);
        assert!(!engine.is_quiet());
        let (when, event) = engine.next().unwrap();
        engine.put_back(when, event);
        assert!(!engine.is_quiet(), "it was taken, and did not begin");
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
