//! Leases in logical time, with timestamps of few bits: programs are right although all timestamps
//! start again at zero many times.

use kernel::prelude::*;
use proto::{Condition, Protocol};
use sim::RunOptions;
use sim::probe::{Layout, Probe};
use zoo::lease::{GTscRepaired, Rcc, RccRepaired};

use crate::common::*;

/// A probe that counts the rollovers.
#[derive(Default)]
struct Rollovers {
    unit: Option<u32>,
    is_rolling: bool,
    count: u32,
}

impl Probe for Rollovers {
    fn begin(&mut self, layout: &Layout) {
        self.unit = layout.stations.iter().position(|name| name == "Rollover[0]").map(|at| at as u32);
    }
    fn draws(&self) -> bool {
        true
    }
    fn conditions(&mut self, _: u64, station: u32, conditions: Vec<Condition>) {
        if Some(station) == self.unit {
            self.count += u32::from(!self.is_rolling && !conditions.is_empty());
            self.is_rolling = !conditions.is_empty();
        }
    }
}

/// Runs a program with timestamps of 8 bits and a further setting. Returns the answer and the number
/// of rollovers.
fn run<P: Protocol>(further: Option<(&str, u64)>, program: Program) -> (Answer, u32) {
    let mut system = system("hlrc-8cu");
    let settings = [("timestamp_bits", 8), ("lease", 30)].into_iter().chain(further);
    let settings = settings.map(|(name, value)| (name.to_owned(), value)).collect();
    system.protocol.insert(P::INFO.name.to_owned(), settings);
    assert_eq!(system.problems(), []);
    let mut seen = Rollovers::default();
    let outcome = sim::run::<P, _>(&system, program, &RunOptions::default(), &mut seen);
    (outcome.unwrap_or_else(|error| panic!("{}: {error}", P::INFO.name)).answer, seen.count)
}

fn is_right<P: Protocol>(further: Option<(&str, u64)>) {
    let mut bins = vec![0u32; 256];
    histogram_values(2000).iter().for_each(|&value| bins[value as usize] += 1);
    let run = |program| run::<P>(further, program);
    let (answer, in_histogram) = run(histogram(2000));
    answer.expect("bins", &bins).unwrap();
    let (answer, _) = run(pipeline(1000));
    answer.expect("b", &pipeline_answer(1000)).unwrap();
    let (answer, in_counter) = run(lock_counter(8, 8, Level::Device, Placement::Spread));
    answer.expect("counter", &[64u32]).unwrap();
    let (answer, _) = run(host_flag(2));
    answer.expect("seen", &[42u32, 44]).unwrap();
    assert!(in_histogram + in_counter > 1, "{}: {in_histogram}, {in_counter}", P::INFO.name);
}

#[test]
fn programs_are_right_although_timestamps_start_again() {
    is_right::<Rcc>(None);
    is_right::<Rcc>(Some(("weak", 1)));
    is_right::<RccRepaired>(None);
    is_right::<GTscRepaired>(None);
}
