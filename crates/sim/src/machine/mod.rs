//! The machine around the stations (the controllers of the protocol): the parts whose work takes
//! time.
//!
//! **Event order.** Events happen in the order of their cycles. Events of the same cycle happen in
//! the order in which they were scheduled. An input to a station (a request at the station's port,
//! a message, memory's answer, a timer) changes the station's state when it arrives. The messages
//! and answers that the input causes leave later: after the station's latency, and after the
//! earlier work of the station. A wavefront that has waited for an operation runs its arithmetic
//! first, and then issues its next operation. The line requests of its operations reach the L1 in
//! the order of issue, one line for each port in each cycle.

mod host;
mod kernels;
mod ports;
mod split;
mod steps;
mod stuck;
mod waves;

use kernel::{Program, Session};
use proto::{Agent, PlanKey};

use crate::config::{Acknowledges, System};
use crate::cores::Cores;
use crate::engine::{Engine, Event};
use crate::kernels::Kernels;
use crate::kernels::host::Host;
use crate::led::state::ScriptState;
use crate::memory::dram::DramTraffic;
use crate::memory::operations::MainMemory;
use crate::memory::side::present;
use crate::network::Network;
use crate::network::held::HeldMessages;
use crate::network::noc::Noc;
use crate::options::RunOptions;
use crate::ports::Ports;
use crate::queue::Cycle;
use crate::reports::Reports;
use crate::reports::attribution::Attribution;
use crate::reports::counters::Tally;
use crate::reports::error::{Cause, RunError};
use crate::reports::outcome::KernelTime;
use crate::reports::probe::{Layout, Probe};
use crate::reports::progress::{Watch, least_patience};
use crate::stations::fabric::Fabric;
use crate::stations::timed::TimedStations;

/// The state of a simulation: a machine that runs one program.
pub(crate) struct Machine<'a, Pr> {
    system: &'a System,
    options: &'a RunOptions,
    pub(crate) session: Session,
    pub(crate) engine: Engine,
    pub(crate) reports: Reports<'a, Pr>,
    pub(crate) cores: Cores<'a>,
    pub(crate) ports: Ports,
    pub(crate) stations: TimedStations,
    pub(crate) network: Network,
    /// The messages of L2 banks that wait for memory. `None` if the L2 acknowledges a write before
    /// memory has answered it.
    held: Option<Box<HeldMessages>>,
    pub(crate) memory: MainMemory,
    pub(crate) kernels: Kernels<'a>,
    pub(crate) host: Host,
    pub(crate) script: Option<Box<ScriptState>>,
    /// The number of lines that a set of an L1 may hold now.
    l1_ways: u32,
    /// Whether a page is placed on a chiplet when it is accessed for the first time.
    places_pages: bool,
    /// The cycle after which the next check of the run is due. The check finds a run that exceeds
    /// its limits or makes no progress.
    check_at: Cycle,
}

