//! The promise of a protocol's claim for a program: the outcomes that the claim allows.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use litmus::cat::Model;
use litmus::check;
use litmus::hrf::{self, CheckError, Options, RaceKind, Reading, RelaxedAs};
use litmus::program::{Dialect, Instr, Level, Order, Program, ScopeId, address_value};
use proto::issue::IssueRule;
use proto::{Agent, Hosts, Info, Sharing};

use crate::machine::outcome::Outcome;
use crate::machine::placement::Placement;
use crate::machine::stages;

/// A claim of a protocol: a memory model, with the method by which the model is evaluated.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The name of the memory model.
    pub model: String,
    /// The cores for which the claim holds.
    cores: Vec<IssueRule>,
    /// The way in which hosts reach memory.
    hosts: Hosts,
    /// Whether the claim covers programs with an atomic that widens.
    widening: bool,
    method: Method,
    /// Whether the model orders the kernels of a program one after the other. Computed on first
    /// use.
    orders_kernels: OnceLock<bool>,
}

#[derive(Clone, Debug)]
enum Method {
    /// Sequential consistency for race-free programs. The reading is the race-free model with a
    /// decision of each question that the model leaves open.
    RaceFree(Reading),
    /// A model that is written in the language cat.
    Clauses(Box<Model>),
    /// The memory model of PTX, evaluated on the program's mapping to PTX.
    Ptx(Box<Model>),
}

/// The promise of a claim for a program: the outcomes that the claim allows, and properties of the
/// program under the claimed model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Promise {
    /// The allowed outcomes. `None` if the program races and the model therefore promises nothing.
    pub allowed: Option<BTreeSet<Outcome>>,
    /// Whether the program is race-free. False also if the model defines no races.
    pub race_free: bool,
    /// Whether a run of the program may block, that is, wait for ever.
    pub may_block: bool,
    /// The pairs of threads with conflicting accesses that synchronization orders. At least one of
    /// the two accesses is to ordinary data.
    pub ordered: BTreeSet<(u8, u8)>,
}

impl Promise {
    /// Whether synchronization orders a data conflict between threads on different agents (compute
    /// units or hosts).
    #[must_use]
    pub fn is_synchronized(&self, placement: &Placement) -> bool {
        let at = |thread: u8| placement.agents.get(usize::from(thread));
        self.ordered.iter().any(|&(a, b)| at(a) != at(b))
    }
}

/// The reason why a claim promises nothing for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPromise {
    /// The model does not define programs of this kind, for the given reason.
    Undefined(String),
    /// The evaluation of the model did not complete, for the given reason.
    Incomplete(String),
}

/// The names of the models of a machine with one memory for all threads. These models have no
/// scopes, and they also define programs with races.
const WITHOUT_SCOPES: [&str; 3] = ["sc", "tso", "rmo"];

/// The maximum number of states in the search that evaluates a race-free model on one program.
const MODEL_STATES_MAX: u64 = 4_000_000;

/// Whether every synchronizing operation of the program is sequentially consistent, so that no core
/// reorders these operations.
fn is_seq_cst(program: &Program) -> bool {
    program.threads.iter().flat_map(|t| &t.code).all(|instr| {
        let order = match instr {
            Instr::Fence(fence) => fence.order,
            Instr::Barrier(_) => return true,
            _ => instr.access().map_or(Order::Plain, |access| access.order),
        };
        matches!(order, Order::Plain | Order::SeqCst)
    })
}

/// Whether all atomic accesses and all fences of the program have system scope.
fn reaches_the_host(program: &Program) -> bool {
    let is_wide =
        |scope: Option<ScopeId>| scope.is_some_and(|scope| program.scopes.get(scope).level == Level::System);
    program.threads.iter().flat_map(|t| &t.code).all(|instr| match instr {
        Instr::Fence(fence) => is_wide(fence.scope),
        _ => instr.access().is_none_or(|access| !access.order.is_atomic() || is_wide(access.scope)),
    })
}

/// Whether all threads of the program may run on hosts. A host synchronizes only at system scope,
/// and is in no scope that a remote operation can promote.
pub(crate) fn is_for_hosts(program: &Program) -> bool {
    reaches_the_host(program) && !program.threads.iter().flat_map(|t| &t.code).any(is_remote)
}

/// Whether the operation is remote: it also synchronizes with operations of narrower scopes.
fn is_remote(instr: &Instr) -> bool {
    match instr {
        Instr::Fence(fence) => fence.remote,
        _ => instr.access().is_some_and(|access| access.remote),
    }
}

