//! Transformations of a generated program: other scopes, other memory orders, and other agents
//! (compute units or the host) for the threads.

use core::fmt;
use core::str::FromStr;

use litmus::program::{Instr, Level, Order, Program, ScopeId, ThreadId};
use proto::{Agent, Symbol as _};

/// The change of those accesses and fences that have device scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeChange {
    /// Accesses and fences of device scope keep this scope.
    Device,
    /// Accesses and fences of device scope get system scope.
    System,
    /// Accesses and fences of device scope get system scope. The thread with this number, one of
    /// two threads, runs on the host.
    Host(u8),
    /// Accesses and fences of device scope become remote operations.
    Remote,
}

/// The transformation of a generated program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transform {
    pub(crate) wide: ScopeChange,
    /// The new order of exchanges, and whether their old values are used. `None` leaves the
    /// exchanges unchanged.
    pub(crate) rmw: Option<(Order, bool)>,
    /// Whether each fence only acquires or only releases. The accesses next to the fence decide
    /// which.
    pub(crate) single: bool,
}

impl ScopeChange {
    const ALL: [(ScopeChange, &'static str); 5] = [
        (ScopeChange::Device, "device"),
        (ScopeChange::System, "system"),
        (ScopeChange::Host(0), "host-first"),
        (ScopeChange::Host(1), "host-second"),
        (ScopeChange::Remote, "remote"),
    ];
}

/// The text of a transformation in a trace file, for example `none`, `host-first`, `device Acquire
/// unused`, `system single`.
impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Transform::NONE {
            return f.write_str("none");
        }
        let name = ScopeChange::ALL.iter().find(|(wide, _)| *wide == self.wide).map_or("", |(_, name)| name);
        f.write_str(name)?;
        if let Some((order, is_used)) = self.rmw {
            write!(f, " {} {}", order.name(), if is_used { "used" } else { "unused" })?;
        }
        f.write_str(if self.single { " single" } else { "" })
    }
}

impl FromStr for Transform {
    type Err = String;

    fn from_str(text: &str) -> Result<Transform, String> {
        let refuse = || {
            String::from("a change of the program such as `none`, `host-first` or `remote Acquire unused`")
        };
        if text == "none" {
            return Ok(Transform::NONE);
        }
        let words: Vec<&str> = text.split(' ').collect();
        let (name, rest) = words.split_first().ok_or_else(refuse)?;
        let (wide, _) = *ScopeChange::ALL.iter().find(|(_, other)| other == name).ok_or_else(refuse)?;
        let (single, rest) = match *rest {
            [ref rest @ .., "single"] => (true, rest),
            _ => (false, rest),
        };
        let rmw = match *rest {
            [] => None,
            [order, used @ ("used" | "unused")] => {
                let order = Order::ALL.iter().find(|known| known.name() == order).ok_or_else(refuse)?;
                Some((*order, used == "used"))
            }
            _ => return Err(refuse()),
        };
        Ok(Transform { wide, rmw, single })
    }
}

impl Transform {
    /// Whether programs that differ only in the names of threads are still equivalent after the
    /// transformation.
    pub(crate) fn is_symmetric(self) -> bool {
        matches!(self.wide, ScopeChange::Device | ScopeChange::System | ScopeChange::Remote)
    }

    pub(crate) const NONE: Transform = Transform { wide: ScopeChange::Device, rmw: None, single: false };

    /// The agent (compute unit or host) of each thread of a program.
    pub(crate) fn agents(self, compute_units: &[u8]) -> Vec<Agent> {
        let mut agents: Vec<Agent> = compute_units.iter().map(|&cu| Agent::Cu(u16::from(cu))).collect();
        if let ScopeChange::Host(host) = self.wide {
            agents = (0..agents.len())
                .map(|t| if t == usize::from(host) { Agent::Host(0) } else { Agent::Cu(0) })
                .collect();
        }
        agents
    }

