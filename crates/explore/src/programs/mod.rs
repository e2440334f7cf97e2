//! The tests for the verification of a protocol. Because there are very many programs, the
//! generation and the exploration of programs overlap. A short verification explores only the first
//! programs.
//!
//! A [`Batch`] is a set of programs drawn from an enumeration. Drawing is cheap and sequential. The
//! choice of programs is expensive, and several workers choose at once. Tests are numbered in the
//! order of the batches, so a test has the same number for any number of workers. Tests are explored
//! in the order of their numbers, but dimension programs are explored before all others.

pub mod claim;
pub mod corpus;
pub(crate) mod covering;
pub(crate) mod dimensions;
mod draft;
pub(crate) mod generated;
pub(crate) mod message;
pub(crate) mod sampled;
mod short;
mod single;
pub(crate) mod test;
pub(crate) mod transform;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::parallel::pull;
use claim::Claim;
use test::{Spread, Test, TestSize};

/// A function that returns true when the verification must stop.
pub(crate) type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// A set of generated programs, before the choice of the programs that are explored.
pub(crate) struct Batch {
    /// The number of enumerated programs in the batch. 0 if the programs of the batch are not
    /// enumerated.
    pub(crate) drawn: usize,
    pub(crate) choose: Choose,
}

/// A function that chooses which programs of a batch are explored. The functions of several batches
/// may run at the same time.
type Choose = Box<dyn FnOnce(Stop<'_>) -> Finish + Send>;

/// A function that finishes a batch: it builds the tests of the programs that were chosen. The
/// batches are finished one by one, in their order.
pub(crate) type Finish = Box<dyn FnOnce() -> Chosen + Send>;

/// The tests that were built from a batch of programs.
#[derive(Default)]
pub(crate) struct Chosen {
    pub(crate) tests: Vec<Test>,
    /// The number of tests of synchronized programs that were drawn at random (race-free programs
    /// with a data conflict that synchronization orders).
    pub(crate) sampled: usize,
}

/// The families (sets of programs that are made in the same way), in order. Each family is a
/// sequence of batches.
type Families = Vec<Box<dyn Iterator<Item = Batch> + Send>>;

/// The tests of a verification, and the families (sets of programs made in the same way) from which
/// further tests are generated on demand.
#[derive(Default)]
pub struct Programs {
    tests: Vec<Arc<Test>>,
    /// The numbers of the tests that are explored before all others: the tests that were written for
    /// the protocol, and the dimension programs.
    first: Range<usize>,
    /// The number of dimension programs.
    dimensions: usize,
    /// The families (sets of programs made in the same way) that still have programs, in reverse
    /// order: the next family is the last element.
    families: Families,
    families_in_all: usize,
    drawn: usize,
    sampled: usize,
    spread: Spread,
    /// The size of the tests, and the number of larger tests that were left out.
    size: TestSize,
    left_out: usize,
    /// Whether the verification stopped while the programs of a batch were chosen.
    is_cut: bool,
}

impl core::fmt::Debug for Programs {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Programs")
            .field("tests", &self.tests.len())
            .field("families", &self.families.len())
            .finish_non_exhaustive()
    }
}

impl Programs {
    /// A set of exactly these tests.
    #[must_use]
    pub fn of(tests: impl IntoIterator<Item = Test>) -> Programs {
        Programs { tests: tests.into_iter().map(Arc::new).collect(), ..Programs::default() }
    }

    /// Adds the message programs (one thread releases a word, another acquires it) for these
    /// claims.
    #[must_use]
    pub fn and_messages(self, claims: &[Claim]) -> Programs {
        self.and(vec![generated::messages_in_batches(claims)])
    }

    /// Adds the dimension programs (which differ in word widths, requests and machine shapes) for
    /// these claims. They are explored before all other programs, because they find many faults in
    /// few states. Their numbers follow the numbers of the tests that exist already.
    #[must_use]
    pub fn and_dimensions(mut self, claims: &[Claim]) -> Programs {
        let (start, spread) = (self.tests.len(), self.spread);
        let tests = dimensions::dimensions(claims).into_iter();
        self.tests.extend(tests.map(|test| Arc::new(test.spread(spread))));
        self.first = start..self.tests.len();
        self.dimensions = self.first.len();
        self
    }

    /// Adds the enumerated programs with up to `operations_max` operations for these claims. With
    /// `symmetry`, one program stands for all programs that differ only in the names of threads,
    /// words, lines, compute units and work-groups.
    #[must_use]
    pub fn and_generated(
        self,
        claims: &[Claim],
        scopes_matter: bool,
        operations_max: usize,
        symmetry: bool,
    ) -> Programs {
        self.and(generated::in_batches(claims, scopes_matter, operations_max, symmetry))
    }