/// Whether a branch of the program decides if a write or a wait is executed.
fn branches(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let mut code = thread.code.iter();
        code.any(|instr| instr.target().is_some())
            && code.any(|instr| {
                let writes = matches!(instr, Instr::Store { .. } | Instr::Rmw { .. } | Instr::Cas(_));
                let waits = matches!(instr, Instr::Await { .. } | Instr::Barrier(_));
                writes || waits || instr.target().is_some()
            })
    })
}

/// Whether an atomic widens: it both acquires and releases, at a wider scope than another release of
/// the program.
fn widens(program: &Program) -> bool {
    let level = |scope: Option<ScopeId>| scope.map(|scope| program.scopes.get(scope).level);
    let instrs = || program.threads.iter().flat_map(|t| &t.code);
    let narrowest = instrs().filter_map(|instr| match instr {
        Instr::Fence(fence) if fence.order.releases() => level(fence.scope),
        Instr::Store { access, .. } | Instr::Rmw { access, .. } if access.order.releases() => {
            level(access.scope)
        }
        Instr::Cas(cas) if cas.access.order.releases() => level(cas.access.scope),
        _ => None,
    });
    let Some(narrowest) = narrowest.min() else { return false };
    let both = |order: Order| order.acquires() && order.releases();
    instrs().any(|instr| {
        let access = match instr {
            Instr::Rmw { access, .. } => access,
            Instr::Cas(cas) => &cas.access,
            _ => return false,
        };
        both(access.order) && level(access.scope) > Some(narrowest)
    })
}

impl Claim {
    /// Whether the claim holds for the program on this core.
    ///
    /// A claim names its cores. Sequential consistency for race-free programs orders all
    /// synchronizing operations in one sequence. A core that lets an acquire pass an earlier
    /// release violates this order, whatever the caches do. On such a core the claim holds only for
    /// programs whose synchronization is sequentially consistent.
    #[must_use]
    pub fn covers_core(&self, program: &Program, core: IssueRule) -> bool {
        if !self.cores.contains(&core) {
            return false;
        }
        match (&self.method, core) {
            (Method::RaceFree(_), IssueRule::InOrder | IssueRule::ScWriteBuffer) => true,
            (Method::RaceFree(_), _) => is_seq_cst(program),
            (Method::Clauses(_) | Method::Ptx(_), _) => true,
        }
    }

    /// The claims of a protocol.
    ///
    /// # Errors
    /// If a claimed memory model does not exist.
    pub fn all_of(info: &Info) -> Result<Vec<Claim>, String> {
        let of = |claim: &proto::Claim| {
            let all = Claim::of(claim.model)?.with_cores(claim.cores).with_hosts(info.hosts);
            Ok(Claim { widening: claim.widening, ..all })
        };
        info.claims.iter().map(of).collect()
    }

    /// This claim, but for other cores.
    #[must_use]
    pub fn with_cores(self, cores: &[IssueRule]) -> Claim {
        Claim { cores: cores.to_vec(), ..self }
    }

    /// This claim, but for a protocol whose hosts reach memory in this way.
    #[must_use]
    pub fn with_hosts(self, hosts: Hosts) -> Claim {
        Claim { hosts, ..self }
    }

    /// The claim that a protocol keeps this memory model on the cores of a GPU, if hosts access
    /// memory directly.
    ///
    /// # Errors
    /// If no model has this name.
    pub fn of(model: &str) -> Result<Claim, String> {
        let method = match model.parse() {
            Ok(of) => Method::RaceFree(Reading::of(of)),
            Err(_) => {
                let parsed =
                    litmus::cat::shipped(model).ok_or_else(|| format!("there is no model `{model}`"))?;
                let parsed = Box::new(parsed.map_err(|error| error.to_string())?);
                if model.starts_with("ptx") { Method::Ptx(parsed) } else { Method::Clauses(parsed) }
            }
        };
        Ok(Claim {
            model: model.to_owned(),
            cores: IssueRule::GPUS.to_vec(),
            hosts: Hosts::Direct,
            widening: true,
            method,
            orders_kernels: OnceLock::new(),
        })
    }

