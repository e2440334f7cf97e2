//! Programs that are made, as tests: those of which a protocol's claims say
//! something, and some of the others.
//!
//! Most programs race, and of those a claim says next to nothing. So only the
//! smallest shapes are taken whole. Of larger ones all are taken that are free
//! of races under some claim and in which synchronization orders a data
//! conflict; of those that race, one in so many.

use core::fmt;
use core::str::FromStr;
use std::sync::Mutex;

use litmus::generate::{self, Bound, Generated, Kind, Ordering, Skeleton};
use litmus::hrf::{self, Options, Reading};
use litmus::program::{Instr, Level, Order, Program, ScopeId, ThreadId};

use proto::{Agent, PlanKey, PlansView, Protocol, Symbol as _};

use crate::claim::Claim;
use crate::verify::{Machines, Test, in_parallel};

/// A family of programs.
struct Family {
    /// Its letter in the names of programs.
    letter: char,
    bound: Bound,
    /// Of programs that tell nothing, one in so many is taken.
    one_in: usize,
    twist: Twist,
}

const ALL: [Kind; 9] = [
    Kind::Load,
    Kind::Store,
    Kind::SyncLoad,
    Kind::SyncStore,
    Kind::Await,
    Kind::Guard,
    Kind::Exchange,
    Kind::Fence,
    Kind::Barrier,
];

/// Those of programs whose exchanges are changed.
const EXCHANGING: [Kind; 5] = [Kind::Load, Kind::Store, Kind::SyncLoad, Kind::SyncStore, Kind::Exchange];

/// The orders of exchanges that are not made as they stand, and whether somebody
/// looks at the old value.
const RMWS: [(Order, bool); 5] = [
    (Order::Acquire, true),
    (Order::Release, true),
    (Order::AcqRel, false),
    (Order::Acquire, false),
    (Order::Release, false),
];

/// What becomes of accesses and fences of device scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wide {
    /// They stay.
    Device,
    /// They have system scope.
    System,
    /// The same, and the second thread runs on the host.
    Host,
    /// They are remote operations.
    Remote,
}

/// How a program is changed behind its making.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Twist {
    wide: Wide,
    /// The order of exchanges, and whether their old values are used.
    rmw: Option<(Order, bool)>,
}

impl Wide {
    const ALL: [(Wide, &'static str); 4] =
        [(Wide::Device, "device"), (Wide::System, "system"), (Wide::Host, "host"), (Wide::Remote, "remote")];
}

/// As it stands in the file of a trace: `none`, `host`, `device Acquire unused`.
impl fmt::Display for Twist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Twist::NONE {
            return f.write_str("none");
        }
        let name = Wide::ALL.iter().find(|(wide, _)| *wide == self.wide).map_or("", |(_, name)| name);
        f.write_str(name)?;
        match self.rmw {
            Some((order, is_used)) => {
                write!(f, " {} {}", order.name(), if is_used { "used" } else { "unused" })
            }
            None => Ok(()),
        }
    }
}

impl FromStr for Twist {
    type Err = String;

    fn from_str(text: &str) -> Result<Twist, String> {
        let refuse = || String::from("`none`, `host`, `remote Acquire unused` or the like");
        if text == "none" {
            return Ok(Twist::NONE);
        }
        let words: Vec<&str> = text.split(' ').collect();
        let (name, rest) = words.split_first().ok_or_else(refuse)?;
        let (wide, _) = *Wide::ALL.iter().find(|(_, other)| other == name).ok_or_else(refuse)?;
        let rmw = match *rest {
            [] => None,
            [order, used @ ("used" | "unused")] => {
                let order = Order::ALL.iter().find(|known| known.name() == order).ok_or_else(refuse)?;
                Some((*order, used == "used"))
            }
            _ => return Err(refuse()),
        };
        Ok(Twist { wide, rmw })
    }
}

impl Twist {
    pub(crate) const NONE: Twist = Twist { wide: Wide::Device, rmw: None };

    /// Where the threads of a program run.
    pub(crate) fn agents(self, compute_units: &[u8]) -> Vec<Agent> {
        let mut agents: Vec<Agent> = compute_units.iter().map(|&cu| Agent::Cu(u16::from(cu))).collect();
        if let (Wide::Host, Some(second)) = (self.wide, agents.get_mut(1)) {
            *second = Agent::Host;
        }
        agents
    }

