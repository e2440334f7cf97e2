//! The reason why tests prove nothing for a claim.

use std::sync::Arc;

use crate::programs::claim::{Claim, NoPromise};
use crate::programs::test::Test;

/// The reason why no test proves the claim. `racing` says for each test whether it races under the
/// model. If `is_covered` is false, the exploration is incomplete, and the status of the remaining
/// tests is unknown.
pub(crate) fn why(claim: &Claim, tests: &[Arc<Test>], racing: &[bool], is_covered: bool) -> String {
    let model = &claim.model;
    match tests {
        [] => format!("there is no test, so nothing is proved for {model}"),
        _ if !is_covered => format!("the exploration completed no test for which {model} promises something"),
        [one] => of_one(claim, one),
        several => of_several(claim, several, racing),
    }
}

fn of_one(claim: &Claim, test: &Test) -> String {
    let model = &claim.model;
    let program = test.program();
    if !claim.covers(&program, &test.placements) {
        return format!(
            "in the tried placements, {model} says nothing about the test, so the test proves nothing for {model}"
        );
    }
    match claim.promise(&program, &mut || false) {
        Ok(promise) if promise.allowed.is_none() => {
            format!("the test races under {model}, so the test proves nothing for {model}")
        }
        Ok(_) => format!("{model} is not claimed for the cores of these machines"),
        Err(NoPromise::Undefined(_)) if claim.races_where_relaxed_is_data(&program) => format!(
            "the test races under {model}, which does not define relaxed atomics (here they are read as \
             data), so the test proves nothing for {model}"
        ),
        Err(NoPromise::Undefined(why) | NoPromise::Incomplete(why)) => {
            // The hint about the command line is omitted here.
            let why = why.split("; say how").next().unwrap_or_default();
            format!("{model} promises nothing for the test, so the test proves nothing for {model}: {why}")
        }
    }
}

fn of_several(claim: &Claim, tests: &[Arc<Test>], racing: &[bool]) -> String {
    let (model, count) = (&claim.model, tests.len());
    let races = racing.iter().filter(|races| **races).count();
    let other = tests.iter().zip(racing).find(|(_, races)| !**races).map(|(test, _)| test);
    let Some(other) = other else {
        return format!("all {count} tests race under {model}, so these tests prove nothing for {model}");
    };
    let how = match races {
        0 => String::new(),
        1 => String::from(", 1 of which races"),
        races => format!(", {races} of which race"),
    };
    let one = of_one(claim, other);
    format!("{model} promises nothing for any of the {count} tests{how}; for {}: {one}", other.name)
}