    /// Whether the claim covers the program in these placements.
    ///
    /// A claim whose model ignores scopes covers a program that uses the host only if all
    /// synchronizing operations have system scope, because no other scope reaches the host. Any
    /// other claim covers a program only if no thread on the host makes remote operations, because
    /// the host is in no scope that a remote operation can promote.
    ///
    /// A claim of a model without scopes (`sc`, `tso` or `rmo`) covers a program that uses the host
    /// only if hosts have coherent caches. All other hosts access memory directly: their accesses
    /// bypass the caches of the GPU, and such a model promises something also for accesses that no
    /// synchronization orders.
    pub(crate) fn covers(&self, program: &Program, placements: &[Placement]) -> bool {
        let on_host = |thread: usize| {
            placements.iter().any(|placement| matches!(placement.agents.get(thread), Some(Agent::Host(_))))
        };
        let mut hosted = (0..program.threads.len()).filter(|&thread| on_host(thread)).peekable();
        if self.is_without_scopes() {
            return self.hosts == Hosts::Cached || hosted.peek().is_none();
        }
        match self.sharing() {
            Sharing::Unscoped => hosted.peek().is_none() || reaches_the_host(program),
            Sharing::Scoped | Sharing::Remote => {
                !hosted.any(|thread| program.threads[thread].code.iter().any(is_remote))
            }
        }
    }

    /// Whether the model has no scopes and defines also programs with races.
    fn is_without_scopes(&self) -> bool {
        WITHOUT_SCOPES.contains(&self.model.as_str())
    }

    /// The model's rule for synchronization between work-groups that share data: the scopes that
    /// the synchronizing operations must have.
    #[must_use]
    pub fn sharing(&self) -> Sharing {
        match &self.method {
            Method::RaceFree(reading) if reading.model == hrf::Model::Drf => Sharing::Unscoped,
            Method::Clauses(_) if self.is_without_scopes() => Sharing::Unscoped,
            Method::Clauses(model) | Method::Ptx(model) if model.knows_remote() => Sharing::Remote,
            Method::RaceFree(_) | Method::Clauses(_) | Method::Ptx(_) => Sharing::Scoped,
        }
    }

    /// The reading of the claim: its race-free model with a decision of each question that the
    /// model leaves open. `None` if the model is of another kind.
    #[must_use]
    pub(crate) fn reading(&self) -> Option<Reading> {
        match &self.method {
            Method::RaceFree(reading) => Some(*reading),
            Method::Clauses(_) | Method::Ptx(_) => None,
        }
    }

    /// Whether the program races if relaxed atomics count as data. The model does not define how
    /// relaxed atomics count.
    pub(crate) fn races_where_relaxed_is_data(&self, program: &Program) -> bool {
        let Some(reading) = self.reading() else { return false };
        let promise = race_free(program, reading.relaxed_as(RelaxedAs::Data), &mut || false);
        promise.is_ok_and(|promise| !promise.race_free)
    }

    /// The promise of the claim for a program.
    ///
    /// # Errors
    /// If the claim promises nothing.
    pub fn promise(&self, program: &Program, stop: &mut dyn FnMut() -> bool) -> Result<Promise, NoPromise> {
        if !self.widening && widens(program) {
            let what = "an atomic both acquires and releases, at a wider scope than another release";
            return Err(NoPromise::Undefined(String::from(what)));
        }
        match &self.method {
            Method::RaceFree(reading) => race_free(program, *reading, stop),
            Method::Clauses(model) => {
                misdeclared(program)?;
                clauses(program, model, stop)
            }
            Method::Ptx(model) => {
                // The model of PTX only allows or forbids outcomes. It defines neither races nor
                // waits that must end.
                let promise = clauses(&*in_ptx(program)?, model, stop)?;
                Ok(Promise { race_free: false, may_block: true, ordered: BTreeSet::new(), ..promise })
            }
        }
    }
}

/// A program in which one kernel writes and the next kernel reads.
const IN_TWO_KERNELS: &str = "OPENCL in-two-kernels
{ }

P0@wg 0, dev 0 (global int* x) {
  *x = 1;
}

P1@wg 1, dev 0 (global int* x) {
  int r0 = *x;
}

exists (1:r0=1)
";