    /// Changes a program. False if that leaves it as it was, or makes no sense.
    pub(crate) fn apply(self, program: &mut Program) -> bool {
        let mut changed = self == Twist::NONE;
        if let Some(rmw) = self.rmw {
            changed |= change_exchanges(program, rmw);
            if !changed {
                return false;
            }
        }
        match self.wide {
            Wide::Device => changed,
            Wide::Remote => make_remote(program),
            Wide::System => widen(program, false),
            Wide::Host => widen(program, true),
        }
    }
}

fn change_exchanges(program: &mut Program, (order, is_used): (Order, bool)) -> bool {
    let mut any = false;
    for instr in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        if let Instr::Rmw { dst, access, .. } = instr {
            access.order = order;
            if !is_used {
                *dst = None;
            }
            any = true;
        }
    }
    any
}

/// Gives accesses and fences of device scope system scope, and all of a second
/// thread that runs on the host. The host shares no work-group and no compute
/// unit.
fn widen(program: &mut Program, has_host: bool) -> bool {
    let count = program.threads.len();
    let is_alone = program.scopes.enclosing(ThreadId(0), Level::WorkGroup)
        != program.scopes.enclosing(ThreadId(1), Level::WorkGroup);
    let has_barrier =
        program.threads.iter().flat_map(|thread| &thread.code).any(|i| matches!(i, Instr::Barrier(_)));
    if has_host && (!is_alone || has_barrier || count != 2) {
        return false;
    }
    let Some(system) = program.scopes.enclosing(ThreadId(0), Level::System) else { return false };
    let scopes = &program.scopes;
    let mut any = false;
    for (t, thread) in program.threads.iter_mut().enumerate() {
        for instr in &mut thread.code {
            let Some((scope, _)) = synchronizes(instr) else { continue };
            let is_device = scope.is_some_and(|s| scopes.get(s).level == Level::Device);
            if is_device || has_host && t == 1 {
                *scope = Some(system);
                any = true;
            }
        }
    }
    any
}

/// The scope of an instruction that synchronizes, and whether it is remote.
fn synchronizes(instr: &mut Instr) -> Option<(&mut Option<ScopeId>, &mut bool)> {
    match instr {
        Instr::Fence(fence) => Some((&mut fence.scope, &mut fence.remote)),
        Instr::Load { access, .. }
        | Instr::Store { access, .. }
        | Instr::Rmw { access, .. }
        | Instr::Await { access, .. }
            if access.order.is_atomic() =>
        {
            Some((&mut access.scope, &mut access.remote))
        }
        _ => None,
    }
}

/// The families of programs with up to so many operations.
fn families(claims: &[Claim], operations_max: usize) -> Vec<Family> {
    let pair = |operations: usize, each: usize, orderings: &[Ordering]| Bound {
        operations_of_thread_max: each,
        words_of_line_max: 2,
        compute_units_max: 2,
        orderings: orderings.to_vec(),
        ..Bound::new(2, operations.min(operations_max), 2)
    };
    let smallest = |orderings: &[Ordering], lonely| Bound {
        kinds: ALL.to_vec(),
        lonely_scopes: lonely,
        ..pair(4, 2, orderings)
    };
    let accesses = |bound: Bound| Bound { kinds: ALL[..7].to_vec(), ..bound };
    use Ordering::{AcquireRelease, Relaxed, SeqCst};
    let family = |letter, bound, one_in| Family { letter, bound, one_in, twist: Twist::NONE };
    let mut all = vec![
        family('A', smallest(&[AcquireRelease], true), 1),
        family('S', smallest(&[SeqCst], false), 16),
        family('R', smallest(&[Relaxed], false), 16),
    ];
    for (letter, wide) in [('Y', Wide::System), ('H', Wide::Host)] {
        let twist = Twist { wide, ..Twist::NONE };
        all.push(Family { twist, ..family(letter, smallest(&[AcquireRelease], false), 64) });
    }
    for wide in [Wide::Device, Wide::System] {
        for rmw in RMWS {
            let bound = Bound { kinds: EXCHANGING.to_vec(), ..pair(4, 2, &[AcquireRelease]) };
            let twist = Twist { wide, rmw: Some(rmw) };
            all.push(Family { twist, ..family('V', bound, 64) });
        }
    }
    if claims.iter().any(|claim| claim.model == "opencl-rsp") {
        let bound = Bound { lonely_scopes: true, ..accesses(pair(4, 2, &[AcquireRelease, SeqCst])) };
        let twist = Twist { wide: Wide::Remote, ..Twist::NONE };
        all.push(Family { twist, ..family('P', bound, 64) });
    }
    if operations_max > 4 {
        all.push(family('T', accesses(pair(6, 3, &[AcquireRelease])), 512));
    }
    if operations_max > 5 {
        let threes =
            Bound { threads_min: 3, threads_max: 3, words_of_line_max: 1, ..pair(6, 2, &[AcquireRelease]) };
        all.push(family('U', accesses(Bound { levels: Bound::new(3, 0, 2).levels, ..threes }), 2048));
    }
    all
}

