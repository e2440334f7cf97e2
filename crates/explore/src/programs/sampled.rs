//! Programs that are drawn from a seed, of shapes too large to take whole.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use litmus::generate::{self, Bound, Generated, Ordering};
use litmus::hrf::Reading;

use crate::programs::claim::Claim;
use crate::programs::made::{ALL, is_twin, placed, readings, scopes_are_hints, tells, wides};
use crate::programs::test::{Machines, Test};
use crate::programs::twist::{Twist, Wide};
use crate::programs::{Batch, Chosen, Programs, Stop};

/// Programs of a shape: its letter in their names, the threads, and the most
/// operations of each.
type Shape = (char, usize, usize);

const SHAPES: [Shape; 2] = [('D', 2, 3), ('E', 3, 2)];

/// The operations up to which all programs of two threads with two each are taken.
const TAKEN_WHOLE: usize = 4;

/// Programs that one worker takes at a time.
pub(crate) const BATCH: usize = 64;

/// Of programs that tell nothing, one in so many is taken besides.
const ONE_IN: u64 = 512;

/// For one program that tells, so many are drawn at most.
const DRAWS_MAX: usize = 1 << 14;

/// Behind the groups of all that is made, messages among them.
const FIRST_GROUP: usize = 1 << 17;

/// What was drawn.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Those in which synchronization orders data, and some others.
    pub tests: Vec<Test>,
    /// How many of them are such: fewer than were asked for if no more came up.
    pub telling: usize,
}