impl<'a, Pr: Probe> Machine<'a, Pr> {
    pub(crate) fn new(
        system: &'a System,
        program: Program,
        options: &'a RunOptions,
        probe: &'a mut Pr,
        fabric: Box<dyn Fabric>,
    ) -> Result<Self, RunError> {
        let infos = fabric.stations();
        let levels = fabric.levels();
        let network = Network::new(system, &levels, &infos, options.drop.clone());
        let network = network.map_err(RunError::Machine)?;
        let cus = system.cu.count;
        for agent in (0..cus).map(|cu| Agent::Cu(cu as u16)).chain([Agent::CommandProcessor, Agent::Host(0)])
        {
            fabric.entry(agent, PlanKey::PLAIN_LOAD).map_err(RunError::Machine)?;
        }
        let memory_side = present(system, &levels).map(|cache| cache.name.clone());
        let tally = Tally::new(levels.iter().map(|level| level.name.clone())).with_memory_side(memory_side);
        let memory = MainMemory::new(system, &levels, &infos, &network);
        let ports = Ports::new(system, &levels, &infos);
        let shape = kernel_shape(system);
        let watch = Watch::new(options.patience_cycles.max(least_patience(system)));
        let layout = Layout {
            stations: infos.into_iter().map(|info| info.name).collect(),
            links: network.links().collect(),
            compute_units: system.cu.count,
            chiplets: system.chiplets,
            clock_mhz: system.clock_mhz,
            dram_channels: system.dram.channels.get(),
        };
        probe.begin(&layout);
        let wave_slots = cus * system.cu.wavefront_slots;
        let reports = Reports::new(probe, tally, watch, wave_slots as usize, system.sector_bytes());
        let places_pages = fabric.homes().uses_first_touch();
        let mut stations = TimedStations::new(system, fabric);
        split::check(system, &mut stations)?;
        let (holds, banks) = (system.l2.acknowledges == Acknowledges::Memory, stations.of_level("l2"));
        Ok(Machine {
            system,
            options,
            session: Session::new(program, shape),
            engine: Engine::new(options.seed),
            reports,
            cores: Cores::new(system, &options.scopes),
            ports,
            stations,
            network,
            held: holds.then(|| Box::new(HeldMessages::new(banks))),
            memory,
            kernels: Kernels::new(system, options.seed),
            host: Host::default(),
            script: None,
            l1_ways: system.l1_ways_max(),
            places_pages,
            check_at: 0,
        })
    }

    /// Whether no instruction is outstanding, and only timers and deadlines are pending.
    fn is_at_rest(&self) -> bool {
        self.engine.is_quiet() && self.cores.is_idle()
    }

    /// Runs the program to its end and returns the results of the machine.
    pub(crate) fn run(mut self) -> Result<Finished, RunError> {
        self.give_first_inputs();
        self.poll_host();
        let ended = self.run_to_end();
        self.reports.probe.arrays(&self.session.arrays());
        let cycles = ended?;
        self.reports.probe.end(self.engine.now());
        self.finish(cycles)
    }

    /// Runs the machine until no event is left that can continue the program. Returns the cycle at
    /// which the program ended.
    pub(crate) fn run_to_end(&mut self) -> Result<Cycle, RunError> {
        let mut end = None;
        loop {
            if self.engine.has_failed() || self.engine.is_quiet() || self.host.has_ended() {
                if let Some(failure) = self.engine.take_failure() {
                    return Err(failure);
                }
                let is_at_rest = self.is_at_rest();
                if is_at_rest && end.is_some() {
                    break;
                }
                if is_at_rest && self.host.is_draining() {
                    self.host_drained();
                    continue;
                }
                if end.is_none() && self.host.has_ended() && self.kernels.is_idle() {
                    end = Some(self.engine.now() - self.host.untimed_cycles());
                    continue;
                }
            }
            let Some((now, event)) = self.engine.next() else {
                return Err(self.stuck(Cause::NothingMoves));
            };
            if now > self.check_at {
                self.check_progress(now)?;
            }
            self.happen(now, event);
        }
        Ok(end.unwrap_or(0))
    }

    /// Takes the samples that are due, and decides when to check again. Returns an error, which
    /// ends the run, if the run is too long or makes no progress.
    #[cold]
    fn check_progress(&mut self, now: Cycle) -> Result<(), RunError> {
        self.reports.take_samples(now, &self.network.traffic(), &self.memory.traffic());
        if self.reports.watch.is_stuck(now) {
            let idle_cycles = now - self.reports.watch.last_progress();
            return Err(self.stuck(Cause::NoProgress { idle_cycles }));
        }
        if self.options.cycles_max.is_some_and(|most| now > most) {
            return Err(self.stuck(Cause::TooLong { cycles: now }));
        }
        let most = self.options.cycles_max.unwrap_or(Cycle::MAX);
        self.check_at = self.reports.watch.stuck_after().min(most).min(self.reports.before_next_sample());
        Ok(())
    }