    /// Transforms a program. Returns false if the program does not change, or the result is not
    /// meaningful.
    pub(crate) fn apply(self, program: &mut Program) -> bool {
        let mut changed = self == Transform::NONE;
        if let Some(rmw) = self.rmw {
            changed |= change_exchanges(program, rmw);
            if !changed {
                return false;
            }
        }
        if self.single {
            changed |= simplify_fences(program);
        }
        match self.wide {
            ScopeChange::Device => changed,
            ScopeChange::Remote => make_remote(program),
            ScopeChange::System => widen(program),
            ScopeChange::Host(host) => reach_the_host(program, usize::from(host)),
        }
    }
}

/// Gives exchanges another memory order. Returns false if nothing changes, or if the change drops
/// old values that the program needs.
fn change_exchanges(program: &mut Program, (order, is_used): (Order, bool)) -> bool {
    let takes = program.threads.iter().flat_map(|thread| &thread.code).any(|instr| instr.target().is_some());
    if takes && !is_used {
        return false;
    }
    // Programs that branch on an exchanged value (takes) are generated only for this change, so
    // they count as changed.
    let mut any = takes;
    for instr in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        if let Instr::Rmw { dst, access, .. } = instr {
            any |= access.order != order || !is_used;
            access.order = order;
            if !is_used {
                *dst = None;
            }
        }
    }
    any
}

/// Makes each fence a release if an atomic write follows the fence, and an acquire otherwise.
fn simplify_fences(program: &mut Program) -> bool {
    let mut any = false;
    for thread in &mut program.threads {
        for at in 0..thread.code.len() {
            let releases = matches!(thread.code.get(at + 1),
                Some(Instr::Store { access, .. } | Instr::Rmw { access, .. }) if access.order.is_atomic());
            if let Instr::Fence(fence) = &mut thread.code[at] {
                fence.order = if releases { Order::Release } else { Order::Acquire };
                any = true;
            }
        }
    }
    any
}

/// Widens accesses and fences of device scope to system scope. Returns false if nothing changed.
fn widen(program: &mut Program) -> bool {
    let Some(system) = program.scopes.enclosing(ThreadId(0), Level::System) else { return false };
    let scopes = &program.scopes;
    let mut any = false;
    for (scope, _) in program.threads.iter_mut().flat_map(|t| &mut t.code).filter_map(synchronizes) {
        if scope.is_some_and(|s| scopes.get(s).level == Level::Device) {
            *scope = Some(system);
            any = true;
        }
    }
    any
}

/// Widens accesses and fences of device scope, and all synchronizing operations of the thread
/// `host`, to system scope, because the host is in no work-group.
fn reach_the_host(program: &mut Program, host: usize) -> bool {
    let is_alone = program.scopes.enclosing(ThreadId(0), Level::WorkGroup)
        != program.scopes.enclosing(ThreadId(1), Level::WorkGroup);
    let has_barrier =
        program.threads.iter().flat_map(|thread| &thread.code).any(|i| matches!(i, Instr::Barrier(_)));
    if !is_alone || has_barrier || program.threads.len() < 2 {
        return false;
    }
    let Some(system) = program.scopes.enclosing(ThreadId(0), Level::System) else { return false };
    let mut any = widen(program);
    for (scope, _) in program.threads[host].code.iter_mut().filter_map(synchronizes) {
        any |= *scope != Some(system);
        *scope = Some(system);
    }
    any
}

/// The scope of an instruction and its remote flag, or `None` if the instruction does not
/// synchronize.
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

/// Makes the accesses and fences of device scope remote. Returns false if nothing changed, or if
/// the program has no operation of a narrower scope with which a remote operation could
/// synchronize.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_reads_back_as_written() {
        let orders = Order::ALL.iter().flat_map(|&order| [(order, false), (order, true)]);
        let rmws: Vec<_> = orders.map(Some).chain([None]).collect();
        for (wide, rmw) in rmws.into_iter().flat_map(|rmw| ScopeChange::ALL.map(|(wide, _)| (wide, rmw))) {
            for single in [false, true] {
                let transform = Transform { wide, rmw, single };
                assert_eq!(transform.to_string().parse(), Ok(transform));
            }
        }
        for bad in ["", "all", "device Acquire", "device Acquire maybe", "device  used", "none none"] {
            assert!(bad.parse::<Transform>().is_err(), "{bad}");
        }
    }
}