/// So many programs of two threads with up to three operations each, and of three
/// threads with up to two, of five or six together, in which synchronization orders
/// data as in the families; and some others. The same seed draws the same.
pub fn sampled(
    claims: &[Claim],
    scopes_matter: bool,
    count: usize,
    seed: u64,
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Sample {
    let programs = Programs::default().and_sampled(claims, scopes_matter, count, seed);
    let (tests, telling) = programs.make_all(jobs, stop);
    Sample { tests, telling }
}

/// One way to draw: a shape, and how device scope is made wider.
struct Way {
    /// Which of the ways.
    at: usize,
    shape: Shape,
    wide: Wide,
    /// How many programs it draws that tell.
    share: usize,
    readings: Vec<Reading>,
    scopes_matter: bool,
}

/// What was taken of a way so far.
#[derive(Debug, Default)]
struct Taken {
    tests: usize,
    /// Those of them that tell, and the programs that do not.
    telling: usize,
    others: u64,
}

/// The ways, each in batches. None if nothing is asked for.
pub(crate) fn in_batches(
    claims: &[Claim],
    scopes_matter: bool,
    count: usize,
    seed: u64,
) -> Vec<Box<dyn Iterator<Item = Batch> + Send>> {
    let hosts = |wide: &Wide| matches!(wide, Wide::Host(_));
    let ways = SHAPES.into_iter().flat_map(|shape| {
        // A host has one thread, and the other one the rest of the machine.
        wides(claims).filter(move |wide| shape.1 == 2 || !hosts(wide)).map(move |wide| (shape, wide))
    });
    let ways: Vec<(Shape, Wide)> = ways.collect();
    let of = |(at, &(shape, wide)): (usize, &(Shape, Wide))| {
        let (_, threads, each) = shape;
        let bound = Bound {
            threads_min: threads,
            operations_of_thread_max: each,
            kinds: ALL.to_vec(),
            orderings: vec![Ordering::AcquireRelease, Ordering::SeqCst],
            // All that the host does has system scope.
            single_thread_scopes: scopes_are_hints(claims) && !hosts(&wide),
            words_of_line_max: 2,
            compute_units_max: 2,
            ..Bound::new(threads, threads * each, 3)
        };
        let share = count / ways.len() + usize::from(at < count % ways.len());
        let way = Way { at, shape, wide, share, readings: readings(claims), scopes_matter };
        way.in_batches(placed(wide, bound), seed)
    };
    ways.iter().enumerate().filter(|_| count > 0).map(of).collect()
}

impl Way {
    /// Batches until enough was taken, or nothing more comes up.
    fn in_batches(self, bound: Bound, seed: u64) -> Box<dyn Iterator<Item = Batch> + Send> {
        let (way, taken) = (Arc::new(self), Arc::<Mutex<Taken>>::default());
        // Each way has programs of its own. None is drawn before the first is asked for.
        let seed = seed ^ ((way.at as u64) << 56);
        let drawn = core::iter::once_with(move || generate::sample(&bound, seed)).flatten();
        let mut drawn = drawn.take(way.share.saturating_mul(DRAWS_MAX));
        let next = move || {
            let is_enough = lock(&taken).telling == way.share;
            let programs: Vec<Generated> = drawn.by_ref().take(if is_enough { 0 } else { BATCH }).collect();
            let (way, taken) = (Arc::clone(&way), Arc::clone(&taken));
            (!programs.is_empty()).then(|| Batch {
                drawn: 0,
                choose: Box::new(move |stop| {
                    let chosen = way.choose(programs, stop);
                    Box::new(move || way.take(chosen, &mut lock(&taken)))
                }),
            })
        };
        Box::new(core::iter::from_fn(next))
    }

    fn twist(&self) -> Twist {
        Twist { wide: self.wide, ..Twist::NONE }
    }

    /// The programs that are neither small nor twins, and whether they tell.
    fn choose(&self, programs: Vec<Generated>, stop: Stop<'_>) -> Vec<(Generated, bool)> {
        let mut chosen = Vec::new();
        for mut generated in programs {
            if stop() {
                break;
            }
            if generated.operations() > TAKEN_WHOLE
                && self.twist().apply(&mut generated.program)
                && (self.scopes_matter || !is_twin(&generated.skeleton, self.wide))
            {
                let tells = tells(&generated, &self.readings);
                chosen.push((generated, tells));
            }
        }
        chosen
    }

    /// Tests, until there are enough that tell.
    fn take(&self, chosen: Vec<(Generated, bool)>, taken: &mut Taken) -> Chosen {
        let mut more = Chosen::default();
        for (generated, tells) in chosen {
            if taken.telling == self.share {
                break;
            }
            taken.telling += usize::from(tells);
            taken.others += u64::from(!tells);
            if !tells && !taken.others.is_multiple_of(ONE_IN) {
                continue;
            }
            taken.tests += 1;
            more.sampled += usize::from(tells);
            let (letter, ..) = self.shape;
            let name = format!("{letter}{}-{}.{}", generated.operations(), self.at, taken.tests);
            let group = FIRST_GROUP + self.at;
            more.tests.push(Test::made(name, generated, self.twist(), Machines::InTurn, group));
        }
        more
    }
}

fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::placement::Placement;
    use crate::programs::corpus;
    use litmus::hrf;
    use std::collections::BTreeSet;

    fn claims(models: &[&str]) -> Vec<Claim> {
        models.iter().map(|model| Claim::of(model).expect("a known model")).collect()
    }

    fn all_of(sample: &Sample) -> Vec<(String, String, Twist, Vec<Placement>)> {
        let of = |test: &Test| {
            let (text, twist) = test.text();
            (test.name.clone(), text, twist, test.placements.clone())
        };
        sample.tests.iter().map(of).collect()
    }

    #[test]
    fn a_seed_draws_the_same_programs_with_any_number_of_workers_and_another_seed_others() {
        let claims = claims(&["opencl-rsp"]);
        let drawn = |count, seed, jobs| all_of(&sampled(&claims, true, count, seed, jobs, &|| false));
        let first = drawn(30, 7, 1);
        assert_eq!(first, drawn(30, 7, 3));
        assert_ne!(first, drawn(30, 8, 1));
        assert!(drawn(0, 7, 1).is_empty());
        // A larger sample of one way begins with the smaller one.
        let names = |count| {
            let tests = sampled(&claims, true, count, 7, 2, &|| false).tests;
            tests.into_iter().map(|test| test.name).filter(|name| name.contains("-0.")).collect::<Vec<_>>()
        };
        let (few, many) = (names(30), names(300));
        assert!(few.len() < many.len() && many.starts_with(&few));
    }

    #[test]
    fn programs_are_larger_than_those_that_are_taken_whole_and_as_many_tell_as_are_asked_for() {
        let claims = claims(&["hrf-indirect"]);
        let sample = sampled(&claims, true, 30, 7, 2, &|| false);
        let readings = readings(&claims);
        let tell = sample.tests.iter().filter(|test| {
            let program = test.program();
            let check = |&reading| hrf::check(&program, &hrf::Options::new(reading));
            let mut verdicts = readings.iter().map(check);
            verdicts.any(|verdict| verdict.is_ok_and(|v| v.is_race_free() && v.orders_data()))
        });
        assert_eq!((tell.count(), sample.telling), (30, 30));
        let sizes: BTreeSet<&str> = sample.tests.iter().map(|test| &test.name[..2]).collect();
        assert_eq!(sizes.into_iter().collect::<Vec<_>>(), ["D5", "D6", "E5", "E6"]);
        let twists: Vec<Twist> = sample.tests.iter().map(|test| test.text().1).collect();
        for wide in wides(&claims) {
            assert!(twists.contains(&Twist { wide, ..Twist::NONE }), "{wide:?}");
        }
    }

    #[test]
    fn what_never_comes_up_is_not_looked_for_without_end() {
        // No scopes, and remote operations: these need scopes that differ.
        let sample = sampled(&claims(&["opencl-rsp"]), false, 8, 0, 2, &|| false);
        assert!(sample.telling < 8 && sample.telling > 0, "{}", sample.telling);
        assert!(sampled(&claims(&["drf"]), true, 1000, 0, 2, &|| true).tests.is_empty());
    }

    #[test]
    fn no_other_tests_are_in_their_groups() {
        let claims = claims(&["opencl-rsp"]);
        let groups = |tests: Vec<Test>| tests.iter().map(|test| test.group).collect::<BTreeSet<usize>>();
        let sampled = groups(sampled(&claims, true, 16, 0, 2, &|| false).tests);
        assert!(sampled.is_disjoint(&groups(corpus::messages(&claims))));
        assert!(sampled.is_disjoint(&groups(corpus::made(&claims, true, 2, true, 2, &|| false))));
    }
}
