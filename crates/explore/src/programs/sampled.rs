//! Programs drawn from a seed, of shapes that are too large to enumerate.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use litmus::generate::{self, Bound, Generated, Ordering};
use litmus::hrf::Reading;

use crate::programs::claim::Claim;
use crate::programs::generated::{
    ALL, is_synchronized, is_twin, placed, readings, scope_changes, scopes_are_hints,
};
use crate::programs::test::{Machines, Test};
use crate::programs::transform::{ScopeChange, Transform};
use crate::programs::{Batch, Chosen, Programs, Stop};

/// A shape of programs: the letter in the programs' names, the number of threads, and the maximum
/// number of operations of each thread.
type Shape = (char, usize, usize);

const SHAPES: [Shape; 2] = [('D', 2, 3), ('E', 3, 2)];

/// Programs with up to this number of operations are not drawn, because all programs of two threads
/// with so few operations are enumerated.
const TAKEN_WHOLE: usize = 4;

/// The maximum number of programs in a batch.
pub(crate) const BATCH: usize = 64;

/// Of the drawn programs that are not synchronized, one in this number is taken. A synchronized
/// program is race-free and has a data conflict that synchronization orders.
const ONE_IN: u64 = 512;

/// The maximum number of draws, for each requested program. The requested programs are
/// synchronized: race-free, with a data conflict that synchronization orders.
const DRAWS_MAX: usize = 1 << 14;

/// The number of the first group of sampled programs. A group is a set of programs that are made in
/// the same way. The groups of enumerated programs, message programs and dimension programs have
/// smaller numbers.
const FIRST_GROUP: usize = 1 << 18;

/// Programs that are drawn from a seed, as tests.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The tests of the synchronized programs (race-free with a data conflict that synchronization
    /// orders), and of some programs that are not synchronized.
    pub tests: Vec<Test>,
    /// The number of synchronized programs (race-free with a data conflict that synchronization
    /// orders). This number is lower than the requested number if the drawn programs contain too
    /// few of them.
    pub synchronized: usize,
}

