//! Determines the synchronization role of each instruction, and rejects constructs that the models
//! do not define.

use super::scoping::Role;
use super::{CheckError, InstrPlace, Model, Reading, RelaxedAs};
use crate::program::{
    Access, Fence, Instr, Order, Program, Proxy, Region, RmwOp, ScopeId, ThreadId, ThreadSet,
};

/// The synchronization roles of an instruction (data access, release, acquire or both). The field
/// `failure` is the role of a compare-and-swap that fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roles {
    pub(crate) success: Role,
    pub(crate) failure: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Both,
}

/// The synchronization roles of the instruction at position `pc` of the thread's code.
pub(crate) fn roles(
    program: &Program,
    reading: Reading,
    thread: ThreadId,
    pc: usize,
) -> Result<Roles, CheckError> {
    let reader = RoleReader { program, reading, place: InstrPlace::new(program, thread, pc) };
    let instr = &program.thread(thread).code[pc];
    if let Some(access) = instr.access() {
        reader.check_path(access)?;
    }
    match instr {
        Instr::Load { access, .. } | Instr::Await { access, .. } => {
            reader.access(access, access.order, Kind::Read).map(same)
        }
        Instr::Store { access, .. } => reader.access(access, access.order, Kind::Write).map(same),
        Instr::Rmw { op: RmwOp::AddUnless(_), .. } => {
            Err(reader.undefined("a conditional addition".to_owned()))
        }
        Instr::Rmw { access, .. } => reader.access(access, access.order, Kind::Both).map(same),
        Instr::Cas(cas) => Ok(Roles {
            success: reader.access(&cas.access, cas.access.order, Kind::Both)?,
            failure: reader.access(&cas.access, cas.order_failure, Kind::Read)?,
        }),
        Instr::Fence(fence) => reader.fence(fence).map(same),
        Instr::Barrier(barrier) => {
            reader.check_regions(barrier.global, barrier.local, "barrier")?;
            reader.check_member(barrier.group)?;
            let scope = Some(reader.check_member(barrier.scope)?);
            Ok(same(Role { sync: true, releases: true, acquires: true, scope }))
        }
        Instr::Assign { .. } | Instr::Branch { .. } | Instr::Jump { .. } => Ok(Roles::default()),
    }
}

fn same(role: Role) -> Roles {
    Roles { success: role, failure: role }
}

struct RoleReader<'a> {
    program: &'a Program,
    reading: Reading,
    place: InstrPlace,
}

impl RoleReader<'_> {
    fn undefined(&self, what: String) -> CheckError {
        CheckError::Undefined { model: self.reading.model, place: self.place, what }
    }

    fn check_path(&self, access: &Access) -> Result<(), CheckError> {
        if access.proxy != Proxy::Generic {
            return Err(self.undefined("accesses by another proxy; expected a generic access".to_owned()));
        }
        // If all scopes count as one, a remote operation is an ordinary atomic.
        if access.remote && self.reading.model != Model::Drf {
            return Err(self.undefined(
                "remote operations; expected a scoped operation, or a model such as opencl-rsp".to_owned(),
            ));
        }
        Ok(())
    }

    fn check_member(&self, scope: ScopeId) -> Result<ScopeId, CheckError> {
        let member = self.program.scopes.get(scope).members.contains(self.place.thread);
        if member || self.reading.model == Model::Drf {
            Ok(scope)
        } else {
            Err(CheckError::NotMember { place: self.place, scope: self.program.scopes.name(scope) })
        }
    }

    /// The scope of an atomic. An atomic without a scope gets a scope that contains all threads.
    fn scope_of(&self, scope: Option<ScopeId>) -> Result<ScopeId, CheckError> {
        if let Some(scope) = scope {
            return self.check_member(scope);
        }
        let all = ThreadSet::first(self.program.threads.len());
        let scopes = self.program.scopes.iter().filter(|(_, s)| s.members == all);
        scopes
            .max_by_key(|(id, s)| (s.level, core::cmp::Reverse(*id)))
            .map(|(id, _)| id)
            .ok_or_else(|| self.undefined("atomics without a scope if no scope holds all threads".to_owned()))
    }

    fn access(&self, access: &Access, order: Order, kind: Kind) -> Result<Role, CheckError> {
        if !access.order.is_atomic() {
            return Ok(Role::default());
        }
        let scope = Some(self.scope_of(access.scope)?);
        let (reads, writes) = (kind != Kind::Write, kind != Kind::Read);
        let releases = writes && order.releases();
        let acquires = reads && order.acquires();
        if releases || acquires {
            return Ok(Role { sync: true, releases, acquires, scope });
        }
        match self.reading.relaxed_as {
            Some(RelaxedAs::Data) => Ok(Role::default()),
            Some(RelaxedAs::Sync) => Ok(Role { sync: true, releases, acquires, scope }),
            Some(RelaxedAs::AcqRel) => Ok(Role { sync: true, releases: writes, acquires: reads, scope }),
            None => Err(self.undefined(
                "relaxed atomics; define them with --relaxed-as data, sync or acq-rel".to_owned(),
            )),
        }
    }

    fn fence(&self, fence: &Fence) -> Result<Role, CheckError> {
        if fence.proxy.is_some() {
            return Err(self.undefined("proxy fences; expected a scoped fence".to_owned()));
        }
        if fence.remote && self.reading.model != Model::Drf {
            return Err(self.undefined("remote fences; expected a scoped fence".to_owned()));
        }
        if fence.scope.is_none() || !fence.order.is_atomic() {
            return Ok(Role::default());
        }
        self.check_regions(fence.global, fence.local, "fence")?;
        let (releases, acquires) = (fence.order.releases(), fence.order.acquires());
        let scope = Some(self.scope_of(fence.scope)?);
        if releases || acquires {
            return Ok(Role { sync: true, releases, acquires, scope });
        }
        match self.reading.relaxed_as {
            Some(RelaxedAs::Data | RelaxedAs::Sync) => Ok(Role::default()),
            Some(RelaxedAs::AcqRel) => Ok(Role { sync: true, releases: true, acquires: true, scope }),
            None => Err(self
                .undefined("relaxed fences; define them with --relaxed-as data, sync or acq-rel".to_owned())),
        }
    }

    /// Checks that a fence or a barrier orders all memory that the program uses. The models have
    /// only one memory. So the models do not define a fence or a barrier that orders only one
    /// memory region if the program uses another region.
    fn check_regions(&self, global: bool, local: bool, what: &str) -> Result<(), CheckError> {
        let uses = |region| self.program.locations.iter().any(|l| l.region == region);
        let missed = if !global && uses(Region::Global) {
            "global"
        } else if !local && uses(Region::Local) {
            "local"
        } else {
            return Ok(());
        };
        Err(self.undefined(format!(
            "a {what} that does not order {missed} memory; expected one that orders all memory"
        )))
    }
}