/// Is there a program in the family that differs only in scopes, and in which
/// work-items share a work-group?
fn is_twin(skeleton: &Skeleton) -> bool {
    let mut ops = skeleton.threads.iter().flatten();
    let Some(groups) = skeleton.tree.first() else { return false };
    let shares = (1..groups.len()).any(|t| groups[..t].contains(&groups[t]));
    let meets = skeleton.threads.iter().flatten().any(|op| op.kind == Kind::Barrier);
    ops.any(|op| op.kind.synchronizes() && op.level == 0) || shares && !meets
}

/// How a claim's races are looked for before it is asked itself: what races
/// whatever the scopes, races under every model.
fn readings(claims: &[Claim]) -> Vec<Reading> {
    let mut readings: Vec<Reading> = claims.iter().filter_map(Claim::reading).collect();
    if readings.is_empty() {
        readings.push(Reading::of(hrf::Model::Drf));
    }
    readings
}

/// Is it free of races, and does synchronization order a data conflict in it?
fn tells(generated: &Generated, readings: &[Reading]) -> bool {
    readings.iter().any(|&reading| {
        let verdict = generate::telling(generated, &Options::new(reading));
        verdict.is_ok_and(|verdict| verdict.is_some())
    })
}

/// Makes the accesses and fences of device scope remote. False if there are none,
/// or if nothing of a narrower scope is left for them to pair with.
fn make_remote(program: &mut Program) -> bool {
    let scopes = &program.scopes;
    let is_device = |scope: Option<ScopeId>| scope.is_some_and(|s| scopes.get(s).level == Level::Device);
    let (mut remote, mut narrow) = (false, false);
    for instr in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        let Some((scope, flag)) = synchronizes(instr) else { continue };
        *flag = is_device(*scope);
        remote |= *flag;
        narrow |= !*flag;
    }
    remote && narrow
}

/// Does the protocol look at scopes within the device? If all its plans are the
/// same at work-group and at device scope, programs that differ in them only are
/// one program.
#[must_use]
pub fn scopes_matter<P: Protocol>() -> bool {
    let of_view = |view: &PlansView| {
        let steps_of = |key: PlanKey| view.plans.iter().find(|(k, _)| *k == key).map(|(_, steps)| steps);
        view.plans.iter().any(|(key, steps)| {
            key.level == Level::WorkGroup && steps_of(PlanKey { level: Level::Device, ..*key }) != Some(steps)
        })
    };
    P::plans().iter().any(of_view)
}

/// Programs that one worker takes at a time.
const BATCH: usize = 512;

/// The made programs with up to so many operations that are to be explored for
/// these claims.
pub fn made(
    claims: &[Claim],
    scopes_matter: bool,
    operations_max: usize,
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Vec<Test> {
    let readings = readings(claims);
    let mut tests = Vec::new();
    for (index, family) in families(claims, operations_max).into_iter().enumerate() {
        let programs = Mutex::new(generate::programs(&family.bound).enumerate());
        let taken = in_parallel(jobs, jobs, || {
            |_| {
                let mut taken: Vec<(usize, Test)> = Vec::new();
                loop {
                    // Nobody panics while it holds the lock: it is only an iterator.
                    let batch: Vec<_> = match programs.lock() {
                        Ok(mut programs) => programs.by_ref().take(BATCH).collect(),
                        Err(_) => Vec::new(),
                    };
                    if batch.is_empty() || stop() {
                        return taken;
                    }
                    for (number, mut generated) in batch {
                        if !family.twist.apply(&mut generated.program) {
                            continue;
                        }
                        if !scopes_matter && is_twin(&generated.skeleton) {
                            continue;
                        }
                        let tells = tells(&generated, &readings);
                        if tells || number.is_multiple_of(family.one_in) {
                            let name =
                                format!("{}{}-{index}.{number}", family.letter, generated.operations());
                            let small = tells && generated.operations() <= 4;
                            let machines = if small { Machines::All } else { Machines::InTurn };
                            taken.push((number, Test::made(name, generated, family.twist, machines)));
                        }
                    }
                }
            }
        });
        let mut taken: Vec<(usize, Test)> = taken.into_iter().flatten().collect();
        taken.sort_by_key(|(number, _)| *number);
        tests.extend(taken.into_iter().map(|(_, test)| test));
    }
    tests
}