/// Draws `count` synchronized programs (race-free with a data conflict that synchronization
/// orders), and some other programs. The programs have two threads with up to three operations
/// each, or three threads with up to two operations each, and five or six operations in all. The
/// same seed draws the same programs.
pub fn sampled(
    claims: &[Claim],
    scopes_matter: bool,
    count: usize,
    seed: u64,
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Sample {
    let programs = Programs::default().and_sampled(claims, scopes_matter, count, seed);
    let (tests, synchronized) = programs.make_all(jobs, stop);
    Sample { tests, synchronized }
}

/// A stratum of the sample: a shape of programs, with a change of device scope.
struct Stratum {
    /// The index of the stratum (a shape of programs with a change of device scope).
    at: usize,
    shape: Shape,
    wide: ScopeChange,
    /// The number of synchronized programs to draw from this stratum (race-free programs with a
    /// data conflict that synchronization orders).
    share: usize,
    readings: Vec<Reading>,
    scopes_matter: bool,
}

/// The numbers of programs that are taken so far from a stratum (a shape of programs with a change
/// of device scope).
#[derive(Debug, Default)]
struct Taken {
    tests: usize,
    /// The number of taken programs that are synchronized, that is, race-free with a data conflict
    /// that synchronization orders (`synchronized`), and the number of drawn programs that are not
    /// synchronized (`others`).
    synchronized: usize,
    others: u64,
}

/// The sampled programs in batches. Each stratum of the sample (a shape of programs with a change
/// of device scope) has its own sequence of batches. The result is empty if the count is zero.
pub(crate) fn in_batches(
    claims: &[Claim],
    scopes_matter: bool,
    count: usize,
    seed: u64,
) -> Vec<Box<dyn Iterator<Item = Batch> + Send>> {
    let hosts = |wide: &ScopeChange| matches!(wide, ScopeChange::Host(_));
    let strata = SHAPES.into_iter().flat_map(|shape| {
        // Programs with a thread on the host have two threads: one on the host, the other on a
        // compute unit.
        scope_changes(claims).filter(move |wide| shape.1 == 2 || !hosts(wide)).map(move |wide| (shape, wide))
    });
    let strata: Vec<(Shape, ScopeChange)> = strata.collect();
    let of = |(at, &(shape, wide)): (usize, &(Shape, ScopeChange))| {
        let (_, threads, each) = shape;
        let bound = Bound {
            threads_min: threads,
            operations_of_thread_max: each,
            kinds: ALL.to_vec(),
            orderings: vec![Ordering::AcquireRelease, Ordering::SeqCst],
            // All synchronization of the host has system scope.
            single_thread_scopes: scopes_are_hints(claims) && !hosts(&wide),
            words_of_line_max: 2,
            compute_units_max: 2,
            ..Bound::new(threads, threads * each, 3)
        };
        let share = count / strata.len() + usize::from(at < count % strata.len());
        let stratum = Stratum { at, shape, wide, share, readings: readings(claims), scopes_matter };
        stratum.in_batches(placed(wide, bound), seed)
    };
    strata.iter().enumerate().filter(|_| count > 0).map(of).collect()
}

impl Stratum {
    /// The batches of the stratum (a shape of programs with a change of device scope). The sequence
    /// ends when enough programs are taken, or when no further program can be drawn.
    fn in_batches(self, bound: Bound, seed: u64) -> Box<dyn Iterator<Item = Batch> + Send> {
        let (stratum, taken) = (Arc::new(self), Arc::<Mutex<Taken>>::default());
        // Each stratum draws from its own seed. No program is drawn before the first batch is
        // requested.
        let seed = seed ^ ((stratum.at as u64) << 56);
        let drawn = core::iter::once_with(move || generate::sample(&bound, seed)).flatten();
        let mut drawn = drawn.take(stratum.share.saturating_mul(DRAWS_MAX));
        let next = move || {
            let is_enough = lock(&taken).synchronized == stratum.share;
            let programs: Vec<Generated> = drawn.by_ref().take(if is_enough { 0 } else { BATCH }).collect();
            let (stratum, taken) = (Arc::clone(&stratum), Arc::clone(&taken));
            (!programs.is_empty()).then(|| Batch {
                drawn: 0,
                choose: Box::new(move |stop| {
                    let chosen = stratum.choose(programs, stop);
                    Box::new(move || stratum.take(chosen, &mut lock(&taken)))
                }),
            })
        };
        Box::new(core::iter::from_fn(next))
    }

    fn transform(&self) -> Transform {
        Transform { wide: self.wide, ..Transform::NONE }
    }

    /// The drawn programs that are neither small nor twins (equivalent to another program). A flag
    /// says for each program whether it is synchronized (race-free with a data conflict that
    /// synchronization orders).
    fn choose(&self, programs: Vec<Generated>, stop: Stop<'_>) -> Vec<(Generated, bool)> {
        let mut chosen = Vec::new();
        for mut generated in programs {
            if stop() {
                break;
            }
            if generated.operations() > TAKEN_WHOLE
                && self.transform().apply(&mut generated.program)
                && (self.scopes_matter || !is_twin(&generated.skeleton, self.wide))
            {
                let is_synchronized = is_synchronized(&generated, &self.readings);
                chosen.push((generated, is_synchronized));
            }
        }
        chosen
    }

    /// Builds the tests of these programs. Stops when the stratum (a shape of programs with a
    /// change of device scope) has enough synchronized programs (race-free with a data conflict
    /// that synchronization orders).
    fn take(&self, chosen: Vec<(Generated, bool)>, taken: &mut Taken) -> Chosen {
        let mut more = Chosen::default();
        for (generated, is_synchronized) in chosen {
            if taken.synchronized == self.share {
                break;
            }
            taken.synchronized += usize::from(is_synchronized);
            taken.others += u64::from(!is_synchronized);
            if !is_synchronized && !taken.others.is_multiple_of(ONE_IN) {
                continue;
            }
            taken.tests += 1;
            more.sampled += usize::from(is_synchronized);
            let (letter, ..) = self.shape;
            let name = format!("{letter}{}-{}.{}", generated.operations(), self.at, taken.tests);
            let group = FIRST_GROUP + self.at;
            more.tests.push(Test::from_generated(name, generated, self.transform(), Machines::InTurn, group));
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

    fn all_of(sample: &Sample) -> Vec<(String, String, Transform, Vec<Placement>)> {
        let of = |test: &Test| {
            let (text, transform) = test.text();
            (test.name.clone(), text, transform, test.placements.clone())
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
        // A larger sample of one stratum begins with the programs of the smaller sample.
        let names = |count| {
            let tests = sampled(&claims, true, count, 7, 2, &|| false).tests;
            tests.into_iter().map(|test| test.name).filter(|name| name.contains("-0.")).collect::<Vec<_>>()
        };
        let (few, many) = (names(30), names(300));
        assert!(few.len() < many.len() && many.starts_with(&few));
    }

    #[test]
    fn sampled_programs_are_large_and_enough_are_synchronized() {
        let claims = claims(&["hrf-indirect"]);
        let sample = sampled(&claims, true, 30, 7, 2, &|| false);
        let readings = readings(&claims);
        let synchronized = sample.tests.iter().filter(|test| {
            let program = test.program();
            let check = |&reading| hrf::check(&program, &hrf::Options::new(reading));
            let mut verdicts = readings.iter().map(check);
            verdicts.any(|verdict| verdict.is_ok_and(|v| v.is_race_free() && v.orders_data()))
        });
        assert_eq!((synchronized.count(), sample.synchronized), (30, 30));
        let sizes: BTreeSet<&str> = sample.tests.iter().map(|test| &test.name[..2]).collect();
        assert_eq!(sizes.into_iter().collect::<Vec<_>>(), ["D5", "D6", "E5", "E6"]);
        let transforms: Vec<Transform> = sample.tests.iter().map(|test| test.text().1).collect();
        for wide in scope_changes(&claims) {
            assert!(transforms.contains(&Transform { wide, ..Transform::NONE }), "{wide:?}");
        }
    }

    #[test]
    fn the_search_for_rare_programs_ends() {
        // Scopes do not matter here, so programs that differ only in scopes are dropped. But remote
        // operations need different scopes, so few programs are left.
        let sample = sampled(&claims(&["opencl-rsp"]), false, 8, 0, 2, &|| false);
        assert!(sample.synchronized < 8 && sample.synchronized > 0, "{}", sample.synchronized);
        assert!(sampled(&claims(&["drf"]), true, 1000, 0, 2, &|| true).tests.is_empty());
    }

    #[test]
    fn different_kinds_of_programs_have_different_groups() {
        let claims = claims(&["opencl-rsp"]);
        let groups = |tests: Vec<Test>| tests.iter().map(|test| test.group).collect::<BTreeSet<usize>>();
        let kinds = [
            groups(corpus::generated(&claims, true, 2, true, 2, &|| false)),
            groups(corpus::messages(&claims)),
            groups(corpus::dimensions(&claims)),
            groups(sampled(&claims, true, 16, 0, 2, &|| false).tests),
        ];
        for (at, groups) in kinds.iter().enumerate() {
            assert!(!groups.is_empty() && !groups.contains(&0), "{groups:?}");
            assert!(kinds[..at].iter().all(|others| others.is_disjoint(groups)), "{groups:?}");
        }
    }
}
