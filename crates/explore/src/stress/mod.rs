//! Random programs (episodes) on a machine that is too large for exploration.
//!
//! An episode is a race-free program of fifteen wavefronts on eight compute units and a thread of
//! the host. Its sections synchronize at various scopes and orders and by remote operations; words
//! share lines, caches have a few lines, and ways are evicted at any time. The seed of an episode
//! decides the order of its events. Every loaded value has one correct result, and is checked; the
//! final contents of memory are checked as well.
//!
//! A failure reports its seed, and is shrunk to a minimal program.

mod draws;
mod episode;
mod fault;
mod machine;
mod order;
mod queues;
mod rules;
mod shrink;
pub(crate) mod stations;
mod under_way;
mod wave;
mod waves;

use core::fmt;

use proto::words::counted;
use proto::{Homes, Mutation, Symbol as _, Topology};

use crate::parallel::in_parallel;
use crate::subject::Subject;
use draws::Draws;
use episode::{Episode, cu};
use fault::EpisodeFault;
use machine::{Machine, RunCounts, topologies};
use order::Planner;
use rules::Rules;

/// The options of a stress test.
pub struct Options<'a> {
    /// The seed of the first episode. Each further episode has the next seed.
    pub seed: u64,
    /// The number of episodes (random programs) to run.
    pub episodes: u64,
    /// The memory model under which episodes are race-free. `None` means the models that the
    /// protocol claims.
    pub model: Option<&'a str>,
    /// A seeded fault of the protocol. `None` tests the protocol as written.
    pub mutation: Option<Mutation>,
    /// The number of chiplets that the eight compute units and the banks are divided among: 1, 2, 4
    /// or 8. With several chiplets, a seed decides the chiplet of each page of one line.
    pub chiplets: u16,
    /// The number of episodes that run at once.
    pub jobs: usize,
    /// A function that the test calls now and then; if it returns true, the test ends.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// A function that is called with the number of episodes that have run since the last call.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("seed", &self.seed)
            .field("episodes", &self.episodes)
            .finish_non_exhaustive()
    }
}

/// The result of a stress test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StressReport {
    /// The number of episodes that ran.
    pub episodes: u64,
    /// The number of loaded values that were checked.
    pub checked: u64,
    /// The number of operations, including repeated loads.
    pub operations: u64,
    /// The number of evicted ways.
    pub evictions: u64,
    /// The failure with the lowest seed, if any episode failed.
    pub failure: Option<Failure>,
}

/// An episode (random program) that failed, with its shrunk form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The seed of the episode. A run of one episode from this seed fails again.
    pub seed: u64,
    /// The description of the fault in the episode.
    pub what: String,
    /// The description of the fault in the small program, which is the shrunk episode.
    pub small_what: String,
    /// The small program: the name of each wavefront, with its operations.
    pub program: Vec<(String, Vec<String>)>,
    /// The description of the machine on which the episode failed.
    pub machine: String,
}

impl Failure {
    /// The number of operations of the small program.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.program.iter().map(|(_, steps)| steps.len()).sum()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.what)?;
        writeln!(f, "on a machine with {}", self.machine)?;
        writeln!(f, "a small program that fails: {}", self.small_what)?;
        for (wave, steps) in &self.program {
            writeln!(f, "  {wave}")?;
            for step in steps {
                writeln!(f, "    {step}")?;
            }
        }
        Ok(())
    }
}

/// The number of episodes that a worker runs in one batch.
const CHUNK: u64 = 64;

/// Runs episodes on the protocol until one fails.
///
/// # Errors
/// If no episodes exist for the protocol's claims, or a machine of the protocol cannot be
/// built.
pub fn stress(subject: &Subject, options: &Options<'_>) -> Result<StressReport, String> {
    let claimed: Vec<&str> = subject.info.claims.iter().map(|claim| claim.model).collect();
    let rules = match options.model {
        Some(model) => Rules::of(&[model]),
        None => Rules::of(&claimed),
    }?;
    let machines = topologies(subject.kinds, options.chiplets);
    for machine in &machines {
        (subject.stressed)(machine, Homes::new(machine, 1), None)?;
    }
    let chunks = options.episodes.div_ceil(CHUNK) as usize;
    let failed = core::sync::atomic::AtomicUsize::new(usize::MAX);
    let found = in_parallel(options.jobs, chunks, || {
        let mut tester = Tester::new(subject, &machines, rules, options.mutation);
        let failed = &failed;
        move |chunk| {
            let is_behind = chunk > failed.load(core::sync::atomic::Ordering::Relaxed);
            if is_behind || (options.stop)() {
                return Ok(StressReport::default());
            }
            let first = chunk as u64 * CHUNK;
            let found = tester.chunk(options.seed, first..(first + CHUNK).min(options.episodes));
            if !matches!(&found, Ok(StressReport { failure: None, .. })) {
                failed.fetch_min(chunk, core::sync::atomic::Ordering::Relaxed);
            }
            (options.progress)(found.as_ref().map_or(0, |found| found.episodes));
            found
        }
    });
    let mut sum = StressReport::default();
    for found in found {
        let found = found?;
        sum.episodes += found.episodes;
        sum.checked += found.checked;
        sum.operations += found.operations;
        sum.evictions += found.evictions;
        if found.failure.is_some() {
            return Ok(StressReport { failure: found.failure, ..sum });
        }
    }
    Ok(sum)
}

