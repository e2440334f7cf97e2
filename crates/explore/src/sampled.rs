//! Programs that are drawn from a seed, of shapes too large to take whole.

use litmus::generate::{self, Bound, Ordering};

use crate::claim::Claim;
use crate::made::{ALL, has_remote, is_twin, readings, tells};
use crate::parallel::in_parallel;
use crate::test::{Machines, Test};
use crate::twist::{Twist, Wide};

/// Programs of a shape: its letter in their names, the threads, and the most
/// operations of each.
type Shape = (char, usize, usize);

const SHAPES: [Shape; 2] = [('D', 2, 3), ('E', 3, 2)];

/// The operations that all programs of up to them have been taken of, in which
/// two threads have two each.
const TAKEN_WHOLE: usize = 4;

/// Of programs that tell nothing, one in so many is taken besides.
const ONE_IN: u64 = 512;

/// Behind the groups of all that is made.
const FIRST_GROUP: usize = 1 << 16;

/// So many programs of two threads with up to three operations each, and of three
/// threads with up to two, in which synchronization orders data under one of these
/// claims, and some of which no claim says that: of more operations than the
/// families hold whole. The same seed draws the same.
pub fn sampled(
    claims: &[Claim],
    scopes_matter: bool,
    count: usize,
    seed: u64,
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Vec<Test> {
    let readings = readings(claims);
    let lonely_scopes = claims.iter().any(|claim| claim.model == "drf");
    let ways: Vec<(Shape, Wide)> = SHAPES.into_iter().flat_map(|shape| ways(shape, claims)).collect();
    let tests = in_parallel(jobs, ways.len(), || {
        |at: usize| {
            let ((letter, threads, each), wide) = ways[at];
            let share = count / ways.len() + usize::from(at < count % ways.len());
            let bound = Bound {
                threads_min: threads,
                operations_of_thread_max: each,
                kinds: ALL.to_vec(),
                orderings: vec![Ordering::AcquireRelease, Ordering::SeqCst],
                lonely_scopes,
                words_of_line_max: 2,
                compute_units_max: if matches!(wide, Wide::Host(_)) { 1 } else { 2 },
                ..Bound::new(threads, threads * each, 3)
            };
            let twist = Twist { wide, ..Twist::NONE };
            let (mut telling, mut others) = (0, 0u64);
            let mut tests = Vec::new();
            for mut generated in generate::sample(&bound, seed) {
                if telling == share || stop() {
                    break;
                }
                if generated.operations() <= TAKEN_WHOLE
                    || !twist.apply(&mut generated.program)
                    || !scopes_matter && is_twin(&generated.skeleton, wide)
                {
                    continue;
                }
                if tells(&generated, &readings) {
                    telling += 1;
                } else {
                    others += 1;
                    if !others.is_multiple_of(ONE_IN) {
                        continue;
                    }
                }
                let name = format!("{letter}{}-{at}.{}", generated.operations(), tests.len() + 1);
                tests.push(Test::made(name, generated, twist, Machines::InTurn, FIRST_GROUP + at));
            }
            tests
        }
    });
    tests.into_iter().flatten().collect()
}

/// How the programs of a shape are changed.
fn ways(shape: Shape, claims: &[Claim]) -> impl Iterator<Item = (Shape, Wide)> + use<> {
    let has_remote = has_remote(claims);
    let wides = [Wide::Device, Wide::System, Wide::Host(0), Wide::Host(1), Wide::Remote];
    let (_, threads, _) = shape;
    let fits = move |wide: &Wide| match wide {
        Wide::Host(_) => threads == 2,
        Wide::Remote => has_remote,
        Wide::Device | Wide::System => true,
    };
    wides.into_iter().filter(fits).map(move |wide| (shape, wide))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_and_texts(count: usize, seed: u64, jobs: usize) -> Vec<(String, String)> {
        let claims = [Claim::of("hrf-indirect").expect("a known model")];
        let tests = sampled(&claims, true, count, seed, jobs, &|| false);
        tests.iter().map(|test| (test.name.clone(), test.text().0)).collect()
    }

    #[test]
    fn a_seed_draws_the_same_programs_with_any_number_of_workers_and_another_seed_others() {
        let first = names_and_texts(30, 7, 1);
        assert_eq!(first, names_and_texts(30, 7, 3));
        assert_ne!(first, names_and_texts(30, 8, 1));
        assert_eq!(names_and_texts(0, 7, 1), []);
    }

    #[test]
    fn programs_are_larger_than_those_that_are_taken_whole_and_as_many_tell_as_are_asked_for() {
        let claims = [Claim::of("hrf-indirect").expect("a known model")];
        let tests = sampled(&claims, true, 30, 7, 2, &|| false);
        let readings = readings(&claims);
        let tell = tests.iter().filter(|test| {
            let program = test.program();
            let verdicts = readings
                .iter()
                .map(|&reading| litmus::hrf::check(&program, &litmus::hrf::Options::new(reading)));
            verdicts.flatten().any(|verdict| verdict.is_race_free() && verdict.orders_data())
        });
        assert_eq!(tell.count(), 30);
        let shapes = tests.iter().map(|test| {
            let program = test.program();
            (program.threads.len(), test.placements[0].agents.len())
        });
        let shapes: std::collections::BTreeSet<(usize, usize)> = shapes.collect();
        assert_eq!(shapes.into_iter().collect::<Vec<_>>(), [(2, 2), (3, 3)]);
        assert!(tests.iter().all(|test| test.name.starts_with(['D', 'E'])));
    }
}