    /// Adds `count` larger programs that are drawn from a seed.
    #[must_use]
    pub fn and_sampled(self, claims: &[Claim], scopes_matter: bool, count: usize, seed: u64) -> Programs {
        self.and(sampled::in_batches(claims, scopes_matter, count, seed))
    }

    /// These programs, but each of them also in placements that spread it over several kernels and
    /// hosts.
    #[must_use]
    pub fn spread(self, spread: Spread) -> Programs {
        let of = |test: Arc<Test>| Arc::new(Arc::unwrap_or_clone(test).spread(spread));
        Programs { tests: self.tests.into_iter().map(of).collect(), spread, ..self }
    }

    /// These programs without those of larger sizes. The tests with the names `own` stay, whatever
    /// their size, and are explored before all others. The other tests that were not generated are
    /// explored in the order of their weights, so that many short tests come early.
    #[must_use]
    pub fn of_size(self, size: TestSize, own: &[&str]) -> Programs {
        let all = self.tests.len();
        let fits = |test: &Arc<Test>| size == TestSize::All || test.size() <= size;
        let (mut given, mut dimensions) = (self.tests, Vec::new());
        if !self.first.is_empty() {
            dimensions = given.split_off(self.first.start);
        }
        let (own, mut tests): (Vec<_>, Vec<_>) =
            given.into_iter().partition(|test| own.contains(&test.name.as_str()));
        tests.retain(fits);
        tests.sort_by_cached_key(|test| test.weight());
        dimensions.retain(fits);
        let (start, dimensions_count) = (tests.len(), dimensions.len());
        tests.extend(own.into_iter().chain(dimensions));
        let left_out = self.left_out + all - tests.len();
        Programs { first: start..tests.len(), dimensions: dimensions_count, tests, size, left_out, ..self }
    }

    /// The number of tests so far that were left out because they are large.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    fn and(mut self, more: Families) -> Programs {
        self.families_in_all += more.len();
        let first = core::mem::replace(&mut self.families, more.into_iter().rev().collect());
        self.families.extend(first);
        self
    }

    /// The tests that have been generated so far.
    #[must_use]
    pub fn tests(&self) -> &[Arc<Test>] {
        &self.tests
    }

    /// The tests that have been generated so far, each with its number, in the order in which a
    /// verification explores them.
    pub fn in_order(&self) -> impl Iterator<Item = (usize, &Arc<Test>)> {
        (0..self.tests.len()).map(|position| {
            let number = self.number_at(position);
            (number, &self.tests[number])
        })
    }

    /// The number of dimension programs (which differ in word widths, requests and machine shapes).
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The number of the test at this position in the order of exploration.
    fn number_at(&self, position: usize) -> usize {
        let Range { start, end } = self.first;
        if position < self.first.len() {
            start + position
        } else if position < end {
            position - self.first.len()
        } else {
            position
        }
    }

    /// A function that returns the position in the order of exploration of the test with a number.
    pub(crate) fn positions(&self) -> impl Fn(usize) -> usize + use<> {
        let Range { start, end } = self.first;
        move |number| match number {
            _ if number < start => number + (end - start),
            _ if number < end => number - start,
            _ => number,
        }
    }

    /// The number of programs that have been enumerated so far.
    #[must_use]
    pub fn drawn(&self) -> usize {
        self.drawn
    }

    /// The number of tests of synchronized programs (race-free with a data conflict that
    /// synchronization orders) that have been drawn at random so far.
    #[must_use]
    pub fn sampled(&self) -> usize {
        self.sampled
    }

    /// A sentence with the number of the family (set of programs made in the same way) at which the
    /// generation stopped, or `None` if all programs were generated.
    #[must_use]
    pub fn not_generated(&self) -> Option<String> {
        let (left, all) = (self.families.len(), self.families_in_all);
        match left {
            0 if !self.is_cut => None,
            _ => {
                let family = (all - left + 1).min(all);
                Some(format!(
                    "programs were generated only up to family {family} of {all}; this family is incomplete"
                ))
            }
        }
    }

    /// Generates the tests of all programs. Returns the tests, and the number of tests of
    /// synchronized programs (race-free with a data conflict that synchronization orders) that were
    /// drawn at random.
    pub(crate) fn make_all(mut self, jobs: usize, stop: Stop<'_>) -> (Vec<Test>, usize) {
        let feed = Feed::new(&mut self, stop);
        pull(jobs, || feed.next(), || |_, _| ());
        let tests = self.tests.into_iter().map(Arc::unwrap_or_clone).collect();
        (tests, self.sampled)
    }

    fn next_batch(&mut self) -> Option<Batch> {
        while let Some(family) = self.families.last_mut() {
            if let Some(batch) = family.next() {
                self.drawn += batch.drawn;
                return Some(batch);
            }
            self.families.pop();
        }
        None
    }
}