impl Claim {
    /// The promise of the claim for a program whose threads are spread over several kernels.
    /// `stages` has, for each thread, the position of its kernel, and is empty for one kernel.
    ///
    /// # Errors
    /// If the claim promises nothing.
    pub(crate) fn promise_in_stages(
        &self,
        program: &Program,
        stages: &[u8],
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Promise, NoPromise> {
        if !stages.is_empty() && !self.orders_kernels() {
            let why = "the model does not order kernels by operations at system scope";
            return Err(NoPromise::Incomplete(String::from(why)));
        }
        self.promise(&stages::in_turn(program, stages), stop)
    }

    /// Whether a kernel sees the writes of the previous kernel in all executions that the model
    /// allows. In a program that a model evaluates, operations at system scope order the kernels. A
    /// model without system scope therefore does not order kernels.
    fn orders_kernels(&self) -> bool {
        *self.orders_kernels.get_or_init(|| {
            litmus::parse::parse(IN_TWO_KERNELS).is_ok_and(|program| {
                let promise = self.promise(&stages::in_turn(&program, &[0, 1]), &mut || false);
                promise.is_ok_and(|promise| promise.allowed == Some([vec![1]].into()))
            })
        })
    }
}

fn race_free(
    program: &Program,
    reading: Reading,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Promise, NoPromise> {
    let options = Options { first_race_only: true, states_max: MODEL_STATES_MAX, ..Options::new(reading) };
    let verdict = hrf::check_until(program, &options, &mut || !stop()).map_err(|error| match error {
        CheckError::TooLarge { .. } => NoPromise::Incomplete(error.to_string()),
        _ => NoPromise::Undefined(error.to_string()),
    })?;
    let race_free = verdict.is_race_free();
    if let (true, Some(bound)) = (race_free, verdict.incomplete) {
        return Err(NoPromise::Incomplete(bound.to_string()));
    }
    let data = verdict.ordered.iter().filter(|pair| pair.kind == RaceKind::Ordinary);
    let ordered = data.map(|pair| (pair.first.thread.0, pair.second.thread.0)).collect();
    Ok(Promise {
        race_free,
        // A search that ended at the first race has not examined all waits.
        may_block: verdict.blocked.is_some() || !race_free,
        ordered,
        allowed: race_free.then_some(verdict.states),
    })
}

/// Rejects a program with an atomic access to an object that is not declared atomic. The languages
/// do not define such an access, and their models then allow no outcome.
fn misdeclared(program: &Program) -> Result<(), NoPromise> {
    if !matches!(program.dialect, Dialect::OpenCl | Dialect::C11) {
        return Ok(());
    }
    let accesses = program.threads.iter().flat_map(|t| &t.code).filter_map(Instr::access);
    let mut locs = accesses.filter(|a| a.order.is_atomic()).filter_map(|a| a.address.as_location());
    match locs.find(|&loc| !program.loc(loc).atomic) {
        None => Ok(()),
        Some(loc) => {
            let name = &program.loc(loc).name;
            Err(NoPromise::Undefined(format!("{name} is accessed atomically, but not declared atomic")))
        }
    }
}

/// The program in PTX. Each operation is mapped to a PTX operation of the same order and scope;
/// ordinary accesses become weak accesses.
fn in_ptx(program: &Program) -> Result<Cow<'_, Program>, NoPromise> {
    match program.dialect {
        Dialect::Ptx => return Ok(Cow::Borrowed(program)),
        Dialect::OpenCl => {}
        Dialect::C11 | Dialect::Lisa => {
            return Err(NoPromise::Undefined(String::from(
                "the program does not define the scopes of its threads",
            )));
        }
        Dialect::Vulkan => {
            let what = "PTX has no private accesses and no storage classes";
            return Err(NoPromise::Undefined(String::from(what)));
        }
    }
    let lacks = |instr: &Instr| match instr {
        Instr::Fence(fence) => fence.remote,
        _ => instr.access().is_some_and(|access| access.remote || access.order == Order::SeqCst),
    };
    if program.threads.iter().flat_map(|t| &t.code).any(lacks) {
        let what = "PTX has no sequentially consistent accesses and no remote operations";
        return Err(NoPromise::Undefined(String::from(what)));
    }
    Ok(Cow::Owned(Program { dialect: Dialect::Ptx, ..program.clone() }))
}

fn clauses(program: &Program, model: &Model, stop: &mut dyn FnMut() -> bool) -> Result<Promise, NoPromise> {
    let mut options = check::Options { stop: Box::new(stop), ..check::Options::default() };
    let report = check::check(program, model, &mut options)
        .map_err(|error| NoPromise::Undefined(error.to_string()))?;
    let races = report.has_race();
    if !races && !report.complete {
        return Err(NoPromise::Incomplete(report.bound.unwrap_or_default()));
    }
    let terms = program.state_terms();
    let value = |text: &str| match text.parse() {
        Ok(value) => Some(value),
        Err(_) => program.location(text).map(address_value),
    };
    let outcome = |state: &check::State| {
        let of = |term: &litmus::program::Term| {
            let name = program.term_name(*term);
            state.values.iter().find(|(of, _)| **of == *name).and_then(|(_, text)| value(text))
        };
        terms.iter().map(of).collect::<Option<Outcome>>()
    };
    let allowed = report.states.iter().map(outcome).collect::<Option<BTreeSet<_>>>();
    let allowed = allowed.ok_or_else(|| {
        NoPromise::Undefined(String::from("a final value is neither a number nor an address"))
    })?;
    // A program that is race-free under narrow scopes is also race-free under the widest scopes.
    // The search with the widest scopes finds the conflicts that synchronization orders.
    let reading = Reading::of(hrf::Model::Drf).relaxed_as(RelaxedAs::AcqRel);
    let widest = (!races).then(|| race_free(program, reading, &mut || false));
    let widest = widest.and_then(Result::ok).filter(|promise| promise.race_free);
    Ok(Promise {
        race_free: !races,
        // If every thread always performs all its writes and waits, and a wait ends in every order
        // of the operations, then the wait ends on every machine, because a write eventually
        // becomes visible.
        may_block: branches(program) || widest.as_ref().is_none_or(|promise| promise.may_block),
        ordered: widest.map(|promise| promise.ordered).unwrap_or_default(),
        allowed: (!races).then_some(allowed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model in which a write is visible to an access if both accesses have the scope named
    /// `scope`.
    fn model_of(scope: &str) -> Claim {
        let text = format!(
            "\"one-scope\"\nlet sync = [{scope}] ; rf ; [{scope}]\nlet hb = (po | sync)+\n\
             irreflexive hb ; (rf | co | fr)\n"
        );
        let model = Model::parse("one-scope", "one-scope.cat", &text, &mut |file| Err(file.to_owned()));
        let model = model.expect("a model");
        Claim { method: Method::Clauses(Box::new(model)), ..Claim::of("drf").expect("a known model") }
    }

    #[test]
    fn every_claimed_model_orders_kernels() {
        for model in zoo::ALL.iter().flat_map(|info| info.claims).map(|claim| claim.model) {
            assert!(Claim::of(model).expect("a known model").orders_kernels(), "{model}");
        }
    }

    #[test]
    fn a_model_without_scopes_covers_the_host_only_if_hosts_have_caches() {
        let text = |scope: &str| {
            format!(
                "OPENCL host\n{{ }}\nP0@wg 0, dev 0 (global atomic_int* x) {{\n  \
                 atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_{scope});\n}}\nexists (x=1)\n"
            )
        };
        for (scope, drf_on_host) in [("all_svm_devices", true), ("device", false)] {
            let program = litmus::parse::parse(&text(scope)).expect("a test");
            let (gpu, host) = (Placement::spread(&program), Placement::spread(&program).hosted());
            let covers = |model: &str, hosts: Hosts, placement: &Placement| {
                let claim = Claim::of(model).expect("a known model").with_hosts(hosts);
                claim.covers(&program, core::slice::from_ref(placement))
            };
            for (hosts, without_scopes) in [(Hosts::Direct, false), (Hosts::Cached, true)] {
                for model in WITHOUT_SCOPES {
                    assert!(covers(model, hosts, &gpu), "{model}");
                    assert_eq!(covers(model, hosts, &host), without_scopes, "{model}, {hosts:?}");
                }
                assert_eq!((covers("drf", hosts, &gpu), covers("drf", hosts, &host)), (true, drf_on_host));
            }
        }
        for model in WITHOUT_SCOPES {
            assert_eq!(Claim::of(model).expect("a known model").sharing(), Sharing::Unscoped, "{model}");
        }
    }

    #[test]
    fn the_claims_of_a_protocol_know_its_hosts() {
        for hosts in [Hosts::Direct, Hosts::Cached] {
            let info = Info { hosts, ..zoo::ALL[0] };
            let claims = Claim::all_of(&info).expect("known models");
            assert!(!claims.is_empty() && claims.iter().all(|claim| claim.hosts == hosts));
        }
    }

    #[test]
    fn a_model_without_a_system_scope_has_no_promise_for_several_kernels() {
        let program = litmus::parse::parse(IN_TWO_KERNELS).expect("a test");
        let promise =
            |scope: &str, stages: &[u8]| model_of(scope).promise_in_stages(&program, stages, &mut || false);
        let Err(NoPromise::Incomplete(why)) = promise("DV", &[0, 1]) else { panic!("nothing orders them") };
        assert!(why.contains("system scope"), "{why}");
        assert_eq!(promise("ALL", &[0, 1]).expect("the model evaluates it").allowed, Some([vec![1]].into()));
        let either = Some([vec![0], vec![1]].into());
        assert_eq!(promise("DV", &[]).expect("the model evaluates it").allowed, either);
    }
}