/// A tester, which runs episodes of a protocol on the machines of the stress test.
struct Tester<'a> {
    subject: &'a Subject,
    topologies: &'a [Topology],
    machines: Vec<Option<Machine>>,
    planner: Planner,
    rules: Rules,
    mutation: Option<Mutation>,
}

impl<'a> Tester<'a> {
    fn new(
        subject: &'a Subject,
        topologies: &'a [Topology],
        rules: Rules,
        mutation: Option<Mutation>,
    ) -> Self {
        let machines = topologies.iter().map(|_| None).collect();
        Tester { subject, topologies, machines, planner: Planner::default(), rules, mutation }
    }

    fn chunk(&mut self, seed: u64, episodes: core::ops::Range<u64>) -> Result<StressReport, String> {
        let mut all = StressReport::default();
        for number in episodes {
            let seed = seed.wrapping_add(number);
            let mut draws = Draws::new(seed);
            let at = draws.below(self.topologies.len());
            let (of_program, order) = (draws.next(), draws.next());
            let episode = Episode::new(of_program);
            all.episodes += 1;
            match self.run(at, &episode, order)? {
                Ok(ran) => {
                    all.checked += episode.checked() as u64;
                    all.operations += ran.operations;
                    all.evictions += ran.evictions;
                }
                Err(fault) => {
                    all.failure = Some(self.failure(seed, at, episode, order, &fault)?);
                    return Ok(all);
                }
            }
        }
        Ok(all)
    }

    fn run(
        &mut self,
        at: usize,
        episode: &Episode,
        order: u64,
    ) -> Result<Result<RunCounts, EpisodeFault>, String> {
        let machine = match &mut self.machines[at] {
            Some(machine) => machine,
            empty => empty.insert(Machine::new(self.subject, &self.topologies[at], self.mutation)?),
        };
        Ok(machine.run(self.planner.plan(episode, self.rules), order))
    }

    fn failure(
        &mut self,
        seed: u64,
        at: usize,
        episode: Episode,
        order: u64,
        fault: &EpisodeFault,
    ) -> Result<Failure, String> {
        let what = self.describe(&episode, fault);
        let (small, order) = shrink::shrink(episode, order, |episode, order| {
            matches!(self.run(at, episode, order), Ok(Err(_)))
        });
        let small_what = match self.run(at, &small, order)? {
            Err(fault) => self.describe(&small, &fault),
            Ok(_) => String::from("the failure does not reproduce"),
        };
        let steps = |(wave, steps): (usize, &Vec<episode::Step>)| {
            (wave_text(wave), steps.iter().map(episode::Step::text).collect())
        };
        let threads = self.planner.plan(&small, self.rules).threads.iter().enumerate();
        let program = threads.filter(|(_, steps)| !steps.is_empty()).map(steps).collect();
        Ok(Failure { seed, what, small_what, program, machine: machine_text(&self.topologies[at]) })
    }

    fn describe(&mut self, episode: &Episode, fault: &EpisodeFault) -> String {
        let Some((wave, at)) = fault.at else { return fault.what.clone() };
        let thread = &self.planner.plan(episode, self.rules).threads[wave];
        let step = thread.get(at).map_or_else(String::new, |step| step.text());
        format!("{}: {step}: {}", wave_text(wave), fault.what)
    }
}

fn wave_text(wave: usize) -> String {
    cu(wave).map_or_else(|| String::from("the host"), |cu| format!("wavefront {wave} on CU {cu}"))
}

fn machine_text(topology: &Topology) -> String {
    let of = |(count, noun): (u32, &str)| counted(u64::from(count), noun);
    let Topology { cus, chiplets, line_bytes, levels, .. } = topology;
    let on = if *chiplets > 1 { format!(" on {chiplets} chiplets") } else { String::new() };
    let mut text = format!("{}{on}, lines of {line_bytes} bytes", of((u32::from(*cus), "CU")));
    for level in levels {
        let Some(cache) = level.array else { continue };
        let [sets, ways] = [(cache.sets, "set"), (cache.ways, "way")].map(of);
        text += &format!(", {} {} of {sets} and {ways}", level.name.to_uppercase(), cache.policy.name());
        if topology.count(level) > 1 && level.name != "l1" {
            text += &format!(" in {}", of((topology.count(level), "bank")));
        }
    }
    text
}