/// Distributes numbered tests to workers. If no test is left, the worker that asks for a test
/// generates further tests.
pub(crate) struct Feed<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
    stop: Stop<'a>,
}

struct State<'a> {
    programs: &'a mut Programs,
    /// The position of the next test in the order of exploration.
    next: usize,
    /// The number of batches whose programs a worker has begun to choose (`begun`), and the number
    /// of batches whose tests have been added to `programs` (`merged`). Batches are added in order.
    begun: usize,
    merged: usize,
    /// The batches whose programs are chosen, but that wait for an earlier batch. The key is the
    /// number of the batch.
    early: BTreeMap<usize, Finish>,
    /// Whether a worker has panicked.
    is_broken: bool,
}

impl<'a> Feed<'a> {
    pub(crate) fn new(programs: &'a mut Programs, stop: Stop<'a>) -> Feed<'a> {
        let state =
            State { programs, next: 0, begun: 0, merged: 0, early: BTreeMap::new(), is_broken: false };
        Feed { state: Mutex::new(state), changed: Condvar::new(), stop }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of tests that have been generated so far.
    pub(crate) fn known(&self) -> usize {
        self.lock().programs.tests.len()
    }

    /// The next test with its number, or `None` if no test is left or the verification must stop.
    pub(crate) fn next(&self) -> Option<(usize, Arc<Test>)> {
        let mut state = self.lock();
        loop {
            let number = state.programs.number_at(state.next);
            if let Some(test) = state.programs.tests.get(number) {
                let test = Arc::clone(test);
                state.next += 1;
                return Some((number, test));
            }
            if (self.stop)() || state.is_broken {
                return None;
            }
            if let Some(batch) = state.programs.next_batch() {
                let number = state.begun;
                state.begun += 1;
                drop(state);
                let guard = Guard(self);
                let finish = (batch.choose)(self.stop);
                drop(guard);
                state = self.lock();
                state.programs.is_cut |= (self.stop)();
                state.early.insert(number, finish);
                state.merge();
                self.changed.notify_all();
            } else if state.merged == state.begun {
                return None;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl State<'_> {
    fn merge(&mut self) {
        while let Some(finish) = self.early.remove(&self.merged) {
            let chosen = finish();
            self.merged += 1;
            self.programs.sampled += chosen.sampled;
            let Programs { spread, size, .. } = *self.programs;
            let all = chosen.tests.len();
            let fits = |test: &Test| size == TestSize::All || test.size() <= size;
            let tests: Vec<Test> = chosen.tests.into_iter().filter(fits).collect();
            self.programs.left_out += all - tests.len();
            self.programs.tests.extend(tests.into_iter().map(|test| Arc::new(test.spread(spread))));
        }
    }
}

/// A guard of a worker that builds a batch: if the worker panics, the guard wakes the workers that
/// wait for the batch.
struct Guard<'a, 'b>(&'a Feed<'b>);

impl Drop for Guard<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().is_broken = true;
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Subject;
    use crate::verify::{self, Options};
    use litmus::program::{Instr, Thread};
    use proto::Agent;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn claims(subject: &Subject) -> Vec<Claim> {
        subject.info.claims.iter().map(|claim| Claim::of(claim.model).expect("a known model")).collect()
    }

    fn names(tests: &[Arc<Test>]) -> Vec<String> {
        tests.iter().map(|test| test.name.clone()).collect()
    }

    #[test]
    fn the_first_test_of_a_large_sample_is_explored_before_much_of_it_is_drawn() {
        let subject = Subject::of::<zoo::vi::Vi>();
        let mut programs = Programs::default().and_sampled(&claims(&subject), true, 1_000_000, 7);
        let ended = AtomicBool::new(false);
        let options = Options {
            stop: &|| ended.load(Ordering::Relaxed),
            progress: &|_| ended.store(true, Ordering::Relaxed),
            ..Options::new(verify::machines())
        };
        let found = verify::verify_programs(&subject, &mut programs, &options).expect("known models");
        assert!(found.tests >= 1, "{found:?}");
        assert!(programs.tests().len() <= sampled::BATCH, "{} tests", programs.tests().len());
        assert!(programs.not_generated().is_some());
    }

    #[test]
    fn programs_are_the_same_and_in_the_same_order_for_any_number_of_workers() {
        let claims = [Claim::of("opencl-rsp").expect("a known model")];
        let of = |jobs: usize| {
            let mut programs = Programs::default()
                .and_messages(&claims)
                .and_generated(&claims, true, 2, true)
                .and_sampled(&claims, true, 20, 3);
            let feed = Feed::new(&mut programs, &|| false);
            let numbers = pull(jobs, || feed.next(), || |number, _| number);
            assert_eq!(numbers, (0..programs.tests().len()).collect::<Vec<_>>());
            assert!(programs.not_generated().is_none() && programs.sampled() == 20);
            names(programs.tests())
        };
        let one = of(1);
        assert_eq!(one, of(3));
        let different: std::collections::BTreeSet<&String> = one.iter().collect();
        assert_eq!(different.len(), one.len(), "each name once");
    }

    #[test]
    fn dimension_programs_are_explored_first() {
        let claims = [Claim::of("opencl").expect("a known model")];
        let shipped = corpus::shipped().expect("they are tests");
        let is_dimension = |test: &Test| test.name.starts_with("dimensions/");
        let mut programs = Programs::of(shipped.clone()).and_dimensions(&claims).and_messages(&claims);
        let count = programs.dimensions();
        assert!(count > 0);
        let position = programs.positions();
        let feed = Feed::new(&mut programs, &|| false);
        let order: Vec<(usize, Arc<Test>)> = core::iter::from_fn(|| feed.next()).collect();
        assert!(order.iter().enumerate().all(|(at, (number, _))| position(*number) == at));
        let mut pairs = programs.in_order().zip(&order);
        assert!(pairs.all(|(own, fed)| own.0 == fed.0 && Arc::ptr_eq(own.1, &fed.1)));
        assert_eq!(programs.tests().len(), order.len());
        assert!(order[..count].iter().all(|(_, test)| is_dimension(test)));
        assert!(order[count..].iter().all(|(_, test)| !is_dimension(test)));
        // Each test keeps its number, which chooses the machine of some tests.
        assert!(order.iter().all(|(number, test)| Arc::ptr_eq(test, &programs.tests()[*number])));
        let mut numbers: Vec<usize> = order.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..programs.tests().len()).collect::<Vec<_>>());
        assert!(shipped.iter().zip(programs.tests()).all(|(test, own)| test.name == own.name));
        assert!(programs.tests().len() > shipped.len() + count, "there are messages");
    }

