//! Prepared runs. The outcomes that the claimed memory models allow for each program are computed
//! once, and the runs can then be explored many times.

use std::collections::BTreeSet;

use litmus::program::Program;

use crate::machine::bounds::Bounds;
use crate::machine::placement::{Placement, Unsupported};
use crate::programs::claim::Claim;
use crate::programs::test::Test;
use crate::search::engine::Limits;
use crate::search::{Exploration, Explorer, Requirements};
use crate::subject::Subject;
use crate::verify::options::Options;
use crate::verify::run::{Promised, Tested, allowed, bounds_for, machines_for};

/// A test in one placement on one machine, with the outcomes that the claims allow.
#[derive(Clone, Debug)]
pub struct PreparedRun {
    program: Program,
    placement: Placement,
    bounds: Bounds,
    allowed: Option<BTreeSet<crate::Outcome>>,
    may_block: bool,
}

/// The runs of a test that has the number `index` among the tests. All claims are checked at once.
/// A run is left out if a claim cannot be evaluated on its program.
#[must_use]
pub fn prepared(claims: &[Claim], test: &Test, index: usize, options: &Options<'_>) -> Vec<PreparedRun> {
    let mut all = Vec::new();
    let program = test.program();
    for placement in &test.placements {
        let mut tested = Tested::default();
        let Promised { promises, may_block, .. } =
            tested.ask(claims, (&program, test), &placement.stages, options);
        if !tested.gaps.is_empty() {
            continue;
        }
        for machine in machines_for(test, index, options) {
            let bounds = bounds_for(machine, (&program, placement), &promises);
            let open: Vec<_> =
                promises.iter().filter(|(claim, _)| claim.covers_core(&program, bounds.core)).collect();
            all.push(PreparedRun {
                program: program.clone().into_owned(),
                placement: placement.clone(),
                bounds,
                allowed: allowed(&open),
                may_block,
            });
        }
    }
    all
}

/// Explorers of a protocol for prepared runs, one for each machine. The steps of controllers that
/// one run computes are reused for the next run.
pub struct PreparedExplorers {
    subject: Subject,
    all: Vec<Explorer>,
}

impl PreparedExplorers {
    /// An empty set of explorers of the protocol. An explorer is created when a run first needs its
    /// machine.
    #[must_use]
    pub fn new(subject: &Subject) -> PreparedExplorers {
        PreparedExplorers { subject: *subject, all: Vec::new() }
    }

    /// Explores the run.
    ///
    /// # Errors
    /// If the machine lacks a feature that the program needs.
    pub fn explore(
        &mut self,
        run: &PreparedRun,
        limits: &mut Limits<'_>,
    ) -> Result<Exploration, Unsupported> {
        let known = self.all.iter().position(|explorer| explorer.bounds() == run.bounds);
        let at = known.unwrap_or_else(|| {
            self.all.push(Explorer::new(&self.subject, run.bounds, None));
            self.all.len() - 1
        });
        let requirements = Requirements { allowed: run.allowed.as_ref(), may_block: run.may_block };
        self.all[at].explore(&run.program, &run.placement, &requirements, limits)
    }
}

impl core::fmt::Debug for PreparedExplorers {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PreparedExplorers").field("machines", &self.all.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{machines, verify};

    #[test]
    fn a_prepared_run_explores_as_many_states_as_the_verification() {
        let subject = Subject::of::<zoo::vi::Vi>();
        let (name, text) = crate::corpus::SHIPPED[0];
        let test = Test::read(name, text).expect("it is read");
        let options = Options::new(machines());
        let verified = verify(&subject, core::slice::from_ref(&test), &options).expect("known claims");
        let claims = Claim::all_of(&subject.info).expect("known claims");
        let runs = prepared(&claims, &test, 0, &options);
        let mut explorers = PreparedExplorers::new(&subject);
        let explore = |run: &PreparedRun| explorers.explore(run, &mut Limits::default()).expect("it can run");
        let found: Vec<Exploration> = runs.iter().map(explore).collect();
        assert!(found.iter().all(|found| found.violation.is_none()));
        let states: u64 = found.iter().map(|found| found.states).sum();
        assert_eq!((found.len(), states), (verified.runs, verified.states));
    }
}