    pub(crate) fn happen(&mut self, now: Cycle, event: Event) {
        self.engine.begin(event);
        match event {
            Event::WaveStart(wave) => self.start_wave(now, wave),
            Event::Simd(simd) => self.simd_done(now, simd),
            Event::Port(port) => self.port_due(now, port),
            Event::Complete(instr) => self.complete(now, instr),
            Event::Depart(transit) => self.network.depart(&mut self.engine, &mut self.reports, transit),
            Event::Arrive(transit) => self.arrive(now, transit),
            Event::MemoryDepart(op) => {
                self.memory.depart(&mut self.engine, &mut self.reports, &mut self.network, op);
            }
            Event::MemoryStart(op) => {
                let homes = self.stations.homes();
                self.memory.start(&mut self.engine, &mut self.reports, &mut self.network, homes, op);
            }
            Event::MemoryServe(channel) => {
                self.memory.serve(&mut self.engine, &mut self.reports, channel);
            }
            Event::MemoryFill(access) => {
                self.memory.fill(&mut self.engine, &mut self.reports, access);
            }
            Event::MemoryFilled(access) => self.memory.filled(&mut self.engine, access),
            Event::MemoryReturn(op) => {
                self.memory.send_answer(&mut self.engine, &mut self.reports, &mut self.network, op);
            }
            Event::MemoryDone(op) => self.memory_done(now, op),
            Event::Timer(station, class) => self.timer_due(now, station, class),
            Event::Deadline(station) => self.deadline_due(now, station),
            Event::Launch => self.begin_kernel(now),
            Event::Dispatch => {
                let Machine { engine, reports, session, cores, .. } = self;
                self.kernels.dispatch(engine, reports, session, cores);
            }
            Event::Host => self.host_issue(now),
        }
    }

    pub(crate) fn finish(mut self, cycles: Cycle) -> Result<Finished, RunError> {
        let (noc, dram) = (self.network.traffic(), self.memory.traffic());
        let dropped = self.reports.tally.counts.dropped_messages;
        if let (Some(drop), 0) = (&self.options.drop, dropped) {
            let sent = self.reports.tally.messages_of(&drop.name);
            return Err(RunError::NothingDropped {
                name: drop.name.clone(),
                nth: drop.nth,
                sent,
                names: self.reports.tally.message_names(),
            });
        }
        self.reports.check(&noc, &dram).map_err(RunError::Unreconciled)?;
        let Some(answer) = self.session.into_answer() else {
            return Err(RunError::Unreconciled("the run ended before the host program".to_owned()));
        };
        self.reports.take_last_samples(self.engine.now(), &noc, &dram);
        let attribution = self.reports.times.close(cycles).map_err(RunError::Unreconciled)?;
        Ok(Finished {
            cycles,
            attribution,
            answer,
            tally: self.reports.tally,
            noc: self.network.into_noc(),
            dram,
            kernels: self.kernels.into_times(),
            coverage: self.stations.fabric().coverage().clone(),
            events: self.engine.events(),
        })
    }
}

/// The state of the machine after a run. The outcome of the run is computed from it.
pub(crate) struct Finished {
    pub(crate) cycles: Cycle,
    pub(crate) attribution: Attribution,
    pub(crate) answer: kernel::Answer,
    pub(crate) tally: Tally,
    pub(crate) noc: Noc,
    pub(crate) dram: DramTraffic,
    pub(crate) kernels: Vec<KernelTime>,
    pub(crate) coverage: proto::Coverage,
    pub(crate) events: u64,
}

/// The parameters of the machine that programs can read, such as the number of lanes.
#[must_use]
pub fn kernel_shape(system: &System) -> kernel::Shape {
    kernel::Shape {
        lanes: system.cu.lanes,
        line_bytes: system.l1.line_bytes,
        compute_units: system.cu.count,
        waves_per_cu: system.cu.wavefront_slots,
        work_groups_per_cu: system.cu.work_group_slots,
        lds_bytes_per_cu: u32::try_from(system.lds.bytes).unwrap_or(u32::MAX),
    }
}
