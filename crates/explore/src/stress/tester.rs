//! Runs episodes (random programs) of a protocol one after the other, and describes an episode that
//! fails.

use std::rc::Rc;

use proto::{Channels, SeededFault, Topology};

use super::draws::Draws;
use super::episode::{Episode, Site, Units, is_kernel};
use super::fault::{EpisodeFault, fault};
use super::layout::{DATA, Layout};
use super::machine::{Machine, RunCounts, Setup};
use super::order::{Planner, Program};
use super::report::{Failure, StressReport};
use super::residencies::Residencies;
use super::rules::Rules;
use super::shapes::Lines;
use super::step::WaveStep;
use super::{shapes, shrink};
use crate::panics;
use crate::subject::Subject;
use proto::words::counted;

/// A tester, which runs episodes (random programs) of a protocol on the machines of the stress
/// test.
pub(super) struct Tester<'a> {
    subject: &'a Subject,
    topologies: &'a [Topology],
    machines: Vec<Option<Machine>>,
    layouts: Rc<[Layout]>,
    planner: Planner,
    rules: Rules,
    setup: Setup,
    /// Whether an episode (random program) that fails is reduced to a smaller one that fails too.
    is_shrinking: bool,
}

impl<'a> Tester<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        topologies: &'a [Topology],
        rules: Rules,
        (seeded_fault, is_shrinking): (Option<SeededFault>, bool),
        channels: Channels,
    ) -> Self {
        let machines = topologies.iter().map(|_| None).collect();
        let layouts: Rc<[Layout]> = Layout::all().into();
        let setup = Setup { seeded_fault, channels, layouts: Rc::clone(&layouts) };
        let planner = Planner::default();
        Tester { subject, topologies, machines, layouts, planner, rules, setup, is_shrinking }
    }

    pub(super) fn chunk(
        &mut self,
        seed: u64,
        episodes: core::ops::Range<u64>,
    ) -> Result<StressReport, String> {
        let mut all = StressReport::default();
        for number in episodes {
            let seed = seed.wrapping_add(number);
            let mut draws = Draws::new(seed);
            let at = draws.below(self.topologies.len());
            let (of_program, order) = (draws.next(), draws.next());
            let topology = &self.topologies[at];
            let site = Site {
                layouts: &self.layouts,
                units: Units::of(topology),
                line_shift: topology.line_bytes.trailing_zeros(),
            };
            let episode = Episode::new(of_program, site);
            all.episodes += 1;
            match self.run(at, &episode, order)? {
                Ok(ran) => {
                    all.checked += episode.checked() as u64;
                    all.operations += ran.operations;
                    all.evictions += ran.evictions;
                    all.kernels += ran.kernels;
                    all.preemptions += ran.preemptions;
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
            empty => empty.insert(Machine::new(self.subject, (&self.topologies[at], at), &self.setup)?),
        };
        let units = Units::of(&self.topologies[at]);
        let program = self.planner.plan(episode, units, self.rules);
        let ran = panics::caught(|| machine.run(program, order));
        Ok(ran.unwrap_or_else(|why| {
            // The panic may have left the machine in any state.
            self.machines[at] = None;
            Err(fault(why))
        }))
    }

    fn failure(
        &mut self,
        seed: u64,
        at: usize,
        episode: Episode,
        order: u64,
        fault: &EpisodeFault,
    ) -> Result<Failure, String> {
        let what = self.describe(at, &episode, fault);
        let (small, order) = match self.is_shrinking {
            true => shrink::shrink(episode, order, |episode, order| {
                matches!(self.run(at, episode, order), Ok(Err(_)))
            }),
            false => (episode, order),
        };
        let small_what = match self.run(at, &small, order)? {
            Err(fault) => self.describe(at, &small, &fault),
            Ok(_) => String::from("the failure does not reproduce"),
        };
        let topology = &self.topologies[at];
        let mut machine = shapes::text(topology);
        for (name, values) in self.subject.tested {
            machine += &format!(", {name} {}", values[at % values.len()]);
        }
        if small.preemptions > 0 {
            let count = counted(small.preemptions.into(), "time");
            machine += &format!(", where a work-group may change its CU up to {count}");
        }
        let units = Units::of(topology);
        if small.first_wavefront > 0 {
            machine +=
                &format!(", where the wavefronts of a CU have numbers from {} on", small.first_wavefront);
        }
        if small.is_sparse {
            machine += &format!(", where {}", Lines::of(topology, true).text());
        }
        let plan = self.planner.plan(&small, units, self.rules);
        let layout = &self.layouts[usize::from(small.layout)];
        let used = plan.threads.iter().flatten().fold(0, |used, step| used | step.words);
        let words = (0..DATA).filter(|word| used >> word & 1 == 1).map(|word| layout.text(word)).collect();
        let program = texts(plan, units);
        Ok(Failure { seed, what, small_what, program, words, machine })
    }

    fn describe(&mut self, at: usize, episode: &Episode, fault: &EpisodeFault) -> String {
        let Some((wave, step)) = fault.at else { return fault.what.clone() };
        let units = Units::of(&self.topologies[at]);
        let plan = self.planner.plan(episode, units, self.rules);
        let text = plan.threads[wave].get(step).map_or_else(String::new, WaveStep::text);
        format!("{}: {text}: {}", wave_text(wave, plan, units), fault.what)
    }
}

/// The operations of a program, by kernel and wavefront.
fn texts(plan: &Program, units: Units) -> Vec<(String, Vec<String>)> {
    let mut texts = Vec::new();
    let (mut begins, mut kernels) = ([0; super::layout::WAVES], 0);
    for stage in &plan.stages {
        kernels += u32::from(is_kernel(stage.number));
        for (wave, steps) in plan.threads.iter().enumerate() {
            let steps = &steps[begins[wave]..usize::from(stage.ends[wave])];
            begins[wave] = stage.ends[wave].into();
            if steps.is_empty() {
                continue;
            }
            let name = wave_text(wave, plan, units);
            let name = match stage.is_kernel() {
                true if plan.stages.len() > 1 => format!("kernel {kernels}: {name}"),
                false if kernels == 0 => format!("before the first kernel: {name}"),
                false => format!("after kernel {kernels}: {name}"),
                true => name,
            };
            texts.push((name, steps.iter().map(WaveStep::text).collect()));
        }
    }
    texts
}

/// The name of a wavefront, with the compute unit on which it starts.
fn wave_text(wave: usize, plan: &Program, units: Units) -> String {
    let residencies = Residencies::new(plan, units);
    match (residencies.group(wave), residencies.cu(wave)) {
        (Some(group), Some(cu)) if group != cu => {
            format!("wavefront {wave} of work-group {group} on CU {cu}")
        }
        (_, Some(cu)) => format!("wavefront {wave} on CU {cu}"),
        (_, None) => String::from("the host"),
    }
}