    #[test]
    fn large_programs_are_left_out() {
        let claims = [Claim::of("opencl").expect("a known model")];
        let of = || {
            let programs = Programs::of(corpus::shipped().expect("they are tests")).and_dimensions(&claims);
            programs.and_messages(&claims).and_generated(&claims, true, 2, true)
        };
        let ran = |mut programs: Programs| {
            let feed = Feed::new(&mut programs, &|| false);
            while feed.next().is_some() {}
            programs
        };
        let [all, short, small] =
            [TestSize::All, TestSize::Short, TestSize::Small].map(|size| ran(of().of_size(size, &[])));
        let is_of_device = |agent: &&Agent| !matches!(agent, Agent::Host(_));
        let threads = |test: &Test| test.placements[0].agents.iter().filter(is_of_device).count();
        let counts = |instr: &&Instr| !matches!(instr, Instr::Barrier(_));
        let of_thread = |thread: &Thread| thread.code.iter().filter(counts).count();
        let length = |test: &Test| test.program().threads.iter().map(of_thread).sum::<usize>();
        for (few, maxima) in [(&short, [8, 8, 8]), (&small, [8, 5, 0])] {
            let kept: Vec<&str> = few.in_order().map(|(_, test)| test.name.as_str()).collect();
            let fits =
                all.in_order().filter(|(_, test)| length(test) <= maxima[threads(test).clamp(2, 4) - 2]);
            assert_eq!(kept, fits.map(|(_, test)| test.name.as_str()).collect::<Vec<_>>());
            assert_eq!(few.left_out(), all.tests().len() - few.tests().len());
            assert!(few.dimensions() > 0 && few.dimensions() < all.dimensions());
        }
        assert!(0 < short.left_out() && short.left_out() < small.left_out());
        assert!(all.in_order().any(|(_, test)| length(test) > 8 && threads(test) <= 2));
        assert!(small.in_order().any(|(_, test)| test.program().threads.len() == 3 && threads(test) == 2));
        assert!(small.in_order().any(|(_, test)| threads(test) == 3));
    }

    #[test]
    fn generated_programs_are_reused_for_the_next_protocol() {
        let claims = [Claim::of("hrf-indirect").expect("a known model")];
        let mut programs = Programs::default().and_generated(&claims, true, 2, true);
        let all = |programs: &mut Programs| {
            let feed = Feed::new(programs, &|| false);
            pull(2, || feed.next(), || |number, _| number).len()
        };
        let first = all(&mut programs);
        let drawn = programs.drawn();
        assert!(first > 10 && drawn > first);
        assert_eq!((all(&mut programs), programs.drawn()), (first, drawn));
    }

    #[test]
    fn a_stop_ends_the_tests_and_reports_programs_not_generated() {
        let claims = [Claim::of("hrf-indirect").expect("a known model")];
        let mut programs = Programs::default().and_generated(&claims, true, 3, true);
        let feed = Feed::new(&mut programs, &|| true);
        assert!(feed.next().is_none() && feed.known() == 0);
        assert!(programs.not_generated().is_some());
    }
}
